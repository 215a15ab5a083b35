//! A program with its connections to memory: which AXI port moves which of its arrays, and which arrays stay on chip.

use crate::io::port;
use crate::vsa::Scratch;
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

    /// The memory of an array that passes values between phases; `None` for other arrays.
    pub fn scratch(&self, array: usize) -> Option<Scratch> {
        let place = if self.on_chip[array] { Scratch::OnChip } else { Scratch::Dram };
        self.scop.arrays[array].is_temporary().then_some(place)
    }

    /// The form that arrays are made from: over all sizes.
    pub(crate) fn source(&self) -> &Form<'a> {
        &self.program.general
    }
}
