//! Relay: distributes tokens to a block of collectors and ORs their answers to a bus word (L2 I/O module, see
//! [`array::contract::relay`]).
//!
//! ```text
//!            dr_* ─►[reg]─┬─► dr_*_out (next relay)
//!                         └─► collectors of the block ─► words ─┐
//!        beside, above (words of the relays before) ────────────┴─► OR ─►[reg]─► word
//! ```
//! Ports: [`RelayPorts`].

use super::feeder::pass;
use crate::naming::stream_chain;
use crate::port::{Chain, Port};
use crate::stream::StreamItem;
use rtl::{u, Design, ModuleBuilder, Template, Ty};

#[derive(Clone, Debug, PartialEq)]
pub struct Relay {
    pub name: String,
    /// The fields that the collectors use.
    pub token: StreamItem<Ty>,
    /// Number of bus words from its collectors, and their bits.
    pub joined: u32,
    pub width: u32,
    /// There are relays before it: beside, above ([`array::contract::relay::Relays::before`]).
    pub before: [bool; 2],
}

/// The interface of a [`Relay`].
#[derive(Clone, Debug, PartialEq)]
pub struct RelayPorts {
    /// The token; one cycle later it is at the collectors and at the next relays.
    pub token: StreamItem<Chain>,
    /// Answers of the collectors, two cycles after that.
    pub words: Port,
    /// Words of the relays before, in the same cycle as `words`, if there are some.
    pub beside: Option<Port>,
    pub above: Option<Port>,
    /// OR of all of them, one cycle later.
    pub word: Port,
}

impl Relay {
    pub fn ports(&self) -> RelayPorts {
        let word = |name: &str| Port::new(name, u(self.width));
        RelayPorts {
            token: self.token.map(|name, ty| stream_chain(&format!("dr_{name}"), *ty)),
            words: Port::new("words", u(self.joined * self.width)),
            beside: self.before[0].then(|| word("beside")),
            above: self.before[1].then(|| word("above")),
            word: word("word"),
        }
    }
}

impl Template for Relay {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        m.doc(
            "Passes tokens on to a block of collectors, joins the words they answer with and those of the \
            relays before.",
        );
        let ports = self.ports();
        ports.token.map(|_, chain| pass(m, chain));
        let words = ports.words.input(m);
        let parts = (0..self.joined).map(|k| words.slice(k * self.width, self.width));
        let before = [ports.beside, ports.above].into_iter().flatten();
        let all: Vec<_> = parts.chain(before.map(|port| port.input(m))).collect();
        ports.word.output(m, m.reg("word_q", u(self.width)).next(m.any(&all)).q());
    }
}
