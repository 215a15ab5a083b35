//! The promises of the search: no design takes fewer cycles or resources than its bounds; the optimum is that of an
//! exhaustive search; limits, the gap and a choice of loops are respected.

use array::kernel::Kernel;
use array::variants::assemble;
use cost::board::{Board, Resources};
use cost::{memory, resources};
use scop::Scop;
use search::branch::{search, share, Effort, Found, Task};
use search::choose::{self, Quest};
use std::path::Path;
use uniform::aim::Objective;
use uniform::design::{Aim, DesignSpec};
use uniform::mapping::{DimPlan, Plan};
use uniform::memory::Memory;

fn board() -> Board {
    Board::parse(include_str!("../../../../boards/u250.toml")).expect("the board file is well formed")
}

fn board_of(name: &str) -> Board {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../boards/{name}.toml"));
    let text = std::fs::read_to_string(file).expect("a board file");
    Board::parse(&text).expect("the board file is well formed")
}

/// Ideal memory, and one that all ports share, which carries less than a word of the search a cycle.
fn memories() -> [Memory; 2] {
    [Memory::default(), board_of("arty-a7-100").memories()]
}

fn parse(name: &str, text: &str) -> Scop {
    match frontend::parse_text(name, text, &Default::default()) {
        Ok((scop, _)) => scop,
        Err((map, faults)) => panic!("{}", scop::render_plain(&map, &faults)),
    }
}

fn product(n: [i64; 3]) -> Scop {
    product_of("int16_t", n)
}

/// A product of matrices of this type.
fn product_of(ty: &str, [i, j, k]: [i64; 3]) -> Scop {
    parse(
        "mm.c",
        &format!(
            "#include <stdint.h>\nvoid mm({ty} A[{i}][{k}], {ty} B[{k}][{j}], int32_t C[{i}][{j}]) {{\n#pragma scop\n\
         for (int i = 0; i < {i}; i++)\nfor (int j = 0; j < {j}; j++) {{\nC[i][j] = 0;\n\
         for (int k = 0; k < {k}; k++)\nC[i][j] += A[i][k] * B[k][j];\n}}\n#pragma endscop\n}}\n"
        ),
    )
}

fn task<'a>(program: &'a Kernel, spec: &'a DesignSpec, limits: Resources, exact: u64) -> Task<'a> {
    let effort = Effort { exact, bounds: 2_000_000, work: u64::MAX, gap: 0.0 };
    Task::new(program, spec, limits, effort)
}

fn run(scop: &Scop, memory: Memory, exact: u64) -> Option<(Found, DesignSpec)> {
    let spec = DesignSpec { memory, ..DesignSpec::default() };
    let program = search::program(scop, &spec).ok()?;
    Some((search(&task(&program, &spec, board().resources, exact)), spec.clone()))
}

/// Each exact walk of a search takes at least as long as its bound says.
#[test]
fn bounds_are_bounds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let files = [
        "examples/mm.c",
        "examples/fir.c",
        "examples/jacobi.c",
        "examples/mttkrp.c",
        "examples/gemm.c",
        "examples/cnn.c",
        "tests/run/strided_rows.c",
        "tests/run/syrk.c",
        "tests/run/conv_stride.c",
        "tests/run/two_statements.c",
        "tests/run/chain_2mm.c",
        "tests/run/integral_image.c",
        "tests/run/dot_float.c",
        "tests/run/trmm.c",
    ];
    let mut walked = 0;
    for (file, memory) in files.into_iter().flat_map(|file| memories().map(|memory| (file, memory))) {
        let Ok((scop, _)) = frontend::parse(&root.join(file), &Default::default()) else {
            panic!("{file} does not parse")
        };
        let Some((found, spec)) = run(&scop, memory, 30) else { continue };
        assert_eq!(found.counts.violations, 0, "{file}");
        assert_eq!(
            found.counts.underestimates, 0,
            "{file}: of {} designs take less than their bound of resources",
            found.counts.exact
        );
        let best = found.best.as_ref().unwrap_or_else(|| panic!("no array for {file}: {:?}", found.refused));
        assert!(found.bound <= best.cycles, "{file}: bound {} of {} cycles", found.bound, best.cycles);
        assert_eq!(best.cycles, memory::run(&best.vsa, &spec).prediction.cycles, "{file}");
        assert_eq!(best.vsa.verify(), Ok(()), "{file}");
        walked += found.counts.exact;
    }
    assert!(walked > 300, "only {walked} designs were looked at");
}

