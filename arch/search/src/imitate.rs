//! The array of one function for another one of the same form.
//!
//! **Problem.** Functions that are merged, such as the layers of a network, share I/O groups and sums if their arrays are
//! alike: the same loops in space, the same tiles. Each function's own best array has other tiles, and is searched anew.
//!
//! **Method.** What was chosen for one function becomes the options of the other one: loops in space, their order, lanes,
//! and tiles, those of loops that are not tiled included. A tile that is larger than the other's loop is that loop. If the
//! other's loop of a sum has fewer iterations than the lanes along it, the lanes that are left are along further loops of
//! the sum: a PE adds the products of all its lanes either way. Tiles that suit one function may make another one wait
//! for memory: where cycles come first, they are doubled, halved and left out one by one as long as that saves some
//! ([`tuned`]).
//!
//! ```text
//! of 512 channels, 14 × 14 pixels      i in tiles of 128, r of 2, c whole, 16 lanes along i
//! for 256 channels, 28 × 28 pixels     i in tiles of 128, r of 2, c of 14, 16 lanes along i
//! for   3 channels, 3 × 3 kernels      r of 2, c of 14, 3 × 3 lanes along q and i
//! ```

use crate::compiled::{Compiled, Stages};
use crate::{pipeline, threads, tuning};
use array::kernel::Kernel;
use cost::board::{Board, Resources};
use rayon::prelude::*;
use scop::{Array, ScalarType, Scop, Storage};
use std::collections::{BTreeMap, BTreeSet};
use uniform::design::{ArrayChoice, DesignSpec, Shape};
use uniform::mapping::Plan;
use uniform::system::System;

/// What two functions of one form have in common, and in what they differ.
pub struct Form {
    /// The extents of the loops, by name.
    loops: BTreeMap<String, i64>,
    /// Those of sums: what is stored does not depend on them.
    summed: BTreeSet<String>,
    /// The arrays: names and types.
    arrays: Vec<(String, ScalarType)>,
}

impl Form {
    /// The form of a program without phases, strips and sizes.
    pub fn of(program: &Kernel) -> Option<Form> {
        Form::new(&program.scop, &program.system)
    }

    /// The same of a compiled one.
    pub(crate) fn compiled(compiled: &Compiled) -> Option<Form> {
        let Stages { scop, system, .. } = compiled.stages.as_ref()?;
        Form::new(scop, system)
    }

    fn new(scop: &Scop, system: &System) -> Option<Form> {
        let plain = system.loops() == (0..system.dims.len());
        let stored = |a: &&Array| a.storage == Storage::Dram;
        let is_summed = |d: &usize| system.statements.iter().any(|placed| placed.sums_along(*d));
        let summed = system.loops().filter(is_summed).map(|d| system.dims[d].name.clone());
        plain.then(|| Form {
            loops: system.dims.iter().map(|d| (d.name.clone(), d.extent())).collect(),
            summed: summed.collect(),
            arrays: scop.arrays.iter().filter(stored).map(|a| (a.name.clone(), a.ty)).collect(),
        })
    }

    /// The loops have the same names, and the arrays the same types.
    fn is_like(&self, other: &Form) -> bool {
        let types = |form: &Form| form.arrays.iter().map(|a| a.1).collect::<Vec<_>>();
        self.loops.keys().eq(other.loops.keys()) && types(self) == types(other)
    }
}

/// A function's array like another one's, of which it has the form; `None` if its loops are others, or there is none.
pub(crate) fn like(
    of: &Compiled,
    by: &Form,
    base: &DesignSpec,
    compile: impl Fn(&DesignSpec) -> Option<Compiled>,
) -> Option<Compiled> {
    let model = Form::compiled(of)?;
    let mut base = base.clone();
    for ((model, _), (own, _)) in model.arrays.iter().zip(&by.arrays) {
        if let Some(array) = of.vsa.arrays.iter().find(|a| a.name == *model) {
            base.wiring.word.entry(own.clone()).or_insert(array.word);
        }
    }
    model.is_like(by).then(|| with_loops(of, by, &base, compile)).flatten()
}

/// A function's array with the loops of another one's: those in space, their order and tiles. `None` if it has others.
pub(crate) fn with_loops(
    of: &Compiled,
    by: &Form,
    base: &DesignSpec,
    compile: impl Fn(&DesignSpec) -> Option<Compiled>,
) -> Option<Compiled> {
    let [filled, plain] = [true, false].map(|fill| imitation(of, by, base, fill));
    let new = filled.as_ref().and_then(&compile);
    new.or_else(|| compile(plain.as_ref().filter(|_| plain != filled)?))
}

