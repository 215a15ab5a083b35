// sagen: --size n=3,t=1 --size n=8,t=4 --size n=5,t=2
// Sweeps along rows, then along columns, so many times.
#pragma sagen max(n=8, t=4)
void sweeps(int n, int t, float u[n][n], float v[n][n]) {
#pragma scop
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) v[i][j] = u[i][j] + 0.5f * v[i][j - 1];
    for (int j = 0; j < n; j++) for (int i = n - 2; i >= 0; i--) u[i][j] = v[i][j] - 0.25f * u[i + 1][j];
  }
#pragma endscop
}
