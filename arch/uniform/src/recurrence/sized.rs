//! Programs with sizes at run time. A size is looked at as a phase loop that nothing is carried over: its iterator is a
//! subscript of every array that the statements write, so each choice of sizes has cells of its own, and dataflow,
//! rewrites and placement hold for all of them at once.

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

/// The system over all sizes, also those at which nothing happens, with loops that begin alike.
///
/// # Errors
/// A sum that has no one order at all sizes.
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
    let system = begun(version, System::new(dims, statements));
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

/// The system with loops that begin with the same coordinate at all sizes: a loop that runs backwards from a size
/// begins later at smaller ones. What is executed in the same phases stays together, and where it is at some size.
fn begun(scop: &Scop, system: System) -> System {
    let (sizes, frame) = (system.parameters().end, system.frame());
    let depth = frame.depth;
    let maxima = system.maxima();
    let groups =
        if system.cases.is_empty() { vec![(0..system.statements.len()).collect()] } else { strips::groups(&system) };
    let mut statements = system.statements.clone();
    for group in groups {
        let parts: Vec<Vec<Constraint>> = group.iter().flat_map(|&s| statements[s].domain.clone()).collect();
        let mut over: Vec<Affine> = (0..depth).map(|e| coordinate(e, depth)).collect();
        for e in sizes..depth {
            let downwards: Vec<i64> = (0..depth).map(|d| -i64::from(d == e)).collect();
            let greatest = case::greatest(parts.iter(), &maxima, &downwards);
            let [[(less, 1)]] = greatest.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] else { continue };
            // It begins at `-less`, at the earliest where that is least.
            let earliest = -less.over_sizes(&maxima).1;
            over[e].coeffs.iter_mut().zip(&less.coeffs).for_each(|(o, c)| *o -= c);
            over[e].constant -= less.constant + earliest;
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

/// A sum whose partial results are needed, or start, elsewhere than at its ends: where these are, sizes tell.
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
