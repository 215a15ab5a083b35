//! The guarantees at the head of `scop::poly`, one test each.

use scop::poly::*;
use scop::{Affine, Constraint};

fn context() -> Context {
    Context::new().unwrap()
}

fn set(context: &Context, text: &str) -> Set {
    Set::parse(context, text).unwrap()
}

fn map(context: &Context, text: &str) -> Map {
    Map::parse(context, text).unwrap()
}

#[test]
fn objects_outlive_the_context_handle() {
    let square = {
        let context = context();
        set(&context, "{ [x, y] : 0 <= x, y < 3 }")
    };
    let copy = square.clone();
    drop(square);
    assert_eq!(copy.dim_max(1), Ok(Some(2)));
    assert_eq!(copy.to_string(), "{ [x, y] : 0 <= x <= 2 and 0 <= y <= 2 }");
}

#[test]
fn errors_are_values_and_do_not_linger() {
    let context = context();
    let error = Set::parse(&context, "{ [x] : x <> }").unwrap_err();
    assert_eq!(error.call, "isl_set_read_from_str");
    assert!(Set::parse(&context, "{ [x] \0 }").is_err());
    // The next call on the same context succeeds, and a later failure has its own message.
    let line = set(&context, "{ [x] : 0 <= x <= 4 }");
    assert_eq!(line.is_empty(), Ok(false));
    let error = line.intersect(&set(&context, "{ [x, y] }")).unwrap_err();
    assert!(error.message.contains("spaces don't match"), "{error}");
    assert_eq!(line.dim_max(0), Ok(Some(4)));
}

#[test]
fn operands_of_two_contexts_are_refused() {
    let (one, other) = (context(), context());
    let error = set(&one, "{ [x] }").union(&set(&other, "{ [x] }")).unwrap_err();
    assert!(error.message.contains("different contexts"));
    assert!(set(&one, "{ [x] }").is_subset(&set(&other, "{ [x] }")).is_err());
}

#[test]
fn names_are_optional() {
    let context = context();
    assert_eq!(set(&context, "{ [x] }").name(), Ok(None));
    assert_eq!(set(&context, "{ S[x] }").name(), Ok(Some("S".into())));
    let between = map(&context, "{ S[x] -> [x + 1] }");
    assert_eq!((between.input_name(), between.output_name()), (Ok(Some("S".into())), Ok(None)));
    assert_eq!(between.depths(), Ok((1, 1)));
}

#[test]
fn positions_are_checked() {
    let context = context();
    let line = set(&context, "{ [x] : 0 <= x <= 4 }");
    assert!(line.dim_max(1).is_err() && line.dim_min(7).is_err() && line.fix(1, 0).is_err());
    assert!(line.project_out(0, 2).is_err() && line.project_out(usize::MAX, 2).is_err());
    assert_eq!(line.project_out(0, 1).unwrap().depth(), Ok(0));
}

#[test]
fn unbounded_empty_and_large_values_are_none() {
    let context = context();
    let half = set(&context, "{ [x] : x >= 3 }");
    assert_eq!((half.dim_min(0), half.dim_max(0)), (Ok(Some(3)), Ok(None)));
    assert_eq!(set(&context, "{ [x] : x > x }").dim_max(0), Ok(None));
    assert_eq!(set(&context, "{ [x] : x = 9223372036854775807 }").dim_max(0), Ok(Some(i64::MAX)));
    assert_eq!(set(&context, "{ [x] : x = 9223372036854775808 }").dim_max(0), Ok(None));
    assert!(set(&context, "{ [x] : x = 9223372036854775809 }").region().is_err());
    assert_eq!(half.fix(0, i64::MAX).unwrap().sample(), Ok(Some(vec![i64::MAX])));
    assert_eq!(half.fix(0, 2).unwrap().sample(), Ok(None));
}

