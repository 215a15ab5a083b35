//! The bare-metal driver: register names in the style of Vitis HLS, and one header of inline functions.

use crate::formula::{self, Language};
use crate::{fill, types, File, Ip};
use std::fmt::Write as _;
use templates::interface::{
    Argument, Function, Length, ProgramRegister, SizeArgument, CTRL, GIER, IP_IER, IP_ISR, QUEUE_INDEPENDENT,
    QUEUE_MORE,
};
use uniform::sizes::Formula;

const DRIVER: &str = include_str!("../files/driver.h.in");
/// The driver's functions for the one function, or for each of several.
const SET: &str = r#"/* Sets all arguments. They must not change during a run.@CHECKED@ */
static inline @RESULT@ x@KERNEL@_set(uintptr_t ip, @PARAMETERS@)
{
@CHECK@@SETTERS@
@END@}

"#;
const RUN: &str = r#"/* A whole run; the status, 0 if all went well. */
static inline uint32_t x@KERNEL@_run(uintptr_t ip, @PARAMETERS@)
{
    x@KERNEL@_status_clear(ip);
@CALL@
    x@KERNEL@_start(ip);
    x@KERNEL@_wait(ip);
    return x@KERNEL@_status(ip);
}

"#;
const SET_FUNCTION: &str = r#"/* Says what the next run is: @FUNCTION@, with these arguments. They must not change before it ends.@CHECKED@ */
static inline @RESULT@ x@KERNEL@_@FUNCTION@_set(uintptr_t ip, @PARAMETERS@)
{
@CHECK@@SETTERS@
    X@UPPER@_WRITE32(ip + @PREFIX@_ADDR_FUNCTION_DATA, @PREFIX@_FUNCTION_@FUNCTION_UPPER@);
@END@}

"#;
const RUN_FUNCTION: &str = r#"/* A whole run of @FUNCTION@; the status, 0 if all went well. */
static inline uint32_t @KERNEL@_@FUNCTION@(uintptr_t ip, @PARAMETERS@)
{
    x@KERNEL@_status_clear(ip);
@CALL@
    x@KERNEL@_start(ip);
    x@KERNEL@_wait(ip);
    return x@KERNEL@_status(ip);
}

"#;
/// The functions for the queue.
const QUEUE: &str = r#"/* Commands for which the queue has a place. */
static inline uint32_t x@KERNEL@_queue_free(uintptr_t ip)
{
    return (X@UPPER@_READ32(ip + @PREFIX@_ADDR_QUEUE_DATA) & @PREFIX@_QUEUE_FREE_MASK) >> 16;
}

/* Commands of the queue that have ended, modulo 2^32. */
static inline uint32_t x@KERNEL@_queue_ended(uintptr_t ip)
{
    return X@UPPER@_READ32(ip + @PREFIX@_ADDR_QUEUE_ENDED_DATA);
}

/* Waits until all commands have ended; the status, 0 if all went well since it was cleared. */
static inline uint32_t x@KERNEL@_queue_wait(uintptr_t ip)
{
    while ((X@UPPER@_READ32(ip + @PREFIX@_ADDR_QUEUE_DATA) & @PREFIX@_QUEUE_WAITING_MASK) != 0) {
    }
    return x@KERNEL@_status(ip);
}

"#;
const ENQUEUE: &str = r#"/* Adds a run@OF@ to the queue, which keeps the arguments; 0 if it has no place, and then nothing is done.@CHECKED@ */
static inline int @NAME@_queue(uintptr_t ip, @PARAMETERS@)
{
@CHECK@    if (x@KERNEL@_queue_free(ip) == 0) {
        return 0;
    }
@SETTERS@
    X@UPPER@_WRITE32(ip + @PREFIX@_ADDR_QUEUE_DATA, @NUMBER@u);
    return 1;
}

"#;

/// The same if commands overlap.
const ENQUEUE_BESIDE: &str = r#"/* As @NAME@_queue. `how` is 0, or any of
 * @PREFIX@_QUEUE_INDEPENDENT: the run touches nothing that commands before it write, and writes nothing that they
 *   read; it may begin while they are under way,
 * @PREFIX@_QUEUE_MORE: a command follows at once; none begins before one without this, or before the queue is full. */
