//! I/O groups that functions share.
//!
//! **Problem.** Thirty functions have seventy groups, each with feeders or collectors, relays, and a part of an engine. One
//! function runs at a time, so most of them idle.
//!
//! **Method.** A group of a function that is like one of an earlier function is the same group, with another array
//! behind it ([`InputGroup::arrays`]). They are alike if they differ in nothing but that array, the function, and its
//! cases. The engine serves it in the same turn in both, so that each function keeps the order of its services. An
//! output port emits the value of the present function:
//!
//! ```text
//! add: output 0, port %3 when %4        output 0, runs 0 add_C 1 mul_C,
//! mul: output 0, port %7 when %8        port (select runs 1: %7, %3) when (or %4 %8)
//! ```

use crate::vsa::{DramArray, InputGroup, OutputGroup, OutputPort, Vsa, When};

/// The groups of a merged array, while functions join it.
#[derive(Default)]
pub struct Slots {
    inputs: Vec<Turn>,
    outputs: Vec<Turn>,
}

/// When an engine serves a group.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Turn {
    port: usize,
    /// Groups of its function that the engine serves before it.
    turn: usize,
}

impl Slots {
    /// The place of an input group of a function; `placed`: those of the groups before it.
    pub fn input(&mut self, merged: &mut Vsa, new: InputGroup, placed: &[u32]) -> u32 {
        let is_alike = |k: usize| inputs_alike(merged, &merged.inputs[k], &new);
        match find(&mut self.inputs, merged.port_of(new.array), placed, is_alike) {
            Some(k) => {
                let known = &mut merged.inputs[k];
                join(&mut known.used, &new.used);
                known.arrays.extend(new.arrays);
                k as u32
            }
            None => {
                merged.inputs.push(new);
                merged.inputs.len() as u32 - 1
            }
        }
    }

    /// The place of an output group of a function, and whether it is another function's, too; its ports have no values yet.
    /// `own`: a load of its function waits for it.
    pub fn output(&mut self, merged: &mut Vsa, new: OutputGroup, placed: &[u32], own: bool) -> (u32, bool) {
        let is_alike = |k: usize| !own && outputs_alike(merged, k, &new);
        match find(&mut self.outputs, merged.port_of(new.array), placed, is_alike) {
            Some(k) => {
                let known = &mut merged.outputs[k];
                join(&mut known.emit, &new.emit);
                known.arrays.extend(new.arrays);
                (k as u32, true)
            }
            None => {
                merged.outputs.push(new);
                (merged.outputs.len() as u32 - 1, false)
            }
        }
    }
}

/// The slot of the turn behind those of the function's groups (`placed`) at this port, of a group that is alike. `None`: a
/// new one, the last.
fn find(slots: &mut Vec<Turn>, port: usize, placed: &[u32], is_alike: impl Fn(usize) -> bool) -> Option<usize> {
    let before = || placed.iter().map(|k| *k as usize).filter(|k| slots[*k].port == port);
    let wanted = Turn { port, turn: before().count() };
    let first = before().max().map_or(0, |k| k + 1);
    let known = (first..slots.len()).find(|k| slots[*k] == wanted && is_alike(*k));
    if known.is_none() {
        slots.push(wanted);
    }
    known
}

/// Runs of a second function, too.
fn join(all: &mut When, new: &When) {
    all.functions.extend(&new.functions);
    if let (Some(all), Some(new)) = (&mut all.cases, &new.cases) {
        all.extend(new);
    }
}

/// As if it was in the runs of other functions.
fn in_runs(when: &When, of: &When) -> When {
    When { functions: of.functions.clone(), cases: of.cases.clone(), ..when.clone() }
}

/// Their hardware is the same whichever of the two arrays is behind it, and they may be of the same phases.
fn can_be_one(merged: &Vsa, arrays: [u32; 2], whens: [&When; 2]) -> bool {
    let [a, b] = arrays.map(|k| &merged.arrays[k as usize]);
    let sized = arrays.iter().any(|k| merged.sizes.extents.contains_key(&(*k as usize)));
    *a == DramArray { name: a.name.clone(), ..b.clone() }
        && !sized
        && whens[0].cases.is_some() == whens[1].cases.is_some()
}

fn inputs_alike(merged: &Vsa, known: &InputGroup, new: &InputGroup) -> bool {
    let moved = InputGroup {
        array: known.array,
        arrays: known.arrays.clone(),
        used: in_runs(&new.used, &known.used),
        ..new.clone()
    };
    known.after.is_empty() && moved == *known && can_be_one(merged, [known.array, new.array], [&known.used, &new.used])
}

fn outputs_alike(merged: &Vsa, known: usize, new: &OutputGroup) -> bool {
    let waited = merged.inputs.iter().flat_map(|g| &g.after).any(|after| after.output as usize == known);
    let known = &merged.outputs[known];
    let places = |ports: &[OutputPort]| ports.iter().map(|p| p.offset.clone()).collect::<Vec<_>>();
    let moved = OutputGroup {
        array: known.array,
        arrays: known.arrays.clone(),
        emit: in_runs(&new.emit, &known.emit),
        ports: known.ports.clone(),
        ..new.clone()
    };
    !waited
        && places(&known.ports) == places(&new.ports)
        && moved == *known
        && can_be_one(merged, [known.array, new.array], [&known.emit, &new.emit])
}
