//! Timing of the address side both engines share (`templates::axi::address`), for an address channel that is always ready.
//!
//! Every stage holds one item and passes it on in the cycle in which the next is free or becomes free, so the cycle in
//! which item `i` leaves a stage is a maximum of: its arrival, and the cycle item `i - 1` leaves the next stage.

use crate::contract::walk::{Walk, WalkGroup};

/// When a row passes, and what it transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTimes {
    /// The row leaves the row stage; its descriptor can be taken one cycle later.
    pub leaves: i64,
    /// First cycle in the segment stage: burst `j` is on the channel in `segment + 1 + j`, if nothing holds it back.
    pub segment: i64,
    /// Element 0 is not at the start of a bus word: one more virtual beat.
    pub shifted: bool,
    /// Virtual beats before the first that is transferred.
    pub first_beat: i64,
    /// Beats transferred, and those in the first burst.
    pub beats: i64,
    pub first_burst: i64,
}

/// The address side after the services so far.
#[derive(Clone, Debug)]
pub struct AddressModel {
    walk: Walk,
    counters: Vec<i64>,
    /// Which case of phases the present point is of.
    case: usize,
    turn: usize,
    exhausted: bool,
    served: Vec<i64>,
    /// Cycle in which the generator looks at the present point.
    looks: i64,
    /// Cycle in which the job stage becomes free (its service enters the walker).
    job_leaves: i64,
    /// Cycle in which the present service is in the job stage, then: in which its next row is in the walker.
    arrives: i64,
    /// Cycle in which the latest row left: walker, trim stages, row stage.
    left: Vec<i64>,
    segment_left: i64,
    /// Cycles in which descriptors were taken, by row number modulo the FIFO's depth.
    pops: Vec<i64>,
    row: usize,
    service: Service,
    /// Logarithms of the bytes per element, elements per word, beats per full burst: powers of two, all of them.
    bytes: u32,
    word: u32,
    window: u32,
}

/// Rows left of the present service.
#[derive(Clone, Debug, Default)]
struct Service {
    index: usize,
    rows: i64,
    lengths: Vec<i64>,
    y: Vec<i64>,
    address: i64,
    gates: Vec<i64>,
    lowers: Vec<i64>,
    uppers: Vec<i64>,
}

/// Before the first cycle of a run.
const NEVER: i64 = -1;

impl AddressModel {
    /// `ahead`: rows between address side and data side, a power of two.
    pub fn new(walk: Walk, ahead: usize) -> AddressModel {
        AddressModel {
            counters: vec![0; walk.trips.len()],
            case: walk.case(&vec![0; walk.trips.len()]),
            turn: 0,
            exhausted: false,
            served: vec![0; walk.groups.len()],
            looks: 1,
            job_leaves: NEVER,
            arrives: 0,
            left: vec![NEVER; walk.trim_stages() + 2],
            segment_left: NEVER,
            pops: vec![NEVER; ahead],
            row: 0,
            service: Service::default(),
            bytes: walk.bytes.trailing_zeros(),
            word: walk.word.trailing_zeros(),
            window: walk.burst_beats().trailing_zeros(),
            walk,
        }
    }

    pub fn walk(&self) -> &Walk {
        &self.walk
    }
    /// Beats of a full burst.
    pub fn window(&self) -> i64 {
        1 << self.window
    }
    pub fn rows_of(&self, index: usize) -> i64 {
        self.walk.groups[index].total_rows()
    }

    /// Steps the generator to the next service, which must be number `n` of `group`; the group's index in the walk.
    pub fn offer(&mut self, group: usize, n: i64) -> Option<usize> {
        let index = loop {
            if self.exhausted {
                return None;
            }
            let g = &self.walk.groups[self.turn];
            if self.walk.serves(g, self.case) && g.when.iter().zip(&self.counters).all(|(w, c)| w.is_none_or(|v| v == *c)) {
                break self.turn;
            }
            self.looks += 1;
            self.step();
        };
        if self.walk.groups[index].group != group || self.served[index] != n {
            return None;
        }
        let leaves = self.looks.max(self.job_leaves);
        self.service = Service::at(&self.walk.groups[index], index, &self.counters);
        self.served[index] += 1;
        self.looks = leaves + 1;
        self.arrives = leaves + 1;
        self.step();
        Some(index)
    }

