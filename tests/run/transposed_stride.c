// A transposed convolution with stride in scatter form, channels outside: the element that a tap adds to was written last at one or
// another distance.
#include <stdint.h>
#define C 3
#define O 2
#define N 9
#define TAPS 4
#define STRIDE 2
#define PAD 1

void transposed_stride(const int8_t x[C][N], const int8_t w[C][O][TAPS], int32_t y[O][STRIDE * N]) {
#pragma scop
  for (int o = 0; o < O; o++)
    for (int i = 0; i < STRIDE * N; i++)
      y[o][i] = 0;
  for (int c = 0; c < C; c++)
    for (int i = 0; i < N; i++)
      for (int o = 0; o < O; o++)
        for (int u = 0; u < TAPS; u++)
          if (STRIDE * i + u - PAD >= 0 && STRIDE * i + u - PAD < STRIDE * N)
            y[o][STRIDE * i + u - PAD] += x[c][i] * w[c][o][u];
#pragma endscop
}
