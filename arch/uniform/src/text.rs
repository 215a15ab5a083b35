//! Uniform recurrences and their mapping, behind the scop they belong to.

use crate::mapping::{DimPlan, Plan};
use crate::system::{Dim, Feed, Frame, Kind, Piece, Place, Placed, System, Variable};
use scop::text::lex::Line;
use scop::text::{affine, conjunction, read_conjunction};
use scop::{Affine, Scop, StmtId};
use std::fmt::Write as _;

fn names(system: &System) -> Vec<String> {
    system.dims.iter().map(|d| d.name.clone()).collect()
}

/// The scop and its recurrences.
pub fn system(scop: &Scop, system: &System) -> String {
    let names = names(system);
    let mut text = format!("{scop}ure\n");
    let mut line = |text_of: String| {
        text.push_str(&text_of);
        text.push('\n');
    };
    for dim in &system.dims {
        let kind = match dim.kind {
            Kind::Parameter => "size",
            Kind::Sequence => "phase",
            Kind::Strip => "strip",
            Kind::Loop => "dim",
        };
        line(format!("  {kind} {} {}..{}", dim.name, dim.lo, dim.hi));
    }
    for (s, placed) in system.statements.iter().enumerate() {
        let statement = &scop.statements[s];
        let iterators: Vec<String> = placed.iterators.iter().map(|a| affine(a, &names)).collect();
        let along: Vec<&str> = placed.dims.iter().map(|&d| names[d].as_str()).collect();
        line(format!("  S{s}[{}] along [{}]", iterators.join(", "), along.join(", ")));
        placed.domain.iter().for_each(|all| line(format!("    in {}", conjunction(all, &names))));
        for (k, variable) in placed.variables.iter().enumerate() {
            let array = &scop.array(statement.reads[k].array).name;
            for piece in &variable.pieces {
                let from = match &piece.feed {
                    Feed::Input { subscripts } => {
                        let parts: String = subscripts.iter().map(|s| format!("[{}]", affine(s, &names))).collect();
                        format!("input {array}{parts}")
                    }
                    Feed::Value { statement, distance } => format!("S{} at distance {distance:?}", statement.0),
                    Feed::Carry { statement, read, distance } => {
                        format!("read {read} of S{} at distance {distance:?}", statement.0)
                    }
                    Feed::Partial { distance } => format!(
                        "partial at distance [{}]",
                        distance.iter().map(|a| affine(a, &names)).collect::<Vec<_>>().join(", ")
                    ),
                };
                line(format!("    read {k} = {} where {}", from, conjunction(&piece.domain, &names)));
            }
        }
        placed.live_out.iter().for_each(|all| line(format!("    out {}", conjunction(all, &names))));
    }
    text
}

/// The scop, its recurrences, and how they are laid out in space and time.
pub fn mapping(scop: &Scop, system_: &System, plan: &Plan) -> String {
    let names = names(system_);
    let mut text = system(scop, system_) + "mapping\n";
    for (row, dim) in plan.transform.iter().zip(&plan.dims) {
        let form = Affine { coeffs: row.clone(), constant: 0 };
        let _ = write!(text, "  coordinate {}", affine(&form, &names));
        let _ = dim.axis.map(|a| write!(text, " space {a}"));
        let _ = dim.tile.map(|n| write!(text, " tile {n}"));
        for (what, n) in [("latency", dim.latency), ("simd", dim.simd)] {
            if n != 1 {
                let _ = write!(text, " {what} {n}");
            }
        }
        if dim.cyclic {
            text += " cyclic";
        }
        text.push('\n');
    }
    let _ = writeln!(text, "  order {:?}", plan.order);
    text
}

/// The recurrences of `scop` from a text's section `ure`; not verified.
///
/// # Errors
/// `line N: …`, the first fault.
pub fn parse_system(scop: &Scop, text: &str) -> Result<System, String> {
    let mut parser = Parser { scop, dims: vec![], open: None, statements: vec![] };
    let mut last = 0;
    for (i, line) in text.lines().enumerate() {
        last = i + 1;
        parser.line(line).map_err(|fault| format!("line {last}: {fault}"))?;
    }
    parser.close();
    let dims = parser.dims;
    if parser.statements.len() != scop.statements.len() {
        return Err(format!(
            "line {last}: {} of {} statements have a place",
            parser.statements.len(),
            scop.statements.len()
        ));
    }
    Ok(System::new(dims, parser.statements))
}

