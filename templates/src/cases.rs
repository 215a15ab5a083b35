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

/// The constant of the class whose bit is set, the last one if none is. At most one bit is set. Each bit of the constant is
/// a disjunction: a chain of multiplexers would be as deep as there are classes.
pub(crate) fn by_case<'m>(m: &'m ModuleBuilder, cases: &[Sig<'m>], values: &[i64], ty: Ty) -> Sig<'m> {
    let default = values.last().copied().unwrap_or(0);
    let (other, mask) = (constant(m, default, ty), if ty.w < 64 { (1 << ty.w) - 1 } else { -1i64 });
    let apart = || cases.iter().zip(values).map(|(case, v)| (*case, (*v ^ default) & mask)).filter(|(_, v)| *v != 0);
    let Some((_, first)) = apart().next() else { return other };
    let any = |bit: i64| m.any(&apart().filter(|(_, v)| v >> bit & 1 == 1).map(|(case, _)| case).collect::<Vec<_>>());
    if apart().all(|(_, v)| v == first) {
        return m.mux(any(first.trailing_zeros().into()), constant(m, default ^ first, ty), other);
    }
    // Bits behind the 64 of a number are those of its sign.
    let bit = |k: u32| {
        let (k, none) = (k.min(63), apart().all(|(_, v)| v >> k.min(63) & 1 == 0));
        match (none, default >> k & 1) {
            (true, bit) => m.lit(bit, u(1)),
            (false, 0) => any(k.into()),
            (false, _) => !any(k.into()),
        }
    };
    m.concat(&(0..ty.w).rev().map(bit).collect::<Vec<_>>()).to(ty)
}

/// Entry `number` of a table, modulo the type's width: multiplexers over the bits of the number, of which six are one LUT
/// per bit of the entries. Behind the last entry it is any.
pub(crate) fn table<'m>(m: &'m ModuleBuilder, number: Sig<'m>, values: &[i64], ty: Ty) -> Sig<'m> {
    let values: Vec<i64> = values.iter().map(|v| modulo(*v, ty)).collect();
    entry(m, number, number.w(), &values, ty)
}

/// A number below `count` is one of some.
pub(crate) fn among<'m>(m: &'m ModuleBuilder, number: Sig<'m>, count: usize, some: &[usize]) -> Sig<'m> {
    let is: Vec<i64> = (0..count).map(|k| i64::from(some.contains(&k))).collect();
    table(m, number, &is, u(1))
}

/// Groups that differ in nothing but the functions of a merged array that they serve: one of each kind, with the functions of
/// all of it.
pub(crate) fn alike<K: PartialEq>(
    groups: &[usize],
    key: impl Fn(usize) -> K,
    functions: impl Fn(usize) -> Vec<usize>,
) -> Vec<(usize, Vec<usize>)> {
    let mut all: Vec<(usize, Vec<usize>)> = vec![];
    for &g in groups {
        match all.iter_mut().find(|(other, _)| key(*other) == key(g)) {
            Some((_, together)) => together.extend(functions(g)),
            None => all.push((g, functions(g))),
        }
    }
    all
}

/// The entry that the lowest `bits` of the number tell.
fn entry<'m>(m: &'m ModuleBuilder, number: Sig<'m>, bits: u32, values: &[i64], ty: Ty) -> Sig<'m> {
    if bits == 0 || values.iter().all(|v| *v == values[0]) {
        return m.lit(values[0], ty);
    }
    let half = values.len().min(1 << (bits - 1).min(62));
    let (low, high) = values.split_at(half);
    let chosen = |values: &[i64]| entry(m, number, bits - 1, values, ty);
    if low.starts_with(high) {
        return chosen(low);
    }
    m.mux(number.bit(bits - 1), chosen(high), chosen(low))
}

/// A number modulo the type's width, as a value of the type.
pub(crate) fn modulo(value: i64, ty: Ty) -> i64 {
    let above = 64 - ty.w.min(64);
    if ty.signed || above == 0 {
        value << above >> above
    } else {
        ((value as u64) << above >> above) as i64
    }
}
