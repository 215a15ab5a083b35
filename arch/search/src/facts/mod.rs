//! What is known of a program under one transform before anything is assembled: extents, which dimensions are free,
//! which boxes of which arrays a tile touches.

use crate::handover;
use crate::handover::Handover;
use array::contract::timing::op_latency;
use array::io::port;
use array::kernel::Kernel;
use array::vsa::{NodeId, Op};
use cost::bound::{Transfer, PORTS};
use scop::flow;
use scop::{Affine, ArrayId, Constraint, Expr, ExprKind};
use std::collections::BTreeSet;
use uniform::affine::interval;
use uniform::case::Case;
use uniform::space_time::tile::{reach, transformed_bounds};
use uniform::system::{Dependence, Dim, Feed, Placed, System};

const WIDEST: i64 = port::WIDEST as i64;

/// One array through one linear access function.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub array: usize,
    /// Among the ports in use.
    pub port: usize,
    /// Per element.
    pub bytes: i64,
    /// Of the array; of a single element `[1]`.
    pub extents: Vec<i64>,
    /// Per subscript: coefficient of every transformed dimension.
    pub subscripts: Vec<Vec<i64>>,
    /// The subscripts over band coordinates, once for each constant that occurs.
    pub bands: Vec<Vec<Affine>>,
    /// Where each of `bands` is read.
    pub domains: Vec<Vec<Constraint>>,
    /// Per transformed dimension, values at which it is read, at least; `None` where that is not known.
    spans: Vec<Option<(i64, i64)>>,
    /// Dimensions that move the box, as bits.
    pub mask: u32,
    /// Of a store: dimensions of a sum whose partial results may go to DRAM and back, as bits.
    pub sum: u32,
    /// Of a store: dimensions without which a cell has no place are left out of the subscripts, as the emission fixes
    /// them.
    pub held: bool,
    /// Per case: it is loaded or stored in each of its phases.
    pub sure: Vec<bool>,
    /// Of a store, per case: in the last visit of each of its phases, too.
    pub last: Vec<bool>,
    /// Of a store: dimensions that it reaches from end to end, as bits.
    pub reaches: u32,
    /// Of a store: cycles from a wave's launch to its value in the PE where it is launched, at least.
    pub made: i64,
    /// Of a store: cases in which that may be.
    pub cases: BTreeSet<usize>,
    /// Nobody stores to the array, so its inner dimensions may be joined.
    pub only_read: bool,
    /// Nothing but loops of their own moves the subscripts: a box has as many cells as the product of its sides.
    pub plain: bool,
    /// The box of a tile with inner dimensions joined, from none to as many as there are: per subscript.
    levels: Vec<Vec<Side>>,
}

/// A box reaches along one subscript: per dimension that moves it, by how much, and iterations in which it reads, at
/// most.
type Side = Vec<(usize, i64, i64)>;

/// The facts of one transform.
#[derive(Clone, Debug)]
pub struct Facts {
    pub transform: Vec<Vec<i64>>,
    /// Leading dimensions that run phases.
    pub phases: usize,
    /// Of the transformed dimensions.
    pub extent: Vec<i64>,
    /// With phases: how many are executed alike, and extents of what they do (one along each dimension of phases).
    pub cases: Vec<(i64, Vec<i64>)>,
    /// Of the case of the first phase, if that is its only one.
    pub first: Option<usize>,
    pub handovers: Vec<Handover>,
    /// No dependence but a sum's moves along it.
    pub free: Vec<bool>,
    pub summed: Vec<bool>,
    /// Along this dimension alone a value goes on: a sum, in any order or not.
    pub carried: Vec<bool>,
    /// Per dimension: a value goes on to the next iteration along it, in a fixed order.
    pub stepped: Vec<bool>,
    /// Per dimension: cycles from a value to the next one along it, which is made of it, in a fixed order; 0 where that
    /// is not so.
    pub returns: Vec<i64>,
    pub reads: Vec<Access>,
    /// Cells written at the end.
    pub writes: Vec<Access>,
    /// Per port in use: the arrays behind it, bytes of their largest element.
    pub ports: Vec<(Vec<usize>, i64)>,
    /// Sums in free order are of floats: it pays to have other loops inside.
    pub floats: bool,
    /// Dimensions along which floats are summed or handed on, as bits.
    pub slow: u32,
    /// Distances that iterations in any legal order keep.
    distances: Vec<Vec<i64>>,
    /// The last dimension is a wavefront (`transform::wavefront`), behind which all others are one tile.
    pub front: bool,
}

