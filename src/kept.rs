//! Static arrays that stay on chip from run to run (`--keep`).
//!
//! Problem: what a run computes follows from what the runs before it left in these arrays. They have no address, so a
//! simulation cannot set them.
//!
//! Method: [`choose`] marks the arrays, and refuses those that cannot be kept. [`State`] follows their values through the
//! runs of a simulation, whose golden model gets them as it gets the contents of arguments. They begin as zeros, as the
//! memories do when the FPGA is configured.

use crate::data::{Inputs, Memory};
use crate::error::{Error, Result};
use crate::input::Input;
use array::vsa::{Home, Vsa};
use scop::diag::Diagnostic;
use scop::{Array, Binding, Scop, Storage};
use std::collections::BTreeMap;
use uniform::design::{DesignSpec, Wiring};

/// Marks the arrays that the user keeps on chip. `merge`: the functions have one array together.
///
/// # Errors
/// E0734: there is no such array; it is not `static`, or begins with values; its extents depend on sizes; functions of
/// several arrays share it, or each has one of its own under this name.
pub fn choose(functions: &mut [(Input, DesignSpec)], wiring: &Wiring, merge: bool) -> Result<()> {
    for name in &wiring.keep {
        let named = |input: &Input| input.scop.arrays.iter().position(|a| a.name == *name && able(a));
        let of: Vec<(usize, usize)> =
            functions.iter().enumerate().filter_map(|(f, (input, _))| Some((f, named(input)?))).collect();
        let Some(&(first, array)) = of.first() else { return Err(unknown(functions, name)) };
        let (one, is) = (&functions[first].0, &functions[first].0.scop.arrays[array]);
        let refuse = |why: String, help: &str| {
            let fault =
                Diagnostic::error("E0734", is.span, format!("--keep {name}: {why}")).label("declared here").help(help);
            Err(Error::diagnostics(vec![fault], &one.scop.sources))
        };
        if !is.zeroed {
            return refuse(
                format!("`{name}` is not `static`, or has initial values"),
                "declare it `static` without initial values, and give it values in a function that the IP runs",
            );
        }
        if !is.extents.is_empty() {
            return refuse(format!("the extents of `{name}` depend on sizes"), "declare it with constant extents");
        }
        if wiring.bank.contains_key(name) {
            return refuse(format!("--bank places `{name}` in DRAM"), "leave one of both out");
        }
        if let [(f, _), (g, _), ..] = of[..] {
            let names = [f, g].map(|f| functions[f].0.scop.name.clone());
            let is_one = |&(f, k): &(usize, usize)| {
                let (input, other) = (&functions[f].0, &functions[f].0.scop.arrays[k]);
                let same = (&other.dims, other.ty, other.span) == (&is.dims, is.ty, is.span);
                same && input.file == one.file && other.binding == Binding::Global
            };
            if !of.iter().all(is_one) {
                return refuse(
                    format!("`{}` and `{}` have a static `{name}` each, or of unlike sizes", names[0], names[1]),
                    "give them different names, or declare one for all functions of the file, outside of them",
                );
            }
            if !merge {
                return refuse(
                    format!("`{}` and `{}` share `{name}`, and have an array each", names[0], names[1]),
                    "add --merge: functions on one array share its memories",
                );
            }
        }
        for (f, k) in of {
            functions[f].0.scop.arrays[k].kept = true;
        }
    }
    Ok(())
}

/// It is in memory, not a value in a register.
fn able(array: &Array) -> bool {
    array.storage == Storage::Dram && !array.is_temporary() && array.by_value().is_none()
}

fn unknown(functions: &[(Input, DesignSpec)], name: &str) -> Error {
    let all = functions.iter().flat_map(|(input, _)| &input.scop.arrays);
    let mut able: Vec<&str> = all.filter(|a| able(a) && a.zeroed).map(|a| a.name.as_str()).collect();
    able.sort_unstable();
    able.dedup();
    let help = match able.is_empty() {
        true => "only `static` arrays can be kept, and the functions use none from call to call".to_string(),
        false => format!("static arrays that the functions use from call to call: {}", able.join(", ")),
    };
    let text = format!("--keep {name}: no function has an array of this name in memory");
    let fault = Diagnostic::error("E0734", None, text).help(help);
    Error::diagnostics(vec![fault], &functions[0].0.scop.sources)
}

/// The program has arrays that are kept.
pub fn any(scop: &Scop) -> bool {
    scop.arrays.iter().any(|a| a.kept)
}

/// The inputs of a run: not those of the program's own `main`, whose runs before its first call are not known.
pub fn inputs(scop: &Scop, own: Inputs) -> Inputs {
    if any(scop) {
        Inputs::Given
    } else {
        own
    }
}

/// The values of the kept arrays, by name; those that are missing are zero.
#[derive(Clone, Debug, Default)]
pub struct State(BTreeMap<String, Vec<u64>>);

impl State {
    /// Puts the values into the arrays of a program.
    pub fn give(&self, scop: &Scop, memory: &mut Memory) {
        for (array, values) in scop.arrays.iter().zip(memory).filter(|(a, _)| a.kept) {
            match self.0.get(&array.name) {
                Some(own) => values.clone_from(own),
                None => values.iter_mut().for_each(|v| *v = 0),
            }
        }
    }

    /// Takes the values behind a run: `after`, for each array of the VSA.
    pub fn take(&mut self, vsa: &Vsa, after: &[Vec<u64>]) {
        for (array, values) in vsa.arrays.iter().zip(after).filter(|(a, _)| a.home == Home::Kept) {
            self.0.insert(array.name.clone(), values.clone());
        }
    }

    /// # Errors
    /// The C program has changed a kept array on its way to the region: `before` is what the region finds.
    pub fn check(&self, scop: &Scop, before: &Memory) -> Result<()> {
        let mut own = before.clone();
        self.give(scop, &mut own);
        match scop.arrays.iter().zip(own.iter().zip(before)).find(|(_, (own, before))| own != before) {
            None => Ok(()),
            Some((array, _)) => {
                let text = format!("--keep {0}: the code around the region changes `{0}`", array.name);
                let help = "the IP alone changes what it keeps: move that code into the region, or leave the array out";
                let fault = Diagnostic::error("E0734", array.span, text).help(help);
                Err(Error::diagnostics(vec![fault], &scop.sources))
            }
        }
    }
}
