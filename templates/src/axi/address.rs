//! The address side both engines share: services → rows → bursts.
//!
//! ```text
//! generator ─► job ─► row walker ─► trim 1..K ─► row ─► segment ─► address channel
//!  (tile       (1)    (1 row/cycle)  (row ends)    └─► row descriptor (to the data side)
//!   counters)
//! ```
//! Every arrow is one register. Stages are elastic ([`super::elastic::stage`]). A service enters the walker when its
//! credits allow (`go`); its row `i` is in the walker at `go + 1 + i`, in `row` K + 1 cycles later, its first address on the
//! channel 2 cycles after it left `row`. The segment stage gives one burst per cycle, cut at multiples of
//! [`Walk::burst_beats`]. All forms are odometer accumulators: one addition of a constant per step, no multipliers.

use super::bundle::AxiAddress;
use super::bursts::{Guard, Report};
use super::elastic::{choose, choose_lit, constant, hold, pack, stage, unpack, Stage};
use crate::port::Port;
use crate::stream::Digit;
use arch::affine::carries;
use arch::contract::walk::{RowForm, Wait, WaitUntil, Walk, WalkGroup};
use frontend::scop::Affine;
use rtl::{clog2, s, u, ModuleBuilder, Sig, Ty};

/// Ports that both engines have.
#[derive(Clone, Debug, PartialEq)]
pub struct EnginePorts {
    pub guard: Guard<Port>,
    /// Pulse.
    pub start: Port,
    /// Byte addresses (64), element-aligned, of the arrays with these indices.
    pub bases: Vec<(usize, Port)>,
    pub report: Report<Port>,
}

impl EnginePorts {
    pub(crate) fn new(walk: &Walk) -> Self {
        let base = |k: usize| (k, Port::new(format!("base_{k}"), u(64)));
        EnginePorts { guard: Guard::ports(), start: Port::bit("start"), bases: walk.arrays.iter().map(|a| base(a.0)).collect(), report: Report::ports(walk.bus_bytes()) }
    }
}

/// When an engine starts, and where its arrays lie.
#[derive(Clone)]
pub(crate) struct Start<'m> {
    pub rst: Sig<'m>,
    pub start: Sig<'m>,
    /// Per array of the walk.
    bases: Vec<Sig<'m>>,
}

impl<'m> Start<'m> {
    pub fn of(m: &'m ModuleBuilder, ports: &EnginePorts, rst: Sig<'m>) -> Start<'m> {
        Start { rst, start: ports.start.input(m), bases: ports.bases.iter().map(|(_, port)| port.input(m)).collect() }
    }
    /// Address of the group's array.
    fn base(&self, m: &'m ModuleBuilder, walk: &Walk, group: &WalkGroup) -> Sig<'m> {
        match walk.arrays.iter().position(|a| a.0 == group.array) {
            Some(k) => self.bases[k],
            // Not driven: a fault of the netlist.
            None => m.wire("unserved_base", u(64)).sig(),
        }
    }
}

/// A service waiting for its credits.
pub(crate) struct Job<'m> {
    pub valid: Sig<'m>,
    /// One bit per group of the walk.
    pub group: Vec<Sig<'m>>,
    pub slot: Sig<'m>,
    /// Per group and wait: this load is the first of a phase, and the phase before had drains that it waits for.
    pub phase: Vec<Vec<Sig<'m>>>,
    address: Sig<'m>,
    gates: Vec<Sig<'m>>,
    lowers: Vec<Sig<'m>>,
    uppers: Vec<Sig<'m>>,
}

impl<'m> Job<'m> {
    /// Element offset of local element 0 in its bus word (`None` when a word is one element).
    pub fn shift(&self, walk: &Walk) -> Option<Sig<'m>> {
        shift_bits(walk, self.address)
    }
    /// Low bits of the virtual address of the first row.
    pub fn low_address(&self, bits: u32) -> Sig<'m> {
        self.address.slice(0, bits)
    }
}

/// Bits of `address` that tell the element within a bus word.
pub(crate) fn shift_bits<'m>(walk: &Walk, address: Sig<'m>) -> Option<Sig<'m>> {
    (walk.word > 1).then(|| address.slice(walk.bytes.trailing_zeros(), walk.word.trailing_zeros()))
}

