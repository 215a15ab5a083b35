//! Several functions or several cores behind one set of registers and AXI ports. Each core is a module of its own.
//!
//! One function runs at a time. Its core owns the AXI ports until another function starts, so there is no arbiter, and
//! the multiplexers of the ports add no cycle. The choice survives a soft reset: bursts that are open then are answered
//! to the core that opened them.

use crate::axi::bundle::{AxiRead, AxiWrite, Bus};
use crate::axi::control::ControlPorts;
use crate::axi::elastic::at_start;
use crate::axi::program;
use crate::axi::status::Fault;
use crate::axi::Guard;
use crate::core::{Core, Inputs, UnderWay};
use crate::faults::{faults, first_fault};
use crate::interface::{AxiPort, Function, Interface, Passed};
use crate::naming;
use crate::port::{pass, Port};
use array::contract::overlap::Stage;
use array::contract::program::Register;
use array::contract::steps::Owned;
use rtl::{clog2, u, Design, Instance, ModuleBuilder, Sig, Template, Ty};
use std::collections::BTreeMap;

/// A core as a module.
#[derive(Clone, Debug, PartialEq)]
struct CoreModule {
    core: Core,
    /// Number of the port of the IP for each AXI port of the core, for the status register.
    numbers: BTreeMap<usize, usize>,
    /// Bits of the number of a function, if runs of several overlap.
    oldest: Option<u32>,
}

/// The interface of a [`CoreModule`].
struct CorePorts {
    guard: Guard<Port>,
    /// By stage, or for all; the same holds of what follows from the command.
    starts: Vec<Port>,
    /// Pulse.
    done: Port,
    /// No burst is open.
    quiet: Port,
    /// If runs overlap.
    under_way: Option<UnderWay<Port>>,
    free: Option<[Port; 3]>,
    /// By array that the engines move, or by those of which a run moves one.
    bases: Vec<(usize, Vec<Owned>, Port)>,
    /// The same, if the host gives lengths.
    lengths: Vec<(usize, Vec<Owned>, Port)>,
    /// By scalar that the array uses.
    scalars: Vec<(u32, Port)>,
    /// By program register.
    program: Vec<Vec<Port>>,
    /// By AXI port.
    reads: Vec<(usize, AxiRead<Port>)>,
    writes: Vec<(usize, AxiWrite<Port>)>,
    fault: Fault<Port>,
}

