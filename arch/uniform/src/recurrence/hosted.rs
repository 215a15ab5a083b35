//! **Host functions.** The host computes calls of `expf` and the like on constants and scalars passed by value before a
//! run; the array gets the result in a register. The same holds for a local scalar that is set once, before all its
//! uses, and for a part of an expression.

use crate::recurrence::constants::{is_set_once, replace};
use scop::diag::{Diagnostic, Diagnostics};
use scop::{
    Access, Array, ArrayId, BinaryOp, Binding, Expr, ExprKind, HostFunction, ScalarType, Scop, Statement, Storage,
    UnaryOp,
};
use std::borrow::Cow;

/// The program with scalars that the host computes in place of its calls.
///
/// # Errors
/// E0404: a call on a value that the array computes.
pub fn hoisted(scop: Cow<'_, Scop>) -> Result<Cow<'_, Scop>, Diagnostics> {
    if !scop.statements.iter().any(|s| calls(&s.rhs)) {
        return Ok(scop);
    }
    let mut scop = scop.into_owned();
    while let Some(s) = (0..scop.statements.len())
        .find(|&s| is_set_once(&scop, s) && of_arguments(&scop, &scop.statements[s].reads, &scop.statements[s].rhs))
    {
        let set = scop.statements.remove(s);
        move_to_host(&mut scop, set.write.array, &set.rhs, &set.reads);
    }
    for s in 0..scop.statements.len() {
        while let Some(part) = largest(&scop, &scop.statements[s], &scop.statements[s].rhs) {
            let array = another(&mut scop, part.ty);
            let reads = scop.statements[s].reads.clone();
            move_to_host(&mut scop, array, &part, &reads);
            let statement = &mut scop.statements[s];
            statement.reads.push(Access { array, subscripts: vec![], span: part.span });
            let read = Expr { kind: ExprKind::Read(statement.reads.len() - 1), ..part.clone() };
            statement.rhs = with(&statement.rhs, &part, &read);
            replace(statement, None);
        }
    }
    let mut faults = vec![];
    scop.statements.iter().for_each(|s| refuse(&s.rhs, &mut faults));
    if faults.is_empty() {
        Ok(Cow::Owned(scop))
    } else {
        Err(faults)
    }
}

fn calls(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Host(..)) || e.operands().into_iter().any(calls)
}

/// Whether the host can compute it before a run.
fn of_arguments(scop: &Scop, reads: &[Access], e: &Expr) -> bool {
    let number = |ty: ScalarType| !ty.is_float() || ty.bits() >= 32;
    let operator = match &e.kind {
        ExprKind::Const(_) | ExprKind::Host(..) => true,
        ExprKind::Read(k) => scop.array(reads[*k].array).by_value().is_some(),
        ExprKind::Cast(_) => e.ty.is_float(),
        ExprKind::Unary(op, _) => e.ty.is_float() && *op != UnaryOp::Not,
        ExprKind::Binary(op, ..) => {
            e.ty.is_float() && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
        }
        ExprKind::Iter(_) | ExprKind::Holds(_) | ExprKind::Select(..) | ExprKind::Lookup(..) | ExprKind::Fma(..) => {
            false
        }
    };
    operator && number(e.ty) && e.operands().into_iter().all(|x| of_arguments(scop, reads, x))
}

/// The largest part that calls a function and that the host can compute.
fn largest(scop: &Scop, statement: &Statement, e: &Expr) -> Option<Expr> {
    if !calls(e) {
        return None;
    }
    if of_arguments(scop, &statement.reads, e) {
        return Some(e.clone());
    }
    e.operands().into_iter().find_map(|x| largest(scop, statement, x))
}

fn with(e: &Expr, part: &Expr, instead: &Expr) -> Expr {
    if e == part {
        instead.clone()
    } else {
        e.with_operands(|x| with(x, part, instead))
    }
}

/// Makes the scalar one that the host computes.
fn move_to_host(scop: &mut Scop, array: ArrayId, rhs: &Expr, reads: &[Access]) {
    let number = scop.host.len() as u32;
    let scalar = &mut scop.arrays[array.index()];
    (scalar.storage, scalar.binding) = (Storage::Dram, Binding::Host(number));
    let mut used: Vec<Access> = vec![];
    let rhs = numbered(rhs, reads, &mut used);
    let write = Access { array, subscripts: vec![], span: rhs.span };
    let always = vec![vec![]];
    scop.host.push(Statement {
        loops: vec![],
        domain: always.clone(),
        around: always,
        beta: vec![i64::from(number)],
        write,
        span: rhs.span,
        rhs,
        reads: used,
    });
}

/// The expression with its reads numbered in order of appearance, those of one array once.
fn numbered(e: &Expr, reads: &[Access], used: &mut Vec<Access>) -> Expr {
    if let ExprKind::Read(k) = e.kind {
        let at = used.iter().position(|r| r.array == reads[k].array).unwrap_or_else(|| {
            used.push(reads[k].clone());
            used.len() - 1
        });
        return Expr { kind: ExprKind::Read(at), ..e.clone() };
    }
    let used = std::cell::RefCell::new(used);
    e.with_operands(|x| numbered(x, reads, &mut used.borrow_mut()))
}

fn another(scop: &mut Scop, ty: ScalarType) -> ArrayId {
    let name = (1..).map(|n| format!("host_{n}")).find(|n| scop.arrays.iter().all(|a| a.name != *n)).expect("a name");
    let c_type = if ty.bits() == 32 { "float" } else { "double" }.to_string();
    scop.arrays.push(Array {
        name,
        ty,
        c_type,
        dims: vec![],
        extents: vec![],
        storage: Storage::Dram,
        binding: Binding::Local,
        constant: false,
        zeroed: false,
        kept: false,
        span: scop.function.region,
    });
    ArrayId(scop.arrays.len() as u32 - 1)
}

fn refuse(e: &Expr, faults: &mut Diagnostics) {
    if let ExprKind::Host(function, _) = &e.kind {
        let message = format!("call of `{}` on a value that the array computes", function.name(e.ty));
        let fault = Diagnostic::error("E0404", e.span, message).label("such functions are not carried into hardware");
        use HostFunction::{Cos, Exp, Log, Sin, Tanh};
        let help = match (function, e.ty.bits()) {
            (Exp | Log | Sin | Cos | Tanh, 32) => {
                "--math approx computes it by a polynomial, with an error below 2 units in the last place; or write a \
                polynomial or a table"
                    .to_string()
            }
            (Exp | Log | Sin | Cos | Tanh, _) => format!(
                "call `{0}f`, the function of `float`: --math approx computes it by a polynomial; or write a polynomial or a \
                table",
                function.name(e.ty)
            ),
            _ => "the host computes it of constants and of scalars passed by value; here, write a polynomial or a table".into(),
        };
        faults.push(fault.help(help));
        return;
    }
    e.operands().into_iter().for_each(|x| refuse(x, faults));
}
