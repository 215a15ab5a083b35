//! Hand-made arrays for the tests of the Vsa's tools: matrix multiplication in several mappings.
#![allow(dead_code)]

use array::contract::delay;
use array::vsa::*;
use scop::{BinaryOp, ScalarType};
use uniform::affine::{Condition, Form};
use uniform::counters::Counter;
use uniform::sizes::Formula;

pub const I16: ScalarType = ScalarType::Int { bits: 16, signed: true };
pub const I32: ScalarType = ScalarType::I32;

/// A small generator of pseudo-random numbers (xorshift64*).
pub struct Random(pub u64);
impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// In `low..=high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + ((self.next() >> 33) % (high - low + 1) as u64) as i64
    }
}

pub fn form(constant: i64, counters: &[i64], space: [i64; 2]) -> Form {
    Form { constant, counters: counters.to_vec(), space }
}

pub fn ge(form: Form) -> Condition {
    Condition { form, equality: false }
}

pub fn eq(form: Form) -> Condition {
    Condition { form, equality: true }
}

#[derive(Default)]
pub struct Nodes(pub Vec<Node>);
impl Nodes {
    pub fn add(&mut self, name: &str, ty: ScalarType, op: Op) -> NodeId {
        self.0.push(Node { op, ty, name: name.into() });
        NodeId(self.0.len() as u32 - 1)
    }
    pub fn binary(&mut self, name: &str, ty: ScalarType, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        self.add(name, ty, Op::Binary(op, a, b))
    }
}

fn latency(op: &Op) -> i64 {
    match op {
        Op::Binary(BinaryOp::Mul, ..) => 2,
        Op::Binary(..) => 1,
        Op::Guard(_) | Op::Iter(_) => array::contract::timing::least_ready(op),
        _ => 0,
    }
}

/// As soon as possible, for the given hop delays.
pub fn schedule(vsa: &mut Vsa, step: [i64; 2]) {
    let latencies: Vec<i64> = vsa.nodes.iter().map(|n| latency(&n.op)).collect();
    for interval in 1..100 {
        let mut ready = vec![0i64; vsa.nodes.len()];
        for _ in 0..50 {
            let before = ready.clone();
            for (n, node) in vsa.nodes.iter().enumerate() {
                let own = match node.op {
                    Op::Past { source, hop, ref waves } => {
                        let (s, waves) = (source.index(), waves.fewest(&[]));
                        delay::earliest(waves, ready[s], latencies[s], interval) - step[0] * hop[0] - step[1] * hop[1]
                            + (hop != [0, 0]) as i64
                    }
                    ref op => {
                        let operands = op.sources().iter().map(|s| ready[s.index()]).max().unwrap_or(0);
                        (operands + latencies[n]).max(array::contract::timing::least_ready(op))
                    }
                };
                ready[n] = ready[n].max(own);
            }
            if ready == before {
                vsa.schedule = Schedule {
                    start: step.map(AxisStart::even),
                    interval,
                    ready,
                    latency: latencies,
                    ..Schedule::default()
                };
                vsa.schedule.delays = delay::choose(vsa);
                return;
            }
        }
    }
    panic!("no schedule");
}

/// `C[n][m] = A[n][k] * B[k][m]`, sizes and factors.
#[derive(Clone, Copy, Debug)]
pub struct Mm {
    pub n: i64,
    pub m: i64,
    pub k: i64,
    pub pes: [i64; 2],
    /// Waves of k per tile.
    pub steps: i64,
    /// Latency-hiding points along i.
    pub points: i64,
    pub lanes: i64,
    pub words: [u32; 3],
}

