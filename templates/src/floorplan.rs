//! Which cells of an IP belong to which band of an array that is cut.

use crate::array::bands::{self, ARRAY};
use rtl::Netlist;

/// Cells by their names from the top of the IP, with slashes between instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floorplan {
    /// By band: its cell in each core.
    pub bands: Vec<Vec<String>>,
    /// Cells that stand beside the first band: engines, sequencers, registers.
    pub beside: Vec<String>,
    /// Patterns for the registers of the crossings.
    pub registers: Vec<String>,
}

/// The cells of a design; `None` if no array is cut.
pub fn floorplan(design: &Netlist) -> Option<Floorplan> {
    let mut all = Floorplan { bands: vec![], beside: vec![], registers: vec![] };
    let top = design.modules().last()?;
    below(design, top, "", &mut all);
    (!all.bands.is_empty()).then_some(all)
}

/// Looks for arrays among the instances of a module, and in the cores below.
fn below(design: &Netlist, module: &rtl::Module, path: &str, all: &mut Floorplan) {
    let bands_of = |array: &rtl::netlist::Inst| {
        let inside = design.get(&array.module).map_or(&[][..], |m| &m.insts);
        inside.iter().filter_map(|i| Some((bands::number(&i.name)?, i.name.clone()))).collect::<Vec<_>>()
    };
    for array in module.insts.iter().filter(|i| i.name == ARRAY) {
        let found = bands_of(array);
        for (number, name) in &found {
            all.bands.resize(all.bands.len().max(number + 1), vec![]);
            all.bands[*number].push(format!("{path}{ARRAY}/{name}"));
        }
        if !found.is_empty() {
            all.beside.extend(module.insts.iter().filter(|i| i.name != ARRAY).map(|i| format!("{path}{}", i.name)));
            all.registers.extend(bands::REGISTERS.map(|pattern| format!("{path}{ARRAY}/{pattern}")));
        }
    }
    for core in module.insts.iter().filter(|i| i.grid.is_none() && i.name.starts_with("core")) {
        if let Some(module) = design.get(&core.module) {
            below(design, module, &format!("{path}{}/", core.name), all);
        }
    }
}
