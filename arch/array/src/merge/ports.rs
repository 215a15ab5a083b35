//! The arrays in memory of a merged array, and the AXI ports that move them.
//!
//! Functions share ports: each takes the ports of those before it that are as wide as its own, first those that move
//! data the same way. One function runs at a time, so no port has more to do than before, and memories on chip whose values
//! are of one run are shared, too. (If runs overlap, these are not: two runs may use them at a time.)

use crate::vsa::{DramArray, Home, Member, Vsa};
use std::cmp::Reverse;

/// The arrays of all functions.
pub struct Layout {
    pub dram: Vec<DramArray>,
    /// Per function and own array: the index among all.
    pub arrays: Vec<Vec<usize>>,
    pub members: Vec<Member>,
}

/// A port, while functions choose among them.
struct Shared {
    bytes: u32,
    /// It reads, it writes.
    moves: [bool; 2],
    /// The array on chip that is behind it.
    on_chip: Option<DramArray>,
}

impl Shared {
    /// The functions have this port together: their arrays are in DRAM, one array is kept for all of them, or one memory
    /// on chip holds what is of a run.
    fn is_one(&self, other: &Shared, overlap: bool) -> bool {
        let one = |a: &DramArray, b: &DramArray| {
            let of_run = a.home == Home::OnChip && !overlap;
            (a.home, a.ty, &a.dims) == (b.home, b.ty, &b.dims) && (of_run || a.home == Home::Kept && a.name == b.name)
        };
        let behind = match (&self.on_chip, &other.on_chip) {
            (None, None) => true,
            (Some(a), Some(b)) => one(a, b),
            _ => false,
        };
        behind && self.bytes == other.bytes
    }
}

fn moves(vsa: &Vsa, port: usize) -> [bool; 2] {
    [vsa.inputs.iter().any(|g| vsa.port_of(g.array) == port), vsa.outputs.iter().any(|g| vsa.port_of(g.array) == port)]
}

/// Per function and own port: one of the shared ports. The functions with most engines choose first, and first for the
/// ports with most engines: the others find engines there.
fn chosen(arrays: &[&Vsa]) -> Vec<Vec<usize>> {
    let engines = |vsa: &Vsa, port: usize| moves(vsa, port).into_iter().filter(|moves| *moves).count();
    let all_engines = |vsa: &Vsa| (0..vsa.ports()).map(|port| engines(vsa, port)).sum::<usize>();
    let mut order: Vec<usize> = (0..arrays.len()).collect();
    order.sort_by_key(|&f| Reverse(all_engines(arrays[f])));
    let mut shared: Vec<Shared> = vec![];
    let mut all: Vec<Vec<usize>> = arrays.iter().map(|vsa| vec![0; vsa.ports()]).collect();
    for f in order {
        let vsa = arrays[f];
        let mut own: Vec<usize> = (0..vsa.ports()).collect();
        own.sort_by_key(|&port| Reverse(engines(vsa, port)));
        let mut mine: Vec<usize> = vec![];
        for own in own {
            let wanted =
                Shared { bytes: vsa.bus_bytes(own), moves: moves(vsa, own), on_chip: vsa.on_chip(own).cloned() };
            let free = (0..shared.len()).filter(|p| !mine.contains(p) && wanted.is_one(&shared[*p], vsa.overlap));
            // Engines that would be new there.
            let new = |p: &usize| (0..2).filter(|d| wanted.moves[*d] && !shared[*p].moves[*d]).count();
            let port = free.min_by_key(new).unwrap_or(shared.len());
            match shared.get_mut(port) {
                Some(known) => (0..2).for_each(|d| known.moves[d] |= wanted.moves[d]),
                None => shared.push(wanted),
            }
            mine.push(port);
            all[f][own] = port;
        }
    }
    all
}

/// The arrays of all functions, in the order of [`Home`]. An array on chip is one for all functions that have its port.
pub fn layout(arrays: &[&Vsa]) -> Layout {
    let chosen = chosen(arrays);
    let mut dram: Vec<DramArray> = vec![];
    let mut numbers: Vec<usize> = vec![];
    let mut places: Vec<Vec<usize>> = arrays.iter().map(|vsa| vec![0; vsa.arrays.len()]).collect();
    for home in Home::ALL {
        for (f, vsa) in arrays.iter().enumerate() {
            for (k, a) in vsa.arrays.iter().enumerate().filter(|(_, a)| a.home == home) {
                let port = chosen[f][a.port as usize];
                let number = numbers.iter().position(|p| *p == port).unwrap_or_else(|| {
                    numbers.push(port);
                    numbers.len() - 1
                });
                let is_it = |b: &DramArray| b.home.is_on_chip() && b.port as usize == number;
                if let Some(known) = dram.iter().position(is_it) {
                    places[f][k] = known;
                    continue;
                }
                places[f][k] = dram.len();
                if home == Home::Kept {
                    let name = unlike(&a.name, |name| dram.iter().any(|b| b.name == name));
                    dram.push(DramArray { name, port: number as u32, ..a.clone() });
                    continue;
                }
                let name = unlike(&format!("{}_{}", vsa.name, a.name), |name| dram.iter().any(|b| b.name == name));
                dram.push(DramArray { name, port: number as u32, ..a.clone() });
            }
        }
    }
    let (mut scalar, mut size) = (0, 1);
    let mut members = vec![];
    for (f, vsa) in arrays.iter().enumerate() {
        let own = vsa.arrays.iter().zip(&places[f]).map(|(a, k)| (*k, a.name.clone())).collect();
        let scalars = vsa.scalars.iter().enumerate().map(|(k, s)| (scalar + k, s.name.clone())).collect();
        let sizes = vsa.sizes.list.iter().enumerate().map(|(k, s)| (size + k, s.name.clone())).collect();
        members.push(Member { name: vsa.name.clone(), arrays: own, scalars, sizes });
        scalar += vsa.scalars.len();
        size += vsa.sizes.list.len();
    }
    Layout { dram, arrays: places, members }
}

/// The name, or one behind it that is new.
fn unlike(name: &str, known: impl Fn(&str) -> bool) -> String {
    let all = std::iter::once(name.to_string()).chain((2..).map(|k| format!("{name}_{k}")));
    all.into_iter().find(|name| !known(name)).unwrap_or_default()
}
