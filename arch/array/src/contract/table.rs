//! From an array to the table of a walk: what each I/O group is served for, and what its loads wait for.
//!
//! Each group's footprint is rewritten over the counters that the walk keeps. The array's extents and the bounds of the
//! cells become gates of rows and ends within a row. What always holds, by the ranges of the counters, is left out: an
//! array whose extents are multiples of the tile has none.

use crate::contract::reach::reach;
use crate::contract::walk::{RowForm, Wait, WaitUntil, Walk, WalkGroup};
use crate::vsa::{After, CellBound, DramArray, Footprint, FootprintDim, OutputGroup, Until, Vsa, When};
use scop::Affine;
use std::iter;
use uniform::affine::{gcd, Form};
use uniform::counters::Span;
use uniform::sizes::Formula;

/// Which rows are served, and from where to where.
#[derive(Default)]
struct Ends {
    gates: Vec<RowForm>,
    lowers: Vec<RowForm>,
    uppers: Vec<RowForm>,
}

impl Ends {
    /// `form`, and what is left behind it, are not negative; where it runs `along` the rows, by how many elements of
    /// the walk.
    fn within(&mut self, form: &RowForm, left: RowForm, along: Option<i64>) {
        match along {
            Some(inner) => {
                self.lowers.push(form.times(-inner));
                self.uppers.push(left.times(inner).plus(1));
            }
            None => self.gates.extend([form.clone(), left]),
        }
    }

    /// `form + scale * last` is not negative (or zero), where `last` counts `step` elements of the walk.
    fn bounded(&mut self, (scale, equality): (i64, bool), form: RowForm, last: &RowForm, step: i64) {
        // scale 1: last >= -form; scale -1: last <= form.
        let edge = if scale >= 0 { form.times(-1) } else { form.clone() }.combine(-1, last).times(step);
        match (scale, equality) {
            (0, equality) => {
                self.gates.extend(equality.then(|| form.times(-1)));
                self.gates.push(form);
            }
            (_, true) => {
                self.uppers.push(edge.plus(1));
                self.lowers.push(edge);
            }
            (1.., false) => self.lowers.push(edge),
            (_, false) => self.uppers.push(edge.plus(1)),
        }
    }
}

impl Walk {
    /// Walks of every port: its loads and its drains.
    pub fn all(vsa: &Vsa) -> Vec<[Option<Walk>; 2]> {
        (0..vsa.ports()).map(|port| [Walk::reads(vsa, port), Walk::writes(vsa, port)]).collect()
    }

    /// The loads of `port`; `None` if no group reads an array of it.
    pub fn reads(vsa: &Vsa, port: usize) -> Option<Walk> {
        let groups = vsa.inputs.iter().enumerate().filter(|(_, g)| vsa.port_of(g.array) == port);
        let raw = groups.map(|(i, g)| Raw {
            group: i,
            array: &vsa.arrays[g.array as usize],
            arrays: of_runs(g.array, &g.arrays),
            when: of_run(vsa, g.loads_when(vsa)),
            footprint: &g.footprint,
            reach: reach(
                (vsa, &g.used),
                &g.footprint,
                &g.subscripts,
                g.ports.iter().map(|p| &p[..]),
                [g.first, g.last],
            ),
            bounds: &[],
            slots: 2,
            after: &g.after,
        });
        build(vsa, port, raw.collect())
    }

    /// The drains of `port`; `None` if no group writes an array of it.
    pub fn writes(vsa: &Vsa, port: usize) -> Option<Walk> {
        let groups = vsa.outputs.iter().enumerate().filter(|(_, g)| vsa.port_of(g.array) == port);
        let raw = groups.map(|(i, g)| Raw {
            group: i,
            array: &vsa.arrays[g.array as usize],
            arrays: of_runs(g.array, &g.arrays),
            when: of_run(vsa, g.emit.clone()),
            footprint: &g.footprint,
            reach: reach(
                (vsa, &g.emit),
                &g.footprint,
                &g.subscripts,
                g.ports.iter().map(|p| &p.offset[..]),
                [g.first, g.last],
            ),
            bounds: &g.bounds,
            slots: g.slots,
            after: &[],
        });
        build(vsa, port, raw.collect())
    }
}

