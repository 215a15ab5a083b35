//! What every subcommand starts with: the program, the board, the user's choices. And how a subcommand stops early.

use crate::cli::{Design, Program};
use crate::{boards, render};
use arch::cost::board::Board;
use arch::ir::design::DesignSpec;
use frontend::diag::{Diagnostics, SourceMap};
use frontend::scop::Scop;
use std::io::IsTerminal;

/// The input is refused; the text is ready for standard error.
#[derive(Debug)]
pub struct Refused(pub String);

impl Refused {
    /// A reason that has no place in a file.
    pub fn plain(reason: impl std::fmt::Display) -> Refused {
        Refused(format!("Error: {reason}\n"))
    }
    /// Diagnostics, with colors if standard error is a terminal.
    pub fn diagnostics(list: &Diagnostics, sources: &SourceMap) -> Refused {
        Refused(render::diagnostics(list, sources, color()))
    }
}

fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Says what is being done, on a terminal only; the next message or [`done`] wipes it away.
pub fn progress(what: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{what}…");
    }
}

/// Ends the progress line.
pub fn done() {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
}

/// A line for the user on standard error.
pub fn notice(text: &str) {
    done();
    eprintln!("note: {text}");
}

/// Reads the C file; warnings go to standard error.
///
/// # Errors
/// All faults of the file.
pub fn load(program: &Program) -> Result<Scop, Refused> {
    match frontend::parse(&program.file, &program.parse_options()) {
        Ok((scop, warnings)) => {
            if !warnings.is_empty() {
                eprint!("{}", render::diagnostics(&warnings, &scop.sources, color()));
            }
            Ok(scop)
        }
        Err((sources, faults)) => Err(Refused::diagnostics(&faults, &sources)),
    }
}

/// The board and the design choices.
///
/// # Errors
/// An unknown board, an unreadable board or design file.
pub fn choices(program: &Program, design: &Design) -> Result<(Board, DesignSpec), Refused> {
    let board = boards::find(&program.board).map_err(Refused::plain)?;
    Ok((board, design.spec().map_err(Refused::plain)?))
}

/// Program to array.
///
/// # Errors
/// Why no array can be built.
pub fn compile(scop: &Scop, spec: &DesignSpec, board: &Board) -> Result<arch::Compiled, Refused> {
    progress("mapping");
    let compiled = arch::compile(scop, spec, board).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))?;
    for warning in &compiled.report.warnings {
        notice(warning);
    }
    Ok(compiled)
}
