//! Operators: on one and two values (`Sig`), and on lists (`ModuleBuilder`).
//!
//! Widths: `+ - & | ^` take and return equal types (modular arithmetic). `*` takes equal signedness and returns the sum
//! of both widths. Comparisons return `u1`. `extend` never narrows, `truncate` never widens. Signedness decides
//! comparisons, extension, `*` and `>>`.

use super::builder::{ModuleBuilder, Sig};
use crate::netlist::{s, u, BinOp, Bits, FaultKind, Node, Op, Ty, UnOp};
use num_traits::ToPrimitive;

impl<'m> Sig<'m> {
    /// Gives the value a name in the netlist, the printed text and waveforms.
    #[track_caller]
    pub fn named(self, name: impl Into<String>) -> Self {
        let name = name.into();
        let free = self.m.with(|m| {
            let n = &mut m.nodes[self.id.0 as usize];
            if n.name.is_none() {
                n.name = Some(name.clone());
                return true;
            }
            false
        });
        if free {
            return self;
        }
        self.m.add(Op::Wire { driver: Some(self.id) }, self.ty, Some(name))
    }

    /// Adds a synthesis attribute to the value's declaration.
    pub fn attr(self, key: &str, value: &str) -> Self {
        self.m.with(|m| m.nodes[self.id.0 as usize].attrs.push((key.into(), value.into())));
        self
    }

    /// Adds lines of comment above the value's statement. Only a register, a named value and an output of an instance
    /// always have one.
    pub fn remark(self, text: &str) -> Self {
        self.m.with(|m| {
            let mut id = self.id;
            while let Op::Cast(of) = m.node(id).op {
                id = of;
            }
            m.nodes[id.0 as usize].remark = Some(text.into());
        });
        self
    }

    /// Names the value's net if it becomes one because its text is long or has several readers. In contrast to
    /// [`Sig::named`], this does not make it a net.
    pub fn called(self, name: impl Into<String>) -> Self {
        self.m.with(|m| {
            let mut id = self.id;
            while let Op::Cast(of) = m.node(id).op {
                id = of;
            }
            m.nodes[id.0 as usize].hint.get_or_insert(name.into());
        });
        self
    }

    /// `w` bits from bit `lo` upwards; unsigned.
    #[track_caller]
    pub fn slice(self, lo: u32, w: u32) -> Self {
        if w == 0 || lo.saturating_add(w) > self.ty.w {
            self.m.fault(FaultKind::Width, format!("{w} bits from bit {lo} of {}", self.ty));
            return self.m.poison(u(w.max(1)));
        }
        if let Some(bits) = self.constant() {
            return self.m.add(Op::Lit(bits.slice(lo, w)), u(w), None);
        }
        self.m.add(Op::Slice(self.id, lo), u(w), None)
    }

    /// Bit `i`.
    #[track_caller]
    pub fn bit(self, i: u32) -> Self {
        self.slice(i, 1)
    }

    /// Most significant bit.
    #[track_caller]
    pub fn msb(self) -> Self {
        self.bit(self.ty.w - 1)
    }

    /// Sign or zero extension to `w` bits, never narrower.
    #[track_caller]
    pub fn extend(self, w: u32) -> Self {
        if w < self.ty.w {
            self.m.fault(FaultKind::Width, format!("cannot extend {} to {w} bits", self.ty));
            return self.m.poison(self.ty.with_width(w.max(1)));
        }
        self.resize(w)
    }

    /// The low `w` bits with the same signedness, never wider.
    #[track_caller]
    pub fn truncate(self, w: u32) -> Self {
        if w > self.ty.w || w == 0 {
            self.m.fault(FaultKind::Width, format!("cannot truncate {} to {w} bits", self.ty));
            return self.m.poison(self.ty.with_width(w.max(1)));
        }
        self.resize(w)
    }

    /// Extension or truncation to `w` bits.
    #[track_caller]
    pub fn resize(self, w: u32) -> Self {
        if w == self.ty.w {
            return self;
        }
        let ty = self.ty.with_width(w);
        match self.constant() {
            Some(bits) if w < self.ty.w => self.m.add(Op::Lit(bits.slice(0, w)), ty, None),
            Some(bits) if !(self.ty.signed && bits.bit(self.ty.w - 1)) => {
                self.m.add(Op::Lit(Bits::zero(w - self.ty.w).concat(&bits)), ty, None)
            }
            _ => self.m.add(Op::Resize(self.id), ty, None),
        }
    }

    /// The same bits as a signed number.
    #[track_caller]
    pub fn signed(self) -> Self {
        self.cast(s(self.ty.w))
    }

    /// The same bits as an unsigned number.
    #[track_caller]
    pub fn unsigned(self) -> Self {
        self.cast(u(self.ty.w))
    }

