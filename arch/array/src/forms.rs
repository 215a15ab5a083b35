//! Forms over the counters and PEs of a [`Vsa`]: their ranges, sums, and what of them matters there.

use crate::vsa::{Footprint, Vsa};
use uniform::affine::{interval, Form};
use uniform::counters::Counter;

/// Least and greatest value of a form over all counters and the PEs of the box `[first, last]`.
pub fn range(vsa: &Vsa, form: &Form, first: [i64; 2], last: [i64; 2]) -> (i128, i128) {
    let places = || (0..2).map(|a| (form.space[a], first[a], last[a]));
    let within = |time: &Vec<(i64, i64)>| {
        interval(form.constant, form.counters.iter().zip(time).map(|(&c, &(low, high))| (c, low, high)).chain(places()))
    };
    let all = vsa.around();
    all.iter().map(within).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default()
}

/// Range over all PEs of the array.
pub fn full_range(vsa: &Vsa, form: &Form) -> (i128, i128) {
    range(vsa, form, [0, 0], [vsa.extent[0] - 1, vsa.extent[1] - 1])
}

/// A form that is nothing but bits of different counters, as `4 * i + j` with `j` of 0..3: from the lowest bit on, the
/// counters and their factors. `None`: it is something else.
pub fn digits(counters: &[Counter], form: &Form) -> Option<Vec<(usize, i64)>> {
    let terms = form.counters.iter().zip(counters).enumerate().filter(|(_, (c, counter))| **c != 0 && counter.trip > 1);
    let mut all: Vec<(usize, i64)> = terms.map(|(j, (c, _))| (j, *c)).collect();
    all.sort_by_key(|t| t.1);
    let is_bits = |t: &(usize, i64)| {
        t.1 > 0 && t.1.count_ones() == 1 && t.1 < 1 << 40 && counters[t.0].kind != uniform::system::Kind::Parameter
    };
    let end = |t: &(usize, i64)| t.1.checked_mul(counters[t.0].trip);
    let apart = |pair: &[(usize, i64)]| end(&pair[0]).is_some_and(|end| end <= pair[1].1);
    (form.constant == 0 && !all.is_empty() && all.iter().all(is_bits) && all.windows(2).all(apart)).then_some(all)
}

/// The same of an equality, and what its digits are together.
pub fn digits_equal(counters: &[Counter], form: &Form) -> Option<(Vec<(usize, i64)>, i64)> {
    let is_negative = form.counters.iter().any(|c| *c < 0);
    let sign = if is_negative { -1 } else { 1 };
    let left = Form { constant: 0, counters: form.counters.iter().map(|c| sign * c).collect(), space: [0, 0] };
    let value = -sign * form.constant;
    digits(counters, &left).filter(|_| value >= 0).map(|all| (all, value))
}

/// `scale * a + b`, with one coefficient per counter.
pub fn combine(vsa: &Vsa, scale: i64, a: &Form, b: &Form) -> Form {
    let at = |f: &Form, j: usize| f.counters.get(j).copied().unwrap_or(0);
    Form {
        constant: scale * a.constant + b.constant,
        counters: (0..vsa.counters.len()).map(|j| scale * at(a, j) + at(b, j)).collect(),
        space: [0, 1].map(|x| scale * a.space[x] + b.space[x]),
    }
}

/// Without the coefficients that never matter.
pub fn normal(vsa: &Vsa, form: &Form) -> Form {
    let mut form = combine(vsa, 1, form, &Form::default());
    for (c, counter) in form.counters.iter_mut().zip(&vsa.counters) {
        if counter.trip == 1 {
            *c = 0;
        }
    }
    for a in 0..2 {
        if vsa.extent[a] == 1 {
            form.space[a] = 0;
        }
    }
    form
}

/// Element that port `port` asks for along dimension `d`, in the footprint's local coordinates.
pub fn local(vsa: &Vsa, subscripts: &[Form], port: &[i64], footprint: &Footprint, d: usize) -> Form {
    let mut form = combine(vsa, -1, &footprint.origin[d], &subscripts[d]);
    form.constant += port[d];
    normal(vsa, &form)
}
