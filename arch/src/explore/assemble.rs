//! One mapping and one way to make its PE → one finished `Vsa`: lowering, schedule, layouts with their bus widths.
//! Which way is [`super::variants`]' to choose.

use crate::contract::delay;
use crate::contract::walk::beats_ahead;
use crate::io::{bus, collect, hazard, hull, port, reshape};
use crate::ir::cases::Cases;
use crate::ir::design::{DesignSpec, Factors, Wiring};
use crate::ir::draft::{InputDraft, Lowered, OutputDraft, StoredBy};
use crate::ir::mapping::Mapping;
use crate::ir::refusal::{Illegal, Unstorable};
use crate::ir::sizes::{Formula, Size, Sizes};
use crate::ir::ure::System;
use crate::ir::vsa::{After, DramArray, InputGroup, OutputGroup, Remarks, Scalar, Schedule, Scratch, Until, Vsa};
use crate::pe::{self, retime, Options};
use crate::recurrence::passed;
use crate::recurrence::reduction::{self, Reduction};
use crate::recurrence::rewrite::Attempt;
use crate::recurrence::share::Sharing;
use frontend::diag::{Diagnostics, Span};
use frontend::flow;
use frontend::scop::{Binding, Constraint, Expr, ExprKind, LoopId, Scop, Statement, Storage};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Partial results that wait longer than this (in waves) for their next tile go to DRAM: one UltraRAM's depth.
pub(super) const SPILL_BEYOND: i64 = 4096;

/// How much the program's loop nests do, each where it is deepest: what begins or ends a sum there is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Executions of their statements.
    pub operations: i64,
    /// Iterations: each keeps one lane busy for one wave, whatever the number of its statements.
    pub iterations: i64,
}

impl Work {
    /// At the greatest sizes.
    pub fn at_most(scop: &Scop) -> Work {
        if scop.open_sizes() > 0 {
            Work::of(&scop.at(&scop.maxima()))
        } else {
            Work::of(scop)
        }
    }

    pub fn of(scop: &Scop) -> Work {
        let mut work = Work { operations: 0, iterations: 0 };
        let mut nests: Vec<(&[LoopId], Vec<Vec<Constraint>>)> = Vec::new();
        // Of the nests of one outermost loop, or of none.
        let deepest = |outermost: Option<&LoopId>| {
            scop.statements.iter().filter(|s| s.loops.first() == outermost).map(|s| s.loops.len()).max()
        };
        let loops = scop.statements.iter().any(|s| !s.loops.is_empty());
        let counts = |s: &Statement| (!loops || !s.loops.is_empty()) && deepest(s.loops.first()) == Some(s.loops.len());
        for statement in scop.statements.iter().filter(|s| counts(s)) {
            work.operations += count(&statement.domain, statement.loops.len());
            match nests.iter_mut().find(|n| n.0 == statement.loops) {
                Some((_, domain)) => domain.extend(statement.domain.iter().cloned()),
                None => nests.push((&statement.loops, statement.domain.clone())),
            }
        }
        work.iterations = nests.iter().map(|(loops, domain)| count(domain, loops.len())).sum();
        work
    }
}

/// Iterations of a domain over so many dimensions.
pub(super) fn count(domain: &[Vec<Constraint>], depth: usize) -> i64 {
    flow::count(domain, depth).unwrap_or(0) as i64
}

/// What all mappings of one program share.
#[derive(Clone)]
pub struct Program<'a> {
    pub scop: Cow<'a, Scop>,
    pub system: System,
    pub reductions: Vec<Option<Reduction>>,
    pub sharing: Sharing,
    pub work: Work,
    /// Per array: those with equal numbers share an AXI port.
    pub ports: Vec<usize>,
    /// Per array: it stays on chip.
    pub on_chip: Vec<bool>,
    /// Per array: values pass in it from phase to phase.
    pub passed: Vec<bool>,
    /// Each loop nest is a phase of its own, though one array could execute several.
    pub apart: bool,
    /// Iterations of a loop in one strip, if it is cut.
    pub strip: Factors,
    /// By how much later other loops begin from strip to strip, where these hand values on.
    pub slant: Factors,
    /// Per statement, its lines of C.
    pub quotes: Arc<[Option<String>]>,
    /// What came of every rewrite that was tried, up to the one that made `scop`.
    pub rewrites: Vec<Attempt>,
    /// The region before it was rewritten, if it was: with sizes, of the program at all of them.
    pub written: Option<Cow<'a, Scop>>,
    /// With sizes at run time: the program at all of them, of which this is the greatest.
    pub sized: Option<Box<Program<'a>>>,
}

