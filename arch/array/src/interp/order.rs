//! In which order nodes and PEs are evaluated within one wave.
//!
//! Nodes whose values go in circles within a wave (always over hops to other PEs) are levelized over (node, PE);
//! all others are evaluated for all PEs at once, after what they depend on.

use crate::interp::linear::neighbours;
use crate::vsa::{Op, Vsa};

/// PEs by index, in the order in which they may be evaluated.
pub(super) enum Lanes {
    /// PEs `0..n`.
    All(usize),
    Some(Vec<u32>),
}

/// One node, evaluated at some PEs.
pub(super) struct Step {
    pub node: usize,
    pub lanes: Lanes,
}

/// `(source, hop)` of everything node `n` takes from the same wave.
fn inputs(vsa: &Vsa, n: usize) -> Vec<(usize, [i64; 2])> {
    match vsa.nodes[n].op {
        ref op @ Op::Past { .. } if op.is_delayed() => vec![],
        Op::Past { source, hop, .. } => vec![(source.index(), hop)],
        ref op => op.sources().into_iter().map(|s| (s.index(), [0, 0])).collect(),
    }
}

/// # Errors
/// A value that depends on itself within a wave.
pub(super) fn steps(vsa: &Vsa) -> Result<Vec<Step>, String> {
    let count = vsa.nodes.len();
    let mut search = Search {
        edges: (0..count).map(|n| inputs(vsa, n)).collect(),
        index: vec![0; count],
        low: vec![0; count],
        next: 1,
        stack: vec![],
        found: vec![],
    };
    for n in 0..count {
        if search.index[n] == 0 {
            search.visit(n);
        }
    }
    let pes = (vsa.extent[0] * vsa.extent[1]) as usize;
    let mut steps = Vec::new();
    for component in &search.found {
        let circular = component.len() > 1 || search.edges[component[0]].iter().any(|e| e.0 == component[0]);
        if circular {
            levelize(vsa, component, &search.edges, &mut steps)?;
        } else {
            steps.push(Step { node: component[0], lanes: Lanes::All(pes) });
        }
    }
    Ok(steps)
}

/// Tarjan's strongly connected components; they are found in the order of evaluation.
struct Search {
    edges: Vec<Vec<(usize, [i64; 2])>>,
    /// Order of discovery from 1; 0 before, `usize::MAX` when the component is complete.
    index: Vec<usize>,
    low: Vec<usize>,
    next: usize,
    stack: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search {
    /// Depth-first search with its own stack of (node, next edge).
    fn visit(&mut self, root: usize) {
        let mut path = vec![(root, 0)];
        self.enter(root);
        while let Some((n, edge)) = path.last_mut() {
            let n = *n;
            if let Some(&(source, _)) = self.edges[n].get(*edge) {
                *edge += 1;
                if self.index[source] == 0 {
                    self.enter(source);
                    path.push((source, 0));
                } else if self.index[source] != usize::MAX {
                    self.low[n] = self.low[n].min(self.index[source]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                self.low[parent] = self.low[parent].min(self.low[n]);
            }
            if self.low[n] == self.index[n] {
                self.close(n);
            }
        }
    }

    fn enter(&mut self, n: usize) {
        (self.index[n], self.low[n]) = (self.next, self.next);
        self.next += 1;
        self.stack.push(n);
    }

    fn close(&mut self, n: usize) {
        let from = self.stack.iter().rposition(|&m| m == n).unwrap_or(0);
        let mut component = self.stack.split_off(from);
        component.iter().for_each(|&m| self.index[m] = usize::MAX);
        component.sort_unstable();
        self.found.push(component);
    }
}

/// Level by level, the (node, PE) pairs whose operands are complete.
fn levelize(
    vsa: &Vsa,
    component: &[usize],
    edges: &[Vec<(usize, [i64; 2])>],
    steps: &mut Vec<Step>,
) -> Result<(), String> {
    let pes = (vsa.extent[0] * vsa.extent[1]) as usize;
    let place = |n: usize| component.binary_search(&n).ok();
    // Per member: (reader, PE of the value -> PE of the reader).
    let mut readers: Vec<Vec<(usize, Vec<u32>)>> = vec![vec![]; component.len()];
    let mut missing = vec![0u32; component.len() * pes];
    for (reader, &n) in component.iter().enumerate() {
        for &(source, hop) in &edges[n] {
            let Some(member) = place(source) else { continue };
            let to = neighbours(vsa, hop.map(|h| -h));
            to.iter().filter(|&&p| p != u32::MAX).for_each(|&p| missing[reader * pes + p as usize] += 1);
            readers[member].push((reader, to));
        }
    }
    let mut level: Vec<(usize, u32)> = Vec::new();
    for (i, _) in missing.iter().enumerate().filter(|(_, &m)| m == 0) {
        level.push((i / pes, (i % pes) as u32));
    }
    let mut done = 0;
    while !level.is_empty() {
        level.sort_unstable();
        done += level.len();
        for run in level.chunk_by(|a, b| a.0 == b.0) {
            steps.push(Step { node: component[run[0].0], lanes: Lanes::Some(run.iter().map(|r| r.1).collect()) });
        }
        let mut next = Vec::new();
        for &(member, pe) in &level {
            for (reader, to) in &readers[member] {
                let p = to[pe as usize];
                if p != u32::MAX {
                    let left = &mut missing[reader * pes + p as usize];
                    *left -= 1;
                    if *left == 0 {
                        next.push((*reader, p));
                    }
                }
            }
        }
        level = next;
    }
    if done < missing.len() {
        let names: Vec<String> = component.iter().map(|n| format!("%{n}")).collect();
        return Err(format!("values depend on themselves within a wave: {}", names.join(", ")));
    }
    Ok(())
}
