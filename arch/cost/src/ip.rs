//! The cost of an IP of several functions: its cores, one set of registers, the multiplexers between cores, the queue.

use crate::control::{arguments, registers};
use crate::fabric::{self, Part};
use crate::resources::parts;
use array::ip::Ip;
use array::resources::Resources;
use array::vsa::Vsa;
use std::collections::BTreeMap;
use uniform::fabric::Fabric;

/// By part. A core has the name of its first function.
pub fn list(ip: &Ip) -> Vec<(String, Resources)> {
    if let [only] = &ip.cores[..] {
        let all = parts(only).list().into_iter().map(|(name, cost)| (name.to_string(), cost));
        return all.chain(queue(ip)).collect();
    }
    let fabric = ip.cores.first().map_or(Fabric::default(), |core| core.fabric);
    let control = |cost: Resources| fabric::on(fabric, Part::Control, cost);
    let registers = |core: &Vsa| control(registers(&arguments(core), core.address_bits));
    let mut all = vec![];
    for (c, core) in ip.cores.iter().enumerate() {
        let caller = ip.functions.iter().find(|f| f.core == c).map_or("", |f| f.name.as_str());
        // The cores share the IP's registers.
        all.push((caller.to_string(), parts(core).total() - registers(core)));
    }
    all.push(("registers".into(), ip.cores.iter().map(registers).max_by_key(|c| c.ff).unwrap_or_default()));
    all.push(("choice".into(), control(choice(ip))));
    all.into_iter().chain(queue(ip)).collect()
}

/// All of it.
pub fn total(ip: &Ip) -> Resources {
    list(ip).into_iter().map(|p| p.1).sum()
}

/// The command queue, if there is one: memories in LUTs of 32 commands each, and a multiplexer behind them. If runs overlap,
/// readers, waves and writers have ports of their own, but of few bits together more than one port has.
fn queue(ip: &Ip) -> Option<(String, Resources)> {
    let bits = ip.cores.iter().map(|core| arguments(core).iter().sum::<i64>()).max().unwrap_or(0) + 8;
    let banks = i64::from(ip.queue.commands.div_ceil(32));
    let view = bits + banks * bits * 2 / 3;
    let all = if ip.queue.overlap { Resources::logic(view + 170, 130) } else { Resources::logic(view + 40, 70) };
    (ip.queue.commands > 0).then(|| ("queue".into(), all))
}

/// Multiplexers in front of the AXI ports: one per signal that a manager drives, with one input per core. A LUT adds
/// three inputs.
fn choice(ip: &Ip) -> Resources {
    let mut inputs: BTreeMap<(u32, usize), i64> = BTreeMap::new();
    for core in &ip.cores {
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        for port in 0..core.axi_ports() {
            let width = core.bus_bytes(port);
            let nth = seen.entry(width).or_default();
            *inputs.entry((width, *nth)).or_default() += 1;
            *nth += 1;
        }
    }
    // Both addresses and lengths, data with strobes, and flags.
    let signals = |width: u32| 2 * (64 + 8) + 9 * i64::from(width) + 8;
    let lut =
        inputs.into_iter().map(|((width, _), cores)| signals(width) * (cores - 1 + 2) / 3 * i64::from(cores > 1)).sum();
    Resources { lut, ff: 2, ..Resources::default() }
}
