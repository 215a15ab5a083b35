//! `sagen man` and `sagen completions`: both follow from the declaration of the arguments.

use crate::cli::{Cli, Completions, Man};
use crate::error::{Error, Result};
use clap::CommandFactory;

/// What `sagen completions` prints.
pub fn completions(arguments: &Completions) -> String {
    let mut script = vec![];
    clap_complete::generate(arguments.shell, &mut Cli::command(), "sagen", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// What `sagen man` prints.
///
/// # Errors
/// The pages cannot be written.
pub fn man(arguments: &Man) -> Result<String> {
    match &arguments.out {
        None => {
            let mut roff = vec![];
            clap_mangen::Man::new(Cli::command()).render(&mut roff).map_err(Error::internal)?;
            Ok(String::from_utf8_lossy(&roff).into_owned())
        }
        Some(dir) => std::fs::create_dir_all(dir)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), dir))
            .map(|()| String::new())
            .map_err(|e| Error::reason(format!("cannot write into {}: {e}", dir.display()))),
    }
}
