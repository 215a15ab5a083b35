//! The interpreter against plain loops, and against designs that are wrong in one place.

use crate::vsa_common::*;
use array::interp;
use array::vsa::*;
use scop::{BinaryOp, ScalarType, UnaryOp};
use uniform::affine::Form;
use uniform::sizes::Formula;

const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0], [2, 1, 0]];

fn draw(random: &mut Random) -> Mm {
    let lanes = 1 << random.within(0, 2);
    Mm {
        n: random.within(1, 13),
        m: random.within(1, 13),
        k: random.within(1, 17),
        pes: [random.within(1, 4), random.within(1, 5)],
        steps: random.within(1, 4),
        points: random.within(1, 4),
        lanes,
        words: [8, 4, 4],
    }
}

fn run(vsa: &Vsa, memory: &[Vec<u64>]) -> Result<(Vec<Vec<u64>>, interp::RunStats), String> {
    let mut memory = memory.to_vec();
    let stats = interp::run(vsa, &mut memory)?;
    Ok((memory, stats))
}

#[test]
fn stationary_results_equal_the_loops() {
    let mut random = Random(7);
    for round in 0..60 {
        let s = draw(&mut random);
        // On chip over k: k is the innermost tile loop.
        let vsa = stationary(&s, ORDERS[round % 2], false);
        vsa.verify().unwrap_or_else(|f| panic!("{s:?}: {f:#?}"));
        let memory = memory(&vsa, &mut random);
        let (result, stats) = run(&vsa, &memory).unwrap();
        assert_eq!(result, expected(&s, &memory, false), "{s:?}");
        assert_eq!(stats.waves as i64, vsa.waves());
        assert_eq!(stats.races, 0);
    }
}

#[test]
fn partial_results_travel_through_dram() {
    let mut random = Random(8);
    for round in 0..60 {
        let s = draw(&mut random);
        let vsa = stationary(&s, ORDERS[round % 6], true);
        vsa.verify().unwrap_or_else(|f| panic!("{s:?} {:?}: {f:#?}", ORDERS[round % 6]));
        let memory = memory(&vsa, &mut random);
        let (result, _) = run(&vsa, &memory).unwrap();
        assert_eq!(result, expected(&s, &memory, true), "{s:?} {:?}", ORDERS[round % 6]);
    }
}

#[test]
fn loads_that_do_not_wait_read_garbage() {
    let s = Mm { n: 4, m: 4, k: 8, pes: [2, 2], steps: 2, points: 2, lanes: 1, words: [8, 4, 4] };
    let mut vsa = stationary(&s, [2, 0, 1], true);
    let memory = memory(&vsa, &mut Random(3));
    assert_eq!(run(&vsa, &memory).unwrap().0, expected(&s, &memory, true));
    for after in [vec![], vec![After { output: 0, until: Until::Lag(2) }]] {
        vsa.inputs[2].after = after;
        vsa.verify().unwrap();
        let (result, stats) = run(&vsa, &memory).unwrap();
        assert_ne!(result, expected(&s, &memory, true));
        assert!(stats.races > 0);
    }
    vsa.inputs[2].after = vec![After { output: 0, until: Until::Lag(0) }];
    assert_eq!(run(&vsa, &memory).unwrap().0, expected(&s, &memory, true));
}

#[test]
fn sums_travel_within_a_wave() {
    let mut random = Random(9);
    for _ in 0..30 {
        let k = random.within(1, 9);
        let s = Mm {
            n: random.within(1, 5),
            m: random.within(1, 11),
            k,
            pes: [1, k + random.within(0, 2)],
            steps: random.within(1, 4),
            points: 1,
            lanes: 1,
            words: [8, 4, 4],
        };
        let vsa = travelling(&s);
        vsa.verify().unwrap_or_else(|f| panic!("{s:?}: {f:#?}"));
        let memory = memory(&vsa, &mut random);
        assert_eq!(run(&vsa, &memory).unwrap().0, expected(&s, &memory, false), "{s:?}");
    }
}

#[test]
fn wrong_guards_show() {
    let s = Mm { n: 5, m: 5, k: 7, pes: [2, 2], steps: 2, points: 1, lanes: 2, words: [8, 4, 4] };
    let vsa = stationary(&s, [0, 1, 2], false);
    let memory = memory(&vsa, &mut Random(11));
    let good = expected(&s, &memory, false);
    assert_eq!(run(&vsa, &memory).unwrap().0, good);
    let guards: Vec<usize> = (0..vsa.nodes.len()).filter(|&n| matches!(vsa.nodes[n].op, Op::Guard(_))).collect();
    for n in guards {
        let mut broken = vsa.clone();
        broken.nodes[n].op = Op::Guard(vec![]);
        // The first lane never leaves the array: 7 is odd.
        let harmless = matches!(&vsa.nodes[n].op, Op::Guard(c) if c.len() == 1 && c[0].form.constant == s.k - 1);
        match run(&broken, &memory) {
            Ok((result, _)) => assert_eq!(result == good, harmless, "guard %{n}"),
            Err(fault) => assert!(fault.contains("does not emit"), "{fault}"),
        }
    }
}

