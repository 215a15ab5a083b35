//! The sequencer: an odometer over all counters that launches waves. It is the only controller of an array.
//!
//! ```text
//! loaded, drained ─► credits ─┐
//! initiation interval ────────┴─► fire ─► counters ─► accumulators ─►[reg]─► valid, fields (a wave is launched)
//!                                                └─► slot, release, emitted
//! ```
//! Ports: [`SequencerPorts`].
//!
//! Method: the registers hold the state of the *next* wave. It fires if a run is under way, the initiation interval has
//! passed and, for the first wave of a tile, its loads are there and its collector halves are free. Outputs are
//! registered, so a wave is launched in the cycle after it fires. A form over the counters is an accumulator: it adds
//! one constant per carry pattern.
//!
//! Counters that tell the case of the others run one step ahead ([`crate::phases`]), so what follows from the case is in a register.
//!
//! Invariant: after the last wave all counters and accumulators are back at their initial values.
//!
//! Timing: a wave is launched in the first cycle that the interval and
//! `array::contract::timing::{START,LOADED,DRAINED}_TO_LAUNCH` (2 cycles each) allow. Loads and drains are counted anew
//! after each `start`, from `rst` on if runs overlap; wave numbers (`Field::Pointer`) count from `rst`.

mod phases;
mod tiles;

use super::field::{field_port, form_range, range_ty, Field};
use crate::axi::elastic::at_start;
use crate::axi::program::{self, Program};
use crate::cases::{of_case, table};
use crate::phases::Phases;
use crate::port::Port;
use array::contract::handover::{emitted_delay, release_delay, swept};
use array::contract::overlap::{by_delay, hold, input_sets, output_sets, BufferSet};
use array::contract::program::{of_delay, of_delays, Register};
use array::contract::walk::has_pauses;
use array::forms;
use array::vsa::{Vsa, When};
use rtl::{clog2, u, Design, ModuleBuilder, Reg, Sig, Template, Ty};
use scop::Affine;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::{Condition, Form};
use uniform::counters::{Case, Counter, Loops};
use uniform::sizes::Formula;

#[derive(Clone, Debug, PartialEq)]
pub struct Sequencer {
    /// Name of the array.
    pub array: String,
    pub counters: Vec<Counter>,
    /// Phases, or strips, in which counters end alike.
    pub cases: Vec<Case>,
    /// Counters that tell the case, and of tiles, the first ones.
    pub cased: usize,
    pub tile_depth: usize,
    /// By input group.
    pub loads: Vec<Load>,
    pub drains: Vec<Drain>,
    /// The groups that count their buffers together.
    pub inputs: Vec<Counted>,
    pub outputs: Vec<Counted>,
    /// Delays that change from case to case, or with the sizes.
    pub delays: Vec<Formula>,
    /// What the host computes of these delays.
    pub waits: Vec<Register>,
    /// It tells when the last wave is launched.
    pub tells_last: bool,
    /// The array is merged, of so many functions; else 0. The number of the run's function is the first parameter.
    pub functions: usize,
    /// Sizes are known at run time: it tells when all loads are taken and all drains are over.
    pub sized: bool,
    /// Least cycles from wave to wave.
    pub interval: i64,
    /// If runs overlap.
    pub overlap: Option<Overlap>,
    /// What is to be output besides `valid`, without [`Field::Valid`].
    pub fields: Vec<Field>,
}

/// Groups that count their buffers together.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    pub set: BufferSet,
    /// The groups, those together whose pulse behind their last wave takes equally many cycles to the engines.
    pub pulses: Vec<Vec<usize>>,
}

/// What runs that overlap have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// By function, or the one number: cycles for which the next run waits behind the last wave.
    pub holds: Vec<i64>,
}

impl Overlap {
    fn new(vsa: &Vsa) -> Self {
        Overlap { holds: (0..vsa.functions.len().max(1)).map(|f| hold(vsa, f)).collect() }
    }
}

/// An input group.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Tiles that load.
    pub loads: When,
    /// Tiles that use a load.
    pub used: When,
}

