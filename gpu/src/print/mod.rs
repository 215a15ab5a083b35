//! What is written around a [`Warp`](crate::ir::Warp): [`kernel`] is the one text for CUDA, HIP and the CPU, `lanes.h` what it stands
//! on; [`shim`] runs it on the CPU; [`host`] and [`python`] run it on a GPU.

pub mod expression;
pub mod host;
mod names;
pub mod number;
pub mod kernel;
pub mod memory;
pub mod python;
pub mod shim;

use crate::ir::Array;
use crate::launches::Launches;
use scop::ScalarType;

/// The values of a warp, for all targets.
pub const LANES_H: &str = include_str!("lanes.h");

/// The name of a type in C++.
pub fn type_name(ty: ScalarType) -> String {
    match ty {
        ScalarType::Int { bits: 1, .. } => "bool".into(),
        ScalarType::Int { bits, signed: true } => format!("int{bits}_t"),
        ScalarType::Int { bits, signed: false } => format!("uint{bits}_t"),
        ScalarType::Float { exponent: 8, .. } => "float".into(),
        ScalarType::Float { .. } => "double".into(),
    }
}

/// A constant in C++.
pub fn literal(bits: u64, ty: ScalarType) -> String {
    let value = scop::value::to_integer(bits, ty);
    match ty {
        ScalarType::Int { bits: 1, .. } => (bits & 1 == 1).to_string(),
        ScalarType::Int { bits: 64, signed: true } if value == i128::from(i64::MIN) => {
            "(-9223372036854775807ll - 1)".into()
        }
        ScalarType::Int { bits: 32, signed: true } if value == i128::from(i32::MIN) => "(-2147483647 - 1)".into(),
        ScalarType::Int { bits: 64, signed: true } => format!("{value}ll"),
        ScalarType::Int { bits: 64, .. } => format!("{value}ull"),
        ScalarType::Int { bits: 32, signed: false } => format!("{value}u"),
        ScalarType::Int { bits: 32, .. } => value.to_string(),
        ScalarType::Int { .. } => format!("({}){value}", type_name(ty)),
        ScalarType::Float { .. } => {
            let x = scop::value::to_f64(bits, ty);
            let single = type_name(ty) == "float";
            match (x.is_nan(), x.is_infinite()) {
                (true, _) if single => "(0.0f / 0.0f)".into(),
                (true, _) => "(0.0 / 0.0)".into(),
                (_, true) => format!(
                    "({}1.0{} / 0.0{})",
                    if x < 0.0 { "-" } else { "" },
                    if single { "f" } else { "" },
                    if single { "f" } else { "" }
                ),
                _ if single => format!("{:?}f", x as f32),
                _ => format!("{x:?}"),
            }
        }
    }
}

/// The arrays that a kernel has as parameters, with their numbers.
pub fn parameters(arrays: &[Array]) -> impl Iterator<Item = (usize, &Array)> {
    arrays.iter().enumerate().filter(|(_, a)| a.is_used())
}

/// The arrays that the caller of the kernels passes, with their numbers.
pub fn of_caller(launches: &Launches) -> impl Iterator<Item = (usize, &Array)> {
    parameters(&launches.arrays).filter(|(_, a)| !a.scratch)
}

/// Elements of an array, at the greatest sizes.
pub fn elements(array: &Array) -> i64 {
    array.dims.iter().product()
}

/// All files of a kernel's directory, with their names. `quotes`: by statement, its line of C.
pub fn files(launches: &Launches, quotes: &[Option<String>]) -> Vec<(String, String)> {
    let file = |name: &str, text: String| (name.to_string(), text);
    vec![
        file("kernel.cu", kernel::text(launches, quotes)),
        file("lanes.h", LANES_H.into()),
        file("shim.cpp", shim::text(launches, "kernel.cu")),
        file("host.cu", host::text(launches)),
        file("kernel.py", python::kernel(launches)),
        file("test.py", python::test(launches)),
        file("README.md", python::readme(launches, quotes)),
    ]
}
