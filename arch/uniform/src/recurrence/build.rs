//! The system of a program at the chosen places: every statement over the common iteration space, every read as a
//! variable with uniform pieces. Or the diagnostics: for each read that is not uniform, two iterations at different
//! distances, and the smallest change of the program that helps.
//!
//! A coordinate that a piece's domain fixes is replaced by its value in input subscripts, so that the access does not
//! seem to move along it. The classes of phases ([`crate::case`]) are found later, for the whole program.

use crate::affine::map;
use crate::affine::map::{constant_on, coordinate};
use crate::recurrence::builder::{Builder, Effort, NullCache, Placement, RangeCache, Within};
use crate::recurrence::place::Reach;
use crate::recurrence::reduction;
use crate::recurrence::uniformize::{piece, Read};
use crate::system::{Dim, Feed, Frame, Kind, Place, Placed, System, Variable};
use scop::diag::{Diagnostic, Diagnostics};
use scop::flow;
use scop::flow::{Flow, Source};
use scop::{Affine, Constraint, Scop, StmtId, Storage};

/// # Errors
/// Names every read whose dependence cannot be made uniform.
pub fn build(scop: &Scop, flow: &Flow) -> Result<System, Diagnostics> {
    build_at(scop, flow, Within::ALONE, None, &[], Reach::Far)
}

/// As [`build`], for a part of a program: the loops `within` stay the outermost dimensions. `folds` gives the places of
/// some statements' iterators; an iterator's coordinate counts it up or down, and may contain iterators further out.
/// The search places all other statements within `reach`. `reassociate`: whether sums of floats may be reordered.
///
/// # Errors
/// Names every read whose dependence is not uniform there.
pub fn build_at(
    scop: &Scop,
    flow: &Flow,
    within: Within,
    reassociate: Option<bool>,
    folds: &[Option<Vec<Affine>>],
    reach: Reach,
) -> Result<System, Diagnostics> {
    let depth = scop.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0).max(within.phases + 1);
    let sum = |s: usize| reduction::accumulator(scop, s, reassociate).filter(|_| within.sizes > 0);
    let sums = (0..scop.statements.len()).map(sum).collect();
    let mut builder = Builder {
        scop,
        flow,
        depth,
        within,
        sums,
        at: vec![],
        placed: vec![],
        folds,
        ranges: RangeCache::default(),
        nulls: NullCache::default(),
        bounds: vec![],
        ends: vec![],
        effort: Effort::default(),
    };
    builder.choose_places(reach);
    builder.finish()
}

