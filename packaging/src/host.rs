//! Software for Linux: for each function an XRT host that compares with the C program, and that program; a device-tree
//! overlay for embedded systems.

use crate::formula::{self, Language};
use crate::{fill, types, File, Function, Ip};
use scop::ScalarType;
use templates::interface::{self, Argument, Array};
use uniform::sizes::Formula;

/// `sw/<kernel>.dtso`, `sw/host.cpp` and `sw/reference.c` (`.cpp` for C++); `sw/host_<function>.cpp` and so on for several functions.
pub fn files(ip: &Ip) -> Vec<File> {
    let kernel = &ip.interface.kernel;
    let mut all = vec![File::new(format!("sw/{kernel}.dtso"), overlay(ip))];
    for (number, (function, more)) in ip.all().enumerate() {
        let Function { reference: Some(reference), exact, .. } = more else { continue };
        let stem = if ip.single().is_some() { String::new() } else { format!("_{}", function.ident) };
        let text = host(ip, (number, function), &stem, *exact);
        let compiler = if reference.cpp { "g++ -std=c++17 -I." } else { "cc" };
        let text = fill(&text, &[("COMPILER", compiler.into()), ("EXTENSION", reference.extension().into())]);
        all.push(File::new(format!("sw/host{stem}.cpp"), text));
        all.push(File::new(format!("sw/reference{stem}.{}", reference.extension()), reference.text.clone()));
        let new = |h: &&File| all.iter().all(|f| f.path != h.path);
        let headers: Vec<File> = reference.headers.iter().filter(new).cloned().collect();
        all.extend(headers);
    }
    all
}

/// The element type in the host, which defines its own 16-bit float.
fn element(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::Float { exponent: 5, .. } => "Half",
        other => types::c(other),
    }
}

/// `stem` distinguishes the function's files from those of other functions.
fn host(ip: &Ip, (number, function): (usize, &interface::Function), stem: &str, exact: bool) -> String {
    let interface = ip.interface;
    let own = |f: &dyn Fn(usize) -> String| {
        function
            .arguments
            .iter()
            .enumerate()
            .filter(|(_, a)| a.is_own())
            .map(|(k, _)| f(k))
            .collect::<Vec<_>>()
            .join(", ")
    };
    // `kernel.xml` numbers the arguments of all functions consecutively.
    let first = if ip.single().is_some() {
        0
    } else {
        1 + interface.functions[..number].iter().map(|f| f.arguments.len()).sum::<usize>()
    };
    let list = |f: &dyn Fn(usize, &Argument) -> String, between: &str| {
        function.arguments.iter().enumerate().map(|(k, a)| f(k, a)).collect::<Vec<_>>().join(between)
    };
    let declare = |k: usize, a: &Argument| match a.array() {
        Some(array) => format!(
            "    Buffer<{}> argument{k}(device, kernel, {}, {:?}, {}, random);",
            element(a.ty),
            first + k,
            a.ident,
            elements(a, array)
        ),
        None => match &a.formula {
            None => format!("    Value<{}> argument{k}(random); // {}", element(a.ty), a.ident),
            Some(formula) => {
                let named = Argument { ident: format!("value{k}"), ..a.clone() };
                let value_of = |name: &str| match function.arguments.iter().position(|x| x.ident == name) {
                    Some(k) if function.arguments[k].formula.is_none() => format!("argument{k}.before[0]"),
                    other => format!("value{}", other.unwrap_or(0)),
                };
                let lines = formula::lines(&named, formula, &Language::C, &value_of);
                lines.into_iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
                    + &format!(" // {}", a.ident)
            }
        },
    };
    let passed = |k: usize, a: &Argument| match a.array() {
        Some(_) => format!("argument{k}.buffer"),
        None if a.formula.is_some() => format!("static_cast<{}>(value{k})", types::c(a.ty)),
        None => format!("argument{k}.before[0]"),
    };
    let uploads = function
        .arguments
        .iter()
        .enumerate()
        .filter(|(_, a)| a.array().is_some())
        .map(|(k, _)| format!("    argument{k}.upload();"));
    let written = |what: &str| {
        let lines = function
            .arguments
            .iter()
            .enumerate()
            .filter(|(_, a)| a.array().is_some_and(|a| a.written && !a.scratch))
            .map(|(k, _)| what.replace("{k}", &k.to_string()));
        lines.collect::<Vec<_>>().join("\n")
    };
    // All functions use the same argument registers, so the host sets only those of this function.
    let set = |k: usize, a: &Argument| format!("    run.set_arg({}, {});", first + k, passed(k, a));
    // Values that depend on sizes follow the arguments of all functions.
    let all: usize =
        interface.functions.iter().map(|f| f.arguments.len()).sum::<usize>() + usize::from(ip.single().is_none());
    let computed = all + interface.functions[..number].iter().map(|f| f.program.len()).sum::<usize>();
    let value = |p: &interface::ProgramRegister| {
        format!("static_cast<uint{}_t>({})", if p.register.bits > 32 { 64 } else { 32 }, of_sizes(&p.register.formula))
    };
    // Behind those the lengths of all functions.
    let sum = |functions: &[interface::Function], of: fn(&interface::Function) -> usize| -> usize {
        functions.iter().map(of).sum()
    };
    let first_length = all
        + sum(&interface.functions, |f| f.program.len())
        + sum(&interface.functions[..number], |f| f.lengths().count());
    let place = |a: &Argument| function.arguments.iter().position(|x| x == a).unwrap_or(0);
    let length = |(a, l): (&Argument, &interface::Length)| {
        format!("static_cast<uint{}_t>(argument{}.bytes())", l.bits, place(a))
    };
    let program: Vec<String> = function.program.iter().map(value).collect();
    let lengths: Vec<String> = function.lengths().map(length).collect();
    let set_all = |values: &[String], first: usize| -> String {
        values.iter().enumerate().map(|(k, value)| format!("    run.set_arg({}, {value});\n", first + k)).collect()
    };
    let set_numbers = set_all(&program, computed) + &set_all(&lengths, first_length);
    let maxima: Vec<String> = function.sizes.iter().map(|s| s.max.to_string()).collect();
    let sized = !maxima.is_empty();
    let start = format!(
        "    xrt::run run(kernel);\n    run.set_arg(0, {number}u);\n{}\n{set_numbers}    run.start();",
        list(&set, "\n")
    );
    fill(
        include_str!("../files/host.cpp.in"),
        &[
            ("KERNEL", interface.kernel.clone()),
            ("DECLARE", list(&declare, "\n")),
            ("BEFORE", own(&|k| format!("argument{k}.before.data()"))),
            ("AFTER", own(&|k| format!("argument{k}.after.data()"))),
            ("UPLOAD", uploads.collect::<Vec<_>>().join("\n")),
            (
                "RUN",
                if ip.single().is_some() {
                    format!(
                        "    auto run = kernel({});",
                        [function.arguments.iter().enumerate().map(|(k, a)| passed(k, a)).collect(), program, lengths]
                            .concat()
                            .join(",\n        ")
                    )
                } else {
                    start
                },
            ),
            ("STEM", stem.into()),
            ("BYTES", if function.lengths().next().is_some() { BYTES.into() } else { String::new() }),
            (
                "SIZES",
                if sized {
                    fill(SIZES, &[("MAXIMA", maxima.join(", ")), ("COUNT", maxima.len().to_string())])
                } else {
                    String::new()
                },
            ),
            ("NUMBERS", if sized { NUMBERS.into() } else { String::new() }),
            ("OPEN", if sized { ", const long long *sizes" } else { "" }.into()),
            ("WITH_SIZES", if sized { ", sizes" } else { "" }.into()),
            ("USAGE", function.sizes.iter().map(|s| format!(" [{}]", s.ident)).collect()),
            ("MOST", (2 + maxima.len()).to_string()),
            (
                "WHAT",
                if ip.single().is_some() {
                    interface.kernel.clone()
                } else {
                    format!("{} of {}", function.name, interface.kernel)
                },
            ),
            ("COMPARE", written("    wrong += argument{k}.compare();")),
            ("CYCLES", format!("0x{:02x}", interface.layout.cycles())),
            ("STATUS", format!("0x{:02x}", interface.layout.status())),
            ("ERROR_ADDRESS", format!("0x{:02x}", interface.layout.error_address())),
            ("SOFT_RESET", format!("0x{:02x}", interface.layout.soft_reset())),
            ("TOLERANCE", if exact { "0" } else { "1e-3" }.into()),
        ],
    )
}

