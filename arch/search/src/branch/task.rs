//! What a search is asked, and what it answers.

use super::widths::Widths;
use crate::space::{Grid, Shape};
use array::kernel::Kernel;
use array::vsa::Vsa;
use cost::board::Resources;
use std::collections::BTreeMap;
use std::ops::Add;
use uniform::design;
use uniform::design::{Aim, ArrayChoice, DesignSpec};
use uniform::mapping::{DimPlan, Plan};
use uniform::refusal::Illegal;
use uniform::space_time::coordinates::Coordinates;
use uniform::space_time::transform;

/// How much a search may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Designs assembled.
    pub exact: u64,
    /// Bounds of shapes in closed form.
    pub bounds: u64,
    /// Walks and assembly of PEs, in rows of loads and stores that are walked one by one.
    pub work: u64,
    /// The search may stop when the bound is within this share of the best design's cycles.
    pub gap: f64,
}

impl Effort {
    /// One of so many equal parts.
    pub fn part(self, parts: u64) -> Effort {
        Effort {
            exact: self.exact.div_ceil(parts),
            bounds: self.bounds.div_ceil(parts),
            work: self.work.div_ceil(parts),
            gap: self.gap,
        }
    }

    /// A design like those that were walked before can be walked within it.
    pub fn affords_a_design(&self, before: &Counts) -> bool {
        before.rows / before.exact.max(1) <= self.work
    }
}

/// Find the fewest cycles within limits.
pub struct Task<'a> {
    pub program: &'a Kernel<'a>,
    pub spec: &'a DesignSpec,
    pub limits: Resources,
    /// Dimensions that must be the space loops.
    pub space: Option<Vec<usize>>,
    /// Only these grids.
    pub only: Option<&'a [Grid]>,
    /// Only designs with fewer cycles are of interest.
    pub below: i64,
    /// Any design with at most so many cycles ends the search.
    pub enough: i64,
    pub effort: Effort,
    /// Is told the progress; `false` ends the search.
    pub watch: Option<&'a (dyn Fn(&Progress) -> bool + Sync)>,
}

impl<'a> Task<'a> {
    /// The fewest cycles of all designs within the limits.
    pub fn new(program: &'a Kernel<'a>, spec: &'a DesignSpec, limits: Resources, effort: Effort) -> Task<'a> {
        Task { program, spec, limits, space: None, only: None, below: i64::MAX, enough: 0, effort, watch: None }
    }
}

/// How far a search has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub best: Option<i64>,
    pub bound: i64,
    pub counts: Counts,
}

#[derive(Clone, Debug)]
pub struct Design {
    pub plan: Plan,
    /// The options that build this array.
    pub array: ArrayChoice,
    /// Elements per bus word, by array.
    pub words: BTreeMap<String, u32>,
    pub cycles: i64,
    pub need: Resources,
    pub vsa: Vsa,
}

/// A shape over words of these widths: enough to assemble a design.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Proposal {
    pub shape: Shape,
    pub widths: Widths,
}

/// The search found a better design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Designs assembled until then.
    pub designs: u64,
    pub cycles: i64,
    /// The least open bound then.
    pub bound: i64,
    /// The heuristic that found it, or [`super::BEST_FIRST`].
    pub by: &'static str,
}

/// What a search looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub grids: u64,
    /// Shapes bounded in closed form.
    pub bounds: u64,
    /// Coarse walks.
    pub walks: u64,
    /// Legal designs that were assembled.
    pub exact: u64,
    /// Rows of loads and stores that exact walks walked one by one, and the rest of their work in such rows.
    pub rows: u64,
    /// All that took time but bounds, in such rows; see [`Effort::work`].
    pub work: u64,
    /// Designs that were illegal.
    pub refused: u64,
    pub too_big: u64,
    /// Designs that take fewer cycles than their bound: faults of the bound.
    pub violations: u64,
    /// Designs that take fewer resources than their bound: faults of the bound.
    pub underestimates: u64,
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            grids: self.grids + other.grids,
            bounds: self.bounds + other.bounds,
            walks: self.walks + other.walks,
            exact: self.exact + other.exact,
            rows: self.rows + other.rows,
            work: self.work + other.work,
            refused: self.refused + other.refused,
            too_big: self.too_big + other.too_big,
            violations: self.violations + other.violations,
            underestimates: self.underestimates + other.underestimates,
        }
    }
}

