// Weights of 4 bits and activations of 3: a byte each in memory. Products of `int` grow, those of `_BitInt` do not.
#include <stdint.h>
typedef _BitInt(4) s4;
typedef unsigned _BitInt(3) u3;
#define N 12
void layer(const s4 w[N][N], const u3 x[N], _BitInt(12) y[N], int32_t z[N], s4 q[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    int32_t acc = 0;
    _BitInt(12) sum = 0;
    for (int j = 0; j < N; j++) {
      acc += w[i][j] * (int)x[j];
      sum += (_BitInt(12))w[i][j] * x[j];
    }
    y[i] = sum;
    z[i] = acc;
    q[i] = w[i][0] * w[i][1] + 1wb;
  }
#pragma endscop
}
