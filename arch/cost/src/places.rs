//! What a transfer's timing depends on of where its rows lie.
//!
//! The rows of a service begin anywhere in a word and in a burst's window, and may be cut. Over the tiles of an
//! iteration and the rows of a service all these numbers change by constants. So the rows of two iterations are alike if
//! the first rows begin at the same place of a window, and ends and gates have the same values. Less will do:
//! - if no row can cross the end of a window, only the place within a word counts;
//! - a gate that is open, or an end that cuts nothing, in all rows of the iteration is the same as another one.
//!
//! Example: rows of 64 bytes at multiples of 64 bytes never cross 4 KiB, so they are alike wherever they begin.

use crate::repeat::Tape;
use array::contract::walk::{RowForm, Walk, WalkGroup};
use uniform::affine::gcd;

/// By how much a form may change in an iteration.
#[derive(Clone, Copy, Debug)]
struct Reach {
    low: i64,
    high: i64,
}

/// A group's forms in the iterations of one tile loop.
#[derive(Clone, Debug)]
struct InIteration {
    /// Rows begin this many bytes apart, or multiples of it; a power of two, at most a window.
    apart: i64,
    gates: Vec<Reach>,
    lowers: Vec<Reach>,
    uppers: Vec<Reach>,
}

#[derive(Clone, Debug)]
pub(super) struct Places {
    /// By tile loop, then by group.
    levels: Vec<Vec<InIteration>>,
    /// Bytes of a word, and of a burst's window.
    word: i64,
    window: i64,
}

/// Stand for what is the same in all rows; no value of a form.
const OPEN: i64 = i64::MAX;
const CLOSED: i64 = i64::MIN;

impl Places {
    pub fn new(walk: &Walk) -> Places {
        let (word, deepest) = (i64::from(walk.bus_bytes()), walk.kept.last().map_or(0, |j| j + 1));
        let window = word * walk.burst_beats();
        let levels =
            (0..=deepest).map(|level| walk.groups.iter().map(|g| InIteration::new(walk, g, level, window)).collect());
        Places { levels: levels.collect(), word, window }
    }

    /// Notes where the rows of a group (and its number) lie in an iteration of a tile loop that begins at these counters.
    pub fn of_iteration(&self, walk: &Walk, group: (usize, &WalkGroup), level: usize, at: &[i64], tape: &mut Tape) {
        let (index, group) = group;
        let iteration = &self.levels[level.min(self.levels.len() - 1)][index];
        let start = group.address.start.eval(at);
        let bytes = group.elements * i64::from(walk.bytes);
        if start.rem_euclid(iteration.apart) + bytes <= iteration.apart {
            tape.note(start.rem_euclid(self.word));
            tape.note(OPEN);
        } else {
            tape.note(start.rem_euclid(self.window));
            tape.note(CLOSED);
        }
        for (form, reach) in group.gates.iter().zip(&iteration.gates) {
            let value = form.start.eval(at);
            let is_open = value.saturating_add(reach.low) >= 0;
            let is_closed = value.saturating_add(reach.high) < 0;
            tape.note(if is_open {
                OPEN
            } else if is_closed {
                CLOSED
            } else {
                value
            });
        }
        for (form, reach) in group.lowers.iter().zip(&iteration.lowers) {
            let value = form.start.eval(at);
            tape.note(if value.saturating_add(reach.high) <= 0 { OPEN } else { value });
        }
        for (form, reach) in group.uppers.iter().zip(&iteration.uppers) {
            let value = form.start.eval(at);
            tape.note(if value.saturating_add(reach.low) >= group.elements { OPEN } else { value });
        }
    }
}

impl InIteration {
    fn new(walk: &Walk, group: &WalkGroup, level: usize, window: i64) -> InIteration {
        let lengths = group.lengths();
        let inner = |j: usize| walk.kept[j] > level;
        let reach = |form: &RowForm| {
            let counted =
                form.start.coeffs.iter().zip(&walk.trips).enumerate().filter(|(j, _)| inner(*j)).map(|(_, s)| s);
            let steps = counted.chain(form.rows.iter().zip(&lengths)).map(|(c, n)| c.saturating_mul(n - 1));
            steps.fold(Reach { low: 0, high: 0 }, |r, by| Reach {
                low: r.low.saturating_add(by.min(0)),
                high: r.high.saturating_add(by.max(0)),
            })
        };
        let moves = group.address.start.coeffs.iter().enumerate().filter(|(j, _)| inner(*j)).map(|(_, c)| c);
        let apart = moves.chain(&group.address.rows).fold(window, |apart, c| gcd(apart, *c));
        let of = |forms: &[RowForm]| forms.iter().map(reach).collect();
        InIteration { apart, gates: of(&group.gates), lowers: of(&group.lowers), uppers: of(&group.uppers) }
    }
}
