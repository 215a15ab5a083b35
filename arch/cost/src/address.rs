//! Timing of the address side of a DMA engine (`templates::axi::address`), for an address channel that is always ready.
//! Reader and writer have the same one.
//!
//! Terms: a *service* is one load or drain of an I/O group. It consists of *rows* of elements that are contiguous in
//! memory, and a row of *bursts* of bus words (*beats*).
//!
//! Method: the stages are generator (finds the next service), walker (steps through its rows), trim stages (cut a row
//! to its valid part), row stage, segment stage (bursts). Each stage holds one item and passes it on in the cycle in
//! which the next stage is or becomes free. So item `i` leaves a stage at the maximum of its arrival and the cycle in
//! which item `i - 1` leaves the next stage.

use crate::buffer::Buffer;
use crate::places::Places;
use crate::repeat::{Iteration, Tape};
use crate::steady::{Steady, Time};
use array::contract::walk::{RowForm, Walk, WalkGroup};
use uniform::sizes::Formula;

/// When a row passes, and what it transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTimes {
    /// The row leaves the row stage; its descriptor can be taken one cycle later.
    pub leaves: Time,
    /// First cycle in the segment stage: burst `j` is on the channel in `segment + 1 + j`, unless it has to wait.
    pub segment: Time,
    /// Element 0 is not at the start of a bus word: the row has one more beat, transferred or not.
    pub shifted: bool,
    /// Beats before the first one that is transferred.
    pub first_beat: i64,
    /// Beats that are transferred.
    pub beats: i64,
    /// Those of them in the first burst.
    pub first_burst: i64,
}

/// The address side after the services so far.
#[derive(Clone, Debug)]
pub struct AddressModel {
    walk: Walk,
    counters: Vec<i64>,
    /// Phase class of the present point.
    case: usize,
    turn: usize,
    exhausted: bool,
    served: Vec<i64>,
    /// Per group and counter: the value at which it is served, `None` for any.
    wanted: Vec<Vec<Option<i64>>>,
    /// Per counter: its last value in the present case.
    lasts: Vec<i64>,
    places: Places,
    /// Cycle in which the generator checks the present point.
    looks: i64,
    /// Cycle in which the service in the job stage enters the walker, which frees the stage.
    job_leaves: i64,
    /// Cycle in which the present service is in the job stage, then: in which its next row is in the walker.
    arrives: Time,
    /// Cycle in which the latest row left the walker, each trim stage, and the row stage.
    left: Vec<Time>,
    segment_left: Time,
    /// Descriptors between address and data side.
    descriptors: Buffer,
    service: Service,
    /// Logarithms (base 2) of the bytes per element, elements per word, and beats per full burst.
    bytes: u32,
    word: u32,
    window: u32,
}

/// The rest of the present service.
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

fn low(value: i64, bits: u32) -> i64 {
    value & ((1 << bits) - 1)
}

/// Instead of steps of the generator: the first point behind a phase.
const END_OF_PHASE: i64 = i64::MAX;

/// Before the first cycle of a run.
const NEVER: i64 = -1;

