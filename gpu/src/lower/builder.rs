//! The nodes of a step: see [`crate::lower`].

mod distances;
mod dots;
mod folds;

use super::tidy;
use crate::arrange::{Arrangement, Coordinate, Place, Refusal};
use crate::extent::form_of;
use crate::form::{simplified, Cond, Form};
use crate::ir::{Array, Guard, Margins, Node, NodeId, Note, Op, Passing, Store, Warp};
use crate::space::{at, conditions, Point, Space};
use crate::statements::Statements;
use rustc_hash::FxHashMap;
use scop::{Expr, ExprKind, ScalarType};
use uniform::affine::map::compose;
use uniform::program::Form as Program;
use uniform::system::Feed;

/// Values of a step, at most.
const MOST_NODES: usize = 3000;
/// Instances of a statement in a step, at most.
const MOST_POINTS: i64 = 2048;

/// A value that is computed once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Of a class of statements.
    Class(usize, Point),
    /// Of a read of a statement.
    Read(usize, usize, Point),
    /// Of a fold, joined over all PEs.
    Folded(usize, Point),
}

pub struct Builder<'a> {
    program: &'a Program<'a>,
    statements: &'a Statements,
    space: Space<'a>,
    nodes: Vec<Node>,
    by_op: FxHashMap<(Op, ScalarType), NodeId>,
    values: FxHashMap<Key, NodeId>,
    /// Values that are being computed.
    open: Vec<Key>,
    pasts: FxHashMap<(Key, i64), NodeId>,
    /// Nodes of earlier steps whose value is not built yet.
    pending: Vec<(NodeId, Key)>,
    stores: Vec<Store>,
}

