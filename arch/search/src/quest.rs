//! The searches behind one choice. A search finds the fewest cycles within limits; a *quest* asks it several times: for
//! other forms of the program, and for objectives other than cycles with smaller and smaller limits.

use crate::branch::{
    at_once, grids, search, share, share_of, Bounded, Counts, Design, Effort, Found, Heuristic, Learned, Progress,
    Smaller, Step, Task, BEST_FIRST,
};
use crate::space::Grid;
use crate::strips;
use crate::tuning;
use array::kernel::Kernel;
use cost::board::Resources;
use cost::Allowed;
use scop::diag::{Diagnostic, Diagnostics};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use uniform::aim::Objective;
use uniform::design::{Aim, DesignSpec};
use uniform::program::{Form, Program};
use uniform::refusal;
use uniform::system::Feed;

/// When a heuristic of a quest runs, and its function.
pub enum Improvement {
    /// A search of the program in its own form has ended, within these limits.
    Found(fn(&Quest, Found, &Resources) -> Found),
    /// The array with the fewest cycles is found, and the user wants nothing smaller.
    Fastest(fn(&Quest, Found) -> Found),
    /// The array that balances size and cycles is found.
    Balanced(fn(&Quest, Found) -> Found),
}

/// The heuristics of a quest, in the order in which they run; those of one search are [`crate::branch::HEURISTICS`].
pub const IMPROVEMENTS: [Heuristic<Improvement>; 3] = [
    Heuristic {
        name: "strips that carry values",
        why: "the search cannot skew loops from strip to strip, so the best designs are tried in strips",
        run: Improvement::Found(in_strips),
    },
    Heuristic {
        name: "leaner",
        why: "among equally fast arrays the first one found may take twice the resources of another",
        run: Improvement::Fastest(leaner),
    },
    Heuristic {
        name: "lighter",
        why: "among arrays that take as much of what is scarcest, one may take four times the LUTs of another",
        run: Improvement::Balanced(lighter),
    },
];

/// Runs the rows in order, and says in the trace which one found a design.
fn improve(found: Found, step: impl Fn(Found, &Improvement) -> Found) -> Found {
    IMPROVEMENTS.iter().fold(found, |found, row| {
        let before = found.trace.len();
        let mut found = step(found, &row.run);
        found.trace.iter_mut().skip(before).for_each(|step| step.by = row.name);
        found
    })
}

fn improve_found(quest: &Quest, found: Found, limits: &Resources) -> Found {
    improve(found, |found, run| if let Improvement::Found(f) = run { f(quest, found, limits) } else { found })
}

fn improve_fastest(quest: &Quest, found: Found) -> Found {
    improve(found, |found, run| if let Improvement::Fastest(f) = run { f(quest, found) } else { found })
}

fn improve_balanced(quest: &Quest, found: Found) -> Found {
    improve(found, |found, run| if let Improvement::Balanced(f) = run { f(quest, found) } else { found })
}

/// What the user seeks, and the effort for it.
pub struct Quest<'a> {
    pub program: &'a Kernel<'a>,
    /// Other forms of the program from which the search chooses as well.
    pub others: &'a [Kernel<'a>],
    pub spec: &'a DesignSpec,
    pub space: Option<Vec<usize>>,
    pub limits: Resources,
    pub effort: Effort,
    pub watch: Option<&'a (dyn Fn(&Progress) -> bool + Sync)>,
    /// What searches learned of the program, then of its other forms.
    pub learned: Learned,
    /// Rows and bounds of all searches so far.
    pub spent: AtomicU64,
}

/// A grid of one form of the program.
pub struct Part {
    /// 0 is the program itself, then come its other forms.
    pub form: usize,
    pub grid: Grid,
    /// No design in it takes fewer cycles.
    pub least: i64,
}

/// What one search of a quest is asked.
#[derive(Clone, Copy)]
struct Ask {
    limits: Resources,
    /// Only designs with fewer cycles are of interest.
    below: i64,
    /// Any design with at most so many cycles ends the search.
    enough: i64,
    effort: Effort,
}

