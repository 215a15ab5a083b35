//! The clock that a design is expected to reach, from the slowest of its paths.

use cost::board::Board;
use rtl::timing::{slowest, Delays, Path};
use rtl::Verified;
use serde_json::{json, Value};

/// The clock of an IP on a board. No placement is known: it is an estimate.
pub struct Clock {
    board_mhz: f64,
    /// The slowest path of each module.
    paths: Vec<Path>,
    /// The IP with the fewest cycles, if it takes more time.
    pub instead_of: Option<Slower>,
}

/// An IP that takes fewer cycles and more time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slower {
    pub cycles: i64,
    /// Its estimated clock.
    pub mhz: f64,
}

impl Clock {
    pub fn new(design: &Verified, board: &Board) -> Clock {
        Clock {
            board_mhz: board.clock_mhz,
            paths: slowest(design, &Delays::ULTRASCALE.times(board.fabric().slowness())),
            instead_of: None,
        }
    }

    /// The slowest path of the IP; of equal ones that of the innermost module.
    fn path(&self) -> Option<&Path> {
        self.paths.iter().rev().max_by(|a, b| round(a.ns).total_cmp(&round(b.ns)))
    }

    /// The estimated clock in MHz.
    pub fn mhz(&self) -> f64 {
        self.path().map_or(f64::INFINITY, |p| 1000.0 / p.ns)
    }

    /// No estimated path is longer than the period of the board's clock.
    pub fn meets_board(&self) -> bool {
        self.mhz() >= self.board_mhz
    }

    /// Microseconds of a run of `cycles` at the board's clock or, if that is slower, at the estimated one.
    pub fn time(&self, cycles: i64) -> f64 {
        cycles as f64 / self.mhz().min(self.board_mhz)
    }

    /// A run of `cycles` at the estimated clock in words, and the path that limits it, if the board's clock is faster.
    pub fn slower(&self, cycles: i64) -> Option<String> {
        let path = self.path().filter(|_| !self.meets_board())?;
        Some(format!(
            "{:.0} MHz estimated, less than the board's {}: {:.2} µs; {}",
            self.mhz(),
            self.board_mhz,
            self.time(cycles),
            text(path)
        ))
    }

    /// The estimate and its path in words.
    pub fn estimate(&self) -> String {
        match self.path() {
            Some(path) => format!("the estimate is {:.0} MHz: {}", self.mhz(), text(path)),
            None => "no path between registers was found".into(),
        }
    }

    /// For `report.json`.
    pub fn json(&self) -> Value {
        let one = |p: &Path| json!({ "module": p.module.as_str(), "ns": round(p.ns), "levels": p.levels, "from": p.from, "to": p.to });
        json!({
            "estimated_mhz": self.path().map(|_| round(self.mhz())),
            "meets_board": self.meets_board(),
            "slowest": self.path().map(one),
            "instead_of": self.instead_of.map(|slower| json!({ "cycles": slower.cycles, "estimated_mhz": round(slower.mhz) })),
            "modules": self.paths.iter().map(one).collect::<Vec<_>>(),
        })
    }
}

fn text(path: &Path) -> String {
    let levels = if path.levels == 1 { "1 level".into() } else { format!("{} levels", path.levels) };
    format!("{:.2} ns in {} from {} to {}, {levels} of logic", path.ns, path.module, path.from, path.to)
}

fn round(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}
