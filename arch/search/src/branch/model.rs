//! What does not change during a search: the program, its facts under each transform, and what follows from them for
//! one grid or shape. Several cores read it at once.

use super::assembler::Assembler;
use super::coverage::{Coverage, Reached};
use super::packing::Packings;
use super::products;
use super::products::Product;
use super::refusals::Kind;
use super::task::{wavefront, Task};
use super::widths::Ports;
use crate::facts::Facts;
use crate::space::{Flow, Grid, Inner, Order, Orders, Packing, Shape, Sizes, NONE};
use array::assemble::SPILL_BEYOND;
use array::contract::dram::MemoryTiming;
use array::kernel::Kernel;
use cost::board::Resources;
use cost::bound::BEFORE;
use uniform::design::DesignSpec;
use uniform::fabric::Fabric;
use uniform::mapping::Plan;
use uniform::space_time::transform;

pub(super) struct Model<'a> {
    pub program: &'a Kernel<'a>,
    pub limits: Resources,
    pub assembler: Assembler<'a>,
    /// Per transform.
    pub facts: Vec<Facts>,
    /// Per transform.
    pub ports: Vec<Ports>,
    /// Per transform; empty until [`Model::list_orders`].
    orders: Vec<Orders>,
    /// Only orders near the program's are searched, not those that merely shorten waits.
    pub near_orders: bool,
    pub coverage: Coverage<'a>,
    /// Per statement.
    products: Vec<Vec<Product>>,
    /// Products in a DSP slice, at most.
    pub packed: i64,
    /// An iteration has one product of integers, at most.
    one_product: bool,
    /// Some product may need no slice.
    small_products: bool,
    /// Only arrays in which none do are searched.
    pub apart: bool,
    /// Per transform: lanes whose products share slices.
    pub packings: Vec<Vec<Packing>>,
    /// Waves beyond which partial results leave the array, if they ever do.
    pub spill: Option<i64>,
    pub address_bits: u32,
    /// Deep memories are UltraRAM.
    pub uram: bool,
    pub fabric: Fabric,
    /// The least latencies of a port's memory: of loads, of stores.
    reading: i64,
    writing: i64,
}

/// The facts of every transform; with a wavefront if values wait in every order of the loops otherwise.
fn facts(program: &Kernel, spec: &DesignSpec) -> Vec<Facts> {
    let transforms = transform::transforms(&program.system);
    let mut all: Vec<Facts> = transforms.iter().map(|t| Facts::new(program, spec, t)).collect();
    if all[0].always_waits() {
        all.extend(wavefront(program).map(|transform| Facts::of_front(program, spec, &transform)));
    }
    all
}

