//! Instances, and grids as `generate` loops.

use super::Prepare;
use crate::netlist::*;
use crate::verilog::ast::*;

impl<'m> Prepare<'m> {
    /// Connects an instance; outputs that nothing reads get nets here.
    pub fn instance(&mut self, inst: &'m Inst) {
        let mut fresh = |suffix: &str| self.names.fresh(&format!("{}_{suffix}", inst.name));
        let variables = inst.grid.map(|_| (fresh("i"), fresh("j")));
        let mut pins = vec![];
        for (port, ty, conn) in &inst.ins {
            let pin = match *conn {
                Conn::All(x) => Pin::Expr(self.expr(x)),
                Conn::Bus(x) => {
                    let net = self.identifier(x, Some(&format!("{}_{port}", inst.name)));
                    self.reads(&net, 0, self.m.ty(x).w);
                    Pin::Bus(net, ty.w)
                }
                Conn::Open => Pin::Open,
            };
            pins.push((port.as_str(), pin));
        }
        for (port, ty, node) in &inst.outs {
            let net = node.and_then(|id| self.nets.get(&id).cloned());
            let net = net.unwrap_or_else(|| {
                let name = self.names.fresh(&format!("{}_{port}", inst.name));
                let w = ty.w * inst.count();
                self.states.push(Net { remark: None, attrs: &[], name: name.clone(), w, kind: NetKind::Output });
                self.read.insert(name.clone(), vec![false; w as usize]);
                name
            });
            pins.push((port.as_str(), Pin::Bus(net, ty.w)));
        }
        let labels: &[&str] = match inst.grid {
            None => &[],
            Some([1, _]) => &["columns"],
            Some([_, 1]) => &["rows"],
            Some(_) => &["rows", "columns"],
        };
        let labels = labels.iter().map(|l| self.names.fresh(&format!("{}_{l}", inst.name))).collect();
        let loops = variables.map(|(row, column)| Loops { row, column, labels });
        self.items.push(Item::Instance(Instance { inst, loops, pins }));
    }
}
