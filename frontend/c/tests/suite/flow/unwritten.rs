//! Reads of local elements that no statement has written.

use super::program::parse;
use super::refuse;
use scop::flow::analyze;
use scop::*;

#[test]
fn uninitialized_local_is_refused_with_an_example() {
    let faults = refuse(
        "dram A 8\n local t 9\n for i = 10 .. 2 step -1\n if i-5\n t[i-2] = A[i-3]\n end\n A[i-3] = t[i-2]\n end",
    );
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].code, "E0502");
    assert_eq!(faults[0].label, "for example at i = 4: no write comes before");
}

#[test]
fn what_is_not_looked_at_needs_no_value() {
    // The element that iteration n = 10 - i reads has a value up to n = 5.
    let scop = parse(
        "dram A 8\n local t 9\n for i = 10 .. 2 step -1\n if i-5\n t[i-2] = A[i-3]\n end\n A[i-3] = t[i-2]\n end",
    );
    let up_to = |last: i64| Constraint { expr: Affine { coeffs: vec![-1], constant: last }, equality: false };
    let from = |first: i64| Constraint { expr: Affine { coeffs: vec![1], constant: -first }, equality: false };
    let looking = |condition: Constraint, when: bool| {
        let mut scop = scop.clone();
        let rhs = &mut scop.statements[1].rhs;
        let made = |kind, ty| Expr { kind, ty, span: rhs.span };
        let (read, other) = (rhs.clone(), made(ExprKind::Const(0), rhs.ty));
        let [a, b] = if when { [read, other] } else { [other, read] };
        let holds = made(ExprKind::Holds(vec![condition]), ScalarType::BOOL);
        *rhs = made(ExprKind::Select(Box::new(holds), Box::new(a), Box::new(b)), rhs.ty);
        analyze(&scop).map_err(|faults| faults[0].label.clone())
    };
    assert!(looking(up_to(5), true).is_ok());
    assert!(looking(from(6), false).is_ok());
    assert_eq!(looking(up_to(6), true).unwrap_err(), "for example at i = 4: no write comes before");
    assert_eq!(looking(from(5), true).unwrap_err(), "for example at i = 4: no write comes before");
    assert_eq!(looking(up_to(5), false).unwrap_err(), "for example at i = 4: no write comes before");
}
