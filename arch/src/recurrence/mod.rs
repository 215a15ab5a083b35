//! From a Scop to uniform recurrence equations: scalars that are constants ([`constants`]) or computed by the host ([`hosted`]), arrays in all their dimensions ([`linear`]), rewrites of the program ([`rewrite`]), places of its statements (`place`),
//! localization (`localize`), sums whose order is free ([`reduction`]), statements
//! that share operators ([`share`]), loops that end by strip or by phase ([`strips`]).

mod build;
mod builder;
pub mod constants;
mod frame;
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
