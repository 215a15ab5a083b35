//! Delay elements: how a PE holds a value of an earlier wave until it is taken.
//!
//! Problem: a `Past` needs the value that its source had `waves` launches ago. A register chain costs bits for each
//! wave; a memory costs a cycle to write and one to read. The choice is made here, once, for the scheduler (which waits
//! long enough for one of them), the verifier, the cost and the hardware.
//!
//! Terms: a *chain* is registers that shift with each wave. Number `k` holds the value of `k` waves ago from one cycle
//! after the shift of the previous wave, at least `interval` cycles before, until the shift of this one. A *memory* is
//! written when the source is ready, and read at the earliest one cycle after the write.
//!
//! Example: interval 1, a source that is ready in cycle 3 with a register of its own, 2 waves. Wave `w + 2` takes the
//! value in its cycle 2, which is cycle 4 of wave `w`:
//!
//! ```text
//! cycle of wave w          2     3        4
//! source (register 1)            w
//! chain (register 2)                      w
//! memory                         write    readable
//! ```
//!
//! Invariant: an element has the right value in the cycle in which it is taken ([`Wait::allows`]).

use crate::contract::memory::{kind, Kind};
use crate::vsa::{Delay, NodeId, Op, Vsa};
use std::collections::BTreeMap;
use uniform::sizes::Formula;

/// Chains of at most this many registers are preferred to a memory.
const CHAIN_LIMIT: i64 = 4;

/// What a `Past` asks of its delay element. Cycles are relative to a wave's arrival at the *source's* PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// At least 0; with 0, the value is taken from the wire. The fewest of any phase, at any sizes.
    pub waves: i64,
    /// It is not the same number in all phases, or at all sizes, which no chain can do.
    pub varies: bool,
    /// When the source is ready.
    pub ready: i64,
    /// The source's own registers.
    pub latency: i64,
    /// Least cycles between two waves.
    pub interval: i64,
    /// When the value must be there: as it is taken, or a cycle earlier where it leaves the PE by a register.
    pub taken: i64,
}

impl Wait {
    /// `None` unless the node is a `Past`.
    pub fn of(vsa: &Vsa, id: NodeId) -> Option<Wait> {
        let Op::Past { source, hop, waves } = &vsa.node(id).op else { return None };
        let s = &vsa.schedule;
        let taken = s.ready[id.index()] + s.behind(*hop) - i64::from(*hop != [0, 0]);
        let constant = matches!(waves, Formula::Const(_));
        Some(Wait {
            waves: if constant { vsa.most(waves) } else { waves.fewest(&vsa.sizes.maxima()) },
            varies: !constant,
            ready: s.ready[source.index()],
            latency: s.latency[source.index()],
            interval: s.interval.max(1),
            taken,
        })
    }

    /// When the chain behind the source shifts: with the source's own last register, if it has one.
    pub fn shift(&self) -> i64 {
        self.ready - i64::from(self.latency > 0)
    }

    /// The element to build, if there is one that has the value in time.
    pub fn choose(&self) -> Option<Delay> {
        let memory = Delay::Memory { read: (self.taken - 1).min(self.ready).max(0), synchronous: self.taken > 0 };
        let spare = self.taken >= (self.ready + 2 - self.waves * self.interval).max(0) && self.allows(memory);
        match self.allows(Delay::Chain) && (self.waves <= CHAIN_LIMIT || !spare) {
            true => Some(Delay::Chain),
            false => spare.then_some(memory),
        }
    }

    /// The element has the right value in the cycle in which it is taken.
    pub fn allows(&self, delay: Delay) -> bool {
        match delay {
            Delay::Chain => self.waves > 0 && !self.varies && self.taken > self.shift() - self.interval,
            Delay::Memory { read, synchronous } => {
                let written = self.ready + 1 - self.waves * self.interval;
                self.waves > 1
                    && (written.max(0)..=self.ready).contains(&read)
                    && read + i64::from(synchronous) <= self.taken
            }
        }
    }

