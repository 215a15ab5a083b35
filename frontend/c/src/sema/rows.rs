//! Rows of flat arrays: a loop over a whole array becomes a loop over its rows and one over their elements.
//!
//! Problem: `y[i]` and `y[r * 7 + c]` are both affine, but which `i` wrote the element `[r][c]` is a division unless the
//! loop over `i` has rows, too.
//!
//! Method: where the sources of an array are not affine, the factors of accesses with several iterators are its *strides*
//! (`7`). A loop whose iterator passes over a stride is strip-mined by it:
//!
//! ```text
//! for (i = 0; i < 49; i++) y[i] = …   ->   for (i = 0; i < 49; i += 7) for (c = 0; c < 7; c++) y[i + c] = …
//! ```
//!
//! Source: Maslov, "Delinearization: an efficient way to break multiloop dependence equations" (1992).

use super::Sema;
use crate::ast::TypeName;
use crate::ast::{Binary, Declarator, Expr, ExprKind, Extent, For, ForInit, Init, LoopKind, Outside, Stmt, StmtKind};
use crate::inline::substituted;
use scop::{flow, Affine, ScalarType, Scop};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// By array: the strides of its rows, each of which divides the next one.
pub(crate) type Rows = BTreeMap<String, Vec<i64>>;

/// Written arrays of one dimension that some accesses take in rows and others pass over at once.
pub(crate) fn flat_rows(scop: &Scop) -> Rows {
    let of = |id: usize| {
        let array = &scop.arrays[id];
        let written = scop.statements.iter().any(|s| s.write.array.index() == id);
        if !written || array.dims.len() != 1 || !scop.sizes.is_empty() {
            return None;
        }
        let mut accesses: Vec<(&Affine, Vec<i64>)> = vec![];
        for s in &scop.statements {
            let own = s.reads.iter().chain([&s.write]).filter(|a| a.array.index() == id);
            let own: Vec<&Affine> = own.map(|a| &a.subscripts[0]).collect();
            if !own.is_empty() {
                let ranges = flow::domain_bounds(&s.domain, s.loops.len())?;
                let ranges: Vec<i64> = ranges.iter().map(|(lo, hi)| hi - lo).collect();
                accesses.extend(own.into_iter().map(|a| (a, ranges.clone())));
            }
        }
        let mut strides = BTreeSet::new();
        for (a, _) in &accesses {
            let factors: BTreeSet<i64> = a.coeffs.iter().map(|c| c.abs()).filter(|c| *c != 0).collect();
            strides.extend(factors.into_iter().skip(1));
        }
        let strides: Vec<i64> = strides.into_iter().collect();
        let chain = strides.windows(2).all(|w| w[1] % w[0] == 0);
        let passes = |(a, ranges): &(&Affine, Vec<i64>)| {
            let over = |(c, range): (&i64, &i64)| strides.iter().any(|s| passes_over(*c, *range, *s));
            a.coeffs.iter().zip(ranges).any(over)
        };
        (chain && accesses.iter().any(passes)).then(|| (array.name.clone(), strides))
    };
    (0..scop.arrays.len()).filter_map(of).collect()
}

/// Whether an iterator with this factor and range passes over a multiple of the stride without being one.
fn passes_over(factor: i64, range: i64, stride: i64) -> bool {
    factor != 0 && stride % factor == 0 && stride > factor.abs() && factor.abs().saturating_mul(range) >= stride
}

