//! Reference interpreter: runs a [`Scop`] in its original order. It is slow and plain; faster models are tested
//! against it.

use crate::polyhedron::Polyhedron;
use crate::value;
use crate::{Expr, ExprKind, ScalarType, Scop, Statement, StmtId};

/// The contents of every array, by `ArrayId`, row-major; bits as in [`value`]. A scalar has one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub arrays: Vec<Vec<u64>>,
}

impl Memory {
    pub fn zeroed(scop: &Scop) -> Memory {
        Memory { arrays: scop.arrays.iter().map(|a| vec![0; a.dims.iter().product::<i64>().max(0) as usize]).collect() }
    }
}

/// Row-major position of an element; `None` if it is outside the array.
pub fn position(dims: &[i64], subscripts: impl IntoIterator<Item = i64>) -> Option<usize> {
    let mut at = 0usize;
    let mut subscripts = subscripts.into_iter();
    for &extent in dims {
        let x = subscripts.next()?;
        if x < 0 || x >= extent {
            return None;
        }
        at = at * extent as usize + x as usize;
    }
    Some(at)
}

/// The value of `e` at iteration `point`; `reads[k]` is the value of `ExprKind::Read(k)`.
pub fn eval(e: &Expr, reads: &[u64], point: &[i64]) -> u64 {
    match &e.kind {
        ExprKind::Const(bits) => *bits,
        ExprKind::Iter(form) => value::from_integer(form.eval(point) as i128, e.ty),
        ExprKind::Holds(all) => all.iter().all(|c| c.holds(point)).into(),
        ExprKind::Read(k) => reads.get(*k).copied().unwrap_or(0),
        ExprKind::Unary(op, a) => value::eval_unary(*op, eval(a, reads, point), a.ty),
        ExprKind::Binary(op, a, b) => value::eval_binary(*op, eval(a, reads, point), eval(b, reads, point), a.ty, b.ty),
        ExprKind::Select(c, a, b) => eval(if eval(c, reads, point) & 1 != 0 { a } else { b }, reads, point),
        ExprKind::Cast(a) => value::cast(eval(a, reads, point), a.ty, e.ty),
        ExprKind::Lookup(table, a) => value::eval_lookup(table, eval(a, reads, point)),
        ExprKind::Host(f, all) => {
            value::eval_host(*f, &all.iter().map(|a| eval(a, reads, point)).collect::<Vec<_>>(), e.ty)
        }
        ExprKind::Fma(a, b, c) => {
            value::eval_fma(eval(a, reads, point), eval(b, reads, point), eval(c, reads, point), e.ty)
        }
    }
}

/// Computes the scalars of [`Scop::host`] and stores them in `memory`, which is indexed by `ArrayId`.
///
/// # Errors
/// A scalar that one of them reads has no value.
pub fn compute_host(scop: &Scop, memory: &mut [Vec<u64>]) -> Result<(), String> {
    for s in &scop.host {
        let operand = |a: &crate::Access| memory.get(a.array.index()).and_then(|m| m.first().copied());
        let reads: Option<Vec<u64>> = s.reads.iter().map(operand).collect();
        let result = eval(&s.rhs, &reads.ok_or("a scalar passed by value has no value")?, &[]);
        *memory.get_mut(s.write.array.index()).ok_or("the memory does not fit the scop")? = vec![result];
    }
    Ok(())
}

/// Runs the whole region on `memory`.
///
/// # Errors
/// An access outside of its array, or a memory that does not fit the scop; both are refused by `Scop::verify` and
/// the front end's checks.
pub fn run(scop: &Scop, memory: &mut Memory) -> Result<(), String> {
    compute_host(scop, &mut memory.arrays)?;
    let mut reads = vec![];
    visit(scop, &mut |id, point| step(scop, scop.statement(id), point, memory, &mut reads))
}

/// Executes a statement at a point of its domain.
pub type Execute<'a> = dyn FnMut(StmtId, &[i64]) -> Result<(), String> + 'a;

