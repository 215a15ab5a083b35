//! The status register: which errors occurred since the host last cleared it, and where the first one was.
//!
//! An error never blocks a run: the engines take error answers like any others, so `ap_done` comes. A run with an
//! address that is not a multiple of the element size of its array ends at once and moves nothing.

use super::elastic::hold;
use super::register::Write;
use crate::interface::{Layout, STATUS_INDEX, STATUS_KNOWN, STATUS_RESPONSE};
use crate::port::Port;
use rtl::{u, ModuleBuilder, Sig};

/// Error answers of the engines in one cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault<S> {
    /// A read, a write, or both failed. The other fields describe one of them.
    pub read: S,
    pub write: S,
    /// Number of the AXI port, 8 bits.
    pub port: S,
    /// RRESP or BRESP, 2 bits.
    pub response: S,
    /// `address` (64 bits, of the burst) is valid.
    pub known: S,
    pub address: S,
}

impl<S> Fault<S> {
    pub fn map<T>(&self, f: impl Fn(&S) -> T) -> Fault<T> {
        let Fault { read, write, port, response, known, address } = self;
        Fault {
            read: f(read),
            write: f(write),
            port: f(port),
            response: f(response),
            known: f(known),
            address: f(address),
        }
    }
}

impl Fault<Port> {
    pub fn ports() -> Self {
        let p = |name: &str, bits: u32| Port::new(format!("fault_{name}"), u(bits));
        Fault {
            read: p("read", 1),
            write: p("write", 1),
            port: p("port", 8),
            response: p("response", 2),
            known: p("known", 1),
            address: p("address", 64),
        }
    }
}

/// The registers as (offset, value), and whether an error occurs in this cycle. `refused`: a run is refused because of
/// argument `index` (8 bits).
pub(super) fn registers<'m>(
    m: &'m ModuleBuilder,
    layout: &Layout,
    rst: Sig<'m>,
    write: &Write<'m>,
    fault: Fault<Sig<'m>>,
    [refused, index]: [Sig<'m>; 2],
) -> (Vec<(u32, Sig<'m>)>, Sig<'m>) {
    let at = layout.status();
    let causes = [("read_error", fault.read), ("write_error", fault.write), ("misaligned", refused)];
    let mut bits = vec![];
    for (i, (name, now)) in causes.into_iter().enumerate() {
        let bit = m.reg(format!("status_{name}"), u(1));
        bit.next(now | (bit.q() & !write.sets(m, at, i as u32))).rst(rst, 0);
        bits.push(bit.q());
    }
    let answered = fault.read | fault.write;
    let now = answered | refused;
    let noted = m.any(&bits).called("status_noted");
    let first = (now & !noted).called("status_first");
    let zero = |bits: u32| m.lit(0, u(bits));
    let first_error = |name: &str, of_fault: Sig<'m>, of_refusal: Sig<'m>| {
        let value = m
            .reg(format!("status_{name}"), of_fault.ty())
            .next(m.mux(answered, of_fault, of_refusal))
            .en(first)
            .rst(rst, 0)
            .q();
        m.mux(noted, value, zero(of_fault.ty().w))
    };
    let (known, response, index) = (
        first_error("known", fault.known, zero(1)),
        first_error("response", fault.response, zero(2)),
        first_error("index", fault.port, index),
    );
    let address = hold(m, "status_address", first, fault.address);
    let status = m
        .concat(&[
            zero(32 - STATUS_INDEX - 8),
            index,
            zero(STATUS_INDEX - STATUS_RESPONSE - 2),
            response,
            zero(STATUS_RESPONSE - STATUS_KNOWN - 1),
            known,
            bits[2],
            bits[1],
            bits[0],
        ])
        .called("status");
    (
        vec![
            (at, status),
            (layout.error_address(), address.slice(0, 32)),
            (layout.error_address() + 4, address.slice(32, 32)),
        ],
        now,
    )
}
