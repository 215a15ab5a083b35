//! Layouts of the I/O groups: which box of an array one visit touches, what every feeder or collector keeps of it, and
//! at which address.
//!
//! Invariants: all local coordinates and addresses are non-negative; the buffers of one output group own disjoint
//! cells; the boxes of two visits that store the same array do not overlap.
//!
//! Source: AutoSA section 4.3 (I/O groups, L1/L2/L3 modules); the rest follows from `vsa`'s definitions.

use crate::lower::{Illegal, InputDraft, OutputDraft};
use crate::mapping::Mapping;
use crate::system::in_bounds;
use crate::vsa::*;
use frontend::flow;
use frontend::scop::{Affine, Constraint};

/// One array dimension of an access, taken apart.
struct Dimension {
    /// Coefficients of the counters inside a visit (tile counters zeroed) and of the axes.
    inner: Vec<i64>,
    space: [i64; 2],
    origin: Form,
    /// Least value the counters contribute, number of values they span.
    counter_min: i64,
    counter_extent: i64,
    /// `-Σ negative axis contributions`, so that `space_base + space·p >= 0`.
    space_base: i64,
    /// Elements the visit touches.
    range: i64,
    least_offset: i64,
}

fn take_apart(form: &Form, offsets: impl Iterator<Item = i64> + Clone, mapping: &Mapping) -> Dimension {
    let depth = mapping.tile_depth;
    let trip = |j: usize| mapping.counters[j].trip;
    let mut inner = form.counters.clone();
    let mut outer = form.counters.clone();
    inner[..depth].fill(0);
    outer[depth..].fill(0);
    let span = |coeffs: &[i64], sizes: &dyn Fn(usize) -> i64| {
        coeffs.iter().enumerate().fold((0, 0), |(lo, hi), (j, &c)| if c < 0 { (lo + c * (sizes(j) - 1), hi) } else { (lo, hi + c * (sizes(j) - 1)) })
    };
    let (counter_min, counter_max) = span(&inner, &trip);
    let (space_min, space_max) = span(&form.space, &|a| mapping.extent[a]);
    let (least, most) = (offsets.clone().min().unwrap_or(0), offsets.max().unwrap_or(0));
    Dimension {
        inner,
        space: form.space,
        origin: Form { constant: form.constant + counter_min + space_min + least, counters: outer, space: [0, 0] },
        counter_min,
        counter_extent: counter_max - counter_min + 1,
        space_base: -space_min,
        range: counter_max - counter_min + space_max - space_min + most - least + 1,
        least_offset: least,
    }
}

pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

impl Dimension {
    /// Greatest stride that all movement inside a visit keeps to.
    fn modulus(&self, mapping: &Mapping) -> i64 {
        let counters = self.inner.iter().enumerate().filter(|(j, _)| mapping.counters[*j].trip > 1).map(|(_, &c)| c);
        let axes = (0..2).filter(|&a| mapping.extent[a] > 1).map(|a| self.space[a]);
        gcd(counters.chain(axes).fold(0, gcd), 0).max(1)
    }
}

/// What inputs and outputs have in common.
struct Layout {
    hull: Hull,
    banks: Vec<Bank>,
    row: Form,
    col: Form,
    /// Elements per row that the buffer of one PE holds, per bank.
    elements: i64,
}

