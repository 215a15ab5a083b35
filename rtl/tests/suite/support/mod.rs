//! Random netlists, and the external tools that read Verilog.

use rtl::{clog2, s, u, Design, MemStyle, ModuleBuilder, Sig, Template, Ty, Verified};
use std::cell::RefCell;
use std::path::Path;
use std::process::Command;

/// xorshift64*.
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
    fn ty(&mut self) -> Ty {
        let w = match self.below(6) {
            0 => 1,
            1 | 2 => 1 + self.below(12),
            3 => 30 + self.below(8),
            4 => 60 + self.below(10),
            _ => 1 + self.below(200),
        } as u32;
        if self.below(2) == 0 {
            u(w)
        } else {
            s(w)
        }
    }
}

/// A random module. In the first cycles `rst` is set and `fill` fills the memories, after which a four-state simulator
/// has no unknown values.
#[derive(Clone, Debug, PartialEq)]
pub struct Random {
    pub seed: u64,
    pub nodes: usize,
    /// Levels of submodules below.
    pub depth: u32,
}

struct Gen<'m> {
    m: &'m ModuleBuilder,
    r: RefCell<Rng>,
    pool: RefCell<Vec<Sig<'m>>>,
    rst: Sig<'m>,
    fill: Sig<'m>,
    count: RefCell<u32>,
}

impl<'m> Gen<'m> {
    fn below(&self, n: u64) -> u64 {
        self.r.borrow_mut().below(n)
    }
    fn ty(&self) -> Ty {
        self.r.borrow_mut().ty()
    }
    fn any(&self) -> Sig<'m> {
        let n = self.pool.borrow().len() as u64;
        let from = if self.below(2) == 0 { 0 } else { n.saturating_sub(8) };
        let k = from + self.below(n - from);
        self.pool.borrow()[k as usize]
    }
    fn of(&self, ty: Ty) -> Sig<'m> {
        self.any().to(ty)
    }
    fn push(&self, x: Sig<'m>) {
        let x = if self.below(6) == 0 { x.named(format!("t{}", self.id())) } else { x };
        self.pool.borrow_mut().push(x);
    }
    fn id(&self) -> u32 {
        *self.count.borrow_mut() += 1;
        *self.count.borrow()
    }
    fn literal(&self, ty: Ty) -> Sig<'m> {
        let limbs: Vec<u64> = (0..4).map(|_| self.r.borrow_mut().next()).collect();
        if self.below(3) == 0 {
            self.m.lit(0, ty)
        } else {
            self.m.lit_big(&limbs, ty)
        }
    }

    fn operator(&self) {
        let (m, a) = (self.m, self.any());
        let b = self.of(a.ty());
        let small = self.of(u(1 + self.below(9) as u32));
        let x = match self.below(27) {
            0 => a + b,
            1 => a - b,
            2 if a.w() < 120 => a * self.of(Ty { w: 1 + self.below(70) as u32, signed: a.ty().signed }),
            3 => a & b,
            4 => a | b,
            5 => a ^ b,
            6 => !a,
            7 => a.neg(),
            8 => a.eq(b),
            9 => a.ne(b),
            10 => a.lt(b),
            11 => a.le(b),
            12 => a.gt(b),
            13 => a.ge(b),
            14 => a.shl_dyn(small),
            15 => a.shr_dyn(small),
            16 => a.shl_const(self.below(u64::from(a.w()) + 2) as u32),
            17 => a.shr_const(self.below(u64::from(a.w()) + 2) as u32),
            18 => a.reduce_or(),
            19 => a.reduce_and(),
            20 => a.reduce_xor(),
            21 => {
                let lo = self.below(u64::from(a.w())) as u32;
                a.slice(lo, 1 + self.below(u64::from(a.w() - lo)) as u32)
            }
            22 => a.to(self.ty()),
            23 => m.mux(self.of(u(1)), a, b),
            24 if a.w() < 120 => m.concat(&[small, a, self.any().slice(0, 1), self.literal(u(3))]),
            25 => m.select(&[(self.of(u(1)), a), (self.of(u(1)), b)], self.literal(a.ty())),
            _ => self.literal(self.ty()),
        };
        self.push(x);
    }

    fn register(&self) {
        let ty = self.ty();
        let r = self.m.reg(format!("r{}", self.id()), ty);
        let feedback = self.below(2) == 0;
        if feedback {
            r.rst(self.rst, 0).next(r.q() + self.of(ty));
            if self.below(2) == 0 {
                r.en(self.of(u(1)));
            }
        } else {
            r.next(self.of(ty));
            if self.below(2) == 0 {
                r.en(self.of(u(1)) | self.rst);
            }
        }
        self.push(r.q());
    }

    fn memory(&self) {
        let m = self.m;
        let depth = 1 + self.below(16) as u32;
        let lanes = 1 + self.below(4) as u32;
        let lane = 1 + self.below(40) as u32;
        let mem = m.mem(format!("mem{}", self.id()), depth, lanes * lane, MemStyle::Auto);
        let addr = || {
            let a = self.of(u(clog2(u64::from(depth))));
            let last = m.lit(depth - 1, a.ty());
            m.mux(a.gt(last), last, a)
        };
        let at = m.mux(self.rst, self.fill.resize(clog2(u64::from(depth))), addr());
        let word = u(lanes * lane);
        let (en, data) = (self.of(u(1)) | self.rst, m.mux(self.rst, m.lit(0, word), self.of(word)));
        if self.below(2) == 0 {
            mem.write(en, at, data);
        } else {
            let mask = self.of(u(lanes)) | m.repeat(self.rst, lanes);
            mem.write_masked(en, at, data, mask, lane);
        }
        self.push(mem.read_async(format!("now{}", self.id()), addr()));
        self.push(mem.read_sync(format!("late{}", self.id()), self.of(u(1)) | self.rst, addr()));
    }

    fn child(&self, d: &mut Design, of: &Random) {
        let child = Random { seed: self.r.borrow_mut().next() | 1, nodes: of.nodes / 2, depth: of.depth - 1 };
        let name = d.module(child);
        let m = self.m;
        let ports: Vec<(String, Ty)> = match d.get(&name) {
            Some(c) => c.input_ports().map(|(n, t)| (n.to_string(), t)).collect(),
            None => vec![],
        };
        let outs: Vec<String> = d.get(&name).map_or(vec![], |c| c.output_ports().map(|(n, _)| n.to_string()).collect());
        let control = |p: &str| match p {
            "rst" => Some(self.rst),
            "fill" => Some(self.fill),
            _ => None,
        };
        for k in 0..1 + self.below(2) {
            let i = m.instance(d, format!("c{}_{k}", self.id()), &name);
            for (p, t) in &ports {
                i.set(p, control(p).unwrap_or_else(|| self.of(*t)));
            }
            for o in &outs {
                if self.below(4) != 0 {
                    self.push(i.out(o));
                }
            }
        }
        let n = [1 + self.below(2) as u32, 1 + self.below(3) as u32];
        let g = m.grid(d, format!("g{}", self.id()), &name, n);
        for (p, t) in &ports {
            match (control(p), self.below(2)) {
                (Some(x), _) => g.set(p, x),
                (None, 0) => g.set(p, self.of(*t)),
                (None, _) => {
                    let xs: Vec<_> = (0..n[0] * n[1]).map(|_| self.of(*t)).collect();
                    g.set_each(p, |i, j| xs[(i * n[1] + j) as usize])
                }
            };
        }
        for o in &outs {
            self.push(g.out(o));
            self.push(g.out_at(o, n[0] - 1, 0));
        }
    }
}

