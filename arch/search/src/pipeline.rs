//! The list of passes: from a program, or from any later stage, to one array or to the list of all arrays.

use crate::candidates;
use crate::candidates::Candidate;
use crate::choose;
use crate::choose::{Chosen, Searched};
use crate::compiled::{Compiled, Report, Stages};
use crate::cuts;
use crate::deal;
use crate::distribute;
use crate::requested;
use array::io::port;
use array::kernel::Kernel;
use array::text::Stage;
use array::vsa::Vsa;
use cost::bank;
use cost::board::Board;
use cost::resources;
use scop::diag::{Diagnostic, Diagnostics};
use scop::flow;
use scop::{Scop, Storage};
use std::borrow::Cow;
use uniform::aim::CountedMemory;
use uniform::design::{ArrayChoice, DesignSpec, Shape};
use uniform::mapping::Plan;
use uniform::program::{Program, Work};
use uniform::recurrence::{self, constants, hosted, linear, reduction, Uniform, REWRITES};
use uniform::refusal;
use uniform::space_time::by_hand;
use uniform::space_time::coordinates::is_plain;
use uniform::system::System;
use uniform::verify;

/// From a program to its array.
///
/// # Errors
/// Dependences that cannot be made uniform, designs that are not legal (each with its reason), or too big for the
/// board.
pub fn compile(scop: &Scop, spec: &DesignSpec, board: &Board) -> Result<Compiled, Diagnostics> {
    let spec = &on(board, &spec.beside(scop));
    map(program(scop, spec)?, spec, board)
}

/// From recurrences to the array: `program` is [`program`] of the same `scop` with the same arithmetic.
///
/// # Errors
/// As for [`compile`].
pub fn compile_program<'a>(
    program: &Kernel<'a>,
    scop: &Scop,
    spec: &DesignSpec,
    board: &Board,
) -> Result<Compiled, Diagnostics> {
    let spec = &on(board, &spec.beside(scop));
    map(Kernel::new(program.program.clone(), &spec.wiring)?, spec, board)
}

/// From any stage to the array.
///
/// # Errors
/// As for [`compile`].
pub fn compile_stage(stage: &Stage, spec: &DesignSpec, board: &Board) -> Result<Compiled, Diagnostics> {
    match stage {
        Stage::Scop(scop) => compile(scop, spec, board),
        Stage::System(scop, system) => map(given_system(scop, system, spec)?, &on(board, spec), board),
        Stage::Mapping(scop, system, plan) => {
            let spec = &on(board, spec);
            let program = given_system(scop, system, spec)?;
            let (plan, vsa) = requested::array(&program, plan.clone().without(system.parameters().len()), spec)?;
            finish(Some((program, plan)), vsa, None, spec, board)
        }
        Stage::Vsa(vsa) => {
            let lengths = vsa.lengths || spec.wiring.guard == Some(true);
            let unaligned = vsa.unaligned || spec.wiring.unaligned == Some(true);
            finish(None, Vsa { lengths, unaligned, ..(**vsa).clone() }, None, &on(board, spec), board)
        }
    }
}

/// The numbered list of the program's legal arrays.
///
/// # Errors
/// Programs without uniform dependences; loops, factors or rows that do not exist.
pub fn enumerate(scop: &Scop, spec: &DesignSpec) -> Result<Vec<Candidate>, Diagnostics> {
    let program = distribute::requested(program(scop, spec)?, spec)?;
    candidates::list(&program, spec)
}

/// The program as recurrences.
///
/// # Errors
/// Dependences that cannot be made uniform; arithmetic or ports that contradict one another; numbers beyond 64 bits.
pub fn program<'a>(scop: &'a Scop, spec: &DesignSpec) -> Result<Kernel<'a>, Diagnostics> {
    flow::limited(|| recurrences(scop, spec)).unwrap_or_else(|error| {
        let fault =
            Diagnostic::error("E0599", scop.function.region, format!("the analysis of the region failed: {error}"));
        Err(vec![fault.label("in here").help("smaller numbers in bounds and subscripts keep it within its limits")])
    })
}

