//! I/O groups that functions share.
//!
//! **Problem.** Thirty functions have seventy groups, each with feeders or collectors, relays, and a part of an engine. One
//! function runs at a time, so most of them idle.
//!
//! **Method.** A group of a function that is like one of an earlier function is the same group, with another array
//! behind it ([`InputGroup::arrays`]). They are alike if they differ in nothing but that array, the function, its cases, and
//! where its loops end ([`Runs`]). The engine serves it in the same turn in both, so that each function keeps the order of
//! its services. An output port emits the value of the present function:
//!
//! ```text
//! add: output 0, port %3 when %4        output 0, runs 0 add_C 1 mul_C,
//! mul: output 0, port %7 when %8        port (select runs 1: %7, %3) when (or %4 %8)
//! ```
//!
//! The arrays behind a group may have unlike extents if every row of its footprints lies in each of them, as when their
//! extents are multiples of the tiles: the engine has tables of its steps, by function, then.

use crate::contract::walk::has_pauses;
use crate::vsa::{DramArray, Footprint, Home, InputGroup, OutputGroup, OutputPort, Vsa, When};
use uniform::affine::Form;
use uniform::counters::Case;
use uniform::sizes::Formula;

/// The groups of a merged array, while functions join it.
#[derive(Default)]
pub struct Slots {
    inputs: Vec<Slot>,
    outputs: Vec<Slot>,
}

struct Slot {
    turn: Turn,
    /// See [`Joining::whole`], of all functions that have joined.
    whole: bool,
}

/// When an engine serves a group.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Turn {
    port: usize,
    /// Groups of its function that the engine serves before it.
    turn: usize,
}

/// A group of a function that joins.
pub struct Joining<'a, G> {
    pub group: G,
    /// The places of the function's groups before it.
    pub placed: &'a [u32],
    /// Every row of its footprints lies in its array.
    pub whole: bool,
    /// Nothing else of the function depends on it.
    pub alone: bool,
}

impl Slots {
    /// The place of an input group.
    pub fn input(&mut self, merged: &mut Vsa, new: Joining<InputGroup>) -> u32 {
        let alike = |k: usize, whole: bool| unified_inputs(merged, &merged.inputs[k], &new.group, whole && new.whole);
        let (place, known) = find(&mut self.inputs, merged.port_of(new.group.array), (new.placed, new.whole), alike);
        match known {
            Some(group) => merged.inputs[place] = group,
            None => merged.inputs.push(new.group),
        }
        place as u32
    }

    /// The place of an output group; its ports have no values yet.
    pub fn output(&mut self, merged: &mut Vsa, new: Joining<OutputGroup>) -> u32 {
        let alike = |k: usize, whole: bool| {
            new.alone.then(|| unified_outputs(merged, k, &new.group, whole && new.whole)).flatten()
        };
        let (place, known) = find(&mut self.outputs, merged.port_of(new.group.array), (new.placed, new.whole), alike);
        match known {
            Some(group) => merged.outputs[place] = group,
            None => merged.outputs.push(new.group),
        }
        place as u32
    }
}

/// Puts the functions of each group in ascending order.
pub fn sort(merged: &mut Vsa) {
    let inputs = merged.inputs.iter_mut().map(|g| (&mut g.used, &mut g.array, &mut g.arrays));
    for (when, array, arrays) in
        inputs.chain(merged.outputs.iter_mut().map(|g| (&mut g.emit, &mut g.array, &mut g.arrays)))
    {
        let mut both: Vec<(usize, u32)> = when.functions.drain(..).zip(arrays.drain(..)).collect();
        both.sort_unstable();
        (when.functions, *arrays) = both.into_iter().unzip();
        *array = arrays[0];
    }
}

/// The slot of the turn behind those of the function's groups (`placed`) at this port, of a group that is alike, and both
/// as one. `None`: a new slot, the last.
fn find<G>(
    slots: &mut Vec<Slot>,
    port: usize,
    (placed, whole): (&[u32], bool),
    alike: impl Fn(usize, bool) -> Option<G>,
) -> (usize, Option<G>) {
    let before = || placed.iter().map(|k| *k as usize).filter(|k| slots[*k].turn.port == port);
    let turn = Turn { port, turn: before().count() };
    let first = before().max().map_or(0, |k| k + 1);
    let known =
        (first..slots.len()).filter(|k| slots[*k].turn == turn).find_map(|k| Some((k, alike(k, slots[k].whole)?)));
    match known {
        Some((k, group)) => {
            slots[k].whole &= whole;
            (k, Some(group))
        }
        None => {
            slots.push(Slot { turn, whole });
            (slots.len() - 1, None)
        }
    }
}

