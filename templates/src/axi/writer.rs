//! `AxiWriter`: the DMA engine that requests the words of each drain from the collectors behind one AXI port and writes
//! them to DRAM.
//!
//! ```text
//!          emitted_<o>
//!               │
//! start ─► generator ─┬─► row walker, trim ─► segment ─► AW
//!                     │          └─► descriptor FIFO ─┐
//!                     └─► requests ─► dr_* ─► collectors ─► rd_* ─► rotate 1..L ─► word FIFO ─► data side ─► W
//! B ─► responses ─► written_<o>
//! ```
//! Ports: [`WriterPorts`]. A request is a token `dr_valid`, `dr_group` (one bit per group of the walk, lowest first),
//! `dr_slot` (buffer half), `dr_u<d>`, `dr_r<d>` (row digits), `dr_w` (word of the row). The answer `rd_valid`,
//! `rd_data` comes exactly `read_latency` cycles later. There is no back-pressure on either side.
//!
//! Invariant: the writer sends a request only if the word FIFO will have room for the answer.
//!
//! A soft reset ends the open bursts first: their addresses stay offered and their missing beats follow without byte
//! strobes; no new burst begins. The engine itself is reset when all have been answered (`quiet`).
//!
//! Timing (`K`, `L` as in [`super::reader`], `Q` = `read_latency`; `cost::writer` computes all of it exactly):
//!
//! | event | cycle |
//! | --- | --- |
//! | first service offered | `start` + 2 |
//! | `go` | `emitted_<o>` + 1 at the earliest |
//! | first `dr_valid` | `go + 2`, then one per cycle while the word FIFO has room |
//! | `drained_<o>` | with the last `dr_valid` of a drain, or where a token takes several cycles, the last of these |
//! | first AWVALID | `go + K + 4` |
//! | the data side can take the word of a request | `Q + L + 1` cycles after the request; on W 1 cycle later |
//! | first W beat of a burst | 2 cycles after its AWVALID at the earliest |
//! | `written_<o>` | 2 cycles after the last B |

use super::address::{
    self, beat_of, digit_types, digits, position_bits, BurstGate, Odometer, Queue, Row, RowLeaves, Side,
};
use super::bundle::{AxiWrite, Bus};
use super::bursts::{watch, Events};
use super::clients::Clients;
use super::elastic::{fifo, hold, pack, two_places, unpack, Fields, Filled, Skid};
use super::rotate::{merge, rotate_level};
use super::services::{self, EnginePorts, Idle, Job, Start};
use super::steps::{self, Parts, StridedRow};
use crate::port::Port;
use crate::stream::{Answer, Tokens, Word};
use array::contract::overlap::BufferSet;
use array::contract::program;
use array::contract::program::Register;
use array::contract::walk::{words_in_flight, Walk, DRAINS_IN_FLIGHT, ROWS_IN_FLIGHT};
use array::vsa::Vsa;
use rtl::{clog2, u, Design, ModuleBuilder, Sig, Template, Ty, Wire};
use uniform::sizes::Formula;

/// Width of the count of open bursts. No burst begins while half of what it can hold are open: two more may wait in the
/// address channel, so it never overflows, and the numbers of sent and answered bursts differ by less than half their range.
const OPEN_BITS: u32 = 15;

/// Width of the count of a run's drains, at most.
const MOST_DRAIN_BITS: u32 = 40;

/// Parameters of an [`AxiWriter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriterParams {
    pub walk: Walk,
    /// Cycles from `dr_valid` to `rd_valid`; sizes the word FIFO.
    pub read_latency: u32,
    /// Program registers that the engine uses.
    pub program: Vec<Register>,
    /// Sizes are known at run time.
    pub sized: bool,
    /// If runs overlap, the buffers of the groups, which are places in the walk.
    pub sets: Vec<BufferSet>,
}

impl WriterParams {
    /// `None` if no output group uses the port.
    pub fn from_vsa(vsa: &Vsa, port: usize, read_latency: u32) -> Option<WriterParams> {
        let walk = Walk::writes(vsa, port)?;
        let sized = !vsa.sizes.list.is_empty();
        Some(WriterParams { program: program::of_walk(vsa, &walk), walk, read_latency, sized, sets: vec![] })
    }

