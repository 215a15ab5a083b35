//! The command of the next run: the number of a function and its arguments, from the registers or from the queue.
//!
//! All functions lay out their arguments from the same offset. The optional queue is a FIFO of whole commands: a write
//! to the `queue` register pushes a copy of all argument registers, so the host may go on writing. A command stays at
//! the head of the FIFO until its run has ended.

use super::elastic::unpack;
use super::register::Write;
use crate::cases::{among, table};
use crate::interface::layout::FUNCTION_BITS;
use crate::interface::{Layout, QUEUE_INDEPENDENT, QUEUE_MORE};
use array::contract::overlap::Stage;
use rtl::{clog2, u, MemStyle, ModuleBuilder, Reg, Sig, Wire};
use std::collections::BTreeMap;

/// Context in which argument registers are built.
pub(super) struct Registers<'a, 'm> {
    pub m: &'m ModuleBuilder,
    pub layout: &'a Layout,
    pub write: &'a Write<'m>,
    pub rst: Sig<'m>,
    /// Pulse of the soft reset, which empties the queue.
    pub stop: Sig<'m>,
}

/// State of the queue.
pub(super) struct Queue<'m> {
    /// The queue holds a command.
    pub waits: Sig<'m>,
    /// The current run executes the head of the queue.
    pub runs: Sig<'m>,
    /// Pulse: the last command ends.
    pub drained: Sig<'m>,
    /// The current run, or the next one if none is under way, executes the head.
    selected: Sig<'m>,
    /// Pulse: the run of the head ends.
    ended: Sig<'m>,
    count: Reg<'m>,
    depth: u32,
    /// If runs overlap.
    beside: Option<Beside<'m>>,
}

/// What a queue of runs that overlap has besides.
pub(super) struct Beside<'m> {
    /// Pulse: a run starts.
    pub start: Sig<'m>,
    /// Pulses, by stage: it has taken the command that it is at.
    pub takes: [Sig<'m>; 3],
    /// A command is pushed; driven by the queue.
    pub pushed: Wire<'m>,
    /// The command that reads are at may begin while others are under way; driven by the queue.
    pub may_begin: Wire<'m>,
    /// More commands are to come: none begins; driven by the queue.
    pub more: Wire<'m>,
    /// Per function: none of its loads waits for its own stores.
    pub early: Vec<bool>,
}

impl<'m> Queue<'m> {
    /// `requested`: the host requests a run without the queue; `running`: a run is under way, until `done`.
    pub fn new(
        m: &'m ModuleBuilder,
        layout: &Layout,
        (rst, done): (Sig<'m>, Sig<'m>),
        (requested, running): (Sig<'m>, Sig<'m>),
    ) -> Queue<'m> {
        let count = m.reg("queue_count", u(clog2(u64::from(layout.queue) + 1)));
        let waits = count.q().reduce_or();
        let selected = m.wire("queue_taken", u(1));
        let head = m.reg("queue_runs", u(1)).next(selected.sig()).rst(rst, 0).q();
        selected.drive(m.mux(running, head, !requested & waits));
        let ended = done & head;
        let last = count.q().eq(m.lit(1, count.q().ty()));
        let (drained, selected) = (ended & last, selected.sig());
        Queue { waits, runs: head, drained, selected, ended, count, depth: layout.queue, beside: None }
    }

    /// A queue of runs that overlap. `from_queue`: the runs that are under way, or else the next one, are commands.
    pub fn overlapping(
        m: &'m ModuleBuilder,
        layout: &Layout,
        (from_queue, done): (Sig<'m>, Sig<'m>),
        beside: Beside<'m>,
    ) -> Queue<'m> {
        let count = m.reg("queue_count", u(clog2(u64::from(layout.queue) + 1)));
        let (waits, ended) = (count.q().reduce_or(), done & from_queue);
        let last = count.q().eq(m.lit(1, count.q().ty()));
        let (drained, beside) = (ended & last, Some(beside));
        Queue { waits, runs: from_queue, drained, selected: from_queue, ended, count, depth: layout.queue, beside }
    }
}

