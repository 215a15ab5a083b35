//! The registers one by one, as a programmer reads of them.

use super::*;

/// The registers, sorted by offset.
pub(super) fn list(layout: &Layout, functions: &[Function], version: u32) -> Vec<Register> {
    use Access::{ClearedByOne, ReadClears, ReadOnly, ReadWrite, SetByOne, ToggledByOne};
    let field = |name, bit, access, description| Field { name, bit, width: 1, access, description };
    let control = vec![
        field("AP_START", 0, SetByOne, "starts a run; 0 again when it has ended"),
        field("AP_DONE", 1, ReadClears, "a run has ended since the last read"),
        field("AP_IDLE", 2, ReadOnly, "no run is under way"),
        field("AP_READY", 3, ReadClears, "as AP_DONE"),
        field("AUTO_RESTART", 7, ReadWrite, "the next run starts when one ends"),
    ];
    let enables = vec![
        field("CHAN0_INT_EN", 0, ReadWrite, "interrupt when a run is done"),
        field("CHAN1_INT_EN", 1, ReadWrite, "interrupt when ready for the next run"),
        field("ERROR_INT_EN", 2, ReadWrite, "interrupt when an error is noted in status"),
    ];
    let pending = vec![
        field("CHAN0_INT_ST", 0, ToggledByOne, "a run is done"),
        field("CHAN1_INT_ST", 1, ToggledByOne, "ready for the next run"),
        field("ERROR_INT_ST", 2, ToggledByOne, "an error was noted in status"),
    ];
    let mut all = vec![
        Register { reset: 4, fields: control, ..register("CTRL", CTRL, ReadWrite, "start and status") },
        Register {
            fields: vec![field("Enable", 0, ReadWrite, "enables the interrupt port")],
            ..register("GIER", GIER, ReadWrite, "global interrupt enable")
        },
        Register { fields: enables, ..register("IP_IER", IP_IER, ReadWrite, "interrupt enables") },
        Register { fields: pending, ..register("IP_ISR", IP_ISR, ReadWrite, "interrupt status") },
    ];
    match functions {
        [only] => {
            only.arguments.iter().for_each(|a| all.extend(own(a)));
            only.program.iter().for_each(|p| all.extend(computed(only, p)));
        }
        several => all.extend(layout.words().into_keys().map(|at| shared(several, at))),
    }
    all.push(register("design_id", layout.design_id(), ReadOnly, "hash of the hardware"));
    all.push(Register {
        reset: version,
        ..register("version", layout.version(), ReadOnly, "version of sagen: major, minor, patch in a byte each")
    });
    all.push(register(
        "cycles_1",
        layout.cycles(),
        ReadOnly,
        "cycles of the latest run, bits 31 to 0; reading this keeps the high half for cycles_2",
    ));
    all.push(register(
        "cycles_2",
        layout.cycles() + 4,
        ReadOnly,
        "cycles of the latest run, bits 63 to 32, as of the last read of cycles_1",
    ));
    let status = vec![
        field("READ_ERROR", 0, ClearedByOne, "a read was answered with SLVERR or DECERR"),
        field("WRITE_ERROR", 1, ClearedByOne, "a write was answered with SLVERR or DECERR"),
        field(
            "MISALIGNED",
            2,
            ClearedByOne,
            "a run was refused, nothing moved: an address is not a multiple of its array's element size",
        ),
        field(
            "ADDRESS_KNOWN",
            STATUS_KNOWN,
            ReadOnly,
            "error_address holds the address of the burst that failed first",
        ),
        Field { width: 2, ..field("RESPONSE", STATUS_RESPONSE, ReadOnly, "its answer: 2 SLVERR, 3 DECERR") },
        Field {
            width: 8,
            ..field("INDEX", STATUS_INDEX, ReadOnly, "its AXI port, or the argument that is misaligned, counted from 0")
        },
    ];
    all.push(Register {
        fields: status,
        ..register("status", layout.status(), ReadWrite, "what went wrong since it was last cleared")
    });
    all.push(register(
        "error_address_1",
        layout.error_address(),
        ReadOnly,
        "address of the first burst that failed, bits 31 to 0",
    ));
    all.push(register(
        "error_address_2",
        layout.error_address() + 4,
        ReadOnly,
        "address of the first burst that failed, bits 63 to 32",
    ));
    if let Some(at) = layout.function() {
        let numbers: Vec<_> = functions.iter().enumerate().map(|(k, f)| format!("{k} {}", f.name)).collect();
        all.push(register("function", at, ReadWrite, &format!("what the next run is of: {}", numbers.join(", "))));
    }
    if let Some([push, ended]) = layout.queue() {
        let fields = vec![
            Field { width: 16, ..field("WAITING", 0, ReadOnly, "commands that wait or run") },
            Field { width: 16, ..field("FREE", 16, ReadOnly, "commands for which there is a place") },
        ];
        let what = "a write adds a command: the arguments as they stand, and the function with the number that is \
            written; without a place for it it is ignored";
        all.push(Register { fields, reset: layout.queue << 16, ..register("queue", push, ReadWrite, what) });
        all.push(register("queue_ended", ended, ReadOnly, "commands of the queue that have ended, modulo 2^32"));
    }
    all
}

