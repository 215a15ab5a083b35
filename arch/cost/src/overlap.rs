//! The cycles of several runs that overlap ([`array::contract::overlap`]).
//!
//! **Method.** Nothing of a run waits for a later one, so the runs are walked one after the other, each in the state that
//! the runs before have left: when buffers are released, what is in the FIFOs, when the memories are free. A stage begins
//! a run when the reads have begun it, too, and nothing of the run before is left in the stage.
//!
//! Cycles count from the start of the first run.

use crate::predict::{Allowed, Predictor, Walker};
use crate::reader::ReaderModel;
use crate::repeat::Repeats;
use crate::writer::WriterModel;
use array::contract::dram::Memories;
use array::contract::handover::swept;
use array::contract::overlap::{
    hold, input_sets, may_begin_early, output_sets, BufferSet, LEFT_TO_START, MOST_RUNS, START_TO_START,
};
use array::contract::timing;
use array::vsa::Vsa;
use std::collections::VecDeque;

/// A command of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The number of the function, and the sizes of the run as [`crate::predict_at`] wants them.
    pub function: usize,
    pub sizes: &'a [i64],
    /// The host says that it may begin while others are under way.
    pub independent: bool,
}

/// A run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The start of its reads, and its end.
    pub start: i64,
    pub done: i64,
    /// No other run was under way at the start.
    pub alone: bool,
}

/// From the end of the last run under way to the next start.
const DONE_TO_START: i64 = 2;

/// When a run begins in each stage.
#[derive(Clone, Copy)]
struct Begins {
    reads: i64,
    waves: i64,
    writes: i64,
}

/// What a run leaves behind.
struct Left {
    readers: Vec<Option<ReaderModel>>,
    writers: Vec<Option<WriterModel>>,
    /// By set of buffers.
    released: Vec<[i64; 2]>,
    drained: Vec<VecDeque<i64>>,
    /// The first cycle of the next launch.
    free: i64,
    function: usize,
    begins: Begins,
}

struct Model<'a> {
    array: &'a Vsa,
    of: Predictor<'a>,
    inputs: Vec<BufferSet>,
    outputs: Vec<BufferSet>,
    memory: &'a Memories,
    ran: Vec<Ran>,
}

/// The runs of these commands, all of which are in the queue from the start on.
pub fn predict_commands(array: &Vsa, commands: &[Command], memory: &Memories) -> Vec<Ran> {
    let (of, inputs, outputs) = (Predictor::new(array), input_sets(array, true), output_sets(array, true));
    let mut model = Model { array, of, inputs, outputs, memory, ran: vec![] };
    let mut left: Option<Left> = None;
    for (k, command) in commands.iter().enumerate() {
        let begins = left.as_mut().map_or(Begins { reads: 0, waves: 0, writes: 0 }, |left| model.begins(command, left));
        left = Some(model.run(command, begins, left, commands.get(k + 1)));
    }
    model.ran
}

