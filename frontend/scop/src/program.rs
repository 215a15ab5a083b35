//! [`Scop`]: a static control part (Feautrier 1991), the polyhedral program of a marked region. Plain data, no isl
//! handles.
//!
//! Invariants, checked by [`Scop::verify`]:
//! - every loop is normalized: its iterator steps by +1 (the front end substitutes `i = lower + step * i'`), so a
//!   statement's domain is a union of conjunctions of affine constraints over its enclosing iterators;
//! - every domain is bounded;
//! - a size is a constant, or a parameter of the function with a maximum ([`Scop::sizes`]). A parameter is an
//!   iterator of one of the first loops, which enclose all statements and run from 1 to the maximum; an execution
//!   takes one point of these loops;
//! - every expression is typed, C's conversions are explicit `Cast` nodes, and both operands of a binary arithmetic
//!   operator have the same type;
//! - a statement writes exactly one array element; a scalar is an array of rank 0;
//! - statements are in textual order.

use crate::diag::{SourceMap, Span};
use std::sync::Arc;

macro_rules! ids { ($($(#[$doc:meta])* $Id:ident),*) => { $(
    $(#[$doc])*
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct $Id(pub u32);
    impl $Id { pub fn index(self) -> usize { self.0 as usize } }
)* } }
ids!(
    /// Index into `Scop::arrays`.
    ArrayId,
    /// Index into `Scop::statements`.
    StmtId,
    /// Index into `Scop::loops`.
    LoopId
);

/// Type of a value. `Int { bits: 1, signed: false }` is the result of a comparison before C's conversion to `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarType {
    Int {
        bits: u32,
        signed: bool,
    },
    /// IEEE-754 binary format: exponent bits, and fraction bits without the hidden one. fp32 is (8, 23).
    Float {
        exponent: u32,
        fraction: u32,
    },
}

impl ScalarType {
    pub const BOOL: Self = Self::Int { bits: 1, signed: false };
    pub const I32: Self = Self::Int { bits: 32, signed: true };
    /// Width in bits; in memory a value takes `bits().div_ceil(8)` bytes (a power of two).
    pub fn bits(self) -> u32 {
        match self {
            Self::Int { bits, .. } => bits,
            Self::Float { exponent, fraction } => 1 + exponent + fraction,
        }
    }
    pub fn signed(self) -> bool {
        matches!(self, Self::Int { signed: true, .. })
    }
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float { .. })
    }
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }
    /// The type of its cell in memory: `_Bool` takes a byte, 0 or 1.
    pub fn cell(self) -> Self {
        if self == Self::BOOL {
            Self::Int { bits: 8, signed: false }
        } else {
            self
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A parameter of the function or a global: lives in DRAM in C's row-major layout, has an AXI port.
    Dram,
    /// Declared inside the function: lives on chip.
    Local,
}

/// How the enclosing C program hands the array to the kernel (for the golden model and the driver).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Position in the function's parameter list.
    Parameter(u32),
    /// A scalar parameter passed by value, at this position: a register of the hardware. A scalar of the function around
    /// the region that the region only reads has a position beyond the parameters.
    Value(u32),
    Global,
    /// Declared in the function around the region, which sets it before the region or uses it after the region.
    Around,
    /// Memory that the function around the region has allocated; a pointer of this name points to it.
    Allocated,
    /// Declared `static` in a function: state that survives from call to call. A caller keeps its buffer.
    Static,
    Local,
    /// A scalar that the host computes before a run (by this statement of [`Scop::host`]) and passes by value.
    Host(u32),
    /// A local array that became a buffer in DRAM: it passes values from phase to phase and is dead after the run.
    Scratch,
}

/// Position of the first scalar that the host computes: beyond the parameters of any function.
const HOST_OFFSET: u32 = 1 << 20;

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub name: String,
    pub ty: ScalarType,
    /// The element type as written in C (after macro expansion, typedef name kept), for generated C code.
    pub c_type: String,
    /// Extents, outermost first; empty for a scalar. An extent that depends on sizes has its value at the maxima.
    pub dims: Vec<i64>,
    /// Extents as functions of the program's sizes; empty if all are constant.
    pub extents: Vec<Affine>,
    pub storage: Storage,
    pub binding: Binding,
    /// Declared `const`.
    pub constant: bool,
    /// Declared `static`, without initial values other than zero: it begins as zeros, and no other file names it.
    pub zeroed: bool,
    /// It stays on chip from run to run, as the user asks for it.
    pub kept: bool,
    pub span: Span,
}

