//! From a Scop to a virtual systolic array.
pub mod timing;
pub mod vsa;
