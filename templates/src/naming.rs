//! Names of modules and ports that more than one template needs, and where memories go.

use arch::ir::vsa::{NodeId, Vsa};
use rtl::MemStyle;

/// Stem of module names: the array's name in lower case, legal in Verilog.
pub fn module_stem(vsa: &Vsa) -> String {
    rtl::names::legal(&vsa.name.to_lowercase())
}

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
    if depth <= 64 { MemStyle::Distributed } else { MemStyle::Block }
}
