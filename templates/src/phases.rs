//! The counters that tell the case of others ([`uniform::counters`]), and what follows from the case.
//!
//! ```text
//! phase ends ─► counters one step ahead ─► comparators: the case behind ─► numbers ─►[reg]─► last values, steps
//!                          └──────────────[reg]─► counters
//! ```
//! Method: these counters run one step ahead, so the comparators and the number that the case selects are in front of a
//! register. What depends on the case starts from that register. Where the counters have few bits, a table over them takes
//! the place of comparators: up to [`TABLE_BITS`]. Example: 16 strips of which each is a case. A number of theirs is a table of
//! 16 entries, one LUT per bit; comparators and a choice among 16 cases would be three.
//!
//! In a merged array most functions have one case. Then the function tells the case at the start of the run. Tables are for the
//! others: over the place of the function among these, and the counters.
//!
//! Invariant: no counter that tells the case ends by case itself (the verifier of an array checks it).

use crate::axi::elastic::{at_start, hold};
use crate::cases::{by_case, modulo, table};
use rtl::{clog2, u, ModuleBuilder, Reg, Sig, Ty, Wire};
use std::cell::RefCell;
use std::collections::BTreeSet;
use uniform::counters::Span;
use uniform::sizes::Formula;

/// When counters of phases change.
#[derive(Clone, Copy)]
pub(crate) struct Pace<'m> {
    pub m: &'m ModuleBuilder,
    /// They get constant first values.
    pub rst: Sig<'m>,
    /// A run begins: they get first values that its sizes tell.
    pub start: Sig<'m>,
    /// A phase, or a strip, ends.
    pub advances: Sig<'m>,
}

/// A counter of more than one value that tells the case.
pub(crate) struct Outer<'m> {
    pub name: String,
    pub trip: i64,
    /// The last value in the cycle of `start`, if it is no constant.
    pub end: Option<Sig<'m>>,
}

pub(crate) struct Counted<'m> {
    pub value: Reg<'m>,
    pub zero: Reg<'m>,
    pub last: Reg<'m>,
    /// Its value in the phase behind.
    pub ahead: Sig<'m>,
}

/// Whether all counters inside of one are at their only value.
#[derive(Clone, Copy)]
enum Carry<'m> {
    Known(bool),
    AtStart(Sig<'m>),
}