impl<'a> Program<'a> {
    pub fn new(
        scop: Cow<'a, Scop>,
        system: System,
        spec: &DesignSpec,
        work: Work,
        ports: Vec<usize>,
        rewrites: Vec<Attempt>,
    ) -> Program<'a> {
        if system.sizes > 0 {
            let maxima = scop.maxima();
            let most = scop.at(&maxima);
            let at_most = system.at(&most, &maxima);
            let program = Program::plain(Cow::Owned(most), at_most, spec, work, ports.clone(), rewrites.clone());
            let sized = Program::counted(scop, system, spec, program.work, ports, rewrites);
            return Program { sized: Some(Box::new(sized)), ..program };
        }
        Program::plain(scop, system, spec, work, ports, rewrites)
    }

    /// With its arrays at other ports.
    ///
    /// # Errors
    /// As for [`port::assign`].
    pub fn wired(mut self, wiring: &Wiring) -> Result<Program<'a>, Diagnostics> {
        if let Some(sized) = self.sized.take() {
            self.sized = Some(Box::new(sized.wired(wiring)?));
        }
        self.ports = port::assign(&self.scop, wiring)?;
        self.on_chip = port::on_chip(&self.scop, &self.ports, wiring);
        Ok(self)
    }

    fn plain(
        scop: Cow<'a, Scop>,
        system: System,
        spec: &DesignSpec,
        mut work: Work,
        ports: Vec<usize>,
        rewrites: Vec<Attempt>,
    ) -> Program<'a> {
        // Iterations of several nests that fall on one place share a lane.
        let places: Vec<Vec<Constraint>> = system.statements.iter().flat_map(|s| s.domain.iter().cloned()).collect();
        work.iterations = work.iterations.min(count(&places, system.dims.len()));
        Program::counted(scop, system, spec, work, ports, rewrites)
    }

    /// `work`: with what shares a lane.
    fn counted(
        scop: Cow<'a, Scop>,
        mut system: System,
        spec: &DesignSpec,
        work: Work,
        ports: Vec<usize>,
        rewrites: Vec<Attempt>,
    ) -> Program<'a> {
        let reductions: Vec<_> = (0..scop.statements.len())
            .map(|s| reduction::find(&scop, &system, s, spec.arithmetic.reassociate))
            .collect();
        let sharing = Sharing::find(&scop, &system, &reductions);
        sharing.join_inputs(&scop, &mut system);
        let on_chip = port::on_chip(&scop, &ports, &spec.wiring);
        let passed =
            if system.phases > system.sizes { passed::passed(&scop, &system) } else { vec![false; scop.arrays.len()] };
        let quotes = scop.statements.iter().map(|s| scop.sources.quote(s.span)).collect();
        Program {
            scop,
            system,
            reductions,
            sharing,
            work,
            ports,
            on_chip,
            passed,
            apart: false,
            strip: Factors::new(),
            slant: Factors::new(),
            quotes,
            rewrites,
            written: None,
            sized: None,
        }
    }

    /// The program in strips: over this system, which is that at all sizes.
    pub(super) fn over(&self, system: System, strip: Factors, slant: Factors, spec: &DesignSpec) -> Program<'a> {
        let over = |scop: &Cow<'a, Scop>, system: System| Program {
            strip: strip.clone(),
            slant: slant.clone(),
            ..Program::counted(scop.clone(), system, spec, self.work, self.ports.clone(), self.rewrites.clone())
        };
        let Some(sized) = &self.sized else { return over(&self.scop, system) };
        let at_most = system.at(&self.scop, &system.maxima());
        Program { sized: Some(Box::new(over(&sized.scop, system))), ..over(&self.scop, at_most) }
    }

    /// Where an array lies that passes values between phases.
    pub fn scratch(&self, array: usize) -> Option<Scratch> {
        self.scop.arrays[array]
            .is_temporary()
            .then(|| if self.on_chip[array] { Scratch::OnChip } else { Scratch::Dram })
    }
}

/// Reductions whose dimensions the transform leaves alone.
pub(super) fn kept(program: &Program, mapping: &Mapping) -> Vec<Option<Reduction>> {
    let alone = |r: usize| {
        let rows: Vec<&Vec<i64>> = mapping.plan.transform.iter().filter(|row| row[r] != 0).collect();
        rows.len() == 1 && rows[0].iter().enumerate().all(|(d, &c)| c == (d == r) as i64)
    };
    program.reductions.iter().map(|r| r.clone().filter(|r| r.dims.iter().all(|&d| alone(d)))).collect()
}

