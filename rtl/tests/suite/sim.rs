//! The simulator on small designs with exact results.

use crate::pe::Pe;
use crate::support::Rng;
use rtl::sim::{Init, Sim};
use rtl::{u, Design, MemStyle, ModuleBuilder, Sig, Template, Verified};

#[derive(Clone, Debug, PartialEq)]
struct Array {
    n: [u32; 2],
    pe: Pe,
    grid: bool,
}

impl Template for Array {
    fn name(&self) -> String {
        "array".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let pe = d.module(self.pe.clone());
        let vec = u(self.pe.data * self.pe.simd);
        let (first, valid) = (m.input("first", u(1)), m.input("valid", u(1)));
        let [r, c] = self.n;
        let a: Vec<_> = (0..r).map(|i| m.delay(m.input(format!("a_{i}"), vec), i, format!("a_skew_{i}"))).collect();
        let b: Vec<_> = (0..c).map(|j| m.delay(m.input(format!("b_{j}"), vec), j, format!("b_skew_{j}"))).collect();
        let f: Vec<_> = (0..r).map(|i| m.delay(first, i, format!("first_skew_{i}"))).collect();
        let v: Vec<_> = (0..r).map(|i| m.delay(valid, i, format!("valid_skew_{i}"))).collect();
        if self.grid {
            let g = m.grid(d, "pe", &pe, self.n);
            g.link("first_out", "first", [0, 1], |i, _| f[i as usize])
                .link("valid_out", "valid", [0, 1], |i, _| v[i as usize])
                .link("a_out", "a_in", [0, 1], |i, _| a[i as usize])
                .link("b_out", "b_in", [1, 0], |_, j| b[j as usize]);
            m.output("acc", g.out("acc_out"));
            return;
        }
        let mut col = b.clone();
        let mut accs = vec![];
        for i in 0..r as usize {
            let (mut row, mut ff, mut vv) = (a[i], f[i], v[i]);
            for (j, b) in col.iter_mut().enumerate() {
                let p = m.instance(d, format!("pe_{i}_{j}"), &pe);
                p.set("first", ff).set("valid", vv).set("a_in", row).set("b_in", *b);
                (row, *b, ff, vv) = (p.out("a_out"), p.out("b_out"), p.out("first_out"), p.out("valid_out"));
                accs.push(p.out("acc_out"));
            }
        }
        accs.reverse();
        m.output("acc", m.concat(&accs));
    }
}

fn random(x: &mut u64) -> u64 {
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    *x
}

/// An output-stationary product of random int8 matrices of inner length `k * simd`.
fn run_array(n: [u32; 2], simd: u32, grid: bool) {
    let mut d = Design::default();
    let top = d.module(Array { n, pe: Pe { data: 8, simd, acc: 32 }, grid });
    let mut sim = Sim::new(&d.verify().unwrap(), &top).unwrap();
    let k = 5;
    let mut x = 99;
    let mut want = vec![0i64; (n[0] * n[1]) as usize];
    for t in 0..k + n[0] + n[1] + 2 {
        sim.set("first", u64::from(t == 0));
        sim.set("valid", u64::from(t < k));
        let mut side = |axis: char, n: u32| -> Vec<Vec<u8>> {
            (0..n)
                .map(|i| {
                    let bytes: Vec<u8> = (0..simd).map(|_| if t < k { random(&mut x) as u8 } else { 0 }).collect();
                    let mut limbs = vec![0u64; bytes.len().div_ceil(8)];
                    bytes.iter().enumerate().for_each(|(q, b)| limbs[q / 8] |= u64::from(*b) << (q % 8 * 8));
                    sim.set_wide(&format!("{axis}_{i}"), &limbs);
                    bytes
                })
                .collect()
        };
        let (a, b) = (side('a', n[0]), side('b', n[1]));
        for (p, w) in want.iter_mut().enumerate() {
            let (a, b) = (&a[p / n[1] as usize], &b[p % n[1] as usize]);
            *w += a.iter().zip(b).map(|(x, y)| i64::from(*x as i8) * i64::from(*y as i8)).sum::<i64>();
        }
        sim.step();
    }
    let got = sim.get_wide("acc");
    for (p, w) in want.iter().enumerate() {
        let g = (got[p / 2] >> (p % 2 * 32)) as u32 as i32;
        assert_eq!(i64::from(g), *w, "element {p} of {n:?} x {simd}, grid {grid}");
    }
}

