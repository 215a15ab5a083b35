//! Buffers that several groups of a merged array have in common.
//!
//! **Problem.** Functions with unlike tiles have groups of their own, each with feeders or collectors that idle while
//! other functions run.
//!
//! **Terms.** A *guest* is a group that uses the buffers of another group, its *owner*, which is of other functions. An
//! owner may have several guests, no two of them of one function.
//!
//! **Method.** Engines and sequencer treat guest and owner as separate groups. Only the buffers are the same: each takes
//! the words that are its own by the tiles of the group that sends them, and a wave brings the address by the tiles of
//! the present function. Nodes read the owner ([`Op::Input`]), and the owner's ports emit for its guests.
//!
//! ```text
//! input 1 gemm_B …                  input 3 trmm_B …             the node of both: input 1 port 0
//!   runs 4 gemm_B                     runs 5 trmm_B
//!                                     buffers of 1
//! ```
//!
//! [`Op::Input`]: crate::vsa::Op::Input

use crate::vsa::Vsa;
use std::collections::BTreeMap;
use uniform::affine::{Condition, Form};

/// The owner of each guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Common {
    pub inputs: BTreeMap<usize, usize>,
    pub outputs: BTreeMap<usize, usize>,
}

/// A run of this function of a merged array.
pub fn is_function(function: usize) -> Condition {
    let form = Form { constant: -(function as i64), counters: vec![1], space: [0, 0] };
    Condition { form, equality: true }
}

impl Vsa {
    /// The input group whose feeders a group uses.
    pub fn feeders_of(&self, g: usize) -> usize {
        self.common.inputs.get(&g).copied().unwrap_or(g)
    }

    /// The output group whose collectors a group uses.
    pub fn collectors_of(&self, o: usize) -> usize {
        self.common.outputs.get(&o).copied().unwrap_or(o)
    }

    /// The groups that use the feeders of an input group, itself first. None of a guest.
    pub fn fed_with(&self, g: usize) -> Vec<usize> {
        with(&self.common.inputs, g)
    }

    /// The groups that use the collectors of an output group, itself first. None of a guest.
    pub fn collected_with(&self, o: usize) -> Vec<usize> {
        with(&self.common.outputs, o)
    }
}

fn with(owners: &BTreeMap<usize, usize>, owner: usize) -> Vec<usize> {
    if owners.contains_key(&owner) {
        return vec![];
    }
    let guests = owners.iter().filter(|of| *of.1 == owner).map(|of| *of.0);
    std::iter::once(owner).chain(guests).collect()
}