fn register(name: &str, offset: u32, access: Access, description: &str) -> Register {
    Register { name: name.into(), offset, access, reset: 0, description: description.into(), fields: vec![] }
}

fn what(a: &Argument) -> String {
    if a.is_scratch() {
        format!("address of {}, a scratch buffer of {} bytes", a.name, a.bytes())
    } else if a.array().is_some() {
        format!("address of {}", a.name)
    } else {
        format!("value of {}{}", a.name, if a.formula.is_some() { ", which the driver computes" } else { "" })
    }
}

/// The registers of an argument that shares them with no other.
fn own(a: &Argument) -> Vec<Register> {
    if a.register_bits() > 32 {
        let half = |name: &str, at: u32, bits: &str| {
            register(&format!("{}_{name}", a.ident), at, Access::ReadWrite, &format!("{}, bits {bits}", what(a)))
        };
        vec![half("1", a.offset, "31 to 0"), half("2", a.offset + 4, "63 to 32")]
    } else {
        vec![register(&a.ident, a.offset, Access::ReadWrite, &what(a))]
    }
}

/// The registers of a number that follows from the sizes.
fn computed(function: &Function, p: &ProgramRegister) -> Vec<Register> {
    let what = meaning(function, p);
    if p.register.bits > 32 {
        let half = |name: &str, at: u32, bits: &str| {
            register(&format!("{}_{name}", p.ident), at, Access::ReadWrite, &format!("{what}, bits {bits}"))
        };
        vec![half("1", p.offset, "31 to 0"), half("2", p.offset + 4, "63 to 32")]
    } else {
        vec![register(&p.ident, p.offset, Access::ReadWrite, &what)]
    }
}

/// A program register in words.
fn meaning(function: &Function, p: &ProgramRegister) -> String {
    let names: Vec<_> = function.sizes.iter().enumerate().map(|(k, s)| format!("s{k} is {}", s.name)).collect();
    format!("{}, where {}", p.register.formula, names.join(", "))
}

/// The register at this offset, which several functions use, each for an argument of its own.
fn shared(functions: &[Function], at: u32) -> Register {
    let mut uses = vec![];
    for function in functions {
        for a in &function.arguments {
            let half = match (a.register_bits() > 32, at.checked_sub(a.offset)) {
                (false, Some(0)) => "",
                (true, Some(0)) => ", bits 31 to 0",
                (true, Some(4)) => ", bits 63 to 32",
                _ => continue,
            };
            uses.push(format!("{}: {}{half}", function.name, what(a)));
        }
        for p in &function.program {
            let half = match (p.register.bits > 32, at.checked_sub(p.offset)) {
                (false, Some(0)) => "",
                (true, Some(0)) => ", bits 31 to 0",
                (true, Some(4)) => ", bits 63 to 32",
                _ => continue,
            };
            uses.push(format!("{}: {}{half}", function.name, meaning(function, p)));
        }
    }
    register(&format!("argument_{at:02x}"), at, Access::ReadWrite, &uses.join("; "))
}
