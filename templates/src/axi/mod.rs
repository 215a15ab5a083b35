//! Between the array and DRAM: a [`reader`] and a [`writer`] per AXI port, for the arrays behind it that are read and
//! written; the [`control`] registers, and a [`memory`] model for simulation.
//!
//! Both engines walk the services of [`arch::contract::walk::Walk`], which the timing models in `arch::cost` walk as well;
//! under the ideal memory the prediction is exact.

mod address;
pub mod control;
mod elastic;
pub mod memory;
pub mod reader;
mod rotate;
pub mod writer;

pub(crate) use address::base_port;
use arch::contract::walk::Walk;
use arch::ir::vsa::Vsa;

/// Prefix of the signals of AXI port `port` (`m_axi_a_`, `m_axi_gmem1_`): lower case, legal and unique among the ports.
pub fn port_prefix(vsa: &Vsa, port: usize) -> String {
    let base = |i: usize| rtl::names::legal(&format!("m_axi_{}", vsa.port_name(i).to_lowercase()));
    let name = base(port);
    let taken = (0..vsa.ports()).filter(|&i| i != port).any(|i| base(i) == name);
    if taken { format!("{name}_{port}_") } else { format!("{name}_") }
}

/// The arrays an engine serves, for its header: `A, B`.
fn served(walk: &Walk) -> String {
    walk.arrays.iter().map(|a| a.1.as_str()).collect::<Vec<_>>().join(", ")
}
