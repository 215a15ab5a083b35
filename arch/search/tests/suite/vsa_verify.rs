//! Good arrays pass, and each violation is found.

use crate::vsa_common::*;
use array::vsa::*;
use scop::{BinaryOp, ScalarType};
use uniform::affine::Form;
use uniform::sizes::Formula;

const SIZES: Mm = Mm { n: 7, m: 6, k: 9, pes: [2, 3], steps: 2, points: 2, lanes: 2, words: [8, 4, 4] };

/// Applies `change` to a good array and expects a fault that contains `part`, and only faults of that kind.
fn fault(good: &Vsa, part: &str, change: impl Fn(&mut Vsa)) {
    good.verify().unwrap();
    let mut vsa = good.clone();
    change(&mut vsa);
    assert_ne!(&vsa, good, "the change for `{part}` changes nothing");
    let faults = vsa.verify().expect_err(part);
    assert!(faults.iter().any(|f| f.contains(part)), "expected `{part}`, found {faults:#?}");
}

fn find(vsa: &Vsa, name: &str) -> usize {
    vsa.nodes.iter().position(|n| n.name == name).unwrap()
}

#[test]
fn malformed() {
    let good = stationary(&SIZES, [0, 1, 2], true);
    fault(&good, "tile depth", |v| v.tile_depth = 9);
    fault(&good, "has trip 0", |v| v.counters[1].trip = 0);
    fault(&good, "PEs", |v| v.extent[0] = 0);
    fault(&good, "second one named A", |v| v.arrays[1].name = "A".into());
    fault(&good, "cannot name a port", |v| v.arrays[1].name = "B.0".into());
    fault(&good, "words of 3 elements", |v| v.arrays[1].word = 3);
    fault(&good, "port 3, but the next one is 2", |v| v.arrays[2].port = 3);
    fault(&good, "A and C share a port, but have words of 16 and 8 bytes", |v| {
        (v.arrays[2].port, v.arrays[2].word) = (0, 2)
    });
    fault(&good, "no node %77", |v| v.nodes.last_mut().unwrap().op = Op::Cast(NodeId(77)));
    fault(&good, "no port 2 of input group 0", |v| v.nodes[1].op = Op::Input { group: 0, port: 2 });
    fault(&good, "coefficients for 5 counters", |v| v.inputs[0].row.counters = vec![0; 6]);
    fault(&good, "exceeds 60 bits", |v| v.inputs[0].row.constant = i64::MAX);
    fault(&good, "rank 2", |v| drop(v.inputs[0].subscripts.pop()));
    fault(&good, "rank 2", |v| drop(v.outputs[0].footprint.view.remove(0)));
    fault(&good, "empty footprint", |v| v.inputs[0].footprint.rows[0].extent = 0);
    fault(&good, "elements in", |v| v.inputs[0].footprint.elements = 1000);
    fault(&good, "bank serves ports", |v| v.inputs[0].banks[0].ports = 3);
    fault(&good, "reload 4", |v| v.inputs[0].reload = 4);
    fault(&good, "does not write its array", |v| v.inputs[0].after = vec![After { output: 0, until: Until::Lag(0) }]);
    fault(&good, "collectors from", |v| v.outputs[0].last = [0, 3]);
    fault(&good, "does not fit the tile counters", |v| v.outputs[0].emit.at[0] = Some(Formula::Const(99)));
    fault(&good, "3 slots", |v| v.outputs[0].slots = 3);
    fault(&good, "scale beyond 1", |v| {
        v.outputs[0].bounds =
            vec![CellBound { scale: 2, coeffs: vec![0], phases: vec![], constant: 0, equality: false }]
    });
}

#[test]
fn nodes() {
    let good = stationary(&SIZES, [0, 1, 2], false);
    let (product, first, past, acc) =
        (find(&good, "product"), find(&good, "first"), find(&good, "past"), find(&good, "acc"));
    fault(&good, "does not come earlier", |v| {
        v.nodes[product].op = Op::Binary(BinaryOp::Mul, NodeId(acc as u32), NodeId(acc as u32))
    });
    fault(&good, "does not come earlier", |v| {
        v.nodes[past].op = Op::Past { source: NodeId(acc as u32), hop: [0, 0], waves: Formula::Const(0) }
    });
    fault(&good, "expected Int", |v| v.nodes[product].op = Op::Binary(BinaryOp::Mul, NodeId(1), NodeId(1)));
    fault(&good, "result is", |v| v.nodes[first].ty = I32);
    fault(&good, "wider than", |v| v.nodes[0].op = Op::Const(1 << 32));
    fault(&good, "not defined on", |v| {
        let float = ScalarType::Float { exponent: 8, fraction: 23 };
        v.nodes[product] = Node { op: Op::Iter(Form::default()), ty: float, name: String::new() };
    });
    let b = find(&good, "b");
    fault(&good, "has 2 nodes", |v| v.nodes[b].op = Op::Input { group: 0, port: 0 });
    fault(&good, "has 0 nodes", |v| v.nodes[b].op = Op::Const(0));
    fault(&good, "stores", |v| v.outputs[0].ports[0].value = NodeId(1));
    fault(&good, "enable is no BOOL", |v| v.outputs[0].ports[0].enable = NodeId(1));
}

