//! Between the array and DRAM: one [`reader`] per array that is read, one [`writer`] per array that is written, the
//! [`control`] registers, and a [`memory`] model for simulation.
//!
//! Both engines walk the services of [`arch::cost::walk::Walk`], which the timing models in `arch::cost` walk as well;
//! under the ideal memory the prediction is exact.

mod address;
pub mod control;
mod elastic;
pub mod memory;
pub mod reader;
mod rotate;
pub mod writer;

use arch::vsa::Vsa;

/// Prefix of the ports of array `k` (`m_axi_a_`): lower case, legal and unique among the arrays.
pub fn port_prefix(vsa: &Vsa, k: usize) -> String {
    let base = |i: usize| rtl::names::legal(&format!("m_axi_{}", vsa.arrays[i].name.to_lowercase()));
    let name = base(k);
    let taken = (0..vsa.arrays.len()).filter(|&i| i != k).any(|i| base(i) == name);
    if taken { format!("{name}_{k}_") } else { format!("{name}_") }
}
