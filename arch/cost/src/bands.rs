//! What the bands of an array take, and what the registers between them take.

use crate::network;
use crate::{control, engines, pes, stations};
use array::contract::bands::Bands;
use array::contract::walk::Walk;
use array::resources::Resources;
use array::vsa::Vsa;

/// Resources that are spread evenly over some PEs of an axis, given by hops from where waves enter.
struct Spread {
    cost: Resources,
    first: i64,
    extent: i64,
}

impl Spread {
    /// What those of the PEs take that are less than so many hops away.
    fn before(&self, hops: i64) -> Resources {
        let part = (hops - self.first).clamp(0, self.extent);
        self.cost.map(|_, all| all * part / self.extent.max(1))
    }
}

/// What an array takes along an axis: the sum up to each PE, by hops from where waves enter. Engines and control are
/// beside the first one.
pub fn along(vsa: &Vsa, axis: usize) -> Vec<Resources> {
    let extent = vsa.extent[axis];
    let pes = pes::pes(vsa);
    let walks = Walk::all(vsa);
    let engines = walks.iter().enumerate().map(|(port, walks)| engines::engines(vsa, port, walks)).sum::<Resources>();
    let beside =
        engines + control::control(vsa) + control::launched(vsa, pes.fields) + network::entries(vsa) + pes.entry;
    let mut all = vec![
        Spread { cost: pes.cost + network::crossings(vsa), first: 0, extent },
        Spread { cost: beside, first: 0, extent: 1 },
    ];
    for (g, group) in vsa.inputs.iter().enumerate() {
        let cost = network::feeders(vsa, g);
        all.push(Spread { cost, first: group.away(vsa)[axis], extent: group.feeders()[axis] });
    }
    for (o, group) in vsa.outputs.iter().enumerate() {
        let cost = network::collectors(vsa, o);
        all.push(Spread { cost, first: group.away(vsa)[axis], extent: group.extent()[axis] });
    }
    for port in 0..vsa.ports() {
        // The relays of a port are mostly those of one group.
        let Some(group) = vsa.outputs.iter().find(|group| vsa.port_of(group.array) == port) else { continue };
        let cost = network::relays(vsa, port);
        all.push(Spread { cost, first: group.away(vsa)[axis], extent: group.extent()[axis] });
    }
    (0..=extent).map(|hops| all.iter().map(|s| s.before(hops)).sum()).collect()
}

/// What each band takes, with what leads to memories on its die and through it.
pub fn bands(vsa: &Vsa) -> Vec<Resources> {
    let Ok(bands) = Bands::of(vsa) else { return vec![] };
    let along = along(vsa, bands.axis);
    let one = |b: usize| {
        let span = bands.span(b);
        along[span.end as usize].zip(&along[span.start as usize], |_, all, before| all - before)
    };
    let mut all: Vec<Resources> = (0..bands.count()).map(one).collect();
    for (port, dies) in vsa.away.iter().enumerate() {
        let walks = [Walk::reads(vsa, port), Walk::writes(vsa, port)];
        for (place, station) in stations::stations(vsa, port, &walks).into_iter().enumerate() {
            // Below the first band there are none.
            let band = if *dies > 0 || place == 0 { all.get_mut(place) } else { None };
            band.into_iter().for_each(|band| *band += station);
        }
    }
    all
}
