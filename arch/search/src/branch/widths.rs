//! Bytes per bus word of every port.
//!
//! Words are powers of two. A search begins with the widest words and halves them port by port, so it counts in
//! [`Halvings`]. Both types hold one number per port, for any number of ports, from the last port to the first: so the
//! derived order, in which a search takes equal bounds, has narrow words first and lets the last port count most.

use crate::facts::Facts;
use crate::tuning;
use array::kernel::Kernel;
use std::collections::BTreeMap;
use uniform::design::DesignSpec;

/// Per port, the logarithm of its bytes per bus word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Widths(Box<[u8]>);

/// Per port, how often its words are halved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Halvings(Box<[u8]>);

impl Widths {
    /// Rounds each number of bytes down to a power of two.
    pub fn of_bytes(bytes: &[i64]) -> Widths {
        Widths(bytes.iter().rev().map(|&bytes| bytes.max(1).ilog2() as u8).collect())
    }

    pub fn bytes(&self) -> Vec<i64> {
        self.0.iter().rev().map(|&log| 1 << log).collect()
    }

    /// The words of these ports halved so many times, but none below `least`.
    pub fn halved(&self, ports: &[usize], times: u8, least: &Widths) -> Widths {
        let mut halved = self.clone();
        for at in ports.iter().map(|port| self.0.len() - 1 - port) {
            halved.0[at] -= times.min(self.0[at].saturating_sub(least.0[at]));
        }
        halved
    }

    /// How often these words are halved to get narrower ones.
    pub fn halvings_to(&self, narrower: &Widths) -> Halvings {
        Halvings(self.0.iter().zip(&narrower.0).map(|(wide, narrow)| wide - narrow).collect())
    }

    pub fn narrowed(&self, by: &Halvings) -> Widths {
        Widths(self.0.iter().zip(&by.0).map(|(log, times)| log - times).collect())
    }
}

impl Halvings {
    pub fn none(ports: usize) -> Halvings {
        Halvings(vec![0; ports].into())
    }

    pub fn is_none(&self) -> bool {
        self.0.iter().all(|&times| times == 0)
    }

    pub fn and(&self, more: &Halvings) -> Halvings {
        Halvings(self.0.iter().zip(&more.0).map(|(a, b)| a + b).collect())
    }
}

/// The words that each port of a program may have.
pub(super) struct Ports {
    /// Per port: the arrays behind it with bytes of an element.
    arrays: Vec<Vec<(String, u32)>>,
    /// Per port: bytes per word, if the user fixes them.
    fixed: Vec<Option<i64>>,
    /// Per port: bytes of its largest element.
    least: Vec<i64>,
    /// Per port: bytes of the widest word.
    widest: Vec<i64>,
    /// Per port: bytes of the widest word that its memory can use.
    usable: Vec<i64>,
}

impl Ports {
    pub fn new(program: &Kernel, spec: &DesignSpec, facts: &Facts) -> Ports {
        let scop = &program.scop;
        let arrays: Vec<Vec<(String, u32)>> = facts
            .ports
            .iter()
            .map(|p| p.arrays.iter().map(|&a| (scop.arrays[a].name.clone(), scop.arrays[a].ty.bytes())).collect())
            .collect();
        let fixed =
            |(name, bytes): &(String, u32)| spec.wiring.word.get(name).map(|w| i64::from(*w) * i64::from(*bytes));
        Ports {
            fixed: arrays.iter().map(|all| all.iter().find_map(fixed)).collect(),
            least: facts.ports.iter().map(|p| p.bytes).collect(),
            widest: facts.ports.iter().map(|p| p.widest).collect(),
            usable: facts.ports.iter().map(|p| p.usable).collect(),
            arrays,
        }
    }

    pub fn len(&self) -> usize {
        self.fixed.len()
    }

    /// `most`: bytes of a word at most, by port, if the user does not fix them.
    fn widths(&self, most: impl Fn(usize) -> i64) -> Widths {
        let free = |k: usize| most(k).min(self.widest[k]).max(self.least[k]).max(4);
        Widths::of_bytes(&self.fixed.iter().enumerate().map(|(k, f)| f.unwrap_or_else(|| free(k))).collect::<Vec<_>>())
    }

    pub fn widest(&self) -> Widths {
        self.widths(|_| i64::MAX)
    }

    pub fn narrowest(&self) -> Widths {
        self.widths(|_| 0)
    }

    /// A few choices, from wide to narrow; if buses may be wider than the memory, also words that it can use.
    pub fn some(&self) -> Vec<Widths> {
        let halved = |times: u32| self.widths(|k| self.widest[k] >> times);
        let mut all: Vec<Widths> = (0..=tuning::DIVE_HALVINGS).map(halved).collect();
        if self.usable != self.widest {
            all.push(self.widths(|k| self.usable[k].min(self.widest[k] >> tuning::DIVE_HALVINGS)));
        }
        all.dedup();
        all
    }

    /// Elements per bus word, by array.
    pub fn words(&self, widths: &Widths) -> BTreeMap<String, u32> {
        let all = self.arrays.iter().zip(widths.bytes());
        all.flat_map(|(arrays, bytes)| arrays.iter().map(move |(name, of)| (name.clone(), bytes as u32 / of))).collect()
    }
}
