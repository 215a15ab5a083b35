//! Programs at the front end's limits are refused in words, without exhausting the stack.

use frontend::{parse_text, ParseOptions};

/// The codes of all errors.
fn codes(body: &str) -> Vec<&'static str> {
    let text = format!("void f(int A[64], int B[64]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n");
    let result = parse_text("limits.c", &text, &ParseOptions::default());
    match result {
        Ok(_) => vec![],
        Err((_, faults)) => faults.iter().map(|f| f.code).collect(),
    }
}

#[test]
fn deep_nesting_is_refused() {
    assert_eq!(codes(&format!("A[0] = {}1{};", "(".repeat(5000), ")".repeat(5000))), ["E0208"]);
    assert_eq!(codes(&format!("A[0] = {}1;", "-".repeat(5000).replace("--", "- "))), ["E0208"]);
    assert!(codes(&"{".repeat(5000)).contains(&"E0208"));
    assert_eq!(codes(&format!("A[0] = {}1;", "B[0] + ".repeat(5000))), ["E0208"]);
    assert_eq!(codes(&format!("A[0] = {}1;", "B[0] ? 2 : ".repeat(5000))), ["E0208"]);
    assert_eq!(codes(&format!("A[0]{} = 1;", "[0]".repeat(5000))), ["E0208"]);
    let loops: String = (0..40)
        .map(|k| {
            format!("for (int i{k} = {}; i{k} < 3; i{k}++)\n", if k == 0 { "0".into() } else { format!("i{}", k - 1) })
        })
        .collect();
    assert_eq!(codes(&format!("{loops} A[i0] = 1;")), ["E0414"]);
}

#[test]
fn long_but_flat_programs_are_accepted() {
    assert_eq!(codes(&format!("A[0] = {}1;", "B[0] + ".repeat(390))), [""; 0]);
    assert_eq!(
        codes(&format!(
            "for (int i = 0; i < 64; i++) if ({}) A[i] = 1; else B[i] = 2;",
            (0..24).map(|k| format!("i == {}", 2 * k)).collect::<Vec<_>>().join(" || ")
        )),
        [""; 0]
    );
    assert_eq!(
        codes(&format!(
            "for (int i = 0; i < 64; i++) if ({}) A[i] = 1;",
            (0..200).map(|k| format!("B[{}] > {k}", k % 64)).collect::<Vec<_>>().join(" && ")
        )),
        [""; 0]
    );
    let loops: String = (0..16)
        .map(|k| {
            format!("for (int i{k} = {}; i{k} < 3; i{k}++)\n", if k == 0 { "0".into() } else { format!("i{}", k - 1) })
        })
        .collect();
    assert_eq!(codes(&format!("{loops} A[i15] += i0;")), [""; 0]);
}

#[test]
fn multiplying_cases_are_refused() {
    let cases: Vec<String> = (0..14).map(|k| format!("(i > {k} ? B[i] : B[{k}])")).collect();
    assert_eq!(codes(&format!("for (int i = 0; i < 64; i++) A[i] = {};", cases.join(" + "))), [""; 0]);
    let cases: Vec<String> = (0..14).map(|k| format!("(i{k} > 0 ? B[i{k}] : B[0])")).collect();
    let loops: String = (0..14).map(|k| format!("for (int i{k} = 0; i{k} < 2; i{k}++)\n")).collect();
    assert_eq!(codes(&format!("{loops} A[0] = {};", cases.join(" + "))), ["E0415"]);
}

#[test]
fn multiplying_questions_are_refused() {
    // Each loop is also tried unrolled, because a condition divides its iterator and a subscript is outside its bounds.
    let loops: String =
        (0..13).map(|k| format!("for (int i{} = 0; i{} <= i{k}; i{}++)\n", k + 1, k + 1, k + 1)).collect();
    let condition: Vec<String> = (0..13).map(|k| format!("B[i{k} & 1] > i{k} % 3")).collect();
    let found =
        codes(&format!("for (int i0 = 0; i0 < 4; i0++)\n{loops} if ({}) A[i13 + 61] = 1;", condition.join(" && ")));
    assert!(found.contains(&"E0415"), "{found:?}");
}

#[test]
fn values_of_long_chains_are_known() {
    let chain: String = (1..40).map(|k| format!("int x{k} = x{} + x{};\n", k - 1, k - 1)).collect();
    assert_eq!(
        codes(&format!(
            "static const int T[4] = {{1, 2, 3, 4}};\nfor (int i = 0; i < 64; i++) \
            {{\nint x0 = A[i] & 1;\n{chain} B[i] = T[x0] + T[x39 & 3];\n}}"
        )),
        [""; 0]
    );
}
