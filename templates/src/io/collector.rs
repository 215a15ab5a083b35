//! Collectors: the buffers of one output group that take values from the PEs (L1 modules of the group).
//!
//! A wave brings enables, (row, col, slot) one cycle before the values are there (`collect_time`); element lanes are
//! written separately. To drain, the writer sends one token per hull word, which the relays ([`super::relay`]) bring;
//! the owner answers with its elements.
//!
//! A drain is a token for every word of the hull in order, with any gaps, the first one marked. It may reach the collector
//! in the cycle after the one in which the last wave's values are there; waves may fill the buffer again once the last
//! answer is there.
//!
//! Ports: token `dr_valid, dr_first, dr_slot, dr_u<d>, dr_r<d>, dr_w`; `word<b>` two cycles later: the memory word of bank b,
//! of which lanes that do not belong to the token's word, and those of other tokens, are 0 (lanes that nothing belongs to
//! are arbitrary); wave `en<node>` (0 in bubbles), `row` (see [`row_form`]), `col`, `slot` in, passed on by the skew of the
//! axis; one cycle later `v<k>` and `v<k>_en` from the PE; `u<b>_<d>`, `w<b>`, `o<b>`, `mask<b>`: constants of the place.

use super::words::{bank_start, below, distance, fits, wave_input, wave_value, window, Lanes, StreamShape};
use crate::operators::wires;
use crate::naming::{memory_style, module_stem, pass_port};
use arch::contract::operand::travels;
use arch::contract::relay::lanes;
use arch::affine::Form;
use arch::ir::vsa::{NodeId, OutputBank, OutputGroup, Vsa};
use frontend::scop::ScalarType;
use rtl::{clog2, u, Design, MemStyle, ModuleBuilder, Sig, Template, Ty};

#[derive(Clone, Debug, PartialEq)]
pub struct Collector {
    pub vsa: Vsa,
    pub group: usize,
    pub shape: StreamShape,
}

/// Places of the collectors.
pub fn places(group: &OutputGroup) -> Vec<[i64; 2]> {
    (group.first[0]..=group.last[0]).flat_map(|i| (group.first[1]..=group.last[1]).map(move |j| [i, j])).collect()
}

