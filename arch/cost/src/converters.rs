//! Width converters in front of the memory.
//!
//! A bus may be wider than the port of its memory: words of which nothing is transferred then pass the engines faster. The
//! interconnect (AMD's SmartConnect, LiteX's crossbar) puts a converter in between, which splits each word. It is outside
//! of the IP, but takes LUTs of the same device, so an array is chosen and reported with it.
//!
//! Source of the numbers: `axi_adapter_rd` and `axi_adapter_wr` of github.com/alexforencich/verilog-axi (commit 516bd5d)
//! with `synth_xilinx -abc9 -nowidelut` of Yosys 0.23, for widths from 64 to 512 bits over 32 to 256 bits with addresses of
//! 32 and 64 bits. The formulas are within 9 % of these. AMD's converters are encrypted, so nobody can count them here.
//! They have options, such as FIFOs, that make them larger.
//!
//! A bus that is narrower than its memory has no converter here: Zynq's ports can be as narrow, and an interconnect may pass
//! narrow bursts on as they are.

use crate::fabric::{self, Part};
use crate::memory;
use array::contract::walk::Walk;
use array::resources::Resources;
use array::vsa::Vsa;
use uniform::design::DesignSpec;

/// All converters that the buses of an array need in front of the board's memory; none in front of ideal memory.
pub fn converters(vsa: &Vsa, spec: &DesignSpec) -> Resources {
    if spec.memory.ideal || spec.memory.kinds.is_empty() {
        return Resources::default();
    }
    let of_port = |port: usize| {
        let [bus, memory] = [vsa.bus_bytes(port), memory::width(vsa, spec, port)].map(|bytes| 8 * i64::from(bytes));
        if bus <= memory {
            return Resources::default();
        }
        let address = i64::from(vsa.address_bits);
        let ways = [
            Walk::reads(vsa, port).map(|_| reads(bus, address)),
            Walk::writes(vsa, port).map(|_| writes(bus, memory, address)),
        ];
        ways.into_iter().flatten().sum()
    };
    fabric::on(vsa.fabric, Part::Converters, (0..vsa.axi_ports()).map(of_port).sum())
}

/// Joins words of the memory to words of the bus (widths in bits).
fn reads(bus: i64, address: i64) -> Resources {
    Resources::logic(180 + address * 3 / 5 + 3 * bus, 66 + address + 3 * bus)
}

/// Splits words of the bus into words of the memory.
fn writes(bus: i64, memory: i64, address: i64) -> Resources {
    Resources::logic(170 + 2 * address + bus * 5 / 6 + memory * 8 / 5, 66 + 2 * address + bus * 9 / 8 + memory * 9 / 4)
}
