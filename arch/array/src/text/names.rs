//! Names of operators and counters in the text; types as [`scop::text`] spells them.

use crate::vsa::Vsa;
use scop::{BinaryOp, UnaryOp};

pub(super) const UNARY: [(&str, UnaryOp); 4] =
    [("neg", UnaryOp::Neg), ("not", UnaryOp::Not), ("sqrt", UnaryOp::Sqrt), ("abs", UnaryOp::Abs)];

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
    let position = |name: &str| {
        name == "p0" || name == "p1" || name.strip_prefix('t').is_some_and(|d| d.chars().all(|c| c.is_ascii_digit()))
    };
    let unique = |name: &str| vsa.counters.iter().filter(|c| c.name == name).count() == 1;
    let call = |(j, name): (usize, &String)| {
        if scop::text::lex::is_word(name) && !position(name) && unique(name) {
            name.clone()
        } else {
            format!("t{j}")
        }
    };
    vsa.counters.iter().map(|c| &c.name).enumerate().map(call).collect()
}
