//! Writes an IP into a directory: Verilog, testbench, constraints, IP package, drivers, pictures and `report.json`.
//!
//! The directory appears as a whole or not at all ([`crate::outdir`]).

mod floorplan;
mod page;
mod parts;
mod testbench;

use crate::by_time::{self, Choice};
use crate::cli::Rtl;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::explore;
use crate::input::Input;
use crate::outdir::OutputDir;
use crate::program::Work;
use crate::report::{self, Design};
use crate::reporter::{Progress, Reporter};
use crate::sim::Built;
use crate::{data, golden};
use array::ip::Ip;
use constraints::OnDie;
use cost::board::{Board, Die};
use packaging::File;
use search::Compiled;
use serde_json::Value;
use std::path::{Path, PathBuf};
use templates::interface::Interface;
use templates::Cells;
use uniform::design::DesignSpec;

/// An IP that was written.
pub struct Packaged {
    /// The directory with the files.
    pub directory: PathBuf,
    pub board: Board,
    pub ip: Ip,
    pub interface: Interface,
    pub clock: Clock,
    /// In the order of their numbers in the IP.
    pub functions: Vec<PackagedFunction>,
    /// The arrays beside that of the only function on the front of cycles and resources, the fastest first.
    pub beside: Vec<search::branch::Design>,
    /// The contents of `report.json`.
    pub report: Value,
}

/// A function of the IP.
pub struct PackagedFunction {
    pub input: Input,
    /// What is asked of it.
    pub spec: DesignSpec,
    pub compiled: Compiled,
}

impl PackagedFunction {
    /// Every bit of a result is the C program's.
    fn is_exact(&self) -> bool {
        let PackagedFunction { input, spec, compiled } = self;
        *spec.program(&input.scop) == input.scop
            && !(spec.arithmetic.reassociate == Some(true) && compiled.vsa.arrays.iter().any(|a| a.ty.is_float()))
    }
}

/// See [`crate::package()`].
pub(crate) fn run(arguments: &Rtl, reporter: &dyn Reporter) -> Result<Packaged> {
    let work = Work::load(&arguments.program, &arguments.design, reporter)?.counting(arguments.memory);
    let Choice { compiled, ip, built, clock } = by_time::choose(&work, reporter)?;
    let Work { board, functions, .. } = work;
    let packaged = functions.into_iter().zip(compiled);
    let functions: Vec<PackagedFunction> =
        packaged.map(|((input, spec), compiled)| PackagedFunction { input, spec, compiled }).collect();
    let directory = arguments.output.clone().unwrap_or_else(|| PathBuf::from("out").join(&built.interface.kernel));
    let compiled: Vec<&Compiled> = functions.iter().map(|f| &f.compiled).collect();
    let design = Design { ip: &ip, interface: &built.interface, functions: &compiled, board: &board, clock: &clock };
    let mut report = report::design(&design);
    reporter.progress(Progress::Stage("looking beside it"));
    let beside = match &functions[..] {
        [only] if only.input.stage.is_none() => explore::beside(&only.spec, &only.compiled, &board),
        _ => vec![],
    };
    report["beside"] = beside.iter().enumerate().map(|(k, d)| report::beside(&design_file(k), d)).collect();
    let page = page::render(&page::Page { design, functions: &functions, beside: &beside });
    let job = Job { arguments, functions: &functions, beside: &beside, built: &built, board: &board, reporter };
    job.write(&directory, &report, page)?;
    reporter.progress(Progress::Done);
    Ok(Packaged { directory, board, ip, interface: built.interface, clock, functions, beside, report })
}

/// Everything that the files depend on.
struct Job<'a> {
    arguments: &'a Rtl,
    functions: &'a [PackagedFunction],
    beside: &'a [search::branch::Design],
    built: &'a Built,
    board: &'a Board,
    reporter: &'a dyn Reporter,
}

