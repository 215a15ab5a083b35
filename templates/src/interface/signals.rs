//! Port declarations of the top module: their order (channel by channel), and the attributes of clock, reset and
//! interrupt for Vivado, which recognizes AXI by the names.

use super::Interface;
use rtl::ModuleBuilder;

/// A bus of one signal in terms of the bus definitions of Vivado.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single {
    pub port: &'static str,
    /// `clock`, `reset` or `interrupt`.
    pub kind: &'static str,
    /// Name of the signal in the definition.
    pub logical: &'static str,
    pub parameters: Vec<(&'static str, String)>,
}

/// Signals of AXI4 and AXI4-Lite, channel by channel.
const AXI: &str = "awid awaddr awlen awsize awburst awlock awcache awprot awqos awregion awvalid awready \
    wdata wstrb wlast wvalid wready bid bresp bvalid bready \
    arid araddr arlen arsize arburst arlock arcache arprot arqos arregion arvalid arready \
    rid rdata rresp rlast rvalid rready";

impl Interface {
    /// Names of the AXI interfaces.
    pub fn buses(&self) -> Vec<&str> {
        std::iter::once(self.control).chain(self.ports.iter().map(|p| p.name.as_str())).collect()
    }

    /// Clock, reset and interrupt.
    pub fn singles(&self) -> [Single; 3] {
        let single = |port, kind, logical, parameters| Single { port, kind, logical, parameters };
        [
            single(
                self.clock,
                "clock",
                "CLK",
                vec![("ASSOCIATED_BUSIF", self.buses().join(":")), ("ASSOCIATED_RESET", self.reset.into())],
            ),
            single(self.reset, "reset", "RST", vec![("POLARITY", "ACTIVE_LOW".into())]),
            single(self.interrupt, "interrupt", "INTERRUPT", vec![("SENSITIVITY", "LEVEL_HIGH".into())]),
        ]
    }

    /// Sorts the declared ports and adds the attributes.
    pub(crate) fn declare(&self, m: &ModuleBuilder) {
        let buses = self.buses();
        m.arrange(|port| {
            let place = |(k, bus): (usize, &&str)| {
                Some((k + 1, AXI.split_whitespace().position(|s| port.strip_prefix(bus) == Some(&format!("_{s}")))?))
            };
            let single = [self.reset, self.interrupt].iter().position(|s| *s == port).map(|k| (0, k));
            single.or_else(|| buses.iter().enumerate().find_map(place))
        });
        for Single { port, kind, logical, parameters } in self.singles() {
            let parameters: String = parameters.iter().map(|(key, value)| format!(", {key} {value}")).collect();
            m.port_attr(port, "X_INTERFACE_INFO", format!("xilinx.com:signal:{kind}:1.0 {port} {logical}"));
            m.port_attr(port, "X_INTERFACE_PARAMETER", format!("XIL_INTERFACENAME {port}{parameters}"));
        }
    }
}
