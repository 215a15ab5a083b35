//! The parts of a figure: slots of the grid, I/O groups by place, links by direction.

use array::vsa::{NodeId, Op, Vsa};

/// Most PEs drawn along an axis.
pub const SHOWN: i64 = 6;

/// A column or row of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The PE with this coordinate.
    Pe(i64),
    /// Coordinates that are not shown.
    Gap,
}

/// Which axes run across and down, and whether they are drawn backwards.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub across: usize,
    pub down: usize,
    pub backwards: [bool; 2],
}

impl View {
    pub fn new(vsa: &Vsa) -> Self {
        let column = vsa.extent[1] == 1 && vsa.extent[0] > 1;
        let (across, down) = if column { (0, 1) } else { (1, 0) };
        View { across, down, backwards: [0, 1].map(|a| !vsa.schedule.start[a].forward()) }
    }

    pub fn slots(&self, vsa: &Vsa, axis: usize) -> Vec<Slot> {
        let extent = vsa.extent[axis];
        let shown: Vec<Slot> = if extent <= SHOWN {
            (0..extent).map(Slot::Pe).collect()
        } else {
            vec![Slot::Pe(0), Slot::Pe(1), Slot::Pe(2), Slot::Gap, Slot::Pe(extent - 1)]
        };
        let turn = |s: Slot| match s {
            Slot::Pe(p) if self.backwards[axis] => Slot::Pe(extent - 1 - p),
            s => s,
        };
        shown.into_iter().map(turn).collect()
    }

    /// Slots, by index, in which some of the coordinates `first..=last` are.
    pub fn within(
        &self,
        slots: &[Slot],
        (first, last): (i64, i64),
        extent: i64,
        axis: usize,
    ) -> std::ops::Range<usize> {
        let turn = |p: i64| if self.backwards[axis] { extent - 1 - p } else { p };
        let (a, b) = (turn(first).min(turn(last)), turn(first).max(turn(last)));
        let holds = |s: &Slot| match *s {
            Slot::Pe(p) => (first..=last).contains(&p),
            // Behind the first three, before the last one.
            Slot::Gap => b >= 3 && a < extent - 1,
        };
        let from = slots.iter().position(holds).unwrap_or(0);
        from..slots.iter().rposition(holds).map_or(from, |k| k + 1)
    }

    /// A hop on the screen: to the right, and down.
    pub fn direction(&self, hop: [i64; 2]) -> (i64, i64) {
        let sign = |a: usize| if self.backwards[a] { -hop[a] } else { hop[a] };
        (sign(self.across), sign(self.down))
    }

    /// PE coordinates of a column and a row.
    pub fn pe(&self, across: i64, down: i64) -> [i64; 2] {
        let mut p = [0; 2];
        p[self.across] = across;
        p[self.down] = down;
        p
    }
}

/// The place of the feeders of an input group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// One beside each row; the value goes on to the right.
    Left,
    /// One above each column; the value goes on downwards.
    Top,
    /// One at the corner; the value goes on along both axes.
    Corner,
    /// One in each PE.
    Inside,
}

pub(super) fn side(vsa: &Vsa, view: &View, group: usize) -> Side {
    let forward = vsa.inputs[group].forward;
    let row = vsa.extent[view.down] == 1;
    match (forward[view.across], forward[view.down]) {
        (true, _) if row => Side::Left,
        (false, _) if row => Side::Top,
        (true, true) => Side::Corner,
        (true, false) => Side::Left,
        (false, true) => Side::Top,
        (false, false) => Side::Inside,
    }
}

/// The name of the value that an input group delivers.
pub(super) fn delivered(vsa: &Vsa, group: usize) -> String {
    let of_group = |op: &Op| matches!(op, Op::Input { group: g, .. } if *g as usize == group);
    let node = vsa.nodes.iter().find(|n| of_group(&n.op) && !n.name.is_empty());
    node.map_or_else(|| vsa.arrays[vsa.inputs[group].array as usize].name.clone(), |n| n.name.clone())
}

/// All values with the same hop.
pub(super) struct Link {
    pub hop: [i64; 2],
    pub label: String,
}

fn name(vsa: &Vsa, past: usize, source: NodeId) -> String {
    let names = [&vsa.node(source).name, &vsa.nodes[past].name];
    names.into_iter().find(|n| !n.is_empty()).cloned().unwrap_or_else(|| format!("%{}", source.0))
}

/// `a +2`, `b +1w`: cycles and waves that the link takes; equal ones are counted.
fn joined(mut values: Vec<String>) -> String {
    values.sort();
    let mut parts: Vec<(String, usize)> = Vec::new();
    for v in values {
        match parts.last_mut() {
            Some((last, n)) if *last == v => *n += 1,
            _ => parts.push((v, 1)),
        }
    }
    let all: Vec<String> = parts.iter().map(|(v, n)| if *n > 1 { format!("{n} × {v}") } else { v.clone() }).collect();
    match all.len() {
        0..=2 => all.join(", "),
        n => format!("{}, {} more", all[0], n - 1),
    }
}

/// Links between PEs, by hop.
pub(super) fn links(vsa: &Vsa) -> Vec<Link> {
    let mut hops: Vec<[i64; 2]> = Vec::new();
    let mut values: Vec<Vec<String>> = Vec::new();
    for (n, node) in vsa.nodes.iter().enumerate() {
        let Op::Past { source, hop, waves } = &node.op else { continue };
        if *hop == [0, 0] {
            continue;
        }
        let k = hops.iter().position(|h| h == hop).unwrap_or_else(|| {
            hops.push(*hop);
            values.push(Vec::new());
            hops.len() - 1
        });
        values[k].push(name(vsa, n, *source) + &delay(vsa, n, *source, *hop, vsa.most(waves)));
    }
    hops.into_iter().zip(values).map(|(hop, v)| Link { hop, label: joined(v) }).collect()
}

fn delay(vsa: &Vsa, past: usize, source: NodeId, hop: [i64; 2], waves: i64) -> String {
    let s = &vsa.schedule;
    if waves > 0 {
        return format!(" +{waves}w");
    }
    match (s.ready.get(past), s.ready.get(source.index())) {
        (Some(to), Some(from)) => format!(" +{}", to - from + s.behind(hop)),
        _ => String::new(),
    }
}

/// Values that a PE keeps for later waves.
pub(super) fn held(vsa: &Vsa) -> String {
    let past = |(n, node): (usize, &array::vsa::Node)| match &node.op {
        Op::Past { source, hop: [0, 0], waves } => Some(format!("{} +{}w", name(vsa, n, *source), vsa.most(waves))),
        _ => None,
    };
    joined(vsa.nodes.iter().enumerate().filter_map(past).collect())
}
