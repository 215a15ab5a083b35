//! [`Launches`]: the kernels of a program, and the order in which a stream runs them.
//!
//! A program that one array executes is one kernel. A program in *phases* is one launch for each phase, and equal phases
//! share a kernel. Values pass between phases through the device's memory, those of local arrays in *scratch* arrays,
//! which the host allocates.
//!
//! **Invariant.** An array is passed in one way to all kernels.

use crate::arrange::Refusal;
use crate::form::{Form, Scalar};
use crate::ir::{Array, Op, Passing, Warp};
use scop::{Binding, Scop};

#[derive(Clone, Debug)]
pub struct Launches {
    pub name: String,
    /// Each with a name of its own.
    pub kernels: Vec<Warp>,
    /// The launches of the phases, one after the other.
    pub order: Vec<Launch>,
    /// As the host gets them.
    pub arrays: Vec<Array>,
    pub sizes: Vec<Size>,
}

/// A phase: its kernel, and the one at sizes at which rows of arrays are whole words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    pub kernel: usize,
    pub words: Option<usize>,
}

/// A size at run time: an argument of the host, and of all kernels.
#[derive(Clone, Debug)]
pub struct Size {
    /// In the emitted text.
    pub name: String,
    /// In the C program.
    pub source: String,
    pub most: i64,
    /// The array before which it stands among the parameters of the C function.
    pub before: usize,
}

/// A parameter of the host's function.
pub enum Parameter<'a> {
    Size(&'a Size),
    Array(usize, &'a Array),
}

impl Launches {
    /// # Errors
    /// A phase reads a local array that no phase before has stored to.
    pub fn new(phases: Vec<(Warp, Option<Warp>)>, scop: &Scop) -> Result<Launches, Refusal> {
        let name = phases.first().map_or(String::new(), |p| p.0.name.clone());
        let (mut kernels, mut order): (Vec<Warp>, Vec<Launch>) = (vec![], vec![]);
        let mut number = |warp: Warp| match kernels.iter().position(|k| *k == warp) {
            Some(number) => number,
            None => {
                kernels.push(warp);
                kernels.len() - 1
            }
        };
        for (warp, words) in phases {
            order.push(Launch { kernel: number(warp), words: words.map(&mut number) });
        }
        let count = kernels.first().map_or(0, |w| w.arrays.len());
        let arrays = (0..count).map(|k| joined(&kernels, k)).collect::<Vec<Array>>();
        for (k, array) in arrays.iter().enumerate() {
            if array.passing == Passing::Pointer {
                kernels.iter_mut().for_each(|warp| by_address(warp, k));
            }
            let mut stored = false;
            for warp in order.iter().map(|l| &kernels[l.kernel]).filter(|_| array.scratch) {
                if warp.arrays[k].read && !stored {
                    let why = format!("`{}` is read where the region has not written it", array.source);
                    return Err(Refusal::new(why));
                }
                stored |= warp.arrays[k].written;
            }
        }
        let words: Vec<(usize, usize)> = order.iter().filter_map(|l| Some((l.words?, l.kernel))).collect();
        let of = |k: usize| words.iter().find(|w| w.0 == k).map(|w| w.1);
        if kernels.len() > words.len() + 1 {
            let phase = |k: usize| of(k).unwrap_or(k);
            kernels.iter_mut().enumerate().for_each(|(k, warp)| warp.name = format!("{name}_phase_{}", phase(k)));
        }
        kernels.iter_mut().enumerate().filter(|(k, _)| of(*k).is_some()).for_each(|(_, warp)| warp.name += "_words");
        let scalars = kernels.first().map_or(&[][..], |w| &w.scalars[..w.sizes]);
        let sizes = scalars.iter().zip(&scop.sizes).map(|(scalar, size)| size_of(scalar, size, scop)).collect();
        Ok(Launches { name, kernels, order, arrays, sizes })
    }

    /// The names of the sizes.
    pub fn size_names(&self) -> Vec<String> {
        self.sizes.iter().map(|s| s.name.clone()).collect()
    }

    /// What the caller of the kernels passes, in the order of the C function.
    pub fn parameters(&self) -> Vec<Parameter<'_>> {
        let mut all = vec![];
        for (k, array) in self.arrays.iter().enumerate() {
            all.extend(self.sizes.iter().filter(|s| s.before == k).map(Parameter::Size));
            if array.is_used() && !array.scratch {
                all.push(Parameter::Array(k, array));
            }
        }
        all.extend(self.sizes.iter().filter(|s| s.before >= self.arrays.len()).map(Parameter::Size));
        all
    }

    /// The kernel of each phase.
    pub fn phases(&self) -> impl Iterator<Item = &Warp> {
        self.order.iter().map(|l| &self.kernels[l.kernel])
    }
}

fn size_of(scalar: &Scalar, size: &scop::Size, scop: &Scop) -> Size {
    let behind = |a: &scop::Array| match a.binding {
        Binding::Parameter(position) | Binding::Value(position) => position > size.parameter,
        _ => true,
    };
    let before = scop.arrays.iter().position(behind).unwrap_or(scop.arrays.len());
    Size { name: scalar.name.clone(), source: size.name.clone(), most: scalar.hi, before }
}

/// An array as the host passes it: by its address if a kernel needs it, or stores to it.
fn joined(kernels: &[Warp], k: usize) -> Array {
    let all = || kernels.iter().map(|w| &w.arrays[k]);
    let written = all().any(|a| a.written);
    let used: Vec<Passing> = all().filter(|a| a.read || a.written).map(|a| a.passing).collect();
    let argument = !written && !used.is_empty() && used.iter().all(|p| *p == Passing::Argument);
    let passing = match kernels[0].arrays[k].passing {
        Passing::Value => Passing::Value,
        _ if argument => Passing::Argument,
        _ if used.is_empty() => Passing::Unused,
        _ => Passing::Pointer,
    };
    Array { read: all().any(|a| a.read), written, passing, copied: false, ..kernels[0].arrays[k].clone() }
}

/// Passes an array by its address that was a kernel argument.
fn by_address(warp: &mut Warp, k: usize) {
    if warp.arrays[k].passing != Passing::Argument {
        return;
    }
    warp.arrays[k].passing = Passing::Pointer;
    // A kernel argument has constant extents.
    let dims = warp.arrays[k].dims.clone();
    for node in &mut warp.nodes {
        let Op::Argument { array, element } = node.op else { continue };
        if array == k {
            let mut rest = element;
            let mut at: Vec<Form> = vec![];
            for extent in dims.iter().rev() {
                at.insert(0, Form::constant(rest % extent));
                rest /= extent;
            }
            node.op = Op::Load { array, at, each: 1 };
        }
    }
}
