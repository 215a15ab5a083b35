//! The coarse walk: a lower bound on the cycles of a sketch (`search::sketch`), tile by tile with whole transfers.
//!
//! A load takes its port for all its beats; a drain does so once the last wave has crossed the array (`cross`); a tile
//! waits for its loads and for free result buffers. Iterations that repeat are walked once ([`crate::repeat`]).
//!
//! Words beyond an array pass without the memory. So its latency counts in front of a load only if the first word is
//! transferred, and behind the last drain only as far as the words behind the last one that is stored do not fill it.
//! Example: the last tile of 1024 rows in tiles of 342 has 340 of them. A drain of 342 rows of 32 words passes 64 words
//! while the memory answers; a latency of 60 cycles costs nothing, one of 70 costs 6.

use crate::bound::{ANSWERED, FETCHED};
use crate::memory::Most;
use crate::predict::{turns, turns_of};
use crate::repeat::{Iteration, Repeats, Tape, Tiles, Turn, Turns};
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
    let grain = grain(group, word);
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

/// Rows begin at multiples of so many bytes within a word, behind where the first one does.
fn grain(group: &WalkGroup, word: i64) -> i64 {
    group.address.start.coeffs.iter().chain(&group.address.rows).fold(word, |g, c| gcd(g, *c))
}

/// Beats of a drain behind the last one that stores something, at most. `stored`: per dimension, how many places from
/// the box's begin on are stored.
fn beats_behind(group: &WalkGroup, bytes: i64, word: i64, stored: &[i64]) -> i64 {
    let (lengths, Some((last, outer))) = (group.lengths(), stored.split_last()) else { return i64::MAX };
    // Walks of one port have equally many dimensions; those of the group are the inner ones.
    let Some(missing) = lengths.len().checked_sub(outer.len()) else { return i64::MAX };
    let place = |d: usize| if d < missing { 0 } else { lengths[d].min(outer[d - missing]) - 1 };
    let row = lengths.iter().enumerate().fold(0, |row, (d, n)| row * n + place(d));
    let is_aligned = grain(group, word) == word && group.address.start.constant % word == 0;
    let beats = group.words + i64::from(!is_aligned);
    let end = (((last - 1) * group.step + 1) * group.scale).min(group.elements);
    (group.total_rows() - 1 - row) * beats + beats - 1 - (end - 1) * bytes / word
}

/// What is certain of the transfers of a sketch.
pub struct Certain {
    /// Per input group: the first word of its first load in each phase is transferred.
    pub begins: Vec<bool>,
    /// Per output group.
    pub stored: Vec<Stored>,
}

/// What the last drain stores.
pub enum Stored {
    /// A run of one phase: per dimension of the box, so many places from its begin on.
    Box(Vec<i64>),
    /// In the last drain of a phase of these cases, something.
    Some(Vec<bool>),
}

/// Beats behind the last one that stores something.
#[derive(Clone)]
enum Behind {
    Beats(i64),
    /// In phases of these cases, fewer than all.
    Fewer(Vec<bool>),
}

/// An input group.
struct Load<'a> {
    group: &'a InputGroup,
    port: usize,
    /// Cycles in which the port moves a load.
    beats: i64,
    loads: Turns,
    releases: Turns,
    /// Of the memory, in front of the first load of a phase.
    latency: i64,
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
    behind: Behind,
    is_used: bool,
    /// Ends of the last two drains, the latest one first.
    drained: [i64; 2],
    /// When the last beat so far is on the port.
    sent: i64,
    /// When the last drain of an earlier phase is in memory.
    passed: i64,
}

struct Walker<'a> {
    vsa: &'a Vsa,
    loads: Vec<Load<'a>>,
    drains: Vec<Drain<'a>>,
    /// Of stores, per port.
    latency: Vec<i64>,
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

/// What bounds a walk besides its transfers.
pub struct Least<'a> {
    /// The memories are not nearer than these.
    pub most: &'a Most,
    /// Cycles in which the last wave crosses the array.
    pub cross: i64,
    pub certain: &'a Certain,
}

/// Lower bound on the cycles of a sketch whose ports walk like `walks`.
pub fn walk(vsa: &Vsa, walks: &[[Option<Walk>; 2]], least: &Least, limit: i64) -> Walked {
    walk_with(&mut Repeats::default(), vsa, walks, least, limit)
}

/// [`walk`], with every tile walked.
pub fn walk_tile_by_tile(vsa: &Vsa, walks: &[[Option<Walk>; 2]], least: &Least, limit: i64) -> Walked {
    walk_with(&mut Repeats::new(true), vsa, walks, least, limit)
}

