//! Which groups use the buffers of others ([`crate::vsa::Common`]).
//!
//! **Problem.** Groups that are not alike ([`super::slots`]) have feeders and collectors of their own, and most of these
//! is memory.
//!
//! **Method.** The largest groups come first. Each becomes the guest of the owner with which it saves most. What feeders
//! save: the LUTs of the smaller memories and of the choice of elements, less the registers of values that wait, where
//! functions need them in different cycles. What collectors save: the LUTs of the smaller memories, of their counters, and
//! of what joins their words with those of others, less the choice of the values in front of them. A group that saves
//! nothing anywhere stays an owner, as does an output group whose values would wait too long ([`WAIT`]).

use crate::contract::common::{largest, may_share_collectors, may_share_feeders};
use crate::contract::memory::{in_luts, line, luts};
use crate::vsa::{Bank, InputGroup, NodeId, Op, OutputGroup, Vsa};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// LUTs that a guest adds to each buffer: it has windows of its own already, and they are joined.
const JOINED: i64 = 2;

/// Values of a function wait at most so many cycles for those of another one in front of collectors that both have: each
/// run takes as much longer.
const WAIT: i64 = 6;

/// Lets input groups be guests, and nodes read the owners. `ready`: per group, when its function alone needs the
/// values.
pub fn share_feeders(merged: &mut Vsa, ready: &BTreeMap<usize, i64>) {
    let mut order: Vec<usize> = (0..merged.inputs.len()).collect();
    order.sort_by_key(|g| (-weight(merged, &[*g]), *g));
    let mut owners: Vec<usize> = vec![];
    for g in order {
        let fits = |owner: &usize| merged.fed_with(*owner).into_iter().all(|k| may_share_feeders(merged, k, g));
        let saved = |owner: usize| saved(merged, owner, g, ready);
        match owner(&owners, fits, |owner| (saved(owner), 0)) {
            Some(owner) => {
                merged.common.inputs.insert(g, owner);
                span(merged, owner);
            }
            None => owners.push(g),
        }
    }
    let owner = |group: u32| merged.common.inputs.get(&(group as usize)).map_or(group, |owner| *owner as u32);
    for node in &mut merged.nodes {
        if let Op::Input { group, .. } = &mut node.op {
            *group = owner(*group);
        }
    }
}

/// Lets output groups be guests. The values of all functions reach the ports of the owner. `ready`: per group, when its
/// function alone has the values.
pub fn share_collectors(merged: &mut Vsa, ready: &BTreeMap<usize, i64>) {
    let mut order: Vec<usize> = (0..merged.outputs.len()).collect();
    order.sort_by_key(|o| (-collected(merged, &[*o]), *o));
    let mut owners: Vec<usize> = vec![];
    for o in order {
        let wait = |owner: usize| {
            let all = merged.collected_with(owner).into_iter().chain([o]).filter_map(|k| ready.get(&k));
            all.clone().max().zip(all.min()).map_or(0, |(last, first)| last - first)
        };
        let fits = |owner: &usize| {
            let known = merged.collected_with(*owner);
            wait(*owner) <= WAIT && known.into_iter().all(|k| may_share_collectors(merged, k, o))
        };
        let saved = |owner: usize| {
            let known = merged.collected_with(owner);
            let with = [&known[..], &[o]].concat();
            let apart = collected(merged, &known) + collected(merged, &[o]);
            apart - collected(merged, &with) - choosing(merged, o, wait(owner))
        };
        match owner(&owners, fits, |owner| (saved(owner), -wait(owner))) {
            Some(owner) => {
                merged.common.outputs.insert(o, owner);
                // The owner's are not there yet.
                merged.outputs[o].ports.iter_mut().for_each(|port| (port.value, port.enable) = (NodeId(0), NodeId(0)));
            }
            None => owners.push(o),
        }
    }
}

/// The owner among those that fit with which a group saves most LUTs, if any: of equal ones that of the greater second
/// number, then the first.
fn owner(owners: &[usize], fits: impl Fn(&usize) -> bool, saved: impl Fn(usize) -> (i64, i64)) -> Option<usize> {
    let all = owners.iter().copied().filter(fits).map(|owner| (saved(owner), owner));
    let best = all.filter(|((saved, _), _)| *saved > 0).max_by_key(|(saved, owner)| (*saved, Reverse(*owner)));
    best.map(|(_, owner)| owner)
}

