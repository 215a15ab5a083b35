//! The list of all registers with fields and descriptions, as IP-XACT, reports and drivers show it.

use super::*;

/// The registers, sorted by offset.
pub(super) fn list(layout: &Layout, functions: &[Function], version: u32) -> Vec<Register> {
    let mut all = standard().to_vec();
    match functions {
        [only] => {
            only.arguments.iter().for_each(|a| all.extend(of_argument(a)));
            only.program.iter().for_each(|p| all.extend(of_program(only, p)));
            only.lengths()
                .for_each(|(a, length)| all.extend(halves(&length.ident, length.bits, length.offset, &long(a))));
        }
        several => all.extend(layout.words().into_keys().map(|at| shared(several, at))),
    }
    let read_only = |name: &str, at: u32, text: &str| register(name, at, Access::ReadOnly, text);
    let (cycles, error) = (layout.cycles(), layout.error_address());
    all.push(read_only("design_id", layout.design_id(), "hash of the hardware"));
    let text = "version of sagen: major, minor, patch in a byte each";
    all.push(Register { reset: version, ..read_only("version", layout.version(), text) });
    let text = "cycles of the latest run, bits 31 to 0; a read latches cycles_2";
    all.push(read_only("cycles_1", cycles, text));
    let text = "cycles of the latest run, bits 63 to 32, as of the last read of cycles_1";
    all.push(read_only("cycles_2", cycles + 4, text));
    all.push(status(layout));
    all.push(read_only("error_address_1", error, "address of the first burst that failed, bits 31 to 0"));
    all.push(read_only("error_address_2", error + 4, "address of the first burst that failed, bits 63 to 32"));
    if let Some(at) = layout.function() {
        let numbers: Vec<_> = functions.iter().enumerate().map(|(k, f)| format!("{k} {}", f.name)).collect();
        let text = format!("function of the next run: {}", numbers.join(", "));
        all.push(register("function", at, Access::ReadWrite, &text));
    }
    all.extend(queue(layout));
    all.push(soft_reset(layout));
    all
}

fn field(name: &'static str, bit: u32, access: Access, description: &'static str) -> Field {
    Field { name, bit, width: 1, access, description }
}

/// The registers of `ap_ctrl_hs`.
fn standard() -> [Register; 4] {
    use Access::{ReadClears, ReadOnly, ReadWrite, SetByOne, ToggledByOne};
    let control = vec![
        field("AP_START", 0, SetByOne, "starts a run; reads 1 until the run has ended"),
        field("AP_DONE", 1, ReadClears, "a run has ended since the last read"),
        field("AP_IDLE", 2, ReadOnly, "no run is under way"),
        field("AP_READY", 3, ReadClears, "same as AP_DONE"),
        field("AUTO_RESTART", 7, ReadWrite, "starts the next run when a run ends"),
    ];
    let enables = vec![
        field("CHAN0_INT_EN", 0, ReadWrite, "interrupt when a run is done"),
        field("CHAN1_INT_EN", 1, ReadWrite, "interrupt when ready for the next run"),
        field("ERROR_INT_EN", 2, ReadWrite, "interrupt when the status register records an error"),
    ];
    let pending = vec![
        field("CHAN0_INT_ST", 0, ToggledByOne, "a run is done"),
        field("CHAN1_INT_ST", 1, ToggledByOne, "ready for the next run"),
        field("ERROR_INT_ST", 2, ToggledByOne, "the status register has recorded an error"),
    ];
    let global = vec![field("Enable", 0, ReadWrite, "enables the interrupt port")];
    [
        Register { reset: 4, fields: control, ..register("CTRL", CTRL, ReadWrite, "start and status") },
        Register { fields: global, ..register("GIER", GIER, ReadWrite, "global interrupt enable") },
        Register { fields: enables, ..register("IP_IER", IP_IER, ReadWrite, "interrupt enables") },
        Register { fields: pending, ..register("IP_ISR", IP_ISR, ReadWrite, "interrupt status") },
    ]
}

fn status(layout: &Layout) -> Register {
    use Access::{ClearedByOne, ReadOnly, ReadWrite};
    let misaligned = "a run was refused and moved nothing: an address is not a multiple of what its array needs";
    let outside = "registers asked for data outside of an array: these were neither read nor written";
    let index = "the AXI port of the error, or the misaligned argument, counted from 0";
    let known = "error_address holds the address of the first burst that failed";
    let fields = vec![
        field("READ_ERROR", STATUS_READ, ClearedByOne, "a read was answered with SLVERR or DECERR"),
        field("WRITE_ERROR", STATUS_WRITE, ClearedByOne, "a write was answered with SLVERR or DECERR"),
        field("MISALIGNED", STATUS_MISALIGNED, ClearedByOne, misaligned),
        field("ADDRESS_KNOWN", STATUS_KNOWN, ReadOnly, known),
        field("OUTSIDE", STATUS_OUTSIDE, ClearedByOne, outside),
        field("STOPPED", STATUS_STOPPED, ClearedByOne, "the soft reset stopped a run"),
        Field { width: 2, ..field("RESPONSE", STATUS_RESPONSE, ReadOnly, "its response: 2 SLVERR, 3 DECERR") },
        Field { width: 8, ..field("INDEX", STATUS_INDEX, ReadOnly, index) },
    ];
    Register { fields, ..register("status", layout.status(), ReadWrite, "errors since it was last cleared") }
}

