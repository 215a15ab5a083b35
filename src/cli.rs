//! Arguments. Only their shape is checked here; what they mean for a program is checked where the program is known.

mod values;

use crate::data::DataFile;
use crate::design_file::Request;
use clap::{Args, Parser, Subcommand, ValueEnum};
use frontend::ParseOptions;
use serde::ser::{Error, SerializeMap, Serializer};
use serde::Serialize;
use std::path::PathBuf;
use uniform::aim::{Most, Share};
use uniform::design::DesignSpec;
use values::{
    parse_address_bits, parse_bank, parse_data, parse_define, parse_factor, parse_limit, parse_memory, parse_name,
    parse_port, parse_queue, parse_seconds, parse_shard, parse_share, parse_sizes, parse_word,
};
pub use values::{MemoryKind, SizeSet};

/// Exit codes, below every help.
const EXIT: &str = "Exit status: 0 done (and equal), 1 input refused, 2 wrong usage, 3 the simulation differs,\n\
    4 internal error, 5 the C compiler and the interpreter disagree.";

#[derive(Debug, Parser)]
#[command(
    name = "sagen",
    version,
    about = "From C loop nests to systolic arrays in synthesizable Verilog",
    long_about = "Turns a C loop nest, marked by #pragma scop and #pragma endscop, into a systolic array: an AXI \
        IP in\n\
                  Verilog, simulated against the C program itself.",
    after_help = format!("Examples:\n  \
        sagen sim examples/mm.c                           build the array for mm.c and compare it with the C \
        program\n  \
        sagen rtl --board u250 examples/mm.c -o out/mm    write its Verilog, testbench and report\n  \
        sagen map examples/mm.c                           list every legal array\n\n{EXIT}")
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the Verilog of the array, with testbench and report, into a directory
    Rtl(Rtl),
    /// Simulate the array and compare every result with the C program, which is compiled and run
    Sim(Sim),
    /// Predict the cycles of a design that was written, at given sizes
    Predict(Predict),
    /// Find the best array, with a proof of how good it is
    Explore(Explore),
    /// List every legal array for the program
    Map(Map),
    /// List the known boards
    Boards(Boards),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page
    Man(Man),
}

/// What program, on what board.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Program")]
pub struct Program {
    /// C files with regions between #pragma scop and #pragma endscop
    ///
    /// Several regions, each in a function of its own, become one IP with an entry for each function.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only these functions of the files
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub function: Vec<String>,
    /// Name of the IP [default: that of its only function, else of the first file]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub name: Option<String>,
    /// Define a macro for the C file
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = parse_define)]
    pub defines: Vec<(String, String)>,
    /// Search this directory for included files
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// Greatest values of sizes at run time, which are integer parameters such as `int n`
    #[arg(long = "max", value_name = "SIZE=N,…", value_delimiter = ',', value_parser = parse_factor)]
    pub maxima: Vec<(String, i64)>,
    /// Board by name (see `sagen boards`) or by its .toml file
    #[arg(long, value_name = "NAME|FILE", default_value = crate::catalog::DEFAULT)]
    pub board: String,
}

impl Program {
    /// What the front end and the golden model get.
    pub fn parse_options(&self) -> ParseOptions {
        ParseOptions {
            defines: self.defines.clone(),
            include_dirs: self.include_dirs.clone(),
            maxima: self.maxima.clone(),
        }
    }
}

