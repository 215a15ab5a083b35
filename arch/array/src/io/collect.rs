//! Layouts of output groups: the cells of every collector, and the tiles in which they leave.
//!
//! Problem: each PE stores into its own collector, and a tile's cells leave as one box. That works if cells are told
//! apart by PE or by tile, and if the cells form a box. A diagonal does not: `C[i][i + p0]` touches 1 of `n` cells per
//! row.
//!
//! Method: the box is laid out over coordinates of its own, `view` gives the subscripts. If the plain subscripts fail,
//! coordinates are sheared (`y1 - y0` instead of `y1`), which turns a diagonal into a box. If rows would move too many
//! words, every element becomes a row of its own.
//!
//! Invariants: the buffers of one output group own disjoint cells; the boxes of two tiles that store the same array do
//! not overlap.
//!
//! Source: AutoSA, section 4.3 (drain modules); shearing as loop skewing (Wolfe).

use crate::contract::tiles;
use crate::draft::{Coordinates, InputDraft, OutputDraft, PeBox};
use crate::io::footprint::layout;
use crate::vsa::*;
use scop::flow;
use scop::{Affine, Constraint};
use std::collections::BTreeSet;
use std::iter;
use uniform::affine::map::{between, in_bounds};
use uniform::affine::{Condition, Form};
use uniform::mapping::Mapping;
use uniform::refusal::Unstorable;
use uniform::sizes::Formula;

/// # Errors
/// When the cells cannot be told apart by PE or by tile, however the box is turned.
pub fn output(
    draft: &OutputDraft,
    array: u32,
    word: u32,
    dims: &[i64],
    mapping: &Mapping,
) -> Result<OutputGroup, Unstorable> {
    let mut draft = draft.clone();
    if draft.subscripts.is_empty() {
        draft.subscripts.push(Form { constant: 0, counters: vec![0; mapping.counters.len()], space: [0, 0] });
        draft.view = Footprint::plain_view(1);
        draft.ports.iter_mut().for_each(|p| p.offset.push(0));
        // The counters of the phases stand behind the coordinate.
        draft.cells.iter_mut().for_each(|c| c.expr.coeffs.insert(0, 0));
    }
    let rank = draft.subscripts.len();
    let shears = || {
        (0..rank)
            .rev()
            .flat_map(move |d| (0..rank - 1).filter(move |&e| e != d).flat_map(move |e| [1, -1].map(|by| (d, e, by))))
    };
    let equal = std::mem::take(&mut draft.equal).into_iter().map(|Coordinates { subscripts, offsets }| {
        let mut other = OutputDraft { subscripts, ..draft.clone() };
        other.ports.iter_mut().zip(offsets).for_each(|(port, offset)| port.offset = offset);
        other
    });
    let mut all: Vec<OutputDraft> = [draft.clone()].into_iter().chain(equal).collect();
    all.iter_mut().flat_map(|draft| &mut draft.subscripts).for_each(|form| mapping.drop_single(form));
    let mut fault = None;
    let mut turn = |all: &[OutputDraft], found: &dyn Fn(&OutputGroup) -> bool| {
        let turned = all.iter().flat_map(|draft| {
            std::iter::once(draft.clone()).chain(shears().map(|(d, e, by)| sheared(draft, d, e, by)))
        });
        turned.map(|draft| output_as_drafted(&draft, array, word, dims, mapping)).find_map(|group| match group {
            Ok(group) => found(&group).then_some(group),
            Err(why) => {
                fault.get_or_insert(why);
                None
            }
        })
    };
    // Where extents follow sizes, steps over them have no number.
    let has_step = |footprint: &Footprint| mapping.parameters() == 0 || footprint.along().0 + 1 == footprint.view.len();
    let rows = turn(&all, &|group| has_step(&group.footprint) && in_few_beats(&group.footprint, dims, word));
    // A word for each element instead.
    let found = rows.or_else(|| turn(&all.iter().map(single).collect::<Vec<_>>(), &|_| true));
    found.ok_or_else(|| fault.expect("one fails where none is found"))
}

/// A row's words, and those between its cells in memory, are no more than its cells.
fn in_few_beats(footprint: &Footprint, dims: &[i64], word: u32) -> bool {
    let step = footprint.step(dims);
    step == 1 || step <= Footprint::MOST_STEP && footprint.beats(step, i64::from(word)) <= footprint.elements
}

/// Rows of one element: what moves along the rows moves from row to row.
fn single(draft: &OutputDraft) -> OutputDraft {
    let mut draft = draft.clone();
    let (rank, like) = (draft.subscripts.len(), &draft.subscripts[0]);
    let last = draft.view.last_mut().map(|form| std::mem::take(&mut form.constant)).unwrap_or(0);
    draft.subscripts.push(Form { constant: last, counters: vec![0; like.counters.len()], space: [0, 0] });
    let dims = draft.view.len();
    draft.view.iter_mut().enumerate().for_each(|(d, form)| form.coeffs.push(i64::from(d + 1 == dims)));
    draft.ports.iter_mut().for_each(|port| port.offset.push(0));
    draft.cells.iter_mut().for_each(|cell| cell.expr.coeffs.insert(rank, 0));
    draft
}

