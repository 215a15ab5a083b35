// Two dense layers in fixed point, ReLU between them, the larger output's value last.
// sagen:
#include <stdint.h>
#define B 4
#define I 6
#define M 5
#define O 3
void mlp(int8_t x[B][I], int8_t w[M][I], int16_t bw[M], int8_t v[O][M], int16_t bv[O], int8_t h[B][M], int32_t y[B][O], int32_t top[B]) {
#pragma scop
  for (int b = 0; b < B; b++)
    for (int m = 0; m < M; m++) {
      int acc = bw[m];
      for (int i = 0; i < I; i++)
        acc += x[b][i] * w[m][i];
      acc >>= 4;
      h[b][m] = acc < 0 ? 0 : acc > 127 ? 127 : acc;
    }
  for (int b = 0; b < B; b++)
    for (int o = 0; o < O; o++) {
      y[b][o] = bv[o];
      for (int m = 0; m < M; m++)
        y[b][o] += h[b][m] * v[o][m];
    }
  for (int b = 0; b < B; b++) {
    top[b] = y[b][0];
    for (int o = 1; o < O; o++)
      if (y[b][o] > top[b])
        top[b] = y[b][o];
  }
#pragma endscop
}
