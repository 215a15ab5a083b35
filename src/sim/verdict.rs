//! The verdict of a testbench that is run by hand: PASS, or FAIL with the first element that differs.
//!
//! The memory models compare, element by element (`axi_memory.v`). The text here names what they found: array,
//! subscripts, both values.

use super::{Job, Run};
use crate::report::grouped;
use scop::ScalarType;
use std::fmt::Write as _;
use templates::interface::Argument;

/// A testbench that judges.
pub struct Judge {
    /// The expected contents lie beside the testbench.
    pub expected: bool,
    /// All runs as predicted, for progress.
    pub cycles: u64,
}

/// The memory model's outputs about what differs.
pub const OUTPUTS: [&str; 6] = ["wrong", "wrong_region", "wrong_element", "wrong_is", "wrong_should_be", "overwritten"];

/// What the verdict needs beside the memory models.
pub const DECLARATIONS: &str = r#"    reg hung, refused;  // any run so far
    initial begin
        hung = 0;
        refused = 0;
    end
    // The value of a float.
    function real value_of(input [63:0] bits, input integer exponent, input integer fraction);
        integer e;
        real m;
        begin
            e = (bits >> fraction) & ((64'd1 << exponent) - 1);
            m = bits & ((64'd1 << fraction) - 1);
            m = m / 2.0 ** fraction + (e != 0 ? 1.0 : 0.0);
            value_of = m * 2.0 ** ((e != 0 ? e : 1) - ((1 << (exponent - 1)) - 1));
            if (bits[exponent + fraction]) value_of = -value_of;
        end
    endfunction
"#;

/// Between two runs.
pub const SEEN: &str = "            hung <= hung || timed_out;\n            refused <= refused || status != 0;\n";

/// Name of the file with the memory of port `port` as it should be after a run.
pub fn expected_name(port: usize) -> String {
    format!("memory_{port}.expected.hex")
}

/// The wires of a port's memory.
pub fn wires(port: usize) -> String {
    let wire = |name: &&str| {
        let range = if *name == "wrong_region" { "[31:0]" } else { "[63:0]" };
        format!("    wire {range} {name}_{port};\n")
    };
    OUTPUTS.iter().map(wire).collect()
}

/// An array behind a port in a run.
struct Region<'a> {
    run: &'a Run,
    argument: &'a Argument,
}

/// The regions of a port's memory, in their order.
fn regions<'a>(job: &'a Job, port: usize) -> Vec<Region<'a>> {
    let of_run = |run: &'a Run| {
        let function = &job.built.interface.functions[run.function];
        let argument = move |k| {
            let argument = function.arguments.iter().find(|a| a.array().is_some() && a.own == k);
            argument.map(|argument| Region { run, argument })
        };
        job.of_port(run, port).filter_map(argument).collect::<Vec<_>>()
    };
    job.runs.iter().flat_map(of_run).collect()
}

impl Judge {
    /// The parameters of a port's memory.
    pub fn parameters(&self, job: &Job, port: usize) -> Vec<(&'static str, String)> {
        if !self.expected {
            return vec![];
        }
        let regions = regions(job, port);
        let packed = |number: &dyn Fn(&Argument) -> u64| {
            let mut all: Vec<String> = regions.iter().rev().map(|r| format!("64'd{}", number(r.argument))).collect();
            if all.is_empty() {
                all.push("64'd1".into());
            }
            format!("{{{}}}", all.join(", "))
        };
        let float = |exponent: bool| {
            move |a: &Argument| match a.ty {
                ScalarType::Float { exponent: e, fraction: f } => u64::from(if exponent { e } else { f }),
                ScalarType::Int { .. } => 0,
            }
        };
        vec![
            ("JUDGE", "1".into()),
            ("EXPECTED", format!("{:?}", expected_name(port))),
            ("ELEMENT", packed(&|a| u64::from(a.ty.bytes()))),
            ("EXPONENT", packed(&float(true))),
            ("FRACTION", packed(&float(false))),
            ("SCRATCH", packed(&|a| u64::from(a.is_scratch()))),
        ]
    }