impl Facts {
    pub fn new(program: &Kernel, transform: &[Vec<i64>]) -> Facts {
        let (system, scop) = (&program.system, &program.scop);
        let depth = system.dims.len();
        let bounds = transformed_bounds(system, transform);
        let moved = |e: &[i64], d: usize| -> i64 { transform[d].iter().zip(e).map(|(a, b)| a * b).sum() };
        let accumulates = |s: usize, read: usize| program.reductions[s].as_ref().is_some_and(|r| r.read == read);
        let dependences: Vec<_> =
            system.dependences_within().filter(|e| !(e.from == e.to && accumulates(e.to.index(), e.read))).collect();
        let summed = |d: usize| {
            program.reductions.iter().flatten().any(|r| r.dims.contains(&d))
                && transform[d].iter().filter(|&&c| c != 0).count() == 1
        };
        let along = |e: &[i64], d: usize| (0..depth).all(|other| (moved(e, other) != 0) == (other == d));
        let next = |e: &Dependence, d: usize| {
            e.from == e.to && !e.carried && along(&e.distance, d) && moved(&e.distance, d) == 1
        };
        let returns = |d: usize| {
            let all = dependences.iter().filter(|e| next(e, d));
            all.filter_map(|e| through(&scop.statements[e.to.index()].rhs, e.read)).max().unwrap_or(0)
        };
        let floats = program
            .reductions
            .iter()
            .zip(&scop.statements)
            .any(|(r, s)| r.is_some() && scop.array(s.write.array).ty.is_float());
        let returns: Vec<i64> = (0..depth).map(returns).collect();
        let mut distances: Vec<Vec<i64>> =
            dependences.iter().map(|e| (0..depth).map(|d| moved(&e.distance, d)).collect()).collect();
        distances.sort_unstable();
        distances.dedup();
        let inverse = uniform::affine::unimodular_inverse(transform).unwrap_or_default();
        let over = |a: &Affine| -> Vec<i64> {
            (0..depth).map(|d| a.coeffs.iter().zip(&inverse).map(|(c, row)| c * row[d]).sum()).collect()
        };
        let stored = |array: usize| {
            system
                .statements
                .iter()
                .enumerate()
                .any(|(s, p)| !p.live_out.is_empty() && scop.statements[s].write.array.index() == array)
        };
        let touch = |array: ArrayId, subscripts: &[Affine]| {
            let a = scop.array(array);
            let extents = if a.dims.is_empty() { vec![1] } else { a.dims.clone() };
            let bands = if subscripts.is_empty() { vec![Affine::constant(depth, 0)] } else { subscripts.to_vec() };
            Access::new(
                array.index(),
                a.ty.bytes() as i64,
                extents,
                bands.iter().map(over).collect(),
                bands,
                !stored(array.index()),
            )
        };
        // As in lowering: one store of one statement, by a sum whose dimensions the transform leaves alone.
        let kept =
            |r: usize| transform.iter().position(|row| row.iter().enumerate().all(|(d, &c)| c == i64::from(d == r)));
        let partial = |s: usize, placed: &Placed| -> u32 {
            let array = scop.statements[s].write.array;
            let alone = system
                .statements
                .iter()
                .enumerate()
                .all(|(t, p)| t == s || p.live_out.is_empty() || scop.statements[t].write.array != array);
            let Some(reduction) =
                program.reductions[s].as_ref().filter(|_| alone && system.phases == 0 && placed.stores.len() == 1)
            else {
                return 0;
            };
            reduction.dims.iter().map(|&r| kept(r).map(|d| 1 << d)).sum::<Option<u32>>().unwrap_or(0)
        };
        let extents: Vec<(i64, Vec<i64>)> =
            system.cases.iter().map(|of| case(system, transform, &bounds, &of.bounds)).collect();
        // Cases in whose every phase something is executed that one of these sets says.
        let sure = |s: usize, sets: &[Vec<Constraint>]| -> Vec<bool> {
            system
                .cases
                .iter()
                .map(|c| c.statements.contains(&s) && sets.iter().any(|set| handover::in_every_phase(set, c, system)))
                .collect()
        };
        let last = |s: usize, sets: &[Vec<Constraint>]| -> Vec<bool> {
            let ends = |extent: &[i64]| -> Vec<Constraint> {
                (system.phases..depth).map(|d| at(&transform[d], bounds[d].0 + extent[d] - 1)).collect()
            };
            let of = |(c, (_, extent)): (&Case, &(i64, Vec<i64>))| {
                let ends = ends(extent);
                c.statements.contains(&s)
                    && sets.iter().any(|set| handover::in_every_phase(&[set.as_slice(), &ends].concat(), c, system))
            };
            system.cases.iter().zip(&extents).map(of).collect()
        };
        let reaches = |sets: &[Vec<Constraint>]| -> u32 {
            let Some(spans) = flow::domain_bounds(sets, depth) else { return 0 };
            let whole = |d: &usize| {
                transform[*d]
                    .iter()
                    .enumerate()
                    .all(|(e, c)| *c == 0 || spans[e] == (system.dims[e].lo, system.dims[e].hi))
            };
            (0..depth).filter(whole).fold(0, |m, d| m | 1 << d)
        };
        let phased = system.phases > 0;
        let (mut reads, mut writes): (Vec<Access>, Vec<Access>) = (vec![], vec![]);
        for (s, placed) in system.statements.iter().enumerate() {
            for (k, variable) in placed.variables.iter().enumerate() {
                for piece in &variable.pieces {
                    let Feed::Input { subscripts } = &piece.feed else { continue };
                    let array = scop.statements[s].reads[k].array;
                    if scop.array(array).by_value().is_some() {
                        continue;
                    }
                    let mut access = touch(array, subscripts);
                    access.domains = vec![piece.domain.clone()];
                    access.sure = sure(s, std::slice::from_ref(&piece.domain));
                    access.span(spans(&piece.domain, system, transform));
                    once(&mut reads, access);
                }
            }
            for store in placed.stores.iter().filter(|_| !placed.live_out.is_empty()) {
                let mut access = touch(scop.statements[s].write.array, &placed.write);
                access.fix(&fixed(&store.when, &system.dims), &over);
                access.sure = sure(s, &placed.live_out);
                access.last = last(s, &placed.live_out);
                access.reaches = if phased { reaches(&placed.live_out) } else { 0 };
                access.made = if program.reductions[s].is_some() { 1 } else { deepest(&scop.statements[s].rhs).max(1) };
                access.cases = (0..system.cases.len())
                    .filter(|&c| placed.during.is_none() || system.cases[c].statements.contains(&s))
                    .collect();
                access.sum = if access.plain { partial(s, placed) } else { 0 };
                once(&mut writes, access);
            }
        }
        let mut facts = Facts {
            transform: transform.to_vec(),
            phases: system.phases,
            extent: bounds.iter().map(|b| b.1 - b.0 + 1).collect(),
            first: system
                .cases
                .iter()
                .position(|c| c.bounds.iter().zip(&system.dims).take(system.phases).all(|(b, d)| *b == (d.lo, d.lo))),
            handovers: vec![],
            cases: extents,
            free: (0..depth).map(|d| dependences.iter().all(|e| moved(&e.distance, d) == 0)).collect(),
            summed: (0..depth).map(summed).collect(),
            carried: (0..depth)
                .map(|d| summed(d) || dependences.iter().any(|e| e.from == e.to && along(&e.distance, d)))
                .collect(),
            stepped: (0..depth).map(|d| dependences.iter().any(|e| next(e, d))).collect(),
            slow: (0..depth).filter(|&d| returns[d] > 0 || floats && summed(d)).fold(0, |m, d| m | 1 << d),
            floats,
            returns,
            distances,
            reads,
            writes,
            ports: vec![],
            front: false,
        };
        facts.number_ports(program);
        let moved =
            |all: &'_ [Access]| -> Vec<(usize, Vec<bool>)> { all.iter().map(|a| (a.array, a.sure.clone())).collect() };
        let (reads, writes) = (moved(&facts.reads), moved(&facts.writes));
        facts.handovers = handover::handovers(system, &reads, &writes, &program.passed);
        facts
    }

