// 1-D convolution as uniform recurrences: x along (c, q) = (1, -1), weights along (1, 0), sums along (0, -1), as q counts
// down. FSM is this system under c - q; names in a transform are C's own iterators, whichever way they count.
// sagen: --space q --time c-q
// sagen: --space q --time c-q --memory ddr --engine icarus
#include <stdint.h>
#define C 16
#define Q 5
void against_z(const int32_t x[C + Q - 1], const int32_t w[Q], int32_t out[C]) {
  int32_t X[C][Q], W[C][Q], Z[C][Q];
#pragma scop
  for (int c = 0; c < C; c++)
    for (int q = Q - 1; q >= 0; q--) {
      X[c][q] = c == 0 || q == Q - 1 ? x[c + q] : X[c - 1][q + 1];
      W[c][q] = c == 0 ? w[q] : W[c - 1][q];
      Z[c][q] = (q == Q - 1 ? 0 : Z[c][q + 1]) + X[c][q] * W[c][q];
      if (q == 0)
        out[c] = Z[c][q];
    }
#pragma endscop
}
