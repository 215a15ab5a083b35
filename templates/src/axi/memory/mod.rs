//! Simulation model of the memory behind an AXI port: one or several arrays with guard bytes around each. No hardware.
//!
//! Each cycle, the model samples the outputs of the design, then its registered outputs change. Local time `t` runs
//! from the first cycle with a request. A read burst accepted in `t` can present its first beat in `t + latency`; beats
//! come in order, one per cycle. The response to a write burst comes `latency` cycles after its last beat. A
//! [`Timing::Board`] memory serves bursts at a pace ([`array::contract::dram`]). A [`Timing::Ddr`] memory also refreshes in 100 of every 4000 cycles, stalls each channel in one of 8 cycles (xorshift
//! generator) and opens rows ([`Rows`]).
//!
//! `axi_memory.v` of the command is the same model in Verilog. Violations of the protocol are collected as faults: a
//! burst across a 4 KiB boundary, of wrong size or type; a beat or strobe outside of the arrays; a wrong WLAST; a
//! request that changes or vanishes while it waits. A reset of the design is one of the memory, too.

mod port;
mod rows;

pub use port::AxiMemory;
use rows::Rows;

use array::contract::dram::{MemoryTiming, Pace};
use std::collections::VecDeque;
use std::ops::Range;

/// How the memory behind a port behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// A constant latency in cycles, one beat per cycle.
    Ideal { latency: u32 },
    /// A latency, and a pace for reads and for writes.
    Board(MemoryTiming),
    /// 40 cycles of latency, refresh gaps, row misses, random stalls of every channel.
    Ddr { seed: u64 },
}

impl Timing {
    /// The ideal memory.
    pub const IDEAL: Timing = Timing::Ideal { latency: MemoryTiming::IDEAL.read_latency as u32 };

    /// Cycles from a burst's address to its first beat, and from its last beat to its response.
    pub fn latency(self) -> u64 {
        match self {
            Timing::Ideal { latency } => latency.into(),
            Timing::Board(timing) => timing.read_latency as u64,
            Timing::Ddr { .. } => 40,
        }
    }
    /// How fast reads are served.
    fn read_pace(self) -> Pace {
        match self {
            Timing::Board(timing) => timing.read,
            _ => Pace::FULL,
        }
    }
    /// Initial state of the random generator of a port; not 0.
    pub fn state(self, port: usize) -> u32 {
        let Timing::Ddr { seed } = self else { return 1 };
        let mixed = (seed as u32).wrapping_mul(2654435761).wrapping_add((port as u32 + 1).wrapping_mul(0x9e37_79b9));
        if mixed == 0 {
            1
        } else {
            mixed
        }
    }
}

/// One array in memory, with guard bytes around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Address of `bytes[0]`; a multiple of 4096.
    pub start: u64,
    pub bytes: Vec<u8>,
    /// Start of the array in `bytes`, and its size.
    pub offset: usize,
    pub size: usize,
}

/// Guard bytes before and after each array, which the design must not write.
pub const GUARD: usize = 4096;

impl Image {
    /// An array that starts `offset` bytes after `start`, at least [`GUARD`]. `guard` fills the bytes around it. The
    /// image has whole words of `beat` bytes.
    pub fn new(start: u64, offset: usize, contents: &[u8], beat: usize, mut guard: impl FnMut() -> u8) -> Image {
        let word = beat.max(64);
        let length = (offset + contents.len()).div_ceil(word) * word + GUARD;
        let mut bytes: Vec<u8> = (0..length).map(|_| guard()).collect();
        bytes[offset..offset + contents.len()].copy_from_slice(contents);
        Image { start, bytes, offset, size: contents.len() }
    }
    /// Address of the first byte of the array.
    pub fn base(&self) -> u64 {
        self.start + self.offset as u64
    }
    pub fn array(&self) -> &[u8] {
        &self.bytes[self.offset..self.offset + self.size]
    }
}

/// Outputs of the design in one cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Request {
    pub ar: Option<Burst>,
    pub rready: bool,
    pub aw: Option<Burst>,
    pub w: Option<Beat>,
    pub bready: bool,
}

/// Payload of the address channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Burst {
    pub id: u64,
    pub addr: u64,
    pub len: u64,
    pub size: u64,
    pub burst: u64,
}

/// One beat: 64-bit limbs, lowest first, enough for a bus of 128 bytes. A fixed array, so no beat allocates memory.
type Data = [u64; 16];

/// Payload of the write data channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Beat {
    pub data: Data,
    pub strobe: u128,
    pub last: bool,
}

/// Payload of the read data channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ReadBeat {
    pub id: u64,
    pub data: Data,
    pub resp: u64,
    pub last: bool,
}

/// A burst under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    burst: Burst,
    /// Cycle from which the first beat may be read; for a write, cycle in which its row is open, then that of its first
    /// beat.
    due: u64,
    beat: u64,
    /// RRESP or BRESP.
    resp: u64,
}

/// Payload of the write response channel.
#[derive(Clone, Copy, Debug)]
struct Response {
    id: u64,
    resp: u64,
}

