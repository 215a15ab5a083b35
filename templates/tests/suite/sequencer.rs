//! `Sequencer` against its contract: every wave is launched in the first cycle that `start`, the initiation interval,
//! loads and drains allow, with the values of its counters. Loads and drains come at random.

use crate::module_support::*;
use array::contract::program;
use array::contract::timing::{DRAINED_TO_LAUNCH, LOADED_TO_LAUNCH, START_TO_LAUNCH};
use array::vsa::*;
use rtl::sim::Sim;
use scop::ScalarType;
use std::collections::{BTreeSet, VecDeque};
use templates::control::sequencer::Sequencer;
use templates::control::{field_port, Field};
use uniform::affine::{Condition, Form};
use uniform::counters::{Case, Counter, Span};
use uniform::sizes::{Formula, Size};
use uniform::system::Kind;

fn random_counters(r: &mut Random) -> Vec<Counter> {
    loop {
        let trips: Vec<i64> = (0..r.range(0, 5)).map(|_| r.pick(&[1, 2, 2, 3, 4, 7])).collect();
        if trips.iter().product::<i64>() <= 400 {
            return trips.iter().enumerate().map(|(j, t)| Counter::constant(format!("t{j}"), *t)).collect();
        }
    }
}

fn random_vsa(r: &mut Random) -> Vsa {
    let mut v = empty_vsa("bench");
    v.counters = random_counters(r);
    v.tile_depth = r.range(0, v.counters.len() as i64) as usize;
    let phases = r.range(0, v.tile_depth as i64) as usize;
    v.counters[..phases].iter_mut().for_each(|c| c.kind = Kind::Sequence);
    random_cases(r, &mut v);
    v.sizes.list = vec![Size { name: "n".into(), ty: ScalarType::I32, max: MOST, after: [0, 0] }];
    let past = |waves| Op::Past { source: NodeId(0), hop: [0, 0], waves };
    let node = |waves| Node { op: past(waves), ty: ScalarType::I32, name: String::new() };
    v.nodes = (0..2).map(|_| node(random_delay(r, v.cases.len()))).collect();
    v.schedule.interval = r.pick(&[1, 1, 1, 2, 3, 6]);
    v.arrays = vec![DramArray {
        name: "A".into(),
        ty: ScalarType::I32,
        dims: vec![],
        word: 1,
        port: 0,
        home: Default::default(),
    }];
    let footprint = Footprint {
        view: Footprint::plain_view(1),
        origin: vec![Form::default()],
        rows: vec![],
        words: 1,
        elements: 1,
    };
    let form = Form::default;
    for _ in 0..r.range(0, 3) {
        let reload = r.range(0, v.tile_depth as i64) as usize;
        let phases: Vec<Option<i64>> =
            v.counters[..v.phases()].iter().map(|c| r.chance(40).then(|| r.range(0, c.trip - 1))).collect();
        let cases = random_subset(r, &v).filter(|_| reload >= v.phases());
        v.inputs.push(InputGroup {
            arrays: vec![],
            array: 0,
            subscripts: vec![],
            ports: vec![],
            first: [0; 2],
            last: [0; 2],
            forward: [false; 2],
            reload,
            used: When { cases, ..When::new(phases) },
            footprint: footprint.clone(),
            banks: vec![],
            row: form(),
            col: form(),
            after: vec![],
        });
    }
    for _ in 0..r.range(0, 2) {
        let emit: Vec<Option<i64>> =
            v.counters[..v.tile_depth].iter().map(|c| r.chance(40).then(|| r.range(0, c.trip - 1))).collect();
        let every = emit.iter().zip(&v.counters).all(|(e, c)| e.is_none() || c.trip == 1);
        let slots = if every { r.pick(&[1, 2]) } else { 1 };
        v.outputs.push(OutputGroup {
            arrays: vec![],
            array: 0,
            subscripts: vec![],
            ports: vec![],
            first: [0; 2],
            last: [0; 2],
            emit: When { cases: random_subset(r, &v), ..When::new(emit) },
            footprint: footprint.clone(),
            banks: vec![],
            row: form(),
            col: form(),
            slots,
            bounds: vec![],
        });
    }
    v
}

