//! `sagen sim --sequence N`: random runs of an IP's functions in random order, back to back, on data of their own.
//!
//! Runs come in batches; each batch begins with garbage in all registers and memories of the IP. The built-in engine
//! also resets the IP in the middle of some runs, which then begin anew, and gives each batch to the IP's queue, too,
//! where there is one. Every run must compute what C does, and with ideal memory take the predicted cycles, whatever
//! ran before it.

use super::{by_stage, rounded, Prepared};
use crate::check::{self, Case, Conditions};
use crate::cli::{Engine, Sim};
use crate::data::{self, Random};
use crate::golden::{Failure, Golden};
use crate::program::Refused;
use crate::progress;
use crate::report::grouped;
use crate::sim::Built;
use serde_json::{json, Value};
use std::fmt::Write as _;
use std::rc::Rc;

/// Runs between two states of garbage.
const BATCH: usize = 50;
/// One run in so many is cut off by a reset.
const CUT: u64 = 8;
/// Faults that are told.
const FAULTS: usize = 8;

pub(super) struct Sequence<'a> {
    pub arguments: &'a Sim,
    pub all: &'a [Prepared<'a>],
    pub built: &'a Rc<Built>,
}

/// What came of it.
pub(super) struct Played {
    /// Runs of each function, by its name.
    runs: Vec<(String, usize)>,
    /// Those that were begun anew after a reset.
    cut: usize,
    /// Those that the queue was given as well.
    queued: usize,
    /// Of all runs.
    cycles: u64,
    /// The cycles were predicted.
    predicted: bool,
    /// The first few, as sentences.
    pub faults: Vec<String>,
}

/// A run to come.
struct Entry<'a> {
    function: usize,
    case: Case<'a>,
    expected: Vec<Vec<u64>>,
    cut: Option<u64>,
}

