//! Relays: pass tokens on to a block of collectors and join the words they answer with (see [`arch::contract::relay`]).
//!
//! Ports: `dr_…` in and `…_out` one cycle later, to the collectors and to the next relays; `words`: the bus words the
//! collectors make, two cycles after that; `beside`, `above`: words of the relays before, in the same cycle; `word`: all of
//! them joined, one cycle later.

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

impl Template for Relay {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        m.doc("Passes tokens on to a block of collectors, joins the words they answer with and those of the relays before.");
        self.token.map(|name, ty| {
            let q = m.reg(format!("dr_{name}_q"), *ty).next(m.input(format!("dr_{name}"), *ty)).q();
            m.output(format!("dr_{name}_out"), q)
        });
        let words = m.input("words", u(self.joined * self.width));
        let own = (0..self.joined).map(|k| words.slice(k * self.width, self.width));
        let all: Vec<_> = own.chain(["beside", "above"].map(|name| m.input(name, u(self.width)))).collect();
        m.output("word", m.reg("word_q", u(self.width)).next(m.any(&all)).q());
    }
}
