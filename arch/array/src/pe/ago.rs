//! How long ago a value was made.

/// How many waves ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ago {
    /// At most.
    pub waves: i64,
    /// Where that is not the same at all sizes, or in all phases or strips.
    pub lag: Option<u32>,
    /// And so many more.
    pub more: i64,
}

impl Ago {
    /// Always the same.
    pub fn always(waves: i64) -> Ago {
        Ago { waves, ..Ago::default() }
    }
}
