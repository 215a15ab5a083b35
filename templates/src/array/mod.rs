//! The array: PEs, feeders, collectors and relays joined by hops, without the sequencer and the AXI engines.
//!
//! Everything is laid out from the corner where waves enter: grid element (i, j) is the PE `i` and `j` hops from it, so
//! waves that travel backwards only mirror the coordinates. Waves, load words and tokens enter there, go along axis 0 in column 0
//! and from there along axis 1; no net reaches more than a neighbour or the collectors of a relay's block.
//!
//! `inputs` (feeders) and `outputs` (collectors, relays) build on what is here. Ports: [`ArrayPorts`].

mod inputs;
mod outputs;

use crate::axi::reader::ReaderParams;
use crate::axi::writer::WriterParams;
use crate::control::{field_port, time_field, Field};
use crate::io::buffer::Buffer;
use crate::io::collector::{row_form, wave_enables};
use crate::io::words::{bank_start, BufferPorts, StreamShape, Ties, Wave};
use crate::pe::datapath::{Datapath, Tied};
use crate::pe::Pe;
use crate::port::{Chain, Port};
use crate::stream::{Answer, Loads, Passing, Tokens, Word};
use array::vsa::{Bank, Hull, Vsa};
use inputs::Loading;
use outputs::Draining;
use rtl::{u, Design, Instance, ModuleBuilder, Sig, Template, Ty};
use uniform::affine::Form;

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Of the kernel.
    pub name: String,
    pub extent: [i64; 2],
    /// Waves enter at the last place of the axis.
    pub mirrored: [bool; 2],
    pub pe: Pe,
    /// What comes with a wave from the sequencer.
    pub fields: Vec<(Field, Port)>,
    /// Feeders, by AXI port that reads.
    pub inputs: Vec<Loading>,
    /// Collectors, by AXI port that writes.
    pub outputs: Vec<Draining>,
}

/// The interface of an [`Array`].
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayPorts {
    /// From the sequencer: a wave, and its fields.
    pub valid: Port,
    pub fields: Vec<Port>,
    /// Scalar arguments with these indices, the same for a whole run.
    pub scalars: Vec<(u32, Port)>,
    /// By AXI port that reads.
    pub inputs: Vec<LoadingPorts>,
    /// By AXI port that writes.
    pub outputs: Vec<DrainingPorts>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LoadingPorts {
    pub stream: Loads<Port>,
    /// From the sequencer: the buffer half a wave reads, for the input groups that have two.
    pub slots: Vec<(usize, Port)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DrainingPorts {
    pub tokens: Tokens<Port>,
    /// `array::contract::timing::drain_latency` after a token.
    pub answer: Answer<Port>,
    /// From the sequencer: the buffer half a wave fills, for the output groups that have two.
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
        let datapath = Datapath::new(vsa)?;
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
            pe: Pe::new(vsa, datapath),
            fields,
            inputs,
            outputs,
        })
    }

    /// The interface.
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

/// What the parts of the array want to know of a wave.
fn fields(vsa: &Vsa, pe: &Datapath) -> Vec<Field> {
    let mut fields: Vec<Field> = pe.fields.keys().filter(|f| **f != Field::Valid).cloned().collect();
    let mut forms: Vec<Form> = vsa.inputs.iter().flat_map(|g| [g.row.clone(), g.col.clone()]).collect();
    for group in &vsa.outputs {
        fields.extend(wave_enables(vsa, group).into_iter().filter_map(|id| time_field(vsa, id)));
        forms.extend([row_form(group, vsa.arrays[group.array as usize].word as i64).0, group.col.clone()]);
    }
    fields.extend(forms.into_iter().filter(|f| Wave::new(vsa, f).varies()).map(Field::Time));
    fields.sort();
    fields.dedup();
    fields
}

/// The array behind an AXI port, `memory` where there are several.
fn served_name(vsa: &Vsa, port: usize) -> String {
    let mut behind = (0..vsa.arrays.len()).filter(|&a| vsa.port_of(a as u32) == port);
    match (behind.next(), behind.next()) {
        (Some(only), None) => vsa.arrays[only].name.to_lowercase(),
        _ => "memory".into(),
    }
}

/// Dimensions that a stream has before those of a group with this hull: it has as many as its largest array.
fn outer<S>(word: &Word<S>, hull: &Hull) -> usize {
    word.digits.len().saturating_sub(hull.rows.len())
}

/// Fields that a group with this hull looks at.
fn shape(word: &Word<Ty>, hull: &Hull, early: Vec<usize>) -> StreamShape {
    let digits: Vec<_> = hull.rows.iter().zip(word.digits.iter().skip(outer(word, hull))).collect();
    StreamShape {
        u: digits.iter().map(|(row, d)| (row.extent > 1).then_some(d.u.w)).collect(),
        r: digits.iter().map(|(row, d)| d.r.filter(|_| row.modulus > 1).map(|r| r.w)).collect(),
        w: (hull.words > 1).then_some(word.w.w),
        early,
    }
}

/// A grid of buffers: the instances, and how many along each axis.
#[derive(Clone, Copy)]
struct Buffers<'a, 'm> {
    of: &'a Buffer,
    grid: Instance<'m>,
    extent: [i64; 2],
}

impl Buffers<'_, '_> {
    /// The PE beside one.
    fn pe(&self, i: u32, j: u32) -> [i64; 2] {
        self.of.pes[(i64::from(i) * self.extent[1] + i64::from(j)) as usize]
    }
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    array: &'a Array,
    ports: ArrayPorts,
    valid: Sig<'m>,
    fields: Vec<Sig<'m>>,
    pe: Instance<'m>,
}

