//! The arguments of the command, and their help texts. Only the form of an argument is checked here. What it means for
//! a program is checked when the program is known.

mod values;

use crate::data::{DataFile, Inputs};
use crate::design_file::Request;
use crate::golden::How;
use crate::render::MessageFormat;
use crate::waves::Waves;
use clap::{Args, Parser, Subcommand, ValueEnum};
use frontend::ParseOptions;
use serde::ser::{Error, SerializeMap, Serializer};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use uniform::aim::{CountedMemory, Grid, Most, Share};
use uniform::cuts::Cuts;
use uniform::design::DesignSpec;
use values::{
    parse_address_bits, parse_bank, parse_clock, parse_counted, parse_cuts, parse_cycle_range, parse_cycles,
    parse_data, parse_define, parse_factor, parse_grid, parse_limit, parse_memory, parse_memory_latency, parse_name,
    parse_on_chip, parse_pe, parse_port, parse_queue, parse_seconds, parse_shard, parse_share, parse_sizes, parse_word,
};
pub use values::{MemoryKind, SizeSet};

/// The exit codes, below each help.
const EXIT: &str = "Exit status: 0 done (and equal), 1 input refused, 2 wrong usage, 3 the simulation differs,\n\
    4 internal error, 5 the C compiler and the interpreter disagree.";

/// What the C program may do, below the helps of the commands that run it.
const CONFINED: &str =
    "On Linux it has\nno network, starts no processes and writes only in a temporary folder; it can \
    read what you can read. sagen says so\nif the kernel lacks the means (Landlock, since 5.13, and seccomp). --trust \
    lifts these limits.";

#[derive(Debug, Parser)]
#[command(
    name = "sagen",
    version,
    about = "From C loop nests to systolic arrays in synthesizable Verilog",
    long_about = "Turns a C loop nest between #pragma scop and #pragma endscop into a systolic array. The result is an \
        AXI IP in\nVerilog, which is simulated against the C program itself.",
    after_help = format!("Examples:\n  \
        sagen sim examples/mm.c                           build a systolic array for mm.c and compare it with C\n  \
        sagen rtl --board u250 examples/mm.c -o out/mm    write its Verilog, testbench and report\n  \
        sagen map examples/mm.c                           list every legal systolic array\n\n{EXIT}")
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Form of messages on standard error
    #[arg(long, value_enum, default_value_t, global = true, value_name = "FORM", display_order = 1000)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the Verilog of the systolic array, with testbench and report, into a directory
    Rtl(Rtl),
    /// Simulate the systolic array and compare every result with the C program, which is compiled and run
    Sim(Sim),
    /// Predict the cycles of a written design at given sizes
    Predict(Predict),
    /// Find the best systolic array, with a proof of how good it is
    Explore(Explore),
    /// List every legal systolic array of the program
    Map(Map),
    /// Write a CUDA kernel: the systolic array in the lanes and registers of a GPU's warps
    Gpu(Gpu),
    /// List the built-in boards
    Boards(Boards),
    /// Explain the code of an error or a warning, such as E0408
    Explain(Explain),
    /// Print the completion script of a shell
    Completions(Completions),
    /// Print the manual page
    Man(Man),
}