impl<'a> Builder<'a> {
    pub fn new(program: &'a Program, statements: &'a Statements, arrangement: &'a Arrangement) -> Builder<'a> {
        Builder {
            program,
            statements,
            space: Space::new(arrangement),
            nodes: vec![],
            by_op: FxHashMap::default(),
            values: FxHashMap::default(),
            open: vec![],
            pasts: FxHashMap::default(),
            pending: vec![],
            stores: vec![],
        }
    }

    /// The warp without grid, margins and time loop.
    pub fn build(mut self) -> Result<Warp, Refusal> {
        for s in 0..self.statements.inlined.len() {
            self.store(s)?;
        }
        while let Some((past, key)) = self.pending.pop() {
            let of = self.value(&key)?;
            let Op::Past { steps, start, .. } = self.nodes[past.index()].op else { continue };
            self.nodes[past.index()].op = Op::Past { of, steps, start };
        }
        let a = self.space.arrangement;
        let array = |a: &scop::Array| Array {
            name: a.name.clone(),
            source: a.name.clone(),
            copied: false,
            scratch: a.is_temporary(),
            ty: a.ty.cell(),
            dims: a.dims.clone(),
            extents: extents(a),
            read: false,
            written: false,
            passing: if a.by_value().is_some() { Passing::Value } else { Passing::Unused },
        };
        let mut warp = Warp {
            name: self.program.scop.name.clone(),
            sizes: self.statements.system.parameters().len(),
            arrays: self.program.scop.arrays.iter().map(array).collect(),
            width: if a.skewed { 1 } else { a.registers },
            registers: a.registers,
            lane_scalar: self.space.lane_scalar,
            scalars: self.space.scalars,
            grid: vec![],
            margins: Margins::default(),
            time: None,
            rows: 0,
            nodes: self.nodes,
            stores: self.stores,
            pairs: None,
            block: None,
            interior: vec![],
            warps: 4,
            map: vec![],
        };
        tidy::spread(&mut warp);
        Ok(warp)
    }

    /// The points of a step over the coordinates that vary; the others are at their first value.
    fn points(&self, varies: impl Fn(&Coordinate) -> bool) -> Result<Vec<Point>, Refusal> {
        let a = self.space.arrangement;
        let mut points: Vec<Point> = vec![vec![]];
        for c in &a.coordinates {
            let values: Vec<i64> = match c.place {
                _ if !varies(c) => vec![if c.place == Place::Unrolled(None) { c.lo } else { 0 }],
                Place::Unrolled(None) => (c.lo..=c.hi).collect(),
                Place::Unrolled(Some(tile)) => (0..tile).collect(),
                Place::Lanes if a.skewed => (0..a.registers).collect(),
                Place::Loop => (0..c.simd).collect(),
                _ => vec![0],
            };
            if points.len() as i64 * values.len() as i64 > MOST_POINTS {
                return Err(too_many(a));
            }
            points = points.iter().flat_map(|p| values.iter().map(move |&v| [p.as_slice(), &[v]].concat())).collect();
        }
        Ok(points)
    }

    /// Stores what stays of a statement.
    fn store(&mut self, s: usize) -> Result<(), Refusal> {
        let placed = &self.statements.system.statements[s];
        if placed.live_out.is_empty() {
            return Ok(());
        }
        let a = self.space.arrangement;
        let last = self.last_coordinates(s);
        let once = |c: &Coordinate| last.iter().flatten().any(|d| c.row[d.0] != 0);
        // The time loop is over before there is a result.
        let behind = a.time.is_some_and(|d| once(&a.coordinates[d]));
        for point in self.points(|c| !once(c))? {
            if !self.is_first(s, &point) {
                continue;
            }
            let mut n = self.space.iteration(&point);
            last.iter().flatten().for_each(|(d, at)| n[*d] = at.clone());
            for conj in &placed.live_out {
                let Some(when) = self.stored_when(s, conj, &n, &point) else { continue };
                let value = match () {
                    () if self.statements.folds.of[s].is_some() => self.value(&Key::Folded(s, point.clone()))?,
                    () if self.statements.inlined[s] || last.is_some() => self.statement(s, &n, &point)?,
                    () => self.value(&class_key(self.statements, a, self.statements.class[s], point.clone()))?,
                };
                let at: Vec<Form> = placed.write.iter().map(|a| at(a, &n)).collect();
                let inside = behind || self.space.holds_inside(&when);
                let note = Note { statement: s, instance: self.instance(&point) };
                let array = self.program.scop.statements[s].write.array.index();
                if self.program.scop.arrays[array].is_temporary() && !a.choice.phased {
                    continue;
                }
                self.stores.push(Store { array, at, value, when, inside, side: None, note });
            }
        }
        Ok(())
    }

    /// The values of the unrolled coordinates, in words.
    fn instance(&self, point: &Point) -> String {
        self.instance_without(point, None)
    }

    /// The same without a loop of which it has several values.
    fn instance_without(&self, point: &Point, lanes: Option<usize>) -> String {
        let a = self.space.arrangement;
        let one = |(d, (c, &x)): (usize, (&crate::arrange::Coordinate, &i64))| match c.place {
            Place::Loop if lanes == Some(d) => None,
            Place::Unrolled(None) if lanes == Some(d) => {
                Some(format!("{} = {x} ... {}", c.name, c.hi.min(x + c.simd - 1)))
            }
            Place::Unrolled(None) if c.extent() > 1 => Some(format!("{} = {x}", c.name)),
            Place::Unrolled(Some(_)) => Some(format!("{} = {}_0 + {x}", c.name, c.name)),
            Place::Lanes if a.skewed => Some(format!("register {x}")),
            Place::Loop if c.simd > 1 => Some(format!("lane {x} of {}", c.name)),
            _ => None,
        };
        a.coordinates.iter().zip(point).enumerate().filter_map(one).collect::<Vec<_>>().join(", ")
    }

    fn simplified(&self, all: Vec<Cond>) -> Option<Vec<Cond>> {
        let all = match self.space.arrangement.coordinates.iter().any(|c| c.simd > 1) {
            true => all.into_iter().map(Cond::tightened).collect::<Option<_>>()?,
            false => all,
        };
        simplified(all, &self.space.scalars, self.space.units)
    }

    /// A node, or the one that computes the same.
    fn node(&mut self, op: Op, ty: ScalarType) -> NodeId {
        if let Some(&id) = self.by_op.get(&(op.clone(), ty)) {
            return id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.by_op.insert((op.clone(), ty), id);
        let name = match &op {
            Op::Load { array, .. } | Op::Argument { array, .. } => self.program.scop.arrays[*array].name.clone(),
            Op::Hop { of, .. } | Op::Guard(Guard { otherwise: of, .. }) => self.nodes[of.index()].name.clone(),
            _ => String::new(),
        };
        self.nodes.push(Node::new(op, ty, false, name));
        id
    }

    /// The value of a key in this step.
    fn value(&mut self, key: &Key) -> Result<NodeId, Refusal> {
        if let Some(&id) = self.values.get(key) {
            return Ok(id);
        }
        if self.open.contains(key) {
            return Err(Refusal::new("a value would be used before it is there: in one step it depends on itself")
                .help("give time a coordinate that grows along the dependence, such as --time i+j"));
        }
        if self.nodes.len() > MOST_NODES || self.open.len() > MOST_NODES {
            return Err(too_many(self.space.arrangement));
        }
        self.open.push(key.clone());
        let id = match key {
            Key::Class(class, point) => self.class(*class, point)?,
            Key::Read(s, read, point) => {
                let n = self.space.iteration(point);
                self.pieces(*s, *read, &n, point)?
            }
            Key::Folded(s, point) => self.folded(*s, point)?,
        };
        self.open.pop();
        self.values.insert(key.clone(), id);
        Ok(id)
    }

    /// The value of a class: that of the member whose domain the instance is in.
    fn class(&mut self, class: usize, point: &Point) -> Result<NodeId, Refusal> {
        if self.statements.dots[class].is_some() {
            return self.dot(class, point);
        }
        let n = self.space.iteration(point);
        let mut members: Vec<(usize, Vec<Vec<Cond>>)> = vec![];
        for s in self.statements.members(class) {
            let domain = &self.statements.system.statements[s].domain;
            let parts: Vec<Vec<Cond>> = domain.iter().filter_map(|c| self.simplified(conditions(c, &n))).collect();
            if !parts.is_empty() {
                members.push((s, parts));
            }
        }
        let Some(main) = members
            .iter()
            .position(|(_, parts)| parts.iter().any(|p| self.space.holds_inside(p)))
            .or(members.len().checked_sub(1))
        else {
            // Nobody selects an instance outside of every domain.
            let ty = self.program.scop.array(self.program.scop.statements[class].write.array).ty;
            return Ok(self.node(Op::Const(0), ty));
        };
        let (main, _) = members.remove(main);
        let mut value = self.statement(main, &n, point)?;
        for (s, parts) in members {
            let then = self.statement(s, &n, point)?;
            for when in parts {
                value = self.guard(when, then, value);
            }
        }
        Ok(value)
    }

    /// `then` where the conditions hold.
    fn guard(&mut self, when: Vec<Cond>, then: NodeId, otherwise: NodeId) -> NodeId {
        if when.is_empty() || then == otherwise {
            return then;
        }
        let inside = self.space.holds_inside(&when);
        let ty = self.nodes[then.index()].ty;
        self.node(Op::Guard(Guard { when, then, otherwise, inside, side: None }), ty)
    }

    /// The value that a statement stores at an instance.
    fn statement(&mut self, s: usize, n: &[Form], point: &Point) -> Result<NodeId, Refusal> {
        let before = self.nodes.len();
        let statement = &self.program.scop.statements[s];
        let id = self.expression(&statement.rhs, s, n, point)?;
        if id.index() >= before {
            let note = Note { statement: s, instance: self.instance(point) };
            let node = &mut self.nodes[id.index()];
            if node.note.is_none() {
                node.name.clone_from(&self.program.scop.array(statement.write.array).name);
                node.note = Some(note);
            }
        }
        Ok(id)
    }

    fn expression(&mut self, e: &Expr, s: usize, n: &[Form], point: &Point) -> Result<NodeId, Refusal> {
        let iterators = &self.statements.system.statements[s].iterators;
        let depth = n.len();
        let over = |a: &scop::Affine| at(&compose(a, iterators, depth), n);
        let op = match &e.kind {
            ExprKind::Const(bits) => Op::Const(*bits),
            ExprKind::Iter(a) => Op::Index(over(a)),
            ExprKind::Holds(all) => {
                let conds = all.iter().map(|c| Cond { form: over(&c.expr), equality: c.equality }).collect();
                match self.simplified(conds) {
                    None => Op::Const(0),
                    Some(rest) if rest.is_empty() => Op::Const(1),
                    Some(rest) => Op::Holds(rest),
                }
            }
            // An inlined statement is read at other instances than its own.
            ExprKind::Read(k) if self.statements.inlined[s] || self.statements.folds.is_pinned(s, *k) => {
                return self.pieces(s, *k, n, point)
            }
            ExprKind::Read(k) => return self.value(&Key::Read(s, *k, point.clone())),
            ExprKind::Host(..) => return Err(Refusal::new("the region calls a function that only a host computes")),
            ExprKind::Unary(op, a) => Op::Unary(*op, self.expression(a, s, n, point)?),
            ExprKind::Cast(a) if a.ty == e.ty => return self.expression(a, s, n, point),
            ExprKind::Cast(a) => Op::Cast(self.expression(a, s, n, point)?),
            ExprKind::Lookup(table, a) => Op::Lookup(table.clone(), self.expression(a, s, n, point)?),
            ExprKind::Binary(op, a, b) => {
                Op::Binary(*op, self.expression(a, s, n, point)?, self.expression(b, s, n, point)?)
            }
            ExprKind::Select(c, a, b) => Op::Select(
                self.expression(c, s, n, point)?,
                self.expression(a, s, n, point)?,
                self.expression(b, s, n, point)?,
            ),
            ExprKind::Fma(a, b, c) => Op::Fma(
                self.expression(a, s, n, point)?,
                self.expression(b, s, n, point)?,
                self.expression(c, s, n, point)?,
            ),
        };
        Ok(self.node(op, e.ty))
    }

    /// The value of a read at an instance: one of its pieces.
    fn pieces(&mut self, s: usize, read: usize, n: &[Form], point: &Point) -> Result<NodeId, Refusal> {
        let placed = &self.statements.system.statements[s];
        let mut found: Vec<(Vec<Cond>, NodeId)> = vec![];
        let chain = |feed: &Feed| match feed {
            Feed::Value { statement, .. } => statement.index() == s,
            feed => matches!(feed, Feed::Partial { .. }),
        };
        let initial = self.statements.folds.of[s].as_ref().is_some_and(|f| f.read == read);
        for piece in placed.variables[read].pieces.iter().filter(|p| !initial || !chain(&p.feed)) {
            let Some(when) = self.simplified(conditions(&piece.when, n)) else { continue };
            if let Some(value) = self.feed(s, read, &piece.feed, n, point)? {
                found.push((when, value));
            }
        }
        let inside = found.iter().position(|(when, _)| self.space.holds_inside(when));
        let Some(last) = found.len().checked_sub(1) else {
            let ty = self.program.scop.array(self.program.scop.statements[s].reads[read].array).ty;
            return Ok(self.node(Op::Const(0), ty));
        };
        let otherwise = found[inside.unwrap_or(last)].1;
        let mut value = otherwise;
        for (when, then) in found.into_iter().filter(|f| f.1 != otherwise) {
            value = self.guard(when, then, value);
        }
        Ok(value)
    }

    /// The value of a feed; `None` if there is none at any instance of this point.
    fn feed(
        &mut self,
        s: usize,
        read: usize,
        feed: &Feed,
        n: &[Form],
        point: &Point,
    ) -> Result<Option<NodeId>, Refusal> {
        match feed {
            Feed::Input { subscripts } => {
                let at: Vec<Form> = subscripts.iter().map(|a| at(a, n)).collect();
                self.input(self.program.scop.statements[s].reads[read].array.index(), at).map(Some)
            }
            Feed::Value { statement, distance } if self.statements.inlined[statement.index()] => {
                let from: Vec<Form> = n.iter().zip(distance).map(|(x, e)| x.plus(-e)).collect();
                self.statement(statement.index(), &from, point).map(Some)
            }
            feed if self.statements.folds.is_pinned(s, read) => self.pinned(feed, n, point).map(Some),
            Feed::Value { statement, .. } if self.last_coordinates(statement.index()).is_some() => {
                Err(Refusal::new("all PEs use a value that they make together: it is there when they have ended")
                    .help("compute the sum along time: put another loop on axis 0"))
            }
            Feed::Value { statement, distance } => {
                let class = self.statements.class[statement.index()];
                let (statements, a) = (self.statements, self.space.arrangement);
                self.from(distance, point, |p| class_key(statements, a, class, p))
            }
            Feed::Carry { statement, read, distance } => {
                let (s, read) = (statement.index(), *read);
                self.from(distance, point, |p| Key::Read(s, read, p))
            }
            Feed::Partial { distance } if distance.iter().any(|a| !a.is_constant()) => {
                Err(Refusal::new("a sum over two loops goes on where the inner one ends, which a size decides")
                    .help("give the sizes of inner loops of a sum constants, or sum over each loop by itself"))
            }
            Feed::Partial { distance } => {
                let constant: Vec<i64> = distance.iter().map(|a| a.constant).collect();
                let (statements, a) = (self.statements, self.space.arrangement);
                self.from(&constant, point, |p| class_key(statements, a, statements.class[s], p))
            }
        }
    }

    /// An element of an array.
    fn input(&mut self, array: usize, at: Vec<Form>) -> Result<NodeId, Refusal> {
        let source = &self.program.scop.arrays[array];
        let op = match source.by_value() {
            Some(_) => Op::Argument { array, element: 0 },
            None if source.is_temporary() && !self.space.arrangement.choice.phased => {
                return Err(Refusal::new(format!("`{}` is read where the region has not written it", source.name)))
            }
            None => Op::Load { array, at, each: 1 },
        };
        if source.ty == ScalarType::BOOL {
            let cell = self.node(op, source.ty.cell());
            return Ok(self.node(Op::Cast(cell), source.ty));
        }
        Ok(self.node(op, source.ty))
    }

    fn type_of(&self, key: &Key) -> (ScalarType, String) {
        let scop = &self.program.scop;
        let array = match key {
            Key::Class(s, _) | Key::Folded(s, _) => scop.array(scop.statements[*s].write.array),
            Key::Read(s, read, _) => scop.array(scop.statements[*s].reads[*read].array),
        };
        (array.ty, array.name.clone())
    }
}

/// The key of a class; a sum of several lanes has one value for all of them.
fn class_key(statements: &Statements, a: &Arrangement, class: usize, mut point: Point) -> Key {
    if let Some(dot) = &statements.dots[class] {
        point[dot.coordinate] -= dots::lane(dot, a, &point);
    }
    Key::Class(class, point)
}

/// The extents of an array over the sizes.
fn extents(array: &scop::Array) -> Vec<Form> {
    match array.extents.is_empty() {
        true => array.dims.iter().map(|&d| Form::constant(d)).collect(),
        false => array.extents.iter().map(form_of).collect(),
    }
}

fn too_many(a: &Arrangement) -> Refusal {
    let long: Vec<String> = a
        .coordinates
        .iter()
        .filter(|c| matches!(c.place, Place::Unrolled(_)) && c.extent() > 1)
        .map(|c| format!("{} ({})", c.name, c.extent()))
        .collect();
    Refusal::new(format!("one step has too many values: these loops are unrolled in it: {}", long.join(", ")))
        .help("tile one of them, such as --tile i=8, or give it to --time outermost")
}
