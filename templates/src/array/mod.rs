//! The array: PEs, feeders, collectors and relays, connected by hops.
//!
//! Grids are laid out from the corner where waves enter: element (i, j) is the PE `i` and `j` hops from there. A
//! negative hop direction only mirrors the coordinates. Waves, load words and tokens enter at the corner:
//!
//! ```text
//! ─►(0,0)─►(0,1)─►(0,2)      along axis 0 in column 0, then along axis 1
//!     │
//!   (1,0)─►(1,1)─►(1,2)
//! ```
//! No net is longer than one hop, except from a relay to the collectors of its block.
//!
//! An array that is cut has a module for each band ([`array::contract::bands`]). A band is built as an array by itself:
//! what crosses from the band before enters at its corner (`bands`).
//!
//! `inputs` builds the feeders, `outputs` the collectors and relays. Ports: [`ArrayPorts`].

pub mod bands;
mod inputs;
mod outputs;

use self::bands::{Crossing, Part, Within};
use crate::axi::reader::ReaderParams;
use crate::axi::writer::WriterParams;
use crate::control::{field_port, time_field, Field};
use crate::io::buffer::Buffer;
use crate::io::collector::{self, row_form, wave_enables};
use crate::io::feeder;
use crate::io::words::{bank_start, BufferPorts, StreamShape, Ties, WaveIndex};
use crate::naming::end_shift_register;
use crate::pe::datapath::{Datapath, Tied};
use crate::pe::Pe;
use crate::port::{Chain, Port};
use crate::stream::{Answer, Loads, StreamItem, Tokens, Word};
use array::contract::bands::Bands;
use array::vsa::{is_function, Bank, Footprint, Vsa};
use inputs::Loading;
use outputs::Draining;
use rtl::{u, Design, Instance, ModuleBuilder, Sig, Template, Ty};
use std::cell::RefCell;
use std::collections::BTreeMap;
use uniform::affine::Form;

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Name of the kernel.
    pub name: String,
    pub extent: [i64; 2],
    /// Per axis: waves enter at the PE with the highest coordinate.
    pub mirrored: [bool; 2],
    /// Cycles from PE to PE along each axis, within a band.
    pub hops: [i64; 2],
    pub bands: Bands,
    pub pe: Pe,
    /// Control fields of a wave, from the sequencer.
    pub fields: Vec<(Field, Port)>,
    /// Feeders, by AXI port that reads.
    pub inputs: Vec<Loading>,
    /// Collectors, by AXI port that writes.
    pub outputs: Vec<Draining>,
}