/// The runs of two groups: what is the same in all of them.
struct Runs<'a> {
    merged: &'a Vsa,
    known: &'a When,
    new: &'a When,
}

impl Runs<'_> {
    /// A loop of the merged array does not count in runs of this function.
    fn is_still(&self, function: usize, counter: usize) -> bool {
        self.end(function, counter) == Formula::Const(0)
    }

    /// The last value in runs of a function; by case if it is not the same in all of them.
    fn end(&self, function: usize, counter: usize) -> Formula {
        let last = &self.merged.counters[counter].last;
        let Formula::ByCase(all) = last else { return self.merged.over_sizes(last).in_function(function) };
        let here = |case: &Case| case[0].contains(function as i64);
        let between = has_pauses(self.merged.loops(), function).then(|| &all[self.merged.cases.len()]);
        let cases = self.merged.cases.iter().zip(all).filter(|(case, _)| here(case)).map(|(_, end)| end);
        let mut ends = cases.chain(between).map(|end| self.merged.over_sizes(end).in_function(function));
        let first = ends.next().unwrap_or_else(|| last.clone());
        if ends.all(|end| end == first) {
            first
        } else {
            last.clone()
        }
    }

    fn all_still(&self, functions: &[usize], counter: usize) -> bool {
        counter >= self.merged.parameters() && functions.iter().all(|f| self.is_still(*f, counter))
    }

    /// A form that is the known one in its runs, and the new one in its own: where a loop does not count, its coefficient
    /// may be any.
    fn form(&self, known: &Form, new: &Form) -> Option<Form> {
        let count = known.counters.len().max(new.counters.len());
        let at = |form: &Form, j: usize| form.counters.get(j).copied().unwrap_or(0);
        let coefficient = |j: usize| match (at(known, j), at(new, j)) {
            (a, b) if a == b => Some(a),
            (a, _) if self.all_still(&self.new.functions, j) => Some(a),
            (_, b) if self.all_still(&self.known.functions, j) => Some(b),
            _ => None,
        };
        let counters = (0..count).map(coefficient).collect::<Option<Vec<i64>>>()?;
        ((known.constant, known.space) == (new.constant, new.space)).then(|| Form { counters, ..known.clone() })
    }

    fn forms(&self, known: &[Form], new: &[Form]) -> Option<Vec<Form>> {
        (known.len() == new.len()).then(|| known.iter().zip(new).map(|(a, b)| self.form(a, b)).collect())?
    }

    /// The outer counters that reload a buffer, in both: counters that do not count may be among them.
    fn reload(&self, known: usize, new: usize) -> Option<usize> {
        let functions = if known < new { &self.known.functions } else { &self.new.functions };
        let between = known.min(new).max(self.merged.parameters())..known.max(new);
        between.into_iter().all(|j| self.all_still(functions, j)).then_some(known.max(new))
    }

    /// The tiles of both. Where `forms` are given, a counter that has its last value in all of them has it wherever that is,
    /// unless one of the forms refers to it.
    fn when(&self, forms: Option<&[Form]>) -> Option<When> {
        let count = self.known.at.len().max(self.new.at.len());
        let at = |when: &When, j: usize| when.at.get(j).cloned().flatten();
        let is_last = |when: &When, j: usize| {
            let is = |f: &usize| match (at(when, j), self.end(*f, j)) {
                (None, end) => end == Formula::Const(0),
                (Some(value), end) => value == self.merged.counters[j].last || value == end,
            };
            when.functions.iter().all(is)
        };
        let value = |j: usize| match (at(self.known, j), at(self.new, j)) {
            (a, b) if a == b => Some(a),
            _ => {
                let last = &self.merged.counters[j].last;
                let moves = forms?.iter().any(|form| form.counters.get(j).is_some_and(|c| *c != 0));
                let both = is_last(self.known, j) && is_last(self.new, j);
                (both && !moves && last.parameter().is_some()).then(|| Some(last.clone()))
            }
        };
        let at = (0..count).map(value).collect::<Option<Vec<_>>>()?;
        let cases = match (&self.known.cases, &self.new.cases) {
            (Some(a), Some(b)) => Some(a | b),
            (None, None) => None,
            _ => return None,
        };
        Some(When { functions: [&self.known.functions[..], &self.new.functions].concat(), at, cases })
    }
}

