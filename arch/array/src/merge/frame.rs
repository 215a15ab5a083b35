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
    /// The function's counters of phases, parameters included.
    own_phases: usize,
    /// Counters of the merged array: all, those of phases, those of tiles with them.
    all: [usize; 3],
    /// The place of the function's first size.
    size: u32,
    /// Per case of the function. All cases of the merged array.
    cases: Vec<usize>,
    all_cases: usize,
}

/// A loop of the merged array: which one from the inside of those of phases (0), of tiles (1) or inside of tiles (2).
#[derive(Clone, Copy)]
struct Loop {
    section: usize,
    from_end: usize,
}

/// Loops of each section.
fn sections(vsa: &Vsa) -> [usize; 3] {
    [vsa.phases() - vsa.parameters(), vsa.tile_depth - vsa.phases(), vsa.counters.len() - vsa.tile_depth]
}

impl Loop {
    /// All loops, outermost first, of functions of which some has so many in each section.
    fn all(most: [usize; 3]) -> Vec<Loop> {
        let of = |(section, &count): (usize, &usize)| (1..=count).rev().map(move |from_end| Loop { section, from_end });
        most.iter().enumerate().flat_map(of).collect()
    }

    /// The counter of a function that is this loop.
    fn of(self, vsa: &Vsa) -> Option<usize> {
        let own = sections(vsa);
        let end = vsa.parameters() + own[..=self.section].iter().sum::<usize>();
        (self.from_end <= own[self.section]).then(|| end - self.from_end)
    }
}

/// A case of the merged array: one of a function, or a function that has none.
#[derive(Clone, Copy)]
struct Part {
    function: usize,
    case: Option<usize>,
}

impl Part {
    /// All cases; none if no function has one.
    fn all(arrays: &[&Vsa]) -> Vec<Part> {
        let has_cases = |vsa: &Vsa| vsa.loops().has_cases();
        if !arrays.iter().any(|vsa| has_cases(vsa)) {
            return vec![];
        }
        let of = |(function, vsa): (usize, &&Vsa)| match has_cases(vsa) {
            true => (0..vsa.cases.len()).map(|k| Part { function, case: Some(k) }).collect::<Vec<_>>(),
            false => vec![Part { function, case: None }],
        };
        arrays.iter().enumerate().flat_map(of).collect()
    }
}

impl Frame {
    pub fn new(arrays: &[&Vsa]) -> Frame {
        let most = [0, 1, 2].map(|k| arrays.iter().map(|vsa| sections(vsa)[k]).max().unwrap_or(0));
        let (mut frame, mut own) = Frame::parameters(arrays);
        let (loops, parts) = (Loop::all(most), Part::all(arrays));
        let own_maxima = arrays.iter().flat_map(|vsa| vsa.sizes.maxima());
        let maxima: Vec<i64> = [arrays.len() as i64].into_iter().chain(own_maxima).collect();
        // Numbers that follow from the function come before all loops.
        let last = |&l: &Loop| match l.section > 0 && !parts.is_empty() {
            true => by_case(arrays, &parts, &own, l),
            false => {
                let ends = frame.ends_of(arrays, &own, l);
                frame.limit(&ends, &maxima)
            }
        };
        let lasts: Vec<Formula> = loops.iter().map(last).collect();
        let first = frame.counters.len();
        for (k, (l, last)) in loops.iter().zip(lasts).enumerate() {
            let trip = |vsa: &&Vsa| l.of(vsa).map_or(1, |j| vsa.counters[j].trip);
            let trip = arrays.iter().map(trip).max().unwrap_or(1);
            let name = frame.name(arrays, *l, k);
            let kind = if l.section == 0 { Kind::Sequence } else { Kind::Loop };
            let last = if trip == 1 { Formula::Const(0) } else { last };
            frame.counters.push(Counter { name, kind, trip, last });
            for (vsa, own) in arrays.iter().zip(&mut own) {
                own.extend(l.of(vsa).map(|_| first + k));
            }
        }
        let all = [frame.counters.len(), first + most[0], first + most[0] + most[1]];
        let cases =
            parts.iter().map(|part| frame.phases_of(arrays, *part, &own[part.function], [first, all[1]])).collect();
        let places = places(arrays, own, &parts, all);
        Frame { cases, places, ..frame }
    }