/// How loops become an array. Left out, sagen chooses. Serialized, it is the written form of a [`DesignSpec`]: an
/// option reaches the design by its name, and its value has the form that a design file gives it.
#[derive(Debug, Default, Args, Serialize)]
pub struct Design {
    /// Loops that become the array's dimensions (`none`: one PE); with --time, sums such as c+q
    #[arg(long, value_name = "LOOP,…", value_delimiter = ',', conflicts_with = "array", help_heading = ARRAY)]
    space: Option<Vec<String>>,
    /// Coordinates of time, outermost first, such as 2*c+q
    #[arg(long, value_name = "EXPR,…", value_delimiter = ',', conflicts_with_all = ["array", "order"], help_heading = ARRAY)]
    time: Option<Vec<String>>,
    /// Every loop nest in a phase of its own, one after the other
    #[arg(long, help_heading = ARRAY)]
    #[serde(skip_serializing_if = "is_off")]
    apart: bool,
    /// Iterations of a loop that end together: where others end as it says, they end by strip
    #[arg(long, value_name = "LOOP=N", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    strip: Vec<(String, i64)>,
    /// Iterations by which a loop begins later from strip to strip, where these hand values on
    #[arg(long, value_name = "LOOP=N,…", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    slant: Vec<(String, i64)>,
    /// Iterations per tile; need not divide the loop
    #[arg(long, value_name = "LOOP=N,…", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    tile: Vec<(String, i64)>,
    /// Iterations that take turns in one PE, to hide an adder's latency
    #[arg(long, value_name = "LOOP=N,…", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    latency: Vec<(String, i64)>,
    /// Iterations that a PE computes at once
    #[arg(long, value_name = "LOOP=N,…", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    simd: Vec<(String, i64)>,
    /// Order of the loops in time, outermost first
    #[arg(long, value_name = "LOOP,…", value_delimiter = ',', help_heading = ARRAY)]
    order: Option<Vec<String>>,
    /// Take the array of this row of `sagen map`
    #[arg(long, value_name = "ROW", help_heading = ARRAY)]
    array: Option<usize>,
    /// Take options from a TOML file, by name: tile = { i = 64 }; others win
    #[arg(long, value_name = "FILE.toml", help_heading = ARRAY)]
    #[serde(skip)]
    design: Option<PathBuf>,
    /// What a chosen array is best at
    #[arg(long, value_parser = ["cycles", "area", "efficiency"], help_heading = AIM)]
    objective: Option<String>,
    /// Cycles that an array of least area may take
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(i64).range(1..), help_heading = AIM)]
    cycles: Option<i64>,
    /// Cycles to give up for a smaller array, such as 2%
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = AIM)]
    slack: Option<Share>,
    /// Shares or counts of lut, ff, dsp, bram36, uram that it may take
    #[arg(long, value_name = "RESOURCE=N,…", value_delimiter = ',', value_parser = parse_limit, help_heading = AIM)]
    #[serde(serialize_with = "table")]
    limit: Vec<(String, Most)>,
    /// Elements per word of an array's AXI port
    #[arg(long, value_name = "ARRAY=N,…", value_delimiter = ',', value_parser = parse_word, help_heading = WIRING)]
    #[serde(serialize_with = "table")]
    word: Vec<(String, u32)>,
    /// Arrays that share an AXI port; `shared`: one port for all
    #[arg(long, value_name = "ARRAY+ARRAY,…", value_delimiter = ',', value_parser = parse_port, help_heading = WIRING)]
    ports: Option<Vec<String>>,
    /// Memory bank of an array, as A=DDR[1]; by default ports take turns
    #[arg(long, value_name = "ARRAY=BANK,…", value_delimiter = ',', value_parser = parse_bank, help_heading = WIRING)]
    #[serde(serialize_with = "table")]
    bank: Vec<(String, String)>,
    /// Commands that the IP keeps for when it is idle: a power of two
    #[arg(long, value_name = "COMMANDS", value_parser = parse_queue, help_heading = WIRING)]
    queue: Option<u32>,
    /// Keep partial results in DRAM that wait longer [default: 4096]
    #[arg(long, value_name = "WAVES", help_heading = WIRING)]
    spill_beyond: Option<u32>,
    /// Latency of reads that ports cover by asking ahead; by default the board's
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = WIRING)]
    memory_latency: Option<u32>,
    /// Bits of the addresses at the AXI ports, 32 or 64; by default the board's
    #[arg(long, value_name = "BITS", value_parser = parse_address_bits, help_heading = WIRING)]
    address_bits: Option<u32>,
    /// Bytes of local arrays kept on chip between phases; by default a quarter of the BRAM
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(..1 << 40), help_heading = WIRING)]
    on_chip: Option<u64>,
    /// Floating-point sums may be added in the array's order
    #[arg(long, help_heading = ARITHMETIC)]
    #[serde(skip_serializing_if = "is_off")]
    reassociate: bool,
    /// Round a * b + c within a floating-point expression once
    #[arg(long, help_heading = ARITHMETIC)]
    #[serde(skip_serializing_if = "is_off")]
    fp_contract: bool,
    /// Add products of floats one by one, or fused: rounded once
    #[arg(long, value_name = "HOW", value_parser = ["chained", "fused"], help_heading = ARITHMETIC)]
    dot: Option<String>,
}

