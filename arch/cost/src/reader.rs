//! Exact timing of `templates::axi::reader` with a memory of known timing ([`array::contract::dram`]).
//!
//! Cycle 0 is the `start` pulse. Call [`ReaderModel::load`] once per load, in service order
//! ([`array::contract::walk`]), with the cycles of the pulses that the load waits for, or 0 if it does not wait:
//! - Load `n` of a group enters the walker after `written_o` number `n - lag - 1`, counting from 0 (with
//!   `after = (o, lag)`, and if `n > lag`).
//! - Its words go to the feeders after the group's `release` number `n - 2`.
//!
//! The result is the cycle of the `loaded` pulse, in which the load's last word is on the stream. Base addresses are
//! multiples of 4096.

use crate::address::{AddressModel, RowTimes};
use crate::buffer::Buffer;
use crate::repeat::{Iteration, Tape};
use crate::steady::{Steady, Time};
use array::contract::dram::{Memories, Pace};
use array::contract::walk::Walk;
use array::vsa::Vsa;

pub use array::contract::dram::MemoryTiming;

/// Result of one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadTimes {
    /// Cycle of the `loaded_<g>` pulse.
    pub loaded: i64,
}

/// Cycles of the pulses that a load waits for; 0 if it does not wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// The data that it reads is in DRAM.
    pub written: i64,
    /// A buffer half of its group is free.
    pub released: i64,
}

/// State of the reader after the loads so far.
#[derive(Clone, Debug)]
pub struct ReaderModel {
    address: AddressModel,
    latency: i64,
    pace: Pace,
    rotate: i64,
    /// Beats between address side and receiver.
    beats: Buffer,
    /// Beats requested so far, and the last cycle in which the memory serves them.
    asked: i64,
    served: Time,
    /// Cycle in which the receiver took its latest beat, transferred or not.
    taken: Time,
    steady: Steady,
    /// Rows that were walked one by one.
    pub walked: u64,
    /// Words of later loads: the receiver takes each in a cycle of its own.
    left: i64,
}

/// Cycles from a write into the FIFO of beats to the first cycle in which the beat can be taken.
const BEAT_THROUGH: i64 = 2;
/// The same of the FIFO of row descriptors, which has one register more.
const ROW_THROUGH: i64 = 3;

impl ReaderModel {
    /// `None` if no input group reads through the port.
    pub fn new(vsa: &Vsa, sizes: &[i64], port: usize, memory: &Memories) -> Option<ReaderModel> {
        Some(ReaderModel::of_walk(Walk::reads(vsa, port)?.at(sizes), vsa.ahead, &memory.behind(vsa, port)))
    }

    /// The model of one walk.
    pub fn of_walk(walk: Walk, ahead: i64, memory: &MemoryTiming) -> ReaderModel {
        let (rotate, left) = (walk.rotate_stages() as i64, walk.words());
        let address = AddressModel::new(walk, ahead as usize);
        let start = Time::fixed(0);
        ReaderModel {
            address,
            latency: memory.read_latency,
            pace: memory.read,
            rotate,
            beats: Buffer::new(ahead),
            asked: 0,
            served: start,
            taken: start,
            steady: Steady::default(),
            walked: 0,
            left,
        }
    }

    /// A run begins with this walk in cycle `start`, behind the runs so far.
    pub fn begin(&mut self, walk: Walk, start: i64) {
        self.left = walk.words();
        self.address.begin(walk, start);
        (self.served, self.taken) = (Time::fixed(self.served.at), Time::fixed(self.taken.at));
        self.steady = self.steady.anew();
    }

    /// The last cycle in which addresses of the run are here, behind its last load.
    pub fn leaves(&mut self) -> i64 {
        self.address.leaves()
    }

    /// Walks every row, even if it equals the one before.
    pub fn row_by_row(mut self) -> Self {
        self.steady.row_by_row = true;
        self
    }

    /// The walk, for its service order.
    pub fn walk(&self) -> &Walk {
        self.address.walk()
    }

