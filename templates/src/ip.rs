//! The IP: control registers, reset controller and cores under one top module with the port names that Vivado and Vitis
//! expect (`ap_clk`, `ap_rst_n`, `interrupt`, `s_axi_control_*`, `m_axi_*`).

use crate::axi::bundle::{AxiLite, AxiRead, AxiWrite, Bus};
use crate::axi::control::{AxiLiteControl, ControlPorts};
use crate::axi::Guard;
use crate::core::{Core, Engines, Inputs, UnderWay};
use crate::cores;
use crate::faults::faults;
use crate::interface::{Argument, AxiPort, Interface, Passed};
use crate::operators;
use crate::port::{pass, Port};
use array::contract::operand::{live_nodes, operand_source};
use array::contract::overlap::{may_begin_early, Stage};
use array::ip::{Function, Ip};
use array::vsa::{NodeId, Vsa};
use rtl::{clog2, u, Design, Instance, ModuleBuilder, Sig, Template, Verified};
use sha2::{Digest, Sha256};

/// Builds the design and its interface.
///
/// # Errors
/// The `Vsa` has an operation without hardware, a schedule that leaves a value too little time, or words whose width is
/// not a power of two. All faults of the netlist are reported as well.
pub fn ip(ip: &Ip) -> Result<(Verified, Interface), String> {
    ip.cores.iter().try_for_each(check)?;
    if ip.cores.iter().any(|core| core.address_bits != ip.cores[0].address_bits) {
        return Err("one IP has functions with 32-bit and functions with 64-bit addresses".into());
    }
    if let Some(why) = ip.no_overlap().filter(|_| ip.queue.overlap) {
        return Err(format!("runs cannot overlap: {why}"));
    }
    let cores = ip.cores.iter().map(|vsa| Core::new(vsa, ip.queue.overlap)).collect::<Result<Vec<_>, _>>()?;
    let early = |f: &Function| may_begin_early(&ip.cores[f.core], f.member.unwrap_or(0));
    let early = ip.functions.iter().map(early).collect();
    let mut interface = Interface::new(ip);
    let about = match &ip.cores[..] {
        [vsa] if ip.functions.len() == 1 => format!(
            "{}: systolic array of {} x {} PEs with {} lane(s)",
            vsa.name, vsa.extent[0], vsa.extent[1], vsa.lanes
        ),
        cores => {
            format!("{}: {} functions on {} systolic array(s), one at a time", ip.name, ip.functions.len(), cores.len())
        }
    };
    let mut design = Design::new(interface.clock).prefixed(&interface.kernel);
    design.module(Top { about, cores, early, interface: interface.clone() });
    let mut design =
        design.verify().map_err(|faults| faults.iter().map(|f| f.to_string()).collect::<Vec<_>>().join("\n"))?;
    interface.identify(identifier(&design));
    design.set_constant(DESIGN_ID, interface.design_id.into())?;
    Ok((design, interface))
}

/// The constant in the top module that is 0 while the design is hashed.
const DESIGN_ID: &str = "design_id";

