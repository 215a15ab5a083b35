//! What a refusal says.

use uniform::refusal::no_array;

#[test]
fn where_there_is_no_array_conditions_that_can_be_split_are_named() {
    let text = "void f(int A[8], int B[8]) \
        {\n#pragma scop\n for (int i = 0; i < 8; i++) {\n  if (i == 2 || i > 5) A[i] = 1;\n  B[i] = 2;\n }\n#pragma endscop\n}\n";
    let Ok((scop, _)) = frontend::parse_text("f.c", text, &Default::default()) else { panic!("{text}") };
    let faults = no_array(&scop, vec![]);
    assert_eq!((faults[0].code, faults[0].notes.len()), ("E0710", 1));
    let (place, what) = &faults[0].notes[0];
    assert!(
        scop.sources.line_column(*place).0 == 4 && what.contains("2 separate parts") && what.contains("`if`"),
        "{what}"
    );
}
