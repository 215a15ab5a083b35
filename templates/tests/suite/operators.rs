//! Every row of the operator table has the hardware that it promises: `array::operators` against `templates::operators`
//! in the simulator, and against the measurements in `docs/results/operators.md`.

use array::operators::{self, Operator, Shape};
use array::vsa::{NodeId, Op};
use rtl::sim::Sim;
use rtl::{Design, ModuleBuilder, Template};
use scop::value::{cast, eval_binary, eval_dot, eval_fma, eval_lookup, eval_unary};
use scop::value::{eval_field, eval_join, eval_spread, Field, Spread};
use scop::{BinaryOp, ScalarType, UnaryOp};
use std::collections::BTreeMap;
use templates::fp::{default_latency, row, Format, Operator as FloatOperator, Relation};
use templates::operators::{build, supported, wires, Request};
use uniform::fabric::Fabric;

const I32: ScalarType = ScalarType::Int { bits: 32, signed: true };
const I16: ScalarType = ScalarType::Int { bits: 16, signed: true };
const F32: ScalarType = ScalarType::Float { exponent: 8, fraction: 23 };
const F16: ScalarType = ScalarType::Float { exponent: 5, fraction: 10 };

/// One use of an operator.
#[derive(Clone, Debug, PartialEq)]
struct Example {
    op: Op,
    ty: ScalarType,
    operands: Vec<ScalarType>,
}

/// A PE's operator with its last register.
impl Template for Example {
    fn name(&self) -> String {
        "example".into()
    }

    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let operands: Vec<_> =
            self.operands.iter().enumerate().map(|(k, ty)| m.input(format!("x{k}"), wires(*ty))).collect();
        let latency = self.latency();
        let request = Request {
            op: &self.op,
            ty: self.ty,
            operands: &operands,
            operand_types: &self.operands,
            constant: &vec![None; operands.len()],
            latency,
            name: "y",
        };
        let value = build(m, d, &request).expect("a supported operator");
        m.output("y", m.delay(value, latency.min(1), "y_q"));
    }
}

impl Example {
    fn latency(&self) -> u32 {
        operators::latency(&self.op, self.ty, &self.operands, Fabric::default()) as u32
    }

    /// What the interpreters compute.
    fn value(&self, x: &[u64]) -> u64 {
        let from = self.operands[0];
        match &self.op {
            Op::Unary(op, _) => eval_unary(*op, x[0], from),
            Op::Binary(op, ..) => eval_binary(*op, x[0], x[1], from, self.operands[1]),
            Op::Select(..) => x[if x[0] == 1 { 1 } else { 2 }],
            Op::Cast(_) => cast(x[0], from, self.ty),
            Op::Lookup(table, _) => eval_lookup(table, x[0]),
            Op::Fma(..) => eval_fma(x[0], x[1], x[2], self.ty),
            Op::Dot { pairs, .. } => {
                let factors: Vec<[u64; 2]> = x.chunks(2).take(pairs.len()).map(|x| [x[0], x[1]]).collect();
                eval_dot(&factors, x[x.len() - 1], self.ty)
            }
            Op::Join { step, .. } => {
                let integers: Vec<(u64, ScalarType)> = x.iter().copied().zip(self.operands.iter().copied()).collect();
                eval_join(&integers, *step, self.ty)
            }
            Op::Spread(_, spread) => eval_spread(x[0], from, *spread, self.ty),
            Op::Field(_, field) => eval_field(x[0], *field, self.ty),
            op => panic!("{op:?} is no operator"),
        }
    }
}