/// The group of a statement whose stored cells are a box in plain sight, before its PE is known. `moved`: axes along
/// which the cells differ, elsewhere the last place stores; `sums`: tile counters that do not move the cells.
pub fn sketch(
    draft: &InputDraft,
    array: u32,
    word: u32,
    moved: [bool; 2],
    sums: &[bool],
    cases: &BTreeSet<usize>,
    mapping: &Mapping,
) -> OutputGroup {
    let l = layout(
        &draft.subscripts,
        Footprint::plain_view(draft.subscripts.len()),
        &draft.ports,
        word as i64,
        PeBox::whole(mapping.extent),
        mapping,
    );
    let last = mapping.extent.map(|e| e - 1);
    OutputGroup {
        arrays: vec![],
        array,
        subscripts: draft.subscripts.clone(),
        ports: vec![],
        first: [0, 1].map(|a| if moved[a] { 0 } else { last[a] }),
        last,
        emit: When {
            cases: mapping.cases_but(cases.clone()),
            ..When::new(sums.iter().zip(&mapping.counters).map(|(s, c)| s.then_some(c.trip - 1)))
        },
        footprint: l.footprint,
        banks: l.banks.into_iter().map(|bank| OutputBank { bank, elements: l.elements }).collect(),
        row: l.row,
        col: l.col,
        slots: if !sums.is_empty() && !sums.contains(&true) { 2 } else { 1 },
        bounds: vec![],
    }
}

/// Coordinate `d` less `by` times coordinate `e`: cells on a diagonal become a box.
fn sheared(draft: &OutputDraft, d: usize, e: usize, by: i64) -> OutputDraft {
    let mut draft = draft.clone();
    let (from, to) = (draft.subscripts[e].clone(), &mut draft.subscripts[d]);
    to.constant -= by * from.constant;
    to.counters.iter_mut().zip(&from.counters).for_each(|(t, f)| *t -= by * f);
    to.space.iter_mut().zip(&from.space).for_each(|(t, f)| *t -= by * f);
    draft.ports.iter_mut().for_each(|p| p.offset[d] -= by * p.offset[e]);
    let affine = draft.view.iter_mut().chain(draft.cells.iter_mut().map(|c| &mut c.expr));
    affine.for_each(|a| a.coeffs[e] += by * a.coeffs[d]);
    draft
}

fn output_as_drafted(
    draft: &OutputDraft,
    array: u32,
    word: u32,
    dims: &[i64],
    mapping: &Mapping,
) -> Result<OutputGroup, Unstorable> {
    let mut subscripts = draft.subscripts.clone();
    let offsets: Vec<Vec<i64>> = draft.ports.iter().map(|p| p.offset.clone()).collect();
    // Ports in order of their cells; the first one's offset moves into the subscripts.
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by(|&a, &b| offsets[a].cmp(&offsets[b]));
    let least = offsets[order[0]].clone();
    subscripts.iter_mut().zip(&least).for_each(|(f, l)| f.constant += l);
    let sorted: Vec<Vec<i64>> =
        order.iter().map(|&o| offsets[o].iter().zip(&least).map(|(x, l)| x - l).collect()).collect();
    let l = layout(&subscripts, draft.view.clone(), &sorted, word as i64, PeBox::whole(mapping.extent), mapping);
    let pes @ PeBox { first, last } = emitting_box(draft, mapping);
    let emit = emitting_tiles(draft, &l.footprint, mapping)?;
    let banks: Vec<OutputBank> = l.banks.into_iter().map(|bank| OutputBank { bank, elements: l.elements }).collect();
    owners_differ(&banks, word.into(), pes)?;
    let bounds = cell_bounds(draft, dims, &emit, mapping)?;
    // At some sizes the tile loops that end a sum have a single iteration.
    let every = mapping.tile_depth > 0
        && emit
            .iter()
            .enumerate()
            .all(|(j, e)| e.is_none() || mapping.counters[j].limit().is_some() || mapping.is_limited_by_case(j));
    let ports = order
        .iter()
        .zip(sorted)
        .map(|(&o, offset)| OutputPort { value: draft.ports[o].value, enable: draft.ports[o].enable, offset })
        .collect();
    // In one phase only it emits there.
    let single_phase = (mapping.parameters()..mapping.phases()).all(|j| emit[j].is_some());
    let cases = draft.cases.clone().and_then(|some| mapping.cases_but(some)).filter(|_| !single_phase);
    Ok(OutputGroup {
        arrays: vec![],
        array,
        subscripts,
        ports,
        first,
        last,
        emit: When { at: emit, cases, ..When::default() },
        footprint: l.footprint,
        banks,
        row: l.row,
        col: l.col,
        slots: if every { 2 } else { 1 },
        bounds,
    })
}

