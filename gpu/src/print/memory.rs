//! Loads and stores as C++.

use super::expression::{atom, conjunction, row, scalar, unit};
use super::number::{below, stride};
use crate::form::{Cond, Form};
use crate::ir::{Passing, ScalarId, Store, Warp, QUAD};

/// The body that a load or a store stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Lanes and steps may be at a border.
    Border,
    /// Only lanes may be.
    Side,
    Interior,
}

impl Body {
    /// Whether a subscript may be beyond the array here.
    fn is_open(self, warp: &Warp, form: &Form) -> bool {
        match self {
            Body::Border => true,
            Body::Side => warp.time.as_ref().is_none_or(|t| form.of(t.scalar) == 0),
            Body::Interior => false,
        }
    }
}

/// What a load loads: an element of an array, or as many side by side as a quad has.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    pub array: usize,
    pub at: &'a [Form],
    pub each: i64,
}

/// How the PEs of a row find their elements.
enum Layout {
    /// All lanes the same element.
    Same,
    /// Side by side; in aligned words or not.
    Along {
        words: bool,
    },
    Anywhere,
}

fn layout(warp: &Warp, array: usize, at: &[Form], each: i64) -> Layout {
    let Some((last, outer)) = at.split_last() else { return Layout::Same };
    if at.iter().all(|f| f.unit == 0) {
        return Layout::Same;
    }
    if each != 1 || last.unit != 1 || outer.iter().any(|f| f.unit != 0) || warp.is_unrolled() {
        return Layout::Anywhere;
    }
    let rows = outer.is_empty() || warp.has_whole_rows(array);
    let start = Form { unit: 0, ..last.clone() };
    Layout::Along { words: warp.width > 1 && rows && start.divisor(&warp.scalars) % warp.width == 0 }
}

/// Accesses of 16 bytes of a lane to the elements of a row, where these are in aligned words.
pub fn accesses(warp: &Warp, array: usize, at: &[Form], each: i64) -> i64 {
    match layout(warp, array, at, each) {
        Layout::Along { words: true } => warp.width * i64::from(warp.arrays[array].ty.bytes()) / 16,
        _ => 0,
    }
}

/// The form with the time moved on.
fn later(form: &Form, time: Option<(ScalarId, i64)>) -> Form {
    time.map_or_else(|| form.clone(), |(t, steps)| form.plus(steps * form.of(t)))
}

/// Subscript `d` as a scalar, in bounds.
fn subscript(warp: &Warp, of: Element, d: usize, body: Body) -> String {
    let form = &of.at[d];
    let text = scalar(warp, &Form { unit: 0, ..form.clone() });
    clamped(warp, of, d, body, 1).map_or_else(|| text.clone(), |most| format!("clamp({text}, 0, {most})"))
}

/// The greatest value of subscript `d`, if it may be beyond the array, in lanes with this many values of `u`.
fn clamped(warp: &Warp, of: Element, d: usize, body: Body, units: i64) -> Option<String> {
    let (form, last) = (&of.at[d], if d + 1 == of.at.len() { of.each - 1 } else { 0 });
    let leaves = |form: &Form| warp.may_leave(form, of.array, d, units);
    let is_open = body.is_open(warp, form) && (leaves(form) || last > 0 && leaves(&form.plus(last)));
    is_open.then(|| below(warp, of.array, d, 1 + last))
}

/// The position in the array of the element at these subscripts, all but the last of which are given as text.
fn flat(warp: &Warp, array: usize, subscripts: &[String]) -> String {
    let mut text = String::new();
    for (d, s) in subscripts.iter().enumerate() {
        let stride = stride(warp, array, d);
        if s == "0" {
            continue;
        }
        let term = match (stride == "1", text.is_empty()) {
            (true, true) => s.clone(),
            (true, false) => atom(s),
            _ => format!("(long long){} * {stride}", atom(s)),
        };
        text = if text.is_empty() { term } else { format!("{text} + {term}") };
    }
    if text.is_empty() {
        "0".into()
    } else {
        text
    }
}

/// A load in one body; `ahead`: as it is some steps later. Of a pair, those of both places.
pub fn load(warp: &Warp, of: Element, body: Body, ahead: Option<(ScalarId, i64)>) -> String {
    let own = one_load(warp, of, body, ahead);
    match warp.pairs.filter(|p| of.at.iter().any(|f| f.of(p.axis) != 0)) {
        None => own,
        Some(pairs) => {
            let second: Vec<Form> = of.at.iter().map(|f| pairs.second(f)).collect();
            format!("both({own}, {})", one_load(warp, Element { at: &second, ..of }, body, ahead))
        }
    }
}

