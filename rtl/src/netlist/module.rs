//! A module: a table of nodes, its ports, instances and memories.
//!
//! Every node has one value of its type. Combinational nodes refer
//! to earlier nodes, except through `Wire` and `Reg`, which may be given their driver later.
//! Invariants (established by `Design::verify`): operand widths fit their operator, every wire,
//! register and instance input has exactly one driver, no combinational loop in the hierarchy.
//! There is one clock, implicit in `Reg`, `ReadSync` and memory writes.

use super::bits::Bits;
use super::ty::Ty;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;

/// Where a node was written in a template.
pub type At = &'static Location<'static>;

/// Index of a node in its module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// Index of an instance in its module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstId(pub u32);

/// Index of a memory in its module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MemId(pub u32);

/// Name of an elaborated module; a legal Verilog identifier, unique in its design.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModuleName(pub(crate) String);

impl ModuleName {
    /// The identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModuleName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Operators of two operands. Operand types are equal unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinOp {
    /// Sum modulo 2^w.
    Add,
    /// Difference modulo 2^w.
    Sub,
    /// Full product: widths may differ, the result has the sum of the widths.
    Mul,
    And,
    Or,
    Xor,
    /// Comparisons give `u1`; signedness from the operands.
    Eq,
    Ne,
    Lt,
    Le,
    /// Shifts by an unsigned amount of any width; the result has the left operand's type.
    Shl,
    /// Arithmetic if the left operand is signed.
    Shr,
}

/// Operators of one operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnOp {
    Not,
    Neg,
    /// Reductions give `u1`.
    RedOr,
    RedAnd,
    RedXor,
}

/// How a node gets its value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Lit(Bits),
    Input,
    /// A name for another node; also the only forward reference among combinational nodes.
    Wire {
        driver: Option<NodeId>,
    },
    /// `rst` (first) or `en` at the clock edge; a register without `en` always loads `next`. `init`: what it holds when
    /// the device has been configured; without one it may hold anything.
    Reg {
        next: Option<NodeId>,
        en: Option<NodeId>,
        rst: Option<(NodeId, Bits)>,
        init: Option<Bits>,
    },
    Bin(BinOp, NodeId, NodeId),
    Un(UnOp, NodeId),
    /// Condition (`u1`), value if set, value if clear.
    Mux(NodeId, NodeId, NodeId),
    /// Bits from the given one on; the width is the node's.
    Slice(NodeId, u32),
    /// Most significant part first.
    Concat(Vec<NodeId>),
    /// Sign or zero extension (by the operand's signedness) or truncation to the node's width.
    Resize(NodeId),
    /// The same bits with the node's signedness.
    Cast(NodeId),
    /// Output `port` (index into `Inst::outs`) of an instance.
    InstOut(InstId, u32),
    /// Combinational read.
    ReadAsync {
        mem: MemId,
        addr: NodeId,
    },
    /// Registered read of the old content (a write at the same edge is not seen).
    ReadSync {
        mem: MemId,
        addr: NodeId,
        en: NodeId,
    },
    /// Stands for an expression that has been reported as a fault.
    Poison,
}

/// One value of a module.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    pub ty: Ty,
    /// Legal identifier, unique in the module, for named nodes.
    pub name: Option<String>,
    /// Synthesis attributes, printed as `(* key = "value" *)`.
    pub attrs: Vec<(String, String)>,
    /// Lines of comment where the value is made; no part of the hardware.
    pub remark: Option<String>,
    /// What it is called if it is printed as a net though it has no name; no part of the hardware.
    pub hint: Option<String>,
    pub at: At,
}

/// How an input port of an instance is fed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conn {
    /// Not connected (a fault).
    Open,
    /// The node has the port's width; every element of a grid gets the same value.
    All(NodeId),
    /// Grids only: element `p = i * n1 + j` gets bits `p * w ..` of the node.
    Bus(NodeId),
}

/// An instance of another module, or a grid of them.
#[derive(Clone, Debug)]
pub struct Inst {
    pub name: String,
    pub module: ModuleName,
    /// `[n0, n1]` for a grid of `n0 * n1` instances; output nodes are then packed buses.
    pub grid: Option<[u32; 2]>,
    /// Input ports of the module, in its order, with how they are fed.
    pub ins: Vec<(String, Ty, Conn)>,
    /// Output ports of the module, in its order, with the node that stands for them if used.
    pub outs: Vec<(String, Ty, Option<NodeId>)>,
    pub at: At,
}

impl Inst {
    /// Number of elements: 1 for a plain instance.
    pub fn count(&self) -> u32 {
        self.grid.map_or(1, |[a, b]| a * b)
    }
}

/// Where a memory should be placed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemStyle {
    /// The tool decides.
    Auto,
    /// LUTRAM.
    Distributed,
    /// Block RAM.
    Block,
    /// UltraRAM.
    Ultra,
}

impl MemStyle {
    /// Value of the `ram_style` or `rom_style` attribute.
    pub fn attribute(self) -> Option<&'static str> {
        match self {
            MemStyle::Auto => None,
            MemStyle::Distributed => Some("distributed"),
            MemStyle::Block => Some("block"),
            MemStyle::Ultra => Some("ultra"),
        }
    }
}

/// A write port: at the clock edge, if `en`, `data` goes to `addr`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WritePort {
    pub en: NodeId,
    pub addr: NodeId,
    pub data: NodeId,
    /// Mask with one bit for each lane of the given width; all lanes if absent.
    pub lanes: Option<(NodeId, u32)>,
    pub at: At,
}

