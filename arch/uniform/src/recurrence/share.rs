//! Statements that share the operators and the links of a PE, because no iteration executes two of them.
//!
//! **Problem.** `X[c][q] = q == 0 ? x[c] : X[c + 1][q - 1];` is two statements, one for each side of the condition, and
//! Floyd–Warshall has four folded parts. Side by side in a PE, each would have operators of its own, and a link of its
//! own to every reader.
//!
//! **Terms.** A [`Joint`] is the common value of several statements. Its [`Tree`] lays their expressions upon each
//! other.
//!
//! **Method.** Statements with disjoint domains that write one array are joined if they have operators in common, or if
//! one only brings a value in where the other passes it on. Equal operators become one. Operands that differ are
//! selected in front of it:
//!
//! ```text
//! S0: a + b * c                 + (S0: a, S1: d)
//! S1: d + e * f          ->       * (S0: b, S1: e) (S0: c, S1: f)
//! S2: g                         Beyond: S2 takes only its operand
//! ```
//!
//! **Invariant.** The domains of a joint's statements are disjoint. Sums in any order are never joined; a PE builds
//! them another way.

use crate::affine::map::{constant_on, minus};
use crate::recurrence::reduction::Reduction;
use crate::system::{Feed, ReadId, System};
use scop::flow;
use scop::{Affine, Expr, ExprKind, Scop};
use std::collections::BTreeMap;

/// The value of several statements.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    pub statements: Vec<usize>,
    pub value: Tree,
}

/// Expressions of several statements, laid upon each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// The expression of one statement.
    Own(usize, Expr),
    /// Reads of several statements: one variable.
    Read(Vec<ReadId>),
    /// One operator; `like` is one of them.
    Operator { like: Expr, operands: Vec<Tree> },
    /// The operator for these statements; for all others, only its operand `at`.
    Beyond { statements: Vec<usize>, whole: Box<Tree>, at: usize },
    /// Nothing in common: one part for each set of statements.
    Choice(Vec<(Vec<usize>, Tree)>),
}

/// What the statements of a PE share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sharing {
    pub joints: Vec<Joint>,
    /// Per statement: which of `joints`.
    pub of: Vec<Option<usize>>,
    /// The reads that are one variable, by each of them.
    pub variables: BTreeMap<ReadId, Vec<ReadId>>,
}

impl Sharing {
    pub fn find(scop: &Scop, system: &System, reductions: &[Option<Reduction>]) -> Sharing {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for s in (0..scop.statements.len()).filter(|&s| reductions[s].is_none()) {
            let written = |t: usize| scop.statements[t].write.array;
            let fits = |group: &&mut Vec<usize>| {
                written(group[0]) == written(s)
                    && group.iter().all(|&t| are_disjoint(system, s, t))
                    && group.iter().any(|&t| is_worth(scop, system, s, t))
            };
            match groups.iter_mut().find(fits) {
                Some(group) => group.push(s),
                None => groups.push(vec![s]),
            }
        }
        groups.retain(|g| g.len() > 1);
        let mut sharing = Sharing { of: vec![None; scop.statements.len()], ..Sharing::default() };
        for statements in groups {
            let values: Vec<(usize, Expr)> = statements.iter().map(|&s| (s, stored(scop, s))).collect();
            let value = overlaid(scop, values);
            sharing.note_variables(&value);
            statements.iter().for_each(|&s| sharing.of[s] = Some(sharing.joints.len()));
            sharing.joints.push(Joint { statements, value });
        }
        sharing
    }

    /// Writes the inputs of a shared variable as its widest read has them: the first weight of `w[q]` is no input of
    /// its own.
    pub fn join_inputs(&self, scop: &Scop, system: &mut System) {
        let before = system.clone();
        let array = |r: &ReadId| scop.statements[r.statement].reads[r.read].array;
        for (id, reads) in &self.variables {
            let of_array = reads.iter().filter(|r| array(r) == array(id));
            let inputs: Vec<&Vec<Affine>> = of_array
                .flat_map(|r| &before.statements[r.statement].variables[r.read].pieces)
                .filter_map(|p| input(&p.feed))
                .collect();
            for piece in &mut system.statements[id.statement].variables[id.read].pieces {
                let Some(subscripts) = input(&piece.feed) else { continue };
                let same = |other: &Vec<Affine>| {
                    subscripts.iter().zip(other).all(|(a, b)| constant_on(&minus(a, b), &piece.domain) == Some(0))
                };
                let moving = |a: &Vec<Affine>| a.iter().flat_map(|x| &x.coeffs).filter(|c| **c != 0).count();
                let widest = inputs
                    .iter()
                    .filter(|other| moving(other) > moving(subscripts) && same(other))
                    .max_by_key(|other| moving(other));
                if let Some(other) = widest {
                    piece.feed = Feed::Input { subscripts: other.to_vec() };
                }
            }
        }
    }

    /// A read that occurs several times in a value belongs to the variable of the first place.
    fn note_variables(&mut self, tree: &Tree) {
        match tree {
            Tree::Read(all) if all.iter().all(|r| !self.variables.contains_key(r)) => {
                all.iter().for_each(|&r| drop(self.variables.insert(r, all.clone())))
            }
            Tree::Own(..) | Tree::Read(_) => {}
            Tree::Operator { operands, .. } => operands.iter().for_each(|t| self.note_variables(t)),
            Tree::Beyond { whole, .. } => self.note_variables(whole),
            Tree::Choice(all) => all.iter().for_each(|(_, t)| self.note_variables(t)),
        }
    }
}

fn input(feed: &Feed) -> Option<&Vec<Affine>> {
    if let Feed::Input { subscripts } = feed {
        Some(subscripts)
    } else {
        None
    }
}

