// sagen: --size n=1,m=1 --size n=5,m=7 --size n=6,m=16 --size n=2,m=3
// Layer normalization, a VLA between phases, and a scatter behind an initializing nest.
#pragma sagen max(n=6, m=16)
void norm(int n, int m, const float x[n][m], const float g[m], float y[n][m], float z[n + m]) {
  float mean, var;
  float h[n][m];
#pragma scop
  for (int i = 0; i < n; i++) {
    mean = 0;
    for (int j = 0; j < m; j++) mean += x[i][j];
    mean = mean * 0.0625f;
    var = 0.001f;
    for (int j = 0; j < m; j++) var += (x[i][j] - mean) * (x[i][j] - mean);
    for (int j = 0; j < m; j++) h[i][j] = (x[i][j] - mean) / var;
  }
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i][j] = h[n - 1 - i][m - 1 - j] * g[j] + h[0][0];
  for (int k = 0; k < n + m; k++) z[k] = 0;
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) z[i + j] += y[i][j] * g[j];
#pragma endscop
}
