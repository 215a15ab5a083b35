//! Packed products: one DSP slice multiplies two or more pairs of narrow integers.
//!
//! **Problem.** A slice multiplies 27 by 18 bits. A product of `int8_t` uses 8 by 8 of them.
//!
//! **Method.** Where sums have a factor in common, their other factors are joined in one number. The product has the
//! products side by side, and so has the sum of such products, which a cascade of slices makes. At its end fields tell
//! the sums apart (`scop::value::Field`).
//!
//! ```text
//! s0 = p0 + a0*b00 + a1*b01 + …      joined: c0 = b10 * 2^18 + b00,  c1 = b11 * 2^18 + b01, …
//! s1 = p1 + a0*b10 + a1*b11 + …      t  = a0*c0 + a1*c1 + …
//!                                    s0 = p0 + field 0 of t,  s1 = p1 + (field 1 of t + (field 0 of t < 0))
//! ```
//!
//! If sums share factors in both ways, both factors are joined: four products of `int4_t`. Parts of a program:
//! [`find`] collects the sums and groups them, [`layout`] solves widths and distances, [`rewrite`] writes the table of
//! nodes anew, [`border`] joins inputs at the border of the array instead of in each PE.
//!
//! **Invariant.** Sums have the same values bit for bit: fields are exact, and integers are added modulo 2^bits in any
//! order. Waves start as often as before: the PE stays as it is if they could not.
//!
//! **Source.** Fu et al., Deep Learning with INT8 Optimization on Xilinx Devices (AMD WP486, 2017), for two products;
//! the cascade and the exact fields are ours.

mod border;
mod find;
mod layout;
mod rewrite;

pub use layout::{largest, LEAST_TERMS};

use crate::draft::Lowered;
use crate::pe::schedule::schedule;
use crate::vsa::Schedule;
use uniform::affine::Ranges;

/// When a PE with packed products takes the place of one without.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Packs {
    /// Where waves start as often.
    AsFast,
    /// Wherever products can be packed.
    Always,
}

/// The PE with packed products and its schedule; `None` where no products can be packed, or waves would start less
/// often.
pub fn pack(lowered: &Lowered, before: &Schedule, ranges: &Ranges, when: Packs) -> Option<(Lowered, Schedule)> {
    // Multipliers of the ECP5 have no adders of 48 bits.
    if !lowered.fabric.is_lut6() {
        return None;
    }
    let blocks = find::blocks(lowered, lowered.fabric.factors());
    let packed = rewrite::rewrite(lowered, &blocks)?;
    let as_fast = |new: Lowered| {
        let after = schedule(&new, ranges.extent).ok()?;
        let fast = after.interval <= before.interval && after.longest_hop() <= before.longest_hop();
        (fast || when == Packs::Always).then_some((new, after))
    };
    let joined = border::joined(&packed, before, ranges).and_then(as_fast);
    joined.or_else(|| as_fast(packed))
}
