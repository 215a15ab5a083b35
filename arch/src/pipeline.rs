//! The ways in: compile a program to one array, or list all of its arrays.

use crate::explore::assemble::{Program, Work};
use crate::explore::variants::assemble;
use crate::cost::bank::{self, Bank, Load};
use crate::cost::board::{Board, Resources};
use crate::explore::coordinates::{is_plain, Coordinates};
use crate::explore::{by_hand, choose};
use crate::contract::walk::MemoryTiming;
use crate::cost::{predict, resources, Prediction};
use crate::ir::design::{ArrayChoice, DesignSpec, Dot, Shape};
use crate::ir::mapping::{Mapping, Plan};
use crate::svg;
use crate::space_time::transform;
use crate::io::port;
use crate::ir::ure::System;
use crate::recurrence::{linear, recompute};
use crate::recurrence::rewrite::{self, Attempt, Outcome, Region, Rewrite};
use crate::ir::vsa::{Op, Vsa};
use crate::text::Stage;
use frontend::diag::{Diagnostic, Diagnostics};
use frontend::scop::Scop;
use std::borrow::Cow;

/// A finished array and what a person wants to know of it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What it was made from; nothing if it was read as an array.
    pub stages: Option<Stages>,
    pub vsa: Vsa,
    pub report: Report,
}

/// The representations before the array.
#[derive(Clone, Debug)]
pub struct Stages {
    /// The program as it was rewritten, and what came of each rewrite that was tried.
    pub scop: Scop,
    pub rewrites: Vec<Attempt>,
    pub system: System,
    pub plan: Plan,
}

impl Stages {
    /// The space-time diagram of the array made from them, as SVG.
    pub fn diagram(&self, vsa: &Vsa) -> String {
        diagram(&self.scop, &self.system, &self.plan, vsa)
    }
}

/// The space-time diagram of an array, as SVG.
pub fn diagram(scop: &Scop, system: &System, plan: &Plan, vsa: &Vsa) -> String {
    match Mapping::new(system, plan.clone()) {
        Ok(mapping) => svg::draw_time(scop, system, &mapping, vsa),
        Err(_) => String::new(),
    }
}

#[derive(Clone, Debug)]
pub struct Report {
    pub work: Work,
    pub prediction: Prediction,
    /// Estimated; `scripts/resources.sh` measures.
    pub resources: Resources,
    /// What keeps it from being faster.
    pub limit: choose::Limit,
    /// How it was found, unless it was given.
    pub searched: Option<choose::Searched>,
    pub dependences: Vec<String>,
    /// Of each array.
    pub banks: Vec<Bank>,
    /// What each of them carries.
    pub loads: Vec<Load>,
}

impl Report {
    /// Share of lanes that do useful work over the whole run, 0 to 1.
    pub fn utilization(&self, vsa: &Vsa) -> f64 {
        let lanes = vsa.extent[0] * vsa.extent[1] * vsa.lanes;
        self.work.iterations as f64 / (lanes as f64 * self.prediction.cycles.max(1) as f64)
    }
}

/// One row of `sagen map`.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its number, which only what the program may compute and how it is connected can change.
    pub row: usize,
    pub plan: Plan,
    /// Loops along the axes; empty for an unused axis.
    pub axes: [String; 2],
    /// The array over the whole problem.
    pub vsa: Vsa,
    pub class: Class,
    /// Distinct links between PEs: value's name, hop, waves.
    pub links: Vec<(String, [i64; 2], i64)>,
    /// Projection vector d of the canonical mapping that gives this array (2-D arrays of 3-loop programs), if one does.
    pub projection: Option<Vec<i64>>,
    pub schedule_vector: Option<Vec<i64>>,
    /// The array is legal, but not when cut and ordered as the user asks; why. All else is then said of it uncut.
    pub refused: Option<String>,
    /// Space and time coordinates that select it by hand, if the loops' names can say them.
    pub coordinates: Option<(Vec<String>, Vec<String>)>,
    /// Projection vector of the canonical mapping whose transform this row has.
    direction: Option<Vec<i64>>,
}

/// PolySA's classes, by what happens to the values the program computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Results stay in their PE.
    Local,
    /// Intermediate results move from PE to PE.
    Global,
    /// Both.
    Mixed,
}

const AS_WRITTEN: &str = "as written";

