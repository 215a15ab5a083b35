//! Exact timing of `templates::axi::writer` with a memory of known timing ([`array::contract::dram`]).
//!
//! Cycle 0 is the `start` pulse. Call [`WriterModel::drain`] once per drain, in service order
//! ([`array::contract::walk`]), with the cycle of the group's `emitted` pulse that allows it: drain `n` waits for pulse
//! `n`, counting from 0, and enters the walkers one cycle later at the earliest. The results are the cycles of the
//! `drained` and `written` pulses; `done` rises with the last `written`. Base addresses are multiples of 4096.

use crate::address::{AddressModel, RowTimes};
use crate::buffer::Buffer;
use crate::repeat::{Iteration, Tape};
use crate::steady::{Steady, Time};
use array::contract::dram::{Memories, MemoryTiming, Pace};
use array::contract::walk::{words_in_flight, Walk, DRAINS_IN_FLIGHT, ROWS_IN_FLIGHT};
use array::vsa::Vsa;

/// Result of one drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainTimes {
    /// Cycle of the `drained_<o>` pulse of the writer: that of the last token.
    pub drained: i64,
    /// Cycle of the `written_<o>` pulse.
    pub written: i64,
}

/// State of the writer after the drains so far.
#[derive(Clone, Debug)]
pub struct WriterModel {
    address: AddressModel,
    latency: i64,
    pace: Pace,
    /// Cycles from `dr_valid` to `rd_valid`.
    read_latency: i64,
    rotate: i64,
    /// Latest request decision (its `dr_valid` is one cycle later).
    asked: Time,
    /// Words between request and data side.
    words: Buffer,
    /// Latest beat of the data side, transferred or not.
    taken: Time,
    /// The cycle of the data side that the memory's last cycle for the bursts so far follows.
    served: Time,
    /// Latest write response.
    acked: Time,
    /// Cycles in which the latest drains were complete.
    complete: Vec<i64>,
    drains: usize,
    steady: Steady,
    /// Rows that were walked one by one.
    pub walked: u64,
    /// Words of later drains: the data side takes each in a cycle of its own.
    left: i64,
}

impl WriterModel {
    /// `None` if no output group writes through the port. `read_latency`: as `WriterParams::read_latency`.
    pub fn new(vsa: &Vsa, sizes: &[i64], port: usize, memory: &Memories, read_latency: i64) -> Option<WriterModel> {
        Some(WriterModel::of_walk(Walk::writes(vsa, port)?.at(sizes), &memory.behind(vsa, port), read_latency))
    }

    /// The model of one walk.
    pub fn of_walk(walk: Walk, memory: &MemoryTiming, read_latency: i64) -> WriterModel {
        WriterModel {
            words: Buffer::new(words_in_flight(&walk, read_latency) as i64),
            rotate: walk.rotate_stages() as i64,
            left: walk.words(),
            address: AddressModel::new(walk, ROWS_IN_FLIGHT),
            latency: memory.write_latency,
            pace: memory.write,
            read_latency,
            asked: Time::fixed(0),
            taken: Time::fixed(0),
            served: Time::fixed(-1),
            acked: Time::fixed(0),
            complete: vec![-1; DRAINS_IN_FLIGHT],
            drains: 0,
            steady: Steady::default(),
            walked: 0,
        }
    }

    /// A run begins with this walk in cycle `start`, behind the runs so far.
    pub fn begin(&mut self, walk: Walk, start: i64) {
        self.left = walk.words();
        self.address.begin(walk, start);
        for time in [&mut self.asked, &mut self.taken, &mut self.served, &mut self.acked] {
            *time = Time::fixed(time.at);
        }
        self.steady = self.steady.anew();
    }

    /// The last cycle in which addresses and requests of the run are here, behind its last drain.
    pub fn leaves(&mut self) -> i64 {
        self.address.leaves().max(self.asked.at)
    }

    /// Walks every row, even if it equals the one before.
    pub fn row_by_row(mut self) -> Self {
        self.steady.row_by_row = true;
        self
    }

    /// Behind the last drain: the first cycle in which the generator has nothing left.
    pub fn idle(&mut self) -> i64 {
        self.address.ends()
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
        let go = self.address.go((emitted + 1).max(self.asked.at));
        self.asked.at = self.asked.at.max(go);
        let words = self.address.walk().groups[index].words;
        self.left -= self.address.rows() * words;
        let mut steady = std::mem::take(&mut self.steady);
        steady.begin(self.times());
        while self.address.rows() > 0 {
            self.walked += 1;
            let row = self.address.next_row(&mut steady);
            let popped = steady.latest(self.taken, row.leaves.plus(1));
            let goes_on = self.address.popped(popped);
            self.taken = popped;
            let ends_drain = self.address.rows() == 0;
            let first = self.row(&row, words, ends_drain, &mut steady);
            let more = steady.end(self.times());
            if let Some(first) = first.filter(|_| more > 0 && goes_on && !ends_drain) {
                // Only the last row waits for the drains before.
                let rows = more.min(self.address.alike(&row)).min(self.address.rows() - 1);
                self.address.again(rows, popped);
                self.words.take(first.after(1), words, rows);
                steady.skip(rows, self.times());
            }
        }
        self.steady = steady;
        let slot = self.drains % DRAINS_IN_FLIGHT;
        let before = self.complete[(self.drains + DRAINS_IN_FLIGHT - 1) % DRAINS_IN_FLIGHT];
        let complete = (self.taken.at + 1).max(self.acked.at + 1).max(before + 1);
        self.complete[slot] = complete;
        self.drains += 1;
        Some(DrainTimes { drained: self.asked.at + 1, written: complete + 1 })
    }