    /// Width of `dr_w`.
    pub fn word_index_bits(&self) -> u32 {
        clog2(self.walk.groups.iter().map(|g| g.array_words()).max().unwrap_or(1) as u64)
    }

    pub fn ports(&self) -> WriterPorts {
        let of_sets = |what: &str| services::of_sets(&self.walk, &self.sets, what);
        let of_clients = |what: &str| {
            let first = |groups: Vec<usize>| Port::bit(format!("{what}_{}", self.walk.groups[groups[0]].group));
            self.clients().into_iter().map(first).collect()
        };
        WriterPorts {
            engine: EnginePorts::new(&self.walk, &self.program, [self.sized, self.overlaps()]),
            emitted: of_sets("emitted"),
            drained: of_clients("drained"),
            written: of_clients("written"),
            done: Port::bit("done"),
            bus: AxiWrite::ports("m_axi_", Bus::of(&self.walk)),
            tokens: self.stream().map(|name, ty| Port::new(format!("dr_{name}"), *ty)),
            answer: Answer::ports("", self.walk.bus_bytes()),
        }
    }

    /// The groups that count their buffers together: places in the walk.
    pub fn counted(&self) -> Vec<BufferSet> {
        services::counted(&self.walk, &self.sets)
    }

    /// Types of the tokens to the collectors.
    pub fn stream(&self) -> Tokens<Ty> {
        let (w, group) = (u(self.word_index_bits()), u(self.walk.groups.len() as u32));
        let digits = digits(&self.walk, digit_types(&self.walk));
        Tokens { valid: u(1), word: Word { slot: u(1), w, group, digits } }
    }

    fn overlaps(&self) -> bool {
        !self.sets.is_empty()
    }

    /// By client, its groups: places in the walk.
    pub fn clients(&self) -> Vec<Vec<usize>> {
        self.walk.clients(self.overlaps())
    }

    fn depth(&self) -> u32 {
        words_in_flight(&self.walk, i64::from(self.read_latency)) as u32
    }
}

/// The interface of an [`AxiWriter`].
#[derive(Clone, Debug, PartialEq)]
pub struct WriterPorts {
    pub engine: EnginePorts,
    /// By [`WriterParams::counted`] set. Pulse: one more drain may start.
    pub emitted: Vec<Port>,
    /// By client. Pulse: the last token of a drain.
    pub drained: Vec<Port>,
    /// By client. Pulse: all write responses of a drain have arrived.
    pub written: Vec<Port>,
    /// Level, from the last `written` until the next `start`. If runs overlap: pulse with the last `written` of a run; runs
    /// without a drain here have none.
    pub done: Port,
    pub bus: AxiWrite<Port>,
    pub tokens: Tokens<Port>,
    /// Words of the collectors, one per request, `read_latency` cycles later.
    pub answer: Answer<Port>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxiWriter(pub WriterParams);

impl Template for AxiWriter {
    fn name(&self) -> String {
        format!("axi_writer_{}", self.0.walk.name.to_lowercase())
    }

    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let walk = &self.0.walk;
        m.doc(format!(
            "Writes {} in bursts from the words of {} output group(s).",
            super::arrays(walk),
            walk.groups.len()
        ));
        let ports = self.0.ports();
        let guard = ports.engine.guard.map(|port| port.input(m));
        let offered = m.wire("bus_offered", u(1));
        let bursts = guard.bursts(m, OPEN_BITS, offered.sig());
        let (rst, forget) = (bursts.reset, bursts.forget);
        let io = Start::of(m, walk, &ports.engine, (&self.0.program, &self.0.sets), rst);
        let row_leaves = RowLeaves::new(m);
        let may_go = row_leaves.before(m, "go");
        let job = services::generator(m, walk, &io, may_go.ready());
        let go = may_go.sig().named("go");
        let allowed = credits(m, walk, &ports, &io, &job, go);
        let burst = walk.burst_beats() as u64 * u64::from(walk.bus_bytes());
        let (outside, low_bits) = (&ports.engine.report.outside, burst.trailing_zeros());
        let side = Side { outside, digits: false, low_bits };
        let left = Left { m, io: &io, services: walk.services() };
        let ends_run = if self.0.overlaps() { left.is_last(go) } else { job.slot };
        let (stage, row, walker) = address::rows(m, walk, &io, (&job, ends_run), go, &row_leaves, side);
        let word_pop = m.wire("word_pop", u(1));
        let (asks, words) = requests(m, &self.0, &ports, &io, &job, go, word_pop.sig());
        // Not checked in a reset: the beats that end open bursts pop words that never came.
        m.assert(guard.rst, "the word FIFO has room for every word", !words.overflow);
        may_go.drive(walker.free.and(job.valid & allowed & asks.free));

