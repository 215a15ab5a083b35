//! `AxiLiteControl`: the register file through which a host starts runs and passes arguments. Vitis and XRT know the
//! protocol as `ap_ctrl_hs`.
//!
//! Register map, fields and side effects: [`crate::interface`]. Ports: [`ControlPorts`].
//!
//! The AXI4-Lite port accepts the address and the data of a write in any order and holds one of each. It executes one
//! read at a time.
//!
//! Timing: `start` in cycle `s` and `done` in cycle `d` leave `d - s` in the cycle counter. With auto-restart, or if
//! the queue holds another command, the next `start` comes 2 cycles after `done`. A run that the host requests through
//! AP_START goes before the commands in the queue.
//!
//! Resets: `rst` is the reset of the bus and clears all registers. The soft reset, a register, ends the run and empties
//! the queue; the other registers stay. In both, the registers answer at once, and a run waits until the core is
//! `ready`. The core's reset comes a cycle after the bus's: what the core reports in that cycle belongs to the run that
//! the reset has ended, so `done` and faults count only while the core is `ready`.

use super::bundle::AxiLite;
use super::command::{Beside, Command, Queue, Registers};
use super::elastic::hold;
use super::register::Write;
use super::status::{self, Events, Fault};
use crate::interface::layout::FUNCTION_BITS;
use crate::interface::{Layout, CTRL, GIER, IP_IER, IP_ISR};
use crate::port::Port;
use array::contract::overlap::{Stage, MOST_RUNS};
use rtl::{clog2, u, Design, ModuleBuilder, Reg, Sig, Template, Wire};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct AxiLiteControl {
    pub layout: Layout,
    pub version: u32,
    /// Per function and argument: how many low bits must be 0, so that an address is a multiple of what its array needs
    /// (`array::contract::walk::alignment`).
    pub aligned: Vec<Vec<u32>>,
    /// Per function, if runs overlap: one may begin while others are under way
    /// ([`array::contract::overlap::may_begin_early`]).
    pub early: Vec<bool>,
}

/// The interface of an [`AxiLiteControl`].
#[derive(Clone, Debug, PartialEq)]
pub struct ControlPorts {
    /// Synchronous, active high.
    pub rst: Port,
    /// The core is not in reset.
    pub ready: Port,
    /// Pulse: the host requests a soft reset.
    pub stop: Port,
    pub bus: AxiLite<Port>,
    /// Value of the register `design_id`.
    pub design_id: Port,
    /// Pulse: a run starts, in each stage or in all.
    pub starts: Vec<Port>,
    /// Pulse: the run has ended.
    pub done: Port,
    pub interrupt: Port,
    /// What starts, in each stage or in all.
    pub views: Vec<View>,
    /// If runs overlap.
    pub overlap: Option<OverlapPorts>,
    pub fault: Fault<Port>,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Number of the function, if the IP has several.
    pub function: Option<Port>,
    /// Per function: its arguments.
    pub arguments: Vec<Vec<Port>>,
}

/// Runs that overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlapPorts {
    /// By stage: the next run may start.
    pub free: [Port; 3],
    /// One run is under way.
    pub one: Port,
    /// Number of the function of the oldest run, if the IP has several.
    pub oldest: Option<Port>,
}

impl AxiLiteControl {
    pub fn ports(&self) -> ControlPorts {
        let several = self.layout.functions.len() > 1;
        let name = |f: usize, k: usize| if several { format!("arg_{f}_{k}") } else { format!("arg_{k}") };
        let view = |of: &str| {
            let arguments = |(f, all): (usize, &Vec<u32>)| {
                let port = |(k, bits): (usize, &u32)| Port::new(name(f, k) + of, u(8 * bits.div_ceil(8)));
                all.iter().enumerate().map(port).collect()
            };
            View {
                function: several.then(|| Port::new(format!("function{of}"), u(FUNCTION_BITS))),
                arguments: self.layout.functions.iter().enumerate().map(arguments).collect(),
            }
        };
        let stages = || Stage::ALL.map(Stage::name);
        let views =
            if self.layout.overlap { stages().map(|of| format!("_{of}")).to_vec() } else { vec![String::new()] };
        ControlPorts {
            rst: Port::bit("rst"),
            ready: Port::bit("ready"),
            stop: Port::bit("stop"),
            bus: AxiLite::ports("s_axi_control_", self.layout.address_bits()),
            design_id: Port::new("design_id", u(32)),
            starts: views.iter().map(|of| Port::bit(format!("start{of}"))).collect(),
            done: Port::bit("done"),
            interrupt: Port::bit("interrupt"),
            views: views.iter().map(|of| view(of)).collect(),
            overlap: self.layout.overlap.then(|| OverlapPorts {
                free: stages().map(|of| Port::bit(format!("free_{of}"))),
                one: Port::bit("one_runs"),
                oldest: several.then(|| Port::new("oldest", u(FUNCTION_BITS))),
            }),
            fault: Fault::ports(),
        }
    }
}