#[test]
fn layout() {
    let good = stationary(&SIZES, [0, 1, 2], false);
    fault(&good, "differs there", |v| v.inputs[0].forward[0] = true);
    fault(&good, "counters it is reloaded for", |v| v.inputs[0].reload = 1);
    fault(&good, "more than the inner counters", |v| v.inputs[0].row.counters[0] = 1);
    fault(&good, "becomes negative", |v| v.inputs[0].col.constant = -1);
    fault(&good, "port 0 is served by 0 banks", |v| v.inputs[1].banks[0].port = 1);
    fault(&good, "depth", |v| v.inputs[0].banks[0].depth += 1);
    fault(&good, "row is not", |v| v.inputs[0].row.counters[4] += 1);
    fault(&good, "col is not", |v| v.inputs[0].col.counters[3] += 1);
    fault(&good, "col is not", |v| v.inputs[1].banks[1].coef[1] = 0);
    fault(&good, "residue 2 modulo 2", |v| v.inputs[1].banks[1].rows[0].residue = 2);
    fault(&good, "rows other than 0 modulo 2", |v| v.inputs[1].banks[1].rows[0].residue = 0);
    fault(&good, "rows 0..6 of 4", |v| v.inputs[0].banks[0].rows[0].coef[0] = 4);
    fault(&good, "of the 1 kept", |v| v.inputs[0].banks[0].rows[0].extent = 1);
    fault(&good, "of a row of 3", |v| v.inputs[0].footprint.elements = 3);
    fault(&good, "predecessor", |v| v.inputs[0].ports[1][1] = 2);
    fault(&good, "port 0 is not at", |v| v.inputs[1].ports[0][0] = 1);
    fault(&good, "one word", |v| {
        v.inputs[0].subscripts[1].constant = 1;
        v.inputs[0].col.constant = 1;
    });
    fault(&good, "own the same cells", |v| v.outputs[0].banks[0].elements = 2);
    fault(&good, "own the same cells", |v| v.outputs[0].banks[0].bank.rows[0].extent = 3);
    fault(&good, "beyond the 0 elements", |v| v.outputs[0].banks[0].elements = 0);
    fault(&good, "do not fit", |v| {
        v.arrays[2].word = 1;
        v.outputs[0].footprint.words = 3;
        v.outputs[0].banks[0].elements = 2;
    });
    fault(&good, "words 0..2 of a row, which has 1", |v| {
        v.outputs[0].banks[0].bank.words_per_row = 2;
        v.outputs[0].banks[0].bank.depth = 4;
    });
    fault(&good, "rows do not run along one dimension", |v| v.outputs[0].footprint.view[0].coeffs[1] = 1);
    fault(&good, "two places of the footprint", |v| v.outputs[0].footprint.view[0].coeffs[0] = 0);
    let in_place = stationary(&SIZES, [2, 0, 1], true);
    fault(&in_place, "waits for", |v| {
        v.inputs[2].after = vec![After { output: 0, until: Until::Lag(0) }];
        v.outputs[0].emit.at[0] = Some(Formula::Const(1));
    });
}

#[test]
fn timing() {
    let good = stationary(&SIZES, [0, 1, 2], false);
    let (acc, product, past) = (find(&good, "acc"), find(&good, "product"), find(&good, "past"));
    fault(&good, "but no hop delay", |v| v.schedule.start[1] = AxisStart::even(0));
    fault(&good, "launch interval", |v| v.schedule.interval = 0);
    fault(&good, "one for each of 3 ports", |v| v.away = vec![1]);
    fault(&good, "less than 16", |v| v.away = vec![0, -16, 0]);
    fault(&good, "ready cycles", |v| v.schedule.ready.truncate(1));
    fault(&good, "negative", |v| v.schedule.ready[0] = -1);
    fault(&good, "samples", |v| v.schedule.ready[product] -= 1);
    fault(&good, "cannot be before 4", |v| v.schedule.ready[1] = 3);
    fault(&good, "takes %", |v| v.schedule.ready[past] -= 1);
    let late = NodeId(past as u32);
    assert_eq!(good.schedule.delays[&late], Delay::Chain);
    fault(&good, "no delay element", |v| v.schedule.delays.clear());
    fault(&good, "does not have it then", |v| {
        _ = v.schedule.delays.insert(late, Delay::Memory { read: 99, synchronous: true })
    });
    fault(&good, "but is no past", |v| _ = v.schedule.delays.insert(NodeId(acc as u32), Delay::Chain));
    fault(&good, "but takes", |v| v.schedule.latency[product] = 50);
    // A wave between, and an accumulator whose own register is the delay.
    assert_eq!(good.schedule.ready[past], good.schedule.ready[acc] - 1);
    let travelling = travelling(&Mm { k: 3, pes: [1, 3], ..SIZES });
    let left = find(&travelling, "left");
    fault(&travelling, "0 waves later", |v| v.schedule.ready[left] -= 1);
    fault(&travelling, "samples", |v| v.schedule.ready[left] += 1);
}
