//! Where nodes are needed, and which PEs only pass an input on.


use arch::affine::{Condition, Form};
use arch::cost::needed::needed;
use arch::ir::vsa::*;
use frontend::scop::ScalarType;
use crate::vsa_common::*;

#[test]
fn inputs_pass_through_pes_that_do_not_need_them() {
    let mut vsa = stationary(&Mm { n: 6, m: 12, k: 9, pes: [3, 4], steps: 2, points: 2, lanes: 1, words: [8, 4, 4] }, [0, 1, 2], false);
    let inputs: Vec<(usize, [bool; 2])> = (0..vsa.nodes.len()).filter_map(|n| match vsa.nodes[n].op {
        Op::Input { group, .. } => Some((n, vsa.inputs[group as usize].forward)),
        _ => None,
    }).collect();
    let [e0, e1] = vsa.extent;
    let [s0, s1] = vsa.schedule.skew.map(i64::abs);
    let along = |forward: [bool; 2]| if forward[1] { s1 * e0 * (e1 - 1) } else { s0 * e1 * (e0 - 1) };
    let all = needed(&vsa);
    for &(n, forward) in &inputs {
        assert_eq!((all.count[n], all.passed[n]), (e0 * e1, along(forward)), "{}", vsa.nodes[n].name);
    }
    // Only the last column stores anything: what moves along rows passes through all of the others.
    let last = Form { constant: 1 - e1, counters: vec![], space: [0, 1] };
    vsa.nodes.push(Node { op: Op::Guard(vec![Condition { form: last, equality: true }]), ty: ScalarType::BOOL, name: "last".into() });
    let enable = NodeId(vsa.nodes.len() as u32 - 1);
    vsa.outputs.iter_mut().flat_map(|g| &mut g.ports).for_each(|p| p.enable = enable);
    let some = needed(&vsa);
    for (n, forward) in inputs {
        let registers = if forward[1] { along(forward) } else { s0 * (e0 - 1) };
        assert_eq!((some.count[n], some.passed[n]), (e0, registers), "{}", vsa.nodes[n].name);
    }
}
