//! The part of [`Lower`] that builds reductions: chains of partial sums over time, over PEs and over lanes, shares of a
//! sum that each PE keeps, and partial results that go to DRAM and back between tiles.
//!
//! Integers of several lanes are summed in a chain, as DSP slices cascade; floats, whose adders take many cycles, in a
//! balanced tree.

use crate::pe::distance::Distance;
use crate::pe::lower::{at_least_one, Lower, Sourced, Target};
use crate::pe::spill;
use crate::vsa::{NodeId, Op};
use scop::{Affine, BinaryOp, Constraint, ScalarType, StmtId};
use uniform::affine::map::{coordinate, minus};
use uniform::affine::{Condition, Form};
use uniform::design::Dot;
use uniform::mapping::{Role, Waves};
use uniform::recurrence::reduction::Reduction;
use uniform::refusal::{Backwards, Illegal};
use uniform::sizes::Formula;
use uniform::system::{Feed, Piece};

impl Lower<'_> {
    /// The lane with the same digits, but 0 in the digits of summed dimensions.
    pub(super) fn first_lane(&self, reduction: &Reduction, lane: usize) -> usize {
        self.lanes.firsts(&reduction.dims)[lane]
    }

    /// Transformed dimensions of a reduction.
    pub(super) fn reduced(&self, reduction: &Reduction) -> Vec<usize> {
        self.lanes.rows(&reduction.dims)
    }

    /// Over time only, or over space only: one chain. Over both: every PE sums its share over time, and the shares are
    /// summed along the axis, so that no partial sum has to travel back.
    pub(super) fn total(&mut self, s: usize, lane: usize) -> Result<NodeId, Illegal> {
        let reduction = self.reductions[s].clone().expect("a reduction");
        let (axes, time) = self.moves(&reduction);
        if let Some(counter) = self.interleaved(s, &reduction) {
            return self.gather(s, lane, counter);
        }
        if axes.is_empty() || time.is_empty() {
            return self.accumulate(s, lane, false);
        }
        let ty = self.array_type(s);
        let share = self.build(Target::Share(s, lane))?;
        let name = self.name_of(s, reduction.read);
        let mut upstream = self.node(Op::Const(reduction.neutral(ty)), ty, "neutral");
        let mut hop = [0, 0];
        let mut steps = Vec::new();
        for &a in axes.iter().rev() {
            let mut step = hop;
            step[a] += 1;
            steps.push((at_least_one(self.variable_form(Some(a), 0)), step));
            hop[a] -= self.mapping.extent[a] - 1;
        }
        for (condition, hop) in steps.into_iter().rev() {
            let source = self.past(Target::Total(s, lane), hop, Distance::constant(0), ty, &name);
            let when = self.guard(&[condition]);
            upstream = self.node(Op::Select(when, source, upstream), ty, &name);
            self.out.muxes.push(upstream);
        }
        Ok(self.node(Op::Binary(reduction.op, upstream, share), ty, "total"))
    }

    /// Axes and counters that a reduction runs over, outermost first.
    pub(super) fn moves(&self, reduction: &Reduction) -> (Vec<usize>, Vec<usize>) {
        spill::moves(self.mapping, &self.reduced(reduction))
    }

    /// Value of one axis or counter.
    pub(super) fn variable_form(&self, axis: Option<usize>, counter: usize) -> Form {
        let mut form = Form { constant: 0, counters: vec![0; self.mapping.counters.len()], space: [0, 0] };
        match axis {
            Some(a) => form.space[a] = 1,
            None => form.counters[counter] = 1,
        }
        form
    }

    /// What came before, plus the terms of this group's lanes.
    pub(super) fn accumulate(&mut self, s: usize, lane: usize, share: bool) -> Result<NodeId, Illegal> {
        let reduction = self.reductions[s].clone().expect("a reduction");
        let ty = self.array_type(s);
        let previous = match self.interleaved(s, &reduction) {
            Some(counter) => self.previous_of_several(s, lane, &reduction, counter)?,
            None => self.previous(s, lane, &reduction, share)?,
        };
        let lanes: Vec<usize> = (0..self.mapping.lanes()).filter(|&l| self.first_lane(&reduction, l) == lane).collect();
        let mut terms = Vec::new();
        for l in lanes {
            if let Some(term) = self.term(s, l, &reduction)? {
                terms.push(term);
            }
        }
        let combine = if reduction.subtract { BinaryOp::Sub } else { reduction.op };
        if let Some(pairs) = self.dot_pairs(&reduction, &terms, ty) {
            return Ok(self.node(Op::Dot { pairs, addend: previous }, ty, "dot"));
        }
        if ty.is_float() {
            return Ok(match self.balanced(terms, &reduction, ty) {
                Some(sum) => self.joined(&reduction, combine, previous, sum, ty),
                None => previous,
            });
        }
        if self.options.accumulate_first {
            return Ok(terms.into_iter().fold(previous, |acc, t| self.node(Op::Binary(combine, acc, t), ty, "acc")));
        }
        let sum = terms.into_iter().reduce(|acc, t| self.node(Op::Binary(reduction.op, acc, t), ty, "sum"));
        Ok(match sum {
            Some(sum) => self.node(Op::Binary(combine, previous, sum), ty, "acc"),
            None => previous,
        })
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

    /// The factors of a product; of one that is chosen by a condition, both are zero where it is false.
    fn factors(&mut self, term: NodeId, ty: ScalarType) -> Option<[NodeId; 2]> {
        match self.out.nodes[term.index()].op {
            Op::Binary(BinaryOp::Mul, x, y) => Some([x, y]),
            Op::Select(when, product, _) if self.out.muxes.contains(&term) => {
                let factors = self.factors(product, ty)?;
                let zero = self.node(Op::Const(0), ty, "zero");
                Some(factors.map(|x| {
                    let factor = self.node(Op::Select(when, x, zero), ty, "factor");
                    self.out.muxes.push(factor);
                    factor
                }))
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
        let op = match self.out.nodes[b.index()].op {
            Op::Binary(BinaryOp::Mul, x, y) if reduction.fused => Op::Fma(x, y, a),
            _ => Op::Binary(op, a, b),
        };
        self.node(op, ty, "acc")
    }

    /// The counter over which sums of statement `s` are interleaved, if they are: the only one that its reduction runs
    /// over, with more values than there are sums; the last value belongs to the sum's last term.
    fn interleaved(&self, s: usize, reduction: &Reduction) -> Option<usize> {
        let (axes, time) = self.moves(reduction);
        let mut long = time.into_iter().filter(|&counter| self.mapping.counters[counter].trip > 1);
        let (Some(counter), None) = (long.next(), long.next()) else { return None };
        let trip = self.cases(s).into_iter().map(|case| self.mapping.trip(counter, case)).min().unwrap_or(1);
        let reaches = |(d, upper): (usize, &Affine)| {
            let last = upper.constant - self.mapping.bounds[d].0;
            self.cases(s).into_iter().all(|case| {
                self.mapping.digits[d].iter().all(|x| (self.mapping.trip_of(x, case) - 1) * x.weight <= last)
            })
        };
        let filled = reduction.uppers.iter().all(|u| u.is_constant())
            && self.reduced(reduction).into_iter().zip(&reduction.uppers).all(reaches);
        let wanted = self.options.interleave > 1 && self.array_type(s).is_float() && trip > self.options.interleave;
        (wanted && filled && axes.is_empty() && self.spilled(s).is_empty()).then_some(counter)
    }

    /// The sum of the interleaved sums, right in the last wave of the reduction: of the last two waves, of the last two
    /// of those, and so on.
    fn gather(&mut self, s: usize, lane: usize, counter: usize) -> Result<NodeId, Illegal> {
        let reduction = self.reductions[s].clone().expect("a reduction");
        let (ty, name) = (self.array_type(s), self.name_of(s, reduction.read));
        let mut sum = self.build(Target::Share(s, lane))?;
        let mut reach = 1;
        while reach < self.options.interleave {
            let waves = self.constant(s, &self.mapping.strides(counter, reach))?;
            let earlier = self.node(Op::Past { source: sum, hop: [0, 0], waves: Formula::Const(waves) }, ty, &name);
            sum = self.node(Op::Binary(reduction.op, earlier, sum), ty, "total");
            reach *= 2;
        }
        Ok(sum)
    }

    /// What one of several interleaved sums is added to: the initial value in the first wave, then nothing until it is
    /// the first sum's turn again, then the same sum's last value.
    fn previous_of_several(
        &mut self,
        s: usize,
        lane: usize,
        reduction: &Reduction,
        counter: usize,
    ) -> Result<NodeId, Illegal> {
        let initial = self.initial(s, lane, reduction)?;
        let (ty, name) = (self.array_type(s), self.name_of(s, reduction.read));
        let sums = self.options.interleave;
        let waves = self.constant(s, &self.mapping.strides(counter, sums))?;
        let own = self.past(Target::Share(s, lane), [0, 0], Distance::constant(waves), ty, &name);
        let neutral = self.node(Op::Const(reduction.neutral(ty)), ty, "neutral");
        let mut again = self.variable_form(None, counter);
        again.constant = -sums;
        let steps = vec![(vec![Condition { form: again, equality: false }], own), (vec![], neutral)];
        self.reduction_select(initial, steps, ty, &name)
    }

    /// The value a sum starts from, in the first iteration alone: those past a loop's end must not start anew.
    fn initial(&mut self, s: usize, lane: usize, reduction: &Reduction) -> Result<Vec<Sourced>, Illegal> {
        let k = reduction.read;
        let pieces: Vec<Piece> =
            self.system.statements[s].variables[k].pieces.iter().filter(|p| !is_own(p, s)).cloned().collect();
        let sources = self.sources(s, k, lane, &pieces)?;
        let (axes, time) = self.moves(reduction);
        let over_space = axes.iter().map(|&a| self.variable_form(Some(a), 0));
        let first: Vec<Form> =
            time.iter().map(|&counter| self.variable_form(None, counter)).chain(over_space).collect();
        let at_first = || first.iter().map(|form| Condition { form: form.clone(), equality: true });
        let restrict =
            |(all, node): Sourced| Some((self.ranges().simplify_all(all.into_iter().chain(at_first()))?, node));
        Ok(sources.into_iter().filter_map(restrict).collect())
    }

    /// The term of one lane, neutral where the summed dimensions run past their ends.
    pub(super) fn term(&mut self, s: usize, lane: usize, reduction: &Reduction) -> Result<Option<NodeId>, Illegal> {
        let inside: Vec<Constraint> = reduction
            .dims
            .iter()
            .zip(&reduction.uppers)
            .map(|(&d, upper)| Constraint { expr: minus(upper, &coordinate(d, self.depth())), equality: false })
            .collect();
        let Some(conditions) = self.conditions(s, &inside, &[], lane) else { return Ok(None) };
        let term = self.expr(s, lane, &reduction.term)?;
        if conditions.is_empty() {
            return Ok(Some(term));
        }
        let ty = self.array_type(s);
        let neutral = self.node(Op::Const(reduction.neutral(ty)), ty, "neutral");
        let when = self.guard(&conditions);
        let term = self.node(Op::Select(when, term, neutral), ty, "term");
        self.out.muxes.push(term);
        Ok(Some(term))
    }

    /// Initial value, the neighbour's partial sum, or this PE's own from an earlier wave. A PE's `share` starts at the
    /// neutral element where the initial value belongs to another PE.
    pub(super) fn previous(
        &mut self,
        s: usize,
        lane: usize,
        reduction: &Reduction,
        share: bool,
    ) -> Result<NodeId, Illegal> {
        let k = reduction.read;
        let initial = self.initial(s, lane, reduction)?;
        let mut sources: Vec<Sourced> = Vec::new();
        let ty = self.array_type(s);
        let name = self.name_of(s, k);
        let (axes, time) = self.moves(reduction);
        let target = if share { Target::Share(s, lane) } else { Target::Total(s, lane) };
        // Odometer, innermost first: the last axis, then the others, then the counters from the innermost one.
        let (mut hop, mut waves) = ([0, 0], Waves::default());
        let mut zeros: Vec<Condition> = Vec::new();
        let spilled = if share { vec![] } else { self.spilled(s) };
        let mut steps: Vec<(Form, [i64; 2], Waves)> = Vec::new();
        for &a in axes.iter().rev().filter(|_| !share) {
            let mut step = hop;
            step[a] += 1;
            steps.push((self.variable_form(Some(a), 0), step, Waves::default()));
            hop[a] -= self.mapping.extent[a] - 1;
        }
        for &counter in time.iter().rev() {
            let stride = self.mapping.strides(counter, 1);
            waves = waves.plus(&stride);
            steps.push((self.variable_form(None, counter), hop, waves.clone()));
            waves = waves.minus(&stride.times(self.mapping, counter));
        }
        for (form, hop, waves) in steps {
            let distance = self.distance(s, &waves)?;
            let waves = distance.most;
            if waves < 0 || (waves == 0 && hop == [0, 0]) {
                let statement = StmtId(s as u32);
                return Err(Illegal::AgainstTime(Backwards {
                    statement,
                    read: k,
                    producer: statement,
                    distance: None,
                    waves,
                }));
            }
            let through_dram = spilled.iter().any(|&counter| form.counters[counter] != 0);
            let node = if through_dram {
                self.read_back(s, k, lane, &spilled)
            } else {
                self.past(target.clone(), hop, distance, ty, &name)
            };
            let mut conditions = zeros.clone();
            conditions.push(at_least_one(form.clone()));
            sources.push((conditions, node));
            zeros.push(Condition { form, equality: true });
        }
        // Steps of one outcome need no telling apart, except from a share's start.
        if sources.windows(2).all(|w| w[0].1 == w[1].1) {
            sources.truncate(1);
        }
        if share {
            let neutral = self.node(Op::Const(reduction.neutral(ty)), ty, "neutral");
            sources.insert(0, (zeros, neutral));
        }
        self.reduction_select(initial, sources, ty, &name)
    }

    /// `initial` where its conditions hold, else the first of `steps` that applies.
    pub(super) fn reduction_select(
        &mut self,
        initial: Vec<Sourced>,
        mut steps: Vec<Sourced>,
        ty: ScalarType,
        name: &str,
    ) -> Result<NodeId, Illegal> {
        if initial.iter().any(|(c, _)| c.is_empty()) || steps.is_empty() {
            return self.select_source(initial, ty, name);
        }
        let (_, mut value) = steps.pop().expect("checked");
        for (conditions, node) in steps.into_iter().rev().chain(initial) {
            let when = self.guard(&conditions);
            value = self.node(Op::Select(when, node, value), ty, name);
            self.out.muxes.push(value);
        }
        Ok(value)
    }

    /// Tile counters over which partial results of the statement's sum go to DRAM. Nobody else uses the array then.
    pub(super) fn spilled(&self, s: usize) -> Vec<usize> {
        let may = spill::may_spill(self.scop, self.system, self.mapping.phases(), s);
        let Some(reduction) = self.reductions[s].as_ref().filter(|_| may) else { return vec![] };
        let placed = &self.system.statements[s];
        let moving = |counter: usize| placed.write.iter().any(|a| self.mapping.form(a, 0).counters[counter] != 0);
        spill::spilled(self.mapping, &self.reduced(reduction), moving, self.options.spill_beyond)
    }

    /// The reduction runs over time and space: every PE sums a share.
    pub(super) fn is_shared(&self, reduction: &Reduction) -> bool {
        let (axes, time) = self.moves(reduction);
        !axes.is_empty() && !time.is_empty()
    }

    /// Sizes tell in which of the lanes that share the sum its last term is.
    pub(super) fn ends_in_any_lane(&self, reduction: &Reduction) -> bool {
        let ended = |d: &usize| self.mapping.digits[*d].iter().any(|x| x.role == Role::Lane);
        let reduced = self.reduced(reduction);
        reduced.iter().zip(&reduction.uppers).any(|(d, upper)| !upper.is_constant() && ended(d))
    }

    /// The digits of a summed dimension reach past its end, where statement `s` is executed. A shared sum is then
    /// complete only after its last iteration's own wave.
    pub(super) fn is_padded(&self, reduction: &Reduction, s: usize) -> bool {
        let fills = |row: usize, upper: &Affine| {
            let last = |case: Option<usize>| {
                self.mapping.digits[row].iter().map(|x| (self.mapping.trip_of(x, case) - 1) * x.weight).sum::<i64>()
            };
            self.cases(s).into_iter().all(|case| last(case) == upper.constant - self.mapping.bounds[row].0)
        };
        let rows = self.reduced(reduction);
        let all = reduction.dims.iter().zip(&reduction.uppers).zip(rows);
        all.into_iter()
            .any(|((&d, upper), row)| !self.ends.contains(s, d) && !(upper.is_constant() && fills(row, upper)))
    }

    /// The sum (or, where spilled, a visit's share of it) is complete: the summed digits are at their ends, except the
    /// spilled counters.
    pub(super) fn partial_done(
        &self,
        s: usize,
        reduction: &Reduction,
        emit_when: &[Vec<Constraint>],
        spilled: &[usize],
        lane: usize,
    ) -> Vec<Vec<Condition>> {
        if self.first_lane(reduction, lane) != lane {
            return vec![];
        }
        let (axes, time) = self.moves(reduction);
        let end = |mut form: Form, trip: i64| {
            form.constant = 1 - trip;
            Condition { form, equality: true }
        };
        let over_space = axes.into_iter().map(|a| end(self.variable_form(Some(a), 0), self.mapping.extent[a]));
        let over_space: Vec<Condition> = over_space.collect();
        let time: Vec<usize> = time.into_iter().filter(|counter| !spilled.contains(counter)).collect();
        let free = |c: &&Constraint| reduction.dims.iter().all(|&d| c.expr.coeffs[d] == 0);
        let mut all = vec![];
        for over_time in self.ends_in_time(s, &time) {
            all.extend(emit_when.iter().filter_map(|when| {
                let kept: Vec<Constraint> = when.iter().filter(free).cloned().collect();
                let conditions = self.conditions(s, &kept, &[], lane)?;
                self.ranges().simplify_all(conditions.into_iter().chain(over_time.iter().chain(&over_space).cloned()))
            }));
        }
        all
    }

    /// Where the counters are at their ends while statement `s` is executed: the same in all of its phases, or in those
    /// of each case.
    fn ends_in_time(&self, s: usize, counters: &[usize]) -> Vec<Vec<Condition>> {
        let ends = |case: Option<usize>| -> Vec<Condition> {
            counters.iter().map(|&counter| self.mapping.ends(counter, case)).collect()
        };
        let cases = self.cases(s);
        if cases.iter().all(|&case| ends(case) == ends(cases[0])) {
            return vec![ends(cases[0])];
        }
        cases.into_iter().map(|case| [self.mapping.during(case), ends(case)].concat()).collect()
    }
}

/// The partial result that statement `s` itself has left.
fn is_own(piece: &Piece, s: usize) -> bool {
    match piece.feed {
        Feed::Value { statement, .. } => statement.index() == s,
        Feed::Partial { .. } => true,
        Feed::Input { .. } | Feed::Carry { .. } => false,
    }
}
