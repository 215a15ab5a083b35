//! Forms with their PE part tabulated, and PEs by index.
//!
//! `4 * t + 2 * p0` is `4 * t` once per wave, plus a table of `2 * p0` over all PEs that is computed once per run.

use crate::forms::normal;
use crate::vsa::Vsa;
use uniform::affine::Form;

/// A form with its PE part tabulated.
pub(super) struct Linear {
    pub constant: i64,
    pub counters: Vec<(usize, i64)>,
    /// Index into the tables of `space·p`; `None` where that is 0 everywhere.
    pub table: Option<usize>,
}

impl Linear {
    /// Without the PE part.
    pub fn time(&self, at: &[i64]) -> i64 {
        self.constant + self.counters.iter().map(|&(j, c)| c * at[j]).sum::<i64>()
    }
}

/// `space·p` for every PE (row-major), for the distinct coefficients in use.
#[derive(Default)]
pub(super) struct Tables {
    coefficients: Vec<[i64; 2]>,
    values: Vec<Vec<i64>>,
}

impl Tables {
    pub fn linear(&mut self, vsa: &Vsa, form: &Form) -> Linear {
        let form = normal(vsa, form);
        let counters = form.counters.iter().copied().enumerate().filter(|&(_, c)| c != 0).collect();
        let table = (form.space != [0, 0]).then(|| {
            let place = self.coefficients.iter().position(|c| *c == form.space);
            place.unwrap_or_else(|| {
                self.coefficients.push(form.space);
                self.values.push(positions(vsa).map(|p| form.space[0] * p[0] + form.space[1] * p[1]).collect());
                self.values.len() - 1
            })
        });
        Linear { constant: form.constant, counters, table }
    }

    pub fn at(&self, linear: &Linear, pe: usize) -> i64 {
        linear.table.map_or(0, |t| self.values[t][pe])
    }
}

/// All PEs, in the order of their indices.
pub(super) fn positions(vsa: &Vsa) -> impl Iterator<Item = [i64; 2]> {
    let [e0, e1] = vsa.extent;
    (0..e0).flat_map(move |a| (0..e1).map(move |b| [a, b]))
}

/// Per PE the index of PE `p - hop`.
pub(super) fn neighbours(vsa: &Vsa, hop: [i64; 2]) -> Vec<u32> {
    let from = |p: [i64; 2]| {
        let q = [p[0] - hop[0], p[1] - hop[1]];
        let exists = (0..2).all(|a| (0..vsa.extent[a]).contains(&q[a]));
        if exists {
            (q[0] * vsa.extent[1] + q[1]) as u32
        } else {
            u32::MAX
        }
    };
    positions(vsa).map(from).collect()
}