impl Template for Array {
    fn name(&self) -> String {
        "array".into()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, d: &mut Design) {
        let [n0, n1] = self.extent;
        m.doc(format!(
            "{n0} x {n1} processing elements of `{}` with their feeders and collectors; element (0, 0) is where \
            waves enter.",
            self.name
        ));
        let ports = self.ports();
        let valid = ports.valid.input(m);
        let fields = ports.fields.iter().map(|port| port.input(m)).collect();
        let pe = d.module(self.pe.clone());
        let grid = m.grid(d, "pe", &pe, [n0 as u32, n1 as u32]);
        let b = Build { m, array: self, ports, valid, fields, pe: grid };
        b.control();
        b.links();
        for (loading, ports) in self.inputs.iter().zip(&b.ports.inputs) {
            b.feeders(d, loading, ports);
        }
        for (draining, ports) in self.outputs.iter().zip(&b.ports.outputs) {
            b.collectors(d, draining, ports);
        }
    }
}

/// Bits of a constant as they stand in a port.
fn bits<'m>(m: &'m ModuleBuilder, v: i64, port: &Port) -> Sig<'m> {
    m.lit_big(&[v as u64], port.ty)
}

/// Bits of an output of element (i, j) of a grid; neighbouring ones join to one slice.
fn element<'m>(grid: Instance<'m>, port: &Port, extent: [i64; 2], i: u32, j: u32) -> Sig<'m> {
    let bus = port.out(grid);
    let w = bus.w() / (extent[0] * extent[1]) as u32;
    bus.slice((i * extent[1] as u32 + j) * w, w)
}

impl<'m> Build<'_, 'm> {
    /// Of the PE that is element (i, j) of the grid.
    fn coordinates(&self, i: u32, j: u32) -> [i64; 2] {
        let (hops, Array { extent, mirrored, .. }) = ([i, j].map(i64::from), self.array);
        [0, 1].map(|a| if mirrored[a] { extent[a] - 1 - hops[a] } else { hops[a] })
    }

    /// A value from the sequencer, `delay` cycles late.
    fn field(&self, field: &Field, delay: i64, name: &str) -> Sig<'m> {
        let value = match (field, self.array.fields.iter().position(|f| f.0 == *field)) {
            (Field::Valid, _) => self.valid,
            (_, Some(k)) => self.fields[k],
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
        let (pe, extent) = (&self.array.pe, self.array.extent);
        for ((field, phase), chain) in pe.datapath.fields.iter().zip(&pe.ports.fields) {
            let entry = self.field(field, *phase, &chain.port.name);
            self.chain(self.pe, extent, chain, entry);
        }
        for (tied, port) in pe.datapath.tied.iter().zip(&pe.ports.tied) {
            let scalar = match tied {
                Tied::Scalar(k, _) => self.ports.scalars.iter().find(|s| s.0 == *k).map(|s| s.1.input(self.m)),
                _ => None,
            };
            let value = |i, j| tied.value(self.coordinates(i, j)).map(|v| bits(self.m, v, port));
            self.pe
                .set_each(&port.name, |i, j| scalar.or_else(|| value(i, j)).unwrap_or_else(|| self.m.lit(0, port.ty)));
        }
    }

    /// Values of other PEs; zeros from outside of the array.
    fn links(&self) {
        for link in self.array.pe.ports.links.values() {
            let away = |a: usize| (if self.array.mirrored[a] { -link.hop[a] } else { link.hop[a] }) as i32;
            let zero = self.m.lit(0, u(link.to.ty.w));
            self.pe.link(&link.from.name, &link.to.name, [away(0), away(1)], |_, _| zero);
        }
    }

    /// The items of one group as its buffers see them; `bit` is the group's in the stream's `group`.
    fn passing(
        &self,
        word: &Word<Sig<'m>>,
        hull: &Hull,
        bit: usize,
        [valid, first]: [Sig<'m>; 2],
        data: Option<Sig<'m>>,
    ) -> Passing<Sig<'m>> {
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

    /// The load or token stream of one group through its modules.
    fn stream_chain(&self, grid: Instance<'m>, extent: [i64; 2], stream: &Passing<Chain>, from: &Passing<Sig<'m>>) {
        stream.zip(from, |chain, value| {
            // A field that nobody sends is not driven: a fault of the netlist.
            let entry =
                value.copied().unwrap_or_else(|| self.m.wire(format!("unsent_{}", chain.port.name), u(1)).sig());
            self.chain(grid, extent, chain, entry);
        });
    }

    /// What waves bring to buffers, which they reach `delay` cycles after the first PE: row and column where they vary,
    /// and the half.
    fn waves(&self, at: Buffers<'_, 'm>, label: &str, told: &BufferPorts, slot: Option<(&Port, Sig<'m>)>, delay: i64) {
        for (chain, wave) in [(&told.row, &at.of.row), (&told.col, &at.of.col)] {
            let Some(chain) = chain else { continue };
            let entry = self.field(&Field::Time(wave.form.clone()), delay, &format!("{label}_{}", chain.port.name));
            self.chain(at.grid, at.extent, chain, entry);
        }
        if let (Some((port, value)), Some(chain)) = (slot, &told.slot) {
            self.chain(at.grid, at.extent, chain, self.m.delay(value, delay as u32, format!("{}_d", port.name)));
        }
    }

    /// Constants of the PEs.
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
