//! Ports of templates. The interface of a template is a struct with named [`Port`]s, made from its parameters: `build`
//! declares them, and the module around it connects them. The name of a port is spelled only once.

use rtl::{u, Instance, ModuleBuilder, Sig, Ty};

/// A port of a module, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub ty: Ty,
}

impl Port {
    pub fn new(name: impl Into<String>, ty: Ty) -> Port {
        Port { name: name.into(), ty }
    }
    /// A port of one bit.
    pub fn bit(name: impl Into<String>) -> Port {
        Port::new(name, u(1))
    }
    /// Declares it as an input of the module.
    #[track_caller]
    pub fn input<'m>(&self, m: &'m ModuleBuilder) -> Sig<'m> {
        m.input(&self.name, self.ty)
    }
    /// Declares it as an output of the module, with this value.
    #[track_caller]
    pub fn output<'m>(&self, m: &'m ModuleBuilder, value: Sig<'m>) {
        debug_assert_eq!(value.w(), self.ty.w, "output `{}`", self.name);
        m.output(&self.name, value);
    }
    /// Connects this input of an instance.
    #[track_caller]
    pub fn set<'m>(&self, of: Instance<'m>, value: Sig<'m>) {
        of.set(&self.name, value);
    }
    /// This output of an instance.
    #[track_caller]
    pub fn out<'m>(&self, of: Instance<'m>) -> Sig<'m> {
        of.out(&self.name)
    }
}

/// An input whose value is passed on to the next elements of a grid (daisy chain).
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    pub port: Port,
    /// Output to the next element along each axis. Axes with the same hop delay share one.
    pub onward: [Port; 2],
    /// Hop delay along each axis; `None` if the value is not passed on.
    pub cycles: [Option<u32>; 2],
}

impl Chain {
    /// The outputs, each with its delay in cycles.
    pub fn outputs(&self) -> Vec<(&Port, u32)> {
        let mut all: Vec<(&Port, u32)> = (0..2).filter_map(|a| Some((&self.onward[a], self.cycles[a]?))).collect();
        all.dedup_by(|b, a| a.0 == b.0);
        all
    }

    /// Cycles to the farthest neighbour.
    pub fn longest(&self) -> u32 {
        self.cycles.iter().flatten().copied().max().unwrap_or(0)
    }

    /// Declares the outputs and drives them with `value` through a shift register of at least `least` stages. Returns
    /// its taps: tap `k` is `value` after `k + 1` cycles.
    pub fn forward<'m>(&self, m: &'m ModuleBuilder, value: Sig<'m>, least: u32) -> Vec<Sig<'m>> {
        let taps = m.shift_register(value, self.longest().max(least), format!("{}_q", self.port.name), None);
        self.outputs().iter().for_each(|(port, cycles)| port.output(m, taps[*cycles as usize - 1]));
        taps
    }
}

/// Connects ports of an instance to ports of the module around it: (inner, outer) inputs and outputs.
pub(crate) fn pass<'m>(
    m: &'m ModuleBuilder,
    instance: Instance<'m>,
    [inner, outer]: [Vec<&Port>; 2],
    outputs: [Vec<&Port>; 2],
) {
    inner.into_iter().zip(outer).for_each(|(inner, outer)| inner.set(instance, outer.input(m)));
    let [inner, outer] = outputs;
    inner.into_iter().zip(outer).for_each(|(inner, outer)| outer.output(m, inner.out(instance)));
}
