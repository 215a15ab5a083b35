//! `AxiWriter` against a software reference: the final contents of the array, byte for byte, with an ideal memory (and
//! the predicted cycles of every drain) and with one that stalls at random.

use crate::array_support::image;
use crate::axi_support::*;
use array::contract::dram::Memories;
use array::vsa::*;
use cost::writer::WriterModel;
use rtl::sim::Sim;
use rtl::Design;
use std::collections::VecDeque;
use templates::axi::memory::{AxiMemory, Timing};
use templates::axi::writer::{AxiWriter, WriterParams};
use uniform::affine::Form;
use uniform::counters::Counter;

fn random_vsa(r: &mut Random) -> Vsa {
    let mut v = random_base(r);
    for _ in 0..r.pick(&[1, 1, 2, 3]) {
        let array = r.range(0, v.arrays.len() as i64 - 1) as usize;
        let rank = v.arrays[array].dims.len().max(1);
        let footprint = random_footprint(r, &v, array);
        let trips: Vec<i64> = v.counters.iter().map(|c| c.trip).collect();
        let bounds = (0..r.pick(&[0, 0, 1, 2, 3])).map(|_| CellBound {
            scale: r.range(-1, 1),
            coeffs: (0..rank - 1).map(|_| r.range(-2, 2)).collect(),
            phases: vec![],
            constant: r.range(-10, 30),
            equality: r.chance(20),
        });
        let bounds = bounds.collect();
        v.outputs.push(OutputGroup {
            arrays: vec![],
            array: array as u32,
            subscripts: vec![],
            ports: vec![],
            first: [0, 0],
            last: [0, 0],
            emit: When::new(trips.iter().map(|t| (!r.chance(60)).then(|| r.range(0, t - 1)))),
            footprint,
            banks: vec![],
            row: Form::default(),
            col: Form::default(),
            slots: r.pick(&[1, 2]),
            bounds,
        });
    }
    v
}

fn emits(g: &OutputGroup, t: &[i64]) -> bool {
    g.emit.holds(t, None)
}

fn allowed(g: &OutputGroup, x: &[i64]) -> bool {
    g.bounds.iter().all(|b| {
        let last = x[x.len() - 1];
        let v = b.scale * last + b.constant + b.coeffs.iter().zip(x).map(|(c, x)| c * x).sum::<i64>();
        if b.equality {
            v == 0
        } else {
            v >= 0
        }
    })
}

struct Bench<'a> {
    v: &'a Vsa,
    sim: Sim,
    memory: AxiMemory,
    digits: Vec<String>,
    bases: Vec<u64>,
    latency: usize,
    /// Final contents of the memory.
    wanted: Vec<u8>,
    /// All values ever written to each byte.
    given: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Times {
    /// (group, emitted, drained, written), in service order.
    drains: Vec<(usize, i64, i64, i64)>,
    done: i64,
}

