//! Banks of a feeder that are filled and read together, and where the values of later lanes wait.
//!
//! Problem: lanes that lie across rows of an array have a bank each. A window, an address counter and a read address for
//! each of them are most of a feeder, and a value that a later lane needs waits in as many registers as it has bits.
//!
//! Method: banks that differ in nothing but the residue of their rows are a *set* ([`Set`]). They store the same places
//! of the same words at the same addresses, so window, choice and read address are one; a bank has its own write
//! enable. Where each lane has a row of every group of rows, one after the other, they have one write address, too. For
//! a later lane the read address waits, not the value, where that takes less.
//!
//! Example: `B[8 * t + lane][j]` with 8 lanes. Row `8 * t + lane` has residue `lane`. The address `t` is counted once, by
//! rows with residue 0; lane 7 is read with the address of seven cycles before.

use crate::contract::memory::line;
use crate::vsa::Bank;
use uniform::fabric::Fabric;

/// Banks of a group that differ only in the residues of their rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Indices of the banks. The first one names what they share.
    pub banks: Vec<usize>,
    /// Row dimensions in which residues differ.
    pub across: Vec<usize>,
    /// The bank whose rows count the write address of all, if there is one for all.
    pub leader: Option<usize>,
}

/// The sets of a group's banks, in order of their first bank.
pub fn sets(banks: &[Bank]) -> Vec<Set> {
    let mut sets: Vec<Vec<usize>> = vec![];
    for (b, bank) in banks.iter().enumerate() {
        match sets.iter_mut().find(|set| is_alike(&banks[set[0]], bank)) {
            Some(set) => set.push(b),
            None => sets.push(vec![b]),
        }
    }
    sets.into_iter().map(|set| Set::new(banks, set)).collect()
}

fn is_alike(a: &Bank, b: &Bank) -> bool {
    let window = |bank: &Bank| bank.rows.iter().map(|r| (r.base, r.coef, r.extent)).collect::<Vec<_>>();
    (a.ports, a.base, a.coef, a.words_per_row, a.depth) == (b.ports, b.base, b.coef, b.words_per_row, b.depth)
        && window(a) == window(b)
}

impl Set {
    fn new(all: &[Bank], banks: Vec<usize>) -> Set {
        let first = &all[banks[0]];
        let residue = |b: usize, d: usize| all[b].rows[d].residue;
        let differ = |d: usize| banks.iter().any(|&b| residue(b, d) != residue(banks[0], d));
        let across: Vec<usize> = (0..first.rows.len()).filter(|&d| differ(d)).collect();
        let leader = match across[..] {
            // Between two rows of a bank comes one row of each other bank.
            [d] if first.words_per_row == 1 && first.rows[d + 1..].iter().all(|r| r.extent == 1) => {
                banks.iter().copied().min_by_key(|&b| residue(b, d))
            }
            _ => None,
        };
        Set { banks, across, leader }
    }
}

/// Bits of what a read of a set needs: address, half, and choice of the element.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub depth: i64,
    pub double: bool,
    pub choices: i64,
    /// Bits of an element.
    pub element: i64,
}

impl Read {
    /// It is never another word: waves need no address.
    pub fn is_constant(&self) -> bool {
        self.depth <= 1 && !self.double
    }

    fn address(&self) -> i64 {
        let bits = |n: i64| i64::from((n.max(1) as u64).next_power_of_two().trailing_zeros());
        bits(self.depth) + i64::from(self.double) + bits(self.choices)
    }

    /// By how many cycles each bank of a set is read later than the earliest one of the group. `late`: per bank, by how
    /// many cycles each of its values is later.
    pub fn waits(&self, late: &[Vec<i64>], fabric: Fabric) -> Vec<i64> {
        let size = |(lut, ff): (i64, i64)| 2 * lut + ff;
        let least: Vec<i64> = late.iter().map(|of| of.iter().copied().min().unwrap_or(0)).collect();
        let values = |from: &dyn Fn(usize) -> i64| {
            let each = late.iter().enumerate().flat_map(|(b, late)| late.iter().map(move |l| l - from(b)));
            each.map(|cycles| size(line([cycles], self.element, fabric))).sum::<i64>()
        };
        let address = size(line(least.iter().copied(), self.address(), fabric));
        if address + values(&|b| least[b]) < values(&|_| 0) {
            least
        } else {
            vec![0; late.len()]
        }
    }
}
