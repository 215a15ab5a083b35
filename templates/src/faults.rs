//! What engines tell of error answers, on its way to the status register.

use crate::axi::status::Fault;
use crate::core::{Engines, Reporter};
use crate::port::Port;
use rtl::{u, ModuleBuilder, Sig};

/// Which part of a fault.
pub(crate) type Part<T> = dyn Fn(&Fault<T>) -> &T;

/// Tells of error answers, part by part; of several at once, where the first engine's was. `number`: the IP's port
/// behind one of the core's.
pub(crate) fn faults<'m>(
    m: &'m ModuleBuilder,
    engines: &Engines<'m>,
    number: &dyn Fn(usize) -> usize,
    tell: impl Fn(&Part<Port>, Sig<'m>),
) {
    let (reads, writes) = (engines.reading(), engines.writing());
    let failed = |e: &Reporter<'_, 'm>| e.ports.report.failed.out(e.instance);
    let some =
        |engines: &[Reporter<'_, 'm>]| m.any(&engines.iter().map(failed).chain([m.lit(0, u(1))]).collect::<Vec<_>>());
    tell(&|f| &f.read, some(&reads));
    tell(&|f| &f.write, some(&writes));
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
    one_of(m, &all, &tell);
}

/// Where the first of these faults was.
pub(crate) fn one_of<'m>(
    m: &'m ModuleBuilder,
    all: &[(Sig<'m>, Fault<Sig<'m>>)],
    tell: &impl Fn(&Part<Port>, Sig<'m>),
) {
    let none = |of: Sig<'m>| m.lit(0, of.ty());
    let first = |part: &Part<Sig<'m>>| {
        let cases: Vec<_> = all.iter().map(|(failed, fault)| (*failed, *part(fault))).collect();
        m.select(&cases, none(cases[0].1))
    };
    tell(&|f| &f.port, first(&|f| &f.port));
    tell(&|f| &f.response, first(&|f| &f.response));
    tell(&|f| &f.known, first(&|f| &f.known));
    tell(&|f| &f.address, first(&|f| &f.address));
}
