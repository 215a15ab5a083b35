//! Programs with sizes at run time. A size is looked at as a phase loop that nothing is carried over: its iterator is a
//! subscript of every array that the statements write, so each choice of sizes has cells of its own, and dataflow, rewrites and
//! placement hold for all of them at once.

use super::builder::Within;
use super::phases::{self, part};
use super::rewrite::{self, Attempt, Outcome, Region, Rewrite};
use super::reduction;
use crate::ir::ure::{Dim, Feed, Placed, System};
use frontend::diag::{Diagnostic, Diagnostics};
use frontend::scop::{Scop, Storage};

/// The first version of the region with uniform dependences at all sizes, and its system.
///
/// # Errors
/// Why there is none.
pub fn uniform(scop: &Scop, reassociate: Option<bool>, rewrites: &[Rewrite]) -> Result<(Scop, System, Vec<Attempt>), Diagnostics> {
    let sizes = scop.open_sizes();
    let memory: Vec<bool> = scop.arrays.iter().map(|a| a.storage == Storage::Dram).collect();
    let all: Vec<usize> = (0..scop.statements.len()).collect();
    let whole = part::under(scop, &all, sizes, &memory);
    let region = Region::part(&whole, Within { phases: sizes, sizes, haste: 1 }, reassociate);
    let (version, system, attempts) = match rewrite::uniform(&region, rewrites) {
        Ok((version, system, attempts)) => {
            let version = part::plain(scop, version.into_owned(), sizes);
            let system = part::plain_inputs(scop, &version, system, sizes);
            (version, system, attempts)
        }
        Err(mut attempts) => match phases::distributed(scop, &region, &attempts, rewrites) {
            Ok((version, system)) => {
                attempts.push(Attempt { rewrite: phases::NAME, outcome: Outcome::Taken });
                (version, system, attempts)
            }
            Err(faults) => {
                attempts.push(Attempt { rewrite: phases::NAME, outcome: Outcome::NotUniform(faults) });
                return Err(rewrite::refusal(&region, attempts, rewrites));
            }
        },
    };
    let (depth, phases) = (system.dims.len(), system.phases);
    let placed = |(s, p): (usize, Placed)| Placed::new(&version, s, p.dims, p.iterators, p.domain, p.variables, p.live_out, [phases, depth]);
    let statements = system.statements.into_iter().enumerate().map(placed).collect();
    // Also those sizes at which nothing happens.
    let size = |(d, dim): (usize, Dim)| scop.sizes.get(d).map_or(dim.clone(), |s| Dim { name: s.name.clone(), lo: 1, hi: s.max });
    let dims = system.dims.into_iter().enumerate().map(size).collect();
    let system = System::new(dims, sizes, phases, statements);
    let without_order = |&s: &usize| {
        let partial = system.statements[s].variables.iter().flat_map(|v| &v.pieces).any(|p| matches!(p.feed, Feed::Partial { .. }));
        partial && reduction::find(&version, &system, s, reassociate).is_none()
    };
    match (0..system.statements.len()).find(without_order) {
        None => Ok((version, system, attempts)),
        Some(s) => Err(vec![no_one_order(&version, s)]),
    }
}

/// A sum whose partial results are needed, or start, elsewhere than at its ends: where these are, sizes tell.
fn no_one_order(scop: &Scop, s: usize) -> Diagnostic {
    let statement = &scop.statements[s];
    let name = &scop.array(statement.write.array).name;
    let fault = Diagnostic::error("E0601", statement.span, format!("how far it is from one partial result of `{name}` to the next follows from the sizes"));
    let fault = fault.label("this sum begins or is read in the middle of its loops");
    fault.help("let it begin with the first and be read behind the last iteration of its loops, or make the ends of its inner loops constants")
}
