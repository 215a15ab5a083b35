//! What can be wrong with a design, with the place in the template that caused it.

use std::fmt;

/// Class of a fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FaultKind {
    /// Operand, port or register of another width or signedness than required.
    Width,
    /// A literal that its type cannot hold.
    Literal,
    /// A wire, register, instance input or memory port without a driver.
    Undriven,
    /// Two drivers for one thing.
    MultiplyDriven,
    /// No such port or module, or a port declared twice.
    Port,
    /// A value that depends on itself within a cycle, possibly through instances.
    CombLoop,
    /// A template that instantiates itself.
    Recursion,
}

/// One fault of a design.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Module in which it was found.
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
