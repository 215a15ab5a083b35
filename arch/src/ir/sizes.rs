//! Sizes at run time. A size is an integer argument that bounds loops or extents. What depends on sizes alone is a constant of
//! a run: a *parameter*. Parameters stand first among the counters of a [`Vsa`], as if the outermost loops counted them, but a
//! run has one value of each: first the sizes less one, then the last values of those counters that end as the sizes say.
//! Nothing is carried over them.
//!
//! [`Vsa::at`] and [`System::at`] put values in their place: what is left is an ordinary array, or program, without sizes. What
//! hardware needs of the sizes are numbers that the host computes by a [`Formula`] each; there is no divider in the array.

use super::ure::{Dim, Feed, Piece, Placed, System, Variable};
use super::vsa::{CellBound, Hull, InputGroup, Op, OutputGroup, Until, Vsa};
use crate::affine::{Condition, Form};
use frontend::flow;
use frontend::scop::{Affine, Constraint, ScalarType, Scop, StmtId};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// An integer argument that bounds loops or extents, from 1 to `max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    pub name: String,
    pub ty: ScalarType,
    pub max: i64,
    /// How many of the arrays, and of the scalars, stand before it among the kernel's arguments.
    pub after: [u32; 2],
}

/// Sizes of a [`Vsa`], and what depends on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// In the order of the kernel's arguments.
    pub list: Vec<Size>,
    /// The values of the first counters: the sizes less one, then others.
    pub parameters: Vec<Formula>,
    /// Counters that end with the value of a parameter, and which.
    pub limits: BTreeMap<usize, usize>,
    /// Extents over the sizes of those arrays that follow them, by index.
    pub extents: BTreeMap<usize, Vec<Affine>>,
}

/// A number that follows from the sizes, modulo 2^64.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Formula {
    Const(i64),
    /// The size with this index into [`Sizes::list`].
    Size(u32),
    Sum(Box<[Formula; 2]>),
    Product(Box<[Formula; 2]>),
    /// Divided and rounded down; the divisor is positive.
    Floor(Box<Formula>, i64),
    Least(Box<[Formula; 2]>),
    Greatest(Box<[Formula; 2]>),
}

impl Formula {
    pub fn plus(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::Const(a), Formula::Const(b)) => Formula::Const(a.wrapping_add(b)),
            (Formula::Const(0), x) | (x, Formula::Const(0)) => x,
            (a, b) => Formula::Sum(Box::new([a, b])),
        }
    }
    pub fn times(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::Const(a), Formula::Const(b)) => Formula::Const(a.wrapping_mul(b)),
            (Formula::Const(0), _) | (_, Formula::Const(0)) => Formula::Const(0),
            (Formula::Const(1), x) | (x, Formula::Const(1)) => x,
            (a, b) => Formula::Product(Box::new([a, b])),
        }
    }
    pub fn over(self, divisor: i64) -> Formula {
        match self {
            Formula::Const(a) => Formula::Const(a.div_euclid(divisor)),
            x if divisor == 1 => x,
            x => Formula::Floor(Box::new(x), divisor),
        }
    }
    pub fn least(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::Const(a), Formula::Const(b)) => Formula::Const(a.min(b)),
            (a, b) if a == b => a,
            (a, b) => Formula::Least(Box::new([a, b])),
        }
    }
    pub fn greatest(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::Const(a), Formula::Const(b)) => Formula::Const(a.max(b)),
            (a, b) if a == b => a,
            (a, b) => Formula::Greatest(Box::new([a, b])),
        }
    }
    /// An affine function of the sizes.
    pub fn affine(form: &Affine) -> Formula {
        let terms = form.coeffs.iter().enumerate().map(|(k, &c)| Formula::Const(c).times(Formula::Size(k as u32)));
        terms.fold(Formula::Const(0), Formula::plus).plus(Formula::Const(form.constant))
    }
    /// The sizes it contains.
    pub fn sizes(&self) -> Vec<u32> {
        match self {
            Formula::Const(_) => vec![],
            Formula::Size(k) => vec![*k],
            Formula::Floor(x, _) => x.sizes(),
            Formula::Sum(x) | Formula::Product(x) | Formula::Least(x) | Formula::Greatest(x) => [x[0].sizes(), x[1].sizes()].concat(),
        }
    }
    /// The value at these sizes, modulo 2^64.
    pub fn eval(&self, sizes: &[i64]) -> i64 {
        let both = |x: &[Formula; 2]| [x[0].eval(sizes), x[1].eval(sizes)];
        match self {
            Formula::Const(c) => *c,
            Formula::Size(k) => sizes[*k as usize],
            Formula::Sum(x) => both(x).into_iter().fold(0, i64::wrapping_add),
            Formula::Product(x) => both(x).into_iter().fold(1, i64::wrapping_mul),
            Formula::Floor(x, by) => x.eval(sizes).div_euclid(*by),
            Formula::Least(x) => both(x).into_iter().min().expect("two of them"),
            Formula::Greatest(x) => both(x).into_iter().max().expect("two of them"),
        }
    }
    /// Bounds of its value, as intervals show, over sizes from 1 to `maxima`.
    pub fn range(&self, maxima: &[i64]) -> (i128, i128) {
        let both = |x: &[Formula; 2]| [x[0].range(maxima), x[1].range(maxima)];
        match self {
            Formula::Const(c) => (i128::from(*c), i128::from(*c)),
            Formula::Size(k) => (1, i128::from(maxima[*k as usize])),
            Formula::Sum(x) => {
                let [a, b] = both(x);
                (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
            }
            Formula::Product(x) => {
                let [a, b] = both(x);
                let all = [a.0.saturating_mul(b.0), a.0.saturating_mul(b.1), a.1.saturating_mul(b.0), a.1.saturating_mul(b.1)];
                (all.into_iter().min().expect("four"), all.into_iter().max().expect("four"))
            }
            Formula::Floor(x, by) => {
                let (low, high) = x.range(maxima);
                (low.div_euclid(i128::from(*by)), high.div_euclid(i128::from(*by)))
            }
            Formula::Least(x) => {
                let [a, b] = both(x);
                (a.0.min(b.0), a.1.min(b.1))
            }
            Formula::Greatest(x) => {
                let [a, b] = both(x);
                (a.0.max(b.0), a.1.max(b.1))
            }
        }
    }
}

