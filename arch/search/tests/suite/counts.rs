//! What hardware is counted from: digits of constants, places of words that waves read, memories, lines of registers.

use array::contract::operand::digits;
use array::contract::pick::{list, starts, stored};
use array::resources::{line, memory, Device, Resources};
use uniform::affine::Form;
use uniform::counters::Counter;
use uniform::fabric::Fabric;

#[test]
fn products_are_sums_of_the_digits() {
    for bits in [1, 8, 32, 64] {
        let mask = u64::MAX >> (64 - bits);
        for c in [0, 1, 2, 3, 7, 10, 96, 255, 0x7fff, u64::MAX, u64::MAX - 8] {
            let Some(all) = digits(c & mask, bits) else { continue };
            let term =
                |&(shift, negative): &(u32, bool)| if negative { (1u64 << shift).wrapping_neg() } else { 1 << shift };
            assert_eq!(all.iter().map(term).fold(0, u64::wrapping_add) & mask, c & mask, "{c} of {bits} bits");
        }
    }
    assert_eq!(digits(2, 32), Some(vec![(1, false)]));
    assert_eq!(digits(0xffff_ffff, 32), Some(vec![(0, true)]));
    assert_eq!(digits(0b1010101, 32), None);
}

#[test]
fn only_places_that_waves_ask_for() {
    let counter = |trip| Counter::constant(String::new(), trip);
    let col = |counters: &[i64]| Form { constant: 1, counters: counters.to_vec(), space: [0, 0] };
    // 16 r + 32 p + 2 q: three bits of six.
    let places = starts(&[counter(14), counter(2), counter(2)], &col(&[16, 32, 2]), 64);
    assert_eq!(list(places), [1, 3, 17, 19, 33, 35, 49, 51]);
    assert_eq!(list(stored(places, 2, 64)).len(), 16);
    // Around the end of the word, and in one of 128 elements.
    assert_eq!(list(starts(&[counter(3)], &col(&[3]), 4)), [0, 1, 3]);
    assert_eq!(list(starts(&[counter(2)], &col(&[126]), 128)), [1, 127]);
    assert_eq!(list(starts(&[counter(9)], &col(&[8]), 8)), [1]);
}

#[test]
fn memories_by_depth_and_width() {
    let ultra = Device { uram: true, ..Device::default() };
    assert_eq!(memory(16, 32, ultra), Resources::lut(24));
    assert_eq!(memory(64, 512, ultra), Resources::lut(592 - 6));
    let halves = |words, width| memory(words, width, Fabric::Lut6).bram18;
    assert_eq!([halves(65, 32), halves(512, 64), halves(512, 108), halves(2048, 9), halves(1024, 36)], [1, 2, 3, 1, 2]);
    // UltraRAM where it takes the place of three block RAMs or more each.
    let deep = |words, width| {
        let cost = memory(words, width, ultra);
        (cost.bram18, cost.uram)
    };
    assert_eq!(
        [deep(512, 72), deep(1024, 72), deep(1536, 72), deep(4097, 72), deep(40_000, 64), deep(16_384, 16)],
        [(2, 0), (4, 0), (0, 1), (0, 2), (0, 10), (16, 0)]
    );
    // An ECP5: 16 words of four bits in six LUTs; blocks have the shapes of half a RAMB36.
    let lut4 = |words, width| memory(words, width, Fabric::Ecp5).in_lut4(200);
    assert_eq!([lut4(16, 32), lut4(32, 6)], [Resources::lut(48), Resources::lut(30)]);
    assert_eq!(lut4(512, 64).bram18, 2);
}

#[test]
fn long_lines_are_shift_registers() {
    assert_eq!(line([1, 2], 8, Fabric::Lut6), Resources::ff(16));
    assert_eq!(line([0, 5], 8, Fabric::Lut6), Resources::lut(8));
    assert_eq!(line([2, 40], 8, Fabric::Lut6), Resources::logic(16, 16));
    assert_eq!(line([2, 40], 8, Fabric::Ecp5), Resources::ff(320));
}
