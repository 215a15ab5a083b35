//! What the registers, the top of the IP and the sequencer take: `templates::axi::control`, `templates::ip`,
//! `templates::control::sequencer`, register by register.

use crate::blocks::{bits_of, Cost};
use crate::engines::{program, spans_compared};
use array::contract::operand::travels;
use array::vsa::{Op, Vsa};
use std::collections::BTreeSet;
use uniform::affine::{interval, Condition, Form};
use uniform::counters::{Case, Counter};
use uniform::sizes::Formula;

/// A value that comes with the waves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Valid,
    Guard(Vec<Condition>),
    Time(Form),
    /// Number of the wave modulo this; where it is negative, once more for writes.
    Pointer(i64, Option<u32>),
}

/// All but what the sequencer computes for each wave. Of a sketch, at least.
pub(super) fn control(vsa: &Vsa) -> Cost {
    registers(&arguments(vsa), vsa.address_bits) + top(vsa) + sequencer(vsa)
}

/// Bits of each argument that the host gives: addresses, scalars, what follows from sizes.
pub(super) fn arguments(vsa: &Vsa) -> Vec<i64> {
    let addresses = std::iter::repeat_n(i64::from(vsa.address_bits), vsa.hosted());
    addresses.chain(vsa.scalars.iter().map(|s| i64::from(s.ty.bits()))).chain(program(vsa)).collect()
}

/// Registers of an IP with these arguments.
pub(super) fn registers(arguments: &[i64], address_bits: u32) -> Cost {
    let words: i64 = arguments.iter().map(|bits| (bits + 31) / 32).sum();
    let kept: i64 = arguments.iter().map(|bits| (bits + 7) / 8 * 8).sum();
    // Cycles, of which one half waits to be read; a word that is written, with its address, and one that is read; the
    // status.
    let rest = 64 + 32 + 32 + 4 + 5 + 32 + 33;
    // Reads choose among words: a LUT of each bit, with what its bytes are written by.
    Cost { lut: 175 + 33 * words, ff: rest + i64::from(address_bits) + kept, ..Cost::default() }
}

/// Reset, scalars as the run has them, and the engine whose fault the status is about.
fn top(vsa: &Vsa) -> Cost {
    let engines = |port: usize| {
        let of = |array: u32| vsa.port_of(array) == port;
        i64::from(vsa.inputs.iter().any(|g| of(g.array))) + i64::from(vsa.outputs.iter().any(|g| of(g.array)))
    };
    let hosted: i64 = (0..vsa.axi_ports()).map(engines).sum();
    let scalars: i64 = vsa.scalars.iter().map(|s| i64::from(s.ty.bits())).sum();
    let groups = (vsa.inputs.len() + vsa.outputs.len()) as i64;
    // Releases and drains reach the engines through a shift register each.
    Cost { lut: 22 + groups + i64::from(vsa.address_bits) * (hosted / 2), ff: 27 + scalars, ..Cost::default() }
}

/// Odometer, loads and drains.
fn sequencer(vsa: &Vsa) -> Cost {
    let digits = vsa.counters.iter().enumerate().skip(vsa.parameters()).filter(|(_, c)| c.trip > 1);
    let digit = |(_, c): (usize, &Counter)| {
        let bits = bits_of(c.trip);
        // Where sizes end it, the value before its last.
        let sized =
            if c.limit().is_some() { Cost { lut: bits + 3, ff: bits + 1, ..Cost::default() } } else { Cost::default() };
        sized + Cost { lut: bits + bits / 6 + 2, ff: bits + 2, ..Cost::default() }
    };
    let loads = Cost { lut: 6, ff: 5, ..Cost::default() } * vsa.inputs.len() as i64;
    let drains: Cost =
        vsa.outputs.iter().map(|g| Cost { lut: 5, ff: if g.slots > 1 { 5 } else { 3 }, ..Cost::default() }).sum();
    let gap = if vsa.schedule.interval > 1 { bits_of(vsa.schedule.interval) } else { 0 };
    digits.map(digit).sum::<Cost>()
        + loads
        + drains
        + cases(vsa)
        + Cost { lut: 6 + 2 * gap, ff: 2 + gap, ..Cost::default() }
}

