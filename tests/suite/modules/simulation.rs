//! What external simulators read and write, and how far floats are apart.

use sagen::sim::compare::Deviation;
use sagen::sim::hex::{from_hex, to_hex};

#[test]
fn deviation_is_the_largest_and_tells_numbers_from_others() {
    let mut d = Deviation::default();
    [(1.0, 1.0), (f64::NAN, f64::NAN), (0.0, -0.0)].iter().for_each(|&(is, c)| d.add(is, c));
    assert_eq!(d, Deviation::default());
    [(1.5, 1.0), (102.0, 100.0), (1e-3, 0.0)].iter().for_each(|&(is, c)| d.add(is, c));
    assert_eq!(d, Deviation { absolute: 2.0, relative: 0.5, elements: 3 });
    d.add(1.0, f64::INFINITY);
    assert_eq!((d.absolute, d.relative, d.elements), (f64::INFINITY, f64::INFINITY, 4));
}

#[test]
fn images_survive_the_trip_and_unknown_bits_are_noticed() {
    let bytes: Vec<u8> = (0..64).collect();
    let text = to_hex(&bytes, 16);
    assert!(text.starts_with("0f0e0d0c"));
    assert_eq!(from_hex(&format!("// 0x0\n{text}"), 16, 64), Ok(bytes));
    assert!(from_hex(&text, 16, 80).is_err());
    assert!(from_hex("xx00\n", 2, 2).is_err_and(|e| e.contains("unknown bits")));
}
