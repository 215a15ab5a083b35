//! Space-time diagrams: PEs across, steps (waves) down, an arrow for every value that one iteration hands to another.
//!
//! An array with two dimensions gives a panel for each: the PEs along one axis, at the border of the other. A cell is
//! an iteration; a dot in it is an operand that a feeder supplies, a thick frame a result that goes to DRAM. Arrows are
//! the links of the array: values that stay run straight down, values that move lean over. Dashed ones are inputs that
//! a PE passes on to the next within the step.

use crate::canvas::{hue, Anchor, Canvas, Font, Hue, Rect, GREY, INK, SMALL};
use array::vsa::{Node, Op, Vsa};
use scop::polyhedron::Polyhedron;
use scop::Scop;
use std::collections::{BTreeMap, BTreeSet};
use uniform::mapping::{Mapping, Role};
use uniform::system::{Feed, System};

/// PEs and steps that are shown at most.
const PES: i64 = 24;
const STEPS: i64 = 44;
/// Iterations that are looked at.
const POINTS: usize = 1 << 18;
const CELL: (i64, i64) = (58, 44);
const LEFT: i64 = 64;
const TOP: i64 = 64;
const LINE: i64 = 18;

/// What happens in one PE at one step.
#[derive(Default)]
struct Cell {
    /// C's iterators.
    iteration: Vec<i64>,
    /// Arrays that feed it, with the input group if it is passed on from PE to PE.
    fed: BTreeSet<(usize, Option<usize>)>,
    stores: bool,
}

/// PE and step.
type At = ([i64; 2], i64);

struct Diagram<'a> {
    scop: &'a Scop,
    mapping: &'a Mapping,
    vsa: &'a Vsa,
    /// The phases that are shown: the wave at which each begins, and how often the counters run in it.
    phases: BTreeMap<Vec<i64>, (i64, Vec<i64>)>,
    cells: BTreeMap<At, Cell>,
    /// Name of the array, from, to.
    arrows: BTreeSet<(usize, At, At)>,
}

/// An SVG document. The mapping is the one that the Vsa was made by.
pub fn draw(scop: &Scop, system: &System, mapping: &Mapping, vsa: &Vsa) -> String {
    let mut diagram = Diagram {
        scop,
        mapping,
        vsa,
        phases: vsa.phases_before(STEPS),
        cells: BTreeMap::new(),
        arrows: BTreeSet::new(),
    };
    let deepest = scop.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0);
    for s in 0..scop.statements.len() {
        diagram.statement(system, s, scop.statements[s].loops.len() == deepest);
    }
    diagram.reordered();
    diagram.draw()
}

