//! A system of recurrences at given sizes ([`crate::sizes`]): values take the place of sizes, and an ordinary system
//! without sizes is left.

use crate::system::{Dim, Feed, Frame, Piece, Place, Placed, System, Variable};
use scop::{flow, Affine, Constraint, Scop, StmtId};

impl System {
    /// The system at these sizes, one for each; `scop` is the program at them.
    pub fn at(&self, scop: &Scop, sizes: &[i64]) -> System {
        let sized = self.parameters().end;
        let frame = Frame { outer: self.frame().outer - sized, depth: self.dims.len() - sized };
        let depth = frame.depth;
        let affine = |a: &Affine| a.at(sizes);
        let part = |all: &[Constraint]| -> Vec<Constraint> {
            let at = all.iter().map(|c| c.at(sizes));
            at.filter(|c| !(c.expr.is_constant() && c.holds(&vec![0; depth]))).collect()
        };
        let union = |all: &[Vec<Constraint>]| -> Vec<Vec<Constraint>> {
            all.iter().map(|c| part(c)).filter(|c| !flow::is_empty(c, depth)).collect()
        };
        let feed = |reader: StmtId, f: &Feed| match f {
            Feed::Input { subscripts } => Feed::Input { subscripts: subscripts.iter().map(affine).collect() },
            Feed::Value { statement, distance } => {
                Feed::Value { statement: *statement, distance: distance[sized..].to_vec() }
            }
            Feed::Carry { statement, read, distance } => {
                Feed::Carry { statement: *statement, read: *read, distance: distance[sized..].to_vec() }
            }
            Feed::Partial { distance } => Feed::Value {
                statement: reader,
                distance: distance[sized..].iter().map(|a| a.at(sizes).constant).collect(),
            },
        };
        let piece = |reader: StmtId, p: &Piece| {
            Some(Piece { domain: part(&p.domain), when: vec![], feed: feed(reader, &p.feed) })
                .filter(|p| !flow::is_empty(&p.domain, depth))
        };
        let placed = |(s, p): (usize, &Placed)| {
            let variables = p
                .variables
                .iter()
                .map(|v| Variable { pieces: v.pieces.iter().filter_map(|p| piece(StmtId(s as u32), p)).collect() })
                .collect();
            let dims = p.dims[sized..].iter().map(|d| d - sized).collect();
            let iterators = p.iterators[sized..].iter().map(affine).collect();
            let (domain, live_out) = (union(&p.domain), union(&p.live_out));
            Placed::new(scop, s, Place { dims, iterators, domain, variables, live_out }, frame)
        };
        let statements: Vec<Placed> = self.statements.iter().enumerate().map(placed).collect();
        let names = self.dims[sized..].iter().map(|d| d.name.clone()).collect();
        System::new(Dim::around(names, |d| self.dims[sized + d].kind, &statements), statements)
    }
}
