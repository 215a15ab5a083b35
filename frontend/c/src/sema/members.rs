//! Members of structures. All have one type, so in C's layout a structure is a row of elements: its *leaves*. A member
//! that is an array or a structure contributes several leaves, `c.0`, `c.1`, … or `v.x`, `v.y`.

use super::Sema;
use crate::ast;
use crate::ast::ExprKind;
use scop::Affine;
use std::rc::Rc;

impl Sema {
    /// The position of a leaf: `path` is a member's name with subscripts and further members behind it.
    pub(super) fn leaf(&mut self, path: &[&ast::Expr], leaves: &[Rc<str>], name: &str) -> Option<Affine> {
        let mut position = Affine::constant(self.depth(), 0);
        let (mut here, mut first) = (leaves.to_vec(), 0);
        for part in path {
            match &part.kind {
                ExprKind::Member(member) => {
                    let block = |l: &Rc<str>| rest(l, member).is_some();
                    let Some(at) = here.iter().position(block) else {
                        self.error(
                            "E0403",
                            part.span,
                            format!("there is no member `{member}`"),
                            "not in the structure's declaration",
                            "use arrays of scalars, or of structures whose members have one type",
                        );
                        return None;
                    };
                    first += at as i64;
                    here = here.iter().filter_map(|l| rest(l, member)).collect();
                }
                _ => {
                    let extent = here.iter().filter_map(|l| l.split('.').next()?.parse::<i64>().ok()).max()? + 1;
                    let found = self.affine(part);
                    let form = self.subscript(found)?;
                    self.check_bounds(&form, Some(&Affine::constant(0, extent)), name, part.span);
                    let block = here.len() as i64 / extent;
                    position = super::form::add_scaled(&position, &form, block)?;
                    here = here.iter().filter_map(|l| rest(l, "0")).collect();
                }
            }
        }
        let all = here.len() == 1 && here[0].is_empty();
        if !all {
            let span = path.last().map(|e| e.span)?;
            let help = "select one element or member of it";
            self.error("E0403", span, "a part of a structure", "it is not a scalar", help);
        }
        position.constant += first;
        all.then_some(position)
    }
}

/// What follows `member` in the name of a leaf.
fn rest(leaf: &str, member: &str) -> Option<Rc<str>> {
    let rest = leaf.strip_prefix(member)?;
    match rest.strip_prefix('.') {
        Some(rest) => Some(rest.into()),
        None => rest.is_empty().then(|| "".into()),
    }
}
