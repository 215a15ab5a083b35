//! `#pragma sagen range(NAME, LEAST, MOST)`: the values that an input may have. Random inputs keep to it, other inputs are
//! checked. The hardware is the same as without it: it computes with all values of the type.

use scop::diag::{Diagnostic, Diagnostics};
use scop::{value, Array, Clause, ScalarType, Scop};

/// The values of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub least: i64,
    pub most: i64,
}

/// The range of an input, if the program gives one.
pub fn of(scop: &Scop, array: &Array) -> Option<Range> {
    clause(scop, array).map(|found| found.1)
}

fn clause<'a>(scop: &'a Scop, array: &Array) -> Option<(&'a Clause, Range)> {
    scop.clauses.iter().rev().filter(|c| c.name == "range").find_map(|clause| match &clause.values[..] {
        [name, least, most] if *name == array.name => {
            Some((clause, Range { least: least.parse().ok()?, most: most.parse().ok()? }))
        }
        _ => None,
    })
}

impl Range {
    /// A value chosen by a random number.
    pub fn choose(self, ty: ScalarType, random: u64) -> u64 {
        let (least, most) = (i128::from(self.least), i128::from(self.most));
        match ty {
            ScalarType::Int { .. } => {
                let count = (most - least + 1) as u128;
                value::from_integer(least + ((u128::from(random) * count) >> 64) as i128, ty)
            }
            ScalarType::Float { .. } => {
                let share = (random >> 11) as f64 / (1u64 << 53) as f64;
                value::from_f64(self.least as f64 + (self.most as f64 - self.least as f64) * share, ty)
            }
        }
    }

    fn holds(self, bits: u64, ty: ScalarType) -> bool {
        match ty {
            ScalarType::Int { .. } => {
                (i128::from(self.least)..=i128::from(self.most)).contains(&value::to_integer(bits, ty))
            }
            ScalarType::Float { .. } => (self.least as f64..=self.most as f64).contains(&value::to_f64(bits, ty)),
        }
    }
}

/// Checks the contents of all arrays; `origin` says whose they are, such as `main()`.
///
/// # Errors
/// E0907 for each array with an element outside of its range.
pub fn check(scop: &Scop, memory: &[Vec<u64>], origin: &str) -> Result<(), Diagnostics> {
    let fault = |(array, values): (&Array, &Vec<u64>)| {
        let (clause, range) = clause(scop, array)?;
        let (at, &bits) = values.iter().enumerate().find(|(_, &bits)| !range.holds(bits, array.ty))?;
        let shown = match array.ty {
            ScalarType::Float { .. } => value::to_f64(bits, array.ty).to_string(),
            ScalarType::Int { .. } => value::to_integer(bits, array.ty).to_string(),
        };
        let place = if array.dims.is_empty() { String::new() } else { format!(", element {at} in row-major order") };
        let message = format!("{origin}: `{}` has the value {shown}{place}", array.name);
        let label = format!("its range is {} to {}", range.least, range.most);
        Some(Diagnostic::error("E0907", clause.span, message).label(label).help("give other data, or a larger range"))
    };
    let faults: Diagnostics = scop.arrays.iter().zip(memory).filter_map(fault).collect();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults),
    }
}