/// Their hardware is the same whichever of the two arrays is behind it.
fn can_be_one(merged: &Vsa, arrays: [u32; 2], footprint: &Footprint, whole: bool) -> bool {
    let [a, b] = arrays.map(|k| &merged.arrays[k as usize]);
    let sized = arrays.iter().any(|k| merged.sizes.extents.contains_key(&(*k as usize)));
    let rank = footprint.view.len();
    let suits = || {
        whole
            && a.home == Home::Argument
            && a.dims.len() == b.dims.len()
            && footprint.step(&a.extents(rank)) == footprint.step(&b.extents(rank))
    };
    *a == DramArray { name: a.name.clone(), dims: a.dims.clone(), ..b.clone() }
        && !sized
        && (a.dims == b.dims || suits())
}

fn unified_inputs(merged: &Vsa, known: &InputGroup, new: &InputGroup, whole: bool) -> Option<InputGroup> {
    if !known.after.is_empty() || !can_be_one(merged, [known.array, new.array], &known.footprint, whole) {
        return None;
    }
    let runs = Runs { merged, known: &known.used, new: &new.used };
    let one = InputGroup {
        arrays: [&known.arrays[..], &new.arrays].concat(),
        used: runs.when(None)?,
        reload: runs.reload(known.reload, new.reload)?,
        subscripts: runs.forms(&known.subscripts, &new.subscripts)?,
        footprint: Footprint {
            origin: runs.forms(&known.footprint.origin, &new.footprint.origin)?,
            ..known.footprint.clone()
        },
        row: runs.form(&known.row, &new.row)?,
        col: runs.form(&known.col, &new.col)?,
        ..known.clone()
    };
    let other = InputGroup {
        array: one.array,
        arrays: one.arrays.clone(),
        used: one.used.clone(),
        reload: one.reload,
        subscripts: one.subscripts.clone(),
        footprint: Footprint { origin: one.footprint.origin.clone(), ..new.footprint.clone() },
        row: one.row.clone(),
        col: one.col.clone(),
        ..new.clone()
    };
    (one == other).then_some(one)
}

fn unified_outputs(merged: &Vsa, known: usize, new: &OutputGroup, whole: bool) -> Option<OutputGroup> {
    let waited = merged.inputs.iter().flat_map(|g| &g.after).any(|after| after.output as usize == known);
    let known = &merged.outputs[known];
    let places = |ports: &[OutputPort]| ports.iter().map(|p| p.offset.clone()).collect::<Vec<_>>();
    if waited
        || places(&known.ports) != places(&new.ports)
        || !can_be_one(merged, [known.array, new.array], &known.footprint, whole)
    {
        return None;
    }
    let runs = Runs { merged, known: &known.emit, new: &new.emit };
    let origin = runs.forms(&known.footprint.origin, &new.footprint.origin)?;
    let one = OutputGroup {
        arrays: [&known.arrays[..], &new.arrays].concat(),
        emit: runs.when(Some(&origin))?,
        subscripts: runs.forms(&known.subscripts, &new.subscripts)?,
        footprint: Footprint { origin, ..known.footprint.clone() },
        row: runs.form(&known.row, &new.row)?,
        col: runs.form(&known.col, &new.col)?,
        ..known.clone()
    };
    let other = OutputGroup {
        array: one.array,
        arrays: one.arrays.clone(),
        emit: one.emit.clone(),
        ports: one.ports.clone(),
        subscripts: one.subscripts.clone(),
        footprint: Footprint { origin: one.footprint.origin.clone(), ..new.footprint.clone() },
        row: one.row.clone(),
        col: one.col.clone(),
        ..new.clone()
    };
    (one == other).then_some(one)
}
