//! Sums of products of 8-bit integers, four at a time ([`crate::dots`]).

use super::Builder;
use crate::arrange::{Arrangement, Place, Refusal};
use crate::dots::Dot;
use crate::form::{Cond, Form};
use crate::ir::{NodeId, Note, Op, ScalarId, QUAD};
use crate::space::{at, conditions, Point};
use scop::{BinaryOp, Constraint, ScalarType};

/// The lane of an instance, in its coordinate's SIMD digit.
pub(super) fn lane(dot: &Dot, a: &Arrangement, point: &Point) -> i64 {
    let c = &a.coordinates[dot.coordinate];
    let first = if c.place == Place::Loop { 0 } else { c.lo };
    (point[dot.coordinate] - first).rem_euclid(QUAD)
}

impl Builder<'_> {
    /// Whether an instance is the one that stands for those of all lanes.
    pub(super) fn is_first(&self, s: usize, point: &Point) -> bool {
        let dot = self.statements.dots[s].as_ref();
        dot.is_none_or(|dot| lane(dot, self.space.arrangement, point) == 0)
    }

    /// Where a statement stores its value. That of a sum is there if its last term is one of the four.
    pub(super) fn stored_when(&self, s: usize, conj: &[Constraint], n: &[Form], point: &Point) -> Option<Vec<Cond>> {
        let Some(dot) = &self.statements.dots[s] else { return self.simplified(conditions(conj, n)) };
        let upper = self.last_term(s, dot, n);
        let mut there = n.to_vec();
        let behind = {
            let mut form = upper.clone();
            form.add(-1, &n[dot.dim]);
            form
        };
        there[dot.dim] = upper;
        let mut all = conditions(conj, &there);
        match self.space.arrangement.coordinates[dot.coordinate].place {
            // One step has it: an equality.
            Place::Loop if behind.scalars.len() == 1 => {
                let step = behind.scalars.keys().next().copied().unwrap_or(ScalarId(0));
                let mut form = Form::scalar(step);
                form.constant = -behind.constant.div_euclid(QUAD);
                all.push(Cond { form, equality: true });
            }
            _ => {
                all.push(Cond::at_least_zero(behind.negated().plus(QUAD - 1)));
                all.push(Cond::at_least_zero(behind));
            }
        }
        let _ = point;
        self.simplified(all)
    }

    /// The last coordinate of a sum.
    fn last_term(&self, s: usize, dot: &Dot, n: &[Form]) -> Form {
        let sum = self.program.reductions[s].as_ref();
        let place = sum.and_then(|r| r.dims.iter().position(|d| *d == dot.dim).map(|k| &r.uppers[k]));
        place.map_or(Form::constant(0), |upper| at(upper, n))
    }

    /// The sum behind four terms, from the one before them.
    pub(super) fn dot(&mut self, s: usize, point: &Point) -> Result<NodeId, Refusal> {
        let statements = self.statements;
        let Some(dot) = &statements.dots[s] else { return Err(Refusal::new("a sum has no products of 8 bits")) };
        let c = &self.space.arrangement.coordinates[dot.coordinate];
        let before = self.pieces(s, dot.read, &self.space.iteration(point), point)?;
        let byte = dot.factors.ty();
        let zero = self.node(Op::Const(0), byte);
        let (mut a, mut b, mut within) = ([zero; QUAD as usize], [zero; QUAD as usize], vec![]);
        for lane in 0..QUAD {
            let mut p = point.clone();
            p[dot.coordinate] += lane;
            if c.place != Place::Loop && p[dot.coordinate] > c.hi {
                continue;
            }
            let n = self.space.iteration(&p);
            let own = statements.system.statements[s].domain.iter().flatten();
            // The first lane of the first step is the first iteration.
            let own: Vec<Constraint> = own.filter(|c| c.expr.coeffs[dot.dim] < 0).cloned().collect();
            // Beyond the end of the loop a term is zero.
            let Some(when) = self.simplified(conditions(&own, &n)) else { continue };
            a[lane as usize] = self.expression(&dot.factors.a, s, &n, &p)?;
            b[lane as usize] = self.expression(&dot.factors.b, s, &n, &p)?;
            within.push((lane, when));
        }
        // Where no lane is within, nobody uses the value.
        let common: Vec<Cond> = match within.as_slice() {
            [first, others @ ..] if within.len() == QUAD as usize => {
                first.1.iter().filter(|c| others.iter().all(|w: &(i64, Vec<Cond>)| w.1.contains(c))).cloned().collect()
            }
            _ => vec![],
        };
        within.iter_mut().for_each(|w| w.1.retain(|c| !common.contains(c)));
        // One factor is zero beyond the end: the one that is alike in all lanes, if there is one.
        if a.iter().any(|x| self.is_along_pes(*x)) {
            (a, b) = (b, a);
        }
        let (a, b) = (self.quad(a, byte), self.quad(b, byte));
        let a = self.masked(a, &within, byte);
        let ty = self.program.scop.array(self.program.scop.statements[s].write.array).ty;
        let total = self.total(dot, (a, b), before, ty);
        let name = self.program.scop.array(self.program.scop.statements[s].write.array).name.clone();
        let instance = self.instance_without(point, Some(dot.coordinate));
        let note = Note { statement: s, instance };
        let node = &mut self.nodes[total.index()];
        node.note.get_or_insert(note);
        node.name = name;
        Ok(total)
    }

    /// Whether a value is an element along the PEs.
    fn is_along_pes(&self, id: NodeId) -> bool {
        matches!(&self.nodes[id.index()].op, Op::Load { at, .. } if at.iter().any(|f| f.unit != 0))
    }

    fn quad(&mut self, all: [NodeId; QUAD as usize], ty: ScalarType) -> NodeId {
        let name = self.nodes[all[0].index()].name.clone();
        let id = self.node(Op::Quad(all), ty);
        let node = &mut self.nodes[id.index()];
        (node.quad, node.name) = (true, name);
        id
    }

    /// The quad with zeros in the lanes whose conditions do not hold.
    fn masked(&mut self, quad: NodeId, within: &[(i64, Vec<Cond>)], ty: ScalarType) -> NodeId {
        let mut all: Vec<Cond> = within.iter().flat_map(|w| w.1.iter().cloned()).collect();
        all.sort();
        all.dedup();
        let all = self.simplified(all);
        if all.as_ref().is_some_and(Vec::is_empty) {
            return quad;
        }
        let zero = self.node(Op::Const(0), ty);
        // The same mask for all quads of a step.
        let ones = self.node(Op::Const(255), ty);
        let mut bytes = [zero; QUAD as usize];
        for (lane, when) in within {
            bytes[*lane as usize] = self.guard(when.clone(), ones, zero);
        }
        let mask = self.quad(bytes, ty);
        let other = self.node(Op::Binary(BinaryOp::And, quad, mask), ty);
        self.nodes[other.index()].quad = true;
        // Some lane is always beyond the end.
        let Some(all) = all else { return other };
        let id = self.guard(all, quad, other);
        let name = self.nodes[quad.index()].name.clone();
        let node = &mut self.nodes[id.index()];
        (node.quad, node.name) = (true, name);
        id
    }

    /// The sum before, and the products.
    fn total(&mut self, dot: &Dot, (a, b): (NodeId, NodeId), before: NodeId, ty: ScalarType) -> NodeId {
        // A sum of 32 bits has the same bits with a sign and without.
        let wide = if ty.bits() == 32 { ty } else { dot.factors.sum() };
        let converted = |this: &mut Self, id: NodeId, to: ScalarType| match this.nodes[id.index()].ty == to {
            true => id,
            false => this.node(Op::Cast(id), to),
        };
        if ty.bits() <= 32 && !dot.subtract {
            let before = converted(self, before, wide);
            let sum = self.node(Op::Dot(a, b, before), wide);
            return converted(self, sum, ty);
        }
        let zero = self.node(Op::Const(0), wide);
        let products = self.node(Op::Dot(a, b, zero), wide);
        let products = converted(self, products, ty);
        let op = if dot.subtract { BinaryOp::Sub } else { BinaryOp::Add };
        self.node(Op::Binary(op, before, products), ty)
    }
}