/// The first 32 bits of SHA-256 over the names and texts of the modules, without their comments.
fn identifier(design: &Verified) -> u32 {
    let mut hash = Sha256::new();
    for (name, text) in rtl::verilog::files(design) {
        hash.update(format!("{name}\n"));
        text.lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .for_each(|line| hash.update(format!("{line}\n")));
    }
    let digest = hash.finalize();
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

fn check(vsa: &Vsa) -> Result<(), String> {
    for a in &vsa.arrays {
        let bytes = a.word * a.ty.bytes();
        if !bytes.is_power_of_two() || !(4..=128).contains(&bytes) {
            return Err(format!(
                "array `{}`: a bus word has {} elements of {} bytes; the width must be a power of 2, 4 to 128 bytes",
                a.name,
                a.word,
                a.ty.bytes()
            ));
        }
    }
    if ![32, 64].contains(&vsa.address_bits) {
        return Err(format!("`{}`: addresses have {} bits; 32 and 64 are possible", vsa.name, vsa.address_bits));
    }
    for axis in 0..2 {
        let start = &vsa.schedule.start[axis];
        if vsa.extent[axis] < 1 || (vsa.extent[axis] > 1 && start.hop_delay() == 0) {
            return Err(format!("axis {axis}: {} PEs with hop delay {start}", vsa.extent[axis]));
        }
    }
    if vsa.outputs.is_empty() {
        return Err(format!("`{}` stores nothing", vsa.name));
    }
    let live = live_nodes(vsa);
    for id in (0..vsa.nodes.len()).filter(|i| live[*i]).map(|i| NodeId(i as u32)) {
        let node = vsa.node(id);
        let types: Vec<_> =
            node.op.operands().into_iter().enumerate().map(|(k, o)| operand_source(vsa, id, k, o).1).collect();
        operators::supported(&node.op, node.ty, &types).map_err(|e| format!("`{}`: {e}", node.name))?;
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq)]
struct Top {
    /// Summary for the header of the module.
    about: String,
    cores: Vec<Core>,
    /// Per function: a run of it may begin while others are under way.
    early: Vec<bool>,
    interface: Interface,
}

impl Template for Top {
    fn name(&self) -> String {
        self.interface.kernel.clone()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let interface = &self.interface;
        m.doc(format!("{}, registers at s_axi_control, {} m_axi port(s).", self.about, interface.ports.len()));
        let (live, quiet) = (m.input(interface.reset, u(1)), m.wire("bus_quiet", u(1)));
        let stop = m.wire("soft_reset", u(1));
        let flush = self.cores.iter().map(|c| c.flush).max().unwrap_or(0);
        let guard = reset(m, live, stop.sig(), quiet.sig(), flush);
        let (control, ports) = self.control(m, d, &guard);
        stop.drive(ports.stop.out(control));
        match (&interface.functions[..], &self.cores[..]) {
            ([function], [core]) => {
                let view = |stage: Stage| &ports.views[if ports.views.len() > 1 { stage as usize } else { 0 }];
                let argument = |stage: Stage, passed: &dyn Fn(&Passed) -> bool| {
                    let k = function.arguments.iter().position(|a| passed(&a.passed))?;
                    Some((function.arguments[k].ident.as_str(), view(stage).arguments[0][k].out(control)))
                };
                let start = |stage: Stage| &ports.starts[if ports.starts.len() > 1 { stage as usize } else { 0 }];
                let inputs = Inputs {
                    guard,
                    starts: Stage::ALL.map(|stage| start(stage).out(control)),
                    program: &|stage, n| {
                        view(stage).arguments[0].get(function.arguments.len() + n).map(|port| port.out(control))
                    },
                    base: &|stage, arrays| {
                        argument(stage, &|p| matches!(p, Passed::Address(a) if a.index == arrays[0].1)).map(|a| a.1)
                    },
                    length: &|stage, arrays| {
                        let register = function.length_of(arrays[0].1)?.register;
                        Some(view(stage).arguments[0][register].out(control))
                    },
                    scalar: &|scalar| argument(Stage::Waves, &|p| *p == Passed::Value(scalar as usize)),
                    under_way: ports.overlap.as_ref().map(|o| UnderWay { one: o.one.out(control), oldest: None }),
                };
                let engines = core.engines(m, d, &inputs);
                faults(m, &engines, &|port| port, |field, value| field(&ports.fault).set(control, value));
                quiet.drive(engines.quiet(m));
                let outcome = core.connect(m, d, &engines, &inputs);
                ports.done.set(control, outcome.done);
                for (overlap, free) in ports.overlap.iter().zip(outcome.free) {
                    overlap.free.iter().zip(free).for_each(|(port, free)| port.set(control, free));
                }
                for (k, port) in interface.ports.iter().enumerate() {
                    bus(m, port, k, &engines);
                }
            }
            _ => quiet.drive(cores::connect(m, d, (&self.cores, interface), guard, (control, &ports))),
        }
        interface.declare(m);
    }
}

/// Reset controller: stretches a reset of the cores until no burst is open on the bus and then for another `flush`
/// cycles, in which zeros run through the array, whose registers have no reset. `live` is `ap_rst_n`, which ends all
/// bursts at once; `stop`: pulse of the soft reset. The control registers answer meanwhile; a run waits.
fn reset<'m>(m: &'m ModuleBuilder, live: Sig<'m>, stop: Sig<'m>, quiet: Sig<'m>, flush: u64) -> Guard<Sig<'m>> {
    let ty = u(clog2(flush + 1));
    let begins = (!live | stop).called("reset_begins");
    let left = m.reg("flush", ty).en(quiet).rst(begins, flush);
    let over = !left.q().reduce_or();
    left.next(m.mux(over, left.q(), left.q().sub_lit(1)));
    let rst = m.reg("rst", u(1)).rst(begins, 1).next(!over).q();
    Guard { rst, live }
}

impl Top {
    /// Instantiates the control registers and their AXI4-Lite port.
    fn control<'m>(
        &self,
        m: &'m ModuleBuilder,
        d: &mut Design,
        guard: &Guard<Sig<'m>>,
    ) -> (Instance<'m>, ControlPorts) {
        let Interface { layout, version, functions, interrupt, .. } = self.interface.clone();
        let low = |a: &Argument| a.array().map_or(0, |array| array.alignment.trailing_zeros());
        let aligned = functions
            .iter()
            .map(|f| f.arguments.iter().map(low).chain((0..f.numbers()).map(|_| 0)).collect())
            .collect();
        let template = AxiLiteControl { layout, version, aligned, early: self.early.clone() };
        let (ports, module) = (template.ports(), d.module(template));
        let control = m.instance(d, "control", &module);
        ports.rst.set(control, !guard.live);
        ports.ready.set(control, !guard.rst);
        ports.design_id.set(control, m.lit(0, u(32)).named(DESIGN_ID));
        let bus = &ports.bus;
        let AxiLite { awready, wready, bvalid, bresp, arready, rvalid, rresp, rdata, .. } = bus;
        pass(
            m,
            control,
            [bus.inputs(), bus.inputs()],
            [[awready, wready, bvalid, bresp, arready, rvalid, rresp, rdata]; 2].map(Vec::from),
        );
        m.output(interrupt, ports.interrupt.out(control));
        (control, ports)
    }
}

