//! Why a mapping is refused.

/// Why a mapping is not a systolic array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illegal(pub String);
