//! Points of rectangular loop nests.

/// Next point of a loop nest with these trip counts; back to all zeros, and `false`, after the last one.
pub fn advance(at: &mut [i64], trips: impl DoubleEndedIterator<Item = i64> + ExactSizeIterator) -> bool {
    step(at, trips).is_some()
}

/// [`advance`], and the outermost coordinate that changed.
pub fn step(at: &mut [i64], trips: impl DoubleEndedIterator<Item = i64> + ExactSizeIterator) -> Option<usize> {
    for (d, (c, trip)) in at.iter_mut().zip(trips).enumerate().rev() {
        *c += 1;
        if *c < trip {
            return Some(d);
        }
        *c = 0;
    }
    None
}
