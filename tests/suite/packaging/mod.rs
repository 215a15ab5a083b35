//! What `sagen rtl` writes around the Verilog, checked by tools that know nothing of sagen and by rules of our own: the
//! structure of `component.xml`, equal offsets in every file, scripts, headers, and drivers that run the simulated IP.

mod component;
mod emitted;
mod floorplan;
mod hostile;
mod offsets;
mod open;
mod overlap;
mod replay;
mod sizes;
mod walks;

use emitted::{all, emitted, root, run, single, tool, Emitted};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

#[test]
fn component_xml_follows_the_rules() {
    for ip in all() {
        let faults = component::faults(&ip.text("component.xml"), &component::Facts::of(ip));
        assert!(faults.is_empty(), "{}:\n{}", ip.name, faults.join("\n"));
    }
}

/// Each of these single edits must be found: a rule that cannot fail is none.
#[test]
fn every_mutation_of_component_xml_is_found() {
    let ip = emitted("mm");
    let (text, facts) = (ip.text("component.xml"), component::Facts::of(ip));
    for (from, to) in component::MUTATIONS {
        assert!(text.contains(from), "there is no {from}");
        let mutant = text.replacen(from, to, 1);
        assert!(!component::faults(&mutant, &facts).is_empty(), "not found: {from} -> {to}");
    }
}

#[test]
fn text_and_attributes_are_escaped() {
    use ::packaging::xml::{group, leaf};
    let tree = group("a", [leaf("b", "1 < 2 & 3"), group("c", []).with("d", "\"e\"")]);
    let wanted = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a>\n  <b>1 &lt; 2 &amp; 3</b>\n  <c \
        d=\"&quot;e&quot;\"/>\n</a>\n";
    assert_eq!(tree.document(), wanted);
}

/// Against IEEE's schema, where it lies beside the checkout.
#[test]
fn component_xml_is_valid() {
    let schema = root().join("../shared/ipxact/ieee-1685-2009/index.xsd");
    if !schema.is_file() {
        eprintln!("no schema at {}: the structural rules stand alone", schema.display());
        return;
    }
    for ip in all() {
        run(tool("xmllint").args(["--nonet", "--noout", "--schema"]).arg(&schema).arg(ip.path("component.xml")));
    }
}

#[test]
fn offsets_agree_in_every_file() {
    for ip in single() {
        let wanted = offsets::report(ip);
        for (file, found) in offsets::elsewhere(ip) {
            assert_eq!(found, wanted, "{}: {file}", ip.name);
        }
    }
}

/// Several functions' arguments share registers. All files that list the registers agree.
#[test]
fn registers_of_several_functions_agree() {
    let ip = emitted("functions");
    let wanted = offsets::listed(ip);
    assert!(wanted.contains_key("argument_10") && wanted.contains_key("function"), "{wanted:?}");
    for (file, found) in [
        ("component.xml", offsets::component(ip)),
        ("package_ip.tcl", offsets::script(ip)),
        ("README.md", offsets::readme(ip)),
    ] {
        assert_eq!(found, wanted, "{file}");
    }
}

/// 32-bit addresses: ports, registers and descriptions have no more.
#[test]
fn small_addresses_are_small_everywhere() {
    let ip = emitted("zynq7000");
    let top = ip.text(&format!("rtl/{}.v", ip.kernel));
    assert!(top.contains("output wire [31:0] m_axi_a_araddr") && !top.contains("[63:0] m_axi_a_awaddr"), "{top}");
    let registers = offsets::listed(ip);
    assert_eq!(
        (registers.get("A"), registers.get("B"), registers.get("A_2")),
        (Some(&0x10), Some(&0x18), None),
        "{registers:?}"
    );
    let xml = ip.text("component.xml");
    assert!(
        xml.contains("<spirit:range>4294967296</spirit:range>")
            && xml.contains("<spirit:width>32</spirit:width>")
            && !xml.contains("16E"),
        "{xml}"
    );
    assert!(ip.text("vitis/kernel.xml").contains("size=\"0x4\""));
    assert!(ip.text(&format!("sw/x{}.h", ip.kernel)).contains("uint32_t A, uint32_t B, uint32_t C"));
}

