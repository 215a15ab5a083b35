//! Equal rows that follow one another. The model of an engine takes the maximum of cycles, and adds to them; so once a
//! row makes every time of it later by as many cycles as was foreseen, the next ones do, too, until something that was
//! early in a maximum and gains on the latest overtakes it. All rows before that are one step.

/// A cycle, and by how many it is foreseen to be later in each row to come than in the one before.
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
    /// So many rows later.
    pub fn after(self, rows: i64) -> Time {
        Time { at: self.at + rows * self.rate, ..self }
    }
}

/// What a row says of those that follow.
#[derive(Clone, Debug, Default)]
pub struct Steady {
    /// For so many rows more, each maximum is of the same time.
    rows: i64,
    /// The times after the row before.
    before: Vec<Time>,
    /// Every row is walked, as if nothing were known of it.
    pub row_by_row: bool,
}

impl Steady {
    /// Before the first of several rows; the times of the model.
    pub fn begin<'t>(&mut self, times: impl Iterator<Item = &'t mut Time>) {
        self.rows = i64::MAX;
        self.before.clear();
        times.for_each(|t| self.before.push(*t));
    }

    pub fn latest(&mut self, a: Time, b: Time) -> Time {
        let (early, late) = if a < b { (a, b) } else { (b, a) };
        if early.rate > late.rate {
            self.at_most((late.at - early.at) / (early.rate - late.rate));
        }
        late
    }

    /// Something is as foreseen for so many rows more, and nobody knows what is behind them.
    pub fn at_most(&mut self, rows: i64) {
        self.rows = self.rows.min(rows);
    }

    /// After a row: how many equal rows more make the times as much later as this one did, and as is foreseen from now
    /// on.
    pub fn end<'t>(&mut self, times: impl Iterator<Item = &'t mut Time>) -> i64 {
        let mut as_foreseen = !self.row_by_row;
        let mut before = self.before.iter_mut();
        times.for_each(|now| {
            let Some(before) = before.next() else { return };
            let rate = now.at - before.at;
            as_foreseen &= rate == before.rate && rate == now.rate;
            now.rate = rate;
            *before = *now;
        });
        let rows = std::mem::replace(&mut self.rows, i64::MAX);
        if as_foreseen {
            rows
        } else {
            0
        }
    }

    /// So many rows of those that [`Steady::end`] spoke of.
    pub fn skip<'t>(&mut self, rows: i64, times: impl Iterator<Item = &'t mut Time>) {
        let later = |t: &mut Time| *t = t.after(rows);
        times.for_each(later);
        self.before.iter_mut().for_each(later);
    }
}
