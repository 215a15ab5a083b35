//! Contraction, as text: which products become part of a sum.

use frontend::{parse_text, ParseOptions};
use scop::contract::contracted;

/// The value stored by `x[i] = EXPR;`, contracted, as printed.
fn contract(types: &str, expr: &str) -> String {
    let text = format!(
        "void f({types}) {{\n#pragma scop\nfor (int i = 0; i < 4; i++)\n  x[i] = {expr};\n#pragma endscop\n}}\n"
    );
    let (scop, _) =
        parse_text("f.c", &text, &ParseOptions::default()).unwrap_or_else(|(_, faults)| panic!("{faults:?}"));
    let once = contracted(&scop);
    assert_eq!(contracted(&once), once, "{expr}");
    let printed = once.to_string();
    let line =
        printed.lines().find(|l| l.contains("fma") || l.contains("x[i] =")).unwrap_or_else(|| panic!("{printed}"));
    // Reads without their numbers.
    let text = line.split_once(" = ").map_or(line, |l| l.1).trim();
    text.split('@')
        .enumerate()
        .map(|(k, part)| if k == 0 { part } else { part.trim_start_matches(|c: char| c.is_ascii_digit()) })
        .collect()
}

fn floats(expr: &str) -> String {
    contract("float x[4], float a[4], float b[4], float c[4]", expr)
}

#[test]
fn sums_of_products_are_fused() {
    assert_eq!(floats("a[i] * b[i] + c[i]"), "fma(a[i], b[i], c[i])");
    assert_eq!(floats("c[i] + a[i] * b[i]"), "fma(a[i], b[i], c[i])");
    assert_eq!(floats("a[i] * b[i] - c[i]"), "fma(a[i], b[i], -(c[i]))");
    assert_eq!(floats("c[i] - a[i] * b[i]"), "fma(-(a[i]), b[i], c[i])");
    assert_eq!(floats("a[i] * b[i] + b[i] * c[i]"), "fma(a[i], b[i], (b[i] * c[i]))");
    assert_eq!(floats("(a[i] * b[i] + c[i]) * a[i] + b[i]"), "fma(fma(a[i], b[i], c[i]), a[i], b[i])");
}

#[test]
fn everything_else_stays() {
    assert_eq!(floats("a[i] * b[i]"), "(a[i] * b[i])");
    assert_eq!(floats("(a[i] + b[i]) * c[i]"), "((a[i] + b[i]) * c[i])");
    let half = contract("float x[4], _Float16 a[4], _Float16 b[4]", "a[i] * b[i] + x[i]");
    assert!(!half.contains("fma"), "a product that is converted is rounded first: {half}");
    assert!(!contract("int x[4], int a[4], int b[4]", "a[i] * b[i] + x[i]").contains("fma"), "integers");
}
