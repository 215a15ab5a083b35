//! One phase of a program in phases, as a program of its own: the coordinates of phases have one value each, and its
//! loads are those of a program that begins there.

use crate::arrange::Refusal;
use scop::{flow, Constraint, Scop};
use std::collections::BTreeMap;
use uniform::affine::map::fixed;
use uniform::program::Program;
use uniform::system::{Dim, Place, Placed, System};

/// Phases of a program, at most: each has a kernel of its own, unless phases are equal.
const MOST: usize = 64;

/// # Errors
/// There are too many of them.
pub fn phases<'a>(program: &Program<'a>) -> Result<Vec<Program<'a>>, Refusal> {
    if !program.general.system.has_phases() {
        return Ok(vec![program.clone()]);
    }
    let mut values: Vec<Vec<i64>> = vec![vec![]];
    for dim in &program.general.system.dims[program.general.system.sequences()] {
        values = values.iter().flat_map(|v| (dim.lo..=dim.hi).map(|x| [v.as_slice(), &[x]].concat())).collect();
        if values.len() > MOST {
            return Err(Refusal::new(format!(
                "the program runs in more than {MOST} phases, one after the other, and each is a launch"
            ))
            .help("put the nests into functions of their own, and call them in a loop on a stream"));
        }
    }
    let systems = values.iter().map(|phase| during(&program.general.scop, &program.general.system, phase));
    let some = systems.filter(|system| system.statements.iter().any(|s| !s.domain.is_empty()));
    Ok(some.map(|system| program.over(system, BTreeMap::new(), BTreeMap::new())).collect())
}

fn during(scop: &Scop, system: &System, phase: &[i64]) -> System {
    let depth = system.dims.len();
    let there: Vec<Constraint> = system.sequences().zip(phase).map(|(d, &v)| fixed(d, v, depth)).collect();
    let narrowed = |conj: &[Constraint]| Some([conj, &there].concat()).filter(|c| !flow::is_empty(c, depth));
    let union = |all: &[Vec<Constraint>]| all.iter().filter_map(|c| narrowed(c)).collect::<Vec<_>>();
    let placed = |(s, old): (usize, &Placed)| {
        let mut place: Place = old.clone().place();
        (place.domain, place.live_out) = (union(&place.domain), union(&place.live_out));
        for variable in &mut place.variables {
            variable.pieces.retain_mut(|piece| match narrowed(&piece.domain) {
                Some(domain) => {
                    piece.domain = domain;
                    true
                }
                None => false,
            });
        }
        Placed::new(scop, s, place, system.frame())
    };
    let statements: Vec<Placed> = system.statements.iter().enumerate().map(placed).collect();
    let names = system.dims.iter().map(|d| d.name.clone()).collect();
    System::new(Dim::around(names, |d| system.dims[d].kind, &statements), statements)
}
