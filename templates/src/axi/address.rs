//! Address generation of both DMA engines: services → rows → bursts.
//!
//! A *service* is one load or drain of an I/O group. It moves a box of an array (the footprint of a tile) row by row. A
//! row is contiguous in DRAM and becomes one or several INCR bursts of full-width beats. No burst crosses a 4 KiB
//! boundary or has more than 256 beats: rows are cut at multiples of [`Walk::burst_beats`].
//!
//! ```text
//! generator ─► job ─► row walker ─► trim 1..K ─► row ─► segment ─► AR or AW channel
//!  (tile       (1)    (1 row/cycle)  (row ends)    └─► row descriptor (FIFO to the data side)
//!   counters)
//! ```
//! Every arrow is one register stage with valid/ready ([`super::elastic::stage`]).
//!
//! - The generator ([`super::services`]) counts tiles and emits services.
//! - The row walker is an odometer over the rows of a service. The offset of a row from the base of its array and the
//!   ends of the row are affine in its coordinates, so each is an accumulator that adds one constant per row. There are
//!   no multipliers.
//! - Trim stage `k` takes the `k`-th lower and upper end into account. The elements `low..high` that remain lie in the
//!   array. A row transfers nothing if `low >= high` or one of its gates is negative.
//! - The row stage checks that the remaining bytes lie in `0..extent`, the array at the greatest sizes, and in front of
//!   the length that the host gives, if it gives one. If registers hold garbage, they may not: such a row transfers
//!   nothing and is reported (`outside`).
//! - The segment stage adds the base address and emits one burst per cycle.
//!
//! Invariant: no burst touches a word outside of the array, whatever the registers hold. Offsets have only the bits that
//! an offset in the array needs ([`Walk::offset_bits`]) and wrap; the check sees the offset that is used. `low..high` is
//! a part of `0..elements`, because `low` starts at 0 and only grows, `high` starts at `elements` and only falls.
//!
//! Timing: a service enters the walker in cycle `go`, when its credits allow. Its row `i` is in the walker in cycle
//! `go + 1 + i` and in `row` K + 1 cycles later. Its first address is on the channel 2 cycles after it left `row`.
//!
//! *Virtual beats* of a row are its bus words, transferred or not, counted from the one with local element 0.

use super::bundle::AxiAddress;
use super::clients::Clients;
use super::elastic::{hold, pack, stage, unpack, Fields, Fifo, Ready, ReadyWire, Skid, Stage};
use super::services::{self, carry_select, shift_bits, Job, Start};
use crate::port::Port;
use crate::stream::Digit;
use array::contract::steps::Steps;
use array::contract::walk::{RowForm, Walk};
use rtl::{clog2, s, u, ModuleBuilder, Sig, Ty, Wire};
use uniform::sizes::Formula;

/// Counters over the rows of one service.
pub(crate) struct Odometer<'m> {
    /// Dimensions with more than one row in some group, outermost first.
    dims: Vec<usize>,
    at_end: Vec<Sig<'m>>,
    pub first: Sig<'m>,
    pub last: Sig<'m>,
    /// In the order of [`digit_types`].
    pub digits: Vec<Sig<'m>>,
    load: Sig<'m>,
    advance: Sig<'m>,
    /// See [`Clients`].
    pub client: Vec<Sig<'m>>,
}

/// Types of the row digits on the streams: `u<d>` for every dimension except the last, then `r<d>` if the modulus of
/// some group exceeds 1.
pub(crate) fn digit_types(walk: &Walk) -> Vec<Ty> {
    let mut out = vec![];
    for d in 0..walk.groups[0].rows.len() {
        let most =
            |f: fn(&array::vsa::FootprintDim) -> i64| walk.groups.iter().map(|g| f(&g.rows[d])).max().unwrap_or(1);
        out.push(u(clog2(most(|r| r.extent) as u64)));
        if most(|r| r.modulus) > 1 {
            out.push(u(clog2(most(|r| r.modulus) as u64)));
        }
    }
    out
}

