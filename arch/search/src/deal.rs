//! Which loops deal their iterations out to the PEs, one to each, instead of a block to each ([`DimPlan::cyclic`]).
//!
//! Where a loop runs along the rows of an array in memory, a bus word then has an element for each of several PEs. So a
//! buffer keeps an element of each word, which is wiring, instead of whole words from which it chooses by a multiplexer.
//! An array in blocks and the same array dealt out start the same waves; which is smaller depends on the words, on
//! windows that overlap, and on the boxes that are read and stored. So both are assembled and counted.
//!
//! A loop along which values pass from iteration to iteration is left in blocks, in which they stay in a PE.

use array::kernel::Kernel;
use array::resources::Resources;
use array::variants;
use array::vsa::Vsa;
use cost::{memory, resources, Allowed};
use uniform::affine::Form;
use uniform::design::DesignSpec;
use uniform::mapping::{DimPlan, Plan};
use uniform::system::{Feed, System};

/// What LUTs, flip-flops, DSP slices, block RAMs and UltraRAMs weigh, in halves of a LUT: about as there are of them.
const WEIGHTS: [i64; 5] = [2, 1, 250, 1200, 2400];

fn weight(need: &Resources) -> i64 {
    need.counts().iter().zip(WEIGHTS).map(|(n, weight)| n * weight).sum()
}

/// The plan with other loops dealt out, its array and its cycles, if that takes less and no cycle more. The work is that
/// of the walks, in rows; `allowed`: at most so much.
pub fn dealt(
    kernel: &Kernel,
    (plan, vsa): (&Plan, &Vsa),
    spec: &DesignSpec,
    allowed: u64,
) -> (Option<(Plan, Vsa, i64)>, u64) {
    let mut walked = 0;
    let mut cycles = |vsa: &Vsa| {
        let (end, work) = memory::run_below(vsa, spec, Allowed { cycles: i64::MAX, work: allowed });
        walked += work;
        end.run().map(|run| run.prediction.cycles)
    };
    let (mut most, mut taken) = (None, 0);
    let found = smaller(
        kernel,
        (plan, vsa),
        |plan| variants::assemble(kernel, plan, spec).ok(),
        |other| {
            if most.is_none() {
                most = cycles(vsa);
            }
            let accepted = most.zip(cycles(other)).filter(|(most, cycles)| cycles <= most);
            taken = accepted.map_or(taken, |(_, cycles)| cycles);
            accepted.is_some()
        },
    );
    (found.map(|(plan, vsa)| (plan, vsa, taken)), walked)
}

/// The same without cycles; `accepts` has the last word on an array that takes less.
pub fn smaller(
    kernel: &Kernel,
    (plan, vsa): (&Plan, &Vsa),
    assemble: impl Fn(Plan) -> Option<Vsa>,
    mut accepts: impl FnMut(&Vsa) -> bool,
) -> Option<(Plan, Vsa)> {
    let mut best: Option<(Plan, Vsa)> = None;
    let mut least = None;
    for d in 0..plan.dims.len() {
        if !may_deal(kernel, plan, vsa, d) {
            continue;
        }
        let mut other = best.as_ref().map_or_else(|| plan.clone(), |best| best.0.clone());
        other.dims[d].cyclic = true;
        let Some(array) = assemble(other.clone()) else { continue };
        let most = *least.get_or_insert_with(|| weight(&resources::estimate(vsa)));
        let needs = weight(&resources::estimate(&array));
        if needs < most && array.waves() == vsa.waves() && array.verify().is_ok() && accepts(&array) {
            (least, best) = (Some(needs), Some((other, array)));
        }
    }
    best
}

/// PEs along the axis take parts of the rows of some array.
pub fn is_along_rows(vsa: &Vsa, axis: usize) -> bool {
    let last = |forms: &[Form]| forms.last().is_some_and(|form| form.space[axis] != 0);
    vsa.inputs.iter().any(|g| last(&g.subscripts)) || vsa.outputs.iter().any(|g| last(&g.subscripts))
}

/// Coordinate `d` of the plan may be dealt out, and runs along the rows of some array.
fn may_deal(kernel: &Kernel, plan: &Plan, vsa: &Vsa, d: usize) -> bool {
    let DimPlan { axis: Some(axis), latency: 2.., cyclic: false, tile, .. } = plan.dims[d] else { return false };
    let row = &plan.transform[d];
    let own = row.iter().enumerate().all(|(e, &c)| c == i64::from(d == e));
    let dim = &kernel.system.dims[d];
    // Where sizes end a loop, it is that of tiles.
    let tiled = !kernel.is_sized() || own && tile.is_some_and(|tile| tile <= dim.hi - dim.lo);
    vsa.extent[axis] > 1 && is_along_rows(vsa, axis) && tiled && is_parallel(&kernel.system, row)
}

/// No value passes from one iteration of this coordinate to another.
fn is_parallel(system: &System, row: &[i64]) -> bool {
    let along = |distance: &[i64]| row.iter().zip(distance).map(|(c, e)| c * e).sum::<i64>() == 0;
    let stays = |feed: &Feed| match feed {
        Feed::Input { .. } => true,
        Feed::Value { distance, .. } | Feed::Carry { distance, .. } => along(distance),
        Feed::Partial { distance } => {
            let constants: Vec<i64> = distance.iter().map(|e| e.constant).collect();
            along(&constants) && row.iter().zip(distance).all(|(c, e)| *c == 0 || e.is_constant())
        }
    };
    system.statements.iter().flat_map(|s| &s.variables).flat_map(|v| &v.pieces).all(|piece| stays(&piece.feed))
}