/// The best array of this product, dealt out, takes a few cycles less than was proved for arrays in blocks.
#[test]
fn an_array_dealt_out_is_not_below_the_bound() {
    let scop = product_of("int8_t", [1024; 3]);
    let spec = DesignSpec { memory: board().memories(), ..DesignSpec::default() };
    let program = search::program(&scop, &spec).expect("a program");
    let found = search(&task(&program, &spec, board().usable(), 200));
    let best = found.best.expect("an array");
    assert!(best.plan.dims.iter().any(|d| d.cyclic), "{:?}", best.plan);
    assert!(found.bound <= best.cycles, "bound {} of {} cycles", found.bound, best.cycles);
}

/// This layer stores so much that the memory bounds most arrays alike. Best first misses the bound by an eighth. Of the
/// shapes with the least bounds none fits; dives find those with small tiles, which are within two percent.
#[test]
fn small_tiles_are_tried_behind_a_slow_memory() {
    let scop = parse(
        "layer.c",
        "#include <stdint.h>\nvoid layer(int8_t X[128][128][8], int8_t W[64][8], int32_t Y[128][128][64]) {\n\
         #pragma scop\nfor (int o = 0; o < 64; o++)\nfor (int r = 0; r < 128; r++)\nfor (int c = 0; c < 128; c++) {\n\
         Y[r][c][o] = 0;\nfor (int i = 0; i < 8; i++)\nY[r][c][o] += X[r][c][i] * W[o][i];\n}\n#pragma endscop\n}\n",
    );
    let board = board_of("pynq-z2");
    let spec = DesignSpec { memory: board.memories(), ..DesignSpec::default() };
    let program = search::program(&scop, &spec).expect("a program");
    let effort = Effort { exact: 1500, bounds: 30_000_000, work: 40_000_000, gap: 0.0 };
    let found = search(&Task::new(&program, &spec, board.usable(), effort));
    assert!(found.gap() < 0.02, "a gap of {:.3}", found.gap());
    assert!(found.trace.iter().any(|step| step.by == "ladder" && step.designs < 100), "{:?}", found.trace);
}

/// The best array on a board with its own memory.
fn search_on(board: &Board, scop: &Scop, effort: Effort) -> Found {
    let spec = search::on(board, &DesignSpec::default());
    let program = search::program(scop, &spec).expect("a program");
    search(&Task::new(&program, &spec, board.usable(), effort))
}

/// Behind a slow memory thousands of arrays of `mv` have the same bound. The sum of a tile of few rows passes all lanes
/// before the tile after the next one begins, which no bound knows: best first finds 1,267 cycles.
#[test]
fn likely_shapes_are_tried_behind_a_slow_memory() {
    let scop = parse(
        "mv.c",
        "#include <stdint.h>\nvoid mv(int16_t A[100][60], int16_t x[60], int32_t y[100]) {\n#pragma scop\n\
         for (int i = 0; i < 100; i++) {\ny[i] = 0;\nfor (int j = 0; j < 60; j++)\ny[i] += A[i][j] * x[j];\n}\n\
         #pragma endscop\n}\n",
    );
    let effort = Effort { exact: 223, bounds: 4_500_000, work: 40_000_000, gap: 0.0 };
    let found = search_on(&board_of("arty-a7-100"), &scop, effort);
    let best = found.best.expect("an array");
    assert!(best.cycles < 1100, "{} cycles", best.cycles);
    assert!(found.trace.iter().any(|step| step.by == "likely shapes"), "{:?}", found.trace);
    assert_eq!((found.counts.violations, found.counts.underestimates), (0, 0));
}

/// Partial sums of all cells of a tile wait in the PEs for the next tile of the sum. Bounds of resources that leave them
/// out waste all effort on arrays that do not fit: then the best one takes 19,339,300 cycles.
#[test]
fn sums_that_wait_for_the_next_tile_are_counted() {
    let scop = product([1024; 3]);
    let effort = Effort { exact: 1500, bounds: 4_000_000, work: 40_000_000, gap: 0.0 };
    let found = search_on(&board_of("ulx3s"), &scop, effort);
    let best = found.best.expect("an array");
    assert!(best.cycles < 15_000_000, "{} cycles", best.cycles);
    assert_eq!((found.counts.violations, found.counts.underestimates), (0, 0));
}