struct Raw<'a> {
    group: usize,
    /// The array, or one that is like those of all runs, but for their extents ([`extents`]).
    array: &'a DramArray,
    /// Index of the array in each of [`When::runs`].
    arrays: Vec<usize>,
    when: When,
    footprint: &'a Footprint,
    /// Per row dimension of the footprint: the last row that a wave may ask for.
    reach: Vec<Formula>,
    bounds: &'a [CellBound],
    slots: u32,
    after: &'a [After],
}

/// The arrays of a group in its runs: of a merged array, these, else this one.
fn of_runs(array: u32, all: &[u32]) -> Vec<usize> {
    if all.is_empty() {
        vec![array as usize]
    } else {
        all.iter().map(|a| *a as usize).collect()
    }
}

/// Tiles of a run, whose parameters have one value each.
fn of_run(vsa: &Vsa, mut when: When) -> When {
    when.at.iter_mut().take(vsa.parameters()).for_each(|value| *value = None);
    when
}

fn build(vsa: &Vsa, port: usize, raw: Vec<Raw>) -> Option<Walk> {
    let first = raw.first()?;
    // A value to which a loop does not come in every phase, or a loop of phases at every size, has to be waited for.
    let limited =
        |j: usize| vsa.counters[j].limit().is_some() || vsa.cases.iter().any(|all| all[j].end.parameter().is_some());
    let comes = |j: usize| {
        first.when.value(j).is_some_and(|v| v == 0 || !(vsa.counters[j].is_by_case() || j < vsa.phases() && limited(j)))
    };
    let same = |j: usize| comes(j) && raw.iter().all(|r| r.when.value(j) == first.when.value(j));
    // Who waits for phases, or is there in some of them only, counts them.
    let waits = |j: usize| {
        j < vsa.phases()
            && (raw.iter().flat_map(|r| r.after).any(|a| a.until == Until::Phase)
                || raw.iter().any(|r| r.when.cases.is_some()))
    };
    let kept: Vec<usize> = (0..vsa.tile_depth)
        .filter(|&j| j < vsa.parameters() || vsa.counters[j].trip > 1 && (!same(j) || waits(j)))
        .collect();
    let fixed: Vec<i64> =
        (0..vsa.tile_depth).map(|j| if kept.contains(&j) { 0 } else { first.when.value(j).unwrap_or(0) }).collect();
    let trips: Vec<i64> = kept.iter().map(|&j| vsa.counters[j].trip).collect();
    let bytes = raw.iter().map(|r| r.array.ty.bytes()).min()?;
    let outer = raw.iter().map(|r| r.footprint.rows.len()).max()?;
    let has = |r: &Raw, f: usize| r.when.functions.contains(&f);
    // The same in all of its functions.
    let turn = |k: usize| match raw[k].when.functions.first() {
        Some(f) => raw[..k].iter().filter(|r| has(r, *f)).count(),
        None => k,
    };
    let groups: Vec<WalkGroup> = raw
        .iter()
        .enumerate()
        .map(|(k, r)| WalkGroup {
            turn: turn(k),
            waits: r.after.iter().map(|a| wait(vsa, a, &kept)).collect(),
            ..group(vsa, r, bytes, outer, &kept, &fixed)
        })
        .collect();
    let turns = |f: usize| raw.iter().filter(|r| has(r, f)).count().max(1) as i64;
    let last_turn = match vsa.functions.len() {
        0 => Formula::Const(groups.len() as i64 - 1),
        count => Formula::of_function((0..count).map(|f| Formula::Const(turns(f) - 1)).collect()),
    };
    let named = |k: &usize| (*k, vsa.arrays[*k].name.clone());
    let mut arrays: Vec<(usize, String)> = raw.iter().flat_map(|r| &r.arrays).map(named).collect();
    arrays.sort();
    arrays.dedup();
    let phases = kept.iter().filter(|&&j| j < vsa.phases()).count();
    let parameters = vsa.parameters();
    // A walk that knows one phase only is in its case.
    let one_phase = kept.iter().all(|&j| j < parameters || j >= vsa.phases()) && !vsa.is_merged();
    let only = one_phase.then(|| vsa.loops().case(&fixed[..vsa.phases()]));
    let cases = if only.is_some() { vec![] } else { cases(vsa, &kept, &fixed) };
    // Nor does it in runs of functions without a group here.
    let has_groups = |f: usize| raw.iter().any(|r| has(r, f));
    let in_runs = |last: Formula| match vsa.functions.len() {
        0 => last,
        count => {
            let of = |f: usize| if has_groups(f) { last.in_function(f) } else { Formula::Const(0) };
            Formula::of_function((0..count).map(of).collect())
        }
    };
    let last = |&j: &usize| match &vsa.counters[j].last {
        last if j < parameters => last.clone(),
        last if j < vsa.phases() || !vsa.loops().has_cases() => in_runs(vsa.over_sizes(last)),
        _ if only.is_some() => vsa.last(j, only.flatten()),
        // Where no group is served, a walk does not stay.
        _ => Formula::by_case(
            (0..=cases.len())
                .map(|k| if k < cases.len() && serves(vsa, &raw, k) { vsa.last(j, Some(k)) } else { Formula::Const(0) })
                .collect(),
        ),
    };
    let lasts: Vec<Formula> = kept.iter().map(last).collect();
    let mut walk = Walk {
        name: vsa.port_name(port),
        length_bits: arrays.iter().filter_map(|a| vsa.length_bits(a.0)).collect(),
        arrays,
        address_bits: vsa.port_address_bits(port),
        bytes,
        word: vsa.bus_bytes(port) / bytes,
        trips,
        kept,
        parameters,
        lasts,
        functions: vsa.cases.iter().take(cases.len()).filter(|_| vsa.is_merged()).map(|c| c[0].low as usize).collect(),
        cases,
        last_turn,
        trim_stages: 1,
        phases,
        aligned: false,
        groups,
    };
    walk.leave_out();
    walk.aligned = !vsa.unaligned && walk.has_aligned_rows();
    walk.end_rows();
    Some(walk)
}

