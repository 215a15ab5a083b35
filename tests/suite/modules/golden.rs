//! Programs that the golden model makes of C files: around static functions and regions at file level, refused,
//! crashing.

use frontend::ParseOptions;
use sagen::data::Memory;
use sagen::golden::{run, Failure, Native};
use scop::diag::{SourceFile, SourceMap, Span};
use scop::{Array, Binding, Function, ScalarType, Scop, Storage};

fn array(name: &str, dims: &[i64], binding: Binding, constant: bool) -> Array {
    let ty = ScalarType::Int { bits: 16, signed: true };
    let (name, c_type, dims) = (name.to_string(), "short".to_string(), dims.to_vec());
    Array {
        name,
        ty,
        c_type,
        dims,
        extents: vec![],
        storage: Storage::Dram,
        binding,
        constant,
        zeroed: false,
        kept: false,
        span: Span::default(),
    }
}

/// Runs `text` as the file; the arrays are given by hand, as the front end would find them.
fn golden(text: &str, function: Function, arrays: Vec<Array>, memory: Memory) -> Result<Native, Failure> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("size.h"), "#define N 3\n").unwrap();
    let file = dir.path().join("k.c");
    std::fs::write(&file, text).unwrap();
    let sources = SourceMap { files: vec![SourceFile { name: "k.c".into(), text: text.into() }] };
    let scop = Scop {
        name: "k".into(),
        function,
        arrays,
        loops: vec![],
        statements: vec![],
        host: vec![],
        sizes: vec![],
        clauses: vec![],
        sources,
    };
    let pre = ParseOptions { defines: vec![("STEP".into(), "10".into())], ..ParseOptions::default() };
    run(&scop, &file, &pre, &memory)
}

#[test]
fn calls_a_static_function_beside_a_main() {
    let text = "#include \"size.h\"\n#include <stdio.h>\nstatic short g[N];\n\
        static void k(short s[1], short a[N]) { for (int i = 0; i < N; i++) { a[i] += s[0] * STEP; g[i] -= a[i]; } }\n\
        int main(void) { short a[N] = {0}; k(a, a); return printf(\"%d\", a[0]); }\n";
    let region =
        Span { file: 0, start: text.find("for").unwrap() as u32, end: text.find(" }\nint main").unwrap() as u32 };
    let function = Function { name: Some("k".into()), region, parameters: 2 };
    let arrays = vec![
        array("g", &[3], Binding::Global, false),
        array("a", &[3], Binding::Parameter(1), false),
        array("s", &[1], Binding::Parameter(0), false),
    ];
    let run = golden(text, function, arrays, vec![vec![100; 3], vec![1, 2, 0xffff], vec![2]]).unwrap();
    assert_eq!(run.after, vec![vec![79, 78, 81], vec![21, 22, 19], vec![2]]);
}

#[test]
fn wraps_a_region_at_file_level_and_keeps_constants() {
    let text = "#include \"size.h\"\nconst short w[N] = {1, 2, 3};\nshort y[N];\n#pragma scop\n\
        for (int i = 0; i < N; i++) y[i] = w[i] * y[i];\n#pragma endscop\n";
    let start = text.find("for").unwrap() as u32;
    let end = text.find("#pragma endscop").unwrap() as u32;
    let function = Function { name: None, region: Span { file: 0, start, end }, parameters: 0 };
    let arrays = vec![array("w", &[3], Binding::Global, true), array("y", &[3], Binding::Global, false)];
    let run = golden(text, function, arrays, vec![vec![9, 9, 9], vec![5, 5, 5]]).unwrap();
    assert_eq!((run.before[0].clone(), run.after[1].clone()), (vec![1, 2, 3], vec![5, 10, 15]));
}

#[test]
fn tells_refusals_from_crashes() {
    let function = || Function { name: Some("k".into()), region: Span { file: 1, start: 0, end: 0 }, parameters: 1 };
    let arrays = || vec![array("a", &[1], Binding::Parameter(0), false)];
    let refused = golden("void k(short a[1]) { a[0] = oops; }", function(), arrays(), vec![vec![0]]).unwrap_err();
    assert!(matches!(&refused, Failure::Refused(m) if m.contains("oops")), "{refused}");
    let crashed =
        golden("void k(short a[1]) { a[0] = 1000 / a[0]; }", function(), arrays(), vec![vec![0]]).unwrap_err();
    assert!(matches!(&crashed, Failure::Crashed(m) if m.contains("division")), "{crashed}");
}

#[test]
fn a_main_is_found_where_it_is_defined() {
    use sagen::golden::defines_main;
    for text in ["int main() {}", "int main(void)\n{ return 0; }", "int\nmain(int argc, char **argv) {}"] {
        assert!(defines_main(text), "{text}");
    }
    for text in [
        "// int main() {}\n",
        "/* main() { */ int f() {}",
        "int domain(int x) {}",
        "int main(void);",
        "char *s = \"main() {\"; char c = '\"';",
        "int main_part() {}",
    ] {
        assert!(!defines_main(text), "{text}");
    }
}