/// Distinct enables that come with the wave, in order of their nodes.
pub fn wave_enables(vsa: &Vsa, group: &OutputGroup) -> Vec<NodeId> {
    let mut ids: Vec<NodeId> = group.ports.iter().map(|p| p.enable).filter(|e| travels(vsa, *e)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Form of the row address, and whether a row takes a single address although it may touch several bus words.
pub fn row_form(group: &OutputGroup, word: i64) -> (Form, bool) {
    let words = group.banks.first().map_or(1, |b| b.bank.words_per_row);
    let short = group.banks.iter().all(|b| b.elements <= word && b.bank.words_per_row == words);
    let row = &group.row;
    let whole = row.constant % words == 0 && row.counters.iter().all(|c| c % words == 0);
    if !(short && whole) {
        return (row.clone(), false);
    }
    let scaled = Form { constant: row.constant / words, counters: row.counters.iter().map(|c| c / words).collect(), space: [0, 0] };
    (scaled, true)
}

/// Per bus word that the row touches, which lanes of the memory word belong to it at `p`; first word first.
pub fn masks(bank: &OutputBank, word: i64, p: [i64; 2]) -> Vec<Vec<bool>> {
    let (_, offset) = bank_start(&bank.bank, word, p);
    let count = lanes(bank, word);
    let row = offset..offset + bank.elements;
    let belongs = |lane: i64, k: i64| (lane..word).step_by(count as usize).any(|e| row.contains(&(k * word + e)));
    (0..bank.bank.words_per_row).map(|k| (0..count).map(|lane| belongs(lane, k)).collect()).collect()
}

impl Template for Collector {
    fn name(&self) -> String {
        let group = &self.vsa.outputs[self.group];
        let array = self.vsa.arrays[group.array as usize].name.to_lowercase();
        format!("{}_collect{}_{array}", module_stem(&self.vsa), self.group)
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        let vsa = &self.vsa;
        let group = &vsa.outputs[self.group];
        m.doc(format!("Collector of `{}`: takes values from its PE, gives them to the words that pass by.", vsa.arrays[group.array as usize].name));
        let b = Build::new(m, self);
        (0..group.banks.len()).for_each(|k| m.output(format!("word{k}"), b.bank(k)));
    }
}

struct Tokens<'m> {
    valid: Sig<'m>,
    first: Sig<'m>,
    slot: Option<Sig<'m>>,
    u: Vec<Option<Sig<'m>>>,
    r: Vec<Option<Sig<'m>>>,
    w: Option<Sig<'m>>,
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    vsa: &'a Vsa,
    group: &'a OutputGroup,
    ty: ScalarType,
    word: i64,
    places: Vec<[i64; 2]>,
    tokens: Tokens<'m>,
    row_form: Form,
    compressed: bool,
    /// Wave inputs, registered once: at the time of the values.
    row: Option<Sig<'m>>,
    col: Option<Sig<'m>>,
    slot: Option<Sig<'m>>,
    /// Per port.
    enables: Vec<Sig<'m>>,
    values: Vec<Sig<'m>>,
}

impl<'a, 'm> Build<'a, 'm> {
    fn new(m: &'m ModuleBuilder, c: &'a Collector) -> Self {
        let vsa = &c.vsa;
        let group = &vsa.outputs[c.group];
        let array = &vsa.arrays[group.array as usize];
        let digits = |what: &str, widths: &[Option<u32>]| -> Vec<Option<Sig<'m>>> {
            widths.iter().enumerate().map(|(d, w)| w.map(|w| m.input(format!("dr_{what}{d}"), u(w)))).collect()
        };
        let double = group.slots > 1;
        let tokens = Tokens {
            valid: m.input("dr_valid", u(1)),
            first: m.input("dr_first", u(1)),
            slot: double.then(|| m.input("dr_slot", u(1))),
            u: digits("u", &c.shape.u),
            r: digits("r", &c.shape.r),
            w: c.shape.w.map(|w| m.input("dr_w", u(w))),
        };
        let (row_form, compressed) = row_form(group, array.word as i64);
        let wave = |name: &str, input: Option<Sig<'m>>| input.map(|x| pass_wave(m, vsa, group, name, x));
        let row = wave("row", wave_input(m, vsa, "row", &row_form));
        let col = wave("col", wave_input(m, vsa, "col", &group.col));
        let slot = wave("slot", double.then(|| m.input("slot", u(1))));
        let shared: Vec<(NodeId, Sig<'m>)> = wave_enables(vsa, group).into_iter().map(|id| {
            let name = format!("en{}", id.0);
            (id, pass_wave(m, vsa, group, &name, m.input(&name, u(1))))
        }).collect();
        let enable = |(k, p): (usize, &arch::ir::vsa::OutputPort)| match shared.iter().find(|s| s.0 == p.enable) {
            Some((_, sig)) => *sig,
            None => m.input(format!("v{k}_en"), u(1)),
        };
        let enables = group.ports.iter().enumerate().map(enable).collect();
        let values = group.ports.iter().enumerate().map(|(k, p)| m.input(format!("v{k}"), wires(vsa.node(p.value).ty)).unsigned()).collect();
        Build { m, vsa, group, ty: array.ty, word: array.word as i64, places: places(group), tokens, row_form, compressed, row, col, slot, enables, values }
    }

    /// The bank's answer to the token.
    fn bank(&self, b: usize) -> Sig<'m> {
        let (m, bits) = (self.m, self.ty.bits());
        let bank = &self.group.banks[b];
        let count = lanes(bank, self.word);
        let depth = if self.compressed { bank.bank.depth / bank.bank.words_per_row } else { bank.bank.depth }.max(1);
        let at = u(clog2(depth as u64));
        let (write_address, lane) = self.position(b, at);
        let (mask, data) = self.lanes(b, lane, count);
        let (hit, word_of_row, read_address) = self.token(b, at);
        let (write, read, words) = match (self.slot, self.tokens.slot) {
            (Some(w), Some(r)) if depth == 1 => (w, r, 2),
            (Some(w), Some(r)) => (m.concat(&[w, write_address]), m.concat(&[r, read_address]), (1 << at.w) + depth),
            _ => (write_address, read_address, depth),
        };
        let word = if words == 1 { self.registers(b, mask, data) } else {
            let style = memory_style(words);
            let memory = m.mem(format!("bank{b}"), words as u32, count as u32 * bits, style);
            if count == 1 { memory.write(mask, write, data) } else { memory.write_masked(m.lit(1, u(1)), write, data, mask, bits) }
            // Either the address is registered or, by a block RAM, the word.
            match style {
                MemStyle::Distributed => memory.read_async(format!("kept{b}"), m.reg(format!("addr{b}"), read.ty()).next(read).q()),
                _ => memory.read_sync(format!("kept{b}"), m.lit(1, u(1)), read),
            }
        };
        self.answer(b, word, self.belongs(b, count as u32, hit, word_of_row))
    }

    /// A register for the word, cleared where its lanes do not belong to the token's word: of a word that nobody answers
    /// to, or that others answer to, there is nothing but zeros to join.
    fn answer(&self, b: usize, word: Sig<'m>, belongs: Vec<Sig<'m>>) -> Sig<'m> {
        let (m, bits) = (self.m, self.ty.bits());
        let w = word.w() / belongs.len() as u32;
        let cleared = |(k, mine): (usize, &Sig<'m>)| {
            let name = if belongs.len() == 1 { format!("word{b}_q") } else { format!("word{b}_{k}") };
            m.reg(name, u(w)).next(word.slice(k as u32 * w, w)).rst(!*mine, 0).q()
        };
        let parts: Vec<Sig<'m>> = belongs.iter().enumerate().map(cleared).collect();
        let word = m.concat(&parts.into_iter().rev().collect::<Vec<_>>());
        let lane = |k: u32| word.slice(k * bits, bits).extend(8 * self.ty.bytes());
        m.concat(&(0..word.w() / bits).rev().map(lane).collect::<Vec<_>>())
    }

    /// A bank of a single word: a register per lane.
    fn registers(&self, b: usize, mask: Sig<'m>, data: Sig<'m>) -> Sig<'m> {
        let (m, bits) = (self.m, self.ty.bits());
        let lane = |k: u32| m.reg(format!("bank{b}_{k}"), u(bits)).en(mask.bit(k)).next(data.slice(k * bits, bits)).q();
        m.concat(&(0..mask.w()).rev().map(lane).collect::<Vec<_>>())
    }

    /// Address and element of the wave's value; element counted from the start of the row's first word.
    fn position(&self, b: usize, at: Ty) -> (Sig<'m>, Sig<'m>) {
        let m = self.m;
        let bank = &self.group.banks[b].bank;
        let row = wave_value(m, self.vsa, self.row, &self.row_form);
        let col = wave_value(m, self.vsa, self.col, &self.group.col);
        let ty = u(clog2(self.word as u64));
        let offset = match Lanes::new(bank, &self.group.col, self.word, &self.places).fixed {
            Some(o) => m.lit(o, ty),
            None => m.input(format!("o{b}"), ty),
        };
        let wide = col.w().max(offset.w()) + 1;
        let x = col.extend(wide) + offset.extend(wide);
        let lane_bits = self.word.trailing_zeros();
        if self.compressed || bank.words_per_row == 1 || wide <= lane_bits {
            return (row.resize(at.w), x);
        }
        let word = x.slice(lane_bits, wide - lane_bits);
        let w = row.w().max(word.w()) + 1;
        ((row.extend(w) + word.extend(w)).resize(at.w), x)
    }

    /// Write mask and data of the memory word's lanes.
    fn lanes(&self, b: usize, x: Sig<'m>, count: i64) -> (Sig<'m>, Sig<'m>) {
        let (m, bank) = (self.m, &self.group.banks[b].bank);
        let of_port = |k: i64| ((bank.port as i64 + k) as usize).min(self.values.len() - 1);
        if count == 1 {
            return (self.enables[of_port(0)], self.values[of_port(0)]);
        }
        let bits = count.trailing_zeros();
        let low = x.resize(bits.max(x.w())).slice(0, bits);
        let lanes = Lanes::new(bank, &self.group.col, self.word, &self.places);
        let step = lanes.step.min(count);
        let mut parts = vec![];
        for lane in 0..count {
            let ports: Vec<i64> = (0..bank.ports as i64).filter(|k| (lane - k - lanes.residue).rem_euclid(step) == 0).collect();
            let starts_here = |k: i64| if step == count { m.lit(1, u(1)) } else { low.eq_lit((lane - k).rem_euclid(count)) };
            let hits: Vec<Sig<'m>> = ports.iter().map(|k| starts_here(*k) & self.enables[of_port(*k)]).collect();
            let mask = if hits.is_empty() { m.lit(0, u(1)) } else { m.any(&hits) };
            let mut data = ports.last().map_or(m.lit(0, u(self.ty.bits())), |k| self.values[of_port(*k)]);
            for k in ports.iter().rev().skip(1) {
                data = m.mux(starts_here(*k), self.values[of_port(*k)], data);
            }
            parts.push((mask, data));
        }
        let join = |f: &dyn Fn(&(Sig<'m>, Sig<'m>)) -> Sig<'m>| m.concat(&parts.iter().rev().map(f).collect::<Vec<_>>());
        (join(&|p| p.0), join(&|p| p.1))
    }

    /// For the token: whether the bank owns its word and which word of the row it is, registered once, and the address.
    fn token(&self, b: usize, at: Ty) -> (Sig<'m>, Option<Sig<'m>>, Sig<'m>) {
        let m = self.m;
        let bank = &self.group.banks[b].bank;
        let mut terms = vec![self.tokens.valid];
        for (d, row) in bank.rows.iter().enumerate() {
            let lows: Vec<i64> = self.places.iter().map(|p| row.base + row.coef[0] * p[0] + row.coef[1] * p[1]).collect();
            let hull = self.group.hull.rows.get(d).map_or(1, |h| h.extent);
            terms.extend(window(m, self.tokens.u[d], hull, &lows, row.extent, format!("u{b}_{d}")));
            if let Some(r) = self.tokens.r[d] {
                terms.push(fits(m, r, row.residue));
            }
        }
        let lows: Vec<i64> = self.places.iter().map(|p| bank_start(bank, self.word, *p).0).collect();
        let several = bank.words_per_row > 1;
        let mut word_of_row = None;
        if lows.iter().any(|l| *l > 0 || *l + bank.words_per_row < self.group.hull.words) || several {
            let distance = distance(m, self.tokens.w, &lows, format!("w{b}")).named(format!("from_first{b}"));
            terms.push(below(m, distance, bank.words_per_row));
            if several {
                word_of_row = Some(distance.slice(0, clog2(bank.words_per_row as u64)));
            }
        }
        let hit = m.all(&terms).named(format!("hit{b}"));
        let step = match (self.compressed, word_of_row) {
            (true, Some(k)) => hit & k.eq_lit(bank.words_per_row - 1),
            _ => hit,
        };
        let count = m.reg(format!("next{b}"), at);
        let here = m.mux(self.tokens.first, m.lit(0, at), count.q());
        count.en(self.tokens.valid).next(m.mux(step, here.add_lit(1), here));
        (m.delay(hit, 1, format!("hit{b}_q")), word_of_row.map(|k| m.delay(k, 1, format!("part{b}"))), here)
    }

    /// The memory word belongs to the token's word; where a row touches several words, lane by lane.
    fn belongs(&self, b: usize, count: u32, hit: Sig<'m>, word_of_row: Option<Sig<'m>>) -> Vec<Sig<'m>> {
        let (m, bank) = (self.m, &self.group.banks[b]);
        let Some(k) = word_of_row else { return vec![hit] };
        let all: Vec<Vec<Vec<bool>>> = self.places.iter().map(|p| masks(bank, self.word, *p)).collect();
        let words = bank.bank.words_per_row as u32;
        let fixed = all.iter().all(|x| *x == all[0]);
        let table = if fixed { mask_literal(m, &all[0]) } else { m.input(format!("mask{b}"), u(count * words)) };
        let part = |k: u32| table.slice(k * count, count);
        let chosen = m.select(&(0..words - 1).map(|n| (k.eq_lit(n), part(n))).collect::<Vec<_>>(), part(words - 1));
        (0..count).map(|lane| chosen.bit(lane) & hit).collect()
    }
}

