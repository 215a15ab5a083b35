//! An IP that is built once for all simulations.

use super::bench;
use array::ip::Ip;
use rtl::sim::{Init, Sim};
use rtl::Verified;
use std::cell::OnceCell;
use templates::Interface;

/// A built IP.
pub struct Built {
    pub design: Verified,
    pub interface: Interface,
    /// The built-in engine's simulation before its first cycle, after the first use.
    fresh: OnceCell<Sim>,
}

impl Built {
    /// # Errors
    /// Faults of sagen's own.
    pub fn new(ip: &Ip) -> Result<Built, String> {
        let (design, interface) = templates::ip(ip)?;
        Ok(Built { design, interface, fresh: OnceCell::new() })
    }

    /// The emitted text, as (file name, contents).
    pub fn verilog(&self) -> Vec<(String, String)> {
        rtl::verilog::files(&self.design)
    }

    /// The built-in engine's simulation before its first cycle; `traced` for waveforms.
    ///
    /// # Errors
    /// The design is not consistent.
    pub fn simulation(&self, traced: bool) -> Result<Sim, String> {
        if let Some(fresh) = self.fresh.get().filter(|_| !traced) {
            return Ok(fresh.clone());
        }
        let (top, init) = (&bench::top(&self.design)?.name, Init::Garbage(0x5a6e));
        let sim = if traced { Sim::traced(&self.design, top, init) } else { Sim::with_init(&self.design, top, init) };
        let sim = sim.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
        if !traced {
            let _ = self.fresh.set(sim.clone());
        }
        Ok(sim)
    }
}
