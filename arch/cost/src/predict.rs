//! The cycles of a run: tile by tile, when every load, launch and drain happens.
//!
//! The prediction is exact for memories of known timing ([`array::contract::dram`]), because reader, sequencer and writer
//! are deterministic, and each tile depends only on itself and on earlier tiles. Cycles count from the `start` pulse (0) to the `done` pulse.

use crate::reader::{ReaderModel, Waits};
use crate::writer::WriterModel;
use array::contract::dram::Memories;
use array::contract::timing;
use array::vsa::{After, Until, Vsa};
use uniform::affine::step;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// From the `start` to the `done` pulse.
    pub cycles: i64,
    /// Waves times the initiation interval: the cycles of an array that never waits.
    pub compute_cycles: i64,
    /// Launch of the first and of the last wave.
    pub first_launch: i64,
    pub last_launch: i64,
}

/// Pulses of one I/O group so far.
#[derive(Clone, Debug, Default)]
struct Pulses {
    services: usize,
    times: Vec<i64>,
}

struct Walker<'a> {
    vsa: &'a Vsa,
    /// Per AXI port.
    readers: Vec<Option<ReaderModel>>,
    writers: Vec<Option<WriterModel>>,
    /// Per input group: release pulses.
    released: Vec<Pulses>,
    /// Per output group: drained and written pulses.
    drained: Vec<Pulses>,
    written: Vec<Pulses>,
    /// Per output group: drains of earlier phases.
    before_phase: Vec<usize>,
    /// Per input group: [`timing::release_delay`].
    release_delay: Vec<i64>,
    /// Per output group: [`timing::emitted_delay`].
    emitted_delay: Vec<i64>,
    /// [`timing::swept`].
    swept: Option<i64>,
    /// Rows of loads and drains so far.
    rows: u64,
}

/// A run at the greatest sizes.
pub fn predict(vsa: &Vsa, memory: &Memories) -> Prediction {
    predict_below(vsa, memory, i64::MAX).0.expect("a run takes less than that")
}

/// A run at these sizes, in the array's order.
pub fn predict_at(vsa: &Vsa, sizes: &[i64], memory: &Memories) -> Prediction {
    walk(vsa, sizes, memory, i64::MAX).0.expect("a run takes less than that")
}

/// [`predict()`] for designs that take fewer than `limit` cycles; `None`, after a shorter walk, for others. Also
/// returns the number of rows of loads and drains that were walked, which measures the work.
pub fn predict_below(vsa: &Vsa, memory: &Memories, limit: i64) -> (Option<Prediction>, u64) {
    walk(vsa, &vsa.sizes.maxima(), memory, limit)
}

fn walk(array: &Vsa, sizes: &[i64], memory: &Memories, limit: i64) -> (Option<Prediction>, u64) {
    let at_sizes = (array.parameters() > 0).then(|| array.at(sizes));
    let vsa = at_sizes.as_ref().unwrap_or(array);
    let ports = 0..vsa.ports();
    let mut walker = Walker {
        vsa,
        readers: ports.clone().map(|p| ReaderModel::new(array, sizes, p, memory)).collect(),
        writers: ports.map(|p| WriterModel::new(array, sizes, p, memory, timing::drain_latency(array, p))).collect(),
        released: vec![Pulses::default(); vsa.inputs.len()],
        drained: vec![Pulses::default(); vsa.outputs.len()],
        written: vec![Pulses::default(); vsa.outputs.len()],
        before_phase: vec![0; vsa.outputs.len()],
        release_delay: (0..vsa.inputs.len()).map(|g| timing::release_delay(array, g)).collect(),
        emitted_delay: (0..vsa.outputs.len()).map(|o| timing::emitted_delay(array, o)).collect(),
        swept: timing::swept(array),
        rows: 0,
    };
    let prediction = walker.run(limit);
    (prediction, walker.rows)
}

