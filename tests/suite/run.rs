//! Runs every `tests/run/*.c` four ways and compares bit for bit: the C compiler's program, the interpreter of the
//! `Scop`, the interpreter of the virtual systolic array, and the netlist through its AXI ports, once with the arrays
//! at multiples of 4096 bytes and once at odd addresses. With ideal memory and the arrays at multiples of 4096 the
//! predicted cycles must be the simulated ones exactly.
//!
//! A line `// sagen: OPTIONS` in the file is one run with these options of `sagen sim`; a file without one runs with
//! none. `SAGEN_RUN=name` picks files whose name contains it.

use crate::common::{c_files, caught, differing, on_all_cores, sim};
use array::contract::dram::{Memories, MemoryTiming, Pace};
use array::text::Stage;
use array::vsa::{After, InputGroup, Until};
use sagen::check::{Case, Conditions};
use sagen::cli::Sim;
use sagen::data::{self, Memory};
use sagen::golden::{self, Failure, Native};
use sagen::reference;
use sagen::sim::Timing;
use scop::Scop;
use search::{Compiled, Stages};
use std::path::Path;
use uniform::design::{Arithmetic, DesignSpec};

/// Runs of one program on the same data; only their arrays differ.
struct Group {
    runs: Vec<Sim>,
}

impl Group {
    fn name(&self) -> String {
        let program = &self.runs[0].program;
        format!("{} {:?}, {} arrays", program.files[0].display(), program.defines, self.runs.len())
    }
    fn holds(&self, other: &Sim) -> bool {
        let mine = &self.runs[0];
        mine.seed == other.seed && mine.program.defines == other.program.defines
    }
}

/// The runs a file asks for.
fn groups(file: &Path) -> Vec<Group> {
    let text = std::fs::read_to_string(file).expect("a C file");
    let mut lines: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("// sagen:")).collect();
    if lines.is_empty() {
        lines.push("");
    }
    let mut groups: Vec<Group> = vec![];
    for line in lines {
        let run = sim(line, file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
        match groups.iter_mut().find(|g| g.holds(&run)) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { runs: vec![run] }),
        }
    }
    groups
}

/// What no array changes: the program, and what C and the interpreter of the `Scop` make of the data.
struct Program {
    scop: Scop,
    native: Native,
    interpreted: Memory,
}

impl Program {
    fn of(arguments: &Sim) -> Result<Program, String> {
        let options = arguments.program.parse_options();
        let (scop, _) = frontend::parse(&arguments.program.files[0], &options).map_err(|(_, f)| format!("{f:?}"))?;
        let data = data::random(&scop, arguments.seed());
        let native = match golden::run(&scop, &arguments.program.files[0], &options, &data) {
            // The compiler of this machine may be older than a type of the program.
            Err(Failure::NoType(_)) => {
                let after = reference::interpret(&scop, &data)?;
                Native { compiler: "interpreter".into(), before: data, after }
            }
            native => native.map_err(|f| f.to_string())?,
        };
        let interpreted = reference::interpret(&scop, &native.before)?;
        Ok(Program { scop, native, interpreted })
    }

