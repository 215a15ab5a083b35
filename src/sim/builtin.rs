//! The built-in engine: it simulates the netlist in process and needs no other program.

use super::{Cut, Image, Job, Outcome, Run, Way};
use crate::reporter::Progress;
use crate::waves::{Signal, Waves};
use rtl::sim::{vcd::Vcd, PortId, Sim};
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;
use templates::axi::memory::{self, AxiMemory};
use templates::interface::{
    AxiPort, Interface, Kept, CTRL, GIER, IP_IER, IP_ISR, QUEUE_INDEPENDENT, QUEUE_MORE, STATUS_CAUSES,
};

/// A register access must be answered within this many cycles.
const ANSWER: u64 = 20;
/// A soft reset must end within this many register accesses.
const ACCESS_LIMIT: u64 = 1_000_000;
/// Clock cycles with reset asserted.
const RESET: u64 = 10;

/// Runs the job.
///
/// # Errors
/// The design is not consistent, lacks a port, does not answer on `s_axi_control`, or the waveform cannot be written.
pub fn run(job: &Job) -> Result<Vec<Outcome>, String> {
    let begin = Instant::now();
    let mut machine = Machine::start(job)?;
    let outcomes = machine.work(job, begin)?;
    let contents = machine.finish(job)?;
    let with = |((outcome, mut memories), run): ((Outcome, Vec<Vec<u8>>), &Run)| {
        for (own, bytes) in &outcome.kept {
            let image = &run.images[*own];
            memories[*own] = image.bytes.clone();
            memories[*own][image.offset..image.offset + image.size].copy_from_slice(bytes);
        }
        Outcome { memories, ..outcome }
    };
    Ok(outcomes.into_iter().zip(contents).zip(&job.runs).map(with).collect())
}

impl Machine {
    /// The job's runs, one after the other; their outcomes lack the memories.
    ///
    /// # Errors
    /// `s_axi_control` does not answer.
    pub fn work(&mut self, job: &Job, begin: Instant) -> Result<Vec<Outcome>, String> {
        job.reporter.progress(Progress::Simulation { cycles: job.cycles });
        match &job.way {
            Way::Registers => {}
            Way::Queue => return self.queue(job, begin),
            Way::Batches(independent) => return self.batches(job, independent, begin),
        }
        let mut all = vec![];
        for (number, run) in job.runs.iter().enumerate() {
            if let Some(cut) = run.cut {
                self.launch(job, number)?;
                (0..cut.after).for_each(|_| self.cycle());
                self.cut(job, cut)?;
                self.restore(job, number);
            }
            self.launch(job, number)?;
            let finished = self.wait_interrupt(job);
            all.push(Outcome { kept: self.kept(job, number), ..self.outcome(job, finished, begin)? });
            if !finished {
                return Ok(all);
            }
        }
        Ok(all)
    }

    /// The result of the latest run by the registers, and the faults since the last result.
    fn outcome(&mut self, job: &Job, finished: bool, begin: Instant) -> Result<Outcome, String> {
        let layout = &job.built.interface.layout;
        let cycles = self.read(layout.cycles())? | self.read(layout.cycles() + 4)? << 32;
        let (status, at) = (self.read(layout.status())?, layout.error_address());
        let address = self.read(at)? | self.read(at + 4)? << 32;
        let open: Vec<String> = self.memories.iter().filter(|_| finished).filter_map(AxiMemory::unanswered).collect();
        let faults = self.take_faults().into_iter().chain(open).chain(super::status_fault(status, address)).collect();
        Ok(Outcome {
            cycles,
            memories: vec![],
            kept: vec![],
            faults,
            finished,
            simulated: self.sim.cycles(),
            seconds: begin.elapsed().as_secs_f64(),
        })
    }

