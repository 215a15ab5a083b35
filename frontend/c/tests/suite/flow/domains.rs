//! Set operations on plain data against enumeration of small boxes.

use scop::flow::*;
use scop::{Affine, Constraint};
use std::slice::from_ref;

/// `coeffs · x + constant >= 0`.
fn ge(coeffs: &[i64], constant: i64) -> Constraint {
    Constraint { expr: Affine { coeffs: coeffs.to_vec(), constant }, equality: false }
}

fn eq(coeffs: &[i64], constant: i64) -> Constraint {
    Constraint { expr: Affine { coeffs: coeffs.to_vec(), constant }, equality: true }
}

fn affine(coeffs: &[i64], constant: i64) -> Affine {
    Affine { coeffs: coeffs.to_vec(), constant }
}

fn inside(domain: &[Vec<Constraint>], point: &[i64]) -> usize {
    domain.iter().filter(|c| c.iter().all(|c| c.holds(point))).count()
}

/// All points of {-8..=8}^2.
fn grid() -> impl Iterator<Item = [i64; 2]> {
    (-8..=8).flat_map(|x| (-8..=8).map(move |y| [x, y]))
}

/// 0 <= y <= x <= 5.
fn triangle() -> Vec<Constraint> {
    vec![ge(&[0, 1], 0), ge(&[1, -1], 0), ge(&[-1, 0], 5)]
}

/// 2 <= x <= 3, 1 <= y <= 2.
fn square() -> Vec<Constraint> {
    vec![ge(&[1, 0], -2), ge(&[-1, 0], 3), ge(&[0, 1], -1), ge(&[0, -1], 2)]
}

#[test]
fn subtraction_is_exact_and_disjoint() {
    let rest = subtract(&triangle(), &square(), 2);
    for point in grid() {
        let expected = inside(&[triangle()], &point) == 1 && inside(&[square()], &point) == 0;
        assert_eq!(inside(&rest, &point), usize::from(expected), "{point:?}");
    }
    assert!(subtract(&square(), &triangle(), 2).is_empty());
    let both = [triangle(), square()];
    assert!(union_subtract(&both, &rest, 2).iter().all(|c| implies(c, &square(), 2)));
    assert_eq!(disjoint(&both, 2).len(), 1, "the square lies in the triangle");
}

#[test]
fn emptiness_and_inclusion_are_about_integers() {
    // 1 <= 2x <= 1 has a rational point only.
    assert!(is_empty(&[ge(&[2], -1), ge(&[-2], 1)], 1));
    assert!(!is_empty(&[], 1) && is_empty(&[ge(&[], -1)], 0) && !is_empty(&[], 0));
    // 2x >= 1 and x >= 1 hold for the same integers.
    assert!(implies(&[ge(&[2], -1)], &[ge(&[1], -1)], 1));
    assert!(implies(&square(), &triangle(), 2) && !implies(&triangle(), &square(), 2));
    assert!(intersects(&triangle(), &square(), 2));
    assert!(!intersects(&[eq(&[2, -2], -1)], &[], 2));
    assert!(union_implies(&[square()], &[triangle(), square()], 2) && !union_implies(&[triangle()], &[], 2));
}

#[test]
fn simplified_constraints_agree_in_context() {
    let context = triangle();
    let full = [triangle(), vec![ge(&[1, 0], -2)]].concat();
    let simple = simplify(&full, &context, 2);
    assert_eq!(simple, [ge(&[1, 0], -2)]);
    assert_eq!(simplify(&context, &context, 2), []);
    let never = simplify(&[ge(&[1, 0], -9)], &context, 2);
    assert!(is_empty(&never, 2));
}

#[test]
fn projections() {
    assert_eq!(project_out(&triangle(), &[0], 2), [vec![ge(&[-1], 5), ge(&[1], 0)]]);
    assert_eq!(project_out(&triangle(), &[1, 0], 2), [vec![]]);
    // x = 2y + z, 0 <= y <= 3: gap-free for 0 <= z <= 1, the even numbers for z = 0.
    let pair =
        |top| vec![eq(&[1, -2, -1], 0), ge(&[0, 1, 0], 0), ge(&[0, -1, 0], 3), ge(&[0, 0, 1], 0), ge(&[0, 0, -1], top)];
    let filled = projection(&pair(1), &[1, 2], 3);
    assert!(filled.is_convex());
    assert_eq!(filled.pieces, [vec![ge(&[-1], 7), ge(&[1], 0)]]);
    let holes = projection(&pair(0), &[2, 1], 3);
    assert!(!holes.exact);
    assert_eq!(domain_bounds(&holes.pieces, 1), Some(vec![(0, 6)]));
}

