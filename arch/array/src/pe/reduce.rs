//! Lowering of reductions: chains of partial sums over time, over PEs and over lanes ([`super::sums`] says which).
//!
//! Integers of several lanes are summed in a chain, as DSP slices cascade. Floats, whose adders take many cycles, are
//! summed in a balanced tree.
//!
//! Example: `s += a[k] * b[k]` with two lanes of integers, over time:
//!
//! ```text
//! a0 * b0 --+
//!           + --+-- acc --+--> s
//! a1 * b1 --+   |         |
//!      past or 0 <--------+        one wave later
//! ```

use crate::pe::conditions::at_least_one;
use crate::pe::lower::Lower;
use crate::pe::pasts::{Distance, Past, Target};
use crate::pe::select::{select_step, Source};
use crate::pe::sums::Step;
use crate::vsa::{NodeId, Op};
use scop::{BinaryOp, Constraint, ScalarType, StmtId};
use uniform::affine::map::{coordinate, minus};
use uniform::affine::{Condition, Form};
use uniform::design::Dot;
use uniform::recurrence::reduction::Reduction;
use uniform::refusal::{Backwards, Illegal};
use uniform::sizes::Formula;
use uniform::system::{Feed, Piece};

/// The sum of a statement's reduction in one group of lanes.
struct Sum<'a> {
    statement: usize,
    /// The first lane of the group.
    lane: usize,
    reduction: &'a Reduction,
    ty: ScalarType,
    name: String,
}

