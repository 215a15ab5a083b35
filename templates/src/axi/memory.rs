//! `AxiMemory`: a model of the memory behind one `m_axi` port, for a simulation of the netlist.
//!
//! Per cycle: [`AxiMemory::drive`] (sets the memory's outputs from its registers), settle, [`AxiMemory::observe`] (looks at
//! the design's outputs, keeps the books, checks the protocol), clock. No allocation per cycle once queues have grown.
//!
//! Timing, in local time `t` (0 in the first cycle in which arvalid or awvalid is 1; until then nothing advances):
//! - `latency` 16 ([`MemoryMode::Ideal`]) or 40 (`Ddr`); `dead(t)`: Ddr and `t mod 4000 >= 3900`; a channel stalls if dead
//!   or, with Ddr, if its 3-bit field of the xorshift state `x` is 0 (ar 2:0, r 5:3, aw 8:6, w 11:9, b 14:12);
//! - arready and awready unless stalled; wready unless stalled, while a burst accepted in an earlier cycle has beats
//!   missing; a write beat changes the memory at the end of its cycle;
//! - rvalid and bvalid are registers: at the end of `t`, if empty or taken, the next beat is presented in `t + 1` if it is
//!   due (`latency` after its address, or after its last data) and the channel is not stalled in `t`. Everything in order.
//!
//! Faults: burst over a 4 KiB boundary, wrong size or type, a beat outside the array, a strobe outside the array, wrong
//! wlast, valid dropped or payload changed while waiting, valid in the design's reset. Bytes outside the array read as 0xa5.

use rtl::sim::{PortId, Sim};
use std::collections::VecDeque;

/// How fast the memory answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryMode {
    /// Always ready, fixed latency.
    Ideal,
    /// Longer latency, refresh gaps, random stalls of every channel.
    Ddr { seed: u32 },
}

const OUTSIDE: u8 = 0xa5;
const KEPT_FAULTS: usize = 16;

/// The memory behind one port; holds one array.
#[derive(Debug)]
pub struct AxiMemory {
    name: String,
    bus: u64,
    base: u64,
    data: Vec<u8>,
    latency: u64,
    ddr: bool,
    random: u32,
    time: u64,
    started: bool,
    in_reset: bool,
    /// Bursts that touch these addresses are answered with this code.
    broken: Option<(std::ops::Range<u64>, u64)>,
    read: Option<ReadSide>,
    write: Option<WriteSide>,
    faults: Vec<String>,
    fault_count: u64,
    limbs: Vec<u64>,
}

#[derive(Debug)]
struct AddressPorts {
    valid: PortId,
    ready: PortId,
    addr: PortId,
    len: PortId,
    size: PortId,
    burst: PortId,
    /// Waiting since the cycle before with this payload.
    stuck: Option<(u64, u64)>,
}

#[derive(Debug)]
struct Burst {
    addr: u64,
    left: u64,
    due: u64,
    /// How it is answered.
    code: u64,
}

#[derive(Debug)]
struct ReadSide {
    ar: AddressPorts,
    valid: PortId,
    ready: PortId,
    data: PortId,
    last: Option<PortId>,
    id: Option<PortId>,
    code: Option<PortId>,
    queue: VecDeque<Burst>,
    presents: bool,
    shown: u64,
    is_last: bool,
}

#[derive(Debug)]
struct WriteSide {
    aw: AddressPorts,
    valid: PortId,
    ready: PortId,
    data: PortId,
    strobe: PortId,
    last: PortId,
    bvalid: PortId,
    bready: PortId,
    id: Option<PortId>,
    code: Option<PortId>,
    queue: VecDeque<Burst>,
    /// When, and which.
    responses: VecDeque<(u64, u64)>,
    shown: u64,
    presents: bool,
    stuck: bool,
    stuck_data: Vec<u64>,
}

/// Channel fields of the random state.
const STALL_AR: u32 = 0;
const STALL_R: u32 = 3;
const STALL_AW: u32 = 6;
const STALL_W: u32 = 9;
const STALL_B: u32 = 12;