/// # Errors
/// Why this is no PE of a systolic array for the program.
pub(super) fn build(
    program: &Program,
    mapping: &Mapping,
    reductions: &[Option<Reduction>],
    options: Options,
) -> Result<(Lowered, Schedule), Illegal> {
    let sharing = Some(&program.sharing).filter(|_| options.shared);
    let lowered = pe::lower(&program.scop, &program.system, mapping, reductions, sharing, options)?;
    let schedule = pe::schedule(&lowered, mapping.extent)?;
    Ok((lowered, schedule))
}

/// # Errors
/// Why the PE's results or inputs cannot move as the mapping wants it.
pub(super) fn join(
    program: &Program,
    mapping: Mapping,
    mut lowered: Lowered,
    schedule: Schedule,
    spec: &DesignSpec,
) -> Result<Vsa, Illegal> {
    let scop = &program.scop;
    reshape::reshape(scop, &mut lowered, &mapping);
    let dram = arrays(program, &lowered, &mapping, schedule.interval, spec);
    let outputs = outputs(scop, &lowered, &dram, &mapping)?;
    let inputs = inputs(program, &lowered, &outputs, &dram, &mapping);
    let mut vsa = Vsa {
        name: scop.name.to_lowercase(),
        lanes: mapping.lanes() as i64,
        ahead: beats_ahead(spec.wiring.memory_latency.unwrap_or_default().into()),
        address_bits: spec.wiring.address_bits.unwrap_or(64),
        uram: spec.wiring.uram.unwrap_or(false),
        axes: mapping.axes,
        extent: mapping.extent,
        tile_depth: mapping.tile_depth,
        phases: mapping.phases,
        cases: Cases { lags: std::mem::take(&mut lowered.lags), ..mapping.cases },
        sizes: sizes(scop, mapping.parameters, mapping.limits, &dram),
        counters: mapping.counters,
        nodes: std::mem::take(&mut lowered.nodes),
        remarks: Remarks { statements: lowered.statements.clone(), quotes: program.quotes.clone() },
        scalars: scalars(scop, &lowered, &dram),
        arrays: dram.into_iter().map(|d| d.array).collect(),
        inputs,
        outputs,
        schedule,
    };
    hazard::check(&vsa, &lowered.inputs)?;
    retime::sink(&mut vsa);
    vsa.schedule.delays = delay::choose(&vsa);
    Ok(vsa)
}

/// An array of the program that stays in DRAM.
struct InDram {
    /// Index into the program's arrays.
    source: usize,
    array: DramArray,
}

/// The arrays that the PEs read or write, with the widths of their buses.
fn arrays(program: &Program, lowered: &Lowered, mapping: &Mapping, interval: i64, spec: &DesignSpec) -> Vec<InDram> {
    let scop = &program.scop;
    let used = |a: usize| lowered.inputs.iter().any(|g| g.array == a) || lowered.outputs.iter().any(|g| g.array == a);
    let mut sources: Vec<usize> =
        (0..scop.arrays.len()).filter(|&a| scop.arrays[a].storage == Storage::Dram && used(a)).collect();
    sources.sort_by_key(|&a| program.scratch(a));
    let mut ports: Vec<usize> = Vec::new();
    let mut dram: Vec<InDram> = Vec::new();
    for &source in &sources {
        let array = &scop.arrays[source];
        let port = ports.iter().position(|&p| p == program.ports[source]).unwrap_or_else(|| {
            ports.push(program.ports[source]);
            ports.len() - 1
        });
        let bus =
            dram.iter().find(|b| b.array.port as usize == port).map(|b| b.array.bus_bytes()).unwrap_or_else(|| {
                let members: Vec<usize> =
                    sources.iter().copied().filter(|&b| program.ports[b] == program.ports[source]).collect();
                let asked = port::bus_bytes(&spec.wiring, members.iter().map(|&b| &scop.arrays[b]));
                asked.unwrap_or_else(|| bus::choose(scop, lowered, &members, interval, mapping))
            });
        let dims = if array.dims.is_empty() { vec![1] } else { array.dims.clone() };
        dram.push(InDram {
            source,
            array: DramArray {
                name: array.name.clone(),
                ty: array.ty.cell(),
                dims,
                word: bus / array.ty.bytes(),
                port: port as u32,
                scratch: program.scratch(source),
            },
        });
    }
    dram
}

