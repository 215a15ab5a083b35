//! Designs that were illegal, and what the search skips because of them. Whether a shape is legal may depend on its
//! sizes, so skipping proves nothing: the bound of what is skipped stays open.

use super::amounts::share;
use crate::space::Flow;
use crate::tuning;
use cost::board::Resources;
use std::collections::BTreeMap;
use uniform::mapping::Plan;
use uniform::program::Program;
use uniform::refusal::Illegal;

/// What decides whether a shape is legal, except for its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub flow: Flow,
    /// Tiled dimensions, as bits.
    pub tiled: u32,
    /// Dimensions with several iterations in a PE, as bits.
    pub inner: u32,
    pub order: u16,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    legal: u32,
    illegal: u32,
}

#[derive(Default)]
pub(super) struct Refusals {
    by_kind: BTreeMap<Kind, u32>,
    by_flow: BTreeMap<Flow, Tally>,
    /// How many designs were refused for each reason.
    pub by_reason: BTreeMap<String, u64>,
    /// The first design refused for each reason.
    pub first: Vec<(Illegal, Plan)>,
    /// What the legal design takes that comes nearest to the limits and does not fit them.
    pub nearest: Option<Resources>,
}

impl Refusals {
    pub fn count_legal(&mut self, flow: Flow) {
        self.by_flow.entry(flow).or_default().legal += 1;
    }

    pub fn count_illegal(&mut self, kind: Kind) {
        self.by_flow.entry(kind.flow).or_default().illegal += 1;
        *self.by_kind.entry(kind).or_default() += 1;
    }

    pub fn explain(&mut self, program: &Program, illegal: Illegal, plan: Plan) {
        let text = illegal.diagnostic(&program.scop, &program.system, &plan).message;
        let count = self.by_reason.entry(text).or_default();
        *count += 1;
        if *count == 1 {
            self.first.push((illegal, plan));
        }
    }

    /// A legal design takes more than the limits allow.
    pub fn too_big(&mut self, need: &Resources, limits: &Resources) {
        if self.nearest.as_ref().is_none_or(|nearest| share(need, limits) < share(nearest, limits)) {
            self.nearest = Some(*need);
        }
    }

    /// Shapes of this kind were refused too often.
    pub fn skips(&self, kind: &Kind) -> bool {
        self.by_kind.get(kind).is_some_and(|&n| n >= tuning::REFUSALS_PER_KIND)
    }

    /// Designs of this flow were refused too often, and none was legal.
    pub fn gives_up(&self, flow: Flow) -> bool {
        self.by_flow.get(&flow).is_some_and(|t| t.legal == 0 && t.illegal >= tuning::REFUSALS_PER_FLOW)
    }

    /// Forgets what is skipped: shapes in other orders of loops may be legal.
    pub fn forget(&mut self) {
        self.by_kind.clear();
        self.by_flow.clear();
    }
}