fn walk_with(repeats: &mut Repeats, vsa: &Vsa, walks: &[[Option<Walk>; 2]], least: &Least, limit: i64) -> Walked {
    let mut loads: Vec<Load> = vsa.inputs.iter().map(|group| Load::new(vsa, group)).collect();
    let mut drains: Vec<Drain> = vsa.outputs.iter().map(|group| Drain::new(vsa, group)).collect();
    for [reads, writes] in walks {
        for (walk, group) in reads.iter().flat_map(|walk| walk.groups.iter().map(move |g| (walk, g))) {
            loads[group.group].beats = least_beats(group, walk.bytes.into(), walk.bus_bytes().into());
        }
        for (walk, group) in writes.iter().flat_map(|walk| walk.groups.iter().map(move |g| (walk, g))) {
            let (bytes, word) = (walk.bytes.into(), walk.bus_bytes().into());
            let drain = &mut drains[group.group];
            drain.words = group.total_rows() * group.words;
            drain.beats = least_beats(group, bytes, word);
            drain.behind = match &least.certain.stored[group.group] {
                Stored::Box(stored) => Behind::Beats(beats_behind(group, bytes, word, stored)),
                Stored::Some(cases) => Behind::Fewer(cases.clone()),
            };
        }
    }
    let latency = |port: usize| least.most.ports[port].timing;
    for (load, _) in loads.iter_mut().zip(&least.certain.begins).filter(|(_, begins)| **begins) {
        load.latency = latency(load.port).read_latency;
    }
    let mut walker = Walker {
        vsa,
        loads,
        drains,
        latency: (0..vsa.ports()).map(|port| latency(port).write_latency).collect(),
        cross: least.cross,
        reading: vec![0; vsa.ports()],
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
    fn new(vsa: &Vsa, group: &'a InputGroup) -> Load<'a> {
        let (port, [loads, releases]) = (vsa.port_of(group.array), turns_of(group, vsa.tile_depth));
        let (beats, latency) = (0, 0);
        Load { group, port, beats, loads, releases, latency, is_used: false, services: 0, released: [0; 2] }
    }

    fn loads_in(&self, iteration: &Iteration) -> bool {
        self.is_used && self.loads.are_in(iteration)
    }

    fn releases_in(&self, iteration: &Iteration) -> bool {
        self.is_used && self.releases.are_in(iteration)
    }
}

impl<'a> Drain<'a> {
    fn new(vsa: &Vsa, group: &'a OutputGroup) -> Drain<'a> {
        Drain {
            port: vsa.port_of(group.array),
            words: 0,
            beats: 0,
            emits: turns(&group.emit, vsa.tile_depth),
            group,
            behind: Behind::Fewer(vec![]),
            is_used: false,
            drained: [0; 2],
            sent: 0,
            passed: 0,
        }
    }

    /// From the last beat of a phase to the end of a memory's latency, at least.
    fn answered(&self, case: Option<usize>, latency: i64) -> i64 {
        let passed = match &self.behind {
            Behind::Beats(beats) => *beats,
            Behind::Fewer(cases) if case.is_some_and(|case| cases.get(case) == Some(&true)) => self.beats - 1,
            Behind::Fewer(_) => return 0,
        };
        latency.saturating_sub(passed.max(0)).max(0)
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
            self.drains.iter_mut().for_each(|drain| drain.is_used = drain.group.emit.is_in_case(case));
            let sent: Vec<i64> = self.drains.iter().map(|drain| drain.sent).collect();
            if !repeats.walk(self, phases, &mut tile, &trips[..depth]) {
                return self.least();
            }
            for (drain, _) in self.drains.iter_mut().zip(sent).filter(|(drain, before)| drain.sent > *before) {
                let written = drain.sent + drain.answered(case, self.latency[drain.port]);
                self.done = self.done.max(written);
                drain.passed = written + ANSWERED - 1;
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

    /// The cycle behind which the first word of a load may come: it may read what earlier phases stored.
    fn asked(&self, load: &Load) -> i64 {
        let handed_over = load.group.after.iter().map(|after| self.drains[after.output as usize].passed).max();
        handed_over.filter(|at| *at > 0).map_or(0, |at| at + FETCHED) + load.latency
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
            self.done = self.done.max(*writing);
            drain.sent = *writing;
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
            tape.time(&mut drain.sent, i64::MIN);
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
