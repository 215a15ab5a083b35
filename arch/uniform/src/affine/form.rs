//! Affine functions of a wave and a PE, and conditions on them.

/// `constant + Σ counters[j] * c_j + Σ space[a] * p_a`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Form {
    pub constant: i64,
    /// One coefficient per counter (shorter means zeros).
    pub counters: Vec<i64>,
    pub space: [i64; 2],
}

impl Form {
    pub fn eval(&self, counters: &[i64], p: [i64; 2]) -> i64 {
        let time: i64 = self.counters.iter().zip(counters).map(|(a, c)| a * c).sum();
        self.constant + time + self.space[0] * p[0] + self.space[1] * p[1]
    }
    /// Depends on the wave only.
    pub fn is_time_only(&self) -> bool {
        self.space == [0, 0]
    }
}

/// `form >= 0`, or `form == 0` when `equality`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Condition {
    pub form: Form,
    pub equality: bool,
}

impl Condition {
    pub fn holds(&self, counters: &[i64], p: [i64; 2]) -> bool {
        let v = self.form.eval(counters, p);
        if self.equality {
            v == 0
        } else {
            v >= 0
        }
    }
    /// The condition in PE `p`, over counters alone.
    pub fn at(&self, p: [i64; 2]) -> Condition {
        let constant = self.form.constant + self.form.space[0] * p[0] + self.form.space[1] * p[1];
        Condition {
            form: Form { constant, counters: self.form.counters.clone(), space: [0, 0] },
            equality: self.equality,
        }
    }
    /// The only value the condition leaves to counter `j`, if it is an equality over that counter alone.
    pub fn fixes(&self, j: usize) -> Option<i64> {
        let alone =
            self.form.is_time_only() && self.form.counters.iter().enumerate().all(|(k, &c)| (k == j) == (c != 0));
        (self.equality && alone).then(|| -self.form.constant / self.form.counters[j])
    }
}
