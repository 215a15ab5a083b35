//! The array of one function for another one of the same form.
//!
//! **Problem.** Functions that are merged, such as the layers of a network, share I/O groups and sums if their arrays are
//! alike: the same loops in space, the same tiles. Each function's own best array has other tiles, and is searched anew.
//!
//! **Method.** What was chosen for one function becomes the options of the other one: loops in space, their order, lanes,
//! and tiles, those of loops that are not tiled included. A tile that is larger than the other's loop is that loop.
//!
//! ```text
//! of 512 channels, 14 × 14 pixels      i in tiles of 128, r of 2, c whole
//! for 256 channels, 28 × 28 pixels     i in tiles of 128, r of 2, c of 14
//! ```

use crate::compiled::{Compiled, Stages};
use crate::tuning;
use array::kernel::Kernel;
use scop::{Array, ScalarType, Scop, Storage};
use std::collections::BTreeMap;
use uniform::design::{ArrayChoice, DesignSpec, Shape};
use uniform::mapping::DimPlan;
use uniform::system::{Dim, System};

/// What two functions of one form have in common, and in what they differ.
pub struct Form {
    /// The extents of the loops, by name.
    loops: BTreeMap<String, i64>,
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
        let extent = |d: &Dim| d.hi.saturating_sub(d.lo).saturating_add(1);
        let stored = |a: &&Array| a.storage == Storage::Dram;
        plain.then(|| Form {
            loops: system.dims.iter().map(|d| (d.name.clone(), extent(d))).collect(),
            arrays: scop.arrays.iter().filter(stored).map(|a| (a.name.clone(), a.ty)).collect(),
        })
    }
}

/// The specification with which a function of this form gets an array like another one's; `None` if its loops are others.
pub(crate) fn imitation(of: &Compiled, by: &Form, base: &DesignSpec) -> Option<DesignSpec> {
    let Stages { system, plan, .. } = of.stages.as_ref()?;
    let (model, own) = (Form::compiled(of)?, &by.loops);
    let unskewed =
        plan.transform.iter().enumerate().all(|(d, row)| row.iter().enumerate().all(|(k, c)| i64::from(k == d) == *c));
    let same_arrays = model.arrays.iter().map(|a| a.1).eq(by.arrays.iter().map(|a| a.1));
    if !unskewed || !same_arrays || !model.loops.keys().eq(own.keys()) {
        return None;
    }
    let name = |d: usize| system.dims[d].name.clone();
    let factors = |of: &dyn Fn(&DimPlan) -> Option<i64>| {
        plan.dims.iter().enumerate().filter_map(|(d, p)| Some((name(d), of(p)?))).collect::<BTreeMap<_, _>>()
    };
    let tile = |d: usize| plan.dims[d].tile.unwrap_or(model.loops[&system.dims[d].name]);
    let cyclic: Vec<String> = (0..plan.dims.len()).filter(|&d| plan.dims[d].cyclic).map(name).collect();
    let shape = Shape {
        order: Some(plan.order.iter().map(|&d| name(d)).collect()),
        tile: (0..plan.dims.len())
            .filter(|&d| tile(d) < own[&system.dims[d].name])
            .map(|d| (name(d), tile(d)))
            .collect(),
        latency: factors(&|p| (p.latency > 1).then_some(p.latency)),
        simd: factors(&|p| (p.simd > 1).then_some(p.simd)),
        cyclic: Some(cyclic).filter(|loops| !loops.is_empty()),
        ..Shape::default()
    };
    let axis = |a: usize| plan.dims.iter().position(|d| d.axis == Some(a));
    let space = Some((0..2).filter_map(axis).map(name).collect());
    let mut spec = DesignSpec { array: ArrayChoice::ByHand { space, shape }, ..base.clone() };
    for ((model, _), (own, _)) in model.arrays.iter().zip(&by.arrays) {
        if let Some(array) = of.vsa.arrays.iter().find(|a| a.name == *model) {
            spec.wiring.word.entry(own.clone()).or_insert(array.word);
        }
    }
    Some(spec)
}

/// An array like another one takes no more cycles per iteration, or hardly more: a search for a better one is not worth it.
pub(crate) fn is_as_fast(like: &Compiled, of: &Compiled) -> bool {
    let each = |c: &Compiled| {
        let iterations = c.report.work.map_or(0, |work| work.iterations);
        (i128::from(c.report.prediction.cycles), i128::from(iterations))
    };
    let ((cycles, iterations), (most, all)) = (each(like), each(of));
    100 * cycles * all <= (100 + i128::from(tuning::IMITATED_PERCENT)) * most * iterations
}

/// Arrays of functions, in the order of `order`: a function of the form of an earlier one gets an array like it, if that
/// is about as fast; otherwise `search` finds one.
pub(crate) fn in_turn<E>(
    order: &[usize],
    like: impl Fn(usize, &Compiled) -> Option<Compiled>,
    mut search: impl FnMut(usize) -> Result<Compiled, E>,
) -> Result<Vec<Compiled>, E> {
    let mut all: BTreeMap<usize, Compiled> = BTreeMap::new();
    let mut models: Vec<usize> = vec![];
    for &f in order {
        let imitated = models.iter().find_map(|m| like(f, &all[m]).filter(|new| is_as_fast(new, &all[m])));
        let one = match imitated {
            Some(new) => new,
            None => {
                models.push(f);
                search(f)?
            }
        };
        all.insert(f, one);
    }
    Ok(all.into_values().collect())
}