impl CoreModule {
    fn ports(&self) -> CorePorts {
        let Core { array, .. } = &self.core;
        let readers = || self.core.readers.iter().filter(|r| self.core.is_outside(r.0));
        let writers = || self.core.writers.iter().filter(|w| self.core.is_outside(w.0));
        let view = |stage: Stage| if self.core.overlaps { stage as usize } else { 0 };
        let of = |view: usize| if view > 0 { format!("_{}", Stage::ALL[view].name()) } else { String::new() };
        let [reads, writes] = [Stage::Reads, Stage::Writes].map(view);
        let of_readers = readers().flat_map(|r| r.1.walk.bases()).map(|all| (reads, all));
        let of_writers = writers().flat_map(|w| w.1.walk.bases()).map(|all| (writes, all));
        let mut bases: Vec<(usize, Vec<Owned>)> = of_readers.chain(of_writers).collect();
        bases.sort_by_key(|(view, all)| (*view, all.iter().map(|a| a.1).collect::<Vec<_>>()));
        bases.dedup();
        // One array gives the port its number.
        let number = |n: usize, all: &[Owned]| if let [(None, array)] = all[..] { array } else { n };
        let base = |(n, (view, all)): (usize, (usize, Vec<Owned>))| {
            let port = Port::new(format!("base_{}{}", number(n, &all), of(view)), u(self.core.address_bits));
            (view, all, port)
        };
        let of_readers = readers().flat_map(|r| r.1.walk.lengths()).map(|all| (reads, all));
        let of_writers = writers().flat_map(|w| w.1.walk.lengths()).map(|all| (writes, all));
        let mut lengths: Vec<(usize, (Vec<Owned>, u32))> = of_readers.chain(of_writers).collect();
        lengths.sort_by_key(|(view, (all, _))| (*view, all.iter().map(|a| a.1).collect::<Vec<_>>()));
        lengths.dedup();
        let length = |(n, (view, (all, bits))): (usize, (usize, (Vec<Owned>, u32)))| {
            let port = Port::new(format!("length_{}{}", number(n, &all), of(view)), u(bits));
            (view, all, port)
        };
        let program = |view: usize| {
            let named = |port: Port| Port { name: port.name + &of(view), ..port };
            program::ports(&self.core.program).into_iter().map(named).collect()
        };
        let views = if self.core.overlaps { 3 } else { 1 };
        let prefix = |port: usize| format!("m_axi_{port}_");
        CorePorts {
            guard: Guard::ports(),
            starts: (0..views).map(|view| Port::bit(format!("start{}", of(view)))).collect(),
            done: Port::bit("done"),
            quiet: Port::bit("quiet"),
            under_way: self.core.overlaps.then(|| UnderWay {
                one: Port::bit("one_runs"),
                oldest: self.oldest.map(|bits| Port::new("oldest", u(bits))),
            }),
            free: self.core.overlaps.then(|| Stage::ALL.map(|stage| Port::bit(format!("free_{}", stage.name())))),
            bases: bases.into_iter().enumerate().map(base).collect(),
            lengths: lengths.into_iter().enumerate().map(length).collect(),
            scalars: array
                .ports()
                .scalars
                .into_iter()
                .map(|(k, port)| (k, Port::new(format!("scalar_{k}"), port.ty)))
                .collect(),
            program: (0..views).map(program).collect(),
            reads: readers().map(|(p, params)| (*p, AxiRead::ports(&prefix(*p), Bus::of(&params.walk)))).collect(),
            writes: writers().map(|(p, params)| (*p, AxiWrite::ports(&prefix(*p), Bus::of(&params.walk)))).collect(),
            fault: Fault::ports(),
        }
    }
}

