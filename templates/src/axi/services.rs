//! The generator of a DMA engine: counts the tile counters and emits one service after the other, with its address and
//! the forms of its row ends. It is the first stage of address generation ([`super::address`]).

use super::bundle::Bus;
use super::bursts::{Guard, Report};
use super::clients::Clients;
use super::elastic::{choose, hold, stage, Ready, Stage};
use super::program::{self, Program};
use crate::cases::{alike, modulo, of_case, within};
use crate::phases::{values, Behind, Merged, Outer, Pace, Phases};
use crate::port::Port;
use array::contract::overlap::BufferSet;
use array::contract::program::Register;
use array::contract::steps::{Owned, Steps};
use array::contract::walk::{RowForm, Wait, WaitUntil, Walk, WalkGroup};
use rtl::{clog2, s, u, ModuleBuilder, Reg, Sig, Ty};
use std::collections::BTreeSet;
use uniform::counters::Span;
use uniform::sizes::Formula;

/// Ports of both engines.
#[derive(Clone, Debug, PartialEq)]
pub struct EnginePorts {
    pub guard: Guard<Port>,
    /// Pulse.
    pub start: Port,
    /// Byte addresses, multiples of an element: see [`Walk::bases`].
    pub bases: Vec<(Vec<Owned>, Port)>,
    /// Lengths in bytes of the same arrays, if the host gives them: see [`Walk::lengths`].
    pub lengths: Vec<(Vec<Owned>, Port)>,
    /// Program registers.
    pub program: Vec<Port>,
    /// Level: nothing of a run is in the engine. Only if sizes are known at run time, see [`Idle`].
    pub idle: Option<Port>,
    /// Level, a cycle late: the next run may start here. Only if runs overlap.
    pub free: Option<Port>,
    pub report: Report<Port>,
}

impl EnginePorts {
    pub(crate) fn new(walk: &Walk, program: &[Register], [sized, overlaps]: [bool; 2]) -> Self {
        // One array gives the port its number.
        let number = |k: usize, arrays: &[Owned]| if let [(None, array)] = arrays[..] { array } else { k };
        let base = |(k, arrays): (usize, Vec<Owned>)| {
            let port = Port::new(format!("base_{}", number(k, &arrays)), u(walk.address_bits));
            (arrays, port)
        };
        let length = |(k, (arrays, bits)): (usize, (Vec<Owned>, u32))| {
            let port = Port::new(format!("length_{}", number(k, &arrays)), u(bits));
            (arrays, port)
        };
        EnginePorts {
            guard: Guard::ports(),
            start: Port::bit("start"),
            bases: walk.bases().into_iter().enumerate().map(base).collect(),
            lengths: walk.lengths().into_iter().enumerate().map(length).collect(),
            program: program::ports(program),
            idle: sized.then(|| Port::bit("idle")),
            free: overlaps.then(|| Port::bit("free")),
            report: Report::ports(Bus::of(walk)),
        }
    }
}

/// Start signal of an engine, and the inputs that are valid with it.
#[derive(Clone)]
pub(crate) struct Start<'m> {
    pub rst: Sig<'m>,
    pub start: Sig<'m>,
    /// Base address per array of the walk, from the cycle after the `start` pulse on.
    bases: Vec<Sig<'m>>,
    /// Their lengths, if the host gives them.
    lengths: Vec<Length<'m>>,
    pub program: Program<'m>,
    pub clients: Clients<'m>,
    /// If runs overlap, the buffers of the groups, which are places in the walk.
    pub sets: Vec<BufferSet>,
}

/// Length of an array in bytes, as the host gives it.
#[derive(Clone)]
struct Length<'m> {
    /// Its low bits: enough for the end of a row.
    low: Sig<'m>,
    /// One of the other bits is 1: no row ends behind it.
    beyond: Sig<'m>,
}

