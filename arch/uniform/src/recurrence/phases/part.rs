//! A part of a program under phase loops, as a program of its own; and the order in which its statements depend on each
//! other.
//!
//! **Method.** The iterators of the phase loops become subscripts in front of all others, of every array that the part
//! writes ([`under`]). So each value of the phase loops has cells of its own, and the dataflow is that within a phase:
//! a value of an earlier phase is an input, and the last value of a cell in its phase is live at the end.
//!
//! ```text
//! for t: for i: a[i] = f(a[i-1], a[i+1]);     under t:    for t: for i: a[t][i] = f(a[t][i-1], a[t][i+1]);
//! ```
//!
//! [`plain`] takes the subscripts away again. [`components`] orders the strongly connected components of the
//! dependences, each as early as in the text.

use crate::affine::map::coordinate;
use crate::recurrence::phases::Phase;
use crate::system::{Feed, System};
use petgraph::graph::DiGraph;
use scop::diag::Diagnostics;
use scop::flow;
use scop::flow::{Source, WRITE};
use scop::{Access, Affine, ArrayId, Scop, Statement, Storage};
use std::collections::BTreeSet;

/// The statements as a program under `level` phase loops; `memory`: which arrays are in DRAM.
pub(in crate::recurrence) fn under(scop: &Scop, statements: &[usize], level: usize, memory: &[bool]) -> Scop {
    let chosen: Vec<&Statement> = statements.iter().map(|&s| &scop.statements[s]).collect();
    let written: BTreeSet<ArrayId> = chosen.iter().map(|s| s.write.array).collect();
    let mut out = Scop { statements: chosen.iter().map(|s| of_phases(s, level, &written)).collect(), ..scop.clone() };
    let trips: Vec<i64> = (0..level).map(|d| trip(&chosen, d)).collect();
    for (k, array) in out.arrays.iter_mut().enumerate() {
        if written.contains(&ArrayId(k as u32)) {
            array.dims.splice(0..0, trips.iter().copied());
        }
        array.storage = if memory[k] { Storage::Dram } else { Storage::Local };
    }
    out
}

/// The trip count of a loop that starts at 0.
fn trip(statements: &[&Statement], d: usize) -> i64 {
    let ends = statements.iter().filter_map(|s| flow::domain_bounds(&s.domain, s.loops.len()).map(|b| b[d].1 + 1));
    ends.max().unwrap_or(1).max(1)
}

fn of_phases(statement: &Statement, level: usize, written: &BTreeSet<ArrayId>) -> Statement {
    let depth = statement.loops.len();
    let access = |a: &Access| {
        let iterators = (0..level).filter(|_| written.contains(&a.array)).map(|d| coordinate(d, depth));
        Access { subscripts: iterators.chain(a.subscripts.iter().cloned()).collect(), ..a.clone() }
    };
    Statement {
        write: access(&statement.write),
        reads: statement.reads.iter().map(access).collect(),
        ..statement.clone()
    }
}

/// The form of a phase without the subscripts that [`under`] has added.
pub(in crate::recurrence) fn plain(scop: &Scop, mut form: Scop, level: usize) -> Scop {
    let longer: Vec<bool> = form.arrays.iter().zip(&scop.arrays).map(|(a, b)| a.dims.len() > b.dims.len()).collect();
    for s in &mut form.statements {
        for access in s.reads.iter_mut().chain([&mut s.write]).filter(|a| longer[a.array.index()]) {
            access.subscripts.drain(..level);
        }
    }
    form.arrays.clone_from(&scop.arrays);
    form
}

/// As [`plain`], for the inputs of the system of `form`.
pub(in crate::recurrence) fn plain_inputs(scop: &Scop, form: &Scop, mut system: System, level: usize) -> System {
    let longest = |subscripts: &Vec<Affine>, array: ArrayId| subscripts.len() > scop.array(array).dims.len();
    for (placed, statement) in system.statements.iter_mut().zip(&form.statements) {
        for (variable, read) in placed.variables.iter_mut().zip(&statement.reads) {
            for piece in &mut variable.pieces {
                if let Feed::Input { subscripts } = &mut piece.feed {
                    if longest(subscripts, read.array) {
                        subscripts.drain(..level);
                    }
                }
            }
        }
    }
    system
}

