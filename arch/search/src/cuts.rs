//! The chosen array is cut into bands ([`array::contract::bands`]): where the user says, or, if it takes more than a die of
//! the board has, so that each band fits a die.
//!
//! Method: both axes are tried, with two bands, then more. The cuts of an axis are those with which the fullest die is
//! least full: for a given fill, each band takes as many PEs as that allows, and the least such fill is found by
//! halving. The margins of the board are left of each die if some cuts allow that; else the fullest die is as empty as it
//! can be. An array that no cut suits stays whole, and so does one whose waves would have to wait longer for one
//! another, as their values cross a cut both ways.
//!
//! With its cuts an array gets the ways from its engines to the memories on other dies ([`array::contract::away`]).

use array::contract::away;
use array::contract::bands::Bands;
use array::contract::relay::Relays;
use array::contract::walk::beats_ahead;
use array::cut;
use array::vsa::Vsa;
use cost::bands::along;
use cost::bank::Bank;
use cost::board::{Board, Resources};
use cost::resources;
use scop::diag::{Diagnostic, Diagnostics};
use uniform::cuts::Cuts;

/// What decides where an array is cut, and which of its ports lead to other dies.
pub struct Asked<'a> {
    /// The user's cuts.
    pub wanted: Option<&'a Cuts>,
    /// sagen may say where, as it has made the array.
    pub chosen: bool,
    pub board: &'a Board,
    /// By array in DRAM.
    pub banks: &'a [Bank],
    /// Cycles of memory latency that readers cover.
    pub latency: u32,
}

/// The array with its cuts.
///
/// # Errors
/// E0733: it cannot be cut there.
pub fn cut(vsa: Vsa, asked: &Asked) -> Result<Vsa, Diagnostics> {
    if asked.wanted.is_none() && !asked.chosen {
        return Ok(vsa);
    }
    let mut cut = in_bands(vsa, asked.wanted, asked.board)?;
    cut.away = away(&cut, asked);
    let later = (0..cut.axi_ports()).map(|port| away::latency(cut.borders(port))).max().unwrap_or(0);
    if later > 0 {
        cut.ahead = cut.ahead.max(beats_ahead(i64::from(asked.latency) + later));
    }
    Ok(cut)
}

/// By port: the dies from that of the first band to that of its memory. Nothing if none is away, or the array is whole.
fn away(vsa: &Vsa, asked: &Asked) -> Vec<i64> {
    let bands = Bands::of(vsa).map_or(1, |bands| bands.count());
    let Some(first) = asked.board.first_of(bands).filter(|_| bands > 1) else { return vec![] };
    let of_port = |port: usize| {
        let bank = vsa.arrays_of(port).find_map(|array| asked.banks.get(array));
        bank.map_or(0, |bank| asked.board.die_of(bank) as i64 - first as i64)
    };
    let all: Vec<i64> = (0..vsa.axi_ports()).map(of_port).collect();
    if all.iter().all(|dies| *dies == 0) {
        vec![]
    } else {
        all
    }
}

/// The array, cut where the user says or where it fits the dies.
fn in_bands(vsa: Vsa, wanted: Option<&Cuts>, board: &Board) -> Result<Vsa, Diagnostics> {
    let refused = |why: String, help: &str| Err(vec![Diagnostic::error("E0733", None, why).help(help)]);
    match wanted {
        Some(Cuts::Nowhere) => Ok(vsa),
        None => Ok(for_dies(&vsa, board).unwrap_or(vsa)),
        Some(Cuts::Before { axis, pes }) => {
            let Some(number) = (0..2).find(|&a| vsa.axes[a] == *axis) else {
                let axes: Vec<String> = (0..2)
                    .filter(|&a| vsa.extent[a] > 1)
                    .map(|a| format!("`{}` with {} PEs", vsa.axes[a], vsa.extent[a]))
                    .collect();
                let text = match &axes[..] {
                    [] => "the array is one PE: nothing can be cut".to_string(),
                    some => format!("the array has no axis `{axis}`: it has {}", some.join(", ")),
                };
                return refused(text, "name an axis of the array, or leave out --cuts");
            };
            cut::cut(&vsa, number, pes).or_else(|why| {
                refused(format!("the array cannot be cut there: {why}"), "cut elsewhere, or along the other axis")
            })
        }
    }
}

