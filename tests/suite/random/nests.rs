//! Random programs of one loop nest of depth 1 to 3 with rectangular or triangular bounds, up to three statements,
//! some under guards, reading what others produced at constant distances, and inputs that several iterations share.
//!
//! Arrays of results have a margin of [`MARGIN`] cells on each side, so that every distance stays inside.

use super::check::Case;
use sagen::data::Random;

const MARGIN: i64 = 2;
const LOOPS: [&str; 3] = ["i", "j", "k"];
const TYPES: [&str; 8] = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "int32_t", "uint32_t", "int64_t"];

/// An array of results: the loops that subscript it.
struct Target {
    name: String,
    loops: Vec<usize>,
}

struct Generator {
    random: Random,
    bounds: Vec<i64>,
    /// For each loop, the number of the macro that bounds it: N0, N1, …
    names: Vec<usize>,
    targets: Vec<Target>,
    /// Declarations of the arrays.
    parameters: Vec<String>,
}

/// Case number `seed`.
pub fn draw(seed: u64) -> Case {
    let mut random = Random(seed.wrapping_mul(0xd134_2543_de82_ef95));
    let depth = [1, 2, 2, 2, 3, 3][random.below(6) as usize];
    let bounds: Vec<i64> = (0..depth).map(|_| 1 + random.below(5) as i64).collect();
    let defines: String = bounds.iter().enumerate().map(|(k, bound)| format!("#define N{k} {bound}\n")).collect();
    let mut generator = Generator { random, bounds, names: (0..depth).collect(), targets: vec![], parameters: vec![] };
    let body = generator.nest();
    let random = &mut generator.random;
    let memory = ["--memory ddr ", "--memory ideal:1 "].get(random.below(6) as usize).copied().unwrap_or("");
    let row = if random.below(4) == 0 { None } else { Some(random.below(1 << 20) as usize) };
    let parameters = generator.parameters.join(", ");
    let text = format!(
        "#include <stdint.h>\n{defines}#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((a) > (b) ? (a) \
        : (b))\n\
         void kernel({parameters}) {{\n#pragma scop\n{body}#pragma endscop\n}}\n"
    );
    Case { seed, text, options: format!("{memory}--seed {seed}"), row, shift: 0, native: seed.is_multiple_of(10) }
}

