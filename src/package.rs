//! The package around the Verilog: gathers what `packaging` renders from.

use crate::sim::Built;
use cost::board::Board;
use packaging::{File, Function, Ip, Signal};
use search::Compiled;
use templates::interface;

/// What stands in the output directory already.
pub struct Emitted {
    pub rtl: Vec<File>,
    pub constraints: Vec<File>,
    pub bench: Bench,
    pub functions: Vec<Function>,
}

/// Paths of the testbench's Verilog, and of the files it reads.
pub struct Bench {
    pub verilog: Vec<String>,
    pub images: Vec<String>,
}

/// What the package says of a function. `reference`: C text that runs it, see [`crate::golden::reference`]; `exact`:
/// every bit of a result is the C program's.
pub fn function(
    compiled: &Compiled,
    interface: &interface::Function,
    reference: Option<String>,
    exact: bool,
) -> Function {
    Function {
        banks: interface
            .arguments
            .iter()
            .map(|a| a.array().map(|a| compiled.report.banks[a.index].to_string()))
            .collect(),
        reference,
        exact,
        summary: crate::report::headline(&compiled.vsa),
        cycles: compiled.report.prediction.cycles,
    }
}

/// The package's files.
///
/// # Errors
/// The design is empty, or an archive cannot be written.
pub fn files(built: &Built, board: &Board, emitted: Emitted) -> Result<Vec<File>, String> {
    let Built { design, interface, .. } = built;
    let top = crate::sim::bench::top(design)?;
    let signal = |input: bool| move |(name, ty): (&str, rtl::Ty)| Signal { name: name.to_string(), input, width: ty.w };
    let clock = Signal { name: interface.clock.to_string(), input: true, width: 1 };
    let ip = Ip {
        interface,
        board,
        signals: [clock]
            .into_iter()
            .chain(top.input_ports().map(signal(true)))
            .chain(top.output_ports().map(signal(false)))
            .collect(),
        functions: emitted.functions,
        rtl: emitted.rtl,
        constraints: emitted.constraints,
        bench: emitted.bench.verilog,
        images: emitted.bench.images,
    };
    packaging::render(&ip)
}
