//! Sets of tiles: when an I/O group is used, loaded, stored or served.

use std::collections::BTreeSet;
use uniform::sizes::Formula;

/// Tiles whose counters have certain values, in the phases of certain cases.
///
/// Example: `at` `[None, Some(0)]` is every tile in which the second tile counter is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// Of a merged array: the functions in whose runs the tiles are, in ascending order; empty for those of all.
    pub functions: Vec<usize>,
    /// Per tile counter, the only value that it may have: a number, or a parameter. Counters beyond the end have any.
    pub at: Vec<Option<Formula>>,
    /// The cases of the phases ([`uniform::counters`]); `None` for all of them and the phases between.
    pub cases: Option<BTreeSet<usize>>,
}

impl When {
    /// Tiles with these values, in all phases.
    pub fn new(values: impl IntoIterator<Item = Option<i64>>) -> When {
        When { at: values.into_iter().map(|v| v.map(Formula::Const)).collect(), ..When::default() }
    }
    /// The value of a counter; of a parameter, the greatest that it may be.
    pub fn value(&self, counter: usize) -> Option<i64> {
        self.at.get(counter)?.as_ref().map(Formula::most)
    }
    /// The parameter that a counter has to be equal to.
    pub fn parameter(&self, counter: usize) -> Option<usize> {
        self.at.get(counter)?.as_ref()?.parameter()
    }
    /// The functions in whose runs tiles are; one that is none, of an array that is not merged.
    pub fn runs(&self) -> Vec<Option<usize>> {
        match &self.functions[..] {
            [] => vec![None],
            functions => functions.iter().map(|f| Some(*f)).collect(),
        }
    }
    /// Whether tiles are in runs of this function of a merged array.
    pub fn is_in_function(&self, function: usize) -> bool {
        self.functions.is_empty() || self.functions.contains(&function)
    }
    /// Whether phases of a case, or between cases, are in the set.
    pub fn is_in_case(&self, case: Option<usize>) -> bool {
        self.cases.as_ref().is_none_or(|all| case.is_some_and(|k| all.contains(&k)))
    }
    /// Whether a tile is in the set, by its counters and its case; without sizes.
    pub fn holds(&self, tile: &[i64], case: Option<usize>) -> bool {
        let is = |(at, c): (&Option<Formula>, &i64)| at.as_ref().is_none_or(|v| *v == Formula::Const(*c));
        self.is_in_case(case) && self.at.iter().zip(tile).all(is)
    }
}