impl Display for Formula {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Formula::Const(c) => write!(f, "{c}"),
            Formula::Size(k) => write!(f, "s{k}"),
            Formula::Sum(x) => write!(f, "({} + {})", x[0], x[1]),
            Formula::Product(x) => write!(f, "({} * {})", x[0], x[1]),
            Formula::Floor(x, by) => write!(f, "floor({x}, {by})"),
            Formula::Least(x) => write!(f, "min({}, {})", x[0], x[1]),
            Formula::Greatest(x) => write!(f, "max({}, {})", x[0], x[1]),
        }
    }
}

impl Sizes {
    pub fn maxima(&self) -> Vec<i64> {
        self.list.iter().map(|s| s.max).collect()
    }
    /// Whether the list of values is one of sizes.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, values: &[i64]) -> Result<(), String> {
        match self.list.iter().zip(values).find(|(s, &v)| v < 1 || v > s.max) {
            _ if self.list.len() != values.len() => Err(format!("{} sizes are given, there are {}", values.len(), self.list.len())),
            Some((s, v)) => Err(format!("the size {} is {v}: it may be 1 to {}", s.name, s.max)),
            None => Ok(()),
        }
    }
    /// Formulas that give `Σ coefficients · parameters + constant`.
    pub fn of_parameters(&self, coefficients: &[i64], constant: i64) -> Formula {
        let terms = coefficients.iter().zip(&self.parameters).map(|(&c, p)| Formula::Const(c).times(p.clone()));
        terms.fold(Formula::Const(0), Formula::plus).plus(Formula::Const(constant))
    }
    /// Last value of a counter of that trip count.
    pub fn last(&self, counter: usize, trip: i64) -> Formula {
        self.limits.get(&counter).map_or(Formula::Const(trip - 1), |&p| self.parameters[p].clone())
    }
}

/// The form without its first counters, which have these values.
fn form(f: &Form, values: &[i64]) -> Form {
    let known = f.counters.len().min(values.len());
    let (first, rest) = f.counters.split_at(known);
    Form { constant: f.constant + first.iter().zip(values).map(|(c, v)| c * v).sum::<i64>(), counters: rest.to_vec(), space: f.space }
}

fn hull(h: &Hull, values: &[i64]) -> Hull {
    Hull { origin: h.origin.iter().map(|f| form(f, values)).collect(), ..h.clone() }
}

impl Vsa {
    /// Counters that are constants of a run.
    pub fn parameters(&self) -> usize {
        self.sizes.parameters.len()
    }

