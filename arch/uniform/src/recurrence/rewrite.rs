//! Rewrites: other forms of a program that compute the same, bit for bit. [`uniform`] tries them in the order of a
//! named list ([`crate::recurrence::REWRITES`]) and takes the first form whose dependences are uniform. Each
//! [`Attempt`] says why the forms before it failed.
//!
//! **Completed sums** ([`completed`]). Where the condition of `if (0 <= r + p - 1) y[r] += x[r + p - 1] * w[p];` fails,
//! nothing is added. *After*: `y[r] += 0 <= r + p - 1 ? x[r + p - 1] * w[p] : 0`, a sum over all of its loops, which
//! may have any order. This form is tried first. Elements outside of an array are never fetched.
//!
//! **Reversed sums** ([`reversed`]). If the order of a sum does not matter, `for (j…) x[i] -= u[i][j] * x[j];` may run
//! backwards. Back substitution needs it: the term that is computed last must come last.
//!
//! **Folded domains** ([`folded`]). In Floyd–Warshall, row and column `k` spread both ways from `i = k` and `j = k`.
//! The domain is split there. Each part is placed by its distance from the pivot, `|i - k|` and `|j - k|`, so that
//! every value moves away from it and the parts lie upon each other, like a sheet folded along the pivot:
//!
//! ```text
//!       j < k   j > k
//! i < k  part | part         all four parts at (k, |i - k|, |j - k|)
//!       ------k------
//! i > k  part | part
//! ```
//!
//! **Source.** Choffrut, Culik, "Folding of the Plane and the Design of Systolic Arrays" (1983); Redon, Feautrier,
//! "Scheduling Reductions" (1994), sums in any order.

use crate::affine::map::{compose, coordinate, in_bounds, minus};
use crate::recurrence::build_at;
use crate::recurrence::builder::Within;
use crate::recurrence::extended;
use crate::recurrence::place::Reach;
use crate::recurrence::reduction;
use crate::system::System;
use scop::diag::{Diagnostic, Diagnostics};
use scop::flow;
use scop::flow::{Flow, Source};
use scop::{Access, Affine, BinaryOp, Constraint, Expr, ExprKind, ScalarType, Scop, Statement};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::{self, Display, Formatter};

/// A form of the program, with the places of some of its statements (see [`crate::recurrence::build_at`]).
pub struct Version<'a> {
    pub scop: Cow<'a, Scop>,
    pub places: Vec<Option<Vec<Affine>>>,
    pub reach: Reach,
}

impl Version<'_> {
    pub(super) fn at_will<'a>(scop: Scop) -> Version<'a> {
        Version { scop: Cow::Owned(scop), places: vec![], reach: Reach::Far }
    }
}

/// The program before it is rewritten.
pub struct Region<'a> {
    pub scop: &'a Scop,
    /// Whether sums of floats may be reordered.
    pub reassociate: Option<bool>,
    pub(super) within: Within,
    flow: OnceCell<Result<Flow, Diagnostics>>,
}

