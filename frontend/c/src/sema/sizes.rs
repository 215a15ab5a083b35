//! Sizes at run time: parameters with a maximum. Each becomes the iterator of a loop around the whole region, from 1 to
//! the maximum, so that all later questions have bounded domains without parameters.

use super::form::add_scaled;
use super::{Entity, Sema};
use crate::ast::Declarator;
use scop::{Affine, Clause, Constraint, Loop, LoopId, ScalarType, Size};

/// Limit on a maximum: the hardware adds sizes in 32 bits.
pub(crate) const LARGEST_SIZE: i64 = 1 << 24;

impl Sema {
    /// Creates the loops of the parameters that a clause gives a maximum. Called before anything else is declared.
    pub(super) fn sizes(&mut self, params: &[Declarator], clauses: &[Clause]) {
        let maxima = clauses.iter().filter(|c| c.name == "max");
        let mut given: Vec<(&Clause, i64)> = maxima.filter_map(|c| Some((c, c.values.get(1)?.parse().ok()?))).collect();
        for (position, d) in params.iter().enumerate() {
            // The last clause applies; the command line's come last.
            let Some(&(clause, max)) = given.iter().rev().find(|g| g.0.values[0] == *d.name) else { continue };
            given.retain(|g| g.0.values[0] != *d.name);
            let grows = d.ty.width.is_none_or(|w| w.grows);
            let integer = d.ty.scalar.filter(|ty| !ty.is_float() && *ty != ScalarType::BOOL && d.is_scalar() && grows);
            let Some(ty) = integer else {
                self.error(
                    "E0105",
                    d.span,
                    format!("`{}` has a maximum, but is no size", d.name),
                    "it is not an integer passed by value",
                    "a size is a parameter such as `int n`",
                );
                continue;
            };
            let greatest = super::width::range(ty, d.ty.width).1;
            let greatest = i64::try_from(greatest).unwrap_or(i64::MAX).min(LARGEST_SIZE);
            if !(2..=greatest).contains(&max) {
                let help = if max == 1 {
                    "a size that is always 1 is a constant: leave the parameter out"
                } else {
                    "a size needs a maximum that its type holds, at most 2^24"
                };
                self.error(
                    "E0105",
                    clause.span,
                    format!("the maximum of `{}` is {max}", d.name),
                    format!("not within 2 to {greatest}"),
                    help,
                );
                continue;
            }
            self.size(Size { name: d.name.to_string(), parameter: position as u32, ty, max, value: None }, d);
        }
        for (clause, _) in given {
            let what = format!("`{}` is not a parameter of the function around the region", clause.values[0]);
            self.error(
                "E0105",
                clause.span,
                what,
                "`max` gives the greatest value of an integer parameter",
                "for example #pragma sagen max(n=1024) for `int n`",
            );
        }
    }

    fn size(&mut self, size: Size, d: &Declarator) {
        let depth = self.depth();
        let id = LoopId(self.loops.len() as u32);
        let parent = self.nest.loops.last().copied();
        self.loops.push(Loop {
            name: size.name.clone(),
            parent,
            offset: Affine::constant(depth, 0),
            step: 1,
            span: d.span,
        });
        let mut value = Affine::constant(depth + 1, 0);
        value.coeffs[depth] = 1;
        let least = Constraint { expr: Affine { constant: -1, ..value.clone() }, equality: false };
        let greatest = add_scaled(&Affine::constant(depth + 1, size.max), &value, -1)
            .map(|expr| Constraint { expr, equality: false });
        for part in self.nest.domain.iter_mut().chain(&mut self.nest.around) {
            part.iter_mut().for_each(|c| c.expr.coeffs.resize(depth + 1, 0));
            part.push(least.clone());
            part.extend(greatest.clone());
        }
        self.nest.loops.push(id);
        self.nest.beta.push(0);
        self.nest.iterators.push(super::width::iterator(size.ty, d.ty.width, value));
        self.counters.push(0);
        self.bind(&d.name, Entity::Iterator(depth));
        self.outer.insert(d.name.clone());
        self.sizes.push(size);
    }
}
