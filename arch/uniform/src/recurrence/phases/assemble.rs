//! Phases behind one another: the distributed program, and one system over the phase dimensions and the greatest number
//! of the phases' own dimensions.
//!
//! Each level of phase loops is one phase dimension, along which siblings follow each other: a phase takes one value of
//! it, a loop as many as it has iterations. Phases lie upon each other in the other dimensions, from 0 on, turned such
//! that the box around all is small.

use crate::affine::map::{compose, coordinate, fixed, lexicographically_positive};
use crate::recurrence::build::push_unique;
use crate::recurrence::change::Change;
use crate::recurrence::phases::{part, Item, Phase};
use crate::system::{Dim, Feed, Frame, Kind, Piece, Place, Placed, System};
use scop::diag::Diagnostics;
use scop::flow;
use scop::flow::{Flow, Source};
use scop::{Affine, Constraint, Loop, LoopId, Scop, Statement, Storage};

/// Where a phase stands along one phase dimension.
#[derive(Clone, Copy, PartialEq)]
enum Stand {
    At(i64),
    /// With its phase loop of this number, by so much further.
    With(usize, i64),
}

/// A phase in its place.
struct Stood<'a> {
    phase: &'a Phase,
    /// Phase loops around it.
    level: usize,
    stands: Vec<Stand>,
    /// Of its first statement in the program.
    first: usize,
    /// For each of its own dimensions, which of all phases' it is laid upon.
    upon: Vec<usize>,
}

#[derive(Default)]
struct Joining<'a> {
    /// The first loops around all.
    sizes: usize,
    loops: Vec<Loop>,
    statements: Vec<Statement>,
    phases: Vec<Stood<'a>>,
    /// Per phase dimension: names of its loops.
    names: Vec<Vec<String>>,
}

/// # Errors
/// Dataflow between phases that is not affine.
pub(super) fn joined(scop: &Scop, items: &[Item], sizes: usize) -> Result<(Scop, System), Diagnostics> {
    let mut joining = Joining {
        sizes,
        loops: scop.loops[..sizes].to_vec(),
        names: scop.loops[..sizes].iter().map(|l| vec![l.name.clone()]).collect(),
        ..Joining::default()
    };
    let stands = (0..sizes).map(|k| Stand::With(k, 0)).collect();
    joining.add(scop, items, &Around { loops: (0..sizes as u32).map(LoopId).collect(), beta: vec![0; sizes], stands });
    joining.drop_single_dimensions();
    let program = Scop {
        loops: std::mem::take(&mut joining.loops),
        statements: std::mem::take(&mut joining.statements),
        ..scop.clone()
    };
    let all: Vec<usize> = (0..program.statements.len()).collect();
    let memory: Vec<bool> = program.arrays.iter().map(|a| a.storage == Storage::Dram).collect();
    let flow = flow::analyze(&part::under(&program, &all, sizes, &memory))?;
    let own = joining.lay();
    let system = joining.system(&program, &flow, own);
    Ok((program, system))
}

/// The phase loops around some siblings.
#[derive(Clone, Default)]
struct Around {
    loops: Vec<LoopId>,
    beta: Vec<i64>,
    stands: Vec<Stand>,
}

impl<'a> Joining<'a> {
    fn add(&mut self, scop: &Scop, items: &'a [Item], around: &Around) {
        let level = around.loops.len();
        let (mut position, mut along) = (0, 0);
        self.names.resize_with(self.names.len().max(level + 1), Vec::new);
        for item in items {
            let mut inside = around.clone();
            match item {
                Item::Phase(phase) => {
                    inside.stands.push(Stand::At(along));
                    along += 1;
                    position = self.phase(phase, &inside, position);
                }
                Item::Loop(sequence) => {
                    let parent = around.loops.last().copied();
                    let counted = &scop.loops[sequence.at.index()];
                    if !self.names[level].contains(&counted.name) {
                        self.names[level].push(counted.name.clone());
                    }
                    inside.loops.push(LoopId(self.loops.len() as u32));
                    self.loops.push(Loop { parent, ..counted.clone() });
                    inside.beta.push(position);
                    inside.stands.push(Stand::With(level, along - sequence.lo));
                    along += sequence.hi - sequence.lo + 1;
                    position += 1;
                    self.add(scop, &sequence.items, &inside);
                }
            }
        }
    }

    /// Statements of a phase, from `position` among their siblings on; the next position.
    fn phase(&mut self, phase: &'a Phase, around: &Around, position: i64) -> i64 {
        let level = around.loops.len();
        let first = self.statements.len();
        let mut copies: Vec<(LoopId, LoopId)> = Vec::new();
        let least = phase.scop.statements.iter().map(|s| s.beta[level]).min().unwrap_or(0);
        let mut next = position;
        for statement in &phase.scop.statements {
            let mut loops = around.loops.clone();
            for &l in &statement.loops[level..] {
                let known = copies.iter().find(|c| c.0 == l).map(|c| c.1);
                let copy = known.unwrap_or_else(|| {
                    let copy = LoopId(self.loops.len() as u32);
                    self.loops.push(Loop { parent: loops.last().copied(), ..phase.scop.loops[l.index()].clone() });
                    copies.push((l, copy));
                    copy
                });
                loops.push(copy);
            }
            let here = position + statement.beta[level] - least;
            next = next.max(here + 1);
            let beta =
                around.beta.iter().copied().chain([here]).chain(statement.beta[level + 1..].iter().copied()).collect();
            self.statements.push(Statement { loops, beta, ..statement.clone() });
        }
        self.phases.push(Stood { phase, level, stands: around.stands.clone(), first, upon: vec![] });
        next
    }

