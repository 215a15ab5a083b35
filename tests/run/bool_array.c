// `_Bool` in memory: a byte that is 0 or 1.
// sagen:
// sagen: --space i --latency i=1
// sagen: --word a=8 --word hit=4
#include <stdbool.h>
#include <stdint.h>
#define N 13
void kernel(const _Bool a[N], bool hit[N], bool any[1], int32_t x[N], bool on) {
#pragma scop
  for (int i = 0; i < N; i++) {
    hit[i] = a[i] && x[i] > 3;
    x[i] += a[i] + on;
    any[0] |= hit[i] & x[i];
  }
#pragma endscop
}
