//! Assembles plans into arrays, counts what they take, and walks them.

use super::task::{options_of, Design, Task};
use crate::{deal, tuning};
use array::kernel::Kernel;
use array::variants::{self, Wanted};
use array::vsa::Vsa;
use cost::board::Resources;
use cost::{memory, resources, Allowed, End};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use uniform::design::DesignSpec;
use uniform::mapping::Plan;
use uniform::refusal::Illegal;

/// What came of a legal design.
pub(super) enum Outcome {
    TooBig {
        need: Resources,
        /// The part of its PEs, at least.
        pes: Resources,
    },
    /// Its walk would take too much work, so its cycles are not known.
    Long {
        need: Option<Resources>,
        work: u64,
    },
    /// Not better than the limit.
    Slow {
        /// What it takes, if that was counted.
        need: Option<Resources>,
        /// Of its walk, in rows of loads and stores.
        work: u64,
    },
    Better {
        design: Box<Design>,
        work: u64,
    },
}

impl Outcome {
    pub fn need(&self) -> Option<Resources> {
        match self {
            Outcome::TooBig { need, .. } => Some(*need),
            Outcome::Slow { need, .. } | Outcome::Long { need, .. } => *need,
            Outcome::Better { design, .. } => Some(design.need),
        }
    }

    /// Work of its walk.
    pub fn work(&self) -> u64 {
        match self {
            Outcome::TooBig { .. } => 0,
            Outcome::Slow { work, .. } | Outcome::Long { work, .. } | Outcome::Better { work, .. } => *work,
        }
    }
}

pub(super) struct Assembler<'a> {
    pub program: &'a Kernel<'a>,
    pub spec: &'a DesignSpec,
    limits: Resources,
    /// Nodes of PEs that were lowered.
    nodes: AtomicU64,
    /// Tiles of all coarse walks.
    tiles: AtomicU64,
}

impl<'a> Assembler<'a> {
    pub fn new(task: &Task<'a>) -> Assembler<'a> {
        Assembler { program: task.program, spec: task.spec, limits: task.limits, nodes: 0.into(), tiles: 0.into() }
    }

    /// The specification with these elements per bus word.
    pub fn spec_with(&self, words: BTreeMap<String, u32>) -> DesignSpec {
        let mut spec = self.spec.clone();
        spec.wiring.word = words;
        spec
    }

    /// The fastest array of a plan.
    ///
    /// # Errors
    /// Why the plan is no array for the program.
    pub fn assemble(&self, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
        self.counted(plan, spec, Wanted::Fastest)
    }

    /// The first array of a plan that is found; it may not be the fastest.
    ///
    /// # Errors
    /// Why the plan is no array for the program.
    pub fn first(&self, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
        self.counted(plan, spec, Wanted::First)
    }

    fn counted(&self, plan: Plan, spec: &DesignSpec, wanted: Wanted) -> Result<Vsa, Illegal> {
        let (array, nodes) = variants::counted(self.program, plan, spec, wanted);
        self.nodes.fetch_add(nodes, Ordering::Relaxed);
        array
    }

    /// Exact only while nothing is being assembled.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    pub fn count_tiles(&self, tiles: u64) {
        self.tiles.fetch_add(tiles, Ordering::Relaxed);
    }

    /// Exact only while nothing is being walked.
    pub fn tiles(&self) -> u64 {
        self.tiles.load(Ordering::Relaxed)
    }

    /// Assembles a plan, and walks it as far as it is allowed.
    ///
    /// # Errors
    /// Why the plan is no array for the program.
    pub fn evaluate(
        &self,
        plan: Plan,
        words: BTreeMap<String, u32>,
        allowed: Allowed,
    ) -> Result<Outcome, Box<Illegal>> {
        let spec = self.spec_with(words);
        let (mut plan, mut vsa) = (plan.clone(), self.assemble(plan, &spec)?);
        let walk = |vsa: &Vsa| memory::run_below(vsa, self.spec, allowed);
        // The cheaper check comes first.
        let mut walked = (vsa.tiles() <= tuning::SHORT_RUN).then(|| walk(&vsa));
        match walked {
            Some((End::Slow, work)) => return Ok(Outcome::Slow { need: None, work }),
            Some((End::Long, work)) => return Ok(Outcome::Long { need: None, work }),
            _ => {}
        }
        let parts = resources::parts(&vsa);
        let outside = |vsa: &Vsa| resources::converters(vsa, self.spec);
        let mut need = parts.total() + outside(&vsa);
        let is_within = self.spec.aim.grid.is_none_or(|most| most.holds(vsa.extent, vsa.lanes));
        if !need.fits(&self.limits) || !is_within {
            let least = need - parts.feeders - parts.collectors - parts.relays;
            let assemble = |plan| self.assemble(plan, &spec).ok();
            let dealt = is_within && least.fits(&self.limits);
            let dealt = dealt.then(|| deal::smaller(self.program, (&plan, &vsa), assemble, |_| true)).flatten();
            let fitting = dealt.map(|(plan, vsa)| (resources::on_board(&vsa, self.spec), plan, vsa));
            let Some(found) = fitting.filter(|found| found.0.fits(&self.limits)) else {
                return Ok(Outcome::TooBig { need, pes: parts.pes.floor() });
            };
            (need, plan, vsa) = found;
            walked = None;
        }
        let (end, work) = walked.unwrap_or_else(|| walk(&vsa));
        let prediction = match end {
            End::Run(run) => run.prediction,
            End::Slow => return Ok(Outcome::Slow { need: Some(need), work }),
            End::Long => return Ok(Outcome::Long { need: Some(need), work }),
        };
        let words = vsa.arrays.iter().map(|a| (a.name.clone(), a.word)).collect();
        let array = options_of(self.program, &plan);
        Ok(Outcome::Better {
            design: Box::new(Design { array, plan, words, cycles: prediction.cycles, need, vsa }),
            work,
        })
    }
}
