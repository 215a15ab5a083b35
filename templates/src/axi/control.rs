//! `AxiLiteControl`: the register file a host starts the kernel with (`ap_ctrl_hs`, as Vitis and XRT expect it).
//!
//! Offsets, fields and what reading and writing them does: [`crate::interface`].
//!
//! Ports: `rst`; `s_axi_control_{awaddr, awvalid, awready, wdata, wstrb, wvalid, wready, bresp, bvalid, bready, araddr,
//! arvalid, arready, rdata, rresp, rvalid, rready}`; `start` (pulse), `done` (pulse, input), `arg_<k>` (its bits), `interrupt`;
//! `fault` and its fields, see [`super::status`].
//! Address and data of a write are accepted in any order, one of each held; one read at a time. `start` in cycle `s`
//! and `done` in cycle `d` leave `d - s` in the counter. With auto_restart the next `start` comes 2 cycles after `done`.

use super::elastic::hold;
use super::status::{self, Fault};
use crate::interface::{Layout, CTRL, GIER, IP_IER, IP_ISR};
use rtl::{u, Design, ModuleBuilder, Sig, Template};

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct AxiLiteControl {
    pub layout: Layout,
    pub design_id: u32,
    pub version: u32,
    /// Per argument the lowest bits that must be clear: those of an address within an element.
    pub aligned: Vec<u32>,
}

/// A register write in this cycle.
pub(super) struct Write<'m> {
    now: Sig<'m>,
    address: Sig<'m>,
    data: Sig<'m>,
    strobe: Sig<'m>,
}

impl<'m> Write<'m> {
    fn to(&self, m: &'m ModuleBuilder, offset: u32) -> Sig<'m> {
        self.now & self.address.eq(m.lit(offset / 4, self.address.ty()))
    }
    /// Bit `i` is written with 1.
    pub(super) fn sets(&self, m: &'m ModuleBuilder, offset: u32, i: u32) -> Sig<'m> {
        self.to(m, offset) & self.strobe.bit(i / 8) & self.data.bit(i)
    }
    /// A register of one bit.
    fn flag(&self, m: &'m ModuleBuilder, name: &str, rst: Sig<'m>, offset: u32, i: u32) -> Sig<'m> {
        m.reg(name, u(1)).next(self.data.bit(i)).en(self.to(m, offset) & self.strobe.bit(i / 8)).rst(rst, 0).q()
    }
    /// A register of 8 to 32 bits, written by bytes.
    fn word(&self, m: &'m ModuleBuilder, name: &str, rst: Sig<'m>, offset: u32, bits: u32) -> Sig<'m> {
        let byte = |i: u32| {
            let en = self.to(m, offset) & self.strobe.bit(i);
            m.reg(format!("{name}_byte{i}"), u(8)).next(self.data.slice(8 * i, 8)).en(en).rst(rst, 0).q()
        };
        m.concat(&(0..bits.div_ceil(8)).rev().map(byte).collect::<Vec<_>>())
    }
}

impl Template for AxiLiteControl {
    fn name(&self) -> String {
        format!("axi_lite_control_{}", self.layout.arguments.len())
    }

    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        m.doc("Control registers: start and status, interrupt, addresses of the arrays, cycle counter of the latest run.");
        let rst = m.input("rst", u(1));
        let write = self.write_channel(m, rst);
        let read = self.read_channel(m, rst);
        let (ended, misaligned) = (m.input("done", u(1)), m.wire("misaligned", u(1)));
        let refused = m.reg("refused", u(1));
        let done = ended | refused.q();

        let auto = write.flag(m, "auto_restart", rst, CTRL, 7);
        let (asked, running) = (m.reg("ap_start", u(1)), m.reg("running", u(1)));
        let asks = write.sets(m, CTRL, 0);
        asked.next(asks | auto).en(asks | done).rst(rst, 0);
        let launch = asked.q() & !running.q();
        running.next(launch).en(launch | done).rst(rst, 0);
        let start = m.reg("start_q", u(1)).next(launch & !misaligned.sig()).rst(rst, 0).q();
        refused.next(launch & misaligned.sig()).rst(rst, 0);
        m.output("start", start);
        let status_read = read.taken & read.address.eq(m.lit(CTRL / 4, read.address.ty()));
        let status = |name: &str| m.reg(name, u(1)).next(done).en(done | status_read).rst(rst, 0).q();
        let (is_done, is_ready) = (status("ap_done"), status("ap_ready"));
        let idle = !(asked.q() | running.q());
        let (one, count) = (m.lit(1, u(64)), m.reg("cycles", u(64)));
        let counted = m.select(&[(start, one), (refused.q(), m.lit(0, u(64)))], count.q() + one);
        count.next(counted).en(start | refused.q() | (running.q() & !done)).rst(rst, 0);

        let global = write.flag(m, "interrupt_global", rst, GIER, 0);
        let enables = [(0, "done"), (1, "ready"), (2, "error")].map(|(i, name)| write.flag(m, &format!("interrupt_{name}"), rst, IP_IER, i));
        let wrong = m.wire("wrong", u(1));
        let pending: Vec<_> = (0..3u32)
            .map(|i| {
                let flag = m.reg(format!("interrupt_status{i}"), u(1));
                let next = (flag.q() ^ write.sets(m, IP_ISR, i)) | (if i == 2 { wrong.sig() } else { done } & enables[i as usize]);
                flag.next(next).rst(rst, 0).q()
            })
            .collect();
        m.output("interrupt", m.reg("interrupt_q", u(1)).next(global & m.any(&pending)).rst(rst, 0).q());

