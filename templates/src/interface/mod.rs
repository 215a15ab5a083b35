//! `Interface`: what an IP looks like from outside, described once. Simulation, testbench, report and packaging read
//! it; the register file is built from its [`Layout`]. Nobody else computes an offset or a port's name.
//!
//! Register map: CTRL, GIER, IP_IER, IP_ISR as Vitis HLS lays them out, the arguments from [`ARGUMENTS`] on in the
//! order of the C function's parameters (12 bytes for an address or a scalar of 64 bits: low half, high half, a gap; 8
//! for a smaller scalar), then what a host needs to trust a run: [`Layout::design_id`] and the rest. The functions of
//! an IP lay their arguments out from the same place, so a register means what the function that is chosen says.
//!
//! Invariants: registers are sorted by offset, aligned to 4 bytes and disjoint; what is added later goes to the end.

pub mod layout;
mod registers;
pub mod names;
mod signals;

pub use signals::Single;

use array::contract::walk::Walk;
use array::ip::{Ip, Source};
use array::vsa::Vsa;
pub use layout::Layout;
use scop::{Affine, Expr, ScalarType};
use uniform::sizes::Size;

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

/// What a host calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// As in C.
    pub name: String,
    /// In everything that is generated: legal and unique, letter case ignored.
    pub ident: String,
    /// Index into [`Ip::cores`].
    pub core: usize,
    /// In the order of the C function's parameters, without the sizes; then the scratch buffers.
    pub arguments: Vec<Argument>,
    /// Sizes at run time, in that order, too.
    pub sizes: Vec<SizeArgument>,
    /// Registers that the host fills from the sizes.
    pub program: Vec<ProgramRegister>,
    /// Arrays of its core, those on chip among them.
    pub arrays: usize,
}

/// An argument that has no register: what the hardware needs of it are program registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeArgument {
    /// As in C.
    pub name: String,
    /// In everything that is generated.
    pub ident: String,
    pub ty: ScalarType,
    pub max: i64,
    /// How many of [`Function::arguments`] stand before it.
    pub before: usize,
}

/// A number that the host computes from the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRegister {
    /// In everything that is generated.
    pub ident: String,
    pub register: array::contract::program::Register,
    /// Of the register, or of its low half; the high half is 4 bytes further.
    pub offset: u32,
}

impl Function {
    /// Those of the C function.
    pub fn own(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|a| a.is_own())
    }
    /// Buffers that the host gives beside them.
    pub fn scratch(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|a| a.is_scratch())
    }
    /// Something of each argument and size, in the order of the C function's parameters.
    pub fn in_order<T>(&self, argument: impl Fn(&Argument) -> T, size: impl Fn(&SizeArgument) -> T) -> Vec<T> {
        let mut all = vec![];
        for k in 0..=self.arguments.len() {
            all.extend(self.sizes.iter().filter(|s| s.before == k).map(&size));
            all.extend(self.arguments.get(k).map(&argument));
        }
        all
    }
}

/// An argument of a function.
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
    /// How the driver computes it, where it is no argument of the C function.
    pub formula: Option<Formula>,
}

/// A scalar in terms of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub expr: Expr,
    /// Names of the arguments that its reads are, by [`Argument::ident`].
    pub operands: Vec<String>,
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
    /// The same over the sizes, if they follow them: `dims` are those for the greatest.
    pub extents: Vec<Affine>,
    /// Of its address.
    pub address_bits: u32,
    /// Index into [`Interface::ports`].
    pub port: usize,
    pub read: bool,
    pub written: bool,
    /// No argument of the C function: a buffer that the host gives, whatever it holds, and never looks at.
    pub scratch: bool,
}

