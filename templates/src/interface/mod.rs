//! `Interface`: what an IP looks like from outside, described once. Simulation, testbench, report and packaging read it;
//! the register file is built from its [`Layout`]. Nobody else computes an offset or a port's name.
//!
//! Register map: CTRL, GIER, IP_IER, IP_ISR as Vitis HLS lays them out, the arguments from [`ARGUMENTS`] on in the order
//! of the C function's parameters, 12 bytes for each address (low half, high half, a gap), then the cycle counter.
//!
//! Invariants: registers are sorted by offset, aligned to 4 bytes and disjoint; [`Interface::arguments`] stand in the
//! order of [`Vsa::arrays`].

pub mod names;

use arch::contract::walk::Walk;
use arch::ir::vsa::Vsa;
use frontend::scop::ScalarType;

/// Offset of the control register: start, done, idle, ready.
pub const CTRL: u32 = 0x00;
/// Offset of the global interrupt enable.
pub const GIER: u32 = 0x04;
/// Offset of the interrupt enables.
pub const IP_IER: u32 = 0x08;
/// Offset of the interrupt status.
pub const IP_ISR: u32 = 0x0c;
/// Offset of the first argument.
pub const ARGUMENTS: u32 = 0x10;

/// Where the registers behind IP_ISR stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of DRAM arrays, each with a 64-bit address.
    pub arrays: usize,
}

impl Layout {
    /// Byte offset of the low half of array `k`'s address.
    pub fn array(&self, k: usize) -> u32 {
        ARGUMENTS + 12 * k as u32
    }
    /// Byte offset of the low half of the cycle counter.
    pub fn cycles(&self) -> u32 {
        self.array(self.arrays)
    }
    /// Byte offset behind the last register.
    pub fn end(&self) -> u32 {
        self.cycles() + 8
    }
    /// Address bits that the register file decodes.
    pub fn address_bits(&self) -> u32 {
        rtl::clog2(u64::from(self.end())).max(6)
    }
}

/// What software may do with a register or field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadWrite,
    ReadOnly,
    /// Reading clears it.
    ReadClears,
    /// Writing 1 sets it.
    SetByOne,
    /// Writing 1 toggles it.
    ToggledByOne,
}

/// Bits of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    /// Lowest bit.
    pub bit: u32,
    /// In bits.
    pub width: u32,
    pub access: Access,
    pub description: &'static str,
}

/// A register of 32 bits at `s_axi_control`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    pub name: String,
    /// In bytes.
    pub offset: u32,
    pub access: Access,
    /// Value after reset.
    pub reset: u32,
    pub description: String,
    /// Empty where the register is one number.
    pub fields: Vec<Field>,
}

/// An argument of the kernel: an array in DRAM that the host hands over by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// As in C.
    pub name: String,
    /// In everything that is generated: legal and unique, letter case ignored.
    pub ident: String,
    /// Of an element.
    pub ty: ScalarType,
    /// Extents, outermost first, at least one.
    pub dims: Vec<i64>,
    /// Offset of the address register's low half; the high half is 4 bytes further.
    pub offset: u32,
    /// Index into [`Interface::ports`].
    pub port: usize,
    pub read: bool,
    pub written: bool,
}

impl Argument {
    pub fn elements(&self) -> u64 {
        self.dims.iter().product::<i64>() as u64
    }
    /// Size in memory.
    pub fn bytes(&self) -> u64 {
        self.elements() * u64::from(self.ty.bytes())
    }
}

/// An AXI4 manager port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxiPort {
    /// `m_axi_a`; its signals are `m_axi_a_araddr` and so on.
    pub name: String,
    pub data_bits: u32,
    pub address_bits: u32,
    /// Longest burst in beats.
    pub burst_beats: u32,
    pub reads: bool,
    pub writes: bool,
    /// The arrays it moves: indices into [`Interface::arguments`].
    pub arrays: Vec<usize>,
}

/// The ports and registers of an IP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The top module.
    pub kernel: String,
    /// The clock port; everything is synchronous to its rising edge.
    pub clock: &'static str,
    /// The reset port, active low and synchronous.
    pub reset: &'static str,
    /// The interrupt port, high while an enabled interrupt is pending.
    pub interrupt: &'static str,
    /// The AXI4-Lite subordinate port of the registers.
    pub control: &'static str,
    pub layout: Layout,
    pub arguments: Vec<Argument>,
    pub ports: Vec<AxiPort>,
    pub registers: Vec<Register>,
}

