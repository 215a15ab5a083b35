//! `sw/<kernel>_uio.c`: a program for Linux that runs each function by UIO and compares with the testbench's contents.

use crate::c::with_length;
use crate::{fill, types, File, Ip};
use std::fmt::Write as _;
use templates::interface::{Argument, Function};

/// The file.
pub fn file(ip: &Ip) -> File {
    let kernel = &ip.interface.kernel;
    let functions: String = ip.interface.functions.iter().map(|f| function(ip, f)).collect();
    let calls: String = ip.interface.functions.iter().map(|f| format!("    wrong |= run_{}(&d);\n", f.ident)).collect();
    let arrays = || ip.interface.functions.iter().flat_map(|f| &f.arguments).filter(|a| a.array().is_some());
    // Each array begins at a multiple of 4096 bytes; functions follow each other in the same buffer.
    let total: u64 = arrays().map(|a| a.bytes().next_multiple_of(4096)).sum();
    let elements: u64 = arrays().filter(|a| !a.is_scratch()).map(Argument::elements).sum();
    let tokens = [
        ("KERNEL", kernel.clone()),
        ("FUNCTIONS", functions),
        ("CALLS", calls),
        ("TOTAL", total.to_string()),
        ("ELEMENTS", elements.to_string()),
    ];
    let text = fill(include_str!("../files/uio.c.in"), &tokens);
    File::new(format!("sw/{kernel}_uio.c"), fill(&text, &tokens[..1]))
}

/// The function that runs one of the IP's.
fn function(ip: &Ip, f: &Function) -> String {
    let several = ip.interface.functions.len() > 1;
    let file_of = |a: &Argument| if several { format!("{}.{}", f.ident, a.ident) } else { a.ident.clone() };
    let (mut declared, mut set, mut compared) = (String::new(), String::new(), String::new());
    for a in f.arguments.iter().filter(|a| a.formula.is_none()) {
        let name = &a.ident;
        let bytes = a.bytes();
        if a.array().is_none() {
            let _ = writeln!(declared, "    {} v_{name};", types::c(a.ty));
            let _ = writeln!(set, "    load(d, \"{}\", \"in\", &v_{name}, sizeof v_{name});", file_of(a));
            continue;
        }
        let from = if a.is_scratch() { "0".to_string() } else { format!("\"{}\"", file_of(a)) };
        let _ = writeln!(declared, "    uint64_t at_{name} = place(d, {from}, {bytes}u);");
        if !a.is_scratch() {
            let _ = writeln!(compared, "    wrong |= differs(d, {from}, at_{name}, {bytes}u, {}u);", a.ty.bytes());
        }
    }
    let argument = |a: &Argument| {
        a.formula.is_none().then(|| {
            let own = match a.array() {
                Some(array) if array.address_bits > 32 => format!("d->address + at_{}", a.ident),
                Some(_) => format!("(uint32_t)(d->address + at_{})", a.ident),
                None => format!("v_{}", a.ident),
            };
            with_length(a, &own, |_| format!("{}u", a.bytes()))
        })
    };
    let values: Vec<String> = f.in_order(argument, |s| Some(s.max.to_string())).into_iter().flatten().collect();
    let setter = if several { format!("{}_set", f.ident) } else { "set".into() };
    format!(
        "static int run_{}(struct device *d)\n{{\n{declared}    int wrong = 0;\n{set}    (void)x@KERNEL@_{setter}(d->ip, {});\n    \
        run(d);\n    printf(\"{}: %\" PRIu64 \" cycles\\n\", x@KERNEL@_cycles(d->ip));\n{compared}    return \
        wrong;\n}}\n\n",
        f.ident,
        values.join(", "),
        f.ident
    )
}