impl<'m> Length<'m> {
    fn of(m: &'m ModuleBuilder, walk: &Walk, start: Sig<'m>, port: &Port) -> Length<'m> {
        let (value, bits) = (port.input(m), walk.offset_bits().min(port.ty.w));
        let above = if value.w() > bits { value.slice(bits, value.w() - bits).reduce_or() } else { m.lit(0, u(1)) };
        Length {
            low: hold(m, format!("{}_q", port.name), start, value.slice(0, bits)),
            beyond: hold(m, format!("{}_beyond", port.name), start, above),
        }
    }
}

impl<'m> Start<'m> {
    pub fn of(
        m: &'m ModuleBuilder,
        walk: &Walk,
        ports: &EnginePorts,
        (registers, sets): (&[Register], &[BufferSet]),
        rst: Sig<'m>,
    ) -> Start<'m> {
        let start = ports.start.input(m);
        let bases: Vec<_> = ports.bases.iter().map(|(_, port)| port.input(m)).collect();
        let (unit, what) = if walk.aligned { (walk.bus_bytes(), "a bus word") } else { (walk.bytes, "an element") };
        let low = unit.trailing_zeros();
        // Of a merged array, the other functions' arrays have no addresses.
        if low > 0 && walk.merged().is_none() {
            let offsets: Vec<_> = bases.iter().map(|base| base.slice(0, low).reduce_or()).collect();
            m.assert(rst, format!("addresses are multiples of {what}"), !start | !m.any(&offsets));
        }
        let held = bases.iter().zip(&ports.bases).map(|(base, b)| {
            let name = format!("{}_q", b.1.name);
            if walk.aligned {
                let high = hold(m, name, start, base.slice(low, base.w() - low));
                m.concat(&[high, m.lit(0, u(low))])
            } else {
                hold(m, name, start, *base)
            }
        });
        let bases = held.collect();
        let lengths = ports.lengths.iter().map(|(_, port)| Length::of(m, walk, start, port)).collect();
        let program = Program::of(m, registers, &ports.program, start);
        let clients = Clients::new(m, walk, program.clone(), !sets.is_empty());
        Start { rst, start, bases, lengths, program, clients, sets: sets.to_vec() }
    }

    /// By [`counted`] set: the client's group is in it.
    pub fn in_sets(&self, m: &'m ModuleBuilder, client: &[Sig<'m>]) -> Vec<Sig<'m>> {
        let of = |set: &BufferSet| m.any(&set.groups.iter().map(|g| client[*g]).collect::<Vec<_>>());
        if self.sets.is_empty() {
            client.to_vec()
        } else {
            self.sets.iter().map(of).collect()
        }
    }

    /// Tells whether the next run may start: nothing is in these stages.
    pub fn drive_free(&self, m: &'m ModuleBuilder, ports: &EnginePorts, stages: &[Sig<'m>]) {
        if let Some(free) = &ports.free {
            let now = !m.any(stages) & !self.start;
            free.output(m, m.reg("free_q", u(1)).next(now).rst(self.rst, 1).q());
        }
    }

    /// The array of the client's group, as long as the host says, has all bytes before the offset `end`. `None` if the host gives
    /// no lengths.
    pub fn holds(&self, m: &'m ModuleBuilder, walk: &Walk, client: &[Sig<'m>], end: Sig<'m>) -> Option<Sig<'m>> {
        if self.lengths.is_empty() {
            return None;
        }
        let pick = |of: &dyn Fn(&Length<'m>) -> Sig<'m>| {
            self.of_base(m, walk, client, &self.lengths.iter().map(of).collect::<Vec<_>>())
        };
        let low = pick(&|length| length.low).extend(end.w()).to(end.ty());
        Some(pick(&|length| length.beyond) | end.le(low))
    }
    /// The low `bits` of the address at an offset from the base of the array of the client's group. Nothing is added to bits
    /// that are 0 in every base.
    pub fn address(
        &self,
        m: &'m ModuleBuilder,
        walk: &Walk,
        (client, offset): (&[Sig<'m>], Sig<'m>),
        bits: u32,
    ) -> Sig<'m> {
        let low = if walk.aligned { walk.bus_bytes().trailing_zeros() } else { 0 };
        let offset = offset.resize(bits).unsigned();
        if bits <= low {
            return offset;
        }
        let bases: Vec<_> = self.bases.iter().map(|base| base.slice(low, bits - low)).collect();
        let high = self.of_base(m, walk, client, &bases) + offset.slice(low, bits - low);
        if low == 0 {
            high
        } else {
            m.concat(&[high, offset.slice(0, low)])
        }
    }

    /// Of one value for each of [`Walk::bases`], that of the client's group.
    fn of_base(&self, m: &'m ModuleBuilder, walk: &Walk, client: &[Sig<'m>], values: &[Sig<'m>]) -> Sig<'m> {
        let bases = walk.bases();
        let of = |groups: &Vec<usize>| {
            let g = &walk.groups[groups[0]];
            let owned = (g.when.runs()[0], g.arrays[0]);
            let place = bases.iter().position(|all| all.contains(&owned));
            // An undriven wire, which the netlist check reports.
            place.map_or_else(|| m.wire("unserved_base", values[0].ty()).sig(), |k| values[k])
        };
        // Groups that take the same turn have the same base.
        let turns = walk.turns();
        if values.len() == 1 {
            return of(&turns[0]);
        }
        choose(m, &self.in_turn(m, walk, client), &turns.iter().map(of).collect::<Vec<_>>())
    }

    /// By turn: a client takes it.
    fn in_turn(&self, m: &'m ModuleBuilder, walk: &Walk, client: &[Sig<'m>]) -> Vec<Sig<'m>> {
        let of = |t: usize| {
            let takes = |groups: &Vec<usize>| walk.groups[groups[0]].turn == t;
            let bits = self.clients.groups().iter().zip(client).filter(|(groups, _)| takes(groups));
            m.any(&bits.map(|(_, bit)| *bit).collect::<Vec<_>>())
        };
        (0..walk.turns().len()).map(of).collect()
    }
}

