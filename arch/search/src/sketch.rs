//! The I/O network of a shape without its PEs: a lower bound on its transfers and resources.
//!
//! **Problem.** The search needs the network of thousands of shapes per second; lowering a shape to PEs takes
//! milliseconds.
//!
//! **Method.** A *sketch* is a virtual systolic array ([`Vsa`]) with I/O groups and no nodes. Its groups are drafted
//! from the accesses ([`Facts`]), as lowering would draft them from the PEs, and laid out by the very code that lays
//! out finished arrays (`array::io`). So its tiles can be walked and its feeders, collectors and DMA engines counted
//! like those of a finished array.
//!
//! **Invariant.** A sketch has no group, word or cell that the finished array lacks. Where lowering would decide by
//! what the sketch does not know (a cell whose place the emission fixes), the sketch leaves the group out.
//!
//! **Example.** For `C[i][j] += A[i][k] * B[k][j]` with 4×4 PEs and tiles of 4×4×16: two input groups with footprints
//! of 4×16 cells of `A` and 16×4 of `B`, both reloaded in every tile, and one output group with 4×4 cells of `C` that
//! leaves in the last tile of `k`.

use crate::facts::{Access, Facts};
use crate::space::{Grid, Sizes, MOST_DIMS};
use array::contract::walk::beats_ahead;
use array::draft::{InputDraft, PeBox};
use array::io::{collect, footprint, reshape};
use array::kernel::Kernel;
use array::pe::spill::spilled;
use array::vsa::{After, AxisStart, DramArray, InputGroup, OutputGroup, Schedule, Until, Vsa};
use cost::coarse::{Certain, Stored};
use scop::Constraint;
use uniform::affine::{Condition, Form};
use uniform::mapping::{Mapping, Plan};

/// What sketches are of.
pub struct Sketch<'a> {
    pub program: &'a Kernel<'a>,
    pub facts: &'a Facts,
    pub grid: &'a Grid,
    /// Bytes per bus word, by port.
    pub bytes: &'a [i64],
    /// Waves beyond which partial results leave the array; see [`cost::bound::Tiles`].
    pub spill: Option<i64>,
}

