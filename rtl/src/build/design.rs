//! `Design`: elaborates templates to modules, children before their parents.
//!
//! Equal templates are elaborated once, and equal modules are stored once. Different modules of one name get `_2`,
//! `_3`… in order of elaboration. If a design has a prefix, the name of every module but the outermost begins with it,
//! so modules of several designs can coexist in one project.

use super::builder::ModuleBuilder;
use crate::netlist::names::{legal, Names};
use crate::netlist::{Fault, FaultKind, Module, ModuleName, Netlist};
use std::any::Any;
use std::fmt::Debug;
use std::ops::Deref;
use std::panic::Location;
use std::rc::Rc;

/// A parametric module. All parameters are run-time values in `self`; equal parameters yield one module.
pub trait Template: Debug {
    /// Module name; should contain the important parameters (`pe_i16_x8`).
    fn name(&self) -> String;

    /// Writes the module. `d.module(..)` elaborates submodules.
    // The lifetime is named because implementations need it for closures over `Sig<'m>`.
    #[allow(clippy::needless_lifetimes)]
    fn build<'m>(&self, m: &'m ModuleBuilder, d: &mut Design);
}

/// A netlist under construction, with its recorded faults.
#[derive(Debug)]
pub struct Design {
    netlist: Netlist,
    /// Elaborated templates with their modules.
    built: Vec<(Rc<dyn Any>, ModuleName)>,
    /// Templates under elaboration, outermost first.
    building: Vec<Rc<dyn Any>>,
    names: Names,
    prefix: String,
    faults: Vec<Fault>,
}

impl Default for Design {
    fn default() -> Self {
        Design::new("aclk")
    }
}

impl Deref for Design {
    type Target = Netlist;
    fn deref(&self) -> &Netlist {
        &self.netlist
    }
}

impl Design {
    /// An empty design; the clock port of every module will be `clock`.
    pub fn new(clock: &str) -> Self {
        let netlist = Netlist::new(clock);
        Design {
            netlist,
            built: vec![],
            building: vec![],
            names: Names::default(),
            prefix: String::new(),
            faults: vec![],
        }
    }

    /// The names of all modules but the outermost begin with `prefix_`.
    pub fn prefixed(self, prefix: &str) -> Self {
        Design { prefix: legal(prefix), ..self }
    }

    fn wanted(&self, name: &str) -> String {
        let outermost = self.building.is_empty();
        if self.prefix.is_empty() || outermost {
            legal(name)
        } else {
            legal(&format!("{}_{name}", self.prefix))
        }
    }

    /// Elaborates a template, or returns the module of an equal one.
    #[track_caller]
    pub fn module<T: Template + PartialEq + 'static>(&mut self, template: T) -> ModuleName {
        let same = |t: &Rc<dyn Any>| t.downcast_ref::<T>() == Some(&template);
        if let Some((_, name)) = self.built.iter().find(|b| same(&b.0)) {
            return name.clone();
        }
        let wanted = self.wanted(&template.name());
        if self.building.iter().any(same) {
            let message = "the template instantiates itself".to_string();
            let at = Location::caller().to_string();
            self.faults.push(Fault { module: wanted.clone(), kind: FaultKind::Recursion, message, at });
            return ModuleName(wanted);
        }
        let template = Rc::new(template);
        self.building.push(template.clone());
        let b = ModuleBuilder::new(&wanted);
        template.build(&b, self);
        self.building.pop();
        let (mut module, faults) = b.finish(self.netlist.clock());
        module.template = std::any::type_name::<T>();
        let name = self.insert(module, faults, &wanted);
        self.built.push((template, name.clone()));
        name
    }

    fn insert(&mut self, mut module: Module, faults: Vec<Fault>, wanted: &str) -> ModuleName {
        let same_name = |n: &str| {
            n.strip_prefix(wanted).is_some_and(|r| {
                r.is_empty() || r.strip_prefix('_').is_some_and(|d| d.bytes().all(|c| c.is_ascii_digit()))
            })
        };
        if let Some(m) = self.netlist.modules().iter().find(|m| same_name(m.name.as_str()) && m.same_content(&module)) {
            return m.name.clone();
        }
        let name = ModuleName(self.names.fresh(wanted));
        module.name = name.clone();
        self.faults.extend(faults.into_iter().map(|f| Fault { module: name.0.clone(), ..f }));
        self.netlist.push(module);
        name
    }

    /// The modules and the recorded faults.
    pub(crate) fn into_parts(self) -> (Netlist, Vec<Fault>) {
        (self.netlist, self.faults)
    }
}
