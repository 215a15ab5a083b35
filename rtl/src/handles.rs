//! Handles of things that are completed after they are created: wires, registers, memories,
//! instances and grids. All are `Copy`; giving the same thing twice is a fault.

use crate::builder::ModuleBuilder;
use crate::fault::FaultKind;
use crate::ir::*;
use crate::names::legal;
use crate::sig::Sig;
use crate::ty::{u, Ty};
use num_traits::ToPrimitive;
use std::panic::Location;

/// A net with one driver, given later.
#[derive(Clone, Copy)]
pub struct Wire<'m>(pub(crate) Sig<'m>);

impl<'m> Wire<'m> {
    /// Its value.
    pub fn sig(self) -> Sig<'m> {
        self.0
    }

    /// Gives the driver; exactly once, of the wire's type.
    #[track_caller]
    pub fn drive(self, d: Sig<'m>) {
        let m = self.0.module();
        if d.ty() != self.0.ty() {
            m.fault(FaultKind::Width, format!("wire of type {} driven by {}", self.0.ty(), d.ty()));
            return;
        }
        let twice = m.with(|x| match &mut x.nodes[self.0.id().0 as usize].op {
            Op::Wire { driver } => driver.replace(d.id()).is_some(),
            _ => false,
        });
        if twice {
            m.fault(FaultKind::MultiplyDriven, "wire driven twice".into());
        }
    }
}

/// A register: at the clock edge reset first, then enable.
#[derive(Clone, Copy)]
pub struct Reg<'m>(pub(crate) Sig<'m>);

impl<'m> Reg<'m> {
    /// Its present value.
    pub fn q(self) -> Sig<'m> {
        self.0
    }

    /// Stores a part of the register in the place `f` picks.
    #[track_caller]
    fn give<T>(self, what: &str, value: T, place: impl FnOnce(&mut Op) -> Option<&mut Option<T>>) -> Self {
        let m = self.0.module();
        let node = self.0.id().0 as usize;
        if m.with(|x| place(&mut x.nodes[node].op).is_some_and(|p| p.replace(value).is_some())) {
            m.fault(FaultKind::MultiplyDriven, format!("{what} of a register given twice"));
        }
        self
    }

    /// The value loaded at the clock edge; of the register's type.
    #[track_caller]
    pub fn next(self, d: Sig<'m>) -> Self {
        if d.ty() != self.0.ty() {
            let message = format!("register of type {} loads {}", self.0.ty(), d.ty());
            self.0.module().fault(FaultKind::Width, message);
        }
        self.give("next value", d.id(), |op| match op {
            Op::Reg { next, .. } => Some(next),
            _ => None,
        })
    }

    /// Loads only while `e` (`u1`) is set.
    #[track_caller]
    pub fn en(self, e: Sig<'m>) -> Self {
        self.one_bit(e, "enable");
        self.give("enable", e.id(), |op| match op {
            Op::Reg { en, .. } => Some(en),
            _ => None,
        })
    }

    /// Synchronous reset to the constant `v` while `r` (`u1`) is set; wins over the enable.
    #[track_caller]
    pub fn rst<T: ToPrimitive>(self, r: Sig<'m>, v: T) -> Self {
        self.one_bit(r, "reset");
        let b = self.0.module().literal(&v, self.0.ty());
        self.give("reset", (r.id(), b), |op| match op {
            Op::Reg { rst, .. } => Some(rst),
            _ => None,
        })
    }

    #[track_caller]
    fn one_bit(self, x: Sig<'m>, what: &str) {
        if x.ty().w != 1 {
            self.0.module().fault(FaultKind::Width, format!("{what} is {}, expected u1", x.ty()));
        }
    }
}

/// A memory with write ports and read ports on the one clock.
#[derive(Clone, Copy)]
pub struct Memory<'m> {
    pub(crate) m: &'m ModuleBuilder,
    pub(crate) id: MemId,
    pub(crate) width: u32,
    pub(crate) addr: Ty,
}