impl Template for AxiLiteControl {
    fn name(&self) -> String {
        "axi_lite_control".into()
    }

    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        m.doc(
            "Control registers: start and status, interrupt, addresses of the arrays, cycle counter of the latest run.",
        );
        let ports = self.ports();
        let rst = ports.rst.input(m);
        let up = m.reg("up", u(1)).next(m.lit(1, u(1))).rst(rst, 0).q();
        let write = write_channel(m, &ports.bus, [rst, up]);
        let read = read_channel(m, &ports.bus, [rst, up]);
        let run = Run::new(m, self, &ports, &write, rst);
        ports.stop.output(m, run.stop.pulse);
        let status_read = read.taken & read.address.eq(m.lit(CTRL / 4, read.address.ty()));
        let status = |name: &str| m.reg(name, u(1)).next(run.host_done).en(run.host_done | status_read).rst(rst, 0).q();
        let (is_done, is_ready) = (status("ap_done"), status("ap_ready"));
        let busy = run.is_busy();
        let idle = !busy & !run.stop.under_way;
        let stopped = (run.stop.pulse & busy).named("stops_run");
        let cycles = run.cycles(m, rst);
        let interrupts = Interrupts::new(m, &ports, &write, rst, &run);

        let zeros = |n: u32| m.lit(0, u(n));
        let control =
            m.concat(&[zeros(24), run.auto_restart, zeros(3), is_ready, idle, is_done, run.requested]).called("ctrl");
        let bits = |from: &[Sig<'m>]| {
            m.concat(&[zeros(32 - from.len() as u32)].into_iter().chain(from.iter().rev().copied()).collect::<Vec<_>>())
        };
        let mut registers = vec![
            (CTRL, control),
            (GIER, interrupts.global.extend(32)),
            (IP_IER, bits(&interrupts.enables)),
            (IP_ISR, bits(&interrupts.pending)),
        ];
        let context = Registers { m, layout: &self.layout, write: &write, rst, stop: run.stop.pulse };
        let soft_reset = (self.layout.soft_reset(), run.stop.under_way.extend(32));
        let mut command = Command::new(context, run.queue);
        let faults = self.arguments(m, &ports, &mut command, &mut registers);
        registers.extend(command.registers());
        let misaligned = faults.iter().map(|c| c.0).collect::<Vec<_>>();
        run.misaligned.drive(if misaligned.is_empty() { m.lit(0, u(1)) } else { m.any(&misaligned) });
        let index = m.select(&faults, m.lit(0, u(8)));
        let fault = ports.fault.map(|port| port.input(m)).later_if(m, rst, run.ready);
        let (status, error) =
            status::registers(m, &self.layout, rst, &write, fault, Events { refused: run.refused, index, stopped });
        interrupts.error.drive(error);
        registers.extend(status);
        let at = self.layout.cycles();
        // Reading the low half latches the high half, so both belong to one value.
        let low_read = read.taken & read.address.eq(m.lit(at / 4, read.address.ty()));
        let high = hold(m, "cycles_high", low_read, cycles.slice(32, 32));
        registers.push((self.layout.design_id(), ports.design_id.input(m)));
        registers.push(soft_reset);
        registers.push((self.layout.version(), m.lit(self.version, u(32))));
        registers.extend([(at, cycles.slice(0, 32)), (at + 4, high)]);
        registers.sort_by_key(|r| r.0);
        ports.bus.rdata.output(m, hold(m, "rdata", read.taken, read.value(m, &registers)));
    }
}

