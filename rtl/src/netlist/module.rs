//! A module: a table of nodes, with ports, instances and memories.
//!
//! Each node has one value of its type. Combinational nodes read earlier nodes; only `Wire` and `Reg` may read later
//! ones, because they get their drivers after they are created. The one clock is implicit in `Reg`, `ReadSync` and
//! memory writes. Invariants (established by `Design::verify`): operand widths fit their operator; every wire, register
//! and instance input has exactly one driver; the hierarchy has no combinational loop.

use super::bits::Bits;
use super::ty::Ty;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;

/// Source position in a template.
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

/// Name of an elaborated module: a legal Verilog identifier, unique in its design.
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

/// Binary operators. Both operands have the same type, except where noted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinOp {
    /// Sum modulo 2^w.
    Add,
    /// Difference modulo 2^w.
    Sub,
    /// Full product: widths may differ, the result has the sum of both widths.
    Mul,
    And,
    Or,
    Xor,
    /// Comparisons return `u1`; the operands decide the signedness.
    Eq,
    Ne,
    Lt,
    Le,
    /// Shifts by an unsigned amount of any width return the left operand's type.
    Shl,
    /// Arithmetic if the left operand is signed.
    Shr,
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnOp {
    Not,
    Neg,
    /// Reductions return `u1`.
    RedOr,
    RedAnd,
    RedXor,
}

/// The operator of a node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Lit(Bits),
    Input,
    /// A name for another node; also the only forward reference among combinational nodes.
    Wire {
        driver: Option<NodeId>,
    },
    /// Loads at the clock edge: the constant of `rst` if reset, else `next` if `en` or no enable exists. `init` is the
    /// value after configuration of the device; without it the register may hold anything.
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
    /// The bits from the given one upwards, as many as the node is wide.
    Slice(NodeId, u32),
    /// Most significant part first.
    Concat(Vec<NodeId>),
    /// Extension (of the sign if the operand is signed) or truncation to the node's width.
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
    /// Registered read. It returns the content before a write at the same edge.
    ReadSync {
        mem: MemId,
        addr: NodeId,
        en: NodeId,
    },
    /// Replaces an expression that was reported as a fault.
    Poison,
}

/// One value of a module.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    pub ty: Ty,
    /// Legal identifier, unique in the module.
    pub name: Option<String>,
    /// Synthesis attributes, printed as `(* key = "value" *)`.
    pub attrs: Vec<(String, String)>,
    /// Lines of comment above the statement; not part of the hardware.
    pub remark: Option<String>,
    /// Name of the net if an unnamed node becomes one; not part of the hardware.
    pub hint: Option<String>,
    pub at: At,
}

/// The driver of an instance's input port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conn {
    /// Not connected (a fault).
    Open,
    /// A node of the port's width; every element of a grid reads the same value.
    All(NodeId),
    /// Grids only: element `p = i * n1 + j` reads bits `p * w ..` of the node.
    Bus(NodeId),
}

/// An instance of another module, or a grid of them.
#[derive(Clone, Debug)]
pub struct Inst {
    pub name: String,
    pub module: ModuleName,
    /// `[n0, n1]` for a grid of `n0 * n1` instances; output nodes are then packed buses.
    pub grid: Option<[u32; 2]>,
    /// Input ports in the module's order, with their drivers.
    pub ins: Vec<(String, Ty, Conn)>,
    /// Output ports in the module's order, with the node of each one that is used.
    pub outs: Vec<(String, Ty, Option<NodeId>)>,
    pub at: At,
}

impl Inst {
    /// Number of elements: 1 for a plain instance.
    pub fn count(&self) -> u32 {
        self.grid.map_or(1, |[a, b]| a * b)
    }
}

/// The resource that should implement a memory.
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

/// A write port: writes `data` to `addr` at the clock edge if `en` is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WritePort {
    pub en: NodeId,
    pub addr: NodeId,
    pub data: NodeId,
    /// Mask with one bit for each lane of the given width. None: all lanes are written.
    pub lanes: Option<(NodeId, u32)>,
    pub at: At,
}

/// A memory of `depth` words of `width` bits. In simulation a read beyond `depth` returns zero and a write beyond it
/// has no effect. The last of several write ports wins.
#[derive(Clone, Debug)]
pub struct Mem {
    pub name: String,
    pub depth: u32,
    pub width: u32,
    pub style: MemStyle,
    pub writes: Vec<WritePort>,
    /// Words of a read-only memory from address 0; all others are zero. Empty for a memory that is written.
    pub content: Vec<Bits>,
    /// All words are zero before the first clock edge, as the FPGA is configured.
    pub zeroed: bool,
    pub at: At,
}

/// A condition that a module relies on. Simulation checks it; it is not part of the hardware.
#[derive(Clone, Debug)]
pub struct Assert {
    pub text: String,
    /// Register that is set at the first violation and stays set.
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
    /// Attributes of the module itself, printed in front of it.
    pub attrs: Vec<(String, String)>,
    /// Attributes of ports and of the clock by name, printed in front of the declaration.
    pub port_attrs: BTreeMap<String, Vec<(String, String)>>,
    /// Order of the ports. Ports that are not listed come before these, inputs first.
    pub port_order: Vec<String>,
}

impl Module {
    /// The node of an id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Type of a node.
    pub fn ty(&self, id: NodeId) -> Ty {
        self.node(id).ty
    }

    /// Name and type of every input except the clock.
    pub fn input_ports(&self) -> impl Iterator<Item = (&str, Ty)> {
        self.inputs.iter().map(|&i| (self.node(i).name.as_deref().unwrap_or(""), self.ty(i)))
    }

    /// Name and type of every output.
    pub fn output_ports(&self) -> impl Iterator<Item = (&str, Ty)> {
        self.outputs.iter().map(|(n, i)| (n.as_str(), self.ty(*i)))
    }

    /// Whether both modules describe the same hardware; documentation and source positions may differ.
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
                    (x.name.clone(), x.depth, x.width, x.style, (x.content.clone(), x.zeroed), w)
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
    /// Operands that this node reads in the same cycle: none for registers and registered reads. Contents of memories
    /// and outputs of instances are not nodes.
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

    /// Operands that this node samples at the clock edge.
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
