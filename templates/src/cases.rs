//! Phase classes in hardware (`uniform::counters`): comparators that recognize the class, and constants chosen by it.

use rtl::{u, ModuleBuilder, Sig, Ty};

fn constant<'m>(m: &'m ModuleBuilder, value: i64, ty: Ty) -> Sig<'m> {
    m.lit_big(&[value as u64], ty)
}

/// `low <= count <= high`, for a counter with this trip count.
pub(crate) fn within<'m>(m: &'m ModuleBuilder, count: Sig<'m>, [low, high]: [i64; 2], trip: i64) -> Sig<'m> {
    let most = constant(m, high, count.ty());
    match (low <= 0, high + 1 >= trip) {
        _ if low > high => m.lit(0, u(1)),
        (true, true) => m.lit(1, u(1)),
        _ if low == high => count.eq_lit(low),
        (true, false) => count.le(most),
        (false, true) => count.ge(constant(m, low, count.ty())),
        (false, false) => count.ge(constant(m, low, count.ty())) & count.le(most),
    }
}

/// The signal of the class whose bit is set, the last one if none is.
pub(crate) fn of_case<'m>(m: &'m ModuleBuilder, cases: &[Sig<'m>], values: &[Sig<'m>]) -> Sig<'m> {
    let choices: Vec<_> = cases.iter().copied().zip(values.iter().copied()).collect();
    m.select(&choices, values[values.len() - 1])
}

/// The constant of the class whose bit is set, the last one if none is.
pub(crate) fn by_case<'m>(m: &'m ModuleBuilder, cases: &[Sig<'m>], values: &[i64], ty: Ty) -> Sig<'m> {
    let default = values.last().copied().unwrap_or(0);
    let choices: Vec<_> = cases
        .iter()
        .zip(values)
        .filter(|(_, v)| **v != default)
        .map(|(case, v)| (*case, constant(m, *v, ty)))
        .collect();
    m.select(&choices, constant(m, default, ty))
}
