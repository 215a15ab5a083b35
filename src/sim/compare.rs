//! Every element of every array, and the guard bytes around them, against the golden model.

use super::{Image, Outcome};
use crate::data::unpack;
use arch::vsa::Vsa;
use frontend::scop::ScalarType;
use frontend::value;

/// Where simulation and golden model differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Elements compared.
    pub elements: usize,
    /// Elements that differ, and guard bytes that changed.
    pub mismatches: usize,
    /// The first few, as sentences.
    pub examples: Vec<String>,
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

/// Compares the memories of `outcome` with `expected` (elements per array of the VSA). NaNs count as equal: C leaves
/// their payload open.
pub fn compare(vsa: &Vsa, images: &[Image], outcome: &Outcome, expected: &[Vec<u64>]) -> Comparison {
    let mut result = Comparison::default();
    for (k, (image, memory)) in images.iter().zip(&outcome.memories).enumerate() {
        let array = &vsa.arrays[k];
        let found = unpack(&memory[image.offset..image.offset + image.size], array.ty);
        result.elements += found.len();
        for (index, (&is, &wanted)) in found.iter().zip(&expected[k]).enumerate() {
            let same = is == wanted || (value::is_nan(is, array.ty) && value::is_nan(wanted, array.ty));
            if !same {
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

/// `[i][j]` of an element by its position in row-major order.
fn subscripts(index: usize, dims: &[i64]) -> String {
    let mut rest = index;
    let mut parts: Vec<String> = dims.iter().rev().map(|&d| {
        let at = rest % d as usize;
        rest /= d as usize;
        format!("[{at}]")
    }).collect();
    parts.reverse();
    parts.concat()
}

/// A value for people.
fn show(bits: u64, ty: ScalarType) -> String {
    if ty.is_float() { format!("{:e}", value::to_f64(bits, ty)) } else { value::to_integer(bits, ty).to_string() }
}
