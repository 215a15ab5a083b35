// 1-D convolution as uniform recurrences: weights travel along (c, q) = (1, 0), partial sums along (0, 1), x is an input of
// every iteration. BSM and BFS are this system under two transforms (docs/transforms.md).
// sagen: --space q --time c+q
// sagen: --space q --time c+q --memory ddr --engine icarus
// sagen: --space c --time c+q
// sagen: --space c --time c+q --memory ddr --engine icarus
#include <stdint.h>
#define C 16
#define Q 5
void w_meets_z(const int32_t x[C + Q - 1], const int32_t w[Q], int32_t out[C]) {
  int32_t W[C][Q], Z[C][Q];
#pragma scop
  for (int c = 0; c < C; c++)
    for (int q = 0; q < Q; q++) {
      W[c][q] = c == 0 ? w[q] : W[c - 1][q];
      Z[c][q] = (q == 0 ? 0 : Z[c][q - 1]) + x[c + q] * W[c][q];
      if (q == Q - 1)
        out[c] = Z[c][q];
    }
#pragma endscop
}