/// The forms of one role in every group, short lists padded with a constant that has no effect.
fn padded(walk: &Walk, pick: impl Fn(&WalkGroup) -> &Vec<RowForm>, neutral: impl Fn(&WalkGroup) -> i64) -> Vec<Vec<RowForm>> {
    let most = walk.groups.iter().map(|g| pick(g).len()).max().unwrap_or(0);
    let at = |g: &WalkGroup, i: usize| {
        pick(g).get(i).cloned().unwrap_or_else(|| RowForm {
            start: Affine::constant(walk.trips.len(), neutral(g)),
            rows: vec![0; g.rows.len()],
        })
    };
    (0..most).map(|i| walk.groups.iter().map(|g| at(g, i)).collect()).collect()
}

struct Forms {
    gates: Vec<Vec<RowForm>>,
    lowers: Vec<Vec<RowForm>>,
    uppers: Vec<Vec<RowForm>>,
}

fn forms(walk: &Walk) -> Forms {
    Forms {
        gates: padded(walk, |g| &g.gates, |_| 0),
        lowers: padded(walk, |g| &g.lowers, |_| 0),
        uppers: padded(walk, |g| &g.uppers, |g| g.elements),
    }
}

/// Walks the kept tile counters and offers the services in order. A point that is not a service takes one cycle.
pub(crate) fn generator<'m>(m: &'m ModuleBuilder, walk: &Walk, io: &Start<'m>, job_leaves: Sig<'m>) -> Job<'m> {
    let groups = walk.groups.len();
    let busy = m.reg("gen_busy", u(1));
    let taken = m.wire("gen_taken", u(1));
    let counters: Vec<_> = walk.trips.iter().enumerate().map(|(j, t)| m.reg(format!("gen_count{j}"), u(clog2(*t as u64)))).collect();
    let at_end: Vec<_> = counters.iter().zip(&walk.trips).map(|(c, t)| c.q().eq_lit(t - 1)).collect();
    let turn: Vec<_> = (0..groups).map(|g| m.reg(format!("gen_turn{g}"), u(1))).collect();
    let here = |g: &WalkGroup| {
        let tests: Vec<_> = counters.iter().zip(&g.when).filter_map(|(c, w)| w.map(|v| c.q().eq_lit(v))).collect();
        if tests.is_empty() { m.lit(1, u(1)) } else { m.all(&tests) }
    };
    let active: Vec<_> = walk.groups.iter().zip(&turn).map(|(g, t)| t.q() & here(g)).collect();
    let offered = (busy.q() & m.any(&active)).named("gen_offers");
    let moved = (busy.q() & (!m.any(&active) | taken.sig())).named("gen_moves");
    let step = (moved & turn[groups - 1].q()).named("gen_steps");
    let load = io.start | step;
    let one = m.lit(1, u(1));
    let mut inner = one;
    for j in (0..counters.len()).rev() {
        let c = counters[j];
        let zero = io.start | at_end[j];
        c.next(m.mux(zero, m.lit(0, c.q().ty()), c.q().add_lit(1))).en(io.start | (step & inner)).rst(io.rst, 0);
        inner = inner & at_end[j];
    }
    busy.next(io.start | (busy.q() & !(step & inner))).rst(io.rst, 0);
    for g in 0..groups {
        let before = turn[(g + groups - 1) % groups].q();
        let first = m.lit(u64::from(g == 0), u(1));
        turn[g].next(m.mux(io.start, first, before)).en(io.start | moved).rst(io.rst, u64::from(g == 0));
    }
    let counts: Vec<_> = counters.iter().map(|c| c.q()).collect();
    let odometer = Tiles { walk, at_end, start: io.start, load };
    let job_group: Vec<_> = (0..groups).map(|g| active[g]).collect();
    let st = stage(m, "job", io.rst, offered, job_leaves);
    taken.drive(st.ready);
    let held = |name: String, values: Vec<Sig<'m>>| hold(m, name, st.load, choose(m, &job_group, &values));
    let address = (0..groups)
        .map(|g| {
            let f = &walk.groups[g].address.start;
            let init = io.base(m, walk, &walk.groups[g]) + constant(m, f.constant, u(64));
            odometer.accumulate(m, format!("gen_address{g}"), init, f)
        })
        .collect();
    let ends = s(walk.coordinate_bits());
    let list = |role: &str, forms: Vec<Vec<RowForm>>| -> Vec<Sig<'m>> {
        let one = |(i, per_group): (usize, Vec<RowForm>)| {
            let values = per_group.iter().enumerate().map(|(g, f)| {
                odometer.accumulate(m, format!("gen_{role}{i}_{g}"), constant(m, f.start.constant, ends), &f.start)
            });
            held(format!("job_{role}{i}"), values.collect())
        };
        forms.into_iter().enumerate().map(one).collect()
    };
    let f = forms(walk);
    let slots = (0..groups).map(|g| {
        let slot = m.reg(format!("gen_slot{g}"), u(1));
        let on = if walk.groups[g].slots > 1 { st.load & active[g] } else { m.lit(0, u(1)) };
        slot.next(m.mux(io.start, m.lit(0, u(1)), !slot.q())).en(io.start | on).rst(io.rst, 0);
        slot.q()
    });
    let phase = phase_steps(m, walk, &counts).into_iter().enumerate();
    let phase = phase.map(|(g, waits)| waits.into_iter().enumerate().map(|(k, w)| hold(m, format!("job_phase{g}_{k}"), st.load, w)).collect()).collect();
    Job {
        valid: st.valid,
        phase,
        slot: held("job_slot".into(), slots.collect()),
        address: held("job_address".into(), address),
        gates: list("gate", f.gates),
        lowers: list("lower", f.lowers),
        uppers: list("upper", f.uppers),
        group: job_group.iter().enumerate().map(|(g, a)| if groups == 1 { one } else { hold(m, format!("job_group{g}"), st.load, *a) }).collect(),
    }
}