/// The cases' phases over the kept counters: of those that are fixed elsewhere, none.
fn cases(vsa: &Vsa, kept: &[usize], fixed: &[i64]) -> Vec<Vec<Span>> {
    let counted = vsa.parameters()..vsa.phases();
    let none = Span { low: 1, high: 0, end: Formula::Const(0) };
    let span = |k: usize, j: usize| {
        let span = &vsa.cases[k][j];
        let ends = [&span.end, &vsa.counters[j].last].into_iter().filter(|end| end.parameter().is_some());
        // A case of a merged array is of one function.
        let own = |end: Formula| if vsa.is_merged() { end.in_function(vsa.cases[k][0].low as usize) } else { end };
        let end = ends.map(|end| own(vsa.over_sizes(end))).fold(Formula::Const(span.high), Formula::least);
        let high = if let Formula::Const(last) = end { last.min(span.high) } else { span.high };
        Span { low: span.low, high, end }
    };
    let of = |k: usize| {
        let other =
            counted.clone().filter(|j| !kept.contains(j)).any(|j| span(k, j).holds(fixed[j]) == Formula::Const(0));
        kept.iter()
            .copied()
            .filter(|j| counted.contains(j))
            .map(|j| if other { none.clone() } else { span(k, j) })
            .collect::<Vec<_>>()
    };
    (0..vsa.cases.len()).map(of).collect()
}

/// Some group is served in phases of a case.
fn serves(vsa: &Vsa, raw: &[Raw], case: usize) -> bool {
    let phases = &vsa.cases[case];
    // The end of a loop of phases is that of the case's function.
    let end = |p: usize| match vsa.counters[p].last.in_function(phases[0].low as usize) {
        Formula::Const(end) => Some(end),
        _ => None,
    };
    let value = |r: &Raw, j: usize| {
        let end = r.when.parameter(j).filter(|_| vsa.is_merged()).and_then(end);
        end.or_else(|| r.when.value(j))
    };
    raw.iter().any(|r| {
        r.when.is_in_case(Some(case))
            && r.when.runs().into_iter().any(|f| f.is_none_or(|f| phases[0].contains(f as i64)))
            && phases.iter().enumerate().all(|(j, span)| value(r, j).is_none_or(|v| span.contains(v)))
    })
}

