//! Finds trees of multiplexers that pick one of 2^k parts by the k bits of an index.
//!
//! A feeder picks an element out of a word in this way. A simulation replaces the tree by one table look-up for each
//! lane.

use super::def::Source;
use super::flat::{Flat, View};
use crate::netlist::*;

/// Levels below which a look-up saves nothing.
const MIN_LEVELS: u32 = 2;

impl Flat<'_> {
    /// The index and the parts, part 0 first, of the tree at a multiplexer, if it is one.
    pub fn select(&self, ctx: usize, node: NodeId) -> Result<Option<Vec<Source>>, Fault> {
        let n = self.ctxs[ctx].lanes;
        if n == 1 {
            return Ok(None);
        }
        let (mut layer, mut index) = (vec![node], None);
        while let Some((bit, below)) = self.layer(ctx, &layer)? {
            index = match index {
                None => Some(bit),
                Some(View { val, lane, lo, w }) if (bit.val, bit.lane, bit.lo + 1) == (val, lane, lo) => {
                    Some(View { lo: bit.lo, w: w + 1, ..bit })
                }
                Some(_) => break,
            };
            layer = below;
        }
        let Some(index) = index.filter(|x| x.w >= MIN_LEVELS) else { return Ok(None) };
        let mut sources = vec![];
        for view in
            std::iter::once(Ok(index)).chain(layer.iter().map(|&id| self.traced(self.whole(self.val(ctx, id)), n)))
        {
            let view = view?;
            if view.lo / 64 != (view.lo + view.w - 1) / 64 {
                return Ok(None);
            }
            sources.push(Source { view, n, broadcast: false, dst_lane: 0, dst_lo: 0 });
        }
        Ok(Some(sources))
    }

    /// The common condition of these multiplexers, and their operands.
    fn layer(&self, ctx: usize, nodes: &[NodeId]) -> Result<Option<(View, Vec<NodeId>)>, Fault> {
        let (mut bit, mut below) = (None, vec![]);
        for &node in nodes {
            let Op::Mux(c, t, e) = self.ctxs[ctx].module.node(node).op else { return Ok(None) };
            let view = self.traced(self.whole(self.val(ctx, c)), self.ctxs[ctx].lanes)?;
            if bit.is_some_and(|b| b != view) {
                return Ok(None);
            }
            bit = Some(view);
            below.extend([e, t]);
        }
        Ok(bit.map(|bit| (bit, below)))
    }
}
