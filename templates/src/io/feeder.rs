//! Feeders: the buffers of one input group that touch the PEs (L1 modules of the group).
//!
//! The load stream hops one feeder a cycle, entering where the waves enter; each feeder keeps the words of its banks.
//! Waves bring (row, col, slot) at the group's phase; `FEED_LATENCY` cycles later the elements are at the outputs
//! (registers: address, memory, memory output, element multiplexer); a node with a later `ready` than the group's first
//! gets its element as much later.
//!
//! A load is all words of the hull in order, with any gaps, the first one marked. Waves may read it from
//! `arch::contract::timing::LOADED_TO_LAUNCH` cycles after its last word on; the next load of the same half may begin
//! `FEED_LATENCY` cycles after the last wave that reads it.
//!
//! Ports: stream `ld_valid, ld_first, ld_slot, ld_u<d>, ld_r<d>, ld_w, ld_data` in and `…_out` one cycle later; wave
//! `row`, `col`, `slot` in, passed on by the skew of the axis; `u<b>_<d>`, `w<b>`, `o<b>`: constants of the place (first row
//! digit, first word, offset in the first word of bank b); outputs `<node>` per `Op::Input` node of the group.

use super::words::{fits, window, Lanes, StreamShape, Ties, Wave, Window};
use crate::naming::{memory_style, stem, Hops};
use crate::stream::Passing;
use arch::contract::timing::FEED_LATENCY;
use arch::ir::vsa::{Bank, Hull, InputGroup, NodeId, Op, Vsa};
use frontend::scop::ScalarType;
use rtl::{clog2, u, Design, ModuleBuilder, Sig, Template, Ty};

#[derive(Clone, Debug, PartialEq)]
pub struct Feeder {
    /// Of the module and of the array.
    pub name: String,
    pub array: String,
    pub ty: ScalarType,
    /// Elements per bus word.
    pub word: i64,
    pub banks: Vec<Bank>,
    pub hull: Hull,
    pub row: Wave,
    pub col: Wave,
    /// Where feeders of the group stand, in the order of the grid.
    pub places: Vec<[i64; 2]>,
    pub hops: Hops,
    /// Two halves, filled in turn.
    pub double: bool,
    pub shape: StreamShape,
    pub served: Vec<Served>,
}

/// An output: the values of a port, some cycles after the group's first.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    pub name: String,
    pub port: u32,
    pub late: u32,
}

/// Coordinates at which the group's feeders stand: the whole array but for `forward` axes.
pub fn feeder_extent(vsa: &Vsa, g: usize) -> [i64; 2] {
    [0, 1].map(|a| if vsa.inputs[g].forward[a] { 1 } else { vsa.extent[a] })
}

/// Input nodes of a group that something uses, with port and `ready`.
pub fn input_nodes(vsa: &Vsa, live: &[bool], g: usize) -> Vec<(NodeId, u32, i64)> {
    let of_group = |(k, node): (usize, &arch::ir::vsa::Node)| match node.op {
        Op::Input { group, port } if group as usize == g && live[k] => Some((NodeId(k as u32), port, vsa.schedule.ready[k])),
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
    vsa.counters[..group.reload.min(vsa.tile_depth)].iter().all(|c| c.trip == 1)
}

impl Feeder {
    /// The feeder of input group `g` that serves `nodes` (see [`input_nodes`]).
    pub fn new(vsa: &Vsa, g: usize, shape: StreamShape, nodes: &[(NodeId, u32, i64)]) -> Feeder {
        let group = &vsa.inputs[g];
        let array = &vsa.arrays[group.array as usize];
        let first = phase(nodes) + FEED_LATENCY;
        let served = |(id, port, ready): &(NodeId, u32, i64)| Served { name: stem(vsa, *id), port: *port, late: (ready - first) as u32 };
        Feeder {
            name: format!("feed{g}_{}", array.name.to_lowercase()),
            array: array.name.clone(),
            ty: array.ty,
            word: array.word as i64,
            banks: group.banks.clone(),
            hull: group.hull.clone(),
            row: Wave::new(vsa, &group.row),
            col: Wave::new(vsa, &group.col),
            places: places(vsa, group),
            hops: Hops::new(vsa, [0, 1].map(|a| vsa.extent[a] > 1 && !group.forward[a])),
            double: !loaded_once(vsa, group),
            shape,
            served: nodes.iter().map(served).collect(),
        }
    }

    /// The fields of the load stream that a feeder looks at.
    pub fn stream(&self) -> Passing<Ty> {
        self.shape.passing(self.double, Some(self.word as u32 * 8 * self.ty.bytes()))
    }

    fn lanes(&self, b: usize) -> Lanes {
        Lanes::new(&self.banks[b], &self.col.form, self.word, &self.places)
    }

    /// The constants of the place that bank `b` takes.
    pub fn ties(&self, b: usize) -> Ties {
        let bank = &self.banks[b];
        let port = |w: Window, bits: Option<u32>| if w.always() { None } else { w.port(bits) };
        Ties {
            u: (0..bank.rows.len()).map(|d| port(Window::of_digit(bank, d, &self.hull, &self.places), self.shape.u[d])).collect(),
            w: port(Window::of_words(bank, self.word, &self.hull, &self.places), self.shape.w),
            o: self.lanes(b).fixed.is_none().then(|| u(clog2(self.word as u64))),
            mask: None,
        }
    }
}

impl Template for Feeder {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        m.doc(format!("Feeder of `{}`: keeps its part of each load, two halves in turn, and gives it to the PEs wave by wave.", self.array));
        let b = Build::new(m, self);
        b.pass_waves();
        for (k, bank) in self.banks.iter().enumerate() {
            let ports = b.bank(k);
            for served in self.served.iter().filter(|n| (bank.port..bank.port + bank.ports).contains(&n.port)) {
                let value = m.delay(ports[(served.port - bank.port) as usize], served.late, format!("{}_d", served.name));
                m.output(&served.name, value);
            }
        }
    }
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    of: &'a Feeder,
    /// The load stream as it stands in one feeder, registered.
    stream: Passing<Sig<'m>>,
    data: Sig<'m>,
    /// Wave inputs; `None` where they are constant.
    row: Option<Sig<'m>>,
    col: Option<Sig<'m>>,
    slot: Option<Sig<'m>>,
}

