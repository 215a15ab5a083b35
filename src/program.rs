//! What every subcommand starts with: the functions of the program, the board, and what is asked of each function.

use crate::catalog;
use crate::cli::{Design, Program};
use crate::design_file::Request;
use crate::error::{Error, Result};
use crate::input::{self, Input};
use crate::kept;
use crate::network;
use crate::reporter::{Progress, Reporter};
use array::ip::{Ip, Queue, MOST_FUNCTIONS};
use array::kernel::Kernel;
use array::text::Stage;
use array::vsa::{Home, Vsa};
use cost::board::Board;
use scop::diag::SourceMap;
use std::collections::BTreeMap;
use uniform::aim::CountedMemory;
use uniform::cuts::Cuts;
use uniform::design::{ArrayChoice, DesignSpec, LONGEST_LATENCY};

/// The functions of one IP, and everything that is asked of them.
pub struct Work {
    /// The IP's name.
    pub name: String,
    pub board: Board,
    pub queue: Queue,
    /// All functions have one array together.
    pub merge: bool,
    /// At least one function, each with what is asked of it.
    pub functions: Vec<(Input, DesignSpec)>,
}

impl Work {
    /// Reads the files, the board and the design choices. Warnings go to `reporter`.
    ///
    /// # Errors
    /// All faults of a file; two functions of one name; an unknown function; an unknown board; an unreadable board,
    /// design file or network.
    pub fn load(program: &Program, design: &Design, reporter: &dyn Reporter) -> Result<Work> {
        let inputs = match &program.network {
            Some(path) => network::functions(program, path, reporter)?,
            None => all_of(program, reporter)?,
        };
        let mut board = catalog::find(&program.board).map_err(Error::usage)?;
        board.clock_mhz = program.clock.unwrap_or(board.clock_mhz);
        let (latency, most) = (board.latency(), i64::from(LONGEST_LATENCY));
        if latency > most {
            let clock = board.clock_mhz;
            return Err(Error::usage(format!(
                "--clock {clock}: the memory of {} would be {latency} cycles away, at most {most}: choose a slower clock",
                board.name
            )));
        }
        let request = design.request().map_err(Error::usage)?;
        let inputs = selected(inputs, &program.function, &request)?;
        let mut functions = vec![];
        for input in inputs {
            let spec = request.of(&input.scop.name).map_err(Error::usage)?;
            functions.push((input, spec));
        }
        let name = named(&mut functions, program);
        let wiring = request.common().map_err(Error::usage)?.wiring;
        let merge = wiring.merge.unwrap_or(program.network.is_some()) && functions.len() > 1;
        kept::choose(&mut functions, &wiring, merge)?;
        let commands = wiring.queue.map_or(Ok(0), array::ip::queue).map_err(Error::usage)?;
        let queue = Queue { commands, overlap: wiring.overlap.unwrap_or(false) };
        Ok(Work { name, board, queue, merge, functions })
    }

    /// The same with cycles counted for this memory; an option wins over the design file.
    pub fn counting(mut self, memory: Option<CountedMemory>) -> Work {
        self.functions.iter_mut().for_each(|f| f.1.aim.memory = memory.or(f.1.aim.memory));
        self
    }

    /// The only function, for subcommands that are about one.
    ///
    /// # Errors
    /// There are several functions.
    pub fn only(mut self, subcommand: &str) -> Result<(Input, DesignSpec, Board)> {
        if self.functions.len() > 1 {
            return Err(self.several(subcommand));
        }
        let (input, spec) = self.functions.remove(0);
        Ok((input, spec, self.board))
    }

    /// The refusal of several functions.
    pub fn several(&self, what: &str) -> Error {
        let names: Vec<_> = self.functions.iter().map(|f| f.0.scop.name.as_str()).collect();
        Error::usage(format!("{what} is about one function: choose one with --function: {}", names.join(", ")))
    }
}

/// The functions of all files.
fn all_of(program: &Program, reporter: &dyn Reporter) -> Result<Vec<Input>> {
    let mut inputs = vec![];
    for file in &program.files {
        inputs.extend(input::read(file, &program.parse_options(), reporter)?);
    }
    all_differ(&inputs)?;
    Ok(inputs)
}

/// Checks that functions of several files have different names.
fn all_differ(inputs: &[Input]) -> Result<()> {
    for (k, input) in inputs.iter().enumerate() {
        let name = &input.scop.name;
        if let Some(first) = inputs[..k].iter().find(|i| i.scop.name == *name) {
            let (one, other) = (first.file.display(), input.file.display());
            return Err(Error::usage(format!(
                "{one} and {other} both have a function `{name}` with a marked region: \
                a function's name chooses what the IP runs, rename one of them"
            )));
        }
    }
    Ok(())
}

