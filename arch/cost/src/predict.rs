//! The cycles of a run: tile by tile, when every load, launch and drain happens.
//!
//! The prediction is exact for memories of known timing ([`array::contract::dram`]), because reader, sequencer and writer
//! are deterministic, and each tile depends only on itself and on earlier tiles. Iterations that repeat are walked once
//! ([`crate::repeat`]). Cycles count from the `start` pulse (0) to the `done` pulse.

use crate::reader::{ReaderModel, Waits};
use crate::repeat::{Iteration, Repeats, Tape, Tiles, Turn, Turns};
use crate::writer::WriterModel;
use array::contract::dram::Memories;
use array::contract::handover::{drained_delay, emitted_delay, release_delay, swept};
use array::contract::timing;
use array::contract::walk::Walk;
use array::vsa::{After, InputGroup, OutputGroup, Until, Vsa, When};
use std::collections::VecDeque;
use uniform::affine::step;
use uniform::sizes::Formula;

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

/// An input group, and its pulses so far.
pub(crate) struct Input<'a> {
    group: &'a InputGroup,
    port: usize,
    loads: Turns,
    releases: Turns,
    /// [`release_delay`].
    release_delay: i64,
    /// Buffers that loads take in turn.
    halves: i64,
    /// Used in phases of the present case.
    is_used: bool,
    services: i64,
    released: i64,
    /// The last two release pulses of its buffers, the latest one first.
    latest: [i64; 2],
}

/// An output group, and its pulses so far.
pub(crate) struct Output<'a> {
    group: &'a OutputGroup,
    port: usize,
    emits: Turns,
    /// [`emitted_delay`] and [`drained_delay`].
    emitted_delay: i64,
    drained_delay: i64,
    /// Buffers that drains take in turn.
    halves: usize,
    is_used: bool,
    /// Some load waits for a drain by its number.
    is_awaited: bool,
    drains: i64,
    /// Drained pulses of the last drains: as many as there are buffers.
    drained: VecDeque<i64>,
    /// The last `written` pulse, and the last one of earlier phases; 0 if there is none.
    written: i64,
    passed: i64,
}

pub(crate) struct Walker<'a> {
    vsa: &'a Vsa,
    /// Per AXI port.
    pub(crate) readers: Vec<Option<ReaderModel>>,
    pub(crate) writers: Vec<Option<WriterModel>>,
    pub(crate) inputs: Vec<Input<'a>>,
    pub(crate) outputs: Vec<Output<'a>>,
    /// Groups in the order in which the ports serve them.
    loads: Vec<usize>,
    drains: Vec<usize>,
    /// Per output group: all `written` pulses, if they are awaited.
    logs: Vec<Vec<i64>>,
    case: Option<usize>,
    /// Waves of a tile of this phase.
    waves: i64,
    /// Waves of later tiles.
    left: i64,
    /// The first cycle of the next launch.
    pub(crate) free: i64,
    first_launch: Option<i64>,
    /// The last `written` pulse.
    done: i64,
    /// Rows of loads and drains that were walked one by one, and the rest of the work in such rows.
    work: u64,
    allowed: Allowed,
    /// The walk ended because it was too long.
    is_long: bool,
}

/// Where a walk ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// Only runs with fewer cycles are of interest.
    pub cycles: i64,
    /// Work in rows of loads and drains that are walked one by one.
    pub work: u64,
}

impl Allowed {
    pub const ALL: Allowed = Allowed::below(i64::MAX);

