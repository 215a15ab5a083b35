//! Error answers of the engines: merged into one report for the status register.

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
    let any =
        |engines: &[Reporter<'_, 'm>]| m.any(&engines.iter().map(failed).chain([m.lit(0, u(1))]).collect::<Vec<_>>());
    set(&|f| &f.read, any(&reads));
    set(&|f| &f.write, any(&writes));
    let each = |e: &Reporter<'_, 'm>| {
        let report = &e.ports.report;
        let [word, response, known] =
            [&report.address, &report.response, &report.known].map(|port| port.out(e.instance));
        let below = m.lit(0, u(e.ports.report.bus.bytes.trailing_zeros()));
        let address = m.concat(&[word, below]).extend(64);
        (
            failed(e),
            Fault {
                read: failed(e),
                write: failed(e),
                port: m.lit(number(e.port) as u64 & 0xff, u(8)),
                response,
                known,
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
