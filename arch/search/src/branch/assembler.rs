//! Assembles plans into arrays, counts what they take, and walks them.

use super::task::{options_of, Design, Task};
use crate::tuning;
use array::kernel::Kernel;
use array::variants;
use array::vsa::Vsa;
use cost::board::Resources;
use cost::{memory, resources};
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
    /// Not better than the limit.
    Slow {
        /// What it takes, if that was counted.
        need: Option<Resources>,
        /// Rows of loads and stores that were walked.
        rows: u64,
    },
    Better {
        design: Box<Design>,
        rows: u64,
    },
}

impl Outcome {
    pub fn need(&self) -> Option<Resources> {
        match self {
            Outcome::TooBig { need, .. } => Some(*need),
            Outcome::Slow { need, .. } => *need,
            Outcome::Better { design, .. } => Some(design.need),
        }
    }

    pub fn rows(&self) -> u64 {
        match self {
            Outcome::TooBig { .. } => 0,
            Outcome::Slow { rows, .. } | Outcome::Better { rows, .. } => *rows,
        }
    }
}

pub(super) struct Assembler<'a> {
    program: &'a Kernel<'a>,
    pub spec: &'a DesignSpec,
    limits: Resources,
    /// Nodes of all PEs that were assembled.
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
        self.counted(variants::assemble(self.program, plan, spec))
    }

    /// The first array of a plan that is found; it may not be the fastest.
    ///
    /// # Errors
    /// Why the plan is no array for the program.
    pub fn first(&self, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
        self.counted(variants::first(self.program, plan, spec))
    }

    fn counted(&self, array: Result<Vsa, Illegal>) -> Result<Vsa, Illegal> {
        self.nodes.fetch_add(array.as_ref().map_or(0, |vsa| vsa.nodes.len() as u64), Ordering::Relaxed);
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

    /// Assembles a plan, and walks it while it takes fewer cycles than the limit.
    ///
    /// # Errors
    /// Why the plan is no array for the program.
    pub fn evaluate(&self, plan: Plan, words: BTreeMap<String, u32>, limit: i64) -> Result<Outcome, Box<Illegal>> {
        let vsa = self.assemble(plan.clone(), &self.spec_with(words))?;
        let walk = || memory::run_below(&vsa, self.spec, limit);
        // The cheaper check comes first.
        let walked = (vsa.tiles() <= tuning::SHORT_RUN).then(walk);
        if let Some((None, rows)) = walked {
            return Ok(Outcome::Slow { need: None, rows });
        }
        let parts = resources::parts(&vsa);
        let need = parts.total();
        let is_within = self.spec.aim.grid.is_none_or(|most| most.holds(vsa.extent, vsa.lanes));
        if !need.fits(&self.limits) || !is_within {
            return Ok(Outcome::TooBig { need, pes: parts.pes.floor() });
        }
        let (prediction, rows) = walked.unwrap_or_else(walk);
        let Some(memory::Run { prediction, .. }) = prediction else {
            return Ok(Outcome::Slow { need: Some(need), rows });
        };
        let words = vsa.arrays.iter().map(|a| (a.name.clone(), a.word)).collect();
        let array = options_of(self.program, &plan);
        Ok(Outcome::Better {
            design: Box::new(Design { array, plan, words, cycles: prediction.cycles, need, vsa }),
            rows,
        })
    }
}