#[test]
fn conjunctions_survive_the_round_trip() {
    let context = context();
    let constraint = |coeffs: &[i64], constant, equality| Constraint {
        expr: Affine { coeffs: coeffs.to_vec(), constant },
        equality,
    };
    let conjunction =
        vec![constraint(&[1, -1, 0], 2, true), constraint(&[0, -1, 1], 7, false), constraint(&[0, 0, 1], -3, false)];
    let there = Set::from_conjunction(&context, Some("S"), 3, &conjunction).unwrap();
    assert!(there.is_equal(&set(&context, "{ S[x, y, z] : x = y - 2 and z >= y - 7 and z >= 3 }")).unwrap());
    let back = there.region().unwrap();
    assert!(back.is_convex());
    assert_eq!(back.pieces[0][0], conjunction[0]);
    let again = Set::from_union(&context, Some("S"), 3, &back.pieces).unwrap();
    assert!(again.is_equal(&there).unwrap());
    assert!(Set::from_conjunction(&context, None, 2, &conjunction).is_err());
    assert!(Set::from_union(&context, None, 2, &[]).unwrap().is_empty().unwrap());
}

#[test]
fn holes_are_reported() {
    let context = context();
    assert!(!set(&context, "{ [x] : x mod 2 = 0 and 0 <= x <= 8 }").region().unwrap().exact);
    // A redundant quantifier is not a hole.
    assert!(set(&context, "{ [x] : exists y : 2y <= x <= 2y + 1 and 0 <= x <= 8 }").region().unwrap().is_convex());
}

#[test]
fn functions_with_and_without_division() {
    let context = context();
    let pieces = map(&context, "{ [x, y] -> [y, x - 2y + 1] : x >= 0; [x, y] -> [0, 5] : x < 0 }")
        .function_pieces(false)
        .unwrap();
    assert_eq!(pieces.len(), 2);
    let positive = pieces.iter().find(|p| p.domain.dim_min(0) == Ok(Some(0))).unwrap();
    let expected = vec![Affine { coeffs: vec![0, 1], constant: 0 }, Affine { coeffs: vec![1, -2], constant: 1 }];
    assert_eq!(positive.outputs, Some(expected));
    let halves = map(&context, "{ [x] -> [y] : 2y <= x <= 2y + 1 }").function_pieces(false).unwrap();
    assert_eq!((halves.len(), &halves[0].outputs), (1, &None));
    assert!(map(&context, "{ [x] -> [y] : x = 2y }").function_pieces(false).unwrap()[0].outputs.is_none());
    assert!(map(&context, "{ [x] -> [y] : 0 <= y <= 1 }").function_pieces(false).is_err());
    let apart = map(&context, "{ [x] -> [0] : 0 <= x < 3; [x] -> [0] : x = 3 }");
    assert_eq!((apart.function_pieces(true).unwrap().len(), apart.function_pieces(false).unwrap().len()), (2, 1));
    let built = Map::from_affine(&context, None, 1, None, &[Affine { coeffs: vec![3], constant: -1 }]).unwrap();
    assert!(built.is_equal(&map(&context, "{ [x] -> [3x - 1] }")).unwrap());
}

#[test]
fn last_source_is_the_last() {
    let context = context();
    let union = |text: &str| UnionMap::parse(&context, text).unwrap();
    let timed = |text: &str, within: i64| Timed { access: map(&context, text), text: vec![(0, 0), (1, within)] };
    let (read, write) = (timed("{ R[i] -> A[0] : 0 <= i < 4 }", 0), timed("{ W[i] -> A[0] : 1 <= i < 9 }", 1));
    let found = last_source(&[read], &[write], |_, _| true).unwrap();
    assert!(found.dependence.is_equal(&union("{ W[i] -> R[i + 1] : 1 <= i <= 2 }")).unwrap());
    assert!(found.no_source.is_equal(&union("{ R[i] -> A[0] : 0 <= i <= 1 }")).unwrap());
}

/// A domain that fixes an iterator says nothing about the order of the text.
#[test]
fn last_source_of_fixed_iterations() {
    let context = context();
    let timed = |text: &str, at: i64| Timed { access: map(&context, text), text: vec![(0, 0), (1, at)] };
    let sources = [timed("{ W[i] -> A[0] : i = 2 }", 0), timed("{ V[i] -> A[0] : 0 <= i < 4 }", 2)];
    let sinks = [timed("{ Q[i] -> A[0] : i = 2 }", 1), timed("{ R[i] -> A[0] : i = 3 }", 1)];
    let found = last_source(&sinks, &sources, |_, _| true).unwrap();
    let expected = UnionMap::parse(&context, "{ W[2] -> Q[2]; V[2] -> R[3] }").unwrap();
    assert!(found.dependence.is_equal(&expected).unwrap(), "{}", found.dependence);
    assert!(found.no_source.is_empty().unwrap());
}
