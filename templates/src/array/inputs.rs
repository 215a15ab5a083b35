//! Feeders of the array: their grids, their streams, and their values for the PEs.

use super::{element, served_name, shape, Buffers, Build, Crossing, LoadingPorts, Within};
use crate::io::feeder::{self, input_nodes, loads_in_halves, Feeder, FeederPorts};
use crate::io::words::StreamShape;
use crate::port::Port;
use crate::stream::{Loads, StreamItem};
use array::contract::walk::Walk;
use array::vsa::{NodeId, Vsa};
use rtl::{Design, Instance, Sig, Ty};

/// The feeders behind an AXI port.
#[derive(Clone, Debug, PartialEq)]
pub struct Loading {
    pub port: usize,
    /// Name of the arrays behind the port, see [`served_name`].
    pub name: String,
    pub stream: Loads<Ty>,
    /// In the order of the group bits of the stream, without guests.
    pub groups: Vec<Feeders>,
}

/// The feeders of an input group and its guests.
#[derive(Clone, Debug, PartialEq)]
pub struct Feeders {
    /// The group's index.
    pub group: usize,
    /// The indices of the group and its guests, and their places in the group bits of the stream.
    pub groups: Vec<usize>,
    pub bits: Vec<usize>,
    /// Double buffers.
    pub double: bool,
    /// `None` if the PEs use nothing of the group.
    pub feeder: Option<Feeder>,
    /// Feeders along each axis.
    pub extent: [i64; 2],
    /// Hops from the entry of waves to the first PE that reads, and number of PEs that read, along each axis.
    pub away: [i64; 2],
    pub readers: [i64; 2],
    /// PEs pass values on along the axis.
    pub forward: [bool; 2],
    /// Cycles from the arrival of a wave at the PE of a feeder to that of its row and column at the feeder.
    pub phase: i64,
}

impl Loading {
    /// The feeders behind a port; `live`: nodes of the PE that are used.
    pub fn new(vsa: &Vsa, port: usize, (stream, walk): (Loads<Ty>, &Walk), live: &[bool]) -> Loading {
        let all: Vec<usize> = (0..vsa.inputs.len()).filter(|g| vsa.port_of(vsa.inputs[*g].array) == port).collect();
        let owners = all.iter().filter(|g| vsa.feeders_of(**g) == **g);
        let groups = owners.map(|g| Feeders::new(vsa, *g, &all, (&stream, walk), live)).collect();
        Loading { port, name: served_name(vsa, port), stream, groups }
    }

    pub fn ports(&self) -> LoadingPorts {
        LoadingPorts {
            stream: self.stream.map(|name, ty| Port::new(format!("in{}_{}_{name}", self.port, self.name), *ty)),
            slots: self
                .groups
                .iter()
                .filter(|g| g.double)
                .flat_map(|g| &g.groups)
                .map(|g| (*g, Port::bit(format!("slot{g}"))))
                .collect(),
        }
    }
}

impl Feeders {
    /// `all`: the groups of the port.
    fn new(vsa: &Vsa, g: usize, all: &[usize], (stream, walk): (&Loads<Ty>, &Walk), live: &[bool]) -> Feeders {
        let group = &vsa.inputs[g];
        let (nodes, away) = (input_nodes(vsa, live, g), group.away(vsa));
        let groups = vsa.fed_with(g);
        let of_group = |g: &usize| {
            let footprint = &vsa.inputs[*g].footprint;
            shape(&stream.word, footprint, walk.early(*g, footprint))
        };
        Feeders {
            group: g,
            bits: groups.iter().filter_map(|g| all.iter().position(|k| k == g)).collect(),
            double: loads_in_halves(vsa, g),
            feeder: (!nodes.is_empty())
                .then(|| Feeder::new(vsa, g, StreamShape::joined(groups.iter().map(of_group).collect()), &nodes)),
            groups,
            extent: group.feeders(),
            away,
            readers: group.readers(),
            forward: group.forward,
            phase: feeder::phase(&nodes),
        }
    }
}

