//! The array: PEs, feeders, collectors and relays joined by hops, without the sequencer and the AXI engines.
//!
//! Everything is laid out from the corner where waves enter: grid element (i, j) is the PE `i` and `j` hops from it, so a
//! negative skew only mirrors the coordinates. Waves, load words and tokens enter there, go along axis 0 in column 0
//! and from there along axis 1; no net reaches more than a neighbour or the collectors of a relay's block.
//!
//! Ports: `valid`, `f<k>` (see [`Plan::fields`]), `slot<g>`, `out_slot<o>` from the sequencer; `in<k>_…` load stream of AXI port k;
//! `out<k>_…` tokens of port k, `out<k>_rd_valid`, `out<k>_rd_data` after `arch::contract::timing::drain_latency`.

use crate::control::{field_port, time_field, Field};
use crate::io::collector::{self, masks, row_form, wave_enables, Collector};
use crate::io::feeder::{self, input_nodes, loaded_once, Feeder};
use crate::io::relay::Relay;
use crate::io::words::{bank_start, StreamShape, Ties, Wave};
use crate::naming::{pass_port, stem};
use crate::pe::plan::{PePlan, Tied};
use crate::pe::Pe;
use crate::stream::{Loads, Passing, Tokens, Word};
use arch::contract::operand::travels;
use arch::contract::relay::{lanes, owned, Relays};
use arch::contract::timing::{collect_time, drain_latency};
use arch::affine::Form;
use arch::ir::vsa::{Bank, Hull, InputGroup, NodeId, Op, Vsa};
use rtl::{u, Design, Instance, ModuleBuilder, Sig, Template, Ty};

/// What the parts of the design agree on.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub pe: PePlan,
    /// What the sequencer outputs as `f<k>`.
    pub fields: Vec<Field>,
}

impl Plan {
    /// # Errors
    /// See [`PePlan::new`].
    pub fn new(vsa: &Vsa) -> Result<Self, String> {
        let pe = PePlan::new(vsa)?;
        let mut fields: Vec<Field> = pe.fields.keys().filter(|f| **f != Field::Valid).cloned().collect();
        let mut forms: Vec<Form> = vsa.inputs.iter().flat_map(|g| [g.row.clone(), g.col.clone()]).collect();
        for group in &vsa.outputs {
            fields.extend(wave_enables(vsa, group).into_iter().filter_map(|id| time_field(vsa, id)));
            forms.extend([row_form(group, vsa.arrays[group.array as usize].word as i64).0, group.col.clone()]);
        }
        fields.extend(forms.into_iter().filter(|f| Wave::new(vsa, f).varies()).map(Field::Time));
        fields.sort();
        fields.dedup();
        Ok(Plan { pe, fields })
    }
}

/// Dimensions that a stream has before those of a group with this hull: it has as many as its largest array.
fn outer<S>(word: &Word<S>, hull: &Hull) -> usize {
    word.digits.len().saturating_sub(hull.rows.len())
}