/// The number of elements of an array.
fn elements(a: &Argument, array: &Array) -> String {
    if array.extents.is_empty() || array.scratch {
        return a.elements().to_string();
    }
    array.extents.iter().map(|e| of_sizes(&Formula::affine(e))).collect::<Vec<_>>().join(" * ")
}

/// A formula over `sizes` in C++.
fn of_sizes(formula: &Formula) -> String {
    let sized = formula::Sized {
        constant: &|c| format!("{c}LL"),
        size: &|k| format!("sizes[{k}]"),
        floor: &|x, by| format!("floor_of({x}, {by})"),
        least: "std::min<long long>",
        greatest: "std::max<long long>",
    };
    sized.text(formula)
}

/// Reads the sizes of the run.
const SIZES: &str = r#"
    // As given, else the greatest.
    const long long most[] = {@MAXIMA@};
    long long sizes[@COUNT@];
    for (int k = 0; k < @COUNT@; k++) {
        sizes[k] = argc > 2 + k ? std::stoll(argv[2 + k]) : most[k];
        if (sizes[k] < 1 || sizes[k] > most[k]) {
            std::cerr << "the size " << sizes[k] << " is not from 1 to " << most[k] << "\n";
            return 2;
        }
    }
"#;

const NUMBERS: &str = "
// Quotient, rounded down; the divisor is positive.
[[maybe_unused]] static long long floor_of(long long a, long long b) {
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}
";

/// The length of a buffer.
const BYTES: &str = "    size_t bytes() const { return before.size() * sizeof(T); }\n";

/// Zynq-7000 has 32-bit addresses, and its interrupt numbers differ from those of Zynq UltraScale+.
fn overlay(ip: &Ip) -> String {
    let small = ip.board.family == "zynq";
    let (cells, reg, interrupt, node) = if small {
        ("1", "0x43c00000 0x10000", 29, "43c00000")
    } else {
        ("2", "0x0 0x80000000 0x0 0x10000", 89, "80000000")
    };
    let origin = if small {
        "IRQ_F2P[0] of Zynq-7000: interrupt 61 - 32 = 29"
    } else {
        "pl_ps_irq0[0] of Zynq UltraScale+: interrupt 121 - 32 = 89"
    };
    fill(
        include_str!("../files/overlay.dtso.in"),
        &[
            ("KERNEL", ip.interface.kernel.clone()),
            ("CELLS", cells.into()),
            ("REG", reg.into()),
            ("NODE", node.into()),
            ("IRQ", interrupt.to_string()),
            ("ORIGIN", origin.into()),
            ("BUS", if small { "/amba" } else { "/amba_pl@0" }.into()),
        ],
    )
}