/// PEs that ever emit, by the conditions on a single axis.
fn emitting_box(draft: &OutputDraft, mapping: &Mapping) -> PeBox {
    let emitting = |conjunction: &Vec<Condition>| {
        let mut pes = PeBox::whole(mapping.extent);
        for Condition { form, equality } in conjunction {
            for a in 0..2 {
                let by = form.space[a];
                if by == 0 || form.space[1 - a] != 0 || form.counters.iter().any(|&c| c != 0) {
                    continue;
                }
                // by * p + constant >= 0
                let end = -form.constant * by.signum();
                if by > 0 || *equality {
                    pes.first[a] = pes.first[a].max((end + by.abs() - 1).div_euclid(by.abs()));
                }
                if by < 0 || *equality {
                    pes.last[a] = pes.last[a].min(end.div_euclid(by.abs()));
                }
            }
        }
        pes
    };
    let all = draft.ports.iter().flat_map(|p| &p.when).map(emitting).reduce(PeBox::around);
    all.unwrap_or(PeBox { first: [0, 0], last: [0, 0] })
}

/// Per tile counter, the value at which the group emits: a parameter where sizes end the counter by case.
fn emitting_tiles(
    draft: &OutputDraft,
    footprint: &Footprint,
    mapping: &Mapping,
) -> Result<Vec<Option<Formula>>, Unstorable> {
    if !tiles::disjoint(footprint, mapping.phases().max(mapping.parameters())..mapping.tile_depth, |j| {
        mapping.counters[j].trip
    }) {
        return Err(Unstorable::TilesOverlap);
    }
    let mut emit = Vec::new();
    for j in 0..mapping.tile_depth {
        let limited = mapping.counters[j].limit().is_some();
        let last = mapping.counters[j].trip - 1;
        let value = |conjunction: &Vec<Condition>| {
            // Phases are known by their numbers: the last one's follows from the sizes, and which cells it stores the
            // bounds say.
            let ends = conjunction.iter().any(|c| j >= mapping.phases() && mapping.is_end(j, c)).then_some(last);
            // If sizes end a counter, its last value has no number of its own.
            ends.or_else(|| conjunction.iter().find_map(|c| c.fixes(j)).filter(|&v| !limited || v == 0))
        };
        let mut values: Vec<Option<i64>> = draft.ports.iter().flat_map(|p| &p.when).map(value).collect();
        values.dedup();
        // A size may have any value; which cells are stored at it the bounds say.
        if draft.spilled.contains(&j) || j < mapping.parameters() {
            emit.push(None);
            continue;
        }
        // Phases may store cells again: they store one after the other.
        if j < mapping.phases() {
            emit.push(if let [one] = values.as_slice() { one.map(Formula::Const) } else { None });
            continue;
        }
        if footprint.origin.iter().any(|form| form.counters[j] != 0) {
            emit.push(None);
            continue;
        }
        if let Some(end) = mapping.end(j, draft.ports.iter().flat_map(|p| &p.when)) {
            emit.push(Some(Formula::Parameter { place: end as u32, most: mapping.counters[end].trip - 1 }));
            continue;
        }
        match values.as_slice() {
            [Some(v)] => emit.push(Some(Formula::Const(*v))),
            // In phases of several cases, or where no one function of the sizes tells.
            _ if mapping.is_limited_by_case(j) => return Err(Unstorable::Varying(j)),
            _ => return Err(Unstorable::SeveralTiles(mapping.counters[j].name.clone())),
        }
    }
    Ok(emit)
}

/// Two banks that are `d` PEs apart along one dimension: their begins differ by `offset + coef · d`, modulo `period` if
/// that is not 0.
#[derive(PartialEq)]
struct Gap {
    offset: i64,
    coef: [i64; 2],
    size: i64,
    period: i64,
}

impl Gap {
    /// The banks overlap along the dimension.
    fn overlaps(&self, d: [i64; 2]) -> bool {
        let shift = self.offset + self.coef[0] * d[0] + self.coef[1] * d[1];
        let near = if self.period > 0 { shift.rem_euclid(self.period) } else { shift };
        near.abs() < self.size || self.period - near < self.size && self.period > 0
    }
}

/// Two banks by dimension; or the same one in two PEs.
#[derive(PartialEq)]
struct Pair {
    gaps: Vec<Gap>,
    same: bool,
}

