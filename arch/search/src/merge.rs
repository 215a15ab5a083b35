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
    let (text, help) = match &why {
        Unmergeable::Strips(function) => (
            format!("`{function}` cannot be merged: its loops end by strip, and values pass from strip to strip"),
            format!("choose an array for `{function}` by hand, with --tile and without --strip"),
        ),
        Unmergeable::Unlike(what) => (
            format!("these functions cannot be merged: they differ in their {what}"),
            "give all of them the same".into(),
        ),
        Unmergeable::NoSchedule => (
            "these functions cannot be merged: no hop delays suit all of them".to_string(),
            "choose other space loops for one of them".to_string(),
        ),
    };
    Diagnostic::error("E0732", None, text).help(format!("{help}, or leave --merge out"))
}
