//! Over which bus words a shape fits.
//!
//! Wide words save beats and take registers, LUTs and block RAMs. So a shape is first tried over the widest words; if
//! it is too big, the words are halved as little as makes it fit ([`narrower`]). Before it is assembled, words are
//! halved where that costs no beat ([`tight`]).

use super::closed;
use super::frontier::Bounded;
use super::least;
use super::model::Model;
use super::pes::Pes;
use super::task::Proposal;
use super::widths::{Halvings, Widths};
use crate::space::Shape;
use crate::tuning;
use array::contract::walk::Walk;
use cost::board::Resources;

/// The widest words over which a shape may fit, each with a bound.
#[derive(Default)]
pub(super) struct Fitting {
    pub widths: Vec<Bounded<Widths>>,
    /// Coarse walks that it took.
    pub walks: u64,
    /// The shape does not fit over the words it came with.
    pub too_big: bool,
}

/// The widest words over which a shape may fit below the cap.
pub(super) fn widest(model: &Model, shape: &Bounded<Shape>, pes: &Pes, cap: i64) -> Fitting {
    let Bounded { bound, of: shape } = shape;
    if !pes.may_fit(model, shape) {
        return Fitting { too_big: true, ..Fitting::default() };
    }
    let widest = model.ports_of(&shape.grid).widest();
    let coarse = least::coarse(model, shape, &widest, pes, cap);
    let mut found = match coarse.and_then(|c| Some((c.cycles.max(*bound), c.need?))) {
        Some((bound, need)) if need.fits(&model.limits) => {
            Fitting { widths: vec![Bounded::new(bound, widest)], ..Fitting::default() }
        }
        Some((bound, _)) => narrower(model, bound, shape, &widest, pes, cap),
        None => Fitting::default(),
    };
    found.walks += 1;
    found
}

/// The first of a few words over which a shape fits below the cap, and the coarse walks that it took.
pub(super) fn first(model: &Model, shape: &Bounded<Shape>, pes: &Pes, cap: i64) -> (Option<Bounded<Proposal>>, u64) {
    let Bounded { bound, of: shape } = shape;
    let mut walks = 0;
    if !pes.may_fit(model, shape) {
        return (None, walks);
    }
    for widths in model.ports_of(&shape.grid).some() {
        walks += 1;
        let Some(coarse) = least::coarse(model, shape, &widths, pes, cap) else { break };
        let Some(need) = coarse.need else { break };
        if need.fits(&model.limits) {
            return (Some(Bounded::new(coarse.cycles.max(*bound), Proposal { shape: *shape, widths })), walks);
        }
    }
    (None, walks)
}

/// Words to assemble a shape over.
pub(super) struct Tight {
    pub widths: Vec<Widths>,
    /// No choice of words was left out.
    pub complete: bool,
}

/// Words as narrow as they can be without a beat more: these pass fewer registers. A port's halved words take a beat
/// more for every row, and save one register at most, if not all rows of the port are one word. If only some are, all
/// widths are tried, up to [`tuning::MOST_WIDTHS`] with those of the other ports. Words at which all rows begin need no
/// rotation, which may save more registers than beats ([`unrotated`]).
pub(super) fn tight(model: &Model, Proposal { shape, widths: from }: &Proposal) -> Tight {
    let ports = model.ports_of(&shape.grid);
    let narrowest = ports.narrowest();
    let (mut all, mut complete) = (vec![from.clone()], true);
    for port in 0..ports.len() {
        let words = |widths: &Widths| -> Vec<i64> {
            let Some(vsa) = least::network_of(model, shape, widths, |p| p == port) else { return vec![] };
            let inputs = vsa.inputs.iter().map(|g| g.footprint.words);
            inputs.chain(vsa.outputs.iter().map(|g| g.footprint.words)).collect()
        };
        let mut start = all[0].clone();
        let (mut now, mut rows) = (start.clone(), words(&start));
        // How much narrower than `start` the other widths to try are.
        let mut others: Vec<Halvings> = vec![];
        while rows.contains(&1) {
            let next = now.halved(&[port], 1, &narrowest);
            if next == now {
                break;
            }
            let narrower = words(&next);
            if narrower == rows && others.is_empty() {
                let by = now.halvings_to(&next);
                all.iter_mut().for_each(|widths| *widths = widths.narrowed(&by));
                start = next.clone();
            } else if !narrower.contains(&1) {
                break;
            } else {
                others.push(start.halvings_to(&next));
            }
            (now, rows) = (next, narrower);
        }
        let unrotated = unrotated(model, shape, &now, port).map(|next| start.halvings_to(&next));
        others.extend(unrotated.filter(|by| !others.contains(by)));
        if all.len() * (1 + others.len()) > tuning::MOST_WIDTHS {
            complete = false;
            continue;
        }
        for widths in all.clone() {
            all.extend(others.iter().map(|by| widths.narrowed(by)));
        }
    }
    Tight { widths: all, complete }
}

