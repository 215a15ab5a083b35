//! Drivers at work on the simulated IP: the driver runs as a program of its own whose register accesses come through a
//! pipe, one a line (`W offset value`, `R offset`, answered by the value), and are made on the design.

use super::emitted::{root, run, tool, Emitted};
use array::ip::Ip;
use array::vsa::Vsa;
use clap::Parser;
use frontend::ParseOptions;
use sagen::cli::{Cli, Command as Sub};
use sagen::sim::{self, builtin::Machine, compare, Built, Job, Outcome, Run, Timing};
use sagen::{catalog, data};
use scop::Scop;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use templates::interface::{Argument, Function, SizeArgument};
use templates::Interface;

/// A run of a function at these sizes, if it has some.
pub struct Play {
    pub function: usize,
    pub sizes: Vec<i64>,
    pub driver: Driver,
}

/// A program that takes the arguments' addresses (or values) and drives one run; what it needs lives as long.
pub struct Driver {
    command: Command,
    _files: TempDir,
}

const GLUE: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static uint32_t read32(uintptr_t at) { unsigned long v = 0; printf("R %lu\n", (unsigned long)at); fflush(stdout); if (scanf("%lu", &v) != 1) exit(9); return (uint32_t)v; }
static float as_float(const char *s) { uint32_t b = (uint32_t)strtoull(s, 0, 10); float f; memcpy(&f, &b, 4); return f; }
static double as_double(const char *s) { uint64_t b = strtoull(s, 0, 10); double f; memcpy(&f, &b, 8); return f; }
static void write32(uintptr_t at, uint32_t v) { printf("W %lu %lu\n", (unsigned long)at, (unsigned long)v); fflush(stdout); }
"#;

/// `sw/x<kernel>.h`, with register accesses replaced.
pub fn c_driver(ip: &Emitted) -> Driver {
    let value = |(k, a): (usize, &serde_json::Value)| match (a.get("port"), a["type"].as_str().unwrap()) {
        (None, "f32") => format!("as_float(v[{}])", k + 1),
        (None, "f64") => format!("as_double(v[{}])", k + 1),
        (None, ty) => {
            format!("({}{}_t)strtoull(v[{}], 0, 10)", if ty.starts_with('u') { "uint" } else { "int" }, &ty[1..], k + 1)
        }
        _ => {
            let file = ip.path(&format!("sim/{}.in.bin", a["name"].as_str().unwrap()));
            let bytes = a.get("length_register").map(|_| format!(", {}u", std::fs::metadata(file).unwrap().len()));
            format!("(uint64_t)strtoull(v[{}], 0, 10){}", k + 1, bytes.unwrap_or_default())
        }
    };
    c_program(ip, &arguments(ip).iter().enumerate().map(value).collect::<Vec<_>>())
}

/// The same of an IP whose only function has sizes.
pub fn c_driver_at_sizes(ip: &Emitted, function: &Function) -> Driver {
    let array = |a: &Argument| {
        (a.formula.is_none()).then_some(if a.array().is_some() || !a.ty.is_float() { "strtoull" } else { "as_float" })
    };
    let kinds: Vec<&str> = function.in_order(array, |_| Some("size")).into_iter().flatten().collect();
    let value = |(k, kind): (usize, &&str)| match *kind {
        "as_float" => format!("as_float(v[{}])", k + 1),
        "size" => format!("(int8_t)strtol(v[{}], 0, 10)", k + 1),
        _ => format!("(uint64_t)strtoull(v[{}], 0, 10)", k + 1),
    };
    c_program(ip, &kinds.iter().enumerate().map(value).collect::<Vec<_>>())
}

/// `<kernel>_<function>` of an IP of several functions, all of whose arguments are arrays.
pub fn c_function(ip: &Emitted, function: &str, arguments: usize) -> Driver {
    let values: Vec<_> = (1..=arguments).map(|k| format!("(uint32_t)strtoull(v[{k}], 0, 10)")).collect();
    c_calling(ip, &format!("{}_{function}(0, {})", ip.kernel, values.join(", ")))
}

