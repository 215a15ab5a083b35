//! `AxiReader`: the DMA engine that fetches the loads of all input groups behind one AXI port and streams them to the
//! feeders.
//!
//! ```text
//!          written_<o>                                  release_<g>
//!               │                                            │
//! start ─► generator ─► row walker, trim ─► segment ─► AR    │
//!                              └─► descriptor FIFO ─► receiver ─► rotate 1..L ─► merge ─► ld_* ─► feeders
//!                         R ─────────► beat FIFO ────────┘
//! ```
//! Ports: [`ReaderPorts`]. The stream has no back-pressure: the feeders take every word. Its fields are `ld_valid`,
//! `ld_first`, `ld_last` (of a load), `ld_group` (one bit per group of the walk, lowest first), `ld_slot` (buffer
//! half), `ld_u<d>` and `ld_r<d>` (row digits), `ld_w` (word of the row) and `ld_data` (a bus word).
//!
//! Method: the address side runs ahead, as far as the beat FIFO has room (`ahead` beats), so that the latency of the
//! memory is paid once and not per load. It waits only for stores that a load depends on. The receiver passes a load on
//! when its group has a free buffer half (`release`).
//!
//! Invariant: a burst is requested only while the beat FIFO has room for the longest one, so RREADY is always 1.
//!
//! A soft reset ends the open bursts first: the address on the channel stays offered, their beats are taken, and no new
//! burst begins. The engine itself is reset when all have been answered (`quiet`).
//!
//! Timing (a pulse is seen in cycle `t`, the memory is always ready; `K` = [`Walk::trim_stages`], `L` =
//! [`Walk::rotate_stages`]; `cost::reader` computes all of it exactly):
//!
//! | event | cycle |
//! | --- | --- |
//! | first service offered | `start` + 2; `go` is in the same cycle at the earliest |
//! | `go` of a load that waits for stores | `written_<o>` + 1 |
//! | first ARVALID | `go + K + 4`; the next row `max(1, bursts)` cycles later |
//! | row descriptor at the receiver | 4 cycles after the row left its stage (`go + K + 2`) |
//! | the first row of a load at the receiver | not before `release_<g>` + 1 |
//! | virtual beat taken | one per cycle; a fetched one not before 2 cycles after it came on R |
//! | word on the stream | `L + 2` cycles after its beat was taken |

use super::address::{self, beat_of, digit_types, digits, position_bits, BurstGate, Queue, Row, RowLeaves, Side};
use super::bundle::{AxiRead, Bus};
use super::bursts::{watch, Events};
use super::elastic::{deep_fifo, hold, pack, two_places, unpack, Deep, Fields, Fifo, Filled};
use super::rotate::{merge, rotate_level};
use super::services::{self, EnginePorts, Idle, Job, Start};
use crate::port::Port;
use crate::stream::{Loads, Word};
use array::contract::overlap::BufferSet;
use array::contract::program;
use array::contract::program::Register;
use array::contract::walk::{WaitUntil, Walk};
use array::vsa::Vsa;
use rtl::{clog2, s, u, Design, ModuleBuilder, Sig, Template, Ty, Wire};

/// Parameters of an [`AxiReader`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderParams {
    pub walk: Walk,
    /// Depth of the beat FIFO and of the descriptor FIFO, see [`Vsa::ahead`].
    pub ahead: u32,
    /// Program registers that the engine uses.
    pub program: Vec<Register>,
    /// Sizes are known at run time.
    pub sized: bool,
    /// If runs overlap, the buffers of the groups, which are places in the walk.
    pub sets: Vec<BufferSet>,
}

impl ReaderParams {
    /// `None` if no input group uses the port.
    pub fn from_vsa(vsa: &Vsa, port: usize) -> Option<ReaderParams> {
        let walk = Walk::reads(vsa, port)?;
        let sized = !vsa.sizes.list.is_empty();
        Some(ReaderParams { program: program::of_walk(vsa, &walk), walk, ahead: vsa.ahead as u32, sized, sets: vec![] })
    }

    /// Width of `ld_w`.
    pub fn word_index_bits(&self) -> u32 {
        clog2(self.walk.groups.iter().map(|g| g.words).max().unwrap_or(1) as u64)
    }

