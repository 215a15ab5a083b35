//! The printed text: exact for a tiny module, lint clean for chains and grids.

use crate::support::{tool, write_design};
use rtl::{s, u, Design, MemStyle, ModuleBuilder, Template};

#[derive(Clone, Debug, PartialEq)]
struct Counter;

impl Template for Counter {
    fn name(&self) -> String {
        "counter".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        m.doc("Counts while `begin` is set; `wide` holds an input it does not use.");
        let (rst, begin) = (m.input("rst", u(1)), m.input("begin", u(1)));
        let wide = m.input("wide", u(12));
        m.input("spare", u(3));
        let n = m.reg("count", u(8)).rst(rst, 7).en(begin);
        n.next(n.q().add_lit(1));
        let limit = wide.slice(4, 8).named("reg");
        m.output("count", n.q());
        m.output("below", n.q().signed().lt(limit.signed()));
        m.output("neg", (n.q().signed() * m.lit(-3, s(4))).resize(10));
    }
}

const COUNTER: &str = "\
// Counts while `begin` is set; `wide` holds an input it does not use.
`default_nettype none
module counter (
    input  wire aclk,
    input  wire rst,
    input  wire begin_,
    input  wire [11:0] wide,
    input  wire [2:0] spare,
    output wire [7:0] count,
    output wire below,
    output wire [9:0] neg
);

    reg  [7:0] count_q;

    wire [7:0] reg_ = wide[11:4];
    wire [11:0] neg_product = $signed(count_q) * 4'shd;

    always @(posedge aclk) begin
        if (rst) begin
            count_q <= 8'd7;
        end else if (begin_) begin
            count_q <= count_q + 8'd1;
        end
    end

    assign count = count_q;
    assign below = $signed(count_q) < $signed(reg_);
    assign neg = neg_product[9:0];

    // Read by nothing else in this module (linters would report these nets).
    wire _unused = &{1'b0, neg_product, spare, wide};
endmodule
`default_nettype wire
";

#[test]
fn a_small_module_prints_readably() {
    let mut d = Design::default();
    d.module(Counter);
    let files = rtl::verilog::files(&d.verify().unwrap());
    assert_eq!(files[0].0, "counter.v");
    let (header, rest): (Vec<&str>, Vec<&str>) = files[0].1.lines().partition(|l| l.starts_with("// Module"));
    assert_eq!(rest.iter().map(|l| format!("{l}\n")).collect::<String>(), COUNTER);
    assert!(header[0].contains("`counter`") && header[0].ends_with("verilog::Counter."), "{header:?}");
}

/// Unnamed values with several readers.
#[derive(Clone, Debug, PartialEq)]
struct Shared;

impl Template for Shared {
    fn name(&self) -> String {
        "shared".into()
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let [a, b, c] = ["a", "b", "c"].map(|name| m.input(name, u(8)));
        // Two equal expressions are one net, named after its operands.
        let [below, again] = [0, 0].map(|_| a.lt(b));
        m.output("both", m.concat(&[below, again & c.bit(0)]));
        // Too long for such a name: named after its sink, or by its hint.
        let long = (a + b + c) & (a - b - c) & (b + c);
        m.reg("kept", u(8)).next(long).rst(below, 0);
        let sum = m.reg("sum", u(8));
        m.output("sum", sum.next(long + (long ^ (a + a + a + a))).q());
        let rest = ((b + b + b + b) ^ (c + c + c + c)).called("rest");
        m.output("twice", m.concat(&[rest, rest]));
        m.output("parts", m.concat(&[rest.slice(0, 3), rest.slice(4, 4)]));
        // Readers of a wire's driver read the wire.
        let (wire, value) = (m.wire("go", u(1)), a.eq(c));
        wire.drive(value);
        m.output("started", m.mux(value, a, b));
        m.output("wide", m.concat(&[a.extend(16), a.extend(16)]));
    }
}

