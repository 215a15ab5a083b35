//! Plan of a PE, made from a `Vsa`: live nodes, control fields and the cycle in which each is first used, constants
//! tied off per PE, and how every `Past` becomes registers or a memory.
//!
//! Times are cycles relative to the arrival of the wave at the PE. A control field enters a PE at its *phase*, the
//! earliest time at which something in the PE uses it. So the PE itself need not delay it; the entry of the array does,
//! once.

use crate::control::{form_range, range_ty, time_field, Field};
use array::contract::delay::{cleared, Cleared, Wait};
use array::contract::operand::{fixed_nodes, live_nodes, operand_source, travels};
use array::contract::timing::collect_time;
use array::vsa::{Delay, NodeId, Op, Vsa};
use rtl::{u, Ty};
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::{Condition, Form, Ranges};

/// A constant input of the PE, tied off per instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tied {
    /// `space · p`, truncated to the type.
    Offset { space: [i64; 2], ty: (u32, bool) },
    /// Bound of a comparison: `±(space · p + constant)`, clamped to `range`.
    Bound { space: [i64; 2], constant: i64, negate: bool, range: [i64; 2] },
    /// 1 if the conditions can hold in some wave; the numbers are the trip counts of the counters.
    Flag(Vec<Condition>, Vec<i64>),
    /// A scalar argument with its bits and signedness: equal in all PEs, but known only at run time.
    Scalar(u32, (u32, bool)),
}

impl Tied {
    pub fn scalar(k: u32, ty: ScalarType) -> Tied {
        Tied::Scalar(k, (ty.bits(), ty.signed()))
    }
    /// Prefix of the name of the port.
    pub fn kind(&self) -> &'static str {
        match self {
            Tied::Offset { .. } => "offset",
            Tied::Bound { .. } => "bound",
            Tied::Flag(..) => "here",
            Tied::Scalar(..) => "scalar",
        }
    }
    pub fn ty(&self) -> Ty {
        match self {
            Tied::Offset { ty, .. } | Tied::Scalar(_, ty) => Ty { w: ty.0, signed: ty.1 },
            Tied::Bound { range, .. } => range_ty(range[0], range[1]),
            Tied::Flag(..) => u(1),
        }
    }
    /// The value for PE `p`, in the range of [`Tied::ty`]; `None` for a scalar.
    pub fn value(&self, p: [i64; 2]) -> Option<i64> {
        let dot = |c: &[i64; 2]| c[0] * p[0] + c[1] * p[1];
        Some(match self {
            Tied::Scalar(..) => return None,
            Tied::Offset { space, ty } => wrap(dot(space), *ty),
            Tied::Bound { space, constant, negate, range } => {
                let v = dot(space) + constant;
                (if *negate { -v } else { v }).clamp(range[0], range[1])
            }
            Tied::Flag(conditions, trips) => {
                let conditions: Vec<Condition> = conditions.iter().map(|c| c.at(p)).collect();
                Ranges { counters: trips.clone(), extent: [1, 1] }.feasible(&conditions).into()
            }
        })
    }
}

fn wrap(v: i64, (w, signed): (u32, bool)) -> i64 {
    if w >= 64 {
        return v;
    }
    let low = v & ((1 << w) - 1);
    if signed && low >> (w - 1) & 1 == 1 {
        low - (1 << w)
    } else {
        low
    }
}

/// A condition on wave and PE: a form over the counters compared with a constant of the PE.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub time: Form,
    pub bound: Tied,
    pub relation: Relation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// time >= bound
    AtLeast,
    /// time <= bound
    AtMost,
    Equal,
}

/// The conditions of a guard, sorted by what they depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SplitGuard {
    pub time: Vec<Condition>,
    /// All conditions can hold in this PE. If they cannot, this constant lets synthesis remove what the guard selects.
    /// Includes the conditions on coordinates alone. `None` if it were 1 in every PE.
    pub flag: Option<Tied>,
    pub mixed: Vec<Comparison>,
}

/// Sorts the conditions of a conjunction; conditions that always hold are dropped.
pub fn split_guard(vsa: &Vsa, conditions: &[Condition]) -> SplitGuard {
    let (mut split, mut in_space) = (SplitGuard::default(), vec![]);
    for c in conditions {
        let constant_in_time = c.form.counters.iter().zip(&vsa.counters).all(|(a, k)| *a == 0 || k.trip == 1);
        match (constant_in_time, c.form.is_time_only()) {
            (true, true) if c.holds(&[], [0, 0]) => {}
            (true, false) => in_space.push(c.clone()),
            (_, true) => split.time.push(c.clone()),
            (false, false) => split.mixed.push(compare(vsa, c)),
        }
    }
    let trips: Vec<i64> = vsa.counters.iter().map(|c| c.trip).collect();
    let pes = || (0..vsa.extent[0]).flat_map(|p0| (0..vsa.extent[1]).map(move |p1| [p0, p1]));
    // Prefer the flag over coordinates alone if it is equal: guards that differ only in time share it.
    let (all, alone) = (Tied::Flag(conditions.to_vec(), trips.clone()), Tied::Flag(in_space, trips));
    let flag = if pes().all(|p| all.value(p) == alone.value(p)) { alone } else { all };
    split.flag = pes().any(|p| flag.value(p) == Some(0)).then_some(flag);
    split
}

