//! The time loops of a merged array: which counter of a function is which of the merged array, and where each ends.
//!
//! The counters are, from the outside in:
//!
//! ```text
//! function                                   the number of the present function
//! the sizes of all functions, then the numbers that follow from them
//! ends                                       the last values that differ from function to function
//! phases, tiles, time                        those of the functions upon one another
//! ```
//!
//! In each of the three sections there are as many loops as the function with most of them has there. The loops of the
//! others take places among these, in their order: as many as possible beside a loop of the same name, else the innermost
//! upon the innermost. For example, a convolution of which a layer is too small to be tiled along `c`:
//!
//! ```text
//! conv3    o.tile   r.tile   c.tile   i.tile
//! conv5    o.tile   r.tile   –        i.tile
//! ```
//!
//! Where a function has loops that end by case, each of the others is a case by itself.

use crate::vsa::{is_function, Op, Vsa, When};
use std::collections::BTreeMap;
use std::ops::Range;
use uniform::affine::{Condition, Form};
use uniform::counters::{Case, Counter, Loops, Span};
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
    /// Per counter of the merged array, the only value that it has in runs of the function, if it is known.
    fixed: Vec<Option<i64>>,
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

/// A loop of the merged array.
struct Loop {
    /// Of phases (0), of tiles (1), or inside of tiles (2).
    section: usize,
    /// Per function, the counter that is this loop.
    counters: Vec<Option<usize>>,
}

/// The counters of a section.
fn section(vsa: &Vsa, section: usize) -> Range<usize> {
    let ends = [vsa.parameters(), vsa.phases(), vsa.tile_depth, vsa.counters.len()];
    ends[section]..ends[section + 1]
}

impl Loop {
    /// All loops, outermost first.
    fn all(arrays: &[&Vsa]) -> Vec<Loop> {
        (0..3).flat_map(|section| Loop::of_section(arrays, section)).collect()
    }

    fn of_section(arrays: &[&Vsa], number: usize) -> Vec<Loop> {
        let names =
            |vsa: &Vsa| -> Vec<String> { vsa.counters[section(vsa, number)].iter().map(|c| c.name.clone()).collect() };
        let all: Vec<Vec<String>> = arrays.iter().map(|vsa| names(vsa)).collect();
        let most = all.iter().map(Vec::len).max().unwrap_or(0);
        let Some(first) = all.iter().find(|names| names.len() == most) else { return vec![] };
        let mut loops: Vec<Loop> =
            (0..most).map(|_| Loop { section: number, counters: vec![None; arrays.len()] }).collect();
        for (f, own) in all.iter().enumerate() {
            let begin = section(arrays[f], number).start;
            for (k, place) in beside(own, first).into_iter().enumerate() {
                loops[place].counters[f] = Some(begin + k);
            }
        }
        loops
    }
}

