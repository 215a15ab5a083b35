//! `sagen sim --sequence N`: N random runs of an IP's functions, back to back, each on random data.
//!
//! The runs come in batches. A batch begins with random contents in all registers and memories of the IP. The built-in
//! engine also resets the IP in the middle of some runs, alone or with its memories; these runs then begin anew. If the IP has a queue, the built-in
//! engine runs each batch a second time through the queue.
//!
//! Each run must give the results of C and, with ideal memory, take the predicted number of cycles, whatever ran
//! before.

use super::Prepared;
use crate::check::{self, Case, Conditions};
use crate::cli::{Engine, Sim};
use crate::data::{self, Random};
use crate::error::{Error, Result};
use crate::golden::{Golden, Way};
use crate::kept::{self, State};
use crate::reference::{by_stage, rounded};
use crate::reporter::{Progress, Reporter};
use crate::sim::{Built, Cut};
use std::rc::Rc;

/// Runs in a batch.
const BATCH: usize = 50;
/// A reset cuts off one run in this many.
const CUT: u64 = 8;
/// At most this many faults are reported.
const FAULTS: usize = 8;

pub(super) struct Sequence<'a> {
    pub arguments: &'a Sim,
    pub all: &'a [Prepared<'a>],
    pub built: &'a Rc<Built>,
    pub reporter: &'a dyn Reporter,
}

/// The result of a sequence.
pub struct Played {
    /// The number of runs of each function, by its name.
    pub runs: Vec<(String, usize)>,
    /// The number of runs that a reset cut off.
    pub cut: usize,
    /// The number of runs that went through the queue as well.
    pub queued: usize,
    /// The number of runs that went through the queue in batches, and overlapped where they may.
    pub overlapped: usize,
    /// Clock cycles of all runs.
    pub cycles: u64,
    /// The number of cycles of each run was predicted.
    pub predicted: bool,
    /// The first few faults, as sentences.
    pub faults: Vec<String>,
}

/// A run of the sequence.
struct Entry<'a> {
    function: usize,
    case: Case<'a>,
    expected: Vec<Vec<u64>>,
    cut: Option<Cut>,
}

