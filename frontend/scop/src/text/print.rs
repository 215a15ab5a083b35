//! Scop to text.

use super::names::{type_named, SYMBOLS};
use crate::value;
use crate::{
    Access, Affine, BinaryOp, Binding, Constraint, Expr, ExprKind, ScalarType, Scop, Statement, Storage, UnaryOp,
};
use std::fmt::{self, Display, Formatter};

impl Display for Scop {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match &self.function.name {
            Some(name) => {
                writeln!(f, "scop {}: function {name}, {} parameters", Name(&self.name), self.function.parameters)?
            }
            None => writeln!(f, "scop {}", Name(&self.name))?,
        }
        for clause in &self.clauses {
            let values: Vec<String> = clause.values.iter().map(|v| format!("{v:?}")).collect();
            writeln!(f, "  pragma {} {}", clause.name, values.join(", "))?;
        }
        for s in &self.sizes {
            let value = s.value.map_or(String::new(), |v| format!(", value {v}"));
            writeln!(f, "  size {}: {}, parameter {}, max {}{value}", Name(&s.name), s.ty, s.parameter, s.max)?;
        }
        let sizes: Vec<String> = self.sizes.iter().map(|s| s.name.clone()).collect();
        for a in &self.arrays {
            let place = match (a.storage, a.binding) {
                (Storage::Dram, Binding::Parameter(k)) => format!("dram parameter {k}"),
                (Storage::Dram, Binding::Value(k)) => format!("dram value {k}"),
                (Storage::Dram, Binding::Host(k)) => format!("dram host {k}"),
                (Storage::Dram, Binding::Scratch) => "dram scratch".into(),
                (Storage::Dram, Binding::Around) => "dram around".into(),
                (Storage::Dram, Binding::Allocated) => "dram allocated".into(),
                (Storage::Dram, Binding::Static) => "dram static".into(),
                (Storage::Dram, _) => "dram global".into(),
                (Storage::Local, _) => "local".into(),
            };
            let extents = a.dims.iter().enumerate().map(|(d, extent)| {
                a.extents.get(d).filter(|e| !e.is_constant()).map_or(extent.to_string(), |e| affine(e, &sizes))
            });
            let dims: String = extents.map(|d| format!("[{d}]")).collect();
            writeln!(
                f,
                "  array {}{dims}: {} ({}), {place}{}",
                Name(&a.name),
                a.ty,
                a.c_type,
                [(a.constant, ", const"), (a.zeroed, ", zeroed"), (a.kept, ", kept")]
                    .map(|(is, word)| if is { word } else { "" })
                    .concat()
            )?;
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
        for s in &self.host {
            writeln!(f, "  host {} = {}", self.access(&s.write, &[]), self.expr(&s.rhs, s, &[], false))?;
        }
        for (k, s) in self.statements.iter().enumerate() {
            self.statement_text(f, k, s)?;
        }
        Ok(())
    }
}

impl Scop {
    /// Names of the iterators from the outermost to `innermost`. A normalized iterator that differs from C's has a `'`.
    pub(super) fn chain(&self, innermost: Option<crate::LoopId>) -> Vec<String> {
        let mut names = vec![];
        let mut at = innermost;
        while let Some(l) = at.and_then(|id| self.loops.get(id.index())) {
            let same = l.step == 1 && l.offset.constant == 0 && l.offset.is_constant();
            names.push(format!("{}{}", l.name, if same { "" } else { "'" }));
            at = l.parent;
        }
        names.reverse();
        // An inner loop may have the name of an outer one.
        for k in 1..names.len() {
            let twins = names[..k].iter().filter(|n| n.split('.').next() == names[k].split('.').next()).count();
            if twins > 0 {
                names[k] = format!("{}.{}", names[k], twins + 1);
            }
        }
        names
    }

