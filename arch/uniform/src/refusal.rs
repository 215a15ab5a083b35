//! Why a mapping is refused: the cause as data for whoever compares mappings, and as a diagnostic for whoever asked for
//! one.
//!
//! The command's registry of diagnostics (`src/diagnostics/`) explains the codes.

use crate::mapping::Plan;
use crate::system::System;
use scop::diag::{Diagnostic, Diagnostics, Span};
use scop::{Scop, StmtId};
use std::collections::BTreeMap;

/// The code for a loop over phases with another role.
const PHASE_LOOP: &str = "E0723";
/// The code for an aim that contradicts itself, or that no array meets.
pub const AIM: &str = "E0730";

/// Why a plan is not a systolic array for this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Illegal {
    /// The transform has this determinant.
    NotUnimodular(i64),
    /// Two coordinates on one axis.
    SharedAxis,
    AgainstTime(Backwards),
    /// The statement's value is part of its own value in one wave.
    Circular(StmtId),
    /// A recurrence through the operators needs more cycles from wave to wave than an array may wait.
    SlowRecurrence,
    /// `statement` uses a sum over `dim` that is spread over PEs which it does not fill.
    IncompleteSum {
        statement: StmtId,
        read: usize,
        dim: String,
    },
    Unstorable {
        array: String,
        why: Unstorable,
    },
    /// A tile would read cells of the array that an earlier tile has overwritten.
    Overwritten {
        array: String,
    },
    /// A value would have to wait for a number of waves that changes with the trips of these counters.
    Varying(Vec<usize>),
    /// A sum whose partial results lie at a distance that follows from the sizes, in coordinates that mix its loops.
    MixedSum {
        statement: StmtId,
        read: usize,
    },
    /// This loop runs phases one after the other; it is asked to be something else.
    PhaseLoop(String),
}

/// A dependence against the order of the waves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backwards {
    pub statement: StmtId,
    pub read: usize,
    /// The statement that computes the value; of a sum, the reading one.
    pub producer: StmtId,
    /// In the iteration space; `None` for a sum in any order.
    pub distance: Option<Vec<i64>>,
    /// From the producer's wave to the reader's: negative, or zero within one PE.
    pub waves: i64,
}

/// Why the array cannot store its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unstorable {
    NotConvex,
    Stride,
    TilesOverlap,
    /// In several tiles that differ in this counter.
    SeveralTiles(String),
    /// In the last tile of this counter, which follows from the sizes and the phase.
    Varying(usize),
    SharedByPes,
}