        let aw_ready = ports.bus.aw.ready.input(m);
        let gate = BurstGate { ready: aw_ready, allowed: !guard.rst & !bursts.many, drop: Some(bursts.ends), forget };
        let descriptor = Descriptor::of(&self.0, &io, &row);
        let (queue, channel) =
            address::issue(m, walk, &io, (stage, row, row_leaves), gate, descriptor, |data, push, pop| {
                fifo(m, "desc", ROWS_IN_FLIGHT as u32, rst, push, data, pop)
            });
        address::drive_channel(m, walk, &ports.bus.aw, &channel);

        // Data may be offered as soon as their address is, not after its handshake: a memory may wait for WVALID before
        // it accepts an address.
        let addressed = channel.begins(m, aw_ready, forget);
        let addresses = [walker.stages, vec![job.valid, job.more, channel.waits]].concat();
        io.drive_free(m, &ports.engine, &[&addresses[..], &[asks.left]].concat());
        let stages = [addresses, vec![asks.under_way, queue.some, !bursts.quiet]];
        let data_side =
            DataSide { m, walk, clients: &io.clients, bus: &ports.bus, rst, forget, ends: guard.rst, addressed };
        let end = data_side.build(queue, words, word_pop);
        offered.drive(channel.valid | end.offered);
        let busy = end.busy;
        let (answered, drains) = responses(m, &ports, &left, end);
        if let Some(idle) = &ports.engine.idle {
            idle.output(m, Idle([stages.concat(), vec![busy, drains]].concat()).since(m, &io, 0));
        }
        let response = ports.bus.bresp.input(m);
        watch(
            m,
            &ports.engine.report,
            guard.rst,
            bursts,
            Events { opened: addressed, address: channel.beat, answered, response, ended: m.lit(1, u(1)) },
            ROWS_IN_FLIGHT as u32,
        );
    }
}

/// The group of the offered service has a buffer to drain.
fn credits<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    ports: &WriterPorts,
    io: &Start<'m>,
    job: &Job<'m>,
    go: Sig<'m>,
) -> Sig<'m> {
    let overlaps = !io.sets.is_empty();
    let pulses: Vec<_> = ports.emitted.iter().map(|port| port.input(m)).collect();
    let sets = services::counted(walk, &io.sets).into_iter().zip(pulses).zip(io.in_sets(m, &job.client));
    let allowed = sets.map(|((set, emitted), chosen)| {
        let group = walk.groups[set.groups[0]].group;
        let taken = go & chosen;
        let filled = if overlaps { Filled::Reset(0) } else { Filled::Start { start: io.start, full: false } };
        let ready = two_places(m, format!("ready_{group}"), io.rst, &filled, [emitted, taken]);
        let (over, begins) = (emitted & !taken & ready.full, if overlaps { m.lit(0, u(1)) } else { io.start });
        m.assert(io.rst, format!("group {group} has two buffers at most to drain"), begins | !over);
        ready.some & chosen
    });
    m.any(&allowed.collect::<Vec<_>>()).called("drain_allowed")
}

/// The word FIFO: answers of the collectors, rotated to their bus lanes.
struct Words<'m> {
    valid: Sig<'m>,
    data: Sig<'m>,
    /// A word arrives and finds no room.
    overflow: Sig<'m>,
    /// A request is not answered.
    awaited: Sig<'m>,
}