    pub fn ports(&self) -> ReaderPorts {
        let groups = &self.walk.groups;
        let of_sets = |what: &str| services::of_sets(&self.walk, &self.sets, what);
        let mut waits: Vec<usize> = vec![];
        for o in groups.iter().flat_map(|g| &g.waits).map(|w| w.output) {
            if !waits.contains(&o) {
                waits.push(o);
            }
        }
        ReaderPorts {
            engine: EnginePorts::new(&self.walk, &self.program, [self.sized, !self.sets.is_empty()]),
            release: of_sets("release"),
            loaded: of_sets("loaded"),
            written: waits.into_iter().map(|o| (o, Port::bit(format!("written_{o}")))).collect(),
            bus: AxiRead::ports("m_axi_", Bus::of(&self.walk)),
            loads: self.stream().map(|name, ty| Port::new(format!("ld_{name}"), *ty)),
        }
    }

    /// The groups that count their buffers together: places in the walk.
    pub fn counted(&self) -> Vec<BufferSet> {
        services::counted(&self.walk, &self.sets)
    }

    /// Types of the stream to the feeders.
    pub fn stream(&self) -> Loads<Ty> {
        let (w, group) = (u(self.word_index_bits()), u(self.walk.groups.len() as u32));
        let word = Word { slot: u(1), w, group, digits: digits(&self.walk, digit_types(&self.walk)) };
        Loads { valid: u(1), first: u(1), last: u(1), word, data: u(8 * self.walk.bus_bytes()) }
    }
}

/// The interface of an [`AxiReader`].
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderPorts {
    pub engine: EnginePorts,
    /// By [`ReaderParams::counted`] set. Pulse: a buffer half becomes free.
    pub release: Vec<Port>,
    /// By set. Pulse in the cycle of the last word of a load.
    pub loaded: Vec<Port>,
    /// By output group that some load waits for. Pulse: a drain is in memory.
    pub written: Vec<(usize, Port)>,
    pub bus: AxiRead<Port>,
    pub loads: Loads<Port>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxiReader(pub ReaderParams);

impl Template for AxiReader {
    fn name(&self) -> String {
        format!("axi_reader_{}", self.0.walk.name.to_lowercase())
    }

    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let walk = &self.0.walk;
        m.doc(format!(
            "Reads {} in bursts and streams {} input group(s) to the feeders.",
            super::arrays(walk),
            walk.groups.len()
        ));
        let ports = self.0.ports();
        let guard = ports.engine.guard.map(|port| port.input(m));
        let offered = m.wire("address_offered", u(1));
        let bursts = guard.bursts(m, clog2(u64::from(self.0.ahead)) + 1, offered.sig());
        let rst = bursts.reset;
        let io = Start::of(m, walk, &ports.engine, (&self.0.program, &self.0.sets), rst);
        let row_leaves = RowLeaves::new(m);
        let may_go = row_leaves.before(m, "go");
        let job = services::generator(m, walk, &io, may_go.ready());
        let go = may_go.sig().named("go");
        let allowed = stores_done(m, walk, &ports, &io, &job, go);
        let (outside, low_bits) = (&ports.engine.report.outside, walk.bus_bytes().trailing_zeros());
        let side = Side { outside, digits: true, low_bits };
        let (stage, row, walker) = address::rows(m, walk, &io, (&job, job.slot), go, &row_leaves, side);
        may_go.drive(walker.free.and(job.valid & allowed));

        let ar_ready = ports.bus.ar.ready.input(m);
        let taken = m.wire("beat_taken", u(1));
        let space = m.reg("beat_space", u(clog2(u64::from(self.0.ahead)) + 1));
        let enough = space
            .q()
            .slice(walk.burst_beats().trailing_zeros(), space.q().w() - walk.burst_beats().trailing_zeros())
            .reduce_or()
            .named("beat_room");
        let gate =
            BurstGate { ready: ar_ready, allowed: enough & !guard.rst, drop: Some(bursts.ends), forget: bursts.forget };
        let descriptor = Descriptor::of(walk, &io, &row);
        let (queue, channel) =
            address::issue(m, walk, &io, (stage, row, row_leaves), gate, descriptor, |data, push, pop| {
                deep_fifo(m, "desc", Deep { places: self.0.ahead, slice: true }, rst, push, data, pop)
            });
        // A burst spends len + 1 beats: adding !len subtracts them. The low bit carries `taken` in, so one adder does.
        let spent = m.mux(channel.pushed, !channel.pushed_len.extend(space.q().w()), m.lit(0, space.q().ty()));
        let counted = m.concat(&[space.q(), taken.sig()]) + m.concat(&[spent, taken.sig()]);
        space.next(counted.slice(1, space.q().w())).rst(rst, self.0.ahead);
        offered.drive(channel.valid);
        address::drive_channel(m, walk, &ports.bus.ar, &channel);
        let addressed = channel.begins(m, ar_ready, bursts.forget);

        let answered = ports.bus.rvalid.input(m);
        ports.bus.rready.output(m, m.lit(1, u(1)));
        let data = ports.bus.rdata.input(m);
        let arrives = answered & bursts.some;
        let beats = deep_fifo(m, "beats", Deep { places: self.0.ahead, slice: false }, rst, arrives, data, taken.sig());
        m.assert(rst, "the beat FIFO has room for every beat", !arrives | beats.room);
        let (free, held) = half_free(m, walk, &ports, &io, &queue.head, queue.pop.sig());
        let addresses = [walker.stages, vec![job.valid, job.more, channel.waits]].concat();
        io.drive_free(m, &ports.engine, &addresses);
        let stages = [addresses, vec![queue.some, !bursts.quiet, held]].concat();
        let beat = receiver(m, walk, rst, queue, free, &beats, taken);
        if let Some(idle) = &ports.engine.idle {
            // The words of the last beat are on their way to the feeders for so long.
            let behind = walk.rotate_stages() + 3;
            idle.output(m, Idle([stages, vec![beat.busy]].concat()).since(m, &io, behind));
        }
        let (response, ended) = (ports.bus.rresp.input(m), ports.bus.rlast.input(m));
        watch(
            m,
            &ports.engine.report,
            guard.rst,
            bursts,
            Events { opened: addressed, address: channel.beat, answered, response, ended },
            self.0.ahead,
        );
        stream(m, &self.0, &ports, &io, beat);
    }
}