static inline int @NAME@_queue_beside(uintptr_t ip, uint32_t how, @PARAMETERS@)
{
@CHECK@    if (x@KERNEL@_queue_free(ip) == 0) {
        return 0;
    }
@SETTERS@
    X@UPPER@_WRITE32(ip + @PREFIX@_ADDR_QUEUE_DATA, @NUMBER@u | how);
    return 1;
}

"#;

/// `sw/x<kernel>_hw.h` and `sw/x<kernel>.h`.
pub fn headers(ip: &Ip) -> Vec<File> {
    let kernel = &ip.interface.kernel;
    vec![File::new(format!("sw/x{kernel}_hw.h"), registers(ip)), File::new(format!("sw/x{kernel}.h"), driver(ip))]
}

/// Prefix of the macros' names: `XMM_CONTROL`.
fn prefix(ip: &Ip) -> String {
    format!("X{}_CONTROL", ip.interface.kernel.to_uppercase())
}

fn registers(ip: &Ip) -> String {
    let (interface, prefix) = (ip.interface, prefix(ip));
    let guard = format!("X{}_HW_H", interface.kernel.to_uppercase());
    let mut text = format!(
        "/* Registers of {} at {}, in bytes. */\n#ifndef {guard}\n#define {guard}\n\n",
        interface.kernel, interface.control
    );
    let mut define = |name: &str, value: String| {
        let _ = writeln!(text, "#define {:<44} {value}", format!("{prefix}_{name}"));
    };
    for (name, offset) in [("AP_CTRL", CTRL), ("GIE", GIER), ("IER", IP_IER), ("ISR", IP_ISR)] {
        define(&format!("ADDR_{name}"), format!("0x{offset:02x}"));
    }
    for (function, _) in ip.all() {
        for a in &function.arguments {
            let name = ip.argument_name(function, a).to_uppercase();
            define(&format!("ADDR_{name}_DATA"), format!("0x{:02x}", a.offset));
            define(&format!("BITS_{name}_DATA"), a.register_bits().to_string());
        }
        for p in &function.program {
            let name = ip.register_name(function, p).to_uppercase();
            define(&format!("ADDR_{name}_DATA"), format!("0x{:02x}", p.offset));
            define(&format!("BITS_{name}_DATA"), p.register.bits.to_string());
        }
        for (_, length) in function.lengths() {
            let name = ip.length_name(function, length).to_uppercase();
            define(&format!("ADDR_{name}_DATA"), format!("0x{:02x}", length.offset));
            define(&format!("BITS_{name}_DATA"), length.bits.to_string());
        }
    }
    define("ADDR_DESIGN_ID_DATA", format!("0x{:02x}", interface.layout.design_id()));
    define("DESIGN_ID", format!("0x{:08x}u", interface.design_id));
    define("ADDR_VERSION_DATA", format!("0x{:02x}", interface.layout.version()));
    define("ADDR_CYCLES_DATA", format!("0x{:02x}", interface.layout.cycles()));
    define("BITS_CYCLES_DATA", "64".to_string());
    define("ADDR_STATUS_DATA", format!("0x{:02x}", interface.layout.status()));
    define("ADDR_ERROR_ADDRESS_DATA", format!("0x{:02x}", interface.layout.error_address()));
    define("BITS_ERROR_ADDRESS_DATA", "64".to_string());
    define("ADDR_SOFT_RESET_DATA", format!("0x{:02x}", interface.layout.soft_reset()));
    if let Some(at) = interface.layout.function() {
        define("ADDR_FUNCTION_DATA", format!("0x{at:02x}"));
        for (k, function) in interface.functions.iter().enumerate() {
            define(&format!("FUNCTION_{}", function.ident.to_uppercase()), format!("{k}u"));
        }
    }
    if let Some([queue, ended]) = interface.layout.queue() {
        define("ADDR_QUEUE_DATA", format!("0x{queue:02x}"));
        define("ADDR_QUEUE_ENDED_DATA", format!("0x{ended:02x}"));
        if interface.layout.overlap {
            define("QUEUE_INDEPENDENT", format!("0x{:x}u", 1 << QUEUE_INDEPENDENT));
            define("QUEUE_MORE", format!("0x{:x}u", 1 << QUEUE_MORE));
        }
    }
    for register in &interface.registers {
        for field in &register.fields {
            let name = format!("{}_{}_MASK", register.name, field.name).to_uppercase();
            define(&name, format!("0x{:x}u", ((1u64 << field.width) - 1) << field.bit));
        }
    }
    text.push_str("\n#endif\n");
    text
}

