//! The cost of control: the host's registers (`templates::axi::control`), the top of the IP (`templates::ip`) and the
//! sequencer (`templates::control::sequencer`), register by register.

use crate::engines::{coded, program, spans_compared};
use array::contract::operand::travels;
use array::contract::overlap::{input_sets, output_sets, BufferSet};
use array::forms::{digits, digits_equal};
use array::resources::{bits_of, Resources};
use array::vsa::{is_function, Op, Vsa};
use std::collections::BTreeSet;
use uniform::affine::{interval, Condition, Form};
use uniform::counters::{Case, Counter};
use uniform::sizes::Formula;

/// A value that travels with the waves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Valid,
    Guard(Vec<Condition>),
    Time(Form),
    /// Number of the wave modulo this: a memory's address. Negative: the same number for writes.
    Pointer(i64, Option<u32>),
}

/// All but what the sequencer computes per wave ([`launched`]). For a sketch: a lower bound.
pub(super) fn control(vsa: &Vsa) -> Resources {
    // Tables of the numbers that a function tells, with registers.
    let tables: i64 = if vsa.is_merged() { program(vsa).iter().sum() } else { 0 };
    let sets = [input_sets(vsa, false), output_sets(vsa, false)];
    let rest = top(vsa, &sets) + sequencer(vsa, &sets) + Resources::logic(tables, tables);
    registers(&arguments(vsa), vsa.address_bits) + rest
}

/// Bits of each argument that the host writes: addresses, scalars, numbers that follow from sizes, lengths.
pub(super) fn arguments(vsa: &Vsa) -> Vec<i64> {
    if vsa.is_merged() {
        // The functions have the same registers.
        let of = |f: usize| arguments(&vsa.of_function(f));
        return (0..vsa.functions.len()).map(of).max_by_key(|all| all.iter().sum::<i64>()).unwrap_or_default();
    }
    let addresses = std::iter::repeat_n(i64::from(vsa.address_bits), vsa.hosted());
    let lengths = (0..vsa.arrays.len()).filter_map(|k| vsa.length_bits(k)).map(i64::from);
    addresses.chain(vsa.scalars.iter().map(|s| i64::from(s.ty.bits()))).chain(program(vsa)).chain(lengths).collect()
}

/// Registers of an IP with these arguments.
pub(super) fn registers(arguments: &[i64], address_bits: u32) -> Resources {
    let words: i64 = arguments.iter().map(|bits| (bits + 31) / 32).sum();
    let stored: i64 = arguments.iter().map(|bits| (bits + 7) / 8 * 8).sum();
    // The cycle counter with the copy of its upper half, the write data and address, the read data, the status, and the
    // latest fault without its address.
    let rest = 67 + 32 + 32 + 4 + 5 + 32 + 33 + 14;
    // The read multiplexer and the byte enables: about one LUT per bit of each word.
    Resources::logic(175 + 33 * words, rest + 2 * i64::from(address_bits) + stored)
}

/// Reset, the scalars of the run, and the error status of the engines.
fn top(vsa: &Vsa, [inputs, outputs]: &[Vec<BufferSet>; 2]) -> Resources {
    let engines = |port: usize| {
        let of = |array: u32| vsa.port_of(array) == port;
        i64::from(vsa.inputs.iter().any(|g| of(g.array))) + i64::from(vsa.outputs.iter().any(|g| of(g.array)))
    };
    let hosted: i64 = (0..vsa.axi_ports()).map(engines).sum();
    let scalars: i64 = vsa.scalars.iter().map(|s| i64::from(s.ty.bits())).sum();
    let sets = (inputs.len() + outputs.len()) as i64;
    // Releases and drains reach the engines through a shift register each.
    Resources::logic(22 + sets + i64::from(vsa.address_bits) * (hosted / 2), 27 + scalars)
}

/// Loop counters, loads and drains.
fn sequencer(vsa: &Vsa, [inputs, outputs]: &[Vec<BufferSet>; 2]) -> Resources {
    let digits = vsa.counters.iter().enumerate().skip(vsa.parameters()).filter(|(_, c)| c.trip > 1);
    let digit = |(_, c): (usize, &Counter)| {
        let bits = bits_of(c.trip);
        // A counter that ends at a size holds the value before its last.
        let sized = if c.limit().is_some() { Resources::logic(bits + 3, bits + 1) } else { Resources::default() };
        sized + Resources::logic(bits + bits / 6 + 2, bits + 2)
    };
    // Which tiles load and which emit differs from function to function of a merged array.
    let tiles = (vsa.inputs.len() + vsa.outputs.len()) as i64;
    let tiles = Resources::logic(if vsa.is_merged() { 2 * tiles } else { 0 }, 0);
    let loads = Resources::logic(6, 5) * inputs.len() as i64;
    let drain = |set: &BufferSet| Resources { lut: 5, ff: if set.halves > 1 { 5 } else { 3 }, ..Resources::default() };
    let drains = outputs.iter().map(drain).sum::<Resources>() + tiles;
    let gap = if vsa.schedule.interval > 1 { bits_of(vsa.schedule.interval) } else { 0 };
    digits.map(digit).sum::<Resources>() + loads + drains + cases(vsa) + Resources::logic(6 + 2 * gap, 2 + gap)
}

