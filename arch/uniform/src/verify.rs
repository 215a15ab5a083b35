//! The verifiers of a [`System`] and of a [`Plan`] over it. Every later pass relies on these invariants:
//!
//! 1. Every statement has a place: its iterators are affine over the coordinates, each along a dimension of its own,
//!    and its domain is that of the program.
//! 2. The pieces of a variable are disjoint, and cover the statement's domain.
//! 3. Every distance is constant, or for a partial result a function of the sizes. It is forward: lexicographically
//!    positive, or zero with the producer earlier in the text.
//! 4. A value comes from where it was stored: at that distance the producer executes, and it writes the element that is
//!    read. A carried value is there, and is of the same element.
//! 5. With phases, a value that is read from memory was stored in an earlier phase, and is the cell's last value
//!    ([`crate::verify::memory`]).
//! 6. Each dimension reaches from the least to the greatest coordinate of all statements; a size from 1 to its maximum.
//! 7. A plan's transform has determinant ±1, its factors are positive, its order is a permutation, its axes differ.
//!
//! **Method.** Each invariant is an inclusion or an intersection of sets of integer points, which `scop::flow` decides
//! exactly; 5 is checked against a new dataflow analysis of the program.
//!
//! **Source.** Feautrier, "Dataflow Analysis of Array and Scalar References" (1991).

mod memory;

use crate::affine::determinant;
use crate::affine::map::{
    compose, constant_on, coordinate, lexicographically_positive, lexicographically_positive_on, minus,
};
use crate::mapping::Plan;
use crate::system::{Feed, Piece, Placed, System};
use scop::flow;
use scop::{Access, Affine, Constraint, Scop, StmtId};

/// # Errors
/// Every violation, in words.
pub fn system(scop: &Scop, system: &System) -> Result<(), Vec<String>> {
    let mut faults = shape(scop, system);
    if faults.is_empty() {
        for s in 0..system.statements.len() {
            let check = Check { scop, system, s };
            faults.extend(check.statement().into_iter().map(|fault| format!("S{s}: {fault}")));
        }
    }
    if faults.is_empty() && system.has_phases() {
        faults = crate::verify::memory::check(scop, system);
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

/// Checks the ends of the dimensions, which texts state beside the domains that they follow from.
///
/// # Errors
/// Every violation, in words.
pub fn frame(scop: &Scop, system: &System) -> Result<(), Vec<String>> {
    let domains: Vec<Vec<Constraint>> = system.statements.iter().flat_map(|p| p.domain.clone()).collect();
    let found = flow::domain_bounds(&domains, system.dims.len());
    let found = found.unwrap_or_else(|| vec![(0, 0); system.dims.len()]);
    let mut faults = vec![];
    for (k, (dim, found)) in system.dims.iter().zip(found).enumerate() {
        let size = scop.sizes.iter().find(|s| s.name == dim.name).filter(|_| system.parameters().contains(&k));
        let (lo, hi) = size.map_or(found, |size| (1, size.max));
        if (dim.lo, dim.hi) != (lo, hi) {
            let name = &dim.name;
            faults.push(format!("the dimension {name} is {}..{}: its statements are in {lo}..{hi}", dim.lo, dim.hi));
        }
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults),
    }
}

/// Lengths and indices.
fn shape(scop: &Scop, system: &System) -> Vec<String> {
    let depth = system.dims.len();
    let mut faults = vec![];
    if system.statements.len() != scop.statements.len() {
        return vec![format!("{} places for {} statements", system.statements.len(), scop.statements.len())];
    }
    for (s, (placed, statement)) in system.statements.iter().zip(&scop.statements).enumerate() {
        let mut require = |good: bool, fault: &str| {
            if !good {
                faults.push(format!("S{s}: {fault}"));
            }
        };
        let mut dims = placed.dims.clone();
        dims.sort_unstable();
        dims.dedup();
        require(
            dims.len() == statement.loops.len() && dims.iter().all(|&d| d < depth),
            "its iterators do not each have a dimension of their own",
        );
        require(
            placed.iterators.len() == statement.loops.len() && placed.iterators.iter().all(|a| a.coeffs.len() == depth),
            "its iterators are not functions of the iteration space",
        );
        require(placed.variables.len() == statement.reads.len(), "not every read is a variable");
        let conjunctions = placed
            .domain
            .iter()
            .chain(&placed.live_out)
            .chain(placed.variables.iter().flat_map(|v| &v.pieces).map(|p| &p.domain));
        require(
            conjunctions.flatten().all(|c| c.expr.coeffs.len() == depth),
            "a condition has the wrong number of coefficients",
        );
        for piece in placed.variables.iter().flat_map(|v| &v.pieces) {
            require(
                match &piece.feed {
                    Feed::Input { subscripts } => subscripts.iter().all(|a| a.coeffs.len() == depth),
                    Feed::Value { statement, distance } => {
                        statement.index() < system.statements.len() && distance.len() == depth
                    }
                    Feed::Carry { statement, read, distance } => {
                        scop.statements.get(statement.index()).is_some_and(|x| *read < x.reads.len())
                            && distance.len() == depth
                    }
                    Feed::Partial { distance } => {
                        distance.len() == depth
                            && distance.iter().all(|a| {
                                a.coeffs.len() == depth && a.coeffs[system.parameters().end..].iter().all(|&c| c == 0)
                            })
                    }
                },
                "a value comes from a statement or read that there is not, or over another number of dimensions",
            );
        }
    }
    faults
}

struct Check<'a> {
    scop: &'a Scop,
    system: &'a System,
    s: usize,
}

