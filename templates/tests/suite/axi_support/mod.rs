//! Random arrays with DMA traffic only, and a simple software model of what the engines must transfer.

pub use array::contract::walk::alignment;
use array::vsa::*;
use rtl::sim::Sim;
use scop::ScalarType;
use templates::axi::memory::AxiMemory;
use templates::stream::{Digit, Word};
use uniform::affine::Form;
use uniform::counters::Counter;

/// xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }
    /// In `lo..=hi`.
    pub fn range(&mut self, lo: i64, hi: i64) -> i64 {
        lo + (self.next() % (hi - lo + 1) as u64) as i64
    }
    pub fn chance(&mut self, percent: i64) -> bool {
        self.range(0, 99) < percent
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.range(0, from.len() as i64 - 1) as usize]
    }
}

pub fn empty_vsa(name: &str) -> Vsa {
    Vsa { ahead: 512, ..Vsa::empty(name) }
}

/// Counters, and arrays of any type and rank behind one port. The caller adds groups.
pub fn random_base(r: &mut Random) -> Vsa {
    let mut v = empty_vsa("bench");
    v.tile_depth = r.range(0, 3) as usize;
    v.counters = (0..v.tile_depth).map(|j| Counter::constant(format!("t{j}"), r.range(1, 4))).collect();
    let types: Vec<u32> = (0..r.pick(&[1, 1, 2, 3])).map(|_| r.pick(&[8u32, 16, 32, 64])).collect();
    let bus = r.pick(&[4u32, 8, 16, 64, 64, 128]).max(types.iter().max().map_or(4, |bits| bits / 8));
    v.arrays = types.into_iter().enumerate().map(|(k, bits)| random_array(r, k, bits, bus)).collect();
    v
}

fn random_array(r: &mut Random, k: usize, bits: u32, bus: u32) -> DramArray {
    let rank = r.range(0, 3);
    let most = if r.chance(25) { 3 } else { 40 };
    let mut dims: Vec<i64> = (0..rank).map(|_| r.range(1, most)).collect();
    if r.chance(30) {
        if let Some(d) = dims.last_mut() {
            *d = r.range(1, 900);
        }
    }
    DramArray {
        name: format!("A{k}"),
        ty: ScalarType::Int { bits, signed: true },
        dims,
        word: bus / (bits / 8),
        port: 0,
        home: Default::default(),
    }
}

/// Addresses of the arrays in one memory, and its size. The first is at `first`, the others are at multiples of 4096,
/// plus some elements if `odd`, or bus words where they have to begin one.
pub fn place(r: &mut Random, v: &Vsa, first: u64, odd: bool) -> (Vec<u64>, usize) {
    let (mut bases, mut end) = (vec![], first);
    for (k, a) in v.arrays.iter().enumerate() {
        let shift = if odd && !bases.is_empty() { r.range(0, 600) as u64 * u64::from(alignment(v, k)) } else { 0 };
        let base = if bases.is_empty() { first } else { end.next_multiple_of(4096) + shift };
        bases.push(base);
        end = base + array_bytes(a) as u64;
    }
    (bases, (end - first) as usize)
}

/// A digit of the stream, such as `u1`: it is the residue; its dimension of array `a`, if that has it.
pub fn digit_of(v: &Vsa, served: impl Iterator<Item = u32>, a: &DramArray, name: &str) -> (bool, Option<usize>) {
    let rank = |a: &DramArray| a.dims.len().max(1);
    let most = served.map(|k| rank(&v.arrays[k as usize])).max().unwrap_or(1);
    let d: usize = name[1..].parse().expect("a digit");
    (name.starts_with('r'), d.checked_sub(most - rank(a)))
}

pub fn random_footprint(r: &mut Random, v: &Vsa, array: usize) -> Footprint {
    let a = &v.arrays[array];
    let rank = a.dims.len().max(1);
    let aligned = r.chance(40);
    let mut origin = |d: usize| {
        let most = a.dims.get(d).copied().unwrap_or(1);
        let scale = if aligned && d + 1 == rank { i64::from(a.word) } else { 1 };
        let counters = (0..v.tile_depth).map(|_| scale * if r.chance(30) { 0 } else { r.range(-2, 4) }).collect();
        Form { constant: scale * r.range(-4.max(-most), (most / 3).max(1)), counters, space: [0, 0] }
    };
    let origin: Vec<Form> = (0..rank).map(&mut origin).collect();
    let rows = (0..rank - 1).map(|_| FootprintDim { modulus: r.pick(&[1, 1, 2, 3]), extent: r.range(1, 5) }).collect();
    let long = r.chance(10);
    let words = if long { r.range(5, 40) } else { r.range(1, 4) };
    let elements = (words - 1) * i64::from(a.word) + r.range(1, i64::from(a.word));
    Footprint { view: Footprint::plain_view(origin.len()), origin, rows, words, elements }
}

