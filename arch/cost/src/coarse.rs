//! The coarse walk: a lower bound on the cycles of a sketch (`search::sketch`), tile by tile with whole transfers.
//!
//! A load takes its port for all its beats; a drain does so once the last wave has crossed the array (`cross`); a tile
//! waits for its loads and for free result buffers. Iterations that repeat are walked once ([`crate::repeat`]).

use crate::bound::{ANSWERED, FETCHED};
use crate::memory::Most;
use crate::predict::{turns, turns_of};
use crate::repeat::{Iteration, Repeats, Tape, Tiles, Turn, Turns};
use array::contract::dram::MemoryTiming;
use array::contract::timing;
use array::contract::walk::{Walk, WalkGroup};
use array::vsa::{InputGroup, OutputGroup, Vsa};
use uniform::affine::{gcd, step};

/// Beats of a service on a port of `word` bytes, at least: the words of each row, and one more for each row that begins
/// so late within a word that it ends in one more word. Rows begin at multiples of `between` within a word, in turn, so
/// the share of rows that begin early enough is known.
fn least_beats(group: &WalkGroup, bytes: i64, word: i64) -> i64 {
    let (lengths, rows, form) = (group.lengths(), group.total_rows(), &group.address);
    let words = (group.elements * bytes + word - 1) / word;
    let slack = words * word - group.elements * bytes;
    let grain = form.start.coeffs.iter().chain(&form.rows).fold(word, |g, c| gcd(g, *c));
    if form.start.constant.rem_euclid(grain) > slack {
        return rows * (words + 1);
    }
    let early = |(n, step): (&i64, &i64)| {
        let between = gcd(word, *step);
        let period = word / between;
        rows / n * (((n + period - 1) / period) * (slack / between + 1)).min(*n)
    };
    rows * (words + 1) - lengths.iter().zip(&form.rows).map(early).min().unwrap_or(rows)
}

/// An input group.
struct Load<'a> {
    group: &'a InputGroup,
    port: usize,
    /// Cycles in which the port moves a load.
    beats: i64,
    loads: Turns,
    releases: Turns,
    is_used: bool,
    services: i64,
    /// The last two releases, the latest one first.
    released: [i64; 2],
}

/// An output group.
struct Drain<'a> {
    group: &'a OutputGroup,
    port: usize,
    words: i64,
    beats: i64,
    emits: Turns,
    is_used: bool,
    /// Ends of the last two drains, the latest one first.
    drained: [i64; 2],
    /// When the last drain so far is in memory, and when the last one of an earlier phase is.
    written: i64,
    passed: i64,
}

struct Walker<'a> {
    vsa: &'a Vsa,
    loads: Vec<Load<'a>>,
    drains: Vec<Drain<'a>>,
    latency: Vec<MemoryTiming>,
    cross: i64,
    /// Readers request ahead: only the first load waits for the memory. Writers request one word a cycle from the
    /// collectors, ahead of what they send.
    reading: Vec<i64>,
    asking: Vec<i64>,
    writing: Vec<i64>,
    waves: i64,
    left: i64,
    free: i64,
    done: i64,
    limit: i64,
    /// Work so far and at most, in tiles. If the walk ends there, no wave waits any more.
    work: u64,
    most: u64,
}

/// What a coarse walk found.
pub struct Walked {
    /// No design of the sketch takes fewer cycles. Stops at the limit.
    pub cycles: i64,
    /// Tiles that were walked, and iterations that were looked up in the time of so many.
    pub tiles: u64,
}

/// Lower bound on the cycles of a sketch whose ports walk like `walks`, over memories as near as those of `most`.
pub fn walk(vsa: &Vsa, walks: &[[Option<Walk>; 2]], most: &Most, cross: i64, limit: i64) -> Walked {
    walk_with(&mut Repeats::default(), vsa, walks, most, cross, limit)
}

/// [`walk`], with every tile walked.
pub fn walk_tile_by_tile(vsa: &Vsa, walks: &[[Option<Walk>; 2]], most: &Most, cross: i64, limit: i64) -> Walked {
    walk_with(&mut Repeats::new(true), vsa, walks, most, cross, limit)
}