/// Most words of a wavefront's box transfer nothing; over a bus of 8 bytes, which is what the memory can use, they take
/// longer than the memory.
#[test]
fn a_bus_wider_than_the_memory_passes_words_that_it_does_not_move() {
    let scop = parse(
        "seidel.c",
        "void seidel(float A[40][40]) {\n#pragma scop\nfor (int t = 0; t < 20; t++)\nfor (int i = 1; i < 39; i++)\n\
         for (int j = 1; j < 39; j++)\nA[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] \
         + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0f;\n#pragma endscop\n}\n",
    );
    let board = board_of("pynq-z2");
    let spec = DesignSpec { memory: board.memories(), ..DesignSpec::default() };
    let program = search::program(&scop, &spec).expect("a program");
    let effort = Effort { exact: 400, bounds: 30_000_000, work: 40_000_000, gap: 0.0 };
    let found = search(&Task::new(&program, &spec, board.resources, effort));
    let best = found.best.expect("an array");
    assert!(best.need.lut > resources::estimate(&best.vsa).lut, "a width converter is counted");
    assert!(best.vsa.bus_bytes(0) > 8, "{} bytes", best.vsa.bus_bytes(0));
    assert!(found.trace.iter().any(|step| step.by == "buses wider than the memory"), "{:?}", found.trace);
    assert_eq!(best.cycles, memory::run(&best.vsa, &spec).prediction.cycles);
    assert!(best.cycles < 45_000, "{} cycles", best.cycles);

    // Every word of a product's tiles is transferred, so wider buses are not looked for.
    let scop = product([64; 3]);
    let program = search::program(&scop, &spec).expect("a program");
    let found = search(&Task::new(&program, &spec, board.usable(), effort));
    let best = found.best.expect("an array");
    assert!((0..best.vsa.ports()).all(|port| best.vsa.bus_bytes(port) <= 8));
}

