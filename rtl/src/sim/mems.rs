//! Memories and their write ports. Ports are sampled before the updates of an edge and applied after them, so every
//! read at the edge returns old contents.

use super::activity::Range;
use super::ops::{planes, WideRef};
use crate::netlist::bits::top_mask;

/// A memory of all lanes: `[address][lane][word]`.
#[derive(Clone, Debug)]
pub struct MemData {
    pub depth: usize,
    pub lanes: usize,
    pub words: usize,
    /// Never filled with garbage.
    pub initialized: bool,
    pub data: Vec<u64>,
}

impl MemData {
    /// Index of the first word of a cell; none if the address does not exist.
    #[inline]
    pub fn cell(&self, addr: u64, lane: usize) -> Option<usize> {
        (addr < self.depth as u64).then(|| (addr as usize * self.lanes + lane) * self.words)
    }

    /// Copies a cell to a lane of a value, zero if the address does not exist. Returns the bits that changed.
    #[inline(always)]
    pub fn load(&self, v: &mut [u64], addr: u64, lane: usize, dst: WideRef, to: usize) -> u64 {
        let at = self.cell(addr, lane);
        let mut diff = 0;
        for k in 0..self.words {
            let new = at.map_or(0, |i| self.data[i + k]);
            let old = &mut v[dst.off + to + k * dst.plane];
            diff |= *old ^ new;
            *old = new;
        }
        diff
    }
}

/// A write port. The mask holds one bit for each group of so many bits of the word. The word `any` is zero if no lane
/// writes.
#[derive(Clone, Debug)]
pub struct WriteOp {
    pub mem: usize,
    pub any: usize,
    pub en: usize,
    pub addr: usize,
    pub data: WideRef,
    pub mask: Option<(WideRef, u32)>,
}

impl WriteOp {
    /// The words that the port reads.
    pub fn reads(&self, lanes: usize) -> Vec<Range> {
        let wide = [Some(self.data), self.mask.map(|m| m.0)].into_iter().flatten();
        let words = wide.flat_map(|r| planes(&r, lanes));
        words.chain([(self.any, 1), (self.en, lanes), (self.addr, lanes)]).collect()
    }
}

/// A write at this edge: memory, first word of the cell, first word of the data.
#[derive(Clone, Copy, Debug)]
struct Write {
    mem: usize,
    cell: usize,
    from: usize,
}

/// The writes at this edge.
#[derive(Clone, Default, Debug)]
pub struct Writes {
    list: Vec<Write>,
    /// For each write its words, then the mask of each word.
    data: Vec<u64>,
}

impl Writes {
    /// Adds the writes of a port.
    #[inline(always)]
    pub fn sample(&mut self, w: &WriteOp, v: &[u64], mems: &[MemData]) {
        if v[w.any] == 0 {
            return;
        }
        let m = &mems[w.mem];
        for lane in 0..m.lanes {
            if v[w.en + lane] == 0 || w.mask.is_some_and(|(mask, _)| mask.lane(v, lane).all(|x| x == 0)) {
                continue;
            }
            let Some(cell) = m.cell(v[w.addr + lane], lane) else { continue };
            let from = self.data.len();
            if m.words == 1 && w.mask.is_none() {
                // The most frequent memory: accumulators of a PE.
                self.data.extend([v[w.data.off + lane], !0]);
                self.list.push(Write { mem: w.mem, cell, from });
                continue;
            }
            self.data.extend(w.data.lane(v, lane));
            match w.mask {
                Some((mask, bits)) => {
                    self.data.resize(from + 2 * m.words, 0);
                    expand(&mut self.data[from + m.words..], mask.lane(v, lane), bits);
                }
                None => self.data.resize(from + 2 * m.words, !0),
            }
            self.list.push(Write { mem: w.mem, cell, from });
        }
    }

    /// Applies all writes; calls `changed` for every memory whose contents change.
    #[inline(always)]
    pub fn apply(&mut self, mems: &mut [MemData], mut changed: impl FnMut(usize)) {
        for w in &self.list {
            let k = mems[w.mem].words;
            let (data, mask) = self.data[w.from..w.from + 2 * k].split_at(k);
            let mut diff = 0;
            for ((old, &x), &m) in mems[w.mem].data[w.cell..w.cell + k].iter_mut().zip(data).zip(mask) {
                diff |= (*old ^ x) & m;
                *old = *old & !m | x & m;
            }
            if diff != 0 {
                changed(w.mem);
            }
        }
        self.list.clear();
        self.data.clear();
    }
}

/// Expands every bit of the mask to `width` bits.
#[inline(always)]
fn expand(out: &mut [u64], mask: impl Iterator<Item = u64>, width: u32) {
    for (k, mut bits) in mask.enumerate() {
        while bits != 0 {
            let first = (k as u32 * 64 + bits.trailing_zeros()) * width;
            bits &= bits - 1;
            let mut at = first;
            while at < first + width {
                let n = (first + width - at).min(64 - at % 64);
                out[at as usize / 64] |= top_mask(n) << (at % 64);
                at += n;
            }
        }
    }
}