/// Calls the driver with these values, which are taken from the program's arguments.
fn c_program(ip: &Emitted, values: &[String]) -> Driver {
    c_calling(ip, &format!("x{}_run(0, {})", ip.kernel, values.join(", ")))
}

/// Makes this call of the driver, which returns 0 if all went well.
fn c_calling(ip: &Emitted, call: &str) -> Driver {
    let dir = tempfile::tempdir().unwrap();
    let (kernel, upper) = (&ip.kernel, ip.kernel.to_uppercase());
    let text = format!(
        "{GLUE}#define X{upper}_READ32(address) read32(address)\n#define X{upper}_WRITE32(address, value) \
        write32(address, value)\n#include \"x{kernel}.h\"\n\
         int main(int c, char **v) {{ (void)c; (void)as_float; (void)as_double; if (!x{kernel}_is_there(0)) return 8; x{kernel}_interrupt_enable(0, 1); if ({call}) return 7; (void)x{kernel}_error_address; x{kernel}_interrupt_clear(0); printf(\"C %lu\\n\", (unsigned long)x{kernel}_cycles(0)); return 0; }}\n"
    );
    std::fs::write(dir.path().join("driver.c"), text).unwrap();
    let program = dir.path().join("driver");
    run(tool("gcc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(ip.path("sw"))
        .arg(dir.path().join("driver.c"))
        .arg("-o")
        .arg(&program)
        .arg("-lm"));
    Driver { command: Command::new(program), _files: dir }
}

/// `sw/<kernel>.py` with the stand-in for PYNQ; of several functions, this one.
pub fn pynq_driver(ip: &Emitted, function: Option<&str>) -> Driver {
    let dir = tempfile::tempdir().unwrap();
    let mut command = tool("python");
    let paths = [root().join("tests/packaging"), ip.path("sw")].map(|p| p.display().to_string()).join(":");
    command.env("PYTHONPATH", paths).env("PYTHONDONTWRITEBYTECODE", "1");
    command
        .arg(root().join("tests/packaging/drive_pynq.py"))
        .arg(function.map_or(ip.kernel.clone(), |name| format!("{}:{name}", ip.kernel)));
    Driver { command, _files: dir }
}

/// The same with NumPy arrays in the place of buffers, waiting for the interrupt.
pub fn pynq_driver_plain(ip: &Emitted, function: Option<&str>) -> Driver {
    let mut driver = pynq_driver(ip, function);
    driver.command.env("PLAIN", "1");
    driver
}

/// `sw/<kernel>.ipynb` with the stand-in for PYNQ.
pub fn notebook(ip: &Emitted) -> Driver {
    let dir = tempfile::tempdir().unwrap();
    let mut command = tool("python");
    let paths = [root().join("tests/packaging"), ip.path("sw")].map(|p| p.display().to_string()).join(":");
    command.env("PYTHONPATH", paths).env("PYTHONDONTWRITEBYTECODE", "1").current_dir(ip.path("sw"));
    command.arg(root().join("tests/packaging/notebook.py")).arg(&ip.kernel);
    Driver { command, _files: dir }
}

/// All that a host gives: what the driver computes is not among them.
fn arguments(ip: &Emitted) -> Vec<serde_json::Value> {
    let all = ip.report()["interface"]["arguments"].as_array().unwrap().clone();
    all.into_iter().filter(|a| a.get("computed").is_none()).collect()
}

/// Builds the case again as `sagen sim` would, lets the driver run one of its functions, and compares with the expected
/// contents.
pub fn check(ip: &Emitted, function: usize, driver: Driver) {
    play(ip, vec![Play { function, sizes: vec![], driver }]);
}

/// What memory holds before a run and is to hold after it, by array and scalar of the `Vsa`: of a function with sizes
/// random numbers and what the C program makes of them, else what was emitted.
fn contents(
    ip: &Emitted,
    interface: &Interface,
    play: &Play,
    scop: &Scop,
    vsa: &Vsa,
    pre: &ParseOptions,
) -> [Vec<Vec<u8>>; 2] {
    let entry = &interface.functions[play.function];
    if play.sizes.is_empty() {
        let prefix = if interface.functions.len() > 1 { format!("{}.", entry.ident) } else { String::new() };
        return ["in", "expected"].map(|when| {
            let read = |a: &Argument| std::fs::read(ip.path(&format!("sim/{prefix}{}.{when}.bin", a.ident))).unwrap();
            // Nobody gives what stays on chip.
            let mut all = vec![vec![]; vsa.types().count()];
            entry.arguments.iter().for_each(|a| all[a.data(vsa.arrays.len())] = read(a));
            all
        });
    }
    let (memory, numbers) = (data::random(scop, 7), data::numbers(scop, vsa).unwrap());
    let native = sagen::golden::run(scop, &ip.source, pre, &memory).unwrap();
    [native.before, native.after].map(|memory| {
        data::of_vsa(vsa, &numbers, &memory)
            .iter()
            .zip(vsa.types())
            .map(|(values, ty)| data::pack(values, ty))
            .collect()
    })
}

/// Lets drivers run functions of the simulated IP one after the other.
pub fn play(ip: &Emitted, mut plays: Vec<Play>) {
    let line = ["sagen".to_string(), "sim".to_string(), ip.source.display().to_string()]
        .into_iter()
        .chain(ip.options.iter().cloned());
    let Sub::Sim(options) = Cli::try_parse_from(line).unwrap().command else { panic!("{}", ip.name) };
    let (scops, _) = frontend::programs(&ip.source, &options.program.parse_options()).expect("legal programs");
    let board = catalog::find(&options.program.board).unwrap();
    let all: Vec<_> = scops
        .iter()
        .map(|scop| search::compile(scop, &options.design.spec().unwrap(), &board).expect("an array"))
        .collect();
    let several = all.len() > 1;
    let whole = if several {
        Ip::new(&ip.kernel, Default::default(), &all.iter().map(|c| &c.vsa).collect::<Vec<_>>())
    } else {
        Ip::from(&all[0].vsa)
    };
    let (interface, built) = (Interface::new(&whole), Built::new(&whole).unwrap());
    let pre = options.program.parse_options();
    let compiled: Vec<_> = plays
        .iter()
        .map(|p| if p.sizes.is_empty() { all[p.function].clone() } else { all[p.function].at(&p.sizes) })
        .collect();
    let at = |p: &Play| if p.sizes.is_empty() { scops[p.function].clone() } else { scops[p.function].at(&p.sizes) };
    let contents: Vec<_> =
        plays.iter().zip(&compiled).map(|(p, c)| contents(ip, &interface, p, &at(p), &c.vsa, &pre)).collect();
    let run = |(number, (p, c)): (usize, (&Play, &search::Compiled))| Run {
        function: p.function,
        images: sim::place(c, &contents[number][0], 0, 1, number),
        sizes: p.sizes.clone(),
        memory: array::contract::dram::Memories::ideal(),
        cut: None,
    };
    let runs = plays.iter().zip(&compiled).enumerate().map(run).collect();
    let job = Job {
        built: &built,
        runs,
        way: sagen::sim::Way::Registers,
        timing: Timing::IDEAL,
        cycles: 0,
        watchdog: 0,
        vcd: None,
        reporter: &sagen::reporter::Silent,
    };
    let mut machine = Machine::start(&job).unwrap();
    for (p, (run, compiled)) in plays.iter_mut().zip(job.runs.iter().zip(&compiled)) {
        let entry = &interface.functions[p.function];
        let value = |a: &Argument| {
            let image = &run.images[a.data(compiled.vsa.arrays.len())];
            let value = if a.array().is_some() {
                image.base()
            } else {
                image.bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
            };
            a.formula.is_none().then(|| value.to_string())
        };
        let size = |s: &SizeArgument| entry.sizes.iter().position(|x| x == s).map(|k| p.sizes[k].to_string());
        let cycles = drive(ip, &mut machine, &mut p.driver, entry.in_order(value, size).into_iter().flatten());
        assert_eq!(cycles as i64, compiled.report.ideal, "{}: cycles at {:?}", ip.name, p.sizes);
    }
    let faults = machine.take_faults();
    assert!(faults.is_empty(), "{}: {faults:?}", ip.name);
    let results =
        machine.finish(&job).unwrap().into_iter().zip(&job.runs).zip(plays.iter().zip(&compiled)).zip(&contents);
    for (((memories, run), (p, compiled)), [_, expected]) in results {
        let vsa = &compiled.vsa;
        let outcome =
            Outcome { cycles: 0, memories, kept: vec![], faults: vec![], finished: true, simulated: 0, seconds: 0.0 };
        let expected: Vec<Vec<u64>> =
            expected.iter().zip(vsa.types()).map(|(bytes, ty)| data::unpack(bytes, ty)).collect();
        let comparison = compare::compare(vsa, &run.images, &outcome, &expected);
        assert_eq!(comparison.mismatches, 0, "{} at {:?}: {:?}", ip.name, p.sizes, comparison.examples);
    }
}

/// Makes the driver's register accesses on the machine; the cycles it reads.
fn drive(ip: &Emitted, machine: &mut Machine, driver: &mut Driver, arguments: impl Iterator<Item = String>) -> u64 {
    let mut child = driver.command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut answers, requests) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut cycles = 0;
    for request in requests.lines().map(Result::unwrap) {
        let words: Vec<&str> = request.split_whitespace().collect();
        let number = |k: usize| words[k].parse::<u64>().unwrap();
        match words[0] {
            "W" => machine.write(number(1) as u32, number(2)).unwrap(),
            "R" => writeln!(answers, "{}", machine.read(number(1) as u32).unwrap()).unwrap(),
            "C" => cycles = number(1),
            other => panic!("{}: {other}", ip.name),
        }
    }
    assert!(child.wait().unwrap().success(), "{}: the driver fails", ip.name);
    cycles
}

