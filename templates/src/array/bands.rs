//! Bands of an array that is cut ([`array::contract::bands`]): what crosses from one to the next, and how the array joins
//! them.
//!
//! ```text
//! ├── band 0 ─────────────┤      wiring      ├──────────────────── band 1 ──┤
//!  value ─►[cross_x_tx] ─► x_out ─────────► x_in ─►[cross_x_rx] ─► value
//! ```
//! Both registers are kept, and no shift register takes their place, so that each can stand at the border of its die.
//! Waves wait in front of a crossing until they have passed the band. Loads, tokens and words come from the last element of
//! a chain, values from the PEs at the border. A group that begins beyond a band passes through it. Answers cross back.

use super::inputs::Feeders;
use super::outputs::{Collectors, WaveEnable};
use super::{Array, Build};
use crate::border;
use crate::control::Field;
use crate::io::feeder::Feeder;
use crate::pe::Link;
use crate::port::{Chain, Port};
use crate::stream::StreamItem;
use rtl::{u, Design, Instance, ModuleBuilder, Sig, Template};
use std::collections::BTreeMap;
use std::ops::Range;

/// Name of the array in its core.
pub const ARRAY: &str = "array";

/// Patterns for the registers of crossings, from the array on.
pub(crate) fn registers() -> [String; 2] {
    border::REGISTERS.map(|register| format!("band*/{register}"))
}

/// Name of a band in the array.
fn instance(number: usize) -> String {
    format!("band{number}")
}

/// The band with this name.
pub fn number(instance: &str) -> Option<usize> {
    instance.strip_prefix("band")?.parse().ok()
}

/// What of the array a module has: a box of PEs, by hops from the corner where waves enter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    pub band: usize,
    pub first: [i64; 2],
    pub extent: [i64; 2],
}

/// The elements of a group that stand in a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Within {
    /// The group's elements in front of the part, along each axis.
    pub skip: [i64; 2],
    /// Hops from the corner of the part to the first element in it.
    pub away: [i64; 2],
    pub extent: [i64; 2],
}

impl Part {
    pub fn of(array: &Array, band: usize) -> Part {
        let (span, mut part) = (array.bands.span(band), Part { band, first: [0, 0], extent: array.extent });
        (part.first[array.bands.axis], part.extent[array.bands.axis]) = (span.start, span.end - span.start);
        part
    }

    /// A group with so many elements, `away` from where waves enter. `None` if the part has none of them.
    pub fn within(&self, away: [i64; 2], extent: [i64; 2]) -> Option<Within> {
        let low = [0, 1].map(|a| away[a].max(self.first[a]));
        let high = [0, 1].map(|a| (away[a] + extent[a]).min(self.first[a] + self.extent[a]));
        (0..2).all(|a| low[a] < high[a]).then(|| Within {
            skip: [0, 1].map(|a| low[a] - away[a]),
            away: [0, 1].map(|a| low[a] - self.first[a]),
            extent: [0, 1].map(|a| high[a] - low[a]),
        })
    }
}

/// How a signal gets to a crossing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// With the waves, through the whole band before.
    Wave,
    /// At once.
    Onward,
    /// At once, towards the first band.
    Back,
}

/// A signal that crosses from band to band.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    pub port: Port,
    pub way: Way,
    /// The cuts, by the band behind each.
    pub cuts: Range<usize>,
}

impl Crossing {
    fn new(port: Port, way: Way, cuts: Range<usize>) -> Option<Crossing> {
        (!cuts.is_empty()).then_some(Crossing { port, way, cuts })
    }

    /// A value that PEs hand on.
    pub fn of_link(array: &Array, link: &Link) -> Option<Crossing> {
        let away = array.away(link.hop);
        let (far, lines) = (away[array.bands.axis], array.lines(away));
        let bits = far.abs() * (lines.end - lines.start).max(0) * i64::from(link.to.ty.w);
        let port = Port::new(format!("link_{}", link.to.name), u(bits as u32));
        let way = if far < 0 { Way::Back } else { Way::Onward };
        Crossing::new(port, way, 1..array.bands.count()).filter(|_| bits > 0)
    }

