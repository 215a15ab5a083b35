//! Why a function of the library gives no result. Errors are values; only the command renders them ([`Error::render`])
//! and chooses its exit code by them ([`Error::code`]).

use crate::fault::Fault;
use crate::render::MessageFormat;
use scop::diag::{Diagnostic, Diagnostics, SourceMap};

/// Exit codes of the command, besides 0.
pub mod exit {
    /// The input is refused.
    pub const REFUSED: u8 = 1;
    /// Wrong usage; clap, which reads the command line, exits with it.
    pub const USAGE: u8 = 2;
    /// The simulation and the golden model differ.
    pub const DIFFERENT: u8 = 3;
    /// A fault of sagen's own.
    pub const INTERNAL: u8 = 4;
    /// The C compiler's program and the interpreter of the region disagree, so there is no golden model.
    pub const NO_JUDGE: u8 = 5;
}

/// The code of the diagnostic that a failed check of sagen's own yields.
const OWN_CHECK: &str = "E0799";

/// Why there is no result.
#[derive(Debug)]
pub enum Error {
    /// The program, or what is asked of it, is refused.
    Diagnostics {
        /// At least one; all that were found.
        list: Diagnostics,
        /// The texts that the spans of `list` refer to.
        sources: SourceMap,
    },
    /// What is asked does not fit the program: an unknown board, function or size, or options that exclude each other.
    Usage(String),
    /// A file cannot be read or written, or a tool is missing or fails.
    Reason(String),
    /// A fault of sagen's own; no input may cause one.
    Internal(Fault),
    /// Another error, and which part of the input it is about, such as `layer conv1 of net.toml`.
    Within { part: String, error: Box<Error> },
}

/// What the functions of the library return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What is asked does not fit.
    pub fn usage(reason: impl std::fmt::Display) -> Error {
        Error::Usage(reason.to_string())
    }

    /// A file or a tool is to blame.
    pub fn reason(reason: impl std::fmt::Display) -> Error {
        Error::Reason(reason.to_string())
    }

    /// A fault of sagen's own.
    pub fn internal(what: impl std::fmt::Display) -> Error {
        Error::Internal(Fault::new(what))
    }

    /// Diagnostics about a program.
    pub fn diagnostics(list: Diagnostics, sources: &SourceMap) -> Error {
        Error::Diagnostics { list, sources: sources.clone() }
    }

    /// The same error, as one about a part of the input.
    pub fn within(self, part: String) -> Error {
        Error::Within { part, error: Box::new(self) }
    }

    /// The exit code of the command.
    pub fn code(&self) -> u8 {
        match self {
            Error::Diagnostics { list, .. } if own_check(list).is_some() => exit::INTERNAL,
            Error::Diagnostics { .. } | Error::Usage(_) | Error::Reason(_) => exit::REFUSED,
            Error::Internal(_) => exit::INTERNAL,
            Error::Within { error, .. } => error.code(),
        }
    }

    /// The text for people, which ends with a new line. `color` only for terminals.
    pub fn render(&self, color: bool) -> String {
        self.render_as(MessageFormat::Human, color)
    }

    /// The same in another form.
    pub fn render_as(&self, format: MessageFormat, color: bool) -> String {
        let internal = |fault: &Fault| match format {
            MessageFormat::Human => fault.report(),
            _ => format.message("error", &fault.report()),
        };
        match self {
            Error::Diagnostics { list, sources } => {
                let text = format.diagnostics(list, sources, color);
                text + &own_check(list).map_or(String::new(), |own| internal(&Fault::new(&own.message)))
            }
            Error::Usage(reason) | Error::Reason(reason) => format.message("error", reason),
            Error::Internal(fault) => internal(fault),
            Error::Within { part, error } => {
                let head = match format {
                    MessageFormat::Human => format!("{part}:\n"),
                    _ => format.message("note", &format!("in {part}")),
                };
                head + &error.render_as(format, color)
            }
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for Error {}

/// The failed check of sagen's own among some diagnostics.
fn own_check(list: &[Diagnostic]) -> Option<&Diagnostic> {
    list.iter().find(|diagnostic| diagnostic.code == OWN_CHECK)
}
