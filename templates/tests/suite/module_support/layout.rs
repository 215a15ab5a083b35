//! Random I/O groups: drawn at random, used if `Vsa::verify` accepts them. Tests compare with the cells that the
//! `subscripts` name, so they need to know nothing of banks and addresses.

use super::Random;
use array::vsa::*;
use scop::ScalarType;
use templates::io::words::StreamShape;
use uniform::affine::{Condition, Form};
use uniform::counters::Counter;

/// Tile counters, then inner ones; up to 3 x 3 PEs with any hop delay.
pub fn frame(r: &mut Random) -> Vsa {
    let mut v = super::empty_vsa("bench");
    v.tile_depth = r.range(0, 2) as usize;
    let inner = r.range(1, 3) as usize;
    v.counters = (0..v.tile_depth + inner).map(|j| Counter::constant(format!("t{j}"), r.range(1, 4))).collect();
    v.extent = [r.range(1, 3), r.range(1, 3)];
    v.schedule = Schedule {
        start: [0, 1].map(|_| AxisStart::even(r.range(1, 3) * r.pick(&[1, -1]))),
        interval: 1,
        ready: vec![],
        latency: vec![],
        ..Schedule::default()
    };
    v
}

fn random_array(r: &mut Random, v: &mut Vsa, rank: usize) -> u32 {
    let bits = r.pick(&[8u32, 16, 32, 64]);
    let bus = r.pick(&[4u32, 8, 16, 32, 64]).max(bits / 8);
    let name = format!("A{}", v.arrays.len());
    v.arrays.push(DramArray {
        name,
        ty: ScalarType::Int { bits, signed: r.chance(50) },
        dims: vec![100; rank],
        word: bus / (bits / 8),
        port: v.arrays.len() as u32,
        home: Default::default(),
    });
    v.arrays.len() as u32 - 1
}

/// Common part of input and output groups.
struct Parts {
    subscripts: Vec<Form>,
    ports: Vec<Vec<i64>>,
    footprint: Footprint,
    /// Banks, with the elements that each owns.
    banks: Vec<OutputBank>,
    row: Form,
    col: Form,
}

/// Window of a row digit: base, coefficients, and the form that walks it.
fn random_window(r: &mut Random, v: &Vsa, moves: [bool; 2], scale: i64) -> (i64, [i64; 2], Form) {
    let coef = [0, 1].map(|a| if moves[a] && r.chance(60) { scale * r.range(0, 4) } else { 0 });
    let mut walk = Form { constant: 0, counters: vec![0; v.counters.len()], space: [0, 0] };
    for j in v.tile_depth..v.counters.len() {
        if r.chance(40) {
            walk.counters[j] = scale * r.pick(&[1, 1, 2, 3]);
        }
    }
    (r.range(0, 2), coef, walk)
}

fn greatest(v: &Vsa, form: &Form) -> i64 {
    form.constant + form.counters.iter().zip(&v.counters).map(|(c, k)| c * (k.trip - 1)).sum::<i64>()
}

