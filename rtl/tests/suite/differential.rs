//! Random netlists: the built-in simulator against Icarus on the printed text, and linters on that text.

use crate::support::{tool, write_design, Random, Rng};
use rtl::sim::Sim;
use rtl::{Design, ModuleName, Verified};
use std::fmt::Write as _;

const FILL: usize = 24;
const CYCLES: usize = 60;

/// Hexadecimal digits of limbs at a width.
fn hex(limbs: &[u64], w: u32) -> String {
    let all: String = limbs.iter().rev().map(|l| format!("{l:016x}")).collect();
    all[all.len() - w.div_ceil(4) as usize..].to_string()
}

/// A bench that applies the lines of `stimulus.hex` and prints all outputs before each edge.
fn bench(d: &Verified, top: &ModuleName) -> String {
    let m = d.get(top).unwrap();
    let range = |w: u32| format!("[{}:0]", w - 1);
    let mut o = String::from("module bench;\n    reg aclk = 0;\n");
    let mut pins = vec![".aclk(aclk)".to_string()];
    let mut total = 0;
    for (n, t) in m.input_ports() {
        writeln!(o, "    wire {} {n} = now[{} +: {}];", range(t.w), total, t.w.div_ceil(4) * 4).unwrap();
        total += t.w.div_ceil(4) * 4;
        pins.push(format!(".{n}({n})"));
    }
    let mut shows = String::new();
    for (n, t) in m.output_ports() {
        writeln!(o, "    wire {} {n};", range(t.w)).unwrap();
        pins.push(format!(".{n}({n})"));
        write!(shows, "$write(\" %h\", {n}); ").unwrap();
    }
    let head = format!("    reg [{}:0] now;\n    reg [{}:0] all [0:{}];\n", total - 1, total - 1, CYCLES - 1);
    let at = o.find('\n').unwrap() + 1;
    o.insert_str(at, &head);
    write!(
        o,
        "    {top} dut ({});\n    integer t;\n    initial begin\n        $readmemh(\"stimulus.hex\", all);\n        \
         for (t = 0; t < {CYCLES}; t = t + 1) begin\n            now = all[t]; #1;\n            \
         {shows}$write(\"\\n\");\n            \
         aclk = 1; #1; aclk = 0; #1;\n        end\n    end\nendmodule\n",
        pins.join(", ")
    )
    .unwrap();
    o
}

fn compare(seed: u64) {
    let mut d = Design::default();
    let top = d.module(Random { seed, nodes: 40, depth: 2 });
    let d = d.verify().unwrap_or_else(|f| panic!("seed {seed}: {f:#?}"));
    let mut sim = Sim::new(&d, &top).unwrap_or_else(|f| panic!("seed {seed}: {f:#?}"));
    let mut r = Rng(seed ^ 0xabcd_ef01);
    let inputs: Vec<_> = d.get(&top).unwrap().input_ports().map(|(n, t)| (n.to_string(), t)).collect();
    let outputs: Vec<_> = d.get(&top).unwrap().output_ports().map(|(n, t)| (n.to_string(), t)).collect();
    let (mut stimulus, mut want) = (String::new(), vec![]);
    for t in 0..CYCLES {
        let mut line = String::new();
        for (n, ty) in &inputs {
            let limbs: Vec<u64> = match n.as_str() {
                "rst" => vec![u64::from(t < FILL)],
                "fill" => vec![t as u64 % 16],
                _ => (0..4).map(|_| r.next()).collect(),
            };
            let limbs = rtl::Bits::from_limbs(&limbs, ty.w).limbs().to_vec();
            sim.set_wide(n, &limbs);
            line.insert_str(0, &hex(&limbs, ty.w));
        }
        writeln!(stimulus, "{line}").unwrap();
        want.push(outputs.iter().map(|(n, ty)| hex(&sim.get_wide(n), ty.w)).collect::<Vec<_>>());
        sim.clock();
    }
    let (dir, mut files) = write_design(&d, &format!("differential_{seed}"));
    std::fs::write(dir.join("stimulus.hex"), stimulus).unwrap();
    std::fs::write(dir.join("bench.v"), bench(&d, &top)).unwrap();
    files.push("bench.v".into());
    let mut args = vec!["-g2005", "-o", "bench.vvp"];
    args.extend(files.iter().map(String::as_str));
    let (ok, text) = tool("iverilog", &args, &dir);
    assert!(ok && text.is_empty(), "seed {seed}: {text}");
    let (ok, text) = tool("vvp", &["-n", "bench.vvp"], &dir);
    assert!(ok, "seed {seed}: {text}");
    let got: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(got.len(), CYCLES, "seed {seed}: {text}");
    for t in FILL..CYCLES {
        for (k, (n, ty)) in outputs.iter().enumerate() {
            assert_eq!(got[t][k], want[t][k], "seed {seed}: {n} ({ty}) in cycle {t}, Icarus left, own simulator right");
        }
    }
    std::fs::remove_dir_all(dir).unwrap();
}

#[test]
fn simulator_and_printed_text_agree_on_random_netlists() {
    let first = std::env::var("RTL_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let count = std::env::var("RTL_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(20);
    for seed in first..first + count {
        compare(seed);
    }
}

#[test]
fn linters_accept_random_netlists() {
    for seed in 1001..1009 {
        let mut d = Design::default();
        let top = d.module(Random { seed, nodes: 30, depth: 1 });
        let d = d.verify().unwrap();
        let (dir, files) = write_design(&d, &format!("lint_{seed}"));
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        // Random comparisons may be constant; this is not an error of the printer.
        let mut args = vec!["--lint-only", "-Wall", "-Wno-CMPCONST", "-Wno-UNSIGNED", "--top-module", top.as_str()];
        args.extend(&files);
        let (ok, text) = tool("verilator", &args, &dir);
        assert!(ok && text.is_empty(), "{}: {text}", dir.display());
        let mut args = vec!["-g2005", "-Wall", "-o", "out.vvp"];
        args.extend(&files);
        let (ok, text) = tool("iverilog", &args, &dir);
        assert!(ok && text.is_empty(), "{}: {text}", dir.display());
        let script = format!("read_verilog {}; hierarchy -check -top {top}; proc; check -assert", files.join(" "));
        let (ok, text) = tool("yosys", &["-q", "-p", &script], &dir);
        assert!(ok, "{}: {text}", dir.display());
        std::fs::remove_dir_all(dir).unwrap();
    }
}
