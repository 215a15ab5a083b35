//! Well-formedness: what must hold before anything else can be looked at.
//!
//! Trips and extents are at least 1, indices point somewhere, lists are as long as the tables they belong to, forms
//! stay below 2^60, words and ports are those of a bus. The interpreter relies on this part alone.

use crate::contract::away::MOST_DIES;
use crate::contract::common;
use crate::contract::walk::{LONGEST_BURST, MOST_AHEAD};
use crate::forms::full_range;
use crate::vsa::{After, Bank, Common, DramArray, Footprint, Member, Op, OutputGroup, Scalar, Until, Vsa, When};
use scop::{Expr, ExprKind};
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::{Condition, Form};
use uniform::counters::{Case, Counter, Span};
use uniform::sizes::Formula;

/// What the indices and lengths of a Vsa must satisfy before anything else can be looked at.
pub fn well_formed(vsa: &Vsa) -> Vec<String> {
    let mut check = WellFormed { vsa, faults: Vec::new() };
    check.frame();
    if check.faults.is_empty() {
        check.nodes();
        check.inputs();
        check.outputs();
    }
    if check.faults.is_empty() {
        check.common();
    }
    check.faults
}

const MAGNITUDE: i128 = 1 << 60;
/// Most cells of one footprint, and most PEs.
const CELLS: i128 = 1 << 31;

struct WellFormed<'a> {
    vsa: &'a Vsa,
    faults: Vec<String>,
}