/// The packaged files are all that the top module needs.
#[test]
fn the_file_list_is_complete() {
    for ip in all() {
        let listed: Vec<String> = ip.text(&format!("{}.f", ip.kernel)).lines().map(String::from).collect();
        let mut there: Vec<String> = fs::read_dir(ip.path("rtl"))
            .unwrap()
            .map(|e| format!("rtl/{}", e.unwrap().file_name().to_string_lossy()))
            .collect();
        let mut sorted = listed.clone();
        sorted.sort();
        there.sort();
        assert_eq!(sorted, there, "{}", ip.name);
        assert_eq!(listed.last(), Some(&format!("rtl/{}.v", ip.kernel)), "the top module last");
        assert_eq!(
            component::files(&ip.text("component.xml"), "xilinx_verilogsynthesis_view_fileset", ".v"),
            listed,
            "{}",
            ip.name
        );
    }
}

/// Clock, reset, interrupt with their attributes, then every AXI interface channel by channel.
#[test]
fn ports_stand_in_the_order_of_their_channels() {
    for ip in all() {
        let text = ip.text(&format!("rtl/{}.v", ip.kernel));
        let header = &text[..text.find("\n);").unwrap()];
        let name =
            |l: &str| l.split_once(" wire ")?.1.split([' ', ',']).find(|word| !word.starts_with('[')).map(String::from);
        let ports: Vec<String> = header.lines().filter_map(name).collect();
        assert_eq!(ports[..3], ["ap_clk", "ap_rst_n", "interrupt"], "{}", ip.name);
        let place = |port: &String| {
            let (bus, signal) = port.rsplit_once('_').unwrap();
            let channel = ["aw", "w", "b", "ar", "r"]
                .iter()
                .position(|c| signal.starts_with(c) && (*c != "w" || !signal.starts_with("aw")))
                .unwrap();
            (bus.to_string(), channel)
        };
        let mut places: Vec<(String, usize)> = ports[3..].iter().map(place).collect();
        places.dedup();
        let buses: Vec<&str> = places.chunk_by(|a, b| a.0 == b.0).map(|same| same[0].0.as_str()).collect();
        assert!(
            places.chunk_by(|a, b| a.0 == b.0).all(|same| same.windows(2).all(|w| w[0].1 < w[1].1)),
            "{}: {places:?}",
            ip.name
        );
        assert_eq!(
            buses.iter().collect::<std::collections::BTreeSet<_>>().len(),
            buses.len(),
            "{}: {buses:?}",
            ip.name
        );
        for (port, kind, parameters) in [
            (
                "ap_clk",
                "clock:1.0 ap_clk CLK",
                format!("ASSOCIATED_BUSIF {}, ASSOCIATED_RESET ap_rst_n", buses.join(":")),
            ),
            ("ap_rst_n", "reset:1.0 ap_rst_n RST", "POLARITY ACTIVE_LOW".to_string()),
            ("interrupt", "interrupt:1.0 interrupt INTERRUPT", "SENSITIVITY LEVEL_HIGH".to_string()),
        ] {
            let info = format!("X_INTERFACE_INFO = \"xilinx.com:signal:{kind}\"");
            let parameter = format!("X_INTERFACE_PARAMETER = \"XIL_INTERFACENAME {port}, {parameters}\"");
            // In front of the port; on a line each if one is too long for both.
            let lines = [format!("(* {info}, {parameter} *)\n"), format!("(* {info} *)\n    (* {parameter} *)\n")];
            assert!(lines.iter().any(|line| header.contains(line)), "{}: {lines:?}\n{header}", ip.name);
        }
    }
}