    /// Load number `n` of input group `group`. `None` if this is not the next load in service order.
    pub fn load(&mut self, group: usize, n: i64, waits: Waits) -> Option<LoadTimes> {
        let index = self.address.offer(group, n)?;
        self.address.go(waits.written + 1);
        let words = self.address.walk().groups[index].words;
        self.left -= self.address.rows() * words;
        self.taken.at = self.taken.at.max(waits.released + 1);
        let mut steady = std::mem::take(&mut self.steady);
        steady.begin(self.times());
        while self.address.rows() > 0 {
            self.walked += 1;
            let row = self.address.next_row(&mut steady);
            let popped = steady.latest(self.taken, row.leaves.plus(ROW_THROUGH));
            let mut goes_on = self.address.popped(popped);
            self.taken = popped.plus(row.first_beat);
            let mut first = popped;
            if row.beats > 0 {
                first = self.bursts(&row, &mut steady);
                goes_on &= self.beats.goes_on(first.after(1), row.beats);
            }
            self.taken = self.taken.plus(words + i64::from(row.shifted) - row.first_beat - row.beats);
            let more = steady.end(self.times());
            if more > 0 && goes_on && row.beats == row.first_burst {
                let rows = more.min(self.address.alike(&row));
                self.address.again(rows, popped);
                self.beats.take(first.after(1), row.beats, rows);
                self.asked += rows * row.beats;
                steady.skip(rows, self.times());
            }
        }
        self.steady = steady;
        Some(LoadTimes { loaded: self.taken.at + self.rotate + 2 })
    }

    /// Behind the last load: the first cycle in which the reader tells that it is idle. `released`: the last pulse that
    /// frees a buffer half of its groups.
    pub fn idle(&mut self, released: i64) -> i64 {
        self.address.ends().max(released + 1) + self.rotate + 3
    }

    /// No load's data come before this cycle.
    pub fn least_taken(&self) -> i64 {
        self.taken.at.max(self.address.least_leaving() + ROW_THROUGH)
    }

    /// The last word of the run does not come before this cycle.
    pub fn least_end(&self) -> i64 {
        self.taken.at.saturating_add(self.left)
    }

    /// The cycle in which the latest load entered the walker.
    pub fn went(&self) -> i64 {
        self.address.went()
    }

    /// What tells apart the loads of an iteration, of the groups that are in it. `false`: they cannot be
    /// compared.
    pub fn shapes(&self, iteration: &Iteration, is_in: impl Fn(usize) -> bool, tape: &mut Tape) -> bool {
        tape.note(self.beats.filled());
        let at = self.address.counters_of(iteration.tile);
        self.address.shapes(&at, iteration, is_in, tape)
    }

    /// The state in front of an iteration, or behind it.
    pub fn state(&mut self, iteration: &Iteration, tape: &mut Tape) -> bool {
        let at = self.address.counters_of(iteration.tile);
        if !self.address.state(&at, tape) {
            return false;
        }
        let leaves = self.address.least_leaving();
        tape.time(&mut self.served.at, leaves + 1 + self.latency);
        self.beats.state(tape, leaves);
        tape.time(&mut self.taken.at, leaves + ROW_THROUGH);
        true
    }

    /// All that is counted.
    pub fn totals(&mut self, visit: &mut dyn FnMut(&mut i64)) {
        self.address.totals(visit);
        visit(&mut self.beats.taken);
        visit(&mut self.asked);
        visit(&mut self.left);
    }

    /// All times of the model, beside those in the buffers.
    pub fn times(&mut self) -> impl Iterator<Item = &mut Time> {
        self.address.times().chain([&mut self.served, &mut self.taken])
    }

    /// Fetches the beats of a row. Returns when the first beat of the last burst is taken.
    fn bursts(&mut self, row: &RowTimes, steady: &mut Steady) -> Time {
        let window = self.address.window();
        let (mut left, mut length, mut segment) = (row.beats, row.first_burst, row.segment);
        loop {
            // A burst is requested once there is room for a full one.
            let last = self.asked + window - 1;
            segment = steady.latest(segment, self.beats.room(last, row.beats).0);
            steady.at_most(self.beats.lasts(last, 1, row.beats));
            self.asked += length;
            let begins = steady.latest(self.served.plus(1), segment.plus(1 + self.latency));
            let occupied = self.pace.burst(length);
            self.served = begins.plus(occupied - 1);
            let first = begins.plus(occupied - length);
            let from = steady.latest(self.taken.plus(1), first.plus(BEAT_THROUGH));
            self.beats.take(from, length, 1);
            self.taken = from.plus(length - 1);
            left -= length;
            if left == 0 {
                self.address.held_back(segment);
                return from;
            }
            length = left.min(window);
            segment = segment.plus(1);
        }
    }
}