impl AxiLiteControl {
    /// Builds the argument registers. Returns the conditions that refuse a run, each with the index for the status.
    fn arguments<'m>(
        &self,
        m: &'m ModuleBuilder,
        ports: &ControlPorts,
        command: &mut Command<'_, 'm>,
        registers: &mut Vec<(u32, Sig<'m>)>,
    ) -> Vec<(Sig<'m>, Sig<'m>)> {
        // Of functions whose arguments are in one register, one condition tells. By index, register and low bits.
        let mut checked: BTreeMap<(usize, u32, u32), (Sig<'m>, Vec<usize>)> = BTreeMap::new();
        for (f, arguments) in self.layout.functions.iter().enumerate() {
            for k in 0..arguments.len() {
                let value = command.argument((0, f, k), registers);
                let low = self.aligned[f][k];
                if low > 0 {
                    let misaligned = || (value.slice(0, low).reduce_or(), vec![]);
                    checked.entry((k, self.layout.argument(f, k), low)).or_insert_with(misaligned).1.push(f);
                }
                ports.views[0].arguments[f][k].output(m, value);
                for view in 1..command.views() {
                    ports.views[view].arguments[f][k].output(m, command.argument((view, f, k), registers));
                }
            }
        }
        let mut faults = command.unknown_function();
        faults.extend(checked.into_iter().map(|((k, at, _), (misaligned, functions))| {
            let misaligned = command.of_functions(&functions, misaligned);
            (misaligned.called(format!("misaligned_{k}_at_{at:02x}")), m.lit(k as u64 & 0xff, u(8)))
        }));
        for (view, of) in ports.views.iter().enumerate() {
            of.function.iter().zip(command.function(view)).for_each(|(port, number)| port.output(m, number));
        }
        let oldest = ports.overlap.as_ref().and_then(|o| o.oldest.as_ref());
        oldest.into_iter().zip(command.oldest_function()).for_each(|(port, number)| port.output(m, number));
        faults
    }
}

/// The soft reset.
struct Stop<'m> {
    pulse: Sig<'m>,
    /// Until the core has left its reset.
    under_way: Sig<'m>,
}

impl<'m> Stop<'m> {
    fn new(m: &'m ModuleBuilder, layout: &Layout, write: &Write<'m>, [rst, ready]: [Sig<'m>; 2]) -> Self {
        let request = write.sets(m, layout.soft_reset(), 0);
        let pulse = m.reg("stop_q", u(1)).next(request).rst(rst, 0).q();
        let under_way = m.reg("stopping", u(1));
        under_way.next(request | (under_way.q() & (pulse | !ready))).rst(rst, 0);
        Stop { pulse, under_way: under_way.q() }
    }
}

/// Run control: turns requests of the host and commands of the queue into `start` pulses.
struct Run<'m> {
    stop: Stop<'m>,
    auto_restart: Sig<'m>,
    /// AP_START: the host requests a run, until that has ended.
    requested: Sig<'m>,
    running: Sig<'m>,
    /// Pulse: a run starts, and no other is under way.
    start: Sig<'m>,
    /// Pulse: the run is over at once, because of a misaligned address or an unknown function.
    refused: Sig<'m>,
    /// Pulse: a run has ended or was refused, and no other is under way.
    last_done: Sig<'m>,
    /// Pulse: a run has ended or was refused, for runs that the host requested through AP_START.
    host_done: Sig<'m>,
    queue: Option<Queue<'m>>,
    /// The next run is to be refused; driven later.
    misaligned: Wire<'m>,
    ready: Sig<'m>,
}

