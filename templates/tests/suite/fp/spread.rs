//! Where a core's registers stand.

use templates::operators::fp::spread;

#[test]
fn registers_split_the_heaviest_stages() {
    assert_eq!(spread(&[4, 4, 9, 1, 1], 0), [0, 0, 0, 0, 0]);
    assert_eq!(spread(&[4, 4, 9, 1, 1], 1), [0, 0, 1, 0, 0]);
    assert_eq!(spread(&[4, 4, 9, 1, 1], 2), [0, 0, 1, 1, 0]);
    assert_eq!(spread(&[4, 4, 9, 1, 1], 6), [2, 1, 1, 1, 1]);
}