impl AddressModel {
    /// `ahead`: rows between address side and data side.
    pub fn new(walk: Walk, ahead: usize) -> AddressModel {
        let case = walk.case(&vec![0; walk.trips.len()]);
        let value =
            |value: &Option<Formula>| value.as_ref().map(|v| if let Formula::Const(v) = v { *v } else { NEVER });
        AddressModel {
            counters: vec![0; walk.trips.len()],
            wanted: walk.groups.iter().map(|g| g.when.at.iter().map(value).collect()).collect(),
            lasts: walk.lasts.iter().map(|last| last.at_case(case)).collect(),
            places: Places::new(&walk),
            case,
            turn: 0,
            exhausted: false,
            served: vec![0; walk.groups.len()],
            looks: 1,
            job_leaves: NEVER,
            arrives: Time::fixed(0),
            left: vec![Time::fixed(NEVER); walk.trim_stages + 2],
            segment_left: Time::fixed(NEVER),
            descriptors: Buffer::new(ahead as i64),
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

    /// A run begins with this walk in cycle `start`, behind the runs so far.
    pub fn begin(&mut self, walk: Walk, start: i64) {
        let next = AddressModel::new(walk, 0);
        let fixed = |time: &Time| Time::fixed(time.at);
        *self = AddressModel {
            looks: start + 1,
            job_leaves: self.job_leaves,
            left: self.left.iter().map(fixed).collect(),
            segment_left: fixed(&self.segment_left),
            descriptors: self.descriptors.clone(),
            ..next
        };
    }

    /// The last cycle in which something of the run is here, behind its last service.
    pub fn leaves(&mut self) -> i64 {
        let rows = self.left.iter().map(|left| left.at).max().unwrap_or(NEVER);
        (self.ends() - 1).max(rows).max(self.segment_left.at)
    }

    /// Beats of a full burst.
    pub fn window(&self) -> i64 {
        1 << self.window
    }
    /// The rest of the present service.
    pub fn rows(&self) -> i64 {
        self.service.rows
    }
    /// All times of the model, for [`Steady`].
    pub fn times(&mut self) -> impl Iterator<Item = &mut Time> {
        self.left.iter_mut().chain([&mut self.arrives, &mut self.segment_left])
    }

    /// Steps the generator to the next service, which must be number `n` of `group`. Returns the group's index in the
    /// walk.
    pub fn offer(&mut self, group: usize, n: i64) -> Option<usize> {
        let index = loop {
            if self.exhausted {
                return None;
            }
            let wanted = self.wanted[self.turn].iter().zip(&self.counters).all(|(w, c)| w.is_none_or(|v| v == *c));
            if wanted && self.walk.serves(&self.walk.groups[self.turn], self.case) {
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
        self.arrives.at = leaves + 1;
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
            if self.counters[j] <= self.lasts[j] {
                if j < self.walk.phases {
                    self.case = self.walk.case(&self.counters);
                    self.lasts = self.walk.lasts.iter().map(|last| last.at_case(self.case)).collect();
                }
                return;
            }
            self.counters[j] = 0;
        }
        self.exhausted = true;
    }

    /// Behind the last service: the first cycle in which the generator has nothing left to look at. A point at which no
    /// group is served takes a cycle for each group.
    pub fn ends(&mut self) -> i64 {
        let (phases, groups) = (self.walk.phases, self.walk.groups.len() as i64);
        while !self.exhausted {
            let inner = self.counters.iter().skip(phases);
            let whole = self.lasts.iter().skip(phases).fold(1, |all: i64, last| all.saturating_mul(last + 1));
            let passed = inner.zip(self.lasts.iter().skip(phases)).fold(0, |n: i64, (c, last)| n * (last + 1) + c);
            self.looks = self.looks.saturating_add((whole - passed).saturating_mul(groups) - self.turn as i64);
            self.go_to(&[], END_OF_PHASE);
        }
        self.looks
    }

    /// The kept counters of a tile.
    pub fn counters_of(&self, tile: &[i64]) -> Vec<i64> {
        self.walk.kept.iter().map(|&j| tile[j]).collect()
    }

    /// What tells apart the services of an iteration that begins at these kept counters: where the rows of the groups
    /// that are in it lie. `false`: the generator is in another phase.
    pub fn shapes(&self, at: &[i64], iteration: &Iteration, is_in: impl Fn(usize) -> bool, tape: &mut Tape) -> bool {
        if self.ahead_of(at).is_none_or(|steps| steps == END_OF_PHASE) {
            return false;
        }
        tape.note(self.case as i64);
        tape.note(self.descriptors.filled());
        for (index, group) in self.walk.groups.iter().enumerate().filter(|(_, g)| is_in(g.group)) {
            self.places.of_iteration(&self.walk, (index, group), iteration.level, at, tape);
        }
        true
    }

    /// Steps of the generator from the first service that may be at these kept counters to the next that it looks at.
    /// `None`: it is in an earlier phase.
    fn ahead_of(&self, at: &[i64]) -> Option<i64> {
        let (phases, groups) = (self.walk.phases, self.walk.groups.len() as i64);
        let behind = self.exhausted || self.counters[..phases] > at[..phases];
        if self.counters[..phases] < at[..phases] {
            return None;
        }
        let steps = || (self.number(&self.counters) - self.number(at)) * groups + self.turn as i64;
        Some(if behind { END_OF_PHASE } else { steps() })
    }

    /// The number of a point within its phase.
    fn number(&self, at: &[i64]) -> i64 {
        let counted = at.iter().zip(&self.lasts).skip(self.walk.phases);
        counted.fold(0, |number, (c, last)| number * (last + 1) + c)
    }

    /// Moves the generator so many steps from there on.
    fn go_to(&mut self, at: &[i64], steps: i64) {
        let (phases, groups) = (self.walk.phases, self.walk.groups.len() as i64);
        if steps == END_OF_PHASE {
            self.counters[phases..].copy_from_slice(&self.lasts[phases..]);
            self.turn = self.walk.groups.len() - 1;
            return self.step();
        }
        let step = self.number(at) * groups + steps;
        let mut point = step / groups;
        for (counter, last) in self.counters.iter_mut().zip(&self.lasts).skip(phases).rev() {
            *counter = point % (last + 1);
            point /= last + 1;
        }
        // Behind the last point of the phase.
        if point > 0 {
            return self.go_to(at, END_OF_PHASE);
        }
        self.turn = (step % groups) as usize;
    }

    /// No row leaves before this cycle.
    pub fn least_leaving(&self) -> i64 {
        let last = self.left.len() - 1;
        self.left[last].at.max(self.least_left(last)) + 1
    }

    /// Nothing waits for what left stage `k` until then.
    fn least_left(&self, k: usize) -> i64 {
        self.job_leaves + 1 + k as i64
    }

    /// The cycle in which the latest service entered the walker.
    pub fn went(&self) -> i64 {
        self.job_leaves
    }

    /// The state in front of a service, for an iteration that begins at these kept counters.
    pub fn state(&mut self, at: &[i64], tape: &mut Tape) -> bool {
        let mut steps = if tape.is_read() { Some(0) } else { self.ahead_of(at) };
        let Some(steps) = &mut steps else { return false };
        tape.number(steps);
        if tape.is_read() {
            self.go_to(at, *steps);
        }
        tape.time(&mut self.looks, i64::MIN);
        tape.time(&mut self.job_leaves, i64::MIN);
        for k in 0..self.left.len() {
            let least = self.least_left(k);
            tape.time(&mut self.left[k].at, least);
        }
        let least = self.least_leaving();
        tape.time(&mut self.segment_left.at, least);
        self.descriptors.state(tape, least);
        true
    }

    /// All that is counted.
    pub fn totals(&mut self, visit: &mut dyn FnMut(&mut i64)) {
        self.served.iter_mut().for_each(&mut *visit);
        visit(&mut self.descriptors.taken);
    }

    /// The offered service enters the walker, not before `allowed`. Returns the cycle.
    pub fn go(&mut self, allowed: i64) -> i64 {
        let go = self.arrives.at.max(allowed).max(self.left[0].at);
        self.job_leaves = go;
        self.arrives.at = go + 1;
        go
    }

    /// The next row of the service; after each, [`AddressModel::popped`] must be called.
    pub fn next_row(&mut self, steady: &mut Steady) -> RowTimes {
        let g = &self.walk.groups[self.service.index];
        let mut row = self.service.row(g, [self.bytes, self.word, self.window]);
        self.service.advance(g, 1);
        // Walker and trim stages.
        let mut at = self.arrives;
        for k in 0..self.left.len() - 1 {
            at = steady.latest(at, self.left[k + 1]);
            self.left[k] = at;
            if k == 0 {
                self.arrives = at.plus(1);
            }
            at = at.plus(1);
        }
        // Row stage: needs a free descriptor, and the segment stage if anything is transferred.
        let number = self.descriptors.taken;
        at = steady.latest(at, self.descriptors.room(number, 1).0);
        steady.at_most(self.descriptors.lasts(number, 1, 1));
        if row.beats > 0 {
            at = steady.latest(at, self.segment_left);
            row.segment = at.plus(1);
            self.segment_left = at.plus(row.bursts(self.window));
        }
        row.leaves = at;
        if let Some(last) = self.left.last_mut() {
            *last = at;
        }
        row
    }

    /// The descriptor of the latest row was taken in cycle `at`. Returns whether later ones can be taken at the same
    /// rate.
    pub fn popped(&mut self, at: Time) -> bool {
        self.descriptors.take(at, 1, 1);
        self.descriptors.goes_on(at.after(1), 1)
    }

    /// How many of the next rows equal the latest one.
    pub fn alike(&self, row: &RowTimes) -> i64 {
        self.service.alike(&self.walk.groups[self.service.index], row, [self.bytes, self.word, self.window])
    }

    /// Adds this many rows equal to the latest one, whose descriptor was taken in cycle `popped`.
    pub fn again(&mut self, rows: i64, popped: Time) {
        self.service.advance(&self.walk.groups[self.service.index], rows);
        self.descriptors.take(popped.after(1), 1, rows);
    }

    /// The last burst of the latest row left the segment stage in cycle `at`: it had to wait.
    pub fn held_back(&mut self, at: Time) {
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
        let values = |forms: &[RowForm]| forms.iter().map(|f| f.start.eval(counters)).collect();
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

    /// Advances by this many rows, at most to the end of the innermost dimension with several rows.
    fn advance(&mut self, g: &WalkGroup, rows: i64) {
        self.rows -= rows;
        let mut on = rows;
        for d in (0..self.y.len()).rev().filter(|&d| self.lengths[d] > 1) {
            self.y[d] += on;
            let wraps = self.y[d] == self.lengths[d];
            let by = if wraps { on - self.lengths[d] } else { on };
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
            on = 1;
        }
    }

    /// How many of the next rows along the innermost dimension equal this one.
    fn alike(&self, g: &WalkGroup, row: &RowTimes, logs: [u32; 3]) -> i64 {
        let Some(d) = self.lengths.iter().rposition(|n| *n > 1).filter(|_| self.rows > 0) else { return 0 };
        let next = self.row(g, logs);
        if next != (RowTimes { leaves: next.leaves, segment: next.segment, ..*row }) {
            return 0;
        }
        let more = self.lengths[d] - self.y[d] - 1;
        if g.lowers.iter().chain(&g.uppers).any(|f| f.rows[d] != 0) {
            return 1;
        }
        // Until a gate opens or closes.
        let until = |(v, f): (&i64, &RowForm)| match f.rows[d] {
            by if *v >= 0 && by < 0 => *v / -by,
            by if *v < 0 && by > 0 => (-1 - *v) / by,
            _ => i64::MAX,
        };
        let gates = self.gates.iter().zip(&g.gates).map(until).min().unwrap_or(i64::MAX);
        1 + more.min(gates).min(self.aligned(g.address.rows[d], row, logs))
    }

    /// For how many rows that begin `step` bytes apart the shift within a word and the first burst stay the same.
    fn aligned(&self, step: i64, row: &RowTimes, logs: [u32; 3]) -> i64 {
        let [bytes, word, window] = logs;
        if low(step, bytes + word) > 0 {
            return 0;
        }
        let (step, beat) = (
            low(step >> (bytes + word), window),
            low((self.address >> (bytes + word)).wrapping_add(row.first_beat), window),
        );
        // Rows begin at the same place in parts of the window as long as the greatest power of two that divides the
        // step.
        let part = step & -step;
        match step {
            0 => i64::MAX,
            _ if (beat & (part - 1)) + row.beats <= part => i64::MAX,
            _ => ((1 << window) - row.beats - beat).max(0) / step,
        }
    }

    /// `logs`: of the bytes per element, elements per word, beats per full burst.
    fn row(&self, g: &WalkGroup, logs: [u32; 3]) -> RowTimes {
        let [bytes, word, window] = logs;
        let position = self.address >> bytes;
        let shift = low(position, word);
        let mut row = RowTimes {
            leaves: Time::fixed(0),
            segment: Time::fixed(0),
            shifted: shift > 0,
            first_beat: 0,
            beats: 0,
            first_burst: 0,
        };
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