impl<'m> Pace<'m> {
    fn bit(self, name: String, first: bool, next: Sig<'m>) -> Reg<'m> {
        self.m.reg(name, u(1)).rst(self.rst, u64::from(first)).en(self.advances).next(next)
    }

    /// Builds the counters, outermost first.
    pub fn count(self, outer: Vec<Outer<'m>>) -> Vec<Counted<'m>> {
        let Pace { m, rst, start, advances } = self;
        let (mut carry, mut step, mut all) = (Carry::Known(true), advances, vec![]);
        for Outer { name, trip, end } in outer.into_iter().rev() {
            let ty = u(clog2(trip as u64));
            let (next, next_last) = (m.reg(format!("{name}_ahead"), ty), m.reg(format!("{name}_ahead_last"), u(1)));
            let value = m.reg(name.clone(), ty).rst(rst, 0).en(advances).next(next.q());
            let zero = self.bit(format!("{name}_zero"), true, !next.q().reduce_or());
            let counted = m.mux(next_last.q(), m.lit(0, ty), next.q().add_lit(1));
            let Some(end) = end else {
                let last = self.bit(format!("{name}_last"), false, next_last.q());
                let at_end = !next_last.q() & next.q().eq_lit(trip - 2);
                match carry {
                    Carry::Known(carry) => {
                        next.rst(rst, u64::from(carry)).en(step).next(counted);
                        next_last.rst(rst, u64::from(carry && trip == 2)).en(step).next(at_end);
                    }
                    Carry::AtStart(carry) => {
                        next.en(start | step).next(m.mux(start, carry.extend(ty.w), counted));
                        let second = if trip == 2 { carry } else { m.lit(0, u(1)) };
                        next_last.en(start | step).next(m.mux(start, second, at_end));
                    }
                }
                (carry, step) = (Carry::Known(false), step & next_last.q());
                all.insert(0, Counted { value, zero, last, ahead: next.q() });
                continue;
            };
            let kept =
                |what: &str, value: Sig<'m>| m.reg(format!("{name}_{what}"), value.ty()).next(value).en(start).q();
            let at_once = !end.reduce_or();
            let (single, before) = (kept("single", at_once), kept("before", end.sub_lit(1)));
            let at_end = m.mux(next_last.q(), single, next.q().eq(before.to(ty)));
            let last = m.reg(format!("{name}_last"), u(1));
            last.en(start | advances).next(m.mux(start, at_once, next_last.q()));
            // One step behind the first phase.
            let (first, first_last) = match carry {
                Carry::Known(false) => (m.lit(0, u(1)), at_once),
                Carry::Known(true) => (!at_once, at_once | end.eq_lit(1)),
                Carry::AtStart(carry) => (carry & !at_once, at_once | (carry & end.eq_lit(1))),
            };
            next.en(start | step).next(m.mux(start, first.extend(ty.w), counted));
            next_last.en(start | step).next(m.mux(start, first_last, at_end));
            carry = match carry {
                Carry::Known(false) => Carry::Known(false),
                Carry::Known(true) => Carry::AtStart(at_once),
                Carry::AtStart(inner) => Carry::AtStart(inner & at_once),
            };
            step = step & next_last.q();
            all.insert(0, Counted { value, zero, last, ahead: next.q() });
        }
        all
    }
}

/// Bits of a number over which a table is looked up instead of comparing counters, at most: one LUT for each bit of the entries,
/// and of a merged array four.
const TABLE_BITS: u32 = 6;
const MERGED_TABLE_BITS: u32 = 8;

/// All values of a counter.
const WHOLE: [i64; 2] = [0, i64::MAX];

/// The values of a counter in a case, if sizes do not end them. `trip`: all that it has.
pub(crate) fn values(span: &Span, trip: i64) -> Option<[i64; 2]> {
    let all = span.low <= 0 && span.high + 1 >= trip;
    matches!(span.end, Formula::Const(_)).then_some(if all { WHOLE } else { [span.low, span.high] })
}

/// The case of the phase behind.
pub(crate) struct Behind<'m> {
    /// One bit per case.
    pub bits: Vec<Sig<'m>>,
    /// By case: the function of a merged array, and the values of the counters, [`WHOLE`] where any; `None` if sizes end them.
    pub boxes: Vec<(usize, Option<Vec<[i64; 2]>>)>,
    /// The counters.
    pub ahead: Vec<Sig<'m>>,
}

impl<'m> Behind<'m> {
    /// A number for each case and between them as a table over the counters, in runs of these functions: `place` tells which
    /// of them runs. `None`: it would be too large.
    fn table(
        &self,
        m: &'m ModuleBuilder,
        (functions, place): (&[usize], Option<Sig<'m>>),
        (values, ty): (&[i64], Ty),
        most: u32,
    ) -> Option<Sig<'m>> {
        let own = self.boxes.iter().filter(|(f, _)| functions.contains(f));
        let own: Vec<&Vec<[i64; 2]>> = own.map(|(_, spans)| spans.as_ref()).collect::<Option<_>>()?;
        let asked = |j: usize| own.iter().any(|spans| spans[j] != WHOLE);
        let asked: Vec<usize> = (0..self.ahead.len()).filter(|&j| asked(j)).collect();
        // The first counter is lowest.
        let parts: Vec<Sig<'m>> = place.into_iter().chain(asked.iter().rev().map(|&j| self.ahead[j])).collect();
        let bits: u32 = parts.iter().map(|part| part.w()).sum();
        if parts.is_empty() || bits > most {
            return None;
        }
        let value = |mut number: i64| {
            let mut counts = vec![];
            for &j in &asked {
                let bits = self.ahead[j].w();
                counts.push((j, number & ((1 << bits) - 1)));
                number >>= bits;
            }
            let function = functions[(number as usize).min(functions.len() - 1)];
            let is = |(f, spans): &(usize, Option<Vec<[i64; 2]>>)| {
                let inside = |(j, count): &(usize, i64)| {
                    spans.as_ref().is_some_and(|all| (all[*j][0]..=all[*j][1]).contains(count))
                };
                *f == function && counts.iter().all(inside)
            };
            values[self.boxes.iter().position(is).unwrap_or(self.boxes.len())]
        };
        let entries: Vec<i64> = (0..1 << bits).map(value).collect();
        Some(table(m, m.concat(&parts), &entries, ty))
    }

