//! Program registers inside a module: numbers that the host computes from the sizes, see [`array::contract::program`].
//! The array needs no divider for them.

use super::elastic::constant;
use crate::cases;
use crate::port::Port;
use array::contract::program::Register;
use rtl::{s, u, ModuleBuilder, Sig, Ty};
use uniform::sizes::Formula;

/// One port per register.
pub(crate) fn ports(registers: &[Register]) -> Vec<Port> {
    registers.iter().enumerate().map(|(k, r)| Port::new(format!("program_{k}"), ty(r))).collect()
}

/// Type of a register's value.
pub(crate) fn ty(r: &Register) -> Ty {
    if r.signed {
        s(r.bits)
    } else {
        u(r.bits)
    }
}

/// Values of the registers.
#[derive(Clone)]
pub(crate) struct Program<'m> {
    m: &'m ModuleBuilder,
    registers: Vec<Value<'m>>,
    /// The place of the number of the function that a merged array runs.
    function: Option<usize>,
}

#[derive(Clone)]
struct Value<'m> {
    formula: Formula,
    /// Valid in the cycle of the `start` pulse.
    at_start: Sig<'m>,
    /// Valid from the next cycle on.
    held: Sig<'m>,
}

impl<'m> Program<'m> {
    pub fn of(m: &'m ModuleBuilder, registers: &[Register], ports: &[Port], start: Sig<'m>) -> Program<'m> {
        let value = |(r, port): (&Register, &Port)| {
            let at_start = port.input(m);
            Value {
                formula: r.formula.clone(),
                at_start,
                held: m.reg(format!("{}_q", port.name), at_start.ty()).next(at_start).en(start).q(),
            }
        };
        let function = registers.iter().position(|r| r.formula == Formula::Size(0).plus(Formula::Const(-1)));
        Program { m, registers: registers.iter().zip(ports).map(value).collect(), function }
    }

    /// The value in the cycle of the `start` pulse, modulo the width of the type.
    pub fn at_start(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        self.find(formula, ty, |v| v.at_start)
    }

    /// The value from the cycle after the `start` pulse on, modulo the width of the type.
    pub fn held(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        self.find(formula, ty, |v| v.held)
    }

    fn find(&self, formula: &Formula, ty: Ty, pick: impl Fn(&Value<'m>) -> Sig<'m>) -> Sig<'m> {
        if let Formula::Const(c) = formula {
            return constant(self.m, *c, ty);
        }
        if let (Some(table), Some(function)) = (formula.table(), self.function) {
            return cases::table(self.m, pick(&self.registers[function]), &table, ty);
        }
        match self.registers.iter().find(|v| v.formula == *formula) {
            Some(value) => pick(value).to(ty),
            // An undriven wire, which the netlist check reports.
            None => self.m.wire("missing_program", ty).sig(),
        }
    }
}
