//! The services of a walk, one after the other: the generator counts the tiles' counters and offers each service with
//! its address and the ends of its rows. It is the first stage of [`super::address`].

use super::bundle::Bus;
use super::bursts::{Guard, Report};
use super::elastic::{choose, hold, stage};
use super::program::{self, Program};
use crate::cases::{by_case, of_case, within};
use crate::port::Port;
use array::contract::program::Register;
use array::contract::steps::Steps;
use array::contract::walk::{RowForm, Wait, WaitUntil, Walk, WalkGroup};
use rtl::{clog2, s, u, ModuleBuilder, Sig, Ty};
use scop::Affine;
use uniform::counters::Span;
use uniform::sizes::Formula;

/// Ports that both engines have.
#[derive(Clone, Debug, PartialEq)]
pub struct EnginePorts {
    pub guard: Guard<Port>,
    /// Pulse.
    pub start: Port,
    /// Byte addresses, element-aligned, of the arrays with these indices.
    pub bases: Vec<(usize, Port)>,
    /// What the host computes from the sizes.
    pub program: Vec<Port>,
    pub report: Report<Port>,
}

impl EnginePorts {
    pub(crate) fn new(walk: &Walk, program: &[Register]) -> Self {
        let base = |k: usize| (k, Port::new(format!("base_{k}"), u(walk.address_bits)));
        EnginePorts {
            guard: Guard::ports(),
            start: Port::bit("start"),
            bases: walk.arrays.iter().map(|a| base(a.0)).collect(),
            program: program::ports(program),
            report: Report::ports(Bus::of(walk)),
        }
    }
}

/// When an engine starts, and where its arrays lie.
#[derive(Clone)]
pub(crate) struct Start<'m> {
    pub rst: Sig<'m>,
    pub start: Sig<'m>,
    /// Per array of the walk.
    bases: Vec<Sig<'m>>,
    pub program: Program<'m>,
}

impl<'m> Start<'m> {
    pub fn of(
        m: &'m ModuleBuilder,
        walk: &Walk,
        ports: &EnginePorts,
        registers: &[Register],
        rst: Sig<'m>,
    ) -> Start<'m> {
        let start = ports.start.input(m);
        let bases: Vec<_> = ports.bases.iter().map(|(_, port)| port.input(m)).collect();
        if walk.bytes > 1 {
            let within: Vec<_> =
                bases.iter().map(|base| base.slice(0, walk.bytes.trailing_zeros()).reduce_or()).collect();
            m.assert(rst, "addresses are multiples of an element", !start | !m.any(&within));
        }
        Start { rst, start, bases, program: Program::of(m, registers, &ports.program, start) }
    }
    /// Address of the group's array.
    fn base(&self, m: &'m ModuleBuilder, walk: &Walk, group: &WalkGroup) -> Sig<'m> {
        match walk.arrays.iter().position(|a| a.0 == group.array) {
            Some(k) => self.bases[k],
            // Not driven: a fault of the netlist.
            None => m.wire("unserved_base", u(walk.address_bits)).sig(),
        }
    }
}

/// A service waiting for its credits.
pub(crate) struct Job<'m> {
    pub valid: Sig<'m>,
    /// One bit per group of the walk.
    pub group: Vec<Sig<'m>>,
    pub slot: Sig<'m>,
    /// Per group and wait for a phase: this load is the first of its phase, and the phase before had drains that it
    /// waits for; or, see [`WaitUntil::due_bits`], how many drains it waits for that the load before did not.
    pub phase: Vec<Vec<Option<Sig<'m>>>>,
    pub(super) address: Sig<'m>,
    pub(super) gates: Vec<Sig<'m>>,
    pub(super) lowers: Vec<Sig<'m>>,
    pub(super) uppers: Vec<Sig<'m>>,
}

impl<'m> Job<'m> {
    /// Element offset of local element 0 in its bus word (`None` when a word is one element).
    pub fn shift(&self, walk: &Walk) -> Option<Sig<'m>> {
        shift_bits(walk, self.address)
    }
    /// Low bits of the virtual address of the first row.
    pub fn low_address(&self, bits: u32) -> Sig<'m> {
        self.address.slice(0, bits)
    }
}

/// Bits of `address` that tell the element within a bus word.
pub(crate) fn shift_bits<'m>(walk: &Walk, address: Sig<'m>) -> Option<Sig<'m>> {
    (walk.word > 1).then(|| address.slice(walk.bytes.trailing_zeros(), walk.word.trailing_zeros()))
}

