//! A LiteX system around the IP, down to a bitstream by open tools: for boards that LiteX knows.

use crate::{fill, quote, File, Ip};
use templates::interface::{AxiPort, Function};

/// Bytes of block RAM where arrays are if the board's memory is not used: at least those of all arrays, each of which begins
/// at a multiple of 4096.
fn sram_bytes(ip: &Ip) -> i64 {
    let pages = |bytes: i64| (bytes + 4095) / 4096 * 4096;
    let of = |f: &Function| -> i64 {
        f.arguments.iter().filter(|a| a.array().is_some()).map(|a| pages(a.bytes() as i64)).sum()
    };
    let most = ip.interface.functions.iter().map(of).max().unwrap_or(0);
    (most.max(4096) as u64).next_power_of_two() as i64
}

/// `litex/<kernel>.py`, `litex/host.py`, `litex/requirements.txt` and the `Makefile`; none if LiteX does not know the board.
pub fn files(ip: &Ip) -> Vec<File> {
    let Some(litex) = &ip.board.litex else { return vec![] };
    let interface = ip.interface;
    let kernel = &interface.kernel;
    let port = |p: &AxiPort| format!("({}, {})", quote::python(&p.name), p.data_bits);
    let widest = interface.ports.iter().map(|p| p.data_bits).max().unwrap_or(32);
    let address = format!("{}_awaddr", interface.control);
    let control_bits = ip.signals.iter().find(|s| s.name == address).map_or(32, |s| s.width);
    let title = if ip.board.title.is_empty() { &ip.board.name } else { &ip.board.title };
    let tokens = [
        ("KERNEL", kernel.clone()),
        ("TITLE", title.clone()),
        ("NAME", ip.board.name.clone()),
        ("TARGET", quote::python(&litex.target)),
        ("DEVICE", quote::python(&litex.device)),
        ("PORTS", interface.ports.iter().map(port).collect::<Vec<_>>().join(", ")),
        ("ADDRESS_BITS", interface.address_bits.to_string()),
        ("CONTROL_BITS", control_bits.to_string()),
        ("BUS_BITS", widest.to_string()),
        ("SRAM_BYTES", format!("0x{:x}", sram_bytes(ip))),
        ("CLOCK_HZ", format!("{:.0}", ip.board.clock_mhz * 1e6)),
        ("CLOCK", interface.clock.into()),
        ("RESET", interface.reset.into()),
        ("INTERRUPT", interface.interrupt.into()),
        ("CONTROL", interface.control.into()),
        ("CYCLES", format!("0x{:02x}", interface.layout.cycles())),
    ];
    vec![
        File::new(format!("litex/{kernel}.py"), fill(include_str!("../files/litex.py.in"), &tokens)),
        File::new("litex/host.py", fill(include_str!("../files/litex_host.py.in"), &tokens)),
        File::new("litex/requirements.txt", include_str!("../files/litex_requirements.txt")),
        File::new("Makefile", fill(include_str!("../files/litex_make.in"), &tokens)),
    ]
}