    /// Registers between the element (or the wire) and where the value is taken.
    pub fn registers(&self, delay: Option<Delay>) -> i64 {
        self.taken
            - match delay {
                None => self.ready,
                Some(Delay::Chain) => self.taken.min(self.shift()),
                Some(Delay::Memory { read, synchronous }) => read + i64::from(synchronous),
            }
    }
}

/// Earliest cycle in which a schedule may take a value, relative to a wave's arrival at the source's PE, given that the
/// source is ready in cycle `ready` after `latency` registers. (From a chain of several it would be there earlier where
/// waves are more than a cycle apart; schedules do not count on that.)
pub fn earliest(waves: i64, ready: i64, latency: i64, interval: i64) -> i64 {
    let unregistered = (latency == 0) as i64;
    match waves {
        0 => ready,
        1 => ready + unregistered - interval,
        _ => ready + (unregistered - 1).min(2 - waves * interval),
    }
}

/// The same of a value that waits for other numbers of waves in other phases or at other sizes, `fewest` at least: it
/// is always in a memory.
pub fn earliest_lagging(fewest: i64, ready: i64, interval: i64) -> i64 {
    ready + 2 - fewest * interval
}

/// A delay element for every `Past` with `waves > 0`, unless its schedule leaves too little time for any.
pub fn choose(vsa: &Vsa) -> BTreeMap<NodeId, Delay> {
    let pasts = (0..vsa.nodes.len() as u32).map(NodeId);
    pasts.filter_map(|id| Some((id, Wait::of(vsa, id).filter(|w| w.waves > 0)?.choose()?))).collect()
}

/// A `Select` between a constant and what a memory kept, by a condition of the wave alone: done where the memory's word
/// is registered, as a reset of that register, and not behind it. The register is flip-flops behind LUTs, or the output
/// of a block RAM. UltraRAM has no such reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleared {
    pub past: NodeId,
    /// When the word is registered, one cycle before the `Select` is ready; the condition is taken then.
    pub read: i64,
    pub condition: NodeId,
    /// Value of the condition for which the register takes `value`.
    pub when: bool,
    pub value: u64,
}

/// `None` where a `Select` is a multiplexer.
pub fn cleared(vsa: &Vsa, id: NodeId) -> Option<Cleared> {
    let Op::Select(condition, a, b) = vsa.node(id).op else { return None };
    let (past, value, when) = match (&vsa.node(a).op, &vsa.node(b).op) {
        (Op::Const(value), _) => (b, *value, true),
        (_, Op::Const(value)) => (a, *value, false),
        _ => return None,
    };
    let Op::Past { hop: [0, 0], waves, .. } = &vsa.node(past).op else { return None };
    let Some(delay @ Delay::Memory { read, synchronous: true }) = vsa.schedule.delays.get(&past).copied() else {
        return None;
    };
    let registers = Wait::of(vsa, past)?.registers(Some(delay));
    let at_once = |n: NodeId| vsa.schedule.latency[n.index()] == 0;
    let same_time = vsa.schedule.ready[id.index()] == read + 1 && vsa.schedule.ready[past.index()] == read + 1;
    let control = matches!(vsa.node(condition).op, Op::Guard(_)) && vsa.node(condition).op.is_control();
    // What takes longest comes last.
    let alone = || {
        let readers = vsa.nodes.iter().map(|n| n.op.sources().iter().filter(|&&s| s == past).count()).sum::<usize>();
        let stored = vsa.outputs.iter().flat_map(|g| &g.ports).any(|p| p.value == past || p.enable == past);
        readers == 1 && !stored && vsa.node(past).ty == vsa.node(id).ty
    };
    let width = i64::from(vsa.node(past).ty.bits());
    let resets = !matches!(kind(vsa.most(waves), width, vsa.uram), Kind::Ultra(_));
    (control && same_time && registers == 0 && at_once(id) && resets && alone()).then_some(Cleared {
        past,
        read,
        condition,
        when,
        value,
    })
}
