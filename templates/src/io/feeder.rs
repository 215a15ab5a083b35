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

use super::words::{bank_start, fits, wave_input, wave_value, window, Lanes, StreamShape};
use crate::control::form_range;
use crate::naming::{memory_style, module_stem, pass_port, stem};
use arch::contract::timing::FEED_LATENCY;
use arch::ir::vsa::{InputGroup, NodeId, Op, Vsa};
use frontend::scop::ScalarType;
use rtl::{clog2, u, Design, ModuleBuilder, Sig, Template, Ty};

#[derive(Clone, Debug, PartialEq)]
pub struct Feeder {
    pub vsa: Vsa,
    pub group: usize,
    pub shape: StreamShape,
    /// Input nodes to serve: node, port, ready.
    pub nodes: Vec<(NodeId, u32, i64)>,
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

impl Template for Feeder {
    fn name(&self) -> String {
        let group = &self.vsa.inputs[self.group];
        let array = self.vsa.arrays[group.array as usize].name.to_lowercase();
        format!("{}_feed{}_{array}", module_stem(&self.vsa), self.group)
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        let vsa = &self.vsa;
        m.doc(format!("Feeder of `{}`: keeps its part of each load, two halves in turn, and gives it to the PEs wave by wave.", vsa.arrays[vsa.inputs[self.group].array as usize].name));
        let b = Build::new(m, self);
        b.pass_waves();
        let first = phase(&self.nodes) + FEED_LATENCY;
        for bank in 0..vsa.inputs[self.group].banks.len() {
            let ports = b.bank(bank);
            let served = &vsa.inputs[self.group].banks[bank];
            for (id, port, ready) in self.nodes.iter().filter(|n| (served.port..served.port + served.ports).contains(&n.1)) {
                let name = stem(vsa, *id);
                let value = m.delay(ports[(port - served.port) as usize], (ready - first) as u32, format!("{name}_d"));
                m.output(name, value);
            }
        }
    }
}

/// The load stream as it stands in one feeder, registered.
struct Stream<'m> {
    valid: Sig<'m>,
    first: Sig<'m>,
    slot: Option<Sig<'m>>,
    u: Vec<Option<Sig<'m>>>,
    r: Vec<Option<Sig<'m>>>,
    w: Option<Sig<'m>>,
    data: Sig<'m>,
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    vsa: &'a Vsa,
    group: &'a InputGroup,
    ty: ScalarType,
    word: i64,
    places: Vec<[i64; 2]>,
    stream: Stream<'m>,
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
    fn new(m: &'m ModuleBuilder, feeder: &'a Feeder) -> Self {
        let vsa = &feeder.vsa;
        let group = &vsa.inputs[feeder.group];
        let array = &vsa.arrays[group.array as usize];
        let pass = |name: &str, ty: Ty| {
            let q = m.reg(format!("{name}_q"), ty).next(m.input(name, ty)).q();
            m.output(format!("{name}_out"), q);
            q
        };
        let digits = |what: &str, widths: &[Option<u32>]| -> Vec<Option<Sig<'m>>> {
            widths.iter().enumerate().map(|(d, w)| w.map(|w| pass(&format!("ld_{what}{d}"), u(w)))).collect()
        };
        let double = !loaded_once(vsa, group);
        let stream = Stream {
            valid: pass("ld_valid", u(1)),
            first: pass("ld_first", u(1)),
            slot: double.then(|| pass("ld_slot", u(1))),
            u: digits("u", &feeder.shape.u),
            r: digits("r", &feeder.shape.r),
            w: feeder.shape.w.map(|w| pass("ld_w", u(w))),
            data: pass("ld_data", u(array.word * 8 * array.ty.bytes())),
        };
        let slot = double.then(|| m.input("slot", u(1)));
        Build { m, vsa, group, ty: array.ty, word: array.word as i64, places: places(vsa, group), stream, row: wave_input(m, vsa, "row", &group.row), col: wave_input(m, vsa, "col", &group.col), slot }
    }

    /// Waves hop along the axes on which feeders stand.
    fn pass_waves(&self) {
        let m = self.m;
        for (name, value) in [("row", self.row), ("col", self.col), ("slot", self.slot)] {
            let Some(value) = value else { continue };
            let axes: Vec<usize> = (0..2).filter(|&a| self.vsa.extent[a] > 1 && !self.group.forward[a]).collect();
            let longest = axes.iter().map(|&a| self.vsa.schedule.skew[a].unsigned_abs() as u32).max().unwrap_or(0);
            let taps = m.shift_register(value, longest, format!("{name}_q"), None);
            let mut made: Vec<String> = vec![];
            for a in axes {
                let port = pass_port(self.vsa, name, a);
                if !made.contains(&port) {
                    m.output(&port, taps[self.vsa.schedule.skew[a].unsigned_abs() as usize - 1]);
                    made.push(port);
                }
            }
        }
    }

    /// This word belongs to the bank.
    fn hit(&self, b: usize) -> Sig<'m> {
        let bank = &self.group.banks[b];
        let mut terms = vec![self.stream.valid];
        for (d, row) in bank.rows.iter().enumerate() {
            let lows: Vec<i64> = self.places.iter().map(|p| row.base + row.coef[0] * p[0] + row.coef[1] * p[1]).collect();
            let hull = self.group.hull.rows.get(d).map_or(1, |h| h.extent);
            terms.extend(window(self.m, self.stream.u[d], hull, &lows, row.extent, format!("u{b}_{d}")));
            if let Some(r) = self.stream.r[d] {
                terms.push(fits(self.m, r, row.residue));
            }
        }
        let lows: Vec<i64> = self.places.iter().map(|p| bank_start(bank, self.word, *p).0).collect();
        terms.extend(window(self.m, self.stream.w, self.group.hull.words, &lows, bank.words_per_row, format!("w{b}")));
        self.m.all(&terms)
    }

    /// `offset(p)` of the bank: elements before its first one in its first word.
    fn offset(&self, b: usize, lanes: &Lanes) -> Sig<'m> {
        let ty = u(clog2(self.word as u64));
        match lanes.fixed {
            Some(o) => self.m.lit(o, ty),
            None => self.m.input(format!("o{b}"), ty),
        }
    }

    /// Values of the bank's ports, `FEED_LATENCY` after the wave.
    fn bank(&self, b: usize) -> Vec<Sig<'m>> {
        let bank = &self.group.banks[b];
        let lanes = Lanes::new(bank, &self.group.col, self.word, &self.places);
        if bank.words_per_row == 1 && self.col.is_none() { self.element_bank(b, &lanes) } else { self.word_bank(b, &lanes) }
    }

    /// The wanted elements always lie in the same place of the one word of a row: only they are stored.
    fn element_bank(&self, b: usize, lanes: &Lanes) -> Vec<Sig<'m>> {
        let (m, bank, bits) = (self.m, &self.group.banks[b], self.ty.bits());
        let start = form_range(self.vsa, &self.group.col)[0];
        let parts = match lanes.fixed {
            Some(o) => (0..bank.ports as i64).map(|k| self.element(self.stream.data, start + o + k)).collect(),
            None => {
                let offset = self.offset(b, lanes);
                self.pick(self.stream.data, offset + m.lit(start.rem_euclid(self.word), offset.ty()), lanes, bank.ports)
            }
        };
        let data = m.concat(&parts.into_iter().rev().collect::<Vec<_>>());
        let row = wave_value(m, self.vsa, self.row, &self.group.row);
        let read = self.memory(b, data, row);
        let value = m.delay(read, 2, format!("value{b}"));
        (0..bank.ports).map(|k| self.typed(value.slice(k * bits, bits))).collect()
    }

    fn word_bank(&self, b: usize, lanes: &Lanes) -> Vec<Sig<'m>> {
        let (m, bank) = (self.m, &self.group.banks[b]);
        let (row, col) = (wave_value(m, self.vsa, self.row, &self.group.row), wave_value(m, self.vsa, self.col, &self.group.col));
        let offset = self.offset(b, lanes);
        // Position of the wave's element within the row, from the start of its first word.
        let wide = col.w().max(offset.w()) + 1;
        let position = col.extend(wide) + offset.extend(wide);
        let lane_bits = self.word.trailing_zeros();
        let word_of_row = if wide > lane_bits { position.slice(lane_bits, wide - lane_bits) } else { m.lit(0, u(1)) };
        let lane = if lane_bits == 0 { m.lit(0, u(1)) } else { position.slice(0, lane_bits) };
        let address = if bank.words_per_row == 1 { row } else {
            let w = row.w().max(word_of_row.w()) + 1;
            row.extend(w) + word_of_row.extend(w)
        };
        let read = self.memory(b, self.stream.data, address);
        let read = m.reg(format!("read{b}"), read.ty()).next(read).q();
        let picked = self.pick(read, m.delay(lane, 3, format!("lane{b}")), lanes, bank.ports);
        picked.into_iter().enumerate().map(|(k, v)| self.typed(m.reg(format!("value{b}_{k}"), v.ty()).next(v).q())).collect()
    }

    /// Element `e` modulo the word.
    fn element(&self, data: Sig<'m>, e: i64) -> Sig<'m> {
        data.slice(e.rem_euclid(self.word) as u32 * 8 * self.ty.bytes(), self.ty.bits())
    }

    fn typed(&self, v: Sig<'m>) -> Sig<'m> {
        v.to(crate::operators::wires(self.ty))
    }

    /// `ports` consecutive elements of a word from `lane` on.
    fn pick(&self, data: Sig<'m>, lane: Sig<'m>, lanes: &Lanes, ports: u32) -> Vec<Sig<'m>> {
        let starts = (0..self.word / lanes.step).map(|k| k * lanes.step + lanes.residue);
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
        let (m, depth) = (self.m, self.group.banks[b].depth.max(1));
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
