//! `ModuleBuilder`: what a template writes its module with.
//!
//! Every value is a `Sig<'m>`, a `Copy` handle into the builder. Operators check widths where
//! they are written and record a `Fault` with the caller's source position; they never panic.
//! Names are made legal and unique once, when the module is finished: ports keep their names,
//! inner names give way.

use crate::bits::Bits;
use crate::design::Design;
use crate::fault::{Fault, FaultKind};
use crate::handles::{Instance, Memory, Reg, Wire};
use crate::ir::*;
use crate::names::{legal, Names};
use crate::sig::Sig;
use crate::ty::{clog2, u, Ty};
use num_traits::ToPrimitive;
use std::cell::RefCell;
use std::panic::Location;

/// A module under construction.
pub struct ModuleBuilder {
    state: RefCell<State>,
}

struct State {
    module: Module,
    faults: Vec<Fault>,
}

impl ModuleBuilder {
    pub(crate) fn new(name: &str) -> Self {
        let module = Module {
            name: ModuleName(name.to_string()),
            doc: String::new(),
            nodes: vec![],
            inputs: vec![],
            outputs: vec![],
            insts: vec![],
            mems: vec![],
        };
        ModuleBuilder { state: RefCell::new(State { module, faults: vec![] }) }
    }

    /// Finished module with legal, unique names, and the faults recorded on the way.
    pub(crate) fn finish(self, clock: &str) -> (Module, Vec<Fault>) {
        let State { mut module, mut faults } = self.state.into_inner();
        let mut names = Names::default();
        names.claim(clock);
        names.claim("_unused");
        let mut port = |name: &str, at: String| {
            if !names.claim(name) {
                let message = format!("port `{name}` is declared twice");
                faults.push(Fault { module: module.name.0.clone(), kind: FaultKind::Port, message, at });
            }
        };
        for &i in &module.inputs {
            let n = module.node(i);
            port(n.name.as_deref().unwrap_or("in"), n.at.to_string());
        }
        for (name, i) in &module.outputs {
            port(name, module.node(*i).at.to_string());
        }
        for m in &mut module.mems {
            m.name = names.fresh(&m.name);
        }
        for n in &mut module.nodes {
            let state = matches!(n.op, Op::Reg { .. } | Op::ReadSync { .. });
            if let (Some(name), false) = (&mut n.name, matches!(n.op, Op::Input)) {
                let wanted = legal(name);
                *name = if names.claim(&wanted) {
                    wanted
                } else if state {
                    names.fresh(&format!("{wanted}_q"))
                } else {
                    names.fresh(&wanted)
                };
            }
        }
        for i in &mut module.insts {
            i.name = names.fresh(&i.name);
        }
        (module, faults)
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Module) -> R) -> R {
        f(&mut self.state.borrow_mut().module)
    }

    #[track_caller]
    pub(crate) fn fault(&self, kind: FaultKind, message: String) {
        let at = Location::caller().to_string();
        let mut s = self.state.borrow_mut();
        let module = s.module.name.0.clone();
        s.faults.push(Fault { module, kind, message, at });
    }

    #[track_caller]
    pub(crate) fn add(&self, op: Op, ty: Ty, name: Option<String>) -> Sig<'_> {
        let ty = if ty.w == 0 {
            self.fault(FaultKind::Width, "a signal must have at least one bit".into());
            ty.with_width(1)
        } else {
            ty
        };
        let at = Location::caller();
        self.with(|m| {
            m.nodes.push(Node { op, ty, name, attrs: vec![], at });
            Sig::new(self, NodeId(m.nodes.len() as u32 - 1), ty)
        })
    }

    #[track_caller]
    pub(crate) fn poison(&self, ty: Ty) -> Sig<'_> {
        self.add(Op::Poison, ty, None)
    }

    /// Header comment of the printed module: what it is and its contract.
    pub fn doc(&self, text: impl Into<String>) {
        let text = text.into();
        self.with(|m| m.doc = text);
    }

    /// Input port. Port names are kept (made legal if they are not).
    #[track_caller]
    pub fn input(&self, name: impl AsRef<str>, ty: Ty) -> Sig<'_> {
        let s = self.add(Op::Input, ty, Some(legal(name.as_ref())));
        self.with(|m| m.inputs.push(s.id()));
        s
    }

    /// Output port with the value of `sig`.
    #[track_caller]
    pub fn output(&self, name: impl AsRef<str>, sig: Sig<'_>) {
        let name = legal(name.as_ref());
        self.with(|m| m.outputs.push((name, sig.id())));
    }

    /// A constant; a fault if `ty` cannot hold `v`.
    #[track_caller]
    pub fn lit<T: ToPrimitive>(&self, v: T, ty: Ty) -> Sig<'_> {
        let b = self.literal(&v, ty);
        self.add(Op::Lit(b), ty, None)
    }

    /// A constant from little-endian limbs; bits above the width are dropped.
    #[track_caller]
    pub fn lit_big(&self, limbs: &[u64], ty: Ty) -> Sig<'_> {
        self.add(Op::Lit(Bits::from_limbs(limbs, ty.w)), ty, None)
    }

    #[track_caller]
    pub(crate) fn literal<T: ToPrimitive>(&self, v: &T, ty: Ty) -> Bits {
        let magnitude_bits = ty.w - u32::from(ty.signed && ty.w > 0);
        let bits = match (v.to_i128(), v.to_u128()) {
            (Some(i), _) => {
                let fits = if i < 0 {
                    ty.signed && (ty.w > 127 || i >= -(1i128 << (ty.w.max(1) - 1)))
                } else {
                    magnitude_bits >= 127 || i >> magnitude_bits == 0
                };
                (Bits::from_i128(i, ty.w), fits, i.to_string())
            }
            (None, Some(x)) => (Bits::from_u128(x, ty.w), magnitude_bits >= 128, x.to_string()),
            (None, None) => (Bits::zero(ty.w), false, "a number beyond 128 bits".into()),
        };
        if !bits.1 {
            self.fault(FaultKind::Literal, format!("{} does not fit {ty}", bits.2));
        }
        bits.0
    }

    /// A named net whose driver is given later by `Wire::drive`.
    #[track_caller]
    pub fn wire(&self, name: impl Into<String>, ty: Ty) -> Wire<'_> {
        Wire(self.add(Op::Wire { driver: None }, ty, Some(name.into())))
    }

    /// A register; its value `q()` can be used before `next` is given.
    #[track_caller]
    pub fn reg(&self, name: impl Into<String>, ty: Ty) -> Reg<'_> {
        Reg(self.add(Op::Reg { next: None, en: None, rst: None }, ty, Some(name.into())))
    }

    /// `sig` delayed by `n` free-running registers `name_1 … name_n` (`name` for n = 1).
    #[track_caller]
    pub fn delay<'m>(&'m self, sig: Sig<'m>, n: u32, name: impl AsRef<str>) -> Sig<'m> {
        self.shift_register(sig, n, name, None).last().copied().unwrap_or(sig)
    }

    /// Like `delay`, advancing only while `en` is set.
    #[track_caller]
    pub fn delay_en<'m>(&'m self, sig: Sig<'m>, n: u32, name: impl AsRef<str>, en: Sig<'m>) -> Sig<'m> {
        self.shift_register(sig, n, name, Some(en)).last().copied().unwrap_or(sig)
    }

    /// All taps of a chain of `n` registers: element `k` is `sig` delayed by `k + 1`.
    #[track_caller]
    pub fn shift_register<'m>(
        &'m self,
        sig: Sig<'m>,
        n: u32,
        name: impl AsRef<str>,
        en: Option<Sig<'m>>,
    ) -> Vec<Sig<'m>> {
        let name = name.as_ref();
        let mut at = sig;
        let mut taps = Vec::with_capacity(n as usize);
        for k in 1..=n {
            let r = self.reg(if n == 1 { name.to_string() } else { format!("{name}_{k}") }, sig.ty()).next(at);
            at = en.map_or(r, |e| r.en(e)).q();
            taps.push(at);
        }
        taps
    }

    /// `t` if `c` (`u1`), else `e`; both of one type.
    #[track_caller]
    pub fn mux<'m>(&'m self, c: Sig<'m>, t: Sig<'m>, e: Sig<'m>) -> Sig<'m> {
        if c.ty().w != 1 {
            self.fault(FaultKind::Width, format!("mux condition is {}, expected u1", c.ty()));
            return self.poison(t.ty());
        }
        if t.ty() != e.ty() {
            self.fault(FaultKind::Width, format!("mux arms differ: {} and {}", t.ty(), e.ty()));
            return self.poison(t.ty());
        }
        self.add(Op::Mux(c.id(), t.id(), e.id()), t.ty(), None)
    }

    /// The value of the first condition that is set, else `default`.
    #[track_caller]
    pub fn select<'m>(&'m self, cases: &[(Sig<'m>, Sig<'m>)], default: Sig<'m>) -> Sig<'m> {
        let mut out = default;
        for (c, v) in cases.iter().rev() {
            out = self.mux(*c, *v, out);
        }
        out
    }

    /// Concatenation, most significant part first; unsigned. Adjacent slices of one signal and
    /// adjacent constants are joined.
    #[track_caller]
    pub fn concat<'m>(&'m self, hi_to_lo: &[Sig<'m>]) -> Sig<'m> {
        if hi_to_lo.is_empty() {
            self.fault(FaultKind::Width, "empty concatenation".into());
            return self.poison(u(1));
        }
        let mut parts: Vec<Sig<'m>> = vec![];
        for &x in hi_to_lo {
            match parts.last().and_then(|&p| self.join(p, x)) {
                Some(j) => *parts.last_mut().expect("join had a left part") = j,
                None => parts.push(x),
            }
        }
        match parts[..] {
            [x] => x.unsigned(),
            _ => {
                let w = parts.iter().map(|p| p.ty().w).sum();
                self.add(Op::Concat(parts.iter().map(|p| p.id()).collect()), u(w), None)
            }
        }
    }

    /// `{hi, lo}` as one node if both are constants or neighbouring slices.
    #[track_caller]
    fn join<'m>(&'m self, hi: Sig<'m>, lo: Sig<'m>) -> Option<Sig<'m>> {
        let w = hi.ty().w + lo.ty().w;
        let op = self.with(|m| {
            let (h, l) = (m.node(hi.id()), m.node(lo.id()));
            if h.name.is_some() || l.name.is_some() {
                return None;
            }
            match (&h.op, &l.op) {
                (Op::Lit(a), Op::Lit(b)) => Some(Op::Lit(a.concat(b))),
                (Op::Slice(a, p), Op::Slice(b, q)) if a == b && *p == q + l.ty.w => Some(Op::Slice(*a, *q)),
                _ => None,
            }
        })?;
        Some(self.add(op, u(w), None))
    }

    /// `n` copies of `sig` side by side; unsigned.
    #[track_caller]
    pub fn repeat<'m>(&'m self, sig: Sig<'m>, n: u32) -> Sig<'m> {
        self.concat(&vec![sig; n as usize])
    }

    /// Balanced tree of modular additions; all of one type, at least one.
    #[track_caller]
    pub fn sum<'m>(&'m self, xs: &[Sig<'m>]) -> Sig<'m> {
        self.tree(xs, |a, b| a + b)
    }

    /// Disjunction of at least one signal.
    #[track_caller]
    pub fn any<'m>(&'m self, xs: &[Sig<'m>]) -> Sig<'m> {
        self.tree(xs, |a, b| a | b)
    }

    /// Conjunction of at least one signal.
    #[track_caller]
    pub fn all<'m>(&'m self, xs: &[Sig<'m>]) -> Sig<'m> {
        self.tree(xs, |a, b| a & b)
    }

    /// Balanced reduction by `f`.
    #[track_caller]
    pub fn tree<'m>(&'m self, xs: &[Sig<'m>], f: impl Fn(Sig<'m>, Sig<'m>) -> Sig<'m> + Copy) -> Sig<'m> {
        match xs {
            [] => {
                self.fault(FaultKind::Width, "reduction of no signals".into());
                self.poison(u(1))
            }
            [x] => *x,
            _ => {
                let (a, b) = xs.split_at(xs.len() / 2);
                f(self.tree(a, f), self.tree(b, f))
            }
        }
    }

    /// A memory of `depth` words of `width` bits; addresses have `clog2(depth)` bits.
    #[track_caller]
    pub fn mem(&self, name: impl Into<String>, depth: u32, width: u32, style: MemStyle) -> Memory<'_> {
        if depth == 0 || width == 0 {
            self.fault(FaultKind::Width, "a memory needs at least one word of one bit".into());
        }
        let (depth, width) = (depth.max(1), width.max(1));
        let mem = Mem { name: name.into(), depth, width, style, writes: vec![], at: Location::caller() };
        let id = self.with(|m| {
            m.mems.push(mem);
            MemId(m.mems.len() as u32 - 1)
        });
        Memory { m: self, id, width, addr: u(clog2(u64::from(depth))) }
    }

    /// An instance of an elaborated module.
    #[track_caller]
    pub fn instance(&self, d: &Design, name: impl Into<String>, module: &ModuleName) -> Instance<'_> {
        self.add_instance(d, name.into(), module, None)
    }

    /// `n0 * n1` instances of a module, printed as one `generate` loop. Element (i, j) has index
    /// `p = i * n1 + j`; buses hold element `p` at bits `p * w ..`.
    #[track_caller]
    pub fn grid(&self, d: &Design, name: impl Into<String>, module: &ModuleName, n: [u32; 2]) -> Instance<'_> {
        if n[0] == 0 || n[1] == 0 {
            self.fault(FaultKind::Port, "a grid needs at least one element".into());
        }
        self.add_instance(d, name.into(), module, Some([n[0].max(1), n[1].max(1)]))
    }

    #[track_caller]
    fn add_instance(&self, d: &Design, name: String, module: &ModuleName, grid: Option<[u32; 2]>) -> Instance<'_> {
        let (ins, outs) = match d.get(module) {
            Some(c) => (
                c.input_ports().map(|(n, t)| (n.to_string(), t, Conn::Open)).collect(),
                c.output_ports().map(|(n, t)| (n.to_string(), t, None)).collect(),
            ),
            None => {
                self.fault(FaultKind::Port, format!("no module `{module}` in this design"));
                (vec![], vec![])
            }
        };
        let inst = Inst { name, module: module.clone(), grid, ins, outs, at: Location::caller() };
        let id = self.with(|m| {
            m.insts.push(inst);
            InstId(m.insts.len() as u32 - 1)
        });
        Instance { m: self, id }
    }
}