impl Diagram<'_> {
    /// PE and step of an iteration; `None` where it is not shown.
    fn position(&self, n: &[i64]) -> Option<At> {
        let (mut pe, mut at) = ([0, 0], vec![0; self.mapping.counters.len()]);
        for (d, row) in self.mapping.plan.transform.iter().enumerate() {
            let mut rest = row.iter().zip(n).map(|(c, x)| c * x).sum::<i64>() - self.mapping.bounds[d].0;
            for digit in &self.mapping.digits[d] {
                let value = rest.div_euclid(digit.weight);
                rest -= value * digit.weight;
                match digit.role {
                    Role::Space(axis) => pe[axis] = value,
                    Role::Lane => {}
                    _ => at[digit.index] = value,
                }
            }
        }
        let (phase, inner) = at.split_at(self.vsa.cased());
        let (before, trips) = self.phases.get(phase)?;
        let step = before + trips[self.vsa.cased()..].iter().zip(inner).fold(0, |wave, (trip, c)| wave * trip + c);
        let shown = pe.iter().all(|&p| p < PES) && (pe[0] == 0 || pe[1] == 0) && step < STEPS;
        shown.then_some((pe, step))
    }

    fn statement(&mut self, system: &System, s: usize, named: bool) {
        let placed = &system.statements[s];
        let statement = &self.scop.statements[s];
        let mut points: Vec<Vec<i64>> = Vec::new();
        for domain in &placed.domain {
            let mut add = |n: &[i64]| {
                points.push(n.to_vec());
                points.len() < POINTS
            };
            Polyhedron::new(system.dims.len(), domain).visit(&mut add);
        }
        for n in points {
            let Some(here) = self.position(&n) else { continue };
            let cell = self.cells.entry(here).or_default();
            if named || cell.iteration.is_empty() {
                let point: Vec<i64> = placed.iterators.iter().map(|a| a.eval(&n)).collect();
                let value = |(k, l): (usize, &scop::LoopId)| {
                    let l = &self.scop.loops[l.index()];
                    l.offset.eval(&point[..k]) + l.step * point[k]
                };
                cell.iteration = statement.loops.iter().enumerate().map(value).collect();
            }
            cell.stores |= placed.live_out.iter().any(|all| all.iter().all(|c| c.holds(&n)));
            for (k, variable) in placed.variables.iter().enumerate() {
                let Some(piece) = variable.pieces.iter().find(|p| p.domain.iter().all(|c| c.holds(&n))) else {
                    continue;
                };
                let array = statement.reads[k].array.index();
                let from = match &piece.feed {
                    Feed::Input { subscripts } => {
                        let element: Vec<i64> = subscripts.iter().map(|a| a.eval(&n)).collect();
                        let group = self.passed_on(array, &element, here);
                        self.cells.entry(here).or_default().fed.insert((array, group));
                        continue;
                    }
                    Feed::Value { distance, .. } | Feed::Carry { distance, .. } => distance.clone(),
                    Feed::Partial { distance } => distance.iter().map(|a| a.eval(&n)).collect(),
                };
                let there: Vec<i64> = n.iter().zip(from).map(|(x, e)| x - e).collect();
                if let Some(from) = self.position(&there).filter(|from| *from != here && self.is_link(*from, here)) {
                    self.arrows.insert((array, from, here));
                }
            }
        }
    }

    /// The input group that brings this element there, if PEs pass it on.
    fn passed_on(&self, array: usize, element: &[i64], (pe, step): At) -> Option<usize> {
        let counters = self.vsa.counters_of(step);
        // The array may have fewer dimensions than the program's.
        let flat =
            |dims: &[i64], at: &mut dyn Iterator<Item = i64>| dims.iter().zip(at).fold(0, |sum, (d, x)| sum * d + x);
        let wanted = flat(&self.scop.arrays[array].dims, &mut element.iter().copied());
        self.vsa.inputs.iter().position(|g| {
            let from = &self.vsa.arrays[g.array as usize];
            let mine = from.name == self.scop.arrays[array].name
                && g.forward.iter().zip(self.vsa.extent).any(|(&f, e)| f && e > 1);
            let dims: &[i64] = if g.subscripts.len() == from.dims.len() { &from.dims } else { &[1] };
            mine && g.ports.iter().any(|port| {
                flat(dims, &mut g.subscripts.iter().zip(port).map(|(s, o)| s.eval(&counters, pe) + o)) == wanted
            })
        })
    }

    /// The array has a link over this hop and number of steps; the order of a free sum may be another one.
    fn is_link(&self, from: At, to: At) -> bool {
        let (over, later) = ([to.0[0] - from.0[0], to.0[1] - from.0[1]], to.1 - from.1);
        let is =
            |n: &Node| matches!(&n.op, Op::Past { hop, waves, .. } if *hop == over && self.vsa.most(waves) == later);
        self.vsa.nodes.iter().any(is)
    }

    /// Links of sums in another order than the program's, wherever both ends execute something.
    fn reordered(&mut self) {
        for node in &self.vsa.nodes {
            let Op::Past { hop, ref waves, .. } = node.op else { continue };
            let waves = self.vsa.most(waves);
            let drawn = |(_, from, to): &(usize, At, At)| {
                [to.0[0] - from.0[0], to.0[1] - from.0[1]] == hop && to.1 - from.1 == waves
            };
            let name = node.name.trim_end_matches("_in");
            let Some(array) = self.scop.arrays.iter().position(|a| a.name.to_lowercase() == name) else { continue };
            if self.arrows.iter().any(|a| drawn(a)) {
                continue;
            }
            let ends: Vec<(At, At)> = self
                .cells
                .keys()
                .map(|&(p, t)| (([p[0] - hop[0], p[1] - hop[1]], t - waves), (p, t)))
                .filter(|(from, _)| self.cells.contains_key(from))
                .collect();
            self.arrows.extend(ends.into_iter().map(|(from, to)| (array, from, to)));
        }
    }

    fn draw(&self) -> String {
        let axes: Vec<usize> = (0..2).filter(|&a| self.vsa.extent[a] > 1 || a == 0).collect();
        let steps = self.cells.keys().map(|k| k.1).max().unwrap_or(0) + 1;
        let mut canvas = Canvas::default();
        let mut x = LEFT;
        for &axis in &axes {
            x = self.panel(&mut canvas, axis, x, steps) + LEFT;
        }
        let height = self.legend(&mut canvas, TOP + steps * CELL.1 + 34);
        canvas.text(LEFT - 40, 24, &self.title(), Font::new(14, INK.stroke).bold(), Anchor::Start);
        canvas.finish((x - 20).max(LEFT + 520), height, &self.title())
    }

    fn title(&self) -> String {
        let axes: Vec<&str> = self.vsa.axes.iter().filter(|a| !a.is_empty()).map(String::as_str).collect();
        let time: Vec<&str> = self
            .mapping
            .plan
            .order
            .iter()
            .filter(|&&d| self.mapping.plan.dims[d].axis.is_none())
            .map(|&d| self.mapping.names[d].as_str())
            .collect();
        format!("{}: PEs over ({}), time ({})", self.vsa.name, axes.join(", "), time.join(", "))
    }

    /// The PEs along one axis; the right end of it.
    fn panel(&self, canvas: &mut Canvas, axis: usize, x0: i64, steps: i64) -> i64 {
        let pes = self.vsa.extent[axis].min(PES);
        let at = |p: i64, t: i64| (x0 + p * CELL.0 + CELL.0 / 2, TOP + t * CELL.1 + CELL.1 / 2);
        for p in 0..pes {
            canvas.text(at(p, 0).0, TOP - 12, &format!("PE {p}"), Font::new(11, INK.stroke), Anchor::Middle);
        }
        if !self.vsa.axes[axis].is_empty() {
            canvas.text(x0, TOP - 26, &self.vsa.axes[axis], SMALL, Anchor::Start);
        }
        for t in 0..steps {
            canvas.text(x0 - 8, at(0, t).1 + 4, &t.to_string(), SMALL, Anchor::End);
            canvas.line(&[(x0, TOP + t * CELL.1), (x0 + pes * CELL.0, TOP + t * CELL.1)], "#d0d7de", false, false);
        }
        let own = |(pe, t): &At| (pe[1 - axis] == 0).then_some((pe[axis], *t));
        // What arrives in a cell, seen from there: most cells are alike.
        let mut arriving: BTreeMap<(i64, i64), BTreeSet<(usize, (i64, i64), bool)>> = BTreeMap::new();
        let mut arrive = |array: usize, from: (i64, i64), to: (i64, i64), dashed: bool| {
            let (a, b) = (at(from.0, from.1), at(to.0, to.1));
            arriving.entry(b).or_default().insert((array, (a.0 - b.0, a.1 - b.1), dashed));
        };
        for (array, from, to) in &self.arrows {
            let (Some(a), Some(b)) = (own(from), own(to)) else { continue };
            arrive(*array, a, b, false);
        }
        let back = self.vsa.schedule.skew[axis] < 0;
        for (key, cell) in &self.cells {
            let Some(here) = own(key) else { continue };
            for &(array, group) in cell.fed.iter().filter(|f| f.1.is_some_and(|g| self.vsa.inputs[g].forward[axis])) {
                if let Some(from) = self
                    .neighbour(*key, axis, back)
                    .filter(|from| self.cells.get(from).is_some_and(|c| c.fed.contains(&(array, group))))
                {
                    arrive(array, (from.0[axis], here.1), here, true);
                }
            }
        }
        for (to, arrows) in &arriving {
            canvas.stamp(*to, |canvas| {
                arrows.iter().for_each(|&(array, from, dashed)| arrow(canvas, from, (0, 0), hue(array as u32), dashed))
            });
        }
        for (key, cell) in &self.cells {
            let Some((p, t)) = own(key) else { continue };
            let enters = |&&(array, group): &&(usize, Option<usize>)| {
                let passed = |axis: usize| group.is_some_and(|g| self.vsa.inputs[g].forward[axis]);
                let from = |axis: usize| {
                    self.neighbour(*key, axis, self.vsa.schedule.skew[axis] < 0).and_then(|from| self.cells.get(&from))
                };
                !(0..2).any(|a| passed(a) && from(a).is_some_and(|c| c.fed.contains(&(array, group))))
            };
            let fed: BTreeSet<usize> = cell.fed.iter().filter(enters).map(|f| f.0).collect();
            canvas.stamp(at(p, t), |canvas| frame(canvas, cell.stores, &fed));
        }
        let named = self.cells.iter().filter_map(|(key, cell)| {
            let (x, y) = own(key).map(|(p, t)| at(p, t))?;
            Some(((x, y + 4), cell.iteration.iter().map(i64::to_string).collect::<Vec<_>>().join(",")))
        });
        canvas.texts(Font::new(10, INK.stroke), named);
        x0 + pes * CELL.0
    }

    /// The cell whose PE passes inputs on to this one's.
    fn neighbour(&self, (mut pe, step): At, axis: usize, back: bool) -> Option<At> {
        pe[axis] += if back { 1 } else { -1 };
        (0..self.vsa.extent[axis]).contains(&pe[axis]).then_some((pe, step))
    }

    /// What each colour stands for; the height of all.
    fn legend(&self, canvas: &mut Canvas, mut y: i64) -> i64 {
        let x = LEFT - 40;
        let names: Vec<&str> = self
            .scop
            .statements
            .iter()
            .max_by_key(|s| s.loops.len())
            .map_or(vec![], |s| s.loops.iter().map(|l| self.scop.loops[l.index()].name.as_str()).collect());
        let mut moves: BTreeMap<usize, BTreeSet<([i64; 2], i64)>> = BTreeMap::new();
        for (array, from, to) in &self.arrows {
            moves.entry(*array).or_default().insert(([to.0[0] - from.0[0], to.0[1] - from.0[1]], to.1 - from.1));
        }
        for (array, name) in self.scop.arrays.iter().map(|a| &a.name).enumerate() {
            let mut said: Vec<String> = moves
                .get(&array)
                .into_iter()
                .flatten()
                .map(|(hop, waves)| said(*hop, *waves, self.vsa.extent))
                .collect();
            let fed = |passed: bool| {
                self.cells.values().any(|c| c.fed.iter().any(|f| f.0 == array && f.1.is_some() == passed))
            };
            if fed(false) {
                said.push("enters from a PE's own feeder (dot)".into());
            }
            if fed(true) {
                said.push("enters at the border (dot) and is passed on (dashed)".into());
            }
            if said.is_empty() {
                continue;
            }
            let color = hue(array as u32);
            canvas.line(&[(x, y - 4), (x + 22, y - 4)], color.stroke, false, true);
            canvas.text(x + 30, y, &format!("{name} {}", said.join("; ")), Font::new(12, INK.stroke), Anchor::Start);
            y += LINE;
        }
        let cut = self.vsa.extent.iter().any(|&e| e > PES) || self.vsa.waves() > STEPS;
        let cut = if cut { "; only the first PEs and steps are shown" } else { "" };
        canvas.text(
            x,
            y,
            &format!("cells: iteration ({}); thick frame: a result leaves{cut}", names.join(", ")),
            Font::new(12, GREY),
            Anchor::Start,
        );
        y + LINE
    }
}

