//! Numbers that follow from the sizes: one text for C++ and Python.

use super::expression::{atom, over, scalar};
use crate::extent::Number;
use crate::form::Form;
use crate::ir::{Array, Warp};
use uniform::sizes::Formula;

/// A number over the names of the sizes.
pub fn number(number: &Number, sizes: &[String]) -> String {
    formula(&number.formula, sizes)
}

/// A number in the text of a kernel.
pub fn in_kernel(warp: &Warp, number: &Number) -> String {
    formula(&number.formula, &size_names(warp))
}

/// The names of a warp's sizes.
pub fn size_names(warp: &Warp) -> Vec<String> {
    warp.scalars[..warp.sizes].iter().map(|s| s.name.clone()).collect()
}

fn formula(f: &Formula, sizes: &[String]) -> String {
    let text = |x: &Formula| formula(x, sizes);
    let call = |name: &str, x: &[Formula; 2]| format!("{name}({}, {})", text(&x[0]), text(&x[1]));
    match f {
        Formula::Const(c) => c.to_string(),
        Formula::Size(k) => sizes[*k as usize].clone(),
        Formula::Sum(x) => match &x[1] {
            Formula::Const(c) if *c < 0 => format!("{} - {}", text(&x[0]), -c),
            Formula::Product(y) if y[0] == Formula::Const(-1) => format!("{} - {}", text(&x[0]), atom(&text(&y[1]))),
            other => format!("{} + {}", text(&x[0]), text(other)),
        },
        Formula::Product(x) => format!("{} * {}", atom(&text(&x[0])), atom(&text(&x[1]))),
        Formula::Floor(x, by) => format!("quotient({}, {by})", text(x)),
        Formula::Least(x) => call("least", x),
        Formula::Greatest(x) => call("greatest", x),
        Formula::Parameter { .. } | Formula::OfFunction(_) | Formula::ByCase(_) => {
            unreachable!("numbers of a kernel follow from its sizes alone")
        }
    }
}

/// The elements of an array, over the names of the sizes.
pub fn elements(array: &Array, sizes: &[String]) -> String {
    product(&array.extents, sizes)
}

/// Whether the sizes are those of a kernel: a condition in C++.
pub fn remainders(warp: &Warp) -> String {
    warp.remainders().map(|(name, by, rest)| format!("{name} % {by} == {rest}")).collect::<Vec<_>>().join(" && ")
}

/// Bytes of an array.
pub fn bytes(array: &Array, sizes: &[String]) -> String {
    let each = i64::from(array.ty.bytes());
    match array.extents.iter().all(Form::is_constant) {
        true => (super::elements(array) * each).to_string(),
        false => format!("{each}ll * {}", elements(array, sizes)),
    }
}

/// The extents of an array that are less than 1 at some sizes.
pub fn open_extents(array: &Array, sizes: &[String]) -> Vec<String> {
    // The least sizes decide where none lowers an extent.
    let least = |e: &Form| e.constant + e.scalars.values().sum::<i64>();
    let open = |e: &&Form| !e.is_constant() && (least(e) < 1 || e.scalars.values().any(|c| *c < 0));
    array.extents.iter().filter(open).map(|e| over(e, &|id| &sizes[id.index()])).collect()
}

fn product(extents: &[Form], sizes: &[String]) -> String {
    let constant: i64 = extents.iter().filter(|e| e.is_constant()).map(|e| e.constant).product();
    let open: Vec<String> =
        extents.iter().filter(|e| !e.is_constant()).map(|e| atom(&over(e, &|id| &sizes[id.index()]))).collect();
    match (constant, open.is_empty()) {
        (c, true) => c.to_string(),
        (1, false) => open.join(" * "),
        (c, false) => format!("{} * {c}", open.join(" * ")),
    }
}

/// The number of elements from one value of a subscript to the next.
pub fn stride(warp: &Warp, array: usize, dim: usize) -> String {
    product(&warp.arrays[array].extents[dim + 1..], &size_names(warp))
}

/// The greatest value of a subscript, less `by`.
pub fn below(warp: &Warp, array: usize, dim: usize, by: i64) -> String {
    scalar(warp, &warp.arrays[array].extents[dim].plus(-by))
}
