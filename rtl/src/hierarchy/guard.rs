//! Values that are wanted only while another one, their *guard*, is not zero.
//!
//! What a register loads is wanted while its enable is set, what a memory stores while a write is
//! on, what is masked by a conjunction while the mask is set. If everything that uses a value goes
//! through the same guard, the value is not computed while the guard is zero in all lanes: it
//! keeps what it was, and nobody sees that. A value that is used as a guard, or as an enable, is
//! not guarded by that use.

use super::def::{Def, Kind};
use super::flat::Flat;
use crate::netlist::*;
use std::collections::BTreeMap;

/// When a use wants a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Always,
    /// While this value is not zero.
    While(u32),
    /// While this value is wanted.
    For(u32),
}

/// What is known of when a value is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Want {
    /// No use has been seen so far.
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
    fn add(&mut self, val: u32, how: Use) {
        self.of.entry(val).or_default().push(how);
    }

    /// Notes a read of a node at the clock edge.
    fn edge(&mut self, c: usize, id: NodeId, how: Use) -> Result<(), Fault> {
        let val = self.flat.operand(c, id)?.view.val;
        self.add(val, how);
        Ok(())
    }

    fn val(&self, c: usize, id: NodeId) -> Result<u32, Fault> {
        Ok(self.flat.operand(c, id)?.view.val)
    }

    /// Uses by the definition of a value and, for a state, at the edge.
    fn by(&mut self, val: u32, def: &Def, computed: impl Fn(u32) -> bool) -> Result<(), Fault> {
        let (c, _) = self.flat.node_of(val);
        match &self.flat.node(val).op {
            Op::Bin(BinOp::And, ..) => {
                let (a, b) = (def.sources[0].view.val, def.sources[1].view.val);
                // The side that is there without computing guards the other.
                for (x, other) in [(a, b), (b, a)] {
                    let masked = computed(x) && !computed(other);
                    self.add(x, if masked { Use::While(other) } else { Use::For(val) });
                }
            }
            Op::Reg { next: Some(d), en, rst, .. } => {
                let how = en.map(|en| self.val(c, en)).transpose()?.map_or(Use::Always, Use::While);
                self.edge(c, *d, how)?;
                for control in en.iter().chain(rst.iter().map(|r| &r.0)) {
                    self.edge(c, *control, Use::Always)?;
                }
            }
            Op::ReadSync { addr, en, .. } => {
                let en_val = self.val(c, *en)?;
                self.edge(c, *addr, Use::While(en_val))?;
                self.edge(c, *en, Use::Always)?;
            }
            _ => def.sources.iter().for_each(|s| self.add(s.view.val, Use::For(val))),
        }
        Ok(())
    }

    fn write_port(&mut self, c: usize, port: &WritePort) -> Result<(), Fault> {
        let gate = self.val(c, write_gate(self.flat.ctxs[c].module, port))?;
        self.edge(c, port.addr, Use::While(gate))?;
        self.edge(c, port.data, Use::While(gate))?;
        for control in [Some(port.en), port.lanes.map(|l| l.0)].into_iter().flatten() {
            self.edge(c, control, Use::Always)?;
        }
        Ok(())
    }
}

/// What is zero in all lanes when a port writes nothing: the mask if the enable is a constant.
pub fn write_gate(m: &Module, port: &WritePort) -> NodeId {
    match port.lanes {
        Some((mask, _)) if matches!(m.node(port.en).op, Op::Lit(_)) => mask,
        _ => port.en,
    }
}

impl Flat<'_> {
    /// The guard of every value that has one; `outputs` are wanted always.
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
            uses.by(val, def, computed)?;
        }
        for &(c, id) in mems {
            for port in &self.ctxs[c].module.mems[id.0 as usize].writes {
                uses.write_port(c, port)?;
            }
        }
        let is_state = |val: &u32| matches!(defs[val].kind, Kind::State);
        let mut work: Vec<u32> = defs.keys().copied().collect();
        let mut wants: BTreeMap<u32, Want> = work.iter().map(|&v| (v, Want::Unknown)).collect();
        // A want only ever moves from unknown to a guard to always.
        while let Some(val) = work.pop() {
            let of_use = |how: &Use| match *how {
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
