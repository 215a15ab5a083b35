//! Program registers inside of a module, see [`array::contract::program`].

use super::elastic::constant;
use crate::port::Port;
use array::contract::program::Register;
use rtl::{s, u, ModuleBuilder, Sig, Ty};
use uniform::sizes::Formula;

/// One port a register.
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

/// The registers' values.
#[derive(Clone)]
pub(crate) struct Program<'m> {
    m: &'m ModuleBuilder,
    registers: Vec<Value<'m>>,
}

#[derive(Clone)]
struct Value<'m> {
    formula: Formula,
    /// In the cycle of the `start` pulse.
    given: Sig<'m>,
    /// From the next one on.
    kept: Sig<'m>,
}

impl<'m> Program<'m> {
    pub fn of(m: &'m ModuleBuilder, registers: &[Register], ports: &[Port], start: Sig<'m>) -> Program<'m> {
        let value = |(r, port): (&Register, &Port)| {
            let given = port.input(m);
            Value {
                formula: r.formula.clone(),
                given,
                kept: m.reg(format!("{}_q", port.name), given.ty()).next(given).en(start).q(),
            }
        };
        Program { m, registers: registers.iter().zip(ports).map(value).collect() }
    }

    /// The value in the cycle of the `start` pulse, modulo the type's width.
    pub fn given(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        self.find(formula, ty, |v| v.given)
    }

    /// The value from the cycle behind the `start` pulse on, modulo the type's width.
    pub fn kept(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        self.find(formula, ty, |v| v.kept)
    }

    fn find(&self, formula: &Formula, ty: Ty, pick: impl Fn(&Value<'m>) -> Sig<'m>) -> Sig<'m> {
        if let Formula::Const(c) = formula {
            return constant(self.m, *c, ty);
        }
        match self.registers.iter().find(|v| v.formula == *formula) {
            Some(value) => pick(value).to(ty),
            // Not driven: a fault of the netlist.
            None => self.m.wire("missing_program", ty).sig(),
        }
    }
}
