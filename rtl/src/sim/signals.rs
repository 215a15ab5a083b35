//! The named values of a traced simulation, with their storage.

use super::program::Program;
use crate::hierarchy::{Flat, View};
use crate::netlist::bits::limbs_of;

/// A named value of one instance: bits `lo .. lo + w` of the storage from word `off` onwards.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Instances from the top down.
    pub scope: Vec<String>,
    pub name: String,
    pub w: u32,
    pub off: usize,
    pub plane: usize,
    pub words: usize,
    pub lo: u32,
}

/// All named values that are simulated, that is, live.
pub fn signals(flat: &Flat, p: &Program) -> Vec<Signal> {
    let mut out = vec![];
    for (c, ctx) in flat.ctxs.iter().enumerate() {
        for lane in 0..ctx.lanes {
            let outputs = ctx.module.outputs.iter().map(|(n, i)| (n.as_str(), *i));
            let named = ctx.module.nodes.iter().enumerate();
            let named = named.filter_map(|(i, n)| Some((n.name.as_deref()?, crate::netlist::NodeId(i as u32))));
            for (name, id) in named.chain(outputs) {
                let val = flat.val(c, id);
                let w = ctx.module.ty(id).w;
                let Some(v) = flat.trace(View { val, lane, lo: 0, w }, 1) else { continue };
                let Some(&base) = p.offsets.get(&v.val) else { continue };
                let words = limbs_of(flat.node(v.val).ty.w);
                let path = flat.path(val, lane);
                let mut scope: Vec<String> = path.split('.').map(String::from).collect();
                scope.pop();
                let (off, plane) = (base + v.lane as usize, flat.lanes(v.val) as usize);
                out.push(Signal { scope, name: name.to_string(), w, off, plane, words, lo: v.lo });
            }
        }
    }
    out.sort_by(|a, b| (&a.scope, &a.name).cmp(&(&b.scope, &b.name)));
    out
}
