//! The cost of the DMA engines (`templates::axi`): reader and writer of each port.
//!
//! Data paths are counted from widths. The constants of the address side are fitted to synthesis of small engines,
//! within a few dozen LUTs.

use array::contract::memory::in_luts;
use array::contract::program;
use array::contract::timing::drain_latency;
use array::contract::walk::{words_in_flight, Wait, WaitUntil, Walk, ROWS_IN_FLIGHT};
use array::resources::{bits_of, memory, Device, Resources};
use array::vsa::{DramArray, Vsa};
use uniform::counters::Span;
use uniform::fabric::Fabric;

/// Reader and writer of a port that walk like this.
pub(super) fn engines(vsa: &Vsa, port: usize, [reads, writes]: &[Option<Walk>; 2]) -> Resources {
    let inside = vsa.on_chip(port);
    let memory = inside.map_or(Resources::default(), |array| on_chip(array, vsa.device()));
    // Bursts to a memory inside the IP meet few borders, and nobody answers with errors.
    let [shorter_reads, shorter_writes] = if inside.is_some() { [60, 105] } else { [0; 2] };
    // A sketch does not say which drains the loads wait for.
    let awaited = |walk| if vsa.nodes.is_empty() { Resources::default() } else { waits(walk) };
    let reads = reads.as_ref().map(|walk| {
        reader(walk, vsa.ahead, vsa.fabric) + awaited(walk) + sized(vsa, walk) - Resources::logic(shorter_reads, 0)
    });
    let writes = writes.as_ref().map(|walk| {
        writer(walk, drain_latency(vsa, port), vsa.fabric) + sized(vsa, walk) - Resources::logic(shorter_writes, 0)
    });
    memory + reads.unwrap_or_default() + writes.unwrap_or_default()
}

/// Registers of an engine for the numbers that follow from sizes.
fn sized(vsa: &Vsa, walk: &Walk) -> Resources {
    if vsa.parameters() == 0 && !vsa.loops().has_cases() {
        return Resources::default();
    }
    let bits: i64 = program::of_walk(vsa, walk).iter().map(|r| i64::from(r.bits)).sum();
    Resources::logic(bits / 2, bits)
}

/// A memory inside the IP with a write enable per element: a block RAM has nine bits for each enable.
fn on_chip(array: &DramArray, device: Device) -> Resources {
    let (bits, elements) = (8 * i64::from(array.bus_bytes()), i64::from(array.word));
    let words = array.words().max(2);
    let rest = Resources::logic(105, 2 * bits + elements + 70);
    if in_luts(words) {
        return memory(words, bits / elements, device.fabric) * elements + Resources::ff(bits) + rest;
    }
    memory(words, bits / 8 * 9, device) + rest
}

/// Bits of each of an array's program registers.
pub(super) fn program(vsa: &Vsa) -> Vec<i64> {
    if vsa.parameters() == 0 {
        vec![]
    } else {
        program::of(vsa).iter().map(|r| i64::from(r.bits)).collect()
    }
}

/// The drains that loads wait for. Each wait counts the drains that are written and not yet waited for. Waits for phases
/// that are alike are one: a register of the drains of the phase that ends, and a count for the generator and the service.
fn waits(walk: &Walk) -> Resources {
    let mut phases: Vec<&Wait> = vec![];
    let mut total = Resources::default();
    for wait in walk.groups.iter().flat_map(|g| &g.waits) {
        let bits = i64::from(wait.until.drain_bits(walk)) + 1;
        total += match wait.until {
            WaitUntil::Lag(_) => Resources::logic(bits, bits),
            _ if phases.contains(&wait) => Resources::default(),
            WaitUntil::Phase { most, .. } => {
                phases.push(wait);
                Resources::logic(2 * bits_of(most + 1) + 3 * bits, bits_of(most + 1) + 2 * bits)
            }
        };
    }
    total
}

