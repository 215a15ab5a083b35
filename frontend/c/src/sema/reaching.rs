//! Reaching definitions of local scalars: the statements that may have written the value a read sees.
//!
//! The set is exact within one iteration. A loop kills the definitions of the names it assigns, before and after its
//! body; the scalar's value may then come from any statement.

use super::Sema;
use scop::{ArrayId, Binding, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// By local scalar: the statements, one of which has written its value. A scalar that is missing may have any value.
#[derive(Clone, Debug, Default)]
pub(super) struct Reaching(BTreeMap<ArrayId, Rc<BTreeSet<usize>>>);

/// The source of a read.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub array: ArrayId,
    /// Statements, one of which has written the value; `None` for any statement.
    pub writers: Option<Rc<BTreeSet<usize>>>,
}

impl Reaching {
    /// The definitions that reach a point after one of two paths.
    pub fn joined(&self, other: &Reaching) -> Reaching {
        let both = self
            .0
            .iter()
            .filter_map(|(array, a)| Some((*array, Rc::new(a.union(other.0.get(array)?).copied().collect()))));
        Reaching(both.collect())
    }
}

impl Sema {
    pub(super) fn source(&self, array: ArrayId) -> Source {
        Source { array, writers: self.reaching.0.get(&array).cloned() }
    }

    /// Makes the next statement the only definition of `array`, if that is a local scalar.
    pub(super) fn define(&mut self, array: ArrayId) {
        let a = &self.arrays[array.index()];
        if a.storage == Storage::Local && a.binding == Binding::Local && a.dims.is_empty() {
            self.reaching.0.insert(array, Rc::new(BTreeSet::from([self.statements.len()])));
        }
    }

    /// Drops the definitions of these names: iterations of a loop may assign them.
    pub(super) fn kill_definitions(&mut self, names: &BTreeSet<Rc<str>>) {
        for name in names {
            if let Some(super::Entity::Slot(k)) = self.lookup(name) {
                let array = self.slots[*k].array;
                array.iter().for_each(|array| drop(self.reaching.0.remove(array)));
            }
        }
    }
}