    /// Gives the runs to the IP's queue whenever it has room.
    fn queue(&mut self, job: &Job, begin: Instant) -> Result<Vec<Outcome>, String> {
        let [queue, ended] = job.built.interface.layout.queue().ok_or("the IP has no queue")?;
        let mut left = job.watchdog * job.runs.len() as u64;
        let mut until = |machine: &mut Machine, ready: &dyn Fn(u64) -> bool| loop {
            match machine.read(queue)? {
                state if ready(state) => return Ok(true),
                _ if left == 0 => return Ok::<bool, String>(false),
                _ => left = left.saturating_sub(4),
            }
        };
        // The cycles of the last run are compared.
        self.set_timing(job, job.runs.len().saturating_sub(1));
        let first = self.read(ended)?;
        let mut finished = true;
        for run in &job.runs {
            finished &= until(self, &|state| state >> 16 > 0)?;
            for (offset, value) in job.arguments(run)? {
                self.write(offset, value.into())?;
            }
            self.write(queue, run.function as u64)?;
        }
        finished &= until(self, &|state| state & 0xffff == 0)?;
        finished &= self.read(ended)?.wrapping_sub(first) == job.runs.len() as u64;
        let outcome = self.outcome(job, finished, begin)?;
        let mut all: Vec<Outcome> = job.runs.iter().map(|_| outcome.clone()).collect();
        if let Some((last, outcome)) = all.iter_mut().enumerate().next_back() {
            outcome.kept = self.kept(job, last);
        }
        Ok(all)
    }

    /// Gives the runs to the IP's queue in batches; a run's reset cuts off its batch.
    fn batches(&mut self, job: &Job, independent: &[bool], begin: Instant) -> Result<Vec<Outcome>, String> {
        let layout = &job.built.interface.layout;
        let [queue, ended] = layout.queue().ok_or("the IP has no queue")?;
        let numbers: Vec<usize> = (0..job.runs.len()).collect();
        let mut all = vec![];
        for batch in numbers.chunks(layout.queue as usize) {
            let (first, last) = (batch[0], batch[batch.len() - 1]);
            self.set_timing(job, last);
            let push = |machine: &mut Machine| {
                for &number in batch {
                    let run = &job.runs[number];
                    for (offset, value) in job.arguments(run)? {
                        machine.write(offset, value.into())?;
                    }
                    let flags =
                        u64::from(independent[number]) << QUEUE_INDEPENDENT | u64::from(number < last) << QUEUE_MORE;
                    machine.write(queue, run.function as u64 | flags)?;
                }
                Ok::<_, String>(())
            };
            if let Some(cut) = job.runs[first].cut {
                push(self)?;
                (0..cut.after).for_each(|_| self.cycle());
                self.cut(job, cut)?;
                // The first run comes last: what is kept is as it was before all of them.
                batch.iter().rev().for_each(|&number| self.restore(job, number));
            }
            let before = self.read(ended)?;
            push(self)?;
            let mut left = job.watchdog * batch.len() as u64;
            while left > 0 && self.read(queue)? & 0xffff != 0 {
                left = left.saturating_sub(4);
            }
            let finished = left > 0 && self.read(ended)?.wrapping_sub(before) & 0xffff_ffff == batch.len() as u64;
            let outcome = self.outcome(job, finished, begin)?;
            all.extend(batch.iter().map(|_| outcome.clone()));
            if let Some(outcome) = all.last_mut() {
                outcome.kept = self.kept(job, last);
            }
            if !finished {
                break;
            }
        }
        Ok(all)
    }

    /// Sets the arguments and starts.
    fn launch(&mut self, job: &Job, number: usize) -> Result<(), String> {
        self.set_timing(job, number);
        for (offset, value) in job.settings(&job.runs[number])? {
            self.write(offset, value.into())?;
        }
        if self.seen.interrupt {
            self.write(IP_ISR, 1)?;
        }
        self.write(GIER, 1)?;
        self.write(IP_IER, 1)?;
        self.write(CTRL, 1)
    }