/// Some loops end earlier in some phases, or strips.
fn random_cases(r: &mut Random, v: &mut Vsa) {
    let strips = v.phases() == 0 && v.tile_depth < v.counters.len() && r.chance(60);
    let (whole, cased) = if strips { (v.tile_depth, v.tile_depth + 1) } else { (0, v.phases()) };
    let counted: Vec<usize> = (cased..v.counters.len()).filter(|&j| v.counters[j].trip > 1 && r.chance(60)).collect();
    if counted.is_empty() || v.counters[whole..cased].iter().all(|c| c.trip == 1) || r.chance(30) {
        return;
    }
    for _ in 0..r.range(1, 4) {
        let some = v.counters[whole..cased].iter().map(|c| {
            let low = r.range(0, c.trip - 1);
            Span::constant(low, r.range(low, c.trip - 1))
        });
        let some: Case = some.collect();
        let one: Case = v.counters[..whole].iter().map(Span::whole).chain(some).collect();
        if v.cases.iter().all(|other| one.iter().zip(other).any(|(x, y)| x.is_apart_from(y))) {
            v.cases.push(one);
        }
    }
    for j in counted {
        let ends = v.cases.iter().map(|_| Formula::Const(r.range(0, v.counters[j].trip - 1)));
        v.counters[j].last = Formula::ByCase(ends.chain([Formula::Const(0)]).collect());
    }
}

/// How long something waits in the phases of so many cases, and between them: some of it follows from the size.
fn random_delay(r: &mut Random, cases: usize) -> Formula {
    let sized = r.chance(50);
    let one = |r: &mut Random| {
        Formula::combination(r.range(2, 9), (sized && r.chance(70)).then(|| (r.range(1, 2), Formula::Size(0))))
    };
    Formula::by_case((0..=cases).map(|_| one(r)).collect())
}

/// The greatest size.
const MOST: i64 = 9;

/// Some of the cases of phases, if there are any.
fn random_subset(r: &mut Random, v: &Vsa) -> Option<BTreeSet<usize>> {
    let some = |r: &mut Random| (0..v.cases.len()).filter(|_| r.chance(60)).collect::<BTreeSet<usize>>();
    (v.loops().has_cases() && v.cased() <= v.tile_depth && r.chance(50))
        .then(|| some(r))
        .filter(|some| !some.is_empty())
}

fn random_fields(r: &mut Random, v: &Vsa) -> Vec<Field> {
    let all = 0..v.counters.len();
    let mut fields = vec![];
    for _ in 0..r.range(0, 6) {
        let field = match r.range(0, 9) {
            0 | 1 => {
                let delays = v.varying_delays();
                let lag = (!delays.is_empty() && r.chance(70)).then(|| r.range(0, delays.len() as i64 - 1) as u32);
                let depth = lag.map_or_else(|| r.range(2, 9), |lag| v.most(delays[lag as usize]));
                if r.chance(50) {
                    Field::Pointer(depth, lag)
                } else {
                    Field::WritePointer(depth, lag)
                }
            }
            2..=4 => Field::Guard(
                (0..r.range(0, 3))
                    .map(|_| Condition { form: random_form(r, all.clone(), [-3, 3]), equality: r.chance(40) })
                    .collect(),
            ),
            _ => Field::Time(random_form(r, all.clone(), [-9, 20])),
        };
        fields.push(field);
    }
    fields.sort();
    fields.dedup();
    fields
}

/// Pulses that become due at random.
#[derive(Default)]
struct Pulses {
    due: VecDeque<i64>,
    /// Cycles in which they came, in this run.
    came: Vec<i64>,
}