/// Places of loops with these names among others, in order: as many as possible at the same name, else the last ones.
fn beside(own: &[String], others: &[String]) -> Vec<usize> {
    // Equal names, at most, of the loops from `k` on at the places from `j` on; none where these are too few.
    let mut most = vec![vec![None; others.len() + 1]; own.len() + 1];
    most[own.len()].fill(Some(0));
    for k in (0..own.len()).rev() {
        for j in (0..others.len()).rev() {
            let here = most[k + 1][j + 1].map(|n: usize| n + usize::from(own[k] == others[j]));
            most[k][j] = here.max(most[k][j + 1]);
        }
    }
    let mut places = vec![];
    for j in 0..others.len() {
        let k = places.len();
        if k < own.len() && most[k][j + 1] < most[k][j] {
            places.push(j);
        }
    }
    places
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
        let (mut frame, mut own) = Frame::parameters(arrays);
        let (loops, parts) = (Loop::all(arrays), Part::all(arrays));
        let own_maxima = arrays.iter().flat_map(|vsa| vsa.sizes.maxima());
        let maxima: Vec<i64> = [arrays.len() as i64].into_iter().chain(own_maxima).collect();
        // Numbers that follow from the function come before all loops.
        let last = |l: &Loop| match l.section > 0 && !parts.is_empty() {
            true => by_case(arrays, &parts, &own, l),
            false => {
                let ends = frame.ends_of(arrays, &own, l);
                frame.limit(&ends, &maxima)
            }
        };
        let lasts: Vec<Formula> = loops.iter().map(last).collect();
        let first = frame.counters.len();
        for (k, (l, last)) in loops.iter().zip(lasts).enumerate() {
            let trip = |(vsa, j): (&&Vsa, &Option<usize>)| j.map_or(1, |j| vsa.counters[j].trip);
            let trip = arrays.iter().zip(&l.counters).map(trip).max().unwrap_or(1);
            let name = frame.name(arrays, l, k);
            let kind = if l.section == 0 { Kind::Sequence } else { Kind::Loop };
            let last = if trip == 1 { Formula::Const(0) } else { last };
            frame.counters.push(Counter { name, kind, trip, last });
            for (j, own) in l.counters.iter().zip(&mut own) {
                own.extend(j.map(|_| first + k));
            }
        }
        let inside = |section: usize| first + loops.iter().filter(|l| l.section <= section).count();
        let all = [inside(2), inside(0), inside(1)];
        let cases =
            parts.iter().map(|part| frame.phases_of(arrays, *part, &own[part.function], [first, all[1]])).collect();
        let places = places(arrays, own, &parts, all);
        let fixed = |f: usize| (0..frame.counters.len()).map(|j| frame.fixed(f, j)).collect();
        let places = places.into_iter().enumerate().map(|(f, p)| Places { fixed: fixed(f), ..p }).collect();
        Frame { cases, places, ..frame }
    }

    /// The only value of a counter in runs of a function.
    fn fixed(&self, function: usize, counter: usize) -> Option<i64> {
        let last = Loops { counters: &self.counters, cases: &self.cases }.trip_in(counter, function)? - 1;
        (last == 0 || self.counters[counter].kind == Kind::Parameter).then_some(last)
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
    fn ends_of(&self, arrays: &[&Vsa], places: &[Vec<usize>], l: &Loop) -> Vec<Formula> {
        let own = |f: usize| l.counters[f].map(|j| &arrays[f].counters[j].last);
        let end = |(f, places): (usize, &Vec<usize>)| match own(f) {
            None => Formula::Const(0),
            Some(last) => match last.parameter() {
                Some(p) => self.counters[places[p]].last.clone(),
                None => last.clone(),
            },
        };
        places.iter().enumerate().map(end).collect()
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
    fn name(&self, arrays: &[&Vsa], l: &Loop, number: usize) -> String {
        let named = |(vsa, j): (&&Vsa, &Option<usize>)| j.map(|j| vsa.counters[j].name.clone());
        let mut names: Vec<String> = arrays.iter().zip(&l.counters).filter_map(named).collect();
        names.sort_unstable();
        names.dedup();
        match &names[..] {
            [one] if self.counters.iter().all(|c| c.name != *one) => one.clone(),
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
            fixed: vec![],
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
fn by_case(arrays: &[&Vsa], parts: &[Part], own: &[Vec<usize>], l: &Loop) -> Formula {
    let end = |part: &Part| {
        let vsa = arrays[part.function];
        let last = l.counters[part.function].map(|j| vsa.counters[j].last.case_of(part.case.unwrap_or(0)));
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
        is_function(self.function)
    }

    /// No function before this one has these tiles.
    pub fn is_first_of(&self, when: &When) -> bool {
        when.functions.first().is_none_or(|first| *first >= self.function)
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

    /// The operation in runs of the function, without counters that have one value there.
    pub fn here(&self, op: &Op) -> Op {
        let form = |form: &Form| {
            let mut form = form.clone();
            for (c, value) in form.counters.iter_mut().zip(&self.fixed) {
                if let Some(value) = value {
                    form.constant += std::mem::take(c) * value;
                }
            }
            form.counters.resize(self.all[0], 0);
            form
        };
        let is_true = |c: &Condition| {
            let constant = c.form.counters.iter().all(|c| *c == 0) && c.form.space == [0, 0];
            constant && (c.form.constant == 0 || c.form.constant > 0 && !c.equality)
        };
        match op {
            Op::Iter(f) => Op::Iter(form(f)),
            Op::Guard(all) => {
                let all = all.iter().map(|c| Condition { form: form(&c.form), ..c.clone() });
                Op::Guard(all.filter(|c| !is_true(c)).collect())
            }
            op => op.clone(),
        }
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
