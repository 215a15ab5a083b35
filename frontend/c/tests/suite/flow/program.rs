//! A tiny loop language for tests, its translation to a `Scop`, and its execution by enumeration.
//!
//! One item per line:
//! `dram A 8 8` / `local t` declare arrays; `for i = 0 .. 8 step 2` … `end` is a loop (the bound is exclusive, and a
//! negative step counts down to it, exclusively too); `if i-j` … `end` runs its body where the expression is >= 0
//! (`if i-j == 0` for equality); `C[i][j] = A[i][k] B[k][j]` writes one element and reads the others.

use scop::diag::{SourceMap, Span};
use scop::*;
use std::collections::BTreeMap;

enum Scope {
    Loop { beta: i64 },
    Guard,
}

pub struct Parser {
    scop: Scop,
    arrays: BTreeMap<String, ArrayId>,
    scopes: Vec<Scope>,
    /// Next sibling position at each level.
    positions: Vec<i64>,
    loops: Vec<LoopId>,
    /// Source value of each open iterator, over the normalized iterators outside and including it.
    values: Vec<(String, Affine)>,
    constraints: Vec<Constraint>,
    /// Number of constraints to return to at each `end`.
    marks: Vec<usize>,
}

pub fn parse(text: &str) -> Scop {
    let function = Function { name: Some("kernel".into()), region: Span::default(), parameters: 0 };
    let scop = Scop {
        name: "kernel".into(),
        function,
        arrays: vec![],
        loops: vec![],
        statements: vec![],
        host: vec![],
        sizes: vec![],
        clauses: vec![],
        sources: SourceMap::default(),
    };
    let (arrays, scopes, loops, values) = (BTreeMap::new(), vec![], vec![], vec![]);
    let mut parser =
        Parser { scop, arrays, scopes, positions: vec![0], loops, values, constraints: vec![], marks: vec![] };
    let mut start = 0;
    for line in text.split('\n') {
        parser.line(line.trim(), Span { file: 0, start, end: start + line.len() as u32 });
        start += line.len() as u32 + 1;
    }
    assert!(parser.scopes.is_empty(), "missing end");
    parser.scop
}

fn resized(affine: &Affine, depth: usize) -> Affine {
    let mut coeffs = affine.coeffs.clone();
    coeffs.resize(depth, 0);
    Affine { coeffs, constant: affine.constant }
}

