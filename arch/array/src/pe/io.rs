//! What enters and leaves the array: drafts of the input and output groups.
//!
//! An *input group* is one C array read through one linear access function; reads that differ only by constants are its
//! ports. Example: `a[2*i + p0]` and `a[2*i + p0 + 1]` are ports `(0)` and `(1)` of one group, `b[i]` is another one.
//! An *output group* is what one statement stores, a port per lane. A draft says which elements these are; buffers and
//! bus words follow in [`crate::io`].
//!
//! Source: AutoSA, section 4.3 (I/O groups).

use crate::draft::{Coordinates, InputDraft, Lowered, OutputDraft, OutputDraftPort, PeBox, StoredBy};
use crate::pe::conditions::Conditions;
use crate::vsa::Op;
use scop::{Affine, Constraint};
use uniform::affine::{Condition, Form};
use uniform::mapping::Mapping;

pub(super) struct Inputs<'a> {
    pub conditions: &'a Conditions<'a>,
    pub drafts: Vec<InputDraft>,
}

/// A port of an input group.
#[derive(Clone, Copy)]
pub(super) struct InputPort {
    group: usize,
    port: usize,
}

impl InputPort {
    pub fn op(self) -> Op {
        Op::Input { group: self.group as u32, port: self.port as u32 }
    }
}

impl Inputs<'_> {
    /// The port that brings the element at `subscripts`, read where `when` holds.
    pub fn read(&mut self, array: usize, lane: usize, subscripts: &[Affine], when: &[Condition]) -> InputPort {
        let port = self.port(array, lane, subscripts);
        let Conditions { mapping, .. } = self.conditions;
        if let Some(values) = self.conditions.ranges().narrowed(when) {
            self.drafts[port.group].read_within(&values, mapping);
        }
        port
    }

    /// The port that brings back the partial result that statement `s` stored in the last tile with the same cells.
    pub fn read_back(&mut self, array: usize, s: usize, lane: usize, spilled: &[usize]) -> InputPort {
        let Conditions { system, mapping, .. } = self.conditions;
        let port = self.port(array, lane, &system.statements[s].write);
        let draft = &mut self.drafts[port.group];
        draft.read_in(PeBox::whole(mapping.extent));
        let last = *spilled.last().expect("a spilled counter");
        let between: i64 = (last + 1..mapping.tile_depth)
            .filter(|&counter| draft.subscripts.iter().any(|f| f.counters[counter] != 0))
            .map(|counter| mapping.counters[counter].trip)
            .product();
        draft.stored_by = Some(StoredBy { statement: s, lag: between - 1 });
        port
    }

    fn port(&mut self, array: usize, lane: usize, subscripts: &[Affine]) -> InputPort {
        let Conditions { mapping, lanes, .. } = self.conditions;
        let mut forms: Vec<Form> = subscripts.iter().map(|a| lanes.form(a, lane)).collect();
        if forms.is_empty() {
            forms.push(self.conditions.zero());
        }
        forms.iter_mut().for_each(|form| mapping.drop_single(form));
        let same = |d: &InputDraft| {
            d.array == array
                && d.subscripts.iter().zip(&forms).all(|(x, y)| x.counters == y.counters && x.space == y.space)
        };
        let group = self.drafts.iter().position(same).unwrap_or_else(|| {
            self.drafts.push(InputDraft {
                array,
                subscripts: forms.clone(),
                ports: vec![vec![0; forms.len()]],
                readers: None,
                phases: vec![],
                stored_by: None,
            });
            self.drafts.len() - 1
        });
        let draft = &mut self.drafts[group];
        let offset: Vec<i64> = forms.iter().zip(&draft.subscripts).map(|(f, b)| f.constant - b.constant).collect();
        let port = draft.ports.iter().position(|p| *p == offset).unwrap_or_else(|| {
            draft.ports.push(offset);
            draft.ports.len() - 1
        });
        InputPort { group, port }
    }
}

/// Ports in order of their offsets; the first one's offset becomes part of the group's subscripts.
pub(super) fn sort_ports(lowered: &mut Lowered) {
    for (g, draft) in lowered.inputs.iter_mut().enumerate() {
        let mut order: Vec<usize> = (0..draft.ports.len()).collect();
        order.sort_by(|&a, &b| draft.ports[a].cmp(&draft.ports[b]));
        let first = draft.ports[order[0]].clone();
        for (form, shift) in draft.subscripts.iter_mut().zip(&first) {
            form.constant += shift;
        }
        let rank: Vec<u32> = (0..order.len()).map(|p| order.iter().position(|&o| o == p).unwrap() as u32).collect();
        draft.ports = order.iter().map(|&o| draft.ports[o].iter().zip(&first).map(|(x, f)| x - f).collect()).collect();
        for node in &mut lowered.nodes {
            if let Op::Input { group, port } = &mut node.op {
                if *group == g as u32 {
                    *port = rank[*port as usize];
                }
            }
        }
    }
}

