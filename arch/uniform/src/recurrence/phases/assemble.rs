//! Phases behind one another: the distributed program, and one system for all of its phases.
//!
//! **Terms.** Each level of phase loops is one *phase dimension*. The other dimensions of a phase are its *inner*
//! dimensions. A [`Position`] along a phase dimension is one value, for a phase, or a range of values, for a phase
//! loop.
//!
//! **Method.** Siblings follow each other along their phase dimension: a phase takes one value, a loop as many as it
//! has iterations. In the inner dimensions phases lie upon each other, from 0 on, the largest one first. The dimensions
//! of each are permuted so that the box around all phases is small and no dependence turns backwards.
//!
//! ```text
//! phase A over (i, j): 64 x 8        permuted, B over (j, i): 64 x 8        box 64 x 8 instead of 64 x 64
//! phase B over (i, j): 8 x 64
//! ```
//!
//! A value is stored only if it is live at the end or a later phase reads it ([`needed`]).
//!
//! **Invariant.** A dependence within a phase stays forward; phases that depend on each other differ in a phase
//! dimension.

use crate::affine::map::{compose, coordinate, fixed, lexicographically_positive};
use crate::recurrence::build::push_unique;
use crate::recurrence::change::Change;
use crate::recurrence::phases::{part, Item, Phase};
use crate::system::{Dim, Feed, Frame, Kind, Piece, Place, Placed, System};
use scop::diag::Diagnostics;
use scop::flow;
use scop::flow::{Flow, Source};
use scop::{Affine, Constraint, Loop, LoopId, Scop, Statement, Storage};

/// The place of a phase along one phase dimension.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    At(i64),
    /// The value of its phase loop with this number, plus a constant.
    With(usize, i64),
}

/// A phase at its place among all phases.
struct PlacedPhase<'a> {
    phase: &'a Phase,
    /// Phase loops around it.
    level: usize,
    positions: Vec<Position>,
    /// The number of its first statement in the program.
    first: usize,
    /// By inner dimension: the inner dimension of the whole that it lies upon.
    upon: Vec<usize>,
}

#[derive(Default)]
struct Joining<'a> {
    /// The number of sizes: the outermost loops.
    sizes: usize,
    loops: Vec<Loop>,
    statements: Vec<Statement>,
    phases: Vec<PlacedPhase<'a>>,
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
    let positions = (0..sizes).map(|k| Position::With(k, 0)).collect();
    joining.add(
        scop,
        items,
        &Around { loops: (0..sizes as u32).map(LoopId).collect(), beta: vec![0; sizes], positions },
    );
    joining.drop_single_dimensions();
    let program = Scop {
        loops: std::mem::take(&mut joining.loops),
        statements: std::mem::take(&mut joining.statements),
        ..scop.clone()
    };
    let all: Vec<usize> = (0..program.statements.len()).collect();
    let memory: Vec<bool> = program.arrays.iter().map(|a| a.storage == Storage::Dram).collect();
    let flow = flow::analyze(&part::under(&program, &all, sizes, &memory))?;
    let inner = joining.lay();
    let system = joining.system(&program, &flow, inner);
    Ok((program, system))
}

