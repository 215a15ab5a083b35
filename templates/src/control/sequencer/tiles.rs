//! What a tile needs: its loads, and collectors that are free; which loads and drains it takes, and which it is the
//! last of.

use super::{Build, Counted, Digit, Load, Permits, SequencerPorts};
use crate::cases;
use array::vsa::When;
use rtl::{u, Sig};

impl<'a, 'm> Build<'a, 'm> {
    /// Tests hold for some group, in runs of the functions of its tiles. `alike`: what the tests of a group follow from.
    fn some_group(
        &self,
        groups: &[usize],
        alike: &dyn Fn(usize) -> Vec<&'a When>,
        tests: &dyn Fn(usize) -> Vec<Sig<'m>>,
    ) -> Sig<'m> {
        let key = |g: usize| alike(g).into_iter().map(|when| (&when.at, &when.cases)).collect::<Vec<_>>();
        let all = cases::alike(groups, key, |g| alike(g)[0].functions.clone());
        let each = all.iter().map(|(g, functions)| self.all(self.runs_one_of(functions).into_iter().chain(tests(*g))));
        self.m.any(&each.collect::<Vec<_>>())
    }

    /// The next wave's tile is in the set.
    fn is_in(&self, when: &When) -> Vec<Sig<'m>> {
        let at = |d: &Digit<'m>| match when.parameter(d.counter) {
            Some(p) => Some(d.value.q().eq(self.ends[&p].to(d.value.q().ty()))),
            None => Some(self.is(d, when.value(d.counter)?)),
        };
        self.digits.iter().filter_map(at).chain(self.among(when)).collect()
    }

    /// The run executes one of these functions of a merged array; none: every run does. Looked up at the start: behind the
    /// function's number it would be in the way of each wave.
    fn runs_one_of(&self, functions: &[usize]) -> Option<Sig<'m>> {
        let is: Vec<i64> = (0..self.of.functions).map(|f| i64::from(functions.contains(&f))).collect();
        if functions.is_empty() || !is.contains(&0) {
            return None;
        }
        let known = self.asked.borrow().iter().find(|(of, _)| *of == is).map(|(_, bit)| *bit);
        Some(known.unwrap_or_else(|| {
            let bit = self.kept(format!("runs_some{}", self.asked.borrow().len()), self.by_function(&is, u(1)));
            self.asked.borrow_mut().push((is, bit));
            bit
        }))
    }

    /// The next wave's tile is the last that uses a load of input group `g`.
    fn done_with(&self, g: usize) -> Vec<Sig<'m>> {
        let Load { loads, used } = &self.of.loads[g];
        let last = |d: &Digit<'m>| match (used.value(d.counter), loads.value(d.counter)) {
            (Some(value), _) => Some(self.is(d, value)),
            (None, Some(_)) => Some(d.last.q()),
            (None, None) => None,
        };
        self.digits.iter().filter_map(last).chain(self.among(used)).collect()
    }

    /// The next wave's phase is of one of the set's cases.
    fn among(&self, when: &When) -> Option<Sig<'m>> {
        when.cases.as_ref().map(|some| self.among_cases(some))
    }

    fn all(&self, bits: impl Iterator<Item = Sig<'m>>) -> Sig<'m> {
        let bits: Vec<Sig<'m>> = bits.collect();
        if bits.is_empty() {
            self.m.lit(1, u(1))
        } else {
            self.m.all(&bits)
        }
    }

    /// A digit has that value, of one that sizes end the last one.
    fn is(&self, d: &Digit<'m>, value: i64) -> Sig<'m> {
        match value {
            0 => d.zero.q(),
            v if v == d.trip - 1 && !self.of.counters[d.counter].is_by_case() => d.last.q(),
            v => d.value.q().eq_lit(v),
        }
    }

    fn first_of_tile(&self) -> Sig<'m> {
        self.conjunction(self.of.tile_depth, usize::MAX, |d| d.zero.q())
    }

    fn last_of_tile(&self) -> Sig<'m> {
        self.all_last(self.of.tile_depth)
    }

    /// A counter of permits, of which it begins with some: up with `give`, down with `take`; 1 while any is left.
    fn credit(&mut self, name: String, begins: &Begins<'m>, [clear, give, take]: [Sig<'m>; 3]) -> Sig<'m> {
        let m = self.m;
        let count = m.reg(&name, u(2));
        let moved = m.mux(give, count.q().add_lit(1), count.q().sub_lit(1));
        let (initial, most) = match *begins {
            Begins::With { initial, most } => {
                _ = count.rst(clear, initial).en(give ^ take).next(moved);
                (m.lit(initial, u(2)), most)
            }
            Begins::ByFunction { first, kept } => {
                let next = m.mux(self.start, first, moved);
                _ = count.rst(self.rst, 2).en(self.start | (give ^ take)).next(next);
                (kept, 2)
            }
        };
        self.permits.push(Permits { name, initial, most, count: count.q() });
        count.q().reduce_or()
    }

    /// The buffers of output groups that are free at the start, each group's if runs do not overlap.
    fn free(&self, of: &Counted) -> Begins<'m> {
        let slots = |o: &usize| self.of.drains[*o].slots.clamp(1, 2);
        let halves = of.set.halves;
        if self.of.overlap.is_some() || of.set.groups.iter().all(|o| slots(o) == halves) {
            return Begins::With { initial: halves, most: halves };
        }
        let serving = |f: usize| of.set.groups.iter().find(|o| self.of.drains[**o].emit.functions.contains(&f));
        let count = |f: usize| serving(f).map_or(2, |o| i64::from(slots(o)));
        let first = self.by_function(&(0..self.of.functions).map(count).collect::<Vec<_>>(), u(2));
        Begins::ByFunction { first, kept: self.kept(format!("buffers{}", of.set.groups[0]), first) }
    }

    /// Everything the next wave's tile needs is there; wave's buffer halves become outputs on the way.
    pub(super) fn tile_ready(&mut self, ports: &SequencerPorts, clear: Sig<'m>) -> Sig<'m> {
        let m = self.m;
        let first = self.first_of_tile().named("first_of_tile");
        let last = self.last_of_tile().named("last_of_tile");
        let mut needs = vec![];
        let of = self.of;
        for (Counted { set, pulses }, ports) in of.inputs.iter().zip(&ports.loads) {
            let g = set.groups[0];
            let loads = |g: usize| &of.loads[g].loads;
            let loads = self.some_group(&set.groups, &|g| vec![loads(g)], &|g| self.is_in(loads(g)));
            let loads = (loads & first).called(format!("needs_load{g}"));
            let take = (loads & self.fire).called(format!("takes_load{g}"));
            let loaded = ports.loaded.input(m);
            let have = self.credit(format!("loads{g}"), &Begins::With { initial: 0, most: 2 }, [clear, loaded, take]);
            needs.push((!loads | have).called(format!("has_load{g}")));
            let next_slot = m.reg(format!("next_slot{g}"), u(1)).rst(clear, 0).en(take);
            next_slot.next(!next_slot.q());
            let slot = m.reg(format!("slot{g}_q"), u(1)).next(next_slot.q() ^ !loads).q();
            ports.slot.output(m, slot);
            for (groups, port) in pulses.iter().zip(&ports.release) {
                let tiles = |g: usize| vec![&of.loads[g].used, &of.loads[g].loads];
                let done = self.some_group(groups, &tiles, &|g| self.done_with(g));
                let done = m.all(&[self.fire, last, done]);
                port.output(m, m.reg(format!("{}_q", port.name), u(1)).rst(self.rst, 0).next(done).q());
            }
        }
        for (counted, ports) in of.outputs.iter().zip(&ports.drains) {
            let Counted { set, pulses } = counted;
            let o = set.groups[0];
            let emitting = |groups: &[usize]| {
                self.some_group(groups, &|o| vec![&of.drains[o].emit], &|o| self.is_in(&of.drains[o].emit))
            };
            let emits = emitting(&set.groups);
            let finished: Vec<Sig<'m>> = pulses.iter().map(|groups| emitting(groups)).collect();
            let take = m.all(&[emits, first, self.fire]).called(format!("takes_drain{o}"));
            let drained = ports.drained.input(m);
            let begins = self.free(counted);
            let have = self.credit(format!("free{o}"), &begins, [clear, drained, take]);
            needs.push((!(emits & first) | have).called(format!("has_drain{o}")));
            let finish = m.all(&[emits, last, self.fire]).called(format!("ends_drain{o}"));
            if let Some(port) = &ports.slot {
                // One buffer: always the first.
                let turns = match begins {
                    Begins::With { .. } => finish,
                    Begins::ByFunction { kept, .. } => finish & kept.bit(1),
                };
                let slot = m.reg(format!("fill{o}"), u(1)).rst(clear, 0).en(turns);
                slot.next(!slot.q());
                port.output(m, m.reg(format!("{}_q", port.name), u(1)).next(slot.q()).q());
            }
            for (emits, port) in finished.into_iter().zip(&ports.emitted) {
                let finish = m.all(&[emits, last, self.fire]);
                port.output(m, m.reg(format!("{}_q", port.name), u(1)).rst(self.rst, 0).next(finish).q());
            }
        }
        if needs.is_empty() {
            m.lit(1, u(1))
        } else {
            m.all(&needs).called("tile_ready")
        }
    }
}

/// With how many permits a counter begins.
#[derive(Clone, Copy)]
enum Begins<'m> {
    /// Of so many at most.
    With { initial: u32, most: u32 },
    /// As many as the function tells, in the cycle of `start` and from the next one on.
    ByFunction { first: Sig<'m>, kept: Sig<'m> },
}
