//! An on-chip memory (block RAM or UltraRAM) with AXI4 ports, for an array that passes values between phases, or from run
//! to run, and stays in the IP. The engines in front of it treat it like DRAM, on a bus of its own.
//!
//! Ports: [`OnChipPorts`], a read and a write side, one beat per cycle each. Bursts are executed in order. There is no
//! RREADY or BREADY: the engines take every beat and response in its cycle.
//!
//! Timing, as in [`MemoryTiming::ON_CHIP`](array::contract::dram::MemoryTiming::ON_CHIP): a read address accepted in
//! cycle `t` is at the head of its FIFO in `t + 1` and addresses the memory in `t + 2`; its first beat is on the R
//! channel in `t + 4`. A write beat accepted in `t` is in the memory at the end of `t + 1`; if it is the last of its
//! burst, the response comes in `t + 2`.

use super::bundle::{AxiAddress, AxiRead, AxiWrite, Bus};
use super::elastic::{fifo, pack, unpack, Fifo};
use crate::naming::{memory_style, CELLS};
use crate::port::Port;
use array::vsa::{Home, Vsa};
use rtl::{clog2, u, Design, Instance, Memory, ModuleBuilder, Sig, Template};

/// Depth of the FIFO of bursts, in each direction.
const WAITING: u32 = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct OnChip {
    /// Name of the array, for comments.
    pub array: String,
    pub words: u32,
    /// Bytes of an element. All strobes of an element are equal.
    pub element: u32,
    pub bus: Bus,
    /// The board has UltraRAM.
    pub uram: bool,
    pub reads: bool,
    pub writes: bool,
    /// Its values stay from run to run; they begin as zeros.
    pub kept: bool,
}

/// The interface of an [`OnChip`]. Signals that an AXI manager drives are inputs.
pub struct OnChipPorts {
    /// Synchronous, active high; no burst is open.
    pub rst: Port,
    pub read: AxiRead<Port>,
    pub write: AxiWrite<Port>,
}

/// Signals of an address channel that the memory uses.
fn address(channel: &AxiAddress<Port>) -> Vec<&Port> {
    vec![&channel.addr, &channel.len, &channel.valid]
}

fn beat(write: &AxiWrite<Port>) -> Vec<&Port> {
    vec![&write.wdata, &write.wstrb, &write.wlast, &write.wvalid]
}

impl OnChip {
    /// The memory behind a port; `None` if that leads to DRAM.
    pub fn from_vsa(vsa: &Vsa, port: usize, reads: bool, writes: bool) -> Option<OnChip> {
        let array = vsa.on_chip(port)?;
        let bus = Bus { bytes: array.bus_bytes(), address_bits: vsa.port_address_bits(port) };
        Some(OnChip {
            array: array.name.clone(),
            words: array.words() as u32,
            element: array.ty.bytes(),
            bus,
            uram: vsa.uram,
            reads,
            writes,
            kept: array.home == Home::Kept,
        })
    }

    pub fn ports(&self) -> OnChipPorts {
        OnChipPorts {
            rst: Port::bit("rst"),
            read: AxiRead::ports("s_axi_", self.bus),
            write: AxiWrite::ports("s_axi_", self.bus),
        }
    }

