//! `Interface`: what an IP looks like from outside, described once. Simulation, testbench, report and packaging read it;
//! the register file is built from its [`Layout`]. Nobody else computes an offset or a port's name.
//!
//! Register map: CTRL, GIER, IP_IER, IP_ISR as Vitis HLS lays them out, the arguments from [`ARGUMENTS`] on in the order
//! of the C function's parameters (12 bytes for an address or a scalar of 64 bits: low half, high half, a gap; 8 for a
//! smaller scalar), then what a host needs to trust a run: [`Layout::design_id`] and the rest.
//!
//! Invariants: registers are sorted by offset, aligned to 4 bytes and disjoint; what is added later goes to the end.

pub mod names;
mod signals;

pub use signals::Single;

use arch::contract::walk::Walk;
use arch::ir::vsa::Vsa;
use frontend::scop::ScalarType;
use sha2::{Digest, Sha256};

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
    /// Bits of each argument: 64 for an address, the width of its type for a scalar.
    pub arguments: Vec<u32>,
}

impl Layout {
    /// Byte offset of the (low half of the) `k`-th argument.
    pub fn argument(&self, k: usize) -> u32 {
        ARGUMENTS + self.arguments[..k].iter().map(|&bits| if bits > 32 { 12 } else { 8 }).sum::<u32>()
    }
    /// Byte offset of the design's identifier.
    pub fn design_id(&self) -> u32 {
        self.argument(self.arguments.len())
    }
    /// Byte offset of the version of sagen.
    pub fn version(&self) -> u32 {
        self.design_id() + 4
    }
    /// Byte offset of the low half of the cycle counter.
    pub fn cycles(&self) -> u32 {
        self.version() + 4
    }
    /// Byte offset of the status register.
    pub fn status(&self) -> u32 {
        self.cycles() + 8
    }
    /// Byte offset of the low half of the address that the status is about.
    pub fn error_address(&self) -> u32 {
        self.status() + 4
    }
    /// Byte offset behind the last register.
    pub fn end(&self) -> u32 {
        self.error_address() + 8
    }
    /// Address bits that the register file decodes.
    pub fn address_bits(&self) -> u32 {
        rtl::clog2(u64::from(self.end())).max(6)
    }
}

/// Bits of the status register, beside the causes at 0, 1 and 2.
pub const STATUS_KNOWN: u32 = 3;
/// Lowest bit of the response, two bits.
pub const STATUS_RESPONSE: u32 = 8;
/// Lowest bit of the port's or argument's number, eight bits.
pub const STATUS_INDEX: u32 = 16;

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
    /// Writing 1 clears it.
    ClearedByOne,
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

/// An argument of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// As in C.
    pub name: String,
    /// In everything that is generated: legal and unique, letter case ignored.
    pub ident: String,
    /// Of an element.
    pub ty: ScalarType,
    /// Of its register, or of the register's low half; the high half is 4 bytes further.
    pub offset: u32,
    pub passed: Passed,
}

/// How the host hands an argument over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passed {
    /// An array in DRAM, by its address.
    Address(Array),
    /// The scalar with this index into [`Vsa::scalars`], by value.
    Value(usize),
}

/// An array in DRAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Index into [`Vsa::arrays`].
    pub index: usize,
    /// Extents, outermost first, at least one.
    pub dims: Vec<i64>,
    /// Index into [`Interface::ports`].
    pub port: usize,
    pub read: bool,
    pub written: bool,
}

