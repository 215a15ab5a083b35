//! Boards: their resources and memories. The files are `boards/*.toml`; the README there describes the fields.

use crate::bank::Bank;
use array::contract::away::MOST_DIES;
pub use array::resources::Resources;
use scop::diag::Diagnostic;
use serde::Deserialize;
use uniform::aim::RESOURCES;
use uniform::fabric::Fabric;
use uniform::memory;

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
    /// Peak of all ports together, if they share one memory.
    #[serde(default)]
    pub total_peak_bytes_per_s: Option<i64>,
    /// From a read's address to its first data at the kernel, with buses and controller.
    #[serde(default = "usual_latency")]
    pub latency_ns: i64,
    /// Clock of the ports; that of the kernel if left out.
    #[serde(default)]
    pub clock_mhz: Option<f64>,
    /// A shorter burst costs as much as one of so many bytes.
    #[serde(default = "usual_burst")]
    pub shortest_burst_bytes: i64,
    /// Where it is; at the first die if left out.
    #[serde(default)]
    pub die: Option<AtDie>,
}

/// The die of all ports of a memory, or of each.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "die: the name of a die, or a list with one for each port")]
pub enum AtDie {
    All(String),
    Each(Vec<String>),
}

impl AtDie {
    fn names(&self) -> &[String] {
        match self {
            AtDie::All(name) => std::slice::from_ref(name),
            AtDie::Each(names) => names,
        }
    }
    /// The die of a port.
    fn of(&self, port: i64) -> Option<&String> {
        match self {
            AtDie::All(name) => Some(name),
            AtDie::Each(names) => names.get(port as usize),
        }
    }
}

/// Address bits of the AXI ports to memory, unless the file says 32.
fn usual_address() -> u32 {
    64
}

/// What the usual memories move at least: eight words of 64 bits.
fn usual_burst() -> i64 {
    64
}

/// Latency of a memory whose file gives none.
fn usual_latency() -> i64 {
    400
}

/// Percent of each resource that an array chosen by sagen may take. The rest is left to the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Margin {
    pub lut: i64,
    pub ff: i64,
    pub dsp: i64,
    pub bram36: i64,
    pub uram: i64,
}

impl Default for Margin {
    fn default() -> Margin {
        Margin { lut: 70, ff: 80, dsp: 80, bram36: 85, uram: 85 }
    }
}

impl Margin {
    /// In the order of [`RESOURCES`].
    fn percents(&self) -> [i64; 5] {
        [self.lut, self.ff, self.dsp, self.bram36, self.uram]
    }
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
    /// Bits of the addresses at the AXI ports.
    #[serde(default = "usual_address")]
    pub address_bits: u32,
    pub resources: Resources,
    #[serde(default)]
    pub margin: Margin,
    #[serde(default, rename = "die")]
    pub dies: Vec<Die>,
    #[serde(default)]
    pub memory: Vec<Memory>,
    /// If LiteX knows the board.
    #[serde(default)]
    pub litex: Option<Litex>,
}

/// The board in LiteX.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Litex {
    /// The module of `litex_boards.targets`, and the device that its `BaseSoC` takes.
    pub target: String,
    pub device: String,
}

/// The fastest clock that a board may have.
const FASTEST_MHZ: f64 = 10_000.0;
/// On UltraScale+, a path in a PE through an adder to its register, in ns, and what one more adder in front adds to it:
/// two estimates of `sagen rtl` for a product with two lanes, where sums enter at the end and at the head.
const ADDER_NS: f64 = 2.4;
const CHAINED_ADDER_NS: f64 = 1.65;
/// More adders in a row than a schedule ever has.
const MOST_UNREGISTERED: f64 = 64.0;

/// A number of the file, and the least and the greatest that it may be.
struct Number {
    /// With the table in which it stands.
    name: String,
    value: i64,
    least: i64,
    most: i64,
}

impl Number {
    fn wrong(&self) -> Option<String> {
        let Number { name, value, least, most } = self;
        (!(least..=most).contains(&value)).then(|| format!("{name} = {value}: at least {least}, at most {most}"))
    }
}

