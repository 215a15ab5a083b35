//! AXI ports: which one moves which array, as the user asks for it.
//!
//! Arrays of one port share its bus, so their words have the same number of bytes. By default each array has a port of
//! its own. Temporary arrays may stay on chip instead, the smallest first; those that the user keeps there from run to run
//! do in any case.

use scop::diag::{Diagnostic, Diagnostics};
use scop::{Array, Scop, Storage};
use uniform::design::{Ports, Wiring};

/// Widths of a bus, in bytes.
const WIDTHS: std::ops::RangeInclusive<u64> = 4..=128;
/// Greatest width of a port, in bytes, unless the user asks for another.
pub const WIDEST: u32 = 64;

/// Per array of the program: arrays with equal numbers share a port.
///
/// # Errors
/// E0709: a name that is no array in DRAM, or stands twice. E0708: words that are no bus, or that differ on one port.
pub fn assign(scop: &Scop, wiring: &Wiring) -> Result<Vec<usize>, Diagnostics> {
    let each: Vec<usize> = (0..scop.arrays.len()).collect();
    let unknown: Diagnostics = wiring
        .word
        .keys()
        .filter(|&name| !in_dram(scop).any(|(_, a)| a.name == *name) && !may_pass(scop, name))
        .map(|name| no_array(scop, "word", name))
        .collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let own = |k: usize| each.len() + k;
    let keys = match &wiring.ports {
        None => each,
        Some(Ports::Shared) => (each.iter()).map(|&k| if scop.arrays[k].kept { own(k) } else { 0 }).collect(),
        Some(Ports::Groups(groups)) => grouped(scop, groups, each)?,
    };
    let mut ports = keys.clone();
    ports.sort_unstable();
    ports.dedup();
    let faults: Diagnostics = ports.into_iter().flat_map(|port| words(scop, wiring, &keys, port)).collect();
    if faults.is_empty() {
        Ok(keys)
    } else {
        Err(faults)
    }
}

/// Which arrays are on chip: those that are kept, and of those that pass values between phases and have a port to themselves
/// the smallest, as long as all of them fit.
pub fn on_chip(scop: &Scop, ports: &[usize], wiring: &Wiring) -> Vec<bool> {
    let bytes =
        |a: &Array| a.dims.iter().fold(u64::from(a.ty.cell().bytes()), |n, &d| n.saturating_mul(d.max(1) as u64));
    let alone = |k: usize| in_dram(scop).filter(|(other, _)| ports[*other] == ports[k]).count() == 1;
    let mut able: Vec<usize> = in_dram(scop).filter(|(k, a)| a.is_temporary() && alone(*k)).map(|a| a.0).collect();
    able.sort_by_key(|&k| bytes(&scop.arrays[k]));
    let mut on_chip: Vec<bool> = scop.arrays.iter().map(|a| a.kept).collect();
    let kept = scop.arrays.iter().filter(|a| a.kept).map(bytes).fold(0, u64::saturating_add);
    let mut left = wiring.on_chip.unwrap_or(0).saturating_sub(kept);
    for k in able {
        let Some(rest) = left.checked_sub(bytes(&scop.arrays[k])) else { break };
        (left, on_chip[k]) = (rest, true);
    }
    on_chip
}

fn in_dram(scop: &Scop) -> impl Iterator<Item = (usize, &Array)> {
    scop.arrays.iter().enumerate().filter(|(_, a)| a.storage == Storage::Dram && a.by_value().is_none())
}

/// A local array, or one of several that it may become: in a form of the program in phases it may be in memory.
fn may_pass(scop: &Scop, name: &str) -> bool {
    let of = |local: &str| {
        name.strip_prefix(local).is_some_and(|rest| {
            rest.is_empty()
                || rest.strip_prefix('_').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    scop.arrays.iter().any(|a| a.storage == Storage::Local && of(&a.name))
}

fn no_array(scop: &Scop, option: &str, name: &str) -> Diagnostic {
    let names: Vec<&str> = in_dram(scop).filter(|(_, a)| !a.kept).map(|(_, a)| a.name.as_str()).collect();
    Diagnostic::error("E0709", None, format!("--{option}: there is no array `{name}` in DRAM"))
        .help(format!("the arrays are {}", names.join(", ")))
}

fn grouped(scop: &Scop, groups: &[Vec<String>], mut keys: Vec<usize>) -> Result<Vec<usize>, Diagnostics> {
    let mut faults = vec![];
    let mut seen: Vec<&String> = vec![];
    for group in groups {
        let mut first = None;
        for name in group {
            let Some((array, _)) = in_dram(scop).find(|(_, a)| a.name == *name && !a.kept) else {
                faults.push(no_array(scop, "ports", name));
                continue;
            };
            if seen.contains(&name) {
                let fault =
                    Diagnostic::error("E0709", scop.arrays[array].span, format!("--ports names `{name}` twice"));
                faults.push(fault.help("one port moves all of an array"));
            }
            seen.push(name);
            keys[array] = *first.get_or_insert(keys[array]);
        }
    }
    if faults.is_empty() {
        Ok(keys)
    } else {
        Err(faults)
    }
}

/// What `--word` says of one port's arrays must be one bus that holds their elements.
fn words(scop: &Scop, wiring: &Wiring, keys: &[usize], port: usize) -> Diagnostics {
    let help = format!(
        "words of all arrays of a port are equally wide, {} to {} bytes; --word counts elements",
        WIDTHS.start(),
        WIDTHS.end()
    );
    let fault = |text: String| Diagnostic::error("E0708", None, text).help(help.clone());
    let members: Vec<&Array> = in_dram(scop).filter(|(k, _)| keys[*k] == port).map(|(_, a)| a).collect();
    let mut faults = vec![];
    let mut first: Option<(&str, u64)> = None;
    for array in &members {
        let Some(bytes) = asked(wiring, array) else { continue };
        let most = members.iter().map(|a| u64::from(a.ty.bytes())).max().unwrap_or(1);
        if !WIDTHS.contains(&bytes) {
            faults.push(fault(format!("--word: words of `{}` would have {bytes} bytes", array.name)));
        } else if bytes < most {
            faults.push(fault(format!(
                "--word: words of `{}` have {bytes} bytes, but its port also moves elements of {most}",
                array.name
            )));
        }
        let (other, wanted) = *first.get_or_insert((&array.name, bytes));
        if wanted != bytes {
            faults.push(fault(format!(
                "--word: `{other}` and `{}` share a port, but have words of {wanted} and {bytes} bytes",
                array.name
            )));
        }
    }
    faults
}

/// Bytes per word of an array that `--word` names.
fn asked(wiring: &Wiring, array: &Array) -> Option<u64> {
    wiring.word.get(&array.name).map(|word| u64::from(*word) * u64::from(array.ty.bytes()))
}

/// Bytes per word of a port some of whose `members` `--word` names.
pub fn bus_bytes<'a>(wiring: &Wiring, mut members: impl Iterator<Item = &'a Array>) -> Option<u32> {
    members.find_map(|a| asked(wiring, a)).and_then(|bytes| u32::try_from(bytes).ok())
}
