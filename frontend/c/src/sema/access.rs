//! Array elements: the subscripts must match the declaration and provably stay inside the array.

use super::affine::HELP_DIVISION;
use super::form::{add_scaled, AffineValue, Affinity, Refusal};
use super::{Entity, Sema};
use crate::ast;
use crate::ast::ExprKind;
use scop::diag::Span;
use scop::polyhedron::Sample;
use scop::{Access, Affine, Constraint};

impl Sema {
    /// The slot of a name that is used as data; any other name is reported.
    pub(super) fn data_slot(&mut self, name: &str, span: Span) -> Option<usize> {
        match self.lookup(name).cloned() {
            Some(Entity::Slot(k)) => {
                if let Some(at) = self.slots[k].iterator {
                    let fault = scop::diag::Diagnostic::error(
                        "E0412",
                        span,
                        format!("`{name}` is used as data although a loop counts it"),
                    );
                    self.faults.push(
                        fault
                            .label("its value after the loop is not available")
                            .note(at, "counted by this loop")
                            .help("write the value out, or use another variable"),
                    );
                    return None;
                }
                Some(k)
            }
            Some(Entity::Refused(why)) => {
                let fault = (*why).clone().note(span, "needed here");
                self.faults.push(fault);
                None
            }
            Some(Entity::Poison) => None,
            Some(Entity::Iterator(_) | Entity::Constant(..)) => {
                self.error(
                    "E0312",
                    span,
                    format!("`{name}` is not an array"),
                    "it cannot be subscripted",
                    "remove the subscripts",
                );
                None
            }
            None => {
                self.unknown(name, span);
                None
            }
        }
    }

    pub(super) fn unknown(&mut self, name: &str, span: Span) {
        self.error(
            "E0307",
            span,
            format!("unknown identifier `{name}`"),
            "not declared in this scope",
            "declare it, or define it as a macro or with -D",
        );
    }

    /// The access that `e` denotes. Every fault in the subscripts is reported.
    pub(super) fn access(&mut self, e: &ast::Expr) -> Option<Access> {
        let (slot, subscripts) = self.lvalue(e)?;
        Some(Access { array: self.array_of(slot), subscripts, span: e.span })
    }

    /// The slot and the subscripts of an element.
    pub(super) fn lvalue(&mut self, e: &ast::Expr) -> Option<(usize, Vec<Affine>)> {
        if e.of_poison() {
            return None;
        }
        let Some((base, mut subscripts)) = e.element() else {
            if let Some(effect) = effect_below(e) {
                return self.value(effect, &mut vec![]).and(None);
            }
            self.error(
                "E0403",
                e.span,
                "only named arrays can be subscripted",
                "this is not the name of an array",
                "write NAME[subscript]…",
            );
            return None;
        };
        let ExprKind::Name(name) = &base.kind else { return None };
        let slot = self.data_slot(name, base.span);
        let members = slot.and_then(|k| self.slots[k].members.clone());
        let found: Vec<Affinity<AffineValue>> = subscripts.iter().map(|s| self.affine(s)).collect();
        // If a division is refused, do not also report divisions that unrolling the loops could remove.
        let divided = |f: &Affinity<AffineValue>| f.as_ref().is_err_and(|refusal| refusal.help == HELP_DIVISION);
        let fine: Vec<bool> = found.iter().zip(&subscripts).map(|(f, s)| divided(f) && self.unrolls(s)).collect();
        let to_blame = found.iter().zip(&fine).any(|(f, fine)| divided(f) && !fine);
        let (mut forms, mut inside): (Vec<Option<Affine>>, bool) = (vec![], false);
        for ((s, found), fine) in subscripts.iter().zip(found).zip(fine) {
            inside |= matches!(s.kind, ExprKind::Member(_));
            forms.push(match &s.kind {
                _ if inside => None,
                _ if fine && to_blame => None,
                _ => self.subscript(found),
            });
        }
        let slot = slot?;
        let dims = self.slots[slot].dims.clone()?;
        let member = subscripts.iter().position(|s| matches!(s.kind, ExprKind::Member(_)));
        if let (Some(leaves), Some(at)) = (&members, member) {
            let path = subscripts.split_off(at);
            forms.truncate(at);
            forms.push(self.leaf(&path, leaves, name));
            subscripts.push(path[0]);
        }
        if let (None, Some(at)) = (&members, subscripts.iter().find(|s| matches!(s.kind, ExprKind::Member(_)))) {
            self.error(
                "E0403",
                at.span,
                format!("`{name}` has no members"),
                "it is not a structure",
                "use arrays of scalars, or of structures of scalars of one type",
            );
            return None;
        }
        if dims.len() != subscripts.len() {
            self.wrong_count(slot, &dims, subscripts.len(), e.span);
            return None;
        }
        let forms = forms.into_iter().collect::<Option<Vec<_>>>()?;
        if members.is_some() != subscripts.last().is_some_and(|s| matches!(s.kind, ExprKind::Member(_))) {
            self.error(
                "E0403",
                e.span,
                format!("`{name}` is an array of structures"),
                "select one member",
                format!("write `{name}[…].MEMBER`"),
            );
            return None;
        }
        for (k, ((form, extent), at)) in forms.iter().zip(&dims).zip(&subscripts).enumerate() {
            if members.is_some() && k + 1 == dims.len() {
                continue;
            }
            let open = k == 0 && self.slots[slot].open;
            // Extents over sizes come before the members' extent, so the position is the same.
            let extent = self.slots[slot].extents.get(k).cloned().unwrap_or_else(|| Affine::constant(0, *extent));
            self.check_bounds(form, (!open).then_some(&extent), name, at.span);
        }
        Some((slot, forms))
    }

