//! One case: compiled, interpreted, simulated, compared.

use arch::ir::design::{DesignSpec, Ports};
use frontend::scop::{Scop, Storage};
use sagen::data::Random;
use sagen::sim::compare::compare;
use sagen::sim::{self, Job, Timing};
use sagen::{data, simulate};
use std::panic::{catch_unwind, AssertUnwindSafe};

/// What is run.
pub struct Case {
    /// The C file.
    pub text: String,
    pub design: DesignSpec,
    /// Take the array of this row of `sagen map`, counted modulo their number.
    pub row: Option<usize>,
    pub timing: Timing,
    /// Elements by which arrays miss the multiples of 4096.
    pub shift: usize,
    /// Contents of the arrays.
    pub seed: u64,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "design {:?}, row {:?}, {:?}, shift {}, data {}", self.design, self.row, self.timing, self.shift, self.seed)?;
        f.write_str(&self.text)
    }
}

/// What came of it.
pub enum Verdict {
    Equal,
    /// The diagnostics' messages.
    Refused(String),
    /// Wrong results, wrong prediction, an illegal array or a panic.
    Wrong(String),
}

/// Runs a case; panics count as wrong.
pub fn run(case: &Case) -> Verdict {
    match catch_unwind(AssertUnwindSafe(|| judge(case))) {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(why)) => Verdict::Wrong(why),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|s| s.to_string()));
            Verdict::Wrong(format!("panic: {}", text.unwrap_or_default()))
        }
    }
}

/// Ports for the arrays by the case's number: one each, one for all, or any.
fn sharing(scop: &Scop, seed: u64) -> Option<Ports> {
    let mut random = Random(seed ^ 0x706f_7274);
    match random.below(4) {
        0 | 1 => None,
        2 => Some(Ports::Shared),
        _ => {
            let mut groups = vec![vec![]; 3];
            for array in scop.arrays.iter().filter(|a| a.storage == Storage::Dram) {
                groups[random.below(3) as usize].push(array.name.clone());
            }
            groups.retain(|g| !g.is_empty());
            Some(Ports::Groups(groups))
        }
    }
}

fn messages(faults: &[frontend::diag::Diagnostic]) -> Verdict {
    Verdict::Refused(faults.iter().map(|f| format!("{} {}", f.code, f.message)).collect::<Vec<_>>().join("; "))
}

fn judge(case: &Case) -> Result<Verdict, String> {
    let (scop, _) = match frontend::parse_text("case.c", &case.text, &Default::default()) {
        Ok(parsed) => parsed,
        Err((_, faults)) => return Ok(messages(&faults)),
    };
    let board = sagen::boards::find("u250")?;
    let mut design = case.design.clone();
    if let Some(row) = case.row {
        match arch::enumerate(&scop, &board) {
            Ok(rows) if rows.is_empty() => return Ok(Verdict::Refused("no legal array".into())),
            Ok(rows) => design.array = Some(row % rows.len()),
            Err(faults) => return Ok(messages(&faults)),
        }
    }
    design.ports = sharing(&scop, case.seed);
    let compiled = match arch::compile(&scop, &design, &board) {
        Ok(compiled) => compiled,
        Err(faults) => return Ok(messages(&faults)),
    };
    let vsa = &compiled.vsa;
    vsa.verify().map_err(|faults| format!("the VSA does not verify: {}", faults.join("; ")))?;

    let before = data::random(&scop, case.seed);
    let after = simulate::interpret(&scop, &before)?;
    let places = data::places(&scop, vsa)?;
    let expected: Vec<Vec<u64>> = places.iter().map(|&p| after[p].clone()).collect();
    for (p, array) in scop.arrays.iter().enumerate().filter(|(p, _)| !places.contains(p)) {
        if before[p] != after[p] {
            return Err(format!("the program writes {}, which is no array of the VSA", array.name));
        }
    }
    let virtual_result = simulate::execute(vsa, &before, &places)?;

    let ip = templates::ip(vsa)?;
    let contents: Vec<_> = places.iter().zip(&vsa.arrays).map(|(&p, a)| data::pack(&before[p], a.ty)).collect();
    let images = sim::place(vsa, &contents, case.shift, case.seed);
    let predicted = compiled.report.prediction.cycles as u64;
    let job = Job { design: &ip, vsa, images, timing: case.timing, watchdog: 20 * predicted + 100_000, vcd: None };
    let outcome = sim::builtin::run(&job)?;
    let comparison = compare(vsa, &job.images, &outcome, &expected);
    let shape = format!("array {:?} {:?}, ports {:?}", vsa.axes, vsa.extent, design.ports.map(|p| p.items()));
    if virtual_result != expected {
        return Err(format!("{shape}: the VSA interpreter differs; RTL: {:?}", comparison.examples));
    }
    if !outcome.finished || !outcome.faults.is_empty() || comparison.mismatches != 0 {
        return Err(format!("{shape}: RTL: finished {}, faults {:?}, {comparison:?}", outcome.finished, outcome.faults));
    }
    if case.timing == Timing::Ideal && case.shift == 0 && outcome.cycles != predicted {
        return Err(format!("{shape}: {predicted} cycles predicted, {} simulated", outcome.cycles));
    }
    Ok(Verdict::Equal)
}