/// Groups a list in the order of [`digit_types`] by dimension.
pub(crate) fn digits<S>(walk: &Walk, flat: impl IntoIterator<Item = S>) -> Vec<Digit<S>> {
    let mut flat = flat.into_iter();
    let split = |d: usize| walk.groups.iter().any(|g| g.rows[d].modulus > 1);
    (0..walk.groups[0].rows.len())
        .map_while(|d| Some(Digit { u: flat.next()?, r: if split(d) { flat.next() } else { None } }))
        .collect()
}

/// Builds the row counters: `load` goes to the first row of `job`, `advance` to the next row.
pub(crate) fn odometer<'m>(
    m: &'m ModuleBuilder,
    name: &str,
    (walk, clients): (&Walk, &Clients<'m>),
    job: &Job<'m>,
    load: Sig<'m>,
    advance: Sig<'m>,
    with_digits: bool,
) -> Odometer<'m> {
    let one = m.lit(1, u(1));
    let hold_client = |(k, v): (usize, &Sig<'m>)| {
        if job.client.len() == 1 {
            one
        } else {
            hold(m, format!("{name}_client{k}"), load, *v)
        }
    };
    let client: Vec<_> = job.client.iter().enumerate().map(hold_client).collect();
    let lengths: Vec<Vec<i64>> = walk.groups.iter().map(|g| g.lengths()).collect();
    let dims: Vec<usize> = (0..walk.groups[0].rows.len()).filter(|&d| lengths.iter().any(|l| l[d] > 1)).collect();
    let mut at_end = vec![one; dims.len()];
    let mut digits: Vec<(usize, Vec<Sig<'m>>)> = vec![];
    let mut inner = one;
    for (k, &d) in dims.iter().enumerate().rev() {
        let step = advance & inner;
        let ty = u(clog2(lengths.iter().map(|l| l[d]).max().unwrap_or(1) as u64));
        let lasts: Vec<Formula> = walk.groups.iter().map(|g| g.ends[d].clone()).collect();
        let ends = |client: &[Sig<'m>]| (clients.number(client, &lasts, ty), clients.is_zero(client, &lasts, ty));
        let ((new_left, new_end), (old_left, old_end)) = (ends(&job.client), ends(&client));
        let (left, end) = (m.reg(format!("{name}_left{d}"), ty), m.reg(format!("{name}_end{d}"), u(1)));
        left.next(m.mux(load, new_left, m.mux(end.q(), old_left, left.q().sub_lit(1)))).en(load | step);
        end.next(m.mux(load, new_end, m.mux(end.q(), old_end, left.q().eq_lit(1)))).en(load | step);
        if with_digits {
            digits.push((d, digit(m, name, (walk, clients), d, &client, Count { load, step, end: end.q() })));
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
    Odometer { dims, at_end, first: first.q(), last: inner, digits, load, advance, client }
}

/// Control signals of a counter: it starts at 0, counts, is at its last value.
struct Count<'m> {
    load: Sig<'m>,
    step: Sig<'m>,
    end: Sig<'m>,
}

/// Counts coordinate `y = modulus * u + r` as the digits u and r; u alone if the modulus is 1 in every group.
fn digit<'m>(
    m: &'m ModuleBuilder,
    name: &str,
    (walk, clients): (&Walk, &Clients<'m>),
    d: usize,
    client: &[Sig<'m>],
    count: Count<'m>,
) -> Vec<Sig<'m>> {
    let Count { load, step, end } = count;
    let most =
        |f: fn(&array::vsa::FootprintDim) -> i64| walk.groups.iter().map(|g| f(&g.rows[d])).max().unwrap_or(1) as u64;
    let (ut, rt) = (u(clog2(most(|r| r.extent))), u(clog2(most(|r| r.modulus))));
    let high = m.reg(format!("{name}_u{d}"), ut);
    let zero = load | end;
    if most(|r| r.modulus) == 1 {
        high.next(m.mux(zero, m.lit(0, ut), high.q().add_lit(1))).en(load | step);
        return vec![high.q()];
    }
    let low = m.reg(format!("{name}_r{d}"), rt);
    let wrap = low.q().eq(clients.lit(walk, client, |g| g.rows[d].modulus - 1, rt));
    low.next(m.mux(zero | wrap, m.lit(0, rt), low.q().add_lit(1))).en(load | step);
    high.next(m.mux(zero, m.lit(0, ut), high.q().add_lit(1))).en(load | (step & (zero | wrap)));
    vec![high.q(), low.q()]
}

impl<'m> Odometer<'m> {
    /// Accumulator of a form, one per group: its value at the present row. `init` is the value at the first row.
    pub fn accumulate(
        &self,
        m: &'m ModuleBuilder,
        name: String,
        init: Sig<'m>,
        clients: &Clients<'m>,
        forms: &[Steps],
    ) -> Sig<'m> {
        if self.dims.is_empty() || forms.iter().all(|f| self.dims.iter().all(|&d| f.rows[d] == Formula::Const(0))) {
            return hold(m, name, self.load, init);
        }
        let acc = m.reg(name, init.ty());
        let values: Vec<_> = self
            .dims
            .iter()
            .map(|&d| {
                let rows: Vec<Formula> = forms.iter().map(|f| f.rows[d].clone()).collect();
                clients.number(&self.client, &rows, init.ty())
            })
            .collect();
        let delta = carry_select(m, &self.at_end, &values);
        acc.next(m.mux(self.load, init, acc.q() + delta)).en(self.load | self.advance);
        acc.q()
    }
}

/// A row descriptor.
#[derive(Clone)]
pub(crate) struct Row<'m> {
    /// See [`Clients`].
    pub client: Vec<Sig<'m>>,
    /// See [`rows`].
    pub slot: Sig<'m>,
    pub first: Sig<'m>,
    pub last: Sig<'m>,
    pub digits: Vec<Sig<'m>>,
    /// Element offset of local element 0 in its bus word.
    pub shift: Option<Sig<'m>>,
    /// The row transfers elements `from ..= to`, counted from the start of the bus word with local element 0.
    pub any: Sig<'m>,
    pub from: Sig<'m>,
    pub to: Sig<'m>,
    /// Byte offset of element `from` from the base of the array.
    pub offset: Sig<'m>,
    /// Low bits of its address, see [`Side`].
    pub low_address: Sig<'m>,
}

