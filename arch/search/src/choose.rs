//! Automatic choice: [`search`] with an effort that grows with the problem, for the user's objective within his limits.
//!
//! A search finds the fewest cycles within limits; the other objectives ask it several times, with other limits.

use crate::branch::{at_once, grids, search, share, Counts, Design, Effort, Found, Learned, Progress, Task};
use crate::space::Grid;
use crate::{apart, strips};
use array::contract::walk::Walk;
use array::kernel::Kernel;
use array::vsa::Vsa;
use cost::board::{Board, Resources};
use scop::diag::{Diagnostic, Diagnostics};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use uniform::aim::{Most, Objective, RESOURCES};
use uniform::design::{Aim, DesignSpec};
use uniform::mapping::Plan;
use uniform::program::{Form, Program};
use uniform::space_time::by_hand;
use uniform::system::Feed;

/// What the board leaves to the array: its margins for the router, and the user's limits in their place.
///
/// # Errors
/// A name that is no resource.
pub fn limits_of(board: &Board, given: &BTreeMap<String, Most>) -> Result<Resources, String> {
    if let Some(name) = given.keys().find(|n| !RESOURCES.contains(&n.as_str())) {
        return Err(format!("there is no resource `{name}`: a limit is one of {}", RESOURCES.join(", ")));
    }
    let limit = |name, all, usable| given.get(name).map_or(usable, |most| most.of(all));
    Ok(board.resources.zip(&board.usable(), limit))
}

/// How an array was found.
#[derive(Clone, Debug)]
pub struct Searched {
    /// No array within the limits takes fewer cycles.
    pub bound: i64,
    /// Share of the cycles beyond the bound, 0 to 1.
    pub gap: f64,
    pub counts: Counts,
    /// What the array may take.
    pub limits: Resources,
    /// Fewer and fewer cycles: after how many exact designs, cycles, bound then.
    pub trace: Vec<(u64, i64, i64)>,
    /// Why arrays were refused, and how many.
    pub refused: Vec<(String, u64)>,
}

impl Searched {
    pub fn new(found: &Found, limits: Resources) -> Searched {
        Searched {
            bound: found.bound,
            gap: found.gap(),
            counts: found.counts,
            limits,
            trace: found.trace.clone(),
            refused: found.refused.clone(),
        }
    }
}

/// What keeps an array from being faster.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// A port that moves words in this share of the cycles.
    Port { port: usize, reads: bool, share: f64 },
    /// The lanes are busy, and this resource is used up to this share of what it may take.
    Resource(&'static str, f64),
    /// Filling and draining the array.
    Size,
}

