//! Matrices, and affine expressions as text.

use uniform::affine::determinant;
use uniform::space_time::coordinates::terms;

#[test]
fn determinants() {
    assert_eq!(determinant(&[vec![0, 1], vec![1, 0]]), -1);
    assert_eq!(determinant(&[vec![2, 1, 0], vec![0, 3, 1], vec![1, 0, 1]]), 7);
    assert_eq!(determinant(&[vec![1, 2], vec![2, 4]]), 0);
}

#[test]
fn expressions() {
    let named = |f: i64, n: &str| (f, Some(n.to_string()));
    assert_eq!(terms("2*c + q"), Ok(vec![named(2, "c"), named(1, "q")]));
    assert_eq!(terms("-c+q*3-1"), Ok(vec![named(-1, "c"), named(3, "q"), (-1, None)]));
    for wrong in ["", "c q", "c*q", "2*", "c+", "c/2", "(c)"] {
        assert!(terms(wrong).is_err(), "{wrong}");
    }
}