fn ceil(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

pub fn counters(list: &[(&str, i64)]) -> Vec<Counter> {
    list.iter().map(|&(name, trip)| Counter::constant(name.into(), trip)).collect()
}

pub fn arrays(s: &Mm) -> Vec<DramArray> {
    let array = |port, name: &str, ty, a, b, word| DramArray {
        name: name.into(),
        ty,
        dims: vec![a, b],
        word,
        port,
        home: Default::default(),
    };
    vec![
        array(0, "A", I16, s.n, s.k, s.words[0]),
        array(1, "B", I16, s.k, s.m, s.words[1]),
        array(2, "C", I32, s.n, s.m, s.words[2]),
    ]
}

fn bank(port: u32, ports: u32, row: BankDim, coef: [i64; 2], words_per_row: i64) -> Bank {
    let depth = row.extent * words_per_row;
    Bank { port, ports, rows: vec![row], base: 0, coef, words_per_row, stride: 0, depth }
}

/// Output-stationary: i and j in space, k in time. Counters: tiles in `order` of (i, j, k), then k, i.latency.
/// `in_place`: `C += A B` with each tile's partial result in DRAM.
pub fn stationary(s: &Mm, order: [usize; 3], in_place: bool) -> Vsa {
    let [e0, e1] = s.pes;
    let (ti, tk) = (e0 * s.points, s.steps * s.lanes);
    let trips = [ceil(s.n, ti), ceil(s.m, e1), ceil(s.k, tk)];
    let names = ["i.tile", "j.tile", "k.tile"];
    let at = |axis: usize| order.iter().position(|&o| o == axis).unwrap();
    let list: Vec<(&str, i64)> =
        order.iter().map(|&o| (names[o], trips[o])).chain([("k.time", s.steps), ("i.latency", s.points)]).collect();
    let term = |pairs: &[(usize, i64)]| {
        let mut c = vec![0; 5];
        pairs.iter().for_each(|&(j, v)| c[j] = v);
        c
    };
    let i = form(0, &term(&[(at(0), ti), (4, 1)]), [s.points, 0]);
    let j = form(0, &term(&[(at(1), e1)]), [0, 1]);
    let k = form(0, &term(&[(at(2), tk), (3, s.lanes)]), [0, 0]);
    let origin = |axis: usize, size: i64| form(0, &term(&[(at(axis), size)]), [0, 0]);
    let plain = |extent: i64| FootprintDim { modulus: 1, extent };
    let words = |elements: i64, a: usize| ceil(elements, s.words[a] as i64);
    let mut nodes = Nodes::default();
    let acc = product(&mut nodes, s, &k);
    // acc = (first ? 0 or C : past) + products
    let first = match in_place {
        true => vec![eq(form(0, &term(&[(3, 1)]), [0, 0]))],
        false => vec![eq(form(0, &term(&[(at(2), 1)]), [0, 0])), eq(form(0, &term(&[(3, 1)]), [0, 0]))],
    };
    let first = nodes.add("first", ScalarType::BOOL, Op::Guard(first));
    let start = match in_place {
        true => nodes.add("c_in", I32, Op::Input { group: 2, port: 0 }),
        false => nodes.add("zero", I32, Op::Const(0)),
    };
    let past = nodes.add(
        "past",
        I32,
        Op::Past { source: NodeId(nodes.0.len() as u32 + 2), hop: [0, 0], waves: Formula::Const(s.points) },
    );
    let before = nodes.add("before", I32, Op::Select(first, start, past));
    let sum = nodes.binary("acc", I32, BinaryOp::Add, before, acc);
    let mut last = vec![eq(form(1 - s.steps, &term(&[(3, 1)]), [0, 0]))];
    if !in_place {
        last.push(eq(form(1 - trips[2], &term(&[(at(2), 1)]), [0, 0])));
    }
    let enable = nodes.add("last", ScalarType::BOOL, Op::Guard(last));
    let wa = words(tk, 0);
    let c_row = BankDim { base: 0, coef: [s.points, 0], extent: s.points, residue: 0 };
    let c_footprint = Footprint {
        view: Footprint::plain_view(2),
        origin: vec![origin(0, ti), origin(1, e1)],
        rows: vec![plain(ti)],
        words: words(e1, 2),
        elements: e1,
    };
    let mut inputs = vec![
        InputGroup {
            arrays: vec![],
            array: 0,
            subscripts: vec![i.clone(), k.clone()],
            ports: (0..s.lanes).map(|l| vec![0, l]).collect(),
            first: [0; 2],
            last: s.pes.map(|n| n - 1),
            forward: [false, true],
            reload: 1 + at(0).max(at(2)),
            used: When::default(),
            footprint: Footprint {
                view: Footprint::plain_view(2),
                origin: vec![origin(0, ti), origin(2, tk)],
                rows: vec![plain(ti)],
                words: wa,
                elements: tk,
            },
            banks: vec![bank(0, s.lanes as u32, c_row.clone(), [0, 0], wa)],
            row: form(0, &term(&[(4, wa)]), [0, 0]),
            col: form(0, &term(&[(3, s.lanes)]), [0, 0]),
            after: vec![],
        },
        InputGroup {
            arrays: vec![],
            array: 1,
            subscripts: vec![k.clone(), j.clone()],
            ports: (0..s.lanes).map(|l| vec![l, 0]).collect(),
            first: [0; 2],
            last: s.pes.map(|n| n - 1),
            forward: [true, false],
            reload: 1 + at(1).max(at(2)),
            used: When::default(),
            footprint: Footprint {
                view: Footprint::plain_view(2),
                origin: vec![origin(2, tk), origin(1, e1)],
                rows: vec![FootprintDim { modulus: s.lanes, extent: s.steps }],
                words: words(e1, 1),
                elements: e1,
            },
            banks: (0..s.lanes)
                .map(|l| bank(l as u32, 1, BankDim { base: 0, coef: [0, 0], extent: s.steps, residue: l }, [0, 1], 1))
                .collect(),
            row: form(0, &term(&[(3, 1)]), [0, 0]),
            col: form(0, &[], [0, 0]),
            after: vec![],
        },
    ];
    if in_place {
        // The same tile comes again after all tiles inside of the k loop.
        let lag: i64 = order[at(2) + 1..].iter().map(|&o| trips[o]).product::<i64>() - 1;
        inputs.push(InputGroup {
            arrays: vec![],
            array: 2,
            subscripts: vec![i.clone(), j.clone()],
            ports: vec![vec![0, 0]],
            first: [0; 2],
            last: s.pes.map(|n| n - 1),
            forward: [false, false],
            reload: 3,
            used: When::default(),
            footprint: c_footprint.clone(),
            banks: vec![bank(0, 1, c_row.clone(), [0, 1], 1)],
            row: form(0, &term(&[(4, 1)]), [0, 0]),
            col: form(0, &[], [0, 0]),
            after: vec![After { output: 0, until: Until::Lag(lag) }],
        });
    }
    let mut emit = vec![None; 3];
    if !in_place {
        emit[at(2)] = Some(trips[2] - 1);
    }
    let output = OutputGroup {
        arrays: vec![],
        array: 2,
        subscripts: vec![i, j],
        ports: vec![OutputPort { value: sum, enable, offset: vec![0, 0] }],
        first: [0, 0],
        last: [e0 - 1, e1 - 1],
        emit: When::new(emit),
        footprint: c_footprint,
        banks: vec![OutputBank { bank: bank(0, 1, c_row, [0, 1], 1), elements: 1 }],
        row: form(0, &term(&[(4, 1)]), [0, 0]),
        col: form(0, &[], [0, 0]),
        slots: 1,
        bounds: vec![],
    };
    let mut vsa = Vsa {
        counters: counters(&list),
        tile_depth: 3,
        axes: ["i".into(), "j".into()],
        extent: s.pes,
        lanes: s.lanes,
        ahead: 512,
        nodes: nodes.0,
        arrays: arrays(s),
        inputs,
        outputs: vec![output],
        ..Vsa::empty("mm")
    };
    schedule(&mut vsa, [1, 1]);
    vsa
}

/// Sum over the lanes of `k + lane < K ? A * B : 0`.
fn product(nodes: &mut Nodes, s: &Mm, k: &Form) -> NodeId {
    let zero = nodes.add("zero", I32, Op::Const(0));
    let mut sum = None;
    for l in 0..s.lanes {
        let port = l as u32;
        let a = nodes.add("a", I16, Op::Input { group: 0, port });
        let b = nodes.add("b", I16, Op::Input { group: 1, port });
        let (a, b) = (nodes.add("a", I32, Op::Cast(a)), nodes.add("b", I32, Op::Cast(b)));
        let product = nodes.binary("product", I32, BinaryOp::Mul, a, b);
        let inside = form(s.k - 1 - l, &k.counters.iter().map(|c| -c).collect::<Vec<_>>(), k.space.map(|c| -c));
        let valid = nodes.add("valid", ScalarType::BOOL, Op::Guard(vec![ge(inside)]));
        let term = nodes.add("term", I32, Op::Select(valid, product, zero));
        sum = Some(match sum {
            None => term,
            Some(sum) => nodes.binary("sum", I32, BinaryOp::Add, sum, term),
        });
    }
    sum.unwrap_or(zero)
}

/// k in space (one row of PEs), all of k in the array; partial sums travel within the wave, A's row too slowly to
/// matter. Counters: i, j tiles of 1 × `steps`; then j.
pub fn travelling(s: &Mm) -> Vsa {
    let pes = s.pes[1];
    assert!(pes >= s.k);
    let trips = [s.n, ceil(s.m, s.steps)];
    let mut nodes = Nodes::default();
    let a = nodes.add("a", I16, Op::Input { group: 0, port: 0 });
    let b = nodes.add("b", I16, Op::Input { group: 1, port: 0 });
    let (a, b) = (nodes.add("a", I32, Op::Cast(a)), nodes.add("b", I32, Op::Cast(b)));
    let product = nodes.binary("product", I32, BinaryOp::Mul, a, b);
    let zero = nodes.add("zero", I32, Op::Const(0));
    let first = nodes.add("first", ScalarType::BOOL, Op::Guard(vec![eq(form(0, &[], [0, 1]))]));
    let left = nodes.add("left", I32, Op::Past { source: NodeId(9), hop: [0, 1], waves: Formula::Const(0) });
    let before = nodes.add("before", I32, Op::Select(first, zero, left));
    let sum = nodes.binary("acc", I32, BinaryOp::Add, before, product);
    assert_eq!(sum, NodeId(9));
    let always = nodes.add("always", ScalarType::BOOL, Op::Guard(vec![]));
    let plain = |extent: i64| FootprintDim { modulus: 1, extent };
    let words = |elements: i64, a: usize| ceil(elements, s.words[a] as i64);
    let (t, z) = (s.steps, [0, 0]);
    let c_footprint = Footprint {
        view: Footprint::plain_view(2),
        origin: vec![form(0, &[1], z), form(0, &[0, t], z)],
        rows: vec![plain(1)],
        words: words(t, 2),
        elements: t,
    };
    let inputs = vec![
        InputGroup {
            arrays: vec![],
            array: 0,
            subscripts: vec![form(0, &[1], z), form(0, &[], [0, 1])],
            ports: vec![vec![0, 0]],
            first: [0; 2],
            last: [0, pes - 1],
            forward: [false, false],
            reload: 1,
            used: When::default(),
            footprint: Footprint {
                view: Footprint::plain_view(2),
                origin: vec![form(0, &[1], z), form(0, &[], z)],
                rows: vec![plain(1)],
                words: words(pes, 0),
                elements: pes,
            },
            banks: vec![bank(0, 1, BankDim { base: 0, coef: z, extent: 1, residue: 0 }, [0, 1], 1)],
            row: form(0, &[], z),
            col: form(0, &[], z),
            after: vec![],
        },
        InputGroup {
            arrays: vec![],
            array: 1,
            subscripts: vec![form(0, &[], [0, 1]), form(0, &[0, t, 1], z)],
            ports: vec![vec![0, 0]],
            first: [0; 2],
            last: [0, pes - 1],
            forward: [true, false],
            reload: 2,
            used: When::default(),
            footprint: Footprint {
                view: Footprint::plain_view(2),
                origin: vec![form(0, &[], z), form(0, &[0, t], z)],
                rows: vec![plain(pes)],
                words: words(t, 1),
                elements: t,
            },
            banks: vec![bank(0, 1, BankDim { base: 0, coef: [0, 1], extent: 1, residue: 0 }, z, words(t, 1))],
            row: form(0, &[], z),
            col: form(0, &[0, 0, 1], z),
            after: vec![],
        },
    ];
    let output = OutputGroup {
        arrays: vec![],
        array: 2,
        subscripts: vec![form(0, &[1], z), form(0, &[0, t, 1], z)],
        ports: vec![OutputPort { value: sum, enable: always, offset: vec![0, 0] }],
        first: [0, s.k - 1],
        last: [0, s.k - 1],
        emit: When::new(vec![None, None]),
        footprint: c_footprint,
        banks: vec![OutputBank {
            bank: bank(0, 1, BankDim { base: 0, coef: z, extent: 1, residue: 0 }, z, words(t, 2)),
            elements: t,
        }],
        row: form(0, &[], z),
        col: form(0, &[0, 0, 1], z),
        slots: 2,
        bounds: vec![],
    };
    let mut vsa = Vsa {
        counters: counters(&[("i", trips[0]), ("j.tile", trips[1]), ("j.time", t)]),
        tile_depth: 2,
        axes: ["".into(), "k".into()],
        extent: [1, pes],
        ahead: 512,
        nodes: nodes.0,
        arrays: arrays(s),
        inputs,
        outputs: vec![output],
        ..Vsa::empty("travelling")
    };
    // A hop takes the adder's register and the link's.
    schedule(&mut vsa, [0, 2]);
    vsa
}

/// Random contents for all arrays.
pub fn memory(vsa: &Vsa, random: &mut Random) -> Vec<Vec<u64>> {
    let mask = |a: &DramArray| scop::value::mask(a.ty.bits());
    vsa.arrays.iter().map(|a| (0..a.dims.iter().product()).map(|_| random.next() & mask(a)).collect()).collect()
}

/// `memory` after `C = A B`, or `C += A B`.
pub fn expected(s: &Mm, memory: &[Vec<u64>], add: bool) -> Vec<Vec<u64>> {
    let mut result = memory.to_vec();
    for i in 0..s.n {
        for j in 0..s.m {
            let cell = (i * s.m + j) as usize;
            let mut sum = if add { memory[2][cell] as u32 as i32 } else { 0 };
            for k in 0..s.k {
                let (a, b) = (memory[0][(i * s.k + k) as usize], memory[1][(k * s.m + j) as usize]);
                sum = sum.wrapping_add((a as i16 as i32).wrapping_mul(b as i16 as i32));
            }
            result[2][cell] = sum as u32 as u64;
        }
    }
    result
}