fn compare(vsa: &Vsa, c: &Condition) -> Comparison {
    let flip = c.form.counters.iter().find(|a| **a != 0).is_some_and(|a| *a < 0);
    let counters = c.form.counters.iter().map(|a| if flip { -a } else { *a }).collect();
    let time = Form { constant: 0, counters, space: [0, 0] };
    let [low, high] = form_range(&vsa.counters, &time);
    // time + s·p + c >= 0  is  time >= -(s·p + c);  -time + s·p + c >= 0  is  time <= s·p + c
    let (relation, range) = match (c.equality, flip) {
        (true, _) => (Relation::Equal, [low - 1, high + 1]),
        (false, false) => (Relation::AtLeast, [low, high + 1]),
        (false, true) => (Relation::AtMost, [low - 1, high]),
    };
    Comparison {
        time,
        relation,
        bound: Tied::Bound { space: c.form.space, constant: c.form.constant, negate: !flip, range },
    }
}

/// The source whose values a memory keeps, their number, and the lag that it is for.
pub type MemoryOf = (u32, i64, Option<u32>);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    pub source: NodeId,
    pub hop: [i64; 2],
    pub waves: i64,
    pub lag: Option<u32>,
    /// `None`: the same wave.
    pub delay: Option<Delay>,
    /// Plain registers after the delay element, in the source's PE.
    pub registers: u32,
}

/// Registers that advance with waves, behind a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chained {
    pub depth: i64,
    /// Time of the `valid` that enables them.
    pub enable: i64,
    /// The first register is the operator's own last one.
    pub own: bool,
}