/// The groups of an engine that count their buffers together, each list with the number of buffers: those with the same
/// buffers, if runs overlap (`sets`); else those of a client.
pub(crate) fn counted(walk: &Walk, sets: &[BufferSet]) -> Vec<BufferSet> {
    let of = |groups| BufferSet { groups, halves: 2 };
    if sets.is_empty() {
        walk.clients(false).into_iter().map(of).collect()
    } else {
        sets.to_vec()
    }
}

/// A bit for each [`counted`] set.
pub(crate) fn of_sets(walk: &Walk, sets: &[BufferSet], what: &str) -> Vec<Port> {
    let first = |set: BufferSet| Port::bit(format!("{what}_{}", walk.groups[set.groups[0]].group));
    counted(walk, sets).into_iter().map(first).collect()
}

/// Nothing of a run is in an engine. Collects the stages; each is 1 while something is in it.
///
/// If the program registers hold garbage, engines and sequencer may count differently, and stores may end before the
/// rest. The end of a run waits for `idle`, so that the next run starts from nothing. Otherwise the stores are the last.
pub(crate) struct Idle<'m>(pub Vec<Sig<'m>>);

impl<'m> Idle<'m> {
    /// In this cycle, and in at least so many before it, of this run. Only a start ends it: so the cycles before tell
    /// whether this one is idle, too, and the answer is a register.
    pub fn since(self, m: &'m ModuleBuilder, io: &Start<'m>, cycles: usize) -> Sig<'m> {
        let idle = !m.any(&self.0);
        let before = |(_, all): (Sig<'m>, Sig<'m>), k: usize| {
            let before = m.reg(format!("idle_{k}"), u(1)).next(all & !io.start).rst(io.rst, 1).q();
            (before, before & all)
        };
        (0..cycles).fold((idle, idle), before).0
    }
}

