//! Several compiled functions on one array ([`array::merge`]).

use crate::compiled::Compiled;
use crate::pipeline;
use array::merge::{merge, Unmergeable};
use array::vsa::Vsa;
use cost::board::Board;
use scop::diag::{Diagnostic, Diagnostics};
use std::cmp::Reverse;
use uniform::design::DesignSpec;

/// The functions, each as a run of the array that they have together. Of each: what is asked of it, and its array alone.
///
/// # Errors
/// E0732: why there is no such array.
pub fn merged(name: &str, all: Vec<(&DesignSpec, Compiled)>, board: &Board) -> Result<Vec<Compiled>, Diagnostics> {
    let alone: Vec<Compiled> = all.iter().map(|f| f.1.clone()).collect();
    let mut all = alike(all, board);
    let arrays: Vec<&Vsa> = all.iter().map(|c| &c.vsa).collect();
    let merged = merge(&name.to_lowercase(), &arrays).map_err(|why| vec![refused(why)])?;
    merged.verify().map_err(|faults| pipeline::internal("the merged array", faults))?;
    for (f, compiled) in all.iter_mut().enumerate() {
        compiled.join(&merged, f, &alone[f]);
    }
    Ok(all)
}

/// The functions with ports of equal widths, so that they can share them: ports that write first, then from the widest
/// on, each as wide as the widest of any function. A function keeps its own where it would get slower.
fn alike(all: Vec<(&DesignSpec, Compiled)>, board: &Board) -> Vec<Compiled> {
    let ports = |vsa: &Vsa| {
        let writes = |port: usize| vsa.outputs.iter().any(|g| vsa.port_of(g.array) == port);
        let mut ports: Vec<(u32, usize)> = (0..vsa.axi_ports()).map(|p| (vsa.bus_bytes(p), p)).collect();
        ports.sort_by_key(|p| (!writes(p.1), Reverse(p.0), p.1));
        ports
    };
    let most = all.iter().map(|f| f.1.vsa.axi_ports()).max().unwrap_or(0);
    let widths: Vec<u32> =
        (0..most).map(|k| all.iter().filter_map(|f| ports(&f.1.vsa).get(k).map(|p| p.0)).max().unwrap_or(0)).collect();
    let widened = |(spec, compiled): (&DesignSpec, Compiled)| {
        let vsa = &compiled.vsa;
        let mut spec = spec.clone();
        for ((_, port), width) in ports(vsa).into_iter().zip(&widths).filter(|(p, width)| p.0 != **width) {
            for array in vsa.arrays_of(port).map(|a| &vsa.arrays[a]) {
                spec.wiring.word.entry(array.name.clone()).or_insert(width / array.ty.bytes());
            }
        }
        let cycles = |c: &Compiled| c.report.prediction.cycles;
        let new = pipeline::again(&compiled, &spec, board).filter(|new| cycles(new) <= cycles(&compiled));
        new.unwrap_or(compiled)
    };
    all.into_iter().map(widened).collect()
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