impl Interface {
    /// The interface of the IP that [`crate::ip`] builds for the array.
    pub fn new(vsa: &Vsa) -> Interface {
        let layout = Layout { arrays: vsa.arrays.len() };
        let idents = names::arguments(vsa.arrays.iter().map(|a| a.name.as_str()));
        let ports = (0..vsa.ports()).zip(names::ports(vsa, &idents)).map(|(port, name)| axi_port(vsa, port, name)).collect();
        let arguments: Vec<Argument> = idents.into_iter().enumerate().map(|(k, ident)| argument(vsa, &layout, k, ident)).collect();
        let registers = registers(&layout, &arguments);
        Interface { kernel: names::kernel(&vsa.name), clock: "ap_clk", reset: "ap_rst_n", interrupt: "interrupt", control: "s_axi_control", layout, arguments, ports, registers }
    }

    /// The arguments that a port moves.
    pub fn behind<'a>(&'a self, port: &'a AxiPort) -> impl Iterator<Item = &'a Argument> {
        port.arrays.iter().map(|&k| &self.arguments[k])
    }
}

fn argument(vsa: &Vsa, layout: &Layout, k: usize, ident: String) -> Argument {
    let array = &vsa.arrays[k];
    Argument {
        name: array.name.clone(),
        ident,
        ty: array.ty,
        dims: array.dims.clone(),
        offset: layout.array(k),
        port: vsa.port_of(k as u32),
        read: vsa.inputs.iter().any(|g| g.array as usize == k),
        written: vsa.outputs.iter().any(|g| g.array as usize == k),
    }
}

fn axi_port(vsa: &Vsa, port: usize, name: String) -> AxiPort {
    let (reads, writes) = (Walk::reads(vsa, port), Walk::writes(vsa, port));
    let burst = reads.iter().chain(&writes).map(Walk::burst_beats).max().unwrap_or(1);
    AxiPort {
        name,
        data_bits: 8 * vsa.bus_bytes(port),
        address_bits: 64,
        burst_beats: burst as u32,
        reads: reads.is_some(),
        writes: writes.is_some(),
        arrays: vsa.arrays_of(port).collect(),
    }
}

fn registers(layout: &Layout, arguments: &[Argument]) -> Vec<Register> {
    use Access::{ReadClears, ReadOnly, ReadWrite, SetByOne, ToggledByOne};
    let field = |name, bit, access, description| Field { name, bit, width: 1, access, description };
    let register = |name: &str, offset, access, description: &str| Register { name: name.into(), offset, access, reset: 0, description: description.into(), fields: vec![] };
    let control = vec![
        field("AP_START", 0, SetByOne, "starts a run; 0 again when it has ended"),
        field("AP_DONE", 1, ReadClears, "a run has ended since the last read"),
        field("AP_IDLE", 2, ReadOnly, "no run is under way"),
        field("AP_READY", 3, ReadClears, "as AP_DONE"),
        field("AUTO_RESTART", 7, ReadWrite, "the next run starts when one ends"),
    ];
    let enables = vec![field("CHAN0_INT_EN", 0, ReadWrite, "interrupt when a run is done"), field("CHAN1_INT_EN", 1, ReadWrite, "interrupt when ready for the next run")];
    let pending = vec![field("CHAN0_INT_ST", 0, ToggledByOne, "a run is done"), field("CHAN1_INT_ST", 1, ToggledByOne, "ready for the next run")];
    let mut all = vec![
        Register { reset: 4, fields: control, ..register("CTRL", CTRL, ReadWrite, "start and status") },
        Register { fields: vec![field("Enable", 0, ReadWrite, "enables the interrupt port")], ..register("GIER", GIER, ReadWrite, "global interrupt enable") },
        Register { fields: enables, ..register("IP_IER", IP_IER, ReadWrite, "interrupt enables") },
        Register { fields: pending, ..register("IP_ISR", IP_ISR, ReadWrite, "interrupt status") },
    ];
    for a in arguments {
        all.push(register(&format!("{}_1", a.ident), a.offset, ReadWrite, &format!("address of {}, bits 31 to 0", a.name)));
        all.push(register(&format!("{}_2", a.ident), a.offset + 4, ReadWrite, &format!("address of {}, bits 63 to 32", a.name)));
    }
    all.push(register("cycles_1", layout.cycles(), ReadOnly, "cycles of the latest run, bits 31 to 0; no atomic pair: read when idle"));
    all.push(register("cycles_2", layout.cycles() + 4, ReadOnly, "cycles of the latest run, bits 63 to 32"));
    all
}