/// The case of phases of the next wave and of the one after it, and the counters whose ends it tells.
fn cases(vsa: &Vsa) -> Cost {
    if !vsa.loops().has_cases() {
        return Cost::default();
    }
    let trips = vsa.loops().most();
    let spans = |own: &Case| spans_compared(own.iter().map(|s| (s.low, s.high)).zip(trips.iter().copied()));
    let compared: i64 = vsa.cases.iter().map(spans).sum();
    let next: i64 =
        trips[..vsa.cases.first().map_or(0, Vec::len)].iter().filter(|&&t| t > 1).map(|&t| bits_of(t)).sum();
    let ends: i64 = vsa.counters.iter().filter(|c| c.is_by_case()).map(|c| 2 * bits_of(c.trip)).sum();
    Cost::lut(2 * compared + next + ends)
}

/// What the sequencer computes for each wave: an accumulator a form, and a register in front of what goes to the array.
pub(super) fn launched(vsa: &Vsa, looked_at: impl IntoIterator<Item = Field>) -> Cost {
    let mut fields: BTreeSet<Field> = looked_at.into_iter().collect();
    let varies = |form: &Form| form.counters.iter().zip(&vsa.counters).any(|(&a, c)| a != 0 && c.trip > 1);
    let forms =
        vsa.inputs.iter().flat_map(|g| [&g.row, &g.col]).chain(vsa.outputs.iter().flat_map(|g| [&g.row, &g.col]));
    fields.extend(forms.filter(|form| varies(form)).cloned().map(Field::Time));
    for enable in vsa.outputs.iter().flat_map(|g| &g.ports).map(|p| p.enable).filter(|&e| travels(vsa, e)) {
        match &vsa.node(enable).op {
            Op::Guard(all) => _ = fields.insert(Field::Guard(all.clone())),
            Op::Iter(form) => _ = fields.insert(Field::Time(form.clone())),
            _ => {}
        }
    }
    let mut kept: BTreeSet<(i64, &[i64])> = BTreeSet::new();
    let mut total = Cost::default();
    for field in &fields {
        total += match field {
            Field::Valid => Cost::default(),
            Field::Guard(all) => {
                kept.extend(all.iter().map(|c| (c.form.constant, &c.form.counters[..])));
                let compared: i64 = all.iter().filter(|c| c.equality).map(|c| (width(vsa, &c.form) + 4) / 5).sum();
                Cost { lut: compared + all.len() as i64 / 6, ff: 1, ..Cost::default() }
            }
            Field::Time(form) => {
                kept.insert((form.constant, &form.counters[..]));
                Cost::ff(width(vsa, form))
            }
            Field::Pointer(depth, lag) => {
                let bits = bits_of(depth.abs());
                let by_case = lag.map_or(0, |_| bits * ((vsa.cases.len() as i64 / 2 + 4) / 5));
                // What sizes tell is kept for the run, and comes from the host when it starts.
                let sized = lag.map_or(0, |lag| {
                    vsa.varying_delays()[lag as usize]
                        .parts()
                        .iter()
                        .filter(|f| !matches!(f, Formula::Const(_)))
                        .count() as i64
                });
                let start = if sized > 0 { bits } else { 0 };
                Cost { lut: bits + bits / 6 + 1 + by_case + start, ff: (2 + sized) * bits, ..Cost::default() }
            }
        };
    }
    let accumulator = |(constant, counters): (i64, &[i64])| {
        let form = Form { constant, counters: counters.to_vec(), space: [0, 0] };
        let bits = width(vsa, &form);
        // The step is a constant that the digits which end tell, and the case of phases: half of the cases have a bit
        // of it.
        let cased = counters.iter().zip(&vsa.counters).any(|(&a, c)| a != 0 && c.is_by_case());
        let by_case = if cased { bits * ((vsa.cases.len() as i64 / 2 + 4) / 5) } else { 0 };
        if varies(&form) {
            Cost { lut: bits + by_case, ff: bits, ..Cost::default() }
        } else {
            Cost::default()
        }
    };
    total + kept.into_iter().map(accumulator).sum()
}

/// Bits of the values of a form, with their sign where some are negative.
fn width(vsa: &Vsa, form: &Form) -> i64 {
    let (low, high) =
        interval(form.constant, form.counters.iter().zip(&vsa.counters).map(|(&a, c)| (a, 0, c.trip - 1)));
    let magnitude = |v: i128| i64::from(128 - v.leading_zeros());
    if low >= 0 {
        magnitude(high).max(1)
    } else {
        magnitude(high.max(0)).max(magnitude(!low)) + 1
    }
}
