//! Searches for the best systolic array, with a proof of how good it is: for one function, for all layers of a network
//! ([`network`]), or a part of the search ([`shard`]).

pub mod network;
pub mod shard;

use crate::cli::Explore;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::program::Work;
use crate::reporter::{self, Reporter};
use array::kernel::Kernel;
use cost::board::{Board, Resources};
use scop::Scop;
use search::branch::{Design, Effort, Found, Learned, Progress};
use search::choose;
use search::choose::{Hint, Quest};
use search::distribute;
use search::tuning;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use uniform::aim::Objective;
use uniform::design::{ArrayChoice, DesignSpec};

/// The result of a search.
pub enum Explored {
    Best(Box<Best>),
    Network(Box<network::Answer>),
    Shard(shard::Summary),
}

/// The best systolic array of a function.
pub struct Best {
    /// The file of the function.
    pub file: PathBuf,
    pub scop: Scop,
    pub board: Board,
    /// What was asked, without the board's defaults.
    pub asked: DesignSpec,
    /// What was sought.
    pub objective: Objective,
    /// The resources that a systolic array may take.
    pub limits: Resources,
    /// Iterations of the program.
    pub iterations: i64,
    /// The best design, the bound on all others, and statistics.
    pub found: Found,
    /// The best designs with fewer and fewer resources.
    pub front: Vec<Found>,
    /// Other layouts of arrays in memory that would make the program faster.
    pub hints: Vec<Hint>,
    /// Duration of the search for the best design.
    pub seconds: f64,
    /// The same with those for the front and for other layouts.
    pub seconds_in_all: f64,
}

impl Best {
    /// The best design.
    pub fn design(&self) -> &Design {
        self.found.best.as_ref().expect("a search without a design is an error")
    }

    /// The share of the lanes' time that a design uses, 0 to 1.
    pub fn utilization(&self, d: &Design) -> f64 {
        let lanes = d.vsa.extent[0] * d.vsa.extent[1] * d.vsa.lanes;
        self.iterations as f64 / (lanes as f64 * d.cycles.max(1) as f64)
    }
}

/// The input of a search.
struct Context<'a> {
    arguments: &'a Explore,
    program: &'a Kernel<'a>,
    /// What is asked, with the board's defaults.
    spec: &'a DesignSpec,
    /// What is asked, without them.
    asked: &'a DesignSpec,
    limits: Resources,
    space: Option<Vec<usize>>,
    effort: Effort,
}

/// See [`crate::explore()`].
pub(crate) fn run(arguments: &Explore, reporter: &dyn Reporter) -> Result<Explored> {
    if let Some(path) = &arguments.program.network {
        let answer = network::run(arguments, path, reporter)?;
        return Ok(Explored::Network(Box::new(answer)));
    }
    let (Input { scop, file, .. }, asked, board) = Work::load(&arguments.program, &arguments.design, reporter)?
        .counting(arguments.memory)
        .only("`sagen explore`")?;
    let mut spec = search::on(&board, &asked);
    spec.aim.objective.get_or_insert(Objective::Cycles);
    let program = search::program(&scop, &spec).map_err(|faults| Error::diagnostics(faults, &scop.sources))?;
    let space = space_loops(&spec, &program)?;
    let limits = choose::limits_of(&board, &spec.aim.limit).map_err(Error::usage)?;
    let effort = effort(arguments);
    let context = Context { arguments, program: &program, spec: &spec, asked: &asked, limits, space, effort };
    if let (Some(part), Some(out)) = (arguments.shard, &arguments.out) {
        return shard::run(&context, part, out).map(Explored::Shard);
    }
    let Answer { found, front, hints, seconds, seconds_in_all } = context.explore(&scop, reporter)?;
    let iterations = program.work.iterations;
    drop(program);
    let objective = choose::objective(&spec.aim);
    let best =
        Best { file, scop, board, asked, objective, limits, iterations, found, front, hints, seconds, seconds_in_all };
    Ok(Explored::Best(Box::new(best)))
}

/// The space loops of every design, if they are given.
fn space_loops(spec: &DesignSpec, program: &Kernel) -> Result<Option<Vec<usize>>> {
    match &spec.array {
        ArrayChoice::Automatic => Ok(None),
        ArrayChoice::ByHand { space: Some(names), shape } if *shape == Default::default() => {
            choose::space_loops(program, names)
                .map(Some)
                .ok_or_else(|| Error::usage("explore chooses among plain loops: --space takes their names"))
        }
        _ => Err(Error::usage(
            "explore finds tiles, lanes and order by itself: leave them out, or build the array with `sagen rtl`",
        )),
    }
}

fn effort(arguments: &Explore) -> Effort {
    Effort {
        exact: arguments.designs,
        bounds: arguments.designs.saturating_mul(tuning::EXPLORE_BOUNDS_PER_DESIGN),
        work: u64::MAX,
        gap: arguments.gap.value(),
    }
}

fn shortened(effort: Effort) -> Effort {
    Effort {
        exact: effort.exact.min(tuning::ROUGH_DESIGNS),
        bounds: effort.bounds.min(tuning::ROUGH_BOUNDS),
        work: effort.work,
        gap: effort.gap.max(tuning::ROUGH_GAP),
    }
}

/// The result of a search for one function.
struct Answer {
    found: Found,
    front: Vec<Found>,
    hints: Vec<Hint>,
    seconds: f64,
    seconds_in_all: f64,
}

