//! Feeders: the buffers of one input group that touch the PEs (L1 modules of the group).
//!
//! The load stream hops one feeder a cycle, entering where the waves enter; each feeder keeps the words of its banks.
//! Waves bring (row, col, slot) at the group's phase; `FEED_LATENCY` cycles later the elements are at the outputs
//! (registers: address, memory, memory output, element multiplexer); a node with a later `ready` than the group's first
//! gets its element as much later.
//!
//! A load is all words of the hull in order, with any gaps, the first one marked. Waves may read it from
//! `array::contract::timing::LOADED_TO_LAUNCH` cycles after its last word on; the next load of the same half may begin
//! `FEED_LATENCY` cycles after the last wave that reads it.
//!
//! Ports: [`FeederPorts`].

use super::buffer::{halves, Buffer, Place, Taken};
use super::words::{bank_start, common, BufferPorts, StreamShape, Ties};
use crate::naming::{memory_style, stem, stream_chain};
use crate::operators::wires;
use crate::port::{Chain, Port};
use crate::stream::Passing;
use array::contract::pick;
use array::contract::timing::FEED_LATENCY;
use array::vsa::{Bank, InputGroup, NodeId, Op, Vsa};
use rtl::{clog2, u, Design, ModuleBuilder, Sig, Template};

#[derive(Clone, Debug, PartialEq)]
pub struct Feeder {
    /// Of the module.
    pub name: String,
    pub buffer: Buffer,
    pub banks: Vec<Bank>,
    pub served: Vec<Served>,
    /// Elements of a bus word, counted from the row's first element, where the wave's element may be.
    pub starts: u128,
}

/// An output: the values of a port, some cycles after the group's first.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    pub node: NodeId,
    pub name: String,
    pub port: u32,
    pub late: u32,
}

/// The interface of a [`Feeder`].
#[derive(Clone, Debug, PartialEq)]
pub struct FeederPorts {
    /// The fields of the load stream that a feeder looks at.
    pub stream: Passing<Chain>,
    pub told: BufferPorts,
    /// By bank: the elements of the word that stands here which the bank stores, where they differ from PE to PE
    /// (see [`Feeder::lanes`]).
    pub picks: Vec<Option<Port>>,
    /// Elements for the PEs, in the order of [`Feeder::served`].
    pub served: Vec<Port>,
}

/// Input nodes of a group that something uses, with port and `ready`.
pub fn input_nodes(vsa: &Vsa, live: &[bool], g: usize) -> Vec<(NodeId, u32, i64)> {
    let of_group = |(k, node): (usize, &array::vsa::Node)| match node.op {
        Op::Input { group, port } if group as usize == g && live[k] => {
            Some((NodeId(k as u32), port, vsa.schedule.ready[k]))
        }
        _ => None,
    };
    vsa.nodes.iter().enumerate().filter_map(of_group).collect()
}

/// Time at which (row, col, slot) reach the feeder.
pub fn phase(nodes: &[(NodeId, u32, i64)]) -> i64 {
    nodes.iter().map(|n| n.2).min().unwrap_or(FEED_LATENCY) - FEED_LATENCY
}

/// The buffer is filled once in a run.
pub fn loaded_once(vsa: &Vsa, group: &InputGroup) -> bool {
    group.loads_once(vsa)
}

impl Feeder {
    /// The feeder of input group `g` that serves `nodes` (see [`input_nodes`]).
    pub fn new(vsa: &Vsa, g: usize, shape: StreamShape, nodes: &[(NodeId, u32, i64)]) -> Feeder {
        let group = &vsa.inputs[g];
        let array = &vsa.arrays[group.array as usize];
        let first = phase(nodes) + FEED_LATENCY;
        let served = |(id, port, ready): &(NodeId, u32, i64)| Served {
            node: *id,
            name: stem(vsa, *id),
            port: *port,
            late: (ready - first) as u32,
        };
        Feeder {
            name: format!("feed{g}_{}", array.name.to_lowercase()),
            buffer: Buffer::new(
                vsa,
                group.array,
                &group.hull,
                [&group.row, &group.col],
                group.feeders(),
                |hops| group.pe(vsa, hops),
                !loaded_once(vsa, group),
                shape,
            ),
            banks: group.banks.clone(),
            served: nodes.iter().map(served).collect(),
            starts: pick::starts(&vsa.counters, &group.col, array.word as i64),
        }
    }

