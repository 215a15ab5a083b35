//! An array at given sizes ([`uniform::sizes`]): values stand in the place of parameters, and what is left is an
//! ordinary array without sizes.

use crate::vsa::{Op, Until, Vsa, When};
use std::collections::BTreeSet;
use uniform::affine::Form;
use uniform::counters;
use uniform::sizes::{Formula, Sizes};

/// The form without its first counters, which have these values.
fn form(f: &Form, values: &[i64]) -> Form {
    let parameters = f.counters.len().min(values.len());
    let (first, rest) = f.counters.split_at(parameters);
    Form {
        constant: f.constant + first.iter().zip(values).map(|(c, v)| c * v).sum::<i64>(),
        counters: rest.to_vec(),
        space: f.space,
    }
}

impl Vsa {
    /// The array at these sizes, one for each: an ordinary one. Without sizes, as it is.
    pub fn at(&self, sizes: &[i64]) -> Vsa {
        let parameters = self.parameters();
        if parameters == 0 {
            return self.clone();
        }
        let values: Vec<i64> = self.counters[..parameters].iter().map(|c| c.last.eval(sizes)).collect();
        let mut out = self.clone();
        let left;
        (out.counters, out.cases, left) = counters::at(self.loops(), &values);
        let trips: Vec<i64> = out.counters.iter().map(|c| c.trip).collect();
        // Where sizes end a counter, its last value is another one.
        let value = |(j, end): (usize, &Formula)| match end.parameter() {
            Some(parameter) => values[parameter],
            None if j >= parameters && end.most() + 1 == self.counters[j].trip => trips[j - parameters] - 1,
            None => end.most(),
        };
        // A part of another function has no tiles.
        let is_here = |when: &When| values.first().is_none_or(|f| when.is_in_function(*f as usize));
        let cases = |when: &When| match is_here(when) {
            true => {
                when.cases.as_ref().map(|all| all.iter().filter_map(|k| left.iter().position(|l| l == k)).collect())
            }
            false => Some(BTreeSet::new()),
        };
        let when = |when: &When, value: &dyn Fn((usize, &Formula)) -> i64| When {
            functions: vec![],
            at: when
                .at
                .iter()
                .enumerate()
                .skip(parameters)
                .map(|(j, end)| end.as_ref().map(|end| Formula::Const(value((j, end)))))
                .collect(),
            cases: cases(when),
        };
        // In the phases of the cases that are left, and between them.
        let by_case: Vec<usize> = left.iter().copied().chain([left.last().map_or(self.cases.len(), |&k| k)]).collect();
        out.tile_depth -= parameters;
        for node in &mut out.nodes {
            match &mut node.op {
                Op::Iter(f) => *f = form(f, &values),
                Op::Guard(all) => all.iter_mut().for_each(|c| c.form = form(&c.form, &values)),
                Op::Past { waves: Formula::Const(_), .. } => {}
                Op::Past { waves, .. } => {
                    *waves = Formula::by_case(by_case.iter().map(|&k| waves.case_of(k).at(sizes)).collect())
                }
                _ => {}
            }
        }
        for g in &mut out.inputs {
            let forms = g.subscripts.iter_mut().chain(&mut g.footprint.origin).chain([&mut g.row, &mut g.col]);
            forms.for_each(|f| *f = form(f, &values));
            g.reload = g.reload.saturating_sub(parameters);
            g.used = when(&g.used, &|(_, end)| end.most());
            g.after.retain(|a| self.phases() > parameters || matches!(a.until, Until::Lag(_)));
        }
        for g in &mut out.outputs {
            let forms = g.subscripts.iter_mut().chain(&mut g.footprint.origin).chain([&mut g.row, &mut g.col]);
            forms.for_each(|f| *f = form(f, &values));
            g.emit = when(&g.emit, &value);
            for b in &mut g.bounds {
                b.constant += b.phases.iter().zip(&values).map(|(c, v)| c * v).sum::<i64>();
                b.phases.drain(..parameters);
            }
        }
        for (&array, extents) in &self.sizes.extents {
            out.arrays[array].dims = extents.iter().map(|e| e.eval(sizes)).collect();
        }
        out.sizes = Sizes::default();
        out.functions.clear();
        out
    }

    /// The array at the greatest sizes.
    pub fn at_most(&self) -> Vsa {
        self.at(&self.sizes.maxima())
    }
}