/// What differs between the rows of a reader and of a writer.
pub(crate) struct Side<'a> {
    /// Pulse: a row is left out.
    pub outside: &'a Port,
    /// The row digits are needed.
    pub digits: bool,
    /// Number of the low bits of an address that the data side needs.
    pub low_bits: u32,
}

impl<'m> Row<'m> {
    /// Last virtual beat.
    pub fn last_beat(&self, walk: &Walk, clients: &Clients<'m>) -> Sig<'m> {
        let ty = beat_of(walk, self.to).ty();
        let end = clients.lit(walk, &self.client, |g| g.words - 1, ty);
        self.shift.map_or(end, |s| end + s.reduce_or().extend(ty.w))
    }
}

/// The row stage's row leaves, driven by [`issue`].
pub(crate) struct RowLeaves<'m> {
    row: ReadyWire<'m>,
    /// The segment stage's row leaves: the end of the pipeline of addresses.
    late: Wire<'m>,
}

impl<'m> RowLeaves<'m> {
    pub fn new(m: &'m ModuleBuilder) -> Self {
        let late = m.wire("seg_leaves", u(1));
        RowLeaves { row: ReadyWire::new(m, "row_next", late.sig()), late }
    }
    /// A wire of a stage in front of the row stage.
    pub fn before(&self, m: &'m ModuleBuilder, name: &str) -> ReadyWire<'m> {
        ReadyWire::new(m, name, self.late.sig())
    }
}

/// Row descriptors that wait for the data side.
pub(crate) struct Queue<'m, D> {
    pub valid: Sig<'m>,
    /// It holds a descriptor.
    pub some: Sig<'m>,
    pub head: D,
    pub pop: Wire<'m>,
}

