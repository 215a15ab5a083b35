//! Names in generated files.

use templates::interface::names::{arguments, kernel};

#[test]
fn names_are_kept_where_they_can_be() {
    assert_eq!(arguments(["A", "B", "x1", "out_data", "n"]), ["A", "B", "x1", "out_data", "n"]);
}

#[test]
fn kernels_are_no_keywords() {
    assert_eq!(["mm", "Union", "main", "k__2", "class"].map(kernel), ["mm", "union_r", "main_r", "k_2", "class_r"]);
}

#[test]
fn names_that_collide_give_way_in_order() {
    assert_eq!(
        arguments(["cycles", "CTRL", "A", "A_1", "a", "wire_", "_1", "lambda", "A_r"]),
        ["cycles_r", "CTRL_r", "A", "A_1_r", "a_r", "wire_r", "arg1", "lambda_r", "A_r_r"]
    );
    assert_eq!(
        arguments(["A_1", "A", "in", "a__b", "a_b", "template"]),
        ["A_1", "A_r", "in_r", "a_b", "a_b_r", "template_r"]
    );
}
