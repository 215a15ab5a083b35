//! The IP: sequencer, array and AXI engines under one top module with the ports Vivado and Vitis know.

use crate::array::{Array, Plan};
use crate::axi::control::AxiLiteControl;
use crate::axi::base_port;
use crate::axi::status::Fault;
use crate::axi::reader::{AxiReader, ReaderParams};
use crate::axi::writer::{AxiWriter, WriterParams};
use crate::control::sequencer::Sequencer;
use crate::interface::{Interface, Passed};
use crate::io::feeder::loaded_once;
use crate::operators;
use crate::pe::plan::Tied;
use crate::stream::{Loads, Tokens};
use arch::contract::walk::Walk;
use arch::contract::operand::operand_source;
use arch::contract::timing::{drain_latency, emitted_delay, release_delay};
use arch::ir::vsa::Vsa;
use rtl::{clog2, u, Design, Instance, ModuleBuilder, ModuleName, Sig, Template, Ty, Verified};

/// The whole design for an array; the top module is named like it.
///
/// # Errors
/// A `Vsa` that hardware cannot be built for: an operation without a core, a schedule that leaves a value too little
/// time, widths of words that are no power of two. Faults of the netlist are reported too, all of them.
pub fn ip(vsa: &Vsa) -> Result<Verified, String> {
    check(vsa)?;
    let plan = Plan::new(vsa)?;
    for id in plan.pe.ids() {
        let node = vsa.node(id);
        let types: Vec<_> = node.op.operands().into_iter().enumerate().map(|(k, o)| operand_source(vsa, id, k, o).1).collect();
        operators::supported(&node.op, node.ty, &types).map_err(|e| format!("`{}`: {e}", node.name))?;
    }
    let interface = Interface::new(vsa);
    let mut design = Design::new(interface.clock).prefixed(&interface.kernel);
    design.module(Top { vsa: vsa.clone(), plan, interface });
    design.verify().map_err(|faults| faults.iter().map(|f| f.to_string()).collect::<Vec<_>>().join("\n"))
}

fn check(vsa: &Vsa) -> Result<(), String> {
    for a in &vsa.arrays {
        let bytes = a.word * a.ty.bytes();
        if !bytes.is_power_of_two() || !(4..=128).contains(&bytes) {
            return Err(format!("array `{}`: words of {} elements of {} bytes; a bus is a power of two from 4 to 128 bytes wide", a.name, a.word, a.ty.bytes()));
        }
    }
    for axis in 0..2 {
        if vsa.extent[axis] < 1 || (vsa.extent[axis] > 1 && vsa.schedule.skew[axis] == 0) {
            return Err(format!("axis {axis}: {} PEs with skew {}", vsa.extent[axis], vsa.schedule.skew[axis]));
        }
    }
    if vsa.outputs.is_empty() {
        return Err(format!("`{}` stores nothing", vsa.name));
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq)]
struct Top {
    vsa: Vsa,
    plan: Plan,
    interface: Interface,
}

/// An engine instance and the AXI port it works at.
struct Engine<'m> {
    port: usize,
    instance: Instance<'m>,
    module: ModuleName,
}

type Reader<'m> = (Engine<'m>, ReaderParams);
type Writer<'m> = (Engine<'m>, WriterParams);

impl Template for Top {
    fn name(&self) -> String {
        self.interface.kernel.clone()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, d: &mut Design) {
        let vsa = &self.vsa;
        m.doc(format!("{}: systolic array of {} x {} PEs with {} lane(s), registers at s_axi_control, {} m_axi port(s).", vsa.name, vsa.extent[0], vsa.extent[1], vsa.lanes, vsa.ports()));
        let (live, quiet) = (m.input(self.interface.reset, u(1)), m.wire("bus_quiet", u(1)));
        let (rst, abandon) = self.reset(m, live, quiet.sig());
        let Interface { layout, design_id, version, arguments, .. } = self.interface.clone();
        let aligned = arguments.iter().map(|a| if a.array().is_some() { a.ty.bytes().trailing_zeros() } else { 0 }).collect();
        let control = d.module(AxiLiteControl { layout, design_id, version, aligned });
        let control_module = control.clone();
        let control = m.instance(d, "control", &control).set("rst", rst);
        // The registers take nothing while the array is being flushed.
        let open = |name: &str, x: Sig<'m>| match name {
            _ if name.ends_with("ready") => x & !rst,
            _ if name.ends_with("valid") => x & live & !rst,
            _ => x,
        };
        forward_ports(m, d, control, &control_module, ["s_axi_control_"; 2], open);
        m.output("interrupt", control.out("interrupt"));
        let start = control.out("start");
        let engine = |d: &Design, name: String, port: usize, module: ModuleName, walk: &Walk| {
            let instance = m.instance(d, name, &module).set("rst", rst).set("live", live).set("abandon", abandon).set("start", start);
            for (k, _) in &walk.arrays {
                if let Some(argument) = self.interface.arguments.iter().position(|a| a.array().is_some_and(|a| a.index == *k)) {
                    instance.set(&base_port(*k), control.out(&format!("arg_{argument}")));
                }
            }
            Engine { port, instance, module }
        };