/// The program and the board.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Program")]
pub struct Program {
    /// C files with regions between #pragma scop and #pragma endscop
    ///
    /// Several regions, each in a function of its own, become one IP that can run each function.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Take the C function once for each layer of a network: tables [[layer]] with its macros
    ///
    /// The functions are named after the C function and the layer. `rtl` and `sim` put all layers on one array.
    #[arg(long, value_name = "NET.toml")]
    pub network: Option<PathBuf>,
    /// Take only these functions of the files
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub function: Vec<String>,
    /// Name of the IP [default: that of the only function, of the network, or of the first file]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub name: Option<String>,
    /// Define a macro for the C file
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = parse_define)]
    pub defines: Vec<(String, String)>,
    /// Search this directory for included files
    #[arg(short = 'I', value_name = "DIR")]
    pub include_dirs: Vec<PathBuf>,
    /// More C files of the program, with functions that it calls outside of the marked regions
    ///
    /// Only the golden model of `sagen sim` needs them. Functions that a region calls must be in FILE or included there.
    #[arg(long = "with", value_name = "FILE")]
    pub companions: Vec<PathBuf>,
    /// Maxima of sizes at run time; a size is an integer parameter such as `int n`
    #[arg(long = "max", value_name = "SIZE=N,…", value_delimiter = ',', value_parser = parse_factor)]
    pub maxima: Vec<(String, i64)>,
    /// Compute expf, logf, sinf, cosf and tanhf of array values by polynomials
    ///
    /// Their errors are below 2 units in the last place (docs/operators.md). The golden model computes the same ones.
    #[arg(long, value_name = "approx", hide_possible_values = true)]
    pub math: Option<Math>,
    /// Board, by name (see `sagen boards`) or by its .toml file
    #[arg(long, value_name = "NAME|FILE", default_value = crate::catalog::DEFAULT)]
    pub board: String,
    /// Clock of the IP in MHz [default: the board's]
    #[arg(long, value_name = "MHZ", value_parser = parse_clock)]
    pub clock: Option<f64>,
}

/// How functions of `math.h` are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Math {
    Approx,
}

impl Program {
    /// These files, on the default board.
    pub fn new<P: Into<PathBuf>>(files: impl IntoIterator<Item = P>) -> Program {
        Program {
            files: files.into_iter().map(Into::into).collect(),
            network: None,
            function: vec![],
            name: None,
            defines: vec![],
            include_dirs: vec![],
            companions: vec![],
            maxima: vec![],
            math: None,
            board: crate::catalog::DEFAULT.into(),
            clock: None,
        }
    }

    /// The options of the front end and of the golden model.
    pub fn parse_options(&self) -> ParseOptions {
        ParseOptions {
            defines: self.defines.clone(),
            include_dirs: self.include_dirs.clone(),
            companions: self.companions.clone(),
            maxima: self.maxima.clone(),
            approximate: self.math == Some(Math::Approx),
        }
    }
}

/// How the C program is run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "C program")]
pub struct CProgram {
    /// Run it without limits: with network, processes and files as you have them
    #[arg(long)]
    pub trust: bool,
    /// Longest time of its compilation and of its run [default: 60s, more for long programs]
    ///
    /// If it takes longer, sagen's interpreter takes its place. By default it has 60 seconds, and one more for each 20
    /// million operations.
    #[arg(long, value_name = "60s", value_parser = parse_seconds)]
    pub c_time_limit: Option<f64>,
}

impl CProgram {
    /// For a function of so many operations, if their number is known.
    pub fn how(&self, operations: Option<i64>) -> How {
        let usual = 60.0 + operations.unwrap_or(0).max(0) as f64 / 20e6;
        let limit = self.c_time_limit.unwrap_or(usual).min(LONGEST_TIME);
        How { trust: self.trust, limit: Duration::from_secs_f64(limit) }
    }
}

/// No time limit is longer than a year, in seconds.
const LONGEST_TIME: f64 = 366.0 * 86_400.0;

