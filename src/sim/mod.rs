//! Simulation of the emitted design through its AXI ports.
//!
//! A [`Job`] is a list of runs on given memory contents. An engine returns an [`Outcome`] of each run. For each run
//! every engine writes the arrays' addresses and the function's number to `s_axi_control`, enables the interrupt,
//! starts the IP, waits, and reads the cycle counter (a read-only 64-bit register behind the addresses). At the end it
//! returns the contents of the memories.
//!
//! Invariant: all engines count the same cycles. [`templates::axi::memory`] defines the timing of the memories, and
//! `axi_memory.v` follows the same definition.

pub mod bench;
mod built;
pub mod builtin;
pub mod compare;
pub mod external;
pub mod hex;
pub mod verdict;

use crate::cli::Engine;
use crate::reporter::Reporter;
use crate::waves::Waves;
use array::contract::dram::{Memories, MemoryTiming};
use array::vsa::Vsa;
use search::Compiled;
use templates::axi::memory;
use templates::interface::Function;

pub use built::Built;
pub use templates::axi::memory::{Image, GUARD};

/// The memories of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// A constant latency in cycles, one beat per cycle.
    Ideal { latency: u32 },
    /// Each run's own: [`Run::memory`].
    Board,
    /// Longer latency, refresh gaps, row misses, random stalls of every channel.
    Ddr { seed: u64 },
}

impl Timing {
    pub const IDEAL: Timing = Timing::Ideal { latency: MemoryTiming::IDEAL.read_latency as u32 };

    /// The memory behind a port in a run.
    pub fn of(self, run: &Run, port: usize) -> memory::Timing {
        match self {
            Timing::Ideal { latency } => memory::Timing::Ideal { latency },
            Timing::Board => memory::Timing::Board(run.memory.of(port)),
            Timing::Ddr { seed } => memory::Timing::Ddr { seed },
        }
    }
}

/// How the runs are started. Only the built-in engine knows the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Each by itself.
    Registers,
    /// As commands of the IP's queue, which has as many as it has room for; the cycles of the last one alone are known.
    Queue,
    /// As commands, in batches that begin when the queue is full or has the last one: whether each is independent of those
    /// before it. The cycles are those of the runs that overlap with the last one of a batch.
    Batches(Vec<bool>),
}

/// One simulation: runs, one after the other.
pub struct Job<'a> {
    pub built: &'a Built,
    pub runs: Vec<Run>,
    pub way: Way,
    pub timing: Timing,
    /// The number of cycles to expect, for progress.
    pub cycles: u64,
    /// Cycles after which a run counts as hung.
    pub watchdog: u64,
    /// Waveform to write.
    pub vcd: Option<Waves>,
    /// Receives the progress.
    pub reporter: &'a dyn Reporter,
}

/// A run of a function, with its own arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Index into [`templates::Interface::functions`].
    pub function: usize,
    /// One image for each array of the core, then one for each scalar with just its value.
    pub images: Vec<Image>,
    /// Values of the function's sizes.
    pub sizes: Vec<i64>,
    /// The board's memory behind each AXI port of the IP.
    pub memory: Memories,
    /// A reset cuts the run off, and it begins anew. Only the built-in engine can do this.
    pub cut: Option<Cut>,
}

/// A reset in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Cycles from the start of the run.
    pub after: u64,
    /// The soft reset, which stops the IP alone; otherwise the reset of the IP and its memories.
    pub soft: bool,
}

