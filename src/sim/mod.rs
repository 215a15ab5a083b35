//! Simulation of the emitted design through its AXI ports.
//!
//! A [`Job`] says what to run on which memory; an engine returns an [`Outcome`]. Every engine does the same: write the
//! arrays' addresses to `s_axi_control`, enable the interrupt, start, wait, read the cycle counter (a read-only 64-bit
//! register behind the addresses), and hand back the memories.
//!
//! The memories' timing is defined in [`memory`] and, in Verilog, in `axi_memory.v`; both follow one definition, so all
//! engines count the same cycles.

pub mod bench;
pub mod builtin;
pub mod compare;
pub mod external;
pub mod memory;

use crate::cli::Engine;
use arch::contract::walk::MemoryTiming;
use arch::ir::vsa::Vsa;
use rtl::Verified;
use std::path::PathBuf;
use templates::Interface;

/// Bytes before and behind each array that nobody may write.
pub const GUARD: usize = 4096;

/// How the memory behind a port behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Cycles of latency, one beat per cycle.
    Ideal { latency: u32 },
    /// 40 cycles, refresh gaps, random stalls by seed on every channel.
    Ddr { seed: u64 },
}

impl Timing {
    /// What the mapper predicts for.
    pub const IDEAL: Timing = Timing::Ideal { latency: MemoryTiming::IDEAL.read_latency as u32 };

    /// Cycles from a burst's address to its first beat, and from its last beat to its response.
    pub fn latency(self) -> u64 {
        match self {
            Timing::Ideal { latency } => latency.into(),
            Timing::Ddr { .. } => 40,
        }
    }
    /// First state of port `k`'s generator; not 0.
    pub fn state(self, port: usize) -> u32 {
        let Timing::Ddr { seed } = self else { return 1 };
        let mixed = (seed as u32).wrapping_mul(2654435761).wrapping_add((port as u32 + 1).wrapping_mul(0x9e37_79b9));
        if mixed == 0 { 1 } else { mixed }
    }
}

/// One array in memory, with guard bytes around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Address of `bytes[0]`; a multiple of 4096.
    pub start: u64,
    pub bytes: Vec<u8>,
    /// Where the array begins in `bytes`, and its size.
    pub offset: usize,
    pub size: usize,
}

impl Image {
    /// Address of the array's first byte.
    pub fn base(&self) -> u64 {
        self.start + self.offset as u64
    }
    pub fn array(&self) -> &[u8] {
        &self.bytes[self.offset..self.offset + self.size]
    }
}

/// One simulation.
pub struct Job<'a> {
    pub design: &'a Verified,
    pub vsa: &'a Vsa,
    /// One per array of the VSA, then one per scalar: just its value.
    pub images: Vec<Image>,
    pub timing: Timing,
    /// Cycles it is expected to take, for showing how far it is.
    pub cycles: u64,
    /// Cycles after which a run counts as hung.
    pub watchdog: u64,
    /// Waveform to write.
    pub vcd: Option<PathBuf>,
}

impl Job<'_> {
    /// The IP's ports and registers.
    pub fn interface(&self) -> Interface {
        Interface::new(self.vsa)
    }
    /// The images behind AXI port `port`, in the order in which its memory holds them.
    pub fn behind(&self, port: usize) -> Vec<&Image> {
        self.vsa.arrays_of(port).map(|k| &self.images[k]).collect()
    }
    /// Bytes per beat of the port.
    pub fn beat(&self, port: usize) -> usize {
        self.vsa.bus_bytes(port) as usize
    }
    /// What the host writes to the registers before a run, in order.
    ///
    /// # Errors
    /// An argument without contents.
    pub fn settings(&self) -> Result<Vec<(u32, u32)>, String> {
        let mut all = vec![];
        for argument in self.interface().arguments {
            let image = self.images.get(argument.data(self.vsa.arrays.len())).ok_or_else(|| format!("no contents for the argument {}", argument.name))?;
            let value = match argument.array() {
                Some(_) => image.base(),
                None => image.bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b)),
            };
            all.push((argument.offset, value as u32));
            if argument.register_bits() > 32 {
                all.push((argument.offset + 4, (value >> 32) as u32));
            }
        }
        Ok(all)
    }
    /// The contents of the ports' memories, taken apart by array.
    pub fn by_array(&self, mut memories: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let take = |(k, image): (usize, &Image)| {
            if k >= self.vsa.arrays.len() {
                return image.bytes.clone();
            }
            let memory = &mut memories[self.vsa.port_of(k as u32)];
            let rest = memory.split_off(image.bytes.len());
            std::mem::replace(memory, rest)
        };
        self.images.iter().enumerate().map(take).collect()
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// From the start pulse to the done pulse.
    pub cycles: u64,
    /// Per array, the memory afterwards, as [`Image::bytes`].
    pub memories: Vec<Vec<u8>>,
    /// Breaches of the AXI protocol, accesses beside the arrays, a status register that is not 0; empty for a correct design.
    pub faults: Vec<String>,
    /// The interrupt came before the watchdog.
    pub finished: bool,
    /// Clock cycles simulated, and the wall time they took, for speed figures (0 where not known).
    pub simulated: u64,
    pub seconds: f64,
}

/// What the IP's own status register says, if it says anything.
fn status_fault(status: u64, address: u64) -> Option<String> {
    (status != 0).then(|| format!("the status register is 0x{status:x}, the address with it 0x{address:x}"))
}

/// Runs a job on an engine.
///
/// # Errors
/// The engine is missing or cannot run the design.
pub fn run(job: &Job, engine: Engine) -> Result<Outcome, String> {
    match engine {
        Engine::Builtin => builtin::run(job),
        Engine::Icarus => external::run(job, external::Simulator::Icarus),
        Engine::Verilator => external::run(job, external::Simulator::Verilator),
    }
}

/// Puts the arrays' bytes into memory, guard bytes around them; scalars behind the arrays stay as they are. Arrays start
/// at multiples of 4096 plus `shift` elements; addresses exceed 32 bits. `seed` chooses the guard bytes.
pub fn place(vsa: &Vsa, arrays: &[Vec<u8>], shift: usize, seed: u64) -> Vec<Image> {
    let mut random = crate::data::Random(seed ^ 0x6775_6172_6421);
    let one = |(k, contents): (usize, &Vec<u8>)| {
        let Some(array) = vsa.arrays.get(k) else {
            return Image { start: 0, bytes: contents.clone(), offset: 0, size: contents.len() };
        };
        let element = array.ty.bytes() as usize;
        let beat = element * array.word as usize;
        let offset = GUARD + shift * element;
        let length = (offset + contents.len()).div_ceil(beat.max(64)) * beat.max(64) + GUARD;
        let mut bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        bytes[offset..offset + contents.len()].copy_from_slice(contents);
        Image { start: ((k as u64 + 1) << 33) + (k as u64) * 0x11000, bytes, offset, size: contents.len() }
    };
    arrays.iter().enumerate().map(one).collect()
}
