// Temporaries that are written under one condition and read under the same one again, and those of a single branch.
// sagen:
// sagen: --space i
#include <stdint.h>
#define N 7
void kernel(int32_t mode, const int32_t a[N], const int32_t c[N][4], int32_t x[N], int32_t y[N], int32_t z[N][4]) {
  int32_t t, u;
  struct { int32_t re, im; } w;
#pragma scop
  for (int i = 0; i < N; i++) {
    int32_t row[4], s;
    if (mode > 0) t = a[i] * 3;
    x[i] = 0;
    if (mode > 0) x[i] = t + 1; else x[i] = i;

    if (a[i] & 1) {
      for (int j = 0; j < 4; j++) row[j] = c[i][j] * 2;
      for (int j = 0; j < 4; j++) z[i][j] = row[3 - j];
    }

    if (a[i] > 10 && !(a[i] & 2)) { w.re = c[i][0]; w.im = c[i][1]; }
    y[i] = 1;
    if (a[i] > 10) {
      if (a[i] & 4) { u = 5; s = u + 1; } else { u = a[i]; s = 2; u += s; }
      if (!(a[i] & 2)) y[i] = w.re - w.im;
      y[i] += u * s;
    }
    // What is kept from an earlier iteration is not lost.
    u = 3;
    if (a[i] & 8) u = 4;
    y[i] += u;
  }
#pragma endscop
}
