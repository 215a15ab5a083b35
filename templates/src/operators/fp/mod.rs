//! Pipelined IEEE-754 operators with the semantics of `scop::value`, bit for bit: round to nearest even, subnormal
//! numbers, signed zeros, infinities. Every computed NaN is the canonical one (sign 0, only the top fraction bit set).
//!
//! Each operator is a module ([`Core`]), named after format, operation and latency (`fp32_add_l6`): operands `a`, `b`,
//! `c` in, result `y` out, a new operation every cycle, no stall and no valid. The module has `latency - 1` ranks of
//! registers. The last register, at `y`, belongs to the caller, who can give it an enable.

mod add;
mod compare;
mod convert;
mod div;
mod dot;
mod fma;
mod mul;
mod parts;
mod pipe;
mod sqrt;

pub use pipe::spread;

use crate::operators::request::{wires, Request};
use array::operators::{self, Row, Types};
use array::vsa::Op;
use rtl::{Design, ModuleBuilder, Sig, Template};
use scop::{BinaryOp, ScalarType, UnaryOp};
use uniform::fabric::Fabric;

/// A binary interchange format: exponent bits and fraction bits without the hidden one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub exponent: u32,
    pub fraction: u32,
}

impl Format {
    pub const FP16: Self = Format { exponent: 5, fraction: 10 };
    pub const BF16: Self = Format { exponent: 8, fraction: 7 };
    pub const FP32: Self = Format { exponent: 8, fraction: 23 };
    pub const FP64: Self = Format { exponent: 11, fraction: 52 };

    /// Width in bits.
    pub fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    pub fn bias(self) -> i64 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Its name in names of modules.
    pub fn name(self) -> String {
        match self {
            Self::FP16 => "fp16".into(),
            Self::BF16 => "bf16".into(),
            Self::FP32 => "fp32".into(),
            Self::FP64 => "fp64".into(),
            Format { exponent, fraction } => format!("fp_e{exponent}f{fraction}"),
        }
    }

    fn of(ty: ScalarType) -> Option<Self> {
        match ty {
            ScalarType::Float { exponent, fraction } => Some(Format { exponent, fraction }),
            ScalarType::Int { .. } => None,
        }
    }
}

/// Relations with C's semantics: with a NaN all are false but `Ne`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
}

/// The operation of a core. [`Core::format`] is the format of the operands; for a conversion to a float, of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    /// `a * b + c`, rounded once.
    Fma,
    /// `c` plus `lanes` products, aligned and rounded once; `a` and `b` hold all lanes' factors, lane 0 lowest.
    Dot {
        lanes: u32,
    },
    Div,
    Sqrt,
    /// One bit.
    Compare(Relation),
    /// C's `fminf`: the operand that is not NaN; the first of equal operands.
    Min,
    /// C's `fmaxf`, likewise.
    Max,
    FromInt {
        bits: u32,
        signed: bool,
    },
    /// Truncates and saturates; NaN gives 0.
    ToInt {
        bits: u32,
        signed: bool,
    },
    /// Not equal to zero; NaN gives 1.
    ToBool,
    FromFloat(Format),
}

/// An operator as a module; the type of `y` is unsigned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Core {
    pub operator: Operator,
    pub format: Format,
    /// Registers from operands to result, the caller's register at `y` included; 0 and 1 give a module without.
    pub latency: u32,
}

fn integer_name(bits: u32, signed: bool) -> String {
    format!("{}{bits}", if signed { 'i' } else { 'u' })
}

impl Core {
    /// Operand ports, in order.
    pub fn operands(&self) -> &'static [&'static str] {
        match self.operator {
            Operator::Fma | Operator::Dot { .. } => &["a", "b", "c"],
            Operator::Sqrt
            | Operator::FromInt { .. }
            | Operator::ToInt { .. }
            | Operator::ToBool
            | Operator::FromFloat(_) => &["a"],
            _ => &["a", "b"],
        }
    }
}

