//! The clause `range(NAME, LEAST, MOST)`: it must name an input, and bounds that its type holds.

use scop::diag::{Diagnostic, Diagnostics};
use scop::{Array, Clause, Scop};

/// The faults of the ranges of a program.
pub fn faults(scop: &Scop, clauses: &[Clause]) -> Diagnostics {
    let is_input = |array: &&Array| !array.is_temporary();
    let fault = |clause: &Clause| {
        let [name, bounds @ ..] = &clause.values[..] else { return None };
        let Some(array) = scop.arrays.iter().filter(is_input).find(|array| array.name == *name) else {
            let names: Vec<&str> = scop.arrays.iter().filter(is_input).map(|array| array.name.as_str()).collect();
            return Some(
                Diagnostic::error("E0105", clause.span, format!("`{name}` is no input of the region"))
                    .label("has a range")
                    .help(format!("its arrays and scalars are: {}", names.join(", "))),
            );
        };
        if array.ty.is_float() {
            return None;
        }
        let (least, most) = scop::value::range(array.ty);
        let held = |bound: &String| bound.parse::<i128>().is_ok_and(|bound| (least..=most).contains(&bound));
        (!bounds.iter().all(held)).then(|| {
            let message = format!("`{name}` is {}, which holds {least} to {most}", array.c_type);
            Diagnostic::error("E0105", clause.span, message).label("this range is larger")
        })
    };
    clauses.iter().filter(|clause| clause.name == "range").filter_map(fault).collect()
}