/// An output group.
#[derive(Clone, Debug, PartialEq)]
pub struct Drain {
    /// Tiles that emit.
    pub emit: When,
    /// Buffer halves.
    pub slots: u32,
}

/// The interface of a [`Sequencer`]. What is said of a wave belongs to the one that is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct SequencerPorts {
    /// Synchronous, high.
    pub rst: Port,
    /// Pulse, not while waves are left.
    pub start: Port,
    /// The parameters' values, in the cycle of `start`; the number of the function of a merged array, in the cycle before.
    pub parameters: Vec<Port>,
    /// Those of [`Sequencer::waits`], then.
    pub waits: Vec<Port>,
    /// A wave is launched.
    pub valid: Port,
    /// Pulse: the run's last wave is launched.
    pub last: Option<Port>,
    /// All loads are taken by tiles, all drains are over.
    pub settled: Option<Port>,
    /// Level: no waves of a run are left. Only if runs overlap.
    pub free: Option<Port>,
    /// The wave's fields.
    pub fields: Vec<Port>,
    /// By set of input groups.
    pub loads: Vec<LoadPorts>,
    /// By set of output groups.
    pub drains: Vec<DrainPorts>,
}

/// Pulses count from the cycle after `start` on.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPorts {
    /// Pulse: one more load is there; at most two that no tile has taken yet.
    pub loaded: Port,
    /// Number of the load the wave reads, modulo 2.
    pub slot: Port,
    /// By [`Counted::pulses`]. Pulse: the last wave that uses its load.
    pub release: Vec<Port>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DrainPorts {
    /// Pulse: a drain is over; one for each `emitted`.
    pub drained: Port,
    /// Number of the drain the wave fills, modulo 2, where there are two buffers.
    pub slot: Option<Port>,
    /// By [`Counted::pulses`]. Pulse: the last wave of an emitting tile.
    pub emitted: Vec<Port>,
}

impl Sequencer {
    /// The interface.
    pub fn ports(&self) -> SequencerPorts {
        let pulses = |name: &str, of: &Counted| {
            of.pulses.iter().map(|groups| Port::bit(format!("{name}{}", groups[0]))).collect::<Vec<_>>()
        };
        let load = |of: &Counted| {
            let g = of.set.groups[0];
            LoadPorts {
                loaded: Port::bit(format!("loaded{g}")),
                slot: Port::bit(format!("slot{g}")),
                release: pulses("release", of),
            }
        };
        let drain = |of: &Counted| {
            let (o, double) = (of.set.groups[0], of.set.groups.iter().any(|o| self.drains[*o].slots > 1));
            DrainPorts {
                drained: Port::bit(format!("drained{o}")),
                slot: double.then(|| Port::bit(format!("out_slot{o}"))),
                emitted: pulses("emitted", of),
            }
        };
        SequencerPorts {
            rst: Port::bit("rst"),
            start: Port::bit("start"),
            parameters: self.counters[..self.loops().parameters()]
                .iter()
                .enumerate()
                .map(|(k, c)| Port::new(format!("parameter{k}"), u(clog2(c.trip as u64))))
                .collect(),
            waits: program::ports(&self.waits),
            valid: Port::bit("valid"),
            last: self.tells_last.then(|| Port::bit("last")),
            settled: self.sized.then(|| Port::bit("settled")),
            free: self.overlap.is_some().then(|| Port::bit("free")),
            fields: self.fields.iter().enumerate().map(|(k, f)| field_port(k, f, &self.counters)).collect(),
            loads: self.inputs.iter().map(load).collect(),
            drains: self.outputs.iter().map(drain).collect(),
        }
    }

