//! The accesses of one array: all that its dataflow depends on.

use super::WRITE;
use crate::{Affine, Constraint, StmtId};

/// All accesses of an array.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Accesses {
    /// Undefined before the region and dead after it.
    pub temporary: bool,
    /// Pieces of dependences are not merged.
    pub unmerged: bool,
    /// In the program's order.
    pub statements: Vec<Accessor>,
}

/// A statement that accesses the array.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Accessor {
    pub domain: Vec<Vec<Constraint>>,
    pub beta: Vec<i64>,
    pub depth: usize,
    /// Read index or [`WRITE`], subscripts.
    pub accesses: Vec<(usize, Vec<Affine>)>,
    /// By read index: where the statement uses the value it reads, if not everywhere. Only for temporary arrays.
    pub used: Vec<(usize, Vec<Vec<Constraint>>)>,
}

/// One access of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference {
    /// Index into [`Accesses::statements`].
    pub statement: usize,
    /// Read index or [`WRITE`].
    pub access: usize,
}

impl Reference {
    /// The statement's number in a program.
    pub fn id(self, ids: &[StmtId]) -> StmtId {
        ids[self.statement]
    }
    /// The statement among those that access the array.
    pub fn local_id(self) -> StmtId {
        StmtId(self.statement as u32)
    }
    /// isl tuple name of the instances of this access.
    pub fn name(self) -> String {
        match self.access {
            WRITE => format!("W{}", self.statement),
            read => format!("R{}_{read}", self.statement),
        }
    }
}

impl Accesses {
    pub fn references(&self) -> impl Iterator<Item = Reference> + use<'_> {
        let all = self.statements.iter().enumerate();
        all.flat_map(|(statement, s)| s.accesses.iter().map(move |a| Reference { statement, access: a.0 }))
    }

    pub fn statement(&self, reference: Reference) -> &Accessor {
        &self.statements[reference.statement]
    }

    pub fn subscripts(&self, reference: Reference) -> &[Affine] {
        let all = &self.statement(reference).accesses;
        all.iter().find(|a| a.0 == reference.access).map_or(&[], |a| &a.1)
    }

    pub fn depth(&self, reference: Reference) -> usize {
        self.statement(reference).depth
    }
}
