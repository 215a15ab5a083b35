//! `Interface`: ports and registers of an IP, described once.
//!
//! Everything outside of the hardware reads it: simulation and testbenches, the report, IP-XACT and kernel.xml, the
//! drivers in C and Python. The register file (`crate::axi::control`) is built from its [`Layout`]. Nobody else
//! computes an offset or the name of a port.
//!
//! # Ports
//!
//! | port | what it is |
//! | --- | --- |
//! | `ap_clk`, `ap_rst_n` | clock; synchronous reset, active low |
//! | `interrupt` | high while an enabled interrupt is pending |
//! | `s_axi_control_*` | AXI4-Lite subordinate: the registers |
//! | `m_axi_<name>_*` | AXI4 managers, one per array or group of arrays |
//!
//! # Registers at `s_axi_control`
//!
//! Offsets in bytes, 32 bits each. The first four are those of Vitis HLS (`ap_ctrl_hs`), so XRT and PYNQ know them.
//!
//! | offset | register | content |
//! | --- | --- | --- |
//! | 0x00 | `CTRL` | bit 0 start, 1 done (reading clears it), 2 idle, 3 ready (reading clears it), 7 auto-restart |
//! | 0x04 | `GIER` | bit 0 enables the interrupt port |
//! | 0x08 | `IP_IER` | interrupt enables: bit 0 done, 1 ready, 2 error, 3 queue empty |
//! | 0x0c | `IP_ISR` | pending interrupts, same bits; writing 1 toggles |
//! | 0x10 … | arguments | in the order of the C parameters: 64 bits take 12 bytes (low, high, gap), 32 bits or less 8 |
//! | … | `program_<n>` | numbers that the driver computes from sizes at run time |
//! | … | `<array>_bytes` | lengths of the arrays, if the IP asks for them (`--guard`): nothing behind them is moved |
//! | then | `design_id` | hash of the Verilog |
//! | +4 | `version` | version of sagen: major, minor, patch |
//! | +8, +12 | `cycles` | cycles of the latest run; reading the low half latches the high half |
//! | +16 | `status` | errors since it was last cleared: bit 0 read, 1 write, 2 misaligned, 4 outside, 5 stopped; writing 1 clears |
//! | +20, +24 | `error_address` | address of the first burst that failed |
//! | +28 | `function` | number of the function of the next run; only if the IP has several |
//! | next two | `queue`, `queue_ended` | pushes a command; commands that have ended; only with a queue |
//! | then | `soft_reset` | writing 1 to bit 0 stops the IP; reads 1 until it has stopped |
//!
//! All functions of an IP lay out their arguments from 0x10, so the meaning of a register depends on the function.
//!
//! Invariant: registers are sorted by offset, aligned to 4 bytes and disjoint. New registers go to the end.

pub mod layout;
mod registers;
pub mod names;
mod signals;

pub use signals::Single;

use crate::naming;
use array::contract::walk::{self, Walk};
use array::ip::{Ip, Source};
use array::vsa::{Home, Member, Vsa};
pub use layout::Layout;
use scop::{Affine, Expr, ScalarType};
use uniform::sizes::Size;

/// Offset of the control register.
pub const CTRL: u32 = 0x00;
/// Offset of the global interrupt enable.
pub const GIER: u32 = 0x04;
/// Offset of the interrupt enables.
pub const IP_IER: u32 = 0x08;
/// Offset of the interrupt status.
pub const IP_ISR: u32 = 0x0c;
/// Offset of the first argument.
pub const ARGUMENTS: u32 = 0x10;

/// Bits of what is written to `queue`, behind the number of the function. If commands overlap: this one may begin while those
/// before it are under way; more are to come, and none begins before.
pub const QUEUE_INDEPENDENT: u32 = layout::FUNCTION_BITS;
pub const QUEUE_MORE: u32 = layout::FUNCTION_BITS + 1;

/// Bits of the status register, the causes: error answers to a read and to a write.
pub const STATUS_READ: u32 = 0;
pub const STATUS_WRITE: u32 = 1;
/// A run was refused.
pub const STATUS_MISALIGNED: u32 = 2;
/// Rows outside of an array were left out.
pub const STATUS_OUTSIDE: u32 = 4;
/// The soft reset stopped a run.
pub const STATUS_STOPPED: u32 = 5;
/// All causes. Writing it clears the status.
pub const STATUS_CAUSES: u32 =
    1 << STATUS_READ | 1 << STATUS_WRITE | 1 << STATUS_MISALIGNED | 1 << STATUS_OUTSIDE | 1 << STATUS_STOPPED;
