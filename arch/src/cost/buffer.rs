//! A buffer between two sides of an engine: when there is room for a word follows from when earlier ones were taken.

use std::collections::VecDeque;

/// Words taken in one cycle after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: i64,
    at: i64,
    count: i64,
}

/// So many words, and when the latest were taken; those that nobody looks back to any more are gone.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    depth: i64,
    pops: VecDeque<Run>,
    /// Words taken so far.
    pub taken: i64,
}

impl Buffer {
    pub fn new(depth: i64) -> Buffer {
        Buffer { depth, pops: VecDeque::new(), taken: 0 }
    }

    /// The cycle from which word number `word` (from 0, and never less than in the call before) has room, and for how many
    /// words it grows by one each.
    pub fn room(&mut self, word: i64) -> (i64, i64) {
        let freed = word - self.depth;
        if freed < 0 {
            return (0, -freed);
        }
        while self.pops.front().is_some_and(|r| r.first + r.count <= freed) {
            self.pops.pop_front();
        }
        self.pops.front().map_or((0, 1), |r| (r.at + freed - r.first + 1, r.first + r.count - freed))
    }

    /// The next `count` words are taken from cycle `at` on.
    pub fn take(&mut self, at: i64, count: i64) {
        match self.pops.back_mut() {
            Some(r) if r.at + r.count == at => r.count += count,
            _ => self.pops.push_back(Run { first: self.taken, at, count }),
        }
        self.taken += count;
    }
}
