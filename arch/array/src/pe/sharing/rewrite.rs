//! The table of nodes with shared operators: each port takes the value of the unit that the wave needs.

use super::choice::{Member, Slot};
use super::needed::{both, Conjunction, Region};
use super::units::{negation, Leaf, Mux, Unit, Units};
use crate::draft::Lowered;
use crate::pe::nodes::Nodes;
use crate::pe::select::{select_in_place, Source};
use crate::vsa::{NodeId, Op};
use scop::{BinaryOp, ScalarType};
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::Ranges;
use uniform::sizes::Formula;

/// The PE in which the units of each slot are one operator; `None` if one would read itself in the same wave.
pub fn rewrite(
    lowered: &Lowered,
    units: &Units,
    ranges: &Ranges,
    regions: &[Region],
    slots: &[Slot],
) -> Option<Lowered> {
    let mut slot_of: BTreeMap<NodeId, usize> = BTreeMap::new();
    for (k, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.len() > 1) {
        let nodes = slot.iter().flat_map(|m| &units.list[m.unit].nodes);
        nodes.for_each(|&n| _ = slot_of.insert(n, k));
    }
    let mut new = Rewrite {
        lowered,
        units,
        ranges,
        regions,
        slots,
        slot_of,
        muxes: lowered.muxes.iter().copied().collect(),
        nodes: Nodes::default(),
        at: BTreeMap::new(),
        pasts: BTreeMap::new(),
        open: vec![],
        begun: BTreeSet::new(),
        circular: false,
    };
    let mut outputs = lowered.outputs.clone();
    for port in outputs.iter_mut().flat_map(|group| &mut group.ports) {
        (port.enable, port.value) = (new.emit(port.enable), new.emit(port.value));
    }
    while let Some((past, source)) = new.open.pop() {
        let source = new.emit(source);
        let Op::Past { hop, waves, .. } = new.nodes.op(past).clone() else { continue };
        new.nodes.complete(past, Op::Past { source, hop, waves });
    }
    for (id, statements) in &lowered.statements {
        let Some(&at) = new.at.get(id) else { continue };
        statements.iter().for_each(|&s| new.nodes.remark(at, s));
    }
    (!new.circular).then(|| Lowered {
        maxima: lowered.maxima.clone(),
        inputs: lowered.inputs.clone(),
        outputs,
        scalars: lowered.scalars.clone(),
        ..new.nodes.finish()
    })
}

struct Rewrite<'a> {
    lowered: &'a Lowered,
    units: &'a Units,
    ranges: &'a Ranges,
    regions: &'a [Region],
    slots: &'a [Slot],
    /// Per node of a unit in a slot of several, the slot.
    slot_of: BTreeMap<NodeId, usize>,
    muxes: BTreeSet<NodeId>,
    nodes: Nodes,
    /// Where an old node is in the new table.
    at: BTreeMap<NodeId, NodeId>,
    /// The node of a value of another wave or PE, by what stands for its source.
    pasts: BTreeMap<(NodeId, [i64; 2], Formula), NodeId>,
    /// Nodes of `pasts` whose sources are not in the new table yet, with these sources.
    open: Vec<(NodeId, NodeId)>,
    /// Slots whose operands are, or were, emitted.
    begun: BTreeSet<usize>,
    circular: bool,
}

