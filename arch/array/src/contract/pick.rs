//! The elements of a bus word that a feeder's bank stores: those that some wave reads.
//!
//! Waves read the elements `col` of a row. So they read the same few places of every word: `col` modulo the elements
//! per word, counted from the place where the row begins in its first word. That place is a constant of the PE, so the
//! selection is wiring. Example: `col = 2 * k` reads the even places of a word only.

use uniform::affine::Form;
use uniform::counters::Counter;

/// Places in a bus word that `col` takes, as bits. For several ports: those of the first port.
pub fn starts(counters: &[Counter], col: &Form, word: i64) -> u128 {
    let mut places = 1 << col.constant.rem_euclid(word);
    for (&c, counter) in col.counters.iter().zip(counters) {
        let (step, before) = (c.rem_euclid(word), places);
        for t in 1..if step == 0 { 0 } else { counter.trip.min(word) } {
            places |= rotated(before, t * step, word);
        }
    }
    places
}

/// Places that a bank with this many ports stores.
pub fn stored(starts: u128, ports: u32, word: i64) -> u128 {
    (0..i64::from(ports)).fold(0, |all, k| all | rotated(starts, k, word))
}

/// Places of a port that is so many elements behind the first one.
pub fn behind(starts: u128, ports: u32, word: i64) -> u128 {
    rotated(starts, ports.into(), word)
}

/// No two of this many ports ever read the same place.
pub fn are_apart(starts: u128, ports: u32, word: i64) -> bool {
    stored(starts, ports, word).count_ones() == starts.count_ones() * ports
}

/// The set bits, lowest first.
pub fn list(places: u128) -> Vec<i64> {
    (0..128).filter(|e| places >> e & 1 == 1).collect()
}

/// The places rotated by `by` within the word.
fn rotated(places: u128, by: i64, word: i64) -> u128 {
    let by = by.rem_euclid(word);
    let mask = u128::MAX >> (128 - word);
    if by == 0 {
        places
    } else {
        (places << by | places >> (word - by)) & mask
    }
}
