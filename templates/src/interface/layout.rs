//! Offsets of the registers after IP_ISR; the register map is in [`super`].
//!
//! An argument takes 12 bytes if it has more than 32 bits, else 8, as HLS lays them out. The arguments of a function stand one
//! behind the other, in their order. Those of a merged array stand where the same input of the array has its register in other
//! functions, so that the function chooses among few registers. Example: `gemm(A, B, C)` and `sqrtv(x, y)`. The engine that writes
//! `C` writes `y`, too, so `y` has the offset of `C`, and no register is at the offset of `B`.

use super::ARGUMENTS;
use array::contract::steps::Owned;
use array::contract::walk::Walk;
use array::ip::{Ip, Source};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bits of a function's number.
pub const FUNCTION_BITS: u32 = 8;

/// What the register map depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Per function: bits of each argument (64 or 32 for an address, the width of the type for a scalar), then bits of
    /// each program register, then bits of each array's length, if the host gives lengths.
    pub functions: Vec<Vec<u32>>,
    /// Their byte offsets.
    pub offsets: Vec<Vec<u32>>,
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
        let functions: Vec<Vec<u32>> = functions.collect();
        let of = |f: usize| match ip.functions[f].member {
            None => vec![None; functions[f].len()],
            Some(member) => feeds(ip, f, member),
        };
        let offsets = offsets(&functions, &(0..functions.len()).map(of).collect::<Vec<_>>());
        Layout { functions, offsets, queue: ip.queue.commands, overlap: ip.queue.overlap }
    }
    /// Functions with these bits of arguments.
    pub fn of(functions: Vec<Vec<u32>>, queue: u32, overlap: bool) -> Layout {
        let feeds: Vec<Vec<Option<Feeds>>> = functions.iter().map(|all| vec![None; all.len()]).collect();
        Layout { offsets: offsets(&functions, &feeds), functions, queue, overlap }
    }
    /// One function without a queue; `arguments`: their bits.
    pub fn single(arguments: Vec<u32>) -> Layout {
        Layout::of(vec![arguments], 0, false)
    }
    /// Byte offset of the (low half of the) `k`-th argument of a function.
    pub fn argument(&self, function: usize, k: usize) -> u32 {
        self.offsets[function][k]
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
        let all = self.functions.iter().zip(&self.offsets).flat_map(|(bits, at)| bits.iter().zip(at));
        all.map(|(bits, at)| at + size(*bits)).max().unwrap_or(ARGUMENTS)
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

/// What an argument of a merged array is for, with the core: the same in each function.
type Feeds = (usize, Input);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// Place among the bases of the engines ([`Walk::bases`]).
    Base(usize),
    /// Of the array at this base.
    Length(usize),
    Scalar(usize),
    Program(usize),
}

/// What the arguments of a function of a merged array are for, in the order of [`Layout::functions`].
fn feeds(ip: &Ip, f: usize, member: usize) -> Vec<Option<Feeds>> {
    let (function, core) = (&ip.functions[f], ip.core_of(f));
    let bases: Vec<Vec<Owned>> = Walk::all(core).into_iter().flatten().flatten().flat_map(|w| w.bases()).collect();
    let base = |array: usize| bases.iter().position(|all| all.contains(&(Some(member), array)));
    let arrays = || {
        function.arguments.iter().filter_map(|a| match a.is {
            Source::Array(k) => Some(k),
            Source::Scalar(_) => None,
        })
    };
    let argument = |is: Source| match is {
        Source::Array(k) => base(k).map(Input::Base),
        Source::Scalar(k) => Some(Input::Scalar(k)),
    };
    let arguments = function.arguments.iter().map(|a| argument(a.is));
    let program = ip.registers(f).into_iter().map(|(n, _)| Some(Input::Program(n)));
    let lengths = arrays().filter(|k| core.length_bits(*k).is_some()).map(|k| base(k).map(Input::Length));
    let core = function.core;
    arguments.chain(program).chain(lengths).map(|input| input.map(|input| (core, input))).collect()
}

/// Byte offsets of arguments with these bits: of those that feed the same, one, where that is free.
fn offsets(functions: &[Vec<u32>], feeds: &[Vec<Option<Feeds>>]) -> Vec<Vec<u32>> {
    let mut known: Vec<(Feeds, u32)> = vec![];
    let mut of = |(all, feeds): (&Vec<u32>, &Vec<Option<Feeds>>)| {
        let mut taken: Vec<Range<u32>> = vec![];
        let mut at: Vec<Option<u32>> = vec![None; all.len()];
        let is_free = |at: u32, bits: u32, taken: &[Range<u32>]| {
            taken.iter().all(|other| at + size(bits) <= other.start || other.end <= at)
        };
        for k in 0..all.len() {
            let found = known.iter().find(|(of, _)| Some(*of) == feeds[k]).map(|(_, at)| *at);
            if let Some(offset) = found.filter(|at| is_free(*at, all[k], &taken)) {
                taken.push(offset..offset + size(all[k]));
                at[k] = Some(offset);
            }
        }
        for k in (0..all.len()).filter(|&k| at[k].is_none()).collect::<Vec<_>>() {
            let Some(offset) = (ARGUMENTS..).step_by(4).find(|at| is_free(*at, all[k], &taken)) else { continue };
            taken.push(offset..offset + size(all[k]));
            at[k] = Some(offset);
            known.extend(feeds[k].filter(|of| known.iter().all(|(other, _)| other != of)).map(|of| (of, offset)));
        }
        at.into_iter().map(|at| at.unwrap_or(ARGUMENTS)).collect()
    };
    functions.iter().zip(feeds).map(&mut of).collect()
}

/// Bytes that an argument takes.
fn size(bits: u32) -> u32 {
    if bits > 32 {
        12
    } else {
        8
    }
}
