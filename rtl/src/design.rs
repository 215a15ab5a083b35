//! `Design`: the elaborated modules of one chip, each distinct content once.
//!
//! A template is asked for its name and content key. A known (name, key) gives the module that
//! was built for it; equal content under the same name is shared; different content under the
//! same name gets `_2`, `_3`… in order of elaboration. Children always precede their parents.

use crate::builder::ModuleBuilder;
use crate::check;
use crate::fault::{Fault, FaultKind};
use crate::ir::{Module, ModuleName};
use crate::names::{legal, Names};
use crate::verilog;
use std::collections::BTreeMap;
use std::panic::Location;

/// A parametric module: all parameters are run-time values in `self`.
pub trait Template: std::fmt::Debug {
    /// Module name; should tell the important parameters (`pe_i16_x8`).
    fn name(&self) -> String;

    /// What distinguishes the content from that of templates with the same name.
    fn key(&self) -> String {
        format!("{self:?}")
    }

    /// Writes the module. Submodules come from `d.module(..)`.
    // The lifetime is named because implementations need it for closures over `Sig<'m>`.
    #[allow(clippy::needless_lifetimes)]
    fn build<'m>(&self, m: &'m ModuleBuilder, d: &mut Design);
}

/// A set of elaborated modules with one clock.
#[derive(Debug)]
pub struct Design {
    clock: String,
    modules: Vec<Module>,
    index: BTreeMap<ModuleName, usize>,
    built: BTreeMap<(String, String), ModuleName>,
    building: Vec<(String, String)>,
    names: Names,
    faults: Vec<Fault>,
}

impl Default for Design {
    fn default() -> Self {
        Design::new("aclk")
    }
}

impl Design {
    /// An empty design whose clock port is called `clock`.
    pub fn new(clock: &str) -> Self {
        Design {
            clock: legal(clock),
            modules: vec![],
            index: BTreeMap::new(),
            built: BTreeMap::new(),
            building: vec![],
            names: Names::default(),
            faults: vec![],
        }
    }

    /// Name of the clock port of every module.
    pub fn clock(&self) -> &str {
        &self.clock
    }

    /// Elaborates a template, or finds the module it was elaborated to before.
    #[track_caller]
    pub fn module(&mut self, t: &dyn Template) -> ModuleName {
        let wanted = legal(&t.name());
        let key = (wanted.clone(), t.key());
        if let Some(n) = self.built.get(&key) {
            return n.clone();
        }
        if self.building.contains(&key) {
            let message = "the template instantiates itself".to_string();
            let at = Location::caller().to_string();
            self.faults.push(Fault { module: wanted.clone(), kind: FaultKind::Recursion, message, at });
            return ModuleName(wanted);
        }
        self.building.push(key.clone());
        let b = ModuleBuilder::new(&wanted);
        t.build(&b, self);
        self.building.pop();
        let (module, faults) = b.finish(&self.clock);
        let name = self.insert(module, faults, &wanted);
        self.built.insert(key, name.clone());
        name
    }

    fn insert(&mut self, mut module: Module, faults: Vec<Fault>, wanted: &str) -> ModuleName {
        let same_name = |n: &str| n.strip_prefix(wanted).is_some_and(|r| {
            r.is_empty() || r.strip_prefix('_').is_some_and(|d| d.bytes().all(|c| c.is_ascii_digit()))
        });
        if let Some(m) = self.modules.iter().find(|m| same_name(m.name.as_str()) && m.same_content(&module)) {
            return m.name.clone();
        }
        let name = ModuleName(self.names.fresh(wanted));
        module.name = name.clone();
        self.faults.extend(faults.into_iter().map(|f| Fault { module: name.0.clone(), ..f }));
        self.index.insert(name.clone(), self.modules.len());
        self.modules.push(module);
        name
    }

    /// The module of that name.
    pub fn get(&self, name: &ModuleName) -> Option<&Module> {
        self.index.get(name).map(|&i| &self.modules[i])
    }

    /// The module with that identifier.
    pub fn find(&self, name: &str) -> Option<&Module> {
        self.get(&ModuleName(name.to_string()))
    }

    /// All modules, children before their parents.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Faults recorded while templates were elaborated.
    pub(crate) fn elaboration_faults(&self) -> &[Fault] {
        &self.faults
    }

    /// File name and Verilog-2005 text of every module, children first. The text is meaningful
    /// only for a design that `verify` accepts.
    pub fn verilog_files(&self) -> Vec<(String, String)> {
        verilog::files(self)
    }

    /// Checks the whole design.
    ///
    /// # Errors
    /// All faults: those recorded during elaboration, undriven or unconnected things, and
    /// combinational loops through any number of modules.
    pub fn verify(&self) -> Result<(), Vec<Fault>> {
        check::verify(self)
    }
}
