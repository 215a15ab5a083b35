// 2-D convolution with stride 2, the sum written as a choice: an array over both results, over a filter's diagonal, and with
// lanes. What the border reads is fed only there.
// sagen: --space c,r --time p,q
// sagen: --space c+q,r --time p,q
// sagen: --space c,q --time r,p
// sagen: --space c --time r,q,p --simd p=3
#include <stdint.h>
#define R 4
#define C 5
#define P 3
#define Q 2
void transformed_stride(const int16_t x[2 * R + P][2 * C + Q], const int16_t w[P][Q], int32_t out[R][C]) {
#pragma scop
  for (int r = 0; r < R; r++)
    for (int c = 0; c < C; c++)
      for (int p = 0; p < P; p++)
        for (int q = 0; q < Q; q++)
          out[r][c] = (p == 0 && q == 0 ? 0 : out[r][c]) + x[2 * r + p][2 * c + q] * w[p][q];
#pragma endscop
}