/// The phase loops around some siblings.
#[derive(Clone, Default)]
struct Around {
    loops: Vec<LoopId>,
    beta: Vec<i64>,
    positions: Vec<Position>,
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
                    inside.positions.push(Position::At(along));
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
                    inside.positions.push(Position::With(level, along - sequence.lo));
                    along += sequence.hi - sequence.lo + 1;
                    position += 1;
                    self.add(scop, &sequence.items, &inside);
                }
            }
        }
    }

    /// Adds the statements of a phase, from `position` among their siblings on; returns the next position.
    fn phase(&mut self, phase: &'a Phase, around: &Around, position: i64) -> i64 {
        let level = around.loops.len();
        let first = self.statements.len();
        let mut copies: Vec<(LoopId, LoopId)> = Vec::new();
        let least = phase.scop.statements.iter().map(|s| s.beta[level]).min().unwrap_or(0);
        let mut next = position;
        for statement in &phase.scop.statements {
            let mut loops = around.loops.clone();
            for &l in &statement.loops[level..] {
                let copy = copies.iter().find(|c| c.0 == l).map(|c| c.1);
                let copy = copy.unwrap_or_else(|| {
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
        self.phases.push(PlacedPhase { phase, level, positions: around.positions.clone(), first, upon: vec![] });
        next
    }

    /// Drops the phase dimensions along which all phases have one position.
    fn drop_single_dimensions(&mut self) {
        let levels = self.names.len();
        self.phases.iter_mut().for_each(|p| p.positions.resize(levels, Position::At(0)));
        let single = |d: &usize| {
            self.phases
                .iter()
                .all(|p| matches!(p.positions[*d], Position::At(_)) && p.positions[*d] == self.phases[0].positions[*d])
        };
        for d in (0..levels).rev().filter(single).collect::<Vec<_>>() {
            self.phases.iter_mut().for_each(|p| _ = p.positions.remove(d));
            self.names.remove(d);
        }
    }

    /// Lays the inner dimensions of the phases upon each other, the largest phase first; returns their number.
    fn lay(&mut self) -> usize {
        // Two at least, so that there is a space loop beside a sequential one.
        let inner = self.phases.iter().map(PlacedPhase::inner).max().unwrap_or(0).max(2);
        let mut order: Vec<usize> = (0..self.phases.len()).collect();
        order.sort_by_key(|&p| {
            std::cmp::Reverse((
                self.phases[p].inner(),
                self.phases[p].extents().iter().map(|&n| i128::from(n)).product::<i128>(),
            ))
        });
        let mut around = vec![1; inner];
        for p in order {
            let placed_phase = &self.phases[p];
            let extents = placed_phase.extents();
            let widened = |upon: &[usize]| {
                let mut wide: Vec<i64> = around.clone();
                upon.iter().zip(&extents).for_each(|(&d, &n)| wide[d] = wide[d].max(n));
                wide
            };
            let volume = |upon: &Vec<usize>| widened(upon).iter().map(|&n| i128::from(n)).product::<i128>();
            // Ties keep the order of the loops.
            let legal =
                arrangements(placed_phase.inner(), inner).into_iter().filter(|upon| placed_phase.is_forward(upon));
            let upon = legal.min_by_key(volume).unwrap_or_else(|| (0..placed_phase.inner()).collect());
            around = widened(&upon);
            self.phases[p].upon = upon;
        }
        inner
    }

    fn system(&self, program: &Scop, flow: &Flow, inner: usize) -> System {
        let phases = self.names.len();
        let depth = phases + inner;
        let frame = Frame { outer: phases, depth };
        let mut statements = Vec::new();
        for placed_phase in &self.phases {
            let moved = placed_phase.moved(frame);
            for (k, placed) in placed_phase.phase.system.statements.iter().enumerate() {
                statements.push(moved.placed(program, placed_phase.first + k, placed));
            }
        }
        let needed = needed(program, flow, &statements, depth);
        for (s, (placed, needed)) in statements.iter_mut().zip(needed).enumerate() {
            // Stores only what is needed, unless that takes more pieces than all last values of the phase.
            let needed = needed
                .map(|all| over_coordinates(placed, &all, depth))
                .filter(|all| all.len() <= placed.live_out.len());
            if let Some(live_out) = needed {
                *placed = Placed::new(program, s, Place { live_out, ..placed.clone().place() }, frame);
            }
        }
        let kind = Kind::by_place(self.sizes, phases);
        System::new(Dim::around(self.dim_names(phases, inner), kind, &statements), statements)
    }

    fn dim_names(&self, phases: usize, inner: usize) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for d in 0..phases + inner {
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

/// All ways to lay `inner` dimensions upon `depth`, the order of the loops first.
fn arrangements(inner: usize, depth: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..inner {
        all = all
            .iter()
            .flat_map(|head| {
                (0..depth).filter(|d| !head.contains(d)).map(|d| [head.as_slice(), &[d]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

impl PlacedPhase<'_> {
    /// The number of its inner dimensions.
    fn inner(&self) -> usize {
        self.phase.system.dims.len() - self.level
    }

    fn extents(&self) -> Vec<i64> {
        self.phase.system.dims[self.level..].iter().map(|d| d.hi - d.lo + 1).collect()
    }

    /// Whether its dependences stay forward.
    fn is_forward(&self, upon: &[usize]) -> bool {
        let depth = upon.iter().max().map_or(0, |d| d + 1);
        // Partial results keep the order of their loops.
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

    /// The change from the phase's coordinates to those of the whole.
    fn moved(&self, frame: Frame) -> Change {
        let Frame { outer: phases, depth } = frame;
        let count = self.phase.system.dims.len();
        let mut over = vec![Affine::constant(depth, 0); count];
        let mut dims = vec![0; count];
        let mut conditions = Vec::new();
        for (d, position) in self.positions.iter().enumerate() {
            match *position {
                Position::At(value) => conditions.push(fixed(d, value, depth)),
                Position::With(k, plus) => {
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

/// The instances of each statement whose value is live at the end or read by a later phase, over its iterators; `None`
/// if they are no union of conjunctions.
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
                match &mut all[statement.index()] {
                    Some(needed) if read.exact => needed.extend(read.pieces),
                    needed => *needed = None,
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
            .map(|domain| part.iter().map(form).chain(domain.iter().cloned()).collect())
            .collect::<Vec<Vec<Constraint>>>()
    };
    all.iter().flat_map(inside).filter(|c| !flow::is_empty(c, depth)).collect()
}