impl Sequence<'_> {
    /// # Errors
    /// A tool is missing, or a fault of sagen's own.
    pub fn run(&self, count: usize) -> Result<Played> {
        let mut random = Random(self.arguments.seed() ^ 0x7365_7175_656e);
        let models = self.all.iter().map(|p| self.model(p)).collect::<Result<Vec<_>>>()?;
        let runs = self.all.iter().map(|p| (p.name(), 0)).collect();
        let mut played = Played { runs, cut: 0, queued: 0, overlapped: 0, cycles: 0, predicted: false, faults: vec![] };
        let (mut left, mut batch) = (count, 0);
        while left > 0 && played.faults.is_empty() {
            self.reporter.progress(Progress::Stage("simulating a sequence"));
            // Each batch is a simulation of its own.
            let mut state = State::default();
            let entries = (0..left.min(BATCH))
                .map(|_| self.entry(&models, &mut state, &mut random))
                .collect::<Result<Vec<_>>>()?;
            let mut how = Conditions::of(self.arguments);
            (how.seed, how.vcd) = (self.arguments.seed().wrapping_add(batch), None);
            self.play(&entries, &how, &mut played)?;
            (left, batch) = (left - entries.len(), batch + 1);
        }
        self.reporter.progress(Progress::Done);
        Ok(played)
    }

    /// Runs a batch, and again through the queue if there is one.
    fn play(&self, entries: &[Entry], how: &Conditions, played: &mut Played) -> Result<()> {
        let cases: Vec<(&Case, Option<Cut>)> = entries.iter().map(|e| (&e.case, e.cut)).collect();
        let runs = check::simulate(&cases, how, self.reporter).map_err(Error::reason)?;
        self.compare(entries, &runs, how, played);
        played.predicted = entries.iter().all(|e| how.predicted(&e.case).is_some());
        for (entry, run) in entries.iter().zip(&runs) {
            played.runs[entry.function].1 += 1;
            played.cut += usize::from(entry.cut.is_some());
            played.cycles += run.outcome.cycles;
        }
        if self.built.interface.layout.queue().is_some() && self.arguments.engine == Engine::Builtin {
            let cases: Vec<&Case> = entries.iter().map(|e| &e.case).collect();
            let mut queued = check::enqueue(&cases, how, self.reporter).map_err(Error::reason)?;
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
        if self.built.interface.layout.overlap && self.arguments.engine == Engine::Builtin {
            self.overlap(entries, how, played)?;
        }
        Ok(())
    }

    /// Runs a batch as commands that overlap.
    fn overlap(&self, entries: &[Entry], how: &Conditions, played: &mut Played) -> Result<()> {
        let mut random = Random(how.seed ^ 0x006f_7665_726c_6170);
        // Runs that keep arrays depend on those before them.
        let keeps = |e: &Entry| kept::any(&self.all[e.function].input.scop);
        let independent: Vec<bool> = entries.iter().map(|e| random.below(4) > 0 && !keeps(e)).collect();
        let cases: Vec<(&Case, Option<Cut>)> = entries.iter().map(|e| (&e.case, e.cut)).collect();
        let runs = check::overlap(&cases, independent.clone(), how, self.reporter).map_err(Error::reason)?;
        for (entry, run) in entries.iter().zip(&runs) {
            if let Some(fault) = entry.case.wrong(run, how, &entry.expected).filter(|_| played.faults.len() < FAULTS) {
                played.faults.push(format!("{}, overlapping: {fault}", self.all[entry.function].name()));
            }
        }
        let size = self.built.interface.layout.queue as usize;
        for (k, (batch, runs)) in entries.chunks(size).zip(runs.chunks(size)).enumerate() {
            played.overlapped += batch.len();
            let commands = batch.iter().zip(&independent[k * size..]).map(|(e, i)| (e.case.compiled, *i));
            let (Some(cycles), Some(run)) = (how.batch(&commands.collect::<Vec<_>>()), runs.last()) else { continue };
            if cycles != run.outcome.cycles && played.faults.len() < FAULTS {
                let names: Vec<String> = batch.iter().map(|e| self.all[e.function].name()).collect();
                played.faults.push(format!(
                    "commands {}, independent {:?}: {cycles} cycles predicted, {} simulated",
                    names.join(", "),
                    &independent[k * size..k * size + batch.len()],
                    run.outcome.cycles
                ));
            }
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

    /// The C program; none if the interpreter takes its place.
    fn model(&self, prepared: &Prepared) -> Result<Option<Golden>> {
        let input = &prepared.input;
        if input.stage.is_some() {
            return Ok(None);
        }
        if !prepared.reference.native {
            return Ok(None);
        }
        let how = self.arguments.c_program.how(prepared.compiled.report.work.map(|w| w.operations));
        match Golden::new(&input.scop, &input.file, &input.options, &how, Way::Call) {
            Ok(golden) => Ok(Some(golden)),
            Err(why) if why.leaves_the_interpreter() => Ok(None),
            Err(why) => Err(Error::reason(why)),
        }
    }

    fn entry(&self, models: &[Option<Golden>], state: &mut State, random: &mut Random) -> Result<Entry<'_>> {
        let function = random.below(self.all.len() as u64) as usize;
        let prepared = &self.all[function];
        let Prepared { input, spec, compiled, .. } = prepared;
        let scop = &input.scop;
        let mut memory = data::random(scop, random.draw());
        state.give(scop, &mut memory);
        let (before, after) = match &models[function] {
            Some(golden) => golden.run(scop, &memory).map(|run| (run.before, run.after)).map_err(Error::reason)?,
            None => {
                let after = by_stage(input, &memory).map_err(|why| match &input.stage {
                    Some(_) => Error::reason(why),
                    None => Error::internal(why),
                })?;
                (memory, after)
            }
        };
        let case =
            Case::of(self.built.clone(), prepared.function, (scop, compiled), &before).map_err(Error::internal)?;
        let own = rounded(scop, spec, &compiled.vsa, &before, &case.numbers).map_err(Error::internal)?;
        let expected = own.map_or_else(|| case.of_vsa(&after), |own| own.expected);
        state.take(&compiled.vsa, &expected);
        let cuts = self.arguments.engine == Engine::Builtin && random.below(CUT) == 0;
        let cut = cuts.then(|| Cut { after: random.below(case.predicted().max(1)), soft: random.below(2) == 0 });
        Ok(Entry { function, case, expected, cut })
    }
}

impl Played {
    /// The number of runs.
    pub fn count(&self) -> usize {
        self.runs.iter().map(|r| r.1).sum()
    }
}