impl<'m> Memory<'m> {
    /// Type of its addresses: `clog2(depth)` bits, unsigned.
    pub fn addr_ty(self) -> Ty {
        self.addr
    }

    /// Width of a word in bits.
    pub fn width(self) -> u32 {
        self.width
    }

    #[track_caller]
    fn check(self, what: &str, x: Sig<'m>, w: u32) -> bool {
        if x.ty().w != w {
            self.m.fault(FaultKind::Width, format!("memory {what} is {}, expected {w} bits", x.ty()));
        }
        x.ty().w == w
    }

    /// Writes `data` to `addr` at the clock edge while `en` is set.
    #[track_caller]
    pub fn write(self, en: Sig<'m>, addr: Sig<'m>, data: Sig<'m>) {
        self.add_write(en, addr, data, None);
    }

    /// Like `write`, for those lanes of `lane_width` bits whose bit in `lane_mask` is set.
    #[track_caller]
    pub fn write_masked(self, en: Sig<'m>, addr: Sig<'m>, data: Sig<'m>, lane_mask: Sig<'m>, lane_width: u32) {
        if lane_width == 0 || lane_mask.w() * lane_width != self.width {
            let message = format!("{} lanes of {lane_width} bits in words of {}", lane_mask.w(), self.width);
            self.m.fault(FaultKind::Width, message);
            return;
        }
        self.add_write(en, addr, data, Some((lane_mask.id(), lane_width)));
    }

    #[track_caller]
    fn add_write(self, en: Sig<'m>, addr: Sig<'m>, data: Sig<'m>, lanes: Option<(NodeId, u32)>) {
        let ok = self.check("write enable", en, 1)
            & self.check("address", addr, self.addr.w)
            & self.check("write data", data, self.width);
        if ok {
            let port = WritePort { en: en.id(), addr: addr.id(), data: data.id(), lanes, at: Location::caller() };
            self.m.with(|m| m.mems[self.id.0 as usize].writes.push(port));
        }
    }

    /// Registered read: loads the old content of `addr` at the clock edge while `en` is set.
    #[track_caller]
    pub fn read_sync(self, name: impl Into<String>, en: Sig<'m>, addr: Sig<'m>) -> Sig<'m> {
        if !(self.check("read enable", en, 1) & self.check("address", addr, self.addr.w)) {
            return self.m.poison(u(self.width));
        }
        let op = Op::ReadSync { mem: self.id, addr: addr.id(), en: en.id() };
        self.m.add(op, u(self.width), Some(name.into()))
    }

    /// Combinational read (LUTRAM).
    #[track_caller]
    pub fn read_async(self, name: impl Into<String>, addr: Sig<'m>) -> Sig<'m> {
        if !self.check("address", addr, self.addr.w) {
            return self.m.poison(u(self.width));
        }
        self.m.add(Op::ReadAsync { mem: self.id, addr: addr.id() }, u(self.width), Some(name.into()))
    }
}

/// An instance or a grid of instances.
#[derive(Clone, Copy)]
pub struct Instance<'m> {
    pub(crate) m: &'m ModuleBuilder,
    pub(crate) id: InstId,
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

    /// Connects an input port; for a grid, the same value to every element.
    #[track_caller]
    pub fn set(self, port: &str, x: Sig<'m>) -> Self {
        self.connect(port, x, false)
    }

    /// Grids: connects an input port to a bus with element `p` at bits `p * w ..`.
    #[track_caller]
    pub fn set_bus(self, port: &str, bus: Sig<'m>) -> Self {
        self.connect(port, bus, true)
    }

    /// Grids: connects an input port with a value for each element (i, j).
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

    /// Grids: input `to` of element (i, j) is output `from` of element (i - di, j - dj), or
    /// `edge(i, j)` where that is outside the grid.
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

    /// An output port; for a grid the bus of all elements, unsigned.
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
