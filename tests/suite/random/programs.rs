//! Programs as people write them: one to three nests one after the other, which hand arrays on; rectangular and
//! triangular bounds, steps, loops that run down; initializations beside the loop that accumulates, stencils, sums in
//! scalars, in-place updates, boundary conditions by `if`, minima by macro, by `?:` and by `if`, temporaries of one
//! branch; arrays and pointers with linearized subscripts; element types mixed, in floats or in integers.
//!
//! Every subscript stays inside of its array by the hull of the loops' ranges, so a program is refused for what it
//! does, never for where it reads.

use super::check::Case;
use sagen::data::Random;
use std::fmt::Write as _;

const INTEGERS: [&str; 9] =
    ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "int32_t", "int", "uint32_t", "int64_t"];
const FLOATS: [&str; 4] = ["float", "float", "float", "double"];
const NAMES: [&str; 6] = ["i", "j", "k", "l", "m", "n"];

struct Array {
    name: String,
    dims: Vec<i64>,
    /// The program writes it; otherwise it is an input.
    written: bool,
    /// A pointer, with all dimensions in one subscript.
    linear: bool,
}

/// A loop that is open, and the hull of its values.
struct Loop {
    name: &'static str,
    low: i64,
    high: i64,
}

struct Writer {
    random: Random,
    floats: bool,
    /// Values of the macros N0, N1, … that bound the loops.
    sizes: Vec<i64>,
    arrays: Vec<Array>,
    parameters: Vec<String>,
    loops: Vec<Loop>,
    /// Names of all loops so far.
    used: Vec<&'static str>,
    scalars: usize,
    /// A scalar that holds a value here.
    scalar: Option<String>,
    body: String,
    /// Declarations in front of the region.
    locals: String,
    /// Helper functions are called.
    helpers: bool,
    /// A table of constants at file level, with its size.
    table: Option<i64>,
}

const HELPERS: &str = "static inline int clip(int x) { return x < -100 ? -100 : (x > 99 ? 99 : x); }\n\
    static int absdiff(int a, int b) { int d = a - b; return d < 0 ? -d : d; }\n";

/// Case number `seed`.
pub fn draw(seed: u64) -> Case {
    let mut random = Random(seed.wrapping_mul(0xa076_1d64_78bd_642f) ^ 0x70_726f);
    let floats = random.below(4) == 0;
    let sizes: Vec<i64> = (0..3).map(|_| [1, 2, 3, 4, 4, 5, 5, 6, 7][random.below(9) as usize]).collect();
    let mut w = Writer {
        random,
        floats,
        sizes,
        arrays: vec![],
        parameters: vec![],
        loops: vec![],
        used: vec![],
        scalars: 0,
        scalar: None,
        body: String::new(),
        locals: String::new(),
        helpers: false,
        table: None,
    };
    w.helpers = w.rarely(10);
    if w.rarely(10) {
        w.table = Some(w.pick(&[5, 5, 100]));
    }
    for _ in 0..[1, 1, 1, 2, 2, 3][w.below(6)] {
        let depth = [1, 2, 2, 2, 3, 3, 3][w.below(7)];
        w.nest(depth);
    }
    let sizes: String = w.sizes.iter().enumerate().map(|(k, n)| format!("#define N{k} {n}\n")).collect();
    let helpers = if w.helpers { HELPERS } else { "" };
    let values = |size| (0..size).map(|k| ((k * k * 7 + 3 * k) % 23 - 9).to_string()).collect::<Vec<_>>().join(", ");
    let table =
        w.table.map_or(String::new(), |size| format!("static const int16_t table[{size}] = {{{}}};\n", values(size)));
    let text = format!(
        "#include <stdint.h>\n#include <math.h>\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((a) > \
        (b) ? (a) : (b))\n{sizes}{helpers}{table}\
         void kernel({}) {{\n{}#pragma scop\n{}#pragma endscop\n}}\n",
        w.parameters.join(", "),
        w.locals,
        w.body
    );
    let (options, row) = w.design(seed);
    let shift = if w.below(6) == 0 { w.below(20) } else { 0 };
    Case { seed, text, options, row, shift, native: seed.is_multiple_of(8) }
}