/// Per group and wait, see [`Job::phase`].
fn phase_steps<'m>(m: &'m ModuleBuilder, walk: &Walk, counts: &[Sig<'m>]) -> Vec<Vec<Sig<'m>>> {
    let zero = |of: &[Sig<'m>]| if of.is_empty() { m.lit(1, u(1)) } else { m.all(&of.iter().map(|c| !c.reduce_or()).collect::<Vec<_>>()) };
    let (phases, inner) = counts.split_at(walk.phases);
    let step = |w: &Wait| {
        let WaitUntil::Phase { emit, .. } = &w.until else { return m.lit(0, u(1)) };
        // Counter `j` of the phase before: one less where all counters within are zero now.
        let had = |(j, value): (usize, &Option<i64>)| {
            let (value, trip) = ((*value)?, walk.trips[j]);
            let borrows = zero(&phases[j + 1..]);
            Some(m.mux(borrows, phases[j].eq_lit((value + 1) % trip), phases[j].eq_lit(value)))
        };
        let known: Vec<_> = emit.iter().enumerate().filter_map(had).chain([zero(inner), !zero(phases)]).collect();
        m.all(&known)
    };
    walk.groups.iter().map(|g| g.waits.iter().map(step).collect()).collect()
}

struct Tiles<'a, 'm> {
    walk: &'a Walk,
    at_end: Vec<Sig<'m>>,
    start: Sig<'m>,
    load: Sig<'m>,
}

impl<'m> Tiles<'_, 'm> {
    /// Register with the value of `f` at the present counters.
    fn accumulate(&self, m: &'m ModuleBuilder, name: String, init: Sig<'m>, f: &Affine) -> Sig<'m> {
        let deltas = carries(&f.coeffs, &self.walk.trips);
        if f.is_constant() {
            return hold(m, name, self.start, init);
        }
        let acc = m.reg(name, init.ty());
        let delta = carry_select(m, &self.at_end, &deltas.iter().map(|d| constant(m, *d, init.ty())).collect::<Vec<_>>());
        acc.next(m.mux(self.start, init, acc.q() + delta)).en(self.load);
        acc.q()
    }
}

/// The value of the innermost digit that is not at its end.
fn carry_select<'m>(m: &'m ModuleBuilder, at_end: &[Sig<'m>], values: &[Sig<'m>]) -> Sig<'m> {
    let cases: Vec<_> = at_end.iter().zip(values).skip(1).rev().map(|(e, v)| (!*e, *v)).collect();
    m.select(&cases, values[0])
}

/// Row coordinates of one service.
pub(crate) struct Odometer<'m> {
    /// Dimensions with more than one row in some group.
    dims: Vec<usize>,
    at_end: Vec<Sig<'m>>,
    pub first: Sig<'m>,
    pub last: Sig<'m>,
    /// See [`digit_types`].
    pub digits: Vec<Sig<'m>>,
    load: Sig<'m>,
    advance: Sig<'m>,
    pub group: Vec<Sig<'m>>,
}

