//! Searches side by side.

use search::threads::each;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn each_number_once_and_in_order() {
    for count in [0, 1, 2, 7, 100] {
        let calls = AtomicUsize::new(0);
        let squares = each(count, |k| {
            calls.fetch_add(1, Ordering::Relaxed);
            k * k
        });
        assert_eq!(squares, (0..count).map(|k| k * k).collect::<Vec<_>>());
        assert_eq!(calls.into_inner(), count);
    }
}

#[test]
fn a_panic_reaches_the_caller_with_its_message() {
    for bad in [0, 3, 19] {
        let all = catch_unwind(AssertUnwindSafe(|| each(20, |k| assert!(k != bad, "number {k}"))));
        let message = all.expect_err("a job panicked").downcast::<String>().expect("a text");
        assert_eq!(*message, format!("number {bad}"));
    }
}

#[test]
fn jobs_within_jobs_have_threads_of_their_own() {
    let deep = each(4, |k| each(5, |n| 10 * k + n).into_iter().sum::<usize>());
    assert_eq!(deep, (0..4).map(|k| 50 * k + 10).collect::<Vec<_>>());
}