/// The stores that the offered load depends on are in memory.
fn stores_done<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    ports: &ReaderPorts,
    io: &Start<'m>,
    job: &Job<'m>,
    go: Sig<'m>,
) -> Sig<'m> {
    let mut pulses: Vec<(usize, Sig<'m>)> = vec![];
    let mut phases: Vec<Option<Sig<'m>>> = vec![None; job.left.len()];
    let mut late = vec![];
    let waits = walk
        .groups
        .iter()
        .enumerate()
        .flat_map(|(i, g)| g.waits.iter().enumerate().map(move |(k, wait)| (i, g.group, k, wait)));
    for (i, group, k, wait) in waits {
        let o = wait.output;
        let pulse = pulses.iter().find(|w| w.0 == o).map(|w| w.1).unwrap_or_else(|| {
            // One port per output, in the order of first use.
            let pulse = ports.written[pulses.len()].1.input(m);
            pulses.push((o, pulse));
            pulse
        });
        let short = match (&wait.until, job.left.iter().position(|(other, _)| other == wait)) {
            (WaitUntil::Lag(lag), _) => {
                let (taken, ty) = (go & io.clients.is(&job.client, i), s(wait.until.drain_bits(walk) + 1));
                let ahead = m.reg(if k == 0 { format!("ahead_{group}") } else { format!("ahead_{group}_{k}") }, ty);
                let counted = m.mux(pulse, ahead.q().add_lit(1), ahead.q().sub_lit(1));
                ahead.next(m.mux(io.start, m.lit(*lag, ty), counted)).en(io.start | (pulse ^ taken)).rst(io.rst, 0);
                ahead.q().msb()
            }
            (_, Some(n)) => *phases[n].get_or_insert_with(|| phase_short(m, io, job, n, pulse)),
            // An undriven wire, which the netlist check reports.
            (_, None) => m.wire("missing_phase", u(1)).sig(),
        };
        late.push(io.clients.is(&job.client, i) & short);
    }
    if late.is_empty() {
        m.lit(1, u(1))
    } else {
        !m.any(&late)
    }
}

/// Drains that the offered service waits for are missing: those of all phases before its own. `ahead`: the drains that are
/// in memory (`pulse`) less those of the phases before the generator's; `job_ahead`: less those of the phases before the
/// service's. Both are registers, so that no difference stands before what they decide.
fn phase_short<'m>(m: &'m ModuleBuilder, io: &Start<'m>, job: &Job<'m>, n: usize, pulse: Sig<'m>) -> Sig<'m> {
    let left = job.left[n].1;
    let left = m.mux(job.ended, left, m.lit(0, left.ty()));
    let (ahead, mine) = (m.reg(format!("ahead{n}"), left.ty()), m.reg(format!("job_ahead{n}"), left.ty()));
    // The low bit carries `pulse` in, so one adder does.
    let counted = m.concat(&[ahead.q().unsigned(), pulse]) + m.concat(&[left.unsigned(), pulse]);
    let counted = counted.slice(1, left.w()).to(left.ty()).named(format!("ahead{n}_next"));
    ahead.next(counted).rst(io.start, 0);
    mine.next(m.mux(job.load, counted, mine.q() + pulse.extend(left.w()).to(left.ty()))).rst(io.start, 0);
    let most = m.lit((1u64 << (left.w() - 1)) - 1, left.ty());
    m.assert(io.rst, format!("wait {n} counts every drain"), !pulse | ahead.q().ne(most));
    mine.q().msb()
}

