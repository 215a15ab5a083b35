//! The order of stores and loads in the phases of a [`System`].
//!
//! **Invariant.** An input takes the value of the instance that wrote the cell last, and that instance stored it in an
//! earlier phase. No store of a later instance of the program reaches memory before.
//!
//! **Method.** Each dependence of the program becomes a set of pairs of places, of the instance that it comes from and
//! of the one that it leads to. A pair is wrong if the phase of the first is later than that of the second, or the same
//! one where the order of accesses in a phase does not allow it. The set of wrong pairs must be empty:
//!
//! ```text
//! flow    store in phase p, load in phase q:      p < q
//! anti    load in phase p, next store in q:       p <= q     (loads of a phase come before its stores)
//! output  store in phase p, next store in q:      p < q      (two stores of a phase have no order)
//! ```

use crate::affine::map::{among, compose, minus};
use crate::system::{Feed, System};
use scop::flow;
use scop::flow::{MemoryDep, RelationPiece, Source, WRITE};
use scop::{Affine, Constraint, Scop, Storage};

type Conjunction = Vec<Constraint>;

/// All faults, in words.
pub(super) fn check(scop: &Scop, system: &System) -> Vec<String> {
    let flow = match flow::analyze(scop) {
        Ok(flow) => flow,
        Err(faults) => return faults.into_iter().map(|fault| fault.message).collect(),
    };
    let pairs = &Pairs { system };
    let mut faults = vec![];
    for (s, placed) in system.statements.iter().enumerate() {
        for (k, (variable, sources)) in placed.variables.iter().zip(&flow.reads[s]).enumerate() {
            let inputs: Vec<Conjunction> = variable
                .pieces
                .iter()
                .filter(|p| matches!(p.feed, Feed::Input { .. }))
                .map(|p| p.domain.clone())
                .collect();
            for source in sources {
                let Source::Write { statement, iteration } = &source.source else { continue };
                let w = statement.index();
                // The writer's iterators are functions of the reader's.
                let relation = pairs.between([w, s], &pairs.second(s, &source.domain), iteration);
                let relation: Vec<Conjunction> = relation
                    .iter()
                    .flat_map(|part| {
                        inputs.iter().map(move |input| [part.clone(), pairs.widened(input, true)].concat())
                    })
                    .collect();
                faults
                    .extend(pairs.input(&relation, w).map(|why| format!("S{s}: read {k} is an input, but S{w} {why}")));
            }
        }
    }
    for dep in flow.anti.iter().chain(&flow.output) {
        faults.extend(pairs.next_write(scop, dep));
    }
    faults
}

/// Pairs of places: of an instance, then of one that depends on it. The coordinates of the first stand before those of
/// the second.
struct Pairs<'a> {
    system: &'a System,
}