/// The array in bands that fit the dies; `None` if it fits one, or no cut makes the fullest die emptier.
fn for_dies(vsa: &Vsa, board: &Board) -> Option<Vsa> {
    let whole = share(&resources::estimate(vsa), &board.usable_of(&board.dies_of(1)?[0]));
    if whole <= 1.0 {
        return None;
    }
    let mut best: Option<(f64, Vsa)> = None;
    for count in 2..=board.dies.len() {
        let dies: Vec<Resources> = board.dies_of(count)?.iter().map(|die| board.usable_of(die)).collect();
        for axis in 0..2 {
            let Some((fullest, ends)) = spread(vsa, axis, &dies) else { continue };
            let forward = vsa.schedule.start[axis].forward();
            let before: Vec<i64> = ends.iter().map(|k| if forward { *k } else { vsa.extent[axis] - k }).collect();
            if fullest < best.as_ref().map_or(whole, |b| b.0) {
                let fits = |cut: &Vsa| resources::estimate(cut).fits(&board.resources);
                let as_fast = |cut: &Vsa| cut.schedule.interval <= vsa.schedule.interval;
                let cut = cut::cut(vsa, axis, &before).ok().filter(|cut| fits(cut) && as_fast(cut));
                best = cut.map(|cut| (fullest, cut)).or(best);
            }
        }
        if best.as_ref().is_some_and(|b| b.0 <= 1.0) {
            break;
        }
    }
    best.map(|b| b.1)
}

/// The greatest part of a resource that something takes.
fn share(need: &Resources, available: &Resources) -> f64 {
    let part = |(need, all): (i64, i64)| if need <= 0 { 0.0 } else { need as f64 / all.max(1) as f64 };
    need.counts().into_iter().zip(available.counts()).map(part).fold(0.0, f64::max)
}

/// Halvings of the fill of the fullest die.
const HALVINGS: usize = 30;

/// The PEs in front of which the axis is cut, by hops from where waves enter, with which the fullest of these dies is least
/// full; and how full that is.
fn spread(vsa: &Vsa, axis: usize, dies: &[Resources]) -> Option<(f64, Vec<i64>)> {
    let (extent, sums) = (vsa.extent[axis], along(vsa, axis));
    let places = places(vsa, axis);
    let take = |from: i64, to: i64| sums[to as usize].zip(&sums[from as usize], |_, all, before| all - before);
    // Ends of the bands; the last one takes all that is left.
    let fill = |most: f64| -> Option<Vec<i64>> {
        let (mut ends, mut from) = (vec![], 0);
        for (k, die) in dies.iter().enumerate() {
            let fits = |to: &i64| *to > from && share(&take(from, *to), die) <= most;
            if k + 1 == dies.len() {
                return fits(&extent).then_some(ends);
            }
            // Each later band has a PE at least.
            let later = dies.len() - 2 - k;
            from = places[..places.len().checked_sub(later)?].iter().rev().copied().find(|to| fits(to))?;
            ends.push(from);
        }
        None
    };
    let (mut low, mut high) = (0.0, share(&sums[extent as usize], &dies[0]));
    let mut best = fill(high)?;
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match fill(middle) {
            Some(ends) => (best, high) = (ends, middle),
            None => low = middle,
        }
    }
    Some((high, best))
}

/// Where an axis can be cut: between blocks of relays if there are such places, so that relays stay as they are.
fn places(vsa: &Vsa, axis: usize) -> Vec<i64> {
    let blocks: Vec<(i64, i64)> =
        (0..vsa.outputs.len()).map(|o| (vsa.outputs[o].away(vsa)[axis], Relays::new(vsa, o).block[axis])).collect();
    let all = 1..vsa.extent[axis];
    let between: Vec<i64> =
        all.clone().filter(|k| blocks.iter().all(|(first, block)| (k - first).rem_euclid(*block) == 0)).collect();
    if between.len() >= 8 {
        between
    } else {
        all.collect()
    }
}
