// A convolution layer: O output channels of R x C pixels from I input channels, P x Q kernels.
#include <stdint.h>

#ifndef O
#define O 16
#endif
#ifndef I
#define I 8
#endif
#ifndef R
#define R 14
#endif
#ifndef C
#define C 14
#endif
#ifndef P
#define P 3
#endif
#ifndef Q
#define Q 3
#endif

void cnn(int8_t cin[I][R + P - 1][C + Q - 1], int8_t w[O][I][P][Q], int32_t cout[O][R][C]) {
#pragma scop
  for (int o = 0; o < O; o++)
    for (int r = 0; r < R; r++)
      for (int c = 0; c < C; c++) {
        cout[o][r][c] = 0;
        for (int i = 0; i < I; i++)
          for (int p = 0; p < P; p++)
            for (int q = 0; q < Q; q++)
              cout[o][r][c] += cin[i][r + p][c + q] * w[o][i][p][q];
      }
#pragma endscop
}