impl Pulses {
    /// One more, `after` cycles from now at the earliest; they keep their order.
    fn plan(&mut self, r: &mut Random, cycle: i64, slow: i64) {
        let last = self.due.back().or(self.came.last()).copied().unwrap_or(0);
        self.due.push_back(last.max(cycle) + 1 + if r.chance(60) { 0 } else { r.range(0, slow) });
    }
    fn now(&mut self, cycle: i64) -> bool {
        let due = self.due.front().is_some_and(|d| *d <= cycle);
        if due {
            self.due.pop_front();
            self.came.push(cycle);
        }
        due
    }
    fn forget(&mut self) {
        *self = Pulses::default();
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Reset,
    Idle,
    Start,
    Run,
}

/// How far a run is.
struct Progress {
    /// Number of the next wave, and when it may be launched as far as `start` and the interval go.
    wave: i64,
    earliest: i64,
    /// Loads and drains of the tiles so far, and loads that are released.
    load: Vec<usize>,
    drain: Vec<usize>,
    released: Vec<usize>,
    /// Loads of the whole run.
    loads: Vec<usize>,
}

struct Bench<'a> {
    v: &'a Vsa,
    fields: &'a [Field],
    sim: Sim,
    cycle: i64,
    /// Waves since the reset.
    waves: i64,
    /// In this run.
    size: i64,
    loaded: Vec<Pulses>,
    drained: Vec<Pulses>,
    slow: i64,
}