    /// Of a wavefront.
    pub fn of_front(program: &Kernel, transform: &[Vec<i64>]) -> Facts {
        Facts { front: true, ..Facts::new(program, transform) }
    }

    fn number_ports(&mut self, program: &Kernel) {
        let mut used: Vec<usize> = vec![];
        for access in self.reads.iter_mut().chain(&mut self.writes) {
            let port = program.ports[access.array];
            access.port = used.iter().position(|&p| p == port).unwrap_or_else(|| {
                used.push(port);
                self.ports.push((vec![], 0));
                used.len() - 1
            });
            let (arrays, bytes) = &mut self.ports[access.port];
            *bytes = access.bytes.max(*bytes);
            if !arrays.contains(&access.array) {
                arrays.push(access.array);
            }
        }
    }

    /// Cycles in which the busiest port moves what must be moved once, over the widest words.
    pub fn floor(&self) -> i64 {
        let (mut loads, mut stores) = ([0; PORTS], [0; PORTS]);
        for a in self.reads.iter().filter(|a| a.port < PORTS) {
            loads[a.port] += a.load_beats(&self.extent, WIDEST);
        }
        for a in self.writes.iter().filter(|a| a.port < PORTS) {
            stores[a.port] += a.store_beats(&self.extent, WIDEST);
        }
        loads.into_iter().chain(stores).max().unwrap_or(0)
    }