    fn loops(&self) -> Loops<'_> {
        Loops { counters: &self.counters, cases: &self.cases }
    }

    pub fn new(vsa: &Vsa, fields: Vec<Field>, overlaps: bool) -> Self {
        let counted = |sets: Vec<BufferSet>, delay: &dyn Fn(usize) -> i64| {
            sets.into_iter().map(|set| Counted { pulses: by_delay(&set.groups, delay), set }).collect()
        };
        Sequencer {
            array: vsa.name.clone(),
            counters: vsa.counters.clone(),
            cased: vsa.cased(),
            tile_depth: vsa.tile_depth,
            cases: vsa.cases.clone(),
            loads: vsa.inputs.iter().map(|g| Load { loads: g.loads_when(vsa), used: g.used.clone() }).collect(),
            drains: vsa.outputs.iter().map(|g| Drain { emit: g.emit.clone(), slots: g.slots }).collect(),
            inputs: counted(input_sets(vsa, overlaps), &|g| release_delay(vsa, g)),
            outputs: counted(output_sets(vsa, overlaps), &|o| emitted_delay(vsa, o)),
            delays: vsa.varying_delays().into_iter().cloned().collect(),
            waits: of_delays(vsa),
            tells_last: swept(vsa).is_some(),
            functions: vsa.functions.len(),
            sized: !vsa.sizes.list.is_empty(),
            interval: vsa.schedule.interval.max(1),
            overlap: overlaps.then(|| Overlap::new(vsa)),
            fields,
        }
    }
}

/// One counter with more than one value.
struct Digit<'m> {
    counter: usize,
    trip: i64,
    value: Reg<'m>,
    zero: Reg<'m>,
    last: Reg<'m>,
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    of: &'a Sequencer,
    rst: Sig<'m>,
    start: Sig<'m>,
    fire: Sig<'m>,
    /// The parameters' values, in the cycle of `start`.
    parameters: Vec<Sig<'m>>,
    /// Of a merged array: the number of the function that starts, in the cycle before.
    before: Option<Sig<'m>>,
    /// Per function of a merged array: it starts, in the cycle of `start`; it runs, from the next one on.
    starts: Vec<Sig<'m>>,
    runs: Vec<Sig<'m>>,
    /// The number of the one that runs.
    function: Option<Sig<'m>>,
    /// Sets of functions, a number for each, and whether the one that runs is in it.
    asked: RefCell<Vec<(Vec<i64>, Sig<'m>)>>,
    waits: Program<'m>,
    /// Outermost first.
    digits: Vec<Digit<'m>>,
    /// Parameters with which digits end by phase, from the cycle behind the `start` pulse on.
    ends: BTreeMap<usize, Sig<'m>>,
    /// If counters end by case.
    phases: Option<Phases<'m>>,
    accumulators: Vec<(Key, Sig<'m>)>,
    permits: Vec<Permits<'m>>,
}

/// A counter of permits.
struct Permits<'m> {
    name: String,
    /// At the start of a run.
    initial: Sig<'m>,
    most: u32,
    count: Sig<'m>,
}

/// A form over the counters, taken apart.
#[derive(PartialEq)]
struct Key {
    /// At the first wave, over the parameters.
    start: Affine,
    /// By digit.
    steps: Vec<i64>,
}

/// Numbers over the parameters: one for all phases, or one for each case and one for the phases between cases.
#[derive(Clone, PartialEq)]
enum Step {
    One(Affine),
    ByCase(Vec<Affine>),
}

impl Step {
    fn all(&self) -> &[Affine] {
        match self {
            Step::One(one) => std::slice::from_ref(one),
            Step::ByCase(all) => all,
        }
    }
    /// `value` less this one.
    fn negative(&self, value: i64) -> Step {
        let negative =
            |a: &Affine| Affine { coeffs: a.coeffs.iter().map(|c| -c).collect(), constant: value - a.constant };
        match self {
            Step::One(one) => Step::One(negative(one)),
            Step::ByCase(all) => Step::ByCase(all.iter().map(negative).collect()),
        }
    }
    /// Adds so many times the last value of a counter.
    fn add(&mut self, coefficient: i64, last: &Formula) {
        let add = |sum: &mut Affine, end: &Formula| match end.parameter() {
            Some(parameter) => sum.coeffs[parameter] += coefficient,
            None => sum.constant += coefficient * end.most(),
        };
        if let (Step::One(one), Formula::ByCase(ends)) = (&*self, last) {
            *self = Step::ByCase(vec![one.clone(); ends.len()]);
        }
        match self {
            Step::One(one) => add(one, last),
            Step::ByCase(all) => all.iter_mut().enumerate().for_each(|(k, sum)| add(sum, last.case_of(k))),
        }
    }
}