impl Sequence<'_> {
    /// # Errors
    /// A tool is missing, or a fault of sagen's own.
    pub fn run(&self, count: usize) -> Result<Played, Refused> {
        let mut random = Random(self.arguments.seed ^ 0x7365_7175_656e);
        let models = self.all.iter().map(|p| self.model(p)).collect::<Result<Vec<_>, _>>()?;
        let runs = self.all.iter().map(|p| (p.name(), 0)).collect();
        let mut played = Played { runs, cut: 0, queued: 0, cycles: 0, predicted: false, faults: vec![] };
        let (mut left, mut batch) = (count, 0);
        while left > 0 && played.faults.is_empty() {
            progress::stage("simulating a sequence");
            let entries =
                (0..left.min(BATCH)).map(|_| self.entry(&models, &mut random)).collect::<Result<Vec<_>, _>>()?;
            let mut how = Conditions::of(self.arguments);
            (how.seed, how.vcd) = (self.arguments.seed.wrapping_add(batch), None);
            self.play(&entries, &how, &mut played)?;
            (left, batch) = (left - entries.len(), batch + 1);
        }
        progress::done();
        Ok(played)
    }

    /// With a queue, every batch once more through that.
    fn play(&self, entries: &[Entry], how: &Conditions, played: &mut Played) -> Result<(), Refused> {
        let cases: Vec<(&Case, Option<u64>)> = entries.iter().map(|e| (&e.case, e.cut)).collect();
        let runs = check::simulate(&cases, how).map_err(Refused::plain)?;
        self.compare(entries, &runs, how, played);
        played.predicted = entries.iter().all(|e| how.predicted(&e.case).is_some());
        for (entry, run) in entries.iter().zip(&runs) {
            played.runs[entry.function].1 += 1;
            played.cut += usize::from(entry.cut.is_some());
            played.cycles += run.outcome.cycles;
        }
        if self.built.interface.layout.queue().is_some() && self.arguments.engine == Engine::Builtin {
            let cases: Vec<&Case> = entries.iter().map(|e| &e.case).collect();
            let mut queued = check::enqueue(&cases, how).map_err(Refused::plain)?;
            // The cycles are those of the last one.
            let last = queued.pop().into_iter().collect::<Vec<_>>();
            self.compare(&entries[entries.len() - 1..], &last, how, played);
            queued
                .iter_mut()
                .zip(entries)
                .for_each(|(run, e)| run.outcome.cycles = how.predicted(&e.case).unwrap_or(0));
            self.compare(&entries[..entries.len() - 1], &queued, how, played);
            played.queued += entries.len();
        }
        Ok(())
    }

    fn compare(&self, entries: &[Entry], runs: &[check::Run], how: &Conditions, played: &mut Played) {
        for (entry, run) in entries.iter().zip(runs) {
            if let Some(fault) = entry.case.fault(run, how, &entry.expected).filter(|_| played.faults.len() < FAULTS) {
                played.faults.push(format!("{}: {fault}", self.all[entry.function].name()));
            }
        }
    }

    /// The C program, or nothing where the interpreter must do.
    fn model(&self, prepared: &Prepared) -> Result<Option<Golden>, Refused> {
        let input = &prepared.input;
        if input.stage.is_some() {
            return Ok(None);
        }
        match Golden::new(&input.scop, &input.file, &self.arguments.program.parse_options()) {
            Ok(golden) => Ok(Some(golden)),
            Err(Failure::NoCompiler | Failure::NoType(_)) => Ok(None),
            Err(why) => Err(Refused::plain(why)),
        }
    }

    fn entry(&self, models: &[Option<Golden>], random: &mut Random) -> Result<Entry<'_>, Refused> {
        let function = random.below(self.all.len() as u64) as usize;
        let prepared = &self.all[function];
        let Prepared { input, spec, compiled, .. } = prepared;
        let scop = &input.scop;
        let memory = data::random(scop, random.next());
        let (before, after) = match &models[function] {
            Some(golden) => golden.run(scop, &memory).map(|run| (run.before, run.after)).map_err(Refused::plain)?,
            None => {
                let after = by_stage(input, &memory).map_err(Refused::internal)?;
                (memory, after)
            }
        };
        let case =
            Case::of(self.built.clone(), prepared.function, (scop, compiled), &before).map_err(Refused::internal)?;
        let own = rounded(scop, spec, &compiled.vsa, &before, &case.numbers).map_err(Refused::internal)?;
        let expected = own.map_or_else(|| case.of_vsa(&after), |own| own.expected);
        let cuts = self.arguments.engine == Engine::Builtin && random.below(CUT) == 0;
        let cut = cuts.then(|| random.below(case.predicted().max(1)));
        Ok(Entry { function, case, expected, cut })
    }
}

impl Played {
    fn count(&self) -> usize {
        self.runs.iter().map(|r| r.1).sum()
    }

    pub fn json(&self) -> Value {
        let runs: serde_json::Map<_, _> = self.runs.iter().map(|(name, n)| (name.clone(), json!(n))).collect();
        json!({ "runs": self.count(), "of": runs, "reset": self.cut, "queued": self.queued, "cycles": self.cycles, "cycles_checked": self.predicted, "faults": self.faults })
    }

    pub fn text(&self) -> String {
        let of: Vec<_> = self.runs.iter().map(|(name, n)| format!("{n} {name}")).collect();
        let reset =
            if self.cut > 0 { format!(", {} of them after a reset in their middle", self.cut) } else { String::new() };
        let queued = if self.queued > 0 { "; the same again as commands of the queue" } else { "" };
        let mut text = format!("sequence of {} runs: {}{reset}{queued}\n", grouped(self.count() as i64), of.join(", "));
        for fault in &self.faults {
            let _ = writeln!(text, "  NOT EQUAL    {fault}");
        }
        if self.faults.is_empty() {
            let cycles = if self.predicted { ", and each took the predicted cycles" } else { "" };
            let _ = writeln!(text, "  equal        all results{cycles}; {} cycles in all", grouped(self.cycles as i64));
        }
        text
    }
}
