//! Incumbents: simple arrays to begin with, the most promising shapes of a grid now and then, and at the end the best
//! design over words as narrow as they can be.

use crate::branch::known::Evaluated;
use crate::branch::share;
use crate::branch::task::Design;
use crate::branch::{at_once, Grid, Node, Resources, Search, Shape, Widths, GRIDS};
use array::contract::walk::MemoryTiming;
use cost::{predict_below, resources};
use std::collections::{BTreeMap, VecDeque};
use uniform::mapping::{DimPlan, Plan};

/// Grids between dives, dives at most, designs tried in each, and of these together.
pub(super) const DIVE_EVERY: u64 = 40;
pub(super) const DIVES: u64 = 40;
const DIVE_TRIES: usize = 4;
const DIVE_TOGETHER: usize = 2;
/// Shapes that a dive walks together.
const DIVE_WALKS: usize = 4;
/// Percent of the limits that the PEs of a rung's grids take, grids a rung looks at, of which it makes PEs, and into
/// which it dives.
const RUNGS: [i64; 4] = [95, 85, 70, 50];
const RUNG_GRIDS: usize = 400;
const RUNG_TRIES: usize = 12;
const RUNG_DIVES: usize = 3;
/// Grids that are dived into by what others took, and the share of the limits that these may take then.
const CORRECTIONS: usize = 40;
const CORRECTED: f64 = 0.95;
/// How many times smaller the next grid of a flow is where no shape of one fits.
const SMALLER: f64 = 1.3;
/// Narrower words that are tried for the best design, at least; else a quarter of the effort.
const POLISHED: u64 = 12;
/// Shapes of a grid that a dive looks at more closely.
const DIVE_WIDTH: usize = 40;

