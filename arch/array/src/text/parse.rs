//! Text to Vsa, line by line.
//!
//! The parser accepts arrays that are not well-formed; [`crate::verify`] reports those. Faults name the line.

use crate::text::items::{
    bank, bound, delay, dot, field, formula, id, ids, join, over_coordinates, relation, spread, ty,
};
use crate::text::names::{counter_names, BINARY, UNARY};
use crate::vsa::*;
use scop::text::lex::{Line, Token};
use scop::{Affine, ScalarType};
use std::collections::BTreeSet;
use uniform::affine::{Condition, Form};
use uniform::counters::{Counter, Span};
use uniform::fabric::Fabric;
use uniform::sizes::{Formula, Size};
use uniform::system::Kind;

/// Reads the printed form. The result is not verified.
///
/// # Errors
/// `line N: …`, the first fault.
pub fn parse(text: &str) -> Result<Vsa, String> {
    let mut parser =
        Parser { vsa: Vsa::empty(""), names: Vec::new(), axes: 0, group: None, seen: Vec::new(), nodes: false };
    let mut last = 0;
    for (i, line) in text.lines().enumerate() {
        last = i + 1;
        parser.line(line).map_err(|fault| format!("line {last}: {fault}"))?;
    }
    parser.end().map_err(|fault| format!("line {last}: {fault}"))?;
    Ok(parser.vsa)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Input,
    Output,
}

struct Parser {
    vsa: Vsa,
    names: Vec<String>,
    /// `space` lines so far.
    axes: usize,
    /// The group that indented lines belong to: the last one of its kind.
    group: Option<Group>,
    /// Keywords seen at the top, or in the group.
    seen: Vec<String>,
    nodes: bool,
}

/// What may come several times.
const REPEATED: [&str; 17] = [
    "space",
    "size",
    "parameter",
    "phase",
    "case",
    "after",
    "tile",
    "time",
    "array",
    "scalar",
    "function",
    "input",
    "output",
    "bank",
    "port",
    "bound",
    "%",
];
const TOP: [&str; 6] = ["vsa", "space", "lanes", "interval", "ahead", "nodes"];
const INPUT: [&str; 6] = ["ports", "forward", "reload", "footprint", "row", "col"];
const OUTPUT: [&str; 7] = ["port", "from", "emit", "footprint", "row", "col", "slots"];

impl Parser {
    fn line(&mut self, text: &str) -> Result<(), String> {
        let mut line = Line::new(text)?;
        if line.peek().is_none() {
            return Ok(());
        }
        let key = if line.has("%") { "%".into() } else { line.word("a keyword")? };
        if matches!(key.as_str(), "input" | "output") {
            self.complete()?;
            self.seen.clear();
        }
        if self.seen.contains(&key) && !REPEATED.contains(&key.as_str()) {
            return Err(format!("second `{key}`"));
        }
        self.seen.push(key.clone());
        match self.group {
            _ if matches!(key.as_str(), "input" | "output") => self.head(&key, &mut line)?,
            None => self.top(&key, &mut line)?,
            Some(Group::Input) => self.input(&key, &mut line)?,
            Some(Group::Output) => self.output(&key, &mut line)?,
        }
        line.end()
    }

    /// Whether everything that must be there has been seen.
    fn complete(&self) -> Result<(), String> {
        let required: &[&str] = match self.group {
            None => &TOP,
            Some(Group::Input) => &INPUT,
            Some(Group::Output) => &OUTPUT,
        };
        let missing = required.iter().find(|k| !self.seen.iter().any(|s| s == *k));
        missing.map_or(Ok(()), |k| Err(format!("no `{k}` before the end of this part")))
    }

    fn end(&self) -> Result<(), String> {
        self.complete()?;
        let (nodes, timed) = (self.vsa.nodes.len(), self.vsa.schedule.ready.len());
        if timed == 0 || timed == nodes {
            Ok(())
        } else {
            Err(format!("{timed} of {nodes} nodes have an @"))
        }
    }

