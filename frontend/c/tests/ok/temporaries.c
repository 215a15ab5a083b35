// Scalars from outside of the region or the branch that uses them: some never outlive their branch, some do.
#include <stdint.h>
#define N 9
void temporaries(int a[N], int b[N], int c[N], int16_t out[5][N]) {
  int t, u, v, w;
  int last = 0, kept = 1, twice = 0;
#pragma scop
  for (int i = 0; i < N; i++) {
    if (a[i] > b[i]) {
      t = a[i];
      a[i] = b[i];
      b[i] = t;
    }
    if (b[i] > c[i]) {
      t = b[i];
      if (t & 1) {
        u = t >> 1;
        b[i] = u;
      } else
        b[i] = c[i];
      c[i] = t;
    }
    if (c[i] & 4) {
      v = 0;
      for (int j = 0; j <= i; j++) {
        v += c[j];
        if (v < 0) {
          w = v;
          out[0][j] = w;
        }
      }
      out[1][i] = v;
    }
    // Read behind the branch, by the other branch, by a later iteration: these are seen from outside.
    if (a[i] & 1) {
      last = a[i];
      out[2][i] = last;
    }
    out[3][i] = last;
    if (a[i] & 2) {
      if (i > 0)
        out[4][i] = kept;
      kept = b[i];
    } else {
      out[2][i] = kept;
      kept += 1;
    }
    for (int j = 0; j < 2; j++) {
      if (b[i] & 8) {
        out[4][i] += twice;
        twice = c[i] + j;
      }
    }
  }
#pragma endscop
}
