//! Feeder: the double buffer of an input group beside a PE (L1 I/O module).
//!
//! ```text
//! ld_* ─►[reg]─┬────────────────────────► ld_*_out (next feeder)
//!              ├─ window ─► write address, enables of the banks
//!              └─ data ───► memory, 2 halves ─► register ─► multiplexer ─► register ─► PE
//! row, col, slot ─► read address ─►[reg]─┘
//! ```
//! Ports: [`FeederPorts`]. The load stream is a daisy chain, one feeder per cycle, from the corner where waves enter.
//! Each feeder stores the words of its banks. Waves bring (row, col, slot) at the [`phase`] of the group. The elements
//! are at the outputs [`FEED_LATENCY`] cycles later: address, memory, memory output register, element multiplexer. A
//! node with a later `ready` gets its element through further registers, or its bank the address through them.
//! Banks of lanes that lie across rows share window, write address and read address (`array::contract::feed`).
//!
//! Contract: a load is all words of the footprint in order, with any gaps; the first one is marked. Waves may read it
//! from `array::contract::timing::LOADED_TO_LAUNCH` cycles after its last word on. The next load of the same half may
//! start once every node has its element of the last wave that reads it.

use super::buffer::{halves, Buffer, Contents, Count, Place, Selection};
use super::words::{bank_start, common, equals, BufferPorts, StreamShape, Ties};
use crate::naming::{memory_style, stem, stream_chain};
use crate::operators::wires;
use crate::port::{Chain, Port};
use crate::stream::StreamItem;
use array::contract::feed::{self, Read, Set};
use array::contract::pick;
use array::contract::timing::FEED_LATENCY;
use array::vsa::{Bank, InputGroup, NodeId, Op, Vsa};
use rtl::{clog2, u, Design, ModuleBuilder, Sig, Template};

#[derive(Clone, Debug, PartialEq)]
pub struct Feeder {
    /// Name of the module.
    pub name: String,
    pub buffer: Buffer,
    pub banks: Vec<Bank>,
    pub sets: Vec<FeederSet>,
    pub outputs: Vec<FeederOutput>,
    /// Bit set: positions in a bus word, counted from the first element of the row, at which the element of a wave can
    /// be.
    pub starts: u128,
}

/// Banks that are filled and read together.
#[derive(Clone, Debug, PartialEq)]
pub struct FeederSet {
    pub set: Set,
    /// Per bank of the set, by how many cycles it is read later than the earliest bank.
    pub waits: Vec<i64>,
}

/// An output: the element of a port of the group for a node, `late` cycles after the earliest output.
#[derive(Clone, Debug, PartialEq)]
pub struct FeederOutput {
    pub node: NodeId,
    pub name: String,
    pub port: u32,
    pub late: u32,
}

/// The interface of a [`Feeder`].
#[derive(Clone, Debug, PartialEq)]
pub struct FeederPorts {
    /// The fields of the load stream that a feeder uses.
    pub stream: StreamItem<Chain>,
    pub buffer: BufferPorts,
    /// By bank: the elements of the present word that it stores. The array wires them if they differ between PEs, see
    /// [`Feeder::lanes`].
    pub picks: Vec<Option<Port>>,
    /// Elements for the PEs, in the order of [`Feeder::outputs`].
    pub outputs: Vec<Port>,
}

/// The live input nodes of a group, with port and `ready`.
pub fn input_nodes(vsa: &Vsa, live: &[bool], g: usize) -> Vec<(NodeId, u32, i64)> {
    let of_group = |(k, node): (usize, &array::vsa::Node)| match node.op {
        Op::Input { group, port } if group as usize == g && live[k] => {
            Some((NodeId(k as u32), port, vsa.schedule.ready[k]))
        }
        _ => None,
    };
    vsa.nodes.iter().enumerate().filter_map(of_group).collect()
}

/// Cycle, relative to the wave, in which (row, col, slot) reach the feeder.
pub fn phase(nodes: &[(NodeId, u32, i64)]) -> i64 {
    nodes.iter().map(|n| n.2).min().unwrap_or(FEED_LATENCY) - FEED_LATENCY
}

/// The buffer is filled once per run.
pub fn loaded_once(vsa: &Vsa, group: &InputGroup) -> bool {
    group.loads_once(vsa)
}

