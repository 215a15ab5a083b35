//! The verifier of a [`Vsa`]. Everything behind it (interpreter, printers, hardware) may rely on these invariants:
//!
//! 1. *Form* (`well_formed.rs`): trips and extents are at least 1; indices point somewhere; lists are as long as the
//!    ranks and tables they belong to; every form stays below 2^60 in magnitude over the boxes of counters and PEs;
//!    ports are numbered without gaps, and all arrays of one have words of equally many bytes.
//! 2. *Nodes* (`nodes.rs`): operands come earlier (except over `Past` with a wave or a hop), types fit, no value
//!    depends on itself within one wave at one PE, every input port has exactly one `Input` node; fields have
//!    the bits for the sums that they say (`contract::packed`).
//! 3. *Buffers* (`buffers.rs`): what `subscripts` ask for is what the bank delivers at (`row`, `col`), lies inside of
//!    the bank, the footprint and the row's wanted elements, for every wave and every PE with a feeder or collector;
//!    collectors own disjoint cells; loads depend only on drains of earlier tiles.
//! 4. *Schedule* (`schedule.rs`): operands are on the wire when they are sampled, delay elements exist for every
//!    `Past`, the hop delay is nonzero along every axis with more than one PE.
//!
//! Forms are compared after dropping coefficients of counters with trip 1 and of axes with one PE.

mod buffers;
mod nodes;
mod schedule;
mod well_formed;

use crate::vsa::Vsa;

pub use well_formed::well_formed;

impl Vsa {
    /// Checks all invariants of [`crate::verify`].
    ///
    /// # Errors
    /// One line for each violation, all of them (only those of well-formedness if there are such).
    pub fn verify(&self) -> Result<(), Vec<String>> {
        let mut faults = well_formed(self);
        if faults.is_empty() {
            nodes::check(self, &mut faults);
            schedule::check(self, &mut faults);
        }
        match self.functions.len() {
            _ if !faults.is_empty() => {}
            0 => buffers::check(self, &mut faults),
            // The groups of a merged array are those of its functions.
            count => {
                for f in 0..count {
                    let faults_of = self.of_function(f).verify().err().unwrap_or_default();
                    faults.extend(faults_of.into_iter().map(|fault| format!("{}: {fault}", self.functions[f].name)));
                }
            }
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }
}