    /// What a tile moves over words of `widths` bytes, by port.
    pub fn transfers(&self, tile: &[i64], widths: &[i64], loads: &mut Vec<Transfer>, stores: &mut Vec<Transfer>) {
        let of = |a: &Access, beats: i64| Transfer {
            port: a.port,
            beats,
            mask: a.mask,
            sum: a.sum,
            back: if self.comes_back(a) { beats } else { 0 },
        };
        loads.clear();
        loads.extend(self.reads.iter().map(|a| of(a, a.load_beats(tile, widths[a.port]))));
        stores.clear();
        stores.extend(self.writes.iter().map(|a| of(a, a.store_beats(tile, widths[a.port]))));
    }

    /// Partial results of this store may be read again for nothing else.
    pub fn comes_back(&self, store: &Access) -> bool {
        store.sum != 0 && !self.reads.iter().any(|r| r.array == store.array && r.subscripts == store.subscripts)
    }

    /// Elements per word of every array whose rows the lanes of dimension `d` store, over ports of these widths
    /// (bytes). Where other iterations of `d` follow in time, these lanes must divide that number: their cells fall
    /// into one word.
    pub fn side_by_side(&self, d: usize, width: impl Fn(usize) -> i64) -> Vec<i64> {
        let along = |w: &&Access| w.plain && w.subscripts.last().is_some_and(|s| s.get(d).is_some_and(|&c| c != 0));
        self.writes.iter().filter(along).map(|w| width(w.port) / w.bytes).collect()
    }

    /// The band dimension that a transformed one is made of, if it is only one.
    pub fn alone(&self, transformed: usize) -> Option<usize> {
        let row = self.transform.get(transformed)?;
        row.iter().position(|c| *c != 0).filter(|&d| row[d + 1..].iter().all(|c| *c == 0))
    }

    /// Values of floats wait for the operators that they are made by.
    pub fn waits(&self) -> bool {
        self.returns.iter().any(|&n| n > 0)
    }