impl Feeder {
    /// The feeder of input group `g` that serves `nodes` (see [`input_nodes`]).
    pub fn new(vsa: &Vsa, g: usize, shape: StreamShape, nodes: &[(NodeId, u32, i64)]) -> Feeder {
        let group = &vsa.inputs[g];
        let array = &vsa.arrays[group.array as usize];
        let first = phase(nodes) + FEED_LATENCY;
        let output = |(id, port, ready): &(NodeId, u32, i64)| FeederOutput {
            node: *id,
            name: stem(vsa, *id),
            port: *port,
            late: (ready - first) as u32,
        };
        let starts = pick::starts(&vsa.counters, &group.col, array.word as i64);
        let double = !loaded_once(vsa, group);
        let late = |set: Set| {
            let of = |&b: &usize| {
                let ports = group.banks[b].port..group.banks[b].port + group.banks[b].ports;
                nodes.iter().filter(|n| ports.contains(&n.1)).map(|n| n.2 - first).collect()
            };
            let late: Vec<Vec<i64>> = set.banks.iter().map(of).collect();
            (set, late)
        };
        let mut feeder = Feeder {
            name: format!("feed{g}_{}", array.name.to_lowercase()),
            buffer: Buffer::new(
                vsa,
                Contents { array: group.array, footprint: &group.footprint, row: &group.row, col: &group.col },
                group.feeders(),
                |hops| group.pe(vsa, hops),
                double,
                shape,
            ),
            banks: group.banks.clone(),
            sets: vec![],
            outputs: nodes.iter().map(output).collect(),
            starts,
        };
        let sets = feed::sets(&group.banks).into_iter().map(late);
        feeder.sets = sets
            .map(|(set, late)| FeederSet { waits: feeder.read(set.banks[0]).waits(&late, vsa.fabric), set })
            .collect();
        feeder
    }

    pub fn ports(&self) -> FeederPorts {
        let Buffer { word, ty, shape, double, .. } = &self.buffer;
        let stream = shape
            .item(*double, Some(*word as u32 * 8 * ty.bytes()))
            .map(|name, ty| stream_chain(&format!("ld_{name}"), *ty));
        // The banks of a set have the ports of the first one.
        let names = |b: usize| self.sets.iter().any(|of| of.set.banks[0] == b);
        let pick = |b: usize| {
            (names(b) && self.start(b).is_none())
                .then(|| Port::new(format!("pick{b}"), u(self.stored(b).len() as u32 * ty.bits())))
        };
        let none = |b: usize| Ties { u: vec![None; self.banks[b].rows.len()], w: None, o: None };
        let ties = |b: usize| if names(b) { self.ties(b) } else { none(b) };
        FeederPorts {
            stream,
            buffer: self.buffer.ports((0..self.banks.len()).map(ties).collect()),
            picks: (0..self.banks.len()).map(pick).collect(),
            outputs: self.outputs.iter().map(|s| Port::new(&s.name, wires(*ty))).collect(),
        }
    }

    /// Element of its first word in which the row of bank `b` starts, if that is equal at all PEs.
    fn start(&self, b: usize) -> Option<i64> {
        self.buffer.start(&self.banks[b])
    }

    /// Elements of a bus word that bank `b` stores, counted from the first element of the row, in the order of the
    /// memory word.
    fn stored(&self, b: usize) -> Vec<i64> {
        pick::list(pick::stored(self.starts, self.banks[b].ports, self.buffer.word))
    }

    /// Elements of the bus word that are wired to pick input `b` of the feeder at `p`, lowest first. `None` if the
    /// feeder selects them itself.
    pub fn lanes(&self, b: usize, p: [i64; 2]) -> Option<Vec<i64>> {
        let (_, start) = bank_start(&self.banks[b], self.buffer.word, p);
        self.start(b).is_none().then(|| self.stored(b).iter().map(|e| (e + start) % self.buffer.word).collect())
    }

    /// The bank has one word for the whole run, and waves read the same elements of it: nothing waits.
    fn is_constant(&self, b: usize) -> bool {
        self.read(b).is_constant() && self.starts.count_ones() <= 1
    }

    fn read(&self, b: usize) -> Read {
        Read {
            depth: self.banks[b].depth,
            double: self.buffer.double,
            choices: self.starts.count_ones().into(),
            element: self.buffer.ty.bits().into(),
        }
    }

    /// Constant inputs of bank `b`.
    fn ties(&self, b: usize) -> Ties {
        let bank = &self.banks[b];
        self.buffer.ties(bank, b, false, bank.words_per_row > 1 && self.start(b).is_none())
    }
}

