//! What a DMA engine walks: the loads or drains of all I/O groups behind one AXI port, in service order.
//!
//! Problem: several groups share a port, each with its own tiles, footprint and bounds. The engine and its timing model
//! must agree on every word. So both are built from one table, a [`Walk`] (`templates::axi`; `cost::reader` and
//! `cost::writer`). How it follows from an array: [`crate::contract::table`].
//!
//! Terms: a *service* is one load or drain of a group. A *kept* counter is a tile counter that the engine counts; one
//! for which every group wants the same single value is dropped. A *step* is one point of the kept counters. An
//! *element* here is one of the smallest of the port, in bytes; positions and counts of larger ones are multiples.
//!
//! Method: steps in lexicographic order; in each step the groups by index; a group is served where its `when` holds.
//! One service walks the group's footprint row by row. Everything a row needs is a [`RowForm`]: affine in the kept
//! counters and in the row's local coordinates, so hardware keeps it in an odometer accumulator:
//! - the virtual address of local element 0 of the row (modulo 2^64, relative to its array's base; hardware keeps the
//!   bits of an address);
//! - gates (`>= 0` or the row is skipped), lower and upper (exclusive) ends of the elements transferred.
//!
//! Example: `A[4 * tile + y0][y1]` of 7 rows, in tiles of 4 rows of 16 elements:
//!
//! ```text
//! tile    rows transferred     gate 6 - 4 * tile - y0 >= 0
//! 0       0 1 2 3              6 5 4 3
//! 1       4 5 6 -              2 1 0 -1
//! ```
//!
//! Invariants: all arrays of a port have words of equally many bytes; footprints of fewer dimensions get outer ones of
//! extent 1. The order cannot deadlock, whatever arrays share the port: all services of a tile come before those of the
//! next, and a service waits only for waves and drains of its own or of earlier tiles (`array::verify` checks it).
//!
//! Source: AutoSA, section 4.3 (L3 modules).

use crate::vsa::{FootprintDim, Vsa, When};
use scop::Affine;
use uniform::affine::interval;
use uniform::counters::{Case, Loops, Span};
use uniform::sizes::Formula;

/// Row descriptors between the address side and the data side of a writer.
pub const ROWS_IN_FLIGHT: usize = 64;

/// Beats of a burst, at most.
pub const LONGEST_BURST: i64 = 256;

/// Bytes to which buffers for devices are aligned everywhere: a cache line of most CPUs.
const ALLOCATED: u32 = 64;

/// The deepest that a reader looks ahead.
pub const MOST_AHEAD: i64 = 1 << 14;

/// Beats that a reader asks for beyond those it has taken, and rows, to cover so many cycles of latency: a power of
/// two, as block RAMs are deep. A burst is asked for while there is room for the longest, and taken a few cycles after
/// it comes.
pub fn beats_ahead(latency: i64) -> i64 {
    (latency.max(0) as u64 + LONGEST_BURST as u64 + 8).next_power_of_two().clamp(512, MOST_AHEAD as u64) as i64
}

/// Drains whose write responses may be outstanding: one each few cycles at the latency of a far memory. The places are
/// LUTRAM, so small ones cost next to the same (16 of them 21 LUT and 8 FF less in a writer of 2,600 LUT).
pub const DRAINS_IN_FLIGHT: usize = 64;

/// Words requested from the collectors but not yet taken by the write channel, at most: a power of two that covers the
/// round trip, `read_latency` cycles of which pass between `dr_valid` and `rd_valid`.
pub fn words_in_flight(walk: &Walk, read_latency: i64) -> usize {
    (read_latency.max(0) as usize + walk.rotate_stages() + 16).next_power_of_two()
}

/// `a + factor * b`, modulo 2^64.
fn combine(a: &Affine, factor: i64, b: &Affine) -> Affine {
    let sum = |x: i64, y: i64| x.wrapping_add(factor.wrapping_mul(y));
    Affine {
        coeffs: a.coeffs.iter().zip(&b.coeffs).map(|(&x, &y)| sum(x, y)).collect(),
        constant: sum(a.constant, b.constant),
    }
}

/// Ends beyond 64 bits are the nearest number within.
fn range(constant: i64, steps: &[i64], values: impl Iterator<Item = (i64, i64)>) -> (i64, i64) {
    let (low, high) = interval(constant, steps.iter().zip(values).map(|(&a, (low, high))| (a, low, high)));
    let near = |v: i128| v.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    (near(low), near(high))
}

