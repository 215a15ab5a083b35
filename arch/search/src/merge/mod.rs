//! Several compiled functions on one array ([`array::merge`]).
//!
//! **Problem.** The best arrays of the functions alone may be unlike: one has 4 PEs, another one PE with 6 lanes. Merged,
//! they need 4 PEs with 6 lanes, and take more than apart.
//!
//! **Method.** Functions of one form, such as the layers of a network, are searched once: the one with most iterations is,
//! and the others get arrays like it ([`crate::imitate`]) as long as these are about as fast. The grids of the functions
//! with the most cycles are tried, each as the largest that a function may have: functions whose own array is larger are
//! searched again. Ports may be narrow, or get equal widths, which saves engines and costs buffers; where cycles do not come
//! first, narrow ports compare the grids. If nothing fits the limits, smaller and smaller grids are tried. Functions with
//! the same loops also get arrays like that of each other one.
//! A grid is left out if cycles come first and its lanes cannot save many of them. Then choices are improved (`improve.rs`).
//! Every choice is merged and estimated. The objective decides: cycles are those of all functions, as often as `--weights`
//! says; the size is the share of the scarcest resource of the merged array. It is a heuristic: no bound is known for all
//! functions together.

mod improve;

use crate::choose::{limits_of, objective};
use crate::compiled::{self, Compiled};
use crate::cuts;
use crate::imitate::{as_fast, in_turn, Form};
use crate::{branch, imitate, pipeline, threads, tuning};
use array::kernel::Kernel;
use array::merge::{merge, Unmergeable};
use array::vsa::{Member, Vsa};
use cost::bank::Bank;
use cost::board::{Board, Resources};
use cost::{resources, Predictor};
use rayon::prelude::*;
use scop::diag::{Diagnostic, Diagnostics};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use uniform::aim::{Grid, Most, Objective};
use uniform::cuts::Cuts;
use uniform::design::{ArrayChoice, DesignSpec, Shape};

/// What is asked of the functions.
pub struct Asked<'a> {
    /// The IP's name.
    pub name: &'a str,
    pub board: &'a Board,
    /// The array of a function by itself is not cut.
    pub specs: Vec<&'a DesignSpec>,
    /// Where the array of all functions is cut.
    pub cuts: Option<&'a Cuts>,
    /// How often each function runs, unless `--weights` says otherwise.
    pub times: Vec<i64>,
    /// Compiles a function again.
    pub again: &'a (dyn Fn(usize, &DesignSpec) -> Option<Compiled> + Sync),
}

impl Asked<'_> {
    /// The array of a function that is like another function's, within the limits. Where cycles come first, its tiles are
    /// its own if it is slower with those of the other function than `fast`, per iteration.
    fn like(
        &self,
        f: usize,
        (form, spec): (Option<&Form>, &DesignSpec),
        model: &Compiled,
        fast: &Compiled,
    ) -> Option<Compiled> {
        let form = form.filter(|_| is_free(spec))?;
        let new = imitate::like(model, form, spec, |spec| (self.again)(f, spec))?;
        let limits = limits_of(self.board, &spec.aim.limit).ok()?;
        let enough = if self.is_for_cycles() { as_fast(&new, fast) } else { i64::MAX };
        let new = imitate::tuned(new, enough, spec, self.board, &limits);
        new.report.resources.fits(&limits).then_some(new)
    }

    /// How the array of all functions is cut; `banks`: of its arrays.
    fn cut<'a>(&'a self, banks: &'a [Bank]) -> cuts::Asked<'a> {
        let latency = self.specs.iter().filter_map(|spec| spec.wiring.memory_latency).max();
        let latency = latency.unwrap_or(self.board.latency() as u32);
        cuts::Asked { wanted: self.cuts, chosen: true, board: self.board, banks, latency }
    }

    /// Cycles come first. What the user allows is there to be used.
    fn is_for_cycles(&self) -> bool {
        let aim = &self.specs[0].aim;
        match objective(aim) {
            Objective::Cycles => true,
            Objective::Balanced => !aim.limit.is_empty(),
            Objective::Area | Objective::Efficiency => false,
        }
    }

    /// The functions, those with most iterations first.
    fn order(&self, iterations: impl Fn(usize) -> i64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.specs.len()).collect();
        order.sort_by_key(|&f| Reverse(i128::from(self.times[f]) * i128::from(iterations(f))));
        order
    }
}