impl<'a> Quest<'a> {
    /// The fewest cycles of the program in this form alone.
    pub fn new(program: &'a Kernel<'a>, spec: &'a DesignSpec, limits: Resources, effort: Effort) -> Quest<'a> {
        let learned = Learned::default();
        Quest { program, others: &[], spec, space: None, limits, effort, watch: None, learned, spent: 0.into() }
    }
}

impl Quest<'_> {
    fn ask(&self, ask: Ask) -> Found {
        let search = |form: usize, ask: Ask| {
            let Ask { limits, below, enough, effort } = ask;
            let effort = self.within_effort(effort);
            let found = self.learned.search(form, &Task { limits, below, enough, effort, ..self.task(form) });
            self.spent.fetch_add(found.counts.work + found.counts.bounds, Ordering::Relaxed);
            found
        };
        let mut found = improve_found(self, search(0, ask), &ask.limits);
        // One part of the effort for the distributed program, and as much as for the first search for all strips.
        let strips = self.others.iter().filter(|p| !p.distributed).count().max(1) as u64;
        for form in self.forms().skip(1) {
            let effort = ask.effort.part(if self.form(form).distributed { tuning::DISTRIBUTED_PART } else { strips });
            if found.best.as_ref().is_some_and(|b| b.cycles <= ask.enough) {
                break;
            }
            let below = found.best.as_ref().map_or(ask.below, |b| b.cycles);
            found = found.or(search(form, Ask { below, effort, ..ask }));
        }
        found
    }

    /// What is left of the effort for all searches together, in rows and bounds.
    fn left(&self) -> u64 {
        let one = self.effort.work.saturating_add(self.effort.bounds);
        one.saturating_mul(tuning::SEARCHES_OF_CHOICE).saturating_sub(self.spent.load(Ordering::Relaxed))
    }

    /// An effort, or what is left of it.
    fn within_effort(&self, effort: Effort) -> Effort {
        let left = self.left();
        Effort { work: effort.work.min(left), bounds: effort.bounds.min(left), ..effort }
    }

    /// The fewest cycles within these limits.
    fn within(&self, limits: Resources) -> Found {
        self.ask(Ask { limits, below: i64::MAX, enough: 0, effort: self.effort })
    }

    /// A design with at most so many cycles within a share of the limits.
    fn smaller(&self, by: f64, cycles: i64, effort: Effort) -> Found {
        let limits = share_of(&self.limits, by);
        self.ask(Ask { limits, below: cycles.saturating_add(1), enough: cycles, effort })
    }

