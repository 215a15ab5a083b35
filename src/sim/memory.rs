//! The memory behind one AXI port, cycle by cycle: one or several arrays, each with guard bytes around it.
//!
//! Local time `t` runs from the first cycle with a request. Per cycle: the design's outputs are sampled, then the cycle
//! ends and the registered outputs change. A read burst accepted at `t` may present its first beat at `t + latency`, in
//! order, a beat per cycle; a write burst's response comes `latency` cycles after its last beat. `ddr` memories are dead
//! for 100 of every 4000 cycles and stall each channel one cycle in eight, by a xorshift generator.
//!
//! `axi_memory.v` is the same in Verilog. Breaches of the protocol are collected, not fatal.

use super::{Image, Timing};
use std::collections::VecDeque;

/// What the design drives in one cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub ar: Option<Burst>,
    pub rready: bool,
    pub aw: Option<Burst>,
    pub w: Option<Beat>,
    pub bready: bool,
}

/// Payload of the address channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    pub id: u64,
    pub addr: u64,
    pub len: u64,
    pub size: u64,
    pub burst: u64,
}

/// One beat: 64-bit limbs, least first, enough for the widest bus of 128 bytes. Beats come every cycle, so they are not
/// allocated.
pub type Data = [u64; 16];

/// Payload of the write data channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    pub data: Data,
    pub strobe: u128,
    pub last: bool,
}

/// Read beat on the bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadBeat {
    pub id: u64,
    pub data: Data,
    pub last: bool,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    burst: Burst,
    due: u64,
    beat: u64,
}

/// Size and place of an array behind the port, and of the guard bytes around it.
#[derive(Debug)]
struct Span {
    start: u64,
    stop: u64,
    /// Where `start` is in [`Memory::bytes`].
    at: usize,
    first: u64,
    beyond: u64,
}

#[derive(Debug)]
pub struct Memory {
    /// The images, one behind the other.
    pub bytes: Vec<u8>,
    spans: Vec<Span>,
    width: u64,
    timing: Timing,
    t: u64,
    started: bool,
    random: u32,
    reads: VecDeque<Open>,
    /// Write bursts with data missing.
    writes: VecDeque<Open>,
    /// Write bursts with response missing.
    written: VecDeque<(u64, u64)>,
    /// Registered outputs.
    pub r: Option<ReadBeat>,
    pub b: Option<u64>,
    /// Requests of the last cycle that were not taken.
    waiting: Request,
    pub faults: Vec<String>,
}

/// Channels in the order of their fields of the generator's state.
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
    pub fn new(images: &[&Image], width: u64, timing: Timing, port: usize) -> Memory {
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
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            written: VecDeque::new(),
            r: None,
            b: None,
            waiting: Request::default(),
            faults: vec![],
        }
    }

    /// The manager is reset and takes back what it offers.
    pub fn forget_offers(&mut self) {
        self.waiting = Request::default();
    }

    /// Puts an image back as it was given.
    pub fn restore(&mut self, image: &Image) {
        if let Some(at) = self.index(image.start) {
            self.bytes[at..at + image.bytes.len()].copy_from_slice(&image.bytes);
        }
    }

    fn stall(&self, channel: Channel) -> bool {
        matches!(self.timing, Timing::Ddr { .. })
            && (self.t % 4000 >= 3900 || self.random >> (3 * channel as u32) & 7 == 0)
    }
    pub fn arready(&self) -> bool {
        !self.stall(Channel::Ar)
    }
    pub fn awready(&self) -> bool {
        !self.stall(Channel::Aw)
    }
    /// Data is taken only when its address is, or has been.
    pub fn wready(&self, awvalid: bool) -> bool {
        !self.stall(Channel::W) && (!self.writes.is_empty() || (awvalid && self.awready()))
    }

    fn fault(&mut self, what: &str) {
        if self.faults.len() < 100 {
            self.faults.push(format!("memory cycle {}: {what}", self.t));
        }
    }

    /// One cycle ends: `request` is what the design drove while [`Memory::arready`] and the like were what it saw.
    pub fn clock(&mut self, request: &Request) {
        self.check_waiting(request);
        let (arready, awready) = (self.arready(), self.awready());
        let wready = self.wready(request.aw.is_some());
        let (stall_r, stall_b) = (self.stall(Channel::R), self.stall(Channel::B));
        if let Some(burst) = request.ar.filter(|_| arready) {
            self.check_burst(&burst);
            self.reads.push_back(Open { burst, due: self.t + self.timing.latency(), beat: 0 });
        }
        if let Some(burst) = request.aw.filter(|_| awready) {
            self.check_burst(&burst);
            self.writes.push_back(Open { burst, due: 0, beat: 0 });
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

    fn check_burst(&mut self, burst: &Burst) {
        let low = burst.addr / self.width * self.width;
        let high = low + (burst.len + 1) * self.width;
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

    /// Where a beat lies in `bytes`, if it does.
    fn index(&self, address: u64) -> Option<usize> {
        let span = self.spans.iter().find(|s| (s.start..s.stop).contains(&address))?;
        Some(span.at + (address - span.start) as usize)
    }

    /// The byte belongs to an array.
    fn is_inside(&self, address: u64) -> bool {
        self.spans.iter().any(|s| (s.first..s.beyond).contains(&address))
    }

    fn store(&mut self, beat: &Beat) {
        let Some(open) = self.writes.front().copied() else { return };
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
            self.written.push_back((open.burst.id, self.t + self.timing.latency()));
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
        Some(ReadBeat { id: open.burst.id, data, last })
    }
}
