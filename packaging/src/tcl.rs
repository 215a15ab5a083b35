//! Scripts for Vivado: packaging by Vivado's own packager, an `.xo` by `package_xo`, an out-of-context build, and block
//! designs for Zynq boards. Paths are relative to the script; results go to `build/`.

use crate::{fill, quote, File, Ip, LIBRARY, VENDOR, VERSION};
use std::fmt::Write as _;
use templates::interface::Access;

/// The customization page in Vivado, which only offers the name.
pub fn gui() -> &'static str {
    "# The IP has no parameters.\nproc init_gui { IPINST } \
    {\n    ipgui::add_param $IPINST -name \"Component_Name\"\n    ipgui::add_page $IPINST -name \"Page 0\"\n}\n"
}

/// The scripts for the board.
pub fn scripts(ip: &Ip, revision: u32) -> Vec<File> {
    let kernel = &ip.interface.kernel;
    let high_performance = ip.interface.ports.len().clamp(1, 4);
    let enabled = |option: &dyn Fn(usize) -> String| {
        (0..high_performance).map(|k| format!("CONFIG.{} 1", option(k))).collect::<Vec<_>>().join(" ")
    };
    let enabled = match ip.board.family.as_str() {
        "zynq" => enabled(&|k| format!("PCW_USE_S_AXI_HP{k}")),
        _ => enabled(&|k| format!("PSU__USE__S_AXI_GP{}", k + 2)),
    };
    let tokens = [
        ("HP", high_performance.to_string()),
        ("ENABLED", enabled),
        ("BOARD_NAME", ip.board.name.clone()),
        ("CLOCK_MHZ", ip.board.clock_mhz.to_string()),
        ("KERNEL", kernel.clone()),
        ("PART", quote::tcl(&ip.board.part)),
        ("VENDOR", VENDOR.into()),
        ("LIBRARY", LIBRARY.into()),
        ("VERSION", VERSION.into()),
        ("VLNV", quote::tcl(&ip.vlnv())),
        ("TITLE", quote::tcl(&ip.title())),
        ("REVISION", revision.to_string()),
        ("CLOCK", ip.interface.clock.into()),
        ("CLOCK_HZ", format!("{:.0}", ip.board.clock_mhz * 1e6)),
        ("RESET", ip.interface.reset.into()),
        ("INTERRUPT", ip.interface.interrupt.into()),
        ("CONTROL", ip.interface.control.into()),
        ("BUSES", ip.interface.buses().join(" ")),
        ("PORTS", ip.interface.ports.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(" ")),
        ("FILES", ip.rtl.iter().map(|f| f.path.as_str()).collect::<Vec<_>>().join(" ")),
        ("CONSTRAINTS", ip.constraints.iter().map(|f| f.path.as_str()).collect::<Vec<_>>().join(" ")),
        ("FLOORPLAN", ip.floorplan.iter().map(|f| f.path.as_str()).collect()),
        ("REGISTERS", registers(ip)),
    ];
    let script = |name: &str, text: &str| File::new(format!("vivado/{name}.tcl"), fill(text, &tokens));
    let mut all = vec![
        script("package_ip", include_str!("../files/package_ip.tcl.in")),
        script("pack_xo", include_str!("../files/pack_xo.tcl.in")),
        script("build_ooc", include_str!("../files/build_ooc.tcl.in")),
    ];
    match ip.board.family.as_str() {
        "zynquplus" => all.push(script("bd_zynqmp", include_str!("../files/bd_zynqmp.tcl.in"))),
        "zynq" => all.push(script("bd_zynq", include_str!("../files/bd_zynq.tcl.in"))),
        _ => {}
    }
    all
}

/// The register map as a Tcl list: name, offset, access, description, fields {name bit width access description}.
fn registers(ip: &Ip) -> String {
    let access = |a: Access| match a {
        Access::ReadOnly | Access::ReadClears => "read-only",
        _ => "read-write",
    };
    let mut text = String::new();
    for r in &ip.interface.registers {
        let fields: Vec<String> = r
            .fields
            .iter()
            .map(|f| format!("{{{} {} {} {} {}}}", f.name, f.bit, f.width, access(f.access), quote::tcl(f.description)))
            .collect();
        let _ = writeln!(
            text,
            "    {{{} 0x{:02x} {} {} {{{}}}}}",
            r.name,
            r.offset,
            access(r.access),
            quote::tcl(&r.description),
            fields.join(" ")
        );
    }
    text.trim_end().to_string()
}
