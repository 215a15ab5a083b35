//! A FIFO between two sides of a DMA engine: there is room for word `n` once word `n - depth` was taken.
//!
//! The model stores when words were taken as *runs* of equal stretches, so that thousands of words are one entry.

use crate::repeat::Tape;
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

/// Cycles: more than anything is expected to grow in one service.
const LONG_AGO: i64 = 1 << 40;

/// Matches no run.
const NOTHING: (i64, i64) = (-1, 0);

impl Run {
    fn end(&self) -> i64 {
        self.first + self.times * self.count
    }
    /// A word's stretch, and its place in the stretch.
    fn place(&self, word: i64) -> (i64, i64) {
        let place = word - self.first;
        if self.times == 1 {
            (0, place)
        } else {
            (place / self.count, place % self.count)
        }
    }
    /// Stretches between words this far apart, if they are at the same place of their stretches.
    fn stretches(&self, words: i64) -> Option<i64> {
        (self.times > 1 && words % self.count == 0).then(|| words / self.count)
    }
    /// Cycles between words this far apart.
    fn rate(&self, words: i64) -> i64 {
        self.stretches(words).map_or(words, |stretches| stretches * self.period)
    }
    /// Rows of `count` words from `next` on continue the run.
    fn goes_on(&self, next: Time, count: i64) -> bool {
        let (ends, same) = if self.times == 1 {
            (self.at + self.count, next.rate == count)
        } else {
            (self.at + self.times * self.period, self.count == count && next.rate == self.period)
        };
        same && next.at == ends
    }
}

/// The depth, and when the latest words were taken. Words that no request can depend on any more are dropped.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    depth: i64,
    pops: VecDeque<Run>,
    /// Words taken so far.
    pub taken: i64,
    /// First word of the latest run and cycles per row, if a caller expects the run to continue like that.
    awaited: Option<(i64, i64)>,
}

impl Buffer {
    pub fn new(depth: i64) -> Buffer {
        Buffer { depth, pops: VecDeque::new(), taken: 0, awaited: None }
    }

    /// The cycle from which word number `word` has room, with its rate for rows of `step` words, and the number of
    /// words for which it grows by one cycle each. Words count from 0 and never fall from call to call.
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

    /// For how many more rows the answer of [`Buffer::room`] for `count` words holds, provided that
    /// [`Buffer::goes_on`].
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

    /// Call at the end of a row. If a caller expects the latest run to continue, rows of `count` words from `next` on
    /// do continue it.
    pub fn goes_on(&mut self, next: Time, count: i64) -> bool {
        let awaited = self.awaited.take();
        awaited.is_none_or(|awaited| {
            self.pops.back().is_some_and(|r| awaited == (r.first, next.rate) && r.goes_on(next, count))
        })
    }

    /// Words that were taken, as far as room depends on them.
    pub fn filled(&self) -> i64 {
        self.taken.min(self.depth)
    }

    /// The state behind [`Buffer::taken`] words: nobody waits for room before cycle `least`.
    pub fn state(&mut self, tape: &mut Tape, least: i64) {
        let mut runs = if tape.is_read() { vec![] } else { self.needed(least) };
        let mut count = runs.len() as i64;
        tape.number(&mut count);
        runs.resize(count as usize, Run { first: 0, at: 0, count: 0, times: 0, period: 0 });
        for run in &mut runs {
            let mut behind = self.taken - run.first;
            tape.number(&mut behind);
            run.first = self.taken - behind;
            tape.time(&mut run.at, i64::MIN);
            tape.number(&mut run.count);
            tape.number(&mut run.times);
            tape.number(&mut run.period);
        }
        if tape.is_read() {
            self.pops = runs.into();
            self.awaited = None;
        }
    }

    /// The runs on which room may still depend. What was taken before cycle `least` is one run, long ago.
    fn needed(&self, least: i64) -> Vec<Run> {
        let from = (self.taken - self.depth).max(0);
        let mut runs: Vec<Run> = vec![];
        for run in &self.pops {
            let mut run = *run;
            if run.times > 1 {
                let late = (least - run.at - run.count).div_euclid(run.period.max(1)) + 1;
                let gone = late.max((from - run.first).div_euclid(run.count)).clamp(0, run.times);
                (run.first, run.at, run.times) =
                    (run.first + gone * run.count, run.at + gone * run.period, run.times - gone);
            }
            if run.times == 1 {
                let gone = (from - run.first).max(least - run.at).clamp(0, run.count);
                run = Run { first: run.first + gone, at: run.at + gone, count: run.count - gone, times: 1, period: 0 };
            }
            if run.times > 0 && run.count > 0 {
                runs.push(run);
            }
        }
        let early = runs.first().map_or(self.taken, |run| run.first) - from;
        if early > 0 {
            runs.insert(0, Run { first: from, at: least - early - LONG_AGO, count: early, times: 1, period: 0 });
        }
        runs
    }

    /// The next `count` words are taken from cycle `at` on, one per cycle, and as many in each of `rows` rows.
    pub fn take(&mut self, at: Time, count: i64, rows: i64) {
        if count * rows == 0 {
            return;
        }
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
