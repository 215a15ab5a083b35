//! The timing of a board's memory behind the ports of an array.
//!
//! Problem: several ports share a memory, and reads share it with writes. A real controller divides it as requests
//! come. The prediction and every simulation must divide it alike, so here the division is fixed for a run: each way of
//! a port has a guaranteed *share*, a rate. A real controller gives unused shares to others.
//!
//! Method: shares are in proportion to the bytes that each way moves in a run, at the greatest sizes. No way gets more
//! than its port can carry; what it leaves is divided among the others. Limits are nested: a way of a port, a bank, all
//! banks of a kind. All shares grow together until a limit is reached; the ways under it stop, the others grow on
//! (max-min fairness with weights; Bertsekas and Gallager, "Data Networks", section 6.5.2).
//!
//! Reads and writes mostly come at different times: an array loads, computes and stores. So at first a limit holds for
//! the reads and for the writes alone. If the run would then move more than the memory can in its time, the shares are
//! reduced, in [`STEPS`] steps, to those for which limits hold for reads and writes together.
//!
//! Example: a PYNQ-Z2 moves 21 bytes a cycle, a port 8 each way. A product reads 8 KiB of A and of B, and writes 16 KiB
//! of C. Each way gets 8 bytes a cycle if the run takes at least 32 KiB / 21 = 1561 cycles. If not, C keeps its 8, and A
//! and B share the other 13 at last.
//!
//! Invariant: a run takes at least as long as all bytes under a limit take at its rate; [`Most`] is what bounds use.

use crate::bank::{self, Bank};
use crate::predict::{self, Allowed, End, Prediction};
use array::contract::dram::{Memories, MemoryTiming, Pace};
use array::contract::walk::Walk;
use array::vsa::Vsa;
use uniform::design::DesignSpec;
use uniform::memory::{Kind, Memory, CYCLES};

/// Steps from limits for reads and writes alone to limits for both together.
const STEPS: i64 = 3;

/// A run at the greatest sizes, with the memories behind the ports.
pub struct Run {
    pub prediction: Prediction,
    pub memories: Memories,
}

/// A run with the memory that the specification asks for: the board's, or ideal memory.
pub fn run(vsa: &Vsa, spec: &DesignSpec) -> Run {
    run_below(vsa, spec, Allowed::ALL).0.run().expect("a run takes less than that")
}

/// [`run`] if it takes so few cycles and so short a walk; and the work of the walk, in rows.
pub fn run_below(vsa: &Vsa, spec: &DesignSpec, allowed: Allowed) -> (End<Run>, u64) {
    if spec.memory.ideal || spec.memory.kinds.is_empty() {
        let memories = Memories::ideal();
        let (end, work) = predict::predict_below(vsa, &memories, allowed);
        return (with(end, memories), work);
    }
    on_board(vsa, spec, allowed)
}

fn with(end: End<Prediction>, memories: Memories) -> End<Run> {
    match end {
        End::Run(prediction) => End::Run(Run { prediction, memories }),
        End::Slow => End::Slow,
        End::Long => End::Long,
    }
}

/// A run with the board's memory.
pub fn run_on_board(vsa: &Vsa, spec: &DesignSpec) -> Run {
    let spec = &DesignSpec { memory: Memory { ideal: false, ..spec.memory.clone() }, ..spec.clone() };
    run(vsa, spec)
}

fn on_board(vsa: &Vsa, spec: &DesignSpec, allowed: Allowed) -> (End<Run>, u64) {
    let at_most = (vsa.parameters() > 0).then(|| vsa.at_most());
    let greatest = at_most.as_ref().unwrap_or(vsa);
    let ways = ways(greatest, spec);
    let least = least(&ways);
    if least >= allowed.cycles {
        return (End::Slow, 1);
    }
    let (apart, together) = (shares(&ways, false), shares(&ways, true));
    let (mut end, mut work) = (End::Slow, 0);
    for step in if apart == together { STEPS..=STEPS } else { 0..=STEPS } {
        let share = |(a, b): (&i64, &i64)| a - (a - b) * step / STEPS;
        let shares: Vec<i64> = apart.iter().zip(&together).map(share).collect();
        let memories = timings(greatest, spec, &ways, &shares);
        let rest = Allowed { work: allowed.work.saturating_sub(work), ..allowed };
        let (predicted, walked) = predict::predict_below(vsa, &memories, rest);
        work += walked;
        end = with(predicted, memories);
        // Less of the memory never makes a run faster.
        if !matches!(&end, End::Run(run) if run.prediction.cycles < least) {
            break;
        }
    }
    (end, work)
}