    /// The forms that are searched. With given space loops, the distributed program is none of them.
    fn forms(&self) -> impl Iterator<Item = usize> + '_ {
        (0..=self.others.len()).filter(|&form| !self.form(form).distributed || self.space.is_none())
    }

    pub fn form(&self, form: usize) -> &Kernel<'_> {
        if form == 0 {
            self.program
        } else {
            &self.others[form - 1]
        }
    }

    fn task(&self, form: usize) -> Task<'_> {
        let program = self.form(form);
        // Strips are in front of the program's loops.
        let moved = program.system.dims.len() - self.program.system.dims.len();
        let space = self.space.as_ref().map(|all| all.iter().map(|d| d + moved).collect());
        Task { space, watch: self.watch, ..Task::new(program, self.spec, self.limits, self.effort) }
    }

    /// All grids of all forms, the least bound first.
    pub fn parts(&self) -> Vec<Part> {
        let share = strips::least_share(self.program);
        let of = |form: usize| {
            let share = if form == 0 { share } else { 1.0 };
            grids(&self.task(form)).into_iter().map(move |Bounded { bound, of: grid }| Part {
                form,
                grid,
                least: (bound as f64 * share) as i64,
            })
        };
        let mut all: Vec<Part> = self.forms().flat_map(of).collect();
        all.sort_by_key(|part| part.least);
        all
    }

    /// The best design of a part with fewer than so many cycles; and the cycles that it took without strips.
    pub fn in_part(&self, part: &Part, below: i64) -> (Found, Option<i64>) {
        let only = [part.grid];
        let found = search(&Task { only: Some(&only), below, ..self.task(part.form) });
        let whole = found.best.as_ref().map(|b| b.cycles);
        (if part.form == 0 { improve_found(self, found, &self.limits) } else { found }, whole)
    }

    /// The share of the limits that the best design takes of the scarcest resource.
    fn share_of_best(&self, found: &Found) -> f64 {
        found.best.as_ref().map_or(1.0, |b| share(&b.need, &self.limits))
    }

    /// The fewest cycles within the limits.
    pub fn fastest(&self) -> Found {
        self.within(self.limits)
    }

    /// The best design for the aim.
    ///
    /// # Errors
    /// The aim contradicts itself, or no design that is found takes as few cycles as it demands.
    pub fn answer(&self, aim: &Aim) -> Result<Found, Diagnostics> {
        let objective = objective(aim);
        let fault = |text: &str, help: &str| Err(vec![Diagnostic::error(refusal::AIM, None, text).help(help)]);
        if aim.cycles.is_some() && objective != Objective::Area {
            return fault("`--cycles` says how many cycles an array of least area may take", "add `--objective area`");
        }
        if aim.slack.is_some() && objective != Objective::Cycles {
            return fault(
                "`--slack` gives up cycles of the fastest array for a smaller one",
                "leave `--objective` out; with `--objective area`, `--cycles` says how many cycles there may be",
            );
        }
        if objective == Objective::Area && aim.cycles.is_none() {
            return fault(
                "`--objective area` needs `--cycles`: it looks for the smallest array that takes at most so many cycles",
                "say how many cycles it may take: --cycles N; without --objective, sagen balances size and cycles",
            );
        }
        let found = self.fastest();
        let Some(best) = &found.best else { return Ok(found) };
        Ok(match objective {
            Objective::Balanced => improve_balanced(self, self.balanced(found)),
            Objective::Cycles => {
                let slack = aim.slack.map_or(0.0, |s| s.value());
                let most = (best.cycles as f64 * (1.0 + slack)) as i64;
                if slack > 0.0 {
                    self.smallest(found, most)
                } else {
                    improve_fastest(self, found)
                }
            }
            Objective::Area => {
                let most = aim.cycles.unwrap_or(best.cycles);
                if best.cycles > most {
                    let text = format!(
                        "no array that was found takes at most {most} cycles: the fastest takes {}, and none within \
                        the limits fewer than {}",
                        best.cycles, found.bound
                    );
                    return fault(&text, "allow more cycles with --cycles, or more of the board with --limit");
                }
                self.smallest(found, most)
            }
            Objective::Efficiency => self.efficient(found),
        })
    }

    /// The least share of the scarcest resource with at most so many cycles: bisection over the limits.
    fn smallest(&self, mut found: Found, most: i64) -> Found {
        let (mut low, mut high) = (0.0, self.share_of_best(&found));
        let effort = self.effort.part(tuning::SMALLEST_PART);
        for _ in 0..tuning::SMALLEST_STEPS {
            let middle = (low + high) / 2.0;
            if high - low < tuning::SMALLEST_INTERVAL * high {
                break;
            }
            let smaller = self.smaller(middle, most, effort);
            if smaller.best.is_some() {
                high = self.share_of_best(&smaller).min(middle);
                found = Found { bound: found.bound, ..smaller };
            } else {
                low = middle;
            }
        }
        found
    }

    /// Puts what `seek` finds in the place of the best design, again and again, until it finds none.
    fn descend(&self, mut found: Found, seek: impl Fn(&Design, &mut Found) -> Option<Design>) -> Found {
        while let Some(best) = found.best.take() {
            let Some(design) = seek(&best, &mut found) else {
                found.best = Some(best);
                break;
            };
            if design.cycles < best.cycles {
                found.trace.push(step(&found, design.cycles));
            } else if design.cycles > best.cycles {
                found.passed.push(best);
            }
            found.passed.retain(|passed| passed.cycles < design.cycles);
            found.best = Some(design);
        }
        found
    }

    /// A smaller design, again and again, as long as each halving of the share of the scarcest resource costs at most
    /// [`tuning::BALANCED_PERCENT`] of the cycles. If half the share costs more, a quarter may cost less than twice that.
    fn balanced(&self, found: Found) -> Found {
        self.descend(found, |best, found| {
            found.smaller.clear();
            self.nearly_as_fast(best, found)
        })
    }

    /// The effort of one step of a balance.
    fn balancing(&self) -> Effort {
        let part = self.effort.part(tuning::LEANER_PART);
        let exact = part.exact.clamp(tuning::BALANCED_DESIGNS, tuning::LEANER_DESIGNS);
        Effort { exact, gap: part.gap.max(tuning::BALANCED_GAP), ..part }
    }

    /// A design of at most half the share of `best`, or of a quarter, that is worth its cycles. Notes what the searches
    /// prove if there is none.
    fn nearly_as_fast(&self, best: &Design, found: &mut Found) -> Option<Design> {
        let effort = self.balancing();
        let (size, mut most) = (share(&best.need, &self.limits), best.cycles);
        for parts in [2, 4] {
            most += most * tuning::BALANCED_PERCENT / 100;
            let is_small = size * 2.0 <= tuning::LEAN_SHARE * f64::from(parts);
            if is_small || self.is_stopped() || self.left() == 0 || !effort.affords_a_design(&found.counts) {
                return None;
            }
            let limits = share_of(&self.limits, size / f64::from(parts));
            let smaller = self.ask(Ask { limits, below: most + 1, enough: 0, effort });
            let bound = smaller.bound;
            if let Some(best) = follow(found, smaller) {
                return Some(best);
            }
            found.smaller.push(Smaller { parts, most, bound });
        }
        None
    }

    /// The least cycles times share: the fastest within less and less of the limits; and of the best of these, the
    /// smallest that is as fast.
    fn efficient(&self, found: Found) -> Found {
        let value = |f: &Found| f.best.as_ref().map_or(f64::MAX, |b| b.cycles as f64 * self.share_of_best(f));
        let bound = found.bound;
        let mut best = improve_fastest(self, found);
        let mut limit = self.share_of_best(&best);
        for _ in 0..tuning::EFFICIENT_STEPS {
            limit *= tuning::EFFICIENT_FACTOR;
            let smaller = self.within(share_of(&self.limits, limit));
            if smaller.best.is_none() {
                break;
            }
            limit = limit.min(self.share_of_best(&smaller));
            if value(&smaller) < value(&best) {
                best = smaller;
            }
        }
        let most = best.best.as_ref().map_or(i64::MAX, |b| b.cycles);
        Found { bound, ..self.smallest(best, most) }
    }

    /// Smaller designs than `best`: the fastest with at most half of what it takes of these resources, with half of
    /// that, and so on, each with its bound.
    pub fn front(&self, best: &Design, resources: &[&str], steps: usize) -> Vec<Found> {
        let halved = |limits: &Resources, need: &Resources| {
            limits.zip(need, |name, most, used| if resources.contains(&name) { most.min(used) / 2 } else { most })
        };
        self.descent(best, steps, halved)
    }

    /// Smaller designs than `best`: the fastest with half its share of the scarcest resource, half of that, and so on.
    pub fn front_of_shares(&self, best: &Design, steps: usize) -> Vec<Found> {
        self.descent(best, steps, |_, need| share_of(&self.limits, share(need, &self.limits) / 2.0))
    }

    /// The fastest design within each of a sequence of limits, which follow from the limits before and what the design
    /// takes of them.
    fn descent(&self, best: &Design, steps: usize, next: impl Fn(&Resources, &Resources) -> Resources) -> Vec<Found> {
        let mut all = vec![];
        let mut limits = next(&self.limits, &best.need);
        while all.len() < steps && !self.is_stopped() {
            let found = self.within(limits);
            let Some(smaller) = &found.best else { break };
            limits = next(&limits, &smaller.need);
            all.push(found);
        }
        all
    }

    /// The watcher ends the search.
    fn is_stopped(&self) -> bool {
        self.watch.is_some_and(|watch| !watch(&Progress { best: None, bound: 0, counts: Counts::default() }))
    }
}