    /// The array at these sizes, one for each: an ordinary one. Without sizes, as it is.
    pub fn at(&self, sizes: &[i64]) -> Vsa {
        let known = self.parameters();
        if known == 0 {
            return self.clone();
        }
        let values: Vec<i64> = self.sizes.parameters.iter().map(|p| p.eval(sizes)).collect();
        let mut out = self.clone();
        for (&counter, &limit) in &self.sizes.limits {
            out.counters[counter].trip = values[limit] + 1;
        }
        let trips: Vec<i64> = out.counters.iter().map(|c| c.trip).collect();
        out.counters.drain(..known);
        out.tile_depth -= known;
        out.phases -= known;
        for node in &mut out.nodes {
            match &mut node.op {
                Op::Iter(f) => *f = form(f, &values),
                Op::Guard(all) => all.iter_mut().for_each(|c| *c = Condition { form: form(&c.form, &values), equality: c.equality }),
                _ => {}
            }
        }
        let forms = |all: &[Form]| all.iter().map(|f| form(f, &values)).collect();
        for g in &mut out.inputs {
            let mut after = g.after.clone();
            after.retain(|a| self.phases > known || matches!(a.until, Until::Lag(_)));
            *g = InputGroup { subscripts: forms(&g.subscripts), hull: hull(&g.hull, &values), row: form(&g.row, &values), col: form(&g.col, &values), reload: g.reload.saturating_sub(known), after, ..g.clone() };
        }
        for g in &mut out.outputs {
            // The last value of a counter that the sizes end.
            let emit = |(j, e): (usize, &Option<i64>)| e.map(|v| if v + 1 == self.counters[j].trip { trips[j] - 1 } else { v });
            let bound = |b: &CellBound| CellBound { phases: b.phases[known..].to_vec(), constant: b.constant + b.phases.iter().zip(&values).map(|(c, v)| c * v).sum::<i64>(), ..b.clone() };
            let emit = g.emit.iter().enumerate().map(emit).skip(known).collect();
            *g = OutputGroup { subscripts: forms(&g.subscripts), emit, hull: hull(&g.hull, &values), row: form(&g.row, &values), col: form(&g.col, &values), bounds: g.bounds.iter().map(bound).collect(), ..g.clone() };
        }
        for (&array, extents) in &self.sizes.extents {
            out.arrays[array].dims = extents.iter().map(|e| e.eval(sizes)).collect();
        }
        out.sizes = Sizes::default();
        out
    }

    /// The array at the greatest sizes.
    pub fn at_most(&self) -> Vsa {
        self.at(&self.sizes.maxima())
    }
}

impl System {
    /// The system at these sizes, one for each; `scop` is the program at them.
    pub fn at(&self, scop: &Scop, sizes: &[i64]) -> System {
        let known = self.sizes;
        let (depth, phases) = (self.dims.len() - known, self.phases - known);
        let affine = |a: &Affine| a.at(sizes);
        let part = |all: &[Constraint]| -> Vec<Constraint> {
            let at = all.iter().map(|c| c.at(sizes));
            at.filter(|c| !(c.expr.is_constant() && c.holds(&vec![0; depth]))).collect()
        };
        let union = |all: &[Vec<Constraint>]| -> Vec<Vec<Constraint>> { all.iter().map(|c| part(c)).filter(|c| !flow::is_empty(c, depth)).collect() };
        let feed = |f: &Feed| match f {
            Feed::Input { subscripts } => Feed::Input { subscripts: subscripts.iter().map(affine).collect() },
            Feed::Value { statement, distance } => Feed::Value { statement: *statement, distance: distance[known..].to_vec() },
            Feed::Carry { statement, read, distance } => Feed::Carry { statement: *statement, read: *read, distance: distance[known..].to_vec() },
        };
        let piece = |p: &Piece| Some(Piece { domain: part(&p.domain), when: vec![], feed: feed(&p.feed) }).filter(|p| !flow::is_empty(&p.domain, depth));
        let placed = |(s, p): (usize, &Placed)| {
            let variables = p.variables.iter().map(|v| Variable { pieces: v.pieces.iter().filter_map(piece).collect() }).collect();
            let dims = p.dims[known..].iter().map(|d| d - known).collect();
            let iterators = p.iterators[known..].iter().map(affine).collect();
            Placed::new(scop, StmtId(s as u32).index(), dims, iterators, union(&p.domain), variables, union(&p.live_out), [phases, depth])
        };
        let statements: Vec<Placed> = self.statements.iter().enumerate().map(placed).collect();
        let all: Vec<Vec<Constraint>> = statements.iter().flat_map(|p| p.domain.clone()).collect();
        let bounds = flow::domain_bounds(&all, depth).unwrap_or_else(|| vec![(0, 0); depth]);
        let dims = self.dims[known..].iter().zip(bounds).map(|(d, (lo, hi))| Dim { name: d.name.clone(), lo, hi }).collect();
        System { dims, sizes: 0, phases, statements }
    }
}