/// Uses of every operator. A new row does not compile without one.
fn examples(operator: Operator) -> Vec<Example> {
    let n = NodeId(0);
    let unary = |op, ty| vec![Example { op: Op::Unary(op, n), ty, operands: vec![ty] }];
    let binary = |op, ty, operand| Example { op: Op::Binary(op, n, n), ty, operands: vec![operand; 2] };
    let both = |ops: [BinaryOp; 2], ty| ops.map(|op| binary(op, ty, ty)).to_vec();
    let relations = |ops: [BinaryOp; 2], ty| ops.map(|op| binary(op, ScalarType::BOOL, ty)).to_vec();
    let convert = |from, ty| vec![Example { op: Op::Cast(n), ty, operands: vec![from] }];
    let fma = |ty| Example { op: Op::Fma(n, n, n), ty, operands: vec![ty; 3] };
    let table = |length: u64| Example { op: Op::Lookup((1..=length).collect(), n), ty: I32, operands: vec![I16] };
    match operator {
        Operator::Not => unary(UnaryOp::Not, I32),
        Operator::Negate => unary(UnaryOp::Neg, I32),
        Operator::Abs => unary(UnaryOp::Abs, I32),
        Operator::SquareRoot => unary(UnaryOp::Sqrt, I32),
        Operator::Add => both([BinaryOp::Add, BinaryOp::Sub], I32),
        Operator::Bitwise => both([BinaryOp::Or, BinaryOp::Xor], I32),
        Operator::Shift => both([BinaryOp::Shl, BinaryOp::Shr], I32),
        Operator::Equal => relations([BinaryOp::Eq, BinaryOp::Ne], I32),
        Operator::Less => relations([BinaryOp::Lt, BinaryOp::Lt], I32),
        Operator::MinMax => both([BinaryOp::Min, BinaryOp::Max], I32),
        Operator::Multiply => {
            [I16, I32, ScalarType::Int { bits: 64, signed: false }].map(|ty| binary(BinaryOp::Mul, ty, ty)).to_vec()
        }
        Operator::MultiplyAdd => [I16, I32].map(fma).to_vec(),
        Operator::Divide => both([BinaryOp::Div, BinaryOp::Rem], I32),
        Operator::Select => [I32, F32]
            .map(|ty| Example { op: Op::Select(n, n, n), ty, operands: vec![ScalarType::BOOL, ty, ty] })
            .to_vec(),
        Operator::Convert => [convert(I32, I16), convert(F32, F32)].concat(),
        Operator::ToBool => convert(I32, ScalarType::BOOL),
        Operator::Lookup => vec![table(16), table(300)],
        Operator::Join | Operator::Spread | Operator::Field => packed(operator),
        Operator::FloatNegate => unary(UnaryOp::Neg, F32),
        Operator::FloatAbs => unary(UnaryOp::Abs, F32),
        Operator::FloatAdd => both([BinaryOp::Add, BinaryOp::Sub], F32),
        Operator::FloatMultiply => both([BinaryOp::Mul, BinaryOp::Mul], F32),
        Operator::FloatMultiplyAdd => vec![fma(F32)],
        Operator::FloatDot => {
            let dot = |pairs| Op::Dot { pairs: vec![[n, n]; pairs], addend: n };
            [1, 4, 8].map(|pairs| Example { op: dot(pairs), ty: F32, operands: vec![F32; 2 * pairs + 1] }).to_vec()
        }
        Operator::FloatDivide => vec![binary(BinaryOp::Div, F32, F32), binary(BinaryOp::Div, F16, F16)],
        Operator::FloatSquareRoot => [unary(UnaryOp::Sqrt, F32), unary(UnaryOp::Sqrt, F16)].concat(),
        Operator::FloatCompare => relations([BinaryOp::Ne, BinaryOp::Lt], F32),
        Operator::FloatMinMax => both([BinaryOp::Min, BinaryOp::Max], F32),
        Operator::FloatFromInt => convert(I32, F32),
        Operator::FloatToInt => convert(F32, I32),
        Operator::FloatToBool => convert(F32, ScalarType::BOOL),
        Operator::FloatWiden => convert(F16, F32),
        Operator::FloatNarrow => convert(F32, F16),
    }
}

/// Two or three integers in one number.
fn packed(operator: Operator) -> Vec<Example> {
    let (n, int) = (NodeId(0), |bits, signed| ScalarType::Int { bits, signed });
    let join = |count: usize, of, step, bits| Example {
        op: Op::Join { integers: vec![n; count], step },
        ty: int(bits, true),
        operands: vec![of; count],
    };
    let spread = |count, integer, from, to, bits| {
        let ty = int(bits, true);
        Example { op: Op::Spread(n, Spread { count, integer, from, to }), ty: int(27, true), operands: vec![ty] }
    };
    let field = |at, bits, negative| Example {
        op: Op::Field(n, Field { at, bits, negative }),
        ty: I32,
        operands: vec![int(48, true)],
    };
    match operator {
        Operator::Join => {
            vec![join(2, int(8, true), 8, 17), join(2, int(8, false), 8, 17), join(3, int(4, true), 5, 15)]
        }
        Operator::Spread => vec![
            spread(2, int(8, true), 8, 18, 17),
            spread(2, int(8, false), 8, 18, 17),
            spread(3, int(4, true), 5, 11, 15),
        ],
        _ => vec![
            field(0, 18, 1 << 17),
            field(0, 18, (1 << 17) + (1 << 10)),
            field(2, 18, 1 << 18),
            field(1, 40, 1 << 39),
        ],
    }
}

/// Two equal neighbours: comparisons need some.
const NUMBERS: [i64; 8] = [0, 4, 2, -7, 9, 9, 3, 25];

