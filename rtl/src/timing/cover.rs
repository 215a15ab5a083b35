//! LUTs for gates: for each gate, a few cuts with few levels.
//!
//! A *cut* of a gate is a set of at most six cells, its leaves, that decide the gate's value: one LUT computes the gate
//! from them. The level of a gate is one more than the highest level of the leaves of its best cut. Hard cells and
//! constants have level 0, as in synthesis, which maps the logic between them by itself. A cut is better if it has fewer
//! levels and if its leaves are there earlier: synthesis counts levels alone, and merges gates where levels allow it.

/// Inputs of a LUT.
pub const INPUTS: usize = 6;
/// Cuts that a gate keeps.
const CUTS: usize = 4;
/// A cut of one more level is taken if its value is there this much earlier, in ns.
const DEEPER: f32 = 0.2;

#[derive(Clone, Copy, PartialEq)]
pub struct Cut {
    leaves: [u32; INPUTS],
    count: u8,
    pub depth: Depth,
}

/// How deep a cell is: its level, and about when its value is there, in ns. Of a cut, those of its deepest leaf.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Depth {
    pub level: u16,
    pub ns: f32,
}

impl Depth {
    /// What a mapper minimizes.
    fn cost(self) -> f32 {
        self.ns + DEEPER * f32::from(self.level)
    }

    fn max(self, other: Depth) -> Depth {
        Depth { level: self.level.max(other.level), ns: self.ns.max(other.ns) }
    }
}

impl Cut {
    fn single(leaf: u32, depth: Depth) -> Cut {
        let mut leaves = [u32::MAX; INPUTS];
        leaves[0] = leaf;
        Cut { leaves, count: 1, depth }
    }

    pub fn leaves(&self) -> &[u32] {
        &self.leaves[..self.count as usize]
    }

    /// Both sets of leaves, which are in order; `None` if they are too many.
    fn with(&self, other: &Cut) -> Option<Cut> {
        let (a, b) = (self.leaves(), other.leaves());
        let mut out = Cut { leaves: [u32::MAX; INPUTS], count: 0, depth: self.depth.max(other.depth) };
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            if out.count as usize == INPUTS {
                return None;
            }
            let (x, y) = (a.get(i).copied().unwrap_or(u32::MAX), b.get(j).copied().unwrap_or(u32::MAX));
            out.leaves[out.count as usize] = x.min(y);
            out.count += 1;
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        Some(out)
    }
}

/// The cuts of a gate with at most six inputs, the best one first; `of` gives the cuts and the depth of a cell.
pub fn cuts<'a>(inputs: &[u32], of: impl Fn(u32) -> (&'a [Cut], Depth)) -> Vec<Cut> {
    // The inputs themselves are always a cut; `trivial` joins those so far.
    let mut trivial = Cut { leaves: [u32::MAX; INPUTS], count: 0, depth: Depth::default() };
    let mut found = vec![];
    for (k, &input) in inputs.iter().enumerate() {
        let (own, depth) = of(input);
        let single = Cut::single(input, depth);
        let mut next: Vec<Cut> = vec![];
        for part in found.iter().chain([&trivial]) {
            for cut in own.iter().chain([&single]) {
                if let Some(cut) = part.with(cut).filter(|c| !next.contains(c)) {
                    next.push(cut);
                }
            }
        }
        trivial = trivial.with(&single).unwrap_or(trivial);
        next.sort_by(|a, b| (a.depth.cost().total_cmp(&b.depth.cost())).then(a.count.cmp(&b.count)));
        next.truncate(if k + 1 < inputs.len() { 2 * CUTS } else { CUTS });
        found = next;
    }
    found
}
