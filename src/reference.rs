//! The results to compare a simulation with: those of the C program, or of an interpreter.
//!
//! The C program is the golden model ([`crate::golden`]). An interpreter takes its place in three cases: there is no C
//! compiler, or the program crashes or takes too long; the input is the text of a stage; or the user allowed roundings that no C compiler
//! repeats ([`rounded`]).

use crate::confine;
use crate::data::{self, Inputs, Memory};
use crate::error::{Error, Result};
use crate::golden::{self, Failure, Golden, How, Way};
use crate::input::Input;
use crate::range;
use crate::reporter::Reporter;
use crate::sim::compare::same;
use array::text::Stage;
use array::vsa::Vsa;
use scop::{Array, Scop};
use uniform::design::DesignSpec;

/// The contents of the arrays before and after a run.
pub struct Reference {
    /// A compiler's program computed `after`, not an interpreter.
    pub native: bool,
    /// Who computed `after`, such as `cc`.
    pub model: String,
    /// `before` is what the program's own `main` calls the function with.
    pub from_main: bool,
    pub before: Memory,
    pub after: Memory,
}

/// The golden model's result: that of the C program or, if the input is the text of a stage, of the stage's
/// interpreter.
///
/// # Errors
/// The C compiler refuses the program, files cannot be written, or the interpreter finds a fault.
pub fn of_input(
    input: &Input,
    how: &How,
    (memory, inputs): (Memory, Inputs),
    reporter: &dyn Reporter,
) -> Result<Reference> {
    match input.stage {
        None => of_program(input, how, (memory, inputs), reporter),
        Some(_) => interpreted(input, memory),
    }
}

/// The result of the interpreter of the input's own stage. Nothing of the user is run.
///
/// # Errors
/// The interpreter finds a fault.
pub fn interpreted(input: &Input, memory: Memory) -> Result<Reference> {
    let model = match &input.stage {
        None => "interpreter",
        Some(Stage::Scop(_)) => "interpreter of the scop",
        Some(Stage::System(..) | Stage::Mapping(..)) => "interpreter of the recurrences",
        Some(Stage::Vsa(_)) => "interpreter of the array",
    };
    let after = by_stage(input, &memory).map_err(Error::reason)?;
    Ok(Reference { native: false, model: model.into(), from_main: false, before: memory, after })
}

/// The result of the interpreter of the input's own stage.
///
/// # Errors
/// The interpreter finds a fault.
pub fn by_stage(input: &Input, memory: &Memory) -> std::result::Result<Memory, String> {
    match &input.stage {
        None => interpret(&input.scop, memory),
        Some(Stage::Scop(scop)) => interpret(scop, memory),
        Some(Stage::System(scop, system) | Stage::Mapping(scop, system, _)) => {
            let mut after = memory.clone();
            uniform::interp::run_system(scop, system, &mut after).map(|()| after)
        }
        Some(Stage::Vsa(vsa)) => {
            let mut after = data::of_vsa(vsa, &data::numbers(&input.scop, vsa)?, memory);
            array::interp::run_determined(vsa, &mut after).map(|_| after)
        }
    }
}