    fn statement_text(&self, f: &mut Formatter, k: usize, s: &Statement) -> fmt::Result {
        let names = self.chain(s.loops.last().copied());
        let inside = s.loops.last().map_or(String::new(), |l| format!(" in loop {}", l.0));
        writeln!(f, "  S{k}[{}]{inside} at {:?}", names.join(", "), s.beta)?;
        for part in &s.domain {
            writeln!(f, "    where {}", conjunction(part, &names))?;
        }
        for part in s.around.iter().filter(|_| s.around != s.domain) {
            writeln!(f, "    around {}", conjunction(part, &names))?;
        }
        let order = s.rhs.reads();
        let same = |a: &Access, b: &Access| (a.array, &a.subscripts) == (b.array, &b.subscripts);
        let distinct = (0..s.reads.len()).all(|k| !s.reads[..k].iter().any(|r| same(r, &s.reads[k])));
        let numbered = !distinct || !order.iter().copied().eq(0..s.reads.len());
        if numbered {
            let all: Vec<String> = s.reads.iter().map(|r| self.access(r, &names)).collect();
            writeln!(f, "    reads {}", all.join(", "))?;
        }
        writeln!(f, "    {} = {}", self.access(&s.write, &names), self.expr(&s.rhs, s, &names, numbered))
    }

    fn access(&self, a: &Access, names: &[String]) -> String {
        let subscripts: String = a.subscripts.iter().map(|x| format!("[{}]", affine(x, names))).collect();
        format!("{}{subscripts}", Name(&self.array(a.array).name))
    }

    fn expr(&self, e: &Expr, s: &Statement, names: &[String], numbered: bool) -> String {
        let sub = |x: &Expr| self.expr(x, s, names, numbered);
        match &e.kind {
            ExprKind::Const(bits) => constant(*bits, e.ty),
            ExprKind::Iter(form) => format!("({}){}", affine(form, names), e.ty),
            ExprKind::Holds(all) => {
                format!("[{}]", conjunction(all, names))
            }
            ExprKind::Read(k) => {
                let number = if numbered { format!("@{k}") } else { String::new() };
                s.reads.get(*k).map_or("?".into(), |a| self.access(a, names)) + &number
            }
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
            ExprKind::Lookup(table, a) => {
                let values: String = table.iter().map(|&bits| format!(", {}", constant(bits, e.ty))).collect();
                format!("lookup({}{values})", sub(a))
            }
            ExprKind::Host(f, all) => {
                format!("{}({})", f.name(e.ty), all.iter().map(sub).collect::<Vec<_>>().join(", "))
            }
            ExprKind::Fma(a, b, c) => format!("fma({}, {}, {})", sub(a), sub(b), sub(c)),
        }
    }
}

fn constant(bits: u64, ty: ScalarType) -> String {
    if !ty.is_float() {
        return format!("{}{ty}", value::to_integer(bits, ty));
    }
    let x = value::to_f64(bits, ty);
    if x.is_finite() {
        format!("{x:?}{ty}")
    } else {
        format!("bits({bits:#x}){ty}")
    }
}

/// Prints an expression whose reads are these scalars.
pub fn formula(scalars: &[(&str, ScalarType)], e: &Expr) -> String {
    let (scop, statement) = super::scalar_scop(scalars);
    scop.expr(e, &statement, &[], false)
}

/// A name, in quotes if it is ambiguous.
pub(super) struct Name<'a>(pub &'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let special = WORDS.contains(&self.0) || type_named(self.0).is_some();
        if super::lex::is_word(self.0) && !special {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// Words with a special meaning at the beginning of a line or an operand.
const WORDS: [&str; 16] = [
    "scop", "pragma", "size", "array", "loop", "host", "where", "around", "reads", "sqrt", "abs", "min", "max", "fma",
    "bits", "lookup",
];

/// The infix operator, or the function's name as the error.
fn symbol(op: BinaryOp) -> Result<&'static str, &'static str> {
    SYMBOLS.iter().find(|s| s.1 == op).map(|s| s.0).ok_or(if op == BinaryOp::Min { "min" } else { "max" })
}

/// `2*i - j + 1`
pub fn affine(form: &Affine, names: &[String]) -> String {
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

/// `i - 1 >= 0 and j = 0`, or `always`.
pub fn conjunction(all: &[Constraint], names: &[String]) -> String {
    let one = |c: &Constraint| format!("{} {} 0", affine(&c.expr, names), if c.equality { "=" } else { ">=" });
    if all.is_empty() {
        "always".into()
    } else {
        all.iter().map(one).collect::<Vec<_>>().join(" and ")
    }
}
