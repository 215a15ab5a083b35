// 1-D convolution out[c] = Σ x[c + q] w[q] as uniform recurrences: x travels along (q, c) = (1, -1), partial sums along
// (1, 0), weights are inputs of every iteration. SBM and FBS are this system under two transforms (docs/transforms.md).
// sagen: --space c+q --time q
// sagen: --space c+q --time q --memory ddr --engine icarus
// sagen: --space c --time q
// sagen: --space c --time q --memory ddr --engine icarus
#include <stdint.h>
#define C 16
#define Q 5
void x_meets_z(const int32_t x[C + Q - 1], const int32_t w[Q], int32_t out[C]) {
  int32_t X[C][Q], Z[C][Q];
#pragma scop
  for (int q = 0; q < Q; q++)
    for (int c = 0; c < C; c++) {
      X[c][q] = q == 0 || c == C - 1 ? x[c + q] : X[c + 1][q - 1];
      Z[c][q] = (q == 0 ? 0 : Z[c][q - 1]) + X[c][q] * w[q];
      if (q == Q - 1)
        out[c] = Z[c][q];
    }
#pragma endscop
}
