//! The simulator on small designs with known answers.

use rtl::sim::{Init, Sim};
use rtl::{s, u, Design, MemStyle, ModuleBuilder, Sig, Template};

#[derive(Debug)]
struct Pe {
    data: u32,
    simd: u32,
    acc: u32,
}

impl Template for Pe {
    fn name(&self) -> String {
        "pe".into()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        let vec = u(self.data * self.simd);
        let (first, valid) = (m.input("first", u(1)), m.input("valid", u(1)));
        let (a, b) = (m.input("a_in", vec), m.input("b_in", vec));
        let lane = |x: Sig<'m>, i| x.slice(i * self.data, self.data).signed();
        let products: Vec<_> = (0..self.simd).map(|i| (lane(a, i) * lane(b, i)).extend(self.acc)).collect();
        let acc = m.reg("acc", s(self.acc)).en(valid);
        acc.next(m.sum(&products) + m.mux(first, m.lit(0, s(self.acc)), acc.q()));
        m.output("first_out", m.reg("first_q", u(1)).next(first).q());
        m.output("valid_out", m.reg("valid_q", u(1)).next(valid).q());
        m.output("a_out", m.reg("a_q", vec).next(a).q());
        m.output("b_out", m.reg("b_q", vec).next(b).q());
        m.output("acc_out", acc.q());
    }
}

#[derive(Debug)]
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
        let pe = d.module(&self.pe);
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
    let top = d.module(&Array { n, pe: Pe { data: 8, simd, acc: 32 }, grid });
    let mut sim = Sim::new(&d, &top).unwrap();
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

#[derive(Debug)]
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

#[derive(Debug)]
struct Chain(u32);

impl Template for Chain {
    fn name(&self) -> String {
        "chain".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let stage = d.module(&Stage);
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
    let top = d.module(&Chain(4));
    let mut sim = Sim::with_init(&d, &top, Init::Zero).unwrap();
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

#[derive(Debug)]
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
    let top = d.module(&Memories);
    let mut sim = Sim::new(&d, &top).unwrap();
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
    let top = d.module(&Chain(3));
    let mut sim = Sim::traced(&d, &top, Init::Zero).unwrap();
    let mut text = vec![];
    let mut vcd = Vcd::new(&mut text, &sim, top.as_str()).unwrap();
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
