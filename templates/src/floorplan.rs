//! Which cells of an IP belong to which band of an array that is cut, and which lead to memories on other dies.

use crate::array::bands::{self, ARRAY};
use crate::axi::station;
use rtl::Netlist;

/// The cells of an array that is cut, and of what is beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    /// By band.
    pub bands: Vec<String>,
    /// Cells that stand beside the first band: engines, sequencer, registers.
    pub beside: Vec<String>,
    /// Cells on other dies, each with the number of dies from that of the first band, negative if it is below.
    pub away: Vec<(i64, String)>,
}

/// Cells by their names from the top of the IP, with slashes between instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Floorplan {
    /// By array.
    pub arrays: Vec<Cells>,
    /// Patterns for the registers of the crossings.
    pub registers: Vec<String>,
}

/// The cells of a design; `None` if no array is cut.
pub fn floorplan(design: &Netlist) -> Option<Floorplan> {
    let mut all = Floorplan::default();
    let top = design.modules().last()?;
    below(design, top, "", &mut all);
    (!all.arrays.is_empty()).then_some(all)
}

/// Looks for arrays among the instances of a module, and in the cores below.
fn below(design: &Netlist, module: &rtl::Module, path: &str, all: &mut Floorplan) {
    for array in module.insts.iter().filter(|i| i.name == ARRAY) {
        let inside = design.get(&array.module).map_or(&[][..], |m| &m.insts);
        let mut found: Vec<(usize, &str)> =
            inside.iter().filter_map(|i| Some((bands::number(&i.name)?, i.name.as_str()))).collect();
        if found.is_empty() {
            continue;
        }
        found.sort_unstable();
        let bands = found.iter().map(|(_, name)| format!("{path}{ARRAY}/{name}")).collect();
        let mut cells = Cells { bands, ..Cells::default() };
        for cell in module.insts.iter().filter(|i| i.name != ARRAY) {
            let name = format!("{path}{}", cell.name);
            match station::dies(&cell.name) {
                None | Some(0) => cells.beside.push(name),
                Some(dies) => cells.away.push((dies, name)),
            }
        }
        all.registers.extend(bands::registers().map(|pattern| format!("{path}{ARRAY}/{pattern}")));
        if !cells.away.is_empty() {
            all.registers.extend(station::registers().map(|pattern| format!("{path}{pattern}")));
        }
        all.arrays.push(cells);
    }
    for core in module.insts.iter().filter(|i| i.grid.is_none() && i.name.starts_with("core")) {
        if let Some(module) = design.get(&core.module) {
            below(design, module, &format!("{path}{}/", core.name), all);
        }
    }
}