/// Cycles that the memories take for all that the ways move, at least.
fn least(ways: &[Way]) -> i64 {
    let limits = limits(ways, true);
    let cycles = |(members, most): &(Vec<usize>, i64)| at_rate(members.iter().map(|&k| ways[k].bytes).sum(), *most);
    limits.iter().map(cycles).max().unwrap_or(0)
}

fn timings(vsa: &Vsa, spec: &DesignSpec, ways: &[Way], shares: &[i64]) -> Memories {
    let timing = |port: usize| {
        let pace = |writes: bool| {
            let found = ways.iter().zip(shares).find(|(way, _)| way.port == port && way.writes == writes);
            found.map_or(Pace::FULL, |(way, share)| way.pace(*share, ways))
        };
        let latency = place(vsa, spec, port).kind.latency;
        MemoryTiming { read: pace(false), write: pace(true), ..MemoryTiming::both(latency) }
    };
    Memories::of_ports((0..vsa.axi_ports()).map(timing).collect())
}

/// Where the arrays behind a port are.
struct Place<'a> {
    bank: Bank,
    kind: &'a Kind,
    /// Number of the kind.
    number: usize,
}

fn place<'a>(vsa: &Vsa, spec: &'a DesignSpec, port: usize) -> Place<'a> {
    let asked = vsa.arrays_of(port).find_map(|a| spec.wiring.bank.get(&vsa.arrays[a].name));
    let bank = asked.and_then(|text| bank::parse(text, &spec.memory).ok());
    let bank = bank.unwrap_or_else(|| bank::turn(&spec.memory, port));
    let number = spec.memory.kinds.iter().position(|k| k.name == bank.kind).unwrap_or(0);
    Place { bank, kind: &spec.memory.kinds[number], number }
}

/// Bytes of the words of the memory's port behind a port of the array.
pub(crate) fn width(vsa: &Vsa, spec: &DesignSpec, port: usize) -> u32 {
    place(vsa, spec, port).kind.width
}

/// One direction of a port.
struct Way<'a> {
    port: usize,
    writes: bool,
    /// Bytes in a run.
    bytes: i64,
    /// Bytes of a word.
    word: i64,
    place: Place<'a>,
}

impl Way<'_> {
    /// The pace for a share in bytes per [`CYCLES`].
    fn pace(&self, share: i64, all: &[Way]) -> Pace {
        // What short bursts waste is the memory's, not the port's.
        let of = |most: i64, is_in: &dyn Fn(&Way) -> bool| {
            let under = all.iter().filter(|w| w.writes == self.writes && is_in(w));
            let bytes: i128 = under.map(|w| i128::from(w.bytes)).sum();
            (i128::from(most) * i128::from(self.bytes) / bytes.max(1)) as i64
        };
        let kind = self.place.kind;
        let memory = match kind.all {
            Some(most) => of(most, &|w| w.place.number == self.place.number),
            None => of(kind.bank * self.place.bank.count(), &|w| w.place.bank == self.place.bank),
        };
        Pace {
            beat: pace(self.word, share),
            least: ((kind.shortest * CYCLES) as u64).div_ceil(memory.max(share) as u64) as i64,
        }
    }
}

/// Parts of a cycle for a word of so many bytes at this rate.
fn pace(word: i64, rate: i64) -> i64 {
    ((i128::from(word) * i128::from(CYCLES * Pace::ONE) + i128::from(rate) - 1) / i128::from(rate))
        .max(Pace::ONE.into()) as i64
}

fn ways<'a>(vsa: &Vsa, spec: &'a DesignSpec) -> Vec<Way<'a>> {
    let way = |port: usize, writes: bool| {
        let walk = if writes { Walk::writes(vsa, port) } else { Walk::reads(vsa, port) }?;
        let word = i64::from(walk.bus_bytes());
        Some(Way { port, writes, bytes: bank::moved(&walk).max(1), word, place: place(vsa, spec, port) })
    };
    (0..vsa.axi_ports()).flat_map(|p| [way(p, false), way(p, true)]).flatten().collect()
}