    /// `resize` by the present signedness, then reinterpretation as `ty`.
    #[track_caller]
    pub fn to(self, ty: Ty) -> Self {
        self.resize(ty.w).cast(ty)
    }

    #[track_caller]
    fn cast(self, ty: Ty) -> Self {
        if ty == self.ty {
            return self;
        }
        self.m.add(Op::Cast(self.id), ty, None)
    }

    #[track_caller]
    fn bin(self, op: BinOp, r: Self) -> Self {
        let fits = match op {
            BinOp::Mul => self.ty.signed == r.ty.signed,
            BinOp::Shl | BinOp::Shr => !r.ty.signed,
            _ => self.ty == r.ty,
        };
        let ty = match op {
            BinOp::Mul => self.ty.with_width(self.ty.w + r.ty.w),
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le => u(1),
            _ => self.ty,
        };
        if !fits {
            let name = format!("{op:?}").to_lowercase();
            self.m.fault(FaultKind::Width, format!("operands of `{name}` do not agree: {} and {}", self.ty, r.ty));
            return self.m.poison(ty);
        }
        self.folded(op, r).unwrap_or_else(|| self.m.add(Op::Bin(op, self.id, r.id), ty, None))
    }

    /// The bits of a constant that has no name.
    pub(super) fn constant(self) -> Option<Bits> {
        self.m.with(|m| match &m.nodes[self.id.0 as usize] {
            Node { op: Op::Lit(bits), name: None, .. } => Some(bits.clone()),
            _ => None,
        })
    }

    /// An operation with a constant, folded where the result is an operand or a constant.
    #[track_caller]
    fn folded(self, op: BinOp, r: Self) -> Option<Self> {
        let (a, b) = (self.constant(), r.constant());
        let zero = |bits: &Option<Bits>| bits.as_ref().is_some_and(Bits::is_zero);
        let ones = |bits: &Option<Bits>| bits.as_ref().is_some_and(|x| (0..x.width()).all(|i| x.bit(i)));
        let known = |holds: bool| Some(self.m.lit(u8::from(holds), u(1)));
        match op {
            BinOp::And if zero(&a) || ones(&b) => Some(self),
            BinOp::And if zero(&b) || ones(&a) => Some(r),
            BinOp::Or if ones(&a) || zero(&b) => Some(self),
            BinOp::Or if ones(&b) || zero(&a) => Some(r),
            BinOp::Add | BinOp::Sub | BinOp::Xor if zero(&b) => Some(self),
            BinOp::Add | BinOp::Xor if zero(&a) => Some(r),
            BinOp::Eq => known(a? == b?),
            BinOp::Ne => known(a? != b?),
            _ => None,
        }
    }

    #[track_caller]
    fn un(self, op: UnOp, ty: Ty) -> Self {
        let folded = self.constant().and_then(|bits| match op {
            UnOp::Not if ty.w == 1 => Some(bits.is_zero()),
            UnOp::RedOr => Some(!bits.is_zero()),
            UnOp::RedAnd => Some((0..bits.width()).all(|i| bits.bit(i))),
            _ => None,
        });
        if let Some(bit) = folded {
            return self.m.lit_big(&[bit.into()], ty);
        }
        self.m.add(Op::Un(op, self.id), ty, None)
    }

    /// `self == r`.
    #[track_caller]
    #[allow(clippy::should_implement_trait)]
    pub fn eq(self, r: Self) -> Self {
        self.bin(BinOp::Eq, r)
    }

    /// `self != r`.
    #[track_caller]
    #[allow(clippy::should_implement_trait)]
    pub fn ne(self, r: Self) -> Self {
        self.bin(BinOp::Ne, r)
    }

    /// `self < r`.
    #[track_caller]
    #[allow(clippy::should_implement_trait)]
    pub fn lt(self, r: Self) -> Self {
        self.bin(BinOp::Lt, r)
    }

    /// `self <= r`.
    #[track_caller]
    #[allow(clippy::should_implement_trait)]
    pub fn le(self, r: Self) -> Self {
        self.bin(BinOp::Le, r)
    }

    /// `self > r`.
    #[track_caller]
    #[allow(clippy::should_implement_trait)]
    pub fn gt(self, r: Self) -> Self {
        r.bin(BinOp::Lt, self)
    }

    /// `self >= r`.
    #[track_caller]
    #[allow(clippy::should_implement_trait)]
    pub fn ge(self, r: Self) -> Self {
        r.bin(BinOp::Le, self)
    }

    /// `self == v` for a constant.
    #[track_caller]
    pub fn eq_lit<T: ToPrimitive>(self, v: T) -> Self {
        self.eq(self.m.lit(v, self.ty))
    }

    /// `self != v` for a constant.
    #[track_caller]
    pub fn ne_lit<T: ToPrimitive>(self, v: T) -> Self {
        self.ne(self.m.lit(v, self.ty))
    }