#[test]
fn refusals() {
    let s = Mm { n: 4, m: 4, k: 4, pes: [1, 4], steps: 2, points: 1, lanes: 1, words: [8, 4, 4] };
    let good = travelling(&s);
    let mut memory = memory(&good, &mut Random(5));
    let mut fails = |change: &dyn Fn(&mut Vsa), part: &str| {
        let mut vsa = good.clone();
        change(&mut vsa);
        let fault = interp::run(&vsa, &mut memory).unwrap_err();
        assert!(fault.contains(part), "{fault}");
    };
    fails(
        &|v| v.nodes[7].op = Op::Past { source: NodeId(9), hop: [0, 0], waves: Formula::Const(0) },
        "depend on themselves",
    );
    fails(&|v| v.nodes[7].op = Op::Past { source: NodeId(99), hop: [0, 0], waves: Formula::Const(0) }, "no node %99");
    fails(&|v| v.inputs[1].footprint.elements = 1, "of a footprint with 1");
    fails(&|v| v.arrays[0].dims[0] += 1, "memory");
    let late = |v: &mut Vsa| {
        (v.inputs[0].array, v.inputs[0].reload, v.inputs[0].after) =
            (2, 2, vec![After { output: 0, until: Until::Lag(0) }]);
        (v.outputs[0].slots, v.outputs[0].emit.at[1]) = (1, Some(Formula::Const(0)));
        let enable = &mut v.nodes[10].op;
        *enable = Op::Guard(vec![eq(form(0, &[0, 1], [0, 0]))]);
    };
    fails(&late, "load 2 waits for drain 2");
    fails(&|v| (v.outputs[0].slots, v.outputs[0].emit.at[1]) = (1, Some(Formula::Const(0))), "does not emit");
}

/// One node of type `ty` over `width` operands that are constants, stored to a single element.
fn operation(op: Op, ty: ScalarType, operands: &[(u64, ScalarType)]) -> Vsa {
    let mut nodes = Nodes::default();
    for &(bits, ty) in operands {
        nodes.add("x", ty, Op::Const(bits));
    }
    let value = nodes.add("result", ty, op);
    let stored = ScalarType::Int { bits: 64, signed: false };
    let enable = nodes.add("always", ScalarType::BOOL, Op::Guard(vec![]));
    let wide = nodes.add("wide", stored, Op::Select(enable, value, value));
    let scalar = Form::default();
    Vsa {
        ahead: 512,
        nodes: nodes.0,
        arrays: vec![DramArray {
            name: "r".into(),
            ty: stored,
            dims: vec![],
            word: 1,
            port: 0,
            home: Default::default(),
        }],
        outputs: vec![OutputGroup {
            arrays: vec![],
            array: 0,
            subscripts: vec![scalar.clone()],
            ports: vec![OutputPort { value: wide, enable, offset: vec![0] }],
            first: [0, 0],
            last: [0, 0],
            emit: When::default(),
            footprint: Footprint {
                view: Footprint::plain_view(1),
                origin: vec![scalar.clone()],
                rows: vec![],
                words: 1,
                elements: 1,
            },
            banks: vec![],
            row: scalar.clone(),
            col: scalar,
            slots: 1,
            bounds: vec![],
        }],
        ..Vsa::empty("operation")
    }
}

#[test]
fn operators_follow_the_scalar_semantics() {
    use BinaryOp::*;
    let mut random = Random(21);
    let int = |bits, signed| ScalarType::Int { bits, signed };
    let types = [
        int(8, true),
        int(8, false),
        int(16, true),
        int(32, true),
        int(32, false),
        int(64, true),
        int(64, false),
        int(11, true),
        ScalarType::Float { exponent: 8, fraction: 23 },
        ScalarType::Float { exponent: 5, fraction: 10 },
    ];
    let compute = |op: Op, ty: ScalarType, operands: &[(u64, ScalarType)]| {
        let vsa = operation(op, ty, operands);
        let mut memory = vec![vec![0]];
        interp::run(&vsa, &mut memory).unwrap();
        memory[0][0]
    };
    for ty in types {
        for round in 0..40 {
            let edge = [0, 1, scop::value::mask(ty.bits()), 1 << (ty.bits() - 1)];
            let mut value = || {
                if random.next().is_multiple_of(4) {
                    edge[random.next() as usize % 4]
                } else {
                    random.next() & scop::value::mask(ty.bits())
                }
            };
            let (x, y, z) = (value(), if round % 8 == 0 { 3 } else { value() }, value());
            let ops = [Add, Sub, Mul, Div, Rem, And, Or, Xor, Shl, Shr, Eq, Ne, Lt, Le, Min, Max];
            for op in ops
                .into_iter()
                .filter(|op| !ty.is_float() || matches!(op, Add | Sub | Mul | Div | Eq | Ne | Lt | Le | Min | Max))
            {
                let result = if matches!(op, Eq | Ne | Lt | Le) { ScalarType::BOOL } else { ty };
                let got = compute(Op::Binary(op, NodeId(0), NodeId(1)), result, &[(x, ty), (y, ty)]);
                assert_eq!(got, scop::value::eval_binary(op, x, y, ty, ty), "{op:?} {ty:?} {x:#x} {y:#x}");
            }
            for op in [UnaryOp::Neg, UnaryOp::Abs] {
                assert_eq!(compute(Op::Unary(op, NodeId(0)), ty, &[(x, ty)]), scop::value::eval_unary(op, x, ty));
            }
            for to in types {
                assert_eq!(
                    compute(Op::Cast(NodeId(0)), to, &[(x, ty)]),
                    scop::value::cast(x, ty, to),
                    "{x:#x} {ty:?} {to:?}"
                );
            }
            let fma = compute(Op::Fma(NodeId(0), NodeId(1), NodeId(2)), ty, &[(x, ty), (y, ty), (z, ty)]);
            assert_eq!(fma, scop::value::eval_fma(x, y, z, ty));
            if ty.is_float() {
                let op = Op::Dot { pairs: vec![[NodeId(0), NodeId(1)], [NodeId(1), NodeId(2)]], addend: NodeId(0) };
                let dot = compute(op, ty, &[(x, ty), (y, ty), (z, ty)]);
                assert_eq!(dot, scop::value::eval_dot(&[[x, y], [y, z]], x, ty));
            }
        }
    }
}