    fn top(&mut self, key: &str, line: &mut Line) -> Result<(), String> {
        let vsa = &mut self.vsa;
        match key {
            "vsa" => vsa.name = line.name()?,
            "space" if self.axes < 2 => {
                vsa.axes[self.axes] = line.name()?;
                vsa.extent[self.axes] = line.integer()?;
                line.keyword("skew")?;
                let hops = if matches!(line.peek(), Some(Token::Sign(s)) if *s == "[") {
                    line.list("[", "]")?
                } else {
                    vec![line.integer()?]
                };
                let start = AxisStart::of_hops(&hops);
                vsa.schedule.start[self.axes] = start.ok_or("expected hop delays of one direction")?;
                self.axes += 1;
            }
            "lanes" => vsa.lanes = line.integer()?,
            "interval" => vsa.schedule.interval = line.integer()?,
            "ahead" => vsa.ahead = line.integer()?,
            "away" => vsa.away = line.tuple()?,
            "lengths" => vsa.lengths = true,
            "unaligned" => vsa.unaligned = true,
            "uram" => vsa.uram = true,
            "overlap" => vsa.overlap = true,
            "ecp5" => vsa.fabric = Fabric::Ecp5,
            "series7" => vsa.fabric = Fabric::Series7,
            "addresses" => vsa.address_bits = line.small()?,
            "size" if vsa.counters.is_empty() => self.size(line)?,
            "parameter" if vsa.counters.len() == vsa.parameters() => {
                let (name, trip) = (line.name()?, line.integer()?);
                vsa.tile_depth += 1;
                line.sign("=")?;
                vsa.counters.push(Counter { name, kind: Kind::Parameter, trip, last: formula(line)? });
            }
            "phase" if vsa.phases() < vsa.counters.len() => return Err("a phase counter after others".into()),
            "tile" if vsa.tile_depth < vsa.counters.len() => return Err("a tile counter after time counters".into()),
            "phase" | "tile" | "time" if !self.nodes => {
                vsa.tile_depth += (key != "time") as usize;
                let kind = if key == "phase" { Kind::Sequence } else { Kind::Loop };
                let mut counter = Counter { kind, ..Counter::constant(line.name()?, line.integer()?) };
                counter.last = end(line, counter.trip)?;
                if line.has_word("by") {
                    line.keyword("case")?;
                    let mut ends = vec![];
                    while line.peek().is_some() {
                        let trip = line.integer()?;
                        ends.push(end(line, trip)?);
                    }
                    ends.push(Formula::Const(0));
                    counter.last = Formula::ByCase(ends);
                }
                vsa.counters.push(counter);
            }
            "case" if !self.nodes => {
                let mut case = vec![];
                while line.peek().is_some() {
                    let [low, high] = line.pair()?;
                    case.push(Span { low, high, end: end(line, high.wrapping_add(1))? });
                }
                vsa.cases.push(case);
            }
            "array" => self.array(line)?,
            "scalar" => self.scalar(line)?,
            "function" if !self.nodes => self.function(line)?,
            "nodes" if self.axes == 2 => {
                // The first counter inside of tiles that cases name is that of strips.
                let strip = vsa.tile_depth;
                if strip < vsa.cased().min(vsa.counters.len()) {
                    vsa.counters[strip].kind = Kind::Strip;
                }
                self.names = counter_names(vsa);
                self.nodes = true;
            }
            "%" if self.nodes => self.node(line)?,
            _ => return Err(format!("`{key}` does not belong here")),
        }
        Ok(())
    }

    /// `N: i32 max 64 after 1 0`
    fn size(&mut self, line: &mut Line) -> Result<(), String> {
        let vsa = &mut self.vsa;
        let name = line.name()?;
        line.sign(":")?;
        let ty = ty(line)?;
        line.keyword("max")?;
        let max = line.integer()?;
        line.keyword("after")?;
        vsa.sizes.list.push(Size { name, ty, max, after: [line.small()?, line.small()?] });
        Ok(())
    }

    /// `A: i16 [64][s0] word 4 port 1 scratch`; `on_chip` or `kept` in place of `scratch`
    fn array(&mut self, line: &mut Line) -> Result<(), String> {
        let vsa = &mut self.vsa;
        let name = line.name()?;
        line.sign(":")?;
        let ty = ty(line)?;
        let count = vsa.sizes.list.len();
        let mut extents: Vec<Affine> = Vec::new();
        while line.has("[") {
            extents.push(
                line.sum(count, &|name| name.strip_prefix('s').and_then(|k| k.parse().ok()).filter(|k| *k < count))?,
            );
            line.sign("]")?;
        }
        let maxima = vsa.sizes.maxima();
        let dims = extents.iter().map(|e| e.over_sizes(&maxima).1).collect();
        if extents.iter().any(|e| !e.is_constant()) {
            vsa.sizes.extents.insert(vsa.arrays.len(), extents);
        }
        line.keyword("word")?;
        let word = line.small()?;
        // Left out: a port of its own.
        let port = if line.has_word("port") { line.small()? } else { vsa.ports() as u32 };
        let homes = [("scratch", Home::Scratch), ("on_chip", Home::OnChip), ("kept", Home::Kept)];
        let home = homes.into_iter().find(|(word, _)| line.has_word(word)).map_or(Home::Argument, |h| h.1);
        vsa.arrays.push(DramArray { name, ty, dims, word, port, home });
        Ok(())
    }

