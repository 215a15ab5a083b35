//! Collector: the double buffer of an output group beside a PE (L1 I/O module).
//!
//! ```text
//! en, row, col, slot ─►[reg]─► write address, lane mask ─┐
//! values of the PE ──────────────────────────────────────┴─► memory, 2 halves
//! dr_* (token) ─► window ─► read address ────────────────────────┘ └─►[reg, cleared if not owner]─► word ─► relay
//! ```
//! Ports: [`CollectorPorts`]. A wave brings enables and (row, col, slot) one cycle before its values (`collect_time`).
//! The lanes of a memory word have separate write enables. To drain, the writer sends one token per word of the
//! footprint, which the relays ([`super::relay`]) distribute. The owner answers with its elements and all others with
//! 0, so the relays only have to OR the answers. An answer may be the OR of several banks.
//!
//! Where elements leave one after the other ([`array::contract::turn`]), a memory word is one of the `steps` parts of an
//! answer, which follow each other from the cycle on in which the answer would be there:
//!
//! ```text
//! dr_* (token) ─► window ─►[row, step, busy]─► memory ─►[reg, cleared if not busy]─► word
//! ```
//!
//! Contract: a drain is one token per word of the footprint in order, with any gaps; the first one is marked. It may
//! arrive in the cycle after the one in which the values of the last wave are there. Waves may fill the half again when
//! the last answer is there. Tokens that a collector answers are `steps` cycles apart at least.

use super::buffer::{halves, Buffer, Contents, Count, Member, Place, Selection};
use super::words::{bank_start, below, distance, item_of, BufferPorts, Lanes, StreamShape, Ties, WaveIndex};
use crate::naming::memory_style;
use crate::operators::wires;
use crate::port::{Chain, Port};
use crate::stream::StreamItem;
use array::contract::common;
use array::contract::operand::travels;
use array::contract::relay::{lanes, Relays};
use array::vsa::{Bank, NodeId, OutputBank, OutputGroup, Vsa};
use rtl::{clog2, u, Design, MemStyle, ModuleBuilder, Sig, Template, Ty};
use scop::ScalarType;
use uniform::affine::Form;

#[derive(Clone, Debug, PartialEq)]
pub struct Collector {
    /// Name of the module.
    pub name: String,
    /// Its row is that of [`row_form`], as is `compressed`.
    pub buffer: Buffer,
    pub compressed: bool,
    /// The groups that have it, if they are several. `banks` is one for all of them.
    pub members: Vec<Member>,
    pub banks: Vec<OutputBank>,
    /// Banks by answer, see [`Relays::answers`].
    pub answers: Vec<Vec<usize>>,
    /// Nodes of the enables that come with the waves.
    pub wave_enables: Vec<NodeId>,
    /// Type and enable of each value.
    pub ports: Vec<(ScalarType, NodeId)>,
    /// Cycles of an answer.
    pub steps: i64,
}

/// The interface of a [`Collector`].
#[derive(Clone, Debug, PartialEq)]
pub struct CollectorPorts {
    /// The fields of a token that a collector uses.
    pub tokens: StreamItem<Port>,
    /// By answer, from two cycles after the token on: the memory words. Lanes that do not belong to the word of the token
    /// are 0, lanes that belong to no word have any value.
    pub words: Vec<Port>,
    /// The row is that of [`row_form`].
    pub buffer: BufferPorts,
    /// Enables from the waves, 0 in bubbles, in the order of [`Collector::wave_enables`].
    pub enables: Vec<Chain>,
    /// One cycle later, from the PE: values, and the enables that depend on the PE.
    pub values: Vec<Port>,
    pub value_enables: Vec<Option<Port>>,
    /// By bank: the [`masks`], if they differ between PEs.
    pub masks: Vec<Option<Port>>,
}

