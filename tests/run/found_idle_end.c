// The last phases execute nothing, in fewer visits than the others: their loads end before the run does, and no store waits for a
// value to which a loop does not come there.
// sagen: --seed 9500821 --ports u3,x0+u1+x2
// sagen:
#include <stdint.h>
#include <math.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define N0 5
#define N1 1
#define N2 5
void kernel(int32_t x0[6][5], const int16_t u1[5][6], int32_t x2[5], const uint8_t u3[5]) {
#pragma scop
for (int i = 0; i < N0; i++) {
  for (int j = 0; j < N2; j++) {
    for (int k = 0; k < N0; k++) {
      x0[i][j] += u1[j][j + 1] * x0[j][0];
    }
  }
}
for (int i = 0; i < N2; i++) {
  if (i < 2) x2[i] = MAX(x2[i], u1[i][i]); else x2[i] += -(((uint32_t)u1[i][i]));
}
#pragma endscop
}
