//! The package around the Verilog: gathers what `packaging` renders from.

use arch::cost::board::Board;
use arch::Compiled;
use packaging::{File, Ip, Signal};
use rtl::Verified;
use templates::interface::Interface;

/// What stands in the output directory already.
pub struct Emitted {
    pub rtl: Vec<File>,
    pub constraints: Vec<File>,
    pub bench: Bench,
    /// C text that runs the program, see [`crate::golden::reference`].
    pub reference: Option<String>,
    /// Every bit of a result is the C program's.
    pub exact: bool,
}

/// Paths of the testbench's Verilog, and of the files it reads.
pub struct Bench {
    pub verilog: Vec<String>,
    pub images: Vec<String>,
}

/// The package's files.
///
/// # Errors
/// The design is empty, or an archive cannot be written.
pub fn files(compiled: &Compiled, design: &Verified, board: &Board, emitted: Emitted) -> Result<Vec<File>, String> {
    let interface = Interface::new(&compiled.vsa);
    let top = crate::sim::bench::top(design)?;
    let signal = |input: bool| move |(name, ty): (&str, rtl::Ty)| Signal { name: name.to_string(), input, width: ty.w };
    let clock = Signal { name: interface.clock.to_string(), input: true, width: 1 };
    let ip = Ip {
        interface: &interface,
        board,
        signals: [clock].into_iter().chain(top.input_ports().map(signal(true))).chain(top.output_ports().map(signal(false))).collect(),
        banks: interface.arguments.iter().map(|a| a.array().map(|a| compiled.report.banks[a.index].to_string())).collect(),
        summary: crate::report::headline(&compiled.vsa),
        cycles: compiled.report.prediction.cycles,
        rtl: emitted.rtl,
        constraints: emitted.constraints,
        bench: emitted.bench.verilog,
        images: emitted.bench.images,
        reference: emitted.reference,
        exact: emitted.exact,
    };
    packaging::render(&ip)
}