/// Distinct enables that come with the waves, in the order of their nodes.
pub fn wave_enables(vsa: &Vsa, group: &OutputGroup) -> Vec<NodeId> {
    let mut ids: Vec<NodeId> = group.ports.iter().map(|p| p.enable).filter(|e| travels(vsa, *e)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Form of the row address, and whether it is compressed: a row has one address although it may touch several bus
/// words.
pub fn row_form(group: &OutputGroup, word: i64) -> (Form, bool) {
    let words = group.banks.first().map_or(1, |b| b.bank.words_per_row);
    let is_short = |b: &OutputBank| b.bank.stride == 0 && b.elements <= word && b.bank.words_per_row == words;
    let short = group.banks.iter().all(is_short);
    let row = &group.row;
    let whole = row.constant % words == 0 && row.counters.iter().all(|c| c % words == 0);
    if !(short && whole) {
        return (row.clone(), false);
    }
    let scaled = Form {
        constant: row.constant / words,
        counters: row.counters.iter().map(|c| c / words).collect(),
        space: [0, 0],
    };
    (scaled, true)
}

/// Row, as [`row_form`] has it, and column that waves bring, of an owner with guests in runs of each.
pub fn indices(vsa: &Vsa, o: usize) -> [WaveIndex; 2] {
    let groups = vsa.collected_with(o);
    let word = |g: &OutputGroup| i64::from(vsa.arrays[g.array as usize].word);
    if groups.len() < 2 {
        let group = &vsa.outputs[o];
        return [&row_form(group, word(group)).0, &group.col].map(|form| WaveIndex::new(vsa, form));
    }
    let of = |form: fn(&OutputGroup) -> &Form| {
        let all = groups.iter().map(|o| &vsa.outputs[*o]).map(|g| (&g.emit.functions[..], form(g)));
        WaveIndex::of_functions(vsa, &all.collect::<Vec<_>>())
    };
    [of(|g| &g.row), of(|g| &g.col)]
}

/// Per bus word that the row touches: which lanes of the memory word belong to it at `p`.
pub fn masks(bank: &OutputBank, word: i64, p: [i64; 2]) -> Vec<Vec<bool>> {
    let (_, offset) = bank_start(&bank.bank, word, p);
    let count = lanes(bank, word);
    let row = offset..offset + bank.elements;
    let belongs = |lane: i64, k: i64| (lane..word).step_by(count as usize).any(|e| row.contains(&(k * word + e)));
    (0..bank.bank.words_per_row).map(|k| (0..count).map(|lane| belongs(lane, k)).collect()).collect()
}

impl Collector {
    /// The collector of output group `o` behind these relays.
    pub fn new(vsa: &Vsa, o: usize, shape: StreamShape, relays: &Relays) -> Collector {
        let group = &vsa.outputs[o];
        let array = &vsa.arrays[group.array as usize];
        let (_, compressed) = row_form(group, array.word as i64);
        let common::Collectors { groups, banks, double } = common::Collectors::of(vsa, o);
        let [row, col] = indices(vsa, o);
        let mut collector = Collector {
            name: format!("collect{o}_{}", array.name.to_lowercase()),
            buffer: Buffer::new(
                vsa,
                Contents { array: group.array, footprint: &group.footprint, row, col },
                group.extent(),
                |hops| group.pe(vsa, hops),
                double,
                shape,
            ),
            compressed: compressed && groups.len() == 1,
            members: vec![],
            banks,
            answers: relays.answers.clone(),
            wave_enables: wave_enables(vsa, group),
            ports: group.ports.iter().map(|p| (vsa.node(p.value).ty, p.enable)).collect(),
            steps: relays.steps(),
        };
        if groups.len() > 1 {
            let member = |o: usize| {
                let OutputGroup { footprint, banks, .. } = &vsa.outputs[o];
                let buffer = collector.buffer.of_group(footprint);
                Member { buffer, bank: banks[0].bank.clone() }
            };
            collector.members = groups.into_iter().map(member).collect();
        }
        collector
    }

    pub fn ports(&self) -> CollectorPorts {
        let enable = |(k, (_, enable)): (usize, &(ScalarType, NodeId))| {
            (!self.wave_enables.contains(enable)).then(|| Port::bit(format!("v{k}_en")))
        };
        let Buffer { ty, shape, double, hops, .. } = &self.buffer;
        let answer =
            |(k, of): (usize, &Vec<usize>)| Port::new(format!("word{k}"), u(self.width(of[0]) as u32 * 8 * ty.bytes()));
        let banks = 0..self.banks.len();
        CollectorPorts {
            tokens: shape.item(*double, None).map(|name, ty| Port::new(format!("dr_{name}"), *ty)),
            words: self.answers.iter().enumerate().map(answer).collect(),
            buffer: self.buffer.ports(match &self.members[..] {
                [] => banks.clone().map(|b| self.ties(b)).collect(),
                members => members.iter().enumerate().map(|(k, of)| of.buffer.ties(&of.bank, k, true, false)).collect(),
            }),
            enables: self.wave_enables.iter().map(|id| hops.chain(&format!("en{}", id.0), u(1))).collect(),
            values: self.ports.iter().enumerate().map(|(k, p)| Port::new(format!("v{k}"), wires(p.0))).collect(),
            value_enables: self.ports.iter().enumerate().map(enable).collect(),
            masks: banks.map(|b| self.mask(b)).collect(),
        }
    }

    /// The banks whose windows select words, in the order of [`BufferPorts::ties`].
    pub fn windows(&self) -> Vec<&Bank> {
        match &self.members[..] {
            [] => self.banks.iter().map(|of| &of.bank).collect(),
            members => members.iter().map(|of| &of.bank).collect(),
        }
    }

    /// Elements of a memory word.
    fn width(&self, b: usize) -> i64 {
        lanes(&self.banks[b], self.buffer.word) / self.steps
    }

    fn lanes(&self, b: usize) -> Lanes {
        Lanes::new(&self.banks[b].bank, &self.buffer.col, self.buffer.word, &self.buffer.pes)
    }

    /// Constant inputs of bank `b`.
    fn ties(&self, b: usize) -> Ties {
        let bank = &self.banks[b].bank;
        let offset = self.lanes(b).fixed.is_none() && !self.is_by_word(b);
        self.buffer.ties(bank, b, bank.words_per_row > 1 && bank.stride == 0, offset)
    }

    /// A value is the one element of its word: a row has several words, the element is in none but one place.
    fn is_by_word(&self, b: usize) -> bool {
        self.banks[b].bank.stride > 0 && lanes(&self.banks[b], self.buffer.word) == 1
    }

    fn mask(&self, b: usize) -> Option<Port> {
        let (of, Buffer { word, pes, .. }) = (&self.banks[b], &self.buffer);
        let words = of.bank.words_per_row;
        let table = masks(of, *word, pes[0]);
        let fixed = pes.iter().all(|p| masks(of, *word, *p) == table);
        (words > 1 && of.bank.stride == 0 && !fixed)
            .then(|| Port::new(format!("mask{b}"), u(lanes(of, *word) as u32 * words as u32)))
    }
}

impl Template for Collector {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        m.doc(format!(
            "Collector of `{}`: takes values from its PE, gives them to the words that pass by.",
            self.buffer.array
        ));
        let b = Build::new(m, self);
        for (port, banks) in b.ports.words.iter().zip(&self.answers) {
            port.output(m, m.any(&banks.iter().map(|bank| b.bank(*bank)).collect::<Vec<_>>()));
        }
    }
}

/// A memory: its words, the elements of each, and whether the address is a register.
struct Words {
    depth: i64,
    count: i64,
    registered: bool,
}

/// Address of a part of a row.
fn in_row<'m>(m: &'m ModuleBuilder, row: Sig<'m>, part: Sig<'m>, rows: i64) -> Sig<'m> {
    if rows > 1 {
        m.concat(&[row, part])
    } else {
        part
    }
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    of: &'a Collector,
    ports: CollectorPorts,
    tokens: StreamItem<Sig<'m>>,
    /// Inputs from the waves, registered: in the cycle of the values.
    row: Option<Sig<'m>>,
    col: Option<Sig<'m>>,
    slot: Option<Sig<'m>>,
    /// Per port.
    enables: Vec<Sig<'m>>,
    values: Vec<Sig<'m>>,
}