impl<'a> Region<'a> {
    pub fn new(scop: &'a Scop, reassociate: Option<bool>) -> Region<'a> {
        Region::part(scop, Within::ALONE, reassociate)
    }
    /// A part of a program, under loops that stay as they are.
    pub(super) fn part(scop: &'a Scop, within: Within, reassociate: Option<bool>) -> Region<'a> {
        Region { scop, reassociate, within, flow: OnceCell::new() }
    }
    pub(super) fn flow(&self) -> Result<&Flow, &Diagnostics> {
        self.flow.get_or_init(|| flow::analyze(self.scop)).as_ref()
    }
}

/// The name of the program itself among the rewrites.
pub const AS_WRITTEN: &str = "as written";
/// The name of the version with sums backwards, which a refusal may suggest.
pub const REVERSED: &str = "reversed sums";

/// One way to rewrite a program.
pub struct Rewrite {
    pub name: &'static str,
    /// The forms of the region, best first; none if it does not apply.
    pub versions: for<'a> fn(&Region<'a>) -> Vec<Version<'a>>,
    /// Why it does not apply.
    pub unless: &'static str,
}

/// A search for places that fails after more questions than this was long.
const LONG_SEARCH: u64 = 20_000;
/// Divides the effort of the searches behind a long one.
const EFFORT_DIVISOR: u64 = 4;

/// The outcome of a rewrite.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Taken,
    NotApplicable(&'static str),
    /// The dependences of the last version that cannot be made uniform.
    NotUniform(Diagnostics),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    pub rewrite: &'static str,
    pub outcome: Outcome,
}

impl Display for Attempt {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match &self.outcome {
            Outcome::Taken => write!(f, "{}: taken", self.rewrite),
            Outcome::NotApplicable(why) => write!(f, "{}: {why}", self.rewrite),
            Outcome::NotUniform(faults) => {
                let first = faults.first().map_or("", |f| f.message.as_str());
                let more = if faults.len() > 1 { format!(", and {} more", faults.len() - 1) } else { String::new() };
                write!(f, "{}: {first}{more}", self.rewrite)
            }
        }
    }
}

/// The first form with uniform dependences, and the outcome of each rewrite up to it.
///
/// # Errors
/// The outcome of all rewrites.
pub fn uniform<'a>(
    region: &Region<'a>,
    rewrites: &[Rewrite],
) -> Result<(Cow<'a, Scop>, System, Vec<Attempt>), Vec<Attempt>> {
    let mut attempts = Vec::new();
    let mut within = region.within;
    for rewrite in rewrites {
        let mut outcome = Outcome::NotApplicable(rewrite.unless);
        for version in (rewrite.versions)(region) {
            let begun = flow::questions();
            match system(region, &version, within) {
                Ok(system) => {
                    attempts.push(Attempt { rewrite: rewrite.name, outcome: Outcome::Taken });
                    let (version, system) = extended_sums(region, version, system);
                    return Ok((version.scop, system, attempts));
                }
                Err(faults) => outcome = Outcome::NotUniform(faults),
            }
            if (flow::questions() - begun) * within.effort_divisor > LONG_SEARCH {
                within.effort_divisor = region.within.effort_divisor * EFFORT_DIVISOR;
            }
        }
        attempts.push(Attempt { rewrite: rewrite.name, outcome });
    }
    Err(attempts)
}

/// Why no form is uniform: the faults of the program as written, with the outcome of the other rewrites.
pub fn refusal(region: &Region, attempts: Vec<Attempt>, rewrites: &[Rewrite]) -> Diagnostics {
    let others: Vec<String> = attempts
        .iter()
        .filter(|a| a.rewrite != AS_WRITTEN && matches!(a.outcome, Outcome::NotUniform(_)))
        .map(Attempt::to_string)
        .collect();
    let mut faults = as_written_faults(&attempts);
    let freely = Region::new(region.scop, Some(true));
    let reversed = rewrites.iter().filter(|r| r.name == REVERSED);
    if region.reassociate.is_none() && reversed.into_iter().any(|r| uniform(&freely, std::slice::from_ref(r)).is_ok()) {
        let hint = |fault: Diagnostic| {
            fault
                .help("with --reassociate the sum may run backwards, which makes it uniform, and may round differently")
        };
        return faults.into_iter().map(hint).collect();
    }
    // Names other forms only beside faults of dependences, and only with faults of their own.
    let is_new = |text: &String| faults.iter().all(|f| !text.ends_with(&f.message));
    let others: Vec<String> = others.into_iter().filter(is_new).collect();
    if let Some(last) = faults.last_mut().filter(|f| f.code == "E0601" && !others.is_empty()) {
        let help = last.help.take().map_or(String::new(), |h| h + "; ");
        last.help = Some(format!("{help}other forms were tried: {}", others.join("; ")));
    }
    faults
}

