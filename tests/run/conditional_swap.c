// A temporary of the function that only one branch uses, and one that a loop in the branch sums in.
// sagen:
// sagen: --space i --latency i=1
#include <stdint.h>
#define N 6
void kernel(int32_t a[N], int32_t b[N], int32_t c[N][4]) {
  int32_t t, s;
#pragma scop
  for (int i = 0; i < N; i++) {
    if (a[i] > b[i]) {
      t = a[i];
      a[i] = b[i];
      b[i] = t;
    }
    if (a[i] & 1) {
      s = 1;
      for (int j = 0; j < 4; j++)
        s += c[i][j];
      c[i][0] = s;
    }
  }
#pragma endscop
}