impl Template for CoreModule {
    fn name(&self) -> String {
        "core".into()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, d: &mut Design) {
        m.doc("Sequencer, array and AXI engines of what one function, or several, run on.");
        let ports = self.ports();
        let CorePorts { guard, starts, bases, lengths, scalars, program, .. } = &ports;
        let guard = guard.map(|port| port.input(m));
        let starts: Vec<Sig<'m>> = starts.iter().map(|port| port.input(m)).collect();
        let view = |stage: Stage| if starts.len() > 1 { stage as usize } else { 0 };
        let inputs = |ports: &[(usize, Vec<Owned>, Port)]| -> Vec<(usize, Vec<Owned>, Sig<'m>)> {
            ports.iter().map(|(view, all, port)| (*view, all.clone(), port.input(m))).collect()
        };
        let (bases, lengths) = (inputs(bases), inputs(lengths));
        let find = |all: &[(usize, Vec<Owned>, Sig<'m>)], stage: Stage, arrays: &[Owned]| {
            all.iter().find(|b| b.0 == view(stage) && b.1 == arrays).map(|b| b.2)
        };
        let scalars: Vec<(u32, String, Sig<'m>)> =
            scalars.iter().map(|(k, port)| (*k, format!("{}_q", port.name), port.input(m))).collect();
        let program: Vec<Vec<Sig<'m>>> =
            program.iter().map(|view| view.iter().map(|port| port.input(m)).collect()).collect();
        let under_way = ports
            .under_way
            .as_ref()
            .map(|u| UnderWay { one: u.one.input(m), oldest: u.oldest.as_ref().map(|port| port.input(m)) });
        let inputs = Inputs {
            guard,
            starts: Stage::ALL.map(|stage| starts[view(stage)]),
            program: &|stage, n| program[view(stage)].get(n).copied(),
            base: &|stage, arrays| find(&bases, stage, arrays),
            length: &|stage, arrays| find(&lengths, stage, arrays),
            under_way,
            scalar: &|scalar| scalars.iter().find(|s| s.0 == scalar).map(|(_, name, value)| (name.as_str(), *value)),
        };
        let engines = self.core.engines(m, d, &inputs);
        faults(m, &engines, &|port| self.numbers[&port], |field, value| field(&ports.fault).output(m, value));
        ports.quiet.output(m, engines.quiet(m));
        let outcome = self.core.connect(m, d, &engines, &inputs);
        ports.done.output(m, outcome.done);
        for (ports, free) in ports.free.iter().zip(outcome.free) {
            ports.iter().zip(free).for_each(|(port, free)| port.output(m, free));
        }
        for (port, bus) in &ports.reads {
            if let Some((reader, own)) = engines.read(*port) {
                pass(m, reader, [own.inputs(), bus.inputs()], [own.outputs(), bus.outputs()]);
            }
        }
        for (port, bus) in &ports.writes {
            if let Some((writer, own)) = engines.write(*port) {
                pass(m, writer, [own.inputs(), bus.inputs()], [own.outputs(), bus.outputs()]);
            }
        }
    }
}

/// An instance of a core; `chosen`: its function started last.
struct Member<'m> {
    instance: Instance<'m>,
    ports: CorePorts,
    chosen: Sig<'m>,
}

/// The control registers, as the cores see them.
struct Registers<'a, 'm> {
    m: &'m ModuleBuilder,
    functions: &'a [Function],
    /// By stage, or for all: number of the function that starts, if the IP has several. That of a merged array is a register:
    /// the command is there a cycle before the start.
    numbers: Vec<Option<Sig<'m>>>,
    /// The number in the cycle before.
    next: Vec<Option<Sig<'m>>>,
    control: Instance<'m>,
    to: &'a ControlPorts,
}

impl<'m> Registers<'_, 'm> {
    /// Function `f` starts in a stage.
    fn starts(&self, view: usize, f: usize) -> Sig<'m> {
        self.is(self.numbers[view], f)
    }

    fn is(&self, number: Option<Sig<'m>>, f: usize) -> Sig<'m> {
        number.map_or(self.m.lit(1, u(1)), |n| n.eq(self.m.lit(f as u64, n.ty())))
    }

    /// A value for a core, multiplexed over the functions that run on it; `index`: of the register of a
    /// function among all of its registers, with its offset and bits.
    fn value(
        &self,
        (view, core): (usize, usize),
        index: impl Fn(&Function) -> Option<(usize, [u32; 2])>,
    ) -> Option<Sig<'m>> {
        // By register: functions may have it in the same one.
        let mut cases: Vec<([u32; 2], Vec<Sig<'m>>, Sig<'m>)> = vec![];
        for (f, function) in self.functions.iter().enumerate().filter(|(_, f)| f.core == core) {
            // Of a merged array, not every function has it.
            let Some((k, register)) = index(function) else { continue };
            match cases.iter_mut().find(|c| c.0 == register && function.member.is_some()) {
                Some(known) => known.1.push(self.starts(view, f)),
                None => {
                    let argument = self.to.views[view].arguments[f][k].out(self.control);
                    cases.push((register, vec![self.starts(view, f)], argument));
                }
            }
        }
        let last = cases.pop()?.2;
        Some(self.m.select(&cases.into_iter().map(|c| (self.m.any(&c.1), c.2)).collect::<Vec<_>>(), last))
    }

    /// A program register of a core: of each function, what the host wrote, or the constant that it is. Those of a merged
    /// array are looked up in the cycle before the start, and there the core takes the number of its function.
    fn program(&self, (view, core): (usize, usize), (n, register): (usize, &Register), ty: Ty) -> Sig<'m> {
        let m = self.m;
        let mut cases = vec![];
        for (f, function) in self.functions.iter().enumerate().filter(|(_, f)| f.core == core) {
            let written = function.program.iter().position(|p| p.of_core == n);
            let value = match (written, function.member) {
                (Some(k), _) => self.to.views[view].arguments[f][function.arguments.len() + k].out(self.control).to(ty),
                (None, Some(member)) => m.lit_big(&[register.formula.in_function(member).least_value() as u64], ty),
                (None, None) => m.lit(0, ty),
            };
            cases.push((self.is(self.next[view], f), value));
        }
        let last = cases.pop().map_or(m.lit(0, ty), |case| case.1);
        let value = m.select(&cases, last);
        if register.is_function || !self.functions.iter().any(|f| f.core == core && f.member.is_some()) {
            return value;
        }
        let of = if view > 0 { format!("_{}", Stage::ALL[view].name()) } else { String::new() };
        at_start(m, &format!("core{core}_program_{n}{of}"), value)
    }

    /// Connects base addresses, lengths, scalars and program registers of a core.
    fn connect(&self, core: usize, numbers: &[Register], instance: Instance<'m>, ports: &CorePorts) {
        let argument = |view: usize, is: &dyn Fn(&Passed) -> bool| {
            self.value((view, core), |function| {
                let (k, a) = function.arguments.iter().enumerate().find(|(_, a)| is(&a.passed))?;
                Some((k, [a.offset, a.register_bits()]))
            })
        };
        for (view, all, port) in &ports.bases {
            let base = argument(*view, &|p| matches!(p, Passed::Address(a) if all.iter().any(|x| x.1 == a.index)));
            base.iter().for_each(|base| port.set(instance, *base));
        }
        for (view, all, port) in &ports.lengths {
            let value = self.value((*view, core), |function| {
                let length = all.iter().find_map(|x| function.length_of(x.1))?;
                Some((length.register, [length.offset, length.bits]))
            });
            value.iter().for_each(|value| port.set(instance, *value));
        }
        for (k, port) in &ports.scalars {
            let waves = if ports.starts.len() > 1 { Stage::Waves as usize } else { 0 };
            let value = argument(waves, &|p| *p == Passed::Value(*k as usize));
            value.iter().for_each(|value| port.set(instance, value.to(port.ty)));
        }
        for (view, all) in ports.program.iter().enumerate() {
            for (n, port) in all.iter().enumerate() {
                port.set(instance, self.program((view, core), (n, &numbers[n]), port.ty));
            }
        }
    }
}

