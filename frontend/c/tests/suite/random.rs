//! Random programs of the supported class: the interpreter against the system's C compiler, bit for bit.

use crate::common::{assert_same, Native, Random};
use frontend::{parse_text, ParseOptions};
use scop::{interp, render_plain};
use std::fmt::Write;
use std::path::Path;

const INTEGERS: &[&str] = &[
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "_Bool",
    "char",
    "unsigned long",
];
const FLOATS: &[&str] = &["float", "double", "_Float16"];
const N: usize = 6;

/// One program: integer arrays `a0…`, float arrays `f0…`, all `[N][N]`.
struct Program<'a> {
    random: &'a mut Random,
    integers: usize,
    text: String,
}

impl Program<'_> {
    fn element(&mut self, prefix: char, count: usize) -> String {
        let k = self.random.below(count);
        let subscripts = self.random.pick(&["[i][j]", "[j][i]", "[i][0]", "[5 - j][i]", "[0][j]"]);
        format!("{prefix}{k}{subscripts}")
    }

    fn integer(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.below(6) == 0 {
            return match self.random.below(6) {
                0 => self.random.pick(&["i", "j", "(2 * i - j)", "k"]).to_string(),
                1 => self
                    .random
                    .pick(&["7", "(-3)", "0x80u", "100000L", "3000000000", "'b'", "255", "1ul", "0", "010"])
                    .to_string(),
                2 => "s".into(),
                _ => self.element('a', self.integers),
            };
        }
        let a = self.integer(depth - 1);
        match self.random.below(16) {
            0 => format!("({a} << ({} & 7))", self.integer(depth - 1)),
            1 => format!("({a} >> ({} & 7))", self.integer(depth - 1)),
            2 => format!("({a} / (({} & 15) + 1))", self.integer(depth - 1)),
            3 => format!("({a} % (({} & 15) + 1))", self.integer(depth - 1)),
            4 => format!("({}{a})", self.random.pick(&["-", "~", "!", "+"])),
            5 => format!("(({}){a})", self.random.pick(INTEGERS)),
            6 => format!("({} ? {a} : {})", self.condition(depth - 1), self.integer(depth - 1)),
            7 => {
                let b = self.integer(depth - 1);
                format!("({a} {} {b} ? {a} : {b})", self.random.pick(&["<", ">", "<=", ">="]))
            }
            8 => self.condition(depth - 1),
            _ => format!("({a} {} {})", self.random.pick(&["+", "-", "*", "&", "|", "^"]), self.integer(depth - 1)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.random.below(7) {
            0 => format!("({} && {})", self.condition(depth / 2), self.condition(depth / 2)),
            1 => format!("({} || {})", self.condition(depth / 2), self.condition(depth / 2)),
            2 => {
                self.random.pick(&["(i > j)", "(i == 2)", "(i + j < 7)", "(j != 3)", "(i >= 1)", "(i % 2)"]).to_string()
            }
            3 => format!("(!{})", self.condition(depth / 2)),
            4 => format!(
                "({} {} {})",
                self.float(1),
                self.random.pick(&["<", ">", "<=", ">=", "==", "!="]),
                self.float(1)
            ),
            _ => format!(
                "({} {} {})",
                self.integer(depth),
                self.random.pick(&["<", ">", "<=", ">=", "==", "!="]),
                self.integer(depth)
            ),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.below(5) == 0 {
            return match self.random.below(5) {
                0 => self.random.pick(&["0.5f", "1.25", "(-3.0f)", "1e-3", "2", "0x1.8p2f"]).to_string(),
                _ => self.element('f', FLOATS.len()),
            };
        }
        let a = self.float(depth - 1);
        match self.random.below(9) {
            0 => format!("(-{a})"),
            1 => format!("(({}){a})", self.random.pick(FLOATS)),
            2 => format!("({a} / {})", self.float(depth - 1)),
            3 => format!("sqrtf({a})"),
            4 => format!("fmaf({a}, {}, {})", self.float(depth - 1), self.float(depth - 1)),
            5 => format!("({} ? {a} : {})", self.condition(1), self.float(depth - 1)),
            6 => format!("{}({a}, {})", self.random.pick(&["fminf", "fmaxf"]), self.float(depth - 1)),
            _ => format!("({a} {} {})", self.random.pick(&["+", "-", "*"]), self.float(depth - 1)),
        }
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 6 } else { 9 }) {
            0 => {
                let (target, value) = (self.element('f', FLOATS.len()), self.float(3));
                let op = self.random.pick(&["=", "+=", "*=", "-="]);
                let _ = writeln!(self.text, "{target} {op} {value};");
            }
            1 => {
                let value = self.integer(2);
                let _ = writeln!(self.text, "s = {value};");
            }
            2 => {
                let target = self.element('a', self.integers);
                let op = self.random.pick(&["++", "--"]);
                let _ = writeln!(self.text, "{target}{op};");
            }
            3..=5 => {
                let (target, value) = (self.element('a', self.integers), self.integer(3));
                let op = self.random.pick(&["=", "=", "+=", "-=", "*=", "&=", "|=", "^="]);
                let _ = writeln!(self.text, "{target} {op} {value};");
            }
            6 => {
                self.text += "{ int k2 = 0; for (int m = j; m < 6; m += 2) {\n";
                self.statement(depth - 1);
                self.text += "k2 += m; }\n";
                let target = self.element('a', self.integers);
                let _ = writeln!(self.text, "{target} ^= k2; }}");
            }
            _ => {
                let condition = self.condition(2);
                let _ = writeln!(self.text, "if ({condition}) {{");
                (0..1 + self.random.below(2)).for_each(|_| self.statement(depth - 1));
                if self.random.below(2) == 0 {
                    self.text += "} else {\n";
                    (0..1 + self.random.below(2)).for_each(|_| self.statement(depth - 1));
                }
                self.text += "}\n";
            }
        }
    }
}

fn program(seed: u64) -> String {
    let random = &mut Random::new(seed);
    let integers: Vec<&str> = (0..4).map(|_| *random.pick(INTEGERS)).collect();
    let mut p =
        Program { random, integers: integers.len(), text: "#include <stdint.h>\n#include <math.h>\nvoid f(".into() };
    let declared = integers.iter().enumerate().map(|(k, t)| format!("{t} a{k}[{N}][{N}]"));
    let floats = FLOATS.iter().enumerate().map(|(k, t)| format!("{t} f{k}[{N}][{N}]"));
    p.text += &declared.chain(floats).collect::<Vec<_>>().join(", ");
    p.text += ") {\nconst int k = 5;\n#pragma scop\nint s = 1;\n\
        for (int i = 0; i < 6; i++)\nfor (int j = 5; j >= 0; j--) {\n";
    (0..5).for_each(|_| p.statement(2));
    p.text += "}\n#pragma endscop\n}\n";
    p.text
}

#[test]
fn random_programs_compute_what_c_computes() {
    let cases = std::env::var("SAGEN_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(40);
    for seed in 1..=cases {
        let text = program(seed);
        let (scop, _) = parse_text("random.c", &text, &ParseOptions::default())
            .unwrap_or_else(|(map, faults)| panic!("{}\n{text}", render_plain(&map, &faults)));
        let native = Native::compile(&scop, Path::new("."));
        for data in 0..3 {
            let before = Random::new(1000 * seed + data).memory(&scop);
            let after = native.run(&scop, &before).expect("no traps");
            let mut memory = before.clone();
            interp::run(&scop, &mut memory).unwrap();
            assert_same(&scop, &after, &memory, &format!("seed {seed}\n{text}\n{scop}"));
        }
    }
}