    /// The last word of the run does not come before this cycle.
    pub fn least_end(&self) -> i64 {
        self.taken.at.saturating_add(self.left)
    }

    /// What tells apart the drains of an iteration, of the groups that are in it. `false`: they cannot be
    /// compared.
    pub fn shapes(&self, iteration: &Iteration, is_in: impl Fn(usize) -> bool, tape: &mut Tape) -> bool {
        tape.note(self.words.filled());
        let at = self.address.counters_of(iteration.tile);
        self.address.shapes(&at, iteration, is_in, tape)
    }

    /// The state in front of an iteration, or behind it.
    pub fn state(&mut self, iteration: &Iteration, tape: &mut Tape) -> bool {
        let at = self.address.counters_of(iteration.tile);
        if !self.address.state(&at, tape) {
            return false;
        }
        let taken = self.taken.at.max(self.address.least_leaving() + 1);
        let asked = self.address.went() + 1;
        tape.time(&mut self.asked.at, asked);
        let asked = self.asked.at.max(asked);
        self.words.state(tape, asked + 1);
        for k in 0..DRAINS_IN_FLIGHT {
            tape.time(&mut self.complete[(self.drains + k) % DRAINS_IN_FLIGHT], taken);
        }
        tape.time(&mut self.served.at, taken);
        tape.time(&mut self.acked.at, taken);
        tape.time(&mut self.taken.at, taken);
        true
    }

    /// All that is counted.
    pub fn totals(&mut self, visit: &mut dyn FnMut(&mut i64)) {
        self.address.totals(visit);
        visit(&mut self.words.taken);
        visit(&mut self.left);
        let mut drains = self.drains as i64;
        visit(&mut drains);
        self.drains = drains as usize;
    }

    /// All times of the model, beside those in the buffers.
    pub fn times(&mut self) -> impl Iterator<Item = &mut Time> {
        self.address.times().chain([&mut self.asked, &mut self.taken, &mut self.served, &mut self.acked])
    }

    /// One row, in stretches. Within a stretch a beat waits for nothing but the beat before, so requests and beats
    /// advance by one a cycle. Returns the cycle of the first beat, if all words were taken without a gap and the next
    /// rows may be equal.
    fn row(&mut self, row: &RowTimes, words: i64, ends_drain: bool, steady: &mut Steady) -> Option<Time> {
        let beats = words + i64::from(row.shifted);
        let sent = row.first_beat..row.first_beat + row.beats;
        let window = self.address.window();
        let mut burst_end = row.first_beat + row.first_burst;
        let mut addressed = row.segment.plus(1);
        let mut opens = true;
        // First beat of the present burst, and when it was sent.
        let mut burst = (sent.start, row.segment);
        let mut k = 0;
        let mut first = None;
        let mut gapless = true;
        while k < beats {
            let mut end = if ends_drain && k < beats - 1 { beats - 1 } else { beats };
            let sends = sent.contains(&k);
            if sends {
                end = end.min(burst_end).min(sent.end);
            } else if k < sent.start {
                end = end.min(sent.start);
            }
            let mut at = self.taken.plus(1);
            if k < words {
                let word = self.words.taken;
                let (room, same) = self.words.room(word, words);
                end = end.min(words).min(k.saturating_add(same));
                steady.at_most(self.words.lasts(word, end - k, words));
                self.asked = steady.latest(self.asked.plus(1), room);
                at = steady.latest(at, self.asked.plus(1 + self.read_latency + self.rotate + 1));
            }
            if sends && opens {
                at = steady.latest(at, addressed.plus(1));
                opens = false;
            }
            if k == beats - 1 && ends_drain {
                at = steady.latest(at, Time::fixed(self.complete[self.drains % DRAINS_IN_FLIGHT] + 1));
            }
            if sends && k == burst.0 {
                burst.1 = at;
            }
            let count = end - k;
            if k < words {
                gapless &= *first.get_or_insert(at) == at.plus(-k);
                self.words.take(at, count, 1);
                self.asked = self.asked.plus(count - 1);
            }
            self.taken = at.plus(count - 1);
            if sends && (end == burst_end || end == sent.end) {
                burst_end += window;
                addressed = addressed.plus(1);
                opens = true;
                let begins = steady.latest(burst.1, self.served.plus(1));
                let last = begins.plus(self.pace.burst(end - burst.0) - 1);
                self.served = steady.latest(last, self.taken);
                self.acked = self.served.plus(1 + self.latency);
                burst.0 = end;
            }
            k = end;
        }
        first.filter(|first| self.words.goes_on(first.after(1), words) && gapless)
    }
}