impl AxiMemory {
    /// The memory at the ports `<prefix>ar*`, … of the simulated module (a direction without ports is left out). `port` is
    /// the number of the port in the design, `data` the array's bytes at byte address `base`.
    ///
    /// # Errors
    /// When the module has no AXI ports of that prefix.
    pub fn new(sim: &Sim, prefix: &str, port: u32, mode: MemoryMode, base: u64, data: Vec<u8>) -> Result<AxiMemory, String> {
        let find = |n: &str| sim.find_port(&format!("{prefix}{n}"));
        let (read, write) = (ReadSide::find(&find), WriteSide::find(&find));
        let wide = read.as_ref().map(|r| r.data).or(write.as_ref().map(|w| w.data));
        let wide = wide.ok_or_else(|| format!("the module has no AXI ports `{prefix}*`"))?;
        let bus = u64::from(sim.port_ty(wide).w / 8);
        let (ddr, seed) = match mode {
            MemoryMode::Ideal => (false, 0),
            MemoryMode::Ddr { seed } => (true, seed),
        };
        let random = seed.wrapping_mul(2_654_435_761).wrapping_add((port + 1).wrapping_mul(0x9E37_79B9)).max(1);
        Ok(AxiMemory {
            name: prefix.trim_end_matches('_').to_string(),
            bus,
            base,
            data,
            latency: if ddr { 40 } else { 16 },
            ddr,
            random,
            time: 0,
            started: false,
            in_reset: false,
            broken: None,
            read,
            write,
            faults: vec![],
            fault_count: 0,
            limbs: vec![0; (bus as usize).div_ceil(8)],
        })
    }

