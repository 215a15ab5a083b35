//! What a PE computes: operations over nodes.

use scop::value::{Field, Spread};
use scop::{BinaryOp, ScalarType, UnaryOp};
use std::sync::Arc;
use uniform::affine::{Condition, Form};
use uniform::sizes::Formula;

/// Index into [`crate::vsa::Vsa::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);
impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation of a PE. Operands come earlier in [`crate::vsa::Vsa::nodes`], except the source of a `Past` with
/// `waves > 0` or `hop != 0`, which may stand anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The value's bits.
    Const(u64),
    /// The value of an affine form, wrapped to the node's integer type.
    Iter(Form),
    /// 1 where all conditions hold. Type BOOL.
    Guard(Vec<Condition>),
    /// The scalar argument with this index into [`crate::vsa::Vsa::scalars`]: the same value in every wave and PE.
    Scalar(u32),
    /// Port `port` of input group `group`.
    Input {
        group: u32,
        port: u32,
    },
    /// Value of `source` at PE `p - hop`, `waves` waves ago: a number, or one for each case ([`uniform::counters`]) or
    /// each size, which is at least 2.
    Past {
        source: NodeId,
        hop: [i64; 2],
        waves: Formula,
    },
    Unary(UnaryOp, NodeId),
    Binary(BinaryOp, NodeId, NodeId),
    /// condition (BOOL) ? a : b
    Select(NodeId, NodeId, NodeId),
    /// C conversion from the operand's type to the node's.
    Cast(NodeId),
    /// The constant of a table at this position: an integer, of which only the bits that a table of the next power of
    /// two needs are looked at (`scop::value::eval_lookup`).
    Lookup(Arc<[u64]>, NodeId),
    Fma(NodeId, NodeId, NodeId),
    /// `addend` plus the products of the pairs, aligned and rounded once (`scop::value::eval_dot`).
    Dot {
        pairs: Vec<[NodeId; 2]>,
        addend: NodeId,
    },
    /// The operands, the first one lowest, at a distance of `step` bits (`scop::value::eval_join`).
    Join {
        integers: Vec<NodeId>,
        step: u32,
    },
    /// Joined integers at another distance (`scop::value::eval_spread`).
    Spread(NodeId, Spread),
    /// One field of a joined number (`scop::value::eval_field`).
    Field(NodeId, Field),
}

impl Op {
    /// Nodes whose values are combined in the same wave and PE, in operand order.
    pub fn operands(&self) -> Vec<NodeId> {
        match self {
            Op::Const(_) | Op::Scalar(_) | Op::Iter(_) | Op::Guard(_) | Op::Input { .. } | Op::Past { .. } => vec![],
            Op::Dot { pairs, addend } => pairs.iter().flatten().copied().chain([*addend]).collect(),
            Op::Join { integers, .. } => integers.clone(),
            Op::Unary(_, a) | Op::Cast(a) | Op::Lookup(_, a) | Op::Spread(a, _) | Op::Field(a, _) => vec![*a],
            Op::Binary(_, a, b) => vec![*a, *b],
            Op::Select(a, b, c) | Op::Fma(a, b, c) => vec![*a, *b, *c],
        }
    }
    /// The same operation on other operands.
    pub fn with_operands(&self, mut other: impl FnMut(NodeId) -> NodeId) -> Op {
        match self {
            Op::Const(_) | Op::Scalar(_) | Op::Iter(_) | Op::Guard(_) | Op::Input { .. } | Op::Past { .. } => {
                self.clone()
            }
            Op::Dot { pairs, addend } => {
                let pairs = pairs.iter().map(|pair| pair.map(&mut other)).collect();
                Op::Dot { pairs, addend: other(*addend) }
            }
            Op::Join { integers, step } => {
                Op::Join { integers: integers.iter().map(|n| other(*n)).collect(), step: *step }
            }
            Op::Spread(a, spread) => Op::Spread(other(*a), *spread),
            Op::Field(a, field) => Op::Field(other(*a), *field),
            Op::Unary(op, a) => Op::Unary(*op, other(*a)),
            Op::Cast(a) => Op::Cast(other(*a)),
            Op::Lookup(table, a) => Op::Lookup(table.clone(), other(*a)),
            Op::Binary(op, a, b) => Op::Binary(*op, other(*a), other(*b)),
            Op::Select(a, b, c) => Op::Select(other(*a), other(*b), other(*c)),
            Op::Fma(a, b, c) => Op::Fma(other(*a), other(*b), other(*c)),
        }
    }
    /// The same operation on other nodes, those of other waves and PEs too.
    pub fn with_sources(&self, mut other: impl FnMut(NodeId) -> NodeId) -> Op {
        match self {
            Op::Past { source, hop, waves } => Op::Past { source: other(*source), hop: *hop, waves: waves.clone() },
            op => op.with_operands(other),
        }
    }
    /// The value of an earlier wave, which a delay element keeps.
    pub fn is_delayed(&self) -> bool {
        matches!(self, Op::Past { waves, .. } if *waves != Formula::Const(0))
    }
    /// Nodes that are read, those of other waves and PEs too.
    pub fn sources(&self) -> Vec<NodeId> {
        match self {
            Op::Past { source, .. } => vec![*source],
            op => op.operands(),
        }
    }
    /// Depends on the wave only, and is no computation: an iterator or a guard over counters.
    pub fn is_control(&self) -> bool {
        match self {
            Op::Iter(form) => form.is_time_only(),
            Op::Guard(conditions) => conditions.iter().all(|c| c.form.is_time_only()),
            _ => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub op: Op,
    pub ty: ScalarType,
    /// For people and for signal names: a hint such as `a`, `acc`, `c_in`.
    pub name: String,
}