/// No cell belongs to two collectors, or to two banks of one. Two banks `d` PEs apart overlap iff in every dimension
/// their begins differ by less than their size: per distance along the first axis, an interval of distances along the
/// second one.
fn owners_differ(banks: &[OutputBank], word: i64, pes: PeBox) -> Result<(), Unstorable> {
    let extent = [0, 1].map(|a| pes.last[a] - pes.first[a]);
    let mut pairs: Vec<Pair> = Vec::new();
    for (x, a) in banks.iter().enumerate() {
        for (y, b) in banks.iter().enumerate().skip(x) {
            if a.bank.rows.iter().zip(&b.bank.rows).any(|(r, s)| r.residue != s.residue) {
                continue;
            }
            let rows = a.bank.rows.iter().zip(&b.bank.rows);
            let gap = |offset, coef, size| Gap { offset, coef, size, period: 0 };
            let rows = rows.map(|(r, s)| gap(s.base - r.base, r.coef, r.extent));
            let period = a.bank.stride * word;
            let last = Gap { period, ..gap(b.bank.base - a.bank.base, a.bank.coef, a.elements) };
            let pair = Pair { gaps: rows.chain([last]).collect(), same: x == y };
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    let overlap = |Pair { gaps, same }: &Pair| {
        (-extent[0]..=extent[0]).any(|d0| {
            if gaps.iter().any(|gap| gap.period > 0) {
                let mut along = (-extent[1]..=extent[1]).filter(|d1| !(*same && d0 == 0 && *d1 == 0));
                return along.any(|d1| gaps.iter().all(|gap| gap.overlaps([d0, d1])));
            }
            let (mut lo, mut hi) = (-extent[1], extent[1]);
            for &Gap { offset, coef, size, .. } in gaps {
                // -size < offset + coef · d < size
                let (low, high) = (1 - size - offset - coef[0] * d0, size - 1 - offset - coef[0] * d0);
                match coef[1] {
                    0 if low > 0 || high < 0 => return false,
                    0 => {}
                    c => {
                        let (low, high) = if c > 0 { (low, high) } else { (-high, -low) };
                        lo = lo.max(-(-low).div_euclid(c.abs()));
                        hi = hi.min(high.div_euclid(c.abs()));
                    }
                }
            }
            // The same bank of the same place is no overlap.
            let itself = i64::from(*same && d0 == 0 && lo <= 0 && 0 <= hi);
            hi - lo + 1 > itself
        })
    };
    if pairs.iter().any(overlap) {
        return Err(Unstorable::SharedByPes);
    }
    Ok(())
}

/// The written cells as bounds on the last coordinate; bounds that the array's extents or the tiles imply are left
/// out.
fn cell_bounds(
    draft: &OutputDraft,
    dims: &[i64],
    emit: &[Option<Formula>],
    mapping: &Mapping,
) -> Result<Vec<CellBound>, Unstorable> {
    let Some(rank) = draft.view.first().map(|a| a.coeffs.len()) else { return Ok(vec![]) };
    let all = draft.cells.first().map_or(rank, |c| c.expr.coeffs.len());
    // Phase coordinates stand behind the cell's; what is known of them are their loops' ends.
    let longer = |c: Constraint| Constraint {
        expr: Affine { coeffs: c.expr.coeffs.into_iter().chain(iter::repeat(0)).take(all).collect(), ..c.expr },
        ..c
    };
    let mut context: Vec<Constraint> = in_bounds(&draft.view, dims).into_iter().map(longer).collect();
    for (k, &(lo, hi)) in mapping.bounds.iter().take(all - rank).enumerate() {
        context.extend(between(rank + k, [lo, hi], all));
    }
    let bound = |c: &Constraint| {
        let scale = c.expr.coeffs[rank - 1];
        if scale.abs() > 1 {
            return Err(Unstorable::Stride);
        }
        let mut bound = CellBound {
            scale,
            coeffs: c.expr.coeffs[..rank - 1].to_vec(),
            phases: vec![0; mapping.phases()],
            constant: c.expr.constant,
            equality: c.equality,
        };
        for (d, factor) in c.expr.coeffs[rank..].iter().enumerate() {
            bound.constant += factor * mapping.bounds[d].0;
            for digit in &mapping.digits[d] {
                match &emit[digit.index] {
                    Some(value) => bound.constant += factor * value.most(),
                    None => bound.phases[digit.index] += factor,
                }
            }
        }
        Ok(bound)
    };
    let holds = |b: &CellBound| {
        b.scale == 0
            && b.coeffs.iter().chain(&b.phases).all(|&c| c == 0)
            && if b.equality { b.constant == 0 } else { b.constant >= 0 }
    };
    let bounds: Result<Vec<CellBound>, Unstorable> =
        flow::simplify(&draft.cells, &context, all).iter().map(bound).collect();
    Ok(bounds?.into_iter().filter(|b| !holds(b)).collect())
}