impl<'m> Run<'m> {
    fn new(m: &'m ModuleBuilder, of: &AxiLiteControl, ports: &ControlPorts, write: &Write<'m>, rst: Sig<'m>) -> Self {
        let layout = &of.layout;
        let ready = ports.ready.input(m);
        let stop = Stop::new(m, layout, write, [rst, ready]);
        let rst = (rst | stop.pulse).called("run_reset");
        let (ended, misaligned) = (ports.done.input(m) & ready, m.wire("misaligned", u(1)));
        let refused = m.reg("refused", u(1));
        let done = ended | refused.q();
        let auto_restart = write.flag(m, "auto_restart", rst, CTRL, 7);
        if let Some(overlap) = &ports.overlap {
            let of = Overlapping { m, of, ports, overlap, write, rst, done, refused, misaligned };
            return of.run((stop, ready, auto_restart));
        }
        let (requested, running) = (m.reg("ap_start", u(1)), m.reg("running", u(1)));
        let request = write.sets(m, CTRL, 0);
        let queue = layout.queue().map(|_| Queue::new(m, layout, (rst, done), (requested.q(), running.q())));
        let host_done = queue.as_ref().map_or(done, |q| done & !q.runs);
        requested.next(request | auto_restart).en(request | host_done).rst(rst, 0);
        let launch = m.all(&[queue.as_ref().map_or(requested.q(), |q| requested.q() | q.waits), !running.q(), ready]);
        running.next(launch).en(launch | done).rst(rst, 0);
        let start = m.reg("start_q", u(1)).next(launch & !misaligned.sig()).rst(rst, 0).q();
        refused.next(launch & misaligned.sig()).rst(rst, 0);
        ports.starts[0].output(m, start);
        let (requested, running, refused) = (requested.q(), running.q(), refused.q());
        let last_done = done;
        Run { stop, auto_restart, requested, running, start, refused, last_done, host_done, queue, misaligned, ready }
    }

    /// A run is requested, waits or is under way.
    fn is_busy(&self) -> Sig<'m> {
        let busy = self.requested | self.running;
        self.queue.as_ref().map_or(busy, |q| busy | q.waits)
    }

    /// Cycle counter of the latest run, and of those before that it overlaps.
    fn cycles(&self, m: &'m ModuleBuilder, rst: Sig<'m>) -> Sig<'m> {
        let (one, count) = (m.lit(1, u(64)), m.reg("cycles", u(64)));
        // A cycle later, as all bits wait for the end of a run, which comes late.
        let later = |name: &str, now: Sig<'m>| m.reg(format!("cycles_{name}"), u(1)).next(now).rst(rst, 0).q();
        let (first, none) = (later("first", self.start), later("none", self.refused));
        let counts = later("count", self.start | self.refused | (self.running & !self.last_done));
        let counted = m.select(&[(first, one), (none, m.lit(0, u(64)))], count.q() + one);
        count.next(counted).en(counts).rst(rst, 0).q()
    }
}

/// Run control of runs that overlap, see [`array::contract::overlap`]: each stage has its own start, and its own place in
/// the queue. Runs that the host requests, and those that are refused, are by themselves.
struct Overlapping<'a, 'm> {
    m: &'m ModuleBuilder,
    of: &'a AxiLiteControl,
    ports: &'a ControlPorts,
    overlap: &'a OverlapPorts,
    write: &'a Write<'m>,
    rst: Sig<'m>,
    done: Sig<'m>,
    refused: Reg<'m>,
    misaligned: Wire<'m>,
}

