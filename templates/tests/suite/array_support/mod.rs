//! Runs the IP of a `Vsa` in the simulator through its AXI ports, like a host.

use array::contract::walk::alignment;
use array::vsa::Vsa;
use rtl::sim::Sim;
use rtl::Verified;
use scop::value::mask;
use templates::axi::memory::{AxiMemory, Image, Timing, GUARD};
use templates::interface::Layout;
use templates::Interface;

/// Memory contents after the run, and the cycle counter.
pub struct Outcome {
    pub memory: Vec<Vec<u64>>,
    pub cycles: u64,
}

fn bytes_of(vsa: &Vsa, a: usize, elements: &[u64]) -> Vec<u8> {
    let size = vsa.arrays[a].ty.bytes() as usize;
    elements.iter().flat_map(|e| e.to_le_bytes()[..size].to_vec()).collect()
}

fn elements_of(vsa: &Vsa, a: usize, bytes: &[u8]) -> Vec<u64> {
    let size = vsa.arrays[a].ty.bytes() as usize;
    let value = |c: &[u8]| c.iter().rev().fold(0u64, |v, b| v << 8 | *b as u64) & mask(vsa.arrays[a].ty.bits());
    bytes.chunks(size).map(value).collect()
}

pub struct Host {
    pub sim: Sim,
    pub memories: Vec<AxiMemory>,
}

impl Host {
    pub fn cycle(&mut self) {
        for m in &mut self.memories {
            m.drive(&mut self.sim);
        }
        self.sim.settle();
        for m in &mut self.memories {
            m.observe(&mut self.sim);
        }
        self.sim.clock();
    }

    fn set(&mut self, name: &str, v: u64) {
        self.sim.set(&format!("s_axi_control_{name}"), v);
    }

    fn get(&mut self, name: &str) -> u64 {
        self.sim.get(&format!("s_axi_control_{name}"))
    }

    pub fn write(&mut self, address: u32, data: u64) {
        for (n, v) in
            [("awaddr", address as u64), ("awvalid", 1), ("wdata", data), ("wstrb", 15), ("wvalid", 1), ("bready", 1)]
        {
            self.set(n, v);
        }
        let (mut a, mut d) = (false, false);
        for _ in 0..10_000 {
            self.sim.settle();
            let (ar, dr, b) = (self.get("awready") == 1, self.get("wready") == 1, self.get("bvalid") == 1);
            self.cycle();
            if !a && ar {
                a = true;
                self.set("awvalid", 0);
            }
            if !d && dr {
                d = true;
                self.set("wvalid", 0);
            }
            if b {
                return;
            }
        }
        panic!("no write response");
    }

    pub fn read(&mut self, address: u32) -> u64 {
        for (n, v) in [("araddr", address as u64), ("arvalid", 1), ("rready", 1)] {
            self.set(n, v);
        }
        for _ in 0..10_000 {
            self.sim.settle();
            let (taken, there, data) = (self.get("arready") == 1, self.get("rvalid") == 1, self.get("rdata"));
            self.cycle();
            if taken {
                self.set("arvalid", 0);
            }
            if there {
                return data;
            }
        }
        panic!("no read response");
    }
}

/// Address of array `k`. Predictions assume arrays that start at a 4 KiB page; any aligned address must work.
pub fn base(vsa: &Vsa, k: usize, mode: Timing) -> u64 {
    let unit = u64::from(alignment(vsa, k));
    let odd = (4096 - 64) / unit * unit + unit * (3 * k as u64 + 1);
    0x1_0000_0000 * (k as u64 + 1) + if mode == Timing::IDEAL { 0 } else { odd }
}

/// An array at this address with guard bytes, which must not reach a result.
pub fn image(base: u64, contents: &[u8]) -> Image {
    let start = (base & !(GUARD as u64 - 1)) - GUARD as u64;
    Image::new(start, (base - start) as usize, contents, 128, || 0xa5)
}

impl Host {
    /// The IP with its memories, out of reset.
    pub fn new(vsa: &Vsa, design: &Verified, memory: &[Vec<u64>], mode: Timing) -> Result<Host, String> {
        let top = design.modules().last().ok_or("no modules")?.name.clone();
        let sim = Sim::new(design, &top).map_err(|f| f.iter().map(|x| x.to_string()).collect::<Vec<_>>().join("\n"))?;
        let interface = Interface::from(vsa);
        let mut memories = vec![];
        for (k, elements) in memory.iter().enumerate() {
            let image = image(base(vsa, k, mode), &bytes_of(vsa, k, elements));
            memories.push(AxiMemory::new(&sim, &format!("{}_", interface.ports[k].name), k, mode, &[&image])?);
        }
        let mut host = Host { sim, memories };
        let inputs: Vec<String> = host.sim.ports().filter(|p| p.2).map(|p| p.0.to_string()).collect();
        for name in inputs.iter().filter(|n| n.starts_with("s_axi_control")) {
            host.sim.set(name, 0);
        }
        host.reset_all(5);
        Ok(host)
    }

