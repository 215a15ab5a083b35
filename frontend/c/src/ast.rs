//! Syntax tree of the marked region and of the declarations around it. Names are not resolved yet.
//!
//! `Poison` marks a place where a fault was reported already; later stages report nothing about it.

use scop::diag::{Diagnostic, Span};
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Plus,
    Neg,
    Not,
    LogicalNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

impl Binary {
    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Lt | Self::Gt | Self::Le | Self::Ge | Self::Eq | Self::Ne)
    }
}

impl Expr {
    /// The value of a sum, product or quotient of integer literals and names with values.
    pub fn number(&self, named: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match &self.kind {
            ExprKind::Literal(bits, ty) if !ty.is_float() => i64::try_from(scop::value::to_integer(*bits, *ty)).ok(),
            ExprKind::Name(name) => named(name),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (a.number(named)?, b.number(named)?);
                match op {
                    Binary::Add => a.checked_add(b),
                    Binary::Sub => a.checked_sub(b),
                    Binary::Mul => a.checked_mul(b),
                    Binary::Div if b > 0 => a.checked_div(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Bits and type.
    Literal(u64, ScalarType),
    Name(Rc<str>),
    Index(Box<Expr>, Box<Expr>),
    Call(Rc<str>, Vec<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(ScalarType, Box<Expr>),
    /// `target = value`, or `target op= value`.
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    /// `e++` (`Add`) and `e--` (`Sub`); `++e` is `e += 1`.
    Step(Binary, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    /// `&e`, allowed as the argument of a function that is inlined.
    Address(Box<Expr>),
    /// `sizeof e`, until `objects` replaces it by a number.
    SizeOf(Box<Expr>),
    /// A member as a subscript: `a.x` is `a[x]`, `p->x` is `p[0][x]`.
    Member(Rc<str>),
    Poison,
}

impl Expr {
    /// Structural equality, ignoring spans.
    pub fn same(&self, other: &Expr) -> bool {
        use ExprKind::*;
        match (&self.kind, &other.kind) {
            (Literal(a, s), Literal(b, t)) => a == b && s == t,
            (Name(a), Name(b)) => a == b,
            (Index(a, i), Index(b, j)) => a.same(b) && i.same(j),
            (Call(f, a), Call(g, b)) => f == g && a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same(y)),
            (Unary(o, a), Unary(p, b)) => o == p && a.same(b),
            (Binary(o, a, c), Binary(p, b, d)) => o == p && a.same(b) && c.same(d),
            (Conditional(a, c, e), Conditional(b, d, f)) => a.same(b) && c.same(d) && e.same(f),
            (Cast(s, a), Cast(t, b)) => s == t && a.same(b),
            (Member(a), Member(b)) => a == b,
            (Address(a), Address(b)) | (SizeOf(a), SizeOf(b)) => a.same(b),
            _ => false,
        }
    }

    /// Calls `visit` on this expression and all its subexpressions, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        self.operands().into_iter().for_each(|a| a.walk(visit));
    }

    pub fn operands(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Literal(..) | ExprKind::Name(_) | ExprKind::Member(_) | ExprKind::Poison => vec![],
            ExprKind::Call(_, all) => all.iter().collect(),
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::Step(_, a) | ExprKind::Address(a) => vec![a],
            ExprKind::SizeOf(a) => vec![a],
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Comma(a, b) => {
                vec![a, b]
            }
            ExprKind::Conditional(a, b, c) => vec![a, b, c],
        }
    }

    /// An `int` literal 1, for `i++`.
    pub fn one(span: Span) -> Expr {
        Expr { kind: ExprKind::Literal(1, ScalarType::I32), span }
    }

    /// The name and the subscripts of `A[i][j]`, outermost first; a bare name has none.
    pub fn element(&self) -> Option<(&Expr, Vec<&Expr>)> {
        match &self.kind {
            ExprKind::Name(_) => Some((self, vec![])),
            ExprKind::Index(base, subscript) => {
                let (name, mut subscripts) = base.element()?;
                subscripts.push(subscript);
                Some((name, subscripts))
            }
            _ => None,
        }
    }

    /// Whether it, or the array it is an element of, was reported as faulty.
    pub fn of_poison(&self) -> bool {
        match &self.kind {
            ExprKind::Index(base, _) => base.of_poison(),
            kind => matches!(kind, ExprKind::Poison),
        }
    }

    /// Its member, written `e.name`.
    pub fn member(&self, name: &Rc<str>) -> Expr {
        let member = Expr { kind: ExprKind::Member(name.clone()), span: self.span };
        Expr { kind: ExprKind::Index(Box::new(self.clone()), Box::new(member)), span: self.span }
    }
}

/// A declared type before its declarator: a scalar, possibly with extents from a typedef.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// `None` if it is not supported; `why` has the reason.
    pub scalar: Option<ScalarType>,
    pub why: Option<String>,
    /// As written, without storage classes and qualifiers.
    pub text: String,
    pub constant: bool,
    /// Declared with `static`.
    pub is_static: bool,
    pub dims: Vec<Extent>,
    /// The members of a structure whose members all have the type `scalar`.
    pub members: Option<Rc<[Rc<str>]>>,
    /// The width of an integer of any width; `scalar` is the type of its cell in memory.
    pub width: Option<AnyWidth>,
    pub span: Span,
}

impl TypeName {
    /// A type at `span` of which nothing is known yet.
    pub fn unknown(span: Span) -> TypeName {
        TypeName {
            scalar: None,
            why: None,
            text: String::new(),
            constant: false,
            is_static: false,
            dims: vec![],
            members: None,
            width: None,
            span,
        }
    }
}

/// The width of an `ap_int<N>`, `ap_uint<N>` or `_BitInt(N)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyWidth {
    pub bits: u32,
    /// Results are as wide as they need to be (`ap_int<N>`), not as wide as the wider operand (`_BitInt(N)`).
    pub grows: bool,
}

impl AnyWidth {
    /// The name of the type; a call of it is a conversion.
    pub fn name(self, signed: bool) -> String {
        match (self.grows, signed) {
            (true, true) => format!("ap_int<{}>", self.bits),
            (true, false) => format!("ap_uint<{}>", self.bits),
            (false, true) => format!("_BitInt({})", self.bits),
            (false, false) => format!("unsigned _BitInt({})", self.bits),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Extent {
    /// `None` for `[]`.
    pub size: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Init {
    Value(Expr),
    List(Vec<Init>, Span),
}

impl Init {
    /// Nothing but zeros is written in it.
    fn is_zero(&self) -> bool {
        match self {
            Init::Value(e) => matches!(e.kind, ExprKind::Literal(0, _)),
            Init::List(all, _) => all.iter().all(Init::is_zero),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Declarator {
    pub name: Rc<str>,
    /// Place of the name.
    pub span: Span,
    pub ty: TypeName,
    /// Extents of the declarator, outermost first; those of a typedef follow them.
    pub dims: Vec<Extent>,
    /// The first `*`, if there is one.
    pub pointer: Option<Span>,
    /// The pointer has one `*` and points to elements or rows (`(*a)[N]`). Such a parameter is an array with an open
    /// first extent.
    pub to_elements: bool,
    /// A reference (C++).
    pub reference: bool,
    /// It declares a function.
    pub function: bool,
    pub init: Option<Init>,
    pub outside: Outside,
}

/// What the function around the region does to one of its locals outside of the region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// It may give the variable a value before the region.
    pub set: bool,
    /// It may use the value that the region leaves.
    pub used: bool,
    /// It is a pointer, and points to memory that the function has allocated for it before the region.
    pub allocated: bool,
    /// It is `static`, and its initializer, which the region would have overwritten, gives it values that are not all zero.
    pub preset: bool,
}

impl Declarator {
    /// A parameter without a name.
    pub fn unnamed(ty: TypeName) -> Declarator {
        Declarator {
            name: "".into(),
            span: ty.span,
            ty,
            dims: vec![],
            pointer: None,
            to_elements: false,
            reference: false,
            function: false,
            init: None,
            outside: Outside::default(),
        }
    }

    /// A reference that may change what it refers to.
    pub fn is_variable_reference(&self) -> bool {
        self.reference && !self.ty.constant
    }

    /// Whether it has no pointer and no extents; a structure counts as a scalar.
    pub fn is_scalar(&self) -> bool {
        self.pointer.is_none() && self.dims.is_empty() && self.ty.dims.is_empty()
    }

    /// It keeps its value from call to call.
    pub fn keeps_value(&self) -> bool {
        self.ty.is_static && !self.ty.constant
    }

    /// Before the program runs all of it is zero, as far as its initializer says.
    pub fn begins_as_zero(&self) -> bool {
        !self.outside.preset && self.init.as_ref().is_none_or(Init::is_zero)
    }

    /// Its initializer, if that is not a list.
    pub fn value(&self) -> Option<&Expr> {
        match &self.init {
            Some(Init::Value(e)) => Some(e),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
}

impl Stmt {
    /// The variables that the statement declares, not those of inner blocks.
    pub fn declarators(&mut self) -> Option<&mut Vec<Declarator>> {
        match &mut self.kind {
            StmtKind::Declare(all) => Some(all),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Declare(Vec<Declarator>),
    Expr(Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    For(Box<For>),
    Block(Vec<Stmt>),
    /// Only in functions outside of the region.
    Return(Option<Expr>),
    /// Only while its loop or `switch` is parsed.
    Jump(Jump, Span),
    Empty,
    Poison,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    Break,
    Continue,
}

/// How a loop was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    For,
    While,
    /// Its body runs before its condition is tested.
    Do,
}

/// A loop; `while` and `do` have neither a start nor a step.
#[derive(Clone, Debug)]
pub struct For {
    pub kind: LoopKind,
    pub init: ForInit,
    pub condition: Option<Expr>,
    pub step: Option<Expr>,
    pub body: Stmt,
    /// In C it may end before its condition fails; here a variable in its body says so. The value of its iterator behind
    /// it is not known.
    pub may_break: bool,
    /// Place of `for (…)`.
    pub header: Span,
}

impl For {
    /// The name of the loop's iterator: the first variable that its header sets.
    pub fn iterator(&self) -> Option<Rc<str>> {
        match &self.init {
            ForInit::Declare(all) => all.first().map(|d| d.name.clone()),
            ForInit::Expr(Expr { kind: ExprKind::Assign(_, target, _), .. }) => match &target.kind {
                ExprKind::Name(n) => Some(n.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The start value of the loop's iterator.
    pub fn start(&self) -> Option<&Expr> {
        match &self.init {
            ForInit::Declare(all) => all.first()?.value(),
            ForInit::Expr(Expr { kind: ExprKind::Assign(None, _, start), .. }) => Some(start),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub enum ForInit {
    None,
    Declare(Vec<Declarator>),
    Expr(Expr),
}

/// The function around the region.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: Rc<str>,
    /// Place of the name.
    pub span: Span,
    pub params: Vec<Declarator>,
    /// Declarations before the region, in the scopes around it.
    pub locals: Vec<Declarator>,
}

/// A function defined outside of the region, inlined where it is called.
#[derive(Clone, Debug)]
pub struct Helper {
    pub result: TypeName,
    /// It returns a pointer.
    pub pointer: bool,
    pub params: Vec<Declarator>,
    /// The first fault in it if it contains unsupported code.
    pub body: Result<Vec<Stmt>, Option<Rc<Diagnostic>>>,
    /// Place of its name.
    pub span: Span,
}

/// One marked region with everything it can refer to.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Enumeration constants: name, value (if missing, one more than the previous), first of its `enum`.
    pub enumerators: Vec<(Rc<str>, Option<Expr>, bool)>,
    pub globals: Vec<Declarator>,
    pub helpers: BTreeMap<Rc<str>, Helper>,
    /// `None` for a region at file level.
    pub function: Option<Function>,
    pub region: Vec<Stmt>,
    /// Places of the variables of functions (not parameters) whose values before the region it reads.
    pub inputs: BTreeSet<Span>,
    /// Counters of loops whose values behind these loops are data (`searches`).
    pub searched: BTreeSet<Rc<str>>,
    /// From the end of the opening pragma to the start of the closing one.
    pub region_span: Span,
}