impl Bench<'_> {
    /// Drives one cycle up to where outputs can be looked at. Up to and including `start`, pulses do not count.
    fn drive(&mut self, r: &mut Random, phase: Phase) {
        self.sim.set("rst", u64::from(phase == Phase::Reset));
        self.sim.set("start", u64::from(phase == Phase::Start));
        for (k, register) in program::of_delays(self.v).iter().enumerate() {
            let size = if phase == Phase::Start { self.size } else { r.range(1, MOST) };
            self.sim.set(&format!("program_{k}"), register.formula.eval(&[size]) as u64);
        }
        let (loaded, drained) = (self.loaded.iter_mut().enumerate(), self.drained.iter_mut().enumerate());
        let named =
            loaded.map(|(g, p)| (format!("loaded{g}"), p)).chain(drained.map(|(o, p)| (format!("drained{o}"), p)));
        for (name, pulses) in named {
            let stray = phase != Phase::Run && r.chance(20);
            self.sim.set(&name, u64::from(pulses.now(self.cycle) || stray));
        }
    }

    fn clock(&mut self) {
        self.sim.clock();
        self.cycle += 1;
    }

    fn reset(&mut self, r: &mut Random) {
        for _ in 0..2 {
            self.drive(r, Phase::Reset);
            self.clock();
        }
        self.waves = 0;
        self.loaded.iter_mut().chain(&mut self.drained).for_each(Pulses::forget);
    }

    fn idle(&mut self, r: &mut Random, cycles: i64) {
        for _ in 0..cycles {
            self.drive(r, Phase::Idle);
            self.quiet("idle");
            self.clock();
        }
    }

    fn quiet(&mut self, why: &str) {
        assert_eq!(self.sim.get("valid"), 0, "cycle {}: {why}", self.cycle);
        for g in 0..self.v.inputs.len() {
            assert_eq!(self.sim.get(&format!("release{g}")), 0, "cycle {}: release{g}, {why}", self.cycle);
        }
        for o in 0..self.v.outputs.len() {
            assert_eq!(self.sim.get(&format!("emitted{o}")), 0, "cycle {}: emitted{o}, {why}", self.cycle);
        }
    }

    /// One run from a `start` pulse; only its first `limit` cycles if given.
    fn run(&mut self, r: &mut Random, limit: Option<i64>) {
        let v = self.v;
        // What is left of the run before does not count any more.
        self.loaded.iter_mut().chain(&mut self.drained).for_each(Pulses::forget);
        let (total, start) = (v.waves(), self.cycle);
        self.size = r.range(1, MOST);
        self.drive(r, Phase::Start);
        self.quiet("start");
        self.clock();
        let loads: Vec<usize> =
            (0..v.inputs.len()).map(|g| (0..total).filter(|&n| self.is_first(n) && self.loads(g, n)).count()).collect();
        let mut run = Progress {
            wave: 0,
            earliest: start + START_TO_LAUNCH,
            load: vec![0; loads.len()],
            drain: vec![0; v.outputs.len()],
            released: vec![0; loads.len()],
            loads,
        };
        for g in 0..v.inputs.len() {
            (0..run.loads[g].min(2)).for_each(|_| self.loaded[g].plan(r, start, self.slow));
        }
        while run.wave < total && limit.is_none_or(|l| self.cycle < start + l) {
            assert!(self.cycle < start + 60_000, "the bench hangs in wave {} of {total}", run.wave);
            self.drive(r, Phase::Run);
            if self.launchable(&run) {
                assert_eq!(
                    self.sim.get("valid"),
                    1,
                    "cycle {}: wave {} of {total} can be launched\n{:?}",
                    self.cycle,
                    run.wave,
                    v.counters
                );
                self.launched(r, &mut run, total);
            } else {
                self.quiet("nothing allows a launch");
            }
            self.clock();
        }
    }

    /// Start, interval, loads and drains allow the next wave in this cycle.
    fn launchable(&self, run: &Progress) -> bool {
        let first = self.is_first(run.wave);
        let loaded = (0..run.load.len())
            .filter(|g| first && self.loads(*g, run.wave))
            .all(|g| self.loaded[g].came.get(run.load[g]).is_some_and(|c| self.cycle >= c + LOADED_TO_LAUNCH));
        let drained = (0..run.drain.len()).filter(|o| first && self.emits(*o, run.wave)).all(|o| {
            let slots = self.v.outputs[o].slots as usize;
            run.drain[o] < slots
                || self.drained[o].came.get(run.drain[o] - slots).is_some_and(|c| self.cycle >= c + DRAINED_TO_LAUNCH)
        });
        self.cycle >= run.earliest && loaded && drained
    }

    /// Looks at all outputs in the cycle of a launch; plans the pulses that follow from it.
    fn launched(&mut self, r: &mut Random, run: &mut Progress, total: i64) {
        let (v, wave) = (self.v, run.wave);
        let (first, last) = (self.is_first(wave), wave + 1 == total || self.is_first(wave + 1));
        self.check(wave);
        for g in 0..run.load.len() {
            run.load[g] += usize::from(first && self.loads(g, wave));
            let next = (wave + 1..total).find(|&n| self.is_first(n) && self.uses(g, n));
            let release = last && self.uses(g, wave) && next.is_none_or(|n| self.loads(g, n));
            assert!(
                !self.uses(g, wave) || self.sim.get(&format!("slot{g}")) as usize == (run.load[g] + 1) % 2,
                "cycle {}: slot{g} in wave {wave}",
                self.cycle
            );
            assert_eq!(
                self.sim.get(&format!("release{g}")),
                u64::from(release),
                "cycle {}: release{g} in wave {wave}",
                self.cycle
            );
            run.released[g] += usize::from(release);
            if release && run.released[g] + 1 < run.loads[g] {
                self.loaded[g].plan(r, self.cycle, self.slow);
            }
        }
        for o in 0..run.drain.len() {
            let emits = self.emits(o, wave);
            run.drain[o] += usize::from(first && emits);
            if v.outputs[o].slots > 1 && emits {
                assert_eq!(
                    self.sim.get(&format!("out_slot{o}")) as usize,
                    (run.drain[o] - 1) % 2,
                    "cycle {}: out_slot{o} in wave {wave}",
                    self.cycle
                );
            }
            assert_eq!(
                self.sim.get(&format!("emitted{o}")),
                u64::from(emits && last),
                "cycle {}: emitted{o} in wave {wave}",
                self.cycle
            );
            if emits && last {
                self.drained[o].plan(r, self.cycle, self.slow);
            }
        }
        run.earliest = self.cycle + v.schedule.interval;
        run.wave += 1;
        self.waves += 1;
    }

    /// The tile that wave `n` belongs to loads group `g`.
    fn loads(&self, g: usize, n: i64) -> bool {
        let (at, group) = (self.v.counters_of(n), &self.v.inputs[g]);
        self.uses(g, n) && (group.reload..self.v.tile_depth).all(|j| at[j] == 0 || group.used.value(j).is_some())
    }

    /// The tile that wave `n` belongs to uses group `g`.
    fn uses(&self, g: usize, n: i64) -> bool {
        self.is_in(&self.v.inputs[g].used, n)
    }

    /// Wave `n` is in a set of tiles.
    fn is_in(&self, when: &When, n: i64) -> bool {
        let at = self.v.counters_of(n);
        when.holds(&at, self.v.case_at(&at))
    }

    /// Wave `n` is the first of its tile.
    fn is_first(&self, n: i64) -> bool {
        self.v.counters_of(n)[self.v.tile_depth..].iter().all(|c| *c == 0)
    }

    fn emits(&self, o: usize, n: i64) -> bool {
        self.is_in(&self.v.outputs[o].emit, n)
    }

    /// Fields of the wave that is launched now.
    fn check(&mut self, wave: i64) {
        let at = self.v.counters_of(wave);
        for (k, field) in self.fields.iter().enumerate() {
            let wanted = match field {
                Field::Valid => 1,
                Field::Guard(conditions) => i64::from(conditions.iter().all(|c| c.holds(&at, [0, 0]))),
                Field::Time(form) => form.eval(&at, [0, 0]),
                Field::Pointer(depth, None) | Field::WritePointer(depth, None) => self.waves % depth,
                Field::Pointer(_, Some(lag)) | Field::WritePointer(_, Some(lag)) => {
                    let begun = self.v.phases_before(wave + 1).values().map(|(begin, _)| *begin).max().unwrap_or(0);
                    let case = self.v.case_at(&at).unwrap_or(self.v.cases.len());
                    let waves = self.v.varying_delays()[*lag as usize].in_case(case).eval(&[self.size]);
                    waves - 1 - (wave - begun) % waves
                }
            };
            let port = field_port(k, field, &self.v.counters).name;
            let signed = self.sim.port_ty(self.sim.port(&port)).signed;
            let got = if signed { self.sim.get_signed(&port) } else { self.sim.get(&port) as i64 };
            assert_eq!(got, wanted, "cycle {}: {field:?} in wave {wave}, counters {at:?}", self.cycle);
        }
    }
}