    /// The memories of a run.
    fn set_timing(&mut self, job: &Job, number: usize) {
        let timing = |port| job.timing.of(&job.runs[number], port);
        self.memories.iter_mut().enumerate().for_each(|(port, memory)| memory.set_timing(timing(port)));
    }

    /// Resets the IP in the middle of its work.
    fn cut(&mut self, job: &Job, cut: Cut) -> Result<(), String> {
        if !cut.soft {
            self.sim.poke(self.aresetn, 0);
            for _ in 0..RESET {
                self.cycle();
                self.memories.iter_mut().for_each(AxiMemory::reset);
            }
            self.sim.poke(self.aresetn, 1);
            return Ok(());
        }
        let layout = &job.built.interface.layout;
        self.write(layout.soft_reset(), 1)?;
        for _ in 0..ACCESS_LIMIT {
            if self.read(layout.soft_reset())? == 0 {
                return self.write(layout.status(), STATUS_CAUSES.into());
            }
        }
        Err("the soft reset does not end".into())
    }

    /// Puts the contents of a run's arrays back.
    fn restore(&mut self, job: &Job, number: usize) {
        let run = &job.runs[number];
        for (port, memory) in self.memories.iter_mut().enumerate() {
            job.of_port(run, port).for_each(|k| memory.restore(&run.images[k]));
        }
        for kept in &job.built.interface.functions[run.function].kept {
            for (at, word) in contents(&run.images[kept.own]).chunks(kept.word as usize).enumerate() {
                let limb = |bytes: &[u8]| bytes.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
                self.sim.set_mem_word(&kept.cells, at, &word.chunks(8).map(limb).collect::<Vec<_>>());
            }
        }
    }

    /// The arrays that a run's function keeps on chip: each with its number, and its bytes as they are now.
    fn kept(&self, job: &Job, number: usize) -> Vec<(usize, Vec<u8>)> {
        let function = &job.built.interface.functions[job.runs[number].function];
        let words = |kept: &Kept| {
            let word = |at: u64| {
                let limbs = self.sim.mem_word(&kept.cells, at as usize).expect("a word of a memory");
                limbs.iter().flat_map(|limb| limb.to_le_bytes()).take(kept.word as usize).collect::<Vec<u8>>()
            };
            let mut bytes: Vec<u8> = (0..kept.bytes.div_ceil(kept.word.into())).flat_map(word).collect();
            bytes.truncate(kept.bytes as usize);
            (kept.own, bytes)
        };
        function.kept.iter().map(words).collect()
    }

    /// The faults since the last call: violations of the bus protocol, and of the modules' assumptions.
    pub fn take_faults(&mut self) -> Vec<String> {
        self.memories.iter_mut().flat_map(AxiMemory::take_faults).chain(self.sim.take_broken()).collect()
    }
}

/// The bytes of an array without those around it.
fn contents(image: &Image) -> &[u8] {
    &image.bytes[image.offset..image.offset + image.size]
}

struct Control {
    awaddr: PortId,
    awvalid: PortId,
    awready: PortId,
    wdata: PortId,
    wstrb: PortId,
    wvalid: PortId,
    wready: PortId,
    bvalid: PortId,
    bready: PortId,
    araddr: PortId,
    arvalid: PortId,
    arready: PortId,
    rdata: PortId,
    rvalid: PortId,
    rready: PortId,
}

/// The outputs of `s_axi_control` at the end of the last cycle.
#[derive(Default)]
struct Seen {
    awready: bool,
    wready: bool,
    bvalid: bool,
    arready: bool,
    rvalid: bool,
    rdata: u64,
    interrupt: bool,
}

/// The design out of reset, with its memories. A caller may drive the registers in any order.
pub struct Machine {
    sim: Sim,
    memories: Vec<AxiMemory>,
    control: Control,
    aresetn: PortId,
    interrupt: PortId,
    seen: Seen,
    wave: Option<Wave>,
}

