// A network of two convolutions, pooling and a fully connected layer in int8, requantized between the layers, as one IP: what no
// single array can do is distributed into phases, arrays of one set of hardware that run one after the other and pass their
// results on through DRAM. docs/results/phases.md has more programs of this kind.
#include <stdint.h>
#define SIDE 14
#define C1 8
#define C2 16
#define CLASSES 10

// Rectified and scaled by m / 2^s, back to int8.
static inline int8_t requantize(int32_t v, int32_t m, int s) {
  int32_t r = (int32_t)(((int64_t)v * m) >> s);
  return r < 0 ? 0 : r > 127 ? 127 : r;
}

void network(const int8_t x[3][SIDE][SIDE], const int8_t w1[C1][3][3][3], const int32_t b1[C1], const int8_t w2[C2][C1][3][3],
             const int32_t b2[C2], const int8_t w3[CLASSES][C2][5][5], const int32_t b3[CLASSES], int32_t y[CLASSES]) {
  int32_t s1[C1][12][12], s2[C2][10][10];
  int8_t a1[C1][12][12], a2[C2][10][10], p[C2][5][5];
#pragma scop
  for (int o = 0; o < C1; o++)
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 12; j++) {
        s1[o][i][j] = b1[o];
        for (int c = 0; c < 3; c++)
          for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++)
              s1[o][i][j] += x[c][i + u][j + v] * w1[o][c][u][v];
        a1[o][i][j] = requantize(s1[o][i][j], 77, 14);
      }
  for (int o = 0; o < C2; o++)
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 10; j++) {
        s2[o][i][j] = b2[o];
        for (int c = 0; c < C1; c++)
          for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++)
              s2[o][i][j] += a1[c][i + u][j + v] * w2[o][c][u][v];
        a2[o][i][j] = requantize(s2[o][i][j], 91, 15);
      }
  for (int o = 0; o < C2; o++)
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 5; j++) {
        p[o][i][j] = 0;
        for (int u = 0; u < 2; u++)
          for (int v = 0; v < 2; v++)
            p[o][i][j] = a2[o][2 * i + u][2 * j + v] > p[o][i][j] ? a2[o][2 * i + u][2 * j + v] : p[o][i][j];
      }
  for (int o = 0; o < CLASSES; o++) {
    y[o] = b3[o];
    for (int c = 0; c < C2; c++)
      for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
          y[o] += p[c][i][j] * w3[o][c][i][j];
  }
#pragma endscop
}