fn soft_reset(layout: &Layout) -> Register {
    let text = "stops the run and empties the queue; reads 1 until all open bursts are completed";
    let fields = vec![field("SOFT_RESET", 0, Access::SetByOne, text)];
    Register { fields, ..register("soft_reset", layout.soft_reset(), Access::ReadWrite, "stops the IP alone") }
}

/// The registers of the queue, if there is one.
fn queue(layout: &Layout) -> Vec<Register> {
    use Access::{ReadOnly, ReadWrite};
    let Some([push, ended]) = layout.queue() else { return vec![] };
    let fields = vec![
        Field { width: 16, ..field("WAITING", 0, ReadOnly, "commands in the queue, the one that runs included") },
        Field { width: 16, ..field("FREE", 16, ReadOnly, "free places") },
    ];
    let text = match layout.overlap {
        false => {
            "a write pushes a command: the present argument registers, and the function with the number that is \
            written; ignored if no place is free"
        }
        true => {
            "a write pushes a command: the present argument registers, and the function with the number in bits 7 to 0; \
            bit 8: it may begin while those before it are under way; bit 9: more are to come, none begins before; \
            ignored if no place is free"
        }
    };
    vec![
        Register { fields, reset: layout.queue << 16, ..register("queue", push, ReadWrite, text) },
        register("queue_ended", ended, ReadOnly, "commands of the queue that have ended, modulo 2^32"),
    ]
}

fn register(name: &str, offset: u32, access: Access, description: &str) -> Register {
    Register { name: name.into(), offset, access, reset: 0, description: description.into(), fields: vec![] }
}

/// Description of an argument.
fn what(a: &Argument) -> String {
    if a.is_scratch() {
        format!("address of {}, a scratch buffer of {} bytes", a.name, a.bytes())
    } else if a.array().is_some() {
        format!("address of {}", a.name)
    } else {
        format!("value of {}{}", a.name, if a.formula.is_some() { ", which the driver computes" } else { "" })
    }
}

/// The registers of a value: one, or two halves.
fn halves(ident: &str, bits: u32, offset: u32, text: &str) -> Vec<Register> {
    let part = |name: String, at: u32, range: &str| register(&name, at, Access::ReadWrite, &format!("{text}{range}"));
    if bits > 32 {
        vec![
            part(format!("{ident}_1"), offset, ", bits 31 to 0"),
            part(format!("{ident}_2"), offset + 4, ", bits 63 to 32"),
        ]
    } else {
        vec![part(ident.into(), offset, "")]
    }
}

fn of_argument(a: &Argument) -> Vec<Register> {
    halves(&a.ident, a.register_bits(), a.offset, &what(a))
}

fn of_program(function: &Function, p: &ProgramRegister) -> Vec<Register> {
    halves(&p.ident, p.register.bits, p.offset, &meaning(function, p))
}

/// Description of a length.
fn long(a: &Argument) -> String {
    format!("bytes of {} from its address on: nothing behind them is moved; all is {}", a.name, a.bytes())
}

/// A program register as a formula over the sizes.
fn meaning(function: &Function, p: &ProgramRegister) -> String {
    let names: Vec<_> = function.sizes.iter().enumerate().map(|(k, s)| format!("s{k} is {}", s.name)).collect();
    format!("{}, where {}", p.register.formula, names.join(", "))
}

/// The register at this offset, with its meaning for each function that uses it.
fn shared(functions: &[Function], at: u32) -> Register {
    let half = |bits: u32, offset: u32| match (bits > 32, at.checked_sub(offset)) {
        (false, Some(0)) => Some(""),
        (true, Some(0)) => Some(", bits 31 to 0"),
        (true, Some(4)) => Some(", bits 63 to 32"),
        _ => None,
    };
    let mut uses = vec![];
    for function in functions {
        let name = &function.name;
        let argument = |a: &Argument| Some(format!("{name}: {}{}", what(a), half(a.register_bits(), a.offset)?));
        uses.extend(function.arguments.iter().filter_map(argument));
        let program =
            |p: &ProgramRegister| Some(format!("{name}: {}{}", meaning(function, p), half(p.register.bits, p.offset)?));
        uses.extend(function.program.iter().filter_map(program));
        let length = |(a, l): (&Argument, &Length)| Some(format!("{name}: {}{}", long(a), half(l.bits, l.offset)?));
        uses.extend(function.lengths().filter_map(length));
    }
    register(&format!("argument_{at:02x}"), at, Access::ReadWrite, &uses.join("; "))
}
