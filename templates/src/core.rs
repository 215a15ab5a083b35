//! A core: the hardware that computes one kernel, without registers and AXI ports of the IP.
//!
//! ```text
//! AXI ─► reader ─ld─► feeders ─► PEs ─► collectors ─rd─► writer ─► AXI
//!         ▲  │                    ▲                       ▲  │
//!  release│  │loaded              │waves           emitted│  │drained
//!         │  ▼                    │                       │  ▼
//!         └─────────────────── sequencer ───────────────────┘
//! ```
//! The sequencer launches waves. The pulses between it and the engines are credits: a load is there, a buffer half is
//! free.
//!
//! A core is a part of the module around it, not a module of its own: [`Core::engines`] and then [`Core::connect`]
//! instantiate it there. The caller connects the [`Inputs`] and, for each engine, the AXI signals and the error report.

use crate::array::bands::ARRAY;
use crate::array::{Array, ArrayPorts};
use crate::axi::bundle::{AxiRead, AxiWrite};
use crate::axi::elastic::{at_start, hold};
use crate::axi::on_chip::OnChip;
use crate::axi::reader::{AxiReader, ReaderParams, ReaderPorts};
use crate::axi::station::{self, Route, StationPorts};
use crate::axi::writer::{AxiWriter, WriterParams, WriterPorts};
use crate::axi::{EnginePorts, Guard};
use crate::cases::{among, table};
use crate::control::sequencer::{Counted, DrainPorts, LoadPorts, Sequencer, SequencerPorts};
use crate::naming;
use crate::port::Port;
use array::contract::handover::{drained_delay, emitted_delay, release_delay, swept};
use array::contract::overlap::{by_delay, input_sets, output_sets, BufferSet, Stage, MOST_RUNS};
use array::contract::program;
use array::contract::program::Register;
use array::contract::steps::Owned;
use array::contract::timing::{drain_latency, written_to_done};
use array::contract::walk::Walk;
use array::vsa::Vsa;
use rtl::{clog2, u, Design, Instance, ModuleBuilder, ModuleName, Sig, Ty};
use uniform::sizes::Formula;

#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    /// By AXI port.
    pub readers: Vec<(usize, ReaderParams)>,
    pub writers: Vec<(usize, WriterParams)>,
    /// On-chip memories, by the port that leads to them.
    pub memories: Vec<(usize, OnChip)>,
    /// Ways to memories on other dies, by port, and whether they lead up.
    pub routes: Vec<(usize, bool, Route)>,
    pub sequencer: Sequencer,
    pub array: Array,
    /// Program registers, each number once.
    pub program: Vec<Register>,
    /// Formulas of the parameters of the sequencer.
    pub parameters: Vec<Formula>,
    /// By input group: cycles from the launch of the last wave that uses a load to the `release` of its buffer half.
    pub release: Vec<u32>,
    /// By output group: cycles from the launch of the last wave that fills a buffer to `emitted`.
    pub emitted: Vec<u32>,
    /// By output group: cycles from the last token of a drain to `drained` at the sequencer.
    pub drained: Vec<u32>,
    /// Cycles from the launch of the last wave until the array is empty, if the stores may end before that.
    pub swept: Option<u32>,
    /// What the end of a run waits for meets in a register.
    pub late: bool,
    /// Cycles that flush all registers without reset.
    pub flush: u64,
    pub address_bits: u32,
    /// Runs overlap.
    pub overlaps: bool,
}

