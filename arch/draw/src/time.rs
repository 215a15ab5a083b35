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

/// The most PEs and steps in a diagram.
const PES: i64 = 24;
const STEPS: i64 = 44;
/// The most iterations of a statement that are enumerated.
const POINTS: usize = 1 << 18;
const CELL: (i64, i64) = (58, 44);
const LEFT: i64 = 64;
const TOP: i64 = 64;
const LINE: i64 = 18;

/// The work of one PE in one step.
#[derive(Default)]
struct Cell {
    /// C's iterators.
    iteration: Vec<i64>,
    inputs: BTreeSet<Input>,
    stores: bool,
}

/// An array that feeds a cell, with the input group if PEs pass it on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Input {
    array: usize,
    group: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct At {
    pe: [i64; 2],
    step: i64,
}

/// A value of an array on its way from cell to cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Move {
    array: usize,
    from: At,
    to: At,
}

impl Move {
    fn hop(&self) -> [i64; 2] {
        [self.to.pe[0] - self.from.pe[0], self.to.pe[1] - self.from.pe[1]]
    }
    fn waves(&self) -> i64 {
        self.to.step - self.from.step
    }
}

type Point = (i64, i64);

/// An arrow into a cell, seen from there: most cells are alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    array: usize,
    from: Point,
    dashed: bool,
}

struct Diagram<'a> {
    scop: &'a Scop,
    mapping: &'a Mapping,
    vsa: &'a Vsa,
    /// The phases that are shown: the wave at which each begins, and the trip counts of the counters in it.
    phases: BTreeMap<Vec<i64>, (i64, Vec<i64>)>,
    cells: BTreeMap<At, Cell>,
    moves: BTreeSet<Move>,
}

/// An SVG document. The Vsa follows from the mapping.
pub fn draw(scop: &Scop, system: &System, mapping: &Mapping, vsa: &Vsa) -> String {
    let mut diagram = Diagram {
        scop,
        mapping,
        vsa,
        phases: vsa.phases_before(STEPS),
        cells: BTreeMap::new(),
        moves: BTreeSet::new(),
    };
    let deepest = scop.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0);
    for s in 0..scop.statements.len() {
        diagram.statement(system, s, scop.statements[s].loops.len() == deepest);
    }
    diagram.reordered();
    diagram.draw()
}

