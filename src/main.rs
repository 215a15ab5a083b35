//! `sagen`: arguments to subcommands to exit codes.

use clap::Parser;
use sagen::cli::{Cli, Command};
use sagen::program::{self, Refused};
use std::io::Write;
use std::process::ExitCode;

/// The input is refused.
const REFUSED: u8 = 1;
/// Simulation and golden model differ.
const DIFFERENT: u8 = 3;

fn main() -> ExitCode {
    let (text, code) = match run(Cli::parse().command) {
        Ok(result) => result,
        Err(Refused(text)) => {
            program::done();
            eprint!("{text}");
            return ExitCode::from(REFUSED);
        }
    };
    // A reader that has gone away (`| head`) is no fault of ours.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(code)
}

fn run(command: Command) -> Result<(String, u8), Refused> {
    match command {
        Command::Rtl(arguments) => sagen::emit::run(&arguments).map(|text| (text, 0)),
        Command::Map(arguments) => sagen::map::run(&arguments).map(|text| (text, 0)),
        Command::Boards(arguments) => sagen::boards::run(&arguments).map(|text| (text, 0)),
        Command::Sim(arguments) => {
            let verdict = sagen::simulate::run(&arguments)?;
            Ok((verdict.text, if verdict.equal { 0 } else { DIFFERENT }))
        }
    }
}