/// What the region may be rewritten into, in the order in which it is tried: the first form with uniform dependences is
/// the program that is mapped.
pub const REWRITES: [Rewrite; 5] = [
    Rewrite { name: "completed sums", forms: rewrite::completed, unless: "no condition interrupts a sum" },
    Rewrite { name: AS_WRITTEN, forms: rewrite::as_written, unless: "" },
    Rewrite { name: "recomputed values", forms: recompute::recomputed, unless: "no value is made of inputs alone" },
    Rewrite { name: "folded domains", forms: rewrite::folded, unless: "no value is read on both sides of its producer" },
    Rewrite { name: "reversed sums", forms: rewrite::reversed, unless: "no sum in free order is alone in its loop" },
];

/// The program that the array executes, as recurrences.
///
/// # Errors
/// Dependences that cannot be made uniform; arithmetic or ports that exclude one another.
pub fn program<'a>(scop: &'a Scop, spec: &DesignSpec) -> Result<Program<'a>, Diagnostics> {
    let arithmetic = &spec.arithmetic;
    if arithmetic.dot == Some(Dot::Fused) && arithmetic.reassociate != Some(true) {
        return Err(vec![Diagnostic::error("E0707", None, "a fused dot product adds in another order than the program").help("allow that with --reassociate")]);
    }
    let scop = linear::delinearized(spec.program(scop));
    let ports = port::assign(&scop, &spec.wiring)?;
    let work = Work::of(&scop);
    let region = Region::new(&scop, arithmetic.reassociate);
    match rewrite::uniform(&region, &REWRITES) {
        Ok((form, system, attempts)) => {
            let form = match form {
                Cow::Owned(form) => Cow::Owned(form),
                Cow::Borrowed(_) => scop.clone(),
            };
            Ok(Program::new(form, system, spec, work, ports, attempts))
        }
        Err(attempts) => Err(not_uniform(&region, attempts)),
    }
}

/// The faults of the program as written, with what came of its other forms.
fn not_uniform(region: &Region, attempts: Vec<Attempt>) -> Diagnostics {
    let others: Vec<String> = attempts.iter().filter(|a| a.rewrite != AS_WRITTEN).map(Attempt::to_string).collect();
    let mut faults: Diagnostics = attempts.into_iter().find_map(|a| match a.outcome {
        Outcome::NotUniform(faults) if a.rewrite == AS_WRITTEN => Some(faults),
        _ => None,
    }).unwrap_or_default();
    let freely = Region::new(region.scop, Some(true));
    let [.., reversed] = &REWRITES;
    if region.reassociate.is_none() && rewrite::uniform(&freely, std::slice::from_ref(reversed)).is_ok() {
        let hint = |fault: Diagnostic| fault.help("with --reassociate the sum may run backwards, which makes it uniform, and may round differently");
        return faults.into_iter().map(hint).collect();
    }
    if let Some(last) = faults.last_mut() {
        let help = last.help.take().map_or(String::new(), |h| h + "; ");
        last.help = Some(format!("{help}other forms were tried: {}", others.join("; ")));
    }
    faults
}

/// # Errors
/// Dependences that cannot be made uniform, designs that are not legal (each with its reason), or too big for the board.
pub fn compile(scop: &Scop, spec: &DesignSpec, board: &Board) -> Result<Compiled, Diagnostics> {
    let spec = &spec.beside(scop);
    map(program(scop, spec)?, spec, board)
}

/// The rest of the way, from any stage on.
///
/// # Errors
/// As for [`compile`].
pub fn compile_stage(stage: &Stage, spec: &DesignSpec, board: &Board) -> Result<Compiled, Diagnostics> {
    let given = |scop: &Scop, system: &System| -> Result<Program<'static>, Diagnostics> {
        let ports = port::assign(scop, &spec.wiring)?;
        Ok(Program::new(Cow::Owned(scop.clone()), system.clone(), spec, Work::of(scop), ports, vec![]))
    };
    match stage {
        Stage::Scop(scop) => compile(scop, spec, board),
        Stage::System(scop, system) => map(given(scop, system)?, spec, board),
        Stage::Mapping(scop, system, plan) => {
            let program = given(scop, system)?;
            let vsa = assemble(&program, plan.clone(), spec).map_err(|illegal| vec![illegal.diagnostic(scop, system, plan)])?;
            finish(Some((program, plan.clone())), vsa, None, spec, board)
        }
        Stage::Vsa(vsa) => finish(None, (**vsa).clone(), None, spec, board),
    }
}

