//! What runs beside the IP under Linux: for each function an XRT host that checks the results, and the C program to check
//! against; a device-tree overlay for embedded systems.

use crate::formula::{self, Language};
use crate::{fill, types, File, Function, Ip};
use frontend::scop::ScalarType;
use templates::interface::{self, Argument};

/// `sw/<kernel>.dtso`, `sw/host.cpp` and `sw/reference.c`; of several functions `sw/host_<function>.cpp` and so on.
pub fn files(ip: &Ip) -> Vec<File> {
    let kernel = &ip.interface.kernel;
    let mut all = vec![File::new(format!("sw/{kernel}.dtso"), overlay(ip))];
    for (number, (function, more)) in ip.all().enumerate() {
        let Function { reference: Some(reference), exact, .. } = more else { continue };
        let stem = if ip.only().is_some() { String::new() } else { format!("_{}", function.ident) };
        all.push(File::new(format!("sw/host{stem}.cpp"), host(ip, (number, function), &stem, *exact)));
        all.push(File::new(format!("sw/reference{stem}.c"), reference.clone()));
    }
    all
}

/// The element type in the host: a 16-bit float is a type of the file's own.
fn element(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Float { exponent: 5, .. } => "Half",
        other => types::c(other),
    }
}

/// `stem`: what tells the function's files from those of others.
fn host(ip: &Ip, (number, function): (usize, &interface::Function), stem: &str, exact: bool) -> String {
    let interface = ip.interface;
    let own = |f: &dyn Fn(usize) -> String| function.arguments.iter().enumerate().filter(|(_, a)| a.is_own()).map(|(k, _)| f(k)).collect::<Vec<_>>().join(", ");
    // As `kernel.xml` numbers the arguments of all functions.
    let first = if ip.only().is_some() { 0 } else { 1 + interface.functions[..number].iter().map(|f| f.arguments.len()).sum::<usize>() };
    let list = |f: &dyn Fn(usize, &Argument) -> String, between: &str| function.arguments.iter().enumerate().map(|(k, a)| f(k, a)).collect::<Vec<_>>().join(between);
    let declare = |k: usize, a: &Argument| match a.array() {
        Some(_) => format!("    Buffer<{}> argument{k}(device, kernel, {}, {:?}, {}, random);", element(a.ty), first + k, a.ident, a.elements()),
        None => match &a.formula {
            None => format!("    Value<{}> argument{k}(random); // {}", element(a.ty), a.ident),
            Some(formula) => {
                let named = Argument { ident: format!("value{k}"), ..a.clone() };
                let called = |name: &str| match function.arguments.iter().position(|x| x.ident == name) {
                    Some(k) if function.arguments[k].formula.is_none() => format!("argument{k}.before[0]"),
                    other => format!("value{}", other.unwrap_or(0)),
                };
                let lines = formula::lines(&named, formula, &Language::C, &called);
                lines.into_iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n") + &format!(" // {}", a.ident)
            }
        },
    };
    let passed = |k: usize, a: &Argument| match a.array() {
        Some(_) => format!("argument{k}.buffer"),
        None if a.formula.is_some() => format!("static_cast<{}>(value{k})", types::c(a.ty)),
        None => format!("argument{k}.before[0]"),
    };
    let uploads = function.arguments.iter().enumerate().filter(|(_, a)| a.array().is_some()).map(|(k, _)| format!("    argument{k}.upload();"));
    let written = |what: &str| {
        let lines = function.arguments.iter().enumerate().filter(|(_, a)| a.array().is_some_and(|a| a.written && !a.scratch)).map(|(k, _)| what.replace("{k}", &k.to_string()));
        lines.collect::<Vec<_>>().join("\n")
    };
    // The other functions' arguments stand in the same registers, so only its own are set.
    let set = |k: usize, a: &Argument| format!("    run.set_arg({}, {});", first + k, passed(k, a));
    let started = format!("    xrt::run run(kernel);\n    run.set_arg(0, {number}u);\n{}\n    run.start();", list(&set, "\n"));
    fill(include_str!("../files/host.cpp.in"), &[
        ("KERNEL", interface.kernel.clone()),
        ("DECLARE", list(&declare, "\n")),
        ("BEFORE", own(&|k| format!("argument{k}.before.data()"))),
        ("AFTER", own(&|k| format!("argument{k}.after.data()"))),
        ("UPLOAD", uploads.collect::<Vec<_>>().join("\n")),
        ("RUN", if ip.only().is_some() { format!("    auto run = kernel({});", list(&passed, ", ")) } else { started }),
        ("STEM", stem.into()),
        ("WHAT", if ip.only().is_some() { interface.kernel.clone() } else { format!("{} of {}", function.name, interface.kernel) }),
        ("COMPARE", written("    wrong += argument{k}.compare();")),
        ("CYCLES", format!("0x{:02x}", interface.layout.cycles())),
        ("STATUS", format!("0x{:02x}", interface.layout.status())),
        ("ERROR_ADDRESS", format!("0x{:02x}", interface.layout.error_address())),
        ("TOLERANCE", if exact { "0" } else { "1e-3" }.into()),
    ])
}

/// Zynq-7000 has 32-bit addresses and other interrupt numbers than Zynq UltraScale+.
fn overlay(ip: &Ip) -> String {
    let small = ip.board.family == "zynq";
    let (cells, reg, interrupt, node) = if small { ("1", "0x43c00000 0x10000", 29, "43c00000") } else { ("2", "0x0 0x80000000 0x0 0x10000", 89, "80000000") };
    let origin = if small { "IRQ_F2P[0] of Zynq-7000: interrupt 61 - 32 = 29" } else { "pl_ps_irq0[0] of Zynq UltraScale+: interrupt 121 - 32 = 89" };
    fill(include_str!("../files/overlay.dtso.in"), &[
        ("KERNEL", ip.interface.kernel.clone()),
        ("CELLS", cells.into()),
        ("REG", reg.into()),
        ("NODE", node.into()),
        ("IRQ", interrupt.to_string()),
        ("ORIGIN", origin.into()),
        ("BUS", if small { "/amba" } else { "/amba_pl@0" }.into()),
    ])
}
