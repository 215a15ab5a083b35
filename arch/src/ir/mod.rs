//! The representations of a program on its way to an array: data, and questions about it.

pub mod aim;
pub mod at;
pub mod case;
pub mod cases;
pub mod design;
pub mod draft;
pub mod forms;
pub mod ip;
pub mod mapping;
pub mod refusal;
pub mod sizes;
pub mod ure;
pub mod vsa;
mod waves;