    /// Whichever loop runs innermost, a value of floats waits there for the operators that it is made by.
    pub fn always_waits(&self) -> bool {
        let depth = self.extent.len();
        let innermost = |d: usize| (0..depth).filter(|&other| other != d).chain([d]).collect::<Vec<_>>();
        (self.phases..depth).all(|d| self.returns[d] > 0 || !self.keeps(&innermost(d)))
    }

    /// The order of dimensions that a plan has at first: the program's, or behind a wavefront.
    pub fn order(&self) -> Vec<usize> {
        let depth = self.extent.len();
        if self.front {
            [depth - 1].into_iter().chain(0..depth - 1).collect()
        } else {
            (0..depth).collect()
        }
    }

    /// In this order of dimensions dependent ones need no value before it is there.
    pub fn keeps(&self, order: &[usize]) -> bool {
        let first = |e: &Vec<i64>| order.iter().filter(|&&d| !self.parallel(d)).map(|&d| e[d]).find(|&x| x != 0);
        self.distances.iter().all(|e| first(e).is_none_or(|x| x > 0))
    }

    /// Tiles, lanes and orders of the dimension are the search's to choose.
    pub fn parallel(&self, d: usize) -> bool {
        d >= self.phases && (self.free[d] || self.summed[d])
    }
}

/// Phases in the box of a case, and its extents.
fn case(system: &System, transform: &[Vec<i64>], bounds: &[(i64, i64)], all: &[(i64, i64)]) -> (i64, Vec<i64>) {
    let extent = |(d, reach)| if d < system.phases { 1 } else { reach + 1 };
    (
        all[..system.phases].iter().map(|b| b.1 - b.0 + 1).product(),
        reach(transform, bounds, all).into_iter().enumerate().map(extent).collect(),
    )
}

/// Cycles through the operators of floats from a read to the expression's value; `None` where it does not contain the
/// read. Others may give up their registers.
fn through(e: &Expr, read: usize) -> Option<i64> {
    let here = match &e.kind {
        ExprKind::Read(k) if *k == read => return Some(0),
        _ => e.operands().into_iter().filter_map(|o| through(o, read)).max()?,
    };
    Some(here + float_latency(e))
}

/// Of the expression's own operator on floats.
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
    op.filter(|_| float).map_or(0, |op| op_latency(&op, e.ty, &operands))
}

/// Cycles through the operators of floats on the longest way from a read or constant to the expression's value.
fn deepest(e: &Expr) -> i64 {
    let operands = e.operands();
    let before = operands.iter().map(|o| deepest(o));
    // Of the sides of a selection one may never be taken; what is computed with constants may be simpler, and light
    // operators may give up their registers.
    let before = if matches!(e.kind, ExprKind::Select(..)) { before.min() } else { before.max() };
    let heavy = !operands.iter().any(|o| matches!(o.kind, ExprKind::Const(_)));
    before.unwrap_or(0) + if heavy { Some(float_latency(e)).filter(|&n| n > 1).unwrap_or(0) } else { 0 }
}

/// Coordinates of which a combination has this value.
fn at(row: &[i64], value: i64) -> Constraint {
    Constraint { expr: Affine { coeffs: row.to_vec(), constant: -value }, equality: true }
}