/// LUTs of the collectors of one group, or of several in common, and of what joins their words with those of others.
fn collected(merged: &Vsa, groups: &[usize]) -> i64 {
    let all: Vec<&OutputGroup> = groups.iter().map(|o| &merged.outputs[*o]).collect();
    let array = &merged.arrays[all[0].array as usize];
    let (word, bits) = (i64::from(array.word), i64::from(array.ty.bits()));
    let slots = all.iter().map(|g| i64::from(g.slots)).max().unwrap_or(1);
    let banks = all.iter().map(|g| g.banks.len()).max().unwrap_or(0);
    let bank = |b: usize| {
        let depth = all.iter().filter_map(|g| g.banks.get(b)).map(|of| of.bank.depth).max().unwrap_or(0);
        let words = slots * (depth.max(1) as u64).next_power_of_two() as i64;
        let memory = if words > 1 && in_luts(words) { word * luts(words, bits) } else { 0 };
        memory + i64::from(words.ilog2()) + JOINED * all.len() as i64
    };
    let memories: i64 = (0..banks).map(bank).sum();
    all[0].extent().iter().product::<i64>() * memories + 8 * i64::from(array.bus_bytes()) / 5
}

/// LUTs that choose the values of a guest in front of the owner's collectors, and hold those that are there first for so
/// many cycles.
fn choosing(merged: &Vsa, o: usize, wait: i64) -> i64 {
    let group = &merged.outputs[o];
    let bits = i64::from(merged.arrays[group.array as usize].ty.bits()) * group.ports.len() as i64;
    group.extent().iter().product::<i64>() * (bits / 2 + line([wait], bits, merged.fabric).0)
}

/// All groups that use the feeders of an owner get the box of PEs that any of them reads in.
fn span(merged: &mut Vsa, owner: usize) {
    let groups = merged.fed_with(owner);
    for a in 0..2 {
        let first = groups.iter().map(|g| merged.inputs[*g].first[a]).min().unwrap_or(0);
        let last = groups.iter().map(|g| merged.inputs[*g].last[a]).max().unwrap_or(0);
        for g in &groups {
            (merged.inputs[*g].first[a], merged.inputs[*g].last[a]) = (first, last);
        }
    }
}

/// LUTs of the feeders of one group, or of several in common.
fn weight(merged: &Vsa, groups: &[usize]) -> i64 {
    let all: Vec<&InputGroup> = groups.iter().map(|g| &merged.inputs[*g]).collect();
    let Bank { depth, ports, .. } = largest(all.iter().flat_map(|g| &g.banks));
    let array = &merged.arrays[all[0].array as usize];
    let words = 2 * (depth.max(1) as u64).next_power_of_two() as i64;
    let bits = i64::from(array.word) * i64::from(array.ty.bits());
    let memory = if in_luts(words) { luts(words, bits) } else { 0 };
    let choice = i64::from(array.ty.bits()) * i64::from(ports);
    all[0].feeders().iter().product::<i64>() * (memory + choice + JOINED * groups.len() as i64)
}

/// LUTs that a guest saves.
fn saved(merged: &Vsa, owner: usize, guest: usize, ready: &BTreeMap<usize, i64>) -> i64 {
    let known = merged.fed_with(owner);
    let with = [&known[..], &[guest]].concat();
    let group = &merged.inputs[guest];
    let bits = i64::from(merged.arrays[group.array as usize].ty.bits()) * group.ports.len() as i64;
    let first = |all: &[usize]| all.iter().filter_map(|g| ready.get(g)).min().copied();
    let waits = match (first(&known), ready.get(&guest)) {
        (Some(a), Some(b)) => line([(a - b).abs()], bits, merged.fabric).0,
        _ => 0,
    };
    let pes: i64 = group.readers().iter().product();
    weight(merged, &known) + weight(merged, &[guest]) - weight(merged, &with) - waits * pes
}

/// When the functions alone have the values of their output groups, by the groups' places.
pub fn emitted(ready: &mut BTreeMap<usize, i64>, vsa: &Vsa, places: &[u32]) {
    for (group, place) in vsa.outputs.iter().zip(places) {
        let last = group.ports.iter().map(|port| vsa.schedule.ready[port.value.index()]).max().unwrap_or(0);
        ready.entry(*place as usize).and_modify(|known| *known = last.max(*known)).or_insert(last);
    }
}

/// When the functions alone need the values of their input groups, by the groups' places.
pub fn needed(ready: &mut BTreeMap<usize, i64>, vsa: &Vsa, places: &[u32]) {
    for (n, node) in vsa.nodes.iter().enumerate() {
        if let Op::Input { group, .. } = node.op {
            let at = vsa.schedule.ready[NodeId(n as u32).index()];
            ready.entry(places[group as usize] as usize).and_modify(|known| *known = at.min(*known)).or_insert(at);
        }
    }
}
