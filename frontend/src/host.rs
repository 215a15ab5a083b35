//! Functions of the C library that only the host computes, of constants and of scalars passed by value.

use crate::literal::{F32, F64};
use crate::scop::{Scop, ScalarType};
use crate::{interp, value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostFunction {
    Exp,
    Log,
    Pow,
    Sin,
    Cos,
    Tan,
    Tanh,
}

/// Their names for `double`; those for `float` end with an `f`.
const NAMES: [(&str, HostFunction); 7] = [
    ("exp", HostFunction::Exp),
    ("log", HostFunction::Log),
    ("pow", HostFunction::Pow),
    ("sin", HostFunction::Sin),
    ("cos", HostFunction::Cos),
    ("tan", HostFunction::Tan),
    ("tanh", HostFunction::Tanh),
];

impl HostFunction {
    /// The function of this name in C, and its type.
    pub fn named(name: &str) -> Option<(HostFunction, ScalarType)> {
        let of = |name: &str| NAMES.iter().find(|n| n.0 == name).map(|n| n.1);
        of(name).map(|f| (f, F64)).or_else(|| of(name.strip_suffix('f')?).map(|f| (f, F32)))
    }
    /// Its name in C for this type.
    pub fn name(self, ty: ScalarType) -> String {
        let name = NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0);
        format!("{name}{}", if ty == F32 { "f" } else { "" })
    }
    pub fn arguments(self) -> usize {
        if self == HostFunction::Pow { 2 } else { 1 }
    }
    /// Its value by the C library that this program runs on, the one that the C program runs on, too.
    pub fn eval(self, arguments: &[u64], ty: ScalarType) -> u64 {
        let argument = |k: usize| arguments.get(k).copied().unwrap_or(0);
        if ty == F32 {
            let (x, y) = (f32::from_bits(argument(0) as u32), f32::from_bits(argument(1) as u32));
            let result = match self {
                HostFunction::Exp => x.exp(),
                HostFunction::Log => x.ln(),
                HostFunction::Pow => x.powf(y),
                HostFunction::Sin => x.sin(),
                HostFunction::Cos => x.cos(),
                HostFunction::Tan => x.tan(),
                HostFunction::Tanh => x.tanh(),
            };
            return value::canonical(u64::from(result.to_bits()), ty);
        }
        let (x, y) = (f64::from_bits(argument(0)), f64::from_bits(argument(1)));
        let result = match self {
            HostFunction::Exp => x.exp(),
            HostFunction::Log => x.ln(),
            HostFunction::Pow => x.powf(y),
            HostFunction::Sin => x.sin(),
            HostFunction::Cos => x.cos(),
            HostFunction::Tan => x.tan(),
            HostFunction::Tanh => x.tanh(),
        };
        value::canonical(result.to_bits(), ty)
    }
}

/// Gives the scalars that the host computes their values; `memory` is that of the arrays.
///
/// # Errors
/// A scalar that they follow from has no value.
pub fn compute(scop: &Scop, memory: &mut [Vec<u64>]) -> Result<(), String> {
    for s in &scop.host {
        let operand = |a: &crate::scop::Access| memory.get(a.array.index()).and_then(|m| m.first().copied());
        let reads: Option<Vec<u64>> = s.reads.iter().map(operand).collect();
        let result = interp::eval(&s.rhs, &reads.ok_or("a scalar passed by value has no value")?, &[]);
        *memory.get_mut(s.write.array.index()).ok_or("the memory does not fit the scop")? = vec![result];
    }
    Ok(())
}
