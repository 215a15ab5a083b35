//! A generated module as a block of a rust-hdl design.
//!
//! `RtlBlock` runs the built-in simulator inside rust-hdl's simulation and passes the printed Verilog to rust-hdl's
//! generator as a black box. So an array can be a child of a design in rust-hdl, with probes and traces. Widths are
//! run-time values, so ports are `Port`s with names, not rust-hdl's `Signal<_, Bits<N>>`. The parent copies between
//! both in its `update`, and refers to them as `<field>$<port>` in its `hdl`.
//!
//! Invariant: the simulator executes one clock edge when the clock port changes to 1.

use rtl::sim::{PortId, Sim};
use rtl::{Bits, Fault, ModuleName, Ty, Verified};
use rust_hdl::core::ast::VerilogLiteral;
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::constraint::PinConstraint;
use rust_hdl::core::signal::get_signal_id;
use rust_hdl::core::synth::VCDValue;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};
use rust_hdl::prelude::{BlackBox, Block, Logic, Probe, Verilog};

/// A port whose width is a run-time value; the counterpart of `Signal`.
pub struct Port {
    name: String,
    ty: Ty,
    kind: AtomKind,
    next: Bits,
    value: Bits,
    changed: bool,
    connected: bool,
    id: usize,
}

impl Port {
    fn new(name: &str, ty: Ty, input: bool) -> Self {
        let kind = if input { AtomKind::InputParameter } else { AtomKind::OutputParameter };
        let zero = Bits::zero(ty.w);
        Port {
            name: name.into(),
            ty,
            kind,
            next: zero.clone(),
            value: zero,
            changed: false,
            connected: !input,
            id: get_signal_id(),
        }
    }

    /// Marks an input as driven. The parent calls this in its `connect`.
    pub fn connect(&mut self) {
        self.connected = true;
    }

    /// Next value of an input, from little-endian limbs.
    pub fn set_wide(&mut self, limbs: &[u64]) {
        self.next = Bits::from_limbs(limbs, self.ty.w);
    }

    /// Next value of an input of up to 64 bits.
    pub fn set(&mut self, value: u64) {
        self.set_wide(&[value]);
    }

    /// Present value.
    pub fn value(&self) -> &Bits {
        &self.value
    }

    /// Present value of a port of up to 64 bits.
    pub fn get(&self) -> u64 {
        self.value.limbs()[0]
    }
}

impl Atom for Port {
    fn bits(&self) -> usize {
        self.ty.w as usize
    }
    fn connected(&self) -> bool {
        self.connected
    }
    fn changed(&self) -> bool {
        self.changed
    }
    fn kind(&self) -> AtomKind {
        self.kind
    }
    fn descriptor(&self) -> TypeDescriptor {
        // All printed ports are unsigned.
        TypeDescriptor { name: self.ty.to_string(), kind: TypeKind::Bits(self.ty.w as usize) }
    }
    fn vcd(&self) -> VCDValue {
        if self.ty.w == 1 {
            return self.value.bit(0).into();
        }
        let bit = |i| if self.value.bit(i) { vcd::Value::V1 } else { vcd::Value::V0 };
        VCDValue::Vector((0..self.ty.w).rev().map(bit).collect())
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        self.value.low_u128().into()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        vec![]
    }
}

impl Logic for Port {
    fn update(&mut self) {}
}

impl Block for Port {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {
        self.changed = self.value != self.next;
        if self.changed {
            self.value = self.next.clone();
        }
    }
    fn has_changed(&self) -> bool {
        self.changed
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_atom(name, self);
    }
}

/// A module of a verified netlist as a rust-hdl block.
pub struct RtlBlock {
    /// The clock port. The parent sets it to 0 and 1.
    pub clock: Port,
    ports: Vec<(Port, PortId)>,
    sim: Sim,
    top: String,
    verilog: String,
}

impl RtlBlock {
    /// Compiles `top` for simulation and prints all modules.
    ///
    /// # Errors
    /// Those of [`Sim::new`].
    pub fn new(d: &Verified, top: &ModuleName) -> Result<Self, Vec<Fault>> {
        let sim = Sim::new(d, top)?;
        let ports = sim.ports().map(|(n, t, input)| (Port::new(n, t, input), sim.port(n))).collect();
        let verilog = rtl::verilog::files(d).into_iter().map(|f| f.1).collect::<Vec<_>>().join("\n");
        let clock = Port::new(d.clock(), rtl::u(1), true);
        Ok(RtlBlock { clock, ports, sim, top: top.to_string(), verilog })
    }

    /// The port with this name, if it exists.
    pub fn find_port(&mut self, name: &str) -> Option<&mut Port> {
        self.ports.iter_mut().map(|p| &mut p.0).find(|p| p.name == name)
    }

    /// The port with this name.
    ///
    /// # Panics
    /// The module has no such port, which is an error of the parent.
    #[track_caller]
    pub fn port(&mut self, name: &str) -> &mut Port {
        match self.find_port(name) {
            Some(p) => p,
            None => panic!("no port `{name}`"),
        }
    }

    /// Marks all inputs as driven.
    pub fn connect_inputs(&mut self) {
        self.clock.connect();
        self.ports.iter_mut().for_each(|p| p.0.connect());
    }
}

impl Logic for RtlBlock {
    fn update(&mut self) {
        if self.clock.changed && self.clock.get() == 1 {
            self.sim.clock();
        }
        for (p, id) in &self.ports {
            if p.kind == AtomKind::InputParameter {
                self.sim.poke_wide(*id, p.value.limbs());
            }
        }
        for (p, id) in &mut self.ports {
            if p.kind == AtomKind::OutputParameter {
                p.next = Bits::from_limbs(self.sim.peek_wide(*id), p.ty.w);
            }
        }
    }

    fn hdl(&self) -> Verilog {
        Verilog::Blackbox(BlackBox { code: self.verilog.clone(), name: self.top.clone() })
    }
}

impl Block for RtlBlock {
    fn connect_all(&mut self) {
        self.connect();
    }
    fn update_all(&mut self) {
        self.update();
        self.clock.update_all();
        self.ports.iter_mut().for_each(|p| p.0.update_all());
    }
    fn has_changed(&self) -> bool {
        self.clock.has_changed() || self.ports.iter().any(|p| p.0.has_changed())
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        self.clock.accept(&self.clock.name, probe);
        for (p, _) in &self.ports {
            p.accept(&p.name, probe);
        }
        probe.visit_end_scope(name, self);
    }
}
