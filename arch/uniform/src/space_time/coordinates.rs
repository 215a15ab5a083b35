//! Space and time by hand: affine expressions over the program's loops, such as `c+q` and `2*c+q`, as a plan.
//!
//! **Terms.** A *coordinate* is an expression of `--space` or `--time`. Its *direction* is its coefficients over the
//! iteration space. A name stands for the value of C's own iterator: a loop that counts down, or starts at another
//! iterator, is read as it is written.
//!
//! **Method.** Constants and common factors of a coordinate are dropped: they would only shift the array, or leave
//! every other PE or step idle. The directions must form a unimodular matrix. If it is not, two iterations that meet in
//! one PE at one time are shown (E0718), or the share of idle places (E0712).
//!
//! **Example.** Convolution `y[r] += x[r+p-1] * w[p]` with `--space p --time r+2*p`: each `x` moves on by one PE per
//! step, each `y` by one PE in two steps.
//!
//! **Source.** Lee, Kedem, "Synthesizing Linear Array Algorithms from Nested For Loop Algorithms" (1988): conditions
//! for a space-time transform; PolySA (Cong, Wang, 2018).

use crate::affine::map::{compose, coordinate};
use crate::affine::{determinant, gcd};
use crate::design::Shape;
use crate::mapping::{DimPlan, Plan};
use crate::space_time::by_hand::cut;
use crate::space_time::transform;
use crate::system::System;
use scop::diag::{Diagnostic, Diagnostics};
use scop::flow;
use scop::{Affine, Constraint, Scop};

/// The value of a loop's iterator over the coordinates.
struct Value {
    dim: usize,
    name: String,
    value: Affine,
}

/// The values of the loops' names.
pub struct Coordinates<'a> {
    system: &'a System,
    /// One of each loop, those of the deepest statements first.
    values: Vec<Value>,
    /// The dimensions of the iteration space.
    dims: Vec<Affine>,
}