/// A service that waits for its credits.
pub(crate) struct Job<'m> {
    pub valid: Sig<'m>,
    /// The generator has services left.
    pub more: Sig<'m>,
    /// See [`Clients`].
    pub client: Vec<Sig<'m>>,
    pub slot: Sig<'m>,
    /// The next service enters in this cycle.
    pub load: Sig<'m>,
    /// The generator left a phase in the cycle before.
    pub ended: Sig<'m>,
    /// By wait for a phase, each that differs from those before: minus the drains of the phase that has `ended`.
    pub left: Vec<(Wait, Sig<'m>)>,
    /// Byte offset of local element 0 of the first row from the array's base, see [`Walk::offset_bits`].
    pub(super) offset: Sig<'m>,
    pub(super) gates: Vec<Sig<'m>>,
    pub(super) lowers: Vec<Sig<'m>>,
    pub(super) uppers: Vec<Sig<'m>>,
}

impl<'m> Job<'m> {
    /// Low bits of the address of the first row.
    pub fn low_address(&self, m: &'m ModuleBuilder, walk: &Walk, io: &Start<'m>, bits: u32) -> Sig<'m> {
        low_address(m, walk, io, (&self.client, self.offset), bits)
    }
}

/// Low bits of the address at an offset from the base of the array of the client's group.
pub(crate) fn low_address<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    io: &Start<'m>,
    (client, offset): (&[Sig<'m>], Sig<'m>),
    bits: u32,
) -> Sig<'m> {
    io.address(m, walk, (client, offset), bits)
}

/// Bits of `address` that select the element in a bus word.
pub(crate) fn shift_bits<'m>(walk: &Walk, address: Sig<'m>) -> Option<Sig<'m>> {
    walk.rotates().then(|| address.slice(walk.bytes.trailing_zeros(), walk.word.trailing_zeros()))
}

/// Builds the generator. A point of the tile loops that serves no group takes one cycle.
pub(crate) fn generator<'m>(m: &'m ModuleBuilder, walk: &Walk, io: &Start<'m>, job_leaves: Ready<'m>) -> Job<'m> {
    let busy = m.reg("gen_busy", u(1));
    // Parameters are constants of a run.
    let (trips, lasts) = (&walk.trips[walk.parameters..], &walk.lasts[walk.parameters..]);
    let name = |j: usize| format!("gen_count{j}");
    let runs = runs(walk, &io.program);
    // Counters that tell the case run one step ahead.
    let outer = if walk.cases.is_empty() { 0 } else { walk.phases - walk.parameters };
    let phase_ends = m.wire("gen_phase_ends", u(1));
    let ends_phase = phase_ends.sig();
    let pace = Pace { m, rst: io.start, start: io.start, advances: ends_phase };
    let end = |j: usize| match &lasts[j] {
        Formula::Const(last) if *last == trips[j] - 1 => None,
        last => Some(io.program.at_start(last, u(clog2(trips[j] as u64)))),
    };
    let phases = pace.count((0..outer).map(|j| Outer { name: name(j), trip: trips[j], end: end(j) }).collect());
    let counters: Vec<_> = (outer..trips.len()).map(|j| m.reg(name(j), u(clog2(trips[j] as u64)))).collect();
    let counts: Vec<_> = phases.iter().map(|c| c.value).chain(counters.iter().copied()).map(|c| c.q()).collect();
    let ahead: Vec<_> = phases.iter().map(|c| c.ahead).collect();
    let cases = (!walk.cases.is_empty()).then(|| cases(m, (walk, &runs), &io.program, pace, &ahead));
    let numbers = Numbers { m, program: &io.program, cases };
    let ends: Vec<_> = (outer..trips.len()).map(|j| numbers.end(&name(j), counts[j], &lasts[j])).collect();
    let at_end = phases.iter().map(|c| c.last.q()).chain(ends.iter().map(|end| end.here)).collect();
    let mut tiles = Tiles { numbers, counts, at_end, start: io.start, step: m.lit(0, u(1)) };
    let turns = walk.groups.iter().map(|g| g.turn + 1).max().unwrap_or(1);
    let turn: Vec<_> = (0..turns).map(|t| m.reg(format!("gen_turn{t}"), u(1))).collect();
    let serves = |groups: &Vec<usize>| turn[walk.groups[groups[0]].turn].q() & tiles.serves(walk, &io.clients, groups);
    let active: Vec<_> = io.clients.groups().iter().map(serves).collect();
    let offered = (busy.q() & m.any(&active)).named("gen_offers");
    let stage = stage(m, "job", io.rst, offered, job_leaves);
    let moves = stage.ready.or(!m.any(&active)).and(busy.q());
    let moved = moves.sig().named("gen_moves");
    let last_turn = match &walk.last_turn {
        Formula::Const(last) => turn[*last as usize].q(),
        // By function.
        last => {
            let last = tiles.numbers.held(last, u(clog2(turns as u64)));
            m.any(&turn.iter().enumerate().map(|(t, turn)| turn.q() & last.eq_lit(t)).collect::<Vec<_>>())
        }
    };
    let steps = moves.and(last_turn);
    let step = steps.sig().named("gen_steps");
    tiles.step = step;
    let of_phase = &tiles.at_end[walk.phases - walk.parameters..];
    let of_phase = if of_phase.is_empty() { m.lit(1, u(1)) } else { m.all(of_phase) };
    let mut inner = m.lit(1, u(1));
    for (c, End { here, register }) in counters.iter().zip(&ends).rev() {
        let steps = steps.and(inner).sig();
        c.next(m.mux(*here, m.lit(0, c.q().ty()), c.q().add_lit(1))).en(steps).rst(io.start, 0);
        if let (Some((register, lasts)), Some(phases)) = (register, &tiles.numbers.cases) {
            phases.at_last((*register, c.q()), lasts, (steps, of_phase));
        }
        inner = inner & *here;
    }
    phase_ends.drive(steps.and(of_phase).sig());
    inner = m.all(&[&[inner], &tiles.at_end[..outer]].concat());
    busy.next(io.start).en(io.start | steps.and(inner).sig()).rst(io.rst, 0);
    for t in 0..turns {
        let before = match (&walk.last_turn, t) {
            (Formula::Const(_), _) => turn[(t + turns - 1) % turns].q(),
            (_, 0) => last_turn,
            _ => turn[t - 1].q() & !last_turn,
        };
        turn[t].next(before).en(moved).rst(io.start, u64::from(t == 0));
    }
    let job = job(walk, io, (&stage, busy.q()), &tiles, (&active, ends_phase));
    tiles.numbers.cases.iter().for_each(Phases::finish);
    job
}

