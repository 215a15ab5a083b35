//! Iterations of tile loops that repeat, in one step.
//!
//! Problem: a walk of a run ([`crate::predict()`], [`crate::coarse`]) takes as long as the run has tiles, up to millions.
//!
//! Terms: the *state* of a walk is all that later tiles depend on: times, and what buffers hold. An *iteration* of a tile
//! loop is all tiles in which this loop and those around it have the same counters.
//!
//! Method: a walk is a max-plus system: if all times of the state are later by some cycles, so are all times behind it.
//! So what an iteration does follows from its *key*: the state relative to its first cycle, and the shapes of its
//! transfers. The first iteration with a key is walked; the state behind it and what was counted in it are kept.
//! A later iteration with the same key gets these. Iterations of all loops are looked up, the outer ones first.
//!
//! A time that is so early that nothing waits for it any more is kept as the latest such time
//! ([`Tape::time`]), so states that differ in nothing else are equal.
//!
//! Example: 4096 tiles load 8 rows each, and computing takes longer than loading. Behind the third tile the state is that
//! behind the second one, 64 cycles later: the other 4093 tiles are looked up.
//!
//! Invariant: the same times as tile by tile; a test compares both ([`Repeats::tile_by_tile`]).
//!
//! Source: memoized simulation of what repeats, as in Gosper's "Exploiting Regularities in Large Cellular Spaces"
//! (1984).

use rustc_hash::FxHashMap;

/// Iterations of one loop that are kept at most: some kilobytes each.
const MOST_KEPT: usize = 1024;
/// Lookups of a loop's iterations after which the loop is given up, if fewer than one in [`RARE`] was known.
const TRIED: u64 = 256;
const RARE: u64 = 8;
/// Entries of logs that an iteration may add if it is kept.
const MOST_LOGGED: usize = 256;

/// A state, written or read in one order. Times count from the first cycle of an iteration.
pub struct Tape<'a> {
    base: i64,
    side: Side<'a>,
}

enum Side<'a> {
    Written(Vec<i64>),
    Read(std::slice::Iter<'a, i64>),
}

impl Tape<'_> {
    fn written(base: i64) -> Tape<'static> {
        Tape { base, side: Side::Written(Vec::with_capacity(256)) }
    }

    fn read(base: i64, words: &[i64]) -> Tape<'_> {
        Tape { base, side: Side::Read(words.iter()) }
    }

    fn words(self) -> Vec<i64> {
        match self.side {
            Side::Written(words) => words,
            Side::Read(words) => words.copied().collect(),
        }
    }

    pub fn is_read(&self) -> bool {
        matches!(self.side, Side::Read(_))
    }

    /// Something that tells states apart, but is not restored.
    pub fn note(&mut self, value: i64) {
        if let Side::Written(words) = &mut self.side {
            words.push(value);
        }
    }

    pub fn number(&mut self, value: &mut i64) {
        match &mut self.side {
            Side::Written(words) => words.push(*value),
            Side::Read(words) => *value = *words.next().expect("what is read was written in the same order"),
        }
    }

    /// A time. Nothing waits for it if it is not later than `least`.
    pub fn time(&mut self, time: &mut i64, least: i64) {
        let mut relative = (*time).max(least) - self.base;
        self.number(&mut relative);
        if self.is_read() {
            *time = relative + self.base;
        }
    }
}

/// An iteration of tile loop `level`: `tile` is its first tile.
#[derive(Clone, Copy)]
pub struct Iteration<'a> {
    pub level: usize,
    pub tile: &'a [i64],
    /// How often the counters run in this phase.
    pub trips: &'a [i64],
}

