//! What the AXI engines take: `templates::axi`.
//!
//! Data paths are counted; the constants of the address side are those of its registers and fit small engines within a
//! few dozen LUTs.

use crate::blocks::{bits_of, memory, Cost};
use array::contract::delay::in_luts;
use array::contract::program;
use array::contract::timing::drain_latency;
use array::contract::walk::{words_in_flight, Wait, WaitUntil, Walk, ROWS_IN_FLIGHT};
use array::vsa::{DramArray, Vsa};

/// Reader and writer of a port, which walk like this.
pub(super) fn engines(vsa: &Vsa, port: usize, [reads, writes]: &[Option<Walk>; 2]) -> Cost {
    let memory = vsa.on_chip(port).map_or(Cost::default(), |array| on_chip(array, vsa.uram));
    // Of a sketch: which drains loads wait for is not certain.
    let told = |walk| if vsa.nodes.is_empty() { Cost::default() } else { waits(walk) };
    let reader =
        memory + reads.as_ref().map_or(Cost::default(), |walk| reader(walk, vsa.ahead) + told(walk) + kept(vsa, walk));
    reader + writes.as_ref().map_or(Cost::default(), |walk| writer(walk, drain_latency(vsa, port)) + kept(vsa, walk))
}

/// What an engine keeps during a run of the numbers that follow from sizes.
fn kept(vsa: &Vsa, walk: &Walk) -> Cost {
    if vsa.parameters() == 0 && !vsa.loops().has_cases() {
        return Cost::default();
    }
    let bits: i64 = program::of_walk(vsa, walk).iter().map(|r| i64::from(r.bits)).sum();
    Cost { lut: bits / 2, ff: bits, ..Cost::default() }
}

/// A memory of the IP's own, whose elements are written by themselves: a block RAM has nine bits for each enable.
fn on_chip(array: &DramArray, ultra: bool) -> Cost {
    let (bits, elements) = (8 * i64::from(array.bus_bytes()), i64::from(array.word));
    let words = array.words().max(2);
    let rest = Cost { lut: 80, ff: 2 * bits + elements + 70, ..Cost::default() };
    if in_luts(words) {
        return memory(words, bits / elements, false) * elements + Cost::ff(bits) + rest;
    }
    memory(words, bits / 8 * 9, ultra) + rest
}

/// Bits of each of an array's program registers.
pub(super) fn program(vsa: &Vsa) -> Vec<i64> {
    if vsa.parameters() == 0 {
        vec![]
    } else {
        program::of(vsa).iter().map(|r| i64::from(r.bits)).collect()
    }
}

/// Bits in which an engine counts the drains that a load waits for.
const DRAINS: i64 = 40;

/// The drains that loads wait for: for each wait a count of those written, less those that loads so far have waited
/// for; where phases have drains of their own, those that the next load waits for, too, in the generator and beside the
/// service.
fn waits(walk: &Walk) -> Cost {
    let one = |wait: &Wait| match wait.until {
        WaitUntil::Lag(_) => Cost { lut: DRAINS, ff: DRAINS, ..Cost::default() },
        WaitUntil::Phase { .. } => {
            let due = wait.until.due_bits(walk).map_or(Cost { lut: 2, ff: 1, ..Cost::default() }, |bits| Cost {
                lut: i64::from(bits),
                ff: 2 * i64::from(bits),
                ..Cost::default()
            });
            due + Cost { lut: 2 * DRAINS, ff: DRAINS, ..Cost::default() }
        }
    };
    walk.groups.iter().flat_map(|g| &g.waits).map(one).sum()
}

/// Which case of phases is at hand; which groups are served in it.
fn cases(walk: &Walk) -> Cost {
    let trips = || walk.trips[walk.parameters..].iter().copied();
    let all: i64 =
        walk.cases.iter().map(|spans| spans_compared(spans.iter().map(|s| (s.low, s.high)).zip(trips()))).sum();
    let served: i64 =
        walk.groups.iter().filter_map(|g| g.when.cases.as_ref()).map(|some| some.len() as i64 / 5 + 1).sum();
    Cost::lut(all + served)
}

