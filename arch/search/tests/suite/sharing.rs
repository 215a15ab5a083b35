//! Operators that phases and statements share: as many as the wave that needs most, and no fewer.

use array::operators::Operator;
use array::variants::assemble;
use array::vsa::{NodeId, Op, Vsa};
use scop::BinaryOp;
use std::path::Path;
use uniform::design::DesignSpec;
use uniform::mapping::Plan;

fn one_pe(name: &str, text: &str) -> Vsa {
    let Ok((scop, _)) = frontend::parse_text(name, text, &Default::default()) else { panic!("{text}") };
    let spec = DesignSpec::default();
    let program = search::program(&scop, &spec).expect("a program");
    assemble(&program, Plan::identity(program.system.dims.len()), &spec).expect("an array of one PE")
}

/// A program of `tests/run`.
fn run(name: &str) -> Vsa {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/run/{name}.c"));
    one_pe(name, &std::fs::read_to_string(file).expect("the program"))
}

fn body(text: &str) -> Vsa {
    one_pe(
        "f.c",
        &format!(
            "void f(const float a[16], const float b[16], const float c[16], float x[16], float y[16]) \
            {{\n#pragma scop\nfor (int i = 0; i < 16; i++) {{\n{text}\n}}\n#pragma endscop\n}}\n"
        ),
    )
}

/// Multipliers, adders and dividers of floats.
fn floats(vsa: &Vsa) -> [usize; 3] {
    let live = array::contract::operand::live_nodes(vsa);
    let of = |n: usize| {
        let first = vsa.nodes[n].op.operands().first().map(|o: &NodeId| vsa.node(*o).ty)?;
        Operator::of(&vsa.nodes[n].op, vsa.nodes[n].ty, first)
    };
    let count = |operator: Operator| (0..live.len()).filter(|&n| live[n] && of(n) == Some(operator)).count();
    [Operator::FloatMultiply, Operator::FloatAdd, Operator::FloatDivide].map(count)
}

#[test]
fn a_conjugate_gradient_has_the_operators_of_its_largest_phase() {
    assert_eq!(floats(&run("phases_conjugate_gradient")), [3, 3, 1]);
}

#[test]
fn phases_of_transforms_share() {
    let [multipliers, ..] = floats(&run("phases_householder"));
    assert!(multipliers <= 4, "{multipliers} of 9");
    assert!(run("phases_adi").remarks.shared.is_some_and(|s| s.built < s.wanted));
}

/// Both products of a wave have an operator of their own, whatever their conditions have in common.
#[test]
fn what_one_wave_needs_twice_is_built_twice() {
    assert_eq!(floats(&body("x[i] = a[i] * b[i];\ny[i] = b[i] * c[i];")), [2, 0, 0]);
    assert_eq!(floats(&body("if (i < 9) x[i] = a[i] * b[i];\nif (i > 7) y[i] = b[i] * c[i];")), [2, 0, 0]);
}

#[test]
fn what_no_wave_needs_twice_is_built_once() {
    assert_eq!(floats(&body("if (i < 8) x[i] = a[i] * b[i];\nif (i > 7) y[i] = b[i] * c[i];")), [1, 0, 0]);
    assert_eq!(floats(&body("if (i < 8) x[i] = a[i] + b[i];\nif (i > 7) y[i] = b[i] - c[i];")), [0, 1, 0]);
    let chosen = floats(&body("x[i] = i < 5 ? a[i] / b[i] : b[i] / c[i];\ny[i] = i == 3 ? a[i] * b[i] : a[i] * c[i];"));
    assert_eq!(chosen, [1, 0, 1]);
}

/// The selected sign of a difference takes no subtractor.
#[test]
fn a_difference_is_a_sum() {
    let vsa = body("if (i < 8) x[i] = a[i] + b[i];\nif (i > 7) y[i] = b[i] - c[i];");
    assert!(!vsa.nodes.iter().any(|n| matches!(n.op, Op::Binary(BinaryOp::Sub, ..))));
}