/// Fields that a group with this hull looks at.
fn shape(word: &Word<Ty>, hull: &Hull) -> StreamShape {
    let digits: Vec<_> = hull.rows.iter().zip(word.digits.iter().skip(outer(word, hull))).collect();
    StreamShape {
        u: digits.iter().map(|(row, d)| (row.extent > 1).then_some(d.u.w)).collect(),
        r: digits.iter().map(|(row, d)| d.r.filter(|_| row.modulus > 1).map(|r| r.w)).collect(),
        w: (hull.words > 1).then_some(word.w.w),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub vsa: Vsa,
    pub plan: Plan,
    /// Load and token streams, at most one of each per AXI port.
    pub loads: Vec<(usize, Loads<Ty>)>,
    pub tokens: Vec<(usize, Tokens<Ty>)>,
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    array: &'a Array,
    vsa: &'a Vsa,
    valid: Sig<'m>,
    fields: Vec<Sig<'m>>,
    pe: Instance<'m>,
}

impl Template for Array {
    fn name(&self) -> String {
        "array".into()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, d: &mut Design) {
        let (vsa, [n0, n1]) = (&self.vsa, self.vsa.extent);
        m.doc(format!("{n0} x {n1} processing elements of `{}` with their feeders and collectors; element (0, 0) is where waves enter.", vsa.name));
        let valid = m.input("valid", u(1));
        let fields = self.plan.fields.iter().enumerate().map(|(k, f)| m.input(format!("f{k}"), f.ty(vsa))).collect();
        let pe = d.module(Pe { vsa: vsa.clone(), plan: self.plan.pe.clone() });
        let grid = m.grid(d, "pe", &pe, [n0 as u32, n1 as u32]);
        let b = Build { m, array: self, vsa, valid, fields, pe: grid };
        b.control();
        b.hops();
        for (port, stream) in &self.loads {
            b.feeders(d, *port, stream);
        }
        for (port, stream) in &self.tokens {
            b.collectors(d, *port, stream);
        }
    }
}

/// Coordinate of grid position `q` of a box starting at `first` with `extent` places, seen from the waves' entry.
fn coordinate(vsa: &Vsa, axis: usize, first: i64, extent: i64, q: i64) -> i64 {
    if vsa.schedule.skew[axis] >= 0 { first + q } else { first + extent - 1 - q }
}

/// Bits of a constant as they stand in a port of type `ty`.
fn bits(m: &ModuleBuilder, v: i64, ty: Ty) -> Sig<'_> {
    m.lit_big(&[v as u64], ty)
}

