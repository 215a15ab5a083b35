// Convolution of several channels, ReLU, pooling, convolution.
#include <stdint.h>
void net(int8_t in[2][8][8], int8_t w1[3][2][3][3], int8_t w2[2][3][2][2], int32_t a[3][6][6], int32_t b[3][3][3], int32_t out[2][2][2]) {
#pragma scop
  for (int f = 0; f < 3; f++)
    for (int y = 0; y < 6; y++)
      for (int x = 0; x < 6; x++) {
        a[f][y][x] = 0;
        for (int c = 0; c < 2; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              a[f][y][x] += in[c][y + r][x + s] * w1[f][c][r][s];
        a[f][y][x] = a[f][y][x] > 0 ? a[f][y][x] : 0;
      }
  for (int f = 0; f < 3; f++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++) {
        b[f][y][x] = a[f][2 * y][2 * x];
        for (int r = 0; r < 2; r++)
          for (int s = 0; s < 2; s++)
            b[f][y][x] = b[f][y][x] > a[f][2 * y + r][2 * x + s] ? b[f][y][x] : a[f][2 * y + r][2 * x + s];
      }
  for (int f = 0; f < 2; f++)
    for (int y = 0; y < 2; y++)
      for (int x = 0; x < 2; x++) {
        out[f][y][x] = 0;
        for (int c = 0; c < 3; c++)
          for (int r = 0; r < 2; r++)
            for (int s = 0; s < 2; s++)
              out[f][y][x] += b[c][y + r][x + s] * w2[f][c][r][s];
      }
#pragma endscop
}
