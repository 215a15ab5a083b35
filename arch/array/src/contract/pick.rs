//! Which elements of the bus words a feeder's bank stores: those that some wave reads, and no others.
//!
//! In any word of a bank's row, the elements that waves ask for are at the same few places, counted from where the row
//! begins in its first word: `col` modulo the word. Which elements of the bus these are differs from place to place,
//! but is a constant there: wiring.

use uniform::affine::Form;
use uniform::counters::Counter;

/// Places in a bus word, as bits, that `col` takes; of several ports the first one's.
pub fn starts(counters: &[Counter], col: &Form, word: i64) -> u128 {
    let mut places = 1 << col.constant.rem_euclid(word);
    for (&c, counter) in col.counters.iter().zip(counters) {
        let (step, before) = (c.rem_euclid(word), places);
        for t in 1..if step == 0 { 0 } else { counter.trip.min(word) } {
            places |= turned(before, t * step, word);
        }
    }
    places
}

/// Places that a bank with so many ports stores.
pub fn kept(starts: u128, ports: u32, word: i64) -> u128 {
    (0..i64::from(ports)).fold(0, |all, k| all | turned(starts, k, word))
}

/// The set bits, lowest first.
pub fn list(places: u128) -> Vec<i64> {
    (0..128).filter(|e| places >> e & 1 == 1).collect()
}

/// All places `by` further on in the word.
fn turned(places: u128, by: i64, word: i64) -> u128 {
    let by = by.rem_euclid(word);
    let mask = u128::MAX >> (128 - word);
    if by == 0 {
        places
    } else {
        (places << by | places >> (word - by)) & mask
    }
}
