//! System + mapping → the nodes of a PE, input groups and output groups (without their layouts: see `layout`).
//!
//! Demand-driven from the values that stay in DRAM; equal nodes are shared. A variable becomes a chain of selects over
//! its sources, each a `Past` node, a value of the same wave, or an input; conditions that the ranges of the loops
//! decide cost nothing, and the last source needs none.

use crate::draft::Lowered;
use crate::pe::distance::Distance;
use crate::pe::ends::Ends;
use crate::pe::lanes::Lanes;
use crate::pe::Options;
use crate::vsa::{Node, NodeId, Op};
use rustc_hash::FxHashMap;
use scop::{Affine, BinaryOp, Constraint, Expr, ExprKind, ScalarType, Scop, StmtId};
use std::collections::BTreeMap;
use uniform::affine::{Condition, Form, Ranges};
use uniform::mapping::{Carry, DigitBound, Mapping};
use uniform::recurrence::reduction::Reduction;
use uniform::recurrence::share::Sharing;
use uniform::refusal::{Backwards, Illegal};
use uniform::sizes::Formula;
use uniform::system::{Feed, Piece, ReadId, System};

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Target {
    Value(usize, usize),
    Variable(usize, usize, usize),
    /// Running total of a reduction for a group of lanes.
    Total(usize, usize),
    /// Its share that stays in one PE, where the reduction runs over time and space.
    Share(usize, usize),
}

impl Target {
    fn statement(&self) -> usize {
        match *self {
            Target::Value(s, _) | Target::Variable(s, ..) | Target::Total(s, _) | Target::Share(s, _) => s,
        }
    }
}

/// Where a value comes from.
enum Origin {
    Here(Target),
    /// So many hops and waves away.
    Past(Target, [i64; 2], Distance),
    Input(Vec<Affine>),
}

pub(super) type Sourced = (Vec<Condition>, NodeId);

pub(super) struct Lower<'a> {
    pub(super) scop: &'a Scop,
    pub(super) system: &'a System,
    pub(super) mapping: &'a Mapping,
    pub(super) reductions: &'a [Option<Reduction>],
    pub(super) options: Options,
    /// Where statements share operators.
    pub(super) sharing: Option<&'a Sharing>,
    pub(super) lanes: Lanes<'a>,
    pub(super) ends: Ends,
    pub(super) out: Lowered,
    pub(super) shared: FxHashMap<(Op, ScalarType), NodeId>,
    pub(super) built: BTreeMap<Target, NodeId>,
    pub(super) open: Vec<Target>,
    pub(super) pasts: BTreeMap<(Target, [i64; 2], Distance), NodeId>,
}

pub(super) fn at_least_one(mut form: Form) -> Condition {
    form.constant = -1;
    Condition { form, equality: false }
}

/// # Errors
/// The first dependence that runs against the mapping's time, or a program with nothing to compute.
pub fn lower(
    scop: &Scop,
    system: &System,
    mapping: &Mapping,
    reductions: &[Option<Reduction>],
    sharing: Option<&Sharing>,
    options: Options,
) -> Result<Lowered, Illegal> {
    let mut lower = Lower {
        scop,
        system,
        mapping,
        reductions,
        options,
        sharing,
        lanes: Lanes::of(mapping),
        ends: Ends::find(system, mapping, reductions)?,
        out: Lowered { scalars: scalars(scop), maxima: system.maxima(), ..Lowered::default() },
        shared: FxHashMap::default(),
        built: BTreeMap::new(),
        open: vec![],
        pasts: BTreeMap::new(),
    };
    for s in 0..system.statements.len() {
        lower.output(s)?;
    }
    lower.resolve_pasts()?;
    lower.sort_ports();
    Ok(lower.out)
}

/// In the order of the function's parameters.
fn scalars(scop: &Scop) -> Vec<usize> {
    let mut all: Vec<usize> = (0..scop.arrays.len()).filter(|&a| scop.arrays[a].by_value().is_some()).collect();
    all.sort_by_key(|&a| scop.arrays[a].by_value());
    all
}

impl<'a> Lower<'a> {
    pub(super) fn depth(&self) -> usize {
        self.system.dims.len()
    }

    pub(super) fn ranges(&self) -> &Ranges {
        &self.lanes.ranges
    }

    pub(super) fn node(&mut self, op: Op, ty: ScalarType, name: &str) -> NodeId {
        let nodes = &mut self.out.nodes;
        *self.shared.entry((op, ty)).or_insert_with_key(|(op, _)| {
            nodes.push(Node { op: op.clone(), ty, name: name.to_string() });
            NodeId(nodes.len() as u32 - 1)
        })
    }

