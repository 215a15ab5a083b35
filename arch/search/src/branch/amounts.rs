//! Sums, multiples and shares of [`Resources`].

use cost::board::Resources;

fn each(r: &Resources, of: impl Fn(i64) -> i64) -> Resources {
    Resources { lut: of(r.lut), ff: of(r.ff), dsp: of(r.dsp), bram36: of(r.bram36), uram: of(r.uram) }
}

fn both(a: &Resources, b: &Resources, of: impl Fn(i64, i64) -> i64) -> Resources {
    Resources {
        lut: of(a.lut, b.lut),
        ff: of(a.ff, b.ff),
        dsp: of(a.dsp, b.dsp),
        bram36: of(a.bram36, b.bram36),
        uram: of(a.uram, b.uram),
    }
}

pub(super) fn add(a: &Resources, b: &Resources) -> Resources {
    both(a, b, |a, b| a + b)
}

pub(super) fn minus(a: &Resources, b: &Resources) -> Resources {
    both(a, b, |a, b| a - b)
}

/// The smaller number of each resource.
pub(super) fn least_of(a: &Resources, b: &Resources) -> Resources {
    both(a, b, i64::min)
}

pub(super) fn times(r: &Resources, n: i64) -> Resources {
    each(r, |x| x * n)
}

/// The fraction `by / of`, rounded towards zero.
pub(super) fn scaled(r: &Resources, by: i64, of: i64) -> Resources {
    each(r, |x| x * by / of)
}

/// Linear interpolation: `part / whole` of the way from one to the other.
pub(super) fn between(from: &Resources, to: &Resources, part: i64, whole: i64) -> Resources {
    add(from, &scaled(&minus(to, from), part, whole))
}

/// This share of every resource.
pub fn share_of(r: &Resources, by: f64) -> Resources {
    each(r, |x| (x as f64 * by) as i64)
}

/// The share of the scarcest resource; at most 1 if it fits.
pub fn share(need: &Resources, have: &Resources) -> f64 {
    let of = |n: i64, all: i64| n as f64 / all.max(1) as f64;
    [
        of(need.lut, have.lut),
        of(need.ff, have.ff),
        of(need.dsp, have.dsp),
        of(need.bram36, have.bram36),
        of(need.uram, have.uram),
    ]
    .into_iter()
    .fold(0.0, f64::max)
}
