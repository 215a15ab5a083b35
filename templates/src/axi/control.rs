//! `AxiLiteControl`: the register file a host starts the kernel with (`ap_ctrl_hs`, as Vitis and XRT expect it).
//!
//! Offsets, fields and what reading and writing them does: [`crate::interface`].
//!
//! Ports: [`ControlPorts`].
//! Address and data of a write are accepted in any order, one of each held; one read at a time. `start` in cycle `s`
//! and `done` in cycle `d` leave `d - s` in the counter. With auto_restart, or another command in the queue, the next
//! `start` comes 2 cycles after `done`. What the host starts itself goes before what waits in the queue.

use super::bundle::AxiLite;
use super::command::{Asked, Queue, Words};
use super::elastic::hold;
use super::register::Write;
use super::status::{self, Fault};
use crate::interface::layout::FUNCTION_BITS;
use crate::interface::{Layout, CTRL, GIER, IP_IER, IP_ISR};
use crate::port::Port;
use rtl::{u, Design, ModuleBuilder, Sig, Template};

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct AxiLiteControl {
    pub layout: Layout,
    pub version: u32,
    /// By function, per argument: the lowest bits that must be clear, those of an address within an element.
    pub aligned: Vec<Vec<u32>>,
}

/// The interface of an [`AxiLiteControl`].
#[derive(Clone, Debug, PartialEq)]
pub struct ControlPorts {
    /// Synchronous, high.
    pub rst: Port,
    pub bus: AxiLite<Port>,
    /// What the host reads there.
    pub design_id: Port,
    /// Pulse.
    pub start: Port,
    /// Pulse: the run has ended.
    pub done: Port,
    pub interrupt: Port,
    /// The number of the function that starts, where there are several.
    pub function: Option<Port>,
    /// Its arguments, as each function sees them.
    pub arguments: Vec<Vec<Port>>,
    pub fault: Fault<Port>,
}

impl AxiLiteControl {
    /// The interface.
    pub fn ports(&self) -> ControlPorts {
        let several = self.layout.functions.len() > 1;
        let name = |f: usize, k: usize| if several { format!("arg_{f}_{k}") } else { format!("arg_{k}") };
        let arguments = |(f, all): (usize, &Vec<u32>)| {
            all.iter().enumerate().map(|(k, bits)| Port::new(name(f, k), u(8 * bits.div_ceil(8)))).collect()
        };
        ControlPorts {
            rst: Port::bit("rst"),
            bus: AxiLite::ports("s_axi_control_", self.layout.address_bits()),
            design_id: Port::new("design_id", u(32)),
            start: Port::bit("start"),
            done: Port::bit("done"),
            interrupt: Port::bit("interrupt"),
            function: several.then(|| Port::new("function", u(FUNCTION_BITS))),
            arguments: self.layout.functions.iter().enumerate().map(arguments).collect(),
            fault: Fault::ports(),
        }
    }
}

impl Template for AxiLiteControl {
    fn name(&self) -> String {
        match &self.layout.functions[..] {
            [only] => format!("axi_lite_control_{}", only.len()),
            several => format!("axi_lite_control_of_{}", several.len()),
        }
    }

    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        m.doc(
            "Control registers: start and status, interrupt, addresses of the arrays, cycle counter of the latest run.",
        );
        let ports = self.ports();
        let rst = ports.rst.input(m);
        let write = write_channel(m, &ports.bus, rst);
        let read = read_channel(m, &ports.bus, rst);
        let (ended, misaligned) = (ports.done.input(m), m.wire("misaligned", u(1)));
        let refused = m.reg("refused", u(1));
        let done = ended | refused.q();

