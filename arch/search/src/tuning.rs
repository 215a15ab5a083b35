//! Every constant that tunes the search, one sentence each: its unit, and what it trades. None of them decides what is
//! correct: a larger number costs time or memory, a smaller one loses designs or proofs.

// The space of designs.

/// Lanes of a PE at most; more lanes give wider dot products and a larger space.
pub const LANES_PER_PE: i64 = 64;
/// Loops that lanes are along at most: that of a sum, and two whose products share DSP slices.
pub const LOOPS_OF_LANES: usize = 3;
/// Loops up to which all orders are listed once for all sets of tiled loops; in deeper nests only the orders of the
/// tiled loops are listed, which saves n! orders and loses some.
pub const LOOPS_WITH_ALL_ORDERS: usize = 7;
/// Loops up to which statements are projected onto each pair of loops; the projections tighten bounds on PEs and cost
/// isl calls.
pub const LOOPS_PROJECTED: usize = 5;
/// Bounds of one grid's shapes at most; if it has more, only some sizes of its loops are looked at, and what lies
/// between them is left out without a proof.
pub const MOST_BOUNDS_OF_GRID: u64 = 500_000;
/// How often the sizes of the loop that has the most of them are halved then.
pub const HALVED_SIZES: usize = 4;
/// Shapes of one grid that are kept; those with greater bounds are left out without a proof. They take a hundred bytes
/// each.
pub const MOST_SHAPES_OF_GRID: usize = 100_000;
/// Open nodes of a search that are kept when there are twice as many.
pub const MOST_NODES: usize = 1_000_000;
/// Bounds of one grid's shapes at most if loops end by phase or by strip; what lies behind is left out without a proof.
pub const MOST_BOUNDS_BY_CLASS: u64 = 300_000;
/// Phases up to which the transitions between them are counted; without the count the bound ignores them.
pub const MOST_PHASES: i64 = 1 << 18;
/// Coordinates of phases up to which all corners of a box are looked at (two to this power); beyond, nothing is said.
pub const MOST_CORNERS: usize = 8;

// The driver: nodes of one kind that several cores expand together. The numbers do not depend on the machine, so that
// the result does not either.

/// Grids expanded together.
pub const GRIDS_TOGETHER: usize = 16;
/// Shapes walked together.
pub const SHAPES_TOGETHER: usize = 32;
/// Designs assembled together; with more of them a better incumbent comes too late for its neighbours.
pub const DESIGNS_TOGETHER: usize = 4;
/// Refusals of one kind of shape after which others of the kind are skipped without a proof.
pub const REFUSALS_PER_KIND: u32 = 2;
/// Refusals of one flow after which it is given up without a proof, if none of its designs was legal.
pub const REFUSALS_PER_FLOW: u32 = 12;
/// Percent of the LUTs or flip-flops that PEs take before the network's share is estimated as well.
pub const CROWDED_PERCENT: i64 = 80;
/// Tiles up to which a run is walked before its resources are counted: the cheaper check comes first.
pub const SHORT_RUN: i64 = 200;

// Bus words.

/// Ports up to which words are narrowed port by port; with more ports all of them are narrowed together.
pub const PORTS_ONE_BY_ONE: usize = 3;
/// Choices of all ports' words that one shape keeps; more choices are left out without a proof.
pub const MOST_WIDTHS: usize = 256;
/// How many times as wide as its memory a bus may be; wider ones take LUTs, and make the space larger.
pub const WIDER_THAN_MEMORY: u32 = 4;
/// How often a dive halves the widest words.
pub const DIVE_HALVINGS: u32 = 2;

// What PEs take, by small arrays of the same flow.

/// Waves for which a sum may wait in a chain of registers; the bound counts a memory only for longer waits.
pub const CHAINED_WAVES: i64 = 64;
/// PEs along an axis of a small array: the first, the last, and one between them.
pub const SMALL_ARRAY: i64 = 3;
/// Small arrays that one search assembles before it interpolates between them.
pub const SMALL_ARRAYS: usize = 64;
/// Lanes of the small arrays between which others are interpolated.
pub const SAMPLED_LANES: [i64; 5] = [1, 2, 8, 32, 64];
/// Inner iterations along the axes of a small array, one array for each number.
pub const SMALL_ARRAY_INNER: [u32; 2] = [1, 16];
/// Orders of loops that are tried until a small array is legal.
pub const SMALL_ARRAY_ORDERS: usize = 3;
/// Bounds of shapes that take as long as a small array: after so many the array is worth its time.
pub const BOUNDS_PER_SMALL_ARRAY: u64 = 100_000;