struct Parser<'a> {
    scop: &'a Scop,
    dims: Vec<Dim>,
    /// The statement whose lines are read.
    open: Option<Place>,
    statements: Vec<Placed>,
}

impl Parser<'_> {
    fn names(&self) -> Vec<String> {
        self.dims.iter().map(|d| d.name.clone()).collect()
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        let mut line = Line::new(text)?;
        if line.peek().is_none() {
            return Ok(());
        }
        let word = line.word("a keyword")?;
        let names = self.names();
        match word.as_str() {
            "ure" => {}
            "dim" | "phase" | "size" | "strip" if self.statements.is_empty() && self.open.is_none() => {
                let kind = match word.as_str() {
                    "size" => Kind::Parameter,
                    "phase" => Kind::Sequence,
                    "strip" => Kind::Strip,
                    _ => Kind::Loop,
                };
                let before = self.dims.last().map_or(Kind::Parameter, |d| d.kind);
                match kind {
                    Kind::Parameter if before > kind => return Err("sizes come before the other dimensions".into()),
                    Kind::Sequence if before > kind => {
                        return Err("phase dimensions come before the others, and not with strips".into())
                    }
                    Kind::Strip if !self.dims.is_empty() => return Err("a dimension of strips is the first one".into()),
                    _ => {}
                }
                let name = line.word("a name")?;
                let lo = line.integer()?;
                line.sign("..")?;
                self.dims.push(Dim { name, kind, lo, hi: line.integer()? });
            }
            "in" => self.statement()?.domain.push(read_conjunction(&mut line, &names)?),
            "out" => self.statement()?.live_out.push(read_conjunction(&mut line, &names)?),
            "read" => self.piece(&mut line)?,
            _ => {
                self.close();
                if number(&word)? != self.statements.len() || self.statements.len() >= self.scop.statements.len() {
                    return Err(format!("expected S{} of {}", self.statements.len(), self.scop.statements.len()));
                }
                self.head(&mut line)?;
            }
        }
        line.end()
    }

    fn statement(&mut self) -> Result<&mut Place, String> {
        self.open.as_mut().ok_or_else(|| "a line of a statement before one".to_string())
    }

    fn close(&mut self) {
        let outer = self.dims.partition_point(|d| d.kind <= Kind::Sequence);
        let frame = Frame { outer, depth: self.dims.len() };
        if let Some(place) = self.open.take() {
            self.statements.push(Placed::new(self.scop, self.statements.len(), place, frame));
        }
    }

    /// `[k, i + 1] along [k, i]`
    fn head(&mut self, line: &mut Line) -> Result<(), String> {
        let names = self.names();
        let find = |n: &str| names.iter().position(|x| x == n);
        let statement = &self.scop.statements[self.statements.len()];
        let (mut iterators, mut dims) = (vec![], vec![]);
        line.sign("[")?;
        while !line.has("]") {
            if !iterators.is_empty() {
                line.sign(",")?;
            }
            iterators.push(line.sum(names.len(), &find)?);
        }
        line.keyword("along")?;
        line.sign("[")?;
        while !line.has("]") {
            if !dims.is_empty() {
                line.sign(",")?;
            }
            let name = line.word("a dimension")?;
            dims.push(find(&name).ok_or_else(|| format!("there is no dimension `{name}`"))?);
        }
        if iterators.len() != statement.loops.len() || dims.len() != iterators.len() {
            return Err(format!("the statement has {} iterators", statement.loops.len()));
        }
        let variables = vec![Variable { pieces: vec![] }; statement.reads.len()];
        self.open = Some(Place { dims, iterators, domain: vec![], variables, live_out: vec![] });
        Ok(())
    }

    /// `0 = S1 at distance [0, 0, 1] where …`
    fn piece(&mut self, line: &mut Line) -> Result<(), String> {
        let names = self.names();
        let k: u32 = line.small()?;
        line.sign("=")?;
        let feed = if line.has_word("input") {
            let array = line.name()?;
            let read = self.scop.statements[self.statements.len()]
                .reads
                .get(k as usize)
                .ok_or_else(|| format!("there is no read {k}"))?;
            if self.scop.array(read.array).name != array {
                return Err(format!("read {k} is of `{}`", self.scop.array(read.array).name));
            }
            let mut subscripts = vec![];
            while line.has("[") {
                subscripts.push(line.sum(names.len(), &|n| names.iter().position(|x| x == n))?);
                line.sign("]")?;
            }
            Feed::Input { subscripts }
        } else if line.has_word("read") {
            let read = line.small::<u32>()? as usize;
            line.keyword("of")?;
            let statement = StmtId(number(&line.word("a statement")?)? as u32);
            Feed::Carry { statement, read, distance: distance(line)? }
        } else if line.has_word("partial") {
            line.keyword("at")?;
            line.keyword("distance")?;
            let mut distance = vec![];
            line.sign("[")?;
            while !line.has("]") {
                distance.push(line.sum(names.len(), &|n| names.iter().position(|x| x == n))?);
                if !line.has(",") {
                    line.sign("]")?;
                    break;
                }
            }
            Feed::Partial { distance }
        } else {
            let statement = StmtId(number(&line.word("a statement")?)? as u32);
            Feed::Value { statement, distance: distance(line)? }
        };
        line.keyword("where")?;
        let domain = read_conjunction(line, &names)?;
        let variable =
            self.statement()?.variables.get_mut(k as usize).ok_or_else(|| format!("there is no read {k}"))?;
        variable.pieces.push(Piece { domain, when: vec![], feed });
        Ok(())
    }
}

