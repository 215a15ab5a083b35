// sagen: --size n=5,m=3 --size n=2,m=1 --size n=1,m=5 --strip j=1
// What all strips write, the last one stores, of which the size says the number.
#pragma sagen max(n=5, m=5)
void fill(int n, unsigned m, const int u[9], int x[5][6]) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j <= m; ++j)
      for (int k = 0; k <= j; k++) x[i][k] = u[j];
#pragma endscop
}
