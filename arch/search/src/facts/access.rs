//! One array through one linear access function: which box of cells a tile touches, and in how many bus beats.
//!
//! Example: `x[i + p]` with a tile of 8 iterations of `i` and 3 of `p` touches 8 + 3 - 1 = 10 cells. Its subscript has
//! one [`Side`] with the terms `i` (step 1) and `p` (step 1). A word of 4 elements loads them in 3 beats.

use scop::{Affine, Constraint};
use std::collections::BTreeSet;
use std::iter;

#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    pub array: usize,
    /// Its number among the ports in use.
    pub port: usize,
    /// Bytes of an element.
    pub bytes: i64,
    /// The array's dimensions; `[1]` for a scalar.
    pub extents: Vec<i64>,
    /// Per subscript: the coefficient of every transformed dimension.
    pub subscripts: Vec<Vec<i64>>,
    /// The subscripts over the program's dimensions, once for each constant that occurs.
    pub forms: Vec<Vec<Affine>>,
    /// Loads: where each of `forms` is read, in one domain or another.
    pub domains: Vec<Vec<Vec<Constraint>>>,
    /// Per transformed dimension: the values at which it is read, or stored if sizes end rows; `None` if they are not
    /// known, empty if all iterations of a tile are walked.
    spans: Vec<Option<Span>>,
    /// Dimensions that move the box, as bits.
    pub mask: u32,
    /// Stores: dimensions of a sum whose partial results may go to DRAM and back, as bits.
    pub sum: u32,
    /// Stores: dimensions of a sum whose result is there after their last iteration, as bits.
    pub ends: u32,
    /// Stores: the emission fixes some dimensions, which the subscripts leave out.
    pub fixed: bool,
    /// Per phase class: it is loaded or stored in each of its phases.
    pub in_every_phase: Vec<bool>,
    /// Stores, per phase class: it is stored in the last tile of each of its phases.
    pub in_last_tile: Vec<bool>,
    /// Stores: dimensions along which it is stored before the last iteration only, as bits.
    pub early: u32,
    /// Stores: dimensions whose every value stores something, as bits.
    pub whole: u32,
    /// Stores: least cycles from a wave's launch to the value in the PE where the wave is launched.
    pub latency: i64,
    /// Stores: phase classes in which something may be stored.
    pub classes: BTreeSet<usize>,
    /// Nothing stores to the array, so its inner dimensions may be joined.
    pub only_read: bool,
    /// Each subscript is moved by loops of its own, in steps of one: a box has as many cells as the product of its
    /// sides.
    pub plain: bool,
    /// No iteration of the loops' box reaches a cell beyond the array.
    pub within: bool,
    /// What its tiles move can be counted in bytes: it stays within the array, and moves every cell of its boxes.
    pub counted: bool,
    /// The box of a tile with inner dimensions joined, from none to as many as there are: a side per subscript.
    levels: Vec<Vec<Side>>,
}

/// All values from `least` to `most`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub least: i64,
    pub most: i64,
}

/// The length of a box along one subscript: a sum over the dimensions that move it.
type Side = Vec<Term>;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Term {
    dim: usize,
    /// Elements per iteration.
    step: i64,
    /// Iterations in which it is read, at most.
    most: i64,
}

impl Access {
    /// An access through `form`, whose subscripts are `over` the transformed dimensions.
    pub(super) fn new(
        [array, bytes]: [usize; 2],
        extents: Vec<i64>,
        form: Vec<Affine>,
        over: &dyn Fn(&Affine) -> Vec<i64>,
        only_read: bool,
    ) -> Access {
        let mut access = Access {
            array,
            port: 0,
            bytes: bytes as i64,
            extents,
            subscripts: form.iter().map(over).collect(),
            domains: vec![],
            spans: vec![],
            forms: vec![form],
            mask: 0,
            sum: 0,
            ends: 0,
            fixed: false,
            in_every_phase: vec![],
            in_last_tile: vec![],
            early: 0,
            whole: 0,
            latency: 1,
            classes: BTreeSet::new(),
            only_read,
            plain: false,
            within: false,
            counted: false,
            levels: vec![],
        };
        access.measure();
        access
    }

    /// Leaves out dimensions whose value the emission fixes, and where the box begins along them.
    pub(super) fn fix(&mut self, dims: &[usize], over: &dyn Fn(&Affine) -> Vec<i64>) {
        for (row, form) in self.subscripts.iter_mut().zip(&mut self.forms[0]) {
            if dims.iter().any(|&d| form.coeffs[d] != 0) {
                dims.iter().for_each(|&d| form.coeffs[d] = 0);
                form.constant = 0;
                self.fixed = true;
            }
            *row = over(form);
        }
        self.measure();
    }