/// A walk of tiles.
pub trait Tiles {
    /// Walks a tile. `false`: the walk ends here.
    fn tile(&mut self, tile: &[i64], trips: &[i64]) -> bool;
    /// The cycle from which times count.
    fn base(&self) -> i64;
    /// What the transfers of an iteration look like. `false`: it cannot be compared with others.
    fn shapes(&mut self, iteration: &Iteration, tape: &mut Tape) -> bool;
    /// The part of the state that an iteration uses or changes; `false`: it has none that could be restored.
    fn state(&mut self, iteration: &Iteration, tape: &mut Tape) -> bool;
    /// All that is counted.
    fn totals(&mut self, visit: &mut dyn FnMut(&mut i64));
    /// The latest of some times in the run, which nothing waits for.
    fn latest(&mut self) -> &mut i64;
    /// Times that later tiles look up by number.
    fn logs(&mut self) -> &mut [Vec<i64>];
    /// The next counters of the loop for which the transfers certainly look as in this iteration.
    fn alike(&self, _: &Iteration) -> i64 {
        0
    }
    /// An iteration whose tiles are so few that walking them is cheaper than looking it up.
    fn is_short(&self, _: &Iteration) -> bool {
        false
    }
}

/// What an iteration left behind.
struct Kept {
    state: Vec<i64>,
    /// Cycles from its base to that of the next iteration.
    takes: i64,
    totals: Vec<i64>,
    latest: i64,
    /// Per log.
    logged: Vec<Vec<i64>>,
}

#[derive(Clone, Copy, Default)]
struct Tried {
    lookups: u64,
    known: u64,
}

/// The iterations of a run that were walked.
#[derive(Default)]
pub struct Repeats {
    kept: Vec<FxHashMap<Vec<i64>, Kept>>,
    tried: Vec<Tried>,
    /// Walk every tile.
    pub tile_by_tile: bool,
}

/// Before all times of a run.
const NEVER: i64 = i64::MIN / 4;

impl Repeats {
    pub fn new(tile_by_tile: bool) -> Repeats {
        Repeats { tile_by_tile, ..Repeats::default() }
    }

    /// Walks the tile loops from `level` inwards. `false`: the walk has ended early.
    pub fn walk<T: Tiles>(&mut self, tiles: &mut T, level: usize, tile: &mut [i64], trips: &[i64]) -> bool {
        if level == tile.len() {
            return tiles.tile(tile, trips);
        }
        let mut before = None;
        let mut counter = 0;
        while counter < trips[level] {
            tile[level] = counter;
            counter += 1;
            let iteration = Iteration { level, tile, trips };
            let key = if trips[level] > 1 && !tiles.is_short(&iteration) { self.key(tiles, &iteration) } else { None };
            let Some(key) = key else {
                before = None;
                if !self.walk(tiles, level + 1, tile, trips) {
                    return false;
                }
                continue;
            };
            if let Some(kept) = self.kept[level].get(&key) {
                self.tried[level].known += 1;
                // Two iterations with one key: so are the next ones.
                let more = if before.as_ref() == Some(&key) { tiles.alike(&iteration) } else { 0 };
                kept.take(tiles, &iteration, 1 + more);
                counter += more;
            } else if !self.walk_and_keep(tiles, level, tile, trips, key.clone()) {
                return false;
            }
            before = Some(key);
        }
        tile[level] = 0;
        true
    }

    fn walk_and_keep<T: Tiles>(
        &mut self,
        tiles: &mut T,
        level: usize,
        tile: &mut [i64],
        trips: &[i64],
        key: Vec<i64>,
    ) -> bool {
        let (base, before) = (tiles.base(), totals(tiles));
        let logged: Vec<usize> = tiles.logs().iter().map(Vec::len).collect();
        let latest = std::mem::replace(tiles.latest(), NEVER);
        let goes_on = self.walk(tiles, level + 1, tile, trips);
        let inside = *tiles.latest();
        *tiles.latest() = latest.max(inside);
        let more = tiles.logs().iter().zip(&logged).map(|(log, before)| log.len() - before).sum::<usize>();
        if !goes_on || more > MOST_LOGGED || self.kept[level].len() >= MOST_KEPT {
            return goes_on;
        }
        let mut tape = Tape::written(base);
        if tiles.state(&Iteration { level, tile, trips }, &mut tape) {
            let logs = tiles.logs().iter().zip(logged);
            let logged = logs.map(|(log, before)| log[before..].iter().map(|time| time - base).collect()).collect();
            let takes = tiles.base() - base;
            let totals = totals(tiles).into_iter().zip(before).map(|(now, before)| now - before).collect();
            let latest = if inside == NEVER { NEVER } else { inside - base };
            self.kept[level].insert(key, Kept { state: tape.words(), takes, totals, latest, logged });
        }
        true
    }

