//! The cost of the stations on the way of a port to a memory on another die (`templates::axi::station`).

use array::contract::away;
use array::contract::walk::Walk;
use array::resources::{bits_of, memory, Resources};
use array::vsa::Vsa;

/// The stations of a port whose engines walk like this, from the engines on.
pub(super) fn stations(vsa: &Vsa, port: usize, [reads, writes]: &[Option<Walk>; 2]) -> Vec<Resources> {
    let borders = vsa.borders(port);
    if borders == 0 {
        return vec![];
    }
    let places = away::places(borders);
    let count = bits_of(places + 1);
    let at = bits_of(places);
    // A channel's bits, and whether it leads to the memory.
    let channels = |walk: &Walk, reads: bool| {
        let (bytes, address) = (i64::from(walk.bus_bytes()), i64::from(walk.address_bits) + 8);
        if reads {
            vec![(address, true), (8 * bytes + 3, false)]
        } else {
            vec![(address, true), (9 * bytes + 1, true), (2, false)]
        }
    };
    let all: Vec<(i64, bool)> =
        [reads.as_ref().map(|w| channels(w, true)), writes.as_ref().map(|w| channels(w, false))]
            .into_iter()
            .flatten()
            .flatten()
            .collect();
    // VALID and the item, and back the pulse of what was taken.
    let border = |(bits, asks): (i64, bool)| bits + 1 + i64::from(asks);
    let station = |place: i64| {
        let one = |channel: (i64, bool)| match (place, channel.1) {
            (0, true) => Resources::logic(count + 4, border(channel) + count + 1),
            (0, false) => Resources::ff(border(channel)),
            (last, true) if last == borders => {
                let fifo = memory(places, channel.0, vsa.fabric) + Resources::logic(3 * at + 6, channel.0 + 2 * at + 2);
                fifo + Resources::ff(border(channel))
            }
            (last, false) if last == borders => Resources::ff(border(channel)),
            _ => Resources::ff(2 * border(channel)),
        };
        all.iter().map(|channel| one(*channel)).sum()
    };
    (0..=borders).map(station).collect()
}
