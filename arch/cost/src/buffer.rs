//! A buffer between two sides of an engine: when there is room for a word follows from when earlier ones were taken.

use crate::steady::Time;
use std::collections::VecDeque;

/// Stretches of words taken in one cycle after the other; each stretch begins `period` cycles after the one before.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: i64,
    at: i64,
    count: i64,
    times: i64,
    period: i64,
}

/// What no run is.
const NOTHING: (i64, i64) = (-1, 0);

impl Run {
    fn end(&self) -> i64 {
        self.first + self.times * self.count
    }
    /// Stretch and place in it of a word.
    fn place(&self, word: i64) -> (i64, i64) {
        let place = word - self.first;
        if self.times == 1 {
            (0, place)
        } else {
            (place / self.count, place % self.count)
        }
    }
    /// Stretches from each word to that so many words later, if it is at the same place of one.
    fn stretches(&self, words: i64) -> Option<i64> {
        (self.times > 1 && words % self.count == 0).then(|| words / self.count)
    }
    /// Cycles from each word to that so many words later.
    fn rate(&self, words: i64) -> i64 {
        self.stretches(words).map_or(words, |stretches| stretches * self.period)
    }
    /// Where it ends, `count` words and further ones like these go on with it.
    fn goes_on(&self, next: Time, count: i64) -> bool {
        let (ends, same) = if self.times == 1 {
            (self.at + self.count, next.rate == count)
        } else {
            (self.at + self.times * self.period, self.count == count && next.rate == self.period)
        };
        same && next.at == ends
    }
}

/// So many words, and when the latest were taken; those that nobody looks back to any more are gone.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    depth: i64,
    pops: VecDeque<Run>,
    /// Words taken so far.
    pub taken: i64,
    /// First word of the latest run and cycles from row to row, if someone counts on it to go on like that.
    awaited: Option<(i64, i64)>,
}

impl Buffer {
    pub fn new(depth: i64) -> Buffer {
        Buffer { depth, pops: VecDeque::new(), taken: 0, awaited: None }
    }

    /// The cycle from which word number `word` (from 0, and never less than in the call before) has room, if each row
    /// has `step` of them, and for how many words it grows by one each at most.
    pub fn room(&mut self, word: i64, step: i64) -> (Time, i64) {
        let freed = word - self.depth;
        if freed < 0 {
            return (Time::fixed(0), -freed);
        }
        while self.pops.front().is_some_and(|r| r.end() <= freed) {
            self.pops.pop_front();
        }
        let Some(run) = self.pops.front() else { return (Time::fixed(0), 1) };
        let (stretch, place) = run.place(freed);
        (Time { at: run.at + stretch * run.period + place + 1, rate: run.rate(step) }, run.count - place)
    }

    /// For how many rows more what [`Buffer::room`] just said of so many words is true, if [`Buffer::goes_on`].
    pub fn lasts(&mut self, word: i64, count: i64, step: i64) -> i64 {
        let freed = word - self.depth;
        if freed < 0 {
            return (-freed - count) / step;
        }
        let Some(run) = self.pops.front() else { return 0 };
        let (stretch, place) = run.place(freed);
        let stretches = run.stretches(step);
        if self.pops.len() == 1 && (run.times == 1 || stretches.is_some()) {
            let awaited = (run.first, run.rate(step));
            self.awaited = Some(if self.awaited.is_none_or(|a| a == awaited) { awaited } else { NOTHING });
            return i64::MAX;
        }
        stretches.map_or((run.count - place - count) / step, |stretches| (run.times - 1 - stretch) / stretches)
    }

    /// At the end of a row: where someone counts on what is taken to go on as before, rows of `count` words from `next`
    /// on do.
    pub fn goes_on(&mut self, next: Time, count: i64) -> bool {
        let awaited = self.awaited.take();
        awaited.is_none_or(|awaited| {
            self.pops.back().is_some_and(|r| awaited == (r.first, next.rate) && r.goes_on(next, count))
        })
    }

    /// The next `count` words are taken from cycle `at` on, and as many in each of so many rows.
    pub fn take(&mut self, at: Time, count: i64, rows: i64) {
        let (count, times) = if at.rate == count { (count * rows, 1) } else { (count, rows) };
        let mut run = Run { first: self.taken, at: at.at, count, times, period: at.rate };
        self.taken = run.end();
        if let Some(r) = self.pops.back().filter(|r| r.times == 1 && times == 1 && r.at + r.count == run.at) {
            run = Run { count: r.count + count, ..*r };
            self.pops.pop_back();
        }
        if let Some(r) = self.pops.back_mut() {
            let period = if r.times > 1 { r.period } else { run.at - r.at };
            if r.count == run.count && run.at == r.at + r.times * period && (times == 1 || run.period == period) {
                (r.times, r.period) = (r.times + times, period);
                return;
            }
        }
        self.pops.push_back(run);
    }
}