/// Drains of an output group in a phase that emits, by case; at the greatest sizes, and at all.
fn drains(vsa: &Vsa, group: &OutputGroup) -> (i64, Formula) {
    let counted = vsa.phases()..vsa.tile_depth;
    let in_case = |case: Option<usize>| {
        if !group.emit.is_in_case(case) {
            return Formula::Const(0);
        }
        let often = |j: usize| match (group.emit.value(j), vsa.last(j, case)) {
            (None, last) => last.plus(Formula::Const(1)),
            // At a counter's end, wherever that is.
            (Some(v), _) if v == 0 || vsa.counters[j].limit().is_some() => Formula::Const(1),
            (Some(v), last) => {
                let value = group.emit.parameter(j).map_or(Formula::Const(v), |p| vsa.counters[p].last.clone());
                last.plus(value.times(Formula::Const(-1))).holds()
            }
        };
        counted.clone().map(often).fold(Formula::Const(1), Formula::times)
    };
    let by_case: Vec<Formula> = (0..vsa.cases.len()).map(Some).chain([None]).map(in_case).collect();
    let most = by_case.iter().map(|f| f.range(&vsa.sizes.maxima()).1).max().unwrap_or(1);
    (most.clamp(1, i64::MAX.into()) as i64, Formula::by_case(by_case))
}

fn wait(vsa: &Vsa, after: &After, kept: &[usize]) -> Wait {
    let until = match after.until {
        Until::Lag(lag) => WaitUntil::Lag(lag),
        Until::Phase => {
            let output = &vsa.outputs[after.output as usize];
            let (most, drains) = drains(vsa, output);
            WaitUntil::Phase {
                drains,
                most,
                emit: kept.iter().filter(|&&j| j < vsa.phases()).map(|&j| output.emit.value(j)).collect(),
            }
        }
    };
    Wait { output: after.output as usize, until }
}

/// An extent of the array, as the footprint's view sees it.
struct Extent {
    /// Over the kept counters. `None`: functions have arrays of unlike extents, and no row ends early ([`WalkGroup::is_whole`]).
    affine: Option<Affine>,
    formula: Formula,
}

/// One number for each run of a group, in terms of the function of a merged array.
fn of_each_run(vsa: &Vsa, r: &Raw, value: impl Fn(&DramArray) -> i64) -> Formula {
    let of = |array: usize| Formula::Const(value(&vsa.arrays[array]));
    // In runs of others, nothing asks.
    let in_function = |f: usize| r.when.functions.iter().position(|g| *g == f).unwrap_or(0);
    match vsa.functions.len() {
        0 => of(r.arrays[0]),
        functions => Formula::of_function((0..functions).map(|f| of(r.arrays[in_function(f)])).collect()),
    }
}

/// Extents of the array as the footprint's view sees them.
fn extents(vsa: &Vsa, r: &Raw, kept: usize) -> Vec<Extent> {
    let rank = r.footprint.view.len();
    match vsa.sizes.extents.get(&r.arrays[0]) {
        // Only constant extents are joined.
        Some(extents) => {
            let (outer, inner) = extents.split_at(rank - 1);
            let joined = inner.iter().skip(1).fold(inner[0].clone(), |all, e| {
                let scale = |x: i64| x * e.constant;
                Affine { coeffs: all.coeffs.iter().map(|&c| scale(c)).collect(), constant: scale(all.constant) }
            });
            // The first parameters are the sizes less one.
            let over = |e: &Affine| {
                let mut coeffs = e.coeffs.clone();
                coeffs.resize(kept, 0);
                let affine = Affine { coeffs, constant: e.constant + e.coeffs.iter().sum::<i64>() };
                Extent { affine: Some(affine), formula: Formula::affine(e) }
            };
            outer.iter().chain([&joined]).map(over).collect()
        }
        None => {
            let extent = |d: usize| {
                let formula = of_each_run(vsa, r, |array| array.extents(rank)[d]);
                let constant = if let Formula::Const(e) = formula { Some(e) } else { None };
                Extent { affine: constant.map(|e| Affine::constant(kept, e)), formula }
            };
            (0..r.array.extents(rank).len()).map(extent).collect()
        }
    }
}