/// Bounds of good and bad shapes from all over the space, with sums that wait in the array or go to DRAM and back.
/// `SAGEN_AUDIT=N` audits N shapes of every example, PolyBench kernel, program of `tests/sizes`, and program of
/// `tests/run` in phases.
#[test]
fn bounds_hold_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let named = [
        "tests/run/chain_2mm.c",
        "tests/run/conv_stride.c",
        "examples/gemm.c",
        "examples/mttkrp.c",
        "tests/run/dot_float.c",
        "tests/run/syrk.c",
        "tests/run/phases_k_means.c",
        "tests/run/phases_viterbi.c",
        "tests/run/phases_conjugate_gradient.c",
        "tests/run/phases_dilated.c",
        "tests/run/phases_inverted_residual.c",
        "tests/run/phases_gauss_jordan.c",
        "examples/gemm_sizes.c",
        "tests/polybench/3mm.c",
        "tests/polybench/covariance.c",
        "tests/sizes/conv.c",
        "tests/sizes/triangle.c",
        "tests/sizes/phases_cg.c",
        "tests/sizes/phases_viterbi.c",
    ];
    let asked: Option<usize> = std::env::var("SAGEN_AUDIT").ok().and_then(|n| n.parse().ok());
    let c_files = |folder: &str| {
        let files = root.join(folder).read_dir().expect("a folder").map(|f| f.expect("a file").path());
        files.filter(|f| f.extension().is_some_and(|e| e == "c")).collect::<Vec<_>>()
    };
    let in_phases = || {
        c_files("tests/run")
            .into_iter()
            .filter(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with("phases_")))
            .collect()
    };
    let files = if asked.is_some() {
        [c_files("examples"), c_files("tests/polybench"), c_files("tests/sizes"), in_phases()].concat()
    } else {
        named.map(|f| root.join(f)).to_vec()
    };
    let mut scops = vec![product([6, 5, 7]), parse("paths.c", SHORTEST_PATHS)];
    // The last tile of most arrays has rows beyond `C`, which pass while the memory answers.
    scops.extend([product([37, 34, 3]), parse("padded.c", PADDED)]);
    scops.extend(files.iter().filter_map(|file| Some(frontend::parse(file, &Default::default()).ok()?.0)));
    let (mut looked, mut over, mut wrong) = (0, vec![], vec![]);
    for scop in &scops {
        let on = |board: &Board| search::on(board, &DesignSpec::default());
        let ideal = DesignSpec::default();
        let boards = [board(), board_of("arty-a7-100"), board_of("pynq-z2"), board_of("ulx3s")];
        let specs = [(None, ideal.clone()), (Some(3), ideal)].into_iter().chain(boards.map(|board| (None, on(&board))));
        for (spill_beyond, mut spec) in specs {
            spec.wiring.spill_beyond = spill_beyond;
            let Ok(program) = search::program(scop, &spec) else { continue };
            let limits = Resources { dsp: 40, ..board().resources };
            let all = search::branch::audit(&task(&program, &spec, limits, 0), asked.unwrap_or(60));
            if asked.is_some() {
                let share = |of: fn(&search::branch::Audited) -> i64| {
                    all.iter().map(|a| 100.0 * of(a) as f64 / a.exact as f64).sum::<f64>() / all.len().max(1) as f64
                };
                println!(
                    "{}: {} designs, {:.0} % of their cycles in closed form, {:.0} % by the coarse walk",
                    scop.name,
                    all.len(),
                    share(|a| a.closed),
                    share(|a| a.coarse)
                );
            }
            wrong.extend(
                all.iter()
                    .filter(|a| a.closed > a.exact || a.coarse > a.exact)
                    .map(|a| format!("{} over {spill_beyond:?}: {a:?}", scop.name)),
            );
            looked += all.len();
            over.extend(
                all.iter()
                    .filter(|a| !a.least.fits(&a.need))
                    .map(|a| format!("{} over {spill_beyond:?}: {a:?}", scop.name)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        over.is_empty(),
        "{} of {looked} designs take less than their bound of resources:\n{}",
        over.len(),
        over.join("\n")
    );
    assert!(asked.is_some() || looked > 300, "only {looked} designs were looked at");
}

/// The first tile may begin above the picture: rows that are not loaded pass while the memory answers.
const PADDED: &str = "void blur(const int x[20][24], int y[22][24]) {
#pragma scop
for (int i = 0; i < 22; i++)
for (int j = 0; j < 24; j++)
y[i][j] = (i >= 2 ? x[i - 2][j] : 0) + (i >= 1 && i < 21 ? x[i - 1][j] : 0) + (i < 20 ? x[i][j] : 0);
#pragma endscop
}
";

/// Rows of 12 elements in words of 16: two of four rows begin within a word and end in the same word.
const SHORTEST_PATHS: &str = "void paths(int p[12][12]) {
#pragma scop
for (int k = 0; k < 12; k++)
for (int i = 0; i < 12; i++)
for (int j = 0; j < 12; j++)
p[i][j] = p[i][j] < p[i][k] + p[k][j] ? p[i][j] : p[i][k] + p[k][j];
#pragma endscop
}
";

#[test]
fn an_array_over_given_loops_is_no_better_than_the_best_one() {
    for scop in [parse("paths.c", SHORTEST_PATHS), product([5, 6, 4])] {
        let spec = DesignSpec::default();
        let program = search::program(&scop, &spec).expect("an array executes it");
        let all = task(&program, &spec, board().resources, 400);
        let best = search(&all);
        for axis in 0..3 {
            let own = search(&Task { space: Some(vec![axis]), ..task(&program, &spec, board().resources, 400) });
            let cycles = |found: &Found| found.best.as_ref().map_or(i64::MAX, |b| b.cycles);
            assert!(
                best.bound <= cycles(&own),
                "{}: {} is proved, {} over loop {axis}",
                scop.name,
                best.bound,
                cycles(&own)
            );
            assert!(
                cycles(&best) <= cycles(&own),
                "{}: {} are found, {} over loop {axis}",
                scop.name,
                cycles(&best),
                cycles(&own)
            );
        }
    }
}

