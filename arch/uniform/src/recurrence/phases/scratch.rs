//! Local arrays that pass values between phases become *scratch buffers* in DRAM.
//!
//! 1. Renaming ([`renamed`]): a local array that is used anew for something else becomes several, such as a `sum` in
//!    each of two nests.
//! 2. Expansion ([`expanded`]): the array gets a cell for each iteration of the loops whose iterations use it for
//!    themselves, so that one iteration does not wait for another.
//! 3. Buffers ([`buffers`]): if such a loop becomes a phase loop around all users, one iteration's cells serve all, and
//!    the subscript is dropped.
//!
//! ```text
//! for i: { t = f(i); for j: a[i][j] = t; }    expanded:    t[i] = f(i);  a[i][j] = t[i]
//! ```
//!
//! **Source.** Renaming and scalar expansion: Kuck, Kuhn, Padua, Leasure, Wolfe, "Dependence Graphs and Compiler
//! Optimizations" (1981).

use crate::affine::map::{constant_on, coordinate, minus};
use crate::recurrence::phases::{Item, Sequence};
use crate::system::Feed;
use petgraph::unionfind::UnionFind;
use scop::flow;
use scop::flow::{Flow, Source};
use scop::{Access, Affine, Array, ArrayId, Binding, LoopId, Scop, Statement, Storage};

/// Elements beyond which an array gets no further cells.
const MOST: i64 = 1 << 26;

/// The subscripts that [`expanded`] has put in front of an array's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Expansion {
    /// The loop whose iterator each of them is.
    loops: Vec<LoopId>,
}

/// The program with local arrays split by the webs of their values: no value passes from one web to another.
pub(super) fn renamed(scop: &Scop, flow: &Flow) -> Scop {
    let mut out = scop.clone();
    for array in (0..scop.arrays.len() as u32).map(ArrayId).filter(|&a| scop.array(a).storage == Storage::Local) {
        let writers: Vec<usize> =
            (0..scop.statements.len()).filter(|&s| scop.statements[s].write.array == array).collect();
        let mut webs = UnionFind::<usize>::new(scop.statements.len());
        let sources = |s: usize, k: usize| {
            flow.reads[s][k].iter().filter_map(|p| match &p.source {
                Source::Write { statement, .. } => Some(statement.index()),
                Source::Input | Source::Undefined => None,
            })
        };
        let reads = || {
            scop.statements.iter().enumerate().flat_map(|(s, all)| {
                all.reads.iter().enumerate().filter(|(_, r)| r.array == array).map(move |(k, _)| (s, k))
            })
        };
        for (s, k) in reads() {
            let all: Vec<usize> = sources(s, k).collect();
            all.windows(2).for_each(|pair| _ = webs.union(pair[0], pair[1]));
        }
        let mut arrays: Vec<(usize, ArrayId)> = vec![];
        for &s in &writers {
            let web = webs.find(s);
            let renamed = arrays
                .iter()
                .find(|w| w.0 == web)
                .map_or_else(|| if arrays.is_empty() { array } else { another(&mut out, array) }, |w| w.1);
            arrays.push((web, renamed));
            out.statements[s].write.array = renamed;
        }
        for (s, k) in reads() {
            let renamed = sources(s, k).next().and_then(|w| arrays.iter().find(|x| x.0 == webs.find(w)));
            renamed.into_iter().for_each(|w| out.statements[s].reads[k].array = w.1);
        }
    }
    out
}

/// One more array like this one.
fn another(scop: &mut Scop, array: ArrayId) -> ArrayId {
    let like = scop.array(array).clone();
    let name =
        (2..).map(|n| format!("{}_{n}", like.name)).find(|n| scop.arrays.iter().all(|a| a.name != *n)).expect("a name");
    scop.arrays.push(Array { name, ..like });
    ArrayId(scop.arrays.len() as u32 - 1)
}

/// The depths of the loops around all users of a local array whose iterations read only what they have written
/// themselves.
fn private(scop: &Scop, flow: &Flow, array: ArrayId) -> Vec<usize> {
    let users: Vec<&Statement> = scop.statements.iter().filter(|s| accesses(s).any(|a| a.array == array)).collect();
    let Some(first) = users.first() else { return vec![] };
    let common = |d: &usize| users.iter().all(|s| s.loops.get(*d) == first.loops.get(*d));
    let depth = (0..first.loops.len()).take_while(common).count();
    (0..depth).filter(|&d| keeps_to_itself(scop, flow, array, d) && !is_subscript(&users, array, d)).collect()
}

/// Whether each iteration of the loops at depth `d` reads only what it has written itself.
fn keeps_to_itself(scop: &Scop, flow: &Flow, array: ArrayId, d: usize) -> bool {
    let reads = scop
        .statements
        .iter()
        .zip(&flow.reads)
        .flat_map(|(s, all)| s.reads.iter().zip(all).map(move |(r, pieces)| (s.loops.len(), r, pieces)));
    reads.filter(|(_, r, _)| r.array == array).all(|(depth, _, pieces)| {
        pieces.iter().all(|p| match &p.source {
            Source::Write { iteration, .. } => {
                constant_on(&minus(&iteration[d], &coordinate(d, depth)), &p.domain) == Some(0)
            }
            Source::Input | Source::Undefined => false,
        })
    })
}