impl Rewrite<'_> {
    fn emit(&mut self, id: NodeId) -> NodeId {
        if let Some(&at) = self.at.get(&id) {
            return at;
        }
        if let Some(&k) = self.slot_of.get(&id) {
            if !self.begun.insert(k) {
                self.circular = true;
                return self.nodes.add(Op::Const(0), self.lowered.nodes[id.index()].ty, "circular");
            }
            self.shared(k);
            return self.at[&id];
        }
        let node = &self.lowered.nodes[id.index()];
        let at = match &node.op {
            Op::Past { source, hop, waves } => {
                let key = (self.stands(*source), *hop, waves.clone());
                match self.pasts.get(&key) {
                    Some(&at) => at,
                    None => {
                        let at = self.nodes.reserve(*hop, waves.clone(), node.ty, &node.name);
                        self.open.push((at, *source));
                        self.pasts.insert(key, at);
                        at
                    }
                }
            }
            Op::Select(c, a, b) if self.muxes.contains(&id) => {
                let [c, a, b] = [*c, *a, *b].map(|n| self.emit(n));
                self.nodes.mux(c, a, b, node.ty, &node.name)
            }
            op if self.muxes.contains(&id) => {
                let op = op.with_operands(|n| self.emit(n));
                self.nodes.at_once(op, node.ty, &node.name)
            }
            op => {
                let op = op.with_operands(|n| self.emit(n));
                self.nodes.add(op, node.ty, &node.name)
            }
        };
        self.at.insert(id, at);
        at
    }

    /// The node whose value is that of this one.
    fn stands(&self, id: NodeId) -> NodeId {
        self.slot_of.get(&id).map_or(id, |&k| {
            let (first, unit) = (&self.units.list[self.slots[k][0].unit], self.unit_of(k, id));
            let n = unit.nodes.iter().position(|n| *n == id).unwrap_or(0);
            first.nodes[n]
        })
    }

    fn unit_of(&self, slot: usize, id: NodeId) -> &Unit {
        let units = self.slots[slot].iter().map(|m| &self.units.list[m.unit]);
        units.into_iter().find(|unit| unit.nodes.contains(&id)).expect("a unit of the slot")
    }

    /// The operator of a slot.
    fn shared(&mut self, k: usize) {
        let slot = &self.slots[k];
        let first = &self.units.list[slot[0].unit];
        let class = &self.units.classes[first.class];
        let mut ports: Vec<NodeId> = vec![];
        let name = self.lowered.nodes[first.nodes[0].index()].name.clone();
        for (port, &ty) in class.types.iter().enumerate() {
            let from = |m: &Member| if m.swapped && port < 2 { 1 - port } else { port };
            let taken = slot.iter().map(|m| self.units.list[m.unit].taken[from(m)]).min().unwrap_or(0);
            let mut all: Vec<Source> = vec![];
            // Early for each that takes it.
            let mut is_early: BTreeMap<NodeId, bool> = BTreeMap::new();
            for member in slot {
                let unit = &self.units.list[member.unit];
                for leaf in &unit.ports[from(member)] {
                    let early = self.units.is_early(self.lowered, member.unit, leaf, taken);
                    let sources = self.sources(unit, leaf, ty);
                    sources.iter().for_each(|s| *is_early.entry(s.node).or_insert(early) &= early);
                    all.extend(sources);
                }
            }
            let (mut early, mut late): (Vec<Source>, Vec<Source>) = all.into_iter().partition(|s| is_early[&s.node]);
            let constant = |s: &&Source| matches!(self.nodes.op(s.node), Op::Const(_));
            let distinct = |of: &mut dyn Iterator<Item = NodeId>| of.collect::<BTreeSet<NodeId>>().len();
            let values = distinct(&mut early.iter().chain(&late).map(|s| s.node));
            let constants = distinct(&mut late.iter().filter(constant).map(|s| s.node));
            let before = distinct(&mut early.iter().map(|s| s.node));
            if let Some(Mux::Early) = self.units.mux(values, constants, before) {
                let whens: Vec<Conjunction> = early.iter().map(|s| s.when.clone()).collect();
                let node = select_in_place(&mut self.nodes, self.ranges, early, ty, &name);
                self.nodes.registered(node);
                early = whens.into_iter().map(|when| Source { when, node }).collect();
            }
            late.extend(early);
            ports.push(select_in_place(&mut self.nodes, self.ranges, late, ty, &name));
        }
        let values = self.operator(first, &ports);
        for unit in slot.iter().map(|m| &self.units.list[m.unit]) {
            unit.nodes.iter().zip(&values).for_each(|(&old, &new)| _ = self.at.insert(old, new));
        }
    }

    /// A value of a port, where its unit is needed.
    fn sources(&mut self, unit: &Unit, leaf: &Leaf, ty: ScalarType) -> Vec<Source> {
        let mut node = self.emit(leaf.node);
        let from = self.lowered.nodes[leaf.node.index()].ty;
        if leaf.negated {
            node = self.nodes.at_once(negation(node), from, "negated");
        }
        node = self.fit(node, from, ty);
        let regions = &self.regions[unit.value().index()];
        let paths = regions.iter().flat_map(|region| leaf.when.iter().map(move |path| (region, path)));
        paths.filter_map(|(a, b)| both(self.ranges, a, b)).map(|when| Source { when, node }).collect()
    }

    /// The same number in a type that holds it.
    fn fit(&mut self, node: NodeId, from: ScalarType, ty: ScalarType) -> NodeId {
        match *self.nodes.op(node) {
            Op::Const(bits) if from != ty => self.nodes.add(Op::Const(scop::value::cast(bits, from, ty)), ty, ""),
            _ => self.nodes.cast(node, ty, ""),
        }
    }

    /// The nodes of a unit over these ports.
    fn operator(&mut self, unit: &Unit, ports: &[NodeId]) -> Vec<NodeId> {
        let node = &self.lowered.nodes[unit.nodes[0].index()];
        let wanted: Vec<ScalarType> =
            node.op.operands().into_iter().map(|n| self.lowered.nodes[n.index()].ty).collect();
        let mut rest = ports.iter().zip(wanted);
        let op = match &node.op {
            // A difference among sums has its sign in the operand.
            Op::Binary(BinaryOp::Sub, a, b) if node.ty.is_float() => Op::Binary(BinaryOp::Add, *a, *b),
            op => op.clone(),
        };
        let op = op.with_operands(|_| {
            let (&port, ty) = rest.next().expect("a port for each operand");
            self.nodes.cast(port, ty, "")
        });
        let mut values = vec![self.nodes.add(op, node.ty, &node.name)];
        if let [product, sum] = unit.nodes[..] {
            let node = &self.lowered.nodes[sum.index()];
            let addend = ports[ports.len() - 1];
            let op = match node.op {
                Op::Binary(op, a, _) if a == product => Op::Binary(op, values[0], addend),
                Op::Binary(op, ..) => Op::Binary(op, addend, values[0]),
                _ => unreachable!("a sum in the slice of a product"),
            };
            values.push(self.nodes.add(op, node.ty, &node.name));
        }
        values
    }
}
