//! Faults of the engines: merged into one report for the status register.

use crate::axi::status::Fault;
use crate::core::{Engines, Reporter};
use crate::port::Port;
use rtl::{u, ModuleBuilder, Sig};

/// Selects a field of a fault.
pub(crate) type Field<T> = dyn Fn(&Fault<T>) -> &T;

/// Drives the report, field by field, with `set`. If several engines fail in one cycle, it describes the first one.
/// `number` maps a port of the core to the port of the IP.
pub(crate) fn faults<'m>(
    m: &'m ModuleBuilder,
    engines: &Engines<'m>,
    number: &dyn Fn(usize) -> usize,
    set: impl Fn(&Field<Port>, Sig<'m>),
) {
    let [reads, writes] = engines.reports();
    let failed = |e: &Reporter<'_, 'm>| e.ports.report.failed.out(e.instance);
    let outside = |e: &Reporter<'_, 'm>| e.ports.report.outside.out(e.instance);
    let any = |bits: Vec<Sig<'m>>| m.any(&[bits, vec![m.lit(0, u(1))]].concat());
    set(&|f| &f.read, any(reads.iter().map(failed).collect()));
    set(&|f| &f.write, any(writes.iter().map(failed).collect()));
    set(&|f| &f.outside, any(reads.iter().chain(&writes).map(outside).collect()));
    let each = |e: &Reporter<'_, 'm>| {
        let report = &e.ports.report;
        let [word, response, known] =
            [&report.address, &report.response, &report.known].map(|port| port.out(e.instance));
        let below = m.lit(0, u(e.ports.report.bus.bytes.trailing_zeros()));
        let address = m.concat(&[word, below]).extend(64);
        (
            failed(e) | outside(e),
            Fault {
                read: failed(e),
                write: failed(e),
                outside: outside(e),
                port: m.lit(number(e.port) as u64 & 0xff, u(8)),
                response: m.mux(failed(e), response, m.lit(0, u(2))),
                known: known & failed(e),
                address,
            },
        )
    };
    let all: Vec<_> = reads.iter().chain(&writes).map(each).collect();
    first_fault(m, &all, &set);
}

/// Drives the fields that describe the first of these faults.
pub(crate) fn first_fault<'m>(
    m: &'m ModuleBuilder,
    all: &[(Sig<'m>, Fault<Sig<'m>>)],
    set: &impl Fn(&Field<Port>, Sig<'m>),
) {
    let none = |of: Sig<'m>| m.lit(0, of.ty());
    let first = |field: &Field<Sig<'m>>| {
        let cases: Vec<_> = all.iter().map(|(failed, fault)| (*failed, *field(fault))).collect();
        m.select(&cases, none(cases[0].1))
    };
    set(&|f| &f.port, first(&|f| &f.port));
    set(&|f| &f.response, first(&|f| &f.response));
    set(&|f| &f.known, first(&|f| &f.known));
    set(&|f| &f.address, first(&|f| &f.address));
}
