//! A finished array, the representations before it, and its report.

use crate::choose;
use crate::choose::{Limit, Searched};
use array::contract::dram::{Memories, MemoryTiming};
use array::contract::walk;
use array::kernel::Kernel;
use array::vsa::Vsa;
use cost::bank;
use cost::bank::{Bank, Load};
use cost::board::{Board, Resources};
use cost::overlap::{Command, Ran};
use cost::resources::converters;
use cost::{memory, predict, predict_at, Prediction, Predictor};
use draw as svg;
use scop::Scop;
use uniform::design::DesignSpec;
use uniform::mapping::{Mapping, Plan};
use uniform::program::Work;
use uniform::recurrence::rewrite::Attempt;
use uniform::system::{Dependence, System};

#[derive(Clone, Debug)]
pub struct Compiled {
    /// The representations before it; nothing if it was read as an array.
    pub stages: Option<Stages>,
    pub vsa: Vsa,
    pub report: Report,
    /// For one run ([`Compiled::at`]): the array for all sizes, and the run's sizes. Of a merged array, all of it.
    pub whole: Option<(Box<Vsa>, Vec<i64>)>,
    /// Of a function of a merged array.
    pub member: Option<Member>,
}

/// A function of a merged array.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its number.
    pub number: usize,
    /// Its array before it was merged with the others.
    pub own: Box<Vsa>,
    /// The array that it would have without the others, where no limit of theirs binds it, and the cycles there.
    pub alone: Box<Vsa>,
    pub cycles: i64,
    pub resources: Resources,
}

impl Compiled {
    /// The array, work and prediction of one run at these sizes.
    pub fn at(&self, sizes: &[i64]) -> Compiled {
        let mut out = self.clone();
        if let Some(merged) = self.merged() {
            out.report.work = self.stages.as_ref().map(|s| Work::of(&s.scop.at(sizes)));
            out.run(merged, sizes);
            return out;
        }
        if self.vsa.parameters() == 0 {
            return out;
        }
        out.report.prediction = predict_at(&self.vsa, sizes, &self.report.chosen_for);
        out.report.ideal = predict_at(&self.vsa, sizes, &Memories::ideal()).cycles;
        out.report.work = self.stages.as_ref().map(|s| Work::of(&s.scop.at(sizes)));
        out.vsa = self.vsa.at(sizes);
        out.whole = Some((Box::new(self.vsa.clone()), sizes.to_vec()));
        out
    }

    /// Makes it function `number` of a merged array; `alone`: as it would be without the others.
    pub(crate) fn join(&mut self, merged: &Vsa, number: usize, alone: &Compiled) {
        let Report { prediction, resources, .. } = alone.report;
        let (own, alone) = (Box::new(self.vsa.clone()), Box::new(alone.vsa.clone()));
        self.member = Some(Member { number, own, alone, cycles: prediction.cycles, resources });
        self.run(merged, &self.vsa.sizes.maxima());
    }

    /// The cycles of a run of function `number` of a merged array, whose own array this is.
    pub(crate) fn cycles_in(&self, (merged, of): (&Vsa, &Predictor), number: usize) -> i64 {
        let sizes = merged.sizes_of(number, &self.vsa.sizes.maxima());
        of.predict(&sizes, &merged.memories_of(number, &self.report.chosen_for)).cycles
    }

    /// Makes it a run of its function of a merged array, with these sizes of its own.
    fn run(&mut self, merged: &Vsa, own: &[i64]) {
        let Some(Member { number, .. }) = self.member else { return };
        let sizes = merged.sizes_of(number, own);
        let of = Predictor::new(merged);
        self.report.prediction = of.predict(&sizes, &merged.memories_of(number, &self.report.chosen_for));
        self.report.ideal = of.predict(&sizes, &Memories::ideal()).cycles;
        self.vsa = merged.run_of(number, own);
        self.whole = Some((Box::new(merged.clone()), sizes));
    }

