//! Automatic choice: the fastest array that fits the board.
//!
//! Thousands of shapes are ranked by a few multiplications each (waves, footprints, lanes); the best of them are
//! assembled, and the cost walk over the assembled arrays decides. Among designs within 5 % of the fastest the one
//! with the fewest resources wins. A thorough explorer can replace [`shapes`] without touching the rest.

use crate::explore::assemble::{assemble, Program};
use crate::cost::board::{Board, Resources};
use crate::contract::walk::MemoryTiming;
use crate::cost::{predict, resources};
use crate::ir::design::DesignSpec;
use crate::ir::mapping::{DimPlan, Plan};
use crate::ir::refusal::Illegal;
use crate::space_time::transform;
use crate::ir::ure::Feed;
use crate::ir::vsa::Vsa;
use frontend::diag::Diagnostics;

/// Assembled candidates per choice of axes, and failures after which the choice is given up.
const SUCCESSES: usize = 6;
const FAILURES: usize = 24;
/// Visits beyond which a shape is not looked at (its cost walk would take too long).
const MAX_VISITS: i64 = 200_000;

struct Shape {
    plan: Plan,
    cycles: i64,
    lanes: i64,
}

/// What is known of each dimension before anything is assembled.
struct Facts {
    extent: Vec<i64>,
    /// No dependence but a reduction's moves along it.
    free: Vec<bool>,
    reduced: Vec<bool>,
    reads: Vec<Read>,
    /// Arrays' cells written at the end.
    writes: Vec<Read>,
    /// DSP slices one lane takes, at least one.
    dsp_per_lane: i64,
}

#[derive(PartialEq)]
struct Read {
    array: usize,
    /// See [`crate::io::port::assign`].
    port: usize,
    bytes: i64,
    /// Per subscript: coefficient of every dimension.
    subscripts: Vec<Vec<i64>>,
}