impl<'a, 'm> Build<'a, 'm> {
    fn new(m: &'m ModuleBuilder, of: &'a Collector) -> Self {
        let ports = of.ports();
        let tokens = ports.tokens.map(|_, port| port.input(m));
        let wave = |chain: &Chain| chain.forward(m, chain.port.input(m), 1)[0];
        let [row, col, slot] =
            [&ports.buffer.row, &ports.buffer.col, &ports.buffer.slot].map(|chain| chain.as_ref().map(wave));
        let shared: Vec<Sig<'m>> = ports.enables.iter().map(wave).collect();
        let enable = |(port, (_, enable)): (&Option<Port>, &(ScalarType, NodeId))| match port {
            Some(port) => port.input(m),
            None => of.wave_enables.iter().position(|id| id == enable).map_or_else(|| m.lit(0, u(1)), |k| shared[k]),
        };
        let enables = ports.value_enables.iter().zip(&of.ports).map(enable).collect();
        let values = ports.values.iter().map(|port| port.input(m).unsigned()).collect();
        Build { m, of, ports, tokens, row, col, slot, enables, values }
    }

    /// The answer of the bank to the token.
    fn bank(&self, b: usize) -> Sig<'m> {
        let (m, steps) = (self.m, self.of.steps);
        let bank = &self.of.banks[b];
        let count = self.of.width(b);
        let rows = if self.of.compressed { bank.bank.depth / bank.bank.words_per_row } else { bank.bank.depth }.max(1);
        let at = u(clog2(rows as u64));
        let (row, lane) = self.position(b, at);
        let (mask, data) = self.lanes(b, lane, count);
        let (hit, word_of_row, next) = self.token(b, at);
        let to = Place { half: self.slot, address: row };
        let from = Place { half: self.tokens.slot, address: next };
        if steps > 1 {
            let part = (count.trailing_zeros(), clog2(steps as u64));
            let part = lane.resize(lane.w().max(part.0 + part.1)).slice(part.0, part.1);
            let (from, busy) = self.step(b, from, hit, rows);
            let to = Place { address: in_row(m, row, part, rows), ..to };
            let words = Words { depth: rows * steps, count, registered: true };
            let word = self.memory(b, words, [to, from], (mask, data));
            return self.answer(b, word, vec![busy]);
        }
        let word = self.memory(b, Words { depth: rows, count, registered: false }, [to, from], (mask, data));
        let hit = m.delay(hit, 1, format!("hit{b}_q"));
        self.answer(b, word, self.belongs(b, count as u32, hit, word_of_row))
    }

    /// Steps through the elements of a row, from the cycle after the token on: where they are, and that they belong to
    /// the word of the token.
    fn step(&self, b: usize, from: Place<'m>, hit: Sig<'m>, rows: i64) -> (Place<'m>, Sig<'m>) {
        let m = self.m;
        let hold = |name: String, value: Sig<'m>| m.reg(name, value.ty()).en(hit).next(value).q();
        let step = m.reg(format!("step{b}"), u(clog2(self.of.steps as u64)));
        step.next(step.q().add_lit(1)).rst(hit, 0);
        let busy = m.reg(format!("busy{b}"), u(1));
        busy.next(hit | (busy.q() & !step.q().reduce_and()));
        let row = if rows > 1 { hold(format!("addr{b}"), from.address) } else { from.address };
        let half = from.half.map(|half| hold(format!("half{b}"), half));
        (Place { half, address: in_row(m, row, step.q(), rows) }, busy.q())
    }

    /// The memory of the bank, and what stands at `from` one register later.
    fn memory(&self, b: usize, words: Words, [to, from]: [Place<'m>; 2], (mask, data): (Sig<'m>, Sig<'m>)) -> Sig<'m> {
        let (m, bits) = (self.m, self.of.buffer.ty.bits());
        let Words { depth, count, registered } = words;
        let (write, read, words) = halves(m, depth, [to, from]);
        if words == 1 {
            return self.registers(b, mask, data);
        }
        let style = memory_style(words, count as u32 * bits, self.of.buffer.uram);
        let memory = m.mem(format!("bank{b}"), words as u32, count as u32 * bits, style);
        if count == 1 {
            memory.write(mask, write, data)
        } else {
            memory.write_masked(m.lit(1, u(1)), write, data, mask, bits)
        }
        // One register: the address in front of LUTRAM, or the output of block RAM.
        match style {
            _ if registered => memory.read_async(format!("kept{b}"), read),
            MemStyle::Distributed => {
                memory.read_async(format!("kept{b}"), m.reg(format!("addr{b}"), read.ty()).next(read).q())
            }
            _ => memory.read_sync(format!("kept{b}"), m.lit(1, u(1)), read),
        }
    }

    /// The answer register. Lanes that do not belong to the word of the token are cleared, so that the relays can OR
    /// the answers.
    fn answer(&self, b: usize, word: Sig<'m>, belongs: Vec<Sig<'m>>) -> Sig<'m> {
        let (m, bits) = (self.m, self.of.buffer.ty.bits());
        let w = word.w() / belongs.len() as u32;
        let masked = |(k, mine): (usize, &Sig<'m>)| {
            let name = if belongs.len() == 1 { format!("word{b}_q") } else { format!("word{b}_{k}") };
            m.reg(name, u(w)).next(word.slice(k as u32 * w, w)).rst(!*mine, 0).q()
        };
        let parts: Vec<Sig<'m>> = belongs.iter().enumerate().map(masked).collect();
        let word = m.concat(&parts.into_iter().rev().collect::<Vec<_>>());
        let lane = |k: u32| word.slice(k * bits, bits).extend(8 * self.of.buffer.ty.bytes());
        m.concat(&(0..word.w() / bits).rev().map(lane).collect::<Vec<_>>())
    }

    /// A bank of a single word: a register per lane.
    fn registers(&self, b: usize, mask: Sig<'m>, data: Sig<'m>) -> Sig<'m> {
        let (m, bits) = (self.m, self.of.buffer.ty.bits());
        let lane = |k: u32| m.reg(format!("bank{b}_{k}"), u(bits)).en(mask.bit(k)).next(data.slice(k * bits, bits)).q();
        m.concat(&(0..mask.w()).rev().map(lane).collect::<Vec<_>>())
    }

    /// Address and element of the value of a wave; the element is counted from the start of the first word of the row.
    fn position(&self, b: usize, at: Ty) -> (Sig<'m>, Sig<'m>) {
        let (m, buffer) = (self.m, &self.of.buffer);
        let row = buffer.row.value(m, self.row);
        if self.of.is_by_word(b) {
            return (row.resize(at.w), m.lit(0, u(1)));
        }
        let x = buffer.position(m, self.col, &self.ports.buffer.ties[b], self.of.lanes(b).fixed);
        let bank = &self.of.banks[b].bank;
        let single = self.of.compressed || bank.words_per_row == 1 || bank.stride > 0;
        let address = if single { row } else { buffer.word_address(row, x) };
        (address.resize(at.w), x)
    }

    /// Write mask and data of the lanes of the memory word.
    fn lanes(&self, b: usize, x: Sig<'m>, count: i64) -> (Sig<'m>, Sig<'m>) {
        let (m, bank) = (self.m, &self.of.banks[b].bank);
        let of_port = |k: i64| ((bank.port as i64 + k) as usize).min(self.values.len() - 1);
        if count == 1 {
            return (self.enables[of_port(0)], self.values[of_port(0)]);
        }
        let bits = count.trailing_zeros();
        let low = x.resize(bits.max(x.w())).slice(0, bits);
        let lanes = self.of.lanes(b);
        let step = lanes.step.min(count);
        let mut parts = vec![];
        for lane in 0..count {
            let ports: Vec<i64> =
                (0..bank.ports as i64).filter(|k| (lane - k - lanes.residue).rem_euclid(step) == 0).collect();
            let starts_here =
                |k: i64| if step == count { m.lit(1, u(1)) } else { low.eq_lit((lane - k).rem_euclid(count)) };
            let hits: Vec<Sig<'m>> = ports.iter().map(|k| starts_here(*k) & self.enables[of_port(*k)]).collect();
            let mask = if hits.is_empty() { m.lit(0, u(1)) } else { m.any(&hits) };
            let mut data = ports.last().map_or(m.lit(0, u(self.of.buffer.ty.bits())), |k| self.values[of_port(*k)]);
            for k in ports.iter().rev().skip(1) {
                data = m.mux(starts_here(*k), self.values[of_port(*k)], data);
            }
            parts.push((mask, data));
        }
        let join =
            |f: &dyn Fn(&(Sig<'m>, Sig<'m>)) -> Sig<'m>| m.concat(&parts.iter().rev().map(f).collect::<Vec<_>>());
        (join(&|p| p.0), join(&|p| p.1))
    }

    /// The tokens of words that a bank owns, and which word of the row one is for.
    fn selected(
        &self,
        (buffer, bank): (&Buffer, &Bank),
        tokens: &StreamItem<Sig<'m>>,
        (ties, b): (&Ties, usize),
    ) -> (Selection<'m>, Option<Sig<'m>>) {
        let m = self.m;
        let mut selection = buffer.row_hit(m, bank, tokens, (ties, &[]));
        let words = buffer.words(bank);
        let several = bank.words_per_row > 1 && bank.stride == 0;
        let mut word_of_row = None;
        if bank.stride > 0 {
            selection.within(m, tokens.w, &words, &ties.w);
        } else if !words.is_total() || several {
            let distance = distance(m, tokens.w, &words, &ties.w).named(format!("from_first{b}"));
            selection.terms.push(below(m, distance, bank.words_per_row));
            selection.places.push(Some(distance));
            if several {
                word_of_row = Some(distance.slice(0, clog2(bank.words_per_row as u64)));
            }
        }
        (selection, word_of_row)
    }

    /// For the token: the bank owns its word; index of the word in the row (registered); the read address.
    fn token(&self, b: usize, at: Ty) -> (Sig<'m>, Option<Sig<'m>>, Sig<'m>) {
        let (m, bank) = (self.m, &self.of.banks[b].bank);
        let (selection, word_of_row) = match &self.of.members[..] {
            [] => self.selected((&self.of.buffer, bank), &self.tokens, (&self.ports.buffer.ties[b], b)),
            members => {
                let one = |(k, Member { buffer, bank }): (usize, &Member)| {
                    let item = item_of(&self.tokens, &buffer.footprint, k);
                    let (of, _) = self.selected((buffer, bank), &item, (&self.ports.buffer.ties[k], k));
                    m.all(&of.terms).named(format!("hit_of{k}"))
                };
                // Words are whole.
                let hits: Vec<Sig<'m>> = members.iter().enumerate().map(one).collect();
                (Selection { terms: vec![m.any(&hits)], places: vec![] }, None)
            }
        };
        let hit = m.all(&selection.terms).named(format!("hit{b}"));
        let step = match (self.of.compressed, word_of_row) {
            (true, Some(k)) => hit & k.eq_lit(bank.words_per_row - 1),
            _ => hit,
        };
        let words = if self.of.compressed { 1 } else { bank.words_per_row };
        let count = Count { words, hit, step, places: &selection.places };
        let here = self.of.buffer.count(m, (format!("next{b}"), at), bank, &self.tokens, count);
        (hit, word_of_row.map(|k| m.delay(k, 1, format!("part{b}"))), here)
    }

    /// The memory word belongs to the word of the token; lane by lane if a row touches several words.
    fn belongs(&self, b: usize, count: u32, hit: Sig<'m>, word_of_row: Option<Sig<'m>>) -> Vec<Sig<'m>> {
        let (m, bank) = (self.m, &self.of.banks[b]);
        let Some(k) = word_of_row else { return vec![hit] };
        let words = bank.bank.words_per_row as u32;
        let table = match &self.ports.masks[b] {
            Some(port) => port.input(m),
            None => mask_literal(m, &masks(bank, self.of.buffer.word, self.of.buffer.pes[0])),
        };
        let part = |k: u32| table.slice(k * count, count);
        let chosen = m.select(&(0..words - 1).map(|n| (k.eq_lit(n), part(n))).collect::<Vec<_>>(), part(words - 1));
        (0..count).map(|lane| chosen.bit(lane) & hit).collect()
    }
}

/// Masks of a row as one constant, first word and first lane lowest.
pub fn mask_literal<'m>(m: &'m ModuleBuilder, masks: &[Vec<bool>]) -> Sig<'m> {
    let bits: Vec<bool> = masks.iter().flatten().copied().collect();
    let limbs: Vec<u64> =
        bits.chunks(64).map(|c| c.iter().enumerate().fold(0, |v, (k, b)| v | (*b as u64) << k)).collect();
    m.lit_big(&limbs, u(bits.len() as u32))
}