/// What the user seeks: a slack is one of the fewest cycles.
pub fn objective(aim: &Aim) -> Objective {
    let usual = if aim.slack.is_some() { Objective::Cycles } else { Objective::default() };
    aim.objective.unwrap_or(usual)
}

/// The best design, or one of those before it, in strips that carry values, if it is faster so. The bound shrinks, too:
/// no design in strips takes less than their share of the iterations.
fn in_strips(quest: &Quest, mut found: Found, limits: &Resources) -> Found {
    found.bound = (found.bound as f64 * strips::least_share(quest.program)) as i64;
    let Some(whole) = found.best.clone() else { return found };
    let mut left = quest.effort.work;
    for like in std::iter::once(whole).chain(found.runners_up.clone()) {
        let below = found.best.as_ref().map_or(like.cycles, |best| best.cycles);
        let allowed = Allowed { cycles: below, work: left };
        let strips::Carrying { design, tried, work } =
            strips::carrying(quest.program, &like, limits, quest.spec, allowed);
        found.counts.rows += work;
        left = left.saturating_sub(work);
        if let Some(design) = design {
            found.counts.exact += tried;
            found.trace.push(step(&found, design.cycles));
            found.best = Some(design);
        }
    }
    found
}

/// Halves the share of the scarcest resource again and again, as long as a short search finds a design with as few
/// cycles.
fn leaner(quest: &Quest, found: Found) -> Found {
    let part = quest.effort.part(tuning::LEANER_PART);
    let effort = Effort { exact: part.exact.min(tuning::LEANER_DESIGNS), ..part };
    if !effort.affords_a_design(&found.counts) {
        return found;
    }
    quest.descend(found, |best, found| {
        let size = share(&best.need, &quest.limits);
        let smaller = (size > tuning::LEAN_SHARE).then(|| quest.smaller(size / 2.0, best.cycles, effort))?;
        follow(found, smaller)
    })
}