impl Template for Core {
    fn name(&self) -> String {
        let operation = match self.operator {
            Operator::Compare(relation) => format!("{relation:?}").to_lowercase(),
            Operator::FromInt { bits, signed } => format!("from_{}", integer_name(bits, signed)),
            Operator::ToInt { bits, signed } => format!("to_{}", integer_name(bits, signed)),
            Operator::ToBool => "to_bool".into(),
            Operator::Dot { lanes } => format!("dot{lanes}"),
            Operator::FromFloat(from) => format!("from_{}", from.name()),
            other => format!("{other:?}").to_lowercase(),
        };
        format!("{}_{operation}_l{}", self.format.name(), self.latency)
    }

    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let (f, latency) = (self.format, self.latency);
        m.doc(format!(
            "{:?} on {} ({} exponent, {} fraction bits). One operation a cycle; latency {latency}, of which the last\n\
            register is the instantiating module's.",
            self.operator,
            f.name(),
            f.exponent,
            f.fraction
        ));
        match self.operator {
            Operator::Add => add::build(m, f, false, latency),
            Operator::Sub => add::build(m, f, true, latency),
            Operator::Mul => mul::build(m, f, latency),
            Operator::Fma => fma::build(m, f, latency),
            Operator::Dot { lanes } => dot::build(m, f, lanes, latency),
            Operator::Div => div::build(m, f, latency),
            Operator::Sqrt => sqrt::build(m, f, latency),
            Operator::Compare(relation) => compare::relation(m, f, relation, latency),
            Operator::Min => compare::extreme(m, f, true, latency),
            Operator::Max => compare::extreme(m, f, false, latency),
            Operator::FromInt { bits, signed } => convert::from_int(m, f, bits, signed, latency),
            Operator::ToInt { bits, signed } => convert::to_int(m, f, bits, signed, latency),
            Operator::ToBool => convert::to_bool(m, f, latency),
            Operator::FromFloat(from) => convert::from_float(m, from, f, latency),
        }
    }
}

/// The core for an operation of a PE whose operands are of types `from` and whose result is of type `to`.
fn core_for(op: &Op, to: ScalarType, from: &[ScalarType], latency: u32) -> Option<Core> {
    let first = *from.first()?;
    let (operator, format) = match (op, Format::of(first), Format::of(to)) {
        (Op::Binary(op, ..), Some(f), _) => (binary(*op)?, f),
        (Op::Unary(UnaryOp::Sqrt, _), Some(f), _) => (Operator::Sqrt, f),
        (Op::Fma(..), Some(f), _) => (Operator::Fma, f),
        (Op::Dot { pairs, .. }, Some(f), _) => (Operator::Dot { lanes: pairs.len() as u32 }, f),
        (Op::Cast(_), Some(from), Some(f)) => (Operator::FromFloat(from), f),
        (Op::Cast(_), Some(f), None) if to == ScalarType::BOOL => (Operator::ToBool, f),
        (Op::Cast(_), Some(f), None) => (Operator::ToInt { bits: to.bits(), signed: to.signed() }, f),
        (Op::Cast(_), None, Some(f)) => (Operator::FromInt { bits: first.bits(), signed: first.signed() }, f),
        _ => return None,
    };
    Some(Core { operator, format, latency })
}

fn binary(op: BinaryOp) -> Option<Operator> {
    Some(match op {
        BinaryOp::Add => Operator::Add,
        BinaryOp::Sub => Operator::Sub,
        BinaryOp::Mul => Operator::Mul,
        BinaryOp::Div => Operator::Div,
        BinaryOp::Eq => Operator::Compare(Relation::Eq),
        BinaryOp::Ne => Operator::Compare(Relation::Ne),
        BinaryOp::Lt => Operator::Compare(Relation::Lt),
        BinaryOp::Le => Operator::Compare(Relation::Le),
        BinaryOp::Min => Operator::Min,
        BinaryOp::Max => Operator::Max,
        _ => return None,
    })
}

/// Latency of an operator according to its row; a schedule may ask for another.
pub fn default_latency(operator: Operator, format: Format) -> u32 {
    let result = ScalarType::Float { exponent: format.exponent, fraction: format.fraction };
    let length = if let Operator::Dot { lanes } = operator { lanes as usize } else { 0 };
    (row(operator, format).latency)(&Types { result, operands: &[result; 3], length, fabric: Fabric::default() }) as u32
}

