// The second product reads the first one's result from its end: phases, which sizes at run time do not have.
#pragma sagen max(n=12)
void kernel(int n, const int A[n][n], const int x[n], int y[n], int z[n]) {
#pragma scop //~ ERROR E0727 phases have no sizes at run time
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++)
      y[i] += A[i][j] * x[j];
  }
  for (int i = 0; i < n; i++) {
    z[i] = 0;
    for (int j = 0; j < n; j++)
      z[i] += A[j][i] * y[n - 1 - j]; //~ ERROR E0601 the distance changes
  }
#pragma endscop
}
