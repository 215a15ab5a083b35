//! Offsets of the registers after IP_ISR; the register map is in [`super`].

use super::ARGUMENTS;
use array::ip::{Ip, Source};
use std::collections::BTreeMap;

/// Bits of a function's number.
pub const FUNCTION_BITS: u32 = 8;

/// What the register map depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Per function: bits of each argument (64 or 32 for an address, the width of the type for a scalar), then bits of
    /// each program register, then bits of each array's length, if the host gives lengths.
    pub functions: Vec<Vec<u32>>,
    /// Depth of the command queue; 0 if there is none.
    pub queue: u32,
    /// Commands of the queue may overlap.
    pub overlap: bool,
}

impl Layout {
    pub fn new(ip: &Ip) -> Layout {
        let bits = |f: usize| {
            move |source: Source| match source {
                Source::Array(_) => ip.core_of(f).address_bits,
                Source::Scalar(k) => ip.core_of(f).scalars[k].ty.bits(),
            }
        };
        let lengths = |f: usize| {
            let core = ip.core_of(f);
            ip.functions[f].arguments.iter().filter_map(move |a| match a.is {
                Source::Array(k) => core.length_bits(k),
                Source::Scalar(_) => None,
            })
        };
        let program = |f: usize| ip.registers(f).into_iter().map(|r| r.1.bits);
        let functions =
            ip.functions.iter().enumerate().map(|(f, own)| {
                own.arguments.iter().map(|a| bits(f)(a.is)).chain(program(f)).chain(lengths(f)).collect()
            });
        Layout { functions: functions.collect(), queue: ip.queue.commands, overlap: ip.queue.overlap }
    }
    /// One function without a queue; `arguments`: their bits.
    pub fn single(arguments: Vec<u32>) -> Layout {
        Layout { functions: vec![arguments], queue: 0, overlap: false }
    }
    /// Byte offset of the (low half of the) `k`-th argument of a function.
    pub fn argument(&self, function: usize, k: usize) -> u32 {
        ARGUMENTS + self.functions[function][..k].iter().map(|&bits| if bits > 32 { 12 } else { 8 }).sum::<u32>()
    }
    /// Bits in use of each argument register, by byte offset.
    pub fn words(&self) -> BTreeMap<u32, u32> {
        let mut words = BTreeMap::new();
        for (f, arguments) in self.functions.iter().enumerate() {
            for (k, &bits) in arguments.iter().enumerate() {
                let at = self.argument(f, k);
                for (at, bits) in
                    [(at, bits.min(32)), (at + 4, bits.saturating_sub(32))].into_iter().filter(|w| w.1 > 0)
                {
                    let most = words.entry(at).or_insert(bits);
                    *most = bits.max(*most);
                }
            }
        }
        words
    }
    /// Byte offset of the design's identifier.
    pub fn design_id(&self) -> u32 {
        (0..self.functions.len()).map(|f| self.argument(f, self.functions[f].len())).max().unwrap_or(ARGUMENTS)
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
    /// Byte offset of the low half of the address in the error report.
    pub fn error_address(&self) -> u32 {
        self.status() + 4
    }
    /// Byte offset of the number of the function to run, if the IP has several.
    pub fn function(&self) -> Option<u32> {
        (self.functions.len() > 1).then(|| self.error_address() + 8)
    }
    /// Byte offsets of the registers of the queue: push a command, number of ended commands.
    pub fn queue(&self) -> Option<[u32; 2]> {
        let at = self.function().map_or(self.error_address() + 8, |at| at + 4);
        (self.queue > 0).then_some([at, at + 4])
    }
    /// Byte offset of the soft reset.
    pub fn soft_reset(&self) -> u32 {
        let after = self.function().map_or(self.error_address() + 8, |at| at + 4);
        self.queue().map_or(after, |at| at[1] + 4)
    }
    /// Byte offset after the last register.
    pub fn end(&self) -> u32 {
        self.soft_reset() + 4
    }
    /// Address bits that the register file decodes.
    pub fn address_bits(&self) -> u32 {
        rtl::clog2(u64::from(self.end())).max(6)
    }
}
