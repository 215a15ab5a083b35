//! Common part of feeders and collectors: a double buffer (ping-pong) beside a PE. It stores the part of a footprint
//! that its PE needs. The words pass by as a stream; the waves bring the address.

use super::words::{bank_start, common, distance, equals, inside, BufferPorts, StreamShape, Ties, WaveIndex, Window};
use crate::naming::Hops;
use crate::port::Port;
use crate::stream::StreamItem;
use array::vsa::{Bank, Footprint, Vsa};
use rtl::{clog2, u, ModuleBuilder, Sig, Ty};
use scop::ScalarType;

/// Parameters of the buffers of an I/O group.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Name of the array.
    pub array: String,
    pub ty: ScalarType,
    /// Elements per bus word.
    pub word: i64,
    pub footprint: Footprint,
    pub row: WaveIndex,
    pub col: WaveIndex,
    /// PEs that have a buffer of the group, in the order of the grid.
    pub pes: Vec<[i64; 2]>,
    pub hops: Hops,
    /// Double buffer: two halves.
    pub double: bool,
    /// The board has UltraRAM.
    pub uram: bool,
    pub shape: StreamShape,
}

/// A group of those that have a buffer: which words are its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    pub buffer: Buffer,
    pub bank: Bank,
}

/// What the buffers of a group store: a box of an array (index), and the address in it.
pub struct Contents<'a> {
    pub array: u32,
    pub footprint: &'a Footprint,
    pub row: WaveIndex,
    pub col: WaveIndex,
}

/// A memory address: the half, if there are two, and the address in it.
#[derive(Clone, Copy)]
pub(super) struct Place<'m> {
    pub half: Option<Sig<'m>>,
    pub address: Sig<'m>,
}

/// Inputs of an address counter.
pub(super) struct Count<'a, 'm> {
    /// Addresses per row.
    pub words: i64,
    /// The bank takes the item.
    pub hit: Sig<'m>,
    /// The address advances.
    pub step: Sig<'m>,
    /// As in [`Selection`], the word included.
    pub places: &'a [Option<Sig<'m>>],
}

/// The stream items that a bank takes.
pub(super) struct Selection<'m> {
    /// The bank takes an item if all terms are 1.
    pub terms: Vec<Sig<'m>>,
    /// By row dimension: distance from the first row of the bank, `None` if there is only one row.
    pub places: Vec<Option<Sig<'m>>>,
}

impl<'m> Selection<'m> {
    /// Adds the condition that the value is in the window. Its `low` is at `port` if it differs between PEs.
    pub fn within(&mut self, m: &'m ModuleBuilder, value: Option<Sig<'m>>, window: &Window, port: &Option<Port>) {
        if window.is_total() {
            return self.places.push(value);
        }
        let (terms, place) = inside(m, distance(m, value, window, port), window);
        self.terms.extend(terms);
        self.places.push(Some(place));
    }
}

impl Buffer {
    /// A grid of buffers, at the PEs that `pe` returns for places of the grid.
    pub fn new(
        vsa: &Vsa,
        Contents { array, footprint, row, col }: Contents<'_>,
        extent: [i64; 2],
        pe: impl Fn([i64; 2]) -> [i64; 2],
        double: bool,
        shape: StreamShape,
    ) -> Buffer {
        let array = &vsa.arrays[array as usize];
        let [n0, n1] = extent;
        Buffer {
            array: array.name.clone(),
            ty: array.ty,
            word: array.word as i64,
            footprint: footprint.clone(),
            row,
            col,
            pes: (0..n0).flat_map(|i| (0..n1).map(move |j| [i, j])).map(pe).collect(),
            hops: Hops::new(vsa, extent.map(|n| n > 1)),
            double,
            uram: vsa.uram,
            shape,
        }
    }

    /// The buffer as one of the groups that have it sees it.
    pub(super) fn of_group(&self, footprint: &Footprint) -> Buffer {
        Buffer { footprint: footprint.clone(), shape: self.shape.of_group(footprint), ..self.clone() }
    }

    /// The ports of every buffer besides its stream; `ties`: constants of each bank.
    pub fn ports(&self, ties: Vec<Ties>) -> BufferPorts {
        BufferPorts::new([&self.row, &self.col], &self.hops, self.double, ties)
    }

    /// Window of the row digits of the bank.
    fn digit(&self, bank: &Bank, d: usize) -> Window {
        Window::of_digit(bank, d, &self.footprint, &self.pes)
    }

    /// Window of the words of a row of the bank.
    pub(super) fn words(&self, bank: &Bank) -> Window {
        Window::of_words(bank, self.word, &self.footprint, &self.pes)
    }

    /// Element of its first word in which the row of the bank starts, if that is equal at all PEs.
    pub(super) fn start(&self, bank: &Bank) -> Option<i64> {
        let mut starts = self.pes.iter().map(|p| bank_start(bank, self.word, *p).1);
        let first = starts.next().unwrap_or(0);
        starts.all(|s| s == first).then_some(first)
    }

    /// Constant inputs of bank `b`: the lower bound of each window that does not cover all values. The caller may need
    /// more: `first` the first word in any case, `offset` the offset of the row in it.
    pub(super) fn ties(&self, bank: &Bank, b: usize, first: bool, offset: bool) -> Ties {
        let port = |w: Window, name: String, bits: Option<u32>, needed: bool| {
            if w.is_total() && !needed {
                None
            } else {
                w.port(name, bits)
            }
        };
        Ties {
            u: (0..bank.rows.len())
                .map(|d| port(self.digit(bank, d), format!("u{b}_{d}"), self.shape.u[d], false))
                .collect(),
            w: port(self.words(bank), format!("w{b}"), self.shape.w, first),
            o: offset.then(|| Port::new(format!("o{b}"), u(clog2(self.word as u64)))),
        }
    }

