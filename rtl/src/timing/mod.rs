//! Estimates the slowest path between registers of each module: a static timing analysis before synthesis.
//!
//! **Problem.** A schedule counts cycles; a clock needs every path to fit its period. Synthesis tells which ones do
//! not, but takes minutes and another tool.
//!
//! **Terms.** A *cell* is what one bit becomes: a constant, a *gate* (logic that a LUT takes), or a *hard* cell with
//! delays of its own: a register, a bit of a carry chain, a DSP slice, a memory. An *endpoint* is a bit that a
//! register, a memory or a slice samples. A *pin* is a bit of a module's port.
//!
//! **Method.** As synthesis does it, module by module, children first:
//!
//! 1. `cells` and `words` make the cells of a module, operator by operator: adders and comparisons are carry
//!    chains, products are
//!    DSP slices with the registers and the adder behind them, everything else is gates.
//! 2. `cover` finds a LUT for each gate that is needed: the cut of at most six leaves with the fewest levels (Cong and
//!    Ding, FlowMap, IEEE TCAD 1994; several cuts for each gate: Mishchenko et al., ICCAD 2007).
//! 3. `paths` adds up times from the registers on. A net takes longer the more loads it has. What a parent needs of
//!    a module
//!    is how late its outputs are, and how long its inputs take inside.
//!
//! **Invariant.** Delays are those of `scripts/levels.py`, which measures netlists that Yosys mapped.

mod cells;
mod cover;
mod module;
mod paths;
mod pins;
mod slices;
mod words;

use crate::check::Verified;
use crate::netlist::ModuleName;
use pins::Pins;
use std::collections::BTreeMap;

/// Delays of a device in ns.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// A routed net with up to four loads.
    pub net: f64,
    /// More for each doubling of the loads beyond four.
    pub doubling: f64,
    /// From the clock to the output of a register.
    pub register: f64,
    pub setup: f64,
    pub lut: f64,
    /// Into a carry chain.
    pub carry_in: f64,
    /// Along four bits of a carry chain.
    pub carry: f64,
    /// From the clock to the output of a DSP slice with output register, of a LUT RAM, of a shift register.
    pub block: f64,
    /// From the clock to the output of a block RAM without output register.
    pub memory: f64,
    /// From an address to the output of a LUT RAM.
    pub lut_ram: f64,
    /// Through a DSP slice without registers, and from its first register to an output without one.
    pub slice: f64,
    /// From a pin of a DSP slice to its first register: through the adder, the multiplier, both.
    pub slice_setup: [f64; 3],
}

impl Delays {
    /// UltraScale+ as `scripts/levels.py` estimates it.
    pub const ULTRASCALE: Delays = Delays {
        net: 0.35,
        doubling: 0.05,
        register: 0.10,
        setup: 0.05,
        lut: 0.10,
        carry_in: 0.15,
        carry: 0.03,
        block: 0.50,
        memory: 0.90,
        lut_ram: 0.15,
        slice: 1.5,
        slice_setup: [0.9, 1.2, 1.9],
    };

    /// A device all of whose delays are `factor` times as long.
    pub fn times(self, factor: f64) -> Delays {
        Delays {
            net: self.net * factor,
            doubling: self.doubling * factor,
            register: self.register * factor,
            setup: self.setup * factor,
            lut: self.lut * factor,
            carry_in: self.carry_in * factor,
            carry: self.carry * factor,
            block: self.block * factor,
            memory: self.memory * factor,
            lut_ram: self.lut_ram * factor,
            slice: self.slice * factor,
            slice_setup: self.slice_setup.map(|t| t * factor),
        }
    }
}

/// The slowest path in a module, those within its instances not included.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    pub ns: f64,
    /// LUTs, carry chains and unregistered slices in the path.
    pub levels: u32,
    pub module: ModuleName,
    /// Names of the register that launches, and of what samples.
    pub from: String,
    pub to: String,
}

/// The slowest path of each module, children before their parents; none of a module without endpoints.
pub fn slowest(design: &Verified, delays: &Delays) -> Vec<Path> {
    let mut pins: BTreeMap<&ModuleName, Pins> = BTreeMap::new();
    let mut found = vec![];
    for module in design.modules() {
        let (own, path) = module::analyse(module, &pins, delays);
        pins.insert(&module.name, own);
        found.extend(path);
    }
    found
}
