//! The width of a port's bus, if the user asks for none.
//!
//! The narrowest bus that keeps the array busy: transfers between tiles hide under the waves, and the first load and
//! the last drain, which nothing hides, are short against the run. Example: 1,200 waves per tile and a load of 2,000
//! elements of 4 bytes need 8-byte words, so that the load takes 1,000 cycles.

use crate::draft::Lowered;
use crate::io::{collect, footprint, port};
use scop::Scop;
use uniform::mapping::Mapping;

/// Counters and how often they count in a usual run: a quarter of what the greatest sizes ask for.
fn usual(mapping: &Mapping) -> impl Iterator<Item = (usize, i64)> + '_ {
    let trip = |j: usize| {
        if mapping.counters[j].limit().is_some() {
            (mapping.counters[j].trip + 3) / 4
        } else {
            mapping.counters[j].trip
        }
    };
    (mapping.parameters()..mapping.counters.len()).map(move |j| (j, trip(j)))
}

/// Bytes per word of the narrowest bus over which the port of `members` keeps the array busy: transfers hidden under
/// the waves (of `interval` cycles), and the first load and the last drain, which nothing hides, short against the run.
/// `widest`: bytes of the widest bus that the memory can use; only cells of several lanes in one word ask for more.
pub fn choose(scop: &Scop, lowered: &Lowered, members: &[usize], interval: i64, mapping: &Mapping, widest: u32) -> u32 {
    let waves = usual(mapping).map(|(_, trip)| trip).product::<i64>() * interval;
    let bytes = |array: usize| scop.arrays[array].ty.bytes();
    let narrowest = members.iter().map(|&a| bytes(a)).max().unwrap_or(4).max(4);
    // Cells of several lanes may have to fall into one word.
    let drafts = || lowered.outputs.iter().filter(|d| members.contains(&d.array));
    let stores = |bus: &u32| {
        drafts().all(|d| collect::output(d, 0, bus / bytes(d.array), &scop.arrays[d.array].dims, mapping).is_ok())
    };
    let widths = std::iter::successors(Some(narrowest), |bus| Some(bus * 2))
        .take_while(|&bus| bus <= port::WIDEST.max(narrowest));
    let mut bus = widths.into_iter().find(stores).unwrap_or(narrowest);
    let repeated = |served: &dyn Fn(usize) -> bool| {
        usual(mapping).filter(|&(j, _)| served(j)).map(|(_, trip)| trip).product::<i64>()
    };
    // Cycles of one transfer, and how many there are.
    let transfer = |footprint: &crate::vsa::Footprint, words: i64| {
        let words = footprint.total_rows() * words;
        words + footprint.total_rows().min(words) / 4
    };
    while bus < widest {
        let loads = lowered.inputs.iter().filter(|d| members.contains(&d.array)).map(|d| {
            let group = footprint::input(d, 0, bus / bytes(d.array), 0, mapping);
            (transfer(&group.footprint, group.footprint.words), repeated(&|j| j < group.reload))
        });
        let drains = drafts().filter_map(|d| {
            let (word, dims) = (bus / bytes(d.array), &scop.arrays[d.array].dims);
            let group = collect::output(d, 0, word, dims, mapping).ok()?;
            let beats = group.footprint.beats(group.footprint.step(dims), i64::from(word));
            let times = repeated(&|j| group.emit.at.get(j) == Some(&None));
            Some((transfer(&group.footprint, beats), times))
        });
        let (loads, drains): (Vec<_>, Vec<_>) = (loads.collect(), drains.collect());
        let enough = |side: &[(i64, i64)]| {
            let hidden: i64 = side.iter().map(|(cycles, times)| cycles * (times - 1)).sum();
            let exposed: i64 = side.iter().map(|(cycles, _)| cycles).sum();
            hidden <= waves * 9 / 10 && exposed <= (waves / 400).max(32)
        };
        if enough(&loads) && enough(&drains) {
            break;
        }
        bus *= 2;
    }
    bus
}