impl<'a> Lower<'a> {
    fn sum(&self, s: usize, lane: usize) -> Sum<'a> {
        let reduction = self.sums.of(s).expect("a reduction");
        let (ty, name) = (self.sums.array_type(s), self.name_of(s, reduction.read));
        Sum { statement: s, lane, reduction, ty, name }
    }

    /// The value that changes nothing.
    fn neutral(&mut self, sum: &Sum) -> NodeId {
        self.nodes.add(Op::Const(sum.reduction.neutral(sum.ty)), sum.ty, "neutral")
    }

    /// Over time only, or over space only: one chain. Over both: every PE sums its share over time, and the shares are
    /// summed along the axis, so that no partial sum has to travel back.
    pub(super) fn total(&mut self, s: usize, lane: usize) -> Result<NodeId, Illegal> {
        let sum = self.sum(s, lane);
        if let Some(counter) = self.sums.interleaved(s, sum.reduction) {
            return self.gather(&sum, counter);
        }
        if !self.sums.is_shared(sum.reduction) {
            return self.accumulate(s, lane, false);
        }
        let share = self.build(Target::Share(s, lane))?;
        let mut upstream = self.neutral(&sum);
        for Step { form, hop, .. } in self.sums.steps_in_space(sum.reduction).into_iter().rev() {
            let past = Past { target: Target::Total(s, lane), hop, distance: Distance::constant(0) };
            let source = self.past(past, sum.ty, &sum.name);
            let when = self.nodes.guard(&[at_least_one(form)]);
            upstream = self.nodes.mux(when, source, upstream, sum.ty, &sum.name);
        }
        Ok(self.nodes.add(Op::Binary(sum.reduction.op, upstream, share), sum.ty, "total"))
    }

    /// What came before, plus the terms of this group's lanes.
    pub(super) fn accumulate(&mut self, s: usize, lane: usize, share: bool) -> Result<NodeId, Illegal> {
        let sum = &self.sum(s, lane);
        let Sum { reduction, ty, .. } = *sum;
        let previous = match self.sums.interleaved(s, reduction) {
            Some(counter) => self.previous_of_several(sum, counter)?,
            None => self.previous(sum, share)?,
        };
        let mut terms = Vec::new();
        for l in self.sums.lanes(reduction, lane) {
            terms.extend(self.term(sum, l)?);
        }
        let combine = if reduction.subtract { BinaryOp::Sub } else { reduction.op };
        if let Some(pairs) = self.dot_pairs(reduction, &terms, ty) {
            return Ok(self.nodes.add(Op::Dot { pairs, addend: previous }, ty, "dot"));
        }
        if ty.is_float() {
            return Ok(match self.balanced(terms, reduction, ty) {
                Some(sum) => self.joined(reduction, combine, previous, sum, ty),
                None => previous,
            });
        }
        let nodes = &mut self.nodes;
        if self.options.accumulate_first {
            return Ok(terms.into_iter().fold(previous, |acc, t| nodes.add(Op::Binary(combine, acc, t), ty, "acc")));
        }
        let sum = terms.into_iter().reduce(|acc, t| nodes.add(Op::Binary(reduction.op, acc, t), ty, "sum"));
        Ok(sum.map_or(previous, |sum| nodes.add(Op::Binary(combine, previous, sum), ty, "acc")))
    }

    /// The factors of all terms, if they are to be summed by a fused dot product.
    fn dot_pairs(&mut self, reduction: &Reduction, terms: &[NodeId], ty: ScalarType) -> Option<Vec<[NodeId; 2]>> {
        let wanted =
            self.options.dot == Dot::Fused && ty.is_float() && reduction.op == BinaryOp::Add && !reduction.subtract;
        if !wanted || terms.is_empty() {
            return None;
        }
        terms.iter().map(|&term| self.factors(term, ty)).collect()
    }

    /// The factors of a product. If a condition chooses the product, both are zero where it is false.
    fn factors(&mut self, term: NodeId, ty: ScalarType) -> Option<[NodeId; 2]> {
        match *self.nodes.op(term) {
            Op::Binary(BinaryOp::Mul, x, y) => Some([x, y]),
            Op::Select(when, product, _) if self.nodes.is_mux(term) => {
                let factors = self.factors(product, ty)?;
                let zero = self.nodes.add(Op::Const(0), ty, "zero");
                Some(factors.map(|x| self.nodes.mux(when, x, zero, ty, "factor")))
            }
            _ => None,
        }
    }

    /// All terms, joined in pairs, the pairs in pairs, and so on.
    fn balanced(&mut self, mut terms: Vec<NodeId>, reduction: &Reduction, ty: ScalarType) -> Option<NodeId> {
        while terms.len() > 1 {
            let pairs = terms.chunks(2).map(|pair| match *pair {
                [a, b] => self.joined(reduction, reduction.op, a, b, ty),
                _ => pair[0],
            });
            terms = pairs.collect();
        }
        terms.pop()
    }

    /// `a op b`; fused if `b` is a product and the program fuses them.
    fn joined(&mut self, reduction: &Reduction, op: BinaryOp, a: NodeId, b: NodeId, ty: ScalarType) -> NodeId {
        let op = match *self.nodes.op(b) {
            Op::Binary(BinaryOp::Mul, x, y) if reduction.fused => Op::Fma(x, y, a),
            _ => Op::Binary(op, a, b),
        };
        self.nodes.add(op, ty, "acc")
    }

    /// The sum of the interleaved sums, right in the last wave of the reduction: of the last two waves, of the last two
    /// of those, and so on.
    fn gather(&mut self, sum: &Sum, counter: usize) -> Result<NodeId, Illegal> {
        let Sum { statement, lane, reduction, ty, ref name } = *sum;
        let mut sum = self.build(Target::Share(statement, lane))?;
        let mut reach = 1;
        while reach < self.options.interleave {
            let waves = self.delays.constant(statement, &self.conditions.mapping.strides(counter, reach))?;
            let earlier = Op::Past { source: sum, hop: [0, 0], waves: Formula::Const(waves) };
            let earlier = self.nodes.add(earlier, ty, name);
            sum = self.nodes.add(Op::Binary(reduction.op, earlier, sum), ty, "total");
            reach *= 2;
        }
        Ok(sum)
    }

    /// What one of several interleaved sums is added to: the initial value in the first wave, then nothing until it is
    /// the first sum's turn again, then the same sum's last value.
    fn previous_of_several(&mut self, sum: &Sum, counter: usize) -> Result<NodeId, Illegal> {
        let initial = self.initial(sum)?;
        let sums = self.options.interleave;
        let waves = self.delays.constant(sum.statement, &self.conditions.mapping.strides(counter, sums))?;
        let target = Target::Share(sum.statement, sum.lane);
        let past = Past { target, hop: [0, 0], distance: Distance::constant(waves) };
        let last = self.past(past, sum.ty, &sum.name);
        let neutral = self.neutral(sum);
        let again = Form { constant: -sums, ..self.conditions.counter(counter) };
        let again = vec![Condition { form: again, equality: false }];
        let steps = vec![Source { when: again, node: last }, Source { when: vec![], node: neutral }];
        Ok(select_step(&mut self.nodes, self.conditions.ranges(), initial, steps, sum.ty, &sum.name))
    }

    /// The value a sum starts from, in the first iteration alone: those past a loop's end must not start anew.
    fn initial(&mut self, sum: &Sum) -> Result<Vec<Source>, Illegal> {
        let (s, k) = (sum.statement, sum.reduction.read);
        let variable = &self.conditions.system.statements[s].variables[k];
        let pieces: Vec<Piece> = variable.pieces.iter().filter(|p| !is_of_sum(p, s)).cloned().collect();
        let sources = self.sources(s, k, sum.lane, &pieces)?;
        let (axes, time) = self.sums.moves(sum.reduction);
        let over_space = axes.iter().map(|&a| self.conditions.axis(a));
        let first: Vec<Form> = time.iter().map(|&counter| self.conditions.counter(counter)).chain(over_space).collect();
        let at_first = || first.iter().map(|form| Condition { form: form.clone(), equality: true });
        let restrict = |Source { when, node }: Source| {
            Some(Source { when: self.conditions.ranges().simplify_all(when.into_iter().chain(at_first()))?, node })
        };
        Ok(sources.into_iter().filter_map(restrict).collect())
    }

    /// The term of one lane, neutral where the summed dimensions run past their ends.
    fn term(&mut self, sum: &Sum, lane: usize) -> Result<Option<NodeId>, Illegal> {
        let (s, reduction, ty) = (sum.statement, sum.reduction, sum.ty);
        let depth = self.conditions.system.dims.len();
        let inside: Vec<Constraint> = reduction
            .dims
            .iter()
            .zip(&reduction.uppers)
            .map(|(&d, upper)| Constraint { expr: minus(upper, &coordinate(d, depth)), equality: false })
            .collect();
        let Some(conditions) = self.conditions.of(s, &inside, &[], lane) else { return Ok(None) };
        let term = self.expr(s, lane, &reduction.term)?;
        if conditions.is_empty() {
            return Ok(Some(term));
        }
        let neutral = self.neutral(sum);
        let when = self.nodes.guard(&conditions);
        Ok(Some(self.nodes.mux(when, term, neutral, ty, "term")))
    }

    /// Initial value, the neighbour's partial sum, or this PE's own from an earlier wave. A PE's `share` starts at the
    /// neutral element where the initial value belongs to another PE.
    fn previous(&mut self, sum: &Sum, share: bool) -> Result<NodeId, Illegal> {
        let Sum { statement: s, lane, reduction, ty, ref name } = *sum;
        let initial = self.initial(sum)?;
        let target = if share { Target::Share(s, lane) } else { Target::Total(s, lane) };
        let spilled = if share { vec![] } else { self.sums.spilled(s) };
        let mut zeros: Vec<Condition> = Vec::new();
        let mut sources: Vec<Source> = Vec::new();
        for Step { form, hop, waves } in self.sums.steps(reduction, !share) {
            let distance = self.delays.distance(s, &waves)?;
            let waves = distance.most;
            if waves < 0 || (waves == 0 && hop == [0, 0]) {
                let (statement, read) = (StmtId(s as u32), reduction.read);
                let backwards = Backwards { statement, read, producer: statement, distance: None, waves };
                return Err(Illegal::AgainstTime(backwards));
            }
            let through_dram = spilled.iter().any(|&counter| form.counters[counter] != 0);
            let node = if through_dram {
                let array = self.scop.statements[s].reads[reduction.read].array.index();
                let port = self.inputs.read_back(array, s, lane, &spilled);
                self.loaded(port, array)
            } else {
                self.past(Past { target: target.clone(), hop, distance }, ty, name)
            };
            let mut when = zeros.clone();
            when.push(at_least_one(form.clone()));
            sources.push(Source { when, node });
            zeros.push(Condition { form, equality: true });
        }
        // Steps of one outcome need no telling apart, except from a share's start.
        if sources.windows(2).all(|w| w[0].node == w[1].node) {
            sources.truncate(1);
        }
        if share {
            let neutral = self.neutral(sum);
            sources.insert(0, Source { when: zeros, node: neutral });
        }
        Ok(select_step(&mut self.nodes, self.conditions.ranges(), initial, sources, ty, name))
    }
}

/// The partial result that statement `s` itself has left.
fn is_of_sum(piece: &Piece, s: usize) -> bool {
    match piece.feed {
        Feed::Value { statement, .. } => statement.index() == s,
        Feed::Partial { .. } => true,
        Feed::Input { .. } | Feed::Carry { .. } => false,
    }
}
