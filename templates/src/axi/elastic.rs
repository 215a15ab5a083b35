//! Parts of elastic pipelines: register slice, skid buffer, FIFOs; and packing of several signals into one.
//!
//! | part | what it is | latency in cycles | `ready` or `room` |
//! | --- | --- | --- | --- |
//! | [`stage`] | register slice, one place | 1 | combinational in `next`, never in `offered` |
//! | [`Skid`] | skid buffer, two places, in front of a bus channel | 1 | from a register |
//! | [`fifo`] | FIFO in LUTRAM | 1 | from a register |
//! | [`deep_fifo`] | FIFO of any size with a register at its head, or two | 2 or 3 | from a register |
//!
//! All have full throughput. The latency is the least: an item that enters in cycle `t` can leave in `t + latency`.

use crate::naming::memory_style;
use rtl::{clog2, u, MemStyle, ModuleBuilder, Reg, Sig, Ty, Wire};

/// Whether an item may leave a stage: it may if `early`, and if `gate` and `late`. All stages of a pipeline have the same
/// `late`, which comes from its end, and the rest are functions of registers. So a stage is two gates behind the end of the
/// pipeline, however many stages lie between.
#[derive(Clone, Copy)]
pub(crate) struct Ready<'m> {
    early: Option<Sig<'m>>,
    gate: Option<Sig<'m>>,
    late: Sig<'m>,
}

impl<'m> Ready<'m> {
    pub fn new(late: Sig<'m>) -> Self {
        Ready { early: None, gate: None, late }
    }
    pub fn or(self, other: Sig<'m>) -> Self {
        Ready { early: Some(self.early.map_or(other, |early| other | early)), ..self }
    }
    pub fn and(self, other: Sig<'m>) -> Self {
        let gate = Some(self.gate.map_or(other, |gate| gate & other));
        Ready { early: self.early.map(|early| early & other), gate, late: self.late }
    }
    pub fn sig(self) -> Sig<'m> {
        let late = self.gate.map_or(self.late, |gate| gate & self.late);
        self.early.map_or(late, |early| early | late)
    }
}

/// A [`Ready`] that is driven later.
pub(crate) struct ReadyWire<'m> {
    m: &'m ModuleBuilder,
    early: Wire<'m>,
    gate: Wire<'m>,
    late: Sig<'m>,
}

impl<'m> ReadyWire<'m> {
    pub fn new(m: &'m ModuleBuilder, name: &str, late: Sig<'m>) -> Self {
        let wire = |part: &str| m.wire(format!("{name}_{part}"), u(1));
        ReadyWire { m, early: wire("early"), gate: wire("gate"), late }
    }
    pub fn ready(&self) -> Ready<'m> {
        Ready { early: Some(self.early.sig()), gate: Some(self.gate.sig()), late: self.late }
    }
    pub fn sig(&self) -> Sig<'m> {
        self.ready().sig()
    }
    /// `ready` has the same `late`.
    pub fn drive(self, ready: Ready<'m>) {
        self.early.drive(ready.early.unwrap_or(self.m.lit(0, u(1))));
        self.gate.drive(ready.gate.unwrap_or(self.m.lit(1, u(1))));
    }
}

/// A register slice.
pub(crate) struct Stage<'m> {
    pub valid: Sig<'m>,
    pub ready: Ready<'m>,
    /// Enable of the payload registers.
    pub load: Sig<'m>,
}

pub(crate) fn stage<'m>(
    m: &'m ModuleBuilder,
    name: &str,
    rst: Sig<'m>,
    offered: Sig<'m>,
    next: Ready<'m>,
) -> Stage<'m> {
    let valid = m.reg(format!("{name}_valid"), u(1));
    let ready = next.or(!valid.q());
    let moves = ready.sig().named(format!("{name}_ready"));
    valid.next(offered).en(moves).rst(rst, 0);
    Stage { valid: valid.q(), ready, load: (offered & moves).named(format!("{name}_load")) }
}

/// Skid buffer in front of a channel of a bus. VALID is a register.
pub(crate) struct Skid<'m> {
    name: &'static str,
    valid: Reg<'m>,
    second: Reg<'m>,
    /// An item may be loaded.
    pub room: Sig<'m>,
}

impl<'m> Skid<'m> {
    pub fn new(m: &'m ModuleBuilder, name: &'static str) -> Self {
        let (valid, second) = (m.reg(format!("{name}_valid"), u(1)), m.reg(format!("{name}_second"), u(1)));
        let room = (!second.q()).named(format!("{name}_room"));
        Skid { name, valid, second, room }
    }