    /// A number for each case and between them.
    fn number(&self, m: &'m ModuleBuilder, values: &[i64], ty: Ty) -> Sig<'m> {
        let known = self.table(m, (&[0], None), (values, ty), TABLE_BITS);
        known.unwrap_or_else(|| by_case(m, &self.bits, values, ty))
    }
}

/// What the case tells.
pub(crate) struct Phases<'m> {
    pub pace: Pace<'m>,
    pub behind: Behind<'m>,
    /// The case of the first phase, or the number behind the last case: of each function of a merged array, if it is one.
    pub first: Vec<usize>,
    merged: Option<Merged<'m>>,
    /// Begins the names of registers.
    pub name: &'static str,
    /// Numbers for each case and between them.
    numbers: RefCell<Vec<(Vec<i64>, OfPhase<'m>)>>,
    /// Of a merged array: the numbers of the phase behind, which [`Phases::finish`] drives.
    open: RefCell<Vec<(Vec<i64>, Wire<'m>)>>,
}

/// The functions of a merged array.
#[derive(Clone)]
pub(crate) struct Merged<'m> {
    /// The number of the one that starts, in the cycle of `start`.
    pub function: Sig<'m>,
    /// The same in the cycle before.
    pub before: Sig<'m>,
    /// By function: it has phases between its cases.
    pub pauses: Vec<bool>,
}

/// A number that the case tells.
#[derive(Clone, Copy)]
pub(crate) struct OfPhase<'m> {
    /// In the present phase.
    pub now: Sig<'m>,
    /// In the phase behind it; in the cycle of `start`, of a merged array, in the first one.
    behind: Sig<'m>,
}

impl<'m> OfPhase<'m> {
    /// The same in all phases.
    pub fn always(m: &'m ModuleBuilder, value: i64, ty: Ty) -> Self {
        let value = m.lit(modulo(value, ty), ty);
        OfPhase { now: value, behind: value }
    }
    /// In the next cycle. `phase_ends`: that is the first one of a phase.
    pub fn next(self, m: &'m ModuleBuilder, phase_ends: Sig<'m>) -> Sig<'m> {
        m.mux(phase_ends, self.behind, self.now)
    }
}

impl<'m> Phases<'m> {
    pub fn new(
        pace: Pace<'m>,
        name: &'static str,
        behind: Behind<'m>,
        first: Vec<usize>,
        merged: Option<Merged<'m>>,
    ) -> Self {
        Phases { pace, behind, first, merged, name, numbers: RefCell::default(), open: RefCell::default() }
    }

    /// A number for each case and between them, modulo the type's width.
    pub fn number(&self, values: &[i64], ty: Ty) -> OfPhase<'m> {
        let Pace { m, rst, start, advances } = self.pace;
        let values: Vec<i64> = values.iter().map(|v| modulo(*v, ty)).collect();
        if values.iter().all(|v| *v == values[0]) {
            return OfPhase::always(m, values[0], ty);
        }
        let found = |(of, made): &&(Vec<i64>, OfPhase<'m>)| *of == values && made.now.ty() == ty;
        if let Some((_, made)) = self.numbers.borrow().iter().find(found) {
            return *made;
        }
        let name = format!("{}{}", self.name, self.numbers.borrow().len());
        let now = m.reg(&name, ty);
        let behind = if self.merged.is_some() {
            let behind = m.wire(format!("{name}_behind"), ty);
            self.open.borrow_mut().push((values.clone(), behind));
            now.en(start | advances).next(behind.sig());
            behind.sig()
        } else {
            let behind = self.behind.number(m, &values, ty);
            now.rst(rst, values[self.first[0]]).en(advances).next(behind);
            behind
        };
        let made = OfPhase { now: now.q(), behind };
        self.numbers.borrow_mut().push((values, made));
        made
    }

    /// Of a merged array, drives what follows from the case; nothing is asked for any more. Merged arrays have many
    /// cases, so the numbers are tables over the number of the case. Cases that nothing tells apart have one number.
    pub fn finish(&self) {
        let (Some(merged), open) = (&self.merged, self.open.borrow()) else { return };
        let Pace { m, start, .. } = self.pace;
        let tells = |a: usize, b: usize| open.iter().any(|(values, _)| values[a] != values[b]);
        // The first case of each class.
        let mut classes: Vec<usize> = vec![];
        let mut code = |case: usize| {
            let known = classes.iter().position(|first| !tells(*first, case));
            known.unwrap_or_else(|| {
                classes.push(case);
                classes.len() - 1
            }) as i64
        };
        let mut codes: Vec<i64> = (0..self.behind.bits.len()).map(&mut code).collect();
        let between = if merged.pauses.contains(&true) { code(self.behind.bits.len()) } else { codes[0] };
        codes.push(between);
        let ty = u(clog2(classes.len() as u64));
        let first: Vec<i64> = self.first.iter().map(|case| codes[*case]).collect();
        // What follows from the case in the cycle of `start` is a table behind this register.
        let at_start = at_start(m, &format!("{}_first", self.name), table(m, merged.before, &first, ty));
        let case = self.behind_in(merged, &codes, (&first, at_start), ty);
        let case = m.mux(start, at_start, case).called(format!("{}_case", self.name));
        for (values, behind) in open.iter() {
            let entries: Vec<i64> = classes.iter().map(|case| values[*case]).collect();
            behind.drive(table(m, case, &entries, behind.sig().ty()));
        }
    }

