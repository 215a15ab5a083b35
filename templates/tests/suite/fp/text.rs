//! The printed Verilog of the cores: linted by Verilator, simulated by Icarus on a sample.

use super::bench::{interpreted, operand_bits, result_bits};
use super::vectors::{hard, integer, Random};
use rtl::Design;
use scop::value::mask;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use templates::fp::{Core, Format, Operator, Relation};

const VECTORS: usize = 400;

fn cores() -> Vec<Core> {
    let mut cores = vec![];
    for format in [Format::FP16, Format::BF16, Format::FP32] {
        let mut one = |operator, latency| cores.push(Core { operator, format, latency });
        one(Operator::Add, 6);
        one(Operator::Sub, 4);
        one(Operator::Mul, 5);
        one(Operator::Fma, 11);
        one(Operator::Div, format.fraction + 9);
        one(Operator::Sqrt, format.fraction + 7);
        one(Operator::Compare(Relation::Le), 1);
        one(Operator::Compare(Relation::Ne), 2);
        one(Operator::Min, 1);
        one(Operator::Max, 1);
        one(Operator::ToBool, 1);
        for (bits, signed) in [(8, true), (32, true), (32, false), (64, true)] {
            one(Operator::FromInt { bits, signed }, 3);
            one(Operator::ToInt { bits, signed }, 3);
        }
        for from in [Format::FP16, Format::BF16, Format::FP32] {
            if from != format {
                one(Operator::FromFloat(from), 3);
            }
        }
    }
    cores
}

/// Runs a tool; its output, which must be empty for a linter.
fn tool(name: &str, arguments: &[&str], folder: &Path) -> String {
    let out = Command::new(name).args(arguments).current_dir(folder).output().unwrap_or_else(|e| panic!("{name}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{name} {arguments:?}: {text}");
    // Later Verilators close every run with a report: lines that start with "- ".
    text.lines().filter(|l| !l.starts_with("- ")).map(|l| format!("{l}\n")).collect::<String>().trim_start().to_string()
}

/// A bench that applies a vector a cycle, registers the result and prints it; and the results to expect.
fn icarus_bench(core: &Core, name: &str, seed: u64) -> (String, Vec<u64>) {
    let (w, r) = (operand_bits(core), result_bits(core));
    let latency = core.latency as usize;
    let pins: String =
        core.operands().iter().enumerate().map(|(k, p)| format!(", .{p}(x[{k} * {w} +: {w}])")).collect();
    let mut o =
        format!(
        "module bench;\n    reg aclk = 0;\n    reg [{}:0] x;\n    wire [{}:0] y;\n    reg [{}:0] y_q;\n    {name} dut \
        (.aclk(aclk), .y(y){pins});\n    \
         always @(posedge aclk) y_q <= y;\n    task step; begin #1 aclk = 1; #1 aclk = 0; end endtask\n    integer \
         i;\n    initial begin\n",
        3 * w - 1, r - 1, r - 1
    );
    let mut random = Random(seed);
    let mut want = vec![];
    for _ in 0..VECTORS {
        let mut x = match core.operator {
            Operator::FromInt { bits, .. } => [integer(&mut random, bits), 0, 0],
            Operator::FromFloat(from) => hard(&mut random, from),
            _ => hard(&mut random, core.format),
        }
        .map(|v| v & mask(w));
        x[core.operands().len()..].fill(0);
        want.push(interpreted(core, x));
        writeln!(o, "        x = {{{w}'h{:x}, {w}'h{:x}, {w}'h{:x}}}; step; $display(\"%h\", y_q);", x[2], x[1], x[0])
            .unwrap();
    }
    writeln!(
        o,
        "        for (i = 1; i < {latency}; i = i + 1) begin step; $display(\"%h\", y_q); end\n    end\nendmodule"
    )
    .unwrap();
    (o, want)
}

#[test]
fn icarus_computes_the_same_and_verilator_has_no_complaint() {
    for (k, core) in cores().into_iter().enumerate() {
        let mut d = Design::default();
        let name = d.module(core);
        let d = d.verify().unwrap_or_else(|faults| panic!("{core:?}: {faults:#?}"));
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in rtl::verilog::files(&d) {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        let file = format!("{name}.v");
        let said = tool("verilator", &["--lint-only", "-Wall", "--top-module", name.as_str(), &file], folder.path());
        assert_eq!(said, "", "{core:?}");
        let (bench, want) = icarus_bench(&core, name.as_str(), 40 + k as u64);
        std::fs::write(folder.path().join("bench.v"), bench).unwrap();
        assert_eq!(
            tool("iverilog", &["-g2005", "-Wall", "-o", "bench.vvp", &file, "bench.v"], folder.path()),
            "",
            "{core:?}"
        );
        let said = tool("vvp", &["-n", "bench.vvp"], folder.path());
        let got: Vec<&str> = said.lines().skip(core.latency as usize - 1).collect();
        assert_eq!(got.len(), VECTORS, "{core:?}: {said}");
        for (got, want) in got.iter().zip(want) {
            assert_eq!(u64::from_str_radix(got, 16), Ok(want), "{core:?}");
        }
    }
}