impl Model<'_> {
    /// The earliest start of a command beside the runs so far; `None`: it waits for their ends.
    fn early(&self, command: &Command, left: &mut Left) -> Option<i64> {
        let may = command.independent && may_begin_early(self.array, command.function);
        let leaves = left.readers.iter_mut().flatten().map(ReaderModel::leaves).max();
        let start = leaves.map_or(0, |last| last + LEFT_TO_START).max(left.begins.reads + START_TO_START[0]);
        let many = self.ran.len().checked_sub(MOST_RUNS).map_or(0, |first| self.ran[first].done + DONE_TO_START);
        may.then_some(start.max(many))
    }

    fn begins(&self, command: &Command, left: &mut Left) -> Begins {
        let alone = self.ran.last().map_or(0, |run| run.done + DONE_TO_START);
        let reads = match self.early(command, left) {
            Some(start) if start < alone => start,
            _ => return Begins { reads: alone, waves: alone, writes: alone },
        };
        // The launch of the last wave is a cycle behind the one in which it is the sequencer's last.
        let interval = self.array.schedule.interval;
        let waves = left.free - interval - 1 + LEFT_TO_START + hold(self.array, left.function);
        let leaves = left.writers.iter_mut().flatten().map(WriterModel::leaves).max();
        let writes = leaves.map_or(0, |last| last + LEFT_TO_START);
        let behind = |start: i64, before: i64| start.max(reads).max(before);
        Begins {
            reads,
            waves: behind(waves, left.begins.waves + START_TO_START[1]),
            writes: behind(writes, left.begins.writes + START_TO_START[2]),
        }
    }

    /// Walks a run. `next`: the command behind it.
    fn run(&mut self, command: &Command, begins: Begins, left: Option<Left>, next: Option<&Command>) -> Left {
        let (array, sizes) = (self.array, command.sizes);
        let at_sizes = (array.parameters() > 0).then(|| array.at(sizes));
        let vsa = at_sizes.as_ref().unwrap_or(array);
        let mut walker = Walker::new(vsa, &self.of, Allowed::ALL);
        let (readers, writers) = left.as_ref().map_or((None, None), |l| (Some(&l.readers), Some(&l.writers)));
        let reader = |p: usize| {
            let before = readers.and_then(|all| all[p].clone());
            let mut model = before.or_else(|| self.of.reader(p, sizes, self.memory))?;
            model.begin(self.of.reads(p, sizes)?, begins.reads);
            Some(model)
        };
        let writer = |p: usize| {
            let before = writers.and_then(|all| all[p].clone());
            let mut model = before.or_else(|| self.of.writer(p, sizes, self.memory))?;
            model.begin(self.of.writes(p, sizes)?, begins.writes);
            Some(model)
        };
        walker.readers = (0..array.ports()).map(reader).collect();
        walker.writers = (0..array.ports()).map(writer).collect();
        let released = left.as_ref().map_or_else(|| vec![[0; 2]; self.inputs.len()], |l| l.released.clone());
        let drained = left.as_ref().map_or_else(|| vec![VecDeque::new(); self.outputs.len()], |l| l.drained.clone());
        let in_sets = |sets: &[BufferSet]| -> Vec<(usize, usize, u32)> {
            let of = |(k, set): (usize, &BufferSet)| set.groups.iter().map(|g| (k, *g, set.halves)).collect::<Vec<_>>();
            sets.iter().enumerate().flat_map(of).collect()
        };
        for (set, group, halves) in in_sets(&self.inputs) {
            walker.inputs[group].resume(released[set], halves);
        }
        for (set, group, halves) in in_sets(&self.outputs) {
            walker.outputs[group].resume(&drained[set], halves);
        }
        let free = left.as_ref().map_or(0, |l| l.free);
        walker.free = free.max(begins.waves + timing::START_TO_LAUNCH);
        let swept = swept(array);
        let ended = walker.run(swept, &mut Repeats::new(false)).expect("a run takes less than that").cycles;
        let before = self.ran.last().map_or(0, |run| run.done + 1);
        let mut done = ended.max(before);
        let idle = (!array.sizes.list.is_empty()).then(|| walker.idle());
        let (mut released, mut drained) = (released, drained);
        for (set, group, _) in in_sets(&self.inputs) {
            walker.inputs[group].leave(&mut released[set]);
        }
        for (set, group, _) in in_sets(&self.outputs) {
            walker.outputs[group].leave(&mut drained[set]);
        }
        let mut left = Left {
            readers: std::mem::take(&mut walker.readers),
            writers: std::mem::take(&mut walker.writers),
            released,
            drained,
            free: walker.free,
            function: command.function,
            begins,
        };
        let alone = self.ran.last().is_none_or(|run| run.done + DONE_TO_START <= begins.reads);
        // A run by itself ends when the engines are idle, unless another one begins before that.
        if let Some(idle) = idle {
            let beside = next.and_then(|next| self.early(next, &mut left));
            done = done.max(beside.map_or(idle, |start| idle.min(start)));
        }
        self.ran.push(Ran { start: begins.reads, done, alone });
        left
    }
}