    /// The interface.
    pub fn ports(&self) -> FeederPorts {
        let Buffer { word, ty, shape, double, .. } = &self.buffer;
        let stream = shape
            .passing(*double, Some(*word as u32 * 8 * ty.bytes()))
            .map(|name, ty| stream_chain(&format!("ld_{name}"), *ty));
        let pick = |b: usize| {
            self.start(b).is_none().then(|| Port::new(format!("pick{b}"), u(self.kept(b).len() as u32 * ty.bits())))
        };
        FeederPorts {
            stream,
            told: self.buffer.told((0..self.banks.len()).map(|b| self.ties(b)).collect()),
            picks: (0..self.banks.len()).map(pick).collect(),
            served: self.served.iter().map(|s| Port::new(&s.name, wires(*ty))).collect(),
        }
    }

    /// Where the row of bank `b` begins in its first word, if that is the same at all PEs.
    fn start(&self, b: usize) -> Option<i64> {
        self.buffer.start(&self.banks[b])
    }

    /// Elements that bank `b` stores of each word, counted from the row's first element, in the order of its memory
    /// word.
    fn kept(&self, b: usize) -> Vec<i64> {
        pick::list(pick::stored(self.starts, self.banks[b].ports, self.buffer.word))
    }

    /// What pick input `b` of the feeder at `p` takes of the word that stands there, as elements of the bus, lowest
    /// first; nothing where the feeder picks by itself.
    pub fn lanes(&self, b: usize, p: [i64; 2]) -> Option<Vec<i64>> {
        let (_, start) = bank_start(&self.banks[b], self.buffer.word, p);
        self.start(b).is_none().then(|| self.kept(b).iter().map(|e| (e + start) % self.buffer.word).collect())
    }

    /// The constants that bank `b` takes.
    fn ties(&self, b: usize) -> Ties {
        let bank = &self.banks[b];
        self.buffer.ties(bank, b, false, bank.words_per_row > 1 && self.start(b).is_none())
    }
}

impl Template for Feeder {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        m.doc(format!(
            "Feeder of `{}`: keeps its part of each load, two halves in turn, and gives it to the PEs wave by wave.",
            self.buffer.array
        ));
        let b = Build::new(m, self);
        for (k, bank) in self.banks.iter().enumerate() {
            let values = b.bank(k);
            for (served, port) in self
                .served
                .iter()
                .zip(&b.ports.served)
                .filter(|n| (bank.port..bank.port + bank.ports).contains(&n.0.port))
            {
                let value =
                    m.delay(values[(served.port - bank.port) as usize], served.late, format!("{}_d", served.name));
                port.output(m, value);
            }
        }
    }
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    of: &'a Feeder,
    ports: FeederPorts,
    /// The load stream as it stands in one feeder, registered.
    stream: Passing<Sig<'m>>,
    data: Sig<'m>,
    /// Wave inputs; `None` where they are constant.
    row: Option<Sig<'m>>,
    col: Option<Sig<'m>>,
    slot: Option<Sig<'m>>,
    /// `col` when the elements are picked, where there is a choice.
    lane: Option<Sig<'m>>,
}

/// The value of a field, registered, which is what goes on.
pub(super) fn pass<'m>(m: &'m ModuleBuilder, chain: &Chain) -> Sig<'m> {
    let q = m.reg(format!("{}_q", chain.port.name), chain.port.ty).next(chain.port.input(m)).q();
    chain.onward[0].output(m, q);
    q
}

impl<'a, 'm> Build<'a, 'm> {
    fn new(m: &'m ModuleBuilder, of: &'a Feeder) -> Self {
        let ports = of.ports();
        let stream = ports.stream.map(|_, chain| pass(m, chain));
        let data = stream.data.unwrap_or(stream.valid);
        let input = |chain: &Option<Chain>| chain.as_ref().map(|c| c.port.input(m));
        let told = &ports.told;
        let (slot, row, col) = (input(&told.slot), input(&told.row), input(&told.col));
        let bits = of.buffer.word.trailing_zeros();
        let lane = (of.starts.count_ones() > 1)
            .then(|| m.delay(of.buffer.col.value(m, col).resize(bits), FEED_LATENCY as u32 - 1, "lane"));
        // Waves hop along the axes on which feeders stand.
        for (chain, value) in [(&told.row, row), (&told.col, col), (&told.slot, slot)] {
            chain.iter().zip(value).for_each(|(chain, value)| {
                chain.hand_on(m, value, 0);
            });
        }
        Build { m, of, ports, stream, data, row, col, slot, lane }
    }

