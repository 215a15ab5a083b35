//! How fast the two ends of a search are, on all cores: bounds of shapes in closed form, and designs that are
//! assembled, counted, and walked while they take less than a tenth more than the least bound. `cargo bench -p search
//! [-- CASE]`

use cost::board::Resources;
use search::branch::{rates, Effort, Task};
use uniform::design::DesignSpec;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PRODUCT: &str =
    "#include <stdint.h>\nvoid mm(T A[1024][1024], T B[1024][1024], R C[1024][1024]) {\n#pragma scop\n\
    for (int i = 0; i < 1024; i++) for (int j = 0; j < 1024; j++) { C[i][j] = 0;\n\
    for (int k = 0; k < 1024; k++) C[i][j] += A[i][k] * B[k][j]; }\n#pragma endscop\n}\n";
const CONVOLUTION: &str = "#include <stdint.h>\nvoid conv(int8_t X[128][30][30], int8_t W[128][128][3][3], int32_t \
    Y[128][28][28]) {\n#pragma scop\n\
    for (int o = 0; o < 128; o++) for (int r = 0; r < 28; r++) for (int c = 0; c < 28; c++) { Y[o][r][c] = 0;\n\
    for (int i = 0; i < 128; i++) for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++)\n\
    Y[o][r][c] += X[i][r + p][c + q] * W[o][i][p][q]; }\n#pragma endscop\n}\n";
/// DSP slices of a large device; nothing else is limited, so every design is walked.
const DSP: i64 = 9830;
const GRIDS: usize = 4000;
const DESIGNS: usize = 4000;

fn main() {
    let product =
        |input: &str, sum: &str| PRODUCT.replace("T ", &format!("{input} ")).replace("R ", &format!("{sum} "));
    let cases = [
        ("int8", product("int8_t", "int32_t")),
        ("int16", product("int16_t", "int32_t")),
        ("fp32", product("float", "float")),
        ("conv", CONVOLUTION.to_string()),
    ];
    println!("{:<8} {:>12} {:>14} {:>10} {:>12}", "case", "bounds", "bounds/s", "designs", "designs/s");
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    for (name, text) in cases.into_iter().filter(|(name, _)| only.is_empty() || only.iter().any(|o| o == name)) {
        let Ok((scop, _)) = frontend::parse_text(&format!("{name}.c"), &text, &Default::default()) else {
            panic!("{name} is no program")
        };
        let spec = DesignSpec::default();
        let program = search::program(&scop, &spec).expect("an array executes it");
        let limits = Resources { dsp: DSP, lut: i64::MAX, ff: i64::MAX, bram18: i64::MAX, uram: i64::MAX, ram: 0 };
        let effort = Effort { exact: 0, bounds: 0, work: 0, gap: 0.0 };
        let task = Task::new(&program, &spec, limits, effort);
        let r = rates(&task, GRIDS, DESIGNS);
        println!(
            "{name:<8} {:>12} {:>14.0} {:>10} {:>12.0}",
            r.bounds,
            r.bounds as f64 / r.bounding.as_secs_f64(),
            r.designs,
            r.designs as f64 / r.evaluating.as_secs_f64()
        );
    }
}