/// The interface of an [`Array`].
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayPorts {
    /// From the sequencer: a wave is launched, and its fields.
    pub valid: Port,
    pub fields: Vec<Port>,
    /// Scalar arguments by index, constant during a run.
    pub scalars: Vec<(u32, Port)>,
    /// By AXI port that reads.
    pub inputs: Vec<LoadingPorts>,
    /// By AXI port that writes.
    pub outputs: Vec<DrainingPorts>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadingPorts {
    pub stream: Loads<Port>,
    /// From the sequencer, by input group with two halves: the half that a wave reads.
    pub slots: Vec<(usize, Port)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DrainingPorts {
    pub tokens: Tokens<Port>,
    /// `array::contract::timing::drain_latency` cycles after a token.
    pub answer: Answer<Port>,
    /// From the sequencer, by output group with two halves: the half that a wave fills.
    pub slots: Vec<(usize, Port)>,
}

impl Array {
    /// The array behind these engines.
    ///
    /// # Errors
    /// See [`Datapath::new`].
    pub fn new(
        vsa: &Vsa,
        readers: &[(usize, ReaderParams)],
        writers: &[(usize, WriterParams)],
    ) -> Result<Array, String> {
        let (bands, datapath) = (Bands::of(vsa)?, Datapath::new(vsa)?);
        let inputs = readers
            .iter()
            .map(|(port, params)| Loading::new(vsa, *port, (params.stream(), &params.walk), &datapath.live))
            .collect();
        let outputs =
            writers.iter().map(|(port, params)| Draining::new(vsa, *port, (params.stream(), &params.walk))).collect();
        let fields = fields(vsa, &datapath)
            .into_iter()
            .enumerate()
            .map(|(k, f)| (f.clone(), field_port(k, &f, &vsa.counters)))
            .collect();
        let mirrored = [0, 1].map(|a| !vsa.schedule.start[a].forward());
        Ok(Array {
            name: vsa.name.clone(),
            extent: vsa.extent,
            mirrored,
            hops: vsa.schedule.hop_delays(),
            bands,
            pe: Pe::new(vsa, datapath),
            fields,
            inputs,
            outputs,
        })
    }

    pub fn ports(&self) -> ArrayPorts {
        let scalar = |tied: &Tied| match tied {
            Tied::Scalar(k, _) => Some((*k, Port::new(format!("scalar{k}"), tied.ty()))),
            _ => None,
        };
        ArrayPorts {
            valid: Port::bit("valid"),
            fields: self.fields.iter().map(|f| f.1.clone()).collect(),
            scalars: self.pe.datapath.tied.iter().filter_map(scalar).collect(),
            inputs: self.inputs.iter().map(Loading::ports).collect(),
            outputs: self.outputs.iter().map(Draining::ports).collect(),
        }
    }
}

/// The control fields that PEs and buffers use.
fn fields(vsa: &Vsa, pe: &Datapath) -> Vec<Field> {
    let mut fields: Vec<Field> = pe.fields.keys().filter(|f| **f != Field::Valid).cloned().collect();
    let mut forms: Vec<Form> = vsa.inputs.iter().flat_map(|g| [g.row.clone(), g.col.clone()]).collect();
    let owners = (0..vsa.inputs.len()).filter(|g| vsa.fed_with(*g).len() > 1);
    fields.extend(owners.flat_map(|g| feeder::indices(vsa, g)).flat_map(|index| index.fields()));
    let owners = (0..vsa.outputs.len()).filter(|o| vsa.collected_with(*o).len() > 1);
    fields.extend(owners.flat_map(|o| collector::indices(vsa, o)).flat_map(|index| index.fields()));
    for group in &vsa.outputs {
        fields.extend(wave_enables(vsa, group).into_iter().filter_map(|id| time_field(vsa, id)));
        forms.extend([row_form(group, vsa.arrays[group.array as usize].word as i64).0, group.col.clone()]);
    }
    fields.extend(forms.into_iter().filter(|f| WaveIndex::new(vsa, f).varies()).map(Field::Time));
    fields.sort();
    fields.dedup();
    fields
}

/// Name of the C array behind an AXI port, `memory` if there are several.
fn served_name(vsa: &Vsa, port: usize) -> String {
    let mut behind = (0..vsa.arrays.len()).filter(|&a| vsa.port_of(a as u32) == port);
    match (behind.next(), behind.next()) {
        (Some(only), None) => vsa.arrays[only].name.to_lowercase(),
        _ => "memory".into(),
    }
}

/// Number of outer dimensions that the stream has in addition to a footprint: it has those of its largest array.
fn outer<S>(word: &Word<S>, rank: usize) -> usize {
    word.digits.len().saturating_sub(rank)
}

/// The fields of a stream that a group with this footprint uses.
fn shape(word: &Word<Ty>, footprint: &Footprint, early: Vec<usize>) -> StreamShape {
    let digits: Vec<_> =
        footprint.rows.iter().zip(word.digits.iter().skip(outer(word, footprint.rows.len()))).collect();
    StreamShape {
        u: digits.iter().map(|(row, d)| (row.extent > 1).then_some(d.u.w)).collect(),
        r: digits.iter().map(|(row, d)| d.r.filter(|_| row.modulus > 1).map(|r| r.w)).collect(),
        w: (footprint.words > 1).then_some(word.w.w),
        early,
        groups: 0,
    }
}

/// A grid of buffers: the instances, their number along each axis, and which of the group's buffers they are.
#[derive(Clone, Copy)]
struct Buffers<'a, 'm> {
    of: &'a Buffer,
    grid: Instance<'m>,
    extent: [i64; 2],
    /// The group's buffers in front of them along each axis, and all of them along axis 1.
    skip: [i64; 2],
    columns: i64,
}

impl Buffers<'_, '_> {
    /// The PE of buffer (i, j).
    fn pe(&self, i: u32, j: u32) -> [i64; 2] {
        let [i, j] = [i64::from(i) + self.skip[0], i64::from(j) + self.skip[1]];
        self.of.pes[(i * self.columns + j) as usize]
    }
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    array: &'a Array,
    /// What of the array this module has.
    part: Part,
    ports: ArrayPorts,
    pe: Instance<'m>,
    crossings: &'a [Crossing],
    /// What enters: by name of a port of the array, or of a crossing.
    entries: RefCell<BTreeMap<String, Sig<'m>>>,
    /// What crosses to the next band, or back, by name of the crossing.
    leaving: RefCell<BTreeMap<String, Sig<'m>>>,
}

impl Template for Array {
    fn name(&self) -> String {
        "array".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let [n0, n1] = self.extent;
        let about = format!(
            "{n0} x {n1} processing elements of `{}` with their feeders and collectors; element (0, 0) is where \
            waves enter.",
            self.name
        );
        if self.bands.count() > 1 {
            m.doc(format!("{about} One band for each die."));
            return self.join(m, d);
        }
        m.doc(about);
        self.part_of(m, d, Part::of(self, 0), &[]);
    }
}

impl Array {
    /// Builds a part of the array.
    fn part_of(&self, m: &ModuleBuilder, d: &mut Design, part: Part, crossings: &[Crossing]) {
        let ports = self.ports();
        let mut entries = BTreeMap::new();
        if part.band == 0 {
            [&ports.valid].into_iter().chain(&ports.fields).for_each(|port| {
                entries.insert(port.name.clone(), port.input(m));
            });
        }
        self.enter(m, part.band, crossings, &mut entries);
        let pe = d.module(self.pe.clone());
        let grid = m.grid(d, "pe", &pe, part.extent.map(|n| n as u32));
        let (entries, leaving) = (RefCell::new(entries), RefCell::default());
        let b = Build { m, array: self, part, ports, pe: grid, crossings, entries, leaving };
        b.control();
        b.links();
        for (loading, ports) in self.inputs.iter().zip(&b.ports.inputs) {
            b.feeders(d, loading, ports);
        }
        for (draining, ports) in self.outputs.iter().zip(&b.ports.outputs) {
            b.collectors(d, draining, ports);
        }
        b.leave();
    }
}

/// A constant with the type of a port.
fn bits<'m>(m: &'m ModuleBuilder, v: i64, port: &Port) -> Sig<'m> {
    m.lit_big(&[v as u64], port.ty)
}

