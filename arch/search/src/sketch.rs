//! The I/O network of a shape without its PEs: the groups that lowering would ask for, laid out by the very code that
//! lays out finished arrays. A sketch bounds transfers and the network's resources from below.

use crate::facts::{Access, Facts};
use crate::space::{Grid, MOST_DIMS};
use array::contract::walk::beats_ahead;
use array::draft::{InputDraft, PeBox};
use array::io::{collect, hull, reshape};
use array::kernel::Kernel;
use array::pe::spill::spilled;
use array::vsa::{After, AxisStart, DramArray, OutputGroup, Schedule, Until, Vsa};
use uniform::affine::{Condition, Form};
use uniform::mapping::{Mapping, Plan};

/// Of a plan with at least so many cycles between two waves. `widths`: bytes per word, by port; `ports`: those whose
/// groups are wanted; `spill`: see [`cost::bound::Tiles`]. `None` for a plan that is none.
pub fn sketch(
    program: &Kernel,
    facts: &Facts,
    grid: &Grid,
    (plan, interval): (Plan, i64),
    widths: &[i64],
    spill: Option<i64>,
    ports: impl Fn(usize) -> bool,
) -> Option<Vsa> {
    let mapping = Mapping::new(&program.system, plan).ok()?;
    let mut arrays: Vec<DramArray> = vec![];
    let mut numbered = |a: &Access| -> u32 {
        let array = &program.scop.arrays[a.array];
        let index = arrays.iter().position(|x| x.name == array.name).unwrap_or_else(|| {
            let word = (widths[a.port] / a.bytes) as u32;
            arrays.push(DramArray {
                name: array.name.clone(),
                ty: array.ty,
                dims: a.extents.clone(),
                word,
                port: a.port as u32,
                scratch: program.scratch(a.array),
            });
            arrays.len() - 1
        });
        index as u32
    };
    let mut inputs = vec![];
    for access in facts.reads.iter().filter(|a| ports(a.port)) {
        let array = numbered(access);
        let mut draft = draft(access, &access.bands, &mapping);
        if access.only_read {
            // As at all sizes.
            let sized = &program.general.scop;
            reshape::join_rows(
                &mut draft,
                reshape::joinable(&sized.arrays[access.array]),
                access.bytes as u32,
                &mapping,
            );
        }
        // Loaded in each phase where values pass between them.
        let least = if program.passed[access.array] { mapping.phases() } else { 0 };
        inputs.push(hull::input(&draft, array, (widths[access.port] / access.bytes) as u32, least, &mapping));
    }
    let mut outputs: Vec<OutputGroup> = vec![];
    // In which visits a cell leaves is not known where the emission fixes what moves it.
    for access in facts.writes.iter().filter(|a| ports(a.port) && a.plain && !(a.held && mapping.tile_depth > 0)) {
        let array = numbered(access);
        let draft = draft(access, &access.bands[..1], &mapping);
        let moved = [0, 1].map(|a| access.mask >> grid.flow.axes[a].min(31) & 1 == 1);
        let moving = |c: usize| draft.subscripts.iter().any(|f| f.counters[c] != 0);
        let in_every_phase = access.cases.iter().all(|&c| access.sure[c]);
        let sums: Vec<bool> =
            (0..mapping.tile_depth).map(|j| !moving(j) && !(j < mapping.phases() && in_every_phase)).collect();
        let long = |most: i64| {
            (0..mapping.tile_depth)
                .filter(|&j| sums[j] && sums[j..].iter().any(|s| !s))
                .any(|j| mapping.stride(j) > most)
        };
        let summed: Vec<usize> = (0..facts.extent.len()).filter(|d| access.sum >> d & 1 == 1).collect();
        let spilled =
            spill.filter(|_| !summed.is_empty()).map_or(vec![], |most| spilled(&mapping, &summed, moving, most));
        let word = (widths[access.port] / access.bytes) as u32;
        let mut group = collect::sketch(&draft, array, word, moved, &sums, &access.cases, &mapping);
        group.slots = if spill.is_none_or(long) { 2 } else { group.slots };
        // Partial results leave in every visit, and come back.
        if !spilled.is_empty() {
            spilled.iter().for_each(|&c| group.emit.at[c] = None);
            if facts.comes_back(access) {
                inputs.push(hull::input(&draft, array, word, 0, &mapping));
            }
        }
        outputs.push(group);
    }
    for group in &mut inputs {
        let stores = outputs
            .iter()
            .enumerate()
            .filter(|(_, o)| o.array == group.array && group.reload >= mapping.phases() && mapping.phases() > 0);
        group.after = stores.map(|(o, _)| After { output: o as u32, until: Until::Phase }).collect();
    }
    debug_assert!(facts.extent.len() <= MOST_DIMS);
    Some(Vsa {
        lanes: grid.lanes,
        ahead: beats_ahead(0),
        axes: mapping.axes,
        extent: mapping.extent,
        tile_depth: mapping.tile_depth,
        cases: mapping.cases,
        counters: mapping.counters,
        arrays,
        inputs,
        outputs,
        schedule: Schedule { start: [1, 1].map(AxisStart::even), interval, ..Schedule::default() },
        ..Vsa::empty("")
    })
}