impl Job<'_> {
    /// Writes the output directory.
    fn write(&self, target: &Path, report: &Value, page: String) -> Result<()> {
        let out = OutputDir::create(target).map_err(Error::reason)?;
        let bench = testbench::write(&out, self)?;
        self.fill(&out, bench, report)
            .and_then(|()| out.write("report.html", page))
            .and_then(|()| out.commit())
            .map_err(Error::reason)
    }

    /// Writes all files but the testbench.
    fn fill(&self, out: &OutputDir, bench: parts::Bench, report: &Value) -> std::result::Result<(), String> {
        let (interface, board) = (&self.built.interface, self.board);
        pictures(out, self.functions)?;
        if let Some(merged) = self.functions[0].compiled.merged() {
            out.write("vsa.txt", array::text::to_text(merged))?;
        }
        for (k, design) in self.beside.iter().enumerate() {
            out.write(&design_file(k), design.spec(&self.functions[0].spec).to_text())?;
        }
        let clock = constraints::ClockSpec::new(interface.clock, board.clock_mhz).map_err(|e| e.to_string())?;
        let constraint = File::new(
            format!("constraints/{}_ooc.xdc", interface.kernel),
            constraints::xdc(&clock, &interface.kernel, &board.part),
        );
        let mut packaged = vec![];
        for (f, function) in self.functions.iter().enumerate() {
            let reference = self.reference(f)?;
            let exact = function.is_exact();
            packaged.push(parts::function(&function.compiled, &interface.functions[f], reference, exact));
        }
        let verilog = self.built.verilog().into_iter();
        let emitted = parts::Emitted {
            rtl: verilog.map(|(name, text)| File::new(format!("rtl/{name}"), text)).collect(),
            // XDC is Vivado's.
            constraints: if board.fabric().is_lut6() { vec![constraint] } else { vec![] },
            floorplan: floorplan(self.built, board),
            bench,
            functions: packaged,
        };
        let first = emitted.rtl.clone().into_iter().chain(emitted.constraints.clone()).chain(emitted.floorplan.clone());
        let package = parts::files(self.built, board, emitted)?;
        let report = File::new("report.json", serde_json::to_string_pretty(report).map_err(|e| e.to_string())? + "\n");
        for file in first.chain(package).chain([report]) {
            out.write(&file.path, file.bytes)?;
        }
        Ok(())
    }

    /// A text that runs a function's program beside the IP; none if the input is the text of a stage.
    fn reference(&self, number: usize) -> std::result::Result<Option<packaging::Reference>, String> {
        let PackagedFunction { input, compiled, .. } = &self.functions[number];
        if input.stage.is_some() {
            return Ok(None);
        }
        let interface = &self.built.interface;
        let function = &interface.functions[number];
        let numbers = data::numbers(&input.scop, &compiled.vsa)?;
        let in_order: Vec<Option<usize>> =
            function.arguments.iter().map(|a| numbers[a.data(function.arrays)]).collect();
        Ok(golden::reference(&input.scop, &input.file, &input.options, &interface.kernel, &in_order))
    }
}

/// The bands of each array on the dies of the board, if it has as many, and what leads to memories.
fn floorplan(built: &Built, board: &Board) -> Option<File> {
    let cells = templates::floorplan(&built.design)?;
    let on = |die: &Die| OnDie { die: die.name.clone(), band: vec![], beside: vec![] };
    let mut all: Vec<OnDie> = board.dies.iter().map(on).collect();
    for Cells { bands, beside, away } in cells.arrays {
        let first = board.first_of(bands.len())?;
        all[first].beside.extend(beside);
        bands.into_iter().enumerate().for_each(|(band, cell)| all[first + band].band.push(cell));
        for (dies, cell) in away {
            board.place_from(first, dies).into_iter().for_each(|at| all[at].beside.push(cell.clone()));
        }
    }
    all.retain(|on| !on.band.is_empty() || !on.beside.is_empty());
    let kernel = &built.interface.kernel;
    let text = constraints::floorplan(kernel, &all, &cells.registers);
    Some(File::new(format!("constraints/{kernel}_floorplan.xdc"), text))
}

/// The design file of an array beside the chosen one, in the output directory.
pub fn design_file(number: usize) -> String {
    format!("beside/{}.toml", number + 1)
}

/// Draws the systolic arrays. With several functions each has a folder of its own.
fn pictures(out: &OutputDir, functions: &[PackagedFunction]) -> std::result::Result<(), String> {
    for PackagedFunction { compiled, .. } in functions {
        let vsa = compiled.own();
        let folder = if functions.len() > 1 { format!("{}/", vsa.name) } else { String::new() };
        out.write(&format!("{folder}array.svg"), draw::draw(&vsa.at_most()))?;
        if let Some(stages) = &compiled.stages {
            out.write(&format!("{folder}array.time.svg"), stages.diagram(vsa))?;
        }
        if compiled.merged().is_none() {
            out.write(&format!("{folder}vsa.txt"), array::text::to_text(vsa))?;
        }
    }
    Ok(())
}
