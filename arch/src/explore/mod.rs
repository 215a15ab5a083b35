//! Which array: by hand ([`by_hand`]), or the best of all ([`search`](mod@search), which [`choose`](mod@choose) asks);
//! [`assemble`](mod@assemble) makes each, [`variants`] chooses its PE.

pub mod assemble;
mod bound;
pub mod by_hand;
pub mod choose;
pub mod coordinates;
pub mod facts;
pub mod search;
mod sketch;
pub mod space;
pub mod variants;
