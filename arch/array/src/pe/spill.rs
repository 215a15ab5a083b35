//! Which sums wait in DRAM between two visits of their cells.

use scop::Scop;
use uniform::mapping::{Mapping, Role};
use uniform::system::System;

/// Partial results of statement `s` may go to DRAM and back: nothing (`phases`) runs phases, and this statement alone
/// stores to its array, in one set of cells.
pub fn may_spill(scop: &Scop, system: &System, phases: usize, s: usize) -> bool {
    let array = scop.statements[s].write.array;
    let stores = |t: usize| !system.statements[t].live_out.is_empty() && scop.statements[t].write.array == array;
    phases == 0 && system.statements[s].stores.len() == 1 && !(0..system.statements.len()).any(|t| t != s && stores(t))
}

/// Axes and counters, in order, that transformed dimensions run over.
pub fn moves(mapping: &Mapping, dims: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let digits: Vec<_> = dims.iter().flat_map(|&d| &mapping.digits[d]).collect();
    let mut axes: Vec<usize> = digits
        .iter()
        .filter_map(|x| match x.role {
            Role::Space(a) if x.trip > 1 => Some(a),
            _ => None,
        })
        .collect();
    axes.sort_unstable();
    let mut time: Vec<usize> =
        digits.iter().filter(|x| matches!(x.role, Role::Tile | Role::Time | Role::Latency)).map(|x| x.index).collect();
    time.sort_unstable();
    (axes, time)
}

/// Tile counters of a sum over `dims` (transformed) outside of tile counters that move its cells, if a partial result
/// would have to wait on chip for more than `beyond` waves.
pub fn spilled(mapping: &Mapping, dims: &[usize], moving: impl Fn(usize) -> bool, beyond: i64) -> Vec<usize> {
    let (axes, time) = moves(mapping, dims);
    let Some(innermost) = (0..mapping.tile_depth).rev().find(|&c| moving(c)) else { return vec![] };
    let outer: Vec<usize> = time.into_iter().filter(|&c| c < innermost).collect();
    let long = outer.iter().any(|&c| mapping.stride(c) > beyond);
    if long && axes.is_empty() {
        outer
    } else {
        vec![]
    }
}
