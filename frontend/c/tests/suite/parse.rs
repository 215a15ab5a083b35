//! Single constructs: the text form of the parsed scop.

use frontend::{parse_text, programs_of_text, ParseOptions};
use scop::diag::Severity;
use scop::render_plain;
use scop::{Binding, Storage};

const ARRAYS: &str = "int8_t a[8], int16_t h[8], int32_t x[8][8], uint32_t u[8], float f[8], _Float16 g[8], _Bool b[8]";

/// The scop of `body`, with arrays of several types around it, without its array table.
fn lower(body: &str) -> String {
    let text = format!(
        "#include <stdint.h>\n#include <math.h>\nvoid k({ARRAYS}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    );
    match parse_text("k.c", &text, &ParseOptions::default()) {
        Ok((scop, warnings)) => {
            assert!(warnings.is_empty());
            scop.to_string()
                .lines()
                .filter(|l| !l.starts_with("scop") && !l.starts_with("  array"))
                .map(|l| format!("{}\n", l.trim()))
                .collect()
        }
        Err((map, faults)) => panic!("{}", render_plain(&map, &faults)),
    }
}

/// The right-hand side of a single assignment in the scop.
fn value(statement: &str) -> String {
    let text = lower(statement);
    text.lines().last().unwrap().split_once(" = ").unwrap().1.to_string()
}

#[test]
fn loops_are_normalized() {
    let expected = "loop 0: i = 7 - 1*i'\nloop 1: j = 1 + 3*j' in loop 0\nS0[i', j'] in loop 1 at [0, 0, 0]\nwhere i' \
        >= 0 and -i' + 5 >= 0 and j' >= 0 and -j' + 1 >= 0\nx[-i' + 7][3*j' + 1] = (-2*i' - 3*j' + 13)i32\n";
    assert_eq!(lower("for (int i = 7; i > 1; i--) for (int j = 1; j < 7; j += 3) x[i][j] = 2 * i - j;"), expected);
    let strip = "loop 0: t = 0 + 4*t'\nloop 1: i in loop 0\nS0[t', i] in loop 1 at [0, 0, 0]\nwhere t' >= 0 and -t' + \
        1 >= 0 and -4*t' + i >= 0 and 4*t' - i + 3 >= 0 and -i + 6 >= 0\na[i] = 1i8\n";
    assert_eq!(
        lower("for (int t = 0; t < 8; t += 4) for (int i = t; i < (t + 4 < 7 ? t + 4 : 7); i++) a[i] = 1;"),
        strip
    );
}

#[test]
fn affine_conditions_split_the_domain() {
    let expected = "loop 0: i\nS0[i] in loop 0 at [0, 0]\nwhere i >= 0 and -i + 2 >= 0\nwhere i - 6 >= 0 and -i + 7 \
        >= 0\naround i >= 0 and -i + 7 >= 0\na[i] = 0i8\nS1[i] in loop 0 at [0, 1]\nwhere i - 3 >= 0 and -i + 5 >= 0\n\
        around i >= 0 and -i + 7 >= 0\na[i] = 1i8\n";
    assert_eq!(lower("for (int i = 0; i < 8; i++) { if (i < 3 || i > 5) a[i] = 0; else a[i] = 1; }"), expected);
    let padded = "loop 0: i\nS0[i] in loop 0 at [0, 0]\nwhere i - 1 >= 0 and -i + 7 >= 0\naround i >= 0 and -i + 7 >= \
        0\na[i] = a[i - 1]\nS1[i] in loop 0 at [0, 1]\nwhere i >= 0 and -i >= 0\naround i >= 0 and -i + 7 >= 0\n\
        a[i] = 0i8\n";
    assert_eq!(lower("for (int i = 0; i < 8; i++) a[i] = i > 0 ? a[i - 1] : 0;"), padded);
}

#[test]
fn data_conditions_become_selections() {
    assert_eq!(value("if (a[0] > a[1]) a[1] = a[0];"), "max(a[0], a[1])");
    assert_eq!(value("if (a[0] > 3) a[1] = 1; else a[1] = h[0];"), "((3i32 < i32(a[0])) ? 1i8 : i8(h[0]))");
    assert_eq!(value("if (f[0] < 0) f[0] = 0;"), "((f[0] < 0.0f32) ? 0.0f32 : f[0])");
    assert_eq!(value("a[0] = a[1] < a[2] ? a[1] : a[2];"), "min(a[1], a[2])");
    assert_eq!(value("a[0] = b[0] ? a[1] : -1;"), "(b[0] ? a[1] : -1i8)");
    assert_eq!(
        value("a[0] = h[0] < 0 ? 0 : h[0] > 255 ? 255 : h[0];"),
        "i8(((i32(h[0]) < 0i32) ? 0i32 : min(255i32, i32(h[0]))))"
    );
}

#[test]
fn conversions_are_those_of_c() {
    assert_eq!(value("x[0][0] = a[0] * h[0];"), "(i32(a[0]) * i32(h[0]))");
    assert_eq!(value("a[0] += u[0];"), "i8((u32(a[0]) + u[0]))");
    assert_eq!(value("x[0][0] = a[0] < u[0];"), "i32((u32(a[0]) < u[0]))");
    assert_eq!(value("h[0] = h[0] << a[0];"), "i16((i32(h[0]) << i32(a[0])))");
    assert_eq!(value("b[0] = a[0];"), "(a[0] != 0i8)");
    assert_eq!(value("b[0] = a[0] && !b[1];"), "((a[0] != 0i8) & ~(b[1]))");
    assert_eq!(value("x[0][0] = 3000000000 / 7 + 'a' - 0x10 + 010;"), "428571517i32");
    assert_eq!(value("u[0] = -1;"), "4294967295u32");
    assert_eq!(value("g[0] = g[1] * 2 + f[0];"), "f16((f32((g[1] * 2.0f16)) + f[0]))");
    assert_eq!(value("f[0] = fmaf(g[0], f[1], 1);"), "fma(f32(g[0]), f[1], 1.0f32)");
}

#[test]
fn double_constants_cost_no_double_where_rounding_agrees() {
    assert_eq!(value("f[0] = f[1] * 0.5;"), "(f[1] * 0.5f32)");
    assert_eq!(value("f[0] = sqrt(f[1]) + 1.0;"), "f32((sqrt(f64(f[1])) + 1.0f64))");
    assert_eq!(value("f[0] = f[1] * 0.1;"), "f32((f64(f[1]) * 0.1f64))");
    assert_eq!(value("f[0] = f[1] > 0.0 ? f[1] : 0.0;"), "((0.0f32 < f[1]) ? f[1] : 0.0f32)");
}

#[test]
fn locals_of_one_name_are_told_apart() {
    let text = "void k(int a[4]) {\n#pragma scop\nfor (int i = 0; i < 4; i++) { int s = i; a[i] = s; }\n\
        for (int i = 0; i < 4; i++) { long s = a[i]; a[i] = s; }\n#pragma endscop\n}\n";
    let (scop, _) = parse_text("k.c", text, &ParseOptions::default()).unwrap();
    let names: Vec<(&str, Storage, Binding)> =
        scop.arrays.iter().map(|a| (a.name.as_str(), a.storage, a.binding)).collect();
    assert_eq!(
        names,
        [
            ("a", Storage::Dram, Binding::Parameter(0)),
            ("s", Storage::Local, Binding::Local),
            ("s_1", Storage::Local, Binding::Local)
        ]
    );
}

#[test]
fn scalars_that_never_change_are_constants() {
    let text = "void k(float a[4]) {\n  int shift = 2, twice = 2 * 3;\n  float eps = 0.1;\n#pragma scop\n  \
        int last = 3;\n  for (int i = 0; i <= last; i++) { \
        int once = 1; once += i; a[i] = (twice >> shift) + eps * once; }\n#pragma endscop\n}\n";
    let (scop, _) = parse_text("k.c", text, &ParseOptions::default()).unwrap();
    let names: Vec<&str> = scop.arrays.iter().map(|a| a.name.as_str()).collect();
    assert_eq!((names, scop.statements.len()), (vec!["a", "once"], 3));
}

#[test]
fn types_are_found_through_typedefs_and_qualifiers() {
    let text = "typedef unsigned short word; typedef word row[3]; struct s { int x; } z;\n__attribute__((noinline)) \
        static void k(const volatile row m[2], long long unsigned int v[restrict static 5], bfloat16 w[1]) \
        {\n#pragma sa\nv[0] = m[1][2] + sizeof_;\n#pragma endsa\n}\n";
    let options = ParseOptions { defines: vec![("sizeof_".into(), String::new())], ..Default::default() };
    let (scop, _) = parse_text("k.c", text, &options).unwrap();
    let shown: Vec<String> =
        scop.to_string().lines().filter(|l| l.contains("array")).map(|l| l.trim().to_string()).collect();
    assert_eq!(
        shown,
        [
            "array m[2][3]: u16 (uint16_t), dram parameter 0, const",
            "array v[5]: u64 (long long unsigned int), dram parameter 1",
            "array w[1]: bf16 (bfloat16), dram parameter 2"
        ]
    );
    assert_eq!(scop.statements[0].rhs.to_owned().ty.bits(), 64);
}

#[test]
fn each_function_with_a_region_is_a_program() {
    let text = "int one(int x) { return x + 1; }\n#pragma sagen space(i)\nvoid f(int a[4]) \
        {\n#pragma scop\nfor (int i = 0; i < 4; i++) a[i] = one(a[i]);\n#pragma endscop\n}\n\
        void none(int a[4]) { a[0] = 1; }\nvoid g(int b[4]) \
        {\n#pragma sagen time(j)\n#pragma scop\nfor (int j = 0; j < 4; j++) b[j] = one(b[j]);\n#pragma endscop\n}\n\
        #pragma sagen space(j)\n";
    let (scops, warnings) = programs_of_text("k.c", text, &ParseOptions::default()).unwrap();
    assert!(warnings.is_empty());
    let clauses = |s: &scop::Scop| {
        s.clauses.iter().map(|c| format!("{}({})", c.name, c.values.join(","))).collect::<Vec<_>>().join(" ")
    };
    let seen: Vec<_> = scops.iter().map(|s| (s.name.as_str(), s.arrays[0].name.as_str(), clauses(s))).collect();
    assert_eq!(seen, [("f", "a", "space(i)".to_string()), ("g", "b", "time(j) space(j)".to_string())]);
    assert!(parse_text("k.c", text, &ParseOptions::default()).is_err_and(|e| e.1[0].code == "E0204"));
}

#[test]
fn what_is_left_out_is_warned_of() {
    let text = "#define N 4\n#define N 5\nvoid k(int a[N]) \
        {\n  start();\n#pragma scop\n  a[0] = 1;\n#pragma endscop\n  \
        for (int i = 0; i < 4; i++) a[i] = 0;\n  return;\n}\n";
    let (scop, warnings) = parse_text("k.c", text, &ParseOptions::default()).unwrap();
    assert!(warnings.iter().all(|w| w.severity == Severity::Warning));
    let places: Vec<(usize, &str)> =
        warnings.iter().map(|w| (scop.sources.line_column(w.span.unwrap()).0, w.code)).collect();
    assert_eq!(places, [(2, "E0105"), (4, "W0201"), (8, "W0201")]);
}

#[test]
fn verify_finds_broken_scops() {
    let text = "void k(int a[4]) {\n#pragma scop\nfor (int i = 0; i < 4; i++) a[i] = a[i] + 1;\n#pragma endscop\n}\n";
    let (scop, _) = parse_text("k.c", text, &ParseOptions::default()).unwrap();
    assert_eq!(scop.verify(), Ok(()));
    let broken = |change: &dyn Fn(&mut scop::Scop)| {
        let mut copy = scop.clone();
        change(&mut copy);
        copy.verify().unwrap_err().len()
    };
    assert!(broken(&|s| s.statements[0].domain[0].truncate(1)) > 0);
    assert!(broken(&|s| s.statements[0].beta.push(0)) > 0);
    assert!(broken(&|s| s.statements[0].rhs.ty = scop::ScalarType::BOOL) > 0);
    assert!(broken(&|s| s.statements[0].reads.clear()) > 0);
    assert!(broken(&|s| s.arrays[0].dims[0] = 0) > 0);
    assert!(broken(&|s| s.loops[0].step = 0) > 0);
}