    /// One run; a description of what differs.
    fn four_ways<'a>(&'a self, arguments: &Sim, shifts: &[usize], known: &mut Recurrences<'a>) -> Result<(), String> {
        let Program { scop, native, interpreted } = self;
        let (board, spec) = (sagen::catalog::find(&arguments.program.board)?, arguments.design.spec()?);
        let compiled =
            search::compile_program(known.of(scop, &spec)?, scop, &spec, &board).map_err(|f| format!("{f:?}"))?;
        stages(&compiled, &spec.program(scop), &native.before)?;
        let case = Case::new(scop, &compiled, &native.before)?;
        let from_c = case.of_vsa(&native.after);
        // Scratch buffers stand behind all others.
        let types: Vec<_> = compiled.vsa.arrays.iter().filter(|a| !a.home.is_temporary()).map(|a| a.ty).collect();
        let equal = |who: &str, found: &[Vec<u64>], expected: &[Vec<u64>]| match differing(&types, found, expected) {
            0 => Ok(()),
            count => Err(format!("{who} differs from C in {count} elements")),
        };
        equal("the Scop interpreter", &case.of_vsa(interpreted), &from_c)?;
        let own = reference::rounded(scop, &spec, &compiled.vsa, &native.before, &case.numbers)?;
        let expected = own.map_or(from_c, |own| own.expected);
        equal("the VSA interpreter", &reference::execute(&compiled.vsa, &native.before, &case.numbers)?, &expected)?;
        far_from_the_memory(&compiled)?;
        let asked = Conditions::of(arguments);
        shifts.iter().try_for_each(|&shift| case.check(&Conditions { shift, ..asked.clone() }, &expected))?;
        // Far from the memory, and with a slow one, the small ones: cycles are exact there, too.
        if case.predicted() >= FAR_BELOW {
            return Ok(());
        }
        let far = Conditions { timing: Timing::Ideal { latency: 200 }, shift: 0, ..asked };
        case.check(&far, &expected)?;
        let mut slow = compiled.clone();
        slow.report.board = Memories::all(SLOW);
        Case::new(scop, &slow, &native.before)?.check(&Conditions { timing: Timing::Board, ..far }, &expected)
    }
}

/// The recurrences of a program, which arrays share where their arithmetic is the same.
#[derive(Default)]
struct Recurrences<'a>(Vec<(Arithmetic, array::kernel::Kernel<'a>)>);

impl<'a> Recurrences<'a> {
    fn of(&mut self, scop: &'a Scop, spec: &DesignSpec) -> Result<&array::kernel::Kernel<'a>, String> {
        let at = match self.0.iter().position(|known| known.0 == spec.arithmetic) {
            Some(at) => at,
            None => {
                self.0.push((spec.arithmetic.clone(), search::program(scop, spec).map_err(|f| format!("{f:?}"))?));
                self.0.len() - 1
            }
        };
        Ok(&self.0[at].1)
    }
}

/// A memory that moves less than a word in a cycle, and short bursts in a few cycles.
const SLOW: MemoryTiming = MemoryTiming {
    read: Pace { beat: 4 * Pace::ONE / 3, least: 5 },
    write: Pace { beat: 5 * Pace::ONE / 2, least: 7 },
    ..MemoryTiming::both(37)
};

/// Cycles of the runs that are repeated with another memory.
const FAR_BELOW: u64 = 600;

/// A latency of 200 cycles instead of 16 is paid for the first read, the last write, and each load that waits for a
/// drain; beside that it costs a twentieth at most.
fn far_from_the_memory(compiled: &Compiled) -> Result<(), String> {
    let vsa = &compiled.vsa;
    let trips = |count: usize| vsa.counters[..count].iter().map(|c| c.trip).product::<i64>();
    let waits = |g: &InputGroup| {
        let of = |a: &After| match a.until {
            Until::Lag(lag) => trips(g.reload) - lag - 1,
            Until::Phase => trips(vsa.phases()) - 1,
        };
        g.after.iter().map(of).max().unwrap_or(0).max(0)
    };
    let (loads, more) = (vsa.inputs.iter().map(waits).sum::<i64>(), 200 - 16);
    let [near, far] = [16, 200].map(|latency| compiled.predict(&Memories::all(MemoryTiming::both(latency))).cycles);
    let most = near + near / 20 + (2 + loads) * more;
    let figures =
        format!("{far} cycles at a latency of 200 instead of {near} at one of 16, {loads} loads wait for drains");
    if far <= most {
        Ok(())
    } else {
        Err(figures)
    }
}

/// Interpreting recurrences takes a table entry for each value; more operations than this take too long for a test.
const INTERPRETED: i64 = 20_000;

/// The stages before the array, as text, are what they were when they are read back, and the recurrences compute what
/// the program does.
fn stages(compiled: &Compiled, program: &Scop, before: &Memory) -> Result<(), String> {
    let Stages { scop, system, plan, .. } = compiled.stages.as_ref().ok_or("the stages are not kept")?;
    let text = uniform::text::mapping(scop, system, plan);
    match array::text::read("x.mapping", &text)? {
        Stage::Mapping(s, u, p) if s.to_string() == scop.to_string() && u == *system && p == *plan => {}
        read => return Err(format!("the mapping's text reads back as {read:?}")),
    }
    if compiled.report.work.is_some_and(|w| w.operations > INTERPRETED) {
        return Ok(());
    }
    let mut after = before.clone();
    uniform::interp::run_system(scop, system, &mut after)?;
    let types: Vec<_> = scop.arrays.iter().map(|a| a.ty).collect();
    // A completed sum cannot be executed as a program, as it names elements beside its arrays.
    let expected = reference::interpret(scop, before).or_else(|_| reference::interpret(program, before))?;
    match differing(&types, &after, &expected) {
        0 => Ok(()),
        count => Err(format!("the recurrences' interpreter differs from the Scop's in {count} elements")),
    }
}

/// What fails of a group.
fn failures(group: &Group, shifts: &[usize]) -> Vec<String> {
    let program = match caught(|| Program::of(&group.runs[0])) {
        Ok(program) => program,
        Err(why) => return vec![format!("{}: {why}", group.name())],
    };
    let mut known = Recurrences::default();
    let failure = |run: &Sim| {
        let why = caught(|| program.four_ways(run, shifts, &mut known)).err()?;
        Some(format!("{} with {:?}, {:?}: {why}", run.program.files[0].display(), run.design, run.program.defines))
    };
    group.runs.iter().filter_map(failure).collect()
}

/// The file has one function, without sizes at run time: others are `functions`' and `sizes`' to test. Most files need
/// not be read for that.
fn alone(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).expect("a C file");
    let looks = text.matches("#pragma scop").count() <= 1 && !text.contains("max");
    looks
        || frontend::programs(file, &Default::default())
            .map_or(true, |(all, _)| all.len() == 1 && all[0].open_sizes() == 0)
}