/// An affine form whose value at local row coordinates `y` is `start(counters) + Σ rows[d] * y_d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowForm {
    pub start: Affine,
    /// One coefficient per dimension except the last.
    pub rows: Vec<i64>,
}

impl RowForm {
    /// Least and greatest value over rows of these lengths, where the counters have these least and greatest values.
    pub fn range(&self, counters: &[(i64, i64)], lengths: &[i64]) -> (i64, i64) {
        let (a, b) = range(self.start.constant, &self.start.coeffs, counters.iter().copied());
        let (c, d) = range(0, &self.rows, lengths.iter().map(|length| (0, length - 1)));
        (a.saturating_add(c), b.saturating_add(d))
    }
    pub(super) fn constant(v: i64, counters: usize, rows: usize) -> RowForm {
        RowForm { start: Affine::constant(counters, v), rows: vec![0; rows] }
    }
    /// `self + factor * other`, modulo 2^64.
    pub(super) fn combine(&self, factor: i64, other: &RowForm) -> RowForm {
        let rows = self.rows.iter().zip(&other.rows).map(|(a, b)| a.wrapping_add(factor.wrapping_mul(*b))).collect();
        RowForm { start: combine(&self.start, factor, &other.start), rows }
    }
    pub(super) fn times(&self, factor: i64) -> RowForm {
        RowForm::constant(0, self.start.coeffs.len(), self.rows.len()).combine(factor, self)
    }
    pub(super) fn plus(&self, v: i64) -> RowForm {
        self.combine(1, &RowForm::constant(v, self.start.coeffs.len(), self.rows.len()))
    }
}

/// The services of one I/O group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkGroup {
    /// Index into [`crate::vsa::Vsa::inputs`] or [`crate::vsa::Vsa::outputs`].
    pub group: usize,
    /// Index into [`crate::vsa::Vsa::arrays`], in each of [`When::runs`].
    pub arrays: Vec<usize>,
    /// Its place among the groups that are served in the same runs.
    pub turn: usize,
    /// Values of the kept counters at which it is served.
    pub when: When,
    /// Per dimension of the walk except the last.
    pub rows: Vec<FootprintDim>,
    /// The last row of each of these that may be in the array.
    pub ends: Vec<Formula>,
    /// Words per row.
    pub words: i64,
    /// Elements per row from the first that is wanted to the last.
    pub elements: i64,
    /// One cell is `scale` elements. The array wants every `step`-th cell and has those side by side in its words.
    pub step: i64,
    pub scale: i64,
    /// Bytes of the array, at the greatest sizes; one number for each function of a merged array.
    pub extent: Formula,
    /// A divisor of the array's bytes at all sizes: these bytes themselves, without sizes.
    pub whole: i64,
    /// Byte offset of local element 0 of the row from the array's base; wraps modulo 2^64. Where extents follow sizes,
    /// what they multiply comes on top.
    pub address: RowForm,
    /// Steps in bytes that follow from the sizes, or from the function of a merged array, and how many of them.
    pub strided: Vec<(Formula, RowForm)>,
    /// The row transfers nothing unless all are `>= 0`.
    pub gates: Vec<RowForm>,
    /// First element transferred: the greatest of these and 0.
    pub lowers: Vec<RowForm>,
    /// End of the elements transferred: the least of these and `elements`.
    pub uppers: Vec<RowForm>,
    /// Buffers on the array's side; consecutive services alternate.
    pub slots: u32,
    /// Waits of each load; none for outputs.
    pub waits: Vec<Wait>,
}

/// Drains of an output group that a load waits for, see [`crate::vsa::InputGroup::after`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Index into [`crate::vsa::Vsa::outputs`].
    pub output: usize,
    pub until: WaitUntil,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitUntil {
    /// Load `n` waits for the first `n - lag`.
    Lag(i64),
    /// Waits for all of the phases before its own: `drains` of each, by its case, if the kept counters of phases have
    /// these values in it, else none; `most` at the greatest sizes.
    Phase { drains: Formula, most: i64, emit: Vec<Option<i64>> },
}

