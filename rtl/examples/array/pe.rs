//! The PE of the example and of tests.

use rtl::{s, u, Design, ModuleBuilder, Sig, Template};

/// One processing element: `simd` products a cycle, summed into an accumulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Pe {
    /// Bits of an operand.
    pub data: u32,
    pub simd: u32,
    /// Bits of the accumulator.
    pub acc: u32,
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
