// Variables that hold what subscripts, bounds and conditions are made of.
// sagen:
// sagen: --row 4
#include <stdbool.h>
#include <stdint.h>
#define H 7
#define W 6
static inline int8_t at(const int8_t x[2][H][W], int c, int r, int q) {
  int row = 2 * r - 1, column = q;
  return row >= 0 && row < H ? x[c][row][column] : 0;
}
void temporary_subscripts(const int8_t x[2][H][W], const int8_t w[3][2][3][3], const int32_t t[40], int32_t y[3][4][3], int32_t z[20], int32_t u[2][20], int32_t v[10], int32_t p[4][W]) {
  int off, row, half = W / 2;
#pragma scop
  // Padding and stride; `yy` of an outer loop, `xx` in two steps, a condition kept in a variable.
  for (int o = 0; o < 3; o++)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < half; j++) {
        int32_t s = 0;
        const int top = 2 * i - 1;
        for (int c = 0; c < 2; c++)
          for (int a = 0; a < 3; a++) {
            int yy = top + a;
            for (int b = 0; b < 3; b++) {
              int xx = 2 * j;
              xx += b;
              xx--;
              bool inside = yy >= 0 && yy < H && xx >= 0 && xx < W;
              if (inside) s += x[c][yy][xx] * w[o][c][a][b];
            }
          }
        y[o][i][j] = s;
      }
  // The same variable for several values; one of a narrow type, which holds them all.
  for (int i = 0; i < 20; i++) {
    off = i + 1;
    z[i] = t[off] * 3;
    off = 19 - i;
    z[i] += t[off] + off;
    uint8_t twice = 2 * i;
    z[i] -= t[twice];
  }
  // A variable is hidden by another one of its name, and seen again.
  for (int i = 0; i < 10; i++) {
    int k = i;
    v[k] = 0;
    for (int j = 0; j < 3; j++) {
      int m = k + j;
      int k = 2 * j + 1;
      v[i] += t[k] * t[m];
    }
    v[i] += k;
  }
  // Quotients and remainders, and a border that is clamped.
  for (int i = 0; i < 40; i++) {
    int q = i / 2, r = i % 2;
    int before = i == 0 ? 0 : i - 1;
    u[r][q] = t[i] - t[before];
  }
  // In a function, and as a bound.
  for (row = 0; row < 4; row++) {
    int end = row < 2 ? 3 : W;
    for (int q = 0; q < end; q++) p[row][q] = at(x, 1, row, q);
    for (int q = end; q < W; q++) p[row][q] = -1;
  }
#pragma endscop
}
