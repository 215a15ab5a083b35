//! Which map: the user's, or the best one by [`model`](crate::model).
//!
//! **Method.** Every loop is tried as lanes, alone and with every other loop unrolled beside it, and with time as a loop or as the sum of
//! a loop and one or two times the unrolled one. Each that has a program of a warp is estimated.

use crate::arrange::{Choice, Inputs, Refusal};
use crate::ir::{Warp, QUAD};
use crate::launches::Launches;
use crate::lower::lower;
use crate::model::{self, estimate, Estimate};
use crate::phases;
use crate::registers;
use scop::diag::{Diagnostic, Diagnostics};
use std::ops::Range;
use uniform::design::{ArrayChoice, DesignSpec, Shape};
use uniform::mapping::{DimPlan, Plan};
use uniform::program::Program;
use uniform::space_time::by_hand;
use uniform::space_time::coordinates::{is_plain, Coordinates};
use uniform::space_time::transform;

/// A map with its program and what the model says.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub plan: Plan,
    pub choice: Choice,
    pub warp: Warp,
    /// The program at sizes at which rows of arrays are whole words, if there are such sizes.
    pub words: Option<Box<Warp>>,
    pub estimate: Estimate,
    pub options: Option<Options>,
    /// Maps that were compared.
    pub compared: usize,
}

/// Rows asked for ahead, at most.
const AHEAD: i64 = 4;

/// The kernels of a program, with the map of each phase.
#[derive(Clone, Debug)]
pub struct Choices {
    pub phases: Vec<Chosen>,
    pub launches: Launches,
}

impl Choices {
    pub fn seconds(&self) -> f64 {
        self.phases.iter().map(|p| p.estimate.seconds).sum()
    }
}

/// `ahead`: rows asked for ahead; without a number, as many as hide the memory's latency.
///
/// # Errors
/// Why there is no program of a warp for what is asked.
pub fn choose(program: &Program, spec: &DesignSpec, ahead: Option<i64>) -> Result<Choices, Diagnostics> {
    let refused = |why: &Refusal| vec![diagnostic(program, why)];
    let mut all: Vec<Chosen> = vec![];
    for phase in phases::phases(program).map_err(|why| refused(&why))? {
        let chosen = choose_one(&phase, spec, program.system.has_phases())?;
        all.push(finished(&phase, chosen, ahead).map_err(|why| refused(&why))?);
    }
    if ahead.is_some() && all.iter().all(|p| p.warp.time.is_none()) {
        return Err(refused(
            &Refusal::new("--ahead: the map has no loop in time, so it asks for all rows at once")
                .help("leave --ahead out"),
        ));
    }
    let launches = Launches::new(
        all.iter().map(|p| (p.warp.clone(), p.words.as_deref().cloned())).collect(),
        &program.general.scop,
    )
    .map_err(|why| refused(&why))?;
    Ok(Choices { phases: all, launches })
}

/// The map of one phase.
fn choose_one(program: &Program, spec: &DesignSpec, phased: bool) -> Result<Chosen, Diagnostics> {
    let refused = |why: &Refusal| vec![diagnostic(program, why)];
    match &spec.array {
        ArrayChoice::Row { .. } => Err(refused(
            &Refusal::new("rows of `sagen map` are numbered by arrays of the FPGA")
                .help("write the row's --space and --time"),
        )),
        ArrayChoice::ByHand { space: Some(space), shape } => {
            let mut reasons = vec![];
            for plan in plans(program, space, shape)? {
                match best(program, &plan, (phased, false), f64::INFINITY) {
                    Ok(chosen) => return Ok(chosen),
                    Err(why) => reasons.push(why),
                }
            }
            let mut why = reasons.swap_remove(0);
            let others = || searched(program, &Shape::default(), phased).ok().and_then(|c| c.options);
            if let Some(other) = shape.simd.is_empty().then(others).flatten() {
                why.help = Some(format!("another map works: {}", options(&other)));
            }
            Err(refused(&why))
        }
        ArrayChoice::ByHand { space: None, shape } => searched(program, shape, phased).map_err(|why| refused(&why)),
        ArrayChoice::Automatic => searched(program, &Shape::default(), phased).map_err(|why| refused(&why)),
    }
}

