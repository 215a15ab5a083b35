//! From a plan to an [`Arrangement`]: what a lane, a register, a step and a warp of the grid are.
//!
//! **Terms.** A *coordinate* is a row of the plan's transform. Its *place* is one of four: the PEs of a warp ([`Place::Lanes`]),
//! unrolled in every step, the time loop, or the grid of warps. Sizes at run time are coordinates with a place of their own.
//!
//! **Method.** Axis 0 of the plan becomes lanes and registers. Axis 1 is unrolled. A time coordinate that no dependence
//! crosses goes to the grid. Of the others, a short one is unrolled, as if its steps were registers; one long one, or a
//! wavefront, is the time loop.
//!
//! ```text
//! 2-D window, --space c,p --time r+p,q
//! c     lanes · 4 registers           r+p   time loop: a row of x in each step
//! p     unrolled: sums of P rows      q     unrolled
//! ```

use crate::extent::Extent;
use crate::form::Form;
use crate::ir::LANES;
pub use crate::refusal::Refusal;
use crate::statements::Statements;
use uniform::affine::unimodular_inverse;
use uniform::mapping::{row_name, Plan};
use uniform::program::Form as Program;

/// Why an attempt to make the program of a warp failed.
pub enum Attempt {
    /// Values pass along all PEs of axis 0, so it cannot be cut into warps.
    Along,
    Refused(Refusal),
}

impl From<Refusal> for Attempt {
    fn from(refusal: Refusal) -> Attempt {
        Attempt::Refused(refusal)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A size at run time, a kernel argument.
    Size,
    Lanes,
    /// Every value has an instance of its own in the step; with a tile: this many, and the tiles are an axis of the
    /// grid.
    Unrolled(Option<i64>),
    Loop,
    Grid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Over the loops' names, such as `r+p`.
    pub name: String,
    pub row: Vec<i64>,
    /// Least and greatest value over all statements.
    pub lo: i64,
    pub hi: i64,
    /// The greatest value as a form over sizes, if there are sizes and it is one.
    pub end: Option<Form>,
    pub place: Place,
    /// Values of a step: lanes of the SIMD digit, or 1.
    pub simd: i64,
}

impl Coordinate {
    pub fn extent(&self) -> i64 {
        self.hi - self.lo + 1
    }
    /// The last step of a loop with lanes, from 0.
    pub fn last_step(&self) -> i64 {
        (self.hi - self.lo) / self.simd
    }
}

/// How a lane gets what its neighbours have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// From the neighbour, by shuffles; PEs at the end of the warp have no result.
    Shuffled,
    /// From the cache, once more.
    Reloaded,
}

/// What a map leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Registers of a row in each lane; `None`: words of 16 bytes.
    pub registers: Option<i64>,
    pub inputs: Inputs,
    pub ahead: i64,
    /// All PEs of axis 0 are in one warp.
    pub whole: bool,
    /// The innermost loop that no value crosses is the time loop, so that rows of inputs are loaded once.
    pub streamed: bool,
    /// Two instances in the halves of registers.
    pub paired: bool,
    /// Warps of a block share their operands, which come through shared memory.
    pub shared: bool,
    /// The sizes at run time have remainders that make rows of arrays whole words.
    pub words: bool,
    /// The program is one phase of several: local arrays pass values between them, in the device's memory.
    pub phased: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    pub coordinates: Vec<Coordinate>,
    /// `n = inverse · m`.
    pub inverse: Vec<Vec<i64>>,
    /// The coordinate of lanes.
    pub lanes: usize,
    /// The coordinate of the time loop; that of lanes if there are several strips.
    pub time: Option<usize>,
    /// A warp runs this many strips of PEs, one after the other: a sum over more PEs than it has.
    pub strips: i64,
    pub registers: i64,
    /// Values hop within a step, so lane `l` runs `l` steps late and its registers run one after the other.
    pub skewed: bool,
    pub choice: Choice,
}

