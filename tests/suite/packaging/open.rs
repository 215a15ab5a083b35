//! IPs for boards without Vivado: no file of Vivado's, a LiteX system, a host that finds what differs.

use crate::packaging::emitted::{root, run, tool};
use std::path::Path;
use std::process::Command;

fn emit(board: &str, file: &str, options: &[&str], out: &Path) {
    let mut sagen = Command::new(env!("CARGO_BIN_EXE_sagen"));
    run(sagen.current_dir(root()).args(["rtl", "--board", board, file]).args(options).arg("-o").arg(out));
}

#[test]
fn open_boards_have_a_litex_system_and_nothing_of_vivado() {
    let dir = tempfile::tempdir().unwrap();
    for (board, device) in [("ulx3s", "\"LFE5U-85F\""), ("orangecrab", "\"25F\"")] {
        let out = dir.path().join(board);
        emit(board, "examples/mm.c", &["-D", "N=8"], &out);
        for absent in ["component.xml", "mm.xo", "vitis", "vivado", "xgui", "constraints", "sw/mm.py", "sw/host.cpp"] {
            assert!(!out.join(absent).exists(), "{board}: {absent}");
        }
        let text = |file: &str| std::fs::read_to_string(out.join(file)).unwrap();
        for file in ["README.md", "Makefile", "mm.core", "litex/mm.py", "litex/host.py"] {
            assert!(!text(file).contains("@KERNEL@") && !text(file).contains("@TITLE@"), "{board}: {file}");
        }
        assert!(!text("README.md").contains("set_property") && text("README.md").contains("make bitstream"));
        assert!(!text("mm.core").contains("vivado"));
        assert!(text("litex/mm.py").contains(device));
        assert!(text("rtl/mm.v").contains("[31:0] m_axi_a_araddr"), "addresses of 32 bits");
        let reads = "import ast, sys, yaml\n\
            for f in sys.argv[1:]: ast.parse(open(f).read()) if f.endswith('.py') else yaml.safe_load(open(f))\n";
        let files = ["litex/mm.py", "litex/host.py", "mm.core"].map(|f| out.join(f));
        run(tool("python").args(["-c", reads]).args(files));
        let plan = run(Command::new("make").args(["-n", "bitstream", "-C"]).arg(&out));
        assert!(plan.contains("litex/mm.py --build"), "{plan}");
    }
}

#[test]
fn the_serial_host_finds_what_differs() {
    let dir = tempfile::tempdir().unwrap();
    for (name, file) in [("mm", "examples/mm_int8.c"), ("scalars", "tests/packaging/scalars.c")] {
        let out = dir.path().join(name);
        emit(
            "ulx3s",
            file,
            if name == "mm" { &["-D", "I=7", "-D", "J=5", "-D", "K=6"] } else { &["-D", "N=20"] },
            &out,
        );
        for broken in [&[][..], &["--broken"]] {
            run(tool("python").arg(root().join("tests/packaging/litex_mock.py")).arg(&out).args(broken));
        }
    }
}
