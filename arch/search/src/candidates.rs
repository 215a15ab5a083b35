//! The numbered list of a program's arrays (`sagen map`): every choice of space loops, and every canonical mapping.
//!
//! Source: the canonical projections of PolySA.

use crate::requested;
use crate::requested::{by_coordinates, shaped};
use array::kernel::Kernel;
use array::variants::assemble;
use array::vsa::{Op, Vsa};
use scop::diag::{Diagnostic, Diagnostics};
use uniform::affine::unimodular_inverse;
use uniform::design::{ArrayChoice, DesignSpec, Shape};
use uniform::mapping::Plan;
use uniform::space_time::by_hand;
use uniform::space_time::coordinates::Coordinates;
use uniform::space_time::transform;

/// One row of `sagen map`.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its number in the list of the whole program: no choice of an array changes it.
    pub row: usize,
    pub plan: Plan,
    /// Loops along the axes; empty for an unused axis.
    pub axes: [String; 2],
    /// The array over the whole problem.
    pub vsa: Vsa,
    pub class: Class,
    /// The distinct links between PEs.
    pub links: Vec<Link>,
    /// Projection vector d of the canonical mapping that gives this array (2-D arrays of 3-loop programs), if one does.
    pub projection: Option<Vec<i64>>,
    pub schedule_vector: Option<Vec<i64>>,
    /// The array is legal, but not with the user's factors and order; why. The rest of the row describes it without
    /// them.
    pub refused: Option<String>,
    /// Space and time coordinates that select it by hand, if the names of loops can express them.
    pub coordinates: Option<(Vec<String>, Vec<String>)>,
    /// Projection vector of the canonical mapping whose transform this row has.
    direction: Option<Vec<i64>>,
}

/// A link between PEs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    pub value: String,
    /// PEs from producer to consumer along each axis.
    pub hop: [i64; 2],
    /// Waves that the value waits.
    pub waves: i64,
}

/// PolySA's classes, by what happens to the values that the program computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Results stay in their PE.
    Local,
    /// Intermediate results move from PE to PE.
    Global,
    /// Both.
    Mixed,
}

/// The legal arrays of the program. A row or space loops that the user chooses narrow the list; factors and order are
/// applied to every row of it.
///
/// # Errors
/// Loops, factors or rows that do not exist.
pub fn list(program: &Kernel, spec: &DesignSpec) -> Result<Vec<Candidate>, Diagnostics> {
    let mut rows = all(program, spec);
    let shape = match &spec.array {
        ArrayChoice::Automatic => return Ok(rows),
        ArrayChoice::Row { row, shape } => {
            let wanted = numbered(&mut rows, *row)?;
            rows = vec![wanted];
            shape
        }
        ArrayChoice::ByHand { space, shape } => {
            if let Some(plan) = by_coordinates(program, space.as_deref(), shape)? {
                let (plan, vsa) = requested::array(program, plan, spec)?;
                let row = rows.iter().find(|row| row.plan == plan).map(|row| (row.row, row.direction.clone()));
                let (number, direction) = row.unwrap_or((rows.len(), None));
                return Ok(vec![Candidate { row: number, ..candidate(program, plan, vsa, direction) }]);
            }
            if let Some(space) = space {
                let plan = by_hand::by_hand(
                    &program.system,
                    space,
                    &Shape::default(),
                    Plan::identity(program.system.dims.len()).transform,
                )?;
                let used = |plan: &Plan| plan.dims.iter().map(|d| d.axis.is_some()).collect::<Vec<_>>();
                rows.retain(|row| used(&row.plan) == used(&plan));
            }
            shape
        }
    };
    if *shape != Shape::default() {
        for row in &mut rows {
            let plan = shaped(program, &row.plan, shape)?;
            match assemble(program, plan.clone(), spec) {
                Ok(vsa) => *row = Candidate { row: row.row, ..candidate(program, plan, vsa, row.direction.clone()) },
                Err(illegal) => row.refused = Some(illegal.diagnostic(&program.scop, &program.system, &plan).message),
            }
        }
    }
    Ok(rows)
}

/// The array of a row with the user's factors and order.
///
/// # Errors
/// There is no such row, or the factors are not legal.
pub fn array(program: &Kernel, row: usize, shape: &Shape, spec: &DesignSpec) -> Result<(Plan, Vsa), Diagnostics> {
    let row = numbered(&mut all(program, spec), row)?;
    requested::array(program, shaped(program, &row.plan, shape)?, spec)
}

