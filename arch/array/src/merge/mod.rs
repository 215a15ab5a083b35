//! Several functions on one array.
//!
//! **Problem.** An IP with several functions has, for each of them, PEs, feeders, engines and a sequencer that idle
//! while another function runs.
//!
//! **Terms.** A *merged array* has the nodes and I/O groups of several arrays, its *functions*
//! ([`Vsa::functions`]). A run executes one of them. The number of this function is the first parameter of the merged
//! array, as if it were a size ([`uniform::sizes`]): a constant of the run that guards, tables and engines refer to.
//!
//! **Method.** The functions' loops lie upon one another, innermost upon innermost: tiles upon tiles, time upon time. A
//! counter ends where the loop of the present function ends ([`frame`]). Every I/O group is of one function, outside of
//! which it neither loads nor stores. Then operators that no wave needs twice become one ([`crate::pe::share`]), and the
//! nodes of all functions get one schedule.
//!
//! ```text
//! function     loops of gemm           loops of scale      merged
//! i.tile       16                      –                   function[16, 1]
//! k.time       64                      1024                function[64, 1024]
//! ```
//!
//! **Invariant.** At function `f` the merged array is `f`'s own array but for hop delays, ready cycles, and parts that
//! are not used ([`Vsa::of_function`]). So the verifier, the interpreter and the prediction know nothing of merging.
//!
//! **Source.** Derumigny, Pouchet, Rastello, "Kernel Merging for Throughput-Oriented Accelerator Generation" (IMPACT
//! 2023), extends the domain of each kernel by its number, too. There every unit reaches every buffer and all kernels
//! have one iteration space; here each keeps its own loops.

mod buffers;
mod congruent;
mod emitted;
mod frame;
mod member;
mod ports;
mod slots;

use crate::contract::walk::{Walk, WalkGroup};
use crate::contract::{delay, timing};
use crate::draft::Lowered;
use crate::pe;
use crate::pe::{retime, May};
use crate::vsa::{CellBound, Footprint, InputGroup, Node, NodeId, Op, OutputGroup, Remarks, Scalar, Vsa};
use frame::{Frame, Places};
use scop::{BinaryOp, Expr, ExprKind, ScalarType};
use slots::{Joining, Slots};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use uniform::affine::{interval, Condition, Form, Ranges};

/// Why functions are no merged array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmergeable {
    /// The loops of this function end by strip.
    Strips(String),
    /// Two of them differ in what an array has once.
    Unlike(&'static str),
    /// No hop delay and no interval suits all.
    NoSchedule,
}

/// The array that executes any of these functions.
///
/// # Errors
/// Why there is none.
pub fn merge(name: &str, arrays: &[&Vsa]) -> Result<Vsa, Unmergeable> {
    for vsa in arrays {
        if vsa.cased() > vsa.tile_depth {
            return Err(Unmergeable::Strips(vsa.name.clone()));
        }
    }
    let first = arrays[0];
    let unlike = |what, differs: &dyn Fn(&Vsa) -> bool| match arrays.iter().any(|vsa| differs(vsa)) {
        true => Err(Unmergeable::Unlike(what)),
        false => Ok(()),
    };
    unlike("bits of an address", &|vsa| vsa.address_bits != first.address_bits)?;
    unlike("FPGA", &|vsa| (vsa.uram, vsa.fabric) != (first.uram, first.fabric))?;
    let frame = Frame::new(arrays);
    let (mut merged, muxes) = joined(name, arrays, &frame);
    schedule(&mut merged, muxes)?;
    Ok(merged)
}