/// Draws footprint, banks and address forms, not always legal. `origin`: counters that may move the footprint.
fn parts(r: &mut Random, v: &Vsa, word: i64, rank: usize, moves: [bool; 2], origin: usize) -> Parts {
    let far = |c: [i64; 2]| c[0] * (v.extent[0] - 1) + c[1] * (v.extent[1] - 1);
    let plus = |a: &Form, scale: i64, b: &Form, space: [i64; 2], constant: i64| Form {
        constant: a.constant + scale * b.constant + constant,
        counters: (0..v.counters.len())
            .map(|j| a.counters.get(j).copied().unwrap_or(0) + scale * b.counters.get(j).copied().unwrap_or(0))
            .collect(),
        space,
    };
    let origins: Vec<Form> = (0..rank).map(|_| super::random_form(r, 0..origin, [-3, 5])).collect();
    let count = r.pick(&[1, 1, 1, 2, 3]);
    // Banks that differ in their residues only, as lanes do that lie across rows.
    let alike = r.chance(40);
    let lanes = r.pick(&[1u32, 1, 2, 3, 4]).min(word as u32);
    let step =
        if lanes > 1 { (lanes as i64 + r.range(0, 1)).min(word).max(lanes.next_power_of_two() as i64) } else { 1 };
    let (mut subscripts, mut rows, mut windows) = (vec![], vec![], vec![vec![]; count]);
    let mut row = Form::default();
    let mut shifts = vec![vec![]; count];
    for origin in &origins[..rank - 1] {
        let modulus = r.pick(&[1, 1, 2, 3]);
        let (base, coef, walk) = random_window(r, v, moves, 1);
        let extent = greatest(v, &walk) + 1 + r.pick(&[0, 0, 1]);
        let mut most = 0;
        let shift = if alike { [0; 3] } else { [0, 0, 1] };
        let at: Vec<(i64, i64)> = (0..count).map(|_| (base + r.pick(&shift), r.range(0, modulus - 1))).collect();
        for (b, &(base, residue)) in at.iter().enumerate() {
            windows[b].push(BankDim { base, coef, extent, residue });
            shifts[b].push(modulus * (base - at[0].0) + residue - at[0].1);
            most = most.max(base + far(coef) + extent);
        }
        subscripts.push(plus(origin, modulus, &walk, coef.map(|c| c * modulus), modulus * at[0].0 + at[0].1));
        rows.push(FootprintDim { modulus, extent: most + r.pick(&[0, 0, 1, 2]) });
        row = plus(&row, extent - 1, &row.clone(), [0, 0], 0);
        row = plus(&row, 1, &walk, [0, 0], 0);
    }
    let (base, coef, mut col) = random_window(r, v, moves, step);
    col.constant = if r.chance(30) { step * r.range(0, 2) } else { 0 };
    // Words of a row that each have a run of their own, as of loops that are dealt out.
    let stride = if r.chance(30) { r.pick(&[1, 1, 2, 4]) } else { 0 };
    let walk = random_window(r, v, moves, 1).2;
    if stride > 0 {
        col = Form { constant: 0, counters: vec![0; v.counters.len()], space: [0, 0] };
    }
    let part = if stride > 0 { greatest(v, &walk) } else { 0 };
    let bases: Vec<i64> = (0..count).map(|_| base + if alike { 0 } else { r.pick(&[0, 0, step, 1, word]) }).collect();
    let wanted = greatest(v, &col) + lanes as i64;
    let owned = wanted + r.pick(&[0, 0, 1]);
    let offset = (0..v.extent[0]).flat_map(|i| (0..v.extent[1]).map(move |j| [i, j]));
    let offset = offset
        .flat_map(|p| bases.iter().map(move |b| (b + coef[0] * p[0] + coef[1] * p[1]).rem_euclid(word)))
        .max()
        .unwrap_or(0);
    let words_per_row = if stride > 0 { part + 1 + r.pick(&[0, 0, 1]) } else { (offset + owned + word - 1) / word };
    let highest = bases.iter().max().copied().unwrap_or(0) + far(coef);
    let words = highest / word + (words_per_row - 1) * stride.max(1) + 1 + r.pick(&[0, 0, 1]);
    let elements = (words * word - r.range(0, word - 1)).max(highest + part * stride * word + wanted);
    let last = plus(&origins[rank - 1], 1, &col, coef, bases[0]);
    subscripts.push(if stride > 0 { plus(&last, stride * word, &walk, coef, 0) } else { last });
    let mut ports = vec![];
    let mut banks = vec![];
    for b in 0..count {
        let rows: i64 = windows[b].iter().map(|k| k.extent).product();
        let bank = Bank {
            port: ports.len() as u32,
            ports: lanes,
            rows: windows[b].clone(),
            base: bases[b],
            coef,
            words_per_row,
            stride,
            depth: rows * words_per_row,
        };
        banks.push(OutputBank { bank, elements: owned });
        for k in 0..lanes as i64 {
            ports.push([shifts[b].clone(), vec![bases[b] - bases[0] + k]].concat());
        }
    }
    let row = plus(&Form::default(), words_per_row, &row, [0, 0], 0);
    let row = if stride > 0 { plus(&row, 1, &walk, [0, 0], 0) } else { row };
    Parts {
        subscripts,
        ports,
        footprint: Footprint { view: Footprint::plain_view(origins.len()), origin: origins, rows, words, elements },
        banks,
        row,
        col,
    }
}

