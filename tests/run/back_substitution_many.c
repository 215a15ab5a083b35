// Back substitution with many right-hand sides.
#ifndef N
#define N 5
#endif
#define M 4
// sagen:
// sagen: -D N=1
// sagen: -D N=2
// sagen: --row 1
// sagen: --row 2
// sagen: --row 3
void back(int U[N][N], int B[N][M], int X[N][M]) {
#pragma scop
  for (int i = N - 1; i >= 0; i--)
    for (int r = 0; r < M; r++) {
      X[i][r] = B[i][r];
      for (int j = i + 1; j < N; j++)
        X[i][r] -= U[i][j] * X[j][r];
      X[i][r] = X[i][r] / U[i][i];
    }
#pragma endscop
}