/// A C program that runs `sw/reference.c` on the stored inputs, at the greatest sizes, and compares with the stored
/// results.
pub fn reference_main(ip: &Emitted) -> String {
    let of_c = |a: &&serde_json::Value| a.get("scratch_bytes").is_none();
    let report = ip.report();
    let sizes: Vec<String> = report["sizes"].as_array().into_iter().flatten().map(|s| s["max"].to_string()).collect();
    let names: Vec<String> =
        arguments(ip).iter().filter(of_c).map(|a| format!("\"{}\"", a["name"].as_str().unwrap())).collect();
    format!(
        r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int {k}_reference(void **before, void **after{open});
static void *load(const char *name, const char *when, size_t *size) {{
  char path[200];
  snprintf(path, sizeof path, "%s.%s.bin", name, when);
  FILE *f = fopen(path, "rb");
  if (!f) exit(9);
  fseek(f, 0, SEEK_END);
  *size = ftell(f);
  rewind(f);
  char *data = malloc(*size + 64);
  if (fread(data, 1, *size, f) != *size) exit(9);
  fclose(f);
  return data;
}}
int main(void) {{
  const char *names[] = {{{names}}};
  enum {{ COUNT = sizeof names / sizeof *names }};
  void *before[COUNT], *after[COUNT];
  size_t size;
  for (int k = 0; k < COUNT; k++) {{
    before[k] = load(names[k], "in", &size);
    after[k] = calloc(size, 1);
  }}
{maxima}  if (!{k}_reference(before, after{given})) return 1;
  for (int k = 0; k < COUNT; k++) {{
    void *expected = load(names[k], "expected", &size);
    if (memcmp(after[k], expected, size)) return printf("%s differs\n", names[k]), 1;
  }}
  return 0;
}}
"#,
        open = if sizes.is_empty() { "" } else { ", const long long *sizes" },
        maxima = if sizes.is_empty() {
            String::new()
        } else {
            format!("  const long long sizes[] = {{{}}};\n", sizes.join(", "))
        },
        given = if sizes.is_empty() { "" } else { ", sizes" },
        k = ip.kernel,
        names = names.join(", ")
    )
}
