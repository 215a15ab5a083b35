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

use crate::pe::{memory_style, pass_port, stem};
use crate::plan::{form_range, range_ty};
use arch::contract::timing::FEED_LATENCY;
use arch::affine::Form;
use arch::ir::vsa::{Bank, InputGroup, NodeId, Op, Vsa};
use frontend::scop::ScalarType;
use rtl::{clog2, u, Design, ModuleBuilder, Sig, Template, Ty};

/// Fields of a load or token stream beside valid, first, last, slot: row digits, residues (per dimension), word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamShape {
    pub u: Vec<Option<u32>>,
    pub r: Vec<Option<u32>>,
    pub w: Option<u32>,
}

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

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Where a bank's elements lie within words.
#[derive(Clone, Debug)]
pub struct Lanes {
    pub word: i64,
    /// `offset(p)` where all places have the same.
    pub fixed: Option<i64>,
    /// `col + offset` is always `residue` modulo `step`; both powers of two divide `word`.
    pub step: i64,
    pub residue: i64,
}

/// First element of the bank's row at `p`, as (word, element in the word).
pub fn bank_start(bank: &Bank, word: i64, p: [i64; 2]) -> (i64, i64) {
    let at = bank.base + bank.coef[0] * p[0] + bank.coef[1] * p[1];
    (at.div_euclid(word), at.rem_euclid(word))
}

impl Lanes {
    pub fn new(bank: &Bank, col: &Form, word: i64, places: &[[i64; 2]]) -> Self {
        let offsets: Vec<i64> = places.iter().map(|p| bank_start(bank, word, *p).1).collect();
        let first = offsets.first().copied().unwrap_or(0);
        let step = offsets.iter().map(|o| o - first).chain(col.counters.iter().copied()).fold(word, gcd);
        Lanes { word, fixed: offsets.iter().all(|o| *o == first).then_some(first), step, residue: (col.constant + first).rem_euclid(step) }
    }
}

impl Template for Feeder {
    fn name(&self) -> String {
        let group = &self.vsa.inputs[self.group];
        let array = self.vsa.arrays[group.array as usize].name.to_lowercase();
        format!("{}_feed{}_{array}", crate::array::module_stem(&self.vsa), self.group)
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

/// The wave input for a form over inner counters, or nothing where the form is constant.
pub fn wave_input<'m>(m: &'m ModuleBuilder, vsa: &Vsa, name: &str, form: &Form) -> Option<Sig<'m>> {
    let [low, high] = form_range(vsa, form);
    (low < high).then(|| m.input(name, range_ty(low, high)))
}

/// [`wave_input`] as an unsigned value, constants included (values are never negative).
pub fn wave_value<'m>(m: &'m ModuleBuilder, vsa: &Vsa, input: Option<Sig<'m>>, form: &Form) -> Sig<'m> {
    let constant = form_range(vsa, form)[0].max(0);
    input.map_or_else(|| m.lit(constant, range_ty(0, constant)), |s| s.unsigned())
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

/// `low <= value < low + extent` for a value in `0..values`, with `low` a constant if it is the same at all places, else
/// input `port`; nothing where it always holds.
pub fn window<'m>(m: &'m ModuleBuilder, value: Option<Sig<'m>>, values: i64, lows: &[i64], extent: i64, port: String) -> Option<Sig<'m>> {
    if lows.iter().all(|l| *l <= 0 && *l + extent >= values) {
        return None;
    }
    let distance = distance(m, value, lows, port);
    Some(below(m, distance, extent))
}

/// `0 <= distance < extent` for a [`distance`].
pub fn below<'m>(m: &'m ModuleBuilder, distance: Sig<'m>, extent: i64) -> Sig<'m> {
    if extent >= 1 << (distance.w() - 1) { !distance.msb() } else { distance.lt(m.lit(extent, distance.ty())) }
}

/// `value - low` modulo a power of two that leaves room for the sign.
pub fn distance<'m>(m: &'m ModuleBuilder, value: Option<Sig<'m>>, lows: &[i64], port: String) -> Sig<'m> {
    let ty = window_ty(value.map_or(1, |v| v.w()), lows);
    let value = value.map_or(m.lit(0, ty), |v| v.extend(ty.w));
    if lows.iter().all(|l| *l == lows[0]) {
        return if lows[0] == 0 { value } else { value - m.lit_big(&[lows[0] as u64], ty) };
    }
    value - m.input(port, ty)
}

/// Width in which positions and lower bounds (possibly negative) are subtracted.
pub fn window_ty(value_bits: u32, lows: &[i64]) -> Ty {
    let most = lows.iter().map(|l| l.abs()).max().unwrap_or(0);
    u(value_bits.max(range_ty(0, most).w) + 2)
}

/// `value == constant`, 0 when the type cannot hold it.
pub fn fits<'m>(m: &'m ModuleBuilder, value: Sig<'m>, constant: i64) -> Sig<'m> {
    if constant >> value.w().min(62) != 0 { m.lit(0, u(1)) } else { value.eq_lit(constant) }
}
