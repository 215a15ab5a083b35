//! What the memory behind the AXI ports can do, in cycles of the array's clock. A board's file says it in bytes per
//! second (`cost::board`).
//!
//! Terms: a *kind* of memory has *banks*. A bank has one port, which reads and writes at the same time (two *ways*).
//!
//! Example: a Zynq-7000 has four HP ports of 8 bytes and one DDR3. At 100 MHz each way of a port moves 8 bytes a cycle,
//! and all of them together 21.

/// Rates are bytes in so many cycles.
pub const CYCLES: i64 = 1 << 16;

/// A kind of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The tools' name of a bank without its number: `DDR`, `HBM`, `HP`.
    pub name: String,
    pub banks: i64,
    /// Bytes of a port's words.
    pub width: u32,
    /// Cycles from a read's address to its first word, and from a write's last word to its response.
    pub latency: i64,
    /// The rate of a port in one way.
    pub way: i64,
    /// The rate of a bank in both ways together.
    pub bank: i64,
    /// The rate of all banks together, if they are one memory.
    pub all: Option<i64>,
    /// A shorter burst costs the memory as much as so many bytes.
    pub shortest: i64,
}

/// The memory of a board; without kinds, one that nothing is known of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub board: String,
    /// The first one is used unless the user names a bank.
    pub kinds: Vec<Kind>,
    /// The array is chosen for ideal memory: one word a cycle on each port.
    pub ideal: bool,
    /// A search may take buses wider than the memory, for ports that pass words which it does not move.
    pub wider: bool,
}

impl Memory {
    /// The kind that a bank such as `DDR[1]` belongs to; the first one if none is named.
    pub fn kind(&self, bank: Option<&str>) -> Option<&Kind> {
        let Some(bank) = bank else { return self.kinds.first() };
        let letters = bank.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(bank.len());
        self.kinds.iter().find(|k| k.name.eq_ignore_ascii_case(&bank[..letters]))
    }

    /// Bytes of the widest bus that this bank can use; `None` if any can be used.
    pub fn widest(&self, bank: Option<&str>) -> Option<u32> {
        let kind = self.kind(bank).filter(|_| !self.ideal)?;
        let rate = (kind.way.min(kind.bank) + CYCLES - 1) / CYCLES;
        Some(kind.width.min((rate.clamp(1, 1 << 20) as u32).next_power_of_two()))
    }
}
