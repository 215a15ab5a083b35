//! What the next run is asked to do: a function and its arguments, from the registers or from the head of the queue.
//!
//! The functions share the registers of the arguments, each lays its own out from the same place. The queue keeps all
//! of them with each command, so the host may go on writing. A command stays at its head until its run has ended, which
//! is when the next one may begin.

use super::register::Write;
use crate::interface::layout::FUNCTION_BITS;
use crate::interface::Layout;
use rtl::{clog2, u, MemStyle, ModuleBuilder, Reg, Sig};
use std::collections::BTreeMap;

/// The registers of the arguments.
pub(super) struct Words<'a, 'm> {
    pub m: &'m ModuleBuilder,
    pub layout: &'a Layout,
    pub write: &'a Write<'m>,
    pub rst: Sig<'m>,
}

/// Commands that wait, and the one that runs.
pub(super) struct Queue<'m> {
    /// There is a command.
    pub waits: Sig<'m>,
    /// The run under way is the head's.
    pub runs: Sig<'m>,
    /// The last command ends (pulse).
    pub drained: Sig<'m>,
    /// What comes next, or runs, is the head's.
    taken: Sig<'m>,
    /// The head's run ends (pulse).
    ended: Sig<'m>,
    count: Reg<'m>,
    depth: u32,
}

impl<'m> Queue<'m> {
    /// `asked`: the host asks for a run of its own; `running`: some run is under way, until `done`.
    pub fn new(
        m: &'m ModuleBuilder,
        layout: &Layout,
        (rst, done): (Sig<'m>, Sig<'m>),
        (asked, running): (Sig<'m>, Sig<'m>),
    ) -> Queue<'m> {
        let count = m.reg("queue_count", u(clog2(u64::from(layout.queue) + 1)));
        let waits = count.q().reduce_or();
        let taken = m.wire("queue_taken", u(1));
        let head = m.reg("queue_runs", u(1)).next(taken.sig()).rst(rst, 0).q();
        taken.drive(m.mux(running, head, !asked & waits));
        let ended = done & head;
        let last = count.q().eq(m.lit(1, count.q().ty()));
        Queue { waits, runs: head, drained: ended & last, taken: taken.sig(), ended, count, depth: layout.queue }
    }
}

