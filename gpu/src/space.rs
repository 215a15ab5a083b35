//! The coordinates of an instance in a warp, as forms.

use crate::arrange::{Arrangement, Place};
use crate::form::{Cond, Form};
use crate::ir::{Block, Scalar, ScalarId, LANES};
use scop::{Affine, Constraint};

/// How far steps run beyond the first and the last one, at most: warming up, rows asked for ahead, and skewed lanes.
pub const BEYOND: i64 = 512;

/// An instance of a step: by coordinate, which of the unrolled values it has; 0 for other coordinates.
pub type Point = Vec<i64>;

pub struct Space<'a> {
    pub arrangement: &'a Arrangement,
    pub scalars: Vec<Scalar>,
    /// By coordinate.
    ids: Vec<Option<ScalarId>>,
    pub lane_scalar: ScalarId,
    /// The number of the strip, if there are several.
    strip: Option<ScalarId>,
    /// A point of the middle: scalars, then `u`.
    middle: (Vec<i64>, i64),
    /// Values of `u`.
    pub units: i64,
}

impl<'a> Space<'a> {
    pub fn new(arrangement: &'a Arrangement) -> Space<'a> {
        let mut scalars: Vec<Scalar> = vec![];
        let (mut ids, mut middle) = (vec![], vec![]);
        let pes = LANES * arrangement.registers;
        for c in &arrangement.coordinates {
            let half = (c.lo + c.hi).div_euclid(2);
            let (name, end) = (ascii(&c.name), c.end.clone());
            let scalar = match c.place {
                Place::Size => {
                    middle.push(c.hi);
                    Some(Scalar { name: c.name.clone(), lo: c.lo, hi: c.hi, multiple: 1, rest: 0, end: None })
                }
                Place::Lanes if arrangement.choice.whole => {
                    let lo = first_pe(arrangement);
                    middle.push(lo);
                    let multiple = arrangement.registers;
                    Some(Scalar { name: format!("{name}_0"), lo, hi: lo, multiple, rest: 0, end: None })
                }
                Place::Lanes => {
                    let multiple = if arrangement.skewed { 1 } else { arrangement.registers };
                    middle.push((half - pes / 2).div_euclid(multiple) * multiple);
                    Some(Scalar {
                        name: format!("{name}_0"),
                        lo: c.lo - 2 * pes,
                        hi: c.hi + pes,
                        multiple,
                        rest: 0,
                        end: None,
                    })
                }
                Place::Unrolled(None) => None,
                Place::Unrolled(Some(tile)) => {
                    middle.push((half - c.lo).div_euclid(tile) * tile + c.lo);
                    // The last block has all its warps.
                    let (beyond, end) = match arrangement.choice.shared {
                        true => (Block::WARPS * tile, None),
                        false => (0, end),
                    };
                    Some(Scalar { name: format!("{name}_0"), lo: c.lo, hi: c.hi + beyond, multiple: 1, rest: 0, end })
                }
                Place::Loop => {
                    let (lo, hi) = if c.simd > 1 { (0, c.last_step()) } else { (c.lo, c.hi) };
                    let half = (lo + hi).div_euclid(2);
                    middle.push(half + if arrangement.skewed { LANES / 2 } else { 0 });
                    Some(Scalar { name, lo: lo - BEYOND, hi: hi + BEYOND, multiple: 1, rest: 0, end: None })
                }
                Place::Grid => {
                    middle.push(half);
                    Some(Scalar { name, lo: c.lo, hi: c.hi, multiple: 1, rest: 0, end })
                }
            };
            ids.push(scalar.as_ref().map(|_| ScalarId(scalars.len() as u32)));
            scalars.extend(scalar);
        }
        let lane_scalar = ids[arrangement.lanes].expect("lanes have a first PE");
        let strip = (arrangement.strips > 1).then(|| {
            let name = format!("{}_strip", ascii(&arrangement.coordinates[arrangement.lanes].name));
            scalars.push(Scalar {
                name,
                lo: -BEYOND,
                hi: arrangement.strips - 1 + BEYOND,
                multiple: 1,
                rest: 0,
                end: None,
            });
            middle.push(arrangement.strips / 2);
            ScalarId(scalars.len() as u32 - 1)
        });
        let units = if arrangement.skewed { LANES } else { pes };
        let c = &arrangement.coordinates[arrangement.lanes];
        let u = match (arrangement.choice.whole, arrangement.skewed) {
            (true, true) => LANES / 2,
            (true, false) if strip.is_none() => c.extent() / 2,
            _ => units / 2,
        };
        Space { arrangement, scalars, ids, lane_scalar, strip, middle: (middle, u), units }
    }

    pub fn scalar_of(&self, coordinate: usize) -> Option<ScalarId> {
        self.ids[coordinate]
    }

    /// The axes of the grid along which instances know nothing of each other.
    pub fn batches(&self) -> Vec<ScalarId> {
        let all = self.arrangement.coordinates.iter().zip(&self.ids);
        all.filter(|(c, _)| c.place == Place::Grid && c.extent() > 1).filter_map(|(_, id)| *id).collect()
    }

    /// The number of the step.
    pub fn time_scalar(&self) -> Option<ScalarId> {
        self.strip.or_else(|| self.arrangement.time.and_then(|d| self.ids[d]))
    }

    /// The coordinates `m` of an instance.
    fn coordinates(&self, point: &Point) -> Vec<Form> {
        let a = self.arrangement;
        let form = |(d, c): (usize, &crate::arrange::Coordinate)| {
            let mut form = Form::constant(point[d]);
            if let Some(id) = self.ids[d] {
                let s = &self.scalars[id.index()];
                if c.place == Place::Loop && c.simd > 1 {
                    form.constant += c.lo;
                    form.add(c.simd, &Form::scalar(id));
                } else if s.lo == s.hi {
                    form.constant += s.lo;
                } else {
                    form.add(1, &Form::scalar(id));
                }
            }
            match c.place {
                Place::Lanes if a.skewed => form.unit += a.registers,
                Place::Lanes => {
                    form.unit += 1;
                    self.strip.iter().for_each(|&s| form.add(LANES * a.registers, &Form::scalar(s)));
                }
                Place::Loop if a.skewed => form.unit -= 1,
                _ => {}
            }
            form
        };
        a.coordinates.iter().enumerate().map(form).collect()
    }

    /// The coordinates `n` of the iteration space of an instance.
    pub fn iteration(&self, point: &Point) -> Vec<Form> {
        let m = self.coordinates(point);
        let sum = |row: &Vec<i64>| {
            let mut form = Form::default();
            row.iter().zip(&m).filter(|(c, _)| **c != 0).for_each(|(&c, x)| form.add(c, x));
            form
        };
        self.arrangement.inverse.iter().map(sum).collect()
    }

    /// Whether conditions hold in the middle.
    pub fn holds_inside(&self, all: &[Cond]) -> bool {
        all.iter().all(|c| {
            let value = self.inside(&c.form);
            if c.equality {
                value == 0
            } else {
                value >= 0
            }
        })
    }

    /// The value of a form in the middle.
    pub fn inside(&self, form: &Form) -> i64 {
        let scalars = form.scalars.iter().map(|(id, c)| c * self.middle.0[id.index()]);
        form.constant + form.unit * self.middle.1 + scalars.sum::<i64>()
    }
}

/// The coordinate of PE 0 where one warp holds all.
pub fn first_pe(arrangement: &Arrangement) -> i64 {
    let c = &arrangement.coordinates[arrangement.lanes];
    let r = arrangement.registers;
    match arrangement.skewed {
        true => c.lo,
        // Aligned to the registers, if they still hold all.
        false if arrangement.strips > 1 || c.hi - c.lo.div_euclid(r) * r < LANES * r => c.lo.div_euclid(r) * r,
        false => c.lo,
    }
}

/// An affine function of the iteration space at an instance.
pub fn at(affine: &Affine, n: &[Form]) -> Form {
    let mut form = Form::constant(affine.constant);
    affine.coeffs.iter().zip(n).filter(|(c, _)| **c != 0).for_each(|(&c, x)| form.add(c, x));
    form
}

/// Constraints on the iteration space at an instance.
pub fn conditions(all: &[Constraint], n: &[Form]) -> Vec<Cond> {
    all.iter().map(|c| Cond { form: at(&c.expr, n), equality: c.equality }).collect()
}

/// A name for emitted text.
fn ascii(name: &str) -> String {
    let text: String = name
        .chars()
        .map(|c| match c {
            '+' => '_',
            c if c.is_ascii_alphanumeric() || c == '_' => c,
            _ => '_',
        })
        .collect();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        format!("t{text}")
    } else {
        text
    }
}
