//! Values of options, from their text.

use crate::data::DataFile;
use uniform::aim::{CountedMemory, Grid, Most, Share, RESOURCES};
use uniform::cuts::Cuts;
use uniform::design::Ports;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryKind {
    /// The board's.
    #[default]
    Board,
    /// Fixed latency in cycles, one beat per cycle.
    Ideal(u32),
    /// Longer latency, refresh gaps, random stalls on every channel.
    Ddr,
}

impl std::fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            MemoryKind::Board => f.write_str("board"),
            MemoryKind::Ideal(LATENCY) => f.write_str("ideal"),
            MemoryKind::Ideal(latency) => write!(f, "ideal:{latency}"),
            MemoryKind::Ddr => f.write_str("ddr"),
        }
    }
}

/// Values of sizes, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeSet(pub Vec<(String, i64)>);

/// Cycles of the ideal memory, unless others are asked for, and the most it may have.
const LATENCY: u32 = array::contract::dram::MemoryTiming::IDEAL.read_latency as u32;
const MOST_LATENCY: u32 = 2000;

pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let good = text.chars().all(letters) && text.starts_with(|c: char| c.is_ascii_alphabetic());
    if good {
        Ok(text.into())
    } else {
        Err(format!("'{text}' is not a name: a letter, then letters, digits and _"))
    }
}

pub(super) fn parse_define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(letters) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("{name:?} is not a macro name"));
    }
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err(format!("the value of {name} has a line break or another control character: {value:?}"));
    }
    // It is the end of a line of C.
    let open = value.rfind("/*").is_some_and(|at| !value[at + 2..].contains("*/"));
    if open || value.ends_with('\\') {
        return Err(format!("the value of {name} does not end: it has an open comment or a backslash at its end"));
    }
    Ok((name.into(), value.into()))
}

fn parse_pair(text: &str) -> Result<(String, &str), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    if name.is_empty() {
        return Err("the name before '=' is missing".into());
    }
    Ok((name.into(), value))
}

pub(super) fn parse_factor(text: &str) -> Result<(String, i64), String> {
    let (name, value) = parse_pair(text)?;
    match value.parse() {
        Ok(factor) if factor >= 1 => Ok((name, factor)),
        _ => Err(format!("'{value}' is not a whole number of at least 1")),
    }
}

pub(super) fn parse_sizes(text: &str) -> Result<SizeSet, String> {
    text.split(',').map(parse_factor).collect::<Result<_, _>>().map(SizeSet)
}

pub(super) fn parse_word(text: &str) -> Result<(String, u32), String> {
    let (name, value) = parse_pair(text)?;
    match value.parse::<u32>() {
        Ok(word) if word.is_power_of_two() => Ok((name, word)),
        _ => Err(format!("'{value}' is not a power of two")),
    }
}

pub(super) fn parse_share(text: &str) -> Result<Share, String> {
    Share::try_from(text.to_string())
}

pub(super) fn parse_cuts(text: &str) -> Result<Cuts, String> {
    Cuts::try_from(text.to_string())
}

pub(super) fn parse_grid(text: &str) -> Result<Grid, String> {
    Grid::try_from(text.to_string())
}

pub(super) fn parse_limit(text: &str) -> Result<(String, Most), String> {
    let (name, value) = parse_pair(text)?;
    if !RESOURCES.contains(&name.as_str()) {
        return Err(format!("'{name}' is none of {}", RESOURCES.join(", ")));
    }
    match value.parse() {
        Ok(n) if n >= 0 => Ok((name, Most::Count(n))),
        _ => Ok((name, Most::Share(parse_share(value)?))),
    }
}

/// Cycles are counted for the board's memory or for ideal memory.
pub(super) fn parse_counted(text: &str) -> Result<CountedMemory, String> {
    match text {
        "board" => Ok(CountedMemory::Board),
        "ideal" => Ok(CountedMemory::Ideal),
        _ => Err("write `board` or `ideal`".into()),
    }
}

pub(super) fn parse_clock(text: &str) -> Result<f64, String> {
    let clock = text.parse::<f64>();
    clock
        .ok()
        .filter(|c| *c > 0.0 && *c <= 10_000.0)
        .ok_or_else(|| format!("'{text}' is not a clock in MHz, such as 200"))
}

pub(super) fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse::<f64>();
    seconds.ok().filter(|s| *s > 0.0).ok_or_else(|| format!("'{text}' is not a time such as 60s"))
}

pub(super) fn parse_shard(text: &str) -> Result<(u64, u64), String> {
    let pair = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    pair.filter(|(i, n)| (1..=*n).contains(i))
        .ok_or_else(|| format!("'{text}' is not a shard such as 3/8, numbered from 1"))
}

pub(super) fn parse_queue(text: &str) -> Result<u32, String> {
    let depth = text.parse().map_err(|_| format!("'{text}' is not a number of commands"))?;
    array::ip::queue(depth)
}

/// A number that [`uniform::design::within`] checks.
fn ranged<T: std::str::FromStr + Copy + Into<i128>>(name: &str, text: &str) -> Result<T, String> {
    let value: T = text.parse().map_err(|_| format!("'{text}' is not a number in range"))?;
    uniform::design::within(name, value.into()).map(|()| value)
}

pub(super) fn parse_memory_latency(text: &str) -> Result<u32, String> {
    ranged("memory_latency", text)
}

pub(super) fn parse_on_chip(text: &str) -> Result<u64, String> {
    ranged("on_chip", text)
}

pub(super) fn parse_cycles(text: &str) -> Result<i64, String> {
    ranged("cycles", text)
}

pub(super) fn parse_address_bits(text: &str) -> Result<u32, String> {
    let bits = text.parse().map_err(|_| format!("'{text}' is not a number of bits"))?;
    uniform::design::address_bits(bits)
}

pub(super) fn parse_bank(text: &str) -> Result<(String, String), String> {
    parse_pair(text).map(|(name, bank)| (name, bank.to_string()))
}

pub(super) fn parse_port(text: &str) -> Result<String, String> {
    Ports::try_from(vec![text.to_string()]).map(|_| text.into())
}

pub(super) fn parse_memory(text: &str) -> Result<MemoryKind, String> {
    match (text, text.strip_prefix("ideal:").map(str::parse)) {
        ("board", _) => Ok(MemoryKind::Board),
        ("ideal", _) => Ok(MemoryKind::Ideal(LATENCY)),
        ("ddr", _) => Ok(MemoryKind::Ddr),
        (_, Some(Ok(latency))) if (1..=MOST_LATENCY).contains(&latency) => Ok(MemoryKind::Ideal(latency)),
        _ => Err(format!("write `board`, `ideal`, `ideal:CYCLES` with 1 to {MOST_LATENCY} cycles, or `ddr`")),
    }
}

pub(super) fn parse_data(text: &str) -> Result<DataFile, String> {
    let (array, path) = parse_pair(text)?;
    Ok(DataFile { array, path: path.into() })
}

/// `100..200`: the first and the last cycle.
pub fn parse_cycle_range(text: &str) -> Result<(u64, u64), String> {
    let bounds = text.split_once("..").and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    bounds.filter(|(first, last)| first <= last).ok_or("expected FIRST..LAST, such as 100..200".into())
}

/// `0,3`: row and column of a PE.
pub fn parse_pe(text: &str) -> Result<[u64; 2], String> {
    let pe = text.split_once(',').and_then(|(row, column)| Some([row.parse().ok()?, column.parse().ok()?]));
    pe.ok_or("expected ROW,COLUMN, such as 0,0".into())
}