impl Illegal {
    /// The diagnostic: which dependence, where, and which choice violates it.
    pub fn diagnostic(&self, scop: &Scop, system: &System, plan: &Plan) -> Diagnostic {
        let array_span = |name: &str| scop.arrays.iter().find(|a| a.name == name).map(|a| a.span);
        let error = |code, span: Option<Span>, message: String| Diagnostic::error(code, span, message);
        match self {
            Illegal::NotUnimodular(determinant) => {
                error("E0712", None, format!("the transform has determinant {determinant}, not 1 or -1"))
            }
            Illegal::SharedAxis => error("E0712", None, "two loops on one axis of the array".into()),
            Illegal::AgainstTime(backwards) => backwards.diagnostic(scop, system, plan),
            Illegal::Circular(statement) => {
                let span = scop.statement(*statement).span;
                error("E0715", Some(span), "a value would depend on itself within one wave".into())
                    .label("this needs its own value")
                    .help("keep a loop that carries the dependence as a time loop")
            }
            Illegal::SlowRecurrence => error(
                "E0715",
                scop.function.region.into(),
                "a recurrence through the operators needs more than 256 cycles a wave".into(),
            )
            .help("put a loop that does not carry the recurrence inside, with --order or --latency"),
            Illegal::IncompleteSum { statement, read, dim } => {
                let access = &scop.statement(*statement).reads[*read];
                error(
                    "E0716",
                    Some(access.span),
                    format!("the sum over `{dim}` would be used inside the array before it is complete"),
                )
                .label(format!(
                    "`{}` is spread over PEs along `{dim}` that it does not fill",
                    scop.array(access.array).name
                ))
                .help(format!("choose a tile of `{dim}` that divides the loop, or another space loop"))
            }
            Illegal::Unstorable { array, why } => {
                // The end of a sum in C's order follows from the sizes; in any order it ends in the same PE.
                let floats = scop.arrays.iter().any(|a| a.name == *array && a.ty.is_float());
                why.diagnostic(array, array_span(array), scop.open_sizes() > 0 && floats)
            }
            Illegal::Overwritten { array } => error(
                "E0714",
                array_span(array),
                format!("a tile would read cells of `{array}` that an earlier tile has overwritten"),
            )
            .label("is read and written in place")
            .help("leave the loops untiled that move between these tiles, or write into another array"),
            Illegal::Varying(_) => error(
                "E0725",
                scop.function.region.into(),
                "a value would wait for its reader for a time that changes with the sizes, or from strip to strip"
                    .into(),
            )
            .help(
                "put a loop that does not follow the sizes inside of the one that carries the value; where that is \
                the one cut into strips, put it outermost with --order",
            ),
            Illegal::MixedSum { statement, read } => error(
                "E0725",
                Some(scop.statement(*statement).reads[*read].span),
                "a partial result of this sum would travel a distance that changes with the sizes".into(),
            )
            .label("the loops that this sums over are mixed in one coordinate")
            .help("take the loops themselves as space and time, not sums or differences of them"),
            Illegal::PhaseLoop(name) => error(
                PHASE_LOOP,
                None,
                format!(
                    "`{name}` runs phases one after the other, through memory: it is no space loop, and is not tiled \
                    or skewed"
                ),
            )
            .help("leave it out of the design options"),
        }
    }
}

impl Backwards {
    fn diagnostic(&self, scop: &Scop, system: &System, plan: &Plan) -> Diagnostic {
        let read = &scop.statement(self.statement).reads[self.read];
        let value = source_text(scop, read.span).unwrap_or_else(|| format!("`{}`", scop.array(read.array).name));
        let when = match -self.waves {
            0 => "in the wave in which it is computed, with nothing between".to_string(),
            1 => "1 step before it is computed".to_string(),
            n => format!("{n} steps before it is computed"),
        };
        let blame = self.blame(system, plan);
        let message =
            format!("{value} would be needed {when}{}", blame.as_ref().map_or(String::new(), |b| format!(": {b}")));
        let label = match &self.distance {
            Some(e) => {
                let moved = moved(plan, e);
                let time: Vec<i64> =
                    plan.order.iter().filter(|&&d| plan.dims[d].axis.is_none()).map(|&d| moved[d]).collect();
                let steps = if let [one] = time.as_slice() { one.to_string() } else { vector(&time) };
                format!(
                    "reads what was computed at distance e = {} over ({}); s·e = {steps}",
                    vector(e),
                    names(system).join(", ")
                )
            }
            None => "the sum so far".into(),
        };
        let mut fault = Diagnostic::error("E0705", read.span, message).label(label);
        if self.producer != self.statement {
            fault = fault.note(scop.statement(self.producer).span, "computed here");
        }
        fault.help(
            "`sagen map` lists the legal space loops; order, tile and latency factors must not reorder dependent \
            iterations",
        )
    }

    /// The choice that violates the dependence, if the coordinates are loops in their order, skewed or not.
    fn blame(&self, system: &System, plan: &Plan) -> Option<String> {
        let moved = moved(plan, self.distance.as_ref()?);
        let loops = |(d, row): (usize, &Vec<i64>)| {
            row[d] == 1 && row[d + 1..].iter().all(|&c| c == 0) && row.iter().all(|&c| c >= 0)
        };
        if !plan.transform.iter().enumerate().all(loops) {
            return None;
        }
        let name = |d: usize| crate::mapping::row_name(system, &plan.transform[d]);
        let carrier = moved.iter().position(|&x| x != 0)?;
        if plan.dims[carrier].axis.is_some() {
            return Some(format!("`{}` carries this dependence, so it cannot be a space loop", name(carrier)));
        }
        let first = plan.order.iter().copied().find(|&d| moved[d] != 0 && plan.dims[d].axis.is_none())?;
        (first != carrier).then(|| {
            format!("`{}` carries this dependence, so `{}` cannot be outside of it", name(carrier), name(first))
        })
    }
}

