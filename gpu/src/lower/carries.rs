//! Sums of pairs that carry nothing from the lower half to the upper one.
//!
//! **Problem.** The sum of two pairs is one operation of the integer pipe. An ordinary addition of 32 bits does the same, and other
//! pipes have it too, if the lower halves never carry: if both operands are numbers from 0 to 32,767.
//!
//! **Method.** Bounds of all values by induction over the steps. Suppose that the values that wait are from 0 to `P` in a step.
//! Then each value of the step has bounds too, some of them with `P`:
//!
//! ```text
//! D of the step before, at the left and above     0 ..= P
//! a != b                                          0 ..= 1
//! min(above, left) + 1                            0 ..= P + 1
//! D = min(diagonal + (a != b), that)              0 ..= P + 1
//! ```
//!
//! So `P` grows by 1 in a step. It begins with the greatest value that comes from elsewhere, such as `D` of the first row, and
//! the number of steps is known. Lanes that have no instance in a
//! step may have any value: none that has one uses theirs.

use crate::form::{Cond, Form};
use crate::ir::{Guard, Node, NodeId, Op, Warp};
use scop::{BinaryOp, ScalarType};

/// Bounds of a value: `low ..= high`, or `low ..= P + high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    low: i64,
    high: i64,
    grows: bool,
}

impl Bounds {
    fn within(low: i64, high: i64) -> Bounds {
        Bounds { low, high, grows: false }
    }
    /// One of both. A number that does not grow is at most `P` where `P` begins with at least `floor`.
    fn or(self, other: Bounds, floor: &mut i64) -> Bounds {
        let low = self.low.min(other.low);
        let high = match (self.grows, other.grows) {
            (true, false) => self.high.max(other.over(floor)),
            (false, true) => other.high.max(self.over(floor)),
            _ => self.high.max(other.high),
        };
        Bounds { low, high, grows: self.grows || other.grows }
    }
    fn over(self, floor: &mut i64) -> i64 {
        *floor = self.high.max(*floor);
        0
    }
    /// The least value that both are at least, and one of the two greatest.
    fn least_of(self, other: Bounds) -> Bounds {
        let (a, b) = if (self.grows, self.high) <= (other.grows, other.high) { (self, other) } else { (other, self) };
        Bounds { low: a.low.min(b.low), ..a }
    }
}

/// The greatest number of a half.
const MOST: i64 = 32767;

/// Marks the sums.
pub fn mark(warp: &mut Warp) {
    let Some(bounds) = bounds(warp).filter(|_| warp.pairs.is_some()) else { return };
    let natural = |id: NodeId| bounds[id.index()].is_some_and(|b| b.low >= 0);
    for k in 0..warp.nodes.len() {
        let Op::Binary(BinaryOp::Add, a, b) = warp.nodes[k].op else { continue };
        warp.nodes[k].carryless = warp.nodes[k].pair && natural(a) && natural(b) && natural(NodeId(k as u32));
    }
}

/// Bounds by node; `None`: the values that wait have none. No number of a node with bounds, or of what they come from, is
/// greater than [`MOST`].
fn bounds(warp: &Warp) -> Option<Vec<Option<Bounds>>> {
    let time = warp.time.as_ref()?;
    let (mut growth, mut start) = (0, 0);
    let all = walk(warp, &mut start, |_| true);
    for of in warp.waits().into_keys() {
        let own = all[of.index()].filter(|b| b.low >= 0)?;
        match own.grows {
            true => growth = growth.max(own.high),
            false => start = start.max(own.high),
        }
    }
    for node in &warp.nodes {
        if let Op::Past { start: Some(value), .. } = node.op {
            let own = all[value.index()].filter(|b| b.low >= 0 && !b.grows)?;
            start = start.max(own.high);
        }
    }
    let steps = time.clip.1.most - time.clip.0 + 2;
    let most = start.checked_add(growth.checked_mul(steps)?)?;
    let all = walk(warp, &mut start, |b| b.low >= -MOST && b.high + if b.grows { most } else { 0 } <= MOST);
    warp.waits().into_keys().all(|of| all[of.index()].is_some()).then_some(all)
}

/// Bounds of all nodes in their order, of those that fit.
fn walk(warp: &Warp, floor: &mut i64, fits: impl Fn(&Bounds) -> bool) -> Vec<Option<Bounds>> {
    let mut all: Vec<Option<Bounds>> = vec![];
    for node in &warp.nodes {
        let of = of(warp, node, &all, floor);
        all.push(of.filter(&fits));
    }
    all
}

