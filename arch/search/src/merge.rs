//! Several compiled functions on one array ([`array::merge`]).

use crate::compiled::Compiled;
use array::merge::{merge, Unmergeable};
use array::vsa::Vsa;
use scop::diag::{Diagnostic, Diagnostics};

/// The functions, each as a run of the array that they have together.
///
/// # Errors
/// E0732: why there is no such array.
pub fn merged(name: &str, mut all: Vec<Compiled>) -> Result<Vec<Compiled>, Diagnostics> {
    let arrays: Vec<&Vsa> = all.iter().map(|c| &c.vsa).collect();
    let merged = merge(&name.to_lowercase(), &arrays).map_err(|why| vec![refused(why)])?;
    merged.verify().map_err(|faults| crate::pipeline::internal("the merged array", faults))?;
    for (f, compiled) in all.iter_mut().enumerate() {
        compiled.join(&merged, f);
    }
    Ok(all)
}

fn refused(why: Unmergeable) -> Diagnostic {
    let text = match &why {
        Unmergeable::Strips(function) => format!("`{function}` cannot be merged: its loops end by strip"),
        Unmergeable::Unlike(what) => format!("these functions cannot be merged: they differ in their {what}"),
        Unmergeable::NoSchedule => "these functions cannot be merged: no hop delays suit all of them".to_string(),
    };
    let help = match &why {
        Unmergeable::Strips(function) => {
            format!("choose a space loop for `{function}` without strips, or leave --merge out")
        }
        Unmergeable::Unlike(_) => "give all of them the same, or leave --merge out".to_string(),
        Unmergeable::NoSchedule => "choose other space loops for one of them, or leave --merge out".to_string(),
    };
    Diagnostic::error("E0732", None, text).help(help)
}
