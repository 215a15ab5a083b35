//! What follows from the nodes of a step: margins, steps to warm up, the grid, and where the interior is.
//!
//! **Margins.** PEs at the end of a warp lack what a neighbour in the next warp would hand on. From the stores backwards,
//! each node gets the PEs and steps in which it is needed, relative to a result:
//!
//! ```text
//! result       PE u             step t
//! hop by d     PE u - d         so the margin grows by d at one end
//! n steps ago  step t - n       so a warp with a part of the steps begins n steps earlier
//! ```
//!
//! If that has no end along the PEs, one warp holds all PEs. If it has none in time, one warp runs all steps.
//!
//! **Interior.** Every condition has one outcome there, for all lanes. That is a bound on scalars: `form >= 0` for all `u`
//! if it holds for the `u` at which the form is least.

use crate::arrange::{Arrangement, Attempt, Place, Refusal};
use crate::extent::{Extent, Number};
use crate::form::{simplified, Cond, Form};
use crate::ir::{Block, GridAxis, Margins, NodeId, Op, Passing, Pitch, Scalar, ScalarId, Sides, Time, Warp, LANES};
use crate::lower::ends::ends;
use crate::model;
use crate::space::{self, Space, BEYOND};
use crate::statements::Statements;
use scop::Constraint;
use uniform::affine::gcd;

/// Slopes of a skewed array: how many steps later the next PE begins.
const SLOPES: [i64; 5] = [0, 1, -1, 2, -2];

/// # Errors
/// No PE of a warp has a result.
pub fn finish(
    warp: &mut Warp,
    arrangement: &Arrangement,
    statements: &Statements,
    time: Option<ScalarId>,
) -> Result<(), Attempt> {
    let needs = needs(warp);
    let whole = arrangement.choice.whole;
    let limit = warp.units();
    let (low, high) = if whole { (0, 0) } else { (needs.low, needs.high) };
    if low + high >= limit {
        return Err(Attempt::Along);
    }
    let round = |x: i64| (x + warp.width - 1) / warp.width * warp.width;
    warp.margins = Margins { low: round(low), high: round(high) };
    if warp.margins.low + warp.margins.high >= limit {
        return Err(Refusal::new(format!(
            "values pass over {} PEs to the result, and a warp has {limit}: no PE has one",
            low + high
        ))
        .help("use more registers in each lane: a tile of axis 0 of several hundred PEs, or fewer sweeps")
        .into());
    }
    let domains = stored(statements);
    let mut grid = outer_axes(warp, arrangement, &domains);
    if let (Some(d), Some(scalar)) = (arrangement.time, time) {
        let loop_ = time_loop(warp, arrangement, statements, (d, scalar), &needs);
        grid.extend(height(warp, &loop_, &domains, arrangement, d));
        warp.time = Some(loop_);
    }
    grid.extend(strips(warp, arrangement, &domains));
    warp.grid = grid;
    copies(warp);
    simplify(warp);
    ends(warp);
    warp.interior = interior(warp, &Space::new(arrangement));
    sides(warp);
    warp.map = describe(warp, arrangement);
    Ok(())
}

/// How far beyond a result values are needed: PEs at both ends, steps before (`None`: all of them).
struct Needs {
    low: i64,
    high: i64,
    before: Option<i64>,
    /// Steps for which rows wait.
    rows: i64,
}

fn needs(warp: &Warp) -> Needs {
    let most = 2 * warp.units();
    let mut need: Vec<Option<[i64; 3]>> = vec![None; warp.nodes.len()];
    let mut open: Vec<(NodeId, [i64; 3])> = warp.stores.iter().map(|s| (s.value, [0; 3])).collect();
    let mut found = [0i64; 3];
    while let Some((id, new)) = open.pop() {
        let old = need[id.index()];
        let joined: [i64; 3] = std::array::from_fn(|k| old.map_or(new[k], |o| o[k].max(new[k])));
        if old == Some(joined) {
            continue;
        }
        need[id.index()] = Some(joined);
        let [low, high, before] = joined;
        found = std::array::from_fn(|k| found[k].max(joined[k]));
        match warp.node(id).op {
            Op::Hop { of, by } => {
                open.push((of, [(low + by).clamp(0, most), (high - by).clamp(0, most), before]));
            }
            Op::Past { of, steps, .. } => open.push((of, [low, high, (before + steps).min(BEYOND)])),
            // All steps, and all PEs: one warp has them.
            Op::Last { of } => open.push((of, [0, 0, BEYOND])),
            ref op => open.extend(op.operands().into_iter().map(|o| (o, joined))),
        }
    }
    let before = Some(found[2]).filter(|b| *b < BEYOND / 2);
    let rows = rows(warp);
    // A sum that waits in the place of rows is there for the first result if they were.
    let rows = if before.is_none() { rows.max(warp.rows) } else { rows };
    Needs { low: found[0], high: found[1], before, rows }
}