/// Inputs of a core. What follows from the command may differ between stages if runs overlap.
pub struct Inputs<'a, 'm> {
    pub guard: Guard<Sig<'m>>,
    /// Pulses, by stage.
    pub starts: [Sig<'m>; 3],
    /// Byte address of the array with this index, or of that of the function that runs.
    pub base: &'a dyn Fn(Stage, &[Owned]) -> Option<Sig<'m>>,
    /// Length in bytes of the same array, if the host gives lengths.
    pub length: &'a dyn Fn(Stage, &[Owned]) -> Option<Sig<'m>>,
    /// Value of the program register with this index; of the number of a function, in the cycle before the pulse.
    pub program: &'a dyn Fn(Stage, usize) -> Option<Sig<'m>>,
    /// Name and value of the scalar with this index, for waves.
    pub scalar: &'a dyn Fn(u32) -> Option<(&'a str, Sig<'m>)>,
    /// If runs overlap.
    pub under_way: Option<UnderWay<Sig<'m>>>,
}

/// The runs that are under way.
#[derive(Clone, Copy)]
pub struct UnderWay<S> {
    /// It is one.
    pub one: S,
    /// The function of the oldest one, if there are several functions.
    pub oldest: Option<S>,
}

/// What a core tells.
pub struct Outcome<'m> {
    /// Pulse: the oldest run is over.
    pub done: Sig<'m>,
    /// By stage: the next run may start, a cycle late. Only if runs overlap.
    pub free: Option<[Sig<'m>; 3]>,
}

/// A DMA engine: instance, its AXI port, its interface.
pub struct Engine<'m, P> {
    pub port: usize,
    pub instance: Instance<'m>,
    pub ports: P,
}

/// The engines of a core.
pub struct Engines<'m> {
    pub readers: Vec<Engine<'m, ReaderPorts>>,
    pub writers: Vec<Engine<'m, WriterPorts>>,
    /// The last stations on the ways to memories on other dies.
    stations: Vec<Engine<'m, StationPorts>>,
    /// Number of AXI ports of the IP. Ports with higher numbers lead to on-chip memories.
    axi_ports: usize,
}

/// The error report of a DMA engine.
pub struct Reporter<'a, 'm> {
    pub port: usize,
    pub instance: Instance<'m>,
    pub ports: &'a EnginePorts,
}

impl<'m> Engines<'m> {
    /// All readers, all writers.
    fn all(&self) -> [Vec<Reporter<'_, 'm>>; 2] {
        let readers = self.readers.iter().map(|e| (e.port, e.instance, &e.ports.engine));
        let writers = self.writers.iter().map(|e| (e.port, e.instance, &e.ports.engine));
        let report = |(port, instance, ports)| Reporter { port, instance, ports };
        [readers.map(report).collect(), writers.map(report).collect()]
    }
    /// Reports of the readers and of the writers at ports of the IP.
    pub fn reports(&self) -> [Vec<Reporter<'_, 'm>>; 2] {
        self.all().map(|all| all.into_iter().filter(|e| e.port < self.axi_ports).collect())
    }
    /// No burst is open, neither on the ports of the IP nor on chip.
    pub fn quiet(&self, m: &'m ModuleBuilder) -> Sig<'m> {
        m.all(&self.quiet_at(&|_| true))
    }
    /// Per engine at one of these ports: no burst is open.
    fn quiet_at(&self, port: &dyn Fn(usize) -> bool) -> Vec<Sig<'m>> {
        let engines = self.all().into_iter().flatten().filter(|e| port(e.port));
        engines.map(|e| e.ports.report.quiet.out(e.instance)).collect()
    }
    /// What reads at an AXI port, and its bus: the reader, or the last station on its way.
    pub fn read(&self, port: usize) -> Option<(Instance<'m>, &AxiRead<Port>)> {
        let last = self.stations.iter().find(|s| s.port == port);
        let last = last.and_then(|s| Some((s.instance, s.ports.read.as_ref()?)));
        last.or_else(|| self.readers.iter().find(|e| e.port == port).map(|e| (e.instance, &e.ports.bus)))
    }
    /// What writes at an AXI port, and its bus: the writer, or the last station on its way.
    pub fn write(&self, port: usize) -> Option<(Instance<'m>, &AxiWrite<Port>)> {
        let last = self.stations.iter().find(|s| s.port == port);
        let last = last.and_then(|s| Some((s.instance, s.ports.write.as_ref()?)));
        last.or_else(|| self.writers.iter().find(|e| e.port == port).map(|e| (e.instance, &e.ports.bus)))
    }
}

