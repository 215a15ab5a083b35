//! Cycles a second of the built-in simulator, and of Verilator if it is installed, on an array of 13×16 PEs with eight
//! int16 lanes each.
//!
//! `cargo bench -p rtl --bench speed [-- ROWS COLS] [--built-in]`

use rtl::sim::Sim;
use rtl::{s, u, Design, ModuleBuilder, Sig, Template};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

#[derive(Clone, Debug, PartialEq)]
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
        let (aq, bq) = (m.reg("a_q", vec).next(a).q(), m.reg("b_q", vec).next(b).q());
        let lane = |x: Sig<'m>, i| x.slice(i * self.data, self.data).signed();
        let products: Vec<_> = (0..self.simd)
            .map(|i| {
                let p = lane(aq, i) * lane(bq, i);
                m.reg(format!("p{i}"), p.ty()).next(p).q().extend(self.acc)
            })
            .collect();
        let total = m.sum(&products);
        let total = m.reg("total", total.ty()).next(total).q();
        let (f, v) = (m.delay(first, 3, "first_d"), m.delay(valid, 3, "valid_d"));
        let acc = m.reg("acc", s(self.acc)).en(v);
        acc.next(total + m.mux(f, m.lit(0, s(self.acc)), acc.q()));
        m.output("first_out", m.reg("first_q", u(1)).next(first).q());
        m.output("valid_out", m.reg("valid_q", u(1)).next(valid).q());
        m.output("a_out", aq);
        m.output("b_out", bq);
        m.output("acc_out", acc.q());
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Array {
    n: [u32; 2],
    pe: Pe,
}

impl Template for Array {
    fn name(&self) -> String {
        "array".into()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, d: &mut Design) {
        let pe = d.module(self.pe.clone());
        let w = self.pe.data * self.pe.simd;
        let [r, c] = self.n;
        let seed = m.input("seed", u(64));
        let skew = |x: Sig<'m>, n: u32, name: &str| m.delay(x, n, name);
        let word = |k: u32| {
            let x = m.reg(format!("noise_{k}"), u(64));
            x.next(
                seed ^ m.lit(u64::from(k) * 0x9e37_79b9, u(64)) ^ m.concat(&[x.q().slice(0, 51), x.q().slice(51, 13)]),
            );
            m.concat(&[x.q(), x.q() + seed]).truncate(w)
        };
        let a: Vec<_> = (0..r).map(|i| skew(word(i), i, &format!("a_{i}"))).collect();
        let b: Vec<_> = (0..c).map(|j| skew(word(r + j), j, &format!("b_{j}"))).collect();
        let (first, valid) = (m.input("first", u(1)), m.input("valid", u(1)));
        let f: Vec<_> = (0..r).map(|i| skew(first, i, &format!("f_{i}"))).collect();
        let v: Vec<_> = (0..r).map(|i| skew(valid, i, &format!("v_{i}"))).collect();
        let g = m.grid(d, "pe", &pe, self.n);
        g.link("first_out", "first", [0, 1], |i, _| f[i as usize])
            .link("valid_out", "valid", [0, 1], |i, _| v[i as usize])
            .link("a_out", "a_in", [0, 1], |i, _| a[i as usize])
            .link("b_out", "b_in", [1, 0], |_, j| b[j as usize]);
        let accs: Vec<_> = (0..r * c).map(|p| g.out_at("acc_out", p / c, p % c).unsigned()).collect();
        let check = m.tree(&accs, |x, y| x ^ y);
        m.output("check", m.reg("check_q", u(self.pe.acc)).next(check).q());
    }
}

const MAIN: &str = r#"
#include "Varray.h"
#include "verilated.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
int main(int, char** v) {
    Varray t;
    long n = atol(v[1]);
    unsigned long x = 88172645463325252ul;
    auto begin = std::chrono::steady_clock::now();
    for (long c = 0; c < n; c++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        t.seed = x; t.first = c % 64 == 0; t.valid = 1;
        t.aclk = 0; t.eval(); t.aclk = 1; t.eval();
    }
    double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    printf("%08x %f\n", t.check, s);
}
"#;

fn verilator(d: &rtl::Verified, cycles: u64) -> Option<(String, f64, f64)> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speed");
    std::fs::create_dir_all(&dir).ok()?;
    for (name, text) in rtl::verilog::files(d) {
        std::fs::write(dir.join(name), text).ok()?;
    }
    std::fs::write(dir.join("main.cpp"), MAIN).ok()?;
    let begin = Instant::now();
    let args = "--cc --exe --build -O3 -CFLAGS -O2 --x-initial 0 --x-assign 0 --top-module array -Mdir obj array.v \
        pe.v main.cpp";
    let ok = Command::new("verilator").args(args.split(' ')).current_dir(&dir).output().ok()?.status.success();
    let build = begin.elapsed().as_secs_f64();
    if !ok {
        return None;
    }
    let out = Command::new(dir.join("obj/Varray")).arg(cycles.to_string()).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let (check, seconds) = text.trim().split_once(' ')?;
    Some((check.to_string(), seconds.parse().ok()?, build))
}

fn main() {
    let n: Vec<u32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let n = [n.first().copied().unwrap_or(13), n.get(1).copied().unwrap_or(16)];
    let cycles = 200_000;
    let mut d = Design::default();
    let top = d.module(Array { n, pe: Pe { data: 16, simd: 8, acc: 32 } });
    let begin = Instant::now();
    let d = d.verify().unwrap_or_else(|f| panic!("{f:#?}"));
    let mut sim = Sim::with_init(&d, &top, rtl::sim::Init::Zero).unwrap_or_else(|f| panic!("{f:#?}"));
    let build = begin.elapsed().as_secs_f64();
    let (ops, words) = sim.size();
    let (seed, first, valid) = (sim.port("seed"), sim.port("first"), sim.port("valid"));
    let begin = Instant::now();
    let mut x = 88_172_645_463_325_252u64;
    for c in 0..cycles {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        sim.poke(seed, x);
        sim.poke(first, u64::from(c % 64 == 0));
        sim.poke(valid, 1);
        sim.clock();
    }
    let seconds = begin.elapsed().as_secs_f64();
    let check = format!("{:08x}", sim.get("check"));
    println!("{}x{}x8 int16, {cycles} cycles", n[0], n[1]);
    println!(
        "built in: {:8.0} cycles/s, compile {build:.3} s, {ops} operations, {words} words",
        cycles as f64 / seconds
    );
    if std::env::args().any(|a| a == "--built-in") {
        return;
    }
    match verilator(&d, cycles) {
        Some((c, s, b)) => {
            println!("Verilator: {:7.0} cycles/s, build {b:.1} s", cycles as f64 / s);
            assert_eq!(c, check, "both simulators end in the same state");
        }
        None => println!("Verilator: not installed or its build failed"),
    }
}
