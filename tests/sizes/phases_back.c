// sagen: --size n=1,m=1 --size n=5,m=3 --size n=12,m=9 --size n=2,m=9
// Back substitution behind a product: the second nest runs backwards.
#pragma sagen max(n=12, m=9)
void back(int n, int m, const float A[n][m], const float x[m], float y[n], float mean[m], float s[n]) {
#pragma scop
  for (int i = 0; i < n; i++) { s[i] = 0; for (int j = 0; j < m; j++) s[i] += A[i][j] * x[j]; }
  for (int i = n - 2; i >= 0; i--) s[i] = s[i] - 0.5f * s[i + 1];
  for (int i = 0; i < n; i++) y[i] = s[i] * s[n - 1 - i] + s[0];
  for (int j = 0; j < m; j++) { mean[j] = 0; for (int i = 0; i < n; i++) mean[j] += A[i][j] * y[i]; }
#pragma endscop
}