/// Forks each row to the address channel and to the data side. A row leaves its stage (`next`) when both have room.
/// `descriptor` is what the data side needs of the row; `queue(data, push, pop)` builds the FIFO for it.
pub(crate) fn issue<'m, D: Fields<'m>>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    io: &Start<'m>,
    (stage, row, next): (Stage<'m>, Row<'m>, RowLeaves<'m>),
    gate: BurstGate<'m>,
    descriptor: D,
    queue: impl FnOnce(Sig<'m>, Sig<'m>, Sig<'m>) -> Fifo<'m>,
) -> (Queue<'m, D>, Channel<'m>) {
    let (pop, room) = (m.wire("desc_pop", u(1)), m.wire("desc_room", u(1)));
    let offered = (stage.valid & row.any & room.sig()).called("row_offered");
    let (accepted, channel) = segments(m, walk, io, (offered, &row, next.late), gate);
    let leaves = accepted.or(!row.any).and(room.sig());
    next.row.drive(leaves);
    let leaves = leaves.sig().named("row_leaves");
    let queue = queue(descriptor.packed(m), stage.valid & leaves, pop.sig());
    room.drive(queue.room);
    (Queue { valid: queue.valid, some: queue.some, head: descriptor.unpacked(queue.head), pop }, channel)
}

/// Virtual beat of an element position.
pub(crate) fn beat_of<'m>(walk: &Walk, position: Sig<'m>) -> Sig<'m> {
    let low = walk.word.trailing_zeros();
    position.slice(low, position.w() - low)
}

/// Bits of an element position in the virtual beats of a row.
pub(crate) fn position_bits(walk: &Walk) -> u32 {
    let words = walk.groups.iter().map(|g| g.words).max().unwrap_or(1) as u64;
    clog2(words + 1) + walk.word.trailing_zeros()
}

/// The row walker and the trim stages. `mark` goes with the rows of the job: a reader's slot, or whether it is the last drain
/// of a run. Returns the row stage, its payload, and the state of the walker.
pub(crate) fn rows<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    io: &Start<'m>,
    (job, mark): (&Job<'m>, Sig<'m>),
    go: Sig<'m>,
    row_leaves: &RowLeaves<'m>,
    side: Side,
) -> (Stage<'m>, Row<'m>, Walker<'m>) {
    let rst = io.rst;
    let walk_ready = row_leaves.before(m, "walk_next");
    let next = walk_ready.ready();
    let valid = m.reg("walk_valid", u(1));
    let advance = (valid.q() & next.sig()).named("walk_advances");
    let odo = odometer(m, "walk", (walk, &io.clients), job, go, advance, side.digits);
    let done = (advance & odo.last).named("walk_ends");
    valid.next(go).en(go | done).rst(rst, 0);
    let all = walk.forms();
    let list = |role: &str, forms: &[Vec<RowForm>], starts: &[Sig<'m>]| -> Vec<Sig<'m>> {
        let one = |(i, (f, init)): (usize, (&Vec<RowForm>, &Sig<'m>))| {
            let steps: Vec<Steps> = f.iter().zip(&walk.groups).map(|(f, g)| walk.steps(g, f, None)).collect();
            odo.accumulate(m, format!("walk_{role}{i}"), *init, &io.clients, &steps)
        };
        forms.iter().zip(starts).enumerate().map(one).collect()
    };
    let offset: Vec<Steps> = walk.groups.iter().map(|g| walk.address_steps(g, None)).collect();
    let offset = odo.accumulate(m, "walk_offset".into(), job.offset, &io.clients, &offset);
    let (gates, lowers, uppers) = (
        list("gate", &all.gates, &job.gates),
        list("lower", &all.lowers, &job.lowers),
        list("upper", &all.uppers, &job.uppers),
    );
    let ends = s(walk.end_bits());
    let open =
        if gates.is_empty() { m.lit(1, u(1)) } else { !m.any(&gates.iter().map(|g| g.msb()).collect::<Vec<_>>()) };
    let mut meta = odo.client.clone();
    meta.push(hold(m, "walk_slot", go, mark));
    meta.extend([odo.first, odo.last]);
    meta.extend(&odo.digits);
    let flow = Trim {
        valid: valid.q(),
        open,
        offset,
        low_address: services::low_address(m, walk, io, (&odo.client, offset), side.low_bits),
        meta: pack(m, &meta),
        low: m.lit(0, ends),
        high: io.clients.lit(walk, &odo.client, |g| g.elements, ends),
        lowers,
        uppers,
    };
    let (stage, row, trims) = flow.stages(m, walk, io, (walk_ready, row_leaves), &meta, side.outside);
    let stages = [vec![valid.q(), stage.valid], trims].concat();
    (stage, row, Walker { free: next.and(odo.last).or(!valid.q()), stages })
}

/// State of the row walker.
pub(crate) struct Walker<'m> {
    /// It accepts a service.
    pub free: Ready<'m>,
    /// 1 while a row is there: the walker and the stages behind it.
    pub stages: Vec<Sig<'m>>,
}

/// A row between two trim stages: elements `low..high` so far, and the ends that are still to be applied.
struct Trim<'m> {
    valid: Sig<'m>,
    open: Sig<'m>,
    /// Of local element 0.
    offset: Sig<'m>,
    low_address: Sig<'m>,
    meta: Sig<'m>,
    low: Sig<'m>,
    high: Sig<'m>,
    lowers: Vec<Sig<'m>>,
    uppers: Vec<Sig<'m>>,
}