/// Row digits on the streams: `u<d>` for every dimension except the last, `r<d>` where some group's modulus exceeds 1.
pub(crate) fn digit_types(walk: &Walk) -> Vec<Ty> {
    let mut out = vec![];
    for d in 0..walk.groups[0].rows.len() {
        let most = |f: fn(&arch::ir::vsa::HullDim) -> i64| walk.groups.iter().map(|g| f(&g.rows[d])).max().unwrap_or(1);
        out.push(u(clog2(most(|r| r.extent) as u64)));
        if most(|r| r.modulus) > 1 {
            out.push(u(clog2(most(|r| r.modulus) as u64)));
        }
    }
    out
}

/// Row digits by dimension, taken from a list in the order of [`digit_types`].
pub(crate) fn digits<S>(walk: &Walk, flat: impl IntoIterator<Item = S>) -> Vec<Digit<S>> {
    let mut flat = flat.into_iter();
    let split = |d: usize| walk.groups.iter().any(|g| g.rows[d].modulus > 1);
    (0..walk.groups[0].rows.len()).map_while(|d| Some(Digit { u: flat.next()?, r: if split(d) { flat.next() } else { None } })).collect()
}

/// Counts rows: `load` sets it to the first row of a service of `job`'s group, `advance` moves to the next row.
pub(crate) fn odometer<'m>(
    m: &'m ModuleBuilder, name: &str, walk: &Walk, job: &Job<'m>, load: Sig<'m>, advance: Sig<'m>, with_digits: bool,
) -> Odometer<'m> {
    let one = m.lit(1, u(1));
    let hold_group = |(g, v): (usize, &Sig<'m>)| if walk.groups.len() == 1 { one } else { hold(m, format!("{name}_group{g}"), load, *v) };
    let group: Vec<_> = job.group.iter().enumerate().map(hold_group).collect();
    let lengths: Vec<Vec<i64>> = walk.groups.iter().map(|g| g.lengths()).collect();
    let dims: Vec<usize> = (0..walk.groups[0].rows.len()).filter(|&d| lengths.iter().any(|l| l[d] > 1)).collect();
    let per = |f: &dyn Fn(usize) -> i64| (0..lengths.len()).map(f).collect::<Vec<_>>();
    let mut at_end = vec![one; dims.len()];
    let mut digits: Vec<(usize, Vec<Sig<'m>>)> = vec![];
    let mut inner = one;
    for (k, &d) in dims.iter().enumerate().rev() {
        let step = advance & inner;
        let ty = u(clog2(lengths.iter().map(|l| l[d]).max().unwrap_or(1) as u64));
        let ends = |g: &[Sig<'m>]| (choose_lit(m, g, &per(&|g| lengths[g][d] - 1), ty), choose_lit(m, g, &per(&|g| i64::from(lengths[g][d] == 1)), u(1)));
        let ((new_left, new_end), (old_left, old_end)) = (ends(&job.group), ends(&group));
        let (left, end) = (m.reg(format!("{name}_left{d}"), ty), m.reg(format!("{name}_end{d}"), u(1)));
        left.next(m.mux(load, new_left, m.mux(end.q(), old_left, left.q().sub_lit(1)))).en(load | step);
        end.next(m.mux(load, new_end, m.mux(end.q(), old_end, left.q().eq_lit(1)))).en(load | step);
        if with_digits {
            digits.push((d, digit(m, name, walk, d, &group, load, step, end.q())));
        }
        at_end[k] = end.q();
        inner = inner & end.q();
    }
    let digits = (0..walk.groups[0].rows.len()).flat_map(|d| {
        let found = digits.iter().find(|x| x.0 == d).map(|x| x.1.clone());
        found.unwrap_or_else(|| vec![m.lit(0, u(1))])
    });
    let first = m.reg(format!("{name}_first"), u(1));
    first.next(load).en(load | advance);
    let digits = if with_digits { digits.collect() } else { vec![] };
    Odometer { dims, at_end, first: first.q(), last: inner, digits, load, advance, group }
}

/// `y = modulus * u + r` as the digits u and r (u alone where the modulus is 1 in every group).
#[allow(clippy::too_many_arguments)]
fn digit<'m>(
    m: &'m ModuleBuilder, name: &str, walk: &Walk, d: usize, group: &[Sig<'m>], load: Sig<'m>, step: Sig<'m>, end: Sig<'m>,
) -> Vec<Sig<'m>> {
    let most = |f: fn(&arch::ir::vsa::HullDim) -> i64| walk.groups.iter().map(|g| f(&g.rows[d])).max().unwrap_or(1) as u64;
    let (ut, rt) = (u(clog2(most(|r| r.extent))), u(clog2(most(|r| r.modulus))));
    let high = m.reg(format!("{name}_u{d}"), ut);
    let zero = load | end;
    if most(|r| r.modulus) == 1 {
        high.next(m.mux(zero, m.lit(0, ut), high.q().add_lit(1))).en(load | step);
        return vec![high.q()];
    }
    let low = m.reg(format!("{name}_r{d}"), rt);
    let ends: Vec<i64> = walk.groups.iter().map(|g| g.rows[d].modulus - 1).collect();
    let wrap = low.q().eq(choose_lit(m, group, &ends, rt));
    low.next(m.mux(zero | wrap, m.lit(0, rt), low.q().add_lit(1))).en(load | step);
    high.next(m.mux(zero, m.lit(0, ut), high.q().add_lit(1))).en(load | (step & (zero | wrap)));
    vec![high.q(), low.q()]
}