fn recurrences<'a>(scop: &'a Scop, spec: &DesignSpec) -> Result<Kernel<'a>, Diagnostics> {
    spec.arithmetic.check()?;
    let scop = linear::delinearized(hosted::hoisted(constants::propagated(spec.program(scop)))?);
    port::assign(&scop, &spec.wiring)?;
    let work = Work::at_most(&scop);
    let reassociate = spec.arithmetic.reassociate;
    let Uniform { form, system, attempts } =
        recurrence::uniform(&scop, reassociate, &REWRITES).map_err(|faults| of_sizes(&scop, spec, faults))?;
    verified(&form, &system)?;
    let (form, written) = match form {
        Cow::Owned(form) => (Cow::Owned(form), Some(scop)),
        Cow::Borrowed(_) => (scop, None),
    };
    let program = Program::new(form, system, reassociate, work, attempts);
    Kernel::new(Program { written, ..program }, &spec.wiring)
}

/// The program of a compiled array, to be mapped again.
pub fn program_of(stages: &Stages, spec: &DesignSpec) -> Option<Kernel<'static>> {
    given_system(&stages.scop, &stages.system, spec).ok()
}

/// The faults of a program with sizes at run time; the first one says if constant sizes would do.
fn of_sizes(scop: &Scop, spec: &DesignSpec, mut faults: Diagnostics) -> Diagnostics {
    if scop.open_sizes() == 0 {
        return faults;
    }
    let constant = scop.at(&scop.maxima());
    if recurrence::uniform(&constant, spec.arithmetic.reassociate, &REWRITES).is_ok() {
        let fault = Diagnostic::error(
            "E0727",
            scop.function.region,
            "at constant sizes this region is an array, or several phases; with sizes at run time it is neither",
        );
        let fault = fault.label("what follows is of all sizes at once");
        faults.insert(
            0,
            fault
                .help("make the sizes constants, or write each part as a function of its own: one IP can have several"),
        );
    }
    faults
}

/// Recurrences that a text gives; reading it has verified them.
fn given_system(scop: &Scop, system: &System, spec: &DesignSpec) -> Result<Kernel<'static>, Diagnostics> {
    let work = Work::at_most(scop);
    let program = Program::new(Cow::Owned(scop.clone()), system.clone(), spec.arithmetic.reassociate, work, vec![]);
    Kernel::new(program, &spec.wiring)
}

/// Space and time for the recurrences: automatic, a row of the list, or by hand.
fn map(program: Kernel, spec: &DesignSpec, board: &Board) -> Result<Compiled, Diagnostics> {
    let stored = program.scop.arrays.iter().filter(|a| a.storage == Storage::Dram);
    addressable(
        stored.map(|a| Stored { name: &a.name, dims: &a.dims, element_bytes: a.ty.bytes() }),
        spec.wiring.address_bits.unwrap_or(64),
        program.is_sized(),
    )?;
    let program = distribute::requested(program, spec)?;
    let chosen = |Chosen { program, plan, vsa, searched }: Chosen| {
        finish(Some((program, plan)), vsa, Some(searched), spec, board)
    };
    let (plan, vsa) = match &spec.array {
        ArrayChoice::Automatic => {
            return chosen(
                choose::choose(&program, None, board, spec)
                    .map_err(|reasons| refusal::no_array(&program.scop, reasons))?,
            );
        }
        ArrayChoice::ByHand { space: Some(names), shape } if *shape == Shape::default() => {
            match space_loops(&program, names)? {
                Some(space) => match choose::choose(&program, Some(space), board, spec) {
                    Ok(found) => return chosen(found),
                    // The fault of the plain array says more than those of all arrays together.
                    Err(reasons) => requested::by_hand(&program, Some(names), shape, spec).map_err(|faults| {
                        if faults.is_empty() {
                            reasons
                        } else {
                            faults
                        }
                    })?,
                },
                None => requested::by_hand(&program, Some(names), shape, spec)?,
            }
        }
        ArrayChoice::Row { row, shape } => candidates::array(&program, *row, shape, spec)?,
        ArrayChoice::ByHand { space, shape } => requested::by_hand(&program, space.as_deref(), shape, spec)?,
    };
    let given = spec.array.shape().is_some_and(|shape| shape.cyclic.is_some());
    let dealt = || deal::dealt(&program, (&plan, &vsa), spec, u64::MAX).0;
    let (plan, vsa) = match (!given).then(dealt).flatten() {
        Some((plan, vsa, _)) => (plan, vsa),
        None => (plan, vsa),
    };
    finish(Some((program, plan)), vsa, None, spec, board)
}

