//! `README.md` of the IP: ports, registers, use of each file, extent of the tests.

use crate::{fill, quote, types, Function, Ip};
use scop::Affine;
use std::fmt::Write as _;
use templates::interface::{self, Argument, Array, Interface, Register, SizeArgument};

const HOST: &str =
    "| `sw/host@STEM@.cpp`, `sw/reference@STEM@.@EXTENSION@` | XRT host that compares with the C program (its \
    first lines contain the build commands); the C program as a function |\n";

/// On boards with a processing system.
const ZYNQ: &str = "| `vivado/@SCRIPT@.tcl` | a block design beside the processing system, up to the bitstream: \
    `sw/@KERNEL@.bit`, `sw/@KERNEL@.hwh` |\n| `sw/@KERNEL@.ipynb` | a notebook for PYNQ: runs the IP and \
    compares with the C program's results |\n| `sw/@KERNEL@_uio.c` | the same as a program for Linux, by UIO and \
    u-dma-buf |\n";

/// The text.
pub fn text(ip: &Ip, revision: u32) -> String {
    let interface = ip.interface;
    let zynq = match ip.board.family.as_str() {
        "zynquplus" => fill(ZYNQ, &[("SCRIPT", "bd_zynqmp".into()), ("KERNEL", interface.kernel.clone())]),
        "zynq" => fill(ZYNQ, &[("SCRIPT", "bd_zynq".into()), ("KERNEL", interface.kernel.clone())]),
        _ => String::new(),
    };
    let text = parts(ip)
        .into_iter()
        .fold(include_str!("../files/README.md.in").to_string(), |text, part| fill(&text, &[part]));
    fill(
        &text,
        &[
            ("KERNEL", interface.kernel.clone()),
            ("SUMMARY", summary(ip)),
            ("MEMORY", memory(ip)),
            ("CLOCK_MHZ", ip.board.clock_mhz.to_string()),
            ("BOARD", quote::markdown(if ip.board.title.is_empty() { &ip.board.name } else { &ip.board.title })),
            ("PART", quote::markdown(&ip.board.part)),
            ("VLNV", ip.vlnv()),
            ("REVISION", revision.to_string()),
            ("CLOCK", interface.clock.into()),
            ("RESET", interface.reset.into()),
            ("INTERRUPT", interface.interrupt.into()),
            ("CONTROL", interface.control.into()),
            ("ARGUMENTS", ip.all().map(|(f, more)| arguments(ip, f, more)).collect()),
            ("CHOICE", {
                let sized = interface.functions.iter().any(|f| !f.sizes.is_empty());
                let keeps = |a: &Argument| a.array().is_some_and(|x| x.read && x.written && !x.scratch);
                let state = interface.arguments().any(keeps);
                choice(ip) + if sized { SIZES } else { "" } + if state { STATE } else { "" } + &kept(interface)
            }),
            ("QUEUE", {
                let overlap = if interface.layout.overlap { BESIDE } else { "" };
                interface.layout.queue().map_or(String::new(), |_| QUEUE.to_string() + overlap)
            }),
            (
                "ABOUT",
                if ip.single().is_some() {
                    "`report.json`, `vsa.txt`, `array.svg` | figures, the array as text and as a picture"
                } else {
                    "`report.json`, a folder of each function | figures; the array as text and as a picture"
                }
                .into(),
            ),
            (
                "LENGTHS",
                if interface.functions.iter().any(|f| f.lengths().next().is_some()) { LENGTHS } else { "" }.into(),
            ),
            ("PORTS", ports(ip)),
            ("REGISTERS", interface.registers.iter().map(register).collect()),
            ("BLOCK_DESIGN", zynq),
        ],
    )
}