impl Core {
    /// # Errors
    /// The schedule leaves a value too little time.
    pub fn new(vsa: &Vsa, overlaps: bool) -> Result<Core, String> {
        let mut readers: Vec<_> = (0..vsa.ports()).filter_map(|p| Some((p, ReaderParams::from_vsa(vsa, p)?))).collect();
        let mut writers: Vec<_> = (0..vsa.ports())
            .filter_map(|p| Some((p, WriterParams::from_vsa(vsa, p, drain_latency(vsa, p) as u32)?)))
            .collect();
        if overlaps {
            let [inputs, outputs] = [input_sets(vsa, true), output_sets(vsa, true)];
            readers.iter_mut().for_each(|(_, p)| p.sets = in_walk(&inputs, &p.walk));
            writers.iter_mut().for_each(|(_, p)| p.sets = in_walk(&outputs, &p.walk));
        }
        let memory = |p: usize| {
            Some((p, OnChip::from_vsa(vsa, p, readers.iter().any(|r| r.0 == p), writers.iter().any(|w| w.0 == p))?))
        };
        let memories = (0..vsa.ports()).filter_map(memory).collect();
        let route = |p: usize| {
            let [reads, writes] = [readers.iter().any(|r| r.0 == p), writers.iter().any(|w| w.0 == p)];
            Some((p, vsa.away[p] > 0, Route::from_vsa(vsa, p, reads, writes)?))
        };
        let routes = (0..vsa.away.len()).filter_map(route).collect();
        let array = Array::new(vsa, &readers, &writers)?;
        let release: Vec<i64> = (0..vsa.inputs.len()).map(|g| release_delay(vsa, g)).collect();
        let of_outputs = |delay: fn(&Vsa, usize) -> i64| (0..vsa.outputs.len()).map(|o| delay(vsa, o)).collect();
        let (emitted, drained): (Vec<i64>, Vec<i64>) = (of_outputs(emitted_delay), of_outputs(drained_delay));
        let across = vsa.schedule.way(vsa.extent) + vsa.extent[0] + vsa.extent[1];
        let pulses = release.iter().chain(&emitted).chain(&drained).max().copied().unwrap_or(0);
        let flush = across + pulses + vsa.schedule.ready.iter().max().copied().unwrap_or(0) + 16;
        let sequencer = Sequencer::new(vsa, array.fields.iter().map(|f| f.0.clone()).collect(), overlaps);
        let cycles = |delays: Vec<i64>| delays.into_iter().map(|d| d as u32).collect();
        Ok(Core {
            readers,
            writers,
            memories,
            routes,
            sequencer,
            array,
            program: program::of(vsa),
            parameters: vsa.counters[..vsa.parameters()].iter().map(|c| c.last.clone()).collect(),
            release: cycles(release),
            emitted: cycles(emitted),
            drained: cycles(drained),
            swept: swept(vsa).map(|d| d as u32),
            late: written_to_done(vsa) > 0,
            flush: flush as u64,
            address_bits: vsa.address_bits,
            overlaps,
        })
    }

    /// The port is a port of the IP.
    pub fn is_outside(&self, port: usize) -> bool {
        self.memories.iter().all(|m| m.0 != port)
    }