    /// The key of an iteration, if its loop is worth it and it has one.
    fn key<T: Tiles>(&mut self, tiles: &mut T, iteration: &Iteration) -> Option<Vec<i64>> {
        let level = iteration.level;
        while self.tried.len() <= level {
            self.tried.push(Tried::default());
            self.kept.push(FxHashMap::default());
        }
        let tried = &mut self.tried[level];
        if self.tile_by_tile || tried.lookups >= TRIED && tried.known * RARE < tried.lookups {
            return None;
        }
        tried.lookups += 1;
        let mut tape = Tape::written(tiles.base());
        // Loops inside may end elsewhere in another phase.
        iteration.trips[level + 1..].iter().for_each(|trip| tape.note(*trip));
        (tiles.shapes(iteration, &mut tape) && tiles.state(iteration, &mut tape)).then(|| tape.words())
    }
}

fn totals<T: Tiles>(tiles: &mut T) -> Vec<i64> {
    let mut all = vec![];
    tiles.totals(&mut |n| all.push(*n));
    all
}

impl Kept {
    /// Takes over what an equal iteration left behind, so many times.
    fn take<T: Tiles>(&self, tiles: &mut T, iteration: &Iteration, times: i64) {
        let base = tiles.base() + (times - 1) * self.takes;
        let mut more = self.totals.iter();
        tiles.totals(&mut |n| *n += times * more.next().copied().unwrap_or(0));
        tiles.state(iteration, &mut Tape::read(base, &self.state));
        if self.latest != NEVER {
            let latest = tiles.latest();
            *latest = (*latest).max(base + self.latest);
        }
        for (log, logged) in tiles.logs().iter_mut().zip(&self.logged) {
            log.extend(logged.iter().map(|time| base + time));
        }
    }
}

/// A tile counter's value where an I/O group is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Any,
    At(i64),
    /// The last one of the phase.
    Last,
}

impl Turn {
    fn is(self, counter: i64, trip: i64) -> bool {
        match self {
            Turn::Any => true,
            Turn::At(value) => value == counter,
            Turn::Last => counter + 1 == trip,
        }
    }
}

/// The tiles of a phase in which an I/O group is served, by tile counter.
#[derive(Clone, Debug)]
pub struct Turns(pub Vec<Turn>);

impl Turns {
    /// In this tile.
    pub fn are_at(&self, tile: &[i64], trips: &[i64]) -> bool {
        self.0.iter().zip(tile).zip(trips).all(|((turn, c), trip)| turn.is(*c, *trip))
    }
    /// In some tile of an iteration, or in none although all loops around it have their turns.
    pub fn are_in(&self, iteration: &Iteration) -> bool {
        let outer = iteration.level + 1;
        self.0.iter().take(outer).zip(iteration.tile).zip(iteration.trips).all(|((turn, c), trip)| turn.is(*c, *trip))
    }
    /// How often in an iteration that has them.
    pub fn count(&self, iteration: &Iteration) -> i64 {
        let often = |(turn, trip): (&Turn, &i64)| match turn {
            Turn::Any => *trip,
            Turn::At(value) => i64::from(value < trip),
            Turn::Last => 1,
        };
        self.0.iter().zip(iteration.trips).skip(iteration.level + 1).map(often).product()
    }
}
