//! Exact timing of `templates::axi::reader` under the ideal memory.
//!
//! Cycles are absolute; 0 is the cycle of the `start` pulse. [`ReaderModel::load`] is called once per load, in service
//! order (see [`array::contract::walk`]), with the cycles of the pulses the load waits for: load `n` of a group enters
//! the walker after `written_o` number `n - lag - 1` (counting from 0; with `after = (o, lag)`, and if `n > lag`), and
//! its words go to the feeders after the group's `release` number `n - 2`. What does not wait passes 0. The result is
//! the cycle of the `loaded` pulse, which is the cycle of the load's last word on the stream. Base addresses are taken
//! to be multiples of 4096.

use crate::address::{AddressModel, RowTimes};
use crate::buffer::Buffer;
use crate::steady::{Steady, Time};
use array::contract::walk::Walk;
use array::vsa::Vsa;

pub use array::contract::walk::MemoryTiming;

/// Result of one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadTimes {
    /// Cycle of the `loaded_<g>` pulse.
    pub loaded: i64,
}

/// Pulses in whose cycles a load may go on, 0 where it does not wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// What it reads is in DRAM.
    pub written: i64,
    /// A buffer half of its group is free.
    pub released: i64,
}

/// State of the reader after the loads so far.
#[derive(Clone, Debug)]
pub struct ReaderModel {
    address: AddressModel,
    latency: i64,
    rotate: i64,
    /// Beats between address side and receiver.
    beats: Buffer,
    /// Beats asked for so far, and the cycle in which the latest of them comes.
    asked: i64,
    came: Time,
    /// Cycle in which the receiver took its latest virtual beat.
    taken: Time,
    steady: Steady,
}

/// From the cycle in which something is put into a buffer to the first in which it can be taken.
const THROUGH: i64 = 2;

impl ReaderModel {
    /// `None` if no input group reads through the port.
    pub fn new(vsa: &Vsa, sizes: &[i64], port: usize, memory: &MemoryTiming) -> Option<ReaderModel> {
        Some(ReaderModel::of_walk(Walk::reads(vsa, port)?.at(sizes), vsa.ahead, &memory.behind(vsa, port)))
    }

    /// The model of one walk.
    pub fn of_walk(walk: Walk, ahead: i64, memory: &MemoryTiming) -> ReaderModel {
        let rotate = walk.rotate_stages() as i64;
        let address = AddressModel::new(walk, ahead as usize);
        let start = Time::fixed(0);
        ReaderModel {
            address,
            latency: memory.read_latency,
            rotate,
            beats: Buffer::new(ahead),
            asked: 0,
            came: start,
            taken: start,
            steady: Steady::default(),
        }
    }

    /// Walks every row, however like the one before it is.
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
        self.taken.at = self.taken.at.max(waits.released + 1);
        let mut steady = std::mem::take(&mut self.steady);
        steady.begin(self.times());
        while self.address.rows() > 0 {
            let row = self.address.next_row(&mut steady);
            let popped = steady.latest(self.taken, row.leaves.plus(THROUGH));
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

    /// All that the cycles of later rows are made from, beside what buffers remember.
    pub fn times(&mut self) -> impl Iterator<Item = &mut Time> {
        self.address.times().chain([&mut self.came, &mut self.taken])
    }

    /// The beats of a row that are fetched: when the latest burst's first is taken.
    fn bursts(&mut self, row: &RowTimes, steady: &mut Steady) -> Time {
        let window = self.address.window();
        let (mut left, mut length, mut segment) = (row.beats, row.first_burst, row.segment);
        loop {
            // There is room for the longest burst.
            let last = self.asked + window - 1;
            segment = steady.latest(segment, self.beats.room(last, row.beats).0);
            steady.at_most(self.beats.lasts(last, 1, row.beats));
            self.asked += length;
            let first = steady.latest(self.came.plus(1), segment.plus(1 + self.latency));
            self.came = first.plus(length - 1);
            let from = steady.latest(self.taken.plus(1), first.plus(THROUGH));
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
