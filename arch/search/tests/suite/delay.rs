//! Delay elements: what is chosen has the right value when it is taken, whatever the waves' distances.

use array::contract::delay::{earliest, Wait};
use array::vsa::Delay;

/// The wave whose value the element gives in cycle `taken` of the last wave, when waves are launched in these cycles.
fn delivered(wait: &Wait, delay: Delay, launches: &[i64]) -> Option<i64> {
    let (now, last) = (launches.last().unwrap() + wait.taken, launches.len() as i64 - 1);
    match delay {
        // Register 1 takes the value of a wave at the end of the cycle of its shift.
        Delay::Chain => {
            let shifts = launches.iter().filter(|&&l| l + wait.shift() < now).count() as i64;
            Some(shifts - wait.waves)
        }
        // Address `wave % waves`; a word written in a cycle is there from the next one on.
        Delay::Memory { read, synchronous } => {
            let presented = launches.last().unwrap() + read;
            if presented + i64::from(synchronous) > now || read < 0 {
                return None;
            }
            let same = |w: &i64| (w - last).rem_euclid(wait.waves) == 0;
            (0..=last).rev().filter(same).find(|&w| launches[w as usize] + wait.ready < presented)
        }
    }
}

#[test]
fn what_is_chosen_delivers() {
    let (mut chains, mut memories) = (0, 0);
    for interval in 1..=3 {
        for waves in 1..=7 {
            for (ready, latency) in (0..=6).flat_map(|r| [(r, 0), (r + 1, 1)]) {
                for taken in -2..ready + 3 {
                    let wait = Wait { waves, varies: false, ready, latency, interval, taken };
                    let Some(delay) = wait.choose() else {
                        assert!(
                            taken < earliest(waves, ready, latency, interval).max(0),
                            "{wait:?}: nothing is chosen"
                        );
                        continue;
                    };
                    assert!(wait.allows(delay) && wait.registers(Some(delay)) >= 0, "{wait:?}: {delay:?}");
                    *if delay == Delay::Chain { &mut chains } else { &mut memories } += 1;
                    for step in [interval, interval + 1, interval + 5] {
                        // The element's registers come after it: what it gives is taken as much earlier.
                        let now = Wait { taken: taken - wait.registers(Some(delay)), ..wait };
                        let launches: Vec<i64> = (0..12).map(|w| w * step).collect();
                        assert_eq!(
                            delivered(&now, delay, &launches),
                            Some(11 - waves),
                            "{wait:?}: {delay:?}, every {step} cycles"
                        );
                    }
                }
            }
        }
    }
    assert!(chains > 100 && memories > 100, "{chains} chains, {memories} memories");
}

#[test]
fn schedules_wait_long_enough() {
    // Same wave: the wire. One wave: held since the launch before. More: registers, or a memory's two cycles.
    assert_eq!(earliest(0, 7, 1, 1), 7);
    assert_eq!(earliest(1, 7, 1, 1), 6);
    assert_eq!(earliest(1, 7, 0, 1), 7);
    assert_eq!(earliest(1, 7, 1, 4), 3);
    assert_eq!(earliest(2, 7, 1, 1), 6);
    assert_eq!(earliest(2, 7, 0, 1), 7);
    assert_eq!(earliest(8, 7, 1, 1), 1);
    assert_eq!(earliest(3, 7, 0, 2), 3);
}