impl<'a> Bench<'a> {
    fn new(v: &'a Vsa, mode: Timing, bases: Vec<u64>, latency: usize, data: Vec<u8>) -> Bench<'a> {
        let params = WriterParams::from_vsa(v, 0, latency as u32).expect("a group writes");
        let digits = digit_names(&params.stream().word);
        let mut design = Design::default();
        let top = design.module(AxiWriter(params));
        let sim = Sim::new(&design.verify().unwrap(), &top)
            .unwrap_or_else(|f| panic!("{}", f.iter().map(|f| f.to_string()).collect::<String>()));
        let memory = AxiMemory::new(&sim, "m_axi_", 0, mode, &[&image(bases[0], &data)]).expect("ports");
        Bench { v, sim, memory, digits, bases, latency, given: vec![vec![]; data.len()], wanted: data }
    }

    fn reset(&mut self) {
        self.silence();
        reset_both(&mut self.sim, &mut self.memory);
    }

    fn soft_reset(&mut self, cycles: i64) {
        self.silence();
        soft_reset(&mut self.sim, &mut self.memory, cycles);
    }

    fn silence(&mut self) {
        self.sim.set("rd_valid", 0);
        (0..self.v.outputs.len()).for_each(|o| self.sim.set(&format!("emitted_{o}"), 0));
    }

    /// One run; the words are random, `wanted` follows them. Stops after `limit` cycles if given.
    fn run(&mut self, r: &mut Random, limit: Option<i64>) -> Times {
        let groups = self.v.outputs.len();
        let footprints: Vec<&Footprint> = self.v.outputs.iter().map(|g| &g.footprint).collect();
        let all = services(self.v, &footprints, |g, t| emits(&self.v.outputs[g], t));
        let total = all.len();
        let mut asked: VecDeque<(usize, usize, usize, i64)> = VecDeque::new();
        let mut count = vec![0i64; groups];
        for (i, s) in all.iter().enumerate() {
            let g = s.group;
            let slot = if self.v.outputs[g].slots > 1 { count[g] % 2 } else { 0 };
            count[g] += 1;
            for row in 0..s.rows.len() {
                (0..footprints[g].words as usize).for_each(|w| asked.push_back((i, row, w, slot)));
            }
        }
        let mut times = Times::default();
        let mut returning: VecDeque<Option<Vec<u64>>> = (0..self.latency).map(|_| None).collect();
        let gap = r.pick(&[0, 2, 40, 300]);
        let mut emit_at = vec![0i64; total];
        let mut at = 0;
        for e in emit_at.iter_mut() {
            at += r.range(1, 1 + gap);
            *e = at;
        }
        let (mut emitted, mut drained, mut written) = (0, 0, 0);
        let (mut addressed, mut sent) = (0, 0);
        for (k, base) in self.bases.iter().enumerate() {
            if self.v.outputs.iter().any(|g| g.array as usize == k) {
                self.sim.set(&format!("base_{k}"), *base);
            }
        }
        for cycle in 0.. {
            if limit.is_some_and(|l| cycle >= l) {
                return times;
            }
            assert!(cycle < 400_000, "the writer hangs after {written} of {total} drains");
            self.sim.set("start", u64::from(cycle == 0));
            (0..groups).for_each(|o| self.sim.set(&format!("emitted_{o}"), 0));
            // Like the sequencer: at most two drains of a group ahead.
            if emitted < total && cycle >= emit_at[emitted] && emitted < drained + 2 {
                self.sim.set(&format!("emitted_{}", all[emitted].group), 1);
                times.drains.push((all[emitted].group, cycle, 0, 0));
                emitted += 1;
            }
            let answer = returning.pop_front().flatten();
            self.sim.set("rd_valid", u64::from(answer.is_some()));
            if let Some(a) = answer {
                self.sim.set_wide("rd_data", &a);
            }
            self.memory.drive(&mut self.sim);
            self.sim.settle();
            self.memory.observe(&mut self.sim);
            let both =
                |sim: &mut Sim, c: &str| sim.get(&format!("m_axi_{c}valid")) & sim.get(&format!("m_axi_{c}ready"));
            let offered = addressed + self.sim.get("m_axi_awvalid");
            assert!(self.sim.get("m_axi_wvalid") == 0 || offered > sent, "data before its address is offered");
            addressed += both(&mut self.sim, "aw");
            sent += both(&mut self.sim, "w") & self.sim.get("m_axi_wlast");
            returning.push_back(None);
            if self.sim.get("dr_valid") == 1 {
                let (i, row, w, slot) = asked.pop_front().expect("a request after the last word");
                assert!(i < emitted, "a request before its drain was emitted");
                let word = self.answer(r, &all[i], row, w, slot);
                if let Some(last) = returning.back_mut() {
                    *last = Some(word);
                }
            }
            for o in 0..groups {
                if self.sim.get(&format!("drained_{o}")) == 1 {
                    assert_eq!(times.drains[drained].0, o);
                    times.drains[drained].2 = cycle;
                    drained += 1;
                }
                if self.sim.get(&format!("written_{o}")) == 1 {
                    assert_eq!(times.drains[written].0, o);
                    times.drains[written].3 = cycle;
                    written += 1;
                }
            }
            let done = self.sim.get("done") == 1;
            assert!(cycle == 0 || done == (written == total), "done");
            times.done = cycle;
            self.sim.clock();
            if written == total {
                break;
            }
        }
        assert_eq!((asked.len(), drained), (0, total));
        for _ in 0..40 {
            (0..groups).for_each(|o| self.sim.set(&format!("emitted_{o}"), 0));
            self.sim.set("rd_valid", 0);
            self.memory.drive(&mut self.sim);
            self.sim.settle();
            self.memory.observe(&mut self.sim);
            let quiet = ["dr_valid", "m_axi_awvalid", "m_axi_wvalid"].map(|p| self.sim.get(p));
            assert_eq!((quiet, self.sim.get("done")), ([0; 3], 1));
            self.sim.clock();
        }
        assert!(self.memory.is_idle());
        assert!(self.memory.faults().is_empty(), "{:#?}", self.memory.faults());
        assert_eq!(self.sim.take_broken(), Vec::<String>::new());
        times
    }

    /// Checks the request, answers with a random word and records it in the expected contents.
    fn answer(&mut self, r: &mut Random, s: &SoftService, row: usize, w: usize, slot: i64) -> Vec<u64> {
        let g = &self.v.outputs[s.group];
        let a = &self.v.arrays[g.array as usize];
        let start = (self.bases[g.array as usize] - self.bases[0]) as usize;
        let row = &s.rows[row];
        assert_eq!(self.sim.get("dr_group"), 1 << s.group);
        assert_eq!((self.sim.get("dr_w") as usize, self.sim.get("dr_slot") as i64), (w, slot));
        for d in self.digits.clone() {
            let (is_residue, dim) = digit_of(self.v, self.v.outputs.iter().map(|g| g.array), a, &d);
            let (u, residue) = dim.map_or((0, 0), |d| row.digits[d]);
            assert_eq!(self.sim.get(&format!("dr_{d}")) as i64, if is_residue { residue } else { u }, "{d}");
        }
        let bytes = a.ty.bytes() as usize;
        let data = random_bytes(r, bytes * a.word as usize);
        for i in 0..a.word as usize {
            let col = (w * a.word as usize + i) as i64;
            let mut x = row.x.clone();
            if let Some(l) = x.last_mut() {
                *l += col;
            }
            let inside = col < g.footprint.elements && allowed(g, &x);
            if let Some(at) = element(a, &x).filter(|_| inside) {
                self.wanted[start + at * bytes..][..bytes].copy_from_slice(&data[i * bytes..][..bytes]);
                (0..bytes).for_each(|b| self.given[start + at * bytes + b].push(data[i * bytes + b]));
            }
        }
        data.chunks(8).map(|c| c.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))).collect()
    }
}