        let auto = write.flag(m, "auto_restart", rst, CTRL, 7);
        let (asked, running) = (m.reg("ap_start", u(1)), m.reg("running", u(1)));
        let asks = write.sets(m, CTRL, 0);
        let queue = self.layout.queue().map(|_| Queue::new(m, &self.layout, (rst, done), (asked.q(), running.q())));
        // The host's own run ends.
        let own = queue.as_ref().map_or(done, |q| done & !q.runs);
        asked.next(asks | auto).en(asks | own).rst(rst, 0);
        let launch = queue.as_ref().map_or(asked.q(), |q| asked.q() | q.waits) & !running.q();
        running.next(launch).en(launch | done).rst(rst, 0);
        let start = m.reg("start_q", u(1)).next(launch & !misaligned.sig()).rst(rst, 0).q();
        refused.next(launch & misaligned.sig()).rst(rst, 0);
        ports.start.output(m, start);
        let status_read = read.taken & read.address.eq(m.lit(CTRL / 4, read.address.ty()));
        let status = |name: &str| m.reg(name, u(1)).next(own).en(own | status_read).rst(rst, 0).q();
        let (is_done, is_ready) = (status("ap_done"), status("ap_ready"));
        let busy = asked.q() | running.q();
        let idle = !queue.as_ref().map_or(busy, |q| busy | q.waits);
        let (one, count) = (m.lit(1, u(64)), m.reg("cycles", u(64)));
        let counted = m.select(&[(start, one), (refused.q(), m.lit(0, u(64)))], count.q() + one);
        count.next(counted).en(start | refused.q() | (running.q() & !done)).rst(rst, 0);

        let global = write.flag(m, "interrupt_global", rst, GIER, 0);
        let causes =
            [(0, "done"), (1, "ready"), (2, "error")].into_iter().chain(queue.is_some().then_some((3, "queue")));
        let enables: Vec<_> =
            causes.map(|(i, name)| write.flag(m, &format!("interrupt_{name}"), rst, IP_IER, i)).collect();
        let wrong = m.wire("wrong", u(1));
        let event = |i: usize| match (i, &queue) {
            (2, _) => wrong.sig(),
            (3, Some(queue)) => queue.drained,
            _ => own,
        };
        let pending: Vec<_> = (0..enables.len())
            .map(|i| {
                let flag = m.reg(format!("interrupt_status{i}"), u(1));
                let next = (flag.q() ^ write.sets(m, IP_ISR, i as u32)) | (event(i) & enables[i]);
                flag.next(next).rst(rst, 0).q()
            })
            .collect();
        ports.interrupt.output(m, m.reg("interrupt_q", u(1)).next(global & m.any(&pending)).rst(rst, 0).q());

        let zeros = |n: u32| m.lit(0, u(n));
        let control = m.concat(&[zeros(24), auto, zeros(3), is_ready, idle, is_done, asked.q()]).called("ctrl");
        let bits = |from: &[Sig<'m>]| {
            m.concat(&[zeros(32 - from.len() as u32)].into_iter().chain(from.iter().rev().copied()).collect::<Vec<_>>())
        };
        let mut registers =
            vec![(CTRL, control), (GIER, global.extend(32)), (IP_IER, bits(&enables)), (IP_ISR, bits(&pending))];
        let words = Words { m, layout: &self.layout, write: &write, rst };
        let mut asked = Asked::new(words, queue);
        let mut crooked = asked.unknown();
        for (f, arguments) in self.layout.functions.iter().enumerate() {
            for k in 0..arguments.len() {
                let value = asked.argument(f, k, &mut registers);
                let low = self.aligned[f][k];
                if low > 0 {
                    crooked.push((
                        asked.is(f, value.slice(0, low).reduce_or()).called(format!("misaligned_{f}_{k}")),
                        m.lit(k as u64 & 0xff, u(8)),
                    ));
                }
                ports.arguments[f][k].output(m, value);
            }
        }
        ports.function.iter().zip(asked.function()).for_each(|(port, number)| port.output(m, number));
        registers.extend(asked.registers());
        misaligned.drive(if crooked.is_empty() {
            m.lit(0, u(1))
        } else {
            m.any(&crooked.iter().map(|c| c.0).collect::<Vec<_>>())
        });
        let index = m.select(&crooked, m.lit(0, u(8)));
        let (status, now) = status::registers(
            m,
            &self.layout,
            rst,
            &write,
            ports.fault.map(|port| port.input(m)),
            [refused.q(), index],
        );
        wrong.drive(now);
        registers.extend(status);
        let at = self.layout.cycles();
        // The halves are read one after the other, but belong together.
        let high = hold(
            m,
            "cycles_high",
            read.taken & read.address.eq(m.lit(at / 4, read.address.ty())),
            count.q().slice(32, 32),
        );
        registers.push((self.layout.design_id(), ports.design_id.input(m)));
        registers.push((self.layout.version(), m.lit(self.version, u(32))));
        registers.extend([(at, count.q().slice(0, 32)), (at + 4, high)]);
        registers.sort_by_key(|r| r.0);
        ports.bus.rdata.output(m, hold(m, "rdata", read.taken, read.of(m, &registers)));
    }
}

