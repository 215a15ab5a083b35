//! Guards: values that need not be computed in every cycle.
//!
//! **Problem.** Most values of an idle array change in every cycle, but no register loads them. Computing them takes
//! most of a simulation's time.
//!
//! **Terms.** A use *wants* a value in some cycles: a register with an enable wants its next value while the enable is
//! set, a memory wants address and data while it is written, a conjunction wants one operand while the other is not
//! zero. The *guard* of a value is another value: while the guard is zero in all lanes, no use wants the value.
//!
//! **Method.** A forward data-flow analysis from uses to values. Each use is `Always`, `While(guard)`, or `For(user)`,
//! which inherits the want of a computed user. The wants of all uses join in the lattice `Unknown < While(g) < Always`;
//! two different guards join to `Always`. The analysis iterates to the least fixed point.
//!
//! **Invariant.** A value whose guard is zero in all lanes may be stale, and nothing observes it. Enables, resets and
//! write enables are wanted `Always`, so no guard is stale.
//!
//! ```text
//! square = x * x                 used by sum:                     For(sum)
//! sum    = square + 1            used by the register q:          While(en)
//! q      loads sum while en      → the guard of sum and of square is en
//! ```

use super::def::{Def, Kind};
use super::flat::Flat;
use crate::netlist::*;
use std::collections::BTreeMap;

/// The cycles in which a use wants a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Always,
    /// While this value is not zero.
    While(u32),
    /// While this user is wanted.
    For(u32),
}

/// The cycles in which any use wants a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Want {
    /// No use so far.
    Unknown,
    While(u32),
    Always,
}

impl Want {
    fn or(self, other: Want) -> Want {
        match (self, other) {
            (Want::Unknown, x) | (x, Want::Unknown) => x,
            (a, b) if a == b => a,
            _ => Want::Always,
        }
    }
}

/// Uses of every value.
struct Uses<'f, 'd> {
    flat: &'f Flat<'d>,
    of: BTreeMap<u32, Vec<Use>>,
}

impl Uses<'_, '_> {
    fn add(&mut self, val: u32, condition: Use) {
        self.of.entry(val).or_default().push(condition);
    }

    /// Adds a read of a node at the clock edge.
    fn add_at_edge(&mut self, c: usize, id: NodeId, condition: Use) -> Result<(), Fault> {
        let val = self.flat.operand(c, id)?.view.val;
        self.add(val, condition);
        Ok(())
    }

    fn val(&self, c: usize, id: NodeId) -> Result<u32, Fault> {
        Ok(self.flat.operand(c, id)?.view.val)
    }

    /// Adds the uses in the definition of a value and, for a state, at the clock edge.
    fn add_definition(&mut self, val: u32, def: &Def, computed: impl Fn(u32) -> bool) -> Result<(), Fault> {
        let (c, _) = self.flat.node_of(val);
        match &self.flat.node(val).op {
            Op::Bin(BinOp::And, ..) => {
                let (a, b) = (def.sources[0].view.val, def.sources[1].view.val);
                // An operand that is not computed guards the other one.
                for (x, other) in [(a, b), (b, a)] {
                    let masked = computed(x) && !computed(other);
                    self.add(x, if masked { Use::While(other) } else { Use::For(val) });
                }
            }
            Op::Reg { next: Some(d), en, rst, .. } => {
                let condition = en.map(|en| self.val(c, en)).transpose()?.map_or(Use::Always, Use::While);
                self.add_at_edge(c, *d, condition)?;
                for control in en.iter().chain(rst.iter().map(|r| &r.0)) {
                    self.add_at_edge(c, *control, Use::Always)?;
                }
            }
            Op::ReadSync { addr, en, .. } => {
                let en_val = self.val(c, *en)?;
                self.add_at_edge(c, *addr, Use::While(en_val))?;
                self.add_at_edge(c, *en, Use::Always)?;
            }
            _ => def.sources.iter().for_each(|s| self.add(s.view.val, Use::For(val))),
        }
        Ok(())
    }

    fn add_write_port(&mut self, c: usize, port: &WritePort) -> Result<(), Fault> {
        let gate = self.val(c, write_gate(self.flat.ctxs[c].module, port))?;
        self.add_at_edge(c, port.addr, Use::While(gate))?;
        self.add_at_edge(c, port.data, Use::While(gate))?;
        for control in [Some(port.en), port.lanes.map(|l| l.0)].into_iter().flatten() {
            self.add_at_edge(c, control, Use::Always)?;
        }
        Ok(())
    }
}

/// The node that is zero in all lanes while a port does not write: the mask if the enable is constant.
pub fn write_gate(m: &Module, port: &WritePort) -> NodeId {
    match port.lanes {
        Some((mask, _)) if matches!(m.node(port.en).op, Op::Lit(_)) => mask,
        _ => port.en,
    }
}

impl Flat<'_> {
    /// The guards of all values; `outputs` are wanted always.
    pub fn guards(
        &self,
        defs: &BTreeMap<u32, Def>,
        mems: &[(usize, MemId)],
        outputs: &[u32],
    ) -> Result<BTreeMap<u32, u32>, Fault> {
        let mut uses = Uses { flat: self, of: BTreeMap::new() };
        outputs.iter().for_each(|&val| uses.add(val, Use::Always));
        let computed = |val: u32| matches!(defs[&val].kind, Kind::Operator | Kind::Select);
        for (&val, def) in defs {
            uses.add_definition(val, def, computed)?;
        }
        for &(c, id) in mems {
            for port in &self.ctxs[c].module.mems[id.0 as usize].writes {
                uses.add_write_port(c, port)?;
            }
        }
        let is_state = |val: &u32| matches!(defs[val].kind, Kind::State);
        let mut work: Vec<u32> = defs.keys().copied().collect();
        let mut wants: BTreeMap<u32, Want> = work.iter().map(|&v| (v, Want::Unknown)).collect();
        // Terminates, because a want only rises in the lattice.
        while let Some(val) = work.pop() {
            let of_use = |condition: &Use| match *condition {
                Use::Always => Want::Always,
                Use::While(g) => Want::While(g),
                Use::For(user) => wants[&user],
            };
            let want = uses.of.get(&val).into_iter().flatten().map(of_use).fold(Want::Unknown, Want::or);
            if wants.insert(val, want) != Some(want) && !is_state(&val) {
                work.extend(defs[&val].sources.iter().map(|s| s.view.val));
            }
        }
        let guard = |(val, want): (u32, Want)| match want {
            Want::While(g) if !is_state(&val) => Some((val, g)),
            _ => None,
        };
        Ok(wants.into_iter().filter_map(guard).collect())
    }
}