/// Halves the LUTs again and again, as long as a short search finds a design that takes no more of what is scarcest and
/// [`tuning::LIGHTER_PERCENT`] more cycles at most.
fn lighter(quest: &Quest, found: Found) -> Found {
    let effort = quest.balancing();
    quest.descend(found, |best, found| {
        let (of_luts, size) = (best.need.lut as f64 / quest.limits.lut as f64, share(&best.need, &quest.limits));
        // If LUTs are what is scarcest, half of them are half the size, which was sought.
        let is_light = of_luts <= tuning::LEAN_SHARE || of_luts >= size;
        if is_light || quest.is_stopped() || quest.left() == 0 || !effort.affords_a_design(&found.counts) {
            return None;
        }
        let limits = Resources { lut: best.need.lut / 2, ..share_of(&quest.limits, size) };
        let most = best.cycles + best.cycles * tuning::LIGHTER_PERCENT / 100;
        let lighter = quest.ask(Ask { limits, below: most + 1, enough: 0, effort });
        follow(found, lighter)
    })
}

/// The best design of a search that followed, and its runners-up in place of those before.
fn follow(found: &mut Found, next: Found) -> Option<Design> {
    found.counts = found.counts + next.counts;
    if next.best.is_some() {
        found.runners_up = next.runners_up;
    }
    next.best
}

fn step(found: &Found, cycles: i64) -> Step {
    Step { designs: found.counts.exact, cycles, bound: found.bound, by: BEST_FIRST }
}

/// Another order of one array's dimensions in memory, and the cycles with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    pub array: String,
    /// The dimension (from 0, outermost) that would be innermost.
    pub innermost: usize,
    pub cycles: i64,
}

impl Quest<'_> {
    /// Layouts of arrays that are only read with which the program is a twentieth faster than `best` or more. Each gets
    /// a part of the effort that the search took.
    pub fn hints(&self, best: i64, taken: &Counts) -> Vec<Hint> {
        let stored = |a: usize| self.program.scop.statements.iter().any(|s| s.write.array.index() == a);
        let arrays = self.program.scop.arrays.iter().enumerate().filter(|(a, _)| !stored(*a));
        let layouts: Vec<(usize, usize)> =
            arrays.flat_map(|(a, array)| (0..array.dims.len().saturating_sub(1)).map(move |d| (a, d))).collect();
        let part = self.effort.part(tuning::HINT_PART);
        let effort = Effort {
            exact: part.exact.min((taken.exact / 4).max(tuning::HINT_DESIGNS)),
            gap: tuning::HINT_GAP,
            ..part
        };
        let hint = |&(a, innermost): &(usize, usize)| {
            let other = with_layout(self.program, a, innermost);
            let quest = Quest {
                space: self.space.clone(),
                watch: self.watch,
                learned: self.learned.in_other_layouts(),
                ..Quest::new(&other, self.spec, self.limits, effort)
            };
            let ask = Ask { limits: self.limits, below: best - best / tuning::HINT_SAVES, enough: 0, effort };
            let cycles = quest.ask(ask).best?.cycles;
            Some(Hint { array: self.program.scop.arrays[a].name.clone(), innermost, cycles })
        };
        let mut all: Vec<Hint> = at_once(&layouts, hint).into_iter().flatten().collect();
        all.sort_by_key(|h| h.cycles);
        all
    }
}

/// The program with dimension `innermost` of an array moved behind the others.
fn with_layout<'a>(program: &Kernel<'a>, array: usize, innermost: usize) -> Kernel<'a> {
    let mut scop = program.scop.clone().into_owned();
    let mut system = program.system.clone();
    let dims = &mut scop.arrays[array].dims;
    let moved = dims.remove(innermost);
    dims.push(moved);
    for (placed, statement) in system.statements.iter_mut().zip(&scop.statements) {
        let reads = placed.variables.iter_mut().zip(&statement.reads);
        for (variable, _) in reads.filter(|(_, read)| read.array.index() == array) {
            for piece in &mut variable.pieces {
                if let Feed::Input { subscripts } = &mut piece.feed {
                    let moved = subscripts.remove(innermost);
                    subscripts.push(moved);
                }
            }
        }
    }
    let form = Arc::new(Form { scop: Cow::Owned(scop), system, ..(*program.greatest).clone() });
    program.with(Program {
        general: form.clone(),
        greatest: form,
        rewrites: vec![],
        written: None,
        ..program.program.clone()
    })
}
