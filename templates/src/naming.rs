//! Names of modules and ports that more than one template needs, and where memories go.

use arch::ir::vsa::{NodeId, Vsa};
use rtl::MemStyle;

/// Stem of a node's port and signal names.
pub fn stem(vsa: &Vsa, id: NodeId) -> String {
    let name: String = vsa.node(id).name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    let name = name.trim_matches('_');
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { format!("{name}_n{}", id.0) } else { format!("n{}{name}", id.0) }
}

/// The output that passes `port` on along `axis`; the axes share one if their skews are equal.
pub fn pass_port(vsa: &Vsa, port: &str, axis: usize) -> String {
    let skew = vsa.schedule.skew;
    let both = vsa.extent[0] > 1 && vsa.extent[1] > 1;
    if both && skew[0].abs() != skew[1].abs() { format!("{port}_out{axis}") } else { format!("{port}_out") }
}

/// Places where memory pays: small ones in LUTs, the rest in block RAM.
pub fn memory_style(depth: i64) -> MemStyle {
    if arch::contract::delay::in_luts(depth) { MemStyle::Distributed } else { MemStyle::Block }
}

/// How waves hop through a box of buffers: cycles to the next one along each axis, nothing along an axis with one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Hops {
    cycles: [Option<u32>; 2],
    /// The axes have outputs of their own, see [`pass_port`].
    apart: [bool; 2],
}

impl Hops {
    pub fn new(vsa: &Vsa, along: [bool; 2]) -> Hops {
        let skew = vsa.schedule.skew.map(|s| s.unsigned_abs() as u32);
        let apart = [0, 1].map(|a| pass_port(vsa, "", a) != "_out");
        Hops { cycles: [0, 1].map(|a| along[a].then_some(skew[a])), apart }
    }

    /// Cycles to the farthest neighbour.
    pub fn longest(&self) -> u32 {
        self.cycles.iter().flatten().copied().max().unwrap_or(0)
    }

    /// Outputs that pass `port` on, with their delays.
    pub fn outputs(&self, port: &str) -> Vec<(String, u32)> {
        let name = |a: usize| if self.apart[a] { format!("{port}_out{a}") } else { format!("{port}_out") };
        let mut all: Vec<(String, u32)> = (0..2).filter_map(|a| Some((name(a), self.cycles[a]?))).collect();
        all.dedup_by(|b, a| a.0 == b.0);
        all
    }
}