/// What one lane of a statement stores.
pub(super) struct Stored {
    pub lane: usize,
    pub port: OutputDraftPort,
}

/// The output group of statement `s`, which stores these cells.
pub(super) fn output(
    conditions: &Conditions,
    s: usize,
    array: usize,
    cells: Vec<Constraint>,
    stored: Vec<Stored>,
    spilled: Vec<usize>,
) -> OutputDraft {
    let Conditions { mapping, lanes, .. } = conditions;
    let placed = &conditions.system.statements[s];
    let (lane_numbers, mut ports): (Vec<usize>, Vec<_>) = stored.into_iter().map(|x| (x.lane, x.port)).unzip();
    let mut forms = equal_coordinates(&placed.steps, &placed.domain).into_iter().map(|over| {
        let mut base: Vec<Form> = over.iter().map(|a| lanes.form(a, 0)).collect();
        let offset = |&lane: &usize| over.iter().map(|a| lanes.more(a, lane)).collect();
        let offsets: Vec<Vec<i64>> = lane_numbers.iter().map(offset).collect();
        substitute_fixed(&mut base, &ports, mapping);
        Coordinates { subscripts: base, offsets }
    });
    let Coordinates { subscripts, offsets } = forms.next().expect("the subscripts themselves");
    let equal = forms.collect();
    ports.iter_mut().zip(offsets).for_each(|(port, offset)| port.offset = offset);
    let cases = during(conditions, s).map(|_| conditions.cases(s).into_iter().flatten().collect());
    OutputDraft { statement: s, cases, array, subscripts, equal, view: placed.view.clone(), ports, cells, spilled }
}

/// The phases in which statement `s` is executed, if there are cases of phases. In others nothing is stored, not even
/// outside of the array.
pub(super) fn during<'a>(conditions: &'a Conditions, s: usize) -> Option<&'a Vec<Constraint>> {
    conditions.system.statements[s].during.as_ref().filter(|_| conditions.mapping.loops().has_cases())
}

/// Counters that have one value whenever anything is emitted do not move the cells.
fn substitute_fixed(base: &mut [Form], ports: &[OutputDraftPort], mapping: &Mapping) {
    let counters = base.first().map_or(0, |f| f.counters.len());
    for j in 0..counters {
        let always = mapping.counters[j]
            .limit()
            .filter(|_| ports.iter().flat_map(|p| &p.when).all(|all| all.iter().any(|c| mapping.is_end(j, c))));
        if let Some(end) = always.or_else(|| mapping.end(j, ports.iter().flat_map(|p| &p.when))) {
            for form in base.iter_mut() {
                form.counters[end] += form.counters[j];
                form.counters[j] = 0;
            }
            continue;
        }
        let value = |conjunction: &Vec<Condition>| conjunction.iter().find_map(|c| c.fixes(j));
        let mut values = ports.iter().flat_map(|p| &p.when).map(value);
        let Some(Some(first)) = values.next() else { continue };
        if values.all(|v| v == Some(first)) {
            for form in base.iter_mut() {
                form.constant += form.counters[j] * first;
                form.counters[j] = 0;
            }
        }
    }
}

/// `values`, and what they are with one coordinate replaced by others that equal it on the domain.
fn equal_coordinates(values: &[Affine], domain: &[Vec<Constraint>]) -> Vec<Vec<Affine>> {
    let mut all = vec![values.to_vec()];
    let equalities = domain.first().filter(|_| domain.len() == 1).into_iter().flatten().filter(|c| c.equality);
    for Constraint { expr, .. } in equalities {
        for (d, value) in values.iter().enumerate() {
            for sign in [1, -1] {
                let coeffs: Vec<i64> = value.coeffs.iter().zip(&expr.coeffs).map(|(a, e)| a + sign * e).collect();
                let replaces = value.coeffs.iter().zip(&coeffs).any(|(before, after)| *before != 0 && *after == 0);
                if replaces {
                    let mut other = values.to_vec();
                    other[d] = Affine { coeffs, constant: value.constant + sign * expr.constant };
                    all.push(other);
                }
            }
        }
    }
    all
}
