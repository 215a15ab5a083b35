//! What a parent needs to know of a module's timing.

use crate::netlist::{InstId, Module, ModuleName};
use std::collections::BTreeMap;

/// Time of what never changes.
pub const NEVER: f64 = f64::NEG_INFINITY;

/// What a parent needs of a module, by port and bit.
#[derive(Default)]
pub struct Pins {
    /// The latest time of each output after the clock.
    pub launch: Vec<Vec<f64>>,
    /// The longest time to each output from an input, without a register between.
    pub through: Vec<Vec<f64>>,
    /// The inputs from which there is such a way.
    pub behind: Vec<Vec<usize>>,
    /// The longest time from each input to what samples it.
    pub capture: Vec<Vec<f64>>,
}

/// The modules that were analysed.
pub struct Children<'c>(pub &'c BTreeMap<&'c ModuleName, Pins>);

impl Children<'_> {
    pub fn of(&self, m: &Module, inst: InstId) -> Option<&Pins> {
        self.0.get(&m.insts[inst.0 as usize].module)
    }
}
