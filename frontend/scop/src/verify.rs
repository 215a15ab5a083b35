//! Checks the invariants of a [`Scop`], listed at the head of `program.rs`.

use crate::polyhedron::Polyhedron;
use crate::{Access, Affine, BinaryOp, Expr, ExprKind, ScalarType, Scop, Statement};

impl Scop {
    /// Checks the invariants.
    ///
    /// # Errors
    /// Every violation, in words.
    pub fn verify(&self) -> Result<(), Vec<String>> {
        let mut faults = vec![];
        for (k, array) in self.arrays.iter().enumerate() {
            if array.dims.iter().any(|&d| d <= 0) {
                faults.push(format!("array {k} `{}` has an extent below 1", array.name));
            }
            if self.arrays[..k].iter().any(|a| a.name == array.name) {
                faults.push(format!("two arrays are named `{}`", array.name));
            }
        }
        let open = self.open_sizes();
        let counted =
            (0..open).all(|k| self.loops.get(k).is_some_and(|l| l.parent.map(|p| p.index()) == k.checked_sub(1)));
        if open != 0 && open != self.sizes.len()
            || !counted
            || self.sizes.iter().any(|s| s.max < 2 || s.value.is_some_and(|v| v < 1 || v > s.max))
        {
            faults.push("the sizes are malformed".into());
        }
        for (k, array) in self.arrays.iter().enumerate().filter(|(_, a)| !a.extents.is_empty()) {
            let good = array.extents.len() == array.dims.len()
                && array.extents.iter().all(|e| e.coeffs.len() == open && e.over_sizes(&self.maxima()).0 > 0);
            if !good {
                faults.push(format!("the extents of array {k} `{}` are malformed", array.name));
            }
        }
        for (k, l) in self.loops.iter().enumerate() {
            let depth =
                std::iter::successors(l.parent, |p| self.loops.get(p.index()).and_then(|l| l.parent.filter(|q| q < p)))
                    .count();
            if l.parent.is_some_and(|p| p.index() >= k) || l.offset.coeffs.len() != depth || l.step == 0 {
                faults.push(format!("loop {k} `{}` is malformed", l.name));
            }
        }
        for (k, s) in self.statements.iter().enumerate() {
            let mut check = Check { scop: self, statement: s, faults: vec![] };
            check.statement();
            faults.extend(check.faults.into_iter().map(|f| format!("statement {k}: {f}")));
        }
        if !self.statements.windows(2).all(|w| w[0].beta <= w[1].beta) {
            faults.push("statements are not in textual order".into());
        }
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }
}

struct Check<'a> {
    scop: &'a Scop,
    statement: &'a Statement,
    faults: Vec<String>,
}

impl Check<'_> {
    fn require(&mut self, good: bool, fault: &str) {
        if !good {
            self.faults.push(fault.into());
        }
    }

    fn statement(&mut self) {
        let s = self.statement;
        let depth = s.loops.len();
        let sized = s.loops.iter().take(self.scop.open_sizes()).map(|l| l.index()).eq(0..self.scop.open_sizes());
        self.require(sized, "it is not inside the loops of the sizes");
        self.require(s.beta.len() == depth + 1, "beta is not one longer than the loops");
        let mut nested = s.loops.iter().scan(None, |parent, l| {
            let good = self.scop.loops.get(l.index()).is_some_and(|x| x.parent == *parent);
            *parent = Some(*l);
            Some(good)
        });
        self.require(nested.all(|good| good), "its loops are not nested");
        self.require(!s.domain.is_empty(), "its domain is empty");
        let around = s.around.iter().flatten().all(|c| c.expr.coeffs.len() == depth);
        self.require(around, "a constraint of its loops has the wrong number of coefficients");
        for part in &s.domain {
            self.require(
                part.iter().all(|c| c.expr.coeffs.len() == depth),
                "a constraint has the wrong number of coefficients",
            );
            let polyhedron = Polyhedron::new(depth, part);
            let mut point = vec![];
            for _ in 0..depth {
                let (low, high) = polyhedron.bounds(&point);
                self.require(low.is_some() && high.is_some(), "its domain is unbounded");
                point.push(low.or(high).unwrap_or(0));
            }
        }
        self.access(&s.write);
        s.reads.iter().for_each(|r| self.access(r));
        if let Some(array) = self.scop.arrays.get(s.write.array.index()) {
            self.require(s.rhs.ty == array.ty, "the stored value is not of the array's type");
        }
        self.expr(&s.rhs);
    }

    fn access(&mut self, a: &Access) {
        let depth = self.statement.loops.len();
        let rank = self.scop.arrays.get(a.array.index()).map(|x| x.dims.len());
        self.require(rank == Some(a.subscripts.len()), "an access has the wrong number of subscripts");
        self.require(
            a.subscripts.iter().all(|x| x.coeffs.len() == depth),
            "a subscript has the wrong number of coefficients",
        );
    }

    fn affine(&mut self, form: &Affine) {
        self.require(
            form.coeffs.len() == self.statement.loops.len(),
            "an iterator's form has the wrong number of coefficients",
        );
    }

    fn expr(&mut self, e: &Expr) {
        use BinaryOp::*;
        match &e.kind {
            ExprKind::Const(bits) => {
                self.require(*bits <= crate::value::mask(e.ty.bits()), "a constant is wider than its type")
            }
            ExprKind::Iter(form) => {
                self.require(!e.ty.is_float(), "an iterator is no integer");
                self.affine(form);
            }
            ExprKind::Holds(all) => {
                self.require(e.ty == ScalarType::BOOL, "a condition is not of type bool");
                all.iter().for_each(|c| self.affine(&c.expr));
            }
            ExprKind::Read(k) => {
                let array = self.statement.reads.get(*k).and_then(|r| self.scop.arrays.get(r.array.index()));
                self.require(array.is_some_and(|a| a.ty == e.ty), "a read's type is not its array's");
            }
            ExprKind::Unary(_, a) => {
                self.require(a.ty == e.ty, "a unary operator changes the type");
                self.expr(a);
            }
            ExprKind::Binary(op, a, b) => {
                let comparison = matches!(op, Eq | Ne | Lt | Le);
                let result = if comparison { ScalarType::BOOL } else { a.ty };
                let right = if matches!(op, Shl | Shr) { !b.ty.is_float() } else { a.ty == b.ty };
                self.require(e.ty == result && right, "a binary operator's types do not agree");
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Select(c, a, b) => {
                self.require(
                    c.ty == ScalarType::BOOL && a.ty == e.ty && b.ty == e.ty,
                    "a selection's types do not agree",
                );
                [c, a, b].into_iter().for_each(|x| self.expr(x));
            }
            ExprKind::Cast(a) => self.expr(a),
            ExprKind::Lookup(table, a) => {
                let fits = table.iter().all(|v| *v <= crate::value::mask(e.ty.bits()));
                self.require(
                    !table.is_empty() && fits && !a.ty.is_float(),
                    "a table is empty, its constants are wider than their type, or its index is no integer",
                );
                self.expr(a);
            }
            ExprKind::Host(f, all) => {
                self.require(
                    all.len() == f.arguments()
                        && all.iter().all(|x| x.ty == e.ty)
                        && e.ty.is_float()
                        && e.ty.bits() >= 32,
                    "a function of the host has the wrong arguments",
                );
                all.iter().for_each(|x| self.expr(x));
            }
            ExprKind::Fma(a, b, c) => {
                self.require([a, b, c].iter().all(|x| x.ty == e.ty), "a multiply-add's types do not agree");
                [a, b, c].into_iter().for_each(|x| self.expr(x));
            }
        }
    }
}
