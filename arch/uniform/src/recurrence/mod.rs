//! From a Scop to uniform recurrence equations: scalars that are constants ([`constants`]) or computed by the host
//! ([`hosted`]), arrays in all their dimensions ([`linear`]), rewrites of the program ([`rewrite`]), places of its
//! statements (`place`), localization (`localize`), sums whose order is free ([`reduction`], `extended`), statements
//! that share operators ([`share`]), loops that end by strip or by phase ([`strips`]).

mod build;
mod builder;
pub mod constants;
mod extended;
mod change;
pub mod hosted;
pub mod linear;
mod localize;
pub mod passed;
pub mod phases;
mod place;
pub mod recompute;
pub mod reduction;
pub mod rewrite;
pub mod share;
pub mod sized;
pub mod strips;

pub use build::{build, build_at};
pub use builder::Within;
pub use place::Reach;

use rewrite::Rewrite;

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