    /// `gemm array 0 A array 1 B scalar 0 alpha size 1 n`
    fn function(&mut self, line: &mut Line) -> Result<(), String> {
        let mut member = Member { name: line.name()?, arrays: vec![], scalars: vec![], sizes: vec![] };
        while line.peek().is_some() {
            let list = match line.word("array, scalar or size")?.as_str() {
                "array" => &mut member.arrays,
                "scalar" => &mut member.scalars,
                "size" => &mut member.sizes,
                other => return Err(format!("expected array, scalar or size, found `{other}`")),
            };
            list.push((line.small::<u32>()? as usize, line.name()?));
        }
        self.vsa.functions.push(member);
        Ok(())
    }

    /// `alpha: f32 after 2 host …`
    fn scalar(&mut self, line: &mut Line) -> Result<(), String> {
        let vsa = &mut self.vsa;
        let name = line.name()?;
        line.sign(":")?;
        let ty = ty(line)?;
        line.keyword("after")?;
        let after = line.small()?;
        let types: Vec<(&str, ScalarType)> = vsa.scalars.iter().map(|s| (s.name.as_str(), s.ty)).collect();
        let host = if line.has_word("host") { Some(scop::text::read_formula(line, &types)?) } else { None };
        vsa.scalars.push(Scalar { name, ty, after, host });
        Ok(())
    }

    fn form(&self, line: &mut Line) -> Result<Form, String> {
        let position =
            |name: &str| name.strip_prefix('t').and_then(|d| d.parse::<usize>().ok()).filter(|&j| j < self.names.len());
        let find = |name: &str| match name {
            "p0" => Some(0),
            "p1" => Some(1),
            _ => self.names.iter().position(|n| n == name).or_else(|| position(name)).map(|j| j + 2),
        };
        let Affine { mut coeffs, constant } = line.sum(2, &find)?;
        let counters = coeffs.split_off(2);
        let used = counters.iter().rposition(|&c| c != 0).map_or(0, |last| last + 1);
        Ok(Form { constant, counters: counters[..used].to_vec(), space: [coeffs[0], coeffs[1]] })
    }

    /// `[…][…]`.
    fn forms(&self, line: &mut Line) -> Result<Vec<Form>, String> {
        let mut forms = Vec::new();
        while line.has("[") {
            forms.push(self.form(line)?);
            line.sign("]")?;
        }
        Ok(forms)
    }

    fn node(&mut self, line: &mut Line) -> Result<(), String> {
        let n: usize = line.small()?;
        if n != self.vsa.nodes.len() {
            return Err(format!("node %{n}, expected %{}", self.vsa.nodes.len()));
        }
        let name = if line.has(":") {
            String::new()
        } else {
            let name = line.name()?;
            line.sign(":")?;
            name
        };
        let ty = ty(line)?;
        line.sign("=")?;
        let op = self.op(line)?;
        self.vsa.nodes.push(Node { op, ty, name });
        if line.has("@") {
            line.keyword("ready")?;
            self.vsa.schedule.ready.push(line.integer()?);
            line.keyword("lat")?;
            self.vsa.schedule.latency.push(line.integer()?);
            if line.peek().is_some() {
                line.keyword("by")?;
                self.vsa.schedule.delays.insert(NodeId(n as u32), delay(line)?);
            }
        }
        Ok(())
    }