/// A text of the file.
struct Text<'a> {
    name: &'static str,
    value: &'a str,
    form: Form,
}

/// What a text may be.
enum Form {
    /// Letters, digits, `-` and `_`, as the tools' names of parts and families.
    Name,
    /// A line for people.
    Line,
}

/// No text of a board is longer.
const LONGEST: usize = 200;

/// A character that ends a line, or turns the direction of the text.
fn is_command(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Text<'_> {
    fn wrong(&self) -> Option<String> {
        let Text { name, value, form } = self;
        let (good, wanted) = match form {
            Form::Name => (
                !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'),
                "letters, digits, - and _",
            ),
            Form::Line => (!value.chars().any(is_command), "a line of text, without control characters"),
        };
        (!good || value.len() > LONGEST).then(|| format!("{name} = {value:?}: {wanted}, at most {LONGEST} bytes"))
    }
}

impl Board {
    /// # Errors
    /// A message that names the field, line and column, when `text` is not a board file.
    pub fn parse(text: &str) -> Result<Board, String> {
        let board: Board = toml::from_str(text).map_err(|e| e.to_string())?;
        let wrong = board.wrong();
        if wrong.is_empty() {
            Ok(board)
        } else {
            Err(wrong.join("; "))
        }
    }

    /// A message for every figure that no device has, and for every text that no tool accepts.
    fn wrong(&self) -> Vec<String> {
        let mut wrong: Vec<String> = self.numbers().into_iter().filter_map(|n| n.wrong()).collect();
        wrong.extend(self.texts().into_iter().filter_map(|t| t.wrong()));
        let mut demand = |holds: bool, what: String| {
            if !holds {
                wrong.push(what)
            }
        };
        demand(
            self.clock_mhz > 0.0 && self.clock_mhz <= FASTEST_MHZ,
            format!("clock_mhz = {}: a clock has more than 0 and at most {FASTEST_MHZ} MHz", self.clock_mhz),
        );
        demand([32, 64].contains(&self.address_bits), format!("address_bits = {}: 32 or 64", self.address_bits));
        demand(self.dies.len() as i64 <= MOST_DIES, format!("{} dies: at most {MOST_DIES}", self.dies.len()));
        demand(!self.memory.is_empty(), "a board needs at least one [[memory]] table".into());
        for m in &self.memory {
            let place = format!("memory {:?}: data_bits = {}", m.kind, m.data_bits);
            demand(m.data_bits.count_ones() == 1, format!("{place}: a power of two from 32 to 1024"));
            for name in m.die.iter().flat_map(AtDie::names) {
                let known = self.dies.iter().any(|d| d.name == *name);
                demand(known, format!("memory {:?}: die {name:?}: no such die", m.kind));
            }
            if let Some(AtDie::Each(names)) = &m.die {
                let (ports, dies) = (m.ports, names.len());
                demand(dies as i64 == ports, format!("memory {:?}: die: {dies} names for {ports} ports", m.kind));
            }
            demand(
                m.clock_mhz.is_none_or(|c| c > 0.0 && c <= FASTEST_MHZ),
                format!(
                    "memory {:?}: clock_mhz = {:?}: more than 0 and at most {FASTEST_MHZ} MHz",
                    m.kind, m.clock_mhz
                ),
            );
        }
        let (latency, most) = (self.latency(), uniform::design::LONGEST_LATENCY);
        let clock = self.clock_mhz;
        demand(
            latency <= most.into(),
            format!("latency_ns: {latency} cycles of a clock of {clock} MHz, at most {most}"),
        );
        wrong
    }