    /// Limits the box to these values of the transformed dimensions.
    pub(super) fn limit_to(&mut self, spans: Vec<Option<Span>>) {
        self.spans = spans;
        self.join();
    }

    /// Adds an access to the same elements in another piece of the program.
    pub(super) fn merge(&mut self, other: Access) {
        self.within &= other.within;
        self.counted &= other.counted;
        let stores = self.domains.is_empty();
        let domains = other.domains.into_iter().chain(iter::repeat(vec![]));
        for (form, domains) in other.forms.into_iter().zip(domains) {
            let known = self.forms.iter().position(|f| *f == form).unwrap_or_else(|| {
                self.forms.push(form);
                self.domains.extend((!stores).then(Vec::new));
                self.forms.len() - 1
            });
            let Some(all) = self.domains.get_mut(known) else { continue };
            let new = domains.into_iter().filter(|d| !all.contains(d)).collect::<Vec<_>>();
            all.extend(new);
        }
        self.classes.extend(other.classes);
        self.in_every_phase.iter_mut().zip(&other.in_every_phase).for_each(|(a, b)| *a |= b);
        self.in_last_tile.iter_mut().zip(&other.in_last_tile).for_each(|(a, b)| *a |= b);
        self.whole &= other.whole;
        self.early |= other.early;
        self.ends &= other.ends;
        self.latency = self.latency.min(other.latency);
        let joined = |(a, b): (&Option<Span>, Option<Span>)| match (*a, b) {
            (Some(a), Some(b)) => Some(Span { least: a.least.min(b.least), most: a.most.max(b.most) }),
            (a, b) => a.or(b),
        };
        self.limit_to(self.spans.iter().zip(other.spans).map(joined).collect());
    }

    /// No loop moves a subscript backwards, so the first tile has the first cells.
    pub fn goes_on(&self) -> bool {
        self.subscripts.iter().flatten().all(|c| *c >= 0)
    }

    fn measure(&mut self) {
        let uses = |s: &Vec<i64>| s.iter().enumerate().filter(|(_, &c)| c != 0).fold(0u32, |m, (d, _)| m | 1 << d);
        self.mask = self.subscripts.iter().map(uses).fold(0, |a, b| a | b);
        let alone = self
            .subscripts
            .iter()
            .all(|s| s.iter().filter(|&&c| c != 0).count() <= 1 && s.iter().all(|c| c.abs() <= 1));
        // If the last subscript is constant, rows run along another one.
        let last = self.mask == 0 || self.forms[0].last().is_none_or(|b| !b.is_constant());
        self.plain = last
            && alone
            && self.subscripts.iter().map(|s| uses(s).count_ones()).sum::<u32>() == self.mask.count_ones();
        self.join();
    }

    /// Iterations of dimension `d` in which it is read or stored, at most. PEs that do not read have no feeders.
    fn most(&self, d: usize) -> i64 {
        self.spans.get(d).map_or(i64::MAX, |s| s.map_or(1, |s| s.most - s.least + 1))
    }

    fn join(&mut self) {
        let term = |(dim, &c): (usize, &i64)| Term { dim, step: c.abs(), most: self.most(dim) };
        let side = |s: &Vec<i64>| s.iter().enumerate().filter(|(_, c)| **c != 0).map(term).collect();
        let mut level = self.subscripts.clone();
        let mut levels = vec![level.iter().map(side).collect()];
        let mut extent = 1;
        while self.only_read && level.len() > 1 {
            extent *= self.extents[level.len() - 1];
            if let (Some(y), Some(x)) = (level.pop(), level.pop()) {
                level.push(x.iter().zip(&y).map(|(x, y)| extent * x + y).collect());
            }
            levels.push(level.iter().map(side).collect());
        }
        self.levels = levels;
    }

    /// Least bus beats that load the box of a tile, over words of `width` bytes.
    pub fn load_beats(&self, tile: &[i64], width: i64) -> i64 {
        let side = |side: &Side| side.iter().map(|t| t.step * (tile[t.dim].min(t.most) - 1)).sum::<i64>() + 1;
        let beats = |level: &Vec<Side>| {
            let (last, outer) = level.split_last().expect("a subscript");
            outer.iter().map(side).product::<i64>() * ((side(last) * self.bytes + width - 1) / width)
        };
        self.levels.iter().map(beats).min().unwrap_or(0)
    }