        let mut readers = vec![];
        let mut writers = vec![];
        for port in 0..vsa.ports() {
            if let Some(params) = ReaderParams::from_vsa(vsa, port) {
                let module = d.module(AxiReader(params.clone()));
                readers.push((engine(d, format!("reader{port}"), port, module, &params.walk), params));
            }
            if let Some(params) = WriterParams::from_vsa(vsa, port, drain_latency(vsa, port) as u32) {
                let module = d.module(AxiWriter(params.clone()));
                writers.push((engine(d, format!("writer{port}"), port, module, &params.walk), params));
            }
        }
        let engines: Vec<Instance<'m>> = readers.iter().map(|r| r.0.instance).chain(writers.iter().map(|w| w.0.instance)).collect();
        faults(m, control, &readers, &writers);
        quiet.drive(m.all(&engines.iter().map(|e| e.out("quiet")).collect::<Vec<_>>()));
        let sequencer = d.module(Sequencer::new(vsa, self.plan.fields.clone()));
        let sequencer = m.instance(d, "sequencer", &sequencer).set("rst", rst).set("start", start);
        self.pulses(m, sequencer, &readers, &writers);
        self.array(m, d, (control, start), sequencer, &readers, &writers);
        self.ports(m, d, &readers, &writers);
        self.finish(m, rst, start, control, &writers);
    }
}

/// Tells the registers of error answers; of several at once, where the first engine's was.
fn faults<'m>(m: &'m ModuleBuilder, control: Instance<'m>, readers: &[Reader<'m>], writers: &[Writer<'m>]) {
    let [reads, writes] = [readers.iter().map(|r| &r.0).collect::<Vec<_>>(), writers.iter().map(|w| &w.0).collect()];
    let failed = |e: &&Engine<'m>| e.instance.out("failed");
    for (name, engines) in [("fault_read", &reads), ("fault_write", &writes)] {
        control.set(name, m.any(&engines.iter().map(failed).chain([m.lit(0, u(1))]).collect::<Vec<_>>()));
    }
    let each = |e: &&Engine<'m>| {
        let out = |name: &str| e.instance.out(&format!("failed_{name}"));
        let word = out("address");
        let below = 64 - word.ty().w;
        let address = if below > 0 { m.concat(&[word, m.lit(0, u(below))]) } else { word };
        (failed(e), [m.lit(e.port as u64 & 0xff, u(8)), out("response"), out("known"), address])
    };
    let all: Vec<_> = reads.iter().chain(&writes).map(each).collect();
    for (i, (name, bits)) in Fault::PORTS[2..].iter().enumerate() {
        let cases: Vec<_> = all.iter().map(|(failed, parts)| (*failed, parts[i])).collect();
        control.set(name, m.select(&cases, m.lit(0, u(*bits))));
    }
}

/// Passes all ports of an instance that start with `inner` through, renamed to start with `outer`; outputs by way of `gate`.
fn forward_ports<'m>(
    m: &'m ModuleBuilder, d: &Design, instance: Instance<'m>, module: &ModuleName, [inner, outer]: [&str; 2], gate: impl Fn(&str, Sig<'m>) -> Sig<'m>,
) -> Vec<String> {
    let Some(content) = d.get(module) else { return vec![] };
    let ins: Vec<(String, Ty)> = content.input_ports().map(|(n, t)| (n.to_string(), t)).collect();
    let outs: Vec<String> = content.output_ports().map(|(n, _)| n.to_string()).collect();
    let mut names = vec![];
    for (name, ty) in ins.iter().filter(|p| p.0.starts_with(inner)) {
        let port = format!("{outer}{}", &name[inner.len()..]);
        instance.set(name, m.input(&port, *ty));
        names.push(name[inner.len()..].to_string());
    }
    for name in outs.iter().filter(|n| n.starts_with(inner)) {
        m.output(format!("{outer}{}", &name[inner.len()..]), gate(name, instance.out(name)));
        names.push(name[inner.len()..].to_string());
    }
    names
}

