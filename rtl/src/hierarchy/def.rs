//! What a value is made of: its definition, with operands traced through wiring.

use super::flat::{Flat, View};
use crate::netlist::*;
use std::collections::BTreeMap;

/// Lanes `dst_lane .. dst_lane + n` of a value read `view`; for assembled values the bits go to
/// `dst_lo` on.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub view: View,
    pub n: u32,
    /// All destination lanes read the one lane of the view.
    pub broadcast: bool,
    pub dst_lane: u32,
    pub dst_lo: u32,
}

impl Source {
    /// Lane read by destination lane `dst_lane + k`.
    pub fn lane(&self, k: u32) -> u32 {
        self.view.lane + if self.broadcast { 0 } else { k }
    }
}

/// How a value is made from its sources.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Constant, top input, register or registered read: nothing to settle.
    State,
    /// Bits put together: concatenations, slices, port wiring.
    Assemble,
    /// Extension of the one source (its view may be part of a value) by the given signedness.
    Extend { signed: bool },
    /// The node's operator on whole operands.
    Operator,
    /// A part chosen by an index (`select`); the first source is the index.
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

/// Live values with definitions, live memories, settling order.
pub struct Graph {
    pub defs: BTreeMap<u32, Def>,
    /// (context, memory) in order of discovery.
    pub mems: Vec<(usize, MemId)>,
    /// Values with the guards (`guard`) that settle before them.
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

    /// An operand read whole: the value that computes it, or itself if that is only a part.
    pub fn operand(&self, ctx: usize, node: NodeId) -> Result<Source, Fault> {
        let val = self.val(ctx, node);
        let n = self.ctxs[ctx].lanes;
        let view = self.traced(self.whole(val), n)?;
        let full = view.lo == 0 && view.w == self.node(view.val).ty.w;
        Ok(Source { view: if full { view } else { self.whole(val) }, n, broadcast: false, dst_lane: 0, dst_lo: 0 })
    }

    /// Where an output of the top module is read; values of several words are made contiguous.
    pub fn output(&self, id: NodeId) -> Result<Source, Fault> {
        let s = self.operand(0, id)?;
        if s.view.w > 64 && self.lanes(s.view.val) > 1 {
            return Ok(Source { view: self.whole(self.val(0, id)), ..s });
        }
        Ok(s)
    }
}
