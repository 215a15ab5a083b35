// An array that is longer than addresses of 32 bits reach at the greatest sizes.
// sagen: --address-bits 32
#pragma sagen max(m=65536, n=65537)
void kernel(int m, int n, const signed char x[m][n], int y[m]) { //~^^^ ERROR E0726 `x` has 4295032832 bytes
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      y[i] += x[i][j];
#pragma endscop
}
