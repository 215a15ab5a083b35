//! Footprints, banks and the order of loads and drains.
//!
//! What an input or output group says twice must agree: its subscripts say which element a port asks for, and its banks
//! and address forms say which one it gets. For every wave and PE of the group:
//! 1. the element that a port asks for lies in the footprint, in the bank, and at address (`row`, `col`) of it;
//! 2. no two collectors own the same cell, and no two tiles of a phase store it;
//! 3. a load waits only for drains of earlier tiles, so no load waits for itself.
//!
//! Method: differences of affine forms and their ranges. Only 3 walks the tiles one by one.

use crate::contract::tiles;
use crate::forms::{combine, full_range, local, normal, range};
use crate::vsa::{After, Bank, Footprint, InputGroup, OutputGroup, Until, Vsa};
use uniform::affine::Form;
use uniform::affine::{advance, gcd};

pub(super) fn check(vsa: &Vsa, faults: &mut Vec<String>) {
    for (i, g) in vsa.inputs.iter().enumerate() {
        let mut found = Vec::new();
        input(vsa, g, &mut found);
        order(vsa, g, &mut found);
        faults
            .extend(found.into_iter().map(|f| format!("input group {i} ({}): {f}", vsa.arrays[g.array as usize].name)));
    }
    for (i, g) in vsa.outputs.iter().enumerate() {
        let mut found = Vec::new();
        output(vsa, g, &mut found);
        faults.extend(
            found.into_iter().map(|f| format!("output group {i} ({}): {f}", vsa.arrays[g.array as usize].name)),
        );
    }
}

/// What input and output groups have in common, seen from one bank.
struct Group<'a> {
    vsa: &'a Vsa,
    subscripts: &'a [Form],
    footprint: &'a Footprint,
    row: &'a Form,
    col: &'a Form,
    word: i64,
    first: [i64; 2],
    last: [i64; 2],
}

fn input(vsa: &Vsa, g: &InputGroup, faults: &mut Vec<String>) {
    if g.ports[0].iter().any(|&c| c != 0) {
        faults.push("port 0 is not at the group's subscripts".into());
    }
    for a in (0..2).filter(|&a| g.forward[a] && vsa.extent[a] > 1) {
        let moves = g.subscripts.iter().any(|f| f.space[a] != 0);
        let banks = g.banks.iter().any(|b| b.coef[a] != 0 || b.rows.iter().any(|r| r.coef[a] != 0));
        if moves || banks {
            faults.push(format!("is passed on along axis {a}, but differs there"));
        }
    }
    if (0..2).any(|a| g.first[a] < 0 || g.first[a] > g.last[a] || g.last[a] >= vsa.extent[a]) {
        return faults.push(format!("PEs {:?} to {:?} read, which are not in the array", g.first, g.last));
    }
    for f in &g.footprint.origin {
        if !only(vsa, f, 0..g.reload) {
            faults.push(format!("origin depends on more than the {} counters it is reloaded for", g.reload));
        }
    }
    let group = Group {
        vsa,
        subscripts: &g.subscripts,
        footprint: &g.footprint,
        row: &g.row,
        col: &g.col,
        word: vsa.arrays[g.array as usize].word as i64,
        first: g.first,
        last: [0, 1].map(|a| if g.forward[a] { g.first[a] } else { g.last[a] }),
    };
    let ports: Vec<&[i64]> = g.ports.iter().map(|p| &p[..]).collect();
    group.buffers(g.banks.iter().map(|bank| (bank, None)), &ports, faults);
}

fn output(vsa: &Vsa, g: &OutputGroup, faults: &mut Vec<String>) {
    for f in &g.footprint.origin {
        if !only(vsa, f, 0..vsa.tile_depth) {
            faults.push("origin depends on more than the tile counters".into());
        }
    }
    let group = Group {
        vsa,
        subscripts: &g.subscripts,
        footprint: &g.footprint,
        row: &g.row,
        col: &g.col,
        word: vsa.arrays[g.array as usize].word as i64,
        first: g.first,
        last: g.last,
    };
    let ports: Vec<&[i64]> = g.ports.iter().map(|p| &p.offset[..]).collect();
    group.buffers(g.banks.iter().map(|bank| (&bank.bank, Some(bank.elements))), &ports, faults);
    disjoint(g, group.word, faults);
    if !tiles::disjoint(&g.footprint, vsa.phases()..vsa.tile_depth, |j| vsa.counters[j].trip) {
        faults.push("two tiles may store the same cells".into());
    }
}

