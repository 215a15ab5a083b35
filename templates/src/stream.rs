//! The streams between an AXI engine and the array: words of loads, and tokens that ask for words of drains.
//!
//! `S` is a field's type, or its value where the stream is. `map` visits the fields in the order of the ports.

use crate::port::Port;
use rtl::u;

/// Row of a dimension, `modulus * u + r`; no `r` where the modulus is 1 for all groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Digit<S> {
    pub u: S,
    pub r: Option<S>,
}

/// Which hull word an item is about: buffer half, word of the row, groups (one bit each, lowest first), row.
#[derive(Clone, Debug, PartialEq)]
pub struct Word<S> {
    pub slot: S,
    pub w: S,
    pub group: S,
    pub digits: Vec<Digit<S>>,
}

/// From a reader to the feeders behind its port.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads<S> {
    pub valid: S,
    /// Of a load.
    pub first: S,
    pub last: S,
    pub word: Word<S>,
    pub data: S,
}

/// From a writer to the collectors behind its port.
#[derive(Clone, Debug, PartialEq)]
pub struct Tokens<S> {
    pub valid: S,
    pub word: Word<S>,
}

impl<S> Word<S> {
    /// Row digits and residues, in the order of the ports.
    fn digits(&self) -> impl Iterator<Item = &S> {
        self.digits.iter().flat_map(|d| std::iter::once(&d.u).chain(&d.r))
    }
}

fn digits<S, T>(digits: &[Digit<S>], f: &mut impl FnMut(&str, &S) -> T) -> Vec<Digit<T>> {
    let mut one = |(d, digit): (usize, &Digit<S>)| {
        let u = f(&format!("u{d}"), &digit.u);
        Digit { u, r: digit.r.as_ref().map(|r| f(&format!("r{d}"), r)) }
    };
    digits.iter().enumerate().map(&mut one).collect()
}

impl<S> Loads<S> {
    pub fn map<T>(&self, mut f: impl FnMut(&str, &S) -> T) -> Loads<T> {
        let (valid, first, last) = (f("valid", &self.valid), f("first", &self.first), f("last", &self.last));
        let (slot, w, group) = (f("slot", &self.word.slot), f("w", &self.word.w), f("group", &self.word.group));
        let word = Word { slot, w, group, digits: digits(&self.word.digits, &mut f) };
        Loads { valid, first, last, word, data: f("data", &self.data) }
    }

    /// The fields in the order of the ports.
    pub fn fields(&self) -> Vec<&S> {
        let Word { slot, w, group, .. } = &self.word;
        [&self.valid, &self.first, &self.last, slot, w, group]
            .into_iter()
            .chain(self.word.digits())
            .chain([&self.data])
            .collect()
    }
}

impl<S> Tokens<S> {
    pub fn map<T>(&self, mut f: impl FnMut(&str, &S) -> T) -> Tokens<T> {
        let (valid, group) = (f("valid", &self.valid), f("group", &self.word.group));
        let (slot, w) = (f("slot", &self.word.slot), f("w", &self.word.w));
        Tokens { valid, word: Word { slot, w, group, digits: digits(&self.word.digits, &mut f) } }
    }

    /// The fields in the order of the ports.
    pub fn fields(&self) -> Vec<&S> {
        let Word { slot, w, group, .. } = &self.word;
        [&self.valid, group, slot, w].into_iter().chain(self.word.digits()).collect()
    }
}

/// A word that the collectors answer with.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<S> {
    pub valid: S,
    pub data: S,
}

impl Answer<Port> {
    /// Ports whose names begin with `prefix`, for words of so many bytes.
    pub fn ports(prefix: &str, bytes: u32) -> Self {
        Answer {
            valid: Port::bit(format!("{prefix}rd_valid")),
            data: Port::new(format!("{prefix}rd_data"), u(8 * bytes)),
        }
    }
}

/// What one buffer looks at as the stream passes it: the fields of its own group, dimensions counted from its hull's
/// first.
#[derive(Clone, Debug, PartialEq)]
pub struct Passing<S> {
    pub valid: S,
    pub first: S,
    pub slot: Option<S>,
    pub u: Vec<Option<S>>,
    pub r: Vec<Option<S>>,
    pub w: Option<S>,
    /// Absent from tokens.
    pub data: Option<S>,
}

impl<S> Passing<S> {
    pub fn map<T>(&self, mut f: impl FnMut(&str, &S) -> T) -> Passing<T> {
        let (valid, first) = (f("valid", &self.valid), f("first", &self.first));
        let slot = self.slot.as_ref().map(|x| f("slot", x));
        let mut list = |what: &str, fields: &[Option<S>]| -> Vec<Option<T>> {
            fields.iter().enumerate().map(|(d, x)| x.as_ref().map(|x| f(&format!("{what}{d}"), x))).collect()
        };
        let (u, r) = (list("u", &self.u), list("r", &self.r));
        let w = self.w.as_ref().map(|x| f("w", x));
        Passing { valid, first, slot, u, r, w, data: self.data.as_ref().map(|x| f("data", x)) }
    }

    /// Each field with that of `other`; nothing in place of one that `other` lacks.
    pub fn zip<T>(&self, other: &Passing<T>, mut f: impl FnMut(&S, Option<&T>)) {
        f(&self.valid, Some(&other.valid));
        f(&self.first, Some(&other.first));
        self.slot.iter().for_each(|x| f(x, other.slot.as_ref()));
        for (own, there) in [(&self.u, &other.u), (&self.r, &other.r)] {
            own.iter()
                .enumerate()
                .for_each(|(d, x)| x.iter().for_each(|x| f(x, there.get(d).and_then(Option::as_ref))));
        }
        self.w.iter().for_each(|x| f(x, other.w.as_ref()));
        self.data.iter().for_each(|x| f(x, other.data.as_ref()));
    }
}
