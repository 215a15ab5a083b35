//! The memory model at the ports `<prefix>ar*`, `<prefix>r*`, … of a simulated module. It leaves out a direction
//! without ports.

use super::{Beat, Burst, Data, Image, Memory, Request, Timing};
use rtl::sim::{PortId, Sim};
use std::ops::Range;

/// Call per cycle: [`AxiMemory::drive`] (sets the inputs of the module), [`AxiMemory::observe`] (samples its outputs
/// and ends the cycle of the memory), then the clock. A cycle allocates no memory once the queues have grown.
#[derive(Debug)]
pub struct AxiMemory {
    name: String,
    read: Option<ReadPorts>,
    write: Option<WritePorts>,
    memory: Memory,
    /// Per array: start in the bytes of the memory, and size.
    arrays: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct AddressPorts {
    valid: PortId,
    ready: PortId,
    id: Option<PortId>,
    addr: PortId,
    len: PortId,
    size: PortId,
    burst: PortId,
}

#[derive(Debug)]
struct ReadPorts {
    ar: AddressPorts,
    id: Option<PortId>,
    data: PortId,
    resp: Option<PortId>,
    last: Option<PortId>,
    valid: PortId,
    ready: PortId,
}

#[derive(Debug)]
struct WritePorts {
    aw: AddressPorts,
    data: PortId,
    strobe: PortId,
    last: PortId,
    valid: PortId,
    ready: PortId,
    id: Option<PortId>,
    resp: Option<PortId>,
    bvalid: PortId,
    bready: PortId,
    /// Value that `wready` is driven to.
    ready_to_write: bool,
}

impl AxiMemory {
    /// The memory at the ports with this prefix; `port` is the number of the port in the design. Images have whole
    /// words.
    ///
    /// # Errors
    /// The module has no AXI ports with that prefix.
    pub fn new(sim: &Sim, prefix: &str, port: usize, timing: Timing, images: &[&Image]) -> Result<AxiMemory, String> {
        let find = |n: &str| sim.find_port(&format!("{prefix}{n}"));
        let (read, write) = (ReadPorts::find(&find), WritePorts::find(&find));
        let data = read.as_ref().map(|r| r.data).or(write.as_ref().map(|w| w.data));
        let data = data.ok_or_else(|| format!("the module has no AXI ports `{prefix}*`"))?;
        let memory = Memory::new(images, u64::from(sim.port_ty(data).w / 8), timing, port);
        let starts = images.iter().scan(0, |at, image| Some(std::mem::replace(at, *at + image.bytes.len())));
        let arrays = images.iter().zip(starts).map(|(image, at)| (at + image.offset, image.size)).collect();
        Ok(AxiMemory { name: prefix.trim_end_matches('_').to_string(), read, write, memory, arrays })
    }

    /// From the next burst on, the memory has this timing.
    pub fn set_timing(&mut self, timing: Timing) {
        self.memory.timing = timing;
    }

    /// The bytes of the `k`-th array behind the port.
    pub fn array(&self, k: usize) -> &[u8] {
        let (at, size) = self.arrays[k];
        &self.memory.bytes[at..at + size]
    }

    /// The same, mutable, for changes between runs.
    pub fn array_mut(&mut self, k: usize) -> &mut [u8] {
        let (at, size) = self.arrays[k];
        &mut self.memory.bytes[at..at + size]
    }

    /// The images, one after the other.
    pub fn into_bytes(self) -> Vec<u8> {
        self.memory.bytes
    }

    /// Violations of the protocol, with the name of the port.
    pub fn faults(&self) -> Vec<String> {
        self.memory.faults.iter().map(|f| format!("{}: {f}", self.name)).collect()
    }

    /// The same, and clears them.
    pub fn take_faults(&mut self) -> Vec<String> {
        let all = self.faults();
        self.memory.faults.clear();
        all
    }

    /// Writes an image again.
    pub fn restore(&mut self, image: &Image) {
        self.memory.restore(image);
    }

    /// No burst, beat or response is under way.
    pub fn is_idle(&self) -> bool {
        self.memory.is_idle()
    }

    /// A fault if something is under way after the end of a run.
    pub fn unanswered(&self) -> Option<String> {
        (!self.is_idle()).then(|| format!("{}: a burst is open after the run", self.name))
    }

    /// Reset of the memory controller: drops everything under way. Contents and local time stay.
    pub fn reset(&mut self) {
        self.memory.reset();
    }

    /// From now on, all beats of bursts that touch these addresses get the response `code`: 2 (SLVERR) or 3 (DECERR).
    pub fn break_down(&mut self, at: Range<u64>, code: u64) {
        self.memory.broken = Some((at, code));
    }

