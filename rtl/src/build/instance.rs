//! Instances of other modules, and grids of them. Handles are `Copy`; a second connection of a port is a fault.

use super::builder::{ModuleBuilder, Sig};
use crate::netlist::names::legal;
use crate::netlist::*;
use std::panic::Location;

/// An instance or a grid of instances.
#[derive(Clone, Copy)]
pub struct Instance<'m> {
    m: &'m ModuleBuilder,
    id: InstId,
}

impl<'m> Instance<'m> {
    fn inst<R>(self, f: impl FnOnce(&mut Inst) -> R) -> R {
        self.m.with(|m| f(&mut m.insts[self.id.0 as usize]))
    }

    #[track_caller]
    fn connect(self, port: &str, x: Sig<'m>, bus: bool) -> Self {
        let name = legal(port);
        let message = self.inst(|i| {
            let count = i.count();
            let module = i.module.clone();
            let Some((_, ty, conn)) = i.ins.iter_mut().find(|p| p.0 == name) else {
                return Some((FaultKind::Port, format!("module `{module}` has no input `{port}`")));
            };
            let want = if bus { ty.w * count } else { ty.w };
            if x.ty().w != want {
                let m = format!("input `{port}` of `{module}` wants {want} bits, connected to {}", x.ty());
                return Some((FaultKind::Width, m));
            }
            if *conn != Conn::Open {
                return Some((FaultKind::MultiplyDriven, format!("input `{port}` of `{}` connected twice", i.name)));
            }
            *conn = if bus { Conn::Bus(x.id()) } else { Conn::All(x.id()) };
            None
        });
        if let Some((kind, m)) = message {
            self.m.fault(kind, m);
        }
        self
    }

    /// Connects an input port. In a grid every element reads the same value.
    #[track_caller]
    pub fn set(self, port: &str, x: Sig<'m>) -> Self {
        self.connect(port, x, false)
    }

    /// Grids: connects an input port to a bus that holds element `p` at bits `p * w ..`.
    #[track_caller]
    pub fn set_bus(self, port: &str, bus: Sig<'m>) -> Self {
        self.connect(port, bus, true)
    }

    /// Grids: connects an input port to one value for each element (i, j).
    #[track_caller]
    pub fn set_each(self, port: &str, value: impl Fn(u32, u32) -> Sig<'m>) -> Self {
        let n = self.inst(|i| i.grid.unwrap_or([1, 1]));
        let mut parts = Vec::with_capacity((n[0] * n[1]) as usize);
        for p in (0..n[0] * n[1]).rev() {
            parts.push(value(p / n[1], p % n[1]));
        }
        let bus = self.m.concat(&parts);
        self.set_bus(port, bus)
    }

    /// Grids: connects input `to` of element (i, j) to output `from` of element (i - di, j - dj), or to `edge(i, j)` if
    /// that element is outside the grid.
    #[track_caller]
    pub fn link(self, from: &str, to: &str, offset: [i32; 2], edge: impl Fn(u32, u32) -> Sig<'m>) -> Self {
        let n = self.inst(|i| i.grid.unwrap_or([1, 1]));
        let bus = self.out(from);
        let w = bus.w() / (n[0] * n[1]);
        let source = |x: u32, d: i32, n: u32| {
            let v = i64::from(x) - i64::from(d);
            (0..i64::from(n)).contains(&v).then_some(v as u32)
        };
        self.set_each(to, |i, j| match (source(i, offset[0], n[0]), source(j, offset[1], n[1])) {
            (Some(si), Some(sj)) => bus.slice((si * n[1] + sj) * w, w),
            _ => edge(i, j),
        })
    }

    /// An output port. In a grid, the unsigned bus of all elements.
    #[track_caller]
    pub fn out(self, port: &str) -> Sig<'m> {
        let name = legal(port);
        let found = self.inst(|i| {
            let ty_of = |t: Ty| if i.grid.is_some() { u(t.w * i.count()) } else { t };
            let p = i.outs.iter().position(|o| o.0 == name)?;
            Some((p as u32, ty_of(i.outs[p].1), i.outs[p].2, format!("{}_{name}", i.name)))
        });
        match found {
            Some((_, ty, Some(id), _)) => Sig::new(self.m, id, ty),
            Some((p, ty, None, net)) => {
                let x = self.m.add(Op::InstOut(self.id, p), ty, Some(net));
                self.inst(|i| i.outs[p as usize].2 = Some(x.id()));
                x
            }
            None => {
                let module = self.inst(|i| i.module.clone());
                self.m.fault(FaultKind::Port, format!("module `{module}` has no output `{port}`"));
                self.m.poison(u(1))
            }
        }
    }

    /// Grids: output port of element (i, j), with the port's type.
    #[track_caller]
    pub fn out_at(self, port: &str, i: u32, j: u32) -> Sig<'m> {
        let bus = self.out(port);
        let n = self.inst(|x| x.grid.unwrap_or([1, 1]));
        let w = bus.w() / (n[0] * n[1]);
        let x = bus.slice((i * n[1] + j) * w, w);
        let name = legal(port);
        match self.inst(|x| x.outs.iter().find(|o| o.0 == name).map(|o| o.1)) {
            Some(t) if t.signed => x.signed(),
            _ => x,
        }
    }
}

impl ModuleBuilder {
    /// An instance of an elaborated module.
    #[track_caller]
    pub fn instance(&self, d: &Netlist, name: impl Into<String>, module: &ModuleName) -> Instance<'_> {
        self.add_instance(d, name.into(), module, None)
    }

    /// `n0 * n1` instances of a module, printed as one `generate` loop. Element (i, j) has index `p = i * n1 + j`; a
    /// bus holds it at bits `p * w ..`.
    #[track_caller]
    pub fn grid(&self, d: &Netlist, name: impl Into<String>, module: &ModuleName, n: [u32; 2]) -> Instance<'_> {
        if n[0] == 0 || n[1] == 0 {
            self.fault(FaultKind::Port, "a grid needs at least one element".into());
        }
        self.add_instance(d, name.into(), module, Some([n[0].max(1), n[1].max(1)]))
    }

    #[track_caller]
    fn add_instance(&self, d: &Netlist, name: String, module: &ModuleName, grid: Option<[u32; 2]>) -> Instance<'_> {
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