/// `--space`, `--time` and `--simd` of a map.
#[derive(Clone, Debug)]
pub struct Options {
    space: Vec<String>,
    time: Vec<String>,
    simd: Vec<String>,
}

/// The options of a map, for a shell.
pub fn options(all: &Options) -> String {
    let list = |all: &[String]| {
        let text = all.join(",");
        if text.contains('*') {
            format!("'{text}'")
        } else {
            text
        }
    };
    let simd = if all.simd.is_empty() { String::new() } else { format!(" --simd {}", list(&all.simd)) };
    format!("--space {} --time {}{simd}", list(&all.space), list(&all.time))
}

fn diagnostic(program: &Program, why: &Refusal) -> Diagnostic {
    let fault =
        Diagnostic::error("E0731", program.scop.function.region, format!("no program of a GPU's warps: {}", why.why));
    match &why.help {
        Some(help) => fault.help(help.clone()),
        None => fault,
    }
}

/// The plans that the user's space and time may mean.
fn plans(program: &Program, space: &[String], shape: &Shape) -> Result<Vec<Plan>, Diagnostics> {
    let coordinates = || Coordinates::new(&program.scop, &program.system);
    if let Some(time) = &shape.time {
        return Ok(vec![coordinates().plan(space, time, shape)?]);
    }
    if let Some(text) = space.iter().find(|s| !is_plain(s)) {
        return Err(vec![Diagnostic::error(
            "E0702",
            None,
            format!("space `{text}` is an expression: say what time is"),
        )
        .help("for example --space c+q --time q")]);
    }
    let mut all = vec![];
    let axes: Vec<usize> = space.iter().filter_map(|n| by_hand::dim_named(&program.system, n).ok()).collect();
    for transform in transform::transforms(&program.system) {
        all.push(by_hand::by_hand(&program.system, space, shape, transform)?);
    }
    let over = |candidate: &Plan| {
        let on = |axis: usize| candidate.dims.iter().position(|d| d.axis == Some(axis));
        (0..2).all(|a| on(a) == axes.get(a).copied())
    };
    for mut plan in candidates(program.system.dims.len(), program.system.loops()).into_iter().filter(over) {
        let shaped =
            by_hand::by_hand(&program.system, space, shape, Plan::identity(program.system.dims.len()).transform)?;
        plan.dims.iter_mut().zip(shaped.dims).for_each(|(dim, own)| (dim.tile, dim.simd) = (own.tile, own.simd));
        all.push(plan);
    }
    Ok(all)
}

/// Registers of a map whose time loop streams rows of inputs, at most.
const STREAMED: i64 = 96;

/// Registers of rows of two words each that a step loads, at most.
const LOADED: i64 = 64;

/// Instructions decide by far where the time is so many times that of memory.
const COMPUTES: f64 = 1.5;

/// How much slower than the best map so far another may be, before it is tried in all ways.
const WORTH: f64 = 4.0;

/// The program of a warp at all sizes, under a plan of the program at the greatest ones.
fn general(program: &Program, plan: &Plan, choice: Choice) -> Result<Warp, Refusal> {
    let sizes = program.general.system.parameters().len();
    lower(&program.general, &plan.clone().behind(sizes), choice)
}