/// The counters that tell the phase class, one step ahead, and the groups that are served in it.
fn cases(walk: &Walk) -> Resources {
    let trips = || walk.trips[walk.parameters..].iter().copied();
    let compared = |(k, spans): (usize, &Vec<Span>)| {
        spans_compared(spans.iter().enumerate().map(|(j, s)| ((s.low, s.high), walk.trip_in(k, j))))
    };
    let all: i64 = walk.cases.iter().enumerate().map(compared).sum();
    let served: i64 =
        walk.groups.iter().filter_map(|g| g.when.cases.as_ref()).map(|some| some.len() as i64 / 5 + 1).sum();
    let counted = if walk.cases.is_empty() { 0 } else { walk.phases - walk.parameters };
    let ahead: i64 = trips().take(counted).map(|t| bits_of(t) + 1).sum();
    // Of a merged array, a table tells the case.
    let all = if walk.merged().is_some() { coded(walk.cases.len()) } else { all };
    Resources::logic(all + served, ahead + walk.groups.iter().filter(|g| g.when.cases.is_some()).count() as i64)
}

/// The number of the case, in a merged array: what the function tells at the start, and a table over counters.
pub(super) fn coded(cases: usize) -> i64 {
    if cases == 0 {
        0
    } else {
        5 * bits_of(cases as i64)
    }
}

/// The part of the bits of a merged array's tables by function that take a LUT, in quarters. Tables over few functions
/// are part of the logic behind them.
fn tabled(walk: &Walk) -> i64 {
    match walk.merged() {
        None | Some(0..=2) => 0,
        Some(3..=4) => 1,
        Some(5..=8) => 2,
        Some(_) => 4,
    }
}

/// Steps of a merged array's accumulators, of so many bits together: tables by function, and the choice among the counters
/// that may count.
fn steps(walk: &Walk, bits: i64) -> Resources {
    if walk.merged().is_none() {
        return Resources::default();
    }
    let counters = (walk.trips.len() - walk.parameters) as i64;
    let (tables, choice) = (bits * counters * tabled(walk) / 4, bits * (counters.min(3) / 2));
    Resources::logic((tables + choice) / 2, bits * counters / 2)
}

/// Rows of a merged array's services: how many, how long and how far apart they are, in tables by function.
fn rows(walk: &Walk) -> Resources {
    let between = i64::from(walk.offset_bits()) * walk.groups[0].rows.len() as i64;
    let bits = row_bits(walk) + between + i64::from(walk.end_bits());
    Resources::logic(bits * tabled(walk) / 4, bits * i64::from(walk.merged().is_some()))
}

/// Comparisons of counters with the constant ends of their ranges: one LUT compares up to six bits.
pub(super) fn spans_compared(spans: impl Iterator<Item = ((i64, i64), i64)>) -> i64 {
    let compared = |((low, high), trip): ((i64, i64), i64)| {
        let sides = if low == high { 1 } else { i64::from(low > 0) + i64::from(high + 1 < trip) };
        match bits_of(trip) {
            0..=6 => sides.min(1),
            bits => sides * ((bits + 5) / 6),
        }
    };
    spans.map(compared).sum()
}

/// Services, rows, bursts.
fn address(walk: &Walk) -> Resources {
    // Those of different functions are never served in one run.
    let groups = walk.turns().len() as i64;
    let bus = i64::from(walk.bus_bytes().trailing_zeros());
    let stages = walk.trim_stages as i64;
    let address = i64::from(walk.address_bits);
    // Accumulators hold offsets in the array.
    let offset = i64::from(walk.offset_bits()).min(address);
    let some = |yes: bool| i64::from(yes);
    let several = walk.groups.iter().any(|g| g.total_rows() > 1);
    let (ends, gate) = (i64::from(walk.end_bits()), i64::from(walk.gate_bits()));
    let most =
        |f: &dyn Fn(&array::contract::walk::WalkGroup) -> usize| walk.groups.iter().map(f).max().unwrap_or(0) as i64;
    // Bits of all gates and ends.
    let forms = most(&|g| g.gates.len()) * gate + (most(&|g| g.lowers.len()) + most(&|g| g.uppers.len())) * ends;
    let lowers = walk.groups.iter().any(|g| !g.lowers.is_empty());
    let tiles = !walk.trips.is_empty();
    let moving = some(several) + groups * some(tiles);
    Resources {
        // The burst on the channel, and one more.
        lut: 125 + offset * (moving + groups - 1 + some(lowers)) + (address - bus + 8) + forms * (1 + moving),
        ff: offset * (groups + 3 + stages) + 3 * (address - bus) + 50 + forms * (groups + 2) + 2 * ends * stages,
        ..Resources::default()
    } + cases(walk)
        + steps(walk, groups * (offset + forms))
        + rows(walk)
        + lengths(walk)
}