/// Space and time for the recurrences: automatic, a row of the list, or by hand.
fn map(program: Program, spec: &DesignSpec, board: &Board) -> Result<Compiled, Diagnostics> {
    let mut searched = None;
    let (plan, vsa) = match &spec.array {
        ArrayChoice::Automatic => {
            let (plan, vsa, how) = choose::choose(&program, board, spec).map_err(|reasons| no_array(&program.scop, reasons))?;
            searched = Some(how);
            (plan, vsa)
        }
        ArrayChoice::Row { row, shape } => {
            let row = numbered(&mut candidates(&program, spec), *row)?;
            let plan = shaped(&program, &row.plan, shape)?;
            let vsa = assemble(&program, plan.clone(), spec).map_err(|illegal| vec![illegal.diagnostic(&program.scop, &program.system, &plan)])?;
            (plan, vsa)
        }
        ArrayChoice::Plan { space, shape } => by_hand(&program, space.as_deref(), shape, spec)?,
    };
    finish(Some((program, plan)), vsa, searched, spec, board)
}

/// Counts, and the last checks.
fn finish(mapped: Option<(Program, Plan)>, vsa: Vsa, searched: Option<choose::Searched>, spec: &DesignSpec, board: &Board) -> Result<Compiled, Diagnostics> {
    let need = resources::estimate(&vsa);
    if !need.fits(&board.resources) {
        return Err(vec![too_big(&need, board)]);
    }
    if let Err(faults) = vsa.verify() {
        return Err(vec![Diagnostic::error("E0799", None, "internal check of the array failed").label(faults.join("; "))]);
    }
    let work = mapped.as_ref().map_or(Work { operations: 0, iterations: 0 }, |(program, _)| program.work);
    let dependences = mapped.as_ref().map_or(vec![], |(program, _)| describe_dependences(&program.scop, &program.system));
    let stages = mapped.map(|(program, plan)| Stages { scop: program.scop.into_owned(), system: program.system, rewrites: program.rewrites, plan });
    let prediction = predict(&vsa, &MemoryTiming::IDEAL);
    let limits = searched.as_ref().map_or(board.resources, |s: &choose::Searched| s.limits);
    let limit = choose::limit(&vsa, prediction.compute_cycles, prediction.cycles, &need, &limits);
    let banks = bank::assign(&vsa, &spec.wiring.bank, board)?;
    let loads = bank::loads(&vsa, &banks, board);
    let report = Report { work, prediction, resources: need, limit, searched, dependences, banks, loads };
    Ok(Compiled { stages, vsa, report })
}

/// What stood against each kind of array, below the fact that there is none.
fn no_array(scop: &Scop, reasons: Diagnostics) -> Diagnostics {
    let fault = Diagnostic::error("E0710", scop.function.region, "no systolic array was found for this region");
    let fault = fault.label(if reasons.is_empty() { "nothing was left to try" } else { "the reasons follow" });
    std::iter::once(fault).chain(reasons).collect()
}

fn too_big(need: &Resources, board: &Board) -> Diagnostic {
    let have = &board.resources;
    let over: Vec<String> = [("LUT", need.lut, have.lut), ("FF", need.ff, have.ff), ("DSP", need.dsp, have.dsp), ("BRAM36", need.bram36, have.bram36)]
        .iter()
        .filter(|x| x.1 > x.2)
        .map(|(n, need, have)| format!("{need} {n} of {have}"))
        .collect();
    Diagnostic::error("E0711", None, format!("the array does not fit {}: it needs {}", board.name, over.join(", "))).help("choose smaller tiles or fewer lanes, or another board")
}

