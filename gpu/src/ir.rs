//! [`Warp`]: the program of one warp, and how a grid of warps covers the iteration space.
//!
//! **Terms.** A *row* is one value of every PE of a warp: `width` registers in each of 32 lanes. A *scalar* value is
//! alike in all of them. A *step* is one turn of the time loop. A value of an earlier step ([`Op::Past`]) waits in
//! registers. A *hop* moves a row along the PEs: a renaming of registers and a shuffle.
//!
//! ```text
//! width 4      lane 0        lane 1        …  lane 31
//! registers    PE 0 1 2 3    PE 4 5 6 7       PE 124 … 127        PE = 4 · lane + register
//! ```
//!
//! **Bodies.** A step has three bodies: with all guards; for the *interior*, where every guard has one known outcome
//! ([`Guard::inside`]); and for the *sides*, where only lanes are at a border, so that no guard depends on the step
//! ([`Guard::side`]). A warp runs the cheapest that is right, so a border costs little elsewhere.
//!
//! **Invariants** ([`crate::verify`]). Nodes stand behind the nodes that they use in the same step. A node that the
//! interior does without has no later step that uses it. All lanes execute every operation; only stores have a mask.

pub use crate::form::{Scalar, ScalarId};

use crate::extent::Number;
use crate::form::{Cond, Form};
use scop::{BinaryOp, ScalarType, UnaryOp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Index into [`Warp::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Lanes of a warp.
pub const LANES: i64 = 32;
/// Values of 8 bits in a register.
pub const QUAD: i64 = 4;

/// An array of the C program that the kernel reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// In the emitted text.
    pub name: String,
    /// In the C program.
    pub source: String,
    pub ty: ScalarType,
    /// At the greatest sizes.
    pub dims: Vec<i64>,
    /// The same over the sizes.
    pub extents: Vec<Form>,
    pub read: bool,
    pub written: bool,
    pub passing: Passing,
    /// A local array of the C function, in which phases pass values to each other.
    pub scratch: bool,
    /// The kernel reads a copy that the host makes before: other warps store elements that this one reads.
    pub copied: bool,
}

impl Array {
    /// The parameter that loads read from.
    pub fn loaded(&self) -> String {
        if self.copied {
            format!("{}_before", self.name)
        } else {
            self.name.clone()
        }
    }
    /// Whether a kernel has it as a parameter.
    pub fn is_used(&self) -> bool {
        (self.read || self.written) && self.passing != Passing::Unused
    }
    /// Whether numbers of 32 bits count its elements.
    pub fn is_addressable(&self) -> bool {
        self.dims.iter().try_fold(1i32, |n, d| n.checked_mul(i32::try_from(*d).ok()?)).is_some()
    }
}

/// How an array comes to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// By its address in the device's memory.
    Pointer,
    /// As a kernel argument: few elements that all lanes use.
    Argument,
    /// A scalar parameter of the C function.
    Value,
    /// The kernel does not use it.
    Unused,
}

/// One axis of the grid of warps; `scalar` is where the warp begins along it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridAxis {
    pub scalar: ScalarId,
    /// Where the first warp begins.
    pub first: i64,
    /// From one warp to the next.
    pub step: Pitch,
    pub count: Number,
    pub sides: Sides,
}

/// Strips whose lanes are at a border in every step: the first and the last ones. Their steps take longer, so their part of the
/// time loop is divided among several warps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    pub low: Number,
    pub high: Number,
    /// Warps of each such strip.
    pub turns: i64,
}

impl Default for Sides {
    fn default() -> Sides {
        Sides { low: Number::constant(0), high: Number::constant(0), turns: 1 }
    }
}

impl GridAxis {
    /// Warps along the axis; `None`: as many as the height makes.
    pub fn warps(&self) -> Option<Number> {
        match self.step {
            Pitch::Constant(_) => {
                let Sides { low, high, turns } = &self.sides;
                Some(self.count.sum(&low.sum(high).times(turns - 1)))
            }
            Pitch::Height => None,
        }
    }
    /// At the greatest sizes.
    pub fn most_warps(&self) -> Option<i64> {
        self.warps().map(|n| n.most)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pitch {
    Constant(i64),
    /// The height, an argument that the host chooses so that the warps fill the device.
    Height,
}

/// The time loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    pub scalar: ScalarId,
    /// First and last step, over the scalars of the grid. With a height: those of all warps together.
    pub first: Form,
    pub last: Form,
    /// The least first step and the greatest last one that there are; the loop stays inside.
    pub clip: (i64, Number),
    /// The warp has only the steps of its height, from this scalar on, and `before` steps to warm up.
    pub height: Option<ScalarId>,
    pub before: i64,
    /// Rows asked for ahead: the step is unrolled by it.
    pub ahead: i64,
    /// Lane `l` is `l` steps behind lane 0.
    pub skewed: bool,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Const(u64),
    /// Element of an array that is a kernel argument, or a scalar parameter.
    Argument {
        array: usize,
        element: i64,
    },
    /// An element of an array at these subscripts, or a quad that begins there. Alike in all lanes if no subscript depends on `u`.
    Load {
        array: usize,
        at: Vec<Form>,
        /// 1, or [`QUAD`].
        each: i64,
    },
    /// The value of a form.
    Index(Form),
    /// Whether conditions hold.
    Holds(Vec<Cond>),
    Unary(UnaryOp, NodeId),
    Binary(BinaryOp, NodeId, NodeId),
    Select(NodeId, NodeId, NodeId),
    Cast(NodeId),
    Fma(NodeId, NodeId, NodeId),
    Lookup(Arc<[u64]>, NodeId),
    /// One of two values by conditions on the iteration.
    Guard(Guard),
    /// The row moved by this many PEs (lanes, if registers are unrolled): PE `u` gets the value of `u - by`.
    Hop {
        of: NodeId,
        by: i64,
    },
    /// Elements `offset..offset + width` of rows that stand side by side.
    Take {
        rows: Vec<NodeId>,
        offset: i64,
    },
    /// The value of an earlier step; before the first one: `start`, which no step changes, or garbage.
    Past {
        of: NodeId,
        steps: i64,
        start: Option<NodeId>,
    },
    /// A value from a feeder of the block: the PE's of a row, or an element that all lanes of the warp use.
    Fed {
        feeder: usize,
        element: i64,
    },
    /// The value of the last step, behind the time loop.
    Last {
        of: NodeId,
    },
    /// The values of all PEs, joined by an operator whose order is free: one value, alike in all lanes.
    Fold(BinaryOp, NodeId),
    /// Four values of 8 bits as a quad.
    Quad([NodeId; QUAD as usize]),
    /// The sum of the products of two quads, and a third value: modulo 2^32.
    Dot(NodeId, NodeId, NodeId),
}

/// `then` where all conditions hold, else `otherwise`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    pub when: Vec<Cond>,
    pub then: NodeId,
    pub otherwise: NodeId,
    /// The outcome in the interior.
    pub inside: bool,
    /// The conditions that decide where only lanes are at a border; `None`: the outcome is that of the interior.
    pub side: Option<Vec<Cond>>,
}

/// A place in the C program: the statement, and its instance in the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub statement: usize,
    /// Coordinates that are unrolled, such as `q = 2`.
    pub instance: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub op: Op,
    pub ty: ScalarType,
    /// A value for each PE; else one for all.
    pub row: bool,
    /// Name in the emitted text.
    pub name: String,
    pub note: Option<Note>,
    /// The interior does without it.
    pub border: bool,
    /// It does not change from step to step.
    pub invariant: bool,
    /// It is computed once, behind the time loop.
    pub after: bool,
    /// Two values in the halves of a register ([`Pairs`]).
    pub pair: bool,
    /// Four values in the bytes of a register: a *quad*. The type is that of one of them.
    pub quad: bool,
    /// A sum of pairs whose lower half carries nothing to the upper one.
    pub carryless: bool,
}

impl Node {
    pub fn new(op: Op, ty: ScalarType, row: bool, name: String) -> Node {
        Node {
            op,
            ty,
            row,
            name,
            note: None,
            border: false,
            invariant: false,
            after: false,
            pair: false,
            quad: false,
            carryless: false,
        }
    }
}

/// Two places of a warp on an axis of the grid: values of the second one are in the upper halves of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs {
    pub axis: ScalarId,
    /// The second place.
    pub other: ScalarId,
}

impl Pairs {
    /// A form as the second place has it.
    pub fn second(&self, form: &Form) -> Form {
        let mut out = form.clone();
        out.add(form.of(self.axis), &Form::scalar(self.other));
        out.scalars.remove(&self.axis);
        out
    }
}

/// An operand that the warps of a block share: the block loads the elements of [`Feeder::STEPS`] steps into shared memory
/// while its warps compute on those of the steps before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feeder {
    pub array: usize,
    /// Subscripts of the element: of PE `u` if it is a row, else of the warp's first element.
    pub at: Vec<Form>,
    /// The subscript that time moves by one element, and the one along the elements.
    pub step: usize,
    pub place: usize,
    /// Elements of a warp: the PEs of a row, which all warps use; or those of one warp, each alike in all lanes.
    pub elements: i64,
    pub row: bool,
    /// An element is four, along the steps.
    pub quad: bool,
}

impl Feeder {
    /// Steps of which the elements are in shared memory.
    pub const STEPS: i64 = 8;
}

/// Warps that share operands: the axis of the grid along which they stand side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub axis: ScalarId,
    pub feeders: Vec<Feeder>,
}

impl Block {
    /// Warps of a block. The lanes of a warp are spread over the hardware's warps, four in each, so that a hardware's warp has
    /// 8 x 4 lanes: it reads few elements of both operands.
    pub const WARPS: i64 = 8;
}

/// A store of one value by the PEs in which the conditions hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub array: usize,
    pub at: Vec<Form>,
    pub value: NodeId,
    /// Of these conditions all must hold.
    pub when: Vec<Cond>,
    /// The outcome of the conditions in the interior.
    pub inside: bool,
    /// As [`Guard::side`].
    pub side: Option<Vec<Cond>>,
    pub note: Note,
}

/// What the PEs at the edge of a warp lack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Margins {
    /// PEs without a result at the lower and at the upper end.
    pub low: i64,
    pub high: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warp {
    pub name: String,
    /// The number of sizes at run time: the first scalars.
    pub sizes: usize,
    pub arrays: Vec<Array>,
    /// Registers of a row in each lane.
    pub width: i64,
    /// PEs in a lane: the width, or more if registers are unrolled.
    pub registers: i64,
    pub scalars: Vec<Scalar>,
    /// Outermost first.
    pub grid: Vec<GridAxis>,
    /// Where PE 0 of the warp lies.
    pub lane_scalar: ScalarId,
    pub margins: Margins,
    pub time: Option<Time>,
    /// Steps for which rows wait, before sums wait in their place ([`crate::lower`]): the loop begins that much earlier.
    pub rows: i64,
    pub nodes: Vec<Node>,
    pub stores: Vec<Store>,
    pub pairs: Option<Pairs>,
    /// Warps share operands.
    pub block: Option<Block>,
    /// The interior body is right in the steps in which none of these forms, over scalars, is negative; that of the sides
    /// where none of those that depend on the time is.
    pub interior: Vec<Form>,
    /// Warps in a block.
    pub warps: i64,
    /// The space-time map, in words.
    pub map: Vec<String>,
}

impl Warp {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
    /// The greatest sizes.
    pub fn maxima(&self) -> Vec<i64> {
        self.scalars[..self.sizes].iter().map(|s| s.hi).collect()
    }
    /// The sizes that have remainders: the size, what divides it, and the remainder.
    pub fn remainders(&self) -> impl Iterator<Item = (&str, i64, i64)> {
        self.scalars[..self.sizes].iter().filter(|s| s.multiple > 1).map(|s| (s.name.as_str(), s.multiple, s.rest))
    }
    /// Whether each row of an array is whole words of as many elements as a row of PEs has registers in a lane.
    pub fn has_whole_rows(&self, array: usize) -> bool {
        self.arrays[array].extents.last().is_some_and(|e| e.divisor(&self.scalars) % self.width == 0)
    }
    /// Whether a subscript may be beyond an array's dimension.
    pub fn may_leave(&self, form: &Form, array: usize, dim: usize, units: i64) -> bool {
        let mut above = self.arrays[array].extents[dim].plus(-1);
        above.add(-1, form);
        form.range(&self.scalars, units).0 < 0 || above.range(&self.scalars, units).0 < 0
    }
    /// The feeders of its block.
    pub fn feeders(&self) -> &[Feeder] {
        self.block.as_ref().map_or(&[], |b| &b.feeders)
    }
    /// Whether a store stands behind the time loop.
    pub fn is_after(&self, store: &Store) -> bool {
        self.node(store.value).after
    }
    /// By node: how often nodes and stores use it, those of later steps, too.
    pub fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.nodes.len()];
        for node in &self.nodes {
            node.op.operands().into_iter().for_each(|o| uses[o.index()] += 1);
            if let Op::Past { of, .. } | Op::Last { of } = node.op {
                uses[of.index()] += 1;
            }
        }
        self.stores.iter().for_each(|s| uses[s.value.index()] += 1);
        uses
    }
    /// By node that waits in registers: the most steps that it waits.
    pub fn waits(&self) -> BTreeMap<NodeId, i64> {
        let mut waits = BTreeMap::new();
        for node in &self.nodes {
            if let Op::Past { of, steps, .. } = node.op {
                let most = waits.entry(of).or_insert(0);
                *most = steps.max(*most);
            }
        }
        waits
    }
    /// Whether lanes of all warps are at a border in every step.
    pub fn has_no_interior(&self) -> bool {
        let time = self.time.as_ref().map(|t| t.scalar);
        let still = |f: &&Form| time.is_none_or(|t| f.of(t) == 0);
        self.interior.iter().filter(still).any(|f| f.range(&self.scalars, 1).1 < 0)
    }
    /// Values of `u`.
    pub fn units(&self) -> i64 {
        LANES * self.width
    }
    /// PEs of a warp.
    pub fn pes(&self) -> i64 {
        LANES * self.registers
    }
    /// Whether a lane has more than a word of 16 bytes of some row in an array.
    pub fn is_wide(&self) -> bool {
        let row = |array: usize, at: &[Form]| {
            let bytes = self.width * i64::from(self.arrays[array].ty.bytes());
            bytes > 16 && at.iter().any(|f| f.unit != 0)
        };
        let load = |n: &Node| matches!(&n.op, Op::Load { array, at, .. } if row(*array, at));
        !self.is_unrolled() && (self.nodes.iter().any(load) || self.stores.iter().any(|s| row(s.array, &s.at)))
    }
    /// Whether arrays are rows of PEs whose registers are unrolled.
    pub fn is_unrolled(&self) -> bool {
        self.registers != self.width
    }
}

impl Op {
    /// The operands of the same step.
    pub fn operands(&self) -> Vec<NodeId> {
        match self {
            Op::Const(_) | Op::Argument { .. } | Op::Load { .. } | Op::Index(_) | Op::Holds(_) => vec![],
            Op::Fed { .. } | Op::Last { .. } => vec![],
            Op::Past { start, .. } => start.iter().copied().collect(),
            Op::Unary(_, a) | Op::Cast(a) | Op::Lookup(_, a) | Op::Hop { of: a, .. } | Op::Fold(_, a) => vec![*a],
            Op::Quad(all) => all.to_vec(),
            Op::Binary(_, a, b) => vec![*a, *b],
            Op::Select(a, b, c) | Op::Fma(a, b, c) | Op::Dot(a, b, c) => vec![*a, *b, *c],
            Op::Guard(g) => vec![g.then, g.otherwise],
            Op::Take { rows, .. } => rows.clone(),
        }
    }
    /// The same with every node replaced, that of an earlier step too.
    pub fn map(&self, f: impl Fn(NodeId) -> NodeId) -> Op {
        match self {
            Op::Const(_) | Op::Argument { .. } | Op::Load { .. } | Op::Index(_) | Op::Holds(_) | Op::Fed { .. } => {
                self.clone()
            }
            Op::Past { of, steps, start } => Op::Past { of: f(*of), steps: *steps, start: start.map(f) },
            Op::Last { of } => Op::Last { of: f(*of) },
            Op::Fold(op, a) => Op::Fold(*op, f(*a)),
            Op::Unary(op, a) => Op::Unary(*op, f(*a)),
            Op::Cast(a) => Op::Cast(f(*a)),
            Op::Lookup(table, a) => Op::Lookup(table.clone(), f(*a)),
            Op::Hop { of, by } => Op::Hop { of: f(*of), by: *by },
            Op::Quad(all) => Op::Quad(all.map(&f)),
            Op::Dot(a, b, c) => Op::Dot(f(*a), f(*b), f(*c)),
            Op::Binary(op, a, b) => Op::Binary(*op, f(*a), f(*b)),
            Op::Select(a, b, c) => Op::Select(f(*a), f(*b), f(*c)),
            Op::Fma(a, b, c) => Op::Fma(f(*a), f(*b), f(*c)),
            Op::Guard(g) => Op::Guard(Guard { then: f(g.then), otherwise: f(g.otherwise), ..g.clone() }),
            Op::Take { rows, offset } => Op::Take { rows: rows.iter().map(|&r| f(r)).collect(), offset: *offset },
        }
    }
}