    fn op(&self, line: &mut Line) -> Result<Op, String> {
        let name = line.word("an operation")?;
        if let Some(&(_, op)) = UNARY.iter().find(|e| e.0 == name) {
            return Ok(Op::Unary(op, id(line)?));
        }
        if let Some(&(_, op)) = BINARY.iter().find(|e| e.0 == name) {
            let [a, b] = ids(line)?;
            return Ok(Op::Binary(op, a, b));
        }
        Ok(match name.as_str() {
            "const" => Op::Const(line.number()?),
            "scalar" => Op::Scalar(line.small()?),
            "iter" => Op::Iter(self.form(line)?),
            "guard" => Op::Guard(self.conditions(line)?),
            "input" => {
                let group = line.small()?;
                line.keyword("port")?;
                Op::Input { group, port: line.small()? }
            }
            "past" => {
                let source = id(line)?;
                line.keyword("hop")?;
                let hop = line.pair()?;
                line.keyword("waves")?;
                Op::Past { source, hop, waves: formula(line)? }
            }
            "cast" => Op::Cast(id(line)?),
            "lookup" => {
                let position = id(line)?;
                let mut table = vec![];
                while line.has(",") {
                    table.push(line.number()?);
                }
                Op::Lookup(table.into(), position)
            }
            "select" => {
                let [c, a, b] = ids(line)?;
                Op::Select(c, a, b)
            }
            "dot" => dot(line)?,
            "join" => join(line)?,
            "spread" => spread(line)?,
            "field" => field(line)?,
            "fma" => {
                let [a, b, c] = ids(line)?;
                Op::Fma(a, b, c)
            }
            _ => return Err(format!("no operation `{name}`")),
        })
    }

    fn conditions(&self, line: &mut Line) -> Result<Vec<Condition>, String> {
        let mut conditions = Vec::new();
        while !matches!(line.peek(), None | Some(Token::Sign("@"))) {
            if !conditions.is_empty() {
                line.sign(",")?;
            }
            let form = self.form(line)?;
            conditions.push(Condition { form, equality: relation(line)? });
        }
        Ok(conditions)
    }

    /// `input 0 A[…][…]`.
    fn head(&mut self, key: &str, line: &mut Line) -> Result<(), String> {
        if !self.nodes {
            return Err(format!("`{key}` before the nodes"));
        }
        let number: usize = line.small()?;
        let array = self.array_named(&line.name()?)?;
        let subscripts = self.forms(line)?;
        let footprint = Footprint { view: vec![], origin: vec![], rows: vec![], words: 0, elements: 0 };
        let (row, col) = (Form::default(), Form::default());
        let expected = if key == "input" {
            self.group = Some(Group::Input);
            self.vsa.inputs.push(InputGroup {
                array,
                arrays: vec![],
                subscripts,
                ports: vec![],
                first: [0; 2],
                last: self.vsa.extent.map(|e| e - 1),
                forward: [false; 2],
                reload: 0,
                used: When::default(),
                footprint,
                banks: vec![],
                row,
                col,
                after: vec![],
            });
            self.vsa.inputs.len() - 1
        } else {
            self.group = Some(Group::Output);
            let (first, last) = ([0; 2], [0; 2]);
            self.vsa.outputs.push(OutputGroup {
                array,
                arrays: vec![],
                subscripts,
                ports: vec![],
                first,
                last,
                emit: When::default(),
                footprint,
                banks: vec![],
                row,
                col,
                slots: 0,
                bounds: vec![],
            });
            self.vsa.outputs.len() - 1
        };
        if number == expected {
            Ok(())
        } else {
            Err(format!("{key} {number}, expected {expected}"))
        }
    }

    fn array_named(&self, name: &str) -> Result<u32, String> {
        let place = self.vsa.arrays.iter().position(|a| a.name == name);
        place.map(|k| k as u32).ok_or_else(|| format!("no array `{name}`"))
    }

    /// Functions of a merged array, each with its array.
    fn runs(&self, line: &mut Line) -> Result<(Vec<usize>, Vec<u32>), String> {
        let mut all = (vec![], vec![]);
        while line.peek().is_some() {
            all.0.push(line.small()?);
            all.1.push(self.array_named(&line.name()?)?);
        }
        Ok(all)
    }

    fn input(&mut self, key: &str, line: &mut Line) -> Result<(), String> {
        // `head` has put it there.
        let Some(mut g) = self.vsa.inputs.pop() else { return Ok(()) };
        match key {
            "ports" => {
                while line.peek().is_some() {
                    g.ports.push(line.tuple()?);
                }
            }
            "from" => {
                g.first = line.pair()?;
                line.keyword("to")?;
                g.last = line.pair()?;
            }
            "forward" => {
                g.forward = match line.word("an axis")?.as_str() {
                    "none" => [false, false],
                    "p0" => [true, false],
                    "p1" => [false, true],
                    "both" => [true, true],
                    other => return Err(format!("expected none, p0, p1 or both, found `{other}`")),
                }
            }
            "reload" => g.reload = line.small()?,
            "runs" => (g.used.functions, g.arrays) = self.runs(line)?,
            "buffers" => {
                line.keyword("of")?;
                self.vsa.common.inputs.insert(self.vsa.inputs.len(), line.small()?);
            }
            "cases" => g.used.cases = Some(cases(line)?),
            "during" => g.used.at = values(line)?,
            "footprint" => g.footprint = self.footprint(line)?,
            "bank" => g.banks.push(bank(line)?),
            "row" => g.row = self.form(line)?,
            "col" => g.col = self.form(line)?,
            "after" => {
                line.keyword("output")?;
                let output = line.small()?;
                let until = if line.has_word("phase") {
                    Until::Phase
                } else {
                    line.keyword("lag")?;
                    Until::Lag(line.integer()?)
                };
                g.after.push(After { output, until });
            }
            _ => return Err(format!("`{key}` does not belong to an input")),
        }
        self.vsa.inputs.push(g);
        Ok(())
    }