/// Addresses of an image (`start..stop`) and of the array in it (`first..beyond`).
#[derive(Debug)]
struct Span {
    start: u64,
    stop: u64,
    /// Index of `start` in [`Memory::bytes`].
    at: usize,
    first: u64,
    beyond: u64,
}

#[derive(Debug)]
struct Memory {
    /// The images, one after the other.
    bytes: Vec<u8>,
    spans: Vec<Span>,
    width: u64,
    timing: Timing,
    t: u64,
    started: bool,
    random: u32,
    rows: Rows,
    /// Per way, reads and writes: the first cycle in which the memory can serve the next burst.
    free: [u64; 2],
    reads: VecDeque<Open>,
    /// Write bursts whose data have not all come.
    writes: VecDeque<Open>,
    /// Responses that are due, and from which cycle on.
    written: VecDeque<(Response, u64)>,
    /// Registered outputs.
    r: Option<ReadBeat>,
    b: Option<Response>,
    /// Requests of the last cycle that were not accepted.
    waiting: Request,
    /// Bursts that touch these addresses get this response code.
    broken: Option<(Range<u64>, u64)>,
    faults: Vec<String>,
}

/// Channels, in the order of their bits of the random state.
#[derive(Clone, Copy)]
enum Channel {
    Ar,
    R,
    Aw,
    W,
    B,
}

impl Memory {
    /// The memory of port `port`, `width` bytes wide; images are whole words.
    fn new(images: &[&Image], width: u64, timing: Timing, port: usize) -> Memory {
        let (mut bytes, mut spans) = (vec![], vec![]);
        for image in images {
            let (stop, beyond) = (image.start + image.bytes.len() as u64, image.base() + image.size as u64);
            spans.push(Span { start: image.start, stop, at: bytes.len(), first: image.base(), beyond });
            bytes.extend(&image.bytes);
        }
        Memory {
            bytes,
            spans,
            width,
            timing,
            t: 0,
            started: false,
            random: timing.state(port),
            rows: Rows::default(),
            free: [0; 2],
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            written: VecDeque::new(),
            r: None,
            b: None,
            waiting: Request::default(),
            broken: None,
            faults: vec![],
        }
    }

    /// Writes an image again.
    fn restore(&mut self, image: &Image) {
        if let Some(at) = self.index(image.start) {
            self.bytes[at..at + image.bytes.len()].copy_from_slice(&image.bytes);
        }
    }

    fn stall(&self, channel: Channel) -> bool {
        matches!(self.timing, Timing::Ddr { .. })
            && (self.t % 4000 >= 3900 || self.random >> (3 * channel as u32) & 7 == 0)
    }
    fn arready(&self) -> bool {
        !self.stall(Channel::Ar) && !self.rows.crowded(self.t)
    }
    fn awready(&self) -> bool {
        !self.stall(Channel::Aw) && !self.rows.crowded(self.t)
    }
    /// Cycle in which the row of a burst that is accepted now is open.
    fn opened(&mut self, burst: &Burst) -> u64 {
        match self.timing {
            Timing::Ideal { .. } | Timing::Board(_) => self.t,
            Timing::Ddr { .. } => self.rows.open(burst.addr, self.t),
        }
    }
    /// Data is accepted together with its address or later.
    fn wready(&self, awvalid: bool) -> bool {
        !self.stall(Channel::W) && (!self.writes.is_empty() || (awvalid && self.awready()))
    }

    /// No burst, beat or response is under way.
    fn is_idle(&self) -> bool {
        self.reads.is_empty()
            && self.writes.is_empty()
            && self.written.is_empty()
            && self.r.is_none()
            && self.b.is_none()
    }

    /// Reset of the memory controller: drops everything under way. Contents and local time stay.
    fn reset(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.written.clear();
        self.free = [self.t; 2];
        (self.r, self.b, self.waiting) = (None, None, Request::default());
    }

    fn fault(&mut self, what: &str) {
        if self.faults.len() < 100 {
            self.faults.push(format!("memory cycle {}: {what}", self.t));
        }
    }

