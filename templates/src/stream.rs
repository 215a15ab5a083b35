//! The streams between a DMA engine and the array: bus words of loads, and tokens that request words of drains.
//!
//! `S` is the type of a field, its port, or its value. `map` visits the fields in the order of the ports.

use crate::port::Port;
use rtl::u;

/// Row coordinate `modulus * u + r` of a dimension; no `r` if the modulus is 1 in all groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Digit<S> {
    pub u: S,
    pub r: Option<S>,
}

/// Position of a word in a footprint: buffer half, word of the row, groups (one bit each, lowest first), row.
#[derive(Clone, Debug, PartialEq)]
pub struct Word<S> {
    pub slot: S,
    pub w: S,
    pub group: S,
    pub digits: Vec<Digit<S>>,
}

/// The stream from a reader to the feeders behind its port.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads<S> {
    pub valid: S,
    /// First and last word of a load.
    pub first: S,
    pub last: S,
    pub word: Word<S>,
    pub data: S,
}

/// The tokens from a writer to the collectors behind its port.
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

/// The answer of the collectors to a token.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<S> {
    pub valid: S,
    pub data: S,
}

impl Answer<Port> {
    /// Ports with this prefix, for words of `bytes` bytes.
    pub fn ports(prefix: &str, bytes: u32) -> Self {
        Answer {
            valid: Port::bit(format!("{prefix}rd_valid")),
            data: Port::new(format!("{prefix}rd_data"), u(8 * bytes)),
        }
    }
}

/// An item of a load or token stream as a buffer sees it: the fields that its group uses, with the dimensions of its
/// own footprint.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamItem<S> {
    pub valid: S,
    pub first: S,
    /// By group, if several have the buffer: the item is the group's.
    pub groups: Vec<S>,
    pub slot: Option<S>,
    pub u: Vec<Option<S>>,
    pub r: Vec<Option<S>>,
    pub w: Option<S>,
    /// `None` for tokens.
    pub data: Option<S>,
}

impl<S> StreamItem<S> {
    pub fn map<T>(&self, mut f: impl FnMut(&str, &S) -> T) -> StreamItem<T> {
        let (valid, first) = (f("valid", &self.valid), f("first", &self.first));
        let groups = self.groups.iter().enumerate().map(|(k, x)| f(&format!("group{k}"), x)).collect();
        let slot = self.slot.as_ref().map(|x| f("slot", x));
        let mut list = |what: &str, fields: &[Option<S>]| -> Vec<Option<T>> {
            fields.iter().enumerate().map(|(d, x)| x.as_ref().map(|x| f(&format!("{what}{d}"), x))).collect()
        };
        let (u, r) = (list("u", &self.u), list("r", &self.r));
        let w = self.w.as_ref().map(|x| f("w", x));
        StreamItem { valid, first, groups, slot, u, r, w, data: self.data.as_ref().map(|x| f("data", x)) }
    }

    /// Calls `f` with each field and the same field of `other`, `None` if `other` lacks it.
    pub fn zip<T>(&self, other: &StreamItem<T>, mut f: impl FnMut(&S, Option<&T>)) {
        f(&self.valid, Some(&other.valid));
        f(&self.first, Some(&other.first));
        self.groups.iter().enumerate().for_each(|(k, x)| f(x, other.groups.get(k)));
        self.slot.iter().for_each(|x| f(x, other.slot.as_ref()));
        for (ours, theirs) in [(&self.u, &other.u), (&self.r, &other.r)] {
            ours.iter()
                .enumerate()
                .for_each(|(d, x)| x.iter().for_each(|x| f(x, theirs.get(d).and_then(Option::as_ref))));
        }
        self.w.iter().for_each(|x| f(x, other.w.as_ref()));
        self.data.iter().for_each(|x| f(x, other.data.as_ref()));
    }
}
