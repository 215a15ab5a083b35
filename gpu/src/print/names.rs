//! Names of values in the kernel's text, and its constant tables.

use crate::ir::{Guard, NodeId, Op, Warp};
use std::collections::BTreeMap;

/// Constant tables of the kernel, with their types.
pub fn tables(warp: &Warp) -> Vec<(scop::ScalarType, Vec<u64>)> {
    let mut found: Vec<(scop::ScalarType, Vec<u64>)> = vec![];
    for node in &warp.nodes {
        if let Op::Lookup(table, _) = &node.op {
            if !found.iter().any(|t| t.1 == **table) {
                found.push((node.ty, table.to_vec()));
            }
        }
    }
    found
}

/// A name for every node that is used more than once, comes from memory, or ends a statement, and is not `fused` into another.
pub fn names(warp: &Warp, waits: &BTreeMap<NodeId, i64>, fused: &[bool]) -> Vec<Option<String>> {
    let mut uses = vec![0; warp.nodes.len()];
    for node in &warp.nodes {
        node.op.operands().iter().for_each(|o| uses[o.index()] += 1);
        // Every value of a guard is written once or twice.
        if let Op::Guard(Guard { then, otherwise, .. }) = &node.op {
            for x in [then, otherwise] {
                uses[x.index()] += 1;
            }
        }
    }
    warp.stores.iter().for_each(|s| uses[s.value.index()] += 2);
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    taken.extend(warp.scalars.iter().map(|s| (s.name.clone(), 0)));
    taken.extend(warp.arrays.iter().map(|a| (a.name.clone(), 0)));
    let named = |k: usize| {
        let node = &warp.nodes[k];
        if fused[k] || crate::lower::pairs::is_wide(node) {
            return false;
        }
        let inline =
            matches!(node.op, Op::Const(_) | Op::Argument { .. } | Op::Fed { .. } | Op::Past { .. } | Op::Last { .. });
        let simple = matches!(node.op, Op::Index(_) | Op::Holds(_));
        let waits = waits.contains_key(&NodeId(k as u32));
        waits
            || !inline
                && (node.note.is_some()
                    || matches!(node.op, Op::Load { .. } | Op::Hop { .. } | Op::Fold(..))
                    || (node.row || !simple) && uses[k] > 1
                    || node.border && !simple
                    || node.invariant && !simple && node.row)
    };
    (0..warp.nodes.len())
        .map(|k| {
            named(k).then(|| {
                let base = match warp.nodes[k].name.as_str() {
                    "" => "value",
                    name => name,
                };
                let count = taken.entry(base.to_string()).or_insert(0);
                loop {
                    let name = format!("{base}_{count}");
                    *count += 1;
                    if !warp.scalars.iter().any(|s| s.name == name) && !warp.arrays.iter().any(|a| a.name == name) {
                        return name;
                    }
                }
            })
        })
        .collect()
}