/// Steps for which rows wait.
pub fn rows(warp: &Warp) -> i64 {
    let waits = warp.nodes.iter().filter_map(|n| match n.op {
        Op::Past { of, steps, .. } if is_row(warp, of) => Some(steps),
        _ => None,
    });
    waits.max().unwrap_or(0)
}

/// Whether a node is made of loads alone.
fn is_row(warp: &Warp, id: NodeId) -> bool {
    match &warp.node(id).op {
        Op::Load { .. } => true,
        Op::Take { .. } | Op::Hop { .. } | Op::Cast(_) => warp.node(id).op.operands().iter().all(|o| is_row(warp, *o)),
        _ => false,
    }
}

/// The instances that are stored.
fn stored(statements: &Statements) -> Vec<Vec<Constraint>> {
    statements.system.statements.iter().flat_map(|p| p.live_out.iter().cloned()).collect()
}

/// Least and greatest value of a row over domains.
fn bounds(warp: &Warp, domains: &[Vec<Constraint>], row: &[i64]) -> Extent {
    let nothing = Extent { lo: 0, hi: 0, last: Number::constant(0), end: None };
    Extent::of(domains, row, &warp.maxima()).unwrap_or(nothing)
}

fn set_range(warp: &mut Warp, id: ScalarId, (lo, hi): (i64, i64), end: Option<Form>) {
    let scalar: &mut Scalar = &mut warp.scalars[id.index()];
    (scalar.lo, scalar.hi, scalar.end) = (lo, hi, end);
}

/// The axes of loops that no value crosses, and of tiles.
fn outer_axes(warp: &mut Warp, arrangement: &Arrangement, domains: &[Vec<Constraint>]) -> Vec<GridAxis> {
    let space = Space::new(arrangement);
    let mut axes = vec![];
    for (d, c) in arrangement.coordinates.iter().enumerate() {
        let step = match c.place {
            Place::Grid => 1 + i64::from(is_paired(warp, &space, d)),
            Place::Unrolled(Some(tile)) => tile,
            _ => continue,
        };
        let Some(scalar) = space.scalar_of(d) else { continue };
        let Extent { lo, last, mut end, .. } = bounds(warp, domains, &c.row);
        let mut count = last.plus(-lo).over(step).plus(1);
        if warp.block.as_ref().is_some_and(|b| b.axis == scalar) {
            count = count.plus(Block::WARPS - 1).over(Block::WARPS).times(Block::WARPS);
            (warp.warps, end) = (Block::WARPS, None);
        }
        set_range(warp, scalar, (lo, lo + (count.most - 1) * step), end);
        warp.scalars[scalar.index()].multiple = gcd(lo, step);
        axes.push(GridAxis { scalar, first: lo, step: Pitch::Constant(step), count, sides: Sides::default() });
    }
    axes
}

/// Whether two places of a warp on this coordinate share registers.
fn is_paired(warp: &Warp, space: &Space, coordinate: usize) -> bool {
    warp.pairs.is_some_and(|p| Some(p.axis) == space.scalar_of(coordinate))
}

/// The strips of PEs.
fn strips(warp: &mut Warp, arrangement: &Arrangement, domains: &[Vec<Constraint>]) -> Option<GridAxis> {
    let scalar = warp.lane_scalar;
    if arrangement.choice.whole {
        let first = space::first_pe(arrangement);
        set_range(warp, scalar, (first, first), None);
        return None;
    }
    let Extent { lo, last, end, .. } = bounds(warp, domains, &arrangement.coordinates[arrangement.lanes].row);
    let start = lo.div_euclid(warp.width) * warp.width;
    let step = warp.units() - warp.margins.low - warp.margins.high;
    let count = last.plus(-start).over(step).plus(1);
    let first = start - warp.margins.low;
    let end = end.map(|end| end.plus(-warp.margins.low));
    set_range(warp, scalar, (first, first + (count.most - 1) * step), end);
    Some(GridAxis { scalar, first, step: Pitch::Constant(step), count, sides: Sides::default() })
}

