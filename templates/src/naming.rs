//! Names of modules and ports that several templates use, kinds of memories and shift registers, and ports that hop.

use crate::port::{Chain, Port};
use array::contract::memory::{ends_in_register, kind, Kind};
use array::vsa::{Node, NodeId, Op, Vsa};
use rtl::{MemStyle, Sig, Ty};
use scop::BinaryOp;

/// The name of the words of a memory on chip.
pub const CELLS: &str = "cells";

/// The instance of a core in an IP of several functions.
pub fn core(number: usize) -> String {
    format!("core{number}")
}

/// The instance of the memory on chip behind a port.
pub fn memory(port: usize) -> String {
    format!("memory{port}")
}

/// The hierarchical name, in the IP, of the words behind a port; `core`: the instance of the core, unless it is the IP.
pub fn cells(core: Option<String>, port: usize) -> String {
    let within = core.into_iter().chain([memory(port), CELLS.to_string()]);
    within.collect::<Vec<_>>().join(".")
}

/// Stem of the names of the ports and signals of a node.
pub fn stem(vsa: &Vsa, id: NodeId) -> String {
    if let Some(name) = input_stem(vsa, id) {
        return name;
    }
    let name = clean(&vsa.node(id).name);
    let name = if name.is_empty() { operation(&vsa.node(id).op) } else { &name };
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        format!("{name}_n{}", id.0)
    } else {
        format!("n{}{name}", id.0)
    }
}

/// A name of C in the letters of names in Verilog.
fn clean(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(letter).collect::<String>().trim_matches('_').into()
}

/// An input's array and lane, and its group where several groups have that lane. `None` where these do not tell it apart
/// from other inputs.
fn input_stem(vsa: &Vsa, id: NodeId) -> Option<String> {
    let names = |node: &Node| match node.op {
        Op::Input { group, port } => {
            let name = clean(&node.name);
            Some([format!("{name}_lane{port}"), format!("{name}_group{group}_lane{port}")])
        }
        _ => None,
    };
    let own = names(vsa.node(id))?.into_iter().filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    let all: Vec<[String; 2]> = vsa.nodes.iter().filter_map(names).collect();
    own.into_iter().find(|name| all.iter().filter(|other| other.contains(name)).count() == 1)
}

/// Name of a value that has none in C.
fn operation(op: &Op) -> &'static str {
    match op {
        Op::Binary(op, ..) => match op {
            BinaryOp::Add => "sum",
            BinaryOp::Sub => "difference",
            BinaryOp::Mul => "product",
            BinaryOp::Div => "quotient",
            BinaryOp::Rem => "remainder",
            BinaryOp::Min => "least",
            BinaryOp::Max => "greatest",
            BinaryOp::Shl | BinaryOp::Shr => "shifted",
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => "compared",
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => "bits",
        },
        Op::Fma(..) => "sum",
        Op::Select(..) => "chosen",
        Op::Past { .. } => "past",
        Op::Guard(_) => "when",
        Op::Iter(_) => "index",
        Op::Cast(..) => "converted",
        Op::Lookup(..) => "constant",
        Op::Join { .. } => "joined",
        Op::Spread(..) => "spread",
        Op::Field(..) => "field",
        _ => "value",
    }
}

/// The last flip-flop of a shift register of so many registers, if it has one of its own.
pub fn end_shift_register(last: Sig<'_>, length: usize) {
    if ends_in_register(length as i64, last.w().into()) {
        last.attr("shreg_extract", "no");
    }
}

/// The kind of memory that the estimates count; `ultra`: the board has UltraRAM.
pub fn memory_style(words: i64, width: u32, ultra: bool) -> MemStyle {
    match kind(words, width.into(), ultra) {
        Kind::Luts => MemStyle::Distributed,
        Kind::Block(_) => MemStyle::Block,
        Kind::Ultra(_) => MemStyle::Ultra,
    }
}

/// How waves hop through a box of PEs or buffers: the hop delay along each axis, `None` along an axis without hops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hops {
    cycles: [Option<u32>; 2],
    /// Each axis has its own output: both have several PEs, and their hop delays differ.
    separate: bool,
}

impl Hops {
    pub fn new(vsa: &Vsa, along: [bool; 2]) -> Hops {
        let delays = vsa.schedule.hop_delays().map(|n| n as u32);
        let separate = vsa.extent.iter().all(|n| *n > 1) && delays[0] != delays[1];
        Hops { cycles: [0, 1].map(|a| along[a].then_some(delays[a])), separate }
    }

    /// A port with output `<name>_out`, or with one output per axis.
    pub fn chain(&self, name: &str, ty: Ty) -> Chain {
        let onward =
            [0, 1].map(|a| Port::new(if self.separate { format!("{name}_out{a}") } else { format!("{name}_out") }, ty));
        Chain { port: Port::new(name, ty), onward, cycles: self.cycles }
    }
}

/// A port of a stream that hops one element per cycle.
pub fn stream_chain(name: &str, ty: Ty) -> Chain {
    let out = Port::new(format!("{name}_out"), ty);
    Chain { port: Port::new(name, ty), onward: [out.clone(), out], cycles: [Some(1); 2] }
}