    /// A value from feeders that PEs hand on.
    pub fn of_input(array: &Array, of: &Feeders, chain: &Chain) -> Option<Crossing> {
        let c = array.bands.axis;
        let lines = if of.forward[1 - c] { 1 } else { of.readers[1 - c] };
        let port = Port::new(format!("pass_{}", chain.port.name), u(lines as u32 * chain.port.ty.w));
        Crossing::new(port, Way::Onward, array.cuts(of.away, of.readers)).filter(|_| of.forward[c])
    }

    /// Fields of the load stream of a group.
    pub fn of_loads(array: &Array, of: &Feeders, feeder: &Feeder) -> StreamItem<Crossing> {
        let cuts = 1..array.cuts(of.away, of.extent).end;
        feeder.ports().stream.map(|_, chain| {
            let port = Port::new(format!("feed{}_{}", of.group, chain.port.name), chain.port.ty);
            Crossing { port, way: Way::Onward, cuts: cuts.clone() }
        })
    }

    /// Fields of the tokens of a group.
    pub fn of_tokens(array: &Array, of: &Collectors) -> StreamItem<Crossing> {
        let cuts = 1..array.cuts(of.away, of.extent).end;
        of.relay.ports().token.map(|_, chain| {
            let port = Port::new(format!("collect{}_{}", of.group, chain.port.name), chain.port.ty);
            Crossing { port, way: Way::Onward, cuts: cuts.clone() }
        })
    }

    /// Words of the relays or turns of a group, or the elements of its chains.
    pub fn of_words(array: &Array, of: &Collectors) -> Option<Crossing> {
        let bits = match &of.turns {
            Some(turns) if turns.axis != array.bands.axis => {
                let chains = of.relays.extent[turns.axis] as u32;
                chains * of.relay.width
            }
            Some(turns) => turns.turn.width,
            None => of.relay.width,
        };
        let port = Port::new(format!("word{}", of.group), u(bits));
        Crossing::new(port, Way::Onward, array.cuts(of.away, of.extent))
    }

    /// The words of a group on their way to the writer.
    pub fn of_answer(array: &Array, of: &Collectors) -> Option<Crossing> {
        let bits = of.turns.as_ref().map_or(of.relay.width, |turns| turns.turn.width);
        let port = Port::new(format!("answer{}", of.group), u(bits));
        Crossing::new(port, Way::Back, 1..array.cuts(of.away, of.extent).end)
    }

    /// The registers of this crossing, in the band that sends or in the one that receives.
    fn register<'m>(&self, m: &'m ModuleBuilder, end: &str, value: Sig<'m>) -> Sig<'m> {
        border::kept(border::register(m, &self.port.name, end, self.port.ty).next(value).q())
    }

    /// The band has the receiving register.
    pub(super) fn enters(&self, band: usize) -> bool {
        self.cuts.contains(&(if self.way == Way::Back { band + 1 } else { band }))
    }

    /// The band has the sending register.
    fn leaves(&self, band: usize) -> bool {
        self.cuts.contains(&(if self.way == Way::Back { band } else { band + 1 }))
    }

    /// Output of the band that sends, and input of the band that receives.
    fn sent(&self) -> Port {
        Port::new(format!("{}_out", self.port.name), self.port.ty)
    }
    fn received(&self) -> Port {
        Port::new(format!("{}_in", self.port.name), self.port.ty)
    }
}

impl Array {
    /// A hop in the direction of the waves.
    pub(super) fn away(&self, hop: [i64; 2]) -> [i64; 2] {
        [0, 1].map(|a| if self.mirrored[a] { -hop[a] } else { hop[a] })
    }

    /// Along the axis without cuts: the PEs with another one so far away.
    pub(super) fn lines(&self, away: [i64; 2]) -> Range<i64> {
        let o = 1 - self.bands.axis;
        (-away[o]).max(0)..self.extent[o].min(self.extent[o] - away[o])
    }

    /// The cuts between the elements of a group.
    fn cuts(&self, away: [i64; 2], extent: [i64; 2]) -> Range<usize> {
        let c = self.bands.axis;
        self.bands.at(away[c]) + 1..self.bands.at(away[c] + extent[c] - 1) + 1
    }

