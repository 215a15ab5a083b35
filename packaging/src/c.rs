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
        define(&format!("BITS_{name}_DATA"), "64".to_string());
    }
    define("ADDR_CYCLES_DATA", format!("0x{:02x}", interface.layout.cycles()));
    define("BITS_CYCLES_DATA", "64".to_string());
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
    let parameter = |a: &Argument| format!("uint64_t {}", a.ident);
    let set = |a: &Argument| format!("    x{kernel}_write64(ip, {prefix}_ADDR_{}_DATA, {});", a.ident.to_uppercase(), a.ident);
    let shape = |a: &Argument| {
        let extents: String = a.dims.iter().map(|d| format!("[{d}]")).collect();
        let use_ = match (a.read, a.written) {
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
