// Calls of the file's own functions: values, choices, early returns, statements with results by address, arrays.
#include <stdint.h>
#define N 5
#define M 4
static const int16_t gain[3] = {3, -2, 7};
static inline int16_t clamp(int32_t x, int32_t lo, int32_t hi) {
  if (x < lo)
    return lo;
  if (x > hi)
    return hi;
  return x;
}
// Its locals are called like variables of the caller.
static inline int8_t requantize(int32_t v, int32_t scale) {
  int32_t i = (int32_t)(((int64_t)v * scale) >> 7);
  int32_t row = i > 127 ? 127 : i;
  return row < 0 ? 0 : row;
}
static int32_t weighted(int8_t a, int8_t b) {
  int32_t sum = a + b;
  int16_t difference = a - b;
  if (difference < 0)
    difference = -difference;
  else
    sum++;
  return sum * gain[1] + difference;
}
static void mac(int32_t *acc, int16_t a, int16_t b) { *acc += a * b; }
static int32_t dot(const int16_t x[M], const int16_t *y) {
  int32_t s = 0;
  for (int k = 0; k < M; k++)
    mac(&s, x[k], y[k]);
  return s;
}
static void scale(int32_t row[M], int i, int32_t by) {
  for (int j = 0; j < M; j++) {
    by += j;
    row[j] = row[j] * by + gain[2] * i;
  }
}
void kernel(const int16_t a[N][M], const int16_t b[N][M], const int8_t c[N], int32_t d[N], int32_t e[N][M], int16_t f[N]) {
  int32_t row;
#pragma scop
  for (int i = 0; i < N; i++) {
    d[i] = dot(a[i], &b[i][0]) - 1;
    scale(e[i], i, d[i]);
    row = requantize(d[i], 3) + i;
    f[i] = row + clamp(d[i] >> 8, -300, 200) + weighted(c[i], i > 2 ? 5 : -5);
  }
#pragma endscop
}