/// The functions with arrays of their own. `programs`: of functions that may get the array of another one; `compile`
/// finds an array.
///
/// # Errors
/// Those of `compile`.
pub fn alone<E: Send>(
    asked: &Asked,
    programs: &[Option<Kernel>],
    compile: impl Fn(usize) -> Result<Compiled, E> + Sync,
) -> Result<Vec<Compiled>, E> {
    let forms: Vec<Option<Form>> = programs.iter().map(|p| p.as_ref().and_then(Form::of)).collect();
    let order = asked.order(|f| programs[f].as_ref().map_or(0, |p| p.work.iterations));
    let like = |f: usize, model: &Compiled| asked.like(f, (forms[f].as_ref(), asked.specs[f]), model, model);
    in_turn(&order, &forms, like, compile)
}

/// An array for all functions.
struct Choice {
    /// The arrays that are merged.
    own: Vec<Compiled>,
    merged: Vsa,
    /// Per function, those of its run on the merged array.
    cycles: Vec<f64>,
}

/// The functions, each as a run of the array that they have together. `alone`: each with an array of its own.
///
/// # Errors
/// E0732: why there is no such array; E0711: it is too large; a weight of a function that is none.
pub fn merged(asked: &Asked, alone: Vec<Compiled>) -> Result<Vec<Compiled>, Diagnostics> {
    let wrong = |text: String| vec![Diagnostic::error("E0722", None, text)];
    let aim = &asked.specs[0].aim;
    let limits = limits_of(asked.board, &aim.limit).map_err(wrong)?;
    let weights = weights(asked, &alone).map_err(wrong)?;
    let tried = vec![vec![]; alone.len()];
    let forms = alone.iter().map(Form::compiled).collect();
    let (sought, best, refused, smallest) = (BTreeSet::new(), None, None, None);
    let mut search = Search { asked, alone: &alone, forms, limits, weights, tried, sought, best, refused, smallest };
    search.try_all(alone.clone());
    // Where all follow one, no other arrays are as much alike in its grid.
    let mut models = search.order();
    models.retain(|&k| alone[k].report.searched.is_some() || !is_free(asked.specs[k]));
    models.truncate(tuning::MERGED_MODELS);
    models.retain(|&k| search.try_like(k));
    let followed: Vec<Grid> = models.into_iter().map(|k| grid_of(&alone[k])).collect();
    let grids = search.grids();
    search.try_grids(grids.iter().filter(|grid| !followed.contains(grid)).copied());
    search.tighten();
    // Fewer and fewer lanes, until something fits: in PEs of their own, and in one PE.
    let mut lanes = grids.iter().map(|g| lanes_of(*g)).min().unwrap_or(1);
    let mut fits = search.best.is_some();
    while !fits && lanes > 0 {
        for grid in [Grid { pes: [lanes, 1], lanes: 1 }, Grid { pes: [1, 1], lanes }] {
            fits |= !grids.contains(&grid) && search.try_within(grid) || search.cannot_gain(grid);
        }
        lanes /= 2;
    }
    search.seek_even();
    search.seek_longer();
    search.seek_alike();
    search.improve();
    let Search { best, refused, smallest, .. } = search;
    let Some((_, Choice { own, merged, .. })) = best else {
        return Err(vec![match (refused, smallest) {
            (_, Some(need)) => beyond(&need, &limits),
            (why, None) => self::refused(why.unwrap_or(Unmergeable::NoSchedule)),
        }]);
    };
    let cut = cuts::cut(merged.clone(), &asked.cut(&banks(&merged, &own)))?;
    let need = resources::estimate(&cut) + compiled::outside(&own);
    asked.board.takes(&need).map_err(|fault| vec![fault])?;
    cut.verify().map_err(|faults| pipeline::internal("the merged array", faults))?;
    Ok(joined(&cut, own, &alone))
}

/// The banks of a merged array's arrays: each is where the first function that has it keeps it.
fn banks(merged: &Vsa, own: &[Compiled]) -> Vec<Bank> {
    let of_array = |array: usize| {
        let of_function = |(member, own): (&Member, &Compiled)| {
            let k = member.arrays.iter().position(|(k, _)| *k == array)?;
            own.report.banks.get(k).cloned()
        };
        merged.functions.iter().zip(own).find_map(of_function)
    };
    (0..merged.hosted()).filter_map(of_array).collect()
}