impl Pairs<'_> {
    fn depth(&self) -> usize {
        self.system.dims.len()
    }

    /// Over the first place, then the second.
    fn wide(&self, a: &Affine, second: bool) -> Affine {
        among(a, if second { self.depth() } else { 0 }, 2 * self.depth())
    }

    fn widened(&self, all: &[Constraint], second: bool) -> Conjunction {
        all.iter().map(|c| Constraint { expr: self.wide(&c.expr, second), equality: c.equality }).collect()
    }

    /// Statement `s`'s iterators at the first or second place.
    fn iterators(&self, s: usize, second: bool) -> Vec<Affine> {
        self.system.statements[s].iterators.iter().map(|a| self.wide(a, second)).collect()
    }

    /// Conditions on the iterators of `s` at the second place.
    fn second(&self, s: usize, all: &[Constraint]) -> Conjunction {
        let iterators = self.iterators(s, true);
        all.iter()
            .map(|c| Constraint { expr: compose(&c.expr, &iterators, 2 * self.depth()), equality: c.equality })
            .collect()
    }

    /// Places of `from` and `to` at which both execute, and `relation` holds.
    fn executed(&self, [from, to]: [usize; 2], relation: &Conjunction) -> Vec<Conjunction> {
        let [a, b] = [from, to].map(|s| &self.system.statements[s].domain);
        a.iter()
            .flat_map(|x| {
                b.iter().map(move |y| [self.widened(x, false), self.widened(y, true), relation.clone()].concat())
            })
            .collect()
    }

    /// As [`Self::executed`], with the iterators of `from` as functions of those of `to`.
    fn between(&self, [from, to]: [usize; 2], relation: &Conjunction, iteration: &[Affine]) -> Vec<Conjunction> {
        let iterators = self.iterators(to, true);
        let same = self.iterators(from, false).into_iter().zip(iteration).map(|(a, b)| {
            let b = compose(b, &iterators, 2 * self.depth());
            Constraint { expr: minus(&a, &b), equality: true }
        });
        self.executed([from, to], &relation.iter().cloned().chain(same).collect())
    }

    /// Whether the first place of some pair is in a later phase, or, if `also_equal`, in the same one.
    fn disordered(&self, pairs: &[Conjunction], also_equal: bool) -> bool {
        let phases = self.system.frame().outer;
        let compared = |d: usize, equality: bool| {
            let mut expr = Affine::constant(2 * self.depth(), if equality { 0 } else { -1 });
            (expr.coeffs[d], expr.coeffs[self.depth() + d]) = (1, -1);
            Constraint { expr, equality }
        };
        let levels = if also_equal { 0..phases + 1 } else { 0..phases };
        let is_empty = |set: Conjunction| flow::is_empty(&set, 2 * self.depth());
        pairs.iter().any(|pair| {
            levels.clone().any(|level| {
                let later = (level < phases).then(|| compared(level, false));
                !is_empty(pair.iter().cloned().chain((0..level).map(|d| compared(d, true))).chain(later).collect())
            })
        })
    }

    /// The fault of an input that `writer` has stored, if it has one.
    fn input(&self, pairs: &[Conjunction], writer: usize) -> Option<&'static str> {
        if self.disordered(pairs, true) {
            return Some("writes it in no earlier phase");
        }
        let stored: Vec<Conjunction> =
            self.system.statements[writer].live_out.iter().map(|all| self.widened(all, false)).collect();
        (!flow::union_implies(pairs, &stored, 2 * self.depth())).then_some("does not store it")
    }

    /// The fault of the next write of a cell after an access, if it has one.
    fn next_write(&self, scop: &Scop, dep: &MemoryDep) -> Option<String> {
        let ((from, access), (to, _)) = (dep.from, dep.to);
        if scop.array(scop.statement(to).write.array).storage == Storage::Local {
            return None;
        }
        let (f, t) = (from.index(), to.index());
        let related = |piece: &RelationPiece| match piece {
            RelationPiece::Function { domain, target } => {
                // The second place is a function of the first.
                let iterators = self.iterators(f, false);
                let over = |a: &Affine| compose(a, &iterators, 2 * self.depth());
                let here = domain.iter().map(|c| Constraint { expr: over(&c.expr), equality: c.equality });
                let there = self
                    .iterators(t, true)
                    .into_iter()
                    .zip(target)
                    .map(|(a, b)| Constraint { expr: minus(&a, &over(b)), equality: true });
                here.chain(there).collect()
            }
            RelationPiece::Relation { constraints } => {
                let both: Vec<Affine> = self.iterators(f, false).into_iter().chain(self.iterators(t, true)).collect();
                constraints
                    .iter()
                    .map(|c| Constraint { expr: compose(&c.expr, &both, 2 * self.depth()), equality: c.equality })
                    .collect()
            }
        };
        let pairs: Vec<Conjunction> =
            dep.relation.iter().flat_map(|piece| self.executed([f, t], &related(piece))).collect();
        let placed = &self.system.statements[f];
        // The accesses that reach memory.
        let touching: Vec<Conjunction> = match access {
            WRITE => placed.live_out.clone(),
            read => placed.variables[read]
                .pieces
                .iter()
                .filter(|p| matches!(p.feed, Feed::Input { .. }))
                .map(|p| p.domain.clone())
                .collect(),
        };
        let pairs: Vec<Conjunction> = pairs
            .iter()
            .flat_map(|p| touching.iter().map(move |x| [p.clone(), self.widened(x, false)].concat()))
            .collect();
        let what = if access == WRITE { "stores".to_string() } else { format!("loads read {access}") };
        self.disordered(&pairs, access == WRITE)
            .then(|| format!("S{f} {what} too late for the next write of the cell, by S{t}"))
    }
}
