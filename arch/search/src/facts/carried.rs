//! The dependences of a program under one transform: along which dimensions values move, and how long they wait.

use array::kernel::Kernel;
use array::operators::latency;
use array::vsa::{NodeId, Op};
use scop::{Expr, ExprKind};
use uniform::fabric::Fabric;
use uniform::system::Dependence;

/// Per transformed dimension, which values move along it. Accumulations in free order are `summed`; all others keep
/// the order of the program.
#[derive(Clone, Debug)]
pub struct Carried {
    /// No dependence moves along it, except a sum's.
    pub free: Vec<bool>,
    /// A sum in free order runs along it.
    pub summed: Vec<bool>,
    /// A value moves along this dimension alone: a sum, in any order.
    pub alone: Vec<bool>,
    /// A value of the same statement moves to the next iteration along it, in a fixed order.
    pub stepped: Vec<bool>,
    /// Cycles from such a value to the next one that is computed from it; 0 if there is none.
    pub latency: Vec<i64>,
    /// Sums in free order are of floats: it pays to have other loops inside.
    pub floats: bool,
    /// Dimensions along which floats are summed or passed on, as bits.
    pub slow: u32,
    /// Distances that must stay lexicographically positive in every order of the loops.
    distances: Vec<Vec<i64>>,
}

impl Carried {
    pub fn new(program: &Kernel, transform: &[Vec<i64>]) -> Carried {
        let (system, scop) = (&program.system, &program.scop);
        let depth = system.dims.len();
        let accumulates = |e: &Dependence| {
            e.from == e.to && program.reductions[e.to.index()].as_ref().is_some_and(|r| r.read == e.read)
        };
        let dependences: Vec<Dependence> = system.dependences_within().filter(|e| !accumulates(e)).collect();
        let moved = |e: &Dependence| -> Vec<i64> {
            transform.iter().map(|row| row.iter().zip(&e.distance).map(|(a, b)| a * b).sum()).collect()
        };
        let moves: Vec<(&Dependence, Vec<i64>)> = dependences.iter().map(|e| (e, moved(e))).collect();
        let along = |moved: &[i64], d: usize| moved.iter().enumerate().all(|(other, &x)| (x != 0) == (other == d));
        let steps = |d: usize| {
            let next =
                move |(e, by): &&(&Dependence, Vec<i64>)| e.from == e.to && !e.carried && along(by, d) && by[d] == 1;
            moves.iter().filter(next)
        };
        let summed = |d: usize| {
            program.reductions.iter().flatten().any(|r| r.dims.contains(&d))
                && transform[d].iter().filter(|&&c| c != 0).count() == 1
        };
        let latency = |d: usize| {
            steps(d).filter_map(|(e, _)| through(&scop.statements[e.to.index()].rhs, e.read)).max().unwrap_or(0)
        };
        let reductions = program.reductions.iter().zip(&scop.statements).filter(|(r, _)| r.is_some());
        let floats = reductions.map(|(_, s)| scop.array(s.write.array).ty).any(|ty| ty.is_float());
        let summed: Vec<bool> = (0..depth).map(summed).collect();
        let latency: Vec<i64> = (0..depth).map(latency).collect();
        let mut distances: Vec<Vec<i64>> = moves.iter().map(|(_, by)| by.clone()).collect();
        distances.sort_unstable();
        distances.dedup();
        let alone = |d: usize| summed[d] || moves.iter().any(|(e, by)| e.from == e.to && along(by, d));
        Carried {
            free: (0..depth).map(|d| moves.iter().all(|(_, by)| by[d] == 0)).collect(),
            alone: (0..depth).map(alone).collect(),
            stepped: (0..depth).map(|d| steps(d).next().is_some()).collect(),
            slow: (0..depth).filter(|&d| latency[d] > 0 || floats && summed[d]).fold(0, |m, d| m | 1 << d),
            summed,
            floats,
            latency,
            distances,
        }
    }

    /// A value of floats waits for its operator along some dimension.
    pub fn waits(&self) -> bool {
        self.latency.iter().any(|&n| n > 0)
    }

    /// Every value is computed before it is read if the dimensions in `order` run in sequence.
    pub fn allows(&self, order: impl Iterator<Item = usize> + Clone) -> bool {
        let first = |by: &Vec<i64>| order.clone().map(|d| by[d]).find(|&x| x != 0);
        self.distances.iter().all(|by| first(by).is_none_or(|x| x > 0))
    }
}

/// Cycles through the operators of floats from a read to the expression's value; `None` if the expression does not
/// contain the read. Other operators may give up their registers.
fn through(e: &Expr, read: usize) -> Option<i64> {
    let before = match &e.kind {
        ExprKind::Read(k) if *k == read => return Some(0),
        _ => e.operands().into_iter().filter_map(|o| through(o, read)).max()?,
    };
    Some(before + float_latency(e))
}

/// Cycles of the expression's own operator on floats.
fn float_latency(e: &Expr) -> i64 {
    let any = NodeId(0);
    let op = match &e.kind {
        ExprKind::Binary(op, ..) => Some(Op::Binary(*op, any, any)),
        ExprKind::Unary(op, _) => Some(Op::Unary(*op, any)),
        ExprKind::Fma(..) => Some(Op::Fma(any, any, any)),
        _ => None,
    };
    let operands: Vec<_> = e.operands().into_iter().map(|o| o.ty).collect();
    let float = e.ty.is_float() && operands.iter().all(|t| t.is_float());
    op.filter(|_| float).map_or(0, |op| latency(&op, e.ty, &operands, Fabric::default()))
}

/// Cycles through the operators of floats on the longest way to the expression's value.
pub(super) fn longest(e: &Expr) -> i64 {
    let operands = e.operands();
    let before = operands.iter().map(|o| longest(o));
    // One side of a selection may never be taken. Operators with a constant may be simpler, and light ones may give up
    // their registers.
    let before = if matches!(e.kind, ExprKind::Select(..)) { before.min() } else { before.max() };
    let heavy = !operands.iter().any(|o| matches!(o.kind, ExprKind::Const(_)));
    before.unwrap_or(0) + if heavy { Some(float_latency(e)).filter(|&n| n > 1).unwrap_or(0) } else { 0 }
}