impl WellFormed<'_> {
    fn require(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(fault());
        }
    }

    fn frame(&mut self) {
        let vsa = self.vsa;
        self.require(vsa.tile_depth <= vsa.counters.len(), || {
            format!("tile depth {} of {} counters", vsa.tile_depth, vsa.counters.len())
        });
        for (j, c) in vsa.counters.iter().enumerate() {
            self.require(c.trip >= 1, || format!("counter {j} ({}) has trip {}", c.name, c.trip));
        }
        let total: i128 = vsa.counters[vsa.parameters().min(vsa.counters.len())..]
            .iter()
            .map(|c| c.trip.max(1) as i128)
            .try_fold(1i128, |a, b| a.checked_mul(b))
            .unwrap_or(i128::MAX);
        self.require(total < MAGNITUDE, || "more than 2^60 waves".into());
        self.sizes();
        self.cases();
        let pes = vsa.extent[0] as i128 * vsa.extent[1] as i128;
        self.require(vsa.extent.iter().all(|&e| e >= 1) && pes < CELLS, || format!("array of {:?} PEs", vsa.extent));
        self.require(vsa.lanes >= 1, || format!("{} lanes", vsa.lanes));
        let ahead = (LONGEST_BURST..=MOST_AHEAD).contains(&vsa.ahead) && vsa.ahead.count_ones() == 1;
        self.require(ahead, || format!("ahead {}: a power of two from {LONGEST_BURST} to {MOST_AHEAD}", vsa.ahead));
        let away = vsa.away.is_empty() || vsa.away.len() == vsa.axi_ports();
        let few = |dies: &i64| (1 - MOST_DIES..MOST_DIES).contains(dies);
        self.require(away && vsa.away.iter().all(few), || {
            format!("away {:?}: one for each of {} ports, less than {MOST_DIES}", vsa.away, vsa.axi_ports())
        });
        self.require([32, 64].contains(&vsa.address_bits), || {
            format!("addresses of {} bits: 32 or 64", vsa.address_bits)
        });
        self.require(identifier(&vsa.name), || format!("`{}` cannot name a module", vsa.name));
        vsa.scalars.iter().enumerate().for_each(|(i, s)| self.scalar(i, s));
        vsa.arrays.iter().enumerate().for_each(|(i, a)| self.array(i, a));
        self.functions();
    }

    /// Two arrays differ in nothing that an array's hardware depends on. Their extents may differ.
    fn alike(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|k| &self.vsa.arrays[k as usize]);
        *a == DramArray { name: a.name.clone(), dims: a.dims.clone(), ..b.clone() } && a.dims.len() == b.dims.len()
    }

    /// Every array and scalar is of one function of a merged array, a kept array of some; every group in its runs only.
    fn functions(&mut self) {
        let vsa = self.vsa;
        if !vsa.is_merged() {
            return;
        }
        let number = vsa.sizes.list.first().is_some_and(|s| s.max == vsa.functions.len() as i64);
        self.require(number, || {
            format!("the first size is not the number of one of {} functions", vsa.functions.len())
        });
        let once = |all: &dyn Fn(&Member) -> Vec<usize>, from: usize, count: usize| {
            let mut places: Vec<usize> = vsa.functions.iter().flat_map(all).collect();
            places.sort_unstable();
            places == (from..count).collect::<Vec<_>>()
        };
        let places = |all: &[(usize, String)]| all.iter().map(|a| a.0).collect::<Vec<usize>>();
        // Functions may share what is on chip, each has it at most once.
        let shared = vsa.hosted();
        let apart = |f: &Member| places(&f.arrays).into_iter().filter(|k| *k < shared).collect();
        let on_chip = (shared..vsa.arrays.len()).all(|k| {
            let times = |f: &Member| f.arrays.iter().filter(|a| a.0 == k).count();
            vsa.functions.iter().any(|f| times(f) == 1) && vsa.functions.iter().all(|f| times(f) <= 1)
        });
        let each = on_chip
            && vsa.functions.iter().all(|f| f.arrays.iter().all(|a| a.0 < vsa.arrays.len()))
            && once(&apart, 0, shared)
            && once(&|f| places(&f.scalars), 0, vsa.scalars.len())
            && once(&|f| places(&f.sizes), 1, vsa.sizes.list.len());
        self.require(each, || "an array, scalar or size that is not of exactly one function".into());
        let names = vsa.functions.iter().flat_map(|f| f.arrays.iter().chain(&f.scalars).chain(&f.sizes));
        self.require(
            names.into_iter().all(|n| identifier(&n.1)) && vsa.functions.iter().all(|f| identifier(&f.name)),
            || "a function or an argument whose name cannot name a register".into(),
        );
        let of = |array: u32, arrays: &[u32], when: &When| {
            let has = |(f, array): (&usize, &u32)| {
                let own = vsa.functions.get(*f).is_some_and(|f| f.arrays.iter().any(|a| a.0 == *array as usize));
                own && self.alike(*array, arrays[0])
            };
            let sorted = when.functions.windows(2).all(|f| f[0] < f[1]);
            let each = !arrays.is_empty() && arrays.len() == when.functions.len() && arrays[0] == array;
            sorted && each && when.functions.iter().zip(arrays).all(has)
        };
        let groups = vsa.inputs.iter().all(|g| of(g.array, &g.arrays, &g.used))
            && vsa.outputs.iter().all(|g| of(g.array, &g.arrays, &g.emit));
        self.require(groups, || "an input or output group that is not of the functions of its arrays".into());
    }

    fn scalar(&mut self, i: usize, s: &Scalar) {
        let vsa = self.vsa;
        self.require(identifier(&s.name), || format!("scalar {i}: `{}` cannot name a register", s.name));
        let named = vsa.scalars[..i].iter().any(|b| b.name == s.name) || vsa.arrays.iter().any(|b| b.name == s.name);
        self.require(!named, || format!("scalar {i}: second argument named {}", s.name));
        self.require([8, 16, 32, 64].contains(&s.ty.bits()), || format!("scalar {}: {} bits", s.name, s.ty.bits()));
        let computable = s.host.as_ref().is_none_or(|e| e.ty == s.ty && reads_only(e, &vsa.scalars[..i]));
        self.require(computable, || format!("scalar {}: computed from what is not known", s.name));
        // Those of a merged array stand among the arrays of their functions.
        let in_order = || s.after as usize <= vsa.hosted() && vsa.scalars[..i].iter().all(|b| b.after <= s.after);
        let ordered = vsa.is_merged() || in_order();
        self.require(ordered, || {
            format!("scalar {}: after {} of {} arrays, out of order", s.name, s.after, vsa.arrays.len())
        });
    }

    fn array(&mut self, i: usize, a: &DramArray) {
        let vsa = self.vsa;
        self.require(identifier(&a.name), || format!("array {i}: `{}` cannot name a port", a.name));
        self.require(!vsa.arrays[..i].iter().any(|b| b.name == a.name), || {
            format!("array {i}: second one named {}", a.name)
        });
        self.require(vsa.arrays[..i].iter().all(|b| b.home <= a.home), || {
            format!("array {}: behind one that is not argument, scratch, on_chip, kept, in this order", a.name)
        });
        let alone = !a.home.is_on_chip() || vsa.arrays.iter().filter(|b| b.port == a.port).count() == 1;
        self.require(alone, || format!("array {}: on chip, but not alone behind its port", a.name));
        let bits = a.ty.bits();
        self.require((8..=64).contains(&bits) && bits.is_power_of_two(), || {
            format!("array {}: elements of {bits} bits", a.name)
        });
        let bytes = a.word as u64 * a.ty.bytes() as u64;
        let word = (4..=128).contains(&bytes) && bytes.is_power_of_two();
        self.require(word, || format!("array {}: words of {} elements, {bytes} bytes", a.name, a.word));
        let next = vsa.arrays[..i].iter().map(|b| b.port as u64 + 1).max().unwrap_or(0);
        self.require(a.port as u64 <= next, || {
            format!("array {}: port {}, but the next one is {next}", a.name, a.port)
        });
        if let Some(b) = vsa.arrays[..i].iter().find(|b| b.port == a.port) {
            let wide = |a: &DramArray| a.word as u64 * a.ty.bytes() as u64;
            self.require(wide(a) == wide(b), || {
                format!(
                    "arrays {} and {} share a port, but have words of {} and {} bytes",
                    b.name,
                    a.name,
                    wide(b),
                    wide(a)
                )
            });
        }
        let size = a.dims.iter().try_fold(1i128, |s, &d| if d >= 1 { s.checked_mul(d as i128) } else { None });
        self.require(size.is_some_and(|s| s < MAGNITUDE), || format!("array {}: extents {:?}", a.name, a.dims));
    }

    fn sizes(&mut self) {
        let (vsa, sizes) = (self.vsa, &self.vsa.sizes);
        let (maxima, parameters) = (sizes.maxima(), vsa.parameters());
        self.require(parameters >= sizes.list.len() && parameters <= vsa.phases(), || {
            format!("{parameters} parameters of {} sizes and {} phase counters", sizes.list.len(), vsa.phases())
        });
        for (k, s) in sizes.list.iter().enumerate() {
            self.require((2..=1 << 24).contains(&s.max), || format!("size {}: max {}", s.name, s.max));
            self.require(identifier(&s.name), || format!("size {k}: `{}` cannot name an argument", s.name));
            let first = vsa.counters.get(k).is_some_and(|c| c.last == Formula::Size(k as u32).plus(Formula::Const(-1)));
            self.require(first && vsa.counters.get(k).is_some_and(|c| c.trip == s.max), || {
                format!("parameter {k} is not the size {} less one", s.name)
            });
        }
        for (k, counter) in vsa.counters[..parameters].iter().enumerate() {
            let formula = &counter.last;
            let exists = formula.sizes().iter().all(|&s| (s as usize) < maxima.len());
            let within = exists && {
                let (low, high) = formula.range(&maxima);
                low >= 0 && high < i128::from(counter.trip)
            };
            self.require(within, || {
                format!("parameter {k} ({}) may be beyond 0 to {}", counter.name, counter.trip - 1)
            });
        }
        for (j, counter) in vsa.counters.iter().enumerate().skip(parameters) {
            let Some(limit) = counter.limit() else { continue };
            let good = limit < parameters && counter.trip == vsa.counters[limit].trip && counter.trip > 1;
            self.require(good, || format!("counter {j} cannot end with parameter {limit}"));
        }
        for (&array, extents) in &sizes.extents {
            let good = vsa.arrays.get(array).is_some_and(|a| {
                a.dims.len() == extents.len()
                    && extents.iter().zip(&a.dims).all(|(e, &d)| {
                        e.coeffs.len() == maxima.len() && e.over_sizes(&maxima).0 >= 1 && e.over_sizes(&maxima).1 == d
                    })
            });
            self.require(good, || format!("extents of array {array} do not fit"));
        }
        self.require(vsa.phases() >= parameters, || "sizes that are no phases".into());
    }

    fn cases(&mut self) {
        let vsa = self.vsa;
        // Those of strips are whole along the counters of tiles.
        let strips = vsa.cased() > vsa.tile_depth;
        let whole = |case: &Case, counters: usize| {
            case.iter().zip(&vsa.counters).take(counters).all(|(span, c)| *span == Span::whole(c))
        };
        let counted = if strips && vsa.phases() == 0 { vsa.cased().min(vsa.counters.len()) } else { vsa.phases() };
        let within = |case: &Case| {
            let inside = |(span, c): (&Span, &Counter)| 0 <= span.low && span.low <= span.high && span.high < c.trip;
            case.len() == counted
                && (!strips || whole(case, vsa.tile_depth))
                && case.iter().zip(&vsa.counters).all(inside)
        };
        // A case is of all sizes; of a merged array, of one function.
        let of_run = |case: &Case| match vsa.is_merged() {
            false => whole(case, vsa.parameters()),
            true => {
                let rest = || case.iter().zip(&vsa.counters).take(vsa.parameters()).skip(1);
                case[0].low == case[0].high && rest().all(|(span, c)| *span == Span::whole(c))
            }
        };
        let disjoint = |a: &Case, b: &Case| a.iter().zip(b).any(|(x, y)| x.is_apart_from(y));
        let phases = vsa
            .cases
            .iter()
            .enumerate()
            .all(|(k, a)| within(a) && of_run(a) && vsa.cases[..k].iter().all(|b| disjoint(a, b)));
        self.require(phases, || "cases of phases that are none, or are of two cases".into());
        let is_end = |counter: &Counter, end: &Formula| match end {
            Formula::Const(last) => (0..counter.trip).contains(last),
            Formula::Parameter { place, most } => {
                let limit = *place as usize;
                (0..counter.trip).contains(most) && limit < vsa.parameters() && vsa.counters[limit].trip <= counter.trip
            }
            _ => false,
        };
        for (j, counter) in vsa.counters.iter().enumerate().skip(vsa.parameters()) {
            let good = match &counter.last {
                Formula::ByCase(ends) => {
                    j >= counted
                        && ends.len() == vsa.cases.len() + 1
                        && ends.last() == Some(&Formula::Const(0))
                        && ends.iter().all(|end| is_end(counter, end))
                }
                last => *last == Formula::Const(counter.trip - 1) || is_end(counter, last),
            };
            self.require(good, || format!("counter {j} cannot end at {}", counter.last));
            let spans = vsa.cases.iter().filter_map(|case| case.get(j));
            let good = spans.clone().all(|span| is_end(counter, &span.end) && span.end.most() == span.high);
            let sequential = j < vsa.phases() || spans.clone().all(|span| span.end.parameter().is_none());
            self.require(good && sequential, || format!("counter {j} cannot end so in phases of a case"));
        }
    }

    fn cases_of(&mut self, what: &str, some: &Option<BTreeSet<usize>>) {
        let exists = some.iter().flatten().all(|&k| k < self.vsa.cases.len());
        let phases = self.vsa.loops().has_cases() && self.vsa.cased() <= self.vsa.tile_depth;
        self.require(exists && (some.is_none() || phases), || format!("{what}: of cases {some:?} that are none"));
    }

    fn form(&mut self, form: &Form, what: impl Fn() -> String) {
        let vsa = self.vsa;
        let length = form.counters.len() <= vsa.counters.len();
        self.require(length, || {
            format!("{}: {} coefficients for {} counters", what(), form.counters.len(), vsa.counters.len())
        });
        let (low, high) = full_range(vsa, form);
        let small = form.counters.iter().chain(&form.space).all(|&c| (c as i128).abs() < MAGNITUDE);
        self.require(small && low > -MAGNITUDE && high < MAGNITUDE, || format!("{}: exceeds 60 bits", what()));
    }

    /// Guests use buffers of owners that suit them and each other.
    fn common(&mut self) {
        let vsa = self.vsa;
        let Common { inputs, outputs } = &vsa.common;
        self.guests("input", inputs, vsa.inputs.len(), |g| vsa.fed_with(g), common::may_share_feeders);
        self.guests("output", outputs, vsa.outputs.len(), |o| vsa.collected_with(o), common::may_share_collectors);
    }

    /// `with`: the groups that have the buffers of an owner; `may`: two groups may have the same.
    fn guests(
        &mut self,
        what: &str,
        owners: &BTreeMap<usize, usize>,
        groups: usize,
        with: impl Fn(usize) -> Vec<usize>,
        may: fn(&Vsa, usize, usize) -> bool,
    ) {
        let vsa = self.vsa;
        for (&guest, &owner) in owners {
            let all = with(owner);
            let suits = |g: &usize| *g == guest || may(vsa, *g, guest);
            let known = guest < groups && owner < groups;
            self.require(known && !all.is_empty() && all.iter().all(suits), || {
                format!("{what} group {guest}: buffers of {owner}, which do not suit it")
            });
        }
    }

    fn nodes(&mut self) {
        let vsa = self.vsa;
        for (n, node) in vsa.nodes.iter().enumerate() {
            for source in node.op.sources() {
                self.require(source.index() < vsa.nodes.len(), || format!("node %{n}: no node %{}", source.0));
            }
            let bits = node.ty.bits();
            self.require((1..=64).contains(&bits), || format!("node %{n}: {bits} bits"));
            match &node.op {
                Op::Iter(form) => self.form(form, || format!("node %{n}")),
                Op::Guard(conditions) => {
                    conditions.iter().for_each(|c: &Condition| self.form(&c.form, || format!("node %{n}")))
                }
                Op::Scalar(k) => {
                    self.require((*k as usize) < vsa.scalars.len(), || format!("node %{n}: no scalar {k}"))
                }
                Op::Input { group, port } => {
                    let exists = vsa.inputs.get(*group as usize).is_some_and(|g| (*port as usize) < g.ports.len());
                    self.require(exists, || format!("node %{n}: no port {port} of input group {group}"));
                }
                Op::Past { hop, waves, .. } => {
                    let by_case = |f: &Formula| {
                        if let Formula::ByCase(all) = f {
                            all.len() == vsa.cases.len() + 1
                        } else {
                            true
                        }
                    };
                    let sizes = |f: &Formula| f.sizes().iter().all(|&s| (s as usize) < vsa.sizes.list.len());
                    let least = |f: &Formula| if matches!(f, Formula::Const(_)) { 0 } else { 2 };
                    let within = by_case(waves) && sizes(waves) && {
                        let (low, high) = waves.range(&vsa.sizes.maxima());
                        low >= least(waves) && high < 1 << 40
                    };
                    let small = hop.iter().all(|h| h.unsigned_abs() < 1 << 31);
                    self.require(small && within, || format!("node %{n}: hop {hop:?}, {waves} waves"));
                }
                _ => {}
            }
        }
    }

    fn group(&mut self, what: &str, (array, when): (u32, &When), subscripts: &[Form], footprint: &Footprint) -> bool {
        let vsa = self.vsa;
        if array as usize >= vsa.arrays.len() {
            self.faults.push(format!("{what}: no array {array}"));
            return false;
        }
        let rank = vsa.arrays[array as usize].dims.len().max(1);
        let with = |o: &OutputGroup| !vsa.is_merged() || o.emit.functions.iter().any(|f| when.functions.contains(f));
        let stored = vsa.outputs.iter().any(|o| o.array == array && with(o));
        let lengths = [subscripts.len(), footprint.origin.len(), footprint.rows.len() + 1];
        let equal = lengths[0] >= 1 && lengths.iter().all(|&l| l == lengths[0]);
        // Inner dimensions may stand as one where a run stores nothing.
        let sees = if stored { rank } else { 1 }..=rank;
        let view = sees.contains(&footprint.view.len()) && footprint.view.iter().all(|f| f.coeffs.len() == lengths[0]);
        self.require(equal && view, || {
            format!(
                "{what}: rank {rank}, but view, subscripts, origin and rows + 1 are {}, {lengths:?}",
                footprint.view.len()
            )
        });
        if !(equal && view) {
            return false;
        }
        let numbers = footprint.view.iter().flat_map(|f| f.coeffs.iter().chain([&f.constant]));
        self.require(numbers.into_iter().all(|x| x.unsigned_abs() < 1 << 31), || {
            format!("{what}: view beyond 31 bits")
        });
        subscripts.iter().for_each(|f| self.form(f, || format!("{what}: subscript")));
        footprint.origin.iter().for_each(|f| self.form(f, || format!("{what}: origin")));
        let positive = footprint.rows.iter().all(|r| r.modulus >= 1 && r.extent >= 1) && footprint.words >= 1;
        self.require(positive, || format!("{what}: empty footprint"));
        let word = vsa.arrays[array as usize].word as i128;
        let sizes = footprint.rows.iter().flat_map(|r| [r.modulus, r.extent]).chain([footprint.words]).map(i128::from);
        let cells = sizes.chain([word]).try_fold(1i128, |a, b| a.checked_mul(b)).unwrap_or(i128::MAX);
        self.require(cells < CELLS, || format!("{what}: footprint of {cells} elements"));
        let fits = footprint.elements >= 1 && footprint.elements as i128 <= footprint.words as i128 * word;
        self.require(fits, || {
            format!("{what}: {} elements in {} words of {word}", footprint.elements, footprint.words)
        });
        let step = footprint.step(&vsa.arrays[array as usize].extents(footprint.view.len()));
        self.require(step <= Footprint::MOST_STEP, || {
            format!("{what}: rows in steps of {step} elements, of at most {}", Footprint::MOST_STEP)
        });
        true
    }

    fn bank(&mut self, what: &str, bank: &Bank, rank: usize, ports: usize) {
        let served = bank.ports >= 1 && bank.port as usize + bank.ports as usize <= ports;
        self.require(served, || format!("{what}: bank serves ports {}+{} of {ports}", bank.port, bank.ports));
        self.require(bank.rows.len() + 1 == rank, || format!("{what}: bank of rank {}", bank.rows.len() + 1));
        let positive =
            bank.rows.iter().all(|r| (1..1 << 31).contains(&r.extent)) && (1..1 << 31).contains(&bank.words_per_row);
        self.require(positive, || format!("{what}: empty bank"));
        let strides = (0..1 << 31).contains(&bank.stride) && bank.stride & (bank.stride - 1).max(0) == 0;
        self.require(strides, || format!("{what}: words {} apart, which is no power of two", bank.stride));
        let numbers = bank.rows.iter().flat_map(|r| [r.base, r.coef[0], r.coef[1]]).chain([
            bank.base,
            bank.coef[0],
            bank.coef[1],
        ]);
        self.require(numbers.into_iter().all(|x| x.unsigned_abs() < 1 << 31), || {
            format!("{what}: bank beyond 31 bits")
        });
    }

    fn inputs(&mut self) {
        let vsa = self.vsa;
        for (i, g) in vsa.inputs.iter().enumerate() {
            let what = format!("input group {i}");
            if !self.group(&what, (g.array, &g.used), &g.subscripts, &g.footprint) {
                continue;
            }
            let rank = g.subscripts.len();
            self.require(!g.ports.is_empty() && g.ports.iter().all(|p| offset(p, rank)), || {
                format!("{what}: no ports, or ports of another rank")
            });
            self.cases_of(&what, &g.used.cases);
            self.require(g.used.cases.is_none() || g.reload >= vsa.phases(), || {
                format!("{what}: of some cases only, but not loaded in each phase")
            });
            self.require(g.reload <= vsa.tile_depth, || {
                format!("{what}: reload {} of {} tile counters", g.reload, vsa.tile_depth)
            });
            // At some sizes there is no such phase.
            let value = |(j, v): (usize, &Option<Formula>)| match v {
                None => true,
                Some(Formula::Const(v)) => j >= vsa.parameters() && *v >= 0,
                Some(_) => false,
            };
            let phases = g.used.at.len() <= vsa.phases() && g.used.at.iter().enumerate().all(value);
            self.require(phases, || format!("{what}: phases {:?}", g.used.at));
            g.banks.iter().for_each(|b| self.bank(&what, b, rank, g.ports.len()));
            [&g.row, &g.col].iter().for_each(|f| self.form(f, || format!("{what}: row or col")));
            for After { output: o, until } in &g.after {
                let exists = vsa.outputs.get(*o as usize).is_some_and(|o| o.array == g.array);
                self.require(exists, || format!("{what}: output group {o} does not write its array"));
                match until {
                    Until::Lag(lag) => self.require(*lag >= 0, || format!("{what}: lag {lag}")),
                    // A buffer that outlives its phase holds what was there before.
                    Until::Phase => self.require(g.reload >= vsa.phases(), || {
                        format!("{what}: reload {} is within the {} counters of phases", g.reload, vsa.phases())
                    }),
                }
            }
        }
    }

    fn outputs(&mut self) {
        let vsa = self.vsa;
        for (i, g) in vsa.outputs.iter().enumerate() {
            let what = format!("output group {i}");
            if !self.group(&what, (g.array, &g.emit), &g.subscripts, &g.footprint) {
                continue;
            }
            let rank = g.subscripts.len();
            self.require(!g.ports.is_empty() && g.ports.iter().all(|p| offset(&p.offset, rank)), || {
                format!("{what}: no ports, or ports of another rank")
            });
            let nodes = g.ports.iter().all(|p| p.value.index().max(p.enable.index()) < vsa.nodes.len());
            self.require(nodes, || format!("{what}: value or enable is no node"));
            g.banks.iter().for_each(|b| self.bank(&what, &b.bank, rank, g.ports.len()));
            [&g.row, &g.col].iter().for_each(|f| self.form(f, || format!("{what}: row or col")));
            let inside = (0..2).all(|a| 0 <= g.first[a] && g.first[a] <= g.last[a] && g.last[a] < vsa.extent[a]);
            self.require(inside, || format!("{what}: collectors from {:?} to {:?}", g.first, g.last));
            let numbers = |f: &Formula| matches!(f, Formula::Const(_) | Formula::Parameter { .. });
            let emit = g.emit.at.len() == vsa.tile_depth && g.emit.at.iter().flatten().all(numbers);
            self.require(emit, || format!("{what}: emits {:?} of {} tile counters", g.emit.at, vsa.tile_depth));
            if !emit {
                continue;
            }
            let values =
                || g.emit.at.iter().zip(&vsa.counters).enumerate().filter_map(|(j, (f, c))| Some((j, f.as_ref()?, c)));
            let fits = values().all(|(j, f, c)| f.most() >= 0 && (f.most() < c.trip || j < vsa.phases()));
            self.require(fits, || format!("{what}: emit {:?} does not fit the tile counters", g.emit.at));
            // Of a merged array, a function may end it at a number.
            let ends = values()
                .all(|(_, f, c)| vsa.is_merged() || c.limit().is_none() || f.most() == 0 || f.most() + 1 == c.trip);
            self.require(ends, || format!("{what}: emits in the middle of a counter that sizes end"));
            self.cases_of(&what, &g.emit.cases);
            let good = values().all(|(_, f, c)| {
                f.parameter().is_none_or(|p| {
                    (c.is_by_case() || vsa.is_merged()) && p < vsa.parameters() && f.most() == vsa.counters[p].trip - 1
                })
            });
            self.require(good, || format!("{what}: emits at parameters that end nothing"));
            self.require((1..=2).contains(&g.slots), || format!("{what}: {} slots", g.slots));
            let bounds = g
                .bounds
                .iter()
                .all(|b| b.coeffs.len() + 1 == rank && b.phases.len() == vsa.phases() && b.scale.abs() <= 1);
            self.require(bounds, || format!("{what}: bounds of another rank, or a scale beyond 1"));
            let numbers = g.bounds.iter().flat_map(|b| b.coeffs.iter().chain(&b.phases).chain([&b.constant]));
            self.require(numbers.into_iter().all(|x| x.unsigned_abs() < 1 << 31), || {
                format!("{what}: bounds beyond 31 bits")
            });
        }
    }
}

/// All that a host's formula reads are scalars before it.
fn reads_only(e: &Expr, before: &[Scalar]) -> bool {
    let good = if let ExprKind::Read(k) = e.kind { before.get(k).is_some_and(|s| s.ty == e.ty) } else { true };
    good && e.operands().into_iter().all(|x| reads_only(x, before))
}

/// A Verilog name without escapes.
fn identifier(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn offset(port: &[i64], rank: usize) -> bool {
    port.len() == rank && port.iter().all(|x| x.unsigned_abs() < 1 << 31)
}
