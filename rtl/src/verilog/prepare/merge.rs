//! Common subexpressions: equal expressions of a module become one node, so that its text contains them once.

use crate::netlist::*;
use std::collections::HashMap;

/// The module with one node for each value. Two nodes have the same value if they apply the same operator to the same
/// operands; nodes with a name, attributes or a comment stay. Readers of a wire's driver read the wire.
pub fn merge(m: &Module) -> Module {
    let mut m = m.clone();
    let mut first: HashMap<(Op, Ty), NodeId> = HashMap::new();
    let mut new: Vec<NodeId> = (0..m.nodes.len() as u32).map(NodeId).collect();
    for k in 0..m.nodes.len() {
        let n = &mut m.nodes[k];
        if !plain(n) {
            continue;
        }
        // Operands precede their readers, so they have been merged already.
        n.op.map_operands(|id| *id = new[id.0 as usize]);
        new[k] = *first.entry((n.op.clone(), n.ty)).or_insert(new[k]);
        let hint = m.nodes[k].hint.clone();
        let shared = &mut m.nodes[new[k].0 as usize];
        shared.hint = shared.hint.take().or(hint);
    }
    let merged = new.clone();
    for k in 0..m.nodes.len() {
        let Op::Wire { driver: Some(driver) } = &mut m.nodes[k].op else { continue };
        *driver = new[merged[driver.0 as usize].0 as usize];
        let (driver, ty) = (driver.0 as usize, m.nodes[k].ty);
        let n = &m.nodes[driver];
        if plain(n)
            && !matches!(n.op, Op::Lit(_) | Op::Slice(..) | Op::Cast(_))
            && n.ty == ty
            && new[driver] == merged[driver]
        {
            new[driver] = NodeId(k as u32);
        }
    }
    let new: Vec<NodeId> = merged.iter().map(|id| new[id.0 as usize]).collect();
    for n in m.nodes.iter_mut().filter(|n| !matches!(n.op, Op::Wire { .. })) {
        n.op.map_operands(|id| *id = new[id.0 as usize]);
    }
    let to = |id: &mut NodeId| *id = new[id.0 as usize];
    m.outputs.iter_mut().for_each(|o| to(&mut o.1));
    for (_, _, conn) in m.insts.iter_mut().flat_map(|i| &mut i.ins) {
        if let Conn::All(id) | Conn::Bus(id) = conn {
            to(id);
        }
    }
    for w in m.mems.iter_mut().flat_map(|mem| &mut mem.writes) {
        [&mut w.en, &mut w.addr, &mut w.data].into_iter().chain(w.lanes.as_mut().map(|l| &mut l.0)).for_each(to);
    }
    m
}

/// Whether the node is no more than its operator, whose operands all precede it.
fn plain(n: &Node) -> bool {
    let pure = matches!(
        n.op,
        Op::Lit(_)
            | Op::Bin(..)
            | Op::Un(..)
            | Op::Mux(..)
            | Op::Slice(..)
            | Op::Concat(_)
            | Op::Resize(_)
            | Op::Cast(_)
    );
    pure && n.name.is_none() && n.attrs.is_empty() && n.remark.is_none()
}