    /// Connects an instance to the buses of its engines.
    pub(crate) fn connect<'m>(
        &self,
        memory: Instance<'m>,
        reader: Option<(Instance<'m>, &AxiRead<Port>)>,
        writer: Option<(Instance<'m>, &AxiWrite<Port>)>,
    ) {
        let ports = self.ports();
        let to = |engine: Instance<'m>, from: Vec<&Port>, to: Vec<&Port>| {
            from.into_iter().zip(to).for_each(|(from, to)| to.set(memory, from.out(engine)))
        };
        let back = |engine: Instance<'m>, from: Vec<&Port>, to: Vec<&Port>| {
            from.into_iter().zip(to).for_each(|(from, to)| to.set(engine, from.out(memory)))
        };
        if let Some((engine, bus)) = reader {
            to(engine, address(&bus.ar), address(&ports.read.ar));
            back(engine, ports.read.inputs(), bus.inputs());
        }
        if let Some((engine, bus)) = writer {
            to(engine, [address(&bus.aw), beat(bus)].concat(), [address(&ports.write.aw), beat(&ports.write)].concat());
            back(engine, ports.write.inputs(), bus.inputs());
        }
    }

    fn depth(&self) -> u32 {
        self.words.max(2)
    }

    /// FIFO of bursts: first word, and beats minus one.
    fn bursts<'m>(
        &self,
        m: &'m ModuleBuilder,
        name: &str,
        rst: Sig<'m>,
        channel: &AxiAddress<Port>,
        pop: Sig<'m>,
    ) -> (Fifo<'m>, Vec<Sig<'m>>) {
        let [addr, len, valid] = [&channel.addr, &channel.len, &channel.valid].map(|port| port.input(m));
        let room = m.wire(format!("{name}_room"), u(1));
        let word = addr.slice(self.bus.bytes.trailing_zeros(), clog2(self.depth().into()));
        let parts = [word, len];
        let queue = fifo(m, name, WAITING, rst, valid & room.sig(), pack(m, &parts), pop);
        room.drive(queue.room);
        channel.ready.output(m, queue.room);
        let head = unpack(queue.head, &parts.map(|p| p.ty()));
        (queue, head)
    }

    fn read<'m>(&self, m: &'m ModuleBuilder, rst: Sig<'m>, bus: &AxiRead<Port>, cells: Memory<'m>) {
        let busy = m.reg("read_busy", u(1));
        let at = m.reg("read_word", u(clog2(self.depth().into())));
        let left = m.reg("read_left", u(8));
        let last = left.q().eq_lit(0).named("read_last");
        let free = (!busy.q() | last).named("read_free");
        let pop = m.wire("ar_pop", u(1));
        let (queue, head) = self.bursts(m, "ar", rst, &bus.ar, pop.sig());
        pop.drive(free & queue.valid);
        let pop = pop.sig();
        busy.next(queue.valid).en(free).rst(rst, 0);
        at.next(m.mux(pop, head[0], at.q().add_lit(1)));
        left.next(m.mux(pop, head[1], left.q().sub_lit(1)));
        let word = cells.read_sync("cell", busy.q(), at.q());
        let twice = |name: &str, value: Sig<'m>| {
            let first = m.reg(format!("{name}_1"), u(1)).next(value).rst(rst, 0).q();
            m.reg(format!("{name}_2"), u(1)).next(first).rst(rst, 0).q()
        };
        bus.rvalid.output(m, twice("r_valid", busy.q()));
        bus.rlast.output(m, twice("r_last", last));
        bus.rdata.output(m, m.reg("r_data", word.ty()).next(word).q());
        bus.rresp.output(m, m.lit(0, u(2)));
    }

    fn write<'m>(&self, m: &'m ModuleBuilder, rst: Sig<'m>, bus: &AxiWrite<Port>, cells: Memory<'m>) {
        let [data, strobes, last, valid] = [&bus.wdata, &bus.wstrb, &bus.wlast, &bus.wvalid].map(|port| port.input(m));
        let pop = m.wire("aw_pop", u(1));
        let (queue, head) = self.bursts(m, "aw", rst, &bus.aw, pop.sig());
        let taken = (valid & queue.valid).named("w_taken");
        let ends = (taken & last).named("w_ends");
        pop.drive(ends);
        bus.wready.output(m, queue.valid);
        let beat = m.reg("w_beat", u(8));
        beat.next(m.mux(last, m.lit(0, u(8)), beat.q().add_lit(1))).en(taken).rst(rst, 0);
        let at = (head[0] + beat.q().resize(head[0].w())).named("w_word");
        let stage = |name: &str, value: Sig<'m>| m.reg(name, value.ty()).next(value).q();
        // What is kept is not lost to what registers hold before the first reset.
        let stores = m.reg("w_stores", u(1));
        let stores = match self.kept {
            true => {
                let live = m.reg("was_reset", u(1)).init(0);
                live.next(live.q() | rst);
                stores.init(0).next(taken & live.q()).rst(rst, 0).q()
            }
            false => stores.next(taken).rst(rst, 0).q(),
        };
        let elements: Vec<Sig<'m>> =
            (0..self.bus.bytes / self.element).rev().map(|e| strobes.bit(e * self.element)).collect();
        cells.write_masked(
            stores,
            stage("w_at", at),
            stage("w_data", data),
            stage("w_elements", m.concat(&elements)),
            8 * self.element,
        );
        let answers = m.reg("w_answers", u(1)).next(ends).rst(rst, 0).q();
        bus.bvalid.output(m, m.reg("b_valid", u(1)).next(answers).rst(rst, 0).q());
        bus.bresp.output(m, m.lit(0, u(2)));
    }
}

impl Template for OnChip {
    fn name(&self) -> String {
        format!("on_chip_{}", self.array.to_lowercase())
    }

    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let when = match self.kept {
            true => "from run to run; it begins as zeros, and no reset clears it",
            false => "between the phases that write and read it",
        };
        m.doc(format!("Keeps {}, {} words of {} bytes, {when}.", self.array, self.words, self.bus.bytes));
        let ports = self.ports();
        let rst = ports.rst.input(m);
        let cells = m.mem(
            CELLS,
            self.depth(),
            8 * self.bus.bytes,
            memory_style(self.depth().into(), 9 * self.bus.bytes, self.uram),
        );
        let cells = if self.kept { cells.zeroed() } else { cells };
        if self.reads {
            self.read(m, rst, &ports.read, cells);
        }
        if self.writes {
            self.write(m, rst, &ports.write, cells);
        }
    }
}