    /// `self + v` for a constant, modular.
    #[track_caller]
    pub fn add_lit<T: ToPrimitive>(self, v: T) -> Self {
        self + self.m.lit(v, self.ty)
    }

    /// `self - v` for a constant, modular.
    #[track_caller]
    pub fn sub_lit<T: ToPrimitive>(self, v: T) -> Self {
        self - self.m.lit(v, self.ty)
    }

    /// Shifted left by a constant; keeps the type.
    #[track_caller]
    pub fn shl_const(self, n: u32) -> Self {
        if n == 0 {
            return self;
        }
        if n >= self.ty.w {
            return self.m.lit(0, self.ty);
        }
        self.m.concat(&[self.slice(0, self.ty.w - n), self.m.lit(0, u(n))]).cast(self.ty)
    }

    /// Shifted right by a constant, arithmetically if signed; keeps the type.
    #[track_caller]
    pub fn shr_const(self, n: u32) -> Self {
        if n == 0 {
            return self;
        }
        let w = self.ty.w;
        if n >= w && !self.ty.signed {
            return self.m.lit(0, self.ty);
        }
        let n = n.min(w - 1);
        self.slice(n, w - n).cast(self.ty.with_width(w - n)).extend(w)
    }

    /// Shifted left by an unsigned value; keeps the type.
    #[track_caller]
    pub fn shl_dyn(self, amount: Self) -> Self {
        self.bin(BinOp::Shl, amount)
    }

    /// Shifted right by an unsigned value, arithmetically if signed; keeps the type.
    #[track_caller]
    pub fn shr_dyn(self, amount: Self) -> Self {
        self.bin(BinOp::Shr, amount)
    }

    /// `0 - self`, modular.
    #[track_caller]
    #[allow(clippy::should_implement_trait)]
    pub fn neg(self) -> Self {
        self.un(UnOp::Neg, self.ty)
    }

    /// Whether any bit is set.
    #[track_caller]
    pub fn reduce_or(self) -> Self {
        if self.ty.w == 1 {
            return self.unsigned();
        }
        self.un(UnOp::RedOr, u(1))
    }

    /// Whether all bits are set.
    #[track_caller]
    pub fn reduce_and(self) -> Self {
        if self.ty.w == 1 {
            return self.unsigned();
        }
        self.un(UnOp::RedAnd, u(1))
    }

    /// Parity.
    #[track_caller]
    pub fn reduce_xor(self) -> Self {
        if self.ty.w == 1 {
            return self.unsigned();
        }
        self.un(UnOp::RedXor, u(1))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => {
        $(impl<'m> std::ops::$trait for Sig<'m> {
            type Output = Sig<'m>;
            #[track_caller]
            fn $method(self, r: Self) -> Self {
                self.bin(BinOp::$op, r)
            }
        })*
    };
}
operators!(Add add Add, Sub sub Sub, Mul mul Mul, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

impl std::ops::Not for Sig<'_> {
    type Output = Self;
    #[track_caller]
    fn not(self) -> Self {
        self.un(UnOp::Not, self.ty)
    }
}

impl ModuleBuilder {
    /// The value of the first set condition, or `default`.
    #[track_caller]
    pub fn select<'m>(&'m self, cases: &[(Sig<'m>, Sig<'m>)], default: Sig<'m>) -> Sig<'m> {
        let mut out = default;
        for (c, v) in cases.iter().rev() {
            out = self.mux(*c, *v, out);
        }
        out
    }

    /// Balanced tree of modular additions; all of one type, at least one.
    #[track_caller]
    pub fn sum<'m>(&'m self, xs: &[Sig<'m>]) -> Sig<'m> {
        self.tree(xs, |a, b| a + b)
    }

    /// Disjunction of at least one signal.
    #[track_caller]
    pub fn any<'m>(&'m self, xs: &[Sig<'m>]) -> Sig<'m> {
        self.tree(xs, |a, b| a | b)
    }

    /// Conjunction of at least one signal.
    #[track_caller]
    pub fn all<'m>(&'m self, xs: &[Sig<'m>]) -> Sig<'m> {
        self.tree(xs, |a, b| a & b)
    }

    /// Balanced reduction by `f`.
    #[track_caller]
    pub fn tree<'m>(&'m self, xs: &[Sig<'m>], f: impl Fn(Sig<'m>, Sig<'m>) -> Sig<'m> + Copy) -> Sig<'m> {
        match xs {
            [] => {
                self.fault(FaultKind::Width, "reduction of no signals".into());
                self.poison(u(1))
            }
            [x] => *x,
            _ => {
                let (a, b) = xs.split_at(xs.len() / 2);
                f(self.tree(a, f), self.tree(b, f))
            }
        }
    }
}
