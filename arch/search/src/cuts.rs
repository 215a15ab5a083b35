//! The chosen array is cut into bands ([`array::contract::bands`]), where the user says.

use array::contract::bands;
use array::vsa::Vsa;
use scop::diag::{Diagnostic, Diagnostics};
use uniform::cuts::Cuts;
use uniform::design::DesignSpec;

/// The array with its cuts.
///
/// # Errors
/// E0733: it cannot be cut there.
pub fn cut(vsa: Vsa, spec: &DesignSpec) -> Result<Vsa, Diagnostics> {
    let refused = |why: String, help: &str| Err(vec![Diagnostic::error("E0733", None, why).help(help)]);
    match &spec.wiring.cuts {
        None | Some(Cuts::Nowhere) => Ok(vsa),
        Some(Cuts::Before { .. }) if spec.wiring.merge == Some(true) => {
            refused("an array of several functions is not cut".into(), "leave out --cuts, or --merge")
        }
        Some(Cuts::Before { axis, pes }) => {
            let Some(number) = (0..2).find(|&a| vsa.axes[a] == *axis) else {
                let axes: Vec<String> = (0..2)
                    .filter(|&a| vsa.extent[a] > 1)
                    .map(|a| format!("`{}` with {} PEs", vsa.axes[a], vsa.extent[a]))
                    .collect();
                let text = match &axes[..] {
                    [] => "the array is one PE: nothing can be cut".to_string(),
                    some => format!("the array has no axis `{axis}`: it has {}", some.join(", ")),
                };
                return refused(text, "name an axis of the array, or leave out --cuts");
            };
            bands::cut(&vsa, number, pes).or_else(|why| {
                refused(format!("the array cannot be cut there: {why}"), "cut elsewhere, or along the other axis")
            })
        }
    }
}