/// The nodes and groups of all functions, side by side, and the selects that have no register.
fn joined(name: &str, arrays: &[&Vsa], frame: &Frame) -> (Vsa, Vec<NodeId>) {
    let layout = ports::layout(arrays);
    let greatest = |of: &dyn Fn(&Vsa) -> i64| arrays.iter().map(|vsa| of(vsa)).max().unwrap_or(1);
    let mut merged = Vsa {
        functions: layout.members,
        counters: frame.counters.clone(),
        tile_depth: frame.tile_depth(),
        cases: frame.cases.clone(),
        sizes: frame.sizes(arrays, &layout.arrays),
        axes: arrays[0].axes.clone(),
        extent: [0, 1].map(|a| greatest(&|vsa| vsa.extent[a])),
        lanes: greatest(&|vsa| vsa.lanes),
        ahead: greatest(&|vsa| vsa.ahead),
        address_bits: arrays[0].address_bits,
        lengths: arrays.iter().any(|vsa| vsa.lengths),
        unaligned: arrays.iter().any(|vsa| vsa.unaligned),
        uram: arrays[0].uram,
        overlap: arrays[0].overlap,
        fabric: arrays[0].fabric,
        arrays: layout.dram,
        ..Vsa::empty(name)
    };
    let mut remarks = Remarks::default();
    let (mut quotes, mut muxes) = (vec![], vec![]);
    let scalars: Vec<usize> = merged.functions.iter().map(|f| f.scalars.first().map_or(0, |s| s.0)).collect();
    for (vsa, first) in arrays.iter().zip(&scalars) {
        merged.scalars.extend(vsa.scalars.iter().map(|s| renamed(s, &vsa.name, *first)));
    }
    // Those with the most loops come first: what refers to a loop suits functions in which it does not count, too.
    let mut order: Vec<usize> = (0..arrays.len()).collect();
    order.sort_by_key(|&f| Reverse(arrays[f].counters.len()));
    let (mut slots, mut all) = (Slots::default(), BTreeMap::new());
    let (mut needed, mut emitted) = (BTreeMap::new(), BTreeMap::new());
    for f in order {
        let vsa = arrays[f];
        let mut numbers = Numbers {
            places: &frame.places[f],
            nodes: vec![],
            inputs: vec![],
            outputs: vec![],
            scalars: scalars[f],
            arrays: &layout.arrays[f],
        };
        numbers.place_groups(&mut merged, vsa, &mut slots);
        numbers.place_nodes(&mut merged, vsa);
        buffers::needed(&mut needed, vsa, &numbers.inputs);
        buffers::emitted(&mut emitted, vsa, &numbers.outputs);
        for (id, statements) in &vsa.remarks.statements {
            let statements = statements.iter().map(|s| s + quotes.len());
            remarks.statements.entry(numbers.node(*id)).or_default().extend(statements);
        }
        quotes.extend(vsa.remarks.quotes.iter().map(|quote| quote.as_ref().map(|q| format!("{}: {q}", vsa.name))));
        let is_mux = |n: &usize| matches!(vsa.nodes[*n].op, Op::Select(..)) && vsa.schedule.latency[*n] == 0;
        muxes.extend((0..vsa.nodes.len()).filter(is_mux).map(|n| numbers.node(NodeId(n as u32))));
        all.insert(f, numbers);
    }
    slots::sort(&mut merged);
    buffers::share_feeders(&mut merged, &needed);
    buffers::share_collectors(&mut merged, &emitted);
    all.into_iter().for_each(|(f, numbers)| numbers.connect(&mut merged, arrays[f]));
    let numbers = congruent::unite(&mut merged);
    muxes.iter_mut().for_each(|id| *id = numbers[id.index()]);
    muxes.sort_unstable();
    muxes.dedup();
    let mut statements: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
    for (id, of) in remarks.statements {
        statements.entry(numbers[id.index()]).or_default().extend(of);
    }
    merged.remarks = Remarks { quotes: quotes.into(), statements, ..remarks };
    (merged, muxes)
}

/// The numbers that things of one function have in the merged array.
struct Numbers<'a> {
    places: &'a Places,
    /// Of each node, input group and output group.
    nodes: Vec<NodeId>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    /// Of the first scalar.
    scalars: usize,
    arrays: &'a [usize],
}

