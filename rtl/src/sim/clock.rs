//! The clock edge: registers, registered reads, memory writes.
//!
//! Writes are sampled first and applied last, so that every read at the edge sees old contents.

use super::tape::{MemData, WideRef};
use crate::bits::top_mask;

/// Update of a state. Offsets are words, `n` is lanes.
#[derive(Clone, Debug)]
pub enum ClockOp {
    /// Registers that always load: (to, from, words).
    Move(Vec<(usize, usize, usize)>),
    Reg { q: WideRef, d: WideRef, n: usize, en: Option<usize>, rst: Option<(usize, Vec<u64>)> },
    Read { q: WideRef, n: usize, mem: usize, addr: usize, en: usize },
}

/// A write port of a memory; the mask has one bit for each so many bits of the word.
#[derive(Clone, Debug)]
pub struct WriteOp {
    pub mem: usize,
    pub en: usize,
    pub addr: usize,
    pub data: WideRef,
    pub mask: Option<(WideRef, u32)>,
}

/// Where and what a write port writes at this edge.
#[derive(Default, Debug)]
pub struct Pending {
    cells: Vec<(usize, usize, usize)>,
    data: Vec<u64>,
}

impl ClockOp {
    /// Reads the copies (copy, original, words) instead of the originals.
    pub fn redirect(&mut self, copies: &[(usize, usize, usize)]) {
        let fix = |off: &mut usize| {
            if let Some(c) = copies.iter().find(|c| (c.1..c.1 + c.2).contains(off)) {
                *off = c.0 + (*off - c.1);
            }
        };
        match self {
            ClockOp::Move(list) => list.iter_mut().for_each(|m| fix(&mut m.1)),
            ClockOp::Reg { d, en, rst, .. } => {
                fix(&mut d.off);
                en.iter_mut().for_each(fix);
                rst.iter_mut().for_each(|r| fix(&mut r.0));
            }
            ClockOp::Read { addr, en, .. } => {
                fix(addr);
                fix(en);
            }
        }
    }
}

/// A register with enable or reset of one word a lane, without overlap of its operands.
#[inline(always)]
fn reg_lanes(v: &mut [u64], q: usize, d: usize, n: usize, en: Option<usize>, rst: Option<(usize, u64)>) -> bool {
    let r = |o: usize| o..o + n;
    match (en, rst) {
        (Some(e), None) => {
            let Ok([q, d, e]) = v.get_disjoint_mut([r(q), r(d), r(e)]) else { return false };
            for ((q, d), e) in q.iter_mut().zip(&*d).zip(&*e) {
                *q = if *e != 0 { *d } else { *q };
            }
        }
        (None, Some((s, value))) => {
            let Ok([q, d, s]) = v.get_disjoint_mut([r(q), r(d), r(s)]) else { return false };
            for ((q, d), s) in q.iter_mut().zip(&*d).zip(&*s) {
                *q = if *s != 0 { value } else { *d };
            }
        }
        (Some(e), Some((s, value))) => {
            let Ok([q, d, e, s]) = v.get_disjoint_mut([r(q), r(d), r(e), r(s)]) else { return false };
            for (((q, d), e), s) in q.iter_mut().zip(&*d).zip(&*e).zip(&*s) {
                let loaded = if *e != 0 { *d } else { *q };
                *q = if *s != 0 { value } else { loaded };
            }
        }
        (None, None) => v.copy_within(r(d), q),
    }
    true
}

fn reg_general(v: &mut [u64], q: usize, d: usize, n: usize, en: Option<usize>, rst: Option<(usize, u64)>) {
    for lane in 0..n {
        match rst {
            Some((r, value)) if v[r + lane] != 0 => v[q + lane] = value,
            _ if en.is_none_or(|e| v[e + lane] != 0) => v[q + lane] = v[d + lane],
            _ => {}
        }
    }
}

/// Samples the write ports.
pub fn sample(writes: &[WriteOp], v: &[u64], mems: &[MemData], p: &mut Pending) {
    p.cells.clear();
    p.data.clear();
    for w in writes {
        let m = &mems[w.mem];
        for lane in 0..m.lanes {
            if v[w.en + lane] == 0 {
                continue;
            }
            let Some(cell) = m.cell(v[w.addr + lane], lane) else { continue };
            let from = p.data.len();
            p.data.extend(w.data.lane(v, lane));
            // The words are followed by the bits that are written.
            match w.mask {
                Some((r, lane_w)) => p.data.extend(bit_mask(&r.lane(v, lane).collect::<Vec<_>>(), lane_w, m.words)),
                None => p.data.extend(std::iter::repeat_n(!0, m.words)),
            }
            p.cells.push((w.mem, cell, from));
        }
    }
}

/// Bits that are written, for each word of a cell.
fn bit_mask(bits: &[u64], lane_w: u32, words: usize) -> Vec<u64> {
    let mut out = vec![0u64; words];
    let total = words as u32 * 64;
    for k in 0..bits.len() as u32 * 64 {
        if bits[k as usize / 64] >> (k % 64) & 1 == 0 {
            continue;
        }
        let (mut at, end) = (k * lane_w, ((k + 1) * lane_w).min(total));
        while at < end {
            let n = (end - at).min(64 - at % 64);
            out[at as usize / 64] |= top_mask(n) << (at % 64);
            at += n;
        }
    }
    out
}

/// Applies the sampled writes.
pub fn apply(p: &Pending, mems: &mut [MemData]) {
    for &(mem, cell, from) in &p.cells {
        let k = mems[mem].words;
        let (data, mask) = (&p.data[from..from + k], &p.data[from + k..from + 2 * k]);
        for (i, old) in mems[mem].data[cell..cell + k].iter_mut().enumerate() {
            *old = *old & !mask[i] | data[i] & mask[i];
        }
    }
}

#[inline(always)]
fn run_body(ops: &[ClockOp], v: &mut [u64], mems: &[MemData]) {
    for op in ops {
        match op {
            ClockOp::Move(list) => {
                for &(to, from, len) in list {
                    if len == 1 {
                        v[to] = v[from];
                    } else {
                        v.copy_within(from..from + len, to);
                    }
                }
            }
            ClockOp::Reg { q, d, n, en, rst } => {
                for k in 0..q.words {
                    let rst = rst.as_ref().map(|(r, x)| (*r, x[k]));
                    let (q, d) = (q.off + k * q.plane, d.off + k * d.plane);
                    if *n == 1 || !reg_lanes(v, q, d, *n, *en, rst) {
                        reg_general(v, q, d, *n, *en, rst);
                    }
                }
            }
            ClockOp::Read { q, n, mem, addr, en } => {
                for lane in 0..*n {
                    if v[en + lane] != 0 {
                        mems[*mem].load(v, v[addr + lane], lane, *q, lane);
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(ops: &[ClockOp], v: &mut [u64], mems: &[MemData]) {
    run_body(ops, v, mems);
}

/// Updates all states.
pub fn run(ops: &[ClockOp], v: &mut [u64], mems: &[MemData]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature that `run_avx2` is compiled for; it contains no
        // unsafe code otherwise. It vectorizes register enables over identical elements.
        unsafe { run_avx2(ops, v, mems) };
        return;
    }
    run_body(ops, v, mems);
}