/// Ways, and the bytes per [`CYCLES`] that they have at most. `together`: limits of banks hold for reads and writes
/// together, else for each of them.
fn limits(ways: &[Way], together: bool) -> Vec<(Vec<usize>, i64)> {
    let mut limits: Vec<(Vec<usize>, i64)> = vec![];
    for (k, way) in ways.iter().enumerate() {
        let (kind, banks) = (way.place.kind, way.place.bank.count());
        let under = |is_in: &dyn Fn(&Way) -> bool| -> Vec<usize> {
            (0..ways.len()).filter(|&j| (together || ways[j].writes == way.writes) && is_in(&ways[j])).collect()
        };
        let same_bank = |w: &Way| w.place.bank == way.place.bank;
        limits.push((vec![k], (way.word * CYCLES).min(kind.way * banks)));
        limits.push((under(&|w| same_bank(w) && w.writes == way.writes), kind.way * banks));
        limits.push((under(&same_bank), kind.bank * banks));
        limits.extend(kind.all.map(|all| (under(&|w| w.place.number == way.place.number), all)));
    }
    limits
}

/// The rate of each way, in bytes per [`CYCLES`].
fn shares(ways: &[Way], together: bool) -> Vec<i64> {
    shared(&limits(ways, together), &ways.iter().map(|way| way.bytes).collect::<Vec<_>>())
}

/// The rate of each of several flows that moves so many bytes, in bytes per [`CYCLES`]. Limits: flows, and the bytes per
/// [`CYCLES`] that they have at most. Each flow has a share of what is left that is in proportion to its bytes, so all under
/// one limit end together. Example: 300 and 100 bytes, 2 bytes a cycle for the first and 3 for both. The first ends in
/// 150 cycles at the earliest, both in 133; so the first has 2 bytes a cycle and the second the one that is left.
fn shared(limits: &[(Vec<usize>, i64)], bytes: &[i64]) -> Vec<i64> {
    let mut shares: Vec<Option<i64>> = vec![None; bytes.len()];
    // The limit that is reached first: the least rate per byte.
    let level = |(members, most): &(Vec<usize>, i64), shares: &[Option<i64>]| {
        let left = most - members.iter().filter_map(|&k| shares[k]).sum::<i64>();
        let bytes: i128 = members.iter().filter(|&&k| shares[k].is_none()).map(|&k| i128::from(bytes[k])).sum();
        (bytes > 0).then_some((i128::from(left.max(0)), bytes))
    };
    while shares.contains(&None) {
        let reached = limits
            .iter()
            .filter_map(|limit| Some((level(limit, &shares)?, limit)))
            .min_by(|((a, b), _), ((c, d), _)| (a * d).cmp(&(c * b)));
        let Some(((left, all), (members, _))) = reached else { break };
        for &k in members {
            shares[k] = shares[k].or(Some(((left * i128::from(bytes[k]) / all) as i64).max(1)));
        }
    }
    shares.into_iter().map(|s| s.unwrap_or(1)).collect()
}

/// What no array over these ports can exceed, whatever its shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Most {
    /// Per port.
    pub ports: Vec<PortMost>,
    /// Bytes in [`CYCLES`] over all AXI ports together, if they share one memory.
    pub all: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortMost {
    /// Latencies; one beat per cycle.
    pub timing: MemoryTiming,
    /// Bytes in [`CYCLES`]: one way, both ways. `None`: as many as fit the words.
    pub rates: Option<[i64; 2]>,
    /// A shorter burst costs the memory as much as so many bytes.
    pub shortest: i64,
}

impl PortMost {
    /// An ideal memory.
    pub const IDEAL: PortMost = PortMost { timing: MemoryTiming::IDEAL, rates: None, shortest: 1 };
    /// A memory on chip.
    pub const ON_CHIP: PortMost = PortMost { timing: MemoryTiming::ON_CHIP, rates: None, shortest: 1 };

    /// Cycles for these bytes of the two ways, at least.
    fn cycles(&self, reads: i64, writes: i64) -> i64 {
        let Some([way, both]) = self.rates else { return 0 };
        at_rate(reads.max(writes), way).max(at_rate(reads + writes, both))
    }
}

