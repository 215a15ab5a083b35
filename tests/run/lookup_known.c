// Subscripts of tables that conditions keep inside: `?:`, `&&`, `if` with and without `else`, both signs, a magnitude.
#include <stdint.h>
#include <stdlib.h>
#define N 24
static const int16_t square[12] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121 };
static const uint8_t grid[3][5] = { { 7, 1, 8, 2, 8 }, { 1, 8, 2, 8, 4 }, { 5, 9, 0, 4, 5 } };
void f(const uint8_t x[N], const int8_t s[N], int16_t y[N], int16_t z[N], uint8_t w[N], uint8_t v[N], int16_t u[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    y[i] = x[i] < 12 ? square[x[i]] : -1;
    if (s[i] >= 0 && s[i] < 12)
      z[i] = square[s[i]];
    else if (s[i] > -12 && s[i] < 0)
      z[i] = -square[-s[i]];
    int r = x[i] / 5, c = x[i] % 5;
    if (r < 3) {
      w[i] = grid[r][c];
      v[i] = c != 0 && grid[r][c - 1] > 4 ? 1 : 0;
    }
    u[i] = !(abs(s[i]) > 11 || i == 5) ? square[abs(s[i])] : square[s[i] <= 11 && s[i] > 3 ? s[i] - 4 : 0];
  }
#pragma endscop
}