/// Comparisons with constants of counters that are within these ends in a case: one LUT tells it of up to six bits.
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
fn address(walk: &Walk) -> Cost {
    let groups = walk.groups.len() as i64;
    let bus = i64::from(walk.bus_bytes().trailing_zeros());
    let stages = walk.trim_stages() as i64;
    let address = i64::from(walk.address_bits);
    let some = |yes: bool| i64::from(yes);
    let rows = walk.groups.iter().any(|g| g.total_rows() > 1);
    let ends = i64::from(walk.coordinate_bits());
    let most =
        |f: &dyn Fn(&array::contract::walk::WalkGroup) -> usize| walk.groups.iter().map(f).max().unwrap_or(0) as i64;
    let forms = most(&|g| g.gates.len()) + most(&|g| g.lowers.len()) + most(&|g| g.uppers.len());
    let lowers = walk.groups.iter().any(|g| !g.lowers.is_empty());
    let tiles = !walk.trips.is_empty();
    let moving = some(rows) + groups * some(tiles);
    Cost {
        // Of the burst on the channel, and of one more.
        lut: 140 + address * (moving + groups - 1 + some(lowers)) + (address - bus + 8) + forms * ends * (1 + moving),
        ff: address * (groups + 3 + stages)
            + 3 * (address - bus)
            + 50
            + forms * ends * (groups + 2)
            + 2 * ends * stages,
        ..Cost::default()
    } + cases(walk)
}

/// Addresses and count of the open bursts: `templates::axi::bursts`.
fn bursts(walk: &Walk, kept: i64) -> Cost {
    let address = i64::from(walk.address_bits - walk.bus_bytes().trailing_zeros());
    memory(kept, address, false) + Cost { lut: 44, ff: address + 40, ..Cost::default() }
}

/// What the receiver has to know of a row.
fn row_bits(walk: &Walk) -> i64 {
    let lanes = i64::from(walk.word.trailing_zeros());
    let words = walk.groups.iter().map(|g| g.words).max().unwrap_or(1);
    let most = |f: &dyn Fn(&array::contract::walk::WalkGroup) -> i64| walk.groups.iter().map(f).max().unwrap_or(1);
    let digits: i64 = (0..walk.groups[0].rows.len())
        .map(|d| bits_of(most(&|g| g.rows[d].extent)) + bits_of(most(&|g| g.rows[d].modulus)))
        .sum();
    4 + walk.groups.len() as i64 + 3 * bits_of(words + 1) + lanes + digits
}

/// `ahead`: beats and rows between its two sides.
fn reader(walk: &Walk, ahead: i64) -> Cost {
    let bits = 8 * i64::from(walk.bus_bytes());
    let turns = walk.rotate_stages() as i64;
    let join = i64::from(walk.word > 1);
    let row = row_bits(walk);
    let asked = memory(ahead, bits, false)
        + memory(ahead, row, false)
        + Cost { lut: 60, ff: row + 9 * bits_of(ahead), ..Cost::default() };
    address(walk)
        + bursts(walk, ahead)
        + asked
        + Cost { lut: bits * (turns + join), ff: bits * (turns + 2 + join), ..Cost::default() }
}

fn writer(walk: &Walk, latency: i64) -> Cost {
    let bits = 8 * i64::from(walk.bus_bytes());
    let (turns, word) = (walk.rotate_stages() as i64, i64::from(walk.word));
    let join = i64::from(word > 1);
    // Counters of bursts and drains, requests, strobes, and what ends open bursts at a reset.
    let rest = Cost { lut: 296 + 3 * word, ff: 240 + i64::from(walk.bus_bytes()), ..Cost::default() };
    // The last beat's place, and that of one more.
    let channel = Cost { lut: bits + bits / 8, ff: bits + bits / 8, ..Cost::default() };
    let data = channel + Cost { lut: bits * (turns + join), ff: bits * (turns + 1 + join), ..Cost::default() };
    address(walk)
        + bursts(walk, ROWS_IN_FLIGHT as i64)
        + data
        + rest
        + memory(words_in_flight(walk, latency) as i64, bits, false)
        + spread(walk, latency)
}

/// Rows with steps: a word is kept while parts of it are spread over bus words, and strobes tell what lies between.
fn spread(walk: &Walk, latency: i64) -> Cost {
    if !walk.has_steps() {
        return Cost::default();
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
    Cost { lut: bits + sources * bits / word + 2 * word + 24, ff: bits + latency / 32 + 24, ..Cost::default() }
}
