//! The command: calls the library, and gives the results as text or JSON. It prints nothing itself; `main` does.

mod boards;
mod explore;
mod gpu;
mod man;
mod map;
mod page;
mod predict;
mod rtl;
mod sim;

pub use boards::shown as boards;

use crate::cli::{Command, Explain};
use crate::diagnostics::{self, Page};
use crate::error::{Error, Result};
use crate::reporter::Reporter;

/// What a subcommand prints on standard output, and the exit code.
pub struct Output {
    pub text: String,
    pub code: u8,
}

impl From<String> for Output {
    fn from(text: String) -> Output {
        Output { text, code: 0 }
    }
}

/// Runs a subcommand.
///
/// # Errors
/// Those of the library's functions; an unknown code for `sagen explain`.
pub fn run(command: &Command, reporter: &dyn Reporter) -> Result<Output> {
    Ok(match command {
        Command::Rtl(arguments) => match arguments.emit {
            Some(stage) => crate::emit(arguments, stage, reporter)?.into(),
            None => rtl::shown(&crate::package(arguments, reporter)?, arguments).into(),
        },
        Command::Explore(arguments) => explore::shown(&crate::explore(arguments, reporter)?, arguments)?.into(),
        Command::Sim(arguments) => {
            let verdict = crate::simulate(arguments, reporter)?;
            Output { text: sim::shown(&verdict, arguments), code: verdict.result.code() }
        }
        Command::Predict(arguments) => predict::shown(&crate::predict(arguments)?, arguments).into(),
        Command::Map(arguments) => map::shown(&crate::map(arguments, reporter)?, arguments).into(),
        Command::Gpu(arguments) => {
            let written = crate::gpu(arguments, reporter)?;
            Output { text: gpu::shown(&written, arguments), code: gpu::code(&written) }
        }
        Command::Boards(arguments) => boards::shown(arguments)?.into(),
        Command::Explain(arguments) => explain(arguments)?.into(),
        Command::Completions(arguments) => man::completions(arguments).into(),
        Command::Man(arguments) => man::man(arguments)?.into(),
    })
}

/// The pages of the codes, or the list of all.
fn explain(arguments: &Explain) -> Result<String> {
    if arguments.codes.is_empty() {
        return Ok(diagnostics::list());
    }
    let page = |code: &String| diagnostics::find(code).ok_or_else(|| unknown(code));
    let pages = arguments.codes.iter().map(page).collect::<Result<Vec<_>>>()?;
    Ok(pages.into_iter().map(Page::plain).collect::<Vec<_>>().join("\n"))
}

/// The error for a code that has no page.
fn unknown(code: &str) -> Error {
    let nearest: Vec<String> =
        diagnostics::nearest(code).iter().map(|p| format!("  {}  {}", p.code, p.title())).collect();
    let hint = match nearest.is_empty() {
        true => "`sagen explain` lists all codes, such as E0408".to_string(),
        false => format!("the nearest codes are\n{}", nearest.join("\n")),
    };
    Error::usage(format!("there is no diagnostic `{code}`; {hint}"))
}
