//! Rows of a DRAM: a burst to a row that is not open waits for it. One row opens at a time, while data of earlier
//! bursts passes, so bursts of at least [`OPENING`] beats hide it and short ones pay for it.

/// Bytes of a row, over all chips; a burst lies in one.
const ROW: u64 = 8192;
/// Banks, each with one open row; neighbouring rows lie in different ones.
const BANKS: usize = 16;
/// Cycles in which a row is closed and another one opened.
pub const OPENING: u64 = 12;
/// Cycles of work ahead with which the controller accepts another burst.
const AHEAD: u64 = 4 * OPENING;

/// The open rows of the memory behind a port.
#[derive(Debug, Default)]
pub(super) struct Rows {
    open: [Option<u64>; BANKS],
    /// When the last row that was asked for is open.
    busy: u64,
}

impl Rows {
    /// No burst is accepted in cycle `t`.
    pub fn crowded(&self, t: u64) -> bool {
        self.busy > t + AHEAD
    }

    /// When the row of a burst that is accepted in cycle `t` is open.
    pub fn open(&mut self, address: u64, t: u64) -> u64 {
        let row = address / ROW;
        let bank = &mut self.open[row as usize % BANKS];
        if bank.replace(row) != Some(row) {
            self.busy = self.busy.max(t) + OPENING;
            return self.busy;
        }
        // Its row may still be opening.
        self.busy.max(t)
    }
}