impl<'m> Overlapping<'_, 'm> {
    /// A counter: up with one, down with the other.
    fn count(&self, name: &str, most: u64, [up, down]: [Sig<'m>; 2]) -> Sig<'m> {
        let count = self.m.reg(name, u(clog2(most + 1)));
        let counted = self.m.mux(up, count.q().add_lit(1), count.q().sub_lit(1));
        count.next(counted).en(up ^ down).rst(self.rst, 0).q()
    }

    fn run(self, (stop, ready, auto_restart): (Stop<'m>, Sig<'m>, Sig<'m>)) -> Run<'m> {
        let Overlapping { m, of, ports, overlap, write, rst, done, .. } = self;
        let free = overlap.free.clone().map(|port| port.input(m));
        let requested = m.reg("ap_start", u(1));
        let request = write.sets(m, CTRL, 0);
        let launches = Stage::ALL.map(|stage| m.wire(format!("launch_{}", stage.name()), u(1)));
        let [reads, waves, writes] = launches.each_ref().map(|wire| wire.sig());
        let starts_next = Stage::ALL.map(|stage| m.wire(format!("start_{}_next", stage.name()), u(1)));
        let starts = Stage::ALL.map(|stage| {
            let launch = starts_next[stage as usize].sig();
            m.reg(format!("start_{}_q", stage.name()), u(1)).next(launch).rst(rst, 0).q()
        });
        let under_way = self.count("runs", MOST_RUNS as u64, [reads, done]);
        let (one, none) = (under_way.eq_lit(1).called("one_run"), m.reg("no_run", u(1)));
        none.next(!reads & (none.q() | (done & one))).rst(rst, 1);
        let none = none.q();
        // While no run is under way, the next one is the host's if it requests one.
        let from_queue = m.reg("queue_runs", u(1));
        from_queue.next(!requested.q()).en(none & !reads).rst(rst, 0);
        let (from_queue, refused) = (from_queue.q(), self.refused.q());
        let beside = Beside {
            start: starts[0],
            takes: starts.map(|start| (start | refused) & from_queue),
            pushed: m.wire("queue_pushed", u(1)),
            may_begin: m.wire("may_begin", u(1)),
            more: m.wire("more_commands", u(1)),
            early: of.early.clone(),
        };
        let [pushed, may_begin, more] = [&beside.pushed, &beside.may_begin, &beside.more].map(|wire| wire.sig());
        let queue = Queue::overlapping(m, &of.layout, (from_queue, done), beside);
        // Commands that no stage has begun; runs that have begun and wait for a stage.
        let fresh = self.count("fresh", u64::from(of.layout.queue), [pushed, reads & from_queue]).reduce_or();
        // What a command tells is looked at in the cycle before: it was there, and stays.
        let before = |name: &str, now: Sig<'m>| m.reg(name, u(1)).next(now).rst(rst, 0).q();
        let stays = !reads & !starts[0];
        let command = before("command_seen", fresh & from_queue & stays);
        let request_seen = before("request_seen", requested.q() & !from_queue & none & stays);
        let (wrong, may_begin) = (before("wrong_seen", self.misaligned.sig()), before("early_seen", may_begin));
        let goes = (reads & !wrong).called("run_goes");
        starts_next.into_iter().zip([goes, waves, writes]).for_each(|(wire, launch)| wire.drive(launch));
        let waiting = |stage: Stage, launch: Sig<'m>| {
            self.count(&format!("waits_{}", stage.name()), MOST_RUNS as u64, [goes, launch]).reduce_or()
        };
        let later = |stage: Stage, launch: Sig<'m>| {
            let next = (waiting(stage, launch) | goes) & free[stage as usize] & !starts[stage as usize];
            next | (goes & none)
        };
        launches[1].drive(later(Stage::Waves, waves));
        launches[2].drive(later(Stage::Writes, writes));
        let beside = m.all(&[may_begin, free[0], !wrong, under_way.ne_lit(MOST_RUNS)]);
        let next = m.all(&[command, !more, !requested.q(), none | beside]);
        launches[0].drive(ready & ((request_seen & requested.q()) | next));
        let host_done = done & !from_queue;
        requested.next(request | auto_restart).en(request | host_done).rst(rst, 0);
        self.refused.next(reads & wrong).rst(rst, 0);
        ports.starts.iter().zip(starts).for_each(|(port, start)| port.output(m, start));
        overlap.one.output(m, one);
        let first = m.reg("first_starts", u(1)).next(goes & none).rst(rst, 0).q();
        let (running, start, last_done) = (!none, first, done & one & !reads);
        let (queue, requested, misaligned) = (Some(queue), requested.q(), self.misaligned);
        Run { stop, auto_restart, requested, running, start, refused, last_done, host_done, queue, misaligned, ready }
    }
}

/// Interrupt registers, and the interrupt output. Bits: done, ready, error, and with a queue: the queue is empty.
struct Interrupts<'m> {
    global: Sig<'m>,
    enables: Vec<Sig<'m>>,
    pending: Vec<Sig<'m>>,
    /// An error occurs in this cycle; driven later.
    error: Wire<'m>,
}

impl<'m> Interrupts<'m> {
    fn new(m: &'m ModuleBuilder, ports: &ControlPorts, write: &Write<'m>, rst: Sig<'m>, run: &Run<'m>) -> Self {
        let global = write.flag(m, "interrupt_global", rst, GIER, 0);
        let causes =
            [(0, "done"), (1, "ready"), (2, "error")].into_iter().chain(run.queue.is_some().then_some((3, "queue")));
        let enables: Vec<_> =
            causes.map(|(i, name)| write.flag(m, &format!("interrupt_{name}"), rst, IP_IER, i)).collect();
        let error = m.wire("wrong", u(1));
        let event = |i: usize| match (i, &run.queue) {
            (2, _) => error.sig(),
            (3, Some(queue)) => queue.drained,
            _ => run.host_done,
        };
        let pending: Vec<_> = (0..enables.len())
            .map(|i| {
                let flag = m.reg(format!("interrupt_status{i}"), u(1));
                let next = (flag.q() ^ write.sets(m, IP_ISR, i as u32)) | (event(i) & enables[i]);
                flag.next(next).rst(rst, 0).q()
            })
            .collect();
        ports.interrupt.output(m, m.reg("interrupt_q", u(1)).next(global & m.any(&pending)).rst(rst, 0).q());
        Interrupts { global, enables, pending, error }
    }
}