pub(super) struct Command<'a, 'm> {
    context: Registers<'a, 'm>,
    queue: Option<Queue<'m>>,
    /// Argument registers by offset, as the host wrote them.
    written: BTreeMap<u32, Sig<'m>>,
    /// The same as the next run sees them in each stage, or in all, if there is a queue.
    next: Vec<BTreeMap<u32, Sig<'m>>>,
    /// Number of the function, as written.
    function: Option<Sig<'m>>,
    /// The same as the next run sees it in each stage, or in all; of the oldest run, if runs overlap.
    next_function: Vec<Sig<'m>>,
    oldest_function: Option<Sig<'m>>,
    /// Status registers of the queue: offset and value.
    status: Vec<(u32, Sig<'m>)>,
}

impl<'a, 'm> Command<'a, 'm> {
    pub fn new(context: Registers<'a, 'm>, queue: Option<Queue<'m>>) -> Self {
        let Registers { m, layout, write, rst, .. } = context;
        let number = layout.function().map(|at| write.word(m, "function", rst, at, FUNCTION_BITS));
        let mut this = Command {
            context,
            queue: None,
            written: BTreeMap::new(),
            next: vec![],
            function: number,
            next_function: number.into_iter().collect(),
            oldest_function: None,
            status: vec![],
        };
        if let Some(queue) = queue {
            this.enqueue(&queue);
            this.queue = Some(queue);
        }
        this
    }

