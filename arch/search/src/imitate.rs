//! The array of one function for another one of the same form.
//!
//! **Problem.** Functions that are merged, such as the layers of a network, share I/O groups and sums if their arrays are
//! alike: the same loops in space, the same tiles. Each function's own best array has other tiles.
//!
//! **Method.** What was chosen for one function becomes the options of the other one: loops in space, their order, lanes,
//! and tiles, those of loops that are not tiled included. A tile that is larger than the other's loop is that loop.
//!
//! ```text
//! of 512 channels, 14 × 14 pixels      i in tiles of 128, r of 2, c whole
//! for 256 channels, 28 × 28 pixels     i in tiles of 128, r of 2, c of 14
//! ```

use crate::compiled::{Compiled, Stages};
use std::collections::BTreeMap;
use uniform::design::{ArrayChoice, DesignSpec, Shape};
use uniform::mapping::DimPlan;
use uniform::system::{Dim, System};

/// A system without phases, strips and sizes, of which every loop has a name.
fn loops(system: &System) -> Option<BTreeMap<&str, i64>> {
    let plain = system.loops() == (0..system.dims.len());
    let extent = |d: &Dim| d.hi.saturating_sub(d.lo).saturating_add(1);
    plain.then(|| system.dims.iter().map(|d| (d.name.as_str(), extent(d))).collect())
}

/// The specification with which a function gets an array like another one's; `None` if its loops are others.
pub fn imitation(of: &Compiled, by: &Compiled, base: &DesignSpec) -> Option<DesignSpec> {
    let Stages { system, plan, .. } = of.stages.as_ref()?;
    let (model, own) = (loops(system)?, loops(&by.stages.as_ref()?.system)?);
    let unskewed =
        plan.transform.iter().enumerate().all(|(d, row)| row.iter().enumerate().all(|(k, c)| i64::from(k == d) == *c));
    let same_arrays = of.vsa.arrays.iter().map(|a| a.ty).eq(by.vsa.arrays.iter().map(|a| a.ty));
    if !unskewed || !same_arrays || !model.keys().eq(own.keys()) {
        return None;
    }
    let name = |d: usize| system.dims[d].name.clone();
    let factors = |of: &dyn Fn(&DimPlan) -> Option<i64>| {
        plan.dims.iter().enumerate().filter_map(|(d, p)| Some((name(d), of(p)?))).collect::<BTreeMap<_, _>>()
    };
    let tile = |d: usize| plan.dims[d].tile.unwrap_or(model[system.dims[d].name.as_str()]);
    let cyclic: Vec<String> = (0..plan.dims.len()).filter(|&d| plan.dims[d].cyclic).map(name).collect();
    let shape = Shape {
        order: Some(plan.order.iter().map(|&d| name(d)).collect()),
        tile: (0..plan.dims.len())
            .filter(|&d| tile(d) < own[system.dims[d].name.as_str()])
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
    for (model, own) in of.vsa.arrays.iter().zip(&by.vsa.arrays) {
        spec.wiring.word.entry(own.name.clone()).or_insert(model.word);
    }
    Some(spec)
}