/// The forms of one role in every group, short lists padded with a constant that has no effect.
fn padded(
    walk: &Walk,
    pick: impl Fn(&WalkGroup) -> &Vec<RowForm>,
    neutral: impl Fn(&WalkGroup) -> i64,
) -> Vec<Vec<RowForm>> {
    let most = walk.groups.iter().map(|g| pick(g).len()).max().unwrap_or(0);
    let at = |g: &WalkGroup, i: usize| {
        pick(g).get(i).cloned().unwrap_or_else(|| RowForm {
            start: Affine::constant(walk.trips.len(), neutral(g)),
            rows: vec![0; g.rows.len()],
        })
    };
    (0..most).map(|i| walk.groups.iter().map(|g| at(g, i)).collect()).collect()
}

pub(super) struct Forms {
    pub gates: Vec<Vec<RowForm>>,
    pub lowers: Vec<Vec<RowForm>>,
    pub uppers: Vec<Vec<RowForm>>,
}

pub(super) fn forms(walk: &Walk) -> Forms {
    Forms {
        gates: padded(walk, |g| &g.gates, |_| 0),
        lowers: padded(walk, |g| &g.lowers, |_| 0),
        uppers: padded(walk, |g| &g.uppers, |g| g.elements),
    }
}

/// Walks the kept tile counters and offers the services in order. A point that is not a service takes one cycle.
pub(crate) fn generator<'m>(m: &'m ModuleBuilder, walk: &Walk, io: &Start<'m>, job_leaves: Sig<'m>) -> Job<'m> {
    let groups = walk.groups.len();
    let busy = m.reg("gen_busy", u(1));
    let taken = m.wire("gen_taken", u(1));
    // Parameters are constants of a run.
    let (trips, lasts) = (&walk.trips[walk.parameters..], &walk.lasts[walk.parameters..]);
    let counters: Vec<_> =
        trips.iter().enumerate().map(|(j, t)| m.reg(format!("gen_count{j}"), u(clog2(*t as u64)))).collect();
    let numbers = Numbers {
        m,
        program: &io.program,
        cases: cases(m, walk, &io.program, &counters.iter().map(|c| c.q()).collect::<Vec<_>>()),
    };
    let at_end: Vec<_> = counters.iter().zip(lasts).map(|(c, last)| c.q().eq(numbers.kept(last, c.q().ty()))).collect();
    let turn: Vec<_> = (0..groups).map(|g| m.reg(format!("gen_turn{g}"), u(1))).collect();
    let here = |g: &WalkGroup| {
        let at = |(j, w): (usize, &Option<i64>)| {
            w.map(|v| match g.when_sized.get(&(walk.parameters + j)) {
                Some(value) => counters[j].q().eq(numbers.kept(value, counters[j].q().ty())),
                None if ends(walk, j, v) => at_end[j],
                None => counters[j].q().eq_lit(v),
            })
        };
        let cases = g.cases.iter().map(|some| m.any(&some.iter().map(|&k| numbers.cases[k]).collect::<Vec<_>>()));
        let tests: Vec<_> = g.when[walk.parameters..].iter().enumerate().filter_map(at).chain(cases).collect();
        if tests.is_empty() {
            m.lit(1, u(1))
        } else {
            m.all(&tests)
        }
    };
    let active: Vec<_> = walk.groups.iter().zip(&turn).map(|(g, t)| t.q() & here(g)).collect();
    let offered = (busy.q() & m.any(&active)).named("gen_offers");
    let moved = (busy.q() & (!m.any(&active) | taken.sig())).named("gen_moves");
    let step = (moved & turn[groups - 1].q()).named("gen_steps");
    let load = io.start | step;
    let one = m.lit(1, u(1));
    let mut inner = one;
    for j in (0..counters.len()).rev() {
        let c = counters[j];
        let zero = io.start | at_end[j];
        c.next(m.mux(zero, m.lit(0, c.q().ty()), c.q().add_lit(1))).en(io.start | (step & inner)).rst(io.rst, 0);
        inner = inner & at_end[j];
    }
    busy.next(io.start | (busy.q() & !(step & inner))).rst(io.rst, 0);
    for g in 0..groups {
        let before = turn[(g + groups - 1) % groups].q();
        let first = m.lit(u64::from(g == 0), u(1));
        turn[g].next(m.mux(io.start, first, before)).en(io.start | moved).rst(io.rst, u64::from(g == 0));
    }
    let counts: Vec<_> = counters.iter().map(|c| c.q()).collect();
    let odometer = Tiles { numbers, at_end, start: io.start, load };
    let job_group: Vec<_> = (0..groups).map(|g| active[g]).collect();
    let st = stage(m, "job", io.rst, offered, job_leaves);
    taken.drive(st.ready);
    let held = |name: String, values: Vec<Sig<'m>>| hold(m, name, st.load, choose(m, &job_group, &values));
    let address = (0..groups)
        .map(|g| {
            let steps = walk.address_steps(&walk.groups[g]);
            let init = io.base(m, walk, &walk.groups[g]) + io.program.given(&steps.start, u(walk.address_bits));
            odometer.accumulate(m, format!("gen_address{g}"), init, &steps)
        })
        .collect();
    let ends = s(walk.coordinate_bits());
    let list = |role: &str, forms: Vec<Vec<RowForm>>| -> Vec<Sig<'m>> {
        let one = |(i, per_group): (usize, Vec<RowForm>)| {
            let values = per_group.iter().enumerate().map(|(g, f)| {
                let steps = walk.steps(&walk.groups[g], f);
                odometer.accumulate(m, format!("gen_{role}{i}_{g}"), io.program.given(&steps.start, ends), &steps)
            });
            held(format!("job_{role}{i}"), values.collect())
        };
        forms.into_iter().enumerate().map(one).collect()
    };
    let f = forms(walk);
    let slots = (0..groups).map(|g| {
        let slot = m.reg(format!("gen_slot{g}"), u(1));
        let on = if walk.groups[g].slots > 1 { st.load & active[g] } else { m.lit(0, u(1)) };
        slot.next(m.mux(io.start, m.lit(0, u(1)), !slot.q())).en(io.start | on).rst(io.rst, 0);
        slot.q()
    });
    let ends =
        (step & m.all(&[&[one], &odometer.at_end[walk.phases - walk.parameters..]].concat())).called("gen_phase_ends");
    let passing = Passing { start: io.start, ends, served: (0..groups).map(|g| st.load & active[g]).collect() };
    let phase = phase_steps(m, walk, (&counts, &odometer.at_end), &odometer.numbers, &passing).into_iter().enumerate();
    let phase = phase
        .map(|(g, waits)| {
            waits
                .into_iter()
                .enumerate()
                .map(|(k, w)| Some(hold(m, format!("job_phase{g}_{k}"), st.load, w?)))
                .collect()
        })
        .collect();
    Job {
        valid: st.valid,
        phase,
        slot: held("job_slot".into(), slots.collect()),
        address: held("job_address".into(), address),
        gates: list("gate", f.gates),
        lowers: list("lower", f.lowers),
        uppers: list("upper", f.uppers),
        group: job_group
            .iter()
            .enumerate()
            .map(|(g, a)| if groups == 1 { one } else { hold(m, format!("job_group{g}"), st.load, *a) })
            .collect(),
    }
}