    /// Builds the FIFO of commands.
    fn enqueue(&mut self, queue: &Queue<'m>) {
        let Registers { m, layout, write, rst, stop } = self.context;
        let empties = (rst | stop).called("queue_empties");
        let Some([at, ended_at]) = layout.queue() else { return };
        for (offset, bits) in layout.words() {
            self.written.insert(offset, write.word(m, &self.name(offset), rst, offset, bits));
        }
        let free = !queue.count.q().eq(m.lit(u64::from(queue.depth), queue.count.q().ty()));
        let push = write.to(m, at) & write.strobe.bit(0) & free;
        let place = |name: &str, en: Sig<'m>| {
            let place = m.reg(name, u(clog2(u64::from(queue.depth))));
            place.next(place.q().add_lit(1)).en(en).rst(empties, 0).q()
        };
        let (tail, head) = (place("queue_tail", push), place("queue_head", queue.ended));
        let step = m.mux(push, queue.count.q().add_lit(1), queue.count.q().sub_lit(1));
        queue.count.next(step).en(push ^ queue.ended).rst(empties, 0);
        let number = self.function.map(|_| write.data.slice(0, FUNCTION_BITS));
        let independent = queue.beside.as_ref().map(|_| write.data.bit(QUEUE_INDEPENDENT) & write.strobe.bit(1));
        let parts: Vec<Sig<'m>> = self.written.values().copied().chain(number).chain(independent).collect();
        let command = m.concat(&parts).called("queue_item");
        let memory = m.mem("queue", queue.depth, command.w(), MemStyle::Distributed);
        memory.write(push, tail, command);
        let item = |name: &str, address: Sig<'m>| {
            unpack(memory.read_async(name, address), &parts.iter().map(|p| p.ty()).collect::<Vec<_>>())
        };
        let mut stage = |suffix: &str, item: &[Sig<'m>]| {
            let mut next = BTreeMap::new();
            for ((offset, written), value) in self.written.iter().zip(item) {
                let value = m.mux(queue.selected, *value, *written).called(format!("next_{offset:02x}{suffix}"));
                next.insert(*offset, value);
            }
            self.next.push(next);
            let value = item.get(self.written.len()).copied();
            self.function.zip(value).map(|(written, value)| m.mux(queue.selected, value, written))
        };
        match &queue.beside {
            None => self.next_function = stage("", &item("queue_command", head)).into_iter().collect(),
            Some(beside) => {
                let mut functions = vec![];
                for (of, takes) in Stage::ALL.into_iter().zip(beside.takes) {
                    let item = item(&format!("queue_{}", of.name()), place(&format!("queue_{}_at", of.name()), takes));
                    functions.extend(stage(&format!("_{}", of.name()), &item));
                    if of == Stage::Reads {
                        let early = functions.first().map_or(m.lit(u64::from(beside.early[0]), u(1)), |number| {
                            let early: Vec<i64> = beside.early.iter().map(|e| i64::from(*e)).collect();
                            table(m, *number, &early, u(1))
                        });
                        beside.may_begin.drive(early & item[item.len() - 1]);
                    }
                }
                self.next_function = functions;
                beside.pushed.drive(push);
                let more = m.reg("queue_more", u(1)).next(write.data.bit(QUEUE_MORE) & write.strobe.bit(1)).en(push);
                beside.more.drive(more.rst(empties, 0).q() & free);
                let oldest = self.function.map(|_| item("queue_oldest", head)[self.written.len()]);
                // The host may write the number of the next run meanwhile.
                let held = |started| m.reg("function_runs", u(FUNCTION_BITS)).next(started).en(beside.start).q();
                self.oldest_function =
                    oldest.map(|value| m.mux(queue.selected, value, held(self.next_function[0])).called("oldest"));
            }
        }
        let ended = m.reg("queue_ended", u(32));
        ended.next(ended.q().add_lit(1)).en(queue.ended).rst(rst, 0);
        let count = queue.count.q().extend(16);
        let places = m.lit(u64::from(queue.depth), u(16)) - count;
        self.status = vec![(at, m.concat(&[places, count])), (ended_at, ended.q())];
    }

    /// Name of the register at an offset. An IP with one function names it after the argument.
    fn name(&self, offset: u32) -> String {
        let layout = self.context.layout;
        let argument = (layout.functions.len() == 1)
            .then(|| (0..layout.functions[0].len()).rev().find(|k| layout.argument(0, *k) <= offset))
            .flatten();
        match argument {
            Some(k) => format!("arg_{k}_{}", if layout.argument(0, k) == offset { "low" } else { "high" }),
            None => format!("argument_{offset:02x}"),
        }
    }

    /// Stages that see commands of their own: all three, or one for all.
    pub fn views(&self) -> usize {
        self.next.len().max(1)
    }

    /// The register at an offset as the next run sees it in a stage. The first use adds it to `registers`.
    fn word(&mut self, view: usize, offset: u32, registers: &mut Vec<(u32, Sig<'m>)>) -> Sig<'m> {
        let Registers { m, layout, write, rst, .. } = self.context;
        let listed = registers.iter().any(|r| r.0 == offset);
        let name = self.name(offset);
        let written =
            *self.written.entry(offset).or_insert_with(|| write.word(m, &name, rst, offset, layout.words()[&offset]));
        if !listed {
            registers.push((offset, written.extend(32)));
        }
        self.next.get(view).and_then(|next| next.get(&offset)).copied().unwrap_or(written)
    }

    /// Argument `k` of function `f` in whole bytes, as the next run sees it in a stage.
    pub fn argument(&mut self, (view, f, k): (usize, usize, usize), registers: &mut Vec<(u32, Sig<'m>)>) -> Sig<'m> {
        let layout = self.context.layout;
        let (at, bits) = (layout.argument(f, k), layout.functions[f][k]);
        let part = |word: Sig<'m>, bits: u32| {
            if word.w() > 8 * bits.div_ceil(8) {
                word.slice(0, 8 * bits.div_ceil(8))
            } else {
                word
            }
        };
        let low = part(self.word(view, at, registers), bits.min(32));
        if bits <= 32 {
            return low;
        }
        let high = part(self.word(view, at + 4, registers), bits - 32);
        let of = if view > 0 { format!("_{}", Stage::ALL[view].name()) } else { String::new() };
        self.context.m.concat(&[high, low]).called(format!("argument_{f}_{k}{of}"))
    }

    /// `condition`, masked unless the next run executes one of these functions. For a number without function it is any.
    pub fn of_functions(&self, functions: &[usize], condition: Sig<'m>) -> Sig<'m> {
        let Registers { m, layout, .. } = self.context;
        self.function(0).map_or(condition, |number| condition & among(m, number, layout.functions.len(), functions))
    }

    /// Number of the function of the next run in a stage, if the IP has several.
    pub fn function(&self, view: usize) -> Option<Sig<'m>> {
        self.next_function.get(view).copied()
    }

    /// Number of the function of the oldest run, if runs overlap.
    pub fn oldest_function(&self) -> Option<Sig<'m>> {
        self.oldest_function
    }

    /// The function does not exist: the condition, and the index that the status register shows then.
    pub fn unknown_function(&self) -> Vec<(Sig<'m>, Sig<'m>)> {
        let m = self.context.m;
        let count = self.context.layout.functions.len() as u64;
        self.function(0)
            .iter()
            .map(|n| ((!n.lt(m.lit(count, n.ty()))).called("function_unknown"), m.lit(0xff, u(8))))
            .collect()
    }

    /// Registers other than those of the arguments.
    pub fn registers(&self) -> Vec<(u32, Sig<'m>)> {
        let number = self.context.layout.function().zip(self.function).map(|(at, f)| (at, f.extend(32)));
        number.into_iter().chain(self.status.iter().copied()).collect()
    }
}
