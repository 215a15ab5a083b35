//! The bare-metal driver: register names as Vitis HLS spells them, and one header of inline functions.

use crate::{fill, types, File, Ip};
use std::fmt::Write as _;
use templates::interface::{Argument, CTRL, GIER, IP_IER, IP_ISR};

const DRIVER: &str = include_str!("../files/driver.h.in");

/// `sw/x<kernel>_hw.h` and `sw/x<kernel>.h`.
pub fn headers(ip: &Ip) -> Vec<File> {
    let kernel = &ip.interface.kernel;
    vec![File::new(format!("sw/x{kernel}_hw.h"), registers(ip)), File::new(format!("sw/x{kernel}.h"), driver(ip))]
}

/// Beginning of the macros' names: `XMM_CONTROL`.
fn prefix(ip: &Ip) -> String {
    format!("X{}_CONTROL", ip.interface.kernel.to_uppercase())
}

fn registers(ip: &Ip) -> String {
    let (interface, prefix) = (ip.interface, prefix(ip));
    let guard = format!("X{}_HW_H", interface.kernel.to_uppercase());
    let mut text = format!("/* Registers of {} at {}, in bytes. */\n#ifndef {guard}\n#define {guard}\n\n", interface.kernel, interface.control);
    let mut define = |name: &str, value: String| {
        let _ = writeln!(text, "#define {:<44} {value}", format!("{prefix}_{name}"));
    };
    for (name, offset) in [("AP_CTRL", CTRL), ("GIE", GIER), ("IER", IP_IER), ("ISR", IP_ISR)] {
        define(&format!("ADDR_{name}"), format!("0x{offset:02x}"));
    }
    for a in &interface.arguments {
        let name = a.ident.to_uppercase();
        define(&format!("ADDR_{name}_DATA"), format!("0x{:02x}", a.offset));
        define(&format!("BITS_{name}_DATA"), a.register_bits().to_string());
    }
    define("ADDR_DESIGN_ID_DATA", format!("0x{:02x}", interface.layout.design_id()));
    define("DESIGN_ID", format!("0x{:08x}u", interface.design_id));
    define("ADDR_VERSION_DATA", format!("0x{:02x}", interface.layout.version()));
    define("ADDR_CYCLES_DATA", format!("0x{:02x}", interface.layout.cycles()));
    define("BITS_CYCLES_DATA", "64".to_string());
    define("ADDR_STATUS_DATA", format!("0x{:02x}", interface.layout.status()));
    define("ADDR_ERROR_ADDRESS_DATA", format!("0x{:02x}", interface.layout.error_address()));
    define("BITS_ERROR_ADDRESS_DATA", "64".to_string());
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
    let (interface, prefix) = (ip.interface, prefix(ip));
    let kernel = &interface.kernel;
    let parameter = |a: &Argument| format!("{} {}", if a.array().is_some() { "uint64_t" } else { types::c(a.ty) }, a.ident);
    let set = |a: &Argument| {
        let (at, name) = (format!("{prefix}_ADDR_{}_DATA", a.ident.to_uppercase()), &a.ident);
        let bits = match (a.array(), types::c(a.ty)) {
            (Some(_), _) | (None, "uint64_t") => name.clone(),
            (None, "double") => format!("x{kernel}_bits64({name})"),
            (None, "float") => format!("x{kernel}_bits32({name})"),
            (None, "int64_t") => format!("(uint64_t){name}"),
            (None, ty) => format!("(uint{}_t){name}", ty.trim_start_matches('u').trim_start_matches("int").trim_end_matches("_t")),
        };
        match a.register_bits() > 32 {
            true => format!("    x{kernel}_write64(ip, {at}, {bits});"),
            false => format!("    X{}_WRITE32(ip + {at}, (uint32_t){bits});", kernel.to_uppercase()),
        }
    };
    let shape = |a: &Argument| {
        let Some(array) = a.array() else { return format!(" *   {:<12} {} {}, by value", a.ident, types::c(a.ty), a.name) };
        let extents: String = array.dims.iter().map(|d| format!("[{d}]")).collect();
        let use_ = match (array.read, array.written) {
            (true, true) => "read and written",
            (_, true) => "written",
            _ => "read",
        };
        format!(" *   {:<12} {} {}{extents}, {} bytes, {use_}", a.ident, types::c(a.ty), a.name, a.bytes())
    };
    let lines = |f: &dyn Fn(&Argument) -> String, between: &str| interface.arguments.iter().map(f).collect::<Vec<_>>().join(between);
    fill(DRIVER, &[
        ("KERNEL", kernel.clone()),
        ("UPPER", kernel.to_uppercase()),
        ("PREFIX", prefix.clone()),
        ("SHAPES", lines(&shape, "\n")),
        ("NAMES", lines(&|a: &Argument| a.ident.clone(), ", ")),
        ("PARAMETERS", lines(&parameter, ", ")),
        ("SETTERS", lines(&set, "\n")),
    ])
}
