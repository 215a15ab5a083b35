//! Floating-point programs through whole arrays: the IP in the simulator against the array's interpreter.

use crate::array_support::{check, contents};
use templates::axi::memory::Timing;
use uniform::design::DesignSpec;

/// Every array that the program has computes what the interpreter computes, on random bits.
fn every_array(text: &str) {
    let scop = match frontend::parse_text("test.c", text, &Default::default()) {
        Ok((scop, _)) => scop,
        Err((map, d)) => panic!("{}", scop::render_plain(&map, &d)),
    };
    let rows = search::enumerate(&scop, &DesignSpec::default())
        .unwrap_or_else(|d| panic!("{}", scop::render_plain(&scop.sources, &d)));
    assert!(!rows.is_empty());
    for row in &rows {
        if let Err(e) = check(&row.vsa, contents(&row.vsa, 99), Timing::IDEAL) {
            panic!("{:?} {:?}: {e}", row.axes, row.vsa.extent);
        }
    }
}

fn products(input: &str, output: &str) -> String {
    format!(
        "void mm({input} A[5][6], {input} B[6][4], {output} C[5][4]) {{\n#pragma scop\n\
         for (int i = 0; i < 5; i++) for (int j = 0; j < 4; j++) \
         {{ C[i][j] = 0; for (int k = 0; k < 6; k++) C[i][j] += ({output})A[i][k] * B[k][j]; }}\n\
         #pragma endscop\n}}\n"
    )
}

#[test]
fn products_of_floats() {
    every_array(&products("float", "float"));
    every_array(&products("_Float16", "float"));
}

#[test]
fn triangular_solve() {
    every_array(
        "void trisolv(float L[6][6], float x[6], float b[6]) {\n#pragma scop\n\
         for (int i = 0; i < 6; i++) {\n\
         x[i] = b[i]; for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j]; x[i] = x[i] / L[i][i]; }\n\
         #pragma endscop\n}\n",
    );
}

#[test]
fn operators() {
    every_array(
        "#include <math.h>\nvoid f(float a[9], float b[9], int c[9], float o[9], int p[9], float q[9]) \
        {\n#pragma scop\n\
         for (int i = 0; i < 9; i++) {\n o[i] = fmaf(a[i], b[i], (float)c[i]) + sqrtf(fabsf(a[i])) / b[i];\n\
         p[i] = (int)a[i] + (a[i] < b[i]) + (a[i] != b[i] ? 2 : 4);\n\
         q[i] = fminf(a[i], -b[i]) - fmaxf(a[i], b[i]); }\n#pragma endscop\n}\n",
    );
}
