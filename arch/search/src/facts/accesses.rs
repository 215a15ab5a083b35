//! The loads and stores of a program under one transform, found in its recurrences.

use super::access::{Access, Span};
use super::carried;
use super::transitions::in_every_phase;
use super::PhaseClass;
use array::kernel::Kernel;
use array::pe::spill;
use scop::flow;
use scop::{Affine, ArrayId, Constraint};
use std::collections::BTreeSet;
use uniform::affine::interval;
use uniform::case::Case;
use uniform::mapping::own_row;
use uniform::system::{Dim, Feed, Placed, System};

/// What an access is expressed in.
pub(super) struct Accesses<'p> {
    program: &'p Kernel<'p>,
    transform: &'p [Vec<i64>],
    inverse: Vec<Vec<i64>>,
    /// Least and greatest transformed coordinates.
    bounds: &'p [(i64, i64)],
    classes: &'p [PhaseClass],
}

impl<'p> Accesses<'p> {
    pub fn new(
        program: &'p Kernel<'p>,
        transform: &'p [Vec<i64>],
        bounds: &'p [(i64, i64)],
        classes: &'p [PhaseClass],
    ) -> Accesses<'p> {
        let inverse = uniform::affine::unimodular_inverse(transform).unwrap_or_default();
        Accesses { program, transform, inverse, bounds, classes }
    }

    fn system(&self) -> &System {
        &self.program.system
    }

    /// Arrays that are loaded. Pieces that read the same elements load them once.
    pub fn reads(&self) -> Vec<Access> {
        let (system, scop) = (self.system(), &self.program.scop);
        let mut reads = vec![];
        for (s, placed) in system.statements.iter().enumerate() {
            for (k, variable) in placed.variables.iter().enumerate() {
                let array = scop.statements[s].reads[k].array;
                for piece in &variable.pieces {
                    let Feed::Input { subscripts } = &piece.feed else { continue };
                    if scop.array(array).by_value().is_some() {
                        continue;
                    }
                    let mut access = self.access(array, subscripts);
                    access.within = self.is_within(&access);
                    access.counted = access.within;
                    access.domains = vec![vec![piece.domain.clone()]];
                    access.in_every_phase = self.in_every_phase(s, std::slice::from_ref(&piece.domain), |_| vec![]);
                    access.limit_to(spans(&piece.domain, system, self.transform));
                    add(&mut reads, access);
                }
            }
        }
        reads
    }

    /// Arrays that are stored.
    pub fn writes(&self) -> Vec<Access> {
        let (system, scop) = (self.system(), &self.program.scop);
        let mut writes = vec![];
        for (s, placed) in system.statements.iter().enumerate() {
            for store in placed.stores.iter().filter(|_| !placed.live_out.is_empty()) {
                let mut access = self.access(scop.statements[s].write.array, &placed.write);
                access.fix(&fixed(&store.when, &system.dims), &|a| self.over(a));
                access.in_every_phase = self.in_every_phase(s, &placed.live_out, |_| vec![]);
                access.in_last_tile = self.in_every_phase(s, &placed.live_out, |class| self.last_tile(class));
                access.whole = if system.frame().outer > 0 { self.whole(&placed.live_out) } else { 0 };
                access.latency = match self.program.reductions[s] {
                    Some(_) => 1,
                    None => carried::longest(&scop.statements[s].rhs).max(1),
                };
                access.classes = (0..system.cases.len())
                    .filter(|&c| placed.during.is_none() || system.cases[c].statements.contains(&s))
                    .collect();
                access.early = self.early(&store.when, &access.classes);
                access.sum = if access.plain { self.partial_sum(s) } else { 0 };
                access.ends = self.ends(s) & !access.early;
                let boxed = matches!(&placed.live_out[..], [only] if self.is_whole(only, &placed.write));
                access.within = self.is_within(&access);
                access.counted = boxed && access.plain && !access.fixed && access.within;
                if self.program.is_sized() {
                    // Sizes end rows where the array ends.
                    let whole = |&(least, most): &(i64, i64)| Some(Span { least, most });
                    access.limit_to(self.bounds.iter().map(whole).collect());
                }
                add(&mut writes, access);
            }
        }
        writes
    }

    fn access(&self, array: ArrayId, subscripts: &[Affine]) -> Access {
        let (system, a) = (self.system(), self.program.scop.array(array));
        let extents = if a.dims.is_empty() { vec![1] } else { a.dims.clone() };
        let scalar = || vec![Affine::constant(system.dims.len(), 0)];
        let form = if subscripts.is_empty() { scalar() } else { subscripts.to_vec() };
        let stores =
            |(s, p): (usize, &Placed)| !p.live_out.is_empty() && self.program.scop.statements[s].write.array == array;
        let only_read = !system.statements.iter().enumerate().any(stores);
        Access::new([array.index(), a.ty.bytes() as usize], extents, form, &|a| self.over(a), only_read)
    }

    /// Every cell of the loops' box is stored: conditions are on single loops, and leave out no value of those that move
    /// the cell.
    fn is_whole(&self, domain: &[Constraint], write: &[Affine]) -> bool {
        let dims = &self.system().dims;
        let all = |c: &Constraint| {
            let used: Vec<usize> = (0..dims.len()).filter(|&d| c.expr.coeffs[d] != 0).collect();
            let moves = |d: usize| write.iter().any(|form| form.coeffs[d] != 0);
            match used[..] {
                [] => true,
                [d] if moves(d) => {
                    let at = |value: i64| c.expr.constant + c.expr.coeffs[d] * value;
                    !c.equality && at(dims[d].lo) >= 0 && at(dims[d].hi) >= 0
                }
                [_] => true,
                _ => false,
            }
        };
        domain.iter().all(all)
    }

    /// No iteration of the loops' box reaches a cell beyond the array.
    fn is_within(&self, access: &Access) -> bool {
        let dims = &self.system().dims;
        let inside = |(form, extent): (&Affine, &i64)| {
            let terms = form.coeffs.iter().zip(dims).map(|(&c, d)| (c, d.lo, d.hi));
            let (least, most) = interval(form.constant, terms);
            least >= 0 && most < i128::from(*extent)
        };
        access.forms.iter().all(|form| form.iter().zip(&access.extents).all(inside))
    }

    /// Coefficients over the transformed dimensions.
    fn over(&self, a: &Affine) -> Vec<i64> {
        let depth = self.transform.len();
        (0..depth).map(|d| a.coeffs.iter().zip(&self.inverse).map(|(c, row)| c * row[d]).sum()).collect()
    }

    /// Dimensions of a sum whose partial results lowering may send to DRAM and back, as bits: only if the transform
    /// leaves all of them alone.
    fn partial_sum(&self, s: usize) -> u32 {
        let may = spill::may_spill(&self.program.scop, self.system(), self.system().frame().outer, s);
        let Some(sum) = self.program.reductions[s].as_ref().filter(|_| may) else { return 0 };
        sum.dims.iter().map(|&r| own_row(self.transform, r).map(|d| 1 << d)).sum::<Option<u32>>().unwrap_or(0)
    }

    /// Transformed dimensions of a sum whose result is there after their last iteration, as bits. In phases, and with sizes
    /// at run time, the last iteration is not always in the same PE.
    fn ends(&self, s: usize) -> u32 {
        if self.system().frame().outer > 0 || self.program.is_sized() {
            return 0;
        }
        let sum = self.program.reductions[s].iter().flat_map(|sum| &sum.dims);
        sum.filter_map(|&r| own_row(self.transform, r)).fold(0, |all, d| all | 1 << d)
    }

    /// Per phase class: statement `s` executes something of one of the sets in every phase, under conditions.
    fn in_every_phase(
        &self,
        s: usize,
        sets: &[Vec<Constraint>],
        conditions: impl Fn(&PhaseClass) -> Vec<Constraint>,
    ) -> Vec<bool> {
        let of = |(case, class): (&Case, &PhaseClass)| {
            let conditions = conditions(class);
            let within = |set: &Vec<Constraint>| [set.as_slice(), &conditions].concat();
            case.statements.contains(&s) && sets.iter().any(|set| in_every_phase(&within(set), case, self.system()))
        };
        self.system().cases.iter().zip(self.classes).map(of).collect()
    }

    /// Transformed dimensions along which something is stored before the last iteration only, in phases of these classes;
    /// as bits.
    fn early(&self, when: &[Vec<Constraint>], classes: &BTreeSet<usize>) -> u32 {
        let System { dims, cases, .. } = self.system();
        let last = |d: usize| classes.iter().map(|&c| cases[c].bounds[d].1).min().unwrap_or(dims[d].hi);
        let within: Vec<Vec<(i64, i64)>> = when.iter().map(|all| ranges(all, dims)).collect();
        let is_early = |d: &usize| !within.is_empty() && within.iter().all(|r| r[*d].1 < last(*d));
        let early: Vec<usize> = (self.system().frame().outer..dims.len()).filter(is_early).collect();
        let moves = |row: &Vec<i64>| early.iter().any(|&d| row[d] != 0);
        self.transform.iter().enumerate().filter(|(_, row)| moves(row)).fold(0, |m, (d, _)| m | 1 << d)
    }

    /// The last iteration of a phase.
    fn last_tile(&self, class: &PhaseClass) -> Vec<Constraint> {
        let inside = self.system().frame().outer..self.transform.len();
        inside.map(|d| has_value(&self.transform[d], self.bounds[d].0 + class.extent[d] - 1)).collect()
    }

    /// Transformed dimensions that the sets span from end to end, as bits.
    fn whole(&self, sets: &[Vec<Constraint>]) -> u32 {
        let dims = &self.system().dims;
        let Some(spans) = flow::domain_bounds(sets, dims.len()) else { return 0 };
        let is_whole =
            |row: &[i64]| row.iter().enumerate().all(|(e, c)| *c == 0 || spans[e] == (dims[e].lo, dims[e].hi));
        (0..dims.len()).filter(|&d| is_whole(&self.transform[d])).fold(0, |m, d| m | 1 << d)
    }
}

