//! The stores of a step, and what is stored behind the time loop.

use super::Printer;
use crate::ir::{NodeId, Op, Store};
use crate::lower::pairs::is_wide;
use crate::print::expression::Operands;
use crate::print::memory::{self, Body};
use crate::print::type_name;

impl Printer<'_> {
    /// What is computed and stored behind the time loop.
    pub(super) fn behind(&mut self) {
        for k in 0..self.warp.nodes.len() {
            if self.warp.nodes[k].after {
                self.define(NodeId(k as u32), false);
            }
        }
        let warp = self.warp;
        for (s, value) in self.stored().into_iter().filter(|(s, _)| warp.is_after(s)) {
            self.line(&memory::store(warp, &s, &value, Body::Border));
        }
    }

    /// The stores, each with its value as a row; of a pair, one for each half.
    fn stored(&self) -> Vec<(Store, String)> {
        let warp = self.warp;
        let mut all = vec![];
        for s in &warp.stores {
            let node = warp.node(s.value);
            let ty = type_name(warp.arrays[s.array].ty);
            let row = |text: String| match node.row {
                true => text,
                false => format!("all<{}>(({ty})({text}))", warp.width),
            };
            let Some(pairs) = warp.pairs.filter(|p| s.at.iter().any(|f| f.of(p.axis) != 0)) else {
                all.push((s.clone(), row(self.text(s.value))));
                continue;
            };
            let second = Store { at: s.at.iter().map(|f| pairs.second(f)).collect(), ..s.clone() };
            for (half, store) in [s.clone(), second].into_iter().enumerate() {
                let text = match (&node.op, node.pair) {
                    (Op::Cast(of), true) if is_wide(node) && node.row => {
                        format!("cast<{ty}>(half<{half}>({}))", self.text(*of))
                    }
                    (Op::Cast(of), true) if is_wide(node) => format!("half<{half}>({})", self.text(*of)),
                    (_, true) => format!("half<{half}>({})", self.text(s.value)),
                    _ => self.text(s.value),
                };
                all.push((store, row(text)));
            }
        }
        all
    }

    pub(super) fn stores(&mut self, here: impl Fn(&Store) -> bool) {
        let warp = self.warp;
        for (s, value) in self.stored().into_iter().filter(|(s, _)| here(s)) {
            let text = |body: Body| memory::store(warp, &s, &value, body);
            let (border, side, plain) = (text(Body::Border), text(Body::Side), text(Body::Interior));
            let kept = warp.time.as_ref().and_then(|t| t.height);
            let own = kept.map_or(String::new(), |_| "if (kept) ".to_string());
            match (s.inside, &s.side) {
                (true, _) if border == plain => self.line(&format!("{own}{plain}")),
                (true, lanes) => {
                    self.line(&format!("{own}{{"));
                    self.indent += 1;
                    let sides = lanes.is_some() && side != border && warp.time.is_some();
                    let all = if lanes.is_some() && !sides { "SIDE" } else { "EDGE" };
                    self.line(&format!("if ({all}) {{ {border} }}"));
                    if sides {
                        self.line(&format!("else if (SIDE) {{ {side} }}"));
                    }
                    self.line(&format!("else {{ {plain} }}"));
                    self.indent -= 1;
                    self.line("}");
                }
                (false, None) => self.line(&format!("if (EDGE) {{ {own}{border} }}")),
                (false, Some(_)) => {
                    self.line(&format!("if (EDGE) {{ {own}{border} }}"));
                    if warp.time.is_some() {
                        self.line(&format!("else if (SIDE) {{ {own}{side} }}"));
                    }
                }
            }
        }
    }
}