/// `unit`: bytes per element of the walk; `outer`: its dimensions except the last.
fn group(vsa: &Vsa, r: &Raw, unit: u32, outer: usize, kept: &[usize], fixed: &[i64]) -> WalkGroup {
    let missing = outer - r.footprint.rows.len();
    let extents = extents(vsa, r, kept.len());
    let affine = |f: &Form| Affine {
        constant: f.constant + f.counters.iter().zip(fixed).map(|(a, c)| a * c).sum::<i64>(),
        coeffs: kept.iter().map(|&j| f.counters.get(j).copied().unwrap_or(0)).collect(),
    };
    // Coordinates of local element 0 of a row, and its subscripts.
    let local = |d: usize, f: &Form| RowForm {
        start: affine(f),
        rows: (0..outer).map(|k| i64::from(k == missing + d)).collect(),
    };
    let y: Vec<RowForm> = r.footprint.origin.iter().enumerate().map(|(d, f)| local(d, f)).collect();
    let subscript = |form: &Affine| {
        let constant = RowForm::constant(form.constant, kept.len(), outer);
        form.coeffs.iter().zip(&y).fold(constant, |sum, (&c, y)| sum.combine(c, y))
    };
    let x: Vec<RowForm> = r.footprint.view.iter().map(subscript).collect();
    let mut address = RowForm::constant(0, kept.len(), outer);
    let mut strided = vec![];
    let mut stride = Formula::Const(r.array.ty.bytes().into());
    let divisor = |e: &Extent| match (&e.affine, e.formula.table()) {
        (Some(affine), _) => affine.coeffs.iter().fold(affine.constant, |all, c| gcd(all, *c)),
        (None, table) => table.into_iter().flatten().fold(0, gcd),
    };
    let whole = extents.iter().map(divisor).product::<i64>() * i64::from(r.array.ty.bytes());
    for (x, Extent { formula: extent, .. }) in x.iter().zip(&extents).rev() {
        match stride {
            Formula::Const(stride) => address = address.combine(stride, x),
            ref stride => strided.push((stride.clone(), x.clone())),
        }
        stride = stride.times(extent.clone());
    }
    let [y_outer @ .., y_last] = &y[..] else { unreachable!("an array has a dimension") };
    let ((along, by), step) = (r.footprint.along(), r.footprint.step(&r.array.extents(r.footprint.view.len())));
    // From one subscript along the rows to the next; `step` is a multiple of it, or there is one element. Extents that
    // follow sizes are no part of it: rows run along the last dimension then.
    let inner = if r.footprint.elements > 1 { step / by } else { 1 };
    let mut ends = Ends::default();
    for (d, (x, Extent { affine, .. })) in x.iter().zip(&extents).enumerate() {
        let Some(start) = affine.clone() else { continue };
        let extent = RowForm { start, rows: vec![0; outer] };
        ends.within(x, x.times(-1).combine(1, &extent).plus(-1), (d == along).then_some(inner));
    }
    for b in r.bounds {
        let mut form = RowForm::constant(b.constant, kept.len(), outer);
        for (j, c) in b.phases.iter().enumerate() {
            match kept.iter().position(|&k| k == j) {
                Some(k) => form.start.coeffs[k] = *c,
                None => form.start.constant += c * fixed[j],
            }
        }
        let form = b.coeffs.iter().zip(y_outer).fold(form, |form, (c, y)| form.combine(*c, y));
        ends.bounded((b.scale, b.equality), form, y_last, step);
    }
    let Ends { gates, mut lowers, mut uppers } = ends;
    let single = FootprintDim { modulus: 1, extent: 1 };
    let rows: Vec<FootprintDim> =
        iter::repeat_n(single, outer - r.footprint.rows.len()).chain(r.footprint.rows.iter().cloned()).collect();
    let ends = iter::repeat_n(Formula::Const(0), missing).chain(r.reach.iter().cloned()).collect();
    // Ends in elements of the walk.
    let scale = i64::from(r.array.ty.bytes() / unit);
    lowers.iter_mut().chain(&mut uppers).for_each(|f| *f = f.times(scale));
    let elements = scale * (step * (r.footprint.elements - 1) + 1);
    // Parameters come first among the counters that stay, so they keep their places.
    let at = kept.iter().map(|&j| r.when.at.get(j).cloned().flatten()).collect();
    let when = When { at, ..r.when.clone() };
    let (words, slots) = (r.footprint.beats(step, i64::from(r.array.word)), r.slots);
    WalkGroup {
        group: r.group,
        arrays: r.arrays.clone(),
        turn: 0,
        when,
        rows,
        ends,
        words,
        elements,
        step,
        scale,
        extent: of_each_run(vsa, r, DramArray::bytes),
        whole,
        address,
        strided,
        gates,
        lowers,
        uppers,
        slots,
        waits: vec![],
    }
}
