//! Which lanes may share DSP slices, by the program alone (`array::pe::pack` packs what an array has).
//!
//! Problem: products are packed that share a factor. Lanes of a sum share none, so the space has to have further lanes.
//!
//! Method: a dimension that moves one factor of a product and not the other gives lanes that share the other one. Lanes
//! along two such dimensions, one for each factor, share both. How many lanes a slice has room for follows from the
//! factors' types.
//!
//! Example: `C[i][j] += A[i][k] * B[k][j]` of `int8_t`: two lanes along `i`, or two along `j`. Of `int4_t`: two along
//! both, or three along one.
//!
//! Invariant: no array has more products in a slice than [`Packings::most`].

use super::products::factors;
use crate::facts::Facts;
use crate::space::Packing;
use array::kernel::Kernel;
use array::operators::takes_slices;
use array::pe::{cheaper, largest, LEAST_TERMS};
use scop::value::narrow;
use scop::{Expr, ExprKind, ScalarType, Scop, Statement};
use uniform::affine::map::compose;
use uniform::design::DesignSpec;

/// A product of integers, without constants.
struct Product {
    types: [ScalarType; 2],
    /// The program's dimensions that move each factor.
    moves: [Vec<bool>; 2],
}

pub(super) struct Packings {
    products: Vec<Product>,
    /// Bits of a multiplier's factors.
    factors: [u32; 2],
    /// Products in a slice, at most.
    pub most: i64,
    /// Some product may need no slice.
    pub small: bool,
}

impl Packings {
    /// Without [`uniform::design::Arithmetic::pack`] a slice has one product.
    pub fn new(program: &Kernel, spec: &DesignSpec) -> Packings {
        let factors = spec.fabric.factors();
        let packs = spec.arithmetic.pack == Some(true) && spec.fabric.is_lut6();
        let mut products = products(program);
        let small = products.iter().any(|p| !takes_slices(p.types, spec.fabric));
        products.retain(|_| packs);
        let in_slice = |p: &Product| largest(p.types, [usize::MAX; 2], 1, factors).map_or(1, |[m, n]| m * n);
        let most = products.iter().map(in_slice).max().unwrap_or(1) as i64;
        Packings { products, factors, most, small }
    }

    /// Products of integers that may be packed, in all statements.
    pub fn products(&self) -> usize {
        self.products.len()
    }

    /// Lanes under one transform whose products share slices.
    pub fn under(&self, facts: &Facts) -> Vec<Packing> {
        let depth = facts.extent.len();
        let own = |t: usize| {
            let d = facts.alone(t)?;
            let alone = facts.transform.iter().enumerate().all(|(u, row)| u == t || row[d] == 0);
            let free = facts.parallel(t) && !facts.carried.summed[t] && facts.extent[t] > 1;
            (alone && free).then_some((t, d))
        };
        let dims: Vec<(usize, usize)> = (facts.phases..depth).filter_map(own).collect();
        let mut all: Vec<Packing> = vec![];
        for product in &self.products {
            let only = |k: usize| {
                let moves = move |d: usize| product.moves[k][d] && !product.moves[1 - k][d];
                dims.iter().filter(move |(_, d)| moves(*d)).map(|(t, _)| *t as u8)
            };
            let lanes = |most: [usize; 2]| largest(product.types, most, LEAST_TERMS, self.factors);
            let [one, other] = [lanes([usize::MAX, 1]), lanes([1, usize::MAX])];
            let single = |dim, n: usize| Packing::of(std::iter::once((dim, n as i64)));
            all.extend(one.into_iter().flat_map(|[n, _]| only(0).map(move |dim| single(dim, n))));
            all.extend(other.into_iter().flat_map(|[_, n]| only(1).map(move |dim| single(dim, n))));
            let Some([m, n]) = lanes([usize::MAX; 2]).filter(|n| !n.contains(&1)) else { continue };
            let both = only(0).flat_map(|a| only(1).map(move |b| [(a, m as i64), (b, n as i64)]));
            all.extend(both.map(|mut both| {
                both.sort_unstable();
                Packing::of(both.into_iter())
            }));
        }
        all.sort_unstable();
        all.dedup();
        // Of several products with the same dimensions, the lanes of the one with the fewest.
        all.dedup_by_key(|p| p.dims);
        all
    }
}

fn products(program: &Kernel) -> Vec<Product> {
    let (scop, depth) = (&program.scop, program.system.dims.len());
    let mut found = vec![];
    for (statement, placed) in scop.statements.iter().zip(&program.system.statements) {
        let moves = |e: &Expr| {
            let reads = e.reads().into_iter().flat_map(|k| &statement.reads[k].subscripts);
            let over = reads.map(|a| compose(a, &placed.iterators, depth));
            over.fold(vec![false; depth], |all, a| all.iter().zip(&a.coeffs).map(|(x, c)| *x || *c != 0).collect())
        };
        factors(&statement.rhs, false, &mut |product, _, a, b| {
            if !product.ty.is_float() {
                let types = [a, b].map(|e| narrowest(scop, statement, e, &mut vec![]));
                found.push(Product { types, moves: [a, b].map(moves) });
            }
        });
    }
    found
}

/// The narrowest type that some PE may know of the expression: an element that a statement stores may be its value.
/// `seen`: statements whose values are being looked at.
fn narrowest(scop: &Scop, of: &Statement, e: &Expr, seen: &mut Vec<usize>) -> ScalarType {
    if let Some(cheaper) = cheaper(e) {
        return narrowest(scop, of, &cheaper, seen);
    }
    match &e.kind {
        ExprKind::Const(value) => narrow::of_numbers(&[*value], e.ty),
        ExprKind::Lookup(table, _) => narrow::of_numbers(table, e.ty),
        ExprKind::Cast(a) => narrow::of_cast(narrowest(scop, of, a, seen), e.ty),
        ExprKind::Read(k) => {
            let stores = |s: &usize| scop.statements[*s].write.array == of.reads[*k].array;
            let mut least = e.ty;
            for s in (0..scop.statements.len()).filter(stores) {
                if seen.contains(&s) {
                    continue;
                }
                seen.push(s);
                let stored = &scop.statements[s];
                let value = narrow::of_cast(narrowest(scop, stored, &stored.rhs, seen), e.ty);
                seen.pop();
                if value.bits() < least.bits() {
                    least = value;
                }
            }
            least
        }
        _ => e.ty,
    }
}
