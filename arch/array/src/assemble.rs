//! One mapping and one way to make its PE → one finished `Vsa`: lowering, schedule, layouts with their bus widths.
//! Which way is [`crate::variants`]' to choose.

use crate::contract::delay;
use crate::contract::walk::beats_ahead;
use crate::draft::{InputDraft, Lowered, OutputDraft, StoredBy};
use crate::io::{bus, collect, footprint, hazard, port, reshape};
use crate::kernel::Kernel;
use crate::pe;
use crate::pe::{retime, Options};
use crate::vsa::{After, Common, DramArray, InputGroup, OutputGroup, Remarks, Scalar, Schedule, Until, Vsa};
use scop::diag::Span;
use scop::{Binding, Expr, ExprKind, Scop, Storage};
use std::collections::BTreeMap;
use uniform::design::DesignSpec;
use uniform::mapping::Mapping;
use uniform::recurrence::reduction::Reduction;
use uniform::refusal::{Illegal, Unstorable};
use uniform::sizes::{Size, Sizes};

/// Partial results that wait longer than this (in waves) for their next tile go to DRAM: one UltraRAM's depth.
pub const SPILL_BEYOND: i64 = 4096;

/// Reductions whose dimensions the transform leaves alone.
pub(super) fn reductions_of(kernel: &Kernel, mapping: &Mapping) -> Vec<Option<Reduction>> {
    let alone = |r: usize| {
        let rows: Vec<&Vec<i64>> = mapping.plan.transform.iter().filter(|row| row[r] != 0).collect();
        rows.len() == 1 && rows[0].iter().enumerate().all(|(d, &c)| c == (d == r) as i64)
    };
    kernel.source().reductions.iter().map(|r| r.clone().filter(|r| r.dims.iter().all(|&d| alone(d)))).collect()
}

/// # Errors
/// Why this is no PE of a systolic array for the program.
pub(super) fn build(
    kernel: &Kernel,
    mapping: &Mapping,
    reductions: &[Option<Reduction>],
    options: Options,
) -> Result<(Lowered, Schedule), Illegal> {
    let sharing = Some(&kernel.source().sharing).filter(|_| options.shared);
    let lowered = pe::lower(&kernel.source().scop, &kernel.source().system, mapping, reductions, sharing, options)?;
    let schedule = pe::schedule(&lowered, mapping.extent)?;
    Ok((lowered, schedule))
}

