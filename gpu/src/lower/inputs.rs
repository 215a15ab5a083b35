//! Loads that share data: along time, and along the PEs.
//!
//! **Along time.** A row that was loaded some steps ago waits in registers: `x[t - 1][c]` is the `x[t][c]` of the step
//! before.
//!
//! **Along the PEs.** Loads of one array that differ by a constant along the row are one load. The others are hops of it
//! ([`Inputs::Shuffled`]), or windows of words that are loaded side by side ([`Inputs::Reloaded`]):
//!
//! ```text
//! x[c], x[c + 1], x[c + 2]      shuffled  x0 = words at c;  x1 = hop of x0 by -1;  x2 = hop of x1 by -1
//!                               reloaded  w0 = words at c;  w1 = words at c + 4;   x1 = elements 1..5 of w0 w1
//! ```
//!
//! A load begins at a multiple of the registers of a row where it can, so that it is a word.

use super::tidy;
use crate::arrange::Inputs;
use crate::form::Form;
use crate::ir::{Node, NodeId, Op, ScalarId, Warp};
use scop::ScalarType;
use std::collections::BTreeMap;

/// A row waits for at most this many steps rather than being loaded again.
const MOST_STEPS: i64 = 8;

/// The array, and the subscripts at row 0 and offset 0.
type Along = (usize, Vec<Form>);

/// A load of a group: the rows that it is ahead, its offset in PEs, and its node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    turns: i64,
    offset: i64,
    node: NodeId,
}

/// `whole`: one warp has all PEs of axis 0, so those at its ends have results, too.
pub fn share(warp: &mut Warp, time: Option<ScalarId>, inputs: Inputs, whole: bool) {
    if !warp.is_unrolled() {
        along_pes(warp, time, inputs, whole);
    }
    if let Some(time) = time {
        along_time(warp, time);
        // What waits has a value in each lane, and so has what is computed with it.
        tidy::spread(warp);
    }
}

/// How many turns of the loop a load is ahead of the one with the constants that remain.
fn turns(at: &mut [Form], time: Option<ScalarId>) -> i64 {
    let Some(time) = time else { return 0 };
    let lead = at.iter().find(|f| f.of(time) != 0);
    let turns = lead.map_or(0, |f| f.constant.div_euclid(f.of(time)));
    at.iter_mut().for_each(|f| f.constant -= turns * f.of(time));
    turns
}

/// A load that is one of an earlier step becomes that one.
fn along_time(warp: &mut Warp, time: ScalarId) {
    let mut groups: BTreeMap<(Along, i64), Vec<(i64, usize)>> = BTreeMap::new();
    for (k, node) in warp.nodes.iter().enumerate() {
        let Op::Load { array, at, each } = &node.op else { continue };
        if at.iter().all(|f| f.of(time) == 0) {
            continue;
        }
        let mut rest = at.clone();
        let turns = turns(&mut rest, Some(time));
        groups.entry(((*array, rest), *each)).or_default().push((turns, k));
    }
    for mut group in groups.into_values() {
        group.sort_unstable();
        let mut leader = group[group.len() - 1];
        for &(turns, k) in group.iter().rev().skip(1) {
            if leader.0 - turns > MOST_STEPS {
                leader = (turns, k);
            } else {
                warp.nodes[k].op = Op::Past { of: NodeId(leader.1 as u32), steps: leader.0 - turns, start: None };
                warp.nodes[k].row = true;
            }
        }
    }
}

/// Loads that differ along the row, or by rows that pass in time, become one.
fn along_pes(warp: &mut Warp, time: Option<ScalarId>, inputs: Inputs, whole: bool) {
    let mut groups: BTreeMap<Along, Vec<Member>> = BTreeMap::new();
    for (k, node) in warp.nodes.iter().enumerate() {
        let Op::Load { array, at, each: 1 } = &node.op else { continue };
        let Some((last, outer)) = at.split_last() else { continue };
        if last.unit == 0 || outer.iter().any(|f| f.unit != 0) {
            continue;
        }
        let rest = last.constant.rem_euclid(last.unit);
        let mut key = outer.to_vec();
        let turns = turns(&mut key, time);
        key.push(last.plus(rest - last.constant));
        let member = Member { turns, offset: (last.constant - rest) / last.unit, node: NodeId(k as u32) };
        groups.entry((*array, key)).or_default().push(member);
    }
    for ((array, base), mut group) in groups {
        group.sort_unstable();
        let row = Row { array, base, ty: warp.node(group[0].node).ty, time };
        let mut rows: Vec<Vec<Member>> = vec![];
        for member in group.into_iter().rev() {
            match rows.last_mut().filter(|run| run[0].turns - member.turns <= MOST_STEPS) {
                Some(run) => run.push(member),
                None => rows.push(vec![member]),
            }
        }
        let in_words = row.base.last().is_some_and(|f| f.unit == 1);
        for run in rows {
            match inputs {
                Inputs::Reloaded if in_words => row.reload(warp, &run),
                // PEs at the end of the warp would have what no neighbour sends.
                _ if whole && in_words => row.reload(warp, &run),
                _ if whole => {}
                _ => row.shuffle(warp, &run),
            }
        }
    }
}

