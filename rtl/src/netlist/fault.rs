//! Faults of a design, each with the source position in the template that caused it.

use std::fmt;

/// Class of a fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FaultKind {
    /// An operand, port or register has the wrong width or signedness.
    Width,
    /// A literal does not fit its type.
    Literal,
    /// A wire, register, instance input or memory port has no driver.
    Undriven,
    /// Two drivers drive the same thing.
    MultiplyDriven,
    /// A port or module does not exist, or a port is declared twice.
    Port,
    /// A value depends on itself within a cycle, possibly through instances.
    CombLoop,
    /// A template instantiates itself.
    Recursion,
}

/// One fault of a design.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Module that contains it.
    pub module: String,
    pub kind: FaultKind,
    pub message: String,
    /// `file:line:column` of the template's source.
    pub at: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: in module `{}`: {}", self.at, self.module, self.message)
    }
}

impl std::error::Error for Fault {}
