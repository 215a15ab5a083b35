//! What a search is asked, and what it answers.

use crate::cost::board::Resources;
use crate::explore::assemble::Program;
use crate::explore::space::Grid;
use crate::ir::design::{Aim, ArrayChoice, DesignSpec, Shape};
use crate::ir::mapping::{DimPlan, Plan};
use crate::ir::refusal::Illegal;
use crate::ir::vsa::Vsa;
use std::collections::BTreeMap;

/// How much a search may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Designs assembled.
    pub exact: u64,
    /// Bounds of shapes, in closed form.
    pub bounds: u64,
    /// The search may stop when the best is within this share of the bound.
    pub gap: f64,
}

/// What is sought: the fewest cycles within limits.
pub struct Task<'a> {
    pub program: &'a Program<'a>,
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
    pub watch: Option<&'a dyn Fn(&Progress) -> bool>,
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
    pub refused: u64,
    pub too_big: u64,
    /// Designs below their own bound: a fault of the bound, and none of the design.
    pub violations: u64,
    /// Designs that take less than their bound says; the same kind of fault.
    pub underestimates: u64,
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
    pub fn spec(&self, program: &Program, base: &DesignSpec) -> DesignSpec {
        let name = |d: usize| program.system.dims[d].name.clone();
        let factors = |of: &dyn Fn(&DimPlan) -> Option<i64>| self.plan.dims.iter().enumerate().filter_map(|(d, p)| Some((name(d), of(p)?))).collect();
        let axis = |a: usize| self.plan.dims.iter().position(|d| d.axis == Some(a));
        let shape = Shape {
            order: Some(self.plan.order.iter().map(|&d| name(d)).collect()),
            tile: factors(&|p| p.tile),
            latency: factors(&|p| (p.latency > 1).then_some(p.latency)),
            simd: factors(&|p| (p.simd > 1).then_some(p.simd)),
            ..Shape::default()
        };
        let space = Some((0..2).filter_map(axis).map(name).collect());
        let mut spec = DesignSpec { aim: Aim::default(), array: ArrayChoice::ByHand { space, shape }, ..base.clone() };
        spec.wiring.word = self.words.clone();
        spec
    }
}

impl Found {
    /// Share of the best design's cycles that nobody can be sure it needs.
    pub fn gap(&self) -> f64 {
        self.best.as_ref().map_or(1.0, |b| (b.cycles - self.bound).max(0) as f64 / b.cycles.max(1) as f64)
    }
}