impl Argument {
    pub fn array(&self) -> Option<&Array> {
        match &self.passed {
            Passed::Address(array) => Some(array),
            Passed::Value(_) => None,
        }
    }
    /// Bits of what the registers hold.
    pub fn register_bits(&self) -> u32 {
        if self.array().is_some() { 64 } else { self.ty.bits() }
    }
    pub fn elements(&self) -> u64 {
        self.array().map_or(1, |a| a.dims.iter().product::<i64>() as u64)
    }
    /// Size in memory.
    pub fn bytes(&self) -> u64 {
        self.elements() * u64::from(self.ty.bytes())
    }
    /// Index of its contents where the arrays stand first and the scalars behind them, as in [`Vsa::types`].
    pub fn data(&self, arrays: usize) -> usize {
        match &self.passed {
            Passed::Address(array) => array.index,
            Passed::Value(k) => arrays + k,
        }
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
    /// Hash of the array, as its text says it, and of sagen's version: all that the hardware follows from.
    pub design_id: u32,
    /// Of sagen: major, minor and patch number, a byte each.
    pub version: u32,
    pub layout: Layout,
    /// In the order of the C function's parameters.
    pub arguments: Vec<Argument>,
    pub ports: Vec<AxiPort>,
    pub registers: Vec<Register>,
}

impl Interface {
    /// The interface of the IP that [`crate::ip`] builds for the array.
    pub fn new(vsa: &Vsa) -> Interface {
        let order = order(vsa);
        let bits = |passed: &Passed| match passed {
            Passed::Address(_) => 64,
            Passed::Value(k) => vsa.scalars[*k].ty.bits(),
        };
        let layout = Layout { arguments: order.iter().map(bits).collect() };
        let described = |passed: &Passed| match passed {
            Passed::Address(a) => (vsa.arrays[a.index].name.as_str(), vsa.arrays[a.index].ty),
            Passed::Value(k) => (vsa.scalars[*k].name.as_str(), vsa.scalars[*k].ty),
        };
        let idents = names::arguments(order.iter().map(|p| described(p).0));
        let argument = |(k, (passed, ident)): (usize, (Passed, String))| {
            let (name, ty) = described(&passed);
            Argument { name: name.to_string(), ident, ty, offset: layout.argument(k), passed }
        };
        let arguments: Vec<Argument> = order.into_iter().zip(idents).enumerate().map(argument).collect();
        let ports = (0..vsa.ports()).zip(names::ports(vsa, &arguments)).map(|(port, name)| axi_port(vsa, port, name, &arguments)).collect();
        let (design_id, version) = (identifier(vsa), version());
        let registers = registers(&layout, &arguments, design_id, version);
        let (clock, reset, interrupt, control) = ("ap_clk", "ap_rst_n", "interrupt", "s_axi_control");
        Interface { kernel: names::kernel(&vsa.name), clock, reset, interrupt, control, design_id, version, layout, arguments, ports, registers }
    }