impl Array {
    /// Position of a scalar passed by value; `None` for other arrays. No statement writes such a scalar, and it has no
    /// address. Scalars that the host computes come after the parameters.
    pub fn by_value(&self) -> Option<u32> {
        match self.binding {
            Binding::Value(position) => Some(position),
            Binding::Host(number) => Some(HOST_OFFSET + number),
            _ => None,
        }
    }
    /// Whether its contents before and after the region are invisible to the C program.
    pub fn is_temporary(&self) -> bool {
        self.storage == Storage::Local || self.binding == Binding::Scratch
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The iterator's name in the source.
    pub name: String,
    pub parent: Option<LoopId>,
    /// `source value = offset + step * normalized iterator`; offset is affine in the enclosing normalized iterators.
    pub offset: Affine,
    pub step: i64,
    pub span: Span,
}

/// `constant + Σ coeffs[d] * iterator[d]` over a statement's enclosing loops, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Affine {
    pub coeffs: Vec<i64>,
    pub constant: i64,
}

impl Affine {
    pub fn constant(depth: usize, constant: i64) -> Self {
        Affine { coeffs: vec![0; depth], constant }
    }
    /// The value at `point`, modulo 2^64.
    pub fn eval(&self, point: &[i64]) -> i64 {
        self.coeffs.iter().zip(point).fold(self.constant, |sum, (c, x)| sum.wrapping_add(c.wrapping_mul(*x)))
    }
    pub fn is_constant(&self) -> bool {
        self.coeffs.iter().all(|&c| c == 0)
    }
}

/// `expr >= 0`, or `expr == 0` when `equality`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Constraint {
    pub expr: Affine,
    pub equality: bool,
}

impl Constraint {
    pub fn holds(&self, point: &[i64]) -> bool {
        let v = self.expr.eval(point);
        if self.equality {
            v == 0
        } else {
            v >= 0
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub array: ArrayId,
    /// One affine subscript per dimension of the array, over the statement's iterators.
    pub subscripts: Vec<Affine>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Enclosing loops, outermost first.
    pub loops: Vec<LoopId>,
    /// Iteration domain: a disjoint union of conjunctions.
    pub domain: Vec<Vec<Constraint>>,
    /// Union of conjunctions: where the enclosing loops run, without the conditions around the statement. Contains
    /// `domain`.
    pub around: Vec<Vec<Constraint>>,
    /// 2d+1 schedule: position among its siblings at each level, from the region's top to the innermost loop's body.
    /// Length `loops.len() + 1`. Execution order is (beta[0], i0, beta[1], i1, …).
    pub beta: Vec<i64>,
    pub write: Access,
    /// Value stored. Reads are `Expr::Read(k)`, with `k` indexing `reads`.
    pub rhs: Expr,
    pub reads: Vec<Access>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnaryOp {
    Neg,
    /// Bitwise complement.
    Not,
    Sqrt,
    Abs,
}

/// Operands have one common type, except shifts (any integer type on the right). Comparisons give `ScalarType::BOOL`.
/// `And`, `Or`, `Xor` are bitwise; C's `&&`, `||`, `!` appear as these on BOOL operands.
/// `Div`, `Rem` truncate toward zero as in C. `Min`, `Max` come from recognized `?:` forms and `fminf/fmaxf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Min,
    Max,
}

/// A function of the C library that only the host computes, of constants and of scalars passed by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostFunction {
    Exp,
    Log,
    Pow,
    Sin,
    Cos,
    Tan,
    Tanh,
}

/// Their names for `double`; those for `float` end with an `f`.
const HOST_FUNCTIONS: [(&str, HostFunction); 7] = [
    ("exp", HostFunction::Exp),
    ("log", HostFunction::Log),
    ("pow", HostFunction::Pow),
    ("sin", HostFunction::Sin),
    ("cos", HostFunction::Cos),
    ("tan", HostFunction::Tan),
    ("tanh", HostFunction::Tanh),
];

impl HostFunction {
    /// The function of this name in C, and its type.
    pub fn named(name: &str) -> Option<(HostFunction, ScalarType)> {
        let of = |name: &str| HOST_FUNCTIONS.iter().find(|n| n.0 == name).map(|n| n.1);
        let double = of(name).map(|f| (f, ScalarType::Float { exponent: 11, fraction: 52 }));
        double.or_else(|| of(name.strip_suffix('f')?).map(|f| (f, ScalarType::Float { exponent: 8, fraction: 23 })))
    }
    /// Its name in C for this type.
    pub fn name(self, ty: ScalarType) -> String {
        let name = HOST_FUNCTIONS.iter().find(|n| n.1 == self).map_or("", |n| n.0);
        format!("{name}{}", if ty.bits() == 32 { "f" } else { "" })
    }
    pub fn arguments(self) -> usize {
        if self == HostFunction::Pow {
            2
        } else {
            1
        }
    }
}

/// A typed expression. `ty` of a node is the type of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: ScalarType,
    pub span: Span,
}

