//! What every subcommand starts with: the program, the board, the user's choices. And how a subcommand stops early.

use crate::cli::{Design, Program};
use crate::{boards, fault, progress, render};
use arch::cost::board::Board;
use arch::ir::design::DesignSpec;
use frontend::diag::{Diagnostics, SourceMap};
use frontend::scop::Scop;
use std::io::IsTerminal;

/// Exit codes; 2 is clap's, for wrong usage.
pub mod exit {
    /// The input is refused.
    pub const REFUSED: u8 = 1;
    /// Simulation and golden model differ.
    pub const DIFFERENT: u8 = 3;
    /// A fault of sagen's own.
    pub const INTERNAL: u8 = 4;
    /// The C compiler's program and the interpreter of the region disagree, so there is no golden model.
    pub const NO_JUDGE: u8 = 5;
}

/// Code of a diagnostic that one of sagen's own checks yields.
const OWN_CHECK: &str = "E0799";

/// Why a subcommand stops early.
#[derive(Debug)]
pub struct Refused {
    /// Ready for standard error.
    pub text: String,
    /// See [`exit`].
    pub code: u8,
}

impl Refused {
    /// A reason that has no place in a file.
    pub fn plain(reason: impl std::fmt::Display) -> Refused {
        Refused { text: format!("Error: {reason}\n"), code: exit::REFUSED }
    }
    /// A fault of sagen's own.
    pub fn internal(what: impl std::fmt::Display) -> Refused {
        Refused { text: fault::report(&what.to_string()), code: exit::INTERNAL }
    }
    /// Diagnostics, with colors if standard error is a terminal.
    pub fn diagnostics(list: &Diagnostics, sources: &SourceMap) -> Refused {
        let text = render::diagnostics(list, sources, color());
        match list.iter().find(|d| d.code == OWN_CHECK) {
            Some(own) => Refused { text: text + &fault::report(&own.message), code: exit::INTERNAL },
            None => Refused { text, code: exit::REFUSED },
        }
    }
}

fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// A line for the user on standard error.
pub fn notice(text: &str) {
    progress::done();
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
    progress::stage("mapping");
    arch::compile(scop, spec, board).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))
}