/// If the emission fixes `k`, the cells that leave lie in a smaller box than those of all values of `k`.
#[test]
fn stores_at_fixed_iterations_are_bounded() {
    let scop = parse("paths.c", &SHORTEST_PATHS.replace("12", "60"));
    let spec = DesignSpec::default();
    let program = search::program(&scop, &spec).expect("an array executes it");
    let all =
        search::branch::audit(&Task { space: Some(vec![2]), ..task(&program, &spec, board().resources, 0) }, 1000);
    assert!(!all.is_empty());
    for a in &all {
        assert!(a.closed <= a.exact && a.coarse <= a.exact, "{a:?}");
    }
}

/// Every plan of a product with identity transform and one loop of lanes at most, over fixed words; if products share
/// slices, with two lanes along `i` or `j` besides, unless those are lanes already.
fn exhaustive(program: &Kernel, spec: &DesignSpec, n: [i64; 3], limits: &Resources) -> i64 {
    let besides = if spec.arithmetic.pack == Some(true) { vec![None, Some(0), Some(1)] } else { vec![None] };
    let mut best = i64::MAX;
    for axes in [vec![0], vec![1], vec![2], vec![0, 1], vec![0, 2], vec![1, 2]] {
        for lanes in (0..4usize).filter(|d| !axes.contains(d)) {
            for &beside in besides.iter().filter(|beside| beside.is_none() || lanes >= 2) {
                let plans = plans(&axes, lanes, beside, n, limits.dsp * if beside.is_some() { 2 } else { 1 });
                best = plans.iter().map(|dims| fewest_cycles(program, spec, dims, limits)).fold(best, i64::min);
            }
        }
    }
    best
}

/// All sizes of a product's loops with at most so many lanes in all PEs.
fn plans(axes: &[usize], lanes: usize, beside: Option<usize>, n: [i64; 3], most: i64) -> Vec<Vec<DimPlan>> {
    let mut plans: Vec<(Vec<DimPlan>, i64)> = vec![(vec![], 1)];
    for (d, &n) in n.iter().enumerate() {
        let axis = axes.iter().position(|&a| a == d);
        let together = if beside == Some(d) { 2 } else { 1 };
        let mut next = vec![];
        for (dims, peak) in &plans {
            for pes in 1..=if axis.is_some() { n } else { 1 } {
                for simd in (1..=if lanes == d { n } else { 1 }).map(|simd| simd * together) {
                    if peak * pes * simd > most {
                        continue;
                    }
                    for inner in 1..=(n + pes * simd - 1) / (pes * simd) {
                        let latency = if axis.is_some() { inner } else { 1 };
                        let dim = DimPlan { tile: Some(pes * simd * inner), axis, latency, simd, cyclic: false };
                        next.push(([&dims[..], &[dim]].concat(), peak * pes * simd));
                    }
                }
            }
        }
        plans = next;
    }
    plans.into_iter().map(|(dims, _)| dims).collect()
}

/// The cycles of the best order of the loops within the limits.
fn fewest_cycles(program: &Kernel, spec: &DesignSpec, dims: &[DimPlan], limits: &Resources) -> i64 {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let cycles = orders.into_iter().filter_map(|order| {
        let plan = Plan { dims: dims.to_vec(), order: order.to_vec(), ..Plan::identity(3) };
        let vsa = assemble(program, plan, spec).ok()?;
        resources::estimate(&vsa).fits(limits).then(|| memory::run(&vsa, spec).prediction.cycles)
    });
    cycles.min().unwrap_or(i64::MAX)
}

#[test]
fn the_optimum_with_packed_products_is_that_of_an_exhaustive_search() {
    for (ty, n, dsp) in [("int8_t", [3, 4, 5], 3), ("int8_t", [2, 5, 4], 4), ("uint8_t", [4, 3, 2], 2)] {
        let scop = product_of(ty, n);
        let mut spec = DesignSpec::default();
        spec.arithmetic.pack = Some(true);
        spec.wiring.word = [("A".to_string(), 4), ("B".to_string(), 4), ("C".to_string(), 2)].into();
        let program = search::program(&scop, &spec).expect("a product");
        let limits = Resources { dsp, ..board().resources };
        let found = search(&task(&program, &spec, limits, 100_000));
        let best = found.best.as_ref().expect("a product has an array");
        let packed = best.vsa.lanes * best.vsa.extent[0] * best.vsa.extent[1] > dsp;
        assert!(packed, "{n:?} of {ty} within {dsp} DSP: {:?}", best.plan);
        assert_eq!(
            (best.cycles, found.gap()),
            (exhaustive(&program, &spec, n, &limits), 0.0),
            "{n:?} of {ty} within {dsp} DSP: {:?}",
            best.plan
        );
    }
}

