//! Where integers stand in the factors of a slice, and the sums of their products in its result.
//!
//! Both factors may hold several integers at equal distances. The products of integer `i` of the first and `j` of the
//! second factor stand at `i * step[0] + j * step[1]`, so one step is a multiple of the other. A greater distance holds
//! sums of more terms; the width of the multiplier limits it.
//!
//! Example: two `int8_t` times one have the distance 18 and sums of 8 terms. Two `int4_t` times two have the distances
//! 22 and 11 and sums of 16 terms.

use crate::contract::packed::{fields, looked_at, products, whole, Part, ACCUMULATOR};
use scop::value::{Field, Spread};
use scop::ScalarType;

/// One factor.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Of each integer.
    pub integer: ScalarType,
    pub count: u32,
    /// Bits between integers in the slice.
    pub step: u32,
}

impl Side {
    fn parts(&self) -> Vec<Part> {
        (0..self.count).map(|k| Part::of(self.integer, k * self.step)).collect()
    }

    /// Bits between integers while they travel: those above the lowest need one for the sign below.
    pub fn narrow_step(&self) -> u32 {
        self.integer.bits() + u32::from(self.count > 2 && self.integer.signed())
    }

    /// The type of all integers at a distance.
    fn ty(&self, step: u32, signed: bool) -> ScalarType {
        let [low, high] = whole(&Side { step, ..*self }.parts());
        let signed = signed || low < 0;
        let magnitude = high.max(-low - 1);
        ScalarType::Int { bits: 128 - magnitude.leading_zeros() + u32::from(signed), signed }
    }

    pub fn narrow_type(&self) -> ScalarType {
        self.ty(self.narrow_step(), false)
    }

    /// As a factor of a slice, which is signed.
    pub fn wide_type(&self) -> ScalarType {
        self.ty(self.step, true)
    }

    pub fn spread(&self) -> Spread {
        Spread { count: self.count, integer: self.integer, from: self.narrow_step(), to: self.step }
    }
}

#[derive(Clone, Debug)]
pub struct Layout {
    pub sides: [Side; 2],
    /// Products that may be added before the fields are told apart.
    pub terms: usize,
    /// Per integer of the first factor, per integer of the second one, the lowest part first.
    pub fields: Vec<Field>,
    /// The place of each in `fields`.
    pub places: Vec<Vec<usize>>,
    /// What is below each field may be negative.
    pub borrows: bool,
}

impl Layout {
    /// A type of every field, of sums of fields, and of sums of so many terms; `None` if it has more than 64 bits.
    pub fn sum_type(&self, terms: usize) -> Option<ScalarType> {
        let parts = products(&self.sides[0].parts(), &self.sides[1].parts());
        let all = parts.into_iter().map(|p| p.summed(terms as i128));
        let chains = terms.div_ceil(self.terms) as i128;
        // A field lacks the carry of what is below it.
        let lacks = if self.borrows { chains } else { 0 };
        let (low, high) = all.fold((0, 0), |(low, high), p| (p.low.min(low), p.high.max(high)));
        let low = low - lacks;
        let signed = low < 0;
        let bits = 128 - high.max(-low - 1).max(1).leading_zeros() + u32::from(signed);
        (bits <= 64).then_some(ScalarType::Int { bits, signed })
    }
}

/// The layout for sums of so many terms, or of as many as possible. `factors`: bits of the multiplier's factors.
pub fn layout(integers: [ScalarType; 2], counts: [u32; 2], terms: usize, factors: [u32; 2]) -> Option<Layout> {
    let mut best: Option<Layout> = None;
    for inner in 0..2 {
        for step in (1..ACCUMULATOR).rev() {
            let steps = if inner == 0 { [step, step * counts[0]] } else { [step * counts[1], step] };
            let side = |k: usize| Side { integer: integers[k], count: counts[k], step: steps[k] };
            let sides = [side(0), side(1)];
            let most = best.as_ref().map_or(0, |b| b.terms);
            if most < terms && fit(&sides, factors) {
                best = (most + 1..=terms).rev().find_map(|terms| told_apart(sides, terms)).or(best);
            }
        }
    }
    best
}

/// A field takes an adder, whatever is summed in it: at least so many terms are, unless there are fewer.
pub const LEAST_TERMS: usize = 4;
/// Integers in a factor, at most.
const MOST: usize = 4;

/// How many integers each factor of a slice has in the block of the most products, for sums of so many terms; `most`:
/// how many there are. `None` if a slice has room for one product only.
pub fn largest(integers: [ScalarType; 2], most: [usize; 2], terms: usize, factors: [u32; 2]) -> Option<[usize; 2]> {
    let wanted = terms.min(LEAST_TERMS);
    let [rows, columns] = most.map(|n| n.min(MOST));
    let shapes = (1..=rows).flat_map(|m| (1..=columns).map(move |n| [m, n])).filter(|[m, n]| m * n > 1);
    let terms = |[m, n]: [usize; 2]| {
        layout(integers, [m as u32, n as u32], terms, factors).map(|l| l.terms).filter(|terms| *terms >= wanted)
    };
    let fitting = shapes.filter_map(|shape| Some((shape, terms(shape)?)));
    fitting.max_by_key(|&([m, n], terms)| (m * n, terms)).map(|(shape, _)| shape)
}

fn fit(sides: &[Side; 2], factors: [u32; 2]) -> bool {
    let bits = sides.map(|side| side.wide_type().bits());
    sides.iter().all(|s| s.step * (s.count - 1) < ACCUMULATOR && s.narrow_step() <= s.step || s.count == 1)
        && (bits[0] <= factors[0] && bits[1] <= factors[1] || bits[1] <= factors[0] && bits[0] <= factors[1])
}

fn told_apart(sides: [Side; 2], terms: usize) -> Option<Layout> {
    let parts: Vec<Part> =
        products(&sides[0].parts(), &sides[1].parts()).into_iter().map(|p| p.summed(terms as i128)).collect();
    if parts.last()?.at + 1 >= ACCUMULATOR {
        return None;
    }
    let fields = fields(&parts)?;
    if fields.iter().any(|f| looked_at(*f).is_none()) {
        return None;
    }
    let place = |i: u32, j: u32| parts.iter().position(|p| p.at == i * sides[0].step + j * sides[1].step);
    let places: Option<Vec<Vec<usize>>> =
        (0..sides[0].count).map(|i| (0..sides[1].count).map(|j| place(i, j)).collect()).collect();
    Some(Layout { sides, terms, fields, places: places?, borrows: parts[0].low < 0 })
}