// How long a search goes on.

/// Refused designs that cost as much as one that is assembled.
pub const REFUSED_PER_DESIGN: u64 = 4;
/// Designs that are assembled however long their walks are, if the effort is four times that.
pub const FEW_DESIGNS: u64 = 100;
/// Rows walked in the time in which one node of a PE is lowered.
pub const ROWS_PER_NODE: u64 = 10;
/// Rows walked in the time in which a grid is compared with a statement.
pub const ROWS_PER_STATEMENT: u64 = 2;
/// Rows walked in the time of one access of a coarse walk.
pub const ROWS_PER_ACCESS: u64 = 64;
/// How many times the effort of one search, in rows and bounds, all searches of a choice may take together.
pub const SEARCHES_OF_CHOICE: u64 = 3;
/// Share of the board beyond which the least array that was found is so large that the margins make no difference.
pub const FAR_TOO_BIG: f64 = 2.0;
/// Part of the work that is left (one in so many) for the walk of one more design, if there is one already.
pub const WALK_PART: u64 = 8;
/// Rows of loads and stores that every walk may take.
pub const LEAST_WALK: u64 = 500_000;
/// Coarse walks that an effort allows for each exact one.
pub const WALKS_PER_DESIGN: u64 = 40;
/// Coarse walks that any effort allows: enough for the shapes of a grid whose closed forms are equal.
pub const LEAST_WALKS: u64 = 4000;
/// Parts into which the effort is divided if orders of loops decide how long values wait for operators.
pub const EFFORT_PARTS: u64 = 4;
/// How many of these parts go to the orders nearest to the program's.
pub const NEAR_PARTS: u64 = 4;

// Heuristics: simple arrays.

/// PEs along an axis of the simple arrays that are tried first, from large to small.
pub const SEED_PES: [i64; 5] = [i64::MAX, 64, 16, 4, 1];
/// Part of the effort (one in so many) behind which no simple arrays are tried whose PEs take several iterations in turn.
pub const SEED_PART: u64 = 8;
/// PEs of a simple array at most, if the board has fewer DSP slices.
pub const SEED_MOST_PES: i64 = 4096;

// Heuristics: dives.

/// Grids between two dives; more dives find incumbents earlier and cost designs.
pub const DIVE_EVERY: u64 = 40;
/// Dives at most, if there is an incumbent.
pub const MOST_DIVES: u64 = 40;
/// Shapes of a grid that a dive looks at.
pub const DIVE_SHAPES: usize = 40;
/// Designs of the effort for each dive that looks at small tiles and finds nothing better: small efforts need their walks
/// elsewhere.
pub const DESIGNS_PER_SMALL_DIVE: u64 = 50;
/// Percent by which the bound of a shape may exceed the least one of its grid for a dive to look at it because its tiles
/// are small.
pub const DIVE_PERCENT: i64 = 2;
/// Designs assembled in one dive for their bounds; as many for their small tiles if none of those fits.
pub const DIVE_DESIGNS: usize = 4;
/// Designs that a dive assembles together.
pub const DIVE_DESIGNS_TOGETHER: usize = 2;
/// Shapes that a dive walks together.
pub const DIVE_WALKS_TOGETHER: usize = 4;
/// Percent of the limits that the PEs of each rung of the ladder may take; the rest is left to the network.
pub const RUNGS: [i64; 4] = [95, 85, 70, 50];
/// Percent by which the bounds of one rung's grids may exceed the least one.
pub const RUNG_PERCENT: i64 = 2;
/// Grids that a rung looks at.
pub const RUNG_GRIDS: usize = 400;
/// Grids of a rung whose small arrays are assembled.
pub const RUNG_TRIES: usize = 12;
/// Grids of a rung into which it dives.
pub const RUNG_DIVES: usize = 3;
/// Dives into grids whose size is corrected by assembled designs.
pub const CORRECTIONS: usize = 40;
/// Share of the limits that a corrected grid may take.
pub const CORRECTED_SHARE: f64 = 0.95;
/// How many times smaller the next grid of a flow is after one of which no shape fits.
pub const CORRECTED_STEP: f64 = 1.3;

// Heuristics: likely shapes.