    /// However long the walk is.
    pub const fn below(cycles: i64) -> Allowed {
        Allowed { cycles, work: u64::MAX }
    }
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<R> {
    Run(R),
    /// The run takes as many cycles as the limit, or more.
    Slow,
    /// The walk took more work than it may; nothing is known of the cycles.
    Long,
}

impl<R> End<R> {
    pub fn run(self) -> Option<R> {
        match self {
            End::Run(run) => Some(run),
            End::Slow | End::Long => None,
        }
    }
}

/// A run at the greatest sizes.
pub fn predict(vsa: &Vsa, memory: &Memories) -> Prediction {
    predict_below(vsa, memory, Allowed::ALL).0.run().expect("a run takes less than that")
}

/// A run at these sizes, in the array's order.
pub fn predict_at(vsa: &Vsa, sizes: &[i64], memory: &Memories) -> Prediction {
    Predictor::new(vsa).predict(sizes, memory)
}

/// An array, ready for the prediction of runs of different sizes.
pub struct Predictor<'a> {
    pub(crate) array: &'a Vsa,
    /// Per port: what reader and writer walk, at all sizes.
    walks: Vec<[Option<Walk>; 2]>,
    /// Per port, [`timing::drain_latency`].
    drains: Vec<i64>,
    /// Per input group, [`release_delay`], and per output group, [`emitted_delay`] and [`drained_delay`].
    releases: Vec<i64>,
    outputs: Vec<[i64; 2]>,
    swept: Option<i64>,
}