/// Walks the rows of a drain word by word, sends the requests and rotates the answers. Returns whether a service is
/// accepted, and the word FIFO.
fn requests<'m>(
    m: &'m ModuleBuilder,
    p: &WriterParams,
    ports: &WriterPorts,
    io: &Start<'m>,
    job: &Job<'m>,
    go: Sig<'m>,
    word_pop: Sig<'m>,
) -> (Asks<'m>, Words<'m>) {
    let (rst, walk) = (io.rst, &p.walk);
    let valid = m.reg("ask_valid", u(1));
    let count_ty = u(clog2(u64::from(p.depth())) + 1);
    let space = m.reg("ask_space", count_ty);
    let issue = (valid.q() & space.q().ne_lit(0)).named("ask_issues");
    let counted = m.mux(issue, space.q().sub_lit(1), space.q().add_lit(1));
    space.next(counted).en(issue ^ word_pop).rst(rst, p.depth());
    let row_ends = m.wire("ask_row_ends", u(1));
    let odo: Odometer = address::odometer(m, "ask", (walk, &io.clients), job, go, row_ends.sig(), true);
    let index = m.reg("ask_w", u(p.word_index_bits()));
    let client = odo.client.clone();
    let ends = io.clients.lit(walk, &client, |g| g.array_words() - 1, index.q().ty());
    let at_end = index.q().eq(ends).named("ask_row_last");
    // Rows with a stride: each collector word becomes several bus words.
    let parts = Parts::of(m, (walk, &io.clients), &client, at_end, go, issue);
    let row_last = parts.as_ref().map_or(at_end, |p| at_end & p.last);
    row_ends.drive(issue & row_last);
    let last = (row_last & odo.last).named("ask_last");
    let done = (issue & last).named("ask_ends");
    let advances = parts.as_ref().map_or(issue, |p| issue & p.last);
    index.next(m.mux(go | row_last, m.lit(0, index.q().ty()), index.q().add_lit(1))).en(go | advances);
    valid.next(go).en(go | done).rst(rst, 0);
    let slot = hold(m, "ask_slot", go, job.slot);
    let low = walk.bus_bytes().trailing_zeros();
    let forms: Vec<_> = walk.groups.iter().map(|g| walk.address_steps(g, None)).collect();
    let shift = walk.rotates().then(|| {
        let first = job.low_address(m, walk, io, low);
        let at = odo.accumulate(m, "ask_address".into(), first, &io.clients, &forms);
        services::shift_bits(walk, at).unwrap_or(at)
    });

    let low_first: Vec<_> = (0..walk.groups.len()).rev().map(|g| io.clients.is(&client, g)).collect();
    let word =
        Word { slot, w: index.q(), group: pack(m, &low_first), digits: digits(walk, odo.digits.iter().copied()) };
    let asks = parts.as_ref().map_or(issue, |p| issue & p.first);
    for (port, value) in ports.tokens.fields().into_iter().zip(Tokens { valid: asks, word }.fields()) {
        let q = format!("{}_q", port.name);
        let sent = if *port == ports.tokens.valid {
            m.reg(q, u(1)).next(*value).rst(rst, 0).q()
        } else {
            hold(m, q, issue, *value)
        };
        port.output(m, sent);
    }

    for (port, chosen) in ports.drained.iter().zip(&client) {
        port.output(m, m.reg(format!("{}_q", port.name), u(1)).next(done & *chosen).rst(rst, 0).q());
    }
    let request = Request { issue, client, shift, part: parts.map(|p| p.number) };
    let words = answers(m, p, ports, io, request, word_pop);
    (Asks { free: !valid.q() | done, left: valid.q(), under_way: valid.q() | words.awaited }, words)
}

/// State of the requests.
struct Asks<'m> {
    /// A service is accepted.
    free: Sig<'m>,
    /// Requests are left.
    left: Sig<'m>,
    /// Requests are left, or unanswered.
    under_way: Sig<'m>,
}

/// A request in the cycle in which it is issued.
struct Request<'m> {
    issue: Sig<'m>,
    client: Vec<Sig<'m>>,
    shift: Option<Sig<'m>>,
    part: Option<Sig<'m>>,
}

/// What the answers of the requests need.
struct Notes<'m> {
    /// A request is not answered.
    some: Sig<'m>,
    /// Of the first of them.
    head: Vec<Sig<'m>>,
}

