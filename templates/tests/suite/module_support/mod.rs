//! Test benches of single modules. A script has, by cycle, values of inputs and expected values of outputs, and it
//! names outputs that repeat an input. All other inputs are random in every cycle, which finds a module that reads a
//! signal outside of its contract.

pub mod layout;

pub use crate::axi_support::{bits, empty_vsa, Random};
use array::vsa::Vsa;
use rtl::sim::{Init, Sim};
use rtl::{Design, Template};
use std::collections::BTreeMap;
use uniform::affine::Form;

/// Seeds of the random cases: `SAGEN_SEED` is the first one, `SAGEN_CASES` their number.
pub fn cases(count: u64) -> std::ops::Range<u64> {
    let setting = |name: &str, default| std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    let first = setting("SAGEN_SEED", 1);
    first..first + setting("SAGEN_CASES", count)
}

/// Runs `case` for every seed and reports the seeds that fail.
pub fn for_cases(count: u64, case: impl Fn(&mut Random) + std::panic::RefUnwindSafe) {
    for seed in cases(count) {
        if let Err(fault) = std::panic::catch_unwind(|| case(&mut Random::new(seed))) {
            eprintln!("case {seed} (SAGEN_SEED={seed} SAGEN_CASES=1)");
            std::panic::resume_unwind(fault);
        }
    }
}

/// The module of a template in the simulator, with random values in its registers.
pub fn simulate<T: Template + PartialEq + 'static>(template: T, r: &mut Random) -> Sim {
    let mut design = Design::default();
    let top = design.module(template);
    Sim::with_init(&design.verify().expect("a legal design"), &top, Init::Garbage(r.next()))
        .unwrap_or_else(|f| panic!("{}", f.iter().map(|f| f.to_string()).collect::<String>()))
}

/// The output that passes `port` on along `axis`. The axes share one if their hop delays are equal.
pub fn pass_port(vsa: &Vsa, port: &str, axis: usize) -> String {
    let delays = vsa.schedule.hop_delays();
    let both = vsa.extent[0] > 1 && vsa.extent[1] > 1;
    if both && delays[0] != delays[1] {
        format!("{port}_out{axis}")
    } else {
        format!("{port}_out")
    }
}

/// Random bits for all inputs.
pub fn scramble(sim: &mut Sim, r: &mut Random) {
    let inputs: Vec<(String, u32)> = sim.ports().filter(|p| p.2).map(|p| (p.0.to_string(), p.1.w)).collect();
    for (name, width) in inputs {
        sim.set_wide(&name, &wide(r, width));
    }
}

/// `width` random bits.
pub fn wide(r: &mut Random, width: u32) -> Vec<u64> {
    (0..width.div_ceil(64)).map(|_| r.next() << 32 ^ r.next()).collect()
}

/// Places `value` at bit `lo`, `w <= 64` bits.
pub fn put(limbs: &mut [u64], lo: usize, w: usize, value: u64) {
    for i in 0..w {
        let (limb, bit) = ((lo + i) / 64, (lo + i) % 64);
        limbs[limb] = limbs[limb] & !(1 << bit) | (value >> i & 1) << bit;
    }
}

/// Values of all counters in wave `n` of a run.
pub fn counters(v: &Vsa, n: i64) -> Vec<i64> {
    let mut rest = n;
    let mut at: Vec<i64> = v
        .counters
        .iter()
        .rev()
        .map(|c| {
            let x = rest % c.trip;
            rest /= c.trip;
            x
        })
        .collect();
    at.reverse();
    at
}

/// A form over these counters with coefficients in `low..=high`.
pub fn random_form(r: &mut Random, counters: std::ops::Range<usize>, [low, high]: [i64; 2]) -> Form {
    let coefficients =
        (0..counters.end).map(|j| if j < counters.start || r.chance(30) { 0 } else { r.range(low, high) }).collect();
    Form { constant: r.range(low, high), counters: coefficients, space: [0, 0] }
}