impl Argument {
    pub fn array(&self) -> Option<&Array> {
        match &self.passed {
            Passed::Address(array) => Some(array),
            Passed::Value(_) => None,
        }
    }
    /// The C function has it.
    pub fn is_own(&self) -> bool {
        !self.is_scratch() && self.formula.is_none()
    }
    pub fn is_scratch(&self) -> bool {
        self.array().is_some_and(|a| a.scratch)
    }
    /// Bits of what the registers hold.
    pub fn register_bits(&self) -> u32 {
        self.array().map_or(self.ty.bits(), |a| a.address_bits)
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
    /// The arrays it moves: a function, and an index into its arguments.
    pub arrays: Vec<(usize, usize)>,
    /// Of each core the port that is connected to it, if any.
    pub cores: Vec<Option<usize>>,
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
    /// Hash of the Verilog, in which it stands as 0; known when that is built, see [`crate::ip()`], and 0 before.
    pub design_id: u32,
    /// Of sagen: major, minor and patch number, a byte each.
    pub version: u32,
    /// Bits of the arrays' addresses: 64 or 32.
    pub address_bits: u32,
    pub layout: Layout,
    /// In the order of their numbers.
    pub functions: Vec<Function>,
    pub ports: Vec<AxiPort>,
    pub registers: Vec<Register>,
}

impl Interface {
    /// The interface of the IP that [`crate::ip`] builds.
    pub fn new(ip: &Ip) -> Interface {
        let shared = shared(ip);
        let layout = Layout::new(ip);
        let mut functions = vec![];
        let idents = names::functions(ip.functions.iter().map(|f| f.name.as_str()));
        for (f, (function, ident)) in ip.functions.iter().zip(idents).enumerate() {
            let core = ip.core_of(f);
            let mut idents = names::arguments(
                function.arguments.iter().map(|a| a.name.as_str()).chain(function.sizes.iter().map(String::as_str)),
            );
            let of_sizes = function.sizes.iter().zip(idents.split_off(function.arguments.len()));
            let size = |(s, (name, ident)): (&Size, (&String, String))| SizeArgument {
                name: name.clone(),
                ident,
                ty: s.ty,
                max: s.max,
                before: (s.after[0] + s.after[1]) as usize,
            };
            let sizes = core.sizes.list.iter().zip(of_sizes).map(size).collect();
            let register = |(n, register)| ProgramRegister {
                ident: format!("program_{n}"),
                register,
                offset: layout.argument(f, function.arguments.len() + n),
            };
            let program = array::contract::program::of(core).into_iter().enumerate().map(register).collect();
            let argument = |(k, (a, ident)): (usize, (&array::ip::Argument, String))| {
                let (ty, passed) = match a.is {
                    Source::Array(index) => (
                        core.arrays[index].ty,
                        Passed::Address(array(core, index, shared[function.core][core.port_of(index as u32)])),
                    ),
                    Source::Scalar(index) => (core.scalars[index].ty, Passed::Value(index)),
                };
                Argument { name: a.name.clone(), ident, ty, offset: layout.argument(f, k), passed, formula: None }
            };
            let mut arguments: Vec<Argument> =
                function.arguments.iter().zip(idents).enumerate().map(argument).collect();
            let scalar = |k: usize| {
                arguments.iter().find(|a| a.passed == Passed::Value(k)).map_or(String::new(), |a| a.ident.clone())
            };
            let operands: Vec<String> = (0..core.scalars.len()).map(scalar).collect();
            for a in &mut arguments {
                let Passed::Value(k) = a.passed else { continue };
                a.formula = core.scalars[k].host.clone().map(|expr| Formula { expr, operands: operands.clone() });
            }
            functions.push(Function {
                name: function.name.clone(),
                ident,
                core: function.core,
                arguments,
                sizes,
                program,
                arrays: core.arrays.len(),
            });
        }
        let count = shared.iter().flatten().max().map_or(0, |p| p + 1);
        let ports = (0..count)
            .zip(names::ports(ip, &functions, count))
            .map(|(port, name)| axi_port(ip, &shared, port, name, &functions))
            .collect();
        let (design_id, version) = (0, version());
        let registers = registers::list(&layout, &functions, version);
        let (clock, reset, interrupt, control) = ("ap_clk", "ap_rst_n", "interrupt", "s_axi_control");
        Interface {
            kernel: names::kernel(&ip.name),
            clock,
            reset,
            interrupt,
            control,
            design_id,
            version,
            address_bits: ip.cores[0].address_bits,
            layout,
            functions,
            ports,
            registers,
        }
    }