/// Adds an input group and its nodes. Returns false, without a change of `v`, if it is not legal.
fn try_input(r: &mut Random, v: &mut Vsa) -> bool {
    let before = v.clone();
    let rank = r.range(1, 3) as usize;
    let array = random_array(r, v, rank);
    let forward = [0, 1].map(|_| r.chance(40));
    let first = [0, 1].map(|a| if r.chance(60) { 0 } else { r.range(0, v.extent[a] - 1) });
    let last = [0, 1].map(|a| if r.chance(60) { v.extent[a] - 1 } else { r.range(first[a], v.extent[a] - 1) });
    let reload = r.range(0, v.tile_depth as i64) as usize;
    let p = parts(r, v, v.arrays[array as usize].word as i64, rank, forward.map(|f| !f), reload);
    let (group, ty) = (v.inputs.len() as u32, v.arrays[array as usize].ty);
    for port in 0..p.ports.len() as u32 {
        v.nodes.push(Node { op: Op::Input { group, port }, ty, name: format!("a{group}_{port}") });
        v.schedule.ready.push(array::contract::timing::FEED_LATENCY + r.pick(&[0, 1, 2, 3, 3, 7]));
        v.schedule.latency.push(0);
    }
    let banks = p.banks.into_iter().map(|b| b.bank).collect();
    v.inputs.push(InputGroup {
        arrays: vec![],
        array,
        subscripts: p.subscripts,
        ports: p.ports,
        first,
        last,
        forward,
        reload,
        used: When::default(),
        footprint: p.footprint,
        banks,
        row: p.row,
        col: p.col,
        after: vec![],
    });
    let legal = v.verify().is_ok() && v.inputs[group as usize].footprint.total_words() <= 150;
    if !legal {
        *v = before;
    }
    legal
}

/// Adds a random input group, an array of its own, and `Input` nodes for all its ports.
pub fn add_input(r: &mut Random, v: &mut Vsa) {
    assert!((0..1000).any(|_| try_input(r, v)), "no legal input group was found");
}

fn try_output(r: &mut Random, v: &mut Vsa) -> bool {
    let before = v.clone();
    let rank = r.range(1, 3) as usize;
    let array = random_array(r, v, rank);
    let first = [0, 1].map(|a| r.range(0, v.extent[a] - 1));
    let last = [0, 1].map(|a| r.range(first[a], v.extent[a] - 1));
    let p = parts(r, v, v.arrays[array as usize].word as i64, rank, [true; 2], v.tile_depth);
    let ty = v.arrays[array as usize].ty;
    let mut shared = None;
    let mut ports = vec![];
    for offset in p.ports {
        let value = add_node(v, Op::Const(0), ty);
        let enable = shared.filter(|_| r.chance(50)).unwrap_or_else(|| random_guard(r, v));
        shared = Some(enable);
        ports.push(OutputPort { value, enable, offset });
    }
    let emit = vec![None; v.tile_depth];
    let slots = r.pick(&[1, 2]);
    let o = v.outputs.len();
    v.outputs.push(OutputGroup {
        arrays: vec![],
        array,
        subscripts: p.subscripts,
        ports,
        first,
        last,
        emit: When::new(emit),
        footprint: p.footprint,
        banks: p.banks,
        row: p.row,
        col: p.col,
        slots,
        bounds: vec![],
    });
    let legal = v.verify().is_ok() && v.outputs[o].footprint.total_words() <= 150;
    if !legal {
        *v = before;
    }
    legal
}

/// Adds a random output group of an array of its own; its values are constants, its enables guards on the wave, guards
/// on wave and PE, or constants.
pub fn add_output(r: &mut Random, v: &mut Vsa) {
    assert!((0..1000).any(|_| try_output(r, v)), "no legal output group was found");
}