/// What depends on the tools that the board's device has. The parts have tokens themselves.
fn parts(ip: &Ip) -> [(&'static str, String); 5] {
    let litex = ip.board.litex.is_some();
    if ip.is_for_vivado() {
        let mut hosts = "| `sw/@KERNEL@.py` | PYNQ driver |\n".to_string() + &host(ip);
        hosts += "| `sw/@KERNEL@.dtso` | device-tree overlay for UIO, a template |\n";
        let rtl = "`rtl/`, `constraints/` | Verilog-2005, one module a file; the clock for out-of-context runs";
        let tools = VIVADO_FILES.to_string() + if litex { LITEX_FILES } else { "" };
        return [
            ("TESTS", VIVADO_TESTS.into()),
            ("TOOLS", tools),
            ("HOST", hosts),
            ("RTL", rtl.into()),
            ("USE", VIVADO_USE.into()),
        ];
    }
    [
        ("TESTS", OPEN_TESTS.into()),
        ("TOOLS", if litex { LITEX_FILES.into() } else { String::new() }),
        ("HOST", String::new()),
        ("RTL", "`rtl/` | Verilog-2005, one module a file".into()),
        ("USE", if litex { LITEX_USE.into() } else { String::new() }),
    ]
}

const VIVADO_TESTS: &str = "Open tools check the files of this kind of folder: a schema
checks `component.xml`, compilers check the C and C++, a Tcl interpreter runs the scripts with recorders instead of Vivado's
commands, FuseSoC runs simulation and lint. **Not tested in Vivado, Vitis or on a device.**";

const OPEN_TESTS: &str = "Yosys and nextpnr take IPs of this kind to a
bitstream, FuseSoC runs simulation and lint. **Not tested on a device.** The device's family has no Vivado: there is no
`component.xml`, no `.xo`, and no driver for PYNQ or XRT.";

const VIVADO_FILES: &str = "\
    | `component.xml`, `xgui/` | IP-XACT; this folder is the IP |
| `@KERNEL@.xo`, `vitis/` | kernel for `v++`; its description and the linker's configuration with memory banks |
| `vivado/package_ip.tcl`, `vivado/pack_xo.tcl` | the same by Vivado's own packager, if a version refuses these files |
| `vivado/build_ooc.tcl` | synthesis to routing with reports, out of context |
";

const LITEX_FILES: &str = "\
    | `Makefile`, `litex/@KERNEL@.py` | `make bitstream`: a LiteX system around the IP, placed and routed by open tools |
| `litex/host.py` | loads the data of `sim/` over the serial port, runs, compares |
| `litex/requirements.txt` | the tools, which `make` installs in `build/venv` |
";

const VIVADO_USE: &str = "Vivado, block design:

    set_property ip_repo_paths <this folder> [current_project]; update_ip_catalog
    create_bd_cell -type ip -vlnv @VLNV@ @KERNEL@_0

Vitis:

    v++ -l -t hw --platform <platform> --config vitis/@KERNEL@.cfg -o @KERNEL@.xclbin @KERNEL@.xo

PYNQ: see `sw/@KERNEL@.py`. ";

const LITEX_USE: &str = "The board:

    make bitstream                          # Python 3.9 or newer and make; a few minutes
    make load                               # openFPGALoader
    make run PORT=/dev/ttyUSB0              # ends with PASS

";

/// One row for the host of each function.
fn host(ip: &Ip) -> String {
    let stem = |f: &interface::Function| if ip.single().is_some() { String::new() } else { format!("_{}", f.ident) };
    let row = |(function, more): (&interface::Function, &Function)| {
        let extension = more.reference.as_ref()?.extension();
        Some(fill(HOST, &[("STEM", stem(function)), ("EXTENSION", extension.into())]))
    };
    ip.all().filter_map(row).collect()
}

const SIZES: &str = "\n\
    Sizes have no registers. The drivers check them, compute the values that depend on them and write these values.\n\
    Bytes are those at the greatest sizes. A host without a driver must write the same values; with others results are\n\
    wrong, rows outside of the arrays are left out (`OUTSIDE` in `status`), and a run may have to be stopped.\n";

const LENGTHS: &str = "\
    The host gives the length of each buffer in bytes, in the register `<argument>_bytes`. Behind these bytes nothing is\n\
    written, and only the rest of a bus word is read. A length beyond `bytes` means `bytes`; after a reset all lengths are\n\
    0, so a host that forgets one moves nothing of that array.\n";

const STATE: &str = "\n\
    Arrays that are read and written hold what the run before left. Keep these buffers from run to run where the C\n\
    program does, as for its `static` variables.\n";

/// What stays on chip from run to run.
fn kept(interface: &Interface) -> String {
    let mut names: Vec<&str> =
        interface.functions.iter().flat_map(|f| &f.kept).map(|kept| kept.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.is_empty() {
        true => String::new(),
        false => KEPT.replace("@NAMES@", &names.join(", ")),
    }
}

const KEPT: &str = "\n\
    Kept on chip from run to run: @NAMES@. They begin as zeros when the FPGA is configured, and are no arguments. A reset\n\
    does not clear them; if it stops a run, what that run stores may be there in part. The host programs in `sw` compare with\n\
    the C program from zeros on.\n";

const QUEUE: &str = "\n\
    The queue: write the arguments, then the number of the function to `queue`. The queue stores both, so the next\n\
    arguments may be written at once. Commands run in order; each starts 2 cycles after the previous one has ended.\n\
    A run that `CTRL` starts precedes waiting commands. `AP_DONE` and its interrupt do not report commands; `queue`,\n\
    `queue_ended` and a separate interrupt do.\n";

const BESIDE: &str = "\n\
    Bit 8 of what is written to `queue` says that the command is independent: it touches nothing that commands before it\n\
    write, and writes nothing that they read. It may begin while they are under way. Bit 9 says that a command follows at\n\
    once: none begins before one without this bit, or before the queue is full. `cycles` counts from the first of the runs\n\
    that overlap.\n";

fn summary(ip: &Ip) -> String {
    if let Some((_, function)) = ip.single() {
        return format!("{}; {} cycles a run", function.summary, function.cycles);
    }
    let each: Vec<_> = ip.all().map(|(_, f)| format!("{}, {} cycles a run", f.summary, f.cycles)).collect();
    format!("{} functions, one at a time: {};", each.len(), each.join("; "))
}

/// The memory with which the functions take their cycles.
fn memory(ip: &Ip) -> String {
    if ip.functions.iter().all(|f| f.on_board) {
        format!("the memory of {}", quote::markdown(&ip.board.name))
    } else {
        "ideal memory".into()
    }
}

/// The choice of a function, if the IP has several.
fn choice(ip: &Ip) -> String {
    let Some(at) = ip.interface.layout.function() else { return String::new() };
    let list: Vec<_> = ip.interface.functions.iter().enumerate().map(|(k, f)| format!("{k} `{}`", f.name)).collect();
    format!(
        "\nRegister `function` (0x{at:02x}) chooses: {}. The functions share the registers of their arguments.\n",
        list.join(", ")
    )
}

fn arguments(ip: &Ip, function: &interface::Function, more: &Function) -> String {
    let name_of = |a: &Argument| {
        if ip.single().is_some() {
            a.ident.clone()
        } else {
            format!("{}.{}", function.ident, a.ident)
        }
    };
    let row = |(a, bank): (&Argument, &Option<String>)| {
        let Some(array) = a.array() else {
            return format!(
                "| `{}` | `{} {}` | {} | {} | | | 0x{:02x} |\n",
                name_of(a),
                types::c(a.ty),
                a.name,
                a.bytes(),
                if a.formula.is_some() { "computed by the driver" } else { "by value" },
                a.offset
            );
        };
        let extents = extents(array, function);
        let moved = match (array.read, array.written) {
            _ if array.scratch => "scratch",
            (true, true) => "read, written",
            (_, true) => "written",
            _ => "read",
        };
        let port = &ip.interface.ports[array.port].name;
        let bank = bank.as_deref().unwrap_or("");
        format!(
            "| `{}` | `{} {}{extents}` | {} | {moved} | `{port}` | {bank} | 0x{:02x} |\n",
            name_of(a),
            types::c(a.ty),
            a.name,
            a.bytes(),
            a.offset
        )
    };
    let rows: Vec<String> = function.arguments.iter().zip(&more.banks).map(row).collect();
    let place =
        |a: &Argument| function.arguments.iter().position(|x| x == a).map_or(String::new(), |k| rows[k].clone());
    let size = |s: &SizeArgument| {
        let name = if ip.single().is_some() { s.ident.clone() } else { format!("{}.{}", function.ident, s.ident) };
        format!("| `{name}` | `{} {}` | | a size, 1 to {} | | | |\n", types::c(s.ty), s.name, s.max)
    };
    function.in_order(place, size).concat()
}

/// An array's extents in C's notation.
fn extents(array: &Array, function: &interface::Function) -> String {
    if array.extents.is_empty() || array.scratch {
        return array.dims.iter().map(|d| format!("[{d}]")).collect();
    }
    let term = |(&factor, s): (&i64, &SizeArgument)| match factor {
        0 => None,
        1 => Some(s.name.clone()),
        other => Some(format!("{other} * {}", s.name)),
    };
    let one = |e: &Affine| {
        let mut terms: Vec<String> = e.coeffs.iter().zip(&function.sizes).filter_map(term).collect();
        if e.constant != 0 || terms.is_empty() {
            terms.push(e.constant.to_string());
        }
        format!("[{}]", terms.join(" + ").replace("+ -", "- "))
    };
    array.extents.iter().map(one).collect()
}

fn ports(ip: &Ip) -> String {
    let mut text = String::new();
    for p in &ip.interface.ports {
        let name = |&(f, k): &(usize, usize)| {
            let (function, a) = (&ip.interface.functions[f], &ip.interface.functions[f].arguments[k]);
            let name = if ip.single().is_some() { a.ident.clone() } else { format!("{}.{}", function.ident, a.ident) };
            let bytes = a.array().map_or(1, |array| array.alignment);
            format!("`{name}` at a multiple of {bytes}")
        };
        let names: Vec<String> = p.arrays.iter().map(name).collect();
        let _ = writeln!(
            text,
            "| `{}` | AXI4 manager, {} data bits, {} address bits, bursts of at most {} beats; moves {} bytes |",
            p.name,
            p.data_bits,
            p.address_bits,
            p.burst_beats,
            names.join(", ")
        );
    }
    text
}

fn register(r: &Register) -> String {
    let mut text = format!("| 0x{:02x} | `{}` | {} | {} |\n", r.offset, r.name, r.access.words(), r.description);
    for f in &r.fields {
        let _ = writeln!(text, "| | bit {} `{}` | {} | {} |", f.bits(), f.name, f.access.words(), f.description);
    }
    text
}
