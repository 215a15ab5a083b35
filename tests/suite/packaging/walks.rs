//! Whole walks, as users make them: from their own file and data to a verdict, with tools that know nothing of sagen.

use super::emitted::{root, run, tool, Emitted};
use super::{implemented, replay};
use std::fs;
use std::path::Path;
use std::process::Command;

fn sagen(dir: &Path, arguments: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
    run(command.current_dir(dir).args(arguments.split_whitespace()))
}

const FIR: &str = "#include <stdint.h>\n#define N 64\n#define TAPS 8\n\
    void fir(const int16_t x[N + TAPS], const int16_t h[TAPS], int32_t y[N]) {\n#pragma scop\n  \
    for (int i = 0; i < N; i++) {\n    y[i] = 0;\n    for (int k = 0; k < TAPS; k++)\n      y[i] += x[i + k] * h[k];\n  }\n\
    #pragma endscop\n}\n";

/// A testbench as for HLS: it reads its stimuli from a file, calls the function twice, and compares.
const FIR_TB: &str =
    "#include <stdint.h>\n#include <stdio.h>\nvoid fir(const int16_t *x, const int16_t *h, int32_t *y);\n\
    int main(void) {\n  static int16_t x[72], h[8] = {1, -2, 3, -4, 5, -6, 7, -8};\n  static int32_t y[64];\n  \
    FILE *f = fopen(\"stimuli.dat\", \"r\");\n  if (!f) return 2;\n  for (int i = 0; i < 72; i++) {\n    int v;\n    \
    if (fscanf(f, \"%d\", &v) != 1) return 2;\n    x[i] = v;\n  }\n  fclose(f);\n  fir(x, h, y);\n  \
    printf(\"%d\\n\", y[0]);\n  fir(x, h, y);\n  return y[0] != -1234;\n}\n";

/// Own main, C simulation, IP, testbench with a verdict.
#[test]
fn an_hls_engineer_goes_from_the_own_testbench_to_a_verdict() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("fir.c"), FIR).unwrap();
    fs::write(dir.path().join("fir_tb.c"), FIR_TB).unwrap();
    let stimuli: Vec<i16> = (0..72).map(|i: i16| i * 37 % 101 - 50).collect();
    let lines: String = stimuli.iter().map(|v| format!("{v}\n")).collect();
    fs::write(dir.path().join("stimuli.dat"), lines).unwrap();
    let shown = sagen(dir.path(), "sim fir.c --with fir_tb.c");
    assert!(shown.contains("inputs       main()") && shown.contains("equal  "), "{shown}");
    sagen(dir.path(), "rtl fir.c --with fir_tb.c --board arty-a7-100 --expected -o ip");
    let ip = dir.path().join("ip");
    let x: Vec<u8> = stimuli.iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(fs::read(ip.join("sim/x.in.bin")).unwrap(), x);
    let verdict = run(tool("sh").arg(ip.join("sim/run.sh")).arg("icarus"));
    assert!(verdict.trim_end().ends_with("PASS: 144 elements equal"), "nothing but the verdict: {verdict}");
    assert!(fs::read_to_string(ip.join("component.xml")).unwrap().contains("fir"));
    assert!(fs::read_to_string(ip.join("report.html")).unwrap().contains("fir on arty-a7-100"));
}

/// NumPy vectors, a Zynq board, the bitstream's script, the notebook.
#[test]
fn a_network_person_goes_from_numpy_to_a_notebook() {
    let dir = tempfile::tempdir().unwrap();
    let layer = "#include <stdint.h>\nvoid layer(const int8_t x[16][32], const int8_t w[32][8], int32_t y[16][8]) {\n\
        #pragma scop\n  for (int i = 0; i < 16; i++)\n    for (int j = 0; j < 8; j++) {\n      y[i][j] = 0;\n      \
        for (int k = 0; k < 32; k++)\n        y[i][j] += x[i][k] * w[k][j];\n    }\n#pragma endscop\n}\n";
    fs::write(dir.path().join("layer.c"), layer).unwrap();
    let numpy = |text: &str| run(tool("python").current_dir(dir.path()).args(["-c", text]));
    numpy(
        "import numpy\nr = numpy.random.default_rng(7)\nnumpy.save('x.npy', r.integers(-128, 128, (16, 32), 'int8'))\n\
        numpy.save('w.npy', r.integers(-128, 128, (32, 8), 'int8'))",
    );
    let options = "--board pynq-z2 --space i,j --data x=x.npy --data w=w.npy";
    sagen(dir.path(), &format!("rtl layer.c {options} -o ip"));
    numpy(
        "import numpy\nx, w = (numpy.load(n).astype('int32') for n in ('x.npy', 'w.npy'))\n\
        y = numpy.fromfile('ip/sim/y.expected.bin', 'int32').reshape(16, 8)\nassert (y == x @ w).all()",
    );
    let ip = Emitted {
        name: "walk",
        kernel: "layer".into(),
        dir: dir.path().join("ip"),
        source: dir.path().join("layer.c"),
        options: ["--board", "pynq-z2", "--space", "i,j"].map(String::from).to_vec(),
    };
    implemented(&ip.dir);
    run(tool("tclsh").arg(root().join("tests/packaging/vivado.tcl")).arg(ip.path("vivado/bd_zynq.tcl")));
    assert!(ip.path("sw/layer.bit").exists() && ip.path("sw/layer.hwh").exists());
    replay::check(&ip, 0, replay::notebook(&ip));
}

