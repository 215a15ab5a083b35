//! C loop nest in, polyhedral program out. See `scop` for the result type.
pub mod diag;
pub mod scop;