#[test]
fn waves_are_launched_as_soon_as_they_can_be() {
    for_cases(400, |r| {
        let v = random_vsa(r);
        let fields = random_fields(r, &v);
        let sim = simulate(Sequencer::new(&v, fields.clone(), false), r);
        let slow = r.pick(&[1, 5, 40]);
        let pulses = |n: usize| (0..n).map(|_| Pulses::default()).collect();
        let mut b = Bench {
            v: &v,
            fields: &fields,
            sim,
            cycle: 0,
            waves: 0,
            size: 1,
            loaded: pulses(v.inputs.len()),
            drained: pulses(v.outputs.len()),
            slow,
        };
        b.reset(r);
        let rest = r.range(0, 20);
        b.idle(r, rest);
        b.run(r, None);
        // Drains of this run may still come; the next one starts right away or later.
        let rest = r.pick(&[0, 0, 1, 30]);
        b.idle(r, rest);
        b.run(r, None);
        b.idle(r, 30);
        let limit = r.range(1, 60);
        b.run(r, Some(limit));
        b.reset(r);
        b.idle(r, 3);
        b.run(r, None);
        b.idle(r, 30);
        assert_eq!(b.sim.take_broken(), Vec::<String>::new());
    });
}

/// More loads than there are buffer halves, and a start within a run, are noticed.
#[test]
fn what_the_sequencer_relies_on_is_asserted() {
    let r = &mut Random::new(1);
    let group = |v: &mut Vsa| v.inputs.len() == 1 && v.outputs.is_empty() && v.counters.len() > 1;
    let mut v = random_vsa(r);
    while !group(&mut v) {
        v = random_vsa(r);
    }
    let mut sim = simulate(Sequencer::new(&v, vec![], false), r);
    let mut cycle = |rst: u64, start: u64, loaded: u64| {
        [("rst", rst), ("start", start), ("loaded0", loaded)]
            .into_iter()
            .for_each(|(port, value)| sim.set(port, value));
        sim.clock();
        sim.take_broken()
    };
    let none = Vec::<String>::new();
    assert_eq!((cycle(1, 0, 1), cycle(0, 0, 1), cycle(0, 1, 0)), (none.clone(), none.clone(), none.clone()));
    assert_eq!(cycle(0, 1, 0), ["sequencer: no run starts within another"]);
    let found: Vec<String> = (0..6).flat_map(|_| cycle(0, 0, 1)).collect();
    assert!(found.contains(&"sequencer: loads0 counts to 2 at most".to_string()), "{found:?}");
}