fn one_load(warp: &Warp, of: Element, body: Body, ahead: Option<(ScalarId, i64)>) -> String {
    let (array, each) = (of.array, of.each);
    let source = &warp.arrays[array];
    let at: Vec<Form> = of.at.iter().map(|f| later(f, ahead)).collect();
    let (name, width) = (source.loaded(), warp.width);
    let of = Element { at: &at, ..of };
    let texts = |n: usize| -> Vec<String> { (0..n).map(|d| subscript(warp, of, d, body)).collect() };
    let last = at.len().saturating_sub(1);
    match layout(warp, array, &at, each) {
        Layout::Same if each == QUAD => format!("quad_at({name}, {})", flat(warp, array, &texts(at.len()))),
        Layout::Same => format!("{name}[{}]", flat(warp, array, &texts(at.len()))),
        Layout::Along { words } if body.is_open(warp, &at[last]) => {
            let row = flat(warp, array, &[texts(last), vec!["0".into()]].concat());
            let first = scalar(warp, &Form { unit: 0, ..at[last].clone() });
            let function = if words && warp.has_whole_rows(array) { "words_in" } else { "elements_in" };
            format!("{function}<{width}>({name}, {row}, {first}, {})", below(warp, array, last, 0))
        }
        Layout::Along { words } => {
            let function = if words { "words" } else { "elements" };
            let first = scalar(warp, &Form { unit: 0, ..at[last].clone() });
            format!("{function}<{width}>({name}, {})", flat(warp, array, &[texts(last), vec![first]].concat()))
        }
        Layout::Anywhere => {
            let function = if each == QUAD { "gather_quads" } else { "gather" };
            format!("{function}({name}, {})", index(warp, of, body))
        }
    }
}

/// The position of each PE's element.
fn index(warp: &Warp, of: Element, body: Body) -> String {
    let (array, mut terms) = (of.array, vec![]);
    for (d, form) in of.at.iter().enumerate() {
        let stride = stride(warp, array, d);
        let text = if form.unit == 0 { scalar(warp, form) } else { row(warp, form) };
        let most = clamped(warp, of, d, body, warp.units());
        let text = most.map_or_else(|| text.clone(), |most| format!("clamp({text}, 0, {most})"));
        let part = match (stride.as_str(), stride.contains(' ')) {
            ("1", _) => atom(&text),
            (_, false) => format!("{} * {stride}", atom(&text)),
            (_, true) => format!("{} * ({stride})", atom(&text)),
        };
        // A row first, so that the sum is one.
        if form.unit != 0 {
            terms.insert(0, part)
        } else if text != "0" {
            terms.push(part)
        }
    }
    terms.join(" + ")
}

/// A store in one body, without the lanes of the margins.
pub fn store(warp: &Warp, s: &Store, value: &str, body: Body) -> String {
    let (name, width, array) = (&warp.arrays[s.array].name, warp.width, s.array);
    let when: Vec<Cond> = match body {
        Body::Border => s.when.clone(),
        Body::Side => s.side.clone().unwrap_or_default(),
        Body::Interior => vec![],
    };
    let (scalars, rows): (Vec<Cond>, Vec<Cond>) = when.into_iter().partition(|c| !c.is_by_lane());
    let mine = if has_margins(warp) { Some("mine".to_string()) } else { None };
    let masks: Vec<String> = mine.into_iter().chain((!rows.is_empty()).then(|| conjunction(warp, &rows).0)).collect();
    // All lanes have a value that is no row; one of them stores it.
    let one = !warp.node(s.value).row && masks.is_empty() && s.at.iter().all(|f| f.unit == 0);
    let mask = match masks.is_empty() {
        true if one => format!("{} == 0", unit(warp)),
        true => format!("all<{width}>(true)"),
        false => masks.join(" & "),
    };
    let text = match layout(warp, array, &s.at, 1) {
        Layout::Along { words } => {
            let subscripts: Vec<String> = s.at.iter().map(|f| scalar(warp, &Form { unit: 0, ..f.clone() })).collect();
            let at = flat(warp, array, &subscripts);
            let function = match (words, rows.is_empty()) {
                (true, true) => "store",
                (true, false) => "store_masked",
                _ => "store_elements",
            };
            format!("{function}({mask}, {name}, {at}, {value})")
        }
        Layout::Same => {
            let subscripts: Vec<String> = s.at.iter().map(|f| scalar(warp, f)).collect();
            let at = flat(warp, array, &subscripts);
            format!("scatter({mask}, {name}, all<{width}>((int)({at})), {value})")
        }
        Layout::Anywhere => {
            let of = Element { array, at: &s.at, each: 1 };
            format!("scatter({mask}, {name}, {}, {value})", index(warp, of, Body::Interior))
        }
    };
    match scalars.is_empty() {
        true => format!("{text};"),
        false => format!("if ({}) {text};", conjunction(warp, &scalars).0),
    }
}

/// Whether some PEs of a warp have no result.
pub fn has_margins(warp: &Warp) -> bool {
    warp.margins.low + warp.margins.high > 0
}

/// The text of an element that is a kernel argument.
pub fn argument(warp: &Warp, array: usize, element: i64) -> String {
    let source = &warp.arrays[array];
    match source.passing {
        Passing::Value => source.name.clone(),
        _ => format!("{}.v[{element}]", source.name),
    }
}