    /// Every whole number of the file, and what it may be.
    fn numbers(&self) -> Vec<Number> {
        let mut all = vec![];
        let mut add = |place: &str, name: &str, value: i64, least: i64, most: i64| {
            all.push(Number { name: format!("{place}{name}"), value, least, most });
        };
        let dies = self.dies.iter().map(|d| (format!("die {:?}: ", d.name), &d.resources));
        for (place, r) in std::iter::once(("resources: ".to_string(), &self.resources)).chain(dies) {
            r.named().into_iter().for_each(|(kind, count)| add(&place, kind, count, 0, 1 << 40));
        }
        for (kind, percent) in RESOURCES.into_iter().zip(self.margin.percents()) {
            add("margin: ", kind, percent, 1, 100);
        }
        for m in &self.memory {
            let place = &format!("memory {:?}: ", m.kind);
            add(place, "ports", m.ports, 1, 4096);
            add(place, "data_bits", m.data_bits, 32, 1024);
            add(place, "latency_ns", m.latency_ns, 1, 10_000);
            add(place, "shortest_burst_bytes", m.shortest_burst_bytes, 1, 4096);
            add(place, "peak_bytes_per_s", m.peak_bytes_per_s, 1, 1 << 50);
            if let Some(total) = m.total_peak_bytes_per_s {
                add(place, "total_peak_bytes_per_s", total, 1, 1 << 50);
            }
        }
        all
    }

