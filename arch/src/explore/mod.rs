//! Which array: by hand ([`by_hand`]), or the best of those worth looking at ([`choose`](mod@choose)); [`assemble`](mod@assemble) makes each.

pub mod assemble;
pub mod by_hand;
pub mod choose;
pub mod coordinates;