/// The job stage: a service and its payload. `active`: the client that is served; `ends_phase`: the tile counters leave the
/// last tile of a phase.
fn job<'m>(
    walk: &Walk,
    io: &Start<'m>,
    (stage, more): (&Stage<'m>, Sig<'m>),
    tiles: &Tiles<'_, 'm>,
    (active, ends_phase): (&[Sig<'m>], Sig<'m>),
) -> Job<'m> {
    let (m, one) = (tiles.numbers.m, tiles.numbers.m.lit(1, u(1)));
    // Groups that take the same turn are of different functions.
    let turns = walk.turns();
    let in_turn = io.in_turn(m, walk, active);
    let held = |name: String, values: Vec<Sig<'m>>| hold(m, name, stage.load, choose(m, &in_turn, &values));
    let offset = (0..turns.len())
        .map(|t| {
            let steps = walk.steps_in_turn(t, |g, f| walk.address_steps(&walk.groups[g], f));
            let init = io.program.at_start(&steps.start, s(walk.offset_bits()));
            tiles.accumulate(format!("gen_offset{t}"), init, &steps)
        })
        .collect();
    let (gates, ends) = (s(walk.gate_bits()), s(walk.end_bits()));
    let list = |role: &str, forms: Vec<Vec<RowForm>>, ty: Ty| -> Vec<Sig<'m>> {
        let one = |(i, per_group): (usize, Vec<RowForm>)| {
            let values = (0..turns.len()).map(|t| {
                let steps = walk.steps_in_turn(t, |g, f| walk.steps(&walk.groups[g], &per_group[g], f));
                tiles.accumulate(format!("gen_{role}{i}_{t}"), io.program.at_start(&steps.start, ty), &steps)
            });
            held(format!("job_{role}{i}"), values.collect())
        };
        forms.into_iter().enumerate().map(one).collect()
    };
    let f = walk.forms();
    // If runs overlap, buffers take turns from run to run.
    let overlaps = !io.sets.is_empty();
    let clear = if overlaps { io.rst } else { io.start };
    let in_sets = io.in_sets(m, active);
    let slots = counted(walk, &io.sets).into_iter().enumerate().map(|(t, BufferSet { groups, halves })| {
        let slot = m.reg(format!("gen_slot{t}"), u(1));
        let double: Vec<usize> = groups.iter().copied().filter(|g| walk.groups[*g].slots > 1).collect();
        let on = match double.len() {
            _ if overlaps => in_sets[t] & m.lit(i64::from(halves > 1), u(1)),
            0 => m.lit(0, u(1)),
            some if some == groups.len() => in_sets[t],
            _ => m.any(&double.iter().map(|g| io.clients.is(active, *g)).collect::<Vec<_>>()),
        };
        slot.next(!slot.q()).en(stage.load & on).rst(clear, 0);
        slot.q()
    });
    let slots: Vec<_> = slots.collect();
    Job {
        valid: stage.valid,
        more,
        load: stage.load,
        ended: m.reg("gen_phase_ended", u(1)).next(ends_phase).q(),
        left: phases_left(walk, tiles),
        slot: hold(m, "job_slot", stage.load, choose(m, &in_sets, &slots)),
        offset: held("job_offset".into(), offset),
        gates: list("gate", f.gates, gates),
        lowers: list("lower", f.lowers, ends),
        uppers: list("upper", f.uppers, ends),
        client: active
            .iter()
            .enumerate()
            .map(|(k, a)| if active.len() == 1 { one } else { hold(m, format!("job_client{k}"), stage.load, *a) })
            .collect(),
    }
}