/// Bit of the status register: `error_address` is valid.
pub const STATUS_KNOWN: u32 = 3;
/// Lowest of two bits: the response.
pub const STATUS_RESPONSE: u32 = 8;
/// Lowest of eight bits: number of the port or of the argument.
pub const STATUS_INDEX: u32 = 16;

/// How software accesses a register or field.
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

impl Access {
    /// As documents name it.
    pub fn words(self) -> &'static str {
        match self {
            Access::ReadWrite => "rw",
            Access::ReadOnly => "ro",
            Access::ReadClears => "ro, cleared by reading",
            Access::SetByOne => "set by writing 1",
            Access::ToggledByOne => "toggled by writing 1",
            Access::ClearedByOne => "cleared by writing 1",
        }
    }
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

impl Field {
    /// Its bits as documents name them: `3` or `7..4`.
    pub fn bits(&self) -> String {
        if self.width == 1 {
            self.bit.to_string()
        } else {
            format!("{}..{}", self.bit + self.width - 1, self.bit)
        }
    }
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
    /// Empty if the register is one number.
    pub fields: Vec<Field>,
}

/// A function that the host calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name in C.
    pub name: String,
    /// Name in all generated files: legal and unique, letter case ignored.
    pub ident: String,
    /// Index into [`Ip::cores`].
    pub core: usize,
    /// In the order of the C function's parameters, without the sizes; then the scratch buffers.
    pub arguments: Vec<Argument>,
    /// Sizes at run time, in the same order.
    pub sizes: Vec<SizeArgument>,
    /// Registers that the host computes from the sizes.
    pub program: Vec<ProgramRegister>,
    /// Number of arrays that it uses, including those on chip.
    pub arrays: usize,
    /// Its number among the functions of a merged array.
    pub member: Option<usize>,
    /// What it keeps on chip from run to run.
    pub kept: Vec<Kept>,
}

/// An array that stays on chip from run to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Name in C.
    pub name: String,
    /// Its number among the function's own arrays.
    pub own: usize,
    pub bytes: u64,
    /// The hierarchical name of its memory in the IP.
    pub cells: String,
    /// Bytes of a word of that memory.
    pub word: u32,
}

/// A size at run time. It has no register of its own: the hardware needs only the program registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeArgument {
    /// Name in C.
    pub name: String,
    /// Name in all generated files.
    pub ident: String,
    pub ty: ScalarType,
    pub max: i64,
    /// Number of [`Function::arguments`] before it.
    pub before: usize,
}

/// A number that the host computes from the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRegister {
    /// Name in all generated files.
    pub ident: String,
    pub register: array::contract::program::Register,
    /// Its index among the program registers of the core.
    pub of_core: usize,
    /// Offset of the register, or of its low half; the high half is 4 bytes further.
    pub offset: u32,
}

impl Function {
    /// Arguments of the C function.
    pub fn own(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|a| a.is_own())
    }
    /// Scratch buffers, which the host allocates in addition.
    pub fn scratch(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|a| a.is_scratch())
    }
    /// Lengths of the arrays, with the arguments that they belong to; empty if the host gives none.
    pub fn lengths(&self) -> impl Iterator<Item = (&Argument, &Length)> {
        self.arguments.iter().filter_map(|a| Some((a, a.array()?.length.as_ref()?)))
    }
    /// Length of the array with this index.
    pub fn length_of(&self, array: usize) -> Option<&Length> {
        self.lengths().find(|(a, _)| a.array().is_some_and(|a| a.index == array)).map(|(_, length)| length)
    }
    /// Number of registers behind those of the arguments.
    pub fn numbers(&self) -> usize {
        self.program.len() + self.lengths().count()
    }
    /// Maps each argument and size, in the order of the parameters of the C function.
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
    /// Name in C.
    pub name: String,
    /// Name in all generated files: legal and unique, letter case ignored.
    pub ident: String,
    /// Type of the scalar or of an element.
    pub ty: ScalarType,
    /// Offset of its register, or of the low half; the high half is 4 bytes further.
    pub offset: u32,
    pub passed: Passed,
    /// Index among the arrays, or the scalars, that the function uses.
    pub own: usize,
    /// How the driver computes it, if it is not an argument of the C function.
    pub formula: Option<Formula>,
}

