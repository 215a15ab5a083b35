//! When nodes are ready at the earliest if some of them are one: none may be ready later than it was alone, so cycles
//! and hop delays stay.

use super::units::{Unit, Units};
use crate::draft::Lowered;
use crate::pe::schedule;
use crate::vsa::{NodeId, Schedule};
use std::collections::BTreeSet;

/// Cycles by which a recurrence must wait for the next wave anyway, so that its values can be selected before a
/// register.
const SPARE: i64 = 2;

/// Per unit and leaf of its ports, whether the value can be there a cycle earlier at the same interval: it does not
/// depend on the unit's own value, or that comes from a wave long enough before.
pub fn waits(lowered: &Lowered, schedule: &Schedule, units: &Units) -> Vec<BTreeSet<NodeId>> {
    let (_, edges) = schedule::earliest(lowered, schedule);
    let of = |unit: &Unit| {
        let mut longest: Vec<Option<i64>> = vec![None; lowered.nodes.len()];
        longest[unit.value().index()] = Some(0);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &(from, to, weight) in &edges {
                let Some(after) = longest[from].map(|at| at + weight) else { continue };
                if longest[to].is_none_or(|at| at < after) {
                    longest[to] = Some(after);
                    changed = true;
                }
            }
        }
        let latency: i64 = unit.nodes.iter().map(|n| schedule.latency[n.index()]).sum();
        let leaves = unit.ports.iter().flatten().map(|leaf| leaf.node);
        leaves.filter(|n| longest[n.index()].is_none_or(|at| at + latency + SPARE <= 0)).collect()
    };
    units.list.iter().map(of).collect()
}

/// Earliest times of nodes, some of which are one.
pub struct Timing {
    /// Per node: its readers, and by how much they are ready later at least.
    readers: Vec<Vec<(usize, i64)>>,
    /// Per node, the node that stands for it.
    stands: Vec<usize>,
    /// Per node that stands for others: these, itself included; the earliest time, and the latest that is allowed.
    members: Vec<Vec<usize>>,
    ready: Vec<i64>,
    latest: Vec<i64>,
}

/// What [`Timing::join`] changed.
pub struct Joined {
    into: usize,
    node: usize,
    latest: i64,
    ready: Vec<(usize, i64)>,
}

impl Timing {
    /// `built`: nodes that an output is computed from.
    /// `slack`: by how much nodes may be ready later.
    pub fn new(lowered: &Lowered, schedule: &Schedule, built: &[bool], slack: i64) -> Timing {
        let n = lowered.nodes.len();
        let (ready, edges) = schedule::earliest(lowered, schedule);
        let mut readers = vec![vec![]; n];
        for (from, to, weight) in edges.into_iter().filter(|e| built[e.0] && built[e.1]) {
            readers[from].push((to, weight));
        }
        Timing {
            readers,
            stands: (0..n).collect(),
            members: (0..n).map(|k| vec![k]).collect(),
            ready,
            latest: schedule.ready.iter().map(|ready| ready + slack).collect(),
        }
    }

    /// Makes a node one with another one that stands for itself; `None`, and nothing changed, if some node would be
    /// ready too late.
    pub fn join(&mut self, into: usize, node: usize) -> Option<Joined> {
        let mut joined = Joined { into, node, latest: self.latest[into], ready: vec![(into, self.ready[into])] };
        self.stands[node] = into;
        self.members[into].push(node);
        self.latest[into] = self.latest[into].min(self.latest[node]);
        self.ready[into] = self.ready[into].max(self.ready[node]);
        if self.ready[into] > self.latest[into] || !self.propagate(into, &mut joined.ready) {
            self.part(joined);
            return None;
        }
        Some(joined)
    }

    fn propagate(&mut self, from: usize, changed: &mut Vec<(usize, i64)>) -> bool {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for m in 0..self.members[at].len() {
                let member = self.members[at][m];
                for &(to, weight) in &self.readers[member] {
                    let to = self.stands[to];
                    let least = self.ready[at] + weight;
                    if least > self.ready[to] {
                        if least > self.latest[to] {
                            return false;
                        }
                        changed.push((to, self.ready[to]));
                        self.ready[to] = least;
                        open.push(to);
                    }
                }
            }
        }
        true
    }

    /// Takes a [`Timing::join`] back; the last one first.
    pub fn part(&mut self, joined: Joined) {
        let Joined { into, node, latest, ready } = joined;
        ready.into_iter().rev().for_each(|(n, before)| self.ready[n] = before);
        self.latest[into] = latest;
        self.members[into].pop();
        self.stands[node] = node;
    }
}