    /// Bus words of `width` bytes that move the box of a tile, roughly, and the bytes that the memory counts for them if
    /// no row costs it less than `shortest` bytes. A row begins anywhere in a word, unless rows and tiles are whole
    /// words.
    pub fn likely_words(&self, tile: &[i64], width: i64, shortest: i64) -> (f64, f64) {
        let cells = |side: &Side| side.iter().map(|t| t.step * (tile[t.dim].min(t.most) - 1)).sum::<i64>() + 1;
        let words = |(joined, level): (usize, &Vec<Side>)| {
            let (last, outer) = level.split_last().expect("a subscript");
            let (rows, row) = (outer.iter().map(cells).product::<i64>(), cells(last) * self.bytes);
            let pitch = self.extents[level.len() - 1..][..=joined].iter().product::<i64>() * self.bytes;
            let is_whole = |bytes: i64| bytes % width == 0;
            let begins = (outer.is_empty() || is_whole(pitch))
                && last
                    .iter()
                    .all(|t| is_whole(t.step * tile[t.dim] * self.bytes) || cells(last) * self.bytes == pitch);
            let of_row = if begins { (row + width - 1) / width * width } else { row + width - self.bytes };
            ((rows * of_row) as f64 / width as f64, (rows * of_row.max(shortest)) as f64)
        };
        self.levels.iter().enumerate().map(words).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
    }

    /// Bytes that tiles of so many iterations load on average, at least. Neighbouring tiles with another number of
    /// iterations do not change the average of a side; a product of sides is greater on average than the product of
    /// averages, because all grow together. Cells beyond the array are not loaded, so an access that may reach there
    /// does not count.
    pub fn load_bytes(&self, tile: &[f64]) -> i64 {
        if !self.counted {
            return 0;
        }
        let side = |side: &Side| {
            side.iter().map(|t| t.step as f64 * (tile[t.dim].min(t.most as f64) - 1.0)).sum::<f64>() + 1.0
        };
        let cells = |level: &Vec<Side>| level.iter().map(side).product::<f64>();
        let least = self.levels.iter().map(cells).fold(f64::MAX, f64::min);
        (least * self.bytes as f64 * (1.0 - 1e-9)) as i64
    }

    /// The access reads in all iterations of these dimensions that move its box.
    pub(super) fn reads_everywhere(&self, extent: &[i64]) -> bool {
        self.levels.iter().flatten().flatten().all(|t| t.most >= extent[t.dim])
    }

    /// Bytes that tiles of so many iterations store on average, at least. Only a store of every cell of a box counts.
    pub fn store_bytes(&self, tile: &[f64]) -> i64 {
        if !self.counted {
            return 0;
        }
        let side = |s: &Vec<i64>| s.iter().zip(tile).filter(|(c, _)| **c != 0).map(|(_, t)| *t).fold(1.0, f64::max);
        (self.subscripts.iter().map(side).product::<f64>() * self.bytes as f64 * (1.0 - 1e-9)) as i64
    }

    /// Least bus beats that store the cells of a tile, over words of `width` bytes.
    pub fn store_beats(&self, tile: &[i64], width: i64) -> i64 {
        let longest = |s: &Vec<i64>, along: &dyn Fn((usize, i64)) -> i64| {
            let moving = s.iter().zip(tile).enumerate().filter(|(_, (c, _))| **c != 0);
            moving.map(|(d, (_, &tile))| along((d, tile))).max().unwrap_or(1)
        };
        let side = |s: &Vec<i64>| longest(s, &|(_, tile)| tile);
        let rows = |s: &Vec<i64>| longest(s, &|(d, tile)| tile.min(self.most(d)));
        let (last, outer) = self.subscripts.split_last().expect("a subscript");
        if self.plain {
            return outer.iter().map(rows).product::<i64>() * ((side(last) * self.bytes + width - 1) / width);
        }
        // Only subscripts that share no dimension with another multiply; rows may lie along any of them.
        let shares = |s: &Vec<i64>| {
            self.subscripts.iter().filter(|o| s.iter().zip(*o).any(|(a, b)| *a != 0 && *b != 0)).count() > 1
        };
        let cells: i64 = self.subscripts.iter().filter(|s| !shares(s)).map(rows).product();
        (cells * self.bytes + width - 1) / width
    }
}
