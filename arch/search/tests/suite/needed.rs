//! Where nodes are needed, and which PEs only pass an input on.

use crate::vsa_common::*;
use array::vsa::*;
use cost::board::Board;
use cost::needed::{needed, Passed};
use scop::{BinaryOp, ScalarType};
use std::collections::BTreeSet;
use std::path::Path;
use uniform::affine::{Condition, Form, Ranges};
use uniform::design::DesignSpec;

fn registers(passed: &Passed) -> i64 {
    passed.iter().map(|(cycles, pes)| cycles * pes).sum()
}

#[test]
fn inputs_pass_through_pes_that_do_not_need_them() {
    let mut vsa = stationary(
        &Mm { n: 6, m: 12, k: 9, pes: [3, 4], steps: 2, points: 2, lanes: 1, words: [8, 4, 4] },
        [0, 1, 2],
        false,
    );
    let inputs: Vec<(usize, [bool; 2])> = (0..vsa.nodes.len())
        .filter_map(|n| match vsa.nodes[n].op {
            Op::Input { group, .. } => Some((n, vsa.inputs[group as usize].forward)),
            _ => None,
        })
        .collect();
    let [e0, e1] = vsa.extent;
    let [s0, s1] = vsa.schedule.hop_delays();
    let along = |forward: [bool; 2]| if forward[1] { s1 * e0 * (e1 - 1) } else { s0 * e1 * (e0 - 1) };
    let all = needed(&vsa);
    for &(n, forward) in &inputs {
        assert_eq!((all.count[n], registers(&all.passed[n])), (e0 * e1, along(forward)), "{}", vsa.nodes[n].name);
    }
    // Only the last column stores anything: what moves along rows passes through all of the others.
    let last = Form { constant: 1 - e1, counters: vec![], space: [0, 1] };
    vsa.nodes.push(Node {
        op: Op::Guard(vec![Condition { form: last, equality: true }]),
        ty: ScalarType::BOOL,
        name: "last".into(),
    });
    let enable = NodeId(vsa.nodes.len() as u32 - 1);
    vsa.outputs.iter_mut().flat_map(|g| &mut g.ports).for_each(|p| p.enable = enable);
    let some = needed(&vsa);
    for (n, forward) in inputs {
        let passed = if forward[1] { along(forward) } else { s0 * (e0 - 1) };
        assert_eq!((some.count[n], registers(&some.passed[n])), (e0, passed), "{}", vsa.nodes[n].name);
    }
}

/// Whether a condition may hold, and fail, in PE `p`.
fn outcomes(vsa: &Vsa, id: NodeId, p: [i64; 2]) -> [bool; 2] {
    match &vsa.node(id).op {
        Op::Guard(all) => {
            let ranges = Ranges { counters: vsa.counters.iter().map(|c| c.trip).collect(), extent: [1, 1] };
            let here: Vec<Condition> = all.iter().map(|c| c.at(p)).collect();
            let fixed = here.iter().all(|c| ranges.bounds(&c.form).0 == ranges.bounds(&c.form).1);
            let holds = ranges.feasible(&here);
            [holds, !(holds && fixed)]
        }
        Op::Const(bits) => [*bits != 0, *bits == 0],
        Op::Binary(BinaryOp::Or, a, b) => {
            let (a, b) = (outcomes(vsa, *a, p), outcomes(vsa, *b, p));
            [a[0] || b[0], a[1] && b[1]]
        }
        _ => [true, true],
    }
}

/// PEs in which each node is needed, one place after the other.
fn one_by_one(vsa: &Vsa) -> Vec<i64> {
    let mut seen: BTreeSet<(NodeId, [i64; 2])> = BTreeSet::new();
    let all = (0..vsa.extent[0]).flat_map(|i| (0..vsa.extent[1]).map(move |j| [i, j]));
    let mut open: Vec<(NodeId, [i64; 2])> = vec![];
    for p in all {
        let stored = vsa.outputs.iter().flat_map(|g| &g.ports).filter(|port| outcomes(vsa, port.enable, p)[0]);
        open.extend(stored.flat_map(|port| [(port.value, p), (port.enable, p)]));
    }
    while let Some((id, p)) = open.pop() {
        if !seen.insert((id, p)) {
            continue;
        }
        match &vsa.node(id).op {
            Op::Past { source, hop, .. } => {
                let from = [p[0] - hop[0], p[1] - hop[1]];
                open.extend((0..2).all(|a| (0..vsa.extent[a]).contains(&from[a])).then_some((*source, from)));
            }
            Op::Select(c, a, b) => {
                let [holds, fails] = outcomes(vsa, *c, p);
                let wanted = [(holds && fails, *c), (holds, *a), (fails, *b)];
                open.extend(wanted.into_iter().filter(|w| w.0).map(|w| (w.1, p)));
            }
            op => open.extend(op.operands().into_iter().map(|n| (n, p))),
        }
    }
    (0..vsa.nodes.len()).map(|n| seen.iter().filter(|s| s.0.index() == n).count() as i64).collect()
}

#[test]
fn sets_of_places_are_what_single_places_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let board = Board::parse(include_str!("../../../../boards/u250.toml")).expect("the board file is well formed");
    let mut apart = 0;
    for file in [
        "tests/run/syrk.c",
        "tests/run/trmm.c",
        "tests/run/phases_gauss_jordan.c",
        "tests/run/phases_cholesky_solve.c",
        "tests/run/integral_image.c",
        "tests/run/conv_stride.c",
        "examples/lu.c",
        "examples/jacobi.c",
    ] {
        let Ok((scop, _)) = frontend::parse(&root.join(file), &Default::default()) else {
            panic!("{file} does not parse")
        };
        let compiled = search::compile(&scop, &DesignSpec::default(), &board)
            .unwrap_or_else(|faults| panic!("{file}: {faults:?}"));
        let (sets, single) = (needed(&compiled.vsa).count, one_by_one(&compiled.vsa));
        let guards = |n: usize| matches!(compiled.vsa.nodes[n].op, Op::Guard(_));
        // What is the same everywhere may be judged at one place: guards that hold at all are counted in every PE then.
        let differ: Vec<_> =
            (0..sets.len()).filter(|&n| sets[n] != single[n] && !guards(n)).map(|n| (n, sets[n], single[n])).collect();
        apart += single.iter().filter(|&&n| n > 0 && n < compiled.vsa.extent.iter().product()).count();
        assert!(differ.is_empty(), "{file}: {differ:?}");
    }
    assert!(apart > 20, "{apart}");
}