/// An output of element (i, j) of a grid. The printer merges slices of neighbours.
fn element<'m>(grid: Instance<'m>, port: &Port, extent: [i64; 2], i: u32, j: u32) -> Sig<'m> {
    let bus = port.out(grid);
    let w = bus.w() / (extent[0] * extent[1]) as u32;
    bus.slice((i * extent[1] as u32 + j) * w, w)
}

impl<'m> Build<'_, 'm> {
    /// A value that enters the part: an input of the array in its first band. `None` if it does not come so far.
    fn entry(&self, port: &Port) -> Option<Sig<'m>> {
        let known = self.entries.borrow().get(&port.name).copied();
        known.or_else(|| {
            (self.part.band == 0).then(|| {
                let value = port.input(self.m);
                self.entries.borrow_mut().insert(port.name.clone(), value);
                value
            })
        })
    }

    /// The value of a crossing from the band before. One that does not come is an undriven wire, which the netlist check
    /// reports.
    fn crossed(&self, port: &Port) -> Sig<'m> {
        let known = self.entries.borrow().get(&port.name).copied();
        known.unwrap_or_else(|| self.m.wire(format!("uncrossed_{}", port.name), port.ty).sig())
    }

    /// A wave is here.
    fn valid(&self) -> Sig<'m> {
        self.crossed(&self.ports.valid)
    }

    /// Cycles of a wave from the corner of the part to the PE that is so many hops away.
    fn way(&self, hops: [i64; 2]) -> i64 {
        (0..2).map(|a| self.array.hops[a] * hops[a]).sum()
    }

    /// Coordinates of the PE that is element (i, j) of the grid.
    fn coordinates(&self, i: u32, j: u32) -> [i64; 2] {
        let (first, Array { extent, mirrored, .. }) = (self.part.first, self.array);
        let hops = [first[0] + i64::from(i), first[1] + i64::from(j)];
        [0, 1].map(|a| if mirrored[a] { extent[a] - 1 - hops[a] } else { hops[a] })
    }

    /// A field from the sequencer after `delay` cycles.
    fn field(&self, field: &Field, delay: i64, name: &str) -> Sig<'m> {
        let value = match (field, self.array.fields.iter().position(|f| f.0 == *field)) {
            (Field::Valid, _) => self.valid(),
            (_, Some(k)) => self.crossed(&self.array.fields[k].1),
            (_, None) => self.m.wire("unplanned_field", u(1)).sig(),
        };
        self.m.delay(value, delay as u32, format!("{name}_d"))
    }

    /// Connects a port of all elements to what the neighbours pass on: along axis 1, in column 0 along axis 0.
    fn chain(&self, grid: Instance<'m>, extent: [i64; 2], chain: &Chain, entry: Sig<'m>) {
        let entry = entry.named(format!("{}_entry", chain.port.name));
        grid.set_each(&chain.port.name, |i, j| match (i, j) {
            (0, 0) => entry,
            (_, 0) => element(grid, &chain.onward[0], extent, i - 1, 0),
            _ => element(grid, &chain.onward[1], extent, i, j - 1),
        });
    }

    fn control(&self) {
        let (pe, extent) = (&self.array.pe, self.part.extent);
        for ((field, phase), chain) in pe.datapath.fields.iter().zip(&pe.ports.fields) {
            let entry = self.field(field, *phase, &chain.port.name);
            end_shift_register(entry, *phase as usize);
            self.chain(self.pe, extent, chain, entry);
        }
        for (tied, port) in pe.datapath.tied.iter().zip(&pe.ports.tied) {
            let scalar = match tied {
                Tied::Scalar(k, _) => self.ports.scalars.iter().find(|s| s.0 == *k).and_then(|s| self.entry(&s.1)),
                _ => None,
            };
            let value = |i, j| tied.value(self.coordinates(i, j)).map(|v| bits(self.m, v, port));
            self.pe
                .set_each(&port.name, |i, j| scalar.or_else(|| value(i, j)).unwrap_or_else(|| self.m.lit(0, port.ty)));
        }
    }

    /// Values of other PEs; zeros from outside of the array.
    fn links(&self) {
        let (m, c, extent) = (self.m, self.array.bands.axis, self.part.extent);
        for link in self.array.pe.ports.links.values() {
            let away = self.array.away(link.hop);
            let zero = m.lit(0, u(link.to.ty.w));
            let crossing = Crossing::of_link(self.array, link);
            let lines = self.array.lines(away);
            let far = away[c];
            let entry = crossing.as_ref().filter(|of| of.enters(self.part.band));
            let near = link.late.as_ref().unwrap_or(&link.from);
            self.pe.link(&near.name, &link.to.name, away.map(|hops| hops as i32), |i, j| {
                let from = [i64::from(i) - away[0], i64::from(j) - away[1]];
                // Place among the PEs of the neighbouring band from which the value comes.
                let beyond = if far < 0 { from[c] - extent[c] } else { far + from[c] };
                match entry {
                    Some(of) if (0..far.abs()).contains(&beyond) && lines.contains(&from[1 - c]) => {
                        let place = beyond * (lines.end - lines.start) + from[1 - c] - lines.start;
                        self.crossed(&of.port).slice(place as u32 * zero.w(), zero.w())
                    }
                    _ => zero,
                }
            });
            if let Some(of) = crossing.filter(|of| self.leaves(of)) {
                let first = if far < 0 { 0 } else { extent[c] - far };
                let source = |r: i64, o: i64| {
                    let at = if c == 0 { [first + r, o] } else { [o, first + r] };
                    element(self.pe, &link.from, extent, at[0] as u32, at[1] as u32)
                };
                let all: Vec<Sig<'m>> = (0..far.abs())
                    .flat_map(|r| lines.clone().map(move |o| (r, o)))
                    .map(|(r, o)| source(r, o))
                    .rev()
                    .collect();
                self.leave_as(&of, m.concat(&all));
            }
        }
    }

    /// The items of a stream for the groups with these indices in its `group` field, whose footprints have at most so many
    /// dimensions of rows.
    fn passing(
        &self,
        word: &Word<Sig<'m>>,
        (bits, rank): (&[usize], usize),
        [valid, first]: [Sig<'m>; 2],
        data: Option<Sig<'m>>,
    ) -> StreamItem<Sig<'m>> {
        let digits = &word.digits[outer(word, rank)..];
        let groups: Vec<Sig<'m>> = bits.iter().map(|bit| valid & word.group.bit(*bit as u32)).collect();
        StreamItem {
            valid: self.m.any(&groups),
            first,
            groups: if groups.len() > 1 { groups } else { vec![] },
            slot: Some(word.slot),
            u: digits.iter().map(|d| Some(d.u)).collect(),
            r: digits.iter().map(|d| d.r).collect(),
            w: Some(word.w),
            data,
        }
    }

    /// The load or token stream of one group through its modules.
    fn stream_chain(
        &self,
        grid: Instance<'m>,
        extent: [i64; 2],
        stream: &StreamItem<Chain>,
        from: &StreamItem<Sig<'m>>,
    ) {
        stream.zip(from, |chain, value| {
            // A field without a source is an undriven wire, which the netlist check reports.
            let entry =
                value.copied().unwrap_or_else(|| self.m.wire(format!("unsent_{}", chain.port.name), u(1)).sig());
            self.chain(grid, extent, chain, entry);
        });
    }

    /// Connects the wave inputs of buffers: row, column and half. They reach the buffers `delay` cycles after the first
    /// PE.
    fn waves(&self, at: Buffers<'_, 'm>, label: &str, ports: &BufferPorts, slot: Option<(&Port, Sig<'m>)>, delay: i64) {
        for (chain, wave) in [(&ports.row, &at.of.row), (&ports.col, &at.of.col)] {
            let Some(chain) = chain else { continue };
            let entry = self.index(wave, (chain.port.ty, delay), &format!("{label}_{}", chain.port.name));
            self.chain(at.grid, at.extent, chain, entry);
        }
        if let (Some((port, value)), Some(chain)) = (slot, &ports.slot) {
            self.chain(at.grid, at.extent, chain, self.m.delay(value, delay as u32, format!("{}_d", port.name)));
        }
    }

    /// An index from the sequencer after `delay` cycles, that of the present function.
    fn index(&self, wave: &WaveIndex, (ty, delay): (Ty, i64), name: &str) -> Sig<'m> {
        if wave.others.is_empty() {
            return self.field(&Field::Time(wave.form.clone()), delay, name);
        }
        let value = |form: &Form| match WaveIndex::is_constant(form) {
            true => self.m.lit(form.constant, ty),
            false => self.field(&Field::Time(form.clone()), 0, name).unsigned().resize(ty.w),
        };
        let is = |f: &usize| self.field(&Field::Guard(vec![is_function(*f)]), 0, name);
        let one = |(functions, form): &(Vec<usize>, Form)| {
            (self.m.any(&functions.iter().map(is).collect::<Vec<_>>()), value(form))
        };
        let chosen = self.m.select(&wave.others.iter().map(one).collect::<Vec<_>>(), value(&wave.form));
        self.m.delay(chosen.called(name), delay as u32, format!("{name}_d"))
    }

    /// Ties off the constant inputs of bank `bank`.
    fn tie_bank(&self, at: Buffers<'_, 'm>, ties: &Ties, bank: &Bank) {
        let start = |p| bank_start(bank, at.of.word, p);
        let each = |port: &Port, value: &dyn Fn([i64; 2]) -> i64| {
            at.grid.set_each(&port.name, |i, j| bits(self.m, value(at.pe(i, j)), port));
        };
        for (row, port) in bank.rows.iter().zip(&ties.u) {
            port.iter().for_each(|port| each(port, &|p| row.base + row.coef[0] * p[0] + row.coef[1] * p[1]));
        }
        ties.w.iter().for_each(|port| each(port, &|p| start(p).0));
        ties.o.iter().for_each(|port| each(port, &|p| start(p).1));
    }
}