/// The faults of the program as written.
pub(super) fn as_written_faults(attempts: &[Attempt]) -> Diagnostics {
    let of_program = |a: &Attempt| match &a.outcome {
        Outcome::NotUniform(faults) if a.rewrite == AS_WRITTEN => Some(faults.clone()),
        _ => None,
    };
    attempts.iter().find_map(of_program).unwrap_or_default()
}

fn system(region: &Region, version: &Version, within: Within) -> Result<System, Diagnostics> {
    let build = |flow: &Flow| build_at(&version.scop, flow, within, region.reassociate, &version.places, version.reach);
    match &version.scop {
        Cow::Borrowed(_) => build(region.flow().map_err(Clone::clone)?),
        Cow::Owned(scop) => build(&flow::analyze(scop)?),
    }
}

/// The form with its sums extended ([`crate::recurrence::extended`]) if more of them may have any order then. Not with
/// sizes at run time: the ends of loops are no constants.
fn extended_sums<'a>(region: &Region<'a>, version: Version<'a>, system: System) -> (Version<'a>, System) {
    if region.within.sizes > 0 {
        return (version, system);
    }
    let Some(scop) = extended::extended(&version.scop, &system, region.reassociate) else { return (version, system) };
    let wide = Version { scop: Cow::Owned(scop), places: version.places.clone(), reach: version.reach };
    match self::system(region, &wide, region.within) {
        Ok(new) if extended::is_better((&wide.scop, &new), (&version.scop, &system), region.reassociate) => (wide, new),
        _ => (version, system),
    }
}

/// The program itself.
pub fn as_written<'a>(region: &Region<'a>) -> Vec<Version<'a>> {
    vec![Version { scop: Cow::Borrowed(region.scop), places: vec![], reach: Reach::Far }]
}

/// The program itself, its loops as they are.
pub(super) fn near<'a>(region: &Region<'a>) -> Vec<Version<'a>> {
    as_written(region).into_iter().map(|version| Version { reach: Reach::Near, ..version }).collect()
}

/// The program with completed sums; nothing if no condition interrupts one.
pub fn completed<'a>(region: &Region<'a>) -> Vec<Version<'a>> {
    complete_all(region.scop).map(Version::at_will).into_iter().collect()
}

/// The program with its statements split where a value is read on both sides of its producer, and the places at which
/// the parts lie upon each other; nothing if there is nothing to fold.
pub fn folded<'a>(region: &Region<'a>) -> Vec<Version<'a>> {
    let folded = region.flow().ok().and_then(|flow| fold(region.scop, flow));
    folded.map(|(scop, places)| Version { scop: Cow::Owned(scop), places, reach: Reach::Near }).into_iter().collect()
}

/// The program with one reduction's innermost loop reversed, for each reduction that allows it, then with all of them.
pub fn reversed<'a>(region: &Region<'a>) -> Vec<Version<'a>> {
    let near = |scop| Version { reach: Reach::Near, ..Version::at_will(scop) };
    reverse_each(region.scop, region.reassociate).into_iter().map(near).collect()
}

/// The program with all of its sums completed; `None` if conditions interrupt none.
pub(super) fn complete_all(scop: &Scop) -> Option<Scop> {
    let mut out = scop.clone();
    let mut any = false;
    for statement in &mut out.statements {
        if let Some(full) = complete(scop, statement) {
            *statement = full;
            any = true;
        }
    }
    any.then_some(out)
}

