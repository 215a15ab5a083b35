//! What a shape takes at least, cycles and resources, before it is assembled.

use super::{Search, Widths};
use crate::cost::board::Resources;
use crate::cost::resources;
use crate::explore::variants::assemble;
use crate::explore::bound;
use crate::explore::facts::Facts;
use crate::explore::sketch::sketch;
use crate::explore::space::{self, Grid, Shape, MOST_DIMS, NONE};
use crate::ir::vsa::Vsa;

/// Waves for which a sum may wait in a chain of registers instead of a memory.
const CHAINED: i64 = 64;

impl Search<'_> {
    fn sketch(&mut self, shape: &Shape, widths: Widths) -> Option<Vsa> {
        self.counts.walks += 1;
        let plan = self.plan(shape);
        let k = shape.grid.flow.facts as usize;
        sketch(self.task.program, &self.facts[k], &shape.grid, plan, &self.widths_of(k, widths), self.spill)
    }

    /// Cycles of a shape, at least; if these are below the cap, its resources, at least.
    pub(super) fn coarse(&mut self, shape: &Shape, widths: Widths) -> Option<(i64, Option<Resources>)> {
        let vsa = self.sketch(shape, widths)?;
        let facts = &self.facts[shape.grid.flow.facts as usize];
        let walked = bound::walk(&vsa, bound::cross(facts, &shape.grid), self.cap());
        Some((walked, (walked < self.cap()).then(|| self.resources(shape, &vsa))))
    }

    /// Resources of a shape, at least.
    pub(super) fn least(&mut self, shape: &Shape, widths: Widths) -> Option<Resources> {
        let vsa = self.sketch(shape, widths)?;
        Some(self.resources(shape, &vsa))
    }

    fn resources(&self, shape: &Shape, vsa: &Vsa) -> Resources {
        let (facts, grid) = (&self.facts[shape.grid.flow.facts as usize], &shape.grid);
        let mut pe = self.pes.get(&(grid.flow, grid.lanes, grid.pes.map(|p| p.min(2)))).copied().unwrap_or_default();
        add(&mut pe, &self.sums(facts, shape));
        let mut need = times(&pe, grid.pes[0] * grid.pes[1]);
        add(&mut need, &resources::network(vsa));
        need
    }

    /// Memories of a PE in which sums wait for their next term.
    fn sums(&self, facts: &Facts, shape: &Shape) -> Resources {
        let [write] = &facts.writes[..] else { return Resources::default() };
        let grid = &shape.grid;
        let spread = (0..2).any(|a| grid.flow.axes[a] != NONE && write.mask >> grid.flow.axes[a] & 1 == 0);
        let depth: i64 = (0..facts.extent.len()).filter(|&d| write.mask >> d & 1 == 1 && grid.is_axis(d)).map(|d| i64::from(shape.inner[d])).product();
        let waits = (0..facts.extent.len()).any(|d| write.mask >> d & 1 == 0 && facts.summed[d] && shape.inner[d] > 1);
        let alone = self.task.program.system.statements.iter().filter(|s| !s.live_out.is_empty()).count() == 1;
        if spread || !waits || !alone || !write.plain || depth <= CHAINED { Resources::default() } else { resources::kept(depth, write.bytes * 8) }
    }

    /// What a PE takes, at least: the least of two small arrays'.
    pub(super) fn per_pe(&mut self, grid: &Grid) -> Resources {
        let grid = Grid { pes: grid.pes.map(|p| p.min(2)), ..*grid };
        if let Some(known) = self.pes.get(&(grid.flow, grid.lanes, grid.pes)) {
            return *known;
        }
        let k = grid.flow.facts as usize;
        let extent = self.facts[k].extent.clone();
        let mut least: Option<Resources> = None;
        for most in [1, 16] {
            let mut inner = [1; MOST_DIMS];
            for (d, n) in extent.iter().enumerate() {
                let whole = space::parts(*n, grid.grain(d));
                inner[d] = if grid.is_axis(d) { whole.min(most) } else { whole } as u32;
            }
            let orders = { let tiled = grid.sizes(&extent, &inner).tiled; self.orders[k].of(&self.facts[k], tiled).len() };
            for order in 0..orders.min(3) {
                let plan = self.plan(&Shape { grid, inner, order: order as u16 });
                let words = self.words(k, self.widest(k));
                let mut spec = self.task.spec.clone();
                spec.wiring.word = words;
                if let Ok(vsa) = assemble(self.task.program, plan, &spec) {
                    let need = resources::per_pe(&vsa);
                    least = Some(least.map_or(need, |l| least_of(&l, &need)));
                    break;
                }
            }
        }
        let known = least.unwrap_or_default();
        self.pes.insert((grid.flow, grid.lanes, grid.pes), known);
        known
    }
}

pub(super) fn times(r: &Resources, n: i64) -> Resources {
    Resources { lut: r.lut * n, ff: r.ff * n, dsp: r.dsp * n, bram36: r.bram36 * n, uram: r.uram * n }
}

fn add(to: &mut Resources, r: &Resources) {
    *to = Resources { lut: to.lut + r.lut, ff: to.ff + r.ff, dsp: to.dsp + r.dsp, bram36: to.bram36 + r.bram36, uram: to.uram + r.uram };
}

pub(super) fn least_of(a: &Resources, b: &Resources) -> Resources {
    Resources { lut: a.lut.min(b.lut), ff: a.ff.min(b.ff), dsp: a.dsp.min(b.dsp), bram36: a.bram36.min(b.bram36), uram: a.uram.min(b.uram) }
}
