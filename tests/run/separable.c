// A separable filter: along the rows, then along the columns of what that has given.
#ifndef H
#define H 7
#endif
#ifndef W
#define W 6
#endif
// sagen:
// sagen: -D H=3 -D W=3
// sagen: -D H=9 -D W=7 --distribute
// sagen: -D H=5 -D W=11 --space i --latency i=1
#include <stdint.h>
void separable(const uint8_t x[H][W], const int16_t w[3], int32_t y[H - 2][W - 2]) {
  int32_t t[H][W - 2];
#pragma scop
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W - 2; j++) {
      t[i][j] = 0;
      for (int k = 0; k < 3; k++)
        t[i][j] += x[i][j + k] * w[k];
    }
  for (int i = 0; i < H - 2; i++)
    for (int j = 0; j < W - 2; j++) {
      y[i][j] = 0;
      for (int k = 0; k < 3; k++)
        y[i][j] += t[i + k][j] * w[k];
    }
#pragma endscop
}