    /// This array in place of the one that a search chose for the same program. What the search proved of all arrays
    /// holds; what it found out about smaller ones than its own is left out.
    pub fn in_place_of(mut self, chosen: &Compiled) -> Compiled {
        let Some(searched) = &chosen.report.searched else { return self };
        let Report { prediction, resources, chosen_for, .. } = &self.report;
        let cycles = prediction.cycles;
        let bound = searched.bound.min(cycles);
        let faster = searched.passed.iter().chain(searched.near.first()).filter(|d| d.cycles < cycles);
        let searched = Searched {
            bound,
            gap: (cycles - bound) as f64 / cycles.max(1) as f64,
            passed: faster.cloned().collect(),
            smaller: vec![],
            near: vec![],
            ..searched.clone()
        };
        self.report.limit = choose::limit(&self.vsa, chosen_for, prediction, resources, &searched.limits);
        self.report.searched = Some(searched);
        self
    }

    /// The array of the function; of a merged array, as it was before it was merged.
    pub fn own(&self) -> &Vsa {
        self.member.as_ref().map_or(&self.vsa, |member| &member.own)
    }

    /// The array that is built: the merged one, if there is one.
    pub fn built(&self) -> &Vsa {
        self.merged().unwrap_or(self.own())
    }

    /// The address of one of its arrays is a multiple of this many bytes in the array that is built.
    pub fn alignment(&self, array: usize) -> u32 {
        let built = self.built();
        let member = self.member.as_ref().and_then(|member| built.functions.get(member.number));
        walk::alignment(built, member.map_or(array, |member| member.arrays[array].0))
    }

    /// The merged array that executes the function, if there is one.
    pub fn merged(&self) -> Option<&Vsa> {
        self.whole.as_ref().filter(|_| self.member.is_some()).map(|whole| &*whole.0)
    }

    /// The greatest sizes of the function.
    pub fn maxima(&self) -> Vec<i64> {
        self.own().sizes.maxima()
    }

    /// The run's sizes, by name.
    pub fn sizes(&self) -> Vec<(&str, i64)> {
        let Some((whole, sizes)) = &self.whole else { return vec![] };
        match &self.member {
            Some(member) => {
                whole.functions[member.number].sizes.iter().map(|(k, name)| (name.as_str(), sizes[*k])).collect()
            }
            None => whole.sizes.list.iter().zip(sizes).map(|(s, value)| (s.name.as_str(), *value)).collect(),
        }
    }

    /// Cycles with the board's memory.
    pub fn on_board(&self) -> i64 {
        if self.report.board == self.report.chosen_for {
            self.report.prediction.cycles
        } else {
            self.predict(&self.report.board).cycles
        }
    }

    /// Cycles with this memory; at the greatest sizes if they are open.
    pub fn predict(&self, memory: &Memories) -> Prediction {
        match &self.whole {
            Some((whole, sizes)) => {
                let behind = |member: &Member| whole.memories_of(member.number, memory);
                let memory = self.member.as_ref().map_or_else(|| memory.clone(), behind);
                predict_at(whole, sizes, &memory)
            }
            None => predict(&self.vsa, memory),
        }
    }
}

/// The runs of commands of one IP with one core, all of which are in its queue from the start on: each a function, and whether
/// it is independent. With an ideal memory of this latency, or with the last one's on the board.
pub fn predict_commands(commands: &[(&Compiled, bool)], memory: Option<MemoryTiming>) -> Vec<Ran> {
    let Some((last, _)) = commands.last() else { return vec![] };
    let array = last.merged().unwrap_or(&last.vsa);
    let number = |c: &Compiled| c.member.as_ref().map_or(0, |member| member.number);
    let memory = match (memory, last.merged()) {
        (Some(own), _) => Memories::all(own),
        (None, Some(merged)) => merged.memories_of(number(last), &last.report.board),
        (None, None) => last.report.board.clone(),
    };
    let mut all: Vec<Command> = vec![];
    for (c, independent) in commands {
        let sizes = c.whole.as_ref().map_or(&[][..], |(_, sizes)| sizes);
        all.push(Command { function: number(c), sizes, independent: *independent });
    }
    cost::overlap::predict_commands(array, &all, &memory)
}

/// The representations before the array.
#[derive(Clone, Debug)]
pub struct Stages {
    /// The program as it was rewritten.
    pub scop: Scop,
    /// What came of each rewrite that was tried.
    pub rewrites: Vec<Attempt>,
    pub system: System,
    pub plan: Plan,
}