/// Value `v` of counter `j` (behind the parameters) is its last value, which follows from the sizes.
fn ends(walk: &Walk, j: usize, v: i64) -> bool {
    let j = walk.parameters + j;
    v + 1 == walk.trips[j] && !matches!(walk.lasts[j], Formula::Const(_) | Formula::ByCase(_))
}

/// [`Job::left`]: a register behind the number of the phase, so that no adder waits for it.
fn phases_left<'m>(walk: &Walk, Tiles { numbers, counts, at_end, .. }: &Tiles<'_, 'm>) -> Vec<(Wait, Sig<'m>)> {
    let m = numbers.m;
    let mut all: Vec<(Wait, Sig<'m>)> = vec![];
    for wait in walk.groups.iter().flat_map(|g| &g.waits) {
        let WaitUntil::Phase { drains, emit, .. } = &wait.until else { continue };
        if all.iter().any(|(other, _)| other == wait) {
            continue;
        }
        let (ty, emit) = (s(wait.until.drain_bits(walk) + 1), &emit[walk.parameters..]);
        let at = |(j, value): (usize, &Option<i64>)| {
            value.map(|v| if ends(walk, j, v) { at_end[j] } else { counts[j].eq_lit(v) })
        };
        let here: Vec<_> = emit.iter().enumerate().filter_map(at).collect();
        let drains = numbers.negative(drains, ty);
        let drains = if here.is_empty() { drains } else { m.mux(m.all(&here), drains, m.lit(0, ty)) };
        let left = m.reg(format!("gen_left{}", all.len()), ty).next(drains);
        all.push((wait.clone(), left.q()));
    }
    all
}

/// One bit per function of a merged array: the run executes it.
fn runs<'m>(walk: &Walk, program: &Program<'m>) -> Vec<Sig<'m>> {
    let number = |count: usize| program.held(&walk.lasts[0], u(clog2(count as u64)));
    let is = |f: usize, count: usize| number(count).eq_lit(f).called(format!("runs_{f}"));
    walk.merged().map_or(vec![], |count| (0..count).map(|f| is(f, count)).collect())
}

