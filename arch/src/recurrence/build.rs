//! The system of a program: its statements at their places, every read as a variable with uniform pieces.

use super::builder::{Builder, NullCache, Placement, RangeCache};
use super::localize::{piece, Read};
use crate::affine::map::{constant_on, coordinate};
use crate::ir::ure::{Dim, Feed, Placed, System, Variable};
use frontend::diag::{Diagnostic, Diagnostics};
use frontend::flow::{self, Flow, Source};
use frontend::scop::{Affine, Constraint, Scop, StmtId};
use std::cell::Cell;

/// # Errors
/// Names every read whose dependence cannot be made uniform.
pub fn build(scop: &Scop, flow: &Flow) -> Result<System, Diagnostics> {
    build_at(scop, flow, &[])
}

/// As [`build`], with the places of some statements: the band coordinate of every iterator over the iterators, where it
/// counts its own up or down and may contain iterators further out.
///
/// # Errors
/// Names every read whose dependence is not uniform there.
pub fn build_at(scop: &Scop, flow: &Flow, folds: &[Option<Vec<Affine>>]) -> Result<System, Diagnostics> {
    let depth = scop.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0).max(1);
    let mut builder = Builder { scop, flow, depth, at: vec![], placed: vec![], folds, ranges: RangeCache::default(), nulls: NullCache::default(), effort: Cell::new(0) };
    builder.choose_places();
    builder.finish()
}

impl Builder<'_> {
    fn finish(self) -> Result<System, Diagnostics> {
        let mut faults = Vec::new();
        let mut statements = Vec::new();
        for (s, statement) in self.scop.statements.iter().enumerate() {
            let over_band = |domain: &[Vec<Constraint>]| domain.iter().map(|c| self.band_domain(s, c)).collect::<Vec<_>>();
            let domain = over_band(&statement.domain);
            let variables = (0..statement.reads.len()).map(|k| self.variable(s, k, &mut faults)).collect();
            let live: Vec<_> = self.flow.live_out.iter().filter(|l| l.statement.index() == s).flat_map(|l| over_band(&l.domain)).collect();
            let Placement { dims, iterators, .. } = self.at[s].clone();
            statements.push(Placed::new(self.scop, s, dims, iterators, domain, variables, live, self.depth));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let names = self.dim_names();
        let union: Vec<Vec<Constraint>> = statements.iter().flat_map(|p: &Placed| p.domain.clone()).collect();
        let bounds = flow::domain_bounds(&union, self.depth).unwrap_or_else(|| vec![(0, 0); self.depth]);
        let dims = names.into_iter().zip(bounds).map(|(name, (lo, hi))| Dim { name, lo, hi }).collect();
        Ok(System { dims, statements })
    }

    fn variable(&self, s: usize, k: usize, faults: &mut Diagnostics) -> Variable {
        let statement = &self.scop.statements[s];
        let mut pieces = Vec::new();
        for source in &self.flow.reads[s][k] {
            let here = self.band_domain(s, &source.domain);
            match &source.source {
                Source::Write { statement: producer, iteration } => {
                    match self.localize(&Read { statement: s, read: k, producer: *producer, iteration }, &here, 0) {
                        Some(found) => pieces.extend(found),
                        None => faults.push(self.not_uniform(s, k, *producer)),
                    }
                }
                Source::Input | Source::Undefined => {
                    let over: Vec<Affine> = statement.reads[k].subscripts.iter().map(|a| self.over_band(s, a)).collect();
                    pieces.push(piece(&here, Feed::Input { subscripts: with_equalities(&over, &here, self.depth) }));
                }
            }
        }
        Variable { pieces }
    }

    fn not_uniform(&self, s: usize, k: usize, producer: StmtId) -> Diagnostic {
        let read = &self.scop.statements[s].reads[k];
        let name = &self.scop.array(read.array).name;
        Diagnostic::error("E0601", read.span, format!("the dependence on `{name}` cannot be made uniform"))
            .label("this reads a value whose distance from its producer changes, and no direction carries it")
            .note(self.scop.statement(producer).span, "produced here")
            .help("write the value into an array that is passed from iteration to iteration, or split the region into two")
    }

    fn dim_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for d in 0..self.depth {
            let mut here: Vec<&str> = Vec::new();
            for statement in &self.scop.statements {
                let at = &self.at[self.scop.statements.iter().position(|x| std::ptr::eq(x, statement)).expect("one of them")];
                if let Some(l) = at.dims.iter().position(|&x| x == d).map(|k| statement.loops[k]) {
                    let name = self.scop.loops[l.index()].name.as_str();
                    if !here.contains(&name) {
                        here.push(name);
                    }
                }
            }
            let base = if here.is_empty() { "once".to_string() } else { here.join("_") };
            let twins = names.iter().filter(|n| n.split('.').next() == Some(&base)).count();
            names.push(if twins == 0 { base } else { format!("{base}.{}", twins + 1) });
        }
        names
    }
}

/// Replaces coordinates that the domain fixes, so that the access does not seem to move along them.
fn with_equalities(subscripts: &[Affine], domain: &[Constraint], depth: usize) -> Vec<Affine> {
    let mut out = subscripts.to_vec();
    for d in (0..depth).filter(|&d| subscripts.iter().any(|a| a.coeffs[d] != 0)) {
        if let Some(value) = constant_on(&coordinate(d, depth), domain) {
            for a in &mut out {
                a.constant += a.coeffs[d] * value;
                a.coeffs[d] = 0;
            }
        }
    }
    out
}