fn distance(line: &mut Line) -> Result<Vec<i64>, String> {
    line.keyword("at")?;
    line.keyword("distance")?;
    line.list("[", "]")
}

/// The number in `S3`.
fn number(word: &str) -> Result<usize, String> {
    word.strip_prefix('S').and_then(|d| d.parse().ok()).ok_or_else(|| format!("expected a statement, found `{word}`"))
}

/// The plan in a text's section `mapping`; not verified.
///
/// # Errors
/// `line N: …`, the first fault.
pub fn parse_plan(system: &System, text: &str) -> Result<Plan, String> {
    let names = names(system);
    let mut plan = Plan { transform: vec![], dims: vec![], order: vec![] };
    for (i, line) in text.lines().enumerate() {
        plan_line(line, &names, &mut plan).map_err(|fault| format!("line {}: {fault}", i + 1))?;
    }
    Ok(plan)
}

fn plan_line(text: &str, names: &[String], plan: &mut Plan) -> Result<(), String> {
    let mut line = Line::new(text)?;
    if line.peek().is_none() || line.has_word("mapping") {
        return Ok(());
    }
    if line.has_word("order") {
        plan.order = line
            .list("[", "]")?
            .into_iter()
            .map(|d| usize::try_from(d).map_err(|_| format!("{d} is no dimension")))
            .collect::<Result<_, _>>()?;
        return line.end();
    }
    line.keyword("coordinate")?;
    plan.transform.push(line.sum(names.len(), &|n| names.iter().position(|x| x == n))?.coeffs);
    let mut dim = DimPlan::default();
    while line.peek().is_some() {
        match line.word("space, tile, latency, simd or cyclic")?.as_str() {
            "space" => dim.axis = Some(line.small::<u32>()? as usize),
            "tile" => dim.tile = Some(line.integer()?),
            "latency" => dim.latency = line.integer()?,
            "simd" => dim.simd = line.integer()?,
            "cyclic" => dim.cyclic = true,
            other => return Err(format!("expected space, tile, latency, simd or cyclic, found `{other}`")),
        }
    }
    plan.dims.push(dim);
    Ok(())
}

/// Some of a text's lines, the others empty: numbers of lines, and places of bytes, are those of the text.
pub fn section(text: &str, lines: std::ops::Range<usize>) -> String {
    let blank = |(i, line): (usize, &str)| {
        if lines.contains(&i) {
            line.to_string()
        } else {
            line.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect()
        }
    };
    text.split_inclusive('\n').enumerate().map(blank).collect()
}