impl Check<'_> {
    fn depth(&self) -> usize {
        self.system.dims.len()
    }

    fn placed(&self) -> &Placed {
        &self.system.statements[self.s]
    }

    /// An access over the coordinates.
    fn over_coordinates(&self, s: usize, access: &Access) -> Vec<Affine> {
        access.subscripts.iter().map(|a| compose(a, &self.system.statements[s].iterators, self.depth())).collect()
    }

    fn statement(&self) -> Vec<String> {
        let (placed, statement, depth) = (self.placed(), &self.scop.statements[self.s], self.depth());
        let mut faults = vec![];
        let executed = flow::image(&placed.domain, &placed.iterators, depth).pieces;
        let n = statement.loops.len();
        if !flow::union_implies(&executed, &statement.domain, n)
            || !flow::union_implies(&statement.domain, &executed, n)
        {
            faults.push("its domain over the coordinates is not the program's".into());
        }
        if !flow::union_implies(&placed.live_out, &placed.domain, depth) {
            faults.push("values that it does not compute stay in DRAM".into());
        }
        for (k, variable) in placed.variables.iter().enumerate() {
            let parts: Vec<_> = variable.pieces.iter().map(|p| p.domain.clone()).collect();
            if !flow::union_implies(&placed.domain, &parts, depth) {
                faults.push(format!("read {k} has no value on a part of the domain"));
            }
            for (a, piece) in variable.pieces.iter().enumerate() {
                if variable.pieces[..a].iter().any(|b| flow::intersects(&piece.domain, &b.domain, depth)) {
                    faults.push(format!("read {k} has two values on a part of the domain"));
                }
                faults.extend(self.piece(k, piece).map(|fault| format!("read {k}: {fault}")));
            }
        }
        faults
    }

    fn piece(&self, k: usize, piece: &Piece) -> Option<String> {
        let access = &self.scop.statements[self.s].reads[k];
        let wanted = self.over_coordinates(self.s, access);
        let constants =
            |distance: &[i64]| distance.iter().map(|&e| Affine::constant(self.depth(), e)).collect::<Vec<_>>();
        let value = |statement: StmtId, distance: &[Affine]| {
            let write = &self.scop.statement(statement).write;
            let same = write.array == access.array
                && self.equal(&self.over_coordinates(statement.index(), write), &wanted, distance, piece);
            self.source(statement, distance, piece, false)
                .or_else(|| (!same).then(|| format!("S{} writes another element there", statement.0)))
        };
        match &piece.feed {
            Feed::Input { subscripts } => {
                let same = subscripts.len() == wanted.len()
                    && self.equal(subscripts, &wanted, &constants(&vec![0; self.depth()]), piece);
                (!same).then(|| "the input is not the element that is read".into())
            }
            Feed::Value { statement, distance } => value(*statement, &constants(distance)),
            Feed::Partial { distance } => value(StmtId(self.s as u32), distance),
            Feed::Carry { statement, read, distance } => {
                let other = &self.scop.statement(*statement).reads[*read];
                let distance = &constants(distance);
                let same = other.array == access.array
                    && self.equal(&self.over_coordinates(statement.index(), other), &wanted, distance, piece);
                let itself = statement.index() == self.s && *read == k;
                self.source(*statement, distance, piece, itself)
                    .or_else(|| (!same).then(|| format!("read {read} of S{} is another element there", statement.0)))
            }
        }
    }

    /// `there(n - distance)` is `here(n)` on the piece.
    fn equal(&self, there: &[Affine], here: &[Affine], distance: &[Affine], piece: &Piece) -> bool {
        let moved = |a: &Affine| compose(a, &self.behind(distance), self.depth());
        flow::is_empty(&piece.domain, self.depth())
            || there.iter().zip(here).all(|(a, b)| constant_on(&minus(&moved(a), b), &piece.domain) == Some(0))
    }

    /// `n - distance` over `n`.
    fn behind(&self, distance: &[Affine]) -> Vec<Affine> {
        distance.iter().enumerate().map(|(d, e)| minus(&coordinate(d, self.depth()), e)).collect()
    }

    /// The fault of a value of `statement` at this distance, if it has one.
    fn source(&self, statement: StmtId, distance: &[Affine], piece: &Piece, itself: bool) -> Option<String> {
        let constant: Option<Vec<i64>> = distance.iter().map(|a| a.is_constant().then_some(a.constant)).collect();
        let here = constant.as_ref().is_some_and(|all| all.iter().all(|&x| x == 0));
        let forward = constant.as_ref().map_or_else(
            || lexicographically_positive_on(distance, &piece.domain),
            |all| lexicographically_positive(all),
        );
        let distances = || {
            distance
                .iter()
                .map(|a| if a.is_constant() { a.constant.to_string() } else { "by sizes".into() })
                .collect::<Vec<_>>()
                .join(", ")
        };
        // A read comes before its statement's value; it may pass its value on to another read of its iteration.
        if !(forward || here && !itself && statement.index() <= self.s) {
            return Some(format!("distance [{}] is not forward", distances()));
        }
        let behind = self.behind(distance);
        let moved = |c: &Constraint| Constraint { expr: compose(&c.expr, &behind, self.depth()), equality: c.equality };
        let domain = &self.system.statements[statement.index()].domain;
        let there: Vec<Vec<Constraint>> = domain.iter().map(|all| all.iter().map(moved).collect()).collect();
        let part = [piece.domain.clone()];
        let needed: Vec<_> = part
            .iter()
            .flat_map(|p| self.placed().domain.iter().map(move |d| [p.clone(), d.clone()].concat()))
            .collect();
        (!flow::union_implies(&needed, &there, self.depth()))
            .then(|| format!("S{} is not executed at distance [{}] from all of it", statement.0, distances()))
    }
}

