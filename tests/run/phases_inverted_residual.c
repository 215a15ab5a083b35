// Expand, depthwise with padding, project, add: three sums with an activation behind each, int8.
#include <stdint.h>
#define H 6
#define W 7
#define C 3
#define E 5
static inline int8_t clipped(int32_t v) { v = v >> 8; return v < -128 ? -128 : v > 127 ? 127 : v; }
static inline int8_t relu6(int32_t v) { v = v >> 7; return v < 0 ? 0 : v > 96 ? 96 : v; }
void block(const int8_t x[H][W][C], const int8_t we[E][C], const int8_t wd[3][3][E], const int8_t wp[C][E], int8_t y[H][W][C]) {
  int8_t e[H][W][E], d[H][W][E];
#pragma scop
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      for (int o = 0; o < E; o++) {
        int32_t s = 0;
        for (int c = 0; c < C; c++) s += x[i][j][c] * we[o][c];
        e[i][j][o] = relu6(s);
      }
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      for (int o = 0; o < E; o++) {
        int32_t s = 0;
        for (int u = -1; u <= 1; u++)
          for (int v = -1; v <= 1; v++)
            if (i + u >= 0 && i + u < H && j + v >= 0 && j + v < W) s += e[i + u][j + v][o] * wd[u + 1][v + 1][o];
        d[i][j][o] = relu6(s);
      }
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++)
      for (int c = 0; c < C; c++) {
        int32_t s = 0;
        for (int o = 0; o < E; o++) s += d[i][j][o] * wp[c][o];
        y[i][j][c] = clipped(s + (x[i][j][c] << 8));
      }
#pragma endscop
}
