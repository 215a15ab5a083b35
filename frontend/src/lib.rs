//! C loop nest in, polyhedral program out. See `scop` for the result type.
pub mod diag;
pub mod flow;
pub mod poly;
pub mod scop;
