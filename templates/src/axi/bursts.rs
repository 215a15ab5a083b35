//! Tracker of the open bursts of a DMA engine: counts them, reports error answers, and decides what a reset waits for.
//!
//! The memory goes on answering when only the IP is reset. So `ap_rst_n` does not clear the count: after a reset the
//! engine takes the answers that are still due, and everything else waits until no burst is open. `abandon` clears the
//! count if they never come, because the memory was reset as well.
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
    /// Reset of the core, synchronous, active high: held until no burst is open and the array is empty.
    pub rst: S,
    /// `ap_rst_n`: the engine offers nothing on the bus while it is 0.
    pub live: S,
    /// The memory will answer no open burst any more.
    pub abandon: S,
}

impl<S> Guard<S> {
    pub fn map<T>(&self, f: impl Fn(&S) -> T) -> Guard<T> {
        Guard { rst: f(&self.rst), live: f(&self.live), abandon: f(&self.abandon) }
    }
}

impl Guard<Port> {
    pub fn ports() -> Self {
        let [rst, live, abandon] = ["rst", "live", "abandon"].map(Port::bit);
        Guard { rst, live, abandon }
    }
}

impl<'m> Guard<Sig<'m>> {
    /// Count of open bursts; 0 after configuration of the device.
    pub fn count(&self, m: &'m ModuleBuilder) -> rtl::Reg<'m> {
        m.reg("bursts_open", u(24)).rst(self.abandon, 0).init(0)
    }
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
    open: rtl::Reg<'m>,
    events: Events<'m>,
    depth: u32,
) {
    let some = open.q().reduce_or().named("some_open");
    // Ignores answers without an open burst: the wires may hold anything while the memory is in its own reset.
    let (answered, ended) = (
        (some & events.answered).called("burst_answered"),
        (some & events.answered & events.ended).called("burst_ended"),
    );
    open.next(m.mux(events.opened, open.q().add_lit(1), open.q().sub_lit(1))).en(events.opened ^ ended);
    report.quiet.output(m, !some);

    let ring =
        m.mem("burst_addresses", depth, events.address.w(), memory_style(depth.into(), events.address.w(), false));
    let at = |name: &str, en: Sig<'m>| {
        let at = m.reg(name, u(clog2(u64::from(depth))));
        at.next(at.q().add_lit(1)).en(en).rst(rst & !some, 0).q()
    };
    let (newest, oldest) = (at("burst_newest", events.opened), at("burst_oldest", ended));
    ring.write(events.opened, newest, events.address);
    let failed = (answered & events.response.msb() & !rst).named("fails");
    report.failed.output(m, m.reg("failed_q", u(1)).next(failed).rst(rst, 0).q());
    report.response.output(m, hold(m, "failed_response_q", failed, events.response));
    report.known.output(m, hold(m, "failed_known_q", failed, open.q().le(m.lit(depth, u(24)))));
    report.address.output(m, ring.read_sync("failed_address_q", failed, oldest));
}