/// Designs that are assembled at the end because they are likely to be fast: one in so many of the effort's.
pub const LIKELY_PART: u64 = 16;
/// Such designs where the effort is small, because each takes no time, but at most the next part of the effort: where it
/// is small because the program is large, each takes long.
pub const LIKELY_DESIGNS: u64 = 64;
/// See [`LIKELY_DESIGNS`].
pub const LIKELY_LEAST_PART: u64 = 3;
/// Bounds of the shapes of open grids for that: one in so many of the effort's.
pub const LIKELY_BOUNDS_PART: u64 = 32;
/// Open shapes of which somebody asks how fast they are likely to be.
pub const LIKELY_SHAPES: usize = 100_000;
/// Shapes that are walked for each design.
pub const LIKELY_WALKS: u64 = 8;
/// Open shapes that are kept, the most promising ones.
pub const LIKELY_KEPT: usize = 4096;

// Heuristics: buses wider than the memory.

/// Gap beyond which arrays over buses wider than the memory are sought as well: with less there is little to win.
pub const WIDER_LEAST_GAP: f64 = 0.05;
/// Percent of the cycles that words of twice the width must save for the best design, because they take LUTs.
pub const WIDER_PERCENT: i64 = 1;

// Heuristics: the best design, improved.

/// Designs with narrower words at least; else a quarter of the effort.
pub const POLISHING_DESIGNS: u64 = 12;
/// Part of the effort (one in so many) for as fast an array with half the resources.
pub const LEANER_PART: u64 = 8;
/// Designs of that part at most.
pub const LEANER_DESIGNS: u64 = 150;
/// Designs assembled at least for an array of half the size that may take more cycles. With fewer, the lines `beside it`
/// show arrays that the balance should have found.
pub const BALANCED_DESIGNS: u64 = NEIGHBOUR_DESIGNS;
/// Share of the scarcest resource that is small enough: an array is not made smaller than that.
pub const LEAN_SHARE: f64 = 0.03;
/// Percent of the cycles that halving a balanced array may cost.
pub const BALANCED_PERCENT: i64 = 10;
/// Percent of the cycles that halving the LUTs of a balanced array may cost, if they are not what is scarcest.
pub const LIGHTER_PERCENT: i64 = 2;
/// Gap at which the search for an array of half the size, or of half the LUTs, ends.
pub const BALANCED_GAP: f64 = 0.01;
/// Numbers of strips into which a loop is cut if the user names none.
pub const STRIPS: [i64; 3] = [16, 8, 4];
/// Designs that are tried in strips after the best one: the best designs before it. A smaller array may have room for
/// what strips take.
pub const RUNNERS_UP: usize = 4;
/// Programs in strips that are searched besides: those that execute the fewest iterations.
pub const STRIP_PROGRAMS: usize = 3;
/// Iterations of other loops that the last strip keeps at least, one skew for each number: while they run, a value
/// waits for its operators.
pub const LAST_STRIP_ITERATIONS: [i64; 10] = [1, 8, 16, 24, 32, 40, 48, 64, 96, 128];

// The automatic choice.

/// Designs assembled for the smallest program; twice as many for programs in phases, whose bounds are weaker.
pub const LEAST_DESIGNS: i64 = 200;
/// Designs assembled for the largest program.
pub const MOST_DESIGNS: i64 = 1500;
/// Iterations of the program for one more design.
pub const ITERATIONS_PER_DESIGN: i64 = 256;
/// Loads and stores of the program beyond which the number of designs shrinks with their square, as the time of assembly
/// grows.
pub const LARGE_PROGRAM: i64 = 128;
/// Designs assembled for a large program at least.
pub const LARGE_PROGRAM_DESIGNS: i64 = 20;
/// Bounds of shapes that every choice may take.
pub const CHOICE_BOUNDS: u64 = 500_000;
/// Bounds of shapes for each design of a choice.
pub const CHOICE_BOUNDS_PER_DESIGN: u64 = 20_000;
/// Rows of loads and stores walked one by one for all designs of a choice: some seconds.
pub const CHOICE_ROWS: u64 = 40_000_000;
/// Part of the effort (one in so many) for a search within the whole board, if none was found within the margins.
pub const AGAIN_PART: u64 = 2;
/// Part of the effort (one in so many) for the program with distributed loops: its designs take long to walk.
pub const DISTRIBUTED_PART: u64 = 4;
/// Part of the effort (one in so many) for a program in steps, whose designs take longer still to walk.
pub const STEPS_PART: u64 = 8;
/// Rows of loads and stores walked for a program in steps: each has several bursts.
pub const STEPS_ROWS: u64 = 256_000;
/// Part of the effort (one in so many) for each step towards the smallest array.
pub const SMALLEST_PART: u64 = 2;
/// Steps of that bisection at most.
pub const SMALLEST_STEPS: usize = 8;
/// Share of the upper limit at which the bisection ends.
pub const SMALLEST_INTERVAL: f64 = 0.02;
/// Steps towards the most efficient array at most.
pub const EFFICIENT_STEPS: usize = 8;
/// Factor between the limits of two such steps.
pub const EFFICIENT_FACTOR: f64 = 0.7;
/// Part of the effort (one in so many) for each other layout of an array in memory.
pub const HINT_PART: u64 = 4;
/// Designs of a search for another layout at least; else a quarter of those already assembled.
pub const HINT_DESIGNS: u64 = 40;
/// Gap at which a search for another layout ends.
pub const HINT_GAP: f64 = 0.02;
/// Part of the cycles (one in so many) that another layout must save to be worth a hint.
pub const HINT_SAVES: i64 = 20;
/// Share of the cycles for which a port or the lanes are busy if they are what limits the array.
pub const BUSY_SHARE: f64 = 0.5;