/// Calls `execute` for every statement instance in the original order.
///
/// # Errors
/// The first error of `execute`, or an unbounded domain.
pub fn visit(scop: &Scop, execute: &mut Execute<'_>) -> Result<(), String> {
    let polyhedra = scop.statement_ids().map(|id| {
        let s = scop.statement(id);
        s.domain.iter().map(|d| Polyhedron::new(s.loops.len(), d)).collect()
    });
    let all: Vec<StmtId> = scop.statement_ids().collect();
    let mut walk = Walk { scop, polyhedra: polyhedra.collect(), point: vec![], execute };
    walk.level(&positions(scop, &all, 0))
}

/// One position among its siblings: statements without a further loop, or a loop with its body.
struct Position {
    leaves: Vec<StmtId>,
    inner: Vec<StmtId>,
    body: Vec<Position>,
}

/// The positions of statements that share the `depth` loops around them, in textual order.
fn positions(scop: &Scop, statements: &[StmtId], depth: usize) -> Vec<Position> {
    let at = |s: StmtId| scop.statement(s).beta.get(depth).copied();
    let mut all: Vec<i64> = statements.iter().filter_map(|&s| at(s)).collect();
    all.sort_unstable();
    all.dedup();
    let one = |position: i64| {
        let here = statements.iter().copied().filter(|&s| at(s) == Some(position));
        let (leaves, inner): (Vec<StmtId>, Vec<StmtId>) = here.partition(|&s| scop.statement(s).loops.len() == depth);
        let body = if inner.is_empty() { vec![] } else { positions(scop, &inner, depth + 1) };
        Position { leaves, inner, body }
    };
    all.into_iter().map(one).collect()
}

struct Walk<'a> {
    scop: &'a Scop,
    /// Per statement and part of its domain.
    polyhedra: Vec<Vec<Polyhedron>>,
    point: Vec<i64>,
    execute: &'a mut Execute<'a>,
}

impl Walk<'_> {
    fn level(&mut self, positions: &[Position]) -> Result<(), String> {
        for position in positions {
            for &s in &position.leaves {
                if self.scop.statement(s).domain.iter().any(|d| d.iter().all(|c| c.holds(&self.point))) {
                    (self.execute)(s, &self.point)?;
                }
            }
            if !position.inner.is_empty() {
                self.range(position)?;
            }
        }
        Ok(())
    }

    fn range(&mut self, position: &Position) -> Result<(), String> {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for &s in &position.inner {
            for polyhedron in &self.polyhedra[s.index()] {
                match polyhedron.bounds(&self.point) {
                    (Some(l), Some(h)) if l <= h => (low, high) = (low.min(l), high.max(h)),
                    (Some(_), Some(_)) => {}
                    _ => return Err(format!("the domain of statement {} is unbounded", s.0)),
                }
            }
        }
        for x in low..=high {
            self.point.push(x);
            self.level(&position.body)?;
            self.point.pop();
            if x == i64::MAX {
                break;
            }
        }
        Ok(())
    }
}

/// Executes one instance; `reads` is a buffer for the values it reads.
fn step(scop: &Scop, s: &Statement, point: &[i64], memory: &mut Memory, reads: &mut Vec<u64>) -> Result<(), String> {
    let locate = |a: &crate::Access| {
        let array = scop.array(a.array);
        position(&array.dims, a.subscripts.iter().map(|x| x.eval(point)))
            .ok_or_else(|| format!("`{}` is accessed outside its bounds at {point:?}", array.name))
    };
    reads.clear();
    for access in &s.reads {
        let at = locate(access)?;
        let element = memory.arrays.get(access.array.index()).and_then(|a| a.get(at));
        reads.push(*element.ok_or("the memory does not fit the scop")?);
    }
    let result = eval(&s.rhs, reads, point);
    let at = locate(&s.write)?;
    let element = memory.arrays.get_mut(s.write.array.index()).and_then(|a| a.get_mut(at));
    *element.ok_or("the memory does not fit the scop")? = result;
    Ok(())
}

/// The bits of `number` in type `ty`, for tests and data files.
pub fn integer_bits(number: i64, ty: ScalarType) -> u64 {
    if ty.is_float() {
        value::cast(number as u64, crate::literal::int(64, true), ty)
    } else {
        value::from_integer(number as i128, ty)
    }
}
