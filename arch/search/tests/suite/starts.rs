//! When the PEs along an axis start a wave: equal hops, and a table with more registers between two dies.

use array::vsa::AxisStart;

#[test]
fn equal_hops_are_one_number() {
    let start = AxisStart::even(-2);
    assert_eq!((start.to_string().as_str(), start.forward(), start.is_even()), ("-2", false, true));
    assert_eq!([0, 1, 4].map(|p| start.at(p, 5)), [8, 6, 0]);
    assert_eq!(AxisStart::of_hops(&[-2, -2, -2]), Some(start));
    assert_eq!(AxisStart::of_hops(&[0]), Some(AxisStart::default()));
}

#[test]
fn a_die_crossing_delays_all_behind_it() {
    let start = AxisStart::of_hops(&[1, 1, 1, 3, 1, 1, 1]).expect("one direction");
    assert_eq!(start.to_string(), "[1, 1, 1, 3, 1]");
    let starts: Vec<i64> = (0..8).map(|p| start.at(p, 8)).collect();
    assert_eq!(starts, [0, 1, 2, 3, 6, 7, 8, 9]);
    assert_eq!((start.hop(2), start.hop(3), start.hop(4), start.hop_delay()), (1, 3, 1, 1));
    assert_eq!(AxisStart::of_hops(&[1, -1]), None);
    assert_eq!(AxisStart::of_hops(&[]), None);
    assert_eq!(AxisStart::of_hops(&[i64::MAX, 1]), None);
}

#[test]
fn cuts_are_hops_that_take_longer() {
    for step in [2, -2] {
        let start = AxisStart::even(step).with_registers(2, &[1, 4]);
        let starts: Vec<i64> = (0..6).map(|hops| start.after(hops)).collect();
        assert_eq!(starts, [0, 4, 6, 8, 12, 14]);
        assert_eq!((start.step(), start.crossings(6), start.crossings(4)), (step, vec![1, 4], vec![1]));
        assert_eq!([0, 1, 4].map(|hops| (start.inside(hops), start.between(hops))), [(0, 0), (2, 2), (8, 4)]);
    }
    // Two PEs, one on each die.
    let start = AxisStart::even(1).with_registers(2, &[1]);
    assert_eq!((start.to_string().as_str(), start.hop_delay(), start.crossings(2)), ("[3, 1]", 1, vec![1]));
    assert_eq!(AxisStart::even(1).crossings(9), Vec::<i64>::new());
}

#[test]
fn what_moves_against_the_waves_waits_for_both_ways_of_a_crossing() {
    for forward in [1, -1] {
        let even = AxisStart::even(3 * forward);
        assert_eq!([-2, -1, 0, 1, 2].map(|hop| even.back(hop)), [0; 5]);
        let cut = even.with_registers(2, &[1, 4]);
        assert_eq!([-2, -1, 0, 1, 2].map(|hop| cut.back(forward * hop)), [4, 4, 0, 0, 0]);
    }
}
