//! Walks whose numbers follow from the sizes.
//!
//! Terms: a *step* is by how much a form changes from one row, or one service, to the next. Hardware adds steps instead
//! of multiplying counters. Example: `10 * i + j` with `j` of 0..3 steps by 1 along `j`, and by 10 - 2 = 8 when `i`
//! counts up and `j` returns to 0. With `n` iterations of `j` that is `10 - (n - 1)`, a formula that the host computes.
//!
//! Here are the steps of a walk's forms, rows that sizes end early, the list of all formulas that an engine needs, and
//! the walk at given sizes.

use crate::contract::walk::{RowForm, WaitUntil, Walk, WalkGroup};
use crate::vsa::Footprint;
use scop::Affine;
use uniform::sizes::Formula;

/// An affine form's way through a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// At the first row of the first service.
    pub start: Formula,
    /// Per counter that is no parameter: the change when it counts up and all inner ones return to zero.
    pub tiles: Vec<Formula>,
    /// The same per row coordinate.
    pub rows: Vec<Formula>,
}

/// A form over the counters at the first tile of a run; parameters come first, and have these values.
fn first(start: &Affine, parameters: &[Formula]) -> Formula {
    Formula::combination(start.constant, start.coeffs.iter().copied().zip(parameters.iter().cloned()))
}

/// Change of an affine form when digit `d` counts up and all inner ones, which end so, return to zero.
fn carries(coefficients: &[i64], lasts: &[Formula]) -> Vec<Formula> {
    let mut back = Formula::Const(0);
    let mut out = vec![];
    for (&step, last) in coefficients.iter().zip(lasts).rev() {
        let step = Formula::Const(step);
        out.push(step.clone().plus(Formula::Const(-1).times(back.clone())));
        back = back.plus(step.times(last.clone()));
    }
    out.reverse();
    out
}

/// An array, and, of a merged array, the function whose it is.
pub type Owned = (Option<usize>, usize);

/// Forms of the row ends: by index, then by group.
pub struct Forms {
    pub gates: Vec<Vec<RowForm>>,
    pub lowers: Vec<Vec<RowForm>>,
    pub uppers: Vec<Vec<RowForm>>,
}

impl Steps {
    /// The way of several groups of a merged array, each of another function.
    fn of_functions(all: &[(Option<usize>, Steps)], walk: &Walk) -> Steps {
        let functions = walk.merged().unwrap_or(1);
        let one = |pick: &dyn Fn(&Steps) -> Formula| {
            let of = |f: usize| all.iter().find(|s| s.0 == Some(f)).map_or(Formula::Const(0), |s| pick(&s.1));
            if !(0..functions).any(|f| matches!(of(f), Formula::ByCase(_))) {
                return Formula::of_function((0..functions).map(of).collect());
            }
            // A case is of one function. Between cases only those functions count that have such phases.
            let between = || {
                let each = |f: usize| of(f).in_case(walk.cases.len());
                let mut paused = all.iter().filter_map(|s| s.0).filter(|f| walk.has_pauses(*f)).map(each);
                let first = paused.next();
                match first {
                    None => of(walk.functions[0]).in_case(0),
                    Some(first) if paused.all(|other| other == first) => first,
                    Some(_) => Formula::of_function((0..functions).map(each).collect()),
                }
            };
            let in_case = |k: usize| walk.functions.get(k).map_or_else(between, |&f| of(f).in_case(k));
            Formula::by_case((0..=walk.cases.len()).map(in_case).collect())
        };
        let each = |pick: &dyn Fn(&Steps) -> &Vec<Formula>| {
            let count = all.iter().map(|s| pick(&s.1).len()).max().unwrap_or(0);
            (0..count).map(|k| one(&|s| pick(s).get(k).cloned().unwrap_or(Formula::Const(0)))).collect()
        };
        Steps { start: one(&|s| s.start.clone()), tiles: each(&|s| &s.tiles), rows: each(&|s| &s.rows) }
    }
}

