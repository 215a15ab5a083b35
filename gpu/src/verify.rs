//! Checks the program of a warp. Later stages may rely on:
//!
//! - a node uses nodes that stand before it; a value of an earlier step is one of a node that every step computes;
//! - a step uses no value that is computed behind the time loop, and what a value begins with is the same in all steps;
//! - operands have the types of their operator; what has quads for operands takes quads;
//! - a hop is shorter than a warp, a window lies in its rows;
//! - subscripts are as many as the array has dimensions; argument elements exist;
//! - margins are whole registers and leave a PE with a result;
//! - all PEs of a warp, and every element of an array, have numbers of 32 bits.

use crate::ir::{NodeId, Op, Passing, Warp, QUAD};

/// # Errors
/// The first breach, in words.
pub fn verify(warp: &Warp) -> Result<(), String> {
    for k in 0..warp.nodes.len() {
        node(warp, NodeId(k as u32)).map_err(|e| format!("node {k}: {e}"))?;
    }
    for (k, store) in warp.stores.iter().enumerate() {
        let array = warp.arrays.get(store.array).ok_or(format!("store {k}: no array {}", store.array))?;
        if store.value.index() >= warp.nodes.len() {
            return Err(format!("store {k}: no node {}", store.value.0));
        }
        if store.at.len() != array.dims.len() || array.passing != Passing::Pointer {
            return Err(format!("store {k}: `{}` is not stored to by {} subscripts", array.name, store.at.len()));
        }
        if store.inside && warp.node(store.value).border {
            return Err(format!("store {k}: the interior does not compute its value"));
        }
    }
    let margins = warp.margins;
    if margins.low % warp.width != 0 || margins.high % warp.width != 0 || margins.low + margins.high >= warp.units() {
        return Err(format!("margins {} and {} of {} PEs", margins.low, margins.high, warp.units()));
    }
    match warp.arrays.iter().find(|a| a.passing == Passing::Pointer && !a.is_addressable()) {
        Some(a) => Err(format!("`{}` has more than 2^31 elements", a.name)),
        None => Ok(()),
    }
}

fn node(warp: &Warp, id: NodeId) -> Result<(), String> {
    let node = warp.node(id);
    if let Some(later) = node.op.operands().into_iter().find(|o| *o >= id) {
        return Err(format!("uses node {}, which does not stand before it", later.0));
    }
    let border = |o: NodeId| warp.node(o).border;
    match &node.op {
        Op::Last { of } => {
            if of.index() >= warp.nodes.len() || border(*of) || warp.time.is_none() {
                return Err(format!("no last value of node {}", of.0));
            }
            same(warp, id, *of)
        }
        Op::Past { start: Some(start), .. } if !warp.node(*start).invariant => {
            Err(format!("begins with node {}, which changes from step to step", start.0))
        }
        Op::Past { of, steps, .. } => {
            if of.index() >= warp.nodes.len() || *steps < 1 {
                return Err(format!("no node {} was there {steps} steps ago", of.0));
            }
            if border(*of) {
                return Err("a later step uses a value that the interior does not compute".into());
            }
            same(warp, id, *of)
        }
        Op::Hop { of, by } => {
            if by.abs() >= warp.units() {
                return Err(format!("a hop of {by} PEs"));
            }
            same(warp, id, *of)
        }
        Op::Take { rows, offset } => {
            if *offset < 0 || offset + warp.width > rows.len() as i64 * warp.width || rows.is_empty() {
                return Err(format!("a window at {offset} of {} rows", rows.len()));
            }
            rows.iter().try_for_each(|r| same(warp, id, *r))
        }
        Op::Guard(g) => {
            same(warp, id, g.then)?;
            same(warp, id, g.otherwise)?;
            match !node.border && border(if g.inside { g.then } else { g.otherwise }) {
                true => Err("the interior selects a value that it does not compute".into()),
                false => Ok(()),
            }
        }
        Op::Fed { feeder, element } => match warp.feeders().get(*feeder) {
            Some(f) if *element < f.elements && f.row == node.row && (!f.row || *element == 0) => Ok(()),
            _ => Err(format!("no element {element} of feeder {feeder}")),
        },
        Op::Load { array, at, each } => match warp.arrays.get(*array).map(|a| a.dims.len()) {
            Some(n) if n == at.len() && *each == if node.quad { QUAD } else { 1 } => Ok(()),
            _ => Err(format!("a load of array {array} with {} subscripts", at.len())),
        },
        Op::Quad(all) => all.iter().try_for_each(|x| same(warp, id, *x)),
        Op::Dot(a, b, c) => match [*a, *b].iter().all(|x| warp.node(*x).quad) && warp.node(*c).ty == node.ty {
            true => same(warp, *a, *b),
            false => Err("a dot of other types".into()),
        },
        Op::Argument { array, element } => match warp.arrays.get(*array) {
            Some(a) if (0..crate::print::elements(a).max(1)).contains(element) => Ok(()),
            _ => Err(format!("no element {element} of array {array}")),
        },
        op if op.operands().into_iter().any(|o| warp.node(o).after) && !node.after => {
            Err("a step uses a value from behind the loop".into())
        }
        op if !node.border && op.operands().into_iter().any(border) => {
            Err("the interior uses a value that it does not compute".into())
        }
        _ => Ok(()),
    }
}

/// The operand has the node's type.
fn same(warp: &Warp, id: NodeId, of: NodeId) -> Result<(), String> {
    match warp.node(id).ty == warp.node(of).ty {
        true => Ok(()),
        false => Err(format!("has another type than node {}", of.0)),
    }
}