impl<'m> Notes<'m> {
    /// A FIFO, or where answers need nothing, a counter.
    fn new(m: &'m ModuleBuilder, depth: u32, rst: Sig<'m>, push: Sig<'m>, noted: &[Sig<'m>], pop: Sig<'m>) -> Self {
        if noted.is_empty() {
            let count = m.reg("asked_count", u(clog2(u64::from(depth)) + 1));
            let moved = m.mux(push, count.q().add_lit(1), count.q().sub_lit(1));
            count.next(moved).en(push ^ pop).rst(rst, 0);
            return Notes { some: count.q().ne_lit(0), head: vec![] };
        }
        let notes = fifo(m, "asked", depth, rst, push, pack(m, noted), pop);
        let types: Vec<Ty> = noted.iter().map(|s| s.ty()).collect();
        Notes { some: notes.some, head: unpack(notes.head, &types) }
    }
}

/// The answers: each word is rotated and enters the word FIFO.
fn answers<'m>(
    m: &'m ModuleBuilder,
    p: &WriterParams,
    ports: &WriterPorts,
    io: &Start<'m>,
    request: Request<'m>,
    word_pop: Sig<'m>,
) -> Words<'m> {
    let (walk, rst, Request { issue, client, shift, part }) = (&p.walk, io.rst, request);
    let answered = ports.answer.valid.input(m);
    let arrived = if part.is_some() {
        let sent = m.reg("part_sent", u(1)).next(issue).rst(rst, 0).q();
        m.delay(sent, p.read_latency, "part_arrives")
    } else {
        answered
    };
    // What spreads a word over bus words depends on its group.
    let client: Vec<_> = if part.is_some() && client.len() > 1 { client } else { vec![] };
    let noted: Vec<_> = client.iter().copied().chain(shift).chain(part).collect();
    let notes = Notes::new(m, p.depth(), rst, issue, &noted, arrived);
    m.assert(rst, "every answer belongs to a request", !arrived | notes.some);
    let mut data = ports.answer.data.input(m);
    if part.is_some() {
        let held = hold(m, "word_kept", answered, data);
        data = steps::spread(
            m,
            (walk, &io.clients),
            &notes.head,
            m.mux(answered, data, held),
            notes.head[noted.len() - 1],
        );
    }
    let mut push = arrived;
    let mut amount = shift.map(|_| notes.head[client.len()]);
    for k in 0..walk.rotate_stages() {
        if let Some(s) = amount {
            let turned = rotate_level(m, walk, data, s, k as u32, true);
            data = m.reg(format!("rotate{k}_data"), data.ty()).next(turned).q();
            amount = Some(m.reg(format!("rotate{k}_shift"), s.ty()).next(s).q());
        }
        push = m.reg(format!("rotate{k}_valid"), u(1)).next(push).rst(rst, 0).q();
    }
    let words = fifo(m, "word", p.depth(), rst, push, data, word_pop);
    Words { valid: words.valid, data: words.head, overflow: push & !words.room, awaited: notes.some }
}

/// Row descriptor of the data side.
#[derive(Clone)]
struct Descriptor<'m> {
    /// Empty if there is one client.
    client: Vec<Sig<'m>>,
    /// Last row of the drain.
    last: Sig<'m>,
    any: Sig<'m>,
    /// Positions of the first and last element sent; last virtual beat of the row.
    from: Sig<'m>,
    to: Sig<'m>,
    end: Sig<'m>,
    /// Address of the first beat sent, in beats, modulo [`Walk::burst_beats`].
    window: Sig<'m>,
    shift: Option<Sig<'m>>,
    /// If runs overlap: it is of the last drain of a run.
    ends_run: Option<Sig<'m>>,
}

impl<'m> Descriptor<'m> {
    fn of(p: &WriterParams, io: &Start<'m>, row: &Row<'m>) -> Self {
        let walk = &p.walk;
        let end = row.last_beat(walk, &io.clients);
        let bits = (walk.burst_beats() as u64).trailing_zeros();
        let window = row.low_address.slice(walk.bus_bytes().trailing_zeros(), bits);
        let client = if row.client.len() > 1 { row.client.clone() } else { vec![] };
        let ends_run = p.overlaps().then_some(row.slot);
        let (last, any, from, to, shift) = (row.last, row.any, row.from, row.to, row.shift);
        Descriptor { client, last, any, from, to, end, window, shift, ends_run }
    }
}

