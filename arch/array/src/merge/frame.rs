//! The time loops of a merged array: which counter of a function is which of the merged array, and where each ends.
//!
//! The counters are, from the outside in:
//!
//! ```text
//! function                                   the number of the present function
//! the sizes of all functions, then the numbers that follow from them
//! ends                                       the last values that differ from function to function
//! phases, tiles, time                        those of the functions upon one another, innermost upon innermost
//! ```
//!
//! Where a function has loops that end by case, each of the others is a case by itself.

use crate::vsa::{Vsa, When};
use std::collections::BTreeMap;
use uniform::affine::{Condition, Form};
use uniform::counters::{Case, Counter, Span};
use uniform::sizes::{Formula, Size, Sizes};
use uniform::system::Kind;

/// The counters of a merged array.
pub struct Frame {
    pub counters: Vec<Counter>,
    pub cases: Vec<Case>,
    /// Per function.
    pub places: Vec<Places>,
}

/// Where the counters, sizes and cases of a function are in the merged array.
pub struct Places {
    function: usize,
    /// Per counter of the function.
    counters: Vec<usize>,
    /// And its last value.
    lasts: Vec<Formula>,
    /// The function's parameters, and its counters of phases with them.
    own: [usize; 2],
    /// Counters of the merged array: all, those of phases, those of tiles with them.
    all: [usize; 3],
    /// The place of the function's first size.
    size: u32,
    /// Per case of the function. All cases of the merged array.
    cases: Vec<usize>,
    all_cases: usize,
}

/// Sections of loops: phases, tiles, time.
fn sections(vsa: &Vsa) -> [usize; 3] {
    [vsa.phases() - vsa.parameters(), vsa.tile_depth - vsa.phases(), vsa.counters.len() - vsa.tile_depth]
}

impl Frame {
    pub fn new(arrays: &[&Vsa]) -> Frame {
        let most: [usize; 3] = [0, 1, 2].map(|k| arrays.iter().map(|vsa| sections(vsa)[k]).max().unwrap_or(0));
        let (mut frame, parameters) = Frame::parameters(arrays);
        let own = arrays.iter().flat_map(|vsa| vsa.sizes.maxima());
        let maxima: Vec<i64> = [arrays.len() as i64].into_iter().chain(own).collect();
        let has_cases = arrays.iter().any(|vsa| vsa.loops().has_cases());
        let mut loops = vec![];
        for k in 0..3 {
            for j in 0..most[k] {
                loops.push((k, most[k] - j));
            }
        }
        // The ends of loops, function by function.
        let at = |vsa: &Vsa, (k, from_end): (usize, usize)| {
            let own = sections(vsa);
            let end = vsa.parameters() + own[..=k].iter().sum::<usize>();
            (from_end <= own[k]).then(|| end - from_end)
        };
        let places = |first: usize| {
            let of = |(f, vsa): (usize, &&Vsa)| {
                let mut counters: Vec<usize> = parameters[f].clone();
                counters.extend(loops.iter().enumerate().filter(|l| at(vsa, *l.1).is_some()).map(|l| first + l.0));
                counters
            };
            arrays.iter().enumerate().map(of).collect::<Vec<_>>()
        };
        let ends: Vec<Vec<Formula>> =
            loops.iter().map(|l| frame.ends_of(arrays, &parameters, |vsa| at(vsa, *l))).collect();
        let mut lasts = vec![];
        for (l, ends) in loops.iter().zip(&ends) {
            let by_case = l.0 > 0 && has_cases;
            lasts.push(if by_case { None } else { Some(frame.limit(ends, &maxima)) });
        }
        let first = frame.counters.len();
        let counters = places(first);
        let mut cases: Vec<(usize, Option<usize>)> = vec![];
        if has_cases {
            for (f, vsa) in arrays.iter().enumerate() {
                let own = if vsa.loops().has_cases() { vsa.cases.len() } else { 0 };
                cases.extend((0..own).map(|k| (f, Some(k))));
                cases.extend((own == 0).then_some((f, None)));
            }
        }
        for ((l, last), (k, loop_)) in lasts.into_iter().enumerate().zip(&loops) {
            let trip = |vsa: &&Vsa| at(vsa, (*k, *loop_)).map_or(1, |j| vsa.counters[j].trip);
            let trip = arrays.iter().map(trip).max().unwrap_or(1);
            let last = last.unwrap_or_else(|| {
                let in_case = |(f, case): &(usize, Option<usize>)| {
                    let own = at(arrays[*f], (*k, *loop_));
                    own.map_or(Formula::Const(0), |j| {
                        let end = arrays[*f].counters[j].last.case_of(case.unwrap_or(0));
                        renamed(end, &|p| parameters[*f][p])
                    })
                };
                Formula::by_case(cases.iter().map(in_case).chain([Formula::Const(0)]).collect())
            });
            let name = frame.name(arrays, |vsa| at(vsa, (*k, *loop_)), ["phase", "tile", "time"][*k], l);
            let kind = if *k == 0 { Kind::Sequence } else { Kind::Loop };
            let last = if trip == 1 { Formula::Const(0) } else { last };
            frame.counters.push(Counter { name, kind, trip, last });
        }
        let all = [frame.counters.len(), first + most[0], first + most[0] + most[1]];
        let box_of = |(f, case): &(usize, Option<usize>)| -> Case {
            let vsa = arrays[*f];
            let outer = |j: usize| {
                if j == 0 {
                    return Span::constant(*f as i64, *f as i64);
                }
                let own = counters[*f].iter().position(|place| *place == j);
                match own {
                    _ if j < first => Span::whole(&frame.counters[j]),
                    None => Span::constant(0, 0),
                    Some(own) => match case {
                        Some(k) => {
                            let span = &vsa.cases[*k][own];
                            Span { end: renamed(&span.end, &|p| parameters[*f][p]), ..span.clone() }
                        }
                        None => {
                            let end = renamed(&vsa.counters[own].last, &|p| parameters[*f][p]);
                            Span { low: 0, high: vsa.counters[own].trip - 1, end }
                        }
                    },
                }
            };
            (0..all[1]).map(outer).collect()
        };
        let (mut size, mut case) = (1, 0);
        let mut places = vec![];
        for (function, vsa) in arrays.iter().enumerate() {
            let own = cases.iter().filter(|c| c.0 == function).count();
            places.push(Places {
                function,
                counters: counters[function].clone(),
                lasts: vsa.counters.iter().map(|c| renamed(&c.last, &|p| parameters[function][p])).collect(),
                own: [vsa.parameters(), vsa.phases()],
                all,
                size,
                cases: (case..case + own).collect(),
                all_cases: cases.len(),
            });
            size += vsa.sizes.list.len() as u32;
            case += own;
        }
        let cases = cases.iter().map(box_of).collect();
        Frame { cases, places, ..frame }
    }

