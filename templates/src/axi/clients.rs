//! Clients of a DMA engine: the places that its groups have in hardware.
//!
//! **Problem.** A merged array has groups for each of its functions, and a run serves those of one. A bit, a counter and
//! chosen constants for each group would cost far more than the engine of one function.
//!
//! **Terms.** A *client* is a list of groups of which at most one is served in a run: those that take one turn
//! ([`Walk::turns`]). Signals have one bit per client: the one of which a service, a row or a word is. Together with the
//! function of the run it tells the group.
//!
//! **Method.** A number that differs between the groups of a client is a table by function, looked up at the start of the run
//! into a register. Between clients the bits choose. Example: of two functions, the first reads `A` (64 rows) and `B` (8 rows),
//! the second `C` (16 rows). Client 0 has `A` and `C`, client 1 has `B`. The last row of a load is
//! `client0 ? table[function] : 7`, with `table` = 63, 15.
//!
//! Where runs overlap, rows of two functions may be in an engine at once. Then each group is a client of its own.

use super::elastic::choose;
use super::program::Program;
use crate::cases::of_case;
use array::contract::walk::{Walk, WalkGroup};
use rtl::{u, ModuleBuilder, Sig, Ty};
use uniform::sizes::Formula;

#[derive(Clone)]
pub(crate) struct Clients<'m> {
    m: &'m ModuleBuilder,
    program: Program<'m>,
    /// Of each client, its groups: places in the walk.
    groups: Vec<Vec<usize>>,
    /// By group, the functions that it serves; of an array that is not merged, none.
    functions: Vec<Vec<usize>>,
    /// Functions of a merged array, else 0.
    count: usize,
}

impl<'m> Clients<'m> {
    /// `apart`: each group is a client of its own.
    pub fn new(m: &'m ModuleBuilder, walk: &Walk, program: Program<'m>, apart: bool) -> Self {
        Clients {
            m,
            program,
            groups: walk.clients(apart),
            functions: walk.groups.iter().map(|g| g.when.functions.clone()).collect(),
            count: walk.merged().unwrap_or(0),
        }
    }

    pub fn count(&self) -> usize {
        self.groups.len()
    }

    /// Of each client, its groups: places in the walk.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// The run executes one of these functions of a merged array. Valid from the cycle after the `start` pulse on.
    pub fn runs(&self, functions: &[usize]) -> Sig<'m> {
        let is = |f: usize| Formula::Const(i64::from(functions.contains(&f)));
        self.program.held(&Formula::of_function((0..self.count).map(is).collect()), u(1))
    }

    /// The client is chosen, and the run is of a function of the group.
    pub fn is(&self, client: &[Sig<'m>], group: usize) -> Sig<'m> {
        let place = self.groups.iter().position(|all| all.contains(&group)).unwrap_or(0);
        match &self.groups[place][..] {
            [_] => client[place],
            _ => client[place] & self.runs(&self.functions[group]),
        }
    }

    /// Of one signal per group, that of the client's group.
    pub fn choose(&self, client: &[Sig<'m>], values: &[Sig<'m>]) -> Sig<'m> {
        let of = |groups: &Vec<usize>| {
            let others: Vec<Sig<'m>> = groups[1..].iter().map(|g| self.runs(&self.functions[*g])).collect();
            let all: Vec<Sig<'m>> = groups[1..].iter().chain(&groups[..1]).map(|g| values[*g]).collect();
            of_case(self.m, &others, &all)
        };
        choose(self.m, client, &self.groups.iter().map(of).collect::<Vec<_>>())
    }

    /// Of one number per group, that of the client's group, modulo the width of the type. Valid from the cycle after the
    /// `start` pulse on.
    pub fn number(&self, client: &[Sig<'m>], of_group: &[Formula], ty: Ty) -> Sig<'m> {
        if of_group.iter().all(|f| *f == of_group[0]) {
            return self.program.held(&of_group[0], ty);
        }
        match self.groups.iter().map(|groups| self.formula(groups, of_group)).collect::<Option<Vec<Formula>>>() {
            Some(all) if all.iter().all(|f| *f == all[0]) => self.program.held(&all[0], ty),
            Some(all) => choose(self.m, client, &all.iter().map(|f| self.program.held(f, ty)).collect::<Vec<_>>()),
            None => {
                let values: Vec<Sig<'m>> = of_group.iter().map(|f| self.program.held(f, ty)).collect();
                self.choose(client, &values)
            }
        }
    }

    /// The same of constants.
    pub fn lit(&self, walk: &Walk, client: &[Sig<'m>], of: impl Fn(&WalkGroup) -> i64, ty: Ty) -> Sig<'m> {
        self.number(client, &walk.groups.iter().map(|g| Formula::Const(of(g))).collect::<Vec<_>>(), ty)
    }

    /// That number is 0.
    pub fn is_zero(&self, client: &[Sig<'m>], of_group: &[Formula], ty: Ty) -> Sig<'m> {
        if of_group.iter().all(|f| matches!(f, Formula::Const(_))) {
            let zero = |f: &Formula| Formula::Const(i64::from(*f == Formula::Const(0)));
            return self.number(client, &of_group.iter().map(zero).collect::<Vec<_>>(), u(1));
        }
        !self.number(client, of_group, ty).reduce_or()
    }

    /// What a number per group is for a client: by function, if it is a constant in each of them.
    fn formula(&self, groups: &[usize], of_group: &[Formula]) -> Option<Formula> {
        if let [one] = groups {
            return Some(of_group[*one].clone());
        }
        let serving = |f: usize| groups.iter().find(|g| self.functions[**g].contains(&f));
        let of = |f: usize| serving(f).map(|g| of_group[*g].in_function(f));
        // In runs without a group here it is any: the one before.
        let mut known = (0..self.count).find_map(of)?;
        let mut each = |f: usize| {
            known = of(f).unwrap_or_else(|| known.clone());
            matches!(known, Formula::Const(_)).then(|| known.clone())
        };
        Some(Formula::of_function((0..self.count).map(&mut each).collect::<Option<_>>()?))
    }
}
