//! Drivers of functions with sizes: what they write follows from the sizes, and before anything is written they refuse
//! what is not from 1 to the greatest.

use super::emitted::{emitted, root, run, tool, Emitted};
use super::replay::{self, Play};
use std::fmt::Write as _;
use std::process::Command;
use templates::interface::Interface;

/// Rows and columns, and whether there are that many.
const CASES: [([i64; 2], bool); 8] = [
    ([1, 1], true),
    ([9, 12], true),
    ([7, 11], true),
    ([0, 12], false),
    ([10, 1], false),
    ([-1, 1], false),
    ([1, 13], false),
    ([3, 0], false),
];

/// The interface of the case, made anew.
fn interface(ip: &Emitted) -> Interface {
    let (scops, _) = frontend::programs(&ip.source, &Default::default()).expect("legal programs");
    let board = sagen::catalog::find(sagen::catalog::DEFAULT).unwrap();
    let arrays: Vec<_> =
        scops.iter().map(|scop| search::compile(scop, &Default::default(), &board).expect("an array").vsa).collect();
    let whole = array::ip::Ip::new(&ip.kernel, Default::default(), &arrays.iter().collect::<Vec<_>>());
    assert_eq!(whole.cores.len(), 1, "they share a core");
    Interface::new(&whole)
}

/// What the registers of a function hold for these sizes.
fn expected(interface: &Interface, function: usize, sizes: &[i64]) -> Vec<String> {
    let halves = |p: &templates::interface::ProgramRegister| {
        let value = p.register.formula.eval(sizes);
        let low = (p.offset, value as u32);
        [Some(low), (p.register.bits > 32).then_some((p.offset + 4, (value >> 32) as u32))]
    };
    interface.functions[function]
        .program
        .iter()
        .flat_map(halves)
        .flatten()
        .map(|(at, value)| format!("{at} {value}"))
        .collect()
}

#[test]
fn the_c_driver_computes_what_follows_from_sizes() {
    let ip = emitted("sizes");
    let interface = interface(ip);
    let mut text = "#include <stdint.h>\n#include <stdio.h>\nstatic uint32_t all[1024];\nstatic unsigned writes;\n\
        #define XSIZES_READ32(address) all[(address) / 4]\n#define XSIZES_WRITE32(address, value) (all[(address) / 4] \
        = (value), writes++)\n\
        #include \"xsizes.h\"\nint main(void)\n{\n"
        .to_string();
    let mut wanted = vec![];
    for (f, function) in interface.functions.iter().enumerate() {
        let names: Vec<&str> = function.sizes.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, [["m", "n"], ["rows", "columns"]][f]);
        for ([m, n], good) in CASES {
            let call = format!("{}_set(0, {m}, {n}, 4096, 8192, 12288)", function.ident);
            let _ = writeln!(
                text,
                "    writes = 0;\n    printf(\"%d \", xsizes_{call});\n    printf(\"%u\\n\", writes > 0);"
            );
            wanted.push(if good { "0 1" } else { "-1 0" }.to_string());
            if good {
                for line in expected(&interface, f, &[m, n]) {
                    let at = line.split(' ').next().expect("an offset").to_string();
                    let _ = writeln!(text, "    printf(\"{at} %lu\\n\", (unsigned long)all[{at} / 4]);");
                    wanted.push(line);
                }
            } else {
                let _ = writeln!(
                    text,
                    "    printf(\"%d\\n\", sizes_{}(0, {m}, {n}, 0, 0, 0) == XSIZES_NO_SIZE && all[0] == 0);",
                    function.ident
                );
                wanted.push("1".to_string());
            }
        }
    }
    text += "    return 0;\n}\n";
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.c"), text).unwrap();
    let program = dir.path().join("main");
    run(tool("gcc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(ip.path("sw"))
        .arg(dir.path().join("main.c"))
        .arg("-o")
        .arg(&program));
    let said = run(&mut Command::new(program));
    assert_eq!(said.lines().collect::<Vec<_>>(), wanted);
}