    /// The words that belong to the bank.
    fn taken(&self, b: usize) -> Taken<'m> {
        let (Feeder { buffer, banks, .. }, ties) = (self.of, &self.ports.told.ties[b]);
        let mut taken = buffer.row_hit(self.m, &banks[b], &self.stream, ties);
        taken.within(self.m, self.stream.w, &buffer.words(&banks[b]), &ties.w);
        taken
    }

    /// Values of the bank's ports, `FEED_LATENCY` after the wave.
    fn bank(&self, b: usize) -> Vec<Sig<'m>> {
        let (m, of, bank) = (self.m, self.of, &self.of.banks[b]);
        let (kept, bits) = (of.kept(b), of.buffer.ty.bits());
        let data = match (&self.ports.picks[b], of.start(b)) {
            (Some(port), _) => port.input(m),
            (None, Some(start)) => m
                .concat(&kept.iter().rev().map(|e| self.element(e + start)).collect::<Vec<_>>())
                .called(format!("kept{b}")),
            (None, None) => common(m, None, u(kept.len() as u32 * bits)),
        };
        let read = self.memory(b, data, self.address(b));
        let stored = |word: Sig<'m>, e: i64| {
            // What is not kept is not driven: a fault of the netlist.
            let at = kept.iter().position(|k| *k == e.rem_euclid(of.buffer.word));
            at.map_or_else(
                || m.wire("element_not_kept", wires(of.buffer.ty)).sig(),
                |at| word.slice(at as u32 * bits, bits).to(wires(of.buffer.ty)),
            )
        };
        let starts = pick::list(of.starts);
        let Some(lane) = self.lane else {
            let value = m.delay(read, 2, format!("value{b}"));
            return (0..bank.ports as i64).map(|k| stored(value, starts[0] + k)).collect();
        };
        let read = m.reg(format!("read{b}"), read.ty()).next(read).q();
        let port = |k: i64| {
            select(
                m,
                lane,
                &starts.iter().map(|s| (*s, stored(read, s + k))).collect::<Vec<_>>(),
                &format!("picked{b}_{k}"),
            )
        };
        (0..bank.ports as i64)
            .map(port)
            .enumerate()
            .map(|(k, v)| m.reg(format!("value{b}_{k}"), v.ty()).next(v).q())
            .collect()
    }

    /// Address of the wave's word in the bank.
    fn address(&self, b: usize) -> Sig<'m> {
        let (m, buffer) = (self.m, &self.of.buffer);
        let row = buffer.row.value(m, self.row);
        if self.of.banks[b].words_per_row == 1 {
            return row;
        }
        buffer.word_address(row, buffer.position(m, self.col, &self.ports.told.ties[b], self.of.start(b)))
    }

    /// Element `e`, modulo the word, of the word that stands here.
    fn element(&self, e: i64) -> Sig<'m> {
        let Buffer { word, ty, .. } = self.of.buffer;
        self.data.slice(e.rem_euclid(word) as u32 * 8 * ty.bytes(), ty.bits())
    }

    /// Memory of both halves. Its address is registered, so `address` is two cycles before the word.
    fn memory(&self, b: usize, data: Sig<'m>, address: Sig<'m>) -> Sig<'m> {
        let (m, of, bank) = (self.m, self.of, &self.of.banks[b]);
        let depth = bank.depth.max(1);
        let taken = self.taken(b);
        let hit = m.all(&taken.terms).named(format!("hit{b}"));
        let at = u(clog2(depth as u64));
        let next = of.buffer.count(
            m,
            (format!("fill{b}"), at),
            bank,
            bank.words_per_row,
            &self.stream,
            [hit, hit],
            &taken.places,
        );
        // One word for the whole run is a register.
        if depth == 1 && self.slot.is_none() {
            let kept = m.reg(format!("bank{b}"), data.ty()).en(hit).next(data).q();
            return m.reg(format!("word{b}"), data.ty()).next(kept).q();
        }
        let (to, from) =
            (Place { half: self.stream.slot, address: next }, Place { half: self.slot, address: address.resize(at.w) });
        let (write, read, words) =
            halves(m, at, depth, [to, from], |x, name| m.reg(format!("{name}{b}"), x.ty()).next(x).q());
        let memory = m.mem(format!("bank{b}"), words as u32, data.w(), memory_style(words, data.w(), of.buffer.uram));
        memory.write(hit, write, data);
        memory.read_sync(format!("word{b}"), m.lit(1, u(1)), read)
    }
}

/// The value for the lane, one of those listed: a multiplexer over the bits in which they differ, and what its parts
/// are called.
fn select<'m>(m: &'m ModuleBuilder, lane: Sig<'m>, values: &[(i64, Sig<'m>)], name: &str) -> Sig<'m> {
    let differ = values.iter().fold(0, |bits, v| bits | (v.0 ^ values[0].0));
    let Some(bit) = differ.checked_ilog2() else { return values[0].1 };
    let (ones, zeros): (Vec<_>, Vec<_>) = values.iter().partition(|v| v.0 >> bit & 1 == 1);
    let part = |of: &[(i64, Sig<'m>)]| select(m, lane, of, &format!("{name}_{}", of[0].0));
    m.mux(lane.bit(bit), part(&ones), part(&zeros)).called(name)
}