/// What a merged array costs by the objective: less is better. For choices of what [`Asked`] leaves open, such as the words
/// of arrays on chip.
///
/// # Errors
/// E0722: unknown limits or weights.
pub fn worth(asked: &Asked, all: &[Compiled]) -> Result<(f64, f64), Diagnostics> {
    let wrong = |text: String| vec![Diagnostic::error("E0722", None, text)];
    let limits = limits_of(asked.board, &asked.specs[0].aim.limit).map_err(wrong)?;
    let weights = weights(asked, all).map_err(wrong)?;
    let need = resources::estimate(all[0].built()) + compiled::outside(all);
    Ok(ranked(asked, total(&weights, &all_cycles(all)), size(&need, &limits)))
}

/// The share of the scarcest resource; of two that take the same, what takes less of the others is smaller.
fn size(need: &Resources, limits: &Resources) -> f64 {
    let share = |(need, most): (i64, i64)| need as f64 / most.max(1) as f64;
    let all = need.counts().into_iter().zip(limits.counts()).map(share).sum::<f64>();
    branch::share(need, limits) + all / 1000.0
}

/// Cycles and size in the order in which the objective asks for them. Where cycles are relative to those of arrays for
/// each function, a thousandth is left out: of choices that are about as fast, the smaller one leaves the functions room.
fn ranked(asked: &Asked, cycles: f64, size: f64) -> (f64, f64) {
    match objective(&asked.specs[0].aim) {
        _ if asked.is_for_cycles() => ((1000.0 * cycles).round() / 1000.0, size),
        Objective::Area => (size, cycles),
        _ => (cycles * size, cycles),
    }
}

/// The cycles of all functions, each as often as it runs.
fn total(weights: &[i64], cycles: &[f64]) -> f64 {
    cycles.iter().zip(weights).map(|(cycles, weight)| *weight as f64 * cycles).sum()
}

struct Search<'a> {
    asked: &'a Asked<'a>,
    alone: &'a [Compiled],
    forms: Vec<Option<Form>>,
    limits: Resources,
    weights: Vec<i64>,
    /// Per function, its arrays that were merged.
    tried: Vec<Vec<Compiled>>,
    /// Functions, grids and percent of the limits within which [`Search::seek_faster`] found the best arrays.
    sought: BTreeSet<(usize, Grid, i64)>,
    /// With what it costs.
    best: Option<((f64, f64), Choice)>,
    refused: Option<Unmergeable>,
    /// What the smallest array needs that does not fit.
    smallest: Option<Resources>,
}