impl WalkGroup {
    /// Dimensions whose rows may end before the footprint does, as sizes say, within others: rows behind them keep
    /// their places in buffers. Counted from the first of a footprint of so many.
    pub fn early(&self, dims: usize) -> Vec<usize> {
        let missing = self.rows.len() - dims;
        let within = |d: usize| self.rows[..missing + d].iter().any(|outer| outer.modulus * outer.extent > 1);
        (0..dims).filter(|&d| !matches!(self.ends[missing + d], Formula::Const(_)) && within(d)).collect()
    }
}

impl Walk {
    /// See [`WalkGroup::early`], of a group's footprint.
    pub fn early(&self, group: usize, footprint: &Footprint) -> Vec<usize> {
        self.groups.iter().find(|g| g.group == group).map_or(vec![], |g| g.early(footprint.rows.len()))
    }
    /// The groups that take each turn.
    pub fn turns(&self) -> Vec<Vec<usize>> {
        let count = self.groups.iter().map(|g| g.turn + 1).max().unwrap_or(0);
        (0..count).map(|t| (0..self.groups.len()).filter(|&g| self.groups[g].turn == t).collect()).collect()
    }
    /// Lists of groups of which at most one is served in a run: those that take one turn. `apart`: each group by itself.
    pub fn clients(&self, apart: bool) -> Vec<Vec<usize>> {
        if apart {
            (0..self.groups.len()).map(|g| vec![g]).collect()
        } else {
            self.turns()
        }
    }
    /// The way of a form of the groups that take a turn.
    pub fn steps_in_turn(&self, turn: usize, steps: impl Fn(usize, Option<usize>) -> Steps) -> Steps {
        let all = self.turns().swap_remove(turn);
        match self.merged() {
            None => steps(all[0], None),
            Some(_) => {
                let of = |g: usize| self.groups[g].when.runs().into_iter().map(move |f| (f, g));
                let all: Vec<_> = all.into_iter().flat_map(of).map(|(f, g)| (f, steps(g, f))).collect();
                Steps::of_functions(&all, self)
            }
        }
    }
    /// The arrays behind each base address that an engine holds: one array, or those of the groups that take a turn, each
    /// with its function.
    pub fn bases(&self) -> Vec<Vec<Owned>> {
        if self.merged().is_none() {
            return self.arrays.iter().map(|a| vec![(None, a.0)]).collect();
        }
        let runs = |g: usize| self.groups[g].when.runs().into_iter().zip(self.groups[g].arrays.clone());
        let of = |all: Vec<usize>| all.into_iter().flat_map(runs).collect();
        self.turns().into_iter().map(of).collect()
    }
    /// The arrays behind each length that an engine holds, those of [`Walk::bases`], and its bits; empty if the host gives
    /// no lengths.
    pub fn lengths(&self) -> Vec<(Vec<Owned>, u32)> {
        let bits = |array: usize| {
            let place = self.arrays.iter().position(|a| a.0 == array);
            place.and_then(|k| self.length_bits.get(k)).copied()
        };
        let of = |all: Vec<Owned>| all.iter().filter_map(|a| bits(a.1)).max().map(|bits| (all, bits));
        self.bases().into_iter().filter_map(of).collect()
    }
    /// How a form of a group goes from row to row and from service to service, in runs of a function.
    pub fn steps(&self, group: &WalkGroup, form: &RowForm, function: Option<usize>) -> Steps {
        self.steps_of((group, function), &[(Formula::Const(1), form)])
    }
    /// The same of the group's address.
    pub fn address_steps(&self, group: &WalkGroup, function: Option<usize>) -> Steps {
        let address = [(Formula::Const(1), &group.address)];
        self.steps_of(
            (group, function),
            &address
                .into_iter()
                .chain(group.strided.iter().map(|(stride, form)| (stride.clone(), form)))
                .collect::<Vec<_>>(),
        )
    }
    fn steps_of(&self, (group, function): (&WalkGroup, Option<usize>), terms: &[(Formula, &RowForm)]) -> Steps {
        let in_run = |number: &Formula| function.map_or(number.clone(), |f| number.in_function(f));
        let sum = |part: &dyn Fn(&RowForm) -> Vec<Formula>| {
            let all = terms
                .iter()
                .map(|(factor, form)| part(form).into_iter().map(|f| in_run(factor).times(f)).collect::<Vec<_>>());
            all.reduce(|a, b| a.into_iter().zip(b).map(|(a, b)| a.plus(b)).collect()).unwrap_or_default()
        };
        let lasts: Vec<Formula> = self.lasts.iter().map(in_run).collect();
        let start = |form: &RowForm| vec![first(&form.start, &lasts[..self.parameters])];
        let tiles = |form: &RowForm| carries(&form.start.coeffs[self.parameters..], &lasts[self.parameters..]);
        let rows = |form: &RowForm| carries(&form.rows, &group.ends);
        Steps { start: sum(&start).remove(0), tiles: sum(&tiles), rows: sum(&rows) }
    }
    /// Rows that are in the array at no tile of a run are not walked: gates that sizes close end the rows of a group's
    /// dimension.
    pub(super) fn end_rows(&mut self) {
        self.end_rows_behind(|fixed| fixed.iter().any(|&c| c != 0));
    }
    /// The walk of a sketch at the greatest sizes of a program. They are constants there: every gate may follow from them,
    /// so every one ends rows.
    #[must_use]
    pub fn ended_by_sizes(mut self) -> Walk {
        self.end_rows_behind(|_| true);
        self
    }
    fn end_rows_behind(&mut self, follows_sizes: impl Fn(&[i64]) -> bool) {
        let parameters = &self.lasts[..self.parameters];
        for g in &mut self.groups {
            for gate in &g.gates {
                let RowForm { start, rows } = gate;
                let (fixed, tiles) = start.coeffs.split_at(parameters.len());
                let mut moving = (0..rows.len()).filter(|&d| rows[d] != 0);
                let (Some(d), None) = (moving.next(), moving.next()) else { continue };
                // The gate is open longest in the first tile.
                if rows[d] < 0 && follows_sizes(fixed) && tiles.iter().all(|&c| c <= 0) {
                    let end = first(start, parameters).over(-rows[d]).greatest(Formula::Const(0));
                    g.ends[d] = g.ends[d].clone().least(end);
                }
            }
        }
    }
    /// What an engine needs to know of the sizes; constants are among it.
    pub fn program(&self) -> Vec<Formula> {
        // Where the function alone tells numbers apart, hardware has tables of all of them.
        if self.merged().is_some() && self.parameters == 1 {
            return vec![self.lasts[0].clone()];
        }
        // The function of the run is the first parameter.
        let function = self.merged().map(|_| self.lasts[0].clone());
        let mut all: Vec<Formula> = function.into_iter().chain(self.lasts[self.parameters..].to_vec()).collect();
        all.push(self.last_turn.clone());
        all.extend(self.cases.iter().flatten().map(|span| span.end.clone()));
        all.extend(self.program_of_turns());
        for g in &self.groups {
            let forms = g.gates.iter().chain(&g.lowers).chain(&g.uppers).map(|f| self.steps(g, f, None));
            for Steps { start, tiles, rows } in [self.address_steps(g, None)].into_iter().chain(forms) {
                if self.merged().is_none() {
                    all.push(start);
                    all.extend(tiles);
                }
                all.extend(rows);
            }
            all.extend(g.ends.iter().cloned());
            let values = (0..g.when.at.len()).filter_map(|k| g.when.parameter(k));
            all.extend(values.map(|p| self.lasts[p].clone()));
            all.extend(g.waits.iter().filter_map(|w| match &w.until {
                WaitUntil::Phase { drains, .. } => Some(drains.clone()),
                WaitUntil::Lag(_) => None,
            }));
        }
        all.push(self.services());
        // Hardware has tables of what the function alone tells.
        all.iter().flat_map(Formula::parts).filter(|f| f.table().is_none()).collect()
    }
    /// The ways of the groups that take a turn, of a merged array.
    fn program_of_turns(&self) -> Vec<Formula> {
        if self.merged().is_none() {
            return vec![];
        }
        let Forms { gates, lowers, uppers } = self.forms();
        let mut all = vec![];
        for turn in 0..self.turns().len() {
            let address = self.steps_in_turn(turn, |g, f| self.address_steps(&self.groups[g], f));
            let of = |forms: &Vec<RowForm>| self.steps_in_turn(turn, |g, f| self.steps(&self.groups[g], &forms[g], f));
            let forms = gates.iter().chain(&lowers).chain(&uppers).map(of);
            for Steps { start, tiles, .. } in [address].into_iter().chain(forms) {
                all.push(start);
                all.extend(tiles);
            }
        }
        all
    }
    /// The row ends of all groups. Short lists are padded with a constant that has no effect.
    pub fn forms(&self) -> Forms {
        let padded = |pick: &dyn Fn(&WalkGroup) -> &Vec<RowForm>, neutral: &dyn Fn(&WalkGroup) -> i64| {
            let most = self.groups.iter().map(|g| pick(g).len()).max().unwrap_or(0);
            let at = |g: &WalkGroup, i: usize| {
                pick(g).get(i).cloned().unwrap_or_else(|| RowForm {
                    start: Affine::constant(self.trips.len(), neutral(g)),
                    rows: vec![0; g.rows.len()],
                })
            };
            (0..most).map(|i| self.groups.iter().map(|g| at(g, i)).collect()).collect()
        };
        Forms {
            gates: padded(&|g| &g.gates, &|_| 0),
            lowers: padded(&|g| &g.lowers, &|_| 0),
            uppers: padded(&|g| &g.uppers, &|g| g.elements),
        }
    }
    /// The walk at these sizes: an ordinary one, but for ends and gates that only other sizes need.
    pub fn at(mut self, sizes: &[i64]) -> Walk {
        if self.parameters == 0 {
            return self;
        }
        if self.merged().is_some() {
            self = self.in_function(sizes[0] as usize - 1);
        }
        let values: Vec<i64> = self.lasts[..self.parameters].iter().map(|f| f.eval(sizes)).collect();
        for g in &mut self.groups {
            g.ends.iter_mut().for_each(|end| *end = Formula::Const(end.eval(sizes)));
            for (stride, form) in std::mem::take(&mut g.strided) {
                g.address = g.address.combine(stride.eval(sizes), &form);
            }
            for form in [&mut g.address].into_iter().chain(&mut g.gates).chain(&mut g.lowers).chain(&mut g.uppers) {
                form.start = form.start.at(&values);
            }
            // Where sizes end a counter, its last value is another one.
            let end = |k: usize, v: i64| match &self.lasts[k] {
                Formula::ByCase(_) => v,
                last if v + 1 == self.trips[k] => last.eval(sizes),
                _ => v,
            };
            let value = |(k, value): (usize, &Option<Formula>)| {
                let value = value.as_ref()?;
                let parameter = value.parameter().map(|p| self.lasts[p].eval(sizes));
                Some(Formula::Const(parameter.unwrap_or_else(|| end(k, value.most()))))
            };
            g.when.at = g.when.at.iter().enumerate().skip(self.parameters).map(value).collect();
            for wait in &mut g.waits {
                if let WaitUntil::Phase { drains, emit, .. } = &mut wait.until {
                    *drains = drains.at(sizes);
                    let value = |(k, v): (usize, &Option<i64>)| v.map(|v| end(k, v));
                    *emit = emit.iter().enumerate().skip(self.parameters).map(value).collect();
                }
            }
        }
        self.trips.drain(..self.parameters);
        // The array at these sizes has no parameters.
        self.kept = self.kept.drain(..).skip(self.parameters).map(|j| j - self.parameters).collect();
        self.lasts = self.lasts.drain(..).skip(self.parameters).map(|f| f.at(sizes)).collect();
        for (trip, last) in self.trips.iter_mut().zip(&self.lasts) {
            if let Formula::Const(last) = last {
                *trip = last + 1;
            }
        }
        self.cases.iter_mut().flatten().for_each(|span| span.end = span.end.at(sizes));
        self.phases -= self.parameters;
        self.parameters = 0;
        self
    }
}