/// What the phase class tells. `ahead`: the counters of phases one step ahead.
fn cases<'m>(
    m: &'m ModuleBuilder,
    (walk, runs): (&Walk, &[Sig<'m>]),
    program: &Program<'m>,
    pace: Pace<'m>,
    ahead: &[Sig<'m>],
) -> Phases<'m> {
    let one = |span: &Span, count: Sig<'m>, trip: i64| {
        let inside = within(m, count, [span.low, span.high], trip);
        if matches!(span.end, Formula::Const(_)) {
            inside
        } else {
            inside & count.le(program.held(&span.end, count.ty()))
        }
    };
    let is = |(k, all): (usize, &Vec<Span>)| {
        let function = walk.functions.get(k).map(|f| runs[*f]);
        let spans = all.iter().zip(ahead).enumerate();
        let inside = spans.map(|(j, (span, count))| one(span, *count, walk.trip_in(k, j)));
        let all: Vec<_> = function.into_iter().chain(inside).collect();
        let all = if all.is_empty() { m.lit(1, u(1)) } else { m.all(&all) };
        all.called(format!("gen_case_behind{k}"))
    };
    let bits = walk.cases.iter().enumerate().map(is).collect();
    let of_case = |(k, all): (usize, &Vec<Span>)| {
        let spans = all.iter().take(ahead.len()).enumerate().map(|(j, span)| values(span, walk.trip_in(k, j)));
        (walk.functions.get(k).copied().unwrap_or(0), spans.collect())
    };
    let behind = Behind { bits, boxes: walk.cases.iter().enumerate().map(of_case).collect(), ahead: ahead.to_vec() };
    let first = |function: Option<usize>| {
        let of = |k: usize| function.is_none() || walk.functions.get(k).copied() == function;
        let is = |k: &usize| of(*k) && walk.cases[*k].iter().take(ahead.len()).all(|span| span.contains(0));
        (0..walk.cases.len()).find(is).unwrap_or(walk.cases.len())
    };
    let count = walk.merged().filter(|_| !walk.functions.is_empty());
    let merged = count.map(|count| Merged {
        function: program.at_start(&walk.lasts[0], u(clog2(count as u64))),
        before: program.before_start(&walk.lasts[0], u(clog2(count as u64))),
        pauses: (0..count).map(|f| walk.has_pauses(f)).collect(),
    });
    let first = count.map_or_else(|| vec![first(None)], |count| (0..count).map(|f| first(Some(f))).collect());
    Phases::new(pace, "gen_of_phase", behind, first, merged)
}

/// Numbers that follow from the sizes or from the phase class.
struct Numbers<'a, 'm> {
    m: &'m ModuleBuilder,
    program: &'a Program<'m>,
    /// If there are phases of several classes.
    cases: Option<Phases<'m>>,
}

impl<'m> Numbers<'_, 'm> {
    /// Valid from the cycle after the `start` pulse on, modulo the width of the type.
    fn held(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        match formula {
            Formula::ByCase(values) => match (numbers_by_case(formula), &self.cases) {
                (Some(numbers), Some(phases)) => phases.number(&numbers, ty).now,
                (_, phases) => of_case(
                    self.m,
                    &phases.as_ref().map_or(vec![], Phases::cases),
                    &values.iter().map(|v| self.program.held(v, ty)).collect::<Vec<_>>(),
                ),
            },
            _ => self.program.held(formula, ty),
        }
    }

    /// The end of a counter.
    fn end(&self, name: &str, count: Sig<'m>, last: &Formula) -> End<'m> {
        match (numbers_by_case(last), &self.cases) {
            (Some(lasts), Some(phases)) if count.w() > COMPARED_BITS => {
                let register = phases.last_bit(format!("{name}_last"), &lasts);
                End { here: register.q(), register: Some((register, lasts)) }
            }
            _ => End { here: count.eq(self.held(last, count.ty())), register: None },
        }
    }

    /// Minus that.
    fn negative(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        match formula.clone().times(Formula::Const(-1)) {
            negative if formula.parts().iter().all(|part| matches!(part, Formula::Const(_))) => {
                self.held(&negative, ty)
            }
            _ => self.held(formula, ty).neg(),
        }
    }
}

