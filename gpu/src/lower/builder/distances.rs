//! Values at a distance: of this step or an earlier one, of this PE or another.

use super::{Builder, Key};
use crate::arrange::{Place, Refusal};
use crate::ir::{Node, NodeId, Op};
use crate::space::Point;

/// Steps that a value may wait in registers.
const MOST_STEPS: i64 = 16;

impl Builder<'_> {
    /// A value at a constant distance: of this step or an earlier one, moved along the PEs.
    pub(super) fn from(
        &mut self,
        distance: &[i64],
        point: &Point,
        key: impl Fn(Point) -> Key,
    ) -> Result<Option<NodeId>, Refusal> {
        let a = self.space.arrangement;
        let (mut from, mut steps, mut hop) = (point.clone(), 0, 0);
        for (d, c) in a.coordinates.iter().enumerate() {
            let moved: i64 = c.row.iter().zip(distance).map(|(x, e)| x * e).sum();
            match c.place {
                Place::Unrolled(tile) => {
                    from[d] -= moved;
                    if tile.is_none() && !(c.lo..=c.hi).contains(&from[d]) {
                        return Ok(None);
                    }
                }
                Place::Loop => {
                    let lane = point[d] - moved;
                    from[d] = lane.rem_euclid(c.simd);
                    steps -= lane.div_euclid(c.simd);
                }
                Place::Grid if moved != 0 => return Err(Refusal::new(format!("values pass along {}", c.name))),
                Place::Grid | Place::Size => {}
                Place::Lanes if a.skewed => {
                    let register = point[d] - moved;
                    from[d] = register.rem_euclid(a.registers);
                    hop = -register.div_euclid(a.registers);
                    steps += hop;
                }
                Place::Lanes => hop = moved,
            }
        }
        self.earlier(key(from), steps, hop).map(Some)
    }

    /// The value of a key some steps ago, in the PE `hop` before.
    fn earlier(&mut self, key: Key, steps: i64, hop: i64) -> Result<NodeId, Refusal> {
        if steps < 0 {
            return Err(Refusal::new("a value would be used in a step before the one that computes it")
                .help("give time a coordinate that does not decrease along any dependence, such as --time i+2*t"));
        }
        if steps > MOST_STEPS {
            return Err(Refusal::new(format!(
                "a value waits for {steps} steps; registers hold it for {MOST_STEPS} at most"
            ))
            .help("put the loop that it crosses on an axis or outermost in time"));
        }
        let value = match steps {
            0 => self.value(&key)?,
            _ => match self.pasts.get(&(key.clone(), steps)) {
                Some(&id) => id,
                None => {
                    let (ty, name) = self.type_of(&key);
                    let id = NodeId(self.nodes.len() as u32);
                    let op = Op::Past { of: NodeId(u32::MAX), steps, start: None };
                    let node = Node::new(op, ty, true, name);
                    self.nodes.push(node);
                    self.pasts.insert((key.clone(), steps), id);
                    self.pending.push((id, key));
                    id
                }
            },
        };
        if hop == 0 {
            return Ok(value);
        }
        let ty = self.nodes[value.index()].ty;
        Ok(self.node(Op::Hop { of: value, by: hop }, ty))
    }
}