// `sagen explore`, and the arrays that `sagen rtl` shows beside the chosen one.

/// Bounds of shapes for each design that the user allows to `sagen explore`.
pub const EXPLORE_BOUNDS_PER_DESIGN: u64 = 50_000;
/// Other layouts of arrays that are reported, at most.
pub const HINTS: usize = 3;
/// Points of a front at most.
pub const FRONT_POINTS: usize = 8;
/// Designs assembled at most for a point that the user does not ask for.
pub const ROUGH_DESIGNS: u64 = 400;
/// Bounds of shapes at most for such a point.
pub const ROUGH_BOUNDS: u64 = 20_000_000;
/// Gap at which the search for such a point ends.
pub const ROUGH_GAP: f64 = 0.05;
/// Arrays beside the chosen one, at most.
pub const NEIGHBOURS: usize = 3;
/// Designs assembled for each of them.
pub const NEIGHBOUR_DESIGNS: u64 = 60;
/// Bounds of shapes for such an array.
pub const NEIGHBOUR_BOUNDS: u64 = 1_000_000;
/// Rows of loads and stores walked for such an array.
pub const NEIGHBOUR_ROWS: u64 = 512_000;
/// Gap at which the search for such an array ends.
pub const NEIGHBOUR_GAP: f64 = 0.02;
/// How many times as many cycles as the larger array before it such an array may take; beyond, the search was too
/// short.
pub const NEIGHBOUR_CYCLES: i64 = 8;

// One array for a network of layers.

/// Designs assembled for a layer on one grid at first.
pub const GRID_DESIGNS: u64 = 12;
/// How many times as many when the grid's turn comes again.
pub const GRID_DEEPER: u64 = 5;
/// Designs for a layer on one grid at most; beyond, the grid is given up without a proof.
pub const MOST_GRID_DESIGNS: u64 = 10_000;
/// Bounds of shapes for a layer on one grid.
pub const GRID_BOUNDS: u64 = 2_000_000;
/// Layers searched together.
pub const LAYERS_TOGETHER: usize = 2;
/// Designs for a layer's own best array, whose grid is tried first.
pub const LAYER_DESIGNS: u64 = 60;

// One array for several functions.

/// Functions whose own array is tried for all others of a merged array that have the same loops.
pub const MERGED_MODELS: usize = 8;
/// A function gets an array like another function's, and is not searched, if each iteration takes at most this much longer there.
/// A grid is left out if its lanes can save at most this much of the cycles.
pub const IMITATED_PERCENT: i64 = 1;
/// Grids that merged functions are tried with.
pub const MERGED_GRIDS: usize = 3;
/// Parts of the limits that merged functions are tried with, by bisection.
pub const MERGED_PARTS: usize = 4;
/// Bytes of the ports that are narrow.
pub const MERGED_NARROW_BYTES: u32 = 8;
/// If merged functions take more than this share of the limits, neither smaller arrays of some nor narrow ports make them
/// fit.
pub const MERGED_ROOM: f64 = 1.25;
/// Percents of the limits within which a merged function that is slow gets arrays, beside the one within all of them.
pub const MERGED_PERCENT: [i64; 5] = [35, 50, 60, 70, 85];
/// Grids whose merged array is at most this much worse than the best one's get ports of other widths, too.
pub const MERGED_NEAR_PERCENT: i64 = 10;
/// Merged arrays that are tried, each with another array of one function, times functions.
pub const MERGED_EXCHANGES: usize = 600;
