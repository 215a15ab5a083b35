// 16-bit samples with stride and dilation, channels as a batch; names that C++ has other meanings for.
// sagen:
// sagen: -D DILATION=3
// sagen: -D STRIDE=3 -D DILATION=2 -D N=301
#include <stdint.h>
#ifndef N
#define N 300
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef DILATION
#define DILATION 1
#endif
enum { K = 6, Q = 4, L = STRIDE * (N - 1) + DILATION * (Q - 1) + 1 };
void strided(const int16_t class[K][L], const int16_t hop[K][Q], int32_t new[K][N]) {
#pragma scop
  for (int template = 0; template < K; template++)
    for (int c = 0; c < N; c++) {
      new[template][c] = 0;
      for (int q = 0; q < Q; q++)
        new[template][c] += class[template][STRIDE * c + DILATION * q] * hop[template][q];
    }
#pragma endscop
}
