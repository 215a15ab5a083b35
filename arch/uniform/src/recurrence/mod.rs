//! From a Scop to uniform recurrence equations: scalars that are constants ([`constants`]) or computed by the host
//! ([`hosted`]), arrays in all their dimensions ([`linear`]), rewrites of the program ([`rewrite`]), places of its
//! statements (`place`), uniformization (`uniformize`), sums whose order is free ([`reduction`], `extended`),
//! statements that share operators ([`share`]), loops that end by strip or by phase ([`strips`]).

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

pub use build::{build, build_at};
pub use place::Reach;

use crate::system::System;
use builder::Within;
use phases::part;
use rewrite::{Attempt, Region, Rewrite};
use scop::diag::Diagnostics;
use scop::Scop;
use std::borrow::Cow;

/// What the region may be rewritten into, in the order in which it is tried: the first form with uniform dependences is
/// the program that is mapped.
pub const REWRITES: [Rewrite; 5] = [
    Rewrite { name: "completed sums", versions: rewrite::completed, unless: "no condition interrupts a sum" },
    Rewrite { name: rewrite::AS_WRITTEN, versions: rewrite::as_written, unless: "" },
    Rewrite { name: "recomputed values", versions: recompute::recomputed, unless: "no value is made of inputs alone" },
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
    /// The program itself, or what it was rewritten into.
    pub form: Cow<'a, Scop>,
    pub system: System,
    /// The outcome of every rewrite up to the one that made the form.
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

/// The program as phases of one loop nest each, see [`phases::by_nest`].
pub fn distributed(scop: &Scop, reassociate: Option<bool>, rewrites: &[Rewrite]) -> Option<(Scop, System)> {
    let (sizes, whole) = (scop.open_sizes(), sized::under_sizes(scop));
    let region = Region::part(whole.as_ref().unwrap_or(scop), Within::sizes(sizes), reassociate);
    let (form, system) = phases::by_nest(scop, &region, rewrites)?;
    let system = sized::of_all_sizes(scop, &form, system, reassociate).ok()?;
    Some((form, system))
}
