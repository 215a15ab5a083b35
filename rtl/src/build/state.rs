//! Wires, registers and memories. A template completes them after it creates them. Their handles are `Copy`; a second
//! driver, enable, reset or initial value is a fault.

use super::builder::{ModuleBuilder, Sig};
use crate::netlist::*;
use num_traits::ToPrimitive;
use std::panic::Location;

/// A net whose one driver follows later.
#[derive(Clone, Copy)]
pub struct Wire<'m>(Sig<'m>);

impl<'m> Wire<'m> {
    /// The value.
    pub fn sig(self) -> Sig<'m> {
        self.0
    }

    /// Sets the driver, which has the wire's type; once.
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

/// A register. At the clock edge the reset wins over the enable.
#[derive(Clone, Copy)]
pub struct Reg<'m>(Sig<'m>);

impl<'m> Reg<'m> {
    /// The present value.
    pub fn q(self) -> Sig<'m> {
        self.0
    }

    /// Stores a part of the register in the field that `place` returns.
    #[track_caller]
    fn set<T>(self, what: &str, value: T, place: impl FnOnce(&mut Op) -> Option<&mut Option<T>>) -> Self {
        let m = self.0.module();
        let node = self.0.id().0 as usize;
        if m.with(|x| place(&mut x.nodes[node].op).is_some_and(|p| p.replace(value).is_some())) {
            m.fault(FaultKind::MultiplyDriven, format!("{what} of a register is set twice"));
        }
        self
    }

    /// Sets the value to load at the clock edge, which has the register's type.
    #[track_caller]
    pub fn next(self, d: Sig<'m>) -> Self {
        if d.ty() != self.0.ty() {
            let message = format!("register of type {} loads {}", self.0.ty(), d.ty());
            self.0.module().fault(FaultKind::Width, message);
        }
        self.set("next value", d.id(), |op| match op {
            Op::Reg { next, .. } => Some(next),
            _ => None,
        })
    }

    /// Loads only if `e` (`u1`) is set.
    #[track_caller]
    pub fn en(self, e: Sig<'m>) -> Self {
        self.one_bit(e, "enable");
        self.set("enable", e.id(), |op| match op {
            Op::Reg { en, .. } => Some(en),
            _ => None,
        })
    }

    /// Synchronous reset to the constant `v` if `r` (`u1`) is set.
    #[track_caller]
    pub fn rst<T: ToPrimitive>(self, r: Sig<'m>, v: T) -> Self {
        self.one_bit(r, "reset");
        let b = self.0.module().literal(&v, self.0.ty());
        self.set("reset", (r.id(), b), |op| match op {
            Op::Reg { rst, .. } => Some(rst),
            _ => None,
        })
    }

    /// Sets the value after configuration of the device, for a register that must survive every reset.
    #[track_caller]
    pub fn init<T: ToPrimitive>(self, v: T) -> Self {
        let b = self.0.module().literal(&v, self.0.ty());
        self.set("initial value", b, |op| match op {
            Op::Reg { init, .. } => Some(init),
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
    m: &'m ModuleBuilder,
    id: MemId,
    width: u32,
    addr: Ty,
}

impl<'m> Memory<'m> {
    /// Type of an address: `clog2(depth)` bits, unsigned.
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

    /// All its words are zero before the first clock edge. A reset does not clear them.
    pub fn zeroed(self) -> Self {
        self.m.with(|m| m.mems[self.id.0 as usize].zeroed = true);
        self
    }

    /// Writes `data` to `addr` at the clock edge if `en` is set.
    #[track_caller]
    pub fn write(self, en: Sig<'m>, addr: Sig<'m>, data: Sig<'m>) {
        self.add_write(en, addr, data, None);
    }

    /// Like `write`, but only those lanes of `lane_width` bits whose bit in `lane_mask` is set.
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
            if self.m.with(|m| !m.mems[self.id.0 as usize].content.is_empty()) {
                self.m.fault(FaultKind::MultiplyDriven, "a read-only memory is written".into());
                return;
            }
            let port = WritePort { en: en.id(), addr: addr.id(), data: data.id(), lanes, at: Location::caller() };
            self.m.with(|m| m.mems[self.id.0 as usize].writes.push(port));
        }
    }

    /// Registered read: loads the content of `addr` before the clock edge if `en` is set.
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

impl ModuleBuilder {
    /// A named net. `Wire::drive` sets its driver later.
    #[track_caller]
    pub fn wire(&self, name: impl Into<String>, ty: Ty) -> Wire<'_> {
        Wire(self.add(Op::Wire { driver: None }, ty, Some(name.into())))
    }

    /// A register. Its value `q()` can be used before `next` is set.
    #[track_caller]
    pub fn reg(&self, name: impl Into<String>, ty: Ty) -> Reg<'_> {
        Reg(self.add(Op::Reg { next: None, en: None, rst: None, init: None }, ty, Some(name.into())))
    }

    /// Asserts that `holds` is set in every cycle without `rst` after the first reset. Simulation reports violations
    /// ([`crate::sim::Sim::take_broken`]); the assertion is not part of the hardware.
    #[track_caller]
    pub fn assert<'m>(&'m self, rst: Sig<'m>, text: impl Into<String>, holds: Sig<'m>) {
        let sticky = |set: Sig<'m>| {
            let reg = Reg(self.add(Op::Reg { next: None, en: None, rst: None, init: None }, u(1), None)).init(0);
            reg.next(reg.q() | set).q()
        };
        let was_reset = sticky(rst);
        let broken = sticky(was_reset & !rst & !holds).id();
        self.with(|m| m.asserts.push(Assert { text: text.into(), broken }));
    }

    /// `sig` delayed by `n` free-running registers `name_1 … name_n` (`name` for n = 1).
    #[track_caller]
    pub fn delay<'m>(&'m self, sig: Sig<'m>, n: u32, name: impl AsRef<str>) -> Sig<'m> {
        self.shift_register(sig, n, name, None).last().copied().unwrap_or(sig)
    }

    /// Like `delay`, but shifts only if `en` is set.
    #[track_caller]
    pub fn delay_en<'m>(&'m self, sig: Sig<'m>, n: u32, name: impl AsRef<str>, en: Sig<'m>) -> Sig<'m> {
        self.shift_register(sig, n, name, Some(en)).last().copied().unwrap_or(sig)
    }

    /// All taps of a chain of `n` registers: element `k` is `sig` delayed by `k + 1` cycles.
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

    /// A memory of `depth` words of `width` bits. An address has `clog2(depth)` bits.
    #[track_caller]
    pub fn mem(&self, name: impl Into<String>, depth: u32, width: u32, style: MemStyle) -> Memory<'_> {
        if depth == 0 || width == 0 {
            self.fault(FaultKind::Width, "a memory needs at least one word of one bit".into());
        }
        let (depth, width) = (depth.max(1), width.max(1));
        self.add_mem(Mem {
            name: name.into(),
            depth,
            width,
            style,
            writes: vec![],
            content: vec![],
            zeroed: false,
            at: Location::caller(),
        })
    }

    /// A read-only memory of `depth` words: `words` from address 0, then zeros.
    #[track_caller]
    pub fn rom(&self, name: impl Into<String>, depth: u32, words: &[Bits], style: MemStyle) -> Memory<'_> {
        let width = words.first().map_or(0, Bits::width);
        if width == 0 || words.len() > depth as usize || words.iter().any(|w| w.width() != width) {
            self.fault(
                FaultKind::Width,
                format!("{} words of one width are no content for {depth} words", words.len()),
            );
        }
        let mem = Mem {
            name: name.into(),
            depth: depth.max(1),
            width: width.max(1),
            style,
            writes: vec![],
            content: words.to_vec(),
            zeroed: false,
            at: Location::caller(),
        };
        self.add_mem(mem)
    }

    fn add_mem(&self, mem: Mem) -> Memory<'_> {
        let (width, depth) = (mem.width, mem.depth);
        let id = self.with(|m| {
            m.mems.push(mem);
            MemId(m.mems.len() as u32 - 1)
        });
        Memory { m: self, id, width, addr: u(clog2(u64::from(depth))) }
    }
}