    /// All that crosses, each name once.
    fn crossings(&self) -> Vec<Crossing> {
        let mut all: Vec<Crossing> = self.waves();
        let ports = self.ports();
        let to_all = 1..self.bands.count();
        all.extend(ports.scalars.iter().filter_map(|s| Crossing::new(s.1.clone(), Way::Onward, to_all.clone())));
        for of in self.inputs.iter().flat_map(|l| &l.groups) {
            let Some(feeder) = &of.feeder else { continue };
            Crossing::of_loads(self, of, feeder).map(|_, field| all.push(field.clone()));
            let chains = feeder.outputs.iter().map(|output| &self.pe.ports.inputs[&output.node.0]);
            all.extend(chains.filter_map(|chain| Crossing::of_input(self, of, chain)));
        }
        for of in self.outputs.iter().flat_map(|l| &l.groups) {
            Crossing::of_tokens(self, of).map(|_, field| all.push(field.clone()));
            all.extend(Crossing::of_words(self, of));
            all.extend(Crossing::of_answer(self, of));
        }
        all.extend(self.pe.ports.links.values().filter_map(|link| Crossing::of_link(self, link)));
        all.retain(|c| !c.cuts.is_empty());
        all
    }

    /// What comes with the waves: as far as a PE or a buffer needs it.
    fn waves(&self) -> Vec<Crossing> {
        let ports = self.ports();
        let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
        let mut needs = |name, end: usize| {
            let known = ends.entry(name).or_insert(0);
            *known = end.max(*known);
        };
        let name = |field: &Field| match (field, self.fields.iter().find(|f| f.0 == *field)) {
            (Field::Valid, _) | (_, None) => ports.valid.name.as_str(),
            (_, Some((_, port))) => port.name.as_str(),
        };
        self.pe.datapath.fields.keys().for_each(|field| needs(name(field), self.bands.count()));
        let slots = |of: &[(usize, Port)], group: usize| of.iter().find(|s| s.0 == group).map(|s| s.1.name.clone());
        let mut named = vec![];
        for (loading, ports) in self.inputs.iter().zip(&ports.inputs) {
            for of in &loading.groups {
                let Some(feeder) = &of.feeder else { continue };
                let end = self.cuts(of.away, of.extent).end;
                let indices = [&feeder.buffer.row, &feeder.buffer.col].into_iter();
                indices.flat_map(|index| index.fields()).for_each(|field| needs(name(&field), end));
                let own = of.groups.iter().filter_map(|g| slots(&ports.slots, *g));
                named.extend(own.map(|name| (name, end)));
            }
        }
        for (draining, ports) in self.outputs.iter().zip(&ports.outputs) {
            for of in &draining.groups {
                let end = self.cuts(of.away, of.extent).end;
                let indices = [&of.collector.buffer.row, &of.collector.buffer.col];
                indices.into_iter().flat_map(|index| index.fields()).for_each(|field| needs(name(&field), end));
                for enable in &of.enables {
                    match enable {
                        WaveEnable::Field(field) => [name(field), name(&Field::Valid)].map(|name| needs(name, end)),
                        WaveEnable::Always => [needs(name(&Field::Valid), end); 2],
                        WaveEnable::Never => [(); 2],
                    };
                }
                let own = of.groups.iter().filter_map(|o| slots(&ports.slots, *o));
                named.extend(own.map(|name| (name, end)));
            }
        }
        let fields = [&ports.valid].into_iter().chain(&ports.fields);
        let fields = fields.filter_map(|port| Some((port.clone(), *ends.get(port.name.as_str())?)));
        let slots = named.into_iter().map(|(name, end)| (Port::bit(name), end));
        fields.chain(slots).filter_map(|(port, end)| Crossing::new(port, Way::Wave, 1..end)).collect()
    }