impl Sketch<'_> {
    /// The groups behind some ports, for a plan with this initiation interval at least. `None` for a plan that is none.
    pub fn network(&self, plan: Plan, interval: i64, ports: impl Fn(usize) -> bool) -> Option<Vsa> {
        let (program, facts) = (self.program, self.facts);
        let is_tiled = |d: &usize| plan.dims[*d].tile.is_some_and(|tile| tile < facts.extent[*d]);
        let tiled = (0..facts.extent.len()).filter(is_tiled).fold(0, |all, d| all | 1 << d);
        let mapping = Mapping::new(&program.system, plan).ok()?;
        let mut arrays: Vec<DramArray> = vec![];
        let mut inputs = vec![];
        let mut drafts: Vec<(&Access, InputDraft)> = vec![];
        for access in facts.reads.iter().filter(|a| ports(a.port)) {
            let draft = draft(access, &access.forms, &mapping);
            match drafts.iter_mut().find(|(_, other)| other.is_alike(&draft)) {
                Some((_, same)) => same.join(draft),
                None => drafts.push((access, draft)),
            }
        }
        for (access, mut draft) in drafts {
            let array = self.number(access, &mut arrays);
            if access.only_read {
                // The same at all sizes.
                let sized = &program.general.scop;
                let joinable = reshape::joinable(&sized.arrays[access.array]);
                let (bytes, bus) = (access.bytes as u32, self.bytes[access.port] as u32);
                reshape::join_rows(&mut draft, joinable, bytes, bus, &mapping);
            }
            // Values that pass from phase to phase are loaded in each of them.
            let least = if program.passed[access.array] { mapping.phases() } else { 0 };
            inputs.push(footprint::input(&draft, array, self.word(access), least, &mapping));
        }
        let mut outputs: Vec<OutputGroup> = vec![];
        for access in Self::stores(facts, mapping.tile_depth, tiled).filter(|a| ports(a.port)) {
            let array = self.number(access, &mut arrays);
            let (group, back) = self.output(access, array, &mapping);
            inputs.extend(back);
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
            functions: vec![],
            lanes: self.grid.all_lanes(),
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

    /// The stores that are in a sketch. If the emission fixes what moves a cell, or is before the last tile, nobody knows in
    /// which tiles it leaves. `tiled`: dimensions in several tiles, as bits.
    fn stores(facts: &Facts, tile_depth: usize, tiled: u32) -> impl Iterator<Item = &Access> {
        facts.writes.iter().filter(move |a| a.plain && !(a.fixed && tile_depth > 0) && a.early & tiled == 0)
    }

    /// What is certain of the transfers of the whole network of a shape with these sizes.
    pub fn certain(&self, network: &Vsa, sizes: &Sizes) -> Certain {
        let facts = self.facts;
        let begins = |group: &InputGroup| {
            let name = &network.arrays[group.array as usize].name;
            let is_of = |access: &&Access| self.program.scop.arrays[access.array].name == *name;
            // Partial results may come back.
            let comes_back = facts.writes.iter().filter(is_of).any(|store| facts.comes_back(store));
            !comes_back && facts.reads.iter().filter(is_of).all(|load| facts.begins(load))
        };
        let begins = network.inputs.iter().map(begins).collect();
        let valid = |subscript: &Vec<i64>| match subscript.iter().position(|c| *c != 0) {
            Some(d) => facts.extent[d] - sizes.tile[d] * (sizes.tiles[d] - 1),
            None => 1,
        };
        let stored = |store: &Access| match facts.stores_box(store) {
            true => Stored::Box(store.subscripts.iter().map(valid).collect()),
            false => Stored::Some(store.in_last_tile.clone()),
        };
        Certain { begins, stored: Self::stores(facts, network.tile_depth, sizes.tiled).map(stored).collect() }
    }

    /// The array's number among those of the sketch.
    fn number(&self, access: &Access, arrays: &mut Vec<DramArray>) -> u32 {
        let array = &self.program.scop.arrays[access.array];
        let index = arrays.iter().position(|x| x.name == array.name).unwrap_or_else(|| {
            arrays.push(DramArray {
                name: array.name.clone(),
                ty: array.ty,
                dims: access.extents.clone(),
                word: self.word(access),
                port: access.port as u32,
                home: self.program.home(access.array),
            });
            arrays.len() - 1
        });
        index as u32
    }

    /// Elements per bus word.
    fn word(&self, access: &Access) -> u32 {
        (self.bytes[access.port] / access.bytes) as u32
    }

    /// The group of a store; with the group that loads its partial results again, if they go to DRAM and back.
    fn output(&self, access: &Access, array: u32, mapping: &Mapping) -> (OutputGroup, Option<InputGroup>) {
        let draft = draft(access, &access.forms[..1], mapping);
        let moved = [0, 1].map(|a| access.mask >> self.grid.flow.axes[a].min(31) & 1 == 1);
        let moving = |c: usize| draft.subscripts.iter().any(|f| f.counters[c] != 0);
        let in_every_phase = access.classes.iter().all(|&c| access.in_every_phase[c]);
        let sums: Vec<bool> =
            (0..mapping.tile_depth).map(|j| !(moving(j) || j < mapping.phases() && in_every_phase)).collect();
        let long = |most: i64| {
            (0..mapping.tile_depth)
                .filter(|&j| sums[j] && sums[j..].iter().any(|s| !s))
                .any(|j| mapping.stride(j) > most)
        };
        let summed: Vec<usize> = (0..self.facts.extent.len()).filter(|d| access.sum >> d & 1 == 1).collect();
        let most = self.spill.filter(|_| !summed.is_empty());
        let spilled = most.map_or(vec![], |most| spilled(mapping, &summed, moving, most));
        let word = self.word(access);
        let mut group = collect::sketch(&draft, array, word, moved, &sums, &access.classes, mapping);
        group.slots = if self.spill.is_none_or(long) { 2 } else { group.slots };
        // Partial results leave in every tile, and come back.
        spilled.iter().for_each(|&c| group.emit.at[c] = None);
        let comes_back = !spilled.is_empty() && self.facts.comes_back(access);
        (group, comes_back.then(|| footprint::input(&draft, array, word, 0, mapping)))
    }
}

/// A lane that reads other elements than the first one.
struct Lane {
    number: usize,
    /// How much further each of its subscripts is.
    moved: Vec<i64>,
}

/// The group of an access as lowering drafts it: a port for each lane and constant that asks for other elements.
fn draft(access: &Access, forms: &[Vec<scop::Affine>], mapping: &Mapping) -> InputDraft {
    let over_counters = |form: &Vec<scop::Affine>, lane: usize| -> Vec<Form> {
        form.iter()
            .map(|a| {
                let mut f = mapping.form(a, lane);
                mapping.drop_single(&mut f);
                f
            })
            .collect()
    };
    let mut subscripts = over_counters(&forms[0], 0);
    let shift =
        |forms: &[Form]| -> Vec<i64> { forms.iter().zip(&subscripts).map(|(f, b)| f.constant - b.constant).collect() };
    // A lane digit adds the same constant, whatever the other digits.
    let trips = &mapping.lane_trips;
    let digit = |k: usize| {
        let digits: Vec<i64> = (0..trips.len()).map(|other| i64::from(other == k)).collect();
        mapping.lane_number(&digits).map(|lane| shift(&over_counters(&forms[0], lane)))
    };
    let steps: Vec<Option<Vec<i64>>> = (0..trips.len()).map(digit).collect();
    let rank = subscripts.len();
    let moved = |digits: &[i64]| -> Vec<i64> {
        let along = |d: usize| steps.iter().zip(digits).filter_map(|(s, n)| Some(s.as_ref()?[d] * n)).sum();
        (0..rank).map(along).collect()
    };
    let moves = |k: usize| steps[k].iter().flatten().any(|s| *s != 0);
    // One lane of those that read the same.
    let apart = |digits: &Vec<i64>| digits.iter().enumerate().all(|(k, n)| *n == 0 || moves(k));
    let all: Vec<Vec<i64>> = (0..mapping.lanes()).map(|lane| mapping.lane_digits(lane)).filter(apart).collect();
    let lanes: Vec<Lane> = all
        .iter()
        .map(|digits| Lane { number: mapping.lane_number(digits).unwrap_or(0), moved: moved(digits) })
        .collect();
    let ranges = mapping.ranges();
    let within = |domain: &[Constraint], lane: usize| {
        let over = domain.iter().map(|c| Condition { form: mapping.form(&c.expr, lane), equality: c.equality });
        ranges.simplify_all(over).and_then(|all| ranges.narrowed(&all))
    };
    let corners: Vec<usize> =
        (0..lanes.len()).filter(|&l| all[l].iter().enumerate().all(|(k, n)| *n == 0 || *n + 1 == trips[k])).collect();
    // If the lanes at all corners read in a domain, those between them do.
    let reading = |domain: &Vec<Constraint>| -> Vec<usize> {
        let reads = |l: &usize| lanes.len() == 1 || within(domain, lanes[*l].number).is_some();
        if corners.iter().all(reads) {
            (0..lanes.len()).collect()
        } else {
            (0..lanes.len()).filter(reads).collect()
        }
    };
    let mut ports: Vec<Vec<i64>> = vec![];
    for (k, form) in forms.iter().enumerate() {
        let first = shift(&over_counters(form, 0));
        let port = |l: usize| first.iter().zip(&lanes[l].moved).map(|(f, s)| f + s).collect();
        match access.domains.get(k) {
            Some(domains) => ports.extend(domains.iter().flat_map(reading).map(port)),
            None => ports.extend((0..lanes.len()).map(port)),
        }
    }
    if ports.is_empty() {
        ports.push(vec![0; subscripts.len()]);
    }
    ports.sort();
    ports.dedup();
    let first = ports[0].clone();
    subscripts.iter_mut().zip(&first).for_each(|(f, shift)| f.constant += shift);
    ports.iter_mut().for_each(|p| p.iter_mut().zip(&first).for_each(|(x, f)| *x -= f));
    let mut draft =
        InputDraft { array: access.array, subscripts, ports, readers: None, phases: vec![], stored_by: None };
    let all = PeBox::whole(mapping.extent);
    // Only the first and the last lane: other readers would make the bounds tighter.
    let ends = [0, mapping.lanes() - 1];
    let ends = if ends[1] == 0 { &ends[..1] } else { &ends };
    for (domain, &lane) in access.domains.iter().flatten().flat_map(|d| ends.iter().map(move |lane| (d, lane))) {
        // All PEs read already.
        if draft.readers == Some(all) && mapping.phases() == 0 {
            break;
        }
        if let Some(within) = within(domain, lane) {
            draft.read_within(&within, mapping);
        }
    }
    draft
}