/// One row of a service: global subscripts of its local element 0, its digits, and which elements are transferred.
pub struct SoftRow {
    pub x: Vec<i64>,
    pub digits: Vec<(i64, i64)>,
}

/// One service: index of the group, its rows.
pub struct SoftService {
    pub group: usize,
    pub rows: Vec<SoftRow>,
}

/// All services in order, directly from the meaning of the VSA: every tile, every group.
pub fn services(v: &Vsa, footprints: &[&Footprint], served: impl Fn(usize, &[i64]) -> bool) -> Vec<SoftService> {
    let mut out = vec![];
    let mut t = vec![0; v.tile_depth];
    loop {
        for (g, footprint) in footprints.iter().enumerate() {
            if served(g, &t) {
                out.push(SoftService { group: g, rows: rows(footprint, &t) });
            }
        }
        let mut j = v.tile_depth;
        loop {
            if j == 0 {
                return out;
            }
            j -= 1;
            t[j] += 1;
            if t[j] < v.counters[j].trip {
                break;
            }
            t[j] = 0;
        }
    }
}

fn rows(footprint: &Footprint, t: &[i64]) -> Vec<SoftRow> {
    let origin: Vec<i64> = footprint.origin.iter().map(|f| f.eval(t, [0, 0])).collect();
    let mut out = vec![(vec![], vec![])];
    for (d, dim) in footprint.rows.iter().enumerate() {
        let mut next = vec![];
        for (x, digits) in &out {
            for u in 0..dim.extent {
                for r in 0..dim.modulus {
                    let mut x: Vec<i64> = x.clone();
                    let mut digits: Vec<(i64, i64)> = digits.clone();
                    x.push(origin[d] + dim.modulus * u + r);
                    digits.push((u, r));
                    next.push((x, digits));
                }
            }
        }
        out = next;
    }
    let last = origin[footprint.rows.len()];
    out.into_iter()
        .map(|(mut x, digits)| {
            x.push(last);
            SoftRow { x, digits }
        })
        .collect()
}

/// Index of the element, if it is inside the array.
pub fn element(a: &DramArray, x: &[i64]) -> Option<usize> {
    let dims = if a.dims.is_empty() { vec![1] } else { a.dims.clone() };
    let mut at = 0;
    for (x, d) in x.iter().zip(&dims) {
        if *x < 0 || x >= d {
            return None;
        }
        at = at * d + x;
    }
    Some(at as usize)
}

pub fn array_bytes(a: &DramArray) -> usize {
    a.dims.iter().product::<i64>() as usize * a.ty.bytes() as usize
}

pub fn random_bytes(r: &mut Random, n: usize) -> Vec<u8> {
    (0..n).map(|_| r.next() as u8).collect()
}

/// Bits `lo .. lo + w` of little-endian limbs, `w <= 64`.
pub fn bits(limbs: &[u64], lo: usize, w: usize) -> u64 {
    (0..w).fold(0, |v, i| v | (limbs[(lo + i) / 64] >> ((lo + i) % 64) & 1) << i)
}

/// `ap_rst_n` for one cycle: engine and memory forget all bursts.
pub fn reset_both(sim: &mut Sim, memory: &mut AxiMemory) {
    sim.set("start", 0);
    for (live, rst) in [(0, 0), (1, 1)] {
        sim.set("live", live);
        sim.set("rst", rst);
        memory.drive(sim);
        sim.settle();
        memory.observe(sim);
        sim.clock();
        if live == 0 {
            memory.reset();
            ["arvalid", "awvalid", "wvalid"].iter().for_each(|valid| {
                if sim.find_port(&format!("m_axi_{valid}")).is_some() {
                    assert_eq!(sim.get(&format!("m_axi_{valid}")), 0, "{valid} after a reset");
                }
            });
        }
    }
    sim.set("rst", 0);
    let _ = memory.take_faults();
}

/// A soft reset of at least so many cycles, while the memory goes on; ends when the engine reports that no burst is
/// open.
pub fn soft_reset(sim: &mut Sim, memory: &mut AxiMemory, cycles: i64) {
    sim.set("start", 0);
    sim.set("rst", 1);
    for cycle in 1.. {
        assert!(cycle < 20_000, "bursts stay open");
        memory.drive(sim);
        sim.settle();
        memory.observe(sim);
        let quiet = sim.get("quiet") == 1;
        sim.clock();
        if quiet && cycle >= cycles {
            break;
        }
    }
    sim.set("rst", 0);
    assert!(memory.is_idle(), "the memory is not done");
    assert!(memory.faults().is_empty(), "{:#?}", memory.faults());
}

/// Names of the row digits of a stream: `u<d>`, and `r<d>` if a dimension has residues.
pub fn digit_names<S>(word: &Word<S>) -> Vec<String> {
    let names = |(d, digit): (usize, &Digit<S>)| [Some(format!("u{d}")), digit.r.as_ref().map(|_| format!("r{d}"))];
    word.digits.iter().enumerate().flat_map(names).flatten().collect()
}