impl Template for Sequencer {
    fn name(&self) -> String {
        "sequencer".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let trips: Vec<String> = self.counters.iter().map(|c| format!("{}={}", c.name, c.trip)).collect();
        m.doc(format!("Launches the waves of `{}`, outermost counter first: {}.", self.array, trips.join(" ")));
        let ports = self.ports();
        let (rst, start) = (ports.rst.input(m), ports.start.input(m));
        let fire = m.wire("fire", u(1));
        let mut parameters: Vec<Sig> = ports.parameters.iter().map(|port| port.input(m)).collect();
        let before = (self.functions > 0).then(|| parameters[0]);
        if let Some(before) = before {
            parameters[0] = at_start(m, "function", before);
        }
        let waits = Program::of(m, &self.waits, &ports.waits, start);
        let mut b = Build {
            m,
            of: self,
            rst,
            start,
            fire: fire.sig(),
            parameters,
            before,
            starts: vec![],
            runs: vec![],
            function: None,
            asked: RefCell::default(),
            waits,
            digits: vec![],
            ends: BTreeMap::new(),
            phases: None,
            accumulators: vec![],
            permits: vec![],
        };
        b.functions();
        b.odometer();
        // What outlives a run if they overlap is cleared by the reset alone.
        let clear = if self.overlap.is_some() { rst } else { m.any(&[rst, start]).named("clear") };
        let ready = b.tile_ready(&ports, clear);
        let running = m.reg("running", u(1)).rst(rst, 0);
        m.assert(rst, "no run starts within another", !start | !running.q());
        for Permits { name, most, count, .. } in &b.permits {
            m.assert(clear | !running.q(), format!("{name} counts to {most} at most"), count.le(m.lit(*most, u(2))));
        }
        let done = (fire.sig() & b.all_last(0)).called("ends");
        running.next(m.select(&[(start, m.lit(1, u(1))), (done, m.lit(0, u(1)))], running.q()));
        fire.drive(m.all(&[running.q(), ready, b.interval_over(clear)]));
        if let Some(port) = &ports.settled {
            let all = b.permits.iter().map(|p| p.count.eq(p.initial)).chain([m.lit(1, u(1))]).collect::<Vec<_>>();
            port.output(m, m.all(&all));
        }
        if let Some(port) = &ports.last {
            port.output(m, m.reg("last_q", u(1)).rst(rst, 0).next(done).q());
        }
        if let (Some(port), Some(overlap)) = (&ports.free, &self.overlap) {
            port.output(m, !running.q() & b.released(overlap, done));
        }
        b.outputs(&ports);
        b.phases.iter().for_each(Phases::finish);
    }
}