impl<'a> Predictor<'a> {
    pub fn new(array: &'a Vsa) -> Predictor<'a> {
        let ports = 0..array.ports();
        Predictor {
            array,
            walks: ports.clone().map(|p| [Walk::reads(array, p), Walk::writes(array, p)]).collect(),
            drains: ports.map(|p| timing::drain_latency(array, p)).collect(),
            releases: (0..array.inputs.len()).map(|g| release_delay(array, g)).collect(),
            outputs: (0..array.outputs.len()).map(|o| [emitted_delay(array, o), drained_delay(array, o)]).collect(),
            swept: swept(array),
        }
    }

    /// A run at these sizes.
    pub fn predict(&self, sizes: &[i64], memory: &Memories) -> Prediction {
        walk(self, sizes, memory, Allowed::ALL, false).0.run().expect("a run takes less than that")
    }

    /// What the reader of a port walks at these sizes.
    pub(crate) fn reads(&self, port: usize, sizes: &[i64]) -> Option<Walk> {
        self.walks[port][0].as_ref().map(|walk| walk.clone().at(sizes))
    }

    /// What the writer of a port walks at these sizes.
    pub(crate) fn writes(&self, port: usize, sizes: &[i64]) -> Option<Walk> {
        self.walks[port][1].as_ref().map(|walk| walk.clone().at(sizes))
    }

    pub(crate) fn reader(&self, port: usize, sizes: &[i64], memory: &Memories) -> Option<ReaderModel> {
        let walk = self.reads(port, sizes)?;
        Some(ReaderModel::of_walk(walk, self.array.ahead, &memory.behind(self.array, port)))
    }

    pub(crate) fn writer(&self, port: usize, sizes: &[i64], memory: &Memories) -> Option<WriterModel> {
        let walk = self.writes(port, sizes)?;
        Some(WriterModel::of_walk(walk, &memory.behind(self.array, port), self.drains[port]))
    }
}

/// [`predict()`], with every tile walked.
pub fn predict_tile_by_tile(vsa: &Vsa, memory: &Memories) -> Prediction {
    walk(&Predictor::new(vsa), &vsa.sizes.maxima(), memory, Allowed::ALL, true)
        .0
        .run()
        .expect("a run takes less than that")
}

/// [`predict()`] for designs that take fewer cycles than there may be and need no longer walk; others end after a
/// shorter one. Also returns how much was walked, in rows of loads and drains, which measures the work.
pub fn predict_below(vsa: &Vsa, memory: &Memories, allowed: Allowed) -> (End<Prediction>, u64) {
    walk(&Predictor::new(vsa), &vsa.sizes.maxima(), memory, allowed, false)
}

fn walk(
    of: &Predictor,
    sizes: &[i64],
    memory: &Memories,
    allowed: Allowed,
    tile_by_tile: bool,
) -> (End<Prediction>, u64) {
    let array = of.array;
    let at_sizes = (array.parameters() > 0).then(|| array.at(sizes));
    let vsa = at_sizes.as_ref().unwrap_or(array);
    let mut walker = Walker::new(vsa, of, allowed);
    let ports = 0..vsa.ports();
    walker.readers = ports.clone().map(|p| of.reader(p, sizes, memory)).collect();
    walker.writers = ports.map(|p| of.writer(p, sizes, memory)).collect();
    let mut prediction = walker.run(of.swept, &mut Repeats::new(tile_by_tile));
    // Where sizes are known at run time, the end of a run waits for the engines.
    if let Some(prediction) = prediction.as_mut() {
        let idle = if array.sizes.list.is_empty() { 0 } else { walker.idle() };
        prediction.cycles = prediction.cycles.max(idle) + timing::written_to_done(array);
    }
    let end = match prediction {
        Some(prediction) if prediction.cycles < allowed.cycles => End::Run(prediction),
        None if walker.is_long => End::Long,
        _ => End::Slow,
    };
    (end, walker.work)
}

/// The tiles of a set.
pub(crate) fn turns(when: &When, depth: usize) -> Turns {
    let turn = |j: usize| match when.at.get(j) {
        Some(Some(Formula::Const(value))) => Turn::At(*value),
        Some(Some(_)) => Turn::At(-1),
        _ => Turn::Any,
    };
    Turns((0..depth).map(turn).collect())
}

/// The tiles that load, and those that release the buffer.
pub(crate) fn turns_of(group: &InputGroup, depth: usize) -> [Turns; 2] {
    let loads = (0..depth).map(|j| group.loads_at(j).map_or(Turn::Any, Turn::At));
    let releases = (0..depth).map(|j| match group.used.value(j) {
        Some(value) => Turn::At(value),
        None if j < group.reload => Turn::Any,
        None => Turn::Last,
    });
    [Turns(loads.collect()), Turns(releases.collect())]
}

impl<'a> Input<'a> {
    fn new(vsa: &Vsa, group: &'a InputGroup, release_delay: i64) -> Input<'a> {
        let [loads, releases] = turns_of(group, vsa.tile_depth);
        Input {
            port: vsa.port_of(group.array),
            group,
            loads,
            releases,
            release_delay,
            halves: 2,
            is_used: false,
            services: 0,
            released: 0,
            latest: [0; 2],
        }
    }

    /// The release of the load whose buffer the next one takes; 0 if there was none.
    fn release_of_next(&self) -> i64 {
        let later = usize::try_from(self.released + self.halves - 1 - self.services);
        self.latest[later.expect("the load in the same buffer was released")]
    }

    /// The last release pulses of its buffers in the runs before.
    pub(crate) fn resume(&mut self, latest: [i64; 2], halves: u32) {
        (self.latest, self.halves) = (latest, halves.into());
    }

    /// Those behind the run, if it has loads.
    pub(crate) fn leave(&self, latest: &mut [i64; 2]) {
        if self.services > 0 {
            *latest = self.latest;
        }
    }

    fn loads_in(&self, iteration: &Iteration) -> bool {
        self.is_used && self.loads.are_in(iteration)
    }

    fn releases_in(&self, iteration: &Iteration) -> bool {
        self.is_used && self.releases.are_in(iteration)
    }
}

impl<'a> Output<'a> {
    fn new(vsa: &Vsa, (index, group): (usize, &'a OutputGroup), delays: [i64; 2]) -> Output<'a> {
        let waits = |after: &After| after.output as usize == index && after.until != Until::Phase;
        Output {
            port: vsa.port_of(group.array),
            emits: turns(&group.emit, vsa.tile_depth),
            is_awaited: vsa.inputs.iter().flat_map(|g| &g.after).any(waits),
            group,
            emitted_delay: delays[0],
            drained_delay: delays[1],
            halves: group.slots as usize,
            is_used: false,
            drains: 0,
            drained: VecDeque::new(),
            written: 0,
            passed: 0,
        }
    }

    /// The last drains of its buffers in the runs before.
    pub(crate) fn resume(&mut self, drained: &VecDeque<i64>, halves: u32) {
        (self.drained, self.halves) = (drained.clone(), halves as usize);
    }

    /// Those behind the run, if it has drains.
    pub(crate) fn leave(&self, drained: &mut VecDeque<i64>) {
        if self.drains > 0 {
            drained.clone_from(&self.drained);
        }
    }

    fn emits_in(&self, iteration: &Iteration) -> bool {
        self.is_used && self.emits.are_in(iteration)
    }
}

impl<'a> Walker<'a> {
    /// `vsa`: the array at the sizes of the run; its engines are still missing.
    pub(crate) fn new(vsa: &'a Vsa, of: &Predictor, allowed: Allowed) -> Walker<'a> {
        let inputs = vsa.inputs.iter().enumerate();
        let inputs: Vec<Input> = inputs.map(|(g, group)| Input::new(vsa, group, of.releases[g])).collect();
        let outputs = vsa.outputs.iter().enumerate();
        let outputs: Vec<Output> = outputs.map(|(o, group)| Output::new(vsa, (o, group), of.outputs[o])).collect();
        let in_order = |of: &dyn Fn(usize) -> usize, count: usize| {
            let mut all: Vec<usize> = (0..count).collect();
            all.sort_by_key(|&g| of(g));
            all
        };
        Walker {
            vsa,
            readers: vec![],
            writers: vec![],
            loads: in_order(&|g| inputs[g].port, inputs.len()),
            drains: in_order(&|o| outputs[o].port, outputs.len()),
            logs: vec![vec![]; outputs.len()],
            inputs,
            outputs,
            case: None,
            waves: 0,
            left: vsa.waves(),
            free: timing::START_TO_LAUNCH,
            first_launch: None,
            done: 0,
            work: 0,
            allowed,
            is_long: false,
        }
    }
}

impl Walker<'_> {
    pub(crate) fn run(&mut self, swept: Option<i64>, repeats: &mut Repeats) -> Option<Prediction> {
        let (depth, phases, interval) = (self.vsa.tile_depth, self.vsa.phases(), self.vsa.schedule.interval);
        let compute_cycles = self.left * interval;
        let mut tile = vec![0; depth];
        loop {
            let trips = self.vsa.trips_at(&tile);
            self.begin_phase(&tile, &trips);
            if !repeats.walk(self, phases, &mut tile, &trips[..depth]) {
                return None;
            }
            if step(&mut tile[..phases], trips[..phases].iter().copied()).is_none() {
                break;
            }
        }
        let last_launch = self.free - interval;
        let swept = swept.map_or(0, |after| last_launch + after);
        let cycles = self.done.max(swept);
        let first_launch = self.first_launch.unwrap_or(0);
        (cycles < self.allowed.cycles).then_some(Prediction { cycles, compute_cycles, first_launch, last_launch })
    }

    /// The first cycle in which all engines are idle.
    pub(crate) fn idle(&mut self) -> i64 {
        let inputs = &self.inputs;
        let released = |port: usize| inputs.iter().filter(|i| i.port == port).map(|i| i.latest[0]).max().unwrap_or(0);
        let readers = self.readers.iter_mut().enumerate();
        let readers = readers.filter_map(|(port, reader)| Some(reader.as_mut()?.idle(released(port))));
        let writers = self.writers.iter_mut().flatten().map(|writer| writer.idle());
        readers.chain(writers).max().unwrap_or(0)
    }

    fn begin_phase(&mut self, tile: &[i64], trips: &[i64]) {
        self.case = self.vsa.case_at(tile);
        self.waves = self.vsa.waves_of(trips);
        for input in &mut self.inputs {
            input.is_used = input.group.used.is_in_case(self.case);
        }
        for output in &mut self.outputs {
            output.is_used = output.group.emit.is_in_case(self.case);
            output.passed = output.written;
        }
    }

    /// The run takes too many cycles even if no wave waits any more and every port moves a word in each cycle.
    fn is_slow(&self) -> bool {
        let launched = self.free + (self.left - 1) * self.vsa.schedule.interval;
        let (readers, writers) = (self.readers.iter().flatten(), self.writers.iter().flatten());
        let ends = readers.map(ReaderModel::least_end).chain(writers.map(WriterModel::least_end));
        ends.fold(launched, i64::max) >= self.allowed.cycles
    }

    fn is_too_long(&mut self) -> bool {
        self.is_long |= self.work > self.allowed.work;
        self.is_long
    }

    /// Serves the loads of a tile. Returns the cycle from which they allow a launch.
    fn load(&mut self, tile: &[i64], trips: &[i64]) -> i64 {
        let mut ready = 0;
        for &g in &self.loads {
            let input = &self.inputs[g];
            if !(input.is_used && input.loads.are_at(tile, trips)) {
                continue;
            }
            let n = input.services;
            let mut waits = Waits { written: 0, released: input.release_of_next() };
            for After { output: o, until } in &input.group.after {
                let written = match until {
                    Until::Lag(lag) if n > *lag => self.logs[*o as usize][(n - lag - 1) as usize],
                    Until::Lag(_) => 0,
                    Until::Phase => self.outputs[*o as usize].passed,
                };
                waits.written = waits.written.max(written);
            }
            let reader = self.readers[input.port].as_mut().expect("the port reads");
            let before = reader.walked;
            let loaded = reader.load(g, n, waits).expect("loads come in service order").loaded;
            self.work += reader.walked - before;
            self.inputs[g].services += 1;
            ready = ready.max(loaded + timing::LOADED_TO_LAUNCH);
        }
        ready
    }

    /// The cycle from which free result buffers allow a launch.
    fn slots(&self, tile: &[i64], trips: &[i64]) -> i64 {
        let emits = self.outputs.iter().filter(|o| o.is_used && o.emits.are_at(tile, trips));
        let full = emits.filter(|o| o.drained.len() == o.halves);
        full.filter_map(|o| o.drained.front()).map(|at| at + timing::DRAINED_TO_LAUNCH).max().unwrap_or(0)
    }

    /// Serves the drains of a tile.
    fn drain(&mut self, tile: &[i64], trips: &[i64], last_launch: i64) {
        for &o in &self.drains {
            let output = &mut self.outputs[o];
            if !(output.is_used && output.emits.are_at(tile, trips)) {
                continue;
            }
            let writer = self.writers[output.port].as_mut().expect("the port writes");
            let emitted = last_launch + output.emitted_delay;
            let before = writer.walked;
            let times = writer.drain(o, output.drains, emitted).expect("drains come in service order");
            self.work += writer.walked - before;
            output.drains += 1;
            if output.drained.len() == output.halves {
                output.drained.pop_front();
            }
            output.drained.push_back(times.drained + output.drained_delay);
            output.written = times.written;
            if output.is_awaited {
                self.logs[o].push(times.written);
            }
            self.done = self.done.max(times.written);
        }
    }

    /// Releases the loads that no later tile uses.
    fn release(&mut self, tile: &[i64], trips: &[i64], last_launch: i64) {
        for input in self.inputs.iter_mut().filter(|i| i.is_used && i.releases.are_at(tile, trips)) {
            input.latest = [last_launch + input.release_delay, input.latest[0]];
            input.released += 1;
        }
    }

    /// What tells apart the drains for which the loads of a group wait in an iteration. `false`: they are too many.
    fn awaited(&self, input: &Input, iteration: &Iteration, tape: &mut Tape) -> bool {
        let loads = input.loads.count(iteration);
        let went = self.readers[input.port].as_ref().map_or(0, ReaderModel::went);
        for After { output: o, until } in &input.group.after {
            let (output, log) = (&self.outputs[*o as usize], &self.logs[*o as usize]);
            let Until::Lag(lag) = until else {
                tape.time(&mut output.passed.clone(), went);
                continue;
            };
            // The first loads wait for none; others for some of before, then for some of the iteration.
            let first = input.services - lag - 1;
            let (from, to) = (first.max(0), (first + loads).min(output.drains));
            tape.note((-first).clamp(0, loads));
            tape.note(if first + loads > 0 { output.drains - first } else { 0 });
            if from >= to || log[to as usize - 1] <= went {
                tape.note(0);
            } else if to - from > MOST_AWAITED {
                return false;
            } else {
                log[from as usize..to as usize].iter().for_each(|at| tape.time(&mut at.clone(), went));
            }
        }
        true
    }
}

/// Rows that are walked in the time of a tile beside its rows, and in that of a lookup.
const ROWS_PER_TILE: u64 = 2;
const ROWS_PER_LOOKUP: u64 = 8;

/// Drains for which an iteration waits one by one, if it is looked up.
const MOST_AWAITED: i64 = 64;

impl Tiles for Walker<'_> {
    fn tile(&mut self, tile: &[i64], trips: &[i64]) -> bool {
        self.work += ROWS_PER_TILE;
        if self.is_slow() || self.is_too_long() {
            return false;
        }
        let interval = self.vsa.schedule.interval;
        self.left -= self.waves;
        let first = self.free.max(self.load(tile, trips)).max(self.slots(tile, trips));
        let last = first + (self.waves - 1) * interval;
        self.first_launch.get_or_insert(first);
        self.free = last + interval;
        self.drain(tile, trips, last);
        self.release(tile, trips, last);
        true
    }

    fn base(&self) -> i64 {
        self.free
    }

    fn shapes(&mut self, iteration: &Iteration, tape: &mut Tape) -> bool {
        self.work += ROWS_PER_LOOKUP;
        if self.is_too_long() {
            return false;
        }
        tape.note(self.case.map_or(-1, |case| case as i64));
        for input in &self.inputs {
            let (loads, releases) = (input.loads_in(iteration), input.releases_in(iteration));
            tape.note(i64::from(loads) + 2 * i64::from(releases));
            tape.note(input.services - input.released);
            tape.note(if loads || releases { input.services.min(2) } else { 0 });
            if loads && !self.awaited(input, iteration, tape) {
                return false;
            }
        }
        for output in &self.outputs {
            let emits = output.emits_in(iteration);
            tape.note(i64::from(emits));
            tape.note(if emits { output.drained.len() as i64 } else { 0 });
        }
        for port in 0..self.readers.len() {
            let loads = |g: usize| self.inputs[g].port == port && self.inputs[g].loads_in(iteration);
            if let Some(reader) = self.readers[port].as_ref().filter(|_| (0..self.inputs.len()).any(loads)) {
                if !reader.shapes(iteration, loads, tape) {
                    return false;
                }
            }
            let emits = |o: usize| self.outputs[o].port == port && self.outputs[o].emits_in(iteration);
            if let Some(writer) = self.writers[port].as_ref().filter(|_| (0..self.outputs.len()).any(emits)) {
                if !writer.shapes(iteration, emits, tape) {
                    return false;
                }
            }
        }
        true
    }

    fn state(&mut self, iteration: &Iteration, tape: &mut Tape) -> bool {
        tape.time(&mut self.free, i64::MIN);
        for input in &mut self.inputs {
            let (loads, releases) = (input.loads_in(iteration), input.releases_in(iteration));
            if loads || releases {
                let reader = self.readers[input.port].as_ref();
                let least = reader.filter(|_| loads).map_or(i64::MIN, |reader| reader.least_taken() - 1);
                input.latest.iter_mut().for_each(|at| tape.time(at, least));
            }
        }
        for output in self.outputs.iter_mut().filter(|o| o.emits_in(iteration)) {
            let mut count = output.drained.len() as i64;
            tape.number(&mut count);
            output.drained.resize(count as usize, 0);
            output.drained.iter_mut().for_each(|at| tape.time(at, self.free - timing::DRAINED_TO_LAUNCH));
            tape.time(&mut output.written, 0);
        }
        let (inputs, outputs) = (&self.inputs, &self.outputs);
        for (port, reader) in self.readers.iter_mut().enumerate() {
            let loads = inputs.iter().any(|i| i.port == port && i.loads_in(iteration));
            if let Some(reader) = reader.as_mut().filter(|_| loads) {
                if !reader.state(iteration, tape) {
                    return false;
                }
            }
        }
        for (port, writer) in self.writers.iter_mut().enumerate() {
            let emits = outputs.iter().any(|o| o.port == port && o.emits_in(iteration));
            if let Some(writer) = writer.as_mut().filter(|_| emits) {
                if !writer.state(iteration, tape) {
                    return false;
                }
            }
        }
        true
    }

    fn totals(&mut self, visit: &mut dyn FnMut(&mut i64)) {
        visit(&mut self.left);
        for input in &mut self.inputs {
            visit(&mut input.services);
            visit(&mut input.released);
        }
        self.outputs.iter_mut().for_each(|output| visit(&mut output.drains));
        self.readers.iter_mut().flatten().for_each(|reader| reader.totals(visit));
        self.writers.iter_mut().flatten().for_each(|writer| writer.totals(visit));
    }

    fn latest(&mut self) -> &mut i64 {
        &mut self.done
    }

    fn logs(&mut self) -> &mut [Vec<i64>] {
        &mut self.logs
    }
}