    /// Ends [`AxiMemory::break_down`].
    pub fn mend(&mut self) {
        self.memory.broken = None;
    }

    /// Drives the inputs of the module from the registers of the memory. `wready` also depends on `awvalid`: this
    /// assumes 0, and [`AxiMemory::settle`] corrects it.
    pub fn drive(&mut self, sim: &mut Sim) {
        let memory = &self.memory;
        if let Some(r) = &self.read {
            sim.poke(r.ar.ready, memory.arready() as u64);
            sim.poke(r.valid, memory.r.is_some() as u64);
            if let Some(beat) = &memory.r {
                sim.poke_wide(r.data, &beat.data);
                r.last.iter().for_each(|p| sim.poke(*p, beat.last as u64));
                r.resp.iter().for_each(|p| sim.poke(*p, beat.resp));
                r.id.iter().for_each(|p| sim.poke(*p, beat.id));
            }
        }
        if let Some(w) = &mut self.write {
            sim.poke(w.aw.ready, memory.awready() as u64);
            sim.poke(w.bvalid, memory.b.is_some() as u64);
            if let Some(response) = memory.b {
                w.resp.iter().for_each(|p| sim.poke(*p, response.resp));
                w.id.iter().for_each(|p| sim.poke(*p, response.id));
            }
            w.ready_to_write = memory.wready(false);
            sim.poke(w.ready, w.ready_to_write as u64);
        }
    }

    /// Sets `wready` for the present `awvalid`.
    pub fn settle(&mut self, sim: &mut Sim) {
        let Some(w) = &mut self.write else { return };
        let ready = self.memory.wready(sim.peek(w.aw.valid) == 1);
        if ready != w.ready_to_write {
            w.ready_to_write = ready;
            sim.poke(w.ready, ready as u64);
        }
    }

    /// Samples the outputs of the module and ends the cycle of the memory.
    pub fn observe(&mut self, sim: &mut Sim) {
        self.settle(sim);
        let mut request = Request::default();
        if let Some(r) = &self.read {
            request.ar = r.ar.peek(sim);
            request.rready = sim.peek(r.ready) == 1;
        }
        if let Some(w) = &self.write {
            request.aw = w.aw.peek(sim);
            request.w = w.peek(sim);
            request.bready = sim.peek(w.bready) == 1;
        }
        self.memory.clock(&request);
    }
}

impl AddressPorts {
    fn find(find: &impl Fn(&str) -> Option<PortId>, name: &str) -> Option<AddressPorts> {
        let port = |n: &str| find(&format!("{name}{n}"));
        Some(AddressPorts {
            valid: port("valid")?,
            ready: port("ready")?,
            id: port("id"),
            addr: port("addr")?,
            len: port("len")?,
            size: port("size")?,
            burst: port("burst")?,
        })
    }

    fn peek(&self, sim: &mut Sim) -> Option<Burst> {
        (sim.peek(self.valid) == 1).then(|| Burst {
            id: self.id.map_or(0, |id| sim.peek(id)),
            addr: sim.peek(self.addr),
            len: sim.peek(self.len),
            size: sim.peek(self.size),
            burst: sim.peek(self.burst),
        })
    }
}

impl ReadPorts {
    fn find(find: &impl Fn(&str) -> Option<PortId>) -> Option<ReadPorts> {
        let ar = AddressPorts::find(find, "ar")?;
        Some(ReadPorts {
            ar,
            id: find("rid"),
            data: find("rdata")?,
            resp: find("rresp"),
            last: find("rlast"),
            valid: find("rvalid")?,
            ready: find("rready")?,
        })
    }
}

impl WritePorts {
    fn find(find: &impl Fn(&str) -> Option<PortId>) -> Option<WritePorts> {
        Some(WritePorts {
            aw: AddressPorts::find(find, "aw")?,
            data: find("wdata")?,
            strobe: find("wstrb")?,
            last: find("wlast")?,
            valid: find("wvalid")?,
            ready: find("wready")?,
            id: find("bid"),
            resp: find("bresp"),
            bvalid: find("bvalid")?,
            bready: find("bready")?,
            ready_to_write: false,
        })
    }

    fn peek(&self, sim: &mut Sim) -> Option<Beat> {
        if sim.peek(self.valid) == 0 {
            return None;
        }
        let mut data = Data::default();
        let limbs = sim.peek_wide(self.data);
        data[..limbs.len()].copy_from_slice(limbs);
        let strobe = sim.peek_wide(self.strobe);
        let strobe = u128::from(strobe[0]) | u128::from(strobe.get(1).copied().unwrap_or(0)) << 64;
        Some(Beat { data, strobe, last: sim.peek(self.last) == 1 })
    }
}