impl Template for Feeder {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        m.doc(format!(
            "Feeder of `{}`: keeps its part of each load, two halves in turn, and gives it to the PEs wave by wave.",
            self.buffer.array
        ));
        let b = Build::new(m, self);
        for of in &self.sets {
            let shared = b.shared(of);
            for (&k, &wait) in of.set.banks.iter().zip(&of.waits) {
                let bank = &self.banks[k];
                let values = b.bank(k, wait, &shared);
                let outputs = self.outputs.iter().zip(&b.ports.outputs);
                for (output, port) in outputs.filter(|o| (bank.port..bank.port + bank.ports).contains(&o.0.port)) {
                    let value = values[(output.port - bank.port) as usize];
                    let later = if self.is_constant(k) { 0 } else { output.late - wait as u32 };
                    port.output(m, m.delay(value, later, format!("{}_d", output.name)));
                }
            }
        }
    }
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    of: &'a Feeder,
    ports: FeederPorts,
    /// The load stream in this feeder, registered.
    stream: StreamItem<Sig<'m>>,
    data: Sig<'m>,
    /// Inputs from the waves; `None` if constant.
    row: Option<Sig<'m>>,
    col: Option<Sig<'m>>,
    slot: Option<Sig<'m>>,
    /// `col` at the element multiplexer, if there is one: of banks that are read at once, one cycle later, and so on.
    lane: Vec<Sig<'m>>,
}

/// What the banks of a set have in common.
struct Shared<'a, 'm> {
    set: &'a Set,
    /// The stream item is for one of the banks; residues in which they differ are left out.
    selection: Selection<'m>,
    /// The elements that they store of the present stream word.
    data: Sig<'m>,
    /// The write address, if it is one for all.
    fill: Option<Sig<'m>>,
    /// Half and read address, by the cycles that they wait.
    half: Vec<Sig<'m>>,
    address: Vec<Sig<'m>>,
}

