//! Many equal rows of a transfer in one step of the model.
//!
//! Problem: the models of the DMA engines ([`crate::reader`], [`crate::writer`]) walk row by row. A load of 4096 equal
//! rows must not take 4096 steps.
//!
//! Terms: a [`Time`] is a cycle together with its *rate*, the cycles by which it is expected to grow per row. A model
//! is a max-plus system: each new time is a maximum of earlier times plus constants.
//!
//! Method: after each row, compare how much each time grew with its rate. If all times grew by their rates, the next
//! rows will do the same as long as each maximum is taken by the same argument. [`Steady::latest`] finds out for how
//! long: an argument that is earlier now but grows faster overtakes the other one after (difference / difference of
//! rates) rows. [`Steady::end`] returns the least of these numbers, and [`Steady::skip`] adds that many rows at once.
//!
//! Example: the memory delivers a row of 8 beats every 8 cycles (rate 8), the address side offers a row every 3 cycles
//! (rate 3) and is 50 cycles late.
//!
//! ```text
//! beats ready at      100   108   116   124 …       rate 8
//! row offered at      150   153   156   159 …       rate 3
//! maximum             150   153   156   159 …       rate 3, for (150 - 100) / (8 - 3) = 10 rows more
//! ```
//!
//! Invariant: `rows` equal rows in one step give the same times as `rows` steps; a test compares both
//! ([`Steady::row_by_row`]).
//!
//! Source: periodic regimes of max-plus systems (Baccelli, Cohen, Olsder, Quadrat, "Synchronization and Linearity", ch.
//! 3).

/// A cycle, and the cycles by which it is expected to grow per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    pub at: i64,
    pub rate: i64,
}

impl Time {
    /// The same cycle in all rows.
    pub const fn fixed(at: i64) -> Time {
        Time { at, rate: 0 }
    }
    pub fn plus(self, cycles: i64) -> Time {
        Time { at: self.at + cycles, ..self }
    }
    /// The time that many rows later.
    pub fn after(self, rows: i64) -> Time {
        Time { at: self.at + rows * self.rate, ..self }
    }
}

/// What is expected of the next rows.
#[derive(Clone, Debug, Default)]
pub struct Steady {
    /// Rows for which each maximum is taken by the same argument.
    rows: i64,
    /// The times after the row before.
    before: Vec<Time>,
    /// Walk every row.
    pub row_by_row: bool,
}

impl Steady {
    /// Nothing is expected.
    pub fn anew(&self) -> Steady {
        Steady { row_by_row: self.row_by_row, ..Steady::default() }
    }

    /// Call before the first row of a transfer, with all times of the model.
    pub fn begin<'t>(&mut self, times: impl Iterator<Item = &'t mut Time>) {
        self.rows = i64::MAX;
        self.before.clear();
        times.for_each(|t| self.before.push(*t));
    }

    /// The maximum of two times.
    pub fn latest(&mut self, a: Time, b: Time) -> Time {
        let (early, late) = if a < b { (a, b) } else { (b, a) };
        if early.rate > late.rate {
            self.at_most((late.at - early.at) / (early.rate - late.rate));
        }
        late
    }

    /// Something else grows as expected for at most this many rows.
    pub fn at_most(&mut self, rows: i64) {
        self.rows = self.rows.min(rows);
    }

    /// Call after a row. Returns how many further equal rows make all times grow by their rates; updates the rates.
    pub fn end<'t>(&mut self, times: impl Iterator<Item = &'t mut Time>) -> i64 {
        let mut as_expected = !self.row_by_row;
        let mut before = self.before.iter_mut();
        times.for_each(|now| {
            let Some(before) = before.next() else { return };
            let rate = now.at - before.at;
            as_expected &= rate == before.rate && rate == now.rate;
            now.rate = rate;
            *before = *now;
        });
        let rows = std::mem::replace(&mut self.rows, i64::MAX);
        if as_expected {
            rows
        } else {
            0
        }
    }

    /// Adds this many rows, at most the number that [`Steady::end`] returned.
    pub fn skip<'t>(&mut self, rows: i64, times: impl Iterator<Item = &'t mut Time>) {
        let later = |t: &mut Time| *t = t.after(rows);
        times.for_each(later);
        self.before.iter_mut().for_each(later);
    }
}
