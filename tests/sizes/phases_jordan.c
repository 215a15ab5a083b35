// sagen: --size n=1 --size n=4 --size n=9
// Gauss-Jordan without pivoting of an order that is a size, then a product.
#pragma sagen max(n=9)
void jordan(int n, float a[n][n], float b[n], float c[n]) {
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) if (i != k) {
      for (int j = k + 1; j < n; j++) a[i][j] -= a[i][k] / a[k][k] * a[k][j];
      b[i] -= a[i][k] / a[k][k] * b[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) c[i] = b[i] / a[i][i] + b[n - 1 - i];
#pragma endscop
}
