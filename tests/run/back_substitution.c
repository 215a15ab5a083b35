// Back substitution: rows from the last to the first; the sum along a row runs backwards in hardware.
#ifndef N
#define N 9
#endif
// sagen:
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=11 --space i --latency i=1
void back(int U[N][N], int b[N], int x[N]) {
#pragma scop
  for (int i = N - 1; i >= 0; i--) {
    x[i] = b[i];
    for (int j = i + 1; j < N; j++)
      x[i] -= U[i][j] * x[j];
    x[i] = x[i] / U[i][i];
  }
#pragma endscop
}