/// Instantiates the cores and connects them to the registers and to the AXI ports of the IP. Returns: no burst is open.
pub(crate) fn connect<'m>(
    m: &'m ModuleBuilder,
    d: &mut Design,
    (cores, interface): (&[Core], &Interface),
    guard: Guard<Sig<'m>>,
    (control, to): (Instance<'m>, &ControlPorts),
) -> Sig<'m> {
    let starts: Vec<Sig<'m>> = to.starts.iter().map(|port| port.out(control)).collect();
    let start = starts[0];
    let next: Vec<Option<Sig<'m>>> =
        to.views.iter().map(|view| view.function.as_ref().map(|port| port.out(control))).collect();
    let merged = interface.functions.iter().any(|f| f.member.is_some());
    let number = |(view, next): (usize, &Option<Sig<'m>>)| {
        let name = if view > 0 { format!("function_{}_q", Stage::ALL[view].name()) } else { "function_q".into() };
        next.map(|n| if merged { m.reg(name, n.ty()).next(n).q() } else { n })
    };
    let numbers = next.iter().enumerate().map(number).collect();
    let registers = Registers { m, functions: &interface.functions, numbers, next, control, to };
    let ty = u(clog2(cores.len() as u64).max(1));
    let core_of = |(f, function): (usize, &Function)| (registers.starts(0, f), m.lit(function.core as u64, ty));
    let wanted = m.select(&interface.functions.iter().enumerate().map(core_of).collect::<Vec<_>>(), m.lit(0, ty));
    let chosen = m.reg("core_chosen", ty).next(wanted).en(start).init(0).q();
    let mut members = vec![];
    for (c, core) in cores.iter().enumerate() {
        let number = |(number, port): (usize, &AxiPort)| Some((port.cores[c]?, number));
        let oldest = to.overlap.as_ref().and_then(|overlap| Some(overlap.oldest.as_ref()?.ty.w));
        let numbers = interface.ports.iter().enumerate().filter_map(number).collect();
        let template = CoreModule { core: core.clone(), numbers, oldest };
        let ports = template.ports();
        let module = d.module(template);
        let instance = m.instance(d, naming::core(c), &module);
        ports.guard.rst.set(instance, guard.rst);
        ports.guard.live.set(instance, guard.live);
        for (port, start) in ports.starts.iter().zip(&starts) {
            port.set(instance, *start & wanted.eq(m.lit(c as u64, ty)));
        }
        if let (Some(overlap), Some(own), Some(free)) = (&to.overlap, &ports.under_way, &ports.free) {
            own.one.set(instance, overlap.one.out(control));
            own.oldest.iter().zip(&overlap.oldest).for_each(|(own, port)| own.set(instance, port.out(control)));
            free.iter().zip(&overlap.free).for_each(|(own, port)| port.set(control, own.out(instance)));
        }
        registers.connect(c, &core.program, instance, &ports);
        members.push(Member { instance, ports, chosen: chosen.eq(m.lit(c as u64, ty)) });
    }
    for port in &interface.ports {
        bus(m, port, &members);
    }
    let each =
        |of: &dyn Fn(&CorePorts) -> &Port| members.iter().map(|x| of(&x.ports).out(x.instance)).collect::<Vec<_>>();
    let found: Vec<_> =
        members.iter().map(|x| x.ports.fault.map(|port| port.out(x.instance))).map(|f| (f.any(), f)).collect();
    to.fault.read.set(control, m.any(&each(&|p| &p.fault.read)));
    to.fault.write.set(control, m.any(&each(&|p| &p.fault.write)));
    to.fault.outside.set(control, m.any(&each(&|p| &p.fault.outside)));
    first_fault(m, &found, &|field, value| field(&to.fault).set(control, value));
    to.done.set(control, m.any(&each(&|p| &p.done)));
    m.all(&each(&|p| &p.quiet))
}