fn layout(subscripts: &[Form], view: Vec<Affine>, ports: &[Vec<i64>], word: i64, mapping: &Mapping) -> Layout {
    let last = subscripts.len() - 1;
    let dims: Vec<Dimension> = subscripts.iter().enumerate().map(|(d, f)| take_apart(f, ports.iter().map(move |p| p[d]), mapping)).collect();
    let moduli: Vec<i64> = dims[..last].iter().map(|d| d.modulus(mapping)).collect();
    let joined = ports.len() > 1 && one_word(&dims, ports, word, mapping);
    let groups: Vec<(usize, usize)> = if joined { vec![(0, ports.len())] } else { (0..ports.len()).map(|p| (p, 1)).collect() };
    let elements = dims[last].counter_extent + groups[0].1 as i64 - 1;
    let base = |port: usize| dims[last].space_base + ports[port][last] - dims[last].least_offset;
    let pes = || (0..mapping.extent[0]).flat_map(|p0| (0..mapping.extent[1]).map(move |p1| [p0, p1]));
    let start = |port: usize, p: [i64; 2]| base(port) + dims[last].space[0] * p[0] + dims[last].space[1] * p[1];
    let starts: Vec<i64> = groups.iter().flat_map(|&(port, _)| pes().map(move |p| start(port, p))).collect();
    let words_per_row = starts.iter().map(|s| (s.rem_euclid(word) + elements + word - 1) / word).max().unwrap_or(1);
    let words = starts.iter().map(|s| s.div_euclid(word) + words_per_row).max().unwrap_or(1);
    let rows = |port: usize| {
        let row = |d: usize| {
            let shift = ports[port][d] - dims[d].least_offset;
            let residue = shift.rem_euclid(moduli[d]);
            BankDim {
                base: (dims[d].space_base + shift - residue) / moduli[d],
                coef: dims[d].space.map(|b| b / moduli[d]),
                extent: (dims[d].counter_extent - 1) / moduli[d] + 1,
                residue,
            }
        };
        (0..last).map(row).collect::<Vec<BankDim>>()
    };
    let zero = || Form { constant: 0, counters: vec![0; mapping.counters.len()], space: [0, 0] };
    let add = |to: &mut Form, d: &Dimension, modulus: i64, stride: i64| {
        to.constant -= d.counter_min / modulus * stride;
        to.counters.iter_mut().zip(&d.inner).for_each(|(t, c)| *t += c / modulus * stride);
    };
    let (mut row, mut col, mut stride) = (zero(), zero(), words_per_row);
    for d in (0..last).rev() {
        add(&mut row, &dims[d], moduli[d], stride);
        stride *= (dims[d].counter_extent - 1) / moduli[d] + 1;
    }
    add(&mut col, &dims[last], 1, 1);
    let bank = |&(port, count): &(usize, usize)| Bank {
        port: port as u32,
        ports: count as u32,
        rows: rows(port),
        base: base(port),
        coef: dims[last].space,
        words_per_row,
        depth: stride,
    };
    let banks = groups.iter().map(bank).collect();
    let hull_rows = (0..last).map(|d| HullDim { modulus: moduli[d], extent: (dims[d].range + moduli[d] - 1) / moduli[d] }).collect();
    let hull = Hull { view, origin: dims.iter().map(|d| d.origin.clone()).collect(), rows: hull_rows, words: words.max((dims[last].range + word - 1) / word), elements: dims[last].range };
    Layout { hull, banks, row, col, elements }
}

/// All ports are consecutive elements of one word, for every wave and PE.
fn one_word(dims: &[Dimension], ports: &[Vec<i64>], word: i64, mapping: &Mapping) -> bool {
    let (last, n) = (dims.len() - 1, ports.len() as i64);
    let consecutive = ports.iter().enumerate().all(|(l, p)| p[..last] == ports[0][..last] && p[last] - ports[0][last] == l as i64);
    let counters = dims[last].inner.iter().enumerate().all(|(j, c)| mapping.counters[j].trip == 1 || c % n == 0);
    let axes = (0..2).all(|a| mapping.extent[a] == 1 || dims[last].space[a] % n == 0);
    consecutive && counters && axes && word % n == 0 && dims[last].space_base % n == 0 && dims[last].counter_min % n == 0
}

fn reload(hull: &Hull) -> usize {
    hull.origin.iter().flat_map(|f| f.counters.iter().enumerate().filter(|(_, &c)| c != 0).map(|(j, _)| j + 1)).max().unwrap_or(0)
}

pub fn input(draft: &InputDraft, array: u32, word: u32, mapping: &Mapping) -> InputGroup {
    let l = layout(&draft.subscripts, Hull::plain_view(draft.subscripts.len()), &draft.ports, word as i64, mapping);
    let forward = [0, 1].map(|a| draft.subscripts.iter().all(|f| f.space[a] == 0));
    InputGroup {
        array,
        subscripts: draft.subscripts.clone(),
        ports: draft.ports.clone(),
        forward,
        reload: reload(&l.hull),
        hull: l.hull,
        banks: l.banks,
        row: l.row,
        col: l.col,
        after: None,
    }
}

