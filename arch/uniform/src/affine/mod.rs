//! Affine algebra: functions of iterators ([`map`]) and of waves and PEs ([`Form`]), conditions and the ranges they
//! leave, integer matrices. Everything else in this crate is built on it.

mod form;
pub mod map;
mod matrix;
mod odometer;
mod range;

pub use form::{Condition, Form};
pub use matrix::{determinant, unimodular_inverse};
pub use num_integer::gcd;
pub use odometer::{advance, step};
pub use range::{interval, Ranges, Within};
