//! `sagen`: arguments to subcommands to exit codes.

use clap::Parser;
use sagen::cli::{Cli, Command};
use sagen::program::{exit, Refused};
use sagen::{fault, progress, scratch};
use std::io::Write;
use std::process::ExitCode;

/// A search makes and drops small lists by the million.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = Cli::parse().command;
    if let Err(why) = scratch::clean_up_on_signals() {
        eprintln!("note: temporary files will stay when this run is interrupted: {why}");
    }
    let result = fault::guarded(|| run(command)).unwrap_or_else(|text| Err(Refused { text, code: exit::INTERNAL }));
    progress::done();
    let (text, code) = match result {
        Ok(result) => result,
        Err(Refused { text, code }) => {
            eprint!("{text}");
            return ExitCode::from(code);
        }
    };
    // A reader that has gone away (`| head`) is no fault of ours.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(code)
}

fn run(command: Command) -> Result<(String, u8), Refused> {
    let done = |text| (text, 0);
    match command {
        Command::Rtl(arguments) => sagen::emit::run(&arguments).map(done),
        Command::Explore(arguments) => sagen::explore::run(&arguments).map(done),
        Command::Sim(arguments) => {
            sagen::simulate::run(&arguments).map(|verdict| (verdict.text, verdict.result.code()))
        }
        Command::Predict(arguments) => sagen::predict::run(&arguments).map(done),
        Command::Map(arguments) => sagen::map::run(&arguments).map(done),
        Command::Boards(arguments) => sagen::boards::run(&arguments).map(done),
        Command::Completions(arguments) => Ok(done(sagen::man::completions(&arguments))),
        Command::Man(arguments) => sagen::man::run(&arguments).map(done),
    }
}
