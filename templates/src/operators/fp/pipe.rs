//! Pipelining of an operator. An operator is written as a sequence of *steps* with boundaries ([`Pipe::cut`]), and
//! registers are put at boundaries as the wanted latency allows, so that the heaviest stage is as light as possible.
//! A value that outlives its step is [`Held`] and delayed on demand.
//!
//! The last register of an operator belongs to the caller: a latency of `n` means `n - 1` registers here.

use rtl::{u, ModuleBuilder, Sig};
use std::cell::{Cell, RefCell};

/// The stages of one operator under construction.
pub struct Pipe<'m> {
    pub m: &'m ModuleBuilder,
    /// Registers at each boundary; element 0 is before the first step.
    boundaries: Vec<u32>,
    step: Cell<usize>,
    stage: Cell<u32>,
}

/// A value and its delayed copies.
pub struct Held<'p, 'm> {
    pipe: &'p Pipe<'m>,
    name: String,
    born: u32,
    product: bool,
    taps: RefCell<Vec<Sig<'m>>>,
}

impl<'m> Pipe<'m> {
    /// `weights`: logic levels of the steps, first to last.
    pub fn new(m: &'m ModuleBuilder, weights: &[u32], latency: u32) -> Self {
        let boundaries = spread(weights, latency.saturating_sub(1));
        let first = boundaries[0];
        Pipe { m, boundaries, step: Cell::new(0), stage: Cell::new(first) }
    }

    /// An unsigned input port of `w` bits.
    pub fn input(&self, name: &str, w: u32) -> Held<'_, 'm> {
        Held {
            pipe: self,
            name: name.into(),
            born: 0,
            product: false,
            taps: RefCell::new(vec![self.m.input(name, u(w))]),
        }
    }

    /// Holds a value of the present step for later steps.
    pub fn hold(&self, name: impl Into<String>, value: Sig<'m>) -> Held<'_, 'm> {
        Held { pipe: self, name: name.into(), born: self.stage.get(), product: false, taps: RefCell::new(vec![value]) }
    }

    /// Holds a product. If it gets a register, synthesis shall take the register of the DSP slice.
    pub fn hold_product(&self, name: impl Into<String>, value: Sig<'m>) -> Held<'_, 'm> {
        Held { product: true, ..self.hold(name, value) }
    }

    /// Ends a step.
    pub fn cut(&self) {
        let step = self.step.get() + 1;
        debug_assert!(step < self.boundaries.len(), "more steps than weights");
        self.step.set(step);
        self.stage.set(self.stage.get() + self.boundaries.get(step).copied().unwrap_or(0));
    }

    /// The result, in the last step; checks that there were as many steps as weights.
    pub fn output(&self, name: &str, value: Sig<'m>) {
        debug_assert_eq!(self.step.get() + 1, self.boundaries.len(), "steps and weights differ in number");
        self.m.output(name, value);
    }
}

impl<'m> Held<'_, 'm> {
    /// The value in the present step.
    pub fn now(&self) -> Sig<'m> {
        let age = (self.pipe.stage.get() - self.born) as usize;
        let mut taps = self.taps.borrow_mut();
        while taps.len() <= age {
            let last = taps[taps.len() - 1];
            let name = format!("{}_s{}", self.name, self.born as usize + taps.len());
            let register = self.pipe.m.reg(name, last.ty()).next(last).q();
            let multiplies = self.product && taps.len() == 1;
            taps.push(if multiplies { register.attr("use_dsp", "yes") } else { register });
        }
        taps[age]
    }
}

/// The registers before each step. Each boundary gets at most one, such that the sum of the fourth powers of the
/// stages' weights is least. Further registers go before the first step.
pub fn spread(weights: &[u32], registers: u32) -> Vec<u32> {
    let n = weights.len();
    let inner = (registers as usize).min(n - 1);
    let mut at = vec![0; n];
    at[0] = registers - inner as u32;
    let cost = |from: usize, to: usize| (weights[from..to].iter().sum::<u32>() as u64).pow(4);
    // best[r][k]: least cost of the first k steps cut r times, and where the last cut is.
    let mut best = vec![vec![(u64::MAX, 0); n + 1]; inner + 1];
    (1..=n).for_each(|k| best[0][k] = (cost(0, k), 0));
    for r in 1..=inner {
        for k in r + 1..=n {
            best[r][k] =
                (r..k).map(|j| (best[r - 1][j].0.saturating_add(cost(j, k)), j)).min().unwrap_or((u64::MAX, 0));
        }
    }
    let mut k = n;
    for r in (1..=inner).rev() {
        k = best[r][k].1;
        at[k] = 1;
    }
    at
}