    /// The arguments that a port moves.
    pub fn behind<'a>(&'a self, port: &'a AxiPort) -> impl Iterator<Item = &'a Argument> {
        port.arrays.iter().map(|&k| &self.arguments[k])
    }
}

/// Arrays and scalars as they stand among the function's parameters.
fn order(vsa: &Vsa) -> Vec<Passed> {
    let array = |k: usize| Array {
        index: k,
        dims: vsa.arrays[k].dims.clone(),
        port: vsa.port_of(k as u32),
        read: vsa.inputs.iter().any(|g| g.array as usize == k),
        written: vsa.outputs.iter().any(|g| g.array as usize == k),
    };
    let before = |k: usize| (0..vsa.scalars.len()).filter(move |&s| vsa.scalars[s].after as usize == k).map(Passed::Value);
    let upto = |k: usize| before(k).chain((k < vsa.arrays.len()).then(|| Passed::Address(array(k))));
    (0..=vsa.arrays.len()).flat_map(upto).collect()
}

fn axi_port(vsa: &Vsa, port: usize, name: String, arguments: &[Argument]) -> AxiPort {
    let (reads, writes) = (Walk::reads(vsa, port), Walk::writes(vsa, port));
    let burst = reads.iter().chain(&writes).map(Walk::burst_beats).max().unwrap_or(1);
    AxiPort {
        name,
        data_bits: 8 * vsa.bus_bytes(port),
        address_bits: 64,
        burst_beats: burst as u32,
        reads: reads.is_some(),
        writes: writes.is_some(),
        arrays: (0..arguments.len()).filter(|&k| arguments[k].array().is_some_and(|a| a.port == port)).collect(),
    }
}

/// The first 32 bits of SHA-256.
fn identifier(vsa: &Vsa) -> u32 {
    let digest = Sha256::new().chain_update(env!("CARGO_PKG_VERSION")).chain_update(arch::text::to_text(vsa)).finalize();
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

fn version() -> u32 {
    let parts = [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")];
    parts.iter().fold(0, |number, part| number << 8 | part.parse::<u32>().unwrap_or(0))
}

fn registers(layout: &Layout, arguments: &[Argument], design_id: u32, version: u32) -> Vec<Register> {
    use Access::{ClearedByOne, ReadClears, ReadOnly, ReadWrite, SetByOne, ToggledByOne};
    let field = |name, bit, access, description| Field { name, bit, width: 1, access, description };
    let register = |name: &str, offset, access, description: &str| Register { name: name.into(), offset, access, reset: 0, description: description.into(), fields: vec![] };
    let control = vec![
        field("AP_START", 0, SetByOne, "starts a run; 0 again when it has ended"),
        field("AP_DONE", 1, ReadClears, "a run has ended since the last read"),
        field("AP_IDLE", 2, ReadOnly, "no run is under way"),
        field("AP_READY", 3, ReadClears, "as AP_DONE"),
        field("AUTO_RESTART", 7, ReadWrite, "the next run starts when one ends"),
    ];
    let enables = vec![field("CHAN0_INT_EN", 0, ReadWrite, "interrupt when a run is done"), field("CHAN1_INT_EN", 1, ReadWrite, "interrupt when ready for the next run"), field("ERROR_INT_EN", 2, ReadWrite, "interrupt when an error is noted in status")];
    let pending = vec![field("CHAN0_INT_ST", 0, ToggledByOne, "a run is done"), field("CHAN1_INT_ST", 1, ToggledByOne, "ready for the next run"), field("ERROR_INT_ST", 2, ToggledByOne, "an error was noted in status")];
    let mut all = vec![
        Register { reset: 4, fields: control, ..register("CTRL", CTRL, ReadWrite, "start and status") },
        Register { fields: vec![field("Enable", 0, ReadWrite, "enables the interrupt port")], ..register("GIER", GIER, ReadWrite, "global interrupt enable") },
        Register { fields: enables, ..register("IP_IER", IP_IER, ReadWrite, "interrupt enables") },
        Register { fields: pending, ..register("IP_ISR", IP_ISR, ReadWrite, "interrupt status") },
    ];
    for a in arguments {
        let what = if a.array().is_some() { format!("address of {}", a.name) } else { format!("value of {}", a.name) };
        if a.register_bits() > 32 {
            all.push(register(&format!("{}_1", a.ident), a.offset, ReadWrite, &format!("{what}, bits 31 to 0")));
            all.push(register(&format!("{}_2", a.ident), a.offset + 4, ReadWrite, &format!("{what}, bits 63 to 32")));
        } else {
            all.push(register(&a.ident, a.offset, ReadWrite, &what));
        }
    }
    all.push(Register { reset: design_id, ..register("design_id", layout.design_id(), ReadOnly, "hash of the design") });
    all.push(Register { reset: version, ..register("version", layout.version(), ReadOnly, "version of sagen: major, minor, patch in a byte each") });
    all.push(register("cycles_1", layout.cycles(), ReadOnly, "cycles of the latest run, bits 31 to 0; reading this keeps the high half for cycles_2"));
    all.push(register("cycles_2", layout.cycles() + 4, ReadOnly, "cycles of the latest run, bits 63 to 32, as of the last read of cycles_1"));
    let status = vec![
        field("READ_ERROR", 0, ClearedByOne, "a read was answered with SLVERR or DECERR"),
        field("WRITE_ERROR", 1, ClearedByOne, "a write was answered with SLVERR or DECERR"),
        field("MISALIGNED", 2, ClearedByOne, "a run was refused, nothing moved: an address is not a multiple of its array's element size"),
        field("ADDRESS_KNOWN", STATUS_KNOWN, ReadOnly, "error_address holds the address of the burst that failed first"),
        Field { width: 2, ..field("RESPONSE", STATUS_RESPONSE, ReadOnly, "its answer: 2 SLVERR, 3 DECERR") },
        Field { width: 8, ..field("INDEX", STATUS_INDEX, ReadOnly, "its AXI port, or the argument that is misaligned, counted from 0") },
    ];
    all.push(Register { fields: status, ..register("status", layout.status(), ReadWrite, "what went wrong since it was last cleared") });
    all.push(register("error_address_1", layout.error_address(), ReadOnly, "address of the first burst that failed, bits 31 to 0"));
    all.push(register("error_address_2", layout.error_address() + 4, ReadOnly, "address of the first burst that failed, bits 63 to 32"));
    all
}