/// LUTs are the second criterion: half of them may cost 2 % of the cycles, and nothing of what is scarcest. Packed products
/// differ most.
#[test]
fn packed_products_take_few_luts() {
    let scop = product_of("int8_t", [64, 64, 256]);
    let mut spec = DesignSpec::default();
    spec.arithmetic.pack = Some(true);
    let program = search::program(&scop, &spec).expect("a product");
    let limits = Resources { dsp: 128, lut: 200_000, ..board().resources };
    let best = |objective| {
        let aim = Aim { objective: Some(objective), ..Aim::default() };
        let quest = Quest::new(&program, &spec, limits, choose::effort(&program));
        quest.answer(&aim).expect("the aim is clear")
    };
    let [fast, light] = [Objective::Cycles, Objective::Balanced].map(best);
    let [fastest, lightest] = [&fast, &light].map(|found| found.best.as_ref().expect("a product has an array"));
    let halvings = (fastest.need.lut / lightest.need.lut).ilog2();
    assert!(halvings >= 1, "{} LUT, and {} in the fastest", lightest.need.lut, fastest.need.lut);
    assert!(lightest.cycles <= fastest.cycles + 2 * fastest.cycles * (i64::from(halvings) + 1) / 100);
    assert!(share(&lightest.need, &limits) <= share(&fastest.need, &limits));
    assert!(light.bound <= lightest.cycles && light.passed.first().is_none_or(|d| d.cycles == fastest.cycles));
}

/// Bounds of arrays whose products share slices, and of those that could and do not.
#[test]
fn bounds_hold_with_packed_products() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let files = [
        "examples/cnn.c",
        "tests/run/packed_products.c",
        "tests/run/packed_phases.c",
        "tests/run/conv_padded.c",
        "tests/run/depthwise_pointwise.c",
        "tests/run/mlp.c",
        "tests/sizes/packed.c",
    ];
    let mut scops = vec![product_of("int8_t", [6, 5, 7]), product_of("uint8_t", [37, 34, 3]), parse("conv.c", CONV)];
    let read = |file: &str| Some(frontend::parse(&root.join(file), &Default::default()).ok()?.0);
    scops.extend(files.iter().filter_map(|file| read(file)));
    let (mut looked, mut packed, mut wrong) = (0, 0, vec![]);
    for scop in &scops {
        let mut spec = DesignSpec::default();
        spec.arithmetic.pack = Some(true);
        let Ok(program) = search::program(scop, &spec) else { continue };
        for dsp in [12, 40] {
            let limits = Resources { dsp, ..board().resources };
            let all = search::branch::audit(&task(&program, &spec, limits, 0), 60);
            let is_wrong =
                |a: &&search::branch::Audited| a.closed > a.exact || a.coarse > a.exact || !a.least.fits(&a.need);
            wrong.extend(all.iter().filter(is_wrong).map(|a| format!("{}: {a:?}", scop.name)));
            looked += all.len();
            packed += all.iter().filter(|a| a.plan.dims.iter().filter(|d| d.simd > 1).count() > 1).count();
        }
    }
    assert!(wrong.is_empty(), "{} of {looked}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(looked > 300 && packed > 60, "{looked} designs, {packed} with lanes along several loops");
}

/// Products of a padded picture share factors where both are in it.
const CONV: &str = "#include <stdint.h>
void conv(const int8_t x[3][10][12], const int8_t w[4][3][3][3], int32_t y[4][10][12]) {
#pragma scop
for (int o = 0; o < 4; o++)
for (int r = 0; r < 10; r++)
for (int c = 0; c < 12; c++) {
int sum = 0;
for (int i = 0; i < 3; i++)
for (int p = 0; p < 3; p++)
for (int q = 0; q < 3; q++)
if (r + p >= 1 && r + p < 11 && c + q >= 1 && c + q < 13)
sum += x[i][r + p - 1][c + q - 1] * w[o][i][p][q];
y[o][r][c] = sum;
}
#pragma endscop
}
";

