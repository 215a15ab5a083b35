//! `AxiReader` against a software reference: every word of every load, with an ideal memory (and the predicted cycle of
//! every load) and with one that stalls at random.

use crate::array_support::image;
use crate::axi_support::*;
use array::contract::dram::Memories;
use array::vsa::*;
use cost::reader::{ReaderModel, Waits};
use rtl::sim::Sim;
use rtl::Design;
use std::collections::VecDeque;
use templates::axi::memory::{AxiMemory, Timing};
use templates::axi::reader::{AxiReader, ReaderParams};
use uniform::affine::Form;

fn random_vsa(r: &mut Random) -> Vsa {
    let mut v = random_base(r);
    v.ahead = r.pick(&[256, 256, 512, 1024]);
    for g in 0..r.pick(&[1, 1, 2, 3]) {
        let array = r.range(0, v.arrays.len() as i64 - 1) as usize;
        let footprint = random_footprint(r, &v, array);
        let after = r
            .chance(20)
            .then(|| After { output: g as u32 % 2, until: Until::Lag(r.range(-1, 3)) })
            .into_iter()
            .collect();
        v.inputs.push(InputGroup {
            arrays: vec![],
            array: array as u32,
            subscripts: vec![],
            ports: vec![],
            first: [0; 2],
            last: [0; 2],
            forward: [false; 2],
            reload: r.range(0, v.tile_depth as i64) as usize,
            used: When::default(),
            footprint,
            banks: vec![],
            row: Form::default(),
            col: Form::default(),
            after,
        });
    }
    v
}

struct Bench<'a> {
    v: &'a Vsa,
    sim: Sim,
    memory: AxiMemory,
    digits: Vec<String>,
    bases: Vec<u64>,
}

/// Events of one run, in cycles after `start`.
struct Times {
    /// (group, loaded)
    loads: Vec<(usize, i64)>,
    releases: Vec<Vec<i64>>,
    written: Vec<Vec<i64>>,
}