#[test]
fn scripts_run_where_vivado_is_not() {
    for ip in all() {
        let scratch = ip.copy();
        fs::create_dir_all(scratch.path().join("build/ip_packaged")).unwrap();
        fs::write(scratch.path().join("build/ip_packaged/component.xml"), "").unwrap();
        implemented(scratch.path());
        let scripts = fs::read_dir(scratch.path().join("vivado")).unwrap().map(|e| e.unwrap().path());
        let more = [
            scratch.path().join(format!("constraints/{}_ooc.xdc", ip.kernel)),
            scratch.path().join(format!("xgui/{}_v1_0.tcl", ip.kernel)),
        ];
        for script in scripts.chain(more) {
            let calls = run(tool("tclsh").arg(root().join("tests/packaging/vivado.tcl")).arg(&script));
            assert!(!calls.is_empty(), "{}", script.display());
        }
        let design =
            ip.path("vivado").read_dir().unwrap().any(|e| e.unwrap().file_name().to_string_lossy().starts_with("bd_"));
        assert_eq!(
            design,
            ip.name.starts_with("zynq"),
            "{}: a block design for boards with a processing system",
            ip.name
        );
    }
}

/// What Vivado leaves behind an implementation of the block design.
fn implemented(dir: &std::path::Path) {
    for (folder, file) in [
        ("build/bd/bd.runs/impl_1", "system_wrapper.bit"),
        ("build/bd/bd.gen/sources_1/bd/system/hw_handoff", "system.hwh"),
    ] {
        fs::create_dir_all(dir.join(folder)).unwrap();
        fs::write(dir.join(folder).join(file), file).unwrap();
    }
}

/// Block designs of boards with a processing system go on to a bitstream, which lies where the drivers look for it. A
/// clock that is missed gives none.
#[test]
fn block_designs_become_bitstreams() {
    for (name, script, clock, port, preset) in [
        (
            "zynq",
            "bd_zynqmp",
            "CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ 300",
            "CONFIG.PSU__USE__S_AXI_GP4 1",
            "zynq_ultra_ps_e",
        ),
        (
            "zynq7000",
            "bd_zynq",
            "CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ 100",
            "CONFIG.PCW_USE_S_AXI_HP2 1",
            "processing_system7",
        ),
    ] {
        let (ip, board) = (
            emitted(name),
            if name == "zynq" { "xilinx.com:zcu104:part0:1.1" } else { "tul.com.tw:pynq-z2:part0:1.0" },
        );
        let scratch = ip.copy();
        let run = |slack: &str, arguments: &[&str]| {
            let mut command = tool("tclsh");
            command.env("SLACK", slack).arg(root().join("tests/packaging/vivado.tcl"));
            command.arg(scratch.path().join(format!("vivado/{script}.tcl"))).args(arguments).output().unwrap()
        };
        let sw = |end: &str| scratch.path().join(format!("sw/{}.{end}", ip.kernel));
        assert!(!run("0.1", &[]).status.success(), "nothing was implemented");
        implemented(scratch.path());
        let missed = run("-0.5", &[]);
        assert!(!missed.status.success() && !sw("bit").exists(), "the clock was missed");
        let output = run("0.1", &[]);
        let calls = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{calls}{}", String::from_utf8_lossy(&output.stderr));
        for wanted in [
            &format!("set_property board_part {board}"),
            "apply_board_preset 1",
            &format!("xilinx.com:bd_rule:{preset}"),
            clock,
            port,
            "launch_runs impl_1 -to_step write_bitstream",
            "wait_on_run impl_1",
            "write_hw_platform",
        ] {
            assert!(calls.contains(wanted), "{name}: {wanted}\n{calls}");
        }
        assert_eq!(fs::read(sw("bit")).unwrap(), b"system_wrapper.bit");
        assert_eq!(fs::read(sw("hwh")).unwrap(), b"system.hwh");
        let other = String::from_utf8_lossy(&run("0.1", &["xck26-sfvc784-2LV-c", "design"]).stdout).into_owned();
        assert!(other.contains("apply_board_preset 0") && !other.contains("launch_runs"), "{other}");
    }
}