/// A cell around the origin, with a dot for each operand that a feeder supplies.
fn frame(canvas: &mut Canvas, stores: bool, fed: &BTreeSet<usize>) {
    canvas.rect(
        Rect { x: -17, y: -10, w: 34, h: 20 },
        4,
        Hue { stroke: INK.stroke, fill: INK.fill },
        if stores { 2.4 } else { 0.8 },
    );
    for (k, &array) in fed.iter().enumerate() {
        let color = hue(array as u32);
        canvas.rect(
            Rect { x: 8 * k as i64 - 16, y: -14, w: 7, h: 7 },
            4,
            Hue { stroke: color.stroke, fill: color.stroke },
            0.5,
        );
    }
}

/// What a link does, in words.
fn said(hop: [i64; 2], waves: i64, extent: [i64; 2]) -> String {
    let over = if extent[1] > 1 { format!("({}, {})", hop[0], hop[1]) } else { format!("{:+}", hop[0]) };
    let steps = match waves {
        0 => "within the step".to_string(),
        1 => "in one step".to_string(),
        n => format!("in {n} steps"),
    };
    if hop == [0, 0] {
        format!("stays, used again {}", steps.replacen("in ", "after ", 1))
    } else {
        format!("moves by {over} PEs {steps}")
    }
}

/// From cell to cell, leaving their frames free.
fn arrow(canvas: &mut Canvas, a: (i64, i64), b: (i64, i64), color: Hue, dashed: bool) {
    let (dx, dy) = ((b.0 - a.0) as f64, (b.1 - a.1) as f64);
    // How much of the way is inside of a frame of 17 by 10.
    let inside = (17.0 / dx.abs().max(1e-9)).min(10.0 / dy.abs().max(1e-9)).min(0.5);
    let point = |f: f64| (a.0 + (dx * f).round() as i64, a.1 + (dy * f).round() as i64);
    canvas.line(&[point(inside), point(1.0 - inside)], color.stroke, dashed, true);
}
