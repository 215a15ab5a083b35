//! The command line of sagen: arguments, progress, rendering, files on disk, the golden model and the simulation
//! engines. Everything that prints, reads or writes files or starts programs lives in this crate; the others are pure.

pub mod boards;
pub mod catalog;
pub mod check;
pub mod cli;
pub mod data;
pub mod design_file;
pub mod emit;
pub mod explore;
pub mod fault;
pub mod files;
pub mod golden;
pub mod man;
pub mod map;
pub mod npy;
pub mod outdir;
pub mod package;
pub mod predict;
pub mod program;
pub mod progress;
pub mod render;
pub mod report;
pub mod scratch;
pub mod sim;
pub mod simulate;
pub mod table;