/// See the module's documentation.
pub(super) struct Asked<'a, 'm> {
    words: Words<'a, 'm>,
    queue: Option<Queue<'m>>,
    /// As the host wrote them, by offset.
    written: BTreeMap<u32, Sig<'m>>,
    /// As the next run gets them.
    valid: BTreeMap<u32, Sig<'m>>,
    /// The function's number, as written and as valid.
    function: Option<[Sig<'m>; 2]>,
    /// Of the queue.
    status: Vec<(u32, Sig<'m>)>,
}

impl<'a, 'm> Asked<'a, 'm> {
    pub fn new(words: Words<'a, 'm>, queue: Option<Queue<'m>>) -> Self {
        let Words { m, layout, write, rst } = words;
        let number = layout.function().map(|at| write.word(m, "function", rst, at, FUNCTION_BITS));
        let mut asked = Asked {
            words,
            queue: None,
            written: BTreeMap::new(),
            valid: BTreeMap::new(),
            function: number.map(|n| [n, n]),
            status: vec![],
        };
        if let Some(queue) = queue {
            asked.enqueue(&queue);
            asked.queue = Some(queue);
        }
        asked
    }

    /// Commands go in and come out.
    fn enqueue(&mut self, queue: &Queue<'m>) {
        let Words { m, layout, write, rst } = self.words;
        let Some([at, ended_at]) = layout.queue() else { return };
        for (offset, bits) in layout.words() {
            self.written.insert(offset, write.word(m, &self.name(offset), rst, offset, bits));
        }
        let free = !queue.count.q().eq(m.lit(u64::from(queue.depth), queue.count.q().ty()));
        let push = write.to(m, at) & write.strobe.bit(0) & free;
        let place = |name: &str, en: Sig<'m>| {
            let place = m.reg(name, u(clog2(u64::from(queue.depth))));
            place.next(place.q().add_lit(1)).en(en).rst(rst, 0).q()
        };
        let (tail, head) = (place("queue_tail", push), place("queue_head", queue.ended));
        let step = m.mux(push, queue.count.q().add_lit(1), queue.count.q().sub_lit(1));
        queue.count.next(step).en(push ^ queue.ended).rst(rst, 0);
        let number = self.function.map(|_| write.data.slice(0, FUNCTION_BITS));
        let command = m.concat(&self.written.values().copied().chain(number).collect::<Vec<_>>()).called("queue_item");
        let memory = m.mem("queue", queue.depth, command.w(), MemStyle::Distributed);
        memory.write(push, tail, command);
        let mut rest = memory.read_async("queue_command", head);
        // The first part of a concatenation is the highest.
        let mut next = |w: u32| {
            let below = rest.w() - w;
            let part = rest.slice(below, w);
            if below > 0 {
                rest = rest.slice(0, below);
            }
            part
        };
        for (offset, written) in &self.written {
            self.valid
                .insert(*offset, m.mux(queue.taken, next(written.w()), *written).called(format!("next_{offset:02x}")));
        }
        self.function = self.function.map(|[written, _]| [written, m.mux(queue.taken, next(FUNCTION_BITS), written)]);
        let ended = m.reg("queue_ended", u(32));
        ended.next(ended.q().add_lit(1)).en(queue.ended).rst(rst, 0);
        let count = queue.count.q().extend(16);
        let places = m.lit(u64::from(queue.depth), u(16)) - count;
        self.status = vec![(at, m.concat(&[places, count])), (ended_at, ended.q())];
    }

    /// Name of the register at an offset: after its argument, if only one has it.
    fn name(&self, offset: u32) -> String {
        let layout = self.words.layout;
        let own = (layout.functions.len() == 1)
            .then(|| (0..layout.functions[0].len()).rev().find(|k| layout.argument(0, *k) <= offset))
            .flatten();
        match own {
            Some(k) => format!("arg_{k}_{}", if layout.argument(0, k) == offset { "low" } else { "high" }),
            None => format!("argument_{offset:02x}"),
        }
    }

    /// The register at an offset, as the next run gets it; noted in `registers` when it is made.
    fn word(&mut self, offset: u32, registers: &mut Vec<(u32, Sig<'m>)>) -> Sig<'m> {
        let Words { m, layout, write, rst } = self.words;
        let listed = registers.iter().any(|r| r.0 == offset);
        let name = self.name(offset);
        let written =
            *self.written.entry(offset).or_insert_with(|| write.word(m, &name, rst, offset, layout.words()[&offset]));
        if !listed {
            registers.push((offset, written.extend(32)));
        }
        *self.valid.get(&offset).unwrap_or(&written)
    }

    /// Argument `k` of function `f`, in whole bytes.
    pub fn argument(&mut self, f: usize, k: usize, registers: &mut Vec<(u32, Sig<'m>)>) -> Sig<'m> {
        let layout = self.words.layout;
        let (at, bits) = (layout.argument(f, k), layout.functions[f][k]);
        let part = |word: Sig<'m>, bits: u32| {
            if word.w() > 8 * bits.div_ceil(8) {
                word.slice(0, 8 * bits.div_ceil(8))
            } else {
                word
            }
        };
        let low = part(self.word(at, registers), bits.min(32));
        if bits <= 32 {
            return low;
        }
        let high = part(self.word(at + 4, registers), bits - 32);
        self.words.m.concat(&[high, low]).called(format!("argument_{f}_{k}"))
    }

    /// `what`, where the next run is of function `f`.
    pub fn is(&self, f: usize, what: Sig<'m>) -> Sig<'m> {
        self.function.map_or(what, |[_, number]| what & number.eq(self.words.m.lit(f as u64, number.ty())))
    }

    /// The number of the function that comes next, where there are several.
    pub fn function(&self) -> Option<Sig<'m>> {
        self.function.map(|f| f[1])
    }

    /// Where there is no function of that number: a condition, and what the status tells then.
    pub fn unknown(&self) -> Vec<(Sig<'m>, Sig<'m>)> {
        let m = self.words.m;
        let count = self.words.layout.functions.len() as u64;
        self.function()
            .iter()
            .map(|n| ((!n.lt(m.lit(count, n.ty()))).called("function_unknown"), m.lit(0xff, u(8))))
            .collect()
    }

    /// The registers beside those of the arguments.
    pub fn registers(&self) -> Vec<(u32, Sig<'m>)> {
        let number = self.words.layout.function().zip(self.function).map(|(at, f)| (at, f[0].extend(32)));
        number.into_iter().chain(self.status.iter().copied()).collect()
    }
}
