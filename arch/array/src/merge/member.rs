//! A function of a merged array as an array of its own.

use crate::contract::dram::{Memories, MemoryTiming};
use crate::vsa::{Common, DramArray, NodeId, Op, Remarks, Vsa, When};
use std::collections::BTreeMap;
use uniform::affine::Condition;
use uniform::sizes::Formula;

impl Vsa {
    /// Whether a run executes one of several functions.
    pub fn is_merged(&self) -> bool {
        !self.functions.is_empty()
    }

    /// All sizes in a run of a function with these sizes of its own. Those of other functions have no effect.
    pub fn sizes_of(&self, function: usize, own: &[i64]) -> Vec<i64> {
        let mut all = vec![1; self.sizes.list.len()];
        all[0] = function as i64 + 1;
        self.functions[function].sizes.iter().zip(own).for_each(|((place, _), value)| all[*place] = *value);
        all
    }

    /// The ports of a function's arrays, in the order that they have where the function is alone.
    fn ports_of(&self, function: usize) -> Vec<u32> {
        let mut ports: Vec<u32> = vec![];
        for (k, _) in &self.functions[function].arrays {
            let port = self.arrays[*k].port;
            if !ports.contains(&port) {
                ports.push(port);
            }
        }
        ports
    }

    /// The memories behind the ports in runs of a function, of those behind the ports that it has alone.
    pub fn memories_of(&self, function: usize, own: &Memories) -> Memories {
        let alone = self.ports_of(function);
        let of = |port: usize| {
            let place = alone.iter().position(|p| *p as usize == port);
            place.map_or(MemoryTiming::IDEAL, |place| own.of(place))
        };
        Memories::of_ports((0..self.ports()).map(of).collect())
    }

    /// The array that a run of a function uses, with the function's own names, at the greatest of its sizes.
    pub fn of_function(&self, function: usize) -> Vsa {
        let own: Vec<i64> = self.functions[function].sizes.iter().map(|(k, _)| self.sizes.list[*k].max).collect();
        self.run_of(function, &own)
    }

    /// The array that a run of a function with these sizes uses, with the function's own names.
    pub fn run_of(&self, function: usize, own: &[i64]) -> Vsa {
        let member = &self.functions[function];
        let mut out = self.at(&self.sizes_of(function, own));
        out.name.clone_from(&member.name);
        out.functions = vec![];
        keep_loops(&mut out);
        keep_arrays(&mut out, self, function);
        keep_sources(&mut out);
        keep_nodes(&mut out);
        out
    }
}

/// Counters go no further than in this function. Where it is one case, there are none.
fn keep_loops(vsa: &mut Vsa) {
    let ends = |all: &[Formula]| all[..vsa.cases.len()].iter().map(Formula::most).max().unwrap_or(0);
    let one = vsa.cases.len() == 1
        && vsa.cases[0].iter().zip(&vsa.counters).all(|(span, c)| span.low == 0 && span.high + 1 == c.trip);
    for j in 0..vsa.counters.len() {
        let Formula::ByCase(all) = &vsa.counters[j].last else { continue };
        let last = ends(all);
        vsa.counters[j].trip = last + 1;
        if one {
            vsa.counters[j].last = Formula::Const(last);
        }
    }
    if one {
        vsa.cases.clear();
        vsa.inputs.iter_mut().for_each(|g| g.used.cases = None);
        vsa.outputs.iter_mut().for_each(|g| g.emit.cases = None);
        for node in &mut vsa.nodes {
            if let Op::Past { waves, .. } = &mut node.op {
                *waves = waves.in_case(0);
            }
        }
    }
}