impl<'m> Odometer<'m> {
    /// Register with the value of the group's form at the present row; `init` is its value at the first.
    pub fn accumulate(&self, m: &'m ModuleBuilder, name: String, init: Sig<'m>, walk: &Walk, forms: &[&RowForm]) -> Sig<'m> {
        let deltas: Vec<Vec<i64>> = forms.iter().zip(&walk.groups).map(|(f, g)| f.row_carries(&g.lengths())).collect();
        if self.dims.is_empty() || forms.iter().all(|f| self.dims.iter().all(|&d| f.rows[d] == 0)) {
            return hold(m, name, self.load, init);
        }
        let acc = m.reg(name, init.ty());
        let values: Vec<_> =
            self.dims.iter().map(|&d| choose_lit(m, &self.group, &deltas.iter().map(|x| x[d]).collect::<Vec<_>>(), init.ty())).collect();
        let delta = carry_select(m, &self.at_end, &values);
        acc.next(m.mux(self.load, init, acc.q() + delta)).en(self.load | self.advance);
        acc.q()
    }
}

/// A row on its way to the segment stage and to the data side.
#[derive(Clone)]
pub(crate) struct Row<'m> {
    pub group: Vec<Sig<'m>>,
    pub slot: Sig<'m>,
    pub first: Sig<'m>,
    pub last: Sig<'m>,
    pub digits: Vec<Sig<'m>>,
    /// Element offset of local element 0 in its bus word.
    pub shift: Option<Sig<'m>>,
    /// Something of the row is transferred: elements `from ..= to`, counted from the start of the word of local element 0.
    pub any: Sig<'m>,
    pub from: Sig<'m>,
    pub to: Sig<'m>,
    /// Byte address of element `from`.
    pub address: Sig<'m>,
}

/// Beats of a row, counted from the word of local element 0.
pub(crate) fn beat_of<'m>(walk: &Walk, position: Sig<'m>) -> Sig<'m> {
    let low = walk.word.trailing_zeros();
    position.slice(low, position.w() - low)
}

/// Bits of an element position within a row's virtual beats.
pub(crate) fn position_bits(walk: &Walk) -> u32 {
    let words = walk.groups.iter().map(|g| g.words).max().unwrap_or(1) as u64;
    clog2(words + 1) + walk.word.trailing_zeros()
}