    /// The hardware is built: what identifies it.
    pub(crate) fn identify(&mut self, design_id: u32) {
        self.design_id = design_id;
        let at = self.layout.design_id();
        self.registers.iter_mut().filter(|r| r.offset == at).for_each(|r| r.reset = design_id);
    }

    /// The arguments that a port moves, of all functions.
    pub fn behind<'a>(&'a self, port: &'a AxiPort) -> impl Iterator<Item = &'a Argument> {
        port.arrays.iter().map(|&(f, k)| &self.functions[f].arguments[k])
    }

    /// All arguments, function by function.
    pub fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.functions.iter().flat_map(|f| &f.arguments)
    }
}

impl From<&Vsa> for Interface {
    /// Of the IP of one function.
    fn from(vsa: &Vsa) -> Interface {
        Interface::new(&Ip::from(vsa))
    }
}

fn array(core: &Vsa, k: usize, port: usize) -> Array {
    let (read, written) =
        (core.inputs.iter().any(|g| g.array as usize == k), core.outputs.iter().any(|g| g.array as usize == k));
    Array {
        index: k,
        dims: core.arrays[k].dims.clone(),
        extents: core.sizes.extents.get(&k).cloned().unwrap_or_default(),
        address_bits: core.address_bits,
        port,
        read,
        written,
        scratch: core.arrays[k].scratch.is_some(),
    }
}

/// Of each core's ports, the IP's that it shares with the other cores': ports of one width, in order. The IP's are
/// numbered in the order in which the cores first need them.
fn shared(ip: &Ip) -> Vec<Vec<usize>> {
    let mut widths: Vec<u32> = vec![];
    let mut all = vec![];
    for core in &ip.cores {
        let mut mine: Vec<usize> = vec![];
        for port in 0..core.axi_ports() {
            let width = core.bus_bytes(port);
            let free = (0..widths.len()).find(|p| widths[*p] == width && !mine.contains(p)).unwrap_or(widths.len());
            if free == widths.len() {
                widths.push(width);
            }
            mine.push(free);
        }
        all.push(mine);
    }
    all
}

fn axi_port(ip: &Ip, shared: &[Vec<usize>], port: usize, name: String, functions: &[Function]) -> AxiPort {
    let cores: Vec<Option<usize>> = shared.iter().map(|own| own.iter().position(|p| *p == port)).collect();
    let used: Vec<(&Vsa, usize)> = ip.cores.iter().zip(&cores).filter_map(|(core, p)| Some((core, (*p)?))).collect();
    let reads: Vec<Walk> = used.iter().filter_map(|(core, p)| Walk::reads(core, *p)).collect();
    let writes: Vec<Walk> = used.iter().filter_map(|(core, p)| Walk::writes(core, *p)).collect();
    let burst = reads.iter().chain(&writes).map(Walk::burst_beats).max().unwrap_or(1);
    let arguments = functions
        .iter()
        .enumerate()
        .flat_map(|(f, function)| function.arguments.iter().enumerate().map(move |(k, a)| ((f, k), a)));
    AxiPort {
        name,
        data_bits: 8 * used.first().map_or(0, |(core, p)| core.bus_bytes(*p)),
        address_bits: ip.cores[0].address_bits,
        burst_beats: burst as u32,
        reads: !reads.is_empty(),
        writes: !writes.is_empty(),
        arrays: arguments.filter(|(_, a)| a.array().is_some_and(|a| a.port == port)).map(|(at, _)| at).collect(),
        cores,
    }
}

fn version() -> u32 {
    let parts = [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")];
    parts.iter().fold(0, |number, part| number << 8 | part.parse::<u32>().unwrap_or(0))
}