/// By tclint, which knows Tcl's own commands. Lists of files and registers stand in one line.
#[test]
fn scripts_are_clean() {
    for ip in all() {
        let files = fs::read_dir(ip.path("vivado")).unwrap().map(|e| e.unwrap().path());
        let more =
            [ip.path(&format!("constraints/{}_ooc.xdc", ip.kernel)), ip.path(&format!("xgui/{}_v1_0.tcl", ip.kernel))];
        run(tool("tclint").args(["--ignore", "line-length"]).args(files.chain(more)));
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("wrong.tcl"), "if {1} {puts a b c d}\n").unwrap();
    assert!(!tool("tclint").arg(dir.path().join("wrong.tcl")).output().unwrap().status.success());
}

#[test]
fn the_stub_refuses_what_vivado_would() {
    let dir = tempfile::tempdir().unwrap();
    for wrong in [
        "synth_desing -top a",
        "synth_design -topp a",
        "set_property a b",
        "read_verilog",
        "package_xo -xo_path",
        "puts [get_ports",
    ] {
        let script = dir.path().join("wrong.tcl");
        fs::write(&script, wrong).unwrap();
        let output = tool("tclsh").arg(root().join("tests/packaging/vivado.tcl")).arg(&script).output().unwrap();
        assert!(!output.status.success(), "{wrong}");
    }
}

#[test]
fn headers_and_hosts_compile() {
    for ip in all() {
        let header = ip.path(&format!("sw/x{}.h", ip.kernel));
        let strict = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"];
        let unit = format!("#include \"{}\"\nint main(void) {{ return 0; }}\n", header.display());
        let dir = tempfile::tempdir().unwrap();
        for (compiler, standard, name) in [("gcc", "-std=c99", "unit.c"), ("g++", "-std=c++11", "unit.cpp")] {
            fs::write(dir.path().join(name), &unit).unwrap();
            run(tool(compiler).arg(standard).args(strict).arg(dir.path().join(name)));
        }
        // One of each kind: XRT's headers take seconds.
        let hosts = [
            ("mm", "host.cpp"),
            ("six", "host.cpp"),
            ("scalars", "host.cpp"),
            ("hosted", "host.cpp"),
            ("in_dram", "host.cpp"),
            ("functions", "host_gemv.cpp"),
            ("sizes", "host_second.cpp"),
            ("scaled", "host.cpp"),
            ("plus", "host.cpp"),
        ];
        for (_, host) in hosts.iter().filter(|h| h.0 == ip.name) {
            run(tool("g++")
                .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-isystem", "/usr/include/xrt"])
                .arg(ip.path("sw").join(host)));
        }
        run(tool("dtc")
            .args(["-q", "-@", "-I", "dts", "-O", "dtb", "-o", "/dev/null"])
            .arg(ip.path(&format!("sw/{}.dtso", ip.kernel))));
    }
}

/// `sw/reference.c` or `.cpp` with the user's file beside it gives the results the simulation is held against.
#[test]
fn the_reference_is_the_c_program() {
    for ip in single().chain([emitted("scaled"), emitted("plus")]) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("main.c"), replay::reference_main(ip)).unwrap();
        let object = dir.path().join("reference.o");
        let flags = ["-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-w", "-c", "-iquote"];
        let (compiler, reference) = ip.reference("");
        run(tool(compiler)
            .args(flags)
            .arg(ip.source.parent().unwrap())
            .arg("-I")
            .arg(ip.path("sw"))
            .arg(reference)
            .arg("-o")
            .arg(&object));
        let main = dir.path().join("main.o");
        run(tool("gcc").args(["-w", "-c"]).arg(dir.path().join("main.c")).arg("-o").arg(&main));
        run(tool(compiler).args([&main, &object]).args(["-lm", "-o"]).arg(dir.path().join("reference")));
        run(std::process::Command::new(dir.path().join("reference")).current_dir(ip.path("sim")));
    }
}

/// The drivers' own accesses, made on the simulated IP, leave what the C program leaves.
#[test]
fn the_c_driver_runs_the_simulated_ip() {
    for ip in single() {
        replay::check(ip, 0, replay::c_driver(ip));
    }
}

