//! Relays: pass tokens on to a block of collectors and join the words they answer with (see [`array::contract::relay`]).
//!
//! Ports: [`RelayPorts`].

use super::feeder::pass;
use crate::naming::stream_chain;
use crate::port::{Chain, Port};
use crate::stream::Passing;
use rtl::{u, Design, ModuleBuilder, Template, Ty};

#[derive(Clone, Debug, PartialEq)]
pub struct Relay {
    pub name: String,
    /// The fields that its collectors look at.
    pub token: Passing<Ty>,
    /// Bus words joined, and their bits.
    pub joined: u32,
    pub width: u32,
}

/// The interface of a [`Relay`].
#[derive(Clone, Debug, PartialEq)]
pub struct RelayPorts {
    /// A token, one cycle later to the collectors and to the next relays.
    pub token: Passing<Chain>,
    /// The bus words the collectors make, two cycles after that.
    pub words: Port,
    /// Words of the relays before, in the same cycle.
    pub beside: Port,
    pub above: Port,
    /// All of them joined, one cycle later.
    pub word: Port,
}

impl Relay {
    /// The interface.
    pub fn ports(&self) -> RelayPorts {
        let word = |name: &str| Port::new(name, u(self.width));
        RelayPorts {
            token: self.token.map(|name, ty| stream_chain(&format!("dr_{name}"), *ty)),
            words: Port::new("words", u(self.joined * self.width)),
            beside: word("beside"),
            above: word("above"),
            word: word("word"),
        }
    }
}

impl Template for Relay {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        m.doc(
            "Passes tokens on to a block of collectors, joins the words they answer with and those of the \
            relays before.",
        );
        let ports = self.ports();
        ports.token.map(|_, chain| pass(m, chain));
        let words = ports.words.input(m);
        let own = (0..self.joined).map(|k| words.slice(k * self.width, self.width));
        let all: Vec<_> = own.chain([ports.beside.input(m), ports.above.input(m)]).collect();
        ports.word.output(m, m.reg("word_q", u(self.width)).next(m.any(&all)).q());
    }
}