/// The widest words of a port below `from` that need no rotation, if those of `from` do and the registers saved may
/// outweigh the beats of some transfer.
fn unrotated(model: &Model, shape: &Shape, from: &Widths, port: usize) -> Option<Widths> {
    let narrowest = model.ports_of(&shape.grid).narrowest();
    // The registers that rotate words, and the beats of each group's transfer.
    let passed = |widths: &Widths| -> Option<(i64, Vec<i64>)> {
        let vsa = least::network_of(model, shape, widths, |p| p == port)?;
        let walks = [Walk::reads(&vsa, port), Walk::writes(&vsa, port)];
        let registers = walks.iter().flatten().map(|w| w.rotate_stages() as i64 + i64::from(w.rotates())).sum();
        let footprints = vsa.inputs.iter().map(|g| &g.footprint).chain(vsa.outputs.iter().map(|g| &g.footprint));
        Some((registers, footprints.map(|f| f.total_rows() * (f.words + i64::from(registers > 0))).collect()))
    };
    let (registers, beats) = passed(from).filter(|(registers, _)| *registers > 0)?;
    let mut now = from.clone();
    loop {
        let next = now.halved(&[port], 1, &narrowest);
        if next == now {
            return None;
        }
        let (rotating, more) = passed(&next)?;
        if rotating == 0 {
            let worth = more.iter().zip(&beats).any(|(more, beats)| more - beats < registers);
            return worth.then_some(next);
        }
        now = next;
    }
}

/// The widest words below `from` over which a shape may fit below the cap. What narrower words of one port save does
/// not depend on the other ports' words.
pub(super) fn narrower(model: &Model, bound: i64, shape: &Shape, from: &Widths, pes: &Pes, cap: i64) -> Fitting {
    let ports = model.ports_of(&shape.grid).len();
    let mut found = Fitting { too_big: true, walks: 1, ..Fitting::default() };
    let Some(base) = least::need(model, shape, from, pes) else { return found };
    let groups: Vec<Vec<usize>> = if ports > tuning::PORTS_ONE_BY_ONE {
        vec![(0..ports).collect()]
    } else {
        (0..ports).map(|p| vec![p]).collect()
    };
    let mut savings: Vec<Vec<Saving>> = vec![];
    for group in &groups {
        let Some(steps) = group_savings(model, shape, from, group, cap, &mut found.walks) else { return found };
        savings.push(steps);
    }
    // A block RAM may be half of one port's memory and half of another's.
    let base = Resources { bram18: base.bram18 - 2 * ports as i64, ..base };
    for by in widest_first(&savings, Saving { by: Halvings::none(ports), need: base }, &model.limits) {
        let next = from.narrowed(&by);
        let least = closed::cycles(model, shape, &next).max(bound);
        if least >= cap {
            continue;
        }
        found.walks += 1;
        if let Some(coarse) = least::coarse(model, shape, &next, pes, cap).filter(|c| c.need.is_some()) {
            found.widths.push(Bounded::new(least.max(coarse.cycles), next));
        }
    }
    found
}

/// Narrower words, and what they need more (or less).
struct Saving {
    by: Halvings,
    need: Resources,
}

/// What the words of a group of ports save when they are halved again and again: nothing at first.
fn group_savings(
    model: &Model,
    shape: &Shape,
    from: &Widths,
    group: &[usize],
    cap: i64,
    walks: &mut u64,
) -> Option<Vec<Saving>> {
    let ports = model.ports_of(&shape.grid);
    let narrowest = ports.narrowest();
    // The rest of the network stays as it is.
    let need = |widths: &Widths| {
        least::network_of(model, shape, widths, |p| group.contains(&p)).map(|vsa| least::network_need(&vsa))
    };
    let widest = need(from)?;
    let mut steps = vec![Saving { by: Halvings::none(ports.len()), need: Resources::default() }];
    for times in 1.. {
        let next = from.halved(group, times, &narrowest);
        let by = from.halvings_to(&next);
        if steps.last().is_some_and(|s| s.by == by) || closed::cycles(model, shape, &next) >= cap {
            break;
        }
        *walks += 1;
        let Some(need) = need(&next) else { break };
        steps.push(Saving { by, need: need - widest });
    }
    Some(steps)
}

/// One step of each group.
struct Way {
    steps: Vec<usize>,
    total: Saving,
}

/// The least narrowings that make `base` fit, over all combinations of the groups' steps. A combination is left out if
/// another one narrows no group more.
fn widest_first(savings: &[Vec<Saving>], base: Saving, limits: &Resources) -> Vec<Halvings> {
    let mut ways = vec![Way { steps: vec![], total: base }];
    for steps in savings {
        let with = |way: &Way, n: usize| Way {
            steps: [&way.steps[..], &[n]].concat(),
            total: Saving { by: way.total.by.and(&steps[n].by), need: way.total.need + steps[n].need },
        };
        ways = ways.iter().flat_map(|way| (0..steps.len()).map(move |n| with(way, n))).collect();
    }
    ways.retain(|w| !w.total.by.is_none() && w.total.need.fits(limits));
    ways.sort_by_cached_key(|w| (w.steps.iter().sum::<usize>(), w.total.by.clone()));
    let mut least: Vec<Way> = vec![];
    for way in ways {
        if !least.iter().any(|l| l.steps.iter().zip(&way.steps).all(|(a, b)| a <= b)) {
            least.push(way);
        }
    }
    least.into_iter().map(|way| way.total.by).collect()
}