impl Job<'_> {
    /// The images behind AXI port `port`, in the order in which its memory holds them.
    pub fn behind(&self, port: usize) -> Vec<&Image> {
        self.runs.iter().flat_map(|run| self.of_port(run, port).map(|k| &run.images[k])).collect()
    }
    /// The arrays of a run that a port moves.
    fn of_port(&self, run: &Run, port: usize) -> impl Iterator<Item = usize> {
        let function = &self.built.interface.functions[run.function];
        let mut all: Vec<usize> =
            function.arguments.iter().filter(|a| a.array().is_some_and(|x| x.port == port)).map(|a| a.own).collect();
        all.sort_unstable();
        all.into_iter()
    }
    /// Bytes per beat of the port.
    pub fn beat(&self, port: usize) -> usize {
        self.built.interface.ports[port].data_bits as usize / 8
    }
    /// The writes to the registers before a run, in order: address and value.
    ///
    /// # Errors
    /// An argument without contents.
    pub fn settings(&self, run: &Run) -> Result<Vec<(u32, u32)>, String> {
        let mut all = self.arguments(run)?;
        all.extend(self.built.interface.layout.function().map(|at| (at, run.function as u32)));
        Ok(all)
    }
    /// The writes for the arguments alone.
    fn arguments(&self, run: &Run) -> Result<Vec<(u32, u32)>, String> {
        let mut all = vec![];
        let function = &self.built.interface.functions[run.function];
        for argument in &function.arguments {
            let image = run
                .images
                .get(argument.data(function.arrays))
                .ok_or_else(|| format!("no contents for the argument {}", argument.name))?;
            let value = match argument.array() {
                Some(_) => image.base(),
                None => image.bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b)),
            };
            all.push((argument.offset, value as u32));
            if argument.register_bits() > 32 {
                all.push((argument.offset + 4, (value >> 32) as u32));
            }
        }
        if function.sizes.len() != run.sizes.len() {
            return Err(format!("{} sizes for {}, which has {}", run.sizes.len(), function.name, function.sizes.len()));
        }
        for number in &function.program {
            let value = number.register.formula.eval(&run.sizes);
            all.push((number.offset, value as u32));
            if number.register.bits > 32 {
                all.push((number.offset + 4, (value >> 32) as u32));
            }
        }
        for (argument, length) in function.lengths() {
            let bytes = argument.data(function.arrays);
            let bytes = run.images[bytes].size as u64;
            all.push((length.offset, bytes as u32));
            if length.bits > 32 {
                all.push((length.offset + 4, (bytes >> 32) as u32));
            }
        }
        Ok(all)
    }
    /// The contents of the ports' memories, taken apart by run and array.
    pub fn by_array(&self, memories: Vec<Vec<u8>>) -> Vec<Vec<Vec<u8>>> {
        let mut all: Vec<Vec<Vec<u8>>> =
            self.runs.iter().map(|run| run.images.iter().map(|i| i.bytes.clone()).collect()).collect();
        for (run, own) in self.runs.iter().zip(&mut all) {
            self.built.interface.functions[run.function].kept.iter().for_each(|kept| own[kept.own].clear());
        }
        for (port, memory) in memories.iter().enumerate() {
            let mut rest = &memory[..];
            for (run, own) in self.runs.iter().zip(&mut all) {
                for k in self.of_port(run, port) {
                    let (image, next) = rest.split_at(run.images[k].bytes.len());
                    (own[k], rest) = (image.to_vec(), next);
                }
            }
        }
        all
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// From the start pulse to the done pulse.
    pub cycles: u64,
    /// Per array, the memory afterwards, as [`Image::bytes`]; nothing for a kept array that was not seen.
    pub memories: Vec<Vec<u8>>,
    /// Arrays that the function keeps on chip, by number, where they were seen behind the run: their bytes.
    pub kept: Vec<(usize, Vec<u8>)>,
    /// Violations of the AXI protocol, accesses beside the arrays, a status register that is not 0. A correct design
    /// has none.
    pub faults: Vec<String>,
    /// The interrupt came before the watchdog.
    pub finished: bool,
    /// Clock cycles of the simulation so far, and the wall time they took, for speed figures (0 where not known).
    pub simulated: u64,
    pub seconds: f64,
}

/// The fault that the IP's own status register shows.
fn status_fault(status: u64, address: u64) -> Option<String> {
    (status != 0).then(|| format!("the status register is 0x{status:x}, the address with it 0x{address:x}"))
}

/// Runs a job on an engine; the result of each run.
///
/// # Errors
/// The engine is missing or cannot run the design.
pub fn run(job: &Job, engine: Engine) -> Result<Vec<Outcome>, String> {
    match engine {
        Engine::Builtin => builtin::run(job),
        Engine::Icarus => external::run(job, external::Simulator::Icarus),
        Engine::Verilator => external::run(job, external::Simulator::Verilator),
    }
}

/// The board's memory behind each AXI port of an IP in a run of one of its functions. `memories` are those behind the
/// ports of the function's own array.
pub fn behind_ip(built: &Built, function: &Function, vsa: &Vsa, memories: &Memories) -> Memories {
    let behind = |port: usize| {
        let mut arrays = function.arguments.iter();
        let own = arrays.find(|a| a.array().is_some_and(|x| x.port == port)).map(|a| vsa.port_of(a.own as u32));
        own.map_or(MemoryTiming::IDEAL, |own| memories.of(own))
    };
    Memories::of_ports((0..built.interface.ports.len()).map(behind).collect())
}

/// Puts the arrays' bytes into memory, guard bytes around them; scalars behind the arrays stay as they are. Arrays
/// start at multiples of 4096 plus `shift` elements, or bus words where they have to begin one; addresses exceed 32 bits,
/// or 31 where they have no more than 32.
/// `seed` chooses the guard bytes; those of one job differ in `number`.
pub fn place(compiled: &Compiled, arrays: &[Vec<u8>], shift: usize, seed: u64, number: usize) -> Vec<Image> {
    let vsa = &compiled.vsa;
    let mut random = crate::data::Random(seed ^ 0x6775_6172_6421);
    // Addresses of 32 bits: each run has a part of the upper half, with its arrays one behind the other.
    let all: u64 = arrays.iter().map(|a| (a.len() as u64).next_multiple_of(0x1000) + 0x11000).sum();
    let mut free = 0x8000_0000 + number as u64 * all.next_power_of_two().max(1 << 24);
    let one = |(k, contents): (usize, &Vec<u8>)| {
        let Some(array) = vsa.arrays.get(k) else {
            return Image { start: 0, bytes: contents.clone(), offset: 0, size: contents.len() };
        };
        let element = array.ty.bytes() as usize;
        let beat = element * array.word as usize;
        let region = (number << 8 | k) as u64;
        let far = ((region + 1) << 33) + region * 0x11000;
        let start = if vsa.address_bits > 32 { far } else { free };
        free += (contents.len() as u64).next_multiple_of(0x1000) + 0x11000;
        let unit = compiled.alignment(k) as usize;
        Image::new(start, GUARD + shift * unit, contents, beat, || random.draw() as u8)
    };
    arrays.iter().enumerate().map(one).collect()
}
