//! The printed form of a [`Vsa`]: for people to read, and to be parsed back.
//!
//! One item a line; `#` starts a comment. Forms are sums over counter names, `p0` and `p1`:
//!
//! ```text
//! vsa mm
//! space i 2 skew 1                      axis 0: name, PEs, hop delay (if hops differ: skew [1, 1, 3]); then axis 1
//! space j 3 skew 1
//! lanes 2
//! interval 1
//! ahead 512
//! tile i.tile 2                         counters, outermost first: of tiles, then of the waves of a tile
//! time k.time 2
//! array A: i16[7][9] word 8              then, where it shares an AXI port with an array above: port 0
//! function f array 0 A scalar 0 alpha size 1 n       of a merged array: what is its own, and its names
//! nodes
//!   %4 a: i32 = cast %1  @ready 4 lat 0
//!   %8 past: i32 = past %9 hop (0, 0) waves 9  @ready 7 lat 0 by memory sync 6     or: by chain
//!   %9 acc: i32 = add %5, %8  @ready 8 lat 1
//! input 0 A[4*i.tile + 2*p0][2*k.time]  then, indented: ports, from … to (unless all PEs read), forward, reload,
//!                                       footprint, bank, row, col, after
//! output 0 C[4*i.tile + 2*p0][p1]       then, indented: port, from, emit, footprint, bank, row, col, slots, bound
//! ```
//!
//! Counters whose names are not unique plain words are written `t0`, `t1`, … by position. [`parse`] gives forms without
//! trailing zero coefficients, so `parse(&to_text(v)) == canonical(v)` for every Vsa that satisfies
//! [`crate::verify::well_formed`] and whose schedule is empty or complete.

mod items;
mod names;
mod parse;
mod print;
mod program;
mod stage;

use crate::vsa::{Op, Remarks, Vsa};
use uniform::affine::Form;

pub use parse::parse;
pub use print::to_text;
pub use stage::{read, Stage};

/// The same Vsa as its text has it: forms without trailing zero coefficients, and no remarks.
pub fn canonical(vsa: &Vsa) -> Vsa {
    let mut vsa = Vsa { remarks: Remarks::default(), ..vsa.clone() };
    let trim = |f: &mut Form| {
        let used = f.counters.iter().rposition(|&c| c != 0).map_or(0, |last| last + 1);
        f.counters.truncate(used);
    };
    for node in &mut vsa.nodes {
        match &mut node.op {
            Op::Iter(form) => trim(form),
            Op::Guard(conditions) => conditions.iter_mut().for_each(|c| trim(&mut c.form)),
            _ => {}
        }
    }
    for g in &mut vsa.inputs {
        g.subscripts.iter_mut().chain(&mut g.footprint.origin).chain([&mut g.row, &mut g.col]).for_each(trim);
    }
    for g in &mut vsa.outputs {
        g.subscripts.iter_mut().chain(&mut g.footprint.origin).chain([&mut g.row, &mut g.col]).for_each(trim);
    }
    vsa
}
