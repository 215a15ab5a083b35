//! Feeders of the array: their grids, their streams, and their values for the PEs.

use super::{element, served_name, shape, Buffers, Build, LoadingPorts};
use crate::io::feeder::{self, input_nodes, loaded_once, Feeder, FeederPorts};
use crate::port::Port;
use crate::stream::Loads;
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
    /// In the order of the group bits of the stream.
    pub groups: Vec<Feeders>,
}

/// The feeders of an input group.
#[derive(Clone, Debug, PartialEq)]
pub struct Feeders {
    /// The group's index.
    pub group: usize,
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
    /// Cycles from the arrival of a wave at the first PE to that of its row and column at the first feeder.
    pub phase: i64,
}

impl Loading {
    /// The feeders behind a port; `live`: nodes of the PE that are used.
    pub fn new(vsa: &Vsa, port: usize, (stream, walk): (Loads<Ty>, &Walk), live: &[bool]) -> Loading {
        let groups = (0..vsa.inputs.len()).filter(|g| vsa.port_of(vsa.inputs[*g].array) == port);
        let groups = groups.map(|g| Feeders::new(vsa, g, (&stream, walk), live)).collect();
        Loading { port, name: served_name(vsa, port), stream, groups }
    }

    pub fn ports(&self) -> LoadingPorts {
        LoadingPorts {
            stream: self.stream.map(|name, ty| Port::new(format!("in{}_{}_{name}", self.port, self.name), *ty)),
            slots: self
                .groups
                .iter()
                .filter(|g| g.double)
                .map(|g| (g.group, Port::bit(format!("slot{}", g.group))))
                .collect(),
        }
    }
}

impl Feeders {
    fn new(vsa: &Vsa, g: usize, (stream, walk): (&Loads<Ty>, &Walk), live: &[bool]) -> Feeders {
        let group = &vsa.inputs[g];
        let (nodes, away) = (input_nodes(vsa, live, g), group.away(vsa));
        Feeders {
            group: g,
            double: !loaded_once(vsa, group),
            feeder: (!nodes.is_empty()).then(|| {
                Feeder::new(vsa, g, shape(&stream.word, &group.footprint, walk.early(g, &group.footprint)), &nodes)
            }),
            extent: group.feeders(),
            away,
            readers: group.readers(),
            forward: group.forward,
            phase: feeder::phase(&nodes) + vsa.schedule.way(away),
        }
    }
}

impl<'m> Build<'_, 'm> {
    pub(super) fn feeders(&self, d: &mut Design, loading: &Loading, ports: &LoadingPorts) {
        let sent = ports.stream.map(|_, port| port.input(self.m));
        for (bit, of) in loading.groups.iter().enumerate() {
            let slot = ports.slots.iter().find(|s| s.0 == of.group).map(|s| (&s.1, s.1.input(self.m)));
            if let Some(feeder) = &of.feeder {
                self.feeder(d, of, feeder, (&sent, bit), slot);
            }
        }
    }

    fn feeder(
        &self,
        d: &mut Design,
        of: &Feeders,
        feeder: &Feeder,
        (sent, bit): (&Loads<Sig<'m>>, usize),
        slot: Option<(&Port, Sig<'m>)>,
    ) {
        let (m, g, extent, ports) = (self.m, of.group, of.extent, feeder.ports());
        let module = d.module(feeder.clone());
        let grid = m.grid(d, format!("feed{g}"), &module, extent.map(|n| n as u32));
        let passing =
            self.passing(&sent.word, &feeder.buffer.footprint, bit, [sent.valid, sent.first], Some(sent.data));
        self.stream_chain(grid, extent, &ports.stream, &passing);
        let at = Buffers { of: &feeder.buffer, grid, extent };
        self.waves(at, &format!("feed{g}"), &ports.buffer, slot, of.phase);
        for (b, bank) in feeder.banks.iter().enumerate() {
            self.tie_bank(at, &ports.buffer.ties[b], bank);
            ports.picks[b].iter().for_each(|port| self.pick(at, feeder, &ports, b, port));
        }
        for (output, port) in feeder.outputs.iter().zip(&ports.outputs) {
            self.feed(grid, port, output.node, of);
        }
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

    /// Connects the inputs of the PEs: to feeders, or to the PE before along a `forward` axis.
    fn feed(&self, feeders: Instance<'m>, output: &Port, id: NodeId, of: &Feeders) {
        let chain = &self.array.pe.ports.inputs[&id.0];
        let unused = self.m.lit(0, chain.port.ty);
        self.pe.set_each(&chain.port.name, |i, j| {
            let at = [0, 1].map(|a| i64::from([i, j][a]) - of.away[a]);
            if (0..2).any(|a| !(0..of.readers[a]).contains(&at[a])) {
                unused
            } else if of.forward[1] && at[1] > 0 {
                element(self.pe, &chain.onward[1], self.array.extent, i, j - 1)
            } else if of.forward[0] && at[0] > 0 {
                element(self.pe, &chain.onward[0], self.array.extent, i - 1, j)
            } else {
                let [a, b] = [0, 1].map(|x| if of.forward[x] { 0 } else { at[x] as u32 });
                element(feeders, output, of.extent, a, b)
            }
        });
    }
}