/// The value that the statement stores, in its array's type.
fn stored(scop: &Scop, s: usize) -> Expr {
    let statement = &scop.statements[s];
    let ty = scop.array(statement.write.array).ty;
    let rhs = statement.rhs.clone();
    if rhs.ty == ty {
        rhs
    } else {
        Expr { ty, span: rhs.span, kind: ExprKind::Cast(Box::new(rhs)) }
    }
}

fn are_disjoint(system: &System, s: usize, t: usize) -> bool {
    let depth = system.dims.len();
    let (a, b) = (&system.statements[s].domain, &system.statements[t].domain);
    a.iter().all(|x| b.iter().all(|y| !flow::intersects(x, y, depth)))
}

/// They have operators in common, or one only brings a value in where the other passes it on.
fn is_worth(scop: &Scop, system: &System, s: usize, t: usize) -> bool {
    let (a, b) = (stored(scop, s), stored(scop, t));
    if !is_bare(&a) && !is_bare(&b) {
        return has_operator(&overlaid(scop, vec![(s, a), (t, b)]));
    }
    let variables = system.statements.iter().flat_map(|p| &p.variables);
    variables.into_iter().any(|v| {
        let from = |w: usize| {
            v.pieces.iter().filter_map(move |p| match &p.feed {
                Feed::Value { statement, distance } if statement.index() == w => Some(distance),
                _ => None,
            })
        };
        from(s).any(|d| from(t).any(|e| d == e))
    })
}

/// Nothing is computed.
fn is_bare(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Iter(_) | ExprKind::Read(_) | ExprKind::Holds(_) => true,
        ExprKind::Cast(a) => is_bare(a),
        _ => false,
    }
}

/// Some operator that computes serves several statements.
fn has_operator(tree: &Tree) -> bool {
    match tree {
        Tree::Own(..) | Tree::Read(_) => false,
        Tree::Operator { like, operands } => {
            !matches!(like.kind, ExprKind::Cast(_)) || operands.iter().any(has_operator)
        }
        Tree::Beyond { whole, at, .. } => {
            matches!(&**whole, Tree::Operator { operands, .. } if has_operator(&operands[*at]))
        }
        Tree::Choice(all) => all.iter().any(|(_, t)| has_operator(t)),
    }
}

/// The same operator over operands of the same types.
fn is_same_operator(a: &Expr, b: &Expr) -> bool {
    let operator = match (&a.kind, &b.kind) {
        (ExprKind::Unary(x, _), ExprKind::Unary(y, _)) => x == y,
        (ExprKind::Binary(x, ..), ExprKind::Binary(y, ..)) => x == y,
        (ExprKind::Lookup(x, _), ExprKind::Lookup(y, _)) => x == y,
        (ExprKind::Select(..), ExprKind::Select(..))
        | (ExprKind::Cast(_), ExprKind::Cast(_))
        | (ExprKind::Fma(..), ExprKind::Fma(..)) => true,
        _ => false,
    };
    operator && a.ty == b.ty && a.operands().iter().zip(b.operands()).all(|(x, y)| x.ty == y.ty)
}

fn size(e: &Expr) -> usize {
    1 + e.operands().into_iter().map(size).sum::<usize>()
}

/// Expressions of one type, at least one, laid upon each other.
fn overlaid(scop: &Scop, mut all: Vec<(usize, Expr)>) -> Tree {
    if all.len() == 1 {
        let (s, e) = all.remove(0);
        return Tree::Own(s, e);
    }
    let read = |(s, e): &(usize, Expr)| match e.kind {
        ExprKind::Read(read) => Some(ReadId { statement: *s, read }),
        _ => None,
    };
    let reads: Vec<ReadId> = all.iter().filter_map(read).collect();
    let ty = |r: &ReadId| scop.array(scop.statements[r.statement].reads[r.read].array).ty;
    if reads.len() == all.len() && reads.iter().all(|r| ty(r) == ty(&reads[0])) {
        return Tree::Read(reads);
    }
    let largest = all.iter().map(|(_, e)| size(e)).max().unwrap_or(0);
    let like = all.iter().find(|(_, e)| size(e) == largest).map(|(_, e)| e.clone()).expect("not empty");
    let (same, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, e)| is_same_operator(e, &like));
    if same.is_empty() {
        // Leaves of several kinds.
        let (reads, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(_, e)| matches!(e.kind, ExprKind::Read(_)));
        let leaf = |(s, e): (usize, Expr)| (vec![s], Tree::Own(s, e));
        return Tree::Choice(reads.into_iter().chain(others).map(leaf).collect());
    }
    let statements = |of: &[(usize, Expr)]| of.iter().map(|x| x.0).collect::<Vec<_>>();
    let operand =
        |of: &[(usize, Expr)], j: usize| of.iter().map(|(s, e)| (*s, e.operands()[j].clone())).collect::<Vec<_>>();
    let count = like.operands().len();
    if rest.is_empty() {
        return Tree::Operator { operands: (0..count).map(|j| overlaid(scop, operand(&same, j))).collect(), like };
    }
    let inside = (0..count).find(|&j| rest.iter().all(|(_, e)| is_same_operator(e, like.operands()[j])));
    match inside {
        Some(at) => {
            let with =
                |j: usize| operand(&same, j).into_iter().chain(rest.iter().filter(|_| j == at).cloned()).collect();
            let operands = (0..count).map(|j| overlaid(scop, with(j))).collect();
            Tree::Beyond { statements: statements(&same), whole: Box::new(Tree::Operator { like, operands }), at }
        }
        None => {
            Tree::Choice(vec![(statements(&same), overlaid(scop, same)), (statements(&rest), overlaid(scop, rest))])
        }
    }
}
