//! Quads that lie side by side in an array: one load of a word in place of four of bytes.
//!
//! ```text
//! quad x[4t] x[4t + 1] x[4t + 2] x[4t + 3]      the word of x at 4t, if rows of x are whole words
//! ```

use crate::form::Form;
use crate::ir::{NodeId, Op, Passing, Warp, QUAD};

pub fn load(warp: &mut Warp) {
    for k in 0..warp.nodes.len() {
        let Op::Quad(all) = warp.nodes[k].op else { continue };
        let Some((array, at, dim)) = beside(warp, &all) else { continue };
        let a = &warp.arrays[array];
        let whole = |f: &Form| f.divisor(&warp.scalars) % QUAD == 0;
        if a.passing == Passing::Pointer && dim + 1 == at.len() && whole(&at[dim]) && whole(&a.extents[dim]) {
            warp.nodes[k].op = Op::Load { array, at, each: QUAD };
        }
    }
}

/// The first of four elements that follow each other along a subscript.
pub fn beside(warp: &Warp, all: &[NodeId; QUAD as usize]) -> Option<(usize, Vec<Form>, usize)> {
    let element = |id: NodeId| match &warp.node(id).op {
        Op::Load { array, at, each: 1 } => Some((*array, at)),
        _ => None,
    };
    let (array, first) = element(all[0])?;
    let second = element(all[1]).filter(|e| e.0 == array)?.1;
    let dim = (0..first.len()).find(|&d| first[d] != second[d])?;
    let follows = |(k, id): (usize, &NodeId)| {
        let mut at = first.clone();
        at[dim].constant += k as i64;
        element(*id) == Some((array, &at))
    };
    all.iter().enumerate().all(follows).then(|| (array, first.clone(), dim))
}