#[test]
fn the_optimum_is_that_of_an_exhaustive_search() {
    let all = [([3, 4, 5], 4), ([4, 3, 2], 6)];
    for ((n, dsp), memory) in all.into_iter().flat_map(|case| memories().map(|memory| (case, memory))) {
        let scop = product(n);
        let mut spec = DesignSpec { memory, ..DesignSpec::default() };
        spec.wiring.word = [("A".to_string(), 4), ("B".to_string(), 4), ("C".to_string(), 2)].into();
        let program = search::program(&scop, &spec).expect("a product");
        let limits = Resources { dsp, ..board().resources };
        let found = search(&task(&program, &spec, limits, 100_000));
        let best = found.best.as_ref().expect("a product has an array").cycles;
        assert_eq!((best, found.gap()), (exhaustive(&program, &spec, n, &limits), 0.0), "{n:?} within {dsp} DSP");
    }
}

/// No proof over all loops may exclude what a search over one loop finds.
#[test]
fn no_proof_excludes_what_a_smaller_space_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    for file in ["tests/polybench/floyd-warshall.c", "examples/lu.c", "examples/fir.c"] {
        let Ok((scop, _)) = frontend::parse(&root.join(file), &Default::default()) else {
            panic!("{file} does not parse")
        };
        let spec = DesignSpec::default();
        let program = search::program(&scop, &spec).expect("uniform recurrences");
        let all = search(&task(&program, &spec, board().resources, 60));
        for d in 0..program.system.dims.len() {
            let over = search(&Task { space: Some(vec![d]), ..task(&program, &spec, board().resources, 20) });
            let Some(best) = over.best else { continue };
            assert!(all.bound <= best.cycles, "{file}: bound {}, but {} cycles over loop {d}", all.bound, best.cycles);
        }
    }
}

/// Nor may it exclude designs over narrower words: they pass fewer registers.
#[test]
fn no_proof_excludes_narrower_words() {
    let scop = product([4, 4, 4]);
    let free = DesignSpec::default();
    let program = search::program(&scop, &free).expect("a product");
    let all = search(&task(&program, &free, board().resources, 2_000));
    let best = all.best.as_ref().expect("an array").cycles;
    assert!(all.bound <= best, "bound {}, but {best} cycles", all.bound);
    for words in [[2, 2, 1], [4, 4, 4], [4, 16, 4], [8, 4, 2]] {
        let mut spec = DesignSpec::default();
        spec.wiring.word = ["A", "B", "C"].map(String::from).into_iter().zip(words).collect();
        let over = search(&task(&program, &spec, board().resources, 60)).best.expect("an array").cycles;
        assert!(all.bound <= over, "bound {}, but {over} cycles over words of {words:?}", all.bound);
    }
}

/// Each of sixteen ports may halve its words and take more beats for some rows. Not all of these choices are searched,
/// and the bound says so.
#[test]
fn many_ports_are_not_all_narrowed_apart() {
    let names: Vec<String> = (0..16).map(|n| format!("a{n}")).collect();
    let declared: String = names.iter().map(|a| format!("const float {a}[9], ")).collect();
    let read: Vec<String> = names.iter().map(|a| format!("{a}[j] * {a}[i + j]")).collect();
    let text = format!(
        "void f({declared}float y[5]) {{\n#pragma scop\nfor (int i = 0; i < 5; i++)\nfor (int j = 0; j < 5; j++)\ny[i] += {};\n#pragma endscop\n}}\n",
        read.join(" + ")
    );
    let (found, _) = run(&parse("f.c", &text), Memory::default(), 20).expect("a program");
    let best = found.best.as_ref().expect("an array").cycles;
    assert!(0 < found.bound && found.bound <= best);
}

/// If LUTs are scarce, most of the fastest grids do not fit. The search gets past them, and past stores that crowd at
/// the end of a sum.
#[test]
fn large_products_have_a_proof() {
    let spec = DesignSpec::default();
    let board = board();
    let limits = Resources {
        lut: board.resources.lut * 7 / 10,
        ff: board.resources.ff * 8 / 10,
        dsp: board.resources.dsp * 8 / 10,
        ..board.resources
    };
    let scop = product([1024, 1024, 1024]);
    let program = search::program(&scop, &spec).expect("a product");
    let effort = Effort { exact: 200, bounds: 20_000_000, work: u64::MAX, gap: 0.0 };
    let found = search(&Task { effort, ..task(&program, &spec, limits, 0) });
    assert!(found.gap() == 0.0, "gap {}", found.gap());
    assert!(found.best.expect("an array").cycles <= 122_158);
}