    /// The array's bytes.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The array's bytes, to change them between runs.
    pub fn data_mut(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// The first protocol violations.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Number of protocol violations.
    pub fn fault_count(&self) -> u64 {
        self.fault_count
    }

    /// No burst, beat or response is under way.
    pub fn is_idle(&self) -> bool {
        self.read.as_ref().is_none_or(|r| r.queue.is_empty() && !r.presents)
            && self.write.as_ref().is_none_or(|w| w.queue.is_empty() && w.responses.is_empty() && !w.presents)
    }

    /// Forgets everything under way, as a reset of the memory controller does. Contents and local time stay.
    pub fn reset(&mut self) {
        if let Some(r) = &mut self.read {
            r.queue.clear();
            (r.presents, r.ar.stuck) = (false, None);
        }
        if let Some(w) = &mut self.write {
            w.queue.clear();
            w.responses.clear();
            (w.presents, w.stuck, w.aw.stuck) = (false, false, None);
        }
    }

    /// The design, not the memory, is in reset: it must offer nothing, and need not come back to what it offered before.
    pub fn design_in_reset(&mut self, on: bool) {
        self.in_reset = on;
    }

    /// Bursts that touch these addresses are answered with `code` from now on, 2 (SLVERR) or 3 (DECERR), on all their beats.
    pub fn break_down(&mut self, at: std::ops::Range<u64>, code: u64) {
        self.broken = Some((at, code));
    }

    /// All is well again.
    pub fn mend(&mut self) {
        self.broken = None;
    }

    fn code(&self, first: u64, beats: u64) -> u64 {
        self.broken.as_ref().map_or(0, |(at, code)| if first < at.end && at.start < first + beats * self.bus { *code } else { 0 })
    }

    fn check_reset(&mut self, sim: &mut Sim) {
        let mut high = vec![];
        if let Some(r) = &mut self.read {
            high.extend((sim.peek(r.ar.valid) == 1).then_some("arvalid"));
            r.ar.stuck = None;
        }
        if let Some(w) = &mut self.write {
            high.extend((sim.peek(w.aw.valid) == 1).then_some("awvalid"));
            high.extend((sim.peek(w.valid) == 1).then_some("wvalid"));
            (w.aw.stuck, w.stuck) = (None, false);
        }
        high.into_iter().for_each(|name| self.fault(format!("{name} in reset")));
    }

    fn stall(&self, field: u32) -> bool {
        self.ddr && (self.time % 4000 >= 3900 || self.random >> field & 7 == 0)
    }

    /// Sets the inputs of the design for this cycle.
    pub fn drive(&mut self, sim: &mut Sim) {
        let (ar, aw, w) = (!self.stall(STALL_AR), !self.stall(STALL_AW), !self.stall(STALL_W));
        if let Some(r) = &self.read {
            sim.poke(r.ar.ready, u64::from(ar));
            sim.poke(r.valid, u64::from(r.presents));
            if r.presents {
                sim.poke_wide(r.data, &self.limbs);
                r.last.iter().for_each(|p| sim.poke(*p, u64::from(r.is_last)));
            }
            r.id.iter().for_each(|p| sim.poke(*p, 0));
            r.code.iter().for_each(|p| sim.poke(*p, r.shown));
        }
        if let Some(s) = &self.write {
            sim.poke(s.aw.ready, u64::from(aw));
            sim.poke(s.ready, u64::from(w && !s.queue.is_empty()));
            sim.poke(s.bvalid, u64::from(s.presents));
            s.id.iter().for_each(|p| sim.poke(*p, 0));
            s.code.iter().for_each(|p| sim.poke(*p, s.shown));
        }
    }

    /// Looks at the outputs of the design in this (settled) cycle.
    pub fn observe(&mut self, sim: &mut Sim) {
        if self.in_reset {
            self.check_reset(sim);
        }
        let valid = |sim: &mut Sim, p: Option<PortId>| p.is_some_and(|p| sim.peek(p) == 1);
        let ar_valid = valid(sim, self.read.as_ref().map(|r| r.ar.valid));
        let aw_valid = valid(sim, self.write.as_ref().map(|w| w.aw.valid));
        self.started |= ar_valid || aw_valid;
        if !self.started {
            return;
        }
        if let Some(mut w) = self.write.take() {
            self.observe_write(sim, &mut w, aw_valid);
            self.write = Some(w);
        }
        if let Some(mut r) = self.read.take() {
            self.observe_read(sim, &mut r, ar_valid);
            self.read = Some(r);
        }
        self.time += 1;
        if self.ddr {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 17;
            self.random ^= self.random << 5;
        }
    }

    fn observe_read(&mut self, sim: &mut Sim, r: &mut ReadSide, ar_valid: bool) {
        if let Some((addr, beats)) = self.address(sim, &mut r.ar, ar_valid, STALL_AR, "ar") {
            r.queue.push_back(Burst { addr, left: beats, due: self.time + self.latency, code: self.code(addr, beats) });
        }
        if r.presents && sim.peek(r.ready) == 0 {
            return;
        }
        r.presents = false;
        let stalled = self.stall(STALL_R);
        let due = r.queue.front().is_some_and(|b| self.time + 1 >= b.due);
        if let (true, false, Some(b)) = (due, stalled, r.queue.front_mut()) {
            let (at, last) = (b.addr, b.left == 1);
            r.shown = b.code;
            b.left -= 1;
            b.addr += self.bus;
            if last {
                r.queue.pop_front();
            }
            (r.presents, r.is_last) = (true, last);
            self.load(at);
        }
    }

    fn observe_write(&mut self, sim: &mut Sim, w: &mut WriteSide, aw_valid: bool) {
        let beat = sim.peek(w.valid) == 1;
        if w.stuck && (!beat || sim.peek_wide(w.data) != &w.stuck_data[..]) {
            self.fault("write data changed while waiting".into());
        }
        let taken = beat && !w.queue.is_empty() && !self.stall(STALL_W);
        w.stuck = beat && !taken;
        if w.stuck {
            w.stuck_data.clear();
            w.stuck_data.extend_from_slice(sim.peek_wide(w.data));
        }
        if taken {
            self.write_beat(sim, w);
        }
        if let Some((addr, beats)) = self.address(sim, &mut w.aw, aw_valid, STALL_AW, "aw") {
            w.queue.push_back(Burst { addr, left: beats, due: 0, code: self.code(addr, beats) });
        }
        if w.presents && sim.peek(w.bready) == 0 {
            return;
        }
        w.presents = false;
        if let Some((_, code)) = w.responses.front().copied().filter(|(due, _)| self.time + 1 >= *due && !self.stall(STALL_B)) {
            w.responses.pop_front();
            (w.presents, w.shown) = (true, code);
        }
    }

    fn write_beat(&mut self, sim: &mut Sim, w: &mut WriteSide) {
        let Some(b) = w.queue.front_mut() else { return };
        let (at, last, code) = (b.addr, b.left == 1, b.code);
        b.addr += self.bus;
        b.left -= 1;
        if last {
            w.queue.pop_front();
            w.responses.push_back((self.time + self.latency, code));
        }
        if (sim.peek(w.last) == 1) != last {
            self.fault(format!("wlast is wrong at {at:#x}"));
        }
        let offset = at.wrapping_sub(self.base);
        let strobe = sim.peek_wide(w.strobe);
        let strobes = [strobe[0], strobe.get(1).copied().unwrap_or(0)];
        let data = sim.peek_wide(w.data);
        let mut outside = false;
        for i in 0..self.bus as usize {
            if strobes[i / 64] >> (i % 64) & 1 == 0 {
                continue;
            }
            match self.data.get_mut(offset.wrapping_add(i as u64) as usize) {
                Some(cell) => *cell = (data[i / 8] >> (8 * (i % 8))) as u8,
                None => outside = true,
            }
        }
        if outside {
            self.fault(format!("strobe outside of the array at {at:#x}"));
        }
    }

    /// One address channel; the burst accepted in this cycle as (address, beats).
    fn address(&mut self, sim: &mut Sim, p: &mut AddressPorts, valid: bool, stall: u32, name: &str) -> Option<(u64, u64)> {
        if !valid {
            if p.stuck.take().is_some() {
                self.fault(format!("{name}valid dropped"));
            }
            return None;
        }
        let (addr, len) = (sim.peek(p.addr), sim.peek(p.len));
        if p.stuck.is_some_and(|s| s != (addr, len)) {
            self.fault(format!("{name} payload changed while waiting"));
        }
        if self.stall(stall) {
            p.stuck = Some((addr, len));
            return None;
        }
        p.stuck = None;
        let (size, kind) = (sim.peek(p.size), sim.peek(p.burst));
        if 1u64 << size != self.bus || kind != 1 {
            self.fault(format!("{name} burst has size code {size}, type {kind}"));
        }
        let bytes = (len + 1) * self.bus;
        let first = addr & !(self.bus - 1);
        if first / 4096 != (first + bytes - 1) / 4096 {
            self.fault(format!("{name} burst of {bytes} bytes at {addr:#x} crosses 4 KiB"));
        }
        let end = self.base.wrapping_add(self.data.len() as u64);
        if first + self.bus <= self.base || first + bytes - self.bus >= end {
            self.fault(format!("{name} burst of {bytes} bytes at {addr:#x} leaves the array"));
        }
        Some((first, len + 1))
    }

    /// Puts the beat at `at` on the read data.
    fn load(&mut self, at: u64) {
        let offset = at.wrapping_sub(self.base);
        let bus = self.bus as usize;
        if let Some(bytes) = (offset as usize).checked_add(bus).and_then(|end| self.data.get(offset as usize..end)) {
            for (limb, eight) in self.limbs.iter_mut().zip(bytes.chunks(8)) {
                let mut raw = [0; 8];
                raw[..eight.len()].copy_from_slice(eight);
                *limb = u64::from_le_bytes(raw);
            }
            return;
        }
        self.limbs.fill(0);
        for i in 0..bus {
            let byte = self.data.get(offset.wrapping_add(i as u64) as usize).copied().unwrap_or(OUTSIDE);
            self.limbs[i / 8] |= u64::from(byte) << (8 * (i % 8));
        }
    }

    fn fault(&mut self, message: String) {
        self.fault_count += 1;
        if self.faults.len() < KEPT_FAULTS {
            self.faults.push(format!("{}: {message} (local cycle {})", self.name, self.time));
        }
    }
}

impl AddressPorts {
    fn find(find: &impl Fn(&str) -> Option<PortId>, name: &str) -> Option<AddressPorts> {
        let port = |n: &str| find(&format!("{name}{n}"));
        Some(AddressPorts {
            valid: port("valid")?,
            ready: port("ready")?,
            addr: port("addr")?,
            len: port("len")?,
            size: port("size")?,
            burst: port("burst")?,
            stuck: None,
        })
    }
}

impl ReadSide {
    fn find(find: &impl Fn(&str) -> Option<PortId>) -> Option<ReadSide> {
        Some(ReadSide {
            ar: AddressPorts::find(find, "ar")?,
            valid: find("rvalid")?,
            ready: find("rready")?,
            data: find("rdata")?,
            last: find("rlast"),
            id: find("rid"),
            code: find("rresp"),
            shown: 0,
            queue: VecDeque::new(),
            presents: false,
            is_last: false,
        })
    }
}

impl WriteSide {
    fn find(find: &impl Fn(&str) -> Option<PortId>) -> Option<WriteSide> {
        Some(WriteSide {
            aw: AddressPorts::find(find, "aw")?,
            valid: find("wvalid")?,
            ready: find("wready")?,
            data: find("wdata")?,
            strobe: find("wstrb")?,
            last: find("wlast")?,
            bvalid: find("bvalid")?,
            bready: find("bready")?,
            id: find("bid"),
            code: find("bresp"),
            shown: 0,
            queue: VecDeque::new(),
            responses: VecDeque::new(),
            presents: false,
            stuck: false,
            stuck_data: vec![],
        })
    }
}
