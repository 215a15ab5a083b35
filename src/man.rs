//! `sagen man` and `sagen completions`: both made from the arguments' declaration.

use crate::cli::{Cli, Completions, Man};
use crate::program::Refused;
use clap::CommandFactory;

/// `sagen completions`; what to print.
pub fn completions(arguments: &Completions) -> String {
    let mut script = vec![];
    clap_complete::generate(arguments.shell, &mut Cli::command(), "sagen", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// `sagen man`; what to print.
///
/// # Errors
/// The pages cannot be written.
pub fn run(arguments: &Man) -> Result<String, Refused> {
    match &arguments.out {
        None => {
            let mut roff = vec![];
            clap_mangen::Man::new(Cli::command()).render(&mut roff).map_err(Refused::internal)?;
            Ok(String::from_utf8_lossy(&roff).into_owned())
        }
        Some(dir) => std::fs::create_dir_all(dir)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), dir))
            .map(|()| String::new())
            .map_err(|e| Refused::plain(format!("cannot write into {}: {e}", dir.display()))),
    }
}
