//! What is said of conditions by intervals, against all points of small spaces.

use uniform::affine::Ranges;
use uniform::affine::{Condition, Form};

/// A linear congruential generator: the same cases every time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % n
    }

    fn condition(&mut self) -> Condition {
        let mut coefficient = || self.below(5) - 2;
        let form = Form {
            counters: vec![coefficient(), coefficient()],
            space: [coefficient(), coefficient()],
            constant: coefficient() * 2,
        };
        Condition { form, equality: self.below(3) == 0 }
    }
}

/// Whether some point of the ranges satisfies all conditions.
fn has_point(ranges: &Ranges, all: &[Condition]) -> bool {
    let [i, j, p, q] = [ranges.counters[0], ranges.counters[1], ranges.extent[0], ranges.extent[1]];
    (0..i * j * p * q).any(|n| all.iter().all(|c| c.holds(&[n % i, n / i % j], [n / (i * j) % p, n / (i * j * p)])))
}

#[test]
fn what_is_infeasible_has_no_point() {
    let mut draw = Draw(1);
    let (mut infeasible, mut empty) = (0, 0);
    for _ in 0..20_000 {
        let ranges = Ranges {
            counters: vec![1 + draw.below(4), 1 + draw.below(4)],
            extent: [1 + draw.below(3), 1 + draw.below(3)],
        };
        let all: Vec<Condition> = (0..1 + draw.below(3)).map(|_| draw.condition()).collect();
        let (feasible, point) = (ranges.feasible(&all), has_point(&ranges, &all));
        assert!(feasible || !point, "{ranges:?} {all:?}");
        infeasible += i32::from(!feasible);
        empty += i32::from(!point);
    }
    assert!(10 * infeasible > 9 * empty, "intervals see {infeasible} of {empty} empty sets");
}