fn add_node(v: &mut Vsa, op: Op, ty: ScalarType) -> NodeId {
    let latency = array::contract::timing::least_ready(&op);
    v.nodes.push(Node { op, ty, name: "n".into() });
    v.schedule.ready.push(latency);
    v.schedule.latency.push(latency);
    NodeId(v.nodes.len() as u32 - 1)
}

fn random_guard(r: &mut Random, v: &mut Vsa) -> NodeId {
    let mut form = super::random_form(r, 0..v.counters.len(), [-2, 2]);
    form.space = r.pick(&[[0, 0], [0, 0], [1, 0], [1, -1]]);
    let op = if r.chance(20) { Op::Const(1) } else { Op::Guard(vec![Condition { form, equality: r.chance(20) }]) };
    add_node(v, op, ScalarType::BOOL)
}

/// Widths of a stream for this footprint and possibly larger ones; some rows may end early.
pub fn shape(r: &mut Random, footprint: &Footprint) -> StreamShape {
    let early = (1..footprint.rows.len()).filter(|_| r.chance(30)).collect();
    let mut width = |n: i64| (n > 1).then(|| rtl::clog2(n as u64) + r.pick(&[0, 0, 1, 3]));
    StreamShape {
        u: footprint.rows.iter().map(|d| width(d.extent)).collect(),
        r: footprint.rows.iter().map(|d| width(d.modulus)).collect(),
        w: width(footprint.words),
        early,
        groups: 0,
    }
}

/// The last row of each dimension in one walk.
pub fn ends(r: &mut Random, footprint: &Footprint, early: &[usize]) -> Vec<i64> {
    let last = |dim: &FootprintDim| dim.modulus * dim.extent - 1;
    let end =
        |(d, dim): (usize, &FootprintDim)| if d == 0 || early.contains(&d) { r.range(0, last(dim)) } else { last(dim) };
    footprint.rows.iter().enumerate().map(end).collect()
}

/// One word of a footprint: (u, r) per row dimension, index in the row, local coordinates of its first element.
pub struct FootprintWord {
    pub digits: Vec<(i64, i64)>,
    pub word: i64,
    pub at: Vec<i64>,
}

/// The words of the footprint up to these rows, in the order of streams.
pub fn footprint_words(footprint: &Footprint, word: i64, ends: &[i64]) -> Vec<FootprintWord> {
    let mut rows: Vec<Vec<(i64, i64)>> = vec![vec![]];
    for (dim, end) in footprint.rows.iter().zip(ends) {
        let digits: Vec<(i64, i64)> = (0..=*end).map(|y| (y / dim.modulus, y % dim.modulus)).collect();
        rows = rows.iter().flat_map(|row| digits.iter().map(|d| [row.clone(), vec![*d]].concat())).collect();
    }
    let words = |digits: Vec<(i64, i64)>| {
        let y: Vec<i64> = digits.iter().zip(&footprint.rows).map(|((u, r), dim)| dim.modulus * u + r).collect();
        (0..footprint.words).map(move |w| FootprintWord {
            digits: digits.clone(),
            word: w,
            at: [y.clone(), vec![w * word]].concat(),
        })
    };
    rows.into_iter().flat_map(words).collect()
}

/// Local coordinates of the cell that the port reads in the wave at `counters`, at PE `p`.
pub fn local(subscripts: &[Form], port: &[i64], footprint: &Footprint, counters: &[i64], p: [i64; 2]) -> Vec<i64> {
    subscripts
        .iter()
        .zip(port)
        .zip(&footprint.origin)
        .map(|((s, k), o)| s.eval(counters, p) + k - o.eval(counters, p))
        .collect()
}

/// Constant inputs of bank `b` at a PE: name of the port, value.
pub fn ties(b: usize, bank: &Bank, word: i64, p: [i64; 2]) -> Vec<(String, i64)> {
    let at = |base: i64, coef: [i64; 2]| base + coef[0] * p[0] + coef[1] * p[1];
    let rows = bank.rows.iter().enumerate().map(|(d, k)| (format!("u{b}_{d}"), at(k.base, k.coef)));
    let start = at(bank.base, bank.coef);
    rows.chain([(format!("w{b}"), start.div_euclid(word)), (format!("o{b}"), start.rem_euclid(word))]).collect()
}
