//! Sums over all PEs ([`crate::folds`]): the terms of each PE, the join, and the reads of what follows.

use super::{Builder, Key};
use crate::arrange::{Coordinate, Refusal};
use crate::folds::Fold;
use crate::form::{Cond, Form};
use crate::ir::{Node, NodeId, Note, Op};
use crate::space::{conditions, Point};
use scop::{BinaryOp, ScalarType};
use uniform::system::{Feed, Variable};

impl Builder<'_> {
    fn fold(&self, s: usize) -> Result<&Fold, Refusal> {
        self.statements.folds.of[s].as_ref().ok_or_else(|| Refusal::new("a sum over all PEs has no terms"))
    }

    /// The dimensions over which a statement runs once, with its coordinates there; `None`: it runs everywhere.
    pub(super) fn last_coordinates(&self, s: usize) -> Option<Vec<(usize, Form)>> {
        let folds = &self.statements.folds;
        let own = folds.of[s].as_ref().map(|f| f.dims.iter().map(|d| (d.0, d.2.clone())).collect());
        own.or_else(|| folds.last[s].clone())
    }

    /// The result of a fold: the terms of each PE, then those of all PEs, then the initial value.
    pub(super) fn folded(&mut self, s: usize, point: &Point) -> Result<NodeId, Refusal> {
        let fold = self.fold(s)?.clone();
        let (ty, name) = self.type_of(&Key::Folded(s, point.clone()));
        let own = self.joined(s, &fold, point)?;
        let all = self.node(Op::Fold(fold.op, own), ty);
        let mut n = self.space.iteration(point);
        fold.dims.iter().for_each(|d| n[d.0] = Form::constant(d.1));
        let start = self.pieces(s, fold.read, &n, point)?;
        let id = self.node(Op::Binary(fold.op, start, all), ty);
        self.nodes[id.index()].name = name;
        Ok(id)
    }

    /// The terms of a PE, joined over the unrolled coordinates, and over the time loop if it is one of the sum.
    fn joined(&mut self, s: usize, fold: &Fold, point: &Point) -> Result<NodeId, Refusal> {
        let (ty, name) = self.type_of(&Key::Folded(s, point.clone()));
        let a = self.space.arrangement;
        let over = |c: &Coordinate| fold.is_over(&c.row);
        let mut points = self.points(over)?;
        let others: Vec<usize> = (0..point.len()).filter(|&d| !over(&a.coordinates[d])).collect();
        points.iter_mut().for_each(|p| others.iter().for_each(|&d| p[d] = point[d]));
        let timed = a.time.is_some_and(|d| over(&a.coordinates[d]));
        let start = Some(self.node(Op::Const(fold.neutral), ty));
        let mut value = match timed {
            // Its own value, a step ago.
            true => self.own_past(Op::Past { of: NodeId(u32::MAX), steps: 1, start }, ty, &name),
            false => self.node(Op::Const(fold.neutral), ty),
        };
        let past = value;
        for p in points {
            let n = self.space.iteration(&p);
            for conj in &self.statements.system.statements[s].domain {
                let Some(when) = self.simplified(conditions(conj, &n)) else { continue };
                let term = self.expression(&fold.term, s, &n, &p)?;
                let op = if fold.subtract { BinaryOp::Sub } else { fold.op };
                let next = self.node(Op::Binary(op, value, term), ty);
                let note = Note { statement: s, instance: self.instance(&p) };
                self.nodes[next.index()].note.get_or_insert(note);
                self.nodes[next.index()].name.clone_from(&name);
                // What only the lane decides is the same in both bodies.
                let (still, moving): (Vec<Cond>, Vec<Cond>) = when.into_iter().partition(|c| c.form.scalars.is_empty());
                let mut joined = self.guard(moving, next, value);
                if !still.is_empty() {
                    let holds = self.node(Op::Holds(still), ScalarType::BOOL);
                    joined = self.node(Op::Select(holds, joined, value), ty);
                }
                value = joined;
            }
        }
        if timed {
            self.nodes[past.index()].op = Op::Past { of: value, steps: 1, start };
            return Ok(self.node(Op::Last { of: value }, ty));
        }
        Ok(value)
    }

    fn own_past(&mut self, op: Op, ty: ScalarType, name: &str) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let name = name.to_string();
        self.nodes.push(Node::new(op, ty, true, name));
        id
    }

    /// The value of a feed of a read of one instance alone, at `n`.
    pub(super) fn pinned(&mut self, feed: &Feed, n: &[Form], point: &Point) -> Result<NodeId, Refusal> {
        let refused = || {
            let fault =
                Refusal::new("what follows a sum over all PEs, or its initial value, is computed by one of the PEs");
            Err(fault.help("compute the sum along time: put another loop on axis 0"))
        };
        let back = |distance: &[i64]| n.iter().zip(distance).map(|(x, e)| x.plus(-e)).collect::<Vec<Form>>();
        let statements = self.statements;
        match feed {
            Feed::Value { statement, distance } if statements.folds.last[statement.index()].is_some() => {
                self.statement(statement.index(), &back(distance), point)
            }
            Feed::Value { statement, distance } if statements.folds.of[statement.index()].is_some() => {
                let mut result = self.space.iteration(point);
                self.fold(statement.index())?.dims.iter().for_each(|d| result[d.0] = d.2.clone());
                match result == back(distance) {
                    true => self.value(&Key::Folded(statement.index(), point.clone())),
                    false => refused(),
                }
            }
            Feed::Carry { statement, read, distance } => {
                let source: &Variable = &statements.system.statements[statement.index()].variables[*read];
                match source.pieces.iter().all(|p| matches!(p.feed, Feed::Input { .. })) {
                    true => self.pieces(statement.index(), *read, &back(distance), point),
                    false => refused(),
                }
            }
            _ => refused(),
        }
    }
}
