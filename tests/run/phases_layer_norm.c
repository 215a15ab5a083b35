// Layer normalization: mean, variance, normalized rows.
#include <math.h>
#define R 4
#define N 6
void layernorm(const float x[R][N], const float g[N], const float b[N], float y[R][N]) {
#pragma scop
  for (int i = 0; i < R; i++) {
    float mean = 0.0f, var = 0.0f;
    for (int j = 0; j < N; j++)
      mean += x[i][j];
    mean = mean / 6.0f;
    for (int j = 0; j < N; j++)
      var += (x[i][j] - mean) * (x[i][j] - mean);
    var = sqrtf(var / 6.0f + 1e-5f);
    for (int j = 0; j < N; j++)
      y[i][j] = (x[i][j] - mean) / var * g[j] + b[j];
  }
#pragma endscop
}