/// Rows run along one dimension of the array, those that are loaded without steps, and cells that differ in the
/// footprint's coordinates differ.
fn view(footprint: &Footprint, loads: bool, faults: &mut Vec<String>) {
    let (last, d) = (footprint.view.len() - 1, footprint.origin.len() - 1);
    let moved = || footprint.view.iter().map(|f| f.coeffs[d]).enumerate().filter(|(_, c)| *c != 0);
    if loads && moved().any(|to| to != (last, 1)) {
        faults.push("rows are not contiguous in the array".into());
    }
    if moved().count() > 1 || moved().any(|(_, by)| by < 0) {
        faults.push("rows do not run along one dimension of the array, upwards".into());
    }
    let moves = |e: usize| footprint.extent(e) > 1 || footprint.origin[e].counters.iter().any(|&c| c != 0);
    let moving: Vec<Vec<i128>> =
        (0..=d).filter(|&e| moves(e)).map(|e| footprint.view.iter().map(|f| f.coeffs[e].into()).collect()).collect();
    if !independent(moving) {
        faults.push("two places of the footprint stand for one cell of the array".into());
    }
}

/// Linear independence by elimination; overflow counts as dependent.
fn independent(mut rows: Vec<Vec<i128>>) -> bool {
    while let Some(row) = rows.pop() {
        let Some(pivot) = row.iter().position(|&c| c != 0) else { return false };
        for other in &mut rows {
            let factor = other[pivot];
            for (o, r) in other.iter_mut().zip(&row) {
                let Some(rest) =
                    o.checked_mul(row[pivot]).zip(r.checked_mul(factor)).and_then(|(a, b)| a.checked_sub(b))
                else {
                    return false;
                };
                *o = rest;
            }
        }
    }
    true
}

/// Depends on no counter outside of `allowed` and on no PE.
fn only(vsa: &Vsa, form: &Form, allowed: std::ops::Range<usize>) -> bool {
    let form = normal(vsa, form);
    form.space == [0, 0] && form.counters.iter().enumerate().all(|(j, &c)| c == 0 || allowed.contains(&j))
}

fn addresses(group: &Group, faults: &mut Vec<String>) {
    let vsa = group.vsa;
    for (name, form) in [("row", group.row), ("col", group.col)] {
        if !only(vsa, form, vsa.tile_depth..vsa.counters.len()) {
            faults.push(format!("{name} depends on more than the inner counters"));
        }
        if full_range(vsa, form).0 < 0 {
            faults.push(format!("{name} becomes negative"));
        }
    }
}

fn partition<'a>(banks: impl Iterator<Item = &'a Bank>, ports: usize, faults: &mut Vec<String>) {
    let mut served = vec![0u32; ports];
    banks.flat_map(|b| b.port..b.port + b.ports).for_each(|p| served[p as usize] += 1);
    for (p, &n) in served.iter().enumerate().filter(|(_, &n)| n != 1) {
        faults.push(format!("port {p} is served by {n} banks"));
    }
}