/// The statement without the conditions around it, if it then may store what its cell holds already, and if they depend
/// on an iterator that the cell does not.
fn complete(scop: &Scop, statement: &Statement) -> Option<Statement> {
    let depth = statement.loops.len();
    let write = &statement.write;
    let old = statement.reads.iter().position(|r| r.array == write.array && r.subscripts == write.subscripts)?;
    let [around] = statement.around.as_slice() else { return None };
    let when: Vec<Vec<Constraint>> = statement.domain.iter().map(|all| flow::simplify(all, around, depth)).collect();
    let summed = |d: usize| write.subscripts.iter().all(|a| a.coeffs[d] == 0);
    if !when.iter().flatten().any(|c| (0..depth).any(|d| c.expr.coeffs[d] != 0 && summed(d))) {
        return None;
    }
    if !flow::implies(around, &in_bounds(&write.subscripts, &scop.array(write.array).dims), depth) {
        return None;
    }
    let truth = |kind| Expr { kind, ty: ScalarType::BOOL, span: statement.span };
    let conditions = when.into_iter().map(|all| truth(ExprKind::Holds(all)));
    let holds = conditions.reduce(|a, b| truth(ExprKind::Binary(BinaryOp::Or, Box::new(a), Box::new(b))))?;
    let rhs = reduction::masked(scop, statement, old, &holds);
    Some(Statement { domain: statement.around.clone(), rhs, ..statement.clone() })
}

fn reverse_each(scop: &Scop, reassociate: Option<bool>) -> Vec<Scop> {
    let able: Vec<usize> = (0..scop.statements.len()).filter(|&s| is_reversible(scop, s, reassociate)).collect();
    let single = able.iter().map(|&s| vec![s]);
    let all = (able.len() > 1).then(|| able.clone());
    single.chain(all).filter_map(|choice| choice.iter().try_fold(scop.clone(), |scop, &s| reverse(scop, s))).collect()
}

/// The statement is alone in its innermost loop, and sums over it, in any order, terms that no iteration of it changes.
fn is_reversible(scop: &Scop, s: usize, reassociate: Option<bool>) -> bool {
    let statement = &scop.statements[s];
    let Some((&innermost, depth)) = statement.loops.last().zip(statement.loops.len().checked_sub(1)) else {
        return false;
    };
    let alone = scop.statements.iter().filter(|x| x.loops.contains(&innermost)).count() == 1;
    let Some(accumulator) = reduction::accumulator(scop, s, reassociate) else { return false };
    let stays = statement.write.subscripts.iter().all(|a| a.coeffs[depth] == 0);
    // No other read is of the cell that the loop adds to: it would be another partial sum.
    let is_other_cell = |read: &Access| {
        let same = read
            .subscripts
            .iter()
            .zip(&statement.write.subscripts)
            .map(|(a, b)| Constraint { expr: minus(a, b), equality: true });
        let same: Vec<Constraint> = same.collect();
        read.array != statement.write.array
            || statement.domain.iter().all(|all| flow::is_empty(&[all.as_slice(), &same].concat(), depth + 1))
    };
    let others = statement.reads.iter().enumerate().filter(|(k, _)| *k != accumulator);
    alone && stays && others.map(|(_, read)| read).all(is_other_cell)
}

/// Substitutes `last - j` for the innermost iterator `j`; `None` if its last value is not one affine function.
fn reverse(mut scop: Scop, s: usize) -> Option<Scop> {
    let statement = &mut scop.statements[s];
    let inner = statement.loops.len() - 1;
    let [conjunction] = statement.domain.as_slice() else { return None };
    let mut uppers = conjunction.iter().filter(|c| c.expr.coeffs[inner] < 0 || c.equality && c.expr.coeffs[inner] != 0);
    let (upper, None) = (uppers.next()?, uppers.next()) else { return None };
    if upper.expr.coeffs[inner] != -1 || upper.equality {
        return None;
    }
    // upper: last - j >= 0; `last - j` takes the place of `j`.
    let last = upper.expr.clone();
    let mut turned: Vec<Affine> = (0..=inner).map(|d| coordinate(d, inner + 1)).collect();
    turned[inner] = last.clone();
    let turn = |a: &Affine| compose(a, &turned, inner + 1);
    let turn_access = |a: &Access| Access { subscripts: a.subscripts.iter().map(&turn).collect(), ..a.clone() };
    let domain = conjunction.iter().map(|c| Constraint { expr: turn(&c.expr), equality: c.equality }).collect();
    let reads = statement.reads.iter().map(turn_access).collect();
    let write = turn_access(&statement.write);
    let rhs = substituted(&statement.rhs, &turn);
    let at = *statement.loops.last()?;
    (statement.domain, statement.reads, statement.write, statement.rhs) = (vec![domain], reads, write, rhs);
    let counted = &mut scop.loops[at.index()];
    let step = counted.step;
    counted.offset.coeffs.resize(inner, 0);
    counted.offset.coeffs.iter_mut().zip(&last.coeffs).for_each(|(o, l)| *o += step * l);
    counted.offset.constant += step * last.constant;
    counted.step = -step;
    Some(scop)
}