impl<'m> Trim<'m> {
    /// All trim stages and the row stage; `first`: the first one is ready, `last`: the row leaves.
    fn stages(
        mut self,
        m: &'m ModuleBuilder,
        walk: &Walk,
        io: &Start<'m>,
        (first, last): (ReadyWire<'m>, &RowLeaves<'m>),
        meta: &[Sig<'m>],
        outside: &Port,
    ) -> (Stage<'m>, Row<'m>, Vec<Sig<'m>>) {
        let (rst, mut next, mut trims) = (io.rst, first, vec![]);
        for k in 1..=walk.trim_stages {
            let leaves = last.before(m, &format!("trim{k}_next"));
            let st = stage(m, &format!("trim{k}"), rst, self.valid, leaves.ready());
            next.drive(st.ready);
            self = self.stage(m, k, &st);
            trims.push(st.valid);
            next = leaves;
        }
        let st = stage(m, "row", rst, self.valid, last.row.ready());
        next.drive(st.ready);
        let (row, left_out) = self.finish(m, walk, io, &st, meta);
        let leaves = st.valid & last.row.sig();
        outside.output(m, m.reg("row_outside", u(1)).next(leaves & left_out).rst(rst, 0).q());
        (st, row, trims)
    }

    /// Stage `k`: applies the first lower and upper end.
    fn stage(self, m: &'m ModuleBuilder, k: usize, st: &Stage<'m>) -> Trim<'m> {
        let reg = |name: &str, v: Sig<'m>| hold(m, format!("trim{k}_{name}"), st.load, v);
        let low = self.lowers.first().map_or(self.low, |l| m.mux(l.gt(self.low), *l, self.low));
        let high = self.uppers.first().map_or(self.high, |h| m.mux(h.lt(self.high), *h, self.high));
        let rest = |role: &str, v: &[Sig<'m>]| {
            v.iter().skip(1).enumerate().map(|(i, x)| reg(&format!("{role}{i}"), *x)).collect()
        };
        Trim {
            valid: st.valid,
            open: reg("open", self.open),
            offset: reg("offset", self.offset),
            low_address: reg("low_address", self.low_address),
            meta: reg("meta", self.meta),
            low: reg("low", low),
            high: reg("high", high),
            lowers: rest("lower", &self.lowers),
            uppers: rest("upper", &self.uppers),
        }
    }

