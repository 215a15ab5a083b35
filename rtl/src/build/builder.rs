//! `ModuleBuilder`, with which a template writes its module.
//!
//! Every value is a `Sig<'m>`, a `Copy` handle into the builder. An operator checks the widths of its operands and
//! records a `Fault` with the caller's source position; it never panics. `finish` makes all names legal and unique:
//! ports keep their names, inner names change.

use crate::netlist::names::{legal, Names};
use crate::netlist::*;
use num_traits::ToPrimitive;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::Location;

/// A module under construction.
pub struct ModuleBuilder {
    state: RefCell<State>,
}

struct State {
    module: Module,
    faults: Vec<Fault>,
}

/// A value of a module under construction.
#[derive(Clone, Copy)]
pub struct Sig<'m> {
    pub(super) m: &'m ModuleBuilder,
    pub(super) id: NodeId,
    pub(super) ty: Ty,
}

impl<'m> Sig<'m> {
    pub(super) fn new(m: &'m ModuleBuilder, id: NodeId, ty: Ty) -> Self {
        Sig { m, id, ty }
    }

    /// Node of the netlist.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// Type.
    pub fn ty(self) -> Ty {
        self.ty
    }

    /// Width in bits.
    pub fn w(self) -> u32 {
        self.ty.w
    }

    /// The module that contains it.
    pub fn module(self) -> &'m ModuleBuilder {
        self.m
    }
}

impl ModuleBuilder {
    pub(super) fn new(name: &str) -> Self {
        let module = Module {
            name: ModuleName(name.to_string()),
            template: "",
            doc: String::new(),
            nodes: vec![],
            inputs: vec![],
            outputs: vec![],
            insts: vec![],
            mems: vec![],
            asserts: vec![],
            attrs: vec![],
            port_attrs: BTreeMap::new(),
            port_order: vec![],
        };
        ModuleBuilder { state: RefCell::new(State { module, faults: vec![] }) }
    }

    /// The finished module with legal, unique names, and the recorded faults.
    pub(super) fn finish(self, clock: &str) -> (Module, Vec<Fault>) {
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

    /// Adds an attribute to the declaration of a port, or of the clock.
    pub fn port_attr(&self, port: &str, key: &str, value: impl Into<String>) {
        self.with(|m| m.port_attrs.entry(port.to_string()).or_default().push((key.to_string(), value.into())));
    }

    /// Adds an attribute to the module.
    pub fn module_attr(&self, key: &str, value: impl Into<String>) {
        self.with(|m| m.attrs.push((key.to_string(), value.into())));
    }

    /// Orders the existing ports by a key; ports without one stay in front.
    pub fn arrange<K: Ord>(&self, key: impl Fn(&str) -> Option<K>) {
        self.with(|m| {
            let inputs = m.inputs.iter().filter_map(|i| m.node(*i).name.clone());
            let ports = inputs.chain(m.outputs.iter().map(|o| o.0.clone()));
            let mut listed: Vec<(K, String)> = ports.filter_map(|name| Some((key(&name)?, name))).collect();
            listed.sort();
            m.port_order = listed.into_iter().map(|p| p.1).collect();
        });
    }

    pub(super) fn with<R>(&self, f: impl FnOnce(&mut Module) -> R) -> R {
        f(&mut self.state.borrow_mut().module)
    }

    #[track_caller]
    pub(super) fn fault(&self, kind: FaultKind, message: String) {
        let at = Location::caller().to_string();
        let mut s = self.state.borrow_mut();
        let module = s.module.name.0.clone();
        s.faults.push(Fault { module, kind, message, at });
    }

    #[track_caller]
    pub(super) fn add(&self, op: Op, ty: Ty, name: Option<String>) -> Sig<'_> {
        let ty = if ty.w == 0 {
            self.fault(FaultKind::Width, "a signal must have at least one bit".into());
            ty.with_width(1)
        } else {
            ty
        };
        let at = Location::caller();
        self.with(|m| {
            m.nodes.push(Node { op, ty, name, attrs: vec![], remark: None, hint: None, at });
            Sig::new(self, NodeId(m.nodes.len() as u32 - 1), ty)
        })
    }

    #[track_caller]
    pub(super) fn poison(&self, ty: Ty) -> Sig<'_> {
        self.add(Op::Poison, ty, None)
    }

    /// Header comment of the printed module: its job and its contract.
    pub fn doc(&self, text: impl Into<String>) {
        let text = text.into();
        self.with(|m| m.doc = text);
    }

    /// Input port. Its name changes only if it is not legal.
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
    pub(super) fn literal<T: ToPrimitive>(&self, v: &T, ty: Ty) -> Bits {
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
        if let Some(bit) = c.constant() {
            return if bit.is_zero() { e } else { t };
        }
        match (t.constant(), e.constant()) {
            (Some(a), Some(b)) if a == b => return t,
            (Some(a), Some(b)) if t.ty() == u(1) && c.ty() == u(1) => {
                return if a.is_zero() && !b.is_zero() { !c } else { c };
            }
            _ if t.id() == e.id() => return t,
            _ => {}
        }
        self.add(Op::Mux(c.id(), t.id(), e.id()), t.ty(), None)
    }

    /// Concatenation, most significant part first; unsigned. Joins adjacent slices of one signal and adjacent
    /// constants.
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

    /// `{hi, lo}` as one node if both are constants or adjacent slices.
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

    /// Concatenation of `n` copies of `sig`.
    #[track_caller]
    pub fn repeat<'m>(&'m self, sig: Sig<'m>, n: u32) -> Sig<'m> {
        self.concat(&vec![sig; n as usize])
    }
}
