//! Arrays and programs at given sizes, see [`uniform::sizes`]: values stand in the place of parameters, and what is left
//! is an ordinary array, or program, without sizes.

use crate::vsa::{CellBound, Hull, InputGroup, Op, OutputGroup, Until, Vsa, When};
use uniform::affine::{Condition, Form};
use uniform::counters;
use uniform::sizes::{Formula, Sizes};

/// The form without its first counters, which have these values.
fn form(f: &Form, values: &[i64]) -> Form {
    let known = f.counters.len().min(values.len());
    let (first, rest) = f.counters.split_at(known);
    Form {
        constant: f.constant + first.iter().zip(values).map(|(c, v)| c * v).sum::<i64>(),
        counters: rest.to_vec(),
        space: f.space,
    }
}

fn hull(h: &Hull, values: &[i64]) -> Hull {
    Hull { origin: h.origin.iter().map(|f| form(f, values)).collect(), ..h.clone() }
}

impl Vsa {
    /// The array at these sizes, one for each: an ordinary one. Without sizes, as it is.
    pub fn at(&self, sizes: &[i64]) -> Vsa {
        let known = self.parameters();
        if known == 0 {
            return self.clone();
        }
        let values: Vec<i64> = self.counters[..known].iter().map(|c| c.last.eval(sizes)).collect();
        let mut out = self.clone();
        let left;
        (out.counters, out.cases, left) = counters::at(self.loops(), &values);
        let trips: Vec<i64> = out.counters.iter().map(|c| c.trip).collect();
        // Where sizes end a counter, its last value is another one.
        let value = |(j, end): (usize, &Formula)| match end.parameter() {
            Some(parameter) => values[parameter],
            None if j >= known && end.most() + 1 == self.counters[j].trip => trips[j - known] - 1,
            None => end.most(),
        };
        let when = |when: &When, value: &dyn Fn((usize, &Formula)) -> i64| When {
            at: when
                .at
                .iter()
                .enumerate()
                .skip(known)
                .map(|(j, end)| end.as_ref().map(|end| Formula::Const(value((j, end)))))
                .collect(),
            cases: when.cases.as_ref().map(|all| all.iter().filter_map(|k| left.iter().position(|l| l == k)).collect()),
        };
        // In the phases of the cases that are left, and between them.
        let by_case: Vec<usize> = left.iter().copied().chain([left.last().map_or(self.cases.len(), |&k| k)]).collect();
        out.tile_depth -= known;
        for node in &mut out.nodes {
            match &mut node.op {
                Op::Iter(f) => *f = form(f, &values),
                Op::Guard(all) => {
                    all.iter_mut().for_each(|c| *c = Condition { form: form(&c.form, &values), equality: c.equality })
                }
                Op::Past { waves: Formula::Const(_), .. } => {}
                Op::Past { waves, .. } => {
                    *waves = Formula::by_case(by_case.iter().map(|&k| waves.case_of(k).at(sizes)).collect())
                }
                _ => {}
            }
        }
        let forms = |all: &[Form]| all.iter().map(|f| form(f, &values)).collect();
        for g in &mut out.inputs {
            let mut after = g.after.clone();
            after.retain(|a| self.phases() > known || matches!(a.until, Until::Lag(_)));
            *g = InputGroup {
                subscripts: forms(&g.subscripts),
                hull: hull(&g.hull, &values),
                row: form(&g.row, &values),
                col: form(&g.col, &values),
                reload: g.reload.saturating_sub(known),
                used: when(&g.used, &|(_, end)| end.most()),
                after,
                ..g.clone()
            };
        }
        for g in &mut out.outputs {
            let bound = |b: &CellBound| CellBound {
                phases: b.phases[known..].to_vec(),
                constant: b.constant + b.phases.iter().zip(&values).map(|(c, v)| c * v).sum::<i64>(),
                ..b.clone()
            };
            *g = OutputGroup {
                subscripts: forms(&g.subscripts),
                emit: when(&g.emit, &value),
                hull: hull(&g.hull, &values),
                row: form(&g.row, &values),
                col: form(&g.col, &values),
                bounds: g.bounds.iter().map(bound).collect(),
                ..g.clone()
            };
        }
        for (&array, extents) in &self.sizes.extents {
            out.arrays[array].dims = extents.iter().map(|e| e.eval(sizes)).collect();
        }
        out.sizes = Sizes::default();
        out
    }

    /// The array at the greatest sizes.
    pub fn at_most(&self) -> Vsa {
        self.at(&self.sizes.maxima())
    }
}