    /// Selects the stream items of rows that the bank has a part of, whatever their residues in the dimensions `across`.
    pub(super) fn row_hit<'m>(
        &self,
        m: &'m ModuleBuilder,
        bank: &Bank,
        stream: &StreamItem<Sig<'m>>,
        (ties, across): (&Ties, &[usize]),
    ) -> Selection<'m> {
        let mut selection = Selection { terms: vec![stream.valid], places: vec![] };
        for (d, row) in bank.rows.iter().enumerate() {
            selection.within(m, stream.u[d], &self.digit(bank, d), &ties.u[d]);
            let residue = stream.r[d].filter(|_| !across.contains(&d));
            selection.terms.extend(residue.map(|r| equals(m, r, row.residue)));
        }
        selection
    }

    /// Address counter: the address in the bank of the stream item that passes. It starts at 0 with the first item of a
    /// load and advances with every `step`. Where rows of a dimension may end early, the next row starts at the address
    /// that it would have if none did.
    pub(super) fn count<'m>(
        &self,
        m: &'m ModuleBuilder,
        (name, at): (String, Ty),
        bank: &Bank,
        stream: &StreamItem<Sig<'m>>,
        of: Count<'_, 'm>,
    ) -> Sig<'m> {
        let count = m.reg(&name, at);
        let here = m.mux(stream.first, m.lit(0, at), count.q());
        let step = of.step;
        let here = self.jump(m, (name, at), bank, stream, (of, here));
        count.en(stream.valid).next(m.mux(step, here.add_lit(1), here));
        here
    }

    /// The same for banks that are filled together: it advances with each item that begins (`hit`) a group of rows, and
    /// the other rows of the group have its address.
    pub(super) fn count_ahead<'m>(
        &self,
        m: &'m ModuleBuilder,
        (name, at): (String, Ty),
        bank: &Bank,
        stream: &StreamItem<Sig<'m>>,
        of: Count<'_, 'm>,
    ) -> Sig<'m> {
        let (count, next) = (m.reg(&name, at), m.reg(format!("{name}_next"), at));
        let following = m.mux(stream.first, m.lit(0, at), next.q());
        let hit = of.hit;
        let here = self.jump(m, (name, at), bank, stream, (of, m.mux(hit, following, count.q())));
        count.en(stream.valid).next(here);
        next.en(stream.valid).next(m.mux(hit, here.add_lit(1), following));
        here
    }

    /// The address `here`, or that of the next rows of a dimension whose rows may end early.
    fn jump<'m>(
        &self,
        m: &'m ModuleBuilder,
        (name, at): (String, Ty),
        bank: &Bank,
        stream: &StreamItem<Sig<'m>>,
        (Count { words, hit, places, .. }, mut here): (Count<'_, 'm>, Sig<'m>),
    ) -> Sig<'m> {
        let zero = m.lit(0, at);
        let mut blocks = vec![];
        for &d in self.shape.early.iter().rev() {
            // The first row of this dimension and of all inner ones.
            let first = places[d..].iter().flatten().map(|place| !place.reduce_or());
            let begins = m.all(&[hit].into_iter().chain(first).collect::<Vec<_>>()).named(format!("{name}_begins{d}"));
            let stride = bank.rows[d..].iter().map(|r| r.extent).product::<i64>() * words;
            let stride = m.lit_big(&[stride as u64], at);
            let block = m.reg(format!("{name}_block{d}"), at);
            let before = m.mux(stream.first, zero - stride, block.q());
            here = m.mux(begins, before + stride, here);
            blocks.push((block, begins, before));
        }
        let here = here.called(format!("{name}_here"));
        for (block, begins, before) in blocks {
            block.en(stream.valid).next(m.mux(begins, here, before));
        }
        here
    }

    /// Position of the element of a wave, counted from the start of the first word of its row. `start`: offset of the
    /// row in that word, unless a port has it.
    pub(super) fn position<'m>(
        &self,
        m: &'m ModuleBuilder,
        col: Option<Sig<'m>>,
        ties: &Ties,
        start: Option<i64>,
    ) -> Sig<'m> {
        let col = self.col.value(m, col);
        let offset = match &ties.o {
            Some(port) => port.input(m),
            None => common(m, start, u(clog2(self.word as u64))),
        };
        let wide = col.w().max(offset.w()) + 1;
        (col.extend(wide) + offset.extend(wide)).called("position")
    }

    /// Address of the word with the element at `position` of the row at address `row`.
    pub(super) fn word_address<'m>(&self, row: Sig<'m>, position: Sig<'m>) -> Sig<'m> {
        let bits = self.word.trailing_zeros();
        let word = position.slice(bits, position.w() - bits);
        let w = row.w().max(word.w()) + 1;
        (row.extend(w) + word.extend(w)).called("word_address")
    }
}

/// Write and read address of a memory with both halves, and its words. A half has `depth` words.
pub(super) fn halves<'m>(m: &'m ModuleBuilder, depth: i64, [to, from]: [Place<'m>; 2]) -> (Sig<'m>, Sig<'m>, i64) {
    match (to.half, from.half) {
        // A half of one word needs no address.
        (Some(w), Some(r)) if depth == 1 => (w, r, 2),
        (Some(w), Some(r)) => {
            let at = to.address.ty();
            (m.concat(&[w, to.address]), m.concat(&[r, from.address]), (1 << at.w) + depth)
        }
        _ => (to.address, from.address, depth),
    }
}
