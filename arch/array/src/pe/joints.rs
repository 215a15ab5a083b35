//! Which statements and reads share a node of the PE. [`super::share`] lowers what they share.

use crate::pe::pasts::Target;
use uniform::recurrence::share::{Joint, Sharing};
use uniform::system::ReadId;

/// The statements that share operators, if the options ask for that.
#[derive(Clone, Copy)]
pub(super) struct Joints<'a>(pub Option<&'a Sharing>);

impl<'a> Joints<'a> {
    /// The target that stands for this one and those it shares a node with.
    pub fn canonical(self, target: Target) -> Target {
        let Some(sharing) = self.0 else { return target };
        match target {
            Target::Value(s, lane) => Target::Value(self.of(s).map_or(s, |joint| joint.statements[0]), lane),
            Target::Variable(s, k, lane) => {
                let read = ReadId { statement: s, read: k };
                let read = sharing.variables.get(&read).map_or(read, |all| all[0]);
                Target::Variable(read.statement, read.read, lane)
            }
            other => other,
        }
    }

    /// The joint that a statement is part of.
    pub fn of(self, s: usize) -> Option<&'a Joint> {
        let sharing = self.0?;
        Some(&sharing.joints[sharing.of[s]?])
    }

    /// Reads that are one variable with read `k` of `s`; itself alone otherwise.
    pub fn reads(self, s: usize, k: usize) -> Vec<ReadId> {
        let read = ReadId { statement: s, read: k };
        self.0.and_then(|x| x.variables.get(&read)).cloned().unwrap_or_else(|| vec![read])
    }
}