/// # Errors
/// When the cells cannot be told apart by PE or by visit, however the box is turned.
pub fn output(draft: &OutputDraft, array: u32, word: u32, dims: &[i64], name: &str, mapping: &Mapping) -> Result<OutputGroup, Illegal> {
    let mut draft = draft.clone();
    if draft.subscripts.is_empty() {
        draft.subscripts.push(Form { constant: 0, counters: vec![0; mapping.counters.len()], space: [0, 0] });
        draft.view = Hull::plain_view(1);
        draft.ports.iter_mut().for_each(|p| p.offset.push(0));
    }
    let rank = draft.subscripts.len();
    let shears = || (0..rank).rev().flat_map(move |d| (0..rank - 1).filter(move |&e| e != d).flat_map(move |e| [1, -1].map(|by| (d, e, by))));
    let equal = std::mem::take(&mut draft.others).into_iter().map(|(subscripts, offsets)| {
        let mut other = OutputDraft { subscripts, ..draft.clone() };
        other.ports.iter_mut().zip(offsets).for_each(|(port, offset)| port.offset = offset);
        other
    });
    let mut fault = None;
    for mut draft in [draft.clone()].into_iter().chain(equal) {
        draft.subscripts.iter_mut().for_each(|form| mapping.drop_single(form));
        for shear in std::iter::once(None).chain(shears().map(Some)) {
            let turned = shear.map_or_else(|| draft.clone(), |(d, e, by)| sheared(&draft, d, e, by));
            match output_as_drafted(&turned, array, word, dims, name, mapping) {
                Ok(group) => return Ok(group),
                Err(illegal) => fault = fault.or(Some(illegal)),
            }
        }
    }
    Err(fault.expect("the plain one fails first"))
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

fn output_as_drafted(draft: &OutputDraft, array: u32, word: u32, dims: &[i64], name: &str, mapping: &Mapping) -> Result<OutputGroup, Illegal> {
    let mut subscripts = draft.subscripts.clone();
    let offsets: Vec<Vec<i64>> = draft.ports.iter().map(|p| p.offset.clone()).collect();
    // Ports in order of their cells; the first one's offset moves into the subscripts.
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by(|&a, &b| offsets[a].cmp(&offsets[b]));
    let least = offsets[order[0]].clone();
    subscripts.iter_mut().zip(&least).for_each(|(f, l)| f.constant += l);
    let sorted: Vec<Vec<i64>> = order.iter().map(|&o| offsets[o].iter().zip(&least).map(|(x, l)| x - l).collect()).collect();
    let l = layout(&subscripts, draft.view.clone(), &sorted, word as i64, mapping);
    let (first, last) = emitting_box(draft, mapping);
    let emit = emitting_visits(draft, &l.hull, name, mapping)?;
    let banks: Vec<OutputBank> = l.banks.into_iter().map(|bank| OutputBank { bank, elements: l.elements }).collect();
    owners_differ(&banks, first, last, name)?;
    let every = mapping.tile_depth > 0 && emit.iter().all(|e| e.is_none());
    let ports = order.iter().zip(sorted).map(|(&o, offset)| OutputPort { value: draft.ports[o].value, enable: draft.ports[o].enable, offset }).collect();
    Ok(OutputGroup {
        array,
        subscripts,
        ports,
        first,
        last,
        emit,
        hull: l.hull,
        banks,
        row: l.row,
        col: l.col,
        slots: if every { 2 } else { 1 },
        bounds: cell_bounds(&draft.cells, &draft.view, dims, name)?,
    })
}

/// PEs that ever emit, by the conditions on a single axis.
fn emitting_box(draft: &OutputDraft, mapping: &Mapping) -> ([i64; 2], [i64; 2]) {
    let mut hull: Option<([i64; 2], [i64; 2])> = None;
    for conjunction in draft.ports.iter().flat_map(|p| &p.when) {
        let (mut lo, mut hi) = ([0, 0], mapping.extent.map(|e| e - 1));
        for condition in conjunction {
            let f = &condition.form;
            for a in 0..2 {
                if f.space[a] == 0 || f.space[1 - a] != 0 || f.counters.iter().any(|&c| c != 0) {
                    continue;
                }
                // space*p + constant >= 0
                if f.space[a] > 0 || condition.equality {
                    lo[a] = lo[a].max((-f.constant * f.space[a].signum() + f.space[a].abs() - 1).div_euclid(f.space[a].abs()));
                }
                if f.space[a] < 0 || condition.equality {
                    hi[a] = hi[a].min((-f.constant * f.space[a].signum()).div_euclid(f.space[a].abs()));
                }
            }
        }
        hull = Some(match hull {
            None => (lo, hi),
            Some((l, h)) => ([l[0].min(lo[0]), l[1].min(lo[1])], [h[0].max(hi[0]), h[1].max(hi[1])]),
        });
    }
    hull.unwrap_or(([0, 0], [0, 0]))
}

fn emitting_visits(draft: &OutputDraft, hull: &Hull, name: &str, mapping: &Mapping) -> Result<Vec<Option<i64>>, Illegal> {
    let mut emit = Vec::new();
    for j in 0..mapping.tile_depth {
        let moves = |d: usize| hull.origin[d].counters[j];
        if draft.spilled.contains(&j) {
            emit.push(None);
            continue;
        }
        if (0..hull.origin.len()).any(|d| moves(d) != 0) {
            let apart = |d: usize| {
                let smaller: i64 = (0..mapping.tile_depth)
                    .filter(|&k| k != j && hull.origin[d].counters[k].abs() < moves(d).abs())
                    .map(|k| hull.origin[d].counters[k].abs() * (mapping.counters[k].trip - 1))
                    .sum();
                moves(d).abs() >= range_used(hull, d) + smaller
            };
            if !(0..hull.origin.len()).any(|d| moves(d) != 0 && apart(d)) {
                return Err(Illegal(format!("tiles of `{name}` would overlap when stored")));
            }
            emit.push(None);
            continue;
        }
        let value = |conjunction: &Vec<Condition>| conjunction.iter().find_map(|c| c.fixes(j));
        let mut values: Vec<Option<i64>> = draft.ports.iter().flat_map(|p| &p.when).map(value).collect();
        values.dedup();
        match values.as_slice() {
            [Some(v)] => emit.push(Some(*v)),
            _ => return Err(Illegal(format!("`{name}` would be stored in several visits of {}", mapping.counters[j].name))),
        }
    }
    Ok(emit)
}

/// Cells per dimension that a visit really may touch (rounding up to the modulus does not count).
fn range_used(hull: &Hull, d: usize) -> i64 {
    if d + 1 == hull.origin.len() { hull.extent(d) } else { hull.extent(d) - (hull.rows[d].modulus - 1) }
}

fn owners_differ(banks: &[OutputBank], first: [i64; 2], last: [i64; 2], name: &str) -> Result<(), Illegal> {
    let at = |base: i64, coef: [i64; 2], p: [i64; 2]| base + coef[0] * p[0] + coef[1] * p[1];
    let mut boxes: Vec<Vec<(i64, i64)>> = Vec::new();
    for p0 in first[0]..=last[0] {
        for p1 in first[1]..=last[1] {
            for b in banks {
                let mut range: Vec<(i64, i64)> = b.bank.rows.iter().map(|r| { let s = at(r.base, r.coef, [p0, p1]); (s, s + r.extent) }).collect();
                range.extend(b.bank.rows.iter().map(|r| (r.residue, r.residue + 1)));
                let s = at(b.bank.base, b.bank.coef, [p0, p1]);
                range.push((s, s + b.elements));
                boxes.push(range);
            }
        }
    }
    boxes.sort();
    // Sorted by the first coordinate: only boxes that still reach the current one can overlap it.
    for (i, a) in boxes.iter().enumerate() {
        for b in boxes[i + 1..].iter().take_while(|b| b[0].0 < a[0].1) {
            if a.iter().zip(b).all(|(x, y)| x.0 < y.1 && y.0 < x.1) {
                return Err(Illegal(format!("two PEs would store the same cells of `{name}`")));
            }
        }
    }
    Ok(())
}

/// The written cells as bounds on the last coordinate; bounds that the array's extents imply are left out.
fn cell_bounds(cells: &[Constraint], view: &[Affine], dims: &[i64], name: &str) -> Result<Vec<CellBound>, Illegal> {
    let Some(n) = view.first().map(|a| a.coeffs.len()) else { return Ok(vec![]) };
    let bound = |c: &Constraint| {
        let scale = c.expr.coeffs[n - 1];
        if scale.abs() > 1 {
            return Err(Illegal(format!("the written cells of `{name}` have a stride")));
        }
        Ok(CellBound { scale, coeffs: c.expr.coeffs[..n - 1].to_vec(), constant: c.expr.constant, equality: c.equality })
    };
    flow::simplify(cells, &in_bounds(view, dims), n).iter().map(bound).collect()
}