impl<'a> Model<'a> {
    pub fn new(task: &Task<'a>) -> Model<'a> {
        let (program, wiring) = (task.program, &task.spec.wiring);
        let facts = facts(program, task.spec);
        let packings = Packings::new(program, task.spec);
        let timings = || facts[0].most.ports.iter().map(|port| port.timing);
        let nearest = |of: fn(MemoryTiming) -> i64| timings().map(of).min().unwrap_or(0);
        let (reading, writing) = (nearest(|m| m.read_latency), nearest(|m| m.write_latency));
        Model {
            program,
            limits: task.limits,
            assembler: Assembler::new(task),
            ports: facts.iter().map(|facts| Ports::new(program, task.spec, facts)).collect(),
            packed: packings.most,
            one_product: packings.products() <= 1,
            small_products: packings.small,
            apart: false,
            packings: facts.iter().map(|facts| packings.under(facts)).collect(),
            facts,
            orders: vec![],
            near_orders: false,
            coverage: Coverage::new(program),
            products: products::products(program, task.spec.arithmetic.dot.unwrap_or_default()),
            // If a sum's wait follows from sizes at run time, it waits in the array.
            spill: (!program.is_sized()).then(|| wiring.spill_beyond.map_or(SPILL_BEYOND, i64::from)),
            address_bits: wiring.address_bits.unwrap_or(64),
            uram: wiring.uram.unwrap_or(false),
            fabric: task.spec.fabric,
            reading,
            writing,
        }
    }

    pub fn list_orders(&mut self) {
        self.orders = self.facts.iter().map(Orders::new).collect();
    }

    /// A bus wider than its memory may be of use.
    pub fn passes_more(&self) -> bool {
        self.facts.iter().flat_map(|facts| &facts.ports).any(|port| port.passes_more)
    }

    /// From the start to the first beat of a load, at least.
    pub fn before(&self, facts: &Facts) -> i64 {
        BEFORE + if facts.reads.iter().all(|load| facts.begins(load)) { self.reading } else { 0 }
    }

    /// From the last of so many beats that drain the last results to the end, at least: one of them stores something.
    pub fn behind(&self, facts: &Facts, beats: i64) -> i64 {
        let stores = facts.writes.iter().all(|store| facts.stores_box(store));
        if stores {
            (self.writing - (beats - 1).max(0)).max(0)
        } else {
            0
        }
    }

    /// No design of any kind takes fewer cycles.
    pub fn floor(&self) -> i64 {
        self.facts.iter().map(Facts::floor).min().unwrap_or(0)
    }

    /// Lanes of a flow's arrays, at most: each that multiplies takes a DSP slice, or its part of one; other lanes are
    /// limited by the array's size alone.
    pub fn most_lanes(&self, flow: &Flow) -> i64 {
        let multiplies = self.program.scop.statements.iter().any(|s| products::multiplies(&s.rhs));
        let in_slice = if self.apart { 1 } else { self.in_slice(flow) };
        let each = if multiplies && !self.small_products { in_slice } else { in_slice.max(4) };
        self.limits.dsp.max(1) * each
    }

    /// Products of one slice in arrays of a flow, at most. Lanes of a sum share no factor.
    pub fn in_slice(&self, flow: &Flow) -> i64 {
        let carried = &self.facts[flow.facts as usize].carried;
        let sums = flow.lanes == NONE || carried.summed[flow.lanes as usize];
        let apart = sums && flow.beside == Packing::NO.dims && self.one_product;
        if apart {
            1
        } else {
            self.packed
        }
    }

    pub fn facts_of(&self, grid: &Grid) -> &Facts {
        &self.facts[grid.flow.facts as usize]
    }

    pub fn ports_of(&self, grid: &Grid) -> &Ports {
        &self.ports[grid.flow.facts as usize]
    }

    /// Per dimension, the inner iterations of the grid's shapes, over the widest words.
    pub fn options(&self, grid: &Grid) -> Vec<Vec<crate::space::Choice>> {
        let wide = self.ports_of(grid).widest().bytes();
        grid.options(self.facts_of(grid), |port| wide[port])
    }

    pub fn sizes(&self, shape: &Shape) -> Sizes {
        shape.grid.sizes(&self.facts_of(&shape.grid).extent, &shape.inner)
    }

    /// Orders of a grid's shapes with these tiled dimensions.
    pub fn orders_in(&self, grid: &Grid, tiled: u32) -> &[Order] {
        let k = grid.flow.facts as usize;
        self.orders[k].of(&self.facts[k], tiled)
    }

    pub fn order(&self, shape: &Shape) -> &Order {
        &self.orders_in(&shape.grid, self.sizes(shape).tiled)[shape.order as usize]
    }

    /// The orders to search in shapes of the grid, each with its number.
    pub fn orders_worth<'m>(
        &'m self,
        grid: &'m Grid,
        inner: &'m Inner,
        tiled: u32,
    ) -> impl Iterator<Item = (usize, &'m Order)> {
        let (orders, facts) = (self.orders_in(grid, tiled), self.facts_of(grid));
        let interval = move |order: &Order| order.interval(facts, grid, inner);
        let shorter = move |order: &Order, plain: u16| interval(order) < interval(&orders[plain as usize]);
        orders.iter().enumerate().filter(move |(_, order)| match order.instead {
            None => true,
            Some(plain) => facts.carried.floats || !self.near_orders && shorter(order, plain),
        })
    }

    /// The initiation interval of a shape, at least.
    pub fn interval(&self, shape: &Shape) -> i64 {
        self.order(shape).interval(self.facts_of(&shape.grid), &shape.grid, &shape.inner)
    }

    pub fn plan(&self, shape: &Shape) -> Plan {
        shape.plan(self.facts_of(&shape.grid), &self.order(shape).dims)
    }

    pub fn kind(&self, shape: &Shape) -> Kind {
        let depth = self.facts_of(&shape.grid).extent.len();
        let inner = (0..depth).filter(|&d| shape.inner[d] > 1).fold(0u32, |m, d| m | 1 << d);
        Kind { flow: shape.grid.flow, tiled: self.sizes(shape).tiled, inner, order: shape.order }
    }

    /// PEs that each statement reaches, and what products of floats take in them, at least.
    pub fn products(&self, grid: &Grid) -> (Reached, Resources) {
        let facts = self.facts_of(grid);
        let reached = self.coverage.pes(facts, grid);
        if self.products.iter().all(Vec::is_empty) {
            return (reached, Resources::default());
        }
        let need = products::least(&self.products, grid, facts, &reached, &self.coverage.lanes(facts, grid));
        (reached, need)
    }
}