        let zeros = |n: u32| m.lit(0, u(n));
        let control = m.concat(&[zeros(24), auto, zeros(3), is_ready, idle, is_done, asked.q()]);
        let mut registers = vec![
            (CTRL, control),
            (GIER, global.extend(32)),
            (IP_IER, m.concat(&[zeros(29), enables[2], enables[1], enables[0]])),
            (IP_ISR, m.concat(&[zeros(29), pending[2], pending[1], pending[0]])),
        ];
        let mut crooked = vec![];
        for (k, &bits) in self.layout.arguments.iter().enumerate() {
            let at = self.layout.argument(k);
            let low = write.word(m, &format!("arg_{k}_low"), rst, at, bits.min(32));
            let mut value = low;
            registers.push((at, low.extend(32)));
            if bits > 32 {
                let high = write.word(m, &format!("arg_{k}_high"), rst, at + 4, bits - 32);
                registers.push((at + 4, high.extend(32)));
                value = m.concat(&[high, low]);
            }
            if self.aligned[k] > 0 {
                crooked.push((value.slice(0, self.aligned[k]).reduce_or(), m.lit(k as u64 & 0xff, u(8))));
            }
            m.output(format!("arg_{k}"), value);
        }
        misaligned.drive(crooked.iter().fold(m.lit(0, u(1)), |any, c| any | c.0));
        let index = m.select(&crooked, m.lit(0, u(8)));
        let (status, now) = status::registers(m, &self.layout, rst, &write, Fault::of(m), [refused.q(), index]);
        wrong.drive(now);
        registers.extend(status);
        let at = self.layout.cycles();
        // The halves are read one after the other, but belong together.
        let high = hold(m, "cycles_high", read.taken & read.address.eq(m.lit(at / 4, read.address.ty())), count.q().slice(32, 32));
        registers.push((self.layout.design_id(), m.lit(self.design_id, u(32))));
        registers.push((self.layout.version(), m.lit(self.version, u(32))));
        registers.extend([(at, count.q().slice(0, 32)), (at + 4, high)]);
        let gated: Vec<_> = registers
            .iter()
            .map(|(at, v)| m.mux(read.address.eq(m.lit(at / 4, read.address.ty())), *v, zeros(32)))
            .collect();
        let value = m.tree(&gated, |a, b| a | b);
        m.output("s_axi_control_rdata", hold(m, "rdata", read.taken, value));
    }
}

/// A register read in this cycle.
struct Read<'m> {
    taken: Sig<'m>,
    address: Sig<'m>,
}

impl AxiLiteControl {
    fn write_channel<'m>(&self, m: &'m ModuleBuilder, rst: Sig<'m>) -> Write<'m> {
        let bits = self.layout.address_bits();
        let input = |name: &str, w: u32| m.input(format!("s_axi_control_{name}"), u(w));
        let (awaddr, awvalid) = (input("awaddr", bits), input("awvalid", 1));
        let (wdata, wstrb, wvalid) = (input("wdata", 32), input("wstrb", 4), input("wvalid", 1));
        let bready = input("bready", 1);
        let (addressed, filled, bvalid) = (m.reg("aw_held", u(1)), m.reg("w_held", u(1)), m.reg("bvalid", u(1)));
        let now = addressed.q() & filled.q() & !bvalid.q();
        let (aw, w) = (awvalid & !addressed.q(), wvalid & !filled.q());
        addressed.next(aw).en(aw | now).rst(rst, 0);
        filled.next(w).en(w | now).rst(rst, 0);
        bvalid.next(now).en(now | (bvalid.q() & bready)).rst(rst, 0);
        m.output("s_axi_control_awready", !addressed.q() & !rst);
        m.output("s_axi_control_wready", !filled.q() & !rst);
        m.output("s_axi_control_bvalid", bvalid.q());
        m.output("s_axi_control_bresp", m.lit(0, u(2)));
        let address = hold(m, "aw_word", aw, awaddr.slice(2, bits - 2));
        Write { now, address, data: hold(m, "w_data", w, wdata), strobe: hold(m, "w_strobe", w, wstrb) }
    }

    fn read_channel<'m>(&self, m: &'m ModuleBuilder, rst: Sig<'m>) -> Read<'m> {
        let bits = self.layout.address_bits();
        let araddr = m.input("s_axi_control_araddr", u(bits));
        let arvalid = m.input("s_axi_control_arvalid", u(1));
        let rready = m.input("s_axi_control_rready", u(1));
        let rvalid = m.reg("rvalid", u(1));
        let taken = arvalid & !rvalid.q();
        rvalid.next(taken).en(taken | (rvalid.q() & rready)).rst(rst, 0);
        m.output("s_axi_control_arready", !rvalid.q() & !rst);
        m.output("s_axi_control_rvalid", rvalid.q());
        m.output("s_axi_control_rresp", m.lit(0, u(2)));
        Read { taken, address: araddr.slice(2, bits - 2) }
    }
}