impl<'m> Fields<'m> for Descriptor<'m> {
    fn each(&mut self, see: &mut dyn FnMut(String, &mut Sig<'m>)) {
        self.client.iter_mut().enumerate().for_each(|(k, s)| see(format!("client{k}"), s));
        let fields = [
            ("last", &mut self.last),
            ("any", &mut self.any),
            ("from", &mut self.from),
            ("to", &mut self.to),
            ("end", &mut self.end),
            ("window", &mut self.window),
        ];
        for (name, s) in fields {
            see(name.into(), s);
        }
        self.shift.iter_mut().for_each(|s| see("shift".into(), s));
        self.ends_run.iter_mut().for_each(|s| see("ends_run".into(), s));
    }
}

/// The end of a drain on the data side.
struct DrainEnd<'m> {
    /// A row is sent.
    busy: Sig<'m>,
    push: Sig<'m>,
    /// Empty if there is one client.
    client: Vec<Sig<'m>>,
    /// If runs overlap: it is the last drain of a run.
    ends_run: Option<Sig<'m>>,
    /// The last beat of a burst enters the skid buffer in this cycle.
    burst_ends: Sig<'m>,
    /// WVALID.
    offered: Sig<'m>,
    drive_room: Wire<'m>,
}

/// The W channel.
struct DataSide<'a, 'm> {
    m: &'m ModuleBuilder,
    walk: &'a Walk,
    clients: &'a Clients<'m>,
    bus: &'a AxiWrite<Port>,
    rst: Sig<'m>,
    /// Reset of the registers in front of the bus.
    forget: Sig<'m>,
    /// A reset has come: open bursts are completed without strobes.
    ends: Sig<'m>,
    /// The address of a burst is on its channel for the first cycle.
    addressed: Sig<'m>,
}