    /// Ends a cycle in which the design drove `request` and saw [`Memory::arready`] and so on.
    fn clock(&mut self, request: &Request) {
        self.check_waiting(request);
        let (arready, awready) = (self.arready(), self.awready());
        let wready = self.wready(request.aw.is_some());
        let (stall_r, stall_b) = (self.stall(Channel::R), self.stall(Channel::B));
        if let Some(burst) = request.ar.filter(|_| arready) {
            self.check_burst(&burst);
            let begins = (self.opened(&burst) + self.timing.latency()).max(self.free[0]);
            let beats = burst.len + 1;
            self.free[0] = begins + self.timing.read_pace().burst(beats as i64) as u64;
            let due = self.free[0] - beats;
            self.reads.push_back(Open { burst, due, beat: 0, resp: self.resp(&burst) });
        }
        if let Some(burst) = request.aw.filter(|_| awready) {
            self.check_burst(&burst);
            let due = self.opened(&burst);
            self.writes.push_back(Open { burst, due, beat: 0, resp: self.resp(&burst) });
        }
        if let Some(beat) = request.w.as_ref().filter(|_| wready) {
            self.store(beat);
        }
        if self.r.is_none() || request.rready {
            self.r = self.next_read(stall_r);
        }
        if self.b.is_none() || request.bready {
            let due = self.written.front().is_some_and(|w| w.1 <= self.t + 1) && !stall_b;
            self.b = if due { self.written.pop_front().map(|w| w.0) } else { None };
        }
        self.waiting = Request {
            ar: request.ar.filter(|_| !arready),
            aw: request.aw.filter(|_| !awready),
            w: request.w.filter(|_| !wready),
            ..Request::default()
        };
        self.started |= request.ar.is_some() || request.aw.is_some();
        if self.started {
            self.t += 1;
            self.random ^= self.random << 13;
            self.random ^= self.random >> 17;
            self.random ^= self.random << 5;
        }
    }

    fn check_waiting(&mut self, request: &Request) {
        if self.waiting.ar.is_some() && self.waiting.ar != request.ar {
            self.fault("AR changed while waiting");
        }
        if self.waiting.aw.is_some() && self.waiting.aw != request.aw {
            self.fault("AW changed while waiting");
        }
        if self.waiting.w.is_some() && self.waiting.w != request.w {
            self.fault("W changed while waiting");
        }
    }

    /// The words a burst touches.
    fn touched(&self, burst: &Burst) -> Range<u64> {
        let low = burst.addr / self.width * self.width;
        low..low + (burst.len + 1) * self.width
    }

    /// Response code of a burst.
    fn resp(&self, burst: &Burst) -> u64 {
        let touched = self.touched(burst);
        self.broken
            .as_ref()
            .filter(|(at, _)| touched.start < at.end && at.start < touched.end)
            .map_or(0, |(_, code)| *code)
    }

    fn check_burst(&mut self, burst: &Burst) {
        let Range { start: low, end: high } = self.touched(burst);
        if 1 << burst.size != self.width {
            self.fault("beat is not full width");
        }
        if burst.burst != 1 {
            self.fault("burst is not INCR");
        }
        if low / 4096 != (high - 1) / 4096 {
            self.fault("burst crosses 4 KiB");
        }
        if !self.spans.iter().any(|s| low + self.width > s.first && high - self.width < s.beyond) {
            self.fault("beat beside the array");
        }
    }

    /// Index of an address in `bytes`.
    fn index(&self, address: u64) -> Option<usize> {
        let span = self.spans.iter().find(|s| (s.start..s.stop).contains(&address))?;
        Some(span.at + (address - span.start) as usize)
    }

    /// The byte belongs to an array.
    fn is_inside(&self, address: u64) -> bool {
        self.spans.iter().any(|s| (s.first..s.beyond).contains(&address))
    }

    fn store(&mut self, beat: &Beat) {
        let t = self.t;
        let Some(open) = self.writes.front_mut() else { return };
        if open.beat == 0 {
            open.due = open.due.max(t);
        }
        let open = *open;
        let last = open.beat == open.burst.len;
        if beat.last != last {
            self.fault("WLAST is wrong");
        }
        let address = open.burst.addr / self.width * self.width + open.beat * self.width;
        let place = self.index(address);
        for k in (0..self.width).filter(|k| beat.strobe >> k & 1 == 1) {
            if !self.is_inside(address + k) {
                self.fault("write beside the array");
            }
            if let Some(at) = place {
                self.bytes[at + k as usize] = (beat.data[k as usize / 8] >> (8 * (k % 8))) as u8;
            }
        }
        if last {
            self.writes.pop_front();
            let last = match self.timing {
                Timing::Board(timing) => {
                    let occupied = timing.write.burst(open.burst.len as i64 + 1) as u64;
                    (open.due.max(self.free[1]) + occupied - 1).max(self.t)
                }
                _ => open.due.max(self.t),
            };
            self.free[1] = last + 1;
            self.written.push_back((Response { id: open.burst.id, resp: open.resp }, last + self.timing.latency()));
        } else if let Some(open) = self.writes.front_mut() {
            open.beat += 1;
        }
    }

    fn next_read(&mut self, stall: bool) -> Option<ReadBeat> {
        let open = *self.reads.front().filter(|open| open.due <= self.t + 1 && !stall)?;
        let last = open.beat == open.burst.len;
        let address = open.burst.addr / self.width * self.width + open.beat * self.width;
        let limb = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |v, &b| v << 8 | b as u64);
        let mut data = Data::default();
        if let Some(at) = self.index(address) {
            let bytes = self.bytes[at..at + self.width as usize].chunks(8);
            data.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = limb(bytes));
        }
        if last {
            self.reads.pop_front();
        } else if let Some(open) = self.reads.front_mut() {
            open.beat += 1;
        }
        Some(ReadBeat { id: open.burst.id, data, resp: open.resp, last })
    }
}
