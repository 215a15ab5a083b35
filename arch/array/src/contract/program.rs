//! Program registers: numbers that follow from the sizes.
//!
//! The host computes each by its formula and writes it before a run; hardware takes them in the cycle of the `start`
//! pulse. Example: the last value of a tile loop, `(n - 1) / 4`. Constants need no register, and equal formulas share
//! one. The number of the function that a merged array runs is there a cycle before the pulse: hardware looks up in tables
//! what the function tells, and what is looked up waits in a register for the start.

use crate::contract::walk::Walk;
use crate::vsa::Vsa;
use uniform::sizes::Formula;

/// A register that the host fills from the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    pub formula: Formula,
    /// That hold every value, at most 64: then it is modulo 2^64.
    pub bits: u32,
    pub signed: bool,
    /// The number of the function that a merged array runs.
    pub is_function: bool,
}

impl Register {
    pub(crate) fn new(formula: Formula, maxima: &[i64]) -> Register {
        let (low, high) = formula.range(maxima);
        let magnitude = |v: i128| 128 - v.max(0).leading_zeros();
        let signed = low < 0;
        let bits = if signed { magnitude(high).max(magnitude(!low)) + 1 } else { magnitude(high).max(1) };
        Register { formula, bits: bits.min(64), signed, is_function: false }
    }
}

/// Registers for these formulas, without those that are constants or come again.
fn registers(vsa: &Vsa, formulas: impl IntoIterator<Item = Formula>) -> Vec<Register> {
    let (mut all, maxima): (Vec<Register>, _) = (vec![], vsa.sizes.maxima());
    for formula in formulas {
        if !matches!(formula, Formula::Const(_)) && !all.iter().any(|r| r.formula == formula) {
            // The function is the first size.
            let is_function = !vsa.functions.is_empty() && formula == Formula::Size(0).plus(Formula::Const(-1));
            all.push(Register { is_function, ..Register::new(formula, &maxima) });
        }
    }
    all
}

/// Those of one DMA engine.
pub fn of_walk(vsa: &Vsa, walk: &Walk) -> Vec<Register> {
    registers(vsa, walk.program())
}

/// The start of the pointer that counts a delay down: one less than its waves, in a case or between cases.
pub fn of_delay(waves: &Formula, case: usize) -> Formula {
    waves.in_case(case).plus(Formula::Const(-1))
}

/// Those of delays.
pub fn of_delays(vsa: &Vsa) -> Vec<Register> {
    registers(vsa, delays(vsa))
}

fn delays(vsa: &Vsa) -> impl Iterator<Item = Formula> + '_ {
    vsa.varying_delays().into_iter().flat_map(|waves| (0..=vsa.cases.len()).map(|case| of_delay(waves, case)))
}

/// All of an array, each once: those of its parameters come first.
pub fn of(vsa: &Vsa) -> Vec<Register> {
    let walks = Walk::all(vsa).into_iter().flatten().flatten();
    let parameters = vsa.counters[..vsa.parameters()].iter().map(|c| c.last.clone());
    registers(vsa, parameters.chain(delays(vsa)).chain(walks.flat_map(|w| w.program())))
}