/// A memory of `depth` words of `width` bits. Reads beyond `depth` give zero in simulation,
/// writes beyond it are lost. Of several write ports the later one wins.
#[derive(Clone, Debug)]
pub struct Mem {
    pub name: String,
    pub depth: u32,
    pub width: u32,
    pub style: MemStyle,
    pub writes: Vec<WritePort>,
    /// A read-only memory's words, from address 0; the rest are zero. Empty for one that is written.
    pub content: Vec<Bits>,
    pub at: At,
}

/// What a module relies on. Simulation looks at it; it is no hardware.
#[derive(Clone, Debug)]
pub struct Assert {
    pub text: String,
    /// Register, set for good once it has not held.
    pub broken: NodeId,
}

/// An elaborated module.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: ModuleName,
    /// Path of the template's type.
    pub template: &'static str,
    /// Header comment.
    pub doc: String,
    pub nodes: Vec<Node>,
    pub inputs: Vec<NodeId>,
    pub outputs: Vec<(String, NodeId)>,
    pub insts: Vec<Inst>,
    pub mems: Vec<Mem>,
    pub asserts: Vec<Assert>,
    /// Attributes of ports and of the clock, by name: printed in front of the declaration.
    pub port_attrs: BTreeMap<String, Vec<(String, String)>>,
    /// Ports in the order in which they are declared. Those that are not listed stand before, inputs first.
    pub port_order: Vec<String>,
}

impl Module {
    /// The node behind an id of this module.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Type of a node.
    pub fn ty(&self, id: NodeId) -> Ty {
        self.node(id).ty
    }

    /// Name and type of every data input (the clock is not listed).
    pub fn input_ports(&self) -> impl Iterator<Item = (&str, Ty)> {
        self.inputs.iter().map(|&i| (self.node(i).name.as_deref().unwrap_or(""), self.ty(i)))
    }

    /// Name and type of every output.
    pub fn output_ports(&self) -> impl Iterator<Item = (&str, Ty)> {
        self.outputs.iter().map(|(n, i)| (n.as_str(), self.ty(*i)))
    }

    /// Structural equality: everything that reaches the hardware; not documentation or places.
    pub fn same_content(&self, other: &Module) -> bool {
        let nodes = |m: &Module| {
            m.nodes.iter().map(|n| (n.op.clone(), n.ty, n.name.clone(), n.attrs.clone())).collect::<Vec<_>>()
        };
        let insts = |m: &Module| {
            m.insts
                .iter()
                .map(|i| (i.name.clone(), i.module.clone(), i.grid, i.ins.clone(), i.outs.clone()))
                .collect::<Vec<_>>()
        };
        let mems = |m: &Module| {
            m.mems
                .iter()
                .map(|x| {
                    let w: Vec<_> = x.writes.iter().map(|p| (p.en, p.addr, p.data, p.lanes)).collect();
                    (x.name.clone(), x.depth, x.width, x.style, x.content.clone(), w)
                })
                .collect::<Vec<_>>()
        };
        self.inputs == other.inputs
            && self.outputs == other.outputs
            && nodes(self) == nodes(other)
            && insts(self) == insts(other)
            && mems(self) == mems(other)
    }
}

impl Op {
    /// Operands whose value this node needs in the same cycle (nothing for registers and
    /// registered reads). Memory contents and instance outputs are not nodes.
    pub fn comb_operands(&self) -> Vec<NodeId> {
        match self {
            Op::Wire { driver: Some(a) } | Op::Un(_, a) | Op::Slice(a, _) | Op::Resize(a) | Op::Cast(a) => vec![*a],
            Op::ReadAsync { addr, .. } => vec![*addr],
            Op::Bin(_, a, b) => vec![*a, *b],
            Op::Mux(c, t, e) => vec![*c, *t, *e],
            Op::Concat(v) => v.clone(),
            Op::Lit(_) | Op::Input | Op::Wire { driver: None } | Op::Reg { .. } | Op::InstOut(..) => vec![],
            Op::ReadSync { .. } | Op::Poison => vec![],
        }
    }

    /// Changes every operand.
    pub fn map_operands(&mut self, mut f: impl FnMut(&mut NodeId)) {
        match self {
            Op::Wire { driver: Some(a) } | Op::Un(_, a) | Op::Slice(a, _) | Op::Resize(a) | Op::Cast(a) => f(a),
            Op::ReadAsync { addr, .. } => f(addr),
            Op::Bin(_, a, b) | Op::ReadSync { addr: a, en: b, .. } => [a, b].into_iter().for_each(f),
            Op::Mux(c, t, e) => [c, t, e].into_iter().for_each(f),
            Op::Concat(v) => v.iter_mut().for_each(f),
            Op::Reg { next, en, rst, .. } => {
                next.iter_mut().chain(en).chain(rst.as_mut().map(|r| &mut r.0)).for_each(f)
            }
            Op::Lit(_) | Op::Input | Op::Wire { driver: None } | Op::InstOut(..) | Op::Poison => {}
        }
    }

    /// Operands sampled at the clock edge.
    pub fn edge_operands(&self) -> Vec<NodeId> {
        match self {
            Op::Reg { next, en, rst, .. } => {
                next.iter().chain(en.iter()).copied().chain(rst.iter().map(|r| r.0)).collect()
            }
            Op::ReadSync { addr, en, .. } => vec![*addr, *en],
            _ => vec![],
        }
    }
}
