//! What the sequencer computes for each wave and sends along with it.

use crate::port::Port;
use array::contract::operand;
use array::vsa::{NodeId, Op, Vsa};
use rtl::{s, u, Ty};
use uniform::affine::{interval, Condition, Form};
use uniform::counters::Counter;

/// A piece of control computed by the sequencer for each wave.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    Valid,
    /// Conjunction of conditions on the wave alone.
    Guard(Vec<Condition>),
    /// Value of a form over the counters.
    Time(Form),
    /// Where a memory keeps the wave's value, and has that of so many waves before: with a lag, at most so many.
    Pointer(i64, Option<u32>),
    /// The same once more, for writes that come much later than the read.
    WritePointer(i64, Option<u32>),
}

/// Type that holds `low..=high`.
pub fn range_ty(low: i64, high: i64) -> Ty {
    let magnitude = |v: i64| 64 - v.leading_zeros();
    if low >= 0 {
        u(magnitude(high).max(1))
    } else {
        s(magnitude(high.max(0)).max(magnitude(!low)) + 1)
    }
}

/// Least and greatest value over all waves.
pub fn form_range(counters: &[Counter], form: &Form) -> [i64; 2] {
    let terms = form.counters.iter().zip(counters).map(|(&c, counter)| (c, 0, counter.trip - 1));
    let (low, high) = interval(form.constant, terms);
    [low as i64, high as i64]
}

impl Field {
    /// One value in all waves of a run, see [`operand::is_fixed`].
    pub fn is_fixed(&self, vsa: &Vsa) -> bool {
        match self {
            Field::Guard(conditions) => conditions.iter().all(|c| operand::is_fixed(vsa, &c.form)),
            Field::Time(form) => operand::is_fixed(vsa, form),
            Field::Valid | Field::Pointer(..) | Field::WritePointer(..) => false,
        }
    }

    pub fn ty(&self, counters: &[Counter]) -> Ty {
        match self {
            Field::Valid | Field::Guard(_) => u(1),
            Field::Time(form) => {
                let [low, high] = form_range(counters, form);
                range_ty(low, high)
            }
            Field::Pointer(depth, _) | Field::WritePointer(depth, _) => u(rtl::clog2(*depth as u64)),
        }
    }
}

/// The control field that is the node's whole value, for nodes that depend on the wave only.
pub fn time_field(vsa: &Vsa, id: NodeId) -> Option<Field> {
    match &vsa.node(id).op {
        Op::Iter(form) if form.is_time_only() => Some(Field::Time(form.clone())),
        Op::Guard(conditions) if conditions.iter().all(|c| c.form.is_time_only()) => {
            Some(Field::Guard(conditions.clone()))
        }
        _ => None,
    }
}

/// Letters of a name that says what a field holds; what would be longer is left out.
const TELLING: usize = 40;

/// Port of control field number `k` of the plan: its name has the number, and what it holds in terms of the counters.
pub fn field_port(k: usize, field: &Field, counters: &[Counter]) -> Port {
    let (kind, what) = match field {
        Field::Valid => return Port::bit("valid"),
        Field::Guard(conditions) => (
            "guard",
            conditions
                .iter()
                .map(|c| told_condition(c, counters))
                .collect::<Option<Vec<_>>>()
                .map(|all| all.join("_and_")),
        ),
        Field::Time(form) => ("time", Some(told(form, counters))),
        Field::Pointer(depth, lag) => ("wave", Some(modulo(*depth, *lag))),
        Field::WritePointer(depth, lag) => ("written", Some(modulo(*depth, *lag))),
    };
    let what = what.filter(|w| !w.is_empty() && w.len() <= TELLING).map_or(String::new(), |w| format!("_{w}"));
    Port::new(format!("{kind}{k}{what}"), field.ty(counters))
}

/// What a pointer is modulo, in letters.
pub fn modulo(depth: i64, lag: Option<u32>) -> String {
    lag.map_or(format!("mod_{depth}"), |lag| format!("of_delay_{lag}"))
}

/// A form in letters, such as `k_time_x2_i_latency_m3` for `2 * k.time + i.latency - 3`.
fn told(form: &Form, counters: &[Counter]) -> String {
    let number = |v: i64| if v < 0 { format!("m{}", v.unsigned_abs()) } else { v.to_string() };
    let term = |(counter, &c): (&Counter, &i64)| {
        let name: String = counter
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
            .collect();
        (c != 0).then(|| if c == 1 { name } else { format!("{name}_x{}", number(c)) })
    };
    let terms = counters.iter().zip(&form.counters).filter_map(term);
    terms.chain((form.constant != 0).then(|| number(form.constant))).collect::<Vec<_>>().join("_")
}

/// A condition on a single counter, such as `k_time_is_3`.
fn told_condition(c: &Condition, counters: &[Counter]) -> Option<String> {
    let used: Vec<i64> = c.form.counters.iter().copied().filter(|c| *c != 0).collect();
    let [sign @ (1 | -1)] = used[..] else { return None };
    let form = Form { constant: 0, counters: c.form.counters.iter().map(|c| c * sign).collect(), space: [0, 0] };
    let relation = match (c.equality, sign) {
        (true, _) => "is",
        (false, 1) => "from",
        _ => "to",
    };
    let bound = -sign * c.form.constant;
    (bound >= 0).then(|| format!("{}_{relation}_{bound}", told(&form, counters)))
}
