//! Control: the fields that travel with a wave, and the sequencer that computes them and launches waves.

mod field;
pub mod sequencer;

pub use field::{field_port, form_range, range_ty, time_field, Field};