impl Numbers<'_> {
    fn node(&self, id: NodeId) -> NodeId {
        self.nodes[id.index()]
    }

    /// Gives groups their places.
    fn place_groups(&mut self, merged: &mut Vsa, vsa: &Vsa, slots: &mut Slots) {
        let walks = Walk::all(vsa);
        let whole = |write: usize, group: usize| {
            let mut all = walks.iter().filter_map(|both| both[write].as_ref()).flat_map(|walk| &walk.groups);
            all.find(|g| g.group == group).is_some_and(WalkGroup::is_whole)
        };
        for (k, g) in vsa.outputs.iter().enumerate() {
            let waited = vsa.inputs.iter().flat_map(|g| &g.after).any(|after| after.output as usize == k);
            let (group, whole) = (self.output(g, vsa), whole(1, k));
            let place = slots.output(merged, Joining { group, placed: &self.outputs, whole, alone: !waited });
            self.outputs.push(place);
        }
        for (k, g) in vsa.inputs.iter().enumerate() {
            let (group, whole) = (self.input(g), whole(0, k));
            let place = slots.input(merged, Joining { group, placed: &self.inputs, whole, alone: true });
            self.inputs.push(place);
        }
    }

    /// Adds the nodes. Those without operands are there once if they are the same in runs of this function.
    fn place_nodes(&mut self, merged: &mut Vsa, vsa: &Vsa) {
        let is_leaf = |op: &Op| matches!(op, Op::Const(_) | Op::Iter(_) | Op::Guard(_) | Op::Input { .. });
        let before = merged.nodes.len();
        let mut next = before as u32;
        let here = |node: &Node| (self.places.here(&node.op), node.ty);
        let mut leaves = HashMap::new();
        for (k, node) in merged.nodes.iter().enumerate().filter(|(_, node)| is_leaf(&node.op)) {
            leaves.entry(here(node)).or_insert(k);
        }
        for node in &vsa.nodes {
            let known =
                is_leaf(&node.op).then(|| here(&self.renumbered(node))).and_then(|new| leaves.get(&new).copied());
            self.nodes.push(known.map_or(NodeId(next), |k| NodeId(k as u32)));
            next += u32::from(known.is_none());
        }
        let new = |(node, id): (&Node, &NodeId)| (id.index() >= before).then(|| self.renumbered(node));
        let new: Vec<Node> = vsa.nodes.iter().zip(&self.nodes).filter_map(new).collect();
        merged.nodes.extend(new);
    }

    /// Ports of output groups get their values, in runs of this function; those of functions before it have theirs. A
    /// guest's are at the ports of the owner.
    fn connect(&self, merged: &mut Vsa, vsa: &Vsa) {
        for (g, place) in vsa.outputs.iter().zip(&self.outputs) {
            let owner = merged.collectors_of(*place as usize);
            let is_first =
                merged.collected_with(owner).iter().all(|o| self.places.is_first_of(&merged.outputs[*o].emit));
            let here = self.runs(vsa, merged.extent);
            let Vsa { nodes, outputs, .. } = &mut *merged;
            for (own, port) in g.ports.iter().zip(&mut outputs[owner].ports) {
                let (value, enable) = (self.node(own.value), self.enabled(self.node(own.enable), &here, nodes));
                if !is_first {
                    let (here, ty) = (add(nodes, Op::Guard(vec![self.places.is_from_here()])), nodes[value.index()].ty);
                    nodes.push(Node { op: Op::Select(here, value, port.value), ty, name: "emitted".into() });
                    port.value = NodeId(nodes.len() as u32 - 1);
                    port.enable = add(nodes, Op::Binary(BinaryOp::Or, port.enable, enable));
                } else {
                    (port.value, port.enable) = (value, enable);
                }
            }
        }
    }

    fn renumbered(&self, node: &Node) -> Node {
        let op = match node.op.with_sources(|id| self.node(id)) {
            Op::Iter(form) => Op::Iter(self.places.form(&form)),
            Op::Guard(all) => Op::Guard(all.iter().map(|c| self.condition(c)).collect()),
            Op::Scalar(k) => Op::Scalar(k + self.scalars as u32),
            Op::Input { group, port } => Op::Input { group: self.inputs[group as usize], port },
            Op::Past { source, hop, waves } => Op::Past { source, hop, waves: self.places.formula(&waves) },
            op => op,
        };
        Node { op, ..node.clone() }
    }

    fn condition(&self, c: &Condition) -> Condition {
        Condition { form: self.places.form(&c.form), equality: c.equality }
    }

    fn forms(&self, forms: &[Form]) -> Vec<Form> {
        forms.iter().map(|f| self.places.form(f)).collect()
    }

    fn input(&self, g: &InputGroup) -> InputGroup {
        let mut after = g.after.clone();
        after.iter_mut().for_each(|a| a.output = self.outputs[a.output as usize]);
        let mut footprint = g.footprint.clone();
        footprint.origin = self.forms(&footprint.origin);
        InputGroup {
            array: self.arrays[g.array as usize] as u32,
            arrays: vec![self.arrays[g.array as usize] as u32],
            subscripts: self.forms(&g.subscripts),
            reload: self.places.reload(g.reload),
            used: self.places.when(&g.used, self.places.phases()),
            footprint,
            row: self.places.form(&g.row),
            col: self.places.form(&g.col),
            after,
            ..g.clone()
        }
    }

    /// Without the nodes of ports.
    fn output(&self, g: &OutputGroup, vsa: &Vsa) -> OutputGroup {
        let mut footprint = g.footprint.clone();
        footprint.origin = self.forms(&footprint.origin);
        let mut out = OutputGroup {
            array: self.arrays[g.array as usize] as u32,
            arrays: vec![self.arrays[g.array as usize] as u32],
            subscripts: self.forms(&g.subscripts),
            emit: self.places.when(&g.emit, self.places.tile_depth()),
            footprint,
            row: self.places.form(&g.row),
            col: self.places.form(&g.col),
            ..g.clone()
        };
        // Those that hold in all cells of the footprint cost a comparison, and tell groups apart.
        out.bounds.retain(|b| !always(b, g, vsa));
        for b in &mut out.bounds {
            b.phases = self.places.spread(&b.phases, self.places.phases());
        }
        out
    }

    /// The runs of this function, and the PEs that it has. Others need none of its operators.
    fn runs(&self, vsa: &Vsa, extent: [i64; 2]) -> Vec<Condition> {
        let mut all = vec![self.places.is_here()];
        for a in (0..2).filter(|&a| vsa.extent[a] < extent[a]) {
            let mut form = Form { constant: vsa.extent[a] - 1, ..all[0].form.clone() };
            form.counters.fill(0);
            form.space[a] = -1;
            all.push(Condition { form, equality: false });
        }
        all
    }

    /// The enable where `here` holds.
    fn enabled(&self, enable: NodeId, here: &[Condition], nodes: &mut Vec<Node>) -> NodeId {
        match &nodes[enable.index()].op {
            Op::Guard(all) => {
                let all = [here, all].concat();
                return add(nodes, Op::Guard(all));
            }
            Op::Const(1) => return add(nodes, Op::Guard(here.to_vec())),
            _ => {}
        }
        let guard = add(nodes, Op::Guard(here.to_vec()));
        add(nodes, Op::Binary(BinaryOp::And, guard, enable))
    }
}