    /// Every text of the file. Files of the package repeat them in languages that read some characters as commands.
    fn texts(&self) -> Vec<Text<'_>> {
        let mut all = vec![];
        let mut add = |name: &'static str, value, form| all.push(Text { name, value, form });
        add("name", &self.name, Form::Name);
        add("part", &self.part, Form::Name);
        if !self.family.is_empty() {
            add("family", &self.family, Form::Name);
        }
        add("title", &self.title, Form::Line);
        if let Some(litex) = &self.litex {
            add("target of litex", &litex.target, Form::Name);
            add("device of litex", &litex.device, Form::Name);
        }
        self.dies.iter().for_each(|d| add("name of a die", &d.name, Form::Name));
        self.memory.iter().for_each(|m| add("kind of a memory", &m.kind, Form::Name));
        all
    }

    /// The dies of so many bands of an array, one after the other. `None` if there are not so many dies.
    pub fn dies_of(&self, bands: usize) -> Option<&[Die]> {
        self.first_of(bands).map(|first| &self.dies[first..first + bands])
    }

    /// The place among the dies of the first of so many bands. The engines are beside it, so it is as close to the first
    /// port of the first memory as the other bands allow.
    pub fn first_of(&self, bands: usize) -> Option<usize> {
        let spare = self.dies.len().checked_sub(bands)?;
        Some(self.at_die(self.memory.first(), 0).min(spare))
    }

    /// The place so many dies from another one, which is before it if the number is negative. `None` if there is no such die.
    pub fn place_from(&self, place: usize, dies: i64) -> Option<usize> {
        place.checked_add_signed(dies as isize).filter(|at| *at < self.dies.len())
    }

    /// The place among the dies of a bank; of several that are used as one, of the first.
    pub fn die_of(&self, bank: &Bank) -> usize {
        let kind = self.memory.iter().find(|m| self.tools_name(&m.kind) == bank.kind);
        self.at_die(kind, bank.first)
    }

    fn at_die(&self, memory: Option<&Memory>, port: i64) -> usize {
        let name = memory.and_then(|m| m.die.as_ref()?.of(port));
        name.and_then(|name| self.dies.iter().position(|d| d.name == *name)).unwrap_or(0)
    }

    /// What the margins leave of a die.
    pub fn usable_of(&self, die: &Die) -> Resources {
        die.resources.zip(&Resources::from_counts(self.margin.percents()), |_, all, percent| all * percent / 100)
    }

    /// The device's logic.
    pub fn fabric(&self) -> Fabric {
        Fabric::of_family(&self.family)
    }

    /// Integer adders in front of another adder's register for which the clock's period leaves time.
    pub fn unregistered_adders(&self) -> usize {
        let period = 1000.0 / self.clock_mhz / self.fabric().slowness();
        ((period - ADDER_NS) / CHAINED_ADDER_NS).clamp(0.0, MOST_UNREGISTERED) as usize
    }

    /// What the margins leave to an array.
    pub fn usable(&self) -> Resources {
        self.resources.zip(&Resources::from_counts(self.margin.percents()), |_, all, percent| all * percent / 100)
    }

    /// Bytes on chip for arrays that pass values between phases, by default: a quarter of the block RAM.
    pub fn on_chip(&self) -> u64 {
        self.resources.bram36().max(0) as u64 * 4096 / 4
    }

    /// # Errors
    /// E0711: a design does not fit; lists the resources of which it needs too many.
    pub fn takes(&self, need: &Resources) -> Result<(), Diagnostic> {
        let help = "choose smaller tiles or fewer lanes, or another board";
        self.missing(need).map_or(Ok(()), |over| {
            let text = format!("the array does not fit {}: it needs {over}", self.name);
            Err(Diagnostic::error("E0711", None, text).help(help))
        })
    }

    /// The arrays of several functions, each with its name and what it needs, and what all need together.
    ///
    /// # Errors
    /// E0711: they do not fit together; lists the functions.
    pub fn takes_all(&self, each: &[(String, Resources)], total: &Resources) -> Result<(), Diagnostic> {
        let Some(over) = self.missing(total) else { return Ok(()) };
        let share = |(name, need): &(String, Resources)| {
            let most = need.named().into_iter().zip(self.resources.counts()).map(|((kind, n), all)| {
                (
                    n * 1000 / all.max(1),
                    format!("{name} {:.1} % of the {}", 100.0 * n as f64 / all.max(1) as f64, kind.to_uppercase()),
                )
            });
            most.max_by_key(|m| m.0).map_or_else(String::new, |m| m.1)
        };
        let text = format!("the {} arrays do not fit {} together: they need {over}", each.len(), self.name);
        let part = (100 / each.len().max(1)).max(1);
        let help = format!(
            "give each its part, such as --limit lut={part}%,dsp={part}%, choose fewer functions (--function) or another \
            board"
        );
        let label = each.iter().map(share).collect::<Vec<_>>().join(", ");
        Err(Diagnostic::error("E0711", None, text).label(label).help(help))
    }

    /// The resources of which there are too few, in words.
    fn missing(&self, need: &Resources) -> Option<String> {
        let have = &self.resources;
        if need.fits(have) {
            return None;
        }
        let over = need.named().into_iter().zip(have.counts()).filter(|((_, need), have)| need > have);
        let over: Vec<String> =
            over.map(|((name, need), have)| format!("{need} {} of {have}", name.to_uppercase())).collect();
        Some(over.join(", "))
    }

    /// Cycles of the kernel's clock from a read's address to its first data, of the slowest memory.
    pub fn latency(&self) -> i64 {
        let ns = self.memory.iter().map(|m| m.latency_ns).max().unwrap_or_else(usual_latency);
        self.cycles_of(ns)
    }

    /// What the memories can do, in cycles of the kernel's clock.
    pub fn memories(&self) -> memory::Memory {
        let kind = |m: &Memory| {
            let rate = |bytes_per_s: i64| {
                let exact = bytes_per_s as f64 * memory::CYCLES as f64 / (self.clock_mhz * 1e6);
                (exact as i64).clamp(1, 1 << 40)
            };
            let port_clock = m.clock_mhz.unwrap_or(self.clock_mhz);
            let way = m.data_bits as f64 / 8.0 * port_clock / self.clock_mhz * memory::CYCLES as f64;
            memory::Kind {
                name: self.tools_name(&m.kind),
                banks: m.ports,
                width: (m.data_bits / 8) as u32,
                latency: self.cycles_of(m.latency_ns),
                way: (way as i64).max(1).min(rate(m.peak_bytes_per_s)),
                bank: rate(m.peak_bytes_per_s),
                all: m.total_peak_bytes_per_s.map(rate),
                shortest: m.shortest_burst_bytes,
            }
        };
        let kinds = self.memory.iter().map(kind).collect();
        memory::Memory { board: self.name.clone(), kinds, ideal: false, wider: false }
    }

    /// The tools' name of a kind of memory. A Zynq's processing system has named ports, other memories numbered banks.
    fn tools_name(&self, kind: &str) -> String {
        if self.family.starts_with("zynq") {
            "HP".into()
        } else {
            kind.to_uppercase()
        }
    }

    fn cycles_of(&self, ns: i64) -> i64 {
        (ns as f64 * self.clock_mhz / 1000.0).ceil() as i64
    }
}
