//! DRAM, and the footprints that are copied from and to it.
//!
//! A load copies a tile's footprint into a buffer, a drain copies one back. Each element remembers which drain wrote it
//! last: a load sees only what it has waited for, and garbage instead of the rest.

use crate::forms::{combine, local, range};
use crate::interp::linear::{Linear, Tables};
use crate::vsa::{Footprint, InputGroup, OutputGroup, Vsa};
use scop::value::mask;
use uniform::affine::Form;

/// The arrays in DRAM.
pub(super) struct Dram<'a> {
    memory: &'a mut [Vec<u64>],
    /// Per array, drains so far.
    drains: Vec<u32>,
    /// Per array that is read and written, the number (from 1) of the drain that wrote each element last.
    writer: Vec<Vec<u32>>,
}

impl<'a> Dram<'a> {
    pub fn new(vsa: &Vsa, memory: &'a mut [Vec<u64>]) -> Result<Self, String> {
        if memory.len() != vsa.arrays.len() {
            return Err(format!("{} arrays, but memory for {}", vsa.arrays.len(), memory.len()));
        }
        let mut writer = Vec::new();
        for (i, array) in vsa.arrays.iter().enumerate() {
            let size = array.dims.iter().product::<i64>();
            if memory[i].len() as i64 != size {
                return Err(format!("array {} has {size} elements, its memory {}", array.name, memory[i].len()));
            }
            let both =
                vsa.inputs.iter().any(|g| g.array == i as u32) && vsa.outputs.iter().any(|g| g.array == i as u32);
            writer.push(vec![0; if both { size as usize } else { 0 }]);
        }
        Ok(Dram { memory, drains: vec![0; vsa.arrays.len()], writer })
    }
}

/// Local extents of a footprint, in elements.
fn shape(footprint: &Footprint) -> Vec<i64> {
    footprint.rows.iter().map(|r| r.modulus * r.extent).chain([footprint.elements]).collect()
}

/// Index, in a buffer of the footprint's [`shape`], of what a port asks for.
///
/// # Errors
/// Some wave or some PE of the box asks for an element outside of the footprint.
pub(super) fn cell(
    vsa: &Vsa,
    subscripts: &[Form],
    port: &[i64],
    footprint: &Footprint,
    first: [i64; 2],
    last: [i64; 2],
) -> Result<Form, String> {
    let mut index = Form::default();
    for (d, &extent) in shape(footprint).iter().enumerate() {
        let y = local(vsa, subscripts, port, footprint, d);
        let (low, high) = range(vsa, &y, first, last);
        if low < 0 || high >= extent as i128 {
            return Err(format!("dimension {d}: elements {low}..={high} of a footprint with {extent}"));
        }
        index = combine(vsa, extent, &index, &y);
    }
    Ok(index)
}

/// One row of a footprint in DRAM.
struct Row {
    /// Index of its first element in a buffer of the footprint's [`shape`].
    cell: usize,
    /// Coordinates of its first element.
    y: Vec<i64>,
    /// Linear index of its first element in the array, which may lie outside, and from one element to the next.
    linear: i64,
    step: i64,
    /// Elements that lie inside of the array.
    inside: std::ops::Range<i64>,
}

/// The rows of the footprint whose subscripts, but for the one along the row, lie inside of the array.
fn rows(vsa: &Vsa, array: u32, footprint: &Footprint, at: &[i64], mut f: impl FnMut(Row)) {
    let (dims, shape) = (vsa.arrays[array as usize].extents(footprint.view.len()), shape(footprint));
    let origin: Vec<i64> = footprint.origin.iter().map(|o| o.eval(at, [0, 0])).collect();
    let ((along, by), step) = (footprint.along(), footprint.step(&dims));
    let last = shape.len() - 1;
    let mut local = vec![0; shape.len()];
    for row in 0..footprint.total_rows() as usize {
        let y: Vec<i64> = local.iter().zip(&origin).map(|(y, o)| y + o).collect();
        let x: Vec<i64> = footprint.view.iter().map(|f| f.eval(&y)).collect();
        if x.iter().zip(&dims).enumerate().all(|(d, (x, extent))| d == along || (0..*extent).contains(x)) {
            let linear = x.iter().zip(&dims).fold(0, |sum, (x, d)| sum * d + x);
            let end = (dims[along] - x[along] + by - 1).div_euclid(by).clamp(0, footprint.elements);
            let begin = (by - 1 - x[along]).div_euclid(by).clamp(0, end);
            f(Row { cell: row * footprint.elements as usize, y, linear, step, inside: begin..end });
        }
        for d in (0..last).rev() {
            local[d] += 1;
            if local[d] < shape[d] {
                break;
            }
            local[d] = 0;
        }
    }
}