/// The options that say how loops become a systolic array; sagen chooses what is left out. Serialized, it is the
/// written form of a [`DesignSpec`]: each option has the name and the form of a key of a design file.
#[derive(Debug, Default, Args, Serialize)]
pub struct Design {
    /// Space loops, at most two (`none`: one PE); with --time, sums such as c+q
    #[arg(long, value_name = "LOOP,…", value_delimiter = ',', conflicts_with = "row", help_heading = ARRAY)]
    space: Option<Vec<String>>,
    /// Time coordinates, outermost first, such as 2*c+q
    #[arg(long, value_name = "EXPR,…", value_delimiter = ',', conflicts_with_all = ["row", "order"])]
    #[arg(help_heading = ARRAY)]
    time: Option<Vec<String>>,
    /// Distribute the loop nests into phases, which run one after the other on the same PEs
    #[arg(long, alias = "apart", help_heading = ARRAY)]
    #[serde(skip_serializing_if = "is_off")]
    distribute: bool,
    /// Strip-mine a loop by N iterations; loops whose bounds follow it then end by strip
    #[arg(long, value_name = "LOOP=N", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    strip: Vec<(String, i64)>,
    /// Skew a loop by N iterations per strip, if a strip passes values on to the next
    #[arg(long, alias = "slant", value_name = "LOOP=N,…", value_delimiter = ',', value_parser = parse_factor)]
    #[arg(help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    skew: Vec<(String, i64)>,
    /// Array partitioning: iterations per tile, which need not divide the loop
    #[arg(long, value_name = "LOOP=N,…", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    tile: Vec<(String, i64)>,
    /// Latency hiding: interleave N iterations in one PE, which hides an adder's latency
    #[arg(long, value_name = "LOOP=N,…", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    latency: Vec<(String, i64)>,
    /// SIMD: compute N iterations at once in each PE
    #[arg(long, value_name = "LOOP=N,…", value_delimiter = ',', value_parser = parse_factor, help_heading = ARRAY)]
    #[serde(serialize_with = "table")]
    simd: Vec<(String, i64)>,
    /// Deal iterations of these space loops out to the PEs (`none`: of none), not a block to each
    #[arg(long, value_name = "LOOP,…", value_delimiter = ',', help_heading = ARRAY, hide_short_help = true)]
    cyclic: Option<Vec<String>>,
    /// Cut the array in front of these PEs of an axis: a band for each die
    #[arg(long, value_name = "AXIS=PE,…", value_parser = parse_cuts, allow_hyphen_values = true, help_heading = ARRAY)]
    #[arg(hide_short_help = true)]
    cuts: Option<Cuts>,
    /// Order of the loops in time, outermost first
    #[arg(long, value_name = "LOOP,…", value_delimiter = ',', help_heading = ARRAY)]
    order: Option<Vec<String>>,
    /// Take the systolic array of this row of `sagen map`
    #[arg(long, alias = "array", value_name = "ROW", help_heading = ARRAY)]
    row: Option<usize>,
    /// Take options from a TOML file, such as tile = { i = 64 }; options of the command line win
    #[arg(long, value_name = "FILE.toml", help_heading = ARRAY)]
    #[serde(skip)]
    design: Option<PathBuf>,
    /// Criterion of the choice: balanced (default; `explore`: cycles), cycles, area or efficiency
    ///
    /// balanced: the array that the fastest one shrinks to as long as half the size costs at most 10 % more cycles each
    /// time; cycles: the fastest array; area: the smallest within --cycles; efficiency: the least product of both
    #[arg(long, value_parser = ["balanced", "cycles", "area", "efficiency"], hide_possible_values = true)]
    #[arg(value_name = "AIM", help_heading = AIM)]
    objective: Option<String>,
    /// With --objective area: the number of cycles that the systolic array may take
    #[arg(long, value_name = "CYCLES", value_parser = parse_cycles, help_heading = AIM)]
    cycles: Option<i64>,
    /// Give up this share of the cycles for a smaller systolic array, such as 2%
    #[arg(long, value_name = "SHARE", value_parser = parse_share, help_heading = AIM)]
    slack: Option<Share>,
    /// Limit resources (lut, ff, dsp, bram36, uram) to a count or a share, such as 50%
    #[arg(long, value_name = "RESOURCE=N,…", value_delimiter = ',', value_parser = parse_limit, help_heading = AIM)]
    #[serde(serialize_with = "table")]
    limit: Vec<(String, Most)>,
    /// Search among arrays with so many PEs along each axis, and lanes, at most, such as 8x4x2
    #[arg(long, value_name = "PESxPESxLANES", value_parser = parse_grid, help_heading = AIM)]
    grid: Option<Grid>,
    /// With --merge: how often each function runs [default: once]
    #[arg(long, value_name = "NAME=N,…", value_delimiter = ',', value_parser = parse_factor, help_heading = AIM)]
    #[serde(serialize_with = "table")]
    weights: Vec<(String, i64)>,
    /// Data packing: elements per word of a C array's AXI port
    #[arg(long, value_name = "ARRAY=N,…", value_delimiter = ',', value_parser = parse_word, help_heading = WIRING)]
    #[serde(serialize_with = "table")]
    word: Vec<(String, u32)>,
    /// C arrays that share an AXI port; `shared`: one port for all
    #[arg(long, value_name = "ARRAY+ARRAY,…", value_delimiter = ',', value_parser = parse_port, help_heading = WIRING)]
    ports: Option<Vec<String>>,
    /// Memory bank of a C array, such as A=DDR[1] [default: ports take turns]
    #[arg(long, value_name = "ARRAY=BANK,…", value_delimiter = ',', value_parser = parse_bank, help_heading = WIRING)]
    #[serde(serialize_with = "table")]
    bank: Vec<(String, String)>,
    /// Add a queue of this many commands to the IP: a power of two
    #[arg(long, value_name = "COMMANDS", value_parser = parse_queue, help_heading = WIRING)]
    queue: Option<u32>,
    /// Let commands of the queue begin while those before them run, where the host says so
    #[arg(long, help_heading = WIRING)]
    #[serde(skip_serializing_if = "is_off")]
    overlap: bool,
    /// Put all functions on one array
    #[arg(long, help_heading = WIRING)]
    #[serde(skip_serializing_if = "is_off")]
    merge: bool,
    /// Store partial results in DRAM if they wait for more waves than this [default: 4096]
    #[arg(long, value_name = "WAVES", help_heading = WIRING)]
    spill_beyond: Option<u32>,
    /// Memory latency that the ports hide by reading ahead [default: the board's]
    #[arg(long, value_name = "CYCLES", value_parser = parse_memory_latency)]
    #[arg(help_heading = WIRING)]
    memory_latency: Option<u32>,
    /// Bits of the addresses at the AXI ports, 32 or 64 [default: the board's]
    #[arg(long, value_name = "BITS", value_parser = parse_address_bits, help_heading = WIRING)]
    address_bits: Option<u32>,
    /// Add a register with the length of each buffer: nothing behind it is moved
    #[arg(long, help_heading = WIRING)]
    #[serde(skip_serializing_if = "is_off")]
    guard: bool,
    /// Arrays start at any element, not at a word of their port
    #[arg(long, help_heading = WIRING)]
    #[serde(skip_serializing_if = "is_off")]
    unaligned: bool,
    /// Bytes of local arrays that stay on chip between phases [default: a quarter of the BRAM]
    #[arg(long, value_name = "BYTES", value_parser = parse_on_chip, help_heading = WIRING)]
    on_chip: Option<u64>,
    /// Keep these static arrays in memories of the IP from run to run
    #[arg(long, value_name = "ARRAY,…", value_delimiter = ',', help_heading = WIRING)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keep: Vec<String>,
    /// Allow floating-point sums in the order of the systolic array, not of the program
    #[arg(long, help_heading = ARITHMETIC)]
    #[serde(skip_serializing_if = "is_off")]
    reassociate: bool,
    /// Fuse a * b + c within a floating-point expression, with one rounding
    #[arg(long, help_heading = ARITHMETIC)]
    #[serde(skip_serializing_if = "is_off")]
    fp_contract: bool,
    /// Add the lanes' products one by one, or fused with one rounding
    #[arg(long, value_name = "HOW", value_parser = ["chained", "fused"], help_heading = ARITHMETIC)]
    dot: Option<String>,
    /// Multiply several narrow integers in one DSP slice, where they share a factor
    #[arg(long, help_heading = ARITHMETIC)]
    #[serde(skip_serializing_if = "is_off")]
    pack: bool,
    /// The design of a caller without a command line. An option wins over its key here.
    #[arg(skip)]
    #[serde(skip)]
    given: toml::Table,
}

