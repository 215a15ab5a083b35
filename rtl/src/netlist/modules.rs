//! `Netlist`: the modules of one chip, children before their parents.

use super::module::{Module, ModuleName, Node, Op};
use super::names::legal;
use std::collections::BTreeMap;

/// Modules with one clock.
#[derive(Clone, Debug)]
pub struct Netlist {
    clock: String,
    modules: Vec<Module>,
    index: BTreeMap<ModuleName, usize>,
}

impl Netlist {
    /// An empty netlist; the clock port of every module will be `clock`.
    pub fn new(clock: &str) -> Self {
        Netlist { clock: legal(clock), modules: vec![], index: BTreeMap::new() }
    }

    /// Adds a module with a new name, after the modules that it instantiates.
    pub(crate) fn push(&mut self, module: Module) {
        self.index.insert(module.name.clone(), self.modules.len());
        self.modules.push(module);
    }

    /// The constant with this name in the last module.
    pub(crate) fn constant(&mut self, name: &str) -> Option<&mut Node> {
        self.modules
            .last_mut()?
            .nodes
            .iter_mut()
            .find(|n| n.name.as_deref() == Some(name) && matches!(n.op, Op::Lit(_)))
    }

    /// Name of the clock port of every module.
    pub fn clock(&self) -> &str {
        &self.clock
    }

    /// The module with this name.
    pub fn get(&self, name: &ModuleName) -> Option<&Module> {
        self.index.get(name).map(|&i| &self.modules[i])
    }

    /// The module with this identifier.
    pub fn find(&self, name: &str) -> Option<&Module> {
        self.get(&ModuleName(name.to_string()))
    }

    /// All modules, children before their parents.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }
}
