//! Tracker of the open bursts of a DMA engine: counts them, reports error answers, and decides what a reset waits for.
//!
//! There are two resets. `ap_rst_n` is the reset of the bus: the memory forgets its bursts in the same cycle, so the
//! engine does, too. The soft reset stops the IP alone, and the memory goes on: the engine keeps the address that it
//! offers, completes its open bursts, and opens no new one. It is itself reset when no burst is open.
//!
//! A ring buffer holds the addresses of the last bursts, for error reports. The address of an older burst is unknown.

use super::bundle::Bus;
use super::elastic::hold;
use crate::naming::memory_style;
use crate::port::Port;
use rtl::{clog2, u, ModuleBuilder, Sig};

/// Reset signals of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard<S> {
    /// Reset of the core, synchronous, active high: held until no burst is open and the array is empty. High from the
    /// cycle after `live` was 0.
    pub rst: S,
    /// `ap_rst_n`: while it is 0, all bursts are forgotten.
    pub live: S,
}

impl<S> Guard<S> {
    pub fn map<T>(&self, f: impl Fn(&S) -> T) -> Guard<T> {
        Guard { rst: f(&self.rst), live: f(&self.live) }
    }
}

impl Guard<Port> {
    pub fn ports() -> Self {
        let [rst, live] = ["rst", "live"].map(Port::bit);
        Guard { rst, live }
    }
}

impl<'m> Guard<Sig<'m>> {
    /// Builds the count of open bursts, `bits` wide, and what follows from it. `offered`: an address or data are on their
    /// channel.
    pub(crate) fn bursts(&self, m: &'m ModuleBuilder, bits: u32, offered: Sig<'m>) -> Bursts<'m> {
        let open = m.reg("bursts_open", u(bits)).rst(!self.live, 0);
        // A register of its own, so that nothing compares before what it decides.
        let some_reg = m.reg("some_open", u(1)).rst(!self.live, 0);
        let some = some_reg.q();
        let busy = (some | offered).called("bus_busy");
        let reset = (self.rst & !busy).named("reset");
        Bursts {
            open,
            some_reg,
            some,
            quiet: !busy,
            reset,
            forget: (reset | !self.live).named("forget"),
            ends: (self.rst & busy).named("ends_bursts"),
            many: open.q().msb(),
        }
    }
}

/// The open bursts of an engine, from the first cycle of their address on its channel to the last answer.
pub(crate) struct Bursts<'m> {
    open: rtl::Reg<'m>,
    some_reg: rtl::Reg<'m>,
    /// A burst was open at the last clock edge. Answers without an open burst are ignored.
    pub some: Sig<'m>,
    /// No burst is open and nothing is offered.
    pub quiet: Sig<'m>,
    /// Reset of the engine.
    pub reset: Sig<'m>,
    /// Reset of the registers in front of the bus, at once.
    pub forget: Sig<'m>,
    /// A soft reset has come: open bursts are completed and no new one begins.
    pub ends: Sig<'m>,
    /// The upper half of the count is reached.
    pub many: Sig<'m>,
}

/// What happens to bursts in a cycle.
pub(crate) struct Events<'m> {
    /// A burst is opened, at this address in words of the bus.
    pub opened: Sig<'m>,
    pub address: Sig<'m>,
    /// A beat or response of the oldest burst is taken, with this code; `ended`: it is the last one.
    pub answered: Sig<'m>,
    pub response: Sig<'m>,
    pub ended: Sig<'m>,
}

/// Status outputs of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<S> {
    pub bus: Bus,
    /// No burst is open.
    pub quiet: S,
    /// Pulse: a row outside of its array is left out.
    pub outside: S,
    /// Pulse, a cycle after an answer with an error.
    pub failed: S,
    /// RRESP or BRESP of that answer, 2 bits.
    pub response: S,
    /// `address` is valid.
    pub known: S,
    /// Address of the burst, in words of the bus.
    pub address: S,
}

impl Report<Port> {
    pub fn ports(bus: Bus) -> Self {
        Report {
            bus,
            quiet: Port::bit("quiet"),
            outside: Port::bit("outside"),
            failed: Port::bit("failed"),
            response: Port::new("failed_response", u(2)),
            known: Port::bit("failed_known"),
            address: Port::new("failed_address", u(bus.address_bits - bus.bytes.trailing_zeros())),
        }
    }
}

/// Builds the tracker with the addresses of the last `depth` bursts; `depth` is a power of two.
pub(crate) fn watch<'m>(
    m: &'m ModuleBuilder,
    report: &Report<Port>,
    rst: Sig<'m>,
    bursts: Bursts<'m>,
    events: Events<'m>,
    depth: u32,
) {
    let Bursts { open, some_reg, some, quiet, reset, .. } = bursts;
    // The wires may hold anything while the memory is in its own reset.
    let (answered, ended) = (
        (some & events.answered).called("burst_answered"),
        (some & events.answered & events.ended).called("burst_ended"),
    );
    let changes = events.opened ^ ended;
    some_reg.next(events.opened | open.q().ne_lit(1)).en(changes);
    open.next(m.mux(events.opened, open.q().add_lit(1), open.q().sub_lit(1))).en(changes);
    report.quiet.output(m, quiet);

    let ring =
        m.mem("burst_addresses", depth, events.address.w(), memory_style(depth.into(), events.address.w(), false));
    let at = |name: &str, en: Sig<'m>| {
        let at = m.reg(name, u(clog2(u64::from(depth))));
        at.next(at.q().add_lit(1)).en(en).rst(reset, 0).q()
    };
    let (newest, oldest) = (at("burst_newest", events.opened), at("burst_oldest", ended));
    ring.write(events.opened, newest, events.address);
    let failed = (answered & events.response.msb() & !rst).named("fails");
    report.failed.output(m, m.reg("failed_q", u(1)).next(failed).rst(rst, 0).q());
    report.response.output(m, hold(m, "failed_response_q", failed, events.response));
    report.known.output(m, hold(m, "failed_known_q", failed, open.q().le(m.lit(depth, open.q().ty()))));
    report.address.output(m, ring.read_sync("failed_address_q", failed, oldest));
}
