//! Bytes per bus word, port by port.

use crate::branch::known::Known;
use array::io::port;
use std::collections::BTreeMap;

/// Bytes per bus word, by port, as powers of two of four bits each.
pub(super) type Widths = u64;

impl Known<'_> {
    fn fixed(&self, k: usize, port: usize) -> Option<i64> {
        let scop = &self.program.scop;
        self.facts[k].ports[port].0.iter().find_map(|&a| {
            let array = &scop.arrays[a];
            self.spec.wiring.word.get(&array.name).map(|w| i64::from(*w) * i64::from(array.ty.bytes()))
        })
    }

    fn widths(&self, k: usize, of: impl Fn(i64) -> i64) -> Widths {
        let log = |bytes: i64| u64::from(bytes.max(1).ilog2());
        (0..self.facts[k].ports.len().min(16))
            .map(|p| log(self.fixed(k, p).unwrap_or_else(|| of(self.facts[k].ports[p].1.max(4)))) << (4 * p))
            .sum()
    }

    pub fn widest(&self, k: usize) -> Widths {
        self.widths(k, |_| i64::from(port::WIDEST))
    }
    pub fn narrowest(&self, k: usize) -> Widths {
        self.widths(k, |least| least)
    }
    /// A few choices, from wide to narrow.
    pub fn roughly(&self, k: usize) -> Vec<Widths> {
        let mut all: Vec<Widths> = [64, 32, 16].into_iter().map(|w| self.widths(k, |least| least.max(w))).collect();
        all.dedup();
        all
    }
    pub fn widths_of(&self, k: usize, widths: Widths) -> Vec<i64> {
        (0..self.facts[k].ports.len())
            .map(|p| if p < 16 { 1 << (widths >> (4 * p) & 15) } else { i64::from(port::WIDEST) })
            .collect()
    }
    pub fn words(&self, k: usize, widths: Widths) -> BTreeMap<String, u32> {
        let scop = &self.program.scop;
        let bytes = self.widths_of(k, widths);
        let ports = self.facts[k].ports.iter().zip(bytes);
        ports
            .flat_map(|((arrays, _), bytes)| {
                arrays.iter().map(move |&a| (scop.arrays[a].name.clone(), bytes as u32 / scop.arrays[a].ty.bytes()))
            })
            .collect()
    }
}
