//! The part of [`Lower`] that builds what statements share ([`uniform::recurrence::share`]).

use crate::pe::lower::{Lower, Sourced, Target};
use crate::vsa::{NodeId, Op};
use scop::{BinaryOp, Expr, ExprKind, ScalarType};
use uniform::recurrence::reduction;
use uniform::recurrence::share::Tree;
use uniform::refusal::Illegal;
use uniform::system::ReadId;

impl Lower<'_> {
    /// The target that stands for this one and those it shares a node with.
    pub(super) fn canonical(&self, target: Target) -> Target {
        let Some(sharing) = self.sharing else { return target };
        match target {
            Target::Value(s, lane) => Target::Value(sharing.of[s].map_or(s, |j| sharing.joints[j].statements[0]), lane),
            Target::Variable(s, k, lane) => {
                let read = ReadId { statement: s, read: k };
                let read = sharing.variables.get(&read).map_or(read, |all| all[0]);
                Target::Variable(read.statement, read.read, lane)
            }
            other => other,
        }
    }

    /// The value of the joint statements that `s` stands for, if it does.
    pub(super) fn joint_value(&mut self, s: usize, lane: usize) -> Option<Result<NodeId, Illegal>> {
        let sharing = self.sharing?;
        let joint = &sharing.joints[sharing.of[s]?];
        Some(self.tree(&joint.value, lane, self.array_type(s), s))
    }

    /// Reads that are one variable with read `k` of `s`; itself alone otherwise.
    pub(super) fn joint_reads(&self, s: usize, k: usize) -> Vec<ReadId> {
        let read = ReadId { statement: s, read: k };
        self.sharing.and_then(|x| x.variables.get(&read)).cloned().unwrap_or_else(|| vec![read])
    }

    fn tree(&mut self, tree: &Tree, lane: usize, ty: ScalarType, s: usize) -> Result<NodeId, Illegal> {
        match tree {
            Tree::Own(s, e) => self.expr(*s, lane, e),
            Tree::Read(all) if self.joint_reads(all[0].statement, all[0].read) == *all => {
                self.build(Target::Variable(all[0].statement, all[0].read, lane))
            }
            Tree::Read(all) => self.merged(all, lane),
            Tree::Operator { like, operands } => {
                let ids = self.operands(like, operands, lane, s)?;
                Ok(self.over(like, &ids))
            }
            Tree::Beyond { statements, whole, at } => {
                let Tree::Operator { like, operands } = &**whole else { return self.tree(whole, lane, ty, s) };
                if self.domain(statements, lane).is_empty() {
                    return self.tree(&operands[*at], lane, ty, s);
                }
                let mut ids = self.operands(like, operands, lane, s)?;
                let others: Vec<usize> =
                    statements_of(&operands[*at]).into_iter().filter(|t| !statements.contains(t)).collect();
                if let Some((other, bits)) = neutral(like, *at) {
                    let ty = like.operands()[other].ty;
                    let nothing = self.node(Op::Const(bits), ty, "neutral");
                    ids[other] = self.choice(vec![(statements.clone(), ids[other]), (others, nothing)], lane, ty, s)?;
                    return Ok(self.over(like, &ids));
                }
                let (whole, part) = (self.over(like, &ids), ids[*at]);
                self.choice(vec![(statements.clone(), whole), (others, part)], lane, ty, s)
            }
            Tree::Choice(all) => {
                let mut parts = Vec::new();
                for (statements, tree) in all {
                    if !self.domain(statements, lane).is_empty() {
                        parts.push((statements.clone(), self.tree(tree, lane, ty, s)?));
                    }
                }
                self.choice(parts, lane, ty, s)
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
        self.node(op, like.ty, "")
    }

    /// Where the statements are executed, without a node for each.
    fn domain(&self, statements: &[usize], lane: usize) -> Vec<Vec<uniform::affine::Condition>> {
        let conjunctions =
            statements.iter().flat_map(|&s| self.system.statements[s].domain.iter().map(move |all| (s, all)));
        conjunctions.filter_map(|(s, all)| self.conditions(s, all, &[], lane)).collect()
    }

    fn choice(
        &mut self,
        parts: Vec<(Vec<usize>, NodeId)>,
        lane: usize,
        ty: ScalarType,
        s: usize,
    ) -> Result<NodeId, Illegal> {
        let mut sources: Vec<Sourced> = Vec::new();
        for (statements, node) in parts {
            sources.extend(self.domain(&statements, lane).into_iter().map(|all| (all, node)));
        }
        let name = self.scop.array(self.scop.statements[s].write.array).name.to_lowercase();
        self.select_source(sources, ty, &name)
    }
}

/// What the other operand must be for `like` to be its operand `at`, bit for bit: so the choice stands before the
/// operator, off the way of a sum that waits for it. Floats only where the operand has been rounded and so is no NaN
/// with a payload.
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