/// # Errors
/// Every violation, in words.
pub fn plan(system: &System, plan: &Plan) -> Result<(), Vec<String>> {
    let depth = system.dims.len();
    let mut faults = vec![];
    let mut require = |good: bool, fault: String| {
        if !good {
            faults.push(fault);
        }
    };
    require(
        plan.transform.len() == depth && plan.dims.len() == depth,
        format!("{} coordinates for {depth} dimensions", plan.transform.len()),
    );
    if plan.transform.len() == depth && plan.transform.iter().all(|row| row.len() == depth) {
        let d = determinant(&plan.transform);
        require(d.abs() == 1, format!("the transform has determinant {d}"));
    }
    let mut order = plan.order.clone();
    order.sort_unstable();
    require(order.iter().copied().eq(0..depth), "the order is not one of all coordinates".into());
    let mut axes: Vec<usize> = plan.dims.iter().filter_map(|d| d.axis).collect();
    axes.sort_unstable();
    require(matches!(axes.as_slice(), [] | [0] | [0, 1]), "the axes of the array are not none, 0, or 0 and 1".into());
    let positive = |d: &crate::mapping::DimPlan| {
        [d.tile.unwrap_or(1), d.latency, d.simd].iter().all(|f| (1..=1 << 30).contains(f))
    };
    require(plan.dims.iter().all(positive), "a factor is not positive".into());
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}
