//! One-dimensional arrays that are rows and columns.

use std::borrow::Cow;
use uniform::recurrence::linear::delinearized;

/// Extents of the first array after the rewrite.
fn dims(parameters: &str, body: &str) -> Vec<i64> {
    let text = format!("void f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n");
    let (scop, _) = frontend::parse_text("t.c", &text, &Default::default())
        .unwrap_or_else(|(map, faults)| panic!("{}", scop::render_plain(&map, &faults)));
    delinearized(Cow::Owned(scop)).arrays[0].dims.clone()
}

#[test]
fn rows_and_columns_are_told_apart() {
    let nest = "for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j++)";
    assert_eq!(dims("int A[30]", &format!("{nest} A[5 * i + j] = i;")), [6, 5]);
    assert_eq!(dims("int A[30]", &format!("{nest} A[29 - 5 * i - j] = i;")), [6, 5]);
    assert_eq!(dims("int A[60]", &format!("{nest} for (int k = 0; k < 2; k++) A[10 * i + 2 * j + k] = i;")), [6, 5, 2]);
    assert_eq!(
        dims("int A[25]", "for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) A[6 * i] = A[5 * j + i];"),
        [5, 5]
    );
    // A stride, a window that runs over the row's end, a row too long for its columns.
    assert_eq!(dims("int A[30]", "for (int i = 0; i < 6; i++) A[5 * i] = i;"), [30]);
    assert_eq!(dims("int A[30]", "for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) A[5 * i + j] = i;"), [30]);
    assert_eq!(dims("int A[32]", &format!("{nest} A[5 * i + j] = i;")), [32]);
}
