// Floating point: contractions off, mixed with double constants, library calls.
#include <math.h>
#define N 6
typedef float real;
void flt(real A[N][N], float x[N], float y[N], int n[N], double d[N]) {
#pragma scop
  for (int j = 0; j < N; j++) {
    for (int k = 0; k < j; k++)
      A[j][j] -= A[j][k] * A[j][k];
    A[j][j] = sqrtf(fabsf(A[j][j])) + 0.5;
    for (int i = j + 1; i < N; i++) {
      for (int k = 0; k < j; k++)
        A[i][j] = A[i][j] - A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
  }
  for (int i = 0; i < N; i++) {
    x[i] = fmaf(A[i][0], y[i], x[i]) * 0.1f;
    if (y[i] > x[i])
      y[i] = fmaxf(x[i], -y[i]);
    else
      y[i] = fminf(y[i], 1e3f) / 3;
    n[i] = x[i] < 1000 && x[i] > -1000.0 ? (int)x[i] : -1;
    d[i] = d[i] * 0.1 + x[i];
  }
#pragma endscop
}
