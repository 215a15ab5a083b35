//! Cycles and resources of one shape, at least, before any PE is assembled.
//!
//! The *coarse walk*: the I/O network of the shape is laid out without PEs ([`crate::sketch`]), and its tiles are
//! walked one by one with whole transfers. That is slower than the closed form ([`super::closed`]) and tighter, and it
//! gives the network's resources. To these come the PEs by small arrays ([`super::pes`]).
//!
//! Invariant: no design of the shape over these words takes fewer cycles or fewer resources. Designs are held against
//! it when they are assembled ([`super::Counts`]: `violations`, `underestimates`).

use super::model::Model;
use super::pes::Pes;
use super::widths::Widths;
use crate::deal;
use crate::sketch::Sketch;
use crate::space::{Grid, Shape, MOST_DIMS};
use array::contract::walk::Walk;
use array::vsa::Vsa;
use cost::board::Resources;
use cost::coarse::{Least, Walked};
use cost::{coarse, resources};
use std::borrow::Cow;

fn sketch<'s>(model: &'s Model, shape: &'s Shape, bytes: &'s [i64]) -> Sketch<'s> {
    let (grid, facts) = (&shape.grid, model.facts_of(&shape.grid));
    Sketch { program: model.program, facts, grid, bytes, spill: model.spill }
}

/// The I/O network behind some ports.
pub(super) fn network_of(model: &Model, shape: &Shape, widths: &Widths, ports: impl Fn(usize) -> bool) -> Option<Vsa> {
    let (grid, facts, bytes) = (&shape.grid, model.facts_of(&shape.grid), widths.bytes());
    let storable = |d: usize| grid.storable(facts, d, shape.inner[d].into(), |port| bytes[port]);
    if !(0..facts.extent.len()).all(storable) {
        return None;
    }
    let vsa = sketch(model, shape, &bytes).network(model.plan(shape), model.interval(shape), ports)?;
    Some(Vsa { address_bits: model.address_bits, uram: model.uram, fabric: model.fabric, ..vsa })
}

fn network(model: &Model, shape: &Shape, widths: &Widths) -> Option<Vsa> {
    network_of(model, shape, widths, |_| true)
}

/// The network with loops dealt out to the PEs, as [`crate::deal`] may decide; `vsa`: the network in blocks. Where PEs
/// take no part of a row, nothing changes.
fn dealt(model: &Model, shape: &Shape, widths: &Widths, vsa: &Vsa) -> Vec<Vsa> {
    let plan = model.plan(shape);
    let dealt =
        |d: &usize| plan.dims[*d].axis.is_some_and(|a| plan.dims[*d].latency > 1 && deal::is_along_rows(vsa, a));
    let loops: Vec<usize> = (0..plan.dims.len()).filter(dealt).collect();
    let bytes = widths.bytes();
    let sets = (1..1usize << loops.len()).map(|set| {
        let mut plan = plan.clone();
        loops.iter().enumerate().for_each(|(k, &d)| plan.dims[d].cyclic = set >> k & 1 == 1);
        plan
    });
    let of = |plan| sketch(model, shape, &bytes).network(plan, model.interval(shape), |_| true);
    let on = |other| Vsa { address_bits: vsa.address_bits, uram: vsa.uram, fabric: vsa.fabric, ..other };
    sets.filter_map(of).map(on).collect()
}

/// They move the same rows of as many words.
fn is_as_long(a: &Vsa, b: &Vsa) -> bool {
    let moved = |vsa: &Vsa| {
        let footprints = vsa.inputs.iter().map(|g| &g.footprint).chain(vsa.outputs.iter().map(|g| &g.footprint));
        footprints.map(|f| (f.total_rows(), f.words)).collect::<Vec<_>>()
    };
    moved(a) == moved(b)
}

/// The walks of a sketch's ports, no longer than those of a finished array, whose rows may end as sizes say.
fn ended<'w>(model: &Model, walks: &'w [[Option<Walk>; 2]]) -> Cow<'w, [[Option<Walk>; 2]]> {
    if !model.program.is_sized() {
        return Cow::Borrowed(walks);
    }
    walks.iter().map(|ways| ways.clone().map(|way| way.map(Walk::ended_by_sizes))).collect()
}

/// Resources of that network.
pub(super) fn network_need(vsa: &Vsa) -> Resources {
    resources::network(vsa, &Walk::all(vsa))
}

/// What the coarse walk of a shape found.
pub(super) struct Coarse {
    pub cycles: i64,
    /// Counted only if the cycles are below the cap.
    pub need: Option<Resources>,
}

/// `None` if the shape is no array over these words.
pub(super) fn coarse(model: &Model, shape: &Shape, widths: &Widths, pes: &Pes, cap: i64) -> Option<Coarse> {
    let vsa = network(model, shape, widths)?;
    let walks = Walk::all(&vsa);
    let facts = model.facts_of(&shape.grid);
    let certain = sketch(model, shape, &widths.bytes()).certain(&vsa, &model.sizes(shape));
    let least = Least { most: &facts.most, cross: shape.grid.cross(facts, &shape.inner), certain: &certain };
    let Walked { mut cycles, tiles } = coarse::walk(&vsa, &ended(model, &walks), &least, cap);
    model.assembler.count_tiles(tiles);
    let dealt = dealt(model, shape, widths, &vsa);
    for other in dealt.iter().filter(|other| !is_as_long(&vsa, other)) {
        let shorter = coarse::walk(other, &ended(model, &Walk::all(other)), &least, cap);
        model.assembler.count_tiles(shorter.tiles);
        cycles = cycles.min(shorter.cycles);
    }
    let network = || dealt.iter().map(network_need).fold(resources::network(&vsa, &walks), Resources::least);
    let need = || pes.of_shape(model, shape) + network();
    Some(Coarse { cycles, need: (cycles < cap).then(need) })
}

/// Resources of a shape.
pub(super) fn need(model: &Model, shape: &Shape, widths: &Widths, pes: &Pes) -> Option<Resources> {
    Some(pes.of_shape(model, shape) + smallest_network(model, shape, widths)?)
}

/// Resources of the network of a shape, at least.
fn smallest_network(model: &Model, shape: &Shape, widths: &Widths) -> Option<Resources> {
    let vsa = network(model, shape, widths)?;
    let dealt = dealt(model, shape, widths, &vsa);
    Some(dealt.iter().map(network_need).fold(network_need(&vsa), Resources::least))
}

/// The network of a grid: over the narrowest words, with the smallest or the largest tiles.
pub(super) fn narrowest_network(model: &Model, grid: &Grid) -> Resources {
    let (ports, options) = (model.ports_of(grid), model.options(grid));
    let corner = |largest: bool| {
        let mut inner = [1; MOST_DIMS];
        for (size, options) in inner.iter_mut().zip(&options) {
            let sizes = options.iter().map(|o| o.inner);
            *size = if largest { sizes.max() } else { sizes.min() }.unwrap_or(1);
        }
        let shape = Shape { grid: *grid, inner, order: 0 };
        [ports.narrowest(), ports.widest()].iter().find_map(|widths| smallest_network(model, &shape, widths))
    };
    match (corner(false), corner(true)) {
        (Some(a), Some(b)) => a.least(b),
        _ => Resources::default(),
    }
}