impl Walker<'_> {
    fn run(&mut self, limit: i64) -> Option<Prediction> {
        let depth = self.vsa.tile_depth;
        let interval = self.vsa.schedule.interval;
        let mut tile = vec![0; depth];
        let (mut trips, mut case) = (self.vsa.trips_at(&tile), self.vsa.case_at(&tile));
        let mut waves = self.vsa.waves_of(&trips);
        let mut left = self.vsa.waves();
        let mut out = Prediction { compute_cycles: left * interval, ..Prediction::default() };
        let mut free = timing::START_TO_LAUNCH;
        let mut done = 0;
        let mut tiles = 0;
        loop {
            // The last launch, if no wave waited any more.
            if free + (left - 1) * interval >= limit {
                return None;
            }
            left -= waves;
            let first = free.max(self.loads(&tile, case)).max(self.slots(&tile, case));
            let last = first + (waves - 1) * interval;
            if tiles == 0 {
                out.first_launch = first;
            }
            out.last_launch = last;
            free = last + interval;
            done = done.max(self.drains(&tile, case, last));
            self.releases(&tile, case, &trips, last);
            let Some(changed) = step(&mut tile, trips[..depth].iter().copied()) else { break };
            if changed < self.vsa.phases() {
                self.before_phase = self.written.iter().map(|w| w.times.len()).collect();
                (trips, case) = (self.vsa.trips_at(&tile), self.vsa.case_at(&tile));
                waves = self.vsa.waves_of(&trips);
            }
            tiles += 1;
        }
        let swept = self.swept.map_or(0, |after| out.last_launch + after);
        out.cycles = (done + timing::WRITTEN_TO_DONE).max(swept);
        (out.cycles < limit).then_some(out)
    }

    /// Serves the loads of a tile. Returns the cycle from which they allow a launch.
    fn loads(&mut self, tile: &[i64], case: Option<usize>) -> i64 {
        let mut ready = 0;
        for port in 0..self.readers.len() {
            for (g, group) in self.vsa.inputs.iter().enumerate().filter(|(_, g)| self.vsa.port_of(g.array) == port) {
                if !group.loads(tile, case) {
                    continue;
                }
                let n = self.released[g].services;
                let mut waits = Waits { written: 0, released: if n >= 2 { self.released[g].times[n - 2] } else { 0 } };
                for After { output: o, until } in &group.after {
                    let drains = match until {
                        Until::Lag(lag) => (n as i64 - lag).max(0) as usize,
                        Until::Phase => self.before_phase[*o as usize],
                    };
                    if drains > 0 {
                        waits.written = waits.written.max(self.written[*o as usize].times[drains - 1]);
                    }
                }
                self.released[g].services += 1;
                self.rows += group.footprint.total_rows() as u64;
                let reader = self.readers[port].as_mut().expect("the port reads");
                let loaded = reader.load(g, n as i64, waits).expect("loads come in service order").loaded;
                ready = ready.max(loaded + timing::LOADED_TO_LAUNCH);
            }
        }
        ready
    }

    /// The cycle from which free result buffers allow a launch.
    fn slots(&self, tile: &[i64], case: Option<usize>) -> i64 {
        let mut ready = 0;
        for (o, group) in self.vsa.outputs.iter().enumerate().filter(|(_, group)| group.emit.holds(tile, case)) {
            let used = self.drained[o].times.len();
            if used >= group.slots as usize {
                ready = ready.max(self.drained[o].times[used - group.slots as usize] + timing::DRAINED_TO_LAUNCH);
            }
        }
        ready
    }

    /// Serves the drains of a tile. Returns the cycle of the last `written` pulse.
    fn drains(&mut self, tile: &[i64], case: Option<usize>, last_launch: i64) -> i64 {
        let mut done = 0;
        for port in 0..self.writers.len() {
            for o in 0..self.vsa.outputs.len() {
                if self.vsa.port_of(self.vsa.outputs[o].array) != port || !self.vsa.outputs[o].emit.holds(tile, case) {
                    continue;
                }
                let n = self.drained[o].times.len() as i64;
                let emitted = last_launch + self.emitted_delay[o];
                self.rows += self.vsa.outputs[o].footprint.total_rows() as u64;
                let writer = self.writers[port].as_mut().expect("the port writes");
                let times = writer.drain(o, n, emitted).expect("drains come in service order");
                self.drained[o].times.push(times.drained);
                self.written[o].times.push(times.written);
                done = done.max(times.written);
            }
        }
        done
    }

    /// Releases the loads that no later tile uses.
    fn releases(&mut self, tile: &[i64], case: Option<usize>, trips: &[i64], last_launch: i64) {
        for (g, group) in self.vsa.inputs.iter().enumerate() {
            if group.releases(tile, case, trips) {
                self.released[g].times.push(last_launch + self.release_delay[g]);
            }
        }
    }
}