fn driver(ip: &Ip) -> String {
    let interface = ip.interface;
    let common =
        [("KERNEL", interface.kernel.clone()), ("UPPER", interface.kernel.to_uppercase()), ("PREFIX", prefix(ip))];
    let several = interface.functions.len() > 1;
    let (mut sets, mut runs, mut shapes) = (String::new(), String::new(), vec![]);
    if interface.functions.iter().any(|f| !f.sizes.is_empty()) {
        sets += NUMBERS;
    }
    if interface.functions.iter().any(|f| !rivals(f).is_empty()) {
        sets += OVERLAP;
    }
    if interface.layout.queue().is_some() {
        runs += QUEUE;
    }
    for (number, function) in interface.functions.iter().enumerate() {
        let name =
            if several { format!("{}_{}", interface.kernel, function.ident) } else { format!("x{}", interface.kernel) };
        let call = format!(
            "{}_set(ip, {})",
            if several { format!("x{}_{}", interface.kernel, function.ident) } else { name.clone() },
            passed(function, |a| with_length(a, &a.ident, |l| l.ident.clone()), |s| s.ident.clone())
        );
        let checks = Checks::of(&interface.kernel, function, &call);
        let tokens = [
            ("CHECKED", checks.checked),
            ("RESULT", checks.result),
            ("CHECK", checks.check),
            ("END", checks.end),
            ("CALL", checks.call),
            ("FUNCTION", function.ident.clone()),
            ("FUNCTION_UPPER", function.ident.to_uppercase()),
            ("NAME", name.clone()),
            ("NUMBER", number.to_string()),
            ("OF", if several { format!(" of {}", function.ident) } else { String::new() }),
            ("PARAMETERS", passed(function, parameters, |s| format!("{} {}", types::c(s.ty), s.ident))),
            (
                "SETTERS",
                [
                    vec![lines(function, &|a| setter(ip, &ip.argument_name(function, a), a), "\n")],
                    program(ip, function),
                    lengths(ip, function),
                ]
                .concat()
                .join("\n"),
            ),
        ];
        let [set, run] = if several { [SET_FUNCTION, RUN_FUNCTION] } else { [SET, RUN] };
        sets += &fill(set, &tokens);
        if interface.layout.queue().is_some() {
            runs += &fill(ENQUEUE, &tokens);
        }
        if interface.layout.overlap {
            runs += &fill(ENQUEUE_BESIDE, &tokens);
        }
        runs += &fill(run, &tokens);
        if several {
            shapes.push(format!(" * {name}:"));
        }
        let sizes = function
            .sizes
            .iter()
            .map(|s| format!(" *   {:<12} {} {}, a size from 1 to {}", s.ident, types::c(s.ty), s.name, s.max));
        shapes.extend(sizes);
        shapes.push(lines(function, &shape, "\n"));
    }
    let math = if interface.arguments().any(|a| a.formula.is_some()) { "#include <math.h>\n" } else { "" };
    fill(
        &fill(
            DRIVER,
            &[
                ("MATH", math.to_string()),
                ("SHAPES", shapes.join("\n")),
                ("SET", sets),
                ("RUN", runs),
                ("RESET", interface.reset.into()),
                (
                    "EMPTIES",
                    if interface.layout.queue().is_some() { " and drops the commands of its queue" } else { "" }.into(),
                ),
            ],
        ),
        &common,
    )
}

/// Texts for what the driver checks before it writes registers: sizes, and buffers that overlap. Empty for a function
/// without sizes and with one buffer.
struct Checks {
    checked: String,
    result: String,
    check: String,
    end: String,
    /// Calls the setter.
    call: String,
}