impl Expr {
    pub fn operands(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Iter(_) | ExprKind::Holds(_) | ExprKind::Read(_) => vec![],
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Lookup(_, a) => vec![a],
            ExprKind::Binary(_, a, b) => vec![a, b],
            ExprKind::Select(a, b, c) | ExprKind::Fma(a, b, c) => vec![a, b, c],
            ExprKind::Host(_, all) => all.iter().collect(),
        }
    }
    /// Numbers of its reads, in the order of their first occurrence.
    pub fn reads(&self) -> Vec<usize> {
        fn add(e: &Expr, found: &mut Vec<usize>) {
            match e.kind {
                ExprKind::Read(k) if !found.contains(&k) => found.push(k),
                _ => e.operands().into_iter().for_each(|x| add(x, found)),
            }
        }
        let mut found = vec![];
        add(self, &mut found);
        found
    }
    /// The same operator with its operands replaced by `operand`.
    pub fn with_operands(&self, operand: impl Fn(&Expr) -> Expr) -> Expr {
        let other = |e: &Expr| Box::new(operand(e));
        let kind = match &self.kind {
            ExprKind::Const(_) | ExprKind::Iter(_) | ExprKind::Holds(_) | ExprKind::Read(_) => self.kind.clone(),
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, other(a)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, other(a), other(b)),
            ExprKind::Select(a, b, c) => ExprKind::Select(other(a), other(b), other(c)),
            ExprKind::Cast(a) => ExprKind::Cast(other(a)),
            ExprKind::Lookup(table, a) => ExprKind::Lookup(table.clone(), other(a)),
            ExprKind::Fma(a, b, c) => ExprKind::Fma(other(a), other(b), other(c)),
            ExprKind::Host(f, all) => ExprKind::Host(*f, all.iter().map(&operand).collect()),
        };
        Expr { kind, ty: self.ty, span: self.span }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// The value's bits, zero-extended (two's complement or IEEE-754 encoding at `ty`'s width).
    Const(u64),
    /// Value of an affine function of the iterators.
    Iter(Affine),
    /// 1 where all constraints on the iterators hold. Of type BOOL.
    Holds(Vec<Constraint>),
    /// Index into the statement's `reads`.
    Read(usize),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition` (BOOL) ? a : b
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// C conversion from the operand's type to `ty`.
    Cast(Box<Expr>),
    /// An element of a constant table (not empty; bits as in `Const`). The index is an integer from 0 to length - 1.
    Lookup(Arc<[u64]>, Box<Expr>),
    /// Fused multiply–add `a * b + c` with one rounding (`fmaf`).
    Fma(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A function that only the host computes.
    Host(HostFunction, Vec<Expr>),
}

/// How to call the kernel from C.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// `None` for a region at file level over globals (sagen wraps it in a function).
    pub name: Option<String>,
    /// Byte range of the marked region, between the pragmas.
    pub region: Span,
    /// Number of parameters; each must be bound by an array of the scop.
    pub parameters: u32,
}

/// A clause of `#pragma sagen`, such as `space(c+q, r)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    pub name: String,
    pub values: Vec<String>,
    pub span: Span,
}

/// An integer parameter of the function that bounds loops or extents.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    pub name: String,
    /// Position in the function's parameter list.
    pub parameter: u32,
    pub ty: ScalarType,
    pub max: i64,
    /// Its value, once fixed: then it is no longer an iterator of a loop.
    pub value: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scop {
    /// Name for generated files: the function's, else the file's stem.
    pub name: String,
    pub function: Function,
    /// Sizes at run time, in the order of the parameters: either all have a value, or none.
    pub sizes: Vec<Size>,
    pub arrays: Vec<Array>,
    pub loops: Vec<Loop>,
    pub statements: Vec<Statement>,
    /// Scalars that the host computes before a run, in order, from constants and scalars passed by value.
    pub host: Vec<Statement>,
    /// Mapping clauses of the source. The front end does not interpret them.
    pub clauses: Vec<Clause>,
    pub sources: SourceMap,
}

impl Scop {
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.index()]
    }
    pub fn statement(&self, id: StmtId) -> &Statement {
        &self.statements[id.index()]
    }
    pub fn statement_ids(&self) -> impl Iterator<Item = StmtId> {
        (0..self.statements.len() as u32).map(StmtId)
    }
    /// An instance in terms of the source's iterators: `i = 3, j = 0`.
    pub fn iteration(&self, statement: StmtId, point: &[i64]) -> String {
        let loops = self.statement(statement).loops.iter().map(|id| &self.loops[id.index()]);
        let value = |(level, l): (usize, &Loop)| {
            format!("{} = {}", l.name, l.offset.eval(&point[..level]) + l.step * point[level])
        };
        loops.enumerate().take(point.len()).map(value).collect::<Vec<_>>().join(", ")
    }
}