/// The functions that are `wanted`, or all; `request` may name no others.
fn selected(mut inputs: Vec<Input>, wanted: &[String], request: &Request) -> Result<Vec<Input>> {
    let names: Vec<String> = inputs.iter().map(|i| i.scop.name.clone()).collect();
    let unknown = |who: String| Error::usage(format!("{who}; functions with one: {}", names.join(", ")));
    if let Some(name) = wanted.iter().find(|f| !names.contains(f)) {
        return Err(unknown(format!("--function {name}: no file has a marked region in a function of that name")));
    }
    inputs.retain(|i| wanted.is_empty() || wanted.contains(&i.scop.name));
    if inputs.len() > MOST_FUNCTIONS {
        return Err(Error::usage(format!(
            "{} functions: an IP has at most {MOST_FUNCTIONS}; choose some with --function",
            inputs.len()
        )));
    }
    if let Some(name) = request.functions().find(|f| !names.iter().any(|n| n == f)) {
        return Err(unknown(format!(
            "the design file has options for `{name}`, but no file has a marked region in a function of that name"
        )));
    }
    Ok(inputs)
}

/// The IP's name. A single function gets the name of the option.
fn named(functions: &mut [(Input, DesignSpec)], program: &Program) -> String {
    if let ([(only, _)], Some(name)) = (&mut *functions, &program.name) {
        only.rename(name);
    }
    match functions {
        [(only, _)] => only.scop.name.clone(),
        _ => {
            let file = program.network.as_ref().unwrap_or(&program.files[0]);
            program.name.clone().unwrap_or_else(|| frontend::name_of_file(file))
        }
    }
}

impl Work {
    /// Compiles all functions; with `merge`, to one array.
    ///
    /// # Errors
    /// The reasons why there is no array; E0732: the functions cannot be merged.
    pub fn compile(&self, reporter: &dyn Reporter) -> Result<Vec<search::Compiled>> {
        has_queue(self.queue)?;
        if !self.merge {
            let compiled = |f: usize| compile(&self.functions[f].0, &self.functions[f].1, &self.board, reporter);
            return search::threads::each(self.functions.len(), compiled).into_iter().collect();
        }
        let again = |f: usize, spec: &DesignSpec| compile(&self.functions[f].0, spec, &self.board, reporter).ok();
        // The array of all functions is cut, and none before it.
        let cuts = &self.functions[0].1.wiring.cuts;
        if self.functions.iter().any(|f| f.1.wiring.cuts != *cuts) {
            return Err(Error::usage("functions that are merged have one array: give all of them the same cuts"));
        }
        let mut whole: Vec<DesignSpec> = self.functions.iter().map(|f| f.1.clone()).collect();
        whole.iter_mut().for_each(|spec| spec.wiring.cuts = Some(Cuts::Nowhere));
        let times: Vec<i64> =
            self.functions.iter().map(|f| f.0.layer.as_ref().map_or(1, |layer| layer.times)).collect();
        let programs: Vec<Option<Kernel>> = self.functions.iter().map(|f| self.free(f)).collect();
        let (name, board, cuts) = (&self.name, &self.board, cuts.as_ref());
        let mut best: Option<((f64, f64), Vec<search::Compiled>)> = None;
        let mut refused = None;
        for whole in self.words_of_kept(whole, reporter)? {
            let (specs, times) = (whole.iter().collect(), times.clone());
            let asked = search::merge::Asked { name, board, specs, cuts, times, again: &again };
            let all = search::merge::alone(&asked, &programs, |f| {
                compile(&self.functions[f].0, &whole[f], &self.board, reporter)
            })?;
            reporter.progress(Progress::Stage("merging"));
            let found = search::merge::merged(&asked, all)
                .and_then(|all| Ok((search::merge::worth(&asked, &all)?, all)))
                .map_err(|faults| Error::diagnostics(faults, &SourceMap::default()));
            match found {
                Ok(new) if best.as_ref().is_none_or(|best| new.0 < best.0) => best = Some(new),
                Ok(_) => {}
                Err(why) => _ = refused.get_or_insert(why),
            }
        }
        match (best, refused) {
            (Some((_, all)), _) => Ok(all),
            (None, why) => Err(why.unwrap_or_else(|| Error::internal("nothing was merged"))),
        }
    }
}

