//! Prints the Verilog of a small output-stationary array: `cargo run -p rtl --example array 2 3`.

use rtl::{s, u, Design, ModuleBuilder, Sig, Template};

/// One processing element: `simd` products a cycle, summed into an accumulator.
#[derive(Clone, Debug, PartialEq)]
struct Pe {
    data: u32,
    simd: u32,
    acc: u32,
}

impl Template for Pe {
    fn name(&self) -> String {
        format!("pe_i{}_x{}", self.data, self.simd)
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, _: &mut Design) {
        m.doc(format!("Output-stationary processing element: {} lanes of int{}.", self.simd, self.data));
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

/// A grid of them: `a` and the control travel along rows, `b` down columns.
#[derive(Clone, Debug, PartialEq)]
struct Array {
    rows: u32,
    cols: u32,
    pe: Pe,
}

impl Template for Array {
    fn name(&self) -> String {
        format!("array_{}x{}", self.rows, self.cols)
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        m.doc("Array without skew: the caller delays row i of `a` and column i of `b` by i cycles.");
        let pe = d.module(self.pe.clone());
        let w = self.pe.data * self.pe.simd;
        let (first, valid) = (m.input("first", u(self.rows)), m.input("valid", u(self.rows)));
        let (a, b) = (m.input("a", u(w * self.rows)), m.input("b", u(w * self.cols)));
        let g = m.grid(d, "pe", &pe, [self.rows, self.cols]);
        g.link("first_out", "first", [0, 1], |i, _| first.bit(i))
            .link("valid_out", "valid", [0, 1], |i, _| valid.bit(i))
            .link("a_out", "a_in", [0, 1], |i, _| a.slice(i * w, w))
            .link("b_out", "b_in", [1, 0], |_, j| b.slice(j * w, w));
        m.output("acc", g.out("acc_out"));
    }
}

fn main() {
    let n: Vec<u32> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let (rows, cols) = (n.first().copied().unwrap_or(2), n.get(1).copied().unwrap_or(3));
    let mut d = Design::default();
    d.module(Array { rows, cols, pe: Pe { data: 16, simd: 8, acc: 32 } });
    match d.verify() {
        Ok(d) => rtl::verilog::files(&d).iter().for_each(|f| print!("{}", f.1)),
        Err(faults) => {
            faults.iter().for_each(|f| eprintln!("error: {f}"));
            std::process::exit(1);
        }
    }
}
