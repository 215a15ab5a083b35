//! Reference interpreter of a [`System`]: every variable and value, instance by instance, in the order of the iteration
//! space.
//!
//! An input is the content of memory when the phase began, and garbage beside an array. A value is looked up at its
//! distance and nowhere else. So the result is the program's exactly if places, pieces and distances are right.

use crate::system::{Feed, ReadId, System};
use scop::interp::{eval, position};
use scop::polyhedron::Polyhedron;
use scop::value::mask;
use scop::{Binding, ScalarType, Scop};
use std::collections::HashMap;

/// The most instances that are interpreted.
const INSTANCES: usize = 1 << 24;

/// Executes the recurrences on `memory`, the contents of every array of `scop`; scratch buffers at its end may be left
/// out.
///
/// # Errors
/// A value that is not there when it is read, or too many instances.
pub fn run_system(scop: &Scop, system: &System, memory: &mut Vec<Vec<u64>>) -> Result<(), String> {
    memory.resize(memory.len().max(scop.arrays.len()), vec![]);
    for (array, cells) in scop.arrays.iter().zip(memory.iter_mut()).filter(|(a, _)| a.binding == Binding::Scratch) {
        *cells = vec![garbage(array.ty); array.dims.iter().product::<i64>() as usize];
    }
    scop::interp::compute_host(scop, memory)?;
    let instances = instances(system)?;
    let outer = system.frame().outer;
    let mut before = memory.to_vec();
    let mut phase: &[i64] = instances.first().map_or(&[], |(n, _)| &n[..outer]);
    let mut values: HashMap<(usize, Vec<i64>), u64> = HashMap::new();
    let mut reads: HashMap<(ReadId, Vec<i64>), u64> = HashMap::new();
    for (n, s) in &instances {
        if n[..outer] != *phase {
            phase = &n[..outer];
            before = memory.to_vec();
        }
        let (placed, statement) = (&system.statements[*s], &scop.statements[*s]);
        let mut operands = Vec::new();
        for (k, variable) in placed.variables.iter().enumerate() {
            let piece = variable
                .pieces
                .iter()
                .find(|p| p.domain.iter().all(|c| c.holds(n)))
                .ok_or_else(|| format!("read {k} of S{s} has no value at {n:?}"))?;
            let from = |e: &[i64]| n.iter().zip(e).map(|(x, e)| x - e).collect::<Vec<i64>>();
            let value = match &piece.feed {
                Feed::Input { subscripts } => {
                    let array = statement.reads[k].array;
                    let at = position(&scop.array(array).dims, subscripts.iter().map(|a| a.eval(n)));
                    // A completed sum reads elements beside the array where it adds nothing.
                    let beside = garbage(scop.array(array).ty);
                    Some(at.and_then(|at| before[array.index()].get(at).copied()).unwrap_or(beside))
                }
                Feed::Value { statement, distance } => values.get(&(statement.index(), from(distance))).copied(),
                Feed::Partial { distance } => {
                    values.get(&(*s, from(&distance.iter().map(|a| a.eval(n)).collect::<Vec<_>>()))).copied()
                }
                Feed::Carry { statement, read, distance } => {
                    let read = ReadId { statement: statement.index(), read: *read };
                    reads.get(&(read, from(distance))).copied()
                }
            };
            let value = value.ok_or_else(|| format!("read {k} of S{s} at {n:?} comes from where no value is"))?;
            reads.insert((ReadId { statement: *s, read: k }, n.clone()), value);
            operands.push(value);
        }
        let point: Vec<i64> = placed.iterators.iter().map(|a| a.eval(n)).collect();
        let value = eval(&statement.rhs, &operands, &point);
        values.insert((*s, n.clone()), value);
        if placed.live_out.iter().any(|all| all.iter().all(|c| c.holds(n))) {
            let array = statement.write.array;
            let at = position(&scop.array(array).dims, placed.write.iter().map(|a| a.eval(n)));
            let cell = at.and_then(|at| memory[array.index()].get_mut(at));
            *cell.ok_or_else(|| format!("S{s} stores outside of `{}` at {n:?}", scop.array(array).name))? = value;
        }
    }
    Ok(())
}

/// The instances of all statements in the order of the iteration space, then of the text.
fn instances(system: &System) -> Result<Vec<(Vec<i64>, usize)>, String> {
    let mut instances: Vec<(Vec<i64>, usize)> = Vec::new();
    for (s, placed) in system.statements.iter().enumerate() {
        for domain in &placed.domain {
            let mut add = |n: &[i64]| {
                instances.push((n.to_vec(), s));
                instances.len() <= INSTANCES
            };
            Polyhedron::new(system.dims.len(), domain).visit(&mut add);
        }
        if instances.len() > INSTANCES {
            return Err("more than 2^24 instances to interpret".into());
        }
    }
    instances.sort();
    instances.dedup();
    Ok(instances)
}

/// Bits in the place of those that hardware leaves arbitrary.
pub const GARBAGE: u64 = 0xdead_beef_dead_beef;

/// The pattern of values that hardware leaves arbitrary.
pub fn garbage(ty: ScalarType) -> u64 {
    GARBAGE & mask(ty.bits())
}