impl<'a> Coordinates<'a> {
    pub fn new(scop: &Scop, system: &'a System) -> Coordinates<'a> {
        let depth = system.dims.len();
        let mut order: Vec<usize> = (0..scop.statements.len()).collect();
        order.sort_by_key(|&s| std::cmp::Reverse(scop.statements[s].loops.len()));
        let mut values: Vec<Value> = Vec::new();
        for s in order {
            let placed = &system.statements[s];
            for (k, l) in scop.statements[s].loops.iter().enumerate() {
                let l = &scop.loops[l.index()];
                let mut value = compose(&l.offset, &placed.iterators[..k], depth);
                value.constant += l.step * placed.iterators[k].constant;
                value.coeffs.iter_mut().zip(&placed.iterators[k].coeffs).for_each(|(v, c)| *v += l.step * c);
                let one = Value { dim: placed.dims[k], name: l.name.clone(), value };
                if !values.iter().any(|v| (v.dim, &v.name, &v.value.coeffs) == (one.dim, &one.name, &one.value.coeffs))
                {
                    values.push(one);
                }
            }
        }
        Coordinates { system, values, dims: (0..depth).map(|d| coordinate(d, depth)).collect() }
    }

    fn depth(&self) -> usize {
        self.system.dims.len()
    }

    /// A loop by its name, or by the name of its dimension (`j.2`). The statements of one loop may run in several
    /// directions, as in Floyd–Warshall away from the pivot; then its name is their common dimension.
    fn find(&self, name: &str) -> Result<&Affine, Diagnostic> {
        let dim = self.system.dims.iter().position(|d| d.name == name);
        let named: Vec<&Value> = self.values.iter().filter(|v| v.name == name || Some(v.dim) == dim).collect();
        match named.as_slice() {
            [one] => Ok(&one.value),
            [one, rest @ ..] if dim == Some(one.dim) && rest.iter().all(|v| v.dim == one.dim) => {
                Ok(&self.dims[one.dim])
            }
            [] => Err(Diagnostic::error("E0701", None, format!("there is no loop `{name}` in the region"))
                .help(format!("the loops are {}", self.names()))),
            _ => Err(Diagnostic::error(
                "E0701",
                None,
                format!("several loops of different directions are named `{name}`"),
            )
            .help(format!("the loops are {}", self.names()))),
        }
    }

    fn names(&self) -> String {
        self.system.dims.iter().map(|d| d.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// A coordinate's direction: coefficients over the coordinates.
    ///
    /// # Errors
    /// E0701 for an unknown loop, E0719 for an expression that is no sum of loops.
    pub fn parse(&self, text: &str) -> Result<Vec<i64>, Diagnostic> {
        let wrong = |what: String| {
            Diagnostic::error("E0719", None, format!("`{text}` is not a coordinate: {what}"))
                .help("write a sum of loops with constant factors, such as 2*c+q")
        };
        let mut row = vec![0i64; self.depth()];
        for (factor, name) in terms(text).map_err(wrong)? {
            let Some(name) = name else { continue };
            for (x, c) in row.iter_mut().zip(&self.find(&name)?.coeffs) {
                *x = factor
                    .checked_mul(*c)
                    .and_then(|y| x.checked_add(y))
                    .ok_or_else(|| wrong("a coefficient exceeds 64 bits".into()))?;
            }
        }
        let common = row.iter().fold(0, |g, &c| gcd(g, c));
        if common == 0 {
            return Err(wrong("it is constant".into()));
        }
        row.iter_mut().for_each(|c| *c /= common);
        Ok(row)
    }

    /// The expression that [`Coordinates::parse`] reads back as `row`, if there is one.
    pub fn text(&self, row: &[i64]) -> Option<String> {
        let n = self.depth();
        // By dimension: a name and its direction.
        let mut names: Vec<&str> = Vec::new();
        let mut basis: Vec<Vec<i64>> = Vec::new();
        for (d, dim) in self.system.dims.iter().enumerate() {
            let along =
                self.values.iter().find(|v| v.dim == d && self.find(&v.name).is_ok_and(|a| a.coeffs == v.value.coeffs));
            match along {
                Some(v) => (names.push(&v.name), basis.push(v.value.coeffs.clone())),
                None if self.find(&dim.name).is_ok() => {
                    (names.push(&dim.name), basis.push(self.find(&dim.name).ok()?.coeffs.clone()))
                }
                None => (names.push(""), basis.push(coordinate(d, n).coeffs)),
            };
        }
        // row = Σ x_d · basis[d], by Cramer's rule up to a common factor.
        let whole = determinant(&basis);
        let mut x: Vec<i64> = (0..n)
            .map(|d| {
                let mut b = basis.clone();
                b[d] = row.to_vec();
                determinant(&b) * whole.signum()
            })
            .collect();
        let common = x.iter().fold(0, |g, &c| gcd(g, c));
        if common == 0 || x.iter().zip(&names).any(|(c, name)| *c != 0 && name.is_empty()) {
            return None;
        }
        x.iter_mut().for_each(|c| *c /= common);
        let term = |(c, name): (&i64, &&str)| match c.unsigned_abs() {
            1 => format!("{}{name}", if *c < 0 { "-" } else { "+" }),
            n => format!("{}{n}*{name}", if *c < 0 { "-" } else { "+" }),
        };
        let all = || x.iter().zip(&names).filter(|t| *t.0 != 0);
        let text: String = all().filter(|t| *t.0 > 0).chain(all().filter(|t| *t.0 < 0)).map(term).collect();
        Some(text.strip_prefix('+').unwrap_or(&text).to_string())
    }

    /// `--space … --time …` that gives this plan's coordinates their roles.
    pub fn options(&self, plan: &Plan) -> Option<(Vec<String>, Vec<String>)> {
        let axis = |a: usize| plan.dims.iter().position(|d| d.axis == Some(a));
        let space = (0..2).filter_map(axis).map(|d| self.text(&plan.transform[d])).collect::<Option<_>>()?;
        let time = plan
            .order
            .iter()
            .filter(|&&d| plan.dims[d].axis.is_none())
            .map(|&d| self.text(&plan.transform[d]))
            .collect::<Option<_>>()?;
        Some((space, time))
    }

    /// The plan with these coordinates.
    ///
    /// # Errors
    /// All faults of the expressions and factors; E0712 if PEs would be idle in a pattern, E0718 if two iterations
    /// would meet.
    pub fn plan(&self, space: &[String], time: &[String], shape: &Shape) -> Result<Plan, Diagnostics> {
        let mut faults = Vec::new();
        let mut rows: Vec<Vec<i64>> = Vec::new();
        for text in space.iter().chain(time) {
            match self.parse(text) {
                Ok(row) => rows.push(row),
                Err(fault) => faults.push(fault),
            }
        }
        if !(1..=2).contains(&space.len()) {
            faults.push(
                Diagnostic::error("E0702", None, "an array has one or two space coordinates")
                    .help("for example --space c+q --time q"),
            );
        }
        if shape.order.is_some() {
            faults.push(
                Diagnostic::error("E0704", None, "--order and --time both say in which order time runs")
                    .help("leave --order out: --time lists its coordinates outermost first"),
            );
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        self.check(space.len(), &rows).map_err(|fault| vec![fault])?;
        let mut plan = self.arranged(space.len(), rows);
        let transform = plan.transform.clone();
        let coordinate = |name: &str| {
            let row = self.parse(name)?;
            transform.iter().position(|r| *r == row).ok_or_else(|| {
                let names: Vec<String> = space.iter().chain(time).cloned().collect();
                Diagnostic::error("E0701", None, format!("`{name}` is not a coordinate of this array"))
                    .help(format!("the coordinates are {}", names.join(", ")))
            })
        };
        faults.extend(cut(self.system, shape, &mut plan, coordinate));
        if faults.is_empty() {
            Ok(plan)
        } else {
            Err(faults)
        }
    }

    /// The plan with the coordinates in the order of a row of `sagen map`, if one has them, so that a row and its
    /// options mean the same; else plain loops in their own places, all others in the rest.
    fn arranged(&self, axes: usize, rows: Vec<Vec<i64>>) -> Plan {
        let n = self.depth();
        let listed = transform::transforms(self.system)
            .into_iter()
            .chain(transform::wavefront(self.system))
            .chain(transform::projections(n).into_iter().map(|p| p.0));
        let same = |t: &Vec<Vec<i64>>| rows.iter().all(|row| t.contains(row));
        let transform = listed.into_iter().find(same).unwrap_or_else(|| {
            let mut places: Vec<Option<Vec<i64>>> =
                (0..n).map(|d| Some(coordinate(d, n).coeffs).filter(|unit| rows.contains(unit))).collect();
            let mut rest = rows
                .iter()
                .filter(|row| !places.contains(&Some(row.to_vec())))
                .cloned()
                .collect::<Vec<_>>()
                .into_iter();
            places.iter_mut().filter(|p| p.is_none()).for_each(|p| *p = rest.next());
            places.into_iter().flatten().collect()
        });
        let at = |row: &Vec<i64>| transform.iter().position(|r| r == row).expect("every row has a place");
        let mut dims = vec![DimPlan::default(); n];
        rows[..axes].iter().enumerate().for_each(|(axis, row)| dims[at(row)].axis = Some(axis));
        let order = rows[axes..].iter().chain(&rows[..axes]).map(at).collect();
        Plan { dims, order, transform }
    }

    /// Every iteration has a place and a time of its own, and every place a use at every time.
    fn check(&self, axes: usize, rows: &[Vec<i64>]) -> Result<(), Diagnostic> {
        let n = self.depth();
        if rows.len() == n {
            match determinant(rows) {
                1 | -1 => return Ok(()),
                0 => {}
                d => {
                    let fault = Diagnostic::error(
                        "E0712",
                        None,
                        format!(
                            "the transform has determinant {d}: of {} PEs and steps next to each other, only one \
                            would have an iteration",
                            d.abs()
                        ),
                    );
                    return Err(fault.help(
                        "divide the coordinates so that the determinant is 1 or -1; then the same iterations take \
                        turns without idle steps",
                    ));
                }
            }
        }
        if let Some((a, b)) = self.meeting(rows) {
            let shown = |point: &[i64]| point.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            let at = |row: &Vec<i64>| row.iter().zip(&a).map(|(c, x)| c * x).sum::<i64>();
            let (space, time): (Vec<i64>, Vec<i64>) =
                (rows[..axes].iter().map(at).collect(), rows[axes..].iter().map(at).collect());
            let names: Vec<&str> = self.system.dims.iter().map(|d| d.name.as_str()).collect();
            let (first, second) = (self.in_c(&a), self.in_c(&b));
            let message = format!(
                "two iterations would meet in one PE at one time: ({}) = ({}) and ({})",
                names.join(", "),
                shown(&first),
                shown(&second)
            );
            return Err(Diagnostic::error("E0718", None, message)
                .label(format!("both would be in PE ({}) at time ({}), up to a shift", shown(&space), shown(&time)))
                .help("add a time coordinate that tells them apart"));
        }
        Err(Diagnostic::error("E0718", None, format!("{} coordinates for {n} loops", rows.len()))
            .help("give as many space and time coordinates as there are loops, for example --space c+q --time r,q,p"))
    }

    /// Two iterations with equal coordinates, over the coordinates.
    fn meeting(&self, rows: &[Vec<i64>]) -> Option<(Vec<i64>, Vec<i64>)> {
        let n = self.depth();
        let twice = |row: &[i64], second: bool, sign: i64| {
            let zeros = vec![0; n];
            let signed: Vec<i64> = row.iter().map(|c| sign * c).collect();
            if second {
                [zeros, signed].concat()
            } else {
                [signed, zeros].concat()
            }
        };
        let domains: Vec<&Vec<Constraint>> = self.system.statements.iter().flat_map(|s| &s.domain).collect();
        for d in &domains {
            for e in &domains {
                let inside = |all: &[Constraint], second: bool| {
                    all.iter()
                        .map(move |c| Constraint {
                            expr: Affine { coeffs: twice(&c.expr.coeffs, second, 1), constant: c.expr.constant },
                            equality: c.equality,
                        })
                        .collect::<Vec<_>>()
                };
                let equal = |row: &Vec<i64>| Constraint {
                    expr: Affine {
                        coeffs: twice(row, false, 1).iter().zip(twice(row, true, -1)).map(|(x, y)| x + y).collect(),
                        constant: 0,
                    },
                    equality: true,
                };
                let both: Vec<Constraint> =
                    inside(d, false).into_iter().chain(inside(e, true)).chain(rows.iter().map(equal)).collect();
                for k in 0..n {
                    let mut later = Affine::constant(2 * n, -1);
                    (later.coeffs[k], later.coeffs[n + k]) = (-1, 1);
                    let point = flow::first_point(
                        &both.iter().cloned().chain([Constraint { expr: later, equality: false }]).collect::<Vec<_>>(),
                        2 * n,
                    );
                    if let Some(point) = point {
                        return Some((point[..n].to_vec(), point[n..].to_vec()));
                    }
                }
            }
        }
        None
    }

    /// A point as C's iterators have it.
    fn in_c(&self, point: &[i64]) -> Vec<i64> {
        (0..self.depth())
            .map(|d| self.values.iter().find(|v| v.dim == d).map_or(point[d], |v| v.value.eval(point)))
            .collect()
    }
}

/// Whether it is a name and no expression.
pub fn is_plain(text: &str) -> bool {
    text.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// `2*c + q - 3` as factors and names; constants have no name.
///
/// # Errors
/// Text that is no sum of multiples of names and constants.
pub fn terms(text: &str) -> Result<Vec<(i64, Option<String>)>, String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    if rest.is_empty() {
        return Err("it is empty".into());
    }
    while !rest.is_empty() {
        let mut sign = 1;
        if let Some(after) = rest.strip_prefix(['+', '-']) {
            sign = if rest.starts_with('-') { -1 } else { 1 };
            rest = after.trim_start();
        } else if !found.is_empty() {
            return Err(format!("expected + or - before `{rest}`"));
        }
        let (mut factor, mut name) = (sign, None);
        loop {
            let (item, after) = rest.split_at(rest.find(|c| !word(c)).unwrap_or(rest.len()));
            match item.chars().next() {
                None => return Err(format!("expected a loop or a number before `{rest}`")),
                Some(c) if c.is_ascii_digit() => {
                    let number: i64 = item.parse().map_err(|_| format!("`{item}` is not a number"))?;
                    factor = number.checked_mul(factor).ok_or("a factor exceeds 64 bits")?;
                }
                Some(_) if name.is_none() => name = Some(item.to_string()),
                Some(_) => return Err("a product of two loops is not affine".into()),
            }
            rest = after.trim_start();
            match rest.strip_prefix('*') {
                Some(after) => rest = after.trim_start(),
                None => break,
            }
        }
        found.push((factor, name));
    }
    Ok(found)
}
