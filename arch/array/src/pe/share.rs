//! Lowering of what statements share ([`uniform::recurrence::share`]): one operator for several statements that are
//! never executed in the same wave and PE.
//!
//! Example: statement 0 stores `a + b` in some PEs and statement 1 `c + d` in others. One adder serves both; its
//! operands are `select(0, a, c)` and `select(0, b, d)`.

use crate::pe::lower::Lower;
use crate::pe::pasts::Target;
use crate::pe::select::{select, Source};
use crate::vsa::{NodeId, Op};
use scop::{BinaryOp, Expr, ExprKind, ScalarType};
use uniform::recurrence::reduction;
use uniform::recurrence::share::Tree;
use uniform::refusal::Illegal;

impl Lower<'_> {
    /// The value of a joint that statement `s` is part of.
    pub(super) fn tree(&mut self, tree: &Tree, lane: usize, ty: ScalarType, s: usize) -> Result<NodeId, Illegal> {
        match tree {
            Tree::Own(s, e) => self.expr(*s, lane, e),
            Tree::Read(all) if self.joints.reads(all[0].statement, all[0].read) == *all => {
                self.build(Target::Variable(all[0].statement, all[0].read, lane))
            }
            Tree::Read(all) => self.merged(all, lane),
            Tree::Operator { like, operands } => {
                let ids = self.operands(like, operands, lane, s)?;
                Ok(self.over(like, &ids))
            }
            Tree::Beyond { statements, whole, at } => {
                let Tree::Operator { like, operands } = &**whole else { return self.tree(whole, lane, ty, s) };
                if self.conditions.domain(statements, lane).is_empty() {
                    return self.tree(&operands[*at], lane, ty, s);
                }
                let mut ids = self.operands(like, operands, lane, s)?;
                let others: Vec<usize> =
                    statements_of(&operands[*at]).into_iter().filter(|t| !statements.contains(t)).collect();
                if let Some((other, bits)) = neutral(like, *at) {
                    let ty = like.operands()[other].ty;
                    let nothing = self.nodes.add(Op::Const(bits), ty, "neutral");
                    ids[other] = self.choice(vec![(statements.clone(), ids[other]), (others, nothing)], lane, ty, s);
                    return Ok(self.over(like, &ids));
                }
                let (whole, part) = (self.over(like, &ids), ids[*at]);
                Ok(self.choice(vec![(statements.clone(), whole), (others, part)], lane, ty, s))
            }
            Tree::Choice(all) => {
                let mut parts = Vec::new();
                for (statements, tree) in all {
                    if !self.conditions.domain(statements, lane).is_empty() {
                        parts.push((statements.clone(), self.tree(tree, lane, ty, s)?));
                    }
                }
                Ok(self.choice(parts, lane, ty, s))
            }
        }
    }

    fn operands(&mut self, like: &Expr, operands: &[Tree], lane: usize, s: usize) -> Result<Vec<NodeId>, Illegal> {
        operands.iter().zip(like.operands()).map(|(t, e)| self.tree(t, lane, e.ty, s)).collect()
    }

    /// `like`'s operator.
    fn over(&mut self, like: &Expr, ids: &[NodeId]) -> NodeId {
        let op = match (&like.kind, ids) {
            (ExprKind::Unary(op, _), [a]) => Op::Unary(*op, *a),
            (ExprKind::Binary(op, ..), [a, b]) => Op::Binary(*op, *a, *b),
            (ExprKind::Select(..), [c, a, b]) => Op::Select(*c, *a, *b),
            (ExprKind::Fma(..), [a, b, c]) => Op::Fma(*a, *b, *c),
            (ExprKind::Cast(e), [a]) if e.ty == like.ty => return *a,
            (ExprKind::Cast(_), [a]) => Op::Cast(*a),
            (ExprKind::Lookup(table, _), [a]) => Op::Lookup(table.clone(), *a),
            _ => unreachable!("an operator with its operands"),
        };
        self.nodes.add(op, like.ty, "")
    }

    /// The node of the statements that are executed.
    fn choice(&mut self, parts: Vec<(Vec<usize>, NodeId)>, lane: usize, ty: ScalarType, s: usize) -> NodeId {
        let mut sources: Vec<Source> = Vec::new();
        for (statements, node) in parts {
            let domain = self.conditions.domain(&statements, lane);
            sources.extend(domain.into_iter().map(|when| Source { when, node }));
        }
        let name = self.scop.array(self.scop.statements[s].write.array).name.to_lowercase();
        select(&mut self.nodes, self.conditions.ranges(), sources, ty, &name)
    }
}

/// The other operand, and its value for which `like` is its operand `at`, bit for bit. The multiplexer stands before
/// the operator then, where no sum waits for it. Floats only if the operand has been rounded, and so is no NaN with a
/// payload.
fn neutral(like: &Expr, at: usize) -> Option<(usize, u64)> {
    let ExprKind::Binary(op, a, b) = &like.kind else { return None };
    let rounded = |e: &Expr| {
        matches!(
            e.kind,
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, ..) | ExprKind::Fma(..)
        )
    };
    let able = match op {
        BinaryOp::Add | BinaryOp::Mul => !like.ty.is_float() || rounded([a, b][at]),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Min | BinaryOp::Max => !like.ty.is_float(),
        BinaryOp::Sub | BinaryOp::Shl | BinaryOp::Shr => at == 0 && !like.ty.is_float(),
        _ => false,
    };
    able.then(|| (1 - at, reduction::neutral(*op, [a, b][1 - at].ty)))
}

fn statements_of(tree: &Tree) -> Vec<usize> {
    match tree {
        Tree::Own(s, _) => vec![*s],
        Tree::Read(all) => all.iter().map(|r| r.statement).collect(),
        Tree::Operator { operands, .. } => operands.first().map_or(vec![], statements_of),
        Tree::Beyond { whole, at, .. } => match &**whole {
            Tree::Operator { operands, .. } => statements_of(&operands[*at]),
            other => statements_of(other),
        },
        Tree::Choice(all) => all.iter().flat_map(|(s, _)| s.clone()).collect(),
    }
}
