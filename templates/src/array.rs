//! The array: PEs, feeders, collectors and relays joined by hops, without the sequencer and the AXI engines.
//!
//! Everything is laid out from the corner where waves enter: grid element (i, j) is the PE `i` and `j` hops from it, so a
//! negative skew only mirrors the coordinates. Waves, load words and tokens enter there, go along axis 0 in column 0
//! and from there along axis 1; no net reaches more than a neighbour or the collectors of a relay's block.
//!
//! Ports: `valid`, `f<k>` (see [`Plan::fields`]), `slot<g>`, `out_slot<o>` from the sequencer; `in<k>_…` load stream of AXI port k;
//! `out<k>_…` tokens of port k, `out<k>_rd_valid`, `out<k>_rd_data` after `arch::contract::timing::drain_latency`.

use crate::control::{field_port, form_range, time_field, Field};
use crate::io::collector::{self, masks, row_form, wave_enables, Collector};
use crate::io::feeder::{self, feeder_extent, input_nodes, loaded_once, Feeder};
use crate::io::relay::Relay;
use crate::io::words::{bank_start, StreamShape};
use crate::naming::{module_stem, pass_port, stem};
use crate::pe::plan::PePlan;
use crate::pe::Pe;
use arch::contract::operand::travels;
use arch::contract::relay::{lanes, owned, Relays};
use arch::contract::timing::{collect_time, drain_latency};
use arch::affine::Form;
use arch::ir::vsa::{Bank, NodeId, Op, Vsa};
use rtl::{u, Design, Instance, ModuleBuilder, ModuleName, Sig, Template, Ty};

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
        let varies = |f: &Form| { let [low, high] = form_range(vsa, f); low < high };
        fields.extend(forms.into_iter().filter(varies).map(Field::Time));
        fields.sort();
        fields.dedup();
        Ok(Plan { pe, fields })
    }
}

/// A stream between an AXI engine and the array: names (after the prefix) and types of its signals.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub port: usize,
    pub signals: Vec<(String, Ty)>,
}