    /// The frame with the parameters of the functions alone, and their places.
    fn parameters(arrays: &[&Vsa]) -> (Frame, Vec<Vec<usize>>) {
        let number = Counter {
            name: "function".into(),
            kind: Kind::Parameter,
            trip: arrays.len() as i64,
            last: Formula::Size(0).plus(Formula::Const(-1)),
        };
        let mut counters = vec![number];
        let mut places: Vec<Vec<usize>> = vec![vec![]; arrays.len()];
        // Sizes come first.
        for sizes in [true, false] {
            let mut size = 1;
            for (vsa, places) in arrays.iter().zip(&mut places) {
                let own = vsa.sizes.list.len();
                let range = if sizes { 0..own } else { own..vsa.parameters() };
                for c in &vsa.counters[range] {
                    places.push(counters.len());
                    let name = format!("{}.{}", vsa.name, c.name);
                    counters.push(Counter { name, last: sized(&c.last, size), ..c.clone() });
                }
                size += own as u32;
            }
        }
        (Frame { counters, cases: vec![], places: vec![] }, places)
    }

    /// The last value of a loop by function: a number, or the formula of a parameter.
    fn ends_of(&self, arrays: &[&Vsa], places: &[Vec<usize>], at: impl Fn(&Vsa) -> Option<usize>) -> Vec<Formula> {
        let end = |(vsa, places): (&&Vsa, &Vec<usize>)| match at(vsa).map(|j| &vsa.counters[j].last) {
            None => Formula::Const(0),
            Some(last) => match last.parameter() {
                Some(p) => self.counters[places[p]].last.clone(),
                None => last.clone(),
            },
        };
        arrays.iter().zip(places).map(end).collect()
    }

    /// The last value of a loop that ends so by function: a number, or a parameter.
    fn limit(&mut self, ends: &[Formula], maxima: &[i64]) -> Formula {
        let last = Formula::of_function(ends.to_vec());
        if matches!(last, Formula::Const(_)) {
            return last;
        }
        let known = self.counters.iter().position(|c| c.last == last);
        let place = known.unwrap_or(self.counters.len());
        if known.is_none() {
            let most = last.range(maxima).1 as i64;
            let name = format!("end{place}");
            self.counters.push(Counter { name, kind: Kind::Parameter, trip: most + 1, last });
        }
        Formula::Parameter { place: place as u32, most: self.counters[place].trip - 1 }
    }

