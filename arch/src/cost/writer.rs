//! Exact timing of `templates::axi::writer` under the ideal memory.
//!
//! Cycles are absolute; 0 is the cycle of the `start` pulse. [`WriterModel::drain`] is called once per drain, in service
//! order (see [`crate::contract::walk`]), with the cycle of the group's `emitted` pulse that allows it (drain `n` waits for pulse
//! number `n`, counting from 0); the drain enters the walkers one cycle later at the earliest. Results are the cycles of
//! the `drained` and `written` pulses; `done` rises with the last `written`. Base addresses are taken to be multiples
//! of 4096.

use super::address::{AddressModel, RowTimes};
use super::buffer::Buffer;
use crate::contract::walk::{words_in_flight, MemoryTiming, Walk, DRAINS_IN_FLIGHT, ROWS_IN_FLIGHT};
use crate::ir::vsa::Vsa;

/// Result of one drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainTimes {
    /// Cycle of the `drained_<o>` pulse.
    pub drained: i64,
    /// Cycle of the `written_<o>` pulse.
    pub written: i64,
}

/// State of the writer after the drains so far.
#[derive(Clone, Debug)]
pub struct WriterModel {
    address: AddressModel,
    latency: i64,
    /// Cycles from `dr_valid` to `rd_valid`.
    read_latency: i64,
    rotate: i64,
    /// Latest request decision (its `dr_valid` is one cycle later).
    asked: i64,
    /// Words between request and data side.
    words: Buffer,
    /// Latest virtual beat of the data side.
    taken: i64,
    /// Latest write response.
    acked: i64,
    /// Cycles in which the latest drains were found complete.
    complete: Vec<i64>,
    drains: usize,
}

impl WriterModel {
    /// `None` if no output group writes through the port. `read_latency`: as `WriterParams::read_latency`.
    pub fn new(vsa: &Vsa, sizes: &[i64], port: usize, memory: &MemoryTiming, read_latency: i64) -> Option<WriterModel> {
        Some(WriterModel::of_walk(Walk::writes(vsa, port)?.at(sizes), &memory.behind(vsa, port), read_latency))
    }

    /// The model of one walk.
    pub fn of_walk(walk: Walk, memory: &MemoryTiming, read_latency: i64) -> WriterModel {
        WriterModel {
            words: Buffer::new(words_in_flight(&walk, read_latency) as i64),
            rotate: walk.rotate_stages() as i64,
            address: AddressModel::new(walk, ROWS_IN_FLIGHT),
            latency: memory.write_latency,
            read_latency,
            asked: 0,
            taken: 0,
            acked: 0,
            complete: vec![-1; DRAINS_IN_FLIGHT],
            drains: 0,
        }
    }

    /// The walk, for its service order.
    pub fn walk(&self) -> &Walk {
        self.address.walk()
    }

    /// Drain number `n` of output group `group`, allowed by the `emitted` pulse in cycle `emitted`.
    /// `None` if this is not the next drain in service order.
    pub fn drain(&mut self, group: usize, n: i64, emitted: i64) -> Option<DrainTimes> {
        let index = self.address.offer(group, n)?;
        // The request walker accepts a service in the cycle of the previous one's last request.
        let go = self.address.go((emitted + 1).max(self.asked));
        self.asked = self.asked.max(go);
        let words = self.address.walk().groups[index].words;
        let mut rows = self.address.rows_of(index);
        while let Some(row) = self.address.next_row() {
            let popped = self.taken.max(row.leaves + 1);
            self.address.popped(popped);
            self.taken = popped;
            rows -= 1;
            self.row(&row, words, rows == 0);
        }
        let slot = self.drains % DRAINS_IN_FLIGHT;
        let before = self.complete[(self.drains + DRAINS_IN_FLIGHT - 1) % DRAINS_IN_FLIGHT];
        let complete = (self.taken + 1).max(self.acked + 1).max(before + 1);
        self.complete[slot] = complete;
        self.drains += 1;
        Some(DrainTimes { drained: self.asked + self.read_latency + 2, written: complete + 1 })
    }

    /// Stretches of beats that wait for nothing but the beat before, behind their first one: within a stretch, requests
    /// and beats advance by one a cycle.
    fn row(&mut self, row: &RowTimes, words: i64, ends_drain: bool) {
        let beats = words + i64::from(row.shifted);
        let sent = row.first_beat..row.first_beat + row.beats;
        let window = self.address.window();
        let mut burst_end = row.first_beat + row.first_burst;
        let mut addressed = row.segment + 1;
        let mut opens = true;
        let mut k = 0;
        while k < beats {
            let mut end = if ends_drain && k < beats - 1 { beats - 1 } else { beats };
            let sends = sent.contains(&k);
            if sends {
                end = end.min(burst_end).min(sent.end);
            } else if k < sent.start {
                end = end.min(sent.start);
            }
            let mut at = self.taken + 1;
            if k < words {
                let (room, same) = self.words.room(self.words.taken);
                end = end.min(words).min(k.saturating_add(same));
                self.asked = (self.asked + 1).max(room);
                at = at.max(self.asked + 1 + self.read_latency + self.rotate + 1);
            }
            if sends && opens {
                at = at.max(addressed + 1);
                opens = false;
            }
            if k == beats - 1 && ends_drain {
                at = at.max(self.complete[self.drains % DRAINS_IN_FLIGHT] + 1);
            }
            let count = end - k;
            if k < words {
                self.words.take(at, count);
                self.asked += count - 1;
            }
            self.taken = at + count - 1;
            if sends && (end == burst_end || end == sent.end) {
                burst_end += window;
                addressed += 1;
                opens = true;
                self.acked = self.taken + 1 + self.latency;
            }
            k = end;
        }
    }
}
