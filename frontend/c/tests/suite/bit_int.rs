//! `_BitInt(N)`: results as Clang computes them. Compilers that lack the type are still common.

use scop::interp;

const PROGRAM: &str =
    "void f(const _BitInt(5) a[4], const unsigned _BitInt(7) b[4], const _BitInt(8) c[4], long long y[4][12]) {
#pragma scop
  for (int i = 0; i < 4; i++) {
    y[i][0] = a[i] + a[i];
    y[i][1] = b[i] * b[i];
    y[i][2] = c[i] + c[i];
    y[i][3] = a[i] - b[i];
    y[i][4] = a[i] < 3u;
    y[i][5] = a[i] + 100;
    y[i][6] = -c[i];
    y[i][7] = ~b[i] >> 1;
    y[i][8] = c[i] / a[i];
    y[i][9] = (unsigned _BitInt(3))c[i] + 7uwb;
    y[i][10] = b[i] << 2;
    y[i][11] = i > 1 ? a[i] : 15wb;
  }
#pragma endscop
}";

/// What Clang 19 prints with `-fwrapv`.
const EXPECTED: [[i64; 12]; 4] = [
    [0, 1, 0, 113, 0, 84, -128, 0, 8, 7, 124, 15],
    [-2, 1, -2, 14, 0, 115, -127, 63, 8, 6, 4, 15],
    [14, 0, -56, 71, 0, 107, -100, 31, 14, 3, 0, 7],
    [-6, 36, -10, 35, 0, 97, 5, 18, 1, 2, 104, -3],
];

#[test]
fn results_are_those_of_clang() {
    let (scop, _) = frontend::parse_text("f.c", PROGRAM, &Default::default())
        .unwrap_or_else(|(map, faults)| panic!("{}", scop::render_plain(&map, &faults)));
    // The bits of memory that a value does not have are open.
    for padding in [0u64, 0xff] {
        let own = |all: [i64; 4], bits: u32| -> Vec<u64> {
            let mask = (1u64 << bits) - 1;
            all.iter().map(|&v| (v as u64 & mask | padding & !mask) & 0xff).collect()
        };
        let mut arrays: Vec<Vec<u64>> =
            scop.arrays.iter().map(|a| vec![0; a.dims.iter().product::<i64>() as usize]).collect();
        let at = |name: &str| scop.arrays.iter().position(|a| a.name == name).unwrap();
        arrays[at("a")] = own([-16, 15, 7, -3], 5);
        arrays[at("b")] = own([127, 1, 64, 90], 7);
        arrays[at("c")] = own([-128, 127, 100, -5], 8);
        let mut memory = interp::Memory { arrays };
        interp::run(&scop, &mut memory).unwrap();
        let found: Vec<i64> = memory.arrays[at("y")].iter().map(|&v| v as i64).collect();
        assert_eq!(found, EXPECTED.concat());
    }
}
