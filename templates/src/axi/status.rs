//! The status register: which errors occurred since the host last cleared it, and where the first one was.
//!
//! An error never blocks a run: the engines take error answers like any others, so `ap_done` comes. A run with an
//! address that is not a multiple of the element size of its array ends at once and moves nothing. Rows outside of an
//! array are not transferred ([`super::address`]).

use super::elastic::hold;
use super::register::Write;
use crate::interface::{
    Layout, STATUS_INDEX, STATUS_MISALIGNED, STATUS_OUTSIDE, STATUS_READ, STATUS_RESPONSE, STATUS_STOPPED, STATUS_WRITE,
};
use crate::port::Port;
use rtl::{u, ModuleBuilder, Sig};

/// Faults of the engines in one cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault<S> {
    /// A read, a write, or both failed, or a row outside of its array was left out. The other fields describe one of
    /// them.
    pub read: S,
    pub write: S,
    pub outside: S,
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
        let Fault { read, write, outside, port, response, known, address } = self;
        Fault {
            read: f(read),
            write: f(write),
            outside: f(outside),
            port: f(port),
            response: f(response),
            known: f(known),
            address: f(address),
        }
    }
}

impl<S: Copy> Fault<S> {
    /// Field by field of two faults.
    pub(crate) fn zip<T>(&self, other: &Self, f: impl Fn(S, S) -> T) -> Fault<T> {
        Fault {
            read: f(self.read, other.read),
            write: f(self.write, other.write),
            outside: f(self.outside, other.outside),
            port: f(self.port, other.port),
            response: f(self.response, other.response),
            known: f(self.known, other.known),
            address: f(self.address, other.address),
        }
    }
}

impl Fault<Port> {
    pub fn ports() -> Self {
        let p = |name: &str, bits: u32| Port::new(format!("fault_{name}"), u(bits));
        Fault {
            read: p("read", 1),
            write: p("write", 1),
            outside: p("outside", 1),
            port: p("port", 8),
            response: p("response", 2),
            known: p("known", 1),
            address: p("address", 64),
        }
    }
}

impl<'m> Fault<Sig<'m>> {
    pub(crate) fn any(&self) -> Sig<'m> {
        self.read | self.write | self.outside
    }

    /// The same fault a cycle later where `condition` holds, else none. Its way from all engines ends in registers.
    pub(super) fn later_if(self, m: &'m ModuleBuilder, rst: Sig<'m>, condition: Sig<'m>) -> Self {
        let Fault { read, write, outside, .. } = self;
        let fault = Fault { read: read & condition, write: write & condition, outside: outside & condition, ..self };
        let Fault { read, write, outside, port, response, known, address } = fault;
        let pulse = |name: &str, value: Sig<'m>| m.reg(format!("fault_{name}_q"), u(1)).next(value).rst(rst, 0).q();
        let later = |name: &str, value: Sig<'m>| m.reg(format!("fault_{name}_q"), value.ty()).next(value).q();
        Fault {
            read: pulse("read", read),
            write: pulse("write", write),
            outside: pulse("outside", outside),
            port: later("port", port),
            response: later("response", response),
            known: later("known", known),
            address: later("address", address),
        }
    }
}

/// What the control registers report.
pub(super) struct Events<'m> {
    /// A run is refused because of argument `index` (8 bits).
    pub refused: Sig<'m>,
    pub index: Sig<'m>,
    /// The soft reset stops a run.
    pub stopped: Sig<'m>,
}

/// The registers as (offset, value), and whether an error occurs in this cycle.
pub(super) fn registers<'m>(
    m: &'m ModuleBuilder,
    layout: &Layout,
    rst: Sig<'m>,
    write: &Write<'m>,
    fault: Fault<Sig<'m>>,
    Events { refused, index, stopped }: Events<'m>,
) -> (Vec<(u32, Sig<'m>)>, Sig<'m>) {
    let at = layout.status();
    let answered = fault.any();
    let causes = [
        (STATUS_READ, "read_error", fault.read),
        (STATUS_WRITE, "write_error", fault.write),
        (STATUS_MISALIGNED, "misaligned", refused),
        (STATUS_OUTSIDE, "outside", fault.outside),
        (STATUS_STOPPED, "stopped", stopped),
    ];
    let bits = causes.map(|(i, name, now)| {
        let bit = m.reg(format!("status_{name}"), u(1));
        bit.next(now | (bit.q() & !write.sets(m, at, i))).rst(rst, 0).q()
    });
    let now = m.any(&[answered, refused, stopped]);
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
    let address = hold(m, "status_address", first, m.mux(answered, fault.address, zero(64)));
    let status = m
        .concat(&[
            zero(32 - STATUS_INDEX - 8),
            index,
            zero(STATUS_INDEX - STATUS_RESPONSE - 2),
            response,
            zero(STATUS_RESPONSE - STATUS_STOPPED - 1),
            bits[4],
            bits[3],
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