/// The specification, with the board's values for what the user leaves open.
pub fn on(board: &Board, spec: &DesignSpec) -> DesignSpec {
    let mut spec = spec.clone();
    let latency = spec.wiring.memory_latency;
    spec.wiring.memory_latency.get_or_insert(board.latency() as u32);
    spec.wiring.address_bits.get_or_insert(board.address_bits);
    spec.wiring.on_chip.get_or_insert(board.on_chip());
    let uram = spec.aim.limit.get("uram").map_or(board.resources.uram, |most| most.of(board.resources.uram));
    spec.wiring.uram.get_or_insert(uram > 0);
    spec.memory = board.memories();
    spec.fabric = board.fabric();
    spec.unregistered = board.unregistered_adders();
    for kind in spec.memory.kinds.iter_mut() {
        kind.latency = latency.map_or(kind.latency, i64::from);
    }
    spec.memory.ideal = spec.aim.memory == Some(CountedMemory::Ideal);
    spec
}

/// The dimensions that the user names as space loops; `None` if a name is an expression.
fn space_loops(program: &Kernel, names: &[String]) -> Result<Option<Vec<usize>>, Diagnostics> {
    if !names.iter().all(|n| is_plain(n)) {
        return Ok(None);
    }
    by_hand::by_hand(&program.system, names, &Shape::default(), Plan::identity(program.system.dims.len()).transform)?;
    Ok(choose::space_loops(program, names))
}

/// The same mapping of a compiled program, with other choices around the array; `None` if it is none then.
pub(crate) fn again(compiled: &Compiled, spec: &DesignSpec, board: &Board) -> Option<Compiled> {
    planned(compiled, compiled.stages.as_ref()?.plan.clone(), spec, board)
}

/// Another mapping of a compiled program; `None` if it is none.
pub(crate) fn planned(compiled: &Compiled, plan: Plan, spec: &DesignSpec, board: &Board) -> Option<Compiled> {
    let stages = compiled.stages.as_ref()?;
    let Stages { scop, system, .. } = stages;
    let spec = &on(board, spec);
    let program = given_system(scop, system, spec).ok()?;
    let (array, vsa) = requested::array(&program, plan.clone().without(system.parameters().len()), spec).ok()?;
    let new = finish(Some((program, array)), vsa, compiled.report.searched.clone(), spec, board).ok()?;
    Some(Compiled { stages: Some(Stages { plan, ..stages.clone() }), ..new })
}

/// The last checks, and the report.
fn finish(
    mapped: Option<(Kernel, Plan)>,
    vsa: Vsa,
    searched: Option<Searched>,
    spec: &DesignSpec,
    board: &Board,
) -> Result<Compiled, Diagnostics> {
    let banks = bank::assign(&vsa, &spec.wiring.bank, &spec.memory)?;
    let (wanted, chosen) = (spec.wiring.cuts.as_ref(), mapped.is_some());
    let latency = spec.wiring.memory_latency.unwrap_or_default();
    let vsa = cuts::cut(vsa, &cuts::Asked { wanted, chosen, board, banks: &banks, latency })?;
    let need = resources::on_board(&vsa, spec);
    board.takes(&need).map_err(|fault| {
        let why = mapped.as_ref().and_then(|(kernel, plan)| lanes_out_of_order(kernel, plan, spec));
        vec![match why {
            Some(help) => fault.help(help),
            None => fault,
        }]
    })?;
    addressable(
        vsa.arrays.iter().map(|a| Stored { name: &a.name, dims: &a.dims, element_bytes: a.ty.bytes() }),
        vsa.address_bits,
        vsa.parameters() > 0,
    )?;
    vsa.verify().map_err(|faults| internal("the array", faults))?;
    let report = Report::new(mapped.as_ref().map(|m| &m.0), &vsa, need, (searched, banks), (spec, board));
    let stages = mapped.map(|(kernel, plan)| Stages::new(kernel, plan));
    Ok(Compiled { stages, vsa, report, whole: None, member: None })
}