/// Places of a box of PEs, in the order of its grid.
pub fn places(vsa: &Vsa, group: &InputGroup) -> Vec<[i64; 2]> {
    let range = |a: usize| {
        let entry = if vsa.schedule.skew[a] >= 0 { 0 } else { vsa.extent[a] - 1 };
        if group.forward[a] { entry..entry + 1 } else { 0..vsa.extent[a] }
    };
    range(0).flat_map(|i| range(1).map(move |j| [i, j])).collect()
}

impl<'a, 'm> Build<'a, 'm> {
    fn new(m: &'m ModuleBuilder, of: &'a Feeder) -> Self {
        let pass = |name: &str, ty: Ty| {
            let q = m.reg(format!("{name}_q"), ty).next(m.input(name, ty)).q();
            m.output(format!("{name}_out"), q);
            q
        };
        let stream = of.stream().map(|name, ty| pass(&format!("ld_{name}"), *ty));
        let data = stream.data.unwrap_or(stream.valid);
        let slot = of.double.then(|| m.input("slot", u(1)));
        Build { m, of, stream, data, row: of.row.input(m, "row"), col: of.col.input(m, "col"), slot }
    }

    /// Waves hop along the axes on which feeders stand.
    fn pass_waves(&self) {
        let (m, hops) = (self.m, &self.of.hops);
        for (name, value) in [("row", self.row), ("col", self.col), ("slot", self.slot)] {
            let Some(value) = value else { continue };
            let taps = m.shift_register(value, hops.longest(), format!("{name}_q"), None);
            hops.outputs(name).iter().for_each(|(port, cycles)| m.output(port, taps[*cycles as usize - 1]));
        }
    }