impl Search<'_> {
    /// Simple arrays over every choice of space loops: programs whose loops can be cut in no other way have one of
    /// these.
    pub(super) fn seeds(&mut self) {
        for (k, axes) in self.choices() {
            if self.best.is_some() {
                break;
            }
            for most in [i64::MAX, 64, 16, 4, 1] {
                let Some(plan) = self.seed(k, &axes, most) else { continue };
                self.counts.exact += 1;
                match self.known.evaluate(plan.clone(), self.task.spec.wiring.word.clone(), self.limit()) {
                    Ok(Evaluated::TooBig(..)) => {
                        self.counts.too_big += 1;
                        continue;
                    }
                    Ok(Evaluated::Slow(..)) => {}
                    Ok(Evaluated::Better(design, _)) => self.keep(*design),
                    Err(illegal) => self.refuse(*illegal, plan),
                }
                break;
            }
        }
    }

    /// Whole arrays over loops that hand values on, which may be cut in no other way: of grids of equal bound the
    /// smaller ones come first, and where these are all refused a search may not meet the whole one.
    pub(super) fn wholes(&mut self) {
        for (k, axes) in self.choices() {
            let facts = &self.known.facts[k];
            let handed_on = axes.iter().all(|&d| d >= facts.phases && !facts.parallel(d));
            let Some(plan) = self.seed(k, &axes, i64::MAX).filter(|_| handed_on && self.best.is_some()) else {
                continue;
            };
            self.counts.exact += 1;
            if let Ok(Evaluated::Better(design, _)) =
                self.known.evaluate(plan, self.task.spec.wiring.word.clone(), self.limit())
            {
                self.keep(*design);
            }
        }
    }

    /// Every choice of space loops under every transform.
    fn choices(&self) -> Vec<(usize, Vec<usize>)> {
        let depth = self.task.program.system.dims.len();
        let singles = (0..depth).map(|a| vec![a]);
        let pairs = (0..depth).flat_map(|a| (a + 1..depth).flat_map(move |b| [vec![a, b], vec![b, a]]));
        let choices: Vec<Vec<usize>> = singles
            .chain(pairs)
            .filter(|axes| if self.task.space.is_some() { self.allowed(axes) } else { axes.is_sorted() })
            .collect();
        let transforms = if self.task.only.is_some() { 0 } else { self.known.facts.len() };
        (0..transforms).flat_map(|k| choices.iter().map(move |axes| (k, axes.clone()))).collect()
    }

    /// So many PEs at most along each of these loops, all others as they are; `None` where that is no plan of its own,
    /// or too large.
    fn seed(&self, k: usize, axes: &[usize], most: i64) -> Option<Plan> {
        let facts = &self.known.facts[k];
        let depth = facts.extent.len();
        let pes: Vec<i64> = axes.iter().map(|&d| facts.extent[d].min(most)).collect();
        let smaller = most < i64::MAX && axes.iter().all(|&d| facts.extent[d] <= most);
        if smaller || pes.iter().product::<i64>() > self.task.limits.dsp.max(4096) {
            return None;
        }
        let mut plan =
            Plan { transform: facts.transform.clone(), dims: vec![DimPlan::default(); depth], order: facts.order() };
        for (axis, (&d, &p)) in axes.iter().zip(&pes).enumerate() {
            plan.dims[d] = DimPlan { tile: Some(p), axis: Some(axis), latency: 1, simd: 1 };
        }
        Some(plan)
    }

    /// Incumbents over arrays that leave more and more of the board to the network: of the fastest grids of every rung
    /// those with the shortest borders. Where most of the fastest grids do not fit, a search that is best first would
    /// meet none that does. Grids come the least bound first.
    pub(super) fn ladder(&mut self, grids: &[(i64, Grid)]) {
        for percent in RUNGS {
            let limits = &self.task.limits;
            let rung = Resources {
                lut: limits.lut * percent / 100,
                ff: limits.ff * percent / 100,
                dsp: limits.dsp * percent / 100,
                ..*limits
            };
            let mut near: Vec<(i64, Grid)> = vec![];
            for some in grids.chunks(GRIDS) {
                let done = |near: &[(i64, Grid)], key: i64| {
                    near.first().is_some_and(|first| key > first.0 + first.0 / 50) || near.len() >= RUNG_GRIDS
                };
                if some[0].0 >= self.limit() || done(&near, some[0].0) {
                    break;
                }
                let pes = self.guess(&some.iter().map(|g| &g.1).collect::<Vec<_>>());
                for (&(key, grid), pes) in some.iter().zip(pes) {
                    if key < self.limit() && !done(&near, key) && pes != Resources::default() && pes.fits(&rung) {
                        near.push((key, grid));
                    }
                }
            }
            near.sort_by_key(|(key, grid)| (grid.pes[0] + grid.pes[1], *key, *grid));
            let mut dives = 0;
            for (key, grid) in near.into_iter().take(RUNG_TRIES) {
                if dives == RUNG_DIVES {
                    break;
                }
                let pes = self.per_pe(&[&grid])[0];
                if pes == Resources::default() || !pes.fits(&rung) {
                    continue;
                }
                dives += 1;
                if !self.dived.insert(grid) {
                    continue;
                }
                let cap = self.cap();
                let found = self.known.shapes(key, grid, cap);
                self.counts.bounds += found.bounds;
                self.dive(&found.shapes);
            }
        }
    }

    /// Incumbents by what arrays of a flow were seen to take: where bounds on that say little, the rungs of the ladder
    /// are all too large.
    pub(super) fn corrected(&mut self, grids: &[(i64, Grid)]) {
        if self.counts.too_big == 0 {
            return;
        }
        for _ in 0..CORRECTIONS {
            let limit = self.limit();
            let mut next = None;
            for &(key, grid) in grids.iter().take_while(|g| g.0 < limit).filter(|g| g.1.peak() > 1) {
                if self.dived.contains(&grid) {
                    continue;
                }
                let taken = match self.taken.get(&grid.flow) {
                    Some(each) => each * grid.peak() as f64,
                    None => share(&self.guess(&[&grid])[0], &self.task.limits),
                };
                if taken <= CORRECTED {
                    next = Some((key, grid));
                    break;
                }
            }
            let Some((key, grid)) = next else { break };
            self.dived.insert(grid);
            let found = self.known.shapes(key, grid, self.cap());
            self.counts.bounds += found.bounds;
            let before = self.counts.exact;
            self.dive(&found.shapes);
            if self.counts.exact == before {
                // None of its shapes fits, it seems.
                let less = CORRECTED * SMALLER / grid.peak() as f64;
                let taken = self.taken.entry(grid.flow).or_default();
                *taken = taken.max(less);
            }
        }
    }

    /// An incumbent early: the most promising shapes of a grid that fit.
    pub(super) fn dive(&mut self, shapes: &[(i64, Shape)]) {
        self.dives += 1;
        let mut near = shapes.to_vec();
        near.sort_unstable();
        near.truncate(DIVE_WIDTH);
        let mut near = near.into_iter();
        let mut fit: VecDeque<(i64, (Shape, Widths))> = VecDeque::new();
        let mut tried = 0;
        while tried < DIVE_TRIES && self.counts.exact < self.effort.exact {
            while fit.len() < DIVE_TOGETHER {
                let mut next: Vec<(i64, Shape)> =
                    near.by_ref().take(DIVE_WALKS).take_while(|n| n.0 < self.cap()).collect();
                if next.is_empty() {
                    break;
                }
                next.retain(|(_, shape)| !self.is_refused(shape));
                fit.extend(self.fitting(&next));
            }
            let together: Vec<_> = fit.drain(..fit.len().min(DIVE_TOGETHER)).collect();
            if together.is_empty() {
                break;
            }
            tried += together.len();
            self.build(together);
        }
    }

    /// Of shapes that are not known yet, those that fit, each over the widest words over which it does.
    fn fitting(&mut self, shapes: &[(i64, Shape)]) -> Vec<(i64, (Shape, Widths))> {
        let (cap, known, pes, limits) = (self.cap(), &self.known, &self.pes, &self.task.limits);
        let found = at_once(shapes, |(key, shape)| {
            let mut walks = 0;
            for widths in known.roughly(shape.grid.flow.facts as usize) {
                walks += 1;
                match known.coarse(shape, widths, pes, cap) {
                    Some((walked, Some(need))) if need.fits(limits) => {
                        return (walks, Some((walked.max(*key), (*shape, widths))))
                    }
                    Some((_, Some(_))) => {}
                    _ => break,
                }
            }
            (walks, None)
        });
        self.counts.walks += found.iter().map(|f| f.0).sum::<u64>();
        found
            .into_iter()
            .filter_map(|f| f.1)
            .filter(|(_, (shape, widths))| self.seen.insert(Node::Exact(*shape, *widths)))
            .collect()
    }

    /// The best design over words as narrow as they can be without a cycle more.
    pub(super) fn polish(&mut self) {
        let Some(best) = self.best.take() else { return };
        let mut now = best;
        let most = self.counts.exact + (self.task.effort.exact / 4).max(POLISHED);
        // Words that hide transfers under waves pass fewer registers than wide ones.
        if let Ok(vsa) = self.known.made(now.plan.clone(), self.task.spec) {
            let need = resources::estimate(&vsa);
            self.counts.exact += 1;
            if let Some(p) =
                predict_below(&vsa, &MemoryTiming::IDEAL, now.cycles + 1).0.filter(|_| need.fits(&self.task.limits))
            {
                let words = vsa.arrays.iter().map(|a| (a.name.clone(), a.word)).collect();
                now = Design { words, cycles: p.cycles, need, vsa, ..now };
            }
        }
        let arrays: Vec<(Vec<String>, u32)> = (0..now.vsa.ports())
            .map(|p| {
                (
                    now.vsa.arrays_of(p).map(|a| now.vsa.arrays[a].name.clone()).collect(),
                    now.vsa.arrays_of(p).map(|a| now.vsa.arrays[a].ty.bytes()).max().unwrap_or(4).max(4),
                )
            })
            .collect();
        for (port, (names, least)) in arrays.into_iter().enumerate() {
            if names.iter().any(|n| self.task.spec.wiring.word.contains_key(n)) {
                continue;
            }
            while now.vsa.bus_bytes(port) > least && self.counts.exact < most {
                let half: BTreeMap<String, u32> = now
                    .vsa
                    .arrays
                    .iter()
                    .map(|a| (a.name.clone(), if names.contains(&a.name) { a.word / 2 } else { a.word }))
                    .collect();
                let mut spec = self.task.spec.clone();
                spec.wiring.word = half.clone();
                let Ok(vsa) = self.known.made(now.plan.clone(), &spec) else { break };
                let need = resources::estimate(&vsa);
                self.counts.exact += 1;
                match predict_below(&vsa, &MemoryTiming::IDEAL, now.cycles + 1).0 {
                    Some(p)
                        if need.fits(&self.task.limits)
                            && share(&need, &self.task.limits) <= share(&now.need, &self.task.limits) =>
                    {
                        now = Design { words: half, cycles: p.cycles, need, vsa, ..now };
                    }
                    _ => break,
                }
            }
        }
        self.best = Some(now);
    }
}