/// A bound holds in all cells of a group's footprint.
fn always(bound: &CellBound, group: &OutputGroup, vsa: &Vsa) -> bool {
    let Footprint { origin, .. } = &group.footprint;
    let factors: Vec<i64> = bound.coeffs.iter().copied().chain([bound.scale]).collect();
    if bound.equality || factors.len() != origin.len() {
        return false;
    }
    let (mut constant, mut counters) = (bound.constant, vec![0; vsa.counters.len()]);
    bound.phases.iter().zip(&mut counters).for_each(|(c, sum)| *sum += c);
    let mut cells = vec![];
    for (d, (factor, from)) in factors.iter().zip(origin).enumerate() {
        constant += factor * from.constant;
        from.counters.iter().zip(&mut counters).for_each(|(c, sum)| *sum += factor * c);
        cells.push((*factor, 0, group.footprint.extent(d) - 1));
    }
    let waves = counters.into_iter().zip(&vsa.counters).map(|(c, counter)| (c, 0, counter.trip - 1));
    interval(constant, waves.chain(cells)).0 >= 0
}

/// The node of an operation with a condition as its value.
fn add(nodes: &mut Vec<Node>, op: Op) -> NodeId {
    let known = nodes.iter().position(|node| node.op == op);
    NodeId(known.unwrap_or_else(|| {
        nodes.push(Node { op, ty: ScalarType::BOOL, name: "runs".into() });
        nodes.len() - 1
    }) as u32)
}