fn numbered(rows: &mut Vec<Candidate>, row: usize) -> Result<Candidate, Diagnostics> {
    if row < rows.len() {
        return Ok(rows.swap_remove(row));
    }
    Err(vec![Diagnostic::error("E0706", None, format!("there is no array {row}: `sagen map` lists {}", rows.len()))])
}

/// All rows, without factors.
fn all(program: &Kernel, spec: &DesignSpec) -> Vec<Candidate> {
    let depth = program.system.dims.len();
    let mut rows: Vec<Candidate> = Vec::new();
    let axes_choices: Vec<Vec<usize>> =
        (0..depth).map(|a| vec![a]).chain((0..depth).flat_map(|a| (a + 1..depth).map(move |b| vec![a, b]))).collect();
    let found = transform::transforms(&program.system).into_iter().map(|t| (t, None));
    let canonical = transform::projections(depth).into_iter().map(|(t, d)| (t, Some(d)));
    for (transform, direction) in found.chain(canonical) {
        for axes in &axes_choices {
            if direction.is_some() && *axes != (0..depth - 1).collect::<Vec<_>>() {
                continue;
            }
            let mut plan = Plan::identity(depth);
            plan.transform = transform.clone();
            axes.iter().enumerate().for_each(|(axis, &d)| plan.dims[d].axis = Some(axis));
            if let Ok(vsa) = assemble(program, plan.clone(), spec) {
                let row = candidate(program, plan, vsa, direction.clone());
                // The same space loops under another transform only count time differently.
                if !rows.iter().any(|c| c.axes == row.axes) {
                    rows.push(Candidate { row: rows.len(), ..row });
                }
            }
        }
    }
    rows
}

fn candidate(program: &Kernel, plan: Plan, vsa: Vsa, direction: Option<Vec<i64>>) -> Candidate {
    let depth = program.system.dims.len();
    let time: Vec<usize> = (0..depth).filter(|&d| plan.dims[d].axis.is_none()).collect();
    let (mut projection, mut schedule_vector) = (direction.clone(), None);
    if let [t] = time.as_slice() {
        if let Some(inverse) = unimodular_inverse(&plan.transform) {
            projection.get_or_insert_with(|| inverse.iter().map(|row| row[*t]).collect());
        }
        let mut s: Vec<i64> = plan.transform[*t].clone();
        for d in 0..depth {
            if let Some(axis) = plan.dims[d].axis {
                let step = vsa.schedule.start[axis].step();
                s.iter_mut().zip(&plan.transform[d]).for_each(|(x, c)| *x += step * c);
            }
        }
        schedule_vector = Some(s);
    }
    let coordinates = Coordinates::new(&program.scop, &program.system).options(&plan);
    Candidate {
        row: 0,
        axes: vsa.axes.clone(),
        class: class(&vsa),
        links: links(&vsa),
        plan,
        vsa,
        projection,
        schedule_vector,
        refused: None,
        coordinates,
        direction,
    }
}

/// The hop and the waves of every value that waits or moves.
fn pasts(vsa: &Vsa) -> impl Iterator<Item = (&str, [i64; 2], i64)> {
    vsa.nodes.iter().filter_map(|node| match node.op {
        Op::Past { hop, ref waves, .. } => Some((&node.name[..], hop, vsa.most(waves))),
        _ => None,
    })
}

fn class(vsa: &Vsa) -> Class {
    let moves = pasts(vsa).any(|(_, hop, _)| hop != [0, 0]);
    let stays = pasts(vsa).any(|(_, hop, _)| hop == [0, 0]);
    match (moves, stays) {
        (true, true) => Class::Mixed,
        (true, false) => Class::Global,
        _ => Class::Local,
    }
}

fn links(vsa: &Vsa) -> Vec<Link> {
    let values = pasts(vsa).map(|(name, hop, waves)| Link { value: name.trim_end_matches("_in").into(), hop, waves });
    let mut links: Vec<Link> = values.collect();
    for group in &vsa.inputs {
        for a in (0..2).filter(|&a| group.forward[a] && vsa.extent[a] > 1) {
            let mut hop = [0, 0];
            hop[a] = vsa.schedule.start[a].step().signum();
            links.push(Link { value: vsa.arrays[group.array as usize].name.clone(), hop, waves: 0 });
        }
    }
    links.sort();
    links.dedup();
    links
}