fn walk_with(
    repeats: &mut Repeats,
    vsa: &Vsa,
    walks: &[[Option<Walk>; 2]],
    most: &Most,
    cross: i64,
    limit: i64,
) -> Walked {
    let mut beats = [vec![0; vsa.inputs.len()], vec![0; vsa.outputs.len()]];
    for walks in walks {
        for (beats, walk) in beats.iter_mut().zip(walks) {
            walk.iter().for_each(|walk| {
                walk.groups
                    .iter()
                    .for_each(|g| beats[g.group] = least_beats(g, walk.bytes.into(), walk.bus_bytes().into()))
            });
        }
    }
    let depth = vsa.tile_depth;
    let load = |(group, beats): (_, &i64)| Load::new(vsa, group, *beats, turns_of(group, depth));
    let drain = |(group, beats): (_, &i64)| Drain::new(vsa, group, *beats);
    let latency: Vec<MemoryTiming> = most.ports.iter().map(|p| p.timing).collect();
    let mut walker = Walker {
        vsa,
        loads: vsa.inputs.iter().zip(&beats[0]).map(load).collect(),
        drains: vsa.outputs.iter().zip(&beats[1]).map(drain).collect(),
        reading: latency.iter().map(|m| m.read_latency).collect(),
        latency,
        cross,
        asking: vec![0; vsa.ports()],
        writing: vec![0; vsa.ports()],
        waves: 0,
        left: vsa.waves() - vsa.waves_behind(),
        free: timing::START_TO_LAUNCH,
        done: 0,
        limit,
        work: 0,
        most: if repeats.tile_by_tile { u64::MAX } else { MOST_TILES },
    };
    let cycles = walker.run(repeats);
    Walked { cycles, tiles: walker.work }
}

/// Tiles that are walked at most: a bound need not be tight at any price.
const MOST_TILES: u64 = 200_000;
/// Tiles that are walked in the time of a lookup.
const TILES_PER_LOOKUP: u64 = 4;

impl<'a> Load<'a> {
    fn new(vsa: &Vsa, group: &'a InputGroup, beats: i64, [loads, releases]: [Turns; 2]) -> Load<'a> {
        let port = vsa.port_of(group.array);
        Load { group, port, beats, loads, releases, is_used: false, services: 0, released: [0; 2] }
    }

    fn loads_in(&self, iteration: &Iteration) -> bool {
        self.is_used && self.loads.are_in(iteration)
    }

    fn releases_in(&self, iteration: &Iteration) -> bool {
        self.is_used && self.releases.are_in(iteration)
    }
}

impl<'a> Drain<'a> {
    fn new(vsa: &Vsa, group: &'a OutputGroup, beats: i64) -> Drain<'a> {
        Drain {
            port: vsa.port_of(group.array),
            words: group.footprint.total_words(),
            beats,
            emits: turns(&group.emit, vsa.tile_depth),
            group,
            is_used: false,
            drained: [0; 2],
            written: 0,
            passed: 0,
        }
    }

    fn emits_in(&self, iteration: &Iteration) -> bool {
        self.is_used && self.emits.are_in(iteration)
    }
}

impl Walker<'_> {
    fn run(&mut self, repeats: &mut Repeats) -> i64 {
        let (depth, phases) = (self.vsa.tile_depth, self.vsa.phases());
        let mut tile = vec![0; depth];
        loop {
            let trips = self.vsa.trips_at(&tile);
            let case = self.vsa.case_at(&tile);
            self.waves = self.vsa.waves_of(&trips);
            self.loads.iter_mut().for_each(|load| load.is_used = load.group.used.is_in_case(case));
            for drain in &mut self.drains {
                drain.is_used = drain.group.emit.is_in_case(case);
                drain.passed = drain.written;
            }
            if !repeats.walk(self, phases, &mut tile, &trips[..depth]) {
                return self.least();
            }
            if step(&mut tile[..phases], trips[..phases].iter().copied()).is_none() {
                // The last phases may store nothing.
                return self.done.max(self.free);
            }
        }
    }

    /// When the last wave is launched, if none waits any more.
    fn least(&self) -> i64 {
        self.free + self.left.max(0) * self.vsa.schedule.interval
    }