    /// Offers the loaded items in order, each until the bus has `taken` it. Returns valid and the parts of the item.
    /// `drop` removes items that are not offered yet. The caller loads only with `room`.
    pub fn offer(
        self,
        m: &'m ModuleBuilder,
        rst: Sig<'m>,
        load: Sig<'m>,
        parts: &[(&str, Sig<'m>)],
        taken: Sig<'m>,
        drop: Option<Sig<'m>>,
    ) -> (Sig<'m>, Vec<Sig<'m>>) {
        let Skid { name, valid, second, room } = self;
        let free = (!valid.q() | taken).named(format!("{name}_free"));
        let stays = |s: Sig<'m>| drop.map_or(s, |u| s & !u);
        m.assert(rst, format!("skid buffer {name} has room for what it loads"), !load | room);
        let moves = load | free;
        valid.next(stays(load | second.q())).en(free).rst(rst, 0);
        second.next(stays(load & !free)).en(drop.map_or(moves, |u| moves | u)).rst(rst, 0);
        let place = |(part, value): &(&str, Sig<'m>)| {
            let waiting = hold(m, format!("{name}_second_{part}"), room, *value);
            hold(m, format!("{name}_{part}"), free, m.mux(second.q(), waiting, *value))
        };
        (valid.q(), parts.iter().map(place).collect())
    }
}

/// A register with enable and without reset.
pub(crate) fn hold<'m>(m: &'m ModuleBuilder, name: impl Into<String>, en: Sig<'m>, next: Sig<'m>) -> Sig<'m> {
    m.reg(name.into(), next.ty()).next(next).en(en).q()
}

/// In the cycle of the `start` pulse, what was there in the cycle before.
pub(crate) fn at_start<'m>(m: &'m ModuleBuilder, name: &str, value: Sig<'m>) -> Sig<'m> {
    m.reg(format!("{name}_at_start"), value.ty()).next(value).q()
}

/// A record of signals that passes through FIFOs and registers as one.
pub(crate) trait Fields<'m>: Clone {
    /// Calls `see` with the name of each signal and the signal.
    fn each(&mut self, see: &mut dyn FnMut(String, &mut Sig<'m>));

    fn packed(&self, m: &'m ModuleBuilder) -> Sig<'m> {
        let mut parts = vec![];
        self.clone().each(&mut |_, s| parts.push(*s));
        pack(m, &parts)
    }

    /// The inverse of [`Fields::packed`], for signals of the types of `self`.
    fn unpacked(&self, whole: Sig<'m>) -> Self {
        let (mut fields, mut top) = (self.clone(), whole.w());
        fields.each(&mut |_, s| {
            top -= s.w();
            *s = whole.slice(top, s.w()).to(s.ty());
        });
        fields
    }

    /// Registers with enable `en`.
    fn held(&self, m: &'m ModuleBuilder, role: &str, en: Sig<'m>) -> Self {
        let mut fields = self.clone();
        fields.each(&mut |name, s| *s = hold(m, format!("{role}_{name}"), en, *s));
        fields
    }
}

pub(crate) struct Fifo<'m> {
    /// The head can be taken.
    pub valid: Sig<'m>,
    pub head: Sig<'m>,
    /// It holds an item.
    pub some: Sig<'m>,
    /// An item may be pushed.
    pub room: Sig<'m>,
}

/// `depth` is a power of two. The caller pushes only with `room` (or counts the places itself) and pops only with
/// `valid`.
pub(crate) fn fifo<'m>(
    m: &'m ModuleBuilder,
    name: &str,
    depth: u32,
    rst: Sig<'m>,
    push: Sig<'m>,
    data: Sig<'m>,
    pop: Sig<'m>,
) -> Fifo<'m> {
    let push = push.named(format!("{name}_push"));
    let mem = m.mem(format!("{name}_mem"), depth, data.w(), MemStyle::Distributed);
    let at = clog2(u64::from(depth));
    let (tail, head) = (m.reg(format!("{name}_tail"), u(at)), m.reg(format!("{name}_head"), u(at)));
    tail.next(tail.q().add_lit(1)).en(push).rst(rst, 0);
    head.next(head.q().add_lit(1)).en(pop).rst(rst, 0);
    mem.write(push, tail.q(), data);
    let item = mem.read_async(format!("{name}_item"), head.q()).to(data.ty());
    let some = some_stored(m, name, rst, [head.q(), tail.q()], [push, pop]);
    let full = m.reg(format!("{name}_full"), u(1));
    let last_place = tail.q().add_lit(1).eq(head.q());
    full.next(!pop & (full.q() | (push & last_place))).rst(rst, 0);
    Fifo { valid: some, head: item, some, room: !full.q() }
}

/// Whether the memory of a FIFO with these pointers holds an item. A register, so that no comparison stands before what it
/// decides.
fn some_stored<'m>(
    m: &'m ModuleBuilder,
    name: &str,
    rst: Sig<'m>,
    [head, tail]: [Sig<'m>; 2],
    [push, pop]: [Sig<'m>; 2],
) -> Sig<'m> {
    let some = m.reg(format!("{name}_some"), u(1));
    let last = head.add_lit(1).eq(tail).named(format!("{name}_one"));
    some.next(push | (some.q() & !(pop & last))).rst(rst, 0).q()
}

/// The fill of a buffer.
pub(crate) struct Level<'m> {
    pub some: Sig<'m>,
    pub full: Sig<'m>,
}

/// What the places of a buffer hold at first.
pub(crate) enum Filled<'m> {
    /// From each start on: all places are `full`, or none is.
    Start { start: Sig<'m>, full: bool },
    /// From the reset on, so many; a start changes nothing.
    Reset(u32),
}