impl WaitUntil {
    /// Bits of the drains of a whole run.
    pub fn drain_bits(&self, walk: &Walk) -> u32 {
        let WaitUntil::Phase { most, .. } = self else { return 39 };
        let phases = walk.trips[walk.parameters..walk.phases].iter().map(|&t| i128::from(t)).product();
        (128 - i128::from(*most).saturating_mul(phases).leading_zeros()).min(39)
    }
}

impl WalkGroup {
    /// Every row of the footprint lies in the array, from its first element to its last.
    pub fn is_whole(&self) -> bool {
        self.gates.is_empty() && self.lowers.is_empty() && self.uppers.is_empty()
    }
    /// Rows of each dimension except the last; where sizes tell, the most.
    pub fn lengths(&self) -> Vec<i64> {
        let length = |(row, end): (&FootprintDim, &Formula)| {
            if let Formula::Const(last) = end {
                last + 1
            } else {
                row.modulus * row.extent
            }
        };
        self.rows.iter().zip(&self.ends).map(length).collect()
    }
    /// Rows per service.
    pub fn total_rows(&self) -> i64 {
        self.lengths().iter().product()
    }
    /// Where element `e` of a row stands in the array's words, side by side; `None` for what lies between two of them.
    pub fn source(&self, e: i64) -> Option<i64> {
        let (cell, part) = (e / self.scale, e % self.scale);
        (cell % self.step == 0).then(|| cell / self.step * self.scale + part)
    }
    /// Words of the array per row.
    pub fn array_words(&self) -> i64 {
        (self.words - 1) / self.step + 1
    }
}

/// All services of one AXI port in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Name of the port, see [`crate::vsa::Vsa::port_name`].
    pub name: String,
    /// The arrays served: index into [`crate::vsa::Vsa::arrays`] and name.
    pub arrays: Vec<(usize, String)>,
    /// Bits of the lengths in bytes that the host gives for these arrays; empty if it gives none.
    pub length_bits: Vec<u32>,
    /// Bits of an address.
    pub address_bits: u32,
    /// Bytes per element, a power of two.
    pub bytes: u32,
    /// Elements per bus word, a power of two.
    pub word: u32,
    /// Trip counts of the kept counters, outermost first; all at least 2. (At the greatest sizes.)
    pub trips: Vec<i64>,
    /// Which of the array's tile counters they are.
    pub kept: Vec<usize>,
    /// How many of them, the first ones, are parameters: constants of a run.
    pub parameters: usize,
    /// Their last values; of parameters, their values.
    pub lasts: Vec<Formula>,
    /// Per case of phases, the values of the kept counters of phases.
    pub cases: Vec<Case>,
    /// Of a merged array: per case, the function in whose runs it is.
    pub functions: Vec<usize>,
    /// The turn of the last group in each step.
    pub last_turn: Formula,
    /// Registers that find a row's ends: one per lower or upper form, at least one.
    pub trim_stages: usize,
    /// How many of them, from the outside, count phases.
    pub phases: usize,
    /// Every row begins a bus word, if every array does ([`alignment`]): bus words need no rotation.
    pub aligned: bool,
    pub groups: Vec<WalkGroup>,
}

/// A function of a merged array has phases between its cases.
pub fn has_pauses(loops: Loops<'_>, function: usize) -> bool {
    let phases = loops.parameters()..loops.phases();
    let number = |end: &Formula| end.parameter().map_or(end, |p| &loops.counters[p].last).in_function(function);
    let lasts: Vec<Formula> = loops.counters[phases.clone()].iter().map(|c| c.last.clone()).collect();
    let cases = loops.cases.iter().filter(|case| case[0].low == function as i64);
    !cover(cases.map(|case| &case[phases.clone()]), &lasts, number)
}

/// Whether disjoint boxes hold all values of counters that end so. `number`: what an end is.
fn cover<'a>(boxes: impl Iterator<Item = &'a [Span]>, lasts: &[Formula], number: impl Fn(&Formula) -> Formula) -> bool {
    let all = |counts: &mut dyn Iterator<Item = Formula>| counts.fold(Formula::Const(1), Formula::times);
    let whole = all(&mut lasts.iter().map(|last| number(last).plus(Formula::Const(1))));
    let count = |span: &Span| Span { end: number(&span.end), ..span.clone() }.count();
    let left = |left: Formula, spans: &[Span]| left.plus(Formula::Const(-1).times(all(&mut spans.iter().map(count))));
    boxes.fold(whole, left) == Formula::Const(0)
}