    /// Which cases the statement's phases are.
    pub(super) fn cases(&self, s: usize) -> Vec<Option<usize>> {
        self.mapping.cases_of(self.system, s)
    }

    pub(super) fn array_type(&self, s: usize) -> ScalarType {
        self.scop.array(self.scop.statements[s].write.array).ty
    }

    // ---- conditions

    /// The conjunction over counters and PE for statement `s` in one lane: none or one simplified conjunction.
    pub(super) fn conditions(
        &self,
        s: usize,
        constraints: &[Constraint],
        when: &[DigitBound],
        lane: usize,
    ) -> Option<Vec<Condition>> {
        let (constraints, at_end) = self.ends.apply(s, constraints, self.mapping, &self.lanes.digits[lane])?;
        let mut conditions = Vec::new();
        constraints.iter().try_for_each(|c| self.lanes.ask(c, lane, &mut conditions))?;
        let digits = when.iter().map(|b| {
            let mut form = self.mapping.digit_form(b.dim, b.digit, lane);
            let sign = if b.at_least { 1 } else { -1 };
            form.counters.iter_mut().for_each(|c| *c *= sign);
            form.space = form.space.map(|c| c * sign);
            form.constant = sign * (form.constant - b.value);
            Condition { form, equality: false }
        });
        conditions.extend(self.ranges().simplify_all(digits.chain(at_end))?);
        conditions.sort();
        conditions.dedup();
        Some(conditions)
    }

    pub(super) fn guard(&mut self, conditions: &[Condition]) -> NodeId {
        if conditions.is_empty() {
            return self.node(Op::Const(1), ScalarType::BOOL, "always");
        }
        self.node(Op::Guard(conditions.to_vec()), ScalarType::BOOL, "when")
    }

