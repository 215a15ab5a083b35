//! Banks of a feeder that are filled and read together, and where the values of later lanes wait.
//!
//! Problem: lanes that lie across rows of an array have a bank each. A window, an address counter and a read address for
//! each of them are most of a feeder, and a value that a later lane needs waits in as many registers as it has bits.
//!
//! Method: banks that differ in nothing but the residue of their rows are a *set* ([`Set`]). They store the same places
//! of the same words at the same addresses, so window, choice and read address are one; a bank has its own write
//! enable. Where each lane has a row of every group of rows, one after the other, they have one write address, too. For
//! a later lane the read address waits, not the value, where that takes less: a bank of several lanes is a memory for each
//! of them then ([`Part`]).
//!
//! Example: `B[8 * t + lane][j]` with 8 lanes. Row `8 * t + lane` has residue `lane`. The address `t` is counted once, by
//! rows with residue 0; lane 7 is read with the address of seven cycles before.

use crate::contract::memory::{self, line, Kind};
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
    let words = |bank: &Bank| (bank.base, bank.coef, bank.words_per_row, bank.stride);
    (a.ports, a.depth) == (b.ports, b.depth) && words(a) == words(b) && window(a) == window(b)
}

impl Bank {
    /// The address of a word is that of its row, and behind it the bits of its number in the row.
    fn is_counted_by_rows(&self) -> bool {
        let n = self.words_per_row;
        n & (n - 1) == 0
    }
}

impl Set {
    fn new(all: &[Bank], banks: Vec<usize>) -> Set {
        let first = &all[banks[0]];
        let residue = |b: usize, d: usize| all[b].rows[d].residue;
        let differ = |d: usize| banks.iter().any(|&b| residue(b, d) != residue(banks[0], d));
        let across: Vec<usize> = (0..first.rows.len()).filter(|&d| differ(d)).collect();
        let leader = match across[..] {
            // Between two rows of a bank comes one row of each other bank.
            [d] if first.is_counted_by_rows() && first.rows[d + 1..].iter().all(|r| r.extent == 1) => {
                banks.iter().copied().min_by_key(|&b| residue(b, d))
            }
            _ => None,
        };
        Set { banks, across, leader }
    }
}

/// A memory of a feeder: these ports of a bank, which are read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Place in [`Set::banks`].
    pub bank: usize,
    /// The first of the bank's ports, and how many.
    pub first: u32,
    pub ports: u32,
    /// By how many cycles it is read later than the earliest memory of the group.
    pub wait: i64,
}

/// Bits of what a read of a set needs: address, half, and choice of the element.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub depth: i64,
    pub double: bool,
    pub choices: i64,
    /// Bits of an element.
    pub element: i64,
    /// The board has UltraRAM.
    pub uram: bool,
}

impl Read {
    /// It is never another word: waves need no address.
    pub fn is_constant(&self) -> bool {
        self.depth <= 1 && !self.double
    }

    /// Words of the memory, both halves.
    pub fn words(&self) -> i64 {
        match (self.double, self.depth.max(1)) {
            (true, 1) => 2,
            (true, depth) => (depth as u64).next_power_of_two() as i64 + depth,
            (false, depth) => depth,
        }
    }

    /// Registers behind the memory and its register, for a value that is not late: that of the multiplexer, or one behind
    /// a block RAM.
    pub fn registers(&self) -> i64 {
        i64::from(self.choices > 1 || !memory::in_luts(self.words()))
    }

    /// Without a multiplexer, the address waits for the cycles that value and word need not.
    pub fn waits_for_choice(&self) -> i64 {
        if self.choices > 1 {
            0
        } else {
            2 - self.registers()
        }
    }

    /// LUTs and flip-flops of the registers of a value that is late: one more than the cycles, behind the multiplexer, the
    /// block RAM, or LUTs.
    fn line(&self, late: i64, fabric: Fabric) -> (i64, i64) {
        line([1 + late], self.element, fabric)
    }

    fn address(&self) -> i64 {
        let bits = |n: i64| i64::from((n.max(1) as u64).next_power_of_two().trailing_zeros());
        bits(self.depth) + i64::from(self.double) + bits(self.choices)
    }

    /// The memories of a set. `late`: per bank and port, by how many cycles each value is later than the earliest one of
    /// the group. `apart`: each port has elements of its own in a bus word.
    pub fn parts(&self, late: &[Vec<Vec<i64>>], apart: bool, fabric: Fabric) -> Vec<Part> {
        let ports = late.first().map_or(1, Vec::len);
        let whole: Vec<Vec<i64>> = late.iter().map(|of| of.concat()).collect();
        let single: Vec<Vec<i64>> = late.concat();
        let (waits, cost) = self.waits(&whole, fabric);
        if ports > 1 && apart {
            let (alone, single_cost) = self.waits(&single, fabric);
            let width = self.element * self.choices;
            let memories = |count: usize, width: i64| count as i64 * self.memory(width);
            let most = cost + memories(whole.len(), width * ports as i64);
            if single_cost + memories(single.len(), width) < most {
                let part = |(k, wait)| Part { bank: k / ports, first: (k % ports) as u32, ports: 1, wait };
                return alone.into_iter().enumerate().map(part).collect();
            }
        }
        let part = |(bank, wait)| Part { bank, first: 0, ports: ports as u32, wait };
        waits.into_iter().enumerate().map(part).collect()
    }

    /// What a memory weighs, in halves of a LUT; a block RAM is worth 600 LUTs.
    fn memory(&self, width: i64) -> i64 {
        if self.is_constant() {
            return width;
        }
        match memory::kind(self.words(), width, self.uram) {
            Kind::Luts => 2 * memory::luts(self.words(), width),
            Kind::Block(halves) => 600 * halves,
            Kind::Ultra(count) => 2400 * count,
        }
    }

    /// By how many cycles each memory of a set is read later than the earliest one of the group, and what waits weighs, in
    /// halves of a LUT. `late`: per memory, by how many cycles each of its values is later.
    fn waits(&self, late: &[Vec<i64>], fabric: Fabric) -> (Vec<i64>, i64) {
        let size = |(lut, ff): (i64, i64)| 2 * lut + ff;
        let least: Vec<i64> = late.iter().map(|of| of.iter().copied().min().unwrap_or(0)).collect();
        let values = |from: &dyn Fn(usize) -> i64| {
            let each = late.iter().enumerate().flat_map(|(b, late)| late.iter().map(move |l| l - from(b)));
            each.map(|late| size(self.line(late, fabric))).sum::<i64>()
        };
        let address = size(line(least.iter().copied(), self.address(), fabric));
        let (short, long) = (address + values(&|b| least[b]), values(&|_| 0));
        if short < long {
            (least, short)
        } else {
            (vec![0; late.len()], long)
        }
    }
}