impl<'m> Build<'_, 'm> {
    fn place(&self, i: u32, j: u32) -> [i64; 2] {
        [0, 1].map(|a| coordinate(self.vsa, a, 0, self.vsa.extent[a], [i, j][a] as i64))
    }

    /// A value from the sequencer, `delay` cycles late.
    fn field(&self, field: &Field, delay: i64, name: &str) -> Sig<'m> {
        let at = |k: usize| self.fields[k];
        let value = match (field, self.array.plan.fields.iter().position(|f| f == field)) {
            (Field::Valid, _) => self.valid,
            (_, Some(k)) => at(k),
            (_, None) => self.m.wire("unplanned_field", field.ty(self.vsa)).sig(),
        };
        self.m.delay(value, delay as u32, format!("{name}_d"))
    }

    /// Connects `port` of all elements to what the neighbours pass on: along axis 1, in column 0 along axis 0.
    fn chain(&self, (grid, extent): (Instance<'m>, [i64; 2]), port: &str, outs: [&str; 2], entry: Sig<'m>) {
        let entry = entry.named(format!("{port}_entry"));
        grid.set_each(port, |i, j| match (i, j) {
            (0, 0) => entry,
            (_, 0) => Self::element(grid, outs[0], extent, i - 1, 0),
            _ => Self::element(grid, outs[1], extent, i, j - 1),
        });
    }

    /// Bits of an output of element (i, j) of a grid; neighbouring ones join to one slice.
    fn element(grid: Instance<'m>, port: &str, extent: [i64; 2], i: u32, j: u32) -> Sig<'m> {
        let bus = grid.out(port);
        let w = bus.w() / (extent[0] * extent[1]) as u32;
        bus.slice((i * extent[1] as u32 + j) * w, w)
    }

    fn control(&self) {
        for (k, (field, phase)) in self.array.plan.pe.fields.iter().enumerate() {
            let port = field_port(k, field);
            let entry = self.field(field, *phase, &port);
            let outs = [0, 1].map(|a| pass_port(self.vsa, &port, a));
            self.chain((self.pe, self.vsa.extent), &port, [&outs[0], &outs[1]], entry);
        }
        for (k, tied) in self.array.plan.pe.tied.iter().enumerate() {
            let ty = tied.ty();
            let scalar = match tied {
                Tied::Scalar(s, _) => Some(self.m.input(format!("scalar{s}"), ty)),
                _ => None,
            };
            let value = |i, j| tied.value(self.place(i, j)).map(|v| bits(self.m, v, ty));
            self.pe.set_each(&format!("k{k}"), |i, j| scalar.or_else(|| value(i, j)).unwrap_or_else(|| self.m.lit(0, ty)));
        }
    }

    fn hops(&self) {
        for id in self.array.plan.pe.ids() {
            let node = self.vsa.node(id);
            let Op::Past { hop, .. } = node.op else { continue };
            if hop == [0, 0] {
                continue;
            }
            let sign = |a: usize| if self.vsa.schedule.skew[a] >= 0 { hop[a] } else { -hop[a] };
            let zero = self.m.lit(0, u(node.ty.bits()));
            let name = stem(self.vsa, id);
            self.pe.link(&format!("{name}_out"), &format!("{name}_in"), [sign(0) as i32, sign(1) as i32], |_, _| zero);
        }
    }

    fn inputs_of(&self, g: usize) -> Vec<(NodeId, u32, i64)> {
        input_nodes(self.vsa, &self.array.plan.pe.live, g)
    }

    fn feeders(&self, d: &mut Design, port: usize, types: &Loads<Ty>) {
        let sent = types.map(|name, ty| self.m.input(format!("in{port}_{name}"), *ty));
        let groups = (0..self.vsa.inputs.len()).filter(|g| self.vsa.port_of(self.vsa.inputs[*g].array) == port);
        for (bit, g) in groups.enumerate() {
            let slot = (!loaded_once(self.vsa, &self.vsa.inputs[g])).then(|| self.m.input(format!("slot{g}"), u(1)));
            self.feeder(d, (types, &sent), g, bit, slot);
        }
    }

    /// The items of one group as its buffers see them; `bit` is the group's in the stream's `group`.
    fn passing(&self, word: &Word<Sig<'m>>, hull: &Hull, bit: usize, [valid, first]: [Sig<'m>; 2], data: Option<Sig<'m>>) -> Passing<Sig<'m>> {
        let own = &word.digits[outer(word, hull)..];
        Passing {
            valid: valid & word.group.bit(bit as u32),
            first,
            slot: Some(word.slot),
            u: own.iter().map(|d| Some(d.u)).collect(),
            r: own.iter().map(|d| d.r).collect(),
            w: Some(word.w),
            data,
        }
    }

    fn feeder(&self, d: &mut Design, (types, sent): (&Loads<Ty>, &Loads<Sig<'m>>), g: usize, bit: usize, slot: Option<Sig<'m>>) {
        let (m, vsa, group) = (self.m, self.vsa, &self.vsa.inputs[g]);
        let nodes = self.inputs_of(g);
        if nodes.is_empty() {
            return;
        }
        let feeder = Feeder::new(vsa, g, shape(&types.word, &group.hull), &nodes);
        let (stream, ties): (_, Vec<Ties>) = (feeder.stream(), (0..group.banks.len()).map(|b| feeder.ties(b)).collect());
        let module = d.module(feeder.clone());
        let (extent, away) = (group.feeders(), group.away(vsa));
        let grid = m.grid(d, format!("feed{g}"), &module, extent.map(|n| n as u32));
        let passing = self.passing(&sent.word, &group.hull, bit, [sent.valid, sent.first], Some(sent.data));
        self.stream_chain((grid, extent), "ld_", &stream, &passing);
        let phase = feeder::phase(&nodes) + (0..2).map(|a| away[a] * vsa.schedule.skew[a].abs()).sum::<i64>();
        self.wave_chain((grid, extent), &format!("feed{g}"), [("row", &group.row), ("col", &group.col)], phase);
        if let Some(slot) = slot {
            let outs = [0, 1].map(|a| pass_port(vsa, "slot", a));
            self.chain((grid, extent), "slot", [&outs[0], &outs[1]], m.delay(slot, phase as u32, format!("slot{g}_d")));
        }
        let place = |i: u32, j: u32| group.place(vsa, [i as i64, j as i64]);
        let word = vsa.arrays[group.array as usize].word as i64;
        for (b, (bank, ties)) in group.banks.iter().zip(&ties).enumerate() {
            self.tie_bank(grid, (b, ties), bank, word, &place);
            self.pick((grid, extent), &feeder, b, &place);
        }
        for (id, ..) in nodes {
            self.feed(grid, id, group);
        }
    }

    /// The elements that bank `b` stores of the word that stands in its feeder: wires.
    fn pick(&self, (grid, extent): (Instance<'m>, [i64; 2]), feeder: &Feeder, b: usize, place: &dyn Fn(u32, u32) -> [i64; 2]) {
        let bits = feeder.ty.bits();
        let picked = |i: u32, j: u32| {
            let word = Self::element(grid, "ld_data_out", extent, i, j);
            let lanes = feeder.lanes(b, place(i, j)).unwrap_or_default();
            self.m.concat(&lanes.iter().rev().map(|e| word.slice(*e as u32 * 8 * feeder.ty.bytes(), bits)).collect::<Vec<_>>())
        };
        if feeder.lanes(b, place(0, 0)).is_some() {
            grid.set_each(&format!("pick{b}"), picked);
        }
    }

    /// Feeder outputs to the PEs' inputs, and from PE to PE along `forward` axes.
    fn feed(&self, feeders: Instance<'m>, id: NodeId, group: &InputGroup) {
        let (forward, away, readers) = (group.forward, group.away(self.vsa), group.readers());
        let nobody = self.m.lit(0, crate::operators::wires(self.vsa.node(id).ty));
        let name = stem(self.vsa, id);
        let outs = [0, 1].map(|a| pass_port(self.vsa, &name, a));
        self.pe.set_each(&format!("{name}_in"), |i, j| {
            let at = [0, 1].map(|a| i64::from([i, j][a]) - away[a]);
            if (0..2).any(|a| !(0..readers[a]).contains(&at[a])) {
                nobody
            } else if forward[1] && at[1] > 0 {
                Self::element(self.pe, &outs[1], self.vsa.extent, i, j - 1)
            } else if forward[0] && at[0] > 0 {
                Self::element(self.pe, &outs[0], self.vsa.extent, i - 1, j)
            } else {
                let [a, b] = [0, 1].map(|x| if forward[x] { 0 } else { at[x] as u32 });
                Self::element(feeders, &name, group.feeders(), a, b)
            }
        });
    }

    /// The load or token stream of one group through its modules.
    fn stream_chain(&self, (grid, extent): (Instance<'m>, [i64; 2]), prefix: &str, types: &Passing<Ty>, from: &Passing<Sig<'m>>) {
        types.pick(from).map(|name, value| {
            let port = format!("{prefix}{name}");
            // A field that nobody sends is not driven: a fault of the netlist.
            let entry = value.copied().unwrap_or_else(|| self.m.wire(format!("unsent_{port}"), u(1)).sig());
            let out = format!("{port}_out");
            self.chain((grid, extent), &port, [&out, &out], entry);
        });
    }

    /// Row and column of the waves, where they vary.
    fn wave_chain(&self, (grid, extent): (Instance<'m>, [i64; 2]), label: &str, forms: [(&str, &Form); 2], delay: i64) {
        for (port, form) in forms.into_iter().filter(|f| Wave::new(self.vsa, f.1).varies()) {
            let entry = self.field(&Field::Time(form.clone()), delay, &format!("{label}_{port}"));
            let outs = [0, 1].map(|a| pass_port(self.vsa, port, a));
            self.chain((grid, extent), port, [&outs[0], &outs[1]], entry);
        }
    }

    /// Constants of the places.
    fn tie_bank(&self, grid: Instance<'m>, (b, ties): (usize, &Ties), bank: &Bank, word: i64, place: &dyn Fn(u32, u32) -> [i64; 2]) {
        for (d, (row, ty)) in bank.rows.iter().zip(&ties.u).enumerate() {
            let Some(ty) = *ty else { continue };
            grid.set_each(&format!("u{b}_{d}"), |i, j| { let p = place(i, j); bits(self.m, row.base + row.coef[0] * p[0] + row.coef[1] * p[1], ty) });
        }
        let start = |i, j| bank_start(bank, word, place(i, j));
        if let Some(ty) = ties.w {
            grid.set_each(&format!("w{b}"), |i, j| bits(self.m, start(i, j).0, ty));
        }
        if let Some(ty) = ties.o {
            grid.set_each(&format!("o{b}"), |i, j| bits(self.m, start(i, j).1, ty));
        }
    }

    fn collectors(&self, d: &mut Design, port: usize, types: &Tokens<Ty>) {
        let m = self.m;
        let sent = types.map(|name, ty| m.input(format!("out{port}_{name}"), *ty));
        // The first token of a drain is the one for word 0 of row 0.
        let digits = sent.word.digits.iter().flat_map(|d| [Some(d.u), d.r]).flatten();
        let zeros: Vec<Sig<'m>> = [sent.word.w].into_iter().chain(digits).map(|x| !x.reduce_or()).collect();
        let first = m.all(&zeros);
        let groups = (0..self.vsa.outputs.len()).filter(|o| self.vsa.port_of(self.vsa.outputs[*o].array) == port);
        let words: Vec<Sig<'m>> = groups.enumerate().map(|(bit, o)| self.collector(d, (types, &sent), o, bit, first)).collect();
        let latency = drain_latency(self.vsa, port) as u32;
        m.output(format!("out{port}_rd_valid"), m.delay(sent.valid, latency, format!("rd_valid{port}")));
        m.output(format!("out{port}_rd_data"), m.any(&words));
    }

    /// Collectors of group `o` and their relays; the value is the word that comes back.
    fn collector(&self, d: &mut Design, (types, sent): (&Tokens<Ty>, &Tokens<Sig<'m>>), o: usize, bit: usize, first: Sig<'m>) -> Sig<'m> {
        let (m, vsa, group) = (self.m, self.vsa, &self.vsa.outputs[o]);
        let collector = Collector::new(vsa, o, shape(&types.word, &group.hull));
        let (tokens, ties): (_, Vec<Ties>) = (collector.tokens(), (0..group.banks.len()).map(|b| collector.ties(b)).collect());
        let module = d.module(collector);
        let extent = group.extent();
        let grid = m.grid(d, format!("collect{o}"), &module, extent.map(|n| n as u32));
        // Hops between the array's corner and the box's, and what a wave takes for them.
        let away = group.away(vsa);
        let delay = collect_time(vsa, o) - 1 + (0..2).map(|a| away[a] * vsa.schedule.skew[a].abs()).sum::<i64>();
        let word = vsa.arrays[group.array as usize].word as i64;
        let (row, _) = row_form(group, word);
        self.wave_chain((grid, extent), &format!("collect{o}"), [("row", &row), ("col", &group.col)], delay);
        if group.slots > 1 {
            let slot = m.delay(m.input(format!("out_slot{o}"), u(1)), delay as u32, format!("out_slot{o}_d"));
            let outs = [0, 1].map(|a| pass_port(vsa, "slot", a));
            self.chain((grid, extent), "slot", [&outs[0], &outs[1]], slot);
        }
        for id in wave_enables(vsa, group) {
            let enable = match (time_field(vsa, id), &vsa.node(id).op) {
                (Some(field), _) => self.valid & self.field(&field, 0, ""),
                (None, Op::Const(0)) => m.lit(0, u(1)),
                (None, _) => self.valid,
            };
            let port = format!("en{}", id.0);
            let outs = [0, 1].map(|a| pass_port(vsa, &port, a));
            self.chain((grid, extent), &port, [&outs[0], &outs[1]], m.delay(enable, delay as u32, format!("collect{o}_{port}_d")));
        }
        let from_pe = |port: &str, i: u32, j: u32| Self::element(self.pe, port, vsa.extent, i + away[0] as u32, j + away[1] as u32);
        for (k, port) in group.ports.iter().enumerate() {
            grid.set_each(&format!("v{k}"), |i, j| from_pe(&format!("out{o}_{k}"), i, j));
            if !travels(vsa, port.enable) {
                grid.set_each(&format!("v{k}_en"), |i, j| from_pe(&format!("out{o}_{k}_en"), i, j));
            }
        }
        let place = |i: u32, j: u32| group.place(vsa, [i as i64, j as i64]);
        for (b, (bank, ties)) in group.banks.iter().zip(&ties).enumerate() {
            self.tie_bank(grid, (b, ties), &bank.bank, word, &place);
            if ties.mask.is_some() {
                grid.set_each(&format!("mask{b}"), |i, j| collector::mask_literal(m, &masks(bank, word, place(i, j))));
            }
        }
        self.relays(d, grid, &tokens, o, || self.passing(&sent.word, &group.hull, bit, [sent.valid, first], None))
    }

    /// Relays of group `o`: tokens to the collectors, their words back.
    fn relays(&self, d: &mut Design, collectors: Instance<'m>, token: &Passing<Ty>, o: usize, sent: impl FnOnce() -> Passing<Sig<'m>>) -> Sig<'m> {
        let (m, vsa, group) = (self.m, self.vsa, &self.vsa.outputs[o]);
        let (array, relays) = (&vsa.arrays[group.array as usize], Relays::new(vsa, o));
        let (width, [n0, n1]) = (8 * array.bus_bytes(), relays.extent.map(|n| n as u32));
        let name = format!("relay{o}_{}", array.name.to_lowercase());
        let relay = d.module(Relay { name, token: token.clone(), joined: relays.joined as u32, width });
        let grid = m.grid(d, format!("relay{o}"), &relay, [n0, n1]);
        self.stream_chain((grid, relays.extent), "dr_", token, &sent());
        token.map(|name, _| {
            let port = format!("dr_{name}");
            collectors.set_bus(&port, self.spread(grid, &format!("{port}_out"), &relays, group.extent()));
        });
        grid.set_each("words", |i, j| self.words(collectors, o, &relays, [i as i64, j as i64]));
        // Words move along axis 1 with their token, then along axis 0 behind the last column.
        let zero = m.lit(0, u(width));
        grid.link("word", "beside", [0, 1], |_, _| zero);
        grid.set_each("above", |i, j| if i > 0 && j + 1 == n1 { Self::element(grid, "word", relays.extent, i - 1, j) } else { zero });
        let spare = drain_latency(vsa, vsa.port_of(group.array)) - relays.latency();
        m.delay(grid.out_at("word", n0 - 1, n1 - 1), spare as u32, format!("word{o}_d"))
    }

    /// An output of each relay, for each of its collectors.
    fn spread(&self, grid: Instance<'m>, port: &str, relays: &Relays, extent: [i64; 2]) -> Sig<'m> {
        let [b0, b1] = relays.block;
        let row = |i: i64| (0..relays.extent[1]).rev().map(move |j| (i / b0, j));
        let copies = (0..extent[0]).rev().flat_map(row).map(|(i, j)| {
            self.m.repeat(Self::element(grid, port, relays.extent, i as u32, j as u32), b1.min(extent[1] - j * b1) as u32)
        });
        self.m.concat(&copies.collect::<Vec<_>>())
    }

    /// The bus words that a relay joins: elements of its collectors side by side, zeros between them.
    fn words(&self, collectors: Instance<'m>, o: usize, relays: &Relays, at: [i64; 2]) -> Sig<'m> {
        let group = &self.vsa.outputs[o];
        let array = &self.vsa.arrays[group.array as usize];
        let (word, bits) = (array.word as i64, 8 * array.ty.bytes());
        let mut words = relays.words(self.vsa, o, at);
        words.resize(relays.joined, vec![]);
        let mut parts = vec![];
        for sources in words {
            let owner = |e: i64| sources.iter().position(|(hops, b)| owned(&group.banks[*b], word, group.place(self.vsa, *hops)) >> e & 1 == 1);
            let mut e = 0;
            while e < word {
                let source = owner(e).map(|k| sources[k]);
                let count = source.map_or(word, |(_, b)| lanes(&group.banks[b], word));
                let run = 1 + (e + 1..word).take_while(|x| owner(*x) == owner(e) && x % count != 0).count() as u32;
                parts.push(match source {
                    None => self.m.lit(0, u(run * bits)),
                    Some(([i, j], b)) => Self::element(collectors, &format!("word{b}"), group.extent(), i as u32, j as u32).slice((e % count) as u32 * bits, run * bits),
                });
                e += i64::from(run);
            }
        }
        parts.reverse();
        self.m.concat(&parts)
    }
}