    pub(super) fn guard_any(&mut self, any: &[Vec<Condition>]) -> NodeId {
        let mut ids: Vec<NodeId> = Vec::new();
        for all in any {
            let id = self.guard(all);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids.into_iter()
            .reduce(|a, b| self.node(Op::Binary(BinaryOp::Or, a, b), ScalarType::BOOL, "when"))
            .expect("at least one conjunction")
    }

    // ---- values

    pub(super) fn build(&mut self, target: Target) -> Result<NodeId, Illegal> {
        let of = (!matches!(target, Target::Variable(..))).then(|| target.statement());
        let id = self.built_once(self.canonical(target))?;
        if let Some(statement) = of {
            self.out.statements.entry(id).or_default().insert(statement);
        }
        Ok(id)
    }

    fn built_once(&mut self, target: Target) -> Result<NodeId, Illegal> {
        if let Some(&id) = self.built.get(&target) {
            return Ok(id);
        }
        if self.open.contains(&target) {
            return Err(Illegal::Circular(StmtId(target.statement() as u32)));
        }
        self.open.push(target.clone());
        let id = match target {
            Target::Value(s, lane) => self.value_of(s, lane)?,
            Target::Variable(s, k, lane) => self.variable(s, k, lane)?,
            Target::Total(s, lane) => self.total(s, lane)?,
            Target::Share(s, lane) => self.accumulate(s, lane, true)?,
        };
        self.open.pop();
        self.built.insert(target, id);
        Ok(id)
    }

    pub(super) fn value(&mut self, s: usize, lane: usize) -> Result<NodeId, Illegal> {
        let target = self.value_target(s, lane);
        self.build(target)
    }

    /// Lanes of a reduction share one total.
    fn value_target(&self, s: usize, lane: usize) -> Target {
        match &self.reductions[s] {
            None => Target::Value(s, lane),
            Some(reduction) => Target::Total(s, self.first_lane(reduction, lane)),
        }
    }

    fn value_of(&mut self, s: usize, lane: usize) -> Result<NodeId, Illegal> {
        if let Some(joint) = self.joint_value(s, lane) {
            return joint;
        }
        let scop = self.scop;
        let rhs = &scop.statements[s].rhs;
        let value = self.expr(s, lane, rhs)?;
        let ty = self.array_type(s);
        Ok(if rhs.ty == ty { value } else { self.node(Op::Cast(value), ty, "store") })
    }

    pub(super) fn expr(&mut self, s: usize, lane: usize, expr: &Expr) -> Result<NodeId, Illegal> {
        let op = match &expr.kind {
            ExprKind::Const(bits) => Op::Const(*bits),
            ExprKind::Iter(affine) => {
                let form = self.iterated(affine, s, lane);
                match self.ranges().bounds(&form) {
                    (lo, hi) if lo == hi => Op::Const(scop::value::mask(expr.ty.bits()) & lo as u64),
                    _ => Op::Iter(form),
                }
            }
            ExprKind::Holds(all) => {
                let over = |c: &Constraint| Constraint {
                    expr: uniform::affine::map::compose(&c.expr, &self.system.statements[s].iterators, self.depth()),
                    ..c.clone()
                };
                match self.conditions(s, &all.iter().map(over).collect::<Vec<_>>(), &[], lane) {
                    Some(conditions) => return Ok(self.guard(&conditions)),
                    None => Op::Const(0),
                }
            }
            ExprKind::Read(k) => return self.build(Target::Variable(s, *k, lane)),
            ExprKind::Unary(op, a) => Op::Unary(*op, self.expr(s, lane, a)?),
            ExprKind::Binary(op, a, b) => Op::Binary(*op, self.expr(s, lane, a)?, self.expr(s, lane, b)?),
            ExprKind::Select(c, a, b) => {
                Op::Select(self.expr(s, lane, c)?, self.expr(s, lane, a)?, self.expr(s, lane, b)?)
            }
            ExprKind::Cast(a) => {
                let inner = self.expr(s, lane, a)?;
                if a.ty == expr.ty {
                    return Ok(inner);
                }
                if let Op::Const(bits) = self.out.nodes[inner.index()].op {
                    Op::Const(scop::value::cast(bits, a.ty, expr.ty))
                } else {
                    Op::Cast(inner)
                }
            }
            ExprKind::Lookup(table, a) => match &a.kind {
                ExprKind::Iter(affine) => return Ok(self.looked_up(table, &self.iterated(affine, s, lane), expr.ty)),
                _ => Op::Lookup(table.clone(), self.expr(s, lane, a)?),
            },
            ExprKind::Host(..) => unreachable!("a function that the host computes"),
            ExprKind::Fma(a, b, c) => Op::Fma(self.expr(s, lane, a)?, self.expr(s, lane, b)?, self.expr(s, lane, c)?),
        };
        Ok(self.node(op, expr.ty, ""))
    }

    /// A form over a statement's iterators, in the array.
    fn iterated(&self, affine: &scop::Affine, s: usize, lane: usize) -> Form {
        self.lanes
            .form(&uniform::affine::map::compose(affine, &self.system.statements[s].iterators, self.depth()), lane)
    }

    /// The constant at a position that iterators give: only the part of the table that this lane can reach is kept.
    fn looked_up(&mut self, table: &[u64], position: &Form, ty: ScalarType) -> NodeId {
        let (low, high) = self.ranges().bounds(position);
        let last = table.len() as i64 - 1;
        let (low, high) = (low.clamp(0, last), high.clamp(0, last));
        let part = &table[low as usize..=high as usize];
        if part.iter().all(|v| v == &part[0]) {
            return self.node(Op::Const(part[0]), ty, "");
        }
        let index = ScalarType::Int { bits: 16, signed: false };
        let at = self.node(Op::Iter(Form { constant: position.constant - low, ..position.clone() }), index, "");
        self.node(Op::Lookup(part.into(), at), ty, "")
    }

    // ---- variables

    fn variable(&mut self, s: usize, k: usize, lane: usize) -> Result<NodeId, Illegal> {
        let reads = self.joint_reads(s, k);
        if reads.len() > 1 {
            return self.merged(&reads, lane);
        }
        let system = self.system;
        let sources = self.sources(s, k, lane, &system.statements[s].variables[k].pieces)?;
        let ty = self.read_type(s, k);
        self.select_source(sources, ty, &self.name_of(s, k))
    }

    /// One variable for reads of statements that share operators.
    pub(super) fn merged(&mut self, reads: &[ReadId], lane: usize) -> Result<NodeId, Illegal> {
        let mut sources = Vec::new();
        for &ReadId { statement: s, read: k } in reads {
            // Where one of the statements is executed is not known here.
            let whole = |p: &Piece| Piece { when: p.domain.clone(), ..p.clone() };
            let pieces: Vec<Piece> = self.system.statements[s].variables[k].pieces.iter().map(whole).collect();
            sources.extend(self.sources(s, k, lane, &pieces)?);
        }
        let ReadId { statement: s, read: k } = reads[0];
        self.select_source(sources, self.read_type(s, k), &self.name_of(s, k))
    }

    fn read_type(&self, s: usize, k: usize) -> ScalarType {
        self.scop.array(self.scop.statements[s].reads[k].array).ty
    }

    pub(super) fn name_of(&self, s: usize, k: usize) -> String {
        self.scop.array(self.scop.statements[s].reads[k].array).name.to_lowercase()
    }

    pub(super) fn sources(
        &mut self,
        s: usize,
        k: usize,
        lane: usize,
        pieces: &[Piece],
    ) -> Result<Vec<Sourced>, Illegal> {
        let mut found = Vec::new();
        for piece in pieces {
            self.check_complete(s, k, piece)?;
            for (when, origin) in self.origins([s, k], lane, piece)? {
                let Some(conditions) = self.conditions(s, &piece.when, &when, lane) else { continue };
                if let Origin::Past(_, _, Distance { most: waves @ ..0, .. }) = origin {
                    return Err(self.against_time(s, k, &piece.feed, waves));
                }
                // The statement's own domain is known where its value is used, but not where feeders must stand.
                let Some(whole) = self.conditions(s, &piece.domain, &when, lane) else { continue };
                let node = self.source(s, k, lane, origin, &whole)?;
                found.push((conditions, node));
            }
        }
        Ok(found)
    }

    /// Nobody inside the array may use a shared sum before it is complete.
    fn check_complete(&self, s: usize, k: usize, piece: &Piece) -> Result<(), Illegal> {
        let Feed::Value { statement, .. } = piece.feed else { return Ok(()) };
        let own = statement.index() == s && self.reductions[s].as_ref().is_some_and(|r| r.read == k);
        match &self.reductions[statement.index()] {
            Some(reduction) if !own && self.is_shared(reduction) && self.is_padded(reduction, s) => {
                Err(Illegal::IncompleteSum {
                    statement: StmtId(s as u32),
                    read: k,
                    dim: self.system.dims[reduction.dims[0]].name.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    fn against_time(&self, s: usize, k: usize, feed: &Feed, waves: i64) -> Illegal {
        let (producer, distance) = match feed {
            Feed::Value { statement, distance } | Feed::Carry { statement, distance, .. } => {
                (*statement, Some(distance.clone()))
            }
            Feed::Input { .. } | Feed::Partial { .. } => (StmtId(s as u32), None),
        };
        Illegal::AgainstTime(Backwards { statement: StmtId(s as u32), read: k, producer, distance, waves })
    }

    /// Where the value of one piece of read `k` of statement `s` comes from, by carry case.
    fn origins(
        &mut self,
        [s, k]: [usize; 2],
        lane: usize,
        piece: &Piece,
    ) -> Result<Vec<(Vec<DigitBound>, Origin)>, Illegal> {
        let (producer, distance) = match &piece.feed {
            Feed::Input { subscripts } => return Ok(vec![(vec![], Origin::Input(subscripts.clone()))]),
            Feed::Value { statement, distance } => ((statement.index(), None), distance),
            Feed::Carry { statement, read, distance } => ((statement.index(), Some(*read)), distance),
            Feed::Partial { .. } => return Err(Illegal::MixedSum { statement: StmtId(s as u32), read: k }),
        };
        let mut all = Vec::new();
        for carry in self.lanes.carries(distance).iter() {
            let Carry { when, waves, hop, lanes, .. } = carry;
            let digits: Vec<i64> = self.lanes.digits[lane].iter().zip(lanes).map(|(a, b)| a - b).collect();
            let Some(from) = self.mapping.lane_number(&digits) else { continue };
            let target = match producer {
                (t, None) => self.value_target(t, from),
                (t, Some(read)) => Target::Variable(t, read, from),
            };
            let distance = if carry.before.is_empty() {
                self.distance(s, waves)?
            } else {
                self.handed_on([s, k], lane, piece, carry)?
            };
            let origin = if distance.most == 0 && *hop == [0, 0] {
                Origin::Here(target)
            } else {
                Origin::Past(target, *hop, distance)
            };
            all.push((when.clone(), origin));
        }
        Ok(all)
    }

    /// `when`: where it is read.
    fn source(
        &mut self,
        s: usize,
        k: usize,
        lane: usize,
        origin: Origin,
        when: &[Condition],
    ) -> Result<NodeId, Illegal> {
        match origin {
            Origin::Here(target) => self.build(target),
            Origin::Past(target, hop, distance) => {
                let ty = self.read_type(s, k);
                Ok(self.past(target, hop, distance, ty, &self.name_of(s, k)))
            }
            Origin::Input(subscripts) => {
                let array = self.scop.statements[s].reads[k].array.index();
                let scalar = self.out.scalars.iter().position(|&a| a == array);
                Ok(match scalar {
                    Some(scalar) => {
                        let (ty, name) = (self.scop.arrays[array].ty, self.name_of(s, k));
                        let cell = self.node(Op::Scalar(scalar as u32), ty.cell(), &name);
                        self.converted(cell, ty, &name)
                    }
                    None => self.input(s, k, lane, &subscripts, when),
                })
            }
        }
    }

    pub(super) fn past(
        &mut self,
        target: Target,
        hop: [i64; 2],
        distance: Distance,
        ty: ScalarType,
        name: &str,
    ) -> NodeId {
        let name = format!("{name}_in");
        if distance.more > 0 {
            let near = self.past_node(target, hop, Distance { more: 0, ..distance }, ty, &name);
            let waves = Formula::Const(distance.more);
            return self.node(Op::Past { source: near, hop: [0, 0], waves }, ty, &name);
        }
        self.past_node(target, hop, distance, ty, &name)
    }

    fn past_node(&mut self, target: Target, hop: [i64; 2], distance: Distance, ty: ScalarType, name: &str) -> NodeId {
        let key = (self.canonical(target), hop, distance);
        if let Some(&id) = self.pasts.get(&key) {
            return id;
        }
        let id = NodeId(self.out.nodes.len() as u32);
        let waves = key.2.waves.clone();
        self.out.nodes.push(Node { op: Op::Past { source: id, hop, waves }, ty, name: name.into() });
        self.pasts.insert(key, id);
        id
    }

    fn resolve_pasts(&mut self) -> Result<(), Illegal> {
        let mut done = 0;
        loop {
            let open: Vec<_> = self.pasts.iter().map(|(k, &id)| (k.clone(), id)).collect();
            if open.len() == done {
                return Ok(());
            }
            for ((target, hop, distance), id) in &open {
                let source = self.build(target.clone())?;
                // A scalar is the same everywhere and at all times.
                let op = match self.out.nodes[source.index()].op {
                    Op::Scalar(k) => Op::Scalar(k),
                    _ => Op::Past { source, hop: *hop, waves: distance.waves.clone() },
                };
                self.out.nodes[id.index()].op = op;
            }
            done = open.len();
        }
    }

    /// Folds sources into selects; sources whose conditions never hold are already gone.
    pub(super) fn select_source(
        &mut self,
        mut sources: Vec<Sourced>,
        ty: ScalarType,
        name: &str,
    ) -> Result<NodeId, Illegal> {
        if sources.is_empty() {
            // Never executed in this lane: any value does.
            return Ok(self.node(Op::Const(0), ty, "unused"));
        }
        if let Some(k) = sources.iter().position(|(c, _)| c.is_empty()) {
            sources = vec![sources.swap_remove(k)];
        }
        // The dearest condition is left to the default.
        sources.sort_by_key(|(c, _)| (c.iter().filter(|c| !c.form.is_time_only()).count(), c.len()));
        let mut merged: Vec<(Vec<Vec<Condition>>, NodeId)> = Vec::new();
        for (conditions, node) in sources {
            match merged.iter_mut().find(|(_, n)| *n == node) {
                Some((any, _)) => any.push(conditions),
                None => merged.push((vec![conditions], node)),
            }
        }
        self.relax(&mut merged);
        let (_, mut value) = merged.pop().expect("not empty");
        for (any, node) in merged.into_iter().rev() {
            let when = self.guard_any(&any);
            value = self.node(Op::Select(when, node, value), ty, name);
            self.out.muxes.push(value);
        }
        Ok(value)
    }

    /// Leaves out conditions that the others do not need to tell a source from those behind it: what is asked first
    /// stays right where it is selected, and one that compares wave with PE costs more than one that is fixed in a PE.
    /// What keeps an earlier wave's value out of a PE stays: there is no memory for it then.
    fn relax(&self, sources: &mut [(Vec<Vec<Condition>>, NodeId)]) {
        let cost = |c: &Condition| match (c.form.is_time_only(), c.form.counters.iter().any(|&c| c != 0)) {
            (false, true) => 0,
            (true, _) => 1,
            (false, false) => 2,
        };
        for at in 0..sources.len() {
            let (here, behind) = sources.split_at_mut(at + 1);
            let kept = self.out.nodes[here[at].1.index()].op.is_delayed();
            for all in &mut here[at].0 {
                all.sort_by_key(cost);
                let mut k = 0;
                while k < all.len() && !(kept && cost(&all[k]) == 2) {
                    let without = || all.iter().enumerate().filter(move |(i, _)| *i != k).map(|x| x.1);
                    let apart =
                        behind.iter().flat_map(|b| &b.0).all(|other| !self.ranges().feasible(without().chain(other)));
                    if apart {
                        drop(all.remove(k))
                    } else {
                        k += 1
                    }
                }
                all.sort();
            }
        }
    }
}
