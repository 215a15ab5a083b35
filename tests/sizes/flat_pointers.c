// sagen: --size n=1,m=1,k=1 --size n=6,m=5,k=9 --size n=2,m=7,k=3 --size n=8,m=8,k=9
// Pointers and sizes: subscripts that multiply sizes, and extents that follow from the accesses.
#pragma sagen max(n=8, m=8, k=9)
void flat_pointers(const short *a, const short *b, int *c, int n, int m, int k) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      int s = 0;
      for (int l = 0; l < k; l++) s += a[i * k + l] * b[l * m + j];
      c[i * m + j] = s;
    }
#pragma endscop
}
