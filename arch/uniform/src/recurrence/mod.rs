//! From a program to uniform recurrence equations: [`uniform`], or [`distributed`] if each loop nest is to be a phase.
//!
//! 1. Scalars become constants ([`constants`]) or host functions ([`hosted`]); linearized arrays get their dimensions
//!    back ([`linear`]).
//! 2. Sizes become subscripts (`sized`).
//! 3. For each rewrite in [`REWRITES`] ([`rewrite`], [`recompute`]): statements get places (`place`), reads are
//!    uniformized (`uniformize`), sums in any order are extended (`extended`). The first form with uniform dependences
//!    is taken.
//! 4. If there is none, the program is distributed into phases ([`phases`]).
//! 5. A system may be strip-mined ([`strips`]). Statements of one PE share operators ([`share`]).

mod build;
mod builder;
pub mod constants;
mod extended;
mod change;
pub mod hosted;
pub mod linear;
mod uniformize;
pub mod passed;
pub mod phases;
mod place;
pub mod recompute;
pub mod reduction;
pub mod rewrite;
pub mod share;
mod sized;
pub mod strips;
mod touch;

pub use build::{build, build_at};
pub use place::Reach;

use crate::system::System;
use builder::Within;
use phases::part;
use rewrite::{Attempt, Region, Rewrite};
use scop::diag::Diagnostics;
use scop::Scop;
use std::borrow::Cow;

/// The rewrites in the order in which they are tried: the first form with uniform dependences is mapped.
pub const REWRITES: [Rewrite; 5] = [
    Rewrite { name: "completed sums", versions: rewrite::completed, unless: "no condition interrupts a sum" },
    Rewrite { name: rewrite::AS_WRITTEN, versions: rewrite::as_written, unless: "" },
    Rewrite {
        name: "recomputed values",
        versions: recompute::recomputed,
        unless: "no value is made of inputs alone, or too many are",
    },
    Rewrite {
        name: "folded domains",
        versions: rewrite::folded,
        unless: "no value is read on both sides of its producer",
    },
    Rewrite {
        name: rewrite::REVERSED,
        versions: rewrite::reversed,
        unless: "no sum in free order is alone in its loop",
    },
];

/// A program in a form with uniform dependences.
pub struct Uniform<'a> {
    /// The program itself, or its rewritten form.
    pub form: Cow<'a, Scop>,
    pub system: System,
    /// The outcome of every rewrite up to the successful one.
    pub attempts: Vec<Attempt>,
}

/// The first form of the program with uniform dependences, else its phases; at all sizes, if it has sizes at run time.
/// `reassociate`: whether sums of floats may be reordered.
///
/// # Errors
/// Why there is none.
pub fn uniform<'a>(
    scop: &'a Scop,
    reassociate: Option<bool>,
    rewrites: &[Rewrite],
) -> Result<Uniform<'a>, Diagnostics> {
    let (sizes, whole) = (scop.open_sizes(), sized::under_sizes(scop));
    let region = Region::part(whole.as_ref().unwrap_or(scop), Within::sizes(sizes), reassociate);
    let (form, system, attempts) = match rewrite::uniform(&region, rewrites) {
        Ok((Cow::Borrowed(_), system, attempts)) if sizes == 0 => (Cow::Borrowed(scop), system, attempts),
        Ok((form, system, attempts)) => {
            let form = part::plain(scop, form.into_owned(), sizes);
            let system = part::plain_inputs(scop, &form, system, sizes);
            (Cow::Owned(form), system, attempts)
        }
        Err(attempts) => {
            let (form, system, attempts) = phases::distributed(scop, &region, attempts, rewrites)?;
            (Cow::Owned(form), system, attempts)
        }
    };
    let system = sized::of_all_sizes(scop, &form, system, reassociate)?;
    Ok(Uniform { form, system, attempts })
}

/// What becomes a phase of its own, though one array could execute more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separate {
    /// Each loop nest, see [`phases::by_nest`].
    Nests,
    /// Each iteration of the outermost loops that carry values, see [`phases::by_step`].
    Steps,
}

/// The program in phases; `None` if there is only one.
pub fn distributed(
    scop: &Scop,
    separate: Separate,
    reassociate: Option<bool>,
    rewrites: &[Rewrite],
) -> Option<(Scop, System)> {
    let (sizes, whole) = (scop.open_sizes(), sized::under_sizes(scop));
    let region = Region::part(whole.as_ref().unwrap_or(scop), Within::sizes(sizes), reassociate);
    let (form, system) = match separate {
        Separate::Nests => phases::by_nest(scop, &region, rewrites)?,
        Separate::Steps => phases::by_step(scop, &region, rewrites)?,
    };
    let system = sized::of_all_sizes(scop, &form, system, reassociate).ok()?;
    Some((form, system))
}