fn fold(scop: &Scop, flow: &Flow) -> Option<(Scop, Vec<Option<Vec<Affine>>>)> {
    let mut parts: Vec<(Statement, Option<Vec<Affine>>)> = Vec::new();
    let deepest = scop.statements.iter().map(|s| s.loops.len()).max()?;
    for (s, statement) in scop.statements.iter().enumerate() {
        let depth = statement.loops.len();
        let folds = if depth == deepest { folds(flow, s, depth) } else { vec![] };
        if folds.is_empty() {
            parts.push((statement.clone(), None));
            continue;
        }
        for sides in 0..1u32 << folds.len() {
            let mut part = statement.clone();
            let mut place: Vec<Affine> = (0..depth).map(|d| coordinate(d, depth)).collect();
            for (bit, &(inner, outer)) in folds.iter().enumerate() {
                let below = sides >> bit & 1 == 1;
                let away = away(inner, outer, below, depth);
                let side = Constraint { expr: Affine { constant: -i64::from(below), ..away.clone() }, equality: false };
                part.domain.iter_mut().for_each(|conjunction| conjunction.push(side.clone()));
                place[inner] = away;
            }
            part.domain.retain(|conjunction| !flow::is_empty(conjunction, depth));
            if !part.domain.is_empty() {
                parts.push((part, Some(place)));
            }
        }
    }
    let (statements, places): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    places.iter().any(Option::is_some).then(|| (Scop { statements, ..scop.clone() }, places))
}

/// Pairs (inner iterator, outer iterator) with readers on both sides of a producer at `inner = outer`.
fn folds(flow: &Flow, s: usize, depth: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for inner in 1..depth {
        for outer in 0..inner {
            let pivot = coordinate(outer, depth);
            let produced_at = |p: &flow::Piece| match &p.source {
                Source::Write { iteration, .. } => iteration.get(inner) == Some(&pivot),
                Source::Input | Source::Undefined => false,
            };
            let pieces: Vec<&flow::Piece> = flow.reads[s].iter().flatten().filter(|p| produced_at(p)).collect();
            let beyond = |below: bool| {
                let side =
                    Constraint { expr: Affine { constant: -1, ..away(inner, outer, below, depth) }, equality: false };
                pieces.iter().any(|p| {
                    !flow::is_empty(&p.domain.iter().cloned().chain([side.clone()]).collect::<Vec<_>>(), depth)
                })
            };
            if beyond(false) && beyond(true) {
                found.push((inner, outer));
            }
        }
    }
    found
}

/// `inner - outer`, or the opposite below.
fn away(inner: usize, outer: usize, below: bool, depth: usize) -> Affine {
    let (from, to) = if below { (inner, outer) } else { (outer, inner) };
    minus(&coordinate(to, depth), &coordinate(from, depth))
}

/// The expression over other iterators.
pub(super) fn substituted(e: &Expr, over: &impl Fn(&Affine) -> Affine) -> Expr {
    let kind = match &e.kind {
        ExprKind::Iter(a) => ExprKind::Iter(over(a)),
        ExprKind::Holds(all) => {
            ExprKind::Holds(all.iter().map(|c| Constraint { expr: over(&c.expr), ..c.clone() }).collect())
        }
        _ => return e.with_operands(|x| substituted(x, over)),
    };
    Expr { kind, ..e.clone() }
}