/// Operands from the list, from one of its places on.
fn operands(types: &[ScalarType], from: usize) -> Vec<u64> {
    let number = |(k, ty): (usize, &ScalarType)| match (NUMBERS[(from + k) % NUMBERS.len()], *ty) {
        (n, ScalarType::BOOL) => (n & 1) as u64,
        (n, ty) => cast(n as u64, ScalarType::Int { bits: 64, signed: true }, ty),
    };
    types.iter().enumerate().map(number).collect()
}

/// The result changes exactly as many cycles after the operands as the table says, and is right before and after.
#[test]
fn every_row_has_hardware_of_its_latency() {
    let mut count = 0;
    for (k, r) in operators::rows().enumerate() {
        assert_eq!(r.operator as usize, k, "rows are in the order of the operators: {:?}", r.operator);
        for example in examples(r.operator) {
            assert_eq!(Operator::of(&example.op, example.ty, example.operands[0]), Some(r.operator), "{example:?}");
            supported(&example.op, example.ty, &example.operands).expect("a supported operator");
            let latency = example.latency();
            let mut design = Design::default();
            let top = design.module(example.clone());
            let mut sim = Sim::new(&design.verify().expect("a design"), &top).unwrap_or_else(|e| panic!("{e:#?}"));
            let with_value = |from: usize| {
                let x = operands(&example.operands, from);
                (example.value(&x), x)
            };
            let before = with_value(0);
            let after = (1..NUMBERS.len()).map(with_value).find(|after| after.0 != before.0);
            let after = after.unwrap_or_else(|| panic!("{example:?}: no operands change the result"));
            let set = |sim: &mut Sim, x: &[u64]| {
                x.iter().enumerate().for_each(|(k, x)| sim.set(&format!("x{k}"), *x));
            };
            set(&mut sim, &before.1);
            (0..100).for_each(|_| sim.clock());
            set(&mut sim, &after.1);
            for cycle in 0..100 {
                let expected = if cycle < latency { before.0 } else { after.0 };
                assert_eq!(sim.get("y"), expected, "{example:?}, latency {latency}, cycle {cycle}");
                sim.clock();
            }
            count += 1;
        }
    }
    assert!(count > 45, "{count} examples");
}

/// The float rows say what synthesis measured for fp32, rounded to LUTs and flip-flops per bit.
#[test]
fn float_rows_agree_with_the_measurements() {
    let text = include_str!("../../../docs/results/operators.md");
    let measured: BTreeMap<&str, Vec<&str>> = text
        .lines()
        .filter(|l| l.starts_with("| fp32 |") && l.contains("**"))
        .map(|l| l.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>())
        .map(|cells| (cells[1], cells[2..7].to_vec()))
        .collect();
    let (bits, signed) = (32, true);
    let cores = [
        ("add", FloatOperator::Add),
        ("multiply", FloatOperator::Mul),
        ("fused multiply-add", FloatOperator::Fma),
        ("dot product of 1", FloatOperator::Dot { lanes: 1 }),
        ("dot product of 4", FloatOperator::Dot { lanes: 4 }),
        ("dot product of 8", FloatOperator::Dot { lanes: 8 }),
        ("divide", FloatOperator::Div),
        ("square root", FloatOperator::Sqrt),
        ("less or equal", FloatOperator::Compare(Relation::Le)),
        ("minimum", FloatOperator::Min),
        ("from int32", FloatOperator::FromInt { bits, signed }),
        ("to int32", FloatOperator::ToInt { bits, signed }),
        ("from fp16", FloatOperator::FromFloat(Format::FP16)),
    ];
    for (name, operator) in cores {
        let [latency, lut, ff, dsp, levels] = measured[name][..] else { panic!("{name}: {:?}", measured[name]) };
        let number = |text: &str| text.trim_matches('*').parse::<i64>().expect("a number");
        let row = row(operator, Format::FP32);
        assert_eq!(i64::from(default_latency(operator, Format::FP32)), number(latency), "latency of {name}");
        let lanes = if let FloatOperator::Dot { lanes } = operator { lanes.into() } else { 0 };
        // A dot product of four terms is the example.
        if lanes == 0 || lanes == 4 {
            assert_eq!(row.levels.map(i64::from), Some(number(levels)), "levels of {name}");
        }
        let cost = (row.cost)(&Shape {
            result: F32,
            bits: 32,
            operands: [32; 2],
            widest: 32,
            constant: [false; 2],
            digits: None,
            pairs: lanes,
            table: &[],
            latency: number(latency),
            fabric: Fabric::Lut6,
        });
        assert_eq!(cost.dsp, number(dsp), "DSP slices of {name}");
        for (what, cost, measured) in [("LUTs", cost.lut, number(lut)), ("flip-flops", cost.ff, number(ff))] {
            assert!((cost - measured).abs() <= 64, "{what} of {name}: {cost}, measured {measured}");
        }
    }
}