/// The C program's result; the interpreter's if the C program gives none, with a note.
fn of_program(
    input: &Input,
    how: &How,
    (memory, inputs): (Memory, Inputs),
    reporter: &dyn Reporter,
) -> Result<Reference> {
    let (scop, options) = (&input.scop, &input.options);
    if let Some(lacking) = confine::lacking().filter(|_| !how.trust) {
        reporter.note(&format!("the C program cannot be confined: {lacking}"));
    }
    let run = |way: Way| Golden::new(scop, &input.file, options, how, way).and_then(|golden| golden.run(scop, &memory));
    if inputs == Inputs::Main && golden::has_main(scop, options) {
        match run(Way::Main) {
            Ok(run) => {
                let golden::Native { compiler, before, after } = run;
                range::check(scop, &before, "main()").map_err(|faults| Error::diagnostics(faults, &scop.sources))?;
                return Ok(Reference { native: true, model: compiler, from_main: true, before, after });
            }
            Err(Failure::NoCompiler) => {}
            Err(why) => reporter.note(&format!("the inputs are random, not those of main(): {}", why.short())),
        }
    }
    match run(Way::Call) {
        Ok(golden::Native { compiler, before, after }) => {
            let from_main = scop.function.name.as_deref() == Some("main");
            Ok(Reference { native: true, model: compiler, from_main, before, after })
        }
        Err(why) if why.leaves_the_interpreter() => {
            reporter.note(&format!("{why}; sagen's interpreter is the golden model"));
            let after = interpret(scop, &memory).map_err(Error::internal)?;
            Ok(Reference { native: false, model: "interpreter".into(), from_main: false, before: memory, after })
        }
        Err(why) => Err(Error::reason(why)),
    }
}

/// Interprets the region.
///
/// # Errors
/// An access outside of an array.
pub fn interpret(scop: &Scop, memory: &Memory) -> std::result::Result<Memory, String> {
    let mut machine = scop::interp::Memory::zeroed(scop);
    for (image, given) in machine.arrays.iter_mut().zip(memory).filter(|(_, given)| !given.is_empty()) {
        image.clone_from(given);
    }
    scop::interp::run(scop, &mut machine)?;
    let given = |(after, given): (Vec<u64>, &Vec<u64>)| if given.is_empty() { vec![] } else { after };
    Ok(machine.arrays.into_iter().zip(memory).map(given).collect())
}

/// Interprets the systolic array, in its own order of operations; the contents of each array of the VSA.
///
/// # Errors
/// Faults of the VSA.
pub fn execute(vsa: &Vsa, before: &Memory, numbers: &[Option<usize>]) -> std::result::Result<Vec<Vec<u64>>, String> {
    let mut memory = data::of_vsa(vsa, numbers, before);
    array::interp::run(vsa, &mut memory)?;
    Ok(memory)
}

/// Expected results that may be rounded otherwise than in C.
pub struct Rounded {
    /// For each array of the VSA.
    pub expected: Vec<Vec<u64>>,
    /// Who computed them.
    pub model: &'static str,
}

/// The golden model in the place of the C program, if the user allowed another order of operations or fused ones. A C
/// compiler need not choose the same.
///
/// # Errors
/// Faults of the VSA.
pub fn rounded(
    scop: &Scop,
    spec: &DesignSpec,
    vsa: &Vsa,
    before: &Memory,
    numbers: &[Option<usize>],
) -> std::result::Result<Option<Rounded>, String> {
    if spec.arithmetic.reassociate == Some(true) && vsa.arrays.iter().any(|a| a.ty.is_float()) {
        return Ok(Some(Rounded {
            expected: execute(vsa, before, numbers)?,
            model: "interpreter, in the array's order",
        }));
    }
    let program = spec.program(scop);
    if program.statements == scop.statements {
        return Ok(None);
    }
    let after = interpret(&program, before)?;
    Ok(Some(Rounded { expected: data::of_vsa(vsa, numbers, &after), model: "interpreter, with fused multiply-adds" }))
}

/// The number of elements in which the C compiler's program and the interpreter of the region differ.
///
/// # Errors
/// An access outside of an array.
pub fn disagreement(scop: &Scop, before: &Memory, native: &Memory) -> std::result::Result<usize, String> {
    Ok(differing(scop, native, &interpret(scop, before)?))
}

/// The number of elements in which two memories differ.
pub fn differing(scop: &Scop, one: &Memory, other: &Memory) -> usize {
    let count = |((array, a), b): ((&Array, &Vec<u64>), &Vec<u64>)| {
        a.iter().zip(b).filter(|(&a, &b)| !same(a, b, array.ty)).count()
    };
    scop.arrays.iter().zip(one).zip(other).map(count).sum()
}
