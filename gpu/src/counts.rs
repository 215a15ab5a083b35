//! The instructions of a step in the interior, as the lowering means them: those that decide the time.
//!
//! The kernel's text states them, and `scripts/gpu/nvrtc.py --count` compares them with the machine code.
//!
//! ```text
//! 5 taps, rows of 4 registers:   fused multiply-adds 20, loads of 16 bytes 2, stores of 16 bytes 1
//! ```

use crate::ir::{Op, Warp};
use crate::print::memory::accesses;
use scop::literal::F32;
use scop::BinaryOp;
use std::fmt;

/// Instructions of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Multiplications of floats of 32 bits, additions, and both as one.
    pub products: i64,
    pub sums: i64,
    pub fused: i64,
    /// Sums of four products of 8 bits.
    pub dots: i64,
    pub shuffles: i64,
    /// Of 16 bytes.
    pub loads: i64,
    pub stores: i64,
}

impl Counts {
    pub fn of(warp: &Warp) -> Counts {
        let mut out = Counts::default();
        let single = F32;
        for node in warp.nodes.iter().filter(|n| !n.border && !n.invariant && !n.after) {
            let row = if node.row { warp.width } else { 1 };
            match &node.op {
                Op::Fma(..) if node.ty == single => out.fused += row,
                Op::Binary(BinaryOp::Mul, ..) if node.ty == single => out.products += row,
                Op::Binary(BinaryOp::Add | BinaryOp::Sub, ..) if node.ty == single => out.sums += row,
                Op::Dot(..) => out.dots += row,
                // The other registers are renamed.
                Op::Hop { by, .. } => out.shuffles += by.abs().min(warp.width) * i64::from(node.ty.bytes().div_ceil(4)),
                Op::Load { array, at, each } => out.loads += accesses(warp, *array, at, *each),
                _ => {}
            }
        }
        let stores = warp.stores.iter().filter(|s| s.inside && !warp.is_after(s));
        out.stores = stores.map(|s| accesses(warp, s.array, &s.at, 1)).sum();
        out
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let all = [
            (self.fused, "fused multiply-adds"),
            (self.products, "multiplications"),
            (self.sums, "additions"),
            (self.dots, "dots"),
            (self.shuffles, "shuffles"),
            (self.loads, "loads of 16 bytes"),
            (self.stores, "stores of 16 bytes"),
        ];
        let some: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, of)| format!("{of} {n}")).collect();
        f.write_str(&some.join(", "))
    }
}
