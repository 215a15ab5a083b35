//! The table of a PE's nodes while lowering fills it.
//!
//! Two operations that are equal, operands included, become one node: common subexpressions disappear as the table
//! grows (*value numbering* by *hash-consing*). The key is the operation and its type; the first name stays.
//! Example: `a[i] * 2 + a[i] * 2` adds the nodes `%0 input`, `%1 const`, `%2 mul %0, %1` and `%3 add %2, %2`.
//!
//! Invariant: operands come earlier than their node. Only the source of a delayed value may come later: its node is
//! reserved before the source exists, and completed afterwards ([`super::pasts`]).
//!
//! Source: Cooper and Torczon, Engineering a Compiler, section 8.4.1 (local value numbering).

use crate::draft::Lowered;
use crate::vsa::{Node, NodeId, Op};
use rustc_hash::FxHashMap;
use scop::{BinaryOp, ScalarType};
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::Condition;
use uniform::sizes::Formula;

#[derive(Default)]
pub(super) struct Nodes {
    list: Vec<Node>,
    by_operation: FxHashMap<(Op, ScalarType), NodeId>,
    muxes: Vec<NodeId>,
    statements: BTreeMap<NodeId, BTreeSet<usize>>,
}

impl Nodes {
    /// The node of this operation, which is new unless there is an equal one.
    pub fn add(&mut self, op: Op, ty: ScalarType, name: &str) -> NodeId {
        let list = &mut self.list;
        *self.by_operation.entry((op, ty)).or_insert_with_key(|(op, _)| {
            list.push(Node { op: op.clone(), ty, name: name.to_string() });
            NodeId(list.len() as u32 - 1)
        })
    }

    /// A delayed value whose source is not known yet: until [`Nodes::complete`] it is its own source.
    pub fn reserve(&mut self, hop: [i64; 2], waves: Formula, ty: ScalarType, name: &str) -> NodeId {
        let source = NodeId(self.list.len() as u32);
        self.list.push(Node { op: Op::Past { source, hop, waves }, ty, name: name.into() });
        source
    }

    /// The operation of a node that was reserved.
    pub fn complete(&mut self, id: NodeId, op: Op) {
        self.list[id.index()].op = op;
    }

    pub fn op(&self, id: NodeId) -> &Op {
        &self.list[id.index()].op
    }

    /// The value, converted to a type unless it has that type.
    pub fn cast(&mut self, value: NodeId, ty: ScalarType, name: &str) -> NodeId {
        if self.list[value.index()].ty == ty {
            value
        } else {
            self.add(Op::Cast(value), ty, name)
        }
    }

    /// A multiplexer between the sources of a variable: it takes no register of its own.
    pub fn mux(&mut self, when: NodeId, then: NodeId, or: NodeId, ty: ScalarType, name: &str) -> NodeId {
        let mux = self.add(Op::Select(when, then, or), ty, name);
        self.muxes.push(mux);
        mux
    }

    /// An operation that takes no register of its own.
    pub fn at_once(&mut self, op: Op, ty: ScalarType, name: &str) -> NodeId {
        let id = self.add(op, ty, name);
        self.muxes.push(id);
        id
    }

    /// The multiplexer takes a register after all.
    pub fn registered(&mut self, id: NodeId) {
        self.muxes.retain(|mux| *mux != id);
    }

    pub fn is_mux(&self, id: NodeId) -> bool {
        self.muxes.contains(&id)
    }

    /// 1 where all conditions hold.
    pub fn guard(&mut self, all: &[Condition]) -> NodeId {
        if all.is_empty() {
            return self.add(Op::Const(1), ScalarType::BOOL, "always");
        }
        self.add(Op::Guard(all.to_vec()), ScalarType::BOOL, "when")
    }

    /// 1 where one of the conjunctions holds; there is at least one.
    pub fn guard_any(&mut self, any: &[Vec<Condition>]) -> NodeId {
        let mut ids: Vec<NodeId> = Vec::new();
        for all in any {
            let id = self.guard(all);
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids.into_iter()
            .reduce(|a, b| self.add(Op::Binary(BinaryOp::Or, a, b), ScalarType::BOOL, "when"))
            .expect("at least one conjunction")
    }

    /// The node computes the value of a statement.
    pub fn remark(&mut self, id: NodeId, statement: usize) {
        self.statements.entry(id).or_default().insert(statement);
    }

    /// The nodes of a PE without inputs and outputs.
    pub fn finish(self) -> Lowered {
        Lowered { nodes: self.list, muxes: self.muxes, statements: self.statements, ..Lowered::default() }
    }
}
