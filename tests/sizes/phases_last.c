// sagen: --size n=6,t=4 --size n=5,t=2 --size n=3,t=1
// Sweeps so many times; what only the last one leaves is stored then, whenever that is.
#pragma sagen max(n=6, t=4)
void sweeps(int n, int t, float u[n][n], float v[n][n], float last[n]) {
#pragma scop
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) v[i][j] = u[i][j] + 0.5f * v[i][j - 1];
    for (int j = 0; j < n; j++) for (int i = n - 2; i >= 0; i--) u[i][j] = v[i][j] - 0.25f * u[i + 1][j];
    for (int i = 0; i < n; i++) last[i] = u[i][0] + v[i][0];
  }
#pragma endscop
}