    /// Levels along which all stand at one place are none.
    fn drop_single_dimensions(&mut self) {
        let levels = self.names.len();
        self.phases.iter_mut().for_each(|p| p.stands.resize(levels, Stand::At(0)));
        let single = |d: &usize| {
            self.phases
                .iter()
                .all(|p| matches!(p.stands[*d], Stand::At(_)) && p.stands[*d] == self.phases[0].stands[*d])
        };
        for d in (0..levels).rev().filter(single).collect::<Vec<_>>() {
            self.phases.iter_mut().for_each(|p| _ = p.stands.remove(d));
            self.names.remove(d);
        }
    }

    /// Lays the phases' own dimensions upon each other, the largest phase first; how many there are.
    fn lay(&mut self) -> usize {
        // Two at least, so that there is a space loop beside a sequential one.
        let own = self.phases.iter().map(Stood::own).max().unwrap_or(0).max(2);
        let mut order: Vec<usize> = (0..self.phases.len()).collect();
        order.sort_by_key(|&p| {
            std::cmp::Reverse((
                self.phases[p].own(),
                self.phases[p].extents().iter().map(|&n| i128::from(n)).product::<i128>(),
            ))
        });
        let mut around = vec![1; own];
        for p in order {
            let stood = &self.phases[p];
            let extents = stood.extents();
            let widened = |upon: &[usize]| {
                let mut wide: Vec<i64> = around.clone();
                upon.iter().zip(&extents).for_each(|(&d, &n)| wide[d] = wide[d].max(n));
                wide
            };
            let volume = |upon: &Vec<usize>| widened(upon).iter().map(|&n| i128::from(n)).product::<i128>();
            // As they are, if another order is not smaller.
            let legal = arrangements(stood.own(), own).into_iter().filter(|upon| stood.is_forward(upon));
            let upon = legal.min_by_key(volume).unwrap_or_else(|| (0..stood.own()).collect());
            around = widened(&upon);
            self.phases[p].upon = upon;
        }
        own
    }

    fn system(&self, program: &Scop, flow: &Flow, own: usize) -> System {
        let phases = self.names.len();
        let depth = phases + own;
        let frame = Frame { outer: phases, depth };
        let mut statements = Vec::new();
        for stood in &self.phases {
            let moved = stood.moved(frame);
            for (k, placed) in stood.phase.system.statements.iter().enumerate() {
                statements.push(moved.placed(program, stood.first + k, placed));
            }
        }
        let needed = needed(program, flow, &statements, depth);
        for (s, (placed, needed)) in statements.iter_mut().zip(needed).enumerate() {
            // All that is last in its phase may be stored; what nobody needs is not, where that is no more pieces.
            let needed = needed
                .map(|all| over_coordinates(placed, &all, depth))
                .filter(|all| all.len() <= placed.live_out.len());
            if let Some(live_out) = needed {
                *placed = Placed::new(program, s, Place { live_out, ..placed.clone().place() }, frame);
            }
        }
        let kind = Kind::by_place(self.sizes, phases);
        System::new(Dim::around(self.dim_names(phases, own), kind, &statements), statements)
    }

    fn dim_names(&self, phases: usize, own: usize) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for d in 0..phases + own {
            let mut here: Vec<String> = vec![];
            let these: Vec<String> = match d.checked_sub(phases) {
                None => self.names[d].clone(),
                Some(e) => self
                    .phases
                    .iter()
                    .filter_map(|p| {
                        Some(p.phase.system.dims[p.level + p.upon.iter().position(|&x| x == e)?].name.clone())
                    })
                    .collect(),
            };
            these.iter().flat_map(|n| n.split('.').next().unwrap_or(n).split('_')).filter(|n| *n != "once").for_each(
                |n| {
                    if !here.iter().any(|x| x == n) {
                        here.push(n.into())
                    }
                },
            );
            let base = match here.as_slice() {
                [] if d < phases => "phase".into(),
                [] => "once".into(),
                several => several.join("_"),
            };
            push_unique(&mut all, base);
        }
        all
    }
}