fn time_loop(
    warp: &Warp,
    arrangement: &Arrangement,
    statements: &Statements,
    (d, scalar): (usize, ScalarId),
    needs: &Needs,
) -> Time {
    let c = &arrangement.coordinates[d];
    let late = if arrangement.skewed { LANES - 1 } else { 0 };
    let rows = needs.rows;
    let domains = statements.domains();
    let (start, end, form) = match arrangement.strips {
        1 => {
            let Extent { last, end, .. } = bounds(warp, &domains, &c.row);
            match c.simd {
                1 => (c.lo, last, end),
                lanes => (0, last.plus(-c.lo).over(lanes), None),
            }
        }
        strips => (0, Number::constant(strips - 1), None),
    };
    let clip = (start - rows, end.plus(late));
    let last = form.map_or(Form::constant(clip.1.most), |end| end.plus(late));
    let (mut first, mut last) = (Form::constant(clip.0), last);
    let mut sloped = false;
    if !arrangement.choice.whole && c.simd == 1 {
        let lanes = &arrangement.coordinates[arrangement.lanes].row;
        let width = |slope: i64| {
            let row: Vec<i64> = c.row.iter().zip(lanes).map(|(t, l)| t - slope * l).collect();
            let Extent { lo, hi, .. } = bounds(warp, &domains, &row);
            (hi - lo + slope.abs() * warp.units(), slope, lo, hi)
        };
        let best = SLOPES.map(width).into_iter().min_by_key(|w| (w.0, w.1.abs()));
        if let Some((_, slope, lo, hi)) = best.filter(|b| b.1 != 0 && 2 * b.0 < c.extent()) {
            sloped = true;
            let end = slope * (warp.units() - 1);
            let mut base = Form::default();
            base.add(slope, &Form::scalar(warp.lane_scalar));
            first = base.plus(lo + end.min(0) - rows);
            last = base.plus(hi + end.max(0));
        }
    }
    let before = needs.before.filter(|_| !sloped && !arrangement.skewed && c.simd == 1);
    Time {
        scalar,
        first,
        last,
        clip,
        height: before.map(|_| ScalarId(warp.scalars.len() as u32)),
        before: before.unwrap_or(0),
        ahead: arrangement.choice.ahead,
        skewed: arrangement.skewed,
    }
}

/// The axis of parts of the time loop.
fn height(
    warp: &mut Warp,
    time: &Time,
    domains: &[Vec<Constraint>],
    arrangement: &Arrangement,
    d: usize,
) -> Option<GridAxis> {
    let scalar = time.height?;
    let Extent { lo, hi, last, end } = bounds(warp, domains, &arrangement.coordinates[d].row);
    let name = format!("{}_0", warp.scalars[time.scalar.index()].name);
    warp.scalars.push(Scalar { name, lo, hi, multiple: 1, rest: 0, end });
    Some(GridAxis { scalar, first: lo, step: Pitch::Height, count: last.plus(1 - lo), sides: Sides::default() })
}

/// Drops conditions that always hold, now that the grid is known.
fn simplify(warp: &mut Warp) {
    let (scalars, units) = (warp.scalars.clone(), warp.units());
    let shorter = |all: &mut Vec<Cond>| {
        if let Some(rest) = simplified(std::mem::take(all), &scalars, units) {
            *all = rest;
        } else {
            *all = vec![Cond::at_least_zero(Form::constant(-1))];
        }
    };
    for node in &mut warp.nodes {
        if let Op::Guard(g) = &mut node.op {
            shorter(&mut g.when);
        }
    }
    warp.stores.iter_mut().for_each(|s| shorter(&mut s.when));
}

/// Marks the arrays that warps read while others store to them. A PE may read an element that it alone stores to, later.
fn copies(warp: &mut Warp) {
    let moving = |forms: &[Form]| warp.time.as_ref().is_some_and(|t| forms.iter().any(|f| f.of(t.scalar) != 0));
    let parted = warp.margins != Margins::default() || warp.time.as_ref().is_some_and(|t| t.height.is_some());
    let own = |array: usize, at: &Vec<Form>| {
        !parted
            && !moving(at)
            && warp.stores.iter().filter(|s| s.array == array).all(|s| s.at == *at || apart(warp, &s.at, at))
    };
    let copied: Vec<bool> = (0..warp.arrays.len())
        .map(|k| {
            warp.arrays[k].written
                && warp.nodes.iter().any(|n| matches!(&n.op, Op::Load { array, at, .. } if *array == k && !own(k, at)))
        })
        .collect();
    warp.arrays.iter_mut().zip(copied).for_each(|(a, copied)| a.copied = copied);
}

