//! Points of rectangular loop nests, and values that are kept up to date from one to the next.

/// Next point of a loop nest with these trip counts; back to all zeros, and `false`, after the last one.
pub fn advance(at: &mut [i64], trips: impl DoubleEndedIterator<Item = i64> + ExactSizeIterator) -> bool {
    for (c, trip) in at.iter_mut().zip(trips).rev() {
        *c += 1;
        if *c < trip {
            return true;
        }
        *c = 0;
    }
    false
}

/// Change of `Σ steps[j] * counter_j` when counter `j` counts up and all inner ones return to zero; modulo 2^64.
pub fn carries(steps: &[i64], trips: &[i64]) -> Vec<i64> {
    let mut back = 0i64;
    let mut out = vec![0; steps.len()];
    for j in (0..steps.len()).rev() {
        out[j] = steps[j].wrapping_sub(back);
        back = back.wrapping_add(steps[j].wrapping_mul(trips[j] - 1));
    }
    out
}