    fn step(&mut self) {
        self.turn += 1;
        if self.turn < self.walk.groups.len() {
            return;
        }
        self.turn = 0;
        for j in (0..self.counters.len()).rev() {
            self.counters[j] += 1;
            if self.counters[j] <= self.walk.lasts[j].at_case(self.case) {
                if j < self.walk.phases {
                    self.case = self.walk.case(&self.counters);
                }
                return;
            }
            self.counters[j] = 0;
        }
        self.exhausted = true;
    }

    /// The offered service enters the walker, not before `allowed`; the cycle in which it does.
    pub fn go(&mut self, allowed: i64) -> i64 {
        let go = self.arrives.max(allowed).max(self.left[0]);
        self.job_leaves = go;
        self.arrives = go + 1;
        go
    }

    /// The next row of the service; after each, [`AddressModel::popped`] must be called.
    pub fn next_row(&mut self) -> Option<RowTimes> {
        if self.service.rows == 0 {
            return None;
        }
        let g = &self.walk.groups[self.service.index];
        let mut row = self.service.row(g, [self.bytes, self.word, self.window]);
        self.service.advance(g);
        // Walker and trim stages.
        let mut at = self.arrives;
        for k in 0..self.left.len() - 1 {
            at = at.max(self.left[k + 1]);
            self.left[k] = at;
            if k == 0 {
                self.arrives = at + 1;
            }
            at += 1;
        }
        // Row stage: needs a free descriptor, and the segment stage if anything is transferred.
        at = at.max(self.pops[self.row & (self.pops.len() - 1)] + 1);
        if row.beats > 0 {
            at = at.max(self.segment_left);
            row.segment = at + 1;
            self.segment_left = at + row.bursts(self.window);
        }
        row.leaves = at;
        if let Some(last) = self.left.last_mut() {
            *last = at;
        }
        Some(row)
    }

    /// The descriptor of the latest row was taken in cycle `at`.
    pub fn popped(&mut self, at: i64) {
        let place = self.row & (self.pops.len() - 1);
        self.pops[place] = at;
        self.row += 1;
    }

    /// The latest row's last burst left the segment stage in cycle `at`, later than it could.
    pub fn held_back(&mut self, at: i64) {
        self.segment_left = at;
    }
}

impl RowTimes {
    /// `window`: logarithm of a full burst's beats.
    fn bursts(&self, window: u32) -> i64 {
        1 + ((self.beats - self.first_burst + (1 << window) - 1) >> window)
    }
}

impl Service {
    fn at(g: &WalkGroup, index: usize, counters: &[i64]) -> Service {
        let values = |forms: &[crate::contract::walk::RowForm]| forms.iter().map(|f| f.start.eval(counters)).collect();
        let lengths = g.lengths();
        Service {
            index,
            rows: lengths.iter().product(),
            y: vec![0; lengths.len()],
            lengths,
            address: g.address.start.eval(counters),
            gates: values(&g.gates),
            lowers: values(&g.lowers),
            uppers: values(&g.uppers),
        }
    }

    fn advance(&mut self, g: &WalkGroup) {
        self.rows -= 1;
        for d in (0..self.y.len()).rev() {
            self.y[d] += 1;
            let wraps = self.y[d] == self.lengths[d];
            let by = if wraps { 1 - self.lengths[d] } else { 1 };
            self.address = self.address.wrapping_add(g.address.rows[d].wrapping_mul(by));
            for (values, forms) in
                [(&mut self.gates, &g.gates), (&mut self.lowers, &g.lowers), (&mut self.uppers, &g.uppers)]
            {
                values.iter_mut().zip(forms).for_each(|(v, f)| *v += f.rows[d] * by);
            }
            if !wraps {
                return;
            }
            self.y[d] = 0;
        }
    }

    /// `logs`: of the bytes per element, elements per word, beats per full burst.
    fn row(&self, g: &WalkGroup, logs: [u32; 3]) -> RowTimes {
        let [bytes, word, window] = logs;
        let low = |value: i64, bits: u32| value & ((1 << bits) - 1);
        let position = self.address >> bytes;
        let shift = low(position, word);
        let mut row = RowTimes { leaves: 0, segment: 0, shifted: shift > 0, first_beat: 0, beats: 0, first_burst: 0 };
        let from = self.lowers.iter().fold(0, |a, b| a.max(*b));
        let to = self.uppers.iter().fold(g.elements, |a, b| a.min(*b));
        if from < to && self.gates.iter().all(|v| *v >= 0) {
            row.first_beat = (shift + from) >> word;
            row.beats = ((shift + to - 1) >> word) + 1 - row.first_beat;
            let beat = low(position.wrapping_add(from) >> word, window);
            row.first_burst = row.beats.min((1 << window) - beat);
        }
        row
    }
}