/// The address of an array is a multiple of this many bytes: of a bus word where an engine relies on that, else of an
/// element.
pub fn alignment(vsa: &Vsa, array: usize) -> u32 {
    let port = vsa.port_of(array as u32);
    let relies = |walk: &Walk| walk.aligned && walk.groups.iter().any(|g| g.arrays.contains(&array));
    let walks = [Walk::reads(vsa, port), Walk::writes(vsa, port)];
    if walks.iter().flatten().any(relies) {
        vsa.bus_bytes(port)
    } else {
        vsa.arrays[array].ty.bytes()
    }
}

impl Walk {
    /// Bytes per bus word.
    pub fn bus_bytes(&self) -> u32 {
        self.bytes * self.word
    }
    /// Bursts never cross multiples of this many beats: 4 KiB or 256 beats.
    pub fn burst_beats(&self) -> i64 {
        i64::from(4096 / self.bus_bytes()).min(LONGEST_BURST)
    }
    /// Rows may begin inside of a bus word.
    pub fn rotates(&self) -> bool {
        self.word > 1 && !self.aligned
    }
    /// Registers that rotate a bus word: two binary levels each.
    pub fn rotate_stages(&self) -> usize {
        if self.rotates() {
            (self.word.trailing_zeros() as usize).div_ceil(2)
        } else {
            0
        }
    }
    /// Every row begins at a multiple of a bus word from the base of its array, at all sizes, and some array is whole bus
    /// words: if such arrays stand one behind the other in a buffer, each begins a word. Arrays that are not, such as single
    /// numbers, have to begin one only where they share a port with these, which would need rotation for them. No buffer has
    /// to be aligned more than allocators align.
    pub(super) fn has_aligned_rows(&self) -> bool {
        let whole = |&bytes: &i64| bytes % i64::from(self.bus_bytes()) == 0;
        let form = |f: &RowForm| whole(&f.start.constant) && f.start.coeffs.iter().chain(&f.rows).all(whole);
        let strided = |(stride, f): &(Formula, RowForm)| {
            stride.table().is_some_and(|all| all.iter().all(|by| form(&f.times(*by))))
        };
        self.bus_bytes() <= ALLOCATED
            && self.groups.iter().any(|g| whole(&g.whole))
            && self.groups.iter().all(|g| g.strided.iter().all(strided) && form(&g.address))
    }
    /// Some row leaves out elements.
    pub fn has_steps(&self) -> bool {
        self.groups.iter().any(|g| g.step > 1)
    }
    /// How many functions a merged array has.
    pub fn merged(&self) -> Option<usize> {
        self.groups.iter().any(|g| !g.when.functions.is_empty()).then(|| self.trips[0] as usize)
    }
    /// The walk of a merged array in runs of one function.
    pub fn in_function(&self, function: usize) -> Walk {
        let left: Vec<usize> = (0..self.cases.len()).filter(|&k| self.functions[k] == function).collect();
        let last = |last: &Formula| match last {
            Formula::ByCase(all) => {
                let ends = left.iter().map(|&k| &all[k]).chain(all.last()).map(|end| end.in_function(function));
                Formula::ByCase(ends.collect())
            }
            last => last.in_function(function),
        };
        let group = |g: &WalkGroup| {
            let mut g = g.clone();
            let place = g.when.functions.iter().position(|f| *f == function);
            g.arrays = vec![g.arrays[place.unwrap_or(0)]];
            g.when.functions.clear();
            let cases = g.when.cases.as_ref();
            g.when.cases = cases.map(|all| all.iter().filter_map(|k| left.iter().position(|l| l == k)).collect());
            g.ends.iter_mut().for_each(|end| *end = end.in_function(function));
            g.extent = g.extent.in_function(function);
            g.strided.iter_mut().for_each(|(stride, _)| *stride = stride.in_function(function));
            for wait in &mut g.waits {
                if let WaitUntil::Phase { drains, .. } = &mut wait.until {
                    *drains = last(drains);
                }
            }
            g
        };
        Walk {
            lasts: self.lasts.iter().map(last).collect(),
            cases: left.iter().map(|&k| self.cases[k].clone()).collect(),
            functions: vec![],
            last_turn: self.last_turn.in_function(function),
            groups: self.groups.iter().filter(|g| g.when.is_in_function(function)).map(group).collect(),
            ..self.clone()
        }
    }
    /// Of a merged array: a function has phases between its cases.
    pub fn has_pauses(&self, function: usize) -> bool {
        let cases = self.cases.iter().zip(&self.functions).filter(|(_, f)| **f == function).map(|(case, _)| &case[..]);
        !cover(cases, &self.lasts[self.parameters..self.phases], |end| end.in_function(function))
    }
    /// Services of all groups in the whole run.
    pub fn services(&self) -> Formula {
        match self.merged() {
            Some(functions) => Formula::of_function((0..functions).map(|f| self.in_function(f).services()).collect()),
            None => self.groups.iter().map(|g| self.services_of(g)).fold(Formula::Const(0), Formula::plus),
        }
    }
    /// Services of a group in the whole run; not of a merged array.
    pub fn services_of(&self, g: &WalkGroup) -> Formula {
        let counted = |from: usize| {
            let counted = g.when.at.iter().zip(&self.lasts).skip(from).filter(|(w, _)| w.is_none());
            counted.fold(Formula::Const(1), |all, (_, last)| all.times(last.clone().plus(Formula::Const(1))))
        };
        if self.cases.is_empty() {
            return counted(self.parameters);
        }
        // Phases of each case, and of none, that it serves, and how often in one of them.
        let phases = |all: &[Span]| {
            let one = |(k, span): (usize, &Span)| {
                g.when.value(self.parameters + k).map_or_else(|| span.count(), |v| span.holds(v))
            };
            all.iter().enumerate().map(one).fold(Formula::Const(1), Formula::times)
        };
        let counted_phases = self.parameters..self.phases;
        let whole: Vec<Span> = self.trips[counted_phases.clone()]
            .iter()
            .zip(&self.lasts[counted_phases])
            .map(|(t, last)| Span { low: 0, high: t - 1, end: last.clone() })
            .collect();
        let by_case: Vec<Formula> = self.cases.iter().map(|all| phases(all)).collect();
        let between = by_case.iter().fold(phases(&whole), |left, n| left.plus(n.clone().times(Formula::Const(-1))));
        let inner = counted(self.phases);
        let happens = |case: usize| {
            let at = (self.phases..self.lasts.len())
                .filter(|&j| g.when.value(j).is_some_and(|v| v > 0))
                .map(|j| self.lasts[j].in_case(case).plus(self.wanted(g, j).times(Formula::Const(-1))).holds());
            at.fold(Formula::Const(1), Formula::times)
        };
        let all = by_case
            .into_iter()
            .chain([between])
            .enumerate()
            .filter(|(case, _)| self.serves(g, *case))
            .map(|(case, n)| n.times(happens(case)).times(inner.in_case(case)));
        all.fold(Formula::Const(0), Formula::plus)
    }
    /// The number of values that a counter of phases, the first of them 0, has in runs with a case.
    pub fn trip_in(&self, case: usize, phase: usize) -> i64 {
        self.trip_of(self.parameters + phase, self.functions.get(case).copied())
    }
    /// The group is served in phases of a case; that behind the last one stands for none.
    pub fn serves(&self, group: &WalkGroup, case: usize) -> bool {
        group.when.is_in_case(Some(case).filter(|&k| k < self.cases.len()))
    }
    /// The value that a kept counter has when a group is served: zero where it may have any.
    fn wanted(&self, group: &WalkGroup, counter: usize) -> Formula {
        let number = || Formula::Const(group.when.value(counter).unwrap_or(0));
        group.when.parameter(counter).map_or_else(number, |p| self.lasts[p].clone())
    }
    /// Words of the array that a run moves, or seems to where rows end early; without sizes.
    pub fn words(&self) -> i64 {
        self.groups.iter().map(|g| self.services_of(g).at_case(0) * g.total_rows() * g.words).sum()
    }
    /// Which case the phase with these counters is of, or the number behind the last one.
    pub fn case(&self, counters: &[i64]) -> usize {
        let is = |all: &Vec<Span>| {
            all.iter().zip(counters).all(|(span, c)| (span.low..=span.end.at_case(0).min(span.high)).contains(c))
        };
        self.cases.iter().position(is).unwrap_or(self.cases.len())
    }
    /// Bits of a signed number that holds the byte offset of local element 0 of every row that transfers something.
    pub fn offset_bits(&self) -> u32 {
        let bytes = |g: &WalkGroup| g.extent.range(&[]).1.max(i128::from(g.elements * i64::from(self.bytes)));
        let most = self.groups.iter().map(bytes).max().unwrap_or(1);
        65 - (most as u64).leading_zeros()
    }
    /// Boxes of the kept counters that hold all services of a group: one for each function and case in which it has some.
    fn boxes(&self, group: &WalkGroup) -> Vec<Vec<(i64, i64)>> {
        let runs = group.when.runs();
        let in_place = |(function, place): (Option<usize>, usize)| {
            let last = |j: usize| {
                let last = match &self.lasts[j] {
                    Formula::ByCase(all) => &all[place],
                    one => one,
                };
                match function.map_or_else(|| last.clone(), |f| last.in_function(f)) {
                    Formula::Const(last) => last,
                    _ => self.trips[j] - 1,
                }
            };
            let values = |j: usize| match self.cases.get(place).filter(|_| j >= self.parameters) {
                Some(phases) if j < self.phases => (phases[j - self.parameters].low, phases[j - self.parameters].high),
                _ => (0, last(j)),
            };
            (0..self.trips.len()).map(values).collect()
        };
        let places = (0..=self.cases.len()).filter(|&place| self.serves(group, place));
        let of_place = |place: usize| {
            let is_here =
                move |f: &Option<usize>| f.is_none() || self.functions.get(place).is_none_or(|g| Some(*g) == *f);
            runs.iter().copied().filter(is_here).map(move |f| (f, place))
        };
        places.flat_map(of_place).map(in_place).collect()
    }
    /// Leaves out what always holds where a group is served: gates and ends of rows.
    pub(super) fn leave_out(&mut self) {
        for k in 0..self.groups.len() {
            let boxes = self.boxes(&self.groups[k]);
            let g = &mut self.groups[k];
            if boxes.is_empty() {
                continue;
            }
            let (lengths, elements) = (g.lengths(), g.elements);
            let any = |f: &RowForm, is: &dyn Fn((i64, i64)) -> bool| boxes.iter().any(|b| is(f.range(b, &lengths)));
            g.gates.retain(|f| any(f, &|(low, _)| low < 0));
            g.lowers.retain(|f| any(f, &|(_, high)| high > 0));
            g.uppers.retain(|f| any(f, &|(low, _)| low < elements));
        }
        let ends = |g: &WalkGroup| g.lowers.len().max(g.uppers.len());
        self.trim_stages = self.groups.iter().map(ends).max().unwrap_or(0).max(1);
    }
    /// Trip count of a kept counter in runs of a function of a merged array; at the greatest sizes.
    fn trip_of(&self, counter: usize, function: Option<usize>) -> i64 {
        let trip = self.trips[counter];
        let Some(function) = function else { return trip };
        let of = |last: &Formula| match last.in_function(function) {
            Formula::Const(last) => last + 1,
            _ => trip,
        };
        let own = |case: usize| self.functions.get(case).is_none_or(|f| *f == function);
        match &self.lasts[counter] {
            Formula::ByCase(all) => {
                all.iter().enumerate().filter(|(k, _)| own(*k)).map(|(_, last)| of(last)).max().unwrap_or(trip)
            }
            one => of(one),
        }
    }
    /// Bits of a signed number that holds every end of a row's elements.
    pub fn end_bits(&self) -> u32 {
        let elements = self.groups.iter().map(|g| g.elements).max().unwrap_or(1);
        self.form_bits(elements, |g| g.lowers.iter().chain(&g.uppers).collect())
    }
    /// Bits of a signed number that holds every gate.
    pub fn gate_bits(&self) -> u32 {
        self.form_bits(1, |g| g.gates.iter().collect())
    }
    /// Bits of a signed number that holds every value of these forms, and a number.
    fn form_bits(&self, number: i64, forms: impl Fn(&WalkGroup) -> Vec<&RowForm>) -> u32 {
        let mut most = number;
        for g in &self.groups {
            let (forms, lengths) = (forms(g), g.lengths());
            for function in g.when.runs().into_iter().filter(|_| !forms.is_empty()) {
                let values: Vec<_> = (0..self.trips.len()).map(|j| (0, self.trip_of(j, function) - 1)).collect();
                for f in &forms {
                    let (lo, hi) = f.range(&values, &lengths);
                    most = most.max(hi).max(lo.saturating_neg());
                }
            }
        }
        66 - (most as u64).leading_zeros()
    }
}