/// Masks of a row as one constant, first word and first lane lowest.
pub fn mask_literal<'m>(m: &'m ModuleBuilder, masks: &[Vec<bool>]) -> Sig<'m> {
    let bits: Vec<bool> = masks.iter().flatten().copied().collect();
    let limbs: Vec<u64> = bits.chunks(64).map(|c| c.iter().enumerate().fold(0, |v, (k, b)| v | (*b as u64) << k)).collect();
    m.lit_big(&limbs, u(bits.len() as u32))
}

/// Passes a wave signal on by the skews and gives it back one cycle later.
fn pass_wave<'m>(m: &'m ModuleBuilder, vsa: &Vsa, group: &OutputGroup, name: &str, x: Sig<'m>) -> Sig<'m> {
    let extent = group.extent();
    let skew = |a: usize| vsa.schedule.skew[a].unsigned_abs() as u32;
    let axes: Vec<usize> = (0..2).filter(|&a| extent[a] > 1).collect();
    let longest = axes.iter().map(|&a| skew(a)).max().unwrap_or(0).max(1);
    let taps = m.shift_register(x, longest, format!("{name}_q"), None);
    let mut made: Vec<String> = vec![];
    for a in axes {
        let port = pass_port(vsa, name, a);
        if !made.contains(&port) {
            m.output(&port, taps[skew(a) as usize - 1]);
            made.push(port);
        }
    }
    taps[0]
}
