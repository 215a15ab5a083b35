//! `AxiReader`: fetches the loads of all input groups behind one AXI port and streams them to the feeders.
//!
//! Ports: [`ReaderPorts`]; the stream is `ld_valid, ld_first, ld_last, ld_group` (one bit per group of the walk, lowest
//! bit first), `ld_slot`, `ld_u<d>` (every dimension except the last), `ld_r<d>` (where some group's modulus exceeds
//! 1), `ld_w`, `ld_data` (a bus word).
//!
//! The address side asks for beats as far ahead as the FIFO for them has room (`ahead`), so the memory's latency is
//! paid once, not with every load; it waits for drains only. The receiver deals the words to the feeders as their
//! halves are released. A burst is asked for while the FIFO has room for the longest one, so `rready` is always high.
//!
//! While `rst` is high the data of open bursts is taken and dropped.
//!
//! Timing (pulse seen in cycle `t`, memory always ready; `K` = [`Walk::trim_stages`], `L` = [`Walk::rotate_stages`]):
//! `start` in 0 → service offered in 2 → `go` in 2 at the earliest; `written_<o>` in `t` → `go` in `t + 1`; first
//! `arvalid` in `go + K + 4`; rows follow each other every `max(1, bursts)` cycles. A row descriptor reaches the
//! receiver 3 cycles after the row leaves its stage (`go + K + 2`), the first of a load not before the cycle after
//! `release_<g>`; the receiver takes one virtual beat per cycle, a fetched one 2 cycles after it came, and a beat taken
//! in cycle `c` is on the stream in `c + L + 2`. `cost::reader` computes all of it exactly.

use super::address::{self, beat_of, digit_types, digits, position_bits, Queue, Row, Way};
use super::bundle::{AxiRead, Bus};
use super::bursts::{watch, Events};
use super::elastic::{deep_fifo, hold, pack, unpack, Fields, Fifo};
use super::rotate::{join, rotate_level};
use super::services::{self, EnginePorts, Job, Start};
use crate::port::Port;
use crate::stream::{Loads, Word};
use array::contract::program;
use array::contract::program::Register;
use array::contract::walk::{WaitUntil, Walk};
use array::vsa::Vsa;
use rtl::{clog2, s, u, Design, ModuleBuilder, Sig, Template, Ty, Wire};

/// Parameters of one [`AxiReader`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderParams {
    pub walk: Walk,
    /// Beats and rows between address side and receiver, see [`Vsa::ahead`].
    pub ahead: u32,
    /// What the host computes from the sizes.
    pub program: Vec<Register>,
}

impl ReaderParams {
    /// `None` if no input group reads through the port.
    pub fn from_vsa(vsa: &Vsa, port: usize) -> Option<ReaderParams> {
        let walk = Walk::reads(vsa, port)?;
        Some(ReaderParams { program: program::of_walk(vsa, &walk), walk, ahead: vsa.ahead as u32 })
    }

    /// Width of `ld_w`.
    pub fn word_index_bits(&self) -> u32 {
        clog2(self.walk.groups.iter().map(|g| g.words).max().unwrap_or(1) as u64)
    }

    /// The interface.
    pub fn ports(&self) -> ReaderPorts {
        let groups = &self.walk.groups;
        let of_groups = |what: &str| groups.iter().map(|g| Port::bit(format!("{what}_{}", g.group))).collect();
        let mut waits: Vec<usize> = vec![];
        for o in groups.iter().flat_map(|g| &g.waits).map(|w| w.output) {
            if !waits.contains(&o) {
                waits.push(o);
            }
        }
        ReaderPorts {
            engine: EnginePorts::new(&self.walk, &self.program),
            release: of_groups("release"),
            loaded: of_groups("loaded"),
            written: waits.into_iter().map(|o| (o, Port::bit(format!("written_{o}")))).collect(),
            bus: AxiRead::ports("m_axi_", Bus::of(&self.walk)),
            loads: self.stream().map(|name, ty| Port::new(format!("ld_{name}"), *ty)),
        }
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
    /// By group of the walk: pulse, a buffer half is free.
    pub release: Vec<Port>,
    /// By group of the walk: pulse in the cycle of the last word of a load.
    pub loaded: Vec<Port>,
    /// Pulses: a drain of this output is in memory; for those that some group waits for.
    pub written: Vec<(usize, Port)>,
    pub bus: AxiRead<Port>,
    pub loads: Loads<Port>,
}

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct AxiReader(pub ReaderParams);

impl Template for AxiReader {
    fn name(&self) -> String {
        format!("axi_reader_{}", self.0.walk.name.to_lowercase())
    }

    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        let walk = &self.0.walk;
        m.doc(format!(
            "Reads {} ({} byte elements, {} per word) in bursts and streams {} input group(s) to the feeders.",
            super::served(walk),
            walk.bytes,
            walk.word,
            walk.groups.len()
        ));
        let ports = self.0.ports();
        let guard = ports.engine.guard.map(|port| port.input(m));
        let (rst, open) = (guard.rst, guard.count(m));
        let io = Start::of(m, walk, &ports.engine, &self.0.program, rst);
        let go = m.wire("go", u(1));
        let job = services::generator(m, walk, &io, go.sig());
        let allowed = written(m, walk, &ports, &io, &job, go.sig());
        let row_leaves = m.wire("row_next", u(1));
        let (stage, row, walker_free) =
            address::rows(m, walk, (rst, &io.program), &job, go.sig(), row_leaves.sig(), true);
        go.drive(job.valid & allowed & walker_free);

