//! Drivers of functions with sizes: what they write follows from the sizes, and before anything is written they refuse what is
//! not from 1 to the greatest.

use super::emitted::{emitted, run, tool};
use std::fmt::Write as _;
use std::process::Command;
use templates::interface::Interface;

/// Rows and columns, and whether there are that many.
const CASES: [([i64; 2], bool); 8] = [([1, 1], true), ([9, 12], true), ([7, 11], true), ([0, 12], false), ([10, 1], false), ([-1, 1], false), ([1, 13], false), ([3, 0], false)];

/// The interface of the case, made anew.
fn interface() -> Interface {
    let ip = emitted("sizes");
    let (scops, _) = frontend::programs(&ip.source, &Default::default()).expect("two functions");
    let board = sagen::catalog::find(sagen::catalog::DEFAULT).unwrap();
    let arrays: Vec<_> = scops.iter().map(|scop| arch::compile(scop, &Default::default(), &board).expect("an array").vsa).collect();
    let ip = arch::ir::ip::Ip::new("sizes", 0, &arrays.iter().collect::<Vec<_>>());
    assert_eq!(ip.cores.len(), 1, "they share a core");
    Interface::new(&ip)
}

/// What the registers of a function hold for these sizes.
fn expected(interface: &Interface, function: usize, sizes: &[i64]) -> Vec<String> {
    let halves = |p: &templates::interface::ProgramRegister| {
        let value = p.register.formula.eval(sizes);
        let low = (p.offset, value as u32);
        [Some(low), (p.register.bits > 32).then_some((p.offset + 4, (value >> 32) as u32))]
    };
    interface.functions[function].program.iter().flat_map(halves).flatten().map(|(at, value)| format!("{at} {value}")).collect()
}

#[test]
fn the_c_driver_computes_what_follows_from_sizes() {
    let (ip, interface) = (emitted("sizes"), interface());
    let mut text = "#include <stdint.h>\n#include <stdio.h>\nstatic uint32_t all[1024];\nstatic unsigned writes;\n\
        #define XSIZES_READ32(address) all[(address) / 4]\n#define XSIZES_WRITE32(address, value) (all[(address) / 4] = (value), writes++)\n\
        #include \"xsizes.h\"\nint main(void)\n{\n"
        .to_string();
    let mut wanted = vec![];
    for (f, function) in interface.functions.iter().enumerate() {
        let names: Vec<&str> = function.sizes.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, [["m", "n"], ["rows", "columns"]][f]);
        for ([m, n], good) in CASES {
            let call = format!("{}_set(0, {m}, {n}, 4096, 8192, 12288)", function.ident);
            let _ = writeln!(text, "    writes = 0;\n    printf(\"%d \", xsizes_{call});\n    printf(\"%u\\n\", writes > 0);");
            wanted.push(if good { "0 1" } else { "-1 0" }.to_string());
            if good {
                for line in expected(&interface, f, &[m, n]) {
                    let at = line.split(' ').next().expect("an offset").to_string();
                    let _ = writeln!(text, "    printf(\"{at} %lu\\n\", (unsigned long)all[{at} / 4]);");
                    wanted.push(line);
                }
            } else {
                let _ = writeln!(text, "    printf(\"%d\\n\", sizes_{}(0, {m}, {n}, 0, 0, 0) == XSIZES_NO_SIZE && all[0] == 0);", function.ident);
                wanted.push("1".to_string());
            }
        }
    }
    text += "    return 0;\n}\n";
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.c"), text).unwrap();
    let program = dir.path().join("main");
    run(tool("gcc").args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"]).arg(ip.path("sw")).arg(dir.path().join("main.c")).arg("-o").arg(&program));
    let said = run(&mut Command::new(program));
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
}
