//! What feeders and collectors are alike in: both keep, beside a PE, a part of a hull whose words pass by as a stream,
//! at addresses that waves tell.

use super::words::{bank_start, below, common, distance, fits, BufferPorts, StreamShape, Ties, Wave, Window};
use crate::naming::Hops;
use crate::port::Port;
use crate::stream::Passing;
use array::vsa::{Bank, Hull, Vsa};
use rtl::{clog2, u, ModuleBuilder, Sig, Ty};
use scop::ScalarType;
use uniform::affine::Form;

/// The buffers of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Of the array.
    pub array: String,
    pub ty: ScalarType,
    /// Elements per bus word.
    pub word: i64,
    pub hull: Hull,
    pub row: Wave,
    pub col: Wave,
    /// PEs beside which buffers of the group stand, in the order of the grid.
    pub pes: Vec<[i64; 2]>,
    pub hops: Hops,
    /// Two halves, filled in turn.
    pub double: bool,
    /// Deep memories are UltraRAM.
    pub uram: bool,
    pub shape: StreamShape,
}

/// Where a memory is written or read: in which half, if there are two, and where in it.
#[derive(Clone, Copy)]
pub(super) struct Place<'m> {
    pub half: Option<Sig<'m>>,
    pub address: Sig<'m>,
}

/// Which items of a stream a bank takes.
pub(super) struct Taken<'m> {
    /// An item is one of them where all hold.
    pub terms: Vec<Sig<'m>>,
    /// By row dimension: how far it is from the first row that the bank takes; nothing where there is one.
    pub places: Vec<Option<Sig<'m>>>,
}

impl<'m> Taken<'m> {
    /// Only where the value is in the window, whose `low` is at `port` if it is not the same at all PEs.
    pub fn within(&mut self, m: &'m ModuleBuilder, value: Option<Sig<'m>>, window: &Window, port: &Option<Port>) {
        let from_first = (!window.always()).then(|| distance(m, value, window, port));
        self.terms.extend(from_first.map(|d| below(m, d, window.extent)));
        self.places.push(from_first.or(value));
    }
}

impl Buffer {
    /// A grid of buffers for the part `hull` of an array (index), beside the PEs that `pe` finds; forms as in the
    /// group.
    pub fn new(
        vsa: &Vsa,
        array: u32,
        hull: &Hull,
        [row, col]: [&Form; 2],
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
            hull: hull.clone(),
            row: Wave::new(vsa, row),
            col: Wave::new(vsa, col),
            pes: (0..n0).flat_map(|i| (0..n1).map(move |j| [i, j])).map(pe).collect(),
            hops: Hops::new(vsa, extent.map(|n| n > 1)),
            double,
            uram: vsa.uram,
            shape,
        }
    }

    /// What every buffer is told, beside its stream, with the constants of each bank.
    pub fn told(&self, ties: Vec<Ties>) -> BufferPorts {
        BufferPorts::new([&self.row, &self.col], &self.hops, self.double, ties)
    }

    /// Row digits that the bank takes.
    fn digit(&self, bank: &Bank, d: usize) -> Window {
        Window::of_digit(bank, d, &self.hull, &self.pes)
    }

    /// Words of a row that the bank takes.
    pub(super) fn words(&self, bank: &Bank) -> Window {
        Window::of_words(bank, self.word, &self.hull, &self.pes)
    }

    /// Where the row of the bank begins in its first word, if that is the same at all PEs.
    pub(super) fn start(&self, bank: &Bank) -> Option<i64> {
        let mut starts = self.pes.iter().map(|p| bank_start(bank, self.word, *p).1);
        let first = starts.next().unwrap_or(0);
        starts.all(|s| s == first).then_some(first)
    }

    /// The constants that bank `b` takes: windows that are not all there is, and what the caller needs besides, `first`
    /// the first word even so and `offset` the row's offset in it.
    pub(super) fn ties(&self, bank: &Bank, b: usize, first: bool, offset: bool) -> Ties {
        let port = |w: Window, name: String, bits: Option<u32>, needed: bool| {
            if w.always() && !needed {
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

    /// The item of the stream is one, of a row of which the bank has a part.
    pub(super) fn row_hit<'m>(
        &self,
        m: &'m ModuleBuilder,
        bank: &Bank,
        stream: &Passing<Sig<'m>>,
        ties: &Ties,
    ) -> Taken<'m> {
        let mut taken = Taken { terms: vec![stream.valid], places: vec![] };
        for (d, row) in bank.rows.iter().enumerate() {
            taken.within(m, stream.u[d], &self.digit(bank, d), &ties.u[d]);
            taken.terms.extend(stream.r[d].map(|r| fits(m, r, row.residue)));
        }
        taken
    }

    /// Address of the item that passes in the bank's memory: items that make a `step` have consecutive ones, from 0 on
    /// with a load's first. Where rows of a dimension may end early, those behind them begin where they would if none
    /// did: `words` is how many addresses a row takes, `places` are those of [`Taken`], of the word as well.
    pub(super) fn count<'m>(
        &self,
        m: &'m ModuleBuilder,
        (name, at): (String, Ty),
        bank: &Bank,
        words: i64,
        stream: &Passing<Sig<'m>>,
        [hit, step]: [Sig<'m>; 2],
        places: &[Option<Sig<'m>>],
    ) -> Sig<'m> {
        let zero = m.lit(0, at);
        let count = m.reg(&name, at);
        let mut here = m.mux(stream.first, zero, count.q());
        let mut blocks = vec![];
        for &d in self.shape.early.iter().rev() {
            // The rows of a dimension begin anew, and all within.
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
        count.en(stream.valid).next(m.mux(step, here.add_lit(1), here));
        here
    }

    /// Position of the wave's element within the row, from the start of its first word; `start` is where the row begins
    /// in that if no port tells it.
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

    /// Address of the word with an element of the row at address `row`.
    pub(super) fn word_address<'m>(&self, row: Sig<'m>, position: Sig<'m>) -> Sig<'m> {
        let bits = self.word.trailing_zeros();
        let word = position.slice(bits, position.w() - bits);
        let w = row.w().max(word.w()) + 1;
        (row.extend(w) + word.extend(w)).called("word_address")
    }
}

/// Addresses to write and to read in a memory of both halves, each of `depth` words with addresses `at`, and its words
/// in all. What is read with passes `later`, which is given a name for it.
pub(super) fn halves<'m>(
    m: &'m ModuleBuilder,
    at: Ty,
    depth: i64,
    [to, from]: [Place<'m>; 2],
    later: impl Fn(Sig<'m>, &str) -> Sig<'m>,
) -> (Sig<'m>, Sig<'m>, i64) {
    match (to.half, from.half) {
        // A single word needs no address, only the half.
        (Some(w), Some(r)) if depth == 1 => (w, later(r, "half"), 2),
        (Some(w), Some(r)) => (
            m.concat(&[w, to.address]),
            m.concat(&[later(r, "half"), later(from.address, "addr")]),
            (1 << at.w) + depth,
        ),
        _ => (to.address, later(from.address, "addr"), depth),
    }
}
