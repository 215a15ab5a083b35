//! Text to Scop.

mod expr;

use super::lex::{Line, Token};
use super::names::type_named;
use crate::diag::{SourceFile, SourceMap, Span};
use crate::*;

/// Parses the text form; diagnostics call the text `name`. The result is not verified.
///
/// # Errors
/// `line N: …`, the first fault.
pub fn parse(name: &str, text: &str) -> Result<Scop, String> {
    let sources = SourceMap { files: vec![SourceFile { name: name.into(), text: text.into() }] };
    let scop = Scop { sources, ..Scop::default() };
    let mut parser = Parser { scop, open: None, span: Span::default() };
    let (mut start, mut last) = (0, 0);
    for (i, line) in text.split_inclusive('\n').enumerate() {
        last = i + 1;
        let indent = line.len() - line.trim_start().len();
        parser.span =
            Span { file: 0, start: (start + indent) as u32, end: (start + line.trim_end().len().max(indent)) as u32 };
        start += line.len();
        parser.line(line).map_err(|fault| format!("line {last}: {fault}"))?;
    }
    parser.close().map_err(|fault| format!("line {last}: {fault}"))?;
    if parser.scop.name.is_empty() {
        return Err("there is no line `scop NAME`".into());
    }
    Ok(parser.scop)
}

/// A statement under construction.
struct OpenStatement {
    statement: Statement,
    names: Vec<String>,
    /// A line `reads` numbers the reads.
    listed: bool,
    complete: bool,
}

struct Parser {
    scop: Scop,
    open: Option<OpenStatement>,
    /// Place of the current line.
    span: Span,
}

impl Parser {
    fn line(&mut self, text: &str) -> Result<(), String> {
        let mut line = Line::new(text)?;
        let Some(first) = line.peek().cloned() else { return Ok(()) };
        let Token::Word(word) = first else { return self.assignment(&mut line) };
        match word.as_str() {
            "scop" => self.head(&mut line)?,
            "size" => self.size(&mut line)?,
            "array" => self.array(&mut line)?,
            "host" => {
                line.keyword("host")?;
                self.close()?;
                let (_, mut statement) = super::scalar_scop(&[]);
                (statement.beta, statement.span) = (vec![self.scop.host.len() as i64], self.span);
                self.open = Some(OpenStatement { statement, names: vec![], listed: false, complete: false });
                self.assignment(&mut line)?;
                self.scop.host.extend(self.open.take().map(|o| o.statement));
                return Ok(());
            }
            "pragma" => {
                line.keyword("pragma")?;
                let name = line.word("a clause")?;
                let mut values = vec![line.name()?];
                while line.has(",") {
                    values.push(line.name()?);
                }
                self.scop.clauses.push(Clause { name, values, span: self.span });
            }
            "loop" => self.nested(&mut line)?,
            "where" | "around" => {
                line.keyword(&word)?;
                let open = self.open.as_mut().ok_or("a domain without a statement")?;
                let all = conjunction(&mut line, &open.names)?;
                if word == "where" {
                    open.statement.domain.push(all)
                } else {
                    open.statement.around.push(all)
                }
            }
            "reads" => {
                line.keyword("reads")?;
                loop {
                    let access = self.access(&mut line)?;
                    let open = self.open.as_mut().ok_or("reads without a statement")?;
                    open.listed = true;
                    open.statement.reads.push(access);
                    if !line.has(",") {
                        break;
                    }
                }
            }
            _ if is_statement(&word)
                && line.peek_at(1) == Some(&Token::Sign("["))
                && self.open.as_ref().is_none_or(|o| o.complete) =>
            {
                self.statement(&mut line, &word)?
            }
            _ => return self.assignment(&mut line),
        }
        line.end()
    }

    fn head(&mut self, line: &mut Line) -> Result<(), String> {
        line.keyword("scop")?;
        if !self.scop.name.is_empty() {
            return Err("second `scop`".into());
        }
        self.scop.name = line.name()?;
        self.scop.function.region = self.span;
        if line.has(":") {
            line.keyword("function")?;
            self.scop.function.name = Some(line.name()?);
            line.sign(",")?;
            self.scop.function.parameters = line.small()?;
            line.keyword("parameters")?;
        }
        Ok(())
    }