impl Stages {
    pub(crate) fn new(kernel: Kernel, plan: Plan) -> Stages {
        let form = &*kernel.general;
        Stages {
            plan: plan.behind(form.system.parameters().len()),
            scop: (*form.scop).clone(),
            system: form.system.clone(),
            rewrites: kernel.program.rewrites,
        }
    }

    /// The space-time diagram of the array, as SVG.
    pub fn diagram(&self, vsa: &Vsa) -> String {
        if self.system.is_sized() {
            // At the greatest sizes.
            let maxima = self.scop.maxima();
            let scop = self.scop.at(&maxima);
            return diagram(
                &scop,
                &self.system.at(&scop, &maxima),
                &self.plan.clone().without(self.system.parameters().len()),
                &vsa.at(&maxima),
            );
        }
        diagram(&self.scop, &self.system, &self.plan, vsa)
    }
}

/// The space-time diagram of an array, as SVG.
pub fn diagram(scop: &Scop, system: &System, plan: &Plan, vsa: &Vsa) -> String {
    match Mapping::new(system, plan.clone()) {
        Ok(mapping) => svg::draw_time(scop, system, &mapping, vsa),
        Err(_) => String::new(),
    }
}

#[derive(Clone, Debug)]
pub struct Report {
    /// The program's work; unknown for an array without its program.
    pub work: Option<Work>,
    /// With the memory that the array was chosen for.
    pub prediction: Prediction,
    /// The board's memory, or ideal memory if the user asks for that.
    pub chosen_for: Memories,
    pub board: Memories,
    /// Cycles with ideal memory.
    pub ideal: i64,
    /// An estimate; `scripts/resources.sh` measures. With [`Report::converters`].
    pub resources: Resources,
    /// What the interconnect takes for buses wider than their memory.
    pub converters: Resources,
    /// What keeps the array from being faster.
    pub limit: Limit,
    /// How it was found, if the search chose it.
    pub searched: Option<Searched>,
    pub dependences: Vec<String>,
    /// The bank of each array.
    pub banks: Vec<Bank>,
    /// What each bank carries.
    pub loads: Vec<Load>,
}

impl Report {
    /// Predicts and counts.
    pub(crate) fn new(
        program: Option<&Kernel>,
        vsa: &Vsa,
        resources: Resources,
        (searched, banks): (Option<Searched>, Vec<Bank>),
        (spec, board): (&DesignSpec, &Board),
    ) -> Report {
        let memory::Run { prediction, memories: chosen_for } = memory::run(vsa, spec);
        let on_board = if spec.memory.ideal { memory::run_on_board(vsa, spec).memories } else { chosen_for.clone() };
        let limits = searched.as_ref().map_or(board.resources, |s| s.limits);
        let limit = choose::limit(vsa, &chosen_for, &prediction, &resources, &limits);
        let loads = bank::loads(&vsa.at_most(), &banks);
        let dependences = program.map_or(vec![], |p| dependences(&p.scop, &p.system));
        Report {
            work: program.map(|p| p.work),
            prediction,
            chosen_for,
            board: on_board,
            ideal: predict(vsa, &Memories::ideal()).cycles,
            resources,
            converters: converters(vsa, spec),
            limit,
            searched,
            dependences,
            banks,
            loads,
        }
    }
}

fn dependences(scop: &Scop, system: &System) -> Vec<String> {
    let text = |e: Dependence| {
        let read = &scop.statement(e.to).reads[e.read];
        let kind = if e.carried { "carried" } else { "flow" };
        format!("S{} -> S{} {} {:?} ({kind})", e.from.0, e.to.0, scop.array(read.array).name, e.distance)
    };
    system.dependences().into_iter().map(text).collect()
}

/// What the interconnect takes for buses wider than their memory: functions of one IP share the ports.
pub fn outside<'a>(functions: impl IntoIterator<Item = &'a Compiled>) -> Resources {
    functions.into_iter().map(|c| c.report.converters).max_by_key(|c| c.lut).unwrap_or_default()
}