/// All ways to lay `own` dimensions upon `depth`, as they are first.
fn arrangements(own: usize, depth: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..own {
        all = all
            .iter()
            .flat_map(|head| {
                (0..depth).filter(|d| !head.contains(d)).map(|d| [head.as_slice(), &[d]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

impl Stood<'_> {
    /// Dimensions of its own.
    fn own(&self) -> usize {
        self.phase.system.dims.len() - self.level
    }

    fn extents(&self) -> Vec<i64> {
        self.phase.system.dims[self.level..].iter().map(|d| d.hi - d.lo + 1).collect()
    }

    /// Its values still come from before.
    fn is_forward(&self, upon: &[usize]) -> bool {
        let depth = upon.iter().max().map_or(0, |d| d + 1);
        // Partial results keep the order of the loops that they run over.
        let zero = |e: &Affine| e.is_constant() && e.constant == 0;
        let partial = self.phase.system.statements.iter().flat_map(|p| &p.variables).flat_map(|v| &v.pieces).all(|p| {
            match &p.feed {
                Feed::Partial { distance } => {
                    upon.iter().zip(&distance[self.level..]).filter(|(_, e)| !zero(e)).map(|(d, _)| d).is_sorted()
                }
                Feed::Input { .. } | Feed::Value { .. } | Feed::Carry { .. } => true,
            }
        });
        partial
            && self.phase.system.dependences().iter().all(|dependence| {
                let mut distance = vec![0; depth];
                upon.iter().zip(&dependence.distance[self.level..]).for_each(|(&d, &e)| distance[d] = e);
                lexicographically_positive(&distance) || distance.iter().all(|&e| e == 0)
            })
    }

    /// From the phase's coordinates to those of the whole.
    fn moved(&self, frame: Frame) -> Change {
        let Frame { outer: phases, depth } = frame;
        let own = self.phase.system.dims.len();
        let mut over = vec![Affine::constant(depth, 0); own];
        let mut dims = vec![0; own];
        let mut conditions = Vec::new();
        for (d, stand) in self.stands.iter().enumerate() {
            match *stand {
                Stand::At(value) => conditions.push(fixed(d, value, depth)),
                Stand::With(k, plus) => {
                    over[k] = Affine { constant: -plus, ..coordinate(d, depth) };
                    dims[k] = d;
                }
            }
        }
        for (e, &d) in self.upon.iter().enumerate() {
            let k = self.level + e;
            over[k] = Affine { constant: self.phase.system.dims[k].lo, ..coordinate(phases + d, depth) };
            dims[k] = phases + d;
        }
        conditions.extend((phases..depth).filter(|d| !dims.contains(d)).map(|d| fixed(d, 0, depth)));
        Change { over, dims, within: conditions, first: self.first, frame }
    }
}

/// Instances of each statement whose value stays in DRAM at the end, or is read by a later phase, over its iterators;
/// `None` where that is no union of conjunctions.
fn needed(program: &Scop, flow: &Flow, statements: &[Placed], depth: usize) -> Vec<Option<Vec<Vec<Constraint>>>> {
    let last =
        |s: usize| flow.live_out.iter().filter(|l| l.statement.index() == s).flat_map(|l| l.domain.clone()).collect();
    let mut all: Vec<Option<Vec<Vec<Constraint>>>> = (0..statements.len()).map(|s| Some(last(s))).collect();
    for (s, placed) in statements.iter().enumerate() {
        let over_coordinates = |a: &Affine| compose(a, &placed.iterators, depth);
        for (variable, sources) in placed.variables.iter().zip(&flow.reads[s]) {
            let inputs: Vec<&Piece> = variable.pieces.iter().filter(|p| matches!(p.feed, Feed::Input { .. })).collect();
            for source in sources {
                let Source::Write { statement, iteration } = &source.source else { continue };
                let there: Vec<Affine> = iteration.iter().map(over_coordinates).collect();
                let here =
                    source.domain.iter().map(|c| Constraint { expr: over_coordinates(&c.expr), equality: c.equality });
                let here: Vec<Constraint> = here.collect();
                let parts: Vec<Vec<Constraint>> = inputs
                    .iter()
                    .map(|p| [p.domain.as_slice(), &here].concat())
                    .filter(|c| !flow::is_empty(c, depth))
                    .collect();
                if parts.is_empty() {
                    continue;
                }
                let read = flow::image(&parts, &there, depth);
                let known = &mut all[statement.index()];
                match known {
                    Some(known) if read.exact => known.extend(read.pieces),
                    _ => *known = None,
                }
            }
        }
    }
    let merged = |(s, all): (usize, Option<Vec<Vec<Constraint>>>)| {
        all.map(|all| flow::disjoint(&all, program.statements[s].loops.len()))
    };
    all.into_iter().enumerate().map(merged).collect()
}

/// A statement's instances over the coordinates.
fn over_coordinates(placed: &Placed, all: &[Vec<Constraint>], depth: usize) -> Vec<Vec<Constraint>> {
    let form = |c: &Constraint| Constraint { expr: compose(&c.expr, &placed.iterators, depth), equality: c.equality };
    let inside = |part: &Vec<Constraint>| {
        placed
            .domain
            .iter()
            .map(|own| part.iter().map(form).chain(own.iter().cloned()).collect())
            .collect::<Vec<Vec<Constraint>>>()
    };
    all.iter().flat_map(inside).filter(|c| !flow::is_empty(c, depth)).collect()
}
