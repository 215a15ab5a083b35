//! A program with its connections to memory: which AXI port moves which of its arrays, and which arrays stay on chip.

use crate::io::port;
use crate::vsa::Home;
use scop::diag::Diagnostics;
use std::ops::Deref;
use uniform::design::Wiring;
use uniform::program::{Form, Program};

/// A program whose arrays have ports.
#[derive(Clone)]
pub struct Kernel<'a> {
    pub program: Program<'a>,
    /// Per array: those with equal numbers share an AXI port.
    pub ports: Vec<usize>,
    /// Per array: it stays on chip.
    pub on_chip: Vec<bool>,
}

impl<'a> Deref for Kernel<'a> {
    type Target = Program<'a>;
    fn deref(&self) -> &Program<'a> {
        &self.program
    }
}

impl<'a> Kernel<'a> {
    /// Connects a program as the user asks for it.
    ///
    /// # Errors
    /// As for [`port::assign`].
    pub fn new(program: Program<'a>, wiring: &Wiring) -> Result<Kernel<'a>, Diagnostics> {
        let ports = port::assign(&program.scop, wiring)?;
        let on_chip = port::on_chip(&program.scop, &ports, wiring);
        Ok(Kernel { program, ports, on_chip })
    }

    /// Another form of the program, which has the same arrays.
    pub fn with(&self, program: Program<'a>) -> Kernel<'a> {
        Kernel { program, ..self.clone() }
    }

    /// Where an array lies.
    pub fn home(&self, array: usize) -> Home {
        let is = &self.scop.arrays[array];
        match (is.is_temporary(), self.on_chip[array]) {
            _ if is.kept => Home::Kept,
            (true, true) => Home::OnChip,
            (true, false) => Home::Scratch,
            (false, _) => Home::Argument,
        }
    }

    /// The form that arrays are made from: over all sizes.
    pub(crate) fn source(&self) -> &Form<'a> {
        &self.program.general
    }
}