#[test]
fn bounds_and_optima() {
    assert_eq!(domain_bounds(&[triangle(), square()], 2), Some(vec![(0, 5), (0, 5)]));
    assert_eq!(domain_bounds(&[], 2), None);
    assert_eq!(domain_bounds(&[vec![ge(&[1, 0], 0)]], 2), None);
    // 3x <= 10 has its largest integer at 3.
    assert_eq!(domain_bounds(&[vec![ge(&[-3], 10), ge(&[1], 2)]], 1), Some(vec![(-2, 3)]));
    let f = affine(&[2, -3], 1);
    let values: Vec<i64> = grid().filter(|p| inside(&[triangle()], p) == 1).map(|p| f.eval(&p)).collect();
    assert_eq!(
        (minimum(&triangle(), &f), maximum(&triangle(), &f)),
        (values.iter().min().copied(), values.iter().max().copied())
    );
    assert_eq!(maximum(&[ge(&[1], 0)], &affine(&[1], 0)), None);
    assert_eq!(minimum(&[ge(&[1], 0)], &affine(&[1], 4)), Some(4));
    assert_eq!(maximum(&[ge(&[1], 0), ge(&[-1], -1)], &affine(&[1], 0)), None);
}

#[test]
fn images() {
    // r + p for 0 <= r < 5, 0 <= p < 3.
    let window = vec![ge(&[1, 0], 0), ge(&[-1, 0], 4), ge(&[0, 1], 0), ge(&[0, -1], 2)];
    let touched = image(from_ref(&window), &[affine(&[1, 1], 0)], 2);
    assert!(touched.is_convex());
    assert_eq!(touched.pieces, [vec![ge(&[-1], 6), ge(&[1], 0)]]);
    // Stride 2 with a window of 3 leaves no holes; stride 4 does.
    assert!(image(from_ref(&window), &[affine(&[2, 1], 0)], 2).is_convex());
    let sparse = image(from_ref(&window), &[affine(&[4, 1], 0)], 2);
    assert!(!sparse.exact);
    assert!((0..=18).all(|x| inside(&sparse.pieces, &[x]) == 1));
    // A rank-0 access touches its only element.
    assert_eq!(image(&[window], &[], 2).pieces, [Vec::<Constraint>::new()]);
    // Two adjacent halves merge.
    let halves = [vec![ge(&[1], 0), ge(&[-1], 3)], vec![ge(&[1], -4), ge(&[-1], 9)]];
    assert!(image(&halves, &[affine(&[1], 7)], 1).is_convex());
    let apart = [vec![ge(&[1], 0), ge(&[-1], 3)], vec![ge(&[1], -5), ge(&[-1], 9)]];
    let apart = image(&apart, &[affine(&[1], 0)], 1);
    assert!(apart.exact && !apart.is_convex() && apart.pieces.len() == 2);
}

#[test]
fn points_and_counts() {
    assert_eq!(first_point(&square(), 2), Some(vec![2, 1]));
    assert_eq!(first_point(&[ge(&[-1], 0)], 1), None);
    assert_eq!(first_point(&[ge(&[1], 0), ge(&[-1], -1)], 1), None);
    assert_eq!(count(&[triangle(), square()], 2), Some(21));
    assert_eq!(count(&[], 2), Some(0));
    assert_eq!(count(&[vec![]], 0), Some(1));
    assert_eq!(count(&[vec![ge(&[1], 0)]], 1), None);
    // 3x + 2y <= 17 in the positive quadrant, and an equality.
    let skewed = vec![ge(&[1, 0], 0), ge(&[0, 1], 0), ge(&[-3, -2], 17)];
    assert_eq!(count(from_ref(&skewed), 2), Some(grid().filter(|p| inside(from_ref(&skewed), p) == 1).count() as u128));
    assert_eq!(count(&[[skewed, vec![eq(&[1, -2], 0)]].concat()], 2), Some(3));
    // A large box times a triangle.
    let n = 1_000_000_000;
    let large =
        vec![ge(&[1, 0, 0], 0), ge(&[-1, 0, 0], n - 1), ge(&[0, 1, 0], 0), ge(&[0, -1, 1], 0), ge(&[0, 0, -1], 9)];
    assert_eq!(count(&[large], 3), Some(55 * n as u128));
}