    /// `size m: i32, parameter 0, max 1024`
    fn size(&mut self, line: &mut Line) -> Result<(), String> {
        line.keyword("size")?;
        let name = line.name()?;
        line.sign(":")?;
        let ty = line.word("a type")?;
        let ty = type_named(&ty).ok_or_else(|| format!("no type `{ty}`"))?;
        line.sign(",")?;
        line.keyword("parameter")?;
        let parameter = line.small()?;
        line.sign(",")?;
        line.keyword("max")?;
        let max = line.integer()?;
        let fixed = line.has(",");
        if fixed {
            line.keyword("value")?;
        }
        let value = if fixed { Some(line.integer()?) } else { None };
        self.scop.sizes.push(Size { name, parameter, ty, max, value });
        Ok(())
    }

    fn array(&mut self, line: &mut Line) -> Result<(), String> {
        line.keyword("array")?;
        let name = line.name()?;
        let sizes: Vec<String> = self.scop.sizes.iter().map(|s| s.name.clone()).collect();
        let mut extents = vec![];
        while line.has("[") {
            extents.push(sum(line, &sizes)?);
            line.sign("]")?;
        }
        let maxima = self.scop.maxima();
        let dims: Vec<i64> = extents.iter().map(|e| e.over_sizes(&maxima).1).collect();
        if extents.iter().all(Affine::is_constant) {
            extents.clear();
        }
        line.sign(":")?;
        let ty = line.word("a type")?;
        let ty = type_named(&ty).ok_or_else(|| format!("no type `{ty}`"))?;
        line.sign("(")?;
        let mut words = vec![];
        while !line.has(")") {
            words.push(line.word("a C type")?);
        }
        line.sign(",")?;
        let storage =
            if line.has_word("dram") { Storage::Dram } else { line.keyword("local").map(|()| Storage::Local)? };
        let binding = match storage {
            Storage::Local => Binding::Local,
            Storage::Dram if line.has_word("parameter") => Binding::Parameter(line.small()?),
            Storage::Dram if line.has_word("value") => Binding::Value(line.small()?),
            Storage::Dram if line.has_word("host") => Binding::Host(line.small()?),
            Storage::Dram if line.has_word("scratch") => Binding::Scratch,
            Storage::Dram if line.has_word("around") => Binding::Around,
            Storage::Dram if line.has_word("allocated") => Binding::Allocated,
            Storage::Dram if line.has_word("static") => Binding::Static,
            Storage::Dram => line.keyword("global").map(|()| Binding::Global)?,
        };
        let (mut constant, mut zeroed, mut kept) = (false, false, false);
        while line.has(",") {
            match line.word("const, zeroed or kept")?.as_str() {
                "const" => constant = true,
                "zeroed" => zeroed = true,
                "kept" => kept = true,
                other => return Err(format!("expected const, zeroed or kept, found `{other}`")),
            }
        }
        self.scop.arrays.push(Array {
            name,
            ty,
            c_type: words.join(" "),
            dims,
            extents,
            storage,
            binding,
            constant,
            zeroed,
            kept,
            span: self.span,
        });
        Ok(())
    }

    /// `loop 1: j = 1 + 3*j' in loop 0`
    fn nested(&mut self, line: &mut Line) -> Result<(), String> {
        line.keyword("loop")?;
        let number: u32 = line.small()?;
        if number as usize != self.scop.loops.len() {
            return Err(format!("expected loop {}", self.scop.loops.len()));
        }
        line.sign(":")?;
        let name = line.name()?;
        // The start refers to outer loops, which the end of the line names: look ahead.
        let mut ahead = line.clone();
        while ahead.peek().is_some() && !ahead.has_word("in") {
            ahead.skip();
        }
        let parent = if ahead.has_word("loop") { Some(LoopId(ahead.small()?)) } else { None };
        if parent.is_some_and(|p| p.index() >= self.scop.loops.len()) {
            return Err("the loop around must come first".into());
        }
        let outer = self.scop.chain(parent);
        let depth = outer.len();
        let (mut offset, mut step) = (Affine::constant(depth, 0), 1);
        if line.has("=") {
            let own = format!("{name}'");
            let mut sum =
                line.sum(depth + 1, &|n| outer.iter().position(|o| o == n).or((n == own).then_some(depth)))?;
            step = sum.coeffs.pop().unwrap_or(1);
            offset = sum;
        }
        if line.has_word("in") {
            line.keyword("loop")?;
            line.number()?;
        }
        self.scop.loops.push(Loop { name, parent, offset, step, span: self.span });
        Ok(())
    }

