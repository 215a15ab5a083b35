//! Memory banks: which bank of the board holds which array, and what a bank carries.

use array::contract::walk::Walk;
use array::vsa::Vsa;
use scop::diag::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;
use std::fmt;
use uniform::memory::{Kind, Memory};

/// A bank, or several neighbouring banks used as one, in the notation of the tools: `DDR[1]`, `HBM[0:3]`, `HP2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bank {
    pub(crate) kind: String,
    pub(crate) first: i64,
    last: i64,
}

impl Bank {
    /// Banks that are used as one.
    pub fn count(&self) -> i64 {
        self.last - self.first + 1
    }
}

impl fmt::Display for Bank {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (self.kind.as_str(), self.first == self.last) {
            ("HP", true) => write!(f, "HP{}", self.first),
            (kind, true) => write!(f, "{kind}[{}]", self.first),
            (kind, false) => write!(f, "{kind}[{}:{}]", self.first, self.last),
        }
    }
}

/// What a bank transfers in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    pub bank: Bank,
    /// Indices into [`Vsa::arrays`].
    pub arrays: Vec<usize>,
    /// Bytes of all words that the ports walk, at most.
    pub bytes: i64,
}

/// The bank of each array in DRAM: as requested, else round-robin by port over the banks of the board's first memory.
///
/// # Errors
/// E0724: an unknown array, a bank that the board does not have, or two banks for the arrays of one port.
pub fn assign(vsa: &Vsa, asked: &BTreeMap<String, String>, memory: &Memory) -> Result<Vec<Bank>, Diagnostics> {
    let mut faults = vec![];
    let hosted = &vsa.arrays[..vsa.hosted()];
    let mut chosen: Vec<Option<(Bank, &str)>> = vec![None; vsa.axi_ports()];
    for (array, text) in asked {
        let Some(index) = hosted.iter().position(|a| a.name == *array) else {
            let names: Vec<&str> = hosted.iter().map(|a| a.name.as_str()).collect();
            faults.push(
                Diagnostic::error("E0724", None, format!("--bank: the array `{array}` has no port"))
                    .help(format!("the arrays are {}", names.join(", "))),
            );
            continue;
        };
        let bank = match parse(text, memory) {
            Ok(bank) => bank,
            Err(why) => {
                faults.push(Diagnostic::error("E0724", None, format!("--bank {array}={text}: {why}")).help(format!(
                    "{} has {}",
                    memory.board,
                    names(memory)
                )));
                continue;
            }
        };
        match &mut chosen[vsa.port_of(index as u32)] {
            Some((other, first)) if *other != bank => {
                let fault = Diagnostic::error(
                    "E0724",
                    None,
                    format!("--bank: `{first}` and `{array}` share a port, but are to be in {other} and {bank}"),
                );
                faults
                    .push(fault.help("arrays of one port are in one bank; give them ports of their own with --ports"));
            }
            place => *place = Some((bank, array)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let ports: Vec<Bank> =
        (0..vsa.axi_ports()).map(|port| chosen[port].take().map_or_else(|| turn(memory, port), |c| c.0)).collect();
    Ok((0..hosted.len()).map(|a| ports[vsa.port_of(a as u32)].clone()).collect())
}

/// What each used bank transfers, in the order of the banks' names.
pub fn loads(vsa: &Vsa, banks: &[Bank]) -> Vec<Load> {
    let mut all: BTreeMap<Bank, Load> = BTreeMap::new();
    for (array, bank) in banks.iter().enumerate() {
        let load = all.entry(bank.clone()).or_insert_with(|| Load { bank: bank.clone(), arrays: vec![], bytes: 0 });
        load.arrays.push(array);
    }
    for load in all.values_mut() {
        let mut ports: Vec<usize> = load.arrays.iter().map(|&a| vsa.port_of(a as u32)).collect();
        ports.dedup();
        load.bytes =
            ports.iter().flat_map(|&p| [Walk::reads(vsa, p), Walk::writes(vsa, p)]).flatten().map(|w| moved(&w)).sum();
    }
    all.into_values().collect()
}

/// Bytes of all words that a port walks.
pub(crate) fn moved(walk: &Walk) -> i64 {
    walk.words() * i64::from(walk.bus_bytes())
}

/// The bank of a port for which the user names none.
pub(crate) fn turn(memory: &Memory, port: usize) -> Bank {
    let (kind, count) = memory.kinds.first().map_or(("DDR".to_string(), 1), |k| (k.name.clone(), k.banks.max(1)));
    let index = port as i64 % count;
    Bank { kind, first: index, last: index }
}

fn names(memory: &Memory) -> String {
    let one = |k: &Kind| match (k.name.as_str(), k.banks - 1) {
        ("HP", last) => format!("HP0 to HP{last}"),
        (kind, 0) => format!("{kind}[0]"),
        (kind, last) => format!("{kind}[0] to {kind}[{last}]"),
    };
    memory.kinds.iter().map(one).collect::<Vec<_>>().join(", ")
}

pub(crate) fn parse(text: &str, memory: &Memory) -> Result<Bank, String> {
    let (name, rest) = text.split_at(text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let inner = rest.strip_prefix('[').and_then(|r| r.strip_suffix(']')).unwrap_or(rest);
    let (first, last) = inner.split_once(':').unwrap_or((inner, inner));
    let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) else {
        return Err("this is not a bank such as DDR[1] or HBM[0:3]".into());
    };
    let kind = memory.kinds.iter().find(|k| k.name == name.to_uppercase()).ok_or("the board has no such memory")?;
    if first < 0 || last < first || last >= kind.banks {
        return Err(format!("there are {} of them", kind.banks));
    }
    Ok(Bank { kind: name.to_uppercase(), first, last })
}
