//! The scop as text, for `--emit=scop`: arrays, loops, and per statement its domain, position and assignment.

use crate::scop::{Access, Affine, BinaryOp, Binding, Constraint, Expr, ExprKind, ScalarType, Scop, Statement, Storage, UnaryOp};
use crate::value;
use std::fmt::{self, Display, Formatter};

impl Display for ScalarType {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match *self {
            ScalarType::BOOL => write!(f, "bool"),
            ScalarType::Int { bits, signed } => write!(f, "{}{bits}", if signed { "i" } else { "u" }),
            ScalarType::Float { exponent: 8, fraction: 7 } => write!(f, "bf16"),
            ScalarType::Float { exponent, fraction } if matches!((exponent, fraction), (5, 10) | (8, 23) | (11, 52)) => write!(f, "f{}", self.bits()),
            ScalarType::Float { exponent, fraction } => write!(f, "f{exponent}_{fraction}"),
        }
    }
}

impl Display for Scop {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "scop {}", self.name)?;
        for a in &self.arrays {
            let place = match (a.storage, a.binding) {
                (Storage::Dram, Binding::Parameter(k)) => format!("dram parameter {k}"),
                (Storage::Dram, _) => "dram global".into(),
                (Storage::Local, _) => "local".into(),
            };
            let dims: String = a.dims.iter().map(|d| format!("[{d}]")).collect();
            writeln!(f, "  array {}{dims}: {} ({}), {place}{}", a.name, a.ty, a.c_type, if a.constant { ", const" } else { "" })?;
        }
        for (k, l) in self.loops.iter().enumerate() {
            let names = self.chain(l.parent);
            write!(f, "  loop {k}: {}", l.name)?;
            if l.step != 1 || l.offset != Affine::constant(names.len(), 0) {
                let start = affine(&l.offset, &names);
                write!(f, " = {start} {} {}*{}'", if l.step < 0 { "-" } else { "+" }, l.step.abs(), l.name)?;
            }
            match l.parent {
                Some(p) => writeln!(f, " in loop {}", p.0)?,
                None => writeln!(f)?,
            }
        }
        for (k, s) in self.statements.iter().enumerate() {
            self.statement_text(f, k, s)?;
        }
        Ok(())
    }
}

impl Scop {
    /// Names of the loops from the outermost to `innermost`; an iterator that is not the source's own has a `'`.
    fn chain(&self, innermost: Option<crate::scop::LoopId>) -> Vec<String> {
        let mut names = vec![];
        let mut at = innermost;
        while let Some(l) = at.and_then(|id| self.loops.get(id.index())) {
            let own = l.step == 1 && l.offset.constant == 0 && l.offset.is_constant();
            names.push(format!("{}{}", l.name, if own { "" } else { "'" }));
            at = l.parent;
        }
        names.reverse();
        names
    }

    fn statement_text(&self, f: &mut Formatter, k: usize, s: &Statement) -> fmt::Result {
        let names = self.chain(s.loops.last().copied());
        writeln!(f, "  S{k}[{}] at {:?}", names.join(", "), s.beta)?;
        for part in &s.domain {
            let all: Vec<String> = part.iter().map(|c| constraint(c, &names)).collect();
            writeln!(f, "    where {}", if all.is_empty() { "always".into() } else { all.join(" and ") })?;
        }
        writeln!(f, "    {} = {}", self.access(&s.write, &names), self.expr(&s.rhs, s, &names))
    }

    fn access(&self, a: &Access, names: &[String]) -> String {
        let subscripts: String = a.subscripts.iter().map(|x| format!("[{}]", affine(x, names))).collect();
        format!("{}{subscripts}", self.array(a.array).name)
    }

    fn expr(&self, e: &Expr, s: &Statement, names: &[String]) -> String {
        let sub = |x: &Expr| self.expr(x, s, names);
        match &e.kind {
            ExprKind::Const(bits) if e.ty.is_float() => format!("{:?}{}", value::to_f64(*bits, e.ty), e.ty),
            ExprKind::Const(bits) => format!("{}{}", value::to_integer(*bits, e.ty), e.ty),
            ExprKind::Iter(form) => format!("({}){}", affine(form, names), e.ty),
            ExprKind::Holds(all) => {
                let one = |c: &Constraint| format!("{} {} 0", affine(&c.expr, names), if c.equality { "==" } else { ">=" });
                format!("[{}]", all.iter().map(one).collect::<Vec<_>>().join(" and "))
            }
            ExprKind::Read(k) => s.reads.get(*k).map_or("?".into(), |a| self.access(a, names)),
            ExprKind::Unary(op, a) => {
                let name = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "~",
                    UnaryOp::Sqrt => "sqrt",
                    UnaryOp::Abs => "abs",
                };
                format!("{name}({})", sub(a))
            }
            ExprKind::Binary(op, a, b) => match symbol(*op) {
                Ok(infix) => format!("({} {infix} {})", sub(a), sub(b)),
                Err(name) => format!("{name}({}, {})", sub(a), sub(b)),
            },
            ExprKind::Select(c, a, b) => format!("({} ? {} : {})", sub(c), sub(a), sub(b)),
            ExprKind::Cast(a) => format!("{}({})", e.ty, sub(a)),
            ExprKind::Fma(a, b, c) => format!("fma({}, {}, {})", sub(a), sub(b), sub(c)),
        }
    }
}

/// The infix operator, or as error the function's name.
fn symbol(op: BinaryOp) -> Result<&'static str, &'static str> {
    Ok(match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Min => return Err("min"),
        BinaryOp::Max => return Err("max"),
    })
}

/// `2*i - j + 1`
fn affine(form: &Affine, names: &[String]) -> String {
    let mut out = String::new();
    let mut term = |factor: i64, name: &str| {
        let magnitude = factor.unsigned_abs();
        let body = match (magnitude, name.is_empty()) {
            (_, true) => magnitude.to_string(),
            (1, false) => name.to_string(),
            _ => format!("{magnitude}*{name}"),
        };
        let sign = match (out.is_empty(), factor < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        out.push_str(sign);
        out.push_str(&body);
    };
    for (d, &c) in form.coeffs.iter().enumerate().filter(|(_, c)| **c != 0) {
        term(c, names.get(d).map_or("?", String::as_str));
    }
    if form.constant != 0 || form.is_constant() {
        term(form.constant, "");
    }
    out
}

fn constraint(c: &Constraint, names: &[String]) -> String {
    format!("{} {} 0", affine(&c.expr, names), if c.equality { "=" } else { ">=" })
}