impl<'m> Build<'_, 'm> {
    pub(super) fn feeders(&self, d: &mut Design, loading: &Loading, ports: &LoadingPorts) {
        let sent = (self.part.band == 0).then(|| ports.stream.map(|_, port| port.input(self.m)));
        for of in &loading.groups {
            // That of a group which does not run is 1.
            let own = ports.slots.iter().filter(|s| of.groups.contains(&s.0));
            let slots: Vec<(&Port, Sig<'m>)> = own.filter_map(|s| Some((&s.1, self.entry(&s.1)?))).collect();
            let slot = slots.first().map(|s| (s.0, self.m.all(&slots.iter().map(|s| s.1).collect::<Vec<_>>())));
            let Some(feeder) = &of.feeder else { continue };
            let grid = match self.part.within(of.away, of.extent) {
                Some(within) => Some((self.feeder(d, of, feeder, sent.as_ref(), slot, within), within.extent)),
                None => {
                    if let Some(sent) = &sent {
                        self.pass_on(
                            &Crossing::of_loads(self.array, of, feeder),
                            &self.passing_loads(sent, of, feeder),
                        );
                    }
                    None
                }
            };
            for (output, port) in feeder.outputs.iter().zip(&feeder.ports().outputs) {
                self.feed(grid, port, output.node, of);
            }
        }
    }

    fn passing_loads(&self, sent: &Loads<Sig<'m>>, of: &Feeders, feeder: &Feeder) -> StreamItem<Sig<'m>> {
        let rank = feeder.buffer.shape.u.len();
        self.passing(&sent.word, (&of.bits, rank), [sent.valid, sent.first], Some(sent.data))
    }

    /// The feeders of a group that the part has. `sent`: in the first band.
    fn feeder(
        &self,
        d: &mut Design,
        of: &Feeders,
        feeder: &Feeder,
        sent: Option<&Loads<Sig<'m>>>,
        slot: Option<(&Port, Sig<'m>)>,
        within: Within,
    ) -> Instance<'m> {
        let (m, g, extent, ports) = (self.m, of.group, within.extent, feeder.ports());
        let module = d.module(feeder.clone());
        let grid = m.grid(d, format!("feed{g}"), &module, extent.map(|n| n as u32));
        let loads = Crossing::of_loads(self.array, of, feeder);
        let passing = match sent {
            Some(sent) => self.passing_loads(sent, of, feeder),
            None => loads.map(|_, of| self.crossed(&of.port)),
        };
        self.stream_chain(grid, extent, &ports.stream, &passing);
        self.hand_on(grid, extent, &ports.stream, &loads);
        let at = Buffers { of: &feeder.buffer, grid, extent, skip: within.skip, columns: of.extent[1] };
        self.waves(at, &format!("feed{g}"), &ports.buffer, slot, of.phase + self.way(within.away));
        for (ties, bank) in ports.buffer.ties.iter().zip(feeder.windows()) {
            self.tie_bank(at, ties, bank);
        }
        for (b, pick) in ports.picks.iter().enumerate() {
            pick.iter().for_each(|port| self.pick(at, feeder, &ports, b, port));
        }
        grid
    }

    /// Wires the elements of the present stream word that bank `b` stores to its pick input.
    fn pick(&self, at: Buffers<'_, 'm>, feeder: &Feeder, ports: &FeederPorts, b: usize, pick: &Port) {
        let (Some(data), ty) = (&ports.stream.data, feeder.buffer.ty) else { return };
        at.grid.set_each(&pick.name, |i, j| {
            let word = element(at.grid, &data.onward[1], at.extent, i, j);
            let lanes = feeder.lanes(b, at.pe(i, j)).unwrap_or_default();
            self.m.concat(
                &lanes.iter().rev().map(|e| word.slice(*e as u32 * 8 * ty.bytes(), ty.bits())).collect::<Vec<_>>(),
            )
        });
    }

    /// Connects the inputs of the PEs: to feeders, or to the PE before along a `forward` axis, which may be in the band
    /// before.
    fn feed(&self, feeders: Option<(Instance<'m>, [i64; 2])>, output: &Port, id: NodeId, of: &Feeders) {
        let (m, c, extent) = (self.m, self.array.bands.axis, self.part.extent);
        let chain = &self.array.pe.ports.inputs[&id.0];
        let unused = m.lit(0, chain.port.ty);
        let within = self.part.within(of.away, of.readers);
        let crossing = Crossing::of_input(self.array, of, chain);
        self.pe.set_each(&chain.port.name, |i, j| {
            let Some(within) = within else { return unused };
            let at = [0, 1].map(|a| i64::from([i, j][a]) - within.away[a]);
            if (0..2).any(|a| !(0..within.extent[a]).contains(&at[a])) {
                return unused;
            }
            if of.forward[1] && at[1] > 0 {
                return element(self.pe, &chain.onward[1], extent, i, j - 1);
            }
            if of.forward[0] && at[0] > 0 {
                return element(self.pe, &chain.onward[0], extent, i - 1, j);
            }
            let [a, b] = [0, 1].map(|x| if of.forward[x] { 0 } else { at[x] as u32 });
            match (feeders, &crossing) {
                (Some((feeders, extent)), _) => element(feeders, output, extent, a, b),
                (None, Some(crossing)) => {
                    self.crossed(&crossing.port).slice([a, b][1 - c] * chain.port.ty.w, chain.port.ty.w)
                }
                (None, None) => unused,
            }
        });
        let (Some(within), Some(crossing)) = (within, crossing.filter(|of| self.leaves(of))) else { return };
        let lines = if of.forward[1 - c] { 1 } else { within.extent[1 - c] };
        let source = |o: i64| {
            let mut at = within.away;
            at[c] += within.extent[c] - 1;
            at[1 - c] += o;
            element(self.pe, &chain.onward[c], extent, at[0] as u32, at[1] as u32)
        };
        self.leave_as(&crossing, m.concat(&(0..lines).rev().map(source).collect::<Vec<_>>()));
    }
}