/// The loads of one array along a row.
struct Row {
    array: usize,
    /// Subscripts at row 0 and offset 0.
    base: Vec<Form>,
    ty: ScalarType,
    time: Option<ScalarId>,
}

impl Row {
    /// The load at an offset in PEs, this many rows ahead.
    fn load(&self, turns: i64, offset: i64) -> Op {
        let mut at = self.base.clone();
        let split = at.len() - 1;
        let (outer, last) = at.split_at_mut(split);
        last[0].constant += offset * last[0].unit;
        if let Some(time) = self.time {
            outer.iter_mut().for_each(|f| f.constant += turns * f.of(time));
        }
        Op::Load { array: self.array, at, each: 1 }
    }

    fn add(&self, warp: &mut Warp, op: Op) -> NodeId {
        let name = warp.arrays[self.array].name.clone();
        let node = Node::new(op, self.ty, true, name);
        warp.nodes.push(node);
        NodeId(warp.nodes.len() as u32 - 1)
    }

    /// A new load some rows ahead, as a later step sees it.
    fn waiting(&self, warp: &mut Warp, load: NodeId, steps: i64) -> NodeId {
        match steps {
            0 => load,
            _ => self.add(warp, Op::Past { of: load, steps, start: None }),
        }
    }

    /// The offsets at which words are aligned are those that are this modulo the width; `None`: nowhere.
    fn aligned(&self, warp: &Warp) -> Option<i64> {
        let (width, last) = (warp.width, self.base.last()?);
        let rows = warp.arrays[self.array].dims.len() == 1 || warp.has_whole_rows(self.array);
        let still = Form { constant: 0, unit: 0, ..last.clone() };
        (last.unit == 1 && rows && still.divisor(&warp.scalars) % width == 0)
            .then(|| (-last.constant).rem_euclid(width))
    }

    /// Words side by side, and windows of them.
    fn reload(&self, warp: &mut Warp, group: &[Member]) {
        let width = warp.width;
        let aligned = self.aligned(warp).unwrap_or(0);
        let newest = group[0].turns;
        let (mut loads, mut words): (BTreeMap<i64, NodeId>, BTreeMap<(i64, i64), NodeId>) = Default::default();
        for member in group {
            let first = (member.offset - aligned).div_euclid(width) * width + aligned;
            let number = if first == member.offset { 1 } else { 2 };
            let mut rows = vec![];
            for word in (0..number).map(|k| first + k * width) {
                let load = *loads.entry(word).or_insert_with(|| self.add(warp, self.load(newest, word)));
                let steps = newest - member.turns;
                rows.push(*words.entry((steps, word)).or_insert_with(|| self.waiting(warp, load, steps)));
            }
            warp.nodes[member.node.index()].op = Op::Take { rows, offset: member.offset - first };
        }
    }

    /// One load, and hops of it in both directions.
    fn shuffle(&self, warp: &mut Warp, group: &[Member]) {
        let offsets = group.iter().map(|m| m.offset);
        let (least, greatest) = (offsets.clone().min().unwrap_or(0), offsets.max().unwrap_or(0));
        let width = warp.width;
        let start = self.aligned(warp).map_or(least, |a| {
            let up = (least - a + width - 1).div_euclid(width) * width + a;
            if up <= greatest {
                up
            } else {
                up - width
            }
        });
        let newest = group[0].turns;
        let load = self.add(warp, self.load(newest, start));
        for row in group.chunk_by(|a, b| a.turns == b.turns) {
            let leader = self.waiting(warp, load, newest - row[0].turns);
            let mut above: Vec<Member> = row.iter().copied().filter(|m| m.offset > start).collect();
            let mut below: Vec<Member> = row.iter().copied().filter(|m| m.offset < start).collect();
            above.sort_unstable_by_key(|m| m.offset);
            below.sort_unstable_by_key(|m| -m.offset);
            for chain in [above, below] {
                let (mut at, mut of) = (start, leader);
                for member in chain {
                    warp.nodes[member.node.index()].op = Op::Hop { of, by: at - member.offset };
                    (at, of) = (member.offset, member.node);
                }
            }
            for member in row.iter().filter(|m| m.offset == start) {
                warp.nodes[member.node.index()].op = Op::Take { rows: vec![leader], offset: 0 };
            }
        }
    }
}