/// Whether two elements differ, whatever PEs and warps they belong to: in one dimension they are apart by no multiple of
/// the distances between warps.
fn apart(warp: &Warp, a: &[Form], b: &[Form]) -> bool {
    let distance = |id: &ScalarId| match warp.grid.iter().find(|axis| axis.scalar == *id).map(|axis| axis.step) {
        Some(Pitch::Constant(step)) => step,
        _ => 1,
    };
    let differ = |(x, y): (&Form, &Form)| {
        let between = x.scalars.iter().fold(0, |g, (id, c)| gcd(g, c * distance(id)));
        let by = x.constant - y.constant;
        x.linear() == y.linear() && x.unit == 0 && if between == 0 { by != 0 } else { by % between != 0 }
    };
    a.iter().zip(b).any(differ)
}

/// The forms that are not negative in the interior: the strictest of each linear part. Sets what decides at the sides.
fn interior(warp: &mut Warp, space: &Space) -> Vec<Form> {
    let mut all: Vec<Form> = vec![];
    let lanes = space.arrangement.coordinates.iter().any(|c| c.simd > 1);
    let mut add = |warp: &Warp, form: Form| {
        let units = warp.units();
        let least = Form { unit: 0, ..form.plus((form.unit * (units - 1)).min(0)) };
        let least = match lanes {
            true => Cond::at_least_zero(least.clone()).tightened().map_or(least, |c| c.form),
            false => least,
        };
        match all.iter_mut().find(|f| f.linear() == least.linear()) {
            Some(known) => known.constant = known.constant.min(least.constant),
            None => all.push(least),
        }
    };
    let time = warp.time.as_ref().map(|t| t.scalar);
    let inner = |n: &crate::ir::Node| !n.border && !n.invariant && !n.after;
    for k in 0..warp.nodes.len() {
        let node = &warp.nodes[k];
        let Op::Guard(g) = &node.op else { continue };
        let settled = match inner(node) {
            true => settle(&g.when, g.inside, space, time),
            false => Settled { forms: vec![], side: Some(g.when.clone()) },
        };
        settled.forms.into_iter().for_each(|f| add(warp, f));
        if let Op::Guard(g) = &mut warp.nodes[k].op {
            g.side = settled.side;
        }
    }
    for k in 0..warp.stores.len() {
        let store = &warp.stores[k];
        if !warp.is_after(store) {
            let settled = settle(&store.when, store.inside, space, time);
            settled.forms.into_iter().for_each(|f| add(warp, f));
            warp.stores[k].side = settled.side;
        }
    }
    for node in warp.nodes.iter().filter(|n| inner(n)) {
        let Op::Load { array, at, each } = &node.op else { continue };
        let pointed = warp.arrays[*array].passing == Passing::Pointer;
        for (d, (form, extent)) in at.iter().zip(&warp.arrays[*array].extents).enumerate().filter(|_| pointed) {
            let last = if d + 1 == at.len() { each - 1 } else { 0 };
            let ahead = warp.time.as_ref().map_or(0, |t| t.ahead * form.of(t.scalar));
            for shift in [0, ahead] {
                add(warp, form.plus(shift));
                let mut above = extent.plus(-1 - shift - last);
                above.add(-1, form);
                add(warp, above);
            }
        }
    }
    all.retain(|f| f.range(&warp.scalars, 1).0 < 0);
    all.sort();
    all
}

/// Finds the strips at the sides: those in which a form of the interior that only the strip decides is negative.
fn sides(warp: &mut Warp) {
    let (lane, sizes) = (warp.lane_scalar, warp.sizes);
    let parted = warp.time.as_ref().is_some_and(|t| t.height.is_some());
    let strip_alone = |f: &&Form| f.of(lane) != 0 && f.scalars.keys().all(|id| *id == lane || id.index() < sizes);
    let own: Vec<Form> = warp.interior.iter().filter(strip_alone).cloned().collect();
    let (maxima, turns) = (warp.maxima(), model::turns(warp));
    let Some(axis) = warp.grid.iter_mut().find(|a| a.scalar == lane).filter(|_| parted) else { return };
    let Pitch::Constant(step) = axis.step else { return };
    let (mut low, mut high) = (Number::constant(0), Number::constant(0));
    for form in own {
        // c (first + k step) + rest >= 0 in strip k
        let c = form.of(lane);
        let mut rest = form.plus(c * axis.first);
        rest.scalars.remove(&lane);
        if c > 0 {
            // The strips below the least k.
            let least = Number::of(&rest.negated(), &maxima).plus(c * step - 1).over(c * step);
            low = low.or(&least);
        } else {
            // The strips above the greatest k.
            let below = Number::of(&rest, &maxima).over(-c * step);
            high = high.or(&axis.count.plus(-1).less(&below, &maxima));
        }
    }
    let high = high.at_most(&axis.count);
    let low = low.at_most(&axis.count.less(&high, &maxima));
    let some = low.known() != Some(0) || high.known() != Some(0);
    if some && 4 * (low.most + high.most) <= axis.count.most {
        axis.sides = Sides { low, high, turns };
    }
}

