//! How types and operators are spelled.

use crate::scop::{BinaryOp, ScalarType};
use std::fmt::{self, Display, Formatter};

impl Display for ScalarType {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match *self {
            ScalarType::BOOL => write!(f, "bool"),
            ScalarType::Int { bits, signed } => write!(f, "{}{bits}", if signed { "i" } else { "u" }),
            ScalarType::Float { exponent: 8, fraction: 7 } => write!(f, "bf16"),
            ScalarType::Float { exponent, fraction } if matches!((exponent, fraction), (5, 10) | (8, 23) | (11, 52)) => write!(f, "f{}", self.bits()),
            ScalarType::Float { exponent, fraction } => write!(f, "f{exponent}_{fraction}"),
        }
    }
}

/// A type by the name its `Display` gives it.
pub(super) fn type_named(name: &str) -> Option<ScalarType> {
    let float = |exponent, fraction| Some(ScalarType::Float { exponent, fraction });
    match name {
        "bool" => return Some(ScalarType::BOOL),
        "bf16" => return float(8, 7),
        "f16" => return float(5, 10),
        "f32" => return float(8, 23),
        "f64" => return float(11, 52),
        _ => {}
    }
    if let Some((exponent, fraction)) = name.strip_prefix('f').and_then(|rest| rest.split_once('_')) {
        return float(exponent.parse().ok()?, fraction.parse().ok()?);
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
