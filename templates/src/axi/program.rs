//! Program registers inside a module: numbers that the host computes from the sizes, see [`array::contract::program`].
//! The array needs no divider for them.
//!
//! The number of the function that a merged array runs is there a cycle earlier than the others, in the cycle before the
//! `start` pulse: what a table has for it can wait in a register for the start.

use super::elastic::{at_start, constant, hold};
use crate::cases;
use crate::port::Port;
use array::contract::program::Register;
use rtl::{s, u, ModuleBuilder, Sig, Ty};
use std::cell::RefCell;
use std::rc::Rc;
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
    start: Sig<'m>,
    registers: Vec<Value<'m>>,
    /// The place of the number of the function that a merged array runs.
    function: Option<usize>,
    /// Values of tables by this number, from the cycle after the `start` pulse on.
    looked_up: Rc<RefCell<Vec<(Formula, Sig<'m>)>>>,
}

#[derive(Clone)]
struct Value<'m> {
    formula: Formula,
    /// The port: valid in the cycle of the `start` pulse, or before it.
    input: Sig<'m>,
    /// Valid in the cycle of the `start` pulse.
    at_start: Sig<'m>,
    /// Valid from the next cycle on.
    held: Sig<'m>,
}

impl<'m> Program<'m> {
    pub fn of(m: &'m ModuleBuilder, registers: &[Register], ports: &[Port], start: Sig<'m>) -> Program<'m> {
        let value = |(r, port): (&Register, &Port)| {
            let input = port.input(m);
            let at_start = if r.is_function { at_start(m, &port.name, input) } else { input };
            let held = hold(m, format!("{}_q", port.name), start, at_start);
            Value { formula: r.formula.clone(), input, at_start, held }
        };
        let function = registers.iter().position(|r| r.is_function);
        let registers = registers.iter().zip(ports).map(value).collect();
        Program { m, registers, function, looked_up: Rc::default(), start }
    }

    /// The value in the cycle of the `start` pulse, modulo the width of the type.
    pub fn at_start(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        match self.by_function(formula, ty) {
            Some(value) => value,
            None => self.find(formula, ty, |v| v.at_start),
        }
    }

    /// The number of the function that a merged array runs, in the cycle before the `start` pulse.
    pub fn before_start(&self, function: &Formula, ty: Ty) -> Sig<'m> {
        self.find(function, ty, |v| v.input)
    }

    /// The value from the cycle after the `start` pulse on, modulo the width of the type. A table is looked up at the start:
    /// behind the number it would be in the way of everything that depends on it.
    pub fn held(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        let Some(at_start) = self.by_function(formula, ty) else { return self.find(formula, ty, |v| v.held) };
        let mut known = self.looked_up.borrow_mut();
        if let Some((_, value)) = known.iter().find(|(of, value)| of == formula && value.ty() == ty) {
            return *value;
        }
        let value = hold(self.m, format!("looked_up_{}", known.len()), self.start, at_start);
        known.push((formula.clone(), value));
        value
    }

    /// Bits that hold a formula's values, none of which is negative.
    pub fn bits(&self, formula: &Formula) -> u32 {
        let of = |most: i64| 64 - most.max(1).leading_zeros();
        match (formula, formula.table()) {
            (Formula::Const(value), _) => of(*value),
            (_, Some(table)) => of(table.into_iter().max().unwrap_or(1)),
            _ => self.registers.iter().find(|v| v.formula == *formula).map_or(64, |v| v.held.w()),
        }
    }

    /// What a table by function has for the function that starts.
    fn by_function(&self, formula: &Formula, ty: Ty) -> Option<Sig<'m>> {
        let (table, function) = (formula.table()?, self.function?);
        Some(cases::table(self.m, self.registers[function].at_start, &table, ty))
    }

    fn find(&self, formula: &Formula, ty: Ty, pick: impl Fn(&Value<'m>) -> Sig<'m>) -> Sig<'m> {
        if let Formula::Const(c) = formula {
            return constant(self.m, *c, ty);
        }
        match self.registers.iter().find(|v| v.formula == *formula) {
            Some(value) => pick(value).to(ty),
            // An undriven wire, which the netlist check reports.
            None => self.m.wire("missing_program", ty).sig(),
        }
    }
}
