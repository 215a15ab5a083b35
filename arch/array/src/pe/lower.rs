//! Lowering: from recurrences and a mapping to the nodes of a PE, and the drafts of its input and output groups.
//!
//! Problem: a uniform recurrence says what a statement's value is in each iteration. A PE executes the same nodes in
//! each wave. Lowering writes each value as nodes over the current wave, values of earlier waves and of neighbours
//! (`Past`), and inputs.
//!
//! Method: demand-driven. It begins with the values that are stored to DRAM and builds an operand when an expression
//! asks for it ([`Lower::build`], once per [`Target`]). A variable becomes a chain of multiplexers over its sources
//! ([`super::select`]). A source is a `Past`, a value of the same wave, or an input, and is taken under conditions on
//! the wave and the PE ([`super::conditions`]).
//!
//! Example: `C[i][j] += A[i][k] * B[k][j]` with `i` and `j` in space, and `A` handed on along `j`:
//!
//! ```text
//! %0 a_in = past %2 hop (0, 1)          A of the neighbour
//! %1 a    = input 0                     A from DRAM
//! %2 a    = select(p1 >= 1, %0, %1)     the variable A
//! ```
//!
//! Who does what: [`Nodes`] is the table of nodes, [`Conditions`] answers where, [`Sums`] how reductions are laid out,
//! [`Delays`] how many waves a value waits, [`Inputs`] which ports bring elements. `Lower` is the recursion over
//! expressions and variables (here), reductions ([`super::reduce`]) and shared operators ([`super::share`]).
//!
//! Invariant: the same program and mapping give the same nodes in the same order with the same names; these are the
//! signals of the Verilog.
//!
//! Source: PolySA, section 4; Quinton and Van Dongen, The Mapping of Linear Recurrence Equations on Regular Arrays.

use crate::draft::{Lowered, OutputDraft, OutputDraftPort};
use crate::pe::cheaper::cheaper;
use crate::pe::conditions::Conditions;
use crate::pe::ends::Ends;
use crate::pe::io::{during, output, sort_ports, InputPort, Inputs, Stored};
use crate::pe::joints::Joints;
use crate::pe::lanes::Lanes;
use crate::pe::nodes::Nodes;
use crate::pe::pasts::{Distance, Past, Pasts, Target};
use crate::pe::select::{select, Source};
use crate::pe::sums::Sums;
use crate::pe::waits::Delays;
use crate::pe::zeroing::zero_operands;
use crate::pe::Options;
use crate::vsa::{NodeId, Op};
use scop::{Affine, Constraint, Expr, ExprKind, ScalarType, Scop, StmtId};
use std::collections::BTreeMap;
use uniform::affine::{Condition, Form};
use uniform::mapping::{Carry, DigitBound, Mapping};
use uniform::recurrence::reduction::Reduction;
use uniform::recurrence::share::Sharing;
use uniform::refusal::{Backwards, Illegal, Unstorable};
use uniform::sizes::Formula;
use uniform::system::{Feed, Piece, ReadId, Store, System};

/// Where a value comes from.
enum Origin {
    /// The same wave and PE.
    Here(Target),
    Past(Past),
    Input(Vec<Affine>),
}

pub(super) struct Lower<'a> {
    pub scop: &'a Scop,
    pub conditions: &'a Conditions<'a>,
    pub sums: Sums<'a>,
    pub delays: Delays<'a>,
    pub joints: Joints<'a>,
    pub options: Options,
    pub nodes: Nodes,
    pub inputs: Inputs<'a>,
    outputs: Vec<OutputDraft>,
    /// See [`Lowered::scalars`].
    scalars: Vec<usize>,
    built: BTreeMap<Target, NodeId>,
    /// Targets that are being built, outermost first.
    open: Vec<Target>,
    pasts: Pasts,
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
    let ends = Ends::find(system, mapping, reductions)?;
    let conditions = &Conditions { system, mapping, lanes: Lanes::of(mapping), ends };
    let maxima = system.maxima();
    let mut lower = Lower {
        scop,
        conditions,
        sums: Sums { scop, conditions, reductions, options },
        delays: Delays { conditions, maxima: &maxima, varying: options.varying },
        joints: Joints(sharing),
        options,
        nodes: Nodes::default(),
        inputs: Inputs { conditions, drafts: vec![] },
        outputs: vec![],
        scalars: scalars(scop),
        built: BTreeMap::new(),
        open: vec![],
        pasts: Pasts::default(),
    };
    for (s, placed) in system.statements.iter().enumerate() {
        placed.stores.iter().try_for_each(|store| lower.store(s, store))?;
    }
    lower.complete_pasts()?;
    let Lower { nodes, inputs, outputs, scalars, .. } = lower;
    let mut lowered = Lowered { inputs: inputs.drafts, outputs, scalars, fabric: options.fabric, ..nodes.finish() };
    lowered.maxima = maxima;
    zero_operands(&mut lowered);
    sort_ports(&mut lowered);
    Ok(lowered)
}

