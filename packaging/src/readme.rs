//! `README.md` of the IP: ports, registers, how to use each file, what was tried.

use crate::{fill, types, Ip};
use std::fmt::Write as _;
use templates::interface::{Access, Argument, Register};

const HOST: &str = "| `sw/host.cpp`, `sw/reference.c` | XRT host that compares with the C program (its first lines say how to build it); the C program with a way in |\n";

/// The text.
pub fn text(ip: &Ip, revision: u32) -> String {
    let interface = ip.interface;
    let zynq = match ip.board.family.as_str() {
        "zynquplus" => "| `vivado/bd_zynqmp.tcl` | a block design beside the processing system |\n",
        "zynq" => "| `vivado/bd_zynq.tcl` | a block design beside the processing system |\n",
        _ => "",
    };
    fill(include_str!("../files/README.md.in"), &[
        ("KERNEL", interface.kernel.clone()),
        ("SUMMARY", ip.summary.clone()),
        ("CYCLES", ip.cycles.to_string()),
        ("CLOCK_MHZ", ip.board.clock_mhz.to_string()),
        ("BOARD", if ip.board.title.is_empty() { ip.board.name.clone() } else { ip.board.title.clone() }),
        ("PART", ip.board.part.clone()),
        ("VLNV", ip.vlnv()),
        ("REVISION", revision.to_string()),
        ("CLOCK", interface.clock.into()),
        ("RESET", interface.reset.into()),
        ("INTERRUPT", interface.interrupt.into()),
        ("CONTROL", interface.control.into()),
        ("ARGUMENTS", arguments(ip)),
        ("PORTS", ports(ip)),
        ("REGISTERS", interface.registers.iter().map(register).collect()),
        ("BLOCK_DESIGN", zynq.into()),
        ("HOST", if ip.reference.is_some() { HOST } else { "" }.into()),
    ])
}

fn arguments(ip: &Ip) -> String {
    let row = |(a, bank): (&Argument, &Option<String>)| {
        let Some(array) = a.array() else { return format!("| `{}` | `{} {}` | {} | by value | | | 0x{:02x} |\n", a.ident, types::c(a.ty), a.name, a.bytes(), a.offset) };
        let extents: String = array.dims.iter().map(|d| format!("[{d}]")).collect();
        let moved = match (array.read, array.written) {
            (true, true) => "read, written",
            (_, true) => "written",
            _ => "read",
        };
        let port = &ip.interface.ports[array.port].name;
        let bank = bank.as_deref().unwrap_or("");
        format!("| `{}` | `{} {}{extents}` | {} | {moved} | `{port}` | {bank} | 0x{:02x} |\n", a.ident, types::c(a.ty), a.name, a.bytes(), a.offset)
    };
    ip.interface.arguments.iter().zip(&ip.banks).map(row).collect()
}

fn ports(ip: &Ip) -> String {
    let mut text = String::new();
    for p in &ip.interface.ports {
        let names: Vec<String> = ip.interface.behind(p).map(|a| format!("`{}`", a.ident)).collect();
        let _ = writeln!(text, "| `{}` | AXI4 manager, {} data bits, {} address bits, bursts of at most {} beats; moves {} |", p.name, p.data_bits, p.address_bits, p.burst_beats, names.join(", "));
    }
    text
}

fn register(r: &Register) -> String {
    let access = |a: Access| match a {
        Access::ReadWrite => "rw",
        Access::ReadOnly => "ro",
        Access::ReadClears => "ro, cleared by reading",
        Access::SetByOne => "set by writing 1",
        Access::ToggledByOne => "toggled by writing 1",
        Access::ClearedByOne => "cleared by writing 1",
    };
    let mut text = format!("| 0x{:02x} | `{}` | {} | {} |\n", r.offset, r.name, access(r.access), r.description);
    for f in &r.fields {
        let bits = if f.width == 1 { f.bit.to_string() } else { format!("{}..{}", f.bit + f.width - 1, f.bit) };
        let _ = writeln!(text, "| | bit {bits} `{}` | {} | {} |", f.name, access(f.access), f.description);
    }
    text
}