    /// The box of phases of a case. Its counters: those in front of the `first` loop are of the run.
    fn phases_of(&self, arrays: &[&Vsa], part: Part, own: &[usize], [first, phases]: [usize; 2]) -> Case {
        let vsa = arrays[part.function];
        let renamed = |end: &Formula| renamed(end, &|p| own[p]);
        let span = |j: usize| match (own.iter().position(|place| *place == j), part.case) {
            _ if j == 0 => Span::constant(part.function as i64, part.function as i64),
            _ if j < first => Span::whole(&self.counters[j]),
            (None, _) => Span::constant(0, 0),
            (Some(j), Some(k)) => Span { end: renamed(&vsa.cases[k][j].end), ..vsa.cases[k][j].clone() },
            (Some(j), None) => Span { low: 0, high: vsa.counters[j].trip - 1, end: renamed(&vsa.counters[j].last) },
        };
        (0..phases).map(span).collect()
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
    fn ends_of(&self, arrays: &[&Vsa], places: &[Vec<usize>], l: Loop) -> Vec<Formula> {
        let end = |(vsa, places): (&&Vsa, &Vec<usize>)| match l.of(vsa).map(|j| &vsa.counters[j].last) {
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
    fn name(&self, arrays: &[&Vsa], l: Loop, number: usize) -> String {
        let mut names: Vec<&str> = arrays.iter().filter_map(|vsa| Some(&*vsa.counters[l.of(vsa)?].name)).collect();
        names.sort_unstable();
        names.dedup();
        match names[..] {
            [one] if self.counters.iter().all(|c| c.name != one) => one.into(),
            _ => format!("{}{number}", ["phase", "tile", "time"][l.section]),
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

/// Where the counters of each function are; `own`: their places.
fn places(arrays: &[&Vsa], own: Vec<Vec<usize>>, parts: &[Part], all: [usize; 3]) -> Vec<Places> {
    let mut size = 1;
    let of = |(function, (vsa, counters)): (usize, (&&Vsa, Vec<usize>))| {
        let places = Places {
            function,
            lasts: vsa.counters.iter().map(|c| renamed(&c.last, &|p| counters[p])).collect(),
            counters,
            own_phases: vsa.phases(),
            all,
            size,
            cases: (0..parts.len()).filter(|&k| parts[k].function == function).collect(),
            all_cases: parts.len(),
        };
        size += vsa.sizes.list.len() as u32;
        places
    };
    arrays.iter().zip(own).enumerate().map(of).collect()
}

/// The last value of a loop inside of phases, by case.
fn by_case(arrays: &[&Vsa], parts: &[Part], own: &[Vec<usize>], l: Loop) -> Formula {
    let end = |part: &Part| {
        let vsa = arrays[part.function];
        let last = l.of(vsa).map(|j| vsa.counters[j].last.case_of(part.case.unwrap_or(0)));
        last.map_or(Formula::Const(0), |last| renamed(last, &|p| own[part.function][p]))
    };
    Formula::by_case(parts.iter().map(end).chain([Formula::Const(0)]).collect())
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

    /// A run of this function or of a later one.
    pub fn is_from_here(&self) -> Condition {
        Condition { equality: false, ..self.is_here() }
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
            0 if self.own_phases > 0 => 0,
            own if own == self.own_phases => self.phases(),
            own => self.counters[own - 1] + 1,
        }
    }

    /// Tiles of this function; `count` counters have values.
    pub fn when(&self, when: &When, count: usize) -> When {
        let mut at = vec![None; count];
        for ((value, place), last) in when.at.iter().zip(&self.counters).zip(&self.lasts) {
            let Some(value) = value else { continue };
            // The last value of a loop that sizes end.
            let is_last = last.parameter().is_some() && value.most() > 0 && value.most() == last.most();
            at[*place] = Some(if is_last { last.clone() } else { renamed(value, &|p| self.counters[p]) });
        }
        let cases = when.cases.as_ref().map(|all| all.iter().map(|k| self.cases[*k]).collect());
        When { functions: vec![self.function], at, cases }
    }

    /// A number of waves: in cases of other functions as between those of this one.
    pub fn formula(&self, waves: &Formula) -> Formula {
        let Formula::ByCase(own) = waves else { return sized(waves, self.size) };
        let between = || own[own.len() - 1].clone();
        let of = |k: usize| self.cases.iter().position(|case| *case == k).map_or_else(between, |k| own[k].clone());
        sized(&Formula::by_case((0..self.all_cases).map(of).chain([between()]).collect()), self.size)
    }
}
