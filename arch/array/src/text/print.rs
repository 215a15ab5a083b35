//! Vsa to text. Lists that are empty, and values that are the usual ones, have no line.

use crate::text::names::{counter_names, BINARY, UNARY};
use crate::vsa::When;
use crate::vsa::{
    After, Bank, CellBound, Delay, Footprint, Home, InputGroup, Node, NodeId, Op, OutputGroup, Until, Vsa,
};
use scop::text::lex::is_word;
use scop::value::{Field, Spread};
use scop::ScalarType;
use std::fmt::{self, Display, Formatter, Write};
use uniform::affine::Form;
use uniform::counters::Span;
use uniform::fabric::Fabric;
use uniform::sizes::Formula;

/// The printed form, see [`crate::text`].
pub fn to_text(vsa: &Vsa) -> String {
    let mut printer = Printer { vsa, names: counter_names(vsa), out: String::new() };
    // Writing to a String cannot fail.
    let _ = printer.all();
    printer.out
}

/// A name, in quotes where needed.
struct Name<'a>(&'a str);
impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        if is_word(self.0) {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
    }
}

struct Tuple<'a>(&'a [i64]);
impl Display for Tuple<'_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(i64::to_string).collect();
        write!(f, "({})", parts.join(", "))
    }
}

/// `2*a - b + 3`.
fn sum(terms: impl Iterator<Item = (i64, String)>, constant: i64) -> String {
    let mut text = String::new();
    let mut add = |negative: bool, term: String| {
        text += match (text.is_empty(), negative) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text += &term;
    };
    for (factor, name) in terms.filter(|t| t.0 != 0) {
        let term = if factor.unsigned_abs() == 1 { name } else { format!("{}*{name}", factor.unsigned_abs()) };
        add(factor < 0, term);
    }
    if constant != 0 {
        add(constant < 0, constant.unsigned_abs().to_string());
    }
    if text.is_empty() {
        "0".into()
    } else {
        text
    }
}

/// The values of a set of tiles.
fn at(when: &When) -> String {
    let parameter = |f: &Formula| f.parameter().map_or(String::new(), |p| format!(" at parameter {p}"));
    let value = |f: &Formula| format!(" {}{}", f.most(), parameter(f));
    when.at.iter().map(|f| f.as_ref().map_or(" every".into(), value)).collect()
}

/// Over a footprint's coordinates `y0`, `y1`, …
fn over_coordinates<'a>(coeffs: impl Iterator<Item = &'a i64>, phases: &[i64], constant: i64) -> String {
    let named = |name: &'static str| move |(d, &c): (usize, &i64)| (c, format!("{name}{d}"));
    sum(coeffs.enumerate().map(named("y")).chain(phases.iter().enumerate().map(named("phase"))), constant)
}

struct Printer<'a> {
    vsa: &'a Vsa,
    names: Vec<String>,
    out: String,
}