/// An AXI port of the IP, multiplexed to the chosen core.
fn bus<'m>(m: &'m ModuleBuilder, port: &AxiPort, members: &[Member<'m>]) {
    let prefix = format!("{}_", port.name);
    let (read, write) = (AxiRead::ports(&prefix, Bus::at(port)), AxiWrite::ports(&prefix, Bus::at(port)));
    let here = || members.iter().zip(&port.cores).filter_map(|(x, port)| Some((x, (*port)?)));
    let reads: Vec<(&Member, &AxiRead<Port>)> =
        here().filter_map(|(x, port)| Some((x, &x.ports.reads.iter().find(|r| r.0 == port)?.1))).collect();
    let writes: Vec<(&Member, &AxiWrite<Port>)> =
        here().filter_map(|(x, port)| Some((x, &x.ports.writes.iter().find(|w| w.0 == port)?.1))).collect();
    let chosen = |x: &Member<'m>, value: Sig<'m>| if members.len() > 1 { value & x.chosen } else { value };
    let out = |port: &Port, from: Vec<(&Member<'m>, &Port)>| {
        let mut cases: Vec<_> = from.iter().map(|(x, own)| (x.chosen, own.out(x.instance))).collect();
        let last = match members.len() {
            1 => cases.pop().map(|c| c.1),
            _ => None,
        };
        port.output(m, m.select(&cases, last.unwrap_or(m.lit(0, port.ty))));
    };
    // Handshakes reach only the chosen core; payload may reach all.
    let take = |port: &Port, handshake: bool, to: Vec<(&Member<'m>, &Port)>| {
        let value = port.input(m);
        to.iter().for_each(|(x, own)| own.set(x.instance, if handshake { chosen(x, value) } else { value }));
    };
    [format!("{prefix}rid"), format!("{prefix}bid")].into_iter().for_each(|id| {
        Port::bit(id).input(m);
    });
    for (i, port) in read.inputs().into_iter().enumerate() {
        take(port, i < read.handshakes().len(), reads.iter().map(|(x, own)| (*x, own.inputs()[i])).collect());
    }
    for (i, port) in read.outputs().into_iter().enumerate() {
        out(port, reads.iter().map(|(x, own)| (*x, own.outputs()[i])).collect());
    }
    for (i, port) in write.inputs().into_iter().enumerate() {
        take(port, i < write.handshakes().len(), writes.iter().map(|(x, own)| (*x, own.inputs()[i])).collect());
    }
    for (i, port) in write.outputs().into_iter().enumerate() {
        out(port, writes.iter().map(|(x, own)| (*x, own.outputs()[i])).collect());
    }
}
