//! The open bursts of one direction of a port: how many there are, and where those lie that were answered with an error.
//!
//! The count is spared by `ap_rst_n`, since the memory goes on answering when only the IP is reset: after a reset the
//! engine takes what is still owed to it, and everything else waits until nothing is open. If that never comes, because
//! the memory was reset as well, `abandon` gives the bursts up.
//!
//! Addresses of the last bursts are kept in order; that of a burst that had more behind it is not known.

use super::elastic::hold;
use crate::naming::memory_style;
use rtl::{clog2, u, ModuleBuilder, Sig};

/// What an engine needs to outlive a reset.
#[derive(Clone, Copy)]
pub(crate) struct Guard<'m> {
    /// The top's reset, synchronous, active high: held until no burst is open and the array is empty.
    pub rst: Sig<'m>,
    /// `ap_rst_n`: nothing is offered on the bus without it.
    pub live: Sig<'m>,
    /// Nothing will be answered any more.
    pub abandon: Sig<'m>,
}

impl<'m> Guard<'m> {
    pub fn of(m: &'m ModuleBuilder) -> Guard<'m> {
        Guard { rst: m.input("rst", u(1)), live: m.input("live", u(1)), abandon: m.input("abandon", u(1)) }
    }

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

/// Counts, and reports on `failed` (pulse), `failed_response` (2), `failed_known`, `failed_address` (of a bus word), a cycle after the
/// answer; `quiet`: nothing is open. The addresses of the last `kept` bursts, a power of two, are known.
pub(crate) fn watch<'m>(m: &'m ModuleBuilder, guard: &Guard<'m>, open: rtl::Reg<'m>, events: Events<'m>, kept: u32) {
    let Guard { rst, .. } = *guard;
    let some = open.q().reduce_or();
    // An answer that nobody waits for does not count, whatever the wires hold before the memory is out of its reset.
    let (answered, ended) = (some & events.answered, some & events.answered & events.ended);
    open.next(m.mux(events.opened, open.q().add_lit(1), open.q().sub_lit(1))).en(events.opened ^ ended);
    m.output("quiet", !some);

    let ring = m.mem("burst_addresses", kept, events.address.w(), memory_style(kept.into()));
    let at = |name: &str, en: Sig<'m>| {
        let at = m.reg(name, u(clog2(u64::from(kept))));
        at.next(at.q().add_lit(1)).en(en).rst(rst & !some, 0).q()
    };
    let (newest, oldest) = (at("burst_newest", events.opened), at("burst_oldest", ended));
    ring.write(events.opened, newest, events.address);
    let failed = answered & events.response.msb() & !rst;
    m.output("failed", m.reg("failed_q", u(1)).next(failed).rst(rst, 0).q());
    m.output("failed_response", hold(m, "failed_response_q", failed, events.response));
    m.output("failed_known", hold(m, "failed_known_q", failed, open.q().le(m.lit(kept, u(24)))));
    m.output("failed_address", ring.read_sync("failed_address_q", failed, oldest));
}