/// # Errors
/// Why the PE's results or inputs cannot move as the mapping wants it.
pub(super) fn join(
    kernel: &Kernel,
    mapping: Mapping,
    mut lowered: Lowered,
    schedule: Schedule,
    spec: &DesignSpec,
) -> Result<Vsa, Illegal> {
    let scop = &kernel.source().scop;
    let sources = in_dram(kernel, &lowered);
    reshape::reshape(scop, &mut lowered, &mapping, |array| {
        let members = behind_port_of(kernel, &sources, array);
        asked(scop, spec, &members).unwrap_or_else(|| usable(kernel, spec, &members))
    });
    let dram = arrays(kernel, &lowered, &sources, &mapping, schedule.interval, spec);
    let mut outputs = outputs(scop, &lowered, &dram, &mapping)?;
    if spec.wiring.overlap == Some(true) {
        outputs.iter_mut().for_each(|group| group.slots = 2);
    }
    let inputs = inputs(kernel, &lowered, &outputs, &dram, &mapping);
    let mut vsa = Vsa {
        name: scop.name.to_lowercase(),
        functions: vec![],
        lanes: mapping.lanes() as i64,
        ahead: beats_ahead(spec.wiring.memory_latency.unwrap_or_default().into()),
        away: vec![],
        address_bits: spec.wiring.address_bits.unwrap_or(64),
        lengths: spec.wiring.guard == Some(true),
        unaligned: spec.wiring.unaligned == Some(true),
        uram: spec.wiring.uram.unwrap_or(false),
        overlap: spec.wiring.overlap == Some(true),
        fabric: spec.fabric,
        axes: mapping.axes,
        extent: mapping.extent,
        tile_depth: mapping.tile_depth,
        cases: mapping.cases,
        sizes: sizes(scop, &dram),
        counters: mapping.counters,
        nodes: std::mem::take(&mut lowered.nodes),
        remarks: Remarks {
            statements: lowered.statements.clone(),
            quotes: kernel.quotes.clone(),
            shared: lowered.shared,
        },
        scalars: scalars(scop, &lowered, &dram),
        arrays: dram.into_iter().map(|d| d.array).collect(),
        inputs,
        common: Common::default(),
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

/// The arrays in DRAM that the PEs read or write.
fn in_dram(kernel: &Kernel, lowered: &Lowered) -> Vec<usize> {
    let scop = &kernel.source().scop;
    let used = |a: usize| lowered.inputs.iter().any(|g| g.array == a) || lowered.outputs.iter().any(|g| g.array == a);
    let mut sources: Vec<usize> =
        (0..scop.arrays.len()).filter(|&a| scop.arrays[a].storage == Storage::Dram && used(a)).collect();
    sources.sort_by_key(|&a| kernel.home(a));
    sources
}

/// Those of `sources` that share a port with `array`.
fn behind_port_of(kernel: &Kernel, sources: &[usize], array: usize) -> Vec<usize> {
    sources.iter().copied().filter(|&b| kernel.ports[b] == kernel.ports[array]).collect()
}

/// Bytes per word of the port of `members`, if the user names them.
fn asked(scop: &Scop, spec: &DesignSpec, members: &[usize]) -> Option<u32> {
    port::bus_bytes(&spec.wiring, members.iter().map(|&b| &scop.arrays[b]))
}

/// Bytes of the widest word that the memory behind the port of `members` can use.
fn usable(kernel: &Kernel, spec: &DesignSpec, members: &[usize]) -> u32 {
    let is_on_chip = members.iter().any(|&a| kernel.on_chip[a]);
    let names = members.iter().map(|&b| kernel.source().scop.arrays[b].name.as_str());
    spec.widest_bus(names).filter(|_| !is_on_chip).unwrap_or(port::WIDEST)
}

/// The arrays that the PEs read or write, with the widths of their buses.
fn arrays(
    kernel: &Kernel,
    lowered: &Lowered,
    sources: &[usize],
    mapping: &Mapping,
    interval: i64,
    spec: &DesignSpec,
) -> Vec<InDram> {
    let scop = &kernel.source().scop;
    let mut ports: Vec<usize> = Vec::new();
    let mut dram: Vec<InDram> = Vec::new();
    for &source in sources {
        let array = &scop.arrays[source];
        let port = ports.iter().position(|&p| p == kernel.ports[source]).unwrap_or_else(|| {
            ports.push(kernel.ports[source]);
            ports.len() - 1
        });
        let bus =
            dram.iter().find(|b| b.array.port as usize == port).map(|b| b.array.bus_bytes()).unwrap_or_else(|| {
                let members = behind_port_of(kernel, sources, source);
                asked(scop, spec, &members).unwrap_or_else(|| {
                    bus::choose(scop, lowered, &members, interval, mapping, usable(kernel, spec, &members))
                })
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
                home: kernel.home(source),
            },
        });
    }
    dram
}

/// The scalars, and how many of the arrays are arguments before each.
fn scalars(scop: &Scop, lowered: &Lowered, dram: &[InDram]) -> Vec<Scalar> {
    let position = |source: usize| match scop.arrays[source].binding {
        Binding::Parameter(position) | Binding::Value(position) => position,
        Binding::Global | Binding::Around | Binding::Allocated | Binding::Static => u32::MAX,
        Binding::Local | Binding::Scratch | Binding::Host(_) => u32::MAX,
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
fn sizes(scop: &Scop, dram: &[InDram]) -> Sizes {
    if scop.open_sizes() == 0 {
        return Sizes::default();
    }
    let size = |s: &scop::Size| {
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
        extents: extents.map(|(k, d)| (k, scop.arrays[d.source].extents.clone())).collect(),
    }
}

fn position(dram: &[InDram], source: usize) -> (u32, &DramArray) {
    let at = dram.iter().position(|d| d.source == source).expect("an array that is used");
    (at as u32, &dram[at].array)
}

fn inputs(
    kernel: &Kernel,
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
            .filter(|(_, o)| kernel.source().passed[draft.array] && lagging.is_none() && o.array == index);
        let earlier: Vec<After> = stores.map(|(o, _)| After { output: o as u32, until: Until::Phase }).collect();
        let group =
            footprint::input(draft, index, array.word, if earlier.is_empty() { 0 } else { mapping.phases() }, mapping);
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