impl Template for Random {
    fn name(&self) -> String {
        format!("random_{}_{}", self.depth, self.seed)
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        m.doc("Random netlist.");
        let g = Gen {
            m,
            r: RefCell::new(Rng(self.seed)),
            pool: RefCell::new(vec![]),
            rst: m.input("rst", u(1)),
            fill: m.input("fill", u(4)),
            count: RefCell::new(0),
        };
        for k in 0..4 {
            let ty = g.ty();
            g.push(m.input(format!("in{k}"), ty));
        }
        for _ in 0..self.nodes {
            match g.below(14) {
                0 | 1 => g.register(),
                2 => g.memory(),
                3 if self.depth > 0 => g.child(d, self),
                _ => g.operator(),
            }
        }
        for k in 0..6 {
            m.output(format!("out{k}"), g.any());
        }
    }
}

/// Runs a tool; returns its success and its output.
///
/// # Panics
/// The tool is not installed.
pub fn tool(name: &str, args: &[&str], dir: &Path) -> (bool, String) {
    match Command::new(name).args(args).current_dir(dir).output() {
        Ok(o) => {
            let text = String::from_utf8_lossy(&o.stdout).into_owned() + &String::from_utf8_lossy(&o.stderr);
            (o.status.success(), without_report(&text))
        }
        Err(e) => panic!("this test needs `{name}` on PATH: {e}"),
    }
}

/// Removes the report at the end of every run of a recent Verilator: lines that start with "- ".
fn without_report(text: &str) -> String {
    text.lines().filter(|l| !l.starts_with("- ")).map(|l| format!("{l}\n")).collect::<String>().trim_start().to_string()
}

/// Writes the design's files into an empty directory below cargo's target directory.
pub fn write_design(d: &Verified, dir: &str) -> (std::path::PathBuf, Vec<String>) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(dir);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("target directory is writable");
    let mut names = vec![];
    for (name, text) in rtl::verilog::files(d) {
        std::fs::write(path.join(&name), text).expect("target directory is writable");
        names.push(name);
    }
    (path, names)
}
