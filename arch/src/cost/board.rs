//! Boards: what fits, and how the memory is reached. The files are `boards/*.toml`; their README describes the fields.

use serde::Deserialize;

/// Counts of the device's building blocks (LUTs, flip-flops, DSP slices, 36 Kib block RAMs, UltraRAMs).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
pub struct Resources {
    pub lut: i64,
    pub ff: i64,
    pub dsp: i64,
    pub bram36: i64,
    #[serde(default)]
    pub uram: i64,
}

impl Resources {
    /// Every kind of block suffices.
    pub fn fits(&self, available: &Resources) -> bool {
        self.lut <= available.lut
            && self.ff <= available.ff
            && self.dsp <= available.dsp
            && self.bram36 <= available.bram36
            && self.uram <= available.uram
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Die {
    pub name: String,
    #[serde(flatten)]
    pub resources: Resources,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Memory {
    pub kind: String,
    pub ports: i64,
    /// Width of one AXI port in bits.
    pub data_bits: i64,
    /// Peak of one port in bytes per second.
    pub peak_bytes_per_s: i64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Board {
    pub name: String,
    #[serde(default)]
    pub title: String,
    pub part: String,
    #[serde(default)]
    pub family: String,
    pub clock_mhz: f64,
    pub resources: Resources,
    #[serde(default, rename = "die")]
    pub dies: Vec<Die>,
    #[serde(default)]
    pub memory: Vec<Memory>,
}

impl Board {
    /// # Errors
    /// A message that names the field, line and column, when `text` is not a board file.
    pub fn parse(text: &str) -> Result<Board, String> {
        let board: Board = toml::from_str(text).map_err(|e| e.to_string())?;
        if board.memory.is_empty() {
            return Err("a board needs at least one [[memory]] table".into());
        }
        if !(board.clock_mhz > 0.0) {
            return Err("clock_mhz must be a positive number".into());
        }
        Ok(board)
    }

    /// Widest AXI data port of the board, in bytes.
    pub fn port_bytes(&self) -> i64 {
        self.memory.iter().map(|m| m.data_bits / 8).max().unwrap_or(64)
    }
}
