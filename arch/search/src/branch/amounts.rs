//! Shares of [`Resources`].

use cost::board::Resources;

/// The fraction `by / of`, rounded towards zero.
pub(super) fn scaled(r: &Resources, by: i64, of: i64) -> Resources {
    r.map(|_, n| n * by / of)
}

/// Linear interpolation: `part / whole` of the way from one to the other.
pub(super) fn between(from: &Resources, to: &Resources, part: i64, whole: i64) -> Resources {
    *from + scaled(&(*to - *from), part, whole)
}

/// This share of every resource.
pub fn share_of(r: &Resources, by: f64) -> Resources {
    r.map(|_, n| (n as f64 * by) as i64)
}

/// The share of the scarcest resource; at most 1 if it fits.
pub fn share(need: &Resources, have: &Resources) -> f64 {
    let shares = need.counts().into_iter().zip(have.counts()).map(|(n, all)| n as f64 / all.max(1) as f64);
    shares.fold(0.0, f64::max)
}
