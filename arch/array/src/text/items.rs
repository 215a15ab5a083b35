//! Parts of a line of a Vsa's text that need nothing but the line: types, nodes, delays, banks, bounds, formulas.

use crate::vsa::*;
use scop::text::lex::{is_word, Line, Token};
use scop::value::{Field, Spread};
use scop::{Affine, ScalarType};
use uniform::sizes::Formula;

pub(super) fn ty(line: &mut Line) -> Result<ScalarType, String> {
    let name = line.word("a type")?;
    scop::text::type_named(&name).ok_or_else(|| format!("no type `{name}`"))
}

pub(super) fn delay(line: &mut Line) -> Result<Delay, String> {
    match line.word("a delay element")?.as_str() {
        "chain" => Ok(Delay::Chain),
        "memory" => {
            let synchronous = match line.word("sync or async")?.as_str() {
                "sync" => true,
                "async" => false,
                other => return Err(format!("expected sync or async, found `{other}`")),
            };
            Ok(Delay::Memory { read: line.integer()?, synchronous })
        }
        other => Err(format!("expected chain or memory, found `{other}`")),
    }
}

pub(super) fn id(line: &mut Line) -> Result<NodeId, String> {
    line.sign("%")?;
    Ok(NodeId(line.small()?))
}

pub(super) fn ids<const N: usize>(line: &mut Line) -> Result<[NodeId; N], String> {
    let mut all = [NodeId(0); N];
    for (k, slot) in all.iter_mut().enumerate() {
        if k > 0 {
            line.sign(",")?;
        }
        *slot = id(line)?;
    }
    Ok(all)
}

/// Factors in pairs, then the addend.
pub(super) fn dot(line: &mut Line) -> Result<Op, String> {
    let mut all = vec![id(line)?];
    while line.has(",") {
        all.push(id(line)?);
    }
    let factors = all.chunks_exact(2);
    let [addend] = *factors.remainder() else { return Err("expected pairs of factors and an addend".into()) };
    Ok(Op::Dot { pairs: factors.map(|pair| [pair[0], pair[1]]).collect(), addend })
}

/// The distance, then the integers.
pub(super) fn join(line: &mut Line) -> Result<Op, String> {
    let (step, mut integers) = (line.small()?, vec![]);
    while line.has(",") {
        integers.push(id(line)?);
    }
    Ok(Op::Join { integers, step })
}

pub(super) fn spread(line: &mut Line) -> Result<Op, String> {
    let source = id(line)?;
    line.keyword("count")?;
    let count = line.small()?;
    line.keyword("of")?;
    let integer = ty(line)?;
    line.keyword("from")?;
    let from = line.small()?;
    line.keyword("to")?;
    Ok(Op::Spread(source, Spread { count, integer, from, to: line.small()? }))
}

pub(super) fn field(line: &mut Line) -> Result<Op, String> {
    let source = id(line)?;
    line.keyword("at")?;
    let at = line.small()?;
    line.keyword("bits")?;
    let bits = line.small()?;
    line.keyword("negative")?;
    Ok(Op::Field(source, Field { at, bits, negative: line.number()? }))
}

/// `>= 0` (false) or `== 0` (true).
pub(super) fn relation(line: &mut Line) -> Result<bool, String> {
    let equality = line.has("==");
    if !equality {
        line.sign(">=")?;
    }
    match line.number()? {
        0 => Ok(equality),
        n => Err(format!("expected 0, found {n}")),
    }
}

pub(super) fn bank(line: &mut Line) -> Result<Bank, String> {
    line.keyword("port")?;
    let port = line.small()?;
    line.keyword("ports")?;
    let ports = line.small()?;
    let window = |line: &mut Line| {
        line.keyword("from")?;
        let base = line.integer()?;
        line.keyword("move")?;
        line.pair().map(|coef| (base, coef))
    };
    let mut rows = Vec::new();
    while line.has("{") {
        let (base, coef) = window(line)?;
        line.keyword("extent")?;
        let extent = line.integer()?;
        line.keyword("residue")?;
        rows.push(BankDim { base, coef, extent, residue: line.integer()? });
        line.sign("}")?;
    }
    let (base, coef) = window(line)?;
    line.keyword("words")?;
    let words_per_row = line.integer()?;
    let stride = if line.has_word("stride") { line.integer()? } else { 0 };
    line.keyword("depth")?;
    Ok(Bank { port, ports, rows, base, coef, words_per_row, stride, depth: line.integer()? })
}

/// A form over a footprint's coordinates `y0`, `y1`, … and, behind them, the counters of the phases `phase0`,
/// `phase1`, …
pub(super) fn over_coordinates(line: &mut Line, rank: usize, phases: usize) -> Result<Affine, String> {
    let number = |name: &str, prefix: &str, most: usize| {
        name.strip_prefix(prefix).filter(|_| is_word(name)).and_then(|d| d.parse().ok()).filter(|&d: &usize| d < most)
    };
    let find = |name: &str| number(name, "y", rank).or_else(|| number(name, "phase", phases).map(|j| rank.max(1) + j));
    line.sum(rank.max(1) + phases, &find)
}

pub(super) fn bound(line: &mut Line, rank: usize, phases: usize) -> Result<CellBound, String> {
    let Affine { mut coeffs, constant } = over_coordinates(line, rank, phases)?;
    let phases = coeffs.split_off(rank.max(1));
    let scale = coeffs.pop().unwrap_or(0);
    Ok(CellBound { scale, coeffs, phases, constant, equality: relation(line)? })
}

/// As [`Formula`] prints itself.
pub(super) fn formula(line: &mut Line) -> Result<Formula, String> {
    let two = |line: &mut Line, sign: &'static str| -> Result<[Formula; 2], String> {
        let first = formula(line)?;
        line.sign(sign)?;
        let both = [first, formula(line)?];
        line.sign(")")?;
        Ok(both)
    };
    if line.has("(") {
        let first = formula(line)?;
        let sum = line.has("+");
        if !sum {
            line.sign("*")?;
        }
        let both = Box::new([first, formula(line)?]);
        line.sign(")")?;
        return Ok(if sum { Formula::Sum(both) } else { Formula::Product(both) });
    }
    let Some(Token::Word(word)) = line.peek().cloned() else { return Ok(Formula::Const(line.integer()?)) };
    line.skip();
    match word.as_str() {
        "floor" => {
            line.sign("(")?;
            let inner = formula(line)?;
            line.sign(",")?;
            let by = line.integer()?;
            line.sign(")")?;
            if by < 1 {
                Err(format!("a division by {by}"))
            } else {
                Ok(Formula::Floor(Box::new(inner), by))
            }
        }
        "case" | "function" => {
            line.sign("[")?;
            let mut all = vec![formula(line)?];
            while line.has(",") {
                all.push(formula(line)?);
            }
            line.sign("]")?;
            Ok(if word == "case" { Formula::ByCase(all) } else { Formula::OfFunction(all) })
        }
        "min" | "max" => {
            line.sign("(")?;
            let both = Box::new(two(line, ",")?);
            Ok(if word == "min" { Formula::Least(both) } else { Formula::Greatest(both) })
        }
        _ => word
            .strip_prefix('s')
            .and_then(|k| k.parse().ok())
            .map(Formula::Size)
            .ok_or_else(|| format!("expected a formula, found `{word}`")),
    }
}