/// The scalars, and how many of the arrays are arguments before each.
fn scalars(scop: &Scop, lowered: &Lowered, dram: &[InDram]) -> Vec<Scalar> {
    let position = |source: usize| match scop.arrays[source].binding {
        Binding::Parameter(position) | Binding::Value(position) => position,
        Binding::Global | Binding::Local | Binding::Scratch | Binding::Host(_) => u32::MAX,
    };
    let scalar = |&source: &usize| Scalar {
        name: scop.arrays[source].name.clone(),
        ty: scop.arrays[source].ty.cell(),
        after: dram.iter().filter(|d| position(d.source) < position(source)).count() as u32,
        host: scop.host.iter().find(|s| s.write.array.index() == source).map(|s| {
            formula(&s.rhs, &|k| {
                lowered.scalars.iter().position(|x| *x == s.reads[k].array.index()).unwrap_or(usize::MAX)
            })
        }),
    };
    lowered.scalars.iter().map(scalar).collect()
}

/// An expression with its reads by other numbers, without places.
fn formula(e: &Expr, number: &impl Fn(usize) -> usize) -> Expr {
    let e = match e.kind {
        ExprKind::Read(k) => Expr { kind: ExprKind::Read(number(k)), ..e.clone() },
        _ => e.with_operands(|x| formula(x, number)),
    };
    Expr { span: Span::default(), ..e }
}

/// The sizes, and where they stand among the arguments.
fn sizes(scop: &Scop, parameters: Vec<Formula>, limits: BTreeMap<usize, usize>, dram: &[InDram]) -> Sizes {
    if scop.open_sizes() == 0 {
        return Sizes::default();
    }
    let size = |s: &frontend::scop::Size| {
        let before = |position: Option<u32>| position.is_some_and(|p| p < s.parameter);
        let arrays = dram
            .iter()
            .filter(|d| {
                before(match scop.arrays[d.source].binding {
                    Binding::Parameter(p) => Some(p),
                    _ => None,
                })
            })
            .count();
        let scalars = scop.arrays.iter().filter(|a| before(a.by_value())).count();
        Size { name: s.name.clone(), ty: s.ty, max: s.max, after: [arrays as u32, scalars as u32] }
    };
    let extents = dram.iter().enumerate().filter(|(_, d)| !scop.arrays[d.source].extents.is_empty());
    Sizes {
        list: scop.sizes.iter().map(size).collect(),
        parameters,
        limits,
        extents: extents.map(|(k, d)| (k, scop.arrays[d.source].extents.clone())).collect(),
    }
}

fn position(dram: &[InDram], source: usize) -> (u32, &DramArray) {
    let at = dram.iter().position(|d| d.source == source).expect("an array that is used");
    (at as u32, &dram[at].array)
}

fn inputs(
    program: &Program,
    lowered: &Lowered,
    outputs: &[OutputGroup],
    dram: &[InDram],
    mapping: &Mapping,
) -> Vec<InputGroup> {
    let group = |draft: &InputDraft| {
        let (index, array) = position(dram, draft.array);
        let output = |s: StoredBy| lowered.outputs.iter().position(|o| o.statement == s.statement);
        let lagging = draft.stored_by.and_then(|s| Some(After { output: output(s)? as u32, until: Until::Lag(s.lag) }));
        let stores = outputs
            .iter()
            .enumerate()
            .filter(|(_, o)| program.passed[draft.array] && lagging.is_none() && o.array == index);
        let earlier: Vec<After> = stores.map(|(o, _)| After { output: o as u32, until: Until::Phase }).collect();
        let group = hull::input(draft, index, array.word, if earlier.is_empty() { 0 } else { mapping.phases }, mapping);
        InputGroup { after: lagging.into_iter().chain(earlier).collect(), ..group }
    };
    lowered.inputs.iter().map(group).collect()
}

fn outputs(scop: &Scop, lowered: &Lowered, dram: &[InDram], mapping: &Mapping) -> Result<Vec<OutputGroup>, Illegal> {
    let group = |draft: &OutputDraft| {
        let (index, array) = position(dram, draft.array);
        collect::output(draft, index, array.word, &scop.arrays[draft.array].dims, mapping).map_err(|why| match why {
            // Runs as at the greatest sizes.
            Unstorable::Varying(counter) => Illegal::Varying(vec![counter]),
            why => Illegal::Unstorable { array: array.name.clone(), why },
        })
    };
    // Those of the array named first fail first.
    let mut order: Vec<usize> = (0..lowered.outputs.len()).collect();
    order.sort_by_key(|&g| position(dram, lowered.outputs[g].array).0);
    order
        .into_iter()
        .map(|g| Ok((g, group(&lowered.outputs[g])?)))
        .collect::<Result<BTreeMap<_, _>, _>>()
        .map(|all| all.into_values().collect())
}