impl Printer<'_> {
    fn form(&self, f: &Form) -> String {
        let time = f.counters.iter().copied().zip(self.names.iter().cloned());
        let space = f.space.iter().enumerate().map(|(a, &c)| (c, format!("p{a}")));
        sum(time.chain(space), f.constant)
    }

    fn all(&mut self) -> fmt::Result {
        let vsa = self.vsa;
        writeln!(self.out, "vsa {}", Name(&vsa.name))?;
        for a in 0..2 {
            writeln!(self.out, "space {} {} skew {}", Name(&vsa.axes[a]), vsa.extent[a], vsa.schedule.start[a])?;
        }
        writeln!(self.out, "lanes {}\ninterval {}\nahead {}", vsa.lanes, vsa.schedule.interval, vsa.ahead)?;
        if !vsa.away.is_empty() {
            writeln!(self.out, "away {}", Tuple(&vsa.away))?;
        }
        if vsa.address_bits != 64 {
            writeln!(self.out, "addresses {}", vsa.address_bits)?;
        }
        if vsa.lengths {
            writeln!(self.out, "lengths")?;
        }
        if vsa.unaligned {
            writeln!(self.out, "unaligned")?;
        }
        if vsa.uram {
            writeln!(self.out, "uram")?;
        }
        if vsa.overlap {
            writeln!(self.out, "overlap")?;
        }
        match vsa.fabric {
            Fabric::Lut6 => {}
            Fabric::Series7 => writeln!(self.out, "series7")?,
            Fabric::Ecp5 => writeln!(self.out, "ecp5")?,
        }
        writeln!(self.out)?;
        for s in &vsa.sizes.list {
            writeln!(self.out, "size {}: {} max {} after {} {}", Name(&s.name), s.ty, s.max, s.after[0], s.after[1])?;
        }
        self.loops()?;
        writeln!(self.out)?;
        self.arrays()?;
        for f in &vsa.functions {
            let own = |kind: &str, all: &[(usize, String)]| {
                all.iter().map(|(k, name)| format!(" {kind} {k} {}", Name(name))).collect::<String>()
            };
            let (arrays, scalars, sizes) = (own("array", &f.arrays), own("scalar", &f.scalars), own("size", &f.sizes));
            writeln!(self.out, "function {}{arrays}{scalars}{sizes}", Name(&f.name))?;
        }
        for s in &vsa.scalars {
            let types: Vec<(&str, ScalarType)> = vsa.scalars.iter().map(|s| (s.name.as_str(), s.ty)).collect();
            let host = s.host.as_ref().map_or(String::new(), |e| format!(" host {}", scop::text::formula(&types, e)));
            writeln!(self.out, "scalar {}: {} after {}{host}", Name(&s.name), s.ty, s.after)?;
        }
        writeln!(self.out, "\nnodes")?;
        for (n, node) in vsa.nodes.iter().enumerate() {
            self.node(n, node)?;
        }
        for (i, g) in vsa.inputs.iter().enumerate() {
            self.input(i, g)?;
        }
        for (i, g) in vsa.outputs.iter().enumerate() {
            self.output(i, g)?;
        }
        Ok(())
    }

    /// Counters, and where they end in each case.
    fn loops(&mut self) -> fmt::Result {
        let vsa = self.vsa;
        let to = |end: &Formula| end.parameter().map_or(String::new(), |p| format!(" to parameter {p}"));
        for (j, c) in vsa.counters.iter().enumerate() {
            if j < vsa.parameters() {
                writeln!(self.out, "parameter {} {} = {}", Name(&c.name), c.trip, c.last)?;
                continue;
            }
            let kind = if j < vsa.phases() {
                "phase"
            } else if j < vsa.tile_depth {
                "tile"
            } else {
                "time"
            };
            let end = |end: &Formula| format!(" {}{}", end.most().wrapping_add(1), to(end));
            let last = match &c.last {
                Formula::ByCase(ends) => {
                    format!(" by case{}", ends[..vsa.cases.len()].iter().map(end).collect::<String>())
                }
                last => to(last),
            };
            writeln!(self.out, "{kind} {} {}{last}", Name(&c.name), c.trip)?;
        }
        for case in &vsa.cases {
            let span = |s: &Span| format!(" {}{}", Tuple(&[s.low, s.high]), to(&s.end));
            writeln!(self.out, "case{}", case.iter().map(span).collect::<String>())?;
        }
        Ok(())
    }

    fn arrays(&mut self) -> fmt::Result {
        let vsa = self.vsa;
        let mut ports = 0;
        let sizes: Vec<String> = (0..vsa.sizes.list.len()).map(|k| format!("s{k}")).collect();
        for (k, a) in vsa.arrays.iter().enumerate() {
            let dims: String = match vsa.sizes.extents.get(&k) {
                Some(extents) => extents
                    .iter()
                    .map(|e| format!("[{}]", sum(e.coeffs.iter().copied().zip(sizes.iter().cloned()), e.constant)))
                    .collect(),
                None => a.dims.iter().map(|d| format!("[{d}]")).collect(),
            };
            let port = if a.port == ports { String::new() } else { format!(" port {}", a.port) };
            let home = match a.home {
                Home::Argument => "",
                Home::Scratch => " scratch",
                Home::OnChip => " on_chip",
                Home::Kept => " kept",
            };
            writeln!(self.out, "array {}: {}{dims} word {}{port}{home}", Name(&a.name), a.ty, a.word)?;
            ports = ports.max(a.port + 1);
        }
        Ok(())
    }

    fn node(&mut self, n: usize, node: &Node) -> fmt::Result {
        let name = if node.name.is_empty() { String::new() } else { format!(" {}", Name(&node.name)) };
        write!(self.out, "  %{n}{name}: {} = {}", node.ty, self.op(node))?;
        let s = &self.vsa.schedule;
        if let (Some(ready), Some(latency)) = (s.ready.get(n), s.latency.get(n)) {
            write!(self.out, "  @ready {ready} lat {latency}")?;
            match s.delays.get(&NodeId(n as u32)) {
                Some(Delay::Chain) => write!(self.out, " by chain")?,
                Some(Delay::Memory { read, synchronous }) => {
                    write!(self.out, " by memory {} {read}", if *synchronous { "sync" } else { "async" })?
                }
                None => {}
            }
        }
        writeln!(self.out)
    }

    fn op(&self, node: &Node) -> String {
        match &node.op {
            Op::Const(bits) if node.ty.is_float() => format!("const {bits:#x}"),
            Op::Const(bits) => format!("const {bits}"),
            Op::Scalar(k) => format!("scalar {k}"),
            Op::Iter(form) => format!("iter {}", self.form(form)),
            Op::Guard(conditions) => {
                let sign = |equality: bool| if equality { "==" } else { ">=" };
                let parts: Vec<String> =
                    conditions.iter().map(|c| format!(" {} {} 0", self.form(&c.form), sign(c.equality))).collect();
                format!("guard{}", parts.join(","))
            }
            Op::Input { group, port } => format!("input {group} port {port}"),
            Op::Past { source, hop, waves } => format!("past %{} hop {} waves {waves}", source.0, Tuple(hop)),
            Op::Unary(op, a) => format!("{} %{}", spelled(&UNARY, op), a.0),
            Op::Binary(op, a, b) => format!("{} %{}, %{}", spelled(&BINARY, op), a.0, b.0),
            Op::Select(c, a, b) => format!("select %{}, %{}, %{}", c.0, a.0, b.0),
            Op::Cast(a) => format!("cast %{}", a.0),
            Op::Lookup(table, a) => {
                format!("lookup %{}{}", a.0, table.iter().map(|bits| format!(", {bits}")).collect::<String>())
            }
            Op::Dot { pairs, addend } => {
                let pairs: String = pairs.iter().map(|[a, b]| format!("%{}, %{}, ", a.0, b.0)).collect();
                format!("dot {pairs}%{}", addend.0)
            }
            Op::Fma(a, b, c) => format!("fma %{}, %{}, %{}", a.0, b.0, c.0),
            Op::Join { integers, step } => {
                format!("join {step}{}", integers.iter().map(|n| format!(", %{}", n.0)).collect::<String>())
            }
            Op::Spread(a, Spread { count, integer, from, to }) => {
                format!("spread %{} count {count} of {integer} from {from} to {to}", a.0)
            }
            Op::Field(a, Field { at, bits, negative }) => {
                format!("field %{} at {at} bits {bits} negative {negative}", a.0)
            }
        }
    }

    /// `kind 0 A[…][…]`.
    fn head(&mut self, kind: &str, i: usize, array: u32, subscripts: &[Form]) -> fmt::Result {
        let name = self.vsa.arrays.get(array as usize).map_or("", |a| &a.name);
        let subscripts: String = subscripts.iter().map(|f| format!("[{}]", self.form(f))).collect();
        writeln!(self.out, "\n{kind} {i} {}{subscripts}", Name(name))
    }

    fn footprint(&mut self, footprint: &Footprint) -> fmt::Result {
        let origin: String = footprint.origin.iter().map(|f| format!("[{}]", self.form(f))).collect();
        let rows: String =
            footprint.rows.iter().map(|r| format!(" {{extent {} modulus {}}}", r.extent, r.modulus)).collect();
        let view = if footprint.view == Footprint::plain_view(footprint.origin.len()) {
            String::new()
        } else {
            let forms =
                footprint.view.iter().map(|f| format!("[{}]", over_coordinates(f.coeffs.iter(), &[], f.constant)));
            format!(" view {}", forms.collect::<String>())
        };
        writeln!(
            self.out,
            "  footprint at {origin}{view} rows{rows} words {} elements {}",
            footprint.words, footprint.elements
        )
    }

    fn bank(&mut self, bank: &Bank, elements: Option<i64>) -> fmt::Result {
        write!(self.out, "  bank port {} ports {}", bank.port, bank.ports)?;
        for r in &bank.rows {
            write!(self.out, " {{from {} move {} extent {} residue {}}}", r.base, Tuple(&r.coef), r.extent, r.residue)?;
        }
        write!(self.out, " from {} move {} words {}", bank.base, Tuple(&bank.coef), bank.words_per_row,)?;
        if bank.stride != 0 {
            write!(self.out, " stride {}", bank.stride)?;
        }
        write!(self.out, " depth {}", bank.depth)?;
        match elements {
            Some(n) => writeln!(self.out, " elements {n}"),
            None => writeln!(self.out),
        }
    }

    fn address(&mut self, row: &Form, col: &Form) -> fmt::Result {
        let (row, col) = (self.form(row), self.form(col));
        writeln!(self.out, "  row {row}\n  col {col}")
    }

    fn input(&mut self, i: usize, g: &InputGroup) -> fmt::Result {
        self.head("input", i, g.array, &g.subscripts)?;
        let ports: String = g.ports.iter().map(|p| format!(" {}", Tuple(p))).collect();
        let forward = match g.forward {
            [false, false] => "none",
            [true, false] => "p0",
            [false, true] => "p1",
            [true, true] => "both",
        };
        writeln!(self.out, "  ports{ports}")?;
        if (g.first, g.last) != ([0, 0], self.vsa.extent.map(|e| e - 1)) {
            writeln!(self.out, "  from {} to {}", Tuple(&g.first), Tuple(&g.last))?;
        }
        writeln!(self.out, "  forward {forward}\n  reload {}", g.reload)?;
        if g.used.at.iter().any(Option::is_some) {
            writeln!(self.out, "  during{}", at(&g.used))?;
        }
        self.runs(&g.used, &g.arrays)?;
        self.guest(self.vsa.feeders_of(i), i)?;
        self.cases(&g.used)?;
        self.footprint(&g.footprint)?;
        for b in &g.banks {
            self.bank(b, None)?;
        }
        self.address(&g.row, &g.col)?;
        for After { output, until } in &g.after {
            match until {
                Until::Lag(lag) => writeln!(self.out, "  after output {output} lag {lag}")?,
                Until::Phase => writeln!(self.out, "  after output {output} phase")?,
            }
        }
        Ok(())
    }

    /// The functions of a merged array, each with its array.
    fn runs(&mut self, when: &When, arrays: &[u32]) -> fmt::Result {
        if when.functions.is_empty() {
            return Ok(());
        }
        let name = |array: &u32| self.vsa.arrays.get(*array as usize).map_or("", |a| &a.name);
        let one = |(f, array): (&usize, &u32)| format!(" {f} {}", Name(name(array)));
        let all: String = when.functions.iter().zip(arrays).map(one).collect();
        writeln!(self.out, "  runs{all}")
    }

    /// The group whose buffers a group uses.
    fn guest(&mut self, owner: usize, group: usize) -> fmt::Result {
        if owner == group {
            return Ok(());
        }
        writeln!(self.out, "  buffers of {owner}")
    }

    fn cases(&mut self, when: &When) -> fmt::Result {
        let Some(some) = &when.cases else { return Ok(()) };
        writeln!(self.out, "  cases{}", some.iter().map(|k| format!(" {k}")).collect::<String>())
    }

    fn output(&mut self, i: usize, g: &OutputGroup) -> fmt::Result {
        self.head("output", i, g.array, &g.subscripts)?;
        for p in &g.ports {
            writeln!(self.out, "  port %{} when %{} offset {}", p.value.0, p.enable.0, Tuple(&p.offset))?;
        }
        writeln!(self.out, "  from {} to {}", Tuple(&g.first), Tuple(&g.last))?;
        writeln!(self.out, "  emit{}", at(&g.emit))?;
        self.runs(&g.emit, &g.arrays)?;
        self.guest(self.vsa.collectors_of(i), i)?;
        self.cases(&g.emit)?;
        self.footprint(&g.footprint)?;
        for b in &g.banks {
            self.bank(&b.bank, Some(b.elements))?;
        }
        self.address(&g.row, &g.col)?;
        writeln!(self.out, "  slots {}", g.slots)?;
        for b in &g.bounds {
            self.bound(b)?;
        }
        Ok(())
    }

    fn bound(&mut self, b: &CellBound) -> fmt::Result {
        let form = over_coordinates(b.coeffs.iter().chain([&b.scale]), &b.phases, b.constant);
        writeln!(self.out, "  bound {form} {} 0", if b.equality { "==" } else { ">=" })
    }
}

fn spelled<T: PartialEq>(table: &[(&'static str, T)], op: &T) -> &'static str {
    table.iter().find(|entry| entry.1 == *op).map_or("", |entry| entry.0)
}
