// Operators that phases, conditions and the rows of a triangle do not need at once; those of one wave stay apart.
// sagen:
// sagen: --space i
// sagen: --space i --tile i=4
// sagen: --reassociate --objective cycles
#include <stdint.h>
#define N 12
void shared(const float a[N], const float b[N], const float c[N][N], const int16_t q[N], float x[N], float y[N],
            float z[N], int32_t r[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    x[i] = i < 5 ? a[i] * b[i] : i == 7 ? a[i] / b[i] : a[i] - b[i];
    y[i] = i > 3 ? b[i] / (a[i] + 3.0f) : (a[i] - b[i]) * a[i];
    r[i] = i < 6 ? q[i] * q[i] : q[i] * (q[i] - 3) + 5;
  }
  for (int i = 0; i < N; i++) {
    z[i] = x[i] - y[i];
    for (int j = 0; j < N; j++)
      z[i] += c[i][j] * x[j];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++)
      z[i] -= c[j][i] * y[j];
#pragma endscop
}