/// Shares operators among the functions, and says when nodes are ready.
fn schedule(merged: &mut Vsa, muxes: Vec<NodeId>) -> Result<(), Unmergeable> {
    let lowered = Lowered::of(merged, muxes);
    let before = pe::schedule(&lowered, merged.extent).map_err(|_| Unmergeable::NoSchedule)?;
    let ranges = Ranges { counters: merged.loops().most(), extent: merged.extent };
    let (mut lowered, mut schedule) = pe::share(lowered, before, (merged.loops(), &ranges), May::Wait);
    if emitted::balance(&mut lowered) {
        schedule = pe::schedule(&lowered, merged.extent).map_err(|_| Unmergeable::NoSchedule)?;
    }
    for (group, draft) in merged.outputs.iter_mut().zip(&lowered.outputs) {
        for (port, shared) in group.ports.iter_mut().zip(&draft.ports) {
            (port.value, port.enable) = (shared.value, shared.enable);
        }
    }
    for (guest, owner) in merged.common.outputs.clone() {
        let ports = merged.outputs[owner].ports.clone();
        for (port, of) in merged.outputs[guest].ports.iter_mut().zip(ports) {
            (port.value, port.enable) = (of.value, of.enable);
        }
    }
    merged.nodes = lowered.nodes;
    merged.remarks.statements = lowered.statements;
    merged.remarks.shared = lowered.shared;
    merged.schedule = schedule;
    read_all(merged);
    retime::sink(merged);
    merged.schedule.delays = delay::choose(merged);
    Ok(())
}

/// Every port of a group that is no guest has its node, even if no output depends on it any more.
fn read_all(merged: &mut Vsa) {
    for (g, group) in merged.inputs.iter().enumerate() {
        if merged.common.inputs.contains_key(&g) {
            continue;
        }
        for port in 0..group.ports.len() {
            let op = Op::Input { group: g as u32, port: port as u32 };
            if merged.nodes.iter().any(|node| node.op == op) {
                continue;
            }
            merged.schedule.ready.push(timing::least_ready(&op));
            merged.schedule.latency.push(0);
            merged.nodes.push(Node { op, ty: merged.arrays[group.array as usize].ty, name: "unused".into() });
        }
    }
}

/// A scalar of a function, whose first one has this number.
fn renamed(scalar: &Scalar, function: &str, first: usize) -> Scalar {
    let name = format!("{function}_{}", scalar.name);
    Scalar { name, host: scalar.host.as_ref().map(|e| reads(e, &|k| k + first)), ..scalar.clone() }
}

/// A host's formula over scalars with other numbers.
fn reads(e: &Expr, number: &impl Fn(usize) -> usize) -> Expr {
    match e.kind {
        ExprKind::Read(k) => Expr { kind: ExprKind::Read(number(k)), ..e.clone() },
        _ => e.with_operands(|x| reads(x, number)),
    }
}