impl Group<'_> {
    fn range(&self, form: &Form) -> (i128, i128) {
        range(self.vsa, form, self.first, self.last)
    }

    /// `base + coef·p`.
    fn window(base: i64, coef: [i64; 2]) -> Form {
        Form { constant: base, counters: vec![], space: coef }
    }

    /// Checks every bank. Given beside a bank: its elements per row, if it is a collector's.
    fn buffers<'b>(
        &self,
        banks: impl Iterator<Item = (&'b Bank, Option<i64>)> + Clone,
        ports: &[&[i64]],
        faults: &mut Vec<String>,
    ) {
        view(self.footprint, banks.clone().all(|b| b.1.is_none()), faults);
        addresses(self, faults);
        partition(banks.clone().map(|b| b.0), ports.len(), faults);
        for (b, (bank, owned)) in banks.enumerate() {
            let mut found = Vec::new();
            self.bank(bank, owned, &ports[bank.port as usize..][..bank.ports as usize], &mut found);
            faults.extend(found.into_iter().map(|f| format!("bank {b}: {f}")));
        }
    }

    /// `owned`: elements per row, for collectors.
    fn bank(&self, bank: &Bank, owned: Option<i64>, ports: &[&[i64]], faults: &mut Vec<String>) {
        let rows: i128 = bank.rows.iter().map(|r| r.extent as i128).product();
        if rows * bank.words_per_row as i128 != bank.depth as i128 {
            faults.push(format!("depth {} for {rows} rows of {} words", bank.depth, bank.words_per_row));
        }
        let base = Self::window(bank.base, bank.coef);
        let d = self.subscripts.len() - 1;
        let asked = local(self.vsa, self.subscripts, ports[0], self.footprint, d);
        let within = normal(self.vsa, &combine(self.vsa, -1, &base, &asked));
        let (part, in_word) = self.parts(bank, &within);
        self.rows(bank, ports, &part, faults);
        self.lanes(bank, ports, faults);
        let (low, high) = self.range(&base);
        let words = (high.div_euclid(self.word as i128)) + bank.reach() as i128;
        if low < 0 || rows > 1 && words > self.footprint.words as i128 {
            faults.push(format!(
                "words {}..{words} of a row, which has {}",
                low.div_euclid(self.word as i128),
                self.footprint.words
            ));
        }
        // col is what the port asks for, relative to the window.
        if in_word != normal(self.vsa, self.col) {
            faults.push("col is not the element that its port asks for".into());
        }
        let (low, high) = self.range(&asked);
        let high = high + bank.ports as i128 - 1;
        if low < 0 || high >= self.footprint.elements as i128 {
            faults.push(format!("asks for elements {low}..={high} of a row of {}", self.footprint.elements));
        }
        let (low, high) = self.range(&part);
        if low < 0 || high >= bank.words_per_row as i128 {
            faults.push(format!("asks for words {low}..={high} of the {} kept of a row", bank.words_per_row));
        }
        // With a stride each word has a run.
        let run = if bank.stride > 0 { 1 } else { bank.words_per_row };
        let capacity = run as i128 * self.word as i128;
        let offset = self.residues(&base).into_iter().max().unwrap_or(0) as i128;
        let wanted = owned.map_or(self.range(self.col).1 + bank.ports as i128, |e| e as i128);
        if self.range(self.col).1 + bank.ports as i128 > wanted {
            faults.push(format!("stores beyond the {wanted} elements it owns"));
        }
        if offset + wanted > capacity {
            faults.push(format!("{wanted} elements from position {offset} do not fit into {run} words"));
        }
    }

    /// Values modulo the word that a form over PEs takes in the box.
    fn residues(&self, form: &Form) -> Vec<i64> {
        let mut seen = vec![false; self.word as usize];
        let along = |a: usize| self.first[a]..=self.last[a].min(self.first[a] + self.word - 1);
        for p0 in along(0) {
            for p1 in along(1) {
                seen[form.eval(&[], [p0, p1]).rem_euclid(self.word) as usize] = true;
            }
        }
        (0..self.word).filter(|&r| seen[r as usize]).collect()
    }

    /// The word of the row that the element is in, and the element in it, given the element of the row. Without a
    /// stride, waves count elements: the word is always the first.
    fn parts(&self, bank: &Bank, within: &Form) -> (Form, Form) {
        let reach = bank.stride * self.word;
        if reach == 0 {
            return (normal(self.vsa, &Form::default()), within.clone());
        }
        let part = Form {
            constant: within.constant.div_euclid(reach),
            counters: within.counters.iter().map(|c| c / reach).collect(),
            space: within.space.map(|c| c / reach),
        };
        let rest = combine(self.vsa, -reach, &part, within);
        (part, normal(self.vsa, &rest))
    }

    /// Rows asked for are those kept, at the address `row` says; `part`: the word of the row.
    fn rows(&self, bank: &Bank, ports: &[&[i64]], part: &Form, faults: &mut Vec<String>) {
        let mut address = Form::default();
        for (d, (dim, walked)) in bank.rows.iter().zip(&self.footprint.rows).enumerate() {
            if !(0..walked.modulus).contains(&dim.residue) {
                faults.push(format!("dimension {d}: residue {} modulo {}", dim.residue, walked.modulus));
            }
            let base = Self::window(dim.base, dim.coef);
            let (low, high) = self.range(&base);
            if low < 0 || high + dim.extent as i128 > walked.extent as i128 {
                faults.push(format!("dimension {d}: rows {low}..{} of {}", high + dim.extent as i128, walked.extent));
            }
            // y = modulus * (base + coef·p + t) + residue
            let mut y = local(self.vsa, self.subscripts, ports[0], self.footprint, d);
            y.constant -= dim.residue;
            let offset = normal(self.vsa, &combine(self.vsa, -walked.modulus, &base, &y));
            let coefficients = offset.counters.iter().chain(&offset.space).chain([&offset.constant]);
            if coefficients.into_iter().any(|c| c % walked.modulus != 0) {
                faults
                    .push(format!("dimension {d}: asks for rows other than {} modulo {}", dim.residue, walked.modulus));
                return;
            }
            let t = Form {
                constant: offset.constant / walked.modulus,
                counters: offset.counters.iter().map(|c| c / walked.modulus).collect(),
                space: offset.space.map(|c| c / walked.modulus),
            };
            let (low, high) = self.range(&t);
            if low < 0 || high >= dim.extent as i128 {
                faults.push(format!("dimension {d}: asks for rows {low}..={high} of the {} kept", dim.extent));
            }
            address = combine(self.vsa, dim.extent, &address, &t);
        }
        let row = combine(self.vsa, bank.words_per_row, &address, part);
        if normal(self.vsa, &row) != normal(self.vsa, self.row) {
            faults.push("row is not the address of the row that its port asks for".into());
        }
    }

    /// Ports of one bank are consecutive elements of one word.
    fn lanes(&self, bank: &Bank, ports: &[&[i64]], faults: &mut Vec<String>) {
        let last = self.subscripts.len() - 1;
        for (k, port) in ports.iter().enumerate() {
            let mut expected = ports[0].to_vec();
            expected[last] += k as i64;
            if **port != expected[..] {
                faults.push(format!("port {} is not the element after its predecessor", bank.port as usize + k));
            }
        }
        if bank.ports < 2 {
            return;
        }
        let asked = local(self.vsa, self.subscripts, ports[0], self.footprint, last);
        let step = asked.counters.iter().chain(&asked.space).fold(self.word, |a, &b| gcd(a, b.abs()));
        if asked.constant.rem_euclid(step) + bank.ports as i64 > step {
            faults.push(format!("{} ports do not always lie in one word of {}", bank.ports, self.word));
        }
    }
}

