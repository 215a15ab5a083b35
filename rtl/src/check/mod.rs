//! Checks of an elaborated design: everything has a driver, and no combinational loop exists.

use crate::build::Design;
use crate::hierarchy::Flat;
use crate::netlist::{At, Bits, Conn, Fault, FaultKind, Module, ModuleName, Netlist, Op};
use std::collections::BTreeSet;
use std::ops::Deref;

/// A netlist without faults. Only such a netlist is simulated or printed.
#[derive(Clone, Debug)]
pub struct Verified(Netlist);

impl Deref for Verified {
    type Target = Netlist;
    fn deref(&self) -> &Netlist {
        &self.0
    }
}

impl Verified {
    /// Changes the constant with this name in the last module, for a value that depends on the rest of the design.
    ///
    /// # Errors
    /// The last module has no such constant.
    pub fn set_constant(&mut self, name: &str, value: u64) -> Result<(), String> {
        let node = self.0.constant(name).ok_or_else(|| format!("the last module has no constant `{name}`"))?;
        if let Op::Lit(bits) = &mut node.op {
            *bits = Bits::from_u128(value.into(), node.ty.w);
        }
        Ok(())
    }
}

impl Design {
    /// Checks the whole design.
    ///
    /// # Errors
    /// All faults of elaboration, all undriven or unconnected things, and all combinational loops through any number of
    /// modules.
    pub fn verify(self) -> Result<Verified, Vec<Fault>> {
        let (netlist, mut faults) = self.into_parts();
        for m in netlist.modules() {
            undriven(m, &mut faults);
        }
        if faults.is_empty() {
            faults = loops(&netlist);
        }
        if faults.is_empty() {
            Ok(Verified(netlist))
        } else {
            Err(faults)
        }
    }
}

/// Combinational loops below every module without instances. Identical instances are checked together, so the cost does
/// not grow with the size of an array.
fn loops(d: &Netlist) -> Vec<Fault> {
    let used: BTreeSet<&ModuleName> = d.modules().iter().flat_map(|m| m.insts.iter().map(|i| &i.module)).collect();
    let tops = d.modules().iter().filter(|m| !used.contains(&m.name));
    tops.filter_map(|m| Flat::new(d, m).graph(true, false).err()).flatten().collect()
}

fn fault(m: &Module, kind: FaultKind, message: String, at: At) -> Fault {
    Fault { module: m.name.to_string(), kind, message, at: at.to_string() }
}

/// Wires and registers without a driver, instance inputs without a connection.
fn undriven(m: &Module, out: &mut Vec<Fault>) {
    for n in &m.nodes {
        let what = match n.op {
            Op::Wire { driver: None } => "wire",
            Op::Reg { next: None, .. } => "register",
            _ => continue,
        };
        let name = n.name.as_deref().unwrap_or("?");
        out.push(fault(m, FaultKind::Undriven, format!("{what} `{name}` has no driver"), n.at));
    }
    for i in &m.insts {
        for (port, _, conn) in &i.ins {
            if *conn == Conn::Open {
                let message = format!("input `{port}` of instance `{}` ({}) is not connected", i.name, i.module);
                out.push(fault(m, FaultKind::Undriven, message, i.at));
            }
        }
    }
}