    /// `S0[i, j'] in loop 1 at [0, 0, 0]`
    fn statement(&mut self, line: &mut Line, word: &str) -> Result<(), String> {
        self.close()?;
        line.keyword(word)?;
        if word[1..].parse() != Ok(self.scop.statements.len()) {
            return Err(format!("expected S{}", self.scop.statements.len()));
        }
        line.sign("[")?;
        let mut names = vec![];
        while !line.has("]") {
            if !names.is_empty() {
                line.sign(",")?;
            }
            names.push(line.word("an iterator")?);
        }
        let mut innermost = None;
        if line.has_word("in") {
            line.keyword("loop")?;
            innermost = Some(LoopId(line.small()?));
        }
        line.keyword("at")?;
        let beta = line.list("[", "]")?;
        let mut loops = vec![];
        while let Some(l) = innermost {
            loops.push(l);
            innermost = self.scop.loops.get(l.index()).ok_or_else(|| format!("there is no loop {}", l.0))?.parent;
        }
        loops.reverse();
        if self.scop.chain(loops.last().copied()) != names {
            return Err("these are not the iterators of its loops".into());
        }
        let nothing = Access { array: ArrayId(0), subscripts: vec![], span: self.span };
        let rhs = Expr { kind: ExprKind::Const(0), ty: ScalarType::BOOL, span: self.span };
        let statement = Statement {
            loops,
            domain: vec![],
            around: vec![],
            beta,
            write: nothing,
            rhs,
            reads: vec![],
            span: self.span,
        };
        self.open = Some(OpenStatement { statement, names, listed: false, complete: false });
        Ok(())
    }

    fn assignment(&mut self, line: &mut Line) -> Result<(), String> {
        if self.open.as_ref().is_none_or(|o| o.complete) {
            return line.fault("`scop`, `array`, `loop` or a statement");
        }
        let write = self.access(line)?;
        line.sign("=")?;
        let rhs = self.expr(line)?;
        line.end()?;
        if let Some(open) = &mut self.open {
            (open.statement.write, open.statement.rhs, open.complete) = (write, rhs, true);
            open.statement.span = self.span;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        if !open.complete {
            return Err("a statement without an assignment".into());
        }
        if open.statement.around.is_empty() {
            open.statement.around = open.statement.domain.clone();
        }
        self.scop.statements.push(open.statement);
        Ok(())
    }

    fn names(&self) -> &[String] {
        self.open.as_ref().map_or(&[], |o| &o.names)
    }

    fn access(&self, line: &mut Line) -> Result<Access, String> {
        let name = line.name()?;
        let array = self
            .scop
            .arrays
            .iter()
            .position(|a| a.name == name)
            .ok_or_else(|| format!("there is no array `{name}`"))?;
        let mut subscripts = vec![];
        while line.has("[") {
            subscripts.push(sum(line, self.names())?);
            line.sign("]")?;
        }
        Ok(Access { array: ArrayId(array as u32), subscripts, span: self.span })
    }
}

/// Parses an expression whose reads are these scalars; its spans are empty.
///
/// # Errors
/// What was expected in its place.
pub fn formula(line: &mut Line, scalars: &[(&str, ScalarType)]) -> Result<Expr, String> {
    let (scop, statement) = super::scalar_scop(scalars);
    let mut parser = Parser {
        scop,
        open: Some(OpenStatement { statement, names: vec![], listed: false, complete: false }),
        span: Span::default(),
    };
    parser.expr(line)
}

fn is_statement(word: &str) -> bool {
    word.strip_prefix('S').is_some_and(|d| !d.is_empty() && d.chars().all(|c| c.is_ascii_digit()))
}

fn ty(line: &mut Line) -> Result<ScalarType, String> {
    let name = line.word("a type")?;
    type_named(&name).ok_or_else(|| format!("no type `{name}`"))
}

fn sum(line: &mut Line, names: &[String]) -> Result<Affine, String> {
    line.sum(names.len(), &|n| names.iter().position(|x| x == n))
}

/// `i - 1 >= 0 and j = 0`, or `always`, over iterators of these names.
///
/// # Errors
/// What was expected in its place.
pub fn conjunction(line: &mut Line, names: &[String]) -> Result<Vec<Constraint>, String> {
    let mut all = vec![];
    // An iterator may be called `always` too; then an operator follows.
    let counted = matches!(line.peek_at(1), Some(Token::Sign("+" | "-" | ">=" | "=")));
    if !counted && line.has_word("always") {
        return Ok(all);
    }
    loop {
        let expr = sum(line, names)?;
        let equality = line.has("=");
        if !equality {
            line.sign(">=")?;
        }
        if line.number()? != 0 {
            return Err("a condition compares with 0".into());
        }
        all.push(Constraint { expr, equality });
        if !line.has_word("and") {
            return Ok(all);
        }
    }
}