/// What makes the outcome of a conjunction known.
struct Settled {
    /// None of these is negative, in any lane.
    forms: Vec<Form>,
    /// The conditions that decide where those of the forms hold that depend on the time; `None`: it is decided.
    side: Option<Vec<Cond>>,
}

fn settle(when: &[Cond], inside: bool, space: &Space, time: Option<ScalarId>) -> Settled {
    let timed = |c: &Cond| time.is_some_and(|t| c.form.of(t) != 0);
    // An equality of forms never holds for all lanes and steps: then there is no interior.
    let both = |c: &Cond| match c.equality {
        true => vec![c.form.clone(), c.form.negated()],
        false => vec![c.form.clone()],
    };
    let still: Vec<Cond> = when.iter().filter(|c| !timed(c)).cloned().collect();
    if inside {
        let side = Some(still).filter(|s| !s.is_empty());
        return Settled { forms: when.iter().flat_map(both).collect(), side };
    }
    let fails = |c: &&Cond| !space.holds_inside(std::slice::from_ref(c));
    // Of the conditions that fail in the middle, the one that fails by most; one that the step decides if there is one.
    let far = when.iter().filter(fails).max_by_key(|c| (timed(c), space.inside(&c.form).abs()));
    let Some(far) = far else { return Settled { forms: vec![Form::constant(-1)], side: Some(when.to_vec()) } };
    let mut forms = match space.inside(&far.form) > 0 {
        true => vec![far.form.plus(-1)],
        false => vec![far.form.negated().plus(-1)],
    };
    if timed(far) {
        return Settled { forms, side: None };
    }
    forms.extend(when.iter().filter(|c| timed(c)).flat_map(both));
    Settled { forms, side: Some(still) }
}

/// The space-time map in words, a line each.
fn describe(warp: &Warp, arrangement: &Arrangement) -> Vec<String> {
    let mut lines = vec![];
    let space = Space::new(arrangement);
    for (d, c) in arrangement.coordinates.iter().enumerate() {
        let what = match c.place {
            Place::Lanes if arrangement.skewed => {
                format!("{LANES} lanes x {} registers, lane l runs l steps late", warp.registers)
            }
            Place::Lanes => {
                let Margins { low, high } = warp.margins;
                let lost = if low + high > 0 {
                    format!(", without a result: {low} PEs before and {high} behind")
                } else {
                    String::new()
                };
                let strips = match arrangement.strips {
                    1 => String::new(),
                    n => format!(", {n} times: time is the strip"),
                };
                format!("{LANES} lanes x {} registers{lost}{strips}", warp.registers)
            }
            Place::Size => format!("a size at run time, at most {}", c.hi),
            Place::Unrolled(None) if c.extent() == 1 => continue,
            Place::Unrolled(None) if c.simd > 1 => {
                format!("{} values in the registers of each step, {} in each register", c.extent(), c.simd)
            }
            Place::Unrolled(None) => format!("{} values in the registers of each step", c.extent()),
            Place::Unrolled(Some(tile)) => format!("tiles of {tile} in the registers of each step, one for each warp"),
            Place::Loop if warp.time.as_ref().is_some_and(|t| t.height.is_some()) => {
                format!("time, {} steps; a warp runs `height` of them", c.extent())
            }
            Place::Loop if c.simd > 1 => format!("time, {} steps of {} iterations", c.last_step() + 1, c.simd),
            Place::Loop => format!("time, {} steps", c.extent()),
            Place::Grid if is_paired(warp, &space, d) => {
                format!("{} warps, two of {} in the halves of each register", (c.extent() + 1) / 2, c.name)
            }
            Place::Grid => format!("{} warps", c.extent()),
        };
        lines.push(format!("{:<8} {what}", c.name));
    }
    lines
}