/// The lanes of a function like another one's. If a loop of a sum has fewer iterations, further loops of the sum get the
/// lanes that are left, the inner ones first, unless `fill` is false.
fn lanes(model: &Stages, by: &Form, fill: bool) -> BTreeMap<String, i64> {
    let Stages { system, plan, .. } = model;
    let name = |d: usize| system.dims[d].name.clone();
    let dims = || (0..plan.dims.len()).filter(|&d| plan.dims[d].simd > 1);
    let mut lanes: BTreeMap<String, i64> = dims().map(|d| (name(d), plan.dims[d].simd)).collect();
    let mut left = 1;
    for (name, lanes) in lanes.iter_mut().filter(|(name, _)| fill && by.summed.contains(*name)) {
        let some = by.loops[name].clamp(1, *lanes);
        left *= *lanes / some;
        *lanes = some;
    }
    let in_time = plan.order.iter().rev().filter(|&&d| plan.dims[d].axis.is_none());
    for name in in_time.map(|&d| name(d)).filter(|name| by.summed.contains(name)) {
        // As few as take the fewest waves.
        let extent = by.loops[&name].max(1).unsigned_abs();
        let some = extent.div_ceil(extent.div_ceil(left as u64)) as i64;
        if !lanes.contains_key(&name) && some > 1 {
            lanes.insert(name, some);
            left /= some;
        }
    }
    lanes.retain(|_, lanes| *lanes > 1);
    lanes
}

/// The specification of an array with the loops of another one's.
fn imitation(of: &Compiled, by: &Form, base: &DesignSpec, fill: bool) -> Option<DesignSpec> {
    let model = of.stages.as_ref()?;
    let Stages { system, plan, .. } = model;
    let (model, lanes, own) = (Form::compiled(of)?, lanes(model, by, fill), &by.loops);
    let unskewed =
        plan.transform.iter().enumerate().all(|(d, row)| row.iter().enumerate().all(|(k, c)| i64::from(k == d) == *c));
    if !unskewed || !model.loops.keys().eq(own.keys()) {
        return None;
    }
    let name = |d: usize| system.dims[d].name.clone();
    let tile = |d: usize| plan.dims[d].tile.unwrap_or(model.loops[&system.dims[d].name]);
    let is_tiled = |d: &usize| {
        let name = &system.dims[*d].name;
        tile(*d) < own[name] && lanes.get(name).is_none_or(|lanes| *lanes <= tile(*d))
    };
    let latency = (0..plan.dims.len()).filter(|&d| plan.dims[d].latency > 1);
    let cyclic: Vec<String> = (0..plan.dims.len()).filter(|&d| plan.dims[d].cyclic).map(name).collect();
    let shape = Shape {
        order: Some(plan.order.iter().map(|&d| name(d)).collect()),
        tile: (0..plan.dims.len()).filter(is_tiled).map(|d| (name(d), tile(d))).collect(),
        latency: latency.map(|d| (name(d), plan.dims[d].latency.min(own[&name(d)].max(1)))).collect(),
        simd: lanes,
        cyclic: Some(cyclic).filter(|loops| !loops.is_empty()),
        ..Shape::default()
    };
    let axis = |a: usize| plan.dims.iter().position(|d| d.axis == Some(a));
    let space = Some((0..2).filter_map(axis).map(name).collect());
    Some(DesignSpec { array: ArrayChoice::ByHand { space, shape }, ..base.clone() })
}

/// The mapping with a tile of twice as many iterations along a loop; along a loop in space, in twice as many waves.
pub(crate) fn doubled(plan: &Plan, system: &System, d: usize) -> Option<Plan> {
    let mut plan = plan.clone();
    let dim = &mut plan.dims[d];
    let (tile, extent) = (2 * dim.tile?, system.dims[d].extent());
    dim.tile = Some(tile).filter(|tile| *tile < extent);
    if dim.axis.is_some() {
        dim.latency = Some(2 * dim.latency).filter(|_| tile <= extent)?;
    }
    Some(plan)
}

/// The mapping with a tile of half as many iterations along a loop.
fn halved(plan: &Plan, system: &System, d: usize) -> Option<Plan> {
    let mut plan = plan.clone();
    let dim = &mut plan.dims[d];
    let tile = dim.tile.unwrap_or_else(|| system.dims[d].extent());
    let half = (tile + 1) / 2;
    if dim.axis.is_some() {
        dim.latency = Some(dim.latency / 2).filter(|latency| 2 * latency == dim.latency && 2 * half == tile)?;
    }
    dim.tile = Some(half).filter(|half| *half < tile && *half >= dim.simd);
    dim.tile.map(|_| plan)
}