/// The best program of a plan over what it leaves open. `least`: the time of the best map so far.
fn best(program: &Program, plan: &Plan, (phased, words): (bool, bool), least: f64) -> Result<Chosen, Refusal> {
    let under = |plan: &Plan, choice: Choice| {
        general(program, plan, choice).map(|warp| {
            let options = options_of(program, plan);
            Chosen { plan: plan.clone(), choice, estimate: estimate(&warp), warp, words: None, options, compared: 1 }
        })
    };
    let attempt = |choice: Choice| under(plan, choice);
    let better = |a: Chosen, b: Chosen| if b.estimate.seconds < a.estimate.seconds { b } else { a };
    let plain = Choice {
        registers: None,
        inputs: Inputs::Shuffled,
        ahead: 1,
        whole: false,
        streamed: false,
        shared: false,
        paired: false,
        words,
        phased,
    };
    let mut found = match (attempt(plain), attempt(Choice { inputs: Inputs::Reloaded, ..plain })) {
        (Ok(a), Ok(b)) => better(a, b),
        (Ok(a), Err(_)) | (Err(_), Ok(a)) => a,
        (Err(why), Err(_)) => return Err(why),
    };
    let lanes = with_lanes(program, plan);
    let worth = if lanes.is_empty() { WORTH } else { WORTH * QUAD as f64 };
    if found.estimate.seconds > worth * least {
        return Ok(found);
    }
    let tiled = plan.dims.iter().any(|d| d.axis == Some(0) && d.tile.is_some());
    if !tiled && found.warp.time.is_none() && !found.choice.whole && !found.warp.is_unrolled() {
        // Without values that wait there are registers for two words of each row.
        let wide = |inputs: Inputs| attempt(Choice { registers: Some(2 * found.warp.registers), inputs, ..plain });
        let faster = |a: Chosen, b: Chosen| if b.estimate.together < a.estimate.together { b } else { a };
        found = [wide(Inputs::Shuffled), wide(Inputs::Reloaded)]
            .into_iter()
            .flatten()
            .filter(|c| c.estimate.loaded <= LOADED)
            .fold(found, faster);
    }
    let computes = found.estimate.seconds > COMPUTES * found.estimate.memory;
    if !tiled && found.warp.time.is_some() && computes && !found.choice.whole && !found.warp.is_unrolled() {
        // Rows of two words: what is not a multiplication or an addition is for twice as many of them.
        let wide = |inputs: Inputs| attempt(Choice { registers: Some(2 * found.warp.registers), inputs, ..plain });
        let fits = |c: &Chosen| c.estimate.registers <= registers::MOST;
        let all = [wide(Inputs::Shuffled), wide(Inputs::Reloaded)].into_iter().flatten().filter(fits);
        found = all.reduce(better).unwrap_or(found);
    }
    if found.warp.time.is_none() {
        // Rows that wait take registers, and other warps' rows are in the cache: with few warps it is no gain.
        let streamed = attempt(Choice { streamed: true, ..found.choice }).ok();
        found = streamed.into_iter().filter(|c| c.estimate.registers <= STREAMED).fold(found, better);
    }
    if found.warp.time.is_some() {
        found = attempt(Choice { shared: true, ..plain }).into_iter().fold(found, better);
    }
    if program.scop.arrays.iter().any(|a| !a.ty.is_float() && a.ty.bits() <= 16) {
        found = attempt(Choice { paired: true, shared: false, ..found.choice }).into_iter().fold(found, better);
    }
    // Where memory decides, fewer instructions are better.
    let times = |c: &Chosen| [c.estimate.seconds, c.estimate.together];
    let cheaper = |a: Chosen, b: Chosen| if times(&b) < times(&a) { b } else { a };
    for plan in lanes {
        let reloaded = Choice { inputs: Inputs::Reloaded, ..plain };
        let all = [plain, reloaded, Choice { shared: true, ..plain }].map(|choice| under(&plan, choice));
        found = all.into_iter().flatten().filter(|c| c.estimate.registers <= registers::MOST).fold(found, cheaper);
    }
    Ok(found)
}

/// The plan with a SIMD digit of four on each loop that a sum passes over, if arrays have values of 8 bits and it has none.
fn with_lanes(program: &Program, plan: &Plan) -> Vec<Plan> {
    let bytes = program.scop.arrays.iter().any(|a| !a.ty.is_float() && a.ty.bits() == 8);
    let free = bytes && plan.dims.iter().all(|d| d.simd == 1);
    let summed = |d: usize| program.reductions.iter().flatten().any(|r| r.dims.contains(&d));
    let along = |row: &[i64]| row.iter().position(|c| *c != 0).filter(|d| summed(*d));
    let digit = |d: usize| {
        let mut plan = plan.clone();
        plan.dims[d].simd = QUAD;
        plan
    };
    (0..plan.dims.len()).filter(|&d| free && along(&plan.transform[d]).is_some()).map(digit).collect()
}

/// The options of a plan.
fn options_of(program: &Program, plan: &Plan) -> Option<Options> {
    let coordinates = Coordinates::new(&program.scop, &program.system);
    let (space, time) = coordinates.options(plan)?;
    let lanes = |(d, dim): (usize, &DimPlan)| Some(format!("{}={}", coordinates.text(&plan.transform[d])?, dim.simd));
    let simd = plan.dims.iter().enumerate().filter(|(_, dim)| dim.simd != 1).map(lanes).collect::<Option<_>>()?;
    Some(Options { space, time, simd })
}

