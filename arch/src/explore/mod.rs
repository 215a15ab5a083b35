//! Which array: one a user describes ([`given`]), a row of the list of all ([`rows`]), or the best
//! ([`search`](mod@search), which [`choose`](mod@choose) asks); [`assemble`](mod@assemble) makes each, [`variants`]
//! chooses its PE.

pub mod apart;
pub mod assemble;
pub mod by_hand;
pub mod choose;
pub mod coordinates;
pub mod facts;
pub mod given;
mod handover;
pub mod rows;
pub mod search;
mod sketch;
pub mod space;
pub mod strips;
pub mod variants;