impl Generator {
    fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit as u64) as usize
    }
    fn depth(&self) -> usize {
        self.bounds.len()
    }

    /// Loops, and the statements in them.
    fn nest(&mut self) -> String {
        let mut headers = vec![];
        for (level, name) in LOOPS.into_iter().enumerate().take(self.depth()) {
            let shape = if level == 0 { 9 } else { self.below(10) };
            let outer = if level == 0 { 0 } else { self.below(level) };
            let header = match shape {
                0 => {
                    (self.bounds[level], self.names[level]) = (self.bounds[outer], self.names[outer]);
                    format!("for (int {name} = 0; {name} <= {}; {name}++)", LOOPS[outer])
                }
                1 => format!("for (int {name} = {}; {name} < N{}; {name}++)", LOOPS[outer], self.names[level]),
                _ => format!("for (int {name} = 0; {name} < N{}; {name}++)", self.names[level]),
            };
            headers.push(header);
        }
        let count = 1 + self.below(3);
        for n in 0..count {
            self.target(n);
        }
        let early = self.depth() > 1 && self.below(4) == 0;
        let mut text = String::new();
        for (level, header) in headers.iter().enumerate() {
            let last = level + 1 == self.depth();
            if last && early {
                let statement = self.first_value();
                text += &format!("{}{statement}\n", "  ".repeat(level));
            }
            text += &format!("{}{header} {{\n", "  ".repeat(level));
        }
        for n in 0..count {
            let statement = self.statement(n);
            text += &format!("{}{statement}\n", "  ".repeat(self.depth()));
        }
        (0..self.depth()).rev().for_each(|level| text += &format!("{}}}\n", "  ".repeat(level)));
        text
    }

    /// Declares the array that statement `n` writes: subscripted by all loops, or by all but one.
    fn target(&mut self, n: usize) {
        let name = format!("x{n}");
        let mut loops: Vec<usize> = (0..self.depth()).collect();
        if self.depth() > 1 && self.below(3) == 0 {
            let gone = if self.below(3) > 0 { self.depth() - 1 } else { self.below(self.depth()) };
            loops.remove(gone);
        }
        let dims: String = loops.iter().map(|&l| format!("[N{} + {}]", self.names[l], 2 * MARGIN)).collect();
        let ty = TYPES[self.below(TYPES.len())];
        self.parameters.push(format!("{ty} {name}{dims}"));
        self.targets.push(Target { name, loops });
    }

    /// A target's cell at a distance.
    fn cell(&self, target: usize, distance: &[i64]) -> String {
        let Target { name, loops } = &self.targets[target];
        let subscript = |&l: &usize| format!("[{} + {}]", LOOPS[l], MARGIN - distance[l]);
        format!("{name}{}", loops.iter().map(subscript).collect::<String>())
    }

    fn statement(&mut self, n: usize) -> String {
        let at_home = vec![0; self.depth()];
        let write = self.cell(n, &at_home);
        let mut value = self.expression(2);
        if self.targets[n].loops.len() < self.depth() && self.below(4) > 0 {
            value = format!("{write} {} {value}", ["+", "-", "^", "*", "|"][self.below(5)]);
        }
        let guard = if self.below(4) == 0 { format!("if ({}) ", self.guard()) } else { String::new() };
        format!("{guard}{write} = {value};")
    }

    /// A statement before the innermost loop, where the first target has no subscript of that loop.
    fn first_value(&mut self) -> String {
        let inner = self.depth() - 1;
        if self.targets[0].loops.contains(&inner) {
            return String::new();
        }
        let at_home = vec![0; self.depth()];
        format!("{} = {};", self.cell(0, &at_home), self.below(9))
    }

    fn guard(&mut self) -> String {
        let a = LOOPS[self.below(self.depth())];
        let b = LOOPS[self.below(self.depth())];
        let c = self.below(5);
        match self.below(5) {
            0 => format!("{a} >= {b}"),
            1 => format!("{a} + {b} < {c}"),
            2 => format!("{a} == {}", c % 3),
            3 => format!("{a} > 0"),
            _ => format!("{a} != {b} + {c}"),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(6) == 0 {
            return self.leaf();
        }
        let (a, b) = (self.expression(depth - 1), self.expression(depth - 1));
        match self.below(12) {
            0..=3 => format!("({a} + {b})"),
            4 => format!("({a} - {b})"),
            5 => format!("({a} * {b})"),
            6 => format!("MIN({a}, {b})"),
            7 => format!("MAX({a}, {b})"),
            8 => format!("({a} {} {b})", ["&", "|", "^"][self.below(3)]),
            9 => format!("({a} {} {b} ? {} : {a})", ["<", "==", ">="][self.below(3)], self.leaf()),
            10 => format!("({a} >> {})", self.below(5)),
            _ => format!("({} ? {a} : {b})", self.guard()),
        }
    }

    fn leaf(&mut self) -> String {
        match self.below(8) {
            0 => format!("{}", self.below(20) as i64 - 6),
            1 => LOOPS[self.below(self.depth())].to_string(),
            2 | 3 => self.input(),
            _ => self.result(),
        }
    }

    /// A value of any statement, mostly of an earlier iteration.
    fn result(&mut self) -> String {
        let target = self.below(self.targets.len());
        let mut distance: Vec<i64> = (0..self.depth()).map(|_| [0, 0, 1, 1, 2, -1][self.below(6)]).collect();
        if let Some(first) = distance.iter().position(|&d| d != 0) {
            if distance[first] < 0 && self.below(4) > 0 {
                distance[first] = 1;
            }
        }
        distance.iter_mut().for_each(|d| *d = (*d).clamp(-MARGIN, MARGIN));
        self.cell(target, &distance)
    }

    /// An array that is only read, by some of the loops or the sum of two.
    fn input(&mut self) -> String {
        let name = format!("u{}", self.parameters.len());
        let ty = TYPES[self.below(TYPES.len())];
        let (mut dims, mut subscripts) = (String::new(), String::new());
        for (l, name) in LOOPS.into_iter().enumerate().take(self.depth()) {
            if self.below(2) == 0 {
                let offset = self.below(2) as i64;
                dims += &format!("[N{} + {offset}]", self.names[l]);
                subscripts += &format!("[{} + {offset}]", name);
            }
        }
        if subscripts.is_empty() {
            let (a, b) = (self.below(self.depth()), self.below(self.depth()));
            dims = format!("[N{} + N{}]", self.names[a], self.names[b]);
            subscripts = format!("[{} + {}]", LOOPS[a], LOOPS[b]);
        }
        self.parameters.push(format!("const {ty} {name}{dims}"));
        format!("{name}{subscripts}")
    }
}
