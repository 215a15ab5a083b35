//! Space and time: transforms worth trying ([`transform`]), digits of a mapping (`tile`), distances over digits
//! (`carry`).

mod carry;
pub mod tile;
pub mod transform;
