//! The signals of AXI4 and AXI4-Lite.

/// Protocol and side of an interface of the IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An AXI4 manager.
    Manager,
    /// The AXI4-Lite subordinate of the registers.
    Registers,
}

/// Signals of AXI4.
const FULL: [&str; 37] = [
    "awid", "awaddr", "awlen", "awsize", "awburst", "awlock", "awcache", "awprot", "awqos", "awvalid", "awready",
    "wdata", "wstrb", "wlast", "wvalid", "wready", "bid", "bresp", "bvalid", "bready", "arid", "araddr", "arlen",
    "arsize", "arburst", "arlock", "arcache", "arprot", "arqos", "arvalid", "arready", "rid", "rdata", "rresp",
    "rlast", "rvalid", "rready",
];
/// Signals of AXI4-Lite, without protection bits.
const LITE: [&str; 17] = [
    "awaddr", "awvalid", "awready", "wdata", "wstrb", "wvalid", "wready", "bresp", "bvalid", "bready", "araddr",
    "arvalid", "arready", "rdata", "rresp", "rvalid", "rready",
];

/// The protocol's name of a port of the IP, if the port belongs to the interface.
pub fn logical<'a>(port: &'a str, interface: &str, role: Role) -> Option<&'a str> {
    let name = port.strip_prefix(interface)?.strip_prefix('_')?;
    let exists = match role {
        Role::Manager => FULL.contains(&name),
        Role::Registers => LITE.contains(&name),
    };
    exists.then_some(name)
}
