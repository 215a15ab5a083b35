//! Change of coordinates: a statement, and all that belongs to it, over another iteration space.
//!
//! The old coordinates are affine functions of the new ones. A distance moves along; a skewed coordinate `j' = j - c *
//! p` lies `c` per step of `p` nearer. Strip-mining, skewing, phases and the alignment of sizes are changes of
//! coordinates.

use crate::affine::map::compose;
use crate::system::{Feed, Frame, Piece, Place, Placed, Variable};
use scop::{Affine, Constraint, Scop, StmtId};

/// From old coordinates to new ones.
pub(super) struct Change {
    /// The old coordinates over the new ones.
    pub over: Vec<Affine>,
    /// Which of the new dimensions each of them is.
    pub dims: Vec<usize>,
    /// Constraints of the new coordinates.
    pub within: Vec<Constraint>,
    /// The new number of the first statement.
    pub first: usize,
    /// The new iteration space.
    pub frame: Frame,
}

impl Change {
    /// Statement `s` of `scop`, which is `placed` over the old coordinates.
    pub fn placed(&self, scop: &Scop, s: usize, placed: &Placed) -> Placed {
        let union = |all: &[Vec<Constraint>]| all.iter().map(|c| self.conjunction(c)).collect::<Vec<_>>();
        let piece = |p: &Piece| Piece { domain: self.conjunction(&p.domain), when: vec![], feed: self.feed(&p.feed) };
        let variables =
            placed.variables.iter().map(|v| Variable { pieces: v.pieces.iter().map(piece).collect() }).collect();
        let iterators = placed.iterators.iter().map(|a| self.form(a)).collect();
        let dims = placed.dims.iter().map(|&d| self.dims[d]).collect();
        let (domain, live_out) = (union(&placed.domain), union(&placed.live_out));
        Placed::new(scop, s, Place { dims, iterators, domain, variables, live_out }, self.frame)
    }

    fn form(&self, a: &Affine) -> Affine {
        compose(a, &self.over, self.frame.depth)
    }

    fn conjunction(&self, all: &[Constraint]) -> Vec<Constraint> {
        let moved = all.iter().map(|c| Constraint { expr: self.form(&c.expr), equality: c.equality });
        moved.chain(self.within.iter().cloned()).collect()
    }

    fn feed(&self, feed: &Feed) -> Feed {
        let there = |s: &StmtId| StmtId(s.0 + self.first as u32);
        let far = |distance: &[i64]| {
            let mut out = vec![0; self.frame.depth];
            self.dims.iter().zip(distance).for_each(|(&d, &e)| out[d] = e);
            // Skewed coordinates.
            for (&d, old) in self.dims.iter().zip(&self.over) {
                out[d] -= old.coeffs[..d].iter().zip(&out).map(|(skew, e)| skew * e).sum::<i64>();
            }
            out
        };
        match feed {
            Feed::Input { subscripts } => Feed::Input { subscripts: subscripts.iter().map(|a| self.form(a)).collect() },
            Feed::Value { statement, distance } => Feed::Value { statement: there(statement), distance: far(distance) },
            Feed::Carry { statement, read, distance } => {
                Feed::Carry { statement: there(statement), read: *read, distance: far(distance) }
            }
            Feed::Partial { distance } => {
                let mut out = vec![Affine::constant(self.frame.depth, 0); self.frame.depth];
                self.dims.iter().zip(distance).for_each(|(&d, e)| out[d] = self.form(e));
                Feed::Partial { distance: out }
            }
        }
    }
}