/// A stencil whose space loops can be tiled in no way: whole arrays are too large, and each PE has to take several
/// iterations in turn. One PE takes 6.2 million cycles.
#[test]
fn stencils_too_large_for_a_whole_array_have_more_than_one_pe() {
    let scop = parse(
        "stencil.c",
        "void f(double a[250][250], double b[250][250]) {\n#pragma scop\nfor (int t = 0; t < 100; t++) {\n\
         for (int i = 1; i < 249; i++)\nfor (int j = 1; j < 249; j++)\n\
         b[i][j] = 0.2 * (a[i][j] + a[i][j-1] + a[i][1+j] + a[1+i][j] + a[i-1][j]);\n\
         for (int i = 1; i < 249; i++)\nfor (int j = 1; j < 249; j++)\n\
         a[i][j] = 0.2 * (b[i][j] + b[i][j-1] + b[i][1+j] + b[1+i][j] + b[i-1][j]);\n}\n#pragma endscop\n}\n",
    );
    let spec = DesignSpec::default();
    let program = search::program(&scop, &spec).expect("a stencil");
    let task = task(&program, &spec, board().resources, 0);
    let found = search(&Task { effort: search::choose::effort(&program), ..task });
    let cycles = found.best.expect("an array").cycles;
    assert!(cycles < 200_000, "{cycles}");
}

#[test]
fn limits_loops_and_gap_are_respected() {
    let scop = product([32, 32, 32]);
    let spec = DesignSpec::default();
    let program = search::program(&scop, &spec).expect("a product");
    let all = task(&program, &spec, board().resources, 200);
    let free = search(&all);
    let few = search(&Task {
        limits: Resources { dsp: 64, ..board().resources },
        ..task(&program, &spec, board().resources, 200)
    });
    let (free_best, few_best) = (free.best.expect("an array"), few.best.expect("an array"));
    assert!(few_best.need.dsp <= 64 && few_best.cycles > free_best.cycles);
    assert!(few.bound >= 512, "32768 products on 64 multipliers");
    let over = search(&Task { space: Some(vec![0, 2]), ..task(&program, &spec, board().resources, 200) });
    assert_eq!(over.best.expect("an array").vsa.axes, ["i".to_string(), "k".to_string()]);
    let again = search(&all).best.expect("an array");
    assert_eq!((again.plan, again.words, again.cycles), (free_best.plan, free_best.words, free_best.cycles));
}

/// The shortcut of ResNet-50's conv3 stores so much that 12,000 grids have the bound of its port, 25,088 cycles. The effort of a
/// choice does not suffice to bound all their shapes; the best designs of those that it bounds take 25,974.
#[test]
fn shapes_at_hand_are_assembled_when_no_more_can_be_bounded() {
    let scop = parse(
        "layer.c",
        "#include <stdint.h>\nvoid layer(int8_t X[55][55][256], int8_t W[512][256], int32_t Y[28][28][512]) {\n\
         #pragma scop\nfor (int o = 0; o < 512; o++)\nfor (int r = 0; r < 28; r++)\nfor (int c = 0; c < 28; c++) {\n\
         Y[r][c][o] = 0;\nfor (int i = 0; i < 256; i++)\nY[r][c][o] += X[2 * r][2 * c][i] * W[o][i];\n}\n\
         #pragma endscop\n}\n",
    );
    let spec = search::on(&board(), &DesignSpec::default());
    let program = search::program(&scop, &spec).expect("a program");
    let effort = Effort { exact: 1500, bounds: 10_000_000, work: 40_000_000, gap: 0.0 };
    let found = search(&Task::new(&program, &spec, board().usable(), effort));
    assert!(found.counts.bounds > effort.bounds, "the effort suffices");
    let best = found.best.expect("an array");
    assert!(found.bound <= 25_088 && best.cycles < 26_500, "{} cycles", best.cycles);
}