    /// Instantiates the engines and the on-chip memories.
    pub fn engines<'m>(&self, m: &'m ModuleBuilder, d: &mut Design, inputs: &Inputs<'_, 'm>) -> Engines<'m> {
        let axi_ports = self.memories.iter().map(|m| m.0).min().unwrap_or(usize::MAX);
        let mut engines = Engines { readers: vec![], writers: vec![], stations: vec![], axi_ports };
        let mut ports: Vec<usize> = self.readers.iter().map(|r| r.0).chain(self.writers.iter().map(|w| w.0)).collect();
        ports.sort_unstable();
        ports.dedup();
        for port in ports {
            for (_, params) in self.readers.iter().filter(|r| r.0 == port) {
                let (module, ports) = (d.module(AxiReader(params.clone())), params.ports());
                let engine = (Stage::Reads, &ports.engine, &params.program[..]);
                let instance = self.engine(m, d, (format!("reader{port}"), port), &module, engine, inputs);
                engines.readers.push(Engine { port, instance, ports });
            }
            for (_, params) in self.writers.iter().filter(|w| w.0 == port) {
                let (module, ports) = (d.module(AxiWriter(params.clone())), params.ports());
                let engine = (Stage::Writes, &ports.engine, &params.program[..]);
                let instance = self.engine(m, d, (format!("writer{port}"), port), &module, engine, inputs);
                engines.writers.push(Engine { port, instance, ports });
            }
        }
        for (port, template) in &self.memories {
            let module = d.module(template.clone());
            let memory = m.instance(d, naming::memory(*port), &module);
            // Bursts that are open at a soft reset are completed first.
            let rst = m.all(&[&[inputs.guard.rst], &engines.quiet_at(&|p| p == *port)[..]].concat());
            template.ports().rst.set(memory, rst);
            template.connect(memory, engines.read(*port), engines.write(*port));
        }
        for (port, up, route) in &self.routes {
            let name = |place: u32| station::instance(*port, *up, place);
            let ends = (engines.read(*port), engines.write(*port));
            let (instance, ports) = route.build(m, d, name, inputs.guard.live, ends);
            engines.stations.push(Engine { port: *port, instance, ports });
        }
        engines
    }

    fn engine<'m>(
        &self,
        m: &'m ModuleBuilder,
        d: &Design,
        (name, port): (String, usize),
        module: &ModuleName,
        (stage, ports, registers): (Stage, &EnginePorts, &[Register]),
        inputs: &Inputs<'_, 'm>,
    ) -> Instance<'m> {
        let instance = m.instance(d, name, module);
        ports.guard.rst.set(instance, inputs.guard.rst);
        ports.guard.live.set(instance, inputs.guard.live);
        ports.start.set(instance, inputs.starts[stage as usize]);
        for (arrays, base) in &ports.bases {
            // Without an address the input stays undriven, which the netlist check reports.
            let address = if self.is_outside(port) { (inputs.base)(stage, arrays) } else { Some(m.lit(0, base.ty)) };
            address.iter().for_each(|address| base.set(instance, *address));
        }
        for (arrays, port) in &ports.lengths {
            (inputs.length)(stage, arrays).iter().for_each(|length| port.set(instance, *length));
        }
        for (register, port) in registers.iter().zip(&ports.program) {
            let value = self.formula(m, (stage, &register.formula), inputs, port.ty);
            value.iter().for_each(|value| port.set(instance, *value));
        }
        instance
    }

    /// Value of a formula in a stage: a constant or a program register.
    fn formula<'m>(
        &self,
        m: &'m ModuleBuilder,
        (stage, formula): (Stage, &Formula),
        inputs: &Inputs<'_, 'm>,
        ty: Ty,
    ) -> Option<Sig<'m>> {
        match formula {
            Formula::Const(value) => Some(m.lit(*value, ty)),
            // Without a register the input stays undriven, which the netlist check reports.
            _ => self
                .program
                .iter()
                .position(|r| r.formula == *formula)
                .and_then(|n| (inputs.program)(stage, n))
                .map(|value| value.to(ty)),
        }
    }

    /// Instantiates sequencer and array and connects them to the engines.
    pub fn connect<'m>(
        &self,
        m: &'m ModuleBuilder,
        d: &mut Design,
        engines: &Engines<'m>,
        inputs: &Inputs<'_, 'm>,
    ) -> Outcome<'m> {
        let start = inputs.starts[Stage::Waves as usize];
        let module = d.module(self.sequencer.clone());
        let sequencer = m.instance(d, "sequencer", &module);
        let ports = self.sequencer.ports();
        ports.rst.set(sequencer, inputs.guard.rst);
        ports.start.set(sequencer, start);
        for (formula, port) in self.parameters.iter().zip(&ports.parameters) {
            let value = self.formula(m, (Stage::Waves, formula), inputs, port.ty);
            value.iter().for_each(|value| port.set(sequencer, *value));
        }
        for (register, port) in self.sequencer.waits.iter().zip(&ports.waits) {
            let value = self.formula(m, (Stage::Waves, &register.formula), inputs, port.ty);
            value.iter().for_each(|value| port.set(sequencer, *value));
        }
        // If runs overlap, no groups have one client.
        let function = ports.parameters.first().filter(|_| self.sequencer.functions > 0 && !self.overlaps);
        let function = function.and_then(|port| self.formula(m, (Stage::Waves, &self.parameters[0]), inputs, port.ty));
        let function = function.map(|before| hold(m, "function", start, at_start(m, "function", before)));
        self.connect_credits(m, (sequencer, &ports), engines, function);
        let still = self.swept.zip(ports.last.as_ref()).map(|(after, last)| {
            let swept = m.delay(last.out(sequencer), after - 1, "last_d");
            let still = m.reg("still", u(1)).rst(inputs.guard.rst, 0);
            // If runs overlap, a pulse.
            let stays = || m.select(&[(start, m.lit(0, u(1))), (swept, m.lit(1, u(1)))], still.q());
            still.next(if self.overlaps { swept } else { stays() }).q()
        });
        let module = d.module(self.array.clone());
        let array = m.instance(d, ARRAY, &module);
        let to = self.array.ports();
        connect_waves((array, &to), (sequencer, &ports));
        for (scalar, port) in &to.scalars {
            let Some((name, value)) = (inputs.scalar)(*scalar) else { continue };
            // Constant during a run, even if the host writes the register meanwhile.
            port.set(array, m.reg(name, port.ty).next(value.to(port.ty)).en(start).q());
        }
        self.connect_slots((array, &to), (sequencer, &ports));
        for (engine, loading) in engines.readers.iter().zip(&to.inputs) {
            let fields = loading.stream.fields().into_iter().zip(engine.ports.loads.fields());
            fields.for_each(|(to, from)| to.set(array, from.out(engine.instance)));
        }
        for (engine, draining) in engines.writers.iter().zip(&to.outputs) {
            let fields = draining.tokens.fields().into_iter().zip(engine.ports.tokens.fields());
            fields.for_each(|(to, from)| to.set(array, from.out(engine.instance)));
            engine.ports.answer.valid.set(engine.instance, draining.answer.valid.out(array));
            engine.ports.answer.data.set(engine.instance, draining.answer.data.out(array));
        }
        let settled = ports.settled.as_ref().map(|port| port.out(sequencer));
        match &inputs.under_way {
            None => Outcome { done: self.done(m, engines, inputs, (still, settled)), free: None },
            Some(under_way) => {
                let done = self.oldest_done(m, engines, (inputs, under_way), (still, settled));
                Outcome {
                    done,
                    free: Some(self.free(m, engines, inputs, ports.free.as_ref().map(|p| p.out(sequencer)))),
                }
            }
        }
    }

    /// By stage: the next run may start, a cycle late.
    fn free<'m>(
        &self,
        m: &'m ModuleBuilder,
        engines: &Engines<'m>,
        inputs: &Inputs<'_, 'm>,
        waves: Option<Sig<'m>>,
    ) -> [Sig<'m>; 3] {
        let all = |of: &[Reporter<'_, 'm>]| {
            let free = of.iter().filter_map(|e| Some(e.ports.free.as_ref()?.out(e.instance)));
            m.all(&free.chain([m.lit(1, u(1))]).collect::<Vec<_>>())
        };
        let [readers, writers] = engines.all();
        let now = waves.unwrap_or(m.lit(1, u(1))) & !inputs.starts[Stage::Waves as usize];
        let waves = m.reg("waves_free", u(1)).next(now).rst(inputs.guard.rst, 1).q();
        [all(&readers), waves, all(&writers)]
    }

    /// Pulse: the oldest of several runs is over. What its ends are counted by, each comes once in a run and in the order of
    /// the runs: the last store of each writer that it has drains for, and the last wave if that matters.
    fn oldest_done<'m>(
        &self,
        m: &'m ModuleBuilder,
        engines: &Engines<'m>,
        (inputs, under_way): (&Inputs<'_, 'm>, &UnderWay<Sig<'m>>),
        (still, settled): (Option<Sig<'m>>, Option<Sig<'m>>),
    ) -> Sig<'m> {
        let done = m.wire("oldest_done", u(1));
        let ends = |name: String, pulse: Sig<'m>, needed: Sig<'m>| {
            let count = m.reg(name, u(clog2(MOST_RUNS as u64 + 1))).rst(inputs.guard.rst, 0);
            let takes = done.sig() & needed;
            count.next(m.mux(pulse, count.q().add_lit(1), count.q().sub_lit(1))).en(pulse ^ takes);
            !needed | pulse | count.q().reduce_or()
        };
        let needed = |params: &WriterParams| match (params.walk.merged(), under_way.oldest) {
            (Some(functions), Some(oldest)) => {
                let services = params.walk.services();
                let some = |f: usize| i64::from(services.in_function(f).least_value() > 0);
                table(m, oldest, &(0..functions).map(some).collect::<Vec<_>>(), u(1))
            }
            _ => m.lit(1, u(1)),
        };
        let writers = engines.writers.iter().zip(&self.writers);
        let writers = writers.map(|(w, (port, params))| {
            ends(format!("ends_writer{port}"), w.ports.done.out(w.instance), needed(params))
        });
        let mut all: Vec<Sig<'m>> = writers.collect();
        all.extend(still.map(|pulse| ends("ends_waves".into(), pulse, m.lit(1, u(1)))));
        // A run by itself ends when nothing of it is left.
        let idle = engines.all().into_iter().flatten();
        let idle = idle.filter_map(|e| Some(e.ports.idle.as_ref()?.out(e.instance))).chain(settled);
        let idle: Vec<Sig<'m>> = idle.collect();
        if !idle.is_empty() {
            all.push(!under_way.one | m.all(&idle));
        }
        done.drive(m.all(&all));
        done.sig()
    }

    /// Credits between sequencer and engines.
    fn connect_credits<'m>(
        &self,
        m: &'m ModuleBuilder,
        (sequencer, ports): (Instance<'m>, &SequencerPorts),
        engines: &Engines<'m>,
        function: Option<Sig<'m>>,
    ) {
        // The pulses of a set to an engine, those of each delay.
        let pulse = |of: &Counted, ports: &[Port], name: &str, delay: &[u32]| {
            let late = of.pulses.iter().zip(ports).map(|(groups, port)| {
                let g = groups[0];
                m.delay(port.out(sequencer), delay[g], format!("{name}{g}_d"))
            });
            m.any(&late.collect::<Vec<_>>())
        };
        for (reader, (_, params)) in engines.readers.iter().zip(&self.readers) {
            for (k, set) in params.counted().into_iter().enumerate() {
                let (of, load) = self.loads(ports, params.walk.groups[set.groups[0]].group);
                load.loaded.set(sequencer, reader.ports.loaded[k].out(reader.instance));
                reader.ports.release[k].set(reader.instance, pulse(of, &load.release, "release", &self.release));
            }
        }
        for (writer, (_, params)) in engines.writers.iter().zip(&self.writers) {
            let clients = params.clients();
            let groups = |all: &[usize]| all.iter().map(|g| params.walk.groups[*g].group).collect::<Vec<_>>();
            for (k, set) in params.counted().into_iter().enumerate() {
                let (of, drain) = self.drains(ports, params.walk.groups[set.groups[0]].group);
                // Each client is of one set.
                let mine =
                    clients.iter().zip(&writer.ports.drained).filter(|(client, _)| set.groups.contains(&client[0]));
                let late =
                    mine.map(|(client, port)| self.drained(m, &groups(client), port.out(writer.instance), function));
                drain.drained.set(sequencer, m.any(&late.collect::<Vec<_>>()));
                writer.ports.emitted[k].set(writer.instance, pulse(of, &drain.emitted, "emitted", &self.emitted));
            }
            for (client, written) in clients.iter().zip(&writer.ports.written) {
                let outputs = groups(client);
                for reader in &engines.readers {
                    let waiting = reader.ports.written.iter().filter(|w| outputs.contains(&w.0));
                    waiting.for_each(|(_, port)| port.set(reader.instance, written.out(writer.instance)));
                }
            }
        }
    }

    /// The end of a drain of a client's group, at the sequencer: the function tells the group, and so when.
    fn drained<'m>(
        &self,
        m: &'m ModuleBuilder,
        client: &[usize],
        pulse: Sig<'m>,
        function: Option<Sig<'m>>,
    ) -> Sig<'m> {
        let all = by_delay(client, |o| i64::from(self.drained[o]));
        let late = |groups: &Vec<usize>| m.delay(pulse, self.drained[groups[0]], format!("drained{}_d", groups[0]));
        let late: Vec<Sig<'m>> = all.iter().map(late).collect();
        let Some(function) = function.filter(|_| late.len() > 1) else { return late[0] };
        let runs = |groups: &Vec<usize>| {
            let functions: Vec<usize> =
                groups.iter().flat_map(|o| self.sequencer.drains[*o].emit.functions.clone()).collect();
            among(m, function, self.sequencer.functions, &functions)
        };
        m.any(&late.into_iter().zip(&all).map(|(pulse, groups)| pulse & runs(groups)).collect::<Vec<_>>())
    }

    /// The buffer halves of a wave: sequencer to array.
    fn connect_slots<'m>(
        &self,
        (array, to): (Instance<'m>, &ArrayPorts),
        (sequencer, from): (Instance<'m>, &SequencerPorts),
    ) {
        let mut reads: Vec<&(usize, Port)> = to.inputs.iter().flat_map(|l| &l.slots).collect();
        reads.sort_by_key(|s| s.0);
        reads.iter().for_each(|(g, port)| port.set(array, self.loads(from, *g).1.slot.out(sequencer)));
        let mut fills: Vec<&(usize, Port)> = to.outputs.iter().flat_map(|l| &l.slots).collect();
        fills.sort_by_key(|s| s.0);
        for (o, port) in fills {
            self.drains(from, *o).1.slot.iter().for_each(|slot| port.set(array, slot.out(sequencer)));
        }
    }

    /// What the sequencer has for a group.
    fn loads<'a>(&'a self, ports: &'a SequencerPorts, group: usize) -> (&'a Counted, &'a LoadPorts) {
        let place = counted_with(&self.sequencer.inputs, group);
        (&self.sequencer.inputs[place], &ports.loads[place])
    }

    fn drains<'a>(&'a self, ports: &'a SequencerPorts, group: usize) -> (&'a Counted, &'a DrainPorts) {
        let place = counted_with(&self.sequencer.outputs, group);
        (&self.sequencer.outputs[place], &ports.drains[place])
    }

    /// Pulse: every writer is done, and nothing of the run is left elsewhere if that matters.
    fn done<'m>(
        &self,
        m: &'m ModuleBuilder,
        engines: &Engines<'m>,
        inputs: &Inputs<'_, 'm>,
        (still, settled): (Option<Sig<'m>>, Option<Sig<'m>>),
    ) -> Sig<'m> {
        let idle = engines.all().into_iter().flatten();
        let idle = idle.filter_map(|e| Some(e.ports.idle.as_ref()?.out(e.instance)));
        let rest = still.into_iter().chain(settled).chain(idle);
        let running = m.reg("running", u(1)).rst(inputs.guard.rst, 0);
        let all: Vec<Sig<'m>> = engines.writers.iter().map(|w| w.ports.done.out(w.instance)).chain(rest).collect();
        let over = running.q() & m.all(&all);
        let done = match self.late {
            true => {
                let ended = m.reg("ended", u(1)).rst(inputs.guard.rst, 0);
                ended.next(over & !ended.q()).q()
            }
            false => over,
        };
        running.next(m.select(&[(inputs.starts[0], m.lit(1, u(1))), (done, m.lit(0, u(1)))], running.q()));
        done
    }
}

/// The sets of buffers whose groups are in a walk, by their places there.
fn in_walk(sets: &[BufferSet], walk: &Walk) -> Vec<BufferSet> {
    let place = |g: &usize| walk.groups.iter().position(|of| of.group == *g);
    let of_walk = |set: &BufferSet| BufferSet { groups: set.groups.iter().filter_map(place).collect(), ..*set };
    sets.iter().map(of_walk).filter(|set| !set.groups.is_empty()).collect()
}

/// Waves and their fields: sequencer to array.
fn connect_waves<'m>((array, to): (Instance<'m>, &ArrayPorts), (sequencer, from): (Instance<'m>, &SequencerPorts)) {
    to.valid.set(array, from.valid.out(sequencer));
    to.fields.iter().zip(&from.fields).for_each(|(to, from)| to.set(array, from.out(sequencer)));
}

/// The place of the set that has a group.
fn counted_with(all: &[Counted], group: usize) -> usize {
    all.iter().position(|of| of.set.groups.contains(&group)).unwrap_or(0)
}