impl Sema {
    /// The loop over rows and their elements, if the loop passes over rows of an array in its body.
    pub(super) fn in_rows(&mut self, f: &For) -> Option<For> {
        if self.rows.is_empty() || f.kind != LoopKind::For {
            return None;
        }
        let name = f.iterator()?;
        let condition = f.condition.as_ref()?;
        let before = self.faults.len();
        let step = f.step.as_ref().and_then(|e| self.step(e, &name));
        self.faults.truncate(before);
        let start = self.constant_bound(f.start()?)?;
        let ExprKind::Binary(op @ (Binary::Lt | Binary::Le), left, end) = &condition.kind else { return None };
        let end = self.constant_bound(end)? + i64::from(*op == Binary::Le);
        if step != Some(1) || !matches!(&left.kind, ExprKind::Name(n) if *n == name) || end <= start {
            return None;
        }
        let mut by = 1;
        super::unroll::in_statement(&f.body, false, &mut |e| {
            let Some((array, subscripts)) = e.element() else { return };
            let ExprKind::Name(array) = &array.kind else { return };
            let (Some(strides), [subscript]) = (self.rows.get(&**array), &subscripts[..]) else { return };
            let factor = self.factor(subscript, &name).unwrap_or(0);
            let passed = strides.iter().filter(|s| passes_over(factor, end - start - 1, **s));
            by = passed.map(|s| s / factor.abs()).fold(by, i64::max);
        });
        (by > 1).then(|| self.strip_mined(f, &name, condition, (start, end, by)))
    }

    fn constant_bound(&self, e: &Expr) -> Option<i64> {
        self.affine(e).ok().filter(|v| v.form.is_constant()).map(|v| v.form.constant)
    }

    fn strip_mined(&self, f: &For, name: &Rc<str>, condition: &Expr, (start, end, by): (i64, i64, i64)) -> For {
        let span = f.header;
        let expr = |kind| Expr { kind, span };
        let literal =
            |n: i64| expr(ExprKind::Literal(scop::value::from_integer(n.into(), ScalarType::I32), ScalarType::I32));
        let binary = |op, a, b| expr(ExprKind::Binary(op, Box::new(a), Box::new(b)));
        let mut used = BTreeSet::new();
        crate::effects::declared(&f.body, &mut used);
        crate::effects::expressions(&f.body, &mut |e| crate::effects::names(e, &mut used));
        let column: Rc<str> = (1..)
            .map(|k| Rc::from(format!("{name}_{k}")))
            .find(|n: &Rc<str>| !used.contains(n) && self.lookup(n).is_none())
            .unwrap_or_else(|| name.clone());
        let [row, column_name] = [name, &column].map(|n| expr(ExprKind::Name(n.clone())));
        let (mut body, still) =
            substituted(&f.body, condition, name, &binary(Binary::Add, row.clone(), column_name.clone()));
        let first = start - start.rem_euclid(by);
        if (end - first) % by != 0 {
            body = Stmt { kind: StmtKind::If(still, Box::new(body), None) };
        }
        if first != start {
            let place = binary(Binary::Add, row.clone(), column_name.clone());
            let started = binary(Binary::Ge, place, literal(start));
            body = Stmt { kind: StmtKind::If(started, Box::new(body), None) };
        }
        let ty = TypeName { scalar: Some(ScalarType::I32), text: "int".into(), ..TypeName::unknown(span) };
        let no_extents: Vec<Extent> = vec![];
        let declarator = Declarator {
            name: column.clone(),
            span,
            ty,
            dims: no_extents,
            pointer: None,
            to_elements: false,
            reference: false,
            function: false,
            init: Some(Init::Value(literal(0))),
            outside: Outside::default(),
        };
        let inner = For {
            kind: LoopKind::For,
            init: ForInit::Declare(vec![declarator]),
            condition: Some(binary(Binary::Lt, column_name.clone(), literal(by))),
            step: Some(expr(ExprKind::Step(Binary::Add, Box::new(column_name)))),
            body,
            may_break: false,
            header: span,
        };
        let mut init = f.init.clone();
        match &mut init {
            ForInit::Declare(all) => all[0].init = Some(Init::Value(literal(first))),
            ForInit::Expr(Expr { kind: ExprKind::Assign(None, _, value), .. }) => **value = literal(first),
            _ => {}
        }
        let step = expr(ExprKind::Assign(Some(Binary::Add), Box::new(row), Box::new(literal(by))));
        For { init, step: Some(step), body: Stmt { kind: StmtKind::For(Box::new(inner)) }, ..f.clone() }
    }
}
