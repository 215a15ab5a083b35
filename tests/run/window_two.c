// Two windows in a chain, in two dimensions: smooth, then derive.
#ifndef H
#define H 7
#endif
// sagen:
// sagen: -D H=5
#include <stdint.h>
void edges(const uint8_t x[H][8], const int8_t g[3][3], const int8_t h[3][3], int32_t y[H - 4][4]) {
  int32_t t[H - 2][6];
#pragma scop
  for (int i = 0; i < H - 2; i++)
    for (int j = 0; j < 6; j++) {
      t[i][j] = 0;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
          t[i][j] += x[i + a][j + b] * g[a][b];
    }
  for (int i = 0; i < H - 4; i++)
    for (int j = 0; j < 4; j++) {
      y[i][j] = 0;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
          y[i][j] += t[i + a][j + b] * h[a][b];
    }
#pragma endscop
}
