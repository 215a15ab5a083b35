//! Sizes at run time: a program specialized to given sizes.

use crate::{Access, Affine, Array, Constraint, Expr, ExprKind, Loop, LoopId, Scop, Size, Statement};

impl Affine {
    /// Least and greatest value for sizes from 1 to `maxima`.
    pub fn over_sizes(&self, maxima: &[i64]) -> (i64, i64) {
        self.coeffs.iter().zip(maxima).fold((self.constant, self.constant), |(low, high), (&c, &max)| {
            (low + if c < 0 { c * max } else { c }, high + if c < 0 { c } else { c * max })
        })
    }
    /// The form with `values` substituted for its first variables.
    pub fn at(&self, values: &[i64]) -> Affine {
        let (fixed, rest) = self.coeffs.split_at(values.len());
        let constant = fixed.iter().zip(values).fold(self.constant, |sum, (c, v)| sum + c * v);
        Affine { coeffs: rest.to_vec(), constant }
    }
}

impl Constraint {
    /// The constraint with `values` substituted for its first variables.
    pub fn at(&self, values: &[i64]) -> Constraint {
        Constraint { expr: self.expr.at(values), equality: self.equality }
    }
}

impl Array {
    /// Extents at these sizes.
    pub fn dims_at(&self, sizes: &[i64]) -> Vec<i64> {
        if self.extents.is_empty() {
            self.dims.clone()
        } else {
            self.extents.iter().map(|e| e.eval(sizes)).collect()
        }
    }
}

impl Scop {
    /// Number of sizes without a value; each is the iterator of a loop around all statements.
    pub fn open_sizes(&self) -> usize {
        self.sizes.iter().filter(|s| s.value.is_none()).count()
    }
    /// Maxima of the sizes.
    pub fn maxima(&self) -> Vec<i64> {
        self.sizes.iter().map(|s| s.max).collect()
    }
    /// The program with these values for its open sizes: an ordinary program with constant bounds.
    pub fn at(&self, sizes: &[i64]) -> Scop {
        let open = self.open_sizes();
        if open == 0 {
            return self.clone();
        }
        let array = |a: &Array| Array { dims: a.dims_at(sizes), extents: vec![], ..a.clone() };
        let inner = |l: LoopId| LoopId(l.0 - open as u32);
        let counted = |l: &Loop| Loop {
            parent: l.parent.filter(|p| p.index() >= open).map(inner),
            offset: l.offset.at(sizes),
            ..l.clone()
        };
        let statement = |s: &Statement| {
            let union = |all: &[Vec<Constraint>]| -> Vec<Vec<Constraint>> {
                let at = all.iter().map(|part| part.iter().map(|c| c.at(sizes)).collect::<Vec<_>>());
                at.filter(|part| part.iter().all(|c| !c.expr.is_constant() || c.holds(&[])))
                    .map(|part| part.into_iter().filter(|c| !c.expr.is_constant()).collect())
                    .collect()
            };
            let access =
                |a: &Access| Access { subscripts: a.subscripts.iter().map(|x| x.at(sizes)).collect(), ..a.clone() };
            Statement {
                loops: s.loops[open..].iter().copied().map(inner).collect(),
                domain: union(&s.domain),
                around: union(&s.around),
                beta: s.beta[open..].to_vec(),
                write: access(&s.write),
                rhs: expr(&s.rhs, sizes),
                reads: s.reads.iter().map(access).collect(),
                span: s.span,
            }
        };
        Scop {
            sizes: self.sizes.iter().zip(sizes).map(|(s, &v)| Size { value: Some(v), ..s.clone() }).collect(),
            arrays: self.arrays.iter().map(array).collect(),
            loops: self.loops[open..].iter().map(counted).collect(),
            statements: self.statements.iter().map(statement).collect(),
            ..self.clone()
        }
    }
}

fn expr(e: &Expr, sizes: &[i64]) -> Expr {
    let kind = match &e.kind {
        ExprKind::Iter(form) => ExprKind::Iter(form.at(sizes)),
        ExprKind::Holds(all) => ExprKind::Holds(all.iter().map(|c| c.at(sizes)).collect()),
        _ => return e.with_operands(|x| expr(x, sizes)),
    };
    Expr { kind, ..e.clone() }
}