/// The footprint of an input group, as loaded last.
pub(super) struct Feeder {
    pub cells: Vec<u64>,
    /// What a cell holds that no element was loaded into.
    none: u64,
}

impl Feeder {
    pub fn new(vsa: &Vsa, g: &InputGroup, garbage: u64) -> Self {
        let size = shape(&g.footprint).iter().product::<i64>() as usize;
        let none = garbage & mask(vsa.arrays[g.array as usize].ty.bits());
        Feeder { cells: vec![none; size], none }
    }

    /// Loads the footprint. Only the first `written` drains to this array are known to be in DRAM; what later ones
    /// wrote is garbage. Returns how many elements that concerns.
    pub fn load(&mut self, vsa: &Vsa, g: &InputGroup, at: &[i64], dram: &Dram, written: u32) -> u64 {
        let array = g.array as usize;
        let (memory, writer) = (&dram.memory[array], &dram.writer[array]);
        let mut races = 0;
        self.cells.fill(self.none);
        rows(vsa, g.array, &g.footprint, at, |Row { cell, linear, step, inside, .. }| {
            for e in inside {
                let (to, from) = (cell + e as usize, (linear + step * e) as usize);
                if writer.get(from).is_some_and(|&w| w > written) {
                    races += 1;
                } else {
                    self.cells[to] = memory[from];
                }
            }
        });
        races
    }
}

/// The footprint of an output group, as stored in this tile.
pub(super) struct Collector {
    pub cells: Vec<u64>,
    pub ports: Vec<Linear>,
    /// PEs with a collector, by index.
    pub pes: Vec<u32>,
    /// Whether this tile is drained.
    pub emitting: bool,
    none: u64,
    /// Number, from 1, of each of this group's drains among all drains to its array.
    numbers: Vec<u32>,
}

impl Collector {
    pub fn new(vsa: &Vsa, g: &OutputGroup, tables: &mut Tables, garbage: u64) -> Result<Self, String> {
        let none = garbage & mask(vsa.arrays[g.array as usize].ty.bits());
        let mut ports = Vec::new();
        for port in &g.ports {
            let form = cell(vsa, &g.subscripts, &port.offset, &g.footprint, g.first, g.last)?;
            ports.push(tables.linear(vsa, &form));
        }
        let pes = (g.first[0]..=g.last[0])
            .flat_map(|a| (g.first[1]..=g.last[1]).map(move |b| (a * vsa.extent[1] + b) as u32))
            .collect();
        let size = shape(&g.footprint).iter().product::<i64>() as usize;
        Ok(Collector { cells: vec![none; size], ports, pes, emitting: false, none, numbers: Vec::new() })
    }

    /// Start of a tile.
    pub fn open(&mut self, g: &OutputGroup, at: &[i64], case: Option<usize>) {
        self.emitting = g.emit.holds(at, case);
        self.cells.fill(self.none);
    }

    /// Number, from 1, of drain `n` of this group among all drains to its array.
    pub fn sequence(&self, n: usize) -> u32 {
        self.numbers[n]
    }

    /// Writes all cells inside of the array and the group's bounds.
    pub fn drain(&mut self, vsa: &Vsa, g: &OutputGroup, at: &[i64], dram: &mut Dram) {
        let array = g.array as usize;
        dram.drains[array] += 1;
        let number = dram.drains[array];
        self.numbers.push(number);
        let (memory, writer) = (&mut dram.memory[array], &mut dram.writer[array]);
        rows(vsa, g.array, &g.footprint, at, |Row { cell, y, linear, step, inside }| {
            let (last, outer) = (y[y.len() - 1], &y[..y.len() - 1]);
            let bounds: Vec<(i64, i64, bool)> = g
                .bounds
                .iter()
                .map(|b| {
                    let terms = b.coeffs.iter().zip(outer).chain(b.phases.iter().zip(at));
                    let fixed = b.constant + terms.map(|(c, y)| c * y).sum::<i64>();
                    (b.scale, fixed, b.equality)
                })
                .collect();
            for e in inside {
                let holds = |&(scale, fixed, equality): &(i64, i64, bool)| {
                    let v = scale * (last + e) + fixed;
                    if equality {
                        v == 0
                    } else {
                        v >= 0
                    }
                };
                if bounds.iter().all(holds) {
                    let to = (linear + step * e) as usize;
                    memory[to] = self.cells[cell + e as usize];
                    writer.get_mut(to).into_iter().for_each(|w| *w = number);
                }
            }
        });
    }
}