/// Runs at sizes of all kinds, one after the other on one IP, started by what the drivers in C and in Python write.
#[test]
fn drivers_run_the_simulated_ip_at_sizes_in_turn() {
    let sizes = [[1, 1], [9, 12], [7, 11], [2, 5]];
    for ip in [emitted("sizes"), emitted("guarded_sizes")] {
        let of = |(k, sizes): (usize, &[i64; 2])| Play {
            function: k % 2,
            sizes: sizes.to_vec(),
            driver: replay::pynq_driver(ip, Some(["first", "second"][k % 2])),
        };
        replay::play(ip, sizes.iter().enumerate().map(of).collect());
    }

    // Scalars, one of them computed, beside the sizes.
    let ip = emitted("scaled");
    let function = &interface(ip).functions[0];
    let of = |(k, sizes): (usize, &[i64; 2])| {
        let driver =
            if k % 2 == 0 { replay::pynq_driver(ip, Some("scaled")) } else { replay::c_driver_at_sizes(ip, function) };
        Play { function: 0, sizes: sizes.to_vec(), driver }
    };
    replay::play(ip, [[7, 5], [11, 13], [1, 1], [5, 2]].iter().enumerate().map(of).collect());
}

/// The XRT host, with XRT replaced: at each size it calls the C program on arrays of these sizes, and tells the kernel
/// what the registers must hold, by their places in `kernel.xml`.
#[test]
fn the_xrt_host_computes_what_follows_from_sizes() {
    for (name, f, stem) in [("sizes", 1, "_second"), ("scaled", 0, ""), ("plus", 0, "")] {
        let ip = emitted(name);
        let (interface, dir) = (interface(ip), tempfile::tempdir().unwrap());
        let function = &interface.functions[f];
        let [object, program] = ["reference.o", "host"].map(|name| dir.path().join(name));
        let (compiler, reference) = ip.reference(stem);
        run(tool(compiler)
            .args(["-O1", "-g", "-fsanitize=address", "-w", "-c", "-iquote"])
            .arg(ip.source.parent().unwrap())
            .arg("-I")
            .arg(ip.path("sw"))
            .arg(reference)
            .arg("-o")
            .arg(&object));
        let flags = ["-std=c++17", "-g", "-fsanitize=address", "-Wall", "-Wextra", "-Werror", "-I"];
        run(tool("g++")
            .args(flags)
            .arg(root().join("tests/packaging"))
            .arg(ip.path(&format!("sw/host{stem}.cpp")))
            .arg(&object)
            .arg("-o")
            .arg(&program));
        let kernel = ip.text("vitis/kernel.xml");
        let xml = roxmltree::Document::parse(&kernel).unwrap();
        let offset = |index: &str| {
            let argument = xml
                .descendants()
                .find(|n| n.has_tag_name("arg") && n.attribute("id") == Some(index))
                .expect("such an argument");
            u32::from_str_radix(&argument.attribute("offset").unwrap()[2..], 16).unwrap()
        };
        for [m, n] in [[1i64, 1], [9, 12], [7, 5]] {
            let output =
                Command::new(&program).args(["x.xclbin".to_string(), m.to_string(), n.to_string()]).output().unwrap();
            let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            // Nothing ran, so the results are not there.
            assert!(
                output.status.code() == Some(1) && said.contains("NOT EQUAL") && !errors.contains("Sanitizer"),
                "{name}: {said}{errors}"
            );
            let lines = |kind: &str| {
                said.lines()
                    .filter_map(|l| l.strip_prefix(kind)?.trim().split_once(' '))
                    .map(|(k, v)| (offset(k), v.parse::<u64>().unwrap()))
                    .collect::<Vec<_>>()
            };
            let bytes: Vec<u64> = lines("buffer").into_iter().map(|b| b.1).collect();
            let wanted = match name {
                "sizes" => vec![2 * m * n, 2 * n, 4 * m],
                "scaled" => vec![52 * m, 4 * n, 4 * m],
                _ => vec![26 * m, 4 * m, 4, 4],
            };
            let wanted: Vec<u64> = wanted.into_iter().map(|bytes| bytes as u64).collect();
            assert_eq!(bytes, wanted, "{name} at {m}, {n}");
            let values = lines("value");
            for p in &function.program {
                let value = p.register.formula.eval(&[m, n]) as u64;
                let held = if p.register.bits > 32 { value } else { value & 0xffff_ffff };
                assert!(
                    values.contains(&(p.offset, held)),
                    "{name} at {m}, {n}: 0x{:x} is not {held}: {values:?}",
                    p.offset
                );
            }
        }
        for wrong in [["0", "1"], ["1", "14"], ["-1", "1"]] {
            assert_eq!(Command::new(&program).arg("x.xclbin").args(wrong).output().unwrap().status.code(), Some(2));
        }
    }
}
