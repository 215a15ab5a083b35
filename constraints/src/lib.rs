//! Constraints (XDC) of an emitted IP: the clock, and a floorplan for parts with several dies (`floorplan`).
//!
//! Job: writes the out-of-context clock constraint, with which Vivado synthesizes and times the IP alone. Every port of
//! the IP is synchronous to this one clock, so no false path or multicycle exception exists. Delays outside the IP are
//! unknown and stay unconstrained.
//!
//! Invariants: the same input yields the same bytes; the period never exceeds that of the requested frequency.
//!
//! Source: UG903 (Using Constraints), UG905 (out-of-context flow).

mod floorplan;

pub use floorplan::{floorplan, OnDie};
use std::fmt;

/// The clock of an IP: its port and period. Only [`ClockSpec::new`] builds it, so it is always valid.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockSpec {
    port: String,
    period_ps: u64,
}

/// The reason why [`ClockSpec::new`] refuses a clock.
#[derive(Clone, Debug, PartialEq)]
pub enum ClockError {
    /// The frequency in MHz is not a number, or outside [`MIN_MHZ`] ..= [`MAX_MHZ`].
    Frequency(f64),
    /// The port is not a plain Verilog identifier.
    Port(String),
}

/// Slowest clock in MHz (a period of 1 µs).
pub const MIN_MHZ: f64 = 1.0;
/// Fastest clock in MHz, the limit of the global clock buffers of UltraScale+ (DS923, DS925).
pub const MAX_MHZ: f64 = 891.0;

impl ClockSpec {
    /// A clock of `mhz` megahertz at port `port`. Rounds the period down to whole picoseconds, Vivado's resolution.
    ///
    /// # Errors
    /// `mhz` is out of range, or `port` is not an identifier.
    pub fn new(port: &str, mhz: f64) -> Result<Self, ClockError> {
        if !(MIN_MHZ..=MAX_MHZ).contains(&mhz) {
            return Err(ClockError::Frequency(mhz));
        }
        let mut chars = port.chars();
        let head = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !head || !chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(ClockError::Port(port.to_owned()));
        }
        Ok(ClockSpec { port: port.to_owned(), period_ps: (1e6 / mhz).floor() as u64 })
    }

    /// The port, also used as the clock's name.
    pub fn port(&self) -> &str {
        &self.port
    }

    /// The period in picoseconds.
    pub fn period_ps(&self) -> u64 {
        self.period_ps
    }
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClockError::Frequency(mhz) => {
                write!(f, "clock frequency {mhz} MHz is outside {MIN_MHZ} to {MAX_MHZ} MHz")
            }
            ClockError::Port(port) => write!(f, "clock port `{port}` is not a Verilog identifier"),
        }
    }
}

impl std::error::Error for ClockError {}

/// The text of an XDC file for out-of-context synthesis of module `top` for `part`.
///
/// In Vivado, restrict the file to out-of-context runs (`USED_IN {synthesis implementation out_of_context}`), because
/// in a whole design the clock comes from outside.
pub fn xdc(clock: &ClockSpec, top: &str, part: &str) -> String {
    let ClockSpec { port, period_ps } = clock;
    // A backslash would continue the comment.
    let comment =
        |text: &str| text.chars().map(|c| if c.is_control() || c == '\\' { '?' } else { c }).collect::<String>();
    let (top, part) = (comment(top), comment(part));
    let (ns, ps) = (period_ps / 1000, period_ps % 1000);
    format!(
        "# Out-of-context timing of {top} on {part}: the one clock, nothing else.\n\
         # All ports are synchronous to it; delays outside the IP are left to the design that uses it.\n\
         create_clock -name {port} -period {ns}.{ps:03} [get_ports {port}]\n"
    )
}
