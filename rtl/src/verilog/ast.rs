//! A module as it will be printed: every net, name and statement is decided, nothing is formatted.

use crate::netlist::*;

/// An expression within a line.
pub enum Expr {
    Net(String),
    /// Bits `lo .. lo + w` of a net.
    Bits {
        net: String,
        lo: u32,
        w: u32,
    },
    Lit(Bits),
    /// A constant in signed notation.
    SignedLit(Bits),
    /// `$signed(..)`, which also fixes the width of its operand.
    Signed(Box<Expr>),
    /// An operator's sign and its operands.
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<[Expr; 2]>),
    /// Condition, value if set, value if clear.
    Mux(Box<[Expr; 3]>),
    Concat(Vec<Part>),
    /// `value` below `more` copies of `sign`, or of zero.
    Extend {
        more: u32,
        sign: Option<Box<Expr>>,
        value: Box<Expr>,
    },
    /// A word of a memory.
    Word(String, Box<Expr>),
}

/// Part of a concatenation, with the number of its copies.
pub type Part = (usize, Expr);

/// Right side of an assignment.
pub enum Value {
    /// On one line, however long.
    Line(Expr),
    /// A constant of more than 256 bits, printed as words of 64 bits.
    Words(Bits),
    /// A concatenation, broken between parts if it is long.
    Parts(Vec<Part>),
    /// A multiplexer, broken between arms if it is long; `otherwise` may be the next one of a chain.
    Choice { condition: Expr, then: Expr, otherwise: Box<Value> },
}

/// A declared net.
pub struct Net<'m> {
    /// Lines of comment above.
    pub remark: Option<&'m str>,
    pub attrs: &'m [(String, String)],
    pub name: String,
    pub w: u32,
    pub kind: NetKind<'m>,
}

pub enum NetKind<'m> {
    Wire(Value),
    /// A wire that an instance drives.
    Output,
    /// A register with its initial value.
    Reg(Option<&'m Bits>),
    /// A delay line of so many registers of equal width, see `prepare::delay`.
    DelayLine(u32),
}

/// `target <= value;` below the lines of the comment.
pub struct Load<'m> {
    pub remark: Option<&'m str>,
    pub target: String,
    pub value: Value,
}

/// Registers with one reset and one enable, or a registered read.
#[derive(Default)]
pub struct Clocked<'m> {
    pub reset: Option<Expr>,
    /// Registers with their values after reset.
    pub resets: Vec<(String, &'m Bits)>,
    pub enable: Option<Expr>,
    pub loads: Vec<Load<'m>>,
}

/// A write port of a memory.
pub struct Write {
    /// None: it is always on.
    pub enable: Option<Expr>,
    pub addr: Expr,
    pub data: Expr,
    pub lanes: Option<Lanes>,
}

/// A write of those lanes of `lane` bits whose bit is set in the net `mask` of `w` bits.
pub struct Lanes {
    /// Loop variable.
    pub index: String,
    pub mask: String,
    pub w: u32,
    pub lane: u32,
}

/// What a pin of an instance is connected to.
pub enum Pin {
    Open,
    Expr(Expr),
    /// A net that holds so many bits for each element of a grid.
    Bus(String, u32),
}

/// The `generate` loops of a grid: names of the row and column variables, labels of the loops, outermost first.
pub struct Loops {
    pub row: String,
    pub column: String,
    pub labels: Vec<String>,
}

pub struct Instance<'m> {
    pub inst: &'m Inst,
    pub loops: Option<Loops>,
    pub pins: Vec<(&'m str, Pin)>,
}

/// A part of the module's body.
pub enum Item<'m> {
    Clocked(Clocked<'m>),
    Writes(&'m Mem, Vec<Write>),
    Instance(Instance<'m>),
}

/// A module. The header follows from `module` itself.
pub struct Text<'m> {
    pub module: &'m Module,
    pub clock: &'m str,
    /// Memories with readers.
    pub mems: Vec<&'m Mem>,
    /// Nets that states and instances drive.
    pub states: Vec<Net<'m>>,
    /// Wires with their expressions, in the order in which they were found.
    pub wires: Vec<Net<'m>>,
    pub items: Vec<Item<'m>>,
    pub outputs: Vec<(&'m str, Value)>,
    /// Nets that nothing reads wholly.
    pub unused: Vec<String>,
}