/// The row at the head may go to the feeders. The first row of a load takes a buffer half of its group. Returns also
/// whether a half is in use.
fn half_free<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    ports: &ReaderPorts,
    io: &Start<'m>,
    head: &Descriptor<'m>,
    pop: Sig<'m>,
) -> (Sig<'m>, Sig<'m>) {
    let overlaps = !io.sets.is_empty();
    let releases: Vec<_> = ports.release.iter().map(|port| port.input(m)).collect();
    let mut held = vec![];
    let sets = services::counted(walk, &io.sets).into_iter().zip(releases).zip(io.in_sets(m, &head.row.client));
    let free = sets.map(|((set, release), chosen)| {
        let group = walk.groups[set.groups[0]].group;
        let taken = pop & head.row.first & chosen;
        let filled = match overlaps {
            true => Filled::Reset(set.halves),
            false => Filled::Start { start: io.start, full: true },
        };
        let halves = two_places(m, format!("halves_{group}"), io.rst, &filled, [release, taken]);
        let full = if set.halves > 1 { halves.full } else { halves.some };
        let most = if set.halves > 1 { "two buffer halves" } else { "one buffer" };
        let (over, begins) = (release & !taken & full, if overlaps { m.lit(0, u(1)) } else { io.start });
        m.assert(io.rst, format!("group {group} has {most} at most"), begins | !over);
        held.push(!full);
        halves.some & chosen
    });
    let free = free.collect::<Vec<_>>();
    (!head.row.first | m.any(&free), m.any(&held))
}

/// Row descriptor of the receiver.
#[derive(Clone)]
struct Descriptor<'m> {
    row: Row<'m>,
    /// First and last virtual beat that is fetched; last virtual beat of the row.
    from: Sig<'m>,
    to: Sig<'m>,
    end: Sig<'m>,
}

impl<'m> Descriptor<'m> {
    fn of(walk: &Walk, io: &Start<'m>, row: &Row<'m>) -> Self {
        let end = row.last_beat(walk, &io.clients);
        Descriptor { row: row.clone(), from: beat_of(walk, row.from), to: beat_of(walk, row.to), end }
    }
}

impl<'m> Fields<'m> for Descriptor<'m> {
    fn each(&mut self, see: &mut dyn FnMut(String, &mut Sig<'m>)) {
        let r = &mut self.row;
        if r.client.len() > 1 {
            r.client.iter_mut().enumerate().for_each(|(k, s)| see(format!("client{k}"), s));
        }
        let ends = [("from", &mut self.from), ("to", &mut self.to), ("end", &mut self.end)];
        for (name, s) in [("slot", &mut r.slot), ("first", &mut r.first), ("last", &mut r.last), ("any", &mut r.any)]
            .into_iter()
            .chain(ends)
        {
            see(name.into(), s);
        }
        r.shift.iter_mut().for_each(|s| see("shift".into(), s));
        r.digits.iter_mut().enumerate().for_each(|(d, s)| see(format!("digit{d}"), s));
    }
}

/// A virtual beat that the receiver takes.
struct Beat<'m> {
    /// A row is received.
    busy: Sig<'m>,
    valid: Sig<'m>,
    data: Sig<'m>,
    now: Descriptor<'m>,
    index: Sig<'m>,
    last: Sig<'m>,
}

