//! Registers at the borders of dies ([`array::contract::bands::CROSSING`]): one in what sends, one in what receives, with
//! nothing between them.

use rtl::{ModuleBuilder, Reg, Sig, Ty};

/// Ends of a crossing, for the names of its registers: it sends, or it receives.
pub(crate) const SENDS: &str = "tx";
pub(crate) const RECEIVES: &str = "rx";

/// Patterns for the names of both.
pub(crate) const REGISTERS: [&str; 2] = ["cross_*_tx", "cross_*_rx"];

/// The register of a signal at this end of its crossing.
pub(crate) fn register<'m>(m: &'m ModuleBuilder, signal: &str, end: &str, ty: Ty) -> Reg<'m> {
    m.reg(format!("cross_{signal}_{end}"), ty)
}

/// Keeps a register as it is, so that it can stand at the border of its die.
pub(crate) fn kept(register: Sig<'_>) -> Sig<'_> {
    register.attr("shreg_extract", "no").attr("dont_touch", "true")
}
