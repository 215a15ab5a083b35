// Tables at subscripts in variables that are clamped where they are: at once, in steps, in a branch, for all of a loop.
// sagen:
// sagen: --space i
#include <stdint.h>
#define N 21
#define K 13
static const int16_t sigmoid[17] = { 0, 1, 3, 8, 20, 47, 100, 180, 256, 332, 412, 465, 492, 504, 509, 511, 512 };
void f(const int8_t w[N][K], const int8_t x[K], int16_t y[N], int16_t z[N], int16_t u[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    int32_t s = 0;
    for (int k = 0; k < K; k++) s += w[i][k] * x[k];
    int32_t r = s >> 5;
    s = (s >> 3) + 2048;
    s = s < 0 ? 0 : s > 4095 ? 4095 : s;
    int32_t lo = sigmoid[s >> 8], hi = sigmoid[(s >> 8) + 1];
    y[i] = lo + ((hi - lo) * (s & 255) >> 8);
    // In steps, the first of them in some iterations.
    r += i;
    if (i < 3) r = r & 63; else r = r < 0 ? 0 : r;
    if (r > 16) r = 16;
    z[i] = sigmoid[r];
    // Of an outer loop.
    u[i] = 0;
    for (int k = 0; k < 3; k++) u[i] += sigmoid[r] >> k;
  }
#pragma endscop
}