    /// The row stage: turns `low..high` into positions and an offset. Returns also whether the row is left out because
    /// it is not in its array.
    fn finish(
        self,
        m: &'m ModuleBuilder,
        walk: &Walk,
        io: &Start<'m>,
        st: &Stage<'m>,
        meta: &[Sig<'m>],
    ) -> (Row<'m>, Sig<'m>) {
        let reg = |name: &str, v: Sig<'m>| hold(m, format!("row_{name}"), st.load, v);
        let bits = position_bits(walk);
        let shift = shift_bits(walk, self.low_address);
        let offset = |v: Sig<'m>| {
            let v = v.unsigned().resize(bits);
            shift.map_or(v, |s| v + s.extend(bits))
        };
        // Signed, one bit more: an offset in the array, and one after it.
        let wide = walk.offset_bits() + 1;
        let bytes = |v: Sig<'m>, w: u32| v.unsigned().resize(w).shl_const(walk.bytes.trailing_zeros());
        let [start, end] = [(self.low, "row_start"), (self.high, "row_end")]
            .map(|(v, name)| (self.offset.extend(wide) + bytes(v, wide).signed()).named(name));
        let low_address = self.low_address + bytes(self.low, self.low_address.w());
        let types: Vec<Ty> = meta.iter().map(|s| s.ty()).collect();
        let mut parts = unpack(reg("meta", self.meta), &types).into_iter();
        let one = m.lit(1, u(1));
        let clients = io.clients.count();
        let client: Vec<_> = parts.by_ref().take(clients).collect();
        let mut part = || parts.next().unwrap_or_else(|| m.wire("missing_part", u(1)).sig());
        let (slot, first, last) = (part(), part(), part());
        let of = &unpack(self.meta, &types)[..clients];
        let extents: Vec<Formula> = walk.groups.iter().map(|g| g.extent.clone()).collect();
        let inside = !start.msb() & end.le(io.clients.number(of, &extents, end.ty()));
        let inside = io.holds(m, walk, of, end).map_or(inside, |holds| inside & holds).named("row_inside");
        // Two registers: the comparison with the array's end is the longer path.
        let (some, within) = (reg("some", self.open & self.low.lt(self.high)), reg("within", inside));
        let row = Row {
            client: if clients == 1 { vec![one] } else { client },
            slot,
            first,
            last,
            digits: parts.collect(),
            shift: shift.map(|s| reg("shift", s)),
            any: (some & within).called("row_any"),
            from: reg("from", offset(self.low)),
            to: reg("to", offset(self.high.sub_lit(1))),
            offset: reg("offset", start.truncate(wide - 2).unsigned()),
            low_address: reg("low_address", low_address),
        };
        (row, some & !within)
    }
}

/// Payload of an AXI address channel.
pub(crate) struct Channel<'m> {
    pub valid: Sig<'m>,
    /// Address in beats.
    pub beat: Sig<'m>,
    pub len: Sig<'m>,
    /// A row waits to become bursts.
    pub waits: Sig<'m>,
    /// A burst enters the channel's skid buffer in this cycle, with `pushed_len`.
    pub pushed: Sig<'m>,
    pub pushed_len: Sig<'m>,
}

impl<'m> Channel<'m> {
    /// A burst begins: its address is offered for the first cycle.
    pub fn begins(&self, m: &'m ModuleBuilder, ready: Sig<'m>, forget: Sig<'m>) -> Sig<'m> {
        let waiting = m.reg("address_waits", u(1));
        waiting.next(self.valid & !ready).rst(forget, 0);
        (self.valid & !waiting.q()).named("addressed")
    }
}

/// Conditions of the address channel: `ready` of the bus, new bursts are `allowed`, bursts not yet offered are dropped,
/// and the reset.
pub(crate) struct BurstGate<'m> {
    pub ready: Sig<'m>,
    pub allowed: Sig<'m>,
    pub drop: Option<Sig<'m>>,
    pub forget: Sig<'m>,
}

