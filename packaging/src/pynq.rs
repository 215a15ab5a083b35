//! The PYNQ driver.

use crate::{fill, types, File, Ip};
use templates::interface::Argument;

/// `sw/<kernel>.py`.
pub fn files(ip: &Ip) -> Vec<File> {
    let interface = ip.interface;
    let array = |a: &Argument| {
        let flag = |b: bool| if b { "True" } else { "False" };
        let shape = a.array().map_or("None".to_string(), |array| {
            let dims: Vec<String> = array.dims.iter().map(|d| d.to_string()).collect();
            format!("({}{})", dims.join(", "), if dims.len() == 1 { "," } else { "" })
        });
        let written = a.array().is_some_and(|array| array.written);
        format!("    Argument({:?}, {:?}, {shape}, 0x{:02x}, {}),", a.ident, types::numpy(a.ty), a.offset, flag(written))
    };
    let name = &interface.kernel;
    let class: String = name.split('_').filter(|part| !part.is_empty()).map(|part| part[..1].to_uppercase() + &part[1..]).collect();
    let text = fill(include_str!("../files/driver.py.in"), &[
        ("KERNEL", name.clone()),
        ("CLASS", class),
        ("VLNV", ip.vlnv()),
        ("ARGUMENTS", interface.arguments.iter().map(array).collect::<Vec<_>>().join("\n")),
        ("PARAMETERS", interface.arguments.iter().map(|a| a.ident.as_str()).collect::<Vec<_>>().join(", ")),
        ("CYCLES", format!("0x{:02x}", interface.layout.cycles())),
        ("STATUS", format!("0x{:02x}", interface.layout.status())),
        ("ERROR_ADDRESS", format!("0x{:02x}", interface.layout.error_address())),
    ]);
    vec![File::new(format!("sw/{name}.py"), text)]
}