/// The row of the operator table that a core belongs to.
pub fn row(operator: Operator, format: Format) -> &'static Row {
    let key = match operator {
        Operator::Add | Operator::Sub => operators::Operator::FloatAdd,
        Operator::Mul => operators::Operator::FloatMultiply,
        Operator::Fma => operators::Operator::FloatMultiplyAdd,
        Operator::Dot { .. } => operators::Operator::FloatDot,
        Operator::Div => operators::Operator::FloatDivide,
        Operator::Sqrt => operators::Operator::FloatSquareRoot,
        Operator::Compare(_) => operators::Operator::FloatCompare,
        Operator::Min | Operator::Max => operators::Operator::FloatMinMax,
        Operator::FromInt { .. } => operators::Operator::FloatFromInt,
        Operator::ToInt { .. } => operators::Operator::FloatToInt,
        Operator::ToBool => operators::Operator::FloatToBool,
        Operator::FromFloat(from) if from.bits() < format.bits() => operators::Operator::FloatWiden,
        Operator::FromFloat(_) => operators::Operator::FloatNarrow,
    };
    key.row()
}

/// Whether there is a core for these types.
///
/// # Errors
/// The reason why not.
pub fn supported(op: &Op, to: ScalarType, from: &[ScalarType]) -> Result<(), String> {
    let unknown = || format!("no floating-point operator for {op:?} ({from:?} to {to:?})");
    let core = core_for(op, to, from, 0).ok_or_else(unknown)?;
    let formats = match core.operator {
        Operator::FromFloat(from) => vec![from, core.format],
        _ => vec![core.format],
    };
    if let Some(f) = formats.iter().find(|f| !(3..=11).contains(&f.exponent) || !(2..=52).contains(&f.fraction)) {
        return Err(format!("floating-point formats have 3 to 11 exponent and 2 to 52 fraction bits, not {f:?}"));
    }
    if core.operator == Operator::Fma && !fma::supports(core.format) {
        return Err(format!("a fused multiply-add wants a wider exponent than that of {:?}", core.format));
    }
    Ok(())
}

/// A float with another sign bit.
pub(super) fn sign<'m>(m: &'m ModuleBuilder, a: Sig<'m>, r: &Request<'_, 'm>) -> Sig<'m> {
    let (sign, rest) = (a.msb(), a.slice(0, a.w() - 1));
    let sign = if matches!(r.op, Op::Unary(UnaryOp::Neg, _)) { !sign } else { m.lit(0, rtl::u(1)) };
    m.delay(m.concat(&[sign, rest]), r.latency.saturating_sub(1), format!("{}_d", r.name)).to(wires(r.ty))
}

/// An instance of a core: the value that the caller's last register loads, of the type [`wires`] of the result.
///
/// # Errors
/// As [`supported`].
pub fn build<'m>(m: &'m ModuleBuilder, d: &mut Design, r: &Request<'_, 'm>) -> Result<Sig<'m>, String> {
    supported(r.op, r.ty, r.operand_types)?;
    let operands = ports(m, r);
    let core = core_for(r.op, r.ty, r.operand_types, r.latency).filter(|c| c.operands().len() == operands.len());
    let core =
        core.ok_or_else(|| format!("`{}` is not a floating-point operation on {} operands", r.name, r.operands.len()))?;
    let module = d.module(core);
    let instance = m.instance(d, format!("{}_core", r.name), &module);
    for (port, value) in core.operands().iter().zip(operands) {
        instance.set(port, value);
    }
    Ok(instance.out("y").to(wires(r.ty)))
}

/// The operands as a core's ports take them.
fn ports<'m>(m: &'m ModuleBuilder, r: &Request<'_, 'm>) -> Vec<Sig<'m>> {
    let (Op::Dot { .. }, [factors @ .., addend]) = (r.op, r.operands) else { return r.operands.to_vec() };
    let side = |first: usize| m.concat(&factors.iter().skip(first).step_by(2).rev().copied().collect::<Vec<_>>());
    vec![side(0), side(1), *addend]
}