impl Builder<'_> {
    fn finish(self) -> Result<System, Diagnostics> {
        let mut faults = Vec::new();
        let mut statements = Vec::new();
        for (s, statement) in self.scop.statements.iter().enumerate() {
            let over_coordinates =
                |domain: &[Vec<Constraint>]| domain.iter().map(|c| self.placed_domain(s, c)).collect::<Vec<_>>();
            let domain = over_coordinates(&statement.domain);
            let variables = (0..statement.reads.len()).map(|k| self.variable(s, k, &mut faults)).collect();
            let live_out: Vec<_> = self
                .flow
                .live_out
                .iter()
                .filter(|l| l.statement.index() == s)
                .flat_map(|l| over_coordinates(&l.domain))
                .collect();
            let Placement { dims, iterators, .. } = self.at[s].clone();
            let place = Place { dims, iterators, domain, variables, live_out };
            statements.push(Placed::new(self.scop, s, place, Frame { outer: 0, depth: self.depth }));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let dims = Dim::around(self.dim_names(), Kind::by_place(0, self.within.phases), &statements);
        // The classes of phases are found for the whole program.
        Ok(System { dims, statements, cases: vec![] })
    }

    fn variable(&self, s: usize, k: usize, faults: &mut Diagnostics) -> Variable {
        let statement = &self.scop.statements[s];
        let mut pieces = Vec::new();
        for source in &self.flow.reads[s][k] {
            let here = self.placed_domain(s, &source.domain);
            match &source.source {
                Source::Write { statement: producer, iteration } => {
                    match self.uniformize(&Read { statement: s, read: k, producer: *producer, iteration }, &here, 0) {
                        Some(found) => pieces.extend(found),
                        None => {
                            let fault = self.not_uniform(s, k, &source.domain, *producer, iteration);
                            let again = |f: &Diagnostic| f.span == fault.span && f.notes == fault.notes;
                            if !faults.iter().any(again) {
                                faults.push(fault);
                            }
                        }
                    }
                }
                Source::Undefined if self.scop.array(statement.reads[k].array).storage == Storage::Local => {
                    faults.push(self.unwritten(s, k))
                }
                Source::Input | Source::Undefined => {
                    let over: Vec<Affine> =
                        statement.reads[k].subscripts.iter().map(|a| self.over_coordinates(s, a)).collect();
                    pieces.push(piece(&here, Feed::Input { subscripts: with_equalities(&over, &here, self.depth) }));
                }
            }
        }
        Variable { pieces }
    }

    /// A read of a local array's element that nothing has written: there is no memory to take it from.
    fn unwritten(&self, s: usize, k: usize) -> Diagnostic {
        let read = &self.scop.statements[s].reads[k];
        let message = format!(
            "`{}` is read where nothing has written it, though nobody looks at that",
            self.scop.array(read.array).name
        );
        Diagnostic::error("E0601", read.span, message)
            .label("under a condition")
            .help("write the condition as an `if` around the statement, or give all elements a value first")
    }

    /// Why the dependence of a piece of a read is not uniform: two iterations at different distances from their
    /// producers.
    fn not_uniform(
        &self,
        s: usize,
        k: usize,
        domain: &[Constraint],
        producer: StmtId,
        iteration: &[Affine],
    ) -> Diagnostic {
        let (scop, reader) = (self.scop, StmtId(s as u32));
        let (read, written) = (&scop.statements[s].reads[k], scop.statement(producer));
        let name = &scop.array(read.array).name;
        let line = |span| scop.sources.line_column(span).0;
        let (from, to) = (line(written.span), line(read.span));
        let message = if from == to {
            format!("the dependence on `{name}` within line {to} cannot be made uniform")
        } else {
            format!("the dependence on `{name}` from line {from} to line {to} cannot be made uniform")
        };
        let at = |point: &[i64]| {
            let source: Vec<i64> = iteration.iter().map(|a| a.eval(point)).collect();
            let place = |text: String| if text.is_empty() { "the only iteration".to_string() } else { text };
            (place(scop.iteration(reader, point)), place(scop.iteration(producer, &source)))
        };
        let label = match examples(domain, iteration, scop.statements[s].loops.len()).as_slice() {
            [one, other] => {
                let ((a, from_a), (b, from_b)) = (at(one), at(other));
                format!(
                    "at {a} this is what {from_a} has written, at {b} what {from_b} has: the distance changes, and no \
                    direction carries the value"
                )
            }
            [one] => {
                let (a, from_a) = at(one);
                format!("at {a} this is what {from_a} has written, which would have to come first in the common space")
            }
            _ => "this reads a value whose distance from its producer changes, and no direction carries it".into(),
        };
        Diagnostic::error("E0601", read.span, message)
            .label(label)
            .note(written.span, "written here")
            .help(self.smallest_rewrite(s, producer, iteration))
    }

    /// The smallest change of the program that avoids a dependence on `producer` that is not uniform.
    fn smallest_rewrite(&self, s: usize, producer: StmtId, iteration: &[Affine]) -> String {
        let (reader, written) = (&self.scop.statements[s], self.scop.statement(producer));
        let name = |l: Option<&scop::LoopId>| l.map_or("it", |l| self.scop.loops[l.index()].name.as_str());
        let line = |span| self.scop.sources.line_column(span).0;
        let common = reader.loops.iter().zip(&written.loops).take_while(|(a, b)| a == b).count();
        let terms = || {
            iteration
                .iter()
                .enumerate()
                .flat_map(|(d, a)| a.coeffs.iter().enumerate().filter(|(_, &c)| c != 0).map(move |(e, &c)| (d, e, c)))
        };
        if let Some((d, _, c)) = terms().find(|t| t.2.abs() > 1) {
            let (name, c) = (name(written.loops.get(d)), c.abs());
            return format!(
                "the loop over `{name}` produces {c} values for each that is read here: unroll it by {c}, so that \
                each statement in it writes every {c}{} element",
                ordinal(c)
            );
        }
        if common == 0 {
            return format!(
                "put `#pragma endscop` between the loops of line {} and of line {}, and the second loops into a \
                function of their own: each region becomes an array, and the values pass through memory",
                line(written.span),
                line(reader.span)
            );
        }
        let steps = |l: Option<&scop::LoopId>| l.map_or(1, |l| self.scop.loops[l.index()].step.signum());
        match terms().find(|t| t.2 < 0).map(|(d, e, _)| (written.loops.get(d), reader.loops.get(e))) {
            // Loops that count in opposite directions, not subscripts.
            Some((a, b)) if steps(a) != steps(b) => format!(
                "the loop over `{}` that writes the value and the one over `{}` that reads it count in opposite \
                directions: let both count the same way",
                name(a),
                name(b)
            ),
            Some((a, b)) => format!(
                "`{}` and `{}` run against each other here: turn one of the loops round, or copy the values in \
                reverse order into an array of their own first",
                name(a),
                name(b)
            ),
            None => "pass the value on in an array of its own, from iteration to iteration (`v[i][j] = v[i][j - 1]`), \
                or split the region behind the statement that writes it"
                .into(),
        }
    }

    fn dim_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for d in 0..self.depth {
            let mut here: Vec<&str> = Vec::new();
            for statement in &self.scop.statements {
                let at = &self.at
                    [self.scop.statements.iter().position(|x| std::ptr::eq(x, statement)).expect("one of them")];
                if let Some(l) = at.dims.iter().position(|&x| x == d).map(|k| statement.loops[k]) {
                    let name = self.scop.loops[l.index()].name.as_str();
                    if !here.contains(&name) {
                        here.push(name);
                    }
                }
            }
            let base = if here.is_empty() { "once".to_string() } else { here.join("_") };
            push_unique(&mut names, base);
        }
        names
    }
}

