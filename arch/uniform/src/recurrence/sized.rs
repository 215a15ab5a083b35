//! Programs with sizes at run time.
//!
//! **Problem.** One array has to serve all sizes from 1 to a maximum. How far a value is carried, and where a loop
//! ends, may follow from them.
//!
//! **Method.** A size is an outermost loop that carries nothing. Its iterator becomes a subscript of every array that
//! the program writes: each choice of sizes has cells of its own. So dataflow, rewrites and placement, which know
//! nothing of sizes, hold for all of them at once:
//!
//! ```text
//! for (i < n) x[i] = a[i];        ->      for n in 1..=max: for (i < n) x[n][i] = a[i];
//! ```
//!
//! Afterwards the subscripts are taken away ([`part::plain`]), and the system gets its final dimensions
//! ([`of_all_sizes`]). Loops that run backwards from a size begin later at smaller sizes; they are shifted, so that
//! every loop begins with the same coordinate at all sizes.
//!
//! **Invariant.** At any sizes, [`System::at`] is the system of the program at these sizes. The first dimensions are
//! the sizes.

use crate::affine::map::coordinate;
use crate::case;
use crate::recurrence::change::Change;
use crate::recurrence::phases::part;
use crate::recurrence::{reduction, strips};
use crate::system::{Dim, Feed, Kind, Placed, System};
use scop::diag::{Diagnostic, Diagnostics};
use scop::{Affine, Constraint, Scop, Storage};

/// The program with its sizes as subscripts of every array that it writes; `None` without sizes at run time.
pub(super) fn under_sizes(scop: &Scop) -> Option<Scop> {
    let memory: Vec<bool> = scop.arrays.iter().map(|a| a.storage == Storage::Dram).collect();
    let all: Vec<usize> = (0..scop.statements.len()).collect();
    (scop.open_sizes() > 0).then(|| part::under(scop, &all, scop.open_sizes(), &memory))
}

/// The system over all sizes, with loops that begin with the same coordinate; the same one without sizes.
///
/// # Errors
/// A sum that needs another order at other sizes.
pub(super) fn of_all_sizes(
    scop: &Scop,
    version: &Scop,
    system: System,
    reassociate: Option<bool>,
) -> Result<System, Diagnostics> {
    if scop.open_sizes() == 0 {
        return Ok(system);
    }
    let frame = system.frame();
    let kind = Kind::by_place(scop.open_sizes(), frame.outer);
    let placed = |(s, p): (usize, Placed)| Placed::new(version, s, p.place(), frame);
    let statements = system.statements.into_iter().enumerate().map(placed).collect();
    let size = |(d, dim): (usize, Dim)| match scop.sizes.get(d) {
        Some(s) => Dim { name: s.name.clone(), kind: kind(d), lo: 1, hi: s.max },
        None => Dim { kind: kind(d), ..dim },
    };
    let dims = system.dims.into_iter().enumerate().map(size).collect();
    let system = aligned(version, System::new(dims, statements));
    let without_order = |&s: &usize| {
        let partial = system.statements[s]
            .variables
            .iter()
            .flat_map(|v| &v.pieces)
            .any(|p| matches!(p.feed, Feed::Partial { .. }));
        partial && reduction::find(version, &system, s, reassociate).is_none()
    };
    match (0..system.statements.len()).find(without_order) {
        None => Ok(system),
        Some(s) => Err(vec![no_one_order(version, s)]),
    }
}

/// The system with loops that begin with the same coordinate at all sizes. Statements of the same phases move together,
/// by nothing at one of the sizes.
fn aligned(scop: &Scop, system: System) -> System {
    let (sizes, frame) = (system.parameters().end, system.frame());
    let depth = frame.depth;
    let maxima = system.maxima();
    let groups =
        if system.cases.is_empty() { vec![(0..system.statements.len()).collect()] } else { strips::groups(&system) };
    let mut statements = system.statements.clone();
    for group in groups {
        let parts: Vec<Vec<Constraint>> = group.iter().flat_map(|&s| statements[s].domain.clone()).collect();
        let mut over: Vec<Affine> = (0..depth).map(|e| coordinate(e, depth)).collect();
        for (e, over) in over.iter_mut().enumerate().skip(sizes) {
            let downwards: Vec<i64> = (0..depth).map(|d| -i64::from(d == e)).collect();
            let greatest = case::greatest(parts.iter(), &maxima, &downwards);
            let Some(less) = case::single(&greatest) else { continue };
            // The loop begins at `-less`.
            let earliest = -less.over_sizes(&maxima).1;
            over.coeffs.iter_mut().zip(&less.coeffs).for_each(|(o, c)| *o -= c);
            over.constant -= less.constant + earliest;
        }
        if (sizes..depth).any(|e| over[e] != coordinate(e, depth)) {
            let change = Change { over, dims: (0..depth).collect(), within: vec![], first: 0, frame };
            group.iter().for_each(|&s| statements[s] = change.placed(scop, s, &statements[s]));
        }
    }
    if statements == system.statements {
        return system;
    }
    let names = system.dims.iter().map(|d| d.name.clone()).collect();
    let sized = system.dims[..sizes].iter().cloned();
    let dims = sized.chain(Dim::around(names, |d| system.dims[d].kind, &statements).into_iter().skip(sizes)).collect();
    System::new(dims, statements)
}

/// A sum that begins or is read in the middle of its loops, at a distance that follows from the sizes.
fn no_one_order(scop: &Scop, s: usize) -> Diagnostic {
    let statement = &scop.statements[s];
    let name = &scop.array(statement.write.array).name;
    let fault = Diagnostic::error(
        "E0601",
        statement.span,
        format!("how far it is from one partial result of `{name}` to the next follows from the sizes"),
    );
    let fault = fault.label("this sum begins or is read in the middle of its loops");
    fault.help(
        "let it begin with the first and be read behind the last iteration of its loops, or make the ends of its \
        inner loops constants",
    )
}
