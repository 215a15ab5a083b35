//! From a [`uniform::mapping::Mapping`] to a virtual systolic array ([`vsa::Vsa`]): the nodes of a PE, their schedule,
//! the layouts of inputs and outputs, and what hardware and its models agree on ([`contract`]).

pub mod vsa;
mod at;
mod waves;
pub mod forms;
pub mod draft;
pub mod contract;
pub mod ip;
pub mod resources;
pub mod operators;
pub mod io;
pub mod kernel;
pub mod pe;
pub mod assemble;
pub mod variants;
pub mod merge;
pub mod cut;
pub mod verify;
pub mod text;
pub mod interp;