    /// The code of the case of the phase behind. `first`: by function, that of its first phase, and that in the cycle of `start`.
    fn behind_in(
        &self,
        merged: &Merged<'m>,
        codes: &[i64],
        (first, first_at_start): (&[i64], Sig<'m>),
        ty: Ty,
    ) -> Sig<'m> {
        let (m, start, between) = (self.pace.m, self.pace.start, codes[codes.len() - 1]);
        let held = |name: &str, at_start: Sig<'m>| hold(m, format!("{}_{name}", self.name), start, at_start);
        let kept = |name: &str, values: &[i64], ty: Ty| held(name, table(m, merged.function, values, ty));
        let of_run = || held("of_run", first_at_start);
        let own = |f: usize| self.behind.boxes.iter().zip(codes).filter(move |((of, _), _)| *of == f);
        let changes =
            |f: &usize| own(*f).any(|(_, code)| *code != first[*f]) || merged.pauses[*f] && between != first[*f];
        let several: Vec<usize> = (0..first.len()).filter(changes).collect();
        if several.is_empty() {
            return of_run();
        }
        let place = |f: usize| several.iter().position(|s| *s == f);
        let places: Vec<i64> = (0..first.len()).map(|f| place(f).unwrap_or(0) as i64).collect();
        let which = (several.len() > 1).then(|| kept("place", &places, u(clog2(several.len() as u64))));
        let Some(of_several) = self.behind.table(m, (&several, which), (codes, ty), MERGED_TABLE_BITS) else {
            return by_case(m, &self.behind.bits, codes, ty);
        };
        let is_several: Vec<i64> = (0..first.len()).map(|f| i64::from(place(f).is_some())).collect();
        m.mux(kept("several", &is_several, u(1)), of_several, of_run())
    }

    /// Drives a register that tells that a counter is at its last value. `lasts`: what that is in each case and between them;
    /// the counter steps, and its present value is the last one of the phase if `ends_phase`.
    pub fn at_last(&self, (last, count): (Reg<'m>, Sig<'m>), lasts: &[i64], (steps, ends_phase): (Sig<'m>, Sig<'m>)) {
        let Pace { m, start, .. } = self.pace;
        // A single value is the last one already.
        let singles: Vec<i64> = lasts.iter().map(|last| i64::from(*last == 0)).collect();
        let before: Vec<i64> = lasts.iter().map(|last| (last - 1).max(0)).collect();
        let (single, before) = (self.number(&singles, u(1)), self.number(&before, count.ty()));
        let within = m.mux(last.q(), single.now, count.eq(before.now));
        if self.merged.is_some() {
            last.next(m.mux(start | ends_phase, single.behind, within)).en(start | steps);
        } else {
            last.next(m.mux(ends_phase, single.behind, within)).en(steps);
        }
    }

    /// The register for that. Of a merged array, the function tells its first value.
    pub fn last_bit(&self, name: String, lasts: &[i64]) -> Reg<'m> {
        let bit = self.pace.m.reg(name, u(1));
        match self.merged {
            Some(_) => bit,
            None => bit.rst(self.pace.rst, u64::from(lasts[self.first[0]] == 0)),
        }
    }

    /// The present phase is of one of these cases.
    pub fn among(&self, some: &BTreeSet<usize>) -> Sig<'m> {
        let values: Vec<i64> = (0..=self.behind.bits.len()).map(|k| i64::from(some.contains(&k))).collect();
        self.number(&values, u(1)).now
    }

    /// One bit per case: that of the present phase.
    pub fn cases(&self) -> Vec<Sig<'m>> {
        (0..self.behind.bits.len()).map(|k| self.among(&BTreeSet::from([k]))).collect()
    }
}