/// The mapping with a whole loop in each tile.
fn untiled(plan: &Plan, d: usize) -> Option<Plan> {
    let mut plan = plan.clone();
    plan.dims[d].tile.take().filter(|_| plan.dims[d].axis.is_none())?;
    Some(plan)
}

/// Gives a function the words of an array of its own, where the user gives none.
pub(crate) fn keep_words(spec: &mut DesignSpec, own: &Compiled) {
    for array in &own.vsa.arrays {
        spec.wiring.word.entry(array.name.clone()).or_insert(array.word);
    }
}

/// The array with other tiles; `None` if it has other PEs or lanes then.
pub(crate) fn retiled(own: &Compiled, plan: Plan, spec: &DesignSpec, board: &Board) -> Option<Compiled> {
    let is_alike = |new: &Compiled| (new.vsa.extent, new.vsa.lanes) == (own.vsa.extent, own.vsa.lanes);
    pipeline::planned(own, plan, spec, board).filter(is_alike)
}

/// The array with other tiles, which take the fewest cycles that are found step by step. Steps end when it takes no more
/// cycles than `enough`.
pub(crate) fn tuned(array: Compiled, enough: i64, spec: &DesignSpec, board: &Board, limits: &Resources) -> Compiled {
    let cycles = |c: &Compiled| c.report.prediction.cycles;
    let mut spec = spec.clone();
    keep_words(&mut spec, &array);
    let mut best = array;
    while cycles(&best) > enough {
        let Some(Stages { system, plan, .. }) = best.stages.as_ref() else { break };
        let step = |d: usize| [doubled(plan, system, d), halved(plan, system, d), untiled(plan, d)];
        let plans: Vec<Plan> = system.loops().flat_map(step).flatten().collect();
        let of = |plan: Plan| retiled(&best, plan, &spec, board);
        let all: Vec<Compiled> = plans.into_par_iter().filter_map(of).collect();
        let fitting = all.into_iter().filter(|new| new.report.resources.fits(limits));
        let new = fitting.min_by_key(|c| (cycles(c), c.report.resources.lut));
        match new.filter(|new| 1000 * cycles(new) < 999 * cycles(&best)) {
            Some(new) => best = new,
            None => break,
        }
    }
    best
}

/// The cycles with which a function's array is as fast as another one's, or hardly slower, in cycles per iteration: a
/// search for a better one is not worth it.
pub(crate) fn as_fast(new: &Compiled, of: &Compiled) -> i64 {
    let iterations = |c: &Compiled| c.report.work.map_or(0, |work| i128::from(work.iterations));
    let most = i128::from(100 + tuning::IMITATED_PERCENT) * i128::from(of.report.prediction.cycles);
    (most * iterations(new) / (100 * iterations(of)).max(1)) as i64
}

/// Arrays of functions: in the order of `order`, a function of the form of an earlier one gets an array like it, if that
/// is about as fast; otherwise `search` finds one. Functions of unlike forms do not wait for each other.
pub(crate) fn in_turn<E: Send>(
    order: &[usize],
    forms: &[Option<Form>],
    like: impl Fn(usize, &Compiled) -> Option<Compiled> + Sync,
    search: impl Fn(usize) -> Result<Compiled, E> + Sync,
) -> Result<Vec<Compiled>, E> {
    let mut groups: Vec<Vec<usize>> = vec![];
    for &f in order {
        let is_like = |group: &&mut Vec<usize>| match (&forms[group[0]], &forms[f]) {
            (Some(first), Some(form)) => first.is_like(form),
            _ => false,
        };
        match groups.iter_mut().find(is_like) {
            Some(group) => group.push(f),
            None => groups.push(vec![f]),
        }
    }
    let arrays_of = |group: usize| {
        let mut models: Vec<Compiled> = vec![];
        let array = |&f: &usize| {
            let is_fast = |new: &Compiled, model| new.report.prediction.cycles <= as_fast(new, model);
            let imitated = models.iter().find_map(|model| like(f, model).filter(|new| is_fast(new, model)));
            let new = imitated.map_or_else(|| search(f).inspect(|found| models.push(found.clone())), Ok)?;
            Ok((f, new))
        };
        groups[group].iter().map(array).collect::<Result<Vec<_>, E>>()
    };
    let all: Result<Vec<_>, E> = threads::each(groups.len(), arrays_of).into_iter().collect();
    Ok(all?.into_iter().flatten().collect::<BTreeMap<_, _>>().into_values().collect())
}