#[test]
fn common_subexpressions_become_one_net_with_a_descriptive_name() {
    let mut d = Design::default();
    d.module(Shared);
    let text = &rtl::verilog::files(&d.verify().unwrap())[0].1;
    for line in [
        "wire a_below_b = a < b;",
        "wire go = a == c;",
        "assign started = go ? a : b;",
        "wire [7:0] sum_term = (((a + b) + c) & ((a - b) - c)) & (b + c);",
        "wire [7:0] rest = (((b + b) + b) + b) ^ (((c + c) + c) + c);",
        "assign both = {a_below_b, a_below_b & c[0]};",
        "assign twice = {2{rest}};",
        "assign wide = {2{{8'd0, a}}};",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(text.matches("a < b").count(), 1, "{text}");
}

/// A stage of a ready/valid pipeline; `ready` passes combinationally from the next stage.
#[derive(Clone, Debug, PartialEq)]
struct Stage {
    w: u32,
}

impl Template for Stage {
    fn name(&self) -> String {
        format!("stage_{}", self.w)
    }
    fn build(&self, m: &ModuleBuilder, _: &mut Design) {
        let rst = m.input("rst", u(1));
        let (valid, data) = (m.input("valid_in", u(1)), m.input("data_in", u(self.w)));
        let next_ready = m.input("ready_in", u(1));
        let full = m.reg("full", u(1)).rst(rst, 0);
        let ready = !full.q() | next_ready;
        full.next(m.mux(ready, valid, full.q()));
        let held = m.reg("held", u(self.w)).en(ready & valid).next(data);
        let mem = m.mem("seen", 10, self.w, MemStyle::Distributed);
        let at = m.reg("at", mem.addr_ty()).rst(rst, 0).en(ready & valid);
        at.next(m.mux(at.q().eq_lit(9), m.lit(0, mem.addr_ty()), at.q().add_lit(1)));
        mem.write_masked(ready & valid, at.q(), data, m.input("mask", u(2)), self.w / 2);
        m.output("old", mem.read_async("old_data", at.q()));
        m.output("ready_out", ready);
        m.output("valid_out", full.q());
        m.output("data_out", held.q());
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Chain {
    n: [u32; 2],
}

impl Template for Chain {
    fn name(&self) -> String {
        format!("chain_{}x{}", self.n[0], self.n[1])
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let stage = d.module(Stage { w: 16 });
        let [r, c] = self.n;
        let (rst, ready) = (m.input("rst", u(1)), m.input("ready_in", u(r)));
        let (valid, data) = (m.input("valid_in", u(r)), m.input("data_in", u(16 * r)));
        let g = m.grid(d, "st", &stage, self.n);
        g.set("rst", rst)
            .set_each("mask", |i, j| m.lit((i + j) % 3 + 1, u(2)))
            .link("valid_out", "valid_in", [0, 1], |i, _| valid.bit(i))
            .link("data_out", "data_in", [0, 1], |i, _| data.slice(16 * i, 16))
            .link("ready_out", "ready_in", [0, -1], |i, _| ready.bit(i));
        let rows = |port: &str, j: u32| m.concat(&(0..r).rev().map(|i| g.out_at(port, i, j)).collect::<Vec<_>>());
        m.output("ready_out", rows("ready_out", 0));
        m.output("valid_out", rows("valid_out", c - 1));
        m.output("data_out", rows("data_out", c - 1));
    }
}

#[test]
fn chains_and_grids_pass_the_linters_without_waivers() {
    for n in [[1, 5], [4, 1], [3, 4], [1, 1]] {
        let mut d = Design::default();
        let top = d.module(Chain { n });
        let d = d.verify().unwrap();
        let (dir, files) = write_design(&d, top.as_str());
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let mut args = vec!["--lint-only", "-Wall", "--top-module", top.as_str()];
        args.extend(&files);
        let (ok, text) = tool("verilator", &args, &dir);
        assert!(ok && text.is_empty(), "{text}");
        let mut args = vec!["-g2005", "-Wall", "-o", "out.vvp"];
        args.extend(&files);
        let (ok, text) = tool("iverilog", &args, &dir);
        assert!(ok && text.is_empty(), "{text}");
        let script =
            format!("read_verilog {}; hierarchy -check -top {top}; proc; flatten; check -assert", files.join(" "));
        let (ok, text) = tool("yosys", &["-q", "-p", &script], &dir);
        assert!(ok, "{text}");
    }
}

#[test]
fn a_large_grid_stays_small_and_equal_inputs_give_equal_bytes() {
    let print = || {
        let mut d = Design::default();
        d.module(Chain { n: [32, 32] });
        rtl::verilog::files(&d.verify().unwrap())
    };
    let files = print();
    assert_eq!(files, print());
    let lines: usize = files.iter().map(|f| f.1.lines().count()).sum();
    assert!(lines < 400, "{lines} lines");
    assert!(files.iter().all(|f| f.1.lines().all(|l| l.len() <= 160)));
}
