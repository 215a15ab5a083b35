//! **Recomputed values.** A statement that reads only inputs of the program, such as `c[m] = 0` or `y[m] = b[m]` in a
//! nest of its own, can compute its value again wherever it is read. The same operations on the same operands give the
//! same bits.
//!
//! **Example.** `c[i + j] += a[i] * b[j]` gets its zero at the first iteration of each diagonal. These lie on two sides
//! of its domain, at no constant distance from the iterations of the loop over `m`.
//!
//! **Method.** Each reader gets a copy of the statement before it, in its own loops, which writes the cell that is
//! read. The statement itself is dropped if nobody reads it any more and others write its cells last.

use crate::affine::map::compose;
use crate::recurrence::rewrite::{substituted, Region, Version};
use scop::flow;
use scop::flow::{Flow, Piece, Source};
use scop::{Access, Affine, Constraint, Scop, Statement};

/// Copies per statement of the program at most. Beyond that a PE would spend its operators on copies; a stencil whose
/// first step reads inputs alone, for example, would compute that step again for each point of the next.
const COPIES_PER_STATEMENT: usize = 2;

/// A statement of the program, by its number there, or a copy that recomputes its values.
struct Marked {
    statement: Statement,
    original: usize,
    copy: bool,
}

/// The program with recomputed values; nothing if no statement qualifies, if there would be too many copies, or if a copy
/// would find its operands overwritten.
pub fn recomputed<'a>(region: &Region<'a>) -> Vec<Version<'a>> {
    let scop = region.flow().ok().and_then(|flow| recompute(region.scop, flow));
    scop.map(Version::at_will).into_iter().collect()
}

fn recompute(scop: &Scop, flow: &Flow) -> Option<Scop> {
    let early: Vec<bool> =
        flow.reads.iter().map(|reads| reads.iter().flatten().all(|p| p.source == Source::Input)).collect();
    let marked: Vec<Marked> = (0..scop.statements.len()).flat_map(|s| beside(scop, flow, s, &early)).collect();
    let copies = marked.iter().filter(|m| m.copy).count();
    if copies == 0 || copies > COPIES_PER_STATEMENT * scop.statements.len() {
        return None;
    }
    let program =
        |marked: &[Marked]| Scop { statements: marked.iter().map(|m| m.statement.clone()).collect(), ..scop.clone() };
    let flow = flow::analyze(&program(&marked)).ok()?;
    let reads = |t: usize, s: usize| {
        flow.reads[t]
            .iter()
            .flatten()
            .any(|p| matches!(p.source, Source::Write { statement, .. } if statement.index() == s))
    };
    // A copy reads the operands of its statement, perhaps in the cells that the statement overwrites; that is no use.
    let is_read = |s: usize| {
        (0..marked.len()).any(|t| !(marked[t].copy && marked[t].original == marked[s].original) && reads(t, s))
    };
    let is_final = |s: usize| flow.live_out.iter().any(|l| l.statement.index() == s);
    let needed: Vec<bool> = (0..marked.len()).map(|s| is_read(s) || is_final(s)).collect();
    let left: Vec<Marked> = marked.into_iter().zip(needed).filter(|(_, needed)| *needed).map(|(m, _)| m).collect();
    let out = program(&left);
    let flow = flow::analyze(&out).ok()?;
    let same = |(reads, marked): (&Vec<Vec<Piece>>, &Marked)| {
        !marked.copy || reads.iter().flatten().all(|p| p.source == Source::Input)
    };
    flow.reads.iter().zip(&left).all(same).then_some(out)
}

/// Statement `s` behind the copies that it reads. Positions are spread to make room for them.
fn beside(scop: &Scop, flow: &Flow, s: usize, early: &[bool]) -> Vec<Marked> {
    let reader = &scop.statements[s];
    let mut copies: Vec<(usize, Vec<Affine>, Statement)> = Vec::new();
    for piece in flow.reads[s].iter().flatten() {
        let Source::Write { statement, iteration } = &piece.source else { continue };
        let producer = statement.index();
        if !early[producer] || producer == s {
            continue;
        }
        match copies.iter_mut().find(|c| c.0 == producer && c.1 == *iteration) {
            Some((.., copy)) => copy.domain.push(piece.domain.clone()),
            None => copies.push((
                producer,
                iteration.clone(),
                at_reader(&scop.statements[producer], iteration, reader, &piece.domain),
            )),
        }
    }
    let room = 1 + flow.reads.iter().map(|reads| reads.iter().map(Vec::len).sum::<usize>()).max().unwrap_or(0) as i64;
    let count = copies.len() as i64;
    let spread = |statement: Statement, before: i64| {
        let mut beta: Vec<i64> = statement.beta.iter().map(|b| b * room).collect();
        if let Some(last) = beta.last_mut() {
            *last += room - 1 - before;
        }
        Statement { beta, ..statement }
    };
    let copy = |(k, (original, _, copy)): (usize, (usize, Vec<Affine>, Statement))| {
        let domain = flow::disjoint(&copy.domain, reader.loops.len());
        Marked { statement: Statement { domain, ..spread(copy, count - k as i64) }, original, copy: true }
    };
    let before = copies.into_iter().enumerate().map(copy);
    before.chain([Marked { statement: spread(reader.clone(), 0), original: s, copy: false }]).collect()
}

/// A copy of `producer` at `iteration`, for the iterations of `reader` in `domain`.
fn at_reader(producer: &Statement, iteration: &[Affine], reader: &Statement, domain: &[Constraint]) -> Statement {
    let depth = reader.loops.len();
    let over = |a: &Affine| compose(a, iteration, depth);
    let access = |a: &Access| Access { subscripts: a.subscripts.iter().map(over).collect(), ..a.clone() };
    Statement {
        loops: reader.loops.clone(),
        domain: vec![domain.to_vec()],
        around: reader.around.clone(),
        beta: reader.beta.clone(),
        write: access(&producer.write),
        rhs: substituted(&producer.rhs, &over),
        reads: producer.reads.iter().map(access).collect(),
        span: producer.span,
    }
}
