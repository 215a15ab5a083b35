//! Turn: makes bus words of elements that come one after the other (L2 I/O module, see [`array::contract::turn`]).
//!
//! ```text
//! chains (an element a cycle) ─►[shift]─► elements ── wiring ──► words ─► gates ─┐
//! dr_valid, dr_w ─► compared ─►[delay]─────────────────────────────────────┘     │
//! beside (the word of the turn before) ──────────────────────────────────────────┴─► OR ─►[reg]─► word
//! ```
//! Ports: [`TurnPorts`]. The wiring is in the array: which elements a chain has differs from turn to turn.

use crate::port::Port;
use rtl::{u, Design, ModuleBuilder, Sig, Template};

/// Cycles from a token at the collectors to the first element of their answer, behind the last relay of a chain.
const FIRST: u32 = 3;

#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub name: String,
    pub chains: u32,
    /// Bits of a chain, and of an element.
    pub bits: u32,
    pub element: u32,
    /// Cycles of an answer.
    pub steps: u32,
    /// Bus words from its chains, and their bits.
    pub words: u32,
    pub width: u32,
    /// Bits of the number of a word in its row.
    pub w: u32,
}

/// The interface of a [`Turn`].
#[derive(Clone, Debug, PartialEq)]
pub struct TurnPorts {
    /// The token that is at the collectors, and the word it asks for.
    pub valid: Port,
    pub w: Port,
    /// From 3 cycles after the token on, an element of each chain.
    pub chains: Port,
    /// By chain: the latest elements, the first one lowest.
    pub elements: Port,
    /// The bus words that these make, and their numbers.
    pub words: Port,
    pub numbers: Port,
    /// The word of the turn before, in the cycle of the last elements.
    pub beside: Port,
    /// One cycle later: the word that the token asks for.
    pub word: Port,
}

impl Turn {
    pub fn ports(&self) -> TurnPorts {
        TurnPorts {
            valid: Port::bit("dr_valid"),
            w: Port::new("dr_w", u(self.w)),
            chains: Port::new("chains", u(self.chains * self.bits)),
            elements: Port::new("elements", u(self.chains * self.bits * self.steps)),
            words: Port::new("words", u(self.words * self.width)),
            numbers: Port::new("numbers", u(self.words * self.w)),
            beside: Port::new("beside", u(self.width)),
            word: Port::new("word", u(self.width)),
        }
    }
}

impl Template for Turn {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        m.doc("Gathers elements that come one after the other, and joins the bus words that are complete.");
        let ports = self.ports();
        let (chains, steps) = (ports.chains.input(m), self.steps);
        let elements = (0..self.chains).flat_map(|c| {
            let latest = chains.slice(c * self.bits, self.bits);
            let before = m.shift_register(latest, steps - 1, format!("chain{c}"), None);
            before.into_iter().rev().chain([latest]).collect::<Vec<_>>()
        });
        let mut elements: Vec<Sig<'_>> = elements.collect();
        elements.reverse();
        ports.elements.output(m, m.concat(&elements));
        let (valid, w) = (ports.valid.input(m), ports.w.input(m));
        let (words, numbers) = (ports.words.input(m), ports.numbers.input(m));
        let gated = |k: u32| {
            let asked = valid & w.eq(numbers.slice(k * self.w, self.w));
            let complete = m.delay(asked, FIRST + steps - 1, format!("complete{k}"));
            words.slice(k * self.width, self.width) & m.repeat(complete, self.width)
        };
        let all: Vec<Sig<'_>> = (0..self.words).map(gated).chain([ports.beside.input(m)]).collect();
        ports.word.output(m, m.reg("word_q", u(self.width)).next(m.any(&all)).q());
    }
}
