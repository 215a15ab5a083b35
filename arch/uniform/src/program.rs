//! A program and its recurrences: everything that all mappings of one program share.
//!
//! A program whose sizes are arguments of the kernel has two forms: the *general* one, over all sizes, from which
//! arrays are made, and the one at the *greatest* sizes, by which arrays are compared. A program of constant sizes has
//! one form, which is both.

use crate::design::Factors;
use crate::recurrence::passed;
use crate::recurrence::reduction::{self, Reduction};
use crate::recurrence::rewrite::Attempt;
use crate::recurrence::share::Sharing;
use crate::system::System;
use scop::{flow, Constraint, LoopId, Scop, Statement};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

/// The work of the program's loop nests: of their deepest statements. Statements that begin or end a sum do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Executions of their statements.
    pub operations: i64,
    /// Iterations: each keeps one lane busy for one wave, whatever the number of its statements.
    pub iterations: i64,
}

impl Work {
    /// At the greatest sizes.
    pub fn at_most(scop: &Scop) -> Work {
        if scop.open_sizes() > 0 {
            Work::of(&scop.at(&scop.maxima()))
        } else {
            Work::of(scop)
        }
    }

    pub fn of(scop: &Scop) -> Work {
        let mut work = Work { operations: 0, iterations: 0 };
        let mut nests: Vec<(&[LoopId], Vec<Vec<Constraint>>)> = Vec::new();
        // The depth of the nests of one outermost loop, or of none.
        let deepest = |outermost: Option<&LoopId>| {
            scop.statements.iter().filter(|s| s.loops.first() == outermost).map(|s| s.loops.len()).max()
        };
        let loops = scop.statements.iter().any(|s| !s.loops.is_empty());
        let counts = |s: &Statement| (!loops || !s.loops.is_empty()) && deepest(s.loops.first()) == Some(s.loops.len());
        for statement in scop.statements.iter().filter(|s| counts(s)) {
            work.operations += count(&statement.domain, statement.loops.len());
            match nests.iter_mut().find(|n| n.0 == statement.loops) {
                Some((_, domain)) => domain.extend(statement.domain.iter().cloned()),
                None => nests.push((&statement.loops, statement.domain.clone())),
            }
        }
        work.iterations = nests.iter().map(|(loops, domain)| count(domain, loops.len())).sum();
        work
    }
}

/// The number of iterations of a domain over `depth` dimensions.
pub fn count(domain: &[Vec<Constraint>], depth: usize) -> i64 {
    flow::count(domain, depth).unwrap_or(0) as i64
}

/// A program and its recurrences, with what follows from them.
#[derive(Clone)]
pub struct Form<'a> {
    pub scop: Cow<'a, Scop>,
    pub system: System,
    /// Per statement, the sum that it accumulates, if the order of its terms is free.
    pub reductions: Vec<Option<Reduction>>,
    pub sharing: Sharing,
    /// Per array: phases pass values to each other in it.
    pub passed: Vec<bool>,
}

impl<'a> Form<'a> {
    /// `reassociate`: see [`crate::design::Arithmetic`].
    pub fn new(scop: Cow<'a, Scop>, mut system: System, reassociate: Option<bool>) -> Form<'a> {
        let reductions: Vec<_> =
            (0..scop.statements.len()).map(|s| reduction::find(&scop, &system, s, reassociate)).collect();
        let sharing = Sharing::find(&scop, &system, &reductions);
        sharing.join_inputs(&scop, &mut system);
        let passed = if system.has_phases() { passed::passed(&scop, &system) } else { vec![false; scop.arrays.len()] };
        Form { scop, system, reductions, sharing, passed }
    }
}

/// Everything that all mappings of one program share. Dereferences to the form at the greatest sizes.
#[derive(Clone)]
pub struct Program<'a> {
    /// Over all sizes.
    pub general: Arc<Form<'a>>,
    /// At the greatest sizes; the same form if sizes are constants.
    pub greatest: Arc<Form<'a>>,
    /// Floating-point sums may be re-associated.
    pub reassociate: Option<bool>,
    pub work: Work,
    /// Each loop nest is a phase of its own, though one array could execute several.
    pub apart: bool,
    /// The iterations of one strip, by strip-mined loop.
    pub strip: Factors,
    /// Skews by loop: how many iterations later it begins from strip to strip.
    pub slant: Factors,
    /// Per statement, its lines of C.
    pub quotes: Arc<[Option<String>]>,
    /// The outcome of every rewrite up to the successful one.
    pub rewrites: Vec<Attempt>,
    /// The region before it was rewritten, if it was.
    pub written: Option<Cow<'a, Scop>>,
}

impl<'a> Deref for Program<'a> {
    type Target = Form<'a>;
    fn deref(&self) -> &Form<'a> {
        &self.greatest
    }
}

impl<'a> Program<'a> {
    /// `work`: iterations of all nests together; those that share a place count once.
    pub fn new(
        scop: Cow<'a, Scop>,
        system: System,
        reassociate: Option<bool>,
        mut work: Work,
        rewrites: Vec<Attempt>,
    ) -> Program<'a> {
        let quotes = scop.statements.iter().map(|s| scop.sources.quote(s.span)).collect();
        let general = Arc::new(Form::new(scop, system, reassociate));
        let greatest = at_most(&general, reassociate);
        // Iterations of several nests at one place share a lane.
        let all = &greatest.system;
        let places: Vec<Vec<Constraint>> = all.statements.iter().flat_map(|s| s.domain.iter().cloned()).collect();
        work.iterations = work.iterations.min(count(&places, all.dims.len()));
        Program {
            general,
            greatest,
            reassociate,
            work,
            apart: false,
            strip: Factors::new(),
            slant: Factors::new(),
            quotes,
            rewrites,
            written: None,
        }
    }

    /// The same program over the recurrences `system`, at all sizes, in strips.
    pub fn over(&self, system: System, strip: Factors, slant: Factors) -> Program<'a> {
        let general = Arc::new(Form::new(self.general.scop.clone(), system, self.reassociate));
        let greatest = at_most(&general, self.reassociate);
        Program { general, greatest, strip, slant, apart: false, written: None, ..self.clone() }
    }

    /// Whether sizes are arguments of the kernel.
    pub fn is_sized(&self) -> bool {
        self.general.system.is_sized()
    }
}

/// A form at its greatest sizes.
fn at_most<'a>(general: &Arc<Form<'a>>, reassociate: Option<bool>) -> Arc<Form<'a>> {
    if !general.system.is_sized() {
        return general.clone();
    }
    let maxima = general.scop.maxima();
    let scop = general.scop.at(&maxima);
    let system = general.system.at(&scop, &maxima);
    Arc::new(Form::new(Cow::Owned(scop), system, reassociate))
}