#[test]
fn the_pynq_driver_runs_the_simulated_ip() {
    for ip in single() {
        replay::check(ip, 0, replay::pynq_driver(ip, None));
        replay::check(ip, 0, replay::pynq_driver_plain(ip, None));
    }
    let (ip, report) = (emitted("functions"), emitted("functions").report());
    let functions = report["interface"]["functions"].as_array().unwrap();
    assert!(functions.len() > 2);
    for (number, function) in functions.iter().enumerate() {
        replay::check(ip, number, replay::pynq_driver(ip, function["name"].as_str()));
        replay::check(ip, number, replay::pynq_driver_plain(ip, function["name"].as_str()));
    }
}

/// The notebook's cells, run as Jupyter does, drive the simulated IP and find the expected results.
#[test]
fn the_notebook_runs_the_simulated_ip() {
    for name in ["zynq", "zynq7000", "zynq_guarded"] {
        replay::check(emitted(name), 0, replay::notebook(emitted(name)));
    }
    assert!(!emitted("mm").path("sw/mm.ipynb").exists(), "a card has no PYNQ");
}

/// The program for Linux with files in the place of devices: it gives the IP the addresses of its arrays and starts it,
/// and looks at the status, which is wrong here.
#[test]
fn the_uio_program_sets_the_registers() {
    for name in ["zynq", "zynq7000", "zynq_guarded"] {
        let ip = emitted(name);
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("program");
        let warnings = ["-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I"];
        let source = ip.path(&format!("sw/{}_uio.c", ip.kernel));
        run(tool("gcc").args(warnings).arg(ip.path("sw")).arg(&source).arg("-o").arg(&program).arg("-lm"));
        let header = ip.text(&format!("sw/x{}_hw.h", ip.kernel));
        let number = |name: &str| {
            let line = header.lines().find(|l| l.contains(&format!("_{name} "))).unwrap_or_else(|| panic!("{name}"));
            let word = line.split_whitespace().last().unwrap().trim_end_matches('u').trim_start_matches("0x");
            u32::from_str_radix(word, 16).unwrap()
        };
        let mut registers = vec![0u8; 65536];
        let at = number("ADDR_DESIGN_ID_DATA") as usize;
        registers[at..at + 4].copy_from_slice(&number("DESIGN_ID").to_le_bytes());
        fs::write(dir.path().join("uio"), &registers).unwrap();
        fs::write(dir.path().join("memory"), vec![0u8; 1 << 16]).unwrap();
        let output = std::process::Command::new(&program)
            .current_dir(dir.path())
            .args(["uio", "memory"])
            .args([ip.path("sim").as_os_str(), "0x40000000".as_ref()])
            .output()
            .unwrap();
        // A file keeps the bits that were written to clear them.
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), text.trim()), (Some(2), "status 0x37, address 0x0"));
        let registers = fs::read(dir.path().join("uio")).unwrap();
        let word = |at: usize| u32::from_le_bytes(registers[at..at + 4].try_into().unwrap());
        let a = word(number("ADDR_A_DATA") as usize);
        let b = word(number("ADDR_B_DATA") as usize);
        assert_eq!((a, b), (0x4000_0000, 0x4000_1000), "{name}");
        if name == "zynq_guarded" {
            let long = |a: &str| word(number(&format!("ADDR_{a}_BYTES_DATA")) as usize);
            assert_eq!(["A", "B", "C"].map(long), [128, 128, 256]);
        }
        assert_eq!(word(0) & 1, 1, "it was started");
        let memory = fs::read(dir.path().join("memory")).unwrap();
        let input = fs::read(ip.path("sim/A.in.bin")).unwrap();
        assert_eq!(memory[..input.len()], input[..]);
    }
}

