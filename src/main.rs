//! `sagen`: reads the arguments, runs a subcommand, prints its result or renders its error, and exits with its code.

use clap::Parser;
use sagen::cli::Cli;
use sagen::command::{self, Output};
use sagen::error::exit;
use sagen::progress::{color, say, Terminal};
use sagen::reporter::{Progress, Reporter};
use sagen::{fault, scratch, Error};
use std::io::{self, Write};
use std::process::ExitCode;

/// A search makes and drops small lists by the million.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let Cli { command, message_format } = match Cli::try_parse() {
        Ok(cli) => cli,
        // A help text, or wrong usage.
        Err(answer) => return printed(answer.print(), answer.exit_code() as u8),
    };
    let terminal = Terminal::new(message_format);
    if let Err(why) = scratch::clean_up_on_signals() {
        terminal.note(&format!("temporary files will stay when this run is interrupted: {why}"));
    }
    fault::record_panics();
    let result = fault::guarded(|| command::run(&command, &terminal));
    let result = result.unwrap_or_else(|fault| Err(Error::Internal(fault)));
    terminal.progress(Progress::Done);
    match result {
        Ok(Output { text, code }) => {
            let mut out = io::stdout();
            printed(out.write_all(text.as_bytes()), code)
        }
        Err(error) => {
            say(&error.render_as(message_format, color()));
            ExitCode::from(error.code())
        }
    }
}

/// The exit code, if the text of the command could be written as a whole.
fn printed(written: io::Result<()>, code: u8) -> ExitCode {
    match written.and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::from(code),
        // A reader that has gone away (`| head`) is no fault of ours.
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(code),
        Err(why) => {
            say(&format!("Error: cannot write to standard output: {why}\n"));
            ExitCode::from(exit::REFUSED)
        }
    }
}
