//! The clock edge: registers, registered reads, memory writes.
//!
//! The jobs of an edge are first the write ports of each memory, then the updates of states. A state is updated after
//! all states that load its old value.

use super::activity::{Activity, Range};
use super::cpu::vectorized;
use super::mems::{MemData, WriteOp, Writes};
use super::ops::{planes, WideRef};
use super::tape::copy;

/// Update of a state. Offsets count words, `n` counts lanes.
#[derive(Clone, Debug)]
pub enum StateOp {
    /// A register without enable and reset.
    Move {
        q: usize,
        d: usize,
        len: usize,
    },
    Reg {
        q: WideRef,
        d: WideRef,
        n: usize,
        en: Option<usize>,
        rst: Option<(usize, Vec<u64>)>,
    },
    Read {
        q: WideRef,
        n: usize,
        mem: usize,
        addr: usize,
        en: usize,
    },
}

/// The jobs of an edge.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Number of the first job, after those of the tape.
    pub first: usize,
    /// The ports of each memory, in order of precedence.
    pub ports: Vec<Vec<WriteOp>>,
    pub states: Vec<StateOp>,
}

impl StateOp {
    /// Replaces operands by their copies, each given as (copy, original, words).
    pub fn redirect(&mut self, copies: &[(usize, usize, usize)]) {
        let fix = |off: &mut usize| {
            if let Some(c) = copies.iter().find(|c| (c.1..c.1 + c.2).contains(off)) {
                *off = c.0 + (*off - c.1);
            }
        };
        match self {
            StateOp::Move { d, .. } => fix(d),
            StateOp::Reg { d, en, rst, .. } => {
                fix(&mut d.off);
                en.iter_mut().for_each(fix);
                rst.iter_mut().for_each(|r| fix(&mut r.0));
            }
            StateOp::Read { addr, en, .. } => {
                fix(addr);
                fix(en);
            }
        }
    }

    /// The words that it reads, except the state itself.
    pub fn reads(&self) -> Vec<Range> {
        match self {
            StateOp::Move { d, len, .. } => vec![(*d, *len)],
            StateOp::Reg { d, n, en, rst, .. } => {
                let controls = en.iter().chain(rst.iter().map(|r| &r.0));
                planes(d, *n).into_iter().chain(controls.map(|&at| (at, *n))).collect()
            }
            StateOp::Read { n, addr, en, .. } => vec![(*addr, *n), (*en, *n)],
        }
    }

    /// The words of the state.
    pub fn writes(&self) -> Vec<Range> {
        match self {
            StateOp::Move { q, len, .. } => vec![(*q, *len)],
            StateOp::Reg { q, n, .. } | StateOp::Read { q, n, .. } => planes(q, *n),
        }
    }

    /// Updates the state; returns the bits that changed.
    #[inline(always)]
    fn run(&self, v: &mut [u64], mems: &[MemData]) -> u64 {
        match *self {
            StateOp::Move { q, d, len } => copy(v, q, d, len),
            StateOp::Reg { q, d, n, en, ref rst } => {
                let mut diff = 0;
                for k in 0..q.words {
                    let rst = rst.as_ref().map(|(r, x)| (*r, x[k]));
                    let (q, d) = (q.off + k * q.plane, d.off + k * d.plane);
                    let fast = if n == 1 { None } else { reg_lanes(v, q, d, n, en, rst) };
                    diff |= fast.unwrap_or_else(|| reg_general(v, q, d, n, en, rst));
                }
                diff
            }
            StateOp::Read { q, n, mem, addr, en } => {
                let mut diff = 0;
                for lane in 0..n {
                    if v[en + lane] != 0 {
                        diff |= mems[mem].load(v, v[addr + lane], lane, q, lane);
                    }
                }
                diff
            }
        }
    }
}

/// A register of one word a lane, if its operands do not overlap.
#[inline(always)]
fn reg_lanes(v: &mut [u64], q: usize, d: usize, n: usize, en: Option<usize>, rst: Option<(usize, u64)>) -> Option<u64> {
    let r = |o: usize| o..o + n;
    let mut diff = 0;
    let mut put = |q: &mut u64, new: u64| {
        diff |= *q ^ new;
        *q = new;
    };
    match (en, rst) {
        (Some(e), None) => {
            let [q, d, e] = v.get_disjoint_mut([r(q), r(d), r(e)]).ok()?;
            for ((q, d), e) in q.iter_mut().zip(&*d).zip(&*e) {
                let new = if *e != 0 { *d } else { *q };
                put(q, new);
            }
        }
        (None, Some((s, value))) => {
            let [q, d, s] = v.get_disjoint_mut([r(q), r(d), r(s)]).ok()?;
            for ((q, d), s) in q.iter_mut().zip(&*d).zip(&*s) {
                put(q, if *s != 0 { value } else { *d });
            }
        }
        (Some(e), Some((s, value))) => {
            let [q, d, e, s] = v.get_disjoint_mut([r(q), r(d), r(e), r(s)]).ok()?;
            for (((q, d), e), s) in q.iter_mut().zip(&*d).zip(&*e).zip(&*s) {
                let loaded = if *e != 0 { *d } else { *q };
                put(q, if *s != 0 { value } else { loaded });
            }
        }
        (None, None) => return Some(copy(v, q, d, n)),
    }
    Some(diff)
}

#[inline(always)]
fn reg_general(v: &mut [u64], q: usize, d: usize, n: usize, en: Option<usize>, rst: Option<(usize, u64)>) -> u64 {
    let mut diff = 0;
    for lane in 0..n {
        let new = match rst {
            Some((r, value)) if v[r + lane] != 0 => value,
            _ if en.is_none_or(|e| v[e + lane] != 0) => v[d + lane],
            _ => continue,
        };
        diff |= v[q + lane] ^ new;
        v[q + lane] = new;
    }
    diff
}

impl Edge {
    /// Number of the first update of a state.
    fn first_state(&self) -> usize {
        self.first + self.ports.len()
    }

    /// One more than the last job; memory 0 has this number as a source.
    pub fn end(&self) -> usize {
        self.first_state() + self.states.len()
    }
}

#[inline(always)]
fn edge_body(edge: &Edge, v: &mut [u64], mems: &mut [MemData], activity: &mut Activity, writes: &mut Writes) {
    let (first_state, end) = (edge.first_state(), edge.end());
    let mut from = edge.first;
    while let Some(k) = activity.next(from, first_state) {
        from = k + 1;
        activity.start(k);
        edge.ports[k - edge.first].iter().for_each(|w| writes.sample(w, v, mems));
    }
    from = first_state;
    while let Some(k) = activity.next(from, end) {
        from = k + 1;
        activity.start(k);
        if edge.states[k - first_state].run(v, mems) != 0 {
            activity.wake(k);
        }
    }
    writes.apply(mems, |mem| activity.wake(end + mem));
}

vectorized! {
    /// One clock edge, after settling.
    fn edge(edge: &Edge, v: &mut [u64], mems: &mut [MemData], activity: &mut Activity, writes: &mut Writes) = edge_body
}
