//! From recurrences and an arrangement to the program of a warp.
//!
//! **Method.** Demand-driven: each store asks for the value of its statement at an instance of the step; a value asks for its
//! reads. A read at a constant distance is a value of the same step, of an earlier one, of a neighbour, or of another
//! unrolled instance:
//!
//! ```text
//! distance in      the read is
//! unrolled         another node of the step: a register is renamed
//! lanes            the node, moved by a hop
//! time             the node, some steps ago
//! ```
//!
//! 1. [`crate::statements`]: which statements are inlined, and which form a class.
//! 2. [`builder`]: the nodes of a step.
//! 3. [`words`]: remainders of sizes, if asked for; [`quads`]: loads of four bytes; [`inputs`]: loads that share data.
//! 4. [`tidy`]: what nobody uses, what the interior does without, what does not change; [`retime`]: what waits.
//! 5. [`feed`]: operands that warps of a block share, if asked for.
//! 6. [`narrow`] and [`pairs`], if asked for: two instances in the halves of registers.
//! 7. [`symbols`]: names that C++ has no other meaning for.
//! 8. [`crate::analyze`]: margins, the time loop, the grid; [`ends`]: what stands before and behind the loop.
//! 9. [`carries`]: sums of pairs that are one addition.

mod builder;
mod carries;
pub mod ends;
mod feed;
mod inputs;
mod narrow;
pub mod pairs;
mod quads;
mod retime;
mod symbols;
mod tidy;
mod words;

use crate::analyze;
use crate::arrange::{arrange, Arrangement, Attempt, Choice, Refusal};
use crate::ir::{Passing, Warp};
use crate::space::Space;
use crate::statements::Statements;
use builder::Builder;
use uniform::mapping::Plan;
use uniform::program::Form as Program;

/// The program of a warp under this plan.
///
/// # Errors
/// Why there is none.
pub fn lower(program: &Program, plan: &Plan, choice: Choice) -> Result<Warp, Refusal> {
    supported(program)?;
    let statements = Statements::new(program, plan)?;
    match attempt(program, &statements, plan, choice) {
        // Values pass along all PEs, so one warp has to hold them all.
        Err(Attempt::Along) => {
            attempt(program, &statements, plan, Choice { whole: true, ..choice }).map_err(|e| match e {
                Attempt::Refused(refusal) => refusal,
                Attempt::Along => Refusal::new("values pass along all PEs of axis 0, and one warp does not hold them"),
            })
        }
        Err(Attempt::Refused(refusal)) => Err(refusal),
        Ok(warp) => Ok(warp),
    }
}

fn attempt(program: &Program, statements: &Statements, plan: &Plan, choice: Choice) -> Result<Warp, Attempt> {
    let arrangement: Arrangement = arrange(program, statements, plan, choice)?;
    let mut warp = stacker::grow(STACK, || Builder::new(program, statements, &arrangement).build())?;
    tidy::arguments(&mut warp);
    addressed(&warp)?;
    if choice.words {
        words::assume(&mut warp)?;
    }
    quads::load(&mut warp);
    if choice.paired {
        narrow::narrow(&mut warp);
    }
    let time = Space::new(&arrangement).time_scalar();
    inputs::share(&mut warp, time, choice.inputs, arrangement.choice.whole);
    tidy::tidy(&mut warp);
    warp.rows = analyze::rows(&warp);
    if let Some(time) = time {
        retime::retime(&mut warp, time);
    }
    if choice.shared && choice.paired {
        return Err(Refusal::new("operands that warps share are not pairs").into());
    }
    if choice.shared {
        feed::feed(&mut warp, &Space::new(&arrangement))?;
    }
    tidy::mark(&mut warp, time);
    if choice.paired {
        pairs::pair(&mut warp, &Space::new(&arrangement).batches())?;
    }
    symbols::rename(&mut warp);
    analyze::finish(&mut warp, &arrangement, statements, time)?;
    carries::mark(&mut warp);
    Ok(warp)
}

/// # Errors
/// An array that the kernel reads or writes is too large for the numbers of its elements.
fn addressed(warp: &Warp) -> Result<(), Refusal> {
    match warp.arrays.iter().find(|a| a.passing == Passing::Pointer && !a.is_addressable()) {
        Some(a) => {
            Err(Refusal::new(format!("`{}` has 2^31 or more elements, and lanes count elements in 32 bits", a.name))
                .help("call the kernel for parts of the array"))
        }
        None => Ok(()),
    }
}

/// Stack for the recursion from a value to its operands, in bytes: a chain of values in one step is as deep as it is long.
const STACK: usize = 1 << 29;

/// What of a program no lane computes.
fn supported(program: &Program) -> Result<(), Refusal> {
    if !program.system.strips().is_empty() {
        return Err(Refusal::new("strips are not supported here").help("leave --strip out"));
    }
    if !program.scop.host.is_empty() {
        return Err(Refusal::new("the region calls a function that only a host computes")
            .help("compute the scalar before the region and pass it as a parameter"));
    }
    let wide = |ty: scop::ScalarType| match ty {
        scop::ScalarType::Float { exponent, fraction } => [(8, 23), (11, 52)].contains(&(exponent, fraction)),
        scop::ScalarType::Int { bits, .. } => [1, 8, 16, 32, 64].contains(&bits),
    };
    match program.scop.arrays.iter().find(|a| !wide(a.ty)) {
        Some(a) => {
            Err(Refusal::new(format!("`{}` has the type {}, which the emitted text does not have", a.name, a.c_type))
                .help("use integers, float or double"))
        }
        None => Ok(()),
    }
}
