// 1-D convolution as uniform recurrences: x along (c, q) = (1, -1), weights along (1, 0), sums along (0, 1). FFS is this
// system under time 2c + q.
// sagen: --space c --time 2*c+q
// sagen: --space c --time 2*c+q --memory ddr --engine icarus
#include <stdint.h>
#define C 16
#define Q 5
void all_move(const int32_t x[C + Q - 1], const int32_t w[Q], int32_t out[C]) {
  int32_t X[C][Q], W[C][Q], Z[C][Q];
#pragma scop
  for (int c = 0; c < C; c++)
    for (int q = 0; q < Q; q++) {
      X[c][q] = c == 0 || q == Q - 1 ? x[c + q] : X[c - 1][q + 1];
      W[c][q] = c == 0 ? w[q] : W[c - 1][q];
      Z[c][q] = (q == 0 ? 0 : Z[c][q - 1]) + X[c][q] * W[c][q];
      if (q == Q - 1)
        out[c] = Z[c][q];
    }
#pragma endscop
}
