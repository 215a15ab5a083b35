//! Sums of products that are side by side in one number: in what range each of them is, and how fields tell them apart.
//!
//! Terms: a number consists of *parts*, `Σ part << at`. Multiplication and addition give the parts of the result. See
//! `scop::value::Field` for what a field of a number says of one part: it is the part, or 1 less where the parts below
//! are negative together.
//!
//! Example: two `int8_t` at a distance of 18 bits times an `int8_t` have parts from -16,256 to 16,384 at bits 0 and 18.
//! The sum of eight such numbers has parts from -130,048 to 131,072. A field of 18 bits tells 131,072 and -131,072
//! apart only because the latter cannot occur: bits from 2^17 + 2^10 on are negative.
//!
//! Invariant, checked by the verifier: every field has the bits for all that its part can be.

use crate::vsa::{Node, NodeId, Op};
use scop::value::{range, Field};
use scop::{BinaryOp, ScalarType};

/// Bits of an adder behind a product: of a DSP slice.
pub const ACCUMULATOR: u32 = 48;

/// An integer from `low` to `high`, times 2^`at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub at: u32,
    pub low: i128,
    pub high: i128,
}

impl Part {
    /// All integers of a type.
    pub fn of(ty: ScalarType, at: u32) -> Part {
        let (low, high) = range(ty);
        Part { at, low, high }
    }

    /// The products of both.
    fn times(self, other: Part) -> Part {
        let corners = [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let (low, high) = corners.iter().fold((i128::MAX, i128::MIN), |(l, h), &x| (l.min(x), h.max(x)));
        Part { at: self.at + other.at, low, high }
    }

    /// Sums of `terms` of them, or of fewer.
    pub fn summed(self, terms: i128) -> Part {
        Part { low: self.low.min(0) * terms, high: self.high.max(0) * terms, ..self }
    }
}

/// Least and greatest number of all parts together.
pub fn whole(parts: &[Part]) -> [i128; 2] {
    [parts.iter().map(|p| p.low << p.at).sum(), parts.iter().map(|p| p.high << p.at).sum()]
}

fn fits(parts: &[Part], ty: ScalarType) -> bool {
    let ([low, high], (least, most)) = (whole(parts), range(ty));
    parts.iter().all(|p| p.at < ty.bits()) && least <= low && high <= most
}

/// The products of all parts of two numbers, the lowest first.
pub fn products(a: &[Part], b: &[Part]) -> Vec<Part> {
    let mut all: Vec<Part> = a.iter().flat_map(|x| b.iter().map(move |y| x.times(*y))).collect();
    all.sort_by_key(|p| p.at);
    all
}

/// Parts at the same place are added.
fn sums(a: &[Part], b: &[Part]) -> Vec<Part> {
    let mut all = a.to_vec();
    for part in b {
        match all.iter_mut().find(|p| p.at == part.at) {
            Some(p) => (p.low, p.high) = (p.low + part.low, p.high + part.high),
            None => all.push(*part),
        }
    }
    all.sort_by_key(|p| p.at);
    all
}

/// The parts of one number or of the other; what has no part at a place has a 0 there.
fn either(a: &[Part], b: &[Part]) -> Vec<Part> {
    let at = |parts: &[Part], at: u32| parts.iter().find(|p| p.at == at).map_or([0, 0], |p| [p.low, p.high]);
    let mut places: Vec<u32> = a.iter().chain(b).map(|p| p.at).collect();
    places.sort_unstable();
    places.dedup();
    let both = |place| {
        let ([low, high], [least, most]) = (at(a, place), at(b, place));
        Part { at: place, low: low.min(least), high: high.max(most) }
    };
    places.into_iter().map(both).collect()
}

/// What the field of a part can say, given the parts below it: 1 less than the part where they are negative.
pub fn said(parts: &[Part], k: usize) -> [i128; 2] {
    let below = k > 0 && whole(&parts[..k])[0] < 0;
    [parts[k].low - i128::from(below), parts[k].high]
}

/// The field of each part, up to the next one, or to bit [`ACCUMULATOR`]; `None` if some part is too great.
pub fn fields(parts: &[Part]) -> Option<Vec<Field>> {
    let field = |k: usize| {
        let at = parts[k].at;
        let bits = parts.get(k + 1).map_or(ACCUMULATOR, |next| next.at).checked_sub(at).filter(|b| *b > 0)?;
        Some(Field { at, bits, negative: negative(said(parts, k), bits)? })
    };
    (0..parts.len()).map(field).collect()
}

/// From where on bits are negative, so that all integers of the range are told apart: a bound that takes few gates.
fn negative([low, high]: [i128; 2], bits: u32) -> Option<u64> {
    let (all, half) = (1i128 << bits, 1i128 << (bits - 1));
    let tells = |bound: &i128| high < *bound && *bound <= all + low;
    let bounds = [all, half].into_iter().chain((0..bits.saturating_sub(1)).rev().map(|j| half + (1 << j)));
    bounds.filter(|_| bits < 64).find(tells).map(|bound| bound as u64)
}

/// Bits, from the highest down, that say whether a field is negative: that one and one of the others. `None` if more
/// has to be looked at.
pub fn looked_at(field: Field) -> Option<u32> {
    let half = 1u64 << (field.bits - 1);
    match field.negative {
        n if n == half << 1 => Some(0),
        n if n == half => Some(1),
        n if n > half && (n - half).is_power_of_two() => Some(field.bits - (n - half).trailing_zeros()),
        _ => None,
    }
}

/// The parts of each node that is an integer; `None` where nothing is known.
pub fn parts(nodes: &[Node]) -> Vec<Option<Vec<Part>>> {
    let mut all: Vec<Option<Vec<Part>>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let found = if node.ty.is_float() { None } else { parts_of(nodes, node, &all) };
        let plain = || (!node.ty.is_float() && node.ty.bits() <= 32).then(|| vec![Part::of(node.ty, 0)]);
        all.push(found.filter(|parts| fits(parts, node.ty)).or_else(plain));
    }
    all
}