/// What a formula is in each case and between them, if it is a number there and they differ.
fn numbers_by_case(formula: &Formula) -> Option<Vec<i64>> {
    let Formula::ByCase(values) = formula else { return None };
    values.iter().map(|value| if let Formula::Const(number) = value { Some(*number) } else { None }).collect()
}

/// Bits of two numbers that one LUT compares, at most.
const COMPARED_BITS: u32 = 3;

/// The end of a counter.
struct End<'m> {
    /// The counter is at its last value.
    here: Sig<'m>,
    /// Where a comparison would be in the way: a register that tells it, and the last values by case and between cases.
    register: Option<(Reg<'m>, Vec<i64>)>,
}

/// The tile counters of a generator.
struct Tiles<'a, 'm> {
    numbers: Numbers<'a, 'm>,
    counts: Vec<Sig<'m>>,
    at_end: Vec<Sig<'m>>,
    start: Sig<'m>,
    /// They count.
    step: Sig<'m>,
}

impl<'m> Tiles<'_, 'm> {
    /// A group of a client is served at the present tile.
    fn serves(&self, walk: &Walk, clients: &Clients<'m>, groups: &[usize]) -> Sig<'m> {
        let m = self.numbers.m;
        // Those that are served at the same tiles are asked for together.
        let when = |g: usize| &walk.groups[g].when;
        let alike = alike(groups, |g| (&when(g).at, &when(g).cases), |g| when(g).functions.clone());
        let each = alike.iter().map(|(g, functions)| {
            let function = (!functions.is_empty()).then(|| clients.runs(functions));
            let tests: Vec<_> = function.into_iter().chain(self.at_tile(walk, &walk.groups[*g])).collect();
            if tests.is_empty() {
                m.lit(1, u(1))
            } else {
                m.all(&tests)
            }
        });
        m.any(&each.collect::<Vec<_>>())
    }

    /// Tests that hold at the tiles at which a group is served.
    fn at_tile(&self, walk: &Walk, g: &WalkGroup) -> Vec<Sig<'m>> {
        let counts = &self.counts;
        let at = |j: usize| {
            let (count, k) = (counts[j], walk.parameters + j);
            g.when.value(k).map(|v| match g.when.parameter(k) {
                Some(p) => count.eq(self.numbers.held(&walk.lasts[p], count.ty())),
                None if ends(walk, j, v) => self.at_end[j],
                None => count.eq_lit(v),
            })
        };
        let in_case = |some: &BTreeSet<usize>| {
            self.numbers.cases.as_ref().map_or(self.numbers.m.lit(1, u(1)), |phases| phases.among(some))
        };
        (0..counts.len()).filter_map(at).chain(g.when.cases.as_ref().map(in_case)).collect()
    }

    /// Accumulator of a form: its value at the present tile.
    fn accumulate(&self, name: String, init: Sig<'m>, f: &Steps) -> Sig<'m> {
        let m = self.numbers.m;
        if f.tiles.iter().all(|d| *d == Formula::Const(0)) {
            if matches!(f.start, Formula::Const(_)) {
                return init;
            }
            return hold(m, name, self.start, init);
        }
        let acc = m.reg(name, init.ty());
        let delta =
            carry_select(m, &self.at_end, &f.tiles.iter().map(|d| self.numbers.held(d, init.ty())).collect::<Vec<_>>());
        // A constant is a reset value: `step` comes late and enables the register alone.
        match f.start {
            Formula::Const(first) => acc.next(acc.q() + delta).en(self.step).rst(self.start, modulo(first, init.ty())),
            _ => acc.next(m.mux(self.start, init, acc.q() + delta)).en(self.start | self.step),
        };
        acc.q()
    }
}

/// The value of the innermost digit that is not at its end.
pub(super) fn carry_select<'m>(m: &'m ModuleBuilder, at_end: &[Sig<'m>], values: &[Sig<'m>]) -> Sig<'m> {
    let cases: Vec<_> = at_end.iter().zip(values).skip(1).rev().map(|(e, v)| (!*e, *v)).collect();
    m.select(&cases, values[0])
}
