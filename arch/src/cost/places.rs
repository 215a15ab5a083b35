//! Which PEs need a node. All PEs are one module, but a guard that can never hold at a place is a constant there, so
//! synthesis removes what only that guard selects: a triangular array divides on its diagonal only.

use crate::affine::Ranges;
use crate::contract::timing;
use crate::affine::Condition;
use crate::ir::vsa::{NodeId, Op, Vsa};
use frontend::scop::BinaryOp;

/// Whether a condition holds at one place: in some waves, in all that matter, or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Never,
    Sometimes,
    Always,
}

/// Per node, the number of PEs in which something stored depends on it.
pub fn count(vsa: &Vsa) -> Vec<i64> {
    let search = Search { vsa, ranges: Ranges { counters: vsa.counters.iter().map(|c| c.trip).collect(), extent: [1, 1] } };
    let same_everywhere = !vsa.nodes.iter().any(|n| matches!(&n.op, Op::Guard(all) if all.iter().any(|c| !c.form.is_time_only())));
    if same_everywhere {
        let pes = vsa.extent[0] * vsa.extent[1];
        return search.needed([[0, 0]].into_iter(), |_, _| Some([0, 0])).iter().map(|n| n * pes).collect();
    }
    let all = (0..vsa.extent[0]).flat_map(|p0| (0..vsa.extent[1]).map(move |p1| [p0, p1]));
    let inside = |p: [i64; 2]| (0..2).all(|a| (0..vsa.extent[a]).contains(&p[a]));
    search.needed(all, |p, hop| Some([p[0] - hop[0], p[1] - hop[1]]).filter(|&p| inside(p)))
}

struct Search<'a> {
    vsa: &'a Vsa,
    ranges: Ranges,
}

impl Search<'_> {
    /// Per node, in how many of `places` it is needed; `from` is the place that a hop comes from, if there is one.
    fn needed(&self, places: impl Iterator<Item = [i64; 2]>, from: impl Fn([i64; 2], [i64; 2]) -> Option<[i64; 2]>) -> Vec<i64> {
        let vsa = self.vsa;
        let index = |p: [i64; 2]| (p[0] * vsa.extent[1] + p[1]) as usize;
        let mut seen = vec![vec![]; vsa.nodes.len()];
        let mut count = vec![0; vsa.nodes.len()];
        let mut open: Vec<(NodeId, [i64; 2])> = Vec::new();
        for p in places {
            for port in vsa.outputs.iter().flat_map(|g| &g.ports) {
                if self.holds(port.enable, p) != Holds::Never {
                    open.extend([(port.value, p), (port.enable, p)]);
                }
            }
        }
        while let Some((id, p)) = open.pop() {
            let here: &mut Vec<bool> = &mut seen[id.index()];
            here.resize(here.len().max(index(p) + 1), false);
            if std::mem::replace(&mut here[index(p)], true) {
                continue;
            }
            count[id.index()] += 1;
            match &vsa.node(id).op {
                Op::Past { source, hop, .. } => open.extend(from(p, *hop).map(|q| (*source, q))),
                Op::Select(c, a, b) => match self.holds(*c, p) {
                    Holds::Never => open.push((*b, p)),
                    Holds::Always => open.push((*a, p)),
                    Holds::Sometimes => open.extend([*c, *a, *b].map(|n| (n, p))),
                },
                op => open.extend(timing::operands(op).into_iter().map(|n| (n, p))),
            }
        }
        count
    }

    fn holds(&self, id: NodeId, p: [i64; 2]) -> Holds {
        match &self.vsa.node(id).op {
            Op::Guard(all) => self.guard(all, p),
            Op::Const(bits) => if *bits == 0 { Holds::Never } else { Holds::Always },
            Op::Binary(BinaryOp::Or, a, b) => match (self.holds(*a, p), self.holds(*b, p)) {
                (Holds::Always, _) | (_, Holds::Always) => Holds::Always,
                (Holds::Never, Holds::Never) => Holds::Never,
                _ => Holds::Sometimes,
            },
            _ => Holds::Sometimes,
        }
    }

    fn guard(&self, all: &[Condition], p: [i64; 2]) -> Holds {
        let here: Vec<Condition> = all.iter().map(|c| c.at(p)).collect();
        let fixed = |c: &Condition| self.ranges.bounds(&c.form).0 == self.ranges.bounds(&c.form).1;
        match (self.ranges.feasible(&here), here.iter().all(fixed)) {
            (false, _) => Holds::Never,
            (true, true) => Holds::Always,
            (true, false) => Holds::Sometimes,
        }
    }
}