    /// The name that the functions give a loop, if it is one.
    fn name(&self, arrays: &[&Vsa], at: impl Fn(&Vsa) -> Option<usize>, kind: &str, number: usize) -> String {
        let mut names: Vec<&str> = arrays.iter().filter_map(|vsa| Some(&*vsa.counters[at(vsa)?].name)).collect();
        names.sort_unstable();
        names.dedup();
        match names[..] {
            [one] if self.counters.iter().all(|c| c.name != one) => one.into(),
            _ => format!("{kind}{number}"),
        }
    }

    pub fn tile_depth(&self) -> usize {
        self.places[0].tile_depth()
    }

    /// The number of the function, then the sizes of all; `arrays_of`: the places of the functions' arrays.
    pub fn sizes(&self, arrays: &[&Vsa], arrays_of: &[Vec<usize>]) -> Sizes {
        let ty = scop::ScalarType::Int { bits: 8, signed: false };
        let mut list = vec![Size { name: "function".into(), ty, max: arrays.len() as i64, after: [0, 0] }];
        let count = 1 + arrays.iter().map(|vsa| vsa.sizes.list.len()).sum::<usize>();
        let mut extents = BTreeMap::new();
        for (vsa, arrays_of) in arrays.iter().zip(arrays_of) {
            let first = list.len();
            for (array, own) in &vsa.sizes.extents {
                let spread = |e: &scop::Affine| {
                    let mut coeffs = vec![0; count];
                    coeffs[first..first + e.coeffs.len()].copy_from_slice(&e.coeffs);
                    scop::Affine { coeffs, constant: e.constant }
                };
                extents.insert(arrays_of[*array], own.iter().map(spread).collect());
            }
            let named = |s: &Size| Size { name: format!("{}_{}", vsa.name, s.name), ..s.clone() };
            list.extend(vsa.sizes.list.iter().map(named));
        }
        Sizes { list, extents }
    }
}

/// A last value with parameters at other places.
fn renamed(end: &Formula, place: &impl Fn(usize) -> usize) -> Formula {
    match end {
        Formula::Parameter { place: p, most } => Formula::Parameter { place: place(*p as usize) as u32, most: *most },
        end => end.clone(),
    }
}

/// A formula over sizes that begin with this one.
fn sized(formula: &Formula, first: u32) -> Formula {
    formula.renumbered(&|k| Some((k + first) as usize))
}

impl Places {
    /// Counters of phases, parameters with them.
    pub fn phases(&self) -> usize {
        self.all[1]
    }
    pub fn tile_depth(&self) -> usize {
        self.all[2]
    }

    /// A run of this function.
    pub fn is_here(&self) -> Condition {
        let form = Form { constant: -(self.function as i64), counters: vec![1], space: [0, 0] };
        Condition { form, equality: true }
    }

    /// A value for each counter of the function, as one for each of the first `count` of the merged array.
    pub fn spread(&self, values: &[i64], count: usize) -> Vec<i64> {
        let mut all = vec![0; count];
        values.iter().zip(&self.counters).filter(|(v, _)| **v != 0).for_each(|(v, place)| all[*place] = *v);
        all
    }

    pub fn form(&self, form: &Form) -> Form {
        Form { counters: self.spread(&form.counters, self.all[0]), ..form.clone() }
    }

    /// How many outer counters reload, see [`crate::vsa::InputGroup::reload`].
    pub fn reload(&self, own: usize) -> usize {
        match own {
            0 if self.own[1] > 0 => 0,
            own if own == self.own[1] => self.phases(),
            own => self.counters[own - 1] + 1,
        }
    }

    /// Tiles of this function; `count` counters have values.
    pub fn when(&self, when: &When, count: usize) -> When {
        let mut at = vec![None; count];
        at[0] = Some(Formula::Const(self.function as i64));
        for ((value, place), last) in when.at.iter().zip(&self.counters).zip(&self.lasts) {
            let Some(value) = value else { continue };
            // The last value of a loop that sizes end.
            let is_last = last.parameter().is_some() && value.most() > 0 && value.most() == last.most();
            at[*place] = Some(if is_last { last.clone() } else { renamed(value, &|p| self.counters[p]) });
        }
        let cases = when.cases.as_ref().map(|all| all.iter().map(|k| self.cases[*k]).collect());
        When { at, cases }
    }

    /// A number of waves: in cases of other functions as between those of this one.
    pub fn formula(&self, waves: &Formula) -> Formula {
        let Formula::ByCase(own) = waves else { return sized(waves, self.size) };
        let between = || own[own.len() - 1].clone();
        let of = |k: usize| self.cases.iter().position(|case| *case == k).map_or_else(between, |k| own[k].clone());
        sized(&Formula::by_case((0..self.all_cases).map(of).chain([between()]).collect()), self.size)
    }
}
