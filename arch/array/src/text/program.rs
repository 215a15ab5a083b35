//! What the text of a program can get wrong and the front end cannot: magnitudes, empty domains, subscripts outside of
//! their arrays, and two things at one place. `Scop::verify` checks the form, which every pass relies on.
//!
//! Invariants checked here:
//! 1. Numbers of elements, sizes and coordinates are at most [`LARGEST`], as in C.
//! 2. Some statement is executed.
//! 3. Every subscript of an executed statement is inside of its array.
//! 4. No position (`at`) is another one's, or begins another one's.
//!
//! The program of recurrences was rewritten: 3 and 4 do not hold there, and the verifier of the recurrences takes their
//! place.

use scop::flow;
use scop::{Access, Affine, Constraint, Scop, Statement};

/// The front end accepts no larger number.
const LARGEST: i64 = 1 << 50;

/// `written`: as the front end writes it.
///
/// # Errors
/// Every violation, in words.
pub fn check(scop: &Scop, written: bool) -> Result<(), Vec<String>> {
    let mut faults = vec![];
    for array in &scop.arrays {
        let elements = array.dims.iter().try_fold(1i64, |all, &d| all.checked_mul(d));
        if elements.is_none_or(|all| all > LARGEST) {
            faults.push(format!("the array {} has more than {LARGEST} elements", array.name));
        }
    }
    let sizes = scop.sizes.iter().filter(|s| s.max > LARGEST);
    faults.extend(sizes.map(|s| format!("the size {} is up to {}, more than {LARGEST}", s.name, s.max)));
    if written {
        places(scop, &mut faults);
    }
    if faults.is_empty() {
        domains(scop, written, &mut faults);
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults),
    }
}

/// Invariant 4, and the range of positions.
fn places(scop: &Scop, faults: &mut Vec<String>) {
    for (k, s) in scop.statements.iter().enumerate() {
        if s.beta.iter().any(|&at| !(0..LARGEST).contains(&at)) {
            faults.push(format!("S{k}: the place {:?} is out of range", s.beta));
        }
        for (other, t) in scop.statements[..k].iter().enumerate() {
            let both = s.beta.len().min(t.beta.len());
            if s.beta[..both] == t.beta[..both] {
                faults.push(format!("S{other} and S{k} are at one place, or one is where the other's loop is"));
            }
        }
    }
}

/// Invariants 1 to 3.
fn domains(scop: &Scop, written: bool, faults: &mut Vec<String>) {
    let mut executed = false;
    for (k, s) in scop.statements.iter().enumerate() {
        let Some(bounds) = flow::domain_bounds(&s.domain, s.loops.len()) else { continue };
        executed = true;
        if bounds.iter().any(|(low, high)| *low < -LARGEST || *high > LARGEST) {
            faults.push(format!("S{k}: an iterator goes beyond {LARGEST}"));
            continue;
        }
        let all = s.reads.iter().chain([&s.write]).filter(|_| written);
        faults.extend(all.filter_map(|access| outside(scop, s, access)).map(|fault| format!("S{k}: {fault}")));
    }
    if !executed {
        faults.push("no statement is executed".into());
    }
}

/// The fault of an access that leaves its array.
fn outside(scop: &Scop, s: &Statement, access: &Access) -> Option<String> {
    let array = scop.arrays.get(access.array.index())?;
    let inside = |part: &Vec<Constraint>, d: usize, subscript: &Affine| {
        let mut room = Affine {
            coeffs: subscript.coeffs.iter().map(|c| c.saturating_neg()).collect(),
            constant: (-1i64).saturating_sub(subscript.constant),
        };
        match array.extents.get(d) {
            // Over the sizes, which are the outermost loops.
            Some(extent) => {
                room.constant = room.constant.saturating_add(extent.constant);
                extent.coeffs.iter().enumerate().for_each(|(k, c)| room.coeffs[k] = room.coeffs[k].saturating_add(*c));
            }
            None => room.constant = room.constant.saturating_add(array.dims[d]),
        }
        [subscript, &room].iter().all(|form| flow::minimum(part, form).is_none_or(|least| least >= 0))
    };
    let good = s
        .domain
        .iter()
        .all(|part| access.subscripts.iter().enumerate().all(|(d, subscript)| inside(part, d, subscript)));
    (!good).then(|| format!("a subscript of {} is outside of it", array.name))
}
