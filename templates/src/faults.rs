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

/// Drives the fields that describe the first of these faults, by a tree: many ports are few multiplexers in a row. They
/// have any value in a cycle without faults.
pub(crate) fn first_fault<'m>(
    m: &'m ModuleBuilder,
    all: &[(Sig<'m>, Fault<Sig<'m>>)],
    set: &impl Fn(&Field<Port>, Sig<'m>),
) {
    let mut level = all.to_vec();
    while level.len() > 1 {
        let join = |pair: &[(Sig<'m>, Fault<Sig<'m>>)]| match pair {
            [(a, first), (b, second)] => (*a | *b, first.zip(second, |x, y| m.mux(*a, x, y))),
            _ => pair[0].clone(),
        };
        level = level.chunks(2).map(join).collect();
    }
    let first = &level[0].1;
    set(&|f| &f.port, first.port);
    set(&|f| &f.response, first.response);
    set(&|f| &f.known, first.known);
    set(&|f| &f.address, first.address);
}
