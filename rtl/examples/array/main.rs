//! Prints the Verilog of a small output-stationary array: `cargo run -p rtl --example array 2 3`.

mod pe;

use pe::Pe;
use rtl::{u, Design, ModuleBuilder, Template};

/// A grid of PEs: `a` and the control travel along rows, `b` down columns.
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
