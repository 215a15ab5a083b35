// sagen: --size n=1,m=1 --size n=7,m=3 --size n=13,m=17 --size n=24,m=9 --space j --tile j=4 --strip i=3
// A triangular product in place: a strip reads what none before has overwritten.
#pragma sagen max(n=24, m=17)
void trmm(int n, int m, const float A[n][n], float B[n][m]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      for (int k = i + 1; k < n; k++) B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= 1.5f;
    }
#pragma endscop
}
