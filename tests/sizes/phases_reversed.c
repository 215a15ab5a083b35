// sagen: --size n=12 --size n=1 --size n=5
// The second product reads the first one's result from its end: phases.
#pragma sagen max(n=12)
void kernel(int n, const int A[n][n], const int x[n], int y[n], int z[n]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++)
      y[i] += A[i][j] * x[j];
  }
  for (int i = 0; i < n; i++) {
    z[i] = 0;
    for (int j = 0; j < n; j++)
      z[i] += A[j][i] * y[n - 1 - j];
  }
#pragma endscop
}