/// A waveform file. The first error in writing is reported at the end.
struct Wave {
    vcd: Vcd<BufWriter<File>>,
    name: String,
    failed: Option<std::io::Error>,
    /// The cycle that is next, and those that are written.
    cycle: u64,
    cycles: Option<(u64, u64)>,
}

impl Wave {
    /// Opens the file, and writes the viewers' files beside it.
    fn create(waves: &Waves, interface: &Interface, sim: &Sim) -> Result<Wave, String> {
        let top = &interface.kernel;
        let name = waves.path.display().to_string();
        let scope = |s: &rtl::sim::Signal| [top].into_iter().chain(&s.scope).cloned().collect::<Vec<_>>().join(".");
        let signal = |s: &rtl::sim::Signal| Signal { scope: scope(s), name: s.name.clone(), width: s.w };
        let signals: Vec<Signal> = sim.signals().iter().filter(|s| waves.has(&s.scope)).map(signal).collect();
        for (path, text) in waves.views(interface, &signals) {
            std::fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        }
        let vcd = File::create(&waves.path)
            .and_then(|file| Vcd::new(BufWriter::new(file), sim, top, |s| waves.has(&s.scope)));
        let vcd = vcd.map_err(|e| format!("cannot write {name}: {e}"))?;
        Ok(Wave { vcd, name, failed: None, cycle: 0, cycles: waves.cycles })
    }
    fn sample(&mut self, sim: &mut Sim) {
        let cycle = self.cycle;
        self.cycle += 1;
        if self.cycles.is_some_and(|(first, last)| !(first..=last).contains(&cycle)) {
            self.vcd.skip();
        } else if self.failed.is_none() {
            self.failed = self.vcd.sample(sim).err();
        }
    }
    fn finish(self) -> Result<(), String> {
        match self.failed.or(self.vcd.finish().err()) {
            Some(e) => Err(format!("cannot write {}: {e}", self.name)),
            None => Ok(()),
        }
    }
}

fn find(sim: &Sim, name: String) -> Result<PortId, String> {
    sim.find_port(&name).ok_or(format!("the design has no port {name}"))
}

impl Control {
    fn new(sim: &Sim, prefix: &str) -> Result<Control, String> {
        let port = |name: &str| find(sim, format!("{prefix}_{name}"));
        Ok(Control {
            awaddr: port("awaddr")?,
            awvalid: port("awvalid")?,
            awready: port("awready")?,
            wdata: port("wdata")?,
            wstrb: port("wstrb")?,
            wvalid: port("wvalid")?,
            wready: port("wready")?,
            bvalid: port("bvalid")?,
            bready: port("bready")?,
            araddr: port("araddr")?,
            arvalid: port("arvalid")?,
            arready: port("arready")?,
            rdata: port("rdata")?,
            rvalid: port("rvalid")?,
            rready: port("rready")?,
        })
    }
}

impl Machine {
    /// Builds the simulation and resets the design.
    ///
    /// # Errors
    /// As for [`run`].
    pub fn start(job: &Job) -> Result<Machine, String> {
        let mut machine = Machine::new(job.built.simulation(job.vcd.is_some())?, job)?;
        machine.reset();
        Ok(machine)
    }

    fn new(sim: Sim, job: &Job) -> Result<Machine, String> {
        let interface = &job.built.interface;
        let timing = |k| job.runs.first().map_or(memory::Timing::IDEAL, |run| job.timing.of(run, k));
        let memory = |(k, port): (usize, &AxiPort)| {
            AxiMemory::new(&sim, &format!("{}_", port.name), k, timing(k), &job.behind(k))
        };
        let memories = interface.ports.iter().enumerate().map(memory).collect::<Result<_, _>>()?;
        let control = Control::new(&sim, interface.control)?;
        let (aresetn, interrupt) = (find(&sim, interface.reset.into())?, find(&sim, interface.interrupt.into())?);
        let wave = job.vcd.as_ref().map(|waves| Wave::create(waves, interface, &sim)).transpose()?;
        Ok(Machine { sim, memories, control, aresetn, interrupt, seen: Seen::default(), wave })
    }