impl<'m> Build<'_, 'm> {
    fn hold(&self, name: &str, initial: bool, next: Sig<'m>, enable: Sig<'m>) -> Reg<'m> {
        self.m.reg(name, u(1)).rst(self.rst, initial as u8).en(enable).next(next)
    }

    /// Which function starts, and runs.
    fn functions(&mut self) {
        self.function = (self.of.functions > 0).then(|| self.kept("function".into(), self.parameters[0]));
        for f in 0..self.of.functions {
            let starts = self.parameters[0].eq_lit(f);
            self.starts.push(starts);
            self.runs.push(self.kept(format!("runs_{f}"), starts));
        }
    }

    /// The last wave of the run before, which was launched with `done`, has read the constants of its run.
    fn released(&self, overlap: &Overlap, done: Sig<'m>) -> Sig<'m> {
        let (m, most) = (self.m, overlap.holds.iter().max().copied().unwrap_or(0));
        if most == 0 {
            return m.lit(1, u(1));
        }
        let ty = u(clog2(most as u64 + 1));
        let cycles = match self.function {
            Some(function) => table(m, function, &overlap.holds, ty),
            None => m.lit(most, ty),
        };
        let left = m.reg("holds", ty).rst(self.rst, 0);
        let some = left.q().reduce_or();
        left.next(m.mux(done, cycles, left.q().sub_lit(1))).en(done | some);
        !some
    }

    /// A constant that the function of the run tells, in the cycle of `start`.
    fn by_function(&self, values: &[i64], ty: Ty) -> Sig<'m> {
        table(self.m, self.parameters[0], values, ty)
    }

    /// What a number over the parameters is in a function of a merged array, if it is a constant there.
    fn in_function(&self, value: &Affine, f: usize) -> Option<i64> {
        let used = value.coeffs.iter().zip(&self.of.counters).filter(|(c, _)| **c != 0);
        let term = |(c, counter): (&i64, &Counter)| match counter.last.in_function(f) {
            Formula::Const(last) => Some(c * last),
            _ => None,
        };
        used.map(term).try_fold(value.constant, |sum, term| Some(sum + term?))
    }

    /// The same in each function.
    fn in_functions(&self, value: &Affine) -> Option<Vec<i64>> {
        let functions = self.of.functions;
        (functions > 0).then(|| (0..functions).map(|f| self.in_function(value, f)).collect()).flatten()
    }

    /// What numbers over the parameters, for each case and between them, are where the function of a case tells them.
    /// Between cases it has to be one number.
    fn in_cases(&self, all: &[Affine]) -> Option<Vec<i64>> {
        let (cases, between) = (&self.of.cases, all.last()?);
        if all.iter().all(Affine::is_constant) {
            return Some(all.iter().map(|step| step.constant).collect());
        }
        let in_case = |(step, case): (&Affine, &Case)| self.in_function(step, case[0].low as usize);
        let mut values: Vec<i64> =
            (self.of.functions > 0).then(|| all.iter().zip(cases).map(in_case).collect()).flatten()?;
        let paused = (0..self.of.functions).filter(|f| has_pauses(self.of.loops(), *f));
        let paused: Vec<i64> = paused.map(|f| self.in_function(between, f)).collect::<Option<_>>()?;
        let any = values[0];
        let one = paused.iter().all(|v| *v == paused[0]);
        values.push(paused.first().copied().unwrap_or(any));
        one.then_some(values)
    }

    fn odometer(&mut self) {
        let m = self.m;
        let used = |(k, c): (usize, &Counter)| (c.trip > 1).then_some((k, c.trip));
        let counters: Vec<(usize, i64)> =
            self.of.counters.iter().enumerate().skip(self.parameters.len()).filter_map(used).collect();
        let mut advance = self.fire;
        let mut advances = vec![];
        let cased = |k: usize| self.of.loops().has_cases() && k < self.of.cased;
        let (outer, inner): (Vec<_>, Vec<_>) = counters.into_iter().partition(|(k, _)| cased(*k));
        for (k, trip) in inner.into_iter().rev() {
            let (last, ty) = (self.last_bit(k), u(clog2(trip as u64)));
            let value = m.reg(format!("c{k}"), ty).rst(self.rst, 0).en(advance);
            value.next(m.mux(last.q(), m.lit(0, ty), value.q().add_lit(1)));
            advances.insert(0, advance);
            match &self.of.counters[k].last {
                Formula::ByCase(_) => {}
                Formula::Parameter { place, .. } => {
                    let end = self.parameters[*place as usize];
                    let at_once = !end.reduce_or();
                    let single = self.kept(format!("c{k}_single"), at_once);
                    let before = self.kept(format!("c{k}_before"), end.sub_lit(1));
                    let next = m.select(&[(self.start, at_once), (last.q(), single)], value.q().eq(before));
                    _ = last.en(self.start | advance).next(next);
                }
                _ => _ = last.en(advance).next(!last.q() & value.q().eq_lit(trip - 2)),
            }
            let zero = self.hold(&format!("c{k}_zero"), true, last.q(), advance);
            advance = (advance & last.q()).called(format!("c{k}_wraps"));
            self.digits.insert(0, Digit { counter: k, trip, value, zero, last });
        }
        if self.of.loops().has_cases() {
            self.phases(outer, advance);
            self.ends_by_phase(&advances);
        }
        // A function of a merged array may emit at the end of a loop that its sizes tell.
        let emits = self.of.drains.iter().flat_map(|d| (0..d.emit.at.len()).filter_map(|j| d.emit.parameter(j)));
        for p in emits.filter(|_| self.of.functions > 0).collect::<BTreeSet<usize>>() {
            let end = self.kept(format!("end{p}"), self.parameters[p]);
            self.ends.entry(p).or_insert(end);
        }
    }

    /// Whether a counter is at its last value; the register's next value is set by the caller.
    fn last_bit(&self, k: usize) -> Reg<'m> {
        let initial = self.of.loops().last(k, self.first_case()) == 0;
        self.m.reg(format!("c{k}_last"), u(1)).rst(self.rst, u64::from(initial))
    }

    /// What a value is in the cycle of `start`, from the next one on.
    fn kept(&self, name: String, value: Sig<'m>) -> Sig<'m> {
        self.m.reg(name, value.ty()).next(value).en(self.start).q()
    }

    /// Conjunction over the digits of the counters `from..to`.
    fn conjunction(&self, from: usize, to: usize, f: impl Fn(&Digit<'m>) -> Sig<'m>) -> Sig<'m> {
        let bits: Vec<Sig<'m>> = self.digits.iter().filter(|d| (from..to).contains(&d.counter)).map(f).collect();
        if bits.is_empty() {
            self.m.lit(1, u(1))
        } else {
            self.m.all(&bits)
        }
    }

    fn all_last(&self, from: usize) -> Sig<'m> {
        self.conjunction(from, usize::MAX, |d| d.last.q())
    }

    /// 1 when `interval` cycles have passed since the last launch.
    fn interval_over(&self, clear: Sig<'m>) -> Sig<'m> {
        let (m, interval) = (self.m, self.of.interval);
        if interval == 1 {
            return m.lit(1, u(1));
        }
        let ty = u(clog2(interval as u64));
        let gap = m.reg("gap", ty).rst(clear, 0);
        let over = !gap.q().reduce_or();
        gap.next(m.select(&[(self.fire, m.lit(interval - 1, ty)), (over, gap.q())], gap.q().sub_lit(1)));
        over
    }

    /// The value of a form for the next wave.
    fn form(&mut self, form: &Form) -> Sig<'m> {
        let m = self.m;
        let coefficient = |k: usize| form.counters.get(k).copied().unwrap_or(0);
        let key = Key {
            start: Affine { constant: form.constant, coeffs: (0..self.parameters.len()).map(coefficient).collect() },
            steps: self.digits.iter().map(|d| coefficient(d.counter)).collect(),
        };
        if let Some((_, value)) = self.accumulators.iter().find(|(k, _)| *k == key) {
            return *value;
        }
        if let Some(digits) = forms::digits(&self.of.counters, form) {
            return self.joined(&digits);
        }
        let [low, high] = form_range(&self.of.counters, form);
        let ty = range_ty(low, high);
        let still = key.steps.iter().all(|c| *c == 0);
        let value = match key.start.is_constant() {
            true if still => m.lit(form.constant, ty),
            false if still => self.kept(format!("a{}", self.accumulators.len()), self.run(&key.start, ty)),
            _ => self.accumulate(&key, ty),
        };
        self.accumulators.push((key, value));
        value
    }

    /// Counters side by side, see [`forms::digits`].
    fn joined(&self, digits: &[(usize, i64)]) -> Sig<'m> {
        let m = self.m;
        let (mut parts, mut end) = (vec![], 0);
        for (counter, factor) in digits {
            let Some(digit) = self.digits.iter().find(|d| d.counter == *counter) else { continue };
            let (at, value) = (factor.trailing_zeros(), digit.value.q());
            if at > end {
                parts.insert(0, m.lit(0, u(at - end)));
            }
            end = at + value.w();
            parts.insert(0, value);
        }
        m.concat(&parts)
    }

    /// Counters side by side have this value.
    fn equal(&self, digits: &[(usize, i64)], value: i64) -> Sig<'m> {
        if let [(counter, factor)] = digits {
            let ends = |d: &&Digit| matches!(self.of.counters[d.counter].last, Formula::Const(_));
            let mut all = self.digits.iter().filter(|d| d.counter == *counter && value % factor == 0);
            match all.next() {
                Some(d) if value == 0 => return d.zero.q(),
                Some(d) if value == factor * (d.trip - 1) && ends(&d) => return d.last.q(),
                _ => {}
            }
        }
        let joined = self.joined(digits);
        let fits = value as u64 >> joined.w().min(63) == 0;
        if fits {
            joined.eq_lit(value)
        } else {
            self.m.lit(0, u(1))
        }
    }

    fn accumulate(&self, key: &Key, ty: Ty) -> Sig<'m> {
        let m = self.m;
        let name = format!("a{}", self.accumulators.len());
        let acc = m.reg(name.clone(), ty);
        let mut back = Step::One(Affine::constant(self.parameters.len(), 0));
        let mut steps = vec![];
        for (digit, &coefficient) in self.digits.iter().zip(&key.steps).rev() {
            steps.push((!digit.last.q(), back.negative(coefficient)));
            back.add(coefficient, &self.of.counters[digit.counter].last);
        }
        let last_step = back.negative(0);
        // Digits that leave the step as it is need no case of their own.
        let mut cases: Vec<(Sig<'m>, Sig<'m>)> = vec![];
        let needed = steps.iter().rposition(|s| s.1 != last_step).map_or(0, |k| k + 1);
        let of_run = |name: String, step: &Affine| {
            if step.is_constant() {
                self.run(step, ty)
            } else {
                self.kept(name, self.run(step, ty))
            }
        };
        let number = |k: usize, step: &Step| match step.all() {
            [one] => of_run(format!("{name}_step{k}"), one),
            all if all.iter().all(|step| *step == all[0]) => of_run(format!("{name}_step{k}"), &all[0]),
            all => {
                if let Some(values) = self.in_cases(all) {
                    return self.of_phase(&values, ty).now;
                }
                let each = |(case, step)| of_run(format!("{name}_step{k}_{case}"), step);
                of_case(m, &self.cases(), &all.iter().enumerate().map(each).collect::<Vec<_>>())
            }
        };
        for (k, (condition, step)) in steps[..needed].iter().enumerate() {
            cases.push((*condition, number(k, step)));
        }
        let sum = acc.q() + m.select(&cases, number(needed, &last_step)).called(format!("{name}_step"));
        match key.start.is_constant() {
            true => acc.rst(self.rst, key.start.constant).en(self.fire).next(sum).q(),
            false => acc.en(self.start | self.fire).next(m.mux(self.start, self.run(&key.start, ty), sum)).q(),
        }
    }

    /// A constant of the run in the cycle of `start`, modulo the type's width.
    fn run(&self, value: &Affine, ty: Ty) -> Sig<'m> {
        let m = self.m;
        if let Some(values) = self.in_functions(value) {
            return self.by_function(&values, ty);
        }
        let constant = |v: i64| m.lit_big(&[v as u64], ty);
        value.coeffs.iter().zip(&self.parameters).filter(|(c, _)| **c != 0).fold(
            constant(value.constant),
            |sum, (&c, parameter)| {
                let wide = parameter.to(ty);
                let parts = (0..ty.w.min(63))
                    .filter(|bit| c.unsigned_abs() >> bit & 1 == 1)
                    .map(|bit| wide.shl_const(bit).to(ty));
                parts.fold(sum, |sum, part| if c < 0 { sum - part } else { sum + part })
            },
        )
    }

    /// Counts down over and over from one less than the waves of the sizes, and of the phase's case, which each run,
    /// phase or strip begins with: so a value is found where one was put so many waves before, in the same phase, or in
    /// the strip before, if they have fewer and fewer waves.
    fn lagging(&self, depth: i64, lag: usize) -> Sig<'m> {
        let (m, ty) = (self.m, u(clog2(depth as u64)));
        let cases = self.of.cases.len();
        let most: Vec<Formula> = (0..=cases).map(|case| of_delay(&self.of.delays[lag], case)).collect();
        let first: Vec<Formula> = self.first_cases().into_iter().map(|case| most[case].clone()).collect();
        let known: Option<Vec<i64>> =
            most.iter().map(|f| if let Formula::Const(waves) = f { Some(*waves) } else { None }).collect();
        let pointer = m.reg(format!("delay_{lag}_address"), ty);
        let phase_ends = self.all_last(self.of.cased);
        let over = phase_ends | !pointer.q().reduce_or();
        let again = match &known {
            Some(known) => self.of_phase(known, ty).next(m, phase_ends),
            None => self.of_next_case(phase_ends, &most.iter().map(|f| self.waits.held(f, ty)).collect::<Vec<_>>()),
        };
        let next = m.mux(over, again, pointer.q().sub_lit(1));
        match &first[..] {
            [Formula::Const(waves)] => pointer.rst(self.rst, *waves).en(self.fire).next(next).q(),
            first => {
                let start: Vec<Sig<'m>> = first.iter().map(|first| self.waits.at_start(first, ty)).collect();
                let start = of_case(m, &self.starts[..start.len() - 1], &start);
                pointer.en(self.start | self.fire).next(m.mux(self.start, start, next)).q()
            }
        }
    }

    fn condition(&mut self, c: &Condition) -> Sig<'m> {
        if let Some(f) = self.function_of(c) {
            return self.runs[f];
        }
        if let Some((digits, value)) = forms::digits_equal(&self.of.counters, &c.form).filter(|_| c.equality) {
            return self.equal(&digits, value);
        }
        let value = self.form(&c.form);
        match (c.equality, value.ty().signed) {
            (true, _) => !value.reduce_or(),
            (false, true) => !value.msb(),
            (false, false) => self.m.lit(1, u(1)),
        }
    }

    /// The function of a merged array in whose runs the condition holds, if it is about nothing else.
    fn function_of(&self, c: &Condition) -> Option<usize> {
        let (number, rest) = c.form.counters.split_first()?;
        let alone = *number == 1 && rest.iter().all(|x| *x == 0) && c.form.space == [0, 0];
        let f = usize::try_from(-c.form.constant).ok()?;
        (alone && c.equality && f < self.of.functions).then_some(f)
    }

    fn outputs(&mut self, ports: &SequencerPorts) {
        let m = self.m;
        ports.valid.output(m, m.reg("valid_q", u(1)).rst(self.rst, 0).next(self.fire).q());
        let of = self.of;
        for (field, port) in of.fields.iter().zip(&ports.fields) {
            let value = match field {
                Field::Valid => self.fire,
                Field::Guard(conditions) => {
                    let bits: Vec<Sig<'m>> = conditions.iter().map(|c| self.condition(c)).collect();
                    if bits.is_empty() {
                        m.lit(1, u(1))
                    } else {
                        m.all(&bits)
                    }
                }
                Field::Time(form) => self.form(form),
                Field::Pointer(depth, Some(lag)) | Field::WritePointer(depth, Some(lag)) => {
                    self.lagging(*depth, *lag as usize)
                }
                Field::Pointer(depth, None) | Field::WritePointer(depth, None) => {
                    let ty = u(clog2(*depth as u64));
                    let pointer = m.reg(format!("wave_mod_{depth}"), ty).rst(self.rst, 0).en(self.fire);
                    pointer.next(m.mux(pointer.q().eq_lit(depth - 1), m.lit(0, ty), pointer.q().add_lit(1))).q()
                }
            };
            port.output(m, m.reg(format!("{}_q", port.name), value.ty()).next(value).q());
        }
    }
}
