//! Formulas in the languages of drivers: scalars that depend on other arguments, and values that depend on sizes. Each
//! floating-point operation gets its own variable, because the driver's compiler must not fuse operations.

use crate::types;
use scop::value;
use scop::{BinaryOp, Expr, ExprKind, ScalarType, UnaryOp};
use templates::interface::{Argument, Formula};
use uniform::sizes;

/// A language of drivers.
pub enum Language {
    C,
    Python,
}

/// Lines, without indentation, that assign the argument's value to a variable of its name. `value_of` returns the value
/// of another argument in the language.
pub fn lines(
    argument: &Argument,
    formula: &Formula,
    language: &Language,
    value_of: &dyn Fn(&str) -> String,
) -> Vec<String> {
    let mut steps = Steps { name: &argument.ident, formula, language, value_of, lines: vec![] };
    let value = steps.value(&formula.expr);
    let last = steps.assigned(argument.ident.clone(), argument.ty, value);
    steps.lines.push(last);
    steps.lines
}

/// A language's notation of formulas over sizes.
pub struct Sized<'a> {
    pub constant: &'a dyn Fn(i64) -> String,
    /// The size with an index.
    pub size: &'a dyn Fn(usize) -> String,
    /// The quotient by a positive divisor, rounded down.
    pub floor: &'a dyn Fn(String, i64) -> String,
    /// Functions of two numbers.
    pub least: &'a str,
    pub greatest: &'a str,
}

impl Sized<'_> {
    pub fn text(&self, formula: &sizes::Formula) -> String {
        let both = |x: &[sizes::Formula; 2]| [self.text(&x[0]), self.text(&x[1])];
        match formula {
            sizes::Formula::Const(c) => (self.constant)(*c),
            sizes::Formula::Size(k) => (self.size)(*k as usize),
            sizes::Formula::OfFunction(_) => unreachable!("the formula of one function"),
            sizes::Formula::ByCase(_) => unreachable!("a register for each case"),
            sizes::Formula::Parameter { .. } => unreachable!("the formula of a parameter in its place"),
            sizes::Formula::Sum(x) => format!("({})", both(x).join(" + ")),
            sizes::Formula::Product(x) => format!("({})", both(x).join(" * ")),
            sizes::Formula::Floor(x, by) => (self.floor)(self.text(x), *by),
            sizes::Formula::Least(x) => format!("{}({})", self.least, both(x).join(", ")),
            sizes::Formula::Greatest(x) => format!("{}({})", self.greatest, both(x).join(", ")),
        }
    }
}

struct Steps<'a> {
    name: &'a str,
    formula: &'a Formula,
    language: &'a Language,
    value_of: &'a dyn Fn(&str) -> String,
    lines: Vec<String>,
}

impl Steps<'_> {
    fn assigned(&self, name: String, ty: ScalarType, value: String) -> String {
        match self.language {
            Language::C => format!("volatile {} {name} = {value};", types::c(ty)),
            Language::Python => format!("{name} = {value}"),
        }
    }

    /// Assigns the value of an operation to a new variable.
    fn step(&mut self, ty: ScalarType, value: String) -> String {
        let name = format!("{}_{}", self.name, self.lines.len() + 1);
        let line = self.assigned(name.clone(), ty, value);
        self.lines.push(line);
        name
    }

    fn value(&mut self, e: &Expr) -> String {
        let operands: Vec<String> = e.operands().into_iter().map(|x| self.value(x)).collect();
        let python = matches!(self.language, Language::Python);
        let value = match (&e.kind, operands.as_slice()) {
            (ExprKind::Read(k), _) => return (self.value_of)(&self.formula.operands[*k]),
            (ExprKind::Const(bits), _) if e.ty.is_float() => return float(*bits, e.ty, python),
            (ExprKind::Const(bits), _) => return value::to_integer(*bits, e.ty).to_string(),
            (ExprKind::Cast(_), [a]) if python => format!("numpy.{}({a})", types::numpy(e.ty)),
            (ExprKind::Cast(_), [a]) => format!("({}){a}", types::c(e.ty)),
            (ExprKind::Unary(op, _), [a]) => match op {
                UnaryOp::Sqrt if python => format!("numpy.sqrt({a})"),
                UnaryOp::Sqrt => format!("sqrt{}({a})", if e.ty.bits() == 32 { "f" } else { "" }),
                UnaryOp::Abs if python => format!("numpy.abs({a})"),
                UnaryOp::Abs => format!("fabs{}({a})", if e.ty.bits() == 32 { "f" } else { "" }),
                _ => format!("-{a}"),
            },
            (ExprKind::Binary(op, ..), [a, b]) => {
                let sign = match op {
                    BinaryOp::Add => "+",
                    BinaryOp::Sub => "-",
                    BinaryOp::Mul => "*",
                    _ => "/",
                };
                format!("{a} {sign} {b}")
            }
            (ExprKind::Host(f, _), all) if python => {
                format!("numpy.{}(host(\"{}\", {}))", types::numpy(e.ty), f.name(e.ty), all.join(", "))
            }
            (ExprKind::Host(f, _), all) => format!("{}({})", f.name(e.ty), all.join(", ")),
            _ => unreachable!("a formula has these operators"),
        };
        self.step(e.ty, value)
    }
}

/// A constant in a notation that no compiler rounds.
fn float(bits: u64, ty: ScalarType, python: bool) -> String {
    let x = value::to_f64(bits, ty);
    match (python, ty.bits()) {
        (true, _) if !x.is_finite() => format!("numpy.{}(\"{x}\")", types::numpy(ty)),
        (true, _) => format!("numpy.{}({x:?})", types::numpy(ty)),
        // Macros of <math.h>, which are positive.
        (false, _) if x.is_nan() => "NAN".into(),
        (false, _) if x.is_infinite() => if x > 0.0 { "INFINITY" } else { "(-INFINITY)" }.into(),
        (false, bits) => {
            let number = format!("{x:?}{}", if bits == 32 { "f" } else { "" });
            if x.is_sign_negative() {
                format!("({number})")
            } else {
                number
            }
        }
    }
}
