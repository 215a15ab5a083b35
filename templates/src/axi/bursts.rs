//! The open bursts of one direction of a port: how many there are, and where those lie that were answered with an
//! error.
//!
//! The count is spared by `ap_rst_n`, since the memory goes on answering when only the IP is reset: after a reset the
//! engine takes what is still owed to it, and everything else waits until nothing is open. If that never comes, because
//! the memory was reset as well, `abandon` gives the bursts up.
//!
//! Addresses of the last bursts are kept in order; that of a burst that had more behind it is not known.

use super::bundle::Bus;
use super::elastic::hold;
use crate::naming::memory_style;
use crate::port::Port;
use rtl::{clog2, u, ModuleBuilder, Sig};

/// What an engine needs to outlive a reset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard<S> {
    /// The top's reset, synchronous, active high: held until no burst is open and the array is empty.
    pub rst: S,
    /// `ap_rst_n`: nothing is offered on the bus without it.
    pub live: S,
    /// Nothing will be answered any more.
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
    /// The count of open bursts, nought when the device has been configured.
    pub fn count(&self, m: &'m ModuleBuilder) -> rtl::Reg<'m> {
        m.reg("bursts_open", u(24)).rst(self.abandon, 0).init(0)
    }
}

/// What happens to the bursts in a cycle.
pub(crate) struct Events<'m> {
    /// One more is open, at this address.
    pub opened: Sig<'m>,
    pub address: Sig<'m>,
    /// A response or beat for the oldest one is taken, with this code; the last one.
    pub answered: Sig<'m>,
    pub response: Sig<'m>,
    pub ended: Sig<'m>,
}

/// What an engine tells about its bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<S> {
    pub bus: Bus,
    /// Nothing is open.
    pub quiet: S,
    /// Pulse, a cycle after an answer with an error.
    pub failed: S,
    /// The answer (2).
    pub response: S,
    /// The burst's address is known.
    pub known: S,
    /// In words of the bus.
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

/// Counts, and reports. The addresses of the last `kept` bursts, a power of two, are known.
pub(crate) fn watch<'m>(
    m: &'m ModuleBuilder,
    report: &Report<Port>,
    rst: Sig<'m>,
    open: rtl::Reg<'m>,
    events: Events<'m>,
    kept: u32,
) {
    let some = open.q().reduce_or().named("some_open");
    // An answer that nobody waits for does not count, whatever the wires hold before the memory is out of its reset.
    let (answered, ended) = (
        (some & events.answered).called("burst_answered"),
        (some & events.answered & events.ended).called("burst_ended"),
    );
    open.next(m.mux(events.opened, open.q().add_lit(1), open.q().sub_lit(1))).en(events.opened ^ ended);
    report.quiet.output(m, !some);

    let ring = m.mem("burst_addresses", kept, events.address.w(), memory_style(kept.into(), events.address.w(), false));
    let at = |name: &str, en: Sig<'m>| {
        let at = m.reg(name, u(clog2(u64::from(kept))));
        at.next(at.q().add_lit(1)).en(en).rst(rst & !some, 0).q()
    };
    let (newest, oldest) = (at("burst_newest", events.opened), at("burst_oldest", ended));
    ring.write(events.opened, newest, events.address);
    let failed = (answered & events.response.msb() & !rst).named("fails");
    report.failed.output(m, m.reg("failed_q", u(1)).next(failed).rst(rst, 0).q());
    report.response.output(m, hold(m, "failed_response_q", failed, events.response));
    report.known.output(m, hold(m, "failed_known_q", failed, open.q().le(m.lit(kept, u(24)))));
    report.address.output(m, ring.read_sync("failed_address_q", failed, oldest));
}