impl Diagram<'_> {
    /// PE and step of an iteration; `None` if it is not shown.
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
        shown.then_some(At { pe, step })
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
                        self.cells.entry(here).or_default().inputs.insert(Input { array, group });
                        continue;
                    }
                    Feed::Value { distance, .. } | Feed::Carry { distance, .. } => distance.clone(),
                    Feed::Partial { distance } => distance.iter().map(|a| a.eval(&n)).collect(),
                };
                let there: Vec<i64> = n.iter().zip(from).map(|(x, e)| x - e).collect();
                let from = self.position(&there).filter(|from| *from != here);
                let step = from.map(|from| Move { array, from, to: here });
                self.moves.extend(step.filter(|step| self.is_link(step)));
            }
        }
    }

    /// The input group that brings this element there, if PEs pass it on.
    fn passed_on(&self, array: usize, element: &[i64], at: At) -> Option<usize> {
        let counters = self.vsa.counters_of(at.step);
        // The array may have fewer dimensions than the program's.
        let flat =
            |dims: &[i64], at: &mut dyn Iterator<Item = i64>| dims.iter().zip(at).fold(0, |sum, (d, x)| sum * d + x);
        let wanted = flat(&self.scop.arrays[array].dims, &mut element.iter().copied());
        self.vsa.inputs.iter().position(|g| {
            let from = &self.vsa.arrays[g.array as usize];
            let is_passed = from.name == self.scop.arrays[array].name
                && g.forward.iter().zip(self.vsa.extent).any(|(&f, e)| f && e > 1);
            let dims: &[i64] = if g.subscripts.len() == from.dims.len() { &from.dims } else { &[1] };
            is_passed
                && g.ports.iter().any(|port| {
                    flat(dims, &mut g.subscripts.iter().zip(port).map(|(s, o)| s.eval(&counters, at.pe) + o)) == wanted
                })
        })
    }

    /// Whether the array has a link for it. A sum in any order may have others.
    fn is_link(&self, step: &Move) -> bool {
        let is = |n: &Node| match &n.op {
            Op::Past { hop, waves, .. } => *hop == step.hop() && self.vsa.most(waves) == step.waves(),
            _ => false,
        };
        self.vsa.nodes.iter().any(is)
    }

    /// Adds links of sums in another order than the program's, if both ends execute something.
    fn reordered(&mut self) {
        for node in &self.vsa.nodes {
            let Op::Past { hop, ref waves, .. } = node.op else { continue };
            let waves = self.vsa.most(waves);
            let name = node.name.trim_end_matches("_in");
            let Some(array) = self.scop.arrays.iter().position(|a| a.name.to_lowercase() == name) else { continue };
            if self.moves.iter().any(|a| a.hop() == hop && a.waves() == waves) {
                continue;
            }
            let into = |&to: &At| {
                let from = At { pe: [to.pe[0] - hop[0], to.pe[1] - hop[1]], step: to.step - waves };
                Move { array, from, to }
            };
            self.moves.extend(self.cells.keys().map(into).filter(|a| self.cells.contains_key(&a.from)));
        }
    }

    fn draw(&self) -> String {
        let axes: Vec<usize> = (0..2).filter(|&a| self.vsa.extent[a] > 1 || a == 0).collect();
        let steps = self.cells.keys().map(|k| k.step).max().unwrap_or(0) + 1;
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
        let center = |key: &At| (key.pe[1 - axis] == 0).then(|| at(key.pe[axis], key.step));
        for (to, arrows) in &self.arrows(axis, &center) {
            canvas.stamp(*to, |canvas| {
                arrows.iter().for_each(|a| arrow(canvas, a.from, (0, 0), hue(a.array as u32), a.dashed))
            });
        }
        for (key, cell) in &self.cells {
            let Some(place) = center(key) else { continue };
            let enters = |input: &&Input| !(0..2).any(|axis| self.passing(*key, axis, input).is_some());
            let inputs: BTreeSet<usize> = cell.inputs.iter().filter(enters).map(|f| f.array).collect();
            canvas.stamp(place, |canvas| frame(canvas, cell.stores, &inputs));
        }
        let named = self.cells.iter().filter_map(|(key, cell)| {
            let (x, y) = center(key)?;
            Some(((x, y + 4), cell.iteration.iter().map(i64::to_string).collect::<Vec<_>>().join(",")))
        });
        canvas.texts(Font::new(10, INK.stroke), named);
        x0 + pes * CELL.0
    }

    /// The arrows into each cell along one axis, by the cell's centre.
    fn arrows(&self, axis: usize, center: &impl Fn(&At) -> Option<Point>) -> BTreeMap<Point, BTreeSet<Arrow>> {
        let mut all: BTreeMap<Point, BTreeSet<Arrow>> = BTreeMap::new();
        let mut add = |array: usize, from: &At, to: &At, dashed: bool| {
            let (Some(a), Some(b)) = (center(from), center(to)) else { return };
            all.entry(b).or_default().insert(Arrow { array, from: (a.0 - b.0, a.1 - b.1), dashed });
        };
        self.moves.iter().for_each(|m| add(m.array, &m.from, &m.to, false));
        for (key, cell) in &self.cells {
            for input in &cell.inputs {
                self.passing(*key, axis, input).into_iter().for_each(|from| add(input.array, &from, key, true));
            }
        }
        all
    }

    /// The neighbour along an axis that passes the input on to this cell.
    fn passing(&self, at: At, axis: usize, input: &Input) -> Option<At> {
        input.group.filter(|&g| self.vsa.inputs[g].forward[axis])?;
        let from = self.neighbour(at, axis, !self.vsa.schedule.start[axis].forward())?;
        self.cells.get(&from).filter(|cell| cell.inputs.contains(input)).map(|_| from)
    }

    /// The cell whose PE passes inputs on to the PE of this one.
    fn neighbour(&self, mut at: At, axis: usize, back: bool) -> Option<At> {
        at.pe[axis] += if back { 1 } else { -1 };
        (0..self.vsa.extent[axis]).contains(&at.pe[axis]).then_some(at)
    }

    /// The legend of the colours; returns its lower end.
    fn legend(&self, canvas: &mut Canvas, mut y: i64) -> i64 {
        let x = LEFT - 40;
        let names: Vec<&str> = self
            .scop
            .statements
            .iter()
            .max_by_key(|s| s.loops.len())
            .map_or(vec![], |s| s.loops.iter().map(|l| self.scop.loops[l.index()].name.as_str()).collect());
        let mut moves: BTreeMap<usize, BTreeSet<([i64; 2], i64)>> = BTreeMap::new();
        for step in &self.moves {
            moves.entry(step.array).or_default().insert((step.hop(), step.waves()));
        }
        for (array, name) in self.scop.arrays.iter().map(|a| &a.name).enumerate() {
            let mut parts: Vec<String> = moves
                .get(&array)
                .into_iter()
                .flatten()
                .map(|(hop, waves)| in_words(*hop, *waves, self.vsa.extent))
                .collect();
            let fed = |passed: bool| {
                self.cells.values().any(|c| c.inputs.iter().any(|f| f.array == array && f.group.is_some() == passed))
            };
            if fed(false) {
                parts.push("enters from a PE's own feeder (dot)".into());
            }
            if fed(true) {
                parts.push("enters at the border (dot) and is passed on (dashed)".into());
            }
            if parts.is_empty() {
                continue;
            }
            let color = hue(array as u32);
            canvas.line(&[(x, y - 4), (x + 22, y - 4)], color.stroke, false, true);
            canvas.text(x + 30, y, &format!("{name} {}", parts.join("; ")), Font::new(12, INK.stroke), Anchor::Start);
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
fn frame(canvas: &mut Canvas, stores: bool, inputs: &BTreeSet<usize>) {
    canvas.rect(
        Rect { x: -17, y: -10, w: 34, h: 20 },
        4,
        Hue { stroke: INK.stroke, fill: INK.fill },
        if stores { 2.4 } else { 0.8 },
    );
    for (k, &array) in inputs.iter().enumerate() {
        let color = hue(array as u32);
        canvas.rect(
            Rect { x: 8 * k as i64 - 16, y: -14, w: 7, h: 7 },
            4,
            Hue { stroke: color.stroke, fill: color.stroke },
            0.5,
        );
    }
}

/// A link in words.
fn in_words(hop: [i64; 2], waves: i64, extent: [i64; 2]) -> String {
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
    // The share of the way inside of a frame of 17 by 10.
    let inside = (17.0 / dx.abs().max(1e-9)).min(10.0 / dy.abs().max(1e-9)).min(0.5);
    let point = |f: f64| (a.0 + (dx * f).round() as i64, a.1 + (dy * f).round() as i64);
    canvas.line(&[point(inside), point(1.0 - inside)], color.stroke, dashed, true);
}