/// A scalar as an expression over other scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub expr: Expr,
    /// Per read of `expr`: the [`Argument::ident`].
    pub operands: Vec<String>,
}

/// How the host passes an argument.
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
    /// The same as functions of the sizes, if they depend on them; `dims` are those for the greatest sizes.
    pub extents: Vec<Affine>,
    /// Bits of its address.
    pub address_bits: u32,
    /// The address is a multiple of this many bytes.
    pub alignment: u32,
    /// Index into [`Interface::ports`].
    pub port: usize,
    pub read: bool,
    pub written: bool,
    /// A scratch buffer: the host allocates it, neither fills nor reads it. Not an argument of the C function.
    pub scratch: bool,
    /// The register of its length, if the host gives lengths.
    pub length: Option<Length>,
}

/// The register with the length of an array in bytes. Nothing behind it is moved. A length beyond the array at the
/// greatest sizes means all of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Length {
    /// Name in all generated files.
    pub ident: String,
    /// 32 or 64.
    pub bits: u32,
    /// Offset of the register, or of its low half; the high half is 4 bytes further.
    pub offset: u32,
    /// Index into [`Layout::functions`] of its function.
    pub register: usize,
}

impl Argument {
    pub fn array(&self) -> Option<&Array> {
        match &self.passed {
            Passed::Address(array) => Some(array),
            Passed::Value(_) => None,
        }
    }
    /// It is an argument of the C function.
    pub fn is_own(&self) -> bool {
        !self.is_scratch() && self.formula.is_none()
    }
    pub fn is_scratch(&self) -> bool {
        self.array().is_some_and(|a| a.scratch)
    }
    /// Bits in its registers.
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
    /// Index of its data in a list of all arrays and then all scalars of its function, as in [`Vsa::types`].
    pub fn data(&self, arrays: usize) -> usize {
        match &self.passed {
            Passed::Address(_) => self.own,
            Passed::Value(_) => arrays + self.own,
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
    /// The arrays behind it: a function, and an index into its arguments.
    pub arrays: Vec<(usize, usize)>,
    /// Per core: the port of the core that is connected to it.
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
    /// Hash of the Verilog; [`crate::ip()`] sets it. 0 before.
    pub design_id: u32,
    /// Version of sagen: major, minor and patch number, a byte each.
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
        let idents = names::functions(ip.functions.iter().map(|f| f.name.as_str()));
        let functions: Vec<Function> =
            idents.into_iter().enumerate().map(|(f, ident)| function(ip, f, ident, &layout, &shared)).collect();
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

    /// Sets the hash of the Verilog.
    pub(crate) fn identify(&mut self, design_id: u32) {
        self.design_id = design_id;
        let at = self.layout.design_id();
        self.registers.iter_mut().filter(|r| r.offset == at).for_each(|r| r.reset = design_id);
    }

    /// The arguments behind a port, of all functions.
    pub fn behind<'a>(&'a self, port: &'a AxiPort) -> impl Iterator<Item = &'a Argument> {
        port.arrays.iter().map(|&(f, k)| &self.functions[f].arguments[k])
    }

    /// All arguments, function by function.
    pub fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.functions.iter().flat_map(|f| &f.arguments)
    }
}

impl From<&Vsa> for Interface {
    /// The interface of an IP with one function.
    fn from(vsa: &Vsa) -> Interface {
        Interface::new(&Ip::from(vsa))
    }
}

/// Function `f` of the IP; `shared`: see [`shared`].
fn function(ip: &Ip, f: usize, ident: String, layout: &Layout, shared: &[Vec<usize>]) -> Function {
    let (function, core) = (&ip.functions[f], ip.core_of(f));
    let member = function.member.map(|member| &core.functions[member]);
    // Names of lengths come last, so that other names do not depend on them.
    let lengths: Vec<String> = function.arguments.iter().map(|a| format!("{}_bytes", a.name)).collect();
    let plain = function.arguments.iter().map(|a| &a.name).chain(function.sizes.iter().map(|s| &s.1));
    let mut idents = names::arguments(plain.chain(&lengths).map(String::as_str));
    let mut of_lengths = idents.split_off(function.arguments.len() + function.sizes.len()).into_iter();
    let of_sizes = function.sizes.iter().zip(idents.split_off(function.arguments.len()));
    let size = |((k, name), ident): (&(usize, String), String)| {
        let Size { ty, max, after, .. } = core.sizes.list[*k];
        SizeArgument { name: name.clone(), ident, ty, max, before: (after[0] + after[1]) as usize }
    };
    let sizes = of_sizes.map(size).collect();
    let register = |(n, (of_core, register))| ProgramRegister {
        ident: format!("program_{n}"),
        register,
        of_core,
        offset: layout.argument(f, function.arguments.len() + n),
    };
    let program: Vec<_> = ip.registers(f).into_iter().enumerate().map(register).collect();
    let mut registers = function.arguments.len() + program.len()..;
    let mut length = |k: usize, ident: String| {
        let bits = core.length_bits(k)?;
        let register = registers.next()?;
        Some(Length { ident, bits, offset: layout.argument(f, register), register })
    };
    let argument = |(k, (a, ident)): (usize, (&array::ip::Argument, String))| {
        let of_length = of_lengths.next().unwrap_or_default();
        let (ty, passed) = match a.is {
            Source::Array(index) => {
                let port = shared[function.core][core.port_of(index as u32)];
                let array = Array { length: length(index, of_length), ..array(core, function, index, port) };
                (core.arrays[index].ty, Passed::Address(array))
            }
            Source::Scalar(index) => (core.scalars[index].ty, Passed::Value(index)),
        };
        let place = |all: &dyn Fn(&Member) -> &Vec<(usize, String)>, index: usize| {
            member.map_or(index, |m| all(m).iter().position(|own| own.0 == index).unwrap_or(index))
        };
        let own = match a.is {
            Source::Array(index) => place(&|m| &m.arrays, index),
            Source::Scalar(index) => place(&|m| &m.scalars, index),
        };
        Argument { name: a.name.clone(), ident, ty, offset: layout.argument(f, k), passed, own, formula: None }
    };
    let mut arguments: Vec<Argument> = function.arguments.iter().zip(idents).enumerate().map(argument).collect();
    let scalar =
        |k: usize| arguments.iter().find(|a| a.passed == Passed::Value(k)).map_or(String::new(), |a| a.ident.clone());
    let operands: Vec<String> = (0..core.scalars.len()).map(scalar).collect();
    for a in &mut arguments {
        let Passed::Value(k) = a.passed else { continue };
        a.formula = core.scalars[k].host.clone().map(|expr| Formula { expr, operands: operands.clone() });
    }
    let arrays = member.map_or(core.arrays.len(), |member| member.arrays.len());
    let kept = match member {
        Some(member) => member.arrays.iter().map(|(k, name)| (*k, name.clone())).collect(),
        None => core.arrays.iter().map(|a| a.name.clone()).enumerate().collect::<Vec<_>>(),
    };
    let kept = kept.into_iter().enumerate().filter(|(_, (k, _))| core.arrays[*k].home == Home::Kept);
    let kept = kept.map(|(own, (k, name))| Kept {
        name,
        own,
        bytes: core.arrays[k].bytes() as u64,
        cells: naming::cells((ip.functions.len() > 1).then(|| naming::core(function.core)), core.port_of(k as u32)),
        word: core.arrays[k].bus_bytes(),
    });
    let kept = kept.collect();
    let (name, core, member) = (function.name.clone(), function.core, function.member);
    Function { name, ident, core, arguments, sizes, program, arrays, member, kept }
}

fn array(core: &Vsa, function: &array::ip::Function, k: usize, port: usize) -> Array {
    // Over the function's own sizes.
    let own = |e: &Affine| Affine { coeffs: function.sizes.iter().map(|s| e.coeffs[s.0]).collect(), ..e.clone() };
    let (read, written) =
        (core.inputs.iter().any(|g| g.array as usize == k), core.outputs.iter().any(|g| g.array as usize == k));
    Array {
        index: k,
        dims: core.arrays[k].dims.clone(),
        extents: core.sizes.extents.get(&k).into_iter().flatten().map(own).collect(),
        address_bits: core.address_bits,
        alignment: walk::alignment(core, k),
        port,
        read,
        written,
        scratch: core.arrays[k].home == Home::Scratch,
        length: None,
    }
}

/// Per port of each core: the port of the IP. Cores share ports of equal width, in order. Ports of the IP are numbered
/// in the order in which the cores first need them.
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
    let cores: Vec<Option<usize>> = shared.iter().map(|ports| ports.iter().position(|p| *p == port)).collect();
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
