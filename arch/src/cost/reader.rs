//! Exact timing of `templates::axi::reader` under the ideal memory.
//!
//! Cycles are absolute; 0 is the cycle of the `start` pulse. [`ReaderModel::load`] is called once per load, in service
//! order (see [`crate::contract::walk`]), with the cycle of the *latest pulse the load waits for*: load `n` of a group waits for its
//! `release` number `n - 2` (counting from 0; loads 0 and 1 do not wait) and, with `after = (o, lag)`, for `written_o` number
//! `n - lag - 1` if `n > lag`. A pulse in cycle `t` lets the load enter the walker (`go`) in `t + 1`. What does not wait passes 0.
//! The result is the cycle of the `loaded` pulse, which is the cycle of the load's last word on the stream.
//! Base addresses are taken to be multiples of 4096.

use super::address::AddressModel;
use crate::contract::walk::Walk;
use crate::ir::vsa::Vsa;

pub use crate::contract::walk::MemoryTiming;

/// Result of one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadTimes {
    /// Cycle of the `loaded_<g>` pulse.
    pub loaded: i64,
}

/// State of the reader after the loads so far.
#[derive(Clone, Debug)]
pub struct ReaderModel {
    address: AddressModel,
    latency: i64,
    rotate: i64,
    /// Cycle in which the receiver took its latest virtual beat.
    taken: i64,
}

impl ReaderModel {
    /// `None` if no input group reads through the port.
    pub fn new(vsa: &Vsa, port: usize, memory: &MemoryTiming) -> Option<ReaderModel> {
        Some(ReaderModel::of_walk(Walk::reads(vsa, port)?, memory))
    }

    /// The model of one walk.
    pub fn of_walk(walk: Walk, memory: &MemoryTiming) -> ReaderModel {
        let rotate = walk.rotate_stages() as i64;
        ReaderModel { address: AddressModel::new(walk), latency: memory.read_latency, rotate, taken: 0 }
    }

    /// The walk, for its service order.
    pub fn walk(&self) -> &Walk {
        self.address.walk()
    }

    /// Load number `n` of input group `group`; `earliest` is the cycle of the latest pulse it waits for.
    /// `None` if this is not the next load in service order.
    pub fn load(&mut self, group: usize, n: i64, earliest: i64) -> Option<LoadTimes> {
        let index = self.address.offer(group, n)?;
        self.address.go(earliest + 1);
        let (words, mut taken) = (self.address.walk().groups[index].words, self.taken);
        while let Some(row) = self.address.next_row() {
            let popped = taken.max(row.leaves + 1);
            self.address.popped(popped);
            // `taken` becomes the cycle of the latest beat.
            let beats = words + i64::from(row.shifted);
            taken = popped;
            if row.beats > 0 {
                taken += row.first_beat;
                let mut left = row.beats;
                let mut length = row.first_burst;
                let mut addressed = row.segment + 1;
                while left > 0 {
                    taken = (taken + 1).max(addressed + self.latency) + length - 1;
                    left -= length;
                    length = left.min(self.address.window());
                    addressed += 1;
                }
                taken += beats - row.first_beat - row.beats;
            } else {
                taken += beats;
            }
        }
        self.taken = taken;
        Some(LoadTimes { loaded: taken + self.rotate + 2 })
    }
}