impl Writer {
    fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit as u64) as usize
    }
    /// One time in `n`.
    fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "{}{text}", "  ".repeat(self.loops.len()));
    }
    /// Nothing that floats are stored to is an integer: what C makes of those out of its range is not defined.
    fn ty(&mut self, written: bool) -> &'static str {
        let integer = !self.floats || self.rarely(8);
        if integer && !(self.floats && written) {
            self.pick(&INTEGERS)
        } else {
            self.pick(&FLOATS)
        }
    }

    /// How it becomes an array: options of `sagen sim`, and a row of `sagen map`.
    fn design(&mut self, seed: u64) -> (String, Option<usize>) {
        let mut text = format!("--seed {seed}{}", if seed % 4 == 1 { " --pack" } else { "" });
        match self.below(10) {
            0 | 1 => text += " --memory ddr",
            2 => text += &format!(" --memory ideal:{}", 1 + self.below(80)),
            _ => {}
        }
        if self.floats && self.rarely(2) {
            text += " --reassociate";
            text += if self.rarely(4) { " --dot fused" } else { "" };
        }
        if self.floats && self.rarely(6) {
            text += " --fp-contract";
        }
        if self.rarely(12) && !self.used.is_empty() {
            let name = self.pick(&self.used.clone());
            text += &format!(" --strip {name}={}", 1 + self.below(3));
        }
        if self.rarely(12) {
            text += " --distribute";
        }
        let row = if self.rarely(3) { None } else { Some(self.below(1 << 20)) };
        if row.is_some() || self.rarely(2) {
            let loops = self.used.clone();
            for name in loops {
                if self.rarely(4) {
                    let _ = write!(text, " --tile {name}={}", 1 + self.below(5));
                }
                if self.rarely(8) {
                    let _ = write!(text, " --latency {name}={}", 1 + self.below(3));
                }
                if self.rarely(8) {
                    let _ = write!(text, " --simd {name}={}", 2 + self.below(2));
                }
            }
        }
        (text, row)
    }

    /// Opens a loop that runs for some values of those around it.
    fn open(&mut self) {
        let name = NAMES.into_iter().find(|n| !self.loops.iter().any(|l| l.name == *n)).expect("few loops");
        let k = self.below(self.sizes.len());
        let n = self.sizes[k];
        let outer = if self.loops.is_empty() { None } else { Some(self.below(self.loops.len())) };
        let (header, low, high) = match (self.below(14), outer) {
            (0, Some(o)) if self.loops[o].low >= 0 => {
                (format!("{name} = 0; {name} <= {}; {name}++", self.loops[o].name), 0, self.loops[o].high)
            }
            (1, Some(o)) if self.loops[o].low + 1 < n => {
                (format!("{name} = {} + 1; {name} < N{k}; {name}++", self.loops[o].name), self.loops[o].low + 1, n - 1)
            }
            (2, Some(o)) if self.loops[o].low < n => {
                (format!("{name} = {}; {name} < N{k}; {name}++", self.loops[o].name), self.loops[o].low, n - 1)
            }
            (3, Some(o)) if self.loops[o].high > 0 => {
                (format!("{name} = 0; {name} < {}; {name}++", self.loops[o].name), 0, self.loops[o].high - 1)
            }
            (4, _) if n > 1 => (format!("{name} = 1; {name} < N{k}; {name}++"), 1, n - 1),
            (5, _) if n > 2 => (format!("{name} = 1; {name} < N{k} - 1; {name}++"), 1, n - 2),
            (6, _) => (format!("{name} = N{k} - 1; {name} >= 0; {name}--"), 0, n - 1),
            (7, _) if n > 2 => (format!("{name} = 0; {name} < N{k}; {name} += 2"), 0, n - 1),
            (8, _) if n > 1 => (format!("{name} = 1; {name} <= N{k}; ++{name}"), 1, n),
            _ => (format!("{name} = 0; {name} < N{k}; {name}++"), 0, n - 1),
        };
        self.line(&format!("for (int {header}) {{"));
        self.loops.push(Loop { name, low, high });
        if !self.used.contains(&name) {
            self.used.push(name);
        }
    }

    fn close(&mut self) {
        self.loops.pop();
        self.line("}");
    }

    /// `depth` loops in one another; some hold two nests, some a statement behind the nest.
    fn nest(&mut self, depth: usize) {
        if depth <= 1 {
            return self.innermost();
        }
        self.open();
        self.nest(depth - 1);
        if self.rarely(6) {
            self.nest(depth - 1);
        }
        if self.rarely(7) {
            self.statement();
        }
        self.close();
    }

    /// A loop and what belongs to it.
    fn innermost(&mut self) {
        match if self.loops.is_empty() { 9 } else { self.below(6) } {
            0 => self.sum_in_an_array(),
            1 => self.sum_in_a_scalar(),
            _ => {
                self.open();
                (0..[1, 1, 2, 3][self.below(4)]).for_each(|_| self.statement());
                self.close();
            }
        }
    }

    /// The first value stands beside the loop, if there is one.
    fn sum_in_an_array(&mut self) {
        let target = self.target(self.loops.len());
        if !self.rarely(4) {
            let first = if self.rarely(2) { self.leaf() } else { "0".into() };
            self.line(&format!("{target} = {first};"));
        }
        self.open();
        let (op, value) = (self.pick(&["+=", "+=", "+=", "-="]), self.product());
        self.line(&format!("{target} {op} {value};"));
        self.close();
    }

    /// The result is stored behind the loop.
    fn sum_in_a_scalar(&mut self) {
        let (name, ty, first) = (self.fresh('s'), self.ty(true), self.below(3));
        self.line(&format!("{ty} {name} = {first};"));
        self.open();
        let value = self.product();
        match self.below(5) {
            0 => self.line(&format!("{name} = MAX({name}, {value});")),
            1 => self.line(&format!("if ({value} < {name}) {name} = {value};")),
            _ => self.line(&format!("{name} += {value};")),
        }
        self.close();
        let target = self.target(self.loops.len());
        self.scalar = Some(name.clone());
        let value = if self.rarely(2) { name } else { self.expression(1) };
        self.line(&format!("{target} = {value};"));
        self.scalar = None;
    }

    /// A name for a scalar.
    fn fresh(&mut self, letter: char) -> String {
        self.scalars += 1;
        format!("{letter}{}", self.scalars)
    }

    fn statement(&mut self) {
        match self.below(20) {
            16 => self.guarded(),
            17 => self.branch_temporary(),
            n => self.simple(n % 9),
        }
    }

    /// Several statements, or a loop, under one condition.
    fn guarded(&mut self) {
        let condition = self.condition();
        self.line(&format!("if ({condition}) {{"));
        if self.loops.len() < 3 && self.rarely(3) {
            self.innermost();
        } else {
            (0..2).for_each(|_| self.simple(8));
        }
        self.line("}");
    }

    /// A local of the function that is written and read under one condition, at once or in two `if`s.
    fn branch_temporary(&mut self) {
        let (name, ty, condition) = (self.fresh('b'), self.ty(true), self.condition());
        let _ = writeln!(self.locals, "  {ty} {name};");
        let value = self.leaf();
        let between = self.assignment();
        self.scalar = Some(name.clone());
        let after = self.assignment();
        self.scalar = None;
        if self.rarely(2) {
            self.line(&format!("if ({condition}) {{ {name} = {value}; {between} {after} }}"));
        } else {
            self.line(&format!("if ({condition}) {name} = {value};"));
            self.line(&between);
            self.line(&format!("if ({condition}) {after}"));
        }
    }

    fn simple(&mut self, kind: usize) {
        match kind {
            0 => {
                let (condition, a, b) = (self.condition(), self.assignment(), self.assignment());
                self.line(&format!("if ({condition}) {a} else {b}"));
            }
            1 => {
                let (condition, a) = (self.condition(), self.assignment());
                self.line(&format!("if ({condition}) {a}"));
            }
            2 => {
                let (target, a, b) = (self.target(self.loops.len()), self.leaf(), self.leaf());
                self.line(&format!("if ({a} > {b}) {target} = {a};"));
            }
            3 => {
                let (name, ty, value) = (self.fresh('t'), self.ty(true), self.expression(1));
                self.line(&format!("{ty} {name} = {value};"));
                self.scalar = Some(name);
                let text = self.assignment();
                self.scalar = None;
                self.line(&text);
            }
            _ => {
                let text = self.assignment();
                self.line(&text);
            }
        }
    }

    fn assignment(&mut self) -> String {
        let target = self.target(self.loops.len());
        let op = if self.rarely(4) { self.pick(&["+=", "-=", "+="]) } else { "=" };
        // A recurrence: the target's own neighbours.
        if self.rarely(3) {
            if let Some(neighbour) = self.neighbour(&target) {
                let (join, value) = (self.pick(&[" + ", " + ", " - "]), self.expression(1));
                return format!("{target} {op} {neighbour}{join}{value};");
            }
        }
        let value = self.expression(2);
        format!("{target} {op} {value};")
    }

    /// A cell to write: an array subscripted by loops, each at most once; mostly by all of the `depth` open ones.
    fn target(&mut self, depth: usize) -> String {
        let mut order: Vec<usize> = (0..depth).collect();
        if depth > 1 && self.rarely(5) {
            order.remove(self.below(depth));
        }
        if order.len() > 1 && self.rarely(6) {
            order.swap(0, 1);
        }
        let need: Vec<i64> = order.iter().map(|&l| self.loops[l].high + 1).collect();
        let fits = |a: &Array| a.written && a.dims.len() == need.len() && a.dims.iter().zip(&need).all(|(d, n)| d >= n);
        let old: Vec<usize> = (0..self.arrays.len()).filter(|&a| fits(&self.arrays[a])).collect();
        let at = if !old.is_empty() && self.rarely(3) { self.pick(&old) } else { self.new_array(true, need) };
        let subscripts: Vec<String> = order.iter().map(|&l| self.loops[l].name.to_string()).collect();
        self.cell(at, &subscripts)
    }

    fn cell(&self, at: usize, subscripts: &[String]) -> String {
        let Array { name, dims, linear, .. } = &self.arrays[at];
        let inner = subscripts
            .iter()
            .zip(dims)
            .skip(1)
            .fold(subscripts.first().cloned().unwrap_or_default(), |sum, (s, d)| format!("({sum}) * {d} + {s}"));
        if *linear {
            format!("{name}[{inner}]")
        } else {
            format!("{name}{}", subscripts.iter().map(|s| format!("[{s}]")).collect::<String>())
        }
    }

    /// The cell `target` one or two steps back in one of its loops, if the loop starts late enough.
    fn neighbour(&mut self, target: &str) -> Option<String> {
        let late: Vec<(&str, i64)> = self
            .loops
            .iter()
            .filter(|l| l.low > 0 && target.contains(&format!("[{}]", l.name)))
            .map(|l| (l.name, l.low))
            .collect();
        if late.is_empty() {
            return None;
        }
        let (name, low) = self.pick(&late);
        let back = 1 + self.below(low.min(2) as usize);
        Some(target.replace(&format!("[{name}]"), &format!("[{name} - {back}]")))
    }

    fn new_array(&mut self, written: bool, dims: Vec<i64>) -> usize {
        let name = format!("{}{}", if written { 'x' } else { 'u' }, self.arrays.len());
        let subscripts: String = dims.iter().map(|d| format!("[{d}]")).collect();
        let (ty, quality) = (self.ty(written), if written { "" } else { "const " });
        let linear = dims.len() > 1 && self.rarely(10);
        self.parameters.push(if linear {
            format!("{quality}{ty} *restrict {name}")
        } else {
            format!("{quality}{ty} {name}{subscripts}")
        });
        self.arrays.push(Array { name, dims, written, linear });
        self.arrays.len() - 1
    }

    /// An affine form of the loops with its smallest and largest value.
    fn form(&mut self) -> (String, i64, i64) {
        let at = self.below(self.loops.len());
        let Loop { name, low, high } = self.loops[at];
        match self.below(12) {
            0 => (format!("{name} + 1"), low + 1, high + 1),
            1 => (format!("{name} - 1"), low - 1, high - 1),
            2 => (format!("2 * {name}"), 2 * low, 2 * high),
            3 if self.loops.len() > 1 => {
                let other = &self.loops[(at + 1) % self.loops.len()];
                (format!("{name} + {}", other.name), low + other.low, high + other.high)
            }
            4 => {
                let constant = self.below(2) as i64;
                (constant.to_string(), constant, constant)
            }
            _ => (name.to_string(), low, high),
        }
    }

    /// A value from an array: one the program writes, or an input.
    fn read(&mut self) -> String {
        let wanted = self.rarely(2);
        let some: Vec<usize> = (0..self.arrays.len()).filter(|&a| self.arrays[a].written == wanted).collect();
        if !some.is_empty() && !self.rarely(3) {
            let at = self.pick(&some);
            let mut subscripts = vec![];
            for size in self.arrays[at].dims.clone() {
                let fitting = (0..6).map(|_| self.form()).find(|f| f.1 >= 0 && f.2 < size);
                subscripts.push(fitting.map_or("0".into(), |f| f.0));
            }
            return self.cell(at, &subscripts);
        }
        let rank = 1 + self.below(self.loops.len().min(2));
        let (mut dims, mut subscripts) = (vec![], vec![]);
        for _ in 0..rank {
            let (text, low, high) = self.form();
            let (text, high) = if low < 0 { (format!("{text} + {}", -low), high - low) } else { (text, high) };
            dims.push(high.max(0) + 1);
            subscripts.push(text);
        }
        let at = self.new_array(false, dims);
        self.cell(at, &subscripts)
    }

    fn leaf(&mut self) -> String {
        if let Some(name) = self.scalar.clone() {
            if self.rarely(2) {
                return name;
            }
        }
        match self.below(9) {
            0 if self.floats => self.pick(&["0.5f", "2.0f", "-1.25f", "3"]).into(),
            0 => (self.below(30) as i64 - 9).to_string(),
            1 if !self.floats => {
                let at = self.below(self.loops.len());
                self.loops[at].name.into()
            }
            2 if self.table.is_some() => {
                let size = self.table.unwrap_or(1);
                if !self.floats && self.rarely(3) {
                    return format!("table[({}) & {}]", self.read(), if size > 64 { 63 } else { 3 });
                }
                let fitting = (0..6).map(|_| self.form()).find(|f| f.1 >= 0 && f.2 < size);
                format!("table[{}]", fitting.map_or("2".into(), |f| f.0))
            }
            _ => self.read(),
        }
    }

    /// What sums are made of.
    fn product(&mut self) -> String {
        let (a, b) = (self.read(), self.read());
        match self.below(6) {
            0 => a,
            1 => format!("({a} - {b}) * ({a} - {b})"),
            2 => format!("{a} * {b} * {}", self.leaf()),
            _ => format!("{a} * {b}"),
        }
    }

    fn condition(&mut self) -> String {
        let at = self.below(self.loops.len());
        let (a, b) = (self.loops[at].name, self.loops[(at + 1) % self.loops.len()].name);
        match self.below(8) {
            0 => format!("{a} == 0"),
            1 => format!("{a} > 0 && {b} > 0"),
            2 => format!("{a} == 0 || {b} == 0"),
            3 => format!("{a} <= {b}"),
            4 => format!("{a} != {b}"),
            5 => format!("{a} < {}", 1 + self.below(4)),
            6 => format!("{} > {}", self.leaf(), self.leaf()),
            _ => format!("{a} + {b} >= {}", self.below(5)),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.rarely(5) {
            return self.leaf();
        }
        let (a, b) = (self.expression(depth - 1), self.expression(depth - 1));
        if self.helpers && self.rarely(3) {
            return if self.rarely(2) { format!("clip({a})") } else { format!("absdiff({a}, {b})") };
        }
        match self.below(if self.floats { 9 } else { 13 }) {
            0..=2 => format!("({a} + {b})"),
            3 => format!("({a} - {b})"),
            4 => format!("{a} * {b}"),
            5 => format!("MIN({a}, {b})"),
            6 => format!("MAX({a}, {b})"),
            7 => format!("({} ? {a} : {b})", self.condition()),
            8 if self.floats => format!("fabsf({a})"),
            8 => format!("({a} {} {b})", self.pick(&["&", "|", "^"])),
            9 => format!("({a} >> {})", self.below(4)),
            10 => format!("(({}){a})", self.pick(&INTEGERS)),
            11 => format!("({a} {} {b} ? {a} : {})", self.pick(&["<", ">=", "=="]), self.leaf()),
            _ => format!("-({a})"),
        }
    }
}
