//! The complete IP against the interpreter: values bit for bit, cycles as predicted.

use crate::array_support::{check, contents};
use crate::vsa_common::{stationary, travelling, Mm};
use array::contract::delay;
use array::vsa::{Op, Vsa};
use templates::axi::memory::Timing;

fn ok(what: &str, vsa: &Vsa) {
    let mut vsa = vsa.clone();
    // The scheduler of this test ignores that a memory is read one cycle after the arrival of the wave at the earliest.
    for (node, ready) in vsa.nodes.iter().zip(&mut vsa.schedule.ready) {
        *ready += i64::from(!matches!(node.op, Op::Const(_) | Op::Guard(_)));
    }
    vsa.schedule.delays = delay::choose(&vsa);
    let vsa = &vsa;
    for mode in [Timing::IDEAL, Timing::Ddr { seed: 5 }] {
        if let Err(e) = check(vsa, contents(vsa, 77), mode) {
            panic!("{what}, {mode:?}: {e}");
        }
    }
}

#[test]
fn output_stationary() {
    let s = Mm { n: 7, m: 5, k: 6, pes: [2, 3], steps: 3, points: 2, lanes: 1, words: [2, 4, 1] };
    ok("2x3", &stationary(&s, [0, 1, 2], false));
    ok("4 points", &stationary(&Mm { points: 4, ..s }, [0, 1, 2], false));
    ok("9 points", &stationary(&Mm { points: 9, n: 20, ..s }, [0, 1, 2], false));
    ok(
        "one point, three lanes",
        &stationary(&Mm { points: 1, lanes: 3, steps: 1, words: [8, 2, 4], ..s }, [1, 0, 2], false),
    );
}

#[test]
fn in_place() {
    let s = Mm { n: 7, m: 5, k: 6, pes: [2, 3], steps: 3, points: 2, lanes: 1, words: [2, 4, 1] };
    ok("k outermost", &stationary(&s, [2, 0, 1], true));
    ok("k innermost", &stationary(&s, [0, 1, 2], true));
}

#[test]
fn partial_sums_travel() {
    let s = Mm { n: 3, m: 9, k: 4, pes: [1, 4], steps: 4, points: 1, lanes: 1, words: [2, 4, 2] };
    ok("1x4", &travelling(&s));
    ok("spare PEs", &travelling(&Mm { pes: [1, 6], ..s }));
}