/// Registers a field of a daisy chain and drives its output.
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
        let inputs = &ports.buffer;
        let (slot, row, col) = (input(&inputs.slot), input(&inputs.row), input(&inputs.col));
        let bits = of.buffer.word.trailing_zeros();
        let longest = of.sets.iter().flat_map(|of| &of.waits).max().map_or(0, |w| *w as u32);
        let before = FEED_LATENCY as usize - 1;
        let lane = match of.starts.count_ones() {
            0 | 1 => vec![],
            _ => m
                .shift_register(of.buffer.col.value(m, col).resize(bits), before as u32 + longest, "lane", None)
                .split_off(before - 1),
        };
        // Waves hop along the axes that have feeders.
        for (chain, value) in [(&inputs.row, row), (&inputs.col, col), (&inputs.slot, slot)] {
            chain.iter().zip(value).for_each(|(chain, value)| {
                chain.forward(m, value, 0);
            });
        }
        Build { m, of, ports, stream, data, row, col, slot, lane }
    }

    fn shared(&self, FeederSet { set, waits }: &'a FeederSet) -> Shared<'a, 'm> {
        let (m, of, b) = (self.m, self.of, set.banks[0]);
        let (buffer, ties) = (&of.buffer, &self.ports.buffer.ties[b]);
        let mut selection = buffer.row_hit(m, &of.banks[b], &self.stream, (ties, &set.across));
        selection.within(m, self.stream.w, &buffer.words(&of.banks[b]), &ties.w);
        let (elements, bits) = (of.stored(b), buffer.ty.bits());
        let data = match (&self.ports.picks[b], of.start(b)) {
            (Some(port), _) => port.input(m),
            (None, Some(start)) => m
                .concat(&elements.iter().rev().map(|e| self.element(e + start)).collect::<Vec<_>>())
                .called(format!("kept{b}")),
            (None, None) => common(m, None, u(elements.len() as u32 * bits)),
        };
        let at = u(clog2(of.banks[b].depth.max(1) as u64));
        let fill = set.leader.filter(|_| set.banks.len() > 1 && of.banks[b].depth > 1).map(|leader| {
            let begins = m.all(&self.terms(leader, set, &selection.terms)).named(format!("begins{b}"));
            let count = Count { words: 1, hit: begins, step: begins, places: &selection.places };
            buffer.count_ahead(m, (format!("fill{b}"), at), &of.banks[b], &self.stream, count)
        });
        // Registers that wait for later banks; what nothing reads is left out.
        let longest = waits.iter().max().map_or(0, |w| *w as u32);
        let waiting = |x: Sig<'m>, name: &str| m.shift_register(x, 1 + longest, format!("{name}{b}"), None);
        let half = self.slot.map_or(vec![], |slot| waiting(slot, "half"));
        let address = if of.banks[b].depth > 1 { waiting(self.address(b).resize(at.w), "addr") } else { vec![] };
        Shared { set, selection, data, fill, half, address }
    }

    /// Terms of the stream items that a bank of a set takes.
    fn terms(&self, b: usize, set: &Set, terms: &[Sig<'m>]) -> Vec<Sig<'m>> {
        let residue = |&d: &usize| self.stream.r[d].map(|r| equals(self.m, r, self.of.banks[b].rows[d].residue));
        terms.iter().copied().chain(set.across.iter().filter_map(residue)).collect()
    }

    /// Values of the ports of the bank, `FEED_LATENCY` cycles after the wave and the bank's wait.
    fn bank(&self, b: usize, wait: i64, shared: &Shared<'_, 'm>) -> Vec<Sig<'m>> {
        let (m, of, bank) = (self.m, self.of, &self.of.banks[b]);
        let (elements, bits) = (of.stored(b), of.buffer.ty.bits());
        let read = self.memory(b, wait as usize, shared);
        let element = |word: Sig<'m>, e: i64| {
            // An element that is not stored is an undriven wire, which the netlist check reports.
            let at = elements.iter().position(|k| *k == e.rem_euclid(of.buffer.word));
            at.map_or_else(
                || m.wire("element_not_kept", wires(of.buffer.ty)).sig(),
                |at| word.slice(at as u32 * bits, bits).to(wires(of.buffer.ty)),
            )
        };
        let starts = pick::list(of.starts);
        if of.is_constant(b) {
            return (0..bank.ports as i64).map(|k| element(read, starts[0] + k)).collect();
        }
        let Some(&lane) = self.lane.get(wait as usize) else {
            let value = m.delay(read, 2, format!("value{b}"));
            return (0..bank.ports as i64).map(|k| element(value, starts[0] + k)).collect();
        };
        let read = m.reg(format!("read{b}"), read.ty()).next(read).q();
        let port = |k: i64| {
            let choices: Vec<_> = starts.iter().map(|s| (*s, element(read, s + k))).collect();
            select(m, lane, &choices, &format!("picked{b}_{k}"))
        };
        (0..bank.ports as i64)
            .map(port)
            .enumerate()
            .map(|(k, v)| m.reg(format!("value{b}_{k}"), v.ty()).next(v).q())
            .collect()
    }

    /// Address in the bank of the word of a wave.
    fn address(&self, b: usize) -> Sig<'m> {
        let (m, buffer) = (self.m, &self.of.buffer);
        let row = buffer.row.value(m, self.row);
        if self.of.banks[b].words_per_row == 1 {
            return row;
        }
        buffer.word_address(row, buffer.position(m, self.col, &self.ports.buffer.ties[b], self.of.start(b)))
    }

    /// Element `e`, modulo the word, of the present stream word.
    fn element(&self, e: i64) -> Sig<'m> {
        let Buffer { word, ty, .. } = self.of.buffer;
        self.data.slice(e.rem_euclid(word) as u32 * 8 * ty.bytes(), ty.bits())
    }

    /// The memory with both halves. Its address is registered, so the wave's comes two cycles before the word, and the
    /// bank's wait.
    fn memory(&self, b: usize, wait: usize, shared: &Shared<'_, 'm>) -> Sig<'m> {
        let (m, of, bank) = (self.m, self.of, &self.of.banks[b]);
        let depth = bank.depth.max(1);
        let hit = m.all(&self.terms(b, shared.set, &shared.selection.terms)).named(format!("hit{b}"));
        let at = u(clog2(depth as u64));
        let data = shared.data;
        // A single word for the whole run is a register.
        if depth == 1 && self.slot.is_none() {
            let word = m.reg(format!("bank{b}"), data.ty()).en(hit).next(data).q();
            return if of.is_constant(b) { word } else { m.reg(format!("word{b}"), data.ty()).next(word).q() };
        }
        let next = shared.fill.unwrap_or_else(|| {
            let places = &shared.selection.places;
            let count = Count { words: bank.words_per_row, hit, step: hit, places };
            of.buffer.count(m, (format!("fill{b}"), at), bank, &self.stream, count)
        });
        let to = Place { half: self.stream.slot, address: next };
        let address = shared.address.get(wait).copied().unwrap_or(next);
        let (write, read, words) = halves(m, depth, [to, Place { half: shared.half.get(wait).copied(), address }]);
        let memory = m.mem(format!("bank{b}"), words as u32, data.w(), memory_style(words, data.w(), of.buffer.uram));
        memory.write(hit, write, data);
        memory.read_sync(format!("word{b}"), m.lit(1, u(1)), read)
    }
}

/// The value listed for `lane`: a multiplexer tree over the bits in which the listed lanes differ.
fn select<'m>(m: &'m ModuleBuilder, lane: Sig<'m>, values: &[(i64, Sig<'m>)], name: &str) -> Sig<'m> {
    let differ = values.iter().fold(0, |bits, v| bits | (v.0 ^ values[0].0));
    let Some(bit) = differ.checked_ilog2() else { return values[0].1 };
    let (ones, zeros): (Vec<_>, Vec<_>) = values.iter().partition(|v| v.0 >> bit & 1 == 1);
    let part = |of: &[(i64, Sig<'m>)]| select(m, lane, of, &format!("{name}_{}", of[0].0));
    m.mux(lane.bit(bit), part(&ones), part(&zeros)).called(name)
}