/// The iterator at depth `d` is a subscript of the array already.
fn is_subscript(users: &[&Statement], array: ArrayId, d: usize) -> bool {
    let all: Vec<(usize, &Access)> =
        users.iter().flat_map(|s| accesses(s).filter(|a| a.array == array).map(|a| (s.loops.len(), a))).collect();
    (0..all[0].1.subscripts.len()).any(|k| all.iter().all(|(depth, a)| a.subscripts[k] == coordinate(d, *depth)))
}

fn accesses(s: &Statement) -> impl Iterator<Item = &Access> {
    s.reads.iter().chain([&s.write])
}

/// Whether the array makes no iteration of the loop at depth `d` wait for another.
pub(super) fn is_private(scop: &Scop, flow: &Flow, array: ArrayId, d: usize) -> bool {
    private(scop, flow, array).contains(&d)
}

/// The program with a cell of `array` for each iteration of its private loops behind the first `sizes`.
pub(super) fn expanded(scop: &Scop, flow: &Flow, array: ArrayId, sizes: usize) -> (Scop, Expansion) {
    let mut out = scop.clone();
    let mut expansion = Expansion::default();
    let mut depths = vec![];
    let mut dims = vec![];
    let mut elements: i64 = scop.array(array).dims.iter().product();
    for d in private(scop, flow, array).into_iter().filter(|&d| d >= sizes) {
        let users = scop.statements.iter().filter(|s| accesses(s).any(|a| a.array == array));
        let trips = users.clone().filter_map(|s| flow::domain_bounds(&s.domain, s.loops.len()).map(|b| b[d].1 + 1));
        let (Some(trip), Some(user)) = (trips.max(), users.clone().next()) else { continue };
        if trip < 1 || elements.saturating_mul(trip) > MOST {
            continue;
        }
        elements *= trip;
        depths.push(d);
        dims.push(trip);
        expansion.loops.push(user.loops[d]);
    }
    for statement in &mut out.statements {
        let depth = statement.loops.len();
        for access in statement.reads.iter_mut().chain([&mut statement.write]).filter(|a| a.array == array) {
            access.subscripts.splice(0..0, depths.iter().map(|&d| coordinate(d, depth)));
        }
    }
    out.arrays[array.index()].dims.splice(0..0, dims);
    (out, expansion)
}

/// Makes the arrays buffers in DRAM, and drops the subscripts that a phase loop around all users keeps constant.
pub(super) fn buffers(scop: &mut Scop, items: &mut [Item], carried: &[(ArrayId, Expansion)]) {
    for (array, expansion) in carried {
        for (k, at) in expansion.loops.iter().enumerate().rev() {
            if is_around_all(items, *array, *at) {
                scop.arrays[array.index()].dims.remove(k);
                drop_subscript(items, *array, k);
            }
        }
        let buffer = &mut scop.arrays[array.index()];
        (buffer.storage, buffer.binding) = (Storage::Dram, Binding::Scratch);
        // A buffer is as large as at the greatest sizes.
        buffer.extents.clear();
    }
}

/// Whether all users of the array are in the phase loop `at`.
fn is_around_all(items: &[Item], array: ArrayId, at: LoopId) -> bool {
    let mut using = items.iter().filter(|item| uses(item, array));
    match (using.next(), using.next()) {
        (Some(Item::Loop(Sequence { at: phase_loop, items, .. })), None) => {
            *phase_loop == at || is_around_all(items, array, at)
        }
        _ => false,
    }
}

fn uses(item: &Item, array: ArrayId) -> bool {
    match item {
        Item::Phase(phase) => phase.scop.statements.iter().any(|s| accesses(s).any(|a| a.array == array)),
        Item::Loop(sequence) => sequence.items.iter().any(|item| uses(item, array)),
    }
}

fn drop_subscript(items: &mut [Item], array: ArrayId, k: usize) {
    for item in items {
        let phase = match item {
            Item::Loop(sequence) => {
                drop_subscript(&mut sequence.items, array, k);
                continue;
            }
            Item::Phase(phase) => phase,
        };
        for (placed, statement) in phase.system.statements.iter_mut().zip(&mut phase.scop.statements) {
            let drop = |subscripts: &mut Vec<Affine>| drop(subscripts.remove(k));
            for (variable, _) in placed.variables.iter_mut().zip(&statement.reads).filter(|(_, r)| r.array == array) {
                let inputs = variable.pieces.iter_mut().filter_map(|p| match &mut p.feed {
                    Feed::Input { subscripts } => Some(subscripts),
                    _ => None,
                });
                inputs.for_each(drop);
            }
            statement
                .reads
                .iter_mut()
                .chain([&mut statement.write])
                .filter(|a| a.array == array)
                .for_each(|a| drop(&mut a.subscripts));
        }
    }
}
