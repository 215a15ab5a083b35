// sagen: --size n=1 --size n=2 --size n=19 --size n=47 --size n=56
#pragma sagen max(n=56)
void lu(int n, float A[n][n]) {
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) A[i][k] /= A[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
