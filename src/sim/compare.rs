//! Compares every element of every array, and the guard bytes around the arrays, with the golden model.

use super::{Image, Outcome};
use crate::data::unpack;
use array::vsa::Vsa;
use scop::value;
use scop::ScalarType;

/// The differences between simulation and golden model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements that differ, and guard bytes that changed.
    pub mismatches: usize,
    /// The first few differences, as sentences.
    pub examples: Vec<String>,
}

/// The distance of floats from the results of another order of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deviation {
    /// Largest difference; infinite if one of the two values alone is a finite number.
    pub absolute: f64,
    /// Largest difference in units of the C program's result, if that is not zero.
    pub relative: f64,
    /// Elements that differ.
    pub elements: usize,
}

const EXAMPLES: usize = 8;

impl Comparison {
    fn add(&mut self, what: impl FnOnce() -> String) {
        self.mismatches += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(what());
        }
    }
}

/// Whether two values are equal. All NaNs are: C leaves their payload open.
pub fn same(one: u64, other: u64, ty: ScalarType) -> bool {
    one == other || (value::is_nan(one, ty) && value::is_nan(other, ty))
}

/// Compares the memories of `outcome` with `expected` (elements per array of the VSA), as far as they were seen.
pub fn compare(vsa: &Vsa, images: &[Image], outcome: &Outcome, expected: &[Vec<u64>]) -> Comparison {
    let mut result = Comparison::default();
    for (k, (image, memory)) in images.iter().zip(&outcome.memories).enumerate().take(vsa.arrays.len()) {
        let array = &vsa.arrays[k];
        if memory.is_empty() {
            continue;
        }
        // The contents of a scratch buffer mean nothing.
        let found = if array.home.is_temporary() {
            vec![]
        } else {
            unpack(&memory[image.offset..image.offset + image.size], array.ty)
        };
        result.elements += found.len();
        for (index, (&is, &wanted)) in found.iter().zip(&expected[k]).enumerate() {
            if !same(is, wanted, array.ty) {
                result.add(|| {
                    let at = subscripts(index, &array.dims);
                    format!("{}{at} is {}, C has {}", array.name, show(is, array.ty), show(wanted, array.ty))
                });
            }
        }
        let guard = (0..image.bytes.len()).filter(|at| !(image.offset..image.offset + image.size).contains(at));
        for at in guard.filter(|&at| image.bytes[at] != memory[at]) {
            result.add(|| {
                let distance = at as i64 - image.offset as i64;
                format!("memory beside {} was overwritten: byte {distance} from its start", array.name)
            });
        }
    }
    result
}

/// The deviation of `outcome` from what the C program computes, over all arrays of floats.
pub fn deviation(vsa: &Vsa, images: &[Image], outcome: &Outcome, native: &[Vec<u64>]) -> Deviation {
    let mut result = Deviation::default();
    for (k, (image, memory)) in images
        .iter()
        .zip(&outcome.memories)
        .enumerate()
        .take(vsa.arrays.len())
        .filter(|(k, _)| vsa.arrays[*k].ty.is_float() && !vsa.arrays[*k].home.is_temporary())
    {
        let ty = vsa.arrays[k].ty;
        let found = unpack(&memory[image.offset..image.offset + image.size], ty);
        for (is, c) in found.iter().zip(&native[k]).map(|(&is, &c)| (value::to_f64(is, ty), value::to_f64(c, ty))) {
            result.add(is, c);
        }
    }
    result
}

impl Deviation {
    /// Adds an element: its value `is`, and the C program's value `c`.
    pub fn add(&mut self, is: f64, c: f64) {
        if is == c || (is.is_nan() && c.is_nan()) {
            return;
        }
        let distance = if is.is_finite() && c.is_finite() { (is - c).abs() } else { f64::INFINITY };
        self.elements += 1;
        self.absolute = self.absolute.max(distance);
        if c != 0.0 {
            self.relative = self.relative.max(if distance.is_finite() { distance / c.abs() } else { distance });
        }
    }
}

/// `[i][j]` of an element by its position in row-major order.
fn subscripts(index: usize, dims: &[i64]) -> String {
    let mut rest = index;
    let mut parts: Vec<String> = dims
        .iter()
        .rev()
        .map(|&d| {
            let at = rest % d as usize;
            rest /= d as usize;
            format!("[{at}]")
        })
        .collect();
    parts.reverse();
    parts.concat()
}

/// A value for people.
fn show(bits: u64, ty: ScalarType) -> String {
    if ty.is_float() {
        format!("{:e}", value::to_f64(bits, ty))
    } else {
        value::to_integer(bits, ty).to_string()
    }
}
