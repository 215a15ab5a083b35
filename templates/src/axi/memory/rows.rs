//! Rows of a DRAM: a burst to a closed row waits until the row is open. One row opens at a time, while data of earlier
//! bursts are transferred. So bursts of at least [`OPENING`] beats hide the wait, shorter ones do not.

/// Bytes of a row over all chips. A burst lies in one row.
const ROW: u64 = 8192;
/// Banks with one open row each. Consecutive rows lie in different banks.
const BANKS: usize = 16;
/// Cycles to close a row and open another one.
pub const OPENING: u64 = 12;
/// The controller accepts a burst while at most this many cycles of opening rows lie ahead.
const AHEAD: u64 = 4 * OPENING;

/// The open rows of the memory behind a port.
#[derive(Debug, Default)]
pub(super) struct Rows {
    open: [Option<u64>; BANKS],
    /// Cycle in which the last requested row is open.
    busy: u64,
}

impl Rows {
    /// The controller accepts no burst in cycle `t`.
    pub fn crowded(&self, t: u64) -> bool {
        self.busy > t + AHEAD
    }

    /// Cycle in which the row of a burst accepted in cycle `t` is open.
    pub fn open(&mut self, address: u64, t: u64) -> u64 {
        let row = address / ROW;
        let bank = &mut self.open[row as usize % BANKS];
        if bank.replace(row) != Some(row) {
            self.busy = self.busy.max(t) + OPENING;
            return self.busy;
        }
        // The row may still be opening.
        self.busy.max(t)
    }
}