impl Kept {
    pub fn memory(&self) -> MemoryOf {
        (self.source.0, self.waves, self.lag)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Datapath {
    pub live: Vec<bool>,
    /// Nodes that have one value in a run, see [`fixed_nodes`].
    pub fixed: Vec<bool>,
    /// Control fields, with the time at which they enter a PE. Those that have one value in a run enter it at 0.
    pub fields: BTreeMap<Field, i64>,
    pub fixed_fields: BTreeSet<Field>,
    pub tied: Vec<Tied>,
    pub guards: BTreeMap<u32, SplitGuard>,
    pub pasts: BTreeMap<u32, Kept>,
    /// Selects that reset the register behind a memory.
    pub cleared: BTreeMap<u32, Cleared>,
    pub chains: BTreeMap<u32, Chained>,
    /// Per memory: its write pointer.
    pub writes: BTreeMap<MemoryOf, Field>,
}

impl Datapath {
    /// # Errors
    /// A `Past` that its schedule does not allow time for.
    pub fn new(vsa: &Vsa) -> Result<Self, String> {
        let mut datapath = Datapath {
            live: live_nodes(vsa),
            fixed: fixed_nodes(vsa),
            fields: BTreeMap::new(),
            fixed_fields: BTreeSet::new(),
            tied: vec![],
            guards: BTreeMap::new(),
            pasts: BTreeMap::new(),
            cleared: BTreeMap::new(),
            chains: BTreeMap::new(),
            writes: BTreeMap::new(),
        };
        let mut uses = vec![BTreeSet::new(); vsa.nodes.len()];
        for id in datapath.ids() {
            datapath.visit(vsa, id, &mut uses)?;
        }
        for (o, group) in vsa.outputs.iter().enumerate().filter(|(o, _)| vsa.collectors_of(*o) == *o) {
            for port in &group.ports {
                uses[port.value.index()].insert(collect_time(vsa, o));
                if !travels(vsa, port.enable) {
                    uses[port.enable.index()].insert(collect_time(vsa, o));
                    datapath.want(Field::Valid, collect_time(vsa, o));
                }
            }
        }
        for id in datapath.ids() {
            let first = uses[id.index()].first().copied();
            if let (Some(field), Some(first)) = (time_field(vsa, id), first) {
                datapath.want(field, first);
            }
        }
        for (field, time) in datapath.fields.iter_mut().filter(|(field, _)| field.is_fixed(vsa)) {
            *time = 0;
            datapath.fixed_fields.insert(field.clone());
        }
        Ok(datapath)
    }

    /// Live nodes in order.
    pub fn ids(&self) -> Vec<NodeId> {
        (0..self.live.len()).filter(|i| self.live[*i]).map(|i| NodeId(i as u32)).collect()
    }

    fn want(&mut self, field: Field, time: i64) {
        let phase = self.fields.entry(field).or_insert(time);
        *phase = (*phase).min(time);
    }

    fn tie(&mut self, tied: Tied) {
        if !self.tied.contains(&tied) {
            self.tied.push(tied);
        }
    }

    fn visit(&mut self, vsa: &Vsa, id: NodeId, uses: &mut [BTreeSet<i64>]) -> Result<(), String> {
        let node = vsa.node(id);
        let sampled = vsa.schedule.ready[id.index()] - vsa.schedule.latency[id.index()];
        if sampled < 0 {
            return Err(format!(
                "`{}` is ready after {} cycles but takes {}",
                node.name,
                vsa.schedule.ready[id.index()],
                vsa.schedule.latency[id.index()]
            ));
        }
        match &node.op {
            Op::Iter(form) if !form.is_time_only() => {
                self.tie(Tied::Offset { space: form.space, ty: (node.ty.bits(), node.ty.signed()) });
                self.want(Field::Time(Form { space: [0, 0], ..form.clone() }), sampled);
            }
            Op::Scalar(k) => self.tie(Tied::scalar(*k, node.ty)),
            Op::Guard(conditions) if time_field(vsa, id).is_none() => {
                let guard = split_guard(vsa, conditions);
                if !guard.time.is_empty() {
                    self.want(Field::Guard(guard.time.clone()), sampled);
                }
                guard.flag.iter().for_each(|flag| self.tie(flag.clone()));
                for c in &guard.mixed {
                    self.want(Field::Time(c.time.clone()), sampled);
                    self.tie(c.bound.clone());
                }
                self.guards.insert(id.0, guard);
            }
            Op::Past { source, hop, waves } => {
                let (source, waves) = (*source, (vsa.most(waves), vsa.varying_delay(waves)));
                let past = self.past(vsa, id, source, *hop, waves)?;
                self.pasts.insert(id.0, past);
                uses[source.index()].insert(vsa.schedule.ready[source.index()]);
            }
            op => {
                if let Some(c) = cleared(vsa, id) {
                    uses[c.condition.index()].insert(c.read);
                    self.cleared.insert(id.0, c);
                    return Ok(());
                }
                for (k, operand) in op.operands().into_iter().enumerate() {
                    let (source, _) = operand_source(vsa, id, k, operand);
                    if vsa.schedule.ready[source.index()] > sampled {
                        return Err(format!(
                            "`{}` is needed by `{}` before it is ready",
                            vsa.node(source).name,
                            node.name
                        ));
                    }
                    uses[source.index()].insert(sampled);
                }
            }
        }
        Ok(())
    }

    fn past(
        &mut self,
        vsa: &Vsa,
        id: NodeId,
        source: NodeId,
        hop: [i64; 2],
        (waves, lag): (i64, Option<u32>),
    ) -> Result<Kept, String> {
        let Some(wait) = Wait::of(vsa, id) else { return Err(format!("%{} is no past", id.0)) };
        let late = || {
            format!("`{}` is read {waves} waves later and {hop:?} away before it can be there", vsa.node(source).name)
        };
        let delay = vsa.schedule.delays.get(&id).copied();
        match delay {
            None if waves > 0 => {
                return Err(format!("`{}` is read {waves} waves later without a delay element", vsa.node(source).name))
            }
            None => {}
            Some(delay) if !wait.allows(delay) => return Err(late()),
            Some(Delay::Chain) => {
                let chain = Chained { depth: waves, enable: wait.shift(), own: wait.latency > 0 };
                let chain = self.chains.entry(source.0).or_insert(chain);
                chain.depth = chain.depth.max(waves);
                self.want(Field::Valid, wait.shift());
            }
            Some(Delay::Memory { read, .. }) => {
                self.want(Field::Pointer(waves, lag), read);
                let hop = vsa.schedule.longest_hop();
                let pointer =
                    if wait.ready - read > hop { Field::WritePointer(waves, lag) } else { Field::Pointer(waves, lag) };
                let pointer = self.writes.entry((source.0, waves, lag)).or_insert(pointer).clone();
                self.want(pointer, wait.ready);
                self.want(Field::Valid, wait.ready);
            }
        }
        let registers = wait.registers(delay) + i64::from(hop != [0, 0]);
        Ok(Kept { source, hop, waves, lag, delay, registers: u32::try_from(registers).map_err(|_| late())? })
    }
}
