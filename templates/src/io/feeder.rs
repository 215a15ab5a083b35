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

use super::buffer::{halves, Buffer, Contents, Count, Member, Place, Selection};
use super::words::{bank_start, common as same, equals, item_of, BufferPorts, StreamShape, Ties, WaveIndex};
use crate::naming::{memory_style, stem, stream_chain};
use crate::operators::wires;
use crate::port::{Chain, Port};
use crate::stream::StreamItem;
use array::contract::common;
use array::contract::feed::{self, Read, Set};
use array::contract::pick;
use array::contract::timing::FEED_LATENCY;
use array::vsa::{Bank, InputGroup, NodeId, Op, Vsa};
use rtl::{clog2, u, Design, ModuleBuilder, Sig, Template};
use uniform::affine::Form;

#[derive(Clone, Debug, PartialEq)]
pub struct Feeder {
    /// Name of the module.
    pub name: String,
    pub buffer: Buffer,
    /// The groups that have it, if they are several. `banks` is one for all of them.
    pub members: Vec<Member>,
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
    pub parts: Vec<feed::Part>,
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

/// The buffers of a group have two halves: it is not filled once per run, or a guest is not.
pub fn loads_in_halves(vsa: &Vsa, g: usize) -> bool {
    common::Feeders::of(vsa, g).double
}

/// Row and column that waves bring, of an owner with guests in runs of each.
pub fn indices(vsa: &Vsa, g: usize) -> [WaveIndex; 2] {
    let groups = vsa.fed_with(g);
    let of = |form: fn(&InputGroup) -> &Form| match &groups[..] {
        [] | [_] => WaveIndex::new(vsa, form(&vsa.inputs[g])),
        groups => {
            let all = groups.iter().map(|g| &vsa.inputs[*g]).map(|g| (&g.used.functions[..], form(g)));
            WaveIndex::of_functions(vsa, &all.collect::<Vec<_>>())
        }
    };
    [of(|g| &g.row), of(|g| &g.col)]
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
        let common::Feeders { groups, banks, double, starts } = common::Feeders::of(vsa, g);
        let late = |set: Set| {
            let of_port = |port: u32| nodes.iter().filter(|n| n.1 == port).map(|n| n.2 - first).collect();
            let of = |&b: &usize| {
                let ports = banks[b].port..banks[b].port + banks[b].ports;
                ports.map(of_port).collect()
            };
            let late: Vec<Vec<Vec<i64>>> = set.banks.iter().map(of).collect();
            (set, late)
        };
        let [row, col] = indices(vsa, g);
        let mut feeder = Feeder {
            name: format!("feed{g}_{}", array.name.to_lowercase()),
            buffer: Buffer::new(
                vsa,
                Contents { array: group.array, footprint: &group.footprint, row, col },
                group.feeders(),
                |hops| group.pe(vsa, hops),
                double,
                shape,
            ),
            members: vec![],
            banks: banks.clone(),
            sets: vec![],
            outputs: nodes.iter().map(output).collect(),
            starts,
        };
        if groups.len() > 1 {
            let member = |g: usize| {
                let InputGroup { array, footprint, banks, .. } = &vsa.inputs[g];
                let array = vsa.arrays[*array as usize].name.clone();
                let buffer = Buffer { array, ..feeder.buffer.of_group(footprint) };
                Member { buffer, bank: banks[0].clone() }
            };
            feeder.members = groups.into_iter().map(member).collect();
        }
        let sets = feed::sets(&banks).into_iter().map(late);
        feeder.sets = sets
            .map(|(set, late)| {
                let apart = pick::are_apart(starts, banks[set.banks[0]].ports, array.word.into());
                FeederSet { parts: feeder.read(set.banks[0]).parts(&late, apart, vsa.fabric), set }
            })
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
        let of_member = |(k, of): (usize, &Member)| of.buffer.ties(&of.bank, k, false, false);
        let ties = match &self.members[..] {
            [] => (0..self.banks.len()).map(ties).collect(),
            members => members.iter().enumerate().map(of_member).collect(),
        };
        FeederPorts {
            stream,
            buffer: self.buffer.ports(ties),
            picks: (0..self.banks.len()).map(pick).collect(),
            outputs: self.outputs.iter().map(|s| Port::new(&s.name, wires(*ty))).collect(),
        }
    }

    /// The banks whose windows select words, in the order of [`BufferPorts::ties`].
    pub fn windows(&self) -> Vec<&Bank> {
        match &self.members[..] {
            [] => self.banks.iter().collect(),
            members => members.iter().map(|of| &of.bank).collect(),
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
            uram: self.buffer.uram,
        }
    }

