//! A PE before its schedule, and I/O groups before their layouts.

use crate::vsa::{InputGroup, Node, NodeId, OutputGroup, OutputPort, Shared, Vsa};
use scop::{Affine, Constraint};
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::{Condition, Form};
use uniform::fabric::Fabric;
use uniform::mapping::Mapping;

/// The PEs `p` with `first <= p <= last` along both axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeBox {
    pub first: [i64; 2],
    pub last: [i64; 2],
}

impl PeBox {
    /// All PEs of an array.
    pub fn whole(extent: [i64; 2]) -> PeBox {
        PeBox { first: [0, 0], last: extent.map(|e| e - 1) }
    }
    /// The smallest box around both.
    pub fn around(self, other: PeBox) -> PeBox {
        let first = [0, 1].map(|a| self.first[a].min(other.first[a]));
        PeBox { first, last: [0, 1].map(|a| self.last[a].max(other.last[a])) }
    }
}

/// An input group before its layout: one array seen through one linear access function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputDraft {
    pub array: usize,
    pub subscripts: Vec<Form>,
    pub ports: Vec<Vec<i64>>,
    /// The box of PEs that read; `None` before any does.
    pub readers: Option<PeBox>,
    /// Least and greatest values of the phase counters: boxes in which some PE reads.
    pub phases: Vec<Vec<(i64, i64)>>,
    /// Where it reads back partial results.
    pub stored_by: Option<StoredBy>,
}

impl InputDraft {
    /// Both read the same elements but for constants.
    pub fn is_alike(&self, other: &InputDraft) -> bool {
        let forms = |(a, b): (&Form, &Form)| a.counters == b.counters && a.space == b.space;
        self.array == other.array && self.subscripts.iter().zip(&other.subscripts).all(forms)
    }
    /// One group for both, which are alike. Its ports are in order of their offsets.
    pub fn join(&mut self, other: InputDraft) {
        let at = |draft: &InputDraft| -> Vec<Vec<i64>> {
            let place = |port: &Vec<i64>| port.iter().zip(&draft.subscripts).map(|(p, f)| p + f.constant).collect();
            draft.ports.iter().map(place).collect()
        };
        let mut ports = [at(self), at(&other)].concat();
        ports.sort();
        ports.dedup();
        let first = ports[0].clone();
        self.subscripts.iter_mut().zip(&first).for_each(|(form, first)| form.constant = *first);
        ports.iter_mut().for_each(|port| port.iter_mut().zip(&first).for_each(|(place, first)| *place -= first));
        self.ports = ports;
        other.readers.into_iter().for_each(|pes| self.read_in(pes));
        other.phases.iter().for_each(|phases| self.read_during(phases));
    }
    /// PEs of the box read, too.
    pub fn read_in(&mut self, pes: PeBox) {
        self.readers = Some(self.readers.map_or(pes, |readers| readers.around(pes)));
    }
    /// PEs and phases read, too: those whose counters, and behind these coordinates, are in the ranges.
    pub fn read_within(&mut self, ranges: &[(i64, i64)], mapping: &Mapping) {
        let along = [0, 1].map(|a| ranges[mapping.counters.len() + a]);
        self.read_in(PeBox { first: along.map(|p| p.0), last: along.map(|p| p.1) });
        self.read_during(&ranges[..mapping.phases()]);
    }
    /// Phases whose counters lie between these read, too.
    fn read_during(&mut self, phases: &[(i64, i64)]) {
        let within = |a: &[(i64, i64)], b: &[(i64, i64)]| a.iter().zip(b).all(|(a, b)| b.0 <= a.0 && a.1 <= b.1);
        if !self.phases.iter().any(|other| within(phases, other)) {
            self.phases.retain(|other| !within(other, phases));
            self.phases.push(phases.to_vec());
        }
    }
    /// The only value of the phase counter `j` at which some PE reads, if there is one.
    pub fn phase(&self, j: usize) -> Option<i64> {
        let bounds = self.phases.iter().map(|all| all[j]).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        (bounds.0 == bounds.1).then_some(bounds.0)
    }
}

/// The statement that stores what is read back, and the lag of [`crate::vsa::Until::Lag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredBy {
    pub statement: usize,
    pub lag: i64,
}

/// Values of one statement that stay in one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputDraft {
    pub statement: usize,
    /// The cases of its phases, outside of which nothing is stored; `None` where that is not known.
    pub cases: Option<BTreeSet<usize>>,
    pub array: usize,
    /// Coordinates of the cell, and what the array's subscripts are over them.
    pub subscripts: Vec<Form>,
    pub view: Vec<Affine>,
    pub ports: Vec<OutputDraftPort>,
    /// The same cells by other coordinates: a diagonal is `[i][i]` as well as `[i][j]`.
    pub equal: Vec<Coordinates>,
    /// Cells written, over the coordinates.
    pub cells: Vec<Constraint>,
    /// Tile counters over which partial results are stored in every tile and read back in the next one.
    pub spilled: Vec<usize>,
}

/// Coordinates equal to a draft's wherever its statement is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinates {
    pub subscripts: Vec<Form>,
    /// Per port, per dimension.
    pub offsets: Vec<Vec<i64>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputDraftPort {
    pub value: NodeId,
    pub enable: NodeId,
    pub offset: Vec<i64>,
    /// When this port emits (conjunctions), for the layout's choice of tiles and PEs.
    pub when: Vec<Vec<Condition>>,
}

/// The nodes of a PE.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    pub nodes: Vec<Node>,
    /// The greatest sizes.
    pub maxima: Vec<i64>,
    pub inputs: Vec<InputDraft>,
    pub outputs: Vec<OutputDraft>,
    /// Arrays of the program that are scalars passed by value, in the order of the arguments: what `Op::Scalar` counts.
    pub scalars: Vec<usize>,
    /// The statements whose values these nodes are.
    pub statements: BTreeMap<NodeId, BTreeSet<usize>>,
    /// Selects between the sources of a variable: they take no register of their own.
    pub muxes: Vec<NodeId>,
    /// Which operators are shared.
    pub shared: Option<Shared>,
    pub fabric: Fabric,
}

impl Lowered {
    /// The PE of an array as lowering has it. The layouts of groups are there already, so drafts have nothing but ports.
    pub fn of(vsa: &Vsa, muxes: Vec<NodeId>) -> Lowered {
        let port = |p: &OutputPort| OutputDraftPort {
            value: p.value,
            enable: p.enable,
            offset: p.offset.clone(),
            when: vec![],
        };
        let output = |(o, g): (usize, &OutputGroup)| OutputDraft {
            statement: 0,
            cases: None,
            array: g.array as usize,
            subscripts: vec![],
            view: vec![],
            // Those of a guest are at the owner.
            ports: g.ports.iter().filter(|_| vsa.collectors_of(o) == o).map(port).collect(),
            equal: vec![],
            cells: vec![],
            spilled: vec![],
        };
        let input = |g: &InputGroup| InputDraft {
            array: g.array as usize,
            subscripts: vec![],
            ports: vec![],
            readers: None,
            phases: vec![],
            stored_by: None,
        };
        Lowered {
            nodes: vsa.nodes.clone(),
            maxima: vsa.sizes.maxima(),
            inputs: vsa.inputs.iter().map(input).collect(),
            outputs: vsa.outputs.iter().enumerate().map(output).collect(),
            scalars: vec![],
            statements: vsa.remarks.statements.clone(),
            muxes,
            shared: None,
            fabric: vsa.fabric,
        }
    }
}