#[test]
fn arrays_of_any_shape_multiply_matrices() {
    for n in [[1, 1], [1, 3], [3, 1], [3, 4], [5, 2]] {
        for simd in [1, 2, 9] {
            run_array(n, simd, false);
            run_array(n, simd, true);
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Stage;

impl Template for Stage {
    fn name(&self) -> String {
        "stage".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let (x, ready) = (m.input("x", u(8)), m.input("ready_in", u(1)));
        let q = m.reg("q", u(8)).next(x).en(ready);
        m.output("y", q.q());
        m.output("ready_out", ready & !x.eq_lit(7));
        m.output("sum", x + q.q());
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Chain(u32);

impl Template for Chain {
    fn name(&self) -> String {
        "chain".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let stage = d.module(Stage);
        let (x, ready) = (m.input("x", u(8)), m.input("ready", u(1)));
        let g = m.grid(d, "st", &stage, [1, self.0]);
        g.link("y", "x", [0, 1], |_, _| x).link("ready_out", "ready_in", [0, -1], |_, _| ready);
        m.output("ready_all", g.out_at("ready_out", 0, 0));
        m.output("y", g.out_at("y", 0, self.0 - 1));
    }
}

#[test]
fn a_combinational_chain_through_identical_modules_settles() {
    let mut d = Design::default();
    let top = d.module(Chain(4));
    let mut sim = Sim::with_init(&d.verify().unwrap(), &top, Init::Zero).unwrap();
    let mut line = [0u8; 4];
    for (t, x) in [1u8, 2, 7, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9].into_iter().enumerate() {
        sim.set("x", u64::from(x));
        sim.set("ready", u64::from(t % 5 != 4));
        let mut ready = t % 5 != 4;
        let before = line;
        for k in (0..4).rev() {
            let input = if k == 0 { x } else { before[k - 1] };
            if ready {
                line[k] = input;
            }
            ready = ready && input != 7;
        }
        assert_eq!(sim.get("ready_all"), u64::from(ready), "cycle {t}");
        sim.clock();
        assert_eq!(sim.get("y"), u64::from(line[3]), "cycle {t}");
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Memories;

impl Template for Memories {
    fn name(&self) -> String {
        "memories".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let (en, addr, data) = (m.input("en", u(1)), m.input("addr", u(3)), m.input("data", u(100)));
        let mem = m.mem("mem", 6, 100, MemStyle::Distributed);
        mem.write_masked(en, addr, data, m.input("mask", u(4)), 25);
        m.output("now", mem.read_async("now_data", addr));
        m.output("later", mem.read_sync("later_data", m.lit(1, u(1)), addr));
        let (p, q) = (m.reg("p", u(8)), m.reg("q", u(8)));
        let load = m.input("load", u(1));
        p.next(m.mux(load, m.lit(3, u(8)), q.q()));
        q.next(p.q());
        let ring = m.reg("r0", u(8));
        let r1 = m.reg("r1", u(8)).next(ring.q()).rst(load, 5);
        ring.next(r1.q()).rst(load, 9);
        m.output("pq", m.concat(&[p.q(), q.q(), ring.q(), r1.q()]));
    }
}

#[test]
fn memories_mask_writes_and_read_old_data_and_registers_swap() {
    let mut d = Design::default();
    let top = d.module(Memories);
    let mut sim = Sim::new(&d.verify().unwrap(), &top).unwrap();
    assert_eq!(sim.memories().collect::<Vec<_>>(), ["mem"]);
    assert!(sim.set_mem_word("mem", 2, &[0, 0]));
    assert!(!sim.set_mem_word("mem", 6, &[0, 0]));
    sim.set("en", 1);
    sim.set("addr", 2);
    sim.set("mask", 0b1010);
    sim.set_wide("data", &[!0, !0]);
    sim.set("load", 1);
    assert_eq!(sim.get_wide("now"), [0, 0]);
    sim.clock();
    let want: u128 = ((1 << 25) - 1) << 25 | ((1 << 25) - 1) << 75;
    assert_eq!(sim.get_wide("later"), [0, 0]);
    assert_eq!(sim.get_wide("now"), [want as u64, (want >> 64) as u64]);
    assert_eq!(sim.mem_word("mem", 2), Some(&[want as u64, (want >> 64) as u64][..]));
    sim.set("load", 0);
    sim.clock();
    assert_eq!(sim.get_wide("later"), [want as u64, (want >> 64) as u64]);
    assert_eq!(sim.get("pq") & 0xffff, 0x0509);
    sim.clock();
    assert_eq!(sim.get("pq") & 0xffff, 0x0905);
}

#[test]
fn waveforms_name_every_instance_and_write_only_changes() {
    use rtl::sim::vcd::Vcd;
    let mut d = Design::default();
    let top = d.module(Chain(3));
    let mut sim = Sim::traced(&d.verify().unwrap(), &top, Init::Zero).unwrap();
    let mut text = vec![];
    let mut vcd = Vcd::new(&mut text, &sim, top.as_str(), |_| true).unwrap();
    sim.set("ready", 1);
    for x in [5, 5, 5, 5, 5] {
        sim.set("x", x);
        vcd.sample(&mut sim).unwrap();
        sim.clock();
    }
    vcd.finish().unwrap();
    assert_eq!(sim.signal_named("st[0][1].q").map(|b| b.low_u128()), Some(5));
    let text = String::from_utf8(text).unwrap();
    for line in ["$scope module chain $end", "$scope module st[0][2] $end", "b101 "] {
        assert!(text.contains(line), "{text}");
    }
    let var = text.lines().find(|l| l.ends_with(" q [7:0] $end")).unwrap().split(' ').nth(3).unwrap().to_string();
    let changes: Vec<&str> = text.lines().filter(|l| l.ends_with(&format!(" {var}"))).collect();
    assert_eq!(changes, [format!("b0 {var}"), format!("b101 {var}")]);
}

#[derive(Clone, Debug, PartialEq)]
struct TwoPorts;

impl Template for TwoPorts {
    fn name(&self) -> String {
        "two_ports".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let mem = m.mem("mem", 4, 8, MemStyle::Distributed);
        let addr = m.lit(1, u(2));
        mem.write(m.input("en", u(1)), addr, m.input("low", u(8)));
        mem.write(m.input("over", u(1)), addr, m.input("high", u(8)));
        m.output("now", mem.read_async("now_data", addr));
    }
}

#[test]
fn a_port_with_constant_inputs_writes_again_after_an_overwrite() {
    let mut d = Design::default();
    let top = d.module(TwoPorts);
    let mut sim = Sim::new(&d.verify().unwrap(), &top).unwrap();
    for (name, value) in [("en", 1), ("low", 3), ("over", 1), ("high", 9)] {
        sim.set(name, value);
    }
    sim.step();
    assert_eq!(sim.get("now"), 9);
    sim.set("over", 0);
    sim.step();
    assert_eq!(sim.get("now"), 3);
    assert!(sim.set_mem_word("mem", 1, &[7]));
    assert_eq!(sim.get("now"), 7);
    sim.step();
    assert_eq!(sim.get("now"), 3);
}

/// A register, a memory and a mask that want the same square in some cycles only.
#[derive(Clone, Debug, PartialEq)]
struct Wanted;

impl Template for Wanted {
    fn name(&self) -> String {
        "wanted".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let (x, en, mask) = (m.input("x", u(16)), m.input("en", u(1)), m.input("mask", u(4)));
        let square = (x * x).truncate(16) + x;
        m.output("sum", m.reg("sum_q", u(16)).en(en).next(square ^ m.lit(21, u(16))).q());
        let mem = m.mem("mem", 8, 64, MemStyle::Block);
        let word = m.concat(&[x + square, square, x, x - square]);
        mem.write_masked(m.lit(1, u(1)), (x + square).slice(2, 3), word, mask, 16);
        m.output("read", mem.read_sync("read_q", m.lit(1, u(1)), x.slice(0, 3)));
        let masked =
            m.reg("masked_q", u(16)).next((square + x.shl_const(3)) & m.repeat(m.reg("en_q", u(1)).next(en).q(), 16));
        m.output("masked", masked.q());
    }
}

/// Two instances, because the operations of a single one have no guards.
#[derive(Clone, Debug, PartialEq)]
struct BothWanted;

impl Template for BothWanted {
    fn name(&self) -> String {
        "both_wanted".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let wanted = d.module(Wanted);
        let g = m.grid(d, "w", &wanted, [1, 2]);
        g.set("x", m.input("x", u(16))).set("en", m.input("en", u(1))).set("mask", m.input("mask", u(4)));
        for port in ["sum", "read", "masked"] {
            (0..2).for_each(|j| m.output(format!("{port}_{j}"), g.out_at(port, 0, j)));
        }
    }
}

/// Compares with a traced simulation, which computes every value in every cycle.
fn same_as_traced(d: &Verified, top: &rtl::ModuleName, seed: u64, cycles: usize) {
    let mut both = [Sim::new(d, top).unwrap(), Sim::traced(d, top, Init::Garbage(1)).unwrap()];
    let ports: Vec<_> = both[0].ports().map(|(name, ty, input)| (name.to_string(), ty, input)).collect();
    let mut r = Rng(seed | 1);
    let mut now: Vec<[u64; 4]> = vec![[0; 4]; ports.len()];
    for t in 0..cycles {
        for ((name, ty, _), value) in ports.iter().zip(&mut now).filter(|(p, _)| p.2) {
            // Narrow inputs are enables: they change rarely, so guards stay zero for long.
            if r.below(if ty.w < 5 { 8 } else { 2 }) == 0 {
                *value = [0; 4].map(|_| r.next());
            }
            both.iter_mut().for_each(|sim| sim.set_wide(name, value));
        }
        for (name, ..) in ports.iter().filter(|p| !p.2) {
            let [plain, traced] = &mut both;
            assert_eq!(plain.get_wide(name), traced.get_wide(name), "seed {seed}, cycle {t}: {name}");
        }
        both.iter_mut().for_each(Sim::clock);
    }
}

#[test]
fn guarded_values_are_right_when_they_are_wanted_again() {
    let mut d = Design::default();
    let top = d.module(BothWanted);
    let d = d.verify().unwrap();
    (1..20).for_each(|seed| same_as_traced(&d, &top, seed, 200));
    for seed in 1..30 {
        let mut d = Design::default();
        let top = d.module(crate::support::Random { seed, nodes: 60, depth: 2 });
        same_as_traced(&d.verify().unwrap(), &top, seed, 60);
    }
}

/// Picks element `index` of a word of eight.
#[derive(Clone, Debug, PartialEq)]
struct Pick;

fn tree<'m>(m: &'m ModuleBuilder, index: Sig<'m>, parts: &[Sig<'m>]) -> Sig<'m> {
    let half = parts.len() / 2;
    match parts {
        [part] => *part,
        _ => m.mux(index.bit(half.trailing_zeros()), tree(m, index, &parts[half..]), tree(m, index, &parts[..half])),
    }
}

impl Template for Pick {
    fn name(&self) -> String {
        "pick".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let (word, index) = (m.input("word", u(160)), m.input("index", u(5)));
        let whole: Vec<_> = (0..8).map(|k| word.slice(k * 16, 16)).collect();
        // Parts that cross words of the storage, and an index that starts above bit 0.
        let across: Vec<_> = (0..4).map(|k| word.slice(k * 40, 40)).collect();
        m.output("whole", tree(m, index, &whole));
        m.output("across", tree(m, index.slice(3, 2), &across));
        m.output("upper", tree(m, index.slice(2, 3), &whole));
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Picks;

impl Template for Picks {
    fn name(&self) -> String {
        "picks".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let pick = d.module(Pick);
        let g = m.grid(d, "p", &pick, [1, 3]);
        g.set("word", m.reg("word_q", u(160)).next(m.input("word", u(160))).q());
        let index: Vec<_> = (0..3).map(|k| m.input(format!("index_{k}"), u(5))).collect();
        g.set_each("index", |_, j| index[j as usize]);
        for port in ["whole", "across", "upper"] {
            (0..3).for_each(|j| m.output(format!("{port}_{j}"), g.out_at(port, 0, j)));
        }
    }
}

#[test]
fn a_tree_of_multiplexers_picks_the_right_part_in_every_lane() {
    let mut d = Design::default();
    let top = d.module(Picks);
    let mut sim = Sim::new(&d.verify().unwrap(), &top).unwrap();
    let mut r = Rng(5);
    for _ in 0..100 {
        let word = rtl::Bits::from_limbs(&[r.next(), r.next(), r.next()], 160);
        sim.set_wide("word", word.limbs());
        sim.clock();
        let index: Vec<u32> = (0..3).map(|_| r.below(32) as u32).collect();
        index.iter().enumerate().for_each(|(k, i)| sim.set(&format!("index_{k}"), u64::from(*i)));
        for (k, i) in index.iter().enumerate() {
            for (port, lo, w) in [("whole", i % 8 * 16, 16), ("across", i / 8 * 40, 40), ("upper", i / 4 * 16, 16)] {
                assert_eq!(sim.get(&format!("{port}_{k}")), word.slice(lo, w).limbs()[0], "{port} {i}");
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Spared;

impl Template for Spared {
    fn name(&self) -> String {
        "spared".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let count = m.reg("count", u(70)).en(m.input("en", u(1))).init(5);
        m.output("count_out", count.next(count.q().add_lit(1)).q());
    }
}

/// A register without reset starts with its initial value, in simulation and in Verilog.
#[test]
fn initial_values_are_no_garbage() {
    let mut d = Design::default();
    let top = d.module(Spared);
    let d = d.verify().unwrap();
    let mut sim = Sim::new(&d, &top).unwrap();
    sim.set("en", 0);
    sim.step();
    sim.set("en", 1);
    sim.step();
    assert_eq!(sim.get_wide("count_out"), [6, 0]);
    assert!(rtl::verilog::files(&d)[0].1.contains("initial count = 70'"));
}

#[derive(Clone, Debug, PartialEq)]
struct Counting;

impl Template for Counting {
    fn name(&self) -> String {
        "counting".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let (rst, up) = (m.input("rst", u(1)), m.input("up", u(1)));
        let count = m.reg("count", u(4)).rst(rst, 0).en(up);
        count.next(count.q().add_lit(1));
        m.assert(rst, "it counts to 2 at most", count.q().le(m.lit(2, u(4))));
        m.output("some", count.q().reduce_or());
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Three;

impl Template for Three {
    fn name(&self) -> String {
        "three".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let counting = d.module(Counting);
        let (rst, up) = (m.input("rst", u(1)), m.input("up", u(3)));
        let each = |k: u32| {
            let i = m.instance(d, format!("c{k}"), &counting);
            i.set("rst", rst).set("up", up.slice(k, 1)).out("some")
        };
        m.output("some", m.any(&(0..3).map(each).collect::<Vec<_>>()));
    }
}

/// An assertion is checked in every instance from the first reset onwards. It is not part of the hardware.
#[test]
fn violated_assertions_are_reported() {
    let mut d = Design::default();
    let top = d.module(Three);
    let design = d.verify().unwrap();
    let mut sim = Sim::new(&design, &top).unwrap();
    let mut run = |rst: u64, up: u64, cycles: u32| {
        sim.set("rst", rst);
        sim.set("up", up);
        (0..cycles).for_each(|_| sim.clock());
        sim.take_broken()
    };
    let none = Vec::<String>::new();
    assert_eq!(
        (run(0, 7, 20), run(1, 7, 2), run(0, 0b101, 2), run(0, 0, 3)),
        (none.clone(), none.clone(), none.clone(), none.clone())
    );
    assert_eq!(run(0, 0b100, 2), ["c2: it counts to 2 at most"]);
    assert_eq!(run(1, 7, 1), none);
    assert_eq!(run(0, 0, 5), none);
    let text: String = rtl::verilog::files(&design).into_iter().map(|f| f.1).collect();
    assert!(!text.contains("at most") && text.matches("always").count() == 1, "{text}");
}