/// The lengths that the host gives, and the comparison of a row's end with one of them.
fn lengths(walk: &Walk) -> Resources {
    let (arrays, bits) = (walk.lengths().len() as i64, i64::from(walk.offset_bits()));
    if arrays == 0 {
        return Resources::default();
    }
    Resources::logic(bits / 2 + 8 + bits * (arrays - 1), arrays * (bits + 1))
}

/// Addresses and count of the open bursts, at most `open`: `templates::axi::bursts`.
fn bursts(walk: &Walk, open: i64, fabric: Fabric) -> Resources {
    let address = i64::from(walk.address_bits - walk.bus_bytes().trailing_zeros());
    memory(open, address, fabric) + Resources::logic(32, address + 30)
}

/// Bits of a row's descriptor.
fn row_bits(walk: &Walk) -> i64 {
    let lanes = i64::from(walk.word.trailing_zeros());
    let words = walk.groups.iter().map(|g| g.words).max().unwrap_or(1);
    let most = |f: &dyn Fn(&array::contract::walk::WalkGroup) -> i64| walk.groups.iter().map(f).max().unwrap_or(1);
    let digits: i64 = (0..walk.groups[0].rows.len())
        .map(|d| bits_of(most(&|g| g.rows[d].extent)) + bits_of(most(&|g| g.rows[d].modulus)))
        .sum();
    4 + walk.turns().len() as i64 + 3 * bits_of(words + 1) + lanes + digits
}

/// `ahead`: beats and rows between the address side and the data side.
fn reader(walk: &Walk, ahead: i64, fabric: Fabric) -> Resources {
    let bits = 8 * i64::from(walk.bus_bytes());
    let turns = walk.rotate_stages() as i64;
    let join = i64::from(walk.rotates());
    let row = row_bits(walk);
    let asked = memory(ahead, bits, fabric)
        + memory(ahead, row, fabric)
        + Resources::logic(50, 2 * row + 1 + 8 * bits_of(ahead));
    address(walk)
        + bursts(walk, ahead, fabric)
        + asked
        + Resources::logic(bits * (turns + join), bits * (turns + 2 + join))
}

fn writer(walk: &Walk, latency: i64, fabric: Fabric) -> Resources {
    let bits = 8 * i64::from(walk.bus_bytes());
    let (turns, word) = (walk.rotate_stages() as i64, i64::from(walk.word));
    let join = i64::from(walk.rotates());
    // Counters of bursts and drains, requests, strobes, and the logic that ends open bursts at a reset.
    let rest = Resources::logic(245 + 3 * word, 205 + i64::from(walk.bus_bytes()));
    // The beat on the channel, and one more.
    let channel = Resources::logic(bits + bits / 8, bits + bits / 8);
    let data = channel + Resources::logic(bits * (turns + join), bits * (turns + 1 + join));
    address(walk)
        + bursts(walk, ROWS_IN_FLIGHT as i64, fabric)
        + data
        + rest
        + memory(words_in_flight(walk, latency) as i64, bits, fabric)
        + spread(walk, latency)
}

/// Rows with steps: a word is held while its parts are spread over bus words, with strobes for the written elements.
fn spread(walk: &Walk, latency: i64) -> Resources {
    if !walk.has_steps() {
        return Resources::default();
    }
    let (bits, word) = (8 * i64::from(walk.bus_bytes()), i64::from(walk.word));
    let sources: i64 = (0..i64::from(walk.word))
        .map(|lane| {
            let mut from: Vec<i64> = walk
                .groups
                .iter()
                .flat_map(|g| (0..g.step).filter_map(move |part| g.source(part * word + lane)))
                .collect();
            from.sort_unstable();
            from.dedup();
            (from.len() as i64 + 1) / 3
        })
        .sum();
    Resources::logic(bits + sources * bits / word + 2 * word + 24, bits + latency / 32 + 24)
}