/// Of counter `j` behind the parameters, value `v` is where sizes end it: it has no number of its own.
fn ends(walk: &Walk, j: usize, v: i64) -> bool {
    let j = walk.parameters + j;
    v + 1 == walk.trips[j] && !matches!(walk.lasts[j], Formula::Const(_) | Formula::ByCase(_))
}

/// When a walk starts, ends a phase, and serves its groups.
struct Passing<'m> {
    start: Sig<'m>,
    ends: Sig<'m>,
    served: Vec<Sig<'m>>,
}

/// Per group and wait, see [`Job::phase`].
fn phase_steps<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    (counts, at_end): (&[Sig<'m>], &[Sig<'m>]),
    numbers: &Numbers<'_, 'm>,
    passing: &Passing<'m>,
) -> Vec<Vec<Option<Sig<'m>>>> {
    let zero = |of: &[Sig<'m>]| {
        if of.is_empty() {
            m.lit(1, u(1))
        } else {
            m.all(&of.iter().map(|c| !c.reduce_or()).collect::<Vec<_>>())
        }
    };
    let (phases, inner) = counts.split_at(walk.phases - walk.parameters);
    let step = |g: usize, k: usize, w: &Wait| {
        let WaitUntil::Phase { drains, emit, .. } = &w.until else { return None };
        if let Some(bits) = w.until.due_bits(walk) {
            // Phases end while the group has no loads, and not with as many drains each.
            let due = m.reg(format!("gen_due{g}_{k}"), u(bits));
            let at = |(j, value): (usize, &Option<i64>)| {
                value.map(|v| if ends(walk, j, v) { at_end[j] } else { phases[j].eq_lit(v) })
            };
            let here: Vec<_> =
                emit[walk.parameters..].iter().enumerate().filter_map(at).chain([passing.ends]).collect();
            let more = m.mux(m.all(&here), numbers.kept(drains, u(bits)), m.lit(0, u(bits)));
            due.next(m.mux(
                passing.start,
                m.lit(0, u(bits)),
                m.mux(passing.served[g], m.lit(0, u(bits)), due.q()) + more,
            ));
            return Some(due.q());
        }
        // Counter `j` of the phase before: one less where all counters within are zero now.
        let had = |(j, value): (usize, &Option<i64>)| {
            let (value, trip) = ((*value)?, walk.trips[walk.parameters + j]);
            let borrows = zero(&phases[j + 1..]);
            Some(m.mux(borrows, phases[j].eq_lit((value + 1) % trip), phases[j].eq_lit(value)))
        };
        let known: Vec<_> =
            emit[walk.parameters..].iter().enumerate().filter_map(had).chain([zero(inner), !zero(phases)]).collect();
        Some(m.all(&known))
    };
    let of = |(g, group): (usize, &WalkGroup)| group.waits.iter().enumerate().map(|(k, w)| step(g, k, w)).collect();
    walk.groups.iter().enumerate().map(of).collect()
}