/// A loop of at most this many iterations is unrolled.
const UNROLLED: i64 = 32;
/// A wavefront of more steps is a loop.
const WAVEFRONT: i64 = 8;
/// The tile of an unrolled coordinate that is not whole.
const TILE: i64 = 8;
/// Registers of a lane for one row, at most.
pub const MOST_REGISTERS: i64 = 32;
/// Bytes that a lane loads at once.
pub const WORD: i64 = 16;

/// # Errors
/// What of the plan has no place in a warp.
pub fn arrange(
    program: &Program,
    statements: &Statements,
    plan: &Plan,
    choice: Choice,
) -> Result<Arrangement, Refusal> {
    let system = &statements.system;
    let inverse = unimodular_inverse(&plan.transform).ok_or_else(|| Refusal::new("the transform is not unimodular"))?;
    let mut coordinates = vec![];
    let domains = statements.domains();
    for (d, row) in plan.transform.iter().enumerate() {
        let (name, row) = (row_name(system, row), row.clone());
        if system.parameters().contains(&d) {
            let (lo, hi) = (1, system.dims[d].hi);
            coordinates.push(Coordinate { name, row, lo, hi, end: None, place: Place::Size, simd: 1 });
            continue;
        }
        let Extent { lo, hi, end, .. } =
            Extent::of(&domains, &row, &system.maxima()).ok_or_else(|| Refusal::new("a loop without bounds"))?;
        let simd = plan.dims[d].simd;
        coordinates.push(Coordinate { name, row, lo, hi, end, place: Place::Unrolled(None), simd });
    }
    let lanes = plan.dims.iter().position(|d| d.axis == Some(0));
    let lanes = lanes.ok_or_else(|| {
        Refusal::new("no space coordinate: a GPU needs an axis of lanes")
            .help("name a loop with many iterations, as in --space i")
    })?;
    coordinates[lanes].place = Place::Lanes;
    let distances = statements.distances();
    let moved = |d: usize, e: &Vec<i64>| plan.transform[d].iter().zip(e).map(|(a, b)| a * b).sum::<i64>();
    let folded = |d: usize| statements.folds.are_over(&plan.transform[d]);
    let crossed = |d: usize| folded(d) || distances.iter().any(|e| moved(d, e) != 0);
    places(&mut coordinates, plan, &crossed, choice.streamed)?;
    let parted = |d: &usize| matches!(coordinates[*d].place, Place::Unrolled(Some(_)));
    if let Some(d) = (0..coordinates.len()).find(|d| folded(*d) && parted(d)) {
        let name = &coordinates[d].name;
        return Err(Refusal::new(format!("a sum over all PEs passes over {name}, and one warp runs a tile of it"))
            .help(format!("leave the tile of {name} out, or sum over two long loops at most")));
    }
    let time = coordinates.iter().position(|c| c.place == Place::Loop);
    let still = |e: &Vec<i64>| (0..coordinates.len()).all(|d| d == lanes || moved(d, e) == 0);
    let skewed = distances.iter().any(|e| moved(lanes, e) != 0 && still(e));
    if skewed && time.is_none() {
        return Err(Refusal::new(
            "values hop from PE to PE within a step, and there is no time loop to skew the lanes in",
        )
        .help("give the loop of more than 32 iterations to --time"));
    }
    let divided = |c: &&Coordinate| c.simd > 1 && !matches!(c.place, Place::Loop | Place::Unrolled(None));
    if let Some(c) = coordinates.iter().find(divided) {
        return Err(Refusal::new(format!(
            "{} has SIMD lanes, and no step of a warp has four of its iterations",
            c.name
        ))
        .help(format!("give {} to --time, without a tile", c.name)));
    }
    if skewed && coordinates.iter().any(|c| c.simd > 1) {
        return Err(
            Refusal::new("values hop from PE to PE within a step, and a loop has SIMD lanes").help("leave --simd out")
        );
    }
    let whole = choice.whole || skewed || folded(lanes);
    let extent = coordinates[lanes].extent();
    let tile = plan.dims[lanes].tile.filter(|t| *t < extent);
    // Values hop to their neighbours in the same strip only.
    let alone = distances.iter().all(|e| moved(lanes, e) == 0);
    if choice.shared && (whole || time.is_none() || !alone) {
        return Err(Refusal::new("warps that share operands have values that pass in time alone"));
    }
    let many = folded(lanes) && alone && time.is_none() && (tile.is_some() || extent > LANES * MOST_REGISTERS);
    let registers = registers(program, plan.dims[lanes].tile, extent, whole && !many, choice)?;
    let (strips, time) = match strips(&coordinates[lanes], registers) {
        several @ 2.. if many => (several, Some(lanes)),
        _ => (1, time),
    };
    Ok(Arrangement { coordinates, inverse, lanes, time, strips, registers, skewed, choice: Choice { whole, ..choice } })
}