/// Judged by what is busy for most of `cycles`.
pub fn limit(vsa: &Vsa, compute: i64, cycles: i64, need: &Resources, limits: &Resources) -> Limit {
    let of = |n: i64, all: i64| n as f64 / all.max(1) as f64;
    let vsa = &vsa.at_most();
    let ports = (0..vsa.ports()).flat_map(|p| [(p, true, Walk::reads(vsa, p)), (p, false, Walk::writes(vsa, p))]);
    let busiest = ports
        .filter_map(|(p, reads, walk)| Some((of(walk?.words(), cycles), p, reads)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let computes = of(compute, cycles);
    match busiest {
        Some((share, port, reads)) if share > computes && share > 0.5 => Limit::Port { port, reads, share },
        _ if computes > 0.5 => {
            let shares = need.named().into_iter().zip(limits.counts()).map(|((name, n), all)| (name, of(n, all)));
            let (name, share) =
                shares.filter(|s| s.0 != "uram").max_by(|a, b| a.1.total_cmp(&b.1)).expect("four of them");
            Limit::Resource(name, share)
        }
        _ => Limit::Size,
    }
}

/// Designs assembled at least and at most, and iterations of the program for one more.
const LEAST: i64 = 200;
const MOST: i64 = 1500;
const ITERATIONS_PER_DESIGN: i64 = 256;
/// Values and results of a PE beyond which assembling it takes so much longer that fewer are, and how few.
const LARGE: i64 = 128;
const FEW: i64 = 20;
/// Part of the effort for loop nests apart: a design of several phases takes as long to walk as several.
const APART: u64 = 4;
/// Rows of loads and drains walked for all of them, or as much work as making their PEs.
const WORK: u64 = 300_000_000;

/// Designs of a search for another layout, at least.
const HINT_DESIGNS: u64 = 40;
/// Part of the effort that goes to as fast an array with half the resources, designs of it at most, and the share of
/// the scarcest one that is small enough.
const LEANER: u64 = 8;
const LEANER_DESIGNS: u64 = 150;
const LEAN: f64 = 0.03;

/// The effort of a choice: as much as the program is worth, at most some seconds.
pub fn effort(program: &Kernel) -> Effort {
    let loads_and_stores = program
        .system
        .statements
        .iter()
        .map(|s| s.stores.len() + s.variables.iter().map(|v| v.pieces.len()).sum::<usize>());
    let size = loads_and_stores.sum::<usize>() as i64;
    // Of phases the closed form says little, so more designs are looked at.
    let least = if program.system.frame().outer > 0 { 2 * LEAST } else { LEAST };
    let exact =
        ((least + program.work.iterations / ITERATIONS_PER_DESIGN).min(MOST) * LARGE / size.max(LARGE)).max(FEW) as u64;
    Effort { exact, bounds: 500_000 + 20_000 * exact, work: WORK, gap: 0.0 }
}

/// A search of the user's: his aim, and effort of one's own.
pub struct Quest<'a> {
    pub program: &'a Kernel<'a>,
    /// The same program in other forms, to be chosen from as well.
    pub others: &'a [Kernel<'a>],
    pub spec: &'a DesignSpec,
    pub space: Option<Vec<usize>>,
    pub limits: Resources,
    pub effort: Effort,
    pub watch: Option<&'a (dyn Fn(&Progress) -> bool + Sync)>,
    /// Of the program, then of the others.
    pub learned: Learned,
}

/// A grid of the program, or of one of its other forms.
pub struct Part {
    /// Of the program, or behind it of the others.
    pub form: usize,
    pub grid: Grid,
    /// No design in it takes fewer cycles.
    pub least: i64,
}