/// A distance over the coordinates.
fn moved(plan: &Plan, distance: &[i64]) -> Vec<i64> {
    plan.transform.iter().map(|row| row.iter().zip(distance).map(|(a, b)| a * b).sum()).collect()
}

impl Unstorable {
    fn diagnostic(&self, array: &str, span: Option<Span>, sized: bool) -> Diagnostic {
        let (message, help) = match self {
            Unstorable::NotConvex => (
                format!("the cells of `{array}` written by one statement are not a convex set"),
                "split the statement, so that each writes a convex part",
            ),
            Unstorable::Stride => (
                format!("the written cells of `{array}` have a stride along a slanted edge"),
                "write the whole row, or another loop order",
            ),
            Unstorable::TilesOverlap => (
                format!("tiles of `{array}` would overlap when stored"),
                "leave the loops untiled that its subscripts add up",
            ),
            Unstorable::SeveralTiles(counter) => {
                (format!("`{array}` would be stored in several iterations of `{counter}`"), "leave that loop untiled")
            }
            Unstorable::Varying(_) => (
                format!("`{array}` would be stored where a loop ends that sizes end by phase"),
                "leave that loop untiled",
            ),
            Unstorable::SharedByPes if sized => (
                format!("two PEs would store the same cells of `{array}`"),
                "choose a space loop that moves its subscripts; sums of floats over a loop that a size ends may be \
                spread with --reassociate",
            ),
            Unstorable::SharedByPes => (
                format!("two PEs would store the same cells of `{array}`"),
                "choose a space loop that moves its subscripts",
            ),
        };
        Diagnostic::error("E0713", span, message).label("is stored to").help(help)
    }
}

/// The refusal if there is no array, with the reason for each kind of array. Where the aim is at fault, that says it all.
pub fn no_array(scop: &Scop, mut reasons: Diagnostics) -> Diagnostics {
    if reasons.iter().any(|r| r.code == AIM) {
        return reasons;
    }
    // The role of phase loops is a reason only if there is no other one.
    if reasons.iter().any(|r| r.code != PHASE_LOOP) {
        reasons.retain(|r| r.code != PHASE_LOOP);
    }
    let fault = Diagnostic::error("E0710", scop.function.region, "no systolic array was found for this region");
    let mut fault = fault.label(if reasons.is_empty() { "nothing was left to try" } else { "the reasons follow" });
    // Copies of a statement are one line of the user's.
    let parts = scop.statements.iter().filter(|s| s.domain.len() > 1).fold(
        BTreeMap::new(),
        |mut all: BTreeMap<Span, usize>, s| {
            all.entry(s.span).and_modify(|n| *n = s.domain.len().max(*n)).or_insert(s.domain.len());
            all
        },
    );
    for (span, n) in parts {
        fault = fault.note(
            span,
            format!("runs in {n} separate parts of its loops: an `if` of its own for each of them may help"),
        );
    }
    std::iter::once(fault).chain(reasons).collect()
}

/// The text a span marks, if the source is at hand.
fn source_text(scop: &Scop, span: Span) -> Option<String> {
    let text = scop.sources.files.get(span.file as usize)?.text.get(span.start as usize..span.end as usize)?;
    (!text.is_empty() && !text.contains('\n')).then(|| format!("`{text}`"))
}

fn names(system: &System) -> Vec<&str> {
    system.dims.iter().map(|d| d.name.as_str()).collect()
}

fn vector(v: &[i64]) -> String {
    format!("({})", v.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
}
