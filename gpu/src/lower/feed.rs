//! Operands that the warps of a block share.
//!
//! **Problem.** A product has `A[i][k]` for all columns and `B[k][j]` for all rows. A warp that loads both for its own tile
//! loads each element as often as there are warps along the other axis, and waits for the memory in every step.
//!
//! **Method.** The warps of a block have neighbouring tiles of the unrolled axis. The block loads the elements of eight
//! steps into shared memory (a *feeder*), while its warps compute on those of the eight steps before:
//!
//! ```text
//! B[k][j]    depends on the lane, not on the tile: one row for all warps of the block
//! A[i][k]    depends on the tile, not on the lane: elements i_0 .. i_0 + 7 of each warp
//! ```
//!
//! Four elements along the steps may be a quad ([`crate::dots`]).
//!
//! Nothing passes from lane to lane, so which lanes of which warp run in one warp of the hardware is free: four lanes of
//! each of the eight. So a warp of the hardware reads 4 words of B and 8 of A for 8 x 8 products in each lane.

use super::{quads, tidy};
use crate::arrange::{Place, Refusal};
use crate::form::Form;
use crate::ir::{Block, Feeder, NodeId, Op, ScalarId, Warp, QUAD};
use crate::space::Space;

/// Makes all loads of the time loop come from feeders.
///
/// # Errors
/// A value passes along the PEs, or a load has no such form.
pub fn feed(warp: &mut Warp, space: &Space) -> Result<(), Refusal> {
    let refused = |why: &str| Err(Refusal::new(why));
    if warp.nodes.iter().any(|n| matches!(n.op, Op::Hop { .. } | Op::Fold(..))) {
        return refused("values pass from lane to lane");
    }
    let time = space.time_scalar();
    let tiles: Vec<(usize, i64)> = (space.arrangement.coordinates.iter().enumerate())
        .filter_map(|(d, c)| match c.place {
            Place::Unrolled(Some(tile)) => Some((d, tile)),
            _ => None,
        })
        .collect();
    let (Some(time), &[(d, tile)]) = (time, tiles.as_slice()) else {
        return refused("warps that share operands have one unrolled axis in tiles, and a time loop");
    };
    let Some(axis) = space.scalar_of(d) else { return refused("no axis of tiles") };
    // Four elements along time are one load of a quad here.
    let mut some = false;
    for k in 0..warp.nodes.len() {
        let Op::Quad(all) = warp.nodes[k].op else { continue };
        let Some((array, at, dim)) = quads::beside(warp, &all) else { continue };
        if at[dim].of(time) == QUAD {
            warp.nodes[k].op = Op::Load { array, at, each: QUAD };
            some = true;
        }
    }
    if some {
        tidy::order(warp);
    }
    let moves = |op: &Op| matches!(op, Op::Load { at, .. } if at.iter().any(|f| f.of(time) != 0));
    let loads: Vec<usize> = (0..warp.nodes.len()).filter(|&k| moves(&warp.nodes[k].op)).collect();
    let mut feeders: Vec<Feeder> = vec![];
    for k in loads {
        let Op::Load { array, at, each } = warp.nodes[k].op.clone() else { continue };
        let Some(one) = feeder(warp, array, &at, time, (axis, tile), each) else {
            return refused("an operand is neither alike in all tiles nor alike in all lanes");
        };
        let place = one.place;
        let found = feeders.iter().position(|f| f.is_beside(&one, tile));
        let feeder = found.unwrap_or_else(|| {
            feeders.push(one);
            feeders.len() - 1
        });
        let element = at[place].constant - feeders[feeder].at[place].constant;
        warp.nodes[k].op = Op::Fed { feeder, element };
    }
    let both = [true, false].iter().all(|row| feeders.iter().any(|f| f.row == *row));
    if !both {
        return refused("warps of a block share operands of two kinds: a row, and elements of each tile");
    }
    if first_elements(warp, &mut feeders).is_none() {
        return refused("an operand has more elements than a tile");
    }
    warp.block = Some(Block { axis, feeders });
    Ok(())
}

/// The feeder that has this load alone.
fn feeder(
    warp: &Warp,
    array: usize,
    at: &[Form],
    time: ScalarId,
    (axis, tile): (ScalarId, i64),
    each: i64,
) -> Option<Feeder> {
    let only = |holds: &dyn Fn(&Form) -> bool| {
        let mut found = (0..at.len()).filter(|&d| holds(&at[d]));
        found.next().filter(|_| found.next().is_none())
    };
    let step = only(&|f| f.of(time) != 0)?;
    let row = at.iter().any(|f| f.unit != 0);
    let place = if row { only(&|f| f.unit != 0)? } else { only(&|f| f.of(axis) != 0)? };
    let of_tile = at.iter().any(|f| f.of(axis) != 0);
    let factor = if row { at[place].unit } else { at[place].of(axis) };
    let fits = step != place && at[step].of(time) == each && factor == 1 && row != of_tile;
    let elements = if row { warp.units() } else { tile };
    fits.then(|| Feeder { array, at: at.to_vec(), step, place, elements, row, quad: each == QUAD })
}

impl Feeder {
    /// Whether an element of another feeder may be one of this: a tile's elements differ by constants.
    fn is_beside(&self, other: &Feeder, tile: i64) -> bool {
        let by = other.at[other.place].constant - self.at[self.place].constant;
        let alike = (0..self.at.len()).all(|d| match d == self.place {
            true => self.at[d].linear() == other.at[d].linear(),
            false => self.at[d] == other.at[d],
        });
        let near = if self.row { by == 0 } else { by.abs() < tile };
        (self.array, self.step, self.place, self.row, self.quad)
            == (other.array, other.step, other.place, other.row, other.quad)
            && alike
            && near
    }
}

/// Makes elements count from the first one; `None`: there are more than the feeder has.
fn first_elements(warp: &mut Warp, feeders: &mut [Feeder]) -> Option<()> {
    for (k, feeder) in feeders.iter_mut().enumerate() {
        let own: Vec<(NodeId, i64)> = (0..warp.nodes.len())
            .filter_map(|n| match warp.nodes[n].op {
                Op::Fed { feeder, element } if feeder == k => Some((NodeId(n as u32), element)),
                _ => None,
            })
            .collect();
        let least = own.iter().map(|(_, e)| *e).min()?;
        feeder.at[feeder.place].constant += least;
        for (node, element) in own {
            if element - least >= feeder.elements {
                return None;
            }
            warp.nodes[node.index()].op = Op::Fed { feeder: k, element: element - least };
        }
    }
    Some(())
}