fn parts_of(nodes: &[Node], node: &Node, all: &[Option<Vec<Part>>]) -> Option<Vec<Part>> {
    let of = |id: NodeId| all.get(id.index()).cloned().flatten();
    match node.op {
        Op::Const(0) => Some(vec![]),
        Op::Spread(source, spread) => {
            let joined = |id| is_joined(nodes, id, spread.integer, spread.from, spread.count);
            let integer = |k| Part::of(spread.integer, k * spread.to);
            joined(source).then(|| (0..spread.count).map(integer).collect())
        }
        Op::Cast(a) => of(a),
        // Of an operator that several products share.
        Op::Select(_, a, b) => Some(either(&of(a)?, &of(b)?)),
        Op::Binary(BinaryOp::Mul, a, b) => Some(products(&of(a)?, &of(b)?)),
        Op::Binary(BinaryOp::Add, a, b) => Some(sums(&of(a)?, &of(b)?)),
        _ => None,
    }
}

/// The value is, in every wave and PE, so many joined integers of the type: it comes from there, by multiplexers and
/// links.
fn is_joined(nodes: &[Node], id: NodeId, integer: ScalarType, step: u32, count: u32) -> bool {
    let (mut open, mut seen) = (vec![id], vec![]);
    while let Some(id) = open.pop() {
        if seen.contains(&id) {
            continue;
        }
        seen.push(id);
        match &nodes[id.index()].op {
            Op::Past { source, .. } => open.push(*source),
            Op::Select(_, a, b) => open.extend([a, b]),
            Op::Const(0) => {}
            Op::Join { integers, step: at } => {
                let is_one = |n: &NodeId| nodes[n.index()].ty == integer;
                if *at != step || integers.len() != count as usize || !integers.iter().all(is_one) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

/// Nodes that are fields and may not say what their part is, and why.
pub fn faults(nodes: &[Node]) -> Vec<(usize, String)> {
    let field = |node: &Node| if let Op::Field(source, field) = node.op { Some((source, field)) } else { None };
    if nodes.iter().all(|node| field(node).is_none()) {
        return vec![];
    }
    let parts = parts(nodes);
    let fault = |(n, node)| {
        let (source, field) = field(node)?;
        check_field(parts[source.index()].as_deref(), field).err().map(|fault| (n, fault))
    };
    nodes.iter().enumerate().filter_map(fault).collect()
}

/// Why a field may not say what its part is.
///
/// # Errors
/// One line.
pub fn check_field(parts: Option<&[Part]>, field: Field) -> Result<(), String> {
    let Some(parts) = parts else { return Err("a field of a number without known parts".into()) };
    let Some(k) = parts.iter().position(|p| p.at == field.at) else { return Err("a field between parts".into()) };
    let end = parts.get(k + 1).map_or(ACCUMULATOR, |next| next.at);
    if looked_at(field).is_none() || field.at + field.bits > end {
        return Err("a field over several parts".into());
    }
    let apart = |j: usize| {
        let ([low, high], most) = (said(parts, j), 1i128 << (parts[j + 1].at - parts[j].at));
        -most <= low && high < most
    };
    let [low, high] = said(parts, k);
    let bound = i128::from(field.negative);
    if !(0..k).all(apart) || high >= bound || bound > (1 << field.bits) + low {
        return Err(format!("a field of {} bits for a part from {low} to {high}", field.bits));
    }
    Ok(())
}