/// Drops the arrays, scalars and groups of other functions of `merged`.
fn keep_arrays(vsa: &mut Vsa, merged: &Vsa, function: usize) {
    let member = &merged.functions[function];
    let place = |array: u32| member.arrays.iter().position(|a| a.0 == array as usize);
    // Functions may share an array on chip, so a group's functions say whose it is.
    let own = |arrays: &[u32], when: &When| {
        when.functions.iter().position(|f| *f == function).and_then(|k| place(*arrays.get(k)?))
    };
    let of_input = |g: usize| own(&merged.inputs[g].arrays, &merged.inputs[g].used);
    let of_output = |g: usize| own(&merged.outputs[g].arrays, &merged.outputs[g].emit);
    let inputs: Vec<usize> = (0..vsa.inputs.len()).filter(|&g| of_input(g).is_some()).collect();
    let outputs: Vec<usize> = (0..vsa.outputs.len()).filter(|&g| of_output(g).is_some()).collect();
    vsa.inputs = inputs.iter().map(|&g| vsa.inputs[g].clone()).collect();
    vsa.outputs = outputs.iter().map(|&g| vsa.outputs[g].clone()).collect();
    for (g, of) in vsa.inputs.iter_mut().zip(&inputs) {
        (g.array, g.arrays) = (of_input(*of).unwrap_or(0) as u32, vec![]);
        for after in &mut g.after {
            after.output = outputs.iter().position(|o| *o == after.output as usize).unwrap_or(0) as u32;
        }
    }
    for (g, of) in vsa.outputs.iter_mut().zip(&outputs) {
        (g.array, g.arrays) = (of_output(*of).unwrap_or(0) as u32, vec![]);
    }
    let ports = merged.ports_of(function);
    let own_array = |(k, name): &(usize, String)| {
        let array = vsa.arrays[*k].clone();
        let port = ports.iter().position(|p| *p == array.port).unwrap_or(0);
        DramArray { port: port as u32, name: name.clone(), ..array }
    };
    vsa.arrays = member.arrays.iter().map(own_array).collect();
    if !vsa.away.is_empty() {
        vsa.away = ports.iter().filter_map(|port| vsa.away.get(*port as usize).copied()).collect();
    }
    let named = |(k, name): &(usize, String)| {
        let mut scalar = vsa.scalars[*k].clone();
        scalar.name.clone_from(name);
        scalar.host = scalar.host.map(|e| super::reads(&e, &|read| read - member.scalars[0].0));
        scalar
    };
    vsa.scalars = member.scalars.iter().map(named).collect();
    // What other functions read, no node of this one selects.
    let owners: Vec<usize> = inputs.iter().map(|g| vsa.feeders_of(*g)).collect();
    vsa.common = Common::default();
    for node in &mut vsa.nodes {
        let own = match &node.op {
            Op::Input { group, port } => {
                owners.iter().position(|g| g == &(*group as usize)).map(|g| Op::Input { group: g as u32, port: *port })
            }
            Op::Scalar(k) => member.scalars.iter().position(|s| s.0 == *k as usize).map(|k| Op::Scalar(k as u32)),
            _ => continue,
        };
        node.op = own.unwrap_or(Op::Const(0));
    }
}

/// Selects whose condition is the same in all waves have one source only.
fn keep_sources(vsa: &mut Vsa) {
    let fixed = |op: &Op| match op {
        Op::Const(value) => Some(*value != 0),
        Op::Guard(all) => {
            let is_fixed = |c: &Condition| c.form.counters.iter().all(|x| *x == 0) && c.form.space == [0, 0];
            let holds = |c: &Condition| if c.equality { c.form.constant == 0 } else { c.form.constant >= 0 };
            if all.iter().any(|c| is_fixed(c) && !holds(c)) {
                Some(false)
            } else {
                all.iter().all(is_fixed).then_some(true)
            }
        }
        _ => None,
    };
    let values: Vec<Option<bool>> = vsa.nodes.iter().map(|node| fixed(&node.op)).collect();
    for node in &mut vsa.nodes {
        if let Op::Select(condition, a, b) = node.op {
            let one = values[condition.index()].map(|holds| if holds { a } else { b });
            node.op = one.map_or_else(|| node.op.clone(), |one| Op::Select(condition, one, one));
        }
    }
}

/// Drops nodes of which no output depends.
fn keep_nodes(vsa: &mut Vsa) {
    let mut open: Vec<NodeId> = vsa.outputs.iter().flat_map(|g| &g.ports).flat_map(|p| [p.value, p.enable]).collect();
    // Every port of a group has its node.
    let inputs = vsa.nodes.iter().enumerate().filter(|(_, node)| matches!(node.op, Op::Input { .. }));
    open.extend(inputs.map(|(n, _)| NodeId(n as u32)));
    let mut kept = vec![false; vsa.nodes.len()];
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut kept[id.index()], true) {
            open.extend(vsa.nodes[id.index()].op.sources());
        }
    }
    let mut number = vec![NodeId(0); kept.len()];
    let all_kept = (0..kept.len()).filter(|&n| kept[n]);
    all_kept.enumerate().for_each(|(at, n)| number[n] = NodeId(at as u32));
    vsa.nodes.iter_mut().for_each(|node| node.op = node.op.with_sources(|id| number[id.index()]));
    for port in vsa.outputs.iter_mut().flat_map(|g| &mut g.ports) {
        (port.value, port.enable) = (number[port.value.index()], number[port.enable.index()]);
    }
    let keep = |values: &[i64]| values.iter().zip(&kept).filter(|k| *k.1).map(|k| *k.0).collect::<Vec<i64>>();
    (vsa.schedule.ready, vsa.schedule.latency) = (keep(&vsa.schedule.ready), keep(&vsa.schedule.latency));
    let is_kept = |id: &NodeId| kept[id.index()];
    let delays = vsa.schedule.delays.iter().filter(|d| is_kept(d.0));
    vsa.schedule.delays = delays.map(|(id, delay)| (number[id.index()], *delay)).collect::<BTreeMap<_, _>>();
    let statements = vsa.remarks.statements.iter().filter(|s| is_kept(s.0));
    let statements = statements.map(|(id, all)| (number[id.index()], all.clone())).collect();
    vsa.remarks = Remarks { statements, ..vsa.remarks.clone() };
    let mut index = 0;
    vsa.nodes.retain(|_| {
        index += 1;
        kept[index - 1]
    });
}