        let ar_ready = ports.bus.ar.ready.input(m);
        let taken = m.wire("beat_taken", u(1));
        let space = m.reg("beat_space", u(clog2(u64::from(self.0.ahead)) + 1));
        let enough = space
            .q()
            .slice(walk.burst_beats().trailing_zeros(), space.q().w() - walk.burst_beats().trailing_zeros())
            .reduce_or()
            .named("beat_room");
        let way = Way { ready: ar_ready, allowed: enough, unless: None };
        let kept = Descriptor::of(m, walk, &row);
        let (queue, mut channel) =
            address::leave(m, walk, rst, (stage, row, row_leaves), way, kept, |kept, push, pop| {
                deep_fifo(m, "desc", self.0.ahead, rst, push, kept, pop)
            });
        let spent = m.mux(channel.asked, channel.next.extend(space.q().w()).add_lit(1), m.lit(0, space.q().ty()));
        space.next(space.q() - spent + taken.sig().extend(space.q().w())).rst(rst, self.0.ahead);
        channel.valid = (channel.valid & guard.live & !rst).named("arvalid");
        address::drive_channel(m, walk, &ports.bus.ar, &channel);

        let answered = ports.bus.rvalid.input(m);
        ports.bus.rready.output(m, m.lit(1, u(1)));
        let data = ports.bus.rdata.input(m);
        // What nobody has asked for does not count, see [`super::bursts`].
        let came = answered & open.q().reduce_or();
        let beats = deep_fifo(m, "beats", self.0.ahead, rst, came, data, taken.sig());
        m.assert(rst, "a beat that comes has a place", !came | beats.room);
        let freed = released(m, walk, &ports, &io, &queue.head, queue.pop.sig());
        let beat = receiver(m, walk, rst, queue, freed, &beats, taken);
        let (response, ended) = (ports.bus.rresp.input(m), ports.bus.rlast.input(m));
        watch(
            m,
            &ports.engine.report,
            rst,
            open,
            Events { opened: channel.valid & ar_ready, address: channel.beat, answered, response, ended },
            self.0.ahead,
        );
        stream(m, &self.0, &ports, rst, beat);
    }
}

/// Whether the drains that the offered service waits for are written.
fn written<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    ports: &ReaderPorts,
    io: &Start<'m>,
    job: &Job<'m>,
    go: Sig<'m>,
) -> Sig<'m> {
    let mut pulses: Vec<(usize, Sig<'m>)> = vec![];
    let mut late = vec![];
    let waits = walk
        .groups
        .iter()
        .enumerate()
        .flat_map(|(i, g)| g.waits.iter().enumerate().map(move |(k, wait)| (i, g.group, k, wait)));
    for (i, group, k, wait) in waits {
        let o = wait.output;
        let pulse = pulses.iter().find(|w| w.0 == o).map(|w| w.1).unwrap_or_else(|| {
            // Of as many ports as there are outputs waited for, in the order in which they are first met.
            let pulse = ports.written[pulses.len()].1.input(m);
            pulses.push((o, pulse));
            pulse
        });
        let taken = go & job.group[i];
        let ahead = m.reg(if k == 0 { format!("ahead_{group}") } else { format!("ahead_{group}_{k}") }, s(40));
        let short = match wait.until {
            WaitUntil::Lag(lag) => {
                let counted = m.mux(pulse, ahead.q().add_lit(1), ahead.q().sub_lit(1));
                ahead.next(m.mux(io.start, m.lit(lag, s(40)), counted)).en(io.start | (pulse ^ taken)).rst(io.rst, 0);
                ahead.q().msb()
            }
            WaitUntil::Phase { ref drains, .. } => {
                let due = job.phase[i][k].map_or(m.lit(0, s(40)), |due| match wait.until.due_bits(walk) {
                    Some(_) => due.extend(40).to(s(40)),
                    None => m.mux(due, m.lit(drains.at_case(0), s(40)), m.lit(0, s(40))),
                });
                let left = ahead.q() - due;
                let counted = m.mux(taken, left, ahead.q()) + pulse.extend(40).to(s(40));
                ahead.next(m.mux(io.start, m.lit(0, s(40)), counted)).en(io.start | pulse | taken).rst(io.rst, 0);
                left.msb()
            }
        };
        late.push(job.group[i] & short);
    }
    if late.is_empty() {
        m.lit(1, u(1))
    } else {
        !m.any(&late)
    }
}