const VECTORS: &str = "#include <stdint.h>\n\
    void scale(const int16_t x[32], int16_t y[32]) {\n#pragma scop\n  for (int i = 0; i < 32; i++) y[i] = 3 * x[i];\n\
    #pragma endscop\n}\n\
    void product(const int16_t a[16][32], const int16_t x[32], int32_t y[16]) {\n#pragma scop\n  \
    for (int i = 0; i < 16; i++) {\n    y[i] = 0;\n    for (int k = 0; k < 32; k++)\n      y[i] += a[i][k] * x[k];\n  }\n\
    #pragma endscop\n}\n";

/// Several functions on one IP, each simulated, and the driver in C and in Python, which call them in turn.
#[test]
fn a_library_person_calls_several_functions_of_one_ip() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("vectors.c"), VECTORS).unwrap();
    let shown = sagen(dir.path(), "sim vectors.c --board pynq-z2 --space i");
    assert_eq!(shown.matches("equal  ").count(), 2, "{shown}");
    sagen(dir.path(), "rtl vectors.c --board pynq-z2 --space i --expected -o ip");
    let ip = Emitted {
        name: "library",
        kernel: "vectors".into(),
        dir: dir.path().join("ip"),
        source: dir.path().join("vectors.c"),
        options: ["--board", "pynq-z2", "--space", "i"].map(String::from).to_vec(),
    };
    let play = |(function, driver)| replay::Play { function, sizes: vec![], driver };
    let calls = [
        (1, replay::c_function(&ip, "product", 3)),
        (0, replay::c_function(&ip, "scale", 2)),
        (0, replay::pynq_driver(&ip, Some("scale"))),
        (1, replay::pynq_driver_plain(&ip, Some("product"))),
    ];
    replay::play(&ip, calls.map(play).into());
    let verdict = run(tool("sh").arg(ip.path("sim/run.sh")).arg("icarus"));
    assert!(verdict.contains("PASS"), "{verdict}");
}

/// An open board: the user's data, the way to the bitstream, and the host on the serial port, which finds what differs.
/// `scripts/gates.sh` places and routes such an IP and runs it behind LiteX's interconnect.
#[test]
fn an_open_board_person_goes_from_numpy_to_the_serial_host() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("fir.c"), FIR).unwrap();
    let numpy = |text: &str| run(tool("python").current_dir(dir.path()).args(["-c", text]));
    numpy("import numpy\nnumpy.save('x.npy', numpy.arange(-36, 36, dtype='int16'))");
    let shown = sagen(dir.path(), "sim fir.c --board ulx3s --data x=x.npy");
    assert!(shown.contains("equal  "), "{shown}");
    sagen(dir.path(), "rtl fir.c --board ulx3s --data x=x.npy -o ip");
    let ip = dir.path().join("ip");
    let x: Vec<u8> = (-36..36i16).flat_map(i16::to_le_bytes).collect();
    assert_eq!(fs::read(ip.join("sim/x.in.bin")).unwrap(), x);
    let verdict = run(tool("sh").arg(ip.join("sim/run.sh")).arg("icarus"));
    assert!(verdict.trim_end().ends_with("PASS: 144 elements equal"), "{verdict}");
    let plan = run(Command::new("make").args(["-n", "bitstream", "-C"]).arg(&ip));
    assert!(plan.contains("litex/fir.py --build"), "{plan}");
    for broken in [&[][..], &["--broken"]] {
        run(tool("python").arg(root().join("tests/packaging/litex_mock.py")).arg(&ip).args(broken));
    }
}