impl<'a> Bench<'a> {
    fn new(v: &'a Vsa, mode: Timing, bases: Vec<u64>, data: Vec<u8>) -> Bench<'a> {
        let params = ReaderParams::from_vsa(v, 0).expect("a group reads");
        let digits = digit_names(&params.stream().word);
        let mut design = Design::default();
        let top = design.module(AxiReader(params));
        let sim = Sim::new(&design.verify().unwrap(), &top)
            .unwrap_or_else(|f| panic!("{}", f.iter().map(|f| f.to_string()).collect::<String>()));
        let memory = AxiMemory::new(&sim, "m_axi_", 0, mode, &[&image(bases[0], &data)]).expect("ports");
        let mut bench = Bench { v, sim, memory, digits, bases };
        for name in bench.inputs("release_").into_iter().chain(bench.inputs("written_")) {
            bench.sim.set(&name, 0);
        }
        bench
    }

    fn inputs(&self, prefix: &str) -> Vec<String> {
        self.sim.ports().filter(|p| p.2 && p.0.starts_with(prefix)).map(|p| p.0.to_string()).collect()
    }

    fn reset(&mut self) {
        reset_both(&mut self.sim, &mut self.memory);
    }

    fn soft_reset(&mut self, cycles: i64) {
        for name in self.inputs("release_").into_iter().chain(self.inputs("written_")) {
            self.sim.set(&name, 0);
        }
        soft_reset(&mut self.sim, &mut self.memory, cycles);
    }

    fn cycle(&mut self) {
        self.memory.drive(&mut self.sim);
        self.sim.settle();
        self.memory.observe(&mut self.sim);
    }

    /// One run; checks the stream. Stops after `limit` cycles if given.
    fn run(&mut self, r: &mut Random, limit: Option<i64>) -> Times {
        let groups = self.v.inputs.len();
        let footprints: Vec<&Footprint> = self.v.inputs.iter().map(|g| &g.footprint).collect();
        let served = |g: usize, t: &[i64]| t[self.v.inputs[g].reload..].iter().all(|c| *c == 0);
        let mut expected: VecDeque<SoftService> = services(self.v, &footprints, served).into();
        let total = expected.len();
        let mut times = Times { loads: vec![], releases: vec![vec![]; groups], written: vec![vec![]; 2] };
        let mut pending: Vec<VecDeque<i64>> = vec![VecDeque::new(); groups];
        let (mut at_row, mut at_word) = (0, 0);
        let mut count = vec![0i64; groups];
        let slow = r.pick(&[0, 3, 60]);
        let written_gap = r.pick(&[1, 5, 200]);
        let mut next_written = [r.range(1, 1 + written_gap), r.range(1, 1 + written_gap)];
        let released: Vec<bool> = (0..groups).map(|_| true).collect();
        let waits = self.inputs("written_");
        for name in self.inputs("base_") {
            let k: usize = name["base_".len()..].parse().expect("an array");
            self.sim.set(&name, self.bases[k]);
        }
        for cycle in 0.. {
            if limit.is_some_and(|l| cycle >= l) {
                return times;
            }
            assert!(cycle < 400_000, "the reader hangs after {} of {total} loads", times.loads.len());
            self.sim.set("start", u64::from(cycle == 0));
            for g in 0..groups {
                let now = released[g] && pending[g].front().is_some_and(|c| *c <= cycle);
                if now {
                    pending[g].pop_front();
                    times.releases[g].push(cycle);
                }
                self.sim.set(&format!("release_{g}"), u64::from(now));
            }
            for (o, next) in next_written.iter_mut().enumerate() {
                let now = *next == cycle;
                if now {
                    times.written[o].push(cycle);
                    *next += r.range(1, 1 + written_gap);
                }
                if waits.contains(&format!("written_{o}")) {
                    self.sim.set(&format!("written_{o}"), u64::from(now));
                }
            }
            self.cycle();
            if self.sim.get("ld_valid") == 1 {
                let service = expected.front().expect("a word after the last load");
                let g = service.group;
                let footprint = footprints[g];
                let row = &service.rows[at_row];
                let first = at_row == 0 && at_word == 0;
                let last = at_row + 1 == service.rows.len() && at_word + 1 == footprint.words;
                assert_eq!(self.sim.get("ld_group"), 1 << g);
                assert_eq!((self.sim.get("ld_first") == 1, self.sim.get("ld_last") == 1), (first, last));
                assert_eq!(self.sim.get("ld_slot") as i64, count[g] % 2);
                assert_eq!(self.sim.get("ld_w") as i64, at_word);
                for d in self.digits.clone() {
                    let array = &self.v.arrays[self.v.inputs[g].array as usize];
                    let (is_residue, dim) = digit_of(self.v, self.v.inputs.iter().map(|g| g.array), array, &d);
                    let (u, residue) = dim.map_or((0, 0), |d| row.digits[d]);
                    assert_eq!(self.sim.get(&format!("ld_{d}")) as i64, if is_residue { residue } else { u }, "{d}");
                }
                self.check_word(self.v.inputs[g].array as usize, footprint, row, at_word);
                for h in 0..groups {
                    assert_eq!(self.sim.get(&format!("loaded_{h}")) == 1, last && g == h);
                }
                at_word += 1;
                if at_word == footprint.words {
                    (at_word, at_row) = (0, at_row + 1);
                }
                if last {
                    at_row = 0;
                    times.loads.push((g, cycle));
                    count[g] += 1;
                    let earliest = pending[g].back().map_or(cycle, |c| *c).max(cycle);
                    pending[g].push_back(earliest + 1 + r.range(0, slow));
                    expected.pop_front();
                }
            } else {
                (0..groups).for_each(|h| assert_eq!(self.sim.get(&format!("loaded_{h}")), 0));
            }
            self.sim.clock();
            if expected.is_empty() {
                break;
            }
        }
        for _ in 0..50 {
            self.sim.set("start", 0);
            (0..groups).for_each(|g| self.sim.set(&format!("release_{g}"), 0));
            self.cycle();
            assert_eq!(self.sim.get("ld_valid") + self.sim.get("m_axi_arvalid"), 0);
            self.sim.clock();
        }
        assert!(self.memory.is_idle(), "beats are left in the memory");
        assert!(self.memory.faults().is_empty(), "{:#?}", self.memory.faults());
        assert_eq!(self.sim.take_broken(), Vec::<String>::new());
        times
    }

    fn check_word(&mut self, array: usize, footprint: &Footprint, row: &SoftRow, w: i64) {
        let a = &self.v.arrays[array];
        let start = (self.bases[array] - self.bases[0]) as usize;
        let width = a.ty.bits() as usize;
        let got = self.sim.get_wide("ld_data");
        for i in 0..i64::from(a.word) {
            let col = w * i64::from(a.word) + i;
            let mut x = row.x.clone();
            if let Some(l) = x.last_mut() {
                *l += col;
            }
            let Some(at) = element(a, &x).filter(|_| col < footprint.elements) else { continue };
            let bytes = a.ty.bytes() as usize;
            let want =
                self.memory.array(0)[start + at * bytes..][..bytes].iter().rev().fold(0, |v, b| v << 8 | u64::from(*b));
            assert_eq!(bits(&got, i as usize * width, width), want, "element {x:?} (word {w}, lane {i})");
        }
    }
}

fn check_times(v: &Vsa, times: &Times, what: &str) {
    let mut model = ReaderModel::new(v, &[], 0, &Memories::ideal()).expect("a group reads");
    let mut count = vec![0usize; v.inputs.len()];
    for (i, (g, loaded)) in times.loads.iter().enumerate() {
        let n = count[*g];
        let mut waits = Waits { written: 0, released: if n < 2 { 0 } else { times.releases[*g][n - 2] } };
        for After { output: o, until } in &v.inputs[*g].after {
            let Until::Lag(lag) = until else { unreachable!("none is drawn") };
            if n as i64 > *lag {
                waits.written = times.written[*o as usize][(n as i64 - lag - 1) as usize];
            }
        }
        let predicted = model.load(*g, n as i64, waits).expect("service order");
        assert_eq!(predicted.loaded, *loaded, "{what}: load {i} (number {n} of group {g})");
        count[*g] += 1;
    }
    assert_eq!(model.load(0, count[0] as i64, Waits::default()), None);
}

#[test]
fn random_loads_are_exact_in_words_and_cycles() {
    for seed in 0..250 {
        let mut r = Random::new(seed);
        let v = random_vsa(&mut r);
        let base = 4096 * r.pick(&[1u64, 7, 0x10_0000_0000]);
        let (bases, size) = place(&mut r, &v, base, false);
        let bytes = random_bytes(&mut r, size);
        let mut bench = Bench::new(&v, Timing::IDEAL, bases, bytes);
        bench.reset();
        for run in 0..2 {
            let times = bench.run(&mut r, None);
            check_times(
                &v,
                &times,
                &format!("seed {seed}, run {run}\n{:#?}", v.inputs.iter().map(|g| &g.footprint).collect::<Vec<_>>()),
            );
        }
    }
}

#[test]
fn stalls_any_alignment_and_reset_in_the_middle() {
    for seed in 1000..1150 {
        let mut r = Random::new(seed);
        let v = random_vsa(&mut r);
        let base = 4096 * r.pick(&[1u64, 0xfff_ffff]) + r.range(0, 600) as u64 * u64::from(alignment(&v, 0));
        let (bases, size) = place(&mut r, &v, base, true);
        let bytes = random_bytes(&mut r, size);
        let mut bench = Bench::new(&v, Timing::Ddr { seed }, bases, bytes);
        bench.reset();
        let limit = r.range(1, 120);
        bench.run(&mut r, Some(limit));
        if seed % 3 == 0 {
            bench.reset()
        } else {
            bench.soft_reset(r.range(1, 40))
        }
        bench.run(&mut r, None);
        bench.run(&mut r, None);
    }
}

fn one_group(bits: u32, word: u32, dims: &[i64], footprint: Footprint) -> Vsa {
    let mut v = empty_vsa("bench");
    let ty = scop::ScalarType::Int { bits, signed: true };
    v.arrays = vec![DramArray { name: "A".into(), ty, dims: dims.to_vec(), word, port: 0, home: Default::default() }];
    v.inputs = vec![InputGroup {
        arrays: vec![],
        array: 0,
        subscripts: vec![],
        ports: vec![],
        first: [0; 2],
        last: [0; 2],
        forward: [false; 2],
        reload: 0,
        used: When::default(),
        footprint,
        banks: vec![],
        row: Form::default(),
        col: Form::default(),
        after: vec![],
    }];
    v
}

fn origin(constants: &[i64]) -> Vec<Form> {
    constants.iter().map(|c| Form { constant: *c, ..Form::default() }).collect()
}

/// The cycles in the header of `AxiReader`: 8 rows of 4 words of 16 elements, aligned, one word per cycle.
#[test]
fn documented_latency_and_full_rate() {
    let rows = vec![FootprintDim { modulus: 1, extent: 8 }];
    let v = one_group(
        8,
        16,
        &[8, 64],
        Footprint { view: Footprint::plain_view(2), origin: origin(&[0, 0]), rows, words: 4, elements: 64 },
    );
    let mut bench = Bench::new(&v, Timing::IDEAL, vec![4096], vec![7; 512]);
    bench.reset();
    let times = bench.run(&mut Random::new(1), None);
    let (trim, rotate, go) = (1, 0, 2);
    let first_beat = go + trim + 4 + 16 + 2;
    assert_eq!(times.loads, [(0, first_beat + 31 + rotate + 2)]);
}

/// Assertions find a misaligned address, surplus buffer halves and unrequested beats.
#[test]
fn what_the_reader_relies_on_is_asserted() {
    let rows = vec![FootprintDim { modulus: 1, extent: 8 }];
    let mut v = one_group(
        32,
        16,
        &[8, 64],
        Footprint { view: Footprint::plain_view(2), origin: origin(&[0, 0]), rows, words: 4, elements: 64 },
    );
    v.ahead = 256;
    let mut bench = Bench::new(&v, Timing::IDEAL, vec![4096], vec![7; 2048]);
    bench.reset();
    assert_eq!(bench.sim.take_broken(), Vec::<String>::new());
    let mut broken = |inputs: &[(&str, u64)], cycles: usize| -> Vec<String> {
        inputs.iter().for_each(|(port, value)| bench.sim.set(port, *value));
        (0..cycles).for_each(|_| bench.sim.clock());
        inputs.iter().for_each(|(port, _)| bench.sim.set(port, 0));
        bench.sim.take_broken()
    };
    assert_eq!(broken(&[("start", 1), ("base_0", 4098)], 1), ["axi_reader_a: addresses are multiples of a bus word"]);
    // A burst is accepted, but the memory goes on after its end.
    assert!(broken(&[("m_axi_arready", 1)], 40).is_empty());
    assert_eq!(broken(&[("m_axi_rvalid", 1)], 600), ["axi_reader_a: the beat FIFO has room for every beat"]);
    assert!(broken(&[("release_0", 1)], 3).contains(
        &"axi_reader_a: group 0 has two buffer \
        halves at most"
            .to_string()
    ));
}

/// Addresses beyond 2^32 with strides of 2^33 and 2^43 bytes; rows before the array and after it are not fetched.
#[test]
fn huge_strides() {
    let rows = vec![FootprintDim { modulus: 1, extent: 4 }, FootprintDim { modulus: 2, extent: 2 }];
    let footprint = Footprint {
        view: Footprint::plain_view(3),
        origin: origin(&[-1, 1022, (1 << 31) - 20]),
        rows,
        words: 3,
        elements: 40,
    };
    let v = one_group(32, 16, &[2, 1024, 1 << 31], footprint);
    let mut design = Design::default();
    let top = design.module(AxiReader(ReaderParams::from_vsa(&v, 0).expect("reads")));
    let mut sim = Sim::new(&design.verify().unwrap(), &top).expect("a legal design");
    for (p, x) in [("release_0", 0), ("m_axi_arready", 1), ("m_axi_rvalid", 1), ("start", 0), ("rst", 1), ("live", 0)] {
        sim.set(p, x);
    }
    let base = 0x0123_0000_0000_1000u64;
    sim.set("base_0", base);
    sim.step();
    sim.set("live", 1);
    sim.step();
    sim.set("rst", 0);
    let mut got = vec![];
    for cycle in 0..400 {
        sim.set("start", u64::from(cycle == 0));
        if sim.get("m_axi_arvalid") == 1 {
            got.push((sim.get("m_axi_araddr"), sim.get("m_axi_arlen")));
        }
        sim.clock();
    }
    // Inside: x0 in 0..2, x1 in 1022..1024, elements 0..20 of the row: 80 bytes that end with the row.
    let row = |x0: u64, x1: u64| base + ((x0 * 1024 + x1) << 33) + (((1u64 << 31) - 20) << 2);
    let wanted: Vec<_> = [(0, 1022), (0, 1023), (1, 1022), (1, 1023)].map(|(a, b)| (row(a, b) & !63, 1)).into();
    assert_eq!(got, wanted);
}