    /// The IP and its memories are reset for so many cycles.
    pub fn reset_all(&mut self, cycles: u32) {
        self.sim.set("ap_rst_n", 0);
        for _ in 0..cycles {
            // Before the first clock edges the outputs are random.
            self.sim.step();
            self.memories.iter_mut().for_each(AxiMemory::reset);
        }
        self.sim.set("ap_rst_n", 1);
    }

    /// Stops the IP alone, while its memories go on.
    pub fn soft_reset(&mut self, layout: &Layout) {
        self.write(layout.soft_reset(), 1);
        for _ in 0..10_000 {
            if self.read(layout.soft_reset()) == 0 {
                return;
            }
        }
        panic!("the soft reset does not end");
    }

    /// Writes the addresses, `shift` bytes further, and enables the interrupts for the end of a run.
    pub fn prepare(&mut self, vsa: &Vsa, mode: Timing, shift: u64) {
        for argument in Interface::from(vsa).arguments() {
            let k = argument.array().expect("an array").index;
            self.write(argument.offset, (base(vsa, k, mode) + shift) & 0xffff_ffff);
            self.write(argument.offset + 4, (base(vsa, k, mode) + shift) >> 32);
        }
        self.write(4, 1);
        self.write(8, 1);
    }

    /// Writes the contents of every array.
    pub fn fill(&mut self, vsa: &Vsa, memory: &[Vec<u64>]) {
        for (k, elements) in memory.iter().enumerate() {
            self.memories[k].array_mut(0).copy_from_slice(&bytes_of(vsa, k, elements));
        }
    }
}

/// Simulates the IP for two runs on the same data.
pub fn run_design(
    vsa: &Vsa,
    design: &Verified,
    memory: &[Vec<u64>],
    mode: Timing,
    limit: u64,
) -> Result<Outcome, String> {
    let mut host = Host::new(vsa, design, memory, mode)?;
    host.prepare(vsa, mode, 0);
    let first = host.run(vsa, limit)?;
    // A second run on the same data: no state of the first run may be left.
    host.fill(vsa, memory);
    let second = host.run(vsa, limit)?;
    if first.memory != second.memory || (mode == Timing::IDEAL && first.cycles != second.cycles) {
        return Err(format!("the second run differs: {} and {} cycles", first.cycles, second.cycles));
    }
    Ok(second)
}

impl Host {
    /// Starts the IP, waits for the interrupt and clears it.
    pub fn run(&mut self, vsa: &Vsa, limit: u64) -> Result<Outcome, String> {
        self.write(0, 1);
        let mut left = limit;
        while self.sim.get("interrupt") == 0 {
            self.cycle();
            left -= 1;
            if left == 0 {
                return Err(format!("no interrupt after {limit} cycles"));
            }
        }
        self.write(0x0c, 1);
        let at = Interface::from(vsa).layout.cycles();
        let cycles = self.read(at) | self.read(at + 4) << 32;
        let faults: Vec<String> = self.memories.iter().flat_map(|m| m.faults()).chain(self.sim.take_broken()).collect();
        if !faults.is_empty() {
            return Err(faults.join("\n"));
        }
        let memory = self.memories.iter().enumerate().map(|(k, m)| elements_of(vsa, k, m.array(0))).collect();
        Ok(Outcome { memory, cycles })
    }
}

/// Runs interpreter and hardware on the same data and compares every element. Returns the simulated cycles.
pub fn check(vsa: &Vsa, memory: Vec<Vec<u64>>, mode: Timing) -> Result<u64, String> {
    if let Err(faults) = vsa.verify() {
        return Err(format!("verify: {}", faults.join("\n")));
    }
    let mut expected = memory.clone();
    array::interp::run(vsa, &mut expected)?;
    let (design, _) = templates::ip(&vsa.into())?;
    let predicted = cost::predict(vsa, &array::contract::dram::Memories::ideal()).cycles as u64;
    let outcome = run_design(vsa, &design, &memory, mode, predicted * 20 + 20_000)?;
    for (k, (got, want)) in outcome.memory.iter().zip(&expected).enumerate() {
        if let Some(at) = (0..want.len()).find(|i| got[*i] != want[*i]) {
            let wrong = (0..want.len()).filter(|i| got[*i] != want[*i]).count();
            return Err(format!(
                "{}[{at}] is {:#x}, expected {:#x}; {wrong} of {} wrong",
                vsa.arrays[k].name,
                got[at],
                want[at],
                want.len()
            ));
        }
    }
    if mode == Timing::IDEAL && predicted != outcome.cycles {
        return Err(format!("predicted {predicted} cycles, simulated {}", outcome.cycles));
    }
    Ok(outcome.cycles)
}

/// Pseudo-random contents for all arrays.
pub fn contents(vsa: &Vsa, mut seed: u64) -> Vec<Vec<u64>> {
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    vsa.arrays
        .iter()
        .map(|a| (0..a.dims.iter().product::<i64>().max(1)).map(|_| next() & mask(a.ty.bits())).collect())
        .collect()
}
