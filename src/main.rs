//! `sagen`: reads the arguments, runs a subcommand, prints its result or renders its error, and exits with its code.

use clap::Parser;
use sagen::cli::Cli;
use sagen::command::{self, Output};
use sagen::progress::{color, Terminal};
use sagen::reporter::{Progress, Reporter};
use sagen::{fault, scratch, Error};
use std::io::Write;
use std::process::ExitCode;

/// A search makes and drops small lists by the million.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let terminal = Terminal::default();
    if let Err(why) = scratch::clean_up_on_signals() {
        terminal.note(&format!("temporary files will stay when this run is interrupted: {why}"));
    }
    fault::record_panics();
    let result = fault::guarded(|| command::run(&command, &terminal));
    let result = result.unwrap_or_else(|fault| Err(Error::Internal(fault)));
    terminal.progress(Progress::Done);
    match result {
        Ok(Output { text, code }) => {
            // A reader that has gone away (`| head`) is no fault of ours.
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::from(code)
        }
        Err(error) => {
            eprint!("{}", error.render(color()));
            ExitCode::from(error.code())
        }
    }
}
