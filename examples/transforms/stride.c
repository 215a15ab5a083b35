// 1-D convolution with stride 2, out[c] = Σ x[2c + q] w[q]: x travels along (q, c) = (2, -1), so a value used in step q is
// used again by the PE to the left two steps later. FBS of docs/transforms.md.
// sagen: --space c --time q
// sagen: --space c --time q --memory ddr --engine icarus
#include <stdint.h>
#define C 16
#define Q 5
void stride(const int32_t x[2 * C + Q - 2], const int32_t w[Q], int32_t out[C]) {
  int32_t X[C][Q], Z[C][Q];
#pragma scop
  for (int q = 0; q < Q; q++)
    for (int c = 0; c < C; c++) {
      X[c][q] = q < 2 || c == C - 1 ? x[2 * c + q] : X[c + 1][q - 2];
      Z[c][q] = (q == 0 ? 0 : Z[c][q - 1]) + X[c][q] * w[q];
      if (q == Q - 1)
        out[c] = Z[c][q];
    }
#pragma endscop
}
