//! What a search is asked, and what it answers.

use crate::space::Grid;
use array::kernel::Kernel;
use array::vsa::Vsa;
use cost::board::Resources;
use std::collections::BTreeMap;
use uniform::design::{Aim, ArrayChoice, DesignSpec, Shape};
use uniform::mapping::{DimPlan, Plan};
use uniform::refusal::Illegal;
use uniform::space_time::coordinates::Coordinates;
use uniform::space_time::transform;

/// How much a search may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Designs assembled.
    pub exact: u64,
    /// Bounds of shapes, in closed form.
    pub bounds: u64,
    /// What exact walks and the making of PEs take, in rows of loads and drains that are walked.
    pub work: u64,
    /// The search may stop when the best is within this share of the bound.
    pub gap: f64,
}

impl Effort {
    /// One of so many parts.
    pub fn part(self, parts: u64) -> Effort {
        Effort {
            exact: self.exact.div_ceil(parts),
            bounds: self.bounds.div_ceil(parts),
            work: self.work.div_ceil(parts),
            gap: self.gap,
        }
    }
}

/// What is sought: the fewest cycles within limits.
pub struct Task<'a> {
    pub program: &'a Kernel<'a>,
    pub spec: &'a DesignSpec,
    pub limits: Resources,
    /// Band dimensions that must be the space loops.
    pub space: Option<Vec<usize>>,
    /// These grids alone.
    pub only: Option<&'a [Grid]>,
    /// Only designs with fewer cycles are of interest.
    pub below: i64,
    /// Any design with so few cycles will do.
    pub enough: i64,
    pub effort: Effort,
    /// Looks on, and may end the search by `false`.
    pub watch: Option<&'a (dyn Fn(&Progress) -> bool + Sync)>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub best: Option<i64>,
    pub bound: i64,
    pub counts: Counts,
}

#[derive(Clone, Debug)]
pub struct Design {
    pub plan: Plan,
    /// The plan as a person asks for it.
    pub array: ArrayChoice,
    /// Elements per bus word, by array.
    pub words: BTreeMap<String, u32>,
    pub cycles: i64,
    pub need: Resources,
    pub vsa: Vsa,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub grids: u64,
    pub bounds: u64,
    pub walks: u64,
    /// Designs assembled, and those refused while they were.
    pub exact: u64,
    /// Rows of loads and drains in walks of these.
    pub rows: u64,
    pub refused: u64,
    pub too_big: u64,
    /// Designs below their own bound: a fault of the bound, and none of the design.
    pub violations: u64,
    /// Designs that take less than their bound says; the same kind of fault.
    pub underestimates: u64,
}

impl Counts {
    pub(crate) fn plus(&self, other: &Counts) -> Counts {
        Counts {
            grids: self.grids + other.grids,
            bounds: self.bounds + other.bounds,
            walks: self.walks + other.walks,
            exact: self.exact + other.exact,
            rows: self.rows + other.rows,
            refused: self.refused + other.refused,
            too_big: self.too_big + other.too_big,
            violations: self.violations + other.violations,
            underestimates: self.underestimates + other.underestimates,
        }
    }
}

pub struct Found {
    pub best: Option<Design>,
    /// No design of the space takes fewer cycles.
    pub bound: i64,
    /// Fewer and fewer cycles: after how many exact designs, cycles, bound then.
    pub trace: Vec<(u64, i64, i64)>,
    pub counts: Counts,
    /// Why designs were refused, and how many.
    pub refused: Vec<(String, u64)>,
    pub illegal: Vec<(Illegal, Plan)>,
}

impl Design {
    /// What builds this array by hand.
    pub fn spec(&self, base: &DesignSpec) -> DesignSpec {
        let mut spec = DesignSpec { aim: Aim::default(), array: self.array.clone(), ..base.clone() };
        spec.wiring.word = self.words.clone();
        spec
    }
}

/// The program's wavefront, if its coordinates can be written.
pub(super) fn wavefront(program: &Kernel) -> Option<Vec<Vec<i64>>> {
    let coordinates = Coordinates::new(&program.scop, &program.system);
    transform::wavefront(&program.system).filter(|t| t.iter().all(|row| coordinates.text(row).is_some()))
}

/// A plan as a person asks for it. Of loops over phases there is nothing to say.
pub(crate) fn by_hand(program: &Kernel, plan: &Plan) -> ArrayChoice {
    let cased = program.system.loops().start;
    // Coordinates of a wavefront have no names of loops.
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
    let axis = |a: usize| plan.dims.iter().position(|d| d.axis == Some(a));
    let shape = Shape {
        apart: program.apart.then_some(true),
        strip: program.strip.clone(),
        slant: program.slant.clone(),
        time: front.is_some().then(time),
        order: front.is_none().then(order),
        tile: factors(&|p| p.tile),
        latency: factors(&|p| (p.latency > 1).then_some(p.latency)),
        simd: factors(&|p| (p.simd > 1).then_some(p.simd)),
        ..Shape::default()
    };
    ArrayChoice::ByHand { space: Some((0..2).filter_map(axis).map(name).collect()), shape }
}

impl Found {
    /// The better of two searches; what both say of the space that is theirs together.
    pub(crate) fn or(self, other: Found) -> Found {
        let (open, closed) = (self.counts, other.counts);
        let trace =
            other.trace.iter().map(|&(exact, cycles, bound)| (open.exact + exact, cycles, bound.min(self.bound)));
        Found {
            bound: self.bound.min(other.bound),
            trace: self.trace.iter().copied().chain(trace).collect(),
            counts: open.plus(&closed),
            refused: [self.refused, other.refused].concat(),
            illegal: self.illegal,
            best: other.best.or(self.best),
        }
    }
    /// Share of the best design's cycles that nobody can be sure it needs.
    pub fn gap(&self) -> f64 {
        self.best.as_ref().map_or(1.0, |b| (b.cycles - self.bound).max(0) as f64 / b.cycles.max(1) as f64)
    }
}