/// Adds the name of a dimension; the second one of a name is `i.2`.
pub(super) fn push_unique(names: &mut Vec<String>, base: String) {
    let twins = names.iter().filter(|n| n.split('.').next() == Some(base.as_str())).count();
    names.push(if twins == 0 { base } else { format!("{base}.{}", twins + 1) });
}

/// The ending of an ordinal number from 2 to 10 or so.
fn ordinal(c: i64) -> &'static str {
    match c {
        2 => "nd",
        3 => "rd",
        _ => "th",
    }
}

/// A reader's iteration, and another one at a different distance from its producer, if there is one.
fn examples(domain: &[Constraint], iteration: &[Affine], depth: usize) -> Vec<Vec<i64>> {
    let Some(first) = flow::first_point(domain, depth) else { return vec![] };
    let distance = iteration.iter().enumerate().take(depth).map(|(d, a)| map::minus(&coordinate(d, depth), a));
    let other = distance.filter(|a| !a.is_constant()).find_map(|a| {
        let here = a.eval(&first);
        let far = [flow::maximum(domain, &a), flow::minimum(domain, &a)].into_iter().flatten().find(|&x| x != here)?;
        let there = Constraint { expr: Affine { constant: a.constant - far, ..a.clone() }, equality: true };
        flow::first_point(&domain.iter().cloned().chain([there]).collect::<Vec<_>>(), depth)
    });
    [Some(first), other].into_iter().flatten().collect()
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