    /// Constant inputs of bank `b`.
    fn ties(&self, b: usize) -> Ties {
        let bank = &self.banks[b];
        let counts = bank.words_per_row > 1 && bank.stride == 0;
        self.buffer.ties(bank, b, false, counts && self.start(b).is_none())
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
            let written: Vec<_> = of.set.banks.iter().map(|&k| b.written(k, &shared)).collect();
            for part in &of.parts {
                let k = of.set.banks[part.bank];
                let first = self.banks[k].port + part.first;
                let values = b.part(part, &shared, written[part.bank]);
                let outputs = self.outputs.iter().zip(&b.ports.outputs);
                for (output, port) in outputs.filter(|o| (first..first + part.ports).contains(&o.0.port)) {
                    let value = values[(output.port - first) as usize];
                    let later = if self.is_constant(k) { 0 } else { output.late - part.wait as u32 };
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

/// The present stream word is stored in a bank, and where; without an address in the bank's one word.
#[derive(Clone, Copy)]
struct Written<'m> {
    hit: Sig<'m>,
    address: Option<Sig<'m>>,
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
        let longest = of.sets.iter().flat_map(|of| &of.parts).map(|part| part.wait as u32).max().unwrap_or(0);
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

    fn shared(&self, FeederSet { set, parts }: &'a FeederSet) -> Shared<'a, 'm> {
        let (m, of, b) = (self.m, self.of, set.banks[0]);
        let (buffer, ties) = (&of.buffer, &self.ports.buffer.ties[b]);
        let selection = match &of.members[..] {
            [] => self.selected((buffer, &of.banks[b]), &self.stream, (ties, &set.across)),
            members => {
                let one = |(k, Member { buffer, bank }): (usize, &Member)| {
                    let item = item_of(&self.stream, &buffer.footprint, k);
                    let Selection { terms, .. } =
                        self.selected((buffer, bank), &item, (&self.ports.buffer.ties[k], &[]));
                    m.all(&terms).named(format!("hit_of{k}"))
                };
                let hits: Vec<Sig<'m>> = members.iter().enumerate().map(one).collect();
                Selection { terms: vec![m.any(&hits)], places: vec![] }
            }
        };
        let (elements, bits) = (of.stored(b), buffer.ty.bits());
        let data = match (&self.ports.picks[b], of.start(b)) {
            (Some(port), _) => port.input(m),
            (None, Some(start)) => m
                .concat(&elements.iter().rev().map(|e| self.element(e + start)).collect::<Vec<_>>())
                .called(format!("kept{b}")),
            (None, None) => same(m, None, u(elements.len() as u32 * bits)),
        };
        let at = u(clog2(of.banks[b].depth.max(1) as u64));
        let leader = set.leader.filter(|_| set.banks.len() > 1 && of.banks[b].depth > 1);
        let fill = leader.map(|leader| self.fill(leader, set, &selection));
        // Registers that wait for later banks; what nothing reads is left out.
        let wait = of.read(b).waits_for_choice() as u32;
        let longest = wait + parts.iter().map(|part| part.wait as u32).max().unwrap_or(0);
        let waiting = |x: Sig<'m>, name: &str| m.shift_register(x, 1 + longest, format!("{name}{b}"), None);
        let half = self.slot.map_or(vec![], |slot| waiting(slot, "half"));
        let address = if of.banks[b].depth > 1 { waiting(self.address(b).resize(at.w), "addr") } else { vec![] };
        Shared { set, selection, data, fill, half, address }
    }

    /// The stream items that a bank takes.
    fn selected(
        &self,
        (buffer, bank): (&Buffer, &Bank),
        item: &StreamItem<Sig<'m>>,
        (ties, across): (&Ties, &[usize]),
    ) -> Selection<'m> {
        let mut selection = buffer.row_hit(self.m, bank, item, (ties, across));
        selection.within(self.m, item.w, &buffer.words(bank), &ties.w);
        selection
    }

    /// The write address of all banks of a set: the row, which those of the leader count, and the word of the row.
    fn fill(&self, leader: usize, set: &Set, selection: &Selection<'m>) -> Sig<'m> {
        let (m, b) = (self.m, set.banks[0]);
        let bank = &self.of.banks[b];
        let mut terms = self.terms(leader, set, &selection.terms);
        let (rows, mut places) = (bank.depth / bank.words_per_row, &selection.places[..]);
        let mut word = None;
        if let ([outer @ .., Some(place)], true) = (places, bank.words_per_row > 1) {
            places = outer;
            let bits = clog2(bank.words_per_row as u64);
            let number = place.resize(bits.max(place.w())).slice(0, bits);
            terms.push(!number.reduce_or());
            word = Some(number);
        }
        let begins = m.all(&terms).named(format!("begins{b}"));
        let count = Count { words: 1, hit: begins, step: begins, places };
        let at = u(clog2(rows as u64));
        match word {
            Some(word) if rows == 1 => word,
            Some(word) => {
                m.concat(&[self.of.buffer.count_ahead(m, (format!("fill{b}"), at), bank, &self.stream, count), word])
            }
            None => self.of.buffer.count_ahead(m, (format!("fill{b}"), at), bank, &self.stream, count),
        }
    }

    /// Terms of the stream items that a bank of a set takes.
    fn terms(&self, b: usize, set: &Set, terms: &[Sig<'m>]) -> Vec<Sig<'m>> {
        let residue = |&d: &usize| self.stream.r[d].map(|r| equals(self.m, r, self.of.banks[b].rows[d].residue));
        terms.iter().copied().chain(set.across.iter().filter_map(residue)).collect()
    }

    /// Values of the ports of the part, `FEED_LATENCY` cycles after the wave and the part's wait.
    fn part(&self, part: &feed::Part, shared: &Shared<'_, 'm>, written: Written<'m>) -> Vec<Sig<'m>> {
        let (m, of, b) = (self.m, self.of, shared.set.banks[part.bank]);
        let word = of.buffer.word;
        let bits = of.buffer.ty.bits();
        let (stored, ports) = (of.stored(b), part.first..part.first + part.ports);
        let elements = pick::list(pick::stored(pick::behind(of.starts, part.first, word), part.ports, word));
        // A part of the bank has a name of its own, and its elements of the bus word.
        let (name, data) = if part.ports == of.banks[b].ports {
            (b.to_string(), shared.data)
        } else {
            let element = |e: &i64| {
                let at = stored.iter().position(|s| s == e).unwrap_or_default();
                shared.data.slice(at as u32 * bits, bits)
            };
            let data = m.concat(&elements.iter().rev().map(element).collect::<Vec<_>>());
            (format!("{b}_{}", part.first), data)
        };
        let wait = (part.wait + of.read(b).waits_for_choice()) as usize;
        let address = [shared.half.get(wait), shared.address.get(wait)];
        let read = self.memory((b, &name), written, address, data);
        let element = |from: Sig<'m>, e: i64| {
            // An element that is not stored is an undriven wire, which the netlist check reports.
            let at = elements.iter().position(|k| *k == e.rem_euclid(word));
            at.map_or_else(
                || m.wire("element_not_kept", wires(of.buffer.ty)).sig(),
                |at| from.slice(at as u32 * bits, bits).to(wires(of.buffer.ty)),
            )
        };
        let starts = pick::list(of.starts);
        if of.is_constant(b) {
            return ports.map(|k| element(read, starts[0] + i64::from(k))).collect();
        }
        let Some(&lane) = self.lane.get(part.wait as usize) else {
            let value = m.delay(read, of.read(b).registers() as u32, format!("value{name}"));
            return ports.map(|k| element(value, starts[0] + i64::from(k))).collect();
        };
        let read = m.reg(format!("read{name}"), read.ty()).next(read).q();
        let port = |k: u32| {
            let k = i64::from(k);
            let choices: Vec<_> = starts.iter().map(|s| (*s, element(read, s + k))).collect();
            select(m, lane, &choices, &format!("picked{b}_{k}"))
        };
        ports.map(|k| (k, port(k))).map(|(k, v)| m.reg(format!("value{b}_{k}"), v.ty()).next(v).q()).collect()
    }

    /// Address in the bank of the word of a wave.
    fn address(&self, b: usize) -> Sig<'m> {
        let (m, buffer) = (self.m, &self.of.buffer);
        let row = buffer.row.value(m, self.row);
        if self.of.banks[b].words_per_row == 1 || self.of.banks[b].stride > 0 {
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
    fn memory(
        &self,
        (b, name): (usize, &str),
        Written { hit, address }: Written<'m>,
        [half, read]: [Option<&Sig<'m>>; 2],
        data: Sig<'m>,
    ) -> Sig<'m> {
        let (m, of) = (self.m, self.of);
        // A single word for the whole run is a register.
        let Some(address) = address else {
            let word = m.reg(format!("bank{name}"), data.ty()).en(hit).next(data).q();
            return if of.is_constant(b) { word } else { m.reg(format!("word{name}"), data.ty()).next(word).q() };
        };
        let to = Place { half: self.stream.slot, address };
        let from = Place { half: half.copied(), address: read.copied().unwrap_or(address) };
        let (write, read, words) = halves(m, of.banks[b].depth.max(1), [to, from]);
        let memory =
            m.mem(format!("bank{name}"), words as u32, data.w(), memory_style(words, data.w(), of.buffer.uram));
        memory.write(hit, write, data);
        memory.read_sync(format!("word{name}"), m.lit(1, u(1)), read)
    }

    /// When the present stream word is stored in the bank, and where.
    fn written(&self, b: usize, shared: &Shared<'_, 'm>) -> Written<'m> {
        let (m, of, bank) = (self.m, self.of, &self.of.banks[b]);
        let depth = bank.depth.max(1);
        let hit = m.all(&self.terms(b, shared.set, &shared.selection.terms)).named(format!("hit{b}"));
        let count = || {
            let places = &shared.selection.places;
            let count = Count { words: bank.words_per_row, hit, step: hit, places };
            of.buffer.count(m, (format!("fill{b}"), u(clog2(depth as u64))), bank, &self.stream, count)
        };
        let single = depth == 1 && self.slot.is_none();
        Written { hit, address: (!single).then(|| shared.fill.unwrap_or_else(count)) }
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
