//! Buffers that overlap: the drivers refuse them if one of them is written, before anything is started.

use super::run;
use std::fs;
use std::process::Command;

const PLAIN: &str =
    "void f(const int *a, int *b) {\n#pragma scop\n  for (int i = 0; i < 16; i++)\n    b[i] = a[i] + 1;\n\
    #pragma endscop\n}\n";
const SIZED: &str = "#pragma sagen max(n=16)\nvoid f(int n, const int a[n], int b[n]) {\n#pragma scop\n  \
    for (int i = 0; i < n; i++)\n    b[i] = a[i] + 1;\n#pragma endscop\n}\n";
const READ: &str = "void f(const int a[16], const int c[16], int b[16]) {\n#pragma scop\n  \
    for (int i = 0; i < 16; i++)\n    b[i] = a[i] + c[i];\n#pragma endscop\n}\n";

#[test]
fn overlapping_buffers_are_refused() {
    // Arguments, and what setting them returns.
    let cases: [(&str, &[(&str, i32)]); 3] = [
        (PLAIN, &[("0, 64", 0), ("64, 0", 0), ("0, 60", -2), ("60, 0", -2), ("0, 0", -2)]),
        (SIZED, &[("16, 0, 64", 0), ("16, 0, 60", -2), ("8, 0, 32", 0), ("8, 0, 28", -2), ("17, 0, 0", -1)]),
        (READ, &[("0, 4, 256", 0), ("0, 0, 256", 0), ("0, 256, 60", -2), ("0, 256, 300", -2)]),
    ];
    for (program, calls) in cases {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f.c"), program).unwrap();
        let sagen = env!("CARGO_BIN_EXE_sagen");
        run(Command::new(sagen).args(["rtl", "f.c", "-o", "out"]).current_dir(dir.path()));
        let mut text =
            "#include <stdio.h>\n#include <stdint.h>\nstatic unsigned writes;\nstatic uint32_t read32(uintptr_t a) \
            { (void)a; return 4; }\nstatic void write32(uintptr_t a, uint32_t v) { (void)a; (void)v; writes++; }\n\
            #define XF_READ32(address) read32(address)\n#define XF_WRITE32(address, value) write32(address, value)\n\
            #include \"xf.h\"\nint main(void) {\n"
                .to_string();
        let mut wanted = String::new();
        for (arguments, result) in calls {
            text +=
                &format!("  writes = 0;\n  printf(\"%d \", xf_set(0, {arguments}));\n  printf(\"%d \", writes > 0);\n");
            text += &format!("  printf(\"%d\\n\", xf_run(0, {arguments}) == XF_OVERLAP);\n");
            wanted += &format!("{result} {} {}\n", i32::from(*result == 0), i32::from(*result == -2));
        }
        fs::write(dir.path().join("t.c"), text + "  return 0;\n}\n").unwrap();
        let strict = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Iout/sw", "t.c", "-o", "t"];
        run(Command::new("cc").args(strict).current_dir(dir.path()));
        assert_eq!(run(Command::new("./t").current_dir(dir.path())), wanted, "{program}");
    }
}

/// The first lines of the host say how it is built: with Debian's XRT, or where `XILINX_XRT` says.
#[test]
fn hosts_are_built_as_they_say() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f.c"), PLAIN).unwrap();
    run(Command::new(env!("CARGO_BIN_EXE_sagen")).args(["rtl", "f.c", "-o", "out"]).current_dir(dir.path()));
    let sw = dir.path().join("out/sw");
    let host = fs::read_to_string(sw.join("host.cpp")).unwrap();
    let lines =
        host.lines().filter_map(|l| l.strip_prefix("//   ")).filter(|l| l.contains("cc ") || l.contains("g++ "));
    let lines: Vec<String> = lines.map(|l| l.replace("<folder of the C program>", "../..")).collect();
    assert_eq!(lines.len(), 2, "{host}");
    run(Command::new("sh").args(["-e", "-c", &lines.join("\n")]).env_remove("XILINX_XRT").current_dir(&sw));
    assert!(sw.join("host").is_file());
    let without =
        Command::new("g++").args(["-std=c++17", "-fsyntax-only", "host.cpp"]).current_dir(&sw).output().unwrap();
    assert!(!without.status.success() && String::from_utf8_lossy(&without.stderr).contains("XRT is not there"));
}
