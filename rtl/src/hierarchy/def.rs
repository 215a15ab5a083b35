//! Definitions of values: their operands, traced through wiring.

use super::flat::{Flat, View};
use crate::netlist::*;
use std::collections::BTreeMap;

/// An operand: lanes `dst_lane .. dst_lane + n` of a value read `view`. In an assembled value the bits go to `dst_lo`
/// and above.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub view: View,
    pub n: u32,
    /// All destination lanes read the first lane of the view.
    pub broadcast: bool,
    pub dst_lane: u32,
    pub dst_lo: u32,
}

impl Source {
    /// The lane that destination lane `dst_lane + k` reads.
    pub fn lane(&self, k: u32) -> u32 {
        self.view.lane + if self.broadcast { 0 } else { k }
    }
}

/// The operation that makes a value from its sources.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Constant, input of the top, register or registered read: it does not settle.
    State,
    /// Assembly of bits: concatenation, slice, wiring of ports.
    Assemble,
    /// Extension of the one source, whose view may be part of a value.
    Extend { signed: bool },
    /// The node's operator on whole operands.
    Operator,
    /// Choice of a part by an index (`select`); the first source is the index.
    Select,
}

/// Definition of a live value.
#[derive(Clone, Debug)]
pub struct Def {
    pub kind: Kind,
    pub sources: Vec<Source>,
}

/// One step of the settling order: lanes `lane .. lane + n` of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub val: u32,
    pub lane: u32,
    pub n: u32,
}

/// Live values and memories, and the order in which values settle.
pub struct Graph {
    pub defs: BTreeMap<u32, Def>,
    /// (context, memory) in order of discovery.
    pub mems: Vec<(usize, MemId)>,
    /// Guards of values (`guard`); a guard settles before its value.
    pub guards: BTreeMap<u32, u32>,
    pub order: Vec<Step>,
}

impl Flat<'_> {
    pub fn whole(&self, val: u32) -> View {
        View { val, lane: 0, lo: 0, w: self.node(val).ty.w }
    }

    pub(super) fn loop_fault(&self, vals: &[(u32, u32)]) -> Fault {
        let (c, _) = self.node_of(vals[0].0);
        let path: Vec<String> = vals.iter().take(20).map(|&(v, l)| self.path(v, l)).collect();
        Fault {
            module: self.ctxs[c].module.name.to_string(),
            kind: FaultKind::CombLoop,
            message: format!("combinational loop: {}", path.join(" -> ")),
            at: self.node(vals[0].0).at.to_string(),
        }
    }

    pub fn traced(&self, v: View, n: u32) -> Result<View, Fault> {
        self.trace(v, n).ok_or_else(|| self.loop_fault(&[(v.val, v.lane)]))
    }

    /// An operand that is read wholly: the value that computes it, or the operand if it is only part of that value.
    pub fn operand(&self, ctx: usize, node: NodeId) -> Result<Source, Fault> {
        let val = self.val(ctx, node);
        let n = self.ctxs[ctx].lanes;
        let view = self.traced(self.whole(val), n)?;
        let full = view.lo == 0 && view.w == self.node(view.val).ty.w;
        Ok(Source { view: if full { view } else { self.whole(val) }, n, broadcast: false, dst_lane: 0, dst_lo: 0 })
    }

    /// The value of an output of the top; values of several words become contiguous.
    pub fn output(&self, id: NodeId) -> Result<Source, Fault> {
        let s = self.operand(0, id)?;
        if s.view.w > 64 && self.lanes(s.view.val) > 1 {
            return Ok(Source { view: self.whole(self.val(0, id)), ..s });
        }
        Ok(s)
    }
}
