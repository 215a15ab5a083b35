// LU decomposition without pivoting with every dependence written as a uniform one, as systolic compilers ask for it:
// U moves along j, L along i, what is left to eliminate along k.
#ifndef N
#define N 5
#endif
// sagen:
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=3 --space j,i --latency j=1
// sagen: -D N=7 --space j,i --latency j=1
void lu(float A[N][N], float L[N][N], float U[N][N]) {
  float prev[N][N][N], v[N][N][N], u[N][N][N], l[N][N][N];
#pragma scop
  for (int k = 0; k < N; k++)
    for (int j = k; j < N; j++)
      for (int i = k; i < N; i++) {
        if (k == 0)
          prev[k][j][i] = A[j][i];
        else
          prev[k][j][i] = v[k - 1][j][i];
        if (j == k) {
          u[k][j][i] = prev[k][j][i];
          U[j][i] = u[k][j][i];
        } else {
          u[k][j][i] = u[k][j - 1][i];
          if (i == k) {
            l[k][j][i] = prev[k][j][i] / u[k][j][i];
            L[j][i] = l[k][j][i];
          } else
            l[k][j][i] = l[k][j][i - 1];
          v[k][j][i] = prev[k][j][i] - l[k][j][i] * u[k][j][i];
        }
      }
#pragma endscop
}
