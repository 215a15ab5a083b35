//! How types, operators and counters are called.

use crate::ir::vsa::Vsa;
use frontend::scop::{BinaryOp, ScalarType, UnaryOp};

/// `i32`, `u8`, `f32`, `bf16`, …; other float formats as `f<exponent>e<fraction>`.
pub fn type_name(ty: ScalarType) -> String {
    match ty {
        ScalarType::Int { bits, signed } => format!("{}{bits}", if signed { 'i' } else { 'u' }),
        ScalarType::Float { exponent, fraction } => match FLOATS.iter().find(|f| (f.1, f.2) == (exponent, fraction)) {
            Some((name, ..)) => name.to_string(),
            None => format!("f{exponent}e{fraction}"),
        },
    }
}

const FLOATS: [(&str, u32, u32); 4] = [("f16", 5, 10), ("bf16", 8, 7), ("f32", 8, 23), ("f64", 11, 52)];

/// Inverse of [`type_name`].
pub(super) fn type_named(name: &str) -> Option<ScalarType> {
    if let Some(&(_, exponent, fraction)) = FLOATS.iter().find(|f| f.0 == name) {
        return Some(ScalarType::Float { exponent, fraction });
    }
    if let Some((exponent, fraction)) = name.strip_prefix('f').and_then(|rest| rest.split_once('e')) {
        return Some(ScalarType::Float { exponent: exponent.parse().ok()?, fraction: fraction.parse().ok()? });
    }
    let signed = name.starts_with('i');
    let bits = name.strip_prefix(['i', 'u'])?.parse().ok()?;
    Some(ScalarType::Int { bits, signed })
}

pub(super) const UNARY: [(&str, UnaryOp); 4] = [("neg", UnaryOp::Neg), ("not", UnaryOp::Not), ("sqrt", UnaryOp::Sqrt), ("abs", UnaryOp::Abs)];

pub(super) const BINARY: [(&str, BinaryOp); 16] = [
    ("add", BinaryOp::Add),
    ("sub", BinaryOp::Sub),
    ("mul", BinaryOp::Mul),
    ("div", BinaryOp::Div),
    ("rem", BinaryOp::Rem),
    ("and", BinaryOp::And),
    ("or", BinaryOp::Or),
    ("xor", BinaryOp::Xor),
    ("shl", BinaryOp::Shl),
    ("shr", BinaryOp::Shr),
    ("eq", BinaryOp::Eq),
    ("ne", BinaryOp::Ne),
    ("lt", BinaryOp::Lt),
    ("le", BinaryOp::Le),
    ("min", BinaryOp::Min),
    ("max", BinaryOp::Max),
];

/// How counters are called in forms.
pub(super) fn counter_names(vsa: &Vsa) -> Vec<String> {
    let position = |name: &str| name == "p0" || name == "p1" || name.strip_prefix('t').is_some_and(|d| d.chars().all(|c| c.is_ascii_digit()));
    let unique = |name: &str| vsa.counters.iter().filter(|c| c.name == name).count() == 1;
    let call = |(j, name): (usize, &String)| if frontend::text::lex::is_word(name) && !position(name) && unique(name) { name.clone() } else { format!("t{j}") };
    vsa.counters.iter().map(|c| &c.name).enumerate().map(call).collect()
}
