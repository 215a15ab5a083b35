//! Modules of the command by themselves, where a run of `sagen` would not reach every corner of them.

mod golden;
mod npy;
mod options;
mod outdir;
mod plot;
mod scratch;
mod shown;
mod simulation;
