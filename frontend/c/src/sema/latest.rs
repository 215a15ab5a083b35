//! Which statements a read of a local scalar may see: those that have written it last, in the same iteration.

use super::Sema;
use scop::{ArrayId, Binding, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Of local scalars, the statements of which one has written what they hold; of others it may be any.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest(BTreeMap<ArrayId, Rc<BTreeSet<usize>>>);

/// What a statement reads.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub array: ArrayId,
    /// Statements of which one has written it, if that is known.
    pub writers: Option<Rc<BTreeSet<usize>>>,
}

impl Latest {
    /// What is known where one of both is.
    pub fn joined(&self, other: &Latest) -> Latest {
        let both = self
            .0
            .iter()
            .filter_map(|(array, a)| Some((*array, Rc::new(a.union(other.0.get(array)?).copied().collect()))));
        Latest(both.collect())
    }
}

impl Sema {
    pub(super) fn source(&self, array: ArrayId) -> Source {
        Source { array, writers: self.latest.0.get(&array).cloned() }
    }

    /// The next statement writes all that `array` holds, if it is a local scalar.
    pub(super) fn writes(&mut self, array: ArrayId) {
        let a = &self.arrays[array.index()];
        if a.storage == Storage::Local && a.binding == Binding::Local && a.dims.is_empty() {
            self.latest.0.insert(array, Rc::new(BTreeSet::from([self.statements.len()])));
        }
    }

    /// Iterations may have assigned these in between.
    pub(super) fn forget_latest(&mut self, names: &BTreeSet<Rc<str>>) {
        for name in names {
            if let Some(super::Entity::Slot(k)) = self.lookup(name) {
                let array = self.slots[*k].array;
                array.iter().for_each(|array| drop(self.latest.0.remove(array)));
            }
        }
    }
}
