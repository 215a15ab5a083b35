//! Variables of functions whose values come from before the region: locals that the function around it sets, and
//! `static` ones, which keep their values from call to call.
//!
//! Problem: hardware has no such memory. A value from before the region is an input, and the host hands it over.
//!
//! Method: a first analysis takes these variables for locals of the hardware. Those that it reads before it writes them
//! ([`inputs`]) become arguments, in a second analysis. The others are temporaries: nothing of them survives.
//!
//! Invariant: the initializer of a `static` variable that the region assigns is not a store of the region. It is what
//! the variable holds before the first call.

use crate::ast::{Declarator, Unit};
use crate::effects::{changed, declarators};
use scop::diag::Span;
use scop::{flow, Scop};
use std::collections::BTreeSet;

/// Removes the initializers of `static` variables that the region assigns. Called after inlining.
pub(crate) fn keep_values(unit: &mut Unit) {
    let mut names = BTreeSet::new();
    for s in &unit.region {
        changed(s, &mut names);
    }
    let mut keep = |d: &mut Declarator| {
        if d.keeps_value() && names.contains(&d.name) {
            d.outside.preset = !d.begins_as_zero();
            d.init = None;
        }
    };
    unit.function.iter_mut().flat_map(|f| &mut f.locals).for_each(&mut keep);
    unit.region.iter_mut().for_each(|s| declarators(s, &mut keep));
}

/// The places of the variables, taken for locals by `scop`, whose values before the region it reads.
pub(crate) fn inputs(unit: &mut Unit, scop: &Scop) -> BTreeSet<Span> {
    let mut candidates = BTreeSet::new();
    let mut add = |d: &mut Declarator| {
        if d.outside.set || d.keeps_value() {
            candidates.insert(d.span);
        }
    };
    unit.function.iter_mut().flat_map(|f| &mut f.locals).for_each(&mut add);
    unit.region.iter_mut().for_each(|s| declarators(s, &mut add));
    if candidates.is_empty() {
        return candidates;
    }
    let read = flow::read_first(scop, |a| a.is_temporary() && candidates.contains(&a.span));
    read.into_iter().map(|a| scop.array(a).span).collect()
}