impl Context<'_> {
    fn explore(&self, scop: &Scop, reporter: &dyn Reporter) -> Result<Answer> {
        let begin = Instant::now();
        let watch = watch(self.arguments, begin, reporter);
        let others = distribute::alternatives(self.program, self.spec);
        let quest = Quest {
            others: &others,
            space: self.space.clone(),
            watch: Some(&watch),
            ..Quest::new(self.program, self.spec, self.limits, self.effort)
        };
        let found = quest.answer(&self.spec.aim).map_err(|faults| Error::diagnostics(faults, &scop.sources))?;
        let seconds = begin.elapsed().as_secs_f64();
        let Some(best) = &found.best else {
            reporter.progress(reporter::Progress::Done);
            let reasons: Vec<String> = found.refused.iter().map(|(why, n)| format!("  {why} ({n} times)")).collect();
            return Err(Error::usage(format!("no array within the limits was found\n{}", reasons.join("\n"))));
        };
        let mut hints = quest.hints(best.cycles, &found.counts);
        hints.truncate(tuning::HINTS);
        let front = self.front(quest, best);
        reporter.progress(reporter::Progress::Done);
        Ok(Answer { front, hints, seconds, seconds_in_all: begin.elapsed().as_secs_f64(), found })
    }

    /// The front over the resources of `--pareto`. A page shows one in any case, with less effort.
    fn front(&self, quest: Quest, best: &Design) -> Vec<Found> {
        let wanted: Vec<&str> = self
            .arguments
            .pareto
            .iter()
            .map(|r| if r == "bram" { "bram36" } else { r.as_str() })
            .filter(|r| *r != "cycles")
            .collect();
        match (wanted.is_empty(), self.arguments.html.is_some()) {
            (false, _) => quest.front(best, &wanted, tuning::FRONT_POINTS),
            (true, true) => {
                let quest = Quest { effort: shortened(self.effort), learned: Learned::default(), ..quest };
                quest.front_of_shares(best, tuning::FRONT_POINTS)
            }
            (true, false) => vec![],
        }
    }
}

/// Reports best, bound and speed, and stops the search at the time limit.
fn watch<'a>(
    arguments: &'a Explore,
    begin: Instant,
    reporter: &'a dyn Reporter,
) -> impl Fn(&Progress) -> bool + Sync + 'a {
    move |p: &Progress| {
        live(p, begin, reporter);
        arguments.time_limit.is_none_or(|most| begin.elapsed() < Duration::from_secs_f64(most))
    }
}

fn live(p: &Progress, begin: Instant, reporter: &dyn Reporter) {
    let seen = p.counts.exact + p.counts.walks + p.counts.grids;
    if !seen.is_multiple_of(64) || !reporter.is_watched() {
        return;
    }
    let seconds = begin.elapsed().as_secs_f64().max(1e-9);
    let rate = p.counts.exact as f64 / seconds;
    reporter.progress(reporter::Progress::Search { best: p.best, bound: p.bound, rate });
}

/// The systolic arrays beside a chosen one on the front of cycles and resources, the fastest first: faster ones that the
/// choice passed, and smaller ones, each of about half the area of the one before. None takes as many cycles and
/// resources as another one or more.
pub fn beside(spec: &DesignSpec, compiled: &search::Compiled, board: &Board) -> Vec<Design> {
    let spec = &search::on(board, spec);
    let program = compiled.stages.as_ref().and_then(|stages| search::program_of(stages, spec));
    let (Some(searched), Some(program)) = (&compiled.report.searched, program) else { return vec![] };
    let effort = Effort {
        exact: tuning::NEIGHBOUR_DESIGNS.min(choose::effort(&program).exact),
        bounds: tuning::NEIGHBOUR_BOUNDS,
        work: tuning::NEIGHBOUR_ROWS,
        gap: tuning::NEIGHBOUR_GAP,
    };
    if !effort.affords_a_design(&searched.counts) {
        return vec![];
    }
    let mut quest = Quest::new(&program, spec, searched.limits, effort);
    let mut all: Vec<Design> = searched.passed.clone();
    let (mut need, mut cycles) = (compiled.report.resources, compiled.report.prediction.cycles);
    for _ in 0..tuning::NEIGHBOURS {
        quest.limits = halved(&quest.limits, &need);
        let Some(d) = quest.fastest().best.filter(|d| d.cycles <= tuning::NEIGHBOUR_CYCLES * cycles) else { break };
        (need, cycles) = (d.need, d.cycles);
        all.push(d);
    }
    let chosen = (compiled.report.prediction.cycles, compiled.report.resources);
    let points: Vec<(i64, Resources)> = all.iter().map(|d| (d.cycles, d.need)).collect();
    let beaten = |k: usize| {
        let (cycles, need) = points[k];
        let others =
            points.iter().enumerate().filter(|(other, point)| *other != k && (**point != points[k] || *other < k));
        others.map(|(_, point)| *point).chain([chosen]).any(|(c, n)| c <= cycles && n.fits(&need))
    };
    let keep: Vec<bool> = (0..all.len()).map(|k| !beaten(k)).collect();
    let mut keep = keep.into_iter();
    all.retain(|_| keep.next().unwrap_or(false));
    all.sort_by_key(|d| d.cycles);
    all
}

/// Half of the logic that is needed, and no more memory.
fn halved(limits: &Resources, need: &Resources) -> Resources {
    limits.zip(need, |name, most, used| match name {
        "uram" => most,
        "bram36" => most.min(used),
        _ => most.min(used / 2),
    })
}