const ARRAY: &str = "Array (chosen by sagen where left out)";
const AIM: &str = "Aim (of an array that sagen chooses)";
const WIRING: &str = "AXI ports";
const ARITHMETIC: &str = "Arithmetic (as in C where left out)";
const OUTPUT: &str = "Output";

impl Design {
    /// The file's choices for all functions, overridden by the options'.
    ///
    /// # Errors
    /// The file cannot be read or understood, or choices exclude each other.
    pub fn spec(&self) -> Result<DesignSpec, String> {
        self.request()?.common()
    }

    /// The same with what the file says of single functions.
    ///
    /// # Errors
    /// The file cannot be read or understood.
    pub fn request(&self) -> Result<Request, String> {
        let options = toml::Table::try_from(self).map_err(|e| e.to_string())?;
        Request::new(self.design.as_deref(), options)
    }
}

fn is_off(flag: &bool) -> bool {
    !flag
}

/// `NAME=N` pairs as a table.
fn table<T: Serialize + std::fmt::Display, S: Serializer>(
    pairs: &[(String, T)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (k, (name, value)) in pairs.iter().enumerate() {
        if let Some((_, other)) = pairs[..k].iter().find(|p| p.0 == *name) {
            return Err(S::Error::custom(format!("one option says {name}={other} and {name}={value}")));
        }
        map.serialize_entry(name, value)?;
    }
    map.end()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// The polyhedral program
    Scop,
    /// The recurrences after localization
    Ure,
    /// The space-time mapping
    Mapping,
    /// The virtual systolic array
    Vsa,
    /// The Verilog modules
    Rtl,
}

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  \
    sagen rtl --board u250 examples/mm.c -o out/mm\n  \
    sagen rtl examples/mm.c --space i,j --tile i=64,j=64,k=32 --latency i=4,j=4 --simd k=2 -o out/mm\n  \
    sagen rtl examples/mm.c --emit=vsa\n\n\
    The directory is written as a whole or not at all. In an existing one only files that sagen wrote are \
    replaced.\n\n{EXIT}"))]
pub struct Rtl {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub design: Design,
    /// Directory to write [default: out/NAME, after the kernel's function]
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Print one stage of the compilation instead
    #[arg(long, value_name = "STAGE", conflicts_with = "output", help_heading = OUTPUT)]
    pub emit: Option<Emit>,
    /// Print the report as JSON
    #[arg(long, conflicts_with = "emit", help_heading = OUTPUT)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// sagen's own simulator; needs nothing installed
    #[default]
    Builtin,
    /// The emitted Verilog in Verilator
    Verilator,
    /// The emitted Verilog in Icarus Verilog
    Icarus,
}

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  \
    sagen sim examples/mm.c\n  \
    sagen sim examples/mm.c -D N=100 --space i,k --seed 7 --memory ddr\n  \
    sagen sim examples/mm.c --data A=a.npy --data B=b.npy --out results --engine verilator\n\n\
    The C file is compiled ($CC, cc, gcc or clang) and run with your rights: simulate only programs you \
    trust.\n\n{EXIT}"))]
pub struct Sim {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub design: Design,
    /// Seed of the inputs and of the ddr memory's stalls
    #[arg(long, default_value_t = 1, help_heading = SIMULATION)]
    pub seed: u64,
    /// Contents of an array; the others are random
    #[arg(long, value_name = "ARRAY=FILE.npy", value_parser = parse_data, help_heading = SIMULATION)]
    pub data: Vec<DataFile>,
    /// Sizes at run time, a run for each time it is given [default: the greatest]
    #[arg(long = "size", value_name = "SIZE=N,…", value_parser = parse_sizes, help_heading = SIMULATION)]
    pub sizes: Vec<SizeSet>,
    /// Then N random runs of the functions in random order, some cut by a reset
    #[arg(long, value_name = "N", help_heading = SIMULATION)]
    pub sequence: Option<usize>,
    /// Simulator
    #[arg(long, value_enum, default_value_t, help_heading = SIMULATION)]
    pub engine: Engine,
    /// Memory behind the AXI ports
    ///
    /// ideal: one beat per cycle, after 16 cycles or as many as given; ddr: after 40, with refresh gaps and random
    /// stalls
    #[arg(long, value_name = "ideal[:CYCLES]|ddr", value_parser = parse_memory, default_value_t, help_heading = SIMULATION)]
    pub memory: MemoryKind,
    /// Write a waveform
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub vcd: Option<PathBuf>,
    /// Write the arrays that the kernel stores to, as simulated, to DIR/ARRAY.npy
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Predict {
    /// Directory that `sagen rtl` wrote, or the text of an array
    #[arg(value_name = "DIR")]
    pub design: PathBuf,
    /// Sizes at run time [default: the greatest]
    #[arg(value_name = "SIZE=N", value_parser = parse_factor)]
    pub sizes: Vec<(String, i64)>,
    /// Memory behind the AXI ports: one beat per cycle, after 16 cycles or as many as given
    #[arg(long, value_name = "ideal[:CYCLES]", value_parser = parse_memory, default_value_t)]
    pub memory: MemoryKind,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

const SIMULATION: &str = "Simulation";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sagen explore examples/mm.c --board u250\n  \
    sagen explore examples/cnn.c --gap 0.5% --time-limit 60s --html cnn.html\n  \
    sagen explore examples/mm.c --pareto lut,dsp --json\n  \
    sagen explore examples/layer.c --network examples/vgg16.toml --gap 1%\n  \
    sagen explore examples/mm.c --shard 1/8 --out runs.jsonl --resume\n\n\
    Without --time-limit the same program gives the same answer.")]
pub struct Explore {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub design: Design,
    /// Stop when the best is proved to be within this share of the optimum
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse_share)]
    pub gap: Share,
    /// Stop after so long, with the best so far
    #[arg(long, value_name = "60s", value_parser = parse_seconds)]
    pub time_limit: Option<f64>,
    /// Assemble so many designs at most
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub designs: u64,
    /// The fastest arrays for halves, quarters, … of these resources, each with its proof
    #[arg(long, value_name = "RESOURCE,…", value_delimiter = ',', value_parser = ["cycles", "lut", "ff", "dsp", "bram36", "bram", "uram"])]
    pub pareto: Vec<String>,
    /// One array for all layers of a network: the file has a table [[layer]] with the macros of each
    #[arg(long, value_name = "NET.toml", conflicts_with_all = ["pareto", "html", "shard"])]
    pub network: Option<PathBuf>,
    /// Search this part of the grids, such as 3/8, and append to --out
    #[arg(long, value_name = "I/N", value_parser = parse_shard, requires = "out", conflicts_with_all = ["pareto", "html"])]
    pub shard: Option<(u64, u64)>,
    /// File that shards append a line to for every grid they have finished
    #[arg(long, value_name = "FILE.jsonl", requires = "shard")]
    pub out: Option<PathBuf>,
    /// Skip grids that --out has
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page with front, roofline, course of the search and the array drawn
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sagen map examples/mm.c\n  sagen map examples/mm.c --svg pictures\n\n\
    Take a row of the table with `sagen rtl --array ROW` or `sagen sim --array ROW`, with the same options.")]
pub struct Map {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub design: Design,
    /// Print the table as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Draw each array into DIR/ROW.svg, and what happens in it over time into DIR/ROW.time.svg
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Boards {
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "For example, in bash: eval \"$(sagen completions bash)\"")]
pub struct Completions {
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sagen man | man -l -\n  sagen man --out ~/.local/share/man/man1")]
pub struct Man {
    /// Write this page and one for each subcommand into a directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
