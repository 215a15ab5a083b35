//! Files for simulators and build systems: a FuseSoC core, a file list, and a cocotb test.

use crate::{fill, quote, File, Ip, LIBRARY, VENDOR, VERSION};
use templates::interface::{Argument, Function};

/// `<kernel>.core`, `<kernel>.f`, `sim/test_<kernel>.py`.
pub fn files(ip: &Ip) -> Vec<File> {
    let kernel = &ip.interface.kernel;
    let list: String = ip.rtl.iter().map(|f| format!("{}\n", f.path)).collect();
    vec![
        File::new(format!("{kernel}.core"), core(ip)),
        File::new(format!("{kernel}.f"), list),
        File::new(format!("sim/test_{kernel}.py"), cocotb(ip)),
    ]
}

/// The target of AMD's devices.
const SYNTHESIS: &str = "  synth:
    <<: *default
    description: Synthesis in Vivado
    filesets: [rtl, constraints]
    flow: vivado
    flow_options:
      part: @PART@
      pnr: none
";

fn core(ip: &Ip) -> String {
    let kernel = &ip.interface.kernel;
    let item = |path: &str| format!("      - {path}\n");
    // FuseSoC copies to a flat work folder, where the testbench opens images by their bare names.
    let image = |path: &String| format!("      - {path}: {{copyto: {}}}\n", path.rsplit('/').next().unwrap_or(path));
    let constraint = |f: &File| format!("      - {}: {{file_type: xdc}}\n", f.path);
    let (constraints, synthesis) = if ip.is_for_vivado() {
        let constraints: String = ip.constraints.iter().chain(&ip.floorplan).map(constraint).collect();
        let synthesis = fill(SYNTHESIS, &[("PART", quote::yaml(&ip.board.part))]);
        (format!("  constraints:\n    files:\n{constraints}"), synthesis)
    } else {
        (String::new(), String::new())
    };
    fill(
        include_str!("../files/core.in"),
        &[
            ("KERNEL", kernel.clone()),
            ("NAME", quote::yaml(&format!("{VENDOR}:{LIBRARY}:{kernel}:{VERSION}.0"))),
            ("TITLE", quote::yaml(&ip.title())),
            ("RTL", ip.rtl.iter().map(|f| item(&f.path)).collect()),
            ("BENCH", ip.bench.iter().map(|f| item(f)).collect()),
            ("IMAGES", ip.images.iter().map(image).collect()),
            ("CONSTRAINTS", constraints),
            ("SYNTHESIS", synthesis),
            ("OTHERS", if ip.is_for_vivado() { "lint, synth" } else { "lint" }.into()),
        ],
    )
}

/// Words beside the arguments, by function.
const NUMBERS: &str =
    "# By function: offset and value of each word that follows from the greatest sizes, or is a length of an array.
NUMBERS = [
@ALL@]
";
const WRITE_NUMBERS: &str = "        for offset, value in NUMBERS[@OF@]:
            await self.write(offset, value)
";

fn cocotb(ip: &Ip) -> String {
    let interface = ip.interface;
    let port = |k: usize| interface.ports[k].name.as_str();
    let argument = |name: String, a: &Argument| {
        let port = a.array().map_or("None".to_string(), |array| quote::python(port(array.port)));
        format!("    Argument({}, {port}, 0x{:02x}),", quote::python(&name), a.offset)
    };
    let list = |f: &Function, name: &dyn Fn(&Argument) -> String| {
        f.arguments.iter().map(|a| argument(name(a), a)).collect::<Vec<_>>().join("\n")
    };
    // What follows from the greatest sizes, and lengths.
    let numbers = |f: &Function| {
        let maxima: Vec<i64> = f.sizes.iter().map(|s| s.max).collect();
        let program = f.program.iter().map(|p| (p.offset, p.register.bits, p.register.formula.eval(&maxima) as u64));
        let all = program.chain(f.lengths().map(|(a, l)| (l.offset, l.bits, a.bytes())));
        let word = |(at, bits, value): (u32, u32, u64)| {
            (0..bits.div_ceil(32)).map(move |k| format!("(0x{:02x}, {})", at + 4 * k, (value >> (32 * k)) as u32))
        };
        all.flat_map(word).collect::<Vec<_>>().join(", ")
    };
    let text = match (&interface.functions[..], interface.layout.function()) {
        (several, Some(at)) => {
            let function = |f: &Function| {
                let own = list(f, &|a| format!("{}.{}", f.ident, a.ident));
                format!("    [\n{}\n    ],", own.lines().map(|l| format!("    {l}")).collect::<Vec<_>>().join("\n"))
            };
            let functions = several.iter().map(function).collect::<Vec<_>>().join("\n");
            fill(
                include_str!("../files/functions_test.py.in"),
                &[("FUNCTIONS", functions), ("FUNCTION_AT", format!("0x{at:02x}"))],
            )
        }
        (only, None) => {
            fill(include_str!("../files/test.py.in"), &[("ARGUMENTS", list(&only[0], &|a| a.ident.clone()))])
        }
    };
    let is_told = |f: &Function| !f.program.is_empty() || f.lengths().next().is_some();
    let (listed, written) = if interface.functions.iter().any(is_told) {
        let all: String = interface.functions.iter().map(|f| format!("    [{}],\n", numbers(f))).collect();
        let of = if interface.layout.function().is_some() { "function" } else { "0" };
        (NUMBERS.replace("@ALL@", &all), WRITE_NUMBERS.replace("@OF@", of))
    } else {
        (String::new(), String::new())
    };
    let (often, shares) = match interface.functions.iter().all(|f| f.kept.is_empty()) {
        true => ("twice without a reset in between: at full speed, then with memories that stall", "(0.0, 0.3)"),
        // A second run would find what the first one has kept.
        false => ("once, with memories that stall", "(0.3,)"),
    };
    fill(
        &text,
        &[
            ("OFTEN", often.into()),
            ("SHARES", shares.into()),
            ("NUMBERS", listed),
            ("WRITE_NUMBERS", written),
            ("KERNEL", interface.kernel.clone()),
            ("CLOCK", interface.clock.into()),
            ("RESET", interface.reset.into()),
            ("INTERRUPT", interface.interrupt.into()),
            ("CONTROL", interface.control.into()),
            ("PORTS", interface.ports.iter().map(|p| quote::python(&p.name)).collect::<Vec<_>>().join(", ")),
            ("ADDRESS_BYTES", (interface.address_bits / 8).to_string()),
            ("STATUS_AT", format!("0x{:02x}", interface.layout.status())),
            ("CYCLES_AT", format!("0x{:02x}", interface.layout.cycles())),
            ("LIMIT", (20 * ip.cycles().max(0) + 100_000).to_string()),
        ],
    )
}