type Limbs = Vec<u64>;

struct Expected {
    port: String,
    value: Limbs,
    /// Bits that count; all if empty.
    mask: Limbs,
    why: String,
}

/// Events at the ports of a module, by cycle.
#[derive(Default)]
pub struct Script {
    quiet: BTreeMap<String, Limbs>,
    drives: BTreeMap<i64, BTreeMap<String, Limbs>>,
    expected: BTreeMap<i64, Vec<Expected>>,
    repeats: Vec<(String, String, i64)>,
}

impl Script {
    /// Value of the input in cycles without another one.
    pub fn quiet(&mut self, port: &str, value: i64) {
        self.quiet.insert(port.into(), vec![value as u64]);
    }
    pub fn quiet_wide(&mut self, port: &str, value: Limbs) {
        self.quiet.insert(port.into(), value);
    }
    pub fn drive(&mut self, cycle: i64, port: &str, value: i64) {
        self.drive_wide(cycle, port, vec![value as u64]);
    }
    pub fn drive_wide(&mut self, cycle: i64, port: &str, value: Limbs) {
        let before = self.drives.entry(cycle).or_default().insert(port.into(), value);
        assert!(before.is_none(), "the bench drives `{port}` twice in cycle {cycle}");
    }
    pub fn expect(&mut self, cycle: i64, port: &str, value: u64, why: String) {
        self.expect_masked(cycle, port, vec![value], vec![], why);
    }
    pub fn expect_masked(&mut self, cycle: i64, port: &str, value: Limbs, mask: Limbs, why: String) {
        self.expected.entry(cycle).or_default().push(Expected { port: port.into(), value, mask, why });
    }
    /// `output` is always `input` of `delay` cycles before.
    pub fn repeat(&mut self, input: &str, output: &str, delay: i64) {
        self.repeats.push((input.into(), output.into(), delay));
    }
    pub fn expectations(&self) -> usize {
        self.expected.values().map(Vec::len).sum()
    }

    /// Plays the script from cycle 0. It skips inputs that the module does not have, since they are constant. Expected
    /// outputs must exist.
    pub fn play(&self, sim: &mut Sim, r: &mut Random) {
        let last = |keys: Option<&i64>| keys.copied().unwrap_or(0);
        let end = last(self.drives.keys().next_back()).max(last(self.expected.keys().next_back()));
        let mut seen: BTreeMap<&str, Vec<Limbs>> = self.repeats.iter().map(|x| (x.0.as_str(), vec![])).collect();
        for cycle in 0..=end {
            scramble(sim, r);
            let drives = self.drives.get(&cycle);
            for (port, value) in self.quiet.iter().chain(drives.into_iter().flatten()) {
                if sim.find_port(port).is_some() {
                    sim.set_wide(port, value);
                }
            }
            for (input, history) in &mut seen {
                history.push(sim.get_wide(input));
            }
            for (input, output, delay) in self.repeats.iter().filter(|x| x.2 <= cycle) {
                assert_eq!(
                    sim.get_wide(output),
                    seen[input.as_str()][(cycle - delay) as usize],
                    "cycle {cycle}: `{output}` is not `{input}` of {delay} cycles ago"
                );
            }
            for e in self.expected.get(&cycle).into_iter().flatten() {
                let got = sim.get_wide(&e.port);
                let width = sim.port_ty(sim.port(&e.port)).w as usize;
                let counts = |bit: usize| e.mask.is_empty() || bits(&e.mask, bit, 1) == 1;
                let differs = |bit: &usize| counts(*bit) && bits(&got, *bit, 1) != bits(&e.value, *bit, 1);
                let wrong = (0..width).find(differs);
                assert!(
                    wrong.is_none(),
                    "cycle {cycle}: `{}` is {got:x?}, expected {:x?} (mask {:x?}): {}",
                    e.port,
                    e.value,
                    e.mask,
                    e.why
                );
            }
            sim.clock();
        }
    }
}
