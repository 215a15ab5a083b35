// A convolution layer, channels last: O channels of R x C pixels from I channels, P x P kernels, stride S. The input
// holds its zero padding. The runs are the kinds of layer in ResNet-50 (1x1, 3x3 and 7x7, stride 1 and 2), reduced;
// scripts/layers.py runs them in full size.
// sagen: -D O=8 -D I=16 -D P=1 --space o,c --tile o=8,c=7,r=7 --latency o=2 --simd i=8
// sagen: -D O=8 -D I=16 -D P=1 --space o,c --tile o=8,c=7,r=7 --latency o=2 --simd i=8 --unaligned
// sagen: -D O=8 -D I=16 -D P=1 -D S=2 -D R=5 --space o,c --tile o=8,c=7,r=7 --latency o=2 --simd i=8
// sagen: -D O=8 -D I=16 -D R=9 --space o,c --tile o=4,c=7,r=7 --simd i=8
// sagen: -D O=8 -D I=16 -D S=2 --space o,c --tile o=4,c=7,r=7,i=8 --simd i=8
// sagen: -D O=8 -D I=3 -D P=7 -D S=2 --space o,c --tile o=8,c=7,r=7 --latency o=2 --simd i=3
#include <stdint.h>
#ifndef O
#define O 4
#endif
#ifndef I
#define I 8
#endif
#ifndef R
#define R 7
#endif
#ifndef C
#define C 10
#endif
#ifndef P
#define P 3
#endif
#ifndef S
#define S 1
#endif
void conv_layer(int8_t in[S * (R - 1) + P][S * (C - 1) + P][I], int8_t w[O][P][P][I], int32_t out[R][C][O]) {
#pragma scop
  for (int o = 0; o < O; o++)
    for (int r = 0; r < R; r++)
      for (int c = 0; c < C; c++) {
        out[r][c][o] = 0;
        for (int i = 0; i < I; i++)
          for (int p = 0; p < P; p++)
            for (int q = 0; q < P; q++)
              out[r][c][o] += in[S * r + p][S * c + q][i] * w[o][p][q][i];
      }
#pragma endscop
}