/// The counters that tell the phase class, one step ahead, their class, and the counters whose ends depend on it: these ends
/// are registers.
fn cases(vsa: &Vsa) -> Resources {
    if !vsa.loops().has_cases() {
        return Resources::default();
    }
    let trips = vsa.loops().most();
    let trip = |own: &Case, j: usize| match own[0].low {
        function if vsa.is_merged() && j > 0 => vsa.loops().trip_in(j, function as usize).unwrap_or(trips[j]),
        _ => trips[j],
    };
    let spans = |own: &Case| spans_compared(own.iter().enumerate().map(|(j, s)| ((s.low, s.high), trip(own, j))));
    // Of a merged array, a table tells the case.
    let compared = if vsa.is_merged() { coded(vsa.cases.len()) } else { vsa.cases.iter().map(spans).sum() };
    let ahead: i64 =
        trips[..vsa.cases.first().map_or(0, Vec::len)].iter().filter(|&&t| t > 1).map(|&t| bits_of(t) + 1).sum();
    let ends: i64 = vsa.counters.iter().filter(|c| c.is_by_case()).map(|c| bits_of(c.trip) + 1).sum();
    Resources::logic(compared + ahead + 2 * ends, ahead + ends)
}

/// What the sequencer computes per wave: an accumulator per affine form, and a register per field.
pub(super) fn launched(vsa: &Vsa, read: impl IntoIterator<Item = Field>) -> Resources {
    let mut fields: BTreeSet<Field> = read.into_iter().collect();
    // Parameters are constants of a run.
    let counted = vsa.counters.iter().enumerate().map(|(j, c)| c.trip > 1 && j >= vsa.parameters()).collect::<Vec<_>>();
    let varies = |form: &Form| form.counters.iter().zip(&counted).any(|(&a, counted)| a != 0 && *counted);
    let forms =
        vsa.inputs.iter().flat_map(|g| [&g.row, &g.col]).chain(vsa.outputs.iter().flat_map(|g| [&g.row, &g.col]));
    fields.extend(forms.filter(|form| varies(form)).cloned().map(Field::Time));
    let shared = (0..vsa.inputs.len()).map(|g| vsa.fed_with(g)).filter(|all| all.len() > 1).flatten();
    let functions = shared.flat_map(|g| &vsa.inputs[g].used.functions);
    let stored = (0..vsa.outputs.len()).map(|o| vsa.collected_with(o)).filter(|all| all.len() > 1).flatten();
    let functions = functions.chain(stored.flat_map(|o| &vsa.outputs[o].emit.functions));
    fields.extend(functions.map(|f| Field::Guard(vec![is_function(*f)])));
    for enable in vsa.outputs.iter().flat_map(|g| &g.ports).map(|p| p.enable).filter(|&e| travels(vsa, e)) {
        match &vsa.node(enable).op {
            Op::Guard(all) => _ = fields.insert(Field::Guard(all.clone())),
            Op::Iter(form) => _ = fields.insert(Field::Time(form.clone())),
            _ => {}
        }
    }
    let mut accumulated: BTreeSet<(i64, &[i64])> = BTreeSet::new();
    let mut total = Resources::default();
    for field in &fields {
        total += match field {
            Field::Valid => Resources::default(),
            Field::Guard(all) => {
                let computed = all.iter().filter(|c| !c.equality || digits_equal(&vsa.counters, &c.form).is_none());
                accumulated.extend(computed.map(|c| (c.form.constant, &c.form.counters[..])));
                let compared = all.iter().filter(|c| c.equality || !varies(&c.form));
                let compared: i64 = compared.map(|c| (width(vsa, &c.form) + 4) / 5).sum();
                Resources::logic(compared + all.len() as i64 / 6, 1)
            }
            Field::Time(form) => {
                accumulated.insert((form.constant, &form.counters[..]));
                Resources::ff(width(vsa, form))
            }
            Field::Pointer(depth, lag) => {
                let bits = bits_of(depth.abs());
                let by_case = lag.map_or(0, |_| bits * ((vsa.cases.len() as i64 / 2 + 4) / 5));
                // Numbers that depend on sizes come from the host at the start and are stored for the run.
                let sized = lag.map_or(0, |lag| {
                    vsa.varying_delays()[lag as usize]
                        .parts()
                        .iter()
                        .filter(|f| !matches!(f, Formula::Const(_)))
                        .count() as i64
                });
                let start = if sized > 0 { bits } else { 0 };
                let held = if by_case > 0 { bits } else { 0 };
                Resources::logic(bits + bits / 6 + 1 + by_case + start, (2 + sized) * bits + held)
            }
        };
    }
    let accumulator = |(constant, counters): (i64, &[i64])| {
        let form = Form { constant, counters: counters.to_vec(), space: [0, 0] };
        if digits(&vsa.counters, &form).is_some() {
            return Resources::default();
        }
        let bits = width(vsa, &form);
        // The step depends on the counters that end and on the phase class: half of the classes have a bit of it. Of a
        // merged array, a table tells it by the number of the class.
        let cased = counters.iter().zip(&vsa.counters).any(|(&a, c)| a != 0 && c.is_by_case());
        let classes = vsa.cases.len() as i64;
        let by_case = match cased {
            false => 0,
            true if vsa.is_merged() => bits * ((classes + 63) / 64),
            true => bits * ((classes / 2 + 4) / 5),
        };
        if varies(&form) {
            Resources::logic(bits + by_case, if by_case > 0 { 2 * bits } else { bits })
        } else {
            Resources::default()
        }
    };
    total + accumulated.into_iter().map(accumulator).sum()
}

/// Bits of the values of a form, with a sign bit if some are negative.
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