/// The user's plan over the first transform that makes it legal.
fn by_hand(program: &Program, space: Option<&[String]>, shape: &Shape, spec: &DesignSpec) -> Result<(Plan, Vsa), Diagnostics> {
    let system = &program.system;
    if let Some(plan) = by_coordinates(program, space, shape)? {
        let vsa = assemble(program, plan.clone(), spec).map_err(|illegal| vec![illegal.diagnostic(&program.scop, system, &plan)])?;
        return Ok((plan, vsa));
    }
    let mut reasons: Diagnostics = Vec::new();
    let spaces = space.map_or_else(|| space_choices(system), |s| vec![s.to_vec()]);
    let mut best: Option<(i64, (Plan, Vsa))> = None;
    for space in &spaces {
        for transform in transform::transforms(system) {
            let plan = by_hand::by_hand(system, space, shape, transform)?;
            match assemble(program, plan.clone(), spec) {
                Ok(vsa) => {
                    let cycles = predict(&vsa, &MemoryTiming::IDEAL).cycles;
                    if best.as_ref().is_none_or(|b| cycles < b.0) {
                        best = Some((cycles, (plan, vsa)));
                    }
                    break;
                }
                Err(illegal) => {
                    let reason = illegal.diagnostic(&program.scop, system, &plan);
                    if !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
            }
        }
    }
    best.map(|b| b.1).ok_or(reasons)
}

/// The plan by space and time coordinates, if that is how the user writes it.
fn by_coordinates(program: &Program, space: Option<&[String]>, shape: &Shape) -> Result<Option<Plan>, Diagnostics> {
    let space = space.unwrap_or_default();
    let depth = program.system.dims.len();
    let Some(time) = &shape.time else {
        return match space.iter().find(|s| !is_plain(s)) {
            Some(_) if space.len() == depth => Coordinates::new(&program.scop, &program.system).plan(space, &[], shape).map(Some),
            Some(s) => Err(vec![Diagnostic::error("E0702", None, format!("space `{s}` is an expression, so time is not what is left of the loops")).help("say what time is, for example --space c+q --time q")]),
            None => Ok(None),
        };
    };
    Coordinates::new(&program.scop, &program.system).plan(space, time, shape).map(Some)
}

fn space_choices(system: &System) -> Vec<Vec<String>> {
    let name = |d: usize| system.dims[d].name.clone();
    let n = system.dims.len();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    pairs.map(|(a, b)| vec![name(a), name(b)]).chain((0..n).map(|a| vec![name(a)])).collect()
}

fn numbered(rows: &mut Vec<Candidate>, row: usize) -> Result<Candidate, Diagnostics> {
    if row < rows.len() {
        return Ok(rows.swap_remove(row));
    }
    Err(vec![Diagnostic::error("E0706", None, format!("there is no array {row}: `sagen map` lists {}", rows.len()))])
}

/// A row's plan, cut and ordered as the user asks.
fn shaped(program: &Program, row: &Plan, shape: &Shape) -> Result<Plan, Diagnostics> {
    let mut plan = by_hand::by_hand(&program.system, &[], shape, row.transform.clone())?;
    plan.dims.iter_mut().zip(&row.dims).for_each(|(mine, row)| mine.axis = row.axis);
    Ok(plan)
}

/// The legal arrays of the program: every choice of space loops, and every canonical mapping. A row or space loops that
/// the user chose narrow the list; factors and order are applied to every row of it.
///
/// # Errors
/// Programs without uniform dependences; loops, factors or rows that cannot be.
pub fn enumerate(scop: &Scop, spec: &DesignSpec) -> Result<Vec<Candidate>, Diagnostics> {
    let program = program(scop, spec)?;
    let mut rows = candidates(&program, spec);
    let shape = match &spec.array {
        ArrayChoice::Automatic => return Ok(rows),
        ArrayChoice::Row { row, shape } => {
            let wanted = numbered(&mut rows, *row)?;
            rows = vec![wanted];
            shape
        }
        ArrayChoice::Plan { space, shape } => {
            if let Some(plan) = by_coordinates(&program, space.as_deref(), shape)? {
                let array = assemble(&program, plan.clone(), spec).map_err(|illegal| vec![illegal.diagnostic(&program.scop, &program.system, &plan)])?;
                let row = rows.iter().find(|row| row.plan == plan).map(|row| (row.row, row.direction.clone()));
                let (number, direction) = row.unwrap_or((rows.len(), None));
                return Ok(vec![Candidate { row: number, ..candidate(&program, plan, array, direction) }]);
            }
            if let Some(space) = space {
                let plan = by_hand::by_hand(&program.system, space, &Shape::default(), Plan::identity(program.system.dims.len()).transform)?;
                let used = |plan: &Plan| plan.dims.iter().map(|d| d.axis.is_some()).collect::<Vec<_>>();
                rows.retain(|row| used(&row.plan) == used(&plan));
            }
            shape
        }
    };
    if *shape != Shape::default() {
        for row in &mut rows {
            let plan = shaped(&program, &row.plan, shape)?;
            match assemble(&program, plan.clone(), spec) {
                Ok(vsa) => *row = Candidate { row: row.row, ..candidate(&program, plan, vsa, row.direction.clone()) },
                Err(illegal) => row.refused = Some(illegal.diagnostic(&program.scop, &program.system, &plan).message),
            }
        }
    }
    Ok(rows)
}

fn candidates(program: &Program, spec: &DesignSpec) -> Vec<Candidate> {
    let depth = program.system.dims.len();
    let mut rows: Vec<Candidate> = Vec::new();
    let axes_choices: Vec<Vec<usize>> = (0..depth).map(|a| vec![a]).chain((0..depth).flat_map(|a| (a + 1..depth).map(move |b| vec![a, b]))).collect();
    let mut transforms: Vec<(Vec<Vec<i64>>, Option<Vec<i64>>)> = transform::transforms(&program.system).into_iter().map(|t| (t, None)).collect();
    transforms.extend(transform::projections(depth).into_iter().map(|(t, d)| (t, Some(d))));
    for (transform, direction) in transforms {
        for axes in &axes_choices {
            if direction.is_some() && *axes != (0..depth - 1).collect::<Vec<_>>() {
                continue;
            }
            let mut plan = Plan::identity(depth);
            plan.transform = transform.clone();
            axes.iter().enumerate().for_each(|(axis, &d)| plan.dims[d].axis = Some(axis));
            if let Ok(vsa) = assemble(program, plan.clone(), spec) {
                let row = candidate(program, plan, vsa, direction.clone());
                // The same space loops with another transform differ only in how time is counted.
                if !rows.iter().any(|c| c.axes == row.axes) {
                    rows.push(Candidate { row: rows.len(), ..row });
                }
            }
        }
    }
    rows
}

fn candidate(program: &Program, plan: Plan, vsa: Vsa, direction: Option<Vec<i64>>) -> Candidate {
    let mut links: Vec<(String, [i64; 2], i64)> = Vec::new();
    let (mut moves, mut stays) = (false, false);
    for node in &vsa.nodes {
        if let Op::Past { hop, waves, .. } = node.op {
            moves |= hop != [0, 0];
            stays |= hop == [0, 0];
            let link = (node.name.trim_end_matches("_in").to_string(), hop, waves);
            if !links.contains(&link) {
                links.push(link);
            }
        }
    }
    for group in &vsa.inputs {
        let name = vsa.arrays[group.array as usize].name.clone();
        for a in 0..2 {
            let mut hop = [0, 0];
            hop[a] = vsa.schedule.skew[a].signum();
            let link = (name.clone(), hop, 0);
            if group.forward[a] && vsa.extent[a] > 1 && !links.contains(&link) {
                links.push(link);
            }
        }
    }
    links.sort();
    let class = match (moves, stays) {
        (true, true) => Class::Mixed,
        (true, false) => Class::Global,
        _ => Class::Local,
    };
    let depth = program.system.dims.len();
    let time: Vec<usize> = (0..depth).filter(|&d| plan.dims[d].axis.is_none()).collect();
    let (mut projection, mut schedule_vector) = (direction.clone(), None);
    if let [t] = time.as_slice() {
        if let Some(inverse) = crate::affine::unimodular_inverse(&plan.transform) {
            projection.get_or_insert_with(|| inverse.iter().map(|row| row[*t]).collect());
        }
        let mut s: Vec<i64> = plan.transform[*t].clone();
        for d in 0..depth {
            if let Some(axis) = plan.dims[d].axis {
                let skew = vsa.schedule.skew[axis];
                s.iter_mut().zip(&plan.transform[d]).for_each(|(x, c)| *x += skew * c);
            }
        }
        schedule_vector = Some(s);
    }
    let coordinates = Coordinates::new(&program.scop, &program.system).options(&plan);
    Candidate { row: 0, axes: vsa.axes.clone(), plan, vsa, class, links, projection, schedule_vector, refused: None, coordinates, direction }
}

fn describe_dependences(scop: &Scop, system: &System) -> Vec<String> {
    let text = |e: crate::ir::ure::Dependence| {
        let read = &scop.statement(e.to).reads[e.read];
        let kind = if e.carried { "carried" } else { "flow" };
        format!("S{} -> S{} {} {:?} ({kind})", e.from.0, e.to.0, scop.array(read.array).name, e.distance)
    };
    system.dependences().into_iter().map(text).collect()
}