pub struct Found {
    pub best: Option<Design>,
    /// The best designs before it, the fastest first.
    pub runners_up: Vec<Design>,
    /// Larger and faster designs, the fastest first, that a balanced search passed.
    pub passed: Vec<Design>,
    /// What a balanced search knows of designs of half the size, and of a quarter.
    pub smaller: Vec<Smaller>,
    /// No design of the space takes fewer cycles.
    pub bound: i64,
    /// Every better design, in the order in which they were found.
    pub trace: Vec<Step>,
    pub counts: Counts,
    /// Why designs were refused, and how many for each reason.
    pub refused: Vec<(String, u64)>,
    /// The first design refused for each reason.
    pub illegal: Vec<(Illegal, Plan)>,
    /// What the legal design takes that comes nearest to the limits and does not fit them, if there is one.
    pub nearest: Option<Resources>,
}

/// The end of a balanced search: no smaller design is nearly as fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Smaller {
    /// Smaller by this factor.
    pub parts: i32,
    /// Cycles that such a design might have taken.
    pub most: i64,
    /// None takes fewer, that is proved.
    pub bound: i64,
}

impl Design {
    /// The specification that builds this array by hand.
    pub fn spec(&self, base: &DesignSpec) -> DesignSpec {
        let mut spec = DesignSpec { aim: Aim::default(), array: self.array.clone(), ..base.clone() };
        spec.wiring.word = self.words.clone();
        spec
    }
}

/// The transform of the program's wavefront, if options can name its coordinates.
pub(super) fn wavefront(program: &Kernel) -> Option<Vec<Vec<i64>>> {
    let coordinates = Coordinates::new(&program.scop, &program.system);
    transform::wavefront(&program.system).filter(|t| t.iter().all(|row| coordinates.text(row).is_some()))
}

/// The options that select a plan. Loops over phases have none.
pub(crate) fn options_of(program: &Kernel, plan: &Plan) -> ArrayChoice {
    let cased = program.system.loops().start;
    // Coordinates of a wavefront are not loops, so expressions name them.
    let coordinates = Coordinates::new(&program.scop, &program.system);
    let skewed = plan.transform.iter().any(|row| row.iter().filter(|&&c| c != 0).count() > 1);
    let front = skewed.then(|| wavefront(program)).flatten().filter(|t| *t == plan.transform);
    let name = |d: usize| {
        front.as_ref().and_then(|t| coordinates.text(&t[d])).unwrap_or_else(|| program.system.dims[d].name.clone())
    };
    let time = || plan.order.iter().filter(|&&d| plan.dims[d].axis.is_none()).map(|&d| name(d)).collect();
    let order = || plan.order.iter().filter(|&&d| d >= cased).map(|&d| name(d)).collect();
    let factors = |of: &dyn Fn(&DimPlan) -> Option<i64>| {
        plan.dims.iter().enumerate().skip(cased).filter_map(|(d, p)| Some((name(d), of(p)?))).collect()
    };
    let cyclic: Vec<String> = (cased..plan.dims.len()).filter(|&d| plan.dims[d].cyclic).map(name).collect();
    let axis = |a: usize| plan.dims.iter().position(|d| d.axis == Some(a));
    let shape = design::Shape {
        distribute: program.distributed.then_some(true),
        strip: program.strip.clone(),
        skew: program.skew.clone(),
        time: front.is_some().then(time),
        order: front.is_none().then(order),
        tile: factors(&|p| p.tile),
        latency: factors(&|p| (p.latency > 1).then_some(p.latency)),
        simd: factors(&|p| (p.simd > 1).then_some(p.simd)),
        cyclic: Some(cyclic).filter(|loops| !loops.is_empty()),
    };
    ArrayChoice::ByHand { space: Some((0..2).filter_map(axis).map(name).collect()), shape }
}

impl Found {
    /// The better result of two searches, and what both prove together. `other` is of another form of the program.
    pub(crate) fn or(self, other: Found) -> Found {
        let before = self.counts.exact;
        let runners_up = if other.best.is_some() { other.runners_up } else { self.runners_up };
        let later = |step: &Step| Step { designs: before + step.designs, bound: step.bound.min(self.bound), ..*step };
        Found {
            bound: self.bound.min(other.bound),
            trace: self.trace.iter().copied().chain(other.trace.iter().map(later)).collect(),
            counts: self.counts + other.counts,
            refused: [self.refused, other.refused].concat(),
            illegal: self.illegal,
            nearest: self.nearest.or(other.nearest),
            best: other.best.or(self.best),
            runners_up,
            passed: self.passed,
            smaller: self.smaller,
        }
    }

    /// The share of the best design's cycles that may be saved at most.
    pub fn gap(&self) -> f64 {
        self.best.as_ref().map_or(1.0, |b| (b.cycles - self.bound).max(0) as f64 / b.cycles.max(1) as f64)
    }
}