fn at_rate(bytes: i64, rate: i64) -> i64 {
    (i128::from(bytes) * i128::from(CYCLES) / i128::from(rate)) as i64
}

impl Most {
    /// Cycles in which the memories move these bytes of each port, at least. Ports behind the last one move nothing.
    pub fn cycles(&self, reads: &[i64], writes: &[i64]) -> i64 {
        let (mut most, mut all) = (0, 0);
        for ((port, &reads), &writes) in self.ports.iter().zip(reads).zip(writes).filter(|p| p.0 .0.rates.is_some()) {
            most = most.max(port.cycles(reads, writes));
            all += reads + writes;
        }
        most.max(self.all.map_or(0, |rate| at_rate(all, rate)))
    }

    /// Cycles for all bytes of each port in one way, if each has its share of the memory: 0 behind an ideal one. `words`:
    /// bytes of the port's words.
    pub fn apart(&self, bytes: &[i64], words: &[i64]) -> Vec<i64> {
        let rates = self.ports.iter().zip(bytes).map(|(port, bytes)| port.rates.filter(|_| *bytes > 0));
        let hosted: Vec<(usize, [i64; 2])> = rates.enumerate().filter_map(|(p, rates)| Some((p, rates?))).collect();
        let own = |(k, &(p, [way, both])): (usize, &(usize, [i64; 2]))| (vec![k], way.min(both).min(words[p] * CYCLES));
        let mut limits: Vec<(Vec<usize>, i64)> = hosted.iter().enumerate().map(own).collect();
        limits.extend(self.all.map(|most| ((0..hosted.len()).collect(), most)));
        let moved: Vec<i64> = hosted.iter().map(|(p, _)| bytes[*p]).collect();
        let mut cycles = vec![0; bytes.len()];
        hosted.iter().zip(shared(&limits, &moved)).for_each(|((p, _), rate)| cycles[*p] = at_rate(bytes[*p], rate));
        cycles
    }

    /// Some memory may carry less than the words of its ports, one each cycle. `words`: per port, bytes of the words that
    /// it reads and writes; 0 where it does not.
    pub fn may_bind(&self, words: &[[i64; 2]]) -> bool {
        let hosted = || self.ports.iter().zip(words).filter_map(|(port, words)| Some((port.rates?, words)));
        hosted()
            .any(|([way, both], [reads, writes])| reads.max(writes) * CYCLES > way || (reads + writes) * CYCLES > both)
            || self.all.is_some_and(|all| hosted().map(|(_, [r, w])| (r + w) * CYCLES).sum::<i64>() > all)
    }

    /// `ports`: per port the names of its arrays, or nothing if its memory is on chip.
    pub fn new<'n>(spec: &DesignSpec, ports: impl Iterator<Item = Option<Vec<&'n str>>>) -> Most {
        let memory = &spec.memory;
        let mut kinds: Vec<(usize, i64)> = vec![];
        let mut port = |names: Option<Vec<&str>>| {
            let Some(names) = names else { return PortMost::ON_CHIP };
            if memory.ideal || memory.kinds.is_empty() {
                return PortMost::IDEAL;
            }
            let asked = names.iter().find_map(|name| spec.wiring.bank.get(*name));
            let bank = asked.and_then(|text| bank::parse(text, memory).ok()).unwrap_or_else(|| bank::turn(memory, 0));
            let number = memory.kinds.iter().position(|k| k.name == bank.kind).unwrap_or(0);
            let (kind, banks) = (&memory.kinds[number], bank.count());
            kinds.push((number, asked.map_or(0, |_| banks)));
            let rates = Some([kind.way * banks, kind.bank * banks]);
            PortMost { timing: MemoryTiming::both(kind.latency), rates, shortest: kind.shortest }
        };
        let ports: Vec<PortMost> = ports.map(&mut port).collect();
        let all = kinds.first().filter(|first| kinds.iter().all(|k| k.0 == first.0)).and_then(|&(number, _)| {
            let kind = &memory.kinds[number];
            let one_bank = (kind.banks == 1).then_some(kind.bank);
            kind.all.into_iter().chain(one_bank).min()
        });
        Most { ports, all }
    }
}
