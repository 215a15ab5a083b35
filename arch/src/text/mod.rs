//! The printed form of a [`Vsa`]: for people to read, and to be parsed back.
//!
//! One item a line; `#` starts a comment. Forms are sums over counter names, `p0` and `p1`:
//!
//! ```text
//! vsa mm
//! space i 2 skew 1                      axis 0: name, PEs, cycles between neighbours; then axis 1
//! space j 3 skew 1
//! lanes 2
//! interval 1
//! tile i.tile 2                         counters, outermost first: of tiles, then of the waves of a visit
//! time k.time 2
//! array A: i16[7][9] word 8              then, where it shares an AXI port with an array above: port 0
//! nodes
//!   %4 a: i32 = cast %1  @ready 4 lat 0
//!   %8 past: i32 = past %9 hop (0, 0) waves 9  @ready 7 lat 0 by memory sync 6     or: by chain
//!   %9 acc: i32 = add %5, %8  @ready 8 lat 1
//! input 0 A[4*i.tile + 2*p0][2*k.time]  then, indented: ports, forward, reload, hull, bank, row, col, after
//! output 0 C[4*i.tile + 2*p0][p1]       then, indented: port, from, emit, hull, bank, row, col, slots, bound
//! ```
//!
//! Counters whose names are not unique plain words are written `t0`, `t1`, … by position. [`parse`] gives forms without
//! trailing zero coefficients, so `parse(&to_text(v)) == canonical(v)` for every Vsa that satisfies
//! [`crate::verify::structure`] and whose schedule is empty or complete.

mod lex;
mod parse;
mod print;

use crate::affine::Form;
use crate::ir::vsa::{Op, Vsa};
use frontend::scop::{BinaryOp, ScalarType, UnaryOp};

pub use parse::parse;
pub use print::to_text;

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
fn type_named(name: &str) -> Option<ScalarType> {
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

const UNARY: [(&str, UnaryOp); 4] = [("neg", UnaryOp::Neg), ("not", UnaryOp::Not), ("sqrt", UnaryOp::Sqrt), ("abs", UnaryOp::Abs)];

const BINARY: [(&str, BinaryOp); 16] = [
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
fn counter_names(vsa: &Vsa) -> Vec<String> {
    let position = |name: &str| name == "p0" || name == "p1" || name.strip_prefix('t').is_some_and(|d| d.chars().all(|c| c.is_ascii_digit()));
    let unique = |name: &str| vsa.counters.iter().filter(|c| c.name == name).count() == 1;
    let call = |(j, name): (usize, &String)| if lex::is_word(name) && !position(name) && unique(name) { name.clone() } else { format!("t{j}") };
    vsa.counters.iter().map(|c| &c.name).enumerate().map(call).collect()
}

/// The same Vsa, its forms without trailing zero coefficients.
pub fn canonical(vsa: &Vsa) -> Vsa {
    let mut vsa = vsa.clone();
    let trim = |f: &mut Form| {
        let used = f.counters.iter().rposition(|&c| c != 0).map_or(0, |last| last + 1);
        f.counters.truncate(used);
    };
    for node in &mut vsa.nodes {
        match &mut node.op {
            Op::Iter(form) => trim(form),
            Op::Guard(conditions) => conditions.iter_mut().for_each(|c| trim(&mut c.form)),
            _ => {}
        }
    }
    for g in &mut vsa.inputs {
        g.subscripts.iter_mut().chain(&mut g.hull.origin).chain([&mut g.row, &mut g.col]).for_each(trim);
    }
    for g in &mut vsa.outputs {
        g.subscripts.iter_mut().chain(&mut g.hull.origin).chain([&mut g.row, &mut g.col]).for_each(trim);
    }
    vsa
}