fn check_times(v: &Vsa, latency: usize, times: &Times, what: &str) {
    let mut model = WriterModel::new(v, &[], 0, &Memories::ideal(), latency as i64).expect("a group writes");
    let mut count = vec![0i64; v.outputs.len()];
    for (i, (g, emitted, drained, written)) in times.drains.iter().enumerate() {
        let t = model.drain(*g, count[*g], *emitted).expect("service order");
        assert_eq!((t.drained, t.written), (*drained, *written), "{what}: drain {i} of group {g}, emitted {emitted}");
        count[*g] += 1;
    }
    assert_eq!(model.drain(0, count[0], 0), None);
    assert_eq!(times.drains.last().map(|d| d.3), Some(times.done));
}

#[test]
fn random_drains_are_exact_in_bytes_and_cycles() {
    for seed in 0..250 {
        let mut r = Random::new(seed);
        let v = random_vsa(&mut r);
        let base = 4096 * r.pick(&[1u64, 7, 0x10_0000_0000]);
        let latency = r.pick(&[1, 2, 7, 20, 45]);
        let (bases, size) = place(&mut r, &v, base, false);
        let bytes = random_bytes(&mut r, size);
        let mut bench = Bench::new(&v, Timing::IDEAL, bases, latency, bytes);
        bench.reset();
        for run in 0..2 {
            let times = bench.run(&mut r, None);
            assert!(bench.memory.array(0) == &bench.wanted[..], "seed {seed}, run {run}: contents differ");
            check_times(&v, latency, &times, &format!("seed {seed}, run {run}"));
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
        let latency = r.pick(&[1, 2, 7, 20]);
        let mut bench = Bench::new(&v, Timing::Ddr { seed }, bases, latency, bytes);
        bench.reset();
        let limit = r.range(1, 150);
        let before = bench.memory.array(0).to_vec();
        bench.run(&mut r, Some(limit));
        if seed % 3 == 0 {
            bench.reset()
        } else {
            bench.soft_reset(r.range(1, 40))
        }
        let now = bench.memory.array(0).to_vec();
        assert!(
            (0..now.len()).all(|i| now[i] == before[i] || bench.given[i].contains(&now[i])),
            "seed {seed}: the reset writes"
        );
        bench.wanted = now;
        for run in 0..2 {
            bench.run(&mut r, None);
            assert!(bench.memory.array(0) == &bench.wanted[..], "seed {seed}, run {run}: contents differ");
        }
    }
}

/// Many drains of two beats in two bursts, so that data often waits for a stalled address.
#[test]
fn data_waits_for_its_address() {
    let mut v = empty_vsa("bench");
    v.tile_depth = 1;
    v.counters = vec![Counter::constant("t".into(), 300)];
    let ty = scop::ScalarType::Int { bits: 8, signed: true };
    v.arrays =
        vec![DramArray { name: "A".into(), ty, dims: vec![301 * 1024], word: 4, port: 0, home: Default::default() }];
    let origin = vec![Form { constant: 1020, counters: vec![1024], space: [0, 0] }];
    v.outputs = vec![OutputGroup {
        arrays: vec![],
        array: 0,
        subscripts: vec![],
        ports: vec![],
        first: [0, 0],
        last: [0, 0],
        emit: When::new(vec![None]),
        footprint: Footprint { view: Footprint::plain_view(origin.len()), origin, rows: vec![], words: 2, elements: 8 },
        banks: vec![],
        row: Form::default(),
        col: Form::default(),
        slots: 2,
        bounds: vec![],
    }];
    for seed in 0..4 {
        let mut bench = Bench::new(&v, Timing::Ddr { seed }, vec![4096], 1, vec![0; 301 * 1024]);
        bench.reset();
        bench.run(&mut Random::new(seed), None);
        assert!(bench.memory.array(0) == &bench.wanted[..]);
    }
}

/// Assertions find more drains than buffers, and unrequested answers and responses.
#[test]
fn what_the_writer_relies_on_is_asserted() {
    let mut r = Random::new(3);
    let v = std::iter::repeat_with(|| random_vsa(&mut r))
        .find(|v| v.outputs.len() == 1 && v.arrays.len() == 1)
        .expect("one group");
    let mut bench = Bench::new(&v, Timing::IDEAL, vec![4096], 2, vec![0; 4096]);
    bench.reset();
    let mut broken = |port: &str, cycles: usize| -> Vec<String> {
        bench.sim.set(port, 1);
        (0..cycles).for_each(|_| bench.sim.clock());
        bench.sim.set(port, 0);
        let name = |text: String| text.split_once(": ").expect("a place").1.to_string();
        bench.sim.take_broken().into_iter().map(name).collect()
    };
    assert_eq!(broken("start", 1), Vec::<String>::new());
    assert!(broken("rd_valid", 1).contains(&"every answer belongs to a request".to_string()));
    assert!(broken("m_axi_bvalid", 1).contains(&"every response belongs to a burst that was sent".to_string()));
    assert!((0..7).any(|_| broken("emitted_0", 1).contains(&"group 0 has two buffers at most to drain".to_string())));
    assert!(broken("rd_valid", 200).contains(&"the word FIFO has room for every word".to_string()));
}