impl Quest<'_> {
    fn ask(&self, limits: Resources, below: i64, enough: i64, effort: Effort) -> Found {
        let search = |form: usize, below: i64, effort: Effort| {
            self.learned.search(form, &Task { limits, below, enough, effort, ..self.task(form) })
        };
        let mut found = self.handed_on(search(0, below, effort), limits);
        // A part for its nests apart, as much again for all strips together.
        let strips = self.others.iter().filter(|p| !p.apart).count().max(1) as u64;
        for form in self.forms().skip(1) {
            let effort = effort.part(if self.form(form).apart { APART } else { strips });
            if found.best.as_ref().is_some_and(|b| b.cycles <= enough) {
                break;
            }
            let below = found.best.as_ref().map_or(below, |b| b.cycles);
            found = found.or(search(form, below, effort));
        }
        found
    }

    /// The forms that are looked at: all but nests apart where space loops are given.
    fn forms(&self) -> impl Iterator<Item = usize> + '_ {
        (0..=self.others.len()).filter(|&form| !self.form(form).apart || self.space.is_none())
    }

    /// The program, or one of the others.
    pub fn form(&self, form: usize) -> &Kernel<'_> {
        if form == 0 {
            self.program
        } else {
            &self.others[form - 1]
        }
    }

    fn task(&self, form: usize) -> Task<'_> {
        let program = self.form(form);
        // Strips come in front of the loops there are.
        let moved = program.system.dims.len() - self.program.system.dims.len();
        let space = self.space.as_ref().map(|all| all.iter().map(|d| d + moved).collect());
        Task {
            program,
            spec: self.spec,
            limits: self.limits,
            space,
            only: None,
            below: i64::MAX,
            enough: 0,
            effort: self.effort,
            watch: self.watch,
        }
    }

    /// All grids, those of the least bound first.
    pub fn parts(&self) -> Vec<Part> {
        let share = strips::least_share(self.program);
        let of = |form: usize| {
            let share = if form == 0 { share } else { 1.0 };
            grids(&self.task(form)).into_iter().map(move |(least, grid)| Part {
                form,
                grid,
                least: (least as f64 * share) as i64,
            })
        };
        let mut all: Vec<Part> = self.forms().flat_map(of).collect();
        all.sort_by_key(|part| part.least);
        all
    }

    /// The best of the designs in a part with fewer cycles than so many; and its cycles before it was cut into strips.
    pub fn in_part(&self, part: &Part, below: i64) -> (Found, Option<i64>) {
        let only = [part.grid];
        let found = search(&Task { only: Some(&only), below, ..self.task(part.form) });
        let whole = found.best.as_ref().map(|b| b.cycles);
        (if part.form == 0 { self.handed_on(found, self.limits) } else { found }, whole)
    }

    /// The best array in strips that hand values on, if it is faster so.
    fn handed_on(&self, mut found: Found, limits: Resources) -> Found {
        found.bound = (found.bound as f64 * strips::least_share(self.program)) as i64;
        let Some(best) = &found.best else { return found };
        if let Some((design, tried)) = strips::handing_on(self.program, best, &limits, self.spec) {
            found.counts.exact += tried;
            found.trace.push((found.counts.exact, design.cycles, found.bound));
            found.best = Some(design);
        }
        found
    }

    fn scaled(&self, by: f64) -> Resources {
        self.limits.map(|_, n| (n as f64 * by) as i64)
    }

    /// The fewest cycles within the limits.
    pub fn fastest(&self) -> Found {
        self.ask(self.limits, i64::MAX, 0, self.effort)
    }

    /// The best design for the aim.
    ///
    /// # Errors
    /// The aim contradicts itself, or nothing that is found takes as few cycles as it says.
    pub fn answer(&self, aim: &Aim) -> Result<Found, Diagnostic> {
        let objective = aim.objective.unwrap_or_default();
        if aim.cycles.is_some() && objective != Objective::Area {
            return Err(Diagnostic::error(
                "E0730",
                None,
                "`--cycles` says how many cycles an array of least area may take",
            )
            .help("add `--objective area`"));
        }
        if aim.slack.is_some() && objective != Objective::Cycles {
            return Err(Diagnostic::error(
                "E0730",
                None,
                "`--slack` gives up cycles of the fastest array for a smaller one",
            )
            .help(
                "leave `--objective` out; with `--objective area` it is `--cycles` that says how many there may be",
            ));
        }
        let found = self.fastest();
        let Some(best) = &found.best else { return Ok(found) };
        Ok(match objective {
            Objective::Cycles => {
                let slack = aim.slack.map_or(0.0, |s| s.value());
                let most = (best.cycles as f64 * (1.0 + slack)) as i64;
                if slack > 0.0 {
                    self.smallest(found, most)
                } else {
                    self.leaner(found)
                }
            }
            Objective::Area => {
                let most = aim.cycles.unwrap_or(best.cycles);
                if best.cycles > most {
                    let message = format!(
                        "no array that was found takes at most {most} cycles: the fastest takes {}, and none within \
                        the limits fewer than {}",
                        best.cycles, found.bound
                    );
                    return Err(Diagnostic::error("E0730", None, message)
                        .help("allow more cycles with --cycles, or more of the board with --limit"));
                }
                self.smallest(found, most)
            }
            Objective::Efficiency => self.efficient(found),
        })
    }

    /// As few cycles with half the share of the scarcest resource, half of that, and so on, as far as a short search
    /// finds them.
    fn leaner(&self, mut found: Found) -> Found {
        let part = self.effort.part(LEANER);
        let effort = Effort { exact: part.exact.min(LEANER_DESIGNS), ..part };
        while let Some(best) = found.best.as_ref().filter(|b| share(&b.need, &self.limits) > LEAN) {
            let smaller =
                self.ask(self.scaled(share(&best.need, &self.limits) / 2.0), best.cycles + 1, best.cycles, effort);
            let Some(design) = smaller.best else { break };
            found.counts = found.counts.plus(&smaller.counts);
            if design.cycles < best.cycles {
                found.trace.push((found.counts.exact, design.cycles, found.bound));
            }
            found.best = Some(design);
        }
        found
    }

    /// The least share of the scarcest resource with at most so many cycles: bisection over the limits.
    fn smallest(&self, mut found: Found, most: i64) -> Found {
        let of = |found: &Found| found.best.as_ref().map_or(1.0, |b| share(&b.need, &self.limits));
        let (mut low, mut high) = (0.0, of(&found));
        let effort = self.effort.part(2);
        for _ in 0..8 {
            let middle = (low + high) / 2.0;
            if high - low < 0.02 * high {
                break;
            }
            let smaller = self.ask(self.scaled(middle), most.saturating_add(1), most, effort);
            if smaller.best.is_some() {
                high = of(&smaller).min(middle);
                found = Found { bound: found.bound, ..smaller };
            } else {
                low = middle;
            }
        }
        found
    }

    /// The least cycles times share: the fastest within less and less of the limits, and of the best of them the
    /// smallest that is as fast.
    fn efficient(&self, found: Found) -> Found {
        let of = |f: &Found| f.best.as_ref().map_or(1.0, |b| share(&b.need, &self.limits));
        let value = |f: &Found| f.best.as_ref().map_or(f64::MAX, |b| b.cycles as f64 * of(f));
        let bound = found.bound;
        let mut best = self.leaner(found);
        let mut limit = of(&best);
        for _ in 0..8 {
            limit *= 0.7;
            let smaller = self.ask(self.scaled(limit), i64::MAX, 0, self.effort);
            if smaller.best.is_none() {
                break;
            }
            limit = limit.min(of(&smaller));
            if value(&smaller) < value(&best) {
                best = smaller;
            }
        }
        let most = best.best.as_ref().map_or(i64::MAX, |b| b.cycles);
        Found { bound, ..self.smallest(best, most) }
    }

    /// Beside a design, the fastest arrays that take no more than half of what it takes of these resources, than half
    /// of that, and so on, each with its bound.
    pub fn front(&self, best: &Design, resources: &[&str], steps: usize) -> Vec<Found> {
        let halved = |limits: &Resources, need: &Resources| {
            limits.zip(need, |name, most, used| if resources.contains(&name) { most.min(used) / 2 } else { most })
        };
        self.descent(best, steps, halved)
    }

    /// Beside a design, the fastest arrays for half its share of the scarcest resource, half of that, and so on.
    pub fn front_of_shares(&self, best: &Design, steps: usize) -> Vec<Found> {
        self.descent(best, steps, |_, need| self.scaled(share(need, &self.limits) / 2.0))
    }

    /// The fastest array within each of a sequence of limits, which follow from those before and what is needed of
    /// them.
    fn descent(&self, best: &Design, steps: usize, next: impl Fn(&Resources, &Resources) -> Resources) -> Vec<Found> {
        let mut all = vec![];
        let mut limits = next(&self.limits, &best.need);
        while all.len() < steps && !self.stopped() {
            let found = self.ask(limits, i64::MAX, 0, self.effort);
            let Some(smaller) = &found.best else { break };
            limits = next(&limits, &smaller.need);
            all.push(found);
        }
        all
    }

    /// Whoever looks on has seen enough.
    fn stopped(&self) -> bool {
        self.watch.is_some_and(|watch| !watch(&Progress { best: None, bound: 0, counts: Counts::default() }))
    }
}