/// Several pieces of a program may read the same elements; they are loaded once.
fn once(all: &mut Vec<Access>, one: Access) {
    match all.iter_mut().find(|a| a.array == one.array && a.subscripts == one.subscripts) {
        Some(known) => {
            known.bands.extend(one.bands.into_iter().filter(|b| !known.bands.contains(b)).collect::<Vec<_>>());
            known.domains.extend(one.domains.into_iter().filter(|d| !known.domains.contains(d)).collect::<Vec<_>>());
            known.cases.extend(one.cases);
            known.sure.iter_mut().zip(&one.sure).for_each(|(a, b)| *a |= b);
            known.last.iter_mut().zip(&one.last).for_each(|(a, b)| *a |= b);
            known.reaches &= one.reaches;
            known.made = known.made.min(one.made);
            let joined = |(a, b): (&Option<(i64, i64)>, Option<(i64, i64)>)| match (*a, b) {
                (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                (a, b) => a.or(b),
            };
            known.span(known.spans.iter().zip(one.spans).map(joined).collect());
        }
        None => all.push(one),
    }
}

/// Values of the transformed dimensions in `domain`: those of the band itself, and all where the domain is a box of
/// them.
fn spans(domain: &[Constraint], system: &System, transform: &[Vec<i64>]) -> Vec<Option<(i64, i64)>> {
    let over =
        |row: &[i64]| -> Vec<(i64, i64, i64)> { row.iter().zip(&system.dims).map(|(&c, d)| (c, d.lo, d.hi)).collect() };
    let everywhere = domain.iter().all(|c| {
        let (least, most) = interval(c.expr.constant, over(&c.expr.coeffs));
        least >= 0 && (!c.equality || most == 0)
    });
    let bounds = if everywhere { None } else { flow::domain_bounds(&[domain.to_vec()], system.dims.len()) };
    let span = |row: &Vec<i64>| match (&bounds, row.iter().filter(|c| **c != 0).count()) {
        _ if everywhere => Some(interval(0, over(row))).map(|(lo, hi)| (lo as i64, hi as i64)),
        (Some(bounds), 1) => {
            row.iter().zip(bounds).find(|x| *x.0 != 0).map(|(c, b)| ((c * b.0).min(c * b.1), (c * b.0).max(c * b.1)))
        }
        _ => None,
    };
    transform.iter().map(span).collect()
}

/// Band dimensions that depend on others, or have not all of their values, where a cell is stored.
fn fixed(when: &[Vec<Constraint>], dims: &[Dim]) -> Vec<usize> {
    let within: Vec<Vec<(i64, i64)>> = when.iter().map(|all| ranges(all, dims)).collect();
    let depends = |d: usize| when.iter().flatten().any(|c| c.equality && c.expr.coeffs[d] != 0);
    (0..dims.len()).filter(|&d| depends(d) || within.iter().any(|r| r[d] != (dims[d].lo, dims[d].hi))).collect()
}

/// What a conjunction leaves of each dimension, at most.
fn ranges(all: &[Constraint], dims: &[Dim]) -> Vec<(i64, i64)> {
    let mut within: Vec<(i64, i64)> = dims.iter().map(|d| (d.lo, d.hi)).collect();
    for _ in 0..dims.len() {
        for c in all {
            for sign in if c.equality { &[1, -1][..] } else { &[1] } {
                let term = |e: usize, (lo, hi): (i64, i64)| {
                    let x = sign * c.expr.coeffs[e];
                    (x * lo).max(x * hi)
                };
                let most: i64 =
                    sign * c.expr.constant + within.iter().enumerate().map(|(e, &r)| term(e, r)).sum::<i64>();
                for d in 0..dims.len() {
                    // `x * value + rest >= 0`, where the others are as large as they can be.
                    let (x, rest) = (sign * c.expr.coeffs[d], most - term(d, within[d]));
                    match x {
                        1.. => within[d].0 = within[d].0.max((-rest + x - 1).div_euclid(x)),
                        0 => {}
                        _ => within[d].1 = within[d].1.min(rest.div_euclid(-x)),
                    }
                }
            }
        }
    }
    within
}

impl Access {
    fn new(
        array: usize,
        bytes: i64,
        extents: Vec<i64>,
        subscripts: Vec<Vec<i64>>,
        bands: Vec<Affine>,
        only_read: bool,
    ) -> Access {
        let mut access = Access {
            array,
            port: 0,
            bytes,
            extents,
            subscripts,
            domains: vec![],
            spans: vec![],
            bands: vec![bands],
            mask: 0,
            sum: 0,
            held: false,
            sure: vec![],
            last: vec![],
            reaches: 0,
            made: 1,
            cases: BTreeSet::new(),
            only_read,
            plain: false,
            levels: vec![],
        };
        access.finish();
        access
    }

    /// Nothing is said of what moves along band dimensions whose value the emission fixes, nor of where it begins then.
    fn fix(&mut self, dims: &[usize], over: &dyn Fn(&Affine) -> Vec<i64>) {
        for (row, band) in self.subscripts.iter_mut().zip(&mut self.bands[0]) {
            if dims.iter().any(|&d| band.coeffs[d] != 0) {
                dims.iter().for_each(|&d| band.coeffs[d] = 0);
                band.constant = 0;
                self.held = true;
            }
            *row = over(band);
        }
        self.finish();
    }

    fn finish(&mut self) {
        let uses = |s: &Vec<i64>| s.iter().enumerate().filter(|(_, &c)| c != 0).fold(0u32, |m, (d, _)| m | 1 << d);
        self.mask = self.subscripts.iter().map(uses).fold(0, |a, b| a | b);
        let alone = self
            .subscripts
            .iter()
            .all(|s| s.iter().filter(|&&c| c != 0).count() <= 1 && s.iter().all(|c| c.abs() <= 1));
        // Where a constant is the last subscript, rows run along another one.
        let last = self.mask == 0 || self.bands[0].last().is_none_or(|b| !b.is_constant());
        self.plain = last
            && alone
            && self.subscripts.iter().map(|s| uses(s).count_ones()).sum::<u32>() == self.mask.count_ones();
        self.join();
    }

    /// Reads at these values of transformed dimensions.
    fn span(&mut self, spans: Vec<Option<(i64, i64)>>) {
        self.spans = spans;
        self.join();
    }

    fn join(&mut self) {
        // PEs that do not read have no feeders.
        let read = |d: usize| self.spans.get(d).map_or(i64::MAX, |s| s.map_or(1, |(lo, hi)| hi - lo + 1));
        let side =
            |s: &Vec<i64>| s.iter().enumerate().filter(|(_, c)| **c != 0).map(|(d, c)| (d, c.abs(), read(d))).collect();
        let mut level = self.subscripts.clone();
        let mut levels = vec![level.iter().map(side).collect()];
        let mut extent = 1;
        while self.only_read && level.len() > 1 {
            extent *= self.extents[level.len() - 1];
            if let (Some(y), Some(x)) = (level.pop(), level.pop()) {
                level.push(x.iter().zip(&y).map(|(x, y)| extent * x + y).collect());
            }
            levels.push(level.iter().map(side).collect());
        }
        self.levels = levels;
    }

    /// Least bus beats that load the box of a tile, over words of `width` bytes.
    pub fn load_beats(&self, tile: &[i64], width: i64) -> i64 {
        let side = |side: &Side| side.iter().map(|&(d, c, most)| c * (tile[d].min(most) - 1)).sum::<i64>() + 1;
        let beats = |level: &Vec<Side>| {
            let (last, outer) = level.split_last().expect("a subscript");
            outer.iter().map(side).product::<i64>() * ((side(last) * self.bytes + width - 1) / width)
        };
        self.levels.iter().map(beats).min().unwrap_or(0)
    }

    /// Least bus beats that store the cells of a tile.
    pub fn store_beats(&self, tile: &[i64], width: i64) -> i64 {
        let side = |s: &Vec<i64>| s.iter().zip(tile).filter(|(c, _)| **c != 0).map(|(_, t)| *t).max().unwrap_or(1);
        let (last, outer) = self.subscripts.split_last().expect("a subscript");
        if self.plain {
            return outer.iter().map(side).product::<i64>() * ((side(last) * self.bytes + width - 1) / width);
        }
        // Subscripts that share no dimension with another count apart; rows may lie along any of them.
        let shares = |s: &Vec<i64>| {
            self.subscripts.iter().filter(|o| s.iter().zip(*o).any(|(a, b)| *a != 0 && *b != 0)).count() > 1
        };
        let cells: i64 = self.subscripts.iter().filter(|s| !shares(s)).map(side).product();
        (cells * self.bytes + width - 1) / width
    }
}