    /// Declares what crosses into a band, behind its registers.
    pub(super) fn enter<'m>(
        &self,
        m: &'m ModuleBuilder,
        band: usize,
        crossings: &[Crossing],
        entries: &mut BTreeMap<String, Sig<'m>>,
    ) {
        for of in crossings.iter().filter(|of| of.enters(band)) {
            entries.insert(of.port.name.clone(), of.register(m, border::RECEIVES, of.received().input(m)));
        }
    }

    /// Instantiates the bands and connects them.
    pub(super) fn join(&self, m: &ModuleBuilder, d: &mut Design) {
        let (ports, crossings) = (self.ports(), self.crossings());
        let mut bands: Vec<Instance<'_>> = vec![];
        for number in 0..self.bands.count() {
            let module = d.module(Band { array: self.clone(), number });
            bands.push(m.instance(d, instance(number), &module));
        }
        let fields = ports.fields.iter().chain(ports.scalars.iter().map(|s| &s.1));
        let loads = ports.inputs.iter().flat_map(|l| l.stream.fields().into_iter().chain(l.slots.iter().map(|s| &s.1)));
        let tokens =
            ports.outputs.iter().flat_map(|l| l.tokens.fields().into_iter().chain(l.slots.iter().map(|s| &s.1)));
        for port in [&ports.valid].into_iter().chain(fields).chain(loads).chain(tokens) {
            port.set(bands[0], port.input(m));
        }
        for of in &crossings {
            for cut in of.cuts.clone() {
                let [from, to] = if of.way == Way::Back { [cut, cut - 1] } else { [cut - 1, cut] };
                of.received().set(bands[to], of.sent().out(bands[from]));
            }
        }
        for answer in ports.outputs.iter().map(|l| &l.answer) {
            [&answer.valid, &answer.data].into_iter().for_each(|port| port.output(m, port.out(bands[0])));
        }
    }
}

/// A band as a module of its own, so that a constraint can name it.
#[derive(Clone, Debug, PartialEq)]
struct Band {
    array: Array,
    number: usize,
}

impl Template for Band {
    fn name(&self) -> String {
        format!("array_band{}", self.number)
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let part = Part::of(&self.array, self.number);
        let [n0, n1] = part.extent;
        m.doc(format!(
            "Band {} of the array of `{}`: {n0} x {n1} processing elements, for one die. All that enters and leaves \
            over its border has a register here.",
            self.number, self.array.name
        ));
        m.module_attr("keep_hierarchy", "yes");
        self.array.part_of(m, d, part, &self.array.crossings());
    }
}

impl<'m> Build<'_, 'm> {
    /// The signal crosses into the next band.
    pub(super) fn leaves(&self, of: &Crossing) -> bool {
        of.leaves(self.part.band)
    }

    pub(super) fn leave_as(&self, of: &Crossing, value: Sig<'m>) {
        self.leaving.borrow_mut().insert(of.port.name.clone(), value);
    }

    /// A stream of which the part has no elements.
    pub(super) fn pass_on(&self, stream: &StreamItem<Crossing>, value: &StreamItem<Sig<'m>>) {
        stream.zip(value, |of, value| value.iter().filter(|_| self.leaves(of)).for_each(|v| self.leave_as(of, **v)));
    }

    /// A stream from the last element of a chain.
    pub(super) fn hand_on(
        &self,
        grid: Instance<'m>,
        extent: [i64; 2],
        stream: &StreamItem<Chain>,
        crossings: &StreamItem<Crossing>,
    ) {
        let c = self.array.bands.axis;
        let mut last = [0; 2];
        last[c] = extent[c] as u32 - 1;
        crossings.zip(stream, |of, chain| {
            if let Some(chain) = chain.filter(|_| self.leaves(of)) {
                self.leave_as(of, super::element(grid, &chain.onward[c], extent, last[0], last[1]));
            }
        });
    }

    /// Sends what crosses. A value that the part has not made passes through it.
    pub(super) fn leave(&self) {
        let c = self.array.bands.axis;
        let mut length = [0; 2];
        length[c] = self.part.extent[c];
        for of in self.crossings.iter().filter(|of| of.leaves(self.part.band)) {
            let made = self.leaving.borrow().get(&of.port.name).copied();
            let value = made.unwrap_or_else(|| self.crossed(&of.port));
            let value = match of.way {
                Way::Wave => self.m.delay(value, self.way(length) as u32, format!("{}_past", of.port.name)),
                Way::Onward | Way::Back => value,
            };
            of.sent().output(self.m, of.register(self.m, border::SENDS, value.to(of.port.ty)));
        }
    }
}