impl Phase {
    pub(super) fn reads_from_memory(&self, array: ArrayId) -> bool {
        self.system.statements.iter().zip(&self.scop.statements).any(|(placed, statement)| {
            let reads = placed.variables.iter().zip(&statement.reads).filter(|(_, read)| read.array == array);
            reads.flat_map(|(v, _)| &v.pieces).any(|p| matches!(p.feed, Feed::Input { .. }))
        })
    }
}

/// Why the order of statements is unknown.
pub(super) enum Unordered {
    /// Local arrays pass values from one value of the phase loops to the next.
    Memory(Vec<ArrayId>),
    NotAffine(Diagnostics),
}

/// The strongly connected components of the dependences, in an order that all dependences allow, each as early as in
/// the text. Statements that share a local array stay together.
pub(super) fn components(
    scop: &Scop,
    statements: &[usize],
    level: usize,
    memory: &[bool],
) -> Result<Vec<Vec<usize>>, Unordered> {
    let part = under(scop, statements, level, &vec![true; scop.arrays.len()]);
    let flow = flow::analyze(&part).map_err(Unordered::NotAffine)?;
    let mut graph: DiGraph<usize, ()> = DiGraph::new();
    let nodes: Vec<_> = (0..statements.len()).map(|s| graph.add_node(s)).collect();
    let mut carried = BTreeSet::new();
    for (s, reads) in flow.reads.iter().enumerate() {
        for (pieces, read) in reads.iter().zip(&part.statements[s].reads) {
            for piece in pieces {
                match &piece.source {
                    Source::Write { statement, .. } => {
                        graph.update_edge(nodes[statement.index()], nodes[s], ());
                        if !memory[read.array.index()] {
                            graph.update_edge(nodes[s], nodes[statement.index()], ());
                        }
                    }
                    Source::Input | Source::Undefined if !memory[read.array.index()] => _ = carried.insert(read.array),
                    _ => {}
                }
            }
        }
    }
    if !carried.is_empty() {
        return Err(Unordered::Memory(carried.into_iter().collect()));
    }
    for dep in flow.anti.iter().chain(&flow.output) {
        let (s, access) = dep.from;
        let from = &part.statement(s);
        let array = if access == WRITE { from.write.array } else { from.reads[access].array };
        if memory[array.index()] {
            graph.update_edge(nodes[s.index()], nodes[dep.to.0.index()], ());
        }
    }
    let ordered = in_order(&graph);
    Ok(ordered.into_iter().map(|all| all.into_iter().map(|s| statements[s]).collect()).collect())
}

/// The strongly connected components, the one with the first statement of those that may come next.
fn in_order(graph: &DiGraph<usize, ()>) -> Vec<Vec<usize>> {
    let mut open: Vec<Vec<usize>> = petgraph::algo::tarjan_scc(graph)
        .into_iter()
        .map(|all| {
            let mut all: Vec<usize> = all.into_iter().map(|n| graph[n]).collect();
            all.sort_unstable();
            all
        })
        .collect();
    open.sort();
    let mut ordered = Vec::new();
    while !open.is_empty() {
        let waits = |all: &Vec<usize>| {
            graph.edge_indices().filter_map(|e| graph.edge_endpoints(e)).any(|(from, to)| {
                let (from, to) = (graph[from], graph[to]);
                all.contains(&to) && !all.contains(&from) && open.iter().any(|other| other.contains(&from))
            })
        };
        let next = open.iter().position(|all| !waits(all)).expect("components have no circle");
        ordered.push(open.remove(next));
    }
    ordered
}