    /// One clock cycle; `s_axi_control`'s inputs were set before.
    fn cycle(&mut self) {
        let sim = &mut self.sim;
        self.memories.iter_mut().for_each(|m| m.drive(sim));
        self.memories.iter_mut().for_each(|m| m.settle(sim));
        self.memories.iter_mut().for_each(|m| m.observe(sim));
        let c = &self.control;
        self.seen = Seen {
            awready: sim.peek(c.awready) == 1,
            wready: sim.peek(c.wready) == 1,
            bvalid: sim.peek(c.bvalid) == 1,
            arready: sim.peek(c.arready) == 1,
            rvalid: sim.peek(c.rvalid) == 1,
            rdata: sim.peek(c.rdata),
            interrupt: sim.peek(self.interrupt) == 1,
        };
        if let Some(wave) = &mut self.wave {
            wave.sample(sim);
        }
        sim.clock();
    }

    fn reset(&mut self) {
        let inputs: Vec<String> = self.sim.ports().filter(|p| p.2).map(|p| p.0.to_string()).collect();
        inputs.iter().for_each(|name| self.sim.set(name, 0));
        for _ in 0..RESET {
            if let Some(wave) = &mut self.wave {
                wave.sample(&mut self.sim);
            }
            self.sim.clock();
        }
        self.sim.poke(self.aresetn, 1);
        self.sim.poke(self.control.bready, 1);
        self.sim.poke(self.control.rready, 1);
        self.sim.poke(self.control.wstrb, 0xf);
        for _ in 0..RESET {
            self.cycle();
        }
    }

    /// Writes a register.
    ///
    /// # Errors
    /// `s_axi_control` does not answer.
    pub fn write(&mut self, address: u32, value: u64) -> Result<(), String> {
        self.sim.poke(self.control.awaddr, address.into());
        self.sim.poke(self.control.wdata, value);
        let (mut addressed, mut sent) = (false, false);
        for _ in 0..ANSWER {
            self.sim.poke(self.control.awvalid, !addressed as u64);
            self.sim.poke(self.control.wvalid, !sent as u64);
            self.cycle();
            addressed |= self.seen.awready;
            sent |= self.seen.wready;
            if self.seen.bvalid {
                self.sim.poke(self.control.awvalid, 0);
                self.sim.poke(self.control.wvalid, 0);
                return Ok(());
            }
        }
        Err(format!("s_axi_control does not answer a write to 0x{address:x}"))
    }

    /// Reads a register.
    ///
    /// # Errors
    /// `s_axi_control` does not answer.
    pub fn read(&mut self, address: u32) -> Result<u64, String> {
        self.sim.poke(self.control.araddr, address.into());
        let mut addressed = false;
        for _ in 0..ANSWER {
            self.sim.poke(self.control.arvalid, !addressed as u64);
            self.cycle();
            addressed |= self.seen.arready;
            if self.seen.rvalid {
                self.sim.poke(self.control.arvalid, 0);
                return Ok(self.seen.rdata);
            }
        }
        Err(format!("s_axi_control does not answer a read of 0x{address:x}"))
    }

    /// Whether the interrupt came before the watchdog.
    fn wait_interrupt(&mut self, job: &Job) -> bool {
        for cycle in 0..job.watchdog {
            self.cycle();
            if cycle % 256 == 0 {
                job.reporter.progress(Progress::Cycle(cycle));
            }
            if self.seen.interrupt {
                return true;
            }
        }
        false
    }

    /// The contents of the memories, by run and array.
    ///
    /// # Errors
    /// The waveform could not be written.
    pub fn finish(self, job: &Job) -> Result<Vec<Vec<Vec<u8>>>, String> {
        if let Some(wave) = self.wave {
            wave.finish()?;
        }
        Ok(job.by_array(self.memories.into_iter().map(AxiMemory::into_bytes).collect()))
    }
}