impl Checks {
    fn of(kernel: &str, function: &Function, call: &str) -> Checks {
        let rivals = rivals(function);
        let (mut checked, mut check, mut faults) = (String::new(), String::new(), vec![]);
        let mut add = |says: &str, condition: String, code: i32, name: &'static str| {
            checked += &format!("\n * {code} if {says}, and then nothing is done.");
            check += &format!("    if ({condition}) {{\n        return {code};\n    }}\n");
            faults.push((code, name));
        };
        if !function.sizes.is_empty() {
            let is: Vec<String> =
                function.sizes.iter().map(|s| format!("x@KERNEL@_is_size((int64_t){}, {})", s.ident, s.max)).collect();
            add("a size is not from 1 to its greatest", format!("!({})", is.join(" && ")), -1, "NO_SIZE");
        }
        if !rivals.is_empty() {
            let of = |a: &Argument| format!("{}, {}", a.ident, bytes(kernel, function, a));
            let pair = |(a, b): &(&Argument, &Argument)| format!("x@KERNEL@_overlap({}, {})", of(a), of(b));
            let any: Vec<String> = rivals.iter().map(pair).collect();
            add("buffers overlap and one of them is written", any.join("\n        || "), -2, "OVERLAP");
        }
        let status = |(code, name): (i32, &str)| format!("wrong == {code} ? X@UPPER@_{name} : ");
        match &faults[..] {
            [] => Checks { checked, result: "void".into(), check, end: String::new(), call: format!("    {call};") },
            [.., last] => {
                let others: String = faults[..faults.len() - 1].iter().copied().map(status).collect();
                let status = format!("{others}X@UPPER@_{}", last.1);
                let call = match others.is_empty() {
                    true => format!("    if ({call} != 0) {{\n        return {status};\n    }}"),
                    false => {
                        format!("    int wrong = {call};\n    if (wrong != 0) {{\n        return {status};\n    }}")
                    }
                };
                Checks { checked, result: "int".into(), check, end: "    return 0;\n".into(), call }
            }
        }
    }
}

/// Pairs of buffers that must not overlap: one of them is written.
fn rivals(function: &Function) -> Vec<(&Argument, &Argument)> {
    let buffers: Vec<&Argument> = function.arguments.iter().filter(|a| a.array().is_some()).collect();
    let written = |a: &Argument| a.array().is_some_and(|array| array.written);
    let pairs = buffers.iter().enumerate().flat_map(|(k, &a)| buffers[k + 1..].iter().map(move |&b| (a, b)));
    pairs.filter(|(a, b)| written(a) || written(b)).collect()
}

/// The bytes of a buffer in C, at the sizes of the run.
fn bytes(kernel: &str, function: &Function, a: &Argument) -> String {
    match a.array() {
        Some(array) if !array.extents.is_empty() && !array.scratch => {
            let extents = array.extents.iter().map(|e| format!("({})", number(kernel, &Formula::affine(e), function)));
            format!("(uint64_t)({} * {})", a.ty.bytes(), extents.collect::<Vec<_>>().join(" * "))
        }
        _ => format!("{}u", a.bytes()),
    }
}

/// A text for each argument and size that the caller passes, in order, without scalars that the driver computes.
fn passed(
    function: &Function,
    argument: impl Fn(&Argument) -> String,
    size: impl Fn(&SizeArgument) -> String,
) -> String {
    let all = function.in_order(|a| a.formula.is_none().then(|| argument(a)), |s| Some(size(s)));
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn lines(function: &Function, f: &dyn Fn(&Argument) -> String, between: &str) -> String {
    function.arguments.iter().map(f).collect::<Vec<_>>().join(between)
}

/// Writes the registers that depend on sizes.
fn program(ip: &Ip, function: &Function) -> Vec<String> {
    let kernel = &ip.interface.kernel;
    let one = |p: &ProgramRegister| {
        let at = format!("{}_ADDR_{}_DATA", prefix(ip), ip.register_name(function, p).to_uppercase());
        let value = number(kernel, &p.register.formula, function);
        match p.register.bits > 32 {
            true => format!("    x{kernel}_write64(ip, {at}, (uint64_t){value});"),
            false => format!("    X{}_WRITE32(ip + {at}, (uint32_t){value});", kernel.to_uppercase()),
        }
    };
    function.program.iter().map(one).collect()
}

/// Writes the registers of the lengths.
fn lengths(ip: &Ip, function: &Function) -> Vec<String> {
    let kernel = &ip.interface.kernel;
    let one = |(_, length): (&Argument, &Length)| {
        let at = format!("{}_ADDR_{}_DATA", prefix(ip), ip.length_name(function, length).to_uppercase());
        match length.bits > 32 {
            true => format!("    x{kernel}_write64(ip, {at}, {});", length.ident),
            false => format!("    X{}_WRITE32(ip + {at}, {});", kernel.to_uppercase(), length.ident),
        }
    };
    function.lengths().map(one).collect()
}

/// A formula over the sizes in C.
fn number(kernel: &str, formula: &Formula, function: &Function) -> String {
    let (least, greatest) = (format!("x{kernel}_least"), format!("x{kernel}_greatest"));
    let sized = formula::Sized {
        constant: &|c| format!("INT64_C({c})"),
        size: &|k| format!("(int64_t){}", function.sizes[k].ident),
        floor: &|x, by| format!("x{kernel}_floor({x}, {by})"),
        least: &least,
        greatest: &greatest,
    };
    sized.text(formula)
}

/// Definitions for buffers.
const OVERLAP: &str = r#"/* What a run returns for buffers that overlap, if one of them is written: nothing was started. C would let one function
 * write what it reads through another pointer; the IP reads and writes in another order. The IP has no such status. */
#define X@UPPER@_OVERLAP 0x40000000u

static inline int x@KERNEL@_overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b ? b - a < a_bytes : a - b < b_bytes;
}