impl Stream {
    /// Signals of an engine's ports that start with `prefix`.
    pub fn of<'a>(port: usize, prefix: &str, ports: impl Iterator<Item = (&'a str, Ty)>) -> Self {
        let signals = ports.filter_map(|(n, t)| Some((n.strip_prefix(prefix)?.to_string(), t))).collect();
        Stream { port, signals }
    }
    fn width(&self, name: &str) -> Option<u32> {
        self.signals.iter().find(|s| s.0 == name).map(|s| s.1.w)
    }
    /// Dimensions the stream has before those of a group with this hull: it has as many as its largest array.
    fn outer(&self, hull: &arch::ir::vsa::Hull) -> usize {
        (hull.rows.len()..).take_while(|d| self.width(&format!("u{d}")).is_some()).count()
    }
    /// Fields that a group with this hull looks at.
    fn shape(&self, hull: &arch::ir::vsa::Hull) -> StreamShape {
        let outer = self.outer(hull);
        let field = |what: char, wanted: &dyn Fn(&arch::ir::vsa::HullDim) -> bool| hull.rows.iter().enumerate().map(|(d, r)| self.width(&format!("{what}{}", outer + d)).filter(|_| wanted(r))).collect();
        StreamShape { u: field('u', &|r| r.extent > 1), r: field('r', &|r| r.modulus > 1), w: self.width("w").filter(|_| hull.words > 1) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub vsa: Vsa,
    pub plan: Plan,
    /// Load and token streams, at most one of each per AXI port.
    pub loads: Vec<Stream>,
    pub tokens: Vec<Stream>,
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
        format!("{}_array", module_stem(&self.vsa))
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
        for stream in &self.loads {
            b.feeders(d, stream);
        }
        for stream in &self.tokens {
            b.collectors(d, stream);
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
            self.pe.set_each(&format!("k{k}"), |i, j| bits(self.m, tied.value(self.place(i, j)), ty));
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

    fn stream(&self, stream: &Stream, prefix: &str) -> Vec<(String, Sig<'m>)> {
        stream.signals.iter().map(|(n, t)| (n.clone(), self.m.input(format!("{prefix}{}_{n}", stream.port), *t))).collect()
    }

    fn feeders(&self, d: &mut Design, stream: &Stream) {
        let signals = self.stream(stream, "in");
        let signal = |name: &str| signals.iter().find(|s| s.0 == name).map(|s| s.1);
        let groups = (0..self.vsa.inputs.len()).filter(|g| self.vsa.port_of(self.vsa.inputs[*g].array) == stream.port);
        for (bit, g) in groups.enumerate() {
            let slot = (!loaded_once(self.vsa, &self.vsa.inputs[g])).then(|| self.m.input(format!("slot{g}"), u(1)));
            self.feeder(d, stream, g, bit, slot, &signal);
        }
    }

    fn feeder(&self, d: &mut Design, stream: &Stream, g: usize, bit: usize, slot: Option<Sig<'m>>, signal: &dyn Fn(&str) -> Option<Sig<'m>>) {
        let (m, vsa, group) = (self.m, self.vsa, &self.vsa.inputs[g]);
        let nodes = self.inputs_of(g);
        if nodes.is_empty() {
            return;
        }
        let shape = stream.shape(&group.hull);
        let module = d.module(Feeder { vsa: vsa.clone(), group: g, shape, nodes: nodes.clone() });
        let extent = feeder_extent(vsa, g);
        let grid = m.grid(d, format!("feed{g}"), &module, extent.map(|n| n as u32));
        self.stream_chain(d, (grid, extent), &module, "ld_", [bit, stream.outer(&group.hull)], signal);
        let phase = feeder::phase(&nodes);
        self.wave_chain(d, (grid, extent), &module, &format!("feed{g}"), [("row", &group.row), ("col", &group.col)], phase);
        if let Some(slot) = slot {
            let outs = [0, 1].map(|a| pass_port(vsa, "slot", a));
            self.chain((grid, extent), "slot", [&outs[0], &outs[1]], m.delay(slot, phase as u32, format!("slot{g}_d")));
        }
        let place = |i: u32, j: u32| [0, 1].map(|a| if group.forward[a] { coordinate(vsa, a, 0, vsa.extent[a], 0) } else { coordinate(vsa, a, 0, extent[a], [i, j][a] as i64) });
        let word = vsa.arrays[group.array as usize].word as i64;
        for (b, bank) in group.banks.iter().enumerate() {
            self.tie_bank(d, grid, &module, b, bank, word, &place);
        }
        for (id, ..) in nodes {
            self.feed((grid, extent), id, group.forward);
        }
    }

    /// Feeder outputs to the PEs' inputs, and from PE to PE along `forward` axes.
    fn feed(&self, (feeders, extent): (Instance<'m>, [i64; 2]), id: NodeId, forward: [bool; 2]) {
        let name = stem(self.vsa, id);
        let outs = [0, 1].map(|a| pass_port(self.vsa, &name, a));
        self.pe.set_each(&format!("{name}_in"), |i, j| {
            let at = [i, j];
            if forward[1] && j > 0 {
                Self::element(self.pe, &outs[1], self.vsa.extent, i, j - 1)
            } else if forward[0] && i > 0 {
                Self::element(self.pe, &outs[0], self.vsa.extent, i - 1, j)
            } else {
                let [a, b] = [0, 1].map(|x| if forward[x] { 0 } else { at[x] });
                Self::element(feeders, &name, extent, a, b)
            }
        });
    }

    /// The load or token stream of one group through its modules; `bit` is the group's bit in the stream's `group`,
    /// `outer` the number of the stream's dimensions before the group's.
    fn stream_chain(&self, d: &Design, (grid, extent): (Instance<'m>, [i64; 2]), module: &ModuleName, prefix: &str, [bit, outer]: [usize; 2], signal: &dyn Fn(&str) -> Option<Sig<'m>>) {
        let valid = signal("valid").unwrap_or_else(|| self.m.lit(0, u(1)));
        let mine = signal("group").map_or(valid, |g| valid & g.bit(bit as u32));
        let ports: Vec<String> = d.get(module).map(|x| x.input_ports().map(|p| p.0.to_string()).collect()).unwrap_or_default();
        for port in ports.iter().filter(|p| p.starts_with(prefix)) {
            let name = &port[prefix.len()..];
            let digit = |kind: char| name.strip_prefix(kind).and_then(|d| d.parse::<usize>().ok()).map(|d| format!("{kind}{}", outer + d));
            let entry = match name {
                "valid" => Some(mine),
                _ => signal(&digit('u').or_else(|| digit('r')).unwrap_or_else(|| name.to_string())),
            };
            let out = format!("{port}_out");
            if let Some(entry) = entry {
                self.chain((grid, extent), port, [&out, &out], entry);
            }
        }
    }

    /// Row and column of the waves, for the modules that have these ports.
    fn wave_chain(&self, d: &Design, (grid, extent): (Instance<'m>, [i64; 2]), module: &ModuleName, label: &str, forms: [(&str, &Form); 2], delay: i64) {
        for (port, form) in forms {
            let wanted = d.get(module).is_some_and(|x| x.input_ports().any(|p| p.0 == port));
            if wanted {
                let entry = self.field(&Field::Time(form.clone()), delay, &format!("{label}_{port}"));
                let outs = [0, 1].map(|a| pass_port(self.vsa, port, a));
                self.chain((grid, extent), port, [&outs[0], &outs[1]], entry);
            }
        }
    }

    /// Constants of the places, for those ports the module has.
    fn tie_bank(&self, d: &Design, grid: Instance<'m>, module: &ModuleName, b: usize, bank: &Bank, word: i64, place: &dyn Fn(u32, u32) -> [i64; 2]) {
        let port_ty = |name: &str| d.get(module).and_then(|x| x.input_ports().find(|p| p.0 == name).map(|p| p.1));
        for (k, row) in bank.rows.iter().enumerate() {
            let name = format!("u{b}_{k}");
            if let Some(ty) = port_ty(&name) {
                grid.set_each(&name, |i, j| { let p = place(i, j); bits(self.m, row.base + row.coef[0] * p[0] + row.coef[1] * p[1], ty) });
            }
        }
        let start = |i, j| bank_start(bank, word, place(i, j));
        if let Some(ty) = port_ty(&format!("w{b}")) {
            grid.set_each(&format!("w{b}"), |i, j| bits(self.m, start(i, j).0, ty));
        }
        if let Some(ty) = port_ty(&format!("o{b}")) {
            grid.set_each(&format!("o{b}"), |i, j| bits(self.m, start(i, j).1, ty));
        }
    }

    fn collectors(&self, d: &mut Design, stream: &Stream) {
        let m = self.m;
        let signals = self.stream(stream, "out");
        // The first token of a drain is the one for word 0 of row 0.
        let digits: Vec<Sig<'m>> = signals.iter().filter(|s| s.0 == "w" || s.0.starts_with(['u', 'r'])).map(|s| !s.1.reduce_or()).collect();
        let first = if digits.is_empty() { m.lit(1, u(1)) } else { m.all(&digits) };
        let signal = |name: &str| if name == "first" { Some(first) } else { signals.iter().find(|s| s.0 == name).map(|s| s.1) };
        let groups = (0..self.vsa.outputs.len()).filter(|o| self.vsa.port_of(self.vsa.outputs[*o].array) == stream.port);
        let words: Vec<Sig<'m>> = groups.enumerate().map(|(bit, o)| self.collector(d, stream, o, bit, &signal)).collect();
        let latency = drain_latency(self.vsa, stream.port) as u32;
        let valid = signal("valid").unwrap_or_else(|| m.lit(0, u(1)));
        m.output(format!("out{}_rd_valid", stream.port), m.delay(valid, latency, format!("rd_valid{}", stream.port)));
        m.output(format!("out{}_rd_data", stream.port), m.any(&words));
    }

    /// Collectors of group `o` and their relays; the value is the word that comes back.
    fn collector(&self, d: &mut Design, stream: &Stream, o: usize, bit: usize, signal: &dyn Fn(&str) -> Option<Sig<'m>>) -> Sig<'m> {
        let (m, vsa, group) = (self.m, self.vsa, &self.vsa.outputs[o]);
        let module = d.module(Collector { vsa: vsa.clone(), group: o, shape: stream.shape(&group.hull) });
        let extent = group.extent();
        let grid = m.grid(d, format!("collect{o}"), &module, extent.map(|n| n as u32));
        // Hops between the array's corner and the box's, and what a wave takes for them.
        let away = [0, 1].map(|a| if vsa.schedule.skew[a] >= 0 { group.first[a] } else { vsa.extent[a] - 1 - group.last[a] });
        let delay = collect_time(vsa, o) - 1 + (0..2).map(|a| away[a] * vsa.schedule.skew[a].abs()).sum::<i64>();
        let word = vsa.arrays[group.array as usize].word as i64;
        let (row, _) = row_form(group, word);
        self.wave_chain(d, (grid, extent), &module, &format!("collect{o}"), [("row", &row), ("col", &group.col)], delay);
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
        for (b, bank) in group.banks.iter().enumerate() {
            self.tie_bank(d, grid, &module, b, &bank.bank, word, &place);
            let name = format!("mask{b}");
            if d.get(&module).is_some_and(|x| x.input_ports().any(|p| p.0 == name)) {
                grid.set_each(&name, |i, j| collector::mask_literal(m, &masks(bank, word, place(i, j))));
            }
        }
        self.relays(d, stream, (grid, &module), [o, bit], signal)
    }

    /// Relays of group `o`: tokens to the collectors, their words back.
    fn relays(&self, d: &mut Design, stream: &Stream, (collectors, module): (Instance<'m>, &ModuleName), [o, bit]: [usize; 2], signal: &dyn Fn(&str) -> Option<Sig<'m>>) -> Sig<'m> {
        let (m, vsa, group) = (self.m, self.vsa, &self.vsa.outputs[o]);
        let (array, relays) = (&vsa.arrays[group.array as usize], Relays::new(vsa, o));
        let (width, [n0, n1]) = (8 * array.bus_bytes(), relays.extent.map(|n| n as u32));
        let ports = d.get(module).map(|x| x.input_ports().map(|(name, ty)| (name.to_string(), ty)).collect::<Vec<_>>()).unwrap_or_default();
        let token: Vec<(String, Ty)> = ports.into_iter().filter(|p| p.0.starts_with("dr_")).collect();
        let name = format!("{}_relay{o}_{}", module_stem(vsa), array.name.to_lowercase());
        let relay = d.module(Relay { name, token: token.clone(), joined: relays.joined as u32, width });
        let grid = m.grid(d, format!("relay{o}"), &relay, [n0, n1]);
        self.stream_chain(d, (grid, relays.extent), &relay, "dr_", [bit, stream.outer(&group.hull)], signal);
        for (port, _) in &token {
            collectors.set_bus(port, self.spread(grid, &format!("{port}_out"), &relays, group.extent()));
        }
        grid.set_each("words", |i, j| self.words(collectors, o, &relays, [i as i64, j as i64]));
        // Words move along axis 1 with their token, then along axis 0 behind the last column.
        let zero = m.lit(0, u(width));
        grid.link("word", "beside", [0, 1], |_, _| zero);
        grid.set_each("above", |i, j| if i > 0 && j + 1 == n1 { Self::element(grid, "word", relays.extent, i - 1, j) } else { zero });
        let spare = drain_latency(vsa, stream.port) - relays.latency();
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