/// Read port of the register file: a read is `taken` in this cycle.
struct Read<'m> {
    taken: Sig<'m>,
    address: Sig<'m>,
}

impl<'m> Read<'m> {
    /// The register at the address, 0 if there is none. `registers` are sorted by offset.
    fn value(&self, m: &'m ModuleBuilder, registers: &[(u32, Sig<'m>)]) -> Sig<'m> {
        self.among(m, registers, self.address.w()).unwrap_or(m.lit(0, u(32)))
    }

    /// The register at the address among these, which agree in all bits of the address but the lowest `bits`: a tree of
    /// multiplexers, four inputs a LUT. `None` if there are no registers.
    fn among(&self, m: &'m ModuleBuilder, registers: &[(u32, Sig<'m>)], bits: u32) -> Option<Sig<'m>> {
        let (first, last) = (registers.first()?.0, registers.last()?.0);
        let Some(bit) = bits.checked_sub(1) else { return Some(registers[0].1) };
        let (low, high) = registers.split_at(registers.partition_point(|r| (r.0 / 4) >> bit & 1 == 0));
        let none = m.lit(0, u(32));
        let [low, high] = [low, high].map(|part| self.among(m, part, bit).unwrap_or(none));
        Some(m.mux(self.address.bit(bit), high, low).called(format!("read_{first:02x}_to_{last:02x}_{bit}")))
    }
}

/// `up`: 0 in the reset and in the cycle after it, in which nothing is accepted.
fn write_channel<'m>(m: &'m ModuleBuilder, bus: &AxiLite<Port>, [rst, up]: [Sig<'m>; 2]) -> Write<'m> {
    let (awaddr, awvalid) = (bus.awaddr.input(m), bus.awvalid.input(m));
    let (wdata, wstrb, wvalid) = (bus.wdata.input(m), bus.wstrb.input(m), bus.wvalid.input(m));
    let bready = bus.bready.input(m);
    let (addressed, filled, bvalid) = (m.reg("aw_held", u(1)), m.reg("w_held", u(1)), m.reg("bvalid", u(1)));
    let now = (addressed.q() & filled.q() & !bvalid.q()).called("writes");
    let (awready, wready) = (!addressed.q() & up, !filled.q() & up);
    let (aw, w) = ((awvalid & awready).called("aw_taken"), (wvalid & wready).called("w_taken"));
    addressed.next(aw).en(aw | now).rst(rst, 0);
    filled.next(w).en(w | now).rst(rst, 0);
    bvalid.next(now).en(now | (bvalid.q() & bready)).rst(rst, 0);
    bus.awready.output(m, awready);
    bus.wready.output(m, wready);
    bus.bvalid.output(m, bvalid.q());
    bus.bresp.output(m, m.lit(0, u(2)));
    let address = hold(m, "aw_word", aw, awaddr.slice(2, awaddr.w() - 2));
    Write { now, address, data: hold(m, "w_data", w, wdata), strobe: hold(m, "w_strobe", w, wstrb) }
}

fn read_channel<'m>(m: &'m ModuleBuilder, bus: &AxiLite<Port>, [rst, up]: [Sig<'m>; 2]) -> Read<'m> {
    let (araddr, arvalid, rready) = (bus.araddr.input(m), bus.arvalid.input(m), bus.rready.input(m));
    let rvalid = m.reg("rvalid", u(1));
    let arready = !rvalid.q() & up;
    let taken = (arvalid & arready).called("ar_taken");
    rvalid.next(taken).en(taken | (rvalid.q() & rready)).rst(rst, 0);
    bus.arready.output(m, arready);
    bus.rvalid.output(m, rvalid.q());
    bus.rresp.output(m, m.lit(0, u(2)));
    Read { taken, address: araddr.slice(2, araddr.w() - 2).named("ar_word") }
}