/// Whether the row at the head may go to the feeders: the first of a load takes a buffer half of its group.
fn released<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    ports: &ReaderPorts,
    io: &Start<'m>,
    head: &Descriptor<'m>,
    pop: Sig<'m>,
) -> Sig<'m> {
    let free = walk.groups.iter().zip(&head.row.group).zip(&ports.release).map(|((g, chosen), release)| {
        let release = release.input(m);
        let halves = m.reg(format!("halves_{}", g.group), u(3));
        let counted = m.mux(release, halves.q().add_lit(1), halves.q().sub_lit(1));
        let taken = pop & head.row.first & *chosen;
        halves.next(m.mux(io.start, m.lit(2, u(3)), counted)).en(io.start | (release ^ taken)).rst(io.rst, 0);
        m.assert(io.rst, format!("group {} has two buffer halves at most", g.group), halves.q().le(m.lit(2, u(3))));
        halves.q().ne_lit(0) & *chosen
    });
    !head.row.first | m.any(&free.collect::<Vec<_>>())
}

/// What the receiver knows about a row.
#[derive(Clone)]
struct Descriptor<'m> {
    row: Row<'m>,
    /// First and last virtual beat that is fetched, and the row's last virtual beat.
    from: Sig<'m>,
    to: Sig<'m>,
    end: Sig<'m>,
}

impl<'m> Descriptor<'m> {
    fn of(m: &'m ModuleBuilder, walk: &Walk, row: &Row<'m>) -> Self {
        let end = row.last_beat(m, walk);
        Descriptor { row: row.clone(), from: beat_of(walk, row.from), to: beat_of(walk, row.to), end }
    }
}

impl<'m> Fields<'m> for Descriptor<'m> {
    fn each(&mut self, see: &mut dyn FnMut(String, &mut Sig<'m>)) {
        let r = &mut self.row;
        if r.group.len() > 1 {
            r.group.iter_mut().enumerate().for_each(|(g, s)| see(format!("group{g}"), s));
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

/// One virtual beat taken.
struct Beat<'m> {
    valid: Sig<'m>,
    data: Sig<'m>,
    now: Descriptor<'m>,
    index: Sig<'m>,
    last: Sig<'m>,
}

/// Takes one virtual beat per cycle of the row at the head of the queue, once its buffer half is `freed`; those that
/// are not fetched do not wait for `beats`.
fn receiver<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    rst: Sig<'m>,
    queue: Queue<'m, Descriptor<'m>>,
    freed: Sig<'m>,
    beats: &Fifo<'m>,
    taken: Wire<'m>,
) -> Beat<'m> {
    let Queue { valid, head, pop: pops } = queue;
    let ty = u(position_bits(walk) - walk.word.trailing_zeros());
    let (busy, need) = (m.reg("recv_busy", u(1)), m.reg("recv_need", u(1)));
    let (last, index) = (m.reg("recv_last", u(1)), m.reg("recv_beat", ty));
    let step = (busy.q() & (!need.q() | beats.valid)).named("recv_steps");
    let pop = (valid & freed).called("row_may_go") & (!busy.q() | (step & last.q()).called("recv_row_ends"));
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
    Beat { valid: step, data: beats.head, now, index: index.q(), last: last.q() }
}

/// Rotates beats so that element 0 of a word is lowest, joins two neighbours, and drives the stream.
fn stream<'m>(m: &'m ModuleBuilder, p: &ReaderParams, ports: &ReaderPorts, rst: Sig<'m>, beat: Beat<'m>) {
    let walk = &p.walk;
    let one = m.lit(1, u(1));
    let row = &beat.now.row;
    let later = row.shift.map_or(m.lit(0, u(1)), |s| s.reduce_or());
    let emit = beat.valid & (!later | beat.index.ne_lit(0));
    let word = (beat.index - later.extend(beat.index.w())).called("beat_word").resize(p.word_index_bits());
    let first = row.first & beat.index.eq(later.extend(beat.index.w()));
    let mut meta = vec![first, row.last & beat.last, row.slot, word];
    meta.extend(if row.group.len() > 1 { row.group.clone() } else { vec![] });
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
    let joined = shift.map_or(data, |s| {
        let previous = hold(m, "previous", valid, data);
        let late = s.ne_lit(0);
        join(m, walk, previous, data, |i| if i == 0 { late } else { late & s.lt(m.lit(walk.word - i, s.ty())) })
    });
    let parts = unpack(info, &types);
    let groups = if walk.groups.len() > 1 { parts[4..4 + walk.groups.len()].to_vec() } else { vec![one] };
    let low_first: Vec<_> = groups.iter().rev().copied().collect();
    let word = Word {
        slot: parts[2],
        w: parts[3],
        group: pack(m, &low_first),
        digits: digits(walk, parts[types.len() - row.digits.len()..].to_vec()),
    };
    let sent = Loads { valid: out, first: parts[0], last: parts[1], word, data: joined };
    for (port, value) in ports.loads.fields().into_iter().zip(sent.fields()) {
        let q = format!("{}_q", port.name);
        port.output(m, if *port == ports.loads.valid { flag(q, *value) } else { reg(q, *value) });
    }
    for (port, chosen) in ports.loaded.iter().zip(&groups) {
        port.output(m, flag(format!("{}_q", port.name), out & parts[1] & *chosen));
    }
}