"#;

/// Definitions for checks and formulas.
const NUMBERS: &str = r#"/* What a run returns for sizes that are not from 1 to the greatest: nothing was started. The IP has no such status. */
#define X@UPPER@_NO_SIZE 0x80000000u

static inline int x@KERNEL@_is_size(int64_t value, int64_t max)
{
    return value >= 1 && value <= max;
}

/* Quotient, rounded down; the divisor is positive. */
static inline int64_t x@KERNEL@_floor(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static inline int64_t x@KERNEL@_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t x@KERNEL@_greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

"#;

/// An unsigned integer.
fn unsigned(bits: u32) -> &'static str {
    if bits > 32 {
        "uint64_t"
    } else {
        "uint32_t"
    }
}

fn parameters(a: &Argument) -> String {
    let ty = a.array().map_or(types::c(a.ty), |array| unsigned(array.address_bits));
    with_length(a, &format!("{ty} {}", a.ident), |l| format!("{} {}", unsigned(l.bits), l.ident))
}

/// What the caller passes for an argument: `own`, and behind an address its length, if the IP asks for it.
pub(crate) fn with_length(a: &Argument, own: &str, length: impl Fn(&Length) -> String) -> String {
    let length = a.array().and_then(|array| array.length.as_ref()).map(|l| format!(", {}", length(l)));
    format!("{own}{}", length.unwrap_or_default())
}

/// Writes the registers of an argument, whose macros contain `macro_name`.
fn setter(ip: &Ip, macro_name: &str, a: &Argument) -> String {
    let kernel = &ip.interface.kernel;
    let (at, name) = (format!("{}_ADDR_{}_DATA", prefix(ip), macro_name.to_uppercase()), &a.ident);
    let bits = match (a.array(), types::c(a.ty)) {
        (Some(_), _) | (None, "uint64_t" | "uint32_t") => name.clone(),
        (None, "double") => format!("x{kernel}_bits64({name})"),
        (None, "float") => format!("x{kernel}_bits32({name})"),
        (None, "int64_t") => format!("(uint64_t){name}"),
        (None, ty) => {
            format!("(uint{}_t){name}", ty.trim_start_matches('u').trim_start_matches("int").trim_end_matches("_t"))
        }
    };
    let computed = a.formula.iter().flat_map(|f| formula::lines(a, f, &Language::C, &str::to_string));
    let computed: String = computed.map(|line| format!("    {line}\n")).collect();
    match a.register_bits() > 32 {
        true => format!("{computed}    x{kernel}_write64(ip, {at}, {bits});"),
        false => format!("{computed}    X{}_WRITE32(ip + {at}, (uint32_t){bits});", kernel.to_uppercase()),
    }
}

fn shape(a: &Argument) -> String {
    let Some(array) = a.array() else {
        return format!(
            " *   {:<12} {} {}, {}",
            a.ident,
            types::c(a.ty),
            a.name,
            if a.formula.is_some() { "computed here" } else { "by value" }
        );
    };
    let extents: String = array.dims.iter().map(|d| format!("[{d}]")).collect();
    let use_ = match (array.read, array.written) {
        _ if array.scratch => "scratch: what it holds before and after means nothing",
        (true, true) => "read and written",
        (_, true) => "written",
        _ => "read",
    };
    let long =
        |l: &Length| format!("\n *   {:<12} bytes of that buffer; nothing behind them is read or written", l.ident);
    let length = array.length.as_ref().map(long).unwrap_or_default();
    let (ty, bytes, multiple) = (types::c(a.ty), a.bytes(), array.alignment);
    format!(" *   {:<12} {ty} {}{extents}, {bytes} bytes at a multiple of {multiple}, {use_}{length}", a.ident, a.name)
}
