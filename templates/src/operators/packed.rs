//! Several integers in one number ([`scop::value::Field`]): factors side by side, and the fields of what a DSP slice
//! makes of them.

use super::request::{wires, Request};
use array::contract::packed::looked_at;
use rtl::{u, ModuleBuilder, Sig};
use scop::value::{Field, Spread};

/// The integers at a distance of `step` bits: each takes 1 from the one above where it is negative.
pub(super) fn join<'m>(m: &'m ModuleBuilder, r: &Request<'_, 'm>, step: u32) -> Sig<'m> {
    let (ty, last) = (wires(r.ty), r.operands.len() - 1);
    let mut negative: Option<Sig<'m>> = None;
    let mut pieces = vec![];
    for (k, x) in r.operands.iter().enumerate() {
        let bits = if k < last { step } else { ty.w - step * last as u32 };
        let own = x.resize(bits).unsigned();
        let piece = match negative {
            Some(below) => (own - below.extend(bits)).named(format!("{}_{k}", r.name)),
            None => own,
        };
        negative = if x.ty().signed { Some(piece.msb()) } else { None };
        pieces.push(piece);
    }
    pieces.reverse();
    m.concat(&pieces).to(ty)
}

/// Joined integers at another distance: wires.
pub(super) fn spread<'m>(m: &'m ModuleBuilder, x: Sig<'m>, r: &Request<'_, 'm>, spread: Spread) -> Sig<'m> {
    let (ty, last) = (wires(r.ty), spread.count - 1);
    let piece = |k: u32| {
        let (at, bits) = (k * spread.from, if k < last { spread.to } else { ty.w - spread.to * last });
        let own = x.slice(at, if k < last { spread.from } else { x.w() - at });
        let own = if spread.integer.signed() { own.signed() } else { own.unsigned() };
        own.resize(bits).unsigned()
    };
    let pieces: Vec<Sig<'m>> = (0..spread.count).rev().map(piece).collect();
    m.concat(&pieces).to(ty)
}

/// The integer of a field, with as many copies of its sign as the result has room for.
pub(super) fn field<'m>(m: &'m ModuleBuilder, x: Sig<'m>, r: &Request<'_, 'm>, field: Field) -> Sig<'m> {
    let (bits, ty) = (x.slice(field.at, field.bits).unsigned(), wires(r.ty));
    if ty.w <= field.bits {
        return bits.truncate(ty.w).to(ty);
    }
    let negative = match looked_at(field) {
        Some(0) => return bits.extend(ty.w).to(ty),
        Some(1) => return bits.signed().extend(ty.w).to(ty),
        Some(all) => {
            let others = bits.slice(field.bits - all, all - 1).reduce_or();
            bits.msb() & others
        }
        None => bits.ge(m.lit(field.negative, u(field.bits))),
    };
    let negative = negative.named(format!("{}_negative", r.name));
    m.concat(&[m.repeat(negative, ty.w - field.bits), bits]).to(ty)
}