/// Another order of one array's dimensions in memory, and the cycles it would take.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    pub array: String,
    /// The dimension (from 0, outermost) that would be innermost.
    pub innermost: usize,
    pub cycles: i64,
}

impl Quest<'_> {
    /// Layouts of arrays that are only read under which the program would be faster than `best` by a twentieth or more,
    /// with a part of the effort each that the search took.
    pub fn hints(&self, best: i64, taken: &Counts) -> Vec<Hint> {
        let stored = |a: usize| self.program.scop.statements.iter().any(|s| s.write.array.index() == a);
        let arrays = self.program.scop.arrays.iter().enumerate().filter(|(a, _)| !stored(*a));
        let layouts: Vec<(usize, usize)> =
            arrays.flat_map(|(a, array)| (0..array.dims.len().saturating_sub(1)).map(move |d| (a, d))).collect();
        let part = self.effort.part(4);
        let effort = Effort { exact: part.exact.min((taken.exact / 4).max(HINT_DESIGNS)), gap: 0.02, ..part };
        let hint = |&(a, innermost): &(usize, usize)| {
            let other = turned(self.program, a, innermost);
            let found = Quest {
                program: &other,
                others: &[],
                effort,
                space: self.space.clone(),
                learned: self.learned.in_other_layouts(),
                ..*self
            }
            .ask(self.limits, best - best / 20, 0, effort);
            Some(Hint { array: self.program.scop.arrays[a].name.clone(), innermost, cycles: found.best?.cycles })
        };
        let mut all: Vec<Hint> = at_once(&layouts, hint).into_iter().flatten().collect();
        all.sort_by_key(|h| h.cycles);
        all
    }
}

