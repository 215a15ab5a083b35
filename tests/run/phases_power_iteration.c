// Power iteration, normalized by the largest entry.
// sagen:
// sagen: --on-chip 0
#include <math.h>
#define N 5
void power(const float a[N][N], float x[N], float lambda[1]) {
  float y[N];
#pragma scop
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < N; i++) {
      y[i] = 0.0f;
      for (int j = 0; j < N; j++)
        y[i] += a[i][j] * x[j];
    }
    float m = 0.0f;
    for (int i = 0; i < N; i++)
      m = fmaxf(m, fabsf(y[i]));
    for (int i = 0; i < N; i++)
      x[i] = y[i] / m;
    lambda[0] = m;
  }
#pragma endscop
}
