//! Spelling of types and operators.

use crate::{BinaryOp, ScalarType};
use std::fmt::{self, Display, Formatter};

/// Formats of floating-point numbers with a name of their own: name, bits of exponent and fraction.
const FLOATS: [(&str, u32, u32); 4] = [("f16", 5, 10), ("bf16", 8, 7), ("f32", 8, 23), ("f64", 11, 52)];

/// `bool`, `i32`, `u8`, `f32`, `bf16`, …; other formats of floating-point numbers as `f<exponent>e<fraction>`.
impl Display for ScalarType {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match *self {
            ScalarType::BOOL => write!(f, "bool"),
            ScalarType::Int { bits, signed } => write!(f, "{}{bits}", if signed { "i" } else { "u" }),
            ScalarType::Float { exponent, fraction } => {
                match FLOATS.iter().find(|x| (x.1, x.2) == (exponent, fraction)) {
                    Some((name, ..)) => write!(f, "{name}"),
                    None => write!(f, "f{exponent}e{fraction}"),
                }
            }
        }
    }
}

/// A type by the name its `Display` gives it.
pub fn type_named(name: &str) -> Option<ScalarType> {
    if name == "bool" {
        return Some(ScalarType::BOOL);
    }
    if let Some(&(_, exponent, fraction)) = FLOATS.iter().find(|x| x.0 == name) {
        return Some(ScalarType::Float { exponent, fraction });
    }
    if let Some((exponent, fraction)) = name.strip_prefix('f').and_then(|rest| rest.split_once('e')) {
        return Some(ScalarType::Float { exponent: exponent.parse().ok()?, fraction: fraction.parse().ok()? });
    }
    let signed = name.starts_with('i');
    let bits = name.strip_prefix(['i', 'u'])?.parse().ok().filter(|b| (1..=64).contains(b))?;
    Some(ScalarType::Int { bits, signed })
}

pub(super) const SYMBOLS: [(&str, BinaryOp); 14] = [
    ("+", BinaryOp::Add),
    ("-", BinaryOp::Sub),
    ("*", BinaryOp::Mul),
    ("/", BinaryOp::Div),
    ("%", BinaryOp::Rem),
    ("&", BinaryOp::And),
    ("|", BinaryOp::Or),
    ("^", BinaryOp::Xor),
    ("<<", BinaryOp::Shl),
    (">>", BinaryOp::Shr),
    ("==", BinaryOp::Eq),
    ("!=", BinaryOp::Ne),
    ("<", BinaryOp::Lt),
    ("<=", BinaryOp::Le),
];
