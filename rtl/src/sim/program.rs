//! A compiled design, and the dependences between its jobs.

use super::activity::Activity;
use super::clock::{Edge, StateOp};
use super::mems::{MemData, WriteOp};
use super::ops::{reads, writes, Job, TapeOp};
use crate::netlist::bits::{limbs_of, top_mask, Bits};
use crate::netlist::MemId;
use std::collections::BTreeMap;

/// A compiled design.
#[derive(Default)]
pub struct Program {
    pub tape: Vec<Job>,
    pub states: Vec<StateOp>,
    /// Write ports of each memory.
    pub ports: Vec<Vec<WriteOp>>,
    pub mems: Vec<MemData>,
    /// Constants and initial values: (first word, lanes, value).
    pub constants: Vec<(usize, usize, Bits)>,
    /// Other registers and registered reads: (first word, lanes, width).
    pub garbage: Vec<(usize, usize, u32)>,
    /// Words of storage.
    pub size: usize,
    /// First word of each live value.
    pub offsets: BTreeMap<u32, usize>,
    /// Index of each live memory.
    pub mem_index: BTreeMap<(usize, MemId), usize>,
    /// Valid bits of the top word of each memory.
    pub mem_top: Vec<u64>,
}

impl Program {
    /// The jobs of an edge.
    pub fn edge(&mut self) -> Edge {
        let (ports, states) = (std::mem::take(&mut self.ports), std::mem::take(&mut self.states));
        Edge { first: self.tape.len(), ports, states }
    }

    /// The readers of each source; `inputs` are the words of the input ports.
    pub fn activity(&self, edge: &Edge, inputs: &[(usize, usize)]) -> Activity {
        let tape = self.tape.iter().map(|j| reads(&j.op));
        let ports = edge.ports.iter().zip(&self.mems);
        let ports = ports.map(|(p, m)| p.iter().flat_map(|w| w.reads(m.lanes)).collect());
        let all: Vec<_> = tape.chain(ports).chain(edge.states.iter().map(StateOp::reads)).collect();
        let tape = self.tape.iter().map(|j| writes(&j.op));
        let states = edge.states.iter().map(StateOp::writes);
        let mut sources: Vec<_> = tape.chain(edge.ports.iter().map(|_| vec![])).chain(states).collect();
        sources.extend(self.mems.iter().map(|_| vec![]));
        sources.extend(inputs.iter().map(|&at| vec![at]));
        let async_reads = self.tape.iter().enumerate().filter_map(|(k, j)| match j.op {
            TapeOp::Read { mem, .. } => Some((edge.end() + mem, k)),
            _ => None,
        });
        let sync_reads = edge.states.iter().enumerate().filter_map(|(k, op)| match *op {
            StateOp::Read { mem, .. } => Some((edge.end() + mem, edge.first + edge.ports.len() + k)),
            _ => None,
        });
        let readers: Vec<_> = async_reads.chain(sync_reads).collect();
        Activity::new(&all, &sources, &readers, self.size)
    }

    /// Fills states and memories with pseudo-random bits.
    pub fn fill_garbage(&mut self, seed: u64, v: &mut [u64]) {
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x.wrapping_mul(0x2545_f491_4f6c_dd1d)
        };
        for &(off, lanes, w) in &self.garbage {
            let words = limbs_of(w) * lanes;
            v[off..off + words].iter_mut().for_each(|x| *x = next());
            v[off + words - lanes..off + words].iter_mut().for_each(|x| *x &= top_mask(w));
        }
        for (m, top) in self.mems.iter_mut().zip(&self.mem_top).filter(|m| !m.0.initialized) {
            for cell in m.data.chunks_mut(m.words) {
                cell.iter_mut().for_each(|w| *w = next());
                cell[m.words - 1] &= top;
            }
        }
    }
}