    /// The cycle from which a load may read what earlier phases stored.
    fn asked(&self, load: &Load) -> i64 {
        let handed_over = load.group.after.iter().map(|after| self.drains[after.output as usize].passed).max();
        let handed_over = handed_over.filter(|at| *at > 0);
        handed_over.map_or(0, |at| at + self.latency[load.port].read_latency + FETCHED)
    }
}

impl Tiles for Walker<'_> {
    fn tile(&mut self, tile: &[i64], trips: &[i64]) -> bool {
        self.work += 1;
        if self.least() >= self.limit || self.work > self.most {
            return false;
        }
        self.left -= self.waves;
        let interval = self.vsa.schedule.interval;
        let mut first = self.free;
        for k in 0..self.loads.len() {
            let load = &self.loads[k];
            if !(load.is_used && load.loads.are_at(tile, trips)) {
                continue;
            }
            let earliest = if load.services >= 2 { load.released[1] } else { 0 };
            let reading = self.reading[load.port].max(earliest).max(self.asked(load)) + load.beats;
            self.reading[load.port] = reading;
            self.loads[k].services += 1;
            first = first.max(reading + timing::LOADED_TO_LAUNCH);
        }
        for drain in self.drains.iter().filter(|d| d.is_used && d.emits.are_at(tile, trips)) {
            first = first.max(drain.drained[(drain.group.slots as usize).clamp(1, 2) - 1]);
        }
        let last = first + (self.waves - 1) * interval;
        self.free = last + interval;
        for drain in self.drains.iter_mut().filter(|d| d.is_used && d.emits.are_at(tile, trips)) {
            // The last wave travels to the last PE, and the last word travels back.
            let collected = last + 1 + self.cross;
            let (asking, writing) = (&mut self.asking[drain.port], &mut self.writing[drain.port]);
            *asking = (*asking).max(collected) + drain.words;
            *writing = (*writing).max(collected) + drain.beats;
            drain.drained = [*asking + timing::DRAINED_TO_LAUNCH, drain.drained[0]];
            let written = *writing + self.latency[drain.port].write_latency;
            self.done = self.done.max(written);
            drain.written = written + ANSWERED - 1;
        }
        for load in self.loads.iter_mut().filter(|l| l.is_used && l.releases.are_at(tile, trips)) {
            load.released = [last + timing::FEED_LATENCY, load.released[0]];
        }
        true
    }

    fn base(&self) -> i64 {
        self.free
    }

    fn shapes(&mut self, iteration: &Iteration, tape: &mut Tape) -> bool {
        self.work += TILES_PER_LOOKUP;
        if self.work > self.most {
            return false;
        }
        tape.note(self.waves);
        for load in &self.loads {
            let (loads, releases) = (load.loads_in(iteration), load.releases_in(iteration));
            tape.note(i64::from(loads) + 2 * i64::from(releases));
            if loads {
                tape.note(load.services.min(2));
                tape.time(&mut self.asked(load), self.reading[load.port]);
            }
        }
        self.drains.iter().for_each(|drain| tape.note(i64::from(drain.emits_in(iteration))));
        true
    }

    fn state(&mut self, iteration: &Iteration, tape: &mut Tape) -> bool {
        tape.time(&mut self.free, i64::MIN);
        for load in &mut self.loads {
            let (loads, releases) = (load.loads_in(iteration), load.releases_in(iteration));
            let reading = &mut self.reading[load.port];
            if loads || releases {
                let least = if loads { *reading } else { i64::MIN };
                load.released.iter_mut().for_each(|at| tape.time(at, least));
            }
            if loads {
                tape.time(reading, i64::MIN);
            }
        }
        for drain in self.drains.iter_mut().filter(|d| d.emits_in(iteration)) {
            drain.drained.iter_mut().for_each(|at| tape.time(at, self.free));
            tape.time(&mut drain.written, i64::MIN);
            tape.time(&mut self.asking[drain.port], self.free + self.cross);
            tape.time(&mut self.writing[drain.port], self.free + self.cross);
        }
        true
    }

    fn totals(&mut self, visit: &mut dyn FnMut(&mut i64)) {
        visit(&mut self.left);
        self.loads.iter_mut().for_each(|load| visit(&mut load.services));
    }

    fn latest(&mut self) -> &mut i64 {
        &mut self.done
    }

    fn logs(&mut self) -> &mut [Vec<i64>] {
        &mut []
    }

    fn alike(&self, iteration: &Iteration) -> i64 {
        let (counter, trip) = (iteration.tile[iteration.level], iteration.trips[iteration.level]);
        let turns = |turns: &Turns| match turns.0.get(iteration.level) {
            Some(Turn::At(value)) if *value > counter => value - counter - 1,
            Some(Turn::At(value)) if *value == counter => 0,
            Some(Turn::Last) => trip - counter - 2,
            _ => trip - counter - 1,
        };
        let loads = self.loads.iter().flat_map(|load| [&load.loads, &load.releases]);
        let all = loads.chain(self.drains.iter().map(|drain| &drain.emits)).map(turns);
        all.min().unwrap_or(trip - counter - 1).max(0)
    }

    fn is_short(&self, iteration: &Iteration) -> bool {
        let inner = iteration.trips[iteration.level + 1..].iter().product::<i64>();
        inner < TILES_PER_LOOKUP as i64 && iteration.trips[iteration.level] < 64
    }
}