    fn wrong_count(&mut self, slot: usize, dims: &[i64], given: usize, span: Span) {
        let name = self.slots[slot].name.clone();
        let at = self.slots[slot].span;
        let (message, label) = if dims.is_empty() {
            (format!("`{name}` is a scalar"), "it cannot be subscripted".to_string())
        } else {
            (
                format!("`{name}` has {} dimension(s), {given} subscript(s) given", dims.len()),
                "give one subscript per dimension".to_string(),
            )
        };
        let help = format!("write `{name}{}`", "[…]".repeat(dims.len()));
        self.faults.push(
            scop::diag::Diagnostic::error("E0309", span, message).label(label).note(at, "declared here").help(help),
        );
    }

    pub(super) fn subscript(&mut self, found: Affinity<AffineValue>) -> Option<Affine> {
        match found {
            Ok(v) => Some(v.form),
            Err(refusal) => {
                let help = match &*refusal.help {
                    "make it a constant: `#define` it, or pass -D NAME=VALUE" => {
                        "only affine values of iterators, sizes and constants may select an element, or a variable \
                        that was assigned one in the same iteration, under no condition on data"
                            .into()
                    }
                    _ => refusal.help,
                };
                self.report_refusal(Refusal { help, ..refusal }, "E0408", "the subscript");
                None
            }
        }
    }

    /// Reports the subscript if an iteration gives a value outside of `0..extent`.
    pub(super) fn check_bounds(&mut self, form: &Affine, extent: Option<&Affine>, name: &str, span: Span) {
        let depth = self.depth();
        let beyond = |extent: &Affine| {
            let mut over = extent.clone();
            over.coeffs.resize(depth, 0);
            add_scaled(form, &over, -1)
        };
        for disjunct in &self.nest.domain {
            let (low, _) = self.effort.range(depth, disjunct, form);
            let within = |extent| {
                beyond(extent).is_some_and(|over| self.effort.range(depth, disjunct, &over).1.is_some_and(|h| h < 0))
            };
            if low.is_some_and(|l| l >= 0) && extent.is_none_or(within) {
                continue;
            }
            let mut below = form.clone();
            below.coeffs.iter_mut().for_each(|c| *c = -*c);
            below.constant = -below.constant - 1;
            let above = extent.and_then(beyond);
            for violation in [Some(below), above].into_iter().flatten() {
                let constraints = disjunct
                    .iter()
                    .cloned()
                    .chain([Constraint { expr: violation, equality: false }])
                    .collect::<Vec<_>>();
                if let Sample::Point(point) = self.effort.sample(depth, &constraints) {
                    let found = form.eval(&point);
                    let label = if depth == 0 {
                        format!("this is {found}")
                    } else {
                        format!("this is {found} at {}", self.iteration(&point))
                    };
                    let message = format!("`{name}` is accessed outside its bounds");
                    let help = extent.map_or("subscripts start at 0".into(), |extent| {
                        let extent = extent.eval(&point);
                        format!("the extent is {extent}: subscripts run from 0 to {}", extent - 1)
                    });
                    self.error("E0411", span, message, label, help);
                    return;
                }
            }
        }
    }

    /// A point in terms of the source's iterators, such as `i = 3, j = 0`.
    pub(super) fn iteration(&self, point: &[i64]) -> String {
        let values = self
            .nest
            .loops
            .iter()
            .zip(&self.nest.iterators)
            .map(|(l, it)| format!("{} = {}", self.loops[l.index()].name, it.value.eval(point)));
        values.collect::<Vec<_>>().join(", ")
    }
}

/// The side effect that is subscripted: `p++` in `*p++`.
fn effect_below(e: &ast::Expr) -> Option<&ast::Expr> {
    match &e.kind {
        ExprKind::Index(base, _) => effect_below(base),
        ExprKind::Step(..) | ExprKind::Assign(..) | ExprKind::Comma(..) => Some(e),
        _ => None,
    }
}