/// The program over an array whose dimension `innermost` is the last one.
fn turned<'a>(program: &Kernel<'a>, array: usize, innermost: usize) -> Kernel<'a> {
    let mut scop = program.scop.clone().into_owned();
    let mut system = program.system.clone();
    let dims = &mut scop.arrays[array].dims;
    let moved = dims.remove(innermost);
    dims.push(moved);
    for (s, placed) in system.statements.iter_mut().enumerate() {
        for (k, variable) in
            placed.variables.iter_mut().enumerate().filter(|(k, _)| scop.statements[s].reads[*k].array.index() == array)
        {
            debug_assert!(k < scop.statements[s].reads.len());
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

/// The band dimensions of plain loop names, or `None` if they are anything else.
pub fn space_loops(program: &Kernel, names: &[String]) -> Option<Vec<usize>> {
    names.iter().map(|n| by_hand::dim_named(&program.system, n).ok()).collect()
}

/// An array and the program that it is of: as it was, or in another form.
pub struct Chosen<'a> {
    pub program: Kernel<'a>,
    pub plan: Plan,
    pub vsa: Vsa,
    pub searched: Searched,
}

/// The array for the user's aim, over these space loops (dimensions) if he says so.
///
/// # Errors
/// Every reason for which no array was possible, without repetitions.
pub fn choose<'a>(
    program: &Kernel<'a>,
    space: Option<Vec<usize>>,
    board: &Board,
    spec: &DesignSpec,
) -> Result<Chosen<'a>, Diagnostics> {
    let wrong = |text: String| vec![Diagnostic::error("E0722", None, text)];
    let margins = limits_of(board, &spec.aim.limit).map_err(wrong)?;
    let others = apart::alternatives(program, spec);
    let quest = |limits: Resources| Quest {
        program,
        others: &others,
        spec,
        space: space.clone(),
        limits,
        effort: effort(program),
        watch: None,
        learned: Learned::default(),
    };
    let mut found = quest(margins).answer(&spec.aim).map_err(|fault| vec![fault])?;
    let mut limits = margins;
    // Margins are for the router's sake: without anything within them, what fits at all.
    if found.best.is_none() && spec.aim.limit.is_empty() {
        limits = board.resources;
        found = quest(limits).answer(&spec.aim).map_err(|fault| vec![fault])?;
    }
    let searched = Searched::new(&found, limits);
    match found.best {
        Some(Design { plan, vsa, array, .. }) => {
            let is_of = |p: &Kernel| {
                array.shape().is_some_and(|shape| shape.strip == p.strip && shape.apart.unwrap_or(false) == p.apart)
            };
            let program = match others.into_iter().find(is_of) {
                Some(other) => other,
                None => strips::stripped(program.clone(), &DesignSpec { array: array.clone(), ..spec.clone() })?,
            };
            Ok(Chosen { program, plan, vsa, searched })
        }
        None => {
            let mut reasons: Diagnostics = vec![];
            for (illegal, plan) in found.illegal {
                let reason = illegal.diagnostic(&program.scop, &program.system, &plan);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            if found.counts.too_big > 0 {
                let counts = limits.named().map(|(name, n)| format!("{n} {}", name.to_uppercase()));
                let most = format!("arrays need more than {} may give: {}", board.name, counts[..4].join(", "));
                reasons.push(
                    Diagnostic::error("E0717", None, most).help("allow more with --limit, or take a larger board"),
                );
            }
            Err(reasons)
        }
    }
}
