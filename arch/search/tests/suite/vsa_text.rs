//! The printed form parses back, for hand-made and for random arrays.

use crate::vsa_common::*;
use array::text::{canonical, parse, to_text};
use array::vsa::*;
use scop::value::{Field, Spread};
use scop::{Affine, BinaryOp, ScalarType, UnaryOp};
use uniform::affine::{Condition, Form};
use uniform::counters::{Case, Counter, Span};
use uniform::fabric::Fabric;
use uniform::sizes::Formula;
use uniform::system::Kind;

const SMALL: Mm = Mm { n: 7, m: 6, k: 9, pes: [2, 3], steps: 2, points: 2, lanes: 2, words: [8, 4, 4] };

fn round_trip(vsa: &Vsa) {
    let text = to_text(vsa);
    let back = parse(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    assert_eq!(back, canonical(vsa), "{text}");
    assert_eq!(to_text(&back), text);
}

#[test]
fn hand_made() {
    for in_place in [false, true] {
        round_trip(&stationary(&SMALL, [2, 0, 1], in_place));
    }
    round_trip(&travelling(&Mm { k: 3, pes: [1, 3], ..SMALL }));
    let mut bare = stationary(&SMALL, [0, 1, 2], false);
    bare.schedule = Schedule::default();
    round_trip(&bare);
}

#[test]
fn a_person_can_read_it() {
    let text = to_text(&stationary(&SMALL, [2, 0, 1], true));
    for line in [
        "vsa mm",
        "space i 2 skew 1",
        "tile k.tile 3",
        "time i.latency 2",
        "array A: i16[7][9] word 8",
        "  %1 a: i16 = input 0 port 0  @ready 4 lat 0",
        "  %6 valid: bool = guard -4*k.tile - 2*k.time + 8 >= 0  @ready 0 lat 0",
        "  %18 past: i32 = past %20 hop (0, 0) waves 2  @ready 7 lat 0 by chain",
        "  %20 acc: i32 = add %19, %15  @ready 8 lat 1",
        "input 0 A[4*i.tile + i.latency + 2*p0][4*k.tile + 2*k.time]",
        "  footprint at [4*i.tile][4*k.tile] rows {extent 4 modulus 1} words 1 elements 4",
        "  bank port 0 ports 2 {from 0 move (2, 0) extent 2 residue 0} from 0 move (0, 0) words 1 depth 2",
        "  after output 0 lag 3",
        "  port %20 when %21 offset (0, 0)",
        "  emit every every every",
    ] {
        assert!(text.lines().any(|l| l == line), "`{line}` is not in\n{text}");
    }
}

/// Meaningless, but well-formed.
struct Draw(Random);
impl Draw {
    fn int(&mut self) -> i64 {
        match self.0.within(0, 9) {
            0 => i64::MIN,
            1 => i64::MAX,
            _ => self.0.within(-9, 9),
        }
    }
    fn index(&mut self, size: usize) -> usize {
        self.0.within(0, size as i64 - 1) as usize
    }
    fn flag(&mut self) -> bool {
        self.0.next() & 1 == 0
    }
    fn pair(&mut self) -> [i64; 2] {
        [self.int(), self.int()]
    }
    fn list(&mut self, length: usize) -> Vec<i64> {
        (0..length).map(|_| self.int()).collect()
    }
    fn name(&mut self) -> String {
        ["a", "i.tile", "t1", "p0", "", "two words", "quote'd", "q+c", "a-b", "x0", "every", "2*i", "_1"]
            [self.index(13)]
        .into()
    }
    fn ty(&mut self) -> ScalarType {
        match self.index(4) {
            0 => ScalarType::Float { exponent: self.0.within(2, 11) as u32, fraction: self.0.within(1, 52) as u32 },
            1 => [(5, 10), (8, 7), (8, 23), (11, 52)]
                .map(|(exponent, fraction)| ScalarType::Float { exponent, fraction })[self.index(4)],
            _ => ScalarType::Int { bits: self.0.within(1, 64) as u32, signed: self.flag() },
        }
    }
    fn form(&mut self, counters: usize) -> Form {
        let used = self.index(counters + 1);
        Form { constant: self.int(), counters: self.list(used), space: self.pair() }
    }
    fn forms(&mut self, count: usize, counters: usize) -> Vec<Form> {
        (0..count).map(|_| self.form(counters)).collect()
    }
    fn id(&mut self) -> NodeId {
        NodeId(self.0.within(0, 99) as u32)
    }
    fn waves(&mut self) -> Formula {
        match self.index(3) {
            0 => Formula::ByCase((0..1 + self.index(3)).map(|_| Formula::Const(self.int())).collect()),
            1 => Formula::Size(self.index(9) as u32),
            _ => Formula::Const(self.int()),
        }
    }
    fn op(&mut self, counters: usize) -> Op {
        use BinaryOp::*;
        match self.index(15) {
            0 => Op::Const(self.0.next() >> self.index(64)),
            1 => Op::Iter(self.form(counters)),
            2 => Op::Guard(
                (0..self.index(3)).map(|_| Condition { form: self.form(counters), equality: self.flag() }).collect(),
            ),
            3 => Op::Input { group: self.index(9) as u32, port: self.index(9) as u32 },
            4 => Op::Past { source: self.id(), hop: self.pair(), waves: self.waves() },
            5 => Op::Unary([UnaryOp::Neg, UnaryOp::Not, UnaryOp::Sqrt, UnaryOp::Abs][self.index(4)], self.id()),
            6 => Op::Binary(
                [Add, Sub, Mul, Div, Rem, And, Or, Xor, Shl, Shr, Eq, Ne, Lt, Le, Min, Max][self.index(16)],
                self.id(),
                self.id(),
            ),
            7 => Op::Select(self.id(), self.id(), self.id()),
            8 => Op::Cast(self.id()),
            10 => Op::Lookup((0..1 + self.index(5)).map(|_| self.0.next() >> self.index(64)).collect(), self.id()),
            9 => Op::Dot { pairs: (0..1 + self.index(4)).map(|_| [self.id(), self.id()]).collect(), addend: self.id() },
            11 => Op::Join { integers: (0..self.index(4)).map(|_| self.id()).collect(), step: self.index(64) as u32 },
            12 => {
                let [count, from, to] = [4, 64, 64].map(|n| self.index(n) as u32);
                let integer = ScalarType::Int { bits: 1 + self.index(64) as u32, signed: self.flag() };
                Op::Spread(self.id(), Spread { count, integer, from, to })
            }
            13 => {
                let [at, bits] = [64, 64].map(|n| self.index(n) as u32);
                Op::Field(self.id(), Field { at, bits, negative: self.0.next() >> self.index(64) })
            }
            _ => Op::Fma(self.id(), self.id(), self.id()),
        }
    }
    fn delay(&mut self) -> Delay {
        if self.flag() {
            Delay::Chain
        } else {
            Delay::Memory { read: self.int(), synchronous: self.flag() }
        }
    }
    fn footprint(&mut self, rank: usize, counters: usize) -> Footprint {
        let rows = (1..rank).map(|_| FootprintDim { modulus: self.int(), extent: self.int() }).collect();
        let view = (0..rank)
            .map(|_| Affine { coeffs: (0..rank).map(|_| self.int()).collect(), constant: self.int() })
            .collect();
        Footprint { view, origin: self.forms(rank, counters), rows, words: self.int(), elements: self.int() }
    }
    fn bank(&mut self, rank: usize) -> Bank {
        let rows = (1..rank)
            .map(|_| BankDim { base: self.int(), coef: self.pair(), extent: self.int(), residue: self.int() })
            .collect();
        let (port, ports) = (self.index(9) as u32, self.index(9) as u32);
        Bank {
            port,
            ports,
            rows,
            base: self.int(),
            coef: self.pair(),
            words_per_row: self.int(),
            stride: self.int(),
            depth: self.int(),
        }
    }
    fn input(&mut self, arrays: &[DramArray], counters: usize) -> InputGroup {
        let array = self.index(arrays.len());
        let rank = arrays[array].dims.len().max(1);
        InputGroup {
            arrays: vec![],
            array: array as u32,
            subscripts: self.forms(rank, counters),
            ports: (0..1 + self.index(3)).map(|_| self.list(rank)).collect(),
            first: self.pair(),
            last: self.pair(),
            forward: [self.flag(), self.flag()],
            reload: self.index(5),
            used: self.when(),
            footprint: self.footprint(rank, counters),
            banks: (0..self.index(3)).map(|_| self.bank(rank)).collect(),
            row: self.form(counters),
            col: self.form(counters),
            after: (0..self.index(3))
                .map(|_| After {
                    output: self.index(4) as u32,
                    until: if self.flag() { Until::Phase } else { Until::Lag(self.int()) },
                })
                .collect(),
        }
    }
    fn output(&mut self, arrays: &[DramArray], counters: usize, phases: usize) -> OutputGroup {
        let array = self.index(arrays.len());
        let rank = arrays[array].dims.len().max(1);
        OutputGroup {
            arrays: vec![],
            array: array as u32,
            subscripts: self.forms(rank, counters),
            ports: (0..1 + self.index(3))
                .map(|_| OutputPort { value: self.id(), enable: self.id(), offset: self.list(rank) })
                .collect(),
            first: self.pair(),
            last: self.pair(),
            emit: self.when(),
            footprint: self.footprint(rank, counters),
            banks: (0..self.index(3)).map(|_| OutputBank { bank: self.bank(rank), elements: self.int() }).collect(),
            row: self.form(counters),
            col: self.form(counters),
            slots: self.index(3) as u32,
            bounds: (0..self.index(3))
                .map(|_| CellBound {
                    scale: self.0.within(-1, 1),
                    coeffs: self.list(rank - 1),
                    phases: self.list(phases),
                    constant: self.int(),
                    equality: self.flag(),
                })
                .collect(),
        }
    }
    fn when(&mut self) -> When {
        let value = |draw: &mut Draw| {
            let most = draw.int();
            draw.flag().then(|| draw.end(most))
        };
        let at: Vec<Option<Formula>> = (0..self.index(4)).map(|_| value(self)).collect();
        // For an input, a list without values is no list.
        let at = if at.iter().any(Option::is_some) { at } else { vec![] };
        let cases = if self.flag() { Some((0..self.index(4)).map(|_| self.index(9)).collect()) } else { None };
        When { at, cases, ..When::default() }
    }
    /// A last value: a number, or a parameter.
    fn end(&mut self, most: i64) -> Formula {
        if self.flag() {
            Formula::Parameter { place: self.index(9) as u32, most }
        } else {
            Formula::Const(most)
        }
    }
    fn start(&mut self) -> AxisStart {
        let (sign, hops) = (if self.flag() { 1 } else { -1 }, 1 + self.index(4));
        let hops: Vec<i64> = (0..hops).map(|_| sign * (1 + self.index(3) as i64)).collect();
        AxisStart::of_hops(&hops).expect("hop delays of one direction")
    }
    fn cases(&mut self, phases: usize) -> Vec<Case> {
        let span = |draw: &mut Draw| {
            let [low, high] = draw.pair();
            Span { low, high, end: draw.end(high) }
        };
        (0..self.index(3)).map(|_| (0..phases).map(|_| span(self)).collect()).collect()
    }
    /// Some groups have the buffers of one before them.
    fn owners(&mut self, groups: usize) -> std::collections::BTreeMap<usize, usize> {
        let owner = |group: usize| (self.flag() && group > 0).then(|| (group, self.index(group)));
        (0..groups).filter_map(owner).collect()
    }
    fn counters(&mut self, phases: usize, count: usize, cases: usize) -> Vec<Counter> {
        let counter = |j: usize, draw: &mut Draw| {
            let mut counter = Counter::constant(draw.name(), draw.int());
            counter.kind = if j < phases { Kind::Sequence } else { Kind::Loop };
            let most = counter.trip.wrapping_sub(1);
            counter.last = if j >= phases && cases > 0 && draw.flag() {
                let ends = (0..cases).map(|_| {
                    let most = draw.int();
                    draw.end(most)
                });
                let ends: Vec<Formula> = ends.collect();
                Formula::ByCase(ends.into_iter().chain([Formula::Const(0)]).collect())
            } else {
                draw.end(most)
            };
            counter
        };
        (0..count).map(|j| counter(j, self)).collect()
    }
    fn vsa(&mut self) -> Vsa {
        let (count, nodes) = (self.index(6), self.index(20));
        let depth = self.index(count + 1);
        let phases = self.index(depth + 1);
        let cases = self.cases(phases);
        let counters = self.counters(phases, count, cases.len());
        let arrays: Vec<DramArray> = (0..1 + self.index(3))
            .map(|a| DramArray {
                name: format!("{}{a}", self.name()),
                ty: self.ty(),
                dims: (0..self.index(4)).map(|_| self.int()).collect(),
                word: self.index(100) as u32,
                port: self.index(4) as u32,
                home: Home::ALL[self.index(4)],
            })
            .collect();
        let timed = if self.flag() { nodes } else { 0 };
        let mut delays = std::collections::BTreeMap::new();
        for n in 0..timed {
            if self.flag() {
                delays.insert(NodeId(n as u32), self.delay());
            }
        }
        let inputs: Vec<_> = (0..self.index(4)).map(|_| self.input(&arrays, count)).collect();
        let outputs: Vec<_> = (0..self.index(4)).map(|_| self.output(&arrays, count, phases)).collect();
        let common = Common { inputs: self.owners(inputs.len()), outputs: self.owners(outputs.len()) };
        Vsa {
            name: self.name(),
            functions: vec![],
            counters,
            tile_depth: depth,
            sizes: Default::default(),
            cases,
            axes: [self.name(), self.name()],
            extent: self.pair(),
            lanes: self.int(),
            ahead: self.int(),
            away: (0..self.index(3)).map(|_| self.int()).collect(),
            address_bits: if self.int() % 2 == 0 { 32 } else { 64 },
            lengths: self.flag(),
            unaligned: self.flag(),
            uram: self.flag(),
            overlap: self.flag(),
            fabric: [Fabric::Ecp5, Fabric::Series7, Fabric::Lut6][self.index(3)],
            nodes: (0..nodes).map(|_| Node { op: self.op(count), ty: self.ty(), name: self.name() }).collect(),
            inputs,
            outputs,
            common,
            remarks: Remarks::default(),
            arrays,
            scalars: (0..self.index(3))
                .map(|k| Scalar { name: self.name(), ty: self.ty(), after: k as u32, host: None })
                .collect(),
            schedule: Schedule {
                start: [(); 2].map(|_| self.start()),
                interval: self.int(),
                ready: self.list(timed),
                latency: self.list(timed),
                delays,
            },
        }
    }
}

#[test]
fn random() {
    let mut draw = Draw(Random(2024));
    for _ in 0..500 {
        round_trip(&draw.vsa());
    }
}

#[test]
fn a_port_left_out_is_one_of_its_own() {
    let mut vsa = stationary(&SMALL, [2, 0, 1], true);
    assert!(!to_text(&vsa).contains("word 4 port"));
    for (ports, text) in
        [([0, 1, 0], "word 4 port 0\n"), ([0, 1, 1], "word 4 port 1\n"), ([0, 0, 1], "word 4 port 0\n")]
    {
        vsa.arrays.iter_mut().zip(ports).for_each(|(a, p)| a.port = p);
        round_trip(&vsa);
        assert!(to_text(&vsa).contains(text), "{ports:?}");
    }
}

#[test]
fn faults_name_the_line() {
    let text = to_text(&stationary(&SMALL, [2, 0, 1], true));
    let fails = |from: &str, to: &str, part: &str| {
        assert!(text.contains(from), "{from}");
        let broken = text.replacen(from, to, 1);
        let line = text[..text.find(from).unwrap()].matches('\n').count() + 1;
        let fault = parse(&broken).unwrap_err();
        assert!(fault.contains(part), "{fault}");
        assert!(fault.starts_with(&format!("line {line}: ")), "{fault}, expected line {line}");
    };
    fails("lanes 2", "lanes two", "expected a number, found `two`");
    fails("lanes 2", "lanes 2 3", "expected the end of the line, found 3");
    fails("lanes 2", "lanes", "expected a number at the end");
    fails("interval 1", "lanes 1", "second `lanes`");
    fails("k.tile 3", "\"k.tile 3", "does not end");
    fails("word 8", "word 8589934592", "too large");
    fails("word 8", "word 8 bus 1", "expected the end of the line, found `bus`");
    fails("i16[7]", "j16[7]", "no type `j16`");
    fails("%3 a", "%9 a", "node %9, expected %3");
    fails("mul %3", "mull %3", "no operation `mull`");
    fails("*k.time + 8", "*l.time + 8", "no `l.time` is known here");
    fails("+ 8 >= 0", "+ 8 >= 1", "expected 0, found 1");
    fails("+ 8 >= 0", "+ 8 ; 0", "expected `>=`, found `;`");
    fails("input 1 B", "input 1 D", "no array `D`");
    fails("input 1 B", "input 2 B", "input 2, expected 1");
    fails("hop (0, 0)", "hop (0)", "expected a pair, found 1 numbers");
    fails("  emit", "  omit", "`omit` does not belong to an output");
    let cut = text.find("  reload").unwrap();
    assert!(parse(&text[..cut]).unwrap_err().contains("no `reload`"));
    assert!(parse("").unwrap_err().contains("no `vsa`"));
}

#[test]
fn nothing_panics() {
    let text = to_text(&stationary(&SMALL, [2, 0, 1], true));
    let mut random = Random(77);
    for _ in 0..2000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + random.next() % 4 {
            let at = random.next() as usize % bytes.len();
            let other = bytes[random.next() as usize % bytes.len()];
            bytes[at] = other;
        }
        if let Ok(vsa) = parse(&String::from_utf8(bytes).unwrap()) {
            // Neither does the verifier, nor what relies on its first part.
            let structural = array::verify::well_formed(&vsa).is_empty();
            assert!(structural || vsa.verify().is_err());
            if structural {
                draw::draw(&vsa);
            }
        }
    }
}
