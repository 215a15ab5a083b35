//! What the sequencer computes for each wave and sends along with it.

use arch::affine::{interval, Condition, Form};
use arch::ir::vsa::{Counter, NodeId, Op, Vsa};
use rtl::{s, u, Ty};

/// A piece of control computed by the sequencer for each wave.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    Valid,
    /// Conjunction of conditions on the wave alone.
    Guard(Vec<Condition>),
    /// Value of a form over the counters.
    Time(Form),
    /// Number of the wave modulo a memory's depth.
    Pointer(i64),
    /// The same once more, for writes that come much later than the read.
    WritePointer(i64),
}

/// Type that holds `low..=high`.
pub fn range_ty(low: i64, high: i64) -> Ty {
    let magnitude = |v: i64| 64 - v.leading_zeros();
    if low >= 0 { u(magnitude(high).max(1)) } else { s(magnitude(high.max(0)).max(magnitude(!low)) + 1) }
}

/// Least and greatest value over all waves.
pub fn form_range(counters: &[Counter], form: &Form) -> [i64; 2] {
    let terms = form.counters.iter().zip(counters).map(|(&c, counter)| (c, 0, counter.trip - 1));
    let (low, high) = interval(form.constant, terms);
    [low as i64, high as i64]
}

impl Field {
    pub fn ty(&self, counters: &[Counter]) -> Ty {
        match self {
            Field::Valid | Field::Guard(_) => u(1),
            Field::Time(form) => {
                let [low, high] = form_range(counters, form);
                range_ty(low, high)
            }
            Field::Pointer(depth) | Field::WritePointer(depth) => u(rtl::clog2(*depth as u64)),
        }
    }
}

/// The control field that is the node's whole value, for nodes that depend on the wave only.
pub fn time_field(vsa: &Vsa, id: NodeId) -> Option<Field> {
    match &vsa.node(id).op {
        Op::Iter(form) if form.is_time_only() => Some(Field::Time(form.clone())),
        Op::Guard(conditions) if conditions.iter().all(|c| c.form.is_time_only()) => Some(Field::Guard(conditions.clone())),
        _ => None,
    }
}

/// Port name of control field number `k` of the plan.
pub fn field_port(k: usize, field: &Field) -> String {
    match field {
        Field::Valid => "valid".into(),
        Field::Guard(_) => format!("guard{k}"),
        Field::Time(_) => format!("time{k}"),
        Field::Pointer(_) | Field::WritePointer(_) => format!("wave{k}"),
    }
}