impl Work {
    /// The same with words of one width for each kept array in all functions, which share it: as wide as the function with the
    /// widest ones wants, which takes the fewest cycles; and no wider than those of the memory, which takes fewer LUTs.
    fn words_of_kept(&self, specs: Vec<DesignSpec>, reporter: &dyn Reporter) -> Result<Vec<Vec<DesignSpec>>> {
        let open = |(input, spec): (&Input, &DesignSpec)| {
            input.scop.arrays.iter().any(|a| a.kept && !spec.wiring.word.contains_key(&a.name))
        };
        let inputs = || self.functions.iter().map(|f| &f.0);
        let mut words: BTreeMap<String, [u32; 2]> = BTreeMap::new();
        for (input, spec) in inputs().zip(&specs).filter(|f| open(*f)) {
            let compiled = compile(input, spec, &self.board, reporter)?;
            let memory = search::on(&self.board, spec).widest_bus(std::iter::empty()).unwrap_or(u32::MAX);
            for array in compiled.vsa.arrays.iter().filter(|a| a.home == Home::Kept) {
                let narrow = array.word.min((memory / array.ty.bytes()).max(1));
                let known = words.entry(array.name.clone()).or_default();
                *known = [known[0].max(array.word), known[1].max(narrow)];
            }
        }
        let with = |choice: usize| {
            let one = |(input, mut spec): (&Input, DesignSpec)| {
                for name in input.scop.arrays.iter().filter(|a| a.kept).map(|a| &a.name) {
                    let word = words.get(name).map_or(1, |words| words[choice]);
                    spec.wiring.word.entry(name.clone()).or_insert(word);
                }
                spec
            };
            inputs().zip(specs.clone()).map(one).collect()
        };
        let all = if words.values().all(|[wide, narrow]| wide == narrow) { 1 } else { 2 };
        Ok((0..all).map(with).collect())
    }

    /// The program of a function that may get an array like another function's.
    fn free<'a>(&self, (input, spec): &'a (Input, DesignSpec)) -> Option<Kernel<'a>> {
        let spec = search::on(&self.board, &spec.beside(&input.scop));
        let is_free = input.stage.is_none() && search::merge::is_free(&spec);
        is_free.then(|| search::program(&input.scop, &spec).ok()).flatten()
    }
}

/// # Errors
/// Commands are to overlap, and there is no queue.
fn has_queue(queue: Queue) -> Result<()> {
    match queue.overlap && queue.commands == 0 {
        true => {
            Err(Error::usage("--overlap: commands of the queue overlap, and the IP has none: add `--queue 8`, say"))
        }
        false => Ok(()),
    }
}

/// The IP of functions with these arrays, whether they fit the board or not.
///
/// # Errors
/// Runs are to overlap, and cannot.
pub fn of_arrays(name: &str, queue: Queue, arrays: &[&Vsa]) -> Result<Ip> {
    has_queue(queue)?;
    let ip = Ip::new(name, queue, arrays);
    let Some(why) = ip.no_overlap().filter(|_| queue.overlap) else { return Ok(ip) };
    let merge = if ip.cores.len() > 1 { "add `--merge`, or " } else { "" };
    Err(Error::reason(format!("--overlap: {why}: {merge}leave the option out")))
}

/// The IP of functions with these arrays.
///
/// # Errors
/// E0711: each of them fits the board, but they do not fit together.
pub fn joined(name: &str, queue: Queue, compiled: &[&search::Compiled], board: &Board) -> Result<Ip> {
    let arrays: Vec<&Vsa> = match compiled[0].merged() {
        Some(merged) => vec![merged],
        None => compiled.iter().map(|c| &c.vsa).collect(),
    };
    let ip = of_arrays(name, queue, &arrays)?;
    if ip.functions.len() > 1 {
        let cores: Vec<_> = cost::ip::list(&ip).into_iter().take(ip.cores.len()).collect();
        let fits = board.takes_all(&cores, &cost::ip::total(&ip));
        fits.map_err(|fault| Error::diagnostics(vec![fault], &SourceMap::default()))?;
    }
    Ok(ip)
}

/// Compiles one function to a systolic array.
///
/// # Errors
/// The reasons why there is none.
pub fn compile(input: &Input, spec: &DesignSpec, board: &Board, reporter: &dyn Reporter) -> Result<search::Compiled> {
    if let Some(why) = too_late(input, spec) {
        return Err(Error::usage(format!("this input {why}")));
    }
    reporter.progress(Progress::Stage("mapping"));
    let compiled = match &input.stage {
        None => search::compile(&input.scop, spec, board),
        Some(stage) => search::compile_stage(stage, spec, board),
    };
    compiled.map_err(|faults| Error::diagnostics(faults, &input.scop.sources))
}

/// Why options come too late for the text of a stage.
fn too_late(input: &Input, spec: &DesignSpec) -> Option<&'static str> {
    match &input.stage {
        Some(Stage::Mapping(..) | Stage::Vsa(_)) if spec.array != ArrayChoice::Automatic => {
            Some("says which array it is: leave the mapping options out")
        }
        Some(Stage::Vsa(_)) if !spec.is_plain() => Some("is a finished array: leave the design options out"),
        Some(Stage::System(..) | Stage::Mapping(..)) if spec.arithmetic.fp_contract == Some(true) => {
            Some("is behind the stage that --fp-contract changes: use it when that stage is printed")
        }
        _ => None,
    }
}
