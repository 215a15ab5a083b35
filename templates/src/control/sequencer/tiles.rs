//! What a tile needs: its loads, and collectors that are free; which loads and drains it takes, and which it is the
//! last of.

use super::{Build, Digit, Load, Permits, SequencerPorts};
use crate::cases::among;
use array::contract::overlap::BufferSet;
use array::vsa::When;
use rtl::{u, Sig};

impl<'m> Build<'_, 'm> {
    /// The next wave's tile is in the set.
    fn is_in(&self, when: &When) -> Sig<'m> {
        let at = |d: &Digit<'m>| match when.parameter(d.counter) {
            Some(p) => Some(d.value.q().eq(self.ends[&p].to(d.value.q().ty()))),
            None => Some(self.is(d, when.value(d.counter)?)),
        };
        self.all(self.in_function_of(when).into_iter().chain(self.digits.iter().filter_map(at)).chain(self.among(when)))
    }

    /// The run executes one of the functions of the tiles.
    fn in_function_of(&self, when: &When) -> Option<Sig<'m>> {
        let number = self.function.filter(|_| !when.functions.is_empty())?;
        Some(among(self.m, number, self.of.functions, &when.functions))
    }

    /// The next wave's tile is the last that uses a load of input group `g`.
    fn done_with(&self, g: usize) -> Sig<'m> {
        let Load { loads, used } = &self.of.loads[g];
        let last = |d: &Digit<'m>| match (used.value(d.counter), loads.value(d.counter)) {
            (Some(value), _) => Some(self.is(d, value)),
            (None, Some(_)) => Some(d.last.q()),
            (None, None) => None,
        };
        self.all(
            self.in_function_of(used).into_iter().chain(self.digits.iter().filter_map(last)).chain(self.among(used)),
        )
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

    /// A counter of permits, `most` of them: up with `give`, down with `take`; 1 while any is left.
    fn credit(&mut self, name: String, [initial, most]: [u32; 2], [clear, give, take]: [Sig<'m>; 3]) -> Sig<'m> {
        let m = self.m;
        let count = m.reg(&name, u(2)).rst(clear, initial).en(give ^ take);
        count.next(m.mux(give, count.q().add_lit(1), count.q().sub_lit(1)));
        self.permits.push(Permits { name, initial, most, count: count.q() });
        count.q().reduce_or()
    }

    /// Everything the next wave's tile needs is there; wave's buffer halves become outputs on the way.
    pub(super) fn tile_ready(&mut self, ports: &SequencerPorts, clear: Sig<'m>) -> Sig<'m> {
        let m = self.m;
        let first = self.first_of_tile().named("first_of_tile");
        let last = self.last_of_tile().named("last_of_tile");
        let mut needs = vec![];
        let alone = |g: usize, halves: u32| BufferSet { groups: vec![g], halves };
        let [inputs, outputs] = match &self.of.overlap {
            Some(overlap) => [overlap.inputs.clone(), overlap.outputs.clone()],
            None => {
                let inputs = (0..self.of.loads.len()).map(|g| alone(g, 2)).collect();
                let halves = self.of.drains.iter().map(|drain| drain.slots.clamp(1, 2)).enumerate();
                [inputs, halves.map(|(o, halves)| alone(o, halves)).collect()]
            }
        };
        let any = |all: Vec<Sig<'m>>| m.any(&all);
        for BufferSet { groups, .. } in inputs {
            let g = groups[0];
            let loads = any(groups.iter().map(|&g| self.is_in(&self.of.loads[g].loads) & first).collect())
                .called(format!("needs_load{g}"));
            let take = (loads & self.fire).called(format!("takes_load{g}"));
            let loaded = any(groups.iter().map(|&g| ports.loads[g].loaded.input(m)).collect());
            let have = self.credit(format!("loads{g}"), [0, 2], [clear, loaded, take]);
            needs.push((!loads | have).called(format!("has_load{g}")));
            let next_slot = m.reg(format!("next_slot{g}"), u(1)).rst(clear, 0).en(take);
            next_slot.next(!next_slot.q());
            let slot = m.reg(format!("slot{g}_q"), u(1)).next(next_slot.q() ^ !loads).q();
            for g in groups {
                ports.loads[g].slot.output(m, slot);
                let done = m.all(&[self.fire, last, self.done_with(g)]);
                let release = m.reg(format!("release{g}_q"), u(1)).rst(self.rst, 0).next(done).q();
                ports.loads[g].release.output(m, release);
            }
        }
        for BufferSet { groups, halves } in outputs {
            let o = groups[0];
            let emit: Vec<Sig<'m>> = groups.iter().map(|&o| self.is_in(&self.of.drains[o].emit)).collect();
            let emits = m.any(&emit);
            let take = m.all(&[emits, first, self.fire]).called(format!("takes_drain{o}"));
            let drained = any(groups.iter().map(|&o| ports.drains[o].drained.input(m)).collect());
            let have = self.credit(format!("free{o}"), [halves; 2], [clear, drained, take]);
            needs.push((!(emits & first) | have).called(format!("has_drain{o}")));
            let finish = m.all(&[emits, last, self.fire]).called(format!("ends_drain{o}"));
            let slot = m.reg(format!("fill{o}"), u(1)).rst(clear, 0).en(finish);
            slot.next(!slot.q());
            let fill = m.reg(format!("out_slot{o}_q"), u(1)).next(slot.q()).q();
            for (o, emits) in groups.into_iter().zip(emit) {
                ports.drains[o].slot.iter().for_each(|port| port.output(m, fill));
                let finish = m.all(&[emits, last, self.fire]);
                ports.drains[o]
                    .emitted
                    .output(m, m.reg(format!("emitted{o}_q"), u(1)).rst(self.rst, 0).next(finish).q());
            }
        }
        if needs.is_empty() {
            m.lit(1, u(1))
        } else {
            m.all(&needs).called("tile_ready")
        }
    }
}