/// AXI4 port `k` of the IP: connected to the engines there; outputs of an absent direction are 0.
fn bus<'m>(m: &'m ModuleBuilder, port: &AxiPort, k: usize, engines: &Engines<'m>) {
    let prefix = &format!("{}_", port.name);
    let (read, write) = (AxiRead::ports(prefix, Bus::at(port)), AxiWrite::ports(prefix, Bus::at(port)));
    let [rid, bid] = ["rid", "bid"].map(|name| Port::bit(format!("{prefix}{name}")));
    if let Some((reader, bus)) = engines.read(k) {
        pass(m, reader, [bus.inputs(), read.inputs()], [bus.outputs(), read.outputs()]);
    }
    if let Some((writer, bus)) = engines.write(k) {
        pass(m, writer, [bus.inputs(), write.inputs()], [bus.outputs(), write.outputs()]);
    }
    // In the order of the AXI standard.
    let idle = |inputs: &[&Port], outputs: Vec<&Port>| {
        inputs.iter().for_each(|port| {
            port.input(m);
        });
        outputs.into_iter().for_each(|port| port.output(m, m.lit(0, port.ty)));
    };
    match engines.read(k) {
        Some(_) => idle(&[&rid], vec![]),
        None => idle(&[&read.ar.ready, &rid, &read.rdata, &read.rresp, &read.rlast, &read.rvalid], read.outputs()),
    }
    match engines.write(k) {
        Some(_) => idle(&[&bid], vec![]),
        None => {
            let AxiWrite { aw, wdata, wstrb, wlast, wvalid, wready, bresp, bvalid, bready } = &write;
            idle(
                &[&aw.ready, wready, &bid, bresp, bvalid],
                [aw.outputs(), vec![wdata, wstrb, wlast, wvalid, bready]].concat(),
            );
        }
    }
}