/// Which case of phases is at hand, one bit each.
fn cases<'m>(m: &'m ModuleBuilder, walk: &Walk, program: &Program<'m>, counts: &[Sig<'m>]) -> Vec<Sig<'m>> {
    let one = |span: &Span, count: Sig<'m>, trip: i64| {
        let known = within(m, count, [span.low, span.high], trip);
        if matches!(span.end, Formula::Const(_)) {
            known
        } else {
            known & count.le(program.kept(&span.end, count.ty()))
        }
    };
    let is = |(k, all): (usize, &Vec<Span>)| {
        m.all(
            &all.iter()
                .zip(counts)
                .zip(&walk.trips[walk.parameters..])
                .map(|((span, count), trip)| one(span, *count, *trip))
                .collect::<Vec<_>>(),
        )
        .called(format!("gen_case{k}"))
    };
    walk.cases.iter().enumerate().map(is).collect()
}

/// Numbers that follow from sizes, or are constants by the case of phases.
struct Numbers<'a, 'm> {
    m: &'m ModuleBuilder,
    program: &'a Program<'m>,
    cases: Vec<Sig<'m>>,
}

impl<'m> Numbers<'_, 'm> {
    /// From the cycle behind the `start` pulse on, modulo the type's width.
    fn kept(&self, formula: &Formula, ty: Ty) -> Sig<'m> {
        match formula {
            Formula::ByCase(values) => {
                let number = |v: &Formula| if let Formula::Const(c) = v { Some(*c) } else { None };
                match values.iter().map(number).collect::<Option<Vec<i64>>>() {
                    Some(numbers) => by_case(self.m, &self.cases, &numbers, ty),
                    None => of_case(
                        self.m,
                        &self.cases,
                        &values.iter().map(|v| self.program.kept(v, ty)).collect::<Vec<_>>(),
                    ),
                }
            }
            _ => self.program.kept(formula, ty),
        }
    }
}

struct Tiles<'a, 'm> {
    numbers: Numbers<'a, 'm>,
    at_end: Vec<Sig<'m>>,
    start: Sig<'m>,
    load: Sig<'m>,
}

impl<'m> Tiles<'_, 'm> {
    /// Register with the value of a form at the present counters.
    fn accumulate(&self, m: &'m ModuleBuilder, name: String, init: Sig<'m>, f: &Steps) -> Sig<'m> {
        if f.tiles.iter().all(|d| *d == Formula::Const(0)) {
            return hold(m, name, self.start, init);
        }
        let acc = m.reg(name, init.ty());
        let delta =
            carry_select(m, &self.at_end, &f.tiles.iter().map(|d| self.numbers.kept(d, init.ty())).collect::<Vec<_>>());
        acc.next(m.mux(self.start, init, acc.q() + delta)).en(self.load);
        acc.q()
    }
}

/// The value of the innermost digit that is not at its end.
pub(super) fn carry_select<'m>(m: &'m ModuleBuilder, at_end: &[Sig<'m>], values: &[Sig<'m>]) -> Sig<'m> {
    let cases: Vec<_> = at_end.iter().zip(values).skip(1).rev().map(|(e, v)| (!*e, *v)).collect();
    m.select(&cases, values[0])
}