fn all_agree(dir: &str, shifts: &[usize]) {
    let wanted = std::env::var("SAGEN_RUN").unwrap_or_default();
    let files =
        c_files(dir).into_iter().filter(|f| f.file_stem().is_some_and(|s| s.to_string_lossy().contains(&wanted)));
    let mut groups: Vec<Group> = files.filter(|f| alone(f)).flat_map(|f| groups(&f)).collect();
    // Long ones first, or the last one keeps a core busy alone.
    groups.sort_by_key(|g| std::cmp::Reverse(g.runs.len()));
    let count: usize = groups.iter().map(|g| g.runs.len()).sum();
    assert!(count > 0 || !wanted.is_empty(), "no file in {dir}");
    let failures = on_all_cores(&groups, Group::name, |g| failures(g, shifts)).concat();
    assert!(failures.is_empty(), "{} of {count} runs fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn programs_agree_four_ways_at_any_address() {
    all_agree("tests/run", &[0, 3]);
}

/// A product of a matrix and a vector reads a beat of the matrix in 95 % of the cycles, 200 cycles away from the
/// memory.
#[test]
fn a_far_memory_is_read_all_the_time() {
    let file = crate::common::root("examples/mv.c");
    let arguments = sim("-D M=1024 -D N=512 --space i --tile i=8,j=512 --simd j=32", &file).expect("options");
    let (scop, _) = frontend::parse(&file, &arguments.program.parse_options()).expect("a legal program");
    let board = sagen::catalog::find(&arguments.program.board).expect("a board");
    let compiled = search::compile(&scop, &arguments.design.spec().expect("a design"), &board).expect("an array");
    let cycles = compiled.predict(&Memories::all(MemoryTiming::both(200))).cycles;
    let beats = 1024 * 512 * 2 / i64::from(compiled.vsa.bus_bytes(0));
    assert!(beats >= 16384 && 100 * beats >= 95 * cycles, "{beats} beats in {cycles} cycles");
}

#[test]
fn examples_agree_four_ways() {
    all_agree("examples", &[0]);
    all_agree("examples/transforms", &[0]);
}
