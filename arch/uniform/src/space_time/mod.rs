//! Space and time: transforms worth trying ([`transform`]), digits of a mapping (`tile`), distances over digits
//! (`carry`).

pub mod by_hand;
mod carry;
pub mod coordinates;
pub mod tile;
pub mod transform;