    /// This word belongs to the bank.
    fn hit(&self, b: usize) -> Sig<'m> {
        let bank = &self.of.banks[b];
        let mut terms = vec![self.stream.valid];
        for (d, row) in bank.rows.iter().enumerate() {
            let rows = Window::of_digit(bank, d, &self.of.hull, &self.of.places);
            terms.extend(window(self.m, self.stream.u[d], &rows, format!("u{b}_{d}")));
            if let Some(r) = self.stream.r[d] {
                terms.push(fits(self.m, r, row.residue));
            }
        }
        let words = Window::of_words(bank, self.of.word, &self.of.hull, &self.of.places);
        terms.extend(window(self.m, self.stream.w, &words, format!("w{b}")));
        self.m.all(&terms)
    }

    /// `offset(p)` of the bank: elements before its first one in its first word.
    fn offset(&self, b: usize, lanes: &Lanes) -> Sig<'m> {
        let ty = u(clog2(self.of.word as u64));
        match lanes.fixed {
            Some(o) => self.m.lit(o, ty),
            None => self.m.input(format!("o{b}"), ty),
        }
    }

    /// Values of the bank's ports, `FEED_LATENCY` after the wave.
    fn bank(&self, b: usize) -> Vec<Sig<'m>> {
        let bank = &self.of.banks[b];
        let lanes = self.of.lanes(b);
        if bank.words_per_row == 1 && self.col.is_none() { self.element_bank(b, &lanes) } else { self.word_bank(b, &lanes) }
    }

    /// The wanted elements always lie in the same place of the one word of a row: only they are stored.
    fn element_bank(&self, b: usize, lanes: &Lanes) -> Vec<Sig<'m>> {
        let (m, bank, bits) = (self.m, &self.of.banks[b], self.of.ty.bits());
        let start = self.of.col.range[0];
        let parts = match lanes.fixed {
            Some(o) => (0..bank.ports as i64).map(|k| self.element(self.data, start + o + k)).collect(),
            None => {
                let offset = self.offset(b, lanes);
                self.pick(self.data, offset + m.lit(start.rem_euclid(self.of.word), offset.ty()), lanes, bank.ports)
            }
        };
        let data = m.concat(&parts.into_iter().rev().collect::<Vec<_>>());
        let row = self.of.row.value(m, self.row);
        let read = self.memory(b, data, row);
        let value = m.delay(read, 2, format!("value{b}"));
        (0..bank.ports).map(|k| self.typed(value.slice(k * bits, bits))).collect()
    }

    fn word_bank(&self, b: usize, lanes: &Lanes) -> Vec<Sig<'m>> {
        let (m, bank) = (self.m, &self.of.banks[b]);
        let (row, col) = (self.of.row.value(m, self.row), self.of.col.value(m, self.col));
        let offset = self.offset(b, lanes);
        // Position of the wave's element within the row, from the start of its first word.
        let wide = col.w().max(offset.w()) + 1;
        let position = col.extend(wide) + offset.extend(wide);
        let lane_bits = self.of.word.trailing_zeros();
        let word_of_row = if wide > lane_bits { position.slice(lane_bits, wide - lane_bits) } else { m.lit(0, u(1)) };
        let lane = if lane_bits == 0 { m.lit(0, u(1)) } else { position.slice(0, lane_bits) };
        let address = if bank.words_per_row == 1 { row } else {
            let w = row.w().max(word_of_row.w()) + 1;
            row.extend(w) + word_of_row.extend(w)
        };
        let read = self.memory(b, self.data, address);
        let read = m.reg(format!("read{b}"), read.ty()).next(read).q();
        let picked = self.pick(read, m.delay(lane, 3, format!("lane{b}")), lanes, bank.ports);
        picked.into_iter().enumerate().map(|(k, v)| self.typed(m.reg(format!("value{b}_{k}"), v.ty()).next(v).q())).collect()
    }

    /// Element `e` modulo the word.
    fn element(&self, data: Sig<'m>, e: i64) -> Sig<'m> {
        data.slice(e.rem_euclid(self.of.word) as u32 * 8 * self.of.ty.bytes(), self.of.ty.bits())
    }

    fn typed(&self, v: Sig<'m>) -> Sig<'m> {
        v.to(crate::operators::wires(self.of.ty))
    }

    /// `ports` consecutive elements of a word from `lane` on.
    fn pick(&self, data: Sig<'m>, lane: Sig<'m>, lanes: &Lanes, ports: u32) -> Vec<Sig<'m>> {
        let starts = (0..self.of.word / lanes.step).map(|k| k * lanes.step + lanes.residue);
        let choices = |port: i64| starts.clone().map(|s| self.element(data, s + port)).collect::<Vec<_>>();
        (0..ports as i64).map(|port| select_binary(self.m, lane, lanes.step, &choices(port))).collect()
    }

    /// Where the next word of the bank goes: words are kept in the order they come.
    fn fill_address(&self, b: usize, hit: Sig<'m>, at: Ty) -> Sig<'m> {
        let m = self.m;
        let count = m.reg(format!("fill{b}"), at);
        let next = m.mux(self.stream.first, m.lit(0, at), count.q());
        count.en(self.stream.valid).next(m.mux(hit, next.add_lit(1), next));
        next
    }

    /// Memory of both halves. Its address is registered, so `address` is two cycles before the word.
    fn memory(&self, b: usize, data: Sig<'m>, address: Sig<'m>) -> Sig<'m> {
        let (m, depth) = (self.m, self.of.banks[b].depth.max(1));
        let hit = self.hit(b).named(format!("hit{b}"));
        let at = u(clog2(depth as u64));
        let registered = |x: Sig<'m>, name: &str| m.reg(format!("{name}{b}"), x.ty()).next(x).q();
        let next = self.fill_address(b, hit, at);
        let (write, read, words) = match (self.stream.slot, self.slot) {
            // A single word needs no address, only the half.
            (Some(w), Some(r)) if depth == 1 => (w, registered(r, "half"), 2),
            (Some(w), Some(r)) => (m.concat(&[w, next]), m.concat(&[registered(r, "half"), registered(address.resize(at.w), "addr")]), (1 << at.w) + depth),
            // One word for the whole run is a register.
            _ if depth == 1 => {
                let kept = m.reg(format!("bank{b}"), data.ty()).en(hit).next(data).q();
                return m.reg(format!("word{b}"), data.ty()).next(kept).q();
            }
            _ => (next, registered(address.resize(at.w), "addr"), depth),
        };
        let memory = m.mem(format!("bank{b}"), words as u32, data.w(), memory_style(words));
        memory.write(hit, write, data);
        memory.read_sync(format!("word{b}"), m.lit(1, u(1)), read)
    }
}

/// The value for the lane, one of `residue + k * step`: a multiplexer over the upper lane bits.
fn select_binary<'m>(m: &'m ModuleBuilder, lane: Sig<'m>, step: i64, values: &[Sig<'m>]) -> Sig<'m> {
    if values.len() == 1 {
        return values[0];
    }
    let half = values.len() / 2;
    let bit = (half as i64 * step).trailing_zeros();
    m.mux(lane.bit(bit), select_binary(m, lane, step, &values[half..]), select_binary(m, lane, step, &values[..half]))
}