/// A register read in this cycle.
struct Read<'m> {
    taken: Sig<'m>,
    address: Sig<'m>,
}

impl<'m> Read<'m> {
    /// The value at the address, of registers in the order of theirs; 0 where there is none.
    fn of(&self, m: &'m ModuleBuilder, registers: &[(u32, Sig<'m>)]) -> Sig<'m> {
        let [(at, value)] = registers else {
            let (low, high) = registers.split_at(registers.len() / 2);
            let name = format!("read_{:02x}_to_{:02x}", registers[0].0, registers[registers.len() - 1].0);
            return (self.of(m, low) | self.of(m, high)).called(name);
        };
        m.mux(self.address.eq(m.lit(at / 4, self.address.ty())), *value, m.lit(0, u(32)))
            .called(format!("read_{at:02x}"))
    }
}

fn write_channel<'m>(m: &'m ModuleBuilder, bus: &AxiLite<Port>, rst: Sig<'m>) -> Write<'m> {
    let (awaddr, awvalid) = (bus.awaddr.input(m), bus.awvalid.input(m));
    let (wdata, wstrb, wvalid) = (bus.wdata.input(m), bus.wstrb.input(m), bus.wvalid.input(m));
    let bready = bus.bready.input(m);
    let (addressed, filled, bvalid) = (m.reg("aw_held", u(1)), m.reg("w_held", u(1)), m.reg("bvalid", u(1)));
    let now = (addressed.q() & filled.q() & !bvalid.q()).called("writes");
    let (aw, w) = ((awvalid & !addressed.q()).called("aw_taken"), (wvalid & !filled.q()).called("w_taken"));
    addressed.next(aw).en(aw | now).rst(rst, 0);
    filled.next(w).en(w | now).rst(rst, 0);
    bvalid.next(now).en(now | (bvalid.q() & bready)).rst(rst, 0);
    bus.awready.output(m, !addressed.q() & !rst);
    bus.wready.output(m, !filled.q() & !rst);
    bus.bvalid.output(m, bvalid.q());
    bus.bresp.output(m, m.lit(0, u(2)));
    let address = hold(m, "aw_word", aw, awaddr.slice(2, awaddr.w() - 2));
    Write { now, address, data: hold(m, "w_data", w, wdata), strobe: hold(m, "w_strobe", w, wstrb) }
}

fn read_channel<'m>(m: &'m ModuleBuilder, bus: &AxiLite<Port>, rst: Sig<'m>) -> Read<'m> {
    let (araddr, arvalid, rready) = (bus.araddr.input(m), bus.arvalid.input(m), bus.rready.input(m));
    let rvalid = m.reg("rvalid", u(1));
    let taken = (arvalid & !rvalid.q()).called("ar_taken");
    rvalid.next(taken).en(taken | (rvalid.q() & rready)).rst(rst, 0);
    bus.arready.output(m, !rvalid.q() & !rst);
    bus.rvalid.output(m, rvalid.q());
    bus.rresp.output(m, m.lit(0, u(2)));
    Read { taken, address: araddr.slice(2, araddr.w() - 2).named("ar_word") }
}
