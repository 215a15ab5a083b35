//! The elements of a bus word that a collector answers with.
//!
//! Its banks own disjoint cells. Banks that keep the same cells of a row have other rows each, so at most one of them has
//! the row that a token asks for, and they may have one *answer*, the OR of them.
//!
//! Example: 16 lanes store `C[0][j]` to `C[15][j]`, one bank each. The collector may have one answer, of one element.

use crate::vsa::{OutputBank, OutputGroup};

/// Collectors along an axis that a relay serves, at most: as far as signals go in a cycle.
pub(super) const REACH: i64 = 4;

/// Both forms of a collector's answers: one for each bank, and the fewest where these are fewer.
pub(super) fn answer_forms(group: &OutputGroup) -> (Vec<Vec<usize>>, Option<Vec<Vec<usize>>>) {
    let fewest = fewest_answers(group);
    ((0..group.banks.len()).map(|b| vec![b]).collect(), Some(fewest).filter(|f| f.len() < group.banks.len()))
}

/// The fewest answers of a collector: its banks by the cells of a row that they keep.
fn fewest_answers(group: &OutputGroup) -> Vec<Vec<usize>> {
    let cells = |b: usize| {
        let OutputBank { bank, elements } = &group.banks[b];
        (bank.base, bank.coef, bank.words_per_row, bank.stride, *elements)
    };
    let mut all: Vec<Vec<usize>> = vec![];
    for b in 0..group.banks.len() {
        match all.iter_mut().find(|answer| cells(answer[0]) == cells(b)) {
            Some(answer) => answer.push(b),
            None => all.push(vec![b]),
        }
    }
    all
}

/// Elements a bank's memory word holds: a whole bus word, or fewer when the PE owns fewer of a row.
pub fn lanes(bank: &OutputBank, word: i64) -> i64 {
    word.min((bank.elements.max(1) as u64).next_power_of_two() as i64)
}

/// Elements of a bus word that the bank at `p` fills in, as bits; element `e` comes from lane `e mod lanes`.
pub fn owned(bank: &OutputBank, word: i64, p: [i64; 2]) -> u128 {
    let first = (bank.bank.base + bank.bank.coef[0] * p[0] + bank.bank.coef[1] * p[1]).rem_euclid(word);
    let count = bank.elements.min(word);
    let ones = |n: i64| if n < 128 { (1u128 << n) - 1 } else { u128::MAX };
    // Those beyond the word are its first.
    (ones(count) << first | ones((first + count - word).max(0))) & ones(word)
}
