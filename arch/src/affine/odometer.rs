//! Points of rectangular loop nests.

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
