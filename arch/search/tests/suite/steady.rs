//! Equal rows at once against one row after the other.

use crate::vsa_common::Random;
use array::contract::dram::{MemoryTiming, Pace};
use array::contract::walk::{RowForm, Walk, WalkGroup};
use array::vsa::{FootprintDim, When};
use cost::reader::{ReaderModel, Waits};
use cost::writer::WriterModel;
use scop::Affine;
use uniform::sizes::Formula;

fn one_of<const N: usize>(random: &mut Random, all: [i64; N]) -> i64 {
    all[random.within(0, N as i64 - 1) as usize]
}

/// Some walk of several groups whose rows have gates, ends, and starts that lie anywhere in a window, or all at its
/// beginning.
fn walk(random: &mut Random) -> Walk {
    let (bytes, word) = (1 << random.within(0, 2), 1 << random.within(0, 4));
    let trips: Vec<i64> = (0..random.within(1, 3)).map(|_| random.within(2, 5)).collect();
    let groups: Vec<WalkGroup> = (0..random.within(1, 3) as usize)
        .map(|g| group(random, g, &trips, i64::from(bytes), i64::from(word)))
        .collect();
    Walk {
        name: "m".into(),
        arrays: vec![],
        address_bits: 64,
        length_bits: vec![],
        bytes,
        word,
        lasts: trips.iter().map(|t| Formula::Const(t - 1)).collect(),
        kept: (0..trips.len()).collect(),
        trips,
        parameters: 0,
        cases: vec![],
        functions: vec![],
        last_turn: Formula::Const(groups.len() as i64 - 1),
        trim_stages: groups.iter().map(|g| g.lowers.len().max(g.uppers.len())).max().unwrap_or(0).max(1),
        phases: 0,
        aligned: false,
        groups,
    }
}

fn group(random: &mut Random, group: usize, trips: &[i64], bytes: i64, word: i64) -> WalkGroup {
    let lengths: Vec<i64> = (0..random.within(1, 2))
        .map(|_| {
            let few = random.within(2, 9);
            let many = random.within(20, 300);
            one_of(random, [1, few, many])
        })
        .collect();
    let most = one_of(random, [2, 40, 700]);
    let elements = random.within(1, most) * one_of(random, [1, word]);
    let unit = |random: &mut Random| {
        let several = random.within(1, 40);
        bytes * one_of(random, [1, word, word * several, 4096])
    };
    let (places, rows) = (unit(random), unit(random));
    let form = |random: &mut Random, constant: i64, most: i64, often: i64| RowForm {
        start: Affine { coeffs: trips.iter().map(|_| random.within(-most, most)).collect(), constant },
        rows: lengths
            .iter()
            .map(|_| if random.within(0, often) == 0 { random.within(-most, most) } else { 0 })
            .collect(),
    };
    let some = |random: &mut Random, constant: i64, most: i64, often: i64| {
        (0..random.within(0, 2)).map(|_| form(random, constant, most, often)).collect::<Vec<_>>()
    };
    let (gates, lowers, uppers) = (some(random, 15, 9, 3), some(random, 0, 3, 5), some(random, elements, 3, 5));
    let mut address = form(random, 0, 4, 0);
    address.start = Affine {
        coeffs: address.start.coeffs.iter().map(|c| c * places).collect(),
        constant: places * random.within(0, 9),
    };
    address.rows.iter_mut().for_each(|r| *r *= rows);
    WalkGroup {
        turn: group,
        group,
        arrays: vec![0],
        when: When::new(trips.iter().map(|_| (random.within(0, 3) == 0).then_some(0))),
        rows: lengths.iter().map(|&extent| FootprintDim { modulus: 1, extent }).collect(),
        ends: lengths.iter().map(|n| Formula::Const(n - 1)).collect(),
        words: (elements - 1) / word + 1,
        elements,
        step: 1,
        scale: 1,
        extent: Formula::Const(1 << 40),
        whole: 1,
        address,
        strided: vec![],
        gates,
        lowers,
        uppers,
        slots: 2,
        waits: vec![],
    }
}

/// Services of all groups, in their order: the group, and what number it is of that group's.
fn services(walk: &Walk) -> Vec<(usize, i64)> {
    let points = walk.trips.iter().fold(vec![vec![]], |all, &t| {
        all.iter().flat_map(|p| (0..t).map(move |c| [p.clone(), vec![c]].concat())).collect()
    });
    let mut numbers = vec![0; walk.groups.len()];
    let mut all = vec![];
    for point in points {
        for g in walk.groups.iter().filter(|g| g.when.holds(&point, None)) {
            all.push((g.group, numbers[g.group]));
            numbers[g.group] += 1;
        }
    }
    all
}

/// Cycles that something waits for: long after what there was before, or before that.
fn wait(random: &mut Random, before: i64) -> i64 {
    let (less, more, much) = (random.within(0, 600), random.within(0, 40), random.within(0, 4000));
    one_of(random, [0, before - less, before + more, before + much]).max(0)
}

/// A memory at any pace, or ideal in every other case.
fn memory(random: &mut Random) -> MemoryTiming {
    let timing = MemoryTiming::both(random.within(1, 60));
    if random.within(0, 1) == 0 {
        return timing;
    }
    let mut pace = || Pace { beat: random.within(Pace::ONE, 4 * Pace::ONE), least: random.within(1, 12) };
    MemoryTiming { read: pace(), write: pace(), ..timing }
}

#[test]
fn loads_take_as_long_as_row_by_row() {
    let mut random = Random(11);
    for _ in 0..300 {
        let walk = walk(&mut random);
        let memory = memory(&mut random);
        let mut model = ReaderModel::of_walk(walk.clone(), 512, &memory);
        let mut plain = model.clone().row_by_row();
        let mut loaded = 0;
        for (group, n) in services(&walk) {
            let waits = Waits { written: wait(&mut random, loaded), released: wait(&mut random, loaded) };
            let found = model.load(group, n, waits);
            assert_eq!(found, plain.load(group, n, waits), "load {n} of group {group} in {walk:#?}");
            assert!(
                model.times().map(|t| t.at).eq(plain.times().map(|t| t.at)),
                "behind load {n} of group {group} in {walk:#?}"
            );
            loaded = found.expect("the next in order").loaded;
        }
    }
}

#[test]
fn drains_take_as_long_as_row_by_row() {
    let mut random = Random(12);
    for _ in 0..300 {
        let walk = walk(&mut random);
        let (memory, read_latency) = (memory(&mut random), random.within(1, 30));
        let mut model = WriterModel::of_walk(walk.clone(), &memory, read_latency);
        let mut plain = model.clone().row_by_row();
        let mut drained = 0;
        for (group, n) in services(&walk) {
            let emitted = wait(&mut random, drained);
            let found = model.drain(group, n, emitted);
            assert_eq!(found, plain.drain(group, n, emitted), "drain {n} of group {group} in {walk:#?}");
            assert!(
                model.times().map(|t| t.at).eq(plain.times().map(|t| t.at)),
                "behind drain {n} of group {group} in {walk:#?}"
            );
            drained = found.expect("the next in order").drained;
        }
    }
}