/// The testbench compares by itself: PASS, or FAIL with the first element, in each simulator.
#[test]
fn the_testbench_judges() {
    for (name, simulator) in [("mm", "icarus"), ("scalars", "icarus"), ("functions", "icarus"), ("mm", "verilator")] {
        let ip = emitted(name);
        let scratch = ip.copy();
        let go = || {
            let output = tool("sh").arg(scratch.path().join("sim/run.sh")).arg(simulator).output().unwrap();
            (output.status.code(), String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or("").to_string())
        };
        let (code, last) = go();
        assert!(code == Some(0) && last.starts_with("PASS: ") && last.ends_with(" elements equal"), "{name}: {last}");
        if (name, simulator) == ("mm", "icarus") {
            assert_eq!(last, "PASS: 192 elements equal");
        }
        // An element of the array behind the last port; bytes stand from right to left in a line.
        let report = ip.report();
        let last_port = report["interface"]["ports"].as_array().map_or(2, |ports| ports.len() - 1);
        let file = scratch.path().join(format!("sim/memory_{last_port}.expected.hex"));
        let mut lines: Vec<String> = fs::read_to_string(&file).unwrap().lines().map(String::from).collect();
        let (beat, at) = (lines[0].len() / 2, sagen::sim::GUARD + if name == "mm" { 5 * 4 } else { 0 });
        let line = &mut lines[at / beat];
        let digit = line.len() - 1 - 2 * (at % beat);
        let other = if line.as_bytes()[digit] == b'0' { "1" } else { "0" };
        line.replace_range(digit..=digit, other);
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let (code, last) = go();
        assert!(code == Some(1) && last.starts_with("FAIL: ") && last.contains("1 of "), "{name}: {code:?} {last}");
        if name == "mm" {
            assert!(last.starts_with("FAIL: C[0][5] is ") && last.ends_with("; 1 of 192 elements differ"), "{last}");
        }
    }
}

#[test]
fn the_kernel_object_holds_the_ip() {
    for ip in all() {
        let bytes = fs::read(ip.path(&format!("{}.xo", ip.kernel))).unwrap();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let mut members = BTreeMap::new();
        for k in 0..archive.len() {
            let mut member = archive.by_index(k).unwrap();
            let mut contents = vec![];
            member.read_to_end(&mut contents).unwrap();
            assert_eq!(member.last_modified().map(|d| (d.year(), d.month(), d.day())), Some((1980, 1, 1)));
            members.insert(member.name().to_string(), contents);
        }
        let folder = format!("ip_repo/sagen_array_{}_1_0/", ip.kernel);
        let read = |path: &str| fs::read(ip.path(path)).unwrap();
        let mut wanted: BTreeMap<String, Vec<u8>> =
            BTreeMap::from([(format!("{}/kernel.xml", ip.kernel), read("vitis/kernel.xml"))]);
        for path in component::files(&ip.text("component.xml"), "", "").into_iter().chain(["component.xml".to_string()])
        {
            wanted.insert(format!("{folder}{path}"), read(&path));
        }
        let index = String::from_utf8(members.remove("xo.xml").unwrap()).unwrap();
        assert!(index.contains(&format!("IP=\"{}\"", folder.trim_end_matches('/'))), "{index}");
        assert!(members == wanted, "{}: {:?}", ip.name, members.keys());
    }
}

#[test]
fn the_linker_is_told_of_every_array() {
    for ip in all() {
        let text = ip.text(&format!("vitis/{}.cfg", ip.kernel));
        let kernel = ip.text("vitis/kernel.xml");
        let xml = roxmltree::Document::parse(&kernel).unwrap();
        let buffers =
            xml.descendants().filter(|n| n.has_tag_name("arg") && n.attribute("addressQualifier") == Some("1"));
        for argument in buffers.map(|n| n.attribute("name").unwrap()) {
            let lines = text.lines().filter(|l| l.starts_with(&format!("sp={}_1.{argument}:", ip.kernel))).count();
            assert_eq!(lines, 1, "{}: {argument}\n{text}", ip.name);
        }
    }
}