impl Search<'_> {
    fn is_for_cycles(&self) -> bool {
        self.asked.is_for_cycles()
    }

    fn total(&self, cycles: &[f64]) -> f64 {
        total(&self.weights, cycles)
    }

    /// The functions, those with most iterations first.
    fn order(&self) -> Vec<usize> {
        self.asked.order(|f| self.alone[f].report.work.map_or(0, |work| work.iterations))
    }

    /// Cycles come first, and arrays of no more lanes than this grid has can save hardly any.
    fn cannot_gain(&self, grid: Grid) -> bool {
        let lanes = lanes_of(grid) as f64;
        let least = |c: &Compiled| c.report.work.map_or(0.0, |work| work.iterations as f64 / lanes);
        let bound = self.total(&self.alone.iter().map(least).collect::<Vec<_>>());
        let slack = 1.0 + tuning::IMITATED_PERCENT as f64 / 100.0;
        let best = self.best.as_ref().map(|(_, choice)| self.total(&choice.cycles));
        self.is_for_cycles()
            && self.asked.specs.iter().all(|spec| is_free(spec))
            && best.is_some_and(|b| b <= slack * bound)
    }

    /// What a merged array costs that needs this and takes these cycles: first by the objective.
    fn cost(&self, need: &Resources, cycles: &[f64]) -> (f64, f64) {
        let slower = self.total(cycles) / self.total(&all_cycles(self.alone)).max(1.0);
        ranked(self.asked, slower, size(need, &self.limits))
    }

    /// Merges these arrays, as they are and with ports of equal widths. The least share of the limits that either takes.
    fn try_all(&mut self, functions: Vec<Compiled>) -> f64 {
        let mut least = f64::MAX;
        let alike = alike(&self.asked.specs, &functions, self.asked.board);
        for all in [functions, alike] {
            all.iter().enumerate().for_each(|(f, one)| self.remember(f, one));
            least = self.try_these(all).map_or(least, |share| least.min(share));
        }
        least
    }

    /// An array of a function, for [`Search::exchange`].
    fn remember(&mut self, f: usize, array: &Compiled) {
        if self.tried[f].iter().all(|other| other.vsa != array.vsa) {
            self.tried[f].push(array.clone());
        }
    }

    /// Merges these arrays. The share of the limits that they take; `None`: they cannot be merged.
    fn try_these(&mut self, own: Vec<Compiled>) -> Option<f64> {
        let arrays: Vec<&Vsa> = own.iter().map(|c| &c.vsa).collect();
        let merged = match merge(&self.asked.name.to_lowercase(), &arrays) {
            Ok(merged) => merged,
            Err(why) => {
                self.refused.get_or_insert(why);
                return None;
            }
        };
        let need = resources::estimate(&merged) + compiled::outside(&own);
        let share = branch::share(&need, &self.limits);
        if !need.fits(&self.limits) {
            if self.smallest.is_none_or(|other| need.lut < other.lut) {
                self.smallest = Some(need);
            }
            return Some(share.max(1.0 + f64::EPSILON));
        }
        let is_best = |cost: (f64, f64)| self.best.as_ref().is_none_or(|b| cost < b.0);
        // Merging makes no function faster, so most arrays need not be predicted.
        if is_best(self.cost(&need, &all_cycles(&own))) {
            let predictor = Predictor::new(&merged);
            let of = |(f, c): (usize, &Compiled)| c.cycles_in((&merged, &predictor), f) as f64;
            let cycles: Vec<f64> = own.par_iter().enumerate().map(of).collect();
            let cost = self.cost(&need, &cycles);
            if is_best(cost) {
                self.best = Some((cost, Choice { own, merged, cycles }));
            }
        }
        Some(share)
    }

    /// Tries arrays within each of these grids. Where cycles do not come first, narrow ports compare the grids, and ports
    /// of other widths are tried within the best one and those that are nearly as good.
    fn try_grids(&mut self, grids: impl Iterator<Item = Grid>) {
        if self.is_for_cycles() {
            return grids.for_each(|grid| _ = self.try_within(grid));
        }
        let limit = &self.asked.specs[0].aim.limit;
        let mut costs: Vec<(Grid, Option<f64>)> = vec![];
        for grid in grids {
            let before = self.best.take();
            self.try_over(grid, limit, WIDTHS[1]);
            costs.push((grid, self.best.as_ref().map(|best| best.0 .0)));
            self.best = match (before, self.best.take()) {
                (Some(before), Some(new)) => Some(if new.0 < before.0 { new } else { before }),
                (before, new) => before.or(new),
            };
        }
        let least = costs.iter().filter_map(|c| c.1).min_by(f64::total_cmp);
        let most = least.map(|least| least * (1.0 + tuning::MERGED_NEAR_PERCENT as f64 / 100.0));
        // Where nothing fits, no grid is better than another one.
        for (grid, _) in costs.into_iter().filter(|(_, cost)| *cost <= most && cost.is_some() == most.is_some()) {
            for bytes in [WIDTHS[0], WIDTHS[2]] {
                self.try_over(grid, limit, bytes);
            }
        }
    }

    /// Tries arrays within a grid, over ports of any width and over narrow ones, unless these do not help. `false`: none
    /// fits.
    fn try_within(&mut self, grid: Grid) -> bool {
        let limit = &self.asked.specs[0].aim.limit;
        let mut fits = false;
        if self.cannot_gain(grid) {
            return fits;
        }
        for bytes in WIDTHS {
            let share = self.try_over(grid, limit, bytes);
            fits |= share <= 1.0;
            if share > tuning::MERGED_ROOM {
                break;
            }
        }
        fits
    }

    /// Tries arrays within a grid and limits, over ports of at most so many bytes. The share of the
    /// limits for all that they take.
    fn try_over(&mut self, grid: Grid, limit: &BTreeMap<String, Most>, bytes: Option<u32>) -> f64 {
        let Ok(limits) = limits_of(self.asked.board, limit) else { return f64::MAX };
        let fits = |c: &&Compiled| grid.holds(c.vsa.extent, c.vsa.lanes) && c.report.resources.fits(&limits);
        let spec = |f: usize| {
            let c = &self.alone[f];
            let is_narrow = bytes.is_none_or(|bytes| (0..c.vsa.axi_ports()).all(|p| c.vsa.bus_bytes(p) <= bytes));
            if !is_free(self.asked.specs[f]) || is_narrow && fits(&c) {
                return None;
            }
            let mut spec = self.asked.specs[f].clone();
            (spec.aim.grid, spec.aim.limit) = (Some(grid), limit.clone());
            bytes.iter().for_each(|bytes| narrow(&mut spec, &c.vsa, *bytes));
            Some(spec)
        };
        let specs: Vec<Option<DesignSpec>> = (0..self.alone.len()).map(spec).collect();
        let like =
            |f: usize, model: &Compiled| self.asked.like(f, (self.forms[f].as_ref(), specs[f].as_ref()?), model, model);
        let search = |f: usize| {
            let new = specs[f].as_ref().and_then(|spec| (self.asked.again)(f, spec));
            // Else its own, or one that was found before, perhaps over wider ports.
            let fastest = || self.tried[f].iter().filter(fits).min_by_key(|c| c.report.prediction.cycles);
            let own = &self.alone[f];
            let known = || Some(own).filter(fits).or_else(fastest).unwrap_or(own).clone();
            Ok::<_, Infallible>(new.unwrap_or_else(known))
        };
        let Ok(all) = in_turn(&self.order(), &self.forms, like, search);
        self.try_all(all)
    }

    /// Tries arrays like that of one function, of all functions that have such loops. Whether these are all.
    fn try_like(&mut self, model: usize) -> bool {
        let like = |f: usize| {
            let asked = (self.forms[f].as_ref().filter(|_| f != model), self.asked.specs[f]);
            self.asked.like(f, asked, &self.alone[model], &self.alone[f])
        };
        let all = threads::each(self.alone.len(), like);
        let found = all.iter().flatten().count();
        found > 0 && {
            self.try_all(or(all, self.alone));
            found + 1 == self.alone.len()
        }
    }

    /// The functions, those with the most cycles first.
    fn order_by_cycles(&self) -> impl Iterator<Item = usize> {
        let mut order: Vec<usize> = (0..self.alone.len()).collect();
        order.sort_by_key(|&f| Reverse(self.alone[f].report.prediction.cycles));
        order.into_iter()
    }

    /// The grids of the functions with the most cycles.
    fn grids(&self) -> Vec<Grid> {
        let mut grids: Vec<Grid> = vec![];
        for grid in self.order_by_cycles().map(|f| grid_of(&self.alone[f])) {
            if !grids.contains(&grid) && grids.len() < tuning::MERGED_GRIDS {
                grids.push(grid);
            }
        }
        grids
    }
}