/// # Errors
/// Every reason for which no candidate was possible, without repetitions.
pub fn choose(program: &Program, board: &Board, spec: &DesignSpec) -> Result<(Plan, Vsa), Diagnostics> {
    let mut shapes: Vec<Shape> = Vec::new();
    for transform in transform::transforms(&program.system) {
        let facts = Facts::new(program, &transform);
        shapes.extend(self::shapes(&facts, &transform, board));
    }
    shapes.sort_by_key(|s| (s.cycles, s.lanes));
    let mut reasons: Diagnostics = Vec::new();
    let mut found: Vec<(i64, Resources, (Plan, Vsa))> = Vec::new();
    // Shapes over the same axes succeed or fail together: a few of each, so that every kind of array is looked at.
    let mut tally: Vec<(Kind, usize, usize)> = Vec::new();
    let mut sizes: Vec<(Kind, i64)> = Vec::new();
    for shape in shapes {
        let kind = kind_of(&shape.plan);
        let entry = match tally.iter().position(|t| t.0 == kind) {
            Some(k) => k,
            None => {
                tally.push((kind, 0, 0));
                tally.len() - 1
            }
        };
        if tally[entry].1 >= SUCCESSES || tally[entry].2 >= FAILURES {
            continue;
        }
        let size = (tally[entry].0.clone(), shape.lanes);
        if sizes.iter().filter(|s| **s == size).count() >= 2 {
            continue;
        }
        sizes.push(size);
        let built = assemble(program, shape.plan.clone(), spec).and_then(|vsa| {
            let need = resources::estimate(&vsa);
            if need.fits(&board.resources) { Ok((need, vsa)) } else { Err(Illegal::TooBig { board: board.name.clone() }) }
        });
        match built {
            Ok((need, vsa)) => {
                tally[entry].1 += 1;
                found.push((predict(&vsa, &MemoryTiming::IDEAL).cycles, need, (shape.plan, vsa)));
            }
            Err(illegal) => {
                tally[entry].2 += 1;
                let reason = illegal.diagnostic(&program.scop, &program.system, &shape.plan);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
    }
    let Some(best) = found.iter().map(|f| f.0).min() else { return Err(reasons) };
    let close = found.into_iter().filter(|f| f.0 <= best + best / 20);
    Ok(close.min_by_key(|(cycles, r, _)| (r.dsp * 100 + r.lut + r.bram36 * 300, *cycles)).expect("the best is close to itself").2)
}

/// Transform and axes of a plan.
type Kind = (Vec<Vec<i64>>, Vec<Option<usize>>);

fn kind_of(plan: &Plan) -> Kind {
    (plan.transform.clone(), plan.dims.iter().map(|d| d.axis).collect())
}

impl Facts {
    fn new(program: &Program, transform: &[Vec<i64>]) -> Facts {
        let system = &program.system;
        let depth = system.dims.len();
        let range = |row: &Vec<i64>| -> i64 { row.iter().zip(&system.dims).map(|(c, d)| c.abs() * (d.hi - d.lo)).sum::<i64>() + 1 };
        let moved = |e: &[i64], d: usize| -> i64 { transform[d].iter().zip(e).map(|(a, b)| a * b).sum() };
        let accumulates = |s: usize, read: usize| program.reductions[s].as_ref().is_some_and(|r| r.read == read);
        let dependences: Vec<_> = system.dependences().into_iter().filter(|e| !(e.from == e.to && accumulates(e.to.index(), e.read))).collect();
        let reduced = |d: usize| program.reductions.iter().flatten().any(|r| r.dims.contains(&d)) && transform[d].iter().filter(|&&c| c != 0).count() == 1;
        let inverse = crate::affine::unimodular_inverse(transform).unwrap_or_default();
        let mut reads: Vec<Read> = Vec::new();
        let mut writes: Vec<Read> = Vec::new();
        let over = |a: &frontend::scop::Affine| -> Vec<i64> { (0..depth).map(|d| a.coeffs.iter().zip(&inverse).map(|(c, row)| c * row[d]).sum()).collect() };
        let touch = |array: frontend::scop::ArrayId, subscripts: &[frontend::scop::Affine]| Read {
            array: array.index(),
            port: program.ports[array.index()],
            bytes: program.scop.array(array).ty.bytes() as i64,
            subscripts: subscripts.iter().map(over).collect(),
        };
        for (s, placed) in system.statements.iter().enumerate() {
            for (k, variable) in placed.variables.iter().enumerate() {
                for piece in &variable.pieces {
                    let Feed::Input { subscripts } = &piece.feed else { continue };
                    let array = program.scop.statements[s].reads[k].array;
                    once(&mut reads, touch(array, subscripts));
                }
            }
            if !placed.live_out.is_empty() {
                once(&mut writes, touch(program.scop.statements[s].write.array, &placed.write));
            }
        }
        Facts {
            extent: transform.iter().map(range).collect(),
            free: (0..depth).map(|d| dependences.iter().all(|e| moved(&e.distance, d) == 0)).collect(),
            reduced: (0..depth).map(reduced).collect(),
            reads,
            writes,
            dsp_per_lane: dsp_per_lane(program),
        }
    }
}

/// Several pieces of a program may read the same elements; they are loaded once.
fn once(all: &mut Vec<Read>, one: Read) {
    if !all.contains(&one) {
        all.push(one);
    }
}

fn dsp_per_lane(program: &Program) -> i64 {
    use frontend::scop::{BinaryOp, Expr, ExprKind};
    fn source_bits(e: &Expr) -> i64 {
        match &e.kind {
            ExprKind::Cast(inner) if inner.ty.bits() <= e.ty.bits() && inner.ty.is_float() == e.ty.is_float() => source_bits(inner),
            _ => e.ty.bits() as i64,
        }
    }
    fn count(e: &Expr) -> i64 {
        let own = match &e.kind {
            ExprKind::Fma(..) => 2,
            ExprKind::Binary(BinaryOp::Mul, ..) if e.ty.is_float() => 2,
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                let (x, y) = (source_bits(a), source_bits(b));
                ((x.min(y) + 16) / 17) * ((x.max(y) + 25) / 26)
            }
            _ => 0,
        };
        own + e.operands().into_iter().map(count).sum::<i64>()
    }
    program.scop.statements.iter().map(|s| count(&s.rhs)).sum::<i64>().max(1)
}

/// Sizes worth trying up to `n`: all of it, and powers of two.
fn sizes(n: i64, most: i64) -> Vec<i64> {
    let mut all: Vec<i64> = (0..7).map(|k| 1 << k).filter(|&p| p < n && p <= most && p > 1).collect();
    if n <= most {
        all.push(n);
    }
    all
}

/// Every shape of one transform that the multiplications below allow.
fn shapes(facts: &Facts, transform: &[Vec<i64>], board: &Board) -> Vec<Shape> {
    let depth = facts.extent.len();
    let singles = (0..depth).map(|a| vec![a]);
    let pairs = (0..depth).flat_map(|a| (a + 1..depth).map(move |b| vec![a, b]));
    let mut out = Vec::new();
    for axes in singles.chain(pairs) {
        let mut plans = vec![Plan { transform: transform.to_vec(), dims: vec![DimPlan::default(); depth], order: (0..depth).collect() }];
        for d in 0..depth {
            let options = options_of(facts, d, axes.iter().position(|&a| a == d));
            plans = plans.iter().flat_map(|p| options.iter().map(move |o| { let mut q = p.clone(); q.dims[d] = o.clone(); q })).collect();
            plans.retain(|p| lanes(p, facts) * facts.dsp_per_lane <= board.resources.dsp * 4 / 5);
        }
        let mut ranked: Vec<Shape> = plans.into_iter().filter_map(|p| estimate(facts, p)).collect();
        ranked.sort_by_key(|s| (s.cycles, s.lanes));
        out.extend(ranked);
    }
    let mut kept: Vec<Shape> = Vec::new();
    let mut counts: Vec<(Kind, usize)> = Vec::new();
    for shape in out {
        let kind = kind_of(&shape.plan);
        match counts.iter_mut().find(|c| c.0 == kind) {
            Some(c) if c.1 >= 10 * (SUCCESSES + FAILURES) => continue,
            Some(c) => c.1 += 1,
            None => counts.push((kind, 1)),
        }
        kept.push(shape);
    }
    kept
}

fn options_of(facts: &Facts, d: usize, axis: Option<usize>) -> Vec<DimPlan> {
    let n = facts.extent[d];
    let parallel = facts.free[d] || facts.reduced[d];
    let mut options = Vec::new();
    if axis.is_some() {
        for pes in sizes(n, 64).into_iter().chain((n == 1).then_some(1)) {
            for latency in if facts.free[d] && !facts.reduced[d] { vec![1, 4, 8, 16, 32] } else { vec![1] } {
                if latency == 1 || pes * (latency / 2) < n {
                    options.push(DimPlan { tile: Some(pes * latency), axis, latency, simd: 1 });
                }
            }
        }
        return options;
    }
    for simd in if facts.reduced[d] { vec![1, 2, 4, 8, 16] } else { vec![1] } {
        for tile in [None, Some(256), Some(64)] {
            let tiled = tile.is_some_and(|t| t < n && parallel);
            if (tile.is_none() || tiled) && simd <= n {
                options.push(DimPlan { tile, axis: None, latency: 1, simd });
            }
        }
    }
    options
}

fn lanes(plan: &Plan, facts: &Facts) -> i64 {
    plan.dims.iter().zip(&facts.extent).map(|(p, n)| p.simd * if p.axis.is_some() { p.tile.unwrap_or(*n) / p.latency } else { 1 }).product()
}

fn estimate(facts: &Facts, plan: Plan) -> Option<Shape> {
    let mut tiles = Vec::new();
    let (mut waves, mut visits) = (1i64, 1i64);
    for (p, &n) in plan.dims.iter().zip(&facts.extent) {
        let grain = p.latency * p.simd;
        let tile = (p.tile.unwrap_or(n).min(n) + grain - 1) / grain * grain;
        let inner = if p.axis.is_some() { p.latency } else { tile / p.simd };
        visits *= (n + tile - 1) / tile;
        waves *= inner;
        tiles.push(tile);
    }
    if visits > MAX_VISITS || waves.checked_mul(visits).is_none() {
        return None;
    }
    let (load, drain) = (busiest(&facts.reads, &tiles), busiest(&facts.writes, &tiles));
    let fill: i64 = plan.dims.iter().zip(&tiles).filter(|(p, _)| p.axis.is_some()).map(|(p, t)| t / p.latency).sum();
    let lanes = lanes(&plan, facts);
    Some(Shape { cycles: visits * waves.max(load).max(drain) + load + drain + 2 * fill, lanes, plan })
}

/// Cycles in which the port with the most cells in a tile transfers them, 64 bytes wide.
fn busiest(accesses: &[Read], tiles: &[i64]) -> i64 {
    let mut sums: Vec<(usize, i64)> = Vec::new();
    for access in accesses {
        let cells: i64 = access.subscripts.iter().map(|s| s.iter().zip(tiles).map(|(c, t)| c.abs() * (t - 1)).sum::<i64>() + 1).product();
        let cycles = (cells * access.bytes + 63) / 64;
        match sums.iter_mut().find(|l| l.0 == access.port) {
            Some(l) => l.1 += cycles,
            None => sums.push((access.port, cycles)),
        }
    }
    sums.iter().map(|l| l.1).max().unwrap_or(0)
}