/// The input group of an access as lowering drafts it: a port for each lane and constant that asks for other elements.
fn draft(access: &Access, bands: &[Vec<scop::Affine>], mapping: &Mapping) -> InputDraft {
    let form = |band: &Vec<scop::Affine>, lane: usize| -> Vec<Form> {
        band.iter()
            .map(|a| {
                let mut f = mapping.form(a, lane);
                mapping.drop_single(&mut f);
                f
            })
            .collect()
    };
    let mut subscripts = form(&bands[0], 0);
    let apart =
        |forms: &[Form]| -> Vec<i64> { forms.iter().zip(&subscripts).map(|(f, b)| f.constant - b.constant).collect() };
    // Lanes are numbered along one dimension, so their elements are equally far apart.
    let step = if mapping.lanes() > 1 { apart(&form(&bands[0], 1)) } else { vec![0; subscripts.len()] };
    let lanes = if step.iter().all(|s| *s == 0) { 1 } else { mapping.lanes() as i64 };
    let mut ports: Vec<Vec<i64>> = vec![];
    for band in bands {
        let first = apart(&form(band, 0));
        ports.extend((0..lanes).map(|l| first.iter().zip(&step).map(|(f, s)| f + l * s).collect()));
    }
    ports.sort();
    ports.dedup();
    let first = ports[0].clone();
    subscripts.iter_mut().zip(&first).for_each(|(f, shift)| f.constant += shift);
    ports.iter_mut().for_each(|p| p.iter_mut().zip(&first).for_each(|(x, f)| *x -= f));
    let mut draft =
        InputDraft { array: access.array, subscripts, ports, readers: None, phases: vec![], stored_by: None };
    let ranges = mapping.ranges();
    let all = PeBox::whole(mapping.extent);
    // Of the lanes the first and the last one: where others read, too, bounds are only less tight.
    let lanes = [0, mapping.lanes() - 1];
    let lanes = if lanes[1] == 0 { &lanes[..1] } else { &lanes };
    for (domain, &lane) in access.domains.iter().flat_map(|d| lanes.iter().map(move |lane| (d, lane))) {
        // More cannot read than all.
        if draft.readers == Some(all) && mapping.phases() == 0 {
            break;
        }
        let over = domain.iter().map(|c| Condition { form: mapping.form(&c.expr, lane), equality: c.equality });
        let known = ranges.simplify_all(over).and_then(|all| ranges.narrowed(&all));
        if let Some(known) = known {
            draft.read_within(&known, mapping);
        }
    }
    draft
}