/// The segment stage: cuts rows into bursts. Returns whether a row is accepted, and the address channel.
fn segments<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    io: &Start<'m>,
    (offered, row, leaves): (Sig<'m>, &Row<'m>, Wire<'m>),
    gate: BurstGate<'m>,
) -> (Ready<'m>, Channel<'m>) {
    let BurstGate { ready, allowed, drop, forget } = gate;
    let bus = walk.bus_bytes().trailing_zeros();
    let window = (walk.burst_beats() as u64).trailing_zeros().max(1);
    let st = stage(m, "seg", io.rst, offered, Ready::new(leaves.sig()));
    let left_bits = (position_bits(walk) - walk.word.trailing_zeros()).max(window);
    let beats = walk.address_bits - bus;
    let (beat, left, last) = (m.reg("seg_beat", u(beats)), m.reg("seg_left", u(left_bits)), m.reg("seg_last", u(1)));
    let is_last = last.q();
    let space = (!beat.q().slice(0, window)).extend(left_bits).named("seg_space");
    let page = beat.q().slice(window, beats - window).add_lit(1);
    let next_beat = m.concat(&[page, m.lit(0, u(window))]);
    let places = Skid::new(m, "channel");
    leaves.drive(places.room & allowed & is_last);
    let burst = (st.valid & places.room & allowed).named("channel_load");
    let new_left = (beat_of(walk, row.to) - beat_of(walk, row.from)).extend(left_bits);
    let address = io.address(m, walk, (&row.client, row.offset), walk.address_bits).named("row_address");
    beat.next(m.mux(st.load, address.slice(bus, beats), next_beat)).en(st.load | burst);
    // What is left behind the burst: left - (space + 1). The burst behind it begins a window.
    let behind = (left.q() + !space).named("seg_behind");
    left.next(m.mux(st.load, new_left, behind)).en(st.load | burst);
    // The last burst of a row ends in the window in which it begins: no comparison stands before the channel.
    let ends_in_window = |beats: Sig<'m>| match beats.w() - window {
        0 => m.lit(1, u(1)),
        above => !beats.slice(window, above).reduce_or(),
    };
    let end = address.slice(bus, window).extend(left_bits + 1) + new_left.extend(left_bits + 1);
    last.next(m.mux(st.load, ends_in_window(end), ends_in_window(behind))).en(st.load | burst);
    let len = m.mux(is_last, left.q(), space).resize(8).named("seg_len");
    let (valid, offered) = places.offer(m, forget, burst, &[("beat", beat.q()), ("len", len)], ready, drop);
    let [beat, len_offered] = [offered[0], offered[1]];
    (st.ready, Channel { valid, beat, len: len_offered, waits: st.valid, pushed: burst, pushed_len: len })
}

/// Drives the ports of an address channel.
pub(crate) fn drive_channel<'m>(m: &'m ModuleBuilder, walk: &Walk, ports: &AxiAddress<Port>, c: &Channel<'m>) {
    let low = m.lit(0, u(walk.bus_bytes().trailing_zeros()));
    drive_ports(m, walk.bus_bytes(), ports, c.valid, [m.concat(&[c.beat, low]), c.len]);
}

/// The same of a bus of so many bytes, with address and length.
pub(crate) fn drive_ports<'m>(
    m: &'m ModuleBuilder,
    bytes: u32,
    ports: &AxiAddress<Port>,
    valid: Sig<'m>,
    [address, len]: [Sig<'m>; 2],
) {
    let constant = |port: &Port, value: u32| port.output(m, m.lit(value, port.ty));
    constant(&ports.id, 0);
    ports.addr.output(m, address);
    ports.len.output(m, len);
    constant(&ports.size, bytes.trailing_zeros());
    // INCR; AxCACHE: modifiable and bufferable.
    constant(&ports.burst, 1);
    constant(&ports.lock, 0);
    constant(&ports.cache, 3);
    constant(&ports.prot, 0);
    constant(&ports.qos, 0);
    ports.valid.output(m, valid);
}