/// No cell belongs to two collectors or two banks of one. Windows move with the PE, so only differences matter.
fn disjoint(g: &OutputGroup, word: i64, faults: &mut Vec<String>) {
    let size = [0, 1].map(|a| g.last[a] - g.first[a]);
    for (i, a) in g.banks.iter().enumerate() {
        for (j, b) in g.banks.iter().enumerate().skip(i) {
            for d0 in -size[0]..=size[0] {
                for d1 in -size[1]..=size[1] {
                    if (i, d0, d1) == (j, 0, 0) || !overlap(a, b, [d0, d1], word) {
                        continue;
                    }
                    faults.push(format!(
                        "bank {i} of a PE and bank {j} of the one at distance ({d0}, {d1}) own the same cells"
                    ));
                    return;
                }
            }
        }
    }
}

/// Whether `a` at some PE `p` and `b` at `p + d` share a cell; exact when both move alike, else assumes that they can.
fn overlap(a: &crate::vsa::OutputBank, b: &crate::vsa::OutputBank, d: [i64; 2], word: i64) -> bool {
    let meet = |base: [i64; 2], coef: [[i64; 2]; 2], extent: [i64; 2]| {
        let shift = base[1] - base[0] + coef[1][0] * d[0] + coef[1][1] * d[1];
        coef[0] != coef[1] || (-extent[1] < shift && shift < extent[0])
    };
    let rows = a
        .bank
        .rows
        .iter()
        .zip(&b.bank.rows)
        .all(|(x, y)| x.residue == y.residue && meet([x.base, y.base], [x.coef, y.coef], [x.extent, y.extent]));
    let (bases, coefs, elements) = ([a.bank.base, b.bank.base], [a.bank.coef, b.bank.coef], [a.elements, b.elements]);
    // With equal strides their words are the same ones as often as the two move by a stride.
    let period = a.bank.stride * word;
    if period == 0 || a.bank.stride != b.bank.stride {
        let whole = |of: &crate::vsa::OutputBank| (of.bank.words_per_row - 1) * of.bank.stride * word + of.elements;
        return rows && meet(bases, coefs, [whole(a), whole(b)]);
    }
    let shift = (bases[1] - bases[0] + coefs[1][0] * d[0] + coefs[1][1] * d[1]).rem_euclid(period);
    rows && (coefs[0] != coefs[1] || shift < elements[0] || period - shift < elements[1])
}

/// A load waits only for drains of earlier tiles.
fn order(vsa: &Vsa, g: &InputGroup, faults: &mut Vec<String>) {
    for &After { output, until } in &g.after {
        if let Until::Lag(lag) = until {
            order_of(vsa, g, output, lag, faults);
        }
    }
}

fn order_of(vsa: &Vsa, g: &InputGroup, o: u32, lag: i64, faults: &mut Vec<String>) {
    let (mut loads, mut drains) = (0i64, 0i64);
    let mut at = vec![0; vsa.tile_depth];
    loop {
        let case = vsa.case_at(&at);
        if g.loads(&at, case) {
            if loads - lag > drains {
                faults.push(format!(
                    "load {loads}, in tile {at:?}, waits for {} drains of group {o}, but only {drains} come earlier",
                    loads - lag
                ));
                return;
            }
            loads += 1;
        }
        drains += i64::from(vsa.outputs[o as usize].emit.holds(&at, case));
        let trips = vsa.trips_at(&at);
        if !advance(&mut at, trips[..vsa.tile_depth].iter().copied()) {
            return;
        }
    }
}