/// The chosen map with rows asked for ahead, and with the program at sizes at which rows of arrays are whole words.
fn finished(program: &Program, chosen: Chosen, rows: Option<i64>) -> Result<Chosen, Refusal> {
    let phased = chosen.choice.phased;
    let mut chosen = ahead(program, chosen, rows)?;
    if program.is_sized() {
        let words = best(program, &chosen.plan, (phased, true), f64::INFINITY).and_then(|c| ahead(program, c, rows));
        chosen.words = words.ok().map(|c| Box::new(c.warp));
    }
    Ok(chosen)
}

/// The chosen map with as many rows asked for ahead as hide the memory's latency: the bytes that all warps of a processor wait
/// for together. Each row takes registers, so more of them leave room for fewer warps, or crowd a lane. `rows`: as many as these.
fn ahead(program: &Program, chosen: Chosen, rows: Option<i64>) -> Result<Chosen, Refusal> {
    if chosen.warp.time.is_none() {
        return Ok(chosen);
    }
    let with = |rows: i64| {
        let choice = Choice { ahead: rows, ..chosen.choice };
        let warp = general(program, &chosen.plan, choice)?;
        Ok(Chosen { estimate: estimate(&warp), warp, choice, ..chosen.clone() })
    };
    let in_flight = |c: &Chosen| c.estimate.in_flight(c.choice.ahead);
    let mut best = rows.map_or_else(|| Ok(chosen.clone()), with)?;
    for more in 2..=AHEAD {
        if rows.is_some() || in_flight(&best) >= model::ENOUGH {
            break;
        }
        let other = with(more)?;
        let crowds = registers::is_crowded(&other.warp) && !registers::is_crowded(&best.warp);
        best = if in_flight(&other) > in_flight(&best) && !crowds { other } else { best };
    }
    if model::is_alone(&best.warp) {
        best.warp.warps = 1;
    }
    Ok(best)
}

/// Plans over the loops as they are: lanes, an unrolled loop or none, and time along another one.
fn candidates(depth: usize, loops: Range<usize>) -> Vec<Plan> {
    let mut all = vec![];
    let mut add = |axes: &[usize], lead: Option<(usize, usize, i64)>| {
        let mut plan = Plan::identity(depth);
        plan.dims = vec![DimPlan::default(); depth];
        axes.iter().enumerate().for_each(|(axis, &d)| plan.dims[d].axis = Some(axis));
        if let Some((row, along, factor)) = lead {
            plan.transform[row][along] = factor;
            plan.order.retain(|&d| d != row);
            plan.order.insert(0, row);
        }
        all.push(plan);
    };
    for lanes in loops.clone() {
        add(&[lanes], None);
        let others = || loops.clone().filter(move |&d| d != lanes);
        for unrolled in others() {
            add(&[lanes, unrolled], None);
            for row in others().filter(|&d| d != unrolled) {
                for factor in [1, 2] {
                    add(&[lanes, unrolled], Some((row, unrolled, factor)));
                }
            }
        }
        for row in others() {
            add(&[lanes], Some((row, lanes, 1)));
        }
    }
    all
}

/// The best map of all that are tried.
fn searched(program: &Program, shape: &Shape, phased: bool) -> Result<Chosen, Refusal> {
    let depth = program.system.dims.len();
    let mut found: Option<Chosen> = None;
    let (mut reason, mut compared) = (None, 0);
    for mut plan in candidates(depth, program.system.loops()) {
        for (d, dim) in program.system.dims.iter().enumerate() {
            plan.dims[d].tile = shape.tile.get(&dim.name).copied();
            plan.dims[d].simd = shape.simd.get(&dim.name).copied().unwrap_or(1);
        }
        let least = found.as_ref().map_or(f64::INFINITY, |f| f.estimate.seconds);
        match best(program, &plan, (phased, false), least) {
            Ok(chosen) => {
                compared += 1;
                if found.as_ref().is_none_or(|f| chosen.estimate.seconds < f.estimate.seconds) {
                    found = Some(chosen);
                }
            }
            Err(why) => drop(reason.get_or_insert(why)),
        }
    }
    let chosen = found.ok_or_else(|| reason.unwrap_or_else(|| Refusal::new("the region has no loop")))?;
    Ok(Chosen { compared, ..chosen })
}