/// In the order of the function's parameters.
fn scalars(scop: &Scop) -> Vec<usize> {
    let mut all: Vec<usize> = (0..scop.arrays.len()).filter(|&a| scop.arrays[a].by_value().is_some()).collect();
    all.sort_by_key(|&a| scop.arrays[a].by_value());
    all
}

impl<'a> Lower<'a> {
    /// The output group of what statement `s` stores.
    fn store(&mut self, s: usize, store: &Store) -> Result<(), Illegal> {
        let write = &self.scop.statements[s].write;
        let Some(cells) = store.cells.clone() else {
            let array = self.scop.array(write.array).name.clone();
            return Err(Illegal::Unstorable { array, why: Unstorable::NotConvex });
        };
        let during = during(self.conditions, s);
        let emit_when: Vec<Vec<Constraint>> =
            store.when.iter().map(|when| [&when[..], during.map_or(&[], |during| &during[..])].concat()).collect();
        let spilled = self.sums.spilled(s);
        let mut stored = Vec::new();
        for lane in 0..self.conditions.mapping.lanes() {
            let when = self.sums.stored_when(s, &emit_when, &spilled, lane);
            if when.is_empty() {
                continue;
            }
            let enable = self.nodes.guard_any(&when);
            let value = self.build(self.value_target(s, lane))?;
            let value = self.nodes.cast(value, self.sums.array_type(s).cell(), "store");
            stored.push(Stored { lane, port: OutputDraftPort { value, enable, offset: vec![], when } });
        }
        if !stored.is_empty() {
            self.outputs.push(output(self.conditions, s, write.array.index(), cells, stored, spilled));
        }
        Ok(())
    }

    // ---- values

    /// The node of a target.
    pub(super) fn build(&mut self, target: Target) -> Result<NodeId, Illegal> {
        let statement = (!matches!(target, Target::Variable(..))).then(|| target.statement());
        let id = self.build_once(self.joints.canonical(target))?;
        statement.into_iter().for_each(|s| self.nodes.remark(id, s));
        Ok(id)
    }