impl From<DesignSpec> for Design {
    /// What a caller without a command line asks for.
    fn from(spec: DesignSpec) -> Design {
        let given = toml::Table::try_from(spec).expect("names and numbers are TOML");
        Design { given, ..Design::default() }
    }
}

const ARRAY: &str = "Systolic array (sagen chooses what is left out)";
const AIM: &str = "Aim (of the choice)";
const WIRING: &str = "AXI ports";
const ARITHMETIC: &str = "Arithmetic (as in C by default)";
const OUTPUT: &str = "Output";

impl Design {
    /// What is asked of all functions; an option wins over the design file.
    ///
    /// # Errors
    /// The file cannot be read or understood, or choices exclude each other.
    pub fn spec(&self) -> Result<DesignSpec, String> {
        self.request()?.common()
    }

    /// What is asked of all functions, and of single ones.
    ///
    /// # Errors
    /// The file cannot be read or understood.
    pub fn request(&self) -> Result<Request, String> {
        let mut options = self.given.clone();
        options.extend(toml::Table::try_from(self).map_err(|e| e.to_string())?);
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
    /// The uniform recurrence equations
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
    sagen rtl examples/layer.c --network examples/vgg16.toml --limit dsp=1024 -o out/vgg16\n  \
    sagen rtl examples/mm.c --emit=vsa\n\n\
    The directory is written as a whole or not at all. In an existing directory only files that sagen wrote \
    are replaced.\n\nThe program is compiled and run only with --expected. {CONFINED}\n\n{EXIT}"))]
pub struct Rtl {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub design: Design,
    /// Memory for which cycles are counted; ideal: a word per cycle on each port [default: board]
    #[arg(long, value_name = "board|ideal", value_parser = parse_counted, help_heading = AIM)]
    pub memory: Option<CountedMemory>,
    /// Directory to write [default: out/NAME with the IP's name]
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Contents of a C array in the testbench; arrays without a file are random
    #[arg(long, value_name = "ARRAY=FILE.npy", value_parser = parse_data, help_heading = OUTPUT)]
    #[arg(conflicts_with = "emit")]
    pub data: Vec<DataFile>,
    /// Seed of the testbench's random inputs [default: 1]
    #[arg(long, conflicts_with = "emit", help_heading = OUTPUT)]
    pub seed: Option<u64>,
    /// Run the C program for the testbench's expected results [default: interpret it]
    ///
    /// If it has a main(), the arrays with which main() first calls the function are the testbench's inputs, unless --data
    /// or --seed is given.
    #[arg(long, conflicts_with = "emit", help_heading = OUTPUT)]
    pub expected: bool,
    #[command(flatten)]
    pub c_program: CProgram,
    /// Print one stage instead
    #[arg(long, value_name = "STAGE", conflicts_with = "output", help_heading = OUTPUT)]
    pub emit: Option<Emit>,
    /// Print the report as JSON
    #[arg(long, conflicts_with = "emit", help_heading = OUTPUT)]
    pub json: bool,
}

impl Rtl {
    /// The seed of random inputs.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// Where the inputs of the testbench come from, if the C program is run.
    pub fn inputs(&self) -> Inputs {
        Inputs::of(self.seed, &self.data)
    }
}

impl Sim {
    /// The waveform to write.
    pub fn waves(&self) -> Option<Waves> {
        let pes = (!self.vcd_pes.is_empty()).then(|| self.vcd_pes.clone());
        self.vcd.clone().map(|path| Waves { path, cycles: self.vcd_cycles, pes })
    }

    /// The seed of random inputs and stalls.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// Where the inputs come from.
    pub fn inputs(&self) -> Inputs {
        Inputs::of(self.seed, &self.data)
    }
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
    The C file is compiled ($CC, cc, gcc or clang) and run. {CONFINED}\n\n{EXIT}"))]
pub struct Sim {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub design: Design,
    #[command(flatten)]
    pub c_program: CProgram,
    /// Seed of random inputs and of the stalls of ddr [default: 1]
    ///
    /// Inputs are random if the program has no main(), or if --seed or --data is given. Otherwise they are the arrays with
    /// which main() first calls the function.
    #[arg(long, help_heading = SIMULATION)]
    pub seed: Option<u64>,
    /// Contents of a C array; arrays without a file are random
    #[arg(long, value_name = "ARRAY=FILE.npy", value_parser = parse_data, help_heading = SIMULATION)]
    pub data: Vec<DataFile>,
    /// Sizes at run time; each use of the option is a run [default: the maxima]
    #[arg(long = "size", value_name = "SIZE=N,…", value_parser = parse_sizes, help_heading = SIMULATION)]
    pub sizes: Vec<SizeSet>,
    /// Then run the functions N times in random order, some runs cut off by a reset
    #[arg(long, value_name = "N", help_heading = SIMULATION)]
    pub sequence: Option<usize>,
    /// Simulator
    #[arg(long, value_enum, default_value_t, help_heading = SIMULATION)]
    pub engine: Engine,
    /// Memory behind the AXI ports: board, ideal, ideal:CYCLES or ddr
    ///
    /// board: the board's rates and latency; ideal: one beat per cycle, with a latency of 16 cycles or as given, and
    /// sagen chooses the array for it; ddr: a latency of 40 cycles, refresh gaps and random stalls
    #[arg(long, value_name = "KIND", value_parser = parse_memory, default_value_t)]
    #[arg(help_heading = SIMULATION)]
    pub memory: MemoryKind,
    /// Write a waveform, and views of it for GTKWave (.gtkw) and Surfer (.sucl)
    #[arg(long, value_name = "FILE.vcd", help_heading = OUTPUT)]
    pub vcd: Option<PathBuf>,
    /// Only these cycles of it, such as 100..200
    #[arg(long, value_name = "FIRST..LAST", value_parser = parse_cycle_range, requires = "vcd", help_heading = OUTPUT)]
    pub vcd_cycles: Option<(u64, u64)>,
    /// Of the PEs only these, such as 0,0; no feeders and collectors
    #[arg(long = "vcd-pe", value_name = "ROW,COLUMN", value_parser = parse_pe, requires = "vcd", help_heading = OUTPUT)]
    pub vcd_pes: Vec<[u64; 2]>,
    /// Write the C arrays that the kernel stores to DIR/ARRAY.npy, as simulated
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Predict {
    /// Directory that `sagen rtl` wrote, or the text of a systolic array (vsa.txt)
    #[arg(value_name = "DIR")]
    pub design: PathBuf,
    /// Sizes at run time [default: the maxima]
    #[arg(value_name = "SIZE=N", value_parser = parse_factor)]
    pub sizes: Vec<(String, i64)>,
    /// Memory behind the AXI ports: the board's, or one beat per cycle with a latency of 16 cycles or as given
    #[arg(long, value_name = "board|ideal[:CYCLES]", value_parser = parse_memory, default_value_t)]
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
    /// Memory for which cycles are counted; ideal: a word per cycle on each port [default: board]
    #[arg(long, value_name = "board|ideal", value_parser = parse_counted, help_heading = AIM)]
    pub memory: Option<CountedMemory>,
    /// Stop when the best design is proved to be within this share of the optimum
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse_share)]
    pub gap: Share,
    /// Stop after this time, with the best design so far
    #[arg(long, value_name = "60s", value_parser = parse_seconds)]
    pub time_limit: Option<f64>,
    /// Assemble at most this many designs
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub designs: u64,
    /// Also find the fastest systolic arrays with half, a quarter, … of these resources, each with its proof
    #[arg(long, value_name = "RESOURCE,…", value_delimiter = ',')]
    #[arg(value_parser = ["cycles", "lut", "ff", "dsp", "bram36", "bram", "uram"], conflicts_with = "network")]
    pub pareto: Vec<String>,
    /// Search part I of N of the design space, such as 3/8, and append the results to --out
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    #[arg(requires = "out", conflicts_with_all = ["pareto", "html", "network"])]
    pub shard: Option<(u64, u64)>,
    /// File to which shards append a line for each finished grid of PEs
    #[arg(long, value_name = "FILE.jsonl", requires = "shard")]
    pub out: Option<PathBuf>,
    /// Skip the grids that --out already has
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Write a page with front, roofline, course of the search and a drawing of the systolic array
    #[arg(long, value_name = "FILE.html", conflicts_with = "network")]
    pub html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sagen map examples/mm.c\n  sagen map examples/mm.c --svg pictures\n\n\
    Build a row of the table with `sagen rtl --row ROW`, or simulate it with `sagen sim --row ROW`. Give the same \
    options.")]
pub struct Map {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub design: Design,
    /// Print the table as JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Draw each systolic array into DIR/ROW.svg, and its space-time diagram into DIR/ROW.time.svg
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  \
    sagen gpu examples/gpu/depthwise.c\n  \
    sagen gpu examples/gpu/heat.c --space j,t --time i+t -o out/heat\n\n\
    The kernel's text also runs on the CPU. It is compared there with the C program, which is compiled ($CC, cc, gcc \
    or clang) and run.\nOn Linux the program has no network and no files but its own (see --trust).\n\n{EXIT}"), mut_args(only_of_warps))]
pub struct Gpu {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub design: Design,
    #[command(flatten)]
    pub c_program: CProgram,
    /// Rows that a step asks for ahead of their use, 1 to 8 [default: as many as hide the memory's latency]
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(i64).range(1..=8), help_heading = ARRAY)]
    pub ahead: Option<i64>,
    /// Directory to write [default: out/NAME with the function's name]
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub output: Option<PathBuf>,
    /// Print the program of a warp instead
    #[arg(long, conflicts_with = "output", help_heading = OUTPUT)]
    pub emit: bool,
    /// Do not compare with the C program
    #[arg(long, help_heading = OUTPUT)]
    pub no_check: bool,
    /// Seed of the random inputs
    #[arg(long, default_value_t = 1, help_heading = OUTPUT)]
    pub seed: u64,
    /// Sizes at run time of a comparison; each use of the option is one [default: all 1, and larger ones]
    #[arg(long = "size", value_name = "SIZE=N,…", value_parser = parse_sizes, help_heading = OUTPUT)]
    pub sizes: Vec<SizeSet>,
    /// Compile the comparison with a sanitizer, such as `address`
    #[arg(long, value_name = "NAME", help_heading = OUTPUT)]
    pub sanitize: Option<String>,
}

/// Keys of a design that mean something on an FPGA only.
pub const OF_FPGA: [&str; 25] = [
    "latency",
    "cyclic",
    "cuts",
    "reassociate",
    "dot",
    "objective",
    "cycles",
    "slack",
    "limit",
    "grid",
    "weights",
    "word",
    "ports",
    "bank",
    "queue",
    "overlap",
    "merge",
    "spill_beyond",
    "memory_latency",
    "address_bits",
    "guard",
    "unaligned",
    "on_chip",
    "keep",
    "pack",
];

/// The help of `sagen gpu` leaves out what only an FPGA has.
fn only_of_warps(argument: clap::Arg) -> clap::Arg {
    let hidden = OF_FPGA.contains(&argument.get_id().as_str());
    argument.hide(hidden)
}

#[derive(Debug, Args)]
pub struct Boards {
    /// Print the table as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  sagen explain E0408\n  sagen explain\n\nWithout a code, all codes are listed.")]
pub struct Explain {
    /// Codes of diagnostics, such as E0408
    #[arg(value_name = "CODE")]
    pub codes: Vec<String>,
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