/// Lanes over a loop of a sum that has other loops of the sum inside, if the sum keeps C's order: they wait for one
/// another, and more of them need more memory. What to do instead.
fn lanes_out_of_order(kernel: &Kernel, plan: &Plan, spec: &DesignSpec) -> Option<String> {
    let system = &kernel.system;
    let reassociate = spec.arithmetic.reassociate;
    let fixed = |s: &usize| {
        reduction::accumulator(&kernel.scop, *s, Some(true)).is_some()
            && reduction::accumulator(&kernel.scop, *s, reassociate).is_none()
    };
    (0..system.statements.len()).filter(fixed).find_map(|s| {
        let placed = &system.statements[s];
        let loops: Vec<usize> = (0..system.dims.len()).filter(|&d| placed.sums_along(d)).collect();
        let inner = *loops.last()?;
        let lanes = |d: &usize| {
            let row = plan.transform.iter().position(|row| row.iter().enumerate().all(|(k, &c)| c == i64::from(k == *d)));
            row.is_some_and(|row| plan.dims[row].simd > 1)
        };
        let lane = *loops.iter().find(|d| **d != inner && lanes(d))?;
        let name = |d: usize| &system.dims[d].name;
        let sum = &kernel.scop.array(kernel.scop.statements[s].write.array).name;
        Some(format!(
            "C adds all of `{}` to the float `{sum}` before the next `{}`, so lanes over `{1}` keep whole rows of terms \
            for one another: allow another order by --reassociate, or take lanes over `{0}` (--simd {0}=N)",
            name(inner),
            name(lane)
        ))
    })
}

/// An array in memory.
struct Stored<'a> {
    name: &'a str,
    dims: &'a [i64],
    element_bytes: u32,
}

/// Refuses arrays that are longer than addresses reach.
fn addressable<'a>(arrays: impl Iterator<Item = Stored<'a>>, bits: u32, sized: bool) -> Result<(), Diagnostics> {
    let with_bytes =
        arrays.map(|a| (a.name, a.dims.iter().map(|&d| i128::from(d)).product::<i128>() * i128::from(a.element_bytes)));
    let fault = |(name, bytes): (&str, i128)| {
        let sizes = if sized { " at the greatest sizes" } else { "" };
        let fault =
            Diagnostic::error("E0726", None, format!("`{name}` has {bytes} bytes{sizes}; addresses have {bits} bits"));
        fault.help("make it smaller, or have longer addresses: --address-bits 64")
    };
    let faults: Diagnostics = with_bytes.filter(|a| a.1 > 1 << bits).map(fault).collect();
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

/// Verifies the recurrences against the form's own dataflow. If that has too many cases to be found, nothing can be
/// said.
fn verified(form: &Scop, system: &System) -> Result<(), Diagnostics> {
    verify::system(form, system).map_err(|faults| match flow::analyze(form) {
        Err(beyond) => beyond,
        Ok(_) => internal("the recurrences", faults),
    })
}

/// A verifier found a fault of one of sagen's passes.
pub(crate) fn internal(what: &str, faults: Vec<String>) -> Diagnostics {
    vec![Diagnostic::error("E0799", None, format!("internal check of {what} failed")).label(faults.join("; "))]
}