    fn output(&mut self, key: &str, line: &mut Line) -> Result<(), String> {
        let Some(mut g) = self.vsa.outputs.pop() else { return Ok(()) };
        match key {
            "port" => {
                let value = id(line)?;
                line.keyword("when")?;
                let enable = id(line)?;
                line.keyword("offset")?;
                g.ports.push(OutputPort { value, enable, offset: line.tuple()? });
            }
            "from" => {
                g.first = line.pair()?;
                line.keyword("to")?;
                g.last = line.pair()?;
            }
            "runs" => (g.emit.functions, g.arrays) = self.runs(line)?,
            "buffers" => {
                line.keyword("of")?;
                self.vsa.common.outputs.insert(self.vsa.outputs.len(), line.small()?);
            }
            "cases" => g.emit.cases = Some(cases(line)?),
            "emit" => g.emit.at = values(line)?,
            "footprint" => g.footprint = self.footprint(line)?,
            "bank" => {
                let bank = bank(line)?;
                line.keyword("elements")?;
                g.banks.push(OutputBank { bank, elements: line.integer()? });
            }
            "row" => g.row = self.form(line)?,
            "col" => g.col = self.form(line)?,
            "slots" => g.slots = line.small()?,
            "bound" => g.bounds.push(bound(line, g.subscripts.len(), self.vsa.phases())?),
            _ => return Err(format!("`{key}` does not belong to an output")),
        }
        self.vsa.outputs.push(g);
        Ok(())
    }

    fn footprint(&self, line: &mut Line) -> Result<Footprint, String> {
        line.keyword("at")?;
        let origin = self.forms(line)?;
        let mut view = Footprint::plain_view(origin.len());
        if matches!(line.peek(), Some(Token::Word(w)) if w == "view") {
            line.keyword("view")?;
            view.clear();
            while line.has("[") {
                view.push(over_coordinates(line, origin.len(), 0)?);
                line.sign("]")?;
            }
        }
        line.keyword("rows")?;
        let mut rows = Vec::new();
        while line.has("{") {
            line.keyword("extent")?;
            let extent = line.integer()?;
            line.keyword("modulus")?;
            rows.push(FootprintDim { modulus: line.integer()?, extent });
            line.sign("}")?;
        }
        line.keyword("words")?;
        let words = line.integer()?;
        line.keyword("elements")?;
        Ok(Footprint { view, origin, rows, words, elements: line.integer()? })
    }
}

/// Numbers of cases.
fn cases(line: &mut Line) -> Result<BTreeSet<usize>, String> {
    let mut some = BTreeSet::new();
    while line.peek().is_some() {
        some.insert(line.small::<u32>()? as usize);
    }
    Ok(some)
}

/// Values of counters: `every`, or a number, which may be that of a parameter.
fn values(line: &mut Line) -> Result<Vec<Option<Formula>>, String> {
    let mut all = vec![];
    while let Some(token) = line.peek() {
        if matches!(token, Token::Word(_)) {
            line.keyword("every")?;
            all.push(None);
            continue;
        }
        let most = line.integer()?;
        all.push(Some(if line.has_word("at") {
            line.keyword("parameter")?;
            Formula::Parameter { place: line.small()?, most }
        } else {
            Formula::Const(most)
        }));
    }
    Ok(all)
}

/// The end of a counter that runs so often: its last value, or the parameter that is.
fn end(line: &mut Line, trip: i64) -> Result<Formula, String> {
    let most = trip.wrapping_sub(1);
    if line.has_word("to") {
        line.keyword("parameter")?;
        return Ok(Formula::Parameter { place: line.small()?, most });
    }
    Ok(Formula::Const(most))
}
