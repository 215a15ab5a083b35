//! A program whose loops end by strip, asked for or to be chosen from (`recurrence::strips`).

use super::assemble::{Program, Slanted};
use super::by_hand::dim_named;
use crate::ir::design::{ArrayChoice, DesignSpec, Factors, Shape};
use crate::recurrence::strips::{self, Cut};
use crate::verify;
use frontend::diag::{Diagnostic, Diagnostics};

/// Into how many strips a loop is cut, where nobody says it, and how many of such programs are looked at: those that walk least.
const STRIPS: [i64; 3] = [16, 8, 4];
const ALTERNATIVES: usize = 3;

/// The program in the strips that the user asks for; itself for none.
///
/// # Errors
/// Loops that cannot be cut, or need not.
pub fn stripped<'a>(program: Program<'a>, spec: &DesignSpec) -> Result<Program<'a>, Diagnostics> {
    let Some(Shape { strip, .. }) = spec.array.shape() else { return Ok(program) };
    let Some((name, &size)) = strip.iter().next() else { return Ok(program) };
    let fault = |text: String, help: String| Err(vec![Diagnostic::error("E0728", None, text).help(help)]);
    if strip.len() > 1 {
        return fault("--strip cuts one loop".into(), format!("for example --strip {name}={size}"));
    }
    if size < 1 {
        return fault(format!("--strip {name}={size}: a strip has at least one iteration"), format!("for example --strip {name}=16"));
    }
    let sizes = program.system.sizes > 0 || program.sized.is_some();
    if sizes || program.system.phases > 0 {
        let what = if sizes { "a program with sizes at run time" } else { "a program in phases" };
        return fault(format!("--strip: {what} is not cut into strips"), "leave the option out: loops there end as the sizes or the phases say".into());
    }
    let d = dim_named(&program.system, name).map_err(|f| vec![f])?;
    let known = strips::dimensions(&program.system);
    let others: Vec<&str> = known.iter().map(|&(d, _)| program.system.dims[d].name.as_str()).collect();
    let help = if others.is_empty() { "leave the option out: no loop of this program can be cut so that others end earlier".into() } else { format!("loops that can be cut: {}", others.join(", ")) };
    let Some(&(_, far)) = known.iter().find(|k| k.0 == d) else {
        return fault(format!("--strip {name}={size}: values are carried backwards over the loop `{name}`, or no other loop ends as it says"), help);
    };
    if size < far {
        return fault(format!("--strip {name}={size}: values are carried over {far} iterations of the loop `{name}`"), format!("a strip has as many at least: --strip {name}={far}"));
    }
    let space: Vec<usize> = match &spec.array {
        ArrayChoice::ByHand { space: Some(space), .. } => space.iter().filter_map(|name| dim_named(&program.system, name).ok()).collect(),
        _ => vec![],
    };
    let cuts = cuts(&program, (d, far), size);
    let behind: Vec<usize> = space.iter().map(|d| d + 1).collect();
    let wanted = cuts.into_iter().filter(|cut| space.is_empty() || cut.1.allows(&behind));
    match wanted.filter_map(|(system, slanted)| cut(&program, d, size, system, slanted, spec)).next() {
        Some(cut) => Ok(cut),
        None => fault(format!("--strip {name}={size}: in strips of that size hardly less would be walked, or one would read what another has overwritten"), "take a smaller size, or leave the option out".into()),
    }
}

/// The program in strips, those that walk least first.
pub fn alternatives<'a>(program: &Program<'a>, spec: &DesignSpec) -> Vec<Program<'a>> {
    if program.sized.is_some() {
        return vec![];
    }
    let mut all: Vec<(usize, i64, Cut, Slanted)> = vec![];
    for (d, far) in strips::dimensions(&program.system) {
        let dim = &program.system.dims[d];
        let extent = dim.hi - dim.lo + 1;
        let mut sizes: Vec<i64> = STRIPS.iter().map(|n| (extent + n - 1) / n).filter(|&size| (far.max(1)..extent).contains(&size)).collect();
        sizes.dedup();
        all.extend(sizes.into_iter().flat_map(|size| cuts(program, (d, far), size).into_iter().map(move |(cut, slanted)| (d, size, cut, slanted))));
    }
    all.sort_by(|a, b| a.2.system.walked().total_cmp(&b.2.system.walked()));
    all.into_iter().filter_map(|(d, size, system, slanted)| cut(program, d, size, system, slanted, spec)).take(ALTERNATIVES).collect()
}

/// The system in strips of `size` iterations of dimension `d`. Where values are handed on from strip to strip, they stay in their PEs:
/// no space loop begins later from strip to strip, so of those that could, each in turn does not, and is one.
fn cuts(program: &Program, (d, far): (usize, i64), size: i64) -> Vec<(Cut, Slanted)> {
    let of = |upright: &[usize]| strips::strips(&program.scop, &program.system, d, size, upright);
    let Some(all) = of(&[]) else { return vec![] };
    if far == 0 {
        return vec![(all, Slanted::default())];
    }
    let dims = all.slanted.clone();
    let each = dims.iter().filter_map(|&d| Some((of(&[d])?, vec![d])));
    let behind = |all: &[usize]| all.iter().map(|d| d + 1).collect::<Vec<_>>();
    let found = std::iter::once((all, vec![])).chain(each);
    found.map(|(cut, upright)| { let slanted = Slanted { dims: behind(&cut.slanted), upright: behind(&upright) }; (cut, slanted) }).collect()
}

/// The program over strips of `size` iterations of dimension `d`, if none overwrites what another has yet to read.
fn cut<'a>(program: &Program<'a>, d: usize, size: i64, Cut { system, .. }: Cut, slanted: Slanted, spec: &DesignSpec) -> Option<Program<'a>> {
    verify::system(&program.scop, &system).ok()?;
    let strip = Factors::from([(program.system.dims[d].name.clone(), size)]);
    Some(program.over(system, strip, slanted, spec))
}