/// The row walker and the trim stages. Returns the row stage and its payload, and whether the walker accepts a service.
pub(crate) fn rows<'m>(
    m: &'m ModuleBuilder, walk: &Walk, rst: Sig<'m>, job: &Job<'m>, go: Sig<'m>, row_leaves: Sig<'m>, digits: bool,
) -> (Stage<'m>, Row<'m>, Sig<'m>) {
    let walk_ready = m.wire("walk_next", u(1));
    let valid = m.reg("walk_valid", u(1));
    let advance = (valid.q() & walk_ready.sig()).named("walk_advances");
    let odo = odometer(m, "walk", walk, job, go, advance, digits);
    let done = (advance & odo.last).named("walk_ends");
    valid.next(go).en(go | done).rst(rst, 0);
    let all = forms(walk);
    let list = |role: &str, forms: &[Vec<RowForm>], starts: &[Sig<'m>]| -> Vec<Sig<'m>> {
        let one = |(i, (f, init)): (usize, (&Vec<RowForm>, &Sig<'m>))| {
            odo.accumulate(m, format!("walk_{role}{i}"), *init, walk, &f.iter().collect::<Vec<_>>())
        };
        forms.iter().zip(starts).enumerate().map(one).collect()
    };
    let address: Vec<_> = walk.groups.iter().map(|g| &g.address).collect();
    let address = odo.accumulate(m, "walk_address".into(), job.address, walk, &address);
    let (gates, lowers, uppers) = (list("gate", &all.gates, &job.gates), list("lower", &all.lowers, &job.lowers), list("upper", &all.uppers, &job.uppers));
    let ends = s(walk.coordinate_bits());
    let open = if gates.is_empty() { m.lit(1, u(1)) } else { !m.any(&gates.iter().map(|g| g.msb()).collect::<Vec<_>>()) };
    let elements: Vec<i64> = walk.groups.iter().map(|g| g.elements).collect();
    let mut meta = odo.group.clone();
    meta.push(hold(m, "walk_slot", go, job.slot));
    meta.extend([odo.first, odo.last]);
    meta.extend(&odo.digits);
    let mut flow = Trim {
        valid: valid.q(),
        open,
        address,
        meta: pack(m, &meta),
        low: m.lit(0, ends),
        high: choose_lit(m, &odo.group, &elements, ends),
        lowers,
        uppers,
    };
    let stages = walk.trim_stages();
    let mut next = walk_ready;
    for k in 1..=stages {
        let leaves = m.wire(format!("trim{k}_next"), u(1));
        let st = stage(m, &format!("trim{k}"), rst, flow.valid, leaves.sig());
        next.drive(st.ready);
        flow = flow.through(m, k, &st);
        next = leaves;
    }
    let st = stage(m, "row", rst, flow.valid, row_leaves);
    next.drive(st.ready);
    let row = flow.finish(m, walk, &st, &meta);
    (st, row, !valid.q() | done)
}

struct Trim<'m> {
    valid: Sig<'m>,
    open: Sig<'m>,
    address: Sig<'m>,
    meta: Sig<'m>,
    low: Sig<'m>,
    high: Sig<'m>,
    lowers: Vec<Sig<'m>>,
    uppers: Vec<Sig<'m>>,
}

impl<'m> Trim<'m> {
    fn through(self, m: &'m ModuleBuilder, k: usize, st: &Stage<'m>) -> Trim<'m> {
        let reg = |name: &str, v: Sig<'m>| hold(m, format!("trim{k}_{name}"), st.load, v);
        let low = self.lowers.first().map_or(self.low, |l| m.mux(l.gt(self.low), *l, self.low));
        let high = self.uppers.first().map_or(self.high, |h| m.mux(h.lt(self.high), *h, self.high));
        let rest = |role: &str, v: &[Sig<'m>]| v.iter().skip(1).enumerate().map(|(i, x)| reg(&format!("{role}{i}"), *x)).collect();
        Trim {
            valid: st.valid,
            open: reg("open", self.open),
            address: reg("address", self.address),
            meta: reg("meta", self.meta),
            low: reg("low", low),
            high: reg("high", high),
            lowers: rest("lower", &self.lowers),
            uppers: rest("upper", &self.uppers),
        }
    }

    fn finish(self, m: &'m ModuleBuilder, walk: &Walk, st: &Stage<'m>, meta: &[Sig<'m>]) -> Row<'m> {
        let reg = |name: &str, v: Sig<'m>| hold(m, format!("row_{name}"), st.load, v);
        let bits = position_bits(walk);
        let shift = shift_bits(walk, self.address);
        let offset = |v: Sig<'m>| {
            let v = v.unsigned().resize(bits);
            shift.map_or(v, |s| v + s.extend(bits))
        };
        let low_bytes = self.low.unsigned().resize(64).named("row_skips").shl_const(walk.bytes.trailing_zeros());
        let types: Vec<Ty> = meta.iter().map(|s| s.ty()).collect();
        let mut parts = unpack(reg("meta", self.meta), &types).into_iter();
        let one = m.lit(1, u(1));
        let group: Vec<_> = parts.by_ref().take(walk.groups.len()).collect();
        let mut part = || parts.next().unwrap_or_else(|| m.wire("missing_part", u(1)).sig());
        let (slot, first, last) = (part(), part(), part());
        Row {
            group: if walk.groups.len() == 1 { vec![one] } else { group },
            slot,
            first,
            last,
            digits: parts.collect(),
            shift: shift.map(|s| reg("shift", s)),
            any: reg("any", self.open & self.low.lt(self.high)),
            from: reg("from", offset(self.low)),
            to: reg("to", offset(self.high.sub_lit(1))),
            address: reg("address", self.address + low_bytes),
        }
    }
}

/// Registers of an AXI address channel.
pub(crate) struct Channel<'m> {
    pub valid: Sig<'m>,
    /// In beats.
    pub beat: Sig<'m>,
    pub len: Sig<'m>,
    /// `len` of the burst that goes there next.
    pub next: Sig<'m>,
}

/// Cuts rows into bursts: they wait until `allowed`, and are dropped where `unless` is set. Returns whether a row is accepted,
/// the address channel, and whether a burst goes there.
#[allow(clippy::too_many_arguments)]
pub(crate) fn segments<'m>(
    m: &'m ModuleBuilder, walk: &Walk, rst: Sig<'m>, offered: Sig<'m>, row: &Row<'m>, channel_ready: Sig<'m>, allowed: Sig<'m>, unless: Sig<'m>,
) -> (Sig<'m>, Channel<'m>, Sig<'m>) {
    let bus = walk.bus_bytes().trailing_zeros();
    let window = (walk.burst_beats() as u64).trailing_zeros().max(1);
    let leaves = m.wire("seg_leaves", u(1));
    let st = stage(m, "seg", rst, offered, leaves.sig());
    let left_bits = (position_bits(walk) - walk.word.trailing_zeros()).max(window);
    let (beat, left) = (m.reg("seg_beat", u(64 - bus)), m.reg("seg_left", u(left_bits)));
    let space = (!beat.q().slice(0, window)).extend(left_bits).named("seg_space");
    let is_last = left.q().le(space).named("seg_last");
    let channel = m.reg("channel_valid", u(1));
    let free = (!channel.q() | channel_ready).named("channel_free");
    channel.next(st.valid & allowed & !unless).en(free).rst(rst, 0);
    leaves.drive(free & allowed & is_last);
    let page = beat.q().slice(window, 64 - bus - window).add_lit(1);
    let next_beat = m.concat(&[page, m.lit(0, u(window))]);
    let burst = (st.valid & free & allowed).named("channel_load");
    let new_left = (beat_of(walk, row.to) - beat_of(walk, row.from)).extend(left_bits);
    beat.next(m.mux(st.load, row.address.slice(bus, 64 - bus), next_beat)).en(st.load | burst);
    left.next(m.mux(st.load, new_left, left.q() - space.add_lit(1))).en(st.load | burst);
    let len = m.mux(is_last, left.q(), space).resize(8).named("seg_len");
    let channel = Channel { valid: channel.q(), beat: hold(m, "channel_beat", burst, beat.q()), len: hold(m, "channel_len", burst, len), next: len };
    (st.ready, channel, burst)
}

/// Drives the ports of an address channel.
pub(crate) fn drive_channel<'m>(m: &'m ModuleBuilder, walk: &Walk, ports: &AxiAddress<Port>, c: &Channel<'m>) {
    let low = m.lit(0, u(walk.bus_bytes().trailing_zeros()));
    let constant = |port: &Port, value: u32| port.output(m, m.lit(value, port.ty));
    constant(&ports.id, 0);
    ports.addr.output(m, m.concat(&[c.beat, low]));
    ports.len.output(m, c.len);
    constant(&ports.size, walk.bus_bytes().trailing_zeros());
    // Incrementing; modifiable and bufferable.
    constant(&ports.burst, 1);
    constant(&ports.lock, 0);
    constant(&ports.cache, 3);
    constant(&ports.prot, 0);
    constant(&ports.qos, 0);
    ports.valid.output(m, c.valid);
}
