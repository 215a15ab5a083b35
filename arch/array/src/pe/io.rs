//! What enters and leaves the array: drafts of the input and output groups.

use crate::draft::{Coordinates, InputDraft, OutputDraft, OutputDraftPort, StoredBy};
use crate::pe::lower::Lower;
use crate::vsa::{NodeId, Op};
use scop::{Affine, Constraint, ScalarType};
use uniform::affine::{Condition, Form};
use uniform::mapping::Mapping;
use uniform::refusal::{Illegal, Unstorable};
use uniform::system::Store;

impl Lower<'_> {
    pub(super) fn output(&mut self, s: usize) -> Result<(), Illegal> {
        self.system.statements[s].stores.iter().try_for_each(|store| self.store(s, store))
    }

    fn store(&mut self, s: usize, store: &Store) -> Result<(), Illegal> {
        let placed = &self.system.statements[s];
        let statement = &self.scop.statements[s];
        let Some(cells) = store.cells.clone() else {
            return Err(Illegal::Unstorable {
                array: self.scop.array(statement.write.array).name.clone(),
                why: Unstorable::NotConvex,
            });
        };
        let (view, emit_when) = (placed.view.clone(), &store.when);
        let coordinates = equal_coordinates(&placed.steps, &placed.domain);
        let mut ports: Vec<OutputDraftPort> = Vec::new();
        let mut lanes = Vec::new();
        let spilled = self.spilled(s);
        // Of phases in which the statement is not executed nothing is stored, not even outside of the array.
        let during = placed.during.as_ref().filter(|_| self.mapping.loops().has_cases());
        let phased: Vec<Vec<Constraint>> = emit_when
            .iter()
            .map(|when| during.into_iter().fold(when.clone(), |when, during| [when, during.clone()].concat()))
            .collect();
        let emit_when = &phased;
        for lane in 0..self.mapping.lanes() {
            let when: Vec<Vec<Condition>> = match &self.reductions[s] {
                Some(reduction)
                    if !spilled.is_empty() || self.is_shared(reduction) || self.ends_in_any_lane(reduction) =>
                {
                    self.partial_done(s, reduction, emit_when, &spilled, lane)
                }
                _ => emit_when.iter().filter_map(|c| self.conditions(s, c, &[], lane)).collect(),
            };
            if when.is_empty() {
                continue;
            }
            let enable = self.guard_any(&when);
            let value = self.value(s, lane)?;
            let value = self.converted(value, self.array_type(s).cell(), "store");
            ports.push(OutputDraftPort { value, enable, offset: vec![], when });
            lanes.push(lane);
        }
        if ports.is_empty() {
            return Ok(());
        }
        let mut forms = coordinates.iter().map(|over| {
            let mut base: Vec<Form> = over.iter().map(|a| self.lanes.form(a, 0)).collect();
            let offset = |&lane: &usize| over.iter().map(|a| self.lanes.more(a, lane)).collect();
            let offsets: Vec<Vec<i64>> = lanes.iter().map(offset).collect();
            substitute_fixed(&mut base, &ports, self.mapping);
            Coordinates { subscripts: base, offsets }
        });
        let Coordinates { subscripts, offsets } = forms.next().expect("the subscripts themselves");
        let equal = forms.collect();
        ports.iter_mut().zip(offsets).for_each(|(port, offset)| port.offset = offset);
        let array = statement.write.array.index();
        self.out.outputs.push(OutputDraft {
            statement: s,
            cases: during.map(|_| self.cases(s).into_iter().flatten().collect()),
            array,
            subscripts,
            equal,
            view,
            ports,
            cells,
            spilled,
        });
        Ok(())
    }

    /// The partial result stored when the cell was last visited.
    pub(super) fn read_back(&mut self, s: usize, k: usize, lane: usize, spilled: &[usize]) -> NodeId {
        let write = self.system.statements[s].write.clone();
        let (node, group) = self.input_port(s, k, lane, &write);
        self.out.inputs[group].read_in(self.mapping.extent.map(|e| (0, e - 1)));
        let last = *spilled.last().expect("a spilled counter");
        let between: i64 = (last + 1..self.mapping.tile_depth)
            .filter(|&counter| self.out.inputs[group].subscripts.iter().any(|f| f.counters[counter] != 0))
            .map(|counter| self.mapping.counters[counter].trip)
            .product();
        self.out.inputs[group].stored_by = Some(StoredBy { statement: s, lag: between - 1 });
        node
    }

    /// The element at `subscripts`, read where `when` holds.
    pub(super) fn input(
        &mut self,
        s: usize,
        k: usize,
        lane: usize,
        subscripts: &[Affine],
        when: &[Condition],
    ) -> NodeId {
        let (node, group) = self.input_port(s, k, lane, subscripts);
        if let Some(known) = self.ranges().narrowed(when) {
            self.out.inputs[group].read_in([0, 1].map(|a| known[self.mapping.counters.len() + a]));
            self.out.inputs[group].read_during(&known[..self.mapping.phases()]);
        }
        node
    }

    /// The value read, and the input group that brings it.
    fn input_port(&mut self, s: usize, k: usize, lane: usize, subscripts: &[Affine]) -> (NodeId, usize) {
        let array = self.scop.statements[s].reads[k].array.index();
        let mut forms: Vec<Form> = subscripts.iter().map(|a| self.lanes.form(a, lane)).collect();
        if forms.is_empty() {
            forms.push(Form { constant: 0, counters: vec![0; self.mapping.counters.len()], space: [0, 0] });
        }
        for form in &mut forms {
            self.mapping.drop_single(form);
        }
        let same = |d: &InputDraft| {
            d.array == array
                && d.subscripts.iter().zip(&forms).all(|(x, y)| x.counters == y.counters && x.space == y.space)
        };
        let group = match self.out.inputs.iter().position(same) {
            Some(g) => g,
            None => {
                self.out.inputs.push(InputDraft {
                    array,
                    subscripts: forms.clone(),
                    ports: vec![vec![0; forms.len()]],
                    readers: None,
                    phases: vec![],
                    stored_by: None,
                });
                self.out.inputs.len() - 1
            }
        };
        let draft = &mut self.out.inputs[group];
        let offset: Vec<i64> = forms.iter().zip(&draft.subscripts).map(|(f, b)| f.constant - b.constant).collect();
        let port = draft.ports.iter().position(|p| *p == offset).unwrap_or_else(|| {
            draft.ports.push(offset);
            draft.ports.len() - 1
        });
        let (ty, name) = (self.scop.arrays[array].ty, self.name_of(s, k));
        let cell = self.node(Op::Input { group: group as u32, port: port as u32 }, ty.cell(), &name);
        (self.converted(cell, ty, &name), group)
    }

    pub(super) fn converted(&mut self, node: NodeId, ty: ScalarType, name: &str) -> NodeId {
        if self.out.nodes[node.index()].ty == ty {
            node
        } else {
            self.node(Op::Cast(node), ty, name)
        }
    }

    /// Ports in order of their offsets; the first one's offset becomes part of the group's subscripts.
    pub(super) fn sort_ports(&mut self) {
        for (g, draft) in self.out.inputs.iter_mut().enumerate() {
            let mut order: Vec<usize> = (0..draft.ports.len()).collect();
            order.sort_by(|&a, &b| draft.ports[a].cmp(&draft.ports[b]));
            let first = draft.ports[order[0]].clone();
            for (form, shift) in draft.subscripts.iter_mut().zip(&first) {
                form.constant += shift;
            }
            let rank: Vec<u32> = (0..order.len()).map(|p| order.iter().position(|&o| o == p).unwrap() as u32).collect();
            draft.ports =
                order.iter().map(|&o| draft.ports[o].iter().zip(&first).map(|(x, f)| x - f).collect()).collect();
            for node in &mut self.out.nodes {
                if let Op::Input { group, port } = &mut node.op {
                    if *group == g as u32 {
                        *port = rank[*port as usize];
                    }
                }
            }
        }
    }
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
