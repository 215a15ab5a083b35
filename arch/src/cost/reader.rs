//! Exact timing of `templates::axi::reader` under the ideal memory.
//!
//! Cycles are absolute; 0 is the cycle of the `start` pulse. [`ReaderModel::load`] is called once per load, in service
//! order (see [`crate::contract::walk`]), with the cycles of the pulses the load waits for: load `n` of a group enters the
//! walker after `written_o` number `n - lag - 1` (counting from 0; with `after = (o, lag)`, and if `n > lag`), and its words
//! go to the feeders after the group's `release` number `n - 2`. What does not wait passes 0. The result is the cycle of the
//! `loaded` pulse, which is the cycle of the load's last word on the stream. Base addresses are taken to be multiples of 4096.

use super::address::{AddressModel, RowTimes};
use super::buffer::Buffer;
use crate::contract::walk::Walk;
use crate::ir::vsa::Vsa;

pub use crate::contract::walk::MemoryTiming;

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
    came: i64,
    /// Cycle in which the receiver took its latest virtual beat.
    taken: i64,
}

/// From the cycle in which something is put into a buffer to the first in which it can be taken.
const THROUGH: i64 = 2;

impl ReaderModel {
    /// `None` if no input group reads through the port.
    pub fn new(vsa: &Vsa, sizes: &[i64], port: usize, memory: &MemoryTiming) -> Option<ReaderModel> {
        Some(ReaderModel::of_walk(Walk::reads(vsa, port)?.at(sizes), vsa.ahead, &memory.behind(vsa, port)))
    }

    /// The model of one walk.
    fn of_walk(walk: Walk, ahead: i64, memory: &MemoryTiming) -> ReaderModel {
        let rotate = walk.rotate_stages() as i64;
        let address = AddressModel::new(walk, ahead as usize);
        ReaderModel { address, latency: memory.read_latency, rotate, beats: Buffer::new(ahead), asked: 0, came: 0, taken: 0 }
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
        let mut freed = waits.released + 1;
        while let Some(row) = self.address.next_row() {
            let popped = self.taken.max(row.leaves + THROUGH).max(freed);
            freed = 0;
            self.address.popped(popped);
            self.taken = popped;
            if row.beats > 0 {
                self.taken += row.first_beat;
                self.bursts(&row);
                self.taken += words + i64::from(row.shifted) - row.first_beat - row.beats;
            } else {
                self.taken += words + i64::from(row.shifted);
            }
        }
        Some(LoadTimes { loaded: self.taken + self.rotate + 2 })
    }

    /// The beats of a row that are fetched.
    fn bursts(&mut self, row: &RowTimes) {
        let window = self.address.window();
        let (mut left, mut length, mut segment) = (row.beats, row.first_burst, row.segment);
        loop {
            // There is room for the longest burst.
            segment = segment.max(self.beats.room(self.asked + window - 1).0);
            self.asked += length;
            let first = (self.came + 1).max(segment + 1 + self.latency);
            self.came = first + length - 1;
            let from = (self.taken + 1).max(first + THROUGH);
            self.beats.take(from, length);
            self.taken = from + length - 1;
            left -= length;
            if left == 0 {
                break;
            }
            length = left.min(window);
            segment += 1;
        }
        self.address.held_back(segment);
    }
}