/// The fill of a buffer of two places: a bit for each.
pub(crate) fn two_places<'m>(
    m: &'m ModuleBuilder,
    name: String,
    rst: Sig<'m>,
    filled: &Filled<'m>,
    [up, down]: [Sig<'m>; 2],
) -> Level<'m> {
    let places = m.reg(name, u(2));
    let (first, second) = (places.q().bit(0), places.q().bit(1));
    let one = m.lit(1, u(1));
    let moved = m.mux(up, m.concat(&[first, one]), m.concat(&[m.lit(0, u(1)), second]));
    let bits = |count: u32| (1u64 << count) - 1;
    match *filled {
        Filled::Start { start, full } => {
            let all = m.lit(bits(if full { 2 } else { 0 }), u(2));
            places.next(m.mux(start, all, moved)).en(start | (up ^ down)).rst(rst, 0);
        }
        Filled::Reset(count) => _ = places.next(moved).en(up ^ down).rst(rst, bits(count)),
    }
    Level { some: first, full: second }
}

/// The places of a [`deep_fifo`].
pub(crate) struct Deep {
    /// A power of two.
    pub places: u32,
    /// Logic decides by the head, so a register stands between it and the output of the memory: a block RAM's comes late.
    pub slice: bool,
}

/// As [`fifo`], but the memory is read into a register, so it may be block RAM. The registers behind it are some of the
/// places.
pub(crate) fn deep_fifo<'m>(
    m: &'m ModuleBuilder,
    name: &str,
    deep: Deep,
    rst: Sig<'m>,
    push: Sig<'m>,
    data: Sig<'m>,
    pop: Sig<'m>,
) -> Fifo<'m> {
    let push = push.named(format!("{name}_push"));
    let Deep { places: depth, slice } = deep;
    let mem = m.mem(format!("{name}_mem"), depth, data.w(), memory_style(depth.into(), data.w(), false));
    let at = clog2(u64::from(depth));
    let read = m.reg(format!("{name}_valid"), u(1));
    let slice = slice.then(|| stage(m, &format!("{name}_slice"), rst, read.q(), Ready::new(pop)));
    let moves = slice.as_ref().map_or(pop, |slice| slice.load);
    let (tail, head) = (m.reg(format!("{name}_tail"), u(at)), m.reg(format!("{name}_head"), u(at)));
    let fetch = m.wire(format!("{name}_fetch"), u(1));
    let stored = some_stored(m, name, rst, [head.q(), tail.q()], [push, fetch.sig()]);
    fetch.drive((!read.q() | moves) & stored);
    let fetch = fetch.sig();
    read.next(stored | (read.q() & !moves)).rst(rst, 0);
    tail.next(tail.q().add_lit(1)).en(push).rst(rst, 0);
    head.next(head.q().add_lit(1)).en(fetch).rst(rst, 0);
    mem.write(push, tail.q(), data);
    let item = mem.read_sync(format!("{name}_item"), fetch, head.q()).to(data.ty());
    let (count, full) = (m.reg(format!("{name}_count"), u(at + 1)), m.reg(format!("{name}_full"), u(1)));
    let changes = push ^ pop;
    count.next(m.mux(push, count.q().add_lit(1), count.q().sub_lit(1))).en(changes).rst(rst, 0);
    full.next(push & count.q().eq_lit(depth - 1)).en(changes).rst(rst, 0);
    let some = read.q() | stored;
    match slice {
        Some(slice) => {
            let head = hold(m, format!("{name}_slice"), slice.load, item);
            Fifo { valid: slice.valid, head, some: slice.valid | some, room: !full.q() }
        }
        None => Fifo { valid: read.q(), head: item, some, room: !full.q() },
    }
}

/// Concatenates signals, the first in the highest bits.
pub(crate) fn pack<'m>(m: &'m ModuleBuilder, parts: &[Sig<'m>]) -> Sig<'m> {
    m.concat(&parts.iter().map(|p| p.unsigned()).collect::<Vec<_>>())
}

/// The inverse of [`pack`].
pub(crate) fn unpack<'m>(whole: Sig<'m>, types: &[Ty]) -> Vec<Sig<'m>> {
    let mut top = whole.w();
    types
        .iter()
        .map(|t| {
            top -= t.w;
            whole.slice(top, t.w).to(*t)
        })
        .collect()
}

/// The value of the set bit of the one-hot `group`; the first value if there is only one.
pub(crate) fn choose<'m>(m: &'m ModuleBuilder, group: &[Sig<'m>], values: &[Sig<'m>]) -> Sig<'m> {
    let same = values.len() == 1 || group.len() == 1;
    if same {
        return values[0];
    }
    let cases: Vec<_> = group.iter().copied().zip(values.iter().copied()).skip(1).collect();
    m.select(&cases, values[0])
}

/// `v` modulo the type's width.
pub(crate) fn constant<'m>(m: &'m ModuleBuilder, v: i64, ty: Ty) -> Sig<'m> {
    let fill = if v < 0 { u64::MAX } else { 0 };
    m.lit_big(&[v as u64, fill, fill, fill], ty)
}