/// FuseSoC finds, simulates and lints the core.
#[test]
fn fusesoc_simulates_and_lints() {
    for ip in [emitted("mm"), emitted("functions")] {
        let work = tempfile::tempdir().unwrap();
        for target in ["sim", "lint"] {
            let mut command = tool("fusesoc");
            command.current_dir(work.path()).arg("--cores-root").arg(&ip.dir).args([
                "run",
                "--target",
                target,
                &format!("sagen:array:{}:1.0.0", ip.kernel),
            ]);
            let output = run(&mut command);
            if target == "sim" {
                let report = ip.report();
                let each = report["functions"].as_object().map_or(vec![&report], |all| all.values().collect());
                for function in each {
                    let cycles = function["predicted_cycles"].to_string();
                    assert!(
                        output.contains(&format!("SAGEN cycles={cycles} timeout=0 faults=0")),
                        "{}: {cycles}\n{output}",
                        ip.name
                    );
                }
                assert!(output.contains("PASS: "), "{}: {output}", ip.name);
            }
        }
    }
}

/// A result that differs makes FuseSoC fail.
#[test]
fn fusesoc_fails_where_a_result_differs() {
    let (ip, work) = (emitted("mm"), tempfile::tempdir().unwrap());
    let scratch = ip.copy();
    let file = scratch.path().join("sim/memory_2.expected.hex");
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<String> = text.lines().map(|line| "0".repeat(line.len()) + "\n").collect();
    fs::write(&file, lines.concat()).unwrap();
    let mut command = tool("fusesoc");
    command.current_dir(work.path()).arg("--cores-root").arg(scratch.path());
    let output = command.args(["run", "--target", "sim", "sagen:array:mm:1.0.0"]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(!output.status.success() && text.contains("FAIL: C[0][0] is "), "{text}");
}

/// The cocotb test that lies beside the testbench passes.
#[test]
fn the_cocotb_test_passes() {
    for (name, simulator) in [
        ("mm", "icarus"),
        ("functions", "icarus"),
        ("functions", "verilator"),
        ("zynq7000", "icarus"),
        ("hosted", "icarus"),
        ("zynq_guarded", "icarus"),
        ("guarded_sizes", "icarus"),
    ] {
        let ip = emitted(name);
        let scratch = ip.copy();
        let output = run(tool("python")
            .args([&format!("test_{}.py", ip.kernel), simulator])
            .current_dir(scratch.path().join("sim")));
        assert!(output.contains("PASS=1"), "{}: {output}", ip.name);
    }
}

#[test]
fn the_revision_follows_the_contents() {
    let revision = |ip: &Emitted| component::value(&ip.text("component.xml"), "coreRevision").parse::<u32>().unwrap();
    let all: Vec<u32> = all().iter().map(revision).collect();
    let mut distinct = all.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), all.len(), "{all:?}");
}

/// `--bank` reaches the linker and the report; what a board has not is refused.
#[test]
fn arrays_go_to_the_banks_that_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let sagen = |options: &str, out: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sagen"));
        command
            .arg("rtl")
            .arg(root().join("examples/mm.c"))
            .args("-D N=6".split(' '))
            .args(options.split(' '))
            .arg("-o")
            .arg(dir.path().join(out));
        command.output().unwrap()
    };
    assert!(sagen("--board u280 --bank A=HBM[4:7],C=DDR[1]", "mm").status.success());
    let text = fs::read_to_string(dir.path().join("mm/vitis/mm.cfg")).unwrap();
    for line in ["sp=mm_1.A:HBM[4:7]", "sp=mm_1.B:HBM[1]", "sp=mm_1.C:DDR[1]"] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    let report: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("mm/report.json")).unwrap()).unwrap();
    let banks: Vec<&str> = report["memory"].as_array().unwrap().iter().map(|b| b["bank"].as_str().unwrap()).collect();
    assert_eq!(banks, ["DDR[1]", "HBM[1]", "HBM[4:7]"]);
    for (options, why) in [
        ("--bank A=HBM[0]", "no such memory"),
        ("--bank A=DDR[4]", "there are 4"),
        ("--bank X=DDR[0]", "`X` has no port"),
        ("--bank A=DDR", "not a bank"),
        ("--ports shared --bank A=DDR[0],B=DDR[1]", "share a port"),
    ] {
        let refused = sagen(options, "none");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(1) && said.contains("E0724") && said.contains(why), "{options}: {said}");
    }
}
