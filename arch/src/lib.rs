//! From a Scop to a virtual systolic array.
pub mod vsa;