impl Parser {
    fn line(&mut self, line: &str, span: Span) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["dram", name, dims @ ..] => self.declare(name, dims, Storage::Dram, span),
            ["local", name, dims @ ..] => self.declare(name, dims, Storage::Local, span),
            ["for", name, "=", from, "..", to] => self.open(name, from, to, 1, span),
            ["for", name, "=", from, "..", to, "step", step] => self.open(name, from, to, step.parse().unwrap(), span),
            ["if", left, rest @ ..] => {
                let expr = self.affine(left);
                self.marks.push(self.constraints.len());
                self.constraints.push(Constraint { expr, equality: !rest.is_empty() });
                self.scopes.push(Scope::Guard);
            }
            ["end"] => self.close(),
            [target, "=", reads @ ..] => self.statement(target, reads, span),
            _ => panic!("bad line: {line}"),
        }
    }

    fn declare(&mut self, name: &str, dims: &[&str], storage: Storage, span: Span) {
        let binding = if storage == Storage::Local { Binding::Local } else { Binding::Global };
        self.arrays.insert(name.into(), ArrayId(self.scop.arrays.len() as u32));
        let dims = dims.iter().map(|d| d.parse().unwrap()).collect();
        self.scop.arrays.push(Array {
            name: name.into(),
            ty: ScalarType::I32,
            c_type: "int".into(),
            dims,
            extents: vec![],
            storage,
            binding,
            constant: false,
            zeroed: false,
            kept: false,
            span,
        });
    }

    /// Sums of `3`, `i`, `2*i` with `+` and `-`, over the open iterators.
    fn affine(&self, text: &str) -> Affine {
        let depth = self.loops.len();
        let mut result = Affine::constant(depth, 0);
        for term in text.replace('-', "+-").split('+').filter(|t| !t.is_empty()) {
            let (sign, term) = term.strip_prefix('-').map_or((1, term), |t| (-1, t));
            let (factor, name) = term.split_once('*').map_or((1, term), |(f, n)| (f.parse().unwrap(), n));
            let value = match name.parse::<i64>() {
                Ok(constant) => Affine::constant(depth, constant),
                Err(_) => resized(
                    &self.values.iter().rev().find(|v| v.0 == name).unwrap_or_else(|| panic!("unknown {name}")).1,
                    depth,
                ),
            };
            result.constant += sign * factor * value.constant;
            result.coeffs.iter_mut().zip(value.coeffs).for_each(|(r, c)| *r += sign * factor * c);
        }
        result
    }

    fn open(&mut self, name: &str, from: &str, to: &str, step: i64, span: Span) {
        let (offset, bound) = (self.affine(from), self.affine(to));
        let depth = self.loops.len() + 1;
        let id = LoopId(self.scop.loops.len() as u32);
        self.scop.loops.push(Loop {
            name: name.into(),
            parent: self.loops.last().copied(),
            offset: offset.clone(),
            step,
            span,
        });
        let mut value = resized(&offset, depth);
        value.coeffs[depth - 1] = step;
        self.marks.push(self.constraints.len());
        let mut first = Affine::constant(depth, 0);
        first.coeffs[depth - 1] = 1;
        // step > 0: bound - 1 - value >= 0; step < 0: value - bound - 1 >= 0.
        let sign = step.signum();
        let bound = resized(&bound, depth);
        let coeffs = bound.coeffs.iter().zip(&value.coeffs).map(|(b, v)| sign * (b - v)).collect();
        let last = Affine { coeffs, constant: sign * (bound.constant - value.constant) - 1 };
        self.constraints.extend([first, last].map(|expr| Constraint { expr, equality: false }));
        self.loops.push(id);
        self.values.push((name.into(), value));
        let beta = *self.positions.last().unwrap();
        self.scopes.push(Scope::Loop { beta });
        self.positions.push(0);
    }

    fn close(&mut self) {
        self.constraints.truncate(self.marks.pop().unwrap());
        if let Some(Scope::Loop { .. }) = self.scopes.pop() {
            self.loops.pop();
            self.values.pop();
            self.positions.pop();
            *self.positions.last_mut().unwrap() += 1;
        }
    }

    fn access(&self, text: &str, span: Span) -> Access {
        let mut parts = text.split('[');
        let name = parts.next().unwrap();
        let array = *self.arrays.get(name).unwrap_or_else(|| panic!("unknown array {name}"));
        Access { array, subscripts: parts.map(|p| self.affine(p.trim_end_matches(']'))).collect(), span }
    }

    fn statement(&mut self, target: &str, reads: &[&str], span: Span) {
        let depth = self.loops.len();
        let outer = self.scopes.iter().filter_map(|s| if let Scope::Loop { beta } = s { Some(*beta) } else { None });
        let last = self.positions.last_mut().unwrap();
        let beta = outer.chain([*last]).collect();
        *last += 1;
        let conjunction: Vec<_> = self
            .constraints
            .iter()
            .map(|c| Constraint { expr: resized(&c.expr, depth), equality: c.equality })
            .collect();
        let made = |kind| Expr { kind, ty: ScalarType::I32, span };
        let sum = (0..reads.len())
            .map(|k| made(ExprKind::Read(k)))
            .reduce(|a, b| made(ExprKind::Binary(BinaryOp::Add, Box::new(a), Box::new(b))));
        let rhs = sum.unwrap_or_else(|| made(ExprKind::Const(0)));
        let write = self.access(target, span);
        let reads = reads.iter().map(|r| self.access(r, span)).collect();
        self.scop.statements.push(Statement {
            loops: self.loops.clone(),
            domain: vec![conjunction.clone()],
            around: vec![conjunction],
            beta,
            write,
            rhs,
            reads,
            span,
        });
    }
}

/// One statement instance.
pub type Instance = (StmtId, Vec<i64>);
/// One array element.
pub type Cell = (ArrayId, Vec<i64>);

pub fn cell(access: &Access, point: &[i64]) -> Cell {
    (access.array, access.subscripts.iter().map(|s| s.eval(point)).collect())
}

/// All instances with normalized iterators below `extent`, in execution order.
pub fn execution(scop: &Scop, extent: i64) -> Vec<Instance> {
    let mut timed = vec![];
    for id in scop.statement_ids() {
        let statement = scop.statement(id);
        let mut point = vec![];
        points(statement, &mut point, extent, &mut |point| {
            let mut time = vec![statement.beta[0]];
            for (x, b) in point.iter().zip(&statement.beta[1..]) {
                time.extend([*x, *b]);
            }
            timed.push((time, (id, point.to_vec())));
        });
    }
    timed.sort();
    timed.into_iter().map(|(_, instance)| instance).collect()
}

fn points(statement: &Statement, point: &mut Vec<i64>, extent: i64, visit: &mut impl FnMut(&[i64])) {
    if point.len() == statement.loops.len() {
        if statement.domain.iter().any(|c| c.iter().all(|c| c.holds(point))) {
            visit(point);
        }
        return;
    }
    for value in 0..extent {
        point.push(value);
        points(statement, point, extent, visit);
        point.pop();
    }
}
