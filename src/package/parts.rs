//! The parts of the package around the Verilog, from which the crate `packaging` renders its files.

use crate::sim::Built;
use cost::board::Board;
use packaging::{File, Function, Ip, Signal};
use search::Compiled;
use templates::interface;

/// The files that are in the output directory before the package.
pub struct Emitted {
    pub rtl: Vec<File>,
    pub constraints: Vec<File>,
    pub floorplan: Option<File>,
    pub bench: Bench,
    pub functions: Vec<Function>,
}

/// Paths of the testbench's Verilog, and of the files that it reads.
pub struct Bench {
    pub verilog: Vec<String>,
    pub images: Vec<String>,
}

/// A function, as the package describes it. `reference` is a text that runs the program, see
/// [`crate::golden::reference`]; `exact` means that every bit of a result is the C program's.
pub fn function(
    compiled: &Compiled,
    interface: &interface::Function,
    reference: Option<packaging::Reference>,
    exact: bool,
) -> Function {
    Function {
        banks: interface
            .arguments
            .iter()
            .map(|a| a.array().map(|_| compiled.report.banks[a.own].to_string()))
            .collect(),
        reference,
        exact,
        summary: crate::report::headline(compiled.own()),
        cycles: compiled.report.prediction.cycles,
        on_board: compiled.report.chosen_for == compiled.report.board,
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
        floorplan: emitted.floorplan,
        bench: emitted.bench.verilog,
        images: emitted.bench.images,
    };
    packaging::render(&ip)
}