/// Cycles after a reset in which open bursts must have been answered: a power of two.
const PATIENCE: u64 = 1 << 18;

/// Width of an AXI signal.
#[derive(Clone, Copy)]
enum Width {
    Bits(u32),
    /// The port's data.
    Data,
    /// A bit per byte of data.
    Strobe,
}
use Width::{Bits, Data, Strobe};

/// Channels of AXI4 as Vivado infers them: name, width, driven by the master.
const READ_PORTS: [(&str, Width, bool); 17] = [
    ("arid", Bits(1), true), ("araddr", Bits(64), true), ("arlen", Bits(8), true), ("arsize", Bits(3), true), ("arburst", Bits(2), true), ("arlock", Bits(1), true),
    ("arcache", Bits(4), true), ("arprot", Bits(3), true), ("arqos", Bits(4), true), ("arvalid", Bits(1), true), ("arready", Bits(1), false),
    ("rid", Bits(1), false), ("rdata", Data, false), ("rresp", Bits(2), false), ("rlast", Bits(1), false), ("rvalid", Bits(1), false), ("rready", Bits(1), true),
];
const WRITE_PORTS: [(&str, Width, bool); 20] = [
    ("awid", Bits(1), true), ("awaddr", Bits(64), true), ("awlen", Bits(8), true), ("awsize", Bits(3), true), ("awburst", Bits(2), true), ("awlock", Bits(1), true),
    ("awcache", Bits(4), true), ("awprot", Bits(3), true), ("awqos", Bits(4), true), ("awvalid", Bits(1), true), ("awready", Bits(1), false),
    ("wdata", Data, true), ("wstrb", Strobe, true), ("wlast", Bits(1), true), ("wvalid", Bits(1), true), ("wready", Bits(1), false),
    ("bid", Bits(1), false), ("bresp", Bits(2), false), ("bvalid", Bits(1), false), ("bready", Bits(1), true),
];