/// Gives every coordinate but sizes and that of lanes its place.
fn places(
    coordinates: &mut [Coordinate],
    plan: &Plan,
    crossed: &dyn Fn(usize) -> bool,
    streamed: bool,
) -> Result<(), Refusal> {
    let order: Vec<usize> =
        plan.order.iter().copied().filter(|&d| coordinates[d].place == Place::Unrolled(None)).collect();
    let mut long = vec![];
    for &d in &order {
        let (extent, tile, axis) = (coordinates[d].extent(), plan.dims[d].tile, plan.dims[d].axis.is_some());
        let mixed = coordinates[d].row.iter().filter(|c| **c != 0).count() > 1;
        let tile = tile.filter(|t| *t < extent);
        coordinates[d].place = match () {
            () if extent == 1 => Place::Unrolled(None),
            () if !crossed(d) && !axis && tile.is_none() => Place::Grid,
            () if !crossed(d) && axis && tile.is_none() && extent > TILE => Place::Unrolled(Some(TILE)),
            () if tile.is_some() => Place::Unrolled(tile),
            () if axis && extent > UNROLLED => {
                let name = &coordinates[d].name;
                return Err(Refusal::new(format!(
                    "{name} is on axis 1, so the registers of a lane would hold {extent} values of it; {UNROLLED} are the limit"
                ))
                .help(format!("tile it, such as --tile {name}=8, or make it time")));
            }
            () if axis || extent <= if mixed { WAVEFRONT } else { UNROLLED } => Place::Unrolled(None),
            () => {
                long.push(d);
                Place::Loop
            }
        };
    }
    if streamed {
        let batch = order.iter().rev().find(|d| coordinates[**d].place == Place::Grid).filter(|_| long.is_empty());
        let d = *batch.ok_or_else(|| Refusal::new("no loop is left to be time"))?;
        coordinates[d].place = Place::Loop;
    }
    for &d in long.iter().skip(1) {
        coordinates[d].place = Place::Unrolled(Some(TILE));
    }
    Ok(())
}

/// Strips of PEs from the first aligned one.
fn strips(lanes: &Coordinate, registers: i64) -> i64 {
    (lanes.hi - lanes.lo.div_euclid(registers) * registers) / (LANES * registers) + 1
}

/// Registers of a lane.
fn registers(program: &Program, tile: Option<i64>, extent: i64, whole: bool, choice: Choice) -> Result<i64, Refusal> {
    let needed = |pes: i64| (pes + LANES - 1) / LANES;
    let bytes =
        program.scop.arrays.iter().filter(|a| !a.is_temporary()).map(|a| i64::from(a.ty.bytes())).max().unwrap_or(4);
    let registers = match (whole, tile, choice.registers) {
        (true, ..) => needed(extent),
        (_, Some(tile), _) => needed(tile),
        (_, None, Some(registers)) => registers,
        // As many registers as the unrolled coordinate has: each operand is used as often as the other one.
        (_, None, None) if choice.shared => (2 * WORD / bytes).max(1),
        (_, None, None) => (WORD / bytes).max(1).min(needed(extent)),
    };
    if registers > MOST_REGISTERS {
        let most = MOST_REGISTERS * LANES;
        let fault = Refusal::new(format!(
            "one warp would hold {extent} PEs along axis 0, {registers} registers in each lane for every value; {most} \
             PEs are the limit"
        ));
        return Err(fault.help("put a shorter loop on axis 0, or tile it if no value passes along the whole loop"));
    }
    Ok(registers)
}