/// Bytes of the ports that are tried; `None`: any.
const WIDTHS: [Option<u32>; 3] = [None, Some(tuning::MERGED_NARROW_BYTES), Some(tuning::MERGED_NARROW_BYTES / 2)];

/// Gives a function ports of at most so many bytes, where the user gives none.
fn narrow(spec: &mut DesignSpec, vsa: &Vsa, bytes: u32) {
    for array in &vsa.arrays {
        spec.wiring.word.entry(array.name.clone()).or_insert((bytes / array.ty.bytes()).max(1));
    }
}

/// The new arrays, and those of `own` where there is no new one.
fn or(new: Vec<Option<Compiled>>, own: &[Compiled]) -> Vec<Compiled> {
    new.into_iter().zip(own).map(|(new, own)| new.unwrap_or_else(|| own.clone())).collect()
}

fn grid_of(compiled: &Compiled) -> Grid {
    Grid { pes: compiled.vsa.extent, lanes: compiled.vsa.lanes }
}

/// Of all PEs.
fn lanes_of(grid: Grid) -> i64 {
    (grid.pes[0] * grid.pes[1] * grid.lanes).max(1)
}

fn cycles(compiled: &Compiled) -> f64 {
    compiled.report.prediction.cycles as f64
}

fn all_cycles(all: &[Compiled]) -> Vec<f64> {
    all.iter().map(cycles).collect()
}