    fn build_once(&mut self, target: Target) -> Result<NodeId, Illegal> {
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

    /// Lanes of a reduction share one total.
    fn value_target(&self, s: usize, lane: usize) -> Target {
        match self.sums.of(s) {
            None => Target::Value(s, lane),
            Some(reduction) => Target::Total(s, self.sums.first_lane(reduction, lane)),
        }
    }

    fn value_of(&mut self, s: usize, lane: usize) -> Result<NodeId, Illegal> {
        let ty = self.sums.array_type(s);
        if let Some(joint) = self.joints.of(s) {
            return self.tree(&joint.value, lane, ty, s);
        }
        let rhs = &self.scop.statements[s].rhs;
        let value = self.expr(s, lane, rhs)?;
        Ok(if rhs.ty == ty { value } else { self.nodes.add(Op::Cast(value), ty, "store") })
    }

    pub(super) fn expr(&mut self, s: usize, lane: usize, expr: &Expr) -> Result<NodeId, Illegal> {
        if let Some(cheaper) = cheaper(expr) {
            return self.expr(s, lane, &cheaper);
        }
        let op = match &expr.kind {
            ExprKind::Const(bits) => Op::Const(*bits),
            ExprKind::Iter(affine) => {
                let form = self.conditions.form(affine, s, lane);
                match self.conditions.ranges().bounds(&form) {
                    (lo, hi) if lo == hi => Op::Const(scop::value::mask(expr.ty.bits()) & lo as u64),
                    _ => Op::Iter(form),
                }
            }
            ExprKind::Holds(all) => {
                let over = |c: &Constraint| Constraint { expr: self.conditions.over_dims(&c.expr, s), ..c.clone() };
                match self.conditions.of(s, &all.iter().map(over).collect::<Vec<_>>(), &[], lane) {
                    Some(conditions) => return Ok(self.nodes.guard(&conditions)),
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
                if let Op::Const(bits) = *self.nodes.op(inner) {
                    Op::Const(scop::value::cast(bits, a.ty, expr.ty))
                } else {
                    Op::Cast(inner)
                }
            }
            ExprKind::Lookup(table, a) => match &a.kind {
                ExprKind::Iter(affine) => {
                    return Ok(self.lookup(table, &self.conditions.form(affine, s, lane), expr.ty));
                }
                _ => Op::Lookup(table.clone(), self.expr(s, lane, a)?),
            },
            ExprKind::Host(..) => unreachable!("a function that the host computes"),
            ExprKind::Fma(a, b, c) => Op::Fma(self.expr(s, lane, a)?, self.expr(s, lane, b)?, self.expr(s, lane, c)?),
        };
        Ok(self.nodes.add(op, expr.ty, ""))
    }

    /// The constant at a position that iterators give. The table holds only the part that this lane can reach.
    fn lookup(&mut self, table: &[u64], position: &Form, ty: ScalarType) -> NodeId {
        let (low, high) = self.conditions.ranges().bounds(position);
        let last = table.len() as i64 - 1;
        let (low, high) = (low.clamp(0, last), high.clamp(0, last));
        let part = &table[low as usize..=high as usize];
        if part.iter().all(|v| v == &part[0]) {
            return self.nodes.add(Op::Const(part[0]), ty, "");
        }
        let index = ScalarType::Int { bits: 16, signed: false };
        let at = self.nodes.add(Op::Iter(Form { constant: position.constant - low, ..position.clone() }), index, "");
        self.nodes.add(Op::Lookup(part.into(), at), ty, "")
    }

    // ---- variables

    fn variable(&mut self, s: usize, k: usize, lane: usize) -> Result<NodeId, Illegal> {
        let reads = self.joints.reads(s, k);
        if reads.len() > 1 {
            return self.merged(&reads, lane);
        }
        let sources = self.sources(s, k, lane, &self.conditions.system.statements[s].variables[k].pieces)?;
        Ok(self.select(s, k, sources))
    }

    /// One variable for reads of statements that share operators.
    pub(super) fn merged(&mut self, reads: &[ReadId], lane: usize) -> Result<NodeId, Illegal> {
        let mut sources = Vec::new();
        for &ReadId { statement: s, read: k } in reads {
            // The variable does not know which of the statements is executed.
            let whole = |p: &Piece| Piece { when: p.domain.clone(), ..p.clone() };
            let variable = &self.conditions.system.statements[s].variables[k];
            let pieces: Vec<Piece> = variable.pieces.iter().map(whole).collect();
            sources.extend(self.sources(s, k, lane, &pieces)?);
        }
        Ok(self.select(reads[0].statement, reads[0].read, sources))
    }

    /// Read `k` of statement `s`.
    fn select(&mut self, s: usize, k: usize, sources: Vec<Source>) -> NodeId {
        let (ty, name) = (self.read_type(s, k), self.name_of(s, k));
        select(&mut self.nodes, self.conditions.ranges(), sources, ty, &name)
    }

    fn read_type(&self, s: usize, k: usize) -> ScalarType {
        self.scop.array(self.scop.statements[s].reads[k].array).ty
    }

    pub(super) fn name_of(&self, s: usize, k: usize) -> String {
        self.scop.array(self.scop.statements[s].reads[k].array).name.to_lowercase()
    }

    /// The sources of read `k` of statement `s`, piece by piece.
    pub(super) fn sources(
        &mut self,
        s: usize,
        k: usize,
        lane: usize,
        pieces: &[Piece],
    ) -> Result<Vec<Source>, Illegal> {
        let mut found = Vec::new();
        for piece in pieces {
            self.check_complete(s, k, piece)?;
            for (bounds, origin) in self.origins(s, k, lane, piece)? {
                let Some(when) = self.conditions.of(s, &piece.when, &bounds, lane) else { continue };
                if let Origin::Past(Past { distance: Distance { most: waves @ ..0, .. }, .. }) = origin {
                    return Err(against_time(s, k, &piece.feed, waves));
                }
                // A use of the value knows the statement's domain. Feeders do not: they stand wherever it is read.
                let Some(domain) = self.conditions.of(s, &piece.domain, &bounds, lane) else { continue };
                found.push(Source { when, node: self.source(s, k, lane, origin, &domain)? });
            }
        }
        Ok(found)
    }

    /// Nobody inside the array may use a shared sum before it is complete.
    fn check_complete(&self, s: usize, k: usize, piece: &Piece) -> Result<(), Illegal> {
        let Feed::Value { statement, .. } = piece.feed else { return Ok(()) };
        let accumulates = statement.index() == s && self.sums.of(s).is_some_and(|r| r.read == k);
        match self.sums.of(statement.index()) {
            Some(reduction) if !accumulates && self.sums.is_shared(reduction) && self.sums.is_padded(reduction, s) => {
                Err(Illegal::IncompleteSum {
                    statement: StmtId(s as u32),
                    read: k,
                    dim: self.conditions.system.dims[reduction.dims[0]].name.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Where the value of one piece of read `k` of statement `s` comes from, by carry case.
    fn origins(
        &mut self,
        s: usize,
        k: usize,
        lane: usize,
        piece: &Piece,
    ) -> Result<Vec<(Vec<DigitBound>, Origin)>, Illegal> {
        let (producer, distance) = match &piece.feed {
            Feed::Input { subscripts } => return Ok(vec![(vec![], Origin::Input(subscripts.clone()))]),
            Feed::Value { statement, distance } => ((statement.index(), None), distance),
            Feed::Carry { statement, read, distance } => ((statement.index(), Some(*read)), distance),
            Feed::Partial { .. } => return Err(Illegal::MixedSum { statement: StmtId(s as u32), read: k }),
        };
        let Conditions { mapping, lanes: all_lanes, .. } = self.conditions;
        let mut all = Vec::new();
        for carry in all_lanes.carries(distance).iter() {
            let Carry { when, waves, hop, lanes, .. } = carry;
            let digits: Vec<i64> = all_lanes.digits[lane].iter().zip(lanes).map(|(a, b)| a - b).collect();
            let Some(from) = mapping.lane_number(&digits) else { continue };
            let target = match producer {
                (t, None) => self.value_target(t, from),
                (t, Some(read)) => Target::Variable(t, read, from),
            };
            let distance = if carry.before.is_empty() {
                self.delays.distance(s, waves)?
            } else {
                self.delays.across_strips(s, k, lane, piece, carry)?
            };
            let origin = if distance.most == 0 && *hop == [0, 0] {
                Origin::Here(target)
            } else {
                Origin::Past(Past { target, hop: *hop, distance })
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
        let array = self.scop.statements[s].reads[k].array.index();
        match origin {
            Origin::Here(target) => self.build(target),
            Origin::Past(past) => Ok(self.past(past, self.read_type(s, k), &self.name_of(s, k))),
            Origin::Input(subscripts) => match self.scalars.iter().position(|&a| a == array) {
                Some(scalar) => Ok(self.element(Op::Scalar(scalar as u32), array)),
                None => {
                    let port = self.inputs.read(array, lane, &subscripts, when);
                    Ok(self.loaded(port, array))
                }
            },
        }
    }

    /// The value that a port brings.
    pub(super) fn loaded(&mut self, port: InputPort, array: usize) -> NodeId {
        self.element(port.op(), array)
    }

    /// An element of an array, in the array's type.
    fn element(&mut self, op: Op, array: usize) -> NodeId {
        let array = &self.scop.arrays[array];
        let name = array.name.to_lowercase();
        let cell = self.nodes.add(op, array.ty.cell(), &name);
        self.nodes.cast(cell, array.ty, &name)
    }

    /// The node of a value of another wave or PE.
    pub(super) fn past(&mut self, mut past: Past, ty: ScalarType, name: &str) -> NodeId {
        let name = format!("{name}_in");
        past.target = self.joints.canonical(past.target);
        let more = std::mem::take(&mut past.distance.more);
        let source = self.pasts.node(&mut self.nodes, past, ty, &name);
        if more == 0 {
            return source;
        }
        self.nodes.add(Op::Past { source, hop: [0, 0], waves: Formula::Const(more) }, ty, &name)
    }

    /// Lowers the sources of all pasts; new pasts may arise from that.
    fn complete_pasts(&mut self) -> Result<(), Illegal> {
        let mut done = 0;
        loop {
            let pasts = self.pasts.list();
            if pasts.len() == done {
                return Ok(());
            }
            done = pasts.len();
            for (Past { target, hop, distance }, id) in pasts {
                let source = self.build(target)?;
                // A scalar is the same everywhere and at all times.
                let op = match *self.nodes.op(source) {
                    Op::Scalar(k) => Op::Scalar(k),
                    _ => Op::Past { source, hop, waves: distance.waves },
                };
                self.nodes.complete(id, op);
            }
        }
    }
}

/// The producer of a feed comes after its reader.
fn against_time(s: usize, k: usize, feed: &Feed, waves: i64) -> Illegal {
    let (producer, distance) = match feed {
        Feed::Value { statement, distance } | Feed::Carry { statement, distance, .. } => {
            (*statement, Some(distance.clone()))
        }
        Feed::Input { .. } | Feed::Partial { .. } => (StmtId(s as u32), None),
    };
    Illegal::AgainstTime(Backwards { statement: StmtId(s as u32), read: k, producer, distance, waves })
}