fn add(all: &mut Vec<Access>, one: Access) {
    match all.iter_mut().find(|a| a.array == one.array && a.subscripts == one.subscripts) {
        Some(same) => same.merge(one),
        None => all.push(one),
    }
}

/// The combination of coordinates has this value.
fn has_value(row: &[i64], value: i64) -> Constraint {
    Constraint { expr: Affine { coeffs: row.to_vec(), constant: -value }, equality: true }
}

/// The values of the transformed dimensions in `domain`; `None` for a combination of several dimensions in a domain
/// that is no box.
fn spans(domain: &[Constraint], system: &System, transform: &[Vec<i64>]) -> Vec<Option<Span>> {
    let over =
        |row: &[i64]| -> Vec<(i64, i64, i64)> { row.iter().zip(&system.dims).map(|(&c, d)| (c, d.lo, d.hi)).collect() };
    let everywhere = domain.iter().all(|c| {
        let (least, most) = interval(c.expr.constant, over(&c.expr.coeffs));
        least >= 0 && (!c.equality || most == 0)
    });
    let bounds = if everywhere { None } else { flow::domain_bounds(&[domain.to_vec()], system.dims.len()) };
    let span = |row: &Vec<i64>| match (&bounds, row.iter().filter(|c| **c != 0).count()) {
        _ if everywhere => {
            let (least, most) = interval(0, over(row));
            Some(Span { least: least as i64, most: most as i64 })
        }
        (Some(bounds), 1) => {
            let (c, (lo, hi)) = row.iter().zip(bounds).find(|x| *x.0 != 0)?;
            Some(Span { least: (c * lo).min(c * hi), most: (c * lo).max(c * hi) })
        }
        _ => None,
    };
    transform.iter().map(span).collect()
}

/// Dimensions that depend on others, or take only some of their values, where a cell is stored.
fn fixed(when: &[Vec<Constraint>], dims: &[Dim]) -> Vec<usize> {
    let within: Vec<Vec<(i64, i64)>> = when.iter().map(|all| ranges(all, dims)).collect();
    let depends = |d: usize| when.iter().flatten().any(|c| c.equality && c.expr.coeffs[d] != 0);
    (0..dims.len()).filter(|&d| depends(d) || within.iter().any(|r| r[d] != (dims[d].lo, dims[d].hi))).collect()
}

/// Per dimension: an interval that contains all its values in the conjunction, by interval arithmetic.
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
                for (d, range) in within.iter_mut().enumerate() {
                    // `x * value + rest >= 0`, with all other terms at their greatest.
                    let (x, rest) = (sign * c.expr.coeffs[d], most - term(d, *range));
                    match x {
                        1.. => range.0 = range.0.max((-rest + x - 1).div_euclid(x)),
                        0 => {}
                        _ => range.1 = range.1.min(rest.div_euclid(-x)),
                    }
                }
            }
        }
    }
    within
}