/// How often each function runs.
fn weights(asked: &Asked, alone: &[Compiled]) -> Result<Vec<i64>, String> {
    let given = &asked.specs[0].aim.weights;
    let names: Vec<&str> = alone.iter().map(|c| c.vsa.name.as_str()).collect();
    match given.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(format!("--weights {name}: no function has this name; there are {}", names.join(", "))),
        None => {
            let weight = |(name, times): (&&str, &i64)| given.get(*name).copied().unwrap_or(*times);
            Ok(names.iter().zip(&asked.times).map(weight).collect())
        }
    }
}

/// The search chooses the grid.
pub fn is_free(spec: &DesignSpec) -> bool {
    match &spec.array {
        ArrayChoice::Automatic => true,
        ArrayChoice::ByHand { shape, .. } => *shape == Shape::default(),
        ArrayChoice::Row { .. } => false,
    }
}

/// The functions as runs of the merged array.
fn joined(merged: &Vsa, mut own: Vec<Compiled>, alone: &[Compiled]) -> Vec<Compiled> {
    for (f, compiled) in own.iter_mut().enumerate() {
        compiled.join(merged, f, &alone[f]);
    }
    own
}

/// The functions with ports of equal widths, so that they can share them: ports that write first, then from the widest
/// on, each as wide as the widest of any function. A function keeps its own where it would get slower.
fn alike(specs: &[&DesignSpec], all: &[Compiled], board: &Board) -> Vec<Compiled> {
    let ports = |vsa: &Vsa| {
        let writes = |port: usize| vsa.outputs.iter().any(|g| vsa.port_of(g.array) == port);
        let mut ports: Vec<(u32, usize)> = (0..vsa.axi_ports()).map(|p| (vsa.bus_bytes(p), p)).collect();
        ports.sort_by_key(|p| (!writes(p.1), Reverse(p.0), p.1));
        ports
    };
    let most = all.iter().map(|c| c.vsa.axi_ports()).max().unwrap_or(0);
    let widths: Vec<u32> =
        (0..most).map(|k| all.iter().filter_map(|c| ports(&c.vsa).get(k).map(|p| p.0)).max().unwrap_or(0)).collect();
    let widened = |f: usize| {
        let (vsa, mut spec) = (&all[f].vsa, specs[f].clone());
        for ((_, port), width) in ports(vsa).into_iter().zip(&widths).filter(|(p, width)| p.0 != **width) {
            for array in vsa.arrays_of(port).map(|a| &vsa.arrays[a]) {
                spec.wiring.word.entry(array.name.clone()).or_insert(width / array.ty.bytes());
            }
        }
        let cycles = |c: &Compiled| c.report.prediction.cycles;
        pipeline::again(&all[f], &spec, board).filter(|new| cycles(new) <= cycles(&all[f]))
    };
    or(threads::each(all.len(), widened), all)
}

fn beyond(need: &Resources, limits: &Resources) -> Diagnostic {
    let over: Vec<String> = (need.named().into_iter().zip(limits.counts()))
        .filter(|((_, need), most)| need > most)
        .map(|((name, need), most)| format!("{need} {} of {most}", name.to_uppercase()))
        .collect();
    let text = format!("the smallest merged array that was found needs {}", over.join(", "));
    Diagnostic::error("E0711", None, text).help("allow more with --limit, give a smaller --grid, or leave --merge out")
}

fn refused(why: Unmergeable) -> Diagnostic {
    let (text, help) = match &why {
        Unmergeable::Strips(function) => (
            format!("`{function}` cannot be merged: its loops end by strip, and values pass from strip to strip"),
            format!("choose an array for `{function}` by hand, with --tile and without --strip"),
        ),
        Unmergeable::Unlike(what) => (
            format!("these functions cannot be merged: they differ in their {what}"),
            "give all of them the same".into(),
        ),
        Unmergeable::NoSchedule => (
            "these functions cannot be merged: no hop delays suit all of them".to_string(),
            "choose other space loops for one of them".to_string(),
        ),
    };
    Diagnostic::error("E0732", None, text).help(format!("{help}, or leave --merge out"))
}