fn of(warp: &Warp, node: &Node, all: &[Option<Bounds>], floor: &mut i64) -> Option<Bounds> {
    let own = |id: NodeId| all.get(id.index()).copied().flatten();
    let ScalarType::Int { bits, .. } = node.ty else { return None };
    match &node.op {
        Op::Const(value) => {
            let value = i64::try_from(scop::value::to_integer(*value, node.ty)).ok()?;
            Some(Bounds::within(value, value))
        }
        Op::Argument { .. } | Op::Load { .. } | Op::Fed { .. } | Op::Lookup(..) | Op::Holds(_) => of_type(node.ty),
        Op::Index(form) => form_within(warp, form, &[]),
        Op::Past { .. } => Some(Bounds { low: 0, high: 0, grows: true }),
        Op::Last { of } | Op::Hop { of, .. } => own(*of),
        Op::Take { rows, .. } => rows.iter().map(|r| own(*r)).reduce(|a, b| Some(a?.or(b?, floor)))?,
        Op::Guard(Guard { when, then, otherwise, .. }) => {
            let mut then = *then;
            while let Op::Cast(of) = warp.node(then).op {
                then = of;
            }
            let chosen = match &warp.node(then).op {
                Op::Index(form) => form_within(warp, form, when),
                _ => own(then),
            };
            Some(chosen?.or(own(*otherwise)?, floor))
        }
        Op::Select(_, a, b) => Some(own(*a)?.or(own(*b)?, floor)),
        // Narrower types wrap around.
        Op::Cast(a) => own(*a)
            .filter(|b| bits >= 16 || !b.grows && of_type(node.ty).is_some_and(|t| t.low <= b.low && b.high <= t.high)),
        Op::Binary(BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le, ..) => Some(Bounds::within(0, 1)),
        Op::Binary(BinaryOp::Min, a, b) => Some(own(*a)?.least_of(own(*b)?)),
        Op::Binary(BinaryOp::Max, a, b) => {
            let both = own(*a)?.or(own(*b)?, floor);
            Some(Bounds { low: own(*a)?.low.max(own(*b)?.low), ..both })
        }
        Op::Binary(BinaryOp::Add, a, b) => {
            let (a, b) = (own(*a)?, own(*b)?);
            let high = a.high + b.high;
            (!(a.grows && b.grows)).then_some(Bounds { low: a.low + b.low, high, grows: a.grows || b.grows })
        }
        Op::Binary(BinaryOp::Sub, a, b) => {
            let (a, b) = (own(*a)?, own(*b)?);
            (!b.grows).then_some(Bounds { low: a.low - b.high, high: a.high - b.low, grows: a.grows })
        }
        _ => None,
    }
}

/// The numbers of a type.
fn of_type(ty: ScalarType) -> Option<Bounds> {
    let (least, most) = scop::value::range(ty);
    Some(Bounds::within(i64::try_from(least).ok()?, i64::try_from(most).ok()?))
}

/// The values of a form where conditions hold.
fn form_within(warp: &Warp, form: &Form, when: &[Cond]) -> Option<Bounds> {
    let mut scalars = warp.scalars.clone();
    if let Some(time) = &warp.time {
        let scalar = &mut scalars[time.scalar.index()];
        (scalar.lo, scalar.hi) = (time.clip.0, time.clip.1.most);
    }
    // The lane, where a condition decides it.
    let lane = when.iter().filter(|c| c.equality && c.form.scalars.is_empty() && c.form.unit != 0).map(|c| &c.form);
    let lane = lane.filter(|f| f.constant % f.unit == 0).map(|f| -f.constant / f.unit).next();
    let fixed = |f: &Form| match lane {
        Some(u) => Form { unit: 0, ..f.plus(f.unit * u) },
        None => f.clone(),
    };
    let form = fixed(form);
    let (mut low, mut high) = form.range(&scalars, warp.units());
    for cond in when {
        let known = fixed(&cond.form);
        if known.linear() == form.linear() {
            low = low.max(form.constant - known.constant);
        }
        if known.negated().linear() == form.linear() {
            high = high.min(form.constant + known.constant);
        }
    }
    Some(Bounds::within(low, high))
}
