//! Multiplexers of a PE that share the LUT of another multiplexer.

use array::vsa::{NodeId, Op, Vsa};
use std::collections::{BTreeMap, BTreeSet};

/// Inputs of a LUT.
const INPUTS: usize = 6;

/// Per multiplexer, the multiplexer whose LUT contains it: the only reader of its value, in the same cycle. A LUT
/// contains one of the multiplexers that it reads, or any number of them if all have at most [`INPUTS`] inputs
/// together. `readers`: number of readers of each node.
pub(super) fn folded(vsa: &Vsa, readers: &[usize]) -> Vec<Option<NodeId>> {
    let outer = outer(vsa, readers);
    let root = |id: NodeId| std::iter::successors(Some(id), |n| outer[n.index()]).last().unwrap_or(id);
    let mut inputs: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for id in (0..vsa.nodes.len() as u32).map(NodeId) {
        let Op::Select(c, a, b) = vsa.node(id).op else { continue };
        let from =
            [a, b].into_iter().filter(|n| outer[n.index()] != Some(id) && !matches!(vsa.node(*n).op, Op::Const(_)));
        inputs.entry(root(id)).or_default().extend(from.chain([c]));
    }
    // The first operand that is such a multiplexer.
    let is_first = |id: NodeId, by: NodeId| match vsa.node(by).op {
        Op::Select(_, a, b) => id == if outer[a.index()].is_some() { a } else { b },
        _ => false,
    };
    let mut folded = vec![None; vsa.nodes.len()];
    for id in (0..vsa.nodes.len() as u32).map(NodeId) {
        // From the outermost one: whether each contains the next.
        let chain: Vec<NodeId> = std::iter::successors(Some(id), |n| outer[n.index()]).collect();
        let few = inputs.get(&root(id)).is_some_and(|all| all.len() <= INPUTS);
        let part = chain.windows(2).rev().fold(false, |above, pair| few || !above && is_first(pair[0], pair[1]));
        folded[id.index()] = outer[id.index()].filter(|_| part);
    }
    folded
}

/// Per multiplexer, the multiplexer that is the only reader of its value, in the same cycle.
fn outer(vsa: &Vsa, readers: &[usize]) -> Vec<Option<NodeId>> {
    let s = &vsa.schedule;
    let mut takes = vec![None; vsa.nodes.len()];
    for id in (0..vsa.nodes.len() as u32).map(NodeId) {
        if let Op::Select(c, a, b) = vsa.node(id).op {
            [a, b].into_iter().filter(|n| *n != c).for_each(|n| _ = takes[n.index()].get_or_insert(id));
        }
    }
    let alone = |n: usize, by: &NodeId| {
        let select = matches!(vsa.nodes[n].op, Op::Select(..));
        select && readers[n] == 1 && s.latency[n] == 0 && s.ready[n] == s.ready[by.index()] - s.latency[by.index()]
    };
    takes.into_iter().enumerate().map(|(n, by)| by.filter(|by| alone(n, by))).collect()
}