/// The receiver: takes one virtual beat of the present row per cycle, starting when the row's buffer half is `free`.
/// Virtual beats that are not fetched do not wait for `beats`.
fn receiver<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    rst: Sig<'m>,
    queue: Queue<'m, Descriptor<'m>>,
    free: Sig<'m>,
    beats: &Fifo<'m>,
    taken: Wire<'m>,
) -> Beat<'m> {
    let Queue { valid, head, pop: pops, .. } = queue;
    let ty = u(position_bits(walk) - walk.word.trailing_zeros());
    let (busy, need) = (m.reg("recv_busy", u(1)), m.reg("recv_need", u(1)));
    let (last, index) = (m.reg("recv_last", u(1)), m.reg("recv_beat", ty));
    let step = (busy.q() & (!need.q() | beats.valid)).named("recv_steps");
    let pop = (valid & free).called("row_may_go") & (!busy.q() | (step & last.q()).called("recv_row_ends"));
    pops.drive(pop);
    let now = head.held(m, "now", pop);
    let next = index.q().add_lit(1).named("recv_next");
    let wanted = (now.row.any & next.ge(now.from) & next.le(now.to) & !last.q()).called("recv_wants_next");
    let first_wanted = (head.row.any & head.from.eq_lit(0)).called("recv_wants_first");
    busy.next(pop).en(pop | (step & last.q())).rst(rst, 0);
    need.next(m.mux(pop, first_wanted, wanted)).en(pop | step).rst(rst, 0);
    last.next(m.mux(pop, head.end.eq_lit(0), next.eq(now.end))).en(pop | step);
    index.next(m.mux(pop, m.lit(0, ty), next)).en(pop | step);
    taken.drive(step & need.q());
    Beat { busy: busy.q(), valid: step, data: beats.head, now, index: index.q(), last: last.q() }
}

/// The alignment pipeline: rotates each beat so that element 0 is lowest, merges it with the one before, and drives the
/// stream.
fn stream<'m>(m: &'m ModuleBuilder, p: &ReaderParams, ports: &ReaderPorts, io: &Start<'m>, beat: Beat<'m>) {
    let (walk, rst) = (&p.walk, io.rst);
    let row = &beat.now.row;
    let later = row.shift.map_or(m.lit(0, u(1)), |s| s.reduce_or());
    let emit = beat.valid & (!later | beat.index.ne_lit(0));
    let word = (beat.index - later.extend(beat.index.w())).called("beat_word").resize(p.word_index_bits());
    let first = row.first & beat.index.eq(later.extend(beat.index.w()));
    let mut meta = vec![first, row.last & beat.last, row.slot, word];
    meta.extend(if row.client.len() > 1 { row.client.clone() } else { vec![] });
    meta.extend(&row.digits);
    let types: Vec<Ty> = meta.iter().map(|s| s.ty()).collect();
    let reg = |name: String, v: Sig<'m>| m.reg(name, v.ty()).next(v).q();
    let flag = |name: String, v: Sig<'m>| m.reg(name, u(1)).next(v).rst(rst, 0).q();
    let (mut valid, mut out, mut info) = (
        flag("beat_valid".into(), beat.valid),
        flag("beat_emit".into(), emit),
        reg("beat_info".into(), pack(m, &meta)),
    );
    let mut data = reg("beat_data".into(), beat.data);
    let mut shift = row.shift.map(|s| reg("beat_shift".into(), s));
    for k in 0..walk.rotate_stages() {
        if let Some(s) = shift {
            data = reg(format!("rotate{k}_data"), rotate_level(m, walk, data, s, k as u32, false));
            shift = Some(reg(format!("rotate{k}_shift"), s));
        }
        valid = flag(format!("rotate{k}_valid"), valid);
        out = flag(format!("rotate{k}_emit"), out);
        info = reg(format!("rotate{k}_info"), info);
    }
    let aligned = shift.map_or(data, |s| {
        let previous = hold(m, "previous", valid, data);
        let late = s.ne_lit(0);
        merge(m, walk, previous, data, |i| if i == 0 { late } else { late & s.lt(m.lit(walk.word - i, s.ty())) })
    });
    let parts = unpack(info, &types);
    let client = if row.client.len() > 1 { &parts[4..4 + row.client.len()] } else { &row.client };
    let low_first: Vec<_> = (0..walk.groups.len()).rev().map(|g| io.clients.is(client, g)).collect();
    let word = Word {
        slot: parts[2],
        w: parts[3],
        group: pack(m, &low_first),
        digits: digits(walk, parts[types.len() - row.digits.len()..].to_vec()),
    };
    let sent = Loads { valid: out, first: parts[0], last: parts[1], word, data: aligned };
    for (port, value) in ports.loads.fields().into_iter().zip(sent.fields()) {
        let q = format!("{}_q", port.name);
        port.output(m, if *port == ports.loads.valid { flag(q, *value) } else { reg(q, *value) });
    }
    for (port, chosen) in ports.loaded.iter().zip(io.in_sets(m, client)) {
        port.output(m, flag(format!("{}_q", port.name), out & parts[1] & chosen));
    }
}