impl<'m> DataSide<'_, 'm> {
    /// Steps through the virtual beats of the present row, one per cycle, and sends those with elements to write.
    fn build(self, queue: Queue<'m, Descriptor<'m>>, words: Words<'m>, word_pop: Wire<'m>) -> DrainEnd<'m> {
        let (m, walk, rst) = (self.m, self.walk, self.rst);
        let Queue { valid: waiting, head, pop: pops, .. } = queue;
        let flag = |name: &str| m.reg(format!("send_{name}"), u(1));
        let (busy, sends, takes, opens, last) =
            (flag("busy"), flag("beat"), flag("takes"), flag("opens"), flag("last"));
        let ty = u(position_bits(walk) - walk.word.trailing_zeros());
        // The virtual beat behind the present one: what it is needs no adder.
        let next = m.reg("send_next", ty);
        let (at_first, at_last) = (flag("at_first"), flag("at_last"));
        let window = m.reg("send_window", head.window.ty());
        let marker_room = m.wire("marker_room", u(1));
        let ahead = m.reg("bursts_ahead", u(OPEN_BITS));
        let wready = self.bus.wready.input(m);
        let channel = Skid::new(m, "w");

        let pop = m.wire("send_pop", u(1));
        let now = head.held(m, "now", pop.sig());
        let has_word = (!takes.q() | words.valid | self.ends).called("send_has_word");
        let has_way = (!sends.q() | (channel.room & (!opens.q() | ahead.q().ne_lit(0)))).called("send_has_way");
        let has_end = !(last.q() & now.last).called("send_drain_last") | marker_room.sig() | self.ends;
        let step = ((busy.q() & has_word & has_way).called("send_may_step") & has_end).named("send_steps");
        pop.drive(waiting & (!busy.q() | (step & last.q())));
        let pop = pop.sig();
        pops.drive(pop);
        let word = step & takes.q();
        word_pop.drive(word);

        let (first, to) = (beat_of(walk, now.from), beat_of(walk, now.to));
        let sent = (step & sends.q()).named("w_load");
        let starts = next.q().eq(first).called("send_starts");
        let window_full = window.q().reduce_and().named("window_full");
        let has_more = (now.any & next.q().ge(first) & next.q().le(to) & !last.q()).named("send_more");
        let (head_at_first, head_at_last) = (beat_of(walk, head.from).eq_lit(0), beat_of(walk, head.to).eq_lit(0));
        let head_first = (head.any & head_at_first).named("head_sends");
        at_first.next(m.mux(pop, head_at_first, starts)).en(pop | step);
        at_last.next(m.mux(pop, head_at_last, next.q().eq(to))).en(pop | step);
        busy.next(pop).en(pop | (step & last.q())).rst(rst, 0);
        sends.next(m.mux(pop, head_first, has_more)).en(pop | step).rst(rst, 0);
        opens.next(m.mux(pop, head_first, has_more & (starts | window_full))).en(pop | step);
        let next_last = next.q().eq(now.end).named("send_next_last");
        let single = head.end.eq_lit(0);
        last.next(m.mux(pop, single, next_last)).en(pop | step);
        // The last virtual beat of a misaligned row needs no new word; its first beat always does.
        let extra = now.shift.map_or(m.lit(0, u(1)), |s| s.reduce_or());
        takes.next(pop | (!last.q() & !(next_last & extra))).en(pop | step).rst(rst, 0);
        next.next(m.mux(pop, m.lit(1, ty), next.q().add_lit(1))).en(pop | step);
        window.next(m.mux(pop, head.window, window.q().add_lit(1))).en(pop | sent);
        let opened = sent & opens.q();
        let counted = m.mux(self.addressed, ahead.q().add_lit(1), ahead.q().sub_lit(1));
        ahead.next(counted).en(self.addressed ^ opened).rst(rst, 0);

        let (at_first, at_last) = (at_first.q(), at_last.q());
        let wlast = (at_last | window_full).named("burst_last");
        let data = self.data(&now, word, words.data);
        let strobes = self.strobes(&now, at_first, at_last);
        let first_row = StridedRow { client: &head.client, shift: head.shift };
        let strobes = steps::stride_strobes(m, (walk, self.clients), first_row, &now.client, pop, step)
            .map_or(strobes, |stride| strobes & stride);
        let strobes = m.mux(self.ends, m.lit(0, strobes.ty()), strobes).named("send_strb");
        let parts = [("data", data.named("send_data")), ("last", wlast), ("strb", strobes)];
        let (valid, offered) = channel.offer(m, self.forget, sent, &parts, wready, None);
        self.bus.wvalid.output(m, valid);
        for (port, value) in [&self.bus.wdata, &self.bus.wlast, &self.bus.wstrb].into_iter().zip(offered) {
            port.output(m, value);
        }
        let push = step & last.q() & now.last;
        let (ends_run, burst_ends) = (now.ends_run, sent & wlast);
        DrainEnd {
            busy: busy.q(),
            push,
            client: now.client,
            ends_run,
            burst_ends,
            offered: valid,
            drive_room: marker_room,
        }
    }

    /// WDATA: merges the present word with the one before. `pop`: the word is taken.
    fn data(&self, now: &Descriptor<'m>, pop: Sig<'m>, word: Sig<'m>) -> Sig<'m> {
        let (m, walk) = (self.m, self.walk);
        let previous = hold(m, "previous", pop, word);
        let from_previous =
            |s: Sig<'m>, j: u32| if j + 1 == walk.word { m.lit(0, u(1)) } else { s.gt(m.lit(j, s.ty())) };
        now.shift.map_or(word, |s| merge(m, walk, previous, word, |j| from_previous(s, j)))
    }

    /// Byte strobes from the first to the last element of the row.
    fn strobes(&self, now: &Descriptor<'m>, at_first: Sig<'m>, at_last: Sig<'m>) -> Sig<'m> {
        let (m, lanes) = (self.m, self.walk.word.trailing_zeros());
        if lanes == 0 {
            return m.repeat(m.lit(1, u(1)), self.walk.bytes);
        }
        let (low, high) = (now.from.slice(0, lanes), now.to.slice(0, lanes));
        let lane = |j: u32| {
            let at = m.lit(j, u(lanes));
            // The comparison of an outermost lane is constant.
            let from = if j + 1 == self.walk.word { m.lit(1, u(1)) } else { !at_first | low.le(at) };
            let to = if j == 0 { m.lit(1, u(1)) } else { !at_last | high.ge(at) };
            m.repeat((from & to).called(format!("lane{j}_sent")), self.walk.bytes)
        };
        m.concat(&(0..self.walk.word).rev().map(lane).collect::<Vec<_>>()).called("lanes_sent")
    }
}

/// Counts write responses: drives `written` when a drain is in DRAM and `done` when everything is. Returns BVALID, and
/// whether some drain is not yet in DRAM.
fn responses<'m>(
    m: &'m ModuleBuilder,
    ports: &WriterPorts,
    left: &Left<'_, 'm>,
    end: DrainEnd<'m>,
) -> (Sig<'m>, Sig<'m>) {
    let (io, rst) = (left.io, left.io.rst);
    let (sent, acked) = (m.reg("bursts_sent", u(OPEN_BITS + 1)), m.reg("bursts_acked", u(OPEN_BITS + 1)));
    let more = sent.q().add_lit(1).called("bursts_sent_next");
    sent.next(more).en(end.burst_ends).rst(rst, 0);
    let bvalid = ports.bus.bvalid.input(m);
    ports.bus.bready.output(m, m.lit(1, u(1)));
    acked.next(acked.q().add_lit(1)).en(bvalid).rst(rst, 0);
    m.assert(rst, "every response belongs to a burst that was sent", !bvalid | sent.q().ne(acked.q()));
    let target = m.mux(end.burst_ends, more, sent.q());
    let mut parts = vec![target];
    parts.extend(&end.client);
    parts.extend(end.ends_run);
    let types: Vec<Ty> = parts.iter().map(|s| s.ty()).collect();
    let fire = m.wire("drain_complete", u(1));
    let queue = fifo(m, "marker", DRAINS_IN_FLIGHT as u32, rst, end.push, pack(m, &parts), fire.sig());
    end.drive_room.drive(queue.room);
    let head = unpack(queue.head, &types);
    fire.drive(queue.valid & !(acked.q() - head[0]).called("marker_passed_by").msb());
    for (i, port) in ports.written.iter().enumerate() {
        let mine = if end.client.len() > 1 { fire.sig() & head[1 + i] } else { fire.sig() };
        let pulse = m.reg(format!("{}_q", port.name), u(1)).next(mine).rst(rst, 0);
        port.output(m, pulse.q());
    }
    let done = m.reg("done_q", u(1));
    if end.ends_run.is_some() {
        done.next(fire.sig() & head[head.len() - 1]).rst(rst, 0);
    } else {
        let mut all = fire.sig() & left.is_last(fire.sig());
        // At some sizes there may be no drain.
        if !matches!(left.services, Formula::Const(_)) {
            let none = m.reg("drains_none", u(1)).next(io.start & !left.total().reduce_or()).rst(rst, 0);
            all = all | none.q();
        }
        done.next(!io.start & (done.q() | all)).rst(rst, 0);
    }
    ports.done.output(m, done.q());
    (bvalid, queue.some)
}

/// The drains of a run.
struct Left<'a, 'm> {
    m: &'m ModuleBuilder,
    io: &'a Start<'m>,
    /// How many the run has.
    services: Formula,
}

impl<'m> Left<'_, 'm> {
    /// In the cycle of the start.
    fn total(&self) -> Sig<'m> {
        let bits = self.io.program.bits(&self.services).clamp(2, MOST_DRAIN_BITS);
        self.io.program.at_start(&self.services, u(bits))
    }

    /// Counts the drains that are left; 1 if one is.
    fn is_last(&self, goes: Sig<'m>) -> Sig<'m> {
        let (m, io, total) = (self.m, self.io, self.total());
        let left = m.reg("drains_left", total.ty());
        left.next(m.mux(io.start, total, left.q().sub_lit(1))).en(io.start | goes).rst(io.rst, 0);
        let one = m.reg("drain_left", u(1));
        one.next(m.mux(io.start, total.eq_lit(1), left.q().eq_lit(2))).en(io.start | goes).rst(io.rst, 0);
        one.q()
    }
}
