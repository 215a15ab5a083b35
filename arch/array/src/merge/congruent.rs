//! Nodes of several functions that compute the same.
//!
//! **Problem.** Functions of one form, such as the layers of a network, have the same nodes. Operators become one later
//! ([`crate::pe::share`]), but they would have multiplexers between sums that are equal anyway.
//!
//! **Method.** Two nodes are *congruent* if they have the same operation, type and constants, and congruent operands. Sums
//! refer to themselves by way of earlier waves, so all nodes of one operation are taken to be congruent at first, and are
//! told apart by their operands until nothing changes. A select between congruent values is that value.
//!
//! ```text
//! conv1: %8 = add %7, %6   %7 = past %8 waves 1      %8 = add %7, %6   %7 = past %8 waves 1
//! conv2: %3 = add %2, %6   %2 = past %3 waves 1
//! ```
//!
//! **Source.** Alpern, Wegman, Zadeck, Detecting Equality of Variables in Programs (POPL 1988), section 3.

use crate::vsa::{Node, NodeId, Op, Vsa};
use rustc_hash::FxHashMap;
use scop::ScalarType;

/// Makes congruent nodes one, the first of them. Returns the new number of each node.
pub fn unite(vsa: &mut Vsa) -> Vec<NodeId> {
    let mut numbers: Vec<NodeId> = (0..vsa.nodes.len() as u32).map(NodeId).collect();
    loop {
        let classes = classes(&vsa.nodes);
        let stands = values(&vsa.nodes, &classes);
        let kept: Vec<usize> = (0..vsa.nodes.len()).filter(|&n| stands[n] == n).collect();
        if kept.len() == vsa.nodes.len() {
            return numbers;
        }
        let mut place = vec![NodeId(0); vsa.nodes.len()];
        kept.iter().enumerate().for_each(|(at, &n)| place[n] = NodeId(at as u32));
        let new = |id: NodeId| place[stands[id.index()]];
        vsa.nodes =
            kept.iter().map(|&n| Node { op: vsa.nodes[n].op.with_sources(new), ..vsa.nodes[n].clone() }).collect();
        for port in vsa.outputs.iter_mut().flat_map(|g| &mut g.ports) {
            (port.value, port.enable) = (new(port.value), new(port.enable));
        }
        numbers.iter_mut().for_each(|id| *id = new(*id));
    }
}

/// Per node, the first of those congruent to it.
fn classes(nodes: &[Node]) -> Vec<usize> {
    let mut classes = vec![0; nodes.len()];
    let mut count = 1;
    loop {
        let mut first: FxHashMap<(Op, ScalarType), usize> = FxHashMap::default();
        let class = |(n, node): (usize, &Node)| {
            let op = node.op.with_sources(|id| NodeId(classes[id.index()] as u32));
            *first.entry((op, node.ty)).or_insert(n)
        };
        let finer: Vec<usize> = nodes.iter().enumerate().map(class).collect();
        let found = first.len();
        classes = finer;
        if found == count {
            return classes;
        }
        count = found;
    }
}

/// Per node, the one that stands for it: the first of its class, or, of a select between congruent values, theirs.
fn values(nodes: &[Node], classes: &[usize]) -> Vec<usize> {
    let mut stands = classes.to_vec();
    for n in 0..nodes.len() {
        if let Op::Select(_, a, b) = nodes[n].op {
            if classes[a.index()] == classes[b.index()] {
                stands[n] = stands[a.index()];
            }
        }
        // A class whose first node is such a select.
        stands[n] = stands[stands[n]].min(stands[n]);
    }
    stands
}