impl Top {
    /// Active-high reset for everything inside, held after the IP's own until no burst is open on the bus and then zeros
    /// have run through the whole array: nothing in the array has a reset of its own. Returns also when the wait for the
    /// bus has lasted [`PATIENCE`]: the memory must have been reset, too.
    fn reset<'m>(&self, m: &'m ModuleBuilder, live: Sig<'m>, quiet: Sig<'m>) -> (Sig<'m>, Sig<'m>) {
        let vsa = &self.vsa;
        let across: i64 = (0..2).map(|a| (vsa.schedule.skew[a].abs() + 1) * vsa.extent[a]).sum();
        let pulses = (0..vsa.inputs.len()).map(|g| release_delay(vsa, g)).chain((0..vsa.outputs.len()).map(|o| emitted_delay(vsa, o)));
        let cycles = across + pulses.max().unwrap_or(0) + vsa.schedule.ready.iter().max().copied().unwrap_or(0) + 16;
        let ty = u(clog2(cycles as u64 + 1));
        let left = m.reg("flush", ty).en(quiet).rst(!live, cycles);
        let over = !left.q().reduce_or();
        left.next(m.mux(over, left.q(), left.q().sub_lit(1)));
        let rst = m.reg("rst", u(1)).rst(!live, 1).next(!over).q();
        let waited = m.reg("waited", u(clog2(PATIENCE)));
        waited.next(waited.q().add_lit(1)).en(rst).rst(!live | quiet, 0);
        (rst, rst & waited.q().reduce_and())
    }

    /// Credits between sequencer and engines.
    fn pulses<'m>(&self, m: &'m ModuleBuilder, sequencer: Instance<'m>, readers: &[Reader<'m>], writers: &[Writer<'m>]) {
        let vsa = &self.vsa;
        for (r, _) in readers {
            for g in (0..vsa.inputs.len()).filter(|g| vsa.port_of(vsa.inputs[*g].array) == r.port) {
                sequencer.set(&format!("loaded{g}"), r.instance.out(&format!("loaded_{g}")));
                let release = m.delay(sequencer.out(&format!("release{g}")), release_delay(vsa, g) as u32, format!("release{g}_d"));
                r.instance.set(&format!("release_{g}"), release);
            }
        }
        for (w, _) in writers {
            for o in (0..vsa.outputs.len()).filter(|o| vsa.port_of(vsa.outputs[*o].array) == w.port) {
                sequencer.set(&format!("drained{o}"), w.instance.out(&format!("drained_{o}")));
                let emitted = m.delay(sequencer.out(&format!("emitted{o}")), emitted_delay(vsa, o) as u32, format!("emitted{o}_d"));
                w.instance.set(&format!("emitted_{o}"), emitted);
                let port = format!("written_{o}");
                for (r, _) in readers.iter().filter(|r| r.1.walk.groups.iter().any(|g| g.waits.iter().any(|w| w.output == o))) {
                    r.instance.set(&port, w.instance.out(&port));
                }
            }
        }
    }

    fn array<'m>(&self, m: &'m ModuleBuilder, d: &mut Design, (control, start): (Instance<'m>, Sig<'m>), sequencer: Instance<'m>, readers: &[Reader<'m>], writers: &[Writer<'m>]) {
        let vsa = &self.vsa;
        let loads: Vec<(usize, Loads<Ty>)> = readers.iter().map(|(e, params)| (e.port, params.stream())).collect();
        let tokens: Vec<(usize, Tokens<Ty>)> = writers.iter().map(|(e, params)| (e.port, params.stream())).collect();
        let module = d.module(Array { vsa: vsa.clone(), plan: self.plan.clone(), loads: loads.clone(), tokens: tokens.clone() });
        let array = m.instance(d, "array", &module).set("valid", sequencer.out("valid"));
        for k in 0..self.plan.fields.len() {
            array.set(&format!("f{k}"), sequencer.out(&format!("f{k}")));
        }
        for tied in &self.plan.pe.tied {
            let Tied::Scalar(scalar, _) = tied else { continue };
            let Some(k) = self.interface.arguments.iter().position(|a| a.passed == Passed::Value(*scalar as usize)) else { continue };
            // Fixed during a run, whatever the host writes meanwhile.
            let value = m.reg(&self.interface.arguments[k].ident, tied.ty()).next(control.out(&format!("arg_{k}")).to(tied.ty())).en(start);
            array.set(&format!("scalar{scalar}"), value.q());
        }
        for g in (0..vsa.inputs.len()).filter(|g| !loaded_once(vsa, &vsa.inputs[*g])) {
            array.set(&format!("slot{g}"), sequencer.out(&format!("slot{g}")));
        }
        for o in (0..vsa.outputs.len()).filter(|o| vsa.outputs[*o].slots > 1) {
            array.set(&format!("out_slot{o}"), sequencer.out(&format!("out_slot{o}")));
        }
        for ((engine, _), (port, stream)) in readers.iter().zip(&loads) {
            stream.map(|name, _| array.set(&format!("in{port}_{name}"), engine.instance.out(&format!("ld_{name}"))));
        }
        for ((engine, _), (port, stream)) in writers.iter().zip(&tokens) {
            stream.map(|name, _| array.set(&format!("out{port}_{name}"), engine.instance.out(&format!("dr_{name}"))));
            for name in ["rd_valid", "rd_data"] {
                engine.instance.set(name, array.out(&format!("out{port}_{name}")));
            }
        }
    }

    /// Full AXI4 ports: what an engine has, and constants for the rest.
    fn ports<'m>(&self, m: &'m ModuleBuilder, d: &Design, readers: &[Reader<'m>], writers: &[Writer<'m>]) {
        for port in 0..self.vsa.ports() {
            let prefix = format!("{}_", self.interface.ports[port].name);
            let mut there = vec![];
            for e in readers.iter().map(|r| &r.0).chain(writers.iter().map(|w| &w.0)).filter(|e| e.port == port) {
                there.extend(forward_ports(m, d, e.instance, &e.module, ["m_axi_", &prefix], |_, x| x));
            }
            let bytes = self.vsa.bus_bytes(port);
            for (name, width, out) in READ_PORTS.iter().chain(&WRITE_PORTS) {
                if there.iter().any(|t| t == name) {
                    continue;
                }
                let width = match *width {
                    Bits(width) => width,
                    Data => 8 * bytes,
                    Strobe => bytes,
                };
                let signal = format!("{prefix}{name}");
                if *out { m.output(signal, m.lit(0, u(width))) } else { m.input(signal, u(width)); }
            }
        }
    }

    /// The run is done when every writer is.
    fn finish<'m>(&self, m: &'m ModuleBuilder, rst: Sig<'m>, start: Sig<'m>, control: Instance<'m>, writers: &[Writer<'m>]) {
        let running = m.reg("running", u(1)).rst(rst, 0);
        let all: Vec<Sig<'m>> = writers.iter().map(|w| w.0.instance.out("done")).collect();
        let done = running.q() & m.all(&all);
        running.next(m.select(&[(start, m.lit(1, u(1))), (done, m.lit(0, u(1)))], running.q()));
        control.set("done", done);
    }
}