    /// Statements that say now and then how far the simulation is.
    pub fn progress(&self) -> String {
        let every = (self.cycles / 10).clamp(500, 1_000_000).next_multiple_of(500);
        let about = grouped(self.cycles as i64);
        format!(
            "            if (waited != 0 && waited % {every} == 0) begin\n                $display(\"%0d of about {about} \
            cycles\", waited);\n                $fflush;\n            end\n"
        )
    }

    /// Statements that print the verdict and set `failed`.
    pub fn text(&self, job: &Job) -> String {
        let ports = 0..job.built.interface.ports.len();
        let sum = |name: &str| ports.clone().map(|k| format!("{name}_{k}")).collect::<Vec<_>>().join(" + ");
        let mut text = format!(
            "            failed <= 1;\n            if (hung || timed_out) $display(\"FAIL: no interrupt after %0d \
            cycles\", watchdog);\n            else if (refused || status != 0) $display(\"FAIL: the IP's status register \
            is not 0\");\n            else if ({} != 0) $display(\"FAIL: %0d faults on the AXI ports\", {});\n",
            sum("faults"),
            sum("faults")
        );
        if !self.expected {
            text.push_str(
                "            else begin\n                $display(\"DONE: there are no expected results to compare with; \
                sagen rtl --expected runs the C program for them\");\n                failed <= 0;\n            end\n",
            );
            return text;
        }
        let all: u64 = ports
            .clone()
            .flat_map(|port| regions(job, port))
            .filter(|r| !r.argument.is_scratch())
            .map(|r| r.argument.elements())
            .sum();
        let all = grouped(all as i64);
        let wrong = sum("wrong");
        for port in ports.clone() {
            for (k, region) in regions(job, port).iter().enumerate().filter(|(_, r)| !r.argument.is_scratch()) {
                let (format, values) = region.different(job, port);
                let _ = writeln!(
                    text,
                    "            else if (wrong_{port} != 0 && wrong_region_{port} == {k}) $display(\"FAIL: {format}; %0d of \
                    {all} elements differ\", {values}, {wrong});"
                );
            }
        }
        let beside = sum("overwritten");
        let _ = write!(
            text,
            "            else if ({beside} != 0) $display(\"FAIL: %0d bytes beside the arrays were overwritten\", \
            {beside});\n            else begin\n                $display(\"PASS: {all} elements equal\");\n                \
            failed <= 0;\n            end\n"
        );
        text
    }
}

impl Region<'_> {
    /// A text about the first wrong element of a port's memory, and the values in it.
    fn different(&self, job: &Job, port: usize) -> (String, String) {
        let a = self.argument;
        let functions = &job.built.interface.functions;
        let prefix = match functions.len() {
            1 => String::new(),
            _ => format!("{}.", functions[self.run.function].name),
        };
        let dims = a.array().map_or(&[][..], |array| &array.dims);
        let (mut places, mut values) = (String::new(), vec![]);
        for (k, &extent) in dims.iter().enumerate() {
            let stride: i64 = dims[k + 1..].iter().product();
            places.push_str("[%0d]");
            values.push(format!("wrong_element_{port} / {stride} % {extent}"));
        }
        let shown = |name: &str| match a.ty {
            ScalarType::Float { exponent, fraction } => {
                ("%g", format!("value_of({name}_{port}, {exponent}, {fraction})"))
            }
            ScalarType::Int { signed: true, .. } => {
                ("%0d", format!("$signed({name}_{port}[{}:0])", 8 * a.ty.bytes() - 1))
            }
            ScalarType::Int { signed: false, .. } => ("%0d", format!("{name}_{port}")),
        };
        let (format, is) = shown("wrong_is");
        let (_, should_be) = shown("wrong_should_be");
        values.extend([is, should_be]);
        (format!("{prefix}{}{places} is {format}, expected {format}", a.name), values.join(", "))
    }
}
