//! What the functions of an IP run on.

use array::ip::{Ip, Source};

#[test]
fn arrays_that_differ_in_names_alone_are_one_core() {
    let source = |name: &str, a: &str, factor: i64| {
        let text = format!(
            "void {name}(int {a}[8], int n, int b[8]) \
            {{\n#pragma scop\nfor (int i = 0; i < 8; i++) b[i] = {a}[i] * n + {factor};\n#pragma endscop\n}}\n"
        );
        let Ok((scop, _)) = frontend::parse_text("k.c", &text, &Default::default()) else { panic!("{text}") };
        let board = cost::board::Board::parse(include_str!("../../../../boards/u250.toml")).unwrap();
        search::compile(&scop, &Default::default(), &board).unwrap().vsa
    };
    let [f, g, h] = [source("f", "x", 3), source("g", "y", 3), source("h", "x", 4)];
    let ip = Ip::new("three", Default::default(), &[&f, &g, &h]);
    assert_eq!(ip.functions.iter().map(|f| f.core).collect::<Vec<_>>(), [0, 0, 1]);
    let names: Vec<_> = ip.functions[1].arguments.iter().map(|a| (a.name.as_str(), a.is)).collect();
    assert_eq!(names, [("y", Source::Array(0)), ("n", Source::Scalar(0)), ("b", Source::Array(1))]);
}
